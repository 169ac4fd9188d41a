/* fold_ways.c - the table of ways in which a reduction walks memory; the first that fits is
 * taken.
 *
 *   way              file                  what it reduces, and how
 *   columns          fold_columns.c        sequences side by side: src is dense along a map
 *                                          axis; a strip of columns is reduced row by row
 *   column blocks    fold_column_blocks.c  the same for classes without kernels for columns: a
 *                                          block of several columns is transposed into a buffer
 *   short rows       fold_short.c          dense sequences of fewer than 128 elements, of
 *                                          classes with kernels for them: vectors hold several
 *                                          sequences, and shuffles combine the elements of each
 *   transpose        fold_transpose.c      short sequences: many are transposed into a buffer
 *                                          and reduced there as columns
 *   across           fold_across.c         argmin and argmax of a long sequence down columns:
 *                                          rows are read in the order of memory, because the
 *                                          index of an element follows from its address
 *   standing blocks  fold_standing.c       a long sequence down columns whose length is a
 *                                          multiple of a block: the blocks of neighbouring
 *                                          columns are reduced side by side, row by row
 *   panels           fold_panels.c         a long sequence down columns longer than a block:
 *                                          several columns at a time are transposed into a
 *                                          buffer
 *                    fold_skewed.c         sums of floats of that shape, without a buffer
 *   line             fold_line.c           any layout: one sequence after the other; blocks
 *                                          that are not dense are gathered (fold_gather.c)
 *
 * A sequence goes down columns if its order is column-major in memory, as in the sum of a
 * transposed matrix.  fold_down.c divides the columns of such a sequence over threads.  A block
 * is TNI_TREE_BLOCK elements of a sequence. */
#include "fold_run.h"
#include "runtime/runtime.h"

int64_t tni_fold_levels(const tni_fold *f)
{
    const int64_t levels = 1 + tni_fold_height(tni_fold_blocks(f->count));
    return f->class->chains && levels > 2 ? 2 : levels;
}

enum {
    /* shorter sequences of any class with kernels for columns are transposed; measured on
     * Zen 4 */
    SHORT_ANY = 16,
    /* fewer columns are too few for kernels that take rows of them: such rows are joined or
     * transposed.  A line of bytes, four vectors of f32 with AVX-512; not measured finely. */
    NARROW = 64,
    /* the same for the classes that say so in joins_wide: rows of 127 bytes gain by being
     * joined, rows of 300 lose (Zen 4, "Var of integers, rows of three, narrow rows" in
     * docs/investigations/reductions.md) */
    NARROW_FREE = 256,
    /* a sequence down fewer columns is gathered block by block: half a line of f32; not
     * measured finely */
    DOWN_LEAST = 8,
    /* bytes of the columns and the states of a strip of transposed sequences: the L1 of Zen 4;
     * other sizes were not measured */
    TRANSPOSE_BYTES = 32768
};

/* Dense rows of fewer columns than this are joined. */
static int64_t narrow(const tni_fold *f)
{
    return f->width <= f->class->joins_wide ? NARROW_FREE : NARROW;
}

/* The number of columns whose accumulators and waiting states fit their space. */
static int64_t widest_strip(const tni_fold *f)
{
    const int64_t states = f->class->words * tni_fold_levels(f);
    const int64_t rows = f->nfold == 1 ? 0 : TNI_TREE_BLOCK; /* space for addresses of rows */
    const int64_t by_acc = (TNI_FOLD_SPACE - TNI_FOLD_STACK - rows) / f->class->acc;
    int64_t w = (TNI_FOLD_SPACE - rows) / (states + f->class->acc),
            most = TNI_FOLD_ROW / f->width;
    w = w < by_acc ? w : by_acc;
    if (f->joined) /* every joined row has accumulators of its own */
        w = most = narrow(f);
    if (f->class->widest && most > f->class->widest)
        most = f->class->widest;
    w = w < most ? w : most;
    ASSERT(w > 0);
    return w > 16 ? w / 16 * 16 : w;
}

