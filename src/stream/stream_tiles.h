/* stream_tiles.h - how an einsum of what does not fit into memory is cut.
 *
 * Axes are those of the result, and behind them one for each name that is summed. */
#ifndef TNI_STREAM_TILES_H
#define TNI_STREAM_TILES_H

#include "stream.h"

enum { TNI_STREAM_AXES = (1 + TN_EINSUM_SOURCES) * TN_MAX_NDIM };

typedef struct tni_stream_tiles {
    const char *spec;
    int n;
    const tn_tensor *out;
    const tn_tensor *src[TN_EINSUM_SOURCES];
    int of[TN_EINSUM_SOURCES][TN_MAX_NDIM]; /* which axis each of a source's own is; -1: extent
                                             * 1, which repeats */
    int naxes;
    int64_t extent[TNI_STREAM_AXES], tile[TNI_STREAM_AXES];
    int along;   /* the axis that boxes are cut along; those before have 1 index */
    int64_t box; /* tiles along that axis in a box */
} tni_stream_tiles;

/* Match axes by name.  spec, out and the sources are known, and fit. */
tn_status tni_stream_tiles_match(tni_stream_tiles *t);

/* Choose tiles by shapes alone, then boxes by the budget. */
void tni_stream_tiles_cut(tni_stream_tiles *t, int64_t budget);

/* Pieces of sums are kept in f32: they are cut, and the result has fewer bits. */
bool tni_stream_tiles_wider(const tni_stream_tiles *t);

/* Elements of a box of the result. */
int64_t tni_stream_tiles_box(const tni_stream_tiles *t);

/* Bytes of the windows of source k, each counted as often as it is used. */
double tni_stream_tiles_work(const tni_stream_tiles *t, int k);

/* The part of source k that a whole tile needs. */
tn_status tni_stream_tiles_part(const tni_stream_tiles *t, int k, tn_tensor *part);

/* Bytes that a box takes beside its result: windows, the tiles cut from them, sums. */
int64_t tni_stream_tiles_bytes(const tni_stream_tiles *t);

#endif
