/* op_loop.h - the loops of op kernels: over whole blocks, each a short loop of constant length
 * that the compiler vectorises.
 *
 * d may be exactly a source, so the loops promise that iterations are independent, not that
 * pointers are distinct.  Elements have any alignment. */
#ifndef TNI_OP_LOOP_H
#define TNI_OP_LOOP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"
#include "op_table.h"

/* A loop this short must not be unrolled before the vectoriser sees it, or it stays scalar. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

/* Declares the element types of a kernel: `from` for reading, `to` for storing. */
#define LOOSE(FROM, TO)                                                                        \
    typedef FROM from __attribute__((aligned(1), may_alias));                                  \
    typedef TO to __attribute__((aligned(1), may_alias))
#define AT(base, j)  (((const from *)(const void *)(base))[j])
#define SET(base, j) (((to *)(void *)(base))[j])

/* The parameters of a kernel (tni_op_fn), and of the function that computes one block at d from
 * blocks at a, b and c. */
#define HEAD                                                                                   \
    char *d, const char *const *s, const int64_t *step, int64_t blocks, const double *params,  \
        int64_t ahead
#define HEAD_ARGS  d, s, step, blocks, params, ahead
#define BLOCK_HEAD char *d, const char *a, const char *b, const char *c, const double *param
#define BLOCK_ARGS d, a, b, c, param
typedef void op_block(BLOCK_HEAD);

/* A rule of ops.def is a function of the three sources and the parameters; most use only some
 * of them. */
#define OPTIONAL     __attribute__((unused))
#define RULE_HEAD(X) OPTIONAL X x, OPTIONAL X y, OPTIONAL X z, OPTIONAL const double *param
#define P(i)         param[i]

/* x, hidden from the optimizer, so that it does not specialise a loop for one of its values. */
INLINE int64_t opaque(int64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

/* Narrow the results of a comparison, 0 or 1 in elements as wide as those compared, to bytes.
 * A single loop that compares and narrows would use vectors as short as its bytes; two loops
 * use full vectors. */
#if defined(__AVX512BW__)
INLINE void store_answers(char *d, const void *answer, int width)
{
    const __m512i x = _mm512_load_si512(answer);
    if (width == 8)
        _mm_storel_epi64((__m128i *)(void *)d, _mm512_cvtepi64_epi8(x));
    else if (width == 4)
        _mm_storeu_si128((__m128i *)(void *)d, _mm512_cvtepi32_epi8(x));
    else if (width == 2)
        _mm256_storeu_si256((__m256i *)(void *)d, _mm512_cvtepi16_epi8(x));
    else
        _mm512_storeu_si512(d, x);
}
#else
INLINE void store_answers(char *d, const void *answer, int width)
{
    const int n = TNI_BLOCK / width;
    INDEPENDENT for (int j = 0; j < n; j++)
    {
        d[j] = (char)(width == 8   ? ((const uint64_t *)answer)[j]
                      : width == 4 ? ((const uint32_t *)answer)[j]
                      : width == 2 ? ((const uint16_t *)answer)[j]
                                   : ((const uint8_t *)answer)[j]);
    }
}
#endif

/* Prefetch the lines of a later block; bytes is 0 for a splat. */
INLINE void prefetch_block(const char *s, int64_t bytes, int64_t ahead)
{
    for (int64_t i = 0; i < bytes; i += TNI_LINE)
        __builtin_prefetch(s + ahead + i);
}

/* The loop variables of a kernel: the sources, and the steps from block to block. */
#define OPERANDS                                                                               \
    const char *a = s[0], *b = arity > 1 ? s[1] : a, *c = arity > 2 ? s[2] : a;                \
    const int64_t d_step = step[0], a_step = step[1], b_step = arity > 1 ? step[2] : 0,        \
                  c_step = arity > 2 ? step[3] : 0;                                            \
    const double param[TNI_MAX_PARAMS] = {params[0], params[1]}
#define ADVANCE d += d_step, a += a_step, b += b_step, c += c_step

/* The loops of a kernel of `arity` sources whose blocks of d have `bytes` bytes, inlined with
 * constant arguments.  op_blocks uses ordinary stores; op_blocks_past streams lines from
 * registers, because an ordinary store between two streaming stores costs a tenth of the speed
 * of a + b.T. */
INLINE void op_blocks(HEAD, int arity, op_block *block)
{
    OPERANDS;
    (void)ahead;
    for (; blocks > 0; blocks--, ADVANCE)
        block(d, a, b, c, param);
}

INLINE void op_blocks_past(HEAD, int arity, int64_t bytes, op_block *block)
{
    OPERANDS;
    const int64_t fetch = ahead == TNI_NOT_AHEAD ? 0 : -1; /* all ones */
    for (; blocks > 0; blocks--, ADVANCE) {
        _Alignas(TNI_LINE) char line[TNI_SPLAT_BYTES];
        prefetch_block(a, a_step & fetch, ahead);
        prefetch_block(b, b_step & fetch, ahead);
        prefetch_block(c, c_step & fetch, ahead);
        block(line, a, b, c, param);
        for (int64_t i = 0; i < bytes; i += TNI_LINE)
            stream_line(d + i, line + i);
    }
}

/* Both kinds of stores in one loop, for large blocks. */
INLINE void op_blocks_either(HEAD, int arity, int64_t bytes, op_block *block)
{
    OPERANDS;
    for (; blocks > 0; blocks--, ADVANCE) {
        _Alignas(TNI_LINE) char line[TNI_SPLAT_BYTES];
        const int64_t past = bytes % TNI_LINE == 0 ? opaque(ahead) : 0;
        if (past && past != TNI_NOT_AHEAD) {
            prefetch_block(a, a_step, past);
            prefetch_block(b, b_step, past);
            prefetch_block(c, c_step, past);
        }
        block(past ? line : d, a, b, c, param);
        if (past)
            for (int64_t i = 0; i < bytes; i += TNI_LINE)
                stream_line(d + i, line + i);
    }
}

/* Defines the kernel NAME from the block function NAME_block. */
#define KERNEL(NAME, ARITY, BYTES)                                                             \
    static __attribute__((noinline)) void PASTE(NAME, _past)(HEAD)                             \
    {                                                                                          \
        op_blocks_past(HEAD_ARGS, ARITY, BYTES, PASTE(NAME, _block));                          \
    }                                                                                          \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        if ((BYTES) % TNI_LINE == 0 && UNLIKELY(ahead))                                        \
            PASTE(NAME, _past)(HEAD_ARGS);                                                     \
        else                                                                                   \
            op_blocks(HEAD_ARGS, ARITY, PASTE(NAME, _block));                                  \
    }
#define KERNEL_OF_LARGE_BLOCKS(NAME, ARITY, BYTES)                                             \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        op_blocks_either(HEAD_ARGS, ARITY, BYTES, PASTE(NAME, _block));                        \
    }

#endif
