/* fold_gather.c - reduces a sequence block by block; blocks that are not dense in memory are
 * gathered in a buffer.
 *
 * Short columns side by side are transposed together, always whole ones; an incomplete block
 * stays at the beginning of the buffer until the next columns complete it. */
#include <string.h>

#include "fold_rows.h"
#include "fold_run.h"

enum {
    /* words of the states that callers keep at the beginning of the stack */
    PAIRS = (TNI_FOLD_LEVELS + 1) * TNI_FOLD_WORDS,
    /* bytes of a cache line */
    /* fewest columns that are transposed: 16 bytes of f32; not measured finely */
    LEAST = 4,
    /* rows that are transposed at once: 32 elements of 16 bits fill a line of the buffer; not
     * measured finely */
    BAND = 32,
    /* bytes of a row that are copied or transposed at once, four lines: a packed band takes
     * 10 KiB, a third of an L1; not measured finely */
    PIECE = 256,
    /* rows that are a multiple of so many bytes apart share a sixteenth of the 64 sets of an
     * L1 */
    ALIAS = 1024,
    /* while a dense run of fewer elements is copied, the next one is prefetched; the hardware
     * prefetcher suffices for longer ones.  Rows of 4 KiB gain from 21.8 to 31.4 GB/s (Zen 4,
     * "All of a transposed array: what was done after that" in
     * docs/investigations/reductions.md); the bound is not measured finely. */
    RUN = 4 * TNI_TREE_BLOCK
};

/* Reduce a block of n dense elements at x, the first of which has index `at`. */
static void reduce_block(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t at,
                         int64_t n, tni_fold_scratch *scratch)
{
    const tni_fold_sequences l = {.x = {x}, .n = n, .count = 1, .at = at};
    f->class->sequence(f, pairs->state + pairs->depth * f->class->words, &l, scratch);
    tni_fold_push(f, pairs, 1);
}

/* ---- columns side by side ---- */

typedef struct gatherer {
    const tni_fold *f;
    const char *const *x;
    char *buffer, *pack;
    int64_t rows, side;   /* rows of a column; columns side by side in memory */
    int64_t space, width; /* elements that the buffer holds; columns transposed at once */
} gatherer;

/* Set up the transposition of columns; false if too few columns fit the buffer. */
static bool gatherer_make(gatherer *g, const tni_fold *f, const char *const *x,
                          tni_fold_scratch *scratch)
{
    if (f->nsrc != 1 || f->nfold < 2 || f->fold[f->nfold - 2].src[0] != f->width)
        return false;
    *g = (gatherer){.f = f, .x = x, .buffer = (char *)(scratch->stack + PAIRS)};
    g->pack = scratch->u.sequence.terms; /* unused while blocks are gathered */
    _Static_assert(BAND * (PIECE + TNI_LINE) <= sizeof scratch->u.sequence.terms,
                   "a band fits");
    g->rows = f->fold[f->nfold - 1].n;
    g->side = f->fold[f->nfold - 2].n;
    g->space = (scratch->u.sequence.elems[0] - g->buffer) / f->width;
    g->width = (g->space - TNI_TREE_BLOCK) / g->rows;
    const int64_t line = TNI_LINE / f->width;
    if (g->width > line)
        g->width -= g->width % line; /* whole lines */
    return g->width >= LEAST;
}

/* Transpose w columns at s, a band of rows at a time; with `more`, prefetch the next w columns.
 * Rows that are a multiple of ALIAS apart share sets of the caches, so their lines are packed
 * first. */
static void gather_bands(const gatherer *g, char *d, const char *s, int64_t w, bool more)
{
    const tni_fold *f = g->f;
    const tni_copy_kernels *k = tni_kernels_of(f->isa)->copy;
    const int log2 = tni_log2_width(f->width);
    const int64_t step = f->fold[f->nfold - 1].src[0], bytes = w * f->width;
    int64_t s_at[BAND], d_at[PIECE];
    for (int64_t i = 0; i < BAND; i++)
        s_at[i] = step % ALIAS ? i * step : i * (bytes + TNI_LINE);
    for (int64_t j = 0; j < w; j++)
        d_at[j] = j * g->rows * f->width;
    for (int64_t i = 0; i < g->rows; i += BAND) {
        const int64_t n = g->rows - i < BAND ? g->rows - i : BAND;
        const char *band = s + i * step;
        for (int64_t r = 0; r < n; r++) {
            if (more)
                tni_fold_fetch(band + r * step + bytes, bytes);
            if (step % ALIAS == 0)
                k->copy(g->pack + s_at[r], band + r * step, bytes);
        }
        k->transpose_indexed[log2](d + i * f->width, d_at, step % ALIAS ? band : g->pack, s_at,
                                   n, w, 1);
    }
}

/* Transpose columns from c on, at most `most`, into the buffer after its first `have` elements.
 * Returns their number. */
