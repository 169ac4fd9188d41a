/* row_run.c - the way "single": one row after the other, of any strides, is reduced by the tree
 * and then written.
 *
 * Rows are read in pieces of a block, which are gathered and cast to elem in buffers, and read
 * again to be written; only exponentials of softmax are kept (row_kept). */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* The numbers that a row's elements and these give its results. */
typedef struct row_facts {
    double most, by, mean;
    bool broken; /* the row becomes NaN */
} row_facts;

static bool row_f64(const tni_rows *r)
{
    return r->elem == TN_F64;
}

/* n elements from element `at` on as dense elem: in place, in gather or in elems. */
static const char *row_read(const tni_rows *r, const char *p, int64_t step, tn_dtype dtype,
                            int64_t at, int64_t n, char *gather, char *elems)
{
    const int64_t width = tni_width(dtype);
    const char *x = p + at * step;
    if (step != width && n > 1) {
        const int64_t d_step[2] = {0, width}, s_step[2] = {0, step}, trips[2] = {1, n};
        tni_kernels_of(r->isa)->copy->tile[tni_log2_width(width)](gather, d_step, x, s_step,
                                                                  trips);
        x = gather;
    }
    if (dtype != r->elem) {
        tni_cast_chain(r->isa, dtype, r->elem).fn[0](elems, x, n, 0, false);
        x = elems;
    }
    return x;
}

/* The memory in which n elements of operand k are computed: its own, or buf. */
static char *row_target(const tni_rows *r, int k, char *p, int64_t at, int64_t n, char *buf)
{
    return r->dtype == r->elem && (r->step[k] == r->width || n == 1) ? p + at * r->step[k]
                                                                     : buf;
}

/* Whether d is streamed: it is in dst, not the buffer, and at the beginning of a line. */
static bool row_streams(const tni_rows *r, const char *d, const char *buf)
{
    return r->stream && d != buf && (uintptr_t)d % 64 == 0;
}

/* Write n elements that were computed at `made` (row_target) to operand k; narrow is a
 * buffer. */
static void row_write(const tni_rows *r, int k, char *p, int64_t at, int64_t n,
                      const char *made, char *narrow)
{
    char *d = p + at * r->step[k];
    if (made == d)
        return;
    const bool dense = r->step[k] == r->width || n == 1;
    if (r->dtype != r->elem) {
        char *to = dense ? d : narrow;
        tni_cast_chain(r->isa, r->elem, r->dtype).fn[0](to, made, n, 0, false);
        made = to;
    }
    if (!dense) {
        const int64_t d_step[2] = {0, r->step[k]}, s_step[2] = {0, r->width}, trips[2] = {1, n};
        tni_kernels_of(r->isa)->copy->tile[tni_log2_width(r->width)](d, d_step, made, s_step,
                                                                     trips);
    }
}

/* ---- reducing ---- */

/* The maximum of the first n elements; NaN if there is one. */
static double row_most(const tni_rows *r, const char *p, int64_t n, tni_fold_scratch *s)
{
    const tni_row_typed *k = tni_row_kernels_of(r, r->elem);
    double most = -(double)INFINITY;
    for (int64_t at = 0; at < n; at += TNI_TREE_BLOCK) {
        const int64_t m = n - at < TNI_TREE_BLOCK ? n - at : TNI_TREE_BLOCK;
        const char *x = row_read(r, p, r->step[TNI_ROW_SRC], r->dtype, at, m,
                                 s->u.sequence.gather[0], s->u.sequence.elems[0]);
        const double here = k->max(x, m);
        if (isnan(here))
            return here;
        most = here > most ? here : most;
    }
    return most;
}

/* Write exp(x - most) of a block to d; returns their sum. */
static double row_exp(const tni_rows *r, char *d, const char *x, int64_t n, double most)
{
    return tni_row_kernels_of(r, r->elem)->exps(d, x, n, most, 0);
}

/* The longest row, in elements, whose exponentials are kept until it is written: in place in a
 * panel, in the gather buffers if rows are dense, otherwise of one block in terms. */
