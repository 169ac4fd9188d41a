/* contract_oracle.h - an einsum by slow loops: one product for every combination of indices.
 *
 * Floats are summed in long double together with the sum of magnitudes, from which the error
 * bound of contract.h follows; integers wrap at 64 bits; bool is "or" of "and". */
#ifndef CONTRACT_ORACLE_H
#define CONTRACT_ORACLE_H

#include <float.h>
#include <math.h>

#include "core/core.h"
#include "layout.h"

enum { ORACLE_LETTERS = 128 };

typedef struct oracle_number {
    long double re, im;
    uint64_t bits; /* integers and bool */
} oracle_number;

static inline oracle_number oracle_read(tn_dtype t, const char *at)
{
    oracle_number x = {0, 0, 0};
    union {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        uint8_t u8;
        uint16_t u16;
        uint32_t u32;
        uint64_t u64;
        float f32[2];
        double f64[2];
    } u;
    memcpy(&u, at, tn_dtype_size(t));
    switch (t) {
    case TN_BOOL:
        x.bits = u.u8 != 0;
        break;
    case TN_I8:
        x.bits = (uint64_t)(int64_t)u.i8;
        break;
    case TN_I16:
        x.bits = (uint64_t)(int64_t)u.i16;
        break;
    case TN_I32:
        x.bits = (uint64_t)(int64_t)u.i32;
        break;
    case TN_I64:
        x.bits = (uint64_t)u.i64;
        break;
    case TN_U8:
        x.bits = u.u8;
        break;
    case TN_U16:
        x.bits = u.u16;
        break;
    case TN_U32:
        x.bits = u.u32;
        break;
    case TN_U64:
        x.bits = u.u64;
        break;
    case TN_F8E4M3:
        x.re = tni_f32_of_f8e4m3(u.u8);
        break;
    case TN_F8E5M2:
        x.re = tni_f32_of_f8e5m2(u.u8);
        break;
    case TN_F16:
        x.re = tni_f32_of_f16(u.u16);
        break;
    case TN_BF16:
        x.re = tni_f32_of_bf16(u.u16);
        break;
    case TN_F32:
        x.re = u.f32[0];
        break;
    case TN_F64:
        x.re = u.f64[0];
        break;
    case TN_C64:
        x.re = u.f32[0];
        x.im = u.f32[1];
        break;
    case TN_C128:
        x.re = u.f64[0];
        x.im = u.f64[1];
        break;
    }
    const int kind = tni_dtypes[t].kind;
    if (kind <= TNI_UNSIGNED)
        x.re = kind == TNI_UNSIGNED || kind == TNI_BOOL ? (long double)x.bits
                                                        : (long double)(int64_t)x.bits;
    return x;
}

/* Fill with small numbers, some with a fraction, whose sums are floats; or, if integers wrap,
 * with random bits. */
static inline void oracle_fill(rng *r, const tn_tensor *t, bool wrap)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(t) == 0)
        return;
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    do {
        char *e = element(t, at);
        for (size_t i = 0; i < tn_dtype_size(t->dtype); i += tn_dtype_size(part)) {
            const int64_t over = pick(r, -64, 64), shift = pick(r, 0, 4); /* in this order */
            const float f = (float)over / (float)(1 << shift);
            const double d = f;
            const uint64_t bits = wrap ? next(r) : (uint64_t)pick(r, 0, 64);
            const uint16_t half = part == TN_F16 ? tni_f16_of_f32(f) : tni_bf16_of_f32(f);
            const uint8_t eight =
                part == TN_F8E4M3 ? tni_f8e4m3_of_f32(f) : tni_f8e5m2_of_f32(f);
            const void *from = part == TN_F32                           ? (const void *)&f
                               : part == TN_F64                         ? (const void *)&d
                               : part == TN_F16 || part == TN_BF16      ? (const void *)&half
                               : part == TN_F8E4M3 || part == TN_F8E5M2 ? (const void *)&eight
                                                                        : (const void *)&bits;
            memcpy(e + i, from, tn_dtype_size(part));
        }
    } while (index_next(at, t->ndim, t->shape));
}

/* One element of dst: the sum over all letters that dst lacks. */
typedef struct oracle_sum {
    oracle_number sum;
    long double magnitude, growth; /* growth: maximum factor of an error in one operand */
    int64_t terms;
    bool any;
} oracle_sum;

static inline oracle_number oracle_times(oracle_number a, oracle_number b)
{
    return (oracle_number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re,
                           a.bits * b.bits};
}

/* letters: the axes of each tensor as a string, dst's first; extent: by letter; index: dst's
 * letters are set by the caller. */
