/* stream_reduce.c - reductions of sources that exceed memory, bit-identical to tn_reduce.
 *
 * A box of the inner job is one run of the sequences of a window.  Workers read it and reduce
 * it to states, which are stored at the start of the box, before the elements; the calling
 * thread merges the states in the order of runs. */
#include <string.h>

#include "stream.h"

typedef struct reduction {
    const tn_stream *job;
    tni_fold fold;
    tni_runs runs;
    int64_t parts;  /* results per output: 2 for sums of complex numbers */
    int64_t states; /* words of states at the start of a box, a multiple of a cache line */
    tni_fold_pairs pairs;
    char *result;
} reduction;

/* ---- states of a run ---- */

static tn_status reduce_box(void *user, const tn_tensor *out, int n,
                            const tn_tensor *const *srcs, const int64_t *at)
{
    const reduction *r = user;
    tni_box window;
    tn_tensor piece, states;
    tni_word *head = out->data;
    (void)n;
    (void)srcs;
    tni_boxes_get(&r->runs.windows, at[0], &window);
    TRY(tni_runs_read(&r->runs, &window, at[1], (char *)(head + r->states), &piece));
    const int64_t w = piece.shape[1], width = r->fold.width, word = sizeof *head;
    tni_set_axis(&piece, 2, r->parts, width);
    piece.ndim = 3;
    tni_inherit(&states, &piece, head, 3);
    tni_set_axis(&states, 0, piece.shape[0], 0);
    tni_set_axis(&states, 1, w, r->parts * word);
    tni_set_axis(&states, 2, r->parts, word);
    tni_fold f;
    tni_fold_plan_run(&f, &r->fold, &states, w * r->parts * word, &piece, 1,
                      at[1] * r->runs.run);
    const char *const from[TNI_FOLD_SOURCES] = {piece.data, piece.data};
    tni_fold_run(&f, (char *)head, from);
    return TN_OK;
}

/* ---- merging states ---- */

/* Pass a window, which is a block of the result, to the sink. */
static tn_status deliver_window(const reduction *r, const tni_box *window)
{
    const tn_stream *job = r->job;
    const int ndim = tni_stream_ndim(job);
    const bool all = ndim == r->runs.source->view.ndim;
    int64_t n[TN_MAX_NDIM], at[TN_MAX_NDIM];
    tn_tensor block;
    for (int i = 0; i < ndim; i++) {
        n[i] = 1;
        at[i] = 0;
    }
    for (int i = 0; i < r->runs.nmap; i++) {
        const int axis = all ? r->runs.map[i] : i;
        n[axis] = window->n[i];
        at[axis] = window->at[i];
    }
    TRY(tn_init(&block, r->result, job->out.dtype, ndim, n));
    return tni_stream_deliver(job, &block, at);
}

static tn_status merge_box(void *user, const tn_tensor *block, const int64_t *at)
{
    reduction *r = user;
    tni_box window;
    tni_boxes_get(&r->runs.windows, at[0], &window);
    const int64_t w = tni_shape_count(r->runs.nmap, window.n) * r->parts;
    const int64_t each = r->fold.class->words * w;
    if (at[1] == 0)
        r->pairs.depth = 0, r->pairs.blocks = 0;
    memcpy(r->pairs.state + r->pairs.depth * each, block->data,
           (size_t)each * sizeof *r->pairs.state);
    tni_fold_push(&r->fold, &r->pairs, w);
    if (at[1] + 1 < r->runs.runs)
        return TN_OK;
    tni_fold_close(&r->fold, &r->pairs, w);
    tni_fold_results(&r->fold, r->result, tni_width(r->fold.dst), r->pairs.state, w);
    return deliver_window(r, &window);
}

/* Report progress in bytes of the source. */
static tn_status reduce_progress(void *user, int64_t done, int64_t total)
{
    const reduction *r = user;
    const int64_t all = tn_nbytes(&r->runs.source->view);
    return r->job->progress(r->job->user, (int64_t)((double)done / (double)total * (double)all),
                            all);
}

/* ---- jobs ---- */

