/* program_reduce.h - reductions, scans, rows, indexing and order in a program of bytes. */
#ifndef PROGRAM_REDUCE_H
#define PROGRAM_REDUCE_H

#include "machine.h"

/* ---- calls with a dst: what they refuse changes nothing ---- */

/* What a call is given besides dst and src. */
typedef struct given {
    tn_tensor more;                 /* a second dst, with memory of its own */
    const tn_tensor *other, *maybe; /* another slot; it, or NULL */
    int dim, naxes, axes[AXES], choice;
    double params[1];
    const double *asked; /* params, or NULL */
} given;

typedef tn_status dst_fn(const tn_tensor *d, const tn_tensor *s, const given *g);
#define CALL(name, ...)                                                                        \
    static tn_status call_##name(const tn_tensor *d, const tn_tensor *s, const given *g)       \
    {                                                                                          \
        (void)d, (void)s, (void)g;                                                             \
        return __VA_ARGS__;                                                                    \
    }

static tn_status run_plan(tn_status made, tn_plan *plan, const tn_tensor *d, const tn_tensor *s,
                          const given *g)
{
    char text[256];
    MUST((made == TN_OK) == (plan != NULL));
    if (!plan)
        return made;
    MUST(tn_plan_explain(plan, text, sizeof text) == TN_OK);
    const void *srcs[] = {s->data, g->other->data, g->other->data};
    const tn_status got = tn_plan_run(plan, d->data, srcs);
    tn_plan_free(plan);
    return got;
}

static tn_status call_plan(const tn_tensor *d, const tn_tensor *s, const given *g)
{
    tn_plan *plan = NULL;
    const tn_status made =
        g->choice % 3 == 0 ? tn_plan_reduce(&plan, (tn_reduction)(g->choice / 3), g->asked, d,
                                            s, g->naxes, g->axes)
        : g->choice % 3 == 1
            ? tn_plan_scan(&plan, (tn_scan_op)(g->choice / 3 % 6), d, s, g->dim)
            : tn_plan_rows(&plan, (tn_row)(g->choice / 3 % 8), d, s, g->dim, g->maybe, g->maybe,
                           1e-6);
    return run_plan(made, plan, d, s, g);
}

static tn_status call_pattern_reduce(const tn_tensor *d, const tn_tensor *s, const given *g)
{
    static const char *const patterns[] = {"a b -> b",     "... a -> a 1", "a ... -> ...",
                                           "(a 2) b -> a", "a b c -> c a", "-> 1"};
    const char *pattern = patterns[g->choice / 32 % 6], *sizes = g->naxes > 3 ? "a=2" : NULL;
    const tn_reduction op = (tn_reduction)(g->choice % 24);
    int64_t shape[TN_MAX_NDIM];
    int ndim, naxes, axes[TN_MAX_NDIM];
    tn_dtype dtype;
    tn_tensor view, out;
    const tn_status fits = tn_pattern_reduce_shape(pattern, sizes, s, &ndim, shape);
    MUST(tn_pattern_reduce_axes(&view, &naxes, axes, s, pattern, sizes) == fits);
    if (fits == TN_OK && tn_reduction_result(op, s->dtype, &dtype) == TN_OK &&
        tn_alloc(&out, dtype, ndim, shape) == TN_OK) {
        const tn_status got = tn_pattern_reduce(op, g->asked, &out, s, pattern, sizes);
        MUST(got == TN_OK || got == TN_ESHAPE); /* the largest of none */
        tn_free(&out);
    }
    return tn_pattern_reduce(op, g->asked, d, s, pattern, sizes);
}

static tn_status call_sort_in(const tn_tensor *d, const tn_tensor *s, const given *g)
{
    const unsigned flags = (unsigned)g->choice & TN_DESCENDING;
    const size_t size = tn_sort_workspace(d, NULL, s, g->dim, flags);
    void *room = aligned_alloc(64, size / 64 * 64 + 64);
    MUST(room);
    const tn_status got = tn_sort_in(d, NULL, s, g->dim, flags, room, size);
    free(room);
    return got;
}

