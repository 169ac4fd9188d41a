/* expr.c - evaluating expressions: parse, determine dtypes, check operands, plan, run. */
#include "expr.h"

#include <string.h>

#include "expr_reduce.h"
#include "plan/plan.h"
#include "view/view.h"

struct tn_expr {
    int count;
    const char *name[TN_EXPR_NAMES];
    char *text; /* followed by the names, each terminated by 0 */
    size_t text_size;
};

/* ---- parsed expressions ---- */

static tn_status ignore_item(void *user, const tni_expr_item *item)
{
    (void)user, (void)item;
    return TN_OK;
}

tn_status tn_expr_parse(tn_expr **e, const char *text)
{
    if (!e || !text)
        return tni_fail(TN_ENULL, "expr_parse: %s is NULL", e ? "text" : "e");
    tni_expr_names names = {.ngiven = -1};
    TRY(tni_expr_parse("expr_parse", text, &names, ignore_item, NULL));
    size_t bytes = strlen(text) + 1;
    for (int i = 0; i < names.count; i++)
        bytes += (size_t)names.size[i] + 1;
    tn_expr *x = tni_alloc(sizeof *x + bytes);
    if (!x)
        return tni_fail(TN_ENOMEM, "expr_parse: cannot allocate the expression");
    x->count = names.count;
    x->text = (char *)(x + 1);
    x->text_size = bytes;
    memcpy(x->text, text, strlen(text) + 1);
    char *at = x->text + strlen(text) + 1;
    for (int i = 0; i < names.count; i++) {
        memcpy(at, names.name[i], (size_t)names.size[i]);
        at[names.size[i]] = 0;
        x->name[i] = at;
        at += names.size[i] + 1;
    }
    *e = x;
    return TN_OK;
}

void tn_expr_free(tn_expr *e)
{
    tni_free(e);
}

int tn_expr_count(const tn_expr *e)
{
    return e ? e->count : 0;
}

const char *tn_expr_name(const tn_expr *e, int i)
{
    return e && i >= 0 && i < e->count ? e->name[i] : NULL;
}

const char *tn_expr_text(const tn_expr *e)
{
    return e ? e->text : NULL;
}

/* ---- operands ---- */

/* The input and results of the checks. */
typedef struct eval {
    const char *text;
    tni_expr_names *names;
    tni_expr_program e;
} eval;

/* dst, and the sources broadcast to its shape. */
typedef struct repeated {
    const tn_tensor *ts[TNI_MAX_OPERANDS];
    tn_tensor view[TN_EXPR_NAMES];
} repeated;

static tn_status eval_types(eval *v, const char *call, int n, const tn_tensor *const *srcs,
                            tn_dtype dst)
{
    tni_expr_names again = *v->names; /* a second parse numbers the names alike */
    tni_expr_begin(&v->e, call, n, srcs);
    TRY(tni_expr_parse(call, v->text, &again, tni_expr_type, &v->e));
    return tni_expr_end(&v->e, dst);
}

static tn_status eval_dtypes(const tni_call *call)
{
    return eval_types(call->own, call->name, call->n, call->srcs, call->dst->dtype);
}

static tn_status eval_shapes(const tni_call *call)
{
    const eval *v = call->own;
    if (v->e.nreduce) { /* the value broadcasts to dst */
        tn_tensor value = {.dtype = call->dst->dtype, .device = TN_CPU};
        const tn_tensor *one = &value;
        TRY(tni_expr_reduced(&v->e, call->n, call->srcs, &value.ndim, value.shape));
        return tni_broadcast_check(call->name, call->dst, 1, &one);
    }
    return tni_broadcast_check(call->name, call->dst, call->n, call->srcs);
}

static tn_status eval_check(eval *v, const char *name, unsigned flags, const tn_tensor *dst,
                            int n, const tn_tensor *const *srcs)
{
    return tni_check_call(&(tni_call){.name = name,
                                      .flags = flags,
                                      .dst = dst,
                                      .n = n,
                                      .srcs = srcs,
                                      .dtypes = eval_dtypes,
                                      .shapes = eval_shapes,
                                      .own = v});
}

/* ---- work ---- */

/* Not inlined, so that this large frame is not on the stack while a text is parsed and
 * typed. */
