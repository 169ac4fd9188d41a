/* copy_walk.h - functions that run the items of a copy plan, and the declarations of all
 * ways. */
#ifndef TNI_COPY_WALK_H
#define TNI_COPY_WALK_H

#include "plan/plan.h"

struct tni_copy_job {
    const tni_copy *c;
    const tni_copy_kernels *k;
    char *d;
    const char *s;
    int parts;
};

static inline void tni_copy_seek(const tni_copy *c, tni_walk *w, int64_t item)
{
    tni_walk_seek(w, c->loop, c->nloop, 2, item);
}

/* The extents of the tile at the outer indices at; false if it is empty, beyond the last
 * span. */
static inline bool tni_tile_extents(const tni_copy *c, const int64_t *at, int64_t *n)
{
    for (int k = 0; k < c->ntile; k++) {
        const tni_tile_axis *x = &c->tile[k];
        int64_t from = (x->loop < 0 ? 0 : at[x->loop] * x->block) +
                       (x->wide < 0 ? 0 : at[x->wide] * x->span);
        n[k] = x->block < x->n - from ? x->block : x->n - from;
        if (n[k] <= 0)
            return false;
    }
    return true;
}

/* Copy DST_FAST x SRC_FAST units from s to d, which has steps d_step, by the kernel of the
 * copy's kind (copy_tile.c).  ahead, unless 0, is the distance from each source row to that of
 * the next call. */
void tni_copy_tile(const tni_copy_job *j, char *d, const int64_t d_step[2], const char *s,
                   const int64_t n[2], int64_t ahead);

/* Transpose a tile, with lines into whole lines that are streamed; source rows are packed first
 * if c->packs. */
void tni_transpose_tile(const tni_copy_job *j, char *d, int64_t d_step, const char *s,
                        const int64_t n[2], int64_t ahead, bool lines);

/* Replace c by the fastest of several plans of the same copy (copy_tune.c). */
void tni_copy_tune(tni_copy *c, const tn_tensor *dst, const tn_tensor *src, char *d,
                   const char *s, double milliseconds);

/* ---- the rows of copy_ways.c ---- */

extern const tni_copy_way tni_way_nothing, tni_way_block, tni_way_fill, tni_way_interleave,
    tni_way_carried, tni_way_rows_carried, tni_way_lines, tni_way_shifted,
    tni_way_transpose_staged, tni_way_rows_staged, tni_way_strided_staged, tni_way_indexed,
    tni_way_whole, tni_way_transpose, tni_way_rows_streamed, tni_way_rows, tni_way_strided;

#endif
