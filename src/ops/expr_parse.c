/* expr_parse.c - the grammar of expressions: tokens, and operators by precedence.
 *
 * There is no recursion: operators wait on a stack until one that binds less strongly comes.
 * Depth and length are bounded, work is linear in the text. */
#include "expr.h"

#include <tenon/reduce.h>

#include <locale.h>
#include <stdlib.h>
#include <string.h>

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
    int op; /* tn_op; -1: the power, -2: plus */
    precedence binds;
} op_row;

/* Longer ones before their beginnings. */
static const op_row binary[] = {
    {"**", -1, P_POWER},         {"//", TN_FLOOR_DIVIDE, P_TERM},
    {"<<", TN_SHL, P_SHIFT},     {">>", TN_SHR, P_SHIFT},
    {"<=", TN_LE, P_COMPARE},    {">=", TN_GE, P_COMPARE},
    {"==", TN_EQ, P_COMPARE},    {"!=", TN_NE, P_COMPARE},
    {"<", TN_LT, P_COMPARE},     {">", TN_GT, P_COMPARE},
    {"+", TN_ADD, P_SUM},        {"-", TN_SUB, P_SUM},
    {"*", TN_MUL, P_TERM},       {"/", TN_DIV, P_TERM},
    {"%", TN_REMAINDER, P_TERM}, {"|", TN_BIT_OR, P_BOR},
    {"^", TN_BIT_XOR, P_BXOR},   {"&", TN_BIT_AND, P_BAND},
};
static const op_row words[] = {{"and", TN_LOGICAL_AND, P_AND}, {"or", TN_LOGICAL_OR, P_OR}};
static const op_row prefix[] = {
    {"-", TN_NEG, P_SIGN}, {"+", -2, P_SIGN}, {"~", TN_BIT_NOT, P_SIGN}};
static const op_row prefix_not = {"not", TN_LOGICAL_NOT, P_NOT};
static const char *const reserved[] = {"and", "or", "not", "if", "else", "in", "is", "lambda"};

/* Functions of one argument that are reductions; with two, min and max are ops. */
static const struct {
    const char *name;
    tn_reduction op;
} reductions[] = {{"sum", TN_REDUCE_SUM}, {"prod", TN_REDUCE_PROD}, {"mean", TN_REDUCE_MEAN},
                  {"min", TN_REDUCE_MIN}, {"max", TN_REDUCE_MAX},   {"any", TN_REDUCE_ANY},
                  {"all", TN_REDUCE_ALL}};

typedef struct waiting {
    const op_row *row; /* NULL: an open parenthesis, or a function */
    int16_t column;
    int16_t size; /* of a function's name; 0: a parenthesis */
    int16_t args; /* before this one */
    uint8_t unary, chained;
} waiting;

typedef struct parser {
    const char *call, *text;
    int pos, column; /* the token is text[pos …], column its first byte */
    int top, depth;
    tni_expr_names *names;
    tni_expr_sink sink;
    void *user;
    int values; /* on the stack of the sink */
    waiting stack[TNI_EXPR_STACK];
    uint8_t variable[TNI_EXPR_STACK]; /* value i is made of tensors */
} parser;

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int name_size(const char *s)
{
    int n = 0;
    while (is_letter(s[n]) || (n && is_digit(s[n])))
        n++;
    return n;
}

static bool is_word(const char *s, int size, const char *word)
{
    return size > 0 && *s == *word && !strncmp(s, word, (size_t)size) && word[size] == 0;
}

static bool is_reserved(const char *s, int size)
{
    bool found = false;
    for (int i = 0; i < COUNT(reserved); i++)
        found |= is_word(s, size, reserved[i]);
    return found;
}

bool tni_expr_is_name(const char *s)
{
    const int n = name_size(s);
    return n > 0 && s[n] == 0 && !is_reserved(s, n);
}

/* ---- failures ---- */

static tn_status fail_at(const parser *p, int column, const char *what)
{
    return tni_fail_at(TN_EFORMAT, column, "%s: %s at column %d", p->call, what, column);
}

