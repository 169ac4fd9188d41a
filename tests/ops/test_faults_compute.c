/* test_faults_compute.c - reductions, scans, row functions, indexing, contractions,
 * expressions, distributions and DLPack with every allocation failing in turn: TN_ENOMEM,
 * nothing written, nothing lost.
 *
 * A call that allocates nothing passes at once; the table says which ones do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <tenon/dist.h>
#include <tenon/tenon.h>

#include "weak_memory.h"

#define OK(call) assert_int_equal((call), TN_OK)

enum { N = 48 }; /* a matrix of N x N: above the sizes that are computed on the stack */

static float numbers[N][N], others[N][N], result[N][N], more[N][N];
static int64_t whole[N][N], counts[N];
static bool chosen[N][N];
static tn_tensor a, b, d, e, ints, rows, mask, line, ends, halves, fewer, some, places;
static void *workspace;
static size_t workspace_size;
static tn_tensor made[4];
static tn_plan *plan;
static struct DLManagedTensorVersioned *managed;
static struct DLManagedTensor *old;

static void drop_nothing(void)
{
}

static void drop_made(void)
{
    for (int i = 0; i < 4; i++)
        tn_free(&made[i]);
}

static void drop_plan(void)
{
    tn_plan_free(plan);
    plan = NULL;
}

static tn_expr *text;
static tn_dist *dist;
static tn_route *route;

static void drop_expr(void)
{
    tn_expr_free(text);
    text = NULL;
}

static void drop_dist(void)
{
    tn_dist_free(dist);
    tn_route_free(route);
    dist = NULL;
    route = NULL;
}

static void release(void *owner)
{
    (void)owner;
}

static void drop_managed(void)
{
    if (managed)
        managed->deleter(managed);
    if (old)
        old->deleter(old);
    managed = NULL;
    old = NULL;
}

#define CALL(name, ...)                                                                        \
    static tn_status call_##name(void)                                                         \
    {                                                                                          \
        return __VA_ARGS__;                                                                    \
    }
static const int axis[] = {1}, both[] = {0, 1};
static const tn_tensor *const pair[] = {&a, &b};
CALL(reduce, tn_reduce(TN_REDUCE_SUM, NULL, &line, &a, 1, axis))
CALL(reduce_all, tn_reduce(TN_REDUCE_LOGSUMEXP, NULL,
                           &(tn_tensor){.data = result, .dtype = TN_F32}, &a, 2, both))
