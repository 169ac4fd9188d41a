/* matmul.c - matrix products by NumPy's rule: matmul, and gemm, which adds to a matrix.
 *
 * Each is one product of contract_plan.h.  The axes before the last two are batch axes if both
 * sources have them, and otherwise further rows or columns. */
#include <math.h>

#include "einsum.h"

#include "plan/plan.h"
#include "view/view.h"

/* The arguments of a call. */
typedef struct matmul_call {
    const char *name;
    const tn_tensor *dst, *a, *b, *c; /* c may be NULL */
    double alpha, beta;
    bool gemm;
    tn_dtype compute; /* found by matmul_check */
} matmul_call;

/* ---- shapes ---- */

/* The batch axes of t, as a tensor of which only the shape is set. */
static void matmul_batch(tn_tensor *batch, const tn_tensor *t)
{
    batch->ndim = t->ndim > 2 ? t->ndim - 2 : 0;
    for (int i = 0; i < batch->ndim; i++)
        batch->shape[i] = t->shape[i];
}

/* Find the shape of dst.  TN_ESHAPE if a and b do not fit. */
static tn_status matmul_shape(const char *call, const tn_tensor *a, const tn_tensor *b,
                              int *ndim, int64_t *shape)
{
    if (!a->ndim || !b->ndim)
        return tni_fail(TN_ESHAPE, "%s: %s has no axes, expected 1 or more", call,
                        a->ndim ? "b" : "a");
    const int64_t inner_a = a->shape[a->ndim - 1],
                  inner_b = b->shape[b->ndim > 1 ? b->ndim - 2 : 0];
    if (inner_a != inner_b)
        return tni_fail(TN_ESHAPE,
                        "%s: a has %lld columns and b has %lld rows, expected equal numbers",
                        call, (long long)inner_a, (long long)inner_b);
    tn_tensor batch[2];
    matmul_batch(&batch[0], a);
    matmul_batch(&batch[1], b);
    TRY(tni_broadcast_sources(call, 2, (const tn_tensor *const[]){&batch[0], &batch[1]}, ndim,
                              shape));
    if (a->ndim > 1)
        shape[(*ndim)++] = a->shape[a->ndim - 2];
    if (b->ndim > 1)
        shape[(*ndim)++] = b->shape[b->ndim - 1];
    return TN_OK;
}

tn_status tn_matmul_shape(const tn_tensor *a, const tn_tensor *b, int *ndim, int64_t *shape)
{
    const char *call = "matmul_shape";
    const tn_tensor *const srcs[] = {a, b};
    int64_t found[TN_MAX_NDIM + 2];
    int count;
    if (!a || !b || !ndim || !shape)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call,
                        !a      ? "a"
                        : !b    ? "b"
                        : !ndim ? "ndim"
                                : "shape");
    TRY(tni_check_srcs(TNI_NDIM | TNI_DEVICE | TNI_DTYPE | TNI_SHAPE, call, 2, srcs));
    TRY(matmul_shape(call, a, b, &count, found));
    TRY(tni_check_srcs(TNI_SIZE, call, 2, srcs));
    int64_t size;
    if (!tni_shape_size(count, found, 1, &size))
        return tni_fail(TN_EOVERFLOW, "%s: the result has more than 2^63 - 1 elements", call);
    *ndim = count;
    for (int i = 0; i < count; i++)
        shape[i] = found[i];
    return TN_OK;
}

/* dst has the shape of a @ b, and c broadcasts to it. */
static tn_status matmul_shapes(const tni_call *call)
{
    const matmul_call *m = call->own;
    int64_t shape[TN_MAX_NDIM + 2];
    int ndim;
    const tn_tensor *flat = m->a->ndim < 2 ? m->a : m->b->ndim < 2 ? m->b : NULL;
    if (m->gemm && flat)
        return tni_fail(TN_ESHAPE, "%s: %s: got %d axes, expected 2 or more", m->name,
                        flat == m->a ? "a" : "b", flat->ndim);
    TRY(matmul_shape(m->name, m->a, m->b, &ndim, shape));
    TRY(tni_check_shape(m->dst, ndim, shape, m->name, "dst"));
    if (!m->c)
        return TN_OK;
    if (m->c->ndim > ndim)
        return tni_fail(TN_ESHAPE, "%s: c: got %d axes, expected at most %d", m->name,
                        m->c->ndim, ndim);
    for (int i = 0; i < m->c->ndim; i++) {
        const int64_t n = m->c->shape[i], want = shape[ndim - m->c->ndim + i];
        if (n != want && n != 1)
            return tni_fail(TN_ESHAPE, "%s: c: axis %d: got extent %lld, expected %lld or 1",
                            m->name, i, (long long)n, (long long)want);
    }
    return TN_OK;
}

/* ---- checks ---- */

