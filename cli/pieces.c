/* pieces.c - operations on virtual tensors: join, cut, permute, reshape, slice, patterns.
 *
 * Only cutting and reshaping change the loops of a piece.  Both split it where a loop would
 * cross a border, into at most three parts for each loop. */
#include "pieces.h"

#include <stdlib.h>
#include <string.h>

int virtual_add(virtual *v, const nest_piece *p)
{
    if (v->n == MOST_VIRTUAL_PIECES)
        return fail("more than %d pieces", MOST_VIRTUAL_PIECES);
    if (v->n == v->capacity) {
        int64_t capacity = v->capacity ? 2 * v->capacity : 4;
        nest_piece *more = realloc(v->pieces, (size_t)capacity * sizeof *more);
        if (!more)
            return fail("cannot allocate memory for %lld pieces", (long long)capacity);
        v->pieces = more;
        v->capacity = capacity;
    }
    nest_piece *to = &v->pieces[v->n++];
    *to = *p;
    to->nloops = 0;
    for (int i = 0; i < p->nloops; i++)
        if (p->loops[i].n > 1)
            to->loops[to->nloops++] = p->loops[i];
    return DONE;
}

int virtual_input(virtual *v, int in, const tn_tensor *desc)
{
    nest_piece p = {.in = in};
    int64_t step = 1;
    *v = (virtual){.dtype = desc->dtype, .ndim = desc->ndim};
    memcpy(v->shape, desc->shape, (size_t)desc->ndim * sizeof v->shape[0]);
    p.nloops = desc->ndim;
    for (int i = desc->ndim - 1; i >= 0; i--) {
        p.loops[i] = (loop){i, desc->shape[i], 1, step};
        step *= desc->shape[i];
    }
    return step ? virtual_add(v, &p) : DONE;
}

int virtual_copy(virtual *v, const virtual *from)
{
    *v = *from;
    v->pieces = malloc((size_t)(from->n ? from->n : 1) * sizeof *v->pieces);
    v->capacity = from->n;
    if (!v->pieces) {
        *v = (virtual){0};
        return fail("cannot allocate memory for %lld pieces", (long long)from->n);
    }
    if (from->n)
        memcpy(v->pieces, from->pieces, (size_t)from->n * sizeof *v->pieces);
    return DONE;
}

void virtual_free(virtual *v)
{
    free(v->pieces);
    *v = (virtual){0};
}

/* Replace the pieces of v by those of `made`, unless code is a failure. */
static int adopt(virtual *v, virtual *made, int code)
{
    if (code == DONE) {
        free(v->pieces);
        v->pieces = made->pieces;
        v->n = made->n;
        v->capacity = made->capacity;
    } else {
        free(made->pieces);
    }
    return code;
}

int virtual_join(virtual *a, const virtual *b, int axis)
{
    for (int64_t i = 0; i < b->n; i++) {
        nest_piece p = b->pieces[i];
        p.at[axis] += a->shape[axis];
        TRY(virtual_add(a, &p));
    }
    a->shape[axis] += b->shape[axis];
    return DONE;
}

int64_t piece_count(const nest_piece *p)
{
    int64_t n = 1;
    for (int i = 0; i < p->nloops; i++)
        n *= p->loops[i].n;
    return n;
}

/* ---- cutting ---- */

/* The loop along an axis with the longest step, or -1; *inner: the reach of the others. */
static int outer_loop(const nest_piece *p, int axis, int64_t *inner)
{
    int outer = -1;
    int64_t reach = 0;
    for (int i = 0; i < p->nloops; i++)
        if (p->loops[i].axis == axis) {
            reach += (p->loops[i].n - 1) * p->loops[i].step;
            if (outer < 0 || p->loops[i].step > p->loops[outer].step)
                outer = i;
        }
    *inner = outer < 0 ? 0 : reach - (p->loops[outer].n - 1) * p->loops[outer].step;
    return outer;
}

/* Restrict a loop to trips [first, first + n). */
static void take_trips(nest_piece *p, int which, int64_t first, int64_t n)
{
    loop *l = &p->loops[which];
    p->at[l->axis] += first * l->step;
    p->in_at += first * l->in_step;
    l->n = n;
}

