/* stream_tiles.c - cutting an einsum whose operands exceed memory into tiles.
 *
 * The result, and sums that are long, are cut into tiles by shapes alone: the bytes of the
 * result depend neither on max_mem nor on the strides of the sources.  A box of the stream is a
 * row of tiles; more memory makes boxes longer, so that sources are read less often. */
#include "stream_tiles.h"

#include <string.h>

enum {
    /* A tile's part of one source: both sources of a gemm then fit the caches of a Zen 4 core
     * and its share of L3. */
    TILE_BYTES = 2 << 20,
    ROW_BYTES = 2 << 20, /* the part of the result that belongs to a row of tiles */
    TILE_MOST = 256,     /* extent of a tile along the axis that boxes are cut along */
    /* Axes of the result are not cut below TILE_LEAST while a sum can be cut instead, because
     * thin gemms are slow; sums not below SUM_LEAST, because each part of a sum is added to the
     * result. */
    TILE_LEAST = 64,
    SUM_LEAST = 1024
};

/* ---- axes ---- */

/* Sources whose extents are all 1, which fit each other whatever the spec. */
typedef struct probes {
    tn_tensor of[TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    int first[TNI_STREAM_AXES][2]; /* an axis with each summed name */
} probes;

/* True if axis i of source k and axis j of source l have the same name: extents 2 and 3 then
 * fail. */
static bool same_name(const tni_stream_tiles *t, probes *p, const int axis[2],
                      const int other[2])
{
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    int64_t *x = &p->of[axis[0]].shape[axis[1]], *y = &p->of[other[0]].shape[other[1]];
    *x = 2;
    *y = 3;
    const bool fits = tn_einsum_shape(t->spec, t->n, p->srcs, &ndim, shape) == TN_OK;
    *x = *y = 1;
    return !fits;
}

/* Find the axis that axis i of source k is matched with: with extent 2 for this axis and 1 for
 * all others, the result has extent 2 at the axis of the same name. */
static tn_status match_axis(tni_stream_tiles *t, probes *p, int k, int i)
{
    const int axis[] = {k, i};
    int64_t shape[TN_MAX_NDIM];
    int ndim, o = 0;
    p->of[k].shape[i] = 2;
    TRY(tn_einsum_shape(t->spec, t->n, p->srcs, &ndim, shape));
    p->of[k].shape[i] = 1;
    while (o < ndim && shape[o] != 2)
        o++;
    while (o >= ndim && o < t->naxes && !same_name(t, p, axis, p->first[o]))
        o++;
    if (o == t->naxes) {
        t->naxes++;
        memcpy(p->first[o], axis, sizeof axis);
        t->extent[o] = t->src[k]->shape[i];
    }
    t->of[k][i] = o;
    return TN_OK;
}

/* Axes of extent 1 are broadcast and need no name here. */
tn_status tni_stream_tiles_match(tni_stream_tiles *t)
{
    probes *p = tni_alloc(sizeof *p);
    tn_status status = TN_OK;
    if (!p)
        return tni_fail(TN_ENOMEM, "stream: cannot allocate memory for the axes of an einsum");
    for (int k = 0; k < t->n; k++) {
        p->of[k] = *t->src[k];
        for (int i = 0; i < p->of[k].ndim; i++)
            p->of[k].shape[i] = 1;
        p->srcs[k] = &p->of[k];
    }
    t->naxes = t->out->ndim;
    for (int i = 0; i < t->naxes; i++)
        t->extent[i] = t->out->shape[i];
    for (int k = 0; k < t->n; k++)
        for (int i = 0; i < p->of[k].ndim && status == TN_OK; i++) {
            t->of[k][i] = -1;
            if (t->src[k]->shape[i] != 1)
                status = match_axis(t, p, k, i);
        }
    tni_free(p);
    return status;
}

/* ---- tiles, from shapes alone ---- */

static double part_bytes(const tni_stream_tiles *t, int k)
{
    double bytes = (double)tni_width(t->src[k]->dtype);
    for (int i = 0; i < t->src[k]->ndim; i++)
        bytes *= (double)(t->of[k][i] < 0 ? 1 : t->tile[t->of[k][i]]);
    return bytes;
}

/* Halve the longest axis of source k in [first, last) that is longer than `least`. */
static bool halve(tni_stream_tiles *t, int k, int first, int last, int64_t least)
{
    int longest = -1;
    for (int i = 0; i < t->src[k]->ndim; i++) {
        const int o = t->of[k][i];
        if (o >= first && o < last && t->tile[o] > least &&
            (longest < 0 || t->tile[o] > t->tile[longest]))
            longest = o;
    }
    if (longest >= 0)
        t->tile[longest] = (t->tile[longest] + 1) / 2;
    return longest >= 0;
}

/* Cut tiles until their part of source k is small. */
static void cut_tiles(tni_stream_tiles *t, int k)
{
    const int kept = t->out->ndim, all = t->naxes;
    while (part_bytes(t, k) > TILE_BYTES)
        if (!halve(t, k, 0, kept, TILE_LEAST) && !halve(t, k, kept, all, SUM_LEAST) &&
            !halve(t, k, 0, kept, 1) && !halve(t, k, kept, all, 1))
            return;
}

bool tni_stream_tiles_wider(const tni_stream_tiles *t)
{
    bool cut = false;
    for (int o = t->out->ndim; o < t->naxes; o++)
        cut |= t->tile[o] < t->extent[o];
    return cut && tni_is_narrow(t->out->dtype);
}

void tni_stream_tiles_cut(tni_stream_tiles *t, int64_t budget)
{
    double rest = (double)tni_width(t->out->dtype), row;
    t->along = t->out->ndim - 1;
    while (t->along > 0 && rest * (double)t->out->shape[t->along] <= ROW_BYTES)
        rest *= (double)t->out->shape[t->along--];
    for (int i = 0; i < t->naxes; i++)
        t->tile[i] = i < t->along ? 1 : t->extent[i];
    int64_t most = rest > 0 ? (int64_t)(ROW_BYTES / rest) : TILE_MOST;
    most = most < 1 ? 1 : most > TILE_MOST ? TILE_MOST : most;
    if (t->along >= 0 && t->tile[t->along] > most)
        t->tile[t->along] = most;
    for (int k = 0; k < t->n; k++)
        cut_tiles(t, k);
    for (int i = 0; i < t->naxes; i++)
        t->tile[i] = t->tile[i] < 1 ? 1 : t->tile[i];
    row = rest * (double)(t->along < 0 ? 1 : t->tile[t->along]);
    row *= tni_stream_tiles_wider(t) ? 1 + 4 / (double)tni_width(t->out->dtype) : 1;
    for (int k = 0; k < t->n; k++)
        row += 2 * part_bytes(t, k);
    t->box = (int64_t)((double)budget / 2 / (row > 1 ? row : 1));
    t->box = t->box < 1 ? 1 : t->box;
}

/* ---- derived numbers ---- */

int64_t tni_stream_tiles_box(const tni_stream_tiles *t)
{
    int64_t elements = 1;
    for (int i = t->along < 0 ? 0 : t->along; i < t->out->ndim; i++) {
        /* one index of the axes before, so that a tile is the same in every box */
        const int64_t n = t->out->shape[i];
        elements *= i > t->along || t->box > n / t->tile[i] ? n : t->box * t->tile[i];
    }
    return elements;
}

/* The number of steps along axis o, for each of which sources without this axis are used
 * again. */
static int64_t steps_along(const tni_stream_tiles *t, int o)
{
    const int64_t each = o < t->along ? 1 : o == t->along ? t->box * t->tile[o] : t->tile[o];
    return tni_ceil_div(t->extent[o], each);
}

double tni_stream_tiles_work(const tni_stream_tiles *t, int k)
{
    double bytes = (double)tn_nbytes(t->src[k]);
    for (int o = 0; o < t->naxes; o++) {
        bool has = false;
        for (int i = 0; i < t->src[k]->ndim; i++)
            has |= t->of[k][i] == o;
        bytes *= has ? 1 : (double)steps_along(t, o);
    }
    return bytes;
}

tn_status tni_stream_tiles_part(const tni_stream_tiles *t, int k, tn_tensor *part)
{
    const tn_tensor *src = t->src[k];
    int64_t shape[TN_MAX_NDIM];
    for (int i = 0; i < src->ndim; i++)
        shape[i] = t->of[k][i] < 0 ? 1 : t->tile[t->of[k][i]];
    return tn_init(part, NULL, src->dtype, src->ndim, shape);
}

int64_t tni_stream_tiles_bytes(const tni_stream_tiles *t)
{
    const double elements = (double)tni_stream_tiles_box(t);
    double bytes = 0, tile = 1;
    for (int k = 0; k < t->n; k++) {
        double window = part_bytes(t, k);
        bytes += window;
        for (int i = 0; i < t->src[k]->ndim; i++)
            if (t->along >= 0 && t->of[k][i] == t->along)
                window *= (double)(t->box < t->extent[t->along] / t->tile[t->along]
                                       ? t->box
                                       : tni_ceil_div(t->extent[t->along], t->tile[t->along]));
        bytes += window;
    }
    for (int i = 0; i < t->out->ndim; i++)
        tile *= (double)t->tile[i];
    const double sum = tni_stream_tiles_wider(t) ? 4 : (double)tni_width(t->out->dtype);
    bytes += tile * sum + (tni_stream_tiles_wider(t) ? elements * sum : 0);
    return bytes < 9e18 ? (int64_t)bytes : INT64_MAX;
}
