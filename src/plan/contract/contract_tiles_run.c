/* contract_tiles_run.c - runs the tiles of a product: packs operands, calls a gemm, unpacks
 * dst.
 *
 * Parts take tiles from a shared counter.  Each part has its own buffers and remembers the
 * panels that they hold.  The work of a tile is the same whichever part takes it. */
#include <stdatomic.h>

#include "contract_plan.h"

#include "blas/blas.h"
#include "plan/plan.h"

typedef struct tiles_job {
    const tni_product_plan *s;
    const tni_contract_kernels *k;
    char *const *at;
    char *workspace;
    int parts;
    atomic_llong next;
} tiles_job;

/* The position of a tile, and its extents. */
typedef struct tiles_cursor {
    int64_t offset[TNI_SIDES], panel[TNI_ADDEND], block[TNI_ROLES];
} tiles_cursor;

static void tiles_find(const tni_tiles *t, int64_t item, tiles_cursor *x)
{
    *x = (tiles_cursor){{0}, {0}, {0}};
    for (int role = TNI_ROWS; role <= TNI_DEPTH; role++)
        x->block[role] = t->in[role].block;
    for (int i = t->nloop - 1; i >= 0; i--) {
        const tni_tile_loop *l = &t->loop[i];
        const int64_t index = item % l->n;
        item /= l->n;
        for (int side = 0; side < TNI_SIDES; side++)
            x->offset[side] += index * l->step[side];
        for (int side = 0; side < TNI_ADDEND; side++)
            x->panel[side] += index * l->panel[side];
        if (l->role >= 0) {
            const tni_panel_axes *in = &t->in[l->role];
            const int64_t left = in->axis[0].n - index * in->block;
            x->block[l->role] = left < in->block ? left : in->block;
        }
    }
}

static int64_t tiles_extent(const tni_tiles *t, const tiles_cursor *x, int role)
{
    return x->block[role] * t->in[role].inside;
}

/* ---- panels ---- */

/* Describe the axes of one side in a tile as a tensor. */
static void tiles_view(tn_tensor *v, const tni_tiles *t, const tiles_cursor *x,
                       const int role[2], int side, tn_dtype dtype)
{
    *v = (tn_tensor){.dtype = dtype};
    v->device = TN_CPU;
    for (int c = 0; c < 2; c++) {
        const tni_panel_axes *in = &t->in[role[c]];
        for (int i = 0; i < in->count; i++) {
            v->shape[v->ndim] = i ? in->axis[i].n : x->block[role[c]];
            v->stride[v->ndim++] = in->axis[i].step[side];
        }
    }
}

/* The same axes as a dense tensor. */
static void tiles_dense(tn_tensor *v, const tn_tensor *like, tn_dtype dtype)
{
    *v = (tn_tensor){.dtype = dtype, .ndim = like->ndim};
    v->device = TN_CPU;
    int64_t step = tni_width(dtype);
    for (int i = like->ndim - 1; i >= 0; i--) {
        v->shape[i] = like->shape[i];
        v->stride[i] = step;
        step *= like->shape[i];
    }
}

static void tiles_pack(const tiles_job *j, const tiles_cursor *x, int side, const char *from,
                       char *to)
{
    const tni_tiles *t = &j->s->tiles;
    const tni_panel *panel = &t->panel[side];
    const int role[2] = {panel->role[panel->transposed], panel->role[!panel->transposed]};
    tn_tensor src, dst;
    tiles_view(&src, t, x, role, side, j->s->p.dtype[side]);
    tiles_dense(&dst, &src, tni_product_inside(&j->s->p, side));
    tni_contract_copy(&dst, to, &src, from);
}

/* Copy the addend to dst's tile, unless it is there already. */
static void tiles_load(const tiles_job *j, const tiles_cursor *x, char *d, bool packed)
{
    const tni_tiles *t = &j->s->tiles;
    const tni_product *p = &j->s->p;
    const char *c = j->at[TNI_ADDEND] + x->offset[TNI_ADDEND];
    if (!packed && c == d)
        return;
    tn_tensor src, dst;
    tiles_view(&src, t, x, t->panel[TNI_DST].role, TNI_ADDEND, p->dtype[TNI_ADDEND]);
    if (packed)
        tiles_dense(&dst, &src, p->compute);
    else
        tiles_view(&dst, t, x, t->panel[TNI_DST].role, TNI_DST, p->dtype[TNI_DST]);
    tni_contract_copy(&dst, d, &src, c);
}

static void tiles_store(const tiles_job *j, const tiles_cursor *x, const char *tile)
{
    const tni_tiles *t = &j->s->tiles;
    tn_tensor dst, src;
    tiles_view(&dst, t, x, t->panel[TNI_DST].role, TNI_DST, j->s->p.dtype[TNI_DST]);
    tiles_dense(&src, &dst, j->s->p.compute);
    tni_contract_copy(&dst, j->at[TNI_DST] + x->offset[TNI_DST], &src, tile);
}

/* ---- one tile ---- */

