/* fused_run.c - runs fused reductions: values are computed into a buffer, reduced to states
 * there, and the results of the states give dst.
 *
 * An item is a strip of columns or a batch of sequences.  Threads take items or, if there are
 * few, runs of the blocks of each item, aligned to a power of two as in fold_line.c. */
#include <string.h>

#include "fused_run.h"
#include "runtime/runtime.h"
#include "view/view.h"

enum { RESULTS = 8192 }; /* words of states of runs: 64 KiB of stack; not measured finely */

typedef tni_fused_job job;
typedef tni_fused_part part;

/* ---- states ---- */

/* The number of reals that term t reduces each value as: 2 for sums and means of complex
 * numbers. */
static int parts_of(const tni_fused *u, int t)
{
    return tni_is_complex(u->term[t].dtype) &&
                   (u->term[t].op == TN_REDUCE_SUM || u->term[t].op == TN_REDUCE_MEAN)
               ? 2
               : 1;
}

static tni_word *next_state(part *p, int t)
{
    const tni_fused *u = p->j->u;
    const int64_t each = u->fold[t].class->words * p->w * parts_of(u, t);
    ASSERT((p->pairs[t].depth + 1) * each <= TNI_FOLD_STACK / u->nterm);
    return p->pairs[t].state + p->pairs[t].depth * each;
}

static void fused_begin(part *p)
{
    const tni_fused *u = p->j->u;
    for (int t = 0; t < u->nterm; t++)
        p->pairs[t] =
            (tni_fold_pairs){.state = p->scratch->stack + TNI_FOLD_STACK / u->nterm * t};
}

/* Reduce a block of n elements of each of the p->w sequences to a state of every term. */
static void fold_values(part *p, int64_t n, int64_t at)
{
    const tni_fused *u = p->j->u;
    for (int t = 0; t < u->nterm; t++) {
        const int r = u->term[t].value, parts = parts_of(u, t);
        const int64_t width = u->width[r] / parts;
        const char *x = p->values + u->value[r] * u->capacity;
        if (parts > 1 && n > 0) { /* real and imaginary parts are sequences of their own */
            const tni_tile_fn tile =
                tni_kernels_of(tni_isa_level())->copy->tile[tni_log2_width((int)width)];
            for (int64_t i = 0; i < p->w; i++)
                tile(p->gather + 2 * i * n * width, (const int64_t[2]){n * width, width},
                     x + 2 * i * n * width, (const int64_t[2]){width, 2 * width},
                     (const int64_t[2]){2, n});
            x = p->gather;
        }
        const tni_fold_sequences l = {
            .x = {x, x}, .step = {n * width}, .n = n, .count = p->w * parts, .at = at};
        u->fold[t].class->sequence(&u->fold[t], next_state(p, t), &l, p->scratch);
        tni_fold_push(&u->fold[t], &p->pairs[t], p->w * parts);
    }
}

/* Reduce a tile of n rows of p->w columns; `begun` rows of the block came before, and others
 * follow if `more` is set. */
static void fold_rows(part *p, int64_t n, int64_t begun, bool more, int64_t at)
{
    const tni_fused *u = p->j->u;
    tni_word state[TNI_FOLD_WORDS * TNI_FUSED_BATCH];
    for (int t = 0; t < u->nterm; t++) {
        const tni_fold *f = &u->fold[t];
        const int r = u->term[t].value;
        const int64_t w = p->w * parts_of(u, t);
        tni_word *out = next_state(p, t);
        const bool adds = !f->class->ordered && begun > 0;
        const tni_fold_columns c = {.x = p->values + u->value[r] * u->capacity,
                                    .step = p->w * u->width[r],
                                    .n = n,
                                    .w = w,
                                    .at = at,
                                    .begun = f->class->ordered ? begun : 0,
                                    .acc = f->class->ordered ? (t + 1) * TNI_LANES * w : 0,
                                    .more = more && f->class->ordered};
        if (n % TNI_TILE)
            tni_fold_prepare(f, p->scratch);
        f->class->columns(f, adds ? state : out, &c, p->scratch);
        if (adds)
            f->class->merge(f, out, state, w);
        if (!more)
            tni_fold_push(f, &p->pairs[t], w);
    }
}

/* Reduce elements [first, first + n) of the p->w sequences of a batch, the first of which is
 * number `sequence`. */
static void item_sequences(part *p, int64_t sequence, int64_t first, int64_t n)
{
    fused_begin(p);
    if (n > 0)
        tni_fused_seek(p, sequence * p->j->u->count + first);
    for (int64_t i = 0; i < n || i == 0; i += TNI_TREE_BLOCK) {
        const int64_t m = n - i < TNI_TREE_BLOCK ? n - i : TNI_TREE_BLOCK;
        tni_fused_fill(p, 0, m * p->w);
        fold_values(p, m, first + i);
    }
}

