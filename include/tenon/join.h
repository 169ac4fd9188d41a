/* join.h - concat, stack, tile, repeat, roll.
 *
 * The rules at the head of copy.h hold. */
#ifndef TENON_JOIN_H
#define TENON_JOIN_H

#include <tenon/copy.h>

TN_BEGIN

/* Concatenate n sources along axis dim of dst.
 *
 * TN_EARG    n < 1, or dim is out of range
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  numbers of axes differ, other extents differ, or extents along dim do not add
 *            up */
TN_API TN_NODISCARD tn_status tn_concat(const tn_tensor *dst, int dim, int n,
                                        const tn_tensor *const *srcs);

/* Stack n sources of one shape along a new axis dim of dst, whose extent is n.  The failures
 * are those of tn_concat. */
TN_API TN_NODISCARD tn_status tn_stack(const tn_tensor *dst, int dim, int n,
                                       const tn_tensor *const *srcs);

/* Repeat src reps[i] times along each axis i, as numpy.tile does: 0 1 2 0 1 2.
 *
 * TN_ENULL      reps is NULL and ndim > 0
 * TN_EARG       an entry of reps is negative
 * TN_EDTYPE     dtypes differ
 * TN_ESHAPE     an extent of dst is not reps times that of src
 * TN_EOVERFLOW  an extent times its reps exceeds 2^63 - 1 */
TN_API TN_NODISCARD tn_status tn_tile(const tn_tensor *dst, const tn_tensor *src,
                                      const int64_t *reps);

/* Repeat each element reps times along axis dim, as numpy.repeat does: 0 0 1 1 2 2.  The
 * failures are those of tn_tile, and TN_EARG for dim. */
TN_API TN_NODISCARD tn_status tn_repeat(const tn_tensor *dst, const tn_tensor *src, int dim,
                                        int64_t reps);

/* Rotate axis dim by shift: index i of src becomes index (i + shift) mod n of dst.
 *
 * TN_EARG    dim is out of range
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  shapes differ */
TN_API TN_NODISCARD tn_status tn_roll(const tn_tensor *dst, const tn_tensor *src, int dim,
                                      int64_t shift);

TN_END

#endif
