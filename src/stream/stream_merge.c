/* stream_merge.c - sorting sequences longer than memory: sorted runs in temporary files,
 * merged.
 *
 * A part of each run is in memory.  The limit is the least of the last elements of these parts,
 * apart from runs read to their end: elements up to the limit are complete, because no unread
 * element is less.  They are gathered in the order of runs, sorted, which keeps equal elements
 * in that order, and written. */
#include <string.h>

#include "stream_sort.h"

typedef struct run {
    int64_t next, end; /* in the sequence: [next, end) has not been read */
    int64_t first, n;  /* [first, first + n) of the part in memory is left */
    char *values;
    int64_t *indices;
} run;

typedef struct merge {
    tni_sorting *s;
    tn_dtype dtype;
    int64_t width, sequence, runs;
    int64_t part; /* elements of a run in memory, at most */
    tni_temp values, indices;
    run *run;
    char *memory, *gathered, *sorted;
    int64_t *kept, *order, *result;
} merge;

/* ---- runs ---- */

/* Make a box, which is a run: its indices, then its values. */
static tn_status make_run(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                          const int64_t *at)
{
    const merge *m = user;
    const int64_t most = m->s->most, start = at[1] * most, all = m->s->n;
    const int64_t length = all - start < most ? all - start : most;
    int64_t index[TN_MAX_NDIM] = {0}, shape[TN_MAX_NDIM], *indices = out->data;
    const tn_tensor *v = &m->s->source.view;
    tn_tensor box, values, order;
    (void)n;
    (void)srcs;
    shape[v->ndim - 1] = length;
    index[v->ndim - 1] = start;
    for (int i = 0; i < v->ndim - 1; i++)
        shape[i] = 1;
    tni_unravel(v->ndim - 1, v->shape, at[0], index);
    TRY(tn_init(&box, indices + most, m->dtype, v->ndim, shape));
    TRY(tni_source_read(&m->s->source, &box, index, NULL));
    TRY(tn_init(&values, box.data, m->dtype, 1, &length));
    TRY(tn_init(&order, indices, TN_I64, 1, &length));
    TRY(tn_sort(&values, &order, &values, 0, 0));
    const bool reversed = m->s->args->flags & TN_DESCENDING;
    return reversed ? tn_sub(&order, TN_SCALAR_I64(all - 1 - start), &order)
                    : tn_add(&order, &order, TN_SCALAR_I64(start));
}

static tn_status put_run(void *user, const tn_tensor *block, const int64_t *at)
{
    const merge *m = user;
    const int64_t most = m->s->most, left = m->s->n - at[1] * most;
    const int64_t length = left < most ? left : most;
    int64_t *indices = block->data;
    tn_tensor t;
    TRY(tn_init(&t, indices, TN_I64, 1, &length));
    TRY(tn_writer_put(m->indices.writer, &t));
    TRY(tn_init(&t, indices + most, m->dtype, 1, &length));
    return tn_writer_put(m->values.writer, &t);
}

static tn_status run_progress(void *user, int64_t done, int64_t total)
{
    const merge *m = user;
    return tni_sort_progress(m->s, done, 2 * total);
}

static tn_status make_runs(merge *m, int64_t sequences)
{
    const tn_stream *job = m->s->job;
    const int64_t slots = m->s->most + tni_ceil_div(m->s->most * m->width, 8);
    const int64_t shape[3] = {sequences, m->runs, slots}, n = sequences * m->s->n;
    const tn_stream_map map = {.fn = make_run, .user = m};
    tn_stream inner = {.recipe = TN_STREAM_MAP,
                       .args = &map,
                       .put = put_run,
                       .progress = job->progress ? run_progress : NULL,
                       .user = m,
                       .max_mem = job->max_mem,
                       .box = slots,
                       .threads = job->threads};
    TRY(tn_init(&inner.out, NULL, TN_I64, 3, shape));
    TRY(tni_temp_open(&m->values, job->writer, m->dtype, 1, &n));
    TRY(tni_temp_open(&m->indices, job->writer, TN_I64, 1, &n));
    TRY(tn_stream_run(&inner));
    TRY(tni_temp_reopen(&m->values));
    return tni_temp_reopen(&m->indices);
}

/* ---- merging ---- */

static tn_status fetch(const tni_temp *t, char *to, int64_t at, int64_t n)
{
    tn_tensor d, v;
    TRY(tn_init(&d, to, t->view.dtype, 1, &n));
    TRY(tn_view(&v, &t->view, &n, &at, NULL, 0));
    return tn_file_fetch(t->file, 0, &d, &v);
}

static tn_status refill(merge *m, run *r)
{
    if (r->n > 0 || r->next == r->end)
        return TN_OK;
    const int64_t left = r->end - r->next, n = left < m->part ? left : m->part;
    const int64_t at = m->sequence * m->s->n + r->next;
    TRY(fetch(&m->values, r->values, at, n));
    TRY(fetch(&m->indices, (char *)r->indices, at, n));
    r->next += n;
    r->first = 0;
    r->n = n;
    return TN_OK;
}

/* Count the elements of a run that are less than x or, with equal, not greater than x. */
static tn_status count_below(const merge *m, const run *r, char *x, bool equal, int64_t *n)
{
    tn_tensor sorted, value, count;
    TRY(tn_init(&sorted, r->values + r->first * m->width, m->dtype, 1, &r->n));
    TRY(tn_init(&value, x, m->dtype, 0, NULL));
    TRY(tn_init(&count, n, TN_I64, 0, NULL));
    return tn_searchsorted(&count, &sorted, &value, equal);
}

