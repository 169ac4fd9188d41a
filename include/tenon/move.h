/* move.h - moving elements between layouts: rearrange, fill, dense copies, document 002's
 * metadata. */
#ifndef TENON_MOVE_H
#define TENON_MOVE_H

#include <tenon/tensor.h>

TN_BEGIN

/* Copy every element of src to the same index of dst.
 *
 * dst and src agree in shape and dtype.  Either may be strided, reversed or misaligned; src may
 * be broadcast (stride 0).  dst may be exactly src; otherwise they share no byte.
 *
 * TN_EDTYPE    dtypes differ
 * TN_ESHAPE    shapes differ
 * TN_ESTRIDE   dst names an element twice
 * TN_ENULL     elements without data
 * TN_EOVERLAP  dst and src share bytes */
TN_API TN_NODISCARD tn_status tn_rearrange(const tn_tensor *dst, const tn_tensor *src);

/* Set every element of dst to *value, one element of dst's dtype; NULL is zero.
 *
 * TN_ESTRIDE   dst names an element twice */
TN_API TN_NODISCARD tn_status tn_fill(const tn_tensor *dst, const void *value);

/* Allocate a dense row-major copy of in; release it with tn_free.  out may be in. */
TN_API TN_NODISCARD tn_status tn_contiguous(tn_tensor *out, const tn_tensor *in);

/* The normal form of a copy, in bytes: unit axes dropped, axes by falling |dst step|, the dense
 * tail merged into unit, neighbours merged.  Steps keep their signs.  For (2, 3) f32 copied
 * into its transpose: unit 4, count 6, idx {2, 1}, dst {8, 4}, src {4, 12}. */
typedef struct tn_meta {
    int ndim;
    int64_t unit, count;      /* bytes of a block, number of blocks; count 1 is one memcpy */
    int64_t idx[TN_MAX_NDIM]; /* blocks that one step of the axis passes over */
    int64_t dst[TN_MAX_NDIM], src[TN_MAX_NDIM];
} tn_meta;

TN_API TN_NODISCARD tn_status tn_rearrange_meta(tn_meta *meta, const tn_tensor *dst,
                                                const tn_tensor *src);

/* Split the unit into blocks of the largest of n candidates (bytes) that divides it; the split
 * becomes a new last axis.  out may be in.  TN_EARG when no candidate divides it. */
TN_API TN_NODISCARD tn_status tn_meta_distribute(tn_meta *out, const tn_meta *in,
                                                 const int64_t *candidates, int n);

TN_END

#endif
