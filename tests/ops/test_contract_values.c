/* test_contract_values.c - contractions beside the numbers: NaN and infinity by every way and
 * dtype, what is not read, plans of gemm that run with other numbers, memory, explain. */
#include <pthread.h>

#include "contract_ways.h"

/* ---- every product is made ---- */

/* The special number of a dtype: infinity, or NaN where there is none. */
static void put_special(tn_dtype t, char *at, bool nan)
{
    const float f = nan ? NAN : INFINITY;
    const double d = f;
    const uint16_t half = t == TN_F16 ? tni_f16_of_f32(f) : tni_bf16_of_f32(f);
    const uint8_t eight = t == TN_F8E4M3 ? 0x7f : tni_f8e5m2_of_f32(f);
    const bool wide = t == TN_F64 || t == TN_C128, narrow = t == TN_F32 || t == TN_C64;
    const size_t size = tn_dtype_size(t == TN_C64 ? TN_F32 : t == TN_C128 ? TN_F64 : t);
    memcpy(at,
           wide        ? (const void *)&d
           : narrow    ? (const void *)&f
           : size == 2 ? (const void *)&half
                       : (const void *)&eight,
           size);
}

static char *last_element(const tn_tensor *t)
{
    char *at = t->data;
    for (int i = 0; i < t->ndim; i++)
        at += (t->shape[i] - 1) * t->stride[i];
    return at;
}

/* One operand is 0 but for one special element of the other: the elements of dst that it
 * belongs to are NaN, the others 0. */
static void special_case(const way_case *c, int special, bool nan)
{
    char spec[64];
    snprintf(spec, sizeof spec, "%s,%s->%s", c->letters[1], c->letters[2], c->letters[0]);
    tn_tensor t[3];
    for (int k = 0; k < 3; k++) {
        t[k] = layout_of(c, k);
        memset(t[k].data, k ? 0 : 0xff, (size_t)tn_nbytes(&t[k]));
    }
    put_special(c->dtype, last_element(&t[special]), nan);
    OK(tn_einsum(&t[0], spec, 2, (const tn_tensor *const[]){&t[1], &t[2]}));
    int64_t at[TN_MAX_NDIM] = {0};
    do {
        bool touched = true;
        for (int i = 0; i < t[0].ndim; i++)
            if (strchr(c->letters[special], c->letters[0][i]))
                touched = touched && at[i] == t[0].shape[i] - 1;
        const oracle_number x = oracle_read(c->dst, element(&t[0], at));
        const bool right = touched ? isnan(x.re) : x.re == 0 && x.im == 0;
        if (!right)
            fail_msg("%s %s %s, %s in source %d: got %Lg where it is%s summed", spec, c->sizes,
                     tn_dtype_name(c->dtype), nan ? "nan" : "inf", special, x.re,
                     touched ? "" : " not");
    } while (index_next(at, t[0].ndim, t[0].shape));
    for (int k = 0; k < 3; k++)
        free(t[k].data);
}

static void every_product_is_made(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32, TN_F64,  TN_C64,    TN_C128,
                                     TN_F16, TN_BF16, TN_F8E4M3, TN_F8E5M2};
    for (size_t i = 0; i < sizeof contract_ways / sizeof *contract_ways; i++)
        for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
            way_case c = contract_ways[i];
            if (strchr(c.sizes, '0') && (strstr(c.sizes, "i0") || strstr(c.sizes, "k0")))
                continue;
            if (TEST_WATCHED && c.dtype != types[t])
                continue;
            c.dtype = c.dst = types[t];
            special_case(&c, 1 + (int)((i + t) % 2), (i + t / 2) % 2);
        }
}

