/* iop_blas.c - BLAS level 1 on tensors with one axis, whose stride is BLAS's increment. */
#include "iop_program.h"

#include <math.h>
#include <string.h>

typedef const tni_iop_env env_t;
typedef const tni_iop_step step_t;

/* Check that the operands of mask have one axis, as long as operand first. */
static tn_status check_vectors(const tni_iop_program *p, int first, unsigned mask)
{
    TRY(tni_iop_rank(p, first, 1));
    for (int k = 0; k < p->n; k++)
        if (mask >> k & 1)
            TRY(tni_iop_shape(p, k, 1, p->t[first].shape));
    return TN_OK;
}

/* ---- copies and sums ---- */

tn_status tni_iop_plan_blas_copy(tni_iop_program *p) /* x, y */
{
    TRY(tni_iop_alike(p, 0, 2));
    TRY(check_vectors(p, 0, 2));
    return tni_iop_copy(p, &p->t[1], &p->t[0]);
}

tn_status tni_iop_plan_swap(tni_iop_program *p) /* x, y */
{
    tn_tensor kept;
    TRY(tni_iop_alike(p, 0, 2));
    TRY(check_vectors(p, 0, 2));
    TRY(tni_iop_temp(p, &kept, p->t[0].dtype, 1, p->t[0].shape));
    TRY(tni_iop_copy(p, &kept, &p->t[0]));
    TRY(tni_iop_copy(p, &p->t[0], &p->t[1]));
    return tni_iop_copy(p, &p->t[1], &kept);
}

tn_status tni_iop_plan_asum(tni_iop_program *p) /* x, result */
{
    tn_tensor one;
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 0, 1));
    TRY(tni_iop_one(p, 1, &one));
    return tni_iop_reduce(p, TN_REDUCE_NORM, 1, &one, &p->t[0], TN_ALL_AXES, NULL);
}

/* t: x, result, temporary.  Scale x in f64 so that squares neither overflow nor underflow. */
static tn_status scaled_norm(env_t *env, step_t *s, const tn_tensor *t)
{
    double most, norm;
    const tn_tensor top = {.data = &most, .dtype = TN_F64},
                    sum = {.data = &norm, .dtype = TN_F64};
    (void)env, (void)s;
    TRY(tn_reduce(TN_REDUCE_NORM, (const double[]){INFINITY}, &top, &t[0], TN_ALL_AXES, NULL));
    if (!(most > 0) || isinf(most))
        return tn_cast(&t[1], &top);
    int exponent;
    (void)frexp(most, &exponent);
    const int half = exponent / 2; /* 2^-half is finite even where 2^-exponent is not */
    TRY(tn_mul(&t[2], &t[0], TN_SCALAR_F64(ldexp(1, -half))));
    TRY(tn_mul(&t[2], &t[2], TN_SCALAR_F64(ldexp(1, half - exponent))));
    TRY(tn_reduce(TN_REDUCE_NORM, (const double[]){2}, &sum, &t[2], TN_ALL_AXES, NULL));
    norm = ldexp(norm, exponent);
    return tn_cast(&t[1], &sum);
}

tn_status tni_iop_plan_nrm2(tni_iop_program *p) /* x, result */
{
    tn_tensor one, scaled;
    TRY(tni_iop_alike(p, 0, 2));
    TRY(tni_iop_rank(p, 0, 1));
    TRY(tni_iop_one(p, 1, &one));
    if (p->t[0].dtype != TN_F64) /* squares are computed in f64 */
        return tni_iop_reduce(p, TN_REDUCE_NORM, 2, &one, &p->t[0], TN_ALL_AXES, NULL);
    TRY(tni_iop_temp(p, &scaled, TN_F64, 1, p->t[0].shape));
    return IOP_CALL(p, scaled_norm, 0, 0, 0, &p->t[0], &one, &scaled);
}

tn_status tni_iop_plan_blas_dot(tni_iop_program *p) /* x, y, result */
{
    tn_tensor one;
    TRY(tni_iop_alike(p, 0, 6));
    TRY(check_vectors(p, 0, 2));
    TRY(tni_iop_one(p, 2, &one));
    return IOP_CALL(p, tni_iop_dot, 0, 0, 0, &one, &p->t[0], &p->t[1]);
}

