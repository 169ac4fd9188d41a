/* mask_isa.c - selecting elements by a bit mask, for one instruction set.
 *
 * A word of 64 bits is packed as a whole, by vectors or without a branch per bit, as long as
 * dst has space for 64 more elements: stores of unselected elements then stay inside dst. */
#include "mask_table.h"

#include "kernels/table.h"
#include "order_vector.h"
#include "signs.h"

/* Words with fewer set bits are packed bit by bit, which is faster than vectors (Zen 4). */
enum { FEW = 12 };

typedef uint64_t pair_mask __attribute__((vector_size(16)));

/* ---- vectors of LANES elements, widened to lanes of 32 or 64 bits ---- */

#if defined(__AVX512F__)

INLINE v32 widened8(const void *p)
{
    return (v32)_mm512_cvtepu8_epi32(_mm_loadu_si128(p));
}
INLINE void narrowed8(void *p, v32 a)
{
    _mm_storeu_si128(p, _mm512_cvtepi32_epi8((__m512i)a));
}
INLINE v32 widened16(const void *p)
{
    return (v32)_mm512_cvtepu16_epi32(_mm256_loadu_si256(p));
}
INLINE void narrowed16(void *p, v32 a)
{
    _mm256_storeu_si256(p, _mm512_cvtepi32_epi16((__m512i)a));
}

#endif
#if defined(HAVE_ORDER)

INLINE v32 widened32(const void *p)
{
    v32 a;
    memcpy(&a, p, sizeof a);
    return a;
}
INLINE void narrowed32(void *p, v32 a)
{
    memcpy(p, &a, sizeof a);
}
INLINE v64 widened64(const void *p)
{
    v64 a;
    memcpy(&a, p, sizeof a);
    return a;
}
INLINE void narrowed64(void *p, v64 a)
{
    memcpy(p, &a, sizeof a);
}

/* Convert one bit per lane to the set of lanes that packed64 expects. */
INLINE unsigned lanes_of64(unsigned m)
{
    return LANES_64 == 8 ? m : (unsigned)_pdep_u32(m, 0x55) * 3;
}
INLINE unsigned lanes_of32(unsigned m)
{
    return m;
}

#endif

#define W 8
#define T uint8_t
#if defined(__AVX512F__)
#define LANES 16
#define LANE  32
#endif
#include "mask.inc"
#define W 16
#define T uint16_t
#if defined(__AVX512F__)
#define LANES 16
#define LANE  32
#endif
#include "mask.inc"
#define W 32
#define T uint32_t
#if defined(HAVE_ORDER)
#define LANES LANES_32
#define LANE  32
#endif
#include "mask.inc"
#define W 64
#define T uint64_t
#if defined(HAVE_ORDER)
#define LANES LANES_64
#define LANE  64
#endif
#include "mask.inc"
#define W 128
#define T pair_mask
#include "mask.inc"

/* ---- indices and counts ---- */

typedef int64_t loose_index __attribute__((aligned(1), may_alias));

static void indices(char *out, const uint64_t *bits, int64_t n, int64_t first, int64_t capacity)
{
    loose_index *d = (loose_index *)(void *)out;
    const loose_index *end = d + capacity;
    for (int64_t i = 0; i < n; i += 64, first += 64) {
        uint64_t b = *bits++;
        if (end - d < 64 || __builtin_popcountll(b) < FEW) {
            for (; b; b &= b - 1)
                *d++ = first + __builtin_ctzll(b);
            continue;
        }
#if defined(__AVX512F__)
        const __m512i steps = _mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7);
        for (int k = 0; k < 64; k += 8) {
            const __m512i at = _mm512_add_epi64(_mm512_set1_epi64(first + k), steps);
            _mm512_storeu_si512(d, _mm512_maskz_compress_epi64((__mmask8)(b >> k), at));
            d += __builtin_popcount((unsigned)(b >> k & 0xff));
        }
#else
        for (int k = 0; k < 64; k++) {
            *d = first + k;
            d += b >> k & 1;
        }
#endif
    }
}

static int64_t count(const uint64_t *bits, int64_t n)
{
    int64_t all = 0;
    for (int64_t i = 0; i < n; i += 64)
        all += __builtin_popcountll(*bits++);
    return all;
}

const tni_mask_kernels TNI_TABLE(mask) = {
    .bits = {bits8, bits16, bits32, bits64, bits128},
    .pack = {pack8, pack16, pack32, pack64, pack128},
    .spread = {spread8, spread16, spread32, spread64, spread128},
    .indices = indices,
    .count = count,
};
