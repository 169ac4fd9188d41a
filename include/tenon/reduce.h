/* reduce.h - reductions over any axes, and scans (running reductions) along an axis.
 *
 * The elements that are reduced to one result form a sequence: they follow in row-major order
 * over the reduced axes, in the order of the tensor's axes.  A result is a function of that
 * sequence alone: its bits do not depend on strides, the number of threads or the instruction
 * set (those of logsumexp and of norms of orders other than 0, 1, 2 and infinity may depend on
 * the instruction set).  A computed NaN is the positive quiet one without payload;
 * what overflows f8e4m3, which has no infinity, is NaN with the sign of the overflow. */
#ifndef TENON_REDUCE_H
#define TENON_REDUCE_H

#include <tenon/plan.h>

TN_BEGIN

/* The values are part of the ABI: new ones are added at the end.  The name of
 * TN_REDUCE_COUNT_NONZERO is "count_nonzero", and so on. */
typedef enum tn_reduction {
    /* clang-format off */
    TN_REDUCE_SUM, TN_REDUCE_PROD, TN_REDUCE_MEAN, TN_REDUCE_VAR, TN_REDUCE_STD,
    TN_REDUCE_MIN, TN_REDUCE_MAX, TN_REDUCE_ARGMIN, TN_REDUCE_ARGMAX,
    TN_REDUCE_ANY, TN_REDUCE_ALL, TN_REDUCE_COUNT_NONZERO,
    TN_REDUCE_SUMSQ, TN_REDUCE_NORM, TN_REDUCE_LOGSUMEXP,
    TN_REDUCE_NANSUM, TN_REDUCE_NANPROD, TN_REDUCE_NANMEAN, TN_REDUCE_NANVAR, TN_REDUCE_NANSTD,
    TN_REDUCE_NANMIN, TN_REDUCE_NANMAX,
    /* clang-format on */
} tn_reduction;

#define TN_ALL_AXES (-1) /* as naxes: every axis; axes is not read */

/* ---- facts ---- */

/* TN_ENULL  op or name is NULL
 * TN_EARG   no reduction has this name */
TN_API TN_NODISCARD tn_status tn_reduction_parse(tn_reduction *op, const char *name);
TN_API const char *tn_reduction_name(tn_reduction op); /* NULL for an unknown one */
TN_API int tn_reduction_params(tn_reduction op); /* var, std, nanvar, nanstd, norm: 1; else 0 */

/* The dtype of the result.
 *
 * sum, prod and sumsq give i64 for bool and signed integers, u64 for unsigned ones, and
 * otherwise the dtype of the source (sumsq of complex: the dtype of its real part).  mean, var
 * and std give f64 for bool and integers, and otherwise the dtype of the source (var and std of
 * complex: the real dtype).  min and max give the dtype of the source, argmin and argmax i64;
 * complex is TN_EDTYPE for these four.  any and all give bool, count_nonzero i64.  norm gives
 * the dtype of floats and the real dtype of complex; integers are TN_EDTYPE.  logsumexp and
 * nan... take floats only.
 *
 * dst has this dtype or, for a source of real floats, f32 or f64 if that is wider (a sum of f16
 * into f32).  For sum, prod and sumsq of integers it may have any integer dtype: the low bits
 * are kept, as in tn_cast.  For argmin and argmax it may be i32 if the count fits.
 *
 * TN_ENULL   out is NULL
 * TN_EARG    op is unknown
 * TN_EDTYPE  in is unknown, or the reduction does not support it */
TN_API TN_NODISCARD tn_status tn_reduction_result(tn_reduction op, tn_dtype in, tn_dtype *out);

/* The shape of the result: without the reduced axes, or with extent 1 in their place if keep is
 * true.  shape holds up to TN_MAX_NDIM entries; axes may be listed in any order. */
TN_API TN_NODISCARD tn_status tn_reduce_shape(const tn_tensor *src, int naxes, const int *axes,
                                              bool keep, int *ndim, int64_t *shape);

/* ---- work ---- */

