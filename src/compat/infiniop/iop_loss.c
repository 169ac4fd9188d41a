/* iop_loss.c - losses: an expression of each element or row, then optionally its mean or sum.
 *
 * Everything is computed in f32, or f64 for F64, and rounded once. */
#include "iop_program.h"

#include <math.h>

enum { NONE, MEAN, SUM };

static tn_status check_reduction(const tni_iop_program *p, double reduction)
{
    if (reduction == NONE || reduction == MEAN || reduction == SUM)
        return TN_OK;
    return tni_iop_fail(p, TN_EARG, "the reduction is out of range, expected 0, 1 or 2");
}

/* Check operand 0, which receives losses of this shape or, reduced, one number.  *loss is the
 * tensor to write the losses to: the operand itself or a temporary. */
static tn_status loss_output(tni_iop_program *p, double reduction, int ndim,
                             const int64_t *shape, tn_tensor *loss)
{
    TRY(check_reduction(p, reduction));
    if (reduction != NONE)
        return tni_iop_temp(p, loss, p->wide, ndim, shape);
    *loss = p->t[0];
    return tni_iop_shape(p, 0, ndim, shape);
}

static tn_status fold_loss(tni_iop_program *p, double reduction, const tn_tensor *loss)
{
    tn_tensor one, sum;
    if (reduction == NONE)
        return TN_OK;
    TRY(tni_iop_one(p, 0, &one));
    TRY(tni_iop_temp(p, &sum, p->wide, 0, NULL));
    TRY(tni_iop_reduce(p, reduction == MEAN ? TN_REDUCE_MEAN : TN_REDUCE_SUM, 0, &sum, loss,
                       TN_ALL_AXES, NULL));
    return tni_iop_copy(p, &one, &sum);
}

/* y, then sources of one shape; num[0] is the reduction, text uses the others. */
static tn_status plan_pointwise(tni_iop_program *p, const char *text)
{
    tn_tensor loss;
    TRY(tni_iop_alike(p, 1, (1u << p->n) - 1));
    for (int k = 2; k < p->n; k++)
        TRY(tni_iop_like(p, k, 1));
    TRY(loss_output(p, p->args->num[0], p->t[1].ndim, p->t[1].shape, &loss));
    const tn_tensor *const srcs[] = {&p->t[1], &p->t[2], &p->t[3]};
    TRY(tni_iop_expr(p, &loss, text, p->args->num, p->n - 1, srcs));
    return fold_loss(p, p->args->num[0], &loss);
}

tn_status tni_iop_plan_huber(tni_iop_program *p)
{
    if (!(p->args->num[1] > 0))
        return tni_iop_fail(p, TN_EARG, "delta is not positive");
    return plan_pointwise(p, "where(abs(@(a)-@(b)) < #1, 0.5*square(@(a)-@(b)), "
                             "#1*(abs(@(a)-@(b)) - 0.5*#1))");
}

tn_status tni_iop_plan_smooth_l1(tni_iop_program *p)
{
    if (!(p->args->num[1] >= 0))
        return tni_iop_fail(p, TN_EARG, "beta is negative");
    if (p->args->num[1] == 0)
        return plan_pointwise(p, "abs(@(a)-@(b))");
    return plan_pointwise(p, "where(abs(@(a)-@(b)) < #1, 0.5*square(@(a)-@(b))/#1, "
                             "abs(@(a)-@(b)) - 0.5*#1)");
}

tn_status tni_iop_plan_hinge(tni_iop_program *p)
{
    return plan_pointwise(p, "where(b == 1, @(a), where(b == -1, max(#1 - @(a), 0), "
                             "max(@(a), #1)))");
}

/* num: reduction, eps, full */
tn_status tni_iop_plan_gaussian(tni_iop_program *p)
{
    return plan_pointwise(
        p, p->args->num[2] != 0 ? "0.5*(log(max(@(c), #1)) + square(@(a)-@(b))/max(@(c), #1))"
                                  " + 0.91893853320467274"
                                : "0.5*(log(max(@(c), #1)) + square(@(a)-@(b))/max(@(c), #1))");
}

