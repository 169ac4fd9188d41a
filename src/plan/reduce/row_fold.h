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

/* A weight or a bias, the same for all rows; without data while rows are planned. */
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
    tn_dtype dtype, elem, table; /* table: of sin and cos */
    int isa;
    bool large;  /* larger than the caches: dst is streamed unless it is src */
    bool stream; /* whether dst is streamed; set at run time */
    bool packed; /* rows are in the gathering buffers and are computed in place */
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
    /* 15 KB, of which little is used, so they are not cleared */
    tni_nest nest;
    tni_fold fold;
} tni_row_plan;

/* Operands have one shape and dtype; rows run along dim, which is not empty.  ts has dst and src,
 * then sum and b for TNI_ROW_ADD_RMS, or sin and cos for rotations, which are half as long along
 * dim.  params are weight and bias, NULL where there is none. */
void tni_row_plan_make(tni_row_plan *p, tni_row_kind kind, const tn_tensor *const *ts, int dim,
                       const tn_tensor *const *params, double eps);

/* Addresses of elements (0, …, 0). */
void tni_row_plan_run(const tni_row_plan *p, char *const *at, const char *const *params);

/* A public plan of checked operands: its sources are src, then the others of ts and params.  NULL
 * when out of memory. */
tn_plan *tni_rows_new(tni_row_kind kind, const char *call, const tn_tensor *const *ts, int dim,
                      const tn_tensor *const *params, double eps);

/* ---- ways (row_ways.c) ----
 *
 * plan says whether the way applies, and then sets r->why.  run computes all rows, the first
 * of which is at `at`.  part computes rows [first, last), for ways that divide rows over
 * threads. */
struct tni_row_way {
    const char *name;
    bool (*plan)(tni_rows *r);
    void (*run)(const tni_rows *r, char *const *at, int64_t rows);
    void (*part)(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                 tni_fold_scratch *s);
};

/* Choose the first way that applies. */
void tni_row_choose(tni_rows *r);

/* Softmax of rows that are columns in memory: many are computed side by side; where they are few,
 * threads divide their elements. */
bool tni_row_plan_down(tni_rows *r);
void tni_row_run_down(const tni_rows *r, char *const *at, int64_t rows);
bool tni_row_plan_columns(tni_rows *r);
void tni_row_run_columns(const tni_rows *r, char *const *at, int64_t rows);

/* Many short dense rows. */
bool tni_row_plan_narrow(tni_rows *r);
void tni_row_narrow_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                         tni_fold_scratch *s);

/* Rows of f32, f16 or bf16 that are dense in every operand. */
bool tni_row_plan_dense(tni_rows *r);
void tni_row_dense_part(const tni_rows *r, char *const *at, int64_t first, int64_t last,
                        tni_fold_scratch *s);
/* Such rows in place, pitch bytes apart, whatever the nest of r. */
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

/* The kernels of rows of this dtype as they are in memory; NULL: they are cast. */
const tni_row_typed *tni_row_kernels_of(const tni_rows *r, tn_dtype dtype);

/* Logarithms of sums of exponentials, the same in every way. */
void tni_row_logs(const tni_rows *r, double *sum, int64_t n);
double tni_row_log(const tni_rows *r, double sum);

/* Compute row number `item` of its matrix; `at` has the addresses of its operands. */
void tni_row_one(const tni_rows *r, char *const *at, int64_t item, tni_fold_scratch *s);

#endif
