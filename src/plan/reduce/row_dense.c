/* row_dense.c - the way "dense": rows that are dense in every operand.
 *
 * Kernels take whole rows from memory; only exponentials need a buffer.  Short rows are
 * computed in groups, each step for all rows of a group, and the next group is prefetched while
 * memory is idle.  If the instruction set has no kernels for 16-bit floats, each row is
 * converted to f32 in a buffer once for all passes. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"

/* Groups are measured in docs/investigations/reductions.md, "Rows" (Zen 4): a row of 128 waits
 * for its maximum and its sum longer than it computes, and sixteen or more rows in turn hide
 * that latency. */
enum {
    /* bytes of the buffer for exponentials */
    KEPT = (int)sizeof(((tni_fold_scratch *)0)->u.sequence.gather),
    /* most rows of a group: the numbers of each row are on the stack; not measured finely */
    GROUP = 32,
    /* most elements of a group: f32 fill a quarter of an L1 of 32 KiB, exponentials and results
     * a quarter each; not measured finely */
    GROUP_ELEMENTS = 1 << 11
};

/* Whether kernels can read the weight: dense as elem, or dense 16-bit floats for rows of 16-bit
 * floats, which are converted once for all rows. */
static bool dense_weight(const tni_rows *r)
{
    const tni_row_param *p = &r->param[0];
    return !p->given || (p->dtype == r->elem && p->step == tni_width(r->elem)) ||
           (tni_is_half(r->dtype) && tni_is_half(p->dtype) && p->step == 2);
}

bool tni_row_plan_dense(tni_rows *r)
{
    const tni_row_param *bias = &r->param[1];
    const bool buffered = r->kind <= TNI_ROW_CAUSAL || tni_is_half(r->dtype);
    const int64_t width = tni_width(r->elem),
                  kept = (tni_is_half(r->dtype) ? KEPT / 2 : KEPT) / width;
    r->why = tni_row_kernels_of(r, r->dtype) ? "rows are dense: kernels take them whole"
                                             : "rows are dense, and f32 in a buffer";
    return r->kind <= TNI_ROW_LAYER && tni_row_type(r->dtype) < TNI_TREE_TYPES &&
           r->step[TNI_ROW_DST] == r->width && r->step[TNI_ROW_SRC] == r->width &&
           (!buffered || r->n <= kept) && dense_weight(r) &&
           (!bias->given || (bias->dtype == r->elem && bias->step == width));
}

/* Neighbouring rows, the first of which is number item. */
typedef struct group {
    const tni_rows *r;
    const tni_kernels *k;
    const tni_row_typed *t; /* kernels for the dtype of rows; NULL: rows are converted first */
    tni_fold_scratch *scratch;
    char *d, *exps; /* exps: the buffer for exponentials */
    const char *x, *weight;
    int64_t d_step, x_step, item, rows;
    int64_t ahead; /* bytes from here to what is prefetched; 0: nothing is */
    bool aside;    /* d is a buffer */
} group;

/* The number of elements of row i of the group that count. */
static int64_t group_seen(const group *g, int64_t i)
{
    return g->r->kind == TNI_ROW_CAUSAL ? (g->item + i) % g->r->queries + 1 + g->r->extra
                                        : g->r->n;
}

static bool group_streams(const group *g, const char *d)
{
    return g->r->stream && !g->aside && (uintptr_t)d % 64 == 0;
}

/* Write exp(x - most) of a row to e; returns their sum. */
static double row_exps(const group *g, char *e, const char *x, int64_t n, double most)
{
    const int64_t width = tni_width(g->r->elem);
    if (n <= TNI_TREE_BLOCK)
        return g->t->exps(e, x, n, most, g->ahead);
    tni_fold_pairs pairs = {.state = g->scratch->stack};
    for (int64_t at = 0; at < n; at += TNI_TREE_BLOCK) {
        const int64_t m = n - at < TNI_TREE_BLOCK ? n - at : TNI_TREE_BLOCK;
        pairs.state[pairs.depth].f =
            g->t->exps(e + width * at, x + g->r->width * at, m, most, g->ahead);
        tni_fold_push(g->r->fold, &pairs, 1);
    }
    tni_fold_close(g->r->fold, &pairs, 1);
    return pairs.state[0].f;
}

/* Write a row of results; sum is that of the exponentials e, or its logarithm for
 * log_softmax. */
static void row_softmax(const group *g, char *d, const char *x, const char *e, int64_t seen,
                        double most, double sum)
{
    const tni_rows *r = g->r;
    const bool stream = group_streams(g, d);
    if (!isfinite(most))
        for (int64_t i = 0; i < seen; i++)
            tni_store_real(d + r->width * i, r->dtype, (double)NAN);
    else if (r->kind == TNI_ROW_LOG_SOFTMAX)
        g->t->shift(d, x, seen, most, sum, stream);
    else
        g->t->scale(d, e, seen, 1 / sum, stream);
    if (seen < r->n)
        memset(d + r->width * seen, 0, (size_t)((r->n - seen) * r->width));
}

