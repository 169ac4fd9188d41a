/* pieces_view.c - slices and patterns of virtual tensors, boxes, and the proof of a plan.
 *
 * The library interprets the texts: it makes a view of a dense tensor of bytes that is never
 * read, and the strides of the view are evaluated. */
#include <stdlib.h>
#include <string.h>

#include "pieces.h"

/* A dense tensor of bytes at an address that is never dereferenced. */
static int stand_in(tn_tensor *t, const virtual *v, char **base)
{
    static char anywhere[1];
    *base = anywhere;
    LIB(tn_init(t, anywhere, TN_U8, v->ndim, v->shape));
    return DONE;
}

/* Reverse an axis. */
static void flip_axis(virtual *v, int axis)
{
    for (int64_t k = 0; k < v->n; k++) {
        nest_piece *p = &v->pieces[k];
        int64_t last = p->at[axis];
        for (int i = 0; i < p->nloops; i++)
            if (p->loops[i].axis == axis) {
                last += (p->loops[i].n - 1) * p->loops[i].step;
                p->in_at += (p->loops[i].n - 1) * p->loops[i].in_step;
                p->loops[i].in_step = -p->loops[i].in_step;
            }
        p->at[axis] = v->shape[axis] - 1 - last;
    }
}

/* Take every step-th index of an axis: cut out each index and join them. */
static int stride_axis(virtual *v, int axis, int64_t step)
{
    virtual all = {0};
    int64_t extent = v->shape[axis], n = (extent + step - 1) / step;
    if (n > 4096)
        return fail("slice: a step of %lld along an axis of extent %lld is not supported",
                    (long long)step, (long long)extent);
    int code = DONE;
    for (int64_t i = 0; i < n && code == DONE; i++) {
        virtual one;
        code = virtual_copy(&one, v);
        if (code == DONE)
            code = virtual_cut(&one, axis, i * step, i * step + 1);
        if (code == DONE && i == 0)
            code = virtual_copy(&all, &one);
        else if (code == DONE)
            code = virtual_join(&all, &one, axis);
        virtual_free(&one);
    }
    if (code == DONE) {
        virtual_free(v);
        *v = all;
    } else {
        virtual_free(&all);
    }
    return code;
}

/* The part of an axis that a view takes: first index, step, count. */
typedef struct taken {
    int64_t first, step, n;
} taken;

int virtual_slice(virtual *v, const char *text)
{
    tn_tensor t, view;
    char *base;
    taken axes[TN_MAX_NDIM];
    TRY(stand_in(&t, v, &base));
    LIB(tn_slice_text(&view, &t, text));
    int64_t offset = tn_numel(&view) ? (char *)view.data - base : 0;
    for (int i = 0; i < v->ndim; i++) {
        axes[i] = (taken){t.stride[i] ? offset / t.stride[i] : 0, 1, 1};
        offset -= axes[i].first * t.stride[i];
        for (int k = 0; k < view.ndim; k++)
            if (llabs(view.stride[k]) >= t.stride[i] && view.shape[k] > 1 &&
                (i == 0 || llabs(view.stride[k]) < t.stride[i - 1])) {
                axes[i].step = view.stride[k] / t.stride[i];
                axes[i].n = view.shape[k];
            }
    }
    for (int i = 0; i < v->ndim && tn_numel(&view); i++) {
        int64_t last = axes[i].first + (axes[i].n - 1) * axes[i].step;
        bool back = axes[i].step < 0;
        TRY(virtual_cut(v, i, back ? last : axes[i].first, (back ? axes[i].first : last) + 1));
        if (back)
            flip_axis(v, i);
        if (llabs(axes[i].step) > 1)
            TRY(stride_axis(v, i, llabs(axes[i].step)));
    }
    if (!tn_numel(&view))
        v->n = 0;
    return virtual_reshape(v, view.ndim, view.shape);
}

/* The pattern with the parentheses of its right side removed. */
static char *unjoined(const char *pattern)
{
    char *copy = strdup(pattern), *arrow = copy ? strstr(copy, "->") : NULL;
    for (char *p = arrow; p && *p; p++)
        if (*p == '(' || *p == ')')
            *p = ' ';
    return copy;
}

/* Apply a view: sorted by falling stride, its axes are a refinement of the tensor's shape, from
 * which the view is a permutation with some axes reversed. */