static inline oracle_sum oracle_element(int n, const char *const *letters,
                                        const tn_tensor *const *srcs, const int64_t *extent,
                                        int64_t *index)
{
    oracle_sum s = {{0, 0, 0}, 0, 0, 0, false};
    char summed[ORACLE_LETTERS];
    int count = 0;
    for (int c = 0; c < ORACLE_LETTERS; c++) {
        bool used = false;
        for (int k = 0; k < n; k++)
            used |= c && strchr(letters[k + 1], c) != NULL;
        if (used && !strchr(letters[0], c)) {
            summed[count++] = (char)c;
            index[c] = 0;
            if (extent[c] == 0)
                return s;
        }
    }
    for (;;) {
        oracle_number product = {1, 0, 1};
        long double magnitude = 1, growth = 1;
        for (int k = 0; k < n; k++) {
            const char *at = srcs[k]->data;
            for (int i = 0; letters[k + 1][i]; i++)
                if (srcs[k]->shape[i] != 1)
                    at += index[(int)letters[k + 1][i]] * srcs[k]->stride[i];
            const oracle_number x = oracle_read(srcs[k]->dtype, at);
            product = oracle_times(product, x);
            magnitude *= fabsl(x.re) + fabsl(x.im);
            growth *= fmaxl(1, fabsl(x.re) + fabsl(x.im));
        }
        s.sum.re += product.re;
        s.sum.im += product.im;
        s.sum.bits += product.bits;
        s.any |= product.bits != 0;
        s.magnitude += magnitude;
        s.growth += growth;
        s.terms++;
        int i = count - 1;
        for (; i >= 0; i--) {
            if (++index[(int)summed[i]] < extent[(int)summed[i]])
                break;
            index[(int)summed[i]] = 0;
        }
        if (i < 0)
            return s;
    }
}

/* Maximum error of a result in dtype dst. */
static inline long double oracle_bound(const oracle_sum *s, tn_dtype met, tn_dtype dst)
{
    const bool wide = met == TN_F64 || met == TN_C128, pairs = met == TN_C64 || met == TN_C128;
    const long double eps = wide ? 0x1p-53L : 0x1p-24L;
    /* A subnormal product is rounded by up to half of the smallest number, however small it is
     * itself; the remaining factors amplify that error. */
    const long double tiny = wide ? 0x1p-1075L : 0x1p-150L;
    const long double bound = (pairs ? 3 : 1) * (long double)(s->terms + 16) *
                              (eps * s->magnitude + tiny * s->growth);
    const long double value = fabsl(s->sum.re) + fabsl(s->sum.im) + bound;
    const long double rounding = dst == TN_F8E5M2   ? 0x1p-3L
                                 : dst == TN_F8E4M3 ? 0x1p-4L
                                 : dst == TN_F16    ? 0x1p-11L
                                 : dst == TN_BF16   ? 0x1p-8L
                                                    : eps;
    const long double least = dst == TN_F8E5M2   ? 0x1p-17L
                              : dst == TN_F8E4M3 ? 0x1p-10L
                              : dst == TN_F16    ? 0x1p-25L
                              : dst == TN_BF16   ? 0x1p-134L
                                                 : tiny;
    return bound + value * rounding + least;
}

/* True if dst's element is within the bound of the sum. */
static inline bool oracle_close(const oracle_sum *s, tn_dtype met, tn_dtype dst, const char *at)
{
    const oracle_number got = oracle_read(dst, at);
    if (dst == TN_BOOL)
        return *at == (char)s->any;
    if (tni_dtypes[dst].kind <= TNI_UNSIGNED)
        return !memcmp(at, &s->sum.bits, tn_dtype_size(dst));
    const bool wide = met == TN_F64 || met == TN_C128;
    const long double most = dst == TN_F16      ? 65504
                             : dst == TN_F8E4M3 ? 448
                             : dst == TN_F8E5M2 ? 57344
                                                : FLT_MAX;
    const long double bound = oracle_bound(s, met, dst);
    const bool narrow = dst != TN_F64 && dst != TN_C128;
    if ((narrow && fabsl(s->sum.re) + fabsl(s->sum.im) + bound > most) ||
        (!wide && s->growth > FLT_MAX)) /* the result or a product may overflow */
        return !isfinite(got.re) || !isfinite(got.im) ||
               (fabsl(got.re - s->sum.re) <= bound && fabsl(got.im - s->sum.im) <= bound);
    return fabsl(got.re - s->sum.re) <= bound && fabsl(got.im - s->sum.im) <= bound;
}

#endif
