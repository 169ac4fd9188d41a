/* copy_shape.c - the tile of a copy, and the order of the loops around it.
 *
 * Loops are collected, each gets a key, and the finished list is sorted once. */
#include "copy_shape.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

/* Most trips around the axis that is divided over threads: at each one two threads have two
 * lines of dst in common.  Found on an Intel Xeon (12-way L1): 24 trips cost nothing, 60 cost
 * a tenth. */
enum { TRIPS = 40 };

uint64_t tni_tile_begin(tni_copy *c, const tni_copy_case *of)
{
    const tni_nest *nest = of->nest;
    c->tile[TNI_DST_FAST] = tni_whole_axis(&nest->axis[of->a]);
    c->tile[TNI_SRC_FAST] = of->b >= 0 ? tni_whole_axis(&nest->axis[of->b]) : tni_unit_axis();
    c->tile[TNI_SRC_NEXT] = tni_unit_axis();
    c->ntile = 3;
    c->split = 0;
    return (uint64_t)1 << of->a | (of->b >= 0 ? (uint64_t)1 << of->b : 0);
}

int64_t tni_even_block(int64_t n, int64_t want, int64_t grain)
{
    if (want < 1)
        want = 1;
    if (n <= want + want / 2)
        return n;
    int64_t block = tni_ceil_div(n, tni_ceil_div(n, want));
    if (grain > 1)
        block = (block + grain - 1) / grain * grain;
    return block < n ? block : n;
}

int tni_source_next(const tni_copy *c, const tni_copy_case *of, int64_t enough)
{
    if (of->b < 0)
        return -1;
    const tni_nest *nest = of->nest;
    const tni_axis *x = &nest->axis[of->b];
    if (x->n * c->unit >= enough || x->step[1] != c->unit)
        return -1;
    for (int i = 0; i < nest->ndim; i++)
        if (i != of->a && i != of->b && nest->axis[i].step[1] == x->n * c->unit)
            return i;
    return -1;
}

int64_t tni_rows_held(int64_t step, int64_t most)
{
    int64_t k = 1, half = tni_cache_sizes()->l1 / TNI_L1_WAY / 2;
    half = half > 1 ? half : 1;
    step &= TNI_L1_WAY - 1;
    while (k * half < most && ((k * step + 64) & (TNI_L1_WAY - 1)) > 128)
        k++;
    return k * half;
}

/* ---- keys ---- */

int64_t tni_key_by_source(const tni_copy *c, const tni_copy_loop *loop)
{
    (void)c;
    return tni_abs_step(loop->s);
}

int64_t tni_key_in_cache(const tni_copy *c, const tni_copy_loop *loop)
{
    int64_t step = loop->tile < 0 ? loop->d : c->tile[loop->tile].d;
    if (c->split && step == c->split)
        return INT64_MAX;
    /* A line of dst is read and written, so its steps count more: four times was the best of
     * 1, 2, 4 and 8 (docs/investigations/0001). */
    int64_t by_dst = tni_abs_step(loop->d), by_src = tni_abs_step(loop->s);
    return by_dst / 4 < by_src ? by_dst : 4 * by_src;
}

/* ---- the list ---- */

typedef struct loop_list {
    int n;
    tni_copy_loop loop[TNI_WALK_AXES];
} loop_list;

static void loops_add(loop_list *l, int64_t n, int64_t d, int64_t s, int tile, bool wide)
{
    ASSERT(l->n < TNI_WALK_AXES);
    l->loop[l->n++] = (tni_copy_loop){n, d, s, tile, wide, 0};
}

static void loops_collect(loop_list *l, const tni_copy *c, const tni_nest *nest, uint64_t used)
{
    l->n = 0;
    for (int i = nest->ndim - 1; i >= 0; i--) {
        const tni_axis *x = &nest->axis[i];
        if (!(used >> i & 1))
            loops_add(l, x->n, x->step[0], x->step[1], -1, false);
    }
    for (int k = 0; k < c->ntile; k++) {
        const tni_tile_axis *x = &c->tile[k];
        if (x->block < x->span)
            loops_add(l, tni_ceil_div(x->span, x->block), x->block * x->d, x->block * x->s, k,
                      false);
        if (x->span < x->n)
            loops_add(l, tni_ceil_div(x->n, x->span), x->span * x->d, x->span * x->s, k, true);
    }
}

