/* stream_einsum.c - einsum of operands that do not fit into memory, summed over shared axes.
 *
 * tn_einsum computes each tile from dense copies of the parts of the sources that it needs.
 * Boxes are made one after another; the threads work inside a product. */
#include <tenon/copy.h>

#include "stream_tiles.h"

/* The part of a source that is in memory; both tensors are dense. */
typedef struct held {
    tn_tensor window, tile; /* tile: the part of window that one product uses */
    int64_t at[TN_MAX_NDIM], n[TN_MAX_NDIM]; /* the part of the source that window holds */
    bool good;
} held;

typedef struct einsum {
    const tn_stream *job;
    tni_stream_tiles tiles;
    held held[TN_EINSUM_SOURCES];
    tn_tensor sums, addend; /* if sums are cut: of a box in f32, and of one tile */
    int64_t done, work;     /* bytes of windows used so far; in total */
} einsum;

/* ---- windows ---- */

static tn_status reallocate(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_free(t);
    return tn_alloc(t, dtype, ndim, shape);
}

/* Read the part of source k that indices [at, at + n) of all axes need, unless it is cached. */
static tn_status read_window(einsum *e, int k, const int64_t *at, const int64_t *n)
{
    const tn_tensor *t = e->tiles.src[k];
    held *h = &e->held[k];
    int64_t first[TN_MAX_NDIM], count[TN_MAX_NDIM];
    bool same = h->good;
    for (int i = 0; i < t->ndim; i++) {
        const int o = e->tiles.of[k][i];
        first[i] = o < 0 ? 0 : at[o];
        count[i] = o < 0 ? 1 : n[o];
        same = same && h->at[i] == first[i] && h->n[i] == count[i];
    }
    if (same)
        return TN_OK;
    h->good = false;
    TRY(reallocate(&h->window, t->dtype, t->ndim, count));
    TRY(tni_source_read(&e->job->sources[k], &h->window, first, NULL));
    for (int i = 0; i < t->ndim; i++) {
        h->at[i] = first[i];
        h->n[i] = count[i];
    }
    h->good = true;
    return TN_OK;
}

/* The part of the window of source k for indices [first, first + n) of the cut axis, dense. */
static tn_status cut_window(einsum *e, int k, int64_t first, int64_t n, const tn_tensor **out)
{
    held *h = &e->held[k];
    tn_tensor part = h->window;
    bool cut = false;
    for (int i = 0; i < part.ndim; i++)
        if (e->tiles.of[k][i] == e->tiles.along && (first || n != part.shape[i])) {
            TRY(tn_slice(&part, &part, i, first, first + n, 1));
            cut = true;
        }
    *out = cut ? &h->tile : &h->window;
    if (!cut)
        return TN_OK;
    TRY(reallocate(&h->tile, part.dtype, part.ndim, part.shape));
    return tn_rearrange(&h->tile, &part);
}

/* ---- tiles ---- */

/* Compute one tile: the first part of its sum, or a further part that is added to dst. */
static tn_status make_tile(einsum *e, const tn_tensor *dst, const tn_tensor *const *srcs,
                           bool first)
{
    const tn_op op = dst->dtype == TN_BOOL ? TN_LOGICAL_OR : TN_ADD;
    if (first)
        return tn_einsum(dst, e->tiles.spec, e->tiles.n, srcs);
    TRY(reallocate(&e->addend, dst->dtype, dst->ndim, dst->shape));
    TRY(tn_einsum(&e->addend, e->tiles.spec, e->tiles.n, srcs));
    return tn_apply(op, NULL, dst, 2, (const tn_tensor *const[]){dst, &e->addend});
}

static tn_status report(const einsum *e)
{
    const tn_stream *job = e->job;
    return job->progress ? job->progress(job->user, e->done, e->work) : TN_OK;
}

/* Compute one column of tiles of a box: windows are read once and sliced along the cut axis.
 * [at, at + n) are indices of all axes; inside is the column's position in dst. */
static tn_status make_column(einsum *e, const tn_tensor *dst, const int64_t *at,
                             const int64_t *n, const int64_t *inside, bool first)
{
    const tni_stream_tiles *t = &e->tiles;
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    for (int k = 0; k < t->n; k++) {
        TRY(read_window(e, k, at, n));
        e->done += tn_nbytes(&e->held[k].window);
    }
    const int64_t all = t->along < 0 ? 1 : n[t->along],
                  each = t->along < 0 ? 1 : t->tile[t->along];
    for (int64_t i = 0; i < all; i += each) {
        const int64_t here = all - i < each ? all - i : each;
        int64_t from[TN_MAX_NDIM], count[TN_MAX_NDIM];
        tn_tensor part;
        for (int o = 0; o < dst->ndim; o++) {
            from[o] = inside[o] + (o == t->along ? i : 0);
            count[o] = o == t->along ? here : n[o];
        }
        TRY(tn_view(&part, dst, count, from, NULL, 0));
        for (int k = 0; k < t->n; k++)
            TRY(cut_window(e, k, i, here, &srcs[k]));
        TRY(make_tile(e, &part, srcs, first));
    }
    return report(e);
}

/* Advance to the next column of the box, then to the next part of the sum; false after the
 * last. */
static bool next_column(const tni_stream_tiles *t, const tn_tensor *dst, int64_t *inside)
{
    for (int i = t->out->ndim - 1; i > t->along; i--) {
        inside[i] += t->tile[i];
        if (inside[i] < dst->shape[i])
            return true;
        inside[i] = 0;
    }
    for (int i = t->naxes - 1; i >= t->out->ndim; i--) {
        inside[i] += t->tile[i];
        if (inside[i] < t->extent[i])
            return true;
        inside[i] = 0;
    }
    return false;
}

