/* test_tune.c - numbers of the machine: plans that are measured, files that are kept or
 * ignored. */
#include "copy_oracle.h"

#include <stdlib.h>

#include "plan/plan.h"
#include "runtime/runtime.h"

static const char *in_folder(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", TEST_BINARY_DIR, name);
    return path;
}

static void write_text(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    fclose(f);
}

static void saved_and_loaded(void **state)
{
    (void)state;
    char path[512];
    snprintf(path, sizeof path, "%s", in_folder("tune_saved"));
    tni_tune_set(TNI_LINE_PIECE, 256);
    tni_tune_set(TNI_ROWS_DIRECT, 512);
    OK(tn_tune_save(path));
    tni_tune_set(TNI_LINE_PIECE, 128);
    tni_tune_set(TNI_ROWS_DIRECT, 1024);
    OK(tn_tune_load(path));
    assert_int_equal(tni_tuned(TNI_LINE_PIECE), 256);
    assert_int_equal(tni_tuned(TNI_ROWS_DIRECT), 512);
    tni_tune_set(TNI_LINE_PIECE, 128);
    tni_tune_set(TNI_ROWS_DIRECT, 1024);
    remove(path);
    assert_int_equal(tn_tune_load(path), TN_EIO);
    assert_int_equal(tn_tune_load(NULL), TN_ENULL);
    assert_int_equal(tn_tune_save(NULL), TN_ENULL);
    assert_int_equal(tn_tune_save(in_folder("no/such/folder")), TN_EIO);
}

/* Nothing is changed by a file that is not one, is damaged, foreign or hostile. */
static void ignored(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_status status;
        const char *says;
    } of[] = {
        {"", TN_EFORMAT, "not a tune file of version 1"},
        {"tenon tune 2\nline_piece 256\n", TN_EFORMAT, "not a tune file of version 1"},
        {"tenon tune 1\nline_piece 256", TN_EFORMAT, "line 2 is truncated"},
        {"tenon tune 1\nline_piece\n", TN_EFORMAT, "line 2: expected a name and a number"},
        {"tenon tune 1\nline_piece 256 512\n", TN_EFORMAT,
         "line 2: expected a name and a number"},
        {"tenon tune 1\nline_piece -256\n", TN_EFORMAT,
         "line 2: line_piece: got -256, expected 64 to 4096"},
        {"tenon tune 1\nline_piece 0\n", TN_EFORMAT,
         "line 2: line_piece: got 0, expected 64 to 4096"},
        {"tenon tune 1\nline_piece 99999999999999999999\n", TN_EFORMAT, "expected 64 to 4096"},
        {"tenon tune 1\nline_piece 256\nline_piece 512\n", TN_EFORMAT,
         "line 3: duplicate name line_piece"},
        {"tenon tune 1\nline_piece 256\nno_number 1\n", TN_EFORMAT,
         "line 3: unknown name \"no_number\""},
        {"tenon tune 1\ncpu of another kind\nline_piece 256\n", TN_EUNSUPPORTED,
         "measured on of another kind, this CPU is "},
    };
    char path[512], long_text[8192] = "tenon tune 1\n";
    snprintf(path, sizeof path, "%s", in_folder("tune_bad"));
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        write_text(path, of[i].text);
        if (tn_tune_load(path) != of[i].status || !strstr(tn_error(), of[i].says))
            fail_msg("%s: %s", of[i].text, tn_error());
        assert_int_equal(tni_tuned(TNI_LINE_PIECE), 128);
    }
    memset(long_text + 13, '#', sizeof long_text - 15);
    long_text[sizeof long_text - 2] = '\n';
    write_text(path, long_text);
    assert_int_equal(tn_tune_load(path), TN_EFORMAT);
    write_text(path, "tenon tune 1\n# a remark\n");
    OK(tn_tune_load(path));
    assert_int_equal(tni_tuned(TNI_LINE_PIECE), 128);
    remove(path);
}

/* The first plan looks for a file; one that is damaged leaves the sentence and the column of
 * the failure before it. */
static void quiet_at_first(void **state)
{
    (void)state;
    char path[512], before[512];
    snprintf(path, sizeof path, "%s", in_folder("tune_quiet"));
    write_text(path, "tenon tune 1\nline_piece 0\n");
    setenv("TENON_TUNE", path, 1);
    assert_int_equal(tni_fail_at(TN_EFORMAT, 7, "%0400d", 1), TN_EFORMAT);
    snprintf(before, sizeof before, "%s", tn_error());
    tni_tune_first();
    assert_string_equal(tn_error(), before);
    assert_int_equal(tn_error_column(), 7);
    unsetenv("TENON_TUNE");
    remove(path);
}