/* beta 0 does not read c, alpha 0 reads neither source, by every way that a size takes. */
static void what_is_not_read(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32, TN_F64,  TN_C64,   TN_C128,
                                     TN_F16, TN_BF16, TN_F8E5M2};
    static const int64_t sizes[][3] = {{5, 7, 3}, {1, 130, 30}, {40, 1, 30}, {130, 90, 150}};
    rng r = {6};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (size_t s = 0; s < 4; s++) {
            const int64_t *n = sizes[s];
            const way_case c = {.letters = {"ij", "ik", "kj"}, .dtype = types[i]};
            tn_tensor t[3];
            OK(tn_alloc(&t[0], types[i], 2, (int64_t[]){n[0], n[1]}));
            OK(tn_alloc(&t[1], types[i], 2, (int64_t[]){n[0], n[2]}));
            OK(tn_alloc(&t[2], types[i], 2, (int64_t[]){n[2], n[1]}));
            memset(t[0].data, 0xff, (size_t)tn_nbytes(&t[0])); /* NaN */
            for (int k = 1; k < 3; k++)
                oracle_fill(&r, &t[k], false);
            OK(tn_gemm(&t[0], 1, &t[1], &t[2], 0, NULL));
            assert_false(isnan(oracle_read(c.dtype, t[0].data).re));
            assert_false(isnan(oracle_read(c.dtype, last_element(&t[0])).re));
            memset(t[0].data, 0xff, (size_t)tn_nbytes(&t[0]));
            for (int k = 1; k < 3; k++)
                memset(t[k].data, 0xff, (size_t)tn_nbytes(&t[k]));
            OK(tn_gemm(&t[0], 0, &t[1], &t[2], 0, NULL));
            for (int64_t b = 0; b < tn_nbytes(&t[0]); b++)
                assert_int_equal(((char *)t[0].data)[b], 0);
            for (int k = 0; k < 3; k++)
                tn_free(&t[k]);
        }
}

/* ---- plans of gemm ---- */

static void same_as_gemm(const tn_plan *plan, const tn_tensor *d, double alpha,
                         const tn_tensor *a, const tn_tensor *b, double beta,
                         const tn_tensor *c)
{
    tn_tensor want, got;
    OK(tn_contiguous(&want, d));
    OK(tn_contiguous(&got, d));
    OK(tn_gemm(&want, alpha, a, b, beta, c));
    OK(tn_plan_gemm_run(plan, got.data, alpha, a->data, b->data, beta, c ? c->data : NULL, NULL,
                        0));
    assert_memory_equal(got.data, want.data, (size_t)tn_nbytes(&want));
    tn_free(&got);
    tn_free(&want);
}

/* A plan runs with other numbers and another c: one of its own layout, where one was planned
 * (also broadcast, with strides of 0), else one laid out as dst; NULL is dst. */
static void plans_with_other_numbers(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32, TN_BF16, TN_I32, TN_C64};
    static const int64_t sizes[][3] = {{5, 7, 3}, {1, 130, 30}, {70, 60, 50}};
    for (size_t i = 0; i < 4; i++)
        for (size_t s = 0; s < 3; s++) {
            const int64_t *n = sizes[s];
            rng r = {i + s};
            tn_tensor d, a, b, c, bias, wide;
            tn_plan *plan;
            OK(tn_alloc(&d, types[i], 2, (int64_t[]){n[0], n[1]}));
            OK(tn_alloc(&c, types[i], 2, (int64_t[]){n[0], n[1]}));
            OK(tn_alloc(&a, types[i], 2, (int64_t[]){n[0], n[2]}));
            OK(tn_alloc(&b, types[i], 2, (int64_t[]){n[2], n[1]}));
            OK(tn_alloc(&bias, types[i], 1, (int64_t[]){n[1]}));
            OK(tn_broadcast_to(&wide, &bias, 2, d.shape)); /* stride 0 */
            const tn_tensor *const all[] = {&d, &a, &b, &c, &bias};
            for (int k = 0; k < 5; k++)
                oracle_fill(&r, all[k], false);

            OK(tn_plan_gemm(&plan, &d, 1, &a, &b, 2, &wide)); /* c of its own layout */
            assert_true(tn_plan_workspace(plan) == 0 || types[i] == TN_BF16);
            same_as_gemm(plan, &d, 3, &a, &b, 2, &wide);
            same_as_gemm(plan, &d, 1, &a, &b, -1, &bias);
            same_as_gemm(plan, &d, 1, &a, &b, 0, NULL);
            same_as_gemm(plan, &d, 0, &a, &b, 2, &bias);
            tn_plan_free(plan);

            OK(tn_plan_gemm(&plan, &d, 1, &a, &b, 1, NULL)); /* dst */
            same_as_gemm(plan, &d, 2, &a, &b, 1, NULL);
            same_as_gemm(plan, &d, 2, &a, &b, 3, &c);
            same_as_gemm(plan, &d, 2, &a, &b, 0, &c);
            tn_plan_free(plan);

            OK(tn_plan_gemm(&plan, &d, 1, &a, &b, 0, &bias)); /* not read: laid out as dst */
            same_as_gemm(plan, &d, 1, &a, &b, 5, &c);
            same_as_gemm(plan, &d, 1, &a, &b, 5, NULL);
            tn_plan_free(plan);
            for (int k = 0; k < 5; k++) {
                tn_tensor t = *all[k];
                tn_free(&t);
            }
        }
}