static tn_status fail_token(const parser *p)
{
    const char c = p->text[p->pos];
    const int size = name_size(p->text + p->pos);
    if (!c)
        return tni_fail_at(TN_EFORMAT, p->column, "%s: the text ends early at column %d",
                           p->call, p->column);
    return tni_fail_at(TN_EFORMAT, p->column, "%s: unexpected %.*s at column %d", p->call,
                       size ? size : 1, p->text + p->pos, p->column);
}

static tn_status fail_limit(const parser *p, int column, const char *what, int most)
{
    return tni_fail_at(TN_EUNSUPPORTED, column, "%s: more than %d %s at column %d", p->call,
                       most, what, column);
}

/* ---- what goes to the sink ---- */

static tn_status hand_on(parser *p, const tni_expr_item *item, int pops, int pushes)
{
    bool variable = item->kind == TNI_EXPR_TENSOR;
    for (int i = 0; i < pops; i++)
        variable |= p->variable[--p->values];
    for (int i = 0; i < pushes; i++) {
        if (p->values == TNI_EXPR_STACK)
            return fail_limit(p, item->column, "values that wait", TNI_EXPR_STACK);
        p->variable[p->values++] = variable;
    }
    return p->sink(p->user, item);
}

/* The operator on top has its operands. */
static tn_status finish_top(parser *p)
{
    const waiting *w = &p->stack[--p->top];
    tni_expr_item item = {.what = w->row->op,
                          .column = w->column,
                          .nargs = w->unary ? 1 : 2,
                          .name = w->row->text,
                          .name_size = (int)strlen(w->row->text)};
    item.kind = w->row->op == -1   ? TNI_EXPR_POWER
                : w->row->op == -2 ? TNI_EXPR_PLUS
                : w->chained       ? TNI_EXPR_CHAINED
                                   : TNI_EXPR_OP;
    p->depth -= w->unary || w->row->op == -1;
    return hand_on(p, &item, w->chained ? 3 : item.nargs, 1);
}

static tn_status push(parser *p, waiting w)
{
    const bool counts = !w.row || w.unary || w.row->op == -1;
    if (counts && ++p->depth > TN_EXPR_DEPTH)
        return fail_limit(p, w.column, "open parentheses, signs, nots and powers",
                          TN_EXPR_DEPTH);
    if (p->top == TNI_EXPR_STACK)
        return fail_limit(p, w.column, "operators that wait", TNI_EXPR_STACK);
    p->stack[p->top++] = w;
    return TN_OK;
}

static tn_status push_binary(parser *p, const op_row *row)
{
    waiting w = {.row = row, .column = (int16_t)p->column};
    while (p->top && p->stack[p->top - 1].row) {
        const waiting *t = &p->stack[p->top - 1];
        const bool same = t->row->binds == row->binds;
        if (t->row->binds < row->binds || (same && row->binds == P_POWER))
            break;
        if (same && row->binds == P_COMPARE) { /* a < b < c: b is the left one of the next */
            tni_expr_item item = {.kind = TNI_EXPR_CHAIN,
                                  .what = t->row->op,
                                  .column = t->column,
                                  .nargs = 2,
                                  .name = t->row->text,
                                  .name_size = (int)strlen(t->row->text)};
            if (t->chained)
                item.nargs = 3; /* pop t, b, c; push t and (b op c), and c again */
            TRY(hand_on(p, &item, item.nargs, 2));
            p->top--;
            w.chained = true;
            continue;
        }
        TRY(finish_top(p));
    }
    return push(p, w);
}

/* ---- tokens ---- */

static void next_token(parser *p)
{
    while (p->text[p->pos] == ' ' || p->text[p->pos] == '\t' || p->text[p->pos] == '\n' ||
           p->text[p->pos] == '\r')
        p->pos++;
    p->column = p->pos + 1;
}

static tn_status fail_number(const parser *p)
{
    return tni_fail_at(TN_EFORMAT, p->column, "%s: not a number at column %d", p->call,
                       p->column);
}

/* The double nearest to a decimal number, whatever the locale calls the point. */
static double decimal(const char *s, size_t size)
{
    char text[TN_EXPR_TEXT + 32];
    const char *point = localeconv()->decimal_point;
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (s[i] == '.')
            for (const char *c = point; *c && n < sizeof text - 1; c++)
                text[n++] = *c;
        else
            text[n++] = s[i];
    text[n] = 0;
    return strtod(text, NULL);
}