/* The buffers of a part and the panels that they hold. */
typedef struct tiles_slot {
    char *scratch;
    int64_t has[TNI_ADDEND]; /* the number of the panel; -1: none */
} tiles_slot;

/* The address of a side's panel for `block` of depth's first axis from `depth` on; it is packed
 * now unless a buffer holds it. */
static const char *tiles_source(const tiles_job *j, const tiles_cursor *x, tiles_slot *slot,
                                int side, int64_t depth, int64_t block)
{
    const tni_tiles *t = &j->s->tiles;
    const tni_panel *panel = &t->panel[side];
    const char *at = j->at[side] + x->offset[side];
    if (depth)
        at += depth * t->in[TNI_DEPTH].axis[0].step[side];
    if (!panel->packed)
        return at;
    if (panel->whole)
        return j->workspace + panel->at + x->panel[side] * panel->bytes;
    char *to = slot->scratch + panel->at;
    if (t->depth_cut || slot->has[side] != x->panel[side]) {
        tiles_cursor here = *x;
        here.block[TNI_DEPTH] = block;
        tiles_pack(j, &here, side, at, to);
        slot->has[side] = x->panel[side];
    }
    return to;
}

/* The steps of a panel whose extents are rows x cols. */
static void tiles_steps(const tiles_job *j, int side, int64_t rows, int64_t cols,
                        int64_t step[2])
{
    const tni_panel *panel = &j->s->tiles.panel[side];
    const int64_t w = tni_width(tni_product_inside(&j->s->p, side));
    step[0] = !panel->packed ? panel->step[0] : panel->transposed ? w : cols * w;
    step[1] = !panel->packed ? panel->step[1] : panel->transposed ? rows * w : w;
}

/* Whether the library's own kernel is faster than a BLAS.  Against OpenBLAS 0.3.21 on Zen 4, in
 * f32, 512 x 64 x 512 ran at 92 GF/s against 75, 512 x 512 x 64 at 92 against 87, 256^3 at 114
 * against 105; but 64^3 at 100 against 110, and 1024^3, whose rows are 4 KiB apart and share
 * their lines of L1, at 98 against 103. */
static bool tiles_own(const tiles_job *j, const tni_gemm *g)
{
    enum { HIGH = 128, THIN = 128, WHOLE = 32, PAGE = 4096 };
    const bool thin = g->n <= THIN || g->k <= THIN || g->m + g->n + g->k <= 3 * 2 * THIN;
    return j->k->row[j->s->p.sum].fast && thin && g->m >= HIGH && g->n % WHOLE == 0 &&
           g->d_n == 4 && g->a_m % PAGE != 0;
}

static void tiles_gemm(const tiles_job *j, const tni_gemm *g)
{
    if (j->s->p.take == TN_BF16)
        j->k->gemm_bf16(g);
    else if (!tiles_own(j, g) && tni_blas_takes(j->s->p.sum, g))
        tni_blas_gemm(j->s->p.sum, g);
    else
        j->k->row[j->s->p.sum].gemm(g);
}

/* The offset in dst of index i of all but the last axis of a role. */
static int64_t tiles_offset(const tni_tiles *t, const tiles_cursor *x, int role, int64_t i)
{
    const tni_panel_axes *in = &t->in[role];
    int64_t offset = 0;
    for (int a = in->count - 2; a >= 0; a--) {
        const int64_t n = a ? in->axis[a].n : x->block[role];
        offset += i % n * in->axis[a].step[TNI_DST];
        i /= n;
    }
    return offset;
}

/* Run a gemm for each index of the outer axes of the tile. */
static void tiles_split(const tiles_job *j, const tiles_cursor *x, const tni_gemm *whole)
{
    const tni_tiles *t = &j->s->tiles;
    tni_gemm g = *whole;
    g.m = t->in[TNI_ROWS].count > 1 ? tni_panel_inner(&t->in[TNI_ROWS]) : whole->m;
    g.n = t->in[TNI_COLS].count > 1 ? tni_panel_inner(&t->in[TNI_COLS]) : whole->n;
    for (int64_t r = 0; r < whole->m; r += g.m)
        for (int64_t c = 0; c < whole->n; c += g.n) {
            g.a = whole->a + r * g.a_m;
            g.b = whole->b + c * g.b_n;
            g.d = whole->d + tiles_offset(t, x, TNI_ROWS, r / g.m) +
                  tiles_offset(t, x, TNI_COLS, c / g.n);
            tiles_gemm(j, &g);
        }
}

