/* fold_panels.c - a long sequence down columns whose length is no multiple of a block.
 *
 * A panel is half a line of columns.  Its rows are transposed into a buffer of one block for each
 * column.  Every column makes the blocks that begin in it: the last of them ends in the next
 * column, whose first rows are read again at the end.  Then the blocks meet in the order of the
 * sequence. */
#include <string.h>

#include "fold_run.h"

enum { PANEL_MOST = TNI_FOLD_PANEL, PANEL_ROWS = 256 }; /* columns of a byte; rows at a time */

typedef struct panel {
    const tni_fold *f;
    tni_fold_scratch *scratch;
    const char *x;
    tni_fold_pairs pairs;
    int64_t w;                /* columns */
    int64_t fill[PANEL_MOST]; /* elements in the buffer of a column */
    int64_t made[PANEL_MOST]; /* its blocks; -1: its buffer ends a block of the column before */
    int64_t s_at[PANEL_ROWS];
} panel;

static char *panel_buffer(const panel *p, int64_t c)
{
    return p->scratch->u.line.gather[0] + c * TNI_TREE_BLOCK * p->f->width;
}

/* Blocks that begin before column c. */
static int64_t panel_before(const tni_fold *f, int64_t c)
{
    return (c * f->fold[1].n - 1) / TNI_TREE_BLOCK + (c > 0);
}

/* Where the state of a block waits: at most `each` are made of a column. */
static tni_word *panel_state(const panel *p, int64_t c, int64_t block)
{
    const int64_t each = p->f->fold[1].n / TNI_TREE_BLOCK + 1;
    return p->scratch->stack + TNI_FOLD_STACK / 2 + (c * each + block) * p->f->class->words;
}

/* The buffer of column c is a block. */
static void panel_block(panel *p, int64_t c, int64_t first)
{
    const tni_fold *f = p->f;
    tni_fold_lines l = {.n = TNI_TREE_BLOCK, .count = 1};
    p->fill[c] = 0;
    if (p->made[c] >= 0) {
        l.at = (panel_before(f, first + c) + p->made[c]) * TNI_TREE_BLOCK;
        l.x[0] = panel_buffer(p, c);
        f->class->line(f, panel_state(p, c, p->made[c]), &l, p->scratch);
    }
    p->made[c]++;
}

/* Rows of the columns at s into the buffers, as long as none is full: the number of rows.  Those
 * of columns that are full already go nowhere. */
static int64_t panel_rows(panel *p, const char *s, int64_t rows)
{
    const tni_fold *f = p->f;
    char *nowhere = p->scratch->u.line.terms, *base = panel_buffer(p, 0);
    int64_t m = rows < PANEL_ROWS ? rows : PANEL_ROWS, d_at[PANEL_MOST];
    for (int64_t c = 0; c < p->w; c++) {
        const int64_t left = TNI_TREE_BLOCK - p->fill[c];
        d_at[c] = (left ? panel_buffer(p, c) + p->fill[c] * f->width : nowhere) - base;
        m = left && left < m ? left : m;
    }
    tni_kernels_of(f->isa)->copy->transpose_indexed[tni_log2_width(f->width)](base, d_at, s,
                                                                              p->s_at, m, p->w);
    for (int64_t c = 0; c < p->w; c++)
        if (p->fill[c] < TNI_TREE_BLOCK)
            p->fill[c] += m;
    return m;
}

/* Columns [first, first + w), and the first rows of the one behind them. */
static void panel_run(panel *p, int64_t first)
{
    const tni_fold *f = p->f;
    const int64_t rows = f->fold[1].n, step = f->fold[1].src[0];
    const char *s = p->x + first * f->width;
    for (int64_t c = 0; c < p->w; c++) {
        p->fill[c] = (first + c) * rows % TNI_TREE_BLOCK;
        p->made[c] = p->fill[c] ? -1 : 0;
    }
    for (int64_t r = 0; r < rows;) {
        r += panel_rows(p, s + r * step, rows - r);
        for (int64_t c = 0; c < p->w; c++)
            if (p->fill[c] == TNI_TREE_BLOCK)
                panel_block(p, c, first);
    }
    bool open = false;
    for (int64_t c = 0; c < p->w; c++) { /* no block is begun: nothing is left to be read */
        p->fill[c] = p->fill[c] ? p->fill[c] : TNI_TREE_BLOCK + 1;
        open |= p->fill[c] < TNI_TREE_BLOCK;
    }
    for (int64_t r = 0; open;) {
        for (int64_t c = 0; c < p->w; c++)
            p->fill[c] = p->fill[c] > TNI_TREE_BLOCK ? TNI_TREE_BLOCK : p->fill[c];
        r += panel_rows(p, s + f->width + r * step, TNI_TREE_BLOCK);
        open = false;
        for (int64_t c = 0; c < p->w; c++)
            open |= p->fill[c] < TNI_TREE_BLOCK;
    }
    for (int64_t c = 0; c < p->w; c++) {
        const int64_t blocks = panel_before(f, first + c + 1) - panel_before(f, first + c);
        if (p->made[c] < blocks)
            panel_block(p, c, first);
        for (int64_t b = 0; b < blocks; b++) {
            memcpy(p->pairs.state + p->pairs.depth * f->class->words, panel_state(p, c, b),
                   (size_t)f->class->words * sizeof *p->pairs.state);
            tni_fold_push(f, &p->pairs, 1);
        }
    }
}

void tni_fold_panels_run(const tni_fold *f, tni_word *out, const char *const *x, int64_t first,
                         int64_t n, tni_fold_scratch *scratch)
{
    panel p = {.f = f, .scratch = scratch, .x = x[0], .pairs = {.state = scratch->stack}};
    const int64_t rows = f->fold[1].n, most = TNI_FOLD_PANEL / f->width;
    /* columns whose blocks are all in this run: the last one has none behind it */
    int64_t column = (first + rows - 1) / rows;
    int64_t last = (first + n) / TNI_TREE_BLOCK * TNI_TREE_BLOCK / rows;
    last = last < f->fold[0].n - 1 ? last : f->fold[0].n - 1;
    if (column >= last) {
        tni_fold_gather(f, &p.pairs, x, first, first + n, scratch);
    } else {
        for (int64_t a = 0; a < PANEL_ROWS; a++)
            p.s_at[a] = a * f->fold[1].src[0];
        tni_fold_gather(f, &p.pairs, x, first, panel_before(f, column) * TNI_TREE_BLOCK,
                        scratch);
        for (int64_t c = column; c < last; c += most) {
            p.w = last - c < most ? last - c : most;
            panel_run(&p, c);
        }
        tni_fold_gather(f, &p.pairs, x, panel_before(f, last) * TNI_TREE_BLOCK, first + n,
                        scratch);
    }
    tni_fold_close(f, &p.pairs, 1);
    memcpy(out, p.pairs.state, (size_t)f->class->words * sizeof *out);
}
