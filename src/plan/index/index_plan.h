/* index_plan.h - elements chosen by data: by index, by mask, by order. */
#ifndef TNI_INDEX_PLAN_H
#define TNI_INDEX_PLAN_H

#include <tenon/index.h>

#include "core/core.h"
#include "nest/nest.h"

/* ---- by index (index_run.c) ---- */

/* The first element of index, row-major, that is not in [-n, n): its number, or -1. */
int64_t tni_index_outside(const tn_tensor *index, int64_t n);

/* An element of a tensor of integers as int64; u64 above its range is the most. */
int64_t tni_index_at(const char *p, tn_dtype dtype);

/* n dense elements of a tensor of integers, in the same way. */
void tni_index_load(int64_t *d, const char *s, tn_dtype dtype, int64_t n, int isa);

/* Walk ts = {dst, src, index}, which have one shape: dst = src[chosen], or with put
 * dst[chosen] op= src.  The operand that is chosen from has stride 0 where index has its own
 * axes, and its chosen axis has `extent` elements `step` bytes apart.  Checked, indices too. */
typedef struct tni_choice {
    bool put;
    tn_put_op op;
    int64_t extent, step;
    uint64_t shared; /* axes along which two elements never meet */
} tni_choice;

void tni_choice_run(const tni_choice *c, const tn_tensor *const *ts);

/* ---- by mask (mask_run.c), in row-major order ---- */

/* Elements that are set, counted by parts of equal shares of the mask. */
enum { TNI_MASK_PARTS = 64 };

typedef struct tni_mask_counts {
    int parts;
    int64_t before[TNI_MASK_PARTS + 1]; /* set in the parts before it */
} tni_mask_counts;

/* All that are set. */
int64_t tni_mask_count(tni_mask_counts *c, const tn_tensor *mask);

/* The counts are those of the mask. */
void tni_mask_select(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src,
                     const tn_tensor *mask);
void tni_mask_put(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *mask,
                  const tn_tensor *src);
void tni_mask_indices(const tni_mask_counts *c, const tn_tensor *dst, const tn_tensor *src);

/* ---- by order (sort_run.c) ---- */

/* A number whose order is that of elements: NaN is greatest, -0 equals +0; ~ when descending. */
uint64_t tni_order_key(tn_dtype dtype, const char *x, bool descending);

/* The same for kernels. */
tni_order_rule tni_order_rule_of(tn_dtype dtype, bool descending);

/* Elements [first, first + k) of the order along dim; values or indices may be NULL.  scratch
 * has size bytes: tni_sort_bytes, or enough for one sequence. */
size_t tni_sort_least(const tn_tensor *src, int dim);
size_t tni_sort_bytes(const tn_tensor *src, int dim);
void tni_sort_run(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                  int dim, int64_t first, int64_t k, bool descending, void *scratch,
                  size_t size);

/* ---- counting (count_run.c) ---- */

/* dst[i] is how many of sorted are less (or equal) than values[i]. */
void tni_search_run(const tn_tensor *dst, const tn_tensor *sorted, const tn_tensor *values,
                    bool or_equal);

/* The first element of src that is not in [0, n), row-major, or -1. */
int64_t tni_count_outside(const tn_tensor *src, int64_t n);
void tni_bincount_run(const tn_tensor *dst, const tn_tensor *src);
void tni_histogram_run(const tn_tensor *dst, const tn_tensor *src, double low, double high);

/* ---- groups (group_run.c) ---- */

/* A dense sorted sequence; each NaN is a group by itself when each. */
typedef struct tni_groups {
    const char *x;
    tn_dtype dtype;
    int64_t n;
    bool each;
    tni_mask_counts begin; /* groups that begin, by parts; by tni_group_count */
} tni_groups;

int64_t tni_group_count(tni_groups *g);

/* at: where each element comes from; it is not read where first and inverse are NULL. */
void tni_group_fill(const tni_groups *g, const int64_t *at, char *values, int64_t *first,
                    int64_t *inverse, int64_t *counts);

#endif
