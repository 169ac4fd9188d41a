/* fold_run.c - reductions one sequence after the other, and the pairs in which blocks meet.
 *
 * Threads take results, or where there are few, runs of blocks that are aligned to a power of
 * two: each run ends in one state, so cutting changes no bit. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* ---- blocks in pairs ---- */

/* The state behind the waiting ones is that of the next blocks, a power of two that divides their
 * number. */
static void push_run(const tni_fold *f, tni_fold_pairs *p, int64_t w, int64_t blocks)
{
    const int words = f->class->words;
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
}

void tni_fold_close(const tni_fold *f, tni_fold_pairs *p, int64_t w)
{
    const int words = f->class->words;
    while (p->depth > 1) {
        p->depth--;
        tni_word *a = p->state + (p->depth - 1) * words * w;
        f->class->merge(f, a, a + words * w, w);
    }
}

void tni_fold_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w)
{
    if (!f->plane) {
        f->class->finish(f, dst, step, s, w);
        return;
    }
    for (int64_t c = 0; c < w; c++, dst += step)
        for (int k = 0; k < f->class->words; k++) {
            tni_word word = s[k * w + c];
            if (k == 1 && f->class == &tni_fold_arg)
                word.i += f->first;
            memcpy(dst + k * f->plane, &word, sizeof word);
        }
}

int64_t tni_fold_blocks(int64_t n)
{
    return n ? (n - 1) / TNI_TREE_BLOCK + 1 : 1;
}

/* ---- where result number i is ---- */

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

/* ---- one sequence ---- */

void tni_fold_sequence_run(const tni_fold *f, tni_word *out, const char *const *x,
                           int64_t first, int64_t n, tni_fold_scratch *scratch)
{
    tni_fold_pairs pairs = {.state = scratch->stack};
    if (n > 0) {
        tni_fold_gather(f, &pairs, x, first, first + n, scratch);
    } else { /* nothing is a block, too */
        tni_fold_sequences l = {.count = 1, .at = first};
        for (int k = 0; k < f->nsrc; k++)
            l.x[k] = x[k];
        f->class->sequence(f, pairs.state, &l, scratch);
        tni_fold_push(f, &pairs, 1);
    }
    tni_fold_close(f, &pairs, 1);
    memcpy(out, pairs.state, (size_t)f->class->words * sizeof *out);
}

/* ---- results by threads ---- */

static int64_t batch(const fold_job *j, int64_t i, int64_t left, tni_fold_scratch *scratch)
{
    const tni_fold *f = j->f;
    int64_t dst, src[TNI_FOLD_SOURCES];
    const int64_t follow = tni_fold_map(f, i, &dst, src);
    tni_word state[TNI_FOLD_WORDS * TNI_FOLD_BATCH];
    const char *x[TNI_FOLD_SOURCES];
    for (int k = 0; k < f->nsrc; k++)
        x[k] = j->src[k] + src[k];
    if (!f->dense || f->count > TNI_TREE_BLOCK) {
        j->one(f, state, x, 0, f->count, scratch);
        tni_fold_finish(f, j->dst + dst, 0, state, 1);
        return 1;
    }
    const tni_fold_axis *a = f->nmap ? &f->map[f->nmap - 1] : NULL;
    int64_t m = follow < left ? follow : left;
    m = m < TNI_FOLD_BATCH ? m : TNI_FOLD_BATCH;
    tni_fold_sequences l = {.n = f->count, .count = m};
    for (int k = 0; k < f->nsrc; k++) {
        l.x[k] = x[k];
        l.step[k] = a ? a->src[k] : 0;
    }
    f->class->sequence(f, state, &l, scratch);
    tni_fold_finish(f, j->dst + dst, a ? a->dst : 0, state, m);
    return m;
}

static void sequences_part(void *arg, int part)
{
    const fold_job *j = arg;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last;)
        i += batch(j, i, last - i, &scratch);
}

/* ---- runs of blocks by threads ---- */

static void fold_run_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(j->runs, j->parts, part, &first, &last);
    for (int64_t r = first; r < last; r++) {
        const int64_t at = r * j->run, n = f->count - at < j->run ? f->count - at : j->run;
        j->one(f, j->results + r * f->class->words, j->src, at, n, &scratch);
    }
}

/* Runs meet as blocks do. */
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

