/* sort_run.h - what sorting and the search for the first of an order share. */
#ifndef TNI_SORT_RUN_H
#define TNI_SORT_RUN_H

#include "plan/plan.h"

enum { TNI_SORT_RARE = 64 }; /* one of so many is wanted at most where a search pays (Zen 4) */

typedef struct sort_job {
    const tn_tensor *values, *indices, *src;
    int dim, parts, isa;
    int64_t n, first, k, sequences, width;
    size_t bytes; /* of scratch for a part */
    bool descending, words;
    tni_nest nest; /* src, then values and indices where they are */
    int bits, value_op, index_op;
    char *at[3], *scratch;
} sort_job;

/* The key of element i above i. */
uint64_t tni_sort_word(const sort_job *j, const char *raw, int64_t i);

/* Words with the key above and the index below: as the words' own order, for all are different;
 * the result is in a or in spare. */
uint64_t *tni_sort_words(uint64_t *a, uint64_t *spare, int64_t n, int bits);

/* The words of the first k of a sequence and of some others, in order; k is much smaller than n.
 * a and spare have a word for each element. */
uint64_t *tni_first_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                          uint64_t *spare);

#endif
