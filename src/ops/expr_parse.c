/* expr_parse.c - the grammar of expressions: names, groups, and operators by precedence.
 *
 * An operator-precedence parser without recursion: operators stay on a stack until one of lower
 * precedence follows.  Depth and length are bounded, and the work is linear in the length of
 * the text. */
#include "expr_parse.h"

#include <string.h>

/* The precedence of operators, lowest first. */
typedef enum precedence {
    P_NONE,
    P_OR,
    P_AND,
    P_NOT,
    P_COMPARE,
    P_BOR,
    P_BXOR,
    P_BAND,
    P_SHIFT,
    P_SUM,
    P_TERM,
    P_SIGN,
    P_POWER
} precedence;

typedef struct op_row {
    const char *text;
    int op; /* tn_op; -1: power, -2: unary plus */
    precedence binds;
} op_row;

/* The ends of the kinds of operators in rows[]. */
enum { BINARY = 18, WORDS = BINARY + 2, PREFIX = WORDS + 3, NOT = PREFIX };

/* An operator precedes its prefixes: "<=" comes before "<". */
static const op_row rows[] = {
    {"**", -1, P_POWER},
    {"//", TN_FLOOR_DIVIDE, P_TERM},
    {"<<", TN_SHL, P_SHIFT},
    {">>", TN_SHR, P_SHIFT},
    {"<=", TN_LE, P_COMPARE},
    {">=", TN_GE, P_COMPARE},
    {"==", TN_EQ, P_COMPARE},
    {"!=", TN_NE, P_COMPARE},
    {"<", TN_LT, P_COMPARE},
    {">", TN_GT, P_COMPARE},
    {"+", TN_ADD, P_SUM},
    {"-", TN_SUB, P_SUM},
    {"*", TN_MUL, P_TERM},
    {"/", TN_DIV, P_TERM},
    {"%", TN_REMAINDER, P_TERM},
    {"|", TN_BIT_OR, P_BOR},
    {"^", TN_BIT_XOR, P_BXOR},
    {"&", TN_BIT_AND, P_BAND},
    {"and", TN_LOGICAL_AND, P_AND},
    {"or", TN_LOGICAL_OR, P_OR},
    {"-", TN_NEG, P_SIGN},
    {"+", -2, P_SIGN},
    {"~", TN_BIT_NOT, P_SIGN},
    {"not", TN_LOGICAL_NOT, P_NOT},
};
_Static_assert(COUNT(rows) == NOT + 1, "the kinds of operators follow each other");

static tn_status fail_limit(const tni_expr_parser *p, int column, const char *what, int most)
{
    return tni_fail_at(TN_EUNSUPPORTED, column, "%s: more than %d %s at column %d", p->call,
                       most, what, column);
}

/* ---- items for the sink ---- */

tn_status tni_expr_hand_on(tni_expr_parser *p, const tni_expr_item *item, int pops, int pushes)
{
    bool variable = item->kind == TNI_EXPR_TENSOR;
    for (int i = 0; i < pops; i++)
        variable |= tni_expr_is_variable(p, --p->values);
    for (int i = 0; i < pushes; i++) {
        if (p->values == TNI_EXPR_STACK)
            return fail_limit(p, item->column, "pending values", TNI_EXPR_STACK);
        const int v = p->values++;
        p->variable[v / 64] &= ~((uint64_t)1 << v % 64);
        p->variable[v / 64] |= (uint64_t)variable << v % 64;
    }
    return p->sink(p->user, item);
}

/* Does w count towards the limit on nesting: a group, a sign, a not or a power? */
static bool counts(const tni_expr_waiting *w)
{
    return w->row >= WORDS || rows[w->row].op == -1; /* a group has the largest row */
}

/* The operator on top of the stack, or NULL for a group. */
static const op_row *top_row(const tni_expr_parser *p)
{
    const int row = p->top ? p->stack[p->top - 1].row : TNI_EXPR_GROUP;
    return row == TNI_EXPR_GROUP ? NULL : &rows[row];
}