/* Each step is done for all rows of the group: other rows hide the latency of a maximum and a
 * sum. */
static void group_softmax(const group *g)
{
    const int64_t pitch = g->r->n * tni_width(g->r->elem);
    double most[GROUP], sum[GROUP];
    for (int64_t i = 0; i < g->rows; i++)
        most[i] = g->t->max(g->x + i * g->x_step, group_seen(g, i));
    for (int64_t i = 0; i < g->rows; i++)
        sum[i] =
            row_exps(g, g->exps + i * pitch, g->x + i * g->x_step, group_seen(g, i), most[i]);
    if (g->r->kind == TNI_ROW_LOG_SOFTMAX)
        tni_row_logs(g->r, sum, g->rows);
    for (int64_t i = 0; i < g->rows; i++)
        row_softmax(g, g->d + i * g->d_step, g->x + i * g->x_step, g->exps + i * pitch,
                    group_seen(g, i), most[i], sum[i]);
}

/* The sum of squares of a row of any length: by the kernel for 16-bit floats, or as a sequence
 * of the fold. */
static double row_squares(const group *g, const char *x)
{
    const tni_rows *r = g->r;
    if (!tni_is_half(r->dtype)) {
        tni_word state[TNI_FOLD_WORDS];
        tni_fold_sequence_run(r->fold, state, &x, 0, r->n, g->scratch);
        return state[0].f;
    }
    tni_fold_pairs pairs = {.state = g->scratch->stack};
    for (int64_t at = 0; at < r->n; at += TNI_TREE_BLOCK) {
        const int64_t m = r->n - at < TNI_TREE_BLOCK ? r->n - at : TNI_TREE_BLOCK;
        pairs.state[pairs.depth].f = g->k->row->squares16[r->dtype == TN_BF16](x + 2 * at, m);
        tni_fold_push(r->fold, &pairs, 1);
    }
    tni_fold_close(r->fold, &pairs, 1);
    return pairs.state[0].f;
}

/* The sums of squares of all rows of the group, each of at most a block, by one call. */
static void blocks_squares(const group *g, double *squares)
{
    tni_word out[GROUP];
    const tni_fold_sequences rows = {
        .x = {g->x}, .step = {g->x_step}, .n = g->r->n, .count = g->rows};
    g->r->fold->class->sequence(g->r->fold, out, &rows, g->scratch);
    for (int64_t i = 0; i < g->rows; i++)
        squares[i] = out[i].f;
}

static void group_rms(const group *g)
{
    const tni_rows *r = g->r;
    double squares[GROUP];
    if (r->n <= TNI_TREE_BLOCK && r->dtype == TN_F32)
        g->k->tree->squares32(squares, g->x, r->n, g->x_step, g->rows);
    else if (r->n <= TNI_TREE_BLOCK && r->dtype == TN_F64)
        blocks_squares(g, squares);
    else
        for (int64_t i = 0; i < g->rows; i++)
            squares[i] = row_squares(g, g->x + i * g->x_step);
    for (int64_t i = 0; i < g->rows; i++) {
        char *d = g->d + i * g->d_step;
        const double by = 1 / sqrt((squares[i] + 0.0) / (double)r->n + r->eps);
        g->t->rms(d, g->x + i * g->x_step, g->weight, r->n, by, group_streams(g, d));
    }
}

/* The mean of each row, and the sum of squared distances from it. */
static void group_moments(const group *g, double *mean, double *around)
{
    const tni_rows *r = g->r;
    if (r->n <= TNI_TREE_BLOCK) {
        double sum[GROUP], squares[GROUP], centre[GROUP], out[3][GROUP];
        g->k->tree->moments[tni_row_type(r->dtype)](sum, squares, centre, g->x, r->n, g->x_step,
                                                    g->rows);
        g->k->tree->spread(out[0], GROUP, r->n, centre, sum, squares, g->rows);
        memcpy(mean, out[1], (size_t)g->rows * sizeof *mean);
        memcpy(around, out[2], (size_t)g->rows * sizeof *around);
        return;
    }
    for (int64_t i = 0; i < g->rows; i++) {
        const char *x = g->x + i * g->x_step;
        tni_word state[TNI_FOLD_WORDS];
        tni_fold_sequence_run(r->fold, state, &x, 0, r->n, g->scratch);
        mean[i] = state[1].f;
        around[i] = state[2].f;
    }
}

