/* test_rearrange.c - named copies: each gives what the oracle gives, and goes the way it is
 * meant to go, in every width and with any number of threads.
 *
 * ctest runs this on every instruction set, and again with TENON_STREAM=1, which takes the ways
 * of outputs beyond the cache on small data. */
#include "copy_oracle.h"
#include "plan/copy/copy_shape.h"
#include "plan/plan.h"
#include "runtime/runtime.h"

/* Layouts are in copy_oracle.h's words.  From elements of `wide` bytes on, the way is
 * `wide_way`. */
typedef struct named {
    const char *sentence;
    int ndim;
    int64_t shape[8];
    const char *dst, *src, *way;
    int wide;
    const char *wide_way;
} named;

/* clang-format off */
static const named cases[] = {
    /* nothing to do, or one block */
    {"an empty axis",                 3, {4, 0, 6},          "012",  "102",   "nothing", 0, NULL},
    {"an empty axis of a broadcast",  2, {0, 7},             "01",   "0*1",   "nothing", 0, NULL},
    {"a scalar",                      0, {0},                "",     "",      "block",    0, NULL},
    {"one element of rank 4",         4, {1, 1, 1, 1},       "0123", "3201",  "block",    0, NULL},
    {"a vector",                      1, {40001},            "0",    "0",     "block",    0, NULL},
    {"a dense block of rank 4",       4, {7, 11, 13, 41},    "0123", "0123",  "block",    0, NULL},
    {"the same permuted layout",      4, {7, 11, 13, 41},    "2031", "2031",  "block",    0, NULL},
    {"both reversed whole",           3, {7, 110, 53},       "-0-1-2", "-0-1-2", "block", 0, NULL},
    {"unit axes anywhere",            6, {1, 70, 1, 60, 1, 11}, "012345", "420135", "block", 0, NULL},

    /* one value */
    {"one value everywhere",          3, {20, 30, 67},       "012",  "0*1*2*", "fill",   0, NULL},
    {"one value over reversed dst",   2, {200, 201},         "-0-1", "0*1*",   "fill",   0, NULL},

    /* rows: dense on both sides */
    {"rows with a gap in dst",        2, {151, 311},         "01+",  "01",    "rows",    0, NULL},
    {"rows with a gap in src",        2, {151, 311},         "01",   "01+",   "rows",    0, NULL},
    {"rows at odd addresses",         2, {151, 311},         "01'",  "01'",   "rows",    0, NULL},
    {"rows in reverse order",         2, {151, 311},         "01",   "-01",   "rows",    0, NULL},
    {"one row for all",               2, {151, 311},         "01",   "0*1",   "rows",    0, NULL},
    {"two outer axes exchanged",      3, {23, 29, 83},       "012",  "102",   "rows",    0, NULL},
    {"three outer axes reversed",     4, {11, 13, 17, 23},   "0123", "2103",  "rows",    0, NULL},
    {"rows of 3 elements",            3, {113, 127, 3},      "012",  "102",   "rows",    0, NULL},
    {"rows of 7 elements",            3, {53, 127, 7},       "012",  "102",   "rows",    0, NULL},
    {"rows of 64",                    3, {27, 31, 64},       "012",  "102",   "rows",    0, NULL},
    {"heads before tokens",           4, {2, 6, 50, 96},     "0123", "0213",  "rows",    0, NULL},
    {"long rows",                     3, {5, 7, 2003},       "012",  "102",   "rows",    0, NULL},

    /* transpose: dense along different axes */
    {"matrix transposed",                 2, {37, 41},           "01",   "10",    "transpose",    0, NULL},
    {"large matrix transposed",           2, {251, 243},         "01",   "10",    "transpose",    0, NULL},
    {"256 x 256 transposed",              2, {256, 256},         "01",   "10",    "transpose",    0, NULL},
    {"a tall matrix transposed",          2, {9001, 5},          "01",   "10",    "transpose",    0, NULL},
    {"a wide matrix transposed",          2, {5, 9001},          "01",   "10",    "transpose",    0, NULL},
    {"two columns transposed",            2, {9001, 2},          "01",   "10",    "transpose",    0, NULL},
    {"two rows transposed",               2, {2, 9001},          "01",   "10",    "transpose",    0, NULL},
    {"dst transposed",                    2, {251, 243},         "10",   "01",    "transpose",    0, NULL},
    {"transposed, gaps in dst",           2, {151, 143},         "01+",  "10",    "transpose",    0, NULL},
    {"transposed, gaps in src",           2, {151, 143},         "01",   "10+",   "transpose",    0, NULL},
    {"transposed, odd addresses",         2, {151, 143},         "01'",  "10'",   "transpose",    0, NULL},
    {"transposed, src reversed",          2, {151, 143},         "01",   "-1-0",  "transpose",    0, NULL},
    {"transposed, dense axis of src reversed", 2, {151, 143},    "01",   "1-0",   "transpose",    0, NULL},
    {"transposed, dst reversed",          2, {151, 143},         "-0-1", "10",    "transpose",    0, NULL},
    {"nhwc to nchw, 3 channels",      4, {2, 3, 71, 73},     "0123", "0231",  "transpose",    0, NULL},
    {"nchw to nhwc, 3 channels",      4, {2, 71, 73, 3},     "0123", "0312",  "transpose",    0, NULL},
    {"nchw to nhwc, 4 channels",      4, {2, 71, 73, 4},     "0123", "0312",  "transpose",    0, NULL},
    {"nchw to nhwc, 15 channels",     4, {2, 31, 33, 15},    "0123", "0312",  "transpose",    0, NULL},
    {"nchw to nhwc, 64 channels",     4, {2, 17, 19, 64},    "0123", "0312",  "transpose",    0, NULL},
    {"tokens inside heads",           4, {2, 3, 64, 77},     "0123", "0312",  "transpose",    0, NULL},
    {"rank 3 reversal",               3, {37, 35, 41},       "012",  "210",   "transpose",    0, NULL},
    {"rank 4 reversal",               4, {15, 14, 17, 13},   "0123", "3210",  "transpose",    0, NULL},
    {"rank 5 reversal",               5, {8, 9, 7, 11, 10},  "01234", "43210", "transpose",   0, NULL},
    {"rank 6 reversal",               6, {5, 7, 6, 5, 8, 6}, "012345", "543210", "transpose", 0, NULL},
    {"rank 8 reversal",               8, {4, 3, 4, 3, 4, 3, 4, 3}, "01234567", "76543210",
     "transpose", 0, NULL},
    {"dense axes that are not neighbours", 4, {12, 13, 14, 15}, "0123", "3021", "transpose",  0, NULL},
    {"cut rows beside a short axis, and runs that go on", 6, {7, 14, 3, 7, 32, 2}, "012543", "453201",
     "transpose", 0, NULL},
    {"short rows, and an axis after them that is cut", 3, {40, 301, 7}, "012", "210",    "transpose",    0, NULL},
    {"short source rows, and an axis after them that is cut", 4, {301, 5, 13, 9}, "0123", "3201",
     "transpose", 0, NULL},
    {"each element repeated",         2, {151, 311},         "01",   "01*",   "transpose",    0, NULL},
    {"pairs transposed",                  3, {151, 143, 2},      "012",  "102",   "transpose",   16, "rows"},
    {"groups of 4 transposed",            3, {91, 93, 4},        "012",  "102",   "transpose",    8, "rows"},
    {"groups of 16 transposed",           3, {41, 43, 16},       "012",  "102",   "transpose",    2, "rows"},

    /* strided: no side helps */
    {"src reversed inside",           2, {151, 311},         "01",   "0-1",   "strided", 0, NULL},
    {"dst reversed inside",           2, {151, 311},         "0-1",  "01",    "strided", 0, NULL},
    {"gaps in a vector",              2, {20011, 1},         "01+",  "01",    "strided", 0, NULL},
    {"a vector from gaps",            2, {20011, 1},         "01",   "01+",   "strided", 0, NULL},
    {"gaps behind every element",     3, {151, 143, 1},      "012+", "012+",  "strided", 0, NULL},
    {"gaps, and transposed",              3, {151, 143, 1},      "012+", "102+",  "strided", 0, NULL},
};
/* clang-format on */
enum { CASES = sizeof cases / sizeof *cases };

