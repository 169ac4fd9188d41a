/* einsum_tiles.c - how tenon einsum cuts its work, and computes a box of the result.
 *
 * The result, and sums that are long, are cut into tiles by shapes alone, and each tile is
 * computed from dense copies of the parts of the sources that it needs: bytes depend neither on
 * --max-mem nor on how the files lay their elements out.  A box of the stream is a row of tiles;
 * more memory makes boxes longer, so that sources are read less often. */
#include <string.h>

#include "einsum.h"

enum {
    TILE_BYTES = 2 << 20, /* of a tile's part of one source: both sources of a gemm then stay
                           * in the caches of a Zen 4 core and its share of L3 */
    ROW_BYTES = 2 << 20,  /* of the part of the result that a row of tiles needs */
    TILE_MOST = 256,      /* extent of a tile along the axis that boxes are cut along */
    TILE_LEAST = 64, /* extents that are kept as long as a sum can be cut instead: thinner */
    SUM_LEAST = 1024 /* gemms are slow, and each piece of a sum is added to the result once */
};

/* ---- axes ---- */

/* Whether axis i of source k has a name with axis j of source l: extents 2 and 3 do not fit. */
static bool same_name(const einsum_job *e, tn_tensor *probe, const tn_tensor *const *srcs,
                      const int axis[2], const int other[2])
{
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    int64_t *x = &probe[axis[0]].shape[axis[1]], *y = &probe[other[0]].shape[other[1]];
    *x = 2;
    *y = 3;
    const bool fits = tn_einsum_shape(e->spec, e->n, srcs, &ndim, shape) == TN_OK;
    *x = *y = 1;
    return !fits;
}

/* Every extent is 1 but that of one axis, which is 2, and so is that of the result's axis of its
 * name.  Axes of extent 1 repeat, and have none. */
