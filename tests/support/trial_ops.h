/* trial_ops.h - random elementwise calls: casts, ops, maps. */
#ifndef TRIAL_OPS_H
#define TRIAL_OPS_H

#include "ops_want.h"
#include "trial.h"

/* ---- numbers ---- */

static const op_rule anything = {NULL, NULL, false, 0, 0, 0, 0, 0};

static void draw_numbers(rng *r, const ground *g, const op_rule *rule)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(&g->t) == 0)
        return;
    do {
        char *p = element(&g->t, at);
        if (rule == &anything && next(r) % 2)
            scatter_bytes(r, p, tn_dtype_size(g->t.dtype));
        else
            put(g->t.dtype, p, r, rule);
    } while (index_next(at, g->t.ndim, g->t.shape));
}

static tn_status call_cast(const tn_tensor *dst, const void *about)
{
    return tn_cast(dst, about);
}

static tn_status call_cast_plan(const tn_tensor *dst, const void *about)
{
    const tn_tensor *src = about;
    tn_plan *plan = NULL;
    const tn_status made = tn_plan_cast(&plan, dst, src);
    return run_once(made, plan, dst, 1, &src);
}

static bool try_cast(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0};
    const tn_dtype from = pick_dtype(r), to = pick_dtype(r);
    const bool unknown = !oracle_knows(from) || !oracle_knows(to);
    const int ndim = draw_shape(r, shape, 16);
    ground src = draw_ground(r, from, ndim, shape, true);
    ground dst = draw_ground(r, to, ndim, shape, false), old = ground_twin(&dst);
    draw_numbers(r, &src, &anything);
    bool good =
        settle(t, "cast", &dst, NULL, next(r) % 2 ? call_cast : call_cast_plan, &src.t, &src.t);
    digest_elements(t, &dst.t);
    while (good && tn_numel(&dst.t) && can_compare()) {
        const char *d = element(&dst.t, at), *s = element(&src.t, at);
        const number x = number_at(from, s);
        if (from == to && from != TN_BOOL)
            good = !memcmp(d, s, tn_dtype_size(to)) || miss(t, "cast", &dst.t, &src.t);
        else if (!(unknown || same_number(number_at(to, d), cast_number(to, x))) ||
                 (to == TN_BOOL && *(const uint8_t *)d > 1))
            good = miss(t, "cast", &dst.t, &src.t);
        memcpy(element(&old.t, at), d, tn_dtype_size(to));
        if (!index_next(at, ndim, shape))
            break;
    }
    if (good && can_compare() && !same_ground(&dst, &old))
        good = miss(t, "cast between elements", &dst.t, &src.t);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

/* ---- ops ---- */

typedef struct working {
    tn_op op;
    int arity, in_place; /* in_place: the source that is dst itself, or -1 */
    tn_dtype in[3], out, meet;
    const double *params;
    const tn_tensor *srcs[3];
    bool plan;
} working;

static tn_status call_op(const tn_tensor *dst, const void *about)
{
    const working *w = about;
    const tn_tensor *srcs[3] = {w->srcs[0], w->srcs[1], w->srcs[2]};
    if (w->in_place >= 0)
        srcs[w->in_place] = dst;
    if (!w->plan)
        return tn_apply(w->op, w->params, dst, w->arity, srcs);
    tn_plan *plan = NULL;
    const tn_status made = tn_plan_op(&plan, w->op, w->params, dst, w->arity, srcs);
    return run_once(made, plan, dst, w->arity, srcs);
}

/* Find the dtype to which the sources are promoted; false if the oracle does not model it. */
static bool meeting(working *w)
{
    const int first = w->op == TN_WHERE;
    w->meet = w->in[first];
    if (truth_op(w->op) || w->op == TN_LDEXP)
        return true;
    for (int k = first + 1; k < w->arity; k++) {
        const bool same = w->in[k] == w->meet;
        if (tn_promote(&w->meet, w->meet, w->in[k]) != TN_OK)
            return false;
        if (!same && is_complex(w->meet) && (w->op == TN_MUL || w->op == TN_DIV))
            return false;
    }
    w->meet = computed_in(w->op, w->meet);
    return true;
}

