/* read.c - reading the elements of a file into memory, or mapping them.
 *
 * Allocations are as large as the checked header says, at most what the file holds. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include <tenon/copy.h>

#include "io.h"
#include "sys.h"

int64_t tni_stage_bytes = TNI_STAGE;

const char *tni_shape_text(char *buf, int ndim, const int64_t *shape, const char *dtype)
{
    int n = snprintf(buf, TNI_SHAPE_TEXT, "(");
    for (int i = 0; i < ndim; i++) {
        if (n > TNI_SHAPE_TEXT - 48) {
            n += snprintf(buf + n, (size_t)(TNI_SHAPE_TEXT - n), ", …");
            break;
        }
        n += snprintf(buf + n, (size_t)(TNI_SHAPE_TEXT - n), "%s%lld", i ? ", " : "",
                      (long long)shape[i]);
    }
    snprintf(buf + n, (size_t)(TNI_SHAPE_TEXT - n), "%s) %s", ndim == 1 ? "," : "", dtype);
    return buf;
}

tn_status tni_entry_at(const tni_entry *e, void *buf, tn_tensor *out)
{
    ASSERT(e->ndim >= 0 && e->ndim <= TN_MAX_NDIM);
    if (e->stride)
        return tn_init_strided(out, buf, e->dtype, e->ndim, e->shape, e->stride);
    if (!e->fortran)
        return tn_init(out, buf, e->dtype, e->ndim, e->shape);
    int64_t transposed[TN_MAX_NDIM];
    int axes[TN_MAX_NDIM];
    for (int i = 0; i < e->ndim; i++) {
        axes[i] = e->ndim - 1 - i;
        transposed[i] = e->shape[axes[i]];
    }
    tn_tensor t;
    TRY(TNI_NEVER(tn_init(&t, buf, e->dtype, e->ndim, transposed)));
    return tn_permute(out, &t, axes);
}

/* One loop per width: the compiler turns it into byte shuffles. */
#define SWAP(TYPE, REVERSE)                                                                    \
    for (int64_t i = 0; i < n; i++) {                                                          \
        TYPE x;                                                                                \
        memcpy(&x, at + i * (int64_t)sizeof x, sizeof x);                                      \
        x = REVERSE(x);                                                                        \
        memcpy(at + i * (int64_t)sizeof x, &x, sizeof x);                                      \
    }

void tni_swap(void *data, int64_t n, tn_dtype dtype)
{
    char *at = data;
    int64_t width = tni_width(dtype);
    if (tni_is_complex(dtype)) {
        width /= 2;
        n *= 2;
    }
    if (width == 2)
        SWAP(uint16_t, __builtin_bswap16)
    else if (width == 4)
        SWAP(uint32_t, __builtin_bswap32)
    else if (width == 8)
        SWAP(uint64_t, __builtin_bswap64)
}

/* Read a strided tensor, whose elements may overlap or have gaps, into a dense one. */
static tn_status read_strided(const tn_file *f, const tni_entry *e, const tn_tensor *dst)
{
    tn_tensor src;
    if (!e->nbytes)
        return TN_OK;
    char *bytes = tni_alloc((size_t)e->nbytes);
    if (!bytes)
        return tni_no_memory(f->path, e->nbytes);
    tn_status status = tni_file_bytes(f, bytes, e->nbytes, e->offset);
    if (status == TN_OK)
        status = tni_entry_at(e, bytes, &src);
    if (status == TN_OK)
        status = tn_rearrange(dst, &src);
    tni_free(bytes);
    return status;
}

static tn_status read_elements(const tn_file *f, const tni_entry *e, const tn_tensor *block,
                               tn_tensor *t)
{
    *t = *block;
    if (e->stride)
        return read_strided(f, e, block);
    TRY(e->packing == TNI_RAW ? tni_file_bytes(f, block->data, e->nbytes, e->offset)
                              : tni_unpack(f, e, block->data));
    return tni_entry_at(e, block->data, t);
}

tn_status tn_file_read(const tn_file *f, int64_t i, tn_tensor *out)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(&f, i, "file_read", &e));
    if (!out)
        return tni_fail(TN_ENULL, "file_read: out is NULL");
    tn_tensor block, t;
    TRY(tni_alloc_dense(&block, e->dtype, e->ndim, e->shape, "file_read"));
    tn_status status = read_elements(f, e, &block, &t);
    if (status != TN_OK) {
        tn_free(&block);
        return status;
    }
    if (e->swapped)
        tni_swap(block.data, tni_numel(&block), e->dtype);
    *out = t;
    return TN_OK;
}

/* The mapping at *at, created on first use; if two threads race, one mapping is kept. */
static tn_status mapping(const tn_file *f, _Atomic(void *) *at, bool readable, char **base)
{
    char words[80];
    void *have = atomic_load(at), *none = NULL;
    if (!have) {
        int error = tni_sys_map(f->fd, f->size, readable, &have);
        if (error)
            return tni_fail(TN_EIO, "%s: cannot be mapped: %s", f->path,
                            tni_sys_words(error, words, sizeof words));
        if (!atomic_compare_exchange_strong(at, &none, have)) {
            tni_sys_unmap(have, f->size);
            have = none;
        }
    }
    *base = have;
    return TN_OK;
}

/* Entry i as a read-only view of one of the two mappings. */
static tn_status view_of(const tn_file *f, const tni_entry *e, bool readable, tn_tensor *out)
{
    tn_file *owner = (tn_file *)f;
    char *base = NULL;
    tn_tensor t;
    ASSERT(e->offset >= 0 && e->nbytes <= f->size - e->offset);
    TRY(mapping(f, readable ? &owner->map : &owner->places, readable, &base));
    TRY(TNI_NEVER(tni_entry_at(e, base + e->offset, &t)));
    t.flags |= TN_READONLY;
    *out = t;
    return TN_OK;
}

tn_status tn_file_map(const tn_file *f, int64_t i, tn_tensor *out)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(&f, i, "file_map", &e));
    if (!out)
        return tni_fail(TN_ENULL, "file_map: out is NULL");
    if (e->packing == TNI_DEFLATED || e->swapped)
        return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\" is %s and cannot be mapped",
                        f->path, e->name,
                        e->swapped ? "in the other byte order" : "compressed");
    return view_of(f, e, true, out);
}

tn_status tn_file_places(const tn_file *f, int64_t i, tn_tensor *out)
{
    const tni_entry *e = NULL;
    TRY(tni_file_entry(&f, i, "file_places", &e));
    if (!out)
        return tni_fail(TN_ENULL, "file_places: out is NULL");
    if (e->packing == TNI_DEFLATED)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\" is compressed and cannot be read in parts",
                        f->path, e->name);
    return view_of(f, e, false, out);
}
