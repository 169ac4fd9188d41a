/* test_nest.c - the normal form of a loop nest, and document 002's metadata made of it. */
#include "copy_oracle.h"
#include "plan/plan.h"

/* A nest in words: "n:dst:src" for each axis, outermost first, then "@dst,src" if it is
 * moved. */
static const char *words(const tni_nest *nest)
{
    static char text[2048];
    size_t used = 0;
    text[0] = 0;
    for (int i = 0; i < nest->ndim; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? " " : "",
                                 (long long)nest->axis[i].n);
        for (int k = 0; k < nest->nop; k++)
            used += (size_t)snprintf(text + used, sizeof text - used, ":%lld",
                                     (long long)nest->axis[i].step[k]);
    }
    if (nest->nop == 2 && (nest->shift[0] || nest->shift[1]))
        snprintf(text + used, sizeof text - used, " @%lld,%lld", (long long)nest->shift[0],
                 (long long)nest->shift[1]);
    return nest->empty ? "empty" : text;
}

/* clang-format off */
static const struct {
    const char *sentence;
    int ndim;
    int64_t shape[6], dst[6], src[6];
    const char *normal, *with_signs; /* NULL: the same */
} normal_forms[] = {
    {"no axes are one element", 0, {0}, {0}, {0}, "", NULL},
    {"a dense vector", 1, {7}, {4}, {4}, "7:4:4", NULL},
    {"a unit axis is dropped, whatever its strides are",
     3, {1, 7, 1}, {INT64_MIN, 4, 3}, {5, 4, INT64_MAX}, "7:4:4", NULL},
    {"only unit axes", 3, {1, 1, 1}, {9, 9, 9}, {8, 8, 8}, "", NULL},
    {"an extent of 0 is no work", 3, {5, 0, 3}, {12, 12, 4}, {12, 12, 4}, "empty", "empty"},
    {"dense matrices are one axis", 2, {5, 3}, {12, 4}, {12, 4}, "15:4:4", NULL},
    {"dense blocks of rank 4 are one axis",
     4, {2, 3, 4, 5}, {60, 20, 5, 1}, {60, 20, 5, 1}, "120:1:1", NULL},
    {"a gap in dst keeps rows apart", 2, {5, 3}, {16, 4}, {12, 4}, "5:16:12 3:4:4", NULL},
    {"a gap in src keeps rows apart", 2, {5, 3}, {12, 4}, {16, 4}, "5:12:16 3:4:4", NULL},
    {"the same gap in both, too", 2, {5, 3}, {16, 4}, {16, 4}, "5:16:16 3:4:4", NULL},
    {"a gap outside leaves the inner axes one",
     3, {4, 5, 3}, {100, 12, 4}, {60, 12, 4}, "4:100:60 15:4:4", NULL},
    {"a gap inside leaves the outer axes one",
     3, {4, 5, 3}, {80, 16, 4}, {60, 12, 4}, "20:16:12 3:4:4", NULL},
    {"axes fall by dst step", 2, {2, 3}, {4, 8}, {12, 4}, "3:8:4 2:4:12", NULL},
    {"rank 3 sorted, nothing merged",
     3, {2, 3, 4}, {4, 8, 24}, {48, 16, 4}, "4:24:4 3:8:16 2:4:48", NULL},
    {"neighbours after sorting are merged",
     3, {4, 2, 3}, {4, 48, 16}, {24, 12, 4}, "6:16:4 4:4:24", NULL},
    {"both reversed is forwards",
     2, {5, 3}, {-12, -4}, {-12, -4}, "15:4:4 @-56,-56", "15:-4:-4"},
    {"dst reversed reverses src instead", 1, {6}, {-4}, {4}, "6:4:-4 @-20,20", "6:-4:4"},
    {"src reversed stays", 1, {6}, {4}, {-4}, "6:4:-4", NULL},
    {"one axis of dst reversed",
     2, {5, 3}, {-12, 4}, {12, 4}, "5:12:-12 3:4:4 @-48,48", "5:-12:12 3:4:4"},
    {"order is by size of step, not by sign",
     2, {5, 3}, {4, -20}, {4, 20}, "3:20:-20 5:4:4 @-40,40", "3:-20:20 5:4:4"},
    {"a repeated source", 2, {5, 3}, {12, 4}, {0, 4}, "5:12:0 3:4:4", NULL},
    {"repeated along both axes is one axis", 2, {5, 3}, {12, 4}, {0, 0}, "15:4:0", NULL},
    {"equal dst steps go by src step", 2, {2, 2}, {4, 4}, {4, 8}, "2:4:8 2:4:4", NULL},
    {"flipped axes merge when both sides flip",
     3, {2, 3, 4}, {48, -16, 4}, {48, -16, 4}, "24:4:4 @-32,-32",
     "2:48:48 3:-16:-16 4:4:4"},
    {"a unit axis between two that merge",
     3, {5, 1, 3}, {12, 1000, 4}, {12, -1000, 4}, "15:4:4", NULL},
    {"steps whose product is beyond 64 bits keep axes apart",
     2, {2, 4}, {16, 4}, {4, INT64_C(1) << 62}, "2:16:4 4:4:4611686018427387904", NULL},
    {"steps of one byte", 2, {300, 200}, {1, 300}, {200, 1}, "200:300:1 300:1:200", NULL},
};
/* clang-format on */

