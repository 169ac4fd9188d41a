/* fold_run.h - what the ways of running a reduction share. */
#ifndef TNI_FOLD_RUN_H
#define TNI_FOLD_RUN_H

#include "plan/plan.h"

/* Blocks of n elements; no elements are one empty block. */
int64_t tni_fold_blocks(int64_t n);

/* How often blocks can be halved: the largest node of the tree over them has 2^height of them. */
static inline int tni_fold_height(int64_t blocks)
{
    ASSERT(blocks > 0);
    return 63 - __builtin_clzll((uint64_t)blocks);
}

/* States of blocks that begin anywhere, as many as can wait at once: two of each size, and a new
 * one. */
static inline int64_t tni_fold_run_states(int64_t blocks)
{
    return 3 + 2 * tni_fold_height(blocks);
}

/* Offsets of result number i, and how many results follow on the innermost map axis. */
int64_t tni_fold_map(const tni_fold *f, int64_t i, int64_t *dst, int64_t *src);

/* States of a column that wait at once, including a new one. */
int64_t tni_fold_levels(const tni_fold *f);

/* The length of runs, in elements: the least power of two of blocks that makes at most `most`. */
int64_t tni_fold_cut(int64_t count, int64_t most);

/* Merge the states of consecutive runs into results[0]. */
void tni_fold_join(const tni_fold *f, tni_word *results, int64_t runs, int64_t w);

/* Reduces n elements of one sequence, from `first` on, to a state. */
typedef void (*tni_fold_one)(const tni_fold *f, tni_word *out, const char *const *x,
                             int64_t first, int64_t n, tni_fold_scratch *scratch);

/* Work that parts share. */
typedef struct fold_job {
    const tni_fold *f;
    char *dst;
    const char *const *src;
    int64_t bytes; /* that are read */
    int parts;
    int64_t run, runs, strip; /* strip: its columns */
    tni_fold_one one;
    tni_word *results; /* of runs */
} fold_job;

/* The blocks that begin in columns [first, last) of one sequence that goes down columns. */
typedef void (*tni_fold_down)(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                              int64_t first, int64_t last, tni_fold_scratch *scratch);

/* A way is a row of fold_ways.c.  plan says whether it applies, and then sets f->why and
 * whatever else the way needs.  run makes all results with at most `threads` threads. */
struct tni_fold_way {
    const char *name;
    bool (*plan)(tni_fold *f);
    void (*run)(fold_job *j, int threads);
    tni_fold_down down; /* for ways that go down columns; else NULL */
};

/* Choose the way of a fold whose class and axes are set. */
void tni_fold_choose(tni_fold *f);

void tni_fold_run_lines(fold_job *j, int threads);
void tni_fold_run_columns(fold_job *j, int threads);
void tni_fold_run_column_blocks(fold_job *j, int threads);
void tni_fold_run_packed(fold_job *j, int threads);
void tni_fold_run_short(fold_job *j, int threads);
void tni_fold_run_down(fold_job *j, int threads);

/* Whether some columns of the innermost map axis fit a buffer. */
bool tni_fold_column_blocks(const tni_fold *f);

/* Whether rows are short and dense, and there are kernels that make results of them. */
bool tni_fold_short_rows(const tni_fold *f);

/* Divide the results over threads; j->one makes each of them (fold_line.c). */
void tni_fold_run_results(fold_job *j);

/* Whether there are too few results to divide, but enough blocks. */
static inline bool tni_fold_few(const fold_job *j, int threads)
{
    return j->f->outputs < 4 * threads && tni_fold_blocks(j->f->count) > j->f->outputs;
}

/* Copy n elements of operand k to dense memory, in the order of a walk from its present position;
 * the walk's offsets are relative to s (walk_gather.c). */
void tni_walk_gather(char *d, const char *s, const tni_walk *from, int k, int64_t n,
                     int64_t width, int isa);

/* Fill the row in scratch that columns read in place of absent ones. */
void tni_fold_prepare(const tni_fold *f, tni_fold_scratch *scratch);

/* Reduce elements [first, last) of a sequence, gathered a block at a time, into the pairs. */
void tni_fold_gather(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                     int64_t first, int64_t last, tni_fold_scratch *scratch);

/* For columns of whole blocks: blocks are side by side. */
void tni_fold_standing_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                           int64_t first, int64_t last, tni_fold_scratch *scratch);

/* The number of columns of a strip of standing blocks. */
int64_t tni_fold_standing_strip(const tni_fold *f);

/* For indices, which follow from addresses: rows are read in the order of memory. */
void tni_fold_across_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch);

/* For sums of floats down columns longer than a block: tiles are added in place, those of each
 * column from its own row on.  Columns [first, first + w] are neighbours in memory, the first
 * at x.  w is a multiple of TNI_SKEWED and at most tni_fold_skewed_strip, which is 0 where this
 * way does not apply. */
int64_t tni_fold_skewed_strip(const tni_fold *f);
void tni_fold_skewed(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t first,
                     int64_t w, tni_fold_scratch *scratch);

/* Blocks that begin before column c. */
int64_t tni_fold_before(const tni_fold *f, int64_t c);

/* For columns longer than a block. */
void tni_fold_panels_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch);

#endif
