/* fetch.c - reading any view of a tensor in a file, without mapping it.
 *
 * The loops of the view, longest step in the file first, are cut into pieces that fill a stage
 * in memory.  Inner axes whose gaps are small are "near": one read covers them and their gaps.
 * One tn_rearrange copies each full stage to dst, so that the copy engine does the transposing,
 * not the reads.  Along the dense axis of dst a stage covers at least two cache lines or the
 * whole axis, so that no line of dst is written for a single element. */
#include <string.h>

#include <tenon/copy.h>

#include "nest/nest.h"

#include "stream.h"

enum {
    STAGES = 2, /* with a queue: one is copied while the reads of the other are in flight */
    GAP = 4096, /* bytes that are read and dropped rather than skipped: a page is read anyway */
    /* Bytes that a stage covers along the dense axis of dst: two lines, the least that lets a
     * copy store whole ones at any alignment. */
    LINES = 128
};

enum { TO, FROM, OPERANDS }; /* dst and the file, the operands of the nest */

typedef struct fetch {
    const tn_file *f;
    const tni_entry *e;
    tni_nest nest;
    char *dst;  /* address of its first element */
    int64_t at; /* offset of the first element in the file */
    int64_t width;
    bool near[TN_MAX_NDIM];
    int64_t piece[TN_MAX_NDIM];  /* indices in one stage */
    int64_t staged[TN_MAX_NDIM]; /* step in bytes in the stage */
    int64_t capacity, bytes;     /* bytes of a stage: maximum, used */
    tni_queue *queue;            /* NULL: one read at a time */
} fetch;

/* A stage being filled. */
typedef struct stage {
    char *at;
    char *dst; /* destination of its first element */
    int64_t n[TN_MAX_NDIM];
    tni_reads batch;
} stage;

/* The axis along which dst has the shortest step, among those that have a step in the file; -1:
 * none has. */
static int dense_axis(const tni_nest *nest)
{
    int best = -1;
    for (int j = 0; j < nest->ndim && nest->axis[j].step[FROM] > 0; j++)
        if (best < 0 ||
            tni_abs_step(nest->axis[j].step[TO]) < tni_abs_step(nest->axis[best].step[TO]))
            best = j;
    return best;
}

/* Set pieces and steps of all axes; axis `wide` (-1: none) gets `count` indices and is never
 * near.  A broadcast axis, whose step in the file is 0, is whole in every stage. */
static void divide(fetch *w, int wide, int64_t count)
{
    int64_t inside = w->width, capacity = w->capacity / count;
    bool near = true, full = true;
    for (int j = w->nest.ndim - 1; j >= 0; j--) {
        const tni_axis *a = &w->nest.axis[j];
        const int64_t step = a->step[FROM];
        w->piece[j] = a->n;
        w->staged[j] = 0;
        w->near[j] = true;
        if (step == 0)
            continue;
        near = near && j != wide && (step / 2 <= inside || step - inside <= GAP);
        w->near[j] = near && full;
        w->staged[j] = w->near[j] ? step : inside;
        const int64_t most = capacity > inside ? (capacity - inside) / w->staged[j] + 1 : 1;
        w->piece[j] = j == wide ? count : !full ? 1 : most < a->n ? most : a->n;
        full = full && (j == wide || w->piece[j] == a->n);
        inside += w->staged[j] * (w->piece[j] - 1);
        if (j == wide)
            capacity *= count;
    }
    w->bytes = inside;
}

/* Enlarge the stage to cover some lines of dst if it does not already. */
static void plan_stage(fetch *w)
{
    const int wide = dense_axis(&w->nest);
    divide(w, -1, 1);
    if (wide < 0)
        return;
    const int64_t n = w->nest.axis[wide].n, most = LINES / w->width;
    const int64_t count = most < n ? most : n;
    if (w->piece[wide] < count && w->capacity / count >= 64) /* tests have smaller stages */
        divide(w, wide, count);
    ASSERT(w->bytes <= w->capacity || w->bytes == w->width || w->capacity < 4096);
}

/* Read one stage, which begins at offset `first`: one read for each index of the axes that are
 * not near. */