CALL(reduce_copy, tn_reduce_copy(&made[0], TN_REDUCE_VAR, NULL, &a, 1, axis, true))
CALL(minmax, tn_minmax(&line, &ends, &a, 1, axis))
CALL(dot, tn_dot(&line, &a, &b, 1, axis))
CALL(pattern_reduce, tn_pattern_reduce(TN_REDUCE_MEAN, NULL, &line, &a, "i j -> i", NULL))
CALL(scan, tn_scan(TN_SCAN_SUM, &d, &a, 0))
CALL(diff, tn_diff(&fewer, &a, 0))
CALL(plan_reduce, tn_plan_reduce(&plan, TN_REDUCE_SUM, NULL, &line, &a, 1, axis))
CALL(plan_scan, tn_plan_scan(&plan, TN_SCAN_MAX, &d, &a, 1))
CALL(softmax, tn_softmax(&d, &a, 0))
CALL(log_softmax, tn_log_softmax(&d, &a, 1))
CALL(causal_softmax, tn_causal_softmax(&d, &a))
CALL(rms_norm, tn_rms_norm(&d, &a, NULL, 1e-5))
CALL(layer_norm, tn_layer_norm(&d, &a, NULL, NULL, 1e-5))
CALL(rotate, tn_rotate(&d, &a, &halves, &halves, true))
CALL(plan_rows, tn_plan_rows(&plan, TN_ROW_SOFTMAX, &d, &a, 1, NULL, NULL, 0))
CALL(add_rms_norm, tn_add_rms_norm(&d, &e, &a, &b, NULL, 1e-5))
CALL(take, tn_take(&d, &a, 0, &rows))
CALL(take_along, tn_take_along(&d, &a, 0, &ints))
CALL(put, tn_put(TN_PUT_SET, &d, 0, &rows, &a))
CALL(put_along, tn_put_along(TN_PUT_SET, &d, 0, &ints, &a))
CALL(masked_select_copy, tn_masked_select_copy(&made[0], &a, &mask))
CALL(masked_select, tn_masked_select(&some, &a, &mask))
CALL(masked_put, tn_masked_put(&d, &mask, &(tn_tensor){.data = numbers, .dtype = TN_F32}))
CALL(nonzero, tn_nonzero(&places, &mask))
CALL(nonzero_copy, tn_nonzero_copy(&made[0], &mask))
CALL(sort, tn_sort(&d, &ints, &a, 0, 0))
CALL(sort_in, tn_sort_in(&d, &ints, &a, 0, 0, workspace, workspace_size))
CALL(kth, tn_kth(&line, NULL, &a, 1, 5, 0))
CALL(searchsorted, tn_searchsorted(&ints, &line, &a, false))
CALL(unique_copy, tn_unique_copy(&made[0], &made[1], &made[2], &made[3], &a))
CALL(unique_each_copy, tn_unique_each_copy(&made[0], &made[1], &made[2], &made[3], &a))
CALL(bincount, tn_bincount(&rows, &ints))
CALL(histogram, tn_histogram(&rows, &a, 0, 1))
CALL(matmul, tn_matmul(&d, &a, &b))
CALL(gemm, tn_gemm(&d, 2, &a, &b, 1, NULL))
CALL(einsum, tn_einsum(&d, "ij,kj->ki", 2, pair))
CALL(einsum_three, tn_einsum(&d, "ij,jk,kl->il", 3, (const tn_tensor *const[]){&a, &b, &a}))
CALL(plan_matmul, tn_plan_matmul(&plan, &d, &a, &b))
CALL(plan_gemm, tn_plan_gemm(&plan, &d, 1, &a, &b, 0, NULL))
CALL(plan_einsum, tn_plan_einsum(&plan, &d, "ij,jk->ik", 2, pair))
static const char *const names[] = {"x", "y"};
static tn_expr *parsed; /* made without failures */
static tn_dist *blocks;

CALL(expr_parse, tn_expr_parse(&text, "(x - 1) * y + sqrt(x)"))
CALL(eval, tn_eval(&d, "(x - 1) * y + sqrt(x)", 2, names, pair))
CALL(eval_reduced, tn_eval(&line, "sum((x - y)**2, axis=1) / 2", 2, names, pair))
CALL(eval_copy, tn_eval_copy(&made[0], "x * y", 2, names, pair))
CALL(eval_copy_reduced, tn_eval_copy(&made[0], "mean(x * y, axis=0)", 2, names, pair))
CALL(expr_run, tn_expr_run(parsed, &d, 2, pair))
CALL(plan_expr, tn_plan_expr(&plan, parsed, &d, 2, pair))
CALL(dist_mesh, tn_dist_mesh(&dist, 2, (const int64_t[]){N, N}, 1, (const int[]){4},
                             &(tn_placement){0, TN_CUT_CYCLIC, 3, 0}, NULL))
CALL(dist_boxes, tn_dist_boxes(&dist, 1, (const int64_t[]){N}, 2, 2, (const int[]){0, 1},
                               (const int64_t[]){0, 9}, (const int64_t[]){9, N - 9}))
CALL(dist_whole, tn_dist_whole(&dist, 1, (const int64_t[]){N}, 3, 1))
CALL(route_halo, tn_route_halo(&route, 1, blocks, TN_F32, (const int64_t[]){1, 1},
                               (const int64_t[]){1, 1}, TN_PAD_EDGE, NULL))

CALL(to_dlpack, tn_to_dlpack(&managed, &a, release, NULL, 0))
CALL(to_dlpack_old, tn_to_dlpack_old(&old, &a, release, NULL))

