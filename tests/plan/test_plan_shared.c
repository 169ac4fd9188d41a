/* test_plan_shared.c - one plan, many threads, any data; what a plan refuses and how it
 * reads. */
#include <pthread.h>

#include "copy_oracle.h"

enum { CROWD = 8, ROUNDS = TEST_WATCHED ? 4 : 40 };

typedef struct worker {
    const tn_plan *plan;
    tn_handle *handle; /* NULL: the default */
    ground src, dst, want;
    bool right;
} worker;

static void *work(void *arg)
{
    worker *me = arg;
    me->right = tn_handle_use(me->handle) == TN_OK;
    for (int round = 0; round < ROUNDS && me->right; round++) {
        memset(me->dst.bytes, round, me->dst.size);
        memset(me->want.bytes, round, me->want.size);
        copy_oracle(&me->want.t, &me->src.t);
        me->right = tn_plan_run(me->plan, me->dst.t.data,
                                (const void *const[]){me->src.t.data}) == TN_OK &&
                    same_ground(&me->dst, &me->want);
    }
    if (tn_handle_use(NULL) != TN_OK)
        me->right = false;
    return NULL;
}

static void share(const tn_tensor *d, const tn_tensor *s, int threads)
{
    rng r = {3};
    tn_plan *plan;
    tn_handle *handle;
    worker crowd[CROWD];
    pthread_t ids[CROWD];
    OK(tn_handle_create(&handle, TN_CPU, 0, &(tn_config){.threads = threads}));
    OK(tn_plan_rearrange(&plan, d, s));
    for (int i = 0; i < CROWD; i++) {
        ground dst = ground_make(&r, d, i * 4 % 64);
        crowd[i] = (worker){.plan = plan,
                            .handle = handle,
                            .src = ground_make(&r, s, i * 12 % 64),
                            .dst = dst,
                            .want = ground_twin(&dst)};
        assert_int_equal(pthread_create(&ids[i], NULL, work, &crowd[i]), 0);
    }
    for (int i = 0; i < CROWD; i++) {
        pthread_join(ids[i], NULL);
        assert_true(crowd[i].right);
        ground_free(&crowd[i].src);
        ground_free(&crowd[i].dst);
        ground_free(&crowd[i].want);
    }
    tn_plan_free(plan);
    tn_handle_destroy(handle);
}

static void eight_threads_share_a_plan(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[3];
        const char *dst, *src;
    } cases[] = {
        {{20, 30, 40}, "012", "210"},    {{20, 30, 40}, "012", "102"},
        {{20, 30, 40}, "012+", "-02*1"}, {{30, 30, 60}, "012", "210"},
        {{9, 30, 200}, "012", "012"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++)
        for (int threads = 1; threads <= 2; threads++) {
            tn_tensor d = layout_of(TN_F32, 3, cases[c].shape, cases[c].dst);
            tn_tensor s = layout_of(TN_F32, 3, cases[c].shape, cases[c].src);
            share(&d, &s, threads);
        }
}

/* A plan that was made for aligned data runs on any. */
static void any_alignment(void **state)
{
    (void)state;
    rng r = {4};
    static const char *const ways[][2] = {
        {"01", "10"}, {"01", "01+"}, {"01", "01"}, {"01", "0*1*"}};
    for (size_t c = 0; c < sizeof ways / sizeof *ways; c++)
        for (int w = 0; w < WIDTHS; w++) {
            const int64_t shape[] = {67, 130};
            tn_tensor d = layout_of(dtype_of_width[w], 2, shape, ways[c][0]);
            tn_tensor s = layout_of(dtype_of_width[w], 2, shape, ways[c][1]);
            tn_plan *plan;
            OK(tn_plan_rearrange(&plan, &d, &s));
            for (int shift = 0; shift < 64; shift += TEST_WATCHED ? 7 : 1) {
                ground src = ground_make(&r, &s, 63 - shift), dst = ground_make(&r, &d, shift);
                ground want = ground_twin(&dst);
                copy_oracle(&want.t, &src.t);
                OK(tn_plan_run(plan, dst.t.data, (const void *const[]){src.t.data}));
                if (!same_ground(&dst, &want))
                    fail_msg("%s from %s, %d bytes, dst at %d", ways[c][0], ways[c][1], 1 << w,
                             shift);
                ground_free(&src);
                ground_free(&dst);
                ground_free(&want);
            }
            tn_plan_free(plan);
        }
}

