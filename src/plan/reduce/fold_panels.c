/* fold_panels.c - the way "panels": a long sequence down columns, whose blocks begin in any row
 * of a column; several columns at a time are transposed into a buffer.
 *
 * A panel is a number of neighbouring columns.  One window of rows at a time is transposed, so
 * that each column is dense in a buffer of its own.  A column is reduced in groups of rows: in
 * tiles, which allow wide panels, or in blocks if the class needs whole blocks.  To each column
 * belong the blocks that begin in it; the last of them ends in the next column, whose first
 * rows then count as further rows of this one.  At the end the states are merged in the order
 * of the sequence. */
#include <string.h>

#include "fold_run.h"

enum {
    /* most columns of a panel: four lines of f32 of each row, which are read at 0.48 of the
     * speed of memory, a single line at 0.18; 96 and 110 columns made no difference (Zen 4, the
     * section on transposed arrays in docs/investigations/reductions.md, which also has the
     * next two) */
    PANEL_MOST = 64,
    /* rows of a window if columns are reduced tile by tile */
    PANEL_WINDOW = 2 * TNI_TILE,
    /* rows by which prefetches are ahead: 0, 16, 32 and 256 made no difference; few, because
     * rows that are a power of two apart share sets of a cache */
    PANEL_AHEAD = 32,
    /* words of the accumulators of a column: moments have two sums and a centre for each lane,
     * and a tally */
    PANEL_LANES = 4 * TNI_LANES
};

/* Rows are numbered from the top of each column; the rows of the next column continue the
 * count. */
typedef struct panel {
    const tni_fold *f;
    tni_fold_scratch *scratch;
    char *buffer;              /* of each column: space for a group, then the window */
    int64_t pitch;             /* bytes of a column's buffer */
    int64_t group, window;     /* rows that are reduced at once, and transposed at once */
    int64_t first, w;          /* first column of the panel, number of columns */
    int64_t begin[PANEL_MOST]; /* rows [begin, end) are the blocks that begin in a column */
    int64_t end[PANEL_MOST];
    tni_fold_pairs of[PANEL_MOST]; /* the states of these blocks */
} panel;

static int64_t rows_of(const tni_fold *f)
{
    return f->fold[f->nfold - 1].n;
}

int64_t tni_fold_before(const tni_fold *f, int64_t c)
{
    return (c * rows_of(f) - 1) / TNI_TREE_BLOCK + (c > 0);
}

/* Most words of the waiting states of a column. */
static int64_t panel_words(const tni_fold *f)
{
    return tni_fold_run_states(rows_of(f) / TNI_TREE_BLOCK + 1) * f->class->words;
}

/* Reduce n rows of column c, from `row` on, which are whole groups of one block, dense at x. */
static void panel_reduce(panel *p, int64_t c, const char *x, int64_t row, int64_t n)
{
    const tni_fold *f = p->f;
    const int64_t begun = (row - p->begin[c]) % TNI_TREE_BLOCK;
    const bool more = begun + n < TNI_TREE_BLOCK;
    tni_word *out = p->of[c].state + p->of[c].depth * f->class->words;
    if (f->by_tiles) {
        const tni_fold_columns cols = {.x = x,
                                       .step = f->width,
                                       .n = n,
                                       .w = 1,
                                       .begun = begun,
                                       .acc = c * PANEL_LANES,
                                       .more = more};
        f->class->columns(f, out, &cols, p->scratch);
    } else {
        const tni_fold_sequences l = {
            .x = {x}, .n = n, .count = 1, .at = (p->first + c) * rows_of(f) + row};
        f->class->sequence(f, out, &l, p->scratch);
    }
    if (!more)
        tni_fold_push(f, &p->of[c], 1);
}

/* Reduce the groups of column c that end in the window at `row`, and move the last rows of the
 * window in front of it for the next one.  The first window begins at row `origin`. */
static void panel_groups(panel *p, int64_t c, int64_t row, int64_t origin)
{
    const tni_fold *f = p->f;
    char *buffer = p->buffer + c * p->pitch;
    const int64_t from = row - p->group; /* the row at which the buffer begins */
    int64_t at = from + (p->begin[c] - origin + p->group - 1) % p->group + 1;
    const int64_t end = row + p->window < p->end[c] ? row + p->window : p->end[c];
    if (at < p->begin[c])
        at = p->begin[c];
    while (at + p->group <= end) {
        const int64_t left = TNI_TREE_BLOCK - (at - p->begin[c]) % TNI_TREE_BLOCK;
        int64_t n = (end - at) / p->group * p->group;
        n = n < left ? n : left;
        panel_reduce(p, c, buffer + (at - from) * f->width, at, n);
        at += n;
    }
    memcpy(buffer, buffer + p->window * f->width, (size_t)(p->group * f->width));
}