static int64_t gather_columns(const gatherer *g, int64_t c, int64_t most, int64_t have)
{
    const tni_fold *f = g->f;
    const int64_t beside = g->side - c % g->side, step = f->fold[f->nfold - 1].src[0];
    int64_t w = g->width < beside ? g->width : beside;
    w = w < most ? w : most;
    const bool more = f->fetch && w < beside && w < most;
    char *d = g->buffer + have * f->width;
    ASSERT(have + w * g->rows <= g->space);
    const char *s = tni_fold_address(f, g->x, c * g->rows);
    if (f->fetch && g->rows >= BAND && w * f->width <= PIECE)
        gather_bands(g, d, s, w, more);
    else
        tni_kernels_of(f->isa)->copy->transpose[tni_log2_width(f->width)](
            d, g->rows * f->width, s, step, g->rows, w, more ? w * f->width : 0);
    return w;
}

static void gather_transposed(const gatherer *g, tni_fold_pairs *pairs, int64_t first,
                              int64_t last, tni_fold_scratch *scratch)
{
    const tni_fold *f = g->f;
    const int64_t end = tni_ceil_div(last, g->rows); /* columns */
    int64_t have = 0, at = first;
    for (int64_t c = first / g->rows; at < last;) {
        const int64_t skip = have == 0 && c * g->rows < at ? at - c * g->rows : 0;
        const int64_t w = gather_columns(g, c, end - c, have);
        const char *x = g->buffer + skip * f->width;
        c += w;
        have += w * g->rows - skip;
        while (at < last && (have >= TNI_TREE_BLOCK || c == end)) {
            const int64_t n = last - at < TNI_TREE_BLOCK ? last - at : TNI_TREE_BLOCK;
            reduce_block(f, pairs, x, at, n, scratch);
            x += n * f->width;
            at += n;
            have -= n;
        }
        memmove(g->buffer, x, (size_t)(have * f->width));
    }
}

/* ---- runs of dense elements ---- */

/* Copy the next n elements, which form dense runs; while one is copied, the next is
 * prefetched. */
static void gather_runs(tni_fold_cursor *c, int64_t n, char *d)
{
    const tni_fold *f = c->f;
    const tni_copy_kernels *copy = tni_kernels_of(f->isa)->copy;
    while (n > 0) {
        const int64_t left = tni_walk_left(&c->walk), m = left < n ? left : n;
        const char *x = tni_fold_at(c, 0);
        tni_walk_advance(&c->walk, m);
        const char *next = tni_fold_at(c, 0);
        for (int64_t i = 0; i < m * f->width; i += PIECE) {
            const int64_t bytes = m * f->width - i < PIECE ? m * f->width - i : PIECE;
            tni_fold_fetch(next + i, bytes);
            copy->copy(d, x + i, bytes);
            d += bytes;
        }
        n -= m;
    }
}

/* ---- any layout ---- */

/* Reduce a dense sequence of a class that chains, in pieces that may be larger than a block. */
static void chain_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                      int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    const int64_t most = TNI_FOLD_PIECE / f->width;
    for (int64_t at = first, m; at < last; at += m) {
        m = last - at < most ? last - at : most;
        const tni_fold_sequences l = {.x = {x[0] + at * f->width},
                                      .n = m,
                                      .count = 1,
                                      .at = at,
                                      .before = pairs->depth ? pairs->state : NULL};
        f->class->sequence(f, pairs->state + pairs->depth * f->class->words, &l, scratch);
        tni_fold_push(f, pairs, 1);
        tni_fold_close(f, pairs, 1);
    }
}

void tni_fold_gather(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                     int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    tni_fold_cursor c;
    gatherer g;
    if (first >= last)
        return;
    if (f->class->chains && f->dense && f->nsrc == 1 && f->nfold == 1) {
        chain_run(f, pairs, x, first, last, scratch);
        return;
    }
    if (gatherer_make(&g, f, x, scratch)) {
        gather_transposed(&g, pairs, first, last, scratch);
        return;
    }
    tni_fold_seek(&c, f, x, first);
    const bool runs = f->fetch && f->nsrc == 1 && f->nfold > 1 &&
                      f->fold[f->nfold - 1].src[0] == f->width && f->fold[f->nfold - 1].n < RUN;
    for (int64_t at = first; at < last;) {
        const int64_t m = last - at < TNI_TREE_BLOCK ? last - at : TNI_TREE_BLOCK;
        tni_fold_sequences l = {.count = 1, .n = m, .at = at};
        if (runs) {
            gather_runs(&c, m, scratch->u.sequence.gather[0]);
            l.x[0] = scratch->u.sequence.gather[0];
        } else {
            for (int k = 0; k < f->nsrc; k++)
                l.x[k] = tni_fold_take(&c, k, m, scratch->u.sequence.gather[k]);
            tni_fold_skip(&c, m);
        }
        f->class->sequence(f, pairs->state + pairs->depth * f->class->words, &l, scratch);
        tni_fold_push(f, pairs, 1);
        at += m;
    }
}
