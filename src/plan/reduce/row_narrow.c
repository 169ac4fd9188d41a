/* row_narrow.c - the way "transpose": many short dense rows are transposed, so that a vector
 * has one element of each of several rows, computed side by side, and transposed back.
 *
 * Kernels of AVX2 and AVX-512 transpose in registers.  Otherwise copy kernels transpose f32
 * into a buffer, and 16-bit floats are converted to f32 first. */
#include <string.h>

#include "fold_rows.h"

/* Measurements are in docs/investigations/reductions.md, "Rows on Zen 3", and the third round
 * of "Rows, scans and indices" (Zen 4). */
enum {
    /* most elements of a row that copy kernels transpose: longer ones fill vectors by
     * themselves */
    NARROW_MOST = 48,
    /* the same for layer_norm of f64 in registers, which the kernel for moments makes faster
     * row by row */
    NARROW_LAYER_64 = 24,
    /* fewest rows that pay for two transpositions */
    NARROW_ROWS = 32,
    /* elements of the rows that are computed at once: 16 KiB of f32, half of the L1 of Zen 4 */
    NARROW_ELEMENTS = 1 << 12
};

typedef void short_kernel(const tni_short_rows *s);

/* The kernel that transposes rows of this length in registers, or NULL. */
static short_kernel *in_registers(const tni_rows *r)
{
    const tni_row_typed *k = tni_row_kernels_of(r, r->dtype);
    if (k && k->few_rows && r->n <= TNI_ROW_FEW)
        return k->few_rows;
    const bool fits =
        k && k->short_rows && r->n >= k->short_least && r->n <= k->short_most &&
        (r->dtype != TN_F64 || r->kind != TNI_ROW_LAYER || r->n <= NARROW_LAYER_64);
    return fits ? k->short_rows : NULL;
}

/* Whether kernels can read a parameter: it is absent, or dense as elem. */
static bool param_fits(const tni_rows *r, const tni_row_param *p)
{
    return !p->given || (p->dtype == r->elem && p->step == tni_width(r->elem));
}

bool tni_row_plan_narrow(tni_rows *r)
{
    const tni_axis *in = r->nest->ndim > 0 ? &r->nest->axis[r->nest->ndim - 1] : NULL;
    const bool here = in_registers(r) != NULL;
    if (!in || in->n < NARROW_ROWS || r->kind == TNI_ROW_CAUSAL || r->kind > TNI_ROW_LAYER ||
        !param_fits(r, &r->param[0]) || !param_fits(r, &r->param[1]) ||
        (!here && (r->elem != TN_F32 || r->n > NARROW_MOST)))
        return false;
    for (int k = TNI_ROW_DST; k <= TNI_ROW_SRC; k++)
        if (r->step[k] != r->width ||
            (!here && r->dtype != TN_F32 && in->step[k] != r->n * r->width))
            return false;
    r->why = "rows are short: many are transposed and computed side by side";
    return true;
}

static int64_t whole_groups(int64_t rows)
{
    return (rows + TNI_ROW_TOGETHER - 1) / TNI_ROW_TOGETHER * TNI_ROW_TOGETHER;
}

/* ---- transposed in registers ---- */

/* Copy rows that are s_step bytes apart to rows that are d_step bytes apart. */
static void copy_rows(const tni_rows *r, char *d, int64_t d_step, const char *s, int64_t s_step,
                      int64_t rows)
{
    const int64_t dense = r->n * r->width;
    if (d_step == dense && s_step == dense) {
        memcpy(d, s, (size_t)(rows * dense));
        return;
    }
    const int64_t to[2] = {d_step, r->width}, from[2] = {s_step, r->width};
    tni_kernels_of(r->isa)->copy->tile[tni_log2_width(r->width)](
        d, to, s, from, (const int64_t[2]){rows, r->n});
}

/* Compute a block of rows.  Kernels read and write whole vectors, beyond the ends of rows that
 * are shorter than a vector; such rows are copied to buffers. */
static void short_block(const tni_rows *r, char *d, int64_t d_step, const char *s,
                        int64_t s_step, int64_t rows, tni_fold_scratch *scratch)
{
    static const tni_row_short kinds[] = {[TNI_ROW_SOFTMAX] = TNI_SHORT_SOFTMAX,
                                          [TNI_ROW_LOG_SOFTMAX] = TNI_SHORT_LOG_SOFTMAX,
                                          [TNI_ROW_RMS] = TNI_SHORT_RMS,
                                          [TNI_ROW_LAYER] = TNI_SHORT_LAYER};
    const int64_t dense = r->n * r->width;
    const int64_t vector = tni_kernels_of(r->isa)->row->short_vector;
    const bool beyond = r->n * tni_width(r->elem) < vector,
               streams = r->stream && d_step == dense;
    char *in = scratch->u.sequence.gather[0], *out = scratch->u.sequence.gather[1];
    if (r->stream && !beyond)
        tni_fold_fetch(s + rows * s_step, rows * s_step);
    tni_short_rows w = {.kind = kinds[r->kind],
                        .d = d,
                        .x = s,
                        .w = r->param[0].at,
                        .b = r->param[1].at,
                        .d_step = d_step,
                        .x_step = s_step,
                        .n = r->n,
                        .rows = rows,
                        .eps = r->eps};
    if (beyond) {
        copy_rows(r, in, dense, s, s_step, rows);
        memset(in + rows * dense, 0, (size_t)((whole_groups(rows) - rows) * dense));
        w.x = in;
        w.x_step = dense;
    }
    if (beyond || streams) {
        w.d = out;
        w.d_step = dense;
    }
    in_registers(r)(&w);
    if (streams)
        tni_kernels_of(r->isa)->copy->stream(d, out, rows * dense);
    else if (beyond)
        copy_rows(r, d, d_step, out, dense, rows);
}

/* ---- transposed by copy kernels ---- */

/* Compute `rows` transposed rows in place: element j of all of them is at x + j * pitch; e is a
 * buffer of the same size. */
static void narrow_compute(const tni_rows *r, char *x, char *e, int64_t rows, int64_t pitch)
{
    const tni_row_kernels *k = tni_kernels_of(r->isa)->row;
    const char *w = r->param[0].at, *b = r->param[1].at;
    const int64_t whole = whole_groups(rows);
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

/* Compute a block of rows, which are d_step and s_step bytes apart. */
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

void tni_row_narrow_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                         tni_fold_scratch *s)
{
    const tni_nest *nest = r->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    const int64_t most = NARROW_ELEMENTS / r->n / TNI_ROW_TOGETHER * TNI_ROW_TOGETHER;
    void (*const block)(const tni_rows *, char *, int64_t, const char *, int64_t, int64_t,
                        tni_fold_scratch *) = in_registers(r) ? short_block : narrow_block;
    const int64_t d_step = in->step[TNI_ROW_DST], s_step = in->step[TNI_ROW_SRC];
    tni_walk walk;
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, nest->nop, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        rows = in->n - c < last - i ? in->n - c : last - i;
        rows = rows < most ? rows : most;
        block(r, at[TNI_ROW_DST] + walk.offset[TNI_ROW_DST] + c * d_step, d_step,
              at[TNI_ROW_SRC] + walk.offset[TNI_ROW_SRC] + c * s_step, s_step, rows, s);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
}
