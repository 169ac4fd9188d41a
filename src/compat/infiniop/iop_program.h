/* iop_program.h - operators that consist of several calls of tenon, one after the other.
 *
 * A program has operands, which are the tensors of the operator in the order in which a run
 * passes their data, and steps, which are plans or calls on tensors.  A tensor of a step is a
 * view of an operand, of a temporary in the workspace or of a constant.  Views are made before
 * any data exists: flags holds which of these a tensor is a view of, and data its offset from
 * there. */
#ifndef TNI_IOP_PROGRAM_H
#define TNI_IOP_PROGRAM_H

#include "iop.h"

enum { TNI_IOP_TENSORS = 10, TNI_IOP_NUMBERS = 6 };

/* Arguments for making an operator: tensors in the order of a run's data (NULL where allowed),
 * numbers, and arrays. */
typedef struct tni_iop_args {
    tni_iop_tensor t[TNI_IOP_TENSORS];
    double num[TNI_IOP_NUMBERS];
    const void *array[3];
} tni_iop_args;

typedef struct tni_iop_step tni_iop_step;

/* One run: addresses of the operands, the numbers passed to it, its scratch memory. */
typedef struct tni_iop_env {
    const tni_iop_program *program;
    char *base[TNI_IOP_TENSORS + 2]; /* [0]: NULL; from [1]: operands, then the workspace */
    const double *num;
    void **given; /* pointers that the run sets */
    void *scratch;
    size_t scratch_size;
} tni_iop_env;

/* ts are the tensors of the step, with data. */
typedef tn_status (*tni_iop_call)(const tni_iop_env *env, const tni_iop_step *s,
                                  const tn_tensor *ts);

typedef struct tni_iop_ref {
    int base;
    int64_t at;
} tni_iop_ref;

/* The address of a reference in a run. */
static inline void *tni_iop_at(const tni_iop_env *env, tni_iop_ref r)
{
    if (r.base && !env->base[r.base])
        return NULL;
    return (void *)((uintptr_t)env->base[r.base] + (uintptr_t)r.at);
}

enum { TNI_IOP_STEP_TENSORS = 9 };

struct tni_iop_step {
    tni_iop_step *next;
    tn_plan *plan;     /* owned; run directly if call is NULL */
    tni_iop_call call; /* otherwise this is called */
    bool held;         /* run by the call of an earlier step only */
    double num[2];
    int64_t whole[2];
    int n;
    tni_iop_ref ref[TNI_IOP_STEP_TENSORS];
    tn_tensor t[]; /* tensors of a call */
};

struct tni_iop_program {
    tni_iop head;
    int n; /* number of operands */
    tn_tensor t[TNI_IOP_TENSORS];
    int64_t low[TNI_IOP_TENSORS], high[TNI_IOP_TENSORS];
    bool given[TNI_IOP_TENSORS]; /* the descriptor was not NULL */
    tni_iop_step *first, **end;
    void *constants;          /* a linked list */
    size_t memory;            /* bytes of temporaries */
    size_t scratch;           /* the most that any step needs in addition */
    tn_dtype wide;            /* dtype of sums: f64 for F64, else f32 */
    const tni_iop_args *args; /* only while the program is made */
};

/* ---- making ---- */

infiniStatus_t tni_iop_create(tni_iop_name name, infiniopHandle_t handle,
                              struct InfiniopDescriptor **out, const tni_iop_args *args);
void tni_iop_free_program(tni_iop_program *p);

/* Describe the steps, one per line, then the plan of the first; truncated to n bytes. */
tn_status tni_iop_explain(const tni_iop_program *p, char *buf, size_t n);

/* "Gemm": the start of error messages. */
#define IOP_NAME(p) (tni_iop_rows[(p)->head.name].name)

/* Make a dense temporary, or a dense constant whose data the caller fills in. */
tn_status tni_iop_temp(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                       const int64_t *shape);
tn_status tni_iop_constant(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                           const int64_t *shape, void **data);

/* Add a plan as a step.  The program takes ownership of it, also on failure. */
tn_status tni_iop_add(tni_iop_program *p, tn_status planned, tn_plan *plan,
                      const tn_tensor *dst, int n, const tn_tensor *const *srcs);

