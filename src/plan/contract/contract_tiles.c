/* contract_tiles.c - divides a product into tiles and chooses the operands that are packed.
 *
 * A tile has some axes of rows, some of cols and all of depth.  An operand whose axes in a tile
 * merge into a matrix with a unit stride is used in place; others are packed, and halves and
 * integers are widened on the way.  Candidates are compared by the model of contract_cost.c.
 * Only shapes, steps and dtypes enter, so that bits do not depend on threads. */
#include "contract_plan.h"

#include "plan/plan.h"

enum {
    TILE_PANEL = 512 << 10, /* bytes of a tile's thin panels: half of L2 on Zen 4 */
    /* Not measured, bounds of memory: in TILE_DEPTH, the panels of 512 x 4096 f32 have a depth
     * of 910, and panels in TILE_WHOLE take no more than those of two parts. */
    TILE_WIDE = 4096,      /* the most rows or cols of a packed tile */
    TILE_DEPTH = 16 << 20, /* bytes of a tile's panels beyond which depth is split */
    TILE_WHOLE = 32 << 20, /* bytes of panels that are packed before the first tile */
    /* Not measured, a bound of planning: ten sets of rows, and as many of cols. */
    TILE_SINGLES = 5,     /* axes of a role that are tried alone */
    TILE_MORE = 3,        /* axes that are tried together with the fastest ones */
    TILE_BOTH = TNI_SIDES /* an order: by the smaller step of dst and source */
};

/* The axes of rows and cols in the tile, and the operand whose order they have there. */
typedef struct tiles_choice {
    uint64_t mask[TNI_ROLES];
    int order[TNI_ROLES];
    bool split;
} tiles_choice;

/* ---- sizes of a tile, by shape alone ---- */

/* Divide the long side of dst into pieces of 512, 256 or 128: enough pieces for the threads,
 * each large enough for a gemm; larger ones if the other sides are thin.  With 512, 2048^3
 * reaches 190 GF/s of 188 on 2 cores of Zen 4, and 130 in squares of 256. */
static void tiles_want(const tni_product *p, int64_t want[TNI_ROLES])
{
    const int64_t m = p->size[TNI_ROWS], n = p->size[TNI_COLS], k = p->size[TNI_DEPTH];
    const int64_t wide = m > n ? m : n, thin = m > n ? n : m;
    int64_t piece = 512;
    while (piece > 128 && tni_mul_saturated(p->size[TNI_BATCH], tni_ceil_div(wide, piece)) < 4)
        piece /= 2;
    const int64_t fours = tni_round_up(tni_ceil_div(wide, piece), 4);
    if (p->size[TNI_BATCH] < 4 && wide / fours >= 128) /* a few threads get equally many */
        piece = tni_ceil_div(wide, fours);
    const int64_t fits = TILE_PANEL / (tni_width(p->compute) * (thin + k));
    if (fits > piece && tni_ceil_div(wide, fits) >= 16)
        piece = fits < TILE_WIDE ? fits : TILE_WIDE;
    want[TNI_ROWS] = m > n ? piece : TILE_WIDE;
    want[TNI_COLS] = m > n ? TILE_WIDE : piece;
}

/* ---- the axes of a role in a tile ---- */

/* The step by which an axis is ordered: that in one operand, or the smaller one of dst and
 * source. */
static int64_t tiles_slowness(const tni_contract_axis *x, int order)
{
    if (order != TILE_BOTH)
        return tni_abs_step(x->step[order]);
    const int64_t d = tni_abs_step(x->step[TNI_DST]),
                  s = tni_abs_step(x->step[TNI_LEFT]) + tni_abs_step(x->step[TNI_RIGHT]);
    return d < s ? d : s;
}

static bool tiles_before(const tni_contract_axis *a, const tni_contract_axis *b, int order)
{
    return tiles_slowness(a, order) > tiles_slowness(b, order);
}

/* Collect the masked axes of a role in this order, and split the first so that about `want`
 * indices remain; false if the axes do not fit a tile. */
static bool tiles_take(tni_panel_axes *in, const tni_product *p, int role, uint64_t mask,
                       int order, int64_t want)
{
    in->count = 0;
    in->inside = in->block = 1;
    for (int i = 0; i < p->count[role]; i++) {
        if (!(mask >> i & 1))
            continue;
        if (in->count == TNI_PANEL_AXES)
            return false;
        int j = in->count++;
        for (; j > 0 && tiles_before(&p->axis[role][i], &in->axis[j - 1], order); j--)
            in->axis[j] = in->axis[j - 1];
        in->axis[j] = p->axis[role][i];
    }
    for (int i = 1; i < in->count; i++)
        in->inside *= in->axis[i].n;
    if (in->inside > 2 * TILE_WIDE && role != TNI_DEPTH)
        return false;
    if (in->count) {
        const int64_t each = want / in->inside > 1 ? want / in->inside : 1;
        const int64_t pieces = tni_ceil_div(in->axis[0].n, each);
        in->block = tni_ceil_div(in->axis[0].n, pieces);
    }
    return true;
}

