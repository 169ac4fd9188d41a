/* test_core.c - statuses and sentences, dtypes and promotion, checked arithmetic, memory. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>
#include <tenon/tenon.h>

#include "core/core.h"

/* ---- statuses ---- */

static void statuses_have_names(void **state)
{
    (void)state;
    static const char *const names[] = {
        "TN_OK",      "TN_ENULL",    "TN_EARG",         "TN_EDTYPE", "TN_ESHAPE",
        "TN_ESTRIDE", "TN_EOVERLAP", "TN_EOVERFLOW",    "TN_ENOMEM", "TN_EDEVICE",
        "TN_EIO",     "TN_EFORMAT",  "TN_EUNSUPPORTED", "TN_ERANKS", "TN_EMPI",
    };
    for (int i = 0; i < COUNT(names); i++)
        assert_string_equal(tn_status_name((tn_status)i), names[i]);
    assert_string_equal(tn_status_name((tn_status)COUNT(names)), "TN_?");
    assert_string_equal(tn_status_name((tn_status)-1), "TN_?");
    assert_int_equal(TN_EMPI, COUNT(names) - 1);
}

static void *fail_elsewhere(void *arg)
{
    (void)arg;
    const bool fresh = tn_error()[0] == 0;
    (void)tni_fail(TN_EARG, "elsewhere");
    return fresh ? "fresh" : NULL;
}

static void each_thread_has_its_sentence(void **state)
{
    (void)state;
    assert_int_equal(tni_fail(TN_ESHAPE, "x: axis %d has extents %d and %d", 2, 6, 5),
                     TN_ESHAPE);
    pthread_t thread;
    void *fresh = NULL;
    assert_int_equal(pthread_create(&thread, NULL, fail_elsewhere, NULL), 0);
    assert_int_equal(pthread_join(thread, &fresh), 0);
    assert_non_null(fresh);
    assert_string_equal(tn_error(), "x: axis 2 has extents 6 and 5");
    tn_dtype dtype;
    assert_int_equal(tn_dtype_parse(&dtype, "f32"), TN_OK);
    assert_string_equal(tn_error(), "x: axis 2 has extents 6 and 5");
}

static void the_version_is_that_of_the_header(void **state)
{
    (void)state;
    char text[40];
    snprintf(text, sizeof text, "%d.%d.%d", TN_VERSION_MAJOR, TN_VERSION_MINOR,
             TN_VERSION_PATCH);
    assert_string_equal(tn_version(), text);
}

/* ---- dtypes ---- */

static const struct {
    tn_dtype dtype;
    size_t size;
    const char *name, *longer;
} dtypes[] = {
    {TN_BOOL, 1, "bool", "boolean"},
    {TN_I8, 1, "i8", "int8"},
    {TN_I16, 2, "i16", "int16"},
    {TN_I32, 4, "i32", "int32"},
    {TN_I64, 8, "i64", "int64"},
    {TN_U8, 1, "u8", "uint8"},
    {TN_U16, 2, "u16", "uint16"},
    {TN_U32, 4, "u32", "uint32"},
    {TN_U64, 8, "u64", "uint64"},
    {TN_F8E4M3, 1, "f8e4m3", "float8_e4m3fn"},
    {TN_F8E5M2, 1, "f8e5m2", "float8_e5m2"},
    {TN_F16, 2, "f16", "float16"},
    {TN_BF16, 2, "bf16", "bfloat16"},
    {TN_F32, 4, "f32", "float32"},
    {TN_F64, 8, "f64", "float64"},
    {TN_C64, 8, "c64", "complex64"},
    {TN_C128, 16, "c128", "complex128"},
};

static void dtypes_have_sizes_and_names(void **state)
{
    (void)state;
    assert_int_equal(COUNT(dtypes), 17);
    for (int i = 0; i < COUNT(dtypes); i++) {
        tn_dtype read = (tn_dtype)0;
        assert_int_equal(dtypes[i].dtype, i + 1);
        assert_int_equal(tn_dtype_size(dtypes[i].dtype), dtypes[i].size);
        assert_string_equal(tn_dtype_name(dtypes[i].dtype), dtypes[i].name);
        assert_int_equal(tn_dtype_parse(&read, dtypes[i].name), TN_OK);
        assert_int_equal(read, dtypes[i].dtype);
        assert_int_equal(tn_dtype_parse(&read, dtypes[i].longer), TN_OK);
        assert_int_equal(read, dtypes[i].dtype);
    }
}

