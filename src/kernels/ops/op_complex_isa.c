/* op_complex_isa.c - the ops on complex numbers, and the choice between elements of 16 bytes,
 * for one instruction set.
 *
 * c64 computes in f64 and rounds each part once; both divide by Smith's rule, which does not
 * overflow on the way: by zero each part is divided, and by infinity a finite number is zero.
 */
#include "op_loop.h"

/* Side by side, products and sums of the two parts become fmaddsub in gcc 12 even with
 * -ffp-contract=off, and bits would depend on the level. */
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

static inline c128 neg_c128(c128 x)
{
    return (c128){-x.re, -x.im};
}

static inline c128 square_c128(c128 x)
{
    return (c128){(x.re - x.im) * (x.re + x.im), 2 * x.re * x.im};
}

static inline double abs_c128(c128 x)
{
    const double a = __builtin_fabs(x.re), b = __builtin_fabs(x.im);
    const double big = a > b ? a : b, small = a > b ? b : a;
    /* Powers of two keep the squares in range and change no bit. */
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

static inline float abs_c64(c64 x)
{
    const c128 a = wide(x);
    const bool infinite = __builtin_fabs(a.re) == INFINITY || __builtin_fabs(a.im) == INFINITY;
    return infinite ? INFINITY : (float)__builtin_sqrt(a.re * a.re + a.im * a.im);
}

#define add_c64(x, y) narrow(add_c128(wide(x), wide(y)))
#define sub_c64(x, y) narrow(sub_c128(wide(x), wide(y)))
#define mul_c64(x, y) narrow(mul_c128(wide(x), wide(y)))
#define div_c64(x, y) narrow(div_c128(wide(x), wide(y)))
#define neg_c64(x)    narrow(neg_c128(wide(x)))
#define square_c64(x) narrow(square_c128(wide(x)))
#define eq_c64(x, y)  eq_c128(wide(x), wide(y))
#define ne_c64(x, y)  ne_c128(wide(x), wide(y))

/* Kernels: structs move by copies, so that elements have any alignment. */
#define CALL1(FUNCTION) FUNCTION(x)
#define CALL2(FUNCTION) FUNCTION(x, y)
#define PAIRS(NAME, ARITY, X, R, FUNCTION)                                                     \
    INLINE void NAME##_block(BLOCK_HEAD)                                                       \
    {                                                                                          \
        UNUSED_SOURCES;                                                                        \
        for (size_t j = 0; j < TNI_BLOCK / sizeof(X); j++) {                                   \
            X x, y;                                                                            \
            memcpy(&x, a + j * sizeof x, sizeof x);                                            \
            memcpy(&y, b + j * sizeof y, sizeof y);                                            \
            (void)y;                                                                           \
            const R r = CALL##ARITY(FUNCTION);                                                 \
            memcpy(d + j * sizeof r, &r, sizeof r);                                            \
        }                                                                                      \
    }                                                                                          \
    KERNEL(NAME, ARITY, TNI_BLOCK / sizeof(X) * sizeof(R))

#define GIVES_SAME(X) X
#define GIVES_TEST(X) uint8_t
#define GIVES_REAL(X) REAL_##X
#define REAL_c64      float
#define REAL_c128     double
#define MAKE_NONE(ENUM, ARITY, HOW, RULE)
#define MAKE_PAIR(ENUM, ARITY, HOW, RULE)                                                      \
    PAIRS(ENUM##_C64, ARITY, c64, GIVES_##HOW(c64), RULE##_c64)                                \
    PAIRS(ENUM##_C128, ARITY, c128, GIVES_##HOW(c128), RULE##_c128)
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    MAKE_##COMPLEX(ENUM, ARITY, HOW, CRULE)
#include "ops.def"
#undef OP

INLINE void pick_16_block(BLOCK_HEAD)
{
    UNUSED_SOURCES;
    for (int j = 0; j < TNI_BLOCK / 16; j++) {
        char element[16];
        memcpy(element, (a[j] ? b : c) + 16 * j, 16);
        memcpy(d + 16 * j, element, 16);
    }
}
KERNEL(pick_16, 3, TNI_BLOCK)

#define ROW_NONE(ENUM)
#define ROW_PAIR(ENUM) [TN_##ENUM] = {ENUM##_C64, ENUM##_C128},

const tni_complex_ops TNI_TABLE(complex_ops) = {
#define OP(ENUM, NAME, ARITY, HOW, PARAMS, INT, IRULE, FLOAT, FRULE, COMPLEX, CRULE)           \
    ROW_##COMPLEX(ENUM)
#include "ops.def"
#undef OP
    [TN_WHERE] = {NULL, pick_16},
};