static tn_facts facts_of(const tn_plan *plan)
{
    tn_facts f;
    OK(tn_plan_facts(&f, plan));
    return f;
}

/* By the call and by the plan, with every number of threads. */
static void check(const named *c, tn_dtype dtype, rng *r)
{
    tn_tensor d = layout_of(dtype, c->ndim, c->shape, c->dst);
    tn_tensor s = layout_of(dtype, c->ndim, c->shape, c->src);
    ground src = ground_make(r, &s, pick(r, 0, 1) * pick(r, 0, 63));
    ground before = ground_make(r, &d, pick(r, 0, 1) * pick(r, 0, 63));
    ground want = ground_twin(&before);
    copy_oracle(&want.t, &src.t);

    tn_plan *plan;
    OK(tn_plan_rearrange(&plan, &d, &s));
    const tn_facts facts = facts_of(plan);
    const char *way = facts.way;
    assert_int_equal(facts.streams, strstr(facts.stores, "streamed") != NULL);
    const char *meant = c->wide && (int)tn_dtype_size(dtype) >= c->wide ? c->wide_way : c->way;
    if (strncmp(way, meant, strlen(meant))) /* "transpose" is "transpose staged", too */
        fail_msg("%s, %s: the way is %s, not %s", c->sentence, tn_dtype_name(dtype), way,
                 meant);

    for (int k = 0; k < 2 * THREAD_COUNTS; k++) {
        ground dst = ground_twin(&before);
        OK(tn_handle_use(handle_of[k / 2]));
        if (k % 2)
            OK(tn_rearrange(&dst.t, &src.t));
        else
            OK(tn_plan_run(plan, dst.t.data, (const void *const[]){src.t.data}));
        if (!same_ground(&dst, &want))
            fail_msg("%s, %s, %d threads, %s", c->sentence, tn_dtype_name(dtype),
                     thread_counts[k / 2], k % 2 ? "call" : "plan");
        ground_free(&dst);
    }
    tn_plan_free(plan);
    ground_free(&src);
    ground_free(&before);
    ground_free(&want);
}

