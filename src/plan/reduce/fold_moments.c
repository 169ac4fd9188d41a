/* fold_moments.c - var and std of floats and of integers wider than 16 bits, in f64.
 *
 * A state is the number of elements, their mean, and the sum of squared distances from the
 * mean.  A block sums the distances from a centre, its first element, and their squares.
 * Because the centre is an element of the block, the subtraction that gives the state loses at
 * most 11 bits. */
#include <math.h>
#include <string.h>

#include "fold_rows.h"

/* The state of a block of m elements whose distances from centre have the sum s and whose
 * squared distances have the sum q. */
static void moments_of(tni_word *out, int64_t w, double m, double centre, double s, double q)
{
    if (m == 0) {
        out[0].f = out[w].f = out[2 * w].f = 0;
        return;
    }
    const double M = q - s * (s / m);
    out[0].f = m;
    out[w].f = centre + s / m;
    out[2 * w].f = M < 0 ? 0 : M; /* keeps NaN */
}

static double elem_at(const tni_fold *f, const char *e, int64_t i)
{
    if (f->elem == TN_F64) {
        double x;
        memcpy(&x, e + 8 * i, sizeof x);
        return x;
    }
    float x;
    memcpy(&x, e + 4 * i, sizeof x);
    return (double)x;
}

/* The state of one sequence of which NaNs are skipped; the centre is its first number. */
static void moments_of_numbers(const tni_fold *f, tni_word *out, int64_t w, const char *x,
                               int64_t n, tni_fold_scratch *scratch)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    const bool f64 = f->elem == TN_F64;
    char *d = scratch->u.sequence.terms;
    const char *e = tni_fold_elems(f, x, n, scratch->u.sequence.elems[0]);
    const int64_t m = (f64 ? k->numbers64 : k->numbers32)(d, e, n, 0);
    int64_t first = 0;
    while (first < n && isnan(elem_at(f, e, first)))
        first++;
    const double centre = first < n ? elem_at(f, e, first) : 0;
    double s, q;
    (f64 ? k->distance64 : k->distance32)(d, e, n, centre, true);
    tree->sum64(&s, d, n, 0, 1);
    k->square64(d, d, n);
    tree->sum64(&q, d, n, 0, 1);
    moments_of(out, w, (double)m, centre, s, q);
}

/* The type of kernels that read elements of dtype from memory; TNI_TREE_TYPES: there are none,
 * and elements are converted to f32 or f64 first. */
static tni_tree_type type_of(tn_dtype dtype)
{
    return dtype == TN_F64    ? TNI_TREE_F64
           : dtype == TN_F16  ? TNI_TREE_F16
           : dtype == TN_BF16 ? TNI_TREE_BF16
           : dtype == TN_I32  ? TNI_TREE_I32
           : dtype == TN_F32  ? TNI_TREE_F32
                              : TNI_TREE_TYPES;
}

/* Whether kernels of this instruction set read the elements of src from memory. */
static bool direct(const tni_fold *f)
{
    const tni_tree_type type = type_of(f->src);
    return type < TNI_TREE_TYPES && tni_kernels_of(f->isa)->tree->moments[type];
}

enum { SOME = 64 }; /* sequences at once: three numbers of each are 1.5 KiB of stack */

/* The states of count <= SOME sequences of n > 0 elements, step bytes apart; words of a state
 * are w apart. */
static void moments_some(const tni_fold *f, tni_word *out, int64_t w, const char *x, int64_t n,
                         int64_t step, int64_t count, tn_dtype dtype)
{
    double sum[SOME], squares[SOME], centre[SOME];
    tni_kernels_of(f->isa)->tree->moments[type_of(dtype)](sum, squares, centre, x, n, step,
                                                          count);
    tni_kernels_of(f->isa)->tree->spread(&out->f, w, n, centre, sum, squares, count);
}

