/* iop_program.c - programs of steps: made once, run with other data each time.
 *
 * Everything that can be known without data is checked when a program is made.  A run checks
 * its pointers, their overlap, and indices; after that no step fails. */
#include "iop_program.h"

#include <stdio.h>
#include <string.h>

enum { BASE_SHIFT = 8, WORKSPACE = TNI_IOP_TENSORS + 1 };

/* The address from which views are measured: far from both ends of the address space. */
static const uintptr_t anchor = (uintptr_t)1 << (8 * sizeof(uintptr_t) - 2);

static void set_base(tn_tensor *t, int base, int64_t at)
{
    t->data = (void *)(anchor + (uintptr_t)at);
    t->flags = (uint32_t)base << BASE_SHIFT;
}

static tni_iop_ref ref_of(const tn_tensor *t)
{
    const int base = (int)(t->flags >> BASE_SHIFT);
    return (tni_iop_ref){base, (int64_t)((uintptr_t)t->data - (base ? anchor : 0))};
}

/* ---- making ---- */

tn_status tni_iop_temp(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                       const int64_t *shape)
{
    TRY(tn_init(t, NULL, dtype, ndim, shape));
    set_base(t, WORKSPACE, (int64_t)p->memory);
    const int64_t bytes = tn_nbytes(t);
    if ((uint64_t)bytes > (uint64_t)PTRDIFF_MAX - p->memory - 4 * TNI_LINE)
        return tni_iop_fail(p, TN_EOVERFLOW, "the size of the workspace exceeds 64 bits");
    p->memory += ((size_t)bytes + TNI_LINE - 1) / TNI_LINE * TNI_LINE;
    return TN_OK;
}

tn_status tni_iop_constant(tni_iop_program *p, tn_tensor *t, tn_dtype dtype, int ndim,
                           const int64_t *shape, void **data)
{
    TRY(tn_init(t, NULL, dtype, ndim, shape));
    void **block = tni_alloc((size_t)tn_nbytes(t) + TNI_LINE);
    if (!block)
        return tni_iop_fail(p, TN_ENOMEM, "out of memory");
    *block = p->constants;
    p->constants = block;
    *data = t->data = (char *)block + TNI_LINE;
    return TN_OK;
}

/* Append a step; NULL: out of memory.  With whole, the step keeps its tensors. */
static tni_iop_step *add_step(tni_iop_program *p, int n, const tn_tensor *const *ts, bool whole)
{
    tni_iop_step *s = tni_alloc(sizeof *s + (whole ? (size_t)n * sizeof(tn_tensor) : 0));
    if (!s) {
        (void)!tni_iop_fail(p, TN_ENOMEM, "out of memory");
        return NULL;
    }
    ASSERT(n <= TNI_IOP_STEP_TENSORS);
    memset(s, 0, sizeof *s);
    s->n = n;
    for (int k = 0; k < n; k++) {
        s->ref[k] = ts[k] ? ref_of(ts[k]) : (tni_iop_ref){-1, 0};
        if (whole && ts[k])
            s->t[k] = *ts[k];
    }
    *p->end = s;
    p->end = &s->next;
    return s;
}

tn_status tni_iop_add(tni_iop_program *p, tn_status planned, tn_plan *plan,
                      const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    const tn_tensor *ts[TNI_IOP_STEP_TENSORS] = {dst};
    TRY(planned);
    for (int k = 0; k < n; k++)
        ts[k + 1] = srcs[k];
    tni_iop_step *s = add_step(p, n + 1, ts, false);
    if (!s) {
        tn_plan_free(plan);
        return TN_ENOMEM;
    }
    s->plan = plan;
    const size_t scratch = tn_plan_workspace(plan);
    p->scratch = scratch > p->scratch ? scratch : p->scratch;
    return TN_OK;
}

tn_status tni_iop_call_step(tni_iop_program *p, tni_iop_call call, int n,
                            const tn_tensor *const *ts, double num, int64_t whole0,
                            int64_t whole1)
{
    tni_iop_step *s = add_step(p, n, ts, true);
    if (!s)
        return TN_ENOMEM;
    s->call = call;
    s->num[0] = num;
    s->whole[0] = whole0;
    s->whole[1] = whole1;
    return TN_OK;
}

tn_status tni_iop_copy(tni_iop_program *p, const tn_tensor *dst, const tn_tensor *src)
{
    tn_plan *plan = NULL;
    const tn_status status = tn_plan_cast(&plan, dst, src);
    return tni_iop_add(p, status, plan, dst, 1, &src);
}

tn_status tni_iop_reduce(tni_iop_program *p, tn_reduction op, double param,
                         const tn_tensor *dst, const tn_tensor *src, int naxes, const int *axes)
{
    tn_plan *plan = NULL;
    const double *params = tn_reduction_params(op) ? &param : NULL;
    const tn_status status = tn_plan_reduce(&plan, op, params, dst, src, naxes, axes);
    return tni_iop_add(p, status, plan, dst, 1, &src);
}

