/* fold_packed.c - short sequences, transposed into columns that lie side by side in a buffer. */
#include <string.h>

#include "fold_run.h"
#include "runtime/runtime.h"

/* A box of results: rows of the innermost map axis, side by side. */
static void packed_part(void *arg, int part)
{
    const fold_job *j = arg;
    const tni_fold *f = j->f;
    tni_fold_scratch scratch;
    const tni_tile_fn tile = tni_kernels_of(f->isa)->copy->tile[tni_log2_width(f->width)];
    const tni_fold_axis *a = &f->map[f->nmap - 1], *b = f->nmap > 1 ? a - 1 : NULL;
    int64_t first, last;
    tni_fold_prepare(f, &scratch);
    tni_split_range(f->outputs, j->parts, part, &first, &last);
    for (int64_t i = first; i < last;) {
        int64_t dst, src[TNI_FOLD_SOURCES], rows = 1;
        int64_t m = tni_fold_map(f, i, &dst, src);
        if (m == a->n && b && a->n * 2 <= f->strip) { /* whole rows of both axes */
            const int64_t follow = b->n - i / a->n % b->n;
            rows = f->strip / a->n < follow ? f->strip / a->n : follow;
            rows = rows < (last - i) / a->n ? rows : (last - i) / a->n;
        }
        if (rows < 1)
            rows = 1;
        m = m < f->strip ? m : f->strip;
        m = m < last - i ? m : last - i;
        const int64_t w = rows * m, words = f->class->words * w;
        char *buf = (char *)(scratch.stack + words);
        const char *x = j->src[0] + src[0];
        tni_fold_cursor c;
        tni_fold_seek(&c, f, &x, 0);
        if (f->nfold == 1 && rows == 1) {
            tile(buf, (const int64_t[2]){w * f->width, f->width}, x,
                 (const int64_t[2]){f->fold[0].src[0], a->src[0]},
                 (const int64_t[2]){f->count, w});
        } else {
            for (int64_t k = 0; k < f->count; k++) {
                tile(buf + k * w * f->width, (const int64_t[2]){m * f->width, f->width},
                     tni_fold_at(&c, 0), (const int64_t[2]){b ? b->src[0] : 0, a->src[0]},
                     (const int64_t[2]){rows, m});
                tni_fold_skip(&c, 1);
            }
        }
        const tni_fold_columns cols = {.x = buf,
                                       .step = w * f->width,
                                       .n = f->count,
                                       .w = w,
                                       .packed = f->count < TNI_SIDE};
        f->class->columns(f, scratch.stack, &cols, &scratch);
        if (rows == 1)
            tni_fold_finish(f, j->dst + dst, a->dst, scratch.stack, w);
        for (int64_t r = 0; r < rows && rows > 1; r++) {
            tni_word state[TNI_FOLD_WORDS * TNI_FOLD_PACKED_WIDTH];
            for (int k = 0; k < f->class->words; k++)
                memcpy(state + k * m, scratch.stack + k * w + r * m, (size_t)m * sizeof *state);
            tni_fold_finish(f, j->dst + dst + (b ? r * b->dst : 0), a->dst, state, m);
        }
        i += w;
    }
}

void tni_fold_run_packed(fold_job *j, int threads)
{
    (void)threads; /* every result is as short as the others */
    j->parts = tni_run_parts(j->bytes, j->f->outputs);
    tni_parallel(j->parts, packed_part, j);
}
