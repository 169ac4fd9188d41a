/* stream_eval.h - expressions with reductions of what does not fit into memory: their parts. */
#ifndef TNI_STREAM_EVAL_H
#define TNI_STREAM_EVAL_H

#include "stream.h"

enum { TNI_EVAL_REDUCTIONS = 16 }; /* reductions of a text */

typedef struct tni_eval_reduction {
    const char *text; /* the whole call, for equal ones */
    int size;
    tn_reduction op;
    tn_expr *argument;
} tni_eval_reduction;

/* A text taken apart: its reductions, and what surrounds them, in which names _0, _1 … stand for
 * them. */
typedef struct tni_eval_text {
    int n;
    tni_eval_reduction of[TNI_EVAL_REDUCTIONS];
    tn_expr *around;
} tni_eval_text;

/* Whether a sound text has a reduction. */
bool tni_eval_reduces(const char *text);

/* Take a sound text apart, which has to stay; the parts are to be freed also on failure. */
tn_status tni_eval_split(tni_eval_text *t, const char *text);
void tni_eval_text_free(tni_eval_text *t);

#endif
