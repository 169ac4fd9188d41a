/* layout.h - random tensors in heap blocks of exact size, for tests that compare with a slow
 * oracle.
 *
 * A block holds the tensor's byte range and not one byte more, so that a sanitizer detects
 * every access outside.  The oracle writes into a twin of dst; then the whole blocks are
 * compared, including the gaps between elements. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#define OK(call)                                                                               \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            fail_msg("%s: %s", #call, tn_error());                                             \
    } while (0)

typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t next(rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* A random number in [low, high]. */
static inline int64_t pick(rng *r, int64_t low, int64_t high)
{
    return low + (int64_t)(next(r) % (uint64_t)(high - low + 1));
}

static const tn_dtype all_dtypes[] = {
    TN_BOOL, TN_I8,     TN_I16,    TN_I32, TN_I64,  TN_U8,  TN_U16, TN_U32,  TN_U64,
    TN_F16,  TN_F8E4M3, TN_F8E5M2, TN_F32, TN_BF16, TN_F64, TN_C64, TN_C128,
};

static inline tn_dtype pick_dtype(rng *r)
{
    return all_dtypes[next(r) % (sizeof all_dtypes / sizeof *all_dtypes)];
}

typedef struct block {
    char *bytes;
    size_t size;
    tn_tensor t;
} block;

/* Make a block: row-major or, with wild, with axes in any order, gaps, reversed axes and any
 * alignment; a source may also have broadcast axes. */
static inline block block_make(rng *r, tn_dtype dtype, int ndim, const int64_t *shape,
                               bool wild, bool source)
{
    block b;
    int64_t width = (int64_t)tn_dtype_size(dtype), stride[TN_MAX_NDIM], step = width;
    int order[TN_MAX_NDIM];
    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    if (wild && next(r) % 2)
        for (int i = ndim - 1; i > 0; i--) {
            int k = (int)pick(r, 0, i), swap = order[i];
            order[i] = order[k];
            order[k] = swap;
        }
    for (int i = 0; i < ndim; i++) {
        int a = order[i];
        if (wild && next(r) % 4 == 0)
            step += pick(r, 1, 3) * (next(r) % 2 ? width : 1);
        stride[a] = wild && next(r) % 4 == 0 ? -step : step;
        if (wild && source && next(r) % 8 == 0)
            stride[a] = 0;
        else if (shape[a] > 1)
            step *= shape[a];
    }
    int64_t low = 0, high = 0;
    OK(tn_init_strided(&b.t, NULL, dtype, ndim, shape, stride));
    OK(tn_extent(&b.t, &low, &high));
    b.size = (size_t)(high - low);
    b.bytes = malloc(b.size ? b.size : 1);
    assert_non_null(b.bytes);
    for (size_t i = 0; i < b.size; i++)
        b.bytes[i] = (char)next(r);
    b.t.data = b.bytes - low;
    return b;
}

static inline block block_twin(const block *of)
{
    block b = *of;
    b.bytes = malloc(b.size ? b.size : 1);
    assert_non_null(b.bytes);
    memcpy(b.bytes, of->bytes, b.size);
    b.t.data = b.bytes + ((char *)of->t.data - of->bytes);
    return b;
}

static inline void block_free(block *b)
{
    free(b->bytes);
}

/* Advance to the next index of a shape, the last axis fastest; false after the last one. */
static inline bool index_next(int64_t *index, int ndim, const int64_t *shape)
{
    for (int i = ndim - 1; i >= 0; i--) {
        if (++index[i] < shape[i])
            return true;
        index[i] = 0;
    }
    return false;
}

static inline char *element(const tn_tensor *t, const int64_t *index)
{
    char *p = t->data;
    for (int i = 0; i < t->ndim; i++)
        p += index[i] * t->stride[i];
    return p;
}

/* The origin of element `index` of dst: true and its index in src, or false for *value. */
typedef bool (*origin_fn)(const void *about, const int64_t *index, int64_t *from);

static inline void oracle(const tn_tensor *dst, const tn_tensor *src, origin_fn origin,
                          const void *about, const void *value)
{
    int64_t at[TN_MAX_NDIM] = {0}, from[TN_MAX_NDIM] = {0};
    size_t width = tn_dtype_size(dst->dtype);
    if (tn_numel(dst) == 0)
        return;
    do {
        const void *x = origin(about, at, from) ? element(src, from) : value;
        memcpy(element(dst, at), x, width);
    } while (index_next(at, dst->ndim, dst->shape));
}

static inline const char *describe(const tn_tensor *t)
{
    static char text[4][512];
    static int slot;
    char *s = text[slot++ % 4];
    size_t used = 0;
    for (int i = 0; i < t->ndim && used < 480; i++)
        used += (size_t)snprintf(s + used, 512 - used, "%lld:%lld ", (long long)t->shape[i],
                                 (long long)t->stride[i]);
    if (!t->ndim)
        s[0] = 0;
    return s;
}

/* An allocator that counts, and fails at allocation number fail_at (from 1; 0: never). */
typedef struct tally {
    int calls, fail_at, live;
} tally;

static inline void *tally_alloc(void *user, size_t size, size_t align)
{
    tally *t = user;
    if (++t->calls == t->fail_at)
        return NULL;
    t->live++;
    return aligned_alloc(align, size);
}

static inline void tally_free(void *user, void *ptr, size_t size)
{
    (void)size;
    ((tally *)user)->live--;
    free(ptr);
}

/* Call body with its first, second, … allocation failing, until it succeeds.  Each failure must
 * be TN_ENOMEM and leak nothing; body checks that nothing has changed. */
static inline int fail_each_allocation(tn_status (*body)(void))
{
    tally t = {0};
    tn_handle *h;
    tn_config config = {.alloc = tally_alloc, .free = tally_free, .user = &t};
    OK(tn_handle_create(&h, TN_CPU, 0, &config));
    OK(tn_handle_use(h));
    int failed = 0;
    for (;; failed++) {
        t.calls = 0;
        t.fail_at = failed + 1;
        int live = t.live;
        tn_status status = body();
        assert_int_equal(t.live, live);
        if (status == TN_OK)
            break;
        assert_int_equal(status, TN_ENOMEM);
        assert_int_equal(t.calls, failed + 1);
    }
    tn_handle_destroy(h);
    return failed;
}

#define SAME_BLOCKS(got, want, ...)                                                            \
    do {                                                                                       \
        if (memcmp((got)->bytes, (want)->bytes, (want)->size)) {                               \
            print_error(__VA_ARGS__);                                                          \
            fail();                                                                            \
        }                                                                                      \
    } while (0)

#endif
