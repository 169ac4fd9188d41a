/* iop_program.h - operators that are several calls of tenon, one after the other.
 *
 * A program has operands, the tensors of the operator in the order in which a run gives their
 * data, and steps: plans, or calls on whole tensors.  A tensor of a step is a view of an operand,
 * of a temporary in the workspace or of a constant.  Views are made before there is any data:
 * flags says what a tensor is a view of, and its data how far away from it. */
#ifndef TNI_IOP_PROGRAM_H
#define TNI_IOP_PROGRAM_H

#include "iop.h"

enum { TNI_IOP_TENSORS = 10, TNI_IOP_NUMBERS = 6 };

/* What the making of an operator is given: tensors in the order of a run's data (NULL where that
 * is allowed), numbers, and arrays. */
typedef struct tni_iop_args {
    tni_iop_tensor t[TNI_IOP_TENSORS];
    double num[TNI_IOP_NUMBERS];
    const void *array[3];
} tni_iop_args;

typedef struct tni_iop_step tni_iop_step;

/* One run: addresses of the operands, numbers that came with them, memory of its own. */
typedef struct tni_iop_env {
    const tni_iop_program *program;
    char *base[TNI_IOP_TENSORS + 2]; /* [0] NULL, operands from [1] on, then the workspace */
    const double *num;
    void **given; /* pointers that the run fills */
    void *scratch;
    size_t scratch_size;
} tni_iop_env;

/* ts are the step's tensors with their data. */
typedef tn_status (*tni_iop_call)(const tni_iop_env *env, const tni_iop_step *s,
                                  const tn_tensor *ts);

typedef struct tni_iop_ref {
    int base;
    int64_t at;
} tni_iop_ref;

/* Its address in a run. */
static inline void *tni_iop_at(const tni_iop_env *env, tni_iop_ref r)
{
    if (r.base && !env->base[r.base])
        return NULL;
    return (void *)((uintptr_t)env->base[r.base] + (uintptr_t)r.at);
}

enum { TNI_IOP_STEP_TENSORS = 9 };

struct tni_iop_step {
    tni_iop_step *next;
    tn_plan *plan;     /* owned; run as it is where there is no */
    tni_iop_call call; /* which is given */
    bool held;         /* run by the call of a step before it, not by itself */
    double num[2];
    int64_t whole[2];
    int n;
    tni_iop_ref ref[TNI_IOP_STEP_TENSORS];
    tn_tensor t[]; /* operands of a call */
};

struct tni_iop_program {
    tni_iop head;
    int n; /* operands */
    tn_tensor t[TNI_IOP_TENSORS];
    int64_t low[TNI_IOP_TENSORS], high[TNI_IOP_TENSORS];
    bool given[TNI_IOP_TENSORS]; /* the descriptor was not NULL */
    tni_iop_step *first, **end;
    void *constants;          /* a list */
    size_t memory;            /* bytes of temporaries */
    size_t scratch;           /* the most that a step needs besides */
    tn_dtype wide;            /* what sums are made in: f64 for F64, else f32 */
    const tni_iop_args *args; /* while it is made */
};

/* ---- making ---- */

infiniStatus_t tni_iop_create(tni_iop_name name, infiniopHandle_t handle,
                              struct InfiniopDescriptor **out, const tni_iop_args *args);
void tni_iop_free_program(tni_iop_program *p);

/* What the steps are, a line each, and the plan of the first; cut to n bytes. */
tn_status tni_iop_explain(const tni_iop_program *p, char *buf, size_t n);

/* "Gemm": what sentences begin with. */
#define IOP_NAME(p) (tni_iop_rows[(p)->head.name].name)

/* A dense temporary, and a dense constant whose memory is to be filled. */
tn_status tni_iop_temp(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                       const int64_t *shape);
tn_status tni_iop_constant(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                           const int64_t *shape, void **data);

/* The program owns plan from now on, also when it fails. */
tn_status tni_iop_add(tni_iop_program *p, tn_status planned, tn_plan *plan,
                      const tn_tensor *dst, int n, const tn_tensor *const *srcs);

