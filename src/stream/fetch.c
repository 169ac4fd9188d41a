/* fetch.c - reading any view of a tensor in a file, without mapping it.
 *
 * The loops of the view, longest step in the file first, are cut into pieces that fill a stage
 * in memory.  Inner axes whose gaps are small are "near": one read takes them with their gaps.
 * From each full stage one tn_rearrange carries the elements to dst, so that transposing is done
 * by the copy engine and not by reads; the axis along which dst is dense always has a piece of
 * some lines, so that no line of dst is visited for one element. */
#include <string.h>

#include <tenon/copy.h>

#include "nest/nest.h"

#include "stream.h"

enum {
    GAP = 4096, /* bytes that are read and dropped rather than skipped: a page is read anyway */
    LINES = 128 /* bytes of dst along its dense axis in one stage: two lines, the least that
                 * lets a copy store whole ones whatever the address */
};

enum { TO, FROM, OPERANDS }; /* dst and the file, the operands of the nest */

typedef struct fetch {
    const tn_file *f;
    const tni_entry *e;
    tni_nest nest;
    char *dst;  /* the first address */
    int64_t at; /* of the first element in the file */
    int64_t width;
    bool near[TN_MAX_NDIM];
    int64_t piece[TN_MAX_NDIM];  /* indices in one stage */
    int64_t staged[TN_MAX_NDIM]; /* step in the stage */
    char *stage;
    int64_t bytes; /* of the stage */
} fetch;

/* The axis along which dst is dense, or nearest to it; -1 when no axis reads. */
static int dense_axis(const tni_nest *nest)
{
    int best = -1;
    for (int j = 0; j < nest->ndim && nest->axis[j].step[FROM] > 0; j++)
        if (best < 0 ||
            tni_magnitude(nest->axis[j].step[TO]) < tni_magnitude(nest->axis[best].step[TO]))
            best = j;
    return best;
}

/* Pieces and steps of all axes; axis `wide` has `lines` indices and is never near.  A broadcast
 * axis, whose step in the file is 0, takes no part: all of it is in every stage. */
static void divide(fetch *w, int wide, int64_t lines)
{
    int64_t inside = w->width, capacity = tni_stage / lines;
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
        w->piece[j] = j == wide ? lines : !full ? 1 : most < a->n ? most : a->n;
        full = full && (j == wide || w->piece[j] == a->n);
        inside += w->staged[j] * (w->piece[j] - 1);
        if (j == wide)
            capacity *= lines;
    }
    w->bytes = inside;
}

/* Let the stage hold some lines of dst, if it does not anyway. */
static void plan_stage(fetch *w)
{
    const int wide = dense_axis(&w->nest);
    divide(w, -1, 1);
    if (wide < 0)
        return;
    const int64_t n = w->nest.axis[wide].n, most = LINES / w->width;
    const int64_t lines = most < n ? most : n;
    if (w->piece[wide] < lines && tni_stage / lines >= 64) /* tests have smaller stages */
        divide(w, wide, lines);
    ASSERT(w->bytes <= tni_stage || w->bytes == w->width || tni_stage < 4096);
}

/* Read the pieces of n[j] indices from `first` on: one read for each index of the axes that are
 * not near. */
static tn_status fill(const fetch *w, int64_t first, const int64_t *n)
{
    tni_axis axes[TN_MAX_NDIM];
    tni_walk walk;
    int64_t unit = w->width;
    int m = 0;
    for (int j = 0; j < w->nest.ndim; j++) {
        const int64_t step = w->nest.axis[j].step[FROM];
        if (w->near[j])
            unit += step * (n[j] - 1);
        else
            axes[m++] = (tni_axis){.n = n[j], .step = {step, w->staged[j]}};
    }
    tni_walk_seek(&walk, axes, m, OPERANDS, 0);
    do
        TRY(tni_file_bytes(w->f, w->stage + walk.offset[1], unit, first + walk.offset[0]));
    while (tni_walk_next(&walk) < m);
    return TN_OK;
}

/* Carry the stage to its elements in dst. */
static tn_status carry(const fetch *w, char *dst, const int64_t *n)
{
    tn_tensor d = {.data = dst, .dtype = w->e->dtype, .ndim = w->nest.ndim}, s = d;
    s.data = w->stage;
    for (int j = 0; j < d.ndim; j++) {
        d.shape[j] = s.shape[j] = n[j];
        d.stride[j] = w->nest.axis[j].step[TO];
        s.stride[j] = w->staged[j];
    }
    return tn_rearrange(&d, &s);
}

/* Stage by stage: the pieces of every axis are loops themselves. */
static tn_status run(const fetch *w)
{
    const tni_nest *nest = &w->nest;
    tni_axis axes[TN_MAX_NDIM];
    tni_walk walk;
    for (int j = 0; j < nest->ndim; j++)
        axes[j] = (tni_axis){.n = tni_pieces(nest->axis[j].n, w->piece[j]),
                             .step = {w->piece[j] * nest->axis[j].step[TO],
                                      w->piece[j] * nest->axis[j].step[FROM]}};
    tni_walk_seek(&walk, axes, nest->ndim, OPERANDS, 0);
    do {
        int64_t n[TN_MAX_NDIM];
        for (int j = 0; j < nest->ndim; j++) {
            const int64_t left = nest->axis[j].n - walk.at[j] * w->piece[j];
            n[j] = left < w->piece[j] ? left : w->piece[j];
        }
        TRY(fill(w, w->at + walk.offset[FROM], n));
        if (w->e->swapped)
            tni_swap(w->stage, w->bytes / tni_width(w->e->dtype), w->e->dtype);
        TRY(TNI_NEVER(carry(w, w->dst + walk.offset[TO], n)));
    } while (tni_walk_next(&walk) < nest->ndim);
    return TN_OK;
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
    TRY(tni_same_shape(dst, src, "file_fetch"));
    TRY(tni_check_injective(dst, "file_fetch"));
    TRY(tni_check_data(dst, "file_fetch: dst"));
    return tni_check_data(src, "file_fetch: places");
}

/* Place of src's first element in the file; all its elements lie inside e. */
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

tn_status tn_file_fetch(const tn_file *f, int64_t i, const tn_tensor *dst,
                        const tn_tensor *places)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(&f, i, "file_fetch", &e));
    TRY(check(e, dst, places));
    if (tni_numel(dst) == 0)
        return TN_OK;
    int64_t at;
    TRY(tni_fetch_locate(f, e, places, &at));
    if (tn_is_contiguous(places) && tn_is_contiguous(dst)) {
        TRY(tni_file_bytes(f, dst->data, tn_nbytes(dst), at));
        if (e->swapped)
            tni_swap(dst->data, tni_numel(dst), e->dtype);
        return TN_OK;
    }
    fetch w = {.f = f, .e = e, .width = tni_width(places->dtype)};
    tni_nest_build(&w.nest, OPERANDS, (const tn_tensor *[]){dst, places},
                   &(tni_nest_rules){.lead = FROM});
    w.dst = (char *)dst->data + w.nest.shift[TO];
    w.at = at + w.nest.shift[FROM];
    plan_stage(&w);
    w.stage = tni_alloc((size_t)w.bytes);
    if (!w.stage)
        return tni_no_memory(f->path, w.bytes);
    tn_status status = run(&w);
    tni_free(w.stage);
    return status;
}
