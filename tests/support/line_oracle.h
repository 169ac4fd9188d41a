/* line_oracle.h - operations along one axis, element by element: scans, norms of rows,
 * order. */
#ifndef LINE_ORACLE_H
#define LINE_ORACLE_H

#include "reduce_oracle.h"

/* ---- scans ---- */

/* Scan groups of 8, chain the groups of a block of 2048, then chain the blocks. */
static inline void naive_run(two *y, const scalar *x, int64_t n, bool product)
{
    const two none = product ? (two){1, 0} : (two){-0.0, -0.0};
#define JOIN2(a, b) (product ? two_mul(a, b) : (two){(a).re + (b).re, (a).im + (b).im})
    two before = none;
    for (int64_t b = 0; b < n; b += 2048) {
        two chain = none;
        for (int64_t g = b; g < n && g < b + 2048; g += 8) {
            two p[8], q[8];
            for (int i = 0; i < 8; i++)
                p[i] = g + i < n ? (two){x[g + i].re, x[g + i].im} : none;
            for (int by = 1; by < 8; by *= 2) {
                memcpy(q, p, sizeof q);
                for (int i = by; i < 8; i++)
                    p[i] = JOIN2(q[i], q[i - by]);
            }
            for (int i = 0; i < 8 && g + i < n; i++) {
                const two c = JOIN2(chain, p[i]);
                y[g + i] = JOIN2(before, c);
            }
            chain = JOIN2(chain, p[7]);
        }
        before = JOIN2(before, chain);
    }
}

static inline void naive_line(outcome *out, tn_scan_op op, tn_dtype t, const scalar *x,
                              int64_t n)
{
    static const tn_reduction like[] = {TN_REDUCE_SUM, TN_REDUCE_PROD, TN_REDUCE_MAX,
                                        TN_REDUCE_MIN, TN_REDUCE_LOGSUMEXP};
    two *y = malloc(((size_t)n + 1) * sizeof *y);
    if (!is_int(t) && op <= TN_SCAN_PROD) {
        scalar *real = malloc(((size_t)n + 1) * sizeof *real);
        memcpy(real, x, (size_t)n * sizeof *real);
        if (op == TN_SCAN_PROD && !has_parts(t)) { /* real products have no imaginary part */
            two *z = y;
            double before = 1;
            for (int64_t b = 0; b < n; b += 2048) {
                double chain = 1;
                for (int64_t g = b; g < n && g < b + 2048; g += 8) {
                    double p[8], q[8];
                    for (int i = 0; i < 8; i++)
                        p[i] = g + i < n ? x[g + i].re : 1;
                    for (int by = 1; by < 8; by *= 2) {
                        memcpy(q, p, sizeof q);
                        for (int i = by; i < 8; i++)
                            p[i] = q[i] * q[i - by];
                    }
                    for (int i = 0; i < 8 && g + i < n; i++)
                        z[g + i] = (two){before * (chain * p[i]), 0};
                    chain *= p[7];
                }
                before *= chain;
            }
        } else {
            naive_run(y, real, n, op == TN_SCAN_PROD);
        }
        for (int64_t i = 0; i < n; i++)
            out[i] =
                (outcome){.re = y[i].re + (op ? -0.0 : 0.0), .im = y[i].im + (op ? -0.0 : 0.0)};
        free(real);
    } else {
        for (int64_t i = 0; i < n; i++)
            out[i] = reduce_numbers(like[op], NULL, t, x, i + 1);
    }
    free(y);
}

static inline void naive_scan(tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                              int dim)
{
    int64_t at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM];
    const int64_t n = src->shape[dim], more = dst->shape[dim] - n;
    memcpy(lines, src->shape, sizeof lines);
    lines[dim] = 1;
    if (tn_numel(dst) == 0)
        return;
    scalar *x = malloc(((size_t)n + 1) * sizeof *x);
    outcome *y = malloc(((size_t)n + 1) * sizeof *y);
    do {
        int64_t i[TN_MAX_NDIM];
        memcpy(i, at, sizeof i);
        for (i[dim] = 0; i[dim] < n; i[dim]++)
            x[i[dim]] = scalar_at(element(src, i), src->dtype);
        naive_line(y, op, src->dtype, x, n);
        i[dim] = 0;
        const outcome begin = {.u = op == TN_SCAN_PROD,
                               .re = op == TN_SCAN_PROD        ? 1
                                     : op == TN_SCAN_LOGSUMEXP ? -(double)INFINITY
                                                               : 0};
        if (more)
            put_outcome(element(dst, i), dst->dtype, &begin);
        for (int64_t k = 0; k < n; k++) {
            i[dim] = k + more;
            put_outcome(element(dst, i), dst->dtype, &y[k]);
        }
    } while (index_next(at, src->ndim, lines));
    free(x);
    free(y);
}

/* ---- norms: bit-identical results of every row ---- */

/* The row of src along dim that contains index at, as numbers. */
static inline double *row_of(const tn_tensor *t, const int64_t *at, int dim)
{
    double *x = malloc(((size_t)t->shape[dim] + 1) * sizeof *x);
    int64_t i[TN_MAX_NDIM];
    memcpy(i, at, sizeof i);
    for (i[dim] = 0; i[dim] < t->shape[dim]; i[dim]++)
        x[i[dim]] = scalar_at(element(t, i), t->dtype).re;
    return x;
}