/* The lengths of dense sequences for which there are kernels for exactly one length. */
static struct few {
    int64_t least, most;
} few_lengths(const tni_fold *f)
{
    if (f->src == TN_F64 || (tni_is_half(f->src) && tni_kernels_of(f->isa)->tree->sum16[0]))
        return (struct few){3, 3};
    return f->src == TN_F32 ? (struct few){1, 8} : (struct few){1, 0};
}

/* Whether sequences have such a kernel; then they are reduced one after the other. */
static bool few_elements(const tni_fold *f, const tni_fold_axis *map)
{
    const struct few few = few_lengths(f);
    return f->class->tree && f->term == TNI_TERM_SAME && !f->product && f->dense &&
           f->count >= few.least && f->count <= few.most && map->src[0] == f->count * f->width;
}

/* Columns of a strip whose buffer and states stay in the L1. */
static int64_t transpose_strip(const tni_fold *f)
{
    const int64_t each = f->count * f->width + (int64_t)sizeof(tni_word) * f->class->words;
    int64_t w = TRANSPOSE_BYTES / each;
    const int64_t widest = widest_strip(f);
    w = w < widest ? w : widest;
    w = w < TNI_FOLD_PACKED_WIDTH ? w : TNI_FOLD_PACKED_WIDTH;
    return w > 64 ? w / 64 * 64 : w > 16 ? w / 16 * 16 : w;
}

/* Whether sequences of this length are transposed.  Classes with kernels for fewer than
 * TNI_SHORT rows in a buffer transpose longer ones. */
static bool short_sequences(const tni_fold *f)
{
    return f->count < SHORT_ANY || (f->count < TNI_SHORT && f->class->packs) ||
           (!f->dense && f->count < NARROW);
}

/* Whether a sequence goes down columns that are side by side in memory. */
static bool runs_down(const tni_fold *f)
{
    return f->nsrc == 1 && f->nfold >= 2 && f->class->ordered &&
           f->fold[f->nfold - 2].src[0] == f->width && f->fold[f->nfold - 2].n >= DOWN_LEAST;
}

/* Whether blocks of neighbouring columns begin in the same rows, and strips of them are
 * wide. */
static bool blocks_stand(const tni_fold *f)
{
    if (f->nfold > 2 || f->fold[1].n % TNI_TREE_BLOCK)
        return false;
    return tni_fold_standing_strip(f) >= 4 * NARROW;
}

/* ---- the ways ---- */

/* The innermost map axis, or NULL if sequences cannot be reduced side by side along it. */
static const tni_fold_axis *side_by_side(const tni_fold *f)
{
    const bool many = f->class->columns && f->nsrc == 1 && f->nmap && f->count > 0;
    return many ? &f->map[f->nmap - 1] : NULL;
}

/* Sequences side by side, row by row. */
static bool plan_columns(tni_fold *f)
{
    const tni_fold_axis *map = side_by_side(f);
    if (!map || map->src[0] != f->width)
        return false;
    f->joined = map->n < narrow(f) && f->nfold == 1 && f->fold[0].src[0] == map->n * f->width &&
                f->count >= 2 * TNI_LANES;
    if (!f->joined && map->n < NARROW)
        return false;
    f->strip = widest_strip(f);
    f->why = f->joined ? "narrow rows are dense: some are one" : "results are dense in memory";
    return true;
}

/* Sequences side by side, of a class without kernels for columns. */
static bool plan_column_blocks(tni_fold *f)
{
    f->why = "results are dense in memory, sequences are reduced one by one";
    return !f->class->columns && f->nsrc == 1 && f->nmap && f->count > 1 &&
           f->outputs >= NARROW && f->map[f->nmap - 1].src[0] == f->width &&
           tni_fold_column_blocks(f);
}

/* Short dense sequences, several in a vector. */
static bool plan_short(tni_fold *f)
{
    f->why = "rows are short and dense: vectors of some of them are merged";
    return tni_fold_short_rows(f);
}

