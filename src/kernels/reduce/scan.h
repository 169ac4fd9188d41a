/* scan.h - running sums, products and maxima.
 *
 * Sums and products of floats are computed in f64, in groups of TNI_SCAN_GROUP elements.  The
 * prefix sums p of a group take three steps: p[i] adds p[i - 1], then p[i - 2], then p[i - 4]
 * of the step before.  chain is the sum of the groups before it in the block, before that of
 * the blocks before it. */
#ifndef TNI_SCAN_H
#define TNI_SCAN_H

#include <stdbool.h>
#include <stdint.h>

enum {
    /* the f64 of the widest vector; part of every result's bits, and so not tuned for a CPU */
    TNI_SCAN_GROUP = 8,
    TNI_SCAN_SHORT = 512 /* elements of the longest sequences that a call of many takes */
};

/* Running maxima and minima compare keys, which are signed integers: bits ^ flip.  The bits of
 * negative floats are first inverted except for the sign, and a magnitude above largest (a NaN)
 * has the key nan.  flip is the highest bit for unsigned elements, otherwise 0; for minima all
 * its bits are inverted. */
typedef struct tni_scan_rule {
    int64_t flip, largest, nan;
    bool real;
} tni_scan_rule;

typedef struct tni_scan_extremes {
    int key; /* bytes of a key */
    /* n dense elements, with run the key of all elements before them, the lowest key if there
     * are none; returns the last key. */
    int64_t (*line)(char *d, const char *x, int64_t n, int64_t run, const tni_scan_rule *r);
    /* rows of w elements; state has the key of each column. */
    void (*columns)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                    int64_t w, void *state, const tni_scan_rule *r);
    /* As columns, without d. */
    void (*totals)(const char *x, int64_t x_step, int64_t rows, int64_t w, void *state,
                   const tni_scan_rule *r);
    /* As those of sums. */
    int64_t most;
    void (*many)(char *d, const char *x, int64_t n, int64_t rows, const tni_scan_rule *r);
} tni_scan_extremes;

/* Running sums in f64 of one dtype of floats.  Results are rounded once; a NaN becomes the
 * positive quiet NaN, and -0 becomes +0.  A function is NULL if the instruction set has
 * none. */
typedef struct tni_scan_sums {
    /* d[i] = before + (chain + p[i]) for n <= 2048 elements of a block; returns the chain after
     * them.  d may be x.  stream: d is a multiple of 32, and whole groups may be written with
     * streaming stores. */
    double (*line)(char *d, const char *x, int64_t n, double before, double chain, bool stream);
    /* The chain after n elements of a block, n a multiple of TNI_SCAN_GROUP. */
    double (*total)(const char *x, int64_t n);
    /* The same for rows of a block of w columns, d_step and x_step bytes apart, with a before
     * and a chain for each column.  stream: d_step, too, is a multiple of 32, or three columns
     * are dense. */
    void (*rows)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                 int64_t w, const double *before, double *chain, bool stream);
    /* The chains of w columns, rows a multiple of TNI_SCAN_GROUP. */
    void (*totals)(const char *x, int64_t x_step, int64_t rows, int64_t w, double *chain);
    int64_t narrow; /* shorter sequences are faster as columns; 0: the default */
    int64_t most;   /* longer sequences gain nothing by many; at most TNI_SCAN_SHORT */
    /* Dense sequences of n elements that follow one another.  Reads up to 32 bytes after the
     * end of x and writes as many after the end of d.  NULL: not with this instruction set. */
    void (*many)(char *d, const char *x, int64_t n, int64_t rows);
} tni_scan_sums;

enum { TNI_SCAN_F16, TNI_SCAN_BF16, TNI_SCAN_F32, TNI_SCAN_F64, TNI_SCAN_FLOATS };

typedef struct tni_scan_kernels {
    /* d[i] = before + (chain + p[i]) for n <= 2048 elements of a block, and the same for
     * products; returns the chain after them. */
    double (*sum)(double *d, const double *x, int64_t n, double before, double chain);
    double (*prod)(double *d, const double *x, int64_t n, double before, double chain);

    tni_scan_sums sums[TNI_SCAN_FLOATS];

    /* The same for one group of w columns, in place: v[i * w + c], i < rows <=
     * TNI_SCAN_GROUP. */
    void (*rows_sum)(double *v, int64_t rows, int64_t w, const double *before, double *chain);
    void (*rows_prod)(double *v, int64_t rows, int64_t w, const double *before, double *chain);

    tni_scan_extremes extremes[4]; /* elements of 1, 2, 4, 8 bytes */

    /* Sums of 64-bit integers modulo 2^64: n elements after a sum of run, or rows of w columns
     * after the sums in state, d_step and x_step bytes apart.  d may be x. */
    int64_t (*line_int)(char *d, const char *x, int64_t n, int64_t run);
    void (*rows_int)(char *d, int64_t d_step, const char *x, int64_t x_step, int64_t rows,
                     int64_t w, int64_t *state);
    void (*totals_int)(const char *x, int64_t x_step, int64_t rows, int64_t w, int64_t *state);
    void (*many_int)(char *d, const char *x, int64_t n, int64_t rows); /* like that of sums */
} tni_scan_kernels;

#endif
