/* test_rows_plan.c - plans of softmax, norms and rotations: their bits, and the ways they
 * take. */
#include "line_oracle.h"

#include "draw.h"

/* A plan gives the bits of its call, on other data too, and refuses what the call refuses. */
static void test_plans(void **state)
{
    (void)state;
    static const struct {
        tn_row op;
        int params;
        const char *name;
    } rows[] = {{TN_ROW_SOFTMAX, 0, "softmax"},
                {TN_ROW_LOG_SOFTMAX, 0, "log_softmax"},
                {TN_ROW_CAUSAL_SOFTMAX, 0, "causal_softmax"},
                {TN_ROW_RMS_NORM, 1, "rms_norm"},
                {TN_ROW_LAYER_NORM, 2, "layer_norm"},
                {TN_ROW_ROTATE_HALVES, 2, "rotate"},
                {TN_ROW_ROTATE_PAIRS, 2, "rotate"}};
    enum { N = 24 };
    float x[2][2][3][N], y[3][N], want[3][N], table[2][N];
    rng r = {11};
    tn_tensor src, dst, ref, p[2];
    OK(tn_init(&dst, y, TN_F32, 2, (int64_t[]){3, N}));
    OK(tn_init(&ref, want, TN_F32, 2, (int64_t[]){3, N}));
    for (int i = 0; i < 12 * N; i++)
        (&x[0][0][0][0])[i] = (float)pick(&r, -50, 50) / 8;
    for (int i = 0; i < 2 * N; i++)
        (&table[0][0])[i] = (float)pick(&r, -50, 50) / 8;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const bool rotate = rows[i].op >= TN_ROW_ROTATE_HALVES;
        for (int k = 0; k < 2; k++)
            OK(tn_init(&p[k], table[k], TN_F32, 1, (int64_t[]){rotate ? N / 2 : N}));
        const tn_tensor *first = rows[i].params > 0 ? &p[0] : NULL,
                        *second = rows[i].params > 1 ? &p[1] : NULL;
        tn_plan *plan = NULL;
        tn_facts facts;
        OK(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){3, N}));
        src.stride[0] = 2 * N * 4;
        OK(tn_plan_rows(&plan, rows[i].op, &dst, &src, 1, first, second, 1e-5));
        OK(tn_plan_facts(&facts, plan));
        assert_string_equal(facts.call, rows[i].name);
        assert_string_equal(facts.way, rotate ? "single" : "dense");
        for (int data = 0; data < 2; data++) {
            src.data = x[data];
            const void *srcs[] = {src.data, table[0], table[1]};
            switch (rows[i].op) {
            case TN_ROW_SOFTMAX:
                OK(tn_softmax(&ref, &src, 1));
                break;
            case TN_ROW_LOG_SOFTMAX:
                OK(tn_log_softmax(&ref, &src, 1));
                break;
            case TN_ROW_CAUSAL_SOFTMAX:
                OK(tn_causal_softmax(&ref, &src));
                break;
            case TN_ROW_RMS_NORM:
                OK(tn_rms_norm(&ref, &src, first, 1e-5));
                break;
            case TN_ROW_LAYER_NORM:
                OK(tn_layer_norm(&ref, &src, first, second, 1e-5));
                break;
            default:
                OK(tn_rotate(&ref, &src, first, second, rows[i].op == TN_ROW_ROTATE_PAIRS));
            }
            OK(tn_plan_run(plan, y, srcs));
            assert_memory_equal(y, want, sizeof y);
        }
        assert_int_equal(tn_plan_run(plan, y, (const void *[]){&y[0][1], table, table}),
                         TN_EOVERLAP);
        tn_plan_free(plan);
        if (!first)
            assert_int_equal(tn_plan_rows(&plan, rows[i].op, &dst, &src, 1, &p[0], NULL, 0),
                             TN_EARG);
        /* eps is a number of the norms alone */
        const bool norm = rows[i].op == TN_ROW_RMS_NORM || rows[i].op == TN_ROW_LAYER_NORM;
        const double bad[] = {-1, NAN, INFINITY};
        for (size_t k = 0; k < COUNT(bad); k++) {
            plan = NULL;
            assert_int_equal(
                tn_plan_rows(&plan, rows[i].op, &dst, &src, 1, first, second, bad[k]),
                norm ? TN_EARG : TN_OK);
            tn_plan_free(plan);
        }
    }
    tn_plan *plan = NULL;
    assert_int_equal(tn_plan_rows(NULL, TN_ROW_SOFTMAX, &dst, &src, 1, NULL, NULL, 0),
                     TN_ENULL);
    assert_int_equal(tn_plan_rows(&plan, (tn_row)7, &dst, &src, 1, NULL, NULL, 0), TN_EARG);
    assert_int_equal(tn_plan_rows(&plan, TN_ROW_SOFTMAX, &dst, &src, 2, NULL, NULL, 0),
                     TN_EARG);
    assert_null(plan);
    dst.shape[0] = src.shape[0] = 0;
    OK(tn_plan_rows(&plan, TN_ROW_SOFTMAX, &dst, &src, 1, NULL, NULL, 0));
    OK(tn_plan_run(plan, NULL, (const void *[]){NULL}));
    tn_plan_free(plan);
}