static tn_status matmul_check_numbers(const matmul_call *m)
{
    const double numbers[] = {m->alpha, m->beta};
    if (!m->gemm || !tni_dtype_known(m->dst->dtype) ||
        tni_dtypes[m->dst->dtype].kind > TNI_UNSIGNED)
        return TN_OK;
    for (int i = 0; i < 2; i++)
        if (!(isfinite(numbers[i]) && numbers[i] == trunc(numbers[i])))
            return tni_fail(TN_EARG, "%s: %s of integers is %g, expected a whole number",
                            m->name, i ? "beta" : "alpha", numbers[i]);
    return TN_OK;
}

static tn_status matmul_args(const tni_call *call)
{
    return matmul_check_numbers(call->own);
}

static tn_status matmul_dtypes(const tni_call *call)
{
    matmul_call *m = call->own;
    tn_dtype both;
    TRY(tni_contract_types(&m->compute, m->name, m->dst->dtype, 2, call->srcs));
    if (m->gemm && m->dst->dtype == TN_BOOL)
        return tni_fail(TN_EDTYPE, "%s: dst is bool, expected numbers", m->name);
    if (m->c &&
        (tn_promote(&both, m->c->dtype, m->dst->dtype) != TN_OK || both != m->dst->dtype))
        return tni_fail(TN_EDTYPE, "%s: c is %s, expected %s", m->name,
                        tn_dtype_name(m->c->dtype), tn_dtype_name(m->dst->dtype));
    return TN_OK;
}

/* c may be dst itself, and needs data only if it is read. */
static tn_status matmul_check(matmul_call *m, bool planned)
{
    static const char *const names[] = {"dst", "a", "b", "c"};
    tni_call call = {.name = m->name,
                     .flags = TNI_NO_DATA,
                     .dst = m->dst,
                     .n = m->c ? 3 : 2,
                     .srcs = (const tn_tensor *const[]){m->a, m->b, m->c},
                     .names = names,
                     .args = matmul_args,
                     .dtypes = matmul_dtypes,
                     .shapes = matmul_shapes,
                     .own = m};
    TRY(tni_check_call(&call));
    if (planned)
        return TN_OK;
    call.n = 2;
    TRY(tni_call_data(&call));
    if (!m->c || m->beta == 0 || !tni_numel(m->dst))
        return TN_OK;
    TRY(tni_check_data(m->c, "gemm: c"));
    return tni_check_disjoint(m->dst, m->c, true, m->name, (const char *const[]){"dst", "c"});
}

/* ---- the product ---- */

/* The step of t along the axis `from_end` before the last; 0 if t is broadcast along it. */
static int64_t matmul_step(const tn_tensor *t, int from_end)
{
    const int i = t->ndim - 1 - from_end;
    return i < 0 || t->shape[i] == 1 ? 0 : t->stride[i];
}

/* The addend has the layout of c if c is read, otherwise that of dst. */
static bool matmul_reads_c(const matmul_call *m)
{
    return m->c && m->beta != 0;
}

static void matmul_add(tni_product *p, const matmul_call *m, int role, int axis, int64_t a,
                       int64_t b)
{
    const int from_end = m->dst->ndim - 1 - axis;
    const int64_t addend =
        matmul_reads_c(m) ? matmul_step(m->c, from_end) : m->dst->stride[axis];
    const int64_t step[TNI_SIDES] = {m->dst->stride[axis], a, b, addend};
    tni_product_add(p, role, m->dst->shape[axis], step);
}

static void matmul_product(tni_product *p, const matmul_call *m)
{
    const tn_tensor *a = m->a, *b = m->b, *dst = m->dst;
    const bool row = a->ndim > 1, col = b->ndim > 1;
    const tn_dtype types[TNI_SIDES] = {dst->dtype, a->dtype, b->dtype,
                                       matmul_reads_c(m) ? m->c->dtype : dst->dtype};
    const int batch = dst->ndim - row - col;
    tni_product_begin(p, types, m->compute);
    p->alpha = m->alpha;
    p->beta = m->beta;
    for (int i = 0; i < batch; i++) {
        const int ia = i - batch + a->ndim - 2, ib = i - batch + b->ndim - 2;
        const bool in_a = row && ia >= 0 && a->shape[ia] != 1;
        const bool in_b = col && ib >= 0 && b->shape[ib] != 1;
        matmul_add(p, m,
                   in_a && in_b ? TNI_BATCH
                   : in_a       ? TNI_ROWS
                                : TNI_COLS,
                   i, in_a ? a->stride[ia] : 0, in_b ? b->stride[ib] : 0);
    }
    if (row)
        matmul_add(p, m, TNI_ROWS, batch, a->stride[a->ndim - 2], 0);
    if (col)
        matmul_add(p, m, TNI_COLS, batch + row, 0, b->stride[b->ndim - 1]);
    const int64_t depth[TNI_SIDES] = {0, a->stride[a->ndim - 1],
                                      b->stride[col ? b->ndim - 2 : 0], 0};
    tni_product_add(p, TNI_DEPTH, a->shape[a->ndim - 1], depth);
    tni_product_normal(p);
}