static tn_status fill(const fetch *w, stage *g, int64_t first)
{
    tni_axis axes[TN_MAX_NDIM];
    tni_walk walk;
    int64_t span = w->width;
    int m = 0;
    for (int j = 0; j < w->nest.ndim; j++) {
        const int64_t step = w->nest.axis[j].step[FROM];
        if (w->near[j])
            span += step * (g->n[j] - 1);
        else
            axes[m++] = (tni_axis){.n = g->n[j], .step = {w->staged[j], step}};
    }
    tni_walk_seek(&walk, axes, m, OPERANDS, 0);
    do {
        char *to = g->at + walk.offset[TO];
        const int64_t at = first + walk.offset[FROM];
        ASSERT(walk.offset[TO] + span <= w->bytes);
        TRY(w->queue ? tni_queue_read(w->queue, w->f, to, span, at, &g->batch)
                     : tni_file_bytes(w->f, to, span, at));
    } while (tni_walk_next(&walk) < m);
    return TN_OK;
}

/* Wait for the reads of a stage and copy it to its elements in dst. */
static tn_status carry(const fetch *w, stage *g)
{
    if (w->queue)
        TRY(tni_queue_wait(w->queue, &g->batch));
    if (w->e->swapped)
        tni_swap(g->at, w->bytes / tni_width(w->e->dtype), w->e->dtype);
    tn_tensor d = {.data = g->dst, .dtype = w->e->dtype, .ndim = w->nest.ndim}, s = d;
    s.data = g->at;
    for (int j = 0; j < d.ndim; j++) {
        d.shape[j] = s.shape[j] = g->n[j];
        d.stride[j] = w->nest.axis[j].step[TO];
        s.stride[j] = w->staged[j];
    }
    return TNI_NEVER(tn_rearrange(&d, &s));
}

/* Seek to the first stage; the walk loops over the pieces of every axis. */
static void stages_begin(const fetch *w, tni_axis *axes, tni_walk *walk)
{
    const tni_nest *nest = &w->nest;
    for (int j = 0; j < nest->ndim; j++)
        axes[j] = (tni_axis){.n = tni_ceil_div(nest->axis[j].n, w->piece[j]),
                             .step = {w->piece[j] * nest->axis[j].step[TO],
                                      w->piece[j] * nest->axis[j].step[FROM]}};
    tni_walk_seek(walk, axes, nest->ndim, OPERANDS, 0);
}

/* Begin to fill the stage at the walk's position. */
static tn_status stage_fill(const fetch *w, stage *g, const tni_walk *walk)
{
    g->dst = w->dst + walk->offset[TO];
    g->batch = (tni_reads){0};
    for (int j = 0; j < w->nest.ndim; j++) {
        const int64_t left = w->nest.axis[j].n - walk->at[j] * w->piece[j];
        g->n[j] = left < w->piece[j] ? left : w->piece[j];
    }
    return fill(w, g, w->at + walk->offset[FROM]);
}

/* With several stages, one is copied while the reads of the others are in flight. */
static tn_status fetch_run(const fetch *w, stage *stages, int n)
{
    tni_axis axes[TN_MAX_NDIM];
    tni_walk walk;
    int64_t filled = 0, carried = 0;
    stages_begin(w, axes, &walk);
    do {
        TRY(stage_fill(w, &stages[filled++ % n], &walk));
        if (filled - carried == n)
            TRY(carry(w, &stages[carried++ % n]));
    } while (tni_walk_next(&walk) < w->nest.ndim);
    while (carried < filled)
        TRY(carry(w, &stages[carried++ % n]));
    return TN_OK;
}

/* On failure, wait for the reads in flight before freeing their stages. */
static tn_status run_staged(const fetch *w)
{
    stage stages[STAGES];
    const int n = w->queue ? STAGES : 1;
    char *memory = tni_alloc((size_t)(n * w->bytes));
    if (!memory)
        return tni_no_memory(w->f->path, n * w->bytes);
    for (int i = 0; i < n; i++)
        stages[i] = (stage){.at = memory + i * w->bytes};
    tn_status status = fetch_run(w, stages, n);
    for (int i = 0; i < n && w->queue; i++)
        (void)tni_queue_wait(w->queue, &stages[i].batch);
    tni_free(memory);
    return status;
}

static tn_status check(const tni_entry *e, const tn_tensor *dst, const tn_tensor *src)
{
    if (!dst || !src)
        return tni_fail(TN_ENULL, "file_fetch: %s is NULL", dst ? "places" : "dst");
    TRY(tni_check_dst(dst, "file_fetch: dst"));
    TRY(tni_check(src, "file_fetch: places"));
    if (dst->dtype != src->dtype || tni_width(src->dtype) != tni_width(e->dtype))
        return tni_fail(TN_EDTYPE, "file_fetch: dst is %s, places %s, the tensor %s",
                        tn_dtype_name(dst->dtype), tn_dtype_name(src->dtype),
                        tn_dtype_name(e->dtype));
    TRY(tni_check_shape(src, dst->ndim, dst->shape, "file_fetch", "places"));
    TRY(tni_check_injective(dst, "file_fetch", "dst"));
    TRY(tni_check_data(dst, "file_fetch: dst"));
    return tni_check_data(src, "file_fetch: places");
}

