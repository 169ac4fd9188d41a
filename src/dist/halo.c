/* halo.c - routes that fill the borders (halos) of parts from their neighbours.
 *
 * Along each axis a part with its borders is a list of segments: its middle, what other parts
 * hold, and what the pad mode defines outside the tensor.  A segment is an interval of the
 * tensor traversed forward, backward or repeated; the segments of all axes multiply. */
#include <string.h>

#include "route.h"

typedef struct segment {
    int64_t dst, n;    /* positions in the part with borders */
    int64_t src, step; /* index of the first, and its step: 1, -1 or 0 */
    int mark;
} segment;

typedef struct border {
    int64_t before, after;
    tn_pad_mode mode;
} border;

/* The segment that begins at index g outside [0, n); its length is an upper bound. */
static segment beyond(int64_t g, int64_t n, tn_pad_mode mode)
{
    const bool mirror = mode == TN_PAD_REFLECT || mode == TN_PAD_SYMMETRIC;
    if (mode == TN_PAD_CONSTANT)
        return (segment){.n = INT64_MAX, .mark = TNI_MARK_FILL};
    if (mode == TN_PAD_EDGE || (mode == TN_PAD_REFLECT && n == 1))
        return (segment){.n = INT64_MAX, .src = g < 0 ? 0 : n - 1};
    const int64_t period = mode == TN_PAD_REFLECT ? n - 1 : n; /* indices per direction */
    int64_t k = g / period - (g % period < 0), inside = g - k * period;
    if (mirror && k % 2 != 0)
        return (segment){.n = period - inside,
                         .src = (mode == TN_PAD_REFLECT ? period : period - 1) - inside,
                         .step = -1};
    return (segment){.n = period - inside, .src = inside, .step = 1};
}

/* The segments of [at, at + part) and its borders, on an axis of extent n. */
static tn_status halo_segments(tni_list *out, int64_t at, int64_t part, int64_t n,
                               const border *b)
{
    const int64_t low = at - b->before, high = at + part + b->after;
    out->n = 0;
    if (part == 0)
        return TN_OK;
    for (int64_t g = low; g < high;) {
        segment s;
        if (g >= 0 && g < n) {
            int64_t end = g < at ? at : g < at + part ? at + part : n;
            s = (segment){.n = end - g, .src = g, .step = 1};
            s.mark = g == at ? TNI_MARK_MIDDLE : TNI_MARK_NONE;
        } else {
            s = beyond(g, n, b->mode);
            if (g < 0 && s.n > -g)
                s.n = -g;
        }
        s.dst = g - low;
        s.n = s.n < high - g ? s.n : high - g;
        segment *row = out->n < TNI_MOST_PIECES ? tni_list_add(out) : NULL;
        if (!row)
            return tni_list_full("route_halo");
        *row = s;
        g += s.n;
    }
    return TN_OK;
}

/* Intersect a segment with the interval [at, at + n) of src; returns false if they are
 * disjoint. */
static bool segment_run(const segment *s, int64_t at, int64_t n, tni_run *run, tni_again *again)
{
    int64_t low = s->step < 0 ? s->src - s->n + 1 : s->src;
    int64_t high = s->step ? low + s->n : low + 1;
    const int64_t from = low > at ? low : at, to = high < at + n ? high : at + n;
    if (s->mark == TNI_MARK_FILL || from >= to)
        return false;
    *run = (tni_run){.src = from - at, .n = s->step ? to - from : s->n, .again = -1};
    run->dst = s->dst + (s->step > 0 ? from - low : s->step < 0 ? s->src - from : 0);
    *again = (tni_again){1, 0, 0, s->step < 0 ? -1 : 1, s->step ? 1 : 0};
    return true;
}

typedef struct halo {
    tni_generator m;
    const int64_t *before, *after;
    tn_pad_mode mode;
    tni_list segments, marks;
} halo;

static tn_status halo_hit(halo *h, const tni_run *run, const tni_again *again, int mark,
                          int64_t position)
{
    const int64_t run0 = h->m.side->runs.n;
    uint8_t *row = tni_list_add(&h->marks);
    if (!row || !tni_run_add(&h->m.side->runs, &h->m.side->agains, run, again))
        return tni_list_full("route_halo");
    *row = (uint8_t)mark;
    return tni_hit_close(&h->m, run0, position);
}

/* Add the hits of the segments in `list` with the interval [at, at + length) of the other
 * side. */
static tn_status halo_hits(halo *h, const segment *list, int64_t n, int64_t at, int64_t length,
                           int64_t position)
{
    for (int64_t k = 0; k < n; k++) {
        tni_run run;
        tni_again again;
        if (segment_run(&list[k], at, length, &run, &again))
            TRY(halo_hit(h, &run, &again, list[k].mark, position));
    }
    return TN_OK;
}

/* Visit every coordinate of axis, from mesh axis i on; outer is the set that the preceding cuts
 * leave. */
static tn_status halo_level(halo *h, int axis, int i, const tni_set *outer, int64_t position)
{
    const tn_dist *d = h->m.src;
    while (i < d->mesh_ndim && d->placements[i].axis != axis)
        i++;
    if (i < d->mesh_ndim) {
        for (int c = 0; c < d->mesh[i]; c++) {
            tni_set inner;
            TRY(tni_set_cut(&inner, outer, &d->placements[i], d->mesh[i], c));
            TRY(halo_level(h, axis, i + 1, &inner, position + c * d->step[i]));
        }
        return TN_OK;
    }
    const tni_set *own = &h->m.sets[axis];
    if (!h->m.sending) /* own segments; outer is the sender's part */
        return halo_hits(h, h->segments.at, h->segments.n, outer->at, outer->n, position);
    const border b = {h->before[axis], h->after[axis], h->mode};
    TRY(halo_segments(&h->segments, outer->at, outer->n, d->shape[axis], &b));
    return halo_hits(h, h->segments.at, h->segments.n, own->at, own->n, position);
}