static void the_normal_form(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof normal_forms / sizeof *normal_forms; c++) {
        tn_tensor d = {.dtype = TN_F32, .ndim = normal_forms[c].ndim}, s = d;
        memcpy(d.shape, normal_forms[c].shape, sizeof normal_forms[c].shape);
        memcpy(s.shape, normal_forms[c].shape, sizeof normal_forms[c].shape);
        memcpy(d.stride, normal_forms[c].dst, sizeof normal_forms[c].dst);
        memcpy(s.stride, normal_forms[c].src, sizeof normal_forms[c].src);
        tni_nest nest;
        tni_nest_normal(&nest, 2, (const tn_tensor *const[]){&d, &s});
        if (strcmp(words(&nest), normal_forms[c].normal))
            fail_msg("%s: \"%s\", not \"%s\"", normal_forms[c].sentence, words(&nest),
                     normal_forms[c].normal);
        const char *want = normal_forms[c].with_signs;
        tni_nest_build(&nest, 2, (const tn_tensor *const[]){&d, &s},
                       &(tni_nest_rules){.keep_signs = true});
        if (strcmp(words(&nest), want ? want : normal_forms[c].normal))
            fail_msg("%s, with signs: \"%s\"", normal_forms[c].sentence, words(&nest));
    }
}

static void nests_of_one_and_three(void **state)
{
    (void)state;
    tn_tensor d, a, b;
    tni_nest nest;
    const int64_t shape[] = {4, 5, 6};
    d = layout_of(TN_F32, 3, shape, "012");
    a = layout_of(TN_F32, 3, shape, "0*12");
    b = layout_of(TN_F32, 3, shape, "012");
    tni_nest_normal(&nest, 1, (const tn_tensor *const[]){&d});
    assert_string_equal(words(&nest), "120:4");
    tni_nest_normal(&nest, 3, (const tn_tensor *const[]){&d, &a, &b});
    assert_string_equal(words(&nest), "4:120:0:120 30:4:4:4");
    b = layout_of(TN_F32, 3, shape, "021");
    tni_nest_normal(&nest, 3, (const tn_tensor *const[]){&d, &a, &b});
    assert_string_equal(words(&nest), "4:120:0:120 5:24:24:4 6:4:4:20");
}

/* ---- other rules ---- */

/* Roles and windows: "f" after a FOLD axis, "[before+held]" after a PAD axis. */
static const char *role_words(const tni_nest *nest)
{
    static char text[2048];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", nest->empty ? "empty" : "");
    for (int i = 0; i < nest->ndim && !nest->empty; i++) {
        const tni_axis *a = &nest->axis[i];
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%lld:%lld:%lld", i ? " " : "",
                             (long long)a->n, (long long)a->step[0], (long long)a->step[1]);
        if (a->role == TNI_FOLD)
            used += (size_t)snprintf(text + used, sizeof text - used, "f");
        if (a->role == TNI_PAD)
            used += (size_t)snprintf(text + used, sizeof text - used, "[%lld+%lld]",
                                     (long long)a->before, (long long)a->held);
    }
    if (nest->shift[0] || nest->shift[1])
        used += (size_t)snprintf(text + used, sizeof text - used, " @%lld,%lld",
                                 (long long)nest->shift[0], (long long)nest->shift[1]);
    if (nest->no_fold)
        snprintf(text + used, sizeof text - used, " no_fold");
    return text;
}