static tn_status plan_of(const tn_stream *job, tn_plan **plan)
{
    const tn_stream_reduce *x = job->args;
    tn_tensor dst, src = job->sources[0].view;
    src.flags = 0;
    TRY(tn_init(&dst, NULL, job->out.dtype, tni_stream_ndim(job), tni_stream_shape(job)));
    return tni_unplanned(tn_plan_reduce(plan, x->op, x->params, &dst, &src, x->naxes, x->axes));
}

static tn_status reduce_check(const tn_stream *job)
{
    tn_plan *plan = NULL;
    if (!job->args)
        return tni_fail(TN_ENULL, "stream: args is NULL");
    TRY(tni_recipe_one_source(job));
    TRY(plan_of(job, &plan));
    tn_plan_free(plan);
    return TN_OK;
}

static uint64_t folded_axes(const tn_stream *job)
{
    const tn_stream_reduce *x = job->args;
    uint64_t folded = x->naxes == TN_ALL_AXES ? UINT64_MAX : 0;
    for (int i = 0; i < x->naxes; i++)
        folded |= (uint64_t)1 << x->axes[i];
    return folded;
}

static int levels(int64_t runs)
{
    int n = 2;
    for (; runs > 1; runs /= 2)
        n++;
    return n;
}

/* Bytes of the states that wait to be merged. */
static int64_t waiting_bytes(const reduction *r)
{
    return r->runs.window * r->parts * r->fold.class->words * levels(r->runs.runs) *
           (int64_t)sizeof(tni_word);
}

/* Words of a box: its states, then the elements of a run. */
static int64_t box_words(const reduction *r)
{
    return r->states + tni_ceil_div(r->runs.piece, sizeof(tni_word));
}

static tn_status merge_begin(reduction *r)
{
    const int64_t results = r->runs.window * r->parts;
    r->pairs.state = tni_alloc((size_t)waiting_bytes(r));
    r->result = r->pairs.state ? tni_alloc((size_t)(results * tni_width(r->fold.dst))) : NULL;
    return r->pairs.state && r->result
               ? TN_OK
               : tni_fail(TN_ENOMEM, "stream: cannot allocate memory for %lld results",
                          (long long)results);
}

static void merge_end(reduction *r)
{
    tni_free(r->pairs.state);
    tni_free(r->result);
}

static tn_status run_planned(reduction *r, tn_stream_facts *facts)
{
    const tn_stream *job = r->job;
    const tn_stream_map map = {.fn = reduce_box, .user = r};
    tn_stream inner = {.recipe = TN_STREAM_MAP,
                       .args = &map,
                       .put = merge_box,
                       .progress = job->progress ? reduce_progress : NULL,
                       .user = r,
                       .max_mem = job->max_mem,
                       .box = box_words(r),
                       .threads = job->threads};
    const int64_t shape[3] = {r->runs.windows.count, r->runs.runs, inner.box};
    TRY(tn_init(&inner.out, NULL, TN_U64, 3, shape));
    if (facts || r->runs.outputs == 0) {
        TRY(facts ? tn_stream_plan(&inner, facts) : TN_OK);
        if (facts) {
            facts->memory += waiting_bytes(r);
            facts->shortest_read = r->runs.span;
            facts->box = r->runs.piece / tni_width(r->runs.source->view.dtype);
        }
        return TN_OK;
    }
    tn_status status = merge_begin(r);
    if (status == TN_OK)
        status = tn_stream_run(&inner);
    merge_end(r);
    return status;
}

static tn_status reduce_plan(reduction *r, const tn_stream *job)
{
    tn_plan *plan = NULL;
    *r = (reduction){.job = job};
    TRY(plan_of(job, &plan));
    r->fold = *tni_fold_of(plan);
    r->fold.stream = false; /* a window of results is read as soon as it is made */
    tn_plan_free(plan);
    const tn_tensor *view = &job->sources[0].view;
    r->parts = tni_width(view->dtype) / r->fold.width;
    const int64_t each = r->parts * (r->fold.class->words * (int64_t)sizeof(tni_word) + 16);
    tni_runs_plan(&r->runs, &job->sources[0], folded_axes(job), r->fold.class->ordered, each,
                  tni_stream_share(job));
    r->states = (r->runs.window * r->parts * r->fold.class->words + 7) & ~INT64_C(7);
    return TN_OK;
}

