/* fold_pairs.c - the merging of the states of blocks in pairs, storing results, and the offsets
 * of results. */
#include <string.h>

#include "fold_run.h"

/* Add the state of the next `blocks` blocks, which is stored after the waiting ones.  They are
 * a subtree: their number is a power of two and divides the number of blocks before them. */
static void push_run(const tni_fold *f, tni_fold_pairs *p, int64_t w, int64_t blocks)
{
    const int words = f->class->words;
    ASSERT(p->depth < TNI_FOLD_LEVELS && p->blocks % blocks == 0);
    p->depth++;
    p->blocks += blocks;
    for (int64_t two = 2 * blocks;
         p->depth > 1 && p->blocks % two == 0 && p->blocks - two >= p->first; two *= 2) {
        p->depth--;
        tni_word *a = p->state + (p->depth - 1) * words * w;
        f->class->merge(f, a, a + words * w, w);
    }
}

void tni_fold_push(const tni_fold *f, tni_fold_pairs *p, int64_t w)
{
    push_run(f, p, w, 1);
}

int64_t tni_fold_node(int64_t at, int64_t end)
{
    int64_t blocks = 1;
    while (at % (2 * blocks) == 0 && at + 2 * blocks <= end)
        blocks *= 2;
    return blocks;
}

void tni_fold_append(const tni_fold *f, tni_fold_pairs *p, const tni_fold_pairs *q, int64_t w)
{
    const int64_t each = f->class->words * w;
    int64_t at = q->first;
    for (int i = 0; i < q->depth; i++) {
        const int64_t blocks = tni_fold_node(at, q->blocks);
        memmove(p->state + p->depth * each, q->state + i * each,
                (size_t)each * sizeof *p->state);
        push_run(f, p, w, blocks);
        at += blocks;
    }
    ASSERT(at == q->blocks);
}

void tni_fold_close(const tni_fold *f, tni_fold_pairs *p, int64_t w)
{
    const int words = f->class->words;
    ASSERT(p->depth > 0);
    while (p->depth > 1) {
        p->depth--;
        tni_word *a = p->state + (p->depth - 1) * words * w;
        f->class->merge(f, a, a + words * w, w);
    }
}

void tni_fold_results(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w)
{
    for (int64_t at = 0; at < w; at += TNI_FOLD_STORED)
        f->class->finish(f, dst + at * step, step, s + at, w,
                         w - at < TNI_FOLD_STORED ? w - at : TNI_FOLD_STORED);
}

void tni_fold_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w)
{
    if (!f->plane) {
        tni_fold_results(f, dst, step, s, w);
        return;
    }
    for (int64_t c = 0; c < w; c++, dst += step)
        for (int k = 0; k < f->class->words; k++) {
            tni_word word = s[k * w + c];
            if (k == 1 && f->class->index)
                word.i += f->first;
            memcpy(dst + k * f->plane, &word, sizeof word);
        }
}

int64_t tni_fold_blocks(int64_t n)
{
    return n ? (n - 1) / TNI_TREE_BLOCK + 1 : 1;
}

/* Merges neighbouring runs, then pairs of them, and so on, which is the order of the tree. */
void tni_fold_join(const tni_fold *f, tni_word *results, int64_t runs, int64_t w)
{
    const int64_t each = f->class->words * w;
    for (int64_t by = 1; by < runs; by *= 2)
        for (int64_t r = 0; r + by < runs; r += 2 * by)
            f->class->merge(f, results + r * each, results + (r + by) * each, w);
}

int64_t tni_fold_cut(int64_t count, int64_t most)
{
    int64_t run = TNI_TREE_BLOCK;
    while ((count - 1) / run + 1 > most)
        run *= 2;
    return run;
}

/* ---- offsets of results ---- */

int64_t tni_fold_map(const tni_fold *f, int64_t i, int64_t *dst, int64_t *src)
{
    int64_t follow = 1;
    *dst = 0;
    for (int k = 0; k < f->nsrc; k++)
        src[k] = 0;
    for (int j = f->nmap - 1; j >= 0; j--) {
        const tni_fold_axis *a = &f->map[j];
        const int64_t at = i % a->n;
        if (j == f->nmap - 1)
            follow = a->n - at;
        i /= a->n;
        *dst += at * a->dst;
        for (int k = 0; k < f->nsrc; k++)
            src[k] += at * a->src[k];
    }
    return follow;
}
