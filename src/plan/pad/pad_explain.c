/* pad_explain.c - a pad plan in words. */
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
    [TNI_PAD_SLABS] = "src is turned: the interior, then the borders of each axis",
};

static const char *const modes[] = {
    [TN_PAD_CONSTANT] = "constant",   [TN_PAD_EDGE] = "edge", [TN_PAD_REFLECT] = "reflect",
    [TN_PAD_SYMMETRIC] = "symmetric", [TN_PAD_WRAP] = "wrap",
};

void tni_pad_explain(const tni_pad *p, const tn_tensor *dst, tni_text *text)
{
    tni_text_add(text, "pad %s %s (", modes[p->mode], tn_dtype_name(p->dtype));
    for (int i = 0; i < dst->ndim; i++)
        tni_text_add(text, "%s%lld", i ? ", " : "", (long long)dst->shape[i]);
    tni_text_add(text, "): %s\n  why      %s\n", ways[p->way], reasons[p->way]);
    if (p->way == TNI_PAD_NOTHING)
        return;
    tni_text_add(text, "  bytes    %lld written\n", (long long)p->bytes);
    if (p->way == TNI_PAD_SLABS)
        tni_text_add(text, "  slabs    %lld of %lld bytes\n", (long long)p->items,
                     (long long)(p->bytes / p->items));
    if (p->way != TNI_PAD_ROWS)
        return;
    tni_text_add(text, "  block    %lld rows of %lld bytes, %lld blocks\n", (long long)p->rows,
                 (long long)(p->columns * p->width), (long long)p->items);
    tni_text_add(text, "  stores   %s\n",
                 p->staged   ? "rows from a buffer, streamed past the cache"
                 : p->stream ? "streamed past the cache"
                             : "plain, dst fits the cache");
    tni_text_add(text, "  threads  %d, kernels %s\n",
                 tni_plan_parts(tni_times(p->bytes, 2), p->items),
                 tni_kernels_of((int)tni_isa_level())->copy->isa);
}
