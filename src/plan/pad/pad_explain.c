/* pad_explain.c - the facts of a pad plan. */
#include "plan/plan.h"
#include "runtime/runtime.h"

static const char *const ways[] = {
    [TNI_PAD_NOTHING] = "nothing",
    [TNI_PAD_FILL] = "fill",
    [TNI_PAD_ROWS] = "rows",
    [TNI_PAD_SLABS] = "slabs",
};

static const char *const reasons[] = {
    [TNI_PAD_NOTHING] = "there are no elements",
    [TNI_PAD_FILL] = "src is empty: the value over all of dst",
    [TNI_PAD_ROWS] = "dst and src are walked fastest along the same axis: blocks of rows",
    [TNI_PAD_SLABS] = "src is transposed: the interior, then the borders of each axis",
};

static const char *const modes[] = {
    [TN_PAD_CONSTANT] = "constant",   [TN_PAD_EDGE] = "edge", [TN_PAD_REFLECT] = "reflect",
    [TN_PAD_SYMMETRIC] = "symmetric", [TN_PAD_WRAP] = "wrap",
};

void tni_pad_facts(const tni_pad *p, tn_facts *f)
{
    FACT(f->way, "%s", ways[p->way]);
    FACT(f->why, "%s", reasons[p->way]);
    if (p->way == TNI_PAD_NOTHING)
        return;
    tni_facts_add(f, "mode", "%s", modes[p->mode]);
    f->written = p->bytes;
    f->read = p->way == TNI_PAD_FILL ? 0 : p->src_bytes;
    f->streams = p->stream;
    f->threads = tni_plan_parts(tni_times(p->bytes, 2), p->items);
    f->tiles = p->items;
    if (p->way == TNI_PAD_ROWS) {
        f->tile_ndim = 2;
        f->tile[0] = p->rows;
        f->tile[1] = p->columns;
        f->buffer = p->staged ? (int64_t)sizeof(tni_sink) : 0;
        FACT(f->stores, "%s",
             p->staged   ? "rows from a buffer, streamed"
             : p->stream ? "streamed"
                         : "temporal: dst fits the cache");
    }
    if (p->way == TNI_PAD_SLABS)
        tni_facts_add(f, "slabs", "%lld of %lld bytes", (long long)p->items,
                      (long long)(p->bytes / p->items));
}
