/* fold_run.h - declarations that the ways of reductions share. */
#ifndef TNI_FOLD_RUN_H
#define TNI_FOLD_RUN_H

#include "plan/plan.h"

/* The number of blocks of n elements; an empty sequence is one empty block. */
int64_t tni_fold_blocks(int64_t n);

/* The height of the largest complete subtree: it has 2^height of the blocks. */
static inline int tni_fold_height(int64_t blocks)
{
    ASSERT(blocks > 0);
    return 63 - __builtin_clzll((uint64_t)blocks);
}

/* The most states that can wait at once when the first block may have any number: two subtrees
 * of each size, and a new block. */
static inline int64_t tni_fold_run_states(int64_t blocks)
{
    return 3 + 2 * tni_fold_height(blocks);
}

/* Set the offsets of result number i; returns how many results, this one included, are left on
 * the innermost map axis. */
int64_t tni_fold_map(const tni_fold *f, int64_t i, int64_t *dst, int64_t *src);

/* The most states of a column that wait at once, including that of a new block. */
int64_t tni_fold_levels(const tni_fold *f);

/* The length in elements of runs that divide a sequence of count elements into at most `most`:
 * the blocks of a run are a power of two, the smallest that suffices. */
int64_t tni_fold_cut(int64_t count, int64_t most);

/* Merge the states of consecutive runs into results[0]. */
void tni_fold_join(const tni_fold *f, tni_word *results, int64_t runs, int64_t w);

/* Reduces n elements of one sequence, from element `first` on, to a state. */
typedef void (*tni_fold_one)(const tni_fold *f, tni_word *out, const char *const *x,
                             int64_t first, int64_t n, tni_fold_scratch *scratch);

/* The work that is divided into parts. */
typedef struct fold_job {
    const tni_fold *f;
    char *dst;
    const char *const *src;
    int64_t bytes; /* of all sources: the measure of the work */
    int parts;
    /* elements of a run; runs of a sequence, or the number of strips; columns of a strip */
    int64_t run, runs, strip;
    tni_fold_one one;
    tni_word *results; /* the states of runs */
} fold_job;

/* Reduces the blocks that begin in columns [first, last) of one sequence that goes down
 * columns, and adds them to the pairs. */
typedef void (*tni_fold_down)(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                              int64_t first, int64_t last, tni_fold_scratch *scratch);

/* A way is a row of fold_ways.c.  plan returns whether the way applies, and then has set f->why
 * and whatever else the way needs.  run computes all results with at most `threads` threads. */
struct tni_fold_way {
    const char *name;
    bool (*plan)(tni_fold *f);
    void (*run)(fold_job *j, int threads);
    tni_fold_down down; /* for ways that go down columns; otherwise NULL */
    bool streams;       /* results may use streaming stores, which run ends by tni_fold_fence */
};

/* Choose the way of a fold whose class and axes are set. */
void tni_fold_choose(tni_fold *f);

void tni_fold_run_lines(fold_job *j, int threads);
void tni_fold_run_columns(fold_job *j, int threads);
void tni_fold_run_column_blocks(fold_job *j, int threads);
void tni_fold_run_transpose(fold_job *j, int threads);
void tni_fold_run_short(fold_job *j, int threads);
void tni_fold_run_down(fold_job *j, int threads);

/* Whether blocks of several columns of the innermost map axis fit the buffer. */
bool tni_fold_column_blocks(const tni_fold *f);

/* Whether sequences are short and dense, and there are kernels that reduce them to results. */
bool tni_fold_short_rows(const tni_fold *f);

/* Divide the results over threads; j->one reduces the sequence of each (fold_line.c). */
void tni_fold_run_results(fold_job *j);

/* Whether threads divide each sequence because there are few results, but many blocks. */
static inline bool tni_fold_few(const fold_job *j, int threads)
{
    return j->f->outputs < 4 * threads && tni_fold_blocks(j->f->count) > j->f->outputs;
}

/* Copy the next n elements of operand k, in the order of the walk, to dense memory at d.  The
 * walk's offsets are relative to s; the walk itself does not move (walk_gather.c). */
void tni_walk_gather(char *d, const char *s, const tni_walk *from, int k, int64_t n,
                     int64_t width, int isa);

/* Fill the row in scratch that kernels for columns read where a tile has no row. */
void tni_fold_prepare(const tni_fold *f, tni_fold_scratch *scratch);

/* Reduce elements [first, last) of a sequence block by block, and add the blocks to the pairs.
 * Blocks that are not dense are gathered. */
void tni_fold_gather(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                     int64_t first, int64_t last, tni_fold_scratch *scratch);

/* The way "standing blocks": for columns of whole blocks, which are side by side. */
void tni_fold_standing_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                           int64_t first, int64_t last, tni_fold_scratch *scratch);

/* The number of columns of a strip of standing blocks. */
int64_t tni_fold_standing_strip(const tni_fold *f);

/* The way "across": rows are read in the order of memory, because the index of an element
 * follows from its address. */
void tni_fold_across_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch);

/* Sums of floats in the way "panels": tiles are read from the source without a buffer, and the
 * tiles of each column begin at a row of its own.  Columns first to first + w (inclusive: the
 * last block ends in column first + w) are neighbours in memory; column `first` begins at x.  w
 * is a multiple of TNI_SKEWED and at most tni_fold_skewed_strip, which is 0 if these kernels do
 * not apply. */
int64_t tni_fold_skewed_strip(const tni_fold *f);
void tni_fold_skewed(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t first,
                     int64_t w, tni_fold_scratch *scratch);

/* The number of blocks that begin before column c. */
int64_t tni_fold_before(const tni_fold *f, int64_t c);

/* The way "panels": for columns longer than a block. */
void tni_fold_panels_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch);

#endif
