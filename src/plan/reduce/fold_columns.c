/* fold_columns.c - sequences that stand side by side: strips of columns, a row at a time.
 *
 * A strip is as wide as its accumulators allow, because narrow ones waste the memory's rows;
 * threads take strips, or where there are few, runs of blocks. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* Rows that are not there, in the type of the terms. */
void tni_fold_prepare(const tni_fold *f, tni_fold_scratch *scratch)
{
    const double d = f->product ? 1.0 : -0.0;
    if (f->class == &tni_fold_wrap || f->class == &tni_fold_count) {
        /* integers: 0, or 1 in every dtype for products */
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

/* n elements from first on of each of w sequences at x. */
static void columns_run(const tni_fold *f, tni_word *out, const char *x, int64_t first,
                        int64_t n, int64_t w, tni_fold_scratch *scratch)
{
    const char **row =
        (const char **)(void *)(scratch->space + TNI_FOLD_SPACE - TNI_TREE_BLOCK);
    tni_fold_cursor c;
    tni_fold_pairs pairs = {.state = scratch->space};
    /* accumulators begin behind the states that may wait */
    int64_t waiting = tni_fold_levels(f) * f->class->words * w - TNI_FOLD_STACK;
    waiting = waiting > 0 ? waiting : 0;
    tni_fold_seek(&c, f, (const char *const[]){x, x}, first);
    for (int64_t i = 0; i < n; i += TNI_TREE_BLOCK) {
        const int64_t m = n - i < TNI_TREE_BLOCK ? n - i : TNI_TREE_BLOCK;
        tni_fold_columns cols = {.n = m, .w = w, .at = first + i, .acc = waiting};
        if (f->nfold == 1) {
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
    tni_fold_close(f, &pairs, w);
    if (out != pairs.state)
        memcpy(out, pairs.state, (size_t)(f->class->words * w) * sizeof *out);
}

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
        columns_run(f, scratch.stack, x, 0, f->count, w, &scratch);
        tni_fold_finish(f, j->dst + dst, f->map[f->nmap - 1].dst, scratch.stack, w);
    }
}

/* ---- runs of blocks ---- */

static void runs_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    int64_t first, last;
    tni_fold_prepare(f, &scratch);
    tni_split_range(j->runs, j->parts, part, &first, &last);
    for (int64_t r = first; r < last; r++) {
        const int64_t at = r * j->run, n = f->count - at < j->run ? f->count - at : j->run;
        columns_run(f, j->results + r * f->class->words * j->w, j->src[0], at, n, j->w,
                    &scratch);
    }
}

static void run_strips_by_rows(const fold_job *all, int64_t items, int64_t most)
{
    const tni_fold *f = all->f;
    tni_word results[TNI_FOLD_RESULTS];
    fold_job j = *all;
    const char *x;
    j.src = &x;
    j.results = results;
    j.run = tni_fold_cut(f->count, most);
    j.runs = (f->count - 1) / j.run + 1;
    for (int64_t u = 0; u < items; u++) {
        int64_t dst;
        j.w = find_strip(all, u, &dst, &x);
        j.parts = tni_run_parts(tni_mul_saturated(f->count, j.w * f->width), j.runs);
        tni_parallel(j.parts, runs_part, &j);
        tni_fold_join(f, results, j.runs, j.w);
        tni_fold_finish(f, all->dst + dst, f->map[f->nmap - 1].dst, results, j.w);
    }
}

/* ---- short sequences, transposed ---- */

/* A box of results: rows of the innermost map axis, side by side. */
static void packed_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    const tni_tile_fn tile = tni_kernels_of(f->isa)->copy->tile[tni_log2_width(f->width)];
    const tni_fold_axis *a = &f->map[f->nmap - 1], *b = f->nmap > 1 ? a - 1 : NULL;
    int64_t first, last;
    tni_fold_prepare(f, &scratch);
    tni_split_range(f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last;) {
        int64_t dst, src[TNI_FOLD_SOURCES], rows = 1;
        int64_t m = tni_fold_map(f, i, &dst, src);
        if (m == a->n && b && a->n * 2 <= f->strip) { /* whole rows of both axes */
            const int64_t follow = b->n - i / a->n % b->n;
            rows = f->strip / a->n < follow ? f->strip / a->n : follow;
            rows = rows < (last - i) / a->n ? rows : (last - i) / a->n;
        }
        if (rows < 1)
            rows = 1;
        m = m < f->strip ? m : f->strip;
        m = m < last - i ? m : last - i;
        const int64_t w = rows * m, words = f->class->words * w;
        char *buf = (char *)(scratch.stack + words);
        const char *x = j->src[0] + src[0];
        tni_fold_cursor c;
        tni_fold_seek(&c, f, &x, 0);
        if (f->nfold == 1 && rows == 1) {
            tile(buf, (const int64_t[2]){w * f->width, f->width}, x,
                 (const int64_t[2]){f->fold[0].src[0], a->src[0]},
                 (const int64_t[2]){f->count, w});
        } else {
            for (int64_t k = 0; k < f->count; k++) {
                tile(buf + k * w * f->width, (const int64_t[2]){m * f->width, f->width},
                     tni_fold_at(&c, 0), (const int64_t[2]){b ? b->src[0] : 0, a->src[0]},
                     (const int64_t[2]){rows, m});
                tni_fold_skip(&c, 1);
            }
        }
        const tni_fold_columns cols = {.x = buf, .step = w * f->width, .n = f->count, .w = w};
        f->class->columns(f, scratch.stack, &cols, &scratch);
        for (int64_t r = 0; r < rows; r++) {
            tni_word state[TNI_FOLD_WORDS * TNI_FOLD_TERMS];
            for (int k = 0; k < f->class->words; k++)
                memcpy(state + k * m, scratch.stack + k * w + r * m, (size_t)m * sizeof *state);
            tni_fold_finish(f, j->dst + dst + (b ? r * b->dst : 0), a->dst, state, m);
        }
        i += w;
    }
}

/* Columns of so many strips: whole lines of f32. */
static int64_t even_strip(const tni_fold *f, int64_t strips)
{
    const int64_t each = tni_ceil_div(tni_ceil_div(f->map[f->nmap - 1].n, strips), 16) * 16;
    return each < f->strip ? each : f->strip;
}

void tni_fold_run_columns(fold_job *j, int threads)
{
    const tni_fold *f = j->f;
    const int64_t bytes = tni_mul_saturated(tni_mul_saturated(f->outputs, f->count), f->width);
    if (f->way == TNI_FOLD_PACKED) {
        j->parts = tni_run_parts(bytes, f->outputs);
        tni_parallel(j->parts, packed_part, j);
        return;
    }
    const int64_t n = f->map[f->nmap - 1].n, outer = f->outputs / n;
    int64_t strips = tni_ceil_div(n, f->strip);
    j->strip = even_strip(f, strips);
    const int64_t most = TNI_FOLD_RESULTS / (f->class->words * j->strip);
    const bool few = threads > 1 && outer * strips < 4 * threads;
    if (few && tni_fold_blocks(f->count) >= threads && most >= threads) {
        run_strips_by_rows(j, outer * strips, most < TNI_FOLD_PARTS ? most : TNI_FOLD_PARTS);
        return;
    }
    while (few && !f->joined && outer * strips % threads && n / strips >= 16)
        strips++; /* joined rows are whole */
    j->strip = even_strip(f, strips);
    j->runs = outer * tni_ceil_div(n, j->strip);
    j->parts = tni_run_parts(bytes, j->runs);
    tni_parallel(j->parts, strips_part, j);
}