/* Whether an operand walks all axes of a role as one; *step is their common step. */
static bool tiles_merge(const tni_panel_axes *in, int side, int64_t *step)
{
    *step = in->count ? in->axis[in->count - 1].step[side] : 0;
    for (int i = 0; i + 1 < in->count; i++)
        if (in->axis[i].step[side] != in->axis[i + 1].n * in->axis[i + 1].step[side])
            return false;
    return true;
}

static bool tiles_matrix(int64_t inner, int64_t outer, int64_t along, int64_t step,
                         int64_t width)
{
    return (inner == 1 || along == width) &&
           (outer == 1 || (step % width == 0 && step >= inner * width));
}

/* Whether a gemm can use the operand in place. */
static bool tiles_direct(const tni_tiles *t, const tni_product *p, int side)
{
    const tn_dtype inside = tni_product_inside(p, side);
    const int64_t w = tni_width(inside);
    const tni_panel *x = &t->panel[side];
    int64_t u, v;
    if (p->dtype[side] != inside || (p->compute == TN_BOOL && side != TNI_DST) ||
        !tiles_merge(&t->in[x->role[0]], side, &u) ||
        !tiles_merge(&t->in[x->role[1]], side, &v))
        return false;
    const int64_t rows = t->tile[x->role[0]], cols = t->tile[x->role[1]];
    return tiles_matrix(cols, rows, v, u, w) ||
           (side != TNI_DST && tiles_matrix(rows, cols, u, v, w));
}

/* Whether a gemm over the last axes of rows and cols can write into dst in place. */
static bool tiles_split(const tni_tiles *t, const tni_product *p)
{
    const tni_panel_axes *rows = &t->in[TNI_ROWS], *cols = &t->in[TNI_COLS];
    if (p->dtype[TNI_DST] != p->compute || (rows->count < 2 && cols->count < 2))
        return false;
    const int64_t u = rows->count ? rows->axis[rows->count - 1].step[TNI_DST] : 0,
                  v = cols->count ? cols->axis[cols->count - 1].step[TNI_DST] : 0;
    return tiles_matrix(tni_panel_inner(cols), tni_panel_inner(rows), v, u,
                        tni_width(p->compute));
}

static int64_t tiles_least(const tni_panel_axes *in, int side)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i < in->count; i++)
        if (tni_abs_step(in->axis[i].step[side]) < least)
            least = tni_abs_step(in->axis[i].step[side]);
    return least;
}

static void tiles_panel(tni_tiles *t, const tni_product *p, int side)
{
    static const int roles[TNI_ADDEND][2] = {
        {TNI_ROWS, TNI_COLS}, {TNI_ROWS, TNI_DEPTH}, {TNI_DEPTH, TNI_COLS}};
    tni_panel *x = &t->panel[side];
    for (int i = 0; i < 2; i++)
        x->role[i] = roles[side][i];
    const tni_panel_axes *first = &t->in[x->role[0]], *second = &t->in[x->role[1]];
    x->packed = !tiles_direct(t, p, side) && !(side == TNI_DST && t->split);
    x->transposed = side != TNI_DST && tiles_least(first, side) < tiles_least(second, side);
    for (int i = 0; i < 2; i++)
        x->step[i] = t->in[x->role[i]].count
                         ? t->in[x->role[i]].axis[t->in[x->role[i]].count - 1].step[side]
                         : 0;
    const int64_t bytes =
        t->tile[x->role[0]] * t->tile[x->role[1]] * tni_width(tni_product_inside(p, side));
    x->bytes = x->packed ? tni_round_up(bytes, 64) : 0;
}

/* ---- loops around the tiles ---- */

static void tiles_add_loop(tni_tiles *t, int64_t n, const int64_t *step, int64_t times,
                           int role)
{
    if (n == 1)
        return;
    tni_tile_loop *l = &t->loop[t->nloop++];
    l->n = n;
    l->role = role;
    for (int side = 0; side < TNI_SIDES; side++)
        l->step[side] = step[side] * times;
}

/* Add loops over the axes of a role that are not in the tile, then over the blocks of the axis
 * that is split. */
static void tiles_loops(tni_tiles *t, const tni_product *p, int role, uint64_t mask)
{
    for (int i = 0; i < p->count[role]; i++)
        if (!(mask >> i & 1))
            tiles_add_loop(t, p->axis[role][i].n, p->axis[role][i].step, 1, -1);
    const tni_panel_axes *in = &t->in[role];
    if (role != TNI_BATCH && in->count)
        tiles_add_loop(t, tni_ceil_div(in->axis[0].n, in->block), in->axis[0].step, in->block,
                       role);
}

