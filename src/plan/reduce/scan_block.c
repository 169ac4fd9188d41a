/* scan_block.c - scans of one block of a sequence, in f64 or in integers of 64 bits.
 *
 * A block may arrive in parts; `at` is the number of elements of the sequence before this
 * part. */
#include <math.h>

#include "scan_run.h"

/* The elements of a block as running values. */
typedef union wide_block {
    double f[2 * TNI_TREE_BLOCK];
    int64_t i[TNI_TREE_BLOCK];
    char bytes[2 * TNI_TREE_BLOCK * 8];
} wide_block;

static bool in_one_block(int64_t at, int64_t n)
{
    return at % TNI_SCAN_GROUP == 0 && n > 0 && at % TNI_TREE_BLOCK + n <= TNI_TREE_BLOCK;
}

static bool block_ends(int64_t at, int64_t n)
{
    return (at + n) % TNI_TREE_BLOCK == 0;
}

static void load_block(const tni_scan *s, wide_block *b, const char *x, int64_t n)
{
    tni_scan_cast(s->isa, s->src, s->wide, b->bytes, x, n);
}

static void store_block(const tni_scan *s, char *d, const wide_block *b, int64_t n)
{
    tni_scan_cast(s->isa, s->wide, s->dst, d, b->bytes, n);
}

void tni_scan_settle(double *x, int64_t n, bool sum)
{
    const double zero = sum ? 0.0 : -0.0;
    for (int64_t i = 0; i < n; i++)
        x[i] = isnan(x[i]) ? (double)NAN : x[i] + zero;
}

/* ---- sums and products of floats ---- */

static void begin_real(const tni_scan *s, int64_t at, int64_t n, tni_scan_state *run)
{
    ASSERT(in_one_block(at, n));
    if (at == 0)
        run->f = run->chain = tni_scan_absent(s);
}

static void end_real(const tni_scan *s, int64_t at, int64_t n, tni_scan_state *run)
{
    if (!block_ends(at, n))
        return;
    run->f = s->op == TN_SCAN_SUM ? run->f + run->chain : run->f * run->chain;
    run->chain = tni_scan_absent(s);
}

void tni_scan_block_moved(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                          tni_scan_state *run)
{
    const bool stream = s->stream && (uintptr_t)d % 32 == 0;
    begin_real(s, at, n, run);
    run->chain = tni_scan_sums_of(s)->line(d, x, n, run->f, run->chain, stream);
    end_real(s, at, n, run);
}

void tni_scan_block_real(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    const bool sum = s->op == TN_SCAN_SUM;
    wide_block b;
    load_block(s, &b, x, n);
    begin_real(s, at, n, run);
    run->chain = (sum ? k->sum : k->prod)(b.f, b.f, n, run->f, run->chain);
    end_real(s, at, n, run);
    tni_scan_settle(b.f, n, sum);
    store_block(s, d, &b, n);
}

/* ---- scans whose bits do not depend on the order of operations ---- */

void tni_scan_block_keys(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run)
{
    const tni_scan_extremes *k = tni_scan_extremes_of(s);
    ASSERT(in_one_block(at, n));
    run->i = k->line(d, x, n, at > 0 ? run->i : tni_scan_least(k), &s->rule);
}

void tni_scan_block_int(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                        tni_scan_state *run)
{
    wide_block b;
    ASSERT(in_one_block(at, n));
    load_block(s, &b, x, n);
    run->i = tni_kernels_of(s->isa)->scan->line_int(b.bytes, b.bytes, n, at > 0 ? run->i : 0);
    store_block(s, d, &b, n);
}

void tni_scan_block_words(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                          tni_scan_state *run)
{
    ASSERT(in_one_block(at, n));
    run->i = tni_kernels_of(s->isa)->scan->line_int(d, x, n, at > 0 ? run->i : 0);
}

void tni_scan_block_product(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                            tni_scan_state *run)
{
    wide_block b;
    ASSERT(in_one_block(at, n));
    load_block(s, &b, x, n);
    uint64_t product = at > 0 ? (uint64_t)run->i : 1;
    for (int64_t i = 0; i < n; i++) {
        product *= (uint64_t)b.i[i];
        b.i[i] = (int64_t)product;
    }
    run->i = (int64_t)product;
    store_block(s, d, &b, n);
}

/* The maximum of bools is whether one was true, the minimum whether all were. */
void tni_scan_block_bool(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run)
{
    const bool any = s->op == TN_SCAN_MAX;
    wide_block b;
    ASSERT(in_one_block(at, n));
    load_block(s, &b, x, n);
    int64_t so_far = at > 0 ? run->i : !any;
    for (int64_t i = 0; i < n; i++)
        b.i[i] = so_far = any ? so_far | b.i[i] : so_far & b.i[i];
    run->i = so_far;
    store_block(s, d, &b, n);
}

/* ---- logsumexp ---- */

/* run->f is the maximum, run->chain the sum of exp(x - maximum). */
void tni_scan_block_logsumexp(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                              tni_scan_state *run)
{
    wide_block b;
    ASSERT(in_one_block(at, n));
    load_block(s, &b, x, n);
    if (at == 0)
        run->f = -(double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double v = b.f[i];
        if (isnan(v) || isnan(run->f)) {
            run->f = (double)NAN;
        } else if (v > run->f) {
            run->chain = isinf(run->f) ? 1 : run->chain * exp(run->f - v) + 1;
            run->f = v;
        } else if (!isinf(run->f)) {
            run->chain += exp(v - run->f);
        }
        b.f[i] = isfinite(run->f) ? run->f + log(run->chain) : run->f;
    }
    tni_scan_settle(b.f, n, false);
    store_block(s, d, &b, n);
}

/* ---- products of complex numbers, in the same groups and chains as those of floats ---- */

static inline void times(double *r, const double *a, const double *b)
{
    const double re = a[0] * b[0] - a[1] * b[1];
    const double im = a[0] * b[1] + a[1] * b[0];
    r[0] = re, r[1] = im;
}

/* Compute a group of m <= TNI_SCAN_GROUP numbers in place, and advance the chain. */
static void complex_group(double *p, int64_t m, const double *before, double *chain)
{
    for (int64_t by = 1; by < TNI_SCAN_GROUP; by *= 2)
        for (int64_t i = m - 1; i >= by; i--)
            times(p + 2 * i, p + 2 * i, p + 2 * (i - by));
    const double last[2] = {p[2 * m - 2], p[2 * m - 1]};
    for (int64_t i = 0; i < m; i++) {
        double both[2];
        times(both, chain, p + 2 * i);
        times(p + 2 * i, before, both);
    }
    times(chain, chain, last);
}

void tni_scan_block_complex(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                            tni_scan_state *run)
{
    double before[2] = {1, 0}, chain[2] = {1, 0};
    wide_block b;
    ASSERT(in_one_block(at, n));
    load_block(s, &b, x, n);
    if (at > 0) {
        before[0] = run->f, before[1] = run->im;
        chain[0] = run->chain, chain[1] = run->chain_im;
    }
    for (int64_t g = 0; g < n; g += TNI_SCAN_GROUP)
        complex_group(b.f + 2 * g, n - g < TNI_SCAN_GROUP ? n - g : TNI_SCAN_GROUP, before,
                      chain);
    if (block_ends(at, n)) {
        times(before, before, chain);
        chain[0] = 1, chain[1] = 0;
    }
    *run = (tni_scan_state){
        .f = before[0], .im = before[1], .chain = chain[0], .chain_im = chain[1]};
    tni_scan_settle(b.f, 2 * n, false);
    store_block(s, d, &b, n);
}
