/* test_contract_errors.c - what contractions refuse: status, order of the rules, column. */
#include <math.h>

#include "layout.h"

static float space[64];

static tn_tensor dense(tn_dtype t, int ndim, const int64_t *shape)
{
    tn_tensor x;
    OK(tn_init(&x, space, t, ndim, shape));
    return x;
}

#define T(...)  dense(TN_F32, sizeof((int64_t[]){__VA_ARGS__}) / 8, (int64_t[]){__VA_ARGS__})
#define AT(...) dense(__VA_ARGS__)

/* ---- the text ---- */

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int n, column; /* 0: it is right */
    } cases[] = {
        {"ij,jk->ik", 2, 0},
        {" i j , j k -> i k ", 2, 0},
        {"ij,jk", 2, 0},
        {"row mid, mid col -> row col", 2, 0},
        {"...ij,...jk->...ik", 2, 0},
        {"", 1, 3 + 1000}, /* a 0-d term: the shapes are wrong, the text is not */
        {"ij,jk->ik", 1, 3},
        {"ij,jk,->ik", 2, 6},
        {"ij->i", 2, 3},
        {"ij", 2, 3},
        {"ij,jk->iz", 2, 9},
        {"ij,jk->ii", 2, 9},
        {"ij,jk->ik->i", 2, 10},
        {"ij,jk-ik", 2, 6},
        {"ij,jk>ik", 2, 6},
        {"i1,jk->ik", 2, 2},
        {"ij,j(k)->ik", 2, 5},
        {"ij,jk->i,k", 2, 9},
        {"..ij,jk->ik", 2, 1},
        {"...i...,jk->ik", 2, 5},
        {"i...,jk->ik", 2, 2},
        {"ij,jk->...ik", 2, 8},
        {"row mid, mid col", 2, 17},
        {"row mid, mid 3 -> row", 2, 14},
        {"row mid, mid col -> row x", 2, 25},
        {"i\xc3\xa9,jk->ik", 2, 2},
    };
    const tn_tensor a = T(2, 2), d = T(2, 2);
    tn_tensor out = d;
    float result[4];
    out.data = result;
    const tn_tensor *const srcs[] = {&a, &a};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const tn_status status = tn_einsum(&out, cases[i].text, cases[i].n, srcs);
        if (cases[i].column >= 1000) {
            assert_int_equal(status, TN_ESHAPE);
            assert_int_equal(tn_error_column(), 0);
        } else if (cases[i].column == 0 && strncmp(cases[i].text, "...", 3)) {
            if (status != TN_OK)
                fail_msg("\"%s\": %s", cases[i].text, tn_error());
        } else if (cases[i].column) {
            if (status != TN_EFORMAT || tn_error_column() != cases[i].column)
                fail_msg("\"%s\": %s at %d, expected %d: %s", cases[i].text,
                         tn_status_name(status), tn_error_column(), cases[i].column,
                         tn_error());
        }
    }
}

/* 4096 bytes are a text, one more is too many. */
static void long_texts(void **state)
{
    (void)state;
    enum { MOST = 4096 };
    char text[MOST + 2];
    float result[4];
    const tn_tensor a = T(2, 2);
    tn_tensor d = T(2, 2);
    d.data = result;
    memset(text, ' ', sizeof text);
    text[MOST + 1] = 0;
    memcpy(text + 1, "ij,jk->ik", 9);
    const tn_tensor *const srcs[] = {&a, &a};
    OK(tn_einsum(&d, text + 1, 2, srcs));
    assert_int_equal(tn_einsum(&d, text, 2, srcs), TN_EFORMAT);
    assert_int_equal(tn_error_column(), MOST + 1);
}

/* ---- the first rule that is broken is reported ---- */