/* Transpose n rows, from `row` on, of the columns at x into the window. */
static void panel_fill(const panel *p, const char *x, int64_t row, int64_t n)
{
    const tni_fold *f = p->f;
    const int64_t rows = rows_of(f), step = f->fold[f->nfold - 1].src[0];
    char *d = p->buffer + p->group * f->width;
    while (n > 0) {
        const int64_t r = row % rows, m = rows - r < n ? rows - r : n;
        const char *s = x + row / rows * f->width + r * step;
        tni_kernels_of(f->isa)->copy->transpose[tni_log2_width(f->width)](
            d, p->pitch, s, step, m, p->w, PANEL_AHEAD * step);
        d += m * f->width;
        row += m;
        n -= m;
    }
}

/* Reduce the blocks that begin in columns [first, first + w), the first of which is at x. */
static void panel_run(panel *p, tni_fold_pairs *pairs, const char *x)
{
    const tni_fold *f = p->f;
    const int64_t each = panel_words(f);
    int64_t first = INT64_MAX, last = 0;
    ASSERT(p->w > 0 && p->w <= PANEL_MOST && p->w * each <= TNI_FOLD_STACK / 2);
    for (int64_t c = 0; c < p->w; c++) {
        const int64_t at = (p->first + c) * rows_of(f),
                      block = tni_fold_before(f, p->first + c);
        p->of[c] = (tni_fold_pairs){.state = p->scratch->stack + TNI_FOLD_STACK / 2 + c * each,
                                    .first = block,
                                    .blocks = block};
        p->begin[c] = block * TNI_TREE_BLOCK - at;
        p->end[c] = tni_fold_before(f, p->first + c + 1) * TNI_TREE_BLOCK - at;
        first = p->begin[c] < first ? p->begin[c] : first;
        last = p->end[c] > last ? p->end[c] : last;
    }
    for (int64_t row = first; row < last; row += p->window) {
        panel_fill(p, x, row, last - row < p->window ? last - row : p->window);
        for (int64_t c = 0; c < p->w; c++)
            panel_groups(p, c, row, first);
    }
    for (int64_t c = 0; c < p->w; c++) {
        ASSERT(p->of[c].blocks == tni_fold_before(f, p->first + c + 1));
        tni_fold_append(f, pairs, &p->of[c], 1);
    }
}

/* Place the buffers: after the accumulators of the columns, or in the memory for gathered
 * sequences.  Returns the number of columns that fit. */
static int64_t panel_space(panel *p)
{
    const tni_fold *f = p->f;
    const int64_t lanes = (int64_t)sizeof(tni_word) * PANEL_LANES * PANEL_MOST;
    int64_t space = (int64_t)sizeof p->scratch->u.sequence.gather;
    p->buffer = p->scratch->u.sequence.gather[0];
    p->group = p->window = TNI_TREE_BLOCK;
    if (f->by_tiles) {
        space = (int64_t)sizeof p->scratch->u.columns.acc - lanes;
        p->buffer = p->scratch->u.columns.acc.bytes + lanes;
        p->group = TNI_TILE;
        p->window = PANEL_WINDOW;
    }
    p->pitch = (p->group + p->window) * f->width;
    const int64_t by_states = TNI_FOLD_STACK / 2 / panel_words(f);
    const int64_t most = space / p->pitch < PANEL_MOST ? space / p->pitch : PANEL_MOST;
    return most < by_states ? most : by_states;
}

void tni_fold_panels_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    panel p = {.f = f, .scratch = scratch};
    const int64_t rows = rows_of(f), side = f->fold[f->nfold - 2].n;
    const int64_t skewed = tni_fold_skewed_strip(f), panels = panel_space(&p),
                  most = skewed ? skewed : panels;
    pairs->first = pairs->blocks = tni_fold_before(f, first);
    for (p.first = first; p.first < last; p.first += p.w) {
        const int64_t beside =
            side - 1 - p.first % side; /* neighbours that follow this column */
        if (beside == 0) {
            const int64_t end = tni_fold_before(f, p.first + 1) * TNI_TREE_BLOCK;
            p.w = 1;
            tni_fold_gather(f, pairs, x, tni_fold_before(f, p.first) * TNI_TREE_BLOCK,
                            end < f->count ? end : f->count, scratch);
            continue;
        }
        p.w = last - p.first < most ? last - p.first : most;
        p.w = beside < p.w ? beside : p.w;
        const char *column = tni_fold_address(f, x, p.first * rows);
        if (skewed && p.w >= TNI_SKEWED) {
            p.w -= p.w % TNI_SKEWED;
            tni_fold_skewed(f, pairs, column, p.first, p.w, scratch);
        } else {
            p.w = p.w < panels ? p.w : panels;
            panel_run(&p, pairs, column);
        }
    }
}
