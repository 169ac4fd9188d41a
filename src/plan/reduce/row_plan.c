/* row_plan.c - planning functions of rows: the operands, the fold of a row, the public plan. */
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* Set f to the fold of a row of n elements, which all rows share: sum of squares or moments. */
static void row_fold(const tni_rows *r, tni_fold *f, tn_reduction op, int64_t n)
{
    memset(f, 0, offsetof(tni_fold, fold));
    f->op = op;
    f->src = r->dtype;
    f->dst = TN_F64;
    f->elem = r->elem;
    f->width = r->width;
    f->isa = r->isa;
    f->nsrc = 1;
    f->nfold = n > 1;
    f->count = n;
    f->outputs = 1;
    f->wide = true;
    f->class = &tni_fold_moments;
    if (op == TN_REDUCE_SUMSQ) {
        f->class = &tni_fold_tree;
        f->term = TNI_TERM_SQUARE;
    }
    f->fold[0] = (tni_fold_axis){n, 0, {r->step[TNI_ROW_SRC]}};
}

void tni_row_plan_make(tni_row_plan *p, tni_row_kind kind, const tn_tensor *const *ts, int dim,
                       const tn_tensor *const *params, double eps)
{
    const tn_tensor *dst = ts[0];
    const int nop = kind >= TNI_ROW_ADD_RMS ? 4 : 2;
    const int64_t count = tni_numel(dst), n = dst->shape[dim];
    tni_rows *r = &p->rows;
    ASSERT(count > 0);
    memset(p, 0, offsetof(tni_row_plan, nest));
    r->kind = kind;
    r->dtype = dst->dtype;
    r->elem = dst->dtype == TN_F64 ? TN_F64 : TN_F32;
    r->width = tni_width(dst->dtype);
    r->isa = tni_isa_level();
    r->eps = eps;
    r->n = n;
    p->items = count / n;
    p->bytes = count * r->width;
    tn_tensor rows[TNI_ROW_OPERANDS];
    const tn_tensor *list[TNI_ROW_OPERANDS];
    for (int k = 0; k < nop; k++) {
        r->step[k] = ts[k]->shape[dim] > 1 ? ts[k]->stride[dim] : tni_width(ts[k]->dtype);
        tni_drop_axis(&rows[k], ts[k], dim, NULL);
        list[k] = &rows[k];
    }
    for (int k = 0; k < 2; k++)
        if (params[k]) {
            const int64_t width = tni_width(params[k]->dtype);
            r->param[k].dtype = params[k]->dtype;
            r->param[k].step = params[k]->shape[0] > 1 ? params[k]->stride[0] : width;
            r->param[k].given = true;
        }
    r->table = nop > 2 ? ts[TNI_ROW_SIN]->dtype : r->dtype;
    if (kind == TNI_ROW_CAUSAL) {
        r->queries = dst->shape[dim - 1];
        r->extra = n - r->queries;
    }
    row_fold(r, &p->fold, kind == TNI_ROW_LAYER ? TN_REDUCE_VAR : TN_REDUCE_SUMSQ, n);
    if (kind == TNI_ROW_ADD_RMS)
        p->fold.fold[0].src[0] = r->step[TNI_ROW_SUM];
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&p->nest, nop, list, &rules);
    r->nest = &p->nest;
    r->fold = &p->fold;
    r->beyond = p->bytes >= tni_cache_sizes()->stream;
    tni_row_choose(r);
}

void tni_row_plan_run(const tni_row_plan *p, char *const *at, const char *const *params)
{
    tni_rows r = p->rows;
    char *first[TNI_ROW_OPERANDS];
    r.nest = &p->nest;
    r.fold = &p->fold;
    for (int k = 0; k < 2; k++)
        r.param[k].at = params[k];
    for (int k = 0; k < p->nest.nop; k++)
        first[k] = at[k] + p->nest.shift[k];
    r.stream = r.beyond && at[TNI_ROW_DST] != at[TNI_ROW_SRC];
    r.way->run(&r, first, p->items);
}

/* ---- the public plan ---- */

typedef struct row_handle {
    tn_plan base;
    bool param[2];
    tni_row_plan plan;
} row_handle;

static void row_handle_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    const row_handle *h = (const row_handle *)plan;
    char *at[TNI_ROW_OPERANDS] = {dst};
    const char *params[2] = {NULL};
    const int nop = h->plan.nest.nop;
    int used = nop - 1;
    for (int k = 1; k < nop; k++)
        memcpy(&at[k], &srcs[k - 1], sizeof at[k]);
    for (int k = 0; k < 2; k++)
        if (h->param[k])
            params[k] = srcs[used++];
    tni_row_plan_run(&h->plan, at, params);
}

static void row_handle_facts(const tn_plan *plan, tn_facts *facts)
{
    const row_handle *h = (const row_handle *)plan;
    const bool nothing = plan->low[0] == plan->high[0];
    FACT(facts->way, "%s", nothing ? "nothing" : h->plan.rows.way->name);
    if (nothing)
        return;
    FACT(facts->why, "%s", h->plan.rows.why);
    facts->read = facts->written = h->plan.bytes;
    facts->buffer = (int64_t)sizeof(tni_fold_scratch);
    facts->threads = tni_plan_parts(tni_mul_saturated(h->plan.bytes, 4), h->plan.items);
    tni_facts_add(facts, "rows", "%lld of %lld elements", (long long)h->plan.items,
                  (long long)h->plan.rows.n);
}

static const tni_plan_class row_class = {"rows", sizeof(row_handle), row_handle_run,
                                         row_handle_facts, NULL};

tn_plan *tni_rows_new(tni_row_kind kind, const char *call, const tn_tensor *const *ts, int dim,
                      const tn_tensor *const *params, double eps)
{
    const tn_tensor *srcs[TNI_ROW_OPERANDS + 1];
    int n = 0;
    for (int k = 1; k < (kind >= TNI_ROW_ADD_RMS ? 4 : 2); k++)
        srcs[n++] = ts[k];
    for (int k = 0; k < 2; k++)
        if (params[k])
            srcs[n++] = params[k];
    row_handle *h = (row_handle *)tni_plan_new(&row_class, call, true, n, ts[0], srcs);
    if (!h)
        return NULL;
    for (int k = 0; k < 2; k++)
        h->param[k] = params[k] != NULL;
    if (tni_numel(ts[0]) > 0)
        tni_row_plan_make(&h->plan, kind, ts, dim, params, eps);
    return &h->base;
}