/* Add dst = src, cast to dst's dtype. */
tn_status tni_iop_copy(tni_iop_program *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tni_iop_reduce(tni_iop_program *p, tn_reduction op, double param,
                         const tn_tensor *dst, const tn_tensor *src, int naxes,
                         const int *axes);
tn_status tni_iop_einsum(tni_iop_program *p, const tn_tensor *dst, const char *spec, int n,
                         const tn_tensor *const *srcs);
tn_status tni_iop_gemm(tni_iop_program *p, const tn_tensor *dst, double alpha,
                       const tn_tensor *a, const tn_tensor *b, double beta, const tn_tensor *c);

/* Add a row function, as tn_plan_rows. */
tn_status tni_iop_row_function(tni_iop_program *p, tn_row op, int dim, double eps,
                               const tn_tensor *dst, const tn_tensor *src,
                               const tn_tensor *first, const tn_tensor *second);

/* Add dst = text, an expression of the sources a, b, c, …; in text @ stands for the name of
 * p->wide and #0 for num[0]. */
tn_status tni_iop_expr(tni_iop_program *p, const tn_tensor *dst, const char *text,
                       const double *num, int n, const tn_tensor *const *srcs);
#define IOP_EXPR(p, dst, text, num, ...)                                                       \
    tni_iop_expr(p, dst, text, num,                                                            \
                 (int)(sizeof((const tn_tensor *[]){__VA_ARGS__}) / sizeof(tn_tensor *)),      \
                 (const tn_tensor *const[]){__VA_ARGS__})

/* Add a call with n tensors, a number and two integers. */
tn_status tni_iop_call_step(tni_iop_program *p, tni_iop_call call, int n,
                            const tn_tensor *const *ts, double num, int64_t whole0,
                            int64_t whole1);
#define IOP_CALL(p, call, num, whole0, whole1, ...)                                            \
    tni_iop_call_step(p, call,                                                                 \
                      (int)(sizeof((const tn_tensor *[]){__VA_ARGS__}) / sizeof(tn_tensor *)), \
                      (const tn_tensor *const[]){__VA_ARGS__}, num, whole0, whole1)

/* The last step added. */
static inline tni_iop_step *tni_iop_last(const tni_iop_program *p)
{
    return (tni_iop_step *)(void *)p->end; /* next is the first member of a step */
}

/* Mark the steps after s as held: s runs them. */
static inline void tni_iop_hold(tni_iop_step *s)
{
    for (s = s->next; s; s = s->next)
        s->held = true;
}

/* Run step s with its tensors offset by these bytes. */
tn_status tni_iop_run_held(const tni_iop_env *env, const tni_iop_step *s,
                           const int64_t *offset);

/* Add a step that sorts src along dim into values and indices (or NULL). */
tn_status tni_iop_sort(tni_iop_program *p, const tn_tensor *values, const tn_tensor *indices,
                       const tn_tensor *src, int dim, unsigned flags);

/* ---- steps that call tenon (iop_steps.c), named after its functions ---- */

tn_status tni_iop_add_rms_norm(const tni_iop_env *env, const tni_iop_step *s,
                               const tn_tensor *t);
tn_status tni_iop_take(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_take_along(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_put(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_put_along(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_diff(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_dot(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_histogram(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);

/* Check that all elements of t[0], an integer tensor, are in [whole[0], whole[1]). */
tn_status tni_iop_in_range(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);

/* Operands y and x: divide each of the last n axes of x into as many cells as y has indices,
 * and reduce each cell by op. */
tn_status tni_iop_plan_cells(tni_iop_program *p, int n, tn_reduction op);

/* ---- checks ---- */

tn_status tni_iop_fail(const tni_iop_program *p, tn_status status, const char *what);

/* Check that operand k has a dtype of the row, and those of mask the same one; sets p->wide. */
tn_status tni_iop_alike(tni_iop_program *p, int k, unsigned mask);

/* Check that the last axis of operand k, or all of it, is dense. */
tn_status tni_iop_dense_last(const tni_iop_program *p, int k);
tn_status tni_iop_contiguous(const tni_iop_program *p, int k);

/* Check the number of axes of operand k, or its dtype. */
tn_status tni_iop_rank(const tni_iop_program *p, int k, int ndim);
tn_status tni_iop_is(const tni_iop_program *p, int k, tn_dtype dtype);
tn_status tni_iop_index(const tni_iop_program *p, int k); /* I32 or I64 */

/* Check the shape of operand k. */
tn_status tni_iop_shape(const tni_iop_program *p, int k, int ndim, const int64_t *shape);
tn_status tni_iop_like(const tni_iop_program *p, int k, int as); /* that of operand as */

/* Check that operand k has one element and at most one axis; *out is a view without axes. */
tn_status tni_iop_one(const tni_iop_program *p, int k, tn_tensor *out);

static inline tn_dtype tni_iop_wide(tn_dtype dtype)
{
    return dtype == TN_F64 ? TN_F64 : TN_F32;
}

/* View an integer tensor as unsigned, so that negative indices are out of range of any axis. */
tn_tensor tni_iop_unsigned(const tn_tensor *t);

/* ---- the functions that make programs: check the tensors, then add steps ---- */

#define PROGRAM(name, n, written, optional, alias, dtypes, plan)                               \
    tn_status plan(tni_iop_program *p);
#define BARE_PROGRAM PROGRAM
#include "iop_programs.def"
#undef PROGRAM
#undef BARE_PROGRAM

/* ---- running ---- */

infiniStatus_t tni_iop_go(tni_iop_name name, const struct InfiniopDescriptor *desc,
                          void *workspace, size_t size, const double *num, void **given,
                          const void *const *data);

#endif
