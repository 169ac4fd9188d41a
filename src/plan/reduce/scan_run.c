/* scan_run.c - running reductions: sequences block by block, or columns eight rows at a time.
 *
 * Elements run as f64, or as integers of 64 bits, and are rounded once. */
#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

enum { SCAN_BLOCK = TNI_TREE_BLOCK };

/* ---- reading and writing ---- */

void tni_scan_cast(int isa, tn_dtype from, tn_dtype to, char *d, const char *s, int64_t n)
{
    const tni_cast c = tni_cast_chain(isa, from, to);
    char between[2][SCAN_BLOCK * 16];
    for (int i = 0; i < c.steps; i++) {
        char *out = i == c.steps - 1 ? d : between[i % 2];
        c.fn[i](out, s, n, 0, false);
        s = out;
    }
    if (c.steps == 0)
        memcpy(d, s, (size_t)(n * tni_width(to)));
}

/* n elements, step bytes apart on either side. */
static void scan_copy(const tni_scan *s, int64_t width, char *d, int64_t d_step,
                      const char *from, int64_t s_step, int64_t n)
{
    const int64_t ds[2] = {0, d_step}, ss[2] = {0, s_step}, trips[2] = {1, n};
    tni_kernels_of(s->isa)->copy->tile[tni_log2_width(width)](d, ds, from, ss, trips);
}

void tni_scan_initial(const tni_scan *s, char *d)
{
    const bool prod = s->op == TN_SCAN_PROD;
    double f[2] = {prod ? 1 : s->op == TN_SCAN_LOGSUMEXP ? -(double)INFINITY : 0, 0};
    int64_t i = prod;
    const bool integer = s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED;
    tni_scan_cast(s->isa, s->wide, s->dst, d, integer ? (char *)&i : (char *)f, 1);
}

/* Sums of f32 in f32, or of 16-bit floats, both dense: no buffer between. */
static void scan_direct(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                        tni_scan_state *run)
{
    const double absent = tni_scan_absent(s);
    if (at == 0)
        run->f = run->chain = absent;
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    run->chain =
        s->half ? k->sum16[s->src == TN_BF16](d, x, n, run->f, run->chain)
                : k->sum32(d, x, n, run->f, run->chain, s->stream && (uintptr_t)d % 32 == 0);
    if ((at + n) % SCAN_BLOCK == 0) {
        run->f = run->f + run->chain;
        run->chain = absent;
    }
}

static void scan_keys(const tni_scan *s, char *d, const char *x, int64_t n, int64_t at,
                      tni_scan_state *run)
{
    const int log2 = tni_log2_width(s->width[1]);
    if (at == 0)
        run->i = log2 < 3 ? INT32_MIN : INT64_MIN;
    run->i = tni_kernels_of(s->isa)->scan->extremes[log2].line(d, x, n, run->i, &s->rule);
}

void tni_scan_sequence(const tni_scan *s, char *d, const char *p, tni_scan_state *carry)
{
    tni_scan_block b;
    char buf[SCAN_BLOCK * 16];
    tni_scan_state own = {0}, *run = carry ? carry : &own;
    if (s->initial) {
        tni_scan_initial(s, d);
        d += s->step[0];
    }
    for (int64_t at = 0, m; at < s->n; at += m) {
        m = SCAN_BLOCK - (s->at + at) % SCAN_BLOCK;
        m = s->n - at < m ? s->n - at : m;
        const char *x = p + at * s->step[1];
        if (s->direct || s->half) {
            scan_direct(s, d + at * s->step[0], x, m, s->at + at, run);
            continue;
        }
        if (s->step[1] != s->width[1]) {
            scan_copy(s, s->width[1], buf, s->width[1], x, s->step[1], m);
            x = buf;
        }
        char *to = d + at * s->step[0];
        const bool dense = s->step[0] == s->width[0];
        if (s->keyed) {
            scan_keys(s, dense ? to : buf, x, m, s->at + at, run);
        } else {
            tni_scan_cast(s->isa, s->src, s->wide, b.bytes, x, m);
            tni_scan_one_block(s, &b, m, s->at + at, run);
            tni_scan_cast(s->isa, s->wide, s->dst, dense ? to : buf, b.bytes, m);
        }
        if (!dense)
            scan_copy(s, s->width[0], to, s->step[0], buf, s->width[0], m);
    }
}