static void every_way_in_every_width(void **state)
{
    (void)state;
    rng r = {1};
    for (int c = 0; c < CASES; c++)
        for (int w = 0; w < WIDTHS; w++)
            check(&cases[c], dtype_of_width[w], &r);
}

/* Short axes on both sides are taken together, long ones are not. */
static void short_axes_are_indexed(void **state)
{
    (void)state;
    static const struct {
        int64_t shape[4];
        bool indexed;
    } of[] = {{{15, 14, 17, 13}, true}, {{200, 14, 17, 13}, false}, {{15, 14, 17, 200}, false}};
    for (int i = 0; i < 3; i++) {
        tn_tensor d = layout_of(TN_F32, 4, of[i].shape, "0123");
        tn_tensor s = layout_of(TN_F32, 4, of[i].shape, "3210");
        tn_plan *plan;
        OK(tn_plan_rearrange(&plan, &d, &s));
        const tn_facts f = facts_of(plan);
        tni_copy c;
        tni_copy_plan(&c, &d, &s);
        if (!c.beyond)
            assert_string_equal(f.way, of[i].indexed ? "transpose indexed" : "transpose");
        tn_plan_free(plan);
    }
}

/* Rows that share cache sets on both sides are transposed by whole lines, where a line is one
 * vector; where one side's do not, it keeps its lines in L1. */