CALL(scan, tn_scan((tn_scan_op)(g->choice % 6), d, s, g->dim))
CALL(softmax, tn_softmax(d, s, g->dim))
CALL(rms_norm, tn_rms_norm(d, s, g->maybe, 1e-6))
CALL(layer_norm, tn_layer_norm(d, s, g->maybe, g->maybe, 1e-6))
CALL(diff, tn_diff(d, s, g->dim))
CALL(take, tn_take(d, s, g->dim, g->other))
CALL(put, tn_put((tn_put_op)(g->choice % 6), d, g->dim, g->other, s))
CALL(masked_put, tn_masked_put(d, g->other, s))
CALL(rotate, tn_rotate(d, s, g->other, g->other, g->dim == 0))
CALL(log_softmax, tn_log_softmax(d, s, g->dim))
CALL(causal_softmax, tn_causal_softmax(d, s))
CALL(add_rms_norm, tn_add_rms_norm(d, &g->more, s, g->other, g->maybe, 1e-6))
CALL(take_along, tn_take_along(d, s, g->dim, g->other))
CALL(put_along, tn_put_along((tn_put_op)(g->choice % 6), d, g->dim, g->other, s))
CALL(masked_select, tn_masked_select(d, s, g->other))
CALL(nonzero, tn_nonzero(d, s))
CALL(kth, tn_kth(d, NULL, s, g->dim, g->choice % 7, (unsigned)g->naxes % 3))
CALL(kth_place, tn_kth(&g->more, d, s, g->dim, g->choice % 7, 0))
CALL(searchsorted, tn_searchsorted(d, g->other, s, g->choice & 1))
CALL(bincount, tn_bincount(d, s))
CALL(histogram, tn_histogram(d, s, (double)(g->choice % 9) - 4, g->choice))
CALL(minmax, tn_minmax(d, &g->more, s, g->naxes, g->axes))
CALL(dot, tn_dot(d, s, g->other, g->naxes, g->axes))
CALL(sort, tn_sort(g->choice & 2 ? d : NULL, g->choice & 2 ? NULL : d, s, g->dim, 0))

static dst_fn *const dst_calls[] = {
    call_scan,
    call_softmax,
    call_rms_norm,
    call_layer_norm,
    call_diff,
    call_take,
    call_put,
    call_masked_put,
    call_rotate,
    call_log_softmax,
    call_causal_softmax,
    call_add_rms_norm,
    call_take_along,
    call_put_along,
    call_masked_select,
    call_nonzero,
    call_kth,
    call_kth_place,
    call_searchsorted,
    call_bincount,
    call_histogram,
    call_minmax,
    call_dot,
    call_sort,
    call_sort_in,
    call_pattern_reduce,
    call_plan,
};
enum { DST_CALLS = sizeof dst_calls / sizeof *dst_calls };

/* Into the other slot; or into memory of src's shape, with an index or a mask that fits. */
static void op_lines(machine *p, const slot *d, const slot *s)
{
    dst_fn *call = dst_calls[take_below(&p->b, DST_CALLS)];
    given g = {.dim = take_below(&p->b, AXES)};
    const slot *other = &p->slots[take_below(&p->b, SLOTS)];
    g.choice = take(&p->b);
    const int mask = take(&p->b), form = take(&p->b);
    g.params[0] = (double)take_below(&p->b, 5) - 1;
    g.asked = form & 1 ? g.params : NULL;
    g.other = &other->t;
    g.maybe = form & 2 && other->in ? &other->t : NULL;
    for (int i = 0; i < s->t.ndim; i++)
        if (mask >> i & 1)
            g.axes[g.naxes++] = i;
    MUST(tn_like(&g.more, &d->t) == TN_OK);
    if (form & 4) {
        static const tn_dtype to[] = {TN_I64, TN_F32, TN_U8};
        tn_tensor made, index;
        int64_t shape[TN_MAX_NDIM];
        for (int i = 0; i < s->t.ndim; i++)
            shape[i] = form & 64 && mask >> i & 1 ? 1 : s->t.shape[i];
        MUST(tn_alloc(&made, form & 8 ? to[form / 16 % 3] : s->t.dtype, s->t.ndim, shape) ==
             TN_OK);
        MUST(tn_alloc(&index, TN_I64, s->t.ndim, s->t.shape) == TN_OK);
        for (int64_t i = 0; i < tn_numel(&index); i++)
            ((int64_t *)index.data)[i] = (i + g.choice) % 6 - 2; /* mostly inside */
        MUST(made.data == NULL || tn_fill(&made, (char[16]){1}) == TN_OK);
        g.other = form & 128 ? &index : g.other;
        const tn_status got = call(&made, &s->t, &g);
        MUST(got >= TN_OK && got <= TN_EUNSUPPORTED);
        tn_free(&index);
        tn_free(&made);
    } else {
        uint8_t *before = copy_of(d->in);
        check_outside(d, before, call(&d->t, &s->t, &g));
        free(before);
    }
    tn_free(&g.more);
}

