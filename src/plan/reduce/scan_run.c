/* scan_run.c - running reductions: lines block by block, or columns eight rows at a time.
 *
 * Elements run as f64, or as integers of 64 bits, and are rounded once. */
#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

enum { SCAN_BLOCK = TNI_TREE_BLOCK, SCAN_COLUMNS = 512 };

/* What runs from block to block. */
typedef struct scan_state {
    double f, sum; /* what came before; of logsumexp the maximum and the sum */
    double im;
    int64_t i;
    bool begun;
} scan_state;

typedef union scan_block {
    double f[2 * SCAN_BLOCK];
    int64_t i[SCAN_BLOCK];
    uint64_t u[SCAN_BLOCK];
    char bytes[2 * SCAN_BLOCK * 8];
} scan_block;

/* ---- one block ---- */

static void scan_real(const tni_scan *s, double *d, const double *x, int64_t n, scan_state *run)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    const bool sum = s->op == TN_SCAN_SUM;
    if (!run->begun)
        run->f = sum ? -0.0 : 1.0;
    const double chain = (sum ? k->sum : k->prod)(d, x, n, run->f);
    run->f = sum ? run->f + chain : run->f * chain;
    run->begun = true;
}

/* NaN from the first one on; -0 is less than +0. */
static double further(double a, double b, bool most)
{
    if (isnan(a) || isnan(b))
        return (double)NAN;
    if (a == b)
        return !signbit(a) == most ? a : b;
    return (a > b) == most ? a : b;
}

static void scan_extreme(const tni_scan *s, double *x, int64_t n, scan_state *run)
{
    for (int64_t i = 0; i < n; i++) {
        run->f = run->begun ? further(run->f, x[i], s->op == TN_SCAN_MAX) : x[i];
        run->begun = true;
        x[i] = run->f;
    }
}

static void scan_logsumexp(double *x, int64_t n, scan_state *run)
{
    if (!run->begun)
        run->f = -(double)INFINITY;
    run->begun = true;
    for (int64_t i = 0; i < n; i++) {
        const double v = x[i];
        if (isnan(v) || isnan(run->f)) {
            run->f = (double)NAN;
        } else if (v > run->f) {
            run->sum = isinf(run->f) ? 1 : run->sum * exp(run->f - v) + 1;
            run->f = v;
        } else if (!isinf(run->f)) {
            run->sum += exp(v - run->f);
        }
        x[i] = isfinite(run->f) ? run->f + log(run->sum) : run->f;
    }
}

static void scan_integers(const tni_scan *s, scan_block *b, int64_t n, scan_state *run)
{
    for (int64_t i = 0; i < n; i++) {
        const uint64_t a = (uint64_t)run->i, x = b->u[i];
        const bool less = s->type == TNI_SCAN_UNSIGNED ? a < x : run->i < b->i[i];
        if (!run->begun)
            run->i = b->i[i];
        else if (s->op == TN_SCAN_SUM)
            run->i = (int64_t)(a + x);
        else if (s->op == TN_SCAN_PROD)
            run->i = (int64_t)(a * x);
        else if (less == (s->op == TN_SCAN_MAX))
            run->i = b->i[i];
        run->begun = true;
        b->i[i] = run->i;
    }
}

/* Products of complex numbers, by the same groups and chains. */
static void scan_complex(double *x, int64_t n, scan_state *run)
{
    double before[2] = {1, 0}, chain[2] = {1, 0};
    if (run->begun)
        before[0] = run->f, before[1] = run->im;
    run->begun = true;
#define TIMES(r, a, b)                                                                         \
    do {                                                                                       \
        const double re = (a)[0] * (b)[0] - (a)[1] * (b)[1];                                   \
        const double im = (a)[0] * (b)[1] + (a)[1] * (b)[0];                                   \
        (r)[0] = re, (r)[1] = im;                                                              \
    } while (0)
    for (int64_t g = 0; g < n; g += TNI_SCAN_GROUP) {
        double *p = x + 2 * g;
        const int64_t m = n - g < TNI_SCAN_GROUP ? n - g : TNI_SCAN_GROUP;
        for (int64_t by = 1; by < TNI_SCAN_GROUP; by *= 2)
            for (int64_t i = m - 1; i >= by; i--)
                TIMES(p + 2 * i, p + 2 * i, p + 2 * (i - by));
        const double last[2] = {p[2 * m - 2], p[2 * m - 1]};
        for (int64_t i = 0; i < m; i++) {
            double both[2];
            TIMES(both, chain, p + 2 * i);
            TIMES(p + 2 * i, before, both);
        }
        TIMES(chain, chain, last);
    }
    TIMES(before, before, chain);
    run->f = before[0], run->im = before[1];
}

