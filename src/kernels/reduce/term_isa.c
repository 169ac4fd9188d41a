/* term_isa.c - terms of reductions for one instruction set: loops that the compiler
 * vectorises. */
#include "term.h"

#include "exp_lanes.h"
#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"

typedef float loose_f32 __attribute__((aligned(1), may_alias));
typedef double loose_f64 __attribute__((aligned(1), may_alias));

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define GET(T, p) (((const loose_##T *)(const void *)(p))[i])
#define PUT(T, p) (((loose_##T *)(void *)(p))[i])

/* LOAD and STORE: element i of type LOOSE. */
#define LOAD(p)  (((const LOOSE *)(const void *)(p))[i])
#define STORE(p) (((LOOSE *)(void *)(p))[i])

#define NAME(f) f##32
#define LOOSE   loose_f32
#define COUNTER int32_t
#include "term.inc"
#define NAME(f) f##64
#define LOOSE   loose_f64
#define COUNTER int64_t
#include "term.inc"

/* The real and the imaginary part of element i of c64 or c128. */
INLINE void parts(const char *s, int64_t i, bool wide, double *re, double *im)
{
    if (wide) {
        const loose_f64 *p = (const loose_f64 *)(const void *)s + 2 * i;
        *re = p[0], *im = p[1];
    } else {
        const loose_f32 *p = (const loose_f32 *)(const void *)s + 2 * i;
        *re = (double)p[0], *im = (double)p[1];
    }
}

static void complex_square(char *d, const char *s, int64_t n, bool wide)
{
    for (int64_t i = 0; i < n; i++) {
        double re, im;
        parts(s, i, wide, &re, &im);
        PUT(f64, d) = re * re + im * im;
    }
}

static void complex_abs(char *d, const char *s, int64_t n, bool wide)
{
    for (int64_t i = 0; i < n; i++) {
        double re, im;
        parts(s, i, wide, &re, &im);
        re = __builtin_fabs(re), im = __builtin_fabs(im);
        const double most = re > im ? re : im, least = re > im ? im : re;
        const double t = wide && most > 0 ? least / most : 0;
        const double size =
            wide ? most * __builtin_sqrt(1 + t * t) : __builtin_sqrt(re * re + im * im);
        const double special = re != re || im != im ? __builtin_nan("")
                               : re == __builtin_inf() || im == __builtin_inf()
                                   ? __builtin_inf()
                                   : 0;
        PUT(f64, d) = special != 0 ? special : size;
    }
}

static double max64(const char *s, int64_t n)
{
    /* Independent maxima: a single one would wait for itself at each element.
     * docs/investigations/reductions.md, "Reductions on Zen 3", compares one and sixteen. */
    enum { LANES = 16 };
    double most[LANES], nan[LANES];
    for (int l = 0; l < LANES; l++)
        most[l] = -__builtin_inf(), nan[l] = 0;
    for (int64_t at = 0; at + LANES <= n; at += LANES)
        for (int l = 0; l < LANES; l++) {
            const int64_t i = at + l;
            const double x = GET(f64, s);
            most[l] = x > most[l] ? x : most[l];
            nan[l] = x == x ? nan[l] : x;
        }
    for (int64_t i = n / LANES * LANES; i < n; i++) {
        most[0] = GET(f64, s) > most[0] ? GET(f64, s) : most[0];
        nan[0] = GET(f64, s) == GET(f64, s) ? nan[0] : GET(f64, s);
    }
    for (int l = 0; l < LANES; l++) {
        most[0] = most[l] > most[0] ? most[l] : most[0];
        nan[0] = nan[l] == nan[l] ? nan[0] : nan[l];
    }
    return nan[0] == nan[0] ? most[0] : nan[0];
}

static void exp64(char *d, const char *s, int64_t n, double c)
{
    INDEPENDENT for (int64_t i = 0; i < n; i++) PUT(f64, d) = exp_lane64(GET(f64, s) - c);
}

const tni_term_kernels TNI_TABLE(term) = {
    .abs32 = abs32,
    .abs64 = abs64,
    .square32 = square32,
    .square64 = square64,
    .mul32 = mul32,
    .mul64 = mul64,
    .nonzero32 = nonzero32,
    .nonzero64 = nonzero64,
    .complex_square = complex_square,
    .complex_abs = complex_abs,
    .numbers32 = numbers32,
    .numbers64 = numbers64,
    .tally32 = tally32,
    .tally64 = tally64,
    .distance32 = distance32,
    .distance64 = distance64,
    .distances32 = distances32,
    .distances64 = distances64,
    .max64 = max64,
    .exp64 = exp64,
};