/* The same for the p->w columns from `column` on; `outer` is the index over the other map
 * axes. */
static void item_columns(part *p, int64_t outer, int64_t column, int64_t first, int64_t n)
{
    const tni_fused *u = p->j->u;
    const int64_t row = u->nest.axis[u->nest.ndim - 1].n;
    fused_begin(p);
    for (int64_t i = 0; i < n; i += TNI_TREE_BLOCK) {
        const int64_t m = n - i < TNI_TREE_BLOCK ? n - i : TNI_TREE_BLOCK;
        for (int64_t t = 0; t < m; t += TNI_TILE) {
            const int64_t rows = m - t < TNI_TILE ? m - t : TNI_TILE;
            const int64_t at = (outer * u->count + first + i + t) * row + column;
            if (p->w == row) {
                tni_fused_seek(p, at);
                tni_fused_fill(p, 0, rows * row);
            }
            for (int64_t r = 0; r < rows && p->w < row; r++) {
                tni_fused_seek(p, at + r * row);
                tni_fused_fill(p, r * p->w, p->w);
            }
            fold_rows(p, rows, t, t + rows < m, first + i + t);
        }
    }
}

/* Returns the number of the first result of item i; *w is the number of its results and, if u
 * has columns, *column the first of them. */
static int64_t find_item(const tni_fused *u, int64_t i, int64_t *w, int64_t *column)
{
    if (!u->columns) {
        const int64_t first = i * u->strip;
        *w = u->outputs - first < u->strip ? u->outputs - first : u->strip;
        return first;
    }
    const int64_t n = u->nest.axis[u->nest.ndim - 1].n, strips = tni_ceil_div(n, u->strip);
    *column = i % strips * u->strip;
    *w = n - *column < u->strip ? n - *column : u->strip;
    return i / strips * n + *column;
}

/* Reduce elements [first, first + n) of the sequences of an item to one state for each term. */
static void make_states(part *p, int64_t item, int64_t first, int64_t n)
{
    const tni_fused *u = p->j->u;
    int64_t column = 0;
    const int64_t result = find_item(u, item, &p->w, &column);
    if (u->columns)
        item_columns(p, result / u->nest.axis[u->nest.ndim - 1].n, column, first, n);
    else
        item_sequences(p, result, first, n);
    for (int t = 0; t < u->nterm; t++)
        tni_fold_close(&u->fold[t], &p->pairs[t], p->w * parts_of(u, t));
}

/* ---- results ---- */

/* Store n results, from number i on, in dst. */
static void store(const job *j, int64_t i, const char *value, int64_t n)
{
    const tni_fused *u = j->u;
    const int64_t width = tni_width(u->dtype);
    const tni_tile_fn tile =
        tni_kernels_of(tni_isa_level())->copy->tile[tni_log2_width((int)width)];
    int64_t shape[TN_MAX_NDIM], steps[TN_MAX_NDIM], at[TN_MAX_NDIM];
    int nmap = 0;
    for (int a = 0; a < u->nest.ndim; a++)
        if (u->nest.axis[a].role != TNI_FOLD) {
            shape[nmap] = u->nest.axis[a].n;
            steps[nmap++] = u->nest.axis[a].step[0];
        }
    const int last = nmap - 1;
    const int64_t step = nmap ? steps[last] : 0;
    while (n > 0) {
        int64_t to = 0, m = n;
        tni_unravel(nmap, shape, i, at);
        for (int a = 0; a < nmap; a++)
            to += at[a] * steps[a];
        if (nmap && shape[last] - at[last] < n)
            m = shape[last] - at[last];
        tile(j->dst + to, (const int64_t[2]){0, step}, value, (const int64_t[2]){0, width},
             (const int64_t[2]){1, m});
        value += m * width;
        i += m;
        n -= m;
    }
}

/* Compute the results of an item from its states, of which states[t] are those of term t, and
 * store them. */
static void fused_finish(part *p, int64_t item, tni_word *const *states)
{
    const tni_fused *u = p->j->u;
    int64_t w, column;
    const int64_t result = find_item(u, item, &w, &column);
    char *out = p->gather; /* holds TNI_FUSED_BATCH elements of at most 16 bytes */
    const char *from[TNI_MAX_RESULTS];
    for (int t = 0; t < u->nterm; t++) {
        const int parts = parts_of(u, t);
        char *to = p->values + (int64_t)t * TNI_FUSED_BATCH * 16;
        tni_fold_results(&u->fold[t], to, tni_width(u->term[t].gives) / parts, states[t],
                         w * parts);
        from[t] = to;
    }
    for (int64_t i = 0; i < w; i += u->last) {
        const int64_t m = w - i < u->last ? w - i : u->last;
        const char *src[TNI_MAX_RESULTS];
        for (int t = 0; t < u->nterm; t++)
            src[t] = from[t] + i * tni_width(u->term[t].gives);
        tni_strips_run_dense(&u->around, p->arena, true, &out, src, m);
        store(p->j, result + i, out, m);
    }
    p->first = true; /* around has overwritten what inside keeps in the arena */
}