/* Reduce src over naxes axes into dst.
 *
 * axes lists distinct axes in [0, ndim), in any order; with naxes 0 each element is its own
 * sequence, with TN_ALL_AXES all axes are reduced.  dst has either src's ndim, with extent 1 on
 * reduced axes, or only the axes that are kept.  Both may have any strides, and src may be
 * broadcast (stride 0); they share no byte.  Nothing is allocated.
 *
 * params NULL means the defaults: correction 0 for var and std, order 2 for norm.  n is the
 * number of elements in the sequence:
 * sum, prod    integers wrap; floats are added by the tree below; a zero sum is +0
 * mean         the sum / n, rounded once; for integers the exact sum / n
 * var, std     sum of squared distances from the mean / max(n - correction, 0); NaN if n is 0
 * min, max     NaN if the sequence has one; -0 is less than +0
 * argmin, -max the first of equal elements (-0 equals +0); the first NaN if there is one
 * any, all     "not zero"; NaN is true
 * norm         order p: (sum |x|^p)^(1/p); inf: the largest |x|, -inf: the smallest, 0: the
 *              number of non-zero elements; NaN if the sequence has one (a complex number
 *              with NaN in either part)
 * logsumexp    log(sum exp(x)), without intermediate overflow
 * nan...       as if every NaN were absent from the sequence
 * If n is 0: sum, count_nonzero and sumsq are 0, prod is 1, mean, var and std are NaN, any is
 * false, all is true, norm is 0 (inf for a negative order), logsumexp is -inf.  nanmean,
 * nanvar, nanstd, nanmin and nanmax are NaN if every element is NaN.
 *
 * TN_ENULL     a pointer is NULL, or an operand with elements has no data
 * TN_EARG      op is unknown; naxes or an axis is out of range; an axis is repeated; order is
 *              NaN; correction is not finite; dst is TN_READONLY
 * TN_EDTYPE    the reduction does not support src's dtype, or dst's dtype is not allowed
 * TN_ESHAPE    dst has another shape; min, max, argmin or argmax (also nan...) of an empty
 *              sequence while dst has elements
 * TN_ESTRIDE   two indices of dst share an element
 * TN_EOVERLAP  dst shares a byte with src */
TN_API TN_NODISCARD tn_status tn_reduce(tn_reduction op, const double *params,
                                        const tn_tensor *dst, const tn_tensor *src, int naxes,
                                        const int *axes);

/* The same into a new dense tensor of tn_reduction_result; release it with tn_free. */
TN_API TN_NODISCARD tn_status tn_reduce_copy(tn_tensor *out, tn_reduction op,
                                             const double *params, const tn_tensor *src,
                                             int naxes, const int *axes, bool keep);

/* The minimum and the maximum in one pass; low or high may be NULL, but not both. */
TN_API TN_NODISCARD tn_status tn_minmax(const tn_tensor *low, const tn_tensor *high,
                                        const tn_tensor *src, int naxes, const int *axes);

/* The sum of a * b over axes, which are axes of the shape that a and b broadcast to.  a and b
 * have the same dtype, dst a dtype that sum allows.  Complex numbers are not conjugated.
 * Products of floats are computed in f64. */
TN_API TN_NODISCARD tn_status tn_dot(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b, int naxes, const int *axes);

/* einops.reduce: "b c h w -> b c", "b (h 2) (w 2) c -> b h w c".  Names that appear only on the
 * left are reduced, and so are numbers on the left; "()" and "1" on the right make axes of
 * extent 1; sizes is as in tn_pattern_into.  The sequence is in row-major order over the
 * reduced names, in the order in which the left side splits src. */
TN_API TN_NODISCARD tn_status tn_pattern_reduce_shape(const char *pattern, const char *sizes,
                                                      const tn_tensor *src, int *ndim,
                                                      int64_t *shape);
TN_API TN_NODISCARD tn_status tn_pattern_reduce(tn_reduction op, const double *params,
                                                const tn_tensor *dst, const tn_tensor *src,
                                                const char *pattern, const char *sizes);

/* The operands that tn_pattern_reduce passes to tn_reduce, for jobs of stream.h: a view of src
 * with one axis for each name, and the axes of that view that are reduced.  axes has room for
 * TN_MAX_NDIM entries. */
TN_API TN_NODISCARD tn_status tn_pattern_reduce_axes(tn_tensor *view, int *naxes, int *axes,
                                                     const tn_tensor *src, const char *pattern,
                                                     const char *sizes);