tn_status tni_iop_einsum(tni_iop_program *p, const tn_tensor *dst, const char *spec, int n,
                         const tn_tensor *const *srcs)
{
    tn_plan *plan = NULL;
    const tn_status status = tn_plan_einsum(&plan, dst, spec, n, srcs);
    return tni_iop_add(p, status, plan, dst, n, srcs);
}

tn_status tni_iop_gemm(tni_iop_program *p, const tn_tensor *dst, double alpha,
                       const tn_tensor *a, const tn_tensor *b, double beta, const tn_tensor *c)
{
    tn_plan *plan = NULL;
    const tn_status status = tn_plan_gemm(&plan, dst, alpha, a, b, beta, c);
    return tni_iop_add(p, status, plan, dst, beta != 0 ? 3 : 2,
                       (const tn_tensor *const[]){a, b, c});
}

/* Copy text, replacing @ by the name of the dtype and #i by num[i]. */
static bool write_text(char *out, size_t size, const char *text, tn_dtype wide,
                       const double *num)
{
    size_t used = 0;
    for (; *text && used < size; text++) {
        char one[2] = {*text, 0}, number[48];
        const char *piece = one;
        if (*text == '@') {
            piece = tn_dtype_name(wide);
        } else if (*text == '#') {
            const double x = num[*++text - '0'];
            if (x - x == 0)
                snprintf(number, sizeof number, "(%.17g)", x);
            else
                snprintf(number, sizeof number, "%s",
                         x > 0   ? "(1e999)"
                         : x < 0 ? "(-1e999)"
                                 : "(1e999-1e999)");
            piece = number;
        }
        const int n = snprintf(out + used, size - used, "%s", piece);
        used += (size_t)n;
    }
    return used < size;
}

tn_status tni_iop_expr(tni_iop_program *p, const tn_tensor *dst, const char *text,
                       const double *num, int n, const tn_tensor *const *srcs)
{
    char whole[1024];
    tn_expr *e = NULL;
    tn_plan *plan = NULL;
    const tn_tensor *named[TNI_IOP_STEP_TENSORS];
    if (!write_text(whole, sizeof whole, text, p->wide, num))
        return tni_iop_fail(p, TN_EUNSUPPORTED, "the expression is too long");
    TRY(tn_expr_parse(&e, whole));
    const int names = tn_expr_count(e);
    ASSERT(names <= n);
    (void)n;
    for (int k = 0; k < names; k++)
        named[k] = srcs[tn_expr_name(e, k)[0] - 'a'];
    const tn_status status = tn_plan_expr(&plan, e, dst, names, named);
    tn_expr_free(e);
    return tni_iop_add(p, status, plan, dst, names, named);
}

void tni_iop_free_program(tni_iop_program *p)
{
    for (tni_iop_step *s = p->first, *next; s; s = next) {
        next = s->next;
        tn_plan_free(s->plan);
        tni_free(s);
    }
    for (void **c = p->constants, **next; c; c = next) {
        next = *c;
        tni_free(c);
    }
}

static tn_status check_given(const tni_iop_request *q, const tni_iop_args *args)
{
    const tni_iop_row *row = &tni_iop_rows[q->name];
    TRY(tni_iop_check(q, 0, NULL));
    for (int k = 0; k < row->n; k++) {
        if (!args->t[k] && !(row->optional >> k & 1))
            return tni_fail(TN_ENULL, "%s: tensor descriptor %d is NULL", row->name, k);
        if (args->t[k] && !tni_iop_has_arithmetic(args->t[k]->dtype))
            return tni_fail(TN_EDTYPE, "%s: tensor %d: dtype %d is not supported", row->name, k,
                            (int)args->t[k]->dtype);
    }
    return TN_OK;
}

static tn_status make(const tni_iop_request *q, const tni_iop_args *args)
{
    const tni_iop_row *row = &tni_iop_rows[q->name];
    tni_iop *made;
    TRY(check_given(q, args));
    TRY(tni_iop_make(&made, q, sizeof(tni_iop_program), NULL));
    tni_iop_program *p = (tni_iop_program *)made;
    made->program = true;
    p->n = row->n;
    p->end = &p->first;
    p->args = args;
    for (int k = 0; k < p->n; k++) {
        p->given[k] = args->t[k] != NULL;
        if (!p->given[k])
            continue;
        p->t[k] = args->t[k]->t;
        set_base(&p->t[k], k + 1, 0);
        tni_extent(&p->t[k], &p->low[k], &p->high[k]);
    }
    tn_status status = row->plan(p);
    for (int k = 0; k < p->n && status == TN_OK; k++)
        if (row->written >> k & 1 && p->given[k])
            status = tni_check_injective(&p->t[k], row->name, "an output");
    if (status != TN_OK) {
        tni_iop_free(made);
        return status;
    }
    p->args = NULL;
    p->scratch = (p->scratch + TNI_LINE - 1) / TNI_LINE * TNI_LINE;
    made->workspace = p->memory + p->scratch ? p->memory + p->scratch + TNI_LINE - 1 : 0;
    *q->out = &made->base;
    return TN_OK;
}

