/* generate_isa.c - ranges and random numbers, compiled once for each instruction set.
 *
 * Only additions, multiplications, divisions and square roots are used, each rounded once, so
 * that results are bit-identical everywhere.  The object file exports its table and nothing
 * else. */
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/core.h"

#include "generate_table.h"
#include "kernels/table.h"
#include "philox.h"

#define INLINE static inline __attribute__((always_inline))

/* A strip of numbers before they are stored as their dtype. */
typedef union strip {
    double f[TNI_STRIP];
    int64_t i[TNI_STRIP];
} strip;

/* ---- random words ---- */

typedef struct words {
    uint64_t a[TNI_STRIP], b[TNI_STRIP];
} words;

static void draw(words *w, uint64_t seed, uint64_t index, int n)
{
    uint32_t c[4][TNI_STRIP];
    for (int i = 0; i < n; i++) {
        c[0][i] = (uint32_t)(index + (uint64_t)i);
        c[1][i] = (uint32_t)((index + (uint64_t)i) >> 32);
        c[2][i] = c[3][i] = 0;
    }
    tni_philox(c, n, seed);
    for (int i = 0; i < n; i++) {
        w->a[i] = c[0][i] | (uint64_t)c[1][i] << 32;
        w->b[i] = c[2][i] | (uint64_t)c[3][i] << 32;
    }
}

/* Convert 52 random bits to a number in [1, 2). */
INLINE double one_to_two(uint64_t bits)
{
    return tni_f64_from_bits(bits >> 12 | (uint64_t)1023 << 52);
}

/* ---- normal numbers: the Box-Muller method ---- */

/* The natural logarithm of x in (0, 1], within 2 ulp: x = m * 2^e with m near 1, and the series
 * of the inverse hyperbolic tangent for m. */
INLINE double log_of(double x)
{
    const uint64_t bits = tni_f64_bits(x);
    double e = tni_f64_from_bits(bits >> 52 | (uint64_t)0x433 << 52) - 0x1p52 - 1023;
    double m = tni_f64_from_bits((bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1023 << 52);
    const bool high = m > 1.4142135623730951;
    m = high ? m * 0.5 : m;
    e = high ? e + 1 : e;
    const double s = (m - 1) / (m + 1), q = s * s;
    double sum = 1.0 / 25;
    sum = sum * q + 1.0 / 23;
    sum = sum * q + 1.0 / 21;
    sum = sum * q + 1.0 / 19;
    sum = sum * q + 1.0 / 17;
    sum = sum * q + 1.0 / 15;
    sum = sum * q + 1.0 / 13;
    sum = sum * q + 1.0 / 11;
    sum = sum * q + 1.0 / 9;
    sum = sum * q + 1.0 / 7;
    sum = sum * q + 1.0 / 5;
    sum = sum * q + 1.0 / 3;
    return e * 0.6931471805599453 + (2 * s + 2 * s * q * sum);
}

/* The sine of x in [-pi/2, pi/2], within 2 ulp. */
INLINE double sin_of(double x)
{
    const double q = x * x;
    double sum = 1.0 / 51090942171709440000.0;
    sum = sum * q - 1.0 / 121645100408832000.0;
    sum = sum * q + 1.0 / 355687428096000.0;
    sum = sum * q - 1.0 / 1307674368000.0;
    sum = sum * q + 1.0 / 6227020800.0;
    sum = sum * q - 1.0 / 39916800.0;
    sum = sum * q + 1.0 / 362880.0;
    sum = sum * q - 1.0 / 5040.0;
    sum = sum * q + 1.0 / 120.0;
    sum = sum * q - 1.0 / 6.0;
    return x + x * q * sum;
}

/* sqrt(-2 log u) * cos(2 pi v); cos(2 pi v) is sin(2 pi (|v - 1/2| - 1/4)). */
static void make_randn(strip *out, const tni_generate *m, uint64_t index, int n)
{
    words w;
    draw(&w, m->seed, index, n);
    for (int i = 0; i < n; i++) {
        const double radius = sqrt(-2 * log_of(2 - one_to_two(w.a[i])));
        const double fold = fabs(one_to_two(w.b[i]) - 1.5) - 0.25;
        out->f[i] = radius * sin_of(6.283185307179586 * fold);
    }
}

/* ---- integers and ranges ---- */

/* The upper 64 bits of a product. */
INLINE uint64_t high_product(uint64_t a, uint64_t b)
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), more = a0 * b1 + (uint32_t)mid;
    return a1 * b1 + (mid >> 32) + (more >> 32);
}

static void make_randint(strip *out, const tni_generate *m, uint64_t index, int n)
{
    words w;
    draw(&w, m->seed, index, n);
    for (int i = 0; i < n; i++)
        out->i[i] = (int64_t)((uint64_t)m->first + high_product(w.a[i], m->count));
}

