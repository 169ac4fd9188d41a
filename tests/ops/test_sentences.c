/* test_sentences.c - a sentence names the call that failed and the parameter that is wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#define OK(call) assert_int_equal((call), TN_OK)
#define FAILS(call, status, sentence)                                                          \
    do {                                                                                       \
        assert_int_equal((call), status);                                                      \
        assert_string_equal(tn_error(), sentence);                                             \
    } while (0)

static float x[16], y[16], z[16];
static int64_t at[16];
static int axis;

static tn_tensor make(void *data, tn_dtype dtype, int ndim, int64_t rows, int64_t cols)
{
    tn_tensor t;
    OK(tn_init(&t, data, dtype, ndim, (const int64_t[]){rows, cols}));
    return t;
}

static void no_data(void **state)
{
    (void)state;
    const tn_tensor a = make(x, TN_F32, 2, 2, 3), none = make(NULL, TN_F32, 2, 2, 3);
    const tn_tensor line = make(y, TN_F32, 1, 3, 0), bare = make(NULL, TN_F32, 1, 3, 0);
    const tn_tensor one = make(z, TN_F32, 0, 0, 0), d = make(y, TN_F32, 2, 2, 3);
    tn_tensor out;
    FAILS(tn_reduce(TN_REDUCE_SUM, NULL, &bare, &a, 1, &axis), TN_ENULL,
          "reduce: dst has 3 elements but data is NULL");
    FAILS(tn_reduce(TN_REDUCE_SUM, NULL, &line, &none, 1, &axis), TN_ENULL,
          "reduce: src has 6 elements but data is NULL");
    FAILS(tn_reduce_copy(&out, TN_REDUCE_SUM, NULL, &none, 1, &axis, false), TN_ENULL,
          "reduce_copy: src has 6 elements but data is NULL");
    FAILS(tn_minmax(NULL, &bare, &a, 1, &axis), TN_ENULL,
          "minmax: high has 3 elements but data is NULL");
    FAILS(tn_dot(&one, &a, &none, TN_ALL_AXES, NULL), TN_ENULL,
          "dot: b has 6 elements but data is NULL");
    FAILS(tn_masked_select_copy(&out, &a, &none), TN_ENULL,
          "masked_select_copy: mask has 6 elements but data is NULL");
    FAILS(tn_rms_norm(&d, &a, &bare, 0), TN_ENULL,
          "rms_norm: weight has 3 elements but data is NULL");
    FAILS(tn_pattern_reduce(TN_REDUCE_SUM, NULL, &line, &none, "a b -> b", NULL), TN_ENULL,
          "pattern_reduce: src has 6 elements but data is NULL");
    FAILS(tn_matmul(&one, &line, &bare), TN_ENULL, "matmul: b has 3 elements but data is NULL");
}

static void shapes(void **state)
{
    (void)state;
    const tn_tensor a = make(x, TN_F32, 2, 2, 3), d = make(y, TN_F32, 2, 2, 3);
    const tn_tensor wrong = make(y, TN_F32, 2, 3, 3), other = make(z, TN_F32, 2, 2, 5);
    const tn_tensor index = make(at, TN_I64, 2, 3, 3), flat = make(at, TN_I64, 1, 2, 0);
    const tn_tensor line = make(y, TN_F32, 1, 3, 0), short_mask = make(z, TN_F32, 1, 2, 0);
    static _Alignas(64) char room[4096];
    tn_tensor out;
    FAILS(tn_sort(&wrong, NULL, &a, 1, 0), TN_ESHAPE,
          "sort: values: axis 0: got extent 3, expected 2");
    FAILS(tn_sort(&d, &index, &a, 1, 0), TN_ESHAPE,
          "sort: indices: axis 0: got extent 3, expected 2");
    FAILS(tn_sort(&other, NULL, &a, 1, 0), TN_ESHAPE,
          "sort: values: axis 1: got extent 5, expected at most 3");
    FAILS(tn_kth(&line, NULL, &a, 1, 0, 0), TN_ESHAPE,
          "kth: value: axis 0: got extent 3, expected 2");
    FAILS(tn_kth(NULL, &index, &a, 1, 0, 0), TN_ESHAPE,
          "kth: index: axis 0: got extent 3, expected 2");
    FAILS(tn_kth(NULL, NULL, &a, 1, 0, 0), TN_ENULL, "kth: value and index are NULL");
    FAILS(tn_kth(&d, &flat, &a, 1, 3, 0), TN_EARG, "kth: k is 3, expected [0, 3)");
    const tn_tensor weight = make(y, TN_F64, 1, 3, 0);
    FAILS(tn_rms_norm(&d, &a, &weight, 0), TN_EDTYPE,
          "rms_norm: weight: got f64, expected f32");
    FAILS(
        tn_sort_in(&d, NULL, &a, 1, 0, room + 1, sizeof room - 1), TN_EARG,
        "sort_in: workspace: got an address 1 past a multiple of 64, expected such a multiple");
    FAILS(tn_add_rms_norm(&d, &wrong, &a, &a, NULL, 0), TN_ESHAPE,
          "add_rms_norm: sum: axis 0: got extent 3, expected 2");
    FAILS(tn_masked_select_copy(&out, &a, &short_mask), TN_ESHAPE,
          "masked_select_copy: mask does not broadcast to the shape of src");
    FAILS(tn_masked_put(&a, &short_mask, &line), TN_ESHAPE,
          "masked_put: mask does not broadcast to the shape of dst");
    FAILS(tn_compare(&a, &wrong, 0, 0, &(tn_difference){0}), TN_ESHAPE,
          "compare: b: axis 0: got extent 3, expected 2");
    FAILS(tn_rearrange(&a, &wrong), TN_ESHAPE,
          "rearrange: dst: axis 0: got extent 2, expected 3");
    FAILS(tn_searchsorted(&flat, &line, &line, false), TN_ESHAPE,
          "searchsorted: dst: axis 0: got extent 2, expected 3");
    FAILS(tn_dot(&line, &a, &wrong, TN_ALL_AXES, NULL), TN_ESHAPE,
          "dot: axis 0: extents 2 and 3 do not broadcast");
    FAILS(tn_matmul(&d, &a, &a), TN_ESHAPE,
          "matmul: a has 3 columns and b has 2 rows, expected equal numbers");
}

static void rest(void **state)
{
    (void)state;
    tn_tensor a = make(x, TN_F32, 2, 2, 3), line = make(y, TN_F32, 1, 3, 0);
    tn_tensor read = line, index = make(at, TN_I64, 2, 2, 3), large = a;
    const tn_tensor wide = make(y, TN_I32, 1, 3, 0), half = make(z, TN_F64, 2, 2, 3);
    read.flags = TN_READONLY;
    FAILS(tn_sort(&read, NULL, &line, 0, 0), TN_EARG,
          "sort: values is read-only (TN_READONLY)");
    FAILS(tn_add_rms_norm(&a, &read, &a, &a, NULL, 0), TN_EARG,
          "add_rms_norm: sum is read-only (TN_READONLY)");
    FAILS(tn_pattern_reduce(TN_REDUCE_MEAN, NULL, &wide, &a, "a b -> b", NULL), TN_EDTYPE,
          "pattern_reduce: dst: got i32, expected f32 or f64 for mean of f32");
    const tn_tensor halves = make(y, TN_F16, 2, 2, 3), mask = make(z, TN_BOOL, 1, 3, 0);
    FAILS(tn_reduce(TN_REDUCE_SUM, NULL, &wide, &halves, 1, (const int[]){0}), TN_EDTYPE,
          "reduce: dst: got i32, expected f16 or f32 or f64 for sum of f16");
    FAILS(tn_reduce(TN_REDUCE_SUMSQ, NULL, &line, &index, 1, (const int[]){0}), TN_EDTYPE,
          "reduce: dst: got f32, expected an integer dtype for sumsq of i64");
    FAILS(tn_reduce(TN_REDUCE_ARGMIN, NULL, &mask, &a, 1, (const int[]){0}), TN_EDTYPE,
          "reduce: dst: got bool, expected i64 or i32 for argmin of f32");
    FAILS(tn_reduce(TN_REDUCE_MEAN, NULL, &line, &index, 1, (const int[]){0}), TN_EDTYPE,
          "reduce: dst: got f32, expected f64 for mean of i64");
    FAILS(tn_scan(TN_SCAN_MAX, &half, &a, 0), TN_EDTYPE,
          "scan: dst: got f64, expected f32 for cummax of f32");
    FAILS(tn_pattern_reduce((tn_reduction)99, NULL, &wide, &a, "a b -> b", NULL), TN_EARG,
          "pattern_reduce: reduction 99 is unknown");
    FAILS(tn_matmul(&a, &a, NULL), TN_ENULL, "matmul: b is NULL");
    FAILS(tn_rearrange(&a, &half), TN_EDTYPE,
          "rearrange: src: dtype differs from dst, got f64, expected f32; tn_cast converts");
    const char *const names[] = {"a"};
    const tn_tensor *const srcs[] = {&a};
    FAILS(tn_eval(&a, "leaky_relu(a, 1, 2)", 1, names, srcs), TN_EFORMAT,
          "eval: leaky_relu takes 1 or 2 arguments, got 3, at column 1");
    FAILS(tn_eval(&a, "add(a)", 1, names, srcs), TN_EFORMAT,
          "eval: add takes 2 arguments, got 1, at column 1");
    FAILS(tn_eval(&a, "add(a, a, a, a, a, a)", 1, names, srcs), TN_EFORMAT,
          "eval: add takes at most 5 arguments at column 1");
    FAILS(tn_eval(&a, "ldexp(a, f64(a))", 1, names, srcs), TN_EDTYPE,
          "eval: ldexp: argument 2: got f64 at column 1, expected i32, i64 or f32");
    FAILS(tn_eval(&a, "max(a > 0)", 1, names, srcs), TN_EDTYPE,
          "eval: max: got bool at column 1, expected integers or floats");
    FAILS(tn_randint(&a, 0, 5, 5), TN_EARG,
          "randint: low is 5 and high is 5, expected low < high");
    FAILS(tn_dot(&line, &a, &a, 1, NULL), TN_ENULL, "dot: axes is NULL, expected 1 entries");

    large.stride[0] = INT64_MAX;
    FAILS(tn_put_along(TN_PUT_SET, &a, 0, &index, &large), TN_EOVERFLOW,
          "put_along: src: strides span more than 2^63 - 1 bytes");
    index.stride[0] = INT64_MAX;
    FAILS(tn_take_along(&a, &a, 0, &index), TN_EOVERFLOW,
          "take_along: index: strides span more than 2^63 - 1 bytes");
}

/* ---- memory ---- */

