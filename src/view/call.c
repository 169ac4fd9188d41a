/* call.c - checks the arguments of a call in a fixed order and reports the first failure.
 *
 * Calls that touch elements go through tni_check_call, so that the order is decided in this
 * file and not in each call. */
#include "view.h"

static bool call_writes(const tni_call *call)
{
    return !(call->flags & TNI_NO_DST);
}

/* Every rule at once: the fast path of a correct call. */
static bool call_sound(const tni_call *call)
{
    if (call_writes(call) && (!tni_operand_sound(call->dst) || call->dst->flags & TN_READONLY))
        return false;
    if (!call->srcs && call->n > 0)
        return false;
    for (int k = 0; k < call->n; k++)
        if (!tni_operand_sound(call->srcs[k]))
            return false;
    return true;
}

static tn_status call_rules(const tni_call *call, bool sound, unsigned rules)
{
    return LIKELY(sound) ? TN_OK : tni_check_rules(rules, call);
}

static tn_status call_hook(const tni_call *call, tni_call_hook hook)
{
    return hook ? hook(call) : TN_OK;
}

static tn_status fail_data(const tni_call *call, const tn_tensor *t, int k)
{
    char who[TNI_WHO];
    return tni_fail(TN_ENULL, "%s: %s has %lld elements but data is NULL", call->name,
                    tni_operand_name(who, call, k), (long long)tni_numel(t));
}

/* An operand with elements needs data even if dst has none: what nonzero or take write depends
 * on the elements of a source. */
tn_status tni_call_data(const tni_call *call)
{
    if (call_writes(call) && UNLIKELY(!call->dst->data) && tni_numel(call->dst) > 0)
        return fail_data(call, call->dst, -1);
    for (int k = 0; k < call->n; k++)
        if (UNLIKELY(!call->srcs[k]->data) && tni_numel(call->srcs[k]) > 0)
            return fail_data(call, call->srcs[k], k);
    if (!call_writes(call) || !call->dst->data)
        return TN_OK;
    for (int k = 0; k < call->n; k++) {
        const tni_overlap found =
            tni_find_overlap(call->dst, call->srcs[k], call->flags & TNI_ALLOW_ALIAS);
        if (UNLIKELY(found != TNI_DISJOINT)) {
            char who[TNI_WHO];
            return tni_fail_overlap(found, call->name, tni_dst_name(call),
                                    tni_operand_name(who, call, k));
        }
    }
    return TN_OK;
}

tn_status tni_check_call(const tni_call *call)
{
    const bool sound = call_sound(call);
    TRY(call_rules(call, sound, TNI_NULL));
    TRY(call_hook(call, call->nulls));
    TRY(call_rules(call, sound, TNI_NDIM));
    TRY(call_hook(call, call->args));
    TRY(call_rules(call, sound, TNI_DEVICE | TNI_DTYPE));
    TRY(call_hook(call, call->dtypes));
    TRY(call_rules(call, sound, TNI_SHAPE));
    TRY(call_hook(call, call->shapes));
    TRY(call_rules(call, sound, TNI_SIZE));
    if (call_writes(call))
        TRY(tni_check_injective(call->dst, call->name, tni_dst_name(call)));
    return call->flags & TNI_NO_DATA ? TN_OK : tni_call_data(call);
}

tn_status tni_call_same_dtypes(const tni_call *call)
{
    for (int k = 0; k < call->n; k++)
        if (UNLIKELY(call->srcs[k]->dtype != call->dst->dtype)) {
            char who[TNI_WHO];
            return tni_fail(TN_EDTYPE,
                            "%s: %s: dtype differs from %s, got %s, expected %s; "
                            "tn_cast converts",
                            call->name, tni_operand_name(who, call, k), tni_dst_name(call),
                            tn_dtype_name(call->srcs[k]->dtype),
                            tn_dtype_name(call->dst->dtype));
        }
    return TN_OK;
}

/* dst must have the shape of the first source, the other sources that of dst. */
tn_status tni_call_same_shapes(const tni_call *call)
{
    char who[TNI_WHO];
    for (int k = 0; k < call->n; k++) {
        const tn_tensor *dst = call->dst, *src = call->srcs[k];
        if (LIKELY(tni_has_shape(src, dst->ndim, dst->shape)))
            continue;
        return k == 0
                   ? tni_check_shape(dst, src->ndim, src->shape, call->name, tni_dst_name(call))
                   : tni_check_shape(src, dst->ndim, dst->shape, call->name,
                                     tni_operand_name(who, call, k));
    }
    return TN_OK;
}