static int cut_piece(virtual *to, const nest_piece *p, int axis, int64_t low, int64_t high)
{
    int64_t inner, at = p->at[axis];
    int which = outer_loop(p, axis, &inner);
    if (which < 0)
        return at >= low && at < high ? virtual_add(to, p) : DONE;
    const loop l = p->loops[which];
    if (l.n == 1) { /* continue with the loops inside it */
        nest_piece q = *p;
        q.loops[which] = q.loops[--q.nloops];
        return cut_piece(to, &q, axis, low, high);
    }
    /* The trips that are entirely inside, and the trips on each side that touch a border. */
    int64_t first = at >= low ? 0 : (low - at + l.step - 1) / l.step;
    int64_t last = high - 1 - inner - at < 0 ? -1 : (high - 1 - inner - at) / l.step;
    last = last < l.n - 1 ? last : l.n - 1;
    int64_t touch =
        inner ? (low - at - inner > 0 ? (low - at - inner + l.step - 1) / l.step : 0) : first;
    int64_t touch_last = high - 1 - at < 0 ? -1 : (high - 1 - at) / l.step;
    touch_last = touch_last < l.n - 1 ? touch_last : l.n - 1;
    for (int64_t i = touch; i <= touch_last; i++) {
        nest_piece q = *p;
        if (i == first && first <= last) {
            take_trips(&q, which, first, last - first + 1);
            TRY(virtual_add(to, &q));
            i = last;
        } else {
            take_trips(&q, which, i, 1);
            TRY(cut_piece(to, &q, axis, low, high));
        }
    }
    return DONE;
}

int virtual_cut(virtual *v, int axis, int64_t low, int64_t high)
{
    virtual made = {0};
    int code = DONE;
    for (int64_t i = 0; i < v->n && code == DONE; i++)
        code = cut_piece(&made, &v->pieces[i], axis, low, high);
    for (int64_t i = 0; i < made.n; i++)
        made.pieces[i].at[axis] -= low;
    v->shape[axis] = high - low;
    return adopt(v, &made, code);
}

/* ---- axes ---- */

int virtual_permute(virtual *v, const int *axes)
{
    int to[TN_MAX_NDIM];
    int64_t shape[TN_MAX_NDIM], at[TN_MAX_NDIM];
    for (int i = 0; i < v->ndim; i++) {
        to[axes[i]] = i;
        shape[i] = v->shape[axes[i]];
    }
    memcpy(v->shape, shape, (size_t)v->ndim * sizeof shape[0]);
    for (int64_t k = 0; k < v->n; k++) {
        nest_piece *p = &v->pieces[k];
        for (int i = 0; i < v->ndim; i++)
            at[to[i]] = p->at[i];
        memcpy(p->at, at, (size_t)v->ndim * sizeof at[0]);
        for (int i = 0; i < p->nloops; i++)
            p->loops[i].axis = to[p->loops[i].axis];
    }
    return DONE;
}

int virtual_unsqueeze(virtual *v, int axis)
{
    int64_t shape[TN_MAX_NDIM];
    if (v->ndim == TN_MAX_NDIM)
        return fail("more than %d axes", TN_MAX_NDIM);
    memcpy(shape, v->shape, (size_t)axis * sizeof shape[0]);
    shape[axis] = 1;
    memcpy(shape + axis + 1, v->shape + axis, (size_t)(v->ndim - axis) * sizeof shape[0]);
    return virtual_reshape(v, v->ndim + 1, shape);
}

int virtual_squeeze(virtual *v, int axis)
{
    int64_t shape[TN_MAX_NDIM];
    memcpy(shape, v->shape, (size_t)axis * sizeof shape[0]);
    memcpy(shape + axis, v->shape + axis + 1, (size_t)(v->ndim - axis - 1) * sizeof shape[0]);
    return virtual_reshape(v, v->ndim - 1, shape);
}

/* ---- reshaping ---- */

static void dense_steps(int ndim, const int64_t *shape, int64_t *step)
{
    int64_t s = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        step[i] = s;
        s *= shape[i] ? shape[i] : 1;
    }
}

/* A piece by its offset in row-major order: loops step in elements and have no axis. */
typedef struct flat {
    nest_piece p;
    int64_t at;
} flat;

/* Remove loop k; the others keep their order, since inner loops are fitted last. */
static void drop_loop(nest_piece *p, int k)
{
    memmove(&p->loops[k], &p->loops[k + 1], (size_t)(--p->nloops - k) * sizeof p->loops[0]);
}

/* The part after the first `trips` trips of loop k. */
static flat behind_trips(const flat *f, int k, int64_t trips)
{
    flat next = *f;
    next.at += trips * f->p.loops[k].step;
    next.p.in_at += trips * f->p.loops[k].in_step;
    next.p.loops[k].n -= trips;
    return next;
}

