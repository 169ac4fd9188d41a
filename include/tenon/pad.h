/* pad.h - borders around a tensor, in the modes of numpy.pad.
 *
 * The rules at the head of copy.h hold. */
#ifndef TENON_PAD_H
#define TENON_PAD_H

#include <tenon/copy.h>

TN_BEGIN

/* What a border holds. */
typedef enum tn_pad_mode {
    TN_PAD_CONSTANT,  /* a given value:                   9 9 | 0 1 2 3 | 9 9 */
    TN_PAD_EDGE,      /* the nearest element:             0 0 | 0 1 2 3 | 3 3 */
    TN_PAD_REFLECT,   /* mirrored, without the edge:      2 1 | 0 1 2 3 | 2 1 */
    TN_PAD_SYMMETRIC, /* mirrored, with the edge:         1 0 | 0 1 2 3 | 3 2 */
    TN_PAD_WRAP       /* periodic:                        2 3 | 0 1 2 3 | 0 1 */
} tn_pad_mode;

/* Copy src to dst with before[i] elements before axis i and after[i] after it.
 *
 * A width may exceed the extent: mirroring and wrapping continue.  value is one element (NULL
 * means zero) and is read by TN_PAD_CONSTANT only, the only mode that pads an axis of extent 0.
 * dst is written in one pass.
 *
 * TN_ENULL      before or after is NULL and ndim > 0
 * TN_EARG       a width is negative, or mode is unknown
 * TN_EDTYPE     dtypes differ
 * TN_ESHAPE     dst's shape is not src's plus the borders; an axis of extent 0 is padded in
 *               another mode
 * TN_EOVERFLOW  an extent plus its widths exceeds 2^63 - 1 */
TN_API TN_NODISCARD tn_status tn_pad_into(const tn_tensor *dst, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);

/* The same into a new tensor. */
TN_API TN_NODISCARD tn_status tn_pad_copy(tn_tensor *out, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);

/* Pad the last two axes, height and width, with `padding` zeros on each side.
 *
 * TN_EARG       padding is negative
 * TN_ESHAPE     src has fewer than 2 axes
 * TN_EOVERFLOW  an extent plus its widths exceeds 2^63 - 1 */
TN_API TN_NODISCARD tn_status tn_pad_hw_copy(tn_tensor *out, const tn_tensor *src,
                                             int64_t padding);

/* The same into dst; also TN_ESHAPE if dst's shape is not src's plus the borders. */
TN_API TN_NODISCARD tn_status tn_pad_hw_into(const tn_tensor *dst, const tn_tensor *src,
                                             int64_t padding);

/* The same for t, which tn_alloc or a _copy call made: its storage is replaced by a larger one
 * and views of the old storage become invalid.  A failure leaves t as it was. */
TN_API TN_NODISCARD tn_status tn_pad_hw_inplace(tn_tensor *t, int64_t padding);

TN_END

#endif
