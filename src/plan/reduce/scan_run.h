/* scan_run.h - what the ways and the classes of running reductions share. */
#ifndef TNI_SCAN_RUN_H
#define TNI_SCAN_RUN_H

#include "plan/plan.h"

/* Columns of a strip: eight rows of f64 are 32 KiB, an L1.  Where a class keeps only a number
 * or two for each column, strips are as wide as the division over threads allows. */
enum { TNI_SCAN_COLUMNS = 512, TNI_SCAN_WIDEST = 2048 };

/* What came before a block of sums. */
typedef union tni_scan_word {
    double f;
    int64_t i;
} tni_scan_word;

/* How elements are computed.  fits says whether the class applies; the first one that does is
 * taken. */
struct tni_scan_class {
    const char *name;
    bool (*fits)(const tni_scan *s);
    /* n dense elements of one block, d may be x: at came before in the sequence, a multiple of a
     * group. */
    void (*block)(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                  tni_scan_state *run);
    /* w <= TNI_SCAN_WIDEST dense columns; carry: their states before and after, or NULL.  NULL:
     * sequences run one by one. */
    void (*strip)(const tni_scan *s, char *d, const char *p, int64_t w, tni_scan_state *carry);
    /* What w columns of a whole block add up to; NULL: only by running them. */
    void (*totals)(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w);
    int64_t fewest, widest; /* columns that pay, and of a strip where there are many */
    bool chains;            /* blocks meet by tni_scan_both: each can run by itself first */
    bool streams;           /* its kernels can write past the caches */
};

/* Choose the class of a scan whose op and dtypes are set. */
void tni_scan_classify(tni_scan *s);

/* A way to walk memory.  plan says whether it applies, and then sets s->why.  run computes all
 * sequences. */
struct tni_scan_way {
    const char *name;
    bool (*plan)(tni_scan *s);
    void (*run)(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
};

/* Choose the way of a scan whose class and nest are set. */
void tni_scan_choose(tni_scan *s);

void tni_scan_run_columns(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_column_rounds(const tni_scan *s, char *dst, const char *src,
                                tni_scan_state *carry);
void tni_scan_run_narrow(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_rounds(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);
void tni_scan_run_lines(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);

/* Bytes that a scan is worth when work is divided: elements are read and written and cost
 * about as much again. */
static inline int64_t tni_scan_work(const tni_scan *s)
{
    return tni_mul_saturated(s->count, 4 * s->width[1]);
}

/* The number of sequences. */
int64_t tni_scan_sequences(const tni_scan *s);

/* ---- one sequence (scan_line.c) ---- */

/* carry: its state before and after, or NULL. */
void tni_scan_sequence(const tni_scan *s, char *d, const char *p, tni_scan_state *carry);

/* The element in front of a sequence that is longer by one. */
void tni_scan_initial(const tni_scan *s, char *d);

/* n <= TNI_TREE_BLOCK dense elements of another dtype. */
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

/* What two blocks, one behind the other, make together: their sum, product or larger key. */
tni_scan_word tni_scan_both(const tni_scan *s, tni_scan_word a, tni_scan_word b);

/* The identity of a sum or product. */
static inline double tni_scan_absent(const tni_scan *s)
{
    return s->op == TN_SCAN_SUM ? -0.0 : 1.0;
}

/* The kernels that sum src's dtype from memory to memory, or NULL. */
const tni_scan_sums *tni_scan_sums_of(const tni_scan *s);

/* The kernels of running maxima of src's dtype. */
static inline const tni_scan_extremes *tni_scan_extremes_of(const tni_scan *s)
{
    return &tni_kernels_of(s->isa)->scan->extremes[tni_log2_width(s->width[1])];
}

/* The key that comes before all. */
static inline int64_t tni_scan_least(const tni_scan_extremes *k)
{
    return (int64_t)(UINT64_MAX << (8 * k->key - 1));
}

/* A computed NaN has one bit pattern, a sum that is zero one sign. */
void tni_scan_settle(double *x, int64_t n, bool sum);

#endif