/* Draw an op and supported dtypes: all the same, or mixed if the op is defined everywhere. */
static void draw_op(rng *r, working *w)
{
    do {
        do
            w->op = (tn_op)(next(r) % (uint64_t)op_count());
        while (w->op == TN_NEXTAFTER);
        w->arity = tn_op_arity(w->op);
        const bool mixed = rules[w->op].low == rules[w->op].high && next(r) % 2;
        const tn_dtype one = pick_dtype(r);
        for (int k = 0; k < w->arity; k++)
            w->in[k] = mixed ? pick_dtype(r) : one;
        if (w->op == TN_WHERE)
            w->in[0] = next(r) % 2 ? TN_BOOL : pick_dtype(r);
        if (w->op == TN_LDEXP)
            w->in[1] = next(r) % 2 ? one : TN_I32;
    } while (tn_op_result(w->op, w->in, w->arity, &w->out) != TN_OK || !meeting(w));
}

/* Draw a source's shape: dst's, some axes with extent 1, or without its first axes. */
static int draw_narrow(rng *r, int ndim, const int64_t *shape, int64_t *own)
{
    int from = 0;
    memcpy(own, shape, sizeof *own * (size_t)ndim);
    if (next(r) % 3)
        return ndim;
    if (next(r) % 2)
        from = (int)pick(r, 0, ndim);
    for (int i = from; i < ndim; i++)
        own[i - from] = next(r) % 3 == 0 ? 1 : shape[i];
    return ndim - from;
}

static number operand(const working *w, int k, const tn_tensor *wide, const int64_t *at)
{
    const number x = number_at(w->in[k], element(wide, at));
    if (truth_op(w->op) || w->op == TN_LDEXP)
        return x;
    if (w->op == TN_WHERE && k == 0)
        return cast_number(TN_BOOL, x);
    return cast_number(w->op == TN_FLOAT_POWER ? TN_F64 : w->meet, x);
}

static bool right_numbers(trial *t, const working *w, const ground *dst, const ground *old,
                          const tn_tensor *wide, const double *params)
{
    int64_t at[TN_MAX_NDIM] = {0};
    bool unknown = !oracle_knows(w->out) || !oracle_knows(w->meet);
    for (int k = 0; k < w->arity; k++)
        unknown |= !oracle_knows(w->in[k]);
    while (tn_numel(&dst->t)) {
        number v[3] = {{0}};
        for (int k = 0; !unknown && k < w->arity; k++)
            v[k] = operand(w, k, &wide[k], at);
        const number got = number_at(w->out, element(&dst->t, at));
        const number want =
            unknown ? got : want_of(w->op, params, w->meet, w->out, v, w->arity);
        if (!unknown && !fits(w->op, w->meet, w->out, got, want)) {
            char what[300];
            snprintf(what, sizeof what,
                     "%s of %s %s %s: %.20Lg %.20Lg %.20Lg (%lld %lld %lld) gave %.20Lg %.20Lg "
                     "(%lld), want %.20Lg %.20Lg (%lld)",
                     tn_op_name(w->op), tn_dtype_name(w->in[0]),
                     w->arity > 1 ? tn_dtype_name(w->in[1]) : "",
                     w->arity > 2 ? tn_dtype_name(w->in[2]) : "", v[0].f, v[1].f, v[2].f,
                     (long long)v[0].i, (long long)v[1].i, (long long)v[2].i, got.f, got.im,
                     (long long)got.i, want.f, want.im, (long long)want.i);
            return miss(t, what, &dst->t, &wide[0]);
        }
        memcpy(element(&old->t, at), element(&dst->t, at), tn_dtype_size(w->out));
        if (!index_next(at, dst->t.ndim, dst->t.shape))
            break;
    }
    return same_ground(dst, old) || miss(t, "op between elements", &dst->t, &wide[0]);
}

