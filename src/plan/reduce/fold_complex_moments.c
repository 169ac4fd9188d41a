/* fold_complex_moments.c - var and std of complex numbers: the moments of the real and of the
 * imaginary part.
 *
 * A state is the count, then mean and sum of squared distances of the real part, then those of
 * the imaginary part.  The variance is that of both parts added. */
#include "fold_rows.h"

static void complex_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                             tni_fold_scratch *scratch)
{
    tni_fold part = *f;
    part.src = part.elem;
    part.width = f->width / 2;
    const tni_tile_fn tile = tni_kernels_of(f->isa)->copy->tile[tni_log2_width(part.width)];
    for (int64_t i = 0; i < l->count; i++)
        for (int im = 0; im < 2; im++) {
            tni_word s[3];
            char *x = scratch->u.sequence.elems[1];
            tile(x, (const int64_t[2]){0, part.width},
                 l->x[0] + i * l->step[0] + im * part.width, (const int64_t[2]){0, f->width},
                 (const int64_t[2]){1, l->n});
            tni_fold_moments.sequence(
                &part, s, &(tni_fold_sequences){.x = {x}, .n = l->n, .count = 1}, scratch);
            out[i] = s[0];
            out[(1 + 2 * im) * l->count + i] = s[1];
            out[(2 + 2 * im) * l->count + i] = s[2];
        }
}

static void complex_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    for (int64_t c = 0; c < w; c++) {
        tni_word x[3], y[3];
        const tni_word n = a[c];
        for (int im = 0; im < 2; im++) {
            x[0] = n, y[0] = b[c];
            for (int k = 1; k < 3; k++)
                x[k] = a[(k + 2 * im) * w + c], y[k] = b[(k + 2 * im) * w + c];
            tni_fold_moments_merge(f, x, y, 1);
            a[c] = x[0];
            for (int k = 1; k < 3; k++)
                a[(k + 2 * im) * w + c] = x[k];
        }
    }
}

static void complex_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                           int64_t w, int64_t n)
{
    for (int64_t c = 0; c < n; c++, dst += step)
        tni_store_real(dst, f->dst,
                       tni_fold_spread(f, s[c].f, s[2 * w + c].f + s[4 * w + c].f));
}

const tni_fold_class tni_fold_complex_moments = {
    .name = "moments of complex numbers",
    .words = 5,
    .ordered = true,
    .sequence = complex_sequence,
    .merge = complex_merge,
    .finish = complex_finish,
};