/* Digits of a base; false when 63 bits do not hold them. */
static bool read_digits(parser *p, int base, int64_t *value, int *digits)
{
    bool fits = true;
    *value = 0;
    *digits = 0;
    for (;; p->pos++, ++*digits) {
        const char c = p->text[p->pos];
        const int d = is_digit(c)            ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
        if (d >= base)
            return fits;
        fits = fits && tni_mul(*value, base, value) && tni_add(*value, d, value);
    }
}

static tn_status read_number(parser *p)
{
    tni_expr_item item = {.kind = TNI_EXPR_NUMBER, .column = p->column, .whole = true};
    const char *s = p->text + p->pos;
    int digits;
    const char mark = s[0] == '0' ? (char)(s[1] | 0x20) : 0;
    if (mark == 'x' || mark == 'b') {
        p->pos += 2;
        const bool fits = read_digits(p, mark == 'x' ? 16 : 2, &item.i, &digits);
        if (!digits)
            return fail_number(p);
        if (!fits)
            return tni_fail_at(TN_EOVERFLOW, p->column,
                               "%s: a number is beyond i64 at column %d", p->call, p->column);
    } else {
        bool fits = read_digits(p, 10, &item.i, &digits);
        int more = 0;
        if (p->text[p->pos] == '.') {
            int64_t rest;
            p->pos++;
            read_digits(p, 10, &rest, &more);
            item.whole = false;
        }
        if (digits + more == 0)
            return fail_number(p);
        const char e = p->text[p->pos];
        if (e == 'e' || e == 'E') {
            int at = p->pos + 1, n = 0;
            at += p->text[at] == '+' || p->text[at] == '-';
            while (is_digit(p->text[at + n]))
                n++;
            if (n == 0)
                return fail_number(p);
            p->pos = at + n;
            item.whole = false;
        }
        item.f = decimal(s, (size_t)(p->text + p->pos - s));
        if (item.whole && !fits)
            return tni_fail_at(TN_EOVERFLOW, p->column,
                               "%s: a number is beyond i64 at column %d", p->call, p->column);
        if (p->text[p->pos] == 'j' || p->text[p->pos] == 'J') {
            p->pos++;
            item.imaginary = true;
        }
    }
    if (item.whole && !item.imaginary)
        item.f = (double)item.i;
    if (is_letter(p->text[p->pos]) || is_digit(p->text[p->pos]) || p->text[p->pos] == '.')
        return fail_number(p);
    return hand_on(p, &item, 0, 1);
}

static tn_status read_constant(parser *p, const char *s, int size, bool *found)
{
    static const struct {
        const char *word;
        double value;
        bool truth;
    } constants[] = {{"pi", 3.14159265358979323846, false},
                     {"inf", 1.0 / 0.0, false},
                     {"nan", 0.0, false},
                     {"true", 1, true},
                     {"false", 0, true},
                     {"True", 1, true},
                     {"False", 0, true}};
    for (int i = 0; i < COUNT(constants); i++)
        if (is_word(s, size, constants[i].word)) {
            tni_expr_item item = {
                .kind = TNI_EXPR_NUMBER, .column = p->column, .f = constants[i].value};
            if (i == 2)
                item.f = (double)__builtin_nanf("");
            item.nargs = constants[i].truth; /* a bool */
            p->pos += size;
            *found = true;
            return hand_on(p, &item, 0, 1);
        }
    *found = false;
    return TN_OK;
}

/* The number of the name; -1: nobody gave it. */
static tn_status find_name(parser *p, const char *s, int size, int *number)
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
        if (is_word(s, size, n->given[i]))
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

static int reduction_of(const char *s, int size)
{
    int found = -1;
    for (int i = 0; i < COUNT(reductions); i++)
        if (is_word(s, size, reductions[i].name))
            found = (int)reductions[i].op;
    return found;
}

static bool known_function(const char *s, int size, int *op, int *dtype)
{
    *op = *dtype = -1;
    for (int i = 0; i < TNI_OPS; i++)
        if (is_word(s, size, tni_ops[i].name))
            *op = i;
    for (int i = 1; i < TNI_DTYPES; i++)
        if (tni_dtypes[i].width && is_word(s, size, tni_dtypes[i].name))
            *dtype = i;
    return *op >= 0 || *dtype >= 0 || reduction_of(s, size) >= 0;
}

