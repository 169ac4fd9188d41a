/* gguf.c - reading the header of .gguf, versions 2 and 3, of either endianness.
 *
 * The header is read sequentially through a small window; every length in it is checked against
 * the size of the file before it is used, and nothing is allocated for keys and values. */
#include <string.h>

#include "gguf.h"

enum {
    WINDOW = 1 << 14, /* bytes of one read: most fields have 4 or 8 bytes; not measured */
    /* the format allows 64 bytes; a bound on what a damaged length allocates, not measured */
    LONGEST_NAME = 1 << 16,
    COUNTS = 16 /* offset of the number of key-values, after magic, version and tensors */
};

const tni_gguf_type tni_gguf_types[] = {
    [0] = {"F32", 1, 4, TN_F32},    [1] = {"F16", 1, 2, TN_F16},
    [2] = {"Q4_0", 32, 18, 0},      [3] = {"Q4_1", 32, 20, 0},
    [6] = {"Q5_0", 32, 22, 0},      [7] = {"Q5_1", 32, 24, 0},
    [8] = {"Q8_0", 32, 34, 0},      [9] = {"Q8_1", 32, 36, 0},
    [10] = {"Q2_K", 256, 84, 0},    [11] = {"Q3_K", 256, 110, 0},
    [12] = {"Q4_K", 256, 144, 0},   [13] = {"Q5_K", 256, 176, 0},
    [14] = {"Q6_K", 256, 210, 0},   [15] = {"Q8_K", 256, 292, 0},
    [16] = {"IQ2_XXS", 256, 66, 0}, [17] = {"IQ2_XS", 256, 74, 0},
    [18] = {"IQ3_XXS", 256, 98, 0}, [19] = {"IQ1_S", 256, 50, 0},
    [20] = {"IQ4_NL", 32, 18, 0},   [21] = {"IQ3_S", 256, 110, 0},
    [22] = {"IQ2_S", 256, 82, 0},   [23] = {"IQ4_XS", 256, 136, 0},
    [24] = {"I8", 1, 1, TN_I8},     [25] = {"I16", 1, 2, TN_I16},
    [26] = {"I32", 1, 4, TN_I32},   [27] = {"I64", 1, 8, TN_I64},
    [28] = {"F64", 1, 8, TN_F64},   [29] = {"IQ1_M", 256, 56, 0},
    [30] = {"BF16", 1, 2, TN_BF16}, [34] = {"TQ1_0", 256, 54, 0},
    [35] = {"TQ2_0", 256, 66, 0},   [39] = {"MXFP4", 32, 17, 0},
};

const int tni_gguf_type_count = COUNT(tni_gguf_types);