static void einsum_rules(void **state)
{
    (void)state;
    const tn_tensor a = T(2, 3), b = T(3, 4);
    float result[16];
    tn_tensor d = T(2, 4);
    d.data = result;
    const tn_tensor *const srcs[] = {&a, &b}, *const holes[] = {&a, NULL};
    OK(tn_einsum(&d, "ij,jk->ik", 2, srcs));
    assert_int_equal(tn_einsum(NULL, "?", 2, srcs), TN_ENULL);
    assert_int_equal(tn_einsum(&d, NULL, 2, srcs), TN_ENULL);
    assert_int_equal(tn_einsum(&d, "?", 2, NULL), TN_ENULL);
    assert_int_equal(tn_einsum(&d, "?", 2, holes), TN_ENULL);
    assert_int_equal(tn_einsum(&d, "?", 0, srcs), TN_EARG);
    assert_int_equal(tn_einsum(&d, "?", 9, srcs), TN_EARG);
    tn_tensor bad = d;
    bad.flags |= TN_READONLY;
    assert_int_equal(tn_einsum(&bad, "?", 2, srcs), TN_EARG);
    bad = d;
    bad.device = (tn_device)77;
    assert_int_equal(tn_einsum(&bad, "ij,jk->iz", 2, srcs), TN_EFORMAT);
    bad.dtype = (tn_dtype)99;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_EDEVICE);
    bad = d;
    bad.dtype = TN_F64;
    bad.shape[0] = 7;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_EDTYPE);
    bad.dtype = TN_F32;
    bad.stride[0] = 0;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_ESHAPE);
    assert_int_equal(tn_einsum(&d, "ij,kj->ik", 2, srcs), TN_ESHAPE);
    assert_int_equal(tn_einsum(&d, "ijl,jk->ik", 2, srcs), TN_ESHAPE);
    assert_int_equal(tn_einsum(&d, "ij,jk->i", 2, srcs), TN_ESHAPE);
    bad.shape[0] = 2;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_ESTRIDE);
    bad = d;
    bad.data = NULL;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_ENULL);
    bad = d;
    bad.data = space;
    assert_int_equal(tn_einsum(&bad, "ij,jk->ik", 2, srcs), TN_EOVERLAP);
    assert_int_equal(tn_plan_einsum(NULL, &d, "ij,jk->ik", 2, srcs), TN_ENULL);
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    assert_int_equal(tn_einsum_shape("ij,jk->ik", 2, srcs, NULL, shape), TN_ENULL);
    OK(tn_einsum_shape("ij,jk->ki", 2, srcs, &ndim, shape));
    assert_int_equal(ndim, 2);
    assert_int_equal(shape[0], 4);
    assert_int_equal(shape[1], 2);
}

static void dtypes(void **state)
{
    (void)state;
    static const struct {
        tn_dtype a, b, dst;
        bool fine;
    } cases[] = {
        {TN_F32, TN_F32, TN_F32, true},    {TN_F32, TN_F32, TN_F64, false},
        {TN_F16, TN_F16, TN_F16, true},    {TN_F16, TN_F16, TN_F32, true},
        {TN_F16, TN_BF16, TN_F32, true},   {TN_F16, TN_BF16, TN_F16, false},
        {TN_BF16, TN_BF16, TN_F64, false}, {TN_F8E4M3, TN_F8E4M3, TN_F32, true},
        {TN_I8, TN_I8, TN_I32, true},      {TN_I8, TN_U8, TN_I16, true},
        {TN_I8, TN_U8, TN_I8, false},      {TN_I32, TN_I32, TN_I8, false},
        {TN_I8, TN_I8, TN_U8, false},      {TN_U8, TN_U8, TN_I16, true},
        {TN_BOOL, TN_BOOL, TN_BOOL, true}, {TN_BOOL, TN_BOOL, TN_I64, true},
        {TN_BOOL, TN_BOOL, TN_F32, false}, {TN_U64, TN_I8, TN_I64, false},
        {TN_F64, TN_C64, TN_C128, true},   {TN_F32, TN_C64, TN_C64, true},
        {TN_I32, TN_F32, TN_F32, true},    {TN_I32, TN_I32, TN_F32, false},
    };
    char result[64];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int64_t shape[] = {2, 2};
        const tn_tensor a = AT(cases[i].a, 2, shape), b = AT(cases[i].b, 2, shape);
        tn_tensor d = AT(cases[i].dst, 2, shape);
        d.data = result;
        const tn_status status = tn_matmul(&d, &a, &b);
        if (status != (cases[i].fine ? TN_OK : TN_EDTYPE))
            fail_msg("%s @ %s into %s: %s", tn_dtype_name(cases[i].a),
                     tn_dtype_name(cases[i].b), tn_dtype_name(cases[i].dst),
                     tn_status_name(status));
    }
}

