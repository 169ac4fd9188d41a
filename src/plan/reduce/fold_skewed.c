/* fold_skewed.c - sums of floats of the shape of "panels", row by row and without a buffer.
 *
 * Blocks begin at different rows of neighbouring columns.  Rows whose distance is a multiple of
 * sixteen form a slot: sixteen slots, each of which is one lane of every column.  Slots are
 * summed one after the other, so that a column needs few accumulators and strips can be wide.
 * A window is eight consecutive rows of a slot, what one call of the kernel reads; a tile of a
 * column may end within a window.  Which lane a slot is differs from column to column, but
 * lanes are added by halves, and slots that are 8, 4, 2 and 1 apart are lanes at the same
 * distance, so that the order of the tree is kept. */
#include <string.h>

#include "fold_run.h"

enum {
    SKEWED_PAIRS = TNI_FOLD_LEVELS * TNI_FOLD_WORDS, /* words of the waiting states */
    /* fewest columns of a strip: narrower ones are not faster than panels; not measured
     * finely */
    SKEWED_LEAST = 128,
    /* words of a column besides the sums of its blocks: an accumulator, three partial sums,
     * four numbers of 32 bits */
    SKEWED_WORDS = 6
};

typedef struct skewed {
    const tni_fold *f;
    const char *x;
    int64_t first, w, each; /* first column, columns; most blocks that begin in a column */
    int64_t origin, last;   /* first row; end of the last block */
    tni_word *made;         /* of each waiting lane: block h of column c is made[h * w + c] */
    double *acc;            /* accumulators of the columns */
    tni_word *part;         /* partial sums of incomplete tiles (skewed.inc) */
    int32_t *begin;         /* the row at which the first block of a column begins */
    int32_t *phase; /* rows of the column's tile that precede the first row of a window */
    int32_t *order; /* columns sorted by the window in which their blocks end, modulo 16 */
    int32_t *tile;  /* number of the column's tile that ends in the first window */
    /* columns order[ends[e]] to order[ends[e + 1] - 1] end a block in windows v, v % 16 == e */
    int64_t ends[TNI_LANES + 1];
} skewed;

static int64_t skewed_rows(const tni_fold *f)
{
    return f->fold[f->nfold - 1].n;
}

/* The row of column c at which its first block begins. */
static int64_t skewed_begin(const skewed *s, int64_t c)
{
    const int64_t q = s->first + c;
    return tni_fold_before(s->f, q) * TNI_TREE_BLOCK - q * skewed_rows(s->f);
}

/* The kernel for f, or NULL. */
static void (*skewed_kernel(const tni_fold *f))(double *, void *, const char *const *,
                                                const char *const *, const int32_t *, int64_t)
{
    const tni_tree_kernels *k = tni_kernels_of(f->isa)->tree;
    if (!f->class->tree || f->term != TNI_TERM_SAME || f->product)
        return NULL;
    return f->src == TN_F32    ? k->skewed[TNI_TREE_F32]
           : f->src == TN_F64  ? k->skewed[TNI_TREE_F64]
           : f->src == TN_F16  ? k->skewed[TNI_TREE_F16]
           : f->src == TN_BF16 ? k->skewed[TNI_TREE_BF16]
                               : NULL;
}

static int64_t skewed_each(const tni_fold *f)
{
    return skewed_rows(f) / TNI_TREE_BLOCK + 1;
}

int64_t tni_fold_skewed_strip(const tni_fold *f)
{
    const int64_t words = TNI_FOLD_DEEP * skewed_each(f) + SKEWED_WORDS;
    int64_t w = (TNI_FOLD_SPACE - SKEWED_PAIRS) / words / TNI_SKEWED * TNI_SKEWED;
    w = w < TNI_FOLD_WIDTH ? w : TNI_FOLD_WIDTH;
    return skewed_kernel(f) && w >= SKEWED_LEAST ? w : 0;
}

/* The address of row j, or of the last row if j is greater: what is read after the last block
 * is not used. */
static const char *skewed_row(const skewed *s, int64_t j)
{
    const tni_fold *f = s->f;
    const int64_t rows = skewed_rows(f), at = j < s->last ? j : s->last - 1;
    return s->x + at / rows * f->width + at % rows * f->fold[f->nfold - 1].src[0];
}