/* Each way has a case that takes it, and says why. */
static void test_ways(void **state)
{
    (void)state;
    static const struct {
        tn_row op;
        tn_dtype dtype;
        int64_t rows, width; /* of dst, which is dense */
        int dim;
        bool turned; /* src is a transposed view */
        const char *way, *why;
    } cases[] = {
        {TN_ROW_SOFTMAX, TN_F32, 4096, 3, 0, false, "down", "threads divide"},
        {TN_ROW_LOG_SOFTMAX, TN_BF16, 1024, 700, 0, false, "down", "threads divide"},
        {TN_ROW_LOG_SOFTMAX, TN_F64, 70000, 700, 0, false, "down", "threads divide"},
        {TN_ROW_SOFTMAX, TN_F32, 8192, 70000, 0, false, "down", "threads divide"},
        {TN_ROW_SOFTMAX, TN_F32, 1000, 70000, 0, false, "columns", "side by side"},
        {TN_ROW_SOFTMAX, TN_F32, 300, 70, 0, false, "columns", "side by side"},
        {TN_ROW_SOFTMAX, TN_F64, 4096, 8, 0, false, "down", "threads divide"},
        {TN_ROW_SOFTMAX, TN_F64, 1000, 8, 0, false, "columns", "side by side"},
        {TN_ROW_SOFTMAX, TN_F32, 100, 7, 1, false, "transpose", "short"},
        {TN_ROW_LAYER_NORM, TN_F16, 100, 48, 1, false, "transpose", "short"},
        {TN_ROW_LAYER_NORM, TN_F32, 100, 49, 1, false, "dense", "whole"},
        {TN_ROW_SOFTMAX, TN_F32, 5, 300, 1, false, "dense", "whole"},
        {TN_ROW_CAUSAL_SOFTMAX, TN_F32, 40, 40, 1, false, "dense", "whole"},
        {TN_ROW_RMS_NORM, TN_BF16, 5, 300, 1, false, "dense", "dense"},
        {TN_ROW_SOFTMAX, TN_F64, 5, 300, 1, false, "dense", "whole"},
        {TN_ROW_LAYER_NORM, TN_F32, 5, 300, 1, true, "panel", "transposed together"},
        {TN_ROW_SOFTMAX, TN_F32, 300, 5, 0, false, "panel", "transposed together"},
        {TN_ROW_SOFTMAX, TN_F8E4M3, 5, 300, 1, false, "single", "reduced"},
        {TN_ROW_CAUSAL_SOFTMAX, TN_F32, 40, 40, 1, true, "single", "reduced"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t shape[2] = {cases[i].rows, cases[i].width};
        const int64_t back[2] = {shape[1], shape[0]};
        tn_tensor dst, src;
        tn_plan *plan = NULL;
        tn_facts facts;
        OK(tn_init(&dst, NULL, cases[i].dtype, 2, shape));
        OK(tn_init(&src, NULL, cases[i].dtype, 2, cases[i].turned ? back : shape));
        if (cases[i].turned)
            OK(tn_permute(&src, &src, (int[]){1, 0}));
        OK(tn_plan_rows(&plan, cases[i].op, &dst, &src, cases[i].dim, NULL, NULL, 1e-5));
        OK(tn_plan_facts(&facts, plan));
        if (strcmp(facts.way, cases[i].way) || !strstr(facts.why, cases[i].why))
            fail_msg("case %d: %s: %s, expected %s: ...%s...", (int)i, facts.way, facts.why,
                     cases[i].way, cases[i].why);
        tn_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plans),
        cmocka_unit_test(test_ways),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