/* ---- BCEWithLogits: out, logits, target, weight, pos_weight ---- */

/* Operand k reshaped to broadcast to the logits: it has the extents of all of their axes or of
 * the last ones. */
static tn_status broadcast_weight(const tni_iop_program *p, int k, tn_tensor *out)
{
    const tn_tensor *x = &p->t[1], *t = &p->t[k];
    const int64_t count = tni_numel(t);
    int64_t n = 1;
    for (int i = x->ndim; i >= 0; i--) {
        if (count == n)
            return tn_reshape(out, t, x->ndim - i, x->shape + i);
        if (i > 0)
            n *= x->shape[i - 1];
    }
    return tni_iop_fail(p, TN_ESHAPE, "a weight does not match the logits");
}

tn_status tni_iop_plan_bce(tni_iop_program *p)
{
    tn_tensor loss, weight = {0}, positive = {0};
    const double reduction = p->args->num[0];
    TRY(tni_iop_alike(p, 1, 31));
    TRY(tni_iop_like(p, 2, 1));
    if (p->given[3]) {
        const tn_tensor *x = &p->t[1];
        const int64_t count = tni_numel(&p->t[3]);
        if (count != tni_numel(x) && !(x->ndim > 0 && count == x->shape[x->ndim - 1]))
            return tni_iop_fail(p, TN_ESHAPE,
                                "weight: expected the shape of the logits or of a row");
        TRY(broadcast_weight(p, 3, &weight));
    }
    if (p->given[4])
        TRY(broadcast_weight(p, 4, &positive));
    TRY(loss_output(p, reduction, p->t[1].ndim, p->t[1].shape, &loss));
    static const char *const texts[2][2] = {
        {"(1-@(b))*@(a) + (log1p(exp(-abs(@(a)))) + max(-@(a), 0))",
         "((1-@(b))*@(a) + (log1p(exp(-abs(@(a)))) + max(-@(a), 0))) * @(c)"},
        {"(1-@(b))*@(a) + (1+(@(d)-1)*@(b))*(log1p(exp(-abs(@(a)))) + max(-@(a), 0))",
         "((1-@(b))*@(a) + (1+(@(d)-1)*@(b))*(log1p(exp(-abs(@(a)))) + max(-@(a), 0))) * "
         "@(c)"}};
    TRY(IOP_EXPR(p, &loss, texts[p->given[4]][p->given[3]], NULL, &p->t[1], &p->t[2], &weight,
                 &positive));
    return fold_loss(p, reduction, &loss);
}

/* ---- classes by index ---- */

/* *there is 1 in p->wide where target is a valid class, else 0; *at is an I64 with target
 * there, else 0. */
static tn_status plan_targets(tni_iop_program *p, const tn_tensor *target, int64_t classes,
                              tn_tensor *there, tn_tensor *at)
{
    const double n = (double)classes;
    TRY(tni_iop_temp(p, there, p->wide, target->ndim, target->shape));
    TRY(tni_iop_temp(p, at, TN_I64, target->ndim, target->shape));
    TRY(IOP_EXPR(p, there, "where(logical_and(a >= 0, i64(a) < #0), @(1), @(0))", &n, target));
    return IOP_EXPR(p, at, "where(logical_and(a >= 0, i64(a) < #0), i64(a), i64(0))", &n,
                    target);
}

