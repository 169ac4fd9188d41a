/* order_vector.h - vectors of words: the shuffles of bitonic networks, and packing of selected
 * lanes.
 *
 * HAVE_ORDER: the instruction set has them.  MIRRORk reverses blocks of k lanes, SWAPk
 * exchanges neighbouring blocks of k lanes; the suffix is the number of lanes of a vector. */
#ifndef TNI_ORDER_VECTOR_H
#define TNI_ORDER_VECTOR_H

#include <stdint.h>
#include <string.h>

#include "kernels/simd/nontemporal.h"

#if defined(__clang__)
#define UNROLLED _Pragma("clang loop unroll(full)")
#else
#define UNROLLED _Pragma("GCC unroll 16")
#endif

#define JOIN_ORDER_(a, b) a##b
#define JOIN_ORDER(a, b)  JOIN_ORDER_(a, b)

#if defined(__AVX2__)
#define HAVE_ORDER

#define MIX           __builtin_shufflevector
#define MIRROR2_16(v) MIX(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14)
#define MIRROR4_16(v) MIX(v, v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12)
#define MIRROR8_16(v) MIX(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8)
#define REVERSE_16(v) MIX(v, v, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define SWAP2_16(v)   MIX(v, v, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13)
#define SWAP4_16(v)   MIX(v, v, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11)
#define SWAP8_16(v)   MIX(v, v, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7)
#define MIRROR2_8(v)  MIX(v, v, 1, 0, 3, 2, 5, 4, 7, 6)
#define MIRROR4_8(v)  MIX(v, v, 3, 2, 1, 0, 7, 6, 5, 4)
#define REVERSE_8(v)  MIX(v, v, 7, 6, 5, 4, 3, 2, 1, 0)
#define SWAP2_8(v)    MIX(v, v, 2, 3, 0, 1, 6, 7, 4, 5)
#define SWAP4_8(v)    MIX(v, v, 4, 5, 6, 7, 0, 1, 2, 3)
#define MIRROR2_4(v)  MIX(v, v, 1, 0, 3, 2)
#define REVERSE_4(v)  MIX(v, v, 3, 2, 1, 0)
#define SWAP2_4(v)    MIX(v, v, 2, 3, 0, 1)

/* UPPERk takes the lanes whose number has bit k from b, the others from a. */
#define UPPER1_8(a, b) MIX(a, b, 0, 9, 2, 11, 4, 13, 6, 15)
#define UPPER2_8(a, b) MIX(a, b, 0, 1, 10, 11, 4, 5, 14, 15)
#define UPPER4_8(a, b) MIX(a, b, 0, 1, 2, 3, 12, 13, 14, 15)
#define UPPER1_4(a, b) MIX(a, b, 0, 5, 2, 7)
#define UPPER2_4(a, b) MIX(a, b, 0, 1, 6, 7)

#if defined(__AVX512F__)
/* VECTORS: the vectors of a sorting network, half of the registers. */
enum { VECTOR_BYTES = 64, VECTORS = 16 };
#define LANES_32 16
#define LANES_64 8
#else
enum { VECTOR_BYTES = 32, VECTORS = 8 };
#define LANES_32       8
#define LANES_64       4

/* For each byte, the positions of its set bits in ascending order. */
#define PLACE(m, p, k) (((m) >> (p)&1) && __builtin_popcount((m) & ((1 << (p)) - 1)) == (k))
#define ONE(m, k)                                                                              \
    (uint8_t)(1 * PLACE(m, 1, k) + 2 * PLACE(m, 2, k) + 3 * PLACE(m, 3, k) +                   \
              4 * PLACE(m, 4, k) + 5 * PLACE(m, 5, k) + 6 * PLACE(m, 6, k) +                   \
              7 * PLACE(m, 7, k))
#define ONES(m)                                                                                \
    {                                                                                          \
        ONE(m, 0), ONE(m, 1), ONE(m, 2), ONE(m, 3), ONE(m, 4), ONE(m, 5), ONE(m, 6), ONE(m, 7) \
    }
#define ONES4(m)  ONES(m), ONES((m) + 1), ONES((m) + 2), ONES((m) + 3)
#define ONES16(m) ONES4(m), ONES4((m) + 4), ONES4((m) + 8), ONES4((m) + 12)
#define ONES64(m) ONES16(m), ONES16((m) + 16), ONES16((m) + 32), ONES16((m) + 48)
static const uint8_t ones[256][8] = {ONES64(0), ONES64(64), ONES64(128), ONES64(192)};
#endif

typedef int32_t v32 __attribute__((vector_size(VECTOR_BYTES)));
typedef int64_t v64 __attribute__((vector_size(VECTOR_BYTES)));

#define W     32
#define LANES LANES_32
#include "order_lanes.inc"
#define W     64
#define LANES LANES_64
#include "order_lanes.inc"

#endif
#endif