/* A computed NaN has one bit pattern, a sum that is zero one sign. */
static void scan_settle(double *x, int64_t n, bool sum)
{
    const double zero = sum ? 0.0 : -0.0;
    for (int64_t i = 0; i < n; i++)
        x[i] = isnan(x[i]) ? (double)NAN : x[i] + zero;
}

static void scan_one_block(const tni_scan *s, scan_block *b, int64_t n, scan_state *run)
{
    if (s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED) {
        scan_integers(s, b, n, run);
        return;
    }
    if (s->type == TNI_SCAN_COMPLEX)
        scan_complex(b->f, n, run);
    else if (s->op == TN_SCAN_MAX || s->op == TN_SCAN_MIN)
        scan_extreme(s, b->f, n, run);
    else if (s->op == TN_SCAN_LOGSUMEXP)
        scan_logsumexp(b->f, n, run);
    else
        scan_real(s, b->f, b->f, n, run);
    scan_settle(b->f, s->type == TNI_SCAN_COMPLEX ? 2 * n : n, s->op == TN_SCAN_SUM);
}

/* ---- reading and writing ---- */

static void scan_cast(int isa, tn_dtype from, tn_dtype to, char *d, const char *s, int64_t n)
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

static void scan_initial(const tni_scan *s, char *d)
{
    const bool prod = s->op == TN_SCAN_PROD;
    double f[2] = {prod ? 1 : s->op == TN_SCAN_LOGSUMEXP ? -(double)INFINITY : 0, 0};
    int64_t i = prod;
    const bool integer = s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED;
    scan_cast(s->isa, s->wide, s->dst, d, integer ? (char *)&i : (char *)f, 1);
}

static void scan_line(const tni_scan *s, char *d, const char *p)
{
    scan_block b;
    char buf[SCAN_BLOCK * 16];
    scan_state run = {0};
    if (s->initial) {
        scan_initial(s, d);
        d += s->step[0];
    }
    for (int64_t at = 0; at < s->n; at += SCAN_BLOCK) {
        const int64_t m = s->n - at < SCAN_BLOCK ? s->n - at : SCAN_BLOCK;
        const char *x = p + at * s->step[1];
        if (s->step[1] != s->width[1]) {
            scan_copy(s, s->width[1], buf, s->width[1], x, s->step[1], m);
            x = buf;
        }
        scan_cast(s->isa, s->src, s->wide, b.bytes, x, m);
        scan_one_block(s, &b, m, &run);
        char *to = d + at * s->step[0];
        const bool dense = s->step[0] == s->width[0];
        scan_cast(s->isa, s->wide, s->dst, dense ? to : buf, b.bytes, m);
        if (!dense)
            scan_copy(s, s->width[0], to, s->step[0], buf, s->width[0], m);
    }
}

/* ---- columns: sums and products of floats, w <= SCAN_COLUMNS dense ones ---- */

static void scan_strip(const tni_scan *s, char *d, const char *p, int64_t w)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    double v[TNI_SCAN_GROUP * SCAN_COLUMNS], before[SCAN_COLUMNS], chain[SCAN_COLUMNS];
    const bool sum = s->op == TN_SCAN_SUM;
    const double absent = sum ? -0.0 : 1.0;
    for (int64_t c = 0; c < w; c++)
        before[c] = chain[c] = absent;
    if (s->initial) {
        for (int64_t c = 0; c < w; c++)
            scan_initial(s, d + c * s->width[0]);
        d += s->step[0];
    }
    for (int64_t i = 0; i < s->n; i += TNI_SCAN_GROUP) {
        const int64_t rows = s->n - i < TNI_SCAN_GROUP ? s->n - i : TNI_SCAN_GROUP;
        if (i > 0 && i % SCAN_BLOCK == 0)
            for (int64_t c = 0; c < w; c++) {
                before[c] = sum ? before[c] + chain[c] : before[c] * chain[c];
                chain[c] = absent;
            }
        for (int64_t r = 0; r < rows; r++)
            scan_cast(s->isa, s->src, TN_F64, (char *)(v + r * w), p + (i + r) * s->step[1], w);
        (sum ? k->rows_sum : k->rows_prod)(v, rows, w, before, chain);
        scan_settle(v, rows * w, sum);
        for (int64_t r = 0; r < rows; r++)
            scan_cast(s->isa, TN_F64, s->dst, d + (i + r) * s->step[0], (char *)(v + r * w), w);
    }
}