static void group_layer(const group *g)
{
    const tni_rows *r = g->r;
    double mean[GROUP], around[GROUP];
    group_moments(g, mean, around);
    for (int64_t i = 0; i < g->rows; i++) {
        char *d = g->d + i * g->d_step;
        g->t->norm(d, g->x + i * g->x_step, g->weight, r->param[1].at, r->n, mean[i],
                   1 / sqrt(around[i] / (double)r->n + r->eps), group_streams(g, d), g->ahead);
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

/* ---- without kernels for 16 bits ---- */

/* The description of rows of f32 in the second gather buffer; the first has the weight or the
 * exponentials. */
typedef struct wide {
    tni_rows rows;
    tni_fold fold;
    tni_cast_fn up, down;
} wide;

static void wide_make(wide *w, const tni_rows *r)
{
    w->up = tni_cast_chain(r->isa, r->dtype, TN_F32).fn[0];
    w->down = tni_cast_chain(r->isa, TN_F32, r->dtype).fn[0];
    w->rows = *r;
    w->rows.dtype = TN_F32;
    w->rows.width = 4;
    w->rows.stream = false;
    memcpy(&w->fold, r->fold, offsetof(tni_fold, fold)); /* without 4 KB of axes */
    w->fold.fold[0] = r->fold->fold[0];
    w->fold.src = TN_F32;
    w->fold.width = w->fold.fold[0].src[0] = 4;
    w->rows.fold = &w->fold;
}

/* Compute one row: convert it to f32, compute it in place, convert it back. */
static void wide_run(const wide *w, const group *g)
{
    char *row = g->scratch->u.sequence.gather[1];
    group one = *g;
    one.r = &w->rows;
    one.t = tni_row_kernels_of(&w->rows, TN_F32);
    one.d = row;
    one.x = row;
    one.exps = g->scratch->u.sequence.gather[0];
    one.ahead = 0;
    w->up(row, g->x, g->r->n, 0, false);
    group_run(&one);
    w->down(g->d, row, g->r->n, 0, group_streams(g, g->d));
}

/* ---- streaming rows that are not whole lines ---- */

/* Whether the results of a group replace its exponentials in the buffer and are streamed from
 * there as one piece, because rows that begin within a line cannot be streamed one by one. */
static bool made_aside(const tni_rows *r)
{
    const tni_nest *nest = r->nest;
    const int64_t bytes = r->n * r->width;
    return r->stream && bytes % 64 != 0 && bytes <= KEPT / 2 && nest->ndim > 0 &&
           nest->axis[nest->ndim - 1].step[TNI_ROW_DST] == bytes;
}

static void group_run_aside(const group *g)
{
    const int64_t bytes = g->r->n * g->r->width;
    group made = *g;
    made.d = g->exps;
    made.d_step = bytes;
    made.aside = true;
    group_run(&made);
    g->k->copy->stream(g->d, g->exps, g->rows * bytes);
}

/* ---- all rows ---- */

/* For rows of 16 bits the first gather buffer has the weight as f32, and exponentials begin in
 * the second; otherwise exponentials begin in the first. */
static void group_make(group *g, const tni_rows *r, tni_fold_scratch *s)
{
    const tni_row_param *weight = &r->param[0];
    const int64_t ndim = r->nest->ndim;
    *g = (group){.r = r, .k = tni_kernels_of(r->isa), .scratch = s, .weight = weight->at};
    g->t = tni_row_kernels_of(r, r->dtype);
    g->exps = s->u.sequence.gather[tni_is_half(r->dtype)];
    if (weight->at && weight->dtype != r->elem) {
        char *here = s->u.sequence.gather[0];
        tni_cast_chain(r->isa, weight->dtype, r->elem).fn[0](here, weight->at, r->n, 0, false);
        g->weight = here;
    }
    if (ndim > 0) {
        g->d_step = r->nest->axis[ndim - 1].step[TNI_ROW_DST];
        g->x_step = r->nest->axis[ndim - 1].step[TNI_ROW_SRC];
    }
}

/* Most rows of a group. */
static int64_t group_most(const group *g)
{
    const int64_t room = g->t ? GROUP_ELEMENTS / g->r->n : 1;
    return room < 1 ? 1 : room < GROUP ? room : GROUP;
}

static void group_any(const group *g, const wide *w, bool aside)
{
    if (!g->t)
        wide_run(w, g);
    else if (aside)
        group_run_aside(g);
    else
        group_run(g);
}

void tni_row_dense_rows(const tni_rows *r, char *at, int64_t pitch, int64_t rows,
                        tni_fold_scratch *s)
{
    group g;
    wide w;
    group_make(&g, r, s);
    if (!g.t)
        wide_make(&w, r);
    g.d_step = g.x_step = pitch;
    const int64_t most = group_most(&g);
    for (int64_t i = 0; i < rows; i += g.rows) {
        g.rows = rows - i < most ? rows - i : most;
        g.item = i;
        g.d = at + i * pitch;
        g.x = g.d;
        group_any(&g, &w, false);
    }
}

void tni_row_dense_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const int64_t inner = nest->ndim > 0 ? nest->axis[nest->ndim - 1].n : 1;
    group g;
    wide w;
    tni_walk walk;
    group_make(&g, r, s);
    if (!g.t)
        wide_make(&w, r);
    const bool aside = made_aside(r);
    const int64_t most = group_most(&g);
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
        group_any(&g, &w, aside);
        if (c + g.rows == inner)
            tni_walk_next(&walk);
    }
}
