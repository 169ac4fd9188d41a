/* safetensors.c - reading the header of .safetensors, every rule of the format enforced.
 *
 * The tensors, in the order of their places, cover the data without hole or overlap, and each
 * is as long as its shape and dtype say.  jansson reads the header one name and one value at a
 * time: a tree of ten thousand tensors would cost three times as long, and far more memory. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "io.h"
#include "safetensors.h"

enum { LONGEST = 100000000 };

const tni_st_type tni_st_types[] = {
    {"BOOL", 8, TN_BOOL},
    {"I8", 8, TN_I8},
    {"I16", 16, TN_I16},
    {"I32", 32, TN_I32},
    {"I64", 64, TN_I64},
    {"U8", 8, TN_U8},
    {"U16", 16, TN_U16},
    {"U32", 32, TN_U32},
    {"U64", 64, TN_U64},
    {"F8_E4M3", 8, TN_F8E4M3},
    {"F8_E5M2", 8, TN_F8E5M2},
    {"F16", 16, TN_F16},
    {"BF16", 16, TN_BF16},
    {"F32", 32, TN_F32},
    {"F64", 64, TN_F64},
    {"C64", 64, TN_C64},
    {"F8_E8M0", 8, 0},
    {"F8_E4M3FNUZ", 8, 0},
    {"F8_E5M2FNUZ", 8, 0},
    {"F6_E2M3", 6, 0},
    {"F6_E3M2", 6, 0},
    {"F4", 4, 0},
    {NULL, 0, 0},
};

typedef struct row {
    const char *name;
    const tni_st_type *type;
    int64_t begin, end, order;
    int ndim;
    const int64_t *shape;
} row;

/* The header while it is read. */
typedef struct parse {
    tn_file *f;
    const char *text;
    int64_t at, length;
    row *rows;
    int64_t n, room;
} parse;

static const tni_st_type *type_of(const json_t *dtype)
{
    const char *name = json_string_value(dtype);
    for (const tni_st_type *t = tni_st_types; name && t->name; t++)
        if (!strcmp(name, t->name))
            return t;
    return NULL;
}

/* Extents, and that they make up exactly the bytes from begin to end. */
static tn_status read_shape(tn_file *f, row *r, const json_t *list)
{
    int64_t bits = r->type->bits;
    int64_t *shape = tni_arena_take(&f->arena, (size_t)r->ndim * sizeof *shape);
    bool empty = false;
    if (!shape)
        return tni_no_memory(f->path, r->ndim * 8);
    for (int i = 0; i < r->ndim; i++) {
        json_t *extent = json_array_get(list, (size_t)i);
        shape[i] = json_integer_value(extent);
        if (!json_is_integer(extent) || shape[i] < 0)
            return tni_fail(TN_EFORMAT,
                            "%s: tensor \"%.80s\": axis %d of its shape is no extent", f->path,
                            r->name, i);
        if (!tni_mul(bits, shape[i] ? shape[i] : 1, &bits))
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": more bits than 64 bits count",
                            f->path, r->name);
        empty |= shape[i] == 0;
    }
    bits = empty ? 0 : bits;
    if (bits % 8 != 0 || bits / 8 != r->end - r->begin) {
        char text[TNI_SHAPE_TEXT];
        return tni_fail(TN_EFORMAT,
                        "%s: tensor \"%.80s\": %s = %lld bytes, its offsets span %lld", f->path,
                        r->name, tni_shape_text(text, r->ndim, shape, r->type->name),
                        (long long)(bits / 8), (long long)(r->end - r->begin));
    }
    r->shape = shape;
    return TN_OK;
}

