/* iop_algebra.c - matrix and vector products, powers, differences, determinants. */
#include "iop_program.h"

#include <math.h>
#include <string.h>

/* out, input, batch1, batch2; num: alpha, beta */
tn_status tni_iop_plan_addbmm(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0], *a = &p->t[2], *b = &p->t[3];
    tn_tensor sums;
    TRY(tni_iop_alike(p, 0, 15));
    TRY(tni_iop_rank(p, 2, 3));
    TRY(tni_iop_shape(p, 3, 3, (const int64_t[]){a->shape[0], a->shape[2], b->shape[2]}));
    TRY(tni_iop_shape(p, 0, 2, (const int64_t[]){a->shape[1], b->shape[2]}));
    TRY(tni_iop_like(p, 1, 0));
    TRY(tni_iop_temp(p, &sums, p->wide, 2, out->shape));
    TRY(tni_iop_einsum(p, &sums, "bnm,bmp->np", 2, (const tn_tensor *const[]){a, b}));
    if (p->args->num[1] == 0)
        return IOP_EXPR(p, out, "#0 * a", p->args->num, &sums);
    return IOP_EXPR(p, out, "#0 * a + #1 * @(b)", p->args->num, &sums, &p->t[1]);
}

/* out, input, vec1, vec2; num: alpha, beta */
tn_status tni_iop_plan_addr(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0], *in = &p->t[1];
    tn_tensor column;
    TRY(tni_iop_alike(p, 1, 13));
    TRY(tni_iop_rank(p, 1, 2));
    TRY(tni_iop_shape(p, 2, 1, in->shape));
    TRY(tni_iop_shape(p, 3, 1, in->shape + 1));
    TRY(tni_iop_like(p, 0, 1));
    TRY(tn_unsqueeze(&column, &p->t[2], 1));
    if (p->args->num[1] == 0)
        return IOP_EXPR(p, out, "#0 * @(a) * @(b)", p->args->num, &column, &p->t[3]);
    return IOP_EXPR(p, out, "#0 * @(a) * @(b) + #1 * @(c)", p->args->num, &column, &p->t[3],
                    in);
}

/* out, input, other: the last axes are contracted */
tn_status tni_iop_plan_inner(tni_iop_program *p)
{
    const tn_tensor *out = &p->t[0], *a = &p->t[1], *b = &p->t[2];
    TRY(tni_iop_alike(p, 0, 7));
    if (a->ndim < 1 || b->ndim < 1 || out->ndim + 2 != a->ndim + b->ndim ||
        a->shape[a->ndim - 1] != b->shape[b->ndim - 1])
        return tni_iop_fail(p, TN_ESHAPE, "axes do not match");
    for (int i = 0; i < out->ndim; i++)
        if (out->shape[i] != (i < a->ndim - 1 ? a->shape[i] : b->shape[i - (a->ndim - 1)]))
            return tni_iop_fail(p, TN_ESHAPE, "output: expected the axes of both inputs");
    if (out->ndim > 48)
        return tni_iop_fail(p, TN_ESHAPE, "expected at most 48 axes");
    static const char names[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxy";
    char spec[128], *at = spec;
    const char *mine = names, *others = names + a->ndim - 1;
    memcpy(at, mine, (size_t)a->ndim - 1);
    at += a->ndim - 1;
    memcpy(at, "z,", 2);
    at += 2;
    memcpy(at, others, (size_t)b->ndim - 1);
    at += b->ndim - 1;
    memcpy(at, "z->", 3);
    at += 3;
    memcpy(at, names, (size_t)out->ndim);
    at[out->ndim] = 0;
    return tni_iop_einsum(p, out, spec, 2, (const tn_tensor *const[]){a, b});
}

/* y, x1, x2: all viewed with two axes for each of their own */
tn_status tni_iop_plan_kron(tni_iop_program *p)
{
    tn_tensor y = p->t[0], a = p->t[1], b = p->t[2];
    const int n = a.ndim;
    TRY(tni_iop_alike(p, 0, 7));
    TRY(tni_iop_rank(p, 0, n));
    TRY(tni_iop_rank(p, 2, n));
    if (2 * n > TN_MAX_NDIM)
        return tni_iop_fail(p, TN_ESHAPE, "expected at most 32 axes");
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < n; i++) {
        if (!tni_mul(a.shape[i], b.shape[i], &shape[i]) || shape[i] != y.shape[i])
            return tni_iop_fail(p, TN_ESHAPE,
                                "output: an extent is not the product of the input extents");
        shape[2 * i] = 0;
    }
    for (int i = 0; i < n; i++) {
        shape[2 * i] = p->t[1].shape[i];
        shape[2 * i + 1] = p->t[2].shape[i];
    }
    TRY(tn_reshape(&y, &p->t[0], 2 * n, shape));
    for (int i = 0; i < n; i++) {
        TRY(tn_unsqueeze(&a, &a, 2 * i + 1));
        TRY(tn_unsqueeze(&b, &b, 2 * i));
    }
    return IOP_EXPR(p, &y, "@(a) * @(b)", NULL, &a, &b);
}