static void matmul_rules(void **state)
{
    (void)state;
    float result[64];
    const tn_tensor a = T(2, 3), b = T(3, 4), row = T(3), none = dense(TN_F32, 0, NULL);
    tn_tensor d = T(2, 4), c = T(4), wide = T(5, 2, 4);
    d.data = result;
    wide.data = result;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    OK(tn_matmul(&d, &a, &b));
    assert_int_equal(tn_matmul(NULL, &a, &b), TN_ENULL);
    assert_int_equal(tn_matmul(&d, &a, &none), TN_ESHAPE);
    assert_int_equal(tn_matmul(&d, &none, &b), TN_ESHAPE);
    assert_int_equal(tn_matmul(&d, &b, &a), TN_ESHAPE);
    assert_int_equal(tn_matmul(&d, &a, &row), TN_ESHAPE);
    assert_int_equal(tn_matmul(&wide, &a, &b), TN_ESHAPE);
    assert_int_equal(tn_gemm(&d, 1, &row, &b, 0, NULL), TN_ESHAPE);
    const tn_tensor three = T(2, 2, 3), four = T(5, 3, 4);
    assert_int_equal(tn_matmul_shape(&three, &four, &ndim, shape), TN_ESHAPE);
    assert_int_equal(tn_matmul_shape(&three, &b, NULL, shape), TN_ENULL);
    OK(tn_matmul_shape(&a, &row, &ndim, shape));
    assert_int_equal(ndim, 1);
    assert_int_equal(shape[0], 2);
    OK(tn_matmul_shape(&row, &four, &ndim, shape));
    assert_int_equal(ndim, 2);
    assert_int_equal(shape[0], 5);
    assert_int_equal(shape[1], 4);
    OK(tn_gemm(&d, 1, &a, &b, 1, &c));
    c = T(5);
    assert_int_equal(tn_gemm(&d, 1, &a, &b, 1, &c), TN_ESHAPE);
    c = dense(TN_F64, 1, (int64_t[]){4});
    assert_int_equal(tn_gemm(&d, 1, &a, &b, 1, &c), TN_EDTYPE);
    c = T(1, 2, 4);
    assert_int_equal(tn_gemm(&d, 1, &a, &b, 1, &c), TN_ESHAPE);
    c = d; /* dst itself, and then a neighbour of it */
    OK(tn_gemm(&d, 1, &a, &b, 1, &c));
    c.data = result + 1;
    assert_int_equal(tn_gemm(&d, 1, &a, &b, 1, &c), TN_EOVERLAP);
    OK(tn_gemm(&d, 1, &a, &b, 0, &c));
    c.data = NULL;
    assert_int_equal(tn_gemm(&d, 1, &a, &b, 1, &c), TN_ENULL);
    OK(tn_gemm(&d, 1, &a, &b, 0, &c));
    const int64_t two[] = {2, 2};
    const tn_tensor ints = AT(TN_I32, 2, two), bools = AT(TN_BOOL, 2, two);
    tn_tensor into = AT(TN_I32, 2, two);
    into.data = result;
    OK(tn_gemm(&into, -3, &ints, &ints, 2, NULL));
    assert_int_equal(tn_gemm(&into, 0.5, &ints, &ints, 2, NULL), TN_EARG);
    assert_int_equal(tn_gemm(&into, 1, &ints, &ints, 1.0 / 0.0, NULL), TN_EARG);
    into = AT(TN_BOOL, 2, two);
    into.data = result;
    assert_int_equal(tn_gemm(&into, 1, &bools, &bools, 0, NULL), TN_EDTYPE);
}

/* ---- every fault and every pair of them, by every call ---- */

typedef struct faulty {
    tn_tensor d, a, b;
    const tn_tensor *left; /* &a or NULL */
    const char *text;
} faulty;

static void fault_pointer(faulty *f)
{
    f->left = NULL;
}

static void fault_readonly(faulty *f)
{
    f->d.flags |= TN_READONLY;
}

static void fault_text(faulty *f)
{
    f->text = "ij,jk->iz";
}

