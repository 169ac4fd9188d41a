/* check.c - is this descriptor one that the library can work with?
 *
 * A sound tensor passes on a fast path; for a broken one the rules are checked one by one, in
 * the order in which failures are reported. */
#include <stdio.h>

#include "view.h"

static bool extents_fine(const tn_tensor *t)
{
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] < 0)
            return false;
    return true;
}

/* Whether t satisfies a rule, given that it satisfies those before. */
static bool keeps(unsigned rule, const tn_tensor *t, bool written)
{
    switch (rule) {
    case TNI_NULL:
        return t != NULL;
    case TNI_NDIM:
        return tni_ndim_fine(t) && !(written && (t->flags & TN_READONLY));
    case TNI_DEVICE:
        return t->device == TN_CPU;
    case TNI_DTYPE:
        return tni_dtype_known(t->dtype);
    case TNI_SHAPE:
        return extents_fine(t);
    default:
        return tni_sound(t);
    }
}

static tn_status fail_extent(const tn_tensor *t, const char *who)
{
    int i = 0;
    while (t->shape[i] >= 0)
        i++;
    return tni_fail(TN_ESHAPE, "%s: axis %d has a negative extent, got %lld", who, i,
                    (long long)t->shape[i]);
}

static tn_status fail_size(const tn_tensor *t, const char *who)
{
    int64_t size;
    if (tni_shape_size(t->ndim, t->shape, tni_width(t->dtype), &size))
        return tni_fail(TN_EOVERFLOW, "%s: strides span more than 2^63 - 1 bytes", who);
    return tni_fail(TN_EOVERFLOW, "%s: size exceeds 2^63 - 1 bytes", who);
}

/* Report the rule that t breaks. */
static tn_status fail_rule(unsigned rule, const tn_tensor *t, const char *who)
{
    switch (rule) {
    case TNI_NULL:
        return tni_fail(TN_ENULL, "%s is NULL", who);
    case TNI_NDIM:
        if (tni_ndim_fine(t))
            return tni_fail(TN_EARG, "%s is read-only (TN_READONLY)", who);
        return tni_fail(TN_EARG, "%s: ndim %d is out of range [0, %d]", who, t->ndim,
                        TN_MAX_NDIM);
    case TNI_DEVICE:
        return tni_fail(TN_EDEVICE, "%s: device %d is not TN_CPU (%d)", who, (int)t->device,
                        TN_CPU);
    case TNI_DTYPE:
        return tni_fail(TN_EDTYPE, "%s: dtype %d is out of range [%d, %d]", who, (int)t->dtype,
                        TN_BOOL, TNI_DTYPES - 1);
    case TNI_SHAPE:
        return fail_extent(t, who);
    default:
        return fail_size(t, who);
    }
}

/* t breaks at least one of the rules: report the first. */
static tn_status fail_first(unsigned rules, const tn_tensor *t, bool written, const char *who)
{
    unsigned rule = 1;
    while (rule < TNI_SIZE && (!(rules & rule) || keeps(rule, t, written)))
        rule <<= 1;
    return fail_rule(rule, t, who);
}

tn_status tni_check(const tn_tensor *t, const char *who)
{
    return LIKELY(tni_operand_sound(t)) ? TN_OK : fail_first(TNI_EVERY, t, false, who);
}

tn_status tni_check_dst(const tn_tensor *t, const char *who)
{
    if (LIKELY(tni_operand_sound(t) && !(t->flags & TN_READONLY)))
        return TN_OK;
    return fail_first(TNI_EVERY, t, true, who);
}

tn_status tni_check_given(const tn_tensor *t, const char *who)
{
    if (LIKELY(t && tni_ndim_fine(t)))
        return TN_OK;
    return fail_first(TNI_NULL | TNI_NDIM, t, false, who);
}

tn_status tni_fail_sound(const tn_tensor *t, const char *who)
{
    return fail_first(TNI_DTYPE | TNI_SHAPE | TNI_SIZE, t, false, who);
}

tn_status tni_fail_pair(const tn_tensor *out, const tn_tensor *in, const char *call)
{
    if (!out || !in)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call, out ? "in" : "out");
    return tni_fail(TN_EARG, "%s: in: ndim %d is out of range [0, %d]", call, in->ndim,
                    TN_MAX_NDIM);
}

tn_status tni_fail_axis(int dim, int ndim, const char *call)
{
    return tni_fail(TN_EARG, "%s: axis %d is out of range [0, %d)", call, dim, ndim);
}

const char *tni_operand_name(char *who, const tni_call *call, int k)
{
    if (call->names || k < 0)
        return call->names ? call->names[k + 1] : "dst";
    if (call->n == 1)
        return "src";
    snprintf(who, TNI_WHO, "src %d", k);
    return who;
}

static tn_status fail_operand(unsigned rule, const tn_tensor *t, const tni_call *call, int k)
{
    char name[TNI_WHO], who[2 * TNI_WHO];
    snprintf(who, sizeof who, "%s: %s", call->name, tni_operand_name(name, call, k));
    return fail_rule(rule, t, who);
}

/* Check rule by rule and, within a rule, operand by operand. */
tn_status tni_check_rules(unsigned rules, const tni_call *call)
{
    const bool writes = !(call->flags & TNI_NO_DST);
    for (unsigned rule = 1; rule < TNI_EVERY; rule <<= 1) {
        if (!(rules & rule))
            continue;
        if (writes && !keeps(rule, call->dst, true))
            return fail_operand(rule, call->dst, call, -1);
        if (rule == TNI_NULL && call->n > 0 && !call->srcs)
            return tni_fail(TN_ENULL, "%s: srcs is NULL, expected %d tensors", call->name,
                            call->n);
        for (int k = 0; k < call->n; k++)
            if (!keeps(rule, call->srcs[k], false))
                return fail_operand(rule, call->srcs[k], call, k);
    }
    return TN_OK;
}

tn_status tni_check_all(unsigned rules, const char *call, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs)
{
    if (rules == TNI_EVERY && tni_operand_sound(dst) && !(dst->flags & TN_READONLY) &&
        (srcs || n <= 0)) {
        int k = 0;
        while (k < n && tni_operand_sound(srcs[k]))
            k++;
        if (LIKELY(k >= n))
            return TN_OK;
    }
    return tni_check_rules(rules, &(tni_call){.name = call, .dst = dst, .n = n, .srcs = srcs});
}

tn_status tni_check_srcs(unsigned rules, const char *call, int n, const tn_tensor *const *srcs)
{
    return tni_check_rules(
        rules, &(tni_call){.name = call, .flags = TNI_NO_DST, .n = n, .srcs = srcs});
}

tn_status tni_check_shape(const tn_tensor *t, int ndim, const int64_t *shape, const char *call,
                          const char *operand)
{
    if (LIKELY(tni_has_shape(t, ndim, shape)))
        return TN_OK;
    if (t->ndim != ndim)
        return tni_fail(TN_ESHAPE, "%s: %s: got %d axes, expected %d", call, operand, t->ndim,
                        ndim);
    int i = 0;
    while (t->shape[i] == shape[i])
        i++;
    return tni_fail(TN_ESHAPE, "%s: %s: axis %d: got extent %lld, expected %lld", call, operand,
                    i, (long long)t->shape[i], (long long)shape[i]);
}

tn_status tni_check_data(const tn_tensor *t, const char *who)
{
    if (LIKELY(t->data != NULL))
        return TN_OK;
    const int64_t count = tni_numel(t);
    return count == 0 ? TN_OK
                      : tni_fail(TN_ENULL, "%s has %lld elements but data is NULL", who,
                                 (long long)count);
}
