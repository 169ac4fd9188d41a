/* fold_plan.c - which class and which way a reduction takes. */
#include <math.h>

#include "fold_run.h"

/* ---- the class ---- */

static bool is_kind(tn_dtype t, tni_kind kind)
{
    return tni_dtypes[t].kind == (int)kind;
}

static int64_t greatest(int64_t width)
{
    return width == 8 ? INT64_MAX : ((int64_t)1 << (8 * width - 1)) - 1;
}

/* Keys whose largest is the smallest or the largest element; skip: NaN is below all others. */
static void use_extremes(tni_fold *f, bool smallest, bool magnitude, bool indices)
{
    const int64_t most = greatest(f->width);
    f->class = indices ? &tni_fold_arg : &tni_fold_key;
    f->rule = (tni_key_rule){
        .kind = f->src == TN_BOOL            ? TNI_KEY_BOOL
                : is_kind(f->src, TNI_FLOAT) ? TNI_KEY_FLOAT
                                             : TNI_KEY_INTEGER,
        .mask = magnitude ? most : -1,
        .zero = indices ? -1 : -most - 1, /* the other is no number's key */
        .flip = smallest ? -1 : 0,
        .inf = tni_floats[f->src].largest,
        .nan = f->skip ? -most - 1 : most,
    };
    if (is_kind(f->src, TNI_UNSIGNED))
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
    const bool complex = is_kind(f->src, TNI_COMPLEX);
    const double p = f->param;
    if (isinf(p) && !complex) {
        use_extremes(f, p < 0, true, false);
    } else if (isinf(p)) {
        f->class = &tni_fold_extreme;
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
    f->class = is_kind(f->src, TNI_COMPLEX) ? &tni_fold_complex_moments : &tni_fold_moments;
    f->term = TNI_TERM_SAME;
    f->wide = true;
}

static void use_count(tni_fold *f)
{
    f->class = f->src == TN_C128 ? &tni_fold_count_pairs : &tni_fold_count;
    f->rule.mask = -1;
    if (is_kind(f->src, TNI_FLOAT))
        f->rule.mask = greatest(f->width);
    else if (f->src == TN_C64)
        f->rule.mask = 0x7fffffff7fffffff;
    else if (f->src == TN_C128)
        f->rule.mask = INT64_MAX;
}

/* Sums, products and means of integers. */
static void use_integers(tni_fold *f, tni_fold_term term)
{
    /* up to 2^31 elements of 32 bits have a sum of 64 */
    const bool wide = f->mean && (f->width == 8 || f->count > INT64_C(1) << 31);
    f->class = wide ? &tni_fold_wide : &tni_fold_wrap;
    f->term = term;
}

static bool is_integer(tn_dtype t)
{
    return !is_kind(t, TNI_FLOAT) && !is_kind(t, TNI_COMPLEX);
}

static void use_tree(tni_fold *f)
{
    if (is_integer(f->src))
        use_integers(f, TNI_TERM_SAME);
    else if (!f->product)
        use_terms(f, f->skip ? TNI_TERM_NUMBERS : TNI_TERM_SAME);
    else if (is_kind(f->src, TNI_COMPLEX))
        f->class = &tni_fold_complex_prod;
    else
        use_terms(f, f->skip ? TNI_TERM_NUMBERS_WIDEN : TNI_TERM_WIDEN);
}

static void use_squares(tni_fold *f)
{
    if (is_integer(f->src))
        use_integers(f, TNI_TERM_SQUARE);
    else
        use_terms(f, is_kind(f->src, TNI_COMPLEX) ? TNI_TERM_COMPLEX_SQUARE : TNI_TERM_SQUARE);
}

static void use_logsumexp(tni_fold *f)
{
    f->class = &tni_fold_logsumexp;
    f->term = TNI_TERM_WIDEN;
}

static void use_keys(tni_fold *f)
{
    const int facts = tni_reductions[f->op].facts;
    use_extremes(f, (facts & TNI_FOLD_LEAST) != 0, false, (facts & TNI_FOLD_INDEX) != 0);
}

const tni_reduce_row tni_reductions[TNI_REDUCTIONS] = {
#define REDUCTION(ENUM, NAME, PARAMS, TAKES, RESULT, NEEDS, USE, PARAM, FACTS)                 \
    [TN_REDUCE_##ENUM] = {#NAME,     PARAMS, TNI_TAKES_##TAKES, TNI_RESULT_##RESULT, NEEDS,    \
                          use_##USE, PARAM,  TNI_FOLD_##FACTS},
#include "core/reductions.def"
#undef REDUCTION
};

/* ---- the way ---- */

int64_t tni_fold_levels(const tni_fold *f)
{
    int64_t levels = 1;
    for (int64_t blocks = (f->count - 1) / TNI_TREE_BLOCK + 1; blocks > 1; blocks /= 2)
        levels++;
    return f->class->chains && levels > 2 ? 2 : levels;
}

enum {
    SHORT = 16,          /* shorter sequences are transposed into columns; measured on Zen 4 */
    NARROW = 64,         /* fewer columns than these are joined or transposed */
    SIDE = 8,            /* fewer columns of one sequence than these are gathered one by one */
    PACKED_BYTES = 32768 /* as large as the L1 of Zen 4; other sizes were not measured */
};

/* As many columns as accumulators and waiting states have space for. */
static int64_t widest_strip(const tni_fold *f)
{
    const int64_t states = f->class->words * tni_fold_levels(f);
    const int64_t rows = f->nfold == 1 ? 0 : TNI_TREE_BLOCK; /* addresses behind all */
    const int64_t by_acc = (TNI_FOLD_SPACE - TNI_FOLD_STACK - rows) / f->class->acc;
    int64_t w = (TNI_FOLD_SPACE - rows) / (states + f->class->acc),
            most = TNI_FOLD_ROW / f->width;
    w = w < by_acc ? w : by_acc;
    if (f->joined) /* every lane of every column, in words of its own */
        w = most = NARROW;
    if (f->class == &tni_fold_ends && most > TNI_FOLD_WIDTH)
        most = TNI_FOLD_WIDTH;
    w = w < most ? w : most;
    return w > 16 ? w / 16 * 16 : w;
}

/* Whether sequences are added one after the other by a kernel for their very length. */
static bool few_elements(const tni_fold *f, const tni_fold_axis *map)
{
    return f->class == &tni_fold_tree && f->src == TN_F32 && f->term == TNI_TERM_SAME &&
           !f->wide && f->dense && f->count <= 8 && map->src[0] == f->count * f->width;
}

/* Buffer and states, which stay in the L1 with what is read. */
static int64_t packed_strip(const tni_fold *f)
{
    const int64_t each = f->count * f->width + (int64_t)sizeof(tni_word) * f->class->words;
    int64_t w = PACKED_BYTES / each;
    const int64_t widest = widest_strip(f);
    w = w < widest ? w : widest;
    w = w < TNI_FOLD_PACKED_WIDTH ? w : TNI_FOLD_PACKED_WIDTH;
    return w > 64 ? w / 64 * 64 : w > 16 ? w / 16 * 16 : w;
}

/* Whether sequences of this length are transposed; those of order-free classes have kernels for
 * columns of a buffer. */
static bool short_sequences(const tni_fold *f)
{
    return f->count < SHORT || (f->count < TNI_SIDE && !f->class->ordered) ||
           (f->count < TNI_SIDE && f->class == &tni_fold_arg) ||
           (!f->dense && f->count < NARROW);
}

/* One sequence down columns that lie side by side in memory. */
static bool runs_down(const tni_fold *f)
{
    return f->nsrc == 1 && f->nfold >= 2 && f->class->ordered &&
           f->fold[f->nfold - 2].src[0] == f->width && f->fold[f->nfold - 2].n >= SIDE;
}

static bool blocks_stand(const tni_fold *f)
{
    if (f->nfold > 2 || f->fold[1].n % TNI_TREE_BLOCK)
        return false;
    return tni_fold_standing_strip(f) >= 4 * NARROW;
}

static void choose_way(tni_fold *f)
{
    const tni_fold_axis *map = f->nmap ? &f->map[f->nmap - 1] : NULL;
    const tni_fold_axis *fold = f->nfold ? &f->fold[f->nfold - 1] : NULL;
    const bool many = f->class->columns && f->nsrc == 1 && map && f->count > 0;
    const bool row_dense = map && map->src[0] == f->width;
    f->fetch = f->outputs > tni_cache_sizes()->l2 / f->width / (f->count ? f->count : 1);
    f->way = TNI_FOLD_LINE;
    f->why =
        f->dense ? "a sequence is dense in memory" : "a sequence is gathered block by block";
    f->joined = many && row_dense && map->n < NARROW && f->nfold == 1 &&
                fold->src[0] == map->n * f->width && f->count >= 2 * TNI_LANES;
    f->strip = f->class->columns ? widest_strip(f) : 1;
    if (many && row_dense && (f->joined || map->n >= NARROW)) {
        f->way = TNI_FOLD_COLUMNS;
        f->why = f->joined ? "narrow rows are dense: sixteen are one"
                           : "results are dense in memory";
    } else if (many && f->outputs >= NARROW && !few_elements(f, map) && short_sequences(f)) {
        f->way = TNI_FOLD_PACKED;
        f->why = "short sequences are transposed";
        f->joined = false;
        f->strip = packed_strip(f);
    } else if (f->class->columns && runs_down(f) && f->fold[0].n >= NARROW && blocks_stand(f)) {
        f->way = TNI_FOLD_STANDING;
        f->why = "blocks of the sequence stand side by side";
    } else if (runs_down(f) && fold->n > TNI_TREE_BLOCK) {
        f->way = TNI_FOLD_PANELS;
        f->why = "columns of the sequence are transposed, some at a time";
        /* tiles of a column are rows of sixteen */
        f->joined = f->class == &tni_fold_tree || (f->class == &tni_fold_moments && !f->skip);
    }
}

/* ---- plans ---- */

static void plan_operands(tni_fold *f, const tn_tensor *dst, const tn_tensor *const *srcs,
                          uint64_t folded, bool as_parts)
{
    f->isa = tni_isa_level();
    f->shift[0] = f->shift[1] = f->shift[2] = 0;
    tni_reductions[f->op].use(f);
    tni_fold_axes(f, dst, srcs, folded, as_parts);
    choose_way(f);
}

void tni_fold_plan(tni_fold *f, tn_reduction op, const double *params, const tn_tensor *dst,
                   const tn_tensor *src, uint64_t folded)
{
    const tni_reduce_row *row = &tni_reductions[op];
    /* sums of complex numbers are those of their parts, an axis of two */
    const bool as_parts =
        is_kind(src->dtype, TNI_COMPLEX) && (op == TN_REDUCE_SUM || op == TN_REDUCE_MEAN);
    f->op = op;
    f->src = src->dtype;
    f->dst = dst->dtype;
    if (as_parts) {
        f->src = tni_real_of(src->dtype);
        f->dst = tni_real_of(dst->dtype);
    }
    f->width = tni_width(f->src);
    f->elem = tni_real_of(f->src) == TN_F32 ? TN_F32 : TN_F64;
    f->nsrc = 1;
    f->skip = row->facts & TNI_FOLD_SKIP;
    f->mean = row->facts & TNI_FOLD_MEAN;
    f->product = row->facts & TNI_FOLD_PRODUCT;
    f->wide = f->joined = false;
    f->plane = f->first = 0;
    f->term = TNI_TERM_SAME;
    f->param = params ? params[0] : row->param;
    f->count = 1;
    for (int i = 0; i < src->ndim; i++)
        if (folded >> i & 1)
            f->count = tni_mul_saturated(f->count, src->shape[i] ? src->shape[i] : 1);
    plan_operands(f, dst, &src, folded, as_parts);
}

void tni_fold_plan_dot(tni_fold *f, const tn_tensor *dst, const tn_tensor *a,
                       const tn_tensor *b, uint64_t folded)
{
    tni_fold_plan(f, TN_REDUCE_SUM, NULL, dst, a, folded);
    f->src = a->dtype;
    f->dst = dst->dtype;
    f->width = tni_width(f->src);
    f->nsrc = 2;
    f->shift[0] = f->shift[1] = f->shift[2] = 0;
    if (is_kind(f->src, TNI_COMPLEX)) {
        f->class = &tni_fold_complex_dot;
    } else if (is_kind(f->src, TNI_FLOAT)) {
        f->elem = f->src == TN_F64 ? TN_F64 : TN_F32;
        use_terms(f, TNI_TERM_MUL);
    }
    tni_fold_axes(f, dst, (const tn_tensor *const[]){a, b}, folded, false);
    choose_way(f);
}

void tni_fold_plan_minmax(tni_fold *f, const tn_tensor *low, const tn_tensor *high,
                          const tn_tensor *src, uint64_t folded)
{
    tni_fold_plan(f, TN_REDUCE_MIN, NULL, low, src, folded);
    f->class = &tni_fold_ends;
    f->high = (int64_t)((uintptr_t)high->data - (uintptr_t)low->data);
    choose_way(f);
}

void tni_fold_plan_run(tni_fold *f, const tni_fold *whole, const tn_tensor *dst, int64_t plane,
                       const tn_tensor *piece, uint64_t folded, int64_t first)
{
    *f = *whole; /* the class depends on the whole count */
    f->plane = plane;
    f->first = first;
    f->shift[0] = f->shift[1] = f->shift[2] = 0;
    tni_fold_axes(f, dst, &piece, folded, false);
    choose_way(f);
}
