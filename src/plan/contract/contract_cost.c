/* contract_cost.c - the cost model that chooses between layouts of tiles.
 *
 * Its numbers are measured; a wrong one costs time and nothing else. */
#include "contract_plan.h"

#include "plan/plan.h"

/* The bytes of an operand that are contiguous in a tile. */
static int64_t cost_together(const tni_tiles *t, const tni_product *p, int side)
{
    const tni_panel *x = &t->panel[side];
    int64_t bytes = tni_width(p->dtype[side]);
    for (bool more = true; more;) {
        more = false;
        for (int c = 0; c < 2; c++)
            for (int i = 0; i < t->in[x->role[c]].count; i++) {
                const tni_panel_axes *in = &t->in[x->role[c]];
                const int64_t n = i ? in->axis[i].n : in->block;
                if (n > 1 && tni_abs_step(in->axis[i].step[side]) == bytes) {
                    bytes *= n;
                    more = true;
                }
            }
    }
    return bytes;
}

/* How often a side's panel changes from one tile to the next. */
static double cost_changes(const tni_tiles *t, int side)
{
    double changes = 1, all = 1;
    for (int i = 0; i < t->nloop; i++) {
        all *= (double)t->loop[i].n;
        if (t->loop[i].panel[side])
            changes = all;
    }
    return changes;
}

enum { COST_NEAR = 200 << 10 }; /* bytes of a panel that is still cached when it is used */

/* The cost in nanoseconds of one thread of Zen 4.  A gemm runs at 100 flops/ns (170 in bf16),
 * less what thin sides cost (24 x 48 x 48 ran at 72, 24^3 at 31), and takes 300 ns to begin.  A
 * byte of memory takes 1/12 ns, and more in short pieces: 192 bytes at a time came at 5
 * bytes/ns.  Packing writes to the cache at 16 bytes/ns, or at 5 if a panel is half of L2; a
 * copy takes 1200 ns to plan. */
double tni_tiles_cost(const tni_tiles *t, const tni_product *p)
{
    const tni_panel_axes *rows = &t->in[TNI_ROWS], *cols = &t->in[TNI_COLS];
    const double m = (double)(t->split ? tni_panel_inner(rows) : t->tile[TNI_ROWS]),
                 n = (double)(t->split ? tni_panel_inner(cols) : t->tile[TNI_COLS]),
                 k = (double)t->tile[TNI_DEPTH], rate = p->take == TN_BF16 ? 170 : 100;
    const double gemms =
        (double)t->items * (double)t->tile[TNI_ROWS] / m * (double)t->tile[TNI_COLS] / n;
    double ns = gemms * (300 + 2 * m * n * k / rate * (1 + 4 / m + 4 / n + 6 / k));
    for (int side = 0; side < TNI_ADDEND; side++) {
        const tni_panel *x = &t->panel[side];
        const double elements = (double)(t->tile[x->role[0]] * t->tile[x->role[1]]);
        const double touch = 1.0 / 12 + 24 / (double)cost_together(t, p, side);
        const double times = x->whole ? (double)x->count : cost_changes(t, side);
        double each = elements * (double)tni_width(p->dtype[side]) * touch * (side ? 1 : 1.5);
        if (x->packed)
            each += 1200 + (double)x->bytes / (x->bytes < COST_NEAR ? 16 : 5);
        ns += times * each;
    }
    return ns;
}
