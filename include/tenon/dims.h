/* dims.h - dimension operations that move elements: creation, squeeze, pad, joins, patterns.
 *
 * Rules of all of them: dst is not TN_READONLY, names no element twice (TN_ESTRIDE) and shares
 * no byte with a source (TN_EOVERLAP); every tensor is on TN_CPU (TN_EDEVICE), has a known
 * dtype (TN_EDTYPE), fits 64 bits (TN_EOVERFLOW) and has data where it has elements (TN_ENULL).
 * Either side may be strided, reversed or misaligned, and a source may be broadcast.  A call
 * named _copy allocates its result, dense and row-major, which is released with tn_free
 * (TN_ENOMEM); the others allocate nothing.  Below stand the failures that a call has
 * besides. */
#ifndef TENON_DIMS_H
#define TENON_DIMS_H

#include <tenon/move.h>

TN_BEGIN

/* ---- creation ---------------------------------------------------------------------------- */

/* Allocate a tensor of one value: one element of dtype; NULL is zero.
 *
 * TN_ENULL   out is NULL, or shape is while there are axes
 * TN_EARG    ndim is not in [0, TN_MAX_NDIM]
 * TN_ESHAPE  an extent is negative */
TN_API TN_NODISCARD tn_status tn_full(tn_tensor *out, tn_dtype dtype, int ndim,
                                      const int64_t *shape, const void *value);

/* Set element i of a 1-D tensor to start + i * step.
 *
 * Computed in f64 and rounded once; complex numbers get it as their real part.  For integers
 * and bool, start and step are truncated to i64 first (NaN is 0, out of range saturates), the
 * sum wraps, and its low bits are kept.
 *
 * TN_ESHAPE  dst is not 1-D */
TN_API TN_NODISCARD tn_status tn_arange(const tn_tensor *dst, double start, double step);

/* Fill a tensor of floats with normal random numbers: mean 0, deviation 1.
 *
 * Element i in row-major order is made from Philox 4x32-10 with counter i and key seed, by Box
 * and Muller's method in f64, and rounded once to dst's dtype: the same bits for any strides,
 * threads and instruction set.
 *
 * TN_EDTYPE  dst is not of a float dtype */
TN_API TN_NODISCARD tn_status tn_randn(const tn_tensor *dst, uint64_t seed);

/* Fill a tensor with random integers in [low, high), as tn_randn does.
 *
 * The number is low + x * (high - low) / 2^64, rounded down, for 64 random bits x: no number is
 * preferred by more than (high - low) / 2^64.  Integers, bool and floats are taken.
 *
 * TN_EARG    low >= high, or dst's dtype does not hold every number of [low, high) exactly
 * TN_EDTYPE  dst is complex */
TN_API TN_NODISCARD tn_status tn_randint(const tn_tensor *dst, uint64_t seed, int64_t low,
                                         int64_t high);

/* ---- axes of extent 1, with a copy ------------------------------------------------------- */

/* Insert an axis of extent 1 before axis dim, in [0, ndim]: a copy.  tn_unsqueeze is the view.
 *
 * TN_EARG  dim is out of range, or there are TN_MAX_NDIM axes already */
TN_API TN_NODISCARD tn_status tn_unsqueeze_copy(tn_tensor *out, const tn_tensor *in, int dim);

/* Insert the axis in t itself; no element moves.  As tn_unsqueeze(t, t, dim). */
TN_API TN_NODISCARD tn_status tn_unsqueeze_inplace(tn_tensor *t, int dim);

/* Copy src to dst, whose shape differs from src's by axes of extent 1 at most.
 *
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  the extents that are not 1 differ, in number, size or order */
TN_API TN_NODISCARD tn_status tn_unsqueeze_into(const tn_tensor *dst, const tn_tensor *src);

/* Drop axis dim, whose extent is 1: a copy.  tn_squeeze is the view.
 *
 * TN_EARG    dim is not in [0, ndim)
 * TN_ESHAPE  its extent is not 1 */
TN_API TN_NODISCARD tn_status tn_squeeze_copy(tn_tensor *out, const tn_tensor *in, int dim);

/* Drop the axis in t itself; no element moves.  As tn_squeeze(t, t, dim). */
TN_API TN_NODISCARD tn_status tn_squeeze_inplace(tn_tensor *t, int dim);

/* The same as tn_unsqueeze_into. */
TN_API TN_NODISCARD tn_status tn_squeeze_into(const tn_tensor *dst, const tn_tensor *src);

/* ---- pad --------------------------------------------------------------------------------- */

/* What stands in a border, by the place i relative to src, whose extent is n. */
typedef enum tn_pad_mode {
    TN_PAD_CONSTANT,  /* a value:                                 9 9 | 0 1 2 3 | 9 9 */
    TN_PAD_EDGE,      /* the nearest place:                       0 0 | 0 1 2 3 | 3 3 */
    TN_PAD_REFLECT,   /* mirrored at the last place, not twice:   2 1 | 0 1 2 3 | 2 1 */
    TN_PAD_SYMMETRIC, /* mirrored behind the last place:          1 0 | 0 1 2 3 | 3 2 */
    TN_PAD_WRAP       /* again from the other end:                2 3 | 0 1 2 3 | 0 1 */
} tn_pad_mode;