/* ---- threads ---- */

typedef struct scan_job {
    const tni_scan *s;
    char *dst, *carry;
    const char *src;
    int64_t items, strips, strip; /* strip: its columns */
    int parts;
} scan_job;

static void scan_part(void *arg, int part)
{
    const scan_job *j = arg;
    const tni_scan *s = j->s;
    int64_t first, last;
    tni_walk walk;
    tni_split_range(j->items, j->parts, part, &first, &last);
    const int outer = s->nest.ndim - s->columns;
    tni_walk_seek(&walk, s->nest.axis, outer, 2 + s->carries, first / j->strips);
    for (int64_t i = first; i < last; i++) {
        const int64_t strip = i % j->strips;
        char *d = j->dst + walk.offset[0];
        const char *p = j->src + walk.offset[1];
        char *kept = j->carry ? j->carry + walk.offset[2] : NULL;
        if (s->columns) {
            const int64_t n = s->nest.axis[outer].n, at = strip * j->strip;
            const int64_t w = n - at < j->strip ? n - at : j->strip;
            tni_scan_state *states = (tni_scan_state *)(void *)kept;
            tni_scan_strip(s, d + at * s->width[0], p + at * s->width[1], w,
                           states ? states + at : NULL);
        } else {
            tni_scan_sequence(s, d, p, (tni_scan_state *)(void *)kept);
        }
        if (strip == j->strips - 1)
            tni_walk_next(&walk);
    }
    if (s->stream)
        tni_kernels_of(s->isa)->copy->fence();
}

void tni_scan_run(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    scan_job j = {.s = s, .items = 1, .strips = 1};
    if (s->nest.empty || (s->n == 0 && !s->initial))
        return;
    j.dst = dst + s->nest.shift[0];
    j.src = s->n ? src + s->nest.shift[1] : j.dst; /* of no elements: an address, not read */
    j.carry = s->carries ? (char *)carry + s->nest.shift[2] : NULL;
    if (tni_scan_narrow(s)) {
        tni_scan_narrow_run(s, j.dst, j.src);
        return;
    }
    for (int i = 0; i < s->nest.ndim - s->columns; i++)
        j.items *= s->nest.axis[i].n;
    if (s->columns) {
        const int64_t n = s->nest.axis[s->nest.ndim - 1].n, bytes = 4 * s->width[1];
        j.strip = TNI_SCAN_COLUMNS;
        if (s->direct || s->half || s->type != TNI_SCAN_REAL || s->keyed) {
            j.strip = n / tni_run_parts(tni_mul_saturated(s->count, bytes), n) / 16 * 16;
            j.strip = j.strip < TNI_SCAN_COLUMNS  ? TNI_SCAN_COLUMNS
                      : j.strip < TNI_SCAN_WIDEST ? j.strip
                                                  : TNI_SCAN_WIDEST;
        }
        j.strips = tni_ceil_div(n, j.strip);
    }
    j.items *= j.strips;
    if (tni_scan_divides(s, j.items)) {
        tni_walk walk;
        tni_walk_seek(&walk, s->nest.axis, s->nest.ndim, 2, 0);
        do
            tni_scan_rounds(s, j.dst + walk.offset[0], j.src + walk.offset[1]);
        while (tni_walk_next(&walk) != s->nest.ndim);
        return;
    }
    j.parts = tni_run_parts(tni_mul_saturated(s->count, 4 * s->width[1]), j.items);
    tni_parallel(j.parts, scan_part, &j);
}

/* ---- plans ---- */

/* The states of sequences, dense in the order of their tensor. */
static void carry_states(tn_tensor *out, const tn_tensor *sequences)
{
    int64_t step = sizeof(tni_scan_state);
    tni_inherit(out, sequences, NULL, sequences->ndim);
    for (int i = sequences->ndim - 1; i >= 0; i--) {
        tni_set_axis(out, i, sequences->shape[i], step);
        step *= sequences->shape[i];
    }
}

/* least: of running minima. */
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