static void fault_device(faulty *f)
{
    f->b.device = (tn_device)77;
}

static void fault_dtype(faulty *f)
{
    f->a.dtype = TN_U64; /* which meets no i32 */
    f->b.dtype = TN_I32;
}

static void fault_shape(faulty *f)
{
    f->a.shape[1] = 7;
}

static void fault_size(faulty *f)
{
    f->b.shape[1] = f->d.shape[1] = INT64_MAX / 2;
}

static void fault_stride(faulty *f)
{
    f->d.stride[0] = 0;
}

static void fault_data(faulty *f)
{
    f->a.data = NULL;
}

static void fault_overlap(faulty *f)
{
    f->d.data = space + 5;
}

enum { SEES_DST = 1, SEES_TEXT = 2, SEES_DATA = 4 };

/* In the order in which they are reported. */
static const struct {
    void (*make)(faulty *f);
    tn_status status;
    int needs; /* what a call must see */
} faults[] = {
    {fault_pointer, TN_ENULL, 0},        {fault_readonly, TN_EARG, SEES_DST},
    {fault_text, TN_EFORMAT, SEES_TEXT}, {fault_device, TN_EDEVICE, 0},
    {fault_dtype, TN_EDTYPE, SEES_DST},  {fault_shape, TN_ESHAPE, 0},
    {fault_size, TN_EOVERFLOW, 0},       {fault_stride, TN_ESTRIDE, SEES_DST},
    {fault_data, TN_ENULL, SEES_DATA},   {fault_overlap, TN_EOVERLAP, SEES_DATA},
};

static tn_plan *fault_plan;
static int fault_ndim;
static int64_t fault_extents[TN_MAX_NDIM];

static tn_status by_matmul(const faulty *f)
{
    return tn_matmul(&f->d, f->left, &f->b);
}

static tn_status by_gemm(const faulty *f)
{
    return tn_gemm(&f->d, 1, f->left, &f->b, 1, NULL);
}

static tn_status by_einsum(const faulty *f)
{
    return tn_einsum(&f->d, f->text, 2, (const tn_tensor *const[]){f->left, &f->b});
}

static tn_status by_matmul_shape(const faulty *f)
{
    return tn_matmul_shape(f->left, &f->b, &fault_ndim, fault_extents);
}

static tn_status by_einsum_shape(const faulty *f)
{
    return tn_einsum_shape(f->text, 2, (const tn_tensor *const[]){f->left, &f->b}, &fault_ndim,
                           fault_extents);
}

static tn_status by_plan_matmul(const faulty *f)
{
    return tn_plan_matmul(&fault_plan, &f->d, f->left, &f->b);
}

static tn_status by_plan_gemm(const faulty *f)
{
    return tn_plan_gemm(&fault_plan, &f->d, 1, f->left, &f->b, 1, NULL);
}

static tn_status by_plan_einsum(const faulty *f)
{
    return tn_plan_einsum(&fault_plan, &f->d, f->text, 2,
                          (const tn_tensor *const[]){f->left, &f->b});
}

static const struct {
    const char *name;
    tn_status (*call)(const faulty *f);
    int sees;
} by[] = {
    {"matmul", by_matmul, SEES_DST | SEES_DATA},
    {"gemm", by_gemm, SEES_DST | SEES_DATA},
    {"einsum", by_einsum, SEES_DST | SEES_TEXT | SEES_DATA},
    {"matmul_shape", by_matmul_shape, 0},
    {"einsum_shape", by_einsum_shape, SEES_TEXT},
    {"plan_matmul", by_plan_matmul, SEES_DST},
    {"plan_gemm", by_plan_gemm, SEES_DST},
    {"plan_einsum", by_plan_einsum, SEES_DST | SEES_TEXT},
};

