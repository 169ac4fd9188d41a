/* fold_columns.c - the way "columns": src is dense along a map axis; the sequences of a strip
 * of columns are reduced side by side, row by row.
 *
 * A strip is as wide as the space for its accumulators allows, because short pieces of rows are
 * read slowly.  Threads take strips or, if there are few, runs of blocks of each strip. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* A row that changes no result, in the type that the kernels for rows read: elements of src
 * where they take these as they are, otherwise terms. */
void tni_fold_prepare(const tni_fold *f, tni_fold_scratch *scratch)
{
    const double d = f->product ? 1.0 : -0.0;
    if (f->class->reads_src) {
        /* elements of src: 0, or 1 for products of integers */
        char *p = scratch->u.columns.absent.bytes;
        memset(p, 0, sizeof scratch->u.columns.absent);
        if (f->product)
            for (int64_t i = 0; i < TNI_FOLD_ROW / f->width; i++)
                tni_store_integer(p + i * f->width, f->src, 1);
    } else if (f->wide) {
        for (int i = 0; i < TNI_FOLD_ROW / 8; i++)
            scratch->u.columns.absent.f64[i] = d;
    } else {
        float *p = scratch->u.columns.absent.f32;
        for (int i = 0; i < TNI_FOLD_ROW / 4; i++)
            p[i] = (float)d;
    }
}

/* The most states that wait at once while blocks [first, last) are added, including that of a
 * new block; *left is the number that remain at the end. */
static int64_t most_waiting(const tni_fold *f, int64_t first, int64_t last, int64_t *left)
{
    int64_t most = 0;
    *left = 0;
    if (f->class->chains) {
        *left = 1;
        return last - first > 1 ? 2 : 1;
    }
    for (int64_t at = first, node; at < last; at += node) {
        node = tni_fold_node(at, last);
        const int64_t levels = 1 + tni_fold_height(node);
        most = *left + levels > most ? *left + levels : most;
        ++*left;
    }
    return most;
}

/* Reduce n elements, from element `first` on, of each of w sequences at x; the waiting states
 * are at the start of scratch. */
static tni_fold_pairs columns_run(const tni_fold *f, const char *x, int64_t first, int64_t n,
                                  int64_t w, tni_fold_scratch *scratch)
{
    const char **row =
        (const char **)(void *)(scratch->space + TNI_FOLD_SPACE - TNI_TREE_BLOCK);
    const int64_t block = first / TNI_TREE_BLOCK;
    tni_fold_cursor c;
    tni_fold_pairs pairs = {.state = scratch->space, .first = block, .blocks = block};
    /* accumulators begin after the states that may wait, which can exceed the stack */
    int64_t left, waiting = most_waiting(f, block, block + tni_fold_blocks(n), &left);
    waiting = waiting * f->class->words * w - TNI_FOLD_STACK;
    waiting = waiting > 0 ? waiting : 0;
    ASSERT(TNI_FOLD_STACK + waiting + f->class->acc * w <=
           TNI_FOLD_SPACE - (f->nfold == 1 ? 0 : TNI_TREE_BLOCK));
    tni_fold_seek(&c, f, (const char *const[]){x, x}, first);
    for (int64_t i = 0; i < n; i += TNI_TREE_BLOCK) {
        const int64_t m = n - i < TNI_TREE_BLOCK ? n - i : TNI_TREE_BLOCK;
        tni_fold_columns cols = {
            .n = m, .w = w, .at = first + i, .acc = waiting, .fetch = f->fetch};
        if (f->class->chains && pairs.depth)
            cols.before = pairs.state;
        if (f->nfold == 1) {
            cols.follow = n - i - m;
            cols.x = x + (first + i) * f->fold[0].src[0];
            cols.step = f->fold[0].src[0];
        } else {
            tni_fold_rows(&c, row, m);
            cols.row = row;
        }
        f->class->columns(f, pairs.state + pairs.depth * f->class->words * w, &cols, scratch);
        tni_fold_push(f, &pairs, w);
        if (f->class->chains)
            tni_fold_close(f, &pairs, w);
    }
    return pairs;
}