static int follow_view(virtual *v, const tn_tensor *view)
{
    int order[TN_MAX_NDIM], axes[TN_MAX_NDIM], n = 0;
    int64_t shape[TN_MAX_NDIM], numel = 1, dense = 1;
    for (int i = 0; i < view->ndim; i++)
        if (view->shape[i] != 1)
            order[n++] = i;
    for (int i = 1; i < n; i++)
        for (int k = i;
             k > 0 && llabs(view->stride[order[k]]) > llabs(view->stride[order[k - 1]]); k--) {
            int swap = order[k];
            order[k] = order[k - 1];
            order[k - 1] = swap;
        }
    for (int i = 0; i < v->ndim; i++)
        numel *= v->shape[i];
    for (int i = n - 1; i >= 0; i--) {
        if (llabs(view->stride[order[i]]) != dense)
            return fail("rearrange: a pattern that repeats or drops elements is not supported");
        dense *= shape[i] = view->shape[order[i]];
    }
    if (dense != numel)
        return fail("rearrange: a pattern that repeats or drops elements is not supported");
    TRY(virtual_reshape(v, n, shape));
    for (int i = 0; i < n; i++)
        if (view->stride[order[i]] < 0)
            flip_axis(v, i);
    int k = 0;
    for (int i = 0; i < view->ndim; i++)
        for (int j = 0; j < n; j++)
            if (order[j] == i)
                axes[k++] = j;
    return virtual_permute(v, axes);
}

int virtual_rearrange(virtual *v, const char *pattern, const char *sizes)
{
    tn_tensor t, view;
    char *base, *open = unjoined(pattern);
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    if (!open)
        return fail("out of memory");
    int code = stand_in(&t, v, &base);
    if (code == DONE && tn_pattern_shape(pattern, sizes, &t, &ndim, shape) != TN_OK)
        code = fail_call("tn_pattern_shape");
    else if (code == DONE && tn_pattern_view(&view, &t, open, sizes) != TN_OK)
        code = fail_call("tn_pattern_view");
    free(open);
    TRY(code);
    if (tn_numel(&t))
        TRY(follow_view(v, &view));
    return virtual_reshape(v, ndim, shape);
}

/* ---- boxes ---- */

