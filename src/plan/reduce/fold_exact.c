/* fold_exact.c - var and std of integers of up to 16 bits.
 *
 * In a block of such integers, the distances from the centre, their squares, and the sums of
 * both are integers below 2^46, which f64 adds exactly in any order.  So integer sums of the
 * elements and of their squares give the bits that fold_moments.c would. */
#include <string.h>

#include "fold_rows.h"

enum { SOME = 64 }; /* sequences at once: three numbers of each are 1.5 KiB of stack */

static const tni_wrap_kernels *kernels(const tni_fold *f)
{
    return &tni_kernels_of(f->isa)->key->wrap[tni_dtypes[f->src].slot];
}

/* Add n dense elements and their squares to both sums. */
static void add_line(const tni_fold *f, int64_t *sum, int64_t *squares, const char *x,
                     int64_t n)
{
    *sum += (int64_t)kernels(f)->sum(x, n);
    *squares += (int64_t)kernels(f)->sumsq(x, n);
}

static double centre_of(const tni_fold *f, const char *x)
{
    int8_t i8;
    int16_t i16;
    if (f->width == 1) {
        memcpy(&i8, x, sizeof i8);
        return f->src == TN_BOOL ? i8 != 0 : f->src == TN_U8 ? (uint8_t)i8 : i8;
    }
    memcpy(&i16, x, sizeof i16);
    return f->src == TN_U16 ? (uint16_t)i16 : i16;
}

static void exact_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                           tni_fold_scratch *scratch)
{
    (void)scratch;
    if (l->n == 0)
        memset(out, 0, (size_t)(3 * l->count) * sizeof *out);
    for (int64_t i = 0; i < l->count && l->n; i += SOME) {
        const int64_t m = l->count - i < SOME ? l->count - i : SOME;
        int64_t sum[SOME] = {0}, squares[SOME] = {0};
        double centre[SOME];
        for (int64_t j = 0; j < m; j++) {
            const char *x = l->x[0] + (i + j) * l->step[0];
            centre[j] = centre_of(f, x);
            tni_fold_fetch(x + l->n * f->width, l->n * f->width);
            add_line(f, &sum[j], &squares[j], x, l->n);
        }
        tni_kernels_of(f->isa)->tree->exact_spread(&out[i].f, l->count, l->n, centre, sum,
                                                   squares, m);
    }
}

/* Set both sums of the rows of a block.  The kernels' accumulators begin at word `at` of those
 * in scratch: squares in 64 bits (in 32 for elements of 8 bits), then sums in 32. */
static void add_rows(const tni_fold *f, int64_t *sum, int64_t *squares,
                     const tni_fold_columns *c, int64_t at, tni_fold_scratch *scratch)
{
    const int64_t join = tni_fold_joined(f, c), w = c->w, all = w * join;
    int64_t *const wide = scratch->u.columns.acc.i + at;
    int32_t *const narrow = scratch->u.columns.acc.i32 + 2 * at, *const small =
                                                                     narrow + 2 * all;
    memset(narrow, 0, (size_t)(3 * all) * sizeof *small);
    tni_fold_groups g = tni_fold_in_groups(c, join, scratch->u.columns.absent.bytes);
    while (tni_fold_next_group(&g))
        kernels(f)->rows_moments(small, wide, g.row, g.w);
    for (int64_t half = all / 2; half >= w; half /= 2)
        for (int64_t i = 0; i < half; i++) {
            small[i] += small[half + i];
            if (f->width == 1)
                narrow[i] += narrow[half + i];
            else
                wide[i] += wide[half + i];
        }
    for (int64_t i = 0; i < w; i++) {
        sum[i] = small[i];
        squares[i] = f->width == 1 ? narrow[i] : wide[i];
    }
}

static void exact_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                          tni_fold_scratch *scratch)
{
    const int64_t w = c->w;
    int64_t *sum = scratch->u.columns.acc.i + c->acc, *squares = sum + w;
    double *centre = scratch->u.columns.acc.f + c->acc + 2 * w;
    if (c->begun == 0) {
        memset(sum, 0, (size_t)(2 * w) * sizeof *sum);
        (void)tni_fold_elems(f, tni_fold_row(c, 0, NULL), w, (char *)centre);
    }
    if (w == 1 && c->row == NULL && c->step == f->width) {
        add_line(f, sum, squares, c->x, c->n);
    } else if (c->packed) {
        kernels(f)->packed_sum((uint64_t *)sum, c->x, c->step, c->n, w);
        kernels(f)->packed_sumsq((uint64_t *)squares, c->x, c->step, c->n, w);
    } else {
        add_rows(f, sum, squares, c, c->acc + 3 * w, scratch);
    }
    if (!c->more)
        tni_kernels_of(f->isa)->tree->exact_spread(&out->f, w, c->begun + c->n, centre, sum,
                                                   squares, w);
}

const tni_fold_class tni_fold_exact_moments = {
    .name = "exact moments",
    .words = 3,
    .acc = 5, /* two sums, a centre, and two words of the kernels' accumulators */
    .ordered = true,
    .reads_src = true,
    .packs = true,
    .joins_wide = 8,
    .tiles = true,
    .sequence = exact_sequence,
    .columns = exact_columns,
    .merge = tni_fold_moments_merge,
    .finish = tni_fold_moments_finish,
};
