/* check.c - is this descriptor one that the library can work with?
 *
 * A sound tensor passes on the short path; for a broken one the rules are asked one by one, in
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

/* Does t keep a rule?  It keeps those before. */
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

/* The sentence about a rule that t does not keep. */
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

/* t breaks one of the rules: report the first. */
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

const char *tni_operand_name(char *who, const char *call, int k, int n)
{
    if (k < 0)
        snprintf(who, TNI_WHO, "%s: dst", call);
    else if (n == 1)
        snprintf(who, TNI_WHO, "%s: src", call);
    else
        snprintf(who, TNI_WHO, "%s: src %d", call, k);
    return who;
}

static tn_status fail_operand(unsigned rule, const tn_tensor *t, const char *call, int k, int n)
{
    char who[TNI_WHO];
    return fail_rule(rule, t, tni_operand_name(who, call, k, n));
}

/* Rule by rule, operand by operand. */
static tn_status check_each(unsigned rules, const char *call, bool with_dst,
                            const tn_tensor *dst, int n, const tn_tensor *const *srcs)
{
    for (unsigned rule = 1; rule < TNI_EVERY; rule <<= 1) {
        if (!(rules & rule))
            continue;
        if (with_dst && !keeps(rule, dst, true))
            return fail_operand(rule, dst, call, -1, n);
        if (rule == TNI_NULL && n > 0 && !srcs)
            return tni_fail(TN_ENULL, "%s: srcs is NULL, expected %d tensors", call, n);
        for (int k = 0; k < n; k++)
            if (!keeps(rule, srcs[k], false))
                return fail_operand(rule, srcs[k], call, k, n);
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
    return check_each(rules, call, true, dst, n, srcs);
}

tn_status tni_check_srcs(unsigned rules, const char *call, int n, const tn_tensor *const *srcs)
{
    return check_each(rules, call, false, NULL, n, srcs);
}

tn_status tni_same_shape(const tn_tensor *a, const tn_tensor *b, const char *call)
{
    if (UNLIKELY(a->ndim != b->ndim))
        return tni_fail(TN_ESHAPE, "%s: dst and src have %d and %d axes", call, a->ndim,
                        b->ndim);
    for (int i = 0; i < a->ndim; i++)
        if (UNLIKELY(a->shape[i] != b->shape[i]))
            return tni_fail(TN_ESHAPE, "%s: axis %d has extents %lld and %lld", call, i,
                            (long long)a->shape[i], (long long)b->shape[i]);
    return TN_OK;
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