/* Add a piece whose loops have all been assigned to axes. */
static int add_fitted(virtual *to, const flat *f, const int64_t *step)
{
    nest_piece p = f->p;
    int64_t at = f->at;
    for (int i = 0; i < to->ndim; i++) {
        p.at[i] = at / step[i];
        at %= step[i];
    }
    for (int i = 0; i < p.nloops; i++)
        p.loops[i].step /= step[p.loops[i].axis];
    return virtual_add(to, &p);
}

static int fit_loops(virtual *to, const flat *f, int k, const int64_t *step);

/* Turn whole rounds of the axis, `trips` trips each, into a loop outside it; the rest is a
 * separate piece. */
static int fit_rounds(virtual *to, const flat *f, int k, const int64_t *step, int axis,
                      int64_t trips)
{
    const loop l = f->p.loops[k];
    const int64_t rounds = l.n / trips;
    if (rounds) {
        flat whole = *f;
        whole.p.loops[k] = (loop){axis, trips, l.step, l.in_step};
        whole.p.loops[whole.p.nloops++] = (loop){0, rounds, l.step * trips, l.in_step * trips};
        TRY(fit_loops(to, &whole, k + 1, step));
    }
    if (l.n % trips == 0)
        return DONE;
    flat rest = behind_trips(f, k, rounds * trips);
    rest.p.loops[k].axis = axis;
    return fit_loops(to, &rest, k + 1, step);
}

/* Assign loop k and those after it to axes of the shape; split a loop that crosses to another
 * axis. */
static int fit_loops(virtual *to, const flat *f, int k, const int64_t *step)
{
    const nest_piece *p = &f->p;
    if (k == p->nloops)
        return add_fitted(to, f, step);
    const loop l = p->loops[k];
    int axis = 0;
    while (axis < to->ndim - 1 && (l.step < step[axis] || to->shape[axis] == 1))
        axis++;
    /* Count the trips during which the loop, with the reach of the loops inside it, stays in
     * one round of the axis. */
    int64_t round = to->shape[axis] * step[axis], offset = f->at % round, inside = 0;
    for (int i = 0; i < p->nloops; i++)
        if (i != k && p->loops[i].step < l.step)
            inside += (p->loops[i].n - 1) * p->loops[i].step;
    bool straight = l.step % step[axis] == 0;
    int64_t trips =
        straight && offset + inside < round ? (round - 1 - offset - inside) / l.step + 1 : 0;
    flat next = *f;
    next.p.loops[k].axis = axis;
    if (trips >= l.n) /* the loop stays on the axis */
        return fit_loops(to, &next, k + 1, step);
    if (straight && round % l.step == 0 && offset < l.step && trips == round / l.step &&
        p->nloops < MOST_LOOPS)
        return fit_rounds(to, f, k, step, axis, trips);
    /* Trips up to the end of the axis, at least one, then the rest. */
    const int64_t first = trips > 0 ? trips : 1;
    next.p.loops[k].n = first;
    if (first == 1)
        drop_loop(&next.p, k);
    TRY(fit_loops(to, &next, first == 1 ? k : k + 1, step));
    if (first == l.n)
        return DONE;
    next = behind_trips(f, k, first);
    if (next.p.loops[k].n == 1)
        drop_loop(&next.p, k);
    return fit_loops(to, &next, k, step);
}

static int by_step(const void *a, const void *b)
{
    const loop *x = a, *y = b;
    return x->step != y->step ? (x->step < y->step ? 1 : -1) : 0;
}

int virtual_reshape(virtual *v, int ndim, const int64_t *shape)
{
    int64_t old[TN_MAX_NDIM], step[TN_MAX_NDIM];
    virtual made = {.dtype = v->dtype, .ndim = ndim};
    memcpy(made.shape, shape, (size_t)ndim * sizeof *shape);
    dense_steps(v->ndim, v->shape, old);
    dense_steps(ndim, shape, step);
    int code = DONE;
    for (int64_t k = 0; k < v->n && code == DONE; k++) {
        flat f = {.p = v->pieces[k]};
        for (int i = 0; i < v->ndim; i++)
            f.at += f.p.at[i] * old[i];
        for (int i = 0; i < f.p.nloops; i++)
            f.p.loops[i].step *= old[f.p.loops[i].axis];
        memset(f.p.at, 0, sizeof f.p.at);
        qsort(f.p.loops, (size_t)f.p.nloops, sizeof f.p.loops[0], by_step);
        code = ndim ? fit_loops(&made, &f, 0, step) : virtual_add(&made, &f.p);
    }
    if (code == DONE) {
        v->ndim = ndim;
        memcpy(v->shape, shape, (size_t)ndim * sizeof *shape);
    }
    return adopt(v, &made, code);
}
