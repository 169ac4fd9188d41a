/* row_plan.c - rows are planned once and run on other data: the walk over rows, the parts for
 * threads, and the public plan. */
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* A fold of one row, n elements: the same for all of them. */
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
}

/* ---- running ---- */

typedef struct row_job {
    const tni_rows *r;
    char *at[TNI_ROW_OPERANDS];
    int parts;
    int64_t items;
} row_job;

/* Rows [first, last), one after the other, or neighbours together. */
static void rows_run(const row_job *j, int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    const tni_rows *r = j->r;
    const tni_nest *nest = r->nest;
    tni_walk walk;
    tni_rows dense;
    tni_fold fold;
    const int64_t panel = tni_row_panel(r);
    if (panel)
        tni_row_dense(&dense, &fold, r);
    tni_walk_seek(&walk, nest->axis, nest->ndim, nest->nop, first);
    for (int64_t i = first; i < last; i++) {
        char *at[TNI_ROW_OPERANDS];
        for (int k = 0; k < nest->nop; k++)
            at[k] = j->at[k] + walk.offset[k];
        if (panel) { /* neighbours along the innermost axis */
            const int64_t n = nest->axis[nest->ndim - 1].n;
            int64_t rows = n - i % n < panel ? n - i % n : panel;
            rows = last - i < rows ? last - i : rows;
            tni_row_some(r, &dense, at, rows, scratch);
            for (i += rows - 1; rows > 1; rows--)
                tni_walk_next(&walk);
        } else {
            tni_row_one(r, at, i, scratch);
        }
        tni_walk_next(&walk);
    }
}

static void rows_part(void *arg, int part)
{
    const row_job *j = arg;
    const tni_rows *r = j->r;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->items, j->parts, part, &first, &last);
    if (tni_row_narrow(r))
        tni_row_narrow_run(r, j->at, first, last, &scratch);
    else if (tni_row_is_dense(r))
        tni_row_dense_run(r, j->at, first, last, &scratch);
    else
        rows_run(j, first, last, &scratch);
    if (r->stream)
        tni_kernels_of(r->isa)->copy->fence();
}

void tni_row_plan_run(const tni_row_plan *p, char *const *at, const char *const *params)
{
    tni_rows r = p->rows;
    row_job j = {.r = &r, .items = p->items};
    r.nest = &p->nest;
    r.fold = &p->fold;
    for (int k = 0; k < 2; k++)
        r.param[k].at = params[k];
    for (int k = 0; k < p->nest.nop; k++)
        j.at[k] = at[k] + p->nest.shift[k];
    r.stream = p->bytes >= tni_cache_sizes()->stream && at[TNI_ROW_DST] != at[TNI_ROW_SRC];
    if (tni_row_down(&r)) {
        tni_row_down_run(&r, j.at, j.items);
        return;
    }
    if (tni_row_columns(&r)) {
        tni_row_columns_run(&r, j.at, j.items);
        return;
    }
    j.parts = tni_run_parts(tni_mul_saturated(p->bytes, 4), j.items);
    tni_parallel(j.parts, rows_part, &j);
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
    FACT(facts->way, "%s", plan->low[0] == plan->high[0] ? "nothing" : "rows");
    if (plan->low[0] == plan->high[0])
        return;
    FACT(facts->why, "each row is reduced, then written from the cache");
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