static int64_t loops_items(const loop_list *l)
{
    int64_t items = 1;
    for (int i = 0; i < l->n; i++)
        items *= l->loop[i].n;
    return items;
}

/* The loop with the largest key; of equal ones the last. */
static const tni_copy_loop *loops_outermost(const loop_list *l)
{
    const tni_copy_loop *most = &l->loop[0];
    for (int i = 1; i < l->n; i++)
        if (l->loop[i].key >= most->key)
            most = &l->loop[i];
    return most;
}

static void loops_key(loop_list *l, const tni_copy *c, tni_loop_key *key)
{
    for (int i = 0; i < l->n; i++)
        l->loop[i].key = key(c, &l->loop[i]);
}

/* Sort by falling keys, equal ones in reverse of the list, and write the plan's loops. */
static void loops_finish(loop_list *l, tni_copy *c)
{
    for (int i = 1; i < l->n; i++) {
        tni_copy_loop x = l->loop[i];
        int j = i;
        for (; j > 0 && l->loop[j - 1].key <= x.key; j--)
            l->loop[j] = l->loop[j - 1];
        l->loop[j] = x;
    }
    c->nloop = l->n;
    c->items = loops_items(l);
    for (int i = 0; i < l->n; i++) {
        const tni_copy_loop *x = &l->loop[i];
        c->loop[i].n = x->n;
        c->loop[i].step[0] = x->d;
        c->loop[i].step[1] = x->s;
        if (x->tile >= 0)
            *(x->wide ? &c->tile[x->tile].wide : &c->tile[x->tile].loop) = i;
    }
    c->free_loops = 0;
    while (c->free_loops < 2 && c->free_loops < l->n &&
           l->loop[l->n - 1 - c->free_loops].tile < 0)
        c->free_loops++;
}

void tni_copy_order(tni_copy *c, const tni_copy_case *of, uint64_t used, tni_loop_key *key)
{
    loop_list l;
    loops_collect(&l, c, of->nest, used);
    loops_key(&l, c, key);
    loops_finish(&l, c);
}

/* ---- the axis that threads divide ---- */

static int64_t trips_around(const tni_copy *c, const tni_nest *nest, const tni_copy_loop *x)
{
    int64_t trips = 1, step = tni_abs_step(x->tile < 0 ? x->d : c->tile[x->tile].d);
    for (int i = 0; i < nest->ndim && tni_abs_step(nest->axis[i].step[0]) > step; i++)
        trips *= nest->axis[i].n;
    return trips;
}

static tni_tile_axis *in_tile(tni_copy *c, const tni_axis *x)
{
    for (int k = 0; k < c->ntile; k++)
        if (c->tile[k].n == x->n && c->tile[k].d == x->step[0])
            return &c->tile[k];
    return NULL;
}

/* Choose another axis to divide: one that is walked already, or else the outermost one of the
 * tile, which is cut. */
static void choose_split(tni_copy *c, const tni_nest *nest, int64_t parts)
{
    tni_tile_axis *cut = NULL;
    tni_tile_axis *last = &c->tile[c->tile[TNI_SRC_NEXT].n > 1 ? TNI_SRC_NEXT : TNI_SRC_FAST];
    int64_t trips = 1;
    for (int i = 0; i < nest->ndim && trips <= TRIPS; i++) {
        const tni_axis *x = &nest->axis[i];
        tni_tile_axis *t = in_tile(c, x);
        bool fair = x->n % parts == 0 || x->n >= 3 * parts;
        if (fair && (!t || t->block * parts <= t->n)) {
            c->split = x->step[0];
            return;
        }
        if (fair && t == last)
            cut = t;
        trips *= x->n;
    }
    if (cut) {
        cut->block = tni_ceil_div(cut->n, parts);
        c->split = cut->d;
    }
}

void tni_copy_order_split(tni_copy *c, const tni_copy_case *of, uint64_t used,
                          tni_loop_key *key)
{
    loop_list l;
    loops_collect(&l, c, of->nest, used);
    loops_key(&l, c, key);
    int64_t parts = tni_plan_parts(tni_mul_saturated(c->bytes, 2), loops_items(&l));
    if (parts > 1 && trips_around(c, of->nest, loops_outermost(&l)) > TRIPS) {
        choose_split(c, of->nest, parts);
        loops_collect(&l, c, of->nest, used);
        loops_key(&l, c, key);
    }
    loops_finish(&l, c);
}