static bool try_op(trial *t)
{
    rng *r = &t->r;
    working w = {.in_place = -1, .plan = next(r) % 2};
    draw_op(r, &w);
    int64_t shape[TN_MAX_NDIM], own[AXES];
    const int ndim = draw_shape(r, shape, 16);
    const double params[2] = {0.75, 1.5};
    w.params = tn_op_params(w.op) ? params : NULL;
    ground dst = draw_ground(r, w.out, ndim, shape, false), srcs[3];
    tn_tensor wide[3];
    for (int k = 0; k < w.arity; k++) {
        if (w.in_place < 0 && w.in[k] == w.out && next(r) % 8 == 0) {
            w.in_place = k;
            draw_numbers(r, &dst, &rules[w.op]);
            srcs[k] = ground_twin(&dst); /* keeps the old contents */
        } else {
            const int n = draw_narrow(r, ndim, shape, own);
            srcs[k] = draw_ground(r, w.in[k], n, own, true);
            draw_numbers(r, &srcs[k], &rules[w.op]);
        }
        OK(tn_broadcast_to(&wide[k], &srcs[k].t, ndim, shape));
        w.srcs[k] = &srcs[k].t;
    }
    ground old = ground_twin(&dst);
    const float tol = w.out == TN_F64 ? rules[w.op].ulp64 : rules[w.op].ulp32;
    bool good = settle(t, tn_op_name(w.op), &dst, NULL, call_op, &w, &srcs[0].t);
    if (good && (tol < 1 || w.out == TN_BOOL || !(is_float(w.out) || is_complex(w.out))))
        digest_elements(t, &dst.t);
    if (can_compare())
        good = good && right_numbers(t, &w, &dst, &old, wide, params);
    for (int k = 0; k < w.arity; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

/* ---- an op defined by the caller ---- */

enum { MOST_SOURCES = 8 };

typedef struct mapping {
    int n;
    size_t width, widths[MOST_SOURCES];
    const tn_tensor *srcs[MOST_SOURCES];
} mapping;

/* Compute each byte of an element from a byte of every source. */
static void mix(void *user, int64_t n, void *dst, int64_t dst_step, const void *const *src,
                const int64_t *src_step)
{
    const mapping *m = user;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *d = (uint8_t *)dst + i * dst_step;
        for (size_t b = 0; b < m->width; b++) {
            unsigned sum = (unsigned)b;
            for (int k = 0; k < m->n; k++) {
                const uint8_t *s = (const uint8_t *)src[k] + i * src_step[k];
                sum = sum * 31 + s[b % m->widths[k]];
            }
            d[b] = (uint8_t)sum;
        }
    }
}

static tn_status call_map(const tn_tensor *dst, const void *about)
{
    mapping m = *(const mapping *)about;
    return tn_map(mix, &m, dst, m.n, m.srcs);
}

static bool try_map(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], own[AXES], at[TN_MAX_NDIM] = {0};
    const int64_t still[MOST_SOURCES] = {0};
    const tn_dtype dtype = pick_dtype(r);
    const int ndim = draw_shape(r, shape, 16);
    mapping m = {.n = (int)pick(r, 0, next(r) % 4 ? 3 : MOST_SOURCES),
                 .width = tn_dtype_size(dtype)};
    ground srcs[MOST_SOURCES];
    tn_tensor wide[MOST_SOURCES];
    for (int k = 0; k < m.n; k++) {
        const tn_dtype from = pick_dtype(r);
        const int n = draw_narrow(r, ndim, shape, own);
        srcs[k] = draw_ground(r, from, n, own, true);
        OK(tn_broadcast_to(&wide[k], &srcs[k].t, ndim, shape));
        m.srcs[k] = &srcs[k].t;
        m.widths[k] = tn_dtype_size(from);
    }
    ground dst = draw_ground(r, dtype, ndim, shape, false), want = ground_twin(&dst);
    while (tn_numel(&dst.t)) {
        const void *from[MOST_SOURCES] = {NULL};
        for (int k = 0; k < m.n; k++)
            from[k] = element(&wide[k], at);
        mix(&m, 1, element(&want.t, at), 0, from, still);
        if (!index_next(at, ndim, shape))
            break;
    }
    const bool good = settle(t, "map", &dst, &want, call_map, &m, m.n ? &srcs[0].t : NULL);
    digest_bytes(t, dst.bytes, dst.size);
    for (int k = 0; k < m.n; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

#endif
