/* view_oracle.h - random layouts, and the addresses of their elements computed the slow way.
 *
 * Addresses are only numbers: nothing is read through them. */
#ifndef VIEW_ORACLE_H
#define VIEW_ORACLE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "view/view.h"

/* ---- pseudo-random numbers, the same in every run ---- */

typedef struct dice {
    uint64_t state;
} dice;

static inline uint64_t roll(dice *d)
{
    uint64_t x = d->state += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A number in [low, high]. */
static inline int64_t between(dice *d, int64_t low, int64_t high)
{
    return low + (int64_t)(roll(d) % (uint64_t)(high - low + 1));
}

static inline bool once_in(dice *d, int n)
{
    return roll(d) % (uint64_t)n == 0;
}

/* ---- layouts ---- */

static inline int64_t garbage(dice *d)
{
    static const int64_t odd[] = {INT64_MIN, INT64_MAX, 0, -1, 1, INT64_MIN + 1};
    const uint64_t i = roll(d) % 8;
    return i < 6 ? odd[i] : (int64_t)roll(d);
}

/* Draw any layout: permuted, with gaps, reversed, broadcast or wild; strides of axes with
 * extent 0 and 1 are garbage; rank 0 to 6, occasionally up to 64. */
static inline void random_layout(dice *d, tn_tensor *t, int most)
{
    memset(t, 0x5a, sizeof *t);
    t->data = (void *)(UINTPTR_MAX / 16 + (uintptr_t)(roll(d) % 4096));
    t->dtype = (tn_dtype)between(d, TN_BOOL, TN_C128);
    t->device = once_in(d, 8) ? 7 : TN_CPU;
    t->flags = once_in(d, 2) ? TN_READONLY : 0;
    t->ndim = (int)(once_in(d, 40) ? between(d, 7, TN_MAX_NDIM) : between(d, 0, 6));
    const bool wild = once_in(d, 4);
    int64_t step = (int64_t)tn_dtype_size(t->dtype);
    int order[TN_MAX_NDIM], long_axes = 0;
    for (int i = 0; i < t->ndim; i++) {
        order[i] = i;
        const bool may = t->ndim <= 6 || (long_axes < 5 && once_in(d, 8));
        t->shape[i] = may ? between(d, once_in(d, 8) ? 0 : 1, most) : 1;
        long_axes += t->shape[i] > 1;
    }
    if (once_in(d, 2))
        for (int i = t->ndim - 1; i > 0; i--) {
            const int j = (int)between(d, 0, i), keep = order[i];
            order[i] = order[j];
            order[j] = keep;
        }
    for (int k = t->ndim - 1; k >= 0; k--) {
        const int i = order[k];
        if (t->shape[i] < 2) {
            t->stride[i] = garbage(d);
            continue;
        }
        if (once_in(d, 6))
            step += between(d, 1, 3) * (int64_t)tn_dtype_size(t->dtype);
        t->stride[i] = wild ? between(d, -40, 40) : once_in(d, 6) ? 0 : step;
        if (once_in(d, 5))
            t->stride[i] = -t->stride[i];
        step *= t->shape[i];
    }
}

/* ---- slow computations ---- */

static inline int64_t slow_count(int ndim, const int64_t *shape)
{
    for (int i = 0; i < ndim; i++)
        if (shape[i] == 0)
            return 0;
    int64_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= shape[i];
    return count;
}

/* The index of element number flat in row-major order. */
static inline void slow_index(int64_t flat, int ndim, const int64_t *shape, int64_t *index)
{
    for (int i = ndim - 1; i >= 0; i--) {
        index[i] = flat % shape[i];
        flat /= shape[i];
    }
}

static inline uint64_t slow_address(const tn_tensor *t, const int64_t *index)
{
    uint64_t at = (uintptr_t)t->data;
    for (int i = 0; i < t->ndim; i++)
        for (int64_t k = 0; k < index[i]; k++)
            at += (uint64_t)t->stride[i];
    return at;
}

/* A layout as text for messages. */
static inline const char *layout_text(const tn_tensor *t)
{
    static char text[4000];
    size_t used = 0;
    for (int i = 0; i < t->ndim && used < sizeof text - 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, " %lld:%lld",
                                 (long long)t->shape[i], (long long)t->stride[i]);
    if (t->ndim == 0)
        text[0] = 0;
    return text;
}

#endif
