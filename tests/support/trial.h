/* trial.h - one random call of test_oracle: drawn, made with two numbers of threads, compared,
 * and added to the digest. */
#ifndef TRIAL_H
#define TRIAL_H

#include "dims_oracle.h"
#include "draw.h"
#include "ops_oracle.h"

enum { AXES = 8, MOST_THREADS = 8 };

static tn_handle *team[MOST_THREADS + 1];

typedef struct trial {
    rng r;
    int threads[2];
    uint64_t digest;
    char said[2000]; /* message of the first failure */
} trial;

/* ---- the trial of one call ---- */

typedef tn_status (*call_fn)(const tn_tensor *dst, const void *about);

static bool miss(trial *t, const char *what, const tn_tensor *dst, const tn_tensor *src)
{
    if (!*t->said)
        snprintf(t->said, sizeof t->said, "%s %s, %d and %d threads: dst [%s] src %s [%s]",
                 what, tn_dtype_name(dst->dtype), t->threads[0], t->threads[1], describe(dst),
                 src ? tn_dtype_name(src->dtype) : "", src ? describe(src) : "");
    return false;
}

/* Memcheck computes long double in 64 bits; under it results are computed but not compared. */
static bool can_compare(void)
{
    volatile long double small = 0x1p-60L;
    return 1 + small != 1;
}

static void digest_bytes(trial *t, const char *p, size_t n)
{
    for (size_t step; n > 0; p += step, n -= step) {
        uint64_t word = 0;
        step = n < sizeof word ? n : sizeof word;
        memcpy(&word, p, step);
        t->digest = (t->digest ^ word) * 0x9e3779b97f4a7c15u;
        t->digest ^= t->digest >> 29;
    }
}

/* Add every element to the digest; all NaNs are equal. */
static void digest_elements(trial *t, const tn_tensor *d)
{
    int64_t at[TN_MAX_NDIM] = {0};
    const size_t width = tn_dtype_size(d->dtype);
    const bool floats = is_float(d->dtype) || is_complex(d->dtype);
    if (tn_numel(d) == 0)
        return;
    do {
        const char *p = element(d, at);
        const number x = number_at(d->dtype, p);
        if (floats && (isnan(x.f) || isnan(x.im)))
            digest_bytes(t, "NaN", 3);
        else
            digest_bytes(t, p, width);
    } while (index_next(at, d->ndim, d->shape));
}

/* Make the call with two numbers of threads; the bytes must be equal, and equal to want if
 * given. */
static bool settle(trial *t, const char *what, ground *dst, const ground *want, call_fn call,
                   const void *about, const tn_tensor *src)
{
    ground twin = ground_twin(dst);
    OK(tn_handle_use(team[t->threads[0]]));
    bool good = call(&dst->t, about) == TN_OK || miss(t, tn_error(), &dst->t, src);
    OK(tn_handle_use(team[t->threads[1]]));
    good = good && (call(&twin.t, about) == TN_OK || miss(t, tn_error(), &dst->t, src));
    if (good && !same_ground(dst, &twin))
        good = miss(t, "threads differ", &dst->t, src) && miss(t, what, &dst->t, src);
    if (good && want && !same_ground(dst, want))
        good = miss(t, what, &dst->t, src);
    ground_free(&twin);
    return good;
}

/* A tensor of random bytes with any order of axes, gaps, reversed axes, at any address. */
static ground draw_ground(rng *r, tn_dtype dtype, int ndim, const int64_t *shape, bool source)
{
    const tn_tensor t = pick_layout(r, dtype, ndim, shape, source);
    return ground_make(r, &t, pick_shift(r, (int64_t)tn_dtype_size(dtype)));
}

/* Draw up to 8 axes; occasionally enough elements for several threads. */
static int draw_shape(rng *r, int64_t *shape, int64_t width)
{
    const uint64_t kind = next(r) % 512;
    int ndim;
    do
        ndim = pick_shape(r, shape, kind < 1 ? 400000 / width : kind < 80 ? 2000 : 150);
    while (ndim > AXES);
    return ndim;
}

static int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

static int64_t row_major(int ndim, const int64_t *shape, const int64_t *at)
{
    int64_t flat = 0;
    for (int i = 0; i < ndim; i++)
        flat = flat * shape[i] + at[i];
    return flat;
}

static void index_of(int64_t flat, int ndim, const int64_t *shape, int64_t *at)
{
    for (int i = ndim - 1; i >= 0; i--) {
        at[i] = flat % shape[i];
        flat /= shape[i];
    }
}

#endif