/* One member of the header, as far as it can be checked alone. */
static tn_status read_row(tn_file *f, row *r, const json_t *value)
{
    const json_t *offsets = json_object_get(value, "data_offsets");
    const json_t *begin = json_array_get(offsets, 0), *end = json_array_get(offsets, 1);
    const json_t *dtype = json_object_get(value, "dtype");
    const json_t *shape = json_object_get(value, "shape");
    r->type = type_of(dtype);
    if (!json_is_string(dtype) || !json_is_array(shape) || json_array_size(offsets) != 2 ||
        !json_is_integer(begin) || !json_is_integer(end))
        return tni_fail(TN_EFORMAT,
                        "%s: tensor \"%.80s\": dtype, shape or data_offsets is missing or not "
                        "what it should be",
                        f->path, r->name);
    if (!r->type)
        return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\" has dtype \"%.20s\"", f->path,
                        r->name, json_string_value(dtype));
    if (json_array_size(shape) > TN_MAX_NDIM)
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" has more than 64 axes", f->path,
                        r->name);
    r->ndim = (int)json_array_size(shape);
    r->begin = json_integer_value(begin);
    r->end = json_integer_value(end);
    if (r->begin < 0 || r->end < r->begin)
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": offsets %lld to %lld", f->path,
                        r->name, (long long)r->begin, (long long)r->end);
    return read_shape(f, r, shape);
}

static int by_place(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

/* Add the rows, which are in the order of their places and leave no hole. */
static tn_status add_rows(tn_file *f, const row *rows, int64_t n, int64_t data)
{
    int64_t at = 0;
    for (int64_t i = 0; i < n; i++) {
        const row *r = &rows[i];
        if (r->begin != at)
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" begins at %lld, expected %lld",
                            f->path, r->name, (long long)r->begin, (long long)at);
        at = r->end;
        if (at > f->size - data)
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" ends at %lld, the data at %lld",
                            f->path, r->name, (long long)at, (long long)(f->size - data));
        TRY(tni_file_add(f, &(tni_entry){.name = r->name,
                                         .type = r->type->name,
                                         .shape = r->shape,
                                         .ndim = (int8_t)r->ndim,
                                         .dtype = r->type->dtype,
                                         .offset = data + r->begin,
                                         .nbytes = r->end - r->begin,
                                         .swapped = TNI_HOST_BIG && r->type->bits > 8}));
    }
    if (at != f->size - data)
        return tni_fail(TN_EFORMAT, "%s: the tensors end at byte %lld, the file has %lld",
                        f->path, (long long)(data + at), (long long)f->size);
    return TN_OK;
}

char *tni_st_text(const json_t *value, size_t *n)
{
    *n = json_dumpb(value, NULL, 0, JSON_COMPACT);
    char *text = *n ? tni_alloc(*n + 1) : NULL;
    if (text && json_dumpb(value, text, *n, JSON_COMPACT) != *n) {
        tni_free(text);
        return NULL;
    }
    if (text)
        text[*n] = 0;
    return text;
}

tn_status tni_st_refused(const char *path, const char *text, int64_t from,
                         const json_error_t *error)
{
    if (!error->text[0] || json_error_code(error) == json_error_out_of_memory)
        return tni_no_memory(path, 64);
    return tni_fail(TN_EFORMAT, "%s: %s, byte %lld: %.120s", path, text,
                    (long long)(from + error->position), error->text);
}

tn_status tni_st_metadata(tni_arena *arena, const char *path, const json_t *object,
                          const char **text)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object))
        return tni_fail(TN_EFORMAT, "%s: __metadata__ is no object", path);
    json_object_foreach((json_t *)object, key, value) if (
        !json_is_string(value)) return tni_fail(TN_EFORMAT,
                                                "%s: __metadata__: \"%.80s\" is no text", path,
                                                key);
    size_t n;
    char *dumped = tni_st_text(object, &n);
    *text = dumped ? tni_arena_text(arena, dumped, n) : NULL;
    tni_free(dumped);
    return *text ? TN_OK : tni_no_memory(path, (int64_t)json_object_size(object));
}