static tn_status make_columns(einsum *e, const tn_tensor *dst, const int64_t *at)
{
    const tni_stream_tiles *t = &e->tiles;
    int64_t inside[TNI_STREAM_AXES] = {0}, from[TNI_STREAM_AXES], n[TNI_STREAM_AXES];
    do {
        bool first = true; /* the first part of the sum */
        for (int o = 0; o < t->naxes; o++) {
            const bool kept = o < dst->ndim;
            const int64_t left = (kept ? dst->shape[o] : t->extent[o]) - inside[o];
            from[o] = (kept ? at[o] : 0) + inside[o];
            n[o] = o <= t->along || left < t->tile[o] ? left : t->tile[o];
            first = first && (kept || inside[o] == 0);
        }
        TRY(make_column(e, dst, from, n, inside, first));
    } while (next_column(t, dst, inside));
    return TN_OK;
}

/* Make a box of the result; the callback of a stream's source. */
static tn_status make_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    einsum *e = user;
    if (!tni_stream_tiles_wider(&e->tiles))
        return make_columns(e, dst, at);
    TRY(reallocate(&e->sums, TN_F32, dst->ndim, dst->shape));
    TRY(make_columns(e, &e->sums, at));
    return tn_cast(dst, &e->sums);
}

/* ---- jobs ---- */

static tn_status einsum_check(const tn_stream *job)
{
    const tn_stream_einsum *x = job->args;
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    tn_tensor bare[TN_EINSUM_SOURCES], dst;
    tn_plan *plan = NULL;
    if (!x || !x->spec)
        return tni_fail(TN_ENULL, "stream: %s is NULL", x ? "spec" : "args");
    if (job->n < 1 || job->n > TN_EINSUM_SOURCES)
        return tni_fail(TN_EARG, "stream: einsum: got %d sources, expected 1 to %d", job->n,
                        TN_EINSUM_SOURCES);
    TRY(tni_recipe_no_axes(job));
    for (int k = 0; k < job->n; k++) {
        bare[k] = job->sources[k].view;
        bare[k].data = NULL;
        srcs[k] = &bare[k];
    }
    TRY(tn_init(&dst, NULL, job->out.dtype, job->out.ndim, job->out.shape));
    TRY(tni_unplanned(tn_plan_einsum(&plan, &dst, x->spec, job->n, srcs)));
    tn_plan_free(plan);
    return TN_OK;
}

static tn_status einsum_plan(const tn_stream *job, einsum **out)
{
    einsum *e = tni_alloc(sizeof *e);
    if (!e)
        return tni_fail(TN_ENOMEM, "stream: cannot allocate memory for the tiles of an einsum");
    *e = (einsum){.job = job,
                  .tiles = {.spec = ((const tn_stream_einsum *)job->args)->spec,
                            .n = job->n,
                            .out = &job->out}};
    for (int k = 0; k < job->n; k++)
        e->tiles.src[k] = &job->sources[k].view;
    const tn_status status = tni_stream_tiles_match(&e->tiles);
    if (status != TN_OK) {
        tni_free(e);
        return status;
    }
    tni_stream_tiles_cut(&e->tiles, tn_stream_budget(job->max_mem));
    *out = e;
    return TN_OK;
}

static void einsum_free(einsum *e)
{
    for (int k = 0; k < e->tiles.n; k++) {
        tn_free(&e->held[k].window);
        tn_free(&e->held[k].tile);
    }
    tn_free(&e->sums);
    tn_free(&e->addend);
    tni_free(e);
}

/* The plan of a full tile. */
static tn_status tile_plan(const tn_stream *job, tn_plan **plan)
{
    tn_tensor dst, parts[TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    einsum *e = NULL;
    TRY(einsum_plan(job, &e));
    const tni_stream_tiles *t = &e->tiles;
    tn_status status = tn_init(&dst, NULL, job->out.dtype, job->out.ndim, t->tile);
    for (int k = 0; k < t->n && status == TN_OK; k++) {
        status = tni_stream_tiles_part(t, k, &parts[k]);
        srcs[k] = &parts[k];
    }
    if (status == TN_OK)
        status = tn_plan_einsum(plan, &dst, t->spec, t->n, srcs);
    einsum_free(e);
    return status;
}

/* Bytes of the windows of all sources or, without `memory`, of those that are not in memory. */
static int64_t window_bytes(const einsum *e, bool memory)
{
    double bytes = 0;
    for (int k = 0; k < e->tiles.n; k++)
        if (memory || e->job->sources[k].file || e->job->sources[k].read)
            bytes += tni_stream_tiles_work(&e->tiles, k);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

static tn_status einsum_run(const tn_stream *job, tn_stream_facts *facts)
{
    einsum *e = NULL;
    TRY(einsum_plan(job, &e));
    tn_stream_source boxes = {.read = make_box, .user = e};
    tn_stream inner = tni_stream_of_boxes(job, &boxes);
    inner.max_mem = job->max_mem;
    inner.box = tni_numel(&job->out) ? tni_stream_tiles_box(&e->tiles) : 0;
    e->work = window_bytes(e, true);
    tn_status status = tn_init(&inner.out, NULL, job->out.dtype, job->out.ndim, job->out.shape);
    boxes.view = inner.out;
    if (status == TN_OK)
        status = tni_stream_inner(&inner, facts);
    if (facts && status == TN_OK && facts->boxes) {
        facts->way = "boxes";
        facts->memory += tni_stream_tiles_bytes(&e->tiles);
        facts->read = window_bytes(e, false);
        facts->shortest_read = 0;
    }
    einsum_free(e);
    return status;
}

const tni_recipe tni_stream_einsum_row = {"einsum",      einsum_check,     NULL,
                                          NULL,          einsum_run,       .own_axes = true,
                                          .reads = true, .plan = tile_plan};