static tn_status reduce_run(const tn_stream *job, tn_stream_facts *facts)
{
    reduction r;
    TRY(reduce_plan(&r, job));
    return run_planned(&r, facts);
}

const tni_recipe tni_stream_reduce_row = {"reduce",   reduce_check,     NULL,           NULL,
                                          reduce_run, .own_axes = true, .plan = plan_of};

/* ---- pieces of a reduction, for several processes ---- */

struct tn_partial {
    reduction r;
    int64_t next;  /* the next piece to merge */
    tni_word *box; /* states and elements of the piece being computed */
};

tn_status tn_partial_create(tn_partial **out, const tn_stream *job)
{
    tn_stream_facts checked;
    if (!out)
        return tni_fail(TN_ENULL, "partial_create: out is NULL");
    TRY(tn_stream_plan(job, &checked));
    if (job->recipe != TN_STREAM_REDUCE)
        return tni_fail(TN_EARG, "partial_create: the recipe is %s, expected reduce",
                        checked.recipe);
    tn_partial *p = tni_alloc(sizeof *p);
    if (!p)
        return tni_fail(TN_ENOMEM, "partial_create: out of memory");
    *p = (tn_partial){.next = 0};
    tn_status status = reduce_plan(&p->r, job);
    if (status == TN_OK) {
        p->box = tni_alloc((size_t)box_words(&p->r) * sizeof *p->box);
        status =
            p->box ? merge_begin(&p->r)
                   : tni_fail(TN_ENOMEM, "partial_create: cannot allocate memory for a piece");
    }
    if (status != TN_OK) {
        tn_partial_free(p);
        return status;
    }
    *out = p;
    return TN_OK;
}

void tn_partial_free(tn_partial *p)
{
    if (!p)
        return;
    merge_end(&p->r);
    tni_free(p->box);
    tni_free(p);
}

int64_t tn_partial_count(const tn_partial *p)
{
    return p && p->r.runs.outputs ? p->r.runs.windows.count * p->r.runs.runs : 0;
}

int64_t tn_partial_bytes(const tn_partial *p)
{
    return p ? p->r.states * (int64_t)sizeof *p->box : 0;
}

tn_status tn_partial_compute(tn_partial *p, int64_t i, const void **states)
{
    tn_tensor box;
    if (!p || !states)
        return tni_fail(TN_ENULL, "partial_compute: %s is NULL", p ? "states" : "p");
    if (i < 0 || i >= tn_partial_count(p))
        return tni_fail(TN_EARG, "partial_compute: piece %lld is out of range [0, %lld)",
                        (long long)i, (long long)tn_partial_count(p));
    const int64_t words = box_words(&p->r), at[] = {i / p->r.runs.runs, i % p->r.runs.runs, 0};
    TRY(tn_init(&box, p->box, TN_U64, 1, &words));
    TRY(reduce_box(&p->r, &box, 0, NULL, at));
    *states = p->box;
    return TN_OK;
}

tn_status tn_partial_merge(tn_partial *p, const void *states)
{
    if (!p || !states)
        return tni_fail(TN_ENULL, "partial_merge: %s is NULL", p ? "states" : "p");
    if (!p->r.job->writer && !p->r.job->put)
        return tni_fail(TN_ENULL,
                        "partial_merge: expected a writer or put in the job, both are NULL");
    if (p->next == tn_partial_count(p))
        return tni_fail(TN_EARG, "partial_merge: all %lld pieces have already been merged",
                        (long long)p->next);
    const int64_t at[] = {p->next / p->r.runs.runs, p->next % p->r.runs.runs};
    const tn_tensor box = {.data = (void *)(uintptr_t)states};
    p->next++;
    return merge_box(&p->r, &box, at);
}
