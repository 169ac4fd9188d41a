/* contract_lanes.c - computes sums side by side: each step multiplies two strips into a strip
 * of sums.
 *
 * This is the way for products without rows and cols (many short dot products), and for what is
 * not a product at all: dst = beta * addend. */
#include "contract_plan.h"

#include "plan/plan.h"

enum { LANES_AXES = 3 * TN_MAX_NDIM };

typedef struct lanes_job {
    const tni_product *p;
    const tni_contract_row *row;
    tni_strip_io left, right, addend, dst;
    tni_contract_axis inner;
    const tni_contract_axis *outer[LANES_AXES];
    int nouter, parts;
    int64_t items, blocks, depth; /* depth is 0 if nothing is multiplied */
    char *at[TNI_SIDES];
} lanes_job;

/* Make dst's fastest axis, whatever its role, the strip, and the others loops. */
static void lanes_axes(lanes_job *j)
{
    const tni_contract_axis *best = NULL;
    for (int c = 0; c < TNI_DEPTH; c++)
        for (int i = 0; i < j->p->count[c]; i++) {
            const tni_contract_axis *x = &j->p->axis[c][i];
            if (!best || x->step[TNI_DST] < best->step[TNI_DST])
                best = x;
        }
    for (int c = 0; c < TNI_DEPTH; c++)
        for (int i = 0; i < j->p->count[c]; i++)
            if (&j->p->axis[c][i] != best)
                j->outer[j->nouter++] = &j->p->axis[c][i];
    j->inner = best ? *best : (tni_contract_axis){1, {0}};
    j->blocks = tni_ceil_div(j->inner.n, TNI_SUM_STRIP);
    j->items = j->blocks;
    for (int i = 0; i < j->nouter; i++)
        j->items *= j->outer[i]->n;
}

static void lanes_sum(const lanes_job *j, char *acc, char *left, char *right, int64_t n)
{
    _Alignas(64) char scratch[2][TNI_SUM_STRIP * 16];
    const tni_product *p = j->p;
    for (int64_t o = 0; o < j->depth; o++) {
        char *at[TNI_SIDES] = {[TNI_LEFT] = left, [TNI_RIGHT] = right};
        tni_contract_seek(at, p->axis[TNI_DEPTH], p->count[TNI_DEPTH], o);
        const char *l = at[TNI_LEFT], *r = at[TNI_RIGHT];
        int64_t l_step = j->inner.step[TNI_LEFT], r_step = j->inner.step[TNI_RIGHT];
        if (j->left.cast.steps) {
            l = tni_strip_read(&j->left, scratch[0], l, n, l_step);
            l_step = tni_width(p->compute);
        }
        if (j->right.cast.steps) {
            r = tni_strip_read(&j->right, scratch[1], r, n, r_step);
            r_step = tni_width(p->compute);
        }
        j->row->lanes(acc, l, r, n, l_step, r_step);
    }
}

static void lanes_item(const lanes_job *j, int64_t item)
{
    _Alignas(64) char acc[TNI_SUM_STRIP * 16], scratch[TNI_SUM_STRIP * 16];
    const int64_t first = item % j->blocks * TNI_SUM_STRIP;
    const int64_t n = j->inner.n - first < TNI_SUM_STRIP ? j->inner.n - first : TNI_SUM_STRIP;
    char *at[TNI_SIDES];
    item /= j->blocks;
    for (int k = 0; k < TNI_SIDES; k++)
        at[k] = j->at[k] ? j->at[k] + first * j->inner.step[k] : NULL;
    for (int i = j->nouter - 1; i >= 0; i--) {
        for (int k = 0; k < TNI_SIDES; k++)
            if (at[k])
                at[k] += item % j->outer[i]->n * j->outer[i]->step[k];
        item /= j->outer[i]->n;
    }
    memset(acc, 0, (size_t)(n * tni_width(j->p->compute)));
    lanes_sum(j, acc, at[TNI_LEFT], at[TNI_RIGHT], n);
    const char *c = NULL;
    if (j->p->beta != 0)
        c = tni_strip_read(&j->addend, scratch, at[TNI_ADDEND], n, j->inner.step[TNI_ADDEND]);
    if (j->depth == 0 || j->p->alpha != 1 || c)
        j->row->finish(acc, acc, c, n, j->depth ? j->p->alpha : 0, j->p->beta);
    tni_strip_write(&j->dst, at[TNI_DST], acc, n, j->inner.step[TNI_DST]);
}

static void lanes_part(void *arg, int part)
{
    const lanes_job *j = arg;
    int64_t first, last;
    tni_split_range(j->items, j->parts, part, &first, &last);
    for (int64_t i = first; i < last; i++)
        lanes_item(j, i);
}

static tni_strip_io lanes_io(tn_dtype from, tn_dtype to, tn_dtype tensor)
{
    return (tni_strip_io){tni_cast_chain(tni_isa_level(), from, to), tni_width(tensor)};
}

void tni_lanes_run(const tni_product_plan *s, char *const at[TNI_SIDES], char *workspace)
{
    (void)workspace;
    const tni_product *p = &s->p;
    lanes_job j = {.p = p, .row = &tni_kernels_of(tni_isa_level())->contract->row[p->sum]};
    j.left = lanes_io(p->dtype[TNI_LEFT], p->compute, p->dtype[TNI_LEFT]);
    j.right = lanes_io(p->dtype[TNI_RIGHT], p->compute, p->dtype[TNI_RIGHT]);
    j.dst = lanes_io(p->compute, p->dtype[TNI_DST], p->dtype[TNI_DST]);
    if (p->beta != 0)
        j.addend = lanes_io(p->dtype[TNI_ADDEND], p->compute, p->dtype[TNI_ADDEND]);
    for (int k = 0; k < TNI_SIDES; k++)
        j.at[k] = at[k];
    j.depth = p->alpha != 0 ? p->size[TNI_DEPTH] : 0;
    lanes_axes(&j);
    const int64_t each = tni_width(p->dtype[TNI_LEFT]) + tni_width(p->dtype[TNI_RIGHT]);
    const int64_t count = p->size[TNI_BATCH] * p->size[TNI_ROWS] * p->size[TNI_COLS];
    j.parts =
        tni_run_parts(tni_mul_saturated(tni_mul_saturated(count, j.depth + 1), each), j.items);
    tni_parallel(j.parts, lanes_part, &j);
}

/* Many short dot products: a kernel call for each would cost more than its work. */
bool tni_lanes_fit(tni_product_plan *s)
{
    enum { SHORT = 32 }; /* not measured: four vectors of eight f32 */
    if (s->p.count[TNI_ROWS] || s->p.count[TNI_COLS] || s->p.size[TNI_DEPTH] > SHORT)
        return false;
    s->why = "each product is one short sum: sums are computed side by side";
    return true;
}