/* The role with more tiles is the inner loop, so that the other operand's panels are packed
 * once. */
static void tiles_order_loops(tni_tiles *t, const tni_product *p, const tiles_choice *c)
{
    const int64_t rows = tni_ceil_div(p->size[TNI_ROWS], t->tile[TNI_ROWS]),
                  cols = tni_ceil_div(p->size[TNI_COLS], t->tile[TNI_COLS]);
    const int fast = rows < cols ? TNI_COLS : TNI_ROWS, slow = TNI_ROWS + TNI_COLS - fast;
    t->nloop = 0;
    tiles_loops(t, p, TNI_BATCH, 0);
    tiles_loops(t, p, slow, c->mask[slow]);
    tiles_loops(t, p, fast, c->mask[fast]);
    t->items = 1;
    for (int i = 0; i < t->nloop; i++)
        t->items *= t->loop[i].n;
}

/* Whether a side has a different panel for each index of a loop: other elements, or a last
 * block that is shorter and packed with other steps, which matters even if the axis is
 * broadcast. */
static bool tiles_changes_panel(const tni_tiles *t, const tni_tile_loop *l, int side)
{
    if (l->step[side])
        return true;
    const tni_panel *x = &t->panel[side];
    if (l->role < 0 || (x->role[0] != l->role && x->role[1] != l->role))
        return false;
    const tni_panel_axes *in = &t->in[l->role];
    return in->axis[0].n % in->block != 0;
}

/* Number the panels of each side, and choose those that are packed before the tiles. */
static void tiles_number(tni_tiles *t)
{
    for (int side = 0; side < TNI_ADDEND; side++) {
        tni_panel *x = &t->panel[side];
        x->count = 1;
        for (int i = t->nloop - 1; i >= 0; i--) {
            const bool changes = tiles_changes_panel(t, &t->loop[i], side);
            t->loop[i].panel[side] = changes ? x->count : 0;
            x->count *= changes ? t->loop[i].n : 1;
        }
        x->whole = x->packed && side != TNI_DST && !t->depth_cut && x->count < t->items &&
                   tni_mul_saturated(x->count, x->bytes) <= TILE_WHOLE;
    }
}

/* Lay out the tiles of one choice; false if it is impossible. */
static bool tiles_lay(tni_tiles *t, const tni_product *p, const tiles_choice *c)
{
    int64_t want[TNI_ROLES];
    tiles_want(p, want);
    for (int role = TNI_ROWS; role <= TNI_COLS; role++) {
        if (!tiles_take(&t->in[role], p, role, c->mask[role], c->order[role], want[role]))
            return false;
        t->tile[role] = t->in[role].block * t->in[role].inside;
    }
    const int64_t side = t->tile[TNI_ROWS] + t->tile[TNI_COLS];
    if (!tiles_take(&t->in[TNI_DEPTH], p, TNI_DEPTH, c->mask[TNI_DEPTH], c->order[TNI_DEPTH],
                    INT64_MAX))
        return false;
    t->tile[TNI_DEPTH] = p->size[TNI_DEPTH];
    t->depth_cut = false;
    t->split = c->split;
    if (c->split && !tiles_split(t, p))
        return false;
    for (int k = 0; k < TNI_ADDEND; k++)
        tiles_panel(t, p, k);
    const int64_t depth = TILE_DEPTH / (side * tni_width(p->compute));
    if ((t->panel[TNI_LEFT].packed || t->panel[TNI_RIGHT].packed) &&
        p->size[TNI_DEPTH] > depth) {
        if (!tiles_take(&t->in[TNI_DEPTH], p, TNI_DEPTH, c->mask[TNI_DEPTH],
                        c->order[TNI_DEPTH], depth) ||
            t->in[TNI_DEPTH].inside > 2 * depth)
            return false;
        t->tile[TNI_DEPTH] = t->in[TNI_DEPTH].block * t->in[TNI_DEPTH].inside;
        t->depth_cut = t->tile[TNI_DEPTH] < p->size[TNI_DEPTH];
        for (int k = TNI_LEFT; k <= TNI_RIGHT; k++)
            tiles_panel(t, p, k);
    }
    tiles_order_loops(t, p, c);
    tiles_number(t);
    t->cost = tni_tiles_cost(t, p);
    return true;
}

bool tni_product_pairs(const tni_product *p)
{
    return p->dtype[TNI_LEFT] == TN_BF16 && p->dtype[TNI_RIGHT] == TN_BF16 &&
           p->compute == TN_F32 && tni_cpu_bf16();
}

