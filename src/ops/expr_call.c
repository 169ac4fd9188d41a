/* expr_call.c - function calls in expressions: ops, casts, and reductions with their axes. */
#include "expr_parse.h"

#include <stdio.h>

#include <tenon/reduce.h>

/* The functions that with one argument are reductions; with two, min and max are ops. */
static const struct {
    const char *name;
    tn_reduction op;
} reductions[] = {{"sum", TN_REDUCE_SUM}, {"prod", TN_REDUCE_PROD}, {"mean", TN_REDUCE_MEAN},
                  {"min", TN_REDUCE_MIN}, {"max", TN_REDUCE_MAX},   {"any", TN_REDUCE_ANY},
                  {"all", TN_REDUCE_ALL}};

static int reduction_of(const char *s, int size)
{
    int found = -1;
    for (int i = 0; i < COUNT(reductions); i++)
        if (tni_expr_is_word(s, size, reductions[i].name))
            found = (int)reductions[i].op;
    return found;
}

bool tni_expr_known_function(const char *s, int size, int *op, int *dtype)
{
    *op = *dtype = -1;
    for (int i = 0; i < TNI_OPS; i++)
        if (tni_expr_is_word(s, size, tni_ops[i].name))
            *op = i;
    for (int i = 1; i < TNI_DTYPES; i++)
        if (tni_dtypes[i].width && tni_expr_is_word(s, size, tni_dtypes[i].name))
            *dtype = i;
    return *op >= 0 || *dtype >= 0 || reduction_of(s, size) >= 0;
}

static tn_status fail_at(const tni_expr_parser *p, int column, const char *what)
{
    return tni_fail_at(TN_EFORMAT, column, "%s: %s at column %d", p->call, what, column);
}

static tn_status read_axis(tni_expr_parser *p, tni_expr_item *item)
{
    int64_t axis;
    int digits;
    tni_expr_next_token(p);
    const bool minus = p->text[p->pos] == '-';
    p->pos += minus;
    tni_expr_next_token(p);
    tni_expr_read_digits(p, 10, &axis, &digits);
    if (!digits || item->naxes == TN_MAX_NDIM || axis > TN_MAX_NDIM)
        return tni_expr_fail_token(p);
    item->axes[item->naxes++] = (int)(minus ? -axis : axis);
    tni_expr_next_token(p);
    return TN_OK;
}

/* Parse axis = integer | (integer, …); the position is after the comma. */
static tn_status read_axes(tni_expr_parser *p, tni_expr_item *item)
{
    p->pos += 4;
    tni_expr_next_token(p);
    if (p->text[p->pos] != '=')
        return tni_expr_fail_token(p);
    p->pos++;
    tni_expr_next_token(p);
    item->naxes = 0;
    if (p->text[p->pos] != '(')
        return read_axis(p, item);
    do {
        p->pos++;
        tni_expr_next_token(p);
        if (p->text[p->pos] == ')' && item->naxes > 0)
            break;
        TRY(read_axis(p, item));
    } while (p->text[p->pos] == ',');
    if (p->text[p->pos] != ')')
        return tni_expr_fail_token(p);
    p->pos++;
    tni_expr_next_token(p);
    return TN_OK;
}

static tn_status finish_reduction(tni_expr_parser *p, const tni_expr_waiting *w,
                                  tni_expr_item *item)
{
    item->kind = TNI_EXPR_REDUCE;
    item->what = reduction_of(p->text + w->column - 1, w->size);
    item->column = w->column;
    item->name = p->text + w->column - 1;
    item->name_size = w->size;
    item->nargs = 1;
    return tni_expr_hand_on(p, item, 1, 1);
}

static tn_status next_argument(const tni_expr_parser *p, tni_expr_waiting *w)
{
    if (++w->args < TNI_EXPR_ARGS)
        return TN_OK;
    return tni_fail_at(TN_EFORMAT, w->column,
                       "%s: %.*s takes at most %d arguments at column %d", p->call, w->size,
                       p->text + w->column - 1, TNI_EXPR_ARGS, w->column);
}

tn_status tni_expr_read_comma(tni_expr_parser *p, bool *operand)
{
    tni_expr_waiting *w = &p->stack[p->top - 1];
    const char *s = p->text + w->column - 1;
    p->pos++;
    tni_expr_next_token(p);
    if (!tni_expr_is_word(p->text + p->pos, tni_expr_name_size(p->text + p->pos), "axis") ||
        w->args || reduction_of(s, w->size) < 0)
        return next_argument(p, w);
    tni_expr_item item = {0};
    const int after = p->pos + 4 + tni_expr_blanks(p->text + p->pos + 4);
    if (p->text[after] != '=' || p->text[after + 1] == '=') /* a tensor named axis */
        return next_argument(p, w);
    TRY(read_axes(p, &item));
    if (p->text[p->pos] != ')')
        return tni_expr_fail_token(p);
    p->pos++;
    const tni_expr_waiting call = p->stack[--p->top];
    p->depth--;
    *operand = false;
    return finish_reduction(p, &call, &item);
}

static tn_status fail_count(const tni_expr_parser *p, const tni_expr_waiting *w, int arity,
                            int params, int got)
{
    char more[16] = "";
    if (params)
        snprintf(more, sizeof more, " or %d", arity + params);
    return tni_fail_at(TN_EFORMAT, w->column,
                       "%s: %.*s takes %d%s argument%s, got %d, at column %d", p->call, w->size,
                       p->text + w->column - 1, arity, more, arity + params > 1 ? "s" : "", got,
                       w->column);
}

tn_status tni_expr_finish_call(tni_expr_parser *p, const tni_expr_waiting *w)
{
    const char *s = p->text + w->column - 1;
    const int args = w->args + 1;
    int op, dtype;
    tni_expr_known_function(s, w->size, &op, &dtype);
    if (args == 1 && reduction_of(s, w->size) >= 0) {
        tni_expr_item all = {.naxes = TN_ALL_AXES};
        return finish_reduction(p, w, &all);
    }
    if (op < 0 && dtype < 0)
        return fail_at(p, w->column, "a reduction takes one argument and axis=");
    tni_expr_item item = {.column = w->column, .nargs = args, .name = s, .name_size = w->size};
    if (dtype >= 0) {
        if (args != 1)
            return fail_at(p, w->column, "a cast takes one argument");
        item.kind = TNI_EXPR_CAST;
        item.what = dtype;
        return tni_expr_hand_on(p, &item, 1, 1);
    }
    const int arity = tni_ops[op].arity, params = tni_ops[op].params;
    if (args != arity && args != arity + params)
        return fail_count(p, w, arity, params, args);
    for (int i = arity; i < args; i++)
        if (tni_expr_is_variable(p, p->values - args + i))
            return tni_fail_at(TN_EFORMAT, w->column,
                               "%s: expected a number as parameter of %.*s at column %d",
                               p->call, w->size, s, w->column);
    item.kind = TNI_EXPR_OP;
    item.what = op;
    return tni_expr_hand_on(p, &item, args, 1);
}
