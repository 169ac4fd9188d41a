/* expr_parse.h - the expression parser: its state, and what its files share. */
#ifndef TNI_EXPR_PARSE_H
#define TNI_EXPR_PARSE_H

#include "expr.h"

enum {
    TNI_EXPR_GROUP = UINT8_MAX, /* not an operator but an open parenthesis or function call */
    TNI_EXPR_ARGS = TNI_MAX_ARITY + TNI_MAX_PARAMS /* the most arguments of any function */
};

/* A pending operator or open group: its operands are not all read yet. */
typedef struct tni_expr_waiting {
    int16_t column;
    uint8_t row;  /* row in the table of operators (expr_parse.c) */
    uint8_t size; /* length of the function's name; 0 for a parenthesis */
    uint8_t args; /* number of arguments before the current one */
    bool chained;
} tni_expr_waiting;

typedef struct tni_expr_parser {
    const char *call, *text;
    int pos, column; /* the current token begins at text[pos], in this column */
    int top, depth;
    tni_expr_names *names;
    tni_expr_sink sink;
    void *user;
    int values; /* number of values on the sink's stack */
    tni_expr_waiting stack[TNI_EXPR_STACK];
    uint64_t variable[TNI_EXPR_STACK / 64]; /* bit i: value i depends on a tensor */
} tni_expr_parser;

static inline bool tni_expr_is_variable(const tni_expr_parser *p, int value)
{
    return p->variable[value / 64] >> value % 64 & 1;
}

/* ---- expr_lex.c ---- */

static inline bool tni_expr_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The length of the name or word at s, or 0. */
int tni_expr_name_size(const char *s);
bool tni_expr_is_word(const char *s, int size, const char *word);
bool tni_expr_is_reserved(const char *s, int size);

/* The number of blanks at s. */
int tni_expr_blanks(const char *s);

/* Skip blanks and set the column of the next token. */
void tni_expr_next_token(tni_expr_parser *p);
tn_status tni_expr_fail_token(const tni_expr_parser *p);

/* Read digits of a base; returns false if the number does not fit 63 bits. */
bool tni_expr_read_digits(tni_expr_parser *p, int base, int64_t *value, int *digits);
tn_status tni_expr_read_number(tni_expr_parser *p, tni_expr_item *item);

/* Read one of pi, inf, nan, true and false into item; returns false if s is none of them. */
bool tni_expr_read_constant(tni_expr_parser *p, const char *s, int size, tni_expr_item *item);

/* ---- expr_call.c ---- */

/* Does s name an op, a dtype or a reduction?  *op and *dtype are -1 unless it names one. */
bool tni_expr_known_function(const char *s, int size, int *op, int *dtype);

/* Handle a comma: either the keyword argument and closing parenthesis of a reduction follow, or
 * the next argument. */
tn_status tni_expr_read_comma(tni_expr_parser *p, bool *operand);

/* Handle the closing parenthesis of the call w. */
tn_status tni_expr_finish_call(tni_expr_parser *p, const tni_expr_waiting *w);

/* ---- expr_parse.c ---- */

/* Pass an item to the sink, which pops and pushes these numbers of values. */
tn_status tni_expr_hand_on(tni_expr_parser *p, const tni_expr_item *item, int pops, int pushes);

#endif
