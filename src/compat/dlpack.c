/* dlpack.c - import and export of tensors by DLPack.
 *
 * An exported tensor is described by one allocation: the managed struct, the callback that
 * releases the data, shape and strides.  It comes from the library's allocator, so its deleter
 * works on any thread. */
#include <tenon/dlpack.h>

#include "core/core.h"
#include "view/view.h"

enum { CPU = 1, MAJOR = 1, MINOR = 1 };
enum {
    INT = 0,
    UINT = 1,
    FLOAT = 2,
    BFLOAT = 4,
    COMPLEX = 5,
    BOOL = 6,
    E4M3FN = 10,
    E5M2 = 12
};

static const uint64_t known_flags =
    DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;

/* The layout is part of the protocol: producers and consumers are compiled separately. */
#if UINTPTR_MAX > 0xffffffffu
_Static_assert(sizeof(DLTensor) == 48 && offsetof(DLTensor, shape) == 24, "DLPack's layout");
_Static_assert(sizeof(DLManagedTensor) == 64, "DLPack's layout");
_Static_assert(sizeof(DLManagedTensorVersioned) == 80 &&
                   offsetof(DLManagedTensorVersioned, dl_tensor) == 32,
               "DLPack's layout");
#endif

/* One row for each dtype that has a DLPack equivalent. */
static const struct {
    tn_dtype dtype;
    uint8_t code, bits;
} dl_types[] = {
    {TN_BOOL, BOOL, 8},    {TN_I8, INT, 8},         {TN_I16, INT, 16},
    {TN_I32, INT, 32},     {TN_I64, INT, 64},       {TN_U8, UINT, 8},
    {TN_U16, UINT, 16},    {TN_U32, UINT, 32},      {TN_U64, UINT, 64},
    {TN_F16, FLOAT, 16},   {TN_F32, FLOAT, 32},     {TN_F64, FLOAT, 64},
    {TN_BF16, BFLOAT, 16}, {TN_F8E4M3, E4M3FN, 8},  {TN_F8E5M2, E5M2, 8},
    {TN_C64, COMPLEX, 64}, {TN_C128, COMPLEX, 128},
};

/* The managed struct, of either version, comes first: its address is that of the block. */
typedef struct dl_block {
    union {
        DLManagedTensorVersioned versioned;
        DLManagedTensor old;
    } m;
    void (*release)(void *owner);
    void *owner;
    int64_t axes[]; /* shape, then strides */
} dl_block;

static void dl_free(dl_block *block)
{
    if (!block)
        return;
    void (*release)(void *) = block->release;
    void *owner = block->owner;
    tni_free(block);
    if (release)
        release(owner);
}

static void dl_delete(DLManagedTensorVersioned *self)
{
    dl_free((dl_block *)self);
}

static void dl_delete_old(DLManagedTensor *self)
{
    dl_free((dl_block *)self);
}

/* Strides in elements; an axis of extent 0 or 1, or of an empty tensor, gets the dense
 * stride. */
static tn_status dl_strides(int64_t *strides, const tn_tensor *t, const char *call)
{
    int64_t width = tni_width(t->dtype), dense = 1;
    bool empty = tni_numel(t) == 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (empty || t->shape[i] <= 1)
            strides[i] = dense;
        else if (t->stride[i] % width == 0)
            strides[i] = t->stride[i] / width;
        else
            return tni_fail(TN_ESTRIDE,
                            "%s: axis %d has a stride of %lld bytes, expected a multiple of "
                            "the element size, %lld",
                            call, i, (long long)t->stride[i], (long long)width);
        if (t->shape[i] > 1)
            dense *= t->shape[i];
    }
    return TN_OK;
}

static tn_status dl_export(dl_block **out, DLTensor *dl, const tn_tensor *t, const char *call)
{
    int64_t strides[TN_MAX_NDIM];
    TRY(dl_strides(strides, t, call));
    dl_block *block = tni_alloc(sizeof *block + 2 * (size_t)t->ndim * sizeof(int64_t));
    if (!block)
        return tni_fail(TN_ENOMEM, "%s: out of memory", call);
    for (int i = 0; i < t->ndim; i++) {
        block->axes[i] = t->shape[i];
        block->axes[t->ndim + i] = strides[i];
    }
    *dl = (DLTensor){.data = t->data,
                     .device = {CPU, 0},
                     .ndim = t->ndim,
                     .shape = block->axes,
                     .strides = block->axes + t->ndim};
    for (int i = 0; i < COUNT(dl_types); i++)
        if (dl_types[i].dtype == t->dtype)
            dl->dtype = (DLDataType){dl_types[i].code, dl_types[i].bits, 1};
    *out = block;
    return TN_OK;
}

