/* fold_terms.c - computes the terms that the tree adds from elements of any dtype.
 *
 * Narrow floats are converted to f32 first, integers to f64; complex numbers are read
 * directly. */
#include <math.h>

#include "plan/plan.h"

const char *tni_fold_elems(const tni_fold *f, const char *x, int64_t n, char *buf)
{
    if (f->elem == f->src || tni_is_complex(f->src))
        return x;
    const tni_cast cast = tni_cast_chain(f->isa, f->src, f->elem);
    cast.fn[0](buf, x, n, 0, false); /* these casts have one step */
    return buf;
}

static void powers(char *d, int64_t n, double p)
{
    double *x = (double *)(void *)d;
    for (int64_t i = 0; i < n; i++)
        x[i] = pow(x[i], p);
}

static void complex_terms(const tni_fold *f, const char *x, int64_t n, char *d)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    const bool wide = f->src == TN_C128;
    if (f->term == TNI_TERM_COMPLEX_SQUARE)
        k->complex_square(d, x, n, wide);
    else
        k->complex_abs(d, x, n, wide);
    if (f->term == TNI_TERM_COMPLEX_POWER && f->param == 0)
        k->nonzero64(d, d, n);
    else if (f->term == TNI_TERM_COMPLEX_POWER)
        powers(d, n, f->param);
}

/* |x|^p in f64. */
static void power_terms(const tni_fold *f, const char *x, int64_t n, char *d)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    if (f->elem == TN_F32)
        tni_cast_chain(f->isa, TN_F32, TN_F64).fn[0](d, x, n, 0, false);
    k->abs64(d, f->elem == TN_F32 ? d : x, n);
    powers(d, n, f->param);
}

/* Replace NaN by the identity, -0 for sums and 1 for products; returns how many are no NaN. */
static int64_t number_terms(const tni_fold *f, const char *x, int64_t n, char *d)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    if (f->term == TNI_TERM_NUMBERS)
        return (f->elem == TN_F64 ? k->numbers64 : k->numbers32)(d, x, n, -0.0);
    if (f->elem == TN_F32)
        tni_cast_chain(f->isa, TN_F32, TN_F64).fn[0](d, x, n, 0, false);
    return k->numbers64(d, f->elem == TN_F32 ? d : x, n, 1.0);
}

const char *tni_fold_terms(const tni_fold *f, const char *const *x, int64_t n, char *elems,
                           char *more, char *terms, int64_t *numbers)
{
    const tni_term_kernels *k = tni_kernels_of(f->isa)->term;
    const char *e = tni_fold_elems(f, x[0], n, elems);
    const bool f64 = f->elem == TN_F64;
    switch (f->term) {
    case TNI_TERM_SAME:
        return e;
    case TNI_TERM_WIDEN:
        if (f64)
            return e;
        tni_cast_chain(f->isa, TN_F32, TN_F64).fn[0](terms, e, n, 0, false);
        break;
    case TNI_TERM_ABS:
        (f64 ? k->abs64 : k->abs32)(terms, e, n);
        break;
    case TNI_TERM_SQUARE:
        (f64 ? k->square64 : k->square32)(terms, e, n);
        break;
    case TNI_TERM_NONZERO:
        (f64 ? k->nonzero64 : k->nonzero32)(terms, e, n);
        break;
    case TNI_TERM_NUMBERS:
    case TNI_TERM_NUMBERS_WIDEN:
        *numbers = number_terms(f, e, n, terms);
        break;
    case TNI_TERM_POWER:
        power_terms(f, e, n, terms);
        break;
    case TNI_TERM_MUL:
        (f64 ? k->mul64 : k->mul32)(terms, e, tni_fold_elems(f, x[1], n, more), n);
        break;
    default:
        complex_terms(f, x[0], n, terms);
    }
    return terms;
}