/* ---- MatrixPower: y, x; num: n ---- */

/* dst = a @ b. */
static tn_status multiply(tni_iop_program *p, const tn_tensor *dst, const tn_tensor *a,
                          const tn_tensor *b)
{
    return tni_iop_gemm(p, dst, 1, a, b, 0, NULL);
}

static tn_status plan_identity(tni_iop_program *p)
{
    tn_tensor zero, one, diagonal;
    void *data;
    TRY(tni_iop_constant(p, &zero, p->t[0].dtype, 0, NULL, &data));
    tni_iop_value(data, p->args->t[0]->dtype, 0);
    TRY(tni_iop_constant(p, &one, p->t[0].dtype, 0, NULL, &data));
    tni_iop_value(data, p->args->t[0]->dtype, 1);
    TRY(tn_diagonal(&diagonal, &p->t[0], 0, 1));
    TRY(tn_broadcast_to(&zero, &zero, 2, p->t[0].shape));
    TRY(tn_broadcast_to(&one, &one, 1, diagonal.shape));
    TRY(tni_iop_copy(p, &p->t[0], &zero));
    return tni_iop_copy(p, &diagonal, &one);
}

/* Square x repeatedly; multiply the result by each square whose bit is set in n. */
tn_status tni_iop_plan_matrix_power(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1];
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_contiguous(p, 0));
    TRY(tni_iop_contiguous(p, 1));
    TRY(tni_iop_rank(p, 1, 2));
    TRY(tni_iop_shape(p, 1, 2, (const int64_t[]){x->shape[0], x->shape[0]}));
    TRY(tni_iop_like(p, 0, 1));
    if (p->args->num[0] < 0)
        return tni_iop_fail(p, TN_EARG, "n is negative");
    unsigned n = (unsigned)p->args->num[0];
    if (n == 0)
        return plan_identity(p);
    tn_tensor square[2], result[2];
    int s = 0, r = -1;
    for (int i = 0; i < 2; i++) {
        TRY(tni_iop_temp(p, &square[i], p->wide, 2, x->shape));
        TRY(tni_iop_temp(p, &result[i], p->wide, 2, x->shape));
    }
    TRY(tni_iop_copy(p, &square[0], x));
    for (;; n >>= 1) {
        if (n & 1) {
            TRY(r < 0 ? tni_iop_copy(p, &result[0], &square[s])
                      : multiply(p, &result[!r], &result[r], &square[s]));
            r = r < 0 ? 0 : !r;
        }
        if (n <= 1)
            break;
        TRY(multiply(p, &square[!s], &square[s], &square[s]));
        s = !s;
    }
    return tni_iop_copy(p, &p->t[0], &result[r]);
}

/* ---- Logdet: y, x ---- */