tn_status tni_iop_plan_dot(tni_iop_program *p) /* y, a, b */
{
    tn_tensor one;
    TRY(tni_iop_alike(p, 0, 6));
    if (tni_iop_one(p, 0, &one) != TN_OK || check_vectors(p, 1, 4) != TN_OK)
        return tni_iop_fail(p, TN_EARG, "ranks or lengths do not match");
    for (int k = 1; k < 3; k++)
        if (p->t[k].shape[0] > 1 && p->t[k].stride[0] <= 0)
            return tni_iop_fail(p, TN_ESTRIDE, "a stride is not positive");
    return IOP_CALL(p, tni_iop_dot, 0, 0, 0, &one, &p->t[1], &p->t[2]);
}

/* ---- BlasAmax, BlasAmin: x, result ---- */

/* t: x, result, |x| with NaN replaced by a value that loses.  A NaN at index 0 wins. */
static tn_status find_extreme(env_t *env, step_t *s, const tn_tensor *t)
{
    int64_t at = -1;
    const tn_tensor index = {.data = &at, .dtype = TN_I64};
    (void)env;
    if (t[0].shape[0] > 0 && (t[0].shape[0] == 1 || t[0].stride[0] != 0)) {
        double first;
        const tn_tensor value = {.data = &first, .dtype = TN_F64};
        tn_tensor element;
        TRY(tn_select(&element, &t[0], 0, 0));
        TRY(tn_cast(&value, &element));
        if (first != first)
            at = 0;
        else
            TRY(tn_reduce((tn_reduction)s->whole[0], NULL, &index, &t[2], TN_ALL_AXES, NULL));
    }
    at++;
    return tn_cast(&t[1], &index);
}

static tn_status plan_extreme(tni_iop_program *p, tn_reduction op, const char *text)
{
    tn_tensor one, magnitude;
    TRY(tni_iop_alike(p, 0, 0));
    TRY(tni_iop_is(p, 1, TN_I32));
    TRY(tni_iop_rank(p, 0, 1));
    TRY(tni_iop_one(p, 1, &one));
    TRY(tni_iop_temp(p, &magnitude, p->wide, 1, p->t[0].shape));
    TRY(IOP_EXPR(p, &magnitude, text, NULL, &p->t[0]));
    return IOP_CALL(p, find_extreme, 0, op, 0, &p->t[0], &one, &magnitude);
}

tn_status tni_iop_plan_blas_amax(tni_iop_program *p)
{
    return plan_extreme(p, TN_REDUCE_ARGMAX, "where(isnan(@(a)), -1, abs(@(a)))");
}

tn_status tni_iop_plan_blas_amin(tni_iop_program *p)
{
    return plan_extreme(p, TN_REDUCE_ARGMIN, "where(isnan(@(a)), 1e999, abs(@(a)))");
}

/* ---- scale factors in memory ---- */

tn_status tni_iop_plan_scal(tni_iop_program *p) /* alpha, x */
{
    tn_tensor alpha;
    TRY(tni_iop_alike(p, 1, 1));
    TRY(tni_iop_one(p, 0, &alpha));
    TRY(tni_iop_rank(p, 1, 1));
    return IOP_EXPR(p, &p->t[1], "a * b", NULL, &p->t[1], &alpha);
}

tn_status tni_iop_plan_axpy(tni_iop_program *p) /* alpha, x, y */
{
    tn_tensor alpha;
    TRY(tni_iop_alike(p, 1, 5));
    TRY(tni_iop_one(p, 0, &alpha));
    TRY(check_vectors(p, 1, 4));
    return IOP_EXPR(p, &p->t[2], "@(a) * @(b) + @(c)", NULL, &alpha, &p->t[1], &p->t[2]);
}

/* ---- rotations ---- */

/* x' = h0 x + h1 y, y' = h2 x + h3 y, h in f64. */
static tn_status plan_rotation(tni_iop_program *p, const tn_tensor *h)
{
    tn_tensor x, e[4];
    TRY(tni_iop_temp(p, &x, p->t[0].dtype, 1, p->t[0].shape));
    for (int i = 0; i < 4; i++)
        TRY(tn_select(&e[i], h, 0, i));
    TRY(IOP_EXPR(p, &x, "@(a)*@(c) + @(b)*@(d)", NULL, &p->t[0], &p->t[1], &e[0], &e[1]));
    TRY(IOP_EXPR(p, &p->t[1], "@(a)*@(c) + @(b)*@(d)", NULL, &p->t[0], &p->t[1], &e[2], &e[3]));
    return tni_iop_copy(p, &p->t[0], &x);
}

