/* rows.h - functions of whole rows that models use, in one or two passes through the cache.
 *
 * Floats only (f8 … f64); dst has src's dtype and shape, any strides, and may be exactly src;
 * otherwise they share no byte.  An empty row is not an error. */
#ifndef TENON_ROWS_H
#define TENON_ROWS_H

#include <tenon/reduce.h>

TN_BEGIN

/* softmax is exp(x - max) / sum along axis dim, within 4 + |x - max| ulp.  log_softmax is
 * x - max - log(sum), within 4 ulp of the largest of |x|, |result| and 1.  sum is by the tree;
 * f8, f16 and bf16 are rounded once from f32; numbers below 2^-126 may be 0.  NaN or +inf in a
 * row, or nothing but -inf, make the row NaN.
 *
 * TN_EARG   dim out of range */
TN_API TN_NODISCARD tn_status tn_softmax(const tn_tensor *dst, const tn_tensor *src, int dim);
TN_API TN_NODISCARD tn_status tn_log_softmax(const tn_tensor *dst, const tn_tensor *src,
                                             int dim);

/* softmax along the last axis of (…, q, k): row i sees columns j <= i + (k - q); the others are
 * not read and become 0.
 *
 * TN_ESHAPE  fewer than 2 axes, or k < q */
TN_API TN_NODISCARD tn_status tn_causal_softmax(const tn_tensor *dst, const tn_tensor *src);

/* y = (x * r) * w along the last axis, r = 1 / sqrt(sumsq / n + eps): sumsq by the tree, r in
 * f64 and rounded to f32 (f64: not), the products in f32 (f64), y rounded once.  Same bits
 * everywhere.
 *
 * weight: one axis as long as the last of src, of src's dtype or f32, or f16 or bf16 where src
 * is one of the two; NULL is ones.  eps >= 0.
 *
 * TN_EARG    eps is negative or not finite; src has no axis
 * TN_EDTYPE  src is not a float, dst or weight do not fit
 * TN_ESHAPE  dst or weight have other shapes */
TN_API TN_NODISCARD tn_status tn_rms_norm(const tn_tensor *dst, const tn_tensor *src,
                                          const tn_tensor *weight, double eps);

/* y = t * w + b (rounded twice, never fused), t = (x - mean) * r in f64 rounded to f32 (f64:
 * not), r = 1 / sqrt(M / n + eps), mean and M as in var.  weight and bias may be NULL. */
TN_API TN_NODISCARD tn_status tn_layer_norm(const tn_tensor *dst, const tn_tensor *src,
                                            const tn_tensor *weight, const tn_tensor *bias,
                                            double eps);

/* sum = a + b, rounded to its dtype, and dst = rms_norm(sum) in one pass.  dst and sum share no
 * byte; either may be exactly a or b. */
TN_API TN_NODISCARD tn_status tn_add_rms_norm(const tn_tensor *dst, const tn_tensor *sum,
                                              const tn_tensor *a, const tn_tensor *b,
                                              const tn_tensor *weight, double eps);

/* Each pair (x, y) of a row becomes (x cos - y sin, x sin + y cos), rounded after each product
 * and after the sum, f8, f16 and bf16 once from f32: rotary positions.  Pairs are elements i and
 * i + n / 2 of the last axis of src, n long, or 2 i and 2 i + 1 when pairs is true.
 *
 * sin and cos have one dtype, as weight above, and broadcast to src's shape with n / 2 for n.
 *
 * TN_ENULL   sin or cos is NULL
 * TN_ESHAPE  n is odd, or sin or cos do not broadcast */
TN_API TN_NODISCARD tn_status tn_rotate(const tn_tensor *dst, const tn_tensor *src,
                                        const tn_tensor *sin, const tn_tensor *cos, bool pairs);

/* The functions of one row as a plan: dim is read by TN_ROW_SOFTMAX and TN_ROW_LOG_SOFTMAX, eps
 * by the norms; first and second are weight and bias, or sin and cos.  A run is given src, first
 * and second, without those that were NULL; the checks are those of the calls. */
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
