/* draw.h - random cases: shapes, layouts, addresses, and the seed that determines them.
 *
 * TEST_SEED sets the seed, TEST_CASES the number of cases; case i depends on seed + i only.
 * Without TEST_SEED the seed is the same in every run, so that a failure is due to a change;
 * ./dev check seeds sets TEST_SEED=new, which picks a new seed each time. */
#ifndef DRAW_H
#define DRAW_H

#include <time.h>
#include <unistd.h>

#include "copy_oracle.h"

static inline uint64_t number_asked(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : usual;
}

static inline uint64_t seed_asked(void)
{
    const char *text = getenv("TEST_SEED");
    if (!text || strcmp(text, "new") != 0)
        return number_asked("TEST_SEED", (uint64_t)1 << 40);
    return ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid()) << 20;
}

/* Draw the extents of a case: often small inner axes, occasionally an empty axis. */
static inline int pick_shape(rng *r, int64_t *shape, int64_t budget)
{
    int ndim = (int)(next(r) % 16 ? pick(r, 0, 8) : pick(r, 9, TN_MAX_NDIM));
    int64_t count = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        int64_t most = budget / count, n;
        switch (next(r) % 8) {
        case 0:
            n = 1;
            break;
        case 1:
            n = pick(r, 1, 3);
            break;
        case 2:
            n = pick(r, 1, 80);
            break;
        case 3:
            n = ndim <= 3 ? pick(r, 1, most) : (int64_t)1 << pick(r, 0, 6);
            break;
        default:
            n = pick(r, 2, 17);
        }
        if (ndim > 8 && next(r) % 4)
            n = 1;
        shape[i] = n < most ? n : most;
        count *= shape[i];
    }
    if (ndim && next(r) % 64 == 0)
        shape[pick(r, 0, ndim - 1)] = 0;
    return ndim;
}

static inline void shuffle(rng *r, int *order, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)pick(r, 0, i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

/* The second stride of two interleaved axes, of which the first has n elements and stride 3: q
 * >= n that 3 does not divide, so that no two elements coincide. */
static inline int64_t interleave(int64_t n)
{
    return n % 3 ? n : n + 1;
}

/* Draw a layout: axes in any memory order, with gaps, reversed; the two innermost axes of dst
 * may be interleaved, those of src broadcast or overlapping.  Strides of axes with extent 0 or
 * 1 are garbage. */
static inline tn_tensor pick_layout(rng *r, tn_dtype dtype, int ndim, const int64_t *shape,
                                    bool src)
{
    int64_t width = (int64_t)tn_dtype_size(dtype), step = width, stride[TN_MAX_NDIM];
    int order[TN_MAX_NDIM];
    int64_t interleaved =
        !src && next(r) % 16 == 0; /* 1: still to do; larger: extent of the first axis */
    bool gaps = next(r) % 3 == 0, reversed = next(r) % 4 == 0,
         repeats = src && next(r) % 8 == 0, shared = src && next(r) % 16 == 0;
    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    if (src ? next(r) % 8 : next(r) % 3 == 0)
        shuffle(r, order, ndim);
    else if (ndim > 1 && next(r) % 2)
        shuffle(r, order, (int)pick(r, 2, ndim)); /* only the inner axes */
    for (int i = 0; i < ndim; i++) {
        int a = order[i];
        if (shape[a] <= 1) {
            stride[a] = (int64_t)next(r);
            continue;
        }
        if (gaps && interleaved < 2 && next(r) % 3 == 0)
            step += pick(r, 1, 3) * (next(r) % 4 ? width : 1);
        int64_t by = interleaved == 1 ? 3 * step
                     : interleaved    ? interleave(interleaved) * step
                                      : step;
        stride[a] = reversed && next(r) % 2 ? -by : by;
        if (repeats && next(r) % 2)
            stride[a] = 0;
        else if (interleaved == 1)
            interleaved = shape[a];
        else if (interleaved) {
            step *= 3 * (interleaved - 1) + (shape[a] - 1) * interleave(interleaved) + 1;
            interleaved = 0;
        } else if (!(shared && next(r) % 2))
            step *= shape[a];
    }
    tn_tensor t;
    OK(tn_init_strided(&t, NULL, dtype, ndim, shape, stride));
    return t;
}

static inline int64_t pick_shift(rng *r, int64_t width)
{
    switch (next(r) % 4) {
    case 0:
        return pick(r, 0, 63);
    case 1:
        return pick(r, 0, 64 / width - 1) * width;
    default:
        return 0;
    }
}

#endif
