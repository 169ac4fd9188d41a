/* safetensors_write.c - writing .safetensors: the header first, padded with spaces.
 *
 * Tensors follow one another in the order of the slots, without holes; the data begins at a
 * multiple of the requested alignment. */
#include <stdio.h>
#include <string.h>

#include "io/write.h"
#include "safetensors.h"

enum { LONGEST = 100000000 };

static const char *name_of(tn_dtype dtype)
{
    for (const tni_st_type *t = tni_st_types; t->name; t++)
        if (t->dtype == dtype)
            return t->name;
    return NULL;
}

/* Counts text and, unless out is NULL, stores it. */
typedef struct sink {
    char *out;
    int64_t n;
} sink;

static void safetensors_put(sink *s, const char *text)
{
    size_t n = strlen(text);
    if (s->out)
        memcpy(s->out + s->n, text, n);
    s->n += (int64_t)n;
}

static void put_quoted(sink *s, const char *text)
{
    s->n += tni_json_quote(s->out ? s->out + s->n : NULL, text);
}

static void put_number(sink *s, int64_t x)
{
    char text[24];
    snprintf(text, sizeof text, "%lld", (long long)x);
    safetensors_put(s, text);
}

static void put_slot(sink *s, const tni_slot *slot, int64_t at)
{
    put_quoted(s, slot->name);
    safetensors_put(s, ":{\"dtype\":");
    put_quoted(s, name_of(slot->dtype));
    safetensors_put(s, ",\"shape\":[");
    for (int i = 0; i < slot->ndim; i++) {
        safetensors_put(s, i ? "," : "");
        put_number(s, slot->shape[i]);
    }
    safetensors_put(s, "],\"data_offsets\":[");
    put_number(s, at);
    safetensors_put(s, ",");
    put_number(s, at + slot->nbytes);
    safetensors_put(s, "]}");
}

static void put_header(sink *s, const tn_writer *w, const char *metadata)
{
    int64_t at = 0;
    safetensors_put(s, "{");
    if (metadata) {
        safetensors_put(s, "\"__metadata__\":");
        safetensors_put(s, metadata);
    }
    for (int i = 0; i < w->n; i++) {
        safetensors_put(s, i > 0 || metadata ? "," : "");
        put_slot(s, &w->slots[i], at);
        at += w->slots[i].nbytes;
    }
    safetensors_put(s, "}");
}

static tn_status check_slot(const tn_writer *w, const tni_slot *slot, int64_t *at)
{
    if (!name_of(slot->dtype))
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\": .safetensors does not support dtype %s", w->path,
                        slot->name, tn_dtype_name(slot->dtype));
    if (!tni_is_utf8(slot->name))
        return tni_fail(TN_EARG, "%s: the name of the tensor at byte %lld is not UTF-8",
                        w->path, (long long)*at);
    if (!strcmp(slot->name, "__metadata__"))
        return tni_fail(TN_EARG, "%s: a tensor cannot be named __metadata__", w->path);
    if (!tni_add(*at, slot->nbytes, at))
        return tni_fail(TN_EOVERFLOW, "%s: size exceeds 2^63 - 1 bytes", w->path);
    return TN_OK;
}

/* The metadata of the options, validated and without blanks; NULL: none. */
static tn_status read_metadata(tn_writer *w, const char **out)
{
    const char *text = w->options.metadata;
    tni_json j = {.text = text, .length = text ? (int64_t)strlen(text) : 0};
    if (!text)
        return TN_OK;
    if (tni_json_texts(&j, &w->arena, out)) {
        (void)tni_json_sign(&j, ' ');
        if (j.at == j.length)
            return TN_OK;
        tni_json_wrong(&j, "trailing text after the object");
    }
    return tni_fail_json(w->path, "metadata", 0, &j);
}

/* Write the length, the text and the padding. */
static tn_status write_text(tn_writer *w, const char *text, int64_t n)
{
    int64_t align = w->options.align ? w->options.align : 8;
    int64_t whole = tni_round_up(8 + n, align);
    uint8_t length[8];
    char spaces[256];
    if (whole - 8 > LONGEST)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: header has %lld bytes, the format allows at most %d", w->path,
                        (long long)whole, LONGEST);
    for (int i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)(whole - 8) >> 8 * i);
    memset(spaces, ' ', sizeof spaces);
    TRY(tni_append(w, length, 8));
    TRY(tni_append(w, text, n));
    for (int64_t left = whole - 8 - n; left > 0; left -= (int64_t)sizeof spaces)
        TRY(tni_append(w, spaces,
                       left < (int64_t)sizeof spaces ? left : (int64_t)sizeof spaces));
    return TN_OK;
}

static tn_status safetensors_begin(tn_writer *w)
{
    const char *metadata = NULL;
    int64_t at = 0;
    sink s = {0};
    TRY(read_metadata(w, &metadata));
    for (int i = 0; i < w->n; i++)
        TRY(check_slot(w, &w->slots[i], &at));
    put_header(&s, w, metadata);
    const int64_t length = s.n;
    s = (sink){tni_alloc((size_t)length), 0};
    if (!s.out)
        return tni_no_memory(w->path, length);
    put_header(&s, w, metadata);
    tn_status status = write_text(w, s.out, s.n);
    tni_free(s.out);
    return status;
}

const tni_format tni_safetensors_format = {.suffix = ".safetensors",
                                           .only = "tensor",
                                           .many = true,
                                           .swaps = TNI_HOST_BIG,
                                           .joined = true,
                                           .widest_first = true,
                                           .begin = safetensors_begin,
                                           .bytes = tni_append};