static void tiles_item(const tiles_job *j, tiles_slot *slot, int64_t item)
{
    const tni_tiles *t = &j->s->tiles;
    const tni_product *p = &j->s->p;
    const tni_panel_axes *depth = &t->in[TNI_DEPTH];
    tiles_cursor x;
    tiles_find(t, item, &x);
    tni_gemm g = {.m = tiles_extent(t, &x, TNI_ROWS), .n = tiles_extent(t, &x, TNI_COLS)};
    const bool packed = t->panel[TNI_DST].packed;
    int64_t step[2];
    tiles_steps(j, TNI_DST, g.m, g.n, step);
    g.d_m = step[0];
    g.d_n = step[1];
    g.d = packed ? slot->scratch + t->panel[TNI_DST].at : j->at[TNI_DST] + x.offset[TNI_DST];
    g.alpha = p->alpha;
    g.beta = p->beta;
    if (p->beta != 0)
        tiles_load(j, &x, g.d, packed);
    const int64_t all = depth->count ? depth->axis[0].n : 1;
    for (int64_t at = 0; at < all; at += depth->block) {
        const int64_t block = all - at < depth->block ? all - at : depth->block;
        g.k = block * depth->inside;
        g.a = tiles_source(j, &x, slot, TNI_LEFT, at, block);
        g.b = tiles_source(j, &x, slot, TNI_RIGHT, at, block);
        tiles_steps(j, TNI_LEFT, g.m, g.k, step);
        g.a_m = step[0];
        g.a_k = step[1];
        tiles_steps(j, TNI_RIGHT, g.k, g.n, step);
        g.b_k = step[0];
        g.b_n = step[1];
        if (t->split)
            tiles_split(j, &x, &g);
        else
            tiles_gemm(j, &g);
        g.beta = 1;
    }
    if (packed)
        tiles_store(j, &x, g.d);
}

/* Take the next tiles of a part: many at first, which share panels, and one by one at the
 * end. */
static bool tiles_next(tiles_job *j, int64_t *first, int64_t *last)
{
    const int64_t items = j->s->tiles.items;
    long long at = atomic_load_explicit(&j->next, memory_order_relaxed), each;
    do {
        each = (items - at) / (4 * j->parts);
        each = each > 64 ? 64 : each < 1 ? 1 : each;
    } while (at < items && !atomic_compare_exchange_weak_explicit(&j->next, &at, at + each,
                                                                  memory_order_relaxed,
                                                                  memory_order_relaxed));
    *first = at;
    *last = at + each;
    return at < items;
}

static void tiles_part(void *arg, int part)
{
    tiles_job *j = arg;
    const tni_tiles *t = &j->s->tiles;
    const size_t own = t->shared + t->slot * (size_t)part;
    tiles_slot slot = {.scratch = j->workspace ? j->workspace + own : NULL,
                       .has = {-1, -1, -1}};
    const bool blas = tni_product_by_blas(&j->s->p);
    const tni_blas_hold hold = blas ? tni_blas_begin() : (tni_blas_hold){0};
    for (int64_t i, last; tiles_next(j, &i, &last);)
        for (; i < last; i++)
            tiles_item(j, &slot, i);
    if (blas)
        tni_blas_end(&hold);
}

/* ---- panels that are packed before the first tile ---- */

typedef struct tiles_whole {
    const tiles_job *job;
    int side, parts;
} tiles_whole;

/* The first tile that uses a panel. */
static int64_t tiles_first_item(const tni_tiles *t, int side, int64_t number)
{
    int64_t item = 0, times = 1;
    for (int i = t->nloop - 1; i >= 0; i--) {
        const tni_tile_loop *l = &t->loop[i];
        if (l->panel[side])
            item += number / l->panel[side] % l->n * times;
        times *= l->n;
    }
    return item;
}

static void tiles_whole_part(void *arg, int part)
{
    const tiles_whole *w = arg;
    const tni_tiles *t = &w->job->s->tiles;
    const tni_panel *panel = &t->panel[w->side];
    int64_t first, last;
    tni_split_range(panel->count, w->parts, part, &first, &last);
    for (int64_t i = first; i < last; i++) {
        tiles_cursor x;
        tiles_find(t, tiles_first_item(t, w->side, i), &x);
        tiles_pack(w->job, &x, w->side, w->job->at[w->side] + x.offset[w->side],
                   w->job->workspace + panel->at + i * panel->bytes);
    }
}

static void tiles_pack_whole(const tiles_job *j, int side)
{
    const tni_panel *panel = &j->s->tiles.panel[side];
    if (!panel->whole)
        return;
    tiles_whole w = {.job = j, .side = side};
    w.parts = tni_run_parts(panel->count * panel->bytes, panel->count);
    tni_parallel(w.parts, tiles_whole_part, &w);
}

void tni_tiles_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    enum { WORTH = 1 << 18 }; /* flops that pay for waking a thread: about 3 us of gemm */
    tiles_job j = {.s = s, .at = at, .workspace = workspace};
    j.k = tni_kernels_of(tni_isa_level())->contract;
    tiles_pack_whole(&j, TNI_LEFT);
    tiles_pack_whole(&j, TNI_RIGHT);
    int parts = tni_threads();
    if (parts > s->tiles.slots)
        parts = s->tiles.slots;
    if (parts > 1 && s->flops / WORTH < parts)
        parts = s->flops / WORTH > 1 ? (int)(s->flops / WORTH) : 1;
    if (parts > 1 && !tni_threads_pay(s->flops / 2)) /* 2 flops take as long as a byte copied */
        parts = 1;
    if (tni_product_by_blas(&s->p))
        parts = tni_blas_parts(parts);
    j.parts = parts;
    tni_parallel(parts, tiles_part, &j);
}
