/* row_narrow.c - short dense rows: many are transposed, so that vectors have an element of each,
 * computed side by side, and transposed back.  Rows of 16-bit floats become f32 first. */
#include <string.h>

#include "plan/plan.h"

/* Elements of a row from which on a row by itself fills vectors well enough, rows that pay, and
 * elements of a block of them: 16 KiB, half of the L1 (Zen 4). */
enum { NARROW_MOST = 48, NARROW_ROWS = 32, NARROW_ELEMENTS = 1 << 12 };

static bool param_fits(const tni_row_param *p)
{
    return !p->at || (p->dtype == TN_F32 && p->step == 4);
}

bool tni_row_narrow(const tni_rows *r)
{
    const tni_axis *in = r->nest->ndim > 0 ? &r->nest->axis[r->nest->ndim - 1] : NULL;
    if (!in || in->n < NARROW_ROWS || r->n > NARROW_MOST || r->kind == TNI_ROW_CAUSAL ||
        r->kind > TNI_ROW_LAYER || r->elem != TN_F32 || !param_fits(&r->param[0]) ||
        !param_fits(&r->param[1]))
        return false;
    for (int k = TNI_ROW_DST; k <= TNI_ROW_SRC; k++)
        if (r->step[k] != r->width || (r->dtype != TN_F32 && in->step[k] != r->n * r->width))
            return false;
    return true;
}

/* rows x n elements at x, of the same pitch as lines. */
static void narrow_compute(const tni_rows *r, char *x, char *e, int64_t rows, int64_t pitch)
{
    const tni_row_kernels *k = tni_kernels_of(r->isa)->row;
    const char *w = r->param[0].at, *b = r->param[1].at;
    const int64_t whole = (rows + TNI_ROW_TOGETHER - 1) / TNI_ROW_TOGETHER * TNI_ROW_TOGETHER;
    for (int64_t j = 0; j < r->n && whole > rows; j++)
        memset(x + j * pitch + rows * 4, 0, (size_t)(whole - rows) * 4);
    if (r->kind == TNI_ROW_RMS)
        k->rms_narrow(x, w, r->n, rows, pitch, r->eps);
    else if (r->kind == TNI_ROW_LAYER)
        k->layer_narrow(x, w, b, r->n, rows, pitch, r->eps);
    else
        k->softmax_narrow(x, r->kind == TNI_ROW_SOFTMAX ? x : e, r->n, rows, pitch,
                          r->kind == TNI_ROW_LOG_SOFTMAX);
}

/* Rows that lie d_step and s_step bytes apart. */
static void narrow_block(const tni_rows *r, char *d, int64_t d_step, const char *s,
                         int64_t s_step, int64_t rows, tni_fold_scratch *scratch)
{
    const tni_copy_kernels *copy = tni_kernels_of(r->isa)->copy;
    char *lines = scratch->u.sequence.gather[0], *aside = scratch->u.sequence.gather[1];
    const int64_t pitch = NARROW_ELEMENTS / r->n / TNI_ROW_TOGETHER * TNI_ROW_TOGETHER * 4;
    const bool cast = r->dtype != TN_F32, streams = r->stream && d_step == r->n * r->width;
    const int64_t dense = r->n * 4;
    if (cast) {
        tni_cast_chain(r->isa, r->dtype, TN_F32).fn[0](aside, s, rows * r->n, 0, false);
        s = aside;
        s_step = dense;
    }
    copy->transpose[2](lines, pitch, s, s_step, rows, r->n,
                       r->stream && !cast ? rows * s_step : 0);
    narrow_compute(r, lines, aside, rows, pitch);
    const bool direct = !cast && !streams;
    copy->transpose[2](direct ? d : aside, direct ? d_step : dense, lines, pitch, r->n, rows,
                       0);
    if (cast)
        tni_cast_chain(r->isa, TN_F32, r->dtype).fn[0](d, aside, rows * r->n, 0, false);
    else if (streams)
        copy->stream(d, aside, rows * dense);
}

void tni_row_narrow_run(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    const int64_t most = NARROW_ELEMENTS / r->n / TNI_ROW_TOGETHER * TNI_ROW_TOGETHER;
    const int64_t d_step = in->step[TNI_ROW_DST], s_step = in->step[TNI_ROW_SRC];
    tni_walk walk;
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, nest->nop, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        rows = in->n - c < last - i ? in->n - c : last - i;
        rows = rows < most ? rows : most;
        narrow_block(r, at[TNI_ROW_DST] + walk.offset[TNI_ROW_DST] + c * d_step, d_step,
                     at[TNI_ROW_SRC] + walk.offset[TNI_ROW_SRC] + c * s_step, s_step, rows, s);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
}