void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim, bool carries, int64_t at)
{
    const int kind = tni_dtypes[src->dtype].kind;
    tn_tensor sequences[3];
    const tn_tensor *ts[3] = {&sequences[0], &sequences[1], &sequences[2]};
    s->carries = carries;
    s->at = at;
    s->op = op;
    s->type = kind == TNI_COMPLEX    ? TNI_SCAN_COMPLEX
              : kind == TNI_FLOAT    ? TNI_SCAN_REAL
              : kind == TNI_UNSIGNED ? TNI_SCAN_UNSIGNED
                                     : TNI_SCAN_SIGNED;
    s->src = src->dtype;
    s->dst = dst->dtype;
    s->wide = kind == TNI_COMPLEX    ? TN_C128
              : kind == TNI_FLOAT    ? TN_F64
              : kind == TNI_UNSIGNED ? TN_U64
                                     : TN_I64;
    s->isa = tni_isa_level();
    s->n = src->shape[dim];
    s->initial = dst->shape[dim] > s->n;
    s->count = tni_numel(src);
    tni_drop_axis(&sequences[0], dst, dim, NULL);
    tni_drop_axis(&sequences[1], src, dim, NULL);
    for (int i = 0; i < sequences[1].ndim && s->n == 0; i++)
        sequences[1].stride[i] = 0; /* src may have no address to go on from */
    s->width[0] = tni_width(dst->dtype);
    s->width[1] = tni_width(src->dtype);
    s->step[0] = dst->shape[dim] > 1 ? dst->stride[dim] : s->width[0];
    s->step[1] = s->n > 1 ? src->stride[dim] : s->width[1];
    if (s->type == TNI_SCAN_COMPLEX && op == TN_SCAN_SUM) { /* of both parts, side by side */
        s->type = TNI_SCAN_REAL;
        s->wide = TN_F64;
        for (int k = 0; k < 2; k++) {
            s->width[k] /= 2;
            tni_set_axis(&sequences[k], sequences[k].ndim, 2, s->width[k]);
            sequences[k].ndim++;
        }
        s->src = tni_real_of(src->dtype);
        s->dst = tni_real_of(dst->dtype);
    }
    if (carries)
        carry_states(&sequences[2], &sequences[0]);
    if (dst->shape[dim] == 0) /* the other axes of dst may repeat: no nest holds */
        s->nest = (tni_nest){.nop = 2 + carries, .empty = true};
    else
        tni_nest_normal(&s->nest, 2 + carries, ts);
    const tni_axis *last = s->nest.ndim ? &s->nest.axis[s->nest.ndim - 1] : NULL;
    s->keyed = (op == TN_SCAN_MAX || op == TN_SCAN_MIN) && kind != TNI_BOOL;
    if (s->keyed)
        s->rule = extreme_rule(src->dtype, op == TN_SCAN_MIN);
    const bool half = s->src == TN_F16 || s->src == TN_BF16;
    const bool moves =
        op == TN_SCAN_SUM && s->src == s->dst &&
        (s->src == TN_F32 || (half && tni_kernels_of(s->isa)->scan->sum16[s->src == TN_BF16]));
    const int64_t least = moves ? 2 : s->keyed || s->type != TNI_SCAN_REAL ? 4 : 16;
    s->columns =
        !s->nest.empty && last &&
        (s->keyed || op == TN_SCAN_SUM || (op == TN_SCAN_PROD && s->type == TNI_SCAN_REAL)) &&
        last->step[0] == s->width[0] && last->step[1] == s->width[1] && last->n >= least &&
        (!carries || last->step[2] == (int64_t)sizeof(tni_scan_state));
    const bool dense = s->columns || (s->step[0] == s->width[0] && s->step[1] == s->width[1]);
    s->direct = moves && dense && !half;
    s->half = moves && dense && half;
    s->stream = s->direct && s->count * s->width[0] >= tni_cache_sizes()->stream;
}

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
    FACT(f->way, "%s", s->nest.empty ? "nothing" : s->columns ? "columns" : "line");
    FACT(f->why, "%s",
         s->columns ? "sequences stand side by side" : "one sequence after the other");
    f->read = s->count * tni_width(plan->ts[1].dtype);
    f->written = tni_numel(&plan->ts[0]) * tni_width(plan->ts[0].dtype);
    f->threads = tni_plan_parts(tni_mul_saturated(s->count, 4 * s->width[1]), INT64_MAX);
    tni_facts_add(f, "runs as", "%s", tn_dtype_name(s->wide));
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