static tn_status halo_fills(halo *h)
{
    const segment *list = h->segments.at;
    for (int64_t k = 0; k < h->segments.n; k++)
        if (list[k].mark == TNI_MARK_FILL)
            TRY(halo_hit(h, &(tni_run){list[k].dst, 0, list[k].n, -1}, NULL, TNI_MARK_FILL, 0));
    return TN_OK;
}

static tn_status halo_side(halo *h)
{
    tni_side *s = h->m.side;
    const tn_dist *d = h->m.src;
    const int64_t position = tni_mesh_position(d, h->m.r->rank);
    tni_group *g = tni_list_add(&s->groups);
    if (!g || !tni_list_reserve(&s->hit0, d->ndim + 1))
        return tni_list_full("route_halo");
    *g = (tni_group){0};
    for (int axis = 0; axis < d->ndim; axis++) {
        const tni_set whole = tni_set_range(0, d->shape[axis]);
        *(int32_t *)tni_list_add(&s->hit0) = (int32_t)s->hits.n;
        TRY(tni_mesh_set(&h->m.sets[axis], d, position, axis));
        const border b = {h->before[axis], h->after[axis], h->mode};
        const tni_set *own = &h->m.sets[axis];
        if (!h->m.sending)
            TRY(halo_segments(&h->segments, own->at, own->n, d->shape[axis], &b));
        TRY(halo_level(h, axis, 0, &whole, 0));
        if (!h->m.sending)
            TRY(halo_fills(h));
    }
    *(int32_t *)tni_list_add(&s->hit0) = (int32_t)s->hits.n;
    h->m.marks = h->marks.at;
    return tni_emit(&h->m, 0);
}

static tn_status halo_check(const tn_dist *d, const int64_t *before, const int64_t *after,
                            tn_pad_mode mode)
{
    if (d->boxes)
        return tni_fail(TN_EUNSUPPORTED,
                        "route_halo: a distribution made by tn_dist_boxes is not supported");
    for (int i = 0; i < d->mesh_ndim; i++)
        if (d->placements[i].axis >= 0 && d->placements[i].cut == TN_CUT_CYCLIC)
            return tni_fail(TN_EUNSUPPORTED,
                            "route_halo: axis %d is distributed cyclically, expected blocks",
                            d->placements[i].axis);
    if ((unsigned)mode > TN_PAD_WRAP)
        return tni_fail(TN_EARG, "route_halo: unknown mode %d", (int)mode);
    for (int i = 0; i < d->ndim; i++) {
        int64_t n;
        if (before[i] < 0 || after[i] < 0)
            return tni_fail(
                TN_EARG, "route_halo: axis %d has borders %lld and %lld, expected at least 0",
                i, (long long)before[i], (long long)after[i]);
        if (d->shape[i] == 0 && before[i] + after[i] > 0 && mode != TN_PAD_CONSTANT)
            return tni_fail(TN_ESHAPE,
                            "route_halo: axis %d has extent 0, only TN_PAD_CONSTANT can pad it",
                            i);
        if (!tni_add(before[i], after[i], &n) || !tni_add(n, d->shape[i], &n))
            return tni_fail(
                TN_EOVERFLOW,
                "route_halo: the extent of axis %d with its borders exceeds 2^63 - 1", i);
    }
    return TN_OK;
}

static tn_status halo_make(tn_route *r, const tn_dist *d, const int64_t *before,
                           const int64_t *after, tn_pad_mode mode)
{
    tn_status status = TN_OK;
    for (int sending = 0; sending < 2 && status == TN_OK && r->rank < d->nranks; sending++) {
        halo h = {.m = {.r = r,
                        .dst = d,
                        .src = d,
                        .own = d,
                        .other = d,
                        .sending = sending,
                        .side = &r->side[sending],
                        .copy = -1},
                  .before = before,
                  .after = after,
                  .mode = mode,
                  .segments = {.width = sizeof(segment)},
                  .marks = {.width = 1}};
        status = halo_side(&h);
        tni_list_free(&h.segments);
        tni_list_free(&h.marks);
    }
    return status == TN_OK ? tni_route_finish(r, d, -1) : status;
}

tn_status tn_route_halo(tn_route **out, int rank, const tn_dist *d, tn_dtype dtype,
                        const int64_t *before, const int64_t *after, tn_pad_mode mode,
                        const void *value)
{
    if (!out || !d || (d->ndim > 0 && (!before || !after)))
        return tni_fail(TN_ENULL, "route_halo: %s is NULL",
                        !out      ? "r"
                        : !d      ? "d"
                        : !before ? "before"
                                  : "after");
    if (rank < 0)
        return tni_fail(TN_EARG, "route_halo: rank is %d, expected at least 0", rank);
    TRY(halo_check(d, before, after, mode));
    tn_route *r;
    TRY(tni_route_begin(&r, rank, d, dtype, d, dtype, "route_halo"));
    r->halo = true;
    if (value)
        memcpy(r->value, value, (size_t)tni_width(dtype));
    for (int i = 0; i < d->ndim; i++) {
        r->axes[i] = i;
        for (int64_t part = 0; part < r->parts[0]; part++)
            r->extents[0][part * d->ndim + i] += before[i] + after[i];
    }
    tn_status status = halo_make(r, d, before, after, mode);
    if (status != TN_OK) {
        tn_route_free(r);
        return status;
    }
    *out = r;
    return TN_OK;
}