__attribute__((noinline)) static tn_status run_strips(const eval *v, const char *name,
                                                      const tn_tensor *dst, int n,
                                                      const tn_tensor *const *srcs)
{
    repeated r;
    tni_strips strips;
    tni_instr instr[TNI_MAX_INSTRS];
    const char *at[TN_EXPR_NAMES];
    for (int k = 0; k < n; k++)
        at[k] = srcs[k]->data;
    TRY(tni_broadcast_operands(r.ts, r.view, name, dst, n, srcs));
    tni_strips_plan(&strips, instr, &v->e.program, r.ts);
    tni_strips_run(&strips, dst->data, at);
    return TN_OK;
}

static tn_status expr_evaluate(eval *v, const char *name, const tn_tensor *dst, int n,
                               const tn_tensor *const *srcs)
{
    TRY(eval_check(v, name, TNI_ALLOW_ALIAS, dst, n, srcs));
    if (tni_numel(dst) == 0)
        return TN_OK;
    for (int k = 0; k < n && v->e.nreduce; k++)
        TRY(tni_check_disjoint(dst, srcs[k], false, name, NULL));
    return v->e.nreduce ? tni_expr_reduce(&v->e, dst, n, srcs)
                        : run_strips(v, name, dst, n, srcs);
}

/* Copy the names of a parsed expression, in order. */
static tn_status names_of(tni_expr_names *names, const char *call, const tn_expr *e, int n)
{
    if (n != e->count)
        return tni_fail(TN_EARG, "%s: n: the text has %d names, got %d", call, e->count, n);
    *names = (tni_expr_names){.ngiven = -1};
    for (int i = 0; i < e->count; i++) {
        names->name[i] = e->name[i];
        names->size[i] = (int)strlen(e->name[i]);
    }
    names->count = e->count;
    return TN_OK;
}

static tn_status check_sources(const char *call, int n, const tn_tensor *const *srcs)
{
    if (!srcs && n > 0)
        return tni_fail(TN_ENULL, "%s: srcs is NULL", call);
    for (int k = 0; k < n; k++)
        if (!srcs[k])
            return tni_fail(TN_ENULL, "%s: src %d is NULL", call, k);
    return TN_OK;
}

tn_status tn_expr_run(const tn_expr *e, const tn_tensor *dst, int n,
                      const tn_tensor *const *srcs)
{
    if (!e || !dst)
        return tni_fail(TN_ENULL, "expr_run: %s is NULL", e ? "dst" : "e");
    TRY(check_sources("expr_run", n, srcs));
    tni_expr_names names;
    eval v;
    TRY(names_of(&names, "expr_run", e, n));
    v.text = e->text;
    v.names = &names;
    return expr_evaluate(&v, "expr_run", dst, n, srcs);
}

static tn_status result_types(const tni_call *call)
{
    return eval_types(call->own, call->name, call->n, call->srcs, (tn_dtype)0);
}

static tn_status result(eval *v, const char *call, int n, const tn_tensor *const *srcs,
                        tn_dtype *dtype, int *ndim, int64_t *shape)
{
    int axes;
    int64_t extent[TN_MAX_NDIM];
    TRY(tni_check_call(&(tni_call){.name = call,
                                   .flags = TNI_NO_DST | TNI_NO_DATA,
                                   .n = n,
                                   .srcs = srcs,
                                   .dtypes = result_types,
                                   .own = v}));
    TRY(v->e.nreduce ? tni_expr_reduced(&v->e, n, srcs, &axes, extent)
                     : tni_broadcast_sources(call, n, srcs, &axes, extent));
    *dtype = v->e.result;
    *ndim = axes;
    for (int i = 0; i < axes; i++)
        shape[i] = extent[i];
    return TN_OK;
}

tn_status tn_expr_result(const tn_expr *e, int n, const tn_tensor *const *srcs, tn_dtype *dtype,
                         int *ndim, int64_t *shape)
{
    if (!e || !dtype || !ndim || !shape)
        return tni_fail(TN_ENULL, "expr_result: %s is NULL",
                        !e       ? "e"
                        : !dtype ? "dtype"
                        : !ndim  ? "ndim"
                                 : "shape");
    TRY(check_sources("expr_result", n, srcs));
    tni_expr_names names;
    eval v;
    TRY(names_of(&names, "expr_result", e, n));
    v.text = e->text;
    v.names = &names;
    return result(&v, "expr_result", n, srcs, dtype, ndim, shape);
}

