/* copy_explain.c - a copy plan in words. */
#include "kernels/kernels.h"
#include "plan/plan.h"
#include "runtime/runtime.h"

static const char *const movers[] = {
    [TNI_MOVE_NOTHING] = "nothing",     [TNI_MOVE_COPY] = "copy",
    [TNI_MOVE_FILL] = "fill",           [TNI_MOVE_ROWS] = "rows",
    [TNI_MOVE_TRANSPOSE] = "transpose", [TNI_MOVE_STRIDED] = "strided",
};

static const char *how(const tni_copy *c)
{
    switch (c->mover) {
    case TNI_MOVE_NOTHING:
        return "there are no elements";
    case TNI_MOVE_COPY:
        return "one dense block";
    case TNI_MOVE_FILL:
        return "one value over a dense block";
    case TNI_MOVE_ROWS:
        return "blocks that are dense on both sides";
    case TNI_MOVE_TRANSPOSE:
        return "dst and src are dense along different axes: tiles are transposed in registers";
    default:
        return "no axis is dense on both sides";
    }
}

void tni_copy_facts(const tni_copy *c, tn_facts *f)
{
    FACT(f->way, "%s", movers[c->mover]);
    FACT(f->why, "%s", how(c));
    if (c->mover == TNI_MOVE_NOTHING)
        return;
    f->read = f->written = c->bytes;
    f->streams = c->stream;
    f->threads = tni_plan_parts(tni_times(c->bytes, 2), c->items);
    f->tiles = c->items;
    if (c->ntile) {
        f->unit = c->unit;
        f->units = c->bytes / c->unit;
        f->tile_ndim = c->ntile;
        for (int k = 0; k < c->ntile; k++)
            f->tile[k] = c->tile[k].block;
    }
    if (c->aligned_lines || c->shifted)
        FACT(f->stores, "whole lines, streamed from registers");
    else if (c->staged)
        FACT(f->stores, "runs from a buffer, streamed");
    else
        FACT(f->stores, "%s", c->stream ? "streamed" : "temporal: dst fits the cache");
    if (c->staged && !c->aligned_lines && !c->shifted)
        f->run = c->tile[c->run].block * c->tile[c->run].d;
    if (c->indexed)
        tni_facts_add(f, "indexed",
                      "short axes are taken together; offsets of units are listed");
    if (c->shifted && !c->aligned_lines)
        tni_facts_add(f, "lines", "shifted: made of two tiles' ends");
    else if (c->carry && !c->aligned_lines)
        tni_facts_add(f, "lines", "partial ones wait for the tile that completes them");
    if (c->pack)
        tni_facts_add(f, "loads", "source rows share cache sets: packed side by side first");
}
