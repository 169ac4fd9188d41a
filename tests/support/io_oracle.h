/* io_oracle.h - the expected contents of the golden files, and helpers for tests of io. */
#ifndef IO_ORACLE_H
#define IO_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#define OK(call)                                                                               \
    do {                                                                                       \
        tn_status ok_status = (call);                                                          \
        if (ok_status != TN_OK)                                                                \
            fail_msg("%s: %s: %s", #call, tn_status_name(ok_status), tn_error());              \
    } while (0)

#define DATA(name) TEST_SOURCE_DIR "/tests/data/" name

/* True on big-endian hosts, which read the golden files, too, but can map only the others. */
static inline bool host_is_big(void)
{
    const uint16_t one = 1;
    uint8_t first;
    memcpy(&first, &one, 1);
    return first == 0;
}

/* Store element k of the golden files in dtype, in native byte order; returns its width. */
static inline size_t expected(tn_dtype dtype, int64_t k, void *out)
{
    static const uint8_t e4m3[] = {0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44};
    static const uint8_t e5m2[] = {0xc2, 0xc0, 0xbc, 0, 0x3c, 0x40, 0x42};
    static const uint16_t half[] = {0xc200, 0xc000, 0xbc00, 0, 0x3c00, 0x4000, 0x4200};
    static const uint16_t bf16[] = {0xc040, 0xc000, 0xbf80, 0, 0x3f80, 0x4000, 0x4040};
    int64_t up = k % 7, v = up - 3, im = k % 5 - 2;
    union {
        uint8_t u8;
        int8_t i8;
        uint16_t u16;
        int16_t i16;
        uint32_t u32;
        int32_t i32;
        uint64_t u64;
        int64_t i64;
        float f32[2];
        double f64[2];
    } x = {0};
    /* clang-format off */
    switch (dtype) {
    case TN_BOOL: x.u8 = k % 3 == 1; break;
    case TN_I8: x.i8 = (int8_t)v; break;
    case TN_I16: x.i16 = (int16_t)v; break;
    case TN_I32: x.i32 = (int32_t)v; break;
    case TN_I64: x.i64 = v; break;
    case TN_U8: x.u8 = (uint8_t)up; break;
    case TN_U16: x.u16 = (uint16_t)up; break;
    case TN_U32: x.u32 = (uint32_t)up; break;
    case TN_U64: x.u64 = (uint64_t)up; break;
    case TN_F8E4M3: x.u8 = e4m3[up]; break;
    case TN_F8E5M2: x.u8 = e5m2[up]; break;
    case TN_F16: x.u16 = half[up]; break;
    case TN_BF16: x.u16 = bf16[up]; break;
    case TN_F32: x.f32[0] = (float)v; break;
    case TN_F64: x.f64[0] = (double)v; break;
    case TN_C64: x.f32[0] = (float)v; x.f32[1] = (float)im; break;
    case TN_C128: x.f64[0] = (double)v; x.f64[1] = (double)im; break;
    }
    /* clang-format on */
    memcpy(out, &x, tn_dtype_size(dtype));
    return tn_dtype_size(dtype);
}

/* Next index in row-major order; false after the last. */
static inline bool next_index(int ndim, const int64_t *shape, int64_t *index)
{
    for (int i = ndim - 1; i >= 0; i--) {
        if (++index[i] < shape[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* Assert that every element of t has the golden value. */
static inline void assert_golden(const tn_tensor *t, const char *what)
{
    int64_t index[TN_MAX_NDIM] = {0}, k = 0;
    char want[16];
    if (tn_numel(t) == 0)
        return;
    do {
        size_t width = expected(t->dtype, k, want);
        if (memcmp(tn_at(t, index), want, width) != 0)
            fail_msg("%s: element %lld differs", what, (long long)k);
        k++;
    } while (next_index(t->ndim, t->shape, index));
}

/* Make a dense tensor with the golden elements. */
static inline void make_golden(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    OK(tn_alloc(t, dtype, ndim, shape));
    char *at = t->data;
    for (int64_t k = 0; k < tn_numel(t); k++)
        at += expected(dtype, k, at);
}

static inline void assert_same_elements(const tn_tensor *a, const tn_tensor *b)
{
    int64_t index[TN_MAX_NDIM] = {0};
    assert_int_equal(a->dtype, b->dtype);
    assert_int_equal(a->ndim, b->ndim);
    for (int i = 0; i < a->ndim; i++)
        assert_int_equal(a->shape[i], b->shape[i]);
    if (tn_numel(a) > 0)
        do
            assert_memory_equal(tn_at(a, index), tn_at(b, index), tn_dtype_size(a->dtype));
        while (next_index(a->ndim, a->shape, index));
}

/* Read a whole file; the caller frees the bytes. */
static inline uint8_t *slurp(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    uint8_t *bytes = malloc(*n ? *n : 1);
    assert_int_equal(fread(bytes, 1, *n, f), *n);
    fclose(f);
    return bytes;
}

static inline void spit(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

/* Each test program has a folder of its own, which drop_folder removes. */
static char folder[64];

static inline const char *in_folder(const char *name)
{
    static char path[4][256];
    static int slot;
    slot = (slot + 1) % 4;
    snprintf(path[slot], sizeof path[slot], "%s/%s", folder, name);
    return path[slot];
}

static inline int make_folder(void **state)
{
    (void)state;
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/tenon-test-XXXXXX",
             tmp && strlen(tmp) < 40 ? tmp : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static inline int drop_folder(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

#endif