/* The kind of a dtype is the first letter of its name. */
static void dtypes_have_kinds(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(dtypes); i++) {
        const char kind = dtypes[i].name[0];
        const tn_dtype dtype = dtypes[i].dtype;
        const bool is_float = kind == 'f' || dtype == TN_BF16;
        assert_int_equal(tni_is_integer(dtype), kind == 'i' || kind == 'u');
        assert_int_equal(tni_is_float(dtype), is_float);
        assert_int_equal(tni_is_complex(dtype), kind == 'c');
        assert_int_equal(tni_is_narrow(dtype), is_float && dtypes[i].size < 4);
    }
}

static void unknown_dtypes_are_refused(void **state)
{
    (void)state;
    static const int unknown[] = {0, -1, 18, 1000, INT32_MIN, INT32_MAX};
    tn_dtype out = TN_U8;
    for (int i = 0; i < COUNT(unknown); i++) {
        const tn_dtype dtype = (tn_dtype)unknown[i];
        assert_int_equal(tn_dtype_size(dtype), 0);
        assert_string_equal(tn_dtype_name(dtype), "?");
        assert_int_equal(tn_promote(&out, dtype, TN_F32), TN_EDTYPE);
        assert_int_equal(tn_promote(&out, TN_F32, dtype), TN_EDTYPE);
    }
    assert_int_equal(tn_promote(&out, TN_F32, (tn_dtype)18), TN_EDTYPE);
    assert_string_equal(tn_error(), "promote: got dtypes 14 and 18, expected both in [1, 17]");
    static const char *const names[] = {"", "f33", "F32", "f32 ", "float", "?"};
    for (int i = 0; i < COUNT(names); i++)
        assert_int_equal(tn_dtype_parse(&out, names[i]), TN_EDTYPE);
    assert_string_equal(tn_error(), "dtype_parse: unknown dtype \"?\"");
    assert_int_equal(tn_dtype_parse(NULL, "f32"), TN_ENULL);
    assert_string_equal(tn_error(), "dtype_parse: out is NULL");
    assert_int_equal(tn_dtype_parse(&out, NULL), TN_ENULL);
    assert_string_equal(tn_error(), "dtype_parse: name is NULL");
    assert_int_equal(tn_promote(NULL, (tn_dtype)0, TN_F32), TN_ENULL);
    assert_string_equal(tn_error(), "promote: out is NULL");
    assert_int_equal(out, TN_U8);
}

/* ---- promotion: the whole table, row by row; "-" is refused ---- */

static const char *const promoted[17] = {
    /* bool */
    "bool i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "i8 i8 i16 i32 i64 i16 i32 i64 - f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "i16 i16 i16 i32 i64 i16 i32 i64 - f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "i32 i32 i32 i32 i64 i32 i32 i64 - f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "i64 i64 i64 i64 i64 i64 i64 i64 - f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "u8 i16 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "u16 i32 i32 i32 i64 u16 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "u32 i64 i64 i64 i64 u32 u32 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    "u64 - - - - u64 u64 u64 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64 c64 c128",
    /* f8e4m3 */
    "f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f8e4m3 f16 f16 bf16 f32 "
    "f64 "
    "c64 c128",
    "f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f8e5m2 f16 f8e5m2 f16 bf16 f32 "
    "f64 "
    "c64 c128",
    "f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f16 f32 f32 f64 c64 c128",
    "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32 bf16 f32 f64 c64 c128",
    "f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f32 f64 c64 c128",
    "f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 f64 c128 c128",
    "c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c64 c128 c64 c128",
    "c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128",
};