static int64_t row_kept(const tni_rows *r)
{
    if (r->packed)
        return r->dtype == r->elem && r->kind == TNI_ROW_SOFTMAX ? INT64_MAX : TNI_TREE_BLOCK;
    const bool dense = (r->step[TNI_ROW_SRC] == r->width && r->step[TNI_ROW_DST] == r->width);
    return dense ? TNI_FOLD_SOURCES * TNI_TREE_BLOCK * 16 / tni_width(r->elem) : TNI_TREE_BLOCK;
}

/* The memory for the exponentials of the elements from `at` on. */
static char *row_exps(const tni_rows *r, const char *p, int64_t at, tni_fold_scratch *s)
{
    if (r->packed && row_kept(r) == INT64_MAX)
        return (char *)(uintptr_t)p + at * r->width;
    return row_kept(r) > TNI_TREE_BLOCK && at < row_kept(r)
               ? s->u.sequence.gather[0] + at * tni_width(r->elem)
               : s->u.sequence.terms;
}

/* The sum of exp(x - most) of a row; the exponentials are written to row_exps. */
static double row_exp_sum(const tni_rows *r, const char *p, int64_t n, double most,
                          tni_fold_scratch *s)
{
    tni_fold_pairs pairs = {.state = s->stack};
    for (int64_t at = 0; at < n; at += TNI_TREE_BLOCK) {
        const int64_t m = n - at < TNI_TREE_BLOCK ? n - at : TNI_TREE_BLOCK;
        const char *x = row_read(r, p, r->step[TNI_ROW_SRC], r->dtype, at, m,
                                 s->u.sequence.gather[0], s->u.sequence.elems[0]);
        pairs.state[pairs.depth].f = row_exp(r, row_exps(r, p, at, s), x, m, most);
        tni_fold_push(r->fold, &pairs, 1);
    }
    tni_fold_close(r->fold, &pairs, 1);
    return pairs.state[0].f;
}

/* ---- writing ---- */

/* n elements of a weight or a bias from `at` on as elem; NULL if there is none. */
static const char *row_param(const tni_rows *r, const tni_row_param *p, int64_t at, int64_t n,
                             char *gather, char *elems)
{
    return p->at ? row_read(r, p->at, p->step, p->dtype, at, n, gather, elems) : NULL;
}

/* Compute n results from the elements at x, or from their exponentials if made_exp is set. */
static void row_apply(const tni_rows *r, char *d, const char *x, int64_t at, int64_t n,
                      const row_facts *q, bool made_exp, tni_fold_scratch *s, bool stream)
{
    const tni_row_typed *k = tni_row_kernels_of(r, r->elem);
    char *w_elems = s->u.sequence.elems[1], *w_gather = s->u.sequence.gather[1];
    /* a block takes at most 8 of the 24 bytes that gather has for each element */
    char *b_elems = w_gather + TNI_TREE_BLOCK * 8;
    char *b_gather = s->u.sequence.gather[0] + TNI_TREE_BLOCK * 8;
    switch (r->kind) {
    case TNI_ROW_SOFTMAX:
    case TNI_ROW_CAUSAL:
        if (!made_exp) {
            row_exp(r, s->u.sequence.terms, x, n, q->most);
            x = s->u.sequence.terms;
        }
        k->scale(d, x, n, q->by, stream);
        break;
    case TNI_ROW_LOG_SOFTMAX:
        k->shift(d, x, n, q->most, q->by, stream);
        break;
    case TNI_ROW_LAYER: {
        const char *w = row_param(r, &r->param[0], at, n, w_gather, w_elems);
        const char *b = row_param(r, &r->param[1], at, n, b_gather, b_elems);
        k->norm(d, x, w, b, n, q->mean, q->by, stream, 0);
        break;
    }
    default:
        k->rms(d, x, row_param(r, &r->param[0], at, n, w_gather, w_elems), n, q->by, stream);
    }
}

static void row_fill_nan(char *d, tn_dtype elem, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        tni_store_real(d + i * tni_width(elem), elem, (double)NAN);
}