static tn_status read_name(parser *p, bool *opened)
{
    const char *s = p->text + p->pos;
    const int size = name_size(s);
    int after = p->pos + size, number, op, dtype;
    while (p->text[after] == ' ' || p->text[after] == '\t' || p->text[after] == '\n' ||
           p->text[after] == '\r')
        after++;
    *opened = false;
    if (is_reserved(s, size))
        return fail_token(p);
    if (p->text[after] == '(') {
        if (!known_function(s, size, &op, &dtype))
            return tni_fail_at(TN_EFORMAT, p->column, "%s: no function %.*s at column %d",
                               p->call, size < 40 ? size : 40, s, p->column);
        p->pos = after + 1;
        *opened = true;
        return push(p, (waiting){.column = (int16_t)p->column, .size = (int16_t)size});
    }
    if (p->names->ngiven >= 0) { /* a tensor that is called pi wins over the constant */
        TRY(find_name(p, s, size, &number));
    } else {
        number = -1;
    }
    if (number < 0) {
        bool found;
        TRY(read_constant(p, s, size, &found));
        if (found)
            return TN_OK;
        TRY(find_name(p, s, size, &number));
    }
    if (number < 0)
        return tni_fail_at(TN_EFORMAT, p->column, "%s: no tensor %.*s was given at column %d",
                           p->call, size < 40 ? size : 40, s, p->column);
    p->pos += size;
    const tni_expr_item item = {.kind = TNI_EXPR_TENSOR, .what = number, .column = p->column};
    return hand_on(p, &item, 0, 1);
}

/* ---- functions ---- */

static tn_status read_axis(parser *p, tni_expr_item *item)
{
    int64_t axis;
    int digits;
    next_token(p);
    const bool minus = p->text[p->pos] == '-';
    p->pos += minus;
    next_token(p);
    read_digits(p, 10, &axis, &digits);
    if (!digits || item->naxes == TN_MAX_NDIM || axis > TN_MAX_NDIM)
        return fail_token(p);
    item->axes[item->naxes++] = (int)(minus ? -axis : axis);
    next_token(p);
    return TN_OK;
}

/* axis = integer | (integer, …): the text stands behind the comma. */
static tn_status read_axes(parser *p, tni_expr_item *item)
{
    p->pos += 4;
    next_token(p);
    if (p->text[p->pos] != '=')
        return fail_token(p);
    p->pos++;
    next_token(p);
    item->naxes = 0;
    if (p->text[p->pos] != '(')
        return read_axis(p, item);
    do {
        p->pos++;
        next_token(p);
        if (p->text[p->pos] == ')' && item->naxes > 0)
            break;
        TRY(read_axis(p, item));
    } while (p->text[p->pos] == ',');
    if (p->text[p->pos] != ')')
        return fail_token(p);
    p->pos++;
    next_token(p);
    return TN_OK;
}

static tn_status finish_reduction(parser *p, const waiting *w, tni_expr_item *item)
{
    item->kind = TNI_EXPR_REDUCE;
    item->what = reduction_of(p->text + w->column - 1, w->size);
    item->column = w->column;
    item->name = p->text + w->column - 1;
    item->name_size = w->size;
    item->nargs = 1;
    return hand_on(p, item, 1, 1);
}

/* A comma: the keyword of a reduction and its closing parenthesis, or the next argument. */
static tn_status read_comma(parser *p, bool *operand)
{
    waiting *w = &p->stack[p->top - 1];
    const char *s = p->text + w->column - 1;
    p->pos++;
    next_token(p);
    if (!is_word(p->text + p->pos, name_size(p->text + p->pos), "axis") || w->args ||
        reduction_of(s, w->size) < 0) {
        w->args++;
        return TN_OK;
    }
    tni_expr_item item = {0};
    const int before = p->pos;
    int after = before + 4;
    while (p->text[after] == ' ')
        after++;
    if (p->text[after] != '=' || p->text[after + 1] == '=') { /* a tensor called axis */
        w->args++;
        return TN_OK;
    }
    TRY(read_axes(p, &item));
    if (p->text[p->pos] != ')')
        return fail_token(p);
    p->pos++;
    const waiting call = p->stack[--p->top];
    p->depth--;
    *operand = false;
    return finish_reduction(p, &call, &item);
}

