/* dims_oracle.h - pads, joins, tiles, repeats and rolls, one element at a time. */
#ifndef DIMS_ORACLE_H
#define DIMS_ORACLE_H

#include "layout.h"

typedef struct padded {
    int ndim;
    const int64_t *shape, *before; /* of src */
    tn_pad_mode mode;
} padded;

/* The index in src that corresponds to index i; -1: the constant. */
static inline int64_t place(tn_pad_mode mode, int64_t i, int64_t n)
{
    if (i >= 0 && i < n)
        return i;
    int64_t period = mode == TN_PAD_WRAP ? n : mode == TN_PAD_SYMMETRIC ? 2 * n : 2 * (n - 1);
    int64_t r = period > 0 ? (i % period + period) % period : 0;
    switch (mode) {
    case TN_PAD_EDGE:
        return i < 0 ? 0 : n - 1;
    case TN_PAD_WRAP:
        return r;
    case TN_PAD_SYMMETRIC:
        return r < n ? r : 2 * n - 1 - r;
    case TN_PAD_REFLECT:
        return r < n ? r : 2 * (n - 1) - r;
    default:
        return -1;
    }
}

static inline bool from_pad(const void *about, const int64_t *index, int64_t *from)
{
    const padded *p = about;
    for (int i = 0; i < p->ndim; i++) {
        from[i] = place(p->mode, index[i] - p->before[i], p->shape[i]);
        if (from[i] < 0)
            return false;
    }
    return true;
}

typedef struct joined {
    int dim, n;
    bool stacked;
    const block *srcs;
} joined;

/* Write the expected dst element by element. */
static inline void join_oracle(const tn_tensor *dst, const joined *j)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(dst) == 0)
        return;
    do {
        int64_t place = at[j->dim], from[TN_MAX_NDIM];
        int k = 0, n = 0;
        for (; !j->stacked && place >= j->srcs[k].t.shape[j->dim]; k++)
            place -= j->srcs[k].t.shape[j->dim];
        if (j->stacked)
            k = (int)place;
        for (int i = 0; i < dst->ndim; i++)
            if (i != j->dim)
                from[n++] = at[i];
            else if (!j->stacked)
                from[n++] = place;
        memcpy(element(dst, at), element(&j->srcs[k].t, from), tn_dtype_size(dst->dtype));
    } while (index_next(at, dst->ndim, dst->shape));
}

typedef struct moved {
    int ndim, dim;
    const int64_t *shape; /* of src */
    int64_t number;       /* repetitions or shift */
} moved;

static inline bool from_tile(const void *about, const int64_t *index, int64_t *from)
{
    const moved *m = about;
    for (int i = 0; i < m->ndim; i++)
        from[i] = index[i] % m->shape[i];
    return true;
}

static inline bool from_repeat(const void *about, const int64_t *index, int64_t *from)
{
    const moved *m = about;
    for (int i = 0; i < m->ndim; i++)
        from[i] = i == m->dim ? index[i] / m->number : index[i];
    return true;
}

static inline bool from_roll(const void *about, const int64_t *index, int64_t *from)
{
    const moved *m = about;
    for (int i = 0; i < m->ndim; i++) {
        int64_t n = m->shape[i], shift = i == m->dim ? m->number % n : 0;
        from[i] = ((index[i] - shift) % n + n) % n;
    }
    return true;
}

#endif