/* ---- threads ---- */

typedef struct scan_job {
    const tni_scan *s;
    char *dst;
    const char *src;
    int64_t items, strips;
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
    tni_walk_seek(&walk, s->nest.axis, outer, 2, first / j->strips);
    for (int64_t i = first; i < last; i++) {
        const int64_t strip = i % j->strips;
        char *d = j->dst + walk.offset[0];
        const char *p = j->src + walk.offset[1];
        if (s->columns) {
            const int64_t n = s->nest.axis[outer].n, at = strip * SCAN_COLUMNS;
            const int64_t w = n - at < SCAN_COLUMNS ? n - at : SCAN_COLUMNS;
            scan_strip(s, d + at * s->width[0], p + at * s->width[1], w);
        } else {
            scan_line(s, d, p);
        }
        if (strip == j->strips - 1)
            tni_walk_next(&walk);
    }
}

void tni_scan_run(const tni_scan *s, char *dst, const char *src)
{
    scan_job j = {.s = s, .items = 1, .strips = 1};
    if (s->nest.empty || (s->n == 0 && !s->initial))
        return;
    j.dst = dst + s->nest.shift[0];
    j.src = s->n ? src + s->nest.shift[1] : NULL;
    for (int i = 0; i < s->nest.ndim - s->columns; i++)
        j.items *= s->nest.axis[i].n;
    if (s->columns)
        j.strips = tni_pieces(s->nest.axis[s->nest.ndim - 1].n, SCAN_COLUMNS);
    j.items *= j.strips;
    j.parts = tni_plan_parts(tni_times(s->count, 4 * s->width[1]), j.items);
    tni_parallel(j.parts, scan_part, &j);
}

/* ---- plans ---- */

void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim)
{
    const int kind = tni_dtypes[src->dtype].kind;
    tn_tensor lines[2];
    const tn_tensor *ts[2] = {&lines[0], &lines[1]};
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
    tni_drop_axis(&lines[0], dst, dim, NULL);
    tni_drop_axis(&lines[1], src, dim, NULL);
    s->width[0] = tni_width(dst->dtype);
    s->width[1] = tni_width(src->dtype);
    s->step[0] = dst->shape[dim] > 1 ? dst->stride[dim] : s->width[0];
    s->step[1] = s->n > 1 ? src->stride[dim] : s->width[1];
    if (s->type == TNI_SCAN_COMPLEX && op == TN_SCAN_SUM) { /* of both parts, side by side */
        s->type = TNI_SCAN_REAL;
        s->wide = TN_F64;
        for (int k = 0; k < 2; k++) {
            s->width[k] /= 2;
            tni_set_axis(&lines[k], lines[k].ndim, 2, s->width[k]);
            lines[k].ndim++;
        }
        s->src = src->dtype == TN_C64 ? TN_F32 : TN_F64;
        s->dst = dst->dtype == TN_C64 ? TN_F32 : TN_F64;
    }
    tni_nest_normal(&s->nest, 2, ts);
    const tni_axis *last = s->nest.ndim ? &s->nest.axis[s->nest.ndim - 1] : NULL;
    s->columns = !s->nest.empty && last && s->type == TNI_SCAN_REAL &&
                 (op == TN_SCAN_SUM || op == TN_SCAN_PROD) && last->step[0] == s->width[0] &&
                 last->step[1] == s->width[1] && last->n >= 16;
}

typedef struct scan_plan {
    tn_plan base;
    tni_scan scan;
} scan_plan;

static void scan_plan_run(const tn_plan *plan, char *dst, const char *const *srcs)
{
    tni_scan_run(&((const scan_plan *)plan)->scan, dst, srcs[0]);
}

static void scan_plan_facts(const tn_plan *plan, tn_facts *f)
{
    const tni_scan *s = &((const scan_plan *)plan)->scan;
    FACT(f->way, "%s", s->nest.empty ? "nothing" : s->columns ? "columns" : "line");
    FACT(f->why, "%s", s->columns ? "lines stand side by side" : "one line after the other");
    f->read = s->count * tni_width(plan->ts[1].dtype);
    f->written = tni_numel(&plan->ts[0]) * tni_width(plan->ts[0].dtype);
    f->threads = tni_plan_parts(tni_times(s->count, 4 * s->width[1]), INT64_MAX);
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
