/* gguf_write.c - writing .gguf, unquantised types only: version 3, little-endian.
 *
 * The header is built in memory.  Every tensor and the end of the file are padded to the
 * alignment that the key-values specify. */
#include <string.h>

#include "gguf.h"
#include "io/write.h"

enum { ALIGN = 32, MOST_AXES = 4, LONGEST_NAME = 63 };

static const char align_key[] = "general.alignment";

/* ---- key-values ---- */

typedef struct pairs {
    const char *path;
    const uint8_t *begin, *at, *end;
    int64_t count, align; /* align 0: not specified */
} pairs;

static tn_status bad_pairs(const pairs *p, const char *what)
{
    return tni_fail(TN_EFORMAT, "%s: values, byte %lld: %s", p->path,
                    (long long)(p->at - p->begin), what);
}

static uint64_t load(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = bytes - 1; i >= 0; i--)
        x = x << 8 | at[i];
    return x;
}

static tn_status gguf_take(pairs *p, int bytes, uint64_t *out)
{
    if (p->end - p->at < bytes)
        return bad_pairs(p, "a number is truncated");
    *out = load(p->at, bytes);
    p->at += bytes;
    return TN_OK;
}

static tn_status take_text(pairs *p, const char **text, uint64_t *n)
{
    TRY(gguf_take(p, 8, n));
    if (*n > (uint64_t)(p->end - p->at))
        return bad_pairs(p, "a string is truncated");
    *text = (const char *)p->at;
    p->at += *n;
    return TN_OK;
}

static tn_status take_values(pairs *p, uint64_t type, uint64_t count)
{
    const char *text = NULL;
    uint64_t n = 0, bytes = (uint64_t)tni_gguf_value_bytes((uint32_t)type);
    if (type == TNI_GGUF_TEXT) {
        for (uint64_t i = 0; i < count; i++)
            TRY(take_text(p, &text, &n));
        return TN_OK;
    }
    if (!bytes)
        return bad_pairs(p, "unknown type");
    if (count > (uint64_t)(p->end - p->at) / bytes)
        return bad_pairs(p, "a value is truncated");
    p->at += count * bytes;
    return TN_OK;
}

static tn_status take_pair(pairs *p)
{
    const char *key = NULL;
    uint64_t n = 0, type = 0, count = 1;
    TRY(take_text(p, &key, &n));
    TRY(gguf_take(p, 4, &type));
    const bool align = n == sizeof align_key - 1 && !memcmp(key, align_key, n);
    if (align && (type != TNI_GGUF_U32 || p->end - p->at < 4))
        return bad_pairs(p, "general.alignment is not a u32");
    if (align)
        p->align = (int64_t)load(p->at, 4);
    if (type == TNI_GGUF_LIST) {
        TRY(gguf_take(p, 4, &type));
        TRY(gguf_take(p, 8, &count));
    }
    return take_values(p, type, count);
}

static tn_status read_pairs(const tn_writer *w, pairs *p)
{
    const uint8_t *at = w->options.values;
    *p = (pairs){.path = w->path, .begin = at};
    if (!at)
        return TN_OK;
    if (w->options.values_size < 8)
        return tni_fail(TN_EFORMAT, "%s: values have %lld bytes, expected 8 or more", w->path,
                        (long long)w->options.values_size);
    p->at = at + 8;
    p->end = at + w->options.values_size;
    for (uint64_t left = load(at, 8); left > 0; left--, p->count++)
        TRY(take_pair(p));
    return p->at == p->end ? TN_OK : bad_pairs(p, "trailing bytes after the last value");
}

/* ---- the header ---- */

/* Counts bytes and, unless out is NULL, stores them. */
typedef struct sink {
    uint8_t *out;
    int64_t n;
} sink;

static void gguf_put(sink *s, const void *data, int64_t n)
{
    if (s->out && n)
        memcpy(s->out + s->n, data, (size_t)n);
    s->n += n;
}

static void put_number(sink *s, uint64_t x, int bytes)
{
    uint8_t out[8];
    for (int i = 0; i < bytes; i++)
        out[i] = (uint8_t)(x >> 8 * i);
    gguf_put(s, out, bytes);
}

static void put_text(sink *s, const char *text)
{
    const size_t n = strlen(text);
    put_number(s, n, 8);
    gguf_put(s, text, (int64_t)n);
}

static int64_t padded(int64_t n, int64_t align)
{
    return (n + align - 1) & ~(align - 1);
}

static uint32_t type_of(tn_dtype dtype)
{
    uint32_t i = 0;
    while (i < (uint32_t)tni_gguf_type_count && tni_gguf_types[i].dtype != dtype)
        i++;
    return i;
}