static void run_few(fold_job *j)
{
    const tni_fold *f = j->f;
    tni_word results[TNI_FOLD_PARTS * TNI_FOLD_WORDS];
    const char *const *src = j->src;
    const char *at[TNI_FOLD_SOURCES];
    j->results = results;
    j->run = tni_fold_cut(f->count, TNI_FOLD_PARTS);
    j->runs = (f->count - 1) / j->run + 1;
    fold_job one = *j;
    one.src = at;
    one.parts = tni_run_parts(tni_mul_saturated(f->count, f->width), j->runs);
    for (int64_t i = 0; i < f->outputs; i++) {
        int64_t dst, off[TNI_FOLD_SOURCES];
        tni_fold_map(f, i, &dst, off);
        for (int k = 0; k < f->nsrc; k++)
            at[k] = src[k] + off[k];
        tni_parallel(one.parts, fold_run_part, &one);
        tni_fold_join(f, results, j->runs, 1);
        tni_fold_finish(f, j->dst + dst, 0, results, 1);
    }
}

/* ---- columns of one sequence by threads ---- */

static tni_fold_down down_of(const tni_fold *f)
{
    return f->way == TNI_FOLD_STANDING ? tni_fold_standing_run : tni_fold_panels_run;
}

static int64_t columns_of(const tni_fold *f)
{
    return f->count / f->fold[f->nfold - 1].n;
}

static void down_run(const tni_fold *f, tni_word *out, const char *const *x, int64_t first,
                     int64_t n, tni_fold_scratch *scratch)
{
    (void)first, (void)n; /* the whole sequence */
    tni_fold_pairs pairs = {.state = scratch->stack};
    down_of(f)(f, &pairs, x, 0, columns_of(f), scratch);
    tni_fold_close(f, &pairs, 1);
    memcpy(out, pairs.state, (size_t)f->class->words * sizeof *out);
}

typedef struct down_job {
    const tni_fold *f;
    const char *const *src;
    int parts;
    tni_fold_pairs of[TNI_FOLD_PARTS];
} down_job;

static void down_part(void *arg, int part)
{
    down_job *j = arg;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_split_range(columns_of(j->f), j->parts, part, &first, &last);
    down_of(j->f)(j->f, &j->of[part], j->src, first, last, &scratch);
}

static void run_down(const fold_job *all)
{
    const tni_fold *f = all->f;
    tni_word results[TNI_FOLD_RESULTS], total[(TNI_FOLD_LEVELS + 1) * TNI_FOLD_WORDS];
    int64_t each = 3; /* states of a part: two of each size, and a new one */
    for (int64_t blocks = tni_fold_blocks(f->count); blocks > 1; blocks /= 2)
        each += 2;
    each *= f->class->words;
    const int64_t most = TNI_FOLD_RESULTS / each, columns = columns_of(f);
    const char *x[1];
    down_job j = {.f = f, .src = x};
    j.parts =
        tni_run_parts(tni_mul_saturated(f->count, f->width), most < columns ? most : columns);
    j.parts = j.parts < TNI_FOLD_PARTS ? j.parts : TNI_FOLD_PARTS;
    for (int64_t i = 0; i < f->outputs; i++) {
        int64_t dst, off[TNI_FOLD_SOURCES];
        tni_fold_map(f, i, &dst, off);
        x[0] = all->src[0] + off[0];
        for (int p = 0; p < j.parts; p++)
            j.of[p] = (tni_fold_pairs){.state = results + p * each};
        tni_parallel(j.parts, down_part, &j);
        tni_fold_pairs pairs = {.state = total};
        for (int p = 0; p < j.parts; p++)
            tni_fold_append(f, &pairs, &j.of[p], 1);
        tni_fold_close(f, &pairs, 1);
        tni_fold_finish(f, all->dst + dst, 0, total, 1);
    }
}

void tni_fold_run(const tni_fold *f, char *dst, const char *const *srcs)
{
    static const char nothing[16]; /* the address of a source without elements: never read */
    const char *src[TNI_FOLD_SOURCES] = {NULL};
    if (f->outputs == 0)
        return;
    for (int k = 0; k < f->nsrc; k++)
        src[k] = f->count > 0 ? srcs[k] + f->shift[1 + k] : nothing;
    fold_job j = {.f = f, .dst = dst + f->shift[0], .src = src};
    const int64_t bytes =
        tni_mul_saturated(tni_mul_saturated(f->outputs, f->count ? f->count : 1), f->width);
    const int threads = tni_run_parts(bytes, INT64_MAX);
    if (f->way == TNI_FOLD_COLUMNS || f->way == TNI_FOLD_PACKED) {
        tni_fold_run_columns(&j, threads);
        return;
    }
    j.one = f->way == TNI_FOLD_LINE ? tni_fold_sequence_run : down_run;
    if (f->outputs < 4 * threads && tni_fold_blocks(f->count) > f->outputs) {
        if (f->way == TNI_FOLD_LINE)
            run_few(&j);
        else
            run_down(&j);
    } else {
        j.parts = tni_run_parts(bytes, f->outputs);
        tni_parallel(j.parts, sequences_part, &j);
    }
}
