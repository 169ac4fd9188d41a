/* iop_border_reduce.c - the public functions of reductions, row functions and BLAS level 1. */
#include "iop_border.h"

/* clang-format off */
CREATE(Sum, (T output, T input, size_t *dim, size_t dim_size, bool keepdim),
       .t = {output, input}, .num = {(double)dim_size, (double)keepdim}, .array = {dim})
RUN_NUM(Sum, (void *output, const void *input, size_t *dim, size_t dim_size, bool keepdim),
        ((double)(dim && dim_size && keepdim)), output, input)

CREATE(All, (T output, T input, size_t *dim, size_t dim_size, bool keepdim),
       .t = {output, input}, .num = {(double)dim_size, (double)keepdim}, .array = {dim})
RUN_NUM(All, (void *output, const void *input, size_t *dim, size_t dim_size, bool keepdim),
        ((double)(dim && dim_size && keepdim)), output, input)

CREATE(Var, (T var_output, T input, size_t *dim, size_t dim_size, bool unbiased, bool keepdim),
       .t = {var_output, input},
       .num = {(double)dim_size, (double)keepdim, (double)unbiased}, .array = {dim})
RUN_NUM(Var,
        (void *var_output, const void *input, size_t *dim, size_t dim_size, bool unbiased,
         bool keepdim),
        ((double)(dim && dim_size && unbiased && keepdim)),
        var_output, input)

CREATE(VarMean,
       (T var_output, T mean_output, T input, size_t *dim, size_t dim_size, bool unbiased,
        bool keepdim),
       .t = {var_output, mean_output, input},
       .num = {(double)dim_size, (double)keepdim, (double)unbiased}, .array = {dim})
RUN_NUM(VarMean,
        (void *var_output, void *mean_output, const void *input, size_t *dim, size_t dim_size,
         bool unbiased, bool keepdim),
        ((double)(dim && dim_size && unbiased && keepdim)),
        var_output, mean_output, input)

CREATE(Dist, (T y, T x1, T x2, double p), .t = {y, x1, x2}, .num = {p})
RUN(Dist, (void *y, const void *x1, const void *x2), y, x1, x2)

CREATE(Cdist, (T y, T x1, T x2, double p), .t = {y, x1, x2}, .num = {p})
RUN(Cdist, (void *y, const void *x1, const void *x2), y, x1, x2)

CREATE(LayerNorm, (T output, T standard, T deviation, T input, T weight, T bias, float eps),
       .t = {output, standard, deviation, input, weight, bias}, .num = {(double)eps})
RUN(LayerNorm,
    (void *output, void *standard, void *deviation, const void *input, const void *weight,
     const void *bias),
    output, standard, deviation, input, weight, bias)

CREATE(LogSoftmax, (T output, T input, int dim), .t = {output, input}, .num = {(double)dim})
RUN(LogSoftmax, (void *output, const void *input), output, input)

CREATE(LogCumSumExp, (T y, T x, int axis, int exclusive, int reverse),
       .t = {y, x}, .num = {(double)axis, (double)exclusive, (double)reverse})
RUN(LogCumSumExp, (void *y, const void *x), y, x)

CREATE(Dot, (T y, T a, T b), .t = {y, a, b})
RUN(Dot, (void *y, const void *a, const void *b), y, a, b)

CREATE(BlasDot, (T x, T y, T result), .t = {x, y, result})
RUN(BlasDot, (const void *x, const void *y, void *result), x, y, result)

CREATE(BlasCopy, (T x, T y), .t = {x, y})
RUN(BlasCopy, (const void *x, void *y), x, y)

CREATE(BlasAmax, (T x, T result), .t = {x, result})
RUN(BlasAmax, (const void *x, void *result), x, result)

CREATE(BlasAmin, (T x, T result), .t = {x, result})
RUN(BlasAmin, (const void *x, void *result), x, result)

CREATE(Swap, (T x, T y), .t = {x, y})
RUN(Swap, (void *x, void *y), x, y)

CREATE(Asum, (T x, T result), .t = {x, result})
RUN(Asum, (const void *x, void *result), x, result)

CREATE(Nrm2, (T x, T result), .t = {x, result})
RUN(Nrm2, (const void *x, void *result), x, result)

CREATE(Scal, (T alpha, T x), .t = {alpha, x})
RUN(Scal, (const void *alpha, void *x), alpha, x)

CREATE(Axpy, (T alpha, T x, T y), .t = {alpha, x, y})
RUN(Axpy, (const void *alpha, const void *x, void *y), alpha, x, y)

CREATE(Rot, (T x, T y, T c, T s), .t = {x, y, c, s})
RUN(Rot, (void *x, void *y, const void *c, const void *s), x, y, c, s)

CREATE(Rotg, (T x, T y, T c, T s), .t = {x, y, c, s})
RUN(Rotg, (void *x, void *y, void *c, void *s), x, y, c, s)

CREATE(Rotm, (T x, T y, T param), .t = {x, y, param})
RUN(Rotm, (void *x, void *y, const void *param), x, y, param)

CREATE(Rotmg, (T d1, T d2, T x1, T y1, T param), .t = {d1, d2, x1, y1, param})
RUN(Rotmg, (void *d1, void *d2, void *x1, const void *y1, void *param), d1, d2, x1, y1, param)
/* clang-format on */
