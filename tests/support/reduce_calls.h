/* reduce_calls.h - every call of reduce.h, rows.h and index.h on a matrix large enough for
 * several threads; the results are combined into a digest. */
#ifndef REDUCE_CALLS_H
#define REDUCE_CALLS_H

#include "core/core.h"
#include "layout.h"

enum { ROWS = TEST_WATCHED ? 96 : 300, COLUMNS = 530 };

typedef struct work {
    float x[ROWS * COLUMNS], y[ROWS * COLUMNS], z[ROWS * COLUMNS];
    int64_t at[ROWS * COLUMNS];
    bool mask[ROWS * COLUMNS];
    uint64_t digest;
    tn_tensor src, turned, dst, other, index, chosen, rows, row, column, place;
    tn_status status;
} work;

static uint64_t add_bytes(uint64_t digest, const tn_tensor *t)
{
    const unsigned char *p = t->data;
    for (int64_t i = 0; i < tn_nbytes(t); i++)
        digest = (digest ^ p[i]) * 0x100000001b3u;
    return digest;
}

static void note(work *w, const tn_tensor *t)
{
    w->digest = add_bytes(w->digest, t);
}

static work *work_make(void)
{
    const int64_t shape[2] = {ROWS, COLUMNS};
    work *w = calloc(1, sizeof *w);
    rng r = {1};
    assert_non_null(w);
    OK(tn_init(&w->src, w->x, TN_F32, 2, shape));
    OK(tn_init(&w->dst, w->y, TN_F32, 2, shape));
    OK(tn_init(&w->other, w->z, TN_F32, 2, shape));
    OK(tn_init(&w->index, w->at, TN_I64, 2, shape));
    OK(tn_init(&w->chosen, w->mask, TN_BOOL, 2, shape));
    OK(tn_init(&w->rows, w->at, TN_I64, 1, &shape[0]));
    OK(tn_init(&w->row, w->y, TN_F32, 1, &shape[1]));
    OK(tn_init(&w->column, w->y, TN_F32, 1, &shape[0]));
    OK(tn_init(&w->place, w->at, TN_I64, 1, &shape[1]));
    OK(tn_init(&w->turned, w->x, TN_F32, 2, (int64_t[]){COLUMNS, ROWS}));
    OK(tn_transpose(&w->turned, &w->turned, 0, 1));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        w->x[i] = (float)pick(&r, -1000, 1000) / 64;
        w->mask[i] = next(&r) % 3 == 0;
    }
    return w;
}

#define STEP(call, made)                                                                       \
    do {                                                                                       \
        w->status = w->status ? w->status : (call);                                            \
        note(w, made);                                                                         \
    } while (0)

/* ---- calls that allocate nothing ---- */

static void reduce_all(work *w)
{
    const int first[] = {0}, last[] = {1};
    for (int op = 0; op < TNI_REDUCTIONS; op++) {
        tn_dtype out;
        w->status = w->status ? w->status : tn_reduction_result((tn_reduction)op, TN_F32, &out);
        tn_tensor down = w->place, across = w->rows;
        down.dtype = across.dtype = out;
        down.stride[0] = across.stride[0] = (int64_t)tn_dtype_size(out);
        STEP(tn_reduce((tn_reduction)op, NULL, &down, &w->src, 1, first), &down);
        STEP(tn_reduce((tn_reduction)op, NULL, &across, &w->src, 1, last), &across);
        STEP(tn_reduce((tn_reduction)op, NULL, &across, &w->turned, 1, last), &across);
    }
    tn_tensor high = w->row, fewer = w->dst;
    high.data = w->z;
    fewer.shape[0]--;
    STEP(tn_minmax(&w->row, NULL, &w->src, 1, first), &w->row);
    STEP(tn_minmax(&w->row, &high, &w->turned, 1, first), &high);
    STEP(tn_diff(&fewer, &w->src, 0), &fewer);
    STEP(tn_dot(&w->column, &w->src, &w->src, 1, last), &w->column);
    STEP(tn_pattern_reduce(TN_REDUCE_MEAN, NULL, &w->row, &w->src, "i j -> j", NULL), &w->row);
    for (int op = 0; op <= TN_SCAN_LOGSUMEXP; op++)
        for (int dim = 0; dim < 2; dim++)
            STEP(tn_scan((tn_scan_op)op, &w->dst, dim ? &w->src : &w->turned, dim), &w->dst);
}

