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
    bool packed; /* rows are in the buffers for gathering, written where they are read */
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

/* ---- inside ---- */

/* Row number item of its matrix, whose operands are at. */
void tni_row_one(const tni_rows *r, char *const *at, int64_t item, tni_fold_scratch *s);

/* How many neighbouring rows are transposed together; 0: none. */
int64_t tni_row_panel(const tni_rows *r);

/* r, for rows of a panel. */
void tni_row_dense(tni_rows *dense, const tni_rows *r);

/* Neighbouring rows, as many as fit. */
void tni_row_some(const tni_rows *r, const tni_rows *dense, char *const *at, int64_t rows,
                  tni_fold_scratch *s);

#endif