static const struct {
    const char *name;
    tn_status (*call)(void);
    void (*drop)(void);
    bool must; /* it allocates whatever the machine */
} table[] = {
    {"tn_reduce", call_reduce, drop_nothing, false},
    {"tn_reduce of all", call_reduce_all, drop_nothing, false},
    {"tn_reduce_copy", call_reduce_copy, drop_made, true},
    {"tn_minmax", call_minmax, drop_nothing, false},
    {"tn_dot", call_dot, drop_nothing, false},
    {"tn_pattern_reduce", call_pattern_reduce, drop_nothing, false},
    {"tn_scan", call_scan, drop_nothing, false},
    {"tn_diff", call_diff, drop_nothing, false},
    {"tn_plan_reduce", call_plan_reduce, drop_plan, true},
    {"tn_plan_scan", call_plan_scan, drop_plan, true},
    {"tn_softmax", call_softmax, drop_nothing, false},
    {"tn_log_softmax", call_log_softmax, drop_nothing, false},
    {"tn_causal_softmax", call_causal_softmax, drop_nothing, false},
    {"tn_rms_norm", call_rms_norm, drop_nothing, false},
    {"tn_layer_norm", call_layer_norm, drop_nothing, false},
    {"tn_add_rms_norm", call_add_rms_norm, drop_nothing, false},
    {"tn_rotate", call_rotate, drop_nothing, false},
    {"tn_plan_rows", call_plan_rows, drop_plan, true},
    {"tn_take", call_take, drop_nothing, false},
    {"tn_take_along", call_take_along, drop_nothing, false},
    {"tn_put", call_put, drop_nothing, false},
    {"tn_put_along", call_put_along, drop_nothing, false},
    {"tn_masked_select_copy", call_masked_select_copy, drop_made, true},
    {"tn_masked_select", call_masked_select, drop_nothing, false},
    {"tn_masked_put", call_masked_put, drop_nothing, false},
    {"tn_nonzero", call_nonzero, drop_nothing, false},
    {"tn_nonzero_copy", call_nonzero_copy, drop_made, true},
    {"tn_sort", call_sort, drop_nothing, false},
    {"tn_sort_in", call_sort_in, drop_nothing, false},
    {"tn_kth", call_kth, drop_nothing, false},
    {"tn_searchsorted", call_searchsorted, drop_nothing, false},
    {"tn_unique_copy", call_unique_copy, drop_made, true},
    {"tn_unique_each_copy", call_unique_each_copy, drop_made, true},
    {"tn_bincount", call_bincount, drop_nothing, false},
    {"tn_histogram", call_histogram, drop_nothing, false},
    {"tn_matmul", call_matmul, drop_nothing, false},
    {"tn_gemm", call_gemm, drop_nothing, false},
    {"tn_einsum", call_einsum, drop_nothing, false},
    {"tn_einsum of three", call_einsum_three, drop_nothing, true},
    {"tn_plan_matmul", call_plan_matmul, drop_plan, true},
    {"tn_plan_gemm", call_plan_gemm, drop_plan, true},
    {"tn_plan_einsum", call_plan_einsum, drop_plan, true},
    {"tn_expr_parse", call_expr_parse, drop_expr, true},
    {"tn_eval", call_eval, drop_nothing, false},
    {"tn_eval with sum", call_eval_reduced, drop_nothing, false},
    {"tn_eval_copy", call_eval_copy, drop_made, true},
    {"tn_eval_copy with mean", call_eval_copy_reduced, drop_made, true},
    {"tn_expr_run", call_expr_run, drop_nothing, false},
    {"tn_plan_expr", call_plan_expr, drop_plan, true},
    {"tn_dist_mesh", call_dist_mesh, drop_dist, true},
    {"tn_dist_boxes", call_dist_boxes, drop_dist, true},
    {"tn_dist_whole", call_dist_whole, drop_dist, true},
    {"tn_route_halo", call_route_halo, drop_dist, true},
    {"tn_to_dlpack", call_to_dlpack, drop_managed, false},
    {"tn_to_dlpack_old", call_to_dlpack_old, drop_managed, false},
};