/* The same for elements that are converted first. */
static void moments_converted(const tni_fold *f, tni_word *out, int64_t w, const char *x,
                              int64_t n, int64_t step, int64_t count, char *elems)
{
    const int64_t width = tni_width(f->elem);
    if (step == n * f->width)
        (void)tni_fold_elems(f, x, n * count, elems);
    for (int64_t i = 0; i < count && step != n * f->width; i++)
        (void)tni_fold_elems(f, x + i * step, n, elems + i * n * width);
    moments_some(f, out, w, elems, n, n * width, count, f->elem);
}

static void moments_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                             tni_fold_scratch *scratch)
{
    const int64_t n = l->n, step = l->step[0];
    const bool as_is = direct(f);
    int64_t most = as_is || n == 0 ? SOME : TNI_TREE_BLOCK / n;
    most = f->skip ? 1 : most < SOME ? most : SOME;
    for (int64_t i = 0; i < l->count; i += most) {
        const char *x = l->x[0] + i * step;
        const int64_t m = l->count - i < most ? l->count - i : most;
        if (n == 0)
            for (int64_t j = i; j < i + m; j++)
                moments_of(out + j, l->count, 0, 0, 0, 0);
        else if (f->skip)
            moments_of_numbers(f, out + i, l->count, x, n, scratch);
        else if (as_is)
            moments_some(f, out + i, l->count, x, n, step, m, f->src);
        else
            moments_converted(f, out + i, l->count, x, n, step, m,
                              scratch->u.sequence.elems[0]);
    }
}

/* ---- columns ---- */

/* The parts of the accumulators: lanes of both trees, a centre for each column (of each lane if
 * rows are joined), and for each column the number of elements that are no NaN. */
typedef struct area {
    double *sum, *squares, *centre;
    int64_t *tally;
} area;

/* Divide the accumulators into sums of `lanes` lanes and `centres` centres for each column. */
static area area_of(tni_fold_scratch *scratch, const tni_fold_columns *c, int64_t lanes,
                    int64_t centres)
{
    double *acc = scratch->u.columns.acc.f + c->acc;
    return (area){acc, acc + lanes * c->w, acc + 2 * lanes * c->w,
                  scratch->u.columns.acc.i + c->acc + (2 * lanes + centres) * c->w};
}

/* The first element of each column; if NaNs are skipped, the first number, or 0 without one. */
static void find_centres(const tni_fold *f, double *centre, const tni_fold_columns *c,
                         tni_fold_scratch *scratch)
{
    bool found = false;
    for (int64_t i = 0; i < c->n && !found; i++) {
        found = true;
        for (int64_t at = 0; at < c->w; at += TNI_FOLD_TERMS) {
            const int64_t m = c->w - at < TNI_FOLD_TERMS ? c->w - at : TNI_FOLD_TERMS;
            const char *e = tni_fold_elems(f, tni_fold_row(c, i, NULL) + at * f->width, m,
                                           scratch->u.columns.elems);
            for (int64_t j = 0; j < m; j++)
                if (i == 0 || isnan(centre[at + j]))
                    centre[at + j] = elem_at(f, e, j);
            for (int64_t j = 0; f->skip && j < m; j++)
                found &= !isnan(centre[at + j]);
        }
    }
    for (int64_t j = 0; f->skip && j < c->w; j++)
        if (isnan(centre[j]))
            centre[j] = 0;
}

/* Add a group of tiles, eight rows of w columns, to the sums of the lanes from word `lane`
 * on. */