/* Of the runs that are not read to their end, the first whose last element in memory is the
 * least; -1: none. */
static tn_status find_limit(const merge *m, int64_t *limit)
{
    *limit = -1;
    for (int64_t k = 0; k < m->runs; k++) {
        const run *r = &m->run[k];
        int64_t below = 0;
        if (r->n == 0 || r->next == r->end)
            continue;
        if (*limit >= 0) {
            const run *best = &m->run[*limit];
            const run last = {
                .first = best->first + best->n - 1, .n = 1, .values = best->values};
            TRY(count_below(m, &last, r->values + (r->first + r->n - 1) * m->width, true,
                            &below));
            if (below > 0) /* the best one is not greater */
                continue;
        }
        *limit = k;
    }
    return TN_OK;
}

/* Gather what is complete, in the order of runs; elements equal to the limit only from runs up
 * to its own. */
static tn_status gather(merge *m, int64_t limit, int64_t *total)
{
    char x[16];
    *total = 0;
    if (limit >= 0) {
        const run *r = &m->run[limit];
        memcpy(x, r->values + (r->first + r->n - 1) * m->width, (size_t)m->width);
    }
    for (int64_t k = 0; k < m->runs; k++) {
        run *r = &m->run[k];
        int64_t n = r->n;
        if (n > 0 && limit >= 0 && k != limit)
            TRY(count_below(m, r, x, k < limit, &n));
        memcpy(m->gathered + *total * m->width, r->values + r->first * m->width,
               (size_t)(n * m->width));
        memcpy(m->kept + *total, r->indices + r->first, (size_t)n * sizeof *m->kept);
        r->first += n;
        r->n -= n;
        *total += n;
    }
    return TN_OK;
}

static tn_status send(merge *m, int64_t n, tn_writer *to)
{
    tn_tensor from, values, order, kept, result;
    TRY(tn_init(&from, m->gathered, m->dtype, 1, &n));
    TRY(tn_init(&values, m->sorted, m->dtype, 1, &n));
    TRY(tn_init(&order, m->order, TN_I64, 1, &n));
    if (!m->s->args->indices) {
        TRY(tn_sort(&values, NULL, &from, 0, 0));
        return tn_writer_put(to, &values);
    }
    TRY(tn_sort(NULL, &order, &from, 0, 0));
    TRY(tn_init(&kept, m->kept, TN_I64, 1, &n));
    TRY(tn_init(&result, m->result, TN_I64, 1, &n));
    TRY(tn_take(&result, &kept, 0, &order));
    if (m->s->job->out.dtype == TN_I64)
        return tn_writer_put(to, &result);
    order.dtype = TN_I32;
    order.stride[0] = (int64_t)sizeof(int32_t);
    TRY(tn_cast(&order, &result));
    return tn_writer_put(to, &order);
}

static tn_status merge_sequence(merge *m, tn_writer *to)
{
    for (int64_t k = 0; k < m->runs; k++) {
        const int64_t start = k * m->s->most, end = start + m->s->most;
        m->run[k].next = start;
        m->run[k].end = end < m->s->n ? end : m->s->n;
        m->run[k].n = 0;
    }
    for (int64_t done = 0, n; done < m->s->n; done += n) {
        int64_t limit;
        for (int64_t k = 0; k < m->runs; k++)
            TRY(refill(m, &m->run[k]));
        TRY(find_limit(m, &limit));
        TRY(gather(m, limit, &n));
        TRY(send(m, n, to));
    }
    return TN_OK;
}

/* ---- memory ---- */

static int64_t lined(int64_t bytes)
{
    return (bytes + 63) & ~INT64_C(63);
}

static tn_status take_memory(merge *m)
{
    const int64_t each = 2 * (m->width + 8) + m->width + 24;
    int64_t part = m->s->most * (m->width + 32) / (m->runs * each);
    m->part = part > 64 ? part : 64;
    const int64_t all = m->part * m->runs, w = lined(all * m->width), i = lined(all * 8);
    m->run = tni_alloc((size_t)m->runs * sizeof *m->run);
    m->memory = tni_alloc((size_t)(3 * w + 4 * i));
    if (!m->run || !m->memory)
        return tni_fail(TN_ENOMEM, "stream: cannot allocate memory for %lld runs",
                        (long long)m->runs);
    char *at = m->memory;
    int64_t *indices = (int64_t *)(void *)(at + 3 * w);
    for (int64_t k = 0; k < m->runs; k++)
        m->run[k] =
            (run){.values = at + k * m->part * m->width, .indices = indices + k * m->part};
    m->gathered = at + w;
    m->sorted = at + 2 * w;
    m->kept = (int64_t *)(void *)(at + 3 * w + i);
    m->order = (int64_t *)(void *)(at + 3 * w + 2 * i);
    m->result = (int64_t *)(void *)(at + 3 * w + 3 * i);
    return TN_OK;
}

tn_status tni_sort_merged(tni_sorting *s, tni_temp *to)
{
    const tn_tensor *v = &s->source.view;
    merge m = {.s = s,
               .dtype = v->dtype,
               .width = tni_width(v->dtype),
               .runs = tni_ceil_div(s->n, s->most)};
    const int64_t count = tni_shape_count(v->ndim - 1, v->shape);
    tn_status status = take_memory(&m);
    if (status == TN_OK)
        status = make_runs(&m, count);
    for (m.sequence = 0; m.sequence < count && status == TN_OK; m.sequence++)
        status = merge_sequence(&m, to->writer);
    tni_temp_close(&m.values);
    tni_temp_close(&m.indices);
    tni_free(m.memory);
    tni_free(m.run);
    return status;
}
