/* create.c - tensors of one value, of a range, of random numbers. */
#include <string.h>

#include "check_moves.h"

tn_status tn_full(tn_tensor *out, tn_dtype dtype, int ndim, const int64_t *shape,
                  const void *value)
{
    if (!out)
        return tni_fail(TN_ENULL, "full: out is NULL");
    tn_tensor made, one;
    TRY(tn_alloc(&made, dtype, ndim, shape));
    char element[16] = {0};
    if (value)
        memcpy(element, value, (size_t)tni_width(dtype));
    tni_inherit(&one, &made, element, ndim);
    for (int i = 0; i < ndim; i++) {
        one.shape[i] = shape[i];
        one.stride[i] = 0;
    }
    tni_copy_tensor(&made, &one);
    *out = made;
    return TN_OK;
}

static tn_status check_data(const tn_tensor *dst, const char *call)
{
    TRY(tni_check_injective(dst, call));
    if (dst->data || tni_numel(dst) == 0)
        return TN_OK;
    return tni_fail(TN_ENULL, "%s: dst has %lld elements and data NULL", call,
                    (long long)tni_numel(dst));
}

/* Truncated; not a number is 0, and what does not fit is the nearest number that does. */
static int64_t to_i64(double x)
{
    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

tn_status tn_arange(const tn_tensor *dst, double start, double step)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM | TNI_DEVICE | TNI_DTYPE | TNI_SHAPE, "arange", dst,
                      0, NULL));
    if (dst->ndim != 1)
        return tni_fail(TN_ESHAPE, "arange: dst has %d axes, not 1", dst->ndim);
    TRY(tni_check_dst(dst, "arange: dst"));
    TRY(check_data(dst, "arange"));
    tni_make_run(&(tni_make){.maker = TNI_ARANGE,
                             .dtype = dst->dtype,
                             .start = start,
                             .step = step,
                             .first = to_i64(start),
                             .more = to_i64(step)},
                 dst);
    return TN_OK;
}

tn_status tn_randn(const tn_tensor *dst, uint64_t seed)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM | TNI_DEVICE | TNI_DTYPE, "randn", dst, 0, NULL));
    if (tni_dtypes[dst->dtype].kind != TNI_FLOAT)
        return tni_fail(TN_EDTYPE, "randn: dst is %s, not a float", tn_dtype_name(dst->dtype));
    TRY(tni_check_dst(dst, "randn: dst"));
    TRY(check_data(dst, "randn"));
    tni_make_run(&(tni_make){.maker = TNI_RANDN, .dtype = dst->dtype, .seed = seed}, dst);
    return TN_OK;
}

/* The integers from low to high that a dtype holds, each exactly; false: it has none. */
static bool integers_of(tn_dtype dtype, int64_t *low, int64_t *high)
{
    static const int8_t float_bits[TNI_DTYPES] = {
        [TN_F8E4M3] = 4, [TN_F8E5M2] = 3, [TN_F16] = 11,
        [TN_BF16] = 8,   [TN_F32] = 24,   [TN_F64] = 53,
    };
    const tni_dtype_facts *facts = &tni_dtypes[dtype];
    const int bits = 8 * facts->width;
    switch (facts->kind) {
    case TNI_BOOL:
        *low = 0;
        *high = 1;
        return true;
    case TNI_SIGNED:
        *high = INT64_MAX >> (64 - bits);
        *low = -*high - 1;
        return true;
    case TNI_UNSIGNED:
        *low = 0;
        *high = bits == 64 ? INT64_MAX : ((int64_t)1 << bits) - 1;
        return true;
    case TNI_FLOAT:
        *high = (int64_t)1 << float_bits[dtype];
        *low = -*high;
        return true;
    default:
        return false;
    }
}

tn_status tn_randint(const tn_tensor *dst, uint64_t seed, int64_t low, int64_t high)
{
    TRY(tni_check_all(TNI_NULL | TNI_NDIM, "randint", dst, 0, NULL));
    if (low >= high)
        return tni_fail(TN_EARG, "randint: low is %lld, not less than high, %lld",
                        (long long)low, (long long)high);
    int64_t least, most;
    if (tni_dtype_known(dst->dtype) && integers_of(dst->dtype, &least, &most) &&
        (low < least || high - 1 > most))
        return tni_fail(TN_EARG,
                        "randint: [%lld, %lld) is not in [%lld, %lld], all that %s holds",
                        (long long)low, (long long)high, (long long)least, (long long)most,
                        tn_dtype_name(dst->dtype));
    TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, "randint", dst, 0, NULL));
    if (!integers_of(dst->dtype, &least, &most))
        return tni_fail(TN_EDTYPE, "randint: dst is %s, not a real number",
                        tn_dtype_name(dst->dtype));
    TRY(tni_check_dst(dst, "randint: dst"));
    TRY(check_data(dst, "randint"));
    tni_make_run(&(tni_make){.maker = TNI_RANDINT,
                             .dtype = dst->dtype,
                             .first = low,
                             .count = (uint64_t)high - (uint64_t)low,
                             .seed = seed},
                 dst);
    return TN_OK;
}
