/* fold_transpose.c - the way "transpose": short sequences are transposed into a buffer and
 * reduced there as columns, row by row. */
#include <string.h>

#include "fold_rows.h"
#include "fold_run.h"
#include "runtime/runtime.h"

/* Results that are computed at once: a box of the two innermost map axes. */
typedef struct box {
    int64_t rows, m; /* rows of m results each */
    int64_t dst;     /* offset of the first result */
    const char *x;   /* address of the first element of its sequence */
} box;

/* The largest box that begins at result number i, ends before result `last` and has at most the
 * columns of a strip. */
static box box_at(const fold_job *j, int64_t i, int64_t last)
{
    const tni_fold *f = j->f;
    const tni_fold_axis *a = &f->map[f->nmap - 1], *outer = f->nmap > 1 ? a - 1 : NULL;
    int64_t src[TNI_FOLD_SOURCES];
    box b = {.rows = 1};
    b.m = tni_fold_map(f, i, &b.dst, src);
    b.x = j->src[0] + src[0];
    if (b.m == a->n && outer && a->n * 2 <= f->strip) { /* several whole rows fit */
        const int64_t follow = outer->n - i / a->n % outer->n;
        b.rows = f->strip / a->n < follow ? f->strip / a->n : follow;
        b.rows = b.rows < (last - i) / a->n ? b.rows : (last - i) / a->n;
        b.rows = b.rows > 1 ? b.rows : 1;
    }
    b.m = b.m < f->strip ? b.m : f->strip;
    b.m = b.m < last - i ? b.m : last - i;
    return b;
}

/* Pack the sequences of the box: row k of buf has element k of each. */
static void pack_box(const tni_fold *f, const box *b, char *buf)
{
    const tni_tile_fn tile = tni_kernels_of(f->isa)->copy->tile[tni_log2_width(f->width)];
    const tni_fold_axis *a = &f->map[f->nmap - 1];
    const int64_t row = b->rows * b->m * f->width;
    if (f->nfold == 1 && b->rows == 1) {
        tile(buf, (const int64_t[2]){row, f->width}, b->x,
             (const int64_t[2]){f->fold[0].src[0], a->src[0]},
             (const int64_t[2]){f->count, b->m});
        return;
    }
    tni_fold_cursor c;
    tni_fold_seek(&c, f, &b->x, 0);
    for (int64_t k = 0; k < f->count; k++) {
        tile(buf + k * row, (const int64_t[2]){b->m * f->width, f->width}, tni_fold_at(&c, 0),
             (const int64_t[2]){f->nmap > 1 ? a[-1].src[0] : 0, a->src[0]},
             (const int64_t[2]){b->rows, b->m});
        tni_fold_skip(&c, 1);
    }
}

/* Write the results of a box, whose states are in `states`, to dst; `state` is a buffer for
 * those of a row. */
static void finish_box(const tni_fold *f, const box *b, char *dst, const tni_word *states,
                       tni_word *state)
{
    const tni_fold_axis *a = &f->map[f->nmap - 1];
    const int64_t m = b->m, w = b->rows * m;
    if (b->rows == 1) {
        tni_fold_finish(f, dst, a->dst, states, w);
        return;
    }
    for (int64_t r = 0; r < b->rows; r++) {
        for (int k = 0; k < f->class->words; k++)
            memcpy(state + k * m, states + k * w + r * m, (size_t)m * sizeof *state);
        tni_fold_finish(f, dst + r * a[-1].dst, a->dst, state, m);
    }
}

static void packed_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    int64_t first, last, w;
    tni_fold_prepare(f, &scratch);
    tni_split_range(f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last; i += w) {
        const box b = box_at(j, i, last);
        w = b.rows * b.m;
        char *buf = (char *)(scratch.stack + f->class->words * w);
        ASSERT(w <= TNI_FOLD_PACKED_WIDTH);
        ASSERT(buf + f->count * w * f->width <= (char *)(scratch.stack + TNI_FOLD_STACK));
        const tni_fold_columns cols = {.x = buf,
                                       .step = w * f->width,
                                       .n = f->count,
                                       .w = w,
                                       .packed = f->count < TNI_SHORT};
        if (f->dense && f->map[f->nmap - 1].src[0] == f->count * f->width)
            tni_fold_fetch(b.x + w * f->count * f->width, w * f->count * f->width);
        pack_box(f, &b, buf);
        f->class->columns(f, scratch.stack, &cols, &scratch);
        finish_box(f, &b, j->dst + b.dst, scratch.stack, scratch.u.columns.acc.w);
    }
    tni_fold_fence(f);
}

void tni_fold_run_transpose(fold_job *j, int threads)
{
    (void)threads; /* sequences are short, so threads only divide results */
    j->parts = tni_run_parts(j->bytes, j->f->outputs);
    tni_parallel(j->parts, packed_part, j);
}