/* Pop the operator on top, which has all its operands. */
static tn_status finish_top(tni_expr_parser *p)
{
    const tni_expr_waiting *w = &p->stack[--p->top];
    const op_row *row = &rows[w->row];
    tni_expr_item item = {.what = row->op,
                          .column = w->column,
                          .nargs = w->row >= WORDS ? 1 : 2,
                          .name = row->text,
                          .name_size = (int)strlen(row->text)};
    item.kind = row->op == -1   ? TNI_EXPR_POWER
                : row->op == -2 ? TNI_EXPR_PLUS
                : w->chained    ? TNI_EXPR_CHAINED
                                : TNI_EXPR_OP;
    p->depth -= counts(w);
    return tni_expr_hand_on(p, &item, w->chained ? 3 : item.nargs, 1);
}

static tn_status push(tni_expr_parser *p, tni_expr_waiting w)
{
    if (counts(&w) && ++p->depth > TN_EXPR_DEPTH)
        return fail_limit(p, w.column, "nested parentheses, signs, nots and powers",
                          TN_EXPR_DEPTH);
    if (p->top == TNI_EXPR_STACK)
        return fail_limit(p, w.column, "pending operators", TNI_EXPR_STACK);
    p->stack[p->top++] = w;
    return TN_OK;
}

static tn_status push_binary(tni_expr_parser *p, int number)
{
    const op_row *row = &rows[number], *t;
    tni_expr_waiting w = {.row = (uint8_t)number, .column = (int16_t)p->column};
    while ((t = top_row(p))) {
        const bool same = t->binds == row->binds;
        if (t->binds < row->binds || (same && row->binds == P_POWER))
            break;
        if (same && row->binds == P_COMPARE) { /* a < b < c: b is compared again */
            const tni_expr_waiting *before = &p->stack[p->top - 1];
            tni_expr_item item = {.kind = TNI_EXPR_CHAIN,
                                  .what = t->op,
                                  .column = before->column,
                                  .nargs = 2,
                                  .name = t->text,
                                  .name_size = (int)strlen(t->text)};
            if (before->chained)
                item.nargs = 3; /* pop t, b, c; push t and (b op c), and c again */
            TRY(tni_expr_hand_on(p, &item, item.nargs, 2));
            p->top--;
            w.chained = true;
            continue;
        }
        TRY(finish_top(p));
    }
    return push(p, w);
}

/* ---- names and groups ---- */

/* Find or assign the number of a name; -1 if it is not among the given ones. */
static tn_status find_name(tni_expr_parser *p, const char *s, int size, int *number)
{
    tni_expr_names *n = p->names;
    *number = -1;
    for (int i = 0; i < n->count; i++)
        if (n->size[i] == size && !memcmp(n->name[i], s, (size_t)size)) {
            *number = i;
            return TN_OK;
        }
    int given = -1;
    for (int i = 0; i < n->ngiven; i++)
        if (tni_expr_is_word(s, size, n->given[i]))
            given = i;
    if (n->ngiven >= 0 && given < 0)
        return TN_OK;
    if (n->count == TN_EXPR_NAMES)
        return fail_limit(p, p->column, "different tensors", TN_EXPR_NAMES);
    n->name[n->count] = s;
    n->size[n->count] = size;
    n->from[n->count] = given;
    *number = n->count++;
    return TN_OK;
}

static tn_status read_name(tni_expr_parser *p, bool *opened)
{
    const char *s = p->text + p->pos;
    const int size = tni_expr_name_size(s);
    const int after = p->pos + size + tni_expr_blanks(s + size);
    int number, op, dtype;
    *opened = false;
    if (tni_expr_is_reserved(s, size))
        return tni_expr_fail_token(p);
    if (p->text[after] == '(') {
        if (!tni_expr_known_function(s, size, &op, &dtype))
            return tni_fail_at(TN_EFORMAT, p->column, "%s: unknown function %.*s at column %d",
                               p->call, size < 40 ? size : 40, s, p->column);
        p->pos = after + 1;
        *opened = true;
        return push(p, (tni_expr_waiting){.row = TNI_EXPR_GROUP,
                                          .column = (int16_t)p->column,
                                          .size = (uint8_t)size});
    }
    if (p->names->ngiven >= 0) { /* a tensor named pi takes precedence over the constant */
        TRY(find_name(p, s, size, &number));
    } else {
        number = -1;
    }
    if (number < 0) {
        tni_expr_item constant;
        if (tni_expr_read_constant(p, s, size, &constant))
            return tni_expr_hand_on(p, &constant, 0, 1);
        TRY(find_name(p, s, size, &number));
    }
    if (number < 0)
        return tni_fail_at(TN_EFORMAT, p->column, "%s: no tensor %.*s was given at column %d",
                           p->call, size < 40 ? size : 40, s, p->column);
    p->pos += size;
    const tni_expr_item item = {.kind = TNI_EXPR_TENSOR, .what = number, .column = p->column};
    return tni_expr_hand_on(p, &item, 0, 1);
}