/* Set the offset of the first result and the address of the first element of a strip; returns
 * the number of its columns. */
static int64_t find_strip(const fold_job *j, int64_t item, int64_t *dst, const char **x)
{
    const tni_fold *f = j->f;
    const int64_t n = f->map[f->nmap - 1].n, strips = tni_ceil_div(n, j->strip);
    const int64_t first = item % strips * j->strip;
    int64_t src[TNI_FOLD_SOURCES];
    tni_fold_map(f, item / strips * n + first, dst, src);
    *x = j->src[0] + src[0];
    return n - first < j->strip ? n - first : j->strip;
}

static void strips_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_fold_prepare(f, &scratch);
    tni_split_range(j->runs, j->parts, part, &first, &last);
    for (int64_t u = first; u < last; u++) {
        int64_t dst;
        const char *x;
        const int64_t w = find_strip(j, u, &dst, &x);
        tni_fold_pairs pairs = columns_run(f, x, 0, f->count, w, &scratch);
        tni_fold_close(f, &pairs, w);
        tni_fold_finish(f, j->dst + dst, f->map[f->nmap - 1].dst, pairs.state, w);
    }
}

/* ---- runs of blocks ---- */

/* Part p reduces blocks [begin[p], begin[p + 1]) and returns left[p] states. */
typedef struct cuts {
    int parts;
    int64_t begin[TNI_FOLD_PARTS + 1], left[TNI_FOLD_PARTS];
} cuts;

/* Cut the blocks at multiples of `each`.  Returns the number of states that all parts return,
 * or 0 if a part is empty or its waiting states do not fit. */
static int64_t cut_at(cuts *c, const tni_fold *f, int64_t blocks, int64_t each)
{
    const int64_t levels = tni_fold_levels(f);
    int64_t all = 0;
    for (int p = 0; p <= c->parts; p++)
        c->begin[p] = (blocks * p / c->parts + each / 2) / each * each;
    c->begin[c->parts] = blocks;
    for (int p = 0; p < c->parts; p++) {
        if (c->begin[p] >= c->begin[p + 1] ||
            most_waiting(f, c->begin[p], c->begin[p + 1], &c->left[p]) > levels)
            return 0;
        all += c->left[p];
    }
    return all;
}

/* Cut the blocks of a strip of w columns as evenly as the space for states allows.  Returns the
 * share of the time in which all parts work, or 0 if there is no space for their states. */
static double cut(cuts *c, const tni_fold *f, int64_t w, int threads)
{
    const int64_t blocks = tni_fold_blocks(f->count),
                  most = TNI_FOLD_RESULTS / (f->class->words * w);
    c->parts = threads < TNI_FOLD_PARTS ? threads : TNI_FOLD_PARTS;
    for (int64_t each = 1; each <= blocks; each *= 2) {
        const int64_t states = cut_at(c, f, blocks, each);
        if (states == 0 || states > most)
            continue;
        int64_t longest = 1;
        for (int p = 0; p < c->parts; p++) {
            const int64_t end = c->begin[p + 1] * TNI_TREE_BLOCK,
                          n = (end < f->count ? end : f->count) - c->begin[p] * TNI_TREE_BLOCK;
            longest = n > longest ? n : longest;
        }
        return (double)f->count / (double)(c->parts * longest);
    }
    return 0;
}

typedef struct runs {
    const tni_fold *f;
    const cuts *cuts;
    const char *x;
    int64_t w;
    tni_word *results;
    tni_fold_pairs of[TNI_FOLD_PARTS];
} runs;

