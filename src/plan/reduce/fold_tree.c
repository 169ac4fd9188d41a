/* fold_tree.c - sums and products of floats by the tree, for sequences and for columns.
 *
 * A state is the sum or product of a run of blocks and, for nanmean, the number of elements
 * that are no NaN. */
#include <math.h>
#include <string.h>

#include "fold_rows.h"

static bool counted(const tni_fold *f)
{
    return f->skip && f->mean;
}

/* Whether terms are the elements in memory. */
static bool direct(const tni_fold *f)
{
    return f->elem == f->src && (f->term == TNI_TERM_SAME ||
                                 (f->wide && f->term == TNI_TERM_WIDEN && f->elem == TN_F64));
}

/* Whether a kernel sums 16-bit floats from memory without a buffer of f32; *which is 0 for f16,
 * 1 for bf16. */
static bool direct16(const tni_fold *f, int *which)
{
    *which = f->src == TN_BF16;
    return tni_is_half(f->src) && f->term == TNI_TERM_SAME && !f->wide &&
           tni_kernels_of(f->isa)->tree->sum16[*which];
}

static void tree_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                          tni_fold_scratch *scratch)
{
    const tni_tree_kernels *k = tni_kernels_of(f->isa)->tree;
    void (*sum)(double *, const char *, int64_t, int64_t, int64_t) = f->product ? k->prod64
                                                                     : f->wide  ? k->sum64
                                                                                : k->sum32;
    const bool squares = f->term == TNI_TERM_SQUARE && f->elem == TN_F32;
    if (direct(f) || (squares && f->src == TN_F32)) {
        (squares ? k->squares32 : sum)(&out[0].f, l->x[0], l->n, l->step[0], l->count);
        return;
    }
    int which;
    if (direct16(f, &which)) {
        k->sum16[which](&out[0].f, l->x[0], l->n, l->step[0], l->count);
        return;
    }
    /* Terms of dense rows are made for as many rows as fit the buffer. */
    const bool dense = f->nsrc == 1 && l->n > 0 && l->step[0] == l->n * f->width && !counted(f);
    const int64_t most = dense ? TNI_TREE_BLOCK / l->n : 1;
    const int64_t width = f->wide || f->product ? 8 : 4;
    for (int64_t i = 0, m; i < l->count; i += m) {
        m = l->count - i < most ? l->count - i : most;
        const char *x[TNI_FOLD_SOURCES] = {l->x[0] + i * l->step[0]};
        if (f->nsrc > 1)
            x[1] = l->x[1] + i * l->step[1];
        int64_t numbers = 0;
        const char *terms =
            squares ? tni_fold_elems(f, x[0], m * l->n, scratch->u.sequence.elems[0])
                    : tni_fold_terms(f, x, m * l->n, scratch->u.sequence.elems[0],
                                     scratch->u.sequence.elems[1], scratch->u.sequence.terms,
                                     &numbers);
        (squares ? k->squares32 : sum)(&out[i].f, terms, l->n, l->n * (squares ? 4 : width), m);
        if (counted(f))
            out[l->count + i].i = numbers;
    }
}

/* ---- columns ---- */

/* Add a group of tiles, eight rows of w columns, to acc; tally counts the elements of each
 * column that are no NaN. */
static void add_rows(const tni_fold *f, double *acc, const tni_fold_tiles *g, int64_t w,
                     bool first, tni_fold_scratch *scratch, int64_t *tally)
{
    const tni_tree_kernels *k = tni_kernels_of(f->isa)->tree;
    const tni_term_kernels *terms = tni_kernels_of(f->isa)->term;
    const char *const *row = g->row;
    void (*add)(double *, const char *const *, const char *const *, int64_t, bool) =
        f->product ? k->rows_prod64
        : f->wide  ? k->rows_sum64
                   : k->rows_sum32;
    if (direct(f)) {
        add(acc, row, g->next, w, first);
        return;
    }
    int which;
    if (!tally && row[TNI_TILE_ROWS - 1] != g->absent && direct16(f, &which)) {
        k->rows_sum16[which](acc, row, g->next, w, first);
        return;
    }
    for (int64_t c = 0; c < w; c += TNI_FOLD_TERMS) {
        const int64_t m = w - c < TNI_FOLD_TERMS ? w - c : TNI_FOLD_TERMS;
        const char *made[TNI_TILE_ROWS];
        for (int i = 0; i < TNI_TILE_ROWS; i++) {
            made[i] = g->absent;
            if (g->next)
                tni_fold_fetch(g->next[i] + c * f->width, m * f->width);
            if (row[i] == g->absent)
                continue;
            const char *x = row[i] + c * f->width;
            int64_t numbers;
            char *d = scratch->u.columns.terms[i];
            /* if terms are converted elements, each row needs a buffer of its own for them */
            char *elems = f->term == TNI_TERM_SAME ? d : scratch->u.columns.elems;
            made[i] = tni_fold_terms(f, &x, m, elems, NULL, d, &numbers);
            if (tally) {
                const bool f64 = f->elem == TN_F64;
                const char *e = f->elem == f->src ? x : elems;
                (f64 ? terms->tally64 : terms->tally32)(tally + c, e, m);
            }
        }
        add(acc + c, made, NULL, m, first);
    }
}

