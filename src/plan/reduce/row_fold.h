/* row_fold.h - plans of functions of whole rows: each row is reduced, then written.
 *
 * A row is the elements along one axis.  Softmax needs its maximum and a sum of exponentials,
 * the norms a sum of squares or its moments, all computed by the tree of fold.h; rotations need
 * nothing. */
#ifndef TNI_ROW_FOLD_H
#define TNI_ROW_FOLD_H

#include <tenon/plan.h>
#include <tenon/tensor.h>

#include "nest/nest.h"
#include "plan/reduce/fold.h"

typedef enum tni_row_kind {
    TNI_ROW_SOFTMAX,
    TNI_ROW_LOG_SOFTMAX,
    TNI_ROW_CAUSAL, /* softmax of the first i + 1 + extra elements of row i; the others are 0 */
    TNI_ROW_RMS,
    TNI_ROW_LAYER,
    TNI_ROW_ADD_RMS,
    TNI_ROW_ROTATE_HALVES, /* pair i: elements i and i + n / 2 */
    TNI_ROW_ROTATE_PAIRS   /* pair i: elements 2 i and 2 i + 1 */
} tni_row_kind;

/* Operands: only TNI_ROW_ADD_RMS has sum and b, and only rotations have sin and cos. */
enum {
    TNI_ROW_DST,
    TNI_ROW_SRC,
    TNI_ROW_SUM,
    TNI_ROW_B,
    TNI_ROW_OPERANDS,
    TNI_ROW_SIN = TNI_ROW_SUM,
    TNI_ROW_COS = TNI_ROW_B
};

/* A weight or a bias, the same for all rows; at is NULL in a plan and set when it runs. */
typedef struct tni_row_param {
    const char *at;
    int64_t step;
    tn_dtype dtype;
    bool given;
} tni_row_param;

typedef struct tni_row_way tni_row_way; /* a strategy: a row of row_ways.c */

typedef struct tni_rows {
    tni_row_kind kind;
    const tni_row_way *way;
    const char *why;
    tn_dtype dtype, elem, table; /* elem: f32 or f64, computed in; table: of sin and cos */
    int isa;
    bool beyond; /* larger than the caches: dst is streamed unless it is src */
    bool stream; /* dst is streamed; set when the plan runs */
    bool packed; /* rows are those of a panel and are computed in place */
    double eps;
    /* elements of a row, bytes of an element; causal: rows of a matrix, see TNI_ROW_CAUSAL */
    int64_t n, width, queries, extra;
    int64_t step[TNI_ROW_OPERANDS]; /* along a row */
    tni_row_param param[2];         /* weight, bias */
    const tni_nest *nest;           /* over the rows */
    const tni_fold *fold;           /* of one row */
} tni_rows;

/* A plan of rows. */
typedef struct tni_row_plan {
    tni_rows rows;
    int64_t items, bytes;
    /* these are 15 KB, of which little is used, so they are not cleared */
    tni_nest nest;
    tni_fold fold;
} tni_row_plan;

/* Plan checked operands of one shape and dtype that have elements; rows go along dim.  ts has
 * dst and src, then sum and b for TNI_ROW_ADD_RMS, or sin and cos for rotations: these are half
 * as long along dim and have a dtype of their own.  params are weight and bias, either of which
 * may be NULL. */
void tni_row_plan_make(tni_row_plan *p, tni_row_kind kind, const tn_tensor *const *ts, int dim,
                       const tn_tensor *const *params, double eps);

/* Run the plan; at has the addresses of element (0, …, 0) of the operands. */
void tni_row_plan_run(const tni_row_plan *p, char *const *at, const char *const *params);

/* A public plan of checked operands; its sources are src, then the others of ts and params.
 * NULL if memory is out. */
tn_plan *tni_rows_new(tni_row_kind kind, const char *call, const tn_tensor *const *ts, int dim,
                      const tn_tensor *const *params, double eps);

/* ---- ways (row_ways.c) ----
 *
 * plan returns whether the way applies, and then has set r->why.  run computes all rows; at has
 * the operands' addresses of the first.  part computes rows [first, last) in ways that divide
 * rows over threads, and is NULL in others. */
struct tni_row_way {
    const char *name;
    bool (*plan)(tni_rows *r);
    void (*run)(const tni_rows *r, char *const *at, int64_t rows);
    void (*part)(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                 tni_fold_scratch *s);
};

/* Choose the first way that applies. */
void tni_row_choose(tni_rows *r);

/* Softmax of rows that are columns in memory, computed side by side.  In the way "down" threads
 * divide the elements of each row; in the way "columns" they divide the rows. */
bool tni_row_plan_down(tni_rows *r);
void tni_row_run_down(const tni_rows *r, char *const *at, int64_t rows);
bool tni_row_plan_columns(tni_rows *r);
void tni_row_run_columns(const tni_rows *r, char *const *at, int64_t rows);

/* Many short dense rows. */
bool tni_row_plan_narrow(tni_rows *r);
void tni_row_narrow_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                         tni_fold_scratch *s);

/* Rows of f32, f64, f16 or bf16 that are dense in every operand. */
bool tni_row_plan_dense(tni_rows *r);
void tni_row_dense_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s);
/* Compute such rows in place; they are pitch bytes apart, and the nest of r is not used. */
void tni_row_dense_rows(const tni_rows *r, char *at, int64_t pitch, int64_t rows,
                        tni_fold_scratch *s);

/* Neighbouring rows with strides, transposed together. */
bool tni_row_plan_panel(tni_rows *r);
void tni_row_panel_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s);

/* One row after the other, of any strides. */
bool tni_row_plan_single(tni_rows *r);
void tni_row_single_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                         tni_fold_scratch *s);

/* ---- inside ---- */

/* The type of kernels for a dtype; TNI_TREE_TYPES: none. */
tni_tree_type tni_row_type(tn_dtype dtype);

/* The kernels that read rows of this dtype from memory; NULL: there are none, and rows are
 * cast. */
const tni_row_typed *tni_row_kernels_of(const tni_rows *r, tn_dtype dtype);

/* Logarithms of n sums of exponentials, in place, and of one; every way takes these, so that
 * the bits are the same. */
void tni_row_logs(const tni_rows *r, double *sum, int64_t n);
double tni_row_log(const tni_rows *r, double sum);

/* Compute one row, which is number `item` of all rows; at has the addresses of its operands. */
void tni_row_one(const tni_rows *r, char *const *at, int64_t item, tni_fold_scratch *s);

#endif
