/* index_plan.h - elements selected by data: by index, by mask, by order. */
#ifndef TNI_INDEX_PLAN_H
#define TNI_INDEX_PLAN_H

#include <tenon/index.h>

#include "core/core.h"
#include "nest/nest.h"

/* ---- by index (index_run.c) ---- */

/* The row-major number of the first element of index that is not in [-n, n); -1 if there is
 * none. */
int64_t tni_index_outside(const tn_tensor *index, int64_t n);

/* An integer element as int64; a u64 beyond its range becomes INT64_MAX. */
int64_t tni_index_at(const char *p, tn_dtype dtype);

/* Load n dense integer elements in the same way. */
void tni_index_load(int64_t *d, const char *s, tn_dtype dtype, int64_t n, int isa);

/* Walk ts = {dst, src, index}, which have the same shape: dst = src[chosen], or with put
 * dst[chosen] op= src.  The operand that is indexed has stride 0 along the axes of index, and
 * its indexed axis has `extent` elements, `step` bytes apart.  Operands and indices have been
 * checked. */
typedef struct tni_choice {
    bool put;
    tn_put_op op;
    int64_t extent, step;
} tni_choice;

void tni_choice_run(const tni_choice *c, const tn_tensor *const *ts);

/* ---- by mask (mask_run.c), in row-major order ---- */

/* The number of set elements before each part, where parts are equal shares of the mask. */
enum { TNI_MASK_PARTS = 64 };

typedef struct tni_mask_counts {
    int parts;
    int64_t before[TNI_MASK_PARTS + 1]; /* set in the parts before each */
} tni_mask_counts;

/* Count the set elements of a mask; returns their number. */
int64_t tni_mask_count(tni_mask_counts *c, const tn_tensor *mask);

/* c has the counts of the mask, or of src in tni_mask_indices. */
void tni_mask_select(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src,
                     const tn_tensor *mask);
void tni_mask_put(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *mask,
                  const tn_tensor *src);
void tni_mask_indices(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src);

/* ---- by order (sort_run.c) ---- */

/* A number by which elements are ordered: NaN is the greatest, -0 equals +0; complemented if
 * descending. */
uint64_t tni_order_key(tn_dtype dtype, const char *x, bool descending);

/* The same order as a rule for kernels. */
tni_order_rule tni_order_rule_of(tn_dtype dtype, bool descending);

/* Sort along dim and write elements [first, first + k) of the order; values or indices may be
 * NULL.  scratch has `size` bytes: tni_sort_bytes, or at least tni_sort_least, enough for one
 * sequence. */
size_t tni_sort_least(const tn_tensor *src, int dim);
size_t tni_sort_bytes(const tn_tensor *src, int dim);
void tni_sort_run(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                  int dim, int64_t first, int64_t k, bool descending, void *scratch,
                  size_t size);

/* ---- counting (count_run.c) ---- */

/* dst[i] is the number of elements of sorted that are less than values[i], or with or_equal not
 * greater. */
void tni_search_run(const tn_tensor *dst, const tn_tensor *sorted, const tn_tensor *values,
                    bool or_equal);

/* The row-major number of the first element of src that is not in [0, n); -1 if there is
 * none. */
int64_t tni_count_outside(const tn_tensor *src, int64_t n);
void tni_bincount_run(const tn_tensor *dst, const tn_tensor *src);
void tni_histogram_run(const tn_tensor *dst, const tn_tensor *src, double low, double high);

/* ---- groups (group_run.c) ---- */

/* A dense sorted sequence; with each, every NaN is a group of its own. */
typedef struct tni_groups {
    const char *x;
    tn_dtype dtype;
    int64_t n;
    bool each;
    tni_mask_counts begin; /* groups that begin before each part; set by tni_group_count */
} tni_groups;

int64_t tni_group_count(tni_groups *g);

/* at[i] is where element i comes from; it is not read if first and inverse are NULL. */
void tni_group_fill(const tni_groups *g, const int64_t *at, char *values, int64_t *first,
                    int64_t *inverse, int64_t *counts);

#endif
