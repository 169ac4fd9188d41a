/* index_scalar.c - elements copied by indices, one at a time. */
#include "index_table.h"

#include <math.h>
#include <string.h>

#include "core/core.h"

enum { AHEAD = 16 }; /* elements; random reads of this many are under way at once on Zen 4 */

#define MOVE(BYTES)                                                                            \
    for (int64_t k = 0; k < n; k++) {                                                          \
        if (k + AHEAD < n)                                                                     \
            __builtin_prefetch(s + (k + AHEAD) * s_step + (gather ? at[k + AHEAD] : 0));       \
        memcpy(d + k * d_step + (gather ? 0 : at[k]), s + k * s_step + (gather ? at[k] : 0),   \
               BYTES);                                                                         \
    }                                                                                          \
    break

static inline void copy_each(char *d, int64_t d_step, const char *s, int64_t s_step,
                             const int64_t *at, int64_t n, int width_log2, bool gather)
{
    switch (width_log2) {
    case 0:
        MOVE(1);
    case 1:
        MOVE(2);
    case 2:
        MOVE(4);
    case 3:
        MOVE(8);
    default:
        MOVE(16);
    }
}

void tni_gather(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                int64_t n, int width_log2)
{
    copy_each(d, d_step, s, s_step, at, n, width_log2, true);
}

void tni_scatter(char *d, int64_t d_step, const char *s, int64_t s_step, const int64_t *at,
                 int64_t n, int width_log2)
{
    copy_each(d, d_step, s, s_step, at, n, width_log2, false);
}

/* ---- what meets ---- */

enum { ADD = 1, MUL, MIN, MAX };

#define READ(T, p)                                                                             \
    T x, y;                                                                                    \
    memcpy(&x, d, sizeof x);                                                                   \
    memcpy(&y, s, sizeof y)

#define INTEGER(T)                                                                             \
    {                                                                                          \
        READ(T, p);                                                                            \
        const T r = op == ADD   ? (T)((uint64_t)x + (uint64_t)y)                               \
                    : op == MUL ? (T)((uint64_t)x * (uint64_t)y)                               \
                    : op == MIN ? (y < x ? y : x)                                              \
                                : (y > x ? y : x);                                             \
        memcpy(d, &r, sizeof r);                                                               \
        return;                                                                                \
    }

/* A computed NaN is the positive quiet one. */
static double settled(double x)
{
    return isnan(x) ? (double)NAN : x;
}

static double meet_real(int op, double x, double y)
{
    const double r = op == ADD     ? x + y
                     : op == MUL   ? x * y
                     : isnan(y)    ? y
                     : (op == MIN) ? (y < x ? y : x)
                                   : (y > x ? y : x);
    return settled(r);
}

/* Two f64 hold every sum and product of small floats: rounding twice rounds once. */
#define SMALL(TO, FROM, T)                                                                     \
    {                                                                                          \
        READ(T, p);                                                                            \
        const T r = FROM(meet_real(op, (double)TO(x), (double)TO(y)));                         \
        memcpy(d, &r, sizeof r);                                                               \
        return;                                                                                \
    }

/* Products in f64, as the op's. */
#define COMPLEX(T)                                                                             \
    {                                                                                          \
        T x[2], y[2], r[2];                                                                    \
        memcpy(x, d, sizeof x);                                                                \
        memcpy(y, s, sizeof y);                                                                \
        const double a = (double)x[0], b = (double)x[1], c = (double)y[0], e = (double)y[1];   \
        r[0] = (T)settled(op == ADD ? a + c : a * c - b * e);                                  \
        r[1] = (T)settled(op == ADD ? b + e : a * e + b * c);                                  \
        memcpy(d, r, sizeof r);                                                                \
        return;                                                                                \
    }

void tni_meet(int op, tn_dtype dtype, char *d, const char *s)
{
    switch (dtype) {
    case TN_I8:
        INTEGER(int8_t)
    case TN_I16:
        INTEGER(int16_t)
    case TN_I32:
        INTEGER(int32_t)
    case TN_I64:
        INTEGER(int64_t)
    case TN_U8:
        INTEGER(uint8_t)
    case TN_U16:
        INTEGER(uint16_t)
    case TN_U32:
        INTEGER(uint32_t)
    case TN_U64:
        INTEGER(uint64_t)
#define FLOAT(ENUM, T, DIGITS, LARGEST, QUIET, TO, FROM)                                       \
    case TN_##ENUM:                                                                            \
        SMALL(TO, FROM, T)
#include "core/floats.def"
#undef FLOAT
    case TN_C64:
        COMPLEX(float)
    default:
        COMPLEX(double)
    }
}
