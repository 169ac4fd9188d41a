/* row_fold.h - functions of whole rows: one pass that reduces a row, one that writes it. */
#ifndef TNI_ROW_FOLD_H
#define TNI_ROW_FOLD_H

#include <tenon/plan.h>
#include <tenon/tensor.h>

#include "nest/nest.h"
#include "plan/reduce/fold.h"

typedef enum tni_row_kind {
    TNI_ROW_SOFTMAX,
    TNI_ROW_LOG_SOFTMAX,
    TNI_ROW_CAUSAL, /* row i sees i + 1 + extra elements */
    TNI_ROW_RMS,
    TNI_ROW_LAYER,
    TNI_ROW_ADD_RMS,
    TNI_ROW_ROTATE_HALVES, /* pair i: elements i and i + n / 2 */
    TNI_ROW_ROTATE_PAIRS   /* pair i: elements 2 i and 2 i + 1 */
} tni_row_kind;

/* Operands of the rows; sum and b only of TNI_ROW_ADD_RMS, sin and cos of rotations. */
enum {
    TNI_ROW_DST,
    TNI_ROW_SRC,
    TNI_ROW_SUM,
    TNI_ROW_B,
    TNI_ROW_OPERANDS,
    TNI_ROW_SIN = TNI_ROW_SUM,
    TNI_ROW_COS = TNI_ROW_B
};

/* A weight or a bias, the same for all rows; at NULL: none. */
typedef struct tni_row_param {
    const char *at;
    int64_t step;
    tn_dtype dtype;
} tni_row_param;

typedef struct tni_rows {
    tni_row_kind kind;
    tn_dtype dtype, elem, table; /* table: of sin and cos */
    int isa;
    bool stream;
    bool packed; /* rows are in the buffers for gathering, written where they are read */
    double eps;
    int64_t n, width, queries, extra; /* causal: queries are the rows of a matrix */
    int64_t step[TNI_ROW_OPERANDS];   /* along a row */
    tni_row_param param[2];           /* weight, bias */
    const tni_nest *nest;             /* over the rows */
    const tni_fold *fold;             /* of one row */
} tni_rows;

/* Rows without their data. */
typedef struct tni_row_plan {
    tni_rows rows;
    int64_t items, bytes;
    /* 15 KB, of which few are used: they are not cleared */
    tni_nest nest;
    tni_fold fold;
} tni_row_plan;

/* Operands have one shape and dtype; rows run along dim, which has an element.  ts has dst and
 * src, for TNI_ROW_ADD_RMS sum and b, for rotations sin and cos, which are half as long along
 * dim; params are weight and bias, NULL where there is none. */
void tni_row_plan_make(tni_row_plan *p, tni_row_kind kind, const tn_tensor *const *ts, int dim,
                       const tn_tensor *const *params, double eps);

/* Addresses of elements (0, …, 0). */
void tni_row_plan_run(const tni_row_plan *p, char *const *at, const char *const *params);

/* A plan of checked operands: sources are src, then what else ts or params has.  NULL when memory
 * is out. */
tn_plan *tni_rows_new(tni_row_kind kind, const char *call, const tn_tensor *const *ts, int dim,
                      const tn_tensor *const *params, double eps);

/* ---- inside ---- */

/* Row number item of its matrix, whose operands are at. */
void tni_row_one(const tni_rows *r, char *const *at, int64_t item, tni_fold_scratch *s);

/* Whether rows are f32, f16 or bf16 and dense in every operand, and rows [first, last) of such ones,
 * the first of all of which is at `at`. */
bool tni_row_is_dense(const tni_rows *r);
void tni_row_dense_run(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                       tni_fold_scratch *s);

/* Whether rows are short and dense and there are many, and rows [first, last) of such ones, as
 * above. */
bool tni_row_narrow(const tni_rows *r);
void tni_row_narrow_run(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s);

/* How many neighbouring rows are transposed together; 0: none. */
int64_t tni_row_panel(const tni_rows *r);

/* r, for rows of a panel; fold becomes that of such a row. */
void tni_row_dense(tni_rows *dense, tni_fold *fold, const tni_rows *r);

/* Whether rows stand side by side and are walked together, and doing so: all of them, the first of
 * which is at `at`. */
bool tni_row_columns(const tni_rows *r);
void tni_row_columns_run(const tni_rows *r, char *const *at, int64_t rows);

/* The same for columns so few that threads divide the elements of rows. */
bool tni_row_down(const tni_rows *r);
void tni_row_down_run(const tni_rows *r, char *const *at, int64_t rows);

/* Neighbouring rows, as many as fit. */
void tni_row_some(const tni_rows *r, const tni_rows *dense, char *const *at, int64_t rows,
                  tni_fold_scratch *s);

#endif