static tn_status finish_call(parser *p, const waiting *w)
{
    const char *s = p->text + w->column - 1;
    const int args = w->args + 1;
    int op, dtype;
    known_function(s, w->size, &op, &dtype);
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
        return hand_on(p, &item, 1, 1);
    }
    const int arity = tni_ops[op].arity, params = tni_ops[op].params;
    if (args != arity && args != arity + params)
        return tni_fail_at(TN_EFORMAT, w->column,
                           "%s: %.*s takes %d argument%s, got %d, at column %d", p->call,
                           w->size, s, arity, arity > 1 ? "s" : "", args, w->column);
    for (int i = arity; i < args; i++)
        if (p->variable[p->values - args + i])
            return tni_fail_at(TN_EFORMAT, w->column,
                               "%s: a parameter of %.*s is no number at column %d", p->call,
                               w->size, s, w->column);
    item.kind = TNI_EXPR_OP;
    item.what = op;
    return hand_on(p, &item, args, 1);
}

static tn_status close_group(parser *p, bool comma, bool *operand)
{
    while (p->top && p->stack[p->top - 1].row)
        TRY(finish_top(p));
    if (!p->top || (comma && !p->stack[p->top - 1].size))
        return fail_token(p);
    if (comma)
        return read_comma(p, operand);
    p->pos++;
    const waiting w = p->stack[--p->top];
    p->depth--;
    return w.size ? finish_call(p, &w) : TN_OK;
}

/* ---- the grammar ---- */

/* An operand, or a prefix of one; *done when a whole operand was read. */
static tn_status read_operand(parser *p, bool *done)
{
    const char *s = p->text + p->pos;
    const int size = name_size(s);
    *done = false;
    for (int i = 0; i < COUNT(prefix); i++)
        if (*s == prefix[i].text[0]) {
            p->pos++;
            return push(p, (waiting){&prefix[i], (int16_t)p->column, 0, 0, true, false});
        }
    if (is_word(s, size, "not")) {
        const waiting *t = p->top ? &p->stack[p->top - 1] : NULL;
        if (t && t->row && t->row->binds > P_NOT)
            return fail_token(p);
        p->pos += size;
        return push(p, (waiting){&prefix_not, (int16_t)p->column, 0, 0, true, false});
    }
    if (*s == '(') {
        p->pos++;
        return push(p, (waiting){.column = (int16_t)p->column});
    }
    if (size) {
        bool opened;
        TRY(read_name(p, &opened));
        *done = !opened;
        return TN_OK;
    }
    if (!is_digit(*s) && *s != '.')
        return fail_token(p);
    *done = true;
    return read_number(p);
}

/* What follows an operand: an operator, a comma (then an operand comes), or what closes one. */
static tn_status read_operator(parser *p, bool *operand, bool *end)
{
    const char *s = p->text + p->pos;
    const int size = name_size(s);
    *operand = true;
    for (int i = 0; i < COUNT(words) && size; i++)
        if (is_word(s, size, words[i].text)) {
            p->pos += size;
            return push_binary(p, &words[i]);
        }
    for (int i = 0; i < COUNT(binary) && !size; i++)
        if (*s == binary[i].text[0] && (!binary[i].text[1] || s[1] == binary[i].text[1])) {
            p->pos += binary[i].text[1] ? 2 : 1;
            return push_binary(p, &binary[i]);
        }
    if (*s == ',')
        return close_group(p, true, operand);
    *operand = false;
    if (*s == ')')
        return close_group(p, false, operand);
    if (*s)
        return fail_token(p);
    while (p->top && p->stack[p->top - 1].row)
        TRY(finish_top(p));
    if (p->top)
        return fail_token(p);
    *end = true;
    return TN_OK;
}

tn_status tni_expr_parse(const char *call, const char *text, tni_expr_names *names,
                         tni_expr_sink sink, void *user)
{
    parser p; /* the stacks are not cleared */
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
        next_token(&p);
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