/* Not inlined, for the reason given at run_strips. */
__attribute__((noinline)) static tn_status plan_strips(tn_plan **plan, const eval *v,
                                                       const tn_tensor *dst, int n,
                                                       const tn_tensor *const *srcs)
{
    repeated r;
    TRY(tni_broadcast_operands(r.ts, r.view, "plan_expr", dst, n, srcs));
    tn_plan *p = tni_strips_new("eval", true, &v->e.program, r.ts, srcs);
    if (!p)
        return tni_fail(TN_ENOMEM, "plan_expr: cannot allocate the plan");
    *plan = p;
    return TN_OK;
}

tn_status tn_plan_expr(tn_plan **plan, const tn_expr *e, const tn_tensor *dst, int n,
                       const tn_tensor *const *srcs)
{
    if (!plan || !e || !dst)
        return tni_fail(TN_ENULL, "plan_expr: %s is NULL", !plan ? "plan" : !e ? "e" : "dst");
    TRY(check_sources("plan_expr", n, srcs));
    tni_expr_names names;
    eval v;
    TRY(names_of(&names, "plan_expr", e, n));
    v.text = e->text;
    v.names = &names;
    TRY(eval_check(&v, "plan_expr", TNI_ALLOW_ALIAS | TNI_NO_DATA, dst, n, srcs));
    if (v.e.nreduce)
        return tni_expr_reduce_plan(&v.e, plan, e->text, dst, n, srcs);
    v.e.program.text = e->text;
    v.e.program.text_size = e->text_size;
    return plan_strips(plan, &v, dst, n, srcs);
}

/* ---- expressions with named tensors ---- */

static tn_status check_names(const char *call, int n, const char *const *names)
{
    if (n < 0)
        return tni_fail(TN_EARG, "%s: n is %d, expected at least 0", call, n);
    for (int i = 0; i < n; i++) {
        if (!tni_expr_is_name(names[i]))
            return tni_fail(TN_EARG, "%s: \"%.40s\" is not a valid name", call, names[i]);
        for (int j = 0; j < i; j++)
            if (!strcmp(names[i], names[j]))
                return tni_fail(TN_EARG, "%s: duplicate name %.40s", call, names[i]);
    }
    return TN_OK;
}

/* Find the tensors that the text uses, in the order of first occurrence. */
static tn_status find_sources(tni_expr_names *found, const char *call, const tn_tensor *dst,
                              const char *text, int n, const char *const *names,
                              const tn_tensor *const *srcs, const tn_tensor **used)
{
    if (!text || (n > 0 && (!names || !srcs)))
        return tni_fail(TN_ENULL, "%s: %s is NULL", call,
                        !text    ? "text"
                        : !names ? "names"
                                 : "srcs");
    for (int i = 0; i < n; i++)
        if (!names[i] || !srcs[i])
            return tni_fail(TN_ENULL, "%s: %s %d is NULL", call, names[i] ? "src" : "name", i);
    TRY(check_names(call, n, names));
    if (dst)
        TRY(tni_check_all(TNI_NDIM, call, dst, 0, NULL));
    *found = (tni_expr_names){.ngiven = n, .given = names};
    TRY(tni_expr_parse(call, text, found, ignore_item, NULL));
    for (int i = 0; i < found->count; i++)
        used[i] = srcs[found->from[i]];
    return TN_OK;
}

tn_status tn_eval(const tn_tensor *dst, const char *text, int n, const char *const *names,
                  const tn_tensor *const *srcs)
{
    if (!dst)
        return tni_fail(TN_ENULL, "eval: dst is NULL");
    tni_expr_names found;
    const tn_tensor *used[TN_EXPR_NAMES];
    eval v;
    TRY(find_sources(&found, "eval", dst, text, n, names, srcs, used));
    v.text = text;
    v.names = &found;
    return expr_evaluate(&v, "eval", dst, found.count, used);
}

tn_status tn_eval_copy(tn_tensor *out, const char *text, int n, const char *const *names,
                       const tn_tensor *const *srcs)
{
    if (!out)
        return tni_fail(TN_ENULL, "eval_copy: out is NULL");
    tni_expr_names found;
    const tn_tensor *used[TN_EXPR_NAMES];
    eval v;
    TRY(find_sources(&found, "eval_copy", NULL, text, n, names, srcs, used));
    v.text = text;
    v.names = &found;
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    TRY(result(&v, "eval_copy", found.count, used, &dtype, &ndim, shape));
    tn_tensor made;
    TRY(tni_alloc_dense(&made, dtype, ndim, shape, "eval_copy"));
    const tn_status status = expr_evaluate(&v, "eval_copy", &made, found.count, used);
    if (status != TN_OK)
        tn_free(&made);
    else
        *out = made;
    return status;
}
