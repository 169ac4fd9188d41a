/* fold_across.c - the way "across": the index of the largest element of a sequence that goes
 * down columns, read row by row.
 *
 * The index of an element follows from its address, so elements can be read in any order if the
 * lowest index of equal keys is kept.  The index of the largest key of a piece of a row is
 * searched only if that key exceeds the best one so far, or equals it and may have a lower
 * index. */
#include "fold_run.h"

typedef struct best {
    int64_t key, index;
    bool some;
} best;

/* Update the best key with n elements of row r, the first of which is in column c. */
static void across_piece(best *b, const tni_fold *f, const char *x, int64_t n, int64_t c,
                         int64_t r)
{
    const tni_key_kernels *k = &tni_kernels_of(f->isa)->key->key[tni_log2_width(f->width)];
    const int64_t rows = f->fold[f->nfold - 1].n, key = k->max(x, n, &f->rule);
    if (b->some && key < b->key)
        return;
    int64_t among = n;
    if (b->some && key == b->key) { /* search only the columns in which the index is lower */
        const int64_t lower = b->index > r ? tni_ceil_div(b->index - r, rows) - c : 0;
        among = lower < n ? lower : n;
    }
    if (among <= 0)
        return;
    const int64_t at = k->find(x, among, &f->rule, key);
    if (at < among)
        *b = (best){key, (c + at) * rows + r, true};
}

void tni_fold_across_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                         int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    (void)scratch;
    const int64_t rows = f->fold[f->nfold - 1].n, side = f->fold[f->nfold - 2].n,
                  step = f->fold[f->nfold - 1].src[0], most = TNI_FOLD_PIECE / f->width;
    best b = {.some = false};
    for (int64_t c = first, w; c < last; c += w) {
        tni_fold_cursor column;
        w = side - c % side; /* neighbouring columns */
        w = w < last - c ? w : last - c;
        tni_fold_seek(&column, f, x, c * rows);
        for (int64_t r = 0; r < rows; r++)
            for (int64_t i = 0; i < w; i += most)
                across_piece(&b, f, tni_fold_at(&column, 0) + r * step + i * f->width,
                             w - i < most ? w - i : most, c + i, r);
    }
    ASSERT(b.some);
    pairs->first = pairs->blocks = first; /* a part counts as one block, numbered in order */
    pairs->state[0].i = b.key;
    pairs->state[1].i = b.index;
    tni_fold_push(f, pairs, 1);
}