/* y, x, target */
tn_status tni_iop_plan_cross_entropy(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1], *target = &p->t[2];
    TRY(tni_iop_alike(p, 1, 1));
    TRY(tni_iop_index(p, 2));
    if (x->ndim == 0)
        return tni_iop_fail(p, TN_ESHAPE, "x has no axes");
    const int last = x->ndim - 1;
    TRY(tni_iop_shape(p, 2, last, x->shape));
    TRY(tni_iop_shape(p, 0, last, x->shape));
    if (x->shape[last] == 0)
        return tni_iop_fail(p, TN_ESHAPE, "input: the axis of classes has extent 0");
    tn_tensor there, at, all, own, row;
    TRY(plan_targets(p, target, x->shape[last], &there, &at));
    TRY(tni_iop_temp(p, &all, p->wide, last, x->shape));
    TRY(tni_iop_temp(p, &own, x->dtype, last, x->shape));
    TRY(tni_iop_reduce(p, TN_REDUCE_LOGSUMEXP, 0, &all, x, 1, &last));
    TRY(tn_unsqueeze(&row, &own, last));
    TRY(tn_unsqueeze(&at, &at, last));
    TRY(IOP_CALL(p, tni_iop_take_along, 0, last, 0, &row, x, &at));
    return IOP_EXPR(p, &p->t[0], "where(c == 1, a - @(b), 0)", NULL, &all, &own, &there);
}

/* output, input, target, weight; num: reduction, p, margin */
tn_status tni_iop_plan_multi_margin(tni_iop_program *p)
{
    const tn_tensor *x = &p->t[1], *target = &p->t[2];
    const double *num = p->args->num;
    TRY(tni_iop_alike(p, 1, 1 | 8));
    TRY(tni_iop_rank(p, 1, 2));
    TRY(tni_iop_shape(p, 2, 1, x->shape));
    TRY(tni_iop_is(p, 2, TN_I64));
    if (p->given[3])
        TRY(tni_iop_shape(p, 3, 1, &x->shape[1]));
    if (num[1] != 1 && num[1] != 2)
        return tni_iop_fail(p, TN_EARG, "p: expected 1 or 2");
    if (x->shape[1] == 0)
        return tni_iop_fail(p, TN_ESHAPE, "input: the axis of classes has extent 0");
    tn_tensor loss, there, at, own, column, each, sum, weight, class;
    void *classes;
    TRY(loss_output(p, num[0], 1, x->shape, &loss));
    TRY(plan_targets(p, target, x->shape[1], &there, &at));
    TRY(tni_iop_temp(p, &own, x->dtype, 2, (const int64_t[]){x->shape[0], 1}));
    TRY(tni_iop_temp(p, &each, p->wide, 2, x->shape));
    TRY(tni_iop_temp(p, &sum, p->wide, 1, x->shape));
    TRY(tni_iop_temp(p, &weight, x->dtype, 1, x->shape));
    TRY(tni_iop_constant(p, &class, TN_I64, 1, &x->shape[1], &classes));
    for (int64_t c = 0; c < x->shape[1]; c++)
        ((int64_t *)classes)[c] = c;
    TRY(tn_unsqueeze(&column, &at, 1));
    TRY(IOP_CALL(p, tni_iop_take_along, 0, 1, 0, &own, x, &column));
    TRY(IOP_EXPR(p, &each,
                 num[1] == 1 ? "where(c == d, 0, max(#2 - @(b) + @(a), 0))"
                             : "where(c == d, 0, square(max(#2 - @(b) + @(a), 0)))",
                 num, x, &own, &column, &class));
    TRY(tni_iop_reduce(p, TN_REDUCE_SUM, 0, &sum, &each, 1, (const int[]){1}));
    const double n = (double)x->shape[1];
    if (p->given[3]) {
        TRY(IOP_CALL(p, tni_iop_take, 0, 0, 0, &weight, &p->t[3], &at));
        TRY(IOP_EXPR(p, &loss, "where(b == 1, a / #0 * @(c), 0)", &n, &sum, &there, &weight));
    } else {
        TRY(IOP_EXPR(p, &loss, "where(b == 1, a / #0, 0)", &n, &sum, &there));
    }
    return fold_loss(p, num[0], &loss);
}

/* ---- triplets: output, anchor, positive, negative ---- */

typedef struct triplet {
    int rows, naxes; /* number of row axes; number of summed axes */
    int axes[TN_MAX_NDIM];
    const char *power, *root; /* the summed expression; the expression of the sum */
    double num[2];            /* eps, p */
} triplet;

