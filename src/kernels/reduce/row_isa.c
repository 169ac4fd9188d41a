/* row_isa.c - functions of rows for one instruction set, a vector at a time.
 *
 * Sums follow the tree on every level.  The norms have the same bits on every level; softmax
 * promises error bounds only. */
#include "row.h"

#include <math.h>

#include "exp_lanes.h"
#include "kernels/table.h"
#include "row_exp.h"
#include "row_vector.h"

/* clang-format off */
/* CALL(n), with n as a constant if it is 2 to 7, so that loops over n are unrolled. */
#define WITH_FEW(n, CALL) \
    switch (n) { \
    case 2: \
        CALL(2); \
        break; \
    case 3: \
        CALL(3); \
        break; \
    case 4: \
        CALL(4); \
        break; \
    case 5: \
        CALL(5); \
        break; \
    case 6: \
        CALL(6); \
        break; \
    case 7: \
        CALL(7); \
        break; \
    default: \
        CALL(n); \
    }
/* clang-format on */

#include "tree.h"
#if defined(__AVX2__)
#include "row_transpose.h"
#endif

/* Prefetch into L2: L1 holds the rows, of up to 16 KB, that are being computed (Zen 4: 1.2
 * times as fast). */
INLINE void prefetch(const char *p)
{
    __builtin_prefetch(p, 0, 2);
}

/* ---- an operand for each element ---- */

static void exp32(char *d, const char *x, const char *c, int64_t n)
{
    for (int64_t at = 0; at < 4 * n; at += V) {
        const int64_t bytes = 4 * n - at < V ? 4 * n - at : V;
        const vf v = exp_vf(some_vf(x + at, bytes) + some_vf(c + at, bytes));
        put_bytes(d + at, &v, bytes, false);
    }
}

static void exp64(char *d, const char *x, const char *c, int64_t n)
{
    for (int64_t at = 0; at < 8 * n; at += V) {
        const int64_t bytes = 8 * n - at < V ? 8 * n - at : V;
        const vd v = exp_vd(some_vd(x + at, bytes) + some_vd(c + at, bytes));
        put_bytes(d + at, &v, bytes, false);
    }
}

static void logs(double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i += VD) {
        const int64_t bytes = (n - i < VD ? n - i : VD) * 8;
        const vd v = log_vd(some_vd((const char *)(x + i), bytes));
        put_bytes((char *)(x + i), &v, bytes, false);
    }
}

/* ---- rows of f32 and of f64 ---- */

#define T     float
#define VT    vf
#define PARTS 2
#define W(f)  f##32
#define S(f)  f##_vf
#include "row.inc"
#include "row_lines.inc"
#include "row_narrow.h"

#define TYPED(f)            f##_f32
#define WIDTH               4
#define READ(p)             load_vf(p)
#define READ_SOME(p, n)     some_vf(p, 4 * (n))
#define READ_PART(p, h)     load_wide((p) + (h)*V / 2)
#define WRITE(p, v, stream) put_vf(p, v, stream)
#define WRITE_SOME(p, v, n) put_some_vf(p, v, 4 * (n))
#include "row_typed.inc"

/* Short rows of other types are transposed in registers where that is faster than a copy
 * kernel: with AVX-512 those of 16 bits (docs/investigations/reductions.md, "Rows on Zen 3" and
 * "Reductions, scans and rows on Zen 5"). */
#if defined(__AVX2__)
#define SHORT_ROWS
#include "row_half.h"

#define TYPED(f)                    f##_f16
#define WIDTH                       2
#define READ(p)                     half_vf(p)
#define READ_SOME(p, n)             half_part(p, n)
#define READ_PART(p, h)             half_vd((p) + (h)*V / 4)
#define WRITE(p, v, stream)         halves_put(p, v, stream)
#define WRITE_SOME(p, v, n)         halves_put_some(p, v, n)
#define WRITE_PAIR(p, a, b, stream) halves_put_pair(p, a, b, stream)
#include "row_typed.inc"