/* Begin a slot: set phases and the windows in which blocks end, and clear the accumulators. */
static void skewed_seek(skewed *s, int64_t slot)
{
    int64_t many[TNI_LANES] = {0};
    for (int64_t c = 0; c < s->w; c++) {
        const int64_t from = s->origin - s->begin[c], phase = (from & (TNI_TILE - 1)) + slot;
        s->phase[c] = (int32_t)(phase / TNI_LANES % TNI_TILE_ROWS);
        s->tile[c] = (int32_t)((from - (from & (TNI_TILE - 1))) / TNI_TILE + phase / TNI_TILE);
        many[(TNI_LANES - 1 - s->tile[c]) & (TNI_LANES - 1)]++;
        s->acc[c] = -0.0;
    }
    s->ends[0] = 0;
    for (int e = 0; e < TNI_LANES; e++) {
        s->ends[e + 1] = s->ends[e] + many[e];
        many[e] = s->ends[e];
    }
    for (int64_t c = 0; c < s->w; c++)
        s->order[many[(TNI_LANES - 1 - s->tile[c]) & (TNI_LANES - 1)]++] = (int32_t)c;
    memset(s->part, 0, (size_t)(3 * s->w) * sizeof *s->part);
}

/* Store the sums of the blocks whose last tile ends in a window, and clear their
 * accumulators. */
static void skewed_end_blocks(const skewed *s, tni_word *made, int64_t window)
{
    const int64_t e = window % TNI_LANES;
    for (int64_t i = s->ends[e]; i < s->ends[e + 1]; i++) {
        const int64_t c = s->order[i], h = (window + s->tile[c] + 1) / TNI_LANES - 1;
        if (h >= 0 && h < s->each)
            made[h * s->w + c].f = s->acc[c];
        s->acc[c] = -0.0;
    }
}

static void skewed_slot(skewed *s, tni_word *made, int64_t slot)
{
    const int64_t windows = tni_ceil_div(s->last - s->origin, TNI_TILE);
    const char *rows[2][TNI_TILE_ROWS];
    skewed_seek(s, slot);
    for (int64_t v = 0; v <= windows;
         v++) { /* rows of window v; the kernel reads window v - 1 */
        for (int i = 0; i < TNI_TILE_ROWS; i++)
            rows[v & 1][i] = skewed_row(s, s->origin + slot + v * TNI_TILE + i * TNI_LANES);
        if (v == 0)
            continue;
        skewed_kernel(s->f)(s->acc, s->part, rows[~v & 1],
                            s->f->fetch && v < windows ? rows[v & 1] : NULL, s->phase, s->w);
        skewed_end_blocks(s, made, v - 1);
    }
}

static void skewed_slots(skewed *s)
{
    const tni_tree_kernels *k = tni_kernels_of(s->f->isa)->tree;
    const int64_t one = s->each * s->w;
    tni_word *top = s->made;
    memset(s->made, 0, (size_t)(TNI_FOLD_DEEP * one) * sizeof *s->made);
    for (int j = 0; j < TNI_LANES; j++, top += one) {
        skewed_slot(s, top, tni_fold_lane(j));
        for (int ones = j; ones & 1; ones >>= 1) {
            top -= one;
            k->lanes_sum(&top->f, one, 2);
        }
    }
}

void tni_fold_skewed(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t first,
                     int64_t w, tni_fold_scratch *scratch)
{
    skewed s = {.f = f, .x = x, .first = first, .w = w, .each = skewed_each(f)};
    ASSERT(w % TNI_SKEWED == 0 && w <= tni_fold_skewed_strip(f));
    s.origin = INT64_MAX;
    s.made = scratch->space + SKEWED_PAIRS;
    s.acc = &s.made[TNI_FOLD_DEEP * s.each * w].f;
    s.part = s.made + (TNI_FOLD_DEEP * s.each + 1) * w;
    s.begin = (int32_t *)(void *)(s.part + 3 * w);
    s.phase = s.begin + w;
    s.order = s.phase + w;
    s.tile = s.order + w;
    for (int64_t c = 0; c < w; c++) {
        const int64_t begin = skewed_begin(&s, c),
                      end = skewed_begin(&s, c + 1) + skewed_rows(f);
        s.begin[c] = (int32_t)begin;
        s.origin = begin < s.origin ? begin : s.origin;
        s.last = end > s.last ? end : s.last;
    }
    skewed_slots(&s);
    for (int64_t c = 0; c < w; c++) {
        const int64_t blocks =
            tni_fold_before(f, first + c + 1) - tni_fold_before(f, first + c);
        for (int64_t h = 0; h < blocks; h++) {
            pairs->state[pairs->depth] = s.made[h * w + c];
            tni_fold_push(f, pairs, 1);
        }
    }
}
