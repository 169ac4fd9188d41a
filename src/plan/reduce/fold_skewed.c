/* fold_skewed.c - sums of f32 down columns that are longer than a block, without transposing them.
 *
 * Columns stand side by side, and their blocks begin at different rows.  Rows are taken in windows
 * of a tile; in each of them every column adds the tile that contains the window's first row, which
 * began in the window before.  Rows that are a multiple of sixteen apart share a slot, which is one
 * lane of each column.  Wide strips are read in long pieces of rows, and once. */
#include "fold_run.h"

enum {
    SKEWED_PAIRS = TNI_FOLD_LEVELS * TNI_FOLD_WORDS, /* states of the sequence */
    SKEWED_LEAST = 128                               /* columns, or panels are as good */
};

typedef struct skewed {
    const tni_fold *f;
    int64_t first, w, each; /* columns, blocks that begin in one at most */
    int64_t last;           /* row behind all blocks */
    tni_word *made;         /* block h of column c is made[h * w + c] */
    double *acc;            /* slot s of column c is acc[s * w + c] */
    int32_t *phase;         /* of the first row of a window in a tile */
    int32_t *begin;         /* row where the first block of a column begins */
} skewed;

static int64_t skewed_rows(const tni_fold *f)
{
    return f->fold[f->nfold - 1].n;
}

/* Row, in its own column, where the first block of column c begins. */
static int64_t skewed_begin(const skewed *s, int64_t c)
{
    const int64_t q = s->first + c;
    return tni_fold_before(s->f, q) * TNI_TREE_BLOCK - q * skewed_rows(s->f);
}

int64_t tni_fold_skewed_strip(const tni_fold *f)
{
    const int64_t each = skewed_rows(f) / TNI_TREE_BLOCK + 1;
    int64_t w = (TNI_FOLD_SPACE - SKEWED_PAIRS) / (each + TNI_LANES + 1) / 16 * 16;
    w = w < TNI_FOLD_WIDTH ? w : TNI_FOLD_WIDTH;
    const bool sums = f->class == &tni_fold_tree && f->src == TN_F32 &&
                      f->term == TNI_TERM_SAME && !f->product && !f->wide;
    return sums && w >= SKEWED_LEAST ? w : 0;
}

/* The lanes of column c meet by halves. */
static double skewed_meet(const skewed *s, int64_t c)
{
    double v[TNI_LANES];
    for (int slot = 0; slot < TNI_LANES; slot++)
        v[(s->phase[c] + slot) % TNI_LANES] = s->acc[slot * s->w + c];
    for (int half = TNI_LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++)
            v[l] += v[l + half];
    return v[0];
}

/* Blocks that end with the tiles of the window from row on; the next ones begin with nothing. */
static void skewed_end_blocks(const skewed *s, int64_t row)
{
    for (int64_t c = 0; c < s->w; c++) {
        const int64_t end = row - s->phase[c] + TNI_TILE - s->begin[c];
        if (end % TNI_TREE_BLOCK)
            continue;
        const int64_t h = end / TNI_TREE_BLOCK - 1;
        if (h >= 0 && h < s->each)
            s->made[h * s->w + c].f = skewed_meet(s, c);
        for (int slot = 0; slot < TNI_LANES; slot++)
            s->acc[slot * s->w + c] = -0.0;
    }
}

/* Where row number j of the columns is; those behind the last one are not looked at. */
static const char *skewed_row(const skewed *s, const char *x, int64_t j)
{
    const tni_fold *f = s->f;
    const int64_t rows = skewed_rows(f), at = j < s->last ? j : s->last - 1;
    return x + at / rows * f->width + at % rows * f->fold[f->nfold - 1].src[0];
}

static void skewed_windows(const skewed *s, const char *x, int64_t origin)
{
    const tni_tree_kernels *k = tni_kernels_of(s->f->isa)->tree;
    for (int64_t row = origin; row < s->last; row += TNI_TILE) {
        for (int slot = 0; slot < TNI_LANES; slot++) {
            const char *at[2 * TNI_TILE_ROWS];
            for (int i = 0; i < 2 * TNI_TILE_ROWS; i++) {
                const int64_t j = row - TNI_TILE + TNI_LANES * i + slot;
                at[i] = skewed_row(s, x, j < origin ? j + TNI_TILE : j);
            }
            k->skewed_sum32(s->acc + slot * s->w, at, s->phase, s->w, slot);
        }
        skewed_end_blocks(s, row);
    }
}

void tni_fold_skewed(const tni_fold *f, tni_fold_pairs *pairs, const char *x, int64_t first,
                     int64_t w, tni_fold_scratch *scratch)
{
    skewed s = {.f = f, .first = first, .w = w, .each = skewed_rows(f) / TNI_TREE_BLOCK + 1};
    int64_t origin = INT64_MAX;
    s.made = scratch->space + SKEWED_PAIRS;
    s.acc = &s.made[s.each * w].f;
    s.phase = (int32_t *)(void *)(s.acc + TNI_LANES * w);
    s.begin = s.phase + w;
    for (int64_t c = 0; c < w; c++) {
        const int64_t begin = skewed_begin(&s, c),
                      end = skewed_begin(&s, c + 1) + skewed_rows(f);
        s.begin[c] = (int32_t)begin;
        origin = begin < origin ? begin : origin;
        s.last = end > s.last ? end : s.last;
    }
    for (int64_t c = 0; c < w; c++)
        s.phase[c] = ((int32_t)origin - s.begin[c]) & (TNI_TILE - 1);
    for (int64_t i = 0; i < TNI_LANES * w; i++)
        s.acc[i] = -0.0;
    skewed_windows(&s, x, origin);
    for (int64_t c = 0; c < w; c++) {
        const int64_t blocks =
            tni_fold_before(f, first + c + 1) - tni_fold_before(f, first + c);
        for (int64_t h = 0; h < blocks; h++) {
            pairs->state[pairs->depth] = s.made[h * w + c];
            tni_fold_push(f, pairs, 1);
        }
    }
}