/* dst = src, in dst's dtype. */
tn_status tni_iop_copy(tni_iop_program *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tni_iop_reduce(tni_iop_program *p, tn_reduction op, double param,
                         const tn_tensor *dst, const tn_tensor *src, int naxes,
                         const int *axes);
tn_status tni_iop_einsum(tni_iop_program *p, const tn_tensor *dst, const char *spec, int n,
                         const tn_tensor *const *srcs);
tn_status tni_iop_gemm(tni_iop_program *p, const tn_tensor *dst, double alpha,
                       const tn_tensor *a, const tn_tensor *b, double beta, const tn_tensor *c);

/* A function of rows, as tn_plan_rows. */
tn_status tni_iop_row_function(tni_iop_program *p, tn_row op, int dim, double eps,
                               const tn_tensor *dst, const tn_tensor *src,
                               const tn_tensor *first, const tn_tensor *second);

/* dst = text, an expression of the sources a, b, c, …; @ is the name of p->wide, #0 the first of
 * num. */
tn_status tni_iop_expr(tni_iop_program *p, const tn_tensor *dst, const char *text,
                       const double *num, int n, const tn_tensor *const *srcs);
#define IOP_EXPR(p, dst, text, num, ...)                                                       \
    tni_iop_expr(p, dst, text, num,                                                            \
                 (int)(sizeof((const tn_tensor *[]){__VA_ARGS__}) / sizeof(tn_tensor *)),      \
                 (const tn_tensor *const[]){__VA_ARGS__})

/* call with n tensors, a number and two whole ones. */
tn_status tni_iop_call_step(tni_iop_program *p, tni_iop_call call, int n,
                            const tn_tensor *const *ts, double num, int64_t whole0,
                            int64_t whole1);
#define IOP_CALL(p, call, num, whole0, whole1, ...)                                            \
    tni_iop_call_step(p, call,                                                                 \
                      (int)(sizeof((const tn_tensor *[]){__VA_ARGS__}) / sizeof(tn_tensor *)), \
                      (const tn_tensor *const[]){__VA_ARGS__}, num, whole0, whole1)

/* The step that was added last. */
static inline tni_iop_step *tni_iop_last(const tni_iop_program *p)
{
    return (tni_iop_step *)(void *)p->end; /* next is its first member */
}

/* Steps after s, to the last one, are run by s. */
static inline void tni_iop_hold(tni_iop_step *s)
{
    for (s = s->next; s; s = s->next)
        s->held = true;
}

/* Run s, its tensors offset by these bytes. */
tn_status tni_iop_run_held(const tni_iop_env *env, const tni_iop_step *s,
                           const int64_t *offset);

/* values, indices (or NULL) = src ordered along dim, by a step. */
tn_status tni_iop_sort(tni_iop_program *p, const tn_tensor *values, const tn_tensor *indices,
                       const tn_tensor *src, int dim, unsigned flags);

/* ---- steps on whole tensors (iop_steps.c), named as the calls of tenon ---- */

tn_status tni_iop_add_rms_norm(const tni_iop_env *env, const tni_iop_step *s,
                               const tn_tensor *t);
tn_status tni_iop_take(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_take_along(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_put(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_put_along(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_diff(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_dot(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);
tn_status tni_iop_histogram(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);

/* Every element of t[0], integers, is in [whole[0], whole[1]). */
tn_status tni_iop_in_range(const tni_iop_env *env, const tni_iop_step *s, const tn_tensor *t);

/* Operands y and x: the last n axes of x are divided into as many cells as y has, and the
 * elements of a cell meet by op. */
tn_status tni_iop_plan_cells(tni_iop_program *p, int n, tn_reduction op);

/* ---- checks ---- */

tn_status tni_iop_fail(const tni_iop_program *p, tn_status status, const char *what);

/* Operand k has a dtype of the row, and so have those of mask: the same one.  p->wide is set. */
tn_status tni_iop_alike(tni_iop_program *p, int k, unsigned mask);

/* The last axis of operand k is dense. */
tn_status tni_iop_dense_last(const tni_iop_program *p, int k);
tn_status tni_iop_contiguous(const tni_iop_program *p, int k);

/* Operand k has ndim axes; its dtype is that of the first, or dtype. */
tn_status tni_iop_rank(const tni_iop_program *p, int k, int ndim);
tn_status tni_iop_is(const tni_iop_program *p, int k, tn_dtype dtype);
tn_status tni_iop_index(const tni_iop_program *p, int k); /* I32 or I64 */

/* Operand k has this shape. */
tn_status tni_iop_shape(const tni_iop_program *p, int k, int ndim, const int64_t *shape);
tn_status tni_iop_like(const tni_iop_program *p, int k, int as); /* the shape of operand as */

/* Operand k has rank 0, or 1 with one element; as a tensor without axes. */
tn_status tni_iop_one(const tni_iop_program *p, int k, tn_tensor *out);

static inline tn_dtype tni_iop_wide(tn_dtype dtype)
{
    return dtype == TN_F64 ? TN_F64 : TN_F32;
}

/* t of integers, seen as unsigned ones: a negative one is too large for any axis. */
tn_tensor tni_iop_unsigned(const tn_tensor *t);

/* ---- how each is made: the checks of its tensors, then its steps ---- */

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
