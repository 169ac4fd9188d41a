/* op_loop.h - the loops of op kernels: whole blocks, each a short loop of constant length that
 * the compiler turns into vectors.
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

/* Unrolled before it is seen by the vectoriser, so short a loop would stay scalar. */
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety) unroll(disable)")
#else
#define INDEPENDENT _Pragma("GCC ivdep") _Pragma("GCC unroll 1")
#endif

/* Inside a kernel: elements are read as from, stored as to. */
#define LOOSE(FROM, TO)                                                                        \
    typedef FROM from __attribute__((aligned(1), may_alias));                                  \
    typedef TO to __attribute__((aligned(1), may_alias))
#define AT(base, j)  (((const from *)(const void *)(base))[j])
#define SET(base, j) (((to *)(void *)(base))[j])

#define P(i) param[i]

#define HEAD                                                                                   \
    char *d, const char *const *s, const int64_t *step, int64_t blocks, const double *params,  \
        int64_t ahead

/* A kernel NAME of ARITY sources from the inline function NAME_block, which computes one block
 * of BYTES at d from blocks at a, b and c.  Streamed blocks are made beside d; the lines that
 * come ahead bytes later are fetched meanwhile.  There is one copy of the block's code, so that
 * streaming does not change a bit, not even of a NaN. */
#define BLOCK_HEAD     char *d, const char *a, const char *b, const char *c, const double *param
#define UNUSED_SOURCES (void)a, (void)b, (void)c, (void)param
#define KERNEL(NAME, ARITY, BYTES)                                                             \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        const char *a = s[0], *b = (ARITY) > 1 ? s[1] : a, *c = (ARITY) > 2 ? s[2] : a;        \
        const int64_t a_step = step[0], b_step = (ARITY) > 1 ? step[1] : 0,                    \
                      c_step = (ARITY) > 2 ? step[2] : 0;                                      \
        const double param[TNI_MAX_PARAMS] = {params[0], params[1]};                           \
        for (; blocks > 0; blocks--, d += (BYTES), a += a_step, b += b_step, c += c_step) {    \
            _Alignas(LINE_BYTES) char line[BYTES];                                             \
            const int64_t past = (BYTES) % LINE_BYTES == 0 ? opaque(ahead) : 0;                \
            if (past) {                                                                        \
                fetch(a, a_step, past);                                                        \
                fetch(b, b_step, past);                                                        \
                fetch(c, c_step, past);                                                        \
            }                                                                                  \
            NAME##_block(past ? line : d, a, b, c, param);                                     \
            if (past)                                                                          \
                for (size_t i = 0; i < (BYTES); i += LINE_BYTES)                               \
                    stream_line(d + i, line + i);                                              \
        }                                                                                      \
    }

/* The same number, but the compiler makes no second loop for one of its values. */
INLINE int64_t opaque(int64_t x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

/* The lines of a block that comes later; a source that stands still has none. */
INLINE void fetch(const char *s, int64_t bytes, int64_t ahead)
{
    for (int64_t i = 0; i < bytes; i += LINE_BYTES)
        __builtin_prefetch(s + ahead + i);
}

/* Kernels of blocks of B elements: sources of type T are seen as X in the rule, whose value is
 * stored as R. */
#define LOOP(NAME, ARITY, B, T, X, R, SOURCES, RULE)                                           \
    INLINE void NAME##_block(BLOCK_HEAD)                                                       \
    {                                                                                          \
        LOOSE(T, R);                                                                           \
        UNUSED_SOURCES;                                                                        \
        INDEPENDENT for (int j = 0; j < (B); j++)                                              \
        {                                                                                      \
            SOURCES(X)                                                                         \
            SET(d, j) = (R)(RULE);                                                             \
        }                                                                                      \
    }                                                                                          \
    KERNEL(NAME, ARITY, (B) * sizeof(R))
#define SOURCES1(X) const X x = (X)AT(a, j);
#define SOURCES2(X) const X x = (X)AT(a, j), y = (X)AT(b, j);
#define SOURCES3(X) const X x = (X)AT(a, j), y = (X)AT(b, j), z = (X)AT(c, j);

#define LOOP1(NAME, B, T, X, R, RULE) LOOP(NAME, 1, B, T, X, R, SOURCES1, RULE)
#define LOOP2(NAME, B, T, X, R, RULE) LOOP(NAME, 2, B, T, X, R, SOURCES2, RULE)
#define LOOP3(NAME, B, T, X, R, RULE) LOOP(NAME, 3, B, T, X, R, SOURCES3, RULE)

/* The type that an op stores, from how it treats dtypes. */
#define STORES_SAME(T)  T
#define STORES_REAL(T)  T
#define STORES_TRUTH(T) T
#define STORES_TEST(T)  uint8_t

#endif