static void every_pair_promotes_as_in_the_table(void **state)
{
    (void)state;
    for (int a = 1; a <= 17; a++) {
        char row[400], *rest = row;
        snprintf(row, sizeof row, "%s", promoted[a - 1]);
        for (int b = 1; b <= 17; b++) {
            const char *want = strtok_r(rest, " ", &rest);
            tn_dtype out = (tn_dtype)0;
            const tn_status status = tn_promote(&out, (tn_dtype)a, (tn_dtype)b);
            if (strcmp(want, "-") == 0 ? status != TN_EDTYPE || out != 0
                                       : status || strcmp(tn_dtype_name(out), want) != 0)
                fail_msg("%s with %s: %s, not %s", tn_dtype_name((tn_dtype)a),
                         tn_dtype_name((tn_dtype)b), tn_dtype_name(out), want);
        }
    }
    tn_dtype out;
    assert_int_equal(tn_promote(&out, TN_U64, TN_I8), TN_EDTYPE);
    assert_string_equal(tn_error(), "promote: u64 and i8 do not promote to a common dtype");
}

/* ---- checked arithmetic against the compiler's ---- */

static const int64_t edges[] = {
    0,
    1,
    -1,
    2,
    -2,
    3,
    INT32_MAX,
    INT32_MIN,
    (int64_t)INT32_MAX + 1,
    (int64_t)INT32_MIN - 1,
    3037000499,
    3037000500,
    -3037000500,
    INT64_MAX / 2,
    INT64_MAX / 2 + 1,
    INT64_MIN / 2,
    INT64_MIN / 2 - 1,
    INT64_MAX / 3,
    INT64_MIN / 3,
    INT64_MAX - 1,
    INT64_MAX,
    INT64_MIN + 1,
    INT64_MIN,
};

typedef bool (*checked)(int64_t a, int64_t b, int64_t *out);

/* The compiler's own arithmetic says what fits. */
static bool plain_add(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_add_overflow(a, b, out);
}

static bool plain_mul(int64_t a, int64_t b, int64_t *out)
{
    return !__builtin_mul_overflow(a, b, out);
}

static void check_pair(checked got, checked want, int64_t a, int64_t b)
{
    int64_t out = 42, sum = 0;
    const bool fits = want(a, b, &sum);
    assert_int_equal(got(a, b, &out), fits);
    assert_int_equal(out, fits ? sum : 42);
}

static void sums_and_products_are_exact_or_refused(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT(edges); i++) {
        int64_t out = 42;
        const int64_t a = edges[i];
        assert_int_equal(tni_abs(a, &out), a != INT64_MIN);
        assert_int_equal(out, a == INT64_MIN ? 42 : a < 0 ? -a : a);
        for (int j = 0; j < COUNT(edges); j++) {
            check_pair(tni_add, plain_add, a, edges[j]);
            check_pair(tni_mul, plain_mul, a, edges[j]);
            if (a >= 0 && edges[j] >= 0)
                check_pair(tni_scale, plain_mul, a, edges[j]);
        }
    }
}

/* ---- memory ---- */

typedef struct ledger {
    int allocs, frees, fail_at;
    size_t bytes, align, asked;
} ledger;

static void *ledger_alloc(void *user, size_t size, size_t align)
{
    ledger *l = user;
    l->asked = size;
    if (++l->allocs == l->fail_at)
        return NULL;
    l->bytes += size;
    l->align = align;
    return aligned_alloc(align, size);
}

static void ledger_free(void *user, void *ptr, size_t size)
{
    ledger *l = user;
    l->frees++;
    l->bytes -= size;
    free(ptr);
}

static void *free_elsewhere(void *block)
{
    tni_free(block);
    return NULL;
}

static void blocks_remember_their_allocator(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096};
    for (int i = 0; i < COUNT(sizes); i++) {
        ledger l = {0};
        tni_allocator_use(&(tni_allocator){ledger_alloc, ledger_free, &l});
        char *block = tni_alloc(sizes[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % 64, 0);
        assert_int_equal(l.align, 64);
        assert_true(l.bytes >= sizes[i] + 64);
        memset(block, 1, sizes[i]);
        tni_allocator_use(NULL);
        char *other = tni_alloc(sizes[i]);
        assert_non_null(other);
        assert_int_equal((uintptr_t)other % 64, 0);
        memset(other, 2, sizes[i]);
        assert_int_equal(l.allocs, 1);
        tni_free(other);
        assert_int_equal(l.frees, 0);
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, free_elsewhere, block), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(l.frees, 1);
        assert_int_equal(l.bytes, 0);
    }
    tni_free(NULL);
}