/* Offset in the file of src's first element; all its elements must lie inside e. */
tn_status tni_fetch_locate(const tn_file *f, const tni_entry *e, const tn_tensor *src,
                           int64_t *at)
{
    int64_t low, high;
    tni_extent(src, &low, &high);
    uintptr_t base = (uintptr_t)f->places, first = (uintptr_t)src->data;
    int64_t here = base && first >= base ? (int64_t)(first - base) : -1;
    if (here < 0 || here > f->size || low < e->offset - here ||
        high > e->offset + e->nbytes - here)
        return tni_fail(TN_EARG, "%s: the view reaches outside tensor \"%.80s\"", f->path,
                        e->name);
    if (e->swapped)
        for (int i = 0; i < src->ndim; i++)
            if (src->stride[i] % tni_width(e->dtype) != 0)
                return tni_fail(TN_EUNSUPPORTED,
                                "%s: axis %d: stride is not a multiple of the element size",
                                f->path, i);
    *at = here;
    return TN_OK;
}

/* The bytes [*low, *high) of the file *f that a source needs; false if there is no file, or no
 * such place in it, which reading will report. */
static bool source_range(const tn_stream_source *s, const tn_file **f, int64_t *low,
                         int64_t *high)
{
    const tni_entry *e = NULL;
    int64_t at;
    *f = s->file;
    if (!s->file || tni_file_entry(f, s->tensor, "stream", &e) != TN_OK ||
        tni_fetch_locate(*f, e, &s->view, &at) != TN_OK)
        return false;
    tni_extent(&s->view, low, high);
    *low += at;
    *high += at;
    return true;
}

bool tni_fetch_can_ahead(const tn_stream_source *s)
{
    enum { SPARSE = 16 }; /* bytes read per byte used */
    const tn_file *f;
    int64_t low, high;
    if (!source_range(s, &f, &low, &high))
        return true;
    return tn_nbytes(&s->view) >= (high - low) / SPARSE && tni_stays_cached(f->size);
}

void tni_fetch_ahead(const tn_stream_source *s)
{
    const tn_file *f;
    int64_t low, high;
    if (source_range(s, &f, &low, &high))
        tni_file_ahead(f, low, high - low);
}

static tn_status fetch_dense(const tn_file *f, const tni_entry *e, const tn_tensor *dst,
                             int64_t at, tni_queue *q)
{
    tni_reads batch = {0};
    const int64_t bytes = tn_nbytes(dst);
    tn_status status = q ? tni_queue_read(q, f, dst->data, bytes, at, &batch)
                         : tni_file_bytes(f, dst->data, bytes, at);
    if (q)
        status = tni_queue_wait(q, &batch);
    if (status == TN_OK && e->swapped)
        tni_swap(dst->data, tni_numel(dst), e->dtype);
    return status;
}

tn_status tni_fetch(const tn_file *f, int64_t i, const tn_tensor *dst, const tn_tensor *places,
                    tni_queue *q)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(&f, i, "file_fetch", &e));
    TRY(check(e, dst, places));
    if (tni_numel(dst) == 0)
        return TN_OK;
    int64_t at;
    TRY(tni_fetch_locate(f, e, places, &at));
    if (tn_is_contiguous(places) && tn_is_contiguous(dst))
        return fetch_dense(f, e, dst, at, q);
    fetch w = {.f = f, .e = e, .width = tni_width(places->dtype), .queue = q};
    w.capacity = tni_stage_bytes;
    tni_nest_build(&w.nest, OPERANDS, (const tn_tensor *[]){dst, places},
                   &(tni_nest_rules){.lead = FROM});
    w.dst = (char *)dst->data + w.nest.shift[TO];
    w.at = at + w.nest.shift[FROM];
    plan_stage(&w);
    return run_staged(&w);
}

tn_status tn_file_fetch(const tn_file *f, int64_t i, const tn_tensor *dst,
                        const tn_tensor *places)
{
    return tni_fetch(f, i, dst, places, NULL);
}
