/* trial_contract.h - random contractions, compared with sums of the slow oracle. */
#ifndef TRIAL_CONTRACT_H
#define TRIAL_CONTRACT_H

#include "contract_draw.h"
#include "trial.h"

/* ---- contractions ---- */

typedef struct contracting {
    draw_case c;
    char spec[256];
    bool matmul, plan;
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
} contracting;

static tn_status call_contract(const tn_tensor *dst, const void *about)
{
    const contracting *x = about;
    const void *data[TN_EINSUM_SOURCES];
    tn_plan *plan = NULL;
    if (!x->plan)
        return x->matmul ? tn_matmul(dst, x->srcs[0], x->srcs[1])
                         : tn_einsum(dst, x->spec, x->c.n, x->srcs);
    const tn_status made = x->matmul ? tn_plan_matmul(&plan, dst, x->srcs[0], x->srcs[1])
                                     : tn_plan_einsum(&plan, dst, x->spec, x->c.n, x->srcs);
    if (made != TN_OK)
        return made;
    for (int k = 0; k < x->c.n; k++)
        data[k] = x->srcs[k]->data;
    const tn_status status = tn_plan_run(plan, dst->data, data);
    tn_plan_free(plan);
    return status;
}

/* Draw an operand.  matmul broadcasts: a batch axis may be 1 in one source and larger in the
 * other. */
static ground draw_factor(rng *r, const contracting *x, int k)
{
    int64_t shape[16];
    const char *letters = x->c.letters[k];
    const int ndim = (int)strlen(letters);
    for (int i = 0; i < ndim; i++) {
        const bool both = x->matmul && k == 1 && strchr("xy", letters[i]) &&
                          strchr(x->c.letters[2], letters[i]);
        const bool repeats = both && next(r) % 4 == 0;
        shape[i] = repeats ? 1 : x->c.extent[(int)letters[i]];
    }
    ground g = draw_ground(r, k ? x->c.dtype[k - 1] : x->c.dst, ndim, shape, k > 0);
    if (k)
        oracle_fill(r, &g.t, tni_dtypes[x->c.met].kind <= TNI_UNSIGNED);
    return g;
}

/* Check that every element is within the bound, integers are exact, and nothing between
 * elements has changed. */
static bool right_sums(trial *t, const contracting *x, const ground *dst, const ground *old)
{
    int64_t at[TN_MAX_NDIM] = {0}, index[ORACLE_LETTERS] = {0};
    const char *letters[1 + TN_EINSUM_SOURCES];
    for (int k = 0; k <= x->c.n; k++)
        letters[k] = x->c.letters[k];
    while (tn_numel(&dst->t)) {
        for (int i = 0; i < dst->t.ndim; i++)
            index[(int)letters[0][i]] = at[i];
        const char *d = element(&dst->t, at);
        const oracle_sum s = oracle_element(x->c.n, letters, x->srcs, x->c.extent, index);
        if (!oracle_close(&s, x->c.met, x->c.dst, d))
            return miss(t, x->spec, &dst->t, x->srcs[0]);
        memcpy(element(&old->t, at), d, tn_dtype_size(x->c.dst));
        if (!index_next(at, dst->t.ndim, dst->t.shape))
            break;
    }
    return same_ground(dst, old) || miss(t, "contraction between elements", &dst->t, NULL);
}

static bool try_contract(trial *t)
{
    rng *r = &t->r;
    contracting x = {.matmul = next(r) % 2, .plan = next(r) % 2};
    ground srcs[TN_EINSUM_SOURCES];
    (x.matmul ? draw_matmul : draw_letters)(r, &x.c, next(r) % 128 ? 800 : 40000);
    draw_dtypes(r, &x.c);
    spec_of(&x.c, DRAW_LETTERS, x.spec);
    for (int k = 0; k < x.c.n; k++) {
        srcs[k] = draw_factor(r, &x, k + 1);
        x.srcs[k] = &srcs[k].t;
    }
    ground dst = draw_factor(r, &x, 0), old = ground_twin(&dst);
    bool good = settle(t, x.spec, &dst, NULL, call_contract, &x, x.srcs[0]);
    if (tni_dtypes[x.c.dst].kind <= TNI_UNSIGNED) /* bits of floats depend on the level */
        digest_bytes(t, dst.bytes, dst.size);
    if (can_compare())
        good = good && right_sums(t, &x, &dst, &old);
    for (int k = 0; k < x.c.n; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

#endif