static tn_status grow(parse *p)
{
    int64_t room = p->room ? 2 * p->room : 16;
    row *more = tni_alloc((size_t)room * sizeof *more);
    if (!more)
        return tni_no_memory(p->f->path, room * (int64_t)sizeof *more);
    if (p->n)
        memcpy(more, p->rows, (size_t)p->n * sizeof *more);
    tni_free(p->rows);
    p->rows = more;
    p->room = room;
    return TN_OK;
}

/* The next JSON value of the text. */
static tn_status next_value(parse *p, json_t **value)
{
    json_error_t error;
    *value =
        json_loadb(p->text + p->at, (size_t)(p->length - p->at),
                   JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &error);
    if (!*value)
        return tni_st_refused(p->f->path, "header", 8 + p->at, &error);
    p->at += error.position;
    return TN_OK;
}

static void blanks(parse *p)
{
    while (p->at < p->length && memchr(" \t\r\n", p->text[p->at], 4))
        p->at++;
}

/* Whether c is next, and past it. */
static bool sign(parse *p, char c)
{
    blanks(p);
    bool is = p->at < p->length && p->text[p->at] == c;
    p->at += is;
    return is;
}

static tn_status add_value(parse *p, const char *name, const json_t *value)
{
    tn_file *f = p->f;
    if (!strcmp(name, "__metadata__")) {
        if (f->metadata)
            return tni_fail(TN_EFORMAT, "%s: __metadata__ is there twice", f->path);
        return tni_st_metadata(&f->arena, f->path, value, &f->metadata);
    }
    if (p->n == p->room)
        TRY(grow(p));
    row *r = &p->rows[p->n];
    *r = (row){.order = p->n++};
    r->name = tni_arena_text(&f->arena, name, strlen(name));
    return r->name ? read_row(f, r, value) : tni_no_memory(f->path, (int64_t)strlen(name));
}

/* "name": value */
static tn_status read_pair(parse *p)
{
    json_t *name = NULL, *value = NULL;
    tn_status status = next_value(p, &name);
    if (status == TN_OK && (!json_is_string(name) || !sign(p, ':')))
        status = tni_fail(TN_EFORMAT, "%s: header, byte %lld: no name with a colon", p->f->path,
                          (long long)(8 + p->at));
    if (status == TN_OK)
        status = next_value(p, &value);
    if (status == TN_OK)
        status = add_value(p, json_string_value(name), value);
    json_decref(value);
    json_decref(name);
    return status;
}

static tn_status read_header(parse *p)
{
    bool more = sign(p, '{') && !sign(p, '}');
    while (more) {
        TRY(read_pair(p));
        more = sign(p, ',');
        if (!more && !sign(p, '}'))
            return tni_fail(TN_EFORMAT, "%s: header, byte %lld: neither , nor }", p->f->path,
                            (long long)(8 + p->at));
    }
    blanks(p);
    if (p->at < p->length)
        return tni_fail(TN_EFORMAT, "%s: header, byte %lld: text behind the object", p->f->path,
                        (long long)(8 + p->at));
    if (p->n)
        qsort(p->rows, (size_t)p->n, sizeof *p->rows, by_place);
    return add_rows(p->f, p->rows, p->n, 8 + p->length);
}

tn_status tni_safetensors_open(tn_file *f)
{
    uint8_t prefix[8];
    uint64_t length = 0;
    TRY(tni_file_bytes(f, prefix, 8, 0));
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)prefix[i] << 8 * i;
    if (length > LONGEST || (int64_t)length > f->size - 8)
        return tni_fail(TN_EFORMAT,
                        "%s: a header of %llu bytes; the file has %lld, %d are read", f->path,
                        (unsigned long long)length, (long long)f->size, LONGEST);
    char *text = tni_alloc((size_t)length);
    if (!text)
        return tni_no_memory(f->path, (int64_t)length);
    tn_status status = tni_file_bytes(f, text, (int64_t)length, 8);
    parse p = {.f = f, .text = text, .length = (int64_t)length};
    if (status == TN_OK)
        status = read_header(&p);
    tni_free(p.rows);
    tni_free(text);
    return status;
}
