/* fold_plan.c - planning reductions: the class and the term of each, and the functions that
 * make plans. */
#include <math.h>

#include "fold_run.h"

/* ---- the class ---- */

static bool is_integer_or_bool(tn_dtype t)
{
    return tni_is_integer(t) || t == TN_BOOL;
}

/* The greatest signed integer of `width` bytes. */
static int64_t greatest(int64_t width)
{
    return width == 8 ? INT64_MAX : ((int64_t)1 << (8 * width - 1)) - 1;
}

/* Reductions to the element with the largest key, or to the index of that element.  NaN has the
 * largest key, or the least if NaNs are skipped. */
static void use_largest(tni_fold *f, bool smallest, bool magnitude, bool indices)
{
    const int64_t most = greatest(f->width);
    f->class = indices ? &tni_fold_arg : &tni_fold_key;
    f->rule = (tni_key_rule){
        .kind = f->src == TN_BOOL      ? TNI_KEY_BOOL
                : tni_is_float(f->src) ? TNI_KEY_FLOAT
                                       : TNI_KEY_INTEGER,
        .mask = magnitude ? most : -1,
        /* -1 is the key of -0, which argmin and argmax make that of +0; no number has
         * -most - 1 */
        .zero = indices ? -1 : -most - 1,
        .flip = smallest ? -1 : 0,
        .inf = tni_floats[f->src].largest,
        .nan = f->skip ? -most - 1 : most,
    };
    if (tni_kind_of(f->src) == TNI_UNSIGNED)
        f->rule.flip ^= -most - 1;
}

static void use_terms(tni_fold *f, tni_fold_term term)
{
    f->class = f->skip && f->mean ? &tni_fold_tree_counted : &tni_fold_tree;
    f->term = term;
    f->wide = f->elem == TN_F64 || !(term == TNI_TERM_SAME || term == TNI_TERM_ABS ||
                                     term == TNI_TERM_NONZERO || term == TNI_TERM_NUMBERS);
}

static void use_norm(tni_fold *f)
{
    const bool complex = tni_is_complex(f->src);
    const double p = f->param;
    if (isinf(p) && !complex) {
        use_largest(f, p < 0, true, false);
    } else if (isinf(p)) {
        f->class = &tni_fold_magnitude;
        f->term = TNI_TERM_COMPLEX_ABS;
    } else if (complex) {
        f->elem = TN_F64;
        use_terms(f, p == 2   ? TNI_TERM_COMPLEX_SQUARE
                     : p == 1 ? TNI_TERM_COMPLEX_ABS
                              : TNI_TERM_COMPLEX_POWER);
    } else {
        use_terms(f, p == 0   ? TNI_TERM_NONZERO
                     : p == 1 ? TNI_TERM_ABS
                     : p == 2 ? TNI_TERM_SQUARE
                              : TNI_TERM_POWER);
    }
}

static void use_moments(tni_fold *f)
{
    f->class = tni_is_complex(f->src)                        ? &tni_fold_complex_moments
               : is_integer_or_bool(f->src) && f->width <= 2 ? &tni_fold_exact_moments
                                                             : &tni_fold_moments;
    f->term = TNI_TERM_SAME;
    f->wide = true;
}

static void use_count(tni_fold *f)
{
    f->class = f->src == TN_C128 ? &tni_fold_count_pairs : &tni_fold_count;
    f->rule.mask = -1;
    if (tni_is_float(f->src))
        f->rule.mask = greatest(f->width);
    else if (f->src == TN_C64)
        f->rule.mask = 0x7fffffff7fffffff;
    else if (f->src == TN_C128)
        f->rule.mask = INT64_MAX;
}

/* Sums, products, sums of squares and means of integers, and their dot products. */
static void use_integers(tni_fold *f, tni_fold_term term)
{
    /* the sum of up to 2^31 elements of at most 32 bits fits 64 bits */
    const bool wide = f->mean && (f->width == 8 || f->count > INT64_C(1) << 31);
    f->class = wide ? &tni_fold_wide : &tni_fold_wrap;
    f->term = term;
}

static void use_tree(tni_fold *f)
{
    if (is_integer_or_bool(f->src))
        use_integers(f, TNI_TERM_SAME);
    else if (!f->product)
        use_terms(f, f->skip ? TNI_TERM_NUMBERS : TNI_TERM_SAME);
    else if (tni_is_complex(f->src))
        f->class = &tni_fold_complex_prod;
    else
        use_terms(f, f->skip ? TNI_TERM_NUMBERS_WIDEN : TNI_TERM_WIDEN);
}

static void use_squares(tni_fold *f)
{
    if (is_integer_or_bool(f->src))
        use_integers(f, TNI_TERM_SQUARE);
    else
        use_terms(f, tni_is_complex(f->src) ? TNI_TERM_COMPLEX_SQUARE : TNI_TERM_SQUARE);
}

