/* index.h - selection by data: take and put, masks, sorting, counting.
 *
 * Indices have any integer dtype and any strides and are in [-n, n): negative ones count from
 * the end.  All of them are checked before anything is written; an index out of range is
 * TN_EARG, and tn_error() gives its value and position: "take: index 7 at (2, 0) is not in [-5,
 * 5)".  Elements that are copied may have any dtype, the same on both sides.  Unless stated
 * otherwise, dst shares no byte with another operand (TN_EOVERLAP).  Errors in the data are
 * reported after all others.  tn_sort, tn_kth, tn_put and tn_put_along may allocate scratch
 * memory from the handle's allocator (TN_ENOMEM, before anything is written); the others
 * allocate nothing, except those named _copy. */
#ifndef TENON_INDEX_H
#define TENON_INDEX_H

#include <tenon/reduce.h>

TN_BEGIN

/* dst[a…, i…, b…] = src[a…, index[i…], b…]: axis dim of src is replaced by the axes of index
 * (none for a 0-d index).  With dim 0 and a matrix it selects rows, as an embedding does. */
TN_API TN_NODISCARD tn_status tn_take(const tn_tensor *dst, const tn_tensor *src, int dim,
                                      const tn_tensor *index);

/* dst[…, i, …] = src[…, index[…, i, …], …]: index has dst's shape, or broadcasts to it along
 * axes other than dim; dst has src's shape except along dim. */
TN_API TN_NODISCARD tn_status tn_take_along(const tn_tensor *dst, const tn_tensor *src, int dim,
                                            const tn_tensor *index);

/* Several writes to one element are applied in row-major order of index, so results do not
 * depend on threads: with SET the last one wins; the others compute old op new (min and max as
 * the ops TN_MIN and TN_MAX do), rounding each time. */
typedef enum tn_put_op { TN_PUT_SET, TN_PUT_ADD, TN_PUT_MUL, TN_PUT_MIN, TN_PUT_MAX } tn_put_op;

/* The reverse of tn_take: dst[a…, index[i…], b…] op= src[a…, i…, b…] (index_copy, index_add).
 * src broadcasts.  bool supports SET; complex supports SET, ADD and MUL. */
TN_API TN_NODISCARD tn_status tn_put(tn_put_op op, const tn_tensor *dst, int dim,
                                     const tn_tensor *index, const tn_tensor *src);

/* The reverse of tn_take_along (scatter, scatter_add): dst[…, index[…, i, …], …] op= src[…, i,
 * …]. */
TN_API TN_NODISCARD tn_status tn_put_along(tn_put_op op, const tn_tensor *dst, int dim,
                                           const tn_tensor *index, const tn_tensor *src);

/* The elements of src whose mask (of any dtype) is not zero, in row-major order; mask has src's
 * shape or broadcasts to it.  dst has one axis, whose extent is the number of selected
 * elements: get it from tn_reduce(TN_REDUCE_COUNT_NONZERO), or let _copy allocate.
 *
 * TN_ESHAPE  dst has another number of elements (reported last) */
TN_API TN_NODISCARD tn_status tn_masked_select(const tn_tensor *dst, const tn_tensor *src,
                                               const tn_tensor *mask);
TN_API TN_NODISCARD tn_status tn_masked_select_copy(tn_tensor *out, const tn_tensor *src,
                                                    const tn_tensor *mask);

/* The reverse: write the elements of dst whose mask is not zero, in row-major order.  src has
 * one axis, with one element for each of them, or is a 0-d tensor that all of them get. */
TN_API TN_NODISCARD tn_status tn_masked_put(const tn_tensor *dst, const tn_tensor *mask,
                                            const tn_tensor *src);

/* The indices of the non-zero elements, in row-major order: dst is i64 (count, ndim). */
TN_API TN_NODISCARD tn_status tn_nonzero(const tn_tensor *dst, const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_nonzero_copy(tn_tensor *out, const tn_tensor *src);

/* ---- order: NaN is greater than every number, -0 equals +0, equal elements keep their order
 * (also when descending); complex is TN_EDTYPE ---- */

#define TN_DESCENDING 1u /* greatest first, NaN before all */

/* Sort src along dim into values, indices (i64, or i32 if src's extent fits) or both; one of
 * them may be NULL.  values may be exactly src.  values has src's shape, or is shorter along
 * dim and gets the first k elements of the order (top-k).  It allocates.
 *
 * TN_ENULL   values and indices are both NULL
 * TN_EARG    dim is out of range; flags has unknown bits
 * TN_ESHAPE  values or indices has another shape, or is longer than src
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_sort(const tn_tensor *values, const tn_tensor *indices,
                                      const tn_tensor *src, int dim, unsigned flags);

/* The same without allocating: workspace is 64-byte aligned and has tn_sort_workspace bytes. */
TN_API size_t tn_sort_workspace(const tn_tensor *values, const tn_tensor *indices,
                                const tn_tensor *src, int dim, unsigned flags);
TN_API TN_NODISCARD tn_status tn_sort_in(const tn_tensor *values, const tn_tensor *indices,
                                         const tn_tensor *src, int dim, unsigned flags,
                                         void *workspace, size_t size);

/* The k-th element of the order along dim (0 is the first) and its index (i64, or i32 if it
 * fits).  Shapes are as in tn_reduce.  k not in [0, extent) is TN_EARG. */
TN_API TN_NODISCARD tn_status tn_kth(const tn_tensor *value, const tn_tensor *index,
                                     const tn_tensor *src, int dim, int64_t k, unsigned flags);

/* For each element of values, the number of elements of sorted (1-D, ascending) that are less
 * than it, or, if right is true, less than or equal to it.  dst is i64 and has the shape of
 * values; sorted and values have the same dtype. */
TN_API TN_NODISCARD tn_status tn_searchsorted(const tn_tensor *dst, const tn_tensor *sorted,
                                              const tn_tensor *values, bool right);

/* The distinct elements in order (values), for each of them the index of its first occurrence
 * in src (first) and its count (counts), and for each element of src the position of its value
 * in values (inverse, in src's shape).  first, inverse and counts are i64 and may be NULL;
 * every result is allocated.  All NaNs count as one value; tn_unique_each_copy, with the same
 * arguments, gives each NaN an entry of its own (Array API).  Complex numbers are ordered by
 * their real part, then by their imaginary part; one with a NaN in either part is a NaN. */
TN_API TN_NODISCARD tn_status tn_unique_copy(tn_tensor *values, tn_tensor *first,
                                             tn_tensor *inverse, tn_tensor *counts,
                                             const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_unique_each_copy(tn_tensor *values, tn_tensor *first,
                                                  tn_tensor *inverse, tn_tensor *counts,
                                                  const tn_tensor *src);

/* dst[v] is the number of elements of src (any integer dtype) equal to v; dst is 1-D i64.  An
 * element that is not in [0, extent of dst) is TN_EARG. */
TN_API TN_NODISCARD tn_status tn_bincount(const tn_tensor *dst, const tn_tensor *src);

/* dst (1-D i64, B bins) counts the elements in [low + i w, low + (i + 1) w), w = (high - low) /
 * B; the last bin includes its upper bound.  Elements outside and NaN are not counted.  The bin
 * is computed in f64 as trunc((x - low) * (B / (high - low))), at most B - 1.  src has a real
 * dtype.
 *
 * TN_EARG  low is not less than high, one of them is not finite, or there are no bins */
TN_API TN_NODISCARD tn_status tn_histogram(const tn_tensor *dst, const tn_tensor *src,
                                           double low, double high);

TN_END

#endif
