/* npy_write.c - writing .npy: version 1.0, row-major, little-endian.
 *
 * The length of the header is a multiple of 64, so the elements are aligned if the file is. */
#include <stdio.h>
#include <string.h>

#include "io/write.h"

/* Type strings.  NumPy sees the f8 and bf16 rows as void; a comment after the dictionary names
 * their dtypes. */
static const char *const codes[TNI_DTYPES] = {
    [TN_BOOL] = "|b1",  [TN_I8] = "|i1",     [TN_I16] = "<i2",    [TN_I32] = "<i4",
    [TN_I64] = "<i8",   [TN_U8] = "|u1",     [TN_U16] = "<u2",    [TN_U32] = "<u4",
    [TN_U64] = "<u8",   [TN_F8E4M3] = "<V1", [TN_F8E5M2] = "<V1", [TN_F16] = "<f2",
    [TN_BF16] = "<V2",  [TN_F32] = "<f4",    [TN_F64] = "<f8",    [TN_C64] = "<c8",
    [TN_C128] = "<c16",
};

int64_t tni_npy_header(char *buf, tn_dtype dtype, int ndim, const int64_t *shape)
{
    const char *code = codes[dtype];
    bool named = code[1] == 'V';
    size_t n = 10, capacity = TNI_NPY_WRITTEN;
    n += (size_t)snprintf(buf + n, capacity - n,
                          "{'descr': '%s', 'fortran_order': False, 'shape': (", code);
    for (int i = 0; i < ndim; i++)
        n +=
            (size_t)snprintf(buf + n, capacity - n, i ? ", %lld" : "%lld", (long long)shape[i]);
    n += (size_t)snprintf(buf + n, capacity - n, "%s), }%s%s", ndim == 1 ? "," : "",
                          named ? " # " : "", named ? tni_dtypes[dtype].long_name : "");
    while ((n + 1) % 64)
        buf[n++] = ' ';
    buf[n++] = '\n';
    memcpy(buf, "\x93NUMPY\1\0", 8);
    buf[8] = (char)((n - 10) & 255);
    buf[9] = (char)((n - 10) >> 8);
    return (int64_t)n;
}

static tn_status npy_enter(tn_writer *w, const tni_slot *slot)
{
    char header[TNI_NPY_WRITTEN];
    return tni_append(w, header, tni_npy_header(header, slot->dtype, slot->ndim, slot->shape));
}

const tni_format tni_npy_format = {.suffix = ".npy",
                                   .only = "tensor",
                                   .swaps = TNI_HOST_BIG,
                                   .joined = true,
                                   .enter = npy_enter,
                                   .bytes = tni_append};