static void rows_all(work *w)
{
    tn_tensor square, weight = w->row;
    weight.data = w->z;
    STEP(tn_softmax(&w->dst, &w->src, 1), &w->dst);
    STEP(tn_softmax(&w->dst, &w->src, 0), &w->dst);
    STEP(tn_log_softmax(&w->dst, &w->turned, 1), &w->dst);
    STEP(tn_slice(&square, &w->src, 0, 0, 90, 1), &square);
    tn_tensor made = w->dst;
    made.shape[0] = square.shape[0];
    STEP(tn_causal_softmax(&made, &square), &made);
    memcpy(w->z, w->x, COLUMNS * sizeof *w->z);
    STEP(tn_rms_norm(&w->dst, &w->src, &weight, 1e-6), &w->dst);
    STEP(tn_layer_norm(&w->dst, &w->turned, &weight, &weight, 1e-6), &w->dst);
    STEP(tn_add_rms_norm(&w->dst, &w->other, &w->src, &w->turned, NULL, 1e-6), &w->dst);
    tn_tensor table = weight;
    table.shape[0] = w->src.shape[1] / 2;
    STEP(tn_rotate(&w->dst, &w->src, &table, &table, false), &w->dst);
    STEP(tn_rotate(&w->dst, &w->turned, &table, &table, true), &w->dst);
}

static void index_all(work *w)
{
    tn_tensor some, bins = w->rows, pairs;
    int64_t n = 0;
    bins.data = w->z;
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        w->at[i] = i % 977 * 31 % ROWS;
        n += w->mask[i];
    }
    STEP(tn_take(&w->dst, &w->src, 0, &w->rows), &w->dst);
    STEP(tn_take_along(&w->dst, &w->src, 0, &w->index), &w->dst);
    w->status = w->status ? w->status : tn_init(&some, w->y, TN_F32, 1, &n);
    STEP(tn_masked_select(&some, &w->src, &w->chosen), &some);
    STEP(tn_masked_put(&w->other, &w->chosen, &some), &w->other);
    STEP(tn_bincount(&bins, &w->place), &bins);
    STEP(tn_histogram(&bins, &w->src, -8, 8), &bins);
    STEP(tn_searchsorted(&w->index, &some, &w->src, true), &w->index);
    w->status = w->status ? w->status : tn_init(&pairs, w->at, TN_I64, 2, (int64_t[]){n, 2});
    STEP(tn_nonzero(&pairs, &w->chosen), &pairs);
    const size_t size = tn_sort_workspace(&w->dst, &w->index, &w->src, 0, 0);
    void *room = aligned_alloc(64, (size + 64) / 64 * 64);
    STEP(room ? tn_sort_in(&w->dst, &w->index, &w->src, 0, 0, room, size) : TN_ENOMEM, &w->dst);
    free(room);
}

/* ---- calls that may allocate scratch ---- */

static void order_all(work *w)
{
    tn_tensor top = w->dst, where = w->index, one = w->column, place = w->rows;
    top.shape[1] = where.shape[1] = 9;
    for (int i = 0; i < ROWS; i++)
        w->at[i] = i * i % ROWS;
    STEP(tn_put(TN_PUT_ADD, &w->dst, 0, &w->rows, &w->src), &w->dst);
    STEP(tn_put(TN_PUT_SET, &w->dst, 0, &w->rows, &w->turned), &w->dst);
    for (int i = 0; i < ROWS * COLUMNS; i++)
        w->at[i] = i * 31 % ROWS;
    STEP(tn_put_along(TN_PUT_MUL, &w->dst, 0, &w->index, &w->src), &w->dst);
    STEP(tn_sort(&w->dst, &w->index, &w->src, 1, 0), &w->dst);
    STEP(tn_sort(&top, &where, &w->turned, 1, TN_DESCENDING), &w->dst);
    STEP(tn_kth(&one, &place, &w->src, 1, 100, 0), &one);
}

/* ---- calls that return memory ---- */

/* Make call k, which returns a tensor, or a plan for dst and src. */
static tn_status make_one(work *w, int k, tn_tensor *made, tn_plan **plan)
{
    const int first[] = {0};
    tn_tensor values;
    tn_status status;
    switch (k) {
    case 0:
        return tn_reduce_copy(made, TN_REDUCE_VAR, NULL, &w->src, 1, first, true);
    case 1:
        return tn_masked_select_copy(made, &w->src, &w->chosen);
    case 2:
        return tn_nonzero_copy(made, &w->chosen);
    case 3:
    case 4:
        status = k == 3 ? tn_unique_copy(&values, NULL, NULL, made, &w->src)
                        : tn_unique_each_copy(&values, NULL, made, NULL, &w->src);
        if (status == TN_OK)
            tn_free(&values);
        return status;
    case 5:
        return tn_plan_reduce(plan, TN_REDUCE_SUM, NULL, &w->row, &w->src, 1, first);
    case 6:
        return tn_plan_scan(plan, TN_SCAN_PROD, &w->dst, &w->src, 0);
    default:
        return tn_plan_rows(plan, TN_ROW_LOG_SOFTMAX, &w->dst, &w->src, 1, NULL, NULL, 0);
    }
}

static void made_all(work *w)
{
    for (int k = 0; k < 8; k++) {
        tn_tensor made = w->dst;
        tn_plan *plan = NULL;
        w->status = w->status ? w->status : make_one(w, k, &made, &plan);
        if (plan)
            w->status = tn_plan_run(plan, made.data, (const void *const[]){w->src.data});
        if (w->status == TN_OK)
            note(w, &made);
        tn_plan_free(plan);
        if (k < 5 && w->status == TN_OK)
            tn_free(&made);
    }
}

#endif
