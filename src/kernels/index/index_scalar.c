/* index_scalar.c - elements copied by indices, one at a time. */
#include "index_table.h"

#include <math.h>
#include <string.h>

#include "core/core.h"

enum { AHEAD = 16 }; /* elements; random reads of this many are under way at once on Zen 4 */

/* Constant arguments make a loop of moves of it. */
static inline __attribute__((always_inline)) void copy_each(char *d, int64_t d_step,
                                                            const char *s, int64_t s_step,
                                                            const int64_t *at, int64_t n,
                                                            size_t bytes, bool gather)
{
    for (int64_t k = 0; k < n; k++) {
        if (k + AHEAD < n)
            __builtin_prefetch(s + (k + AHEAD) * s_step + (gather ? at[k + AHEAD] : 0));
        memcpy(d + k * d_step + (gather ? 0 : at[k]), s + k * s_step + (gather ? at[k] : 0),
               bytes);
    }
}

static inline __attribute__((always_inline)) void copy_width(char *d, int64_t d_step,
                                                             const char *s, int64_t s_step,
                                                             const int64_t *at, int64_t n,
                                                             int width_log2, bool gather)
{
    switch (width_log2) {
    case 0:
        copy_each(d, d_step, s, s_step, at, n, 1, gather);
        break;
    case 1:
        copy_each(d, d_step, s, s_step, at, n, 2, gather);
        break;
    case 2:
        copy_each(d, d_step, s, s_step, at, n, 4, gather);
        break;
    case 3:
        copy_each(d, d_step, s, s_step, at, n, 8, gather);
        break;
    default:
        copy_each(d, d_step, s, s_step, at, n, 16, gather);
    }
}

void tni_gather(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                int64_t n, int width_log2)
{
    copy_width(d, d_step, s, s_step, at, n, width_log2, true);
}

void tni_scatter(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                 int64_t n, int width_log2)
{
    copy_width(d, d_step, s, s_step, at, n, width_log2, false);
}

/* ---- what meets ---- */

enum { ADD = 1, MUL, MIN, MAX };

#define NAME meet_i8
#define T    int8_t
#include "index_meet.inc"
#define NAME meet_i16
#define T    int16_t
#include "index_meet.inc"
#define NAME meet_i32
#define T    int32_t
#include "index_meet.inc"
#define NAME meet_i64
#define T    int64_t
#include "index_meet.inc"
#define NAME meet_u8
#define T    uint8_t
#include "index_meet.inc"
#define NAME meet_u16
#define T    uint16_t
#include "index_meet.inc"
#define NAME meet_u32
#define T    uint32_t
#include "index_meet.inc"
#define NAME meet_u64
#define T    uint64_t
#include "index_meet.inc"

/* A computed NaN is the positive quiet one. */
static double settled(double x)
{
    return isnan(x) ? (double)NAN : x;
}

/* Two f64 hold every sum and product of narrow floats: rounding twice rounds once. */
static double meet_real(int op, double x, double y)
{
    const double r = op == ADD     ? x + y
                     : op == MUL   ? x * y
                     : isnan(y)    ? y
                     : (op == MIN) ? (y < x ? y : x)
                                   : (y > x ? y : x);
    return settled(r);
}

static void meet_f32(int op, char *d, const char *s)
{
    float x, y;
    memcpy(&x, d, sizeof x);
    memcpy(&y, s, sizeof y);
    const float r = (float)meet_real(op, (double)x, (double)y);
    memcpy(d, &r, sizeof r);
}

static void meet_f64(int op, char *d, const char *s)
{
    double x, y;
    memcpy(&x, d, sizeof x);
    memcpy(&y, s, sizeof y);
    x = meet_real(op, x, y);
    memcpy(d, &x, sizeof x);
}

/* Products in f64, as the op's. */
static void meet_complex(int op, char *d, const char *s, tn_dtype part)
{
    const int64_t im = tni_width(part);
    const double a = tni_load_real(d, part), b = tni_load_real(d + im, part);
    const double c = tni_load_real(s, part), e = tni_load_real(s + im, part);
    tni_store_real(d, part, op == ADD ? a + c : a * c - b * e);
    tni_store_real(d + im, part, op == ADD ? b + e : a * e + b * c);
}

void tni_meet(int op, tn_dtype dtype, char *d, const char *s)
{
    switch (dtype) {
    case TN_I8:
        meet_i8(op, d, s);
        break;
    case TN_I16:
        meet_i16(op, d, s);
        break;
    case TN_I32:
        meet_i32(op, d, s);
        break;
    case TN_I64:
        meet_i64(op, d, s);
        break;
    case TN_U8:
        meet_u8(op, d, s);
        break;
    case TN_U16:
        meet_u16(op, d, s);
        break;
    case TN_U32:
        meet_u32(op, d, s);
        break;
    case TN_U64:
        meet_u64(op, d, s);
        break;
    case TN_F32: /* the usual ones, without a choice for each number */
        meet_f32(op, d, s);
        break;
    case TN_F64:
        meet_f64(op, d, s);
        break;
    case TN_C64:
    case TN_C128:
        meet_complex(op, d, s, tni_real_of(dtype));
        break;
    default:
        tni_store_real(d, dtype,
                       meet_real(op, tni_load_real(d, dtype), tni_load_real(s, dtype)));
    }
}