/* ---- reductions: of bytes the sum, the largest and a running sum one by one ---- */

/* How many reductions there are. */
static int reductions(void)
{
    int n = 0;
    while (tn_reduction_name((tn_reduction)n))
        n++;
    return n;
}

static void op_reduce(machine *p, const slot *d, const slot *s)
{
    tn_reduction op = (tn_reduction)take_below(&p->b, reductions() + 1);
    int axes[AXES], mask = take(&p->b), naxes = 0, ndim;
    const double param = (double)(mask / 64);
    int64_t shape[TN_MAX_NDIM];
    tn_tensor out, high;
    for (int i = 0; i < s->t.ndim; i++)
        if (mask >> i & 1)
            axes[naxes++] = i;
    uint8_t *before = copy_of(d->in);
    check_outside(d, before,
                  tn_reduce(op, mask & 64 ? &param : NULL, &d->t, &s->t, naxes, axes));
    free(before);
    MUST(tn_reduce_shape(&s->t, naxes, axes, false, &ndim, shape) == TN_OK &&
         ndim == s->t.ndim - naxes);
    if (s->t.dtype != TN_U8 || s->m.n == 0)
        return;
    uint64_t sum = 0, squares = 0, made;
    uint8_t greatest = 0, least = 255;
    for (int64_t i = 0; i < s->m.n; i++) {
        const uint8_t x = s->in->data[s->m.at[i]];
        sum += x;
        squares += (uint64_t)x * x;
        greatest = x > greatest ? x : greatest;
        least = x < least ? x : least;
    }
    MUST(tn_reduce_copy(&out, TN_REDUCE_SUM, NULL, &s->t, TN_ALL_AXES, NULL, true) == TN_OK);
    memcpy(&made, out.data, sizeof made);
    tn_free(&out);
    MUST(made == sum);
    MUST(tn_alloc(&out, TN_U64, 0, NULL) == TN_OK);
    MUST(tn_dot(&out, &s->t, &s->t, TN_ALL_AXES, NULL) == TN_OK);
    MUST(*(uint64_t *)out.data == squares);
    tn_free(&out);
    MUST(tn_alloc(&out, TN_U8, 0, NULL) == TN_OK && tn_alloc(&high, TN_U8, 0, NULL) == TN_OK);
    MUST(tn_minmax(&out, &high, &s->t, TN_ALL_AXES, NULL) == TN_OK);
    MUST(*(uint8_t *)out.data == least && *(uint8_t *)high.data == greatest);
    tn_free(&high);
    tn_free(&out);
}

/* ---- order ---- */

/* What a sort says of where its values come from is true, bytes rise, and number k is number
 * k. */
