/* runs.c - cutting the sequences of a reduction into runs and windows that fit into memory.
 *
 * A window is a box of the axes that are not folded.  A run is part of its sequences: a power
 * of two of blocks, aligned to its length.  The state of a run does not depend on its length,
 * so that neither memory nor threads change a bit. */
#include <stdlib.h>
#include <string.h>

#include "stream.h"

/* ---- axes and cuts ---- */

static bool folds(const tni_runs *r, int axis)
{
    return r->folded >> axis & 1;
}

/* Order the axes; if the order of elements does not matter, folded axes are sorted by their
 * step in the file. */
static void order_axes(tni_runs *r, bool ordered)
{
    const tn_tensor *v = &r->source->view;
    r->nfold = r->nmap = 0;
    for (int i = 0; i < v->ndim; i++) {
        if (!folds(r, i)) {
            r->map[r->nmap++] = i;
            continue;
        }
        int j = r->nfold++;
        for (; !ordered && j > 0 && llabs(v->stride[r->fold[j - 1]]) < llabs(v->stride[i]); j--)
            r->fold[j] = r->fold[j - 1];
        r->fold[j] = i;
    }
}

/* True if neighbours in the file belong to different results. */
static bool map_is_near(const tni_runs *r)
{
    const tn_tensor *v = &r->source->view;
    int near = -1;
    for (int i = 0; i < v->ndim; i++)
        if (v->shape[i] > 1 && v->stride[i] &&
            (near < 0 || llabs(v->stride[i]) < llabs(v->stride[near])))
            near = i;
    return near >= 0 && !folds(r, near);
}

/* Choose the windows and the length of runs for pieces of `bytes` bytes. */
static void cut(tni_runs *r, int64_t bytes)
{
    const int64_t width = tni_width(r->source->view.dtype);
    int64_t shape[TN_MAX_NDIM], w = 1;
    tni_box first;
    r->run = TNI_TREE_BLOCK;
    if (r->near) {
        w = bytes / (width * (r->count < r->run ? r->count + 1 : r->run) + r->each);
        w = w < r->outputs ? w : r->outputs;
        w = w > 1 ? w : 1;
    }
    while (r->run < r->count && r->run <= bytes / (2 * width * w))
        r->run *= 2;
    if (!r->near && r->run >= r->count)
        w = bytes / (width * (r->count + 1) + r->each);
    for (int i = 0; i < r->nmap; i++)
        shape[i] = r->source->view.shape[r->map[i]];
    tni_boxes_cut(&r->windows, r->nmap, shape, w > 1 ? w : 1);
    if (r->outputs)
        tni_boxes_get(&r->windows, 0, &first);
    r->window = r->outputs ? tni_shape_count(r->nmap, first.n) : 0;
    r->runs = r->count > r->run ? (r->count - 1) / r->run + 1 : 1;
    r->piece = (r->count < r->run ? r->count : r->run) * r->window * width;
}

/* Bytes of the shortest contiguous read of the first piece. */
static int64_t shortest_read(const tni_runs *r)
{
    const tn_tensor *v = &r->source->view;
    int64_t n[TN_MAX_NDIM], left = r->run;
    tni_box first;
    tni_boxes_get(&r->windows, 0, &first);
    for (int i = 0; i < r->nmap; i++)
        n[r->map[i]] = first.n[i];
    for (int i = r->nfold - 1; i >= 0; i--) {
        const int64_t extent = v->shape[r->fold[i]];
        n[r->fold[i]] = left < extent ? left : extent;
        left = extent ? left / extent : 1;
        left = left > 1 ? left : 1;
    }
    return tni_span(v, n);
}

void tni_runs_plan(tni_runs *r, const tn_stream_source *source, uint64_t folded, bool ordered,
                   int64_t each, int64_t bytes)
{
    const int64_t all = tni_span(&source->view, source->view.shape);
    *r = (tni_runs){.source = source, .folded = folded, .each = each, .count = 1, .outputs = 1};
    for (int i = 0; i < source->view.ndim; i++)
        *(folds(r, i) ? &r->count : &r->outputs) *= source->view.shape[i];
    order_axes(r, ordered);
    r->near = map_is_near(r);
    const int64_t most = bytes > TNI_BOX_SHORT ? bytes : TNI_BOX_SHORT;
    for (int64_t take = bytes < TNI_BOX_USUAL ? bytes : TNI_BOX_USUAL;; take *= 2) {
        cut(r, take < most ? take : most);
        r->span = r->outputs ? shortest_read(r) : 0;
        if (take >= most || r->span >= TNI_ENOUGH_READ || r->span >= all)
            return;
    }
}

/* ---- reading ---- */

/* The strides of a dense piece: along a sequence or, if results are near in the file, along
 * them. */
static void piece_strides(const tni_runs *r, int64_t n, int64_t w, int64_t *step)
{
    const int64_t width = tni_width(r->source->view.dtype);
    step[0] = r->near ? w * width : width;
    step[1] = r->near ? width : n * width;
}

/* The largest box of the source that begins at element `at` of the sequences and has at most n
 * of their elements; returns how many it has, and its range along the folded axes. */
static int64_t next_box(const tni_runs *r, int64_t at, int64_t n, int64_t *first,
                        int64_t *extent)
{
    const int64_t *shape = r->source->view.shape;
    int64_t inside = 1;
    bool whole = true;
    for (int i = r->nfold - 1; i >= 0; i--) {
        const int axis = r->fold[i];
        const int64_t here = at % shape[axis], left = shape[axis] - here;
        const int64_t most = n / inside < left ? n / inside : left;
        first[axis] = here;
        extent[axis] = whole && most > 1 ? most : 1;
        whole = whole && extent[axis] == shape[axis];
        inside *= extent[axis];
        at /= shape[axis];
    }
    return inside;
}

tn_status tni_runs_read(const tni_runs *r, const tni_box *window, int64_t run, char *to,
                        tn_tensor *piece)
{
    const tn_tensor *v = &r->source->view;
    const int64_t at = run * r->run, n = r->count - at < r->run ? r->count - at : r->run;
    const int64_t w = tni_shape_count(r->nmap, window->n);
    int64_t first[TN_MAX_NDIM], extent[TN_MAX_NDIM], step[2];
    tni_inherit(piece, v, to, 2);
    piece->flags = 0;
    piece_strides(r, n, w, step);
    tni_set_axis(piece, 0, n, step[0]);
    tni_set_axis(piece, 1, w, step[1]);
    for (int i = 0; i < r->nmap; i++) {
        first[r->map[i]] = window->at[i];
        extent[r->map[i]] = window->n[i];
    }
    for (int64_t done = 0, m; done < n && w > 0; done += m) {
        tn_tensor d;
        m = next_box(r, at + done, n - done, first, extent);
        tni_inherit(&d, piece, to + done * step[0], v->ndim);
        int64_t inner = step[1];
        for (int i = r->nmap - 1; i >= 0; i--) {
            tni_set_axis(&d, r->map[i], extent[r->map[i]], inner);
            inner *= extent[r->map[i]];
        }
        inner = step[0];
        for (int i = r->nfold - 1; i >= 0; i--) {
            tni_set_axis(&d, r->fold[i], extent[r->fold[i]], inner);
            inner *= extent[r->fold[i]];
        }
        TRY(tni_source_read(r->source, &d, first, NULL));
    }
    return TN_OK;
}
