/* reduce.h - many numbers to one: reductions over any axes, and running ones along an axis.
 *
 * The elements that meet in one result are a sequence: row-major over the reduced axes, in the
 * order of the tensor's axes.  A result is a function of that sequence alone: its bits depend
 * neither on strides, nor on the number of threads, nor on the instruction set (logsumexp and
 * norms of other orders than 0, 1, 2 and infinity: not on threads and strides).  A NaN that is
 * computed is the positive quiet one without payload. */
#ifndef TENON_REDUCE_H
#define TENON_REDUCE_H

#include <tenon/plan.h>

TN_BEGIN

/* The numbers are part of the ABI: new ones go at the end.  The name of
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
 * sum, prod, sumsq of bool and signed integers: i64, of unsigned ones: u64, else the same
 * (sumsq of complex: its real part).  mean, var, std of bool and integers: f64, else the same
 * (var and std of complex: real).  min, max: the same, complex is TN_EDTYPE.  argmin, argmax:
 * i64, complex is TN_EDTYPE.  any, all: bool; count_nonzero: i64.  norm: floats the same,
 * complex real, integers TN_EDTYPE.  logsumexp: floats.  nan...: floats only.
 *
 * dst has this dtype, or f32 or f64 where that is a wider float (sum of f16 into f32), or any
 * integer where it is an integer sum, prod or sumsq: low bits are kept, as in tn_cast; argmin
 * and argmax also give i32 where the count fits.
 *
 * TN_ENULL   out is NULL
 * TN_EARG    op is unknown
 * TN_EDTYPE  in is unknown, or the reduction does not take it */
TN_API TN_NODISCARD tn_status tn_reduction_result(tn_reduction op, tn_dtype in, tn_dtype *out);

/* The shape of the result: without the reduced axes, or with extent 1 in their place when keep
 * is true.  shape holds up to TN_MAX_NDIM entries.  Axes in any order. */
TN_API TN_NODISCARD tn_status tn_reduce_shape(const tn_tensor *src, int naxes, const int *axes,
                                              bool keep, int *ndim, int64_t *shape);

/* ---- work ---- */

/* Reduce src over naxes axes into dst.
 *
 * axes: each in [0, ndim), none twice, any order; naxes 0 reduces each element by itself;
 * TN_ALL_AXES reduces all.  dst has either src's ndim, with extent 1 on reduced axes, or the
 * axes that stay.  Any strides on both; src may repeat; they share no byte.  Nothing is
 * allocated.
 *
 * params NULL is the default: var, std {correction 0}, norm {order 2}.  Let n be the number of
 * elements in the sequence:
 * sum, prod    integers wrap; floats by the tree below; a sum that is zero is +0
 * mean         the sum / n, rounded once; of integers the exact sum / n
 * var, std     squares of distances from the mean / max(n - correction, 0); NaN when n is 0
 * min, max     NaN when there is one; -0 is less than +0
 * argmin, -max the first of equal ones (-0 equals +0), the first NaN when there is one
 * any, all     "not zero"; NaN is true
 * norm         order p: (sum |x|^p)^(1/p); inf the largest, -inf the smallest |x|, 0 the
 *              number of non-zeros; NaN when there is one
 * logsumexp    log(sum exp(x)) without overflow
 * nan...       as if NaN were not in the sequence
 * n 0: sum 0, prod 1, mean var std NaN, any false, all true, count_nonzero 0, sumsq 0, norm 0
 * (of a negative order inf), logsumexp -inf; nanmean nanvar nanstd nanmin nanmax of nothing but
 * NaN: NaN.
 *
 * TN_ENULL     a pointer is NULL, or an operand with elements has no data
 * TN_EARG      op is unknown; naxes or an axis out of range, an axis twice; order is NaN,
 *              correction is not finite; dst is TN_READONLY
 * TN_EDTYPE    the reduction does not take src's dtype, or dst's does not fit
 * TN_ESHAPE    dst has another shape; min, max, argmin, argmax (also nan...) of no elements
 *              while dst has some
 * TN_ESTRIDE   two indices of dst share an element
 * TN_EOVERLAP  dst shares a byte with src */
TN_API TN_NODISCARD tn_status tn_reduce(tn_reduction op, const double *params,
                                        const tn_tensor *dst, const tn_tensor *src, int naxes,
                                        const int *axes);

/* The same into a new dense tensor of tn_reduction_result; release it with tn_free. */
TN_API TN_NODISCARD tn_status tn_reduce_copy(tn_tensor *out, tn_reduction op,
                                             const double *params, const tn_tensor *src,
                                             int naxes, const int *axes, bool keep);

/* The smallest and the largest in one pass; either dst may be NULL, not both. */
TN_API TN_NODISCARD tn_status tn_minmax(const tn_tensor *low, const tn_tensor *high,
                                        const tn_tensor *src, int naxes, const int *axes);

/* The sum of a * b over axes: a and b broadcast to one shape, whose axes are counted.  Both
 * have one dtype; dst as for sum.  Complex is not conjugated.  Products of floats are f64. */
TN_API TN_NODISCARD tn_status tn_dot(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b, int naxes, const int *axes);

