/* scan_isa.c - running sums and products for one instruction set. */
#include "scan.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "kernels/table.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

typedef double group __attribute__((vector_size(64)));

#define NAME(f) f##_sum
#define COMBINE +
#define ABSENT  (-0.0)
#include "scan.inc"

#define NAME(f) f##_prod
#define COMBINE *
#define ABSENT  1.0
#include "scan.inc"

/* ---- f32 straight from memory to memory ---- */

typedef float half __attribute__((vector_size(32)));
typedef int64_t bits __attribute__((vector_size(64)));

static inline void settle(group *v)
{
    const bits number = *v == *v;
    *v = *v + 0.0; /* -0 becomes +0 */
    *v = (group)(((bits)*v & number) | ((bits)((group){0} + (double)NAN) & ~number));
}

static double line_sum32(char *d, const char *x, int64_t n, double before, double chain)
{
    const group none = {-0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0, -0.0};
    group run = {chain, chain, chain, chain, chain, chain, chain, chain};
    for (int64_t i = 0; i < n; i += TNI_SCAN_GROUP) {
        const int64_t m = n - i < TNI_SCAN_GROUP ? n - i : TNI_SCAN_GROUP;
        half f = {-0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f, -0.0f};
        if (m == TNI_SCAN_GROUP)
            memcpy(&f, x + 4 * i, sizeof f);
        else
            memcpy(&f, x + 4 * i, (size_t)m * sizeof(float));
        group v = __builtin_convertvector(f, group);
        v = v + __builtin_shufflevector(v, none, 8, 0, 1, 2, 3, 4, 5, 6);
        v = v + __builtin_shufflevector(v, none, 8, 8, 0, 1, 2, 3, 4, 5);
        v = v + __builtin_shufflevector(v, none, 8, 8, 8, 8, 0, 1, 2, 3);
        const group last = __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
        group made = before + (run + v);
        settle(&made);
        f = __builtin_convertvector(made, half);
        run = run + last;
        if (m == TNI_SCAN_GROUP)
            memcpy(d + 4 * i, &f, sizeof f);
        else
            memcpy(d + 4 * i, &f, (size_t)m * sizeof(float));
    }
    return run[0];
}

static void rows_sum32(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t w,
                       const double *before, double *chain)
{
    for (int64_t c = 0; c < w; c += 8) {
        const size_t m = (size_t)(w - c < 8 ? w - c : 8);
        group v[8], b = {0}, run = {0};
        half f = {0};
        memcpy(&b, before + c, m * sizeof(double));
        memcpy(&run, chain + c, m * sizeof(double));
        for (int k = 0; k < 8; k++) {
            if (m == 8)
                memcpy(&f, x + k * x_step + 4 * c, sizeof f);
            else
                memcpy(&f, x + k * x_step + 4 * c, m * sizeof(float));
            v[k] = __builtin_convertvector(f, group);
        }
        for (int by = 1; by < 8; by *= 2)
            for (int k = 7; k >= by; k--)
                v[k] = v[k] + v[k - by];
        for (int k = 0; k < 8; k++) {
            group made = b + (run + v[k]);
            settle(&made);
            f = __builtin_convertvector(made, half);
            if (m == 8)
                memcpy(d + k * d_step + 4 * c, &f, sizeof f);
            else
                memcpy(d + k * d_step + 4 * c, &f, m * sizeof(float));
        }
        run = run + v[7];
        memcpy(chain + c, &run, m * sizeof(double));
    }
}

const tni_scan_kernels TNI_TABLE(scan) = {line_sum,   line_prod, line_sum32,
                                          rows_sum32, rows_sum,  rows_prod};