static tn_status close_group(tni_expr_parser *p, bool comma, bool *operand)
{
    while (top_row(p))
        TRY(finish_top(p));
    if (!p->top || (comma && !p->stack[p->top - 1].size))
        return tni_expr_fail_token(p);
    if (comma)
        return tni_expr_read_comma(p, operand);
    p->pos++;
    const tni_expr_waiting w = p->stack[--p->top];
    p->depth--;
    return w.size ? tni_expr_finish_call(p, &w) : TN_OK;
}

/* ---- the grammar ---- */

/* Read an operand or a prefix operator; *done is set after a complete operand. */
static tn_status read_operand(tni_expr_parser *p, bool *done)
{
    const char *s = p->text + p->pos;
    const int size = tni_expr_name_size(s);
    *done = false;
    tni_expr_waiting w = {.row = TNI_EXPR_GROUP, .column = (int16_t)p->column};
    for (int i = WORDS; i < PREFIX; i++)
        if (*s == rows[i].text[0])
            w.row = (uint8_t)i;
    if (tni_expr_is_word(s, size, rows[NOT].text)) {
        const op_row *t = top_row(p);
        if (t && t->binds > P_NOT)
            return tni_expr_fail_token(p);
        w.row = NOT;
    }
    if (*s == '(' || w.row != TNI_EXPR_GROUP) {
        p->pos += size ? size : 1;
        return push(p, w);
    }
    if (size) {
        bool opened;
        TRY(read_name(p, &opened));
        *done = !opened;
        return TN_OK;
    }
    if (!tni_expr_is_digit(*s) && *s != '.')
        return tni_expr_fail_token(p);
    *done = true;
    tni_expr_item number;
    TRY(tni_expr_read_number(p, &number));
    return tni_expr_hand_on(p, &number, 0, 1);
}

/* Read what follows an operand: an operator, a comma, a closing parenthesis or the end;
 * *operand is set if an operand must follow. */
static tn_status read_operator(tni_expr_parser *p, bool *operand, bool *end)
{
    const char *s = p->text + p->pos;
    const int size = tni_expr_name_size(s);
    *operand = true;
    for (int i = BINARY; i < WORDS && size; i++)
        if (tni_expr_is_word(s, size, rows[i].text)) {
            p->pos += size;
            return push_binary(p, i);
        }
    for (int i = 0; i < BINARY && !size; i++)
        if (*s == rows[i].text[0] && (!rows[i].text[1] || s[1] == rows[i].text[1])) {
            p->pos += rows[i].text[1] ? 2 : 1;
            return push_binary(p, i);
        }
    if (*s == ',')
        return close_group(p, true, operand);
    *operand = false;
    if (*s == ')')
        return close_group(p, false, operand);
    if (*s)
        return tni_expr_fail_token(p);
    while (top_row(p))
        TRY(finish_top(p));
    if (p->top)
        return tni_expr_fail_token(p);
    *end = true;
    return TN_OK;
}

tn_status tni_expr_parse(const char *call, const char *text, tni_expr_names *names,
                         tni_expr_sink sink, void *user)
{
    tni_expr_parser p; /* the stacks are left uninitialised */
    p.call = call;
    p.text = text;
    p.pos = p.top = p.depth = p.values = 0;
    p.names = names;
    p.sink = sink;
    p.user = user;
    if (strnlen(text, TN_EXPR_TEXT + 1) > TN_EXPR_TEXT)
        return tni_fail_at(TN_EUNSUPPORTED, TN_EXPR_TEXT + 1,
                           "%s: the text is longer than %d bytes", call, TN_EXPR_TEXT);
    bool operand = true, end = false;
    while (!end) {
        tni_expr_next_token(&p);
        if (operand) {
            bool done;
            TRY(read_operand(&p, &done));
            operand = !done;
        } else {
            TRY(read_operator(&p, &operand, &end));
        }
    }
    ASSERT(p.values == 1);
    return TN_OK;
}