/* clang-format off */
static const struct {
    const char *sentence;
    int ndim;
    int64_t dst_shape[4], src_shape[4], dst[4], src[4], before[4];
    tni_nest_rules rules;
    bool pads;
    const char *want;
} ruled[] = {
    {"folded axes follow the others, with dst's step 0",
     3, {1, 5, 6}, {4, 5, 6}, {99, 24, 4}, {120, 24, 4}, {0}, {.fold = 1}, false,
     "30:4:4 4:0:120f"},
    {"folded neighbours merge", 3, {5, 1, 1}, {5, 4, 6}, {4, 4, 4}, {96, 24, 4}, {0},
     {.fold = 6}, false, "5:4:96 24:0:4f"},
    {"a fold keeps the tensors' order", 2, {1, 1}, {4, 6}, {4, 4}, {4, 16}, {0},
     {.fold = 3}, false, "4:0:4f 6:0:16f"},
    {"and its signs", 2, {1, 6}, {4, 6}, {24, 4}, {-24, 4}, {0},
     {.fold = 1}, false, "6:4:4 4:0:-24f"},
    {"MAP and FOLD never merge", 2, {1, 6}, {4, 6}, {0, 0}, {24, 4}, {0},
     {.fold = 1}, false, "6:0:4 4:0:24f"},
    {"a unit fold has no loop", 2, {1, 6}, {1, 6}, {24, 4}, {24, 4}, {0},
     {.fold = 1}, false, "6:4:4"},
    {"a fold of nothing has a dst", 2, {1, 6}, {0, 6}, {24, 4}, {24, 4}, {0},
     {.fold = 1}, false, "6:4:4 no_fold"},
    {"no dst is empty", 2, {1, 0}, {3, 0}, {24, 4}, {24, 4}, {0}, {.fold = 1}, false, "empty"},
    {"a source leads", 2, {3, 5}, {3, 5}, {20, 4}, {-4, 12}, {0}, {.lead = 1}, false,
     "5:4:12 3:-20:4 @40,-8"},
    {"order kept", 2, {3, 5}, {3, 5}, {4, 12}, {4, 12}, {0}, {.keep_order = true}, false,
     "3:4:4 5:12:12"},
    {"order kept, neighbours merged", 3, {2, 3, 5}, {2, 3, 5}, {12, 4, 24}, {12, 4, 24}, {0},
     {.keep_order = true}, false, "6:4:4 5:24:24"},
    {"a padded axis keeps its window", 2, {7, 5}, {4, 5}, {20, 4}, {20, 4}, {1, 0},
     {0}, true, "7:20:20[1+4] 5:4:4"},
    {"a border of a value merges with what is inside", 2, {7, 5}, {4, 5}, {20, 4}, {20, 4},
     {1, 0}, {.value_border = true}, true, "35:4:4[5+20]"},
    {"not across a gap of dst", 2, {7, 5}, {4, 5}, {24, 4}, {20, 4},
     {1, 0}, {.value_border = true}, true, "7:24:20[1+4] 5:4:4"},
    {"nor across a gap of the source", 2, {7, 5}, {4, 5}, {20, 4}, {24, 4},
     {1, 0}, {.value_border = true}, true, "7:20:24[1+4] 5:4:4"},
    {"also where the source has one index", 2, {7, 5}, {1, 5}, {20, 4}, {99, 4}, {2, 0},
     {.value_border = true}, true, "35:4:4[10+5]"},
    {"a border inside keeps axes apart", 2, {7, 5}, {7, 3}, {20, 4}, {12, 4}, {0, 1},
     {.value_border = true}, true, "7:20:12 5:4:4[1+3]"},
    {"a reversed axis exchanges its borders", 1, {7}, {4}, {-4}, {4}, {1}, {0}, true,
     "7:4:-4[2+4] @-24,12"},
};
/* clang-format on */

static void by_rules(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof ruled / sizeof *ruled; c++) {
        tn_tensor d = {.dtype = TN_F32, .ndim = ruled[c].ndim}, s = d;
        memcpy(d.shape, ruled[c].dst_shape, sizeof ruled[c].dst_shape);
        memcpy(s.shape, ruled[c].src_shape, sizeof ruled[c].src_shape);
        memcpy(d.stride, ruled[c].dst, sizeof ruled[c].dst);
        memcpy(s.stride, ruled[c].src, sizeof ruled[c].src);
        tni_nest_rules rules = ruled[c].rules;
        rules.before = ruled[c].pads ? ruled[c].before : NULL;
        tni_nest nest;
        tni_nest_build(&nest, 2, (const tn_tensor *const[]){&d, &s}, &rules);
        if (strcmp(role_words(&nest), ruled[c].want))
            fail_msg("%s: \"%s\", not \"%s\"", ruled[c].sentence, role_words(&nest),
                     ruled[c].want);
    }
}

