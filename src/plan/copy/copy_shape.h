/* copy_shape.h - the tile of a copy, shaped by where it goes.
 */
#ifndef TNI_COPY_SHAPE_H
#define TNI_COPY_SHAPE_H

#include "plan/plan.h"

enum {
    TNI_RUN_LEAST = 128, /* bytes: a shorter run is not worth a buffer */
    TNI_PAGE = 4096,     /* bytes after which addresses fall into the same sets again */
};

static inline tni_tile_axis tni_whole_axis(const tni_axis *a)
{
    return (tni_tile_axis){a->n, a->n, a->step[0], a->step[1], a->step[0], a->n, -1, -1};
}

/* Shape the tile whose axes TNI_DST_FAST and TNI_SRC_FAST are nest's a and b; the other axes of nest that it
 * takes in, as bits. */
uint64_t tni_shape_staged(tni_copy *c, const tni_nest *nest, int a, int b);
uint64_t tni_shape_direct(tni_copy *c, const tni_nest *nest, int a, int b);

#endif