static void runs_part(void *arg, int part)
{
    runs *r = arg;
    const tni_fold *f = r->f;
    const int64_t first = r->cuts->begin[part] * TNI_TREE_BLOCK,
                  end = r->cuts->begin[part + 1] * TNI_TREE_BLOCK,
                  each = f->class->words * r->w;
    tni_fold_scratch scratch;
    tni_fold_prepare(f, &scratch);
    tni_fold_pairs *to = &r->of[part];
    *to =
        columns_run(f, r->x, first, (end < f->count ? end : f->count) - first, r->w, &scratch);
    ASSERT(to->depth == r->cuts->left[part]);
    tni_word *results = r->results;
    for (int p = 0; p < part; p++)
        results += r->cuts->left[p] * each;
    memcpy(results, to->state, (size_t)(to->depth * each) * sizeof *results);
    to->state = results;
}

/* Merge the state of the next run into that of all runs before it. */
static void chain(const tni_fold *f, tni_fold_pairs *p, const tni_fold_pairs *q, int64_t w)
{
    if (p->depth++)
        f->class->merge(f, p->state, q->state, w);
    p->depth = 1;
}

/* One strip after the other, each divided into runs of blocks. */
static void run_strips_by_rows(const fold_job *all, int64_t items, const cuts *c)
{
    const tni_fold *f = all->f;
    tni_word results[TNI_FOLD_RESULTS];
    runs r = {.f = f, .cuts = c, .results = results};
    for (int64_t u = 0; u < items; u++) {
        int64_t dst;
        r.w = find_strip(all, u, &dst, &r.x);
        tni_parallel(c->parts, runs_part, &r);
        tni_fold_pairs pairs = {.state = results};
        for (int p = 0; p < c->parts; p++)
            if (f->class->chains)
                chain(f, &pairs, &r.of[p], r.w);
            else
                tni_fold_append(f, &pairs, &r.of[p], r.w);
        tni_fold_close(f, &pairs, r.w);
        tni_fold_finish(f, all->dst + dst, f->map[f->nmap - 1].dst, results, r.w);
    }
}

/* Fewest bytes of a row for each thread if columns are divided: four lines of each row are read
 * at 0.48 of the speed of memory, two at 0.28 (Zen 4, the section on transposed arrays in
 * docs/investigations/reductions.md). */
enum { NARROW = 256 };

/* Blocks are divided instead of columns if all parts work in more than this share of the time:
 * dividing columns shortens the pieces of rows, and pieces of 4 and 8 KiB are read at 0.82 and
 * 0.89 of the speed of a sequential pass (Zen 4, "Columns: how memory is read" in
 * docs/investigations/reductions.md); not measured finely. */
static const double ENOUGH = 0.85;

/* The width of one of `strips` strips of about equal width: a multiple of a line of f32. */
static int64_t even_strip(const tni_fold *f, int64_t strips)
{
    const int64_t each = tni_ceil_div(tni_ceil_div(f->map[f->nmap - 1].n, strips), 16) * 16;
    return each < f->strip ? each : f->strip;
}

void tni_fold_run_columns(fold_job *j, int threads)
{
    const tni_fold *f = j->f;
    const int64_t n = f->map[f->nmap - 1].n, outer = f->outputs / n;
    int64_t strips = tni_ceil_div(n, f->strip);
    j->strip = even_strip(f, strips);
    const bool few = threads > 1 && outer * strips < 4 * threads;
    const bool narrow =
        f->joined || n * f->width < threads * NARROW; /* joined rows cannot be divided */
    cuts c;
    const double busy = few ? cut(&c, f, j->strip, threads) : 0;
    if (busy > (narrow ? 0 : ENOUGH)) {
        run_strips_by_rows(j, outer * strips, &c);
        return;
    }
    while (few && !narrow && outer * strips % threads)
        strips++;
    j->strip = even_strip(f, strips);
    j->runs = outer * tni_ceil_div(n, j->strip);
    j->parts = tni_run_parts(j->bytes, j->runs);
    tni_parallel(j->parts, strips_part, j);
}
