/* fold_column_blocks.c - the way "column blocks": src is dense along a map axis, and the class
 * has no kernels for columns.
 *
 * A block of several neighbouring columns is transposed into a buffer, where each column is a
 * dense sequence, so a line of memory is read once for all of its columns. */
#include <string.h>

#include "fold_rows.h"
#include "fold_run.h"
#include "runtime/runtime.h"

enum {
    /* rows that are transposed at once: 32 elements of 16 bits fill a line of the buffer; not
     * measured finely */
    BAND = 32,
    /* rows by which prefetches are ahead: more than the latency of memory, and lines of so many
     * rows fit the L1; not measured finely */
    AHEAD = 64,
    /* most columns of a group: whole blocks of 24 columns of 16 bits fill the buffer, of wider
     * elements fewer; not measured finely */
    MOST = 32,
    /* fewest columns of a group: whole blocks of three columns of 16 bytes fill the buffer, so
     * that every dtype fits */
    LEAST = 2
};

/* The most columns whose blocks fit the buffer and whose waiting states fit the stack. */
static int64_t widest_group(const tni_fold *f)
{
    const int64_t rows = f->count < TNI_TREE_BLOCK ? f->count : TNI_TREE_BLOCK,
                  states = f->class->words * tni_fold_levels(f);
    int64_t w =
        (int64_t)sizeof((tni_fold_scratch *)NULL)->u.sequence.gather / (rows * f->width);
    w = w < TNI_FOLD_STACK / states ? w : TNI_FOLD_STACK / states;
    return w < MOST ? w : MOST;
}

/* Transpose the next n rows of w columns to dense sequences at d, n elements apart. */
static void transpose_rows(tni_fold_cursor *c, char *d, int64_t n, int64_t w)
{
    const tni_fold *f = c->f;
    const tni_copy_kernels *k = tni_kernels_of(f->isa)->copy;
    const int log2 = tni_log2_width(f->width);
    const char *row[BAND + AHEAD];
    int64_t s_at[BAND], d_at[MOST], known = 0;
    for (int64_t j = 0; j < w; j++)
        d_at[j] = j * n * f->width;
    for (int64_t i = 0; i < n; i += BAND) {
        const int64_t band = n - i < BAND ? n - i : BAND;
        int64_t have = known - i; /* rows from i on whose addresses are in row[] */
        const int64_t more = n - known < BAND + AHEAD - have ? n - known : BAND + AHEAD - have;
        tni_fold_rows(c, row + have, more);
        for (int64_t r = 0; r < more && f->fetch; r++)
            __builtin_prefetch(row[have + r], 0, 3);
        known += more;
        have += more;
        for (int64_t r = 0; r < band; r++)
            s_at[r] = row[r] - row[0];
        k->transpose_indexed[log2](d + i * f->width, d_at, row[0], s_at, band, w, 0);
        memmove(row, row + band, (size_t)(have - band) * sizeof *row);
    }
}

/* Reduce w neighbouring sequences, the first of which begins at x, to states at the start of
 * the stack. */
static void reduce_group(const tni_fold *f, const char *x, int64_t w, tni_fold_scratch *scratch)
{
    char *buffer = scratch->u.sequence.gather[0];
    tni_fold_pairs pairs = {.state = scratch->stack};
    tni_fold_cursor c;
    tni_fold_seek(&c, f, &x, 0);
    for (int64_t at = 0; at < f->count; at += TNI_TREE_BLOCK) {
        const int64_t n = f->count - at < TNI_TREE_BLOCK ? f->count - at : TNI_TREE_BLOCK;
        const tni_fold_sequences l = {
            .x = {buffer}, .step = {n * f->width}, .n = n, .count = w, .at = at};
        ASSERT(w * n * f->width <= (int64_t)sizeof scratch->u.sequence.gather);
        ASSERT((pairs.depth + 1) * f->class->words * w <= TNI_FOLD_STACK);
        transpose_rows(&c, buffer, n, w);
        f->class->sequence(f, pairs.state + pairs.depth * f->class->words * w, &l, scratch);
        tni_fold_push(f, &pairs, w);
        if (f->class->chains)
            tni_fold_close(f, &pairs, w);
    }
    tni_fold_close(f, &pairs, w);
}

static void groups_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    const tni_fold_axis *map = &f->map[f->nmap - 1];
    const int64_t groups = tni_ceil_div(map->n, j->strip);
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->runs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last; i++) {
        const int64_t column = i % groups * j->strip,
                      w = map->n - column < j->strip ? map->n - column : j->strip;
        int64_t dst, src[TNI_FOLD_SOURCES];
        tni_fold_map(f, i / groups * map->n + column, &dst, src);
        reduce_group(f, j->src[0] + src[0], w, &scratch);
        tni_fold_finish(f, j->dst + dst, map->dst, scratch.stack, w);
    }
}

bool tni_fold_column_blocks(const tni_fold *f)
{
    return widest_group(f) >= LEAST && f->map[f->nmap - 1].n >= LEAST;
}

void tni_fold_run_column_blocks(fold_job *j, int threads)
{
    const tni_fold *f = j->f;
    const int64_t n = f->map[f->nmap - 1].n, outer = f->outputs / n;
    j->strip = widest_group(f);
    /* with fewer groups than threads, narrower groups give every thread some columns */
    while (j->strip > LEAST && outer * tni_ceil_div(n, j->strip) < threads)
        j->strip = tni_ceil_div(j->strip, 2);
    j->runs = outer * tni_ceil_div(n, j->strip);
    j->parts = tni_run_parts(j->bytes, j->runs);
    tni_parallel(j->parts, groups_part, j);
}