/* Write a row: the first `seen` elements are computed, the others are 0. */
static void row_write_all(const tni_rows *r, char *dst, const char *p, int64_t seen,
                          const row_facts *q, tni_fold_scratch *s)
{
    const int64_t step =
        r->kind == TNI_ROW_ADD_RMS ? r->step[TNI_ROW_SUM] : r->step[TNI_ROW_SRC];
    const bool softmax = r->kind == TNI_ROW_SOFTMAX || r->kind == TNI_ROW_CAUSAL;
    /* the buffer for results is that of the elements: kernels read before they write */
    char *buf = s->u.sequence.elems[0];
    for (int64_t at = 0; at < r->n; at += TNI_TREE_BLOCK) {
        const int64_t m = r->n - at < TNI_TREE_BLOCK ? r->n - at : TNI_TREE_BLOCK;
        const int64_t here = seen - at < 0 ? 0 : seen - at < m ? seen - at : m;
        char *d = row_target(r, TNI_ROW_DST, dst, at, m, buf);
        const bool stream = row_streams(r, d, buf);
        const bool kept = softmax && seen <= row_kept(r);
        if (q->broken) {
            row_fill_nan(d, r->elem, here);
        } else if (here > 0) {
            const char *x = kept ? row_exps(r, p, at, s)
                                 : row_read(r, p, step, r->dtype, at, here,
                                            s->u.sequence.gather[0], s->u.sequence.elems[0]);
            row_apply(r, d, x, at, here, q, kept, s, stream);
        }
        memset(d + here * tni_width(r->elem), 0, (size_t)((m - here) * tni_width(r->elem)));
        row_write(r, TNI_ROW_DST, dst, at, m, d, s->u.sequence.gather[1]);
    }
}

/* sum = src + b, rounded to their dtype. */
static void row_add(const tni_rows *r, char *const *at, tni_fold_scratch *s)
{
    const tni_row_kernels *k = tni_kernels_of(r->isa)->row;
    for (int64_t i = 0; i < r->n; i += TNI_TREE_BLOCK) {
        const int64_t m = r->n - i < TNI_TREE_BLOCK ? r->n - i : TNI_TREE_BLOCK;
        const char *a = row_read(r, at[TNI_ROW_SRC], r->step[TNI_ROW_SRC], r->dtype, i, m,
                                 s->u.sequence.gather[0], s->u.sequence.elems[0]);
        const char *b = row_read(r, at[TNI_ROW_B], r->step[TNI_ROW_B], r->dtype, i, m,
                                 s->u.sequence.gather[1], s->u.sequence.elems[1]);
        char *d = row_target(r, TNI_ROW_SUM, at[TNI_ROW_SUM], i, m, s->u.sequence.terms);
        (row_f64(r) ? k->add64 : k->add32)(d, a, b, m);
        row_write(r, TNI_ROW_SUM, at[TNI_ROW_SUM], i, m, d, s->u.sequence.gather[0]);
    }
}

/* The sum of squares of a row; short dense rows of f32 take one call of a kernel. */
static double row_squares(const tni_rows *r, const char *p, tni_word *state,
                          tni_fold_scratch *s)
{
    if (r->dtype == TN_F32 && r->n <= TNI_TREE_BLOCK && r->fold->fold[0].src[0] == r->width) {
        double squares;
        tni_kernels_of(r->isa)->tree->squares32(&squares, p, r->n, 0, 1);
        return squares + 0.0;
    }
    tni_fold_sequence_run(r->fold, state, &p, 0, r->n, s);
    return state[0].f + 0.0;
}

/* ---- rotations ---- */

/* Rotate a row in pieces of half a block: sin, cos and both elements of the pairs then have a
 * part of BYTES of each gather buffer. */