static void make_arange_f64(strip *out, const tni_generate *m, uint64_t index, int n)
{
    for (int i = 0; i < n; i++)
        out->f[i] = m->start + (double)(int64_t)(index + (uint64_t)i) * m->step;
}

static void make_arange_i64(strip *out, const tni_generate *m, uint64_t index, int n)
{
    for (int i = 0; i < n; i++)
        out->i[i] = (int64_t)((uint64_t)m->first + (index + (uint64_t)i) * (uint64_t)m->more);
}

/* ---- storing a strip as its dtype ---- */

typedef void (*put_fn)(char *d, const strip *in, int i);

INLINE void store_each(char *d, int64_t d_step, const strip *in, int n, put_fn put)
{
    for (int i = 0; i < n; i++)
        put(d + i * d_step, in, i);
}

/* clang-format off */
#define STORE(NAME, TYPE, VALUE)                                                               \
    INLINE void put_##NAME(char *d, const strip *in, int i)                                    \
    { const TYPE x = VALUE; memcpy(d, &x, sizeof x); }                                         \
    static void store_##NAME(char *d, int64_t d_step, const strip *in, int n)                  \
    { store_each(d, d_step, in, n, put_##NAME); }
/* clang-format on */
STORE(bool, uint8_t, in->i[i] != 0)
STORE(i8, uint8_t, (uint8_t)in->i[i])
STORE(i16, uint16_t, (uint16_t)in->i[i])
STORE(i32, uint32_t, (uint32_t)in->i[i])
STORE(i64, int64_t, in->i[i])
STORE(f64, double, in->f[i])
STORE(f32, float, (float)in->f[i])
STORE(f8e4m3, uint8_t, tni_f8e4m3_of_f64(in->f[i]))
STORE(f8e5m2, uint8_t, tni_f8e5m2_of_f64(in->f[i]))
STORE(f16, uint16_t, tni_f16_of_f64(in->f[i]))
STORE(bf16, uint16_t, tni_bf16_of_f64(in->f[i]))

typedef struct pair_f32 {
    float re, im;
} pair_f32;
typedef struct pair_f64 {
    double re, im;
} pair_f64;
#define PAIR(TYPE, X) ((TYPE){X, 0})
STORE(c64, pair_f32, PAIR(pair_f32, (float)in->f[i]))
STORE(c128, pair_f64, PAIR(pair_f64, in->f[i]))

typedef void (*store_fn)(char *d, int64_t d_step, const strip *in, int n);

static const struct {
    store_fn store;
    bool integer; /* converted from i64, otherwise from f64 */
} stores[] = {
    [TN_BOOL] = {store_bool, true},      [TN_I8] = {store_i8, true},
    [TN_I16] = {store_i16, true},        [TN_I32] = {store_i32, true},
    [TN_I64] = {store_i64, true},        [TN_U8] = {store_i8, true},
    [TN_U16] = {store_i16, true},        [TN_U32] = {store_i32, true},
    [TN_U64] = {store_i64, true},        [TN_F8E4M3] = {store_f8e4m3, false},
    [TN_F8E5M2] = {store_f8e5m2, false}, [TN_F16] = {store_f16, false},
    [TN_BF16] = {store_bf16, false},     [TN_F32] = {store_f32, false},
    [TN_F64] = {store_f64, false},       [TN_C64] = {store_c64, false},
    [TN_C128] = {store_c128, false},
};

static void to_floats(strip *s, int n)
{
    for (int i = 0; i < n; i++)
        s->f[i] = (double)s->i[i];
}

static void make_strip(strip *out, const tni_generate *m, bool integer, uint64_t index, int n)
{
    if (m->maker == TNI_RANDN)
        make_randn(out, m, index, n);
    else if (m->maker == TNI_RANDINT)
        make_randint(out, m, index, n);
    else if (integer)
        make_arange_i64(out, m, index, n);
    else
        make_arange_f64(out, m, index, n);
    if (m->maker == TNI_RANDINT && !integer)
        to_floats(out, n);
}

static void generate_run(const tni_generate *m, char *d, int64_t d_step, int64_t n,
                         uint64_t index)
{
    const bool integer = stores[m->dtype].integer;
    for (int64_t i = 0; i < n; i += TNI_STRIP) {
        strip s;
        const int now = n - i < TNI_STRIP ? (int)(n - i) : TNI_STRIP;
        make_strip(&s, m, integer, index + (uint64_t)i, now);
        stores[m->dtype].store(d + i * d_step, d_step, &s, now);
    }
}

const tni_generate_kernels TNI_TABLE(generate) = {.run = generate_run};
