/* stream_eval.h - the parts of an expression with reductions whose sources exceed memory. */
#ifndef TNI_STREAM_EVAL_H
#define TNI_STREAM_EVAL_H

#include "stream.h"

enum { TNI_EVAL_REDUCTIONS = 16 }; /* maximum reductions in a text */

typedef struct tni_eval_reduction {
    const char *text; /* the whole call, to find equal ones */
    int size;
    tn_reduction op;
    tn_expr *argument;
} tni_eval_reduction;

/* A text split into its reductions and the expression around them, where the names _0, _1 …
 * stand for the reductions. */
typedef struct tni_eval_text {
    int n;
    tni_eval_reduction of[TNI_EVAL_REDUCTIONS];
    tn_expr *around;
} tni_eval_text;

/* True if a valid text has a reduction. */
bool tni_eval_reduces(const char *text);

/* Split a valid text, which must outlive the parts; free the parts even after a failure. */
tn_status tni_eval_split(tni_eval_text *t, const char *text);
void tni_eval_text_free(tni_eval_text *t);

#endif
