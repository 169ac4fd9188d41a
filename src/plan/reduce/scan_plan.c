/* scan_plan.c - planning scans: dtypes, the nest over the sequences, the public plan. */
#include <math.h>

#include "scan_run.h"
#include "view/view.h"

/* Describe the states of the sequences as a dense tensor of the same shape. */
static void carry_states(tn_tensor *out, const tn_tensor *sequences)
{
    int64_t step = sizeof(tni_scan_state);
    tni_inherit(out, sequences, NULL, sequences->ndim);
    for (int i = sequences->ndim - 1; i >= 0; i--) {
        tni_set_axis(out, i, sequences->shape[i], step);
        step *= sequences->shape[i];
    }
}

/* The rule that maps elements to keys for running maxima or, with `least`, minima. */
static tni_scan_rule extreme_rule(tn_dtype dtype, bool least)
{
    const int kind = tni_dtypes[dtype].kind, bits = 8 * (int)tni_width(dtype);
    tni_scan_rule r = {.flip = least ? -1 : 0, .real = kind == TNI_FLOAT};
    if (kind == TNI_UNSIGNED)
        r.flip ^= (int64_t)((uint64_t)1 << (bits - 1));
    if (r.real) {
        static const tn_dtype words[] = {TN_U8, TN_U16, TN_U32, TN_U64};
        char nan[8];
        tni_store_real(nan, dtype, (double)NAN);
        r.nan = tni_index_at(nan, words[tni_log2_width(bits / 8)]);
        r.largest = tni_floats[dtype].largest;
    }
    return r;
}

/* Set the dtypes and widths of s, and the rule of keys. */
static void scan_dtypes(tni_scan *s, tn_dtype dst, tn_dtype src)
{
    const int kind = tni_dtypes[src].kind;
    s->type = kind == TNI_COMPLEX    ? TNI_SCAN_COMPLEX
              : kind == TNI_FLOAT    ? TNI_SCAN_REAL
              : kind == TNI_UNSIGNED ? TNI_SCAN_UNSIGNED
                                     : TNI_SCAN_SIGNED;
    s->wide = kind == TNI_COMPLEX    ? TN_C128
              : kind == TNI_FLOAT    ? TN_F64
              : kind == TNI_UNSIGNED ? TN_U64
                                     : TN_I64;
    s->src = src;
    s->dst = dst;
    s->width[0] = tni_width(dst);
    s->width[1] = tni_width(src);
    if ((s->op == TN_SCAN_MAX || s->op == TN_SCAN_MIN) && kind != TNI_COMPLEX)
        s->rule = extreme_rule(src, s->op == TN_SCAN_MIN);
}

/* Scan complex numbers as reals: real and imaginary parts become one more axis of the
 * sequences. */
static void split_complex(tni_scan *s, tn_tensor *sequences)
{
    s->type = TNI_SCAN_REAL;
    s->wide = TN_F64;
    s->src = tni_real_of(s->src);
    s->dst = tni_real_of(s->dst);
    for (int k = 0; k < 2; k++) {
        s->width[k] /= 2;
        tni_set_axis(&sequences[k], sequences[k].ndim, 2, s->width[k]);
        sequences[k].ndim++;
    }
}

void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim, bool carries, int64_t at)
{
    tn_tensor sequences[3];
    const tn_tensor *ts[3] = {&sequences[0], &sequences[1], &sequences[2]};
    s->op = op;
    s->isa = tni_isa_level();
    s->carries = carries;
    s->at = at;
    s->n = src->shape[dim];
    s->initial = dst->shape[dim] > s->n;
    s->count = tni_numel(src);
    scan_dtypes(s, dst->dtype, src->dtype);
    tni_drop_axis(&sequences[0], dst, dim, NULL);
    tni_drop_axis(&sequences[1], src, dim, NULL);
    for (int i = 0; i < sequences[1].ndim && s->n == 0; i++)
        sequences[1].stride[i] = 0; /* src is not read: the walk stays at its address */
    s->step[0] = dst->shape[dim] > 1 ? dst->stride[dim] : s->width[0];
    s->step[1] = s->n > 1 ? src->stride[dim] : s->width[1];
    if (s->type == TNI_SCAN_COMPLEX && op == TN_SCAN_SUM)
        split_complex(s, sequences);
    if (carries)
        carry_states(&sequences[2], &sequences[0]);
    if (dst->shape[dim] == 0) /* strides of an empty dst may repeat addresses: no normal form */
        s->nest = (tni_nest){.nop = 2 + carries, .empty = true};
    else
        tni_nest_normal(&s->nest, 2 + carries, ts);
    tni_scan_classify(s);
    tni_scan_choose(s);
}

/* ---- the public plan ---- */

typedef struct scan_plan {
    tn_plan base;
    tni_scan scan;
} scan_plan;

static void scan_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_scan_run(&((const scan_plan *)plan)->scan, dst, srcs[0], NULL);
}

static void scan_plan_facts(const tn_plan *plan, tn_facts *f)
{
    const tni_scan *s = &((const scan_plan *)plan)->scan;
    FACT(f->way, "%s", s->way->name);
    FACT(f->why, "%s", s->why);
    f->read = s->count * tni_width(plan->ts[1].dtype);
    f->written = tni_numel(&plan->ts[0]) * tni_width(plan->ts[0].dtype);
    f->threads = tni_plan_parts(tni_scan_work(s), INT64_MAX);
    f->streams = s->stream;
    tni_facts_add(f, "runs as", "%s", tn_dtype_name(s->wide));
    tni_facts_add(f, "elements", "%s", s->class->name);
}

static const tni_plan_class scan_class = {"scan", sizeof(scan_plan), scan_plan_run,
                                          scan_plan_facts, NULL};

tn_plan *tni_scan_new(const tni_scan *s, const char *call, const tn_tensor *dst,
                      const tn_tensor *src)
{
    tn_plan *p = tni_plan_new(&scan_class, call, true, 1, dst, &src);
    if (p)
        ((scan_plan *)p)->scan = *s;
    return p;
}
