/* pattern.h - an einops pattern: its text as axes, and those axes fitted to a tensor.
 *
 * Both are values without pointers to tensors; positions in texts count from 1 in sentences. */
#ifndef TNI_PATTERN_H
#define TNI_PATTERN_H

#include <tenon/pattern.h>

#include "core/core.h"

enum { TNI_PATTERN_TEXT = 1024, TNI_PATTERN_AXES = TN_MAX_NDIM };

/* One name, number or "..." of one side; "1" and "()" are dimensions without axes. */
typedef struct tni_name {
    int at, len;   /* its offset in the text, from 0 */
    int dim;       /* dimension of its side that it belongs to */
    int from;      /* on the right: its index on the left; -1: new */
    bool reversed; /* on the left: walked backwards */
    int64_t size;  /* -1: to be inferred */
} tni_name;

typedef struct tni_side {
    int ndim;     /* dimensions, "..." outside a group counted as one */
    int n;        /* names; on the right those that are reduced come last, as dimension ndim */
    int ellipsis; /* which of them is "..."; -1: none */
    bool grouped; /* the "..." stands in a group, or is reduced */
    tni_name name[TNI_PATTERN_AXES];
} tni_side;

typedef struct tni_pattern {
    const char *call; /* begins sentences */
    const char *text;
    tni_side left, right;
} tni_pattern;

/* Read pattern and sizes.  Afterwards each name of the left has its index on the right, each
 * new name of the right has a size, and no dimension of the left has two unknown sizes.  With
 * reduces the left may have numbers, and names that the right lacks: these are reduced.
 *
 * TN_EFORMAT    the text
 * TN_EOVERFLOW  a number in it */
tn_status tni_pattern_parse(tni_pattern *p, const char *call, const char *text,
                            const char *sizes, bool reduces);

/* An axis of the result before merging: its extent, the step of src along it, and the dimension
 * of the result that it is merged into. */
typedef struct tni_piece {
    int64_t n, step;
    int dim;
} tni_piece;

/* The result of a pattern on one tensor.  Pieces are outermost first; pieces of extent 1 are
 * left out; those that are reduced come last, as dimension ndim.  Steps are meaningless when a
 * piece is empty. */
typedef struct tni_fit {
    int ndim, n;
    bool empty;
    int64_t shape[TN_MAX_NDIM + 1];
    int64_t shift; /* bytes from src's element (0, …, 0) to the first one of the result */
    tni_piece piece[2 * TN_MAX_NDIM];
} tni_fit;

/* Fit p to a checked tensor.
 *
 * TN_EARG       the result has more than TN_MAX_NDIM dimensions
 * TN_ESHAPE     p does not fit src's shape
 * TN_EOVERFLOW  the result's size does not fit */
tn_status tni_pattern_fit(tni_fit *fit, const tni_pattern *p, const tn_tensor *src);

/* A text as it is quoted in sentences: cut, without control characters. */
typedef struct tni_quote {
    char text[161];
} tni_quote;
tni_quote tni_quoted(const char *text);

#endif
