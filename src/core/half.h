/* half.h - conversions of the narrow floats f16, bf16, f8e4m3 and f8e5m2, held as bits, to and
 * from f32 and f64.
 *
 * A conversion to f32 is exact.  A conversion to a narrow float rounds once, to nearest even:
 * f64 and 64-bit integers are first rounded to odd, which keeps the second rounding correct.
 * NaN stays NaN and keeps its sign; overflow gives infinity, or NaN in f8e4m3, which has no
 * infinity.  No branch depends on the value, so that loops over these functions vectorize. */
#ifndef TNI_HALF_H
#define TNI_HALF_H

#include <stdint.h>
#include <string.h>

static inline uint32_t tni_f32_bits(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float tni_f32_from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double tni_f64_from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint64_t tni_f64_bits(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* Round a finite f32 to a format of mant mantissa bits and this bias; x and the result are bits
 * without the sign.  Values beyond the range of the format give bits above those of
 * infinity. */
static inline uint32_t tni_small_round(uint32_t x, int mant, int bias)
{
    const int shift = 23 - mant;
    const uint32_t least = (uint32_t)(128 - bias) << 23; /* the smallest normal number */
    const uint32_t even = (x >> shift) & 1;
    const uint32_t normal =
        (x + ((1u << (shift - 1)) - 1) + even - ((uint32_t)(127 - bias) << 23)) >> shift;
    /* a float whose last bit is worth one step of the subnormals: adding it rounds to that
     * step */
    const uint32_t magic = (uint32_t)(128 - bias + shift) << 23;
    const uint32_t tiny =
        tni_f32_bits(tni_f32_from_bits(x < least ? x : 0) + tni_f32_from_bits(magic)) - magic;
    return x < least ? tiny : normal;
}

/* Widen the bits x of a finite number of such a format to those of f32, both without the
 * sign. */
static inline uint32_t tni_small_widen(uint32_t x, int mant, int bias)
{
    const int shift = 23 - mant;
    const uint32_t normal = (x << shift) + ((uint32_t)(127 - bias) << 23);
    const uint32_t magic = (uint32_t)(128 - bias) << 23;
    const uint32_t tiny =
        tni_f32_bits(tni_f32_from_bits((x << shift) | magic) - tni_f32_from_bits(magic));
    return x >> mant ? normal : tiny;
}

/* ---- to f32 ---- */

static inline float tni_f32_of_f16(uint16_t h)
{
    const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, x = h & 0x7fffu;
    const uint32_t special = 0x7f800000u | x << 13 | (x > 0x7c00u ? 0x400000u : 0);
    return tni_f32_from_bits(sign | (x >= 0x7c00u ? special : tni_small_widen(x, 10, 15)));
}

static inline float tni_f32_of_bf16(uint16_t h)
{
    return tni_f32_from_bits((uint32_t)h << 16);
}

static inline float tni_f32_of_f8e4m3(uint8_t b)
{
    const uint32_t sign = (uint32_t)(b & 0x80u) << 24, x = b & 0x7fu;
    return tni_f32_from_bits(sign | (x == 0x7fu ? 0x7fc00000u : tni_small_widen(x, 3, 7)));
}

static inline float tni_f32_of_f8e5m2(uint8_t b)
{
    return tni_f32_of_f16((uint16_t)(b << 8));
}

/* ---- from f32 ---- */

static inline uint16_t tni_f16_of_f32(float f)
{
    const uint32_t bits = tni_f32_bits(f), sign = bits >> 16 & 0x8000u, x = bits & 0x7fffffffu;
    const uint32_t nan = 0x7e00u | (x >> 13 & 0x3ffu);
    const uint32_t r = tni_small_round(x, 10, 15);
    return (uint16_t)(sign | (x > 0x7f800000u ? nan : r < 0x7c00u ? r : 0x7c00u));
}

/* Round the bits of an f32 so that their upper half is a bf16; the lower half becomes garbage.
 * The f32 is not NaN, or is a NaN whose lower half is 0. */
static inline uint32_t tni_bf16_rounded(uint32_t bits)
{
    return bits + 0x7fffu + (bits >> 16 & 1);
}

/* As tni_bf16_rounded, for any f32. */
static inline uint32_t tni_bf16_above(uint32_t bits)
{
    return (bits & 0x7fffffffu) > 0x7f800000u ? bits | 0x400000u : tni_bf16_rounded(bits);
}

static inline uint16_t tni_bf16_of_f32(float f)
{
    return (uint16_t)(tni_bf16_above(tni_f32_bits(f)) >> 16);
}

static inline uint8_t tni_f8e4m3_of_f32(float f)
{
    const uint32_t bits = tni_f32_bits(f), sign = bits >> 24 & 0x80u, x = bits & 0x7fffffffu;
    const uint32_t r = tni_small_round(x, 3, 7);
    return (uint8_t)(sign | (x >= 0x7f800000u || r > 0x7fu ? 0x7fu : r));
}

static inline uint8_t tni_f8e5m2_of_f32(float f)
{
    const uint32_t bits = tni_f32_bits(f), sign = bits >> 24 & 0x80u, x = bits & 0x7fffffffu;
    const uint32_t nan = 0x7eu | (x >> 21 & 0x3u);
    const uint32_t r = tni_small_round(x, 2, 15);
    return (uint8_t)(sign | (x > 0x7f800000u ? nan : r < 0x7cu ? r : 0x7cu));
}

/* ---- from wider numbers, through a value rounded to odd ---- */

/* d as f32, rounded to odd: exact, or the neighbour whose last bit is 1. */
static inline float tni_f32_odd(double d)
{
    const float f = (float)d;
    const uint32_t bits = tni_f32_bits(f);
    const double back = (double)f, far = back < 0 ? -back : back, mag = d < 0 ? -d : d;
    const uint32_t odd = far > mag ? bits - 1 : bits + 1;
    return far == mag || d != d || (bits & 1) ? f : tni_f32_from_bits(odd);
}

/* An integer as f64, to be rounded again: exact below 2^53; above, exact or rounded to an odd
 * multiple of 2^11, which keeps more bits than f32 has. */
static inline double tni_f64_odd_i64(int64_t i)
{
    const uint64_t u = i < 0 ? 0 - (uint64_t)i : (uint64_t)i;
    const uint64_t low = u & 0x7ffu;
    const uint64_t odd = u >> 53 && low ? (u - low) | 0x800u : u;
    return i < 0 ? -(double)odd : (double)odd;
}

static inline double tni_f64_odd_u64(uint64_t u)
{
    const uint64_t low = u & 0x7ffu;
    return (double)(u >> 53 && low ? (u - low) | 0x800u : u);
}

static inline uint16_t tni_f16_of_f64(double d)
{
    return tni_f16_of_f32(tni_f32_odd(d));
}

static inline uint16_t tni_bf16_of_f64(double d)
{
    return tni_bf16_of_f32(tni_f32_odd(d));
}

static inline uint8_t tni_f8e4m3_of_f64(double d)
{
    return tni_f8e4m3_of_f32(tni_f32_odd(d));
}

static inline uint8_t tni_f8e5m2_of_f64(double d)
{
    return tni_f8e5m2_of_f32(tni_f32_odd(d));
}

#endif
