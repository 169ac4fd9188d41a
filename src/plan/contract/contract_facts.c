/* contract_facts.c - what a contraction does, for tn_plan_facts and tn_plan_explain. */
#include <stdio.h>

#include "contract_chain.h"

#include "blas/blas.h"
#include "plan/plan.h"

/* What became of the operands: "left packed, dst packed". */
static void facts_packed(char *text, size_t size, const tni_step *s)
{
    static const char *const names[] = {"dst", "a", "b"};
    const char *between = "";
    size_t used = 0;
    text[0] = 0;
    for (int i = 1; i <= TNI_ADDEND; i++) {
        const int side = i % TNI_ADDEND;
        if (!s->tiles.panel[side].packed)
            continue;
        const int name = side && s->p.swapped ? TNI_LEFT + TNI_RIGHT - side : side;
        used += (size_t)snprintf(text + used, size - used, "%s%s packed", between, names[name]);
        between = ", ";
    }
}

/* The name of a way: products of panels are told apart by what is packed. */
static const char *facts_way(const tni_step *s)
{
    if (strcmp(s->way->name, "gemm"))
        return s->way->name;
    const tni_tiles *t = &s->tiles;
    const bool packed =
        t->panel[TNI_DST].packed || t->panel[TNI_LEFT].packed || t->panel[TNI_RIGHT].packed;
    const bool same = s->p.dtype[TNI_DST] == s->p.meet && s->p.dtype[TNI_LEFT] == s->p.meet &&
                      s->p.dtype[TNI_RIGHT] == s->p.meet;
    if (packed)
        return same && s->p.sum <= TNI_SUM_C128 ? "TTGT" : "panels";
    return t->nloop > (t->in[TNI_ROWS].count > 0) + (t->in[TNI_COLS].count > 0) ||
                   s->p.count[TNI_ROWS] > 1 || s->p.count[TNI_COLS] > 1 || s->p.count[TNI_BATCH]
               ? "loops over gemm"
               : "direct";
}

static void facts_step(const tni_step *s, tn_facts *f)
{
    const tni_product *p = &s->p;
    const int rows = p->swapped ? TNI_COLS : TNI_ROWS, cols = TNI_ROWS + TNI_COLS - rows;
    const bool tiles = !strcmp(s->way->name, "gemm");
    char packed[64] = "";
    int64_t m = p->size[rows], n = p->size[cols], times = p->size[TNI_BATCH];
    if (tiles) {
        const int64_t in_rows = s->tiles.in[rows].inside *
                                (s->tiles.in[rows].count ? s->tiles.in[rows].axis[0].n : 1);
        const int64_t in_cols = s->tiles.in[cols].inside *
                                (s->tiles.in[cols].count ? s->tiles.in[cols].axis[0].n : 1);
        times *= m / in_rows * (n / in_cols);
        m = in_rows;
        n = in_cols;
        facts_packed(packed, sizeof packed, s);
    }
    if (f->nmore < TN_FACTS_MORE - 1)
        tni_facts_add(f, "gemm", "%lld x %lld x %lld, %lld time%s%s%s", (long long)m,
                      (long long)n, (long long)p->size[TNI_DEEP], (long long)times,
                      times == 1 ? "" : "s", packed[0] ? ", " : "", packed);
}

void tni_contract_describe(const tni_chain *c, tn_facts *f)
{
    const tni_step *last = &c->link[c->n - 1].step;
    bool blas = false;
    FACT(f->way, "%s", facts_way(last));
    FACT(f->why, "%s", last->why);
    f->workspace = (int64_t)c->workspace;
    for (int i = 0; i < c->n; i++) {
        const tni_step *s = &c->link[i].step;
        f->flops += s->flops;
        blas |= !strcmp(s->way->name, "gemm") && s->p.sum <= TNI_SUM_C128;
        if (s->flops)
            facts_step(s, f);
    }
    if (strcmp(last->way->name, "nothing"))
        f->threads = tni_threads();
    if (blas)
        tni_facts_add(f, "blas", "%s%s", tn_blas(),
                      tni_blas_steady() ? "" : ", whose bits may depend on its own threads");
}