/* Faults i and j: the first that the call sees is reported, and nothing is changed. */
static void fault_case(size_t call, size_t i, size_t j)
{
    static float result[8], was[8];
    float left[6] = {1};
    faulty f = {.d = T(2, 4), .a = T(2, 3), .b = T(3, 4), .text = "ij,jk->ik"};
    const bool sees_i = !(faults[i].needs & ~by[call].sees),
               sees_j = !(faults[j].needs & ~by[call].sees);
    const tn_status want = sees_i ? faults[i].status : sees_j ? faults[j].status : TN_OK;
    memset(was, 0x5a, sizeof was);
    memset(result, 0x5a, sizeof result);
    f.left = &f.a;
    f.d.data = result;
    f.a.data = left;
    faults[i].make(&f);
    faults[j].make(&f);
    fault_plan = NULL;
    fault_ndim = -1;
    const tn_status got = by[call].call(&f);
    if (got != want)
        fail_msg("%s with faults %zu and %zu: %s, expected %s: %s", by[call].name, i, j,
                 tn_status_name(got), tn_status_name(want), tn_error());
    assert_true(tn_error_column() == 0 || got == TN_EFORMAT);
    if (got != TN_OK) {
        assert_null(fault_plan);
        assert_int_equal(fault_ndim, -1);
        assert_memory_equal(result, was, sizeof was);
    }
    tn_plan_free(fault_plan);
}

static void every_pair_of_faults(void **state)
{
    (void)state;
    for (size_t call = 0; call < sizeof by / sizeof *by; call++)
        for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
            for (size_t j = i; j < sizeof faults / sizeof *faults; j++)
                fault_case(call, i, j);
}

/* ---- plans ---- */

/* A run of a gemm's plan with other numbers: the first fault is reported, dst is as it was. */
static void gemm_run_rules(void **state)
{
    (void)state;
    float d[8], was[8], a[6] = {1}, b[12] = {1}, c[12] = {1};
    tn_tensor td = T(2, 4), ta = T(2, 3), tb = T(3, 4), bias = T(4);
    tn_plan *own, *whole;
    int32_t whole_d[8], whole_s[12] = {0};
    td.data = d;
    memset(d, 0x5a, sizeof d);
    memcpy(was, d, sizeof d);
    OK(tn_plan_gemm(&own, &td, 1, &ta, &tb, 1, &bias));
    assert_int_equal(tn_plan_gemm_run(own, NULL, 1, a, b, 0, NULL, NULL, 0), TN_ENULL);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, NULL, b, 0, NULL, NULL, 0), TN_ENULL);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, a, NULL, 0, NULL, NULL, 0), TN_ENULL);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, d + 1, b, 0, NULL, NULL, 0), TN_EOVERLAP);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, a, d + 7, 0, NULL, NULL, 0), TN_EOVERLAP);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, a, b, 1, d + 5, NULL, 0), TN_EOVERLAP);
    assert_int_equal(tn_plan_gemm_run(own, d, 1, a, b, 1, NULL, NULL, 0), TN_EOVERLAP);
    assert_memory_equal(d, was, sizeof d);
    OK(tn_plan_gemm_run(own, d, 1, a, b, 0, d + 5, NULL, 0)); /* not read */
    OK(tn_plan_gemm_run(own, d, 1, a, b, 1, c, NULL, 0));
    tn_plan_free(own);

    OK(tn_plan_gemm(&own, &td, 1, &ta, &tb, 0, NULL)); /* c is laid out as dst */
    assert_int_equal(tn_plan_gemm_run(own, d, 1, a, b, 1, d + 5, NULL, 0), TN_EOVERLAP);
    OK(tn_plan_gemm_run(own, d, 1, a, b, 1, d, NULL, 0));
    OK(tn_plan_gemm_run(own, d, 1, a, b, 1, c, NULL, 0));
    tn_plan_free(own);

    td.dtype = ta.dtype = tb.dtype = TN_I32;
    OK(tn_plan_gemm(&whole, &td, 1, &ta, &tb, 0, NULL));
    assert_int_equal(tn_plan_gemm_run(whole, NULL, 0.5, NULL, NULL, 0, NULL, NULL, 0), TN_EARG);
    assert_int_equal(tn_plan_gemm_run(whole, whole_d, 1, whole_s, whole_s, NAN, NULL, NULL, 0),
                     TN_EARG);
    OK(tn_plan_gemm_run(whole, whole_d, -7, whole_s, whole_s, 0, NULL, NULL, 0));
    tn_plan_free(whole);
}

