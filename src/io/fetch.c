/* fetch.c - reading any view of a tensor in a file, without mapping it.
 *
 * The axes of the view, longest step first, are cut in three.  Inner ones whose gaps are small
 * are "near": one read takes them with their gaps.  Then come axes that fill the stage read by
 * read, and outer ones that are walked stage by stage.  From each full stage one tn_rearrange
 * carries the elements to dst, so that turning is done by the copy engine and not by reads. */
#include <stdlib.h>
#include <string.h>

#include <tenon/move.h>

#include "io.h"

enum { GAP = 4096 };

typedef struct axis {
    int dim;
    bool near;
    int64_t n, step; /* in the file */
    int64_t staged;  /* step in the stage */
} axis;

typedef struct walk {
    const tn_file *f;
    const tni_entry *e;
    tn_tensor src, dst; /* flipped so that no step of src is negative */
    int64_t at;         /* of src's first element in the file */
    int m, cut;         /* axes; those before cut are walked, cut itself in pieces of `piece` */
    int64_t piece;
    int64_t unit; /* bytes of one read when cut lies outside the near axes */
    char *stage;
    axis axes[TN_MAX_NDIM];
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
            TRY(tn_flip(&w->src, &w->src, i));
            TRY(tn_flip(&w->dst, &w->dst, i));
        }
        if (w->src.shape[i] > 1 && w->src.stride[i] > 0)
            w->axes[w->m++] = (axis){i, false, w->src.shape[i], w->src.stride[i], 0};
    }
    qsort(w->axes, (size_t)w->m, sizeof w->axes[0], by_step);
    return TN_OK;
}

/* Choose near axes, the cut and its piece; gives the bytes of a stage. */
static int64_t divide(walk *w)
{
    int64_t inside = tni_width(w->src.dtype);
    bool near = true;
    w->unit = inside;
    w->cut = -1;
    for (int j = w->m - 1; j >= 0; j--) {
        axis *a = &w->axes[j];
        a->near = near = near && (a->step / 2 <= inside || a->step - inside <= GAP);
        a->staged = near ? a->step : inside;
        int64_t most = (tni_stage - inside) / a->staged + 1;
        if (most < a->n) {
            w->cut = j;
            w->piece = most;
            return a->staged * (w->piece - 1) + inside;
        }
        inside += a->staged * (a->n - 1);
        if (near)
            w->unit = inside;
    }
    return inside;
}

/* Next combination of indices below n of the axes [from, to); false after the last. */
static bool next(const walk *w, int64_t *index, int from, int to)
{
    for (int j = to - 1; j >= from; j--) {
        if (++index[j] < w->axes[j].n)
            return true;
        index[j] = 0;
    }
    return false;
}

/* Read count indices of the cut, and all inside, into the stage. */
static tn_status fill(const walk *w, int64_t at, int64_t count)
{
    int first = w->cut < 0 ? 0 : w->cut, far = first;
    while (far < w->m && !w->axes[far].near)
        far++;
    if (far == first) {
        int64_t bytes = w->unit;
        if (w->cut >= 0)
            bytes = w->axes[first].step * (count - 1) + bytes;
        return tni_file_bytes(w->f, w->stage, bytes, at);
    }
    int64_t index[TN_MAX_NDIM] = {0};
    for (int64_t i = 0; i < count; i++)
        do {
            int64_t from = at + i * w->axes[first].step, to = i * w->axes[first].staged;
            for (int j = first + 1; j < far; j++) {
                from += index[j] * w->axes[j].step;
                to += index[j] * w->axes[j].staged;
            }
            TRY(tni_file_bytes(w->f, w->stage + to, w->unit, from));
        } while (next(w, index, first + 1, far));
    return TN_OK;
}

/* Carry the stage to where it belongs in dst; outer has the indices of the walked axes. */
static tn_status carry(const walk *w, const int64_t *outer, int64_t start, int64_t count)
{
    tn_tensor d = w->dst, s = w->src;
    int64_t to = 0;
    s.data = w->stage;
    for (int j = 0; j < w->m; j++) {
        int dim = w->axes[j].dim;
        s.stride[dim] = w->axes[j].staged;
        if (j > w->cut)
            continue;
        to += (j < w->cut ? outer[j] : start) * d.stride[dim];
        s.shape[dim] = d.shape[dim] = j < w->cut ? 1 : count;
    }
    d.data = (char *)d.data + to;
    return tn_rearrange(&d, &s);
}

static tn_status run(const walk *w, int64_t stage)
{
    int64_t outer[TN_MAX_NDIM] = {0}, width = tni_width(w->e->dtype);
    int64_t n = w->cut < 0 ? 1 : w->axes[w->cut].n, piece = w->cut < 0 ? 1 : w->piece;
    int64_t step = w->cut < 0 ? 0 : w->axes[w->cut].step;
    do {
        int64_t at = w->at;
        for (int j = 0; j < w->cut; j++)
            at += outer[j] * w->axes[j].step;
        for (int64_t start = 0; start < n; start += piece) {
            int64_t count = n - start < piece ? n - start : piece;
            TRY(fill(w, at + start * step, w->cut < 0 ? (w->m ? w->axes[0].n : 1) : count));
            if (w->e->swapped)
                tni_swap(w->stage, stage / width, w->e->dtype);
            TRY(carry(w, outer, start, count));
        }
    } while (next(w, outer, 0, w->cut));
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
    TRY(tni_check_once(dst, "file_fetch"));
    TRY(tni_check_data(dst, "file_fetch: dst"));
    return tni_check_data(src, "file_fetch: places");
}

/* Place of src's first element in the file; all its elements lie inside e. */
static tn_status locate(const tn_file *f, const tni_entry *e, const tn_tensor *src, int64_t *at)
{
    int64_t low, high;
    tni_extent(src, &low, &high);
    uintptr_t base = (uintptr_t)f->places, first = (uintptr_t)src->data;
    int64_t here = base && first >= base ? (int64_t)(first - base) : -1;
    if (here < 0 || here > f->size || low < e->offset - here ||
        high > e->offset + e->nbytes - here)
        return tni_fail(TN_EARG, "%s: places leaves tensor \"%.80s\"", f->path, e->name);
    if (e->swapped)
        for (int i = 0; i < src->ndim; i++)
            if (src->stride[i] % tni_width(e->dtype) != 0)
                return tni_fail(TN_EUNSUPPORTED, "%s: axis %d of places steps between elements",
                                f->path, i);
    *at = here;
    return TN_OK;
}

tn_status tn_file_fetch(const tn_file *f, int64_t i, const tn_tensor *dst,
                        const tn_tensor *places)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(f, i, "file_fetch", &e));
    TRY(check(e, dst, places));
    if (tni_numel(dst) == 0)
        return TN_OK;
    walk w = {.f = f, .e = e, .src = *places, .dst = *dst};
    int64_t low, high;
    TRY(locate(f, e, places, &w.at));
    if (tn_is_contiguous(places) && tn_is_contiguous(dst)) {
        TRY(tni_file_bytes(f, dst->data, tn_nbytes(dst), w.at));
        if (e->swapped)
            tni_swap(dst->data, tni_numel(dst), e->dtype);
        return TN_OK;
    }
    tni_extent(places, &low, &high);
    w.at += low;
    TRY(collect(&w));
    int64_t stage = divide(&w);
    w.stage = tni_alloc((size_t)stage);
    if (!w.stage)
        return tni_no_memory(f->path, stage);
    tn_status status = run(&w, stage);
    tni_free(w.stage);
    return status;
}
