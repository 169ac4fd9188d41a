/* expr.h - expressions as text: the grammar, and the items it emits.
 *
 * The parser reads the text once, with an explicit stack, and calls a sink for every operand
 * and operator, in postfix order.  It runs twice: first with a sink that ignores the items, to
 * collect the names and to know that the whole text is valid, then with the sink that builds
 * steps. */
#ifndef TNI_EXPR_H
#define TNI_EXPR_H

#include <tenon/expr.h>

#include "core/core.h"

enum {
    /* Capacity of the stacks of pending values and operators.  Each level of nesting holds two
     * arguments, two values of a comparison chain and one operator per precedence; 128 levels,
     * and what the rest of 4,096 bytes adds at five bytes for an "or", need 1,433. */
    TNI_EXPR_STACK = 1472,
    TNI_EXPR_NAME = 64 /* size of a tensor name that a caller gives, including the final 0 */
};

typedef enum tni_expr_item_kind {
    TNI_EXPR_TENSOR,  /* push tensor `what` */
    TNI_EXPR_NUMBER,  /* push a number */
    TNI_EXPR_OP,      /* pop `nargs` values, push the result of op `what` */
    TNI_EXPR_CAST,    /* pop one, push it as dtype `what` */
    TNI_EXPR_POWER,   /* pop two, push a ** b */
    TNI_EXPR_PLUS,    /* pop one, push +a */
    TNI_EXPR_CHAIN,   /* pop a, b; push a op b, and b again */
    TNI_EXPR_CHAINED, /* pop t, b, c; push t and (b op c) */
    TNI_EXPR_REDUCE   /* pop one, push reduction `what` of it over `axes` */
} tni_expr_item_kind;

typedef struct tni_expr_item {
    tni_expr_item_kind kind;
    int what, nargs, column;
    const char *name; /* name of the function or operator, for error messages */
    int name_size;
    /* A number with suffix j, and an integer. */
    bool imaginary, whole;
    bool beyond; /* the integer does not fit i64 */
    bool truth;  /* true or false */
    int64_t i;
    double f;
    int naxes; /* axes of a reduction; -1: all */
    int axes[TN_MAX_NDIM];
} tni_expr_item;

typedef tn_status (*tni_expr_sink)(void *user, const tni_expr_item *item);

/* The names of a text, by position in the text; or the names that the caller gives. */
typedef struct tni_expr_names {
    int count;
    const char *name[TN_EXPR_NAMES];
    int size[TN_EXPR_NAMES];
    int ngiven;               /* number of given names; -1: names are collected from the text */
    const char *const *given; /* the given names; others are errors */
    int from[TN_EXPR_NAMES];  /* index in given of each name */
} tni_expr_names;

/* Parse text; call begins error messages.  Names are numbered by first occurrence. */
tn_status tni_expr_parse(const char *call, const char *text, tni_expr_names *names,
                         tni_expr_sink sink, void *user);

/* Is s a valid name for a tensor? */
bool tni_expr_is_name(const char *s);

#endif
