/* copy_explain.c - a copy plan in words. */
#include "kernels/kernels.h"
#include "plan/plan.h"
#include "runtime/runtime.h"

static const char *const movers[] = {
    [TNI_MOVE_NOTHING] = "nothing", [TNI_MOVE_COPY] = "copy", [TNI_MOVE_FILL] = "fill",
    [TNI_MOVE_ROWS] = "rows",       [TNI_MOVE_TURN] = "turn", [TNI_MOVE_STRIDED] = "strided",
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
    case TNI_MOVE_TURN:
        return "dst and src are dense along different axes: tiles are turned in registers";
    default:
        return "no axis is dense on both sides";
    }
}

void tni_copy_explain(const tni_copy *c, const tn_tensor *dst, tni_text *text)
{
    tni_text_add(text, "rearrange %s (", tn_dtype_name(dst->dtype));
    for (int i = 0; i < dst->ndim; i++)
        tni_text_add(text, "%s%lld", i ? ", " : "", (long long)dst->shape[i]);
    tni_text_add(text, "): %s\n  why      %s\n", movers[c->mover], how(c));
    if (c->mover == TNI_MOVE_NOTHING)
        return;
    tni_text_add(text, "  bytes    %lld read, %lld written\n", (long long)c->bytes,
                 (long long)c->bytes);
    if (c->ntile)
        tni_text_add(text, "  unit     %lld bytes, %lld of them\n", (long long)c->unit,
                     (long long)(c->bytes / c->unit));
    if (c->ntile) {
        tni_text_add(text, "  tile     %lld x %lld units", (long long)c->tile[TNI_A].block,
                     (long long)c->tile[TNI_B].block);
        for (int k = 2; k < c->ntile; k++)
            tni_text_add(text, " x %lld", (long long)c->tile[k].block);
        tni_text_add(text, ", %lld tiles\n", (long long)c->items);
    }
    if (c->straight || c->lean)
        tni_text_add(text, "  stores   whole lines, streamed past the cache from registers\n");
    else if (c->staged)
        tni_text_add(text,
                     "  stores   runs of %lld bytes from a buffer, streamed past the cache\n",
                     (long long)(c->tile[c->run].block * c->tile[c->run].d));
    else
        tni_text_add(text, "  stores   %s\n",
                     c->stream ? "streamed past the cache" : "plain, dst fits the cache");
    if (c->listed)
        tni_text_add(text,
                     "  short    axes are taken together; the places of units are listed\n");
    if (c->lean && !c->straight)
        tni_text_add(text, "  lines    made of two tiles' ends: tiles lean along dst's rows\n");
    else if (c->carry && !c->straight)
        tni_text_add(text, "  lines    partial ones wait for the tile that completes them\n");
    if (c->pack)
        tni_text_add(text,
                     "  loads    source rows share cache sets: laid side by side first\n");
    tni_text_add(text, "  threads  %d, kernels %s\n",
                 tni_plan_parts(tni_times(c->bytes, 2), c->items),
                 tni_kernels_of(tni_isa_level())->copy->isa);
}