static void shared_sets_are_whole_lines(void **state)
{
    (void)state;
    const bool whole = tni_kernels_of(tni_isa_level())->copy->line_parts == 1;
    static const struct {
        int64_t shape[2];
        bool both;
    } of[] = {{{1024, 1024}, true},
              {{1025, 1023}, true},
              {{1000, 1024}, false},
              {{1024, 1000}, false}};
    for (int i = 0; i < 4; i++) {
        tn_tensor d = layout_of(TN_F32, 2, of[i].shape, "01");
        tn_tensor s = layout_of(TN_F32, 2, of[i].shape, "10");
        tni_copy c;
        tni_copy_plan(&c, &d, &s);
        if (!c.beyond)
            assert_string_equal(c.way->name,
                                whole && of[i].both ? "transpose whole" : "transpose");
    }
}

/* Source rows that neither L1 nor L2 holds are packed, in every width whose lines are several
 * elements; rows that L1 holds are not: those of other sets, and as few as a set has lines. */
static void shared_sets_are_packed(void **state)
{
    (void)state;
    const int64_t set = tni_cache_sizes()->l1 / TNI_L1_ALIAS; /* lines */
    for (int w = 0; w < 4; w++)
        for (int shared = 0; shared < 2; shared++) {
            const bool packs = shared && 64 >> w >= set;
            const int64_t n = (32768 + (shared ? 0 : 192)) >> w, shape[] = {n, 8192};
            tn_tensor d = layout_of(dtype_of_width[w], 2, shape, "01");
            tn_tensor s = layout_of(dtype_of_width[w], 2, shape, "10");
            tni_copy c;
            tni_copy_plan_at(&c, &d, &s, 16);
            if (c.beyond && c.packs != packs)
                fail_msg("%d bytes, %d: %s", 1 << w, shared, c.way->name);
        }
}

/* Beyond the cache, rows that are whole lines leave from registers; others do where two lines
 * can be shuffled into one (short rows that join, where a line is one vector), and through a
 * buffer where not; narrow elements of source rows that begin anywhere go other ways. */
static void lines_are_whole(void **state)
{
    (void)state;
    const bool whole = tni_kernels_of(tni_isa_level())->copy->line_parts == 1;
    const bool pairs = strcmp(tn_isa(), "base") != 0; /* and neon */
    const char *any = pairs ? "transpose carried" : "transpose staged";
    const struct {
        tn_dtype dtype;
        int64_t m, n;
        const char *way;
    } of[] = {{TN_F32, 2000320, 320, "transpose lines"}, /* short rows of whole lines */
              {TN_F32, 3, 50000001, "transpose staged"}, /* less than a block */
              {TN_F32, 2000001, 90, whole ? "transpose carried" : "transpose staged"},
              {TN_F32, 20032, 20032, "transpose lines"},
              {TN_F32, 20001, 20001, any},
              {TN_F16, 30001, 30001, whole ? "transpose shifted" : any},
              {TN_F16, 30016, 30016, "transpose lines"},
              {TN_F16, 30008, 30008, any},
              {TN_C128, 10001, 10001, any},
              {TN_U8, 40001, 40001, whole ? "transpose staged" : any}};
    for (int i = 0; i < (int)(sizeof of / sizeof *of); i++) {
        const int64_t shape[] = {of[i].m, of[i].n};
        tn_tensor d = layout_of(of[i].dtype, 2, shape, "01");
        tn_tensor s = layout_of(of[i].dtype, 2, shape, "10");
        tn_plan *plan;
        OK(tn_plan_rearrange(&plan, &d, &s));
        const tn_facts f = facts_of(plan);
        if (strcmp(f.way, of[i].way))
            fail_msg("%s of %lld: %s, not %s", tn_dtype_name(of[i].dtype), (long long)of[i].m,
                     f.way, of[i].way);
        tn_plan_free(plan);
    }
}

/* Copies into memory 16 bytes into a line, as malloc gives it, in every width: listed source
 * rows where the level has the shuffles, a buffer where it has not; narrow elements of source
 * rows that begin anywhere go other ways where a line is one vector. */