static void add_distances(const tni_fold *f, const area *a, int64_t lane,
                          const tni_fold_tiles *g, int64_t w, bool first,
                          tni_fold_scratch *scratch)
{
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    const bool f64 = f->elem == TN_F64;
    const char *const *row = g->row;
    const bool whole = !f->skip && row[TNI_TILE_ROWS - 1] != g->absent;
    if (whole && direct(f)) {
        tree->rows_moments[type_of(f->src)](a->sum + lane, a->squares + lane, row, g->next,
                                            a->centre, w, first);
        return;
    }
    for (int64_t at = 0; at < w; at += TNI_FOLD_TERMS) {
        const int64_t m = w - at < TNI_FOLD_TERMS ? w - at : TNI_FOLD_TERMS;
        const char *made[TNI_TILE_ROWS];
        for (int i = 0; i < TNI_TILE_ROWS; i++) {
            made[i] = g->absent;
            if (g->next)
                tni_fold_fetch(g->next[i] + at * f->width, m * f->width);
            if (row[i] == g->absent)
                continue;
            char *d = scratch->u.columns.terms[i];
            const char *e = tni_fold_elems(f, row[i] + at * f->width, m,
                                           whole ? d : scratch->u.columns.elems);
            if (!whole)
                (f64 ? k->distances64 : k->distances32)(d, e, m, a->centre + at, f->skip);
            if (f->skip)
                (f64 ? k->tally64 : k->tally32)(a->tally + at, e, m);
            made[i] = d;
        }
        if (whole) {
            tree->rows_moments[type_of(f->elem)](a->sum + lane + at, a->squares + lane + at,
                                                 made, NULL, a->centre + at, m, first);
            continue;
        }
        tree->rows_sum64(a->sum + lane + at, made, NULL, m, first);
        for (int i = 0; i < TNI_TILE_ROWS; i++)
            if (made[i] != g->absent)
                k->square64(scratch->u.columns.terms[i], made[i], m);
        tree->rows_sum64(a->squares + lane + at, made, NULL, m, first);
    }
}

static void add_tiles(const tni_fold *f, area a, const tni_fold_columns *c, bool lane_by_lane,
                      tni_fold_scratch *scratch)
{
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    const int64_t w = c->w;
    int64_t top = 0;
    tni_fold_tiles g;
    /* lanes are read as one row only if each lane has a copy of the centres */
    tni_fold_begin_tiles(&g, f, c, lane_by_lane, !f->joined || f->skip,
                         scratch->u.columns.absent.bytes);
    while (tni_fold_next_tile(&g)) {
        add_distances(f, &a, lane_by_lane ? top : g.now.lane * w, &g, g.lanes * w,
                      c->begun + g.now.tile == 0, scratch);
        if (!tni_fold_lane_ends(&g))
            continue;
        for (int64_t j = g.now.lane; j & 1; j >>= 1) {
            top -= w;
            tree->lanes_sum(a.sum + top, w, 2);
            tree->lanes_sum(a.squares + top, w, 2);
        }
        top += w;
    }
}

/* The states of up to sixteen rows, each of which is a lane by itself. */
static void few_rows(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                     tni_fold_scratch *scratch)
{
    enum { PIECE = 64 }; /* columns at once: 16 lanes of both sums are 16 KiB, half of an L1 */
    static const double none[PIECE];
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    const bool f64 = f->elem == TN_F64;
    if (direct(f) && c->row == NULL && c->w >= TNI_FEW_COLUMNS) {
        tree->few_moments[type_of(f->src)](&out->f, c->x, c->step, c->n, c->w);
        return;
    }
    double sum[TNI_LANES * PIECE], squares[TNI_LANES * PIECE], centre[PIECE];
    for (int64_t at = 0; at < c->w; at += PIECE) {
        const int64_t m = c->w - at < PIECE ? c->w - at : PIECE;
        for (int64_t l = 0; l < c->n; l++) {
            const char *e = tni_fold_elems(f, tni_fold_row(c, l, NULL) + at * f->width, m,
                                           scratch->u.columns.elems);
            if (l == 0) /* the centre: the distance from 0, as f64 */
                (f64 ? k->distances64 : k->distances32)((char *)centre, e, m, none, false);
            (f64 ? k->distances64 : k->distances32)((char *)(sum + l * m), e, m, centre, false);
        }
        k->square64((char *)squares, (const char *)sum, c->n * m);
        tree->lanes_sum(sum, m, (int)c->n);
        tree->lanes_sum(squares, m, (int)c->n);
        tree->spread(&out[at].f, c->w, c->n, centre, sum, squares, m);
    }
}

