/* row_panel.c - neighbouring rows with strides: transposed into dense ones, computed there, and
 * transposed back, so that every line of memory is used as a whole. */
#include <string.h>

#include "plan/plan.h"

/* The buffers for gathering are free where rows are dense. */
static char *panel_of(tni_fold_scratch *s)
{
    return s->u.sequence.gather[0];
}

static bool transposed(const tni_rows *r, int k)
{
    return r->step[k] != r->width && r->nest->axis[r->nest->ndim - 1].step[k] == r->width;
}

/* Whether a parameter is read in place; otherwise it needs the buffers. */
static bool in_memory(const tni_rows *r, const tni_row_param *p)
{
    return !p->given || (p->dtype == r->elem && p->step == tni_width(p->dtype));
}

/* Whether rows of dst are dense and serve as the panel. */
static bool in_dst(const tni_rows *r)
{
    return r->step[TNI_ROW_DST] == r->width && r->dtype == r->elem;
}

/* Rows at a time: four lines of f32 of each source row, which the hardware follows, and so much of
 * dst as the caches keep (Zen 4). */
enum { PANEL_ROWS = 64, PANEL_AHEAD = 32 };

/* How many rows are transposed together; 0: none. */
static int64_t panel_rows(const tni_rows *r)
{
    const bool kind = r->kind != TNI_ROW_CAUSAL && r->kind < TNI_ROW_ADD_RMS;
    if (!kind || r->nest->ndim == 0 || r->n == 1 ||
        !(transposed(r, TNI_ROW_DST) || transposed(r, TNI_ROW_SRC)) ||
        !in_memory(r, &r->param[0]) || !in_memory(r, &r->param[1]))
        return 0;
    if (in_dst(r))
        return PANEL_ROWS;
    const int64_t most = (int64_t)sizeof(((tni_fold_scratch *)0)->u.sequence.gather);
    const int64_t rows = most / (r->n * r->width), line = 64 / r->width;
    return rows < 2 ? 0 : rows < line ? rows : line;
}

bool tni_row_plan_panel(tni_rows *r)
{
    r->why = "rows have a stride: neighbours are transposed together";
    return panel_rows(r) > 0;
}

/* r, for rows of a panel; fold becomes that of such a row. */
static void panel_dense(tni_rows *dense, tni_fold *fold, const tni_rows *r)
{
    *dense = *r;
    *fold = *r->fold;
    dense->packed = true;
    dense->stream = false;
    for (int k = 0; k < r->nest->nop; k++)
        dense->step[k] = r->width;
    fold->fold[0].src[0] = r->width;
    dense->fold = fold;
}

/* Copy rows of operand k at p into the panel, whose rows are pitch bytes apart; back: from the
 * panel to p.  Rows with a stride are transposed. */
static void panel_copy(const tni_rows *r, int k, char *p, char *panel, int64_t pitch,
                       int64_t rows, bool back)
{
    const tni_copy_kernels *copy = tni_kernels_of(r->isa)->copy;
    const int log2 = tni_log2_width(r->width);
    const int64_t next = r->nest->axis[r->nest->ndim - 1].step[k];
    const int64_t in[2] = {pitch, r->width}, out[2] = {next, r->step[k]};
    const int64_t trips[2] = {rows, r->n};
    if (!transposed(r, k))
        copy->tile[log2](back ? p : panel, back ? out : in, back ? panel : p, back ? in : out,
                         trips);
    else if (back)
        copy->transpose[log2](p, r->step[k], panel, pitch, rows, r->n, 0);
    else
        copy->transpose[log2](panel, pitch, p, r->step[k], r->n, rows,
                              PANEL_AHEAD * r->step[k]);
}

/* Neighbouring rows, as many as fit. */
static void panel_run(const tni_rows *r, const tni_rows *dense, char *const *at, int64_t rows,
                      tni_fold_scratch *s)
{
    const bool direct = in_dst(r);
    char *panel = direct ? at[TNI_ROW_DST] : panel_of(s);
    const int64_t pitch =
        direct ? r->nest->axis[r->nest->ndim - 1].step[TNI_ROW_DST] : r->n * r->width;
    panel_copy(r, TNI_ROW_SRC, at[TNI_ROW_SRC], panel, pitch, rows, false);
    for (int64_t i = 0; i < rows; i++) {
        char *row = panel + i * pitch;
        tni_row_one(dense, (char *const[]){row, row}, 0, s);
    }
    if (!direct)
        panel_copy(r, TNI_ROW_DST, at[TNI_ROW_DST], panel, pitch, rows, true);
}

void tni_row_panel_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    const int64_t most = panel_rows(r);
    tni_walk walk;
    tni_rows dense;
    tni_fold fold;
    panel_dense(&dense, &fold, r);
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, nest->nop, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        char *panel[TNI_ROW_OPERANDS];
        for (int k = 0; k < nest->nop; k++)
            panel[k] = at[k] + walk.offset[k] + c * in->step[k];
        rows = in->n - c < last - i ? in->n - c : last - i;
        rows = rows < most ? rows : most;
        panel_run(r, &dense, panel, rows, s);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
}