/* What the allocator is asked for: a label of 64 bytes and the block, in whole lines of 64; for
 * more than half of all addresses it is not asked at all. */
static void blocks_are_asked_for_in_lines(void **state)
{
    (void)state;
    static const struct {
        size_t size, asked;
    } rows[] = {
        {0, 64},
        {1, 128},
        {62, 128},
        {63, 128},
        {64, 128},
        {65, 192},
        {SIZE_MAX / 2 - 1, SIZE_MAX / 2 + 65},
        {SIZE_MAX / 2, SIZE_MAX / 2 + 65},
        {SIZE_MAX / 2 + 1, 0},
    };
    for (int i = 0; i < COUNT(rows); i++) {
        ledger l = {.fail_at = 1};
        tni_allocator_use(&(tni_allocator){ledger_alloc, ledger_free, &l});
        assert_null(tni_alloc(rows[i].size));
        assert_int_equal(l.asked, rows[i].asked);
        assert_int_equal(l.allocs, rows[i].asked != 0);
    }
    tni_allocator_use(NULL);
}

static void too_much_memory_is_none(void **state)
{
    (void)state;
    assert_null(tni_alloc(SIZE_MAX));
    assert_null(tni_alloc(SIZE_MAX - 64));
    assert_null(tni_alloc(SIZE_MAX / 2 + 1));
    if (sizeof(size_t) > 4) /* half of 4 GiB may be there */
        assert_null(tni_alloc(SIZE_MAX / 2 - 4096));
}

static void failing_allocations_leave_everything(void **state)
{
    (void)state;
    ledger l = {.fail_at = 1};
    tni_allocator_use(&(tni_allocator){ledger_alloc, ledger_free, &l});
    tn_tensor t, before;
    memset(&t, 0x3c, sizeof t);
    before = t;
    assert_int_equal(tn_alloc(&t, TN_F32, 2, (int64_t[]){3, 4}), TN_ENOMEM);
    assert_string_equal(tn_error(), "alloc: cannot allocate 48 bytes");
    assert_memory_equal(&t, &before, sizeof t);
    assert_int_equal(tn_alloc(&t, TN_F32, 2, (int64_t[]){3, 4}), TN_OK);
    assert_int_equal(l.allocs, 2);
    tni_allocator_use(NULL);
    tn_free(&t);
    assert_null(t.data);
    assert_int_equal(l.bytes, 0);
    tn_free(&t);
    tn_free(NULL);
    assert_int_equal(l.frees, 1);
}

/* ---- facts of ops ---- */

/* An op computes in the dtype itself, in f32 for a narrow float without a kernel, or not at
 * all; integers divide in the smaller float that holds them. */
static void ops_compute_in_a_dtype(void **state)
{
    (void)state;
    for (int op = 0; op < TNI_OPS; op++)
        for (tn_dtype t = TN_BOOL; t < TNI_DTYPES; t++) {
            const bool own = tni_ops[op].takes >> t & 1, f32 = tni_ops[op].takes >> TN_F32 & 1;
            const bool small = t == TN_F8E4M3 || t == TN_F8E5M2 || t == TN_F16 || t == TN_BF16;
            const tn_dtype want = own ? t : small && f32 ? TN_F32 : (tn_dtype)0;
            assert_int_equal(tni_op_computes((tn_op)op, t), want);
        }
    assert_int_equal(tni_op_computes(TN_SQRT, TN_I32), 0);
    assert_int_equal(tni_op_computes(TN_BIT_AND, TN_BF16), 0);
    assert_true(tni_op_known((tn_op)0) && !tni_op_known((tn_op)TNI_OPS));
    for (tn_dtype t = TN_BOOL; t <= TN_U64; t++) {
        const bool bytes4 = t != TN_BOOL && tn_dtype_size(t) >= 4;
        assert_int_equal(tni_float_of(t), bytes4 ? TN_F64 : TN_F32);
    }
}

