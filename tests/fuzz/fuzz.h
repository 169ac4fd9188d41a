/* fuzz.h - what the fuzz targets share: taking numbers from bytes, memory with a limit, and the
 * word for what must be true.
 *
 * A target is one function of bytes, the same for the fuzzer and for the replay of a corpus; it
 * ends the program where a promise is broken. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#if defined(__has_feature)
#if __has_feature(memory_sanitizer)
#include <sanitizer/msan_interface.h>
#define UNSET(at, n) __msan_allocated_memory(at, n)
#define RESET(at, n) __msan_unpoison(at, n)
#endif
#endif
#ifndef UNSET
#define UNSET(at, n) ((void)0)
#define RESET(at, n) ((void)0)
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                        \
    do {                                                                                       \
        if (!(condition)) {                                                                    \
            fprintf(stderr, "%s:%d: not so: %s (%s)\n", __FILE__, __LINE__, #condition,        \
                    tn_error());                                                               \
            abort();                                                                           \
        }                                                                                      \
    } while (0)

/* ---- numbers from bytes; 0 when there are no more ---- */

typedef struct bytes {
    const uint8_t *at;
    size_t left;
} bytes;

static inline int take(bytes *b)
{
    return b->left ? (b->left--, *b->at++) : 0;
}

/* In [0, n). */
static inline int take_below(bytes *b, int n)
{
    return take(b) % n;
}

/* Small ones mostly, and those at which arithmetic ends. */
static inline int64_t take_wild(bytes *b)
{
    static const int64_t ends[] = {INT64_MIN, INT64_MAX,     INT64_MIN + 1, INT64_MAX - 1,
                                   INT32_MAX, INT64_MAX / 2, INT64_MIN / 2, (int64_t)1 << 32};
    int first = take(b);
    if (first < 200)
        return first - 100;
    if (first < 232)
        return ends[first % 8] / (1 + first / 8 % 4);
    uint64_t x = 0;
    for (int i = 0; i < 8; i++)
        x = x << 8 | (uint64_t)take(b);
    return (int64_t)x;
}

/* ---- memory that is counted, and refused beyond a limit ---- */

static size_t held, most, limit = (size_t)64 << 20;

static inline void *limited_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    if (size > limit - held)
        return NULL;
    held += size;
    most = held > most ? held : most;
    void *made = aligned_alloc(align, size);
    if (made)
        UNSET(made, size);
    return made;
}

static inline void limited_free(void *user, void *ptr, size_t size)
{
    (void)user;
    held -= size;
    RESET(ptr, size);
    free(ptr);
}

/* Make it the allocator of this thread; once. */
static inline void use_limit(void)
{
    static tn_handle *handle;
    tn_config config = {.threads = 1, .alloc = limited_alloc, .free = limited_free};
    if (handle)
        return;
    MUST(tn_handle_create(&handle, TN_CPU, 0, &config) == TN_OK);
    MUST(tn_handle_use(handle) == TN_OK);
}

/* ---- elements one by one ---- */

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

static inline const uint8_t *at_index(const tn_tensor *t, const int64_t *index)
{
    const uint8_t *at = t->data;
    for (int i = 0; i < t->ndim; i++)
        at += index[i] * t->stride[i];
    return at;
}

static inline bool same_elements(const tn_tensor *a, const tn_tensor *b)
{
    int64_t index[TN_MAX_NDIM] = {0};
    size_t width = tn_dtype_size(a->dtype);
    if (a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i])
            return false;
    if (tn_numel(a) > 0)
        do
            if (memcmp(at_index(a, index), at_index(b, index), width) != 0)
                return false;
        while (next_index(a->ndim, a->shape, index));
    return true;
}

#endif
