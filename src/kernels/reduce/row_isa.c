/* row_isa.c - functions of rows for one instruction set: loops that become vectors. */
#include "row.h"

#include <math.h>

#include "exp_lanes.h"
#include "kernels/simd/nontemporal.h"
#include "kernels/table.h"

typedef float loose_f32 __attribute__((aligned(1), may_alias));
typedef double loose_f64 __attribute__((aligned(1), may_alias));

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define GET(T, p) (((const loose_##T *)(const void *)(p))[i])
#define PUT(T, p) (((loose_##T *)(void *)(p))[i])

static void exp32(char *d, const char *x, int64_t n, double c)
{
    const float m = (float)c;
    INDEPENDENT for (int64_t i = 0; i < n; i++) PUT(f32, d) = exp_lane32(GET(f32, x) - m);
}

/* A computed NaN is the positive quiet one. */
static inline float number_f32(float x)
{
    return x != x ? NAN : x;
}

static inline double number_f64(double x)
{
    return x != x ? (double)NAN : x;
}
#define NUMBER(T, x) number_##T(x)

/* d[i] = RULE for i in [0, n), whole lines past the caches when stream. */
#define STORE(T, RULE)                                                                         \
    int64_t done = 0;                                                                          \
    enum { EACH = LINE_BYTES / sizeof(loose_##T) };                                            \
    for (; stream && done + EACH <= n; done += EACH) {                                         \
        _Alignas(LINE_BYTES) loose_##T line[EACH];                                             \
        for (int64_t j = 0; j < EACH; j++) {                                                   \
            const int64_t i = done + j;                                                        \
            line[j] = NUMBER(T, RULE);                                                         \
        }                                                                                      \
        stream_line(d + done * (int64_t)sizeof(loose_##T), (const char *)line);                \
    }                                                                                          \
    INDEPENDENT for (int64_t i = done; i < n; i++) PUT(T, d) = NUMBER(T, RULE)

#define BY_WIDTH(W, T, ABS)                                                                    \
    static double max##W(const char *x, int64_t n)                                             \
    {                                                                                          \
        enum { LANES = 64 }; /* lanes of their own, or a maximum is no vector */               \
        loose_##T lane[LANES], most = ((const loose_##T *)(const void *)x)[0];                 \
        int broken = 0;                                                                        \
        int64_t at = 0;                                                                        \
        for (int j = 0; j < LANES; j++)                                                        \
            lane[j] = most;                                                                    \
        for (; at + LANES <= n; at += LANES)                                                   \
            for (int j = 0; j < LANES; j++) {                                                  \
                const int64_t i = at + j;                                                      \
                const loose_##T v = GET(T, x);                                                 \
                lane[j] = v > lane[j] ? v : lane[j];                                           \
                broken |= v != v;                                                              \
            }                                                                                  \
        for (int j = 0; j < LANES; j++)                                                        \
            most = lane[j] > most ? lane[j] : most;                                            \
        for (int64_t i = at; i < n; i++) {                                                     \
            const loose_##T v = GET(T, x);                                                     \
            most = v > most ? v : most;                                                        \
            broken |= v != v;                                                                  \
        }                                                                                      \
        return broken ? (double)NAN : (double)most;                                            \
    }                                                                                          \
    static void scale##W(char *d, const char *x, int64_t n, double by, bool stream)            \
    {                                                                                          \
        const loose_##T s = (loose_##T)by;                                                     \
        STORE(T, GET(T, x) * s);                                                               \
    }                                                                                          \
    static void shift##W(char *d, const char *x, int64_t n, double c, double l)                \
    {                                                                                          \
        const loose_##T m = (loose_##T)c, s = (loose_##T)l;                                    \
        INDEPENDENT for (int64_t i = 0; i < n; i++) PUT(T, d) = (GET(T, x) - m) - s;           \
    }                                                                                          \
    static void add##W(char *d, const char *a, const char *b, int64_t n)                       \
    {                                                                                          \
        INDEPENDENT for (int64_t i = 0; i < n; i++) PUT(T, d) =                                \
            NUMBER(T, GET(T, a) + GET(T, b));                                                  \
    }                                                                                          \
    static void rms##W(char *d, const char *x, const char *w, int64_t n, double by,            \
                       bool stream)                                                            \
    {                                                                                          \
        const loose_##T r = (loose_##T)by;                                                     \
        if (w) {                                                                               \
            STORE(T, (GET(T, x) * r) * GET(T, w));                                             \
        } else {                                                                               \
            STORE(T, GET(T, x) * r);                                                           \
        }                                                                                      \
    }                                                                                          \
    static void norm##W(char *d, const char *x, const char *w, const char *b, int64_t n,       \
                        double mean, double r, bool stream)                                    \
    {                                                                                          \
        if (w && b) {                                                                          \
            STORE(T, (loose_##T)(((double)GET(T, x) - mean) * r) * GET(T, w) + GET(T, b));     \
        } else if (w) {                                                                        \
            STORE(T, (loose_##T)(((double)GET(T, x) - mean) * r) * GET(T, w));                 \
        } else if (b) {                                                                        \
            STORE(T, (loose_##T)(((double)GET(T, x) - mean) * r) + GET(T, b));                 \
        } else {                                                                               \
            STORE(T, (loose_##T)(((double)GET(T, x) - mean) * r));                             \
        }                                                                                      \
    }
BY_WIDTH(32, f32, fabsf)
BY_WIDTH(64, f64, fabs)

const tni_row_kernels TNI_TABLE(row) = {max32, max64, exp32, scale32, scale64, shift32, shift64,
                                        add32, add64, rms32, rms64,   norm32,  norm64};
