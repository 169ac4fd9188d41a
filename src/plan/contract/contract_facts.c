/* contract_facts.c - describes a contraction for tn_plan_facts and tn_plan_explain. */
#include <stdio.h>

#include "contract_chain.h"

#include "blas/blas.h"
#include "plan/plan.h"

/* List the caller's operands that are packed: ", a packed, dst packed". */
static void facts_packed(char *text, size_t size, const tni_product_plan *s)
{
    static const char *const names[] = {"dst", "a", "b"};
    size_t used = 0;
    text[0] = 0;
    for (int i = 1; i <= TNI_ADDEND; i++) {
        const int side = i % TNI_ADDEND;
        if (!s->tiles.panel[side].packed)
            continue;
        const int name = side && s->p.swapped ? TNI_LEFT + TNI_RIGHT - side : side;
        used += (size_t)snprintf(text + used, size - used, ", %s packed", names[name]);
    }
}

/* List the caller's operands that a gemm takes transposed: ", b transposed". */
static void facts_transposed(char *text, size_t size, const tni_product_plan *s)
{
    const tni_panel *left = &s->tiles.panel[TNI_LEFT], *right = &s->tiles.panel[TNI_RIGHT];
    const int64_t w = tni_width(s->p.take);
    const bool rows_of_left = !left->packed && left->step[0] == w,
               depth_of_left = !left->packed && left->step[1] == w,
               depth_of_right = !right->packed && right->step[0] == w,
               cols_of_right = !right->packed && right->step[1] == w;
    const bool a = s->p.swapped ? cols_of_right : rows_of_left,
               b = s->p.swapped ? depth_of_left : depth_of_right;
    snprintf(text, size, "%s%s", a ? ", a transposed" : "", b ? ", b transposed" : "");
}

/* The extent of a role in one gemm if tiles were not split into blocks. */
static int64_t facts_extent(const tni_tiles *t, int role)
{
    const tni_panel_axes *in = &t->in[role];
    return in->inside * (in->count ? in->axis[0].n : 1);
}

static void facts_step(const tni_product_plan *s, tn_facts *f)
{
    const tni_product *p = &s->p;
    const int rows = p->swapped ? TNI_COLS : TNI_ROWS, cols = TNI_ROWS + TNI_COLS - rows;
    char packed[64] = "", transposed[40] = "";
    int64_t m = p->size[rows], n = p->size[cols], times = p->size[TNI_BATCH];
    if (s->tiled) {
        times *= m / facts_extent(&s->tiles, rows) * (n / facts_extent(&s->tiles, cols));
        m = facts_extent(&s->tiles, rows);
        n = facts_extent(&s->tiles, cols);
        facts_packed(packed, sizeof packed, s);
        facts_transposed(transposed, sizeof transposed, s);
    }
    if (f->nmore < TN_FACTS_MORE - 1)
        tni_facts_add(f, "gemm", "%lld x %lld x %lld, %lld time%s%s%s", (long long)m,
                      (long long)n, (long long)p->size[TNI_DEPTH], (long long)times,
                      times == 1 ? "" : "s", packed, transposed);
}

void tni_contract_describe(const tni_chain *c, tn_facts *f)
{
    const tni_product_plan *last = &c->link[c->n - 1].plan;
    bool blas = false;
    FACT(f->way, "%s", last->way->name);
    FACT(f->why, "%s", last->why);
    f->workspace = (int64_t)c->workspace;
    for (int i = 0; i < c->n; i++) {
        const tni_product_plan *s = &c->link[i].plan;
        f->flops += s->flops;
        blas |= s->tiled && tni_product_by_blas(&s->p);
        if (s->flops)
            facts_step(s, f);
    }
    if (strcmp(last->way->name, "nothing") != 0)
        f->threads = tni_threads();
    if (blas)
        tni_facts_add(f, "blas", "%s%s", tn_blas(),
                      tni_blas_steady() ? "" : ", whose bits may depend on its own threads");
}
