/* pad_ways.c - plans a pad: its nest, and the first way that fits. */
#include <string.h>

#include "plan/plan.h"
#include "runtime/runtime.h"
#include "view/view.h"

void tni_pad_fill_up(tni_pad *p)
{
    while (p->nest.ndim < 2) {
        memmove(p->nest.axis + 1, p->nest.axis, (size_t)p->nest.ndim * sizeof p->nest.axis[0]);
        p->nest.axis[0] = (tni_axis){.n = 1, .held = 1};
        p->nest.ndim++;
    }
}

static void set_value(tni_pad *p, const void *value)
{
    memset(p->value, 0, sizeof p->value);
    if (!value || p->mode != TN_PAD_CONSTANT)
        return;
    memcpy(p->value, value, (size_t)p->width);
    for (size_t n = (size_t)p->width; n < sizeof p->value; n *= 2)
        memcpy(p->value + n, p->value, n);
}

/* Fill all of dst with the value. */
static void fill_run(const tni_pad *p, char *d, const char *s)
{
    (void)s;
    tn_tensor dst = {.dtype = p->dtype, .ndim = p->nest.ndim}, src = dst;
    for (int i = 0; i < p->nest.ndim; i++) {
        dst.shape[i] = src.shape[i] = p->nest.axis[i].n;
        dst.stride[i] = p->nest.axis[i].step[0];
        src.stride[i] = 0;
    }
    tni_copy copy;
    tni_copy_plan(&copy, &dst, &src);
    tni_copy_run(&copy, d, p->value);
}

static void pad_nothing_run(const tni_pad *p, char *d, const char *s)
{
    (void)p, (void)d, (void)s;
}

static bool nothing_plan(tni_pad *p)
{
    p->items = 0;
    return p->bytes == 0;
}

static bool fill_plan(tni_pad *p)
{
    return p->src_bytes == 0;
}

static const tni_pad_way ways[] = {
    {"nothing", "there are no elements", nothing_plan, pad_nothing_run},
    {"fill", "src is empty: the value over all of dst", fill_plan, fill_run},
    {"rows", "dst and src are walked fastest along the same axis: blocks of rows",
     tni_pad_rows_plan, tni_pad_rows_run},
    {"interior first", "src is transposed: the interior, then the borders of each axis",
     tni_pad_borders_plan, tni_pad_borders_run},
};

void tni_pad_plan(tni_pad *p, const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                  tn_pad_mode mode, const void *value)
{
    p->mode = mode;
    p->dtype = dst->dtype;
    p->width = tni_width(dst->dtype);
    p->bytes = tni_numel(dst) * p->width;
    p->src_bytes = tni_numel(src) * p->width;
    p->staged = p->edged = false;
    p->stream = p->bytes >= tni_cache_sizes()->stream;
    p->rows = p->columns = 1;
    p->outer = 0;
    set_value(p, value);
    const bool fill = p->src_bytes == 0;
    tni_nest_build(&p->nest, 2, (const tn_tensor *const[]){dst, fill ? dst : src},
                   &(tni_nest_rules){.before = fill ? NULL : before,
                                     .value_border = mode == TN_PAD_CONSTANT});
    tni_pad_fill_up(p);
    for (p->way = ways; p->items = 1, !p->way->plan(p); p->way++)
        ASSERT(p->way + 1 < ways + COUNT(ways));
}

void tni_pad_run(const tni_pad *p, char *dst, const char *src)
{
    /* a src without elements may have no data: all of dst is border */
    src = src ? src + p->nest.shift[1] : NULL;
    p->way->run(p, dst + p->nest.shift[0], src);
}

/* ---- facts ---- */

static const char *const modes[] = {
    [TN_PAD_CONSTANT] = "constant",   [TN_PAD_EDGE] = "edge", [TN_PAD_REFLECT] = "reflect",
    [TN_PAD_SYMMETRIC] = "symmetric", [TN_PAD_WRAP] = "wrap",
};

void tni_pad_facts(const tni_pad *p, tn_facts *f)
{
    FACT(f->way, "%s", p->way->name);
    FACT(f->why, "%s", p->way->why);
    if (p->items == 0)
        return;
    tni_facts_add(f, "mode", "%s", modes[p->mode]);
    f->written = p->bytes;
    f->read = p->src_bytes;
    f->streams = p->stream;
    f->threads = tni_plan_parts(tni_mul_saturated(p->bytes, 2), p->items);
    f->tiles = p->items;
    f->buffer = p->staged ? (int64_t)sizeof(tni_pad_buffer) : 0;
    FACT(f->stores, "%s",
         p->staged   ? "rows from a buffer, streamed"
         : p->stream ? "streamed"
                     : "temporal: dst fits the cache");
    if (p->columns > 1 || p->rows > 1) {
        f->tile_ndim = 2;
        f->tile[0] = p->rows;
        f->tile[1] = p->columns;
    }
}
