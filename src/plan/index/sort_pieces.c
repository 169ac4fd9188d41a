/* sort_pieces.c - sorts one sequence by several threads: pieces of its elements become keys or
 * words, and words are partitioned into runs that are sorted by themselves.
 *
 * A sequence that has one thread is one piece and one run. */
#include "sort_run.h"

/* ---- pieces of a sequence ---- */

typedef struct pieces {
    const sort_job *j;
    const tni_order_elements *e;
    void *to;
    const char *raw;
    const tni_order_word *form;
    bool tells[TNI_SORT_INNER];
    int64_t range[TNI_SORT_INNER][2];
    tni_sort_piece fn;
    void *arg;
} pieces;

static void each_piece(pieces *p, void (*body)(void *arg, int part))
{
    p->e = &tni_kernels_of(p->j->isa)->order->elements[tni_log2_width(p->j->width)];
    if (p->j->inner == 1)
        body(p, 0);
    else
        tni_parallel(p->j->inner, body, p);
}

/* The part's piece of n elements begins at *first; returns its length. */
static int64_t piece_of(const pieces *p, int64_t n, int part, int64_t *first)
{
    int64_t last;
    ASSERT(part >= 0 && part < p->j->inner && p->j->inner <= TNI_SORT_INNER);
    tni_split_range(n, p->j->inner, part, first, &last);
    return last - *first;
}

static bool all_tell(const pieces *p)
{
    bool tells = true;
    for (int i = 0; i < p->j->inner; i++)
        tells = tells && p->tells[i];
    return tells;
}

static void keys_piece(void *arg, int part)
{
    pieces *p = arg;
    int64_t at;
    const int64_t n = piece_of(p, p->j->n, part, &at), w = p->j->width;
    p->tells[part] =
        p->e->keys((char *)p->to + at * (w < 8 ? 4 : 8), p->raw + at * w, n, &p->j->rule);
}

bool tni_sort_keys(const sort_job *j, void *key, const char *raw)
{
    pieces p = {.j = j, .to = key, .raw = raw};
    each_piece(&p, keys_piece);
    return all_tell(&p);
}

static void words_piece(void *arg, int part)
{
    pieces *p = arg;
    int64_t at;
    const int64_t n = piece_of(p, p->j->n, part, &at);
    p->tells[part] = p->e->words64((int64_t *)p->to + at, p->raw + at * p->j->width, n, at,
                                   p->form, &p->j->rule);
}

bool tni_sort_words64(const sort_job *j, int64_t *words, const char *raw,
                      const tni_order_word *form)
{
    pieces p = {.j = j, .to = words, .raw = raw, .form = form};
    each_piece(&p, words_piece);
    return all_tell(&p);
}

static void range_piece(void *arg, int part)
{
    pieces *p = arg;
    int64_t at;
    const int64_t n = piece_of(p, p->j->n, part, &at);
    p->e->range(p->range[part], p->raw + at * p->j->width, n, &p->j->rule);
}

void tni_sort_range(const sort_job *j, int64_t *range, const char *raw)
{
    pieces p = {.j = j, .raw = raw};
    each_piece(&p, range_piece);
    for (int i = 0; i < j->inner; i++) {
        range[0] = i == 0 || p.range[i][0] < range[0] ? p.range[i][0] : range[0];
        range[1] = i == 0 || p.range[i][1] > range[1] ? p.range[i][1] : range[1];
    }
}

static void any_piece(void *arg, int part)
{
    pieces *p = arg;
    int64_t at;
    const int64_t n = piece_of(p, p->range[0][0], part, &at);
    p->fn(p->j, p->arg, at, n);
}

void tni_sort_each(const sort_job *j, int64_t n, tni_sort_piece fn, void *arg)
{
    pieces p = {.j = j, .fn = fn, .arg = arg, .range = {{n}}};
    if (n < TNI_SORT_LONG)
        fn(j, arg, 0, n);
    else
        each_piece(&p, any_piece);
}

/* ---- runs of words ---- */

enum { RUNS_EACH = 4 }; /* runs for each thread: partitions are not even */

typedef struct runs {
    const tni_order_words *k;
    tni_order_run run[2 * RUNS_EACH * TNI_SORT_INNER];
    int count;
} runs;

static void split_run(void *arg, int part)
{
    runs *r = arg;
    if (r->run[part].n > 0)
        r->k->split(&r->run[part], &r->run[r->count + part]);
    else
        r->run[r->count + part] = r->run[part];
}

static void sort_run(void *arg, int part)
{
    runs *r = arg;
    if (r->run[part].n > 0)
        r->k->sort(&r->run[part]);
}

void tni_sort_words(const sort_job *j, const tni_order_run *run, int width)
{
    const tni_order_words *k = &tni_kernels_of(j->isa)->order->words[width == 8];
    if (j->inner == 1 || run->n < TNI_SORT_LONG) {
        k->sort(run);
        return;
    }
    runs r = {.k = k, .count = 1};
    ASSERT(j->inner <= TNI_SORT_INNER);
    for (r.run[0] = *run; r.count < RUNS_EACH * j->inner; r.count *= 2)
        tni_parallel(r.count, split_run, &r);
    tni_parallel(r.count, sort_run, &r);
}
