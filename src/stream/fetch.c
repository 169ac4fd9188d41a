/* fetch.c - reading any view of a tensor in a file, without mapping it.
 *
 * The axes of the view, longest step first, are cut into pieces that fill a stage in memory.
 * Inner axes whose gaps are small are "near": one read takes them with their gaps.  From each
 * full stage one tn_rearrange carries the elements to dst, so that transposing is done by the copy
 * engine and not by reads; the axis along which dst is dense always has a piece of some lines,
 * so that no line of dst is visited for one element. */
#include <stdlib.h>
#include <string.h>

#include <tenon/copy.h>

#include "stream.h"

enum { GAP = 4096, LINES = 128 };

typedef struct axis {
    int dim;
    bool near;
    int64_t n, step; /* in the file */
    int64_t piece;   /* indices in one stage */
    int64_t staged;  /* step in the stage */
} axis;

typedef struct walk {
    const tn_file *f;
    const tni_entry *e;
    tn_tensor src, dst; /* flipped so that no step of src is negative */
    int64_t at;         /* of src's first element in the file */
    int m;
    axis axes[TN_MAX_NDIM];
    int64_t start[TN_MAX_NDIM], count[TN_MAX_NDIM]; /* of the present stage */
    char *stage;
} walk;

static int by_step(const void *a, const void *b)
{
    const axis *x = a, *y = b;
    return x->step != y->step ? (x->step < y->step ? 1 : -1) : x->dim - y->dim;
}

/* The axes that matter, steps made positive. */
static tn_status collect(walk *w)
{
    for (int i = 0; i < w->src.ndim; i++) {
        if (w->src.stride[i] < 0) {
            TRY(TNI_NEVER(tn_flip(&w->src, &w->src, i)));
            TRY(TNI_NEVER(tn_flip(&w->dst, &w->dst, i)));
        }
        if (w->src.shape[i] > 1 && w->src.stride[i] > 0)
            w->axes[w->m++] =
                (axis){.dim = i, .n = w->src.shape[i], .step = w->src.stride[i], .piece = 1};
    }
    qsort(w->axes, (size_t)w->m, sizeof w->axes[0], by_step);
    return TN_OK;
}

/* The axis along which dst is dense, or nearest to it. */
static int dense_axis(const walk *w)
{
    int best = -1;
    for (int j = 0; j < w->m; j++)
        if (best < 0 ||
            llabs(w->dst.stride[w->axes[j].dim]) < llabs(w->dst.stride[w->axes[best].dim]))
            best = j;
    return best;
}

/* Pieces and steps of all axes; axis `wide` has `lines` indices and is never near.
 * Gives the bytes of the stage. */
static int64_t divide(walk *w, int wide, int64_t lines)
{
    int64_t inside = tni_width(w->src.dtype), capacity = tni_stage / lines;
    bool near = true, full = true;
    for (int j = w->m - 1; j >= 0; j--) {
        axis *a = &w->axes[j];
        bool apart = j == wide;
        near = near && !apart && (a->step / 2 <= inside || a->step - inside <= GAP);
        a->near = near && full;
        a->staged = a->near ? a->step : inside;
        int64_t most = capacity > inside ? (capacity - inside) / a->staged + 1 : 1;
        a->piece = apart ? lines : !full ? 1 : most < a->n ? most : a->n;
        if (!apart)
            full = full && a->piece == a->n;
        inside += a->staged * (a->piece - 1);
        if (apart)
            capacity *= lines;
    }
    return inside;
}

/* Let the stage hold some lines of dst, if it does not anyway. */
static int64_t plan_stage(walk *w)
{
    int wide = dense_axis(w);
    int64_t width = tni_width(w->src.dtype), bytes = divide(w, -1, 1);
    if (wide < 0 || w->axes[wide].piece * width >= LINES ||
        w->axes[wide].piece == w->axes[wide].n)
        return bytes;
    int64_t lines = LINES / width < w->axes[wide].n ? LINES / width : w->axes[wide].n;
    return tni_stage / lines < 64 ? bytes : divide(w, wide, lines); /* tests have such stages */
}

/* Read the present piece of every axis. */
static tn_status fill(const walk *w)
{
    int64_t index[TN_MAX_NDIM] = {0}, unit = tni_width(w->src.dtype), first = w->at;
    for (int j = 0; j < w->m; j++) {
        first += w->start[j] * w->axes[j].step;
        if (w->axes[j].near)
            unit += w->axes[j].step * (w->count[j] - 1);
    }
    for (;;) {
        int64_t from = first, to = 0;
        int j;
        for (j = 0; j < w->m; j++)
            if (!w->axes[j].near) {
                from += index[j] * w->axes[j].step;
                to += index[j] * w->axes[j].staged;
            }
        TRY(tni_file_bytes(w->f, w->stage + to, unit, from));
        for (j = w->m - 1; j >= 0; j--) {
            if (w->axes[j].near)
                continue;
            if (++index[j] < w->count[j])
                break;
            index[j] = 0;
        }
        if (j < 0)
            return TN_OK;
    }
}

/* Carry the stage to where it belongs in dst. */
static tn_status carry(const walk *w)
{
    tn_tensor d = w->dst, s = w->src;
    int64_t to = 0;
    s.data = w->stage;
    for (int j = 0; j < w->m; j++) {
        int dim = w->axes[j].dim;
        s.stride[dim] = w->axes[j].staged;
        s.shape[dim] = d.shape[dim] = w->count[j];
        to += w->start[j] * d.stride[dim];
    }
    d.data = (char *)d.data + to;
    return tn_rearrange(&d, &s);
}

static bool next_stage(walk *w)
{
    for (int j = w->m - 1; j >= 0; j--) {
        w->start[j] += w->axes[j].piece;
        if (w->start[j] < w->axes[j].n)
            return true;
        w->start[j] = 0;
    }
    return false;
}

static tn_status run(walk *w, int64_t stage)
{
    do {
        for (int j = 0; j < w->m; j++) {
            int64_t left = w->axes[j].n - w->start[j];
            w->count[j] = left < w->axes[j].piece ? left : w->axes[j].piece;
        }
        TRY(fill(w));
        if (w->e->swapped)
            tni_swap(w->stage, stage / tni_width(w->e->dtype), w->e->dtype);
        TRY(TNI_NEVER(carry(w)));
    } while (next_stage(w));
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
    walk w = {.f = f, .e = e, .src = *places, .dst = *dst};
    int64_t low, high;
    TRY(tni_fetch_locate(f, e, places, &w.at));
    if (tn_is_contiguous(places) && tn_is_contiguous(dst)) {
        TRY(tni_file_bytes(f, dst->data, tn_nbytes(dst), w.at));
        if (e->swapped)
            tni_swap(dst->data, tni_numel(dst), e->dtype);
        return TN_OK;
    }
    tni_extent(places, &low, &high);
    w.at += low;
    TRY(TNI_NEVER(collect(&w)));
    int64_t stage = plan_stage(&w);
    w.stage = tni_alloc((size_t)stage);
    if (!w.stage)
        return tni_no_memory(f->path, stage);
    tn_status status = run(&w, stage);
    tni_free(w.stage);
    return status;
}
