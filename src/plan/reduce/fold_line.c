/* fold_line.c - the way "line": one sequence after the other.
 *
 * Threads take results or, if there are few, runs of blocks of each sequence.  The blocks of a
 * run are a power of two, aligned to a multiple of it.  Such a run is a subtree of the
 * summation tree, so dividing a sequence changes no bit. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* ---- one sequence ---- */

void tni_fold_sequence_run(const tni_fold *f, tni_word *out, const char *const *x,
                           int64_t first, int64_t n, tni_fold_scratch *scratch)
{
    tni_fold_pairs pairs = {.state = scratch->stack};
    if (n > 0) {
        tni_fold_gather(f, &pairs, x, first, first + n, scratch);
    } else { /* an empty sequence is one empty block */
        tni_fold_sequences l = {.count = 1, .at = first};
        for (int k = 0; k < f->nsrc; k++)
            l.x[k] = x[k];
        f->class->sequence(f, pairs.state, &l, scratch);
        tni_fold_push(f, &pairs, 1);
    }
    tni_fold_close(f, &pairs, 1);
    memcpy(out, pairs.state, (size_t)f->class->words * sizeof *out);
}

/* ---- results by threads ---- */

/* Compute results from number i on: a batch of short dense sequences, or one of another
 * sequence.  Returns their number. */
static int64_t batch(const fold_job *j, int64_t i, int64_t left, tni_fold_scratch *scratch)
{
    const tni_fold *f = j->f;
    int64_t dst, src[TNI_FOLD_SOURCES];
    const int64_t follow = tni_fold_map(f, i, &dst, src);
    tni_word state[TNI_FOLD_WORDS * TNI_FOLD_BATCH];
    const char *x[TNI_FOLD_SOURCES];
    for (int k = 0; k < f->nsrc; k++)
        x[k] = j->src[k] + src[k];
    if (!f->dense || f->count > TNI_TREE_BLOCK) {
        j->one(f, state, x, 0, f->count, scratch);
        tni_fold_finish(f, j->dst + dst, 0, state, 1);
        return 1;
    }
    const tni_fold_axis *a = f->nmap ? &f->map[f->nmap - 1] : NULL;
    int64_t m = follow < left ? follow : left;
    m = m < TNI_FOLD_BATCH ? m : TNI_FOLD_BATCH;
    tni_fold_sequences l = {.n = f->count, .count = m};
    for (int k = 0; k < f->nsrc; k++) {
        l.x[k] = x[k];
        l.step[k] = a ? a->src[k] : 0;
    }
    f->class->sequence(f, state, &l, scratch);
    tni_fold_finish(f, j->dst + dst, a ? a->dst : 0, state, m);
    return m;
}

static void sequences_part(void *arg, int part)
{
    const fold_job *j = arg;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last;)
        i += batch(j, i, last - i, &scratch);
}

/* ---- runs of blocks by threads ---- */

static void fold_run_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->runs, j->parts, part, &first, &last);
    for (int64_t r = first; r < last; r++) {
        const int64_t at = r * j->run, n = f->count - at < j->run ? f->count - at : j->run;
        j->one(f, j->results + r * f->class->words, j->src, at, n, &scratch);
    }
}

static void run_few(fold_job *j)
{
    const tni_fold *f = j->f;
    tni_word results[TNI_FOLD_PARTS * TNI_FOLD_WORDS];
    const char *const *src = j->src;
    const char *at[TNI_FOLD_SOURCES];
    j->results = results;
    j->run = tni_fold_cut(f->count, TNI_FOLD_PARTS);
    j->runs = (f->count - 1) / j->run + 1;
    ASSERT(j->runs <= TNI_FOLD_PARTS);
    fold_job one = *j;
    one.src = at;
    one.parts = tni_run_parts(tni_mul_saturated(f->count, f->width), j->runs);
    for (int64_t i = 0; i < f->outputs; i++) {
        int64_t dst, off[TNI_FOLD_SOURCES];
        tni_fold_map(f, i, &dst, off);
        for (int k = 0; k < f->nsrc; k++)
            at[k] = src[k] + off[k];
        tni_parallel(one.parts, fold_run_part, &one);
        tni_fold_join(f, results, j->runs, 1);
        tni_fold_finish(f, j->dst + dst, 0, results, 1);
    }
}

void tni_fold_run_results(fold_job *j)
{
    j->parts = tni_run_parts(j->bytes, j->f->outputs);
    tni_parallel(j->parts, sequences_part, j);
}

void tni_fold_run_lines(fold_job *j, int threads)
{
    j->one = tni_fold_sequence_run;
    if (tni_fold_few(j, threads))
        run_few(j);
    else
        tni_fold_run_results(j);
}