static void counted_by_role(void **state)
{
    (void)state;
    tn_tensor d = layout_of(TN_F32, 3, (int64_t[]){1, 5, 6}, "012");
    tn_tensor s = layout_of(TN_F32, 3, (int64_t[]){4, 5, 6}, "012");
    tni_nest nest;
    tni_nest_build(&nest, 2, (const tn_tensor *const[]){&d, &s}, &(tni_nest_rules){.fold = 1});
    assert_int_equal(tni_nest_count(&nest, TNI_MAP), 30);
    assert_int_equal(tni_nest_count(&nest, TNI_FOLD), 4);
    assert_int_equal(tni_nest_count(&nest, TNI_PAD), 1);
}

/* ---- any layout: the same pairs of addresses, and the invariants ---- */

typedef struct pair {
    int64_t d, s;
} pair;

static int by_place(const void *a, const void *b)
{
    const pair *x = a, *y = b;
    return x->d != y->d ? (x->d > y->d) - (x->d < y->d) : (x->s > y->s) - (x->s < y->s);
}

enum { PAIRS = 16384 };

static int pairs_of_tensors(pair *out, const tn_tensor *d, const tn_tensor *s)
{
    int64_t index[TN_MAX_NDIM] = {0};
    int n = 0;
    do {
        pair p = {0, 0};
        for (int i = 0; i < d->ndim; i++) {
            p.d += index[i] * (d->shape[i] > 1 ? d->stride[i] : 0);
            p.s += index[i] * (d->shape[i] > 1 ? s->stride[i] : 0);
        }
        out[n++] = p;
    } while (index_next(index, d->ndim, d->shape));
    qsort(out, (size_t)n, sizeof *out, by_place);
    return n;
}

static int pairs_of_nest(pair *out, const tni_nest *nest)
{
    int64_t index[TN_MAX_NDIM] = {0}, shape[TN_MAX_NDIM];
    int n = 0;
    for (int i = 0; i < nest->ndim; i++)
        shape[i] = nest->axis[i].n;
    do {
        pair p = {nest->shift[0], nest->shift[1]};
        for (int i = 0; i < nest->ndim; i++) {
            p.d += index[i] * nest->axis[i].step[0];
            p.s += index[i] * nest->axis[i].step[1];
        }
        out[n++] = p;
    } while (index_next(index, nest->ndim, shape));
    qsort(out, (size_t)n, sizeof *out, by_place);
    return n;
}

static void keeps_its_invariants(const tni_nest *nest)
{
    for (int i = 0; i < nest->ndim; i++) {
        const tni_axis *x = &nest->axis[i], *outer = x - 1;
        assert_true(x->n >= 2 && x->step[0] > 0);
        if (i == 0)
            continue;
        assert_true(outer->step[0] >= x->step[0]);
        assert_false(outer->step[0] == x->n * x->step[0] &&
                     outer->step[1] == x->n * x->step[1]);
    }
}

static void any_layout(void **state)
{
    (void)state;
    static pair got[PAIRS], want[PAIRS];
    rng r = {5};
    for (int round = 0; round < 20000; round++) {
        tn_tensor d = {.dtype = TN_F32, .ndim = (int)pick(&r, 0, 7)}, s;
        int64_t count = 1;
        for (int i = 0; i < d.ndim; i++) {
            d.shape[i] = pick(&r, 1, count > 100 ? 2 : 6);
            count *= d.shape[i];
            d.stride[i] = pick(&r, 1, 12) * (next(&r) % 2 ? 4 : -4);
        }
        s = d;
        for (int i = 0; i < d.ndim; i++)
            s.stride[i] = next(&r) % 3 ? d.stride[i] : pick(&r, -9, 9);
        tni_nest nest;
        tni_nest_normal(&nest, 2, (const tn_tensor *const[]){&d, &s});
        keeps_its_invariants(&nest);
        int n = pairs_of_tensors(want, &d, &s);
        assert_int_equal(pairs_of_nest(got, &nest), n);
        assert_memory_equal(got, want, (size_t)n * sizeof *got);
        tni_nest_build(&nest, 2, (const tn_tensor *const[]){&d, &s},
                       &(tni_nest_rules){.keep_signs = true});
        assert_int_equal(pairs_of_nest(got, &nest), n);
        assert_memory_equal(got, want, (size_t)n * sizeof *got);
    }
}

/* ---- document 002's metadata ---- */

