/* copy_ways.c - plans a copy: its unit, its kind, and the first way that fits.
 *
 *   way                   file              what is copied, and how
 *   nothing, block, fill  way_block.c       no elements; a dense block; one value over a block
 *   transpose interleave  way_interleave.c  a few planes into channels
 *             carried     way_carried.c     a line in which one tile ends goes on in the next
 *             lines       way_lines.c       whole lines from registers, if rows of dst allow it
 *             shifted     way_lines.c       the same for rows of dst that begin anywhere
 *             staged      way_staged.c      by a buffer, from which whole runs are streamed
 *             whole       way_indexed.c     in a cache: rows share cache sets on both sides
 *             indexed     way_indexed.c     short axes taken together, by listed offsets
 *   transpose             way_tiled.c       tiles in registers, straight to dst
 *   rows carried          way_carried.c     rows that lie one after the other in dst
 *        staged           way_staged.c      short rows, by a buffer
 *        streamed         way_tiled.c       long rows, streamed one by one
 *   rows                  way_tiled.c       rows straight to dst
 *   strided staged        way_staged.c      any steps, where dst is dense, by a buffer
 *   strided               way_tiled.c       any steps, straight to dst
 *
 * CONTRIBUTING.md, "Add a way to copy", says what a new way consists of. */
#include "copy_shape.h"
#include "copy_walk.h"

#include "runtime/runtime.h"
#include <stdio.h>

/* The ways in order of preference within each kind: first those for a dst beyond the cache,
 * which set `beyond`, then those for any; "transpose whole" refuses a dst beyond the cache. */
static const tni_copy_way *const ways[] = {
    &tni_way_nothing,     &tni_way_block,         &tni_way_fill,      &tni_way_interleave,
    &tni_way_carried,     &tni_way_lines,         &tni_way_shifted,   &tni_way_transpose_staged,
    &tni_way_whole,       &tni_way_indexed,       &tni_way_transpose, &tni_way_rows_carried,
    &tni_way_rows_staged, &tni_way_rows_streamed, &tni_way_rows,      &tni_way_strided_staged,
    &tni_way_strided,
};

static bool by_width(int64_t unit)
{
    return unit <= 16 && !(unit & (unit - 1));
}

/* Absorb the innermost axis into the unit if it is dense on both sides. */
static void take_unit(tni_copy *c, tni_nest *nest, int64_t width)
{
    c->unit = width;
    if (nest->ndim == 0)
        return;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    if (in->step[0] == width && in->step[1] == width) {
        c->unit = in->n * width;
        nest->ndim--;
    }
}

/* The axis with the smallest step in src; broadcast axes (step 0) come last. */
static int source_fastest(const tni_nest *nest)
{
    int best = nest->ndim - 1;
    for (int i = nest->ndim - 2; i >= 0; i--) {
        int64_t x = tni_abs_step(nest->axis[i].step[1]),
                y = tni_abs_step(nest->axis[best].step[1]);
        if (x != 0 && (y == 0 || x < y))
            best = i;
    }
    return best;
}

/* Make the step of axis b in src positive; that in dst may then be negative. */
static void make_source_ascending(tni_copy *c, tni_axis *b)
{
    if (b->step[1] >= 0)
        return;
    c->shift_d += (b->n - 1) * b->step[0];
    c->shift_s += (b->n - 1) * b->step[1];
    b->step[0] = -b->step[0];
    b->step[1] = -b->step[1];
}

/* The bytes of dst that are dense from the unit outwards. */
static int64_t dense_run(const tni_nest *nest, int64_t unit)
{
    for (int i = nest->ndim - 1; i >= 0 && nest->axis[i].step[0] == unit; i--)
        unit *= nest->axis[i].n;
    return unit;
}

/* Whether the source rows of a band of blocks, step bytes apart, fall into so few sets of L1
 * that they evict each other before their lines are used up: more than 1.5 times the
 * associativity in a set, or as many as the associativity if L2 does not hold the prefetched
 * rows either.  On AMD Zen 4, packing them then has 1.45 times the speed for squares of f64
 * whose sides are powers of two, and 0.72 times where L2 does hold them. */