int einsum_match(einsum_job *e)
{
    tn_tensor probe[TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    int64_t shape[TN_MAX_NDIM];
    int ndim, first[EINSUM_AXES][2]; /* the first axis of each summed name */
    for (int k = 0; k < e->n; k++) {
        probe[k] = e->f[k].in.t;
        for (int i = 0; i < probe[k].ndim; i++)
            probe[k].shape[i] = 1;
        srcs[k] = &probe[k];
    }
    e->naxes = e->out.ndim;
    for (int i = 0; i < e->naxes; i++)
        e->extent[i] = e->out.shape[i];
    for (int k = 0; k < e->n; k++)
        for (int i = 0; i < probe[k].ndim; i++) {
            int *of = &e->f[k].of[i], o = 0;
            *of = -1;
            if (e->f[k].in.t.shape[i] == 1)
                continue;
            probe[k].shape[i] = 2;
            LIB(tn_einsum_shape(e->spec, e->n, srcs, &ndim, shape));
            probe[k].shape[i] = 1;
            while (o < ndim && shape[o] != 2)
                o++;
            const int axis[] = {k, i};
            while (o >= ndim && o < e->naxes && !same_name(e, probe, srcs, axis, first[o]))
                o++;
            if (o == e->naxes) {
                e->naxes++;
                memcpy(first[o], axis, sizeof axis);
                e->extent[o] = e->f[k].in.t.shape[i];
            }
            *of = o;
        }
    return DONE;
}

/* ---- tiles, by shapes alone ---- */

static double part_bytes(const einsum_job *e, int k)
{
    const tn_tensor *t = &e->f[k].in.t;
    double bytes = (double)tn_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        bytes *= (double)(e->f[k].of[i] < 0 ? 1 : e->tile[e->f[k].of[i]]);
    return bytes;
}

/* Halve the longest axis of source k in [first, last) that is longer than `least`. */
static bool halve(einsum_job *e, int k, int first, int last, int64_t least)
{
    int longest = -1;
    for (int i = 0; i < e->f[k].in.t.ndim; i++) {
        const int o = e->f[k].of[i];
        if (o >= first && o < last && e->tile[o] > least &&
            (longest < 0 || e->tile[o] > e->tile[longest]))
            longest = o;
    }
    if (longest >= 0)
        e->tile[longest] = (e->tile[longest] + 1) / 2;
    return longest >= 0;
}

/* Cut tiles until their part of source k is small. */
static void cut_tiles(einsum_job *e, int k)
{
    const int kept = e->out.ndim, all = e->naxes;
    while (part_bytes(e, k) > TILE_BYTES)
        if (!halve(e, k, 0, kept, TILE_LEAST) && !halve(e, k, kept, all, SUM_LEAST) &&
            !halve(e, k, 0, kept, 1) && !halve(e, k, kept, all, 1))
            return;
}

/* Pieces that axis o is cut into. */
static int64_t pieces(int64_t n, int64_t each)
{
    return n ? (n - 1) / each + 1 : 0;
}

static bool sums_are_cut(const einsum_job *e)
{
    for (int o = e->out.ndim; o < e->naxes; o++)
        if (e->tile[o] < e->extent[o])
            return true;
    return false;
}

/* Pieces of sums are kept in f32 where the result has fewer bits. */
static bool sums_are_wider(const einsum_job *e)
{
    return sums_are_cut(e) && e->out.dtype >= TN_F8E4M3 && e->out.dtype <= TN_BF16;
}

void einsum_cut(einsum_job *e, int64_t max_mem)
{
    double rest = (double)tn_dtype_size(e->out.dtype), row;
    e->along = e->out.ndim - 1;
    while (e->along > 0 && rest * (double)e->out.shape[e->along] <= ROW_BYTES)
        rest *= (double)e->out.shape[e->along--];
    for (int i = 0; i < e->naxes; i++)
        e->tile[i] = i < e->along ? 1 : e->extent[i];
    int64_t most = rest > 0 ? (int64_t)(ROW_BYTES / rest) : TILE_MOST;
    most = most < 1 ? 1 : most > TILE_MOST ? TILE_MOST : most;
    if (e->along >= 0 && e->tile[e->along] > most)
        e->tile[e->along] = most;
    for (int k = 0; k < e->n; k++)
        cut_tiles(e, k);
    for (int i = 0; i < e->naxes; i++)
        e->tile[i] = e->tile[i] < 1 ? 1 : e->tile[i];
    row = rest * (double)(e->along < 0 ? 1 : e->tile[e->along]);
    row *= sums_are_wider(e) ? 1 + 4 / (double)tn_dtype_size(e->out.dtype) : 1;
    for (int k = 0; k < e->n; k++)
        row += 2 * part_bytes(e, k);
    e->box = (int64_t)((double)tn_stream_budget(max_mem) / 2 / (row > 1 ? row : 1));
    e->box = e->box < 1 ? 1 : e->box;
}

/* How often the windows of sources without axis o are used for it. */
static double steps_along(const einsum_job *e, int o)
{
    const int64_t each = o < e->along ? 1 : o == e->along ? e->box * e->tile[o] : e->tile[o];
    return (double)pieces(e->extent[o], each);
}

double einsum_boxes(const einsum_job *e)
{
    double boxes = 1;
    for (int o = 0; o <= e->along; o++)
        boxes *= steps_along(e, o);
    return boxes;
}

int64_t einsum_work(const einsum_job *e)
{
    double bytes = 0;
    for (int k = 0; k < e->n; k++) {
        const factor *f = &e->f[k];
        double own = (double)tn_nbytes(&f->in.t);
        for (int o = 0; o < e->naxes; o++) {
            bool has = false;
            for (int i = 0; i < f->in.t.ndim; i++)
                has |= f->of[i] == o;
            own *= has ? 1 : steps_along(e, o);
        }
        bytes += own;
    }
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}

/* ---- computing ---- */

static tn_status reallocate(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_free(t);
    return tn_alloc(t, dtype, ndim, shape);
}

/* Read the part of a source that indices [at, at + n) of all axes need, unless it is there. */
static tn_status read_window(factor *f, const int64_t *at, const int64_t *n)
{
    const tn_tensor *t = &f->in.t;
    int64_t first[TN_MAX_NDIM], count[TN_MAX_NDIM];
    bool same = f->held;
    for (int i = 0; i < t->ndim; i++) {
        first[i] = f->of[i] < 0 ? 0 : at[f->of[i]];
        count[i] = f->of[i] < 0 ? 1 : n[f->of[i]];
        same = same && f->at[i] == first[i] && f->n[i] == count[i];
    }
    if (same)
        return TN_OK;
    tn_tensor part;
    f->held = false;
    tn_status status = reallocate(&f->window, t->dtype, t->ndim, count);
    if (status == TN_OK)
        status = tn_view(&part, t, count, first, NULL, 0);
    if (status == TN_OK && f->in.in_memory)
        status = tn_rearrange(&f->window, &part);
    else if (status == TN_OK)
        status = tn_file_fetch(f->in.spilled ? f->in.unpacked : f->in.from->f,
                               f->in.spilled ? 0 : f->in.i, &f->window, &part);
    for (int i = 0; i < t->ndim; i++) {
        f->at[i] = first[i];
        f->n[i] = count[i];
    }
    f->held = status == TN_OK;
    return status;
}

/* The part of the window that [first, first + n) of axis `along` needs, dense. */
static tn_status cut_window(factor *f, int along, int64_t first, int64_t n,
                            const tn_tensor **out)
{
    tn_tensor part = f->window;
    bool cut = false;
    for (int i = 0; i < part.ndim; i++)
        if (f->of[i] == along && (first || n != part.shape[i])) {
            const tn_status status = tn_slice(&part, &part, i, first, first + n, 1);
            if (status != TN_OK)
                return status;
            cut = true;
        }
    *out = &f->window;
    if (!cut)
        return TN_OK;
    tn_status status = reallocate(&f->tile, part.dtype, part.ndim, part.shape);
    *out = &f->tile;
    return status == TN_OK ? tn_rearrange(&f->tile, &part) : status;
}

/* One tile: a product, or a piece of its sums that is added to those before. */
static tn_status make_tile(einsum_job *e, const tn_tensor *dst, const tn_tensor *const *srcs,
                           bool first)
{
    if (first)
        return tn_einsum(dst, e->spec, e->n, srcs);
    const tn_op op = dst->dtype == TN_BOOL ? TN_LOGICAL_OR : TN_ADD;
    tn_status status = reallocate(&e->addend, dst->dtype, dst->ndim, dst->shape);
    if (status == TN_OK)
        status = tn_einsum(&e->addend, e->spec, e->n, srcs);
    return status == TN_OK
               ? tn_apply(op, NULL, dst, 2, (const tn_tensor *const[]){dst, &e->addend})
               : status;
}

/* One column of tiles in a box: windows are read once, and cut along the box's axis.  [at, at +
 * n) are indices of all axes; inside is where dst has them. */
static tn_status make_column(einsum_job *e, const tn_tensor *dst, const int64_t *at,
                             const int64_t *n, const int64_t *inside, bool first)
{
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    tn_status status = TN_OK;
    for (int k = 0; k < e->n && status == TN_OK; k++) {
        status = read_window(&e->f[k], at, n);
        e->done += tn_nbytes(&e->f[k].window);
    }
    const int64_t all = e->along < 0 ? 1 : n[e->along],
                  each = e->along < 0 ? 1 : e->tile[e->along];
    for (int64_t i = 0; i < all && status == TN_OK; i += each) {
        int64_t from[TN_MAX_NDIM], count[TN_MAX_NDIM];
        for (int o = 0; o < dst->ndim; o++) {
            from[o] = inside[o] + (o == e->along ? i : 0);
            count[o] = o == e->along && all - i < each ? all - i : o == e->along ? each : n[o];
        }
        tn_tensor part;
        status = tn_view(&part, dst, count, from, NULL, 0);
        for (int k = 0; k < e->n && status == TN_OK; k++)
            status =
                cut_window(&e->f[k], e->along, i, e->along < 0 ? 1 : count[e->along], &srcs[k]);
        if (status == TN_OK)
            status = make_tile(e, &part, srcs, first);
    }
    progress_at(e->done);
    return status;
}

/* The next column of a box, then the next piece of the sums; false: that was the last. */
static bool next_column(const einsum_job *e, const tn_tensor *dst, int64_t *inside)
{
    for (int i = e->out.ndim - 1; i > e->along; i--) {
        inside[i] += e->tile[i];
        if (inside[i] < dst->shape[i])
            return true;
        inside[i] = 0;
    }
    for (int i = e->naxes - 1; i >= e->out.ndim; i--) {
        inside[i] += e->tile[i];
        if (inside[i] < e->extent[i])
            return true;
        inside[i] = 0;
    }
    return false;
}

static tn_status make_columns(einsum_job *e, const tn_tensor *dst, const int64_t *at)
{
    int64_t inside[EINSUM_AXES] = {0}, from[EINSUM_AXES], n[EINSUM_AXES];
    do {
        bool first = true; /* piece of the sums */
        for (int o = 0; o < e->naxes; o++) {
            const bool kept = o < dst->ndim;
            const int64_t left = (kept ? dst->shape[o] : e->extent[o]) - inside[o];
            from[o] = (kept ? at[o] : 0) + inside[o];
            n[o] = o <= e->along || left < e->tile[o] ? left : e->tile[o];
            first = first && (kept || inside[o] == 0);
        }
        const tn_status status = make_column(e, dst, from, n, inside, first);
        if (status != TN_OK)
            return status;
    } while (next_column(e, dst, inside));
    return TN_OK;
}

tn_status einsum_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    einsum_job *e = user;
    if (!sums_are_wider(e))
        return make_columns(e, dst, at);
    tn_status status = reallocate(&e->sums, TN_F32, dst->ndim, dst->shape);
    if (status == TN_OK)
        status = make_columns(e, &e->sums, at);
    return status == TN_OK ? tn_cast(dst, &e->sums) : status;
}
