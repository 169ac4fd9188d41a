/* rows.h - functions of whole rows used by models, in one or two passes through the cache.
 *
 * They take floats only (f8 … f64).  dst has src's dtype and shape and any strides, and may be
 * exactly src; otherwise they share no byte.  An empty row is not an error. */
#ifndef TENON_ROWS_H
#define TENON_ROWS_H

#include <tenon/reduce.h>

TN_BEGIN

/* softmax is exp(x - max) / sum along axis dim, within 4 + |x - max| ulp.  log_softmax is x -
 * max - log(sum), within 4 ulp of the largest of |x|, |result| and 1.  sum is formed by the
 * tree of reduce.h, whose bound is added to these for f64; results in f8, f16 and bf16 are
 * rounded once from f32; numbers below 2^-126 may be 0.  A row becomes NaN if it contains NaN
 * or +inf, or if all of its elements are -inf.
 *
 * TN_EARG   dim is out of range */
TN_API TN_NODISCARD tn_status tn_softmax(const tn_tensor *dst, const tn_tensor *src, int dim);
TN_API TN_NODISCARD tn_status tn_log_softmax(const tn_tensor *dst, const tn_tensor *src,
                                             int dim);

/* softmax along the last axis of (…, q, k), where row i attends to columns j <= i + (k - q);
 * the other columns are not read and become 0.
 *
 * TN_ESHAPE  src has fewer than 2 axes, or k < q */
TN_API TN_NODISCARD tn_status tn_causal_softmax(const tn_tensor *dst, const tn_tensor *src);

/* y = (x * r) * w along the last axis, with r = 1 / sqrt(sumsq / n + eps).  sumsq is formed by
 * the tree; r is computed in f64 and rounded to f32 (not for f64); the products are f32 (f64
 * for f64), and y is rounded once.  The bits are the same on every machine.
 *
 * weight has one axis, as long as the last axis of src, and src's dtype or f32; if src is f16
 * or bf16 it may be either of the two.  NULL means ones.  eps is at least 0.
 *
 * TN_EARG    eps is negative or not finite; src has no axis
 * TN_EDTYPE  src is not a float, or the dtype of dst or weight is not allowed
 * TN_ESHAPE  dst or weight has another shape */
TN_API TN_NODISCARD tn_status tn_rms_norm(const tn_tensor *dst, const tn_tensor *src,
                                          const tn_tensor *weight, double eps);

/* y = t * w + b (rounded twice, never fused), where t = (x - mean) * r is computed in f64 and
 * rounded to f32 (not for f64), r = 1 / sqrt(M / n + eps), and mean and M are those of var in
 * reduce.h.  weight and bias may be NULL. */
TN_API TN_NODISCARD tn_status tn_layer_norm(const tn_tensor *dst, const tn_tensor *src,
                                            const tn_tensor *weight, const tn_tensor *bias,
                                            double eps);

/* Compute sum = a + b, rounded to its dtype, and dst = rms_norm(sum) in one pass.  dst and sum
 * share no byte; either may be exactly a or b. */
TN_API TN_NODISCARD tn_status tn_add_rms_norm(const tn_tensor *dst, const tn_tensor *sum,
                                              const tn_tensor *a, const tn_tensor *b,
                                              const tn_tensor *weight, double eps);

/* Rotary position embedding: each pair (x, y) of a row becomes (x cos - y sin, x sin + y cos),
 * rounded after each product and after the sum; f8, f16 and bf16 are rounded once from f32.  A
 * pair is elements i and i + n / 2 of the last axis of src, whose extent is n, or elements 2 i
 * and 2 i + 1 if pairs is true.
 *
 * sin and cos have the same dtype, one that weight may have, and n / 2 as their last extent;
 * their other axes broadcast to those of src.
 *
 * TN_ENULL   sin or cos is NULL
 * TN_ESHAPE  n is odd, or sin or cos does not broadcast */
TN_API TN_NODISCARD tn_status tn_rotate(const tn_tensor *dst, const tn_tensor *src,
                                        const tn_tensor *sin, const tn_tensor *cos, bool pairs);

/* The functions of one row as plans.  dim is used by TN_ROW_SOFTMAX and TN_ROW_LOG_SOFTMAX
 * only, eps by the norms only; first and second are weight and bias, or sin and cos.  The
 * sources of a run are src, first and second, without those that were NULL.  The checks are
 * those of the plain calls. */
typedef enum tn_row {
    TN_ROW_SOFTMAX,
    TN_ROW_LOG_SOFTMAX,
    TN_ROW_CAUSAL_SOFTMAX,
    TN_ROW_RMS_NORM,
    TN_ROW_LAYER_NORM,
    TN_ROW_ROTATE_HALVES,
    TN_ROW_ROTATE_PAIRS
} tn_row;

TN_API TN_NODISCARD tn_status tn_plan_rows(tn_plan **plan, tn_row op, const tn_tensor *dst,
                                           const tn_tensor *src, int dim,
                                           const tn_tensor *first, const tn_tensor *second,
                                           double eps);

TN_END

#endif