static const char *meta_words(const tn_meta *m)
{
    static char text[2048];
    int used =
        snprintf(text, sizeof text, "%lld x %lld", (long long)m->count, (long long)m->unit);
    for (int i = 0; i < m->ndim; i++)
        used += snprintf(text + used, sizeof text - (size_t)used, " %lld:%lld:%lld",
                         (long long)m->idx[i], (long long)m->dst[i], (long long)m->src[i]);
    return text;
}

/* clang-format off */
static const struct {
    const char *sentence;
    int ndim;
    int64_t shape[4];
    const char *dst, *src;
    const char *want; /* "count x unit", then "idx:dst:src" for each axis */
} metas[] = {
    {"document 002's example: (2, 3) into its transpose",
     2, {2, 3}, "10", "01", "6 x 4 2:8:4 1:4:12"},
    {"the same layout is one memcpy", 4, {2, 3, 4, 5}, "0123", "0123", "1 x 480"},
    {"also when it is the same permuted one", 3, {2, 3, 4}, "201", "201", "1 x 96"},
    {"a dense tail is the unit", 3, {2, 3, 4}, "012", "102", "6 x 16 3:48:16 1:16:32"},
    {"two dense axes are the unit", 4, {2, 3, 4, 5}, "0123", "1023",
     "6 x 80 3:240:80 1:80:160"},
    {"heads before tokens", 4, {2, 5, 3, 8}, "0123", "0213",
     "30 x 32 15:480:480 3:96:32 1:32:160"},
    {"unit axes go", 4, {1, 2, 1, 3}, "3120", "0123", "6 x 4 2:8:4 1:4:12"},
    {"a scalar", 0, {0}, "", "", "1 x 4"},
    {"no elements", 2, {0, 3}, "01", "01", "0 x 12"},
    {"reversed on both sides keeps its signs", 1, {5}, "-0", "-0", "5 x 4 1:-4:-4"},
    {"reversed dst keeps its sign", 2, {2, 3}, "0-1", "01", "6 x 4 3:12:12 1:-4:4"},
    {"one value for a whole row", 2, {4, 3}, "01", "01*", "12 x 4 3:12:4 1:4:0"},
    {"neighbours of gapped rows", 3, {2, 3, 4}, "012+", "012+", "6 x 16 1:20:20"},
};
/* clang-format on */

static void metadata(void **state)
{
    (void)state;
    for (size_t c = 0; c < sizeof metas / sizeof *metas; c++) {
        tn_tensor d = layout_of(TN_F32, metas[c].ndim, metas[c].shape, metas[c].dst);
        tn_tensor s = layout_of(TN_F32, metas[c].ndim, metas[c].shape, metas[c].src);
        tn_meta m;
        OK(tn_rearrange_meta(&m, &d, &s));
        if (strcmp(meta_words(&m), metas[c].want))
            fail_msg("%s: \"%s\", not \"%s\"", metas[c].sentence, meta_words(&m),
                     metas[c].want);
    }
}

/* The loop of document 002: block i of count, its place by division. */
static void launch(const tn_meta *m, char *dst, const char *src)
{
    for (int64_t i = 0; i < m->count; i++) {
        int64_t rest = i, d = 0, s = 0;
        for (int j = 0; j < m->ndim; j++) {
            int64_t k = rest / m->idx[j];
            d += k * m->dst[j];
            s += k * m->src[j];
            rest %= m->idx[j];
        }
        memcpy(dst + d, src + s, (size_t)m->unit);
    }
}

static void metadata_copies(void **state)
{
    (void)state;
    rng r = {9};
    static const int64_t pieces[] = {32, 16, 8, 4, 2, 1};
    for (size_t c = 0; c < sizeof metas / sizeof *metas; c++)
        for (int w = 0; w < WIDTHS; w++) {
            tn_dtype dtype = dtype_of_width[w];
            tn_tensor d = layout_of(dtype, metas[c].ndim, metas[c].shape, metas[c].dst);
            tn_tensor s = layout_of(dtype, metas[c].ndim, metas[c].shape, metas[c].src);
            ground src = ground_make(&r, &s, 0), dst = ground_make(&r, &d, 0);
            ground want = ground_twin(&dst), split = ground_twin(&dst);
            tn_meta m, less;
            OK(tn_rearrange_meta(&m, &d, &s));
            OK(tn_meta_distribute(&less, &m, pieces, 6));
            copy_oracle(&want.t, &src.t);
            launch(&m, dst.t.data, src.t.data);
            launch(&less, split.t.data, src.t.data);
            if (!same_ground(&dst, &want) || !same_ground(&split, &want))
                fail_msg("%s", metas[c].sentence);
            assert_true(less.unit * less.count == m.unit * m.count && less.unit <= 32);
            ground_free(&src);
            ground_free(&dst);
            ground_free(&want);
            ground_free(&split);
        }
}

