/* dtype.c - facts about the element types, all from dtypes.def. */
#include <string.h>

#include "core.h"

const tni_dtype_facts tni_dtypes[TNI_DTYPES] = {
#define DTYPE(ENUM, NAME, LONG, WIDTH, KIND) [TN_##ENUM] = {NAME, LONG, WIDTH, TNI_##KIND},
#include "dtypes.def"
#undef DTYPE
};

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
    return tni_fail(TN_EDTYPE, "dtype_parse: no dtype is named \"%.40s\"", name);
}
