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

#include "op_table.h"

#define JOIN(a, b)  JOIN_(a, b)
#define JOIN_(a, b) a##b

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

/* What is stored as another type than the rules see is converted here. */
#define GET(X, v) ((X)(v))
#define PUT(R, v) ((R)(v))

#define P(i) param[i]

#define HEAD                                                                                   \
    char *d, const char *const *s, const int64_t *step, int64_t blocks, const double *params

/* A kernel NAME of blocks of B elements: sources of type T are seen as X in the rule, whose
 * value is stored as R. */
#define LOOP1(NAME, B, T, X, R, RULE)                                                          \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        LOOSE(T, R);                                                                           \
        const char *a = s[0];                                                                  \
        const int64_t a_step = step[0];                                                        \
        const double param[TNI_MAX_PARAMS] = {params[0], params[1]};                           \
        (void)param;                                                                           \
        for (; blocks > 0; blocks--, d += (B) * sizeof(R), a += a_step) {                      \
            INDEPENDENT for (int j = 0; j < (B); j++)                                          \
            {                                                                                  \
                const X x = GET(X, AT(a, j));                                                  \
                SET(d, j) = PUT(R, RULE);                                                      \
            }                                                                                  \
        }                                                                                      \
    }

#define LOOP2(NAME, B, T, X, R, RULE)                                                          \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        LOOSE(T, R);                                                                           \
        const char *a = s[0], *b = s[1];                                                       \
        const int64_t a_step = step[0], b_step = step[1];                                      \
        const double param[TNI_MAX_PARAMS] = {params[0], params[1]};                           \
        (void)param;                                                                           \
        for (; blocks > 0; blocks--, d += (B) * sizeof(R), a += a_step, b += b_step) {         \
            INDEPENDENT for (int j = 0; j < (B); j++)                                          \
            {                                                                                  \
                const X x = GET(X, AT(a, j)), y = GET(X, AT(b, j));                            \
                SET(d, j) = PUT(R, RULE);                                                      \
            }                                                                                  \
        }                                                                                      \
    }

#define LOOP3(NAME, B, T, X, R, RULE)                                                          \
    static void NAME(HEAD)                                                                     \
    {                                                                                          \
        LOOSE(T, R);                                                                           \
        const char *a = s[0], *b = s[1], *c = s[2];                                            \
        const int64_t a_step = step[0], b_step = step[1], c_step = step[2];                    \
        const double param[TNI_MAX_PARAMS] = {params[0], params[1]};                           \
        (void)param;                                                                           \
        for (; blocks > 0;                                                                     \
             blocks--, d += (B) * sizeof(R), a += a_step, b += b_step, c += c_step) {          \
            INDEPENDENT for (int j = 0; j < (B); j++)                                          \
            {                                                                                  \
                const X x = GET(X, AT(a, j)), y = GET(X, AT(b, j)), z = GET(X, AT(c, j));      \
                SET(d, j) = PUT(R, RULE);                                                      \
            }                                                                                  \
        }                                                                                      \
    }

/* The type that an op stores, from how it treats dtypes. */
#define STORES_SAME(T)  T
#define STORES_REAL(T)  T
#define STORES_TRUTH(T) T
#define STORES_TEST(T)  uint8_t

#endif
