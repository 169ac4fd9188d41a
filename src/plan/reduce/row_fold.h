/* row_fold.h - functions of whole rows: one pass that reduces a row, one that writes it. */
#ifndef TNI_ROW_FOLD_H
#define TNI_ROW_FOLD_H

#include <tenon/tensor.h>

#include "nest/nest.h"
#include "plan/reduce/fold.h"

typedef enum tni_row_kind {
    TNI_ROW_SOFTMAX,
    TNI_ROW_LOG_SOFTMAX,
    TNI_ROW_CAUSAL, /* row i sees i + 1 + extra elements */
    TNI_ROW_RMS,
    TNI_ROW_LAYER,
    TNI_ROW_ADD_RMS
} tni_row_kind;

/* Operands of the rows; sum and b only of TNI_ROW_ADD_RMS. */
enum { TNI_ROW_DST, TNI_ROW_SRC, TNI_ROW_SUM, TNI_ROW_B, TNI_ROW_OPERANDS };

typedef struct tni_rows {
    tni_row_kind kind;
    tn_dtype dtype, elem;
    int isa;
    bool stream;
    double eps;
    int64_t n, width, queries, extra; /* causal: queries are the rows of a matrix */
    int64_t step[TNI_ROW_OPERANDS];   /* along a row */
    const tn_tensor *weight, *bias;   /* NULL: none */
    char *at[TNI_ROW_OPERANDS];
    /* 15 KB, of which few are used: they are not cleared */
    tni_nest nest; /* over the rows */
    tni_fold fold; /* of one row */
} tni_rows;

/* Operands have one shape and dtype; rows run along dim.  ts has dst and src, and for
 * TNI_ROW_ADD_RMS sum and b. */
void tni_rows_run(tni_row_kind kind, const tn_tensor *const *ts, int dim,
                  const tn_tensor *weight, const tn_tensor *bias, double eps);

#endif
