/* row_dense.c - rows of f32 that are dense in every operand: no buffer but for exponentials, whole
 * rows for a kernel, short ones in groups, and the next ones prefetched where memory is idle.
 * Rows of 16-bit floats become such ones in a buffer, once for all passes. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"

enum {
    KEPT = (int)sizeof(((tni_fold_scratch *)0)->u.sequence.gather) / 4, /* exponentials */
    GROUP = 32,              /* rows that are computed step by step together, at most, */
    GROUP_ELEMENTS = 1 << 11 /* and what they have together */
};

static bool narrow(tn_dtype t)
{
    return t == TN_F16 || t == TN_BF16;
}

/* A weight of 16 bits is widened once for all rows. */
static bool dense_weight(const tni_rows *r)
{
    const tni_row_param *p = &r->param[0];
    return !p->at || (p->dtype == TN_F32 && p->step == 4) ||
           (narrow(r->dtype) && narrow(p->dtype) && p->step == 2);
}

bool tni_row_is_dense(const tni_rows *r)
{
    const tni_row_param *bias = &r->param[1];
    const bool buffered = r->kind <= TNI_ROW_CAUSAL || narrow(r->dtype);
    return r->kind <= TNI_ROW_LAYER && (r->dtype == TN_F32 || narrow(r->dtype)) &&
           r->step[TNI_ROW_DST] == r->width && r->step[TNI_ROW_SRC] == r->width &&
           (!buffered || r->n <= (narrow(r->dtype) ? KEPT / 2 : KEPT)) && dense_weight(r) &&
           (!bias->at || (bias->dtype == TN_F32 && bias->step == 4));
}

/* Neighbouring rows, the first of which is number item. */
typedef struct group {
    const tni_rows *r;
    const tni_kernels *k;
    tni_fold_scratch *scratch;
    char *d;
    const char *x;
    int64_t d_step, x_step, item, rows;
    int64_t ahead; /* bytes to the group that is prefetched; 0: none */
} group;

static int64_t group_seen(const group *g, int64_t i)
{
    return g->r->kind == TNI_ROW_CAUSAL ? (g->item + i) % g->r->queries + 1 + g->r->extra
                                        : g->r->n;
}

static bool group_streams(const group *g, const char *d)
{
    return g->r->stream && (uintptr_t)d % 64 == 0;
}

/* Exponentials of a row into e, and their sum. */
static double row_exps(const group *g, char *e, const char *x, int64_t n, double most)
{
    const tni_row_kernels *k = g->k->row;
    if (n <= TNI_TREE_BLOCK)
        return k->exps32(e, x, n, most, g->ahead);
    tni_fold_pairs pairs = {.state = g->scratch->stack};
    for (int64_t at = 0; at < n; at += TNI_TREE_BLOCK) {
        const int64_t m = n - at < TNI_TREE_BLOCK ? n - at : TNI_TREE_BLOCK;
        pairs.state[pairs.depth].f = k->exps32(e + 4 * at, x + 4 * at, m, most, g->ahead);
        tni_fold_push(g->r->fold, &pairs, 1);
    }
    tni_fold_close(g->r->fold, &pairs, 1);
    return pairs.state[0].f;
}

static void row_softmax(const group *g, char *d, const char *x, const char *e, int64_t seen,
                        double most, double sum)
{
    const tni_rows *r = g->r;
    const bool stream = group_streams(g, d);
    if (!isfinite(most))
        for (int64_t i = 0; i < seen; i++)
            memcpy(d + 4 * i, &(float){NAN}, 4);
    else if (r->kind == TNI_ROW_LOG_SOFTMAX)
        g->k->row->shift32(d, x, seen, most, log(sum), stream);
    else
        g->k->row->scale32(d, e, seen, 1 / sum, stream);
    if (seen < r->n)
        memset(d + 4 * seen, 0, (size_t)(r->n - seen) * 4);
}

/* Step by step, so that rows do not wait for the largest and the sum of the one before. */
static void group_softmax(const group *g)
{
    const int64_t pitch = g->r->n * 4;
    char *e = g->scratch->u.sequence.gather[0]; /* both, or the first of rows of 16 bits */
    double most[GROUP], sum[GROUP];
    for (int64_t i = 0; i < g->rows; i++)
        most[i] = g->k->row->max32(g->x + i * g->x_step, group_seen(g, i));
    for (int64_t i = 0; i < g->rows; i++)
        sum[i] = row_exps(g, e + i * pitch, g->x + i * g->x_step, group_seen(g, i), most[i]);
    for (int64_t i = 0; i < g->rows; i++)
        row_softmax(g, g->d + i * g->d_step, g->x + i * g->x_step, e + i * pitch,
                    group_seen(g, i), most[i], sum[i]);
}

static void group_rms(const group *g)
{
    const tni_rows *r = g->r;
    double squares[GROUP];
    if (r->n <= TNI_TREE_BLOCK) {
        g->k->tree->squares32(squares, g->x, r->n, g->x_step, g->rows);
    } else {
        tni_word state[TNI_FOLD_WORDS];
        tni_fold_sequence_run(r->fold, state, &g->x, 0, r->n, g->scratch);
        squares[0] = state[0].f;
    }
    for (int64_t i = 0; i < g->rows; i++) {
        char *d = g->d + i * g->d_step;
        const double by = 1 / sqrt((squares[i] + 0.0) / (double)r->n + r->eps);
        g->k->row->rms32(d, g->x + i * g->x_step, r->param[0].at, r->n, by,
                         group_streams(g, d));
    }
}