/* LU factorisation with row pivoting in f64; t: y, and x in f64. */
static tn_status factor(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t)
{
    const int64_t n = t[1].shape[0];
    double *a = t[1].data, sum = 0;
    bool negative = false;
    (void)env, (void)s;
    for (int64_t k = 0; k < n; k++) {
        int64_t pivot = k;
        for (int64_t i = k + 1; i < n; i++)
            pivot = fabs(a[i * n + k]) > fabs(a[pivot * n + k]) ? i : pivot;
        for (int64_t j = 0; j < n && pivot != k; j++) {
            const double kept = a[k * n + j];
            a[k * n + j] = a[pivot * n + j];
            a[pivot * n + j] = kept;
        }
        const double d = a[k * n + k];
        negative ^= (pivot != k) ^ (d < 0);
        sum += log(fabs(d));
        for (int64_t i = k + 1; i < n && d != 0; i++) {
            const double factor_i = a[i * n + k] / d;
            for (int64_t j = k + 1; j < n; j++)
                a[i * n + j] -= factor_i * a[k * n + j];
        }
    }
    return tn_cast(&t[0], TN_SCALAR_F64(negative && sum > -INFINITY ? NAN : sum));
}

tn_status tni_iop_plan_logdet(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1];
    tn_tensor y, a;
    TRY(tni_iop_alike(p, 1, 1));
    TRY(tni_iop_rank(p, 1, 2));
    TRY(tni_iop_shape(p, 1, 2, (const int64_t[]){x->shape[0], x->shape[0]}));
    TRY(tni_iop_one(p, 0, &y));
    TRY(tni_iop_temp(p, &a, TN_F64, 2, x->shape));
    TRY(tni_iop_copy(p, &a, x));
    return IOP_CALL(p, factor, 0, 0, 0, &y, &a);
}

/* ---- Vander: output, input; num: N, increasing.  Cumulative products that begin with 1
 * ---- */

tn_status tni_iop_plan_vander(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1];
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 1, 1));
    const int64_t rows = x->shape[0];
    const int64_t n = p->args->num[0] > 0 ? (int64_t)p->args->num[0] : rows;
    TRY(tni_iop_shape(p, 0, 2, (const int64_t[]){rows, n}));
    if (n == 0)
        return TN_OK;
    tn_tensor y = p->t[0], same;
    if (p->args->num[1] == 0)
        TRY(tn_flip(&y, &y, 1));
    TRY(tn_unsqueeze(&same, x, 1));
    TRY(tn_broadcast_to(&same, &same, 2, (const int64_t[]){rows, n - 1}));
    tn_plan *plan = NULL;
    const tn_tensor *src = &same;
    const tn_status status = tn_plan_scan(&plan, TN_SCAN_PROD, &y, &same, 1);
    return tni_iop_add(p, status, plan, &y, 1, &src);
}

/* ---- Diff: y, x; num: dim, n ---- */

/* A first difference is one expression; higher ones are computed in f64, one after the
 * other. */
tn_status tni_iop_plan_diff(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1];
    const double given = p->args->num[0], n = p->args->num[1];
    const int dim = (int)(given < 0 ? given + x->ndim : given);
    TRY(tni_iop_alike(p, 1, 1));
    if (n <= 0 || dim < 0 || dim >= x->ndim)
        return tni_iop_fail(p, TN_EARG, "n or dim is out of range");
    if ((double)x->shape[dim] <= n)
        return tni_iop_fail(p, TN_ESHAPE, "the axis is too short");
    int64_t shape[TN_MAX_NDIM];
    memcpy(shape, x->shape, sizeof shape);
    shape[dim] -= (int64_t)n;
    TRY(tni_iop_shape(p, 0, x->ndim, shape));
    tn_tensor low, high, at, next;
    if (n == 1) {
        TRY(tn_slice(&low, x, dim, 0, shape[dim], 1));
        TRY(tn_slice(&high, x, dim, 1, shape[dim] + 1, 1));
        return IOP_EXPR(p, &p->t[0], "@(b) - @(a)", NULL, &low, &high);
    }
    tn_tensor whole[2];
    for (int i = 0; i < 2; i++)
        TRY(tni_iop_temp(p, &whole[i], TN_F64, x->ndim, x->shape));
    at = whole[0];
    TRY(tni_iop_copy(p, &at, x));
    for (int64_t length = x->shape[dim] - 1, i = 1; length >= shape[dim]; length--, i = !i) {
        TRY(tn_slice(&next, &whole[i], dim, 0, length, 1));
        TRY(IOP_CALL(p, tni_iop_diff, 0, dim, 0, &next, &at));
        at = next;
    }
    return tni_iop_copy(p, &p->t[0], &at);
}
