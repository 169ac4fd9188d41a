/* index.h - elements chosen by data: take and put, masks, order.
 *
 * Indices are of any integer dtype and any strides, in [-n, n): negative ones count from the
 * end. All are checked before anything is written; one outside is TN_EARG, and tn_error() names
 * it and where it is: "take: index 7 at (2, 0) is not in [-5, 5)".  Dtypes of moved elements are
 * any, equal on both sides.  Unless said otherwise dst shares no byte with another operand
 * (TN_EOVERLAP).  Data errors are reported after all others.  tn_sort, tn_kth, tn_put and
 * tn_put_along may take scratch from the handle's allocator (TN_ENOMEM, before anything is
 * written); the others allocate nothing unless they say so (_copy). */
#ifndef TENON_INDEX_H
#define TENON_INDEX_H

#include <tenon/reduce.h>

TN_BEGIN

/* dst[a…, i…, b…] = src[a…, index[i…], b…]: axis dim of src is replaced by the axes of index
 * (none for a 0-d index).  With dim 0 and a matrix: rows, as an embedding. */
TN_API TN_NODISCARD tn_status tn_take(const tn_tensor *dst, const tn_tensor *src, int dim,
                                      const tn_tensor *index);

/* dst[…, i, …] = src[…, index[…, i, …], …]: index has dst's shape, or broadcasts to it off axis
 * dim; dst has src's shape but on dim. */
TN_API TN_NODISCARD tn_status tn_take_along(const tn_tensor *dst, const tn_tensor *src, int dim,
                                            const tn_tensor *index);

/* Writes to one element are applied in row-major order of index: with SET the last one stays; the
 * others compute old op new (min and max as the ops TN_MIN and TN_MAX), rounding each time.  So
 * results do not depend on threads. */
typedef enum tn_put_op { TN_PUT_SET, TN_PUT_ADD, TN_PUT_MUL, TN_PUT_MIN, TN_PUT_MAX } tn_put_op;

/* The reverse of tn_take: dst[a…, index[i…], b…] op= src[a…, i…, b…] (index_copy, index_add).
 * src broadcasts.  bool takes SET, complex SET, ADD and MUL. */
TN_API TN_NODISCARD tn_status tn_put(tn_put_op op, const tn_tensor *dst, int dim,
                                     const tn_tensor *index, const tn_tensor *src);

/* The reverse of tn_take_along (scatter, scatter_add): dst[…, index[…, i, …], …] op= src[…, i,
 * …]. */
TN_API TN_NODISCARD tn_status tn_put_along(tn_put_op op, const tn_tensor *dst, int dim,
                                           const tn_tensor *index, const tn_tensor *src);

/* The elements of src whose mask (any dtype, "not zero") is set, in row-major order; mask has
 * src's shape or broadcasts to it.  dst has one axis, as long as there are such elements: ask
 * tn_reduce(TN_REDUCE_COUNT_NONZERO), or let _copy allocate.
 *
 * TN_ESHAPE  another number of elements (reported last) */
TN_API TN_NODISCARD tn_status tn_masked_select(const tn_tensor *dst, const tn_tensor *src,
                                               const tn_tensor *mask);
TN_API TN_NODISCARD tn_status tn_masked_select_copy(tn_tensor *out, const tn_tensor *src,
                                                    const tn_tensor *mask);

/* The reverse: dst where mask is set, in row-major order; src has one axis as long as the mask
 * has elements set, or is a 0-d tensor for all of them. */
TN_API TN_NODISCARD tn_status tn_masked_put(const tn_tensor *dst, const tn_tensor *mask,
                                            const tn_tensor *src);

/* The indices of what is not zero, row-major: dst is i64 (count, ndim). */
TN_API TN_NODISCARD tn_status tn_nonzero(const tn_tensor *dst, const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_nonzero_copy(tn_tensor *out, const tn_tensor *src);

/* ---- order: NaN is greater than everything, -0 equals +0, equal ones stay in their order
 * (also when descending); complex is TN_EDTYPE ---- */

#define TN_DESCENDING 1u /* from the greatest; NaN first */

/* values, indices (i64, or i32 where src's extent fits) or both (the other NULL): src ordered
 * along dim.  values may be exactly src.  values has src's shape, or is shorter on dim: the
 * first k of the order (topk).  Allocates.
 *
 * TN_ENULL   both are NULL
 * TN_EARG    dim; other flags
 * TN_ESHAPE  values or indices have another shape, or are longer than src
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_sort(const tn_tensor *values, const tn_tensor *indices,
                                      const tn_tensor *src, int dim, unsigned flags);

/* The same without allocating: workspace is 64-byte aligned and has tn_sort_workspace bytes. */
TN_API size_t tn_sort_workspace(const tn_tensor *values, const tn_tensor *indices,
                                const tn_tensor *src, int dim, unsigned flags);
TN_API TN_NODISCARD tn_status tn_sort_in(const tn_tensor *values, const tn_tensor *indices,
                                         const tn_tensor *src, int dim, unsigned flags,
                                         void *workspace, size_t size);

/* The element number k of the order along dim (0 is the first) and its index (i64, or i32 where
 * it fits); shapes as in tn_reduce.
 * TN_EARG when k is not in [0, extent). */
TN_API TN_NODISCARD tn_status tn_kth(const tn_tensor *value, const tn_tensor *index,
                                     const tn_tensor *src, int dim, int64_t k, unsigned flags);

/* For each value the number of elements of sorted (1-D, ascending) that are less than it;
 * right: less or equal.  dst is i64 of values' shape; dtypes of sorted and values are equal. */
TN_API TN_NODISCARD tn_status tn_searchsorted(const tn_tensor *dst, const tn_tensor *sorted,
                                              const tn_tensor *values, bool right);

/* The different elements in order, and for them the first index, the count; for every element
 * of src the index of its value (src's shape).  Any but values may be NULL; i64; all are
 * allocated.  NaNs are one value; tn_unique_each_copy, same arguments, gives each NaN an entry
 * of its own (Array API).  Complex numbers are ordered by real, then imaginary part; one with a
 * NaN is a NaN. */
TN_API TN_NODISCARD tn_status tn_unique_copy(tn_tensor *values, tn_tensor *first,
                                             tn_tensor *inverse, tn_tensor *counts,
                                             const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_unique_each_copy(tn_tensor *values, tn_tensor *first,
                                                  tn_tensor *inverse, tn_tensor *counts,
                                                  const tn_tensor *src);

/* dst[v] counts the elements v of src (any integers): dst is 1-D i64.  TN_EARG for an element
 * that is not in [0, extent of dst). */
TN_API TN_NODISCARD tn_status tn_bincount(const tn_tensor *dst, const tn_tensor *src);

/* dst (1-D i64, B bins) counts the elements in [low + i w, low + (i + 1) w), w = (high - low) /
 * B, the last bin with its end; others and NaN are not counted.  In f64: bin trunc((x - low) *
 * (B / (high - low))), at most B - 1.  Real dtypes.
 *
 * TN_EARG  low < high does not hold or one is not finite; no bins */
TN_API TN_NODISCARD tn_status tn_histogram(const tn_tensor *dst, const tn_tensor *src,
                                           double low, double high);

TN_END

#endif
