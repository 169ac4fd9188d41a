/* contract_ways.c - the ways to compute one product, in the order in which they are tried. */
#include "contract_plan.h"

#include "plan/plan.h"

static bool nothing_fits(tni_product_plan *s)
{
    const tni_product *p = &s->p;
    s->why = "dst has no elements";
    return !p->size[TNI_BATCH] || !p->size[TNI_ROWS] || !p->size[TNI_COLS];
}

static void contract_nothing_run(const tni_product_plan *s, char *const at[TNI_SIDES],
                                 char *workspace)
{
    (void)s;
    (void)at;
    (void)workspace;
}

static bool scale_fits(tni_product_plan *s)
{
    s->why = "nothing is summed: beta * c";
    return !s->p.size[TNI_DEPTH];
}

/* A single tensor and nothing to sum: a copy or a cast. */
static bool copy_fits(tni_product_plan *s)
{
    s->why = "nothing is multiplied or summed";
    return s->p.alone && !s->p.count[TNI_DEPTH] && s->p.alpha == 1 && s->p.beta == 0;
}

static void copy_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    (void)workspace;
    const tni_product *p = &s->p;
    const int side = p->swapped ? TNI_RIGHT : TNI_LEFT, role = p->swapped ? TNI_COLS : TNI_ROWS;
    tn_tensor dst = {.dtype = p->dtype[TNI_DST], .ndim = p->count[role]};
    tn_tensor src = {.dtype = p->dtype[side], .ndim = p->count[role]};
    for (int i = 0; i < p->count[role]; i++) {
        dst.shape[i] = src.shape[i] = p->axis[role][i].n;
        dst.stride[i] = p->axis[role][i].step[TNI_DST];
        src.stride[i] = p->axis[role][i].step[side];
    }
    tni_contract_copy(&dst, at[TNI_DST], &src, at[side]);
}

/* ---- tiles: one plan, named by what is packed ---- */

static bool tiles_pack(const tni_tiles *t)
{
    return t->panel[TNI_DST].packed || t->panel[TNI_LEFT].packed || t->panel[TNI_RIGHT].packed;
}

static bool direct_fits(tni_product_plan *s)
{
    const tni_product *p = &s->p;
    s->why = "every operand is a matrix with a unit stride";
    s->tiled = tni_tiles_fit(s);
    return s->tiled && !tiles_pack(&s->tiles) && p->count[TNI_ROWS] <= 1 &&
           p->count[TNI_COLS] <= 1 && !p->count[TNI_BATCH];
}

static bool loops_fit(tni_product_plan *s)
{
    s->why = "every operand is a matrix with a unit stride, in loops over the other axes";
    return s->tiled && !tiles_pack(&s->tiles);
}

static bool ttgt_fits(tni_product_plan *s)
{
    const tni_product *p = &s->p;
    s->why = "a gemm cannot take every operand in place: tiles of them are packed";
    return s->tiled && p->dtype[TNI_DST] == p->compute && p->dtype[TNI_LEFT] == p->take &&
           p->dtype[TNI_RIGHT] == p->take && p->sum <= TNI_SUM_C128;
}

static bool panels_fit(tni_product_plan *s)
{
    s->why = s->p.take == TN_BF16
                 ? "pairs of bf16 are multiplied into f32, and tiles rounded once"
                 : "tiles are converted to the compute type as they are packed";
    return s->tiled;
}

/* Products whose axes no panel holds. */
static bool rest_fits(tni_product_plan *s)
{
    s->why = "too many axes for a panel: sums are computed side by side";
    return true;
}

static const tni_contract_way ways[] = {
    {"nothing", nothing_fits, contract_nothing_run},
    {"scale", scale_fits, tni_lanes_run},
    {"copy", copy_fits, copy_run},
    {"lanes", tni_lanes_fit, tni_lanes_run},
    {"small", tni_small_fits, tni_small_run},
    {"gemv", tni_vector_fits, tni_vector_run},
    {"direct", direct_fits, tni_tiles_run},
    {"loops over gemm", loops_fit, tni_tiles_run},
    {"TTGT", ttgt_fits, tni_tiles_run},
    {"panels", panels_fit, tni_tiles_run},
    {"lanes", rest_fits, tni_lanes_run},
};

static int64_t step_flops(const tni_product *p)
{
    const int64_t each = p->sum == TNI_SUM_C64 || p->sum == TNI_SUM_C128 ? 8 : 2;
    int64_t flops = p->alpha != 0 ? each : 0;
    for (int c = 0; c < TNI_ROLES; c++)
        flops = p->size[c] ? tni_mul_saturated(flops, p->size[c]) : 0;
    return flops;
}

void tni_product_choose(tni_product_plan *s)
{
    s->workspace = 0;
    s->tiled = false;
    s->flops = step_flops(&s->p);
    s->way = ways;
    while (!s->way->fits(s))
        s->way++;
}

void tni_product_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    const tni_product *p = &s->p;
    char *shifted[TNI_SIDES];
    ASSERT(workspace || s->workspace == 0);
    for (int k = 0; k < TNI_SIDES; k++) {
        const int from = p->swapped && k == TNI_LEFT    ? TNI_RIGHT
                         : p->swapped && k == TNI_RIGHT ? TNI_LEFT
                                                        : k;
        shifted[k] = at[from] ? at[from] + p->shift[k] : NULL;
    }
    if (UNLIKELY(p->alpha == 0)) /* alpha is that of this run, whatever the plan is */
        tni_lanes_run(s, shifted, workspace);
    else
        s->way->run(s, shifted, workspace);
}