int tni_gguf_value_bytes(uint32_t type)
{
    static const int8_t bytes[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
    return type < sizeof bytes ? bytes[type] : 0;
}

typedef struct reader {
    tn_file *f;
    int64_t at;       /* offset of the next byte */
    bool swapped;     /* the file has the other byte order than the host */
    int64_t first, n; /* the window holds file bytes [first, first + n), first <= at */
    uint8_t window[WINDOW];
} reader;

static tn_status ends(const reader *r)
{
    return tni_fail(TN_EFORMAT, "%s: header extends past the end of the file at byte %lld",
                    r->f->path, (long long)r->f->size);
}

static tn_status skip(reader *r, uint64_t n)
{
    if (n > (uint64_t)(r->f->size - r->at))
        return ends(r);
    r->at += (int64_t)n;
    return TN_OK;
}

static tn_status gguf_take(reader *r, void *out, int64_t n)
{
    if (n > r->f->size - r->at)
        return ends(r);
    if (n > WINDOW) {
        TRY(tni_file_bytes(r->f, out, n, r->at));
    } else {
        if (r->at + n > r->first + r->n) {
            r->first = r->at;
            r->n = r->f->size - r->at < WINDOW ? r->f->size - r->at : WINDOW;
            TRY(tni_file_bytes(r->f, r->window, r->n, r->first));
        }
        memcpy(out, r->window + (r->at - r->first), (size_t)n);
    }
    r->at += n;
    return TN_OK;
}

static tn_status take_u32(reader *r, uint32_t *out)
{
    *out = 0;
    TRY(gguf_take(r, out, 4));
    if (r->swapped)
        *out = __builtin_bswap32(*out);
    return TN_OK;
}

static tn_status take_u64(reader *r, uint64_t *out)
{
    *out = 0;
    TRY(gguf_take(r, out, 8));
    if (r->swapped)
        *out = __builtin_bswap64(*out);
    return TN_OK;
}

static tn_status skip_text(reader *r)
{
    uint64_t n;
    TRY(take_u64(r, &n));
    return skip(r, n);
}

/* Skip count values of a type other than list. */
static tn_status skip_scalars(reader *r, uint32_t type, uint64_t count)
{
    if (type == TNI_GGUF_TEXT) {
        for (uint64_t i = 0; i < count; i++)
            TRY(skip_text(r));
        return TN_OK;
    }
    if (!tni_gguf_value_bytes(type))
        return tni_fail(TN_EFORMAT, "%s: byte %lld: unknown value type %u", r->f->path,
                        (long long)r->at, type);
    if (count > (uint64_t)r->f->size)
        return ends(r);
    return skip(r, count * (uint64_t)tni_gguf_value_bytes(type));
}

static tn_status take_pair(reader *r, uint64_t *align)
{
    static const char alignment[] = "general.alignment";
    char key[sizeof alignment] = "";
    uint64_t n;
    uint32_t type;
    TRY(take_u64(r, &n));
    bool is_align = n == sizeof alignment - 1;
    if (is_align)
        TRY(gguf_take(r, key, (int64_t)n));
    else
        TRY(skip(r, n));
    TRY(take_u32(r, &type));
    if (is_align && !memcmp(key, alignment, sizeof alignment - 1)) {
        uint32_t value;
        if (type != TNI_GGUF_U32)
            return tni_fail(TN_EFORMAT, "%s: general.alignment is not a u32", r->f->path);
        TRY(take_u32(r, &value));
        if (value == 0 || value > TNI_GGUF_MAX_ALIGN || (value & (value - 1)))
            return tni_fail(TN_EFORMAT, "%s: invalid general.alignment %u", r->f->path, value);
        *align = value;
        return TN_OK;
    }
    if (type != TNI_GGUF_LIST)
        return skip_scalars(r, type, 1);
    TRY(take_u32(r, &type));
    TRY(take_u64(r, &n));
    return skip_scalars(r, type, n);
}

/* Extents in NumPy's order: the slowest axis first. */
static tn_status take_shape(reader *r, const char *name, int64_t *shape, int *ndim)
{
    uint32_t n;
    TRY(take_u32(r, &n));
    if (n > TN_MAX_NDIM)
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" has %u axes", r->f->path, name, n);
    for (uint32_t i = 0; i < n; i++) {
        uint64_t extent;
        TRY(take_u64(r, &extent));
        if (extent > INT64_MAX)
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": invalid extent %llu", r->f->path,
                            name, (unsigned long long)extent);
        shape[n - 1 - i] = (int64_t)extent;
    }
    *ndim = (int)n;
    return TN_OK;
}

static tn_status count_bytes(const reader *r, const tni_entry *e, uint32_t type, int64_t *bytes)
{
    int64_t n = 1;
    bool empty = false, fits = true;
    for (int i = 0; i < e->ndim; i++) {
        empty |= e->shape[i] == 0;
        fits = fits && tni_mul(n, e->shape[i] ? e->shape[i] : 1, &n);
    }
    if (!fits || !tni_mul(n / tni_gguf_types[type].block, tni_gguf_types[type].bytes, &n))
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": size exceeds 2^63 - 1 bytes",
                        r->f->path, e->name);
    *bytes = empty ? 0 : n;
    return TN_OK;
}