tn_status tni_iop_plan_rot(tni_iop_program *p) /* x, y, c, s */
{
    tn_tensor c, s, h, e[4];
    TRY(tni_iop_alike(p, 0, 14));
    TRY(check_vectors(p, 0, 2));
    TRY(tni_iop_one(p, 2, &c));
    TRY(tni_iop_one(p, 3, &s));
    TRY(tni_iop_temp(p, &h, TN_F64, 1, (const int64_t[]){4}));
    for (int i = 0; i < 4; i++) {
        TRY(tn_select(&e[i], &h, 0, i));
        TRY(i == 2 ? IOP_EXPR(p, &e[i], "-f64(a)", NULL, &s)
                   : tni_iop_copy(p, &e[i], i == 1 ? &s : &c));
    }
    return plan_rotation(p, &h);
}

/* t: param, h.  The flag selects which entries of h are stored; flag -2 is the identity:
 * nothing is written. */
static tn_status rotate(env_t *env, step_t *s, const tn_tensor *t)
{
    double v[5];
    tn_tensor values;
    TRY(tn_init(&values, v, TN_F64, 1, (const int64_t[]){5}));
    TRY(tn_cast(&values, &t[0]));
    if (v[0] == -2)
        return TN_OK;
    const double h[3][4] = {{v[1], v[3], v[2], v[4]}, {1, v[3], v[2], 1}, {v[1], 1, -1, v[4]}};
    memcpy(t[1].data, h[v[0] < 0 ? 0 : v[0] > 0 ? 2 : 1], sizeof h[0]);
    for (s = s->next; s; s = s->next)
        TRY(tni_iop_run_held(env, s, NULL));
    return TN_OK;
}

tn_status tni_iop_plan_rotm(tni_iop_program *p) /* x, y, param */
{
    tn_tensor h;
    TRY(tni_iop_alike(p, 0, 6));
    TRY(check_vectors(p, 0, 2));
    TRY(tni_iop_shape(p, 2, 1, (const int64_t[]){5}));
    TRY(tni_iop_dense_last(p, 2));
    TRY(tni_iop_temp(p, &h, TN_F64, 1, (const int64_t[]){4}));
    TRY(IOP_CALL(p, rotate, 0, 0, 0, &p->t[2], &h));
    tni_iop_step *last = tni_iop_last(p);
    TRY(plan_rotation(p, &h));
    tni_iop_hold(last);
    return TN_OK;
}

/* ---- scalars ---- */

/* t: x, y, c, s, one element each. */
static tn_status make_givens(env_t *env, step_t *step, const tn_tensor *t)
{
    double v[4] = {0, 0, 1, 0}; /* x, y, c, s */
    (void)env, (void)step;
    for (int k = 0; k < 2; k++) {
        const tn_tensor value = {.data = &v[k], .dtype = TN_F64};
        TRY(tn_cast(&value, &t[k]));
    }
    const double x = v[0], y = v[1];
    if (y != 0 && x == 0) {
        v[0] = y, v[1] = 1, v[2] = 0, v[3] = 1;
    } else if (y != 0) {
        const double r = copysign(hypot(x, y), fabs(x) > fabs(y) ? x : y);
        v[2] = x / r, v[3] = y / r;
        v[0] = r;
        v[1] = fabs(x) > fabs(y) ? v[3] : v[2] != 0 ? 1 / v[2] : 1;
    }
    for (int k = 0; k < 4; k++) {
        const tn_tensor value = {.data = &v[k], .dtype = TN_F64};
        TRY(tn_cast(&t[k], &value));
    }
    return TN_OK;
}

tn_status tni_iop_plan_rotg(tni_iop_program *p)
{
    tn_tensor one[4];
    TRY(tni_iop_alike(p, 0, 14));
    for (int k = 0; k < 4; k++)
        TRY(tni_iop_one(p, k, &one[k]));
    return IOP_CALL(p, make_givens, 0, 0, 0, &one[0], &one[1], &one[2], &one[3]);
}

/* ---- Rotmg: d1, d2, x1, y1, param ---- */