static inline double as_float(double x, bool f64)
{
    return f64 ? x : (double)(float)x;
}

/* Compute one row: kind 0 is rms_norm, 1 layer_norm. */
static inline void norm_row(char *d, int64_t step, tn_dtype t, const double *x, int64_t n,
                            const tn_tensor *w, const tn_tensor *b, double eps, int kind)
{
    const bool f64 = t == TN_F64;
    double *terms = malloc(((size_t)n + 1) * sizeof *terms), r, mean = 0;
    if (kind == 0) {
        for (int64_t i = 0; i < n; i++)
            terms[i] = x[i] * x[i];
        r = as_float(1 / sqrt(tree(terms, n, false, false) / (double)n + eps), f64);
    } else {
        const spread s = moments(x, n, false);
        mean = s.mean;
        r = 1 / sqrt(s.M / (double)n + eps);
    }
    for (int64_t i = 0; i < n; i++) {
        double y = kind ? as_float((x[i] - mean) * r, f64) : as_float(x[i] * r, f64);
        if (w)
            y = as_float(y * scalar_at(element(w, &i), w->dtype).re, f64);
        if (b)
            y = as_float(y + scalar_at(element(b, &i), b->dtype).re, f64);
        put_real(d + i * step, t, y);
    }
    free(terms);
}

static inline void norm_all(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *w,
                            const tn_tensor *b, double eps, int kind)
{
    int64_t at[TN_MAX_NDIM] = {0}, lines[TN_MAX_NDIM];
    const int last = src->ndim - 1;
    memcpy(lines, src->shape, sizeof lines);
    lines[last] = 1;
    if (tn_numel(src) == 0)
        return;
    do {
        double *x = row_of(src, at, last);
        norm_row(element(dst, at), dst->stride[last], dst->dtype, x, src->shape[last], w, b,
                 eps, kind);
        free(x);
    } while (index_next(at, src->ndim, lines));
}

/* ---- rotation: bit-identical ---- */

static inline void rotate_all(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *sine,
                              const tn_tensor *cosine, bool pairs)
{
    int64_t at[TN_MAX_NDIM] = {0}, half[TN_MAX_NDIM], x[TN_MAX_NDIM], y[TN_MAX_NDIM];
    const int last = src->ndim - 1;
    const bool f64 = src->dtype == TN_F64;
    memcpy(half, src->shape, sizeof half);
    half[last] /= 2;
    if (tn_numel(src) == 0)
        return;
    do {
        memcpy(x, at, sizeof x), memcpy(y, at, sizeof y);
        x[last] = pairs ? 2 * at[last] : at[last];
        y[last] = pairs ? x[last] + 1 : at[last] + half[last];
        const double a = scalar_at(element(src, x), src->dtype).re,
                     b = scalar_at(element(src, y), src->dtype).re,
                     s = scalar_at(element(sine, at), sine->dtype).re,
                     c = scalar_at(element(cosine, at), cosine->dtype).re;
        const float fa = (float)a, fb = (float)b, fs = (float)s, fc = (float)c;
        const float p = fa * fc, q = fb * fs, v = fa * fs, w = fb * fc;
        put_real(element(dst, x), dst->dtype, f64 ? a * c - b * s : (double)(p - q));
        put_real(element(dst, y), dst->dtype, f64 ? a * s + b * c : (double)(v + w));
    } while (index_next(at, src->ndim, half));
}

/* ---- softmax ---- */

/* Softmax or, with log_of, log_softmax of the first `seen` elements, in long double. */
static inline void softmax_row(long double *y, const double *x, int64_t n, int64_t seen,
                               bool log_of)
{
    long double most = -(long double)INFINITY, sum = 0;
    bool nan = false;
    for (int64_t i = 0; i < seen; i++) {
        nan |= isnan(x[i]);
        most = x[i] > (double)most ? (long double)x[i] : most;
    }
    nan |= isinf((double)most);
    for (int64_t i = 0; i < seen; i++)
        sum += expl((long double)x[i] - most);
    for (int64_t i = 0; i < n; i++) {
        const long double d = (long double)x[i] - most;
        y[i] = i >= seen ? 0 : nan ? (long double)NAN : log_of ? d - logl(sum) : expl(d) / sum;
    }
}

/* ---- order ---- */

/* True if a sorts before b.  NaN is greatest, -0 equals +0. */
static inline bool before(const scalar *a, const scalar *b, tn_dtype t)
{
    if (is_int(t))
        return is_unsigned(t) ? (uint64_t)a->i < (uint64_t)b->i : a->i < b->i;
    if (isnan(a->re) || isnan(b->re))
        return !isnan(a->re) && isnan(b->re);
    return a->re < b->re;
}

/* Sort indices by insertion, stably. */
static inline void naive_order(int64_t *at, const scalar *x, int64_t n, tn_dtype t,
                               bool descending)
{
    for (int64_t i = 0; i < n; i++) {
        int64_t j = i;
        for (; j > 0; j--) {
            const scalar *a = &x[at[j - 1]], *b = &x[i];
            if (descending ? !before(a, b, t) : !before(b, a, t))
                break;
            at[j] = at[j - 1];
        }
        at[j] = i;
    }
}

#endif
