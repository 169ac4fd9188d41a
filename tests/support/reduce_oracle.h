/* reduce_oracle.h - reductions one element at a time, with the tree that the header describes.
 *
 * A sequence is collected element by element; only the conversions of narrow floats are shared
 * with the library. */
#ifndef REDUCE_ORACLE_H
#define REDUCE_ORACLE_H

#include <math.h>

#include "core/core.h"
#include "layout.h"

typedef struct scalar { /* an element in all representations */
    double re, im;
    int64_t i; /* integers: the low 64 bits */
} scalar;

static inline bool is_unsigned(tn_dtype t)
{
    return t == TN_U8 || t == TN_U16 || t == TN_U32 || t == TN_U64;
}
static inline bool is_int(tn_dtype t)
{
    return t == TN_BOOL || t == TN_I8 || t == TN_I16 || t == TN_I32 || t == TN_I64 ||
           is_unsigned(t);
}
static inline bool is_wide(tn_dtype t) /* terms are f64 */
{
    return is_int(t) || t == TN_F64 || t == TN_C128;
}
static inline bool has_parts(tn_dtype t)
{
    return t == TN_C64 || t == TN_C128;
}

static inline scalar scalar_at(const char *p, tn_dtype t)
{
    scalar x = {0};
    int8_t i8;
    int16_t i16;
    int32_t i32;
    float f[2];
    double d[2];
    switch (t) {
    case TN_BOOL:
        x.i = *p != 0;
        break;
    case TN_I8:
        memcpy(&i8, p, 1), x.i = i8;
        break;
    case TN_U8:
        x.i = *(const uint8_t *)p;
        break;
    case TN_I16:
        memcpy(&i16, p, 2), x.i = i16;
        break;
    case TN_U16:
        memcpy(&i16, p, 2), x.i = (uint16_t)i16;
        break;
    case TN_I32:
        memcpy(&i32, p, 4), x.i = i32;
        break;
    case TN_U32:
        memcpy(&i32, p, 4), x.i = (uint32_t)i32;
        break;
    case TN_I64:
    case TN_U64:
        memcpy(&x.i, p, 8);
        break;
    case TN_F8E4M3:
        x.re = (double)tni_f32_of_f8e4m3(*(const uint8_t *)p);
        break;
    case TN_F8E5M2:
        x.re = (double)tni_f32_of_f8e5m2(*(const uint8_t *)p);
        break;
    case TN_F16:
        memcpy(&i16, p, 2), x.re = (double)tni_f32_of_f16((uint16_t)i16);
        break;
    case TN_BF16:
        memcpy(&i16, p, 2), x.re = (double)tni_f32_of_bf16((uint16_t)i16);
        break;
    case TN_F32:
        memcpy(f, p, 4), x.re = (double)f[0];
        break;
    case TN_F64:
        memcpy(&x.re, p, 8);
        break;
    case TN_C64:
        memcpy(f, p, 8), x.re = (double)f[0], x.im = (double)f[1];
        break;
    default:
        memcpy(d, p, 16), x.re = d[0], x.im = d[1];
    }
    if (is_int(t))
        x.re = t == TN_U64 ? (double)(uint64_t)x.i : (double)x.i;
    return x;
}

/* ---- the tree ---- */

static inline double combine(double a, double b, bool f32, bool product)
{
    if (f32)
        return (double)((float)a + (float)b);
    return product ? a * b : a + b;
}

static inline double tree_block(const double *x, int64_t n, bool f32, bool product)
{
    const double absent = product ? 1.0 : -0.0;
    double s[16];
    for (int l = 0; l < 16; l++) {
        s[l] = absent;
        for (int64_t t = 0; t < n; t += 128) {
            double r[8];
            for (int k = 0; k < 8; k++)
                r[k] = t + 16 * k + l < n ? x[t + 16 * k + l] : absent;
            for (int by = 1; by < 8; by *= 2)
                for (int k = 0; k < 8; k += 2 * by)
                    r[k] = combine(r[k], r[k + by], f32, product);
            s[l] = combine(s[l], r[0], false, product);
        }
    }
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            s[l] = combine(s[l], s[l + half], false, product);
    return s[0];
}

