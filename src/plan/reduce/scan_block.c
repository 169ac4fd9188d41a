/* scan_block.c - running reductions of one block: groups of eight and their chain, in f64 or in
 * integers of 64 bits.
 *
 * A block may arrive in parts; at says how many elements came before in the sequence. */
#include <math.h>

#include "plan/plan.h"

double tni_scan_absent(const tni_scan *s)
{
    return s->op == TN_SCAN_SUM ? -0.0 : 1.0;
}

static bool block_ends(int64_t at, int64_t n)
{
    return (at + n) % TNI_TREE_BLOCK == 0;
}

static void scan_real(const tni_scan *s, double *d, const double *x, int64_t n, int64_t at,
                      tni_scan_state *run)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    const bool sum = s->op == TN_SCAN_SUM;
    if (at == 0)
        run->f = run->chain = tni_scan_absent(s);
    run->chain = (sum ? k->sum : k->prod)(d, x, n, run->f, run->chain);
    if (block_ends(at, n)) {
        run->f = sum ? run->f + run->chain : run->f * run->chain;
        run->chain = tni_scan_absent(s);
    }
}

/* NaN from the first one on; -0 is less than +0. */
static double further(double a, double b, bool most)
{
    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (a == b)
        return !signbit(a) == most ? a : b;
    return (a > b) == most ? a : b;
}

static void scan_extreme(const tni_scan *s, double *x, int64_t n, int64_t at,
                         tni_scan_state *run)
{
    if (at == 0)
        run->f = x[0];
    for (int64_t i = 0; i < n; i++)
        x[i] = run->f = further(run->f, x[i], s->op == TN_SCAN_MAX);
}

/* f is the largest, chain the sum. */
static void scan_logsumexp(double *x, int64_t n, int64_t at, tni_scan_state *run)
{
    if (at == 0)
        run->f = -(double)INFINITY;
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i];
        if (isnan(v) || isnan(run->f)) {
            run->f = (double)NAN;
        } else if (v > run->f) {
            run->chain = isinf(run->f) ? 1 : run->chain * exp(run->f - v) + 1;
            run->f = v;
        } else if (!isinf(run->f)) {
            run->chain += exp(v - run->f);
        }
        x[i] = isfinite(run->f) ? run->f + log(run->chain) : run->f;
    }
}

static void scan_integers(const tni_scan *s, tni_scan_block *b, int64_t n, int64_t at,
                          tni_scan_state *run)
{
    bool begun = at > 0;
    if (s->op == TN_SCAN_SUM) {
        run->i = tni_kernels_of(s->isa)->scan->line_int(b->i, n, begun ? run->i : 0);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        const uint64_t a = (uint64_t)run->i, x = b->u[i];
        const bool less = s->type == TNI_SCAN_UNSIGNED ? a < x : run->i < b->i[i];
        if (!begun)
            run->i = b->i[i];
        else if (s->op == TN_SCAN_PROD)
            run->i = (int64_t)(a * x);
        else if (less == (s->op == TN_SCAN_MAX))
            run->i = b->i[i];
        begun = true;
        b->i[i] = run->i;
    }
}

/* Products of complex numbers, by the same groups and chains. */
static void scan_complex(double *x, int64_t n, int64_t at, tni_scan_state *run)
{
    double before[2] = {1, 0}, chain[2] = {1, 0};
    if (at > 0) {
        before[0] = run->f, before[1] = run->im;
        chain[0] = run->chain, chain[1] = run->chain_im;
    }
#define TIMES(r, a, b)                                                                         \
    do {                                                                                       \
        const double re = (a)[0] * (b)[0] - (a)[1] * (b)[1];                                   \
        const double im = (a)[0] * (b)[1] + (a)[1] * (b)[0];                                   \
        (r)[0] = re, (r)[1] = im;                                                              \
    } while (0)
    for (int64_t g = 0; g < n; g += TNI_SCAN_GROUP) {
        double *p = x + 2 * g;
        const int64_t m = n - g < TNI_SCAN_GROUP ? n - g : TNI_SCAN_GROUP;
        for (int64_t by = 1; by < TNI_SCAN_GROUP; by *= 2)
            for (int64_t i = m - 1; i >= by; i--)
                TIMES(p + 2 * i, p + 2 * i, p + 2 * (i - by));
        const double last[2] = {p[2 * m - 2], p[2 * m - 1]};
        for (int64_t i = 0; i < m; i++) {
            double both[2];
            TIMES(both, chain, p + 2 * i);
            TIMES(p + 2 * i, before, both);
        }
        TIMES(chain, chain, last);
    }
    if (block_ends(at, n)) {
        TIMES(before, before, chain);
        chain[0] = 1, chain[1] = 0;
    }
    *run = (tni_scan_state){
        .f = before[0], .im = before[1], .chain = chain[0], .chain_im = chain[1]};
}

/* A computed NaN has one bit pattern, a sum that is zero one sign. */
void tni_scan_settle(double *x, int64_t n, bool sum)
{
    const double zero = sum ? 0.0 : -0.0;
    for (int64_t i = 0; i < n; i++)
        x[i] = isnan(x[i]) ? (double)NAN : x[i] + zero;
}

void tni_scan_one_block(const tni_scan *s, tni_scan_block *b, int64_t n, int64_t at,
                        tni_scan_state *run)
{
    if (s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED) {
        scan_integers(s, b, n, at, run);
        return;
    }
    if (s->type == TNI_SCAN_COMPLEX)
        scan_complex(b->f, n, at, run);
    else if (s->op == TN_SCAN_MAX || s->op == TN_SCAN_MIN)
        scan_extreme(s, b->f, n, at, run);
    else if (s->op == TN_SCAN_LOGSUMEXP)
        scan_logsumexp(b->f, n, at, run);
    else
        scan_real(s, b->f, b->f, n, at, run);
    tni_scan_settle(b->f, s->type == TNI_SCAN_COMPLEX ? 2 * n : n, s->op == TN_SCAN_SUM);
}