infiniStatus_t tni_iop_create(tni_iop_name name, infiniopHandle_t handle,
                              struct InfiniopDescriptor **out, const tni_iop_args *args)
{
    return tni_iop_status(make(&(tni_iop_request){name, handle, out}, args));
}

/* ---- running ---- */

/* Copy t, only the axes that it has, with its address. */
static void settle(tn_tensor *out, const tn_tensor *t, void *data)
{
    tni_inherit(out, t, data, t->ndim);
    out->flags = 0;
    for (int i = 0; i < t->ndim; i++) {
        out->shape[i] = t->shape[i];
        out->stride[i] = t->stride[i];
    }
}

/* Only tensors whose byte ranges intersect are checked exactly. */
static tn_status check_shared(const tni_iop_program *p, const tni_iop_row *row, char *const *at)
{
    for (int i = 0; i < p->n; i++)
        for (int k = 0; row->written >> i & 1 && k < p->n; k++) {
            const bool both = row->written >> k & 1;
            if (k == i || (both && k < i) || p->low[i] == p->high[i] ||
                p->low[k] == p->high[k] || !at[k + 1])
                continue;
            const uintptr_t a = (uintptr_t)at[i + 1], b = (uintptr_t)at[k + 1];
            if (a + (uintptr_t)p->high[i] <= b + (uintptr_t)p->low[k] ||
                b + (uintptr_t)p->high[k] <= a + (uintptr_t)p->low[i])
                continue;
            tn_tensor x, y;
            settle(&x, &p->t[i], at[i + 1]);
            settle(&y, &p->t[k], at[k + 1]);
            TRY(tni_check_disjoint(
                &x, &y, row->alias && !both, row->name,
                (const char *const[]){"an output", both ? "another" : "an input"}));
        }
    return TN_OK;
}

tn_status tni_iop_run_held(const tni_iop_env *env, const tni_iop_step *s, const int64_t *offset)
{
    void *at[TNI_IOP_STEP_TENSORS] = {NULL};
    for (int k = 0; k < s->n; k++)
        if (s->ref[k].base >= 0)
            at[k] = (void *)((uintptr_t)tni_iop_at(env, s->ref[k]) +
                             (uintptr_t)(offset ? offset[k] : 0));
    if (!s->call)
        return tn_plan_run_in(s->plan, at[0], (const void *const *)&at[1], env->scratch,
                              env->scratch_size);
    tn_tensor ts[TNI_IOP_STEP_TENSORS];
    for (int k = 0; k < s->n; k++)
        if (s->ref[k].base >= 0)
            settle(&ts[k], &s->t[k], at[k]);
    return s->call(env, s, ts);
}

static tn_status run(const tni_iop_program *p, void *workspace, const double *num, void **given,
                     const void *const *data)
{
    const tni_iop_row *row = &tni_iop_rows[p->head.name];
    tni_iop_env env;
    env.program = p;
    env.num = num;
    env.given = given;
    env.base[0] = NULL;
    for (int k = 0; k < p->n; k++) {
        memcpy(&env.base[k + 1], &data[k], sizeof data[k]);
        if (!data[k] && p->low[k] != p->high[k])
            return tni_fail(TN_ENULL, "%s: data of tensor %d is NULL", row->name, k);
    }
    TRY(check_shared(p, row, env.base));
    const uintptr_t line = ((uintptr_t)workspace + TNI_LINE - 1) / TNI_LINE * TNI_LINE;
    env.base[WORKSPACE] = p->head.workspace ? (char *)line : NULL;
    env.scratch = p->scratch ? (char *)line + p->memory : NULL;
    env.scratch_size = p->scratch;
    for (const tni_iop_step *s = p->first; s; s = s->next)
        if (!s->held)
            TRY(tni_iop_run_held(&env, s, NULL));
    return TN_OK;
}

infiniStatus_t tni_iop_go(tni_iop_name name, const struct InfiniopDescriptor *desc,
                          void *workspace, size_t size, const double *num, void **given,
                          const void *const *data)
{
    const tni_iop *iop = tni_iop_of(desc);
    if (UNLIKELY(!iop || iop->name != name))
        return tni_iop_status(tni_iop_fail_run(name, desc));
    if (UNLIKELY(size < iop->workspace || (!workspace && iop->workspace))) {
        const infiniStatus_t status = tni_iop_status(
            tni_fail(TN_EARG, "%s: workspace: got %zu bytes, expected %zu",
                     tni_iop_rows[name].name, workspace ? size : 0, iop->workspace));
        /* For this operator alone InfiniOp distinguishes a missing workspace from one that is
         * too small. */
        return name == TNI_IOP_MatrixPower && !workspace && size >= iop->workspace
                   ? status
                   : INFINI_STATUS_INSUFFICIENT_WORKSPACE;
    }
    const tn_status status = run((const tni_iop_program *)iop, workspace, num, given, data);
    return LIKELY(status == TN_OK) ? INFINI_STATUS_SUCCESS : tni_iop_status(status);
}
