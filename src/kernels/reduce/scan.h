/* scan.h - running sums and products: groups of 8 in f64, a chain of groups.
 *
 * In a group p[i] takes p[i - 1], then p[i - 2], then p[i - 4] of the step before. */
#ifndef TNI_SCAN_H
#define TNI_SCAN_H

#include <stdbool.h>
#include <stdint.h>

enum { TNI_SCAN_GROUP = 8 };

/* Running maxima are those of keys: bits ^ flip, of floats with magnitudes of negative ones inverted
 * before, and nan for those above largest.  flip is the highest bit of unsigned elements, and all of
 * the others for minima. */
typedef struct tni_scan_rule {
    int64_t flip, largest, nan;
    bool real;
} tni_scan_rule;

typedef struct tni_scan_extremes {
    /* n dense elements after the key run; gives the last key.  Keys of up to 32 bits are int32_t,
     * others int64_t; the least of them comes before all. */
    int64_t (*line)(char *d, const char *x, int64_t n, int64_t run, const tni_scan_rule *r);
    /* Rows of w elements; state has a key for each column. */
    void (*columns)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                    int64_t w, void *state, const tni_scan_rule *r);
} tni_scan_extremes;

typedef struct tni_scan_kernels {
    /* d[i] = before + (chain + p[i]) for n <= 2048 elements of a block; gives the chain. */
    double (*sum)(double *d, const double *x, int64_t n, double before, double chain);
    double (*prod)(double *d, const double *x, int64_t n, double before, double chain);

    /* The same of f32, to f32: NaN is the positive quiet one, a zero +0.  stream: d is a multiple
     * of 32, and whole groups are written past the caches. */
    double (*sum32)(char *d, const char *x, int64_t n, double before, double chain,
                    bool stream);

    /* The chain of sum32 alone, n a multiple of a group. */
    double (*total32)(const char *x, int64_t n);

    /* Up to eight rows of w columns of f32, d_step and x_step bytes apart, likewise; stream: d_step
     * is such a multiple, too. */
    void (*rows_sum32)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                       int64_t w, const double *before, double *chain, bool stream);

    /* Both of f16 and bf16; stream is not looked at.  NULL: not with this instruction set. */
    double (*sum16[2])(char *d, const char *x, int64_t n, double before, double chain);
    void (*rows_sum16[2])(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                          int64_t w, const double *before, double *chain, bool stream);

    /* The same for w columns: a group of rows <= 8, v[i * w + c], in place. */
    void (*rows_sum)(double *v, int64_t rows, int64_t w, const double *before, double *chain);
    void (*rows_prod)(double *v, int64_t rows, int64_t w, const double *before, double *chain);

    tni_scan_extremes extremes[4]; /* of 1, 2, 4, 8 bytes */

    /* Sums of integers, which wrap, in place: n of a sequence after run, or w columns of a row. */
    int64_t (*line_int)(int64_t *x, int64_t n, int64_t run);
    void (*row_int)(int64_t *x, int64_t *state, int64_t w);
} tni_scan_kernels;

#endif