/* Whatever is chosen, the result is the same; and so for addresses that were not measured. */
static void tuned_plans(void **state)
{
    (void)state;
    rng r = {4};
    static const struct {
        int64_t shape[3];
        const char *dst, *src;
    } of[] = {{{40, 50, 60}, "012", "210"},
              {{33, 64, 128}, "012", "102"},
              {{9, 31, 77}, "021", "012"}};
    for (int i = 0; i < 3; i++)
        for (int at = 0; at < 64; at += 20) {
            tn_tensor d = layout_of(TN_F32, 3, of[i].shape, of[i].dst);
            tn_tensor s = layout_of(TN_F32, 3, of[i].shape, of[i].src);
            ground src = ground_make(&r, &s, 0), dst = ground_make(&r, &d, at);
            ground want = ground_twin(&dst);
            tn_plan *plan, *tuned;
            copy_oracle(&want.t, &src.t);
            OK(tn_plan_rearrange(&plan, &d, &s));
            OK(tn_plan_tuned(&tuned, plan, dst.t.data, (const void *const[]){src.t.data}, 1));
            assert_true(same_ground(&dst, &want));
            tn_plan_free(plan);
            ground again = ground_make(&r, &d, 4), should = ground_twin(&again);
            copy_oracle(&should.t, &src.t);
            OK(tn_plan_run(tuned, again.t.data, (const void *const[]){src.t.data}));
            assert_true(same_ground(&again, &should));
            tn_plan_free(tuned);
            ground_free(&src);
            ground_free(&dst);
            ground_free(&want);
            ground_free(&again);
            ground_free(&should);
        }
}

/* Rows that are longer than a source piece, where a file has them carried. */
static void long_rows(void **state)
{
    (void)state;
    rng r = {4};
    tn_tensor d = layout_of(TN_F32, 3, (int64_t[]){5, 6, 368}, "012");
    tn_tensor s = layout_of(TN_F32, 3, (int64_t[]){5, 6, 368}, "102");
    ground src = ground_make(&r, &s, 16), dst = ground_make(&r, &d, 16);
    ground want = ground_twin(&dst);
    copy_oracle(&want.t, &src.t);
    tni_tune_set(TNI_ROWS_DIRECT, 4096);
    OK(tn_rearrange(&dst.t, &src.t));
    tni_tune_set(TNI_ROWS_DIRECT, 1024);
    assert_true(same_ground(&dst, &want));
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
}

/* A plan says which numbers it was made with. */
static void explained(void **state)
{
    (void)state;
    bool found = false;
    tn_facts facts;
    tn_plan *plan;
    tn_tensor d = layout_of(TN_F32, 2, (int64_t[]){128, 128}, "01");
    tn_tensor s = layout_of(TN_F32, 2, (int64_t[]){128, 128}, "10");
    tni_tune_set(TNI_LINE_PIECE, 256);
    OK(tn_plan_rearrange(&plan, &d, &s));
    tni_tune_set(TNI_LINE_PIECE, 128);
    OK(tn_plan_facts(&facts, plan));
    for (int i = 0; i < facts.nmore; i++)
        if (!strcmp(facts.more[i].name, "tuning")) {
            found = true;
            assert_string_equal(facts.more[i].text,
                                "rows_direct 1024, line_piece 256, carried_run 1000");
        }
    assert_true(found);
    tn_plan_free(plan);
}

/* A plan that has nothing to choose comes back, and both are released. */
static void others_come_back(void **state)
{
    (void)state;
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6];
    tn_tensor a;
    tn_plan *plan, *tuned;
    OK(tn_init(&a, x, TN_F32, 1, (int64_t[]){6}));
    OK(tn_plan_op(&plan, TN_ADD, NULL, &a, 2, (const tn_tensor *const[]){&a, &a}));
    const void *const srcs[] = {x, x};
    OK(tn_plan_tuned(&tuned, plan, y, srcs, 1));
    tn_plan_free(plan);
    OK(tn_plan_run(tuned, y, srcs));
    assert_true(y[5] == 12);
    assert_int_equal(tn_plan_tuned(NULL, tuned, y, srcs, 1), TN_ENULL);
    assert_int_equal(tn_plan_tuned(&plan, NULL, y, srcs, 1), TN_ENULL);
    assert_int_equal(tn_plan_tuned(&plan, tuned, NULL, srcs, 1), TN_ENULL);
    assert_int_equal(tn_plan_tuned(&plan, tuned, y, srcs, -1), TN_EARG);
    assert_int_equal(tn_tune(-1), TN_EARG);
    tn_plan_free(tuned);
}

static void measured(void **state)
{
    (void)state;
    OK(tn_tune(TEST_WATCHED ? 0 : 50));
    for (int i = 0; i < TNI_TUNED; i++)
        assert_true(tni_tuned((tni_tuned_number)i) > 0);
}

int main(void)
{
    setenv("TENON_STREAM", "1", 1); /* every copy has something to choose */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_and_loaded), cmocka_unit_test(ignored),
        cmocka_unit_test(tuned_plans),      cmocka_unit_test(others_come_back),
        cmocka_unit_test(long_rows),        cmocka_unit_test(explained),
        cmocka_unit_test(measured),         cmocka_unit_test(quiet_at_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