static void row_rotate(const tni_rows *r, char *const *at, tni_fold_scratch *s)
{
    enum { MOST = TNI_TREE_BLOCK / 2, BYTES = MOST * 8 };
    const tni_row_kernels *k = tni_kernels_of(r->isa)->row;
    const int64_t half = r->n / 2, step = r->step[TNI_ROW_SRC];
    const bool pairs = r->kind == TNI_ROW_ROTATE_PAIRS, f64 = row_f64(r);
    char *gather = s->u.sequence.gather[0], *elems = s->u.sequence.gather[1],
         *made = s->u.sequence.elems[0];
    for (int64_t i = 0; i < half; i += MOST) {
        const int64_t m = half - i < MOST ? half - i : MOST;
        const char *sine =
            row_read(r, at[TNI_ROW_SIN], r->step[TNI_ROW_SIN], r->table, i, m, gather, elems);
        const char *cosine = row_read(r, at[TNI_ROW_COS], r->step[TNI_ROW_COS], r->table, i, m,
                                      gather + BYTES, elems + BYTES);
        gather += 2 * BYTES;
        elems += 2 * BYTES;
        if (pairs) {
            const char *x =
                row_read(r, at[TNI_ROW_SRC], step, r->dtype, 2 * i, 2 * m, gather, elems);
            char *d = row_target(r, TNI_ROW_DST, at[TNI_ROW_DST], 2 * i, 2 * m, made);
            (f64 ? k->pairs64 : k->pairs32)(d, x, sine, cosine, m, row_streams(r, d, made));
            row_write(r, TNI_ROW_DST, at[TNI_ROW_DST], 2 * i, 2 * m, d, s->u.sequence.elems[1]);
        } else {
            const char *x = row_read(r, at[TNI_ROW_SRC], step, r->dtype, i, m, gather, elems);
            const char *y = row_read(r, at[TNI_ROW_SRC], step, r->dtype, half + i, m,
                                     gather + BYTES, elems + BYTES);
            char *d = row_target(r, TNI_ROW_DST, at[TNI_ROW_DST], i, m, made);
            char *e = row_target(r, TNI_ROW_DST, at[TNI_ROW_DST], half + i, m, made + BYTES);
            (f64 ? k->halves64
                 : k->halves32)(d, e, x, y, sine, cosine, m,
                                row_streams(r, d, made) && row_streams(r, e, made + BYTES));
            row_write(r, TNI_ROW_DST, at[TNI_ROW_DST], i, m, d, s->u.sequence.elems[1]);
            row_write(r, TNI_ROW_DST, at[TNI_ROW_DST], half + i, m, e, s->u.sequence.elems[1]);
        }
        gather -= 2 * BYTES;
        elems -= 2 * BYTES;
    }
}

void tni_row_one(const tni_rows *r, char *const *at, int64_t item, tni_fold_scratch *s)
{
    if (r->kind >= TNI_ROW_ROTATE_HALVES) {
        row_rotate(r, at, s);
        return;
    }
    const bool softmax = r->kind <= TNI_ROW_CAUSAL;
    const char *p = at[TNI_ROW_SRC];
    row_facts q = {0};
    int64_t seen = r->n;
    if (r->kind == TNI_ROW_CAUSAL)
        seen = item % r->queries + 1 + r->extra;
    if (softmax) {
        q.most = row_most(r, p, seen, s);
        q.broken = !isfinite(q.most);
        if (!q.broken) {
            const double sum = row_exp_sum(r, p, seen, q.most, s);
            q.by = r->kind == TNI_ROW_LOG_SOFTMAX ? tni_row_log(r, sum) : 1 / sum;
        }
    } else {
        tni_word state[TNI_FOLD_WORDS];
        if (r->kind == TNI_ROW_ADD_RMS) {
            row_add(r, at, s);
            p = at[TNI_ROW_SUM];
        }
        double squares;
        if (r->kind == TNI_ROW_LAYER) {
            tni_fold_sequence_run(r->fold, state, &p, 0, r->n, s);
            squares = state[2].f;
            q.mean = state[1].f;
        } else {
            squares = row_squares(r, p, state, s);
        }
        q.by = 1 / sqrt(squares / (double)r->n + r->eps);
        if (r->elem == TN_F32 && r->kind != TNI_ROW_LAYER)
            q.by = (double)(float)q.by;
    }
    row_write_all(r, at[TNI_ROW_DST], p, seen, &q, s);
}

bool tni_row_plan_single(tni_rows *r)
{
    const bool reduces = r->kind < TNI_ROW_ROTATE_HALVES;
    r->why = reduces ? "each row is reduced, then written from the cache"
                     : "each row is rotated by itself";
    return true;
}

void tni_row_single_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                         tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    tni_walk walk;
    tni_walk_seek(&walk, nest->axis, nest->ndim, nest->nop, first);
    for (int64_t i = first; i < last; i++) {
        char *row[TNI_ROW_OPERANDS];
        for (int k = 0; k < nest->nop; k++)
            row[k] = at[k] + walk.offset[k];
        tni_row_one(r, row, i, s);
        tni_walk_next(&walk);
    }
}
