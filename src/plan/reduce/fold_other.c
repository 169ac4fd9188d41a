/* fold_other.c - reductions that have no kernels for columns: logsumexp, products and dot
 * products of complex numbers, and norms of infinite order of complex numbers. */
#include <math.h>
#include <string.h>

#include "plan/plan.h"

/* ---- logsumexp: words are the maximum and the sum of exp(x - maximum) ---- */

static void logsumexp_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                               tni_fold_scratch *scratch)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        int64_t none;
        const char *e = tni_fold_terms(f, &x, l->n, scratch->u.sequence.elems[0], NULL,
                                       scratch->u.sequence.terms, &none);
        const double most = k->max64(e, l->n);
        tni_word *m = &out[i], *s = &out[l->count + i];
        m->f = most;
        s->f = -0.0;
        if (!isfinite(most)) /* -inf: all terms are 0; inf and NaN are the result */
            continue;
        k->exp64(scratch->u.sequence.terms, e, l->n, most);
        tni_kernels_of(f->isa)->tree->sum64(&s->f, scratch->u.sequence.terms, l->n, 0, 1);
    }
}

static void logsumexp_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++) {
        const double ma = a[c].f, mb = b[c].f;
        const double most = isnan(ma) ? ma : isnan(mb) ? mb : ma > mb ? ma : mb;
        if (isfinite(most))
            a[w + c].f = a[w + c].f * exp(ma - most) + b[w + c].f * exp(mb - most);
        a[c].f = most;
    }
}

static void logsumexp_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w, int64_t n)
{
    double y[TNI_FOLD_STORED];
    for (int64_t c = 0; c < n; c++)
        y[c] = isfinite(s[c].f) ? s[c].f + log(s[w + c].f) : s[c].f;
    tni_fold_store_reals(f, dst, step, y, n);
}

const tni_fold_class tni_fold_logsumexp = {
    .name = "logsumexp",
    .words = 2,
    .ordered = true,
    .sequence = logsumexp_sequence,
    .merge = logsumexp_merge,
    .finish = logsumexp_finish,
};

/* ---- complex numbers as pairs of f64 ---- */

typedef struct pair {
    double re, im;
} pair;

static pair pair_at(const tni_fold *f, const char *x, int64_t i)
{
    if (f->src == TN_C128) {
        pair p;
        memcpy(&p, x + 16 * i, sizeof p);
        return p;
    }
    float p[2];
    memcpy(p, x + 8 * i, sizeof p);
    return (pair){(double)p[0], (double)p[1]};
}

static pair times(pair a, pair b)
{
    return (pair){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/* The tree with pairs as elements.  An absent element is (1, 0), which is no exact identity:
 * the multiplication by it changes signs of zeros and makes NaN of infinities, so it is never
 * left out. */
static void complex_prod_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                                  tni_fold_scratch *scratch)
{
    (void)scratch;
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        pair s[TNI_LANES];
        for (int lane = 0; lane < TNI_LANES; lane++)
            s[lane] = (pair){1, 0};
        for (int64_t t = 0; t < l->n; t += TNI_TILE)
            for (int lane = 0; lane < TNI_LANES; lane++) {
                pair r[TNI_TILE_ROWS];
                for (int k = 0; k < TNI_TILE_ROWS; k++) {
                    const int64_t at = t + lane + TNI_LANES * k;
                    r[k] = at < l->n ? pair_at(f, x, at) : (pair){1, 0};
                }
                for (int by = 1; by < TNI_TILE_ROWS; by *= 2)
                    for (int k = 0; k < TNI_TILE_ROWS; k += 2 * by)
                        r[k] = times(r[k], r[k + by]);
                s[lane] = times(s[lane], r[0]);
            }
        for (int half = TNI_LANES / 2; half > 0; half /= 2)
            for (int lane = 0; lane < half; lane++)
                s[lane] = times(s[lane], s[lane + half]);
        out[i].f = s[0].re;
        out[l->count + i].f = s[0].im;
    }
}

static void complex_prod_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++) {
        const pair p = times((pair){a[c].f, a[w + c].f}, (pair){b[c].f, b[w + c].f});
        a[c].f = p.re;
        a[w + c].f = p.im;
    }
}

static void complex_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                           int64_t w, int64_t n)
{
    const bool wide = f->dst == TN_C128;
    const double zero = f->product ? -0.0 : 0.0; /* a sum of -0 becomes +0 */
    for (int64_t c = 0; c < n; c++, dst += step) {
        tni_store_real(dst, wide ? TN_F64 : TN_F32, s[c].f + zero);
        tni_store_real(dst + (wide ? 8 : 4), wide ? TN_F64 : TN_F32, s[w + c].f + zero);
    }
}

const tni_fold_class tni_fold_complex_prod = {
    .name = "products of complex numbers",
    .words = 2,
    .ordered = true,
    .sequence = complex_prod_sequence,
    .merge = complex_prod_merge,
    .finish = complex_finish,
};

static void complex_dot_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                                 tni_fold_scratch *scratch)
{
    const tni_tree_kernels *tree = tni_kernels_of(f->isa)->tree;
    double *re = (double *)(void *)scratch->u.sequence.terms,
           *im = (double *)(void *)scratch->u.sequence.elems[0];
    for (int64_t i = 0; i < l->count; i++) {
        for (int64_t j = 0; j < l->n; j++) {
            const pair p = times(pair_at(f, l->x[0] + i * l->step[0], j),
                                 pair_at(f, l->x[1] + i * l->step[1], j));
            re[j] = p.re;
            im[j] = p.im;
        }
        tree->sum64(&out[i].f, (const char *)re, l->n, 0, 1);
        tree->sum64(&out[l->count + i].f, (const char *)im, l->n, 0, 1);
    }
}

static void complex_dot_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < 2 * w; c++)
        a[c].f += b[c].f;
}

const tni_fold_class tni_fold_complex_dot = {
    .name = "products of complex numbers, added",
    .words = 2,
    .ordered = true,
    .sequence = complex_dot_sequence,
    .merge = complex_dot_merge,
    .finish = complex_finish,
};

/* ---- the largest or the smallest magnitude of complex numbers ---- */

/* The larger of a and b if the order of the norm is inf, the smaller if it is -inf; NaN if one
 * of them is. */
static double further(const tni_fold *f, double a, double b)
{
    if (isnan(a) || isnan(b))
        return (double)NAN;
    return (f->param > 0) == (a > b) ? a : b;
}

static void magnitude_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                               tni_fold_scratch *scratch)
{
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        int64_t none;
        const char *terms =
            tni_fold_terms(f, &x, l->n, NULL, NULL, scratch->u.sequence.terms, &none);
        out[i].f = f->param > 0 ? 0 : (double)INFINITY;
        for (int64_t j = 0; j < l->n; j++) {
            double v;
            memcpy(&v, terms + 8 * j, sizeof v);
            out[i].f = further(f, out[i].f, v);
        }
    }
}

static void magnitude_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    for (int64_t c = 0; c < w; c++)
        a[c].f = further(f, a[c].f, b[c].f);
}

static void magnitude_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                             int64_t w, int64_t n)
{
    (void)w;
    double y[TNI_FOLD_STORED];
    memcpy(y, s, (size_t)n * sizeof *y);
    tni_fold_store_reals(f, dst, step, y, n);
}

const tni_fold_class tni_fold_magnitude = {
    .name = "magnitudes",
    .words = 1,
    .sequence = magnitude_sequence,
    .merge = magnitude_merge,
    .finish = magnitude_finish,
};