/* ---- memory ---- */

/* A run in a workspace allocates nothing; without one it is what a failed run is short of,
 * which leaves dst as it was. */
static void memory_is_counted(void **state)
{
    (void)state;
    tally count = {0};
    tn_handle *h;
    int needs = 0;
    OK(tn_handle_create(
        &h, TN_CPU, 0,
        &(tn_config){.threads = 2, .alloc = tally_alloc, .free = tally_free, .user = &count}));
    OK(tn_handle_use(h));
    for (size_t i = 0; i < sizeof contract_ways / sizeof *contract_ways; i++) {
        const way_case *c = &contract_ways[i];
        char spec[64];
        tn_tensor t[3];
        tn_plan *plan;
        snprintf(spec, sizeof spec, "%s,%s->%s", c->letters[1], c->letters[2], c->letters[0]);
        for (int k = 0; k < 3; k++)
            t[k] = layout_of(c, k);
        const tn_tensor *const srcs[] = {&t[1], &t[2]};
        const void *const data[] = {t[1].data, t[2].data};
        const size_t bytes = (size_t)tn_nbytes(&t[0]);
        OK(tn_plan_einsum(&plan, &t[0], spec, 2, srcs));
        const size_t size = tn_plan_workspace(plan);
        char *workspace = aligned_alloc(64, (size + 127) / 64 * 64), *was = malloc(bytes + 1);
        assert_true(workspace && was);
        memcpy(was, t[0].data, bytes);
        const int before = count.calls;
        count.fail_at = before + 1;
        if (size) {
            needs++;
            assert_int_equal(tn_plan_run(plan, t[0].data, data), TN_ENOMEM);
            count.fail_at = count.calls + 1;
            assert_int_equal(tn_einsum(&t[0], spec, 2, srcs), TN_ENOMEM);
            assert_memory_equal(was, t[0].data, bytes);
        }
        count.fail_at = count.calls + 1;
        const int failed = count.calls;
        OK(tn_plan_run_in(plan, t[0].data, data, size ? workspace : NULL, size));
        assert_int_equal(count.calls, failed);
        if (!size) { /* and without a workspace nobody allocates */
            OK(tn_plan_run(plan, t[0].data, data));
            OK(tn_einsum(&t[0], spec, 2, srcs));
            assert_int_equal(count.calls, before);
        }
        count.fail_at = 0;
        tn_plan_free(plan);
        free(workspace);
        free(was);
        for (int k = 0; k < 3; k++)
            free(t[k].data);
    }
    assert_true(needs > 5);
    assert_int_equal(count.live, 0);
    tn_handle_destroy(h);
}

static tn_tensor weak[3];

static char weak_was[96 * 96 * 2];

/* dst is as it was, unless the call succeeds. */
static tn_status weak_checked(tn_status status)
{
    if (status != TN_OK)
        assert_memory_equal(weak_was, weak[0].data, sizeof weak_was);
    return status;
}

static tn_status weak_matmul(void)
{
    return weak_checked(tn_matmul(&weak[0], &weak[1], &weak[2]));
}

static tn_status weak_gemm(void)
{
    return weak_checked(tn_gemm(&weak[0], 1, &weak[1], &weak[2], 1, NULL));
}

static tn_plan *weak_plan;

static tn_status weak_gemm_run(void)
{
    return weak_checked(tn_plan_gemm_run(weak_plan, weak[0].data, 1, weak[1].data, weak[2].data,
                                         1, NULL, NULL, 0));
}

static void each_workspace_fails(void **state)
{
    (void)state;
    static tn_status (*const calls[])(void) = {weak_matmul, weak_gemm, weak_gemm_run};
    const int64_t shape[] = {96, 96};
    for (int k = 0; k < 3; k++) {
        OK(tn_alloc(&weak[k], TN_F16, 2, shape));
        OK(tn_randn(&weak[k], (uint64_t)k));
    }
    OK(tn_plan_gemm(&weak_plan, &weak[0], 1, &weak[1], &weak[2], 1, NULL));
    for (int i = 0; i < 3; i++) {
        memcpy(weak_was, weak[0].data, sizeof weak_was);
        assert_int_equal(fail_each_allocation(calls[i]), 1);
    }
    tn_plan_free(weak_plan);
    for (int k = 0; k < 3; k++)
        tn_free(&weak[k]);
}

