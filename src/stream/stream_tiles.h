/* stream_tiles.h - how an einsum whose operands exceed memory is cut into tiles.
 *
 * Axes are numbered through: first those of the result, then one for each summed name. */
#ifndef TNI_STREAM_TILES_H
#define TNI_STREAM_TILES_H

#include "stream.h"

enum { TNI_STREAM_AXES = (1 + TN_EINSUM_SOURCES) * TN_MAX_NDIM };

typedef struct tni_stream_tiles {
    const char *spec;
    int n;
    const tn_tensor *out;
    const tn_tensor *src[TN_EINSUM_SOURCES];
    /* The axis of each source's axis; -1: extent 1, which is broadcast. */
    int of[TN_EINSUM_SOURCES][TN_MAX_NDIM];
    int naxes;
    int64_t extent[TNI_STREAM_AXES], tile[TNI_STREAM_AXES];
    int along; /* the axis along which boxes are cut; a box has 1 index of the axes before it */
    int64_t box; /* number of tiles along that axis in a box */
} tni_stream_tiles;

/* Match axes by name.  spec, out and the sources are set and have been checked. */
tn_status tni_stream_tiles_match(tni_stream_tiles *t);

/* Choose tiles from the shapes alone, then boxes from the budget. */
void tni_stream_tiles_cut(tni_stream_tiles *t, int64_t budget);

/* True if partial sums are kept in f32: sums are cut, and the dtype of the result is narrow. */
bool tni_stream_tiles_wider(const tni_stream_tiles *t);

/* Number of elements in a box of the result. */
int64_t tni_stream_tiles_box(const tni_stream_tiles *t);

/* Bytes of all windows of source k, counted as often as they are used. */
double tni_stream_tiles_work(const tni_stream_tiles *t, int k);

/* The shape of the part of source k that a full tile needs. */
tn_status tni_stream_tiles_part(const tni_stream_tiles *t, int k, tn_tensor *part);

/* Bytes that a box needs besides its result: windows, tiles cut from them, partial sums. */
int64_t tni_stream_tiles_bytes(const tni_stream_tiles *t);

#endif