static int falling(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

/* If no axes fit all pieces: runs of a single axis, which always fits. */
static int unroll(virtual *to, nest_piece p, int64_t at, int k)
{
    while (k < p.nloops && p.loops[k].step == 1)
        k++;
    if (k == p.nloops) {
        memset(p.at, 0, sizeof p.at);
        p.at[0] = at;
        int kept = 0;
        for (int i = 0; i < p.nloops; i++)
            if (p.loops[i].step == 1 && p.loops[i].n > 1)
                p.loops[kept++] = (loop){0, p.loops[i].n, 1, p.loops[i].in_step};
        p.nloops = kept;
        return virtual_add(to, &p);
    }
    for (int64_t i = 0; i < p.loops[k].n; i++) {
        nest_piece q = p;
        q.in_at += i * p.loops[k].in_step;
        TRY(unroll(to, q, at + i * p.loops[k].step, k + 1));
    }
    return DONE;
}

static int refine_to_runs(virtual *v, int64_t numel)
{
    int64_t dense[TN_MAX_NDIM], step = 1;
    for (int i = v->ndim - 1; i >= 0; i--) {
        dense[i] = step;
        step *= v->shape[i];
    }
    virtual made = {.dtype = v->dtype, .ndim = 1, .shape = {numel}};
    int code = DONE;
    for (int64_t k = 0; k < v->n && code == DONE; k++) {
        nest_piece p = v->pieces[k];
        int64_t at = 0;
        for (int i = 0; i < v->ndim; i++)
            at += p.at[i] * dense[i];
        for (int i = 0; i < p.nloops; i++)
            p.loops[i].step *= dense[p.loops[i].axis];
        code = unroll(&made, p, at, 0);
    }
    if (code == DONE) {
        virtual_free(v);
        *v = made;
    } else {
        virtual_free(&made);
    }
    return code;
}

/* True if all steps are 1 and each axis has at most one loop. */
static bool are_boxes(const virtual *v)
{
    for (int64_t k = 0; k < v->n; k++) {
        uint64_t seen = 0;
        for (int i = 0; i < v->pieces[k].nloops; i++) {
            const loop *l = &v->pieces[k].loops[i];
            if (l->step != 1 || seen >> l->axis & 1)
                return false;
            seen |= UINT64_C(1) << l->axis;
        }
    }
    return true;
}

int virtual_refine(virtual *v)
{
    int64_t *steps = malloc((size_t)(v->n * 2 * MOST_LOOPS + TN_MAX_NDIM + 2) * sizeof *steps);
    int64_t dense[TN_MAX_NDIM], shape[TN_MAX_NDIM], numel = 1;
    int64_t n = 0;
    int ndim = 0;
    if (!steps)
        return fail("out of memory");
    for (int i = v->ndim - 1; i >= 0; i--) {
        steps[n++] = dense[i] = numel;
        numel *= v->shape[i];
    }
    for (int64_t k = 0; k < v->n; k++)
        for (int i = 0; i < v->pieces[k].nloops; i++) {
            const loop *l = &v->pieces[k].loops[i];
            steps[n++] = l->step * dense[l->axis];
        }
    steps[n++] = 1;
    qsort(steps, (size_t)n, sizeof *steps, falling);
    int64_t above = numel;
    bool divides = true;
    for (int64_t i = 0; i < n && numel && divides; i++) {
        if (steps[i] == above || steps[i] > numel)
            continue;
        divides = above % steps[i] == 0 && ndim < TN_MAX_NDIM;
        if (divides)
            shape[ndim++] = above / steps[i];
        above = steps[i];
    }
    free(steps);
    if (!numel)
        return DONE;
    if (divides)
        TRY(virtual_reshape(v, ndim, shape));
    return divides && are_boxes(v) ? DONE : refine_to_runs(v, numel);
}

/* ---- proofs ---- */

/* The range [*low, *high] of a piece's indices along an axis, and the loop with the longest
 * step; returns the number of loops along the axis. */
static int axis_range(const nest_piece *p, int axis, int64_t *low, int64_t *high, int *outer)
{
    int loops = 0;
    *low = *high = p->at[axis];
    *outer = -1;
    for (int i = 0; i < p->nloops; i++)
        if (p->loops[i].axis == axis) {
            *high += (p->loops[i].n - 1) * p->loops[i].step;
            if (*outer < 0 || p->loops[i].step > p->loops[*outer].step)
                *outer = i;
            loops++;
        }
    return loops;
}

/* True if two arithmetic progressions, of at most one loop each, share an index. */
static bool progressions_meet(const nest_piece *a, const nest_piece *b, int axis)
{
    int64_t al, ah, bl, bh;
    int ao, bo;
    axis_range(a, axis, &al, &ah, &ao);
    axis_range(b, axis, &bl, &bh, &bo);
    int64_t ae = ao < 0 ? 1 : a->loops[ao].step, be = bo < 0 ? 1 : b->loops[bo].step;
    int64_t low = al > bl ? al : bl, high = ah < bh ? ah : bh;
    int64_t x = al + (low - al + ae - 1) / ae * ae;
    for (int64_t tries = 0; x <= high && tries < be; tries++, x += ae)
        if ((x - bl) % be == 0)
            return true;
    return false;
}

/* True if a and b share an element.  The test is exact: of several loops along an axis, the
 * outermost is expanded trip by trip, for those trips that can overlap. */
static bool overlap(const nest_piece *a, const nest_piece *b, int ndim)
{
    int split = -1;
    int64_t split_low = 0, split_high = 0;
    for (int i = 0; i < ndim; i++) {
        int64_t al, ah, bl, bh;
        int outer, other;
        int loops = axis_range(a, i, &al, &ah, &outer);
        axis_range(b, i, &bl, &bh, &other);
        if (ah < bl || bh < al)
            return false;
        if (loops > 1 && split < 0) {
            const loop *l = &a->loops[outer];
            int64_t inside = ah - al - (l->n - 1) * l->step;
            split = outer;
            split_low = bl - al - inside > 0 ? (bl - al - inside + l->step - 1) / l->step : 0;
            split_high = (bh - al) / l->step < l->n - 1 ? (bh - al) / l->step : l->n - 1;
        }
    }
    for (int64_t t = split_low; split >= 0 && t <= split_high; t++) {
        nest_piece one = *a;
        const loop l = a->loops[split];
        one.at[l.axis] += t * l.step;
        one.loops[split] = one.loops[--one.nloops];
        if (overlap(&one, b, ndim))
            return true;
    }
    if (split >= 0)
        return false;
    for (int i = 0; i < ndim; i++) {
        int64_t low, high;
        int outer;
        if (axis_range(b, i, &low, &high, &outer) > 1)
            return overlap(b, a, ndim);
    }
    for (int i = 0; i < ndim; i++)
        if (!progressions_meet(a, b, i))
            return false;
    return true;
}

/* True if, along each axis, the step of every loop exceeds the reach of the loops inside it. */
static bool injective(const nest_piece *p)
{
    for (int i = 0; i < p->nloops; i++) {
        int64_t inside = 0;
        for (int k = 0; k < p->nloops; k++)
            if (k != i && p->loops[k].axis == p->loops[i].axis &&
                (p->loops[k].step < p->loops[i].step ||
                 (p->loops[k].step == p->loops[i].step && k < i)))
                inside += (p->loops[k].n - 1) * p->loops[k].step;
        if (p->loops[i].step <= inside)
            return false;
    }
    return true;
}

/* Sort pieces by their first index along axis 0, so that only pieces whose ranges there overlap
 * are compared. */
static int by_start(const void *a, const void *b)
{
    const nest_piece *x = *(const nest_piece *const *)a, *y = *(const nest_piece *const *)b;
    return x->at[0] != y->at[0] ? (x->at[0] < y->at[0] ? -1 : 1) : 0;
}

static bool all_disjoint(const virtual *v)
{
    const nest_piece **order = malloc((size_t)(v->n ? v->n : 1) * sizeof *order);
    bool good = order != NULL;
    for (int64_t i = 0; good && i < v->n; i++)
        order[i] = &v->pieces[i];
    if (good && v->ndim)
        qsort(order, (size_t)v->n, sizeof *order, by_start);
    for (int64_t i = 0; good && i < v->n; i++) {
        int64_t low, high;
        int outer;
        good = injective(order[i]);
        axis_range(order[i], 0, &low, &high, &outer);
        for (int64_t k = i + 1; good && k < v->n && (!v->ndim || order[k]->at[0] <= high); k++)
            good = !overlap(order[i], order[k], v->ndim);
    }
    free(order);
    return good;
}

bool virtual_covers(const virtual *v)
{
    int64_t numel = 1, count = 0;
    for (int i = 0; i < v->ndim; i++)
        numel *= v->shape[i];
    for (int64_t k = 0; k < v->n; k++) {
        const nest_piece *p = &v->pieces[k];
        for (int i = 0; i < v->ndim; i++) {
            int64_t low, high;
            int outer;
            axis_range(p, i, &low, &high, &outer);
            if (low < 0 || high >= v->shape[i])
                return false;
        }
        count += piece_count(p);
    }
    return count == numel && all_disjoint(v);
}

int virtual_inverse(virtual *v, const virtual *of, int in, int ndim, const int64_t *shape)
{
    int64_t numel = 1;
    for (int i = 0; i < ndim; i++)
        numel *= shape[i];
    virtual flat = {.dtype = of->dtype, .ndim = 1, .shape = {numel}};
    flat.pieces = malloc((size_t)(of->n ? of->n : 1) * sizeof *flat.pieces);
    flat.capacity = of->n;
    if (!flat.pieces)
        return fail("out of memory");
    for (int64_t k = 0; k < of->n; k++) {
        nest_piece p = of->pieces[k];
        if (p.in != in)
            continue;
        memset(p.at, 0, sizeof p.at);
        p.at[0] = p.in_at;
        for (int i = 0; i < p.nloops; i++) {
            loop *l = &p.loops[i];
            if (l->in_step < 0) { /* reverse the loop */
                p.at[0] += (l->n - 1) * l->in_step;
                l->in_step = -l->in_step;
            }
            *l = (loop){0, l->n, l->in_step, 0};
        }
        p.in_at = 0;
        flat.pieces[flat.n++] = p;
    }
    *v = flat;
    return virtual_reshape(v, ndim, shape);
}
