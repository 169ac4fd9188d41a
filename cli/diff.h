/* diff.h - the result of tenon diff: a row for each tensor, and its verdict. */
#ifndef DIFF_H
#define DIFF_H

#include "rules.h"

typedef enum verdict {
    SAME,
    WITHIN,
    DIFFERS,
    OTHER_DTYPE,
    OTHER_SHAPE,
    ONLY_A,
    ONLY_B,
    RENAMED
} verdict;

/* A tensor of A, of B, or of both. */
typedef struct diff_row {
    int64_t a, b; /* -1: absent */
    verdict what;
    uint64_t first; /* hash of the first bytes of a tensor that only one file has; 0: none */
    tn_difference d;
} diff_row;

typedef struct comparison {
    const args *a;
    source s[2];
    diff_row *rows;
    int64_t n;
    int64_t counts[RENAMED + 1];
    double atol, rtol;
    bool tolerant;
} comparison;

/* Describe tensor i of a source; false: its elements cannot be read. */
bool diff_describe(const source *s, int64_t i, tn_tensor *t);

/* Print the rows and their totals on standard output (diff_print.c). */
void diff_print_text(const comparison *c);
void diff_print_json(const comparison *c);

#endif