static void distributed_units(void **state)
{
    (void)state;
    static const struct {
        int64_t unit;
        int n;
        int64_t candidates[6];
        const char *want;
    } cases[] = {
        {96, 6, {32, 16, 8, 4, 2, 1}, "18 x 32 9:192:96 3:96:192 1:32:32"},
        {96, 6, {1, 2, 4, 8, 16, 32}, "18 x 32 9:192:96 3:96:192 1:32:32"},
        {96, 3, {64, 48, 7}, "12 x 48 6:192:96 2:96:192 1:48:48"},
        {96, 1, {96}, "6 x 96 3:192:96 1:96:192"},
        {96, 2, {1000, 1}, "576 x 1 288:192:96 96:96:192 1:1:1"},
        {7, 6, {32, 16, 8, 4, 2, 1}, "42 x 1 21:192:96 7:96:192 1:1:1"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        tn_meta in = {.ndim = 2,
                      .unit = cases[c].unit,
                      .count = 6,
                      .idx = {3, 1},
                      .dst = {192, 96},
                      .src = {96, 192}};
        tn_meta out;
        OK(tn_meta_distribute(&out, &in, cases[c].candidates, cases[c].n));
        assert_string_equal(meta_words(&out), cases[c].want);
        OK(tn_meta_distribute(&in, &in, cases[c].candidates, cases[c].n)); /* out may be in */
        assert_string_equal(meta_words(&in), cases[c].want);
    }
}

static void bad_metadata(void **state)
{
    (void)state;
    tn_meta in = {.ndim = 1, .unit = 12, .count = 3, .idx = {1}, .dst = {12}, .src = {12}};
    tn_meta out = {.ndim = 77};
    const int64_t five[] = {5}, none[] = {0, -1}, one[] = {1};
    assert_int_equal(tn_meta_distribute(NULL, &in, five, 1), TN_ENULL);
    assert_int_equal(tn_meta_distribute(&out, NULL, five, 1), TN_ENULL);
    assert_int_equal(tn_meta_distribute(&out, &in, NULL, 1), TN_ENULL);
    assert_int_equal(tn_meta_distribute(&out, &in, five, 1), TN_EARG);
    assert_string_equal(tn_error(),
                        "meta_distribute: none of 1 candidates divides the unit 12");
    assert_int_equal(tn_meta_distribute(&out, &in, none, 2), TN_EARG);
    assert_int_equal(tn_meta_distribute(&out, &in, NULL, 0), TN_EARG);
    in.count = INT64_MAX / 2;
    assert_int_equal(tn_meta_distribute(&out, &in, one, 1), TN_EOVERFLOW);
    in.count = 3;
    in.idx[0] = INT64_MAX / 2;
    assert_int_equal(tn_meta_distribute(&out, &in, one, 1), TN_EOVERFLOW);
    in.ndim = 64;
    assert_int_equal(tn_meta_distribute(&out, &in, one, 1), TN_EARG);
    in.ndim = 65;
    assert_int_equal(tn_meta_distribute(&out, &in, one, 1), TN_EARG);
    assert_int_equal(out.ndim, 77);

    tn_tensor a = layout_of(TN_F32, 2, (int64_t[]){2, 3}, "01"), b = a;
    assert_int_equal(tn_rearrange_meta(NULL, &a, &b), TN_ENULL);
    b.shape[1] = 4;
    assert_int_equal(tn_rearrange_meta(&out, &a, &b), TN_ESHAPE);
    assert_string_equal(tn_error(), "rearrange_meta: dst: axis 1: got extent 3, expected 4");
    a.stride[1] = 0;
    assert_int_equal(tn_rearrange_meta(&out, &a, &a), TN_ESTRIDE);
    assert_int_equal(out.ndim, 77);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_normal_form), cmocka_unit_test(nests_of_one_and_three),
        cmocka_unit_test(by_rules),        cmocka_unit_test(counted_by_role),
        cmocka_unit_test(any_layout),      cmocka_unit_test(metadata),
        cmocka_unit_test(metadata_copies), cmocka_unit_test(distributed_units),
        cmocka_unit_test(bad_metadata),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
