/* create.c - new tensors: uninitialised, or filled with one value, a range or random
 * numbers. */
#include <tenon/create.h>

#include "copy_tensor.h"

tn_status tn_alloc(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    return tni_alloc_dense(t, dtype, ndim, shape, "alloc");
}

void tn_free(tn_tensor *t)
{
    if (!t)
        return;
    tni_free(t->data);
    t->data = NULL;
}

tn_status tn_like(tn_tensor *out, const tn_tensor *in)
{
    if (!out)
        return tni_fail(TN_ENULL, "like: out is NULL");
    TRY(tni_check(in, "like: in"));
    return tni_alloc_dense(out, in->dtype, in->ndim, in->shape, "like");
}

tn_status tn_full(tn_tensor *out, tn_dtype dtype, int ndim, const int64_t *shape,
                  const void *value)
{
    if (!out)
        return tni_fail(TN_ENULL, "full: out is NULL");
    tn_tensor made;
    TRY(tni_alloc_dense(&made, dtype, ndim, shape, "full"));
    tni_splat(&made, value);
    *out = made;
    return TN_OK;
}

/* Truncate x to an integer; NaN becomes 0, and out-of-range values saturate. */
static int64_t to_i64(double x)
{
    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x < -0x1p63 ? INT64_MIN : (int64_t)x;
}

static tn_status arange_shapes(const tni_call *call)
{
    if (call->dst->ndim != 1)
        return tni_fail(TN_ESHAPE, "arange: dst has %d axes, expected 1", call->dst->ndim);
    return TN_OK;
}

tn_status tn_arange(const tn_tensor *dst, double start, double step)
{
    TRY(tni_check_call(&(tni_call){.name = "arange", .dst = dst, .shapes = arange_shapes}));
    tni_generate_run(&(tni_generate){.maker = TNI_ARANGE,
                                     .dtype = dst->dtype,
                                     .start = start,
                                     .step = step,
                                     .first = to_i64(start),
                                     .more = to_i64(step)},
                     dst);
    return TN_OK;
}

static tn_status randn_dtypes(const tni_call *call)
{
    if (!tni_is_float(call->dst->dtype))
        return tni_fail(TN_EDTYPE, "randn: dst: got %s, expected a float dtype",
                        tn_dtype_name(call->dst->dtype));
    return TN_OK;
}

tn_status tn_randn(const tn_tensor *dst, uint64_t seed)
{
    TRY(tni_check_call(&(tni_call){.name = "randn", .dst = dst, .dtypes = randn_dtypes}));
    tni_generate_run(&(tni_generate){.maker = TNI_RANDN, .dtype = dst->dtype, .seed = seed},
                     dst);
    return TN_OK;
}

/* The range of integers that a dtype represents exactly, each of them; false if there is
 * none. */
static bool integers_of(tn_dtype dtype, int64_t *low, int64_t *high)
{
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
        *high = (int64_t)1 << tni_floats[dtype].digits;
        *low = -*high;
        return true;
    default:
        return false;
    }
}

typedef struct interval {
    int64_t low, high;
} interval;

static tn_status randint_args(const tni_call *call)
{
    const interval *in = call->own;
    const tn_dtype dtype = call->dst->dtype;
    int64_t least, most;
    if (in->low >= in->high)
        return tni_fail(TN_EARG, "randint: low is %lld and high is %lld, expected low < high",
                        (long long)in->low, (long long)in->high);
    if (tni_dtype_known(dtype) && integers_of(dtype, &least, &most) &&
        (in->low < least || in->high - 1 > most))
        return tni_fail(TN_EARG, "randint: [%lld, %lld) exceeds [%lld, %lld], the range of %s",
                        (long long)in->low, (long long)in->high, (long long)least,
                        (long long)most, tn_dtype_name(dtype));
    return TN_OK;
}

static tn_status randint_dtypes(const tni_call *call)
{
    int64_t least, most;
    if (!integers_of(call->dst->dtype, &least, &most))
        return tni_fail(TN_EDTYPE, "randint: dst: got %s, expected a real dtype",
                        tn_dtype_name(call->dst->dtype));
    return TN_OK;
}

tn_status tn_randint(const tn_tensor *dst, uint64_t seed, int64_t low, int64_t high)
{
    TRY(tni_check_call(&(tni_call){.name = "randint",
                                   .dst = dst,
                                   .args = randint_args,
                                   .dtypes = randint_dtypes,
                                   .own = &(interval){low, high}}));
    tni_generate_run(&(tni_generate){.maker = TNI_RANDINT,
                                     .dtype = dst->dtype,
                                     .first = low,
                                     .count = (uint64_t)high - (uint64_t)low,
                                     .seed = seed},
                     dst);
    return TN_OK;
}
