/* way_interleave.c - interleaves two to four planes into channels, beyond the cache: dst is one
 * run of groups, and whole lines of it are formed in registers and streamed. */
#include "copy_shape.h"
#include "copy_walk.h"

enum {
    PLANES = 4,   /* the most that the kernels interleave */
    TILE = 65536, /* bytes of dst; a tile's first and last line, not streamed, are 1 in 500 */
    LEAST = 256,  /* groups of a row: four lines of the smallest unit; not measured finely */
};

/* How many groups from d on come before one that begins at a line; TNI_LINE if none does. */
static int64_t groups_before_line(uintptr_t d, int64_t group)
{
    int64_t n = 0;
    while (n < TNI_LINE && (d + (uintptr_t)(n * group)) % TNI_LINE)
        n++;
    return n;
}

static bool interleave_plan(tni_copy *c, const tni_copy_case *of)
{
    const tni_axis *a = &of->nest->axis[of->a], *b = &of->nest->axis[of->b];
    const int64_t group = a->n * c->unit;
    if (!c->kernels->interleave[c->log2_width] || a->n > PLANES || b->step[0] != group ||
        b->n < LEAST)
        return false;
    for (int i = 0; i < of->nest->ndim; i++)
        if (i != of->a && i != of->b &&
            groups_before_line((uintptr_t)tni_abs_step(of->nest->axis[i].step[0]), group) ==
                TNI_LINE)
            return false;
    if (groups_before_line((uintptr_t)of->address, group) == TNI_LINE)
        return false;
    uint64_t used = tni_tile_begin(c, of);
    c->tile[TNI_SRC_FAST].block = tni_even_block(b->n, TILE / group, TNI_LINE);
    c->streams = true;
    c->packs = false;
    tni_copy_order(c, of, used, tni_key_by_source);
    return true;
}

static void interleave_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const int w = c->log2_width;
    const int64_t planes = c->tile[TNI_DST_FAST].n, plane = c->tile[TNI_DST_FAST].s;
    const int64_t group = planes * c->unit;
    tni_walk walk;
    tni_copy_seek(c, &walk, first);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES] = {0};
        char *d = j->d + walk.offset[0];
        const char *s = j->s + walk.offset[1];
        tni_tile_extents(c, walk.at, n);
        tni_walk_next(&walk);
        const int64_t groups = n[TNI_SRC_FAST];
        const int64_t head = groups_before_line((uintptr_t)d, group);
        const bool lines = head < TNI_LINE && head < groups &&
                           j->k->interleave[w](d + head * group, s + head * c->unit, plane,
                                               groups - head, planes);
        if (!lines || head > 0)
            j->k->transpose[w](d, group, s, plane, planes, lines ? head : groups, 0);
    }
}

const tni_copy_way tni_way_interleave = {
    .name = "transpose interleave",
    .why = "a few planes become channels, and dst is larger than the cache",
    .stores = "whole lines from registers, streamed",
    .kind = TNI_COPY_TRANSPOSE,
    .beyond = true,
    .plan = interleave_plan,
    .run = interleave_run,
};
