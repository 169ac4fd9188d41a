/* fold_run.h - what the ways of running a reduction share. */
#ifndef TNI_FOLD_RUN_H
#define TNI_FOLD_RUN_H

#include "plan/plan.h"

/* Blocks of n elements; nothing is one empty block. */
int64_t tni_fold_blocks(int64_t n);

/* Offsets of result number i, and how many results follow on the innermost map axis. */
int64_t tni_fold_map(const tni_fold *f, int64_t i, int64_t *dst, int64_t *src);

/* States of columns that wait at once, with a new one. */
int64_t tni_fold_levels(const tni_fold *f);

/* The power of two of blocks that makes at most so many runs, in elements. */
int64_t tni_fold_cut(int64_t count, int64_t most);

/* The states of consecutive runs become one, in results[0]. */
void tni_fold_join(const tni_fold *f, tni_word *results, int64_t runs, int64_t w);

/* Reduces n elements from first on of one sequence to a state. */
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

/* A way is a row of fold_ways.c.  plan: whether it is taken, and then f->why and what else the way
 * needs are set.  run: all results, by at most so many threads. */
struct tni_fold_way {
    const char *name;
    bool (*plan)(tni_fold *f);
    void (*run)(fold_job *j, int threads);
    tni_fold_down down; /* of ways that go down columns */
};

/* Choose the way of a fold whose class and axes are set. */
void tni_fold_choose(tni_fold *f);

void tni_fold_run_lines(fold_job *j, int threads);
void tni_fold_run_columns(fold_job *j, int threads);
void tni_fold_run_packed(fold_job *j, int threads);
void tni_fold_run_down(fold_job *j, int threads);

/* Threads take results, each made by j->one (fold_line.c). */
void tni_fold_run_results(fold_job *j);

/* Whether results are too few for the threads, but have blocks enough. */
static inline bool tni_fold_few(const fold_job *j, int threads)
{
    return j->f->outputs < 4 * threads && tni_fold_blocks(j->f->count) > j->f->outputs;
}

/* n elements of operand k from where a walk stands, in its order, into dense memory; s is where
 * its offsets count from (walk_gather.c). */
void tni_walk_gather(char *d, const char *s, const tni_walk *from, int k, int64_t n,
                     int64_t width, int isa);

/* Columns read what is absent from scratch. */
void tni_fold_prepare(const tni_fold *f, tni_fold_scratch *scratch);

/* Elements [first, last) of a sequence, gathered a block at a time, into the pairs. */
void tni_fold_gather(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                     int64_t first, int64_t last, tni_fold_scratch *scratch);

/* Columns are multiples of a block: blocks stand side by side. */
void tni_fold_standing_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                           int64_t first, int64_t last, tni_fold_scratch *scratch);

/* The columns of a strip of them. */
int64_t tni_fold_standing_strip(const tni_fold *f);

/* Columns are longer than a block, and sums of floats: tiles are added as the columns stand, each
 * from its own row on.  Columns [first, first + w) beside each other, and one more, the first at x;
 * w is a multiple of TNI_SKEWED and at most tni_fold_skewed_strip, which is 0 where this is not
 * possible. */
int64_t tni_fold_skewed_strip(const tni_fold *f);
void tni_fold_skewed(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t first,
                     int64_t w, tni_fold_scratch *scratch);

/* Blocks that begin before column c. */
int64_t tni_fold_before(const tni_fold *f, int64_t c);

/* Columns are longer than a block. */
void tni_fold_panels_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch);

#endif
