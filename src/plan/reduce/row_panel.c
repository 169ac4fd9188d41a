/* row_panel.c - the way "panel": neighbouring rows that are strided in src or dst and side by
 * side in memory.
 *
 * A panel of them is transposed, so that its rows are dense, computed in place, and transposed
 * back; every line of memory is used as a whole.  If the rows of dst are dense, the panel is in
 * dst, otherwise in a buffer. */
#include <stddef.h>
#include <string.h>

#include "plan/plan.h"

/* The buffer of a panel: dense rows are not gathered, so the gather buffers are unused. */
static char *panel_of(tni_fold_scratch *s)
{
    return s->u.sequence.gather[0];
}

/* Whether the rows of operand k are strided and side by side. */
static bool transposed(const tni_rows *r, int k)
{
    return r->step[k] != r->width && r->nest->axis[r->nest->ndim - 1].step[k] == r->width;
}

/* Whether a parameter is read in place; otherwise it would be gathered in the panel's
 * buffer. */
static bool in_memory(const tni_rows *r, const tni_row_param *p)
{
    return !p->given || (p->dtype == r->elem && p->step == tni_width(p->dtype));
}

/* Whether the panel is in dst, whose rows are dense. */
static bool in_dst(const tni_rows *r)
{
    return r->step[TNI_ROW_DST] == r->width;
}

/* PANEL_BYTES: if the panel is in dst, the bytes that are read at a time of each row of memory
 * in src; four lines, which the hardware follows.  PANEL_AHEAD: rows of memory by which
 * prefetches are ahead.  Panels of 16 to 256 rows and prefetches by 8 to 128 are measured in
 * "Softmax along a stride" of docs/investigations/reductions.md (Zen 4), f64 and 16 bits in
 * "Rows on Zen 3". */
enum { PANEL_BYTES = 256, PANEL_AHEAD = 32 };

/* The number of rows of a panel; 0: the way does not apply. */
static int64_t panel_rows(const tni_rows *r)
{
    const bool kind = r->kind != TNI_ROW_CAUSAL && r->kind < TNI_ROW_ADD_RMS;
    if (!kind || r->nest->ndim == 0 || r->n == 1 ||
        !(transposed(r, TNI_ROW_DST) || transposed(r, TNI_ROW_SRC)) ||
        !in_memory(r, &r->param[0]) || !in_memory(r, &r->param[1]))
        return 0;
    if (in_dst(r))
        return PANEL_BYTES / r->width;
    const int64_t most = (int64_t)sizeof(((tni_fold_scratch *)0)->u.sequence.gather);
    const int64_t rows = most / (r->n * r->width), line = 64 / r->width;
    return rows < 2 ? 0 : rows < line ? rows : line;
}

bool tni_row_plan_panel(tni_rows *r)
{
    r->why = "rows have a stride: neighbours are transposed together";
    return panel_rows(r) > 0;
}

/* The description of the rows of a panel. */
typedef struct panel {
    tni_rows rows;
    tni_fold fold; /* rows.fold points to it */
    bool dense;    /* they are computed by tni_row_dense_rows: 16-bit floats in dst */
} panel;

static void panel_make(panel *p, const tni_rows *r)
{
    p->rows = *r;
    memcpy(&p->fold, r->fold, offsetof(tni_fold, fold)); /* without 4 KB of axes */
    p->fold.fold[0] = r->fold->fold[0];
    p->fold.fold[0].src[0] = r->width;
    p->rows.fold = &p->fold;
    p->rows.packed = true;
    p->rows.stream = false;
    for (int k = 0; k < r->nest->nop; k++)
        p->rows.step[k] = r->width;
    p->dense = in_dst(r) && r->dtype != r->elem && tni_row_plan_dense(&p->rows);
}

/* Compute the rows of a panel, which are pitch bytes apart, in place. */
static void panel_compute(panel *p, char *at, int64_t pitch, int64_t rows, tni_fold_scratch *s)
{
    if (p->dense)
        tni_row_dense_rows(&p->rows, at, pitch, rows, s);
    for (int64_t i = 0; i < rows && !p->dense; i++, at += pitch)
        tni_row_one(&p->rows, (char *const[]){at, at}, 0, s);
}

/* Copy rows of operand k at p into the panel, whose rows are pitch bytes apart, or from the
 * panel to p if `back` is set.  Strided rows are transposed. */
static void panel_copy(const tni_rows *r, int k, char *p, char *lines, int64_t pitch,
                       int64_t rows, bool back)
{
    const tni_copy_kernels *copy = tni_kernels_of(r->isa)->copy;
    const int log2 = tni_log2_width(r->width);
    const int64_t next = r->nest->axis[r->nest->ndim - 1].step[k];
    const int64_t in[2] = {pitch, r->width}, out[2] = {next, r->step[k]};
    const int64_t trips[2] = {rows, r->n};
    if (!transposed(r, k))
        copy->tile[log2](back ? p : lines, back ? out : in, back ? lines : p, back ? in : out,
                         trips);
    else if (back)
        copy->transpose[log2](p, r->step[k], lines, pitch, rows, r->n, 0);
    else
        copy->transpose[log2](lines, pitch, p, r->step[k], r->n, rows,
                              PANEL_AHEAD * r->step[k]);
}

/* Compute one panel; at has the operands' addresses of its first row. */
static void panel_run(const tni_rows *r, panel *p, char *const *at, int64_t rows,
                      tni_fold_scratch *s)
{
    const bool direct = in_dst(r);
    char *lines = direct ? at[TNI_ROW_DST] : panel_of(s);
    const int64_t pitch =
        direct ? r->nest->axis[r->nest->ndim - 1].step[TNI_ROW_DST] : r->n * r->width;
    panel_copy(r, TNI_ROW_SRC, at[TNI_ROW_SRC], lines, pitch, rows, false);
    panel_compute(p, lines, pitch, rows, s);
    if (!direct)
        panel_copy(r, TNI_ROW_DST, at[TNI_ROW_DST], lines, pitch, rows, true);
}

void tni_row_panel_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    const int64_t most = panel_rows(r);
    tni_walk walk;
    panel p; /* not cleared: most axes of its fold are not used */
    panel_make(&p, r);
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, nest->nop, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        char *first_row[TNI_ROW_OPERANDS];
        for (int k = 0; k < nest->nop; k++)
            first_row[k] = at[k] + walk.offset[k] + c * in->step[k];
        rows = in->n - c < last - i ? in->n - c : last - i;
        rows = rows < most ? rows : most;
        panel_run(r, &p, first_row, rows, s);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
}
