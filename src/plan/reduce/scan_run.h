/* scan_run.h - declarations that the ways and the classes of scans share. */
#ifndef TNI_SCAN_RUN_H
#define TNI_SCAN_RUN_H

#include "plan/plan.h"

/* Most columns of a strip.  Eight rows of 512 f64 are 32 KiB, an L1.  Classes that keep only
 * one or two numbers for each column have strips of up to 2048, so that longer pieces of rows
 * are read and written; not measured finely. */
enum { TNI_SCAN_COLUMNS = 512, TNI_SCAN_WIDEST = 2048 };

/* The total of a block of a sequence, or of all blocks before it. */
typedef union tni_scan_word {
    double f;
    int64_t i;
} tni_scan_word;

/* The arithmetic of a scan.  fits returns whether the class applies; the first one that does is
 * taken. */
struct tni_scan_class {
    const char *name;
    bool (*fits)(const tni_scan *s);
    /* Compute n dense elements of one block; `at` elements of the sequence came before, a
     * multiple of a group.  run is the state before and after.  d may be x. */
    void (*block)(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                  tni_scan_state *run);
    /* Compute w <= TNI_SCAN_WIDEST dense columns; carry has their states before and after, or
     * is NULL.  NULL: the class computes sequences one by one. */
    void (*strip)(const tni_scan *s, char *d, const char *p, int64_t w, tni_scan_state *carry);
    /* Set the totals of w columns of a whole block.  NULL: there is no kernel for totals
     * alone. */
    void (*totals)(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w);
    int64_t fewest, widest; /* fewest columns that are computed as a strip, most of a strip */
    bool chains;            /* tni_scan_both merges totals, so threads can divide blocks */
    bool streams;           /* the kernels can write past the caches */
};

/* Choose the class of a scan whose op and dtypes are set. */
void tni_scan_classify(tni_scan *s);

/* A way to walk memory.  plan returns whether it applies, and then has set s->why.  run
 * computes all sequences. */
struct tni_scan_way {
    const char *name;
    bool (*plan)(tni_scan *s);
    void (*run)(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
    bool streams; /* past the caches, whatever the kernels of the class */
};

/* Choose the way of a scan whose class and nest are set. */
void tni_scan_choose(tni_scan *s);

void tni_scan_run_columns(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_column_rounds(const tni_scan *s, char *dst, const char *src,
                                tni_scan_state *carry);
void tni_scan_run_short(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_narrow(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_rounds(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_lines(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);

/* The bytes that a scan counts when work is divided over threads: four times those of src,
 * because elements are read and written, and computing them takes about as long as that. */
static inline int64_t tni_scan_work(const tni_scan *s)
{
    return tni_mul_saturated(s->count, 4 * s->width[1]);
}

/* The number of sequences. */
int64_t tni_scan_sequences(const tni_scan *s);

/* ---- one sequence (scan_line.c) ---- */

/* Compute one sequence; carry is its state before and after, or NULL. */
void tni_scan_sequence(const tni_scan *s, char *d, const char *p, tni_scan_state *carry);

/* Store the result of no elements at d: the first element of a dst that is longer by one. */
void tni_scan_initial(const tni_scan *s, char *d);

/* Convert n <= TNI_TREE_BLOCK dense elements to another dtype; d may be s if nothing
 * changes. */
void tni_scan_cast(int isa, tn_dtype from, tn_dtype to, char *d, const char *s, int64_t n);

/* ---- blocks (scan_block.c) and strips (scan_strip.c) of the classes ---- */

void tni_scan_block_keys(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run);
void tni_scan_block_moved(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                          tni_scan_state *run);
void tni_scan_block_real(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run);
void tni_scan_block_int(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                        tni_scan_state *run);
void tni_scan_block_words(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                          tni_scan_state *run);
void tni_scan_block_logsumexp(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                              tni_scan_state *run);
void tni_scan_block_complex(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                            tni_scan_state *run);
void tni_scan_block_product(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                            tni_scan_state *run);
void tni_scan_block_bool(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                         tni_scan_state *run);

void tni_scan_strip_keys(const tni_scan *s, char *d, const char *p, int64_t w,
                         tni_scan_state *carry);
void tni_scan_strip_moved(const tni_scan *s, char *d, const char *p, int64_t w,
                          tni_scan_state *carry);
void tni_scan_strip_real(const tni_scan *s, char *d, const char *p, int64_t w,
                         tni_scan_state *carry);
void tni_scan_strip_words(const tni_scan *s, char *d, const char *p, int64_t w,
                          tni_scan_state *carry);
void tni_scan_strip_int(const tni_scan *s, char *d, const char *p, int64_t w,
                        tni_scan_state *carry);

void tni_scan_totals_moved(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w);
void tni_scan_totals_words(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w);
void tni_scan_totals_keys(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w);

/* The total of two consecutive pieces from their totals: the sum, product or larger key. */
tni_scan_word tni_scan_both(const tni_scan *s, tni_scan_word a, tni_scan_word b);

/* The identity of a sum or product. */
static inline double tni_scan_absent(const tni_scan *s)
{
    return s->op == TN_SCAN_SUM ? -0.0 : 1.0;
}

/* The kernels that compute running sums of src's dtype from memory to memory, or NULL. */
const tni_scan_sums *tni_scan_sums_of(const tni_scan *s);

/* The kernels of running maxima of src's dtype. */
static inline const tni_scan_extremes *tni_scan_extremes_of(const tni_scan *s)
{
    return &tni_kernels_of(s->isa)->scan->extremes[tni_log2_width(s->width[1])];
}

/* The least key, that of no elements. */
static inline int64_t tni_scan_least(const tni_scan_extremes *k)
{
    return (int64_t)(UINT64_MAX << (8 * k->key - 1));
}

/* Make every NaN the positive quiet one and, for sums, every zero +0. */
void tni_scan_settle(double *x, int64_t n, bool sum);

#endif
