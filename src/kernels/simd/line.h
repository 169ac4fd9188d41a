/* line.h - a cache line in registers, and lines assembled from the bytes of two others.
 *
 *     last       |aaaaaaaaaaaaaaaa|
 *     now                         |bbbbbbbbbbbbbbbb|
 *     line_pair          |aaaaaabbbbbbbbbb|           the last n bytes of one, then the other
 *
 * n is any number below 64.  A line_shift encodes n; line_prepare converts a line to the form
 * that line_pair takes for that shift.  HAVE_LINE: the instruction set has the byte shuffles
 * for it. */
#ifndef TNI_LINE_H
#define TNI_LINE_H

#include "simd.h"

#if defined(__AVX2__) || defined(__aarch64__)
#define HAVE_LINE
enum { LINE_PARTS = 4 / WIDEST, PART_BYTES = 16 * WIDEST };

typedef struct line64 {
    JOIN(vec, WIDEST) part[LINE_PARTS];
} line64;

INLINE line64 line_load(const char *s)
{
    line64 v;
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        memcpy(&v.part[i], s + i * PART_BYTES, PART_BYTES);
    return v;
}

INLINE void line_store(char *d, line64 v)
{
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        JOIN(store, WIDEST)(d + i * PART_BYTES, v.part[i]);
}

/* d is a multiple of 64. */
INLINE void line_stream(char *d, line64 v)
{
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        JOIN(stream, WIDEST)(d + i * PART_BYTES, v.part[i]);
}

/* The bytes 0, 1, 2, …, 63. */
INLINE line64 line_iota(void)
{
    static const uint8_t iota[64] = {
        0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
        22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
        44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63,
    };
    return line_load((const char *)iota);
}

#if defined(__AVX512VBMI__)

typedef line64 line_shift; /* for each byte, its index in the two lines */

INLINE line_shift line_shift_by(int64_t n)
{
    line64 at = line_iota();
    at.part[0] = _mm512_add_epi8(at.part[0], _mm512_set1_epi8((char)(64 - n)));
    return at;
}

INLINE line64 line_prepare(line64 v, line_shift by)
{
    (void)by;
    return v;
}

INLINE line64 line_pair(line64 last, line_shift by, line64 now)
{
    now.part[0] = pair_1(last.part[0], by.part[0], now.part[0]);
    return now;
}

/* The first n bytes of a, then the remaining bytes of b. */
INLINE line64 line_first(int64_t n, line64 a, line64 b)
{
    b.part[0] = _mm512_mask_mov_epi8(b.part[0], ((uint64_t)1 << n) - 1, a.part[0]);
    return b;
}

#elif defined(__AVX2__)

/* Each half is rotated by n % 32 bytes once; a half of a pair is then a blend of two of them,
 * and n / 32 selects which. */
typedef struct line_shift {
    vec_2 stay, cross; /* of a rotated half: bytes from the same lane, and from the other */
    vec_2 keep;        /* bytes taken from the earlier half */
    vec_2 far;         /* all ones if n is 32 or more */
} line_shift;

INLINE line_shift line_shift_by(int64_t n)
{
    const vec_2 iota = line_iota().part[0], lane = _mm256_set1_epi8(16);
    const vec_2 by = _mm256_set1_epi8((char)(n & 31)), none = _mm256_set1_epi8((char)0x80);
    const vec_2 from = _mm256_and_si256(_mm256_sub_epi8(iota, by), _mm256_set1_epi8(31));
    const vec_2 crosses = _mm256_cmpeq_epi8(
        _mm256_and_si256(_mm256_xor_si256(from, iota), lane), lane); /* pshufb reads 4 bits */
    return (line_shift){
        .stay = _mm256_or_si256(from, _mm256_and_si256(crosses, none)),
        .cross = _mm256_or_si256(from, _mm256_andnot_si256(crosses, none)),
        .keep = _mm256_cmpgt_epi8(by, iota),
        .far = _mm256_set1_epi8(n & 32 ? -1 : 0),
    };
}

INLINE line64 line_prepare(line64 v, line_shift by)
{
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++) {
        const vec_2 other = _mm256_permute2x128_si256(v.part[i], v.part[i], 1);
        v.part[i] = _mm256_or_si256(_mm256_shuffle_epi8(v.part[i], by.stay),
                                    _mm256_shuffle_epi8(other, by.cross));
    }
    return v;
}

INLINE line64 line_pair(line64 last, line_shift by, line64 now)
{
    const vec_2 a = _mm256_blendv_epi8(last.part[1], last.part[0], by.far);
    const vec_2 b = _mm256_blendv_epi8(now.part[0], last.part[1], by.far);
    const vec_2 c = _mm256_blendv_epi8(now.part[1], now.part[0], by.far);
    return (line64){{_mm256_blendv_epi8(b, a, by.keep), _mm256_blendv_epi8(c, b, by.keep)}};
}

INLINE line64 line_first(int64_t n, line64 a, line64 b)
{
    const line64 iota = line_iota();
    const vec_2 end = _mm256_set1_epi8((char)n);
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        b.part[i] =
            _mm256_blendv_epi8(b.part[i], a.part[i], _mm256_cmpgt_epi8(end, iota.part[i]));
    return b;
}

#else

typedef line64 line_shift; /* for each byte, its index in the two lines */

INLINE line_shift line_shift_by(int64_t n)
{
    line64 at = line_iota();
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        at.part[i] += (uint8_t)(64 - n);
    return at;
}

INLINE line64 line_prepare(line64 v, line_shift by)
{
    (void)by;
    return v;
}

INLINE line64 line_pair(line64 last, line_shift by, line64 now)
{
    const uint8x16x4_t a = {{last.part[0], last.part[1], last.part[2], last.part[3]}};
    const uint8x16x4_t b = {{now.part[0], now.part[1], now.part[2], now.part[3]}};
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++) /* vqtbl gives 0 and vqtbx keeps its operand for an
                                            index out of range */
        now.part[i] = vqtbx4q_u8(vqtbl4q_u8(a, by.part[i]), b, by.part[i] - 64);
    return now;
}

INLINE line64 line_first(int64_t n, line64 a, line64 b)
{
    const line64 iota = line_iota();
    UNROLL
    for (int i = 0; i < LINE_PARTS; i++)
        b.part[i] =
            vbslq_u8(vcltq_u8(iota.part[i], vdupq_n_u8((uint8_t)n)), a.part[i], b.part[i]);
    return b;
}

#endif

/* Rotate: the last n bytes of v, then the others. */
INLINE line64 line_rotate(line64 v, int64_t n)
{
    const line_shift by = line_shift_by(n);
    const line64 prepared = line_prepare(v, by);
    return line_pair(prepared, by, prepared);
}

/* Store bytes [from, end) of v, at most 64, to d + from. */
INLINE void line_store_some(char *d, int64_t from, int64_t end, line64 v)
{
#if defined(__AVX512VBMI__)
    store_some(d, ~(uint64_t)0 << from & ~(uint64_t)0 >> (64 - end), v.part[0]);
#else
    char all[64];
    line_store(all, v);
    for (int64_t i = from; i < end; i++)
        d[i] = all[i];
#endif
}

/* Store bytes [from, 64) of v to the line at d; a whole line is streamed. */
INLINE void line_stream_from(char *d, int64_t from, line64 v)
{
    if (from)
        line_store_some(d, from, 64, v);
    else
        line_stream(d, v);
}

#endif
#endif
