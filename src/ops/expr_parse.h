/* expr_parse.h - the parser of expressions: its state, and what its files share. */
#ifndef TNI_EXPR_PARSE_H
#define TNI_EXPR_PARSE_H

#include "expr.h"

enum {
    TNI_EXPR_GROUP = UINT8_MAX, /* no operator: an open parenthesis, or a function */
    TNI_EXPR_ARGS = TNI_MAX_ARITY + TNI_MAX_PARAMS /* no function takes more */
};

/* An operator or an open group whose operands are not all read. */
typedef struct tni_expr_waiting {
    int16_t column;
    uint8_t row;  /* in the table of operators (expr_parse.c) */
    uint8_t size; /* length of a function's name; 0: a parenthesis */
    uint8_t args; /* before this one */
    bool chained;
} tni_expr_waiting;

typedef struct tni_expr_parser {
    const char *call, *text;
    int pos, column; /* the token is text[pos …], column its first byte */
    int top, depth;
    tni_expr_names *names;
    tni_expr_sink sink;
    void *user;
    int values; /* on the stack of the sink */
    tni_expr_waiting stack[TNI_EXPR_STACK];
    uint64_t variable[TNI_EXPR_STACK / 64]; /* bit i: value i is made of tensors */
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

/* The bytes of the name or word that s begins with; 0: it begins with none. */
int tni_expr_name_size(const char *s);
bool tni_expr_is_word(const char *s, int size, const char *word);
bool tni_expr_is_reserved(const char *s, int size);

/* The bytes of the blanks that s begins with. */
int tni_expr_blanks(const char *s);

/* Pass blanks; the column is that of what follows. */
void tni_expr_next_token(tni_expr_parser *p);
tn_status tni_expr_fail_token(const tni_expr_parser *p);

/* Digits of a base; false when 63 bits do not hold them. */
bool tni_expr_read_digits(tni_expr_parser *p, int base, int64_t *value, int *digits);
tn_status tni_expr_read_number(tni_expr_parser *p, tni_expr_item *item);

/* pi, inf, nan, true, false: item is filled, and the word passed; false: it is none of them. */
bool tni_expr_read_constant(tni_expr_parser *p, const char *s, int size, tni_expr_item *item);

/* ---- expr_call.c ---- */

/* Whether s names an op, a dtype or a reduction; *op and *dtype are -1 where it is none. */
bool tni_expr_known_function(const char *s, int size, int *op, int *dtype);

/* A comma: the keyword of a reduction and its closing parenthesis, or the next argument. */
tn_status tni_expr_read_comma(tni_expr_parser *p, bool *operand);

/* The closing parenthesis of the call w. */
tn_status tni_expr_finish_call(tni_expr_parser *p, const tni_expr_waiting *w);

/* ---- expr_parse.c ---- */

/* Give an item to the sink, which pops and pushes that number of values. */
tn_status tni_expr_hand_on(tni_expr_parser *p, const tni_expr_item *item, int pops, int pushes);

#endif