static void use_logsumexp(tni_fold *f)
{
    f->class = &tni_fold_logsumexp;
    f->term = TNI_TERM_WIDEN;
}

static void use_keys(tni_fold *f)
{
    const int facts = tni_reductions[f->op].facts;
    use_largest(f, (facts & TNI_FOLD_LEAST) != 0, false, (facts & TNI_FOLD_INDEX) != 0);
}

const tni_reduce_row tni_reductions[TNI_REDUCTIONS] = {
#define REDUCTION(ENUM, NAME, PARAMS, TAKES, RESULT, NEEDS, USE, PARAM, FACTS)                 \
    [TN_REDUCE_##ENUM] = {#NAME,     PARAMS, TNI_TAKES_##TAKES, TNI_RESULT_##RESULT, NEEDS,    \
                          use_##USE, PARAM,  TNI_FOLD_##FACTS},
#include "core/reductions.def"
#undef REDUCTION
};

/* Sums of products: tn_dot. */
static void use_products(tni_fold *f)
{
    if (tni_is_complex(f->src))
        f->class = &tni_fold_complex_dot;
    else if (tni_is_float(f->src))
        use_terms(f, TNI_TERM_MUL);
    else
        use_integers(f, TNI_TERM_SAME);
}

/* tn_minmax: the keys of min, with those of max as second words. */
static void use_ends(tni_fold *f)
{
    use_keys(f);
    f->class = &tni_fold_ends;
}

/* ---- plans ---- */

/* Set the axes of f and choose its way. */
static void plan_axes(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                      uint64_t folded, bool as_parts)
{
    f->shift[0] = f->shift[1] = f->shift[2] = 0;
    tni_fold_axes(f, dst, srcs, folded, as_parts);
    tni_fold_choose(f);
}

/* Set what f computes; `use` sets its class.  as_parts: a complex number is two reals. */
static void plan_class(tni_fold *f, tn_reduction op, void (*use)(tni_fold *f),
                       const double *params, const tn_tensor *dst, const tn_tensor *src,
                       uint64_t folded, bool as_parts)
{
    const tni_reduce_row *row = &tni_reductions[op];
    f->op = op;
    f->src = as_parts ? tni_real_of(src->dtype) : src->dtype;
    f->dst = as_parts ? tni_real_of(dst->dtype) : dst->dtype;
    f->width = tni_width(f->src);
    f->elem = tni_real_of(f->src) == TN_F32 ? TN_F32 : TN_F64;
    f->skip = row->facts & TNI_FOLD_SKIP;
    f->mean = row->facts & TNI_FOLD_MEAN;
    f->product = row->facts & TNI_FOLD_PRODUCT;
    f->wide = false;
    f->plane = f->first = 0;
    f->term = TNI_TERM_SAME;
    f->param = params ? params[0] : row->param;
    f->count = 1;
    for (int i = 0; i < src->ndim; i++)
        if (folded >> i & 1)
            f->count = tni_mul_saturated(f->count, src->shape[i] ? src->shape[i] : 1);
    f->isa = tni_isa_level();
    use(f);
}

void tni_fold_plan(tni_fold *f, tn_reduction op, const double *params, const tn_tensor *dst,
                   const tn_tensor *src, uint64_t folded)
{
    /* a sum of complex numbers sums real and imaginary parts, which are a map axis of two */
    const bool as_parts =
        tni_is_complex(src->dtype) && (op == TN_REDUCE_SUM || op == TN_REDUCE_MEAN);
    f->nsrc = 1;
    plan_class(f, op, tni_reductions[op].use, params, dst, src, folded, as_parts);
    plan_axes(f, dst, &src, folded, as_parts);
}

void tni_fold_plan_dot(tni_fold *f, const tn_tensor *dst, const tn_tensor *a,
                       const tn_tensor *b, uint64_t folded)
{
    f->nsrc = 2;
    plan_class(f, TN_REDUCE_SUM, use_products, NULL, dst, a, folded, false);
    plan_axes(f, dst, (const tn_tensor *const[]){a, b}, folded, false);
}

void tni_fold_plan_minmax(tni_fold *f, const tn_tensor *low, const tn_tensor *high,
                          const tn_tensor *src, uint64_t folded)
{
    f->nsrc = 1;
    f->high = (int64_t)((uintptr_t)high->data - (uintptr_t)low->data);
    plan_class(f, TN_REDUCE_MIN, use_ends, NULL, low, src, folded, false);
    plan_axes(f, low, &src, folded, false);
}

void tni_fold_plan_run(tni_fold *f, const tni_fold *whole, const tn_tensor *dst, int64_t plane,
                       const tn_tensor *piece, uint64_t folded, int64_t first)
{
    *f = *whole; /* the class depends on the whole count */
    f->plane = plane;
    f->first = first;
    plan_axes(f, dst, &piece, folded, false);
}
