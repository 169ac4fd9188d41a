/* safetensors_write.c - .safetensors as it is written: the header first, padded with spaces.
 *
 * The tensors lie in the order of the slots, without holes; the data begins at a multiple of
 * the asked alignment. */
#include <stdlib.h>
#include <string.h>

#include "safetensors.h"
#include "write.h"

enum { LONGEST = 100000000 };

static const char *name_of(tn_dtype dtype)
{
    for (const tni_st_type *t = tni_st_types; t->name; t++)
        if (t->dtype == dtype)
            return t->name;
    return NULL;
}

/* Whether text is UTF-8: no byte astray, no longer form than needed, no surrogate. */
static bool is_utf8(const char *text)
{
    for (const uint8_t *p = (const uint8_t *)text; *p;) {
        int more = *p < 0x80                ? 0
                   : *p < 0xc2 || *p > 0xf4 ? -1
                   : *p < 0xe0              ? 1
                   : *p < 0xf0              ? 2
                                            : 3;
        uint32_t c = *p++ & (more > 0 ? 0x3fu >> more : 0x7fu);
        for (int i = 0; i < more; i++, p++) {
            if ((*p & 0xc0) != 0x80)
                return false;
            c = c << 6 | (*p & 0x3fu);
        }
        if (more < 0 || (more == 2 && (c < 0x800 || (c >= 0xd800 && c < 0xe000))) ||
            (more == 3 && (c < 0x10000 || c > 0x10ffff)))
            return false;
    }
    return true;
}

static tn_status add_slot(const tn_writer *w, json_t *header, const tni_slot *slot, int64_t *at)
{
    const char *type = name_of(slot->dtype);
    if (!type)
        return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\": .safetensors has no %s",
                        w->path, slot->name, tn_dtype_name(slot->dtype));
    if (!is_utf8(slot->name))
        return tni_fail(TN_EARG, "%s: the name of tensor at %lld is no UTF-8", w->path,
                        (long long)*at);
    if (!strcmp(slot->name, "__metadata__"))
        return tni_fail(TN_EARG, "%s: no tensor can be named __metadata__", w->path);
    json_t *shape = json_array();
    int bad = 0;
    for (int i = 0; i < slot->ndim; i++)
        bad |= json_array_append_new(shape, json_integer(slot->shape[i]));
    json_t *offsets = json_pack("[I,I]", (json_int_t)*at, (json_int_t)(*at + slot->nbytes));
    json_t *value =
        json_pack("{s:s, s:o, s:o}", "dtype", type, "shape", shape, "data_offsets", offsets);
    if (bad || !value) {
        json_decref(value);
        return tni_no_memory(w->path, 64);
    }
    if (json_object_set_new(header, slot->name, value) != 0)
        return tni_no_memory(w->path, 64);
    *at += slot->nbytes;
    return TN_OK;
}

static tn_status add_metadata(tn_writer *w, json_t *header)
{
    json_error_t error;
    const char *text;
    if (!w->options.metadata)
        return TN_OK;
    json_t *object = json_loads(w->options.metadata, JSON_REJECT_DUPLICATES, &error);
    if (!object)
        return tni_st_refused(w->path, "metadata", 0, &error);
    tn_status status = tni_st_metadata(&w->arena, w->path, object, &text);
    if (status != TN_OK)
        json_decref(object);
    else if (json_object_set_new(header, "__metadata__", object) != 0)
        status = tni_no_memory(w->path, 64);
    return status;
}

/* Length, text, padding. */
static tn_status write_text(tn_writer *w, const char *text, int64_t n)
{
    int64_t align = w->options.align ? w->options.align : 8;
    int64_t whole = (8 + n + align - 1) / align * align;
    uint8_t length[8];
    char spaces[256];
    if (whole - 8 > LONGEST)
        return tni_fail(TN_EUNSUPPORTED, "%s: a header of %lld bytes; the format takes %d",
                        w->path, (long long)whole, LONGEST);
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

static tn_status begin(tn_writer *w)
{
    int64_t at = 0;
    json_t *header = json_object();
    tn_status status = header ? add_metadata(w, header) : tni_no_memory(w->path, 64);
    for (int i = 0; status == TN_OK && i < w->n; i++)
        status = add_slot(w, header, &w->slots[i], &at);
    if (status == TN_OK) {
        size_t n;
        char *text = tni_st_text(header, &n);
        status = text ? write_text(w, text, (int64_t)n) : tni_no_memory(w->path, (int64_t)n);
        tni_free(text);
    }
    json_decref(header);
    return status;
}

const tni_style tni_safetensors_style = {.suffix = ".safetensors",
                                         .many = true,
                                         .swaps = TNI_HOST_BIG,
                                         .begin = begin,
                                         .bytes = tni_append};
