/* key_isa.c - order-free reductions for one instruction set: keys by width, integers by
 * dtype. */
#include "key.h"

#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define JOIN_KEY_(a, b) a##b
#define JOIN_KEY(a, b)  JOIN_KEY_(a, b)

#define T    int8_t
#define BITS 8
#include "key.inc"
#define T    int16_t
#define BITS 16
#include "key.inc"
#define T    int32_t
#define BITS 32
#include "key.inc"
#define T    int64_t
#define BITS 64
#include "key.inc"

#define T         uint8_t
#define NAME_T(f) f##_bool
#define VALUE(x)  ((x) != 0)
#define SMALL     int32_t
#define EIGHT     int16_t
#define TOTAL     int32_t
#include "wrap.inc"
#define T         int8_t
#define NAME_T(f) f##_i8
#define VALUE(x)  (x)
#define SMALL     int32_t
#define EIGHT     int16_t
#define TOTAL     int32_t
#include "wrap.inc"
#define T         int16_t
#define NAME_T(f) f##_i16
#define VALUE(x)  (x)
#define SMALL     int32_t
#define EIGHT     int32_t
#define TOTAL     int32_t
#include "wrap.inc"
#define T         int32_t
#define NAME_T(f) f##_i32
#define VALUE(x)  (x)
#define SMALL     int64_t
#define EIGHT     int64_t
#define TOTAL     uint64_t
#include "wrap.inc"
#define T         int64_t
#define NAME_T(f) f##_i64
#define VALUE(x)  (x)
#define SMALL     uint64_t
#define EIGHT     uint64_t
#define TOTAL     uint64_t
#include "wrap.inc"
#define T         uint8_t
#define NAME_T(f) f##_u8
#define VALUE(x)  (x)
#define SMALL     int32_t
#define EIGHT     int16_t
#define TOTAL     int32_t
#include "wrap.inc"
#define T         uint16_t
#define NAME_T(f) f##_u16
#define VALUE(x)  (x)
#define SMALL     int32_t
#define EIGHT     int32_t
#define TOTAL     int32_t
#include "wrap.inc"
#define T         uint32_t
#define NAME_T(f) f##_u32
#define VALUE(x)  (x)
#define SMALL     int64_t
#define EIGHT     int64_t
#define TOTAL     uint64_t
#include "wrap.inc"
#define T         uint64_t
#define NAME_T(f) f##_u64
#define VALUE(x)  (x)
#define SMALL     uint64_t
#define EIGHT     uint64_t
#define TOTAL     uint64_t
#include "wrap.inc"

#define KEYS(W)                                                                                \
    {                                                                                          \
        max##W, find##W, rows_max##W, rows_arg##W, count##W, rows_count##W                     \
    }
#define WRAP(N)                                                                                \
    {                                                                                          \
        sum_##N, prod_##N, sumsq_##N, dot_##N, rows_sum_##N, rows_prod_##N, rows_sumsq_##N     \
    }
const tni_key_table TNI_TABLE(key) = {
    {KEYS(8), KEYS(16), KEYS(32), KEYS(64)},
    {WRAP(bool), WRAP(i8), WRAP(i16), WRAP(i32), WRAP(i64), WRAP(u8), WRAP(u16), WRAP(u32),
     WRAP(u64)},
};
