/* key_short_isa.c - order-independent reductions of short dense rows, by vectors of 32 bytes.
 *
 * A vector that is longer than its row also loads elements of the rows after it, which are
 * masked out.  Where these loads would pass the end of the array, the group of rows is copied
 * to a buffer first. */
#include "key_short.h"

#include <string.h>

#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"

#if defined(__AVX2__)

#define JOIN_KEY_(a, b) a##b
#define JOIN_KEY(a, b)  JOIN_KEY_(a, b)

/* The bytes of a group, at most 32 rows of TNI_SHORT bytes, or the same bytes of fewer rows of
 * wider elements, plus the vector that may pass its end. */
enum { COPIED = 32 * TNI_SHORT + 32 };

/* The address of a group of rows: x itself if vectors of `unit` bytes may read past the rows,
 * otherwise a copy padded with zeros. */
INLINE const char *group_at(char *copy, const char *x, int64_t bytes, int64_t rows,
                            int64_t count, int64_t unit)
{
    const int64_t beyond = bytes < unit ? unit - bytes : 0;
    if (count * bytes >= rows * bytes + beyond)
        return x;
    const int64_t some = count < rows ? count : rows;
    memcpy(copy, x, (size_t)(some * bytes));
    memset(copy + some * bytes, 0, (size_t)((rows - some) * bytes + beyond));
    return copy;
}

INLINE __m128i load_quarter(const char *x)
{
    return _mm_loadl_epi64((const __m128i *)(const void *)x);
}
INLINE __m128i load_half(const char *x)
{
    return _mm_loadu_si128((const __m128i *)(const void *)x);
}

/* The distances in bytes between the two halves of a vector, and between the two quarters of a
 * half, in memory. */
typedef struct part_step {
    int64_t half, quarter;
} part_step;

/* Load one vector, whole or from parts of `unit` bytes each. */
INLINE __m256i load_parts(const char *x, part_step by, int unit)
{
    if (unit == 32)
        return _mm256_loadu_si256((const __m256i *)(const void *)x);
    if (unit == 16)
        return _mm256_inserti128_si256(_mm256_castsi128_si256(load_half(x)),
                                       load_half(x + by.half), 1);
    const char *y = x + by.half;
    const __m128i low = _mm_unpacklo_epi64(load_quarter(x), load_quarter(x + by.quarter)),
                  high = _mm_unpacklo_epi64(load_quarter(y), load_quarter(y + by.quarter));
    return _mm256_inserti128_si256(_mm256_castsi128_si256(low), high, 1);
}
INLINE __m256i load_whole(const char *x)
{
    return load_parts(x, (part_step){0, 0}, 32);
}

/* The low (or high) 4 bytes of each 8-byte quarter of a and b; in each 16-byte block, those of
 * a come first. */
INLINE __m256i low_quarters(__m256i a, __m256i b)
{
    return (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0x88);
}
INLINE __m256i high_quarters(__m256i a, __m256i b)
{
    return (__m256i)_mm256_shuffle_ps((__m256)a, (__m256)b, 0xdd);
}

/* Interleave the elements of `size` bytes in the low (or high) halves of the 16-byte blocks of
 * a and b; for size 16, the low (or high) blocks themselves. */
INLINE __m256i low_parts(__m256i a, __m256i b, int size)
{
    return size == 1   ? _mm256_unpacklo_epi8(a, b)
           : size == 2 ? _mm256_unpacklo_epi16(a, b)
           : size == 4 ? _mm256_unpacklo_epi32(a, b)
           : size == 8 ? _mm256_unpacklo_epi64(a, b)
                       : _mm256_permute2x128_si256(a, b, 0x20);
}
INLINE __m256i high_parts(__m256i a, __m256i b, int size)
{
    return size == 1   ? _mm256_unpackhi_epi8(a, b)
           : size == 2 ? _mm256_unpackhi_epi16(a, b)
           : size == 4 ? _mm256_unpackhi_epi32(a, b)
           : size == 8 ? _mm256_unpackhi_epi64(a, b)
                       : _mm256_permute2x128_si256(a, b, 0x31);
}

#define T    int8_t
#define BITS 8
#include "key_short.inc"
#define T    int16_t
#define BITS 16
#include "key_short.inc"
#define T    int32_t
#define BITS 32
#include "key_short.inc"
#define T    int64_t
#define BITS 64
#include "key_short.inc"

#include "wrap_short.inc"

#define BY_WIDTH(F)                                                                            \
    {                                                                                          \
        F##8, F##16, F##32, F##64                                                              \
    }
const tni_key_short TNI_TABLE(key_short) = {
    .max = BY_WIDTH(max),
    .arg = BY_WIDTH(arg),
    .nonzero = BY_WIDTH(nonzero),
    .sum = {sum_bool, sum_i8, sum_i16, sum_i32, sum_i64, sum_u8, sum_u16, sum_u32, sum_i64},
};

#else

const tni_key_short TNI_TABLE(key_short) = {0};

#endif
