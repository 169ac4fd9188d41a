/* copy_oracle.h - a copy slow enough to be trusted, and blocks of memory to test others on.
 *
 * A ground is a tensor in a block with a margin on both sides.  Two copies of a ground, one
 * filled by the oracle and one by the library, must be equal byte for byte: elements, gaps and
 * margins.  Under a sanitizer there are no margins: the block ends with the last element. */
#ifndef COPY_ORACLE_H
#define COPY_ORACLE_H

#include "layout.h"

enum { MARGIN = TEST_WATCHED && !TEST_EMULATED ? 0 : 192 }; /* sanitizers see the ends */

typedef block ground;

static inline void scatter_bytes(rng *r, char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += 8) {
        uint64_t x = next(r);
        memcpy(bytes + i, &x, size - i < 8 ? size - i : 8);
    }
}

/* Allocate a ground for layout t; its first byte is shift bytes after a multiple of 64. */
static inline ground ground_make(rng *r, const tn_tensor *t, int64_t shift)
{
    ground g = {.t = *t};
    int64_t low = 0, high = 0;
    OK(tn_extent(t, &low, &high));
    size_t front = MARGIN + (size_t)shift;
    g.size = front + (size_t)(high - low) + MARGIN;
    g.bytes = NULL;
    if (posix_memalign((void **)&g.bytes, 64, g.size ? g.size : 1))
        fail();
    scatter_bytes(r, g.bytes, g.size);
    g.t.data = g.bytes + front - low;
    return g;
}

static inline ground ground_twin(const ground *of)
{
    ground g = *of;
    if (posix_memalign((void **)&g.bytes, 64, g.size ? g.size : 1))
        fail();
    memcpy(g.bytes, of->bytes, g.size);
    g.t.data = g.bytes + ((char *)of->t.data - of->bytes);
    return g;
}

static inline void ground_free(ground *g)
{
    free(g->bytes);
}

static inline bool same_ground(const ground *a, const ground *b)
{
    return a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* dst[i...] = src[i...], element by element. */
static inline void copy_oracle(const tn_tensor *dst, const tn_tensor *src)
{
    int64_t index[TN_MAX_NDIM] = {0};
    size_t width = tn_dtype_size(dst->dtype);
    for (int i = 0; i < dst->ndim; i++)
        if (dst->shape[i] == 0)
            return;
    do
        memcpy(element(dst, index), element(src, index), width);
    while (index_next(index, dst->ndim, dst->shape));
}

/* Make a layout from a text: axes as digits, outermost in memory first.  "-2" reverses axis 2,
 * "2*" broadcasts it (stride 0), "2+" leaves a gap of one element after it, "2'" a gap of one
 * byte. */
static inline tn_tensor layout_of(tn_dtype dtype, int ndim, const int64_t *shape,
                                  const char *words)
{
    tn_tensor t;
    int64_t stride[TN_MAX_NDIM] = {0}, width = (int64_t)tn_dtype_size(dtype), step = width;
    int64_t gap = 0;
    bool repeat = false;
    for (size_t i = strlen(words); i-- > 0;) {
        if (words[i] == '*') {
            repeat = true;
        } else if (words[i] == '+' || words[i] == '\'') {
            gap = words[i] == '+' ? width : 1;
        } else if (words[i] >= '0' && words[i] <= '9') {
            int axis = words[i] - '0';
            stride[axis] = repeat ? 0 : i > 0 && words[i - 1] == '-' ? -step : step;
            step = step * (repeat || !shape[axis] ? 1 : shape[axis]) + gap;
            gap = 0;
            repeat = false;
        }
    }
    OK(tn_init_strided(&t, NULL, dtype, ndim, shape, stride));
    return t;
}

/* One dtype of each width. */
static const tn_dtype dtype_of_width[] = {TN_U8, TN_F16, TN_F32, TN_F64, TN_C128};
enum { WIDTHS = 5 };

/* Handles with 1, 2, 3 and 8 threads. */
static const int thread_counts[] = {1, 2, 3, 8};
enum { THREAD_COUNTS = 4 };
static tn_handle *handle_of[THREAD_COUNTS];

static inline int make_handles(void **state)
{
    (void)state;
    for (int i = 0; i < THREAD_COUNTS; i++)
        OK(tn_handle_create(&handle_of[i], TN_CPU, 0,
                            &(tn_config){.threads = thread_counts[i]}));
    return 0;
}

static inline int drop_handles(void **state)
{
    (void)state;
    for (int i = 0; i < THREAD_COUNTS; i++)
        tn_handle_destroy(handle_of[i]);
    return 0;
}

#endif
