/* expr.h - texts of expressions: the grammar, and what it hands on.
 *
 * The parser goes through the text once with an explicit stack and calls a sink for every
 * operand and operator, operands first, left to right.  It runs twice: once with a sink that
 * collects names, so that the whole text is known to be sound, and once with the sink that makes
 * steps. */
#ifndef TNI_EXPR_H
#define TNI_EXPR_H

#include <tenon/expr.h>

#include "core/core.h"

enum {
    /* Values and operators that wait.  A level holds two arguments, two values of a chain and
     * one of each operator that binds differently; 128 of them, and what the rest of 4,096 bytes
     * adds at five for an "or", are 1,433. */
    TNI_EXPR_STACK = 1472,
    TNI_EXPR_NAME = 64 /* bytes of a name that is given to a tensor, with its 0 */
};

typedef enum tni_expr_item_kind {
    TNI_EXPR_TENSOR,  /* push tensor number `what` */
    TNI_EXPR_NUMBER,  /* push a number */
    TNI_EXPR_OP,      /* pop `nargs` values, push op `what` of them */
    TNI_EXPR_CAST,    /* pop one, push it as dtype `what` */
    TNI_EXPR_POWER,   /* pop two, push a ** b */
    TNI_EXPR_PLUS,    /* pop one, push +a */
    TNI_EXPR_CHAIN,   /* pop a, b; push op `what` of them, and b again */
    TNI_EXPR_CHAINED, /* pop t, b, c; push t and (b op c) */
    TNI_EXPR_REDUCE   /* pop one, push reduction `what` of it over `axes` */
} tni_expr_item_kind;

typedef struct tni_expr_item {
    tni_expr_item_kind kind;
    int what, nargs, column;
    const char *name; /* of the function or operator, for sentences */
    int name_size;
    bool imaginary, whole; /* a number with j; an integer, */
    bool beyond;           /* with digits that i64 does not hold */
    bool truth;            /* true or false */
    int64_t i;
    double f;
    int naxes; /* axes of a reduction; -1: all */
    int axes[TN_MAX_NDIM];
} tni_expr_item;

typedef tn_status (*tni_expr_sink)(void *user, const tni_expr_item *item);

/* How many names, and where each is in the text; or the names that are given. */
typedef struct tni_expr_names {
    int count;
    const char *name[TN_EXPR_NAMES];
    int size[TN_EXPR_NAMES];
    int ngiven;               /* -1: names are collected from the text */
    const char *const *given; /* then what is not among these is an error */
    int from[TN_EXPR_NAMES];  /* which of given */
} tni_expr_names;

/* Parse text; call begins sentences.  A name gets its number in names when it is first met. */
tn_status tni_expr_parse(const char *call, const char *text, tni_expr_names *names,
                         tni_expr_sink sink, void *user);

/* Whether s is a name that a tensor may have. */
bool tni_expr_is_name(const char *s);

#endif
