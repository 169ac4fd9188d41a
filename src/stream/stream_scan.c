/* stream_scan.c - scans of sources that exceed memory, bit-identical to tn_scan.
 *
 * Boxes of the source are read ahead; the calling thread scans them in order.  If sequences are
 * cut, each carries a state from box to box, and cuts are between groups. */
#include "stream.h"

typedef struct scan {
    const tn_stream *job;
    const tn_stream_scan *args;
    int64_t box, inner; /* elements of a box; of one index of the axis */
    bool cut;           /* a sequence spans several boxes */
    tni_scan_state *carry;
    char *result;
} scan;

static tn_status scan_box(void *user, const tn_tensor *block, const int64_t *at)
{
    const scan *x = user;
    const int dim = x->args->dim;
    tn_tensor dst;
    tni_scan s;
    TRY(tn_init(&dst, x->result, x->job->out.dtype, block->ndim, block->shape));
    tni_scan_plan(&s, x->args->op, &dst, block, dim, x->cut, x->cut ? at[dim] : 0);
    tni_scan_run(&s, x->result, block->data, x->carry);
    return tni_stream_deliver(x->job, &dst, at);
}

static tn_status scan_progress(void *user, int64_t done, int64_t total)
{
    const scan *x = user;
    const int64_t from = tni_width(x->job->sources[0].view.dtype);
    const int64_t to = tni_width(x->job->out.dtype);
    return x->job->progress(x->job->user, done / from * to, total / from * to);
}

static tn_status scan_plan(const tn_stream *job, tn_plan **plan)
{
    const tn_stream_scan *x = job->args;
    tn_tensor dst, src = job->sources[0].view;
    src.data = NULL;
    src.flags = 0;
    TRY(tn_init(&dst, NULL, job->out.dtype, job->out.ndim, job->out.shape));
    return tni_unplanned(tn_plan_scan(plan, x->op, &dst, &src, x->dim));
}

static tn_status scan_check(const tn_stream *job)
{
    tn_plan *plan = NULL;
    if (!job->args)
        return tni_fail(TN_ENULL, "stream: args is NULL");
    TRY(tni_recipe_one_source(job));
    TRY(tni_recipe_no_axes(job));
    TRY(scan_plan(job, &plan));
    tn_plan_free(plan);
    if (tni_numel(&job->out) != tni_numel(&job->sources[0].view))
        return tni_fail(TN_ESHAPE, "stream: scan: out is longer than the source");
    return TN_OK;
}

/* Boxes that cut sequences hold whole blocks of each or, if memory is short, whole groups. */
static void cut_boxes(scan *x, const tn_stream *inner)
{
    const tn_tensor *v = &inner->out;
    const int dim = x->args->dim;
    tni_boxes b;
    x->inner = tni_shape_count(v->ndim - dim - 1, v->shape + dim + 1);
    x->box = tni_stream_schedule(inner).elements;
    tni_boxes_cut(&b, v->ndim, v->shape, x->box);
    x->cut = b.cut > dim || (b.cut == dim && b.range < v->shape[dim]);
    if (!x->cut)
        return;
    int64_t range = x->box / x->inner;
    range = range >= TNI_TREE_BLOCK ? range / TNI_TREE_BLOCK * TNI_TREE_BLOCK
                                    : range / TNI_SCAN_GROUP * TNI_SCAN_GROUP;
    range = range > 0 ? range : TNI_SCAN_GROUP;
    x->cut = range < v->shape[dim];
    x->box = x->inner * (x->cut ? range : v->shape[dim]);
}

/* The job that reads the boxes. */
static tn_stream inner_job(scan *x, const tn_stream *job)
{
    tn_stream inner = {.out = job->sources[0].view,
                       .n = 1,
                       .sources = job->sources,
                       .put = scan_box,
                       .progress = job->progress ? scan_progress : NULL,
                       .user = x,
                       .max_mem = job->max_mem,
                       .box = job->box,
                       .threads = job->threads};
    *x = (scan){.job = job, .args = job->args};
    inner.out.data = NULL;
    inner.out.flags = 0;
    tni_shape_dense(inner.out.ndim, inner.out.shape, tni_width(inner.out.dtype),
                    inner.out.stride);
    if (tni_numel(&inner.out) == 0)
        return inner;
    cut_boxes(x, &inner);
    inner.box = x->box;
    return inner;
}

/* Boxes are those of the result. */
static void scan_one_read(const tn_stream *job, int64_t *n, int *axes)
{
    scan x;
    tni_boxes b;
    tni_box first;
    const tn_stream inner = inner_job(&x, job);
    tni_boxes_cut(&b, inner.out.ndim, inner.out.shape, x.box);
    tni_boxes_get(&b, 0, &first);
    for (int i = 0; i < inner.out.ndim; i++) {
        axes[i] = i;
        n[i] = first.n[i];
    }
}

static tn_status scan_run(const tn_stream *job, tn_stream_facts *facts)
{
    scan x;
    const tn_stream inner = inner_job(&x, job);
    if (tni_numel(&inner.out) == 0)
        return facts ? tn_stream_plan(&inner, facts) : TN_OK;
    const int64_t states =
        x.cut ? 2 * x.inner * (int64_t)sizeof(tni_scan_state) : 0; /* 2: complex numbers */
    const int64_t result = x.box * tni_width(job->out.dtype);
    if (facts) {
        TRY(tn_stream_plan(&inner, facts));
        facts->memory += states + result;
        return TN_OK;
    }
    x.result = tni_alloc((size_t)result);
    x.carry = states && x.result ? tni_alloc((size_t)states) : NULL;
    tn_status status =
        x.result && (x.carry || !states)
            ? tn_stream_run(&inner)
            : tni_fail(TN_ENOMEM, "stream: cannot allocate %lld bytes", (long long)result);
    tni_free(x.carry);
    tni_free(x.result);
    return status;
}

const tni_recipe tni_stream_scan_row = {
    "scan",           scan_check,       NULL, NULL, scan_run, .one_read = scan_one_read,
    .own_axes = true, .plan = scan_plan};
