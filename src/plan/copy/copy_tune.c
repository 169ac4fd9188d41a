/* copy_tune.c - chooses tuning parameters by measuring copies.
 *
 * Candidates are interleaved and the least time of each counts: the load of other processes
 * slows some runs and never speeds one up. */
#include <string.h>
#include <time.h>

#include "plan/plan.h"
#include "runtime/runtime.h"
#include "view/view.h"

enum { TRIES = 3, MOST = 1 + TRIES * TNI_TUNED, LEAST_ROUNDS = 3 };

static double copy_seconds(const tni_copy *c, char *d, const char *s)
{
    struct timespec a, b;
    clock_gettime(CLOCK_MONOTONIC, &a);
    tni_copy_run(c, d, s);
    clock_gettime(CLOCK_MONOTONIC, &b);
    return (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec);
}

/* The fastest of n plans, measured for about this many milliseconds; the first one unless
 * another is faster by 3 percent. */
static int quickest(int n, const tni_copy *c, char *d, const char *s, double milliseconds)
{
    double best[MOST], spent = 0;
    for (int i = 0; i < n; i++)
        best[i] = 1e30;
    for (int round = 0; round < LEAST_ROUNDS || spent < milliseconds / 1e3; round++) {
        for (int i = 0; i < n; i++) {
            const double t = copy_seconds(&c[i], d, s);
            best[i] = t < best[i] ? t : best[i];
            spent += t;
        }
        if (round > 1000)
            break;
    }
    int first = 0;
    for (int i = 1; i < n; i++)
        if (best[i] < 0.97 * best[0] && (first == 0 || best[i] < best[first]))
            first = i;
    return first;
}

/* Values worth trying. */
static const int64_t tries[TNI_TUNED][TRIES] = {
    [TNI_ROWS_DIRECT] = {128, 512, 1024},
    [TNI_LINE_PIECE] = {128, 256, 512},
    [TNI_CARRIED_RUN] = {16, 1000, 1 << 30},
};

/* Candidates: the current parameters, and each of them changed. */
static int candidates(tni_tuning *t)
{
    int n = 1;
    t[0] = tni_tuning_now();
    for (int k = 0; k < TNI_TUNED; k++)
        for (int i = 0; i < TRIES; i++)
            if (tries[k][i] != t[0].number[k]) {
                t[n] = t[0];
                t[n++].number[k] = tries[k][i];
            }
    return n;
}

void tni_copy_tune(tni_copy *c, const tn_tensor *dst, const tn_tensor *src, char *d,
                   const char *s, double milliseconds)
{
    tni_tuning t[MOST];
    tni_copy all[MOST];
    if (!c->beyond) /* in a cache there is nothing to tune */
        return;
    const int n = candidates(t);
    const int64_t address = (int64_t)(((uintptr_t)d + (uintptr_t)c->shift_d) & 63);
    for (int i = 0; i < n; i++)
        tni_copy_plan_with(&all[i], dst, src, address, &t[i]);
    *c = all[quickest(n, all, d, s, milliseconds)];
}

/* ---- tuning each parameter ---- */

/* A copy that depends on the parameter: dst is row-major, src has its axes in this order. */
static const struct {
    tni_tuned_number number;
    int64_t shape[4];
    int order[4]; /* of src's axes, outermost first */
} shows[] = {
    {TNI_ROWS_DIRECT, {64, 128, 16, 64}, {2, 1, 0, 3}},
    {TNI_LINE_PIECE, {1, 1, 2880, 2912}, {0, 1, 3, 2}},
    {TNI_CARRIED_RUN, {32, 64, 64, 64}, {3, 2, 1, 0}}, /* at most 32 MB each */
};

static void tune_number(int k, char *d, char *s, double milliseconds)
{
    const tni_tuned_number which = shows[k].number;
    tn_tensor dst = {.dtype = TN_F32, .ndim = 4, .device = TN_CPU, .data = d}, src = dst;
    int64_t d_step = 4, s_step = 4;
    for (int i = 3; i >= 0; i--) {
        dst.shape[i] = src.shape[i] = shows[k].shape[i];
        dst.stride[i] = d_step;
        d_step *= shows[k].shape[i];
        src.stride[shows[k].order[i]] = s_step;
        s_step *= shows[k].shape[shows[k].order[i]];
    }
    tni_tuning t = tni_tuning_now();
    int64_t value[1 + TRIES] = {t.number[which]};
    tni_copy c[1 + TRIES];
    int n = 1;
    for (int i = 0; i < TRIES; i++)
        if (tries[which][i] != value[0])
            value[n++] = tries[which][i];
    for (int i = 0; i < n; i++) {
        t.number[which] = value[i];
        tni_copy_plan_with(&c[i], &dst, &src, 0, &t);
    }
    tni_tune_set(which, value[quickest(n, c, d, s, milliseconds)]);
}

tn_status tn_tune(double milliseconds)
{
    enum { BYTES = 32 << 20 }; /* the largest of shows */
    if (!(milliseconds >= 0))
        return tni_fail(TN_EARG, "tune: milliseconds is %g, expected 0 or more", milliseconds);
    char *d = tni_alloc(BYTES), *s = tni_alloc(BYTES);
    if (d && s) {
        memset(d, 0, BYTES);
        memset(s, 1, BYTES);
        for (int k = 0; k < COUNT(shows); k++)
            tune_number(k, d, s, milliseconds / COUNT(shows));
    }
    const bool ok = d && s;
    tni_free(d);
    tni_free(s);
    return ok ? TN_OK
              : tni_fail(TN_ENOMEM, "tune: cannot allocate 2 buffers of %d bytes", BYTES);
}