/* Set the lanes of up to sixteen rows, each of which is a lane by itself. */
static void few_rows(const tni_fold *f, const tni_fold_columns *c, double *acc,
                     tni_fold_scratch *scratch)
{
    const bool wide = f->wide || f->product;
    const tni_cast_fn widen = tni_cast_chain(f->isa, TN_F32, TN_F64).fn[0];
    for (int64_t l = 0; l < c->n; l++)
        for (int64_t i = 0; i < c->w; i += TNI_FOLD_TERMS) {
            const int64_t m = c->w - i < TNI_FOLD_TERMS ? c->w - i : TNI_FOLD_TERMS;
            const char *terms = tni_fold_row(c, l, NULL) + i * f->width;
            int64_t numbers;
            if (!direct(f))
                terms = tni_fold_terms(f, &terms, m, scratch->u.columns.elems, NULL,
                                       scratch->u.columns.terms[0], &numbers);
            if (wide)
                memcpy(acc + l * c->w + i, terms, (size_t)m * sizeof *acc);
            else
                widen((char *)(acc + l * c->w + i), terms, m, 0, false);
        }
}

/* Merge the lane that was computed as number j, which is at top, with the lanes that wait for
 * it.  Returns the place of the next lane. */
static double *lane_made(const tni_fold *f, double *top, int64_t w, int64_t j)
{
    const tni_tree_kernels *k = tni_kernels_of(f->isa)->tree;
    for (; j & 1; j >>= 1) {
        top -= w;
        (f->product ? k->lanes_prod : k->lanes_sum)(top, w, 2);
    }
    return top + w;
}

static void add_tiles(const tni_fold *f, double *acc, const tni_fold_columns *c,
                      bool lane_by_lane, tni_fold_scratch *scratch, int64_t *tally)
{
    const int64_t w = c->w;
    double *top = acc;
    tni_fold_tiles g;
    tni_fold_begin_tiles(&g, f, c, lane_by_lane, tally != NULL,
                         scratch->u.columns.absent.bytes);
    while (tni_fold_next_tile(&g)) {
        double *to = lane_by_lane ? top : acc + g.now.lane * w;
        add_rows(f, to, &g, g.lanes * w, c->begun + g.now.tile == 0, scratch, tally);
        if (tni_fold_lane_ends(&g))
            top = lane_made(f, top, w, g.now.lane);
    }
}

static void tree_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                         tni_fold_scratch *scratch)
{
    const tni_tree_kernels *k = tni_kernels_of(f->isa)->tree;
    double *acc = scratch->u.columns.acc.f + c->acc;
    const int64_t w = c->w;
    int64_t *tally = counted(f) ? &out[w].i : NULL;
    if (tally)
        memset(tally, 0, (size_t)w * sizeof *tally);
    const bool lane_by_lane = tni_fold_lane_by_lane(f, c, 1);
    if (c->begun + c->n <= TNI_LANES && !c->more && !lane_by_lane && !tally)
        few_rows(f, c, acc, scratch);
    else
        add_tiles(f, acc, c, lane_by_lane, scratch, tally);
    if (c->more)
        return;
    const int lanes = c->begun + c->n < TNI_LANES ? (int)c->n : TNI_LANES;
    if (!lane_by_lane)
        (f->product ? k->lanes_prod : k->lanes_sum)(acc, w, lanes);
    memcpy(out, acc, (size_t)w * sizeof *acc);
}

/* ---- states ---- */

static void tree_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    if (f->product)
        for (int64_t c = 0; c < w; c++)
            a[c].f *= b[c].f;
    else
        for (int64_t c = 0; c < w; c++)
            a[c].f += b[c].f;
    if (counted(f))
        for (int64_t c = w; c < 2 * w; c++)
            a[c].i += b[c].i;
}

static void tree_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                        int64_t w, int64_t n)
{
    const double zero = f->product ? -0.0 : 0.0; /* a sum of -0 becomes +0 */
    const double by = f->mean ? (double)f->count : 1, p = f->param;
    const bool norm = f->op == TN_REDUCE_NORM;
    double y[TNI_FOLD_STORED];
    tni_kernels_of(f->isa)->tree->results(y, &s->f, n, zero, by, counted(f) ? &s[w].i : NULL,
                                          norm && p == 2);
    if (norm && p != 0 && p != 1 && p != 2)
        for (int64_t c = 0; c < n; c++)
            y[c] = pow(y[c], 1 / p);
    tni_fold_store(f, TN_F64, dst, step, (const char *)y, n);
}

const tni_fold_class tni_fold_tree = {
    .name = "tree",
    .words = 1,
    .acc = TNI_FOLD_DEEP,
    .ordered = true,
    .tree = true,
    .tiles = true,
    .tiles_numbers = true,
    .sequence = tree_sequence,
    .columns = tree_columns,
    .merge = tree_merge,
    .finish = tree_finish,
};

const tni_fold_class tni_fold_tree_counted = {
    .name = "tree",
    .words = 2,
    .acc = TNI_FOLD_DEEP,
    .ordered = true,
    .sequence = tree_sequence,
    .columns = tree_columns,
    .merge = tree_merge,
    .finish = tree_finish,
};