static bool refusing;

static void *give(void *user, size_t size, size_t align)
{
    (void)user;
    return refusing ? NULL : aligned_alloc(align, (size + align - 1) / align * align);
}

static void take_back(void *user, void *block, size_t size)
{
    (void)user, (void)size;
    free(block);
}

static void memory(void **state)
{
    (void)state;
    const tn_tensor a = make(x, TN_F32, 2, 2, 3), row = make(x, TN_F32, 2, 1, 3);
    const char *const names[] = {"a"};
    const tn_tensor *const srcs[] = {&a};
    tn_tensor out;
    tn_handle *h;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.alloc = give, .free = take_back}));
    OK(tn_handle_use(h));
    refusing = true;
    FAILS(tn_alloc(&out, TN_F32, 1, (int64_t[]){6}), TN_ENOMEM,
          "alloc: cannot allocate 24 bytes");
    FAILS(tn_like(&out, &a), TN_ENOMEM, "like: cannot allocate 24 bytes");
    FAILS(tn_full(&out, TN_F32, 1, (int64_t[]){6}, NULL), TN_ENOMEM,
          "full: cannot allocate 24 bytes");
    FAILS(tn_contiguous(&out, &a), TN_ENOMEM, "contiguous: cannot allocate 24 bytes");
    FAILS(tn_unsqueeze_copy(&out, &a, 0), TN_ENOMEM,
          "unsqueeze_copy: cannot allocate 24 bytes");
    FAILS(tn_squeeze_copy(&out, &row, 0), TN_ENOMEM, "squeeze_copy: cannot allocate 12 bytes");
    FAILS(tn_masked_select_copy(&out, &a, &a), TN_ENOMEM,
          "masked_select_copy: cannot allocate 0 bytes");
    FAILS(tn_nonzero_copy(&out, &a), TN_ENOMEM, "nonzero_copy: cannot allocate 0 bytes");
    FAILS(tn_pad_hw_copy(&out, &a, 1), TN_ENOMEM, "pad_hw_copy: cannot allocate 80 bytes");
    FAILS(tn_pattern_copy(&out, &a, "a b -> b a", NULL), TN_ENOMEM,
          "pattern_copy: cannot allocate 24 bytes");
    FAILS(tn_reduce_copy(&out, TN_REDUCE_SUM, NULL, &a, 1, &axis, false), TN_ENOMEM,
          "reduce_copy: cannot allocate 12 bytes");
    FAILS(tn_eval_copy(&out, "a + 1", 1, names, srcs), TN_ENOMEM,
          "eval_copy: cannot allocate 24 bytes");
    FAILS(tn_apply_copy(&out, TN_NEG, NULL, 1, srcs), TN_ENOMEM,
          "apply_copy: cannot allocate 24 bytes");
    FAILS(tn_unique_copy(&out, NULL, NULL, NULL, &a), TN_ENOMEM,
          "unique_copy: cannot allocate 24 bytes");
    refusing = false;
    OK(tn_handle_use(NULL));
    tn_handle_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_data),
        cmocka_unit_test(shapes),
        cmocka_unit_test(rest),
        cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
