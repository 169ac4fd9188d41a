/* create.h - tensors with generated contents: constants, ranges, random numbers.
 *
 * The rules at the head of copy.h hold.  tn_alloc, in tensor.h, makes a tensor with undefined
 * contents. */
#ifndef TENON_CREATE_H
#define TENON_CREATE_H

#include <tenon/copy.h>

TN_BEGIN

/* Allocate a dense row-major tensor with in's dtype and shape and undefined contents.  in's
 * data is not read and may be NULL.  The tensor is never TN_READONLY.  out may be in.
 *
 * TN_ENULL    out or in is NULL
 * TN_EDEVICE  in is not on the CPU
 * TN_ENOMEM   the allocator returned NULL; the other failures are those of an invalid in */
TN_API TN_NODISCARD tn_status tn_like(tn_tensor *out, const tn_tensor *in);

/* Allocate a tensor whose elements all equal *value, one element of dtype; NULL means zero.
 *
 * TN_ENULL   out is NULL, or shape is NULL and ndim > 0
 * TN_EARG    ndim is not in [0, TN_MAX_NDIM]
 * TN_ESHAPE  an extent is negative */
TN_API TN_NODISCARD tn_status tn_full(tn_tensor *out, tn_dtype dtype, int ndim,
                                      const int64_t *shape, const void *value);

/* Set element i of a 1-d tensor to start + i * step.
 *
 * The value is computed in f64 and rounded once; for complex dtypes it is the real part.  For
 * integers and bool, start and step are first truncated to i64 (NaN becomes 0, values out of
 * range saturate); the sum wraps, and its low bits are kept.
 *
 * TN_ESHAPE  dst is not 1-d */
TN_API TN_NODISCARD tn_status tn_arange(const tn_tensor *dst, double start, double step);

/* Fill a tensor of floats with normally distributed random numbers (mean 0, deviation 1).
 *
 * Element i in row-major order comes from Philox 4x32-10 with counter i and key seed, by the
 * Box-Muller method in f64, rounded once to dst's dtype: the bits do not depend on strides,
 * threads or instruction set.
 *
 * TN_EDTYPE  dst's dtype is not a float */
TN_API TN_NODISCARD tn_status tn_randn(const tn_tensor *dst, uint64_t seed);

/* Fill a tensor with random integers in [low, high), from the same generator.
 *
 * The value is low + floor(x * (high - low) / 2^64) for 64 random bits x, so its bias is at
 * most (high - low) / 2^64.  dst may be of an integer, bool or float dtype.
 *
 * TN_EARG    low >= high, or dst's dtype does not represent every integer of [low, high)
 * TN_EDTYPE  dst is complex */
TN_API TN_NODISCARD tn_status tn_randint(const tn_tensor *dst, uint64_t seed, int64_t low,
                                         int64_t high);

TN_END

#endif