static void reset(void)
{
    for (int i = 0; i < N; i++) {
        counts[i] = (i * 7) % N;
        for (int j = 0; j < N; j++) {
            numbers[i][j] = (float)((i * 31 + j * 17) % 97) / 97;
            others[i][j] = (float)(i - j);
            result[i][j] = more[i][j] = 5;
            whole[i][j] = (i + j) % N;
            chosen[i][j] = (i + j) % 3 == 0;
        }
    }
}

/* One try with allocation k failing; whether it was asked for. */
static bool try_call(int i, int64_t k)
{
    static float before[N][N], before_more[N][N];
    reset();
    memcpy(before, result, sizeof result);
    memcpy(before_more, more, sizeof more);
    memset(made, 0, sizeof made);
    calls = 0;
    fail_at = k;
    const tn_status status = table[i].call();
    fail_at = -1;
    const bool asked = calls > k;
    if (status != (asked ? TN_ENOMEM : TN_OK))
        fail_msg("%s, allocation %d: %s: %s", table[i].name, (int)k, tn_status_name(status),
                 tn_error());
    if (asked &&
        (memcmp(result, before, sizeof before) || memcmp(more, before_more, sizeof more)))
        fail_msg("%s, allocation %d: dst has changed", table[i].name, (int)k);
    if (!asked)
        table[i].drop();
    if (held)
        fail_msg("%s, allocation %d: %d blocks are lost", table[i].name, (int)k, (int)held);
    return asked;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    tn_handle *weak;
    OK(tn_expr_parse(&parsed, "where(x < y, x, y * 2)"));
    OK(tn_dist_mesh(&blocks, 2, (const int64_t[]){N, N}, 1, (const int[]){4},
                    &(tn_placement){0, TN_CUT_BLOCK, 0, 0}, NULL));
    OK(tn_handle_create(&weak, TN_CPU, 0,
                        &(tn_config){.threads = 2, .alloc = weak_alloc, .free = weak_free}));
    OK(tn_handle_use(weak));
    const int64_t square[] = {N, N};
    OK(tn_init(&a, numbers, TN_F32, 2, square));
    OK(tn_init(&b, others, TN_F32, 2, square));
    OK(tn_init(&d, result, TN_F32, 2, square));
    OK(tn_init(&e, more, TN_F32, 2, square));
    OK(tn_init(&ints, whole, TN_I64, 2, square));
    OK(tn_init(&rows, counts, TN_I64, 1, square));
    OK(tn_init(&mask, chosen, TN_BOOL, 2, square));
    OK(tn_init(&line, result, TN_F32, 1, square));
    OK(tn_init(&halves, more, TN_F32, 1, (const int64_t[]){N / 2}));
    OK(tn_init(&ends, more, TN_F32, 1, square));
    OK(tn_init(&fewer, result, TN_F32, 2, (const int64_t[]){N - 1, N}));
    OK(tn_init(&some, result, TN_F32, 1, (const int64_t[]){N * N / 3})); /* as the mask has */
    OK(tn_init(&places, whole, TN_I64, 2, (const int64_t[]){N * N / 3, 2}));
    workspace_size = tn_sort_workspace(&d, &ints, &a, 0, 0);
    workspace = aligned_alloc(64, (workspace_size + 64) / 64 * 64);
    assert_non_null(workspace);
    int points = 0;
    for (int i = 0; i < (int)(sizeof table / sizeof table[0]); i++) {
        int64_t k = 0;
        while (try_call(i, k))
            k++;
        if (table[i].must && k == 0)
            fail_msg("%s allocates nothing", table[i].name);
        points += (int)k;
    }
    assert_true(points > 20);
    OK(tn_handle_use(NULL));
    tn_handle_destroy(weak);
    free(workspace);
    tn_expr_free(parsed);
    tn_dist_free(blocks);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_allocation_may_fail)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