static bool rows_alias(int64_t unit, int64_t n, int64_t step)
{
    enum { PREFETCHED = 64 }; /* rows */
    int64_t distance = step & -step, associativity = tni_cache_sizes()->l1 / TNI_L1_ALIAS;
    int64_t rows = n < 64 / unit ? n : 64 / unit;
    rows = rows * (distance < TNI_L1_ALIAS ? distance : TNI_L1_ALIAS) / TNI_L1_ALIAS;
    return 2 * rows > 3 * associativity ||
           (rows >= associativity && tni_rows_held_l2(step, PREFETCHED) < PREFETCHED);
}

/* Find the two axes of the tile, dst's fastest and the source's; they determine the kind of
 * copy. */
static void classify_axes(tni_copy *c, tni_nest *nest, tni_copy_case *of)
{
    of->a = nest->ndim - 1;
    of->b = source_fastest(nest);
    if (of->b == of->a)
        of->b = nest->ndim - 2; /* both sides agree; the next axis makes the tile 2-d */
    if (of->b >= 0)
        make_source_ascending(c, &nest->axis[of->b]);
    const tni_axis *a = &nest->axis[of->a], *b = of->b >= 0 ? &nest->axis[of->b] : NULL;
    if (!by_width(c->unit))
        of->kind = TNI_COPY_ROWS;
    else if (b && b->step[1] == c->unit && a->step[0] == c->unit)
        of->kind = TNI_COPY_TRANSPOSE;
    else
        of->kind = TNI_COPY_STRIDED;
    c->packs = of->kind == TNI_COPY_TRANSPOSE && c->bytes > TNI_SMALL_COPY &&
               rows_alias(c->unit, a->n, a->step[1]);
    if (of->beyond)
        of->dense = dense_run(nest, c->unit);
}

/* The kind of a copy without a tile.  TNI_COPY_STRIDED here means "not classified yet": the
 * copy has a tile, and classify_axes finds its kind. */
static tni_copy_kind kind_without_tile(const tni_copy *c, const tni_nest *nest)
{
    const tni_axis *in = &nest->axis[0];
    if (nest->empty)
        return TNI_COPY_NOTHING;
    if (nest->ndim == 0)
        return TNI_COPY_BLOCK;
    if (nest->ndim == 1 && in->step[0] == c->unit && in->step[1] == 0 && by_width(c->unit))
        return TNI_COPY_FILL;
    return TNI_COPY_STRIDED;
}

tni_tuning tni_tuning_now(void)
{
    tni_tuning t;
    for (int i = 0; i < TNI_TUNED; i++)
        t.number[i] = tni_tuned((tni_tuned_number)i);
    return t;
}

void tni_copy_plan_at(tni_copy *c, const tn_tensor *dst, const tn_tensor *src, int64_t address)
{
    tni_copy_plan_with(c, dst, src, address, NULL);
}

void tni_copy_plan_with(tni_copy *c, const tn_tensor *dst, const tn_tensor *src,
                        int64_t address, const tni_tuning *tuning)
{
    tni_nest nest;
    tni_nest_normal(&nest, 2, (const tn_tensor *const[]){dst, src});
    int64_t width = tni_width(dst->dtype);
    c->kernels = tni_kernels_of(tni_isa_level())->copy;
    c->streams = c->packs = false;
    c->ntile = c->nloop = c->free_loops = 0;
    c->shift_d = nest.shift[0];
    c->shift_s = nest.shift[1];
    c->items = 1;
    c->split = 0;
    c->bytes = width;
    for (int i = 0; i < nest.ndim; i++)
        c->bytes *= nest.axis[i].n;
    take_unit(c, &nest, width);
    c->log2_width = by_width(c->unit) ? tni_log2_width(c->unit) : 0;
    c->beyond = c->bytes >= tni_cache_sizes()->stream;
    tni_copy_case of = {.nest = &nest, .beyond = c->beyond, .address = address};
    of.kind = kind_without_tile(c, &nest);
    if (of.beyond)
        of.tuning = tuning ? *tuning : tni_tuning_now();
    for (int i = 0; i < TNI_TUNED; i++)
        c->tuned[i] = of.tuning.number[i];
    if (address < 0)
        of.address = (int64_t)(((uintptr_t)dst->data + (uintptr_t)c->shift_d) & 63);
    if (of.kind == TNI_COPY_STRIDED)
        classify_axes(c, &nest, &of);
    c->way = NULL;
    for (int i = 0; i < COUNT(ways); i++)
        if (ways[i]->kind == of.kind && (of.beyond || !ways[i]->beyond) &&
            ways[i]->plan(c, &of)) {
            c->way = ways[i];
            return;
        }
    ASSERT(c->way); /* the last way of a kind fits any copy */
}

