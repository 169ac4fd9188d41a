/* fold_standing.c - the way "standing blocks": a long sequence down columns whose length is a
 * multiple of a block, so that the blocks of all columns begin in the same rows.
 *
 * The blocks of a strip of columns are reduced side by side, row by row; their states are then
 * merged in the order of the sequence. */
#include <string.h>

#include "fold_run.h"

typedef struct standing {
    const tni_fold *f;
    tni_fold_pairs *pairs;
    tni_fold_scratch *scratch;
    const char *x;
    int64_t each; /* blocks of a column */
} standing;

/* Words of the waiting states of the sequence. */
enum { STANDING_PAIRS = TNI_FOLD_LEVELS * TNI_FOLD_WORDS };

int64_t tni_fold_standing_strip(const tni_fold *f)
{
    const int64_t each = f->fold[1].n / TNI_TREE_BLOCK * f->class->words;
    int64_t w = (TNI_FOLD_SPACE - STANDING_PAIRS) / (each + f->class->acc);
    int64_t most = (TNI_FOLD_SPACE - TNI_FOLD_STACK) / f->class->acc;
    most = most < TNI_FOLD_ROW / f->width ? most : TNI_FOLD_ROW / f->width;
    w = w < most ? w : most;
    return w / 16 * 16;
}

/* Reduce the blocks of w columns, from column `first` on, and add them to the pairs in
 * order. */
static void strip(standing *s, int64_t first, int64_t w)
{
    const tni_fold *f = s->f;
    const int words = f->class->words;
    tni_word *made = s->scratch->space + STANDING_PAIRS;
    const int64_t acc = STANDING_PAIRS + s->each * words * w - TNI_FOLD_STACK;
    ASSERT(STANDING_PAIRS + (s->each * words + f->class->acc) * w <= TNI_FOLD_SPACE);
    for (int64_t h = 0; h < s->each; h++) {
        const tni_fold_columns c = {
            .x = s->x + first * f->fold[0].src[0] + h * TNI_TREE_BLOCK * f->fold[1].src[0],
            .step = f->fold[1].src[0],
            .n = TNI_TREE_BLOCK,
            .w = w,
            .at = h * TNI_TREE_BLOCK,
            .acc = acc > 0 ? acc : 0,
            .fetch = f->fetch,
            .follow = f->fold[1].n - (h + 1) * TNI_TREE_BLOCK,
        };
        f->class->columns(f, made + h * words * w, &c, s->scratch);
    }
    for (int64_t j = 0; j < w; j++)
        for (int64_t h = 0; h < s->each; h++) {
            tni_word *state = s->pairs->state + s->pairs->depth * words;
            for (int k = 0; k < words; k++)
                state[k] = made[(h * words + k) * w + j];
            if (f->class->index) /* from an index in the column to one in the sequence */
                state[1].i += (first + j) * f->fold[1].n;
            tni_fold_push(f, s->pairs, 1);
        }
}

void tni_fold_standing_run(const tni_fold *f, tni_fold_pairs *pairs, const char *const *x,
                           int64_t first, int64_t last, tni_fold_scratch *scratch)
{
    standing s = {f, pairs, scratch, x[0], f->fold[1].n / TNI_TREE_BLOCK};
    const int64_t most = tni_fold_standing_strip(f);
    pairs->first = pairs->blocks = first * s.each;
    tni_fold_prepare(f, scratch);
    for (int64_t c = first; c < last; c += most)
        strip(&s, c, last - c < most ? last - c : most);
}