static tn_status plan_distance(tni_iop_program *p, const triplet *t, const tn_tensor *each,
                               tn_tensor *d, int a, int b)
{
    TRY(tni_iop_temp(p, d, p->wide, t->rows, p->t[1].shape));
    TRY(IOP_EXPR(p, each, t->power, t->num, &p->t[a], &p->t[b]));
    TRY(tni_iop_reduce(p, TN_REDUCE_SUM, 0, d, each, t->naxes, t->axes));
    return IOP_EXPR(p, d, t->root, t->num, d);
}

/* num: reduction, margin, swap */
static tn_status plan_triplet(tni_iop_program *p, const triplet *t, const tn_tensor *loss)
{
    tn_tensor each, far, near, other;
    TRY(tni_iop_temp(p, &each, p->wide, p->t[1].ndim, p->t[1].shape));
    TRY(plan_distance(p, t, &each, &near, 1, 2));
    TRY(plan_distance(p, t, &each, &far, 1, 3));
    if (p->args->num[2] != 0) {
        TRY(plan_distance(p, t, &each, &other, 2, 3));
        TRY(IOP_EXPR(p, &far, "min(a, b)", NULL, &far, &other));
    }
    TRY(IOP_EXPR(p, loss, "max(a - b + #1, 0)", p->args->num, &near, &far));
    return fold_loss(p, p->args->num[0], loss);
}

static tn_status check_triplet(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 1, 15));
    TRY(tni_iop_like(p, 2, 1));
    TRY(tni_iop_like(p, 3, 1));
    if (p->t[1].ndim == 0)
        return tni_iop_fail(p, TN_ESHAPE, "the anchor has no axis");
    return check_reduction(p, p->args->num[0]);
}

/* num: reduction, margin, swap, p, eps */
tn_status tni_iop_plan_triplet(tni_iop_program *p)
{
    TRY(check_triplet(p));
    const double order = p->args->num[3];
    if (!(order > 0))
        return tni_iop_fail(p, TN_EARG, "p is not positive");
    triplet t = {.rows = 1, .num = {p->args->num[4], order}};
    for (int i = 1; i < p->t[1].ndim; i++)
        t.axes[t.naxes++] = i;
    t.power = order == 1   ? "abs(@(a)-@(b)+#0)"
              : order == 2 ? "square(@(a)-@(b)+#0)"
                           : "pow(abs(@(a)-@(b)+#0), #1)";
    t.root = order == 1 ? "a" : order == 2 ? "sqrt(a)" : "pow(a, 1/#1)";
    tn_tensor loss;
    TRY(loss_output(p, p->args->num[0], 1, p->t[1].shape, &loss));
    return plan_triplet(p, &t, &loss);
}

/* num: reduction, margin, swap.  Without a reduction the output has the shape of the rows; if
 * it has that of the anchor, all elements of a row receive its loss. */
tn_status tni_iop_plan_triplet_distance(tni_iop_program *p)
{
    TRY(check_triplet(p));
    const tn_tensor *x = &p->t[1], *y = &p->t[0];
    const int last = x->ndim - 1;
    const triplet t = {.rows = last,
                       .naxes = 1,
                       .axes = {last},
                       .power = "square(@(a)-@(b))",
                       .root = "sqrt(a + #0)",
                       .num = {1e-6}};
    tn_tensor loss;
    if (p->args->num[0] != NONE || y->ndim != x->ndim) {
        TRY(loss_output(p, p->args->num[0], last, x->shape, &loss));
        return plan_triplet(p, &t, &loss);
    }
    TRY(tni_iop_like(p, 0, 1));
    TRY(tni_iop_temp(p, &loss, p->wide, last, x->shape));
    TRY(plan_triplet(p, &t, &loss));
    TRY(tn_unsqueeze(&loss, &loss, last));
    TRY(tn_broadcast_to(&loss, &loss, x->ndim, x->shape));
    return tni_iop_copy(p, y, &loss);
}