/* einops.reduce: "b c h w -> b c", "b (h 2) (w 2) c -> b h w c".  Names only on the left are
 * reduced, and so are numbers there; "()" and "1" on the right make axes of extent 1; sizes as
 * in tn_pattern_into.  The sequence is row-major over the reduced names in the order in which
 * the left side splits src. */
TN_API TN_NODISCARD tn_status tn_pattern_reduce_shape(const char *pattern, const char *sizes,
                                                      const tn_tensor *src, int *ndim,
                                                      int64_t *shape);
TN_API TN_NODISCARD tn_status tn_pattern_reduce(tn_reduction op, const double *params,
                                                const tn_tensor *dst, const tn_tensor *src,
                                                const char *pattern, const char *sizes);

/* The view of src that has an axis for each name, and those of its axes that are reduced: what
 * tn_pattern_reduce hands to tn_reduce, for jobs of stream.h.  axes has TN_MAX_NDIM entries. */
TN_API TN_NODISCARD tn_status tn_pattern_reduce_axes(tn_tensor *view, int *naxes, int *axes,
                                                     const tn_tensor *src, const char *pattern,
                                                     const char *sizes);

/* ---- the tree ----
 *
 * Floats are added in one order, whatever computes them.  For the sequence x[0..n):
 * - blocks of 2048; tiles of 128 in a block; element 16 k + l of a tile is in row k of 8,
 *   lane l of 16;
 * - a tile adds its rows lane by lane:
 *   t[l] = ((r0 + r1) + (r2 + r3)) + ((r4 + r5) + (r6 + r7)),
 *   in f32 for f8, f16, bf16 and f32, in f64 for f64;
 * - a block adds its tiles one after the other in f64, lane by lane: s[l] = s[l] + t[l];
 * - the lanes of a block meet by halves: s[l] + s[l + 8], then + 4, + 2, + 1;
 * - blocks meet in pairs: the largest power of two blocks that is less than all of them, plus
 *   the rest, each summed so;
 * - the result is rounded to dst's dtype once.
 * Elements that are not there are -0, which changes nothing; what is -0 in the end becomes +0.
 * A tile of f32 may overflow where f64 would not.  So the error of a sum of f32 is at
 * most 3 units of 2^-24 of the sum of |x|, for any n up to 2^40, and then half a unit of the
 * result; of f64 at most (23 + log2(n / 2048)) units of 2^-53 of the sum of |x|.
 *
 * sumsq, dot and norm of order 2 add f64 products (exact for f32 and smaller, else rounded:
 * never fused) in tiles of f64; norm of order 1 adds |x| as sum does.  prod multiplies in f64
 * with 1 for what is not there.  Complex sums are of real and imaginary parts; a complex
 * product is (ac - bd, ad + bc) of f64 rounded at each step.
 *
 * var: in each block d = x - c in f64, c the block's first element (nan...: the first that is
 * no NaN; others count 0); s = tree of d, q = tree of d * d; then m elements with mean c + s /
 * m and M = max(q - s * (s / m), 0).  Blocks a, b meet in the same pairs: n = na + nb,
 * d = mean_b - mean_a, mean = mean_a + d * (nb / n), M = (M_a + M_b) + d * d * (na * (nb / n)).
 * The first element is one of the block, so q is at most m M and no more than 11 bits are lost.
 * An element that is not finite makes NaN.  var = M / max(n - correction, 0). */

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
 * dst has src's shape, and dtypes as in tn_reduce (max, min: the same; logsumexp: floats;
 * complex: sum and prod).  For sum, prod and logsumexp dst may be longer by one on dim: it then
 * begins with 0, 1 or -inf.  dst may be exactly src; otherwise they share no byte.  A running
 * maximum or minimum is NaN from the first NaN on.  To scan backwards, flip both.
 *
 * Floats run in f64 and are rounded once: blocks of 2048 along dim, groups of 8 in a block.  In
 * a group p[i] takes p[i - 1], then p[i - 2], then p[i - 4] of the step before, where there is
 * one; c is the chain of the groups' last p before it in the block, b the chain of the blocks'
 * last c before it: dst[i] = b + (c + p[i]), b' = b + c, c' = c + p[7] (prod: times).
 *
 * TN_EARG, TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE, TN_EOVERLAP as above */
TN_API TN_NODISCARD tn_status tn_scan(tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                                      int dim);

/* dst[i] = src[i + 1] - src[i] along dim; dst is shorter by one (0 stays 0), dtypes as in
 * tn_sub; bool is TN_EDTYPE.  They share no byte. */
TN_API TN_NODISCARD tn_status tn_diff(const tn_tensor *dst, const tn_tensor *src, int dim);

/* ---- plans ---- */
TN_API TN_NODISCARD tn_status tn_plan_reduce(tn_plan **plan, tn_reduction op,
                                             const double *params, const tn_tensor *dst,
                                             const tn_tensor *src, int naxes, const int *axes);
TN_API TN_NODISCARD tn_status tn_plan_scan(tn_plan **plan, tn_scan_op op, const tn_tensor *dst,
                                           const tn_tensor *src, int dim);

TN_END

#endif