static void matmul_link(tni_chain *c, const matmul_call *m)
{
    tni_link *l = &c->link[0];
    const int addend = matmul_reads_c(m) ? 2 : TNI_FROM_DST;
    const int from[TNI_SIDES] = {TNI_FROM_DST, 0, 1, addend};
    for (int k = 0; k < TNI_SIDES; k++)
        l->from[k] = from[k];
    matmul_product(&l->plan.p, m);
    tni_chain_plan_one(c);
}

static tn_status matmul_run(matmul_call *m)
{
    TRY(matmul_check(m, false));
    if (tni_numel(m->dst) == 0)
        return TN_OK;
    tni_link link;
    tni_chain chain = {.link = &link};
    matmul_link(&chain, m);
    const char *const srcs[] = {m->a->data, m->b->data, m->c ? m->c->data : NULL};
    return tni_contract_run(m->name, &chain, m->dst->data, srcs);
}

static tn_status matmul_plan(tn_plan **plan, matmul_call *m)
{
    if (!plan)
        return tni_fail(TN_ENULL, "%s: plan is NULL", m->name);
    tni_chain *chain;
    TRY(matmul_check(m, true));
    const tn_tensor *const srcs[] = {m->a, m->b, m->c ? m->c : m->dst};
    tn_plan *p = tni_contract_new(&chain, m->gemm ? "gemm" : "matmul", 1, "",
                                  m->gemm && m->beta != 0 ? 3 : 2, m->dst, srcs);
    if (!p)
        return tni_fail(TN_ENOMEM, "%s: cannot allocate the plan", m->name);
    matmul_link(chain, m);
    if (m->gemm && m->beta != 0)
        chain->link[0].from[TNI_ADDEND] = 2;
    tni_contract_ready(p);
    *plan = p;
    return TN_OK;
}

/* Check that c, which has the layout of dst, is dst itself or shares no byte with it. */
static tn_status gemm_check_addend(const tn_plan *plan, void *dst, const void *c)
{
    tn_tensor d = plan->ts[0], s = plan->ts[0];
    d.data = dst;
    memcpy(&s.data, &c, sizeof c);
    return tni_check_disjoint(&d, &s, true, "plan_gemm_run", (const char *const[]){"dst", "c"});
}

/* ---- calls ---- */

tn_status tn_matmul(const tn_tensor *dst, const tn_tensor *a, const tn_tensor *b)
{
    return matmul_run(&(matmul_call){.name = "matmul", .dst = dst, .a = a, .b = b, .alpha = 1});
}

tn_status tn_gemm(const tn_tensor *dst, double alpha, const tn_tensor *a, const tn_tensor *b,
                  double beta, const tn_tensor *c)
{
    return matmul_run(&(matmul_call){"gemm", dst, a, b, c, alpha, beta, true, TN_BOOL});
}

tn_status tn_plan_matmul(tn_plan **plan, const tn_tensor *dst, const tn_tensor *a,
                         const tn_tensor *b)
{
    return matmul_plan(
        plan, &(matmul_call){.name = "plan_matmul", .dst = dst, .a = a, .b = b, .alpha = 1});
}

tn_status tn_plan_gemm(tn_plan **plan, const tn_tensor *dst, double alpha, const tn_tensor *a,
                       const tn_tensor *b, double beta, const tn_tensor *c)
{
    return matmul_plan(plan,
                       &(matmul_call){"plan_gemm", dst, a, b, c, alpha, beta, true, TN_BOOL});
}

tn_status tn_plan_gemm_run(const tn_plan *plan, void *dst, double alpha, const void *a,
                           const void *b, double beta, const void *c, void *workspace,
                           size_t size)
{
    const char *call = "plan_gemm_run";
    const void *const srcs[] = {a, b, c ? c : dst};
    const char *const at[] = {a, b, c ? c : dst};
    if (!plan)
        return tni_fail(TN_ENULL, "%s: plan is NULL", call);
    const tni_chain *chain = tni_contract_gemm(plan);
    if (!chain)
        return tni_fail(TN_EARG, "%s: got a plan of %s, expected one of gemm", call,
                        plan->call);
    TRY(matmul_check_numbers(&(matmul_call){
        .name = call, .dst = &plan->ts[0], .alpha = alpha, .beta = beta, .gemm = true}));
    if (workspace || size)
        TRY(tni_plan_check_workspace(plan, workspace, size, call));
    TRY(tni_plan_check_some(plan, beta != 0 ? plan->nsrc : 2, dst, srcs, call));
    if (beta != 0 && plan->nsrc < 3 && c && c != dst)
        TRY(gemm_check_addend(plan, dst, c));
    if (plan->low[0] == plan->high[0])
        return TN_OK;
    char *taken = NULL;
    if (!workspace && plan->workspace && !(taken = tni_alloc(plan->workspace)))
        return tni_fail(TN_ENOMEM, "%s: cannot allocate a workspace of %zu bytes", call,
                        plan->workspace);
    tni_chain_run_gemm(chain, dst, at, alpha, beta, taken ? taken : workspace);
    tni_free(taken);
    return TN_OK;
}
