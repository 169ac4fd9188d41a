/* copy.h - copies between layouts: rearrange, fill, dense copies, and the normal form of a
 * copy.
 *
 * Rules of every call that writes a dst, here and in create.h, pad.h, join.h and pattern.h:
 *
 * - dst is not TN_READONLY (TN_EARG), no two of its indices share a byte (TN_ESTRIDE), and it
 *   shares no byte with a source (TN_EOVERLAP), unless the call says otherwise;
 * - every tensor is on TN_CPU (TN_EDEVICE), has a known dtype (TN_EDTYPE), a size and a byte
 *   range below 2^63 (TN_EOVERFLOW), and data if it has elements (TN_ENULL);
 * - any operand may be strided, reversed or misaligned; a source may be broadcast (stride 0);
 * - a call named _copy allocates its result, dense and row-major, with the calling thread's
 *   handle (TN_ENOMEM); release it with tn_free.  So do tn_contiguous, tn_like, tn_full and
 *   tn_pad_hw_inplace; the other calls allocate nothing.
 *
 * The comments below list only the failures that a call has beyond these. */
#ifndef TENON_COPY_H
#define TENON_COPY_H

#include <tenon/tensor.h>

TN_BEGIN

/* Copy every element of src to the same index of dst.
 *
 * dst and src have the same shape and dtype; tn_cast converts between dtypes.  dst may be
 * exactly src; any other overlap is an error.
 *
 * TN_EDTYPE    dtypes differ
 * TN_ESHAPE    shapes differ */
TN_API TN_NODISCARD tn_status tn_rearrange(const tn_tensor *dst, const tn_tensor *src);

/* Set every element of dst to *value, one element of dst's dtype; NULL means zero. */
TN_API TN_NODISCARD tn_status tn_fill(const tn_tensor *dst, const void *value);

/* Allocate a dense row-major copy of in; release it with tn_free.  out may be in. */
TN_API TN_NODISCARD tn_status tn_contiguous(tn_tensor *out, const tn_tensor *in);

/* ---- squeeze and unsqueeze as copies; the views are in tensor.h ---- */

/* Copy in with an axis of extent 1 inserted before axis dim, in [0, ndim].
 *
 * TN_EARG  dim is out of range, or in has TN_MAX_NDIM axes */
TN_API TN_NODISCARD tn_status tn_unsqueeze_copy(tn_tensor *out, const tn_tensor *in, int dim);

/* Insert the axis in t itself; no element moves.  Same as tn_unsqueeze(t, t, dim). */
TN_API TN_NODISCARD tn_status tn_unsqueeze_inplace(tn_tensor *t, int dim);

/* Copy src to dst; their shapes may differ by axes of extent 1.
 *
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  the extents other than 1 differ in number, size or order */
TN_API TN_NODISCARD tn_status tn_unsqueeze_into(const tn_tensor *dst, const tn_tensor *src);

/* Copy in without axis dim, whose extent is 1.
 *
 * TN_EARG    dim is not in [0, ndim)
 * TN_ESHAPE  its extent is not 1 */
TN_API TN_NODISCARD tn_status tn_squeeze_copy(tn_tensor *out, const tn_tensor *in, int dim);

/* Drop the axis of t itself; no element moves.  Same as tn_squeeze(t, t, dim). */
TN_API TN_NODISCARD tn_status tn_squeeze_inplace(tn_tensor *t, int dim);

/* Same as tn_unsqueeze_into. */
TN_API TN_NODISCARD tn_status tn_squeeze_into(const tn_tensor *dst, const tn_tensor *src);

/* ---- the normal form of a copy ---- */

/* A copy as a loop nest, in bytes: axes of extent 1 are dropped, axes are sorted by falling
 * |dst step|, the dense tail is merged into unit, and neighbouring axes are merged.  Steps keep
 * their signs.  For (2, 3) f32 copied into its transpose: unit 4, count 6, idx {2, 1}, dst {8,
 * 4}, src {4, 12}. */
typedef struct tn_meta {
    int ndim;
    int64_t unit, count;      /* bytes per block, number of blocks; count 1 is one memcpy */
    int64_t idx[TN_MAX_NDIM]; /* blocks that one step along the axis skips */
    int64_t dst[TN_MAX_NDIM], src[TN_MAX_NDIM];
} tn_meta;

/* The failures are those of tn_rearrange, except that data may be NULL and may overlap. */
TN_API TN_NODISCARD tn_status tn_rearrange_meta(tn_meta *meta, const tn_tensor *dst,
                                                const tn_tensor *src);

/* Split the unit into blocks of the largest of n candidate sizes (bytes) that divides it; the
 * split becomes a new last axis.  out may be in.
 *
 * TN_EARG  no candidate divides the unit */
TN_API TN_NODISCARD tn_status tn_meta_distribute(tn_meta *out, const tn_meta *in,
                                                 const int64_t *candidates, int n);

TN_END

#endif