static inline int64_t first_half(int64_t n) /* the largest power of two of blocks below n */
{
    int64_t half = 2048;
    while (half * 2 < n)
        half *= 2;
    return half;
}

static inline double tree(const double *x, int64_t n, bool f32, bool product)
{
    if (n <= 2048)
        return tree_block(x, n, f32, product);
    const int64_t half = first_half(n);
    return combine(tree(x, half, f32, product), tree(x + half, n - half, f32, product), false,
                   product);
}

typedef struct spread {
    double n, mean, M;
} spread;

static inline spread moments(const double *x, int64_t n, bool skip)
{
    if (n > 2048) {
        const int64_t half = first_half(n);
        const spread a = moments(x, half, skip), b = moments(x + half, n - half, skip);
        if (a.n == 0 || b.n == 0)
            return a.n == 0 ? b : a;
        const double m = a.n + b.n, d = b.mean - a.mean;
        return (spread){m, a.mean + d * (b.n / m), (a.M + b.M) + d * d * (a.n * (b.n / m))};
    }
    double *d = malloc(((size_t)n + 1) * sizeof *d), count = 0, c = 0;
    for (int64_t i = n - 1; i >= 0; i--)
        if (!skip || !isnan(x[i]))
            c = x[i], count++;
    for (int64_t i = 0; i < n; i++)
        d[i] = skip && isnan(x[i]) ? -0.0 : x[i] - c;
    const double s = tree_block(d, n, false, false);
    for (int64_t i = 0; i < n; i++)
        d[i] = d[i] * d[i];
    const double q = tree_block(d, n, false, false);
    free(d);
    if (count == 0)
        return (spread){0};
    const double M = q - s * (s / count);
    return (spread){count, c + s / count, M < 0 ? 0 : M};
}

typedef struct two {
    double re, im;
} two;

