/* dtype.c - facts about the element types, all from dtypes.def. */
#include <string.h>

#include "core.h"

const tni_dtype_facts tni_dtypes[TNI_DTYPES] = {
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND, REAL, SLOT)                                       \
    [TN_##ENUM] = {NAME, LONG, WIDTH, TNI_##KIND, TN_##REAL, SLOT},
#include "dtypes.def"
#undef DTYPE
};

_Static_assert(TNI_DTYPES == TN_C128 + 1, "a row for every dtype");

size_t tn_dtype_size(tn_dtype dtype)
{
    return tni_dtype_known(dtype) ? (size_t)tni_dtypes[dtype].width : 0;
}

const char *tn_dtype_name(tn_dtype dtype)
{
    return tni_dtype_known(dtype) ? tni_dtypes[dtype].name : "?";
}

tn_status tn_dtype_parse(tn_dtype *out, const char *name)
{
    if (!out)
        return tni_fail(TN_ENULL, "dtype_parse: out is NULL");
    if (!name)
        return tni_fail(TN_ENULL, "dtype_parse: name is NULL");
    for (int i = 1; i < TNI_DTYPES; i++)
        if (!strcmp(name, tni_dtypes[i].name) || !strcmp(name, tni_dtypes[i].long_name)) {
            *out = (tn_dtype)i;
            return TN_OK;
        }
    return tni_fail(TN_EDTYPE, "dtype_parse: unknown dtype \"%.40s\"", name);
}

/* The complex dtype that a dtype promotes to: c128 if its real dtype is f64, else c64. */
static tn_dtype complex_of(tn_dtype part)
{
    return tni_real_of(part) == TN_F64 ? TN_C128 : TN_C64;
}

static tn_dtype signed_of(int width)
{
    static const tn_dtype by_width[] = {[1] = TN_I8, [2] = TN_I16, [4] = TN_I32, [8] = TN_I64};
    return by_width[width];
}

/* The promotion of two different floats. */
static tn_dtype float_of(tn_dtype a, tn_dtype b)
{
    const int wa = tni_dtypes[a].width, wb = tni_dtypes[b].width;
    if (wa != wb)
        return wa > wb ? a : b;
    return wa == 1 ? TN_F16 : TN_F32;
}

/* The promotion of a and b, where the kind of a is not the higher one; 0 if no dtype holds
 * both. */
static tn_dtype promote_kinds(tn_dtype a, tn_dtype b)
{
    const tni_dtype_facts *fa = &tni_dtypes[a], *fb = &tni_dtypes[b];
    if (a == b || fa->kind == TNI_BOOL)
        return b;
    if (fb->kind == TNI_COMPLEX)
        return complex_of(a) > complex_of(b) ? complex_of(a) : b;
    if (fa->kind == TNI_FLOAT)
        return float_of(a, b);
    if (fb->kind == TNI_FLOAT)
        return b;
    if (fa->kind == fb->kind)
        return fa->width > fb->width ? a : b;
    if (b == TN_U64)
        return (tn_dtype)0;
    return fa->width > fb->width ? a : signed_of(2 * fb->width);
}

tn_status tn_promote(tn_dtype *out, tn_dtype a, tn_dtype b)
{
    if (!out)
        return tni_fail(TN_ENULL, "promote: out is NULL");
    if (!tni_dtype_known(a) || !tni_dtype_known(b))
        return tni_fail(TN_EDTYPE, "promote: got dtypes %d and %d, expected both in [%d, %d]",
                        (int)a, (int)b, TN_BOOL, TNI_DTYPES - 1);
    const tn_dtype both =
        tni_dtypes[a].kind <= tni_dtypes[b].kind ? promote_kinds(a, b) : promote_kinds(b, a);
    if (!both)
        return tni_fail(TN_EDTYPE, "promote: %s and %s do not promote to a common dtype",
                        tn_dtype_name(a), tn_dtype_name(b));
    *out = both;
    return TN_OK;
}
