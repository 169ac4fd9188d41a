/* row_ways.c - the table of ways to compute functions of rows; the first that fits is taken.
 *
 *   way        file           what it computes
 *   down       row_down.c     softmax of long columns: threads divide the elements of each
 *   columns    row_columns.c  softmax of columns, a strip of them at a time
 *   transpose  row_narrow.c   short dense rows, many transposed together
 *   dense      row_dense.c    dense rows
 *   panel      row_panel.c    strided rows that are side by side, transposed together
 *   single     row_run.c      any layout: one row after the other */
#include <math.h>

#include "plan/plan.h"

tni_tree_type tni_row_type(tn_dtype dtype)
{
    return dtype == TN_F32    ? TNI_TREE_F32
           : dtype == TN_F64  ? TNI_TREE_F64
           : dtype == TN_F16  ? TNI_TREE_F16
           : dtype == TN_BF16 ? TNI_TREE_BF16
                              : TNI_TREE_TYPES;
}

const tni_row_typed *tni_row_kernels_of(const tni_rows *r, tn_dtype dtype)
{
    const tni_row_kernels *k = tni_kernels_of(r->isa)->row;
    const tni_tree_type type = tni_row_type(dtype);
    return type < TNI_TREE_TYPES && k->of[type].max ? &k->of[type] : NULL;
}

void tni_row_logs(const tni_rows *r, double *sum, int64_t n)
{
    if (r->elem != TN_F64)
        tni_kernels_of(r->isa)->row->logs(sum, n);
    for (int64_t i = 0; i < n && r->elem == TN_F64; i++)
        sum[i] = log(sum[i]);
}

double tni_row_log(const tni_rows *r, double sum)
{
    tni_row_logs(r, &sum, 1);
    return sum;
}

typedef struct row_job {
    const tni_rows *r;
    char *const *at;
    int64_t rows;
    int parts;
} row_job;

static void rows_part(void *arg, int part)
{
    const row_job *j = arg;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->rows, j->parts, part, &first, &last);
    j->r->way->part(j->r, j->at, first, last, &scratch);
    if (j->r->stream)
        tni_kernels_of(j->r->isa)->copy->fence();
}

/* Divide rows over threads. */
static void run_parts(const tni_rows *r, char *const *at, int64_t rows)
{
    row_job j = {.r = r, .at = at, .rows = rows};
    j.parts = tni_run_parts(tni_mul_saturated(rows * r->n, 4 * r->width), rows);
    tni_parallel(j.parts, rows_part, &j);
}

static const tni_row_way ways[] = {
    {"down", tni_row_plan_down, tni_row_run_down, NULL},
    {"columns", tni_row_plan_columns, tni_row_run_columns, NULL},
    {"transpose", tni_row_plan_narrow, run_parts, tni_row_narrow_part},
    {"dense", tni_row_plan_dense, run_parts, tni_row_dense_part},
    {"panel", tni_row_plan_panel, run_parts, tni_row_panel_part},
    {"single", tni_row_plan_single, run_parts, tni_row_single_part},
};

void tni_row_choose(tni_rows *r)
{
    for (r->way = ways; !r->way->plan(r); r->way++)
        ASSERT(r->way + 1 < ways + COUNT(ways));
}