tn_status tn_to_dlpack(struct DLManagedTensorVersioned **m, const tn_tensor *t,
                       void (*release)(void *owner), void *owner, uint64_t flags)
{
    if (!m || !t)
        return tni_fail(TN_ENULL, "to_dlpack: %s is NULL", m ? "t" : "m");
    if (flags & ~known_flags)
        return tni_fail(TN_EARG, "to_dlpack: flags are %#llx, expected a subset of %#llx",
                        (unsigned long long)flags, (unsigned long long)known_flags);
    TRY(tni_check(t, "to_dlpack: t"));
    TRY(tni_check_data(t, "to_dlpack: t"));

    dl_block *block;
    DLTensor dl;
    TRY(dl_export(&block, &dl, t, "to_dlpack"));
    if (t->flags & TN_READONLY)
        flags |= DLPACK_FLAG_BITMASK_READ_ONLY;
    block->release = release;
    block->owner = owner;
    block->m.versioned = (DLManagedTensorVersioned){.version = {MAJOR, MINOR},
                                                    .manager_ctx = block,
                                                    .deleter = dl_delete,
                                                    .flags = flags,
                                                    .dl_tensor = dl};
    *m = &block->m.versioned;
    return TN_OK;
}

tn_status tn_to_dlpack_old(struct DLManagedTensor **m, const tn_tensor *t,
                           void (*release)(void *owner), void *owner)
{
    if (!m || !t)
        return tni_fail(TN_ENULL, "to_dlpack_old: %s is NULL", m ? "t" : "m");
    if (t->flags & TN_READONLY)
        return tni_fail(TN_EARG, "to_dlpack_old: t is read-only, expected a writable tensor: "
                                 "this form has no flag for it");
    TRY(tni_check(t, "to_dlpack_old: t"));
    TRY(tni_check_data(t, "to_dlpack_old: t"));

    dl_block *block;
    DLTensor dl;
    TRY(dl_export(&block, &dl, t, "to_dlpack_old"));
    block->release = release;
    block->owner = owner;
    block->m.old =
        (DLManagedTensor){.dl_tensor = dl, .manager_ctx = block, .deleter = dl_delete_old};
    *m = &block->m.old;
    return TN_OK;
}

static tn_status dl_dtype(tn_dtype *out, DLDataType d, const char *call)
{
    if (d.lanes == 1)
        for (int i = 0; i < COUNT(dl_types); i++)
            if (dl_types[i].code == d.code && dl_types[i].bits == d.bits) {
                *out = dl_types[i].dtype;
                return TN_OK;
            }
    return tni_fail(TN_EDTYPE, "%s: no dtype has type code %d, %d bits and %d lanes", call,
                    d.code, d.bits, d.lanes);
}

static tn_status dl_import(tn_tensor *t, const DLTensor *dl, uint32_t flags, const char *call)
{
    if (dl->ndim < 0 || dl->ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: ndim is %d, expected 0 to %d", call, (int)dl->ndim,
                        TN_MAX_NDIM);
    if (dl->ndim > 0 && !dl->shape)
        return tni_fail(TN_ENULL, "%s: shape is NULL", call);
    if ((int)dl->device.device_type != CPU)
        return tni_fail(TN_EDEVICE, "%s: device type is %d, expected %d (the CPU)", call,
                        (int)dl->device.device_type, CPU);
    tn_dtype dtype = TN_BOOL;
    TRY(dl_dtype(&dtype, dl->dtype, call));

    int64_t width = tni_width(dtype), strides[TN_MAX_NDIM];
    for (int i = 0; i < dl->ndim && dl->strides; i++)
        if (!tni_mul(dl->strides[i], width, &strides[i])) {
            if (dl->shape[i] > 1)
                return tni_fail(TN_EOVERFLOW,
                                "%s: the stride of axis %d does not fit in 64 bits", call, i);
            strides[i] = 0;
        }
    if (dl->byte_offset > (uint64_t)INT64_MAX)
        return tni_fail(TN_EOVERFLOW, "%s: byte_offset does not fit in 64 bits", call);

    void *data = tni_offset(dl->data, (int64_t)dl->byte_offset);
    if (dl->strides)
        TRY(tn_init_strided(t, data, dtype, dl->ndim, dl->shape, strides));
    else
        TRY(tn_init(t, data, dtype, dl->ndim, dl->shape));
    t->flags = flags;
    return TN_OK;
}

tn_status tn_from_dlpack(tn_tensor *t, const struct DLManagedTensorVersioned *m)
{
    if (!t || !m)
        return tni_fail(TN_ENULL, "from_dlpack: %s is NULL", t ? "m" : "t");
    if (m->version.major != MAJOR)
        return tni_fail(TN_EUNSUPPORTED, "from_dlpack: version is %u.%u, expected %d.x",
                        (unsigned)m->version.major, (unsigned)m->version.minor, MAJOR);
    bool fixed = m->flags & DLPACK_FLAG_BITMASK_READ_ONLY;
    return dl_import(t, &m->dl_tensor, fixed ? TN_READONLY : 0, "from_dlpack");
}

tn_status tn_from_dlpack_old(tn_tensor *t, const struct DLManagedTensor *m)
{
    if (!t || !m)
        return tni_fail(TN_ENULL, "from_dlpack_old: %s is NULL", t ? "m" : "t");
    return dl_import(t, &m->dl_tensor, 0, "from_dlpack_old");
}