static void put_slot(sink *s, const tni_slot *slot, int64_t offset)
{
    put_text(s, slot->name);
    put_number(s, (uint64_t)slot->ndim, 4);
    for (int i = slot->ndim - 1; i >= 0; i--)
        put_number(s, (uint64_t)slot->shape[i], 8);
    put_number(s, type_of(slot->dtype), 4);
    put_number(s, (uint64_t)offset, 8);
}

static void put_header(sink *s, const tn_writer *w, const pairs *p, int64_t align)
{
    const bool extra = !p->align && align != ALIGN;
    int64_t offset = 0;
    gguf_put(s, "GGUF\3\0\0\0", 8);
    put_number(s, (uint64_t)w->n, 8);
    put_number(s, (uint64_t)(p->count + extra), 8);
    if (p->count)
        gguf_put(s, (const char *)w->options.values + 8, w->options.values_size - 8);
    if (extra) {
        put_text(s, align_key);
        put_number(s, TNI_GGUF_U32, 4);
        put_number(s, (uint64_t)align, 4);
    }
    for (int i = 0; i < w->n; i++) {
        put_slot(s, &w->slots[i], offset);
        offset += padded(w->slots[i].nbytes, align);
    }
    while (s->n % align)
        gguf_put(s, "", 1);
}

static tn_status check_slot(const tn_writer *w, const tni_slot *slot, int64_t *at)
{
    if (type_of(slot->dtype) == (uint32_t)tni_gguf_type_count)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\": .gguf does not support dtype %s", w->path,
                        slot->name, tn_dtype_name(slot->dtype));
    if (slot->ndim > MOST_AXES)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\" has %d axes, .gguf supports at most %d", w->path,
                        slot->name, slot->ndim, MOST_AXES);
    if (strlen(slot->name) > LONGEST_NAME || !tni_is_utf8(slot->name))
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\": expected a UTF-8 name of at most %d bytes",
                        w->path, slot->name, LONGEST_NAME);
    if (!tni_add(*at, slot->nbytes, at) || !tni_add(*at, TNI_GGUF_MAX_ALIGN, at))
        return tni_fail(TN_EOVERFLOW, "%s: size exceeds 2^63 - 1 bytes", w->path);
    return TN_OK;
}

static tn_status choose_align(const tn_writer *w, const pairs *p, int64_t *align)
{
    const int64_t asked = w->options.align;
    *align = p->align ? p->align : asked ? asked : ALIGN;
    if (asked && asked != *align)
        return tni_fail(TN_EARG, "%s: alignment is %lld, but general.alignment is %lld",
                        w->path, (long long)asked, (long long)p->align);
    if (*align > TNI_GGUF_MAX_ALIGN || (*align & (*align - 1)))
        return tni_fail(TN_EARG, "%s: alignment is %lld, expected a power of two", w->path,
                        (long long)*align);
    return TN_OK;
}

static tn_status gguf_begin(tn_writer *w)
{
    pairs p;
    sink s = {0};
    int64_t at = 0, align = ALIGN;
    TRY(read_pairs(w, &p));
    TRY(choose_align(w, &p, &align));
    for (int i = 0; i < w->n; i++)
        TRY(check_slot(w, &w->slots[i], &at));
    put_header(&s, w, &p, align);
    const int64_t length = s.n;
    s = (sink){tni_alloc((size_t)length), 0};
    tn_status status = s.out ? TN_OK : tni_no_memory(w->path, length);
    w->options.align = align;
    if (status == TN_OK) {
        put_header(&s, w, &p, align);
        status = tni_append(w, s.out, s.n);
    }
    tni_free(s.out);
    return status;
}

static tn_status pad(tn_writer *w)
{
    static const char zeros[256];
    const int64_t align = w->options.align;
    for (int64_t left = padded(w->at, align) - w->at; left > 0;) {
        const int64_t n = left < (int64_t)sizeof zeros ? left : (int64_t)sizeof zeros;
        TRY(tni_append(w, zeros, n));
        left -= n;
    }
    return TN_OK;
}

static tn_status gguf_enter(tn_writer *w, const tni_slot *slot)
{
    (void)slot;
    return pad(w);
}

const tni_format tni_gguf_format = {.suffix = ".gguf",
                                    .only = "tensor",
                                    .many = true,
                                    .swaps = TNI_HOST_BIG,
                                    .begin = gguf_begin,
                                    .enter = gguf_enter,
                                    .bytes = tni_append,
                                    .finish = pad};