/* ---- parts ---- */

typedef struct space {
    _Alignas(64) char arena[TNI_ARENA];
    _Alignas(64) char gather[TNI_FUSED_GATHER];
    _Alignas(64) char values[TNI_FUSED_BYTES];
    tni_fold_scratch scratch;
} space;

static void start(part *p, const job *j, space *s)
{
    p->j = j;
    p->first = true;
    p->arena = s->arena;
    p->gather = s->gather;
    p->values = s->values;
    p->scratch = &s->scratch;
}

static void items_part(void *arg, int number)
{
    const job *j = arg;
    space s;
    part p;
    int64_t first, last;
    start(&p, j, &s);
    tni_split_range(j->items, j->parts, number, &first, &last);
    for (int64_t i = first; i < last; i++) {
        tni_word *states[TNI_MAX_RESULTS];
        make_states(&p, i, 0, j->u->count);
        for (int t = 0; t < j->u->nterm; t++)
            states[t] = p.pairs[t].state;
        fused_finish(&p, i, states);
    }
}

/* The words of the states of w sequences, of all terms before number `to`. */
static int64_t words_of(const tni_fused *u, int64_t w, int to)
{
    int64_t words = 0;
    for (int t = 0; t < to; t++)
        words += u->fold[t].class->words * w * parts_of(u, t);
    return words;
}

static void runs_part(void *arg, int number)
{
    const job *j = arg;
    const tni_fused *u = j->u;
    space s;
    part p;
    int64_t first, last;
    start(&p, j, &s);
    tni_split_range(j->runs, j->parts, number, &first, &last);
    for (int64_t r = first; r < last; r++) {
        const int64_t at = r * j->run, n = u->count - at < j->run ? u->count - at : j->run;
        make_states(&p, j->item, at, n);
        for (int t = 0; t < u->nterm; t++) {
            const int64_t words = u->fold[t].class->words * p.w * parts_of(u, t);
            memcpy(j->results + words_of(u, p.w, t) * j->runs + r * words, p.pairs[t].state,
                   (size_t)words * sizeof(tni_word));
        }
    }
}

static void finish_part(void *arg, int number)
{
    const job *j = arg;
    space s;
    part p;
    tni_word *states[TNI_MAX_RESULTS];
    int64_t w, column;
    (void)number;
    start(&p, j, &s);
    find_item(j->u, j->item, &w, &column);
    for (int t = 0; t < j->u->nterm; t++) {
        states[t] = j->results + words_of(j->u, w, t) * j->runs;
        tni_fold_join(&j->u->fold[t], states[t], j->runs, w * parts_of(j->u, t));
    }
    fused_finish(&p, j->item, states);
}

/* Compute few results of long sequences: each item is cut into runs of blocks. */
static void run_by_runs(job *j, int64_t most)
{
    const tni_fused *u = j->u;
    tni_word results[RESULTS];
    j->results = results;
    j->run = tni_fold_cut(u->count, most);
    j->runs = tni_ceil_div(u->count, j->run);
    ASSERT(j->runs * words_of(u, u->strip, u->nterm) <= RESULTS);
    j->parts = tni_plan_parts(u->bytes / j->items, j->runs);
    for (j->item = 0; j->item < j->items; j->item++) {
        tni_parallel(j->parts, runs_part, j);
        tni_parallel(1, finish_part, j);
    }
}

void tni_fused_run(const tni_fused *u, char *dst, const char *const *srcs)
{
    static const char nothing[16]; /* the address of a source without elements; not read */
    if (u->outputs == 0)
        return;
    job j = {.u = u, .dst = dst + u->nest.shift[0]};
    for (int k = 0; k < u->nest.nop - 1; k++)
        j.at[k] = u->count > 0 ? srcs[k] + u->nest.shift[k + 1] : nothing;
    const int64_t n = u->columns ? u->nest.axis[u->nest.ndim - 1].n : u->outputs;
    j.items = u->outputs / n * tni_ceil_div(n, u->strip);
    const int threads = tni_run_parts(u->bytes, INT64_MAX);
    const int64_t most = RESULTS / words_of(u, u->strip, u->nterm);
    if (threads > 1 && j.items < 4 * threads && most >= threads &&
        tni_fold_blocks(u->count) >= threads) {
        run_by_runs(&j, most < TNI_FOLD_PARTS ? most : TNI_FOLD_PARTS);
        return;
    }
    j.parts = threads > 1 ? tni_plan_parts(u->bytes, j.items) : 1;
    if (j.parts > 1)
        tni_parallel(j.parts, items_part, &j);
    else
        items_part(&j, 0);
}
