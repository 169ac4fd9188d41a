/* sort_run.h - what sorting and the search for the first k of an order share. */
#ifndef TNI_SORT_RUN_H
#define TNI_SORT_RUN_H

#include "plan/plan.h"

enum {
    TNI_SORT_RARE = 64, /* a search pays if at most one element in 64 is wanted (Zen 4) */
    /* Elements of a sequence that threads share: with two words of 8 bytes each they take 1
     * MiB, as much as the L2 of one core (Zen 4). */
    TNI_SORT_LONG = 1 << 16,
    TNI_SORT_INNER = 64 /* most threads for a sequence: their states are on the stack */
};

typedef struct sort_job {
    tn_dtype dtype, index_dtype;
    int isa;
    int parts; /* sequences that are sorted at a time */
    int inner; /* threads for each of them */
    int64_t n, first, k, sequences, width;
    int64_t src_step, value_step, index_step; /* along a sequence */
    int64_t panel;        /* neighbouring sequences that are transposed together */
    size_t bytes, stride; /* scratch of a sequence, and from one part's to the next */
    bool descending;
    tni_nest nest; /* src, then values and indices if they are wanted */
    tni_order_rule rule;
    int shift; /* bits of an index */
    int value_op, index_op;
    char *at[3], *scratch;
} sort_job;

/* Make the words of the first k elements of a sequence, and of some others, in order, in a; k
 * is much smaller than n.  a and spare have a word for each element. */
void tni_first_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                     uint64_t *spare);

/* ---- one sequence (sort_words.c), whose elements are dense at raw; scratch has two words of
 * 64 bits for each element ---- */

/* Sort values alone, if their keys determine all bits; otherwise false, and nothing is
 * written. */
bool tni_sort_values(const sort_job *j, const char *raw, char *value, char *scratch);

/* Sort values, indices or both; few: only a few of many are wanted. */
void tni_sort_chosen(const sort_job *j, bool few, const char *raw, char *value, char *index,
                     char *scratch);

/* Copy n elements; steps are in bytes. */
void tni_sort_copy(const sort_job *j, char *d, int64_t d_step, const char *s, int64_t s_step,
                   int64_t n);

/* ---- one sequence, by j->inner threads (sort_pieces.c) ---- */

/* Make keys of all elements; true if they determine all bits. */
bool tni_sort_keys(const sort_job *j, void *key, const char *raw);

/* Make words of all elements, in the same way; find the smallest and the largest key. */
bool tni_sort_words64(const sort_job *j, int64_t *words, const char *raw,
                      const tni_order_word *form);
void tni_sort_range(const sort_job *j, int64_t *range, const char *raw);

/* Call fn for pieces of n things. */
typedef void (*tni_sort_piece)(const sort_job *j, void *arg, int64_t first, int64_t n);
void tni_sort_each(const sort_job *j, int64_t n, tni_sort_piece fn, void *arg);

/* Sort words of 4 or 8 bytes. */
void tni_sort_words(const sort_job *j, const tni_order_run *run, int width);

#endif