static void workspaces(void **state)
{
    (void)state;
    const int64_t shape[] = {96, 96};
    tn_tensor a, b, d;
    tn_plan *plan;
    OK(tn_alloc(&a, TN_BF16, 2, shape));
    OK(tn_alloc(&b, TN_BF16, 2, shape));
    OK(tn_alloc(&d, TN_BF16, 2, shape));
    OK(tn_fill(&a, NULL));
    OK(tn_fill(&b, NULL));
    const void *const srcs[] = {a.data, b.data};
    OK(tn_plan_matmul(&plan, &d, &a, &b));
    const size_t size = tn_plan_workspace(plan);
    assert_true(size > 0);
    assert_int_equal(tn_plan_workspace(NULL), 0);
    char *space_of = aligned_alloc(64, size + 64);
    assert_non_null(space_of);
    OK(tn_plan_run_in(plan, d.data, srcs, space_of, size));
    OK(tn_plan_run_in(plan, d.data, srcs, space_of, size + 1));
    assert_int_equal(tn_plan_run_in(plan, d.data, srcs, space_of, size - 1), TN_EARG);
    assert_int_equal(tn_plan_run_in(plan, d.data, srcs, space_of + 1, size), TN_EARG);
    assert_int_equal(tn_plan_run_in(plan, d.data, srcs, NULL, size), TN_ENULL);
    assert_int_equal(tn_plan_run_in(NULL, d.data, srcs, space_of, size), TN_ENULL);
    assert_int_equal(tn_plan_run_in(plan, a.data, srcs, space_of, size), TN_EOVERLAP);
    assert_int_equal(tn_plan_gemm_run(plan, d.data, 1, a.data, b.data, 0, NULL, NULL, 0),
                     TN_EARG);
    tn_plan_free(plan);
    OK(tn_plan_gemm(&plan, &d, 1, &a, &b, 1, NULL));
    OK(tn_plan_gemm_run(plan, d.data, 2, a.data, b.data, 0, NULL, space_of,
                        tn_plan_workspace(plan)));
    OK(tn_plan_gemm_run(plan, d.data, 0, a.data, b.data, 0, NULL, NULL, 0));
    assert_int_equal(tn_plan_gemm_run(plan, d.data, 1, NULL, b.data, 0, NULL, NULL, 0),
                     TN_ENULL);
    assert_int_equal(
        tn_plan_gemm_run(plan, d.data, 1, a.data, b.data, 0, NULL, space_of, size - 1),
        TN_EARG);
    assert_int_equal(tn_plan_gemm_run(NULL, d.data, 1, a.data, b.data, 0, NULL, NULL, 0),
                     TN_ENULL);
    tn_plan_free(plan);

    OK(tn_plan_rearrange(&plan, &d, &a)); /* any plan runs in a workspace; most need none */
    assert_int_equal(tn_plan_workspace(plan), 0);
    OK(tn_plan_run_in(plan, d.data, srcs, NULL, 0));
    tn_plan_free(plan);
    free(space_of);
    tn_free(&a);
    tn_free(&b);
    tn_free(&d);
}

/* Each result between products has 2^62 bytes, all of them together more than can be
 * counted. */
static void too_large(void **state)
{
    (void)state;
    float one;
    tn_tensor x, dst;
    tn_plan *plan = NULL;
    const tn_tensor *srcs[] = {&x, &x, &x, &x, &x, &x};
    OK(tn_init_strided(&x, space, TN_F32, 2, (int64_t[]){1 << 30, 1 << 30}, (int64_t[]){0, 0}));
    OK(tn_init(&dst, &one, TN_F32, 0, NULL));
    assert_int_equal(tn_plan_einsum(&plan, &dst, "ab,bc,cd,de,ef,fa->", 6, srcs), TN_EOVERFLOW);
    assert_null(plan);
    assert_int_equal(tn_einsum(&dst, "ab,bc,cd,de,ef,fa->", 6, srcs), TN_EOVERFLOW);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(too_large),      cmocka_unit_test(long_texts),
        cmocka_unit_test(texts),          cmocka_unit_test(einsum_rules),
        cmocka_unit_test(dtypes),         cmocka_unit_test(matmul_rules),
        cmocka_unit_test(workspaces),     cmocka_unit_test(every_pair_of_faults),
        cmocka_unit_test(gemm_run_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
