/* copy_shape.c - shapes the tile of a copy and orders the loops around it.
 *
 * Loops are collected, each is given a key, and the finished list is sorted once. */
#include "copy_shape.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

/* The most lines of dst that two threads may share before another axis is divided: such a line
 * moves from core to core (docs/investigations/copies-in-cache.md). */
enum { SHARED = 80 };

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

/* tni_rows_held for a cache in which addresses a multiple of alias (a power of two) apart share
 * a set, of which `half` lines are used. */
static int64_t rows_held(int64_t step, int64_t most, int64_t alias, int64_t half)
{
    int64_t k = 1;
    half = half > 1 ? half : 1;
    step &= alias - 1;
    while (k * half < most && ((k * step + 64) & (alias - 1)) > 128)
        k++;
    return k * half;
}

int64_t tni_rows_held(int64_t step, int64_t most)
{
    return rows_held(step, most, TNI_L1_ALIAS, tni_cache_sizes()->l1 / TNI_L1_ALIAS / 2);
}

int64_t tni_rows_held_l2(int64_t step, int64_t most)
{
    enum { ASSOCIATIVITY = 8 }; /* of Zen's L2; other CPUs have more */
    int64_t alias = TNI_L1_ALIAS;
    while (2 * alias * ASSOCIATIVITY <= tni_cache_sizes()->l2)
        alias *= 2;
    return rows_held(step, most, alias, ASSOCIATIVITY / 2);
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
    /* A line of dst is read and written, so its steps count more: a factor of four was the best
     * of 1, 2, 4 and 8 (docs/investigations/0001). */
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

/* Whether the items are the tiles of the loops, and both have each unit of the copy once; tiles
 * of the way "carried" are a part of it, of which the copy has a whole number. */
static bool loops_cover(const loop_list *l, const tni_copy *c)
{
    int64_t units = 1, tiles = 1;
    for (int i = 0; i < l->n; i++)
        units *= l->loop[i].tile < 0 ? l->loop[i].n : 1;
    const int64_t outside = units;
    for (int k = 0; k < c->ntile; k++) {
        const tni_tile_axis *x = &c->tile[k];
        units *= x->n;
        tiles *= tni_ceil_div(x->span, x->block) * tni_ceil_div(x->n, x->span);
    }
    return c->bytes % (units * c->unit) == 0 && outside * tiles == c->items;
}

/* Sort by falling keys, equal ones in reverse order of the list, and write the plan's loops. */
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
    ASSERT(loops_cover(l, c));
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

static tni_tile_axis *in_tile(tni_copy *c, const tni_axis *x)
{
    for (int k = 0; k < c->ntile; k++)
        if (c->tile[k].n == x->n && c->tile[k].d == x->step[0])
            return &c->tile[k];
    return NULL;
}

/* The lines that both threads access if an axis is divided: two at each trip of the loops
 * around it and, if the rows of a tile are divided, one of each column of lines, because the
 * hardware's prefetcher follows the step from row to row beyond the last. */
static int64_t shared_lines(const tni_copy *c, int64_t trips, const tni_tile_axis *t)
{
    return 2 * trips + (t == &c->tile[TNI_SRC_FAST] ? c->bytes / t->n / 64 : 0);
}

/* The same for a loop that exists already. */
static int64_t shared_by_loop(const tni_copy *c, const tni_nest *nest, const tni_copy_loop *x)
{
    const tni_tile_axis *t = x->tile < 0 ? NULL : &c->tile[x->tile];
    int64_t trips = 1, step = tni_abs_step(t ? t->d : x->d);
    for (int i = 0; i < nest->ndim && tni_abs_step(nest->axis[i].step[0]) > step; i++)
        trips *= nest->axis[i].n;
    return shared_lines(c, trips, t);
}

/* Divide the axis that shares the fewest lines among those with enough trips outside the tile;
 * if it shares many, and splitting the outermost axis of the tile shares fewer, split that. */
static void choose_split(tni_copy *c, const tni_nest *nest, int64_t parts)
{
    tni_tile_axis *last = &c->tile[c->tile[TNI_SRC_NEXT].n > 1 ? TNI_SRC_NEXT : TNI_SRC_FAST];
    int64_t trips = 1, least = INT64_MAX, cut = INT64_MAX;
    for (int i = 0; i < nest->ndim; i++) {
        const tni_axis *x = &nest->axis[i];
        const tni_tile_axis *t = in_tile(c, x);
        const bool walked = !t || t->block * parts <= t->n;
        const int64_t shared = shared_lines(c, trips, t);
        trips *= x->n;
        if (x->n % parts != 0 && x->n < 3 * parts)
            continue;
        if (walked && shared < least) {
            least = shared;
            c->split = x->step[0];
        } else if (!walked && t == last) {
            cut = shared;
        }
    }
    if (least > SHARED && cut < least) {
        last->block = tni_ceil_div(last->n, parts);
        c->split = last->d;
    }
}

void tni_copy_order_split(tni_copy *c, const tni_copy_case *of, uint64_t used,
                          tni_loop_key *key)
{
    loop_list l;
    loops_collect(&l, c, of->nest, used);
    loops_key(&l, c, key);
    int64_t parts = tni_plan_parts(tni_mul_saturated(c->bytes, 2), loops_items(&l));
    if (parts > 1 && shared_by_loop(c, of->nest, loops_outermost(&l)) > SHARED) {
        choose_split(c, of->nest, parts);
        loops_collect(&l, c, of->nest, used);
        loops_key(&l, c, key);
    }
    loops_finish(&l, c);
}