static void any_address_has_its_way(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[4];
        const char *dst, *src, *way;
    } of[] = {{2, {3331, 33333}, "01", "10", "transpose carried"},
              {4, {71, 73, 79, 83}, "0123", "3210", "transpose carried"},
              {3, {1501, 1703, 96}, "012", "102", "rows carried"}};
    static const char *const narrow[] = {"transpose staged", "transpose shifted"};
    const bool pairs = strcmp(tn_isa(), "base") != 0; /* and neon */
    const bool whole = tni_kernels_of(tni_isa_level())->copy->line_parts == 1;
    for (int i = 0; i < 3; i++)
        for (int w = 0; w < WIDTHS; w++) {
            const char *way = whole && i == 0 && w < 2 ? narrow[w] : of[i].way;
            tn_tensor d = layout_of(dtype_of_width[w], of[i].ndim, of[i].shape, of[i].dst);
            tn_tensor s = layout_of(dtype_of_width[w], of[i].ndim, of[i].shape, of[i].src);
            tni_copy c;
            tni_copy_plan_at(&c, &d, &s, 16);
            const bool long_rows = of[i].way[0] == 'r' && 96 << w >= 1024; /* are streamed */
            if (!c.beyond || long_rows)
                continue;
            if (pairs ? strcmp(c.way->name, way) != 0 : !strstr(c.way->name, "staged"))
                fail_msg("case %d of %d bytes: %s", i, 1 << w, c.way->name);
        }
}

/* What two threads write in a cache has few lines in common: not two at each short row. */
static void threads_share_out_the_outside(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[5];
        int64_t trips, step; /* of the outermost loop */
    } of[] = {{4, {19, 12, 19, 24}, 2, 6 * 19 * 24 * 4},
              {5, {12, 7, 7, 14, 12}, 2, 4 * 7 * 14 * 12 * 4},
              {5, {11, 4, 14, 14, 12}, 2, 2 * 14 * 14 * 12 * 4}};
    for (int i = 0; i < 3; i++) {
        const int n = of[i].ndim;
        tn_tensor d = layout_of(TN_F32, n, of[i].shape, n == 4 ? "0123" : "01234");
        tn_tensor s = layout_of(TN_F32, n, of[i].shape, n == 4 ? "3210" : "43210");
        tni_copy c;
        for (int k = 0; k < THREAD_COUNTS; k++) {
            OK(tn_handle_use(handle_of[k]));
            tni_copy_plan(&c, &d, &s);
            if (c.beyond || tni_threads() != 2)
                continue;
            assert_int_equal(c.loop[0].n, of[i].trips);
            assert_int_equal(c.loop[0].step[0], of[i].step);
        }
    }
}

/* Extents around the sizes of blocks, lines and tiles: every tail on either axis. */
static void every_tail(void **state)
{
    (void)state;
    rng r = {2};
    static const int64_t near[] = {1,  2,  3,  4,  5,  7,  8,  9,  15,
                                   16, 17, 31, 32, 33, 63, 64, 65, 130};
    enum { NEAR = sizeof near / sizeof *near };
    for (int w = 0; w < WIDTHS; w++)
        for (int i = 0; i < NEAR; i++)
            for (int k = 0; k < NEAR; k++) {
                const int64_t shape[] = {near[i], near[k]};
                tn_tensor d = layout_of(dtype_of_width[w], 2, shape, "01");
                tn_tensor s = layout_of(dtype_of_width[w], 2, shape, "10");
                ground src = ground_make(&r, &s, pick(&r, 0, 63));
                ground dst = ground_make(&r, &d, pick(&r, 0, 1) * pick(&r, 0, 63));
                ground want = ground_twin(&dst);
                copy_oracle(&want.t, &src.t);
                OK(tn_rearrange(&dst.t, &src.t));
                if (!same_ground(&dst, &want))
                    fail_msg("%d x %d of %d bytes transposed", (int)near[i], (int)near[k],
                             1 << w);
                ground_free(&src);
                ground_free(&dst);
                ground_free(&want);
            }
}