static tn_status take_tensor(reader *r)
{
    int64_t shape[TN_MAX_NDIM];
    uint64_t length, offset;
    uint32_t type;
    int ndim = 0;
    TRY(take_u64(r, &length));
    if (length >= LONGEST_NAME || (int64_t)length > r->f->size - r->at)
        return tni_fail(TN_EFORMAT, "%s: byte %lld: invalid name length %llu", r->f->path,
                        (long long)r->at, (unsigned long long)length);
    char *name = tni_arena_take(&r->f->arena, (size_t)length + 1);
    if (!name)
        return tni_no_memory(r->f->path, (int64_t)length + 1);
    TRY(gguf_take(r, name, (int64_t)length));
    name[length] = 0;
    TRY(take_shape(r, name, shape, &ndim));
    TRY(take_u32(r, &type));
    TRY(take_u64(r, &offset));
    bool known = type < (uint32_t)tni_gguf_type_count && tni_gguf_types[type].name;
    tni_entry e = {.name = name,
                   .type = known ? tni_gguf_types[type].name : "?",
                   .shape = shape,
                   .ndim = (int8_t)ndim,
                   .dtype = known ? tni_gguf_types[type].dtype : (tn_dtype)0};
    if (known)
        TRY(count_bytes(r, &e, type, &e.nbytes));
    e.swapped = r->swapped && (!e.dtype || tni_width(e.dtype) > 1);
    if (offset > (uint64_t)r->f->size || strlen(name) != length)
        return tni_fail(TN_EFORMAT,
                        "%s: tensor \"%.80s\" begins at byte %llu, the file has %lld bytes",
                        r->f->path, name, (unsigned long long)offset, (long long)r->f->size);
    e.offset = (int64_t)offset;
    return tni_file_add(r->f, &e);
}

/* Make offsets count from the start of the file: in the header they count from the data, which
 * begins at the next multiple of align. */
static tn_status gguf_locate(const reader *r, uint64_t align)
{
    int64_t data = (int64_t)(((uint64_t)r->at + align - 1) & ~(align - 1));
    for (int64_t i = 0; i < r->f->count; i++) {
        tni_entry *e = &r->f->entries[i];
        if ((uint64_t)e->offset % align != 0)
            return tni_fail(
                TN_EFORMAT, "%s: tensor \"%.80s\" begins at %lld, not aligned to %llu",
                r->f->path, e->name, (long long)e->offset, (unsigned long long)align);
        if (data > r->f->size - e->offset || e->nbytes > r->f->size - data - e->offset) {
            char text[TNI_SHAPE_TEXT];
            return tni_fail(
                TN_EFORMAT, "%s: tensor \"%.80s\" %s = %lld bytes at %lld, the file has %lld",
                r->f->path, e->name, tni_shape_text(text, e->ndim, e->shape, e->type),
                (long long)e->nbytes, (long long)(data + e->offset), (long long)r->f->size);
        }
        e->offset += data;
    }
    return TN_OK;
}

tn_status tni_gguf_open(tn_file *f)
{
    reader r = {.f = f, .at = 4};
    uint32_t version;
    uint64_t tensors, pairs, align = 32;
    TRY(take_u32(&r, &version));
    r.swapped = (version & 0xffff) == 0;
    if (r.swapped)
        version = __builtin_bswap32(version);
    if (version != 2 && version != 3)
        return tni_fail(TN_EUNSUPPORTED, "%s: .gguf version %u is not supported; 2 and 3 are",
                        f->path, version);
    TRY(take_u64(&r, &tensors));
    TRY(take_u64(&r, &pairs));
    for (uint64_t i = 0; i < pairs; i++)
        TRY(take_pair(&r, &align));
    if (!r.swapped) { /* the key-values, beginning with their count */
        f->values_at = COUNTS;
        f->values_size = r.at - COUNTS;
    }
    for (uint64_t i = 0; i < tensors; i++)
        TRY(take_tensor(&r));
    return gguf_locate(&r, align);
}