static void refused_runs(void **state)
{
    (void)state;
    float room[40] = {0}, x[12];
    tn_plan *plan;
    tn_tensor d = layout_of(TN_F32, 2, (int64_t[]){3, 4}, "01");
    tn_tensor s = layout_of(TN_F32, 2, (int64_t[]){3, 4}, "10");
    for (int i = 0; i < 12; i++)
        x[i] = (float)(i + 1);
    assert_int_equal(tn_plan_rearrange(NULL, &d, &s), TN_ENULL);
    OK(tn_plan_rearrange(&plan, &d, &s));
    assert_int_equal(tn_plan_run(NULL, room, (const void *const[]){x}), TN_ENULL);
    assert_string_equal(tn_error(), "plan_run: plan is NULL");
    assert_int_equal(tn_plan_run(plan, room, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "plan_run: srcs is NULL, expected 1 entries");
    assert_int_equal(tn_plan_run(plan, NULL, (const void *const[]){x}), TN_ENULL);
    assert_string_equal(tn_error(), "plan_run: dst is NULL");
    assert_int_equal(tn_plan_run(plan, room, (const void *const[]){NULL}), TN_ENULL);
    assert_string_equal(tn_error(), "plan_run: src 0 is NULL");
    assert_int_equal(tn_plan_run(plan, room, (const void *const[]){room}), TN_EOVERLAP);
    assert_string_equal(tn_error(), "plan_run: dst and src share bytes");
    assert_int_equal(tn_plan_run(plan, room, (const void *const[]){room + 11}), TN_EOVERLAP);
    assert_int_equal(tn_plan_run(plan, room + 11, (const void *const[]){room}), TN_EOVERLAP);
    for (int i = 0; i < 40; i++)
        assert_true(room[i] == 0);
    OK(tn_plan_run(plan, room, (const void *const[]){room + 12})); /* side by side */
    OK(tn_plan_run(plan, room, (const void *const[]){x}));
    assert_true(room[1] == 4 && room[4] == 2);
    tn_plan_free(plan);
    tn_plan_free(NULL);
}

static void explained(void **state)
{
    (void)state;
    tn_plan *plan;
    char whole[1200], cut[1200];
    tn_tensor d = layout_of(TN_F32, 2, (int64_t[]){500, 300}, "01");
    tn_tensor s = layout_of(TN_F32, 2, (int64_t[]){500, 300}, "10");
    OK(tn_plan_rearrange(&plan, &d, &s));
    OK(tn_plan_explain(plan, whole, sizeof whole));
    assert_int_equal(tn_plan_explain_size(plan), strlen(whole) + 1);
    assert_int_equal(tn_plan_explain_size(NULL), 0);
    static const char *const facts[] = {"rearrange f32 (500, 300): transpose", "600000 read",
                                        "600000 written", "threads", "kernels"};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        assert_non_null(strstr(whole, facts[i]));
    for (size_t size = 1; size <= strlen(whole) + 1; size++) {
        memset(cut, 'x', sizeof cut);
        OK(tn_plan_explain(plan, cut, size));
        assert_int_equal(strlen(cut), size - 1);
        assert_memory_equal(cut, whole, size - 1);
        assert_int_equal(cut[size], 'x');
    }
    OK(tn_plan_explain(plan, NULL, 0));
    assert_int_equal(tn_plan_explain(plan, NULL, 10), TN_ENULL);
    assert_int_equal(tn_plan_explain(NULL, cut, 10), TN_ENULL);
    tn_plan_free(plan);
}

/* A text of the user may hold any blank; a string of JSON has no control bytes. */
static void json_of_a_text(void **state)
{
    (void)state;
    tn_expr *e;
    tn_plan *plan;
    char json[4000];
    tn_tensor x = layout_of(TN_F32, 1, (int64_t[]){6}, "0");
    OK(tn_expr_parse(&e, "x +\r\n\tx"));
    OK(tn_plan_expr(&plan, e, &x, 1, (const tn_tensor *const[]){&x}));
    OK(tn_plan_json(plan, json, sizeof json));
    assert_non_null(strstr(json, "\"x +   x\""));
    for (const char *c = json; c[1]; c++)
        assert_true((unsigned char)*c >= ' ');
    tn_plan_free(plan);
    tn_expr_free(e);
}

/* Programs read fields; JSON has the same ones. */
static void facts(void **state)
{
    (void)state;
    tn_plan *plan;
    tn_facts f;
    char json[4000];
    tn_tensor d = layout_of(TN_F32, 2, (int64_t[]){500, 300}, "01");
    tn_tensor s = layout_of(TN_F32, 2, (int64_t[]){500, 300}, "10");
    OK(tn_plan_rearrange(&plan, &d, &s));
    OK(tn_plan_facts(&f, plan));
    assert_string_equal(f.call, "rearrange");
    assert_string_equal(f.isa, tn_isa());
    assert_true(f.dtype == TN_F32 && f.ndim == 2 && f.shape[0] == 500 && f.shape[1] == 300);
    assert_true(f.read == 600000 && f.written == 600000 && f.unit == 4 && f.units == 150000);
    assert_true(f.threads >= 1 && f.tiles >= 1 && f.tile_ndim >= 1 && !f.scalar);
    assert_int_equal(tn_plan_facts(NULL, plan), TN_ENULL);
    assert_string_equal(tn_error(), "plan_facts: facts is NULL");
    assert_int_equal(tn_plan_facts(&f, NULL), TN_ENULL);

    OK(tn_plan_json(plan, json, sizeof json));
    assert_int_equal(tn_plan_json_size(plan), strlen(json) + 1);
    assert_int_equal(tn_plan_json_size(NULL), 0);
    static const char *const parts[] = {"{\"call\": \"rearrange\", ", "\"read\": 600000, ",
                                        "\"dtype\": \"f32\", ",       "\"shape\": [500, 300], ",
                                        "\"scalar\": false, ",        "}\n"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(json, parts[i]))
            fail_msg("no %s in %s", parts[i], json);
    OK(tn_plan_json(plan, json, 10));
    assert_int_equal(strlen(json), 9);
    assert_int_equal(tn_plan_json(NULL, json, 10), TN_ENULL);
    assert_int_equal(tn_plan_json(plan, NULL, 10), TN_ENULL);
    tn_plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_threads_share_a_plan),
        cmocka_unit_test(any_alignment),
        cmocka_unit_test(refused_runs),
        cmocka_unit_test(explained),
        cmocka_unit_test(json_of_a_text),
        cmocka_unit_test(facts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
