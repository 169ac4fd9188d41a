/* op_complex_isa.c - the ops on complex numbers, and selection between elements of 16 bytes,
 * for one instruction set.
 *
 * c64 computes in f64 and rounds each part once.  Both dtypes divide by Smith's method, which
 * does not overflow in between: by zero each part is divided, and a finite number divided by
 * infinity is zero. */
#include "op_loop.h"

/* gcc 12 combines adjacent products and sums of the two parts into fmaddsub even with
 * -ffp-contract=off, which would make bits depend on the level. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

typedef struct c64 {
    float re, im;
} c64;
typedef struct c128 {
    double re, im;
} c128;

static inline c128 wide(c64 x)
{
    return (c128){x.re, x.im};
}

static inline c64 narrow(c128 x)
{
    return (c64){(float)x.re, (float)x.im};
}

static inline c128 add_c128(c128 x, c128 y)
{
    return (c128){x.re + y.re, x.im + y.im};
}

static inline c128 sub_c128(c128 x, c128 y)
{
    return (c128){x.re - y.re, x.im - y.im};
}

static inline c128 mul_c128(c128 x, c128 y)
{
    return (c128){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

static inline c128 div_c128(c128 x, c128 y)
{
    const bool flat = __builtin_fabs(y.re) >= __builtin_fabs(y.im);
    const double big = flat ? y.re : y.im, small = flat ? y.im : y.re;
    const double ratio = big == 0 ? 0 : small / big, scale = big + small * ratio;
    const double re = flat ? x.re + x.im * ratio : x.re * ratio + x.im;
    const double im = flat ? x.im - x.re * ratio : x.im * ratio - x.re;
    return (c128){re / scale, im / scale};
}

static inline c128 neg_c128(c128 x, c128 y)
{
    (void)y;
    return (c128){-x.re, -x.im};
}

static inline c128 square_c128(c128 x, c128 y)
{
    (void)y;
    return (c128){(x.re - x.im) * (x.re + x.im), 2 * x.re * x.im};
}

static inline double abs_c128(c128 x, c128 y)
{
    (void)y;
    const double a = __builtin_fabs(x.re), b = __builtin_fabs(x.im);
    const double big = a > b ? a : b, small = a > b ? b : a;
    /* Scaling by a power of two keeps the squares in range and is exact. */
    const double up = big > 0x1p500 ? 0x1p-600 : big < 0x1p-500 ? 0x1p600 : 1;
    const double p = big * up, q = small * up;
    const bool infinite = a == INFINITY || b == INFINITY;
    return infinite ? INFINITY : __builtin_sqrt(p * p + q * q) / up;
}

static inline bool eq_c128(c128 x, c128 y)
{
    return x.re == y.re && x.im == y.im;
}

static inline bool ne_c128(c128 x, c128 y)
{
    return !eq_c128(x, y);
}

#include "math/op_complex.h"

/* Kernels.  Structs are accessed by memcpy, so elements have any alignment.  A computed NaN
 * part is the positive quiet one without payload. */
typedef c128 pair_rule(c128 x, c128 y);
typedef double real_rule(c128 x, c128 y);
typedef bool test_rule(c128 x, c128 y);

INLINE double quiet(double r)
{
    return r == r ? r : (double)NAN;
}

INLINE c128 pair_at(const char *s, size_t j, size_t width)
{
    if (width == sizeof(c64)) {
        c64 x;
        memcpy(&x, s + j * sizeof x, sizeof x);
        return wide(x);
    }
    c128 x;
    memcpy(&x, s + j * sizeof x, sizeof x);
    return x;
}

/* Loops over blocks of elements of `width` bytes: c64 or c128. */
INLINE void pair_block(BLOCK_HEAD, size_t width, pair_rule *rule)
{
    (void)c, (void)param;
    for (size_t j = 0; j < TNI_BLOCK / width; j++) {
        const c128 v = rule(pair_at(a, j, width), pair_at(b, j, width));
        const c128 r = {quiet(v.re), quiet(v.im)};
        const c64 half = narrow(r);
        memcpy(d + j * width, width == sizeof half ? (const void *)&half : &r, width);
    }
}

INLINE void real_block(BLOCK_HEAD, size_t width, real_rule *rule)
{
    (void)c, (void)param;
    for (size_t j = 0; j < TNI_BLOCK / width; j++) {
        const double r = quiet(rule(pair_at(a, j, width), pair_at(b, j, width)));
        const float half = (float)r;
        memcpy(d + j * width / 2, width == sizeof(c64) ? (const void *)&half : &r, width / 2);
    }
}

INLINE void test_block(BLOCK_HEAD, size_t width, test_rule *rule)
{
    (void)c, (void)param;
    for (size_t j = 0; j < TNI_BLOCK / width; j++)
        d[j] = rule(pair_at(a, j, width), pair_at(b, j, width));
}

/* clang-format off */
#define LOOP_SAME(RULE)     pair_block, TNI_BLOCK, RULE
#define LOOP_DIVIDE         LOOP_SAME
#define LOOP_REAL(RULE)     real_block, TNI_BLOCK / 2, RULE
#define LOOP_COMPARE(RULE)  test_block, TNI_BLOCK / WIDTH, RULE
#define PAIRS(NAME, ARITY, X, LOOP, BYTES, RULE) \
    INLINE void NAME##_block(BLOCK_HEAD) { enum { WIDTH = sizeof(X) }; LOOP(BLOCK_ARGS, WIDTH, RULE); } \
    static void NAME(HEAD) { enum { WIDTH = sizeof(X) }; op_blocks_either(HEAD_ARGS, ARITY, BYTES, NAME##_block); }
#define PAIRS_(...) PAIRS(__VA_ARGS__)
#define ON_PAIR(ENUM, ARITY, DT, PARAMS, RULE) \
    PAIRS_(ENUM##_C64, ARITY, c64, LOOP_##DT(RULE##_c128)) \
    PAIRS_(ENUM##_C128, ARITY, c128, LOOP_##DT(RULE##_c128))
#define OP_COMPLEX
#include "op_rows.h"
/* clang-format on */

INLINE void pick_16_block(BLOCK_HEAD)
{
    (void)param;
    for (int j = 0; j < TNI_BLOCK / 16; j++) {
        char element[16];
        memcpy(element, (a[j] ? b : c) + 16 * j, 16);
        memcpy(d + 16 * j, element, 16);
    }
}
KERNEL(pick_16, 3, TNI_BLOCK)

/* clang-format off */
const tni_complex_ops TNI_TABLE(complex_ops) = {
#define ON_PAIR(ENUM, ...) [TN_##ENUM] = {ENUM##_C64, ENUM##_C128},
#define OP_COMPLEX
#include "op_rows.h"
    [TN_WHERE] = {NULL, pick_16},
};
/* clang-format on */