enum { D1, D2, X1, Y1 };

typedef struct modified {
    double v[4];          /* d1, d2, x1, y1 */
    double flag, h[2][2]; /* h[row][column] */
} modified;

/* No rotation is possible: everything becomes 0. */
static void give_up(modified *m)
{
    *m = (modified){.flag = -1, .v = {[Y1] = m->v[Y1]}};
}

/* Store the implied entries of h before one of them is rescaled. */
static void full_h(modified *m)
{
    if (m->flag == 0)
        m->h[0][0] = m->h[1][1] = 1;
    else if (m->flag == 1)
        m->h[1][0] = -1, m->h[0][1] = 1;
    m->flag = -1;
}

/* Keep d1 and d2 between 4096^-2 and 4096^2 by scaling with powers of 4096. */
static void rescale(modified *m)
{
    const double gamma = 4096, high = 1.67772e7, low = 5.96046e-8;
    for (int i = 0; i < 2; i++)
        while (m->v[i] != 0 && isfinite(m->v[i]) &&
               (fabs(m->v[i]) <= low || fabs(m->v[i]) >= high)) {
            const double by = fabs(m->v[i]) <= low ? gamma : 1 / gamma;
            full_h(m);
            m->v[i] *= by * by;
            m->h[i][0] /= by;
            m->h[i][1] /= by;
            if (i == 0)
                m->v[X1] /= by;
        }
}

static void make_modified(modified *m)
{
    double *v = m->v;
    if (v[D1] < 0) {
        give_up(m);
        return;
    }
    const double p2 = v[D2] * v[Y1];
    if (p2 == 0) {
        m->flag = -2;
        return;
    }
    const double p1 = v[D1] * v[X1], q2 = p2 * v[Y1], q1 = p1 * v[X1];
    if (fabs(q1) > fabs(q2)) {
        m->h[1][0] = -v[Y1] / v[X1];
        m->h[0][1] = p2 / p1;
        const double u = 1 - m->h[0][1] * m->h[1][0];
        if (u <= 0) {
            give_up(m);
            return;
        }
        v[D1] /= u, v[D2] /= u, v[X1] *= u;
    } else if (q2 < 0) {
        give_up(m);
        return;
    } else {
        m->flag = 1;
        m->h[0][0] = p1 / p2;
        m->h[1][1] = v[X1] / v[Y1];
        const double u = 1 + m->h[0][0] * m->h[1][1], d = v[D2] / u;
        v[D2] = v[D1] / u, v[D1] = d, v[X1] = v[Y1] * u;
    }
    rescale(m);
}

/* t: d1, d2, x1, y1, param.  Only the entries of param that the flag selects are written. */
static tn_status make_rotmg(env_t *env, step_t *step, const tn_tensor *t)
{
    modified m = {.flag = 0};
    (void)env, (void)step;
    for (int k = 0; k < 4; k++) {
        const tn_tensor value = {.data = &m.v[k], .dtype = TN_F64};
        TRY(tn_cast(&value, &t[k]));
    }
    make_modified(&m);
    const double param[] = {m.flag, m.h[0][0], m.h[1][0], m.h[0][1], m.h[1][1]};
    const bool used[] = {true, m.flag == -1 || m.flag == 1, m.flag == -1 || m.flag == 0,
                         m.flag == -1 || m.flag == 0, m.flag == -1 || m.flag == 1};
    for (int k = 0; k < 3; k++)
        TRY(tn_cast(&t[k], TN_SCALAR_F64(m.v[k])));
    for (int i = 0; i < 5; i++) {
        tn_tensor entry;
        TRY(tn_select(&entry, &t[4], 0, i));
        if (used[i])
            TRY(tn_cast(&entry, TN_SCALAR_F64(param[i])));
    }
    return TN_OK;
}

tn_status tni_iop_plan_rotmg(tni_iop_program *p)
{
    tn_tensor one[4];
    TRY(tni_iop_alike(p, 0, 30));
    for (int k = 0; k < 4; k++)
        TRY(tni_iop_one(p, k, &one[k]));
    TRY(tni_iop_shape(p, 4, 1, (const int64_t[]){5}));
    return IOP_CALL(p, make_rotmg, 0, 0, 0, &one[0], &one[1], &one[2], &one[3], &p->t[4]);
}