/* Outputs of several megabytes are beyond the cache on any machine, or are threaded well. */
static void large(void **state)
{
    (void)state;
    static const named big[] = {
        {"a large matrix transposed", 2, {811, 813}, "01", "10", "transpose", 0, NULL},
        {"1024 x 1536 transposed", 2, {1024, 768}, "01", "10", "transpose", 0, NULL},
        {"rows that share cache sets", 2, {512, 1024}, "01", "10", "transpose", 0, NULL},
        {"rows that nearly do", 2, {1023, 513}, "01", "10", "transpose", 0, NULL},
        {"a large image", 4, {2, 3, 311, 313}, "0123", "0231", "transpose", 0, NULL},
        {"a large image back", 4, {2, 311, 313, 3}, "0123", "0312", "transpose", 0, NULL},
        {"a large reversal", 5, {15, 14, 13, 16, 15}, "01234", "43210", "transpose", 0, NULL},
        {"large rows", 3, {23, 25, 1025}, "012", "102", "rows", 0, NULL},
        {"large block", 2, {600, 1001}, "01", "01", "block", 0, NULL},
        {"large value", 2, {600, 1001}, "01", "0*1*", "fill", 0, NULL},
    };
    rng r = {3};
    for (size_t c = 0; c < sizeof big / sizeof *big; c++)
        for (int w = 2; w < (TEST_WATCHED ? 3 : WIDTHS); w++)
            check(&big[c], dtype_of_width[w], &r);
}

/* Every address of dst and of src in a line, in every width, in another order of src's for each
 * case and width, so that each of dst's meets several: transposes of long and of short axes,
 * rows that join, channels; by the call, which plans for the address, and by a plan made
 * without one. */
static void every_offset(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[4];
        const char *dst, *src;
    } of[] = {{2, {67, 181}, "01", "10"},         {3, {21, 19, 33}, "012", "210"},
              {4, {5, 7, 9, 43}, "0123", "3210"}, {3, {12, 40, 50}, "012", "102"},
              {3, {29, 40, 3}, "012", "201"},     {3, {3, 40, 29}, "012", "120"},
              {3, {30, 16, 40}, "012", "021"},    {4, {2, 9, 70, 64}, "0123", "2103"},
              {2, {4, 4160}, "01", "10"},         {2, {32, 1024}, "01", "10"}};
    rng r = {8};
    for (size_t c = 0; c < sizeof of / sizeof *of; c++)
        for (int w = 0; w < WIDTHS; w++)
            for (int at = 0; at < 64; at += TEST_WATCHED ? 7 : 1) {
                tn_tensor d = layout_of(dtype_of_width[w], of[c].ndim, of[c].shape, of[c].dst);
                tn_tensor s = layout_of(dtype_of_width[w], of[c].ndim, of[c].shape, of[c].src);
                const int k = (int)c * WIDTHS + w, src_at = (at * (2 * k + 1) + 13 * k) % 64;
                ground src = ground_make(&r, &s, src_at), dst = ground_make(&r, &d, at);
                ground want = ground_twin(&dst), again = ground_twin(&dst);
                tn_plan *plan;
                copy_oracle(&want.t, &src.t);
                OK(tn_handle_use(handle_of[at % THREAD_COUNTS]));
                OK(tn_rearrange(&dst.t, &src.t));
                OK(tn_plan_rearrange(&plan, &d, &s));
                OK(tn_plan_run(plan, again.t.data, (const void *const[]){src.t.data}));
                tn_plan_free(plan);
                if (!same_ground(&dst, &want) || !same_ground(&again, &want))
                    fail_msg("case %d, %d bytes wide, dst at %d, src at %d", (int)c, 1 << w, at,
                             src_at);
                ground_free(&src);
                ground_free(&dst);
                ground_free(&want);
                ground_free(&again);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way_in_every_width),
        cmocka_unit_test(short_axes_are_indexed),
        cmocka_unit_test(shared_sets_are_whole_lines),
        cmocka_unit_test(shared_sets_are_packed),
        cmocka_unit_test(lines_are_whole),
        cmocka_unit_test(any_address_has_its_way),
        cmocka_unit_test(threads_share_out_the_outside),
        cmocka_unit_test(every_tail),
        cmocka_unit_test(every_offset),
        cmocka_unit_test(large),
    };
    printf("%s\n", tn_isa());
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
