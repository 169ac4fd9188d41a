/* contract_types.c - the dtypes of contractions, and what their calls share. */
#include "einsum.h"

#include "plan/plan.h"
#include "view/view.h"

/* The dtype of the accumulators for dst.  Integers of 8 bits are summed in 16, which gives the
 * same low bits. */
static tn_dtype compute_type(tn_dtype promoted, tn_dtype dst)
{
    if (tni_is_narrow(promoted))
        return TN_F32;
    if (dst == TN_I8 || dst == TN_U8)
        return TN_I16;
    return dst;
}

tn_status tni_contract_types(tn_dtype *compute, const char *call, tn_dtype dst, int n,
                             const tn_tensor *const *srcs)
{
    tn_dtype promoted = srcs[0]->dtype, wide;
    for (int k = 1; k < n; k++) {
        const tn_dtype with = promoted;
        if (promoted != srcs[k]->dtype && tn_promote(&promoted, with, srcs[k]->dtype) != TN_OK)
            return tni_fail(TN_EDTYPE, "%s: no dtype holds both %s and %s", call,
                            tn_dtype_name(with), tn_dtype_name(srcs[k]->dtype));
    }
    const int kind = tni_dtypes[promoted].kind, dst_kind = tni_dtypes[dst].kind;
    const bool whole = kind <= TNI_UNSIGNED && dst_kind <= TNI_UNSIGNED;
    const bool fits = dst == promoted || (tni_is_narrow(promoted) && dst == TN_F32) ||
                      (whole && tn_promote(&wide, promoted, dst) == TN_OK && wide == dst);
    if (!fits)
        return tni_fail(TN_EDTYPE, "%s: dst: the sources promote to %s, got %s", call,
                        tn_dtype_name(promoted), tn_dtype_name(dst));
    *compute = compute_type(promoted, dst);
    return TN_OK;
}

tn_status tni_contract_run(const char *call, const tni_chain *c, char *dst,
                           const char *const *srcs)
{
    char *workspace = NULL;
    if (c->workspace) {
        workspace = tni_alloc(c->workspace);
        if (!workspace)
            return tni_fail(TN_ENOMEM, "%s: cannot allocate a workspace of %zu bytes", call,
                            c->workspace);
    }
    tni_chain_run(c, dst, srcs, workspace);
    tni_free(workspace);
    return TN_OK;
}