static inline two two_mul(two a, two b)
{
    return (two){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static inline two two_prod(const scalar *x, int64_t n)
{
    if (n > 2048) {
        const int64_t half = first_half(n);
        return two_mul(two_prod(x, half), two_prod(x + half, n - half));
    }
    two s[16];
    for (int l = 0; l < 16; l++) {
        s[l] = (two){1, 0};
        for (int64_t t = 0; t < n; t += 128) {
            two r[8];
            for (int k = 0; k < 8; k++) {
                const int64_t i = t + 16 * k + l;
                r[k] = i < n ? (two){x[i].re, x[i].im} : (two){1, 0};
            }
            for (int by = 1; by < 8; by *= 2)
                for (int k = 0; k < 8; k += 2 * by)
                    r[k] = two_mul(r[k], r[k + by]);
            s[l] = two_mul(s[l], r[0]);
        }
    }
    for (int half = 8; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            s[l] = two_mul(s[l], s[l + half]);
    return s[0];
}

/* ---- the result of one sequence ---- */

static inline double magnitude(const scalar *x, tn_dtype t)
{
    if (!has_parts(t))
        return fabs(x->re);
    const double a = fabs(x->re), b = fabs(x->im);
    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (isinf(a) || isinf(b))
        return (double)INFINITY;
    if (t == TN_C64)
        return sqrt(x->re * x->re + x->im * x->im);
    const double most = a > b ? a : b, least = a > b ? b : a, q = most > 0 ? least / most : 0;
    return most * sqrt(1 + q * q);
}

static inline double term_of(tn_reduction op, double p, const scalar *x, tn_dtype t)
{
    const bool c = has_parts(t);
    if (op == TN_REDUCE_SUMSQ || (op == TN_REDUCE_NORM && p == 2))
        return c ? x->re * x->re + x->im * x->im : x->re * x->re;
    if (op == TN_REDUCE_NANPROD)
        return isnan(x->re) ? 1.0 : x->re;
    if (op == TN_REDUCE_NANSUM || op == TN_REDUCE_NANMEAN)
        return isnan(x->re) ? -0.0 : x->re;
    if (op != TN_REDUCE_NORM)
        return x->re;
    const double m = magnitude(x, t);
    if (p == 0)
        return isnan(m) ? m : m != 0;
    return p == 1 ? m : pow(m, p);
}

/* True if a exceeds b in the order of min (sign -1) or max (sign 1); with zeros, -0 is less
 * than +0. */
static inline bool exceeds(const scalar *a, const scalar *b, tn_dtype t, int sign, bool zeros)
{
    if (is_int(t)) {
        const bool more = is_unsigned(t) ? (uint64_t)a->i > (uint64_t)b->i : a->i > b->i;
        return sign > 0 ? more : a->i != b->i && !more;
    }
    if (isnan(a->re) || isnan(b->re))
        return isnan(a->re) && !isnan(b->re);
    if (zeros && a->re == 0 && b->re == 0)
        return sign > 0 ? !signbit(a->re) && signbit(b->re) : signbit(a->re) && !signbit(b->re);
    return sign > 0 ? a->re > b->re : a->re < b->re;
}

/* A sum of 64-bit integers in 128 bits, for machines without such a type. */
typedef struct exact_sum {
    uint64_t low, high;
} exact_sum;

static inline void exact_add(exact_sum *s, uint64_t x, bool negative)
{
    s->low += x;
    s->high += (uint64_t)(s->low < x) - negative;
}

/* s / n, rounded once: 63 bits of the quotient, the last one set if nonzero bits follow. */
static inline double exact_mean(exact_sum s, int64_t n)
{
    const bool minus = s.high >> 63;
    if (minus) {
        s.low = -s.low;
        s.high = ~s.high + !s.low;
    }
    uint64_t quotient = 0, rest = 0, digit, follows = 0;
    int bit = 128, dropped = 0;
    while (n > 0 && (bit > 0 || (!(quotient >> 62) && (quotient | rest)))) {
        bit--;
        digit = bit < 0 ? 0 : (bit > 63 ? s.high >> (bit - 64) : s.low >> bit) & 1;
        rest = 2 * rest + digit;
        digit = rest >= (uint64_t)n;
        rest -= digit * (uint64_t)n;
        follows |= quotient >> 62 ? digit : 0;
        dropped += quotient >> 62 ? 1 : 0;
        quotient = quotient >> 62 ? quotient : 2 * quotient + digit;
    }
    const double mean = ldexp((double)(quotient | follows | (rest != 0)), bit + dropped);
    return n == 0 ? NAN : minus ? -mean : mean;
}

typedef struct outcome {
    bool integer;
    uint64_t u;
    double re, im;
} outcome;

static inline outcome reduce_numbers(tn_reduction op, const double *params, tn_dtype t,
                                     const scalar *x, int64_t n)
{
    const double p = params ? params[0] : op == TN_REDUCE_NORM ? 2 : 0;
    outcome r = {0};
    int64_t numbers = 0, nonzero = 0, best = -1;
    double *terms = malloc(((size_t)n + 1) * sizeof *terms);
    for (int64_t i = 0; i < n; i++) {
        numbers += !isnan(x[i].re);
        nonzero += is_int(t) ? x[i].i != 0 : x[i].re != 0 || x[i].im != 0;
        terms[i] = term_of(op, p, &x[i], t);
    }
    const bool f32 = !is_wide(t);
    switch (op) {
    case TN_REDUCE_SUM:
    case TN_REDUCE_MEAN:
    case TN_REDUCE_NANSUM:
    case TN_REDUCE_NANMEAN:
        if (is_int(t)) {
            exact_sum s = {0, 0};
            for (int64_t i = 0; i < n; i++)
                exact_add(&s, (uint64_t)x[i].i, !is_unsigned(t) && x[i].i < 0);
            r.integer = op == TN_REDUCE_SUM;
            r.u = s.low;
            r.re = exact_mean(s, n);
            break;
        }
        r.re = tree(terms, n, f32, false) + 0.0;
        for (int64_t i = 0; i < n; i++)
            terms[i] = x[i].im;
        r.im = tree(terms, n, f32, false) + 0.0;
        if (op == TN_REDUCE_MEAN || op == TN_REDUCE_NANMEAN) {
            r.re /= (double)(op == TN_REDUCE_MEAN ? n : numbers);
            r.im /= (double)n;
        }
        break;
    case TN_REDUCE_PROD:
    case TN_REDUCE_NANPROD:
        r.integer = is_int(t);
        r.u = 1;
        for (int64_t i = 0; i < n; i++)
            r.u *= (uint64_t)x[i].i;
        r.re = has_parts(t) ? two_prod(x, n).re : tree(terms, n, false, true);
        r.im = has_parts(t) ? two_prod(x, n).im : 0;
        break;
    case TN_REDUCE_SUMSQ:
        r.integer = is_int(t);
        for (int64_t i = 0; i < n; i++)
            r.u += (uint64_t)x[i].i * (uint64_t)x[i].i;
        r.re = tree(terms, n, false, false) + 0.0;
        break;
    case TN_REDUCE_VAR:
    case TN_REDUCE_STD:
    case TN_REDUCE_NANVAR:
    case TN_REDUCE_NANSTD: {
        const bool skip = op == TN_REDUCE_NANVAR || op == TN_REDUCE_NANSTD;
        for (int64_t i = 0; i < n; i++)
            terms[i] = x[i].re;
        spread s = moments(terms, n, skip);
        for (int64_t i = 0; i < n && has_parts(t); i++)
            terms[i] = x[i].im;
        if (has_parts(t))
            s.M += moments(terms, n, skip).M;
        r.re = s.n == 0 ? (double)NAN : s.M / (s.n - p > 0 ? s.n - p : 0);
        if (op == TN_REDUCE_STD || op == TN_REDUCE_NANSTD)
            r.re = sqrt(r.re);
        break;
    }
    case TN_REDUCE_ANY:
    case TN_REDUCE_ALL:
    case TN_REDUCE_COUNT_NONZERO:
        r.integer = true;
        r.u = (uint64_t)(op == TN_REDUCE_ANY   ? nonzero > 0
                         : op == TN_REDUCE_ALL ? nonzero == n
                                               : nonzero);
        break;
    case TN_REDUCE_NORM:
        if (isinf(p)) {
            r.re = p > 0 ? 0 : (double)INFINITY;
            for (int64_t i = 0; i < n; i++) {
                const double m = magnitude(&x[i], t);
                if (!isnan(r.re))
                    r.re = isnan(m) ? m : (p > 0) == (m > r.re) ? m : r.re;
            }
            break;
        }
        r.re = tree(terms, n, f32 && (p == 1 || p == 0) && !has_parts(t), false) + 0.0;
        r.re = p == 0 || p == 1 ? r.re : p == 2 ? sqrt(r.re) : pow(r.re, 1 / p);
        break;
    case TN_REDUCE_LOGSUMEXP: {
        /* In f64, because memcheck's expl has less than 80 bits; the lost bits are added at the
         * end. */
        double most = -(double)INFINITY, s = 0, lost = 0;
        for (int64_t i = 0; i < n; i++)
            most = isnan(x[i].re) || isnan(most) ? (double)NAN
                   : x[i].re > most              ? x[i].re
                                                 : most;
        for (int64_t i = 0; i < n && isfinite(most); i++) {
            const double e = exp(x[i].re - most), next = s + e;
            lost += s > e ? (s - next) + e : (e - next) + s;
            s = next;
        }
        r.re = isfinite(most) ? most + log(s + lost) : most;
        break;
    }
    case TN_REDUCE_MIN:
    case TN_REDUCE_MAX:
    case TN_REDUCE_ARGMIN:
    case TN_REDUCE_ARGMAX:
    case TN_REDUCE_NANMIN:
    case TN_REDUCE_NANMAX: {
        const bool min =
            op == TN_REDUCE_MIN || op == TN_REDUCE_NANMIN || op == TN_REDUCE_ARGMIN;
        const bool skip = op == TN_REDUCE_NANMIN || op == TN_REDUCE_NANMAX;
        const bool place = op == TN_REDUCE_ARGMIN || op == TN_REDUCE_ARGMAX;
        for (int64_t i = 0; i < n; i++)
            if (!(skip && isnan(x[i].re)) &&
                (best < 0 || exceeds(&x[i], &x[best], t, min ? -1 : 1, !place)))
                best = i;
        r.integer = is_int(t) || place;
        r.u = place ? (uint64_t)best : best >= 0 ? (uint64_t)x[best].i : 0;
        r.re = best >= 0 ? x[best].re : (double)NAN;
        break;
    }
    default:
        abort(); /* a reduction without an oracle */
    }
    free(terms);
    return r;
}

/* ---- storing ---- */

static inline void put_real(char *d, tn_dtype t, double x)
{
    float f = isnan(x) ? tni_f32_from_bits(0x7fc00000u) : (float)x;
    uint64_t bits;
    uint16_t h;
    memcpy(&bits, &x, 8);
    if (isnan(x))
        bits = 0x7ff8000000000000u;
    switch (t) {
    case TN_F8E4M3:
        *d = (char)(isnan(x) ? 0x7f : tni_f8e4m3_of_f64(x));
        break;
    case TN_F8E5M2:
        *d = (char)(isnan(x) ? 0x7e : tni_f8e5m2_of_f64(x));
        break;
    case TN_F16:
        h = isnan(x) ? 0x7e00 : tni_f16_of_f64(x);
        memcpy(d, &h, 2);
        break;
    case TN_BF16:
        h = isnan(x) ? 0x7fc0 : tni_bf16_of_f64(x);
        memcpy(d, &h, 2);
        break;
    case TN_F32:
        memcpy(d, &f, 4);
        break;
    default:
        memcpy(d, &bits, 8);
    }
}

/* Fill with only two values: of equal elements the first one counts. */
static inline void fill_equal(rng *r, const tn_tensor *t)
{
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    const size_t width = tn_dtype_size(part);
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(t) == 0)
        return;
    do
        for (size_t k = 0; k < tn_dtype_size(t->dtype); k += width) {
            char *d = element(t, at) + k;
            const int one = (int)(next(r) % 2);
            memset(d, 0, width);
            if (is_int(part))
                *d = (char)one;
            else
                put_real(d, part, one);
        }
    while (index_next(at, t->ndim, t->shape));
}

static inline void put_outcome(char *d, tn_dtype t, const outcome *r)
{
    if (has_parts(t)) {
        put_real(d, t == TN_C64 ? TN_F32 : TN_F64, r->re);
        put_real(d + tn_dtype_size(t) / 2, t == TN_C64 ? TN_F32 : TN_F64, r->im);
    } else if (is_int(t)) {
        const uint8_t truth = r->u != 0;
        if (t == TN_BOOL)
            memcpy(d, &truth, 1);
        else
            memcpy(d, &r->u, tn_dtype_size(t)); /* little-endian */
    } else {
        put_real(d, t, r->re);
    }
}

/* Reduce the axes in the mask folded; dst has src's ndim. */
static inline void oracle_reduce(tn_reduction op, const double *params, const tn_tensor *dst,
                                 const tn_tensor *src, uint64_t folded)
{
    int64_t inner[TN_MAX_NDIM], n = 1;
    for (int i = 0; i < src->ndim; i++) {
        inner[i] = folded >> i & 1 ? src->shape[i] : 1;
        n *= inner[i];
    }
    if (tn_numel(dst) == 0)
        return;
    scalar *x = malloc(((size_t)n + 1) * sizeof *x);
    int64_t at[TN_MAX_NDIM] = {0};
    do {
        int64_t in[TN_MAX_NDIM] = {0}, i = 0;
        if (n > 0)
            do {
                int64_t both[TN_MAX_NDIM];
                for (int a = 0; a < src->ndim; a++)
                    both[a] = at[a] + in[a];
                x[i++] = scalar_at(element(src, both), src->dtype);
            } while (index_next(in, src->ndim, inner));
        const outcome r = reduce_numbers(op, params, src->dtype, x, n);
        put_outcome(element(dst, at), dst->dtype, &r);
    } while (index_next(at, dst->ndim, dst->shape));
    free(x);
}

#endif