/* Copy src to dst with before[i] places in front of axis i and after[i] behind it.
 *
 * Widths may exceed the extent: the mirror and the wrap go on.  value is one element (NULL is
 * zero), ignored by the other modes.  One pass over dst; nothing is allocated.  An axis of
 * extent 0 can be padded by a value only.
 *
 * TN_ENULL      before or after is NULL while there are axes
 * TN_EARG       a width is negative, mode is unknown
 * TN_EDTYPE     dtypes differ
 * TN_ESHAPE     dst is not src plus its borders; an extent of 0 with another mode
 * TN_EOVERFLOW  an extent plus its widths does not fit */
TN_API TN_NODISCARD tn_status tn_pad_into(const tn_tensor *dst, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);

/* The same into memory of its own. */
TN_API TN_NODISCARD tn_status tn_pad_copy(tn_tensor *out, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);

/* Put `padding` zeros around the last two axes, height and width.
 *
 * TN_EARG       padding is negative
 * TN_ESHAPE     src has fewer than 2 axes
 * TN_EOVERFLOW  an extent plus its widths does not fit */
TN_API TN_NODISCARD tn_status tn_pad_hw_copy(tn_tensor *out, const tn_tensor *src,
                                             int64_t padding);

/* The same into dst; TN_ESHAPE also when dst is not src plus its borders. */
TN_API TN_NODISCARD tn_status tn_pad_hw_into(const tn_tensor *dst, const tn_tensor *src,
                                             int64_t padding);

/* The same in t, which tn_alloc or a _copy call made: its storage is replaced by a larger one,
 * and views of the old one are void.  A failure leaves it as it was. */
TN_API TN_NODISCARD tn_status tn_pad_hw_inplace(tn_tensor *t, int64_t padding);

/* ---- joins ------------------------------------------------------------------------------- */

/* Put n sources side by side along axis dim of dst.
 *
 * TN_EARG    n < 1, or dim is out of range
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  ndims differ, extents beside dim differ, or the extents along dim do not sum up */
TN_API TN_NODISCARD tn_status tn_concat(const tn_tensor *dst, int dim, int n,
                                        const tn_tensor *const *srcs);

/* Put n sources of one shape on top of each other: axis dim of dst, of extent n, tells them
 * apart.  Fails as tn_concat. */
TN_API TN_NODISCARD tn_status tn_stack(const tn_tensor *dst, int dim, int n,
                                       const tn_tensor *const *srcs);

/* Lay src reps[i] times along each axis i: 0 1 2 0 1 2.
 *
 * TN_ENULL      reps is NULL while there are axes
 * TN_EARG       a number of reps is negative
 * TN_EDTYPE     dtypes differ
 * TN_ESHAPE     dst's extents are not reps times those of src
 * TN_EOVERFLOW  an extent times its reps does not fit */
TN_API TN_NODISCARD tn_status tn_tile(const tn_tensor *dst, const tn_tensor *src,
                                      const int64_t *reps);

/* Repeat each place of axis dim: 0 0 1 1 2 2.  Fails as tn_tile, and TN_EARG for dim. */
TN_API TN_NODISCARD tn_status tn_repeat(const tn_tensor *dst, const tn_tensor *src, int dim,
                                        int64_t reps);

/* Move every place of axis dim by shift, those that leave come in at the other end: place i of
 * src becomes place (i + shift) mod n of dst.
 *
 * TN_EARG    dim is out of range
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  shapes differ */
TN_API TN_NODISCARD tn_status tn_roll(const tn_tensor *dst, const tn_tensor *src, int dim,
                                      int64_t shift);

/* ---- patterns ---------------------------------------------------------------------------- */

/* Axes by name: "b (h p) w c -> b c h (w p)" with sizes "p=2".
 *
 * The left names src's dimensions, the right those of the result.  Names are separated by
 * spaces; they are letters, digits and '_', begin with a letter and do not end with '_'.  A
 * group in ( ) is one dimension made of several axes, the last of them fastest; at most one of
 * a group on the left has a size that is not given, and it is inferred.  1 or () is a dimension
 * of extent 1.
 * "..." stands for any number of dimensions, once on either side, on the right also in a group.
 * What is only on the right is new: a name whose size is given, or a number, repeats.  "-h" on
 * the left reverses an axis.  sizes are "name=number" separated by spaces, or NULL or ""; a
 * size given for an axis that needs none is checked.  Texts have at most 1024 characters.
 *
 * TN_EFORMAT    the text: the sentence points at the character, counted from 1
 * TN_EARG       the result has more than TN_MAX_NDIM axes
 * TN_ESHAPE     the pattern does not fit src
 * TN_EOVERFLOW  a number, or the size of the result, does not fit */

/* The shape of the result; shape has TN_MAX_NDIM places.  Reads no element. */
TN_API TN_NODISCARD tn_status tn_pattern_shape(const char *pattern, const char *sizes,
                                               const tn_tensor *src, int *ndim, int64_t *shape);

/* The result as a view; repeated axes have stride 0.  out may be src.
 *
 * TN_ESTRIDE  only a copy can merge these axes */
TN_API TN_NODISCARD tn_status tn_pattern_view(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

/* The result as a copy in dst, in one pass.
 *
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  dst has another shape than the result */
TN_API TN_NODISCARD tn_status tn_pattern_into(const tn_tensor *dst, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

/* The result as a copy in memory of its own. */
TN_API TN_NODISCARD tn_status tn_pattern_copy(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

TN_END

#endif