static void moments_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                            tni_fold_scratch *scratch)
{
    if (c->begun == 0 && c->n <= TNI_LANES && !c->more && !f->skip) {
        few_rows(f, out, c, scratch);
        return;
    }
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    const int64_t w = c->w, n = c->begun + c->n;
    const bool lane_by_lane = tni_fold_lane_by_lane(f, c, 4), joined = f->joined && !f->skip;
    const area a = lane_by_lane ? area_of(scratch, c, TNI_FOLD_DEEP, 1)
                                : area_of(scratch, c, TNI_LANES, TNI_LANES);
    if (c->begun == 0) {
        find_centres(f, a.centre, c, scratch);
        for (int l = 1; joined && l < TNI_LANES; l++)
            memcpy(a.centre + l * w, a.centre, (size_t)w * sizeof *a.centre);
        memset(a.tally, 0, (size_t)w * sizeof *a.tally);
    }
    if (w == 1 && joined && direct(f) && c->row == NULL && c->step == f->width &&
        c->n % TNI_TILE == 0)
        tree->tiles_moments[type_of(f->src)](a.sum, a.squares, c->x, c->n, a.centre[0],
                                             c->begun == 0);
    else
        add_tiles(f, a, c, lane_by_lane, scratch);
    if (c->more)
        return;
    const int lanes = lane_by_lane ? 1 : n < TNI_LANES ? (int)n : TNI_LANES;
    tree->lanes_sum(a.sum, w, lanes);
    tree->lanes_sum(a.squares, w, lanes);
    for (int64_t j = 0; j < w; j++)
        moments_of(out + j, w, (double)(f->skip ? a.tally[j] : n), a.centre[j], a.sum[j],
                   a.squares[j]);
}

/* ---- states ---- */

static void moments_merge(tni_word *a, const tni_word *b, int64_t w)
{
    const double na = a[0].f, nb = b[0].f, n = na + nb, d = b[w].f - a[w].f;
    if (nb == 0)
        return;
    if (na == 0) {
        a[0] = b[0], a[w] = b[w], a[2 * w] = b[2 * w];
        return;
    }
    a[0].f = n;
    a[w].f = a[w].f + d * (nb / n);
    a[2 * w].f = (a[2 * w].f + b[2 * w].f) + d * d * (na * (nb / n));
}

void tni_fold_moments_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++)
        moments_merge(a + c, b + c, w);
}

double tni_fold_spread(const tni_fold *f, double n, double M)
{
    const double by = n - f->param, var = n == 0 ? (double)NAN : M / (by > 0 ? by : 0);
    return tni_reductions[f->op].facts & TNI_FOLD_ROOT ? sqrt(var) : var;
}

void tni_fold_moments_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w, int64_t n)
{
    const bool root = tni_reductions[f->op].facts & TNI_FOLD_ROOT;
    const double count = s->f; /* the same for all states unless NaNs are skipped */
    const double by = count > 0 && count > f->param ? count - f->param : 0;
    double y[TNI_FOLD_STORED];
    if (f->skip)
        for (int64_t c = 0; c < n; c++)
            y[c] = tni_fold_spread(f, s[c].f, s[2 * w + c].f);
    tni_kernels_of(f->isa)->tree->results(y, f->skip ? y : &s[2 * w].f, n, -0.0,
                                          f->skip ? 1 : by, NULL, root && !f->skip);
    tni_fold_store(f, TN_F64, dst, step, (const char *)y, n);
}

const tni_fold_class tni_fold_moments = {
    .name = "moments",
    .words = 3,
    .acc = 2 * TNI_FOLD_DEEP + 2, /* sums, squares, a centre, a tally */
    .ordered = true,
    .tiles = true, /* not if NaNs are skipped: the first call finds the centres */
    .sequence = moments_sequence,
    .columns = moments_columns,
    .merge = tni_fold_moments_merge,
    .finish = tni_fold_moments_finish,
};
