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
    int key; /* bytes of a key, a signed integer */
    /* n dense elements after the key run; gives the last key.  The least comes before all. */
    int64_t (*line)(char *d, const char *x, int64_t n, int64_t run, const tni_scan_rule *r);
    /* Rows of w elements; state has a key for each column. */
    void (*columns)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                    int64_t w, void *state, const tni_scan_rule *r);
    /* The states alone. */
    void (*totals)(const char *x, int64_t x_step, int64_t rows, int64_t w, void *state,
                   const tni_scan_rule *r);
} tni_scan_extremes;

/* Running sums of one dtype of floats in f64, from memory to memory; rounded once: NaN is the positive
 * quiet one, a zero +0.  NULL: not with this instruction set. */
typedef struct tni_scan_sums {
    /* d[i] = before + (chain + p[i]) for n <= 2048 elements of a block, d may be x; gives the chain.
     * stream: d is a multiple of 32, and whole groups may be written past the caches. */
    double (*line)(char *d, const char *x, int64_t n, double before, double chain, bool stream);
    /* The chain alone, n a multiple of a group. */
    double (*total)(const char *x, int64_t n);
    /* Rows of a block of w columns, d_step and x_step bytes apart, likewise; stream: d_step is such a
     * multiple, too. */
    void (*rows)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                 int64_t w, const double *before, double *chain, bool stream);
    /* The chains of w columns alone, rows a multiple of a group. */
    void (*totals)(const char *x, int64_t x_step, int64_t rows, int64_t w, double *chain);
    int64_t narrow; /* sequences shorter than this gain by being columns; 0: as others */
} tni_scan_sums;

enum { TNI_SCAN_F16, TNI_SCAN_BF16, TNI_SCAN_F32, TNI_SCAN_F64, TNI_SCAN_FLOATS };

typedef struct tni_scan_kernels {
    /* d[i] = before + (chain + p[i]) for n <= 2048 elements of a block; gives the chain. */
    double (*sum)(double *d, const double *x, int64_t n, double before, double chain);
    double (*prod)(double *d, const double *x, int64_t n, double before, double chain);

    tni_scan_sums sums[TNI_SCAN_FLOATS];

    /* The same for w columns: a group of rows <= 8, v[i * w + c], in place. */
    void (*rows_sum)(double *v, int64_t rows, int64_t w, const double *before, double *chain);
    void (*rows_prod)(double *v, int64_t rows, int64_t w, const double *before, double *chain);

    tni_scan_extremes extremes[4]; /* elements of 1, 2, 4, 8 bytes */

    /* Sums of integers of 64 bits, which wrap: n of a sequence after run, or rows of w columns after
     * their state, d_step and x_step bytes apart; d may be x. */
    int64_t (*line_int)(char *d, const char *x, int64_t n, int64_t run);
    void (*rows_int)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                     int64_t w, int64_t *state);
    void (*totals_int)(const char *x, int64_t x_step, int64_t rows, int64_t w, int64_t *state);
} tni_scan_kernels;

#endif
