/* sort_run.h - what sorting and the search for the first of an order share. */
#ifndef TNI_SORT_RUN_H
#define TNI_SORT_RUN_H

#include "plan/plan.h"

enum {
    TNI_SORT_RARE = 64,      /* a search pays where at most one element in 64 is wanted (Zen 4) */
    TNI_SORT_LONG = 1 << 16, /* elements that threads share: with two words of 8 bytes each they
                              * are 1 MiB, as large as the L2 of one (Zen 4) */
    TNI_SORT_INNER = 64      /* threads for a sequence: states of each are on the stack */
};

typedef struct sort_job {
    tn_dtype dtype, index_dtype;
    int isa;
    int parts; /* sequences at a time, */
    int inner; /* and threads for each */
    int64_t n, first, k, sequences, width;
    int64_t src_step, value_step, index_step; /* along a sequence */
    int64_t panel;        /* neighbouring sequences that are transposed together */
    size_t bytes, stride; /* scratch of a sequence, and from one part's to the next */
    bool descending;
    tni_nest nest; /* src, then values and indices where they are */
    tni_order_rule rule;
    int shift; /* bits of an index */
    int value_op, index_op;
    char *at[3], *scratch;
} sort_job;

/* The words of the first k of a sequence and of some others, in order, in a; k is much smaller than
 * n.  a and spare have a word for each element. */
void tni_first_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                     uint64_t *spare);

/* ---- one sequence (sort_words.c), whose elements are dense at raw; scratch has two words of 64
 * bits for each ---- */

/* Values alone, if their keys tell all bits; otherwise nothing has been written. */
bool tni_sort_values(const sort_job *j, const char *raw, char *value, char *scratch);

/* Values, indices or both; few: only a few of many are wanted. */
void tni_sort_chosen(const sort_job *j, bool few, const char *raw, char *value, char *index,
                     char *scratch);

/* n elements, steps in bytes. */
void tni_sort_copy(const sort_job *j, char *d, int64_t d_step, const char *s, int64_t s_step,
                   int64_t n);

/* ---- one sequence, by j->inner threads (sort_pieces.c) ---- */

/* All elements as keys; whether they tell all bits. */
bool tni_sort_keys(const sort_job *j, void *key, const char *raw);

/* The same as words, and the smallest and the largest key. */
bool tni_sort_words64(const sort_job *j, int64_t *words, const char *raw,
                      const tni_order_word *form);
void tni_sort_range(const sort_job *j, int64_t *range, const char *raw);

/* fn for pieces of n things. */
typedef void (*tni_sort_piece)(const sort_job *j, void *arg, int64_t first, int64_t n);
void tni_sort_each(const sort_job *j, int64_t n, tni_sort_piece fn, void *arg);

/* Words of 4 or 8 bytes in order. */
void tni_sort_words(const sort_job *j, const tni_order_run *run, int width);

#endif