/* A failure in a text has a column, any other has none; a caller's words are taken as they
 * are. */
static void failures_have_columns(void **state)
{
    (void)state;
    assert_int_equal(tni_fail_at(TN_EFORMAT, 7, "x: %d", 3), TN_EFORMAT);
    assert_string_equal(tn_error(), "x: 3");
    assert_int_equal(tn_error_column(), 7);
    assert_int_equal(tn_set_error(TN_EARG, "100 %s"), TN_EARG);
    assert_string_equal(tn_error(), "100 %s");
    assert_int_equal(tn_error_column(), 0);
    assert_int_equal(tn_set_error(TN_EIO, NULL), TN_EIO);
    assert_string_equal(tn_error(), "");
}

/* ---- single elements ---- */

static void elements_are_read_and_written(void **state)
{
    (void)state;
    for (int t = TN_BOOL; t <= TN_F64; t++) {
        uint64_t bits = 0;
        char *at = (char *)&bits;
        if (tni_is_float((tn_dtype)t)) {
            tni_store_real(at, (tn_dtype)t, -1.5);
            assert_true(tni_load_real(at, (tn_dtype)t) == -1.5);
            tni_store_real(at, (tn_dtype)t, NAN);
            assert_true(isnan(tni_load_real(at, (tn_dtype)t)));
            continue;
        }
        uint64_t want = 0;
        const uint64_t value = 0x123456789abcdef0;
        memcpy(&want, t == TN_BOOL ? &(uint64_t){1} : &value, (size_t)tni_width((tn_dtype)t));
        tni_store_integer(at, (tn_dtype)t, value);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        assert_true(bits == want);
#endif
    }
    for (uint64_t x = 0; x < 3; x++) {
        char truth = 7;
        tni_store_integer(&truth, TN_BOOL, x);
        assert_int_equal(truth, x > 0);
    }
#ifndef TENON_ASSERTS
    float none = 5;
    assert_true(isnan(tni_load_real((char *)&none, TN_I32)));
    tni_store_real((char *)&none, TN_I32, 7);
    assert_true(none == 5);
#endif
}

/* Against counting: parts of each that hold n. */
static void sizes_are_rounded_and_saturated(void **state)
{
    (void)state;
    for (int64_t each = 1; each < 10; each++)
        for (int64_t n = 0; n < 40; n++) {
            int64_t parts = 0;
            while (parts * each < n)
                parts++;
            assert_int_equal(tni_round_up(n, each), parts * each);
            if (n > 0)
                assert_int_equal(tni_ceil_div(n, each), parts);
        }
    assert_int_equal(tni_ceil_div(INT64_MAX, 2), INT64_MAX / 2 + 1);
    assert_int_equal(tni_mul_saturated(0, 2), 0);
    assert_int_equal(tni_mul_saturated(3, 5), 15);
    assert_int_equal(tni_mul_saturated(INT64_MAX / 2, 2), INT64_MAX - 1);
    assert_int_equal(tni_mul_saturated(INT64_MAX / 2 + 1, 2), INT64_MAX);
    assert_int_equal(tni_mul_saturated(INT64_MAX, 1), INT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_compute_in_a_dtype),
        cmocka_unit_test(failures_have_columns),
        cmocka_unit_test(statuses_have_names),
        cmocka_unit_test(each_thread_has_its_sentence),
        cmocka_unit_test(the_version_is_that_of_the_header),
        cmocka_unit_test(dtypes_have_sizes_and_names),
        cmocka_unit_test(dtypes_have_kinds),
        cmocka_unit_test(unknown_dtypes_are_refused),
        cmocka_unit_test(every_pair_promotes_as_in_the_table),
        cmocka_unit_test(sums_and_products_are_exact_or_refused),
        cmocka_unit_test(elements_are_read_and_written),
        cmocka_unit_test(sizes_are_rounded_and_saturated),
        cmocka_unit_test(blocks_remember_their_allocator),
        cmocka_unit_test(blocks_are_asked_for_in_lines),
        cmocka_unit_test(too_much_memory_is_none),
        cmocka_unit_test(failing_allocations_leave_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