/* Every way on a thread whose stack is as small as a call may be given. */
static void *small_stack_work(void *arg)
{
    tn_status *status = arg;
    for (size_t i = 0; i < sizeof contract_ways / sizeof *contract_ways; i++) {
        const way_case *c = &contract_ways[i];
        char spec[64];
        tn_tensor t[3];
        snprintf(spec, sizeof spec, "%s,%s->%s", c->letters[1], c->letters[2], c->letters[0]);
        for (int k = 0; k < 3; k++)
            t[k] = layout_of(c, k);
        if (*status == TN_OK)
            *status = tn_einsum(&t[0], spec, 2, (const tn_tensor *const[]){&t[1], &t[2]});
        for (int k = 0; k < 3; k++)
            free(t[k].data);
    }
    return NULL;
}

static void stacks_are_small(void **state)
{
    (void)state;
    enum { STACK = TEST_WATCHED ? 4 << 20 : 256 << 10 };
    tn_status status = TN_OK;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstacksize(&attr, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, small_stack_work, &status), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    assert_int_equal(status, TN_OK);
}

/* ---- explain ---- */

static void gemms_are_explained(void **state)
{
    (void)state;
    static const struct {
        const char *spec;
        int n;
        int64_t shape[3][4];
        tn_dtype dtype;
        const char *gemm[2]; /* of each product */
        int64_t flops;
    } cases[] = {
        {"ik,kj->ij",
         2,
         {{300, 100}, {100, 200}},
         TN_F32,
         {"300 x 200 x 100, 1 time"},
         2 * 300 * 200 * 100},
        {"ik,jk->ij",
         2,
         {{300, 100}, {200, 100}},
         TN_F64,
         {"300 x 200 x 100, 1 time, b transposed"},
         2 * 300 * 200 * 100},
        {"ki,kj->ij",
         2,
         {{100, 300}, {100, 200}},
         TN_F32,
         {"300 x 200 x 100, 1 time, a transposed"},
         2 * 300 * 200 * 100},
        {"bqhd,bkhd->bhqk",
         2,
         {{2, 96, 4, 64}, {2, 96, 4, 64}},
         TN_F32,
         {"96 x 96 x 64, 8 times, b transposed"},
         2 * 8 * 96 * 96 * 64},
        {"ij,jk,kl->il",
         3,
         {{60, 50}, {50, 40}, {40, 30}},
         TN_F64,
         {"50 x 30 x 40, 1 time", "60 x 30 x 50, 1 time, b transposed"},
         2 * (50 * 30 * 40 + 60 * 30 * 50)},
        {"ik,kj->ij",
         2,
         {{130, 150}, {150, 90}},
         TN_F16,
         {"130 x 90 x 150, 1 time, a packed, b packed, dst packed"},
         2 * 130 * 90 * 150},
        {"k,jk->j", 2, {{100}, {70, 100}}, TN_F32, {"1 x 70 x 100"}, 2 * 70 * 100},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tn_tensor t[3], d;
        const tn_tensor *const srcs[] = {&t[0], &t[1], &t[2]};
        int64_t shape[TN_MAX_NDIM];
        tn_facts facts;
        tn_plan *plan;
        int ndim;
        for (int k = 0; k < cases[i].n; k++) {
            ndim = 0;
            while (ndim < 4 && cases[i].shape[k][ndim])
                ndim++;
            OK(tn_init(&t[k], NULL, cases[i].dtype, ndim, cases[i].shape[k]));
        }
        OK(tn_einsum_shape(cases[i].spec, cases[i].n, srcs, &ndim, shape));
        OK(tn_init(&d, NULL, cases[i].dtype, ndim, shape));
        OK(tn_plan_einsum(&plan, &d, cases[i].spec, cases[i].n, srcs));
        OK(tn_plan_facts(&facts, plan));
        assert_int_equal(facts.flops, cases[i].flops);
        int k = 0;
        for (int m = 0; m < facts.nmore; m++)
            if (!strcmp(facts.more[m].name, "gemm")) {
                assert_true(k < 2 && cases[i].gemm[k]);
                assert_memory_equal(facts.more[m].text, cases[i].gemm[k],
                                    strlen(cases[i].gemm[k]));
                k++;
            }
        assert_true(k > 0 && (k == 2 || !cases[i].gemm[k]));
        tn_plan_free(plan);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_product_is_made),    cmocka_unit_test(what_is_not_read),
        cmocka_unit_test(plans_with_other_numbers), cmocka_unit_test(memory_is_counted),
        cmocka_unit_test(each_workspace_fails),     cmocka_unit_test(gemms_are_explained),
        cmocka_unit_test(stacks_are_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