void tni_copy_plan(tni_copy *c, const tn_tensor *dst, const tn_tensor *src)
{
    tni_copy_plan_at(c, dst, src, -1);
}

/* ---- running ---- */

static void copy_run_items(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy_way *way = j->c->way;
    while (way->dst_align && (int64_t)((uintptr_t)j->d & 63) % way->dst_align(j->c) != 0)
        way = way->fallback;
    way->run(j, first, last);
    if (j->c->streams)
        j->k->fence();
}

static void copy_run_part(void *arg, int part)
{
    const tni_copy_job *j = arg;
    int64_t first, last;
    tni_split_range(j->c->items, j->parts, part, &first, &last);
    copy_run_items(j, first, last);
}

void tni_copy_run(const tni_copy *c, char *dst, const char *src)
{
    if (c->items == 0)
        return;
    tni_copy_job j = {c, c->kernels, dst + c->shift_d, src + c->shift_s, 1};
    if (c->items > 1)
        j.parts = tni_run_parts(tni_mul_saturated(c->bytes, 2), c->items);
    if (j.parts == 1)
        copy_run_items(&j, 0, c->items);
    else
        tni_parallel(j.parts, copy_run_part, &j);
}

/* ---- facts ---- */

static void add_tuning(const tni_copy *c, tn_facts *f)
{
    char text[128];
    int n = 0;
    for (int i = 0; i < TNI_TUNED; i++)
        n += snprintf(text + n, sizeof text - (size_t)n, "%s%s %lld", i ? ", " : "",
                      tni_tuned_name((tni_tuned_number)i), (long long)c->tuned[i]);
    ASSERT(n < (int)sizeof text);
    tni_facts_add(f, "tuning", "%s", text);
}

void tni_copy_facts(const tni_copy *c, tn_facts *f)
{
    FACT(f->way, "%s", c->way->name);
    FACT(f->why, "%s", c->way->why);
    if (c->items == 0)
        return;
    FACT(f->stores, "%s",
         c->way->stores ? c->way->stores
         : c->streams   ? "streamed"
                        : "temporal: dst fits the cache");
    f->read = f->written = c->bytes;
    f->streams = c->streams;
    f->threads = tni_plan_parts(tni_mul_saturated(c->bytes, 2), c->items);
    f->tiles = c->items;
    f->tile_ndim = c->ntile;
    for (int k = 0; k < c->ntile; k++)
        f->tile[k] = c->tile[k].block;
    if (c->ntile) {
        f->unit = c->unit;
        f->units = c->bytes / c->unit;
    }
    f->scalar = c->way->kind == TNI_COPY_STRIDED && c->unit == tni_width(f->dtype);
    for (int k = 0; k < 2 && f->scalar; k++) /* true if no axis is dense */
        f->scalar = c->tile[k].n < 2 ||
                    (c->tile[k].d != c->unit && tni_abs_step(c->tile[k].s) != c->unit);
    if (c->way->staged)
        f->run = c->tile[c->stage.run].block * c->tile[c->stage.run].d;
    if (c->way->kind >= TNI_COPY_ROWS && c->beyond)
        add_tuning(c, f);
    if (c->packs)
        tni_facts_add(f, "loads", "source rows share cache sets: packed side by side first");
}
