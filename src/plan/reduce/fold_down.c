/* fold_down.c - division over threads for the ways "across", "standing blocks" and "panels".
 *
 * Threads take results or, if these are few, the columns of each sequence, which is
 * column-major in memory.  Parts return their waiting states, which are merged in the order of
 * the sequence. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

static int64_t columns_of(const tni_fold *f)
{
    return f->count / f->fold[f->nfold - 1].n;
}

static void down_run(const tni_fold *f, tni_word *out, const char *const *x, int64_t first,
                     int64_t n, tni_fold_scratch *scratch)
{
    (void)first, (void)n; /* always the whole sequence */
    tni_fold_pairs pairs = {.state = scratch->stack};
    f->way->down(f, &pairs, x, 0, columns_of(f), scratch);
    tni_fold_close(f, &pairs, 1);
    memcpy(out, pairs.state, (size_t)f->class->words * sizeof *out);
}

typedef struct down_job {
    const tni_fold *f;
    const char *const *src;
    int parts;
    tni_fold_pairs of[TNI_FOLD_PARTS];
} down_job;

static void down_part(void *arg, int part)
{
    down_job *j = arg;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(columns_of(j->f), j->parts, part, &first, &last);
    j->f->way->down(j->f, &j->of[part], j->src, first, last, &scratch);
    ASSERT(j->of[part].depth < tni_fold_run_states(tni_fold_blocks(j->f->count)));
}

static void run_by_columns(const fold_job *all)
{
    const tni_fold *f = all->f;
    enum {
        RESULTS = TNI_FOLD_RESULTS / 2
    }; /* words: parts return few states of one sequence */
    tni_word results[RESULTS], total[(TNI_FOLD_LEVELS + 1) * TNI_FOLD_WORDS];
    const int64_t each = tni_fold_run_states(tni_fold_blocks(f->count)) * f->class->words;
    const int64_t most = RESULTS / each, columns = columns_of(f);
    const char *x[1];
    down_job j = {.f = f, .src = x};
    j.parts =
        tni_run_parts(tni_mul_saturated(f->count, f->width), most < columns ? most : columns);
    j.parts = j.parts < TNI_FOLD_PARTS ? j.parts : TNI_FOLD_PARTS;
    ASSERT(j.parts > 0 && j.parts * each <= RESULTS);
    for (int64_t i = 0; i < f->outputs; i++) {
        int64_t dst, off[TNI_FOLD_SOURCES];
        tni_fold_map(f, i, &dst, off);
        x[0] = all->src[0] + off[0];
        for (int p = 0; p < j.parts; p++)
            j.of[p] = (tni_fold_pairs){.state = results + p * each};
        tni_parallel(j.parts, down_part, &j);
        tni_fold_pairs pairs = {.state = total};
        for (int p = 0; p < j.parts; p++)
            tni_fold_append(f, &pairs, &j.of[p], 1);
        tni_fold_close(f, &pairs, 1);
        tni_fold_finish(f, all->dst + dst, 0, total, 1);
    }
}

void tni_fold_run_down(fold_job *j, int threads)
{
    j->one = down_run;
    if (tni_fold_few(j, threads))
        run_by_columns(j);
    else
        tni_fold_run_results(j);
}