#define TYPED(f)        f##_bf16
#define WIDTH           2
#define READ(p)         brain_vf(p)
#define READ_SOME(p, n) brain_part(p, n)
#if !defined(__AVX512F__)
#define READ_PART(p, h) brain_vd((p) + (h)*V / 4)
#endif
#define WRITE(p, v, stream)         brains_put(p, v, stream)
#define WRITE_SOME(p, v, n)         brains_put_some(p, v, n)
#define WRITE_PAIR(p, a, b, stream) brains_put_pair(p, a, b, stream)
#include "row_typed.inc"
#endif

#undef T
#undef VT
#undef PARTS
#undef W
#undef S
#define T     double
#define VT    vd
#define PARTS 1
#define W(f)  f##64
#define S(f)  f##_vd
#include "row.inc"
#if defined(__AVX2__)
#include "row_lines.inc"
#endif
#if defined(__AVX512F__)
#undef SHORT_ROWS
#endif

#define TYPED(f)            f##_f64
#define WIDTH               8
#define READ(p)             load_vd(p)
#define READ_SOME(p, n)     some_vd(p, 8 * (n))
#define WRITE(p, v, stream) put_vd(p, v, stream)
#define WRITE_SOME(p, v, n) put_some_vd(p, v, 8 * (n))
#include "row_typed.inc"

/* ---- rms_norm of floats of 16 bits ---- */

#if defined(__AVX2__)
#define HALF(f)           f##_f16
#define LOAD_HALF(p)      half_vf(p)
#define LOAD_HALF_WIDE(p) half_vd(p)
#define NARROW(a, b)      halves_of(a, b)
#include "row16.inc"
#if defined(__AVX512F__)
#include "row_brain.h"
#else
#define HALF(f)           f##_bf16
#define LOAD_HALF(p)      brain_vf(p)
#define LOAD_HALF_WIDE(p) brain_vd(p)
#define NARROW(a, b)      brains_of(a, b)
#include "row16.inc"
#endif
#endif

#define TYPE(type, ...)                                                                        \
    {                                                                                          \
        .max = max_##type, .exps = exps_##type, .scale = scale_##type, .shift = shift_##type,  \
        .norm = norm_##type, .rise = rise_##type, .exp_by = exp_by_##type,                     \
        .plus_by = plus_by_##type, .exp_sum = exp_sum_##type, __VA_ARGS__                      \
    }
#define FEW(type) .few_rows = few_rows_##type
/* Fewest and most elements of the rows for which short_rows is faster than other ways: Zen 3,
 * and Zen 5 with AVX-512. */
#define SHORT(type, least, most)                                                               \
    .short_rows = short_rows_##type, .short_least = least, .short_most = most

const tni_row_kernels TNI_TABLE(row) = {
#if defined(__AVX512F__)
    .of[TNI_TREE_F32] = TYPE(f32, .rms = rms32, FEW(f32)),
    .of[TNI_TREE_F64] = TYPE(f64, .rms = rms64, FEW(f64)),
    .of[TNI_TREE_F16] = TYPE(f16, .rms = rms_f16, FEW(f16), SHORT(f16, 8, SHORT_MOST)),
    .of[TNI_TREE_BF16] = TYPE(bf16, .rms = rms_bf16, FEW(bf16), SHORT(bf16, 8, SHORT_MOST)),
#else
    .of[TNI_TREE_F32] = TYPE(f32, .rms = rms32),
#if defined(__AVX2__)
    .of[TNI_TREE_F64] = TYPE(f64, .rms = rms64, SHORT(f64, 1, 48)),
    .of[TNI_TREE_F16] = TYPE(f16, .rms = rms_f16, SHORT(f16, 8, SHORT_MOST)),
    .of[TNI_TREE_BF16] = TYPE(bf16, .rms = rms_bf16, SHORT(bf16, 8, SHORT_MOST)),
#else
    .of[TNI_TREE_F64] = TYPE(f64, .rms = rms64),
#endif
#endif
#if defined(__AVX2__)
    .squares16 = {squares_f16, squares_bf16},
    .short_vector = V,
#endif
    .exp32 = exp32,
    .exp64 = exp64,
    .add32 = add32,
    .add64 = add64,
    .halves32 = halves32,
    .halves64 = halves64,
    .pairs32 = pairs32,
    .pairs64 = pairs64,
    .logs = logs,
    .softmax_narrow = softmax_narrow,
    .rms_narrow = rms_narrow,
    .layer_narrow = layer_narrow,
};