static void group_layer(const group *g)
{
    const tni_rows *r = g->r;
    for (int64_t i = 0; i < g->rows; i++) {
        char *d = g->d + i * g->d_step;
        const char *x = g->x + i * g->x_step;
        tni_word state[TNI_FOLD_WORDS];
        tni_fold_sequence_run(r->fold, state, &x, 0, r->n, g->scratch);
        g->k->row->norm32(d, x, r->param[0].at, r->param[1].at, r->n, state[1].f,
                          1 / sqrt(state[2].f / (double)r->n + r->eps), group_streams(g, d),
                          g->ahead);
    }
}

static void group_run(const group *g)
{
    static void (*const runs[])(const group *) = {
        [TNI_ROW_SOFTMAX] = group_softmax, [TNI_ROW_LOG_SOFTMAX] = group_softmax,
        [TNI_ROW_CAUSAL] = group_softmax,  [TNI_ROW_RMS] = group_rms,
        [TNI_ROW_LAYER] = group_layer,
    };
    runs[g->r->kind](g);
}

/* r as rows of f32 in the second half of the buffers, the weight in the first. */
typedef struct wide {
    const tni_rows *r;
    tni_rows rows;
    tni_fold fold;
    tni_cast_fn up, down;
} wide;

static void wide_make(wide *w, const tni_rows *r, tni_fold_scratch *s)
{
    w->r = r;
    w->up = tni_cast_chain(r->isa, r->dtype, TN_F32).fn[0];
    w->down = tni_cast_chain(r->isa, TN_F32, r->dtype).fn[0];
    w->rows = *r;
    w->rows.dtype = TN_F32;
    w->rows.width = 4;
    w->rows.stream = false;
    memcpy(&w->fold, r->fold, offsetof(tni_fold, fold)); /* 4 KB of axes are behind */
    w->fold.fold[0] = r->fold->fold[0];
    w->fold.src = TN_F32;
    w->fold.width = w->fold.fold[0].src[0] = 4;
    w->rows.fold = &w->fold;
    const tni_row_param *weight = &r->param[0];
    if (weight->at && weight->dtype != TN_F32) {
        char *here = s->u.sequence.gather[0];
        tni_cast_chain(r->isa, weight->dtype, TN_F32).fn[0](here, weight->at, r->n, 0, false);
        w->rows.param[0] = (tni_row_param){here, 4, TN_F32};
    }
}

/* Rows of 16 bits as they are: squares, then results. */
static void narrow_rms(const wide *w, const group *g)
{
    const tni_rows *r = w->r;
    const int half = r->dtype == TN_BF16;
    tni_fold_pairs pairs = {.state = g->scratch->stack};
    for (int64_t at = 0; at < r->n; at += TNI_TREE_BLOCK) {
        const int64_t m = r->n - at < TNI_TREE_BLOCK ? r->n - at : TNI_TREE_BLOCK;
        pairs.state[pairs.depth].f = g->k->row->squares16[half](g->x + 2 * at, m);
        tni_fold_push(r->fold, &pairs, 1);
    }
    tni_fold_close(r->fold, &pairs, 1);
    const double squares = pairs.state[0].f + 0.0;
    g->k->row->rms16[half](g->d, g->x, w->rows.param[0].at, r->n,
                           1 / sqrt(squares / (double)r->n + r->eps), group_streams(g, g->d));
}

static void wide_run(const wide *w, const group *g)
{
    if (w->r->kind == TNI_ROW_RMS && g->k->row->rms16[0]) {
        narrow_rms(w, g);
        return;
    }
    char *row = g->scratch->u.sequence.gather[1];
    group one = *g;
    one.r = &w->rows;
    one.d = row;
    one.x = row;
    one.ahead = 0;
    w->up(row, g->x, w->r->n, 0, false);
    group_run(&one);
    w->down(g->d, row, w->r->n, 0, group_streams(g, g->d));
}

void tni_row_dense_run(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                       tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const tni_axis *in = nest->ndim > 0 ? &nest->axis[nest->ndim - 1] : NULL;
    const bool widened = r->dtype != TN_F32;
    const int64_t inner = in ? in->n : 1, room = widened ? 1 : GROUP_ELEMENTS / r->n;
    const int64_t most = room < 1 ? 1 : room < GROUP ? room : GROUP;
    group g = {.r = r, .k = tni_kernels_of(r->isa), .scratch = s};
    wide w;
    tni_walk walk;
    if (in) {
        g.d_step = in->step[TNI_ROW_DST];
        g.x_step = in->step[TNI_ROW_SRC];
    }
    if (widened)
        wide_make(&w, r, s);
    tni_walk_seek(&walk, nest->axis, nest->ndim > 0 ? nest->ndim - 1 : 0, nest->nop,
                  first / inner);
    for (int64_t i = first; i < last; i += g.rows) {
        const int64_t c = i % inner;
        g.rows = inner - c < last - i ? inner - c : last - i;
        g.rows = g.rows < most ? g.rows : most;
        g.item = i;
        g.d = at[TNI_ROW_DST] + walk.offset[TNI_ROW_DST] + c * g.d_step;
        g.x = at[TNI_ROW_SRC] + walk.offset[TNI_ROW_SRC] + c * g.x_step;
        g.ahead = r->stream ? g.rows * g.x_step : 0;
        if (widened)
            wide_run(&w, &g);
        else
            group_run(&g);
        if (c + g.rows == inner)
            tni_walk_next(&walk);
    }
}