/* ---- the choice ---- */

/* The axis of a role with the smallest step in an operand; -1 if there is none. */
static int tiles_fastest(const tni_product *p, int role, int side)
{
    int best = -1;
    for (int i = 0; i < p->count[role]; i++)
        if (best < 0 || tni_abs_step(p->axis[role][i].step[side]) <
                            tni_abs_step(p->axis[role][best].step[side]))
            best = i;
    return best;
}

/* List the sets of axes worth trying: each axis alone; the fastest of dst and of the source,
 * with none or one more; all. */
static int tiles_sets(const tni_product *p, int role, uint64_t *sets)
{
    const int count = p->count[role], source = role == TNI_ROWS ? TNI_LEFT : TNI_RIGHT;
    int n = 0;
    if (count <= 1) {
        sets[n++] = count ? 1 : 0;
        return n;
    }
    for (int i = count - 1; i >= 0 && n < TILE_SINGLES; i--)
        sets[n++] = (uint64_t)1 << i;
    const uint64_t fast = (uint64_t)1 << tiles_fastest(p, role, TNI_DST) |
                          (uint64_t)1 << tiles_fastest(p, role, source);
    sets[n++] = fast;
    for (int i = count - 1, more = 0; i >= 0 && more < TILE_MORE; i--)
        if (!(fast >> i & 1)) {
            sets[n++] = fast | (uint64_t)1 << i;
            more++;
        }
    if (count < 64)
        sets[n++] = ((uint64_t)1 << count) - 1;
    return n;
}

typedef struct tiles_search {
    const tni_product *p;
    tni_tiles *t;
    tiles_choice best;
    double cost; /* negative: none yet */
} tiles_search;

static void tiles_try(tiles_search *s, const tiles_choice *c)
{
    if (tiles_lay(s->t, s->p, c) && (s->cost < 0 || s->t->cost < s->cost)) {
        s->cost = s->t->cost;
        s->best = *c;
    }
}

/* Try every order of the axes of two sets. */
static void tiles_try_orders(tiles_search *s, uint64_t rows, uint64_t cols)
{
    const int many_rows = (rows & (rows - 1)) != 0, many_cols = (cols & (cols - 1)) != 0,
              many_depth = s->p->count[TNI_DEPTH] > 1;
    static const int row_orders[] = {TNI_DST, TNI_LEFT, TILE_BOTH},
                     col_orders[] = {TNI_DST, TNI_RIGHT, TILE_BOTH};
    for (int r = 0; r <= 2 * many_rows; r++)
        for (int c = 0; c <= 2 * many_cols; c++)
            for (int k = 0; k <= many_depth; k++) {
                tiles_choice choice = {.mask = {0, rows, cols, ~(uint64_t)0}};
                choice.order[TNI_ROWS] = row_orders[r];
                choice.order[TNI_COLS] = col_orders[c];
                choice.order[TNI_DEPTH] = k ? TNI_RIGHT : TNI_LEFT;
                tiles_try(s, &choice);
                choice.split = true;
                if (many_rows || many_cols)
                    tiles_try(s, &choice);
            }
}

static void tiles_slots(tni_product_plan *s)
{
    tni_tiles *t = &s->tiles;
    const int threads = tni_threads();
    ASSERT(t->items >= 1 && t->nloop <= TNI_LOOP_MOST);
    t->slots = t->items < threads ? (int)t->items : threads;
    t->slot = t->shared = 0;
    for (int side = 0; side < TNI_ADDEND; side++) {
        tni_panel *x = &t->panel[side];
        size_t *in = x->whole ? &t->shared : &t->slot;
        x->at = *in;
        if (x->packed)
            *in += (size_t)x->bytes * (x->whole ? (size_t)x->count : 1);
    }
    s->workspace = t->shared + t->slot * (size_t)t->slots;
}

bool tni_tiles_fit(tni_product_plan *s)
{
    uint64_t rows[TILE_SINGLES + TILE_MORE + 2], cols[TILE_SINGLES + TILE_MORE + 2];
    tiles_search search = {.p = &s->p, .t = &s->tiles, .cost = -1};
    if (tni_product_pairs(&s->p))
        s->p.take = TN_BF16;
    const int nrows = tiles_sets(&s->p, TNI_ROWS, rows);
    const int ncols = tiles_sets(&s->p, TNI_COLS, cols);
    ASSERT(nrows <= COUNT(rows) && ncols <= COUNT(cols));
    for (int i = 0; i < nrows; i++)
        for (int j = 0; j < ncols; j++)
            tiles_try_orders(&search, rows[i], cols[j]);
    if (search.cost < 0)
        return false;
    if (!tiles_lay(&s->tiles, &s->p, &search.best))
        return false;
    tiles_slots(s);
    return true;
}