static void op_order(machine *p, const slot *d, const slot *s)
{
    tn_tensor values, at, taken, one, same;
    int dim = take_below(&p->b, AXES);
    (void)d;
    if (dim >= s->t.ndim || s->t.dtype == TN_C128)
        return;
    MUST(tn_alloc(&values, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_alloc(&at, TN_I64, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_alloc(&taken, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    const unsigned flags = (unsigned)take(&p->b) & TN_DESCENDING;
    MUST(tn_sort(&values, &at, &s->t, dim, flags) == TN_OK);
    MUST(tn_take_along(&taken, &s->t, dim, &at) == TN_OK);
    MUST(same_elements(&taken, &values));
    if (s->t.shape[dim] > 0) {
        const int64_t k = s->t.shape[dim] - 1;
        MUST(tn_select(&same, &values, dim, k) == TN_OK);
        MUST(tn_like(&one, &same) == TN_OK);
        MUST(tn_kth(&one, NULL, &s->t, dim, k, flags) == TN_OK && same_elements(&one, &same));
        tn_free(&one);
    }
    /* what was taken, put back to where it comes from, is src again */
    MUST(tn_put_along(TN_PUT_SET, &taken, dim, &at, &values) == TN_OK);
    MUST(same_elements(&taken, &s->t));
    MUST(tn_sort(&values, NULL, &s->t, dim, 0) == TN_OK);
    int64_t index[AXES] = {0};
    if (s->t.dtype == TN_U8 && s->m.n > 0)
        do {
            const uint8_t *x = at_index(&values, index);
            MUST(index[dim] == 0 || x[-values.stride[dim]] <= *x);
        } while (next_index(values.ndim, values.shape, index));
    tn_free(&taken);
    tn_free(&at);
    tn_free(&values);
}

/* Different integers, and where each element is among them: found again by a search, counted
 * again one by one. */
static void check_unique(const tn_tensor *src)
{
    tn_tensor values, first, inverse, counts, again;
    MUST(tn_unique_copy(&values, &first, &inverse, &counts, src) == TN_OK);
    MUST(tn_alloc(&again, src->dtype, src->ndim, src->shape) == TN_OK);
    MUST(tn_take(&again, &values, 0, &inverse) == TN_OK && same_elements(&again, src));
    tn_free(&again);
    MUST(tn_like(&again, &inverse) == TN_OK);
    MUST(tn_searchsorted(&again, &values, src, false) == TN_OK);
    MUST(same_elements(&again, &inverse));
    tn_free(&again);
    MUST(tn_like(&again, &counts) == TN_OK && tn_bincount(&again, &inverse) == TN_OK);
    MUST(same_elements(&again, &counts));
    if (tn_numel(&counts) > 0) {
        MUST(tn_histogram(&again, &inverse, -0.5, (double)tn_numel(&counts) - 0.5) == TN_OK);
        MUST(same_elements(&again, &counts));
    }
    tn_free(&again);
    tn_free(&counts);
    tn_free(&inverse);
    tn_free(&first);
    tn_free(&values);
}

/* Masks agree in how many they choose; what is chosen and put back changes nothing. */
static void op_chosen(machine *p, const slot *d, const slot *s)
{
    tn_tensor chosen, places, copy, values;
    (void)p;
    MUST(tn_nonzero_copy(&places, &s->t) == TN_OK);
    MUST(tn_masked_select_copy(&chosen, &s->t, &s->t) == TN_OK);
    MUST(places.ndim == 2 && places.shape[0] == tn_numel(&chosen));
    MUST(tn_nonzero(&places, &s->t) == TN_OK);
    MUST(tn_masked_select(&chosen, &s->t, &s->t) == TN_OK);
    MUST(tn_contiguous(&copy, &s->t) == TN_OK);
    MUST(tn_masked_put(&copy, &s->t, &chosen) == TN_OK && same_elements(&copy, &s->t));
    tn_free(&copy);
    tn_free(&chosen);
    tn_free(&places);
    if (s->t.dtype == TN_U8 || s->t.dtype == TN_I16 || s->t.dtype == TN_I64)
        check_unique(&s->t);
    MUST(tn_unique_each_copy(&values, NULL, NULL, NULL, &d->t) == TN_OK);
    MUST(tn_numel(&values) <= tn_numel(&d->t));
    tn_free(&values);
}

#undef CALL
#endif