/* Short sequences, transposed into columns. */
static bool plan_transpose(tni_fold *f)
{
    const tni_fold_axis *map = side_by_side(f);
    if (!map || f->outputs < NARROW || few_elements(f, map) || !short_sequences(f))
        return false;
    f->strip = transpose_strip(f);
    f->why = "short sequences are transposed";
    return true;
}

/* The index of the largest element of one long sequence. */
static bool plan_across(tni_fold *f)
{
    enum {
        LEAST = 512
    }; /* bytes of a row that pay for a call: eight lines; not measured finely */
    f->why = "the index of an element follows from its address";
    return f->class->index && runs_down(f) && f->fold[f->nfold - 2].n * f->width >= LEAST;
}

/* Blocks of one long sequence side by side. */
static bool plan_standing(tni_fold *f)
{
    f->why = "blocks of the sequence stand side by side";
    return f->class->columns && runs_down(f) && f->fold[0].n >= NARROW && blocks_stand(f);
}

/* Columns of one long sequence, a panel of them at a time. */
static bool plan_panels(tni_fold *f)
{
    if (!runs_down(f) || f->fold[f->nfold - 1].n <= TNI_TREE_BLOCK)
        return false;
    f->why = tni_fold_skewed_strip(f)
                 ? "columns of the sequence are added as they stand"
                 : "columns of the sequence are transposed, some at a time";
    f->by_tiles = f->skip ? f->class->tiles_numbers : f->class->tiles;
    f->joined = f->by_tiles; /* a column in the buffer is dense */
    return true;
}

/* One sequence after the other. */
static bool plan_line(tni_fold *f)
{
    f->why =
        f->dense ? "a sequence is dense in memory" : "a sequence is gathered block by block";
    return true;
}

static const tni_fold_way ways[] = {
    {"columns", plan_columns, tni_fold_run_columns, NULL, false},
    {"column blocks", plan_column_blocks, tni_fold_run_column_blocks, NULL, false},
    {"short rows", plan_short, tni_fold_run_short, NULL, false},
    {"transpose", plan_transpose, tni_fold_run_transpose, NULL, true},
    {"across", plan_across, tni_fold_run_down, tni_fold_across_run, false},
    {"standing blocks", plan_standing, tni_fold_run_down, tni_fold_standing_run, false},
    {"panels", plan_panels, tni_fold_run_down, tni_fold_panels_run, false},
    {"line", plan_line, tni_fold_run_lines, NULL, false},
};

/* Whether results are dense, at least as large as the sources, and beyond the caches. */
static bool results_stream(const tni_fold *f)
{
    const int64_t out = tni_mul_saturated(f->outputs, tni_width(f->dst));
    return f->map[f->nmap - 1].dst == tni_width(f->dst) &&
           tni_width(f->dst) >= f->count * f->width && out >= tni_cache_sizes()->stream;
}

void tni_fold_choose(tni_fold *f)
{
    f->fetch = f->outputs > tni_cache_sizes()->l2 / f->width / (f->count ? f->count : 1);
    f->joined = f->by_tiles = false;
    f->strip = 0;
    for (f->way = ways; !f->way->plan(f); f->way++)
        ASSERT(f->way + 1 < ways + COUNT(ways));
    f->stream = f->way->streams && results_stream(f);
}

void tni_fold_run(const tni_fold *f, char *dst, const char *const *srcs)
{
    static const char nothing[16]; /* the address of a source without elements; not read */
    const char *src[TNI_FOLD_SOURCES] = {NULL};
    if (f->outputs == 0)
        return;
    for (int k = 0; k < f->nsrc; k++)
        src[k] = f->count > 0 ? srcs[k] + f->shift[1 + k] : nothing;
    fold_job j = {.f = f, .dst = dst + f->shift[0], .src = src};
    j.bytes =
        tni_mul_saturated(tni_mul_saturated(f->outputs, f->count ? f->count : 1), f->width);
    f->way->run(&j, tni_run_parts(j.bytes, INT64_MAX));
}