/* ---- the tree ----
 *
 * Floats are always added in the same order, whichever kernel adds them.  For the sequence
 * x[0..n):
 * - the sequence is cut into blocks of 2048, a block into tiles of 128; element 16 k + l of a
 *   tile is in row k of 8, lane l of 16;
 * - a tile adds its rows lane by lane:
 *   t[l] = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)),
 *   in f32 for f8, f16, bf16 and f32, in f64 for f64;
 * - a block adds its tiles one after the other in f64, lane by lane: s[l] = s[l] + t[l];
 * - the lanes of a block are added by halves: s[l] + s[l + 8], then + 4, + 2, + 1;
 * - blocks are added in pairs: the sum of the first 2^k blocks, 2^k being the largest power of
 *   two below their number, plus the sum of the rest, each formed in the same way;
 * - the result is rounded to dst's dtype once.
 * Absent elements (beyond the end of the last tile, or NaN for nan...) count as -0, which
 * changes nothing; a final -0 becomes +0.  A tile of f32 may overflow where f64 would not.  The
 * error of a sum of f32 is therefore at most 3 units of 2^-24 of the sum of |x|, for any n up
 * to 2^40, plus half a unit of the result; that of f64 is at most (23 + log2(n / 2048)) units
 * of 2^-53 of the sum of |x|.
 *
 * sumsq, dot and norm of order 2 add f64 products (exact for f32 and narrower, otherwise
 * rounded, never fused) in tiles of f64; norm of order 1 adds |x| as sum does, that of complex
 * numbers in tiles of f64.  prod multiplies in f64; absent elements count as 1.  Complex sums
 * add real and imaginary parts separately; a complex product is (ac - bd, ad + bc) in f64,
 * rounded at each step, and each lane of a block begins with 1.
 *
 * var: in each block d = x - c in f64, where c is the block's first element (nan...: the first
 * that is not a NaN; a NaN gives d = -0 and is not counted); s is the tree of d, q the tree of
 * d * d; a block of m elements has mean c + s / m and M = max(q - s * (s / m), 0).  Blocks a
 * and b are combined in the same pairs: n = na + nb, d = mean_b - mean_a, mean = mean_a + d *
 * (nb / n), M = (M_a + M_b) + d * d * (na * (nb / n)).  c is an element of the block, so q is
 * at most m M and no more than 11 bits are lost.  An element that is not finite makes the
 * result NaN.  var = M / max(n - correction, 0). */

/* ---- scans: running reductions ---- */

typedef enum tn_scan_op {
    TN_SCAN_SUM,
    TN_SCAN_PROD,
    TN_SCAN_MAX,
    TN_SCAN_MIN,
    TN_SCAN_LOGSUMEXP,
} tn_scan_op;
TN_API TN_NODISCARD tn_status tn_scan_parse(
    tn_scan_op *op, const char *name); /* "cumsum" "cumprod" "cummax" "cummin" "logcumsumexp" */
TN_API const char *tn_scan_name(tn_scan_op op);

/* dst[i] along axis dim is the reduction of src[0..i].
 *
 * dst has src's shape and a dtype that tn_reduce allows (max and min: src's dtype; logsumexp
 * takes floats; complex is supported by sum and prod).  For sum, prod and logsumexp dst may be
 * longer by one along dim: it then begins with 0, 1 or -inf.  dst may be exactly src; otherwise
 * they share no byte.  A running maximum or minimum is NaN from the first NaN on.  To scan
 * backwards, flip src and dst.
 *
 * Floats are accumulated in f64 and rounded once, in blocks of 2048 along dim and groups of 8
 * in a block.  Within a group p is a prefix sum in three steps: p[i] adds p[i - 1], then
 * p[i - 2], then p[i - 4], each as the step before left it and where it exists.  c is the
 * running sum of p[7] over the earlier groups of the block, b that of the final c over the
 * earlier blocks: dst[i] = b + (c + p[i]); c' = c + p[7] after a group, b' = b + c after a
 * block (prod multiplies).
 *
 * TN_EARG, TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE, TN_EOVERLAP as above */
TN_API TN_NODISCARD tn_status tn_scan(tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                                      int dim);

/* dst[i] = src[i + 1] - src[i] along dim.  dst is shorter by one along dim (an extent of 0
 * stays 0); dtypes are as in tn_sub, and bool is TN_EDTYPE.  dst and src share no byte. */
TN_API TN_NODISCARD tn_status tn_diff(const tn_tensor *dst, const tn_tensor *src, int dim);

/* ---- plans ---- */
TN_API TN_NODISCARD tn_status tn_plan_reduce(tn_plan **plan, tn_reduction op,
                                             const double *params, const tn_tensor *dst,
                                             const tn_tensor *src, int naxes, const int *axes);
TN_API TN_NODISCARD tn_status tn_plan_scan(tn_plan **plan, tn_scan_op op, const tn_tensor *dst,
                                           const tn_tensor *src, int dim);

TN_END

#endif
