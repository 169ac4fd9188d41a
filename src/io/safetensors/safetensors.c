/* safetensors.c - reading the header of .safetensors, enforcing every rule of the format.
 *
 * In the order of their offsets the tensors cover the data without holes or overlaps, and each
 * has the length that its shape and dtype give. */
#include <stdlib.h>
#include <string.h>

#include "json.h"
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

/* State of reading the header. */
typedef struct parse {
    tn_file *f;
    tni_json j;
    row *rows;
    int64_t n, capacity;
} parse;

tn_status tni_fail_json(const char *path, const char *what, int64_t from, const tni_json *j)
{
    if (!j->why)
        return tni_no_memory(path, j->length);
    return tni_fail(TN_EFORMAT, "%s: %s, byte %lld: %s", path, what, (long long)(from + j->at),
                    j->why);
}

static tn_status fail_header(const parse *p)
{
    return tni_fail_json(p->f->path, "header", 8, &p->j);
}

static const tni_st_type *type_of(const char *name)
{
    for (const tni_st_type *t = tni_st_types; t->name; t++)
        if (!strcmp(name, t->name))
            return t;
    return NULL;
}

/* Read "[1, 2]" as at most capacity numbers; *n is -1 if there are more. */
static bool read_list(tni_json *j, int capacity, int64_t *list, int *n)
{
    *n = 0;
    if (!tni_json_sign(j, '['))
        return tni_json_wrong(j, "expected an array");
    if (tni_json_sign(j, ']'))
        return true;
    do {
        int64_t x;
        if (!tni_json_integer(j, &x))
            return false;
        if (*n >= 0 && *n < capacity)
            list[(*n)++] = x;
        else
            *n = -1;
    } while (tni_json_sign(j, ','));
    return tni_json_sign(j, ']') ? true : tni_json_wrong(j, "expected ',' or ']'");
}

/* The members of a tensor's object, as the header has them. */
typedef struct facts {
    const char *dtype;
    int64_t shape[TN_MAX_NDIM], offsets[2];
    int ndim, noffsets; /* -2: missing */
} facts;

/* Read one member of a tensor's object. */
static bool read_fact(parse *p, facts *x)
{
    tni_json *j = &p->j;
    const char *key;
    if (!tni_json_string(j, &p->f->arena, &key))
        return false;
    bool dtype = !strcmp(key, "dtype"), shape = !strcmp(key, "shape");
    bool offsets = !strcmp(key, "data_offsets");
    if (!tni_json_sign(j, ':'))
        return tni_json_wrong(j, "expected \"name\":");
    if ((dtype && x->dtype) || (shape && x->ndim != -2) || (offsets && x->noffsets != -2))
        return tni_json_wrong(j, "duplicate key");
    return dtype     ? tni_json_string(j, &p->f->arena, &x->dtype)
           : shape   ? read_list(j, TN_MAX_NDIM, x->shape, &x->ndim)
           : offsets ? read_list(j, 2, x->offsets, &x->noffsets)
                     : tni_json_skip(j);
}

static bool read_facts(parse *p, facts *x)
{
    tni_json *j = &p->j;
    *x = (facts){.ndim = -2, .noffsets = -2};
    if (!tni_json_sign(j, '{'))
        return tni_json_wrong(j, "expected an object");
    if (tni_json_sign(j, '}'))
        return true;
    do
        if (!read_fact(p, x))
            return false;
    while (tni_json_sign(j, ','));
    return tni_json_sign(j, '}') ? true : tni_json_wrong(j, "expected ',' or '}'");
}

/* The extents account for exactly the bytes from begin to end. */
static tn_status safetensors_check_shape(tn_file *f, row *r, const facts *x)
{
    int64_t bits = r->type->bits;
    int64_t *shape = tni_arena_take(&f->arena, (size_t)r->ndim * sizeof *shape);
    bool empty = false;
    if (!shape)
        return tni_no_memory(f->path, r->ndim * 8);
    for (int i = 0; i < r->ndim; i++) {
        shape[i] = x->shape[i];
        if (shape[i] < 0)
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": axis %d: invalid extent",
                            f->path, r->name, i);
        if (!tni_mul(bits, shape[i] ? shape[i] : 1, &bits))
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": size exceeds 2^63 - 1 bits",
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

/* Read one member of the header and check what concerns it alone. */
static tn_status read_row(parse *p, row *r)
{
    const char *path = p->f->path;
    facts x;
    if (!read_facts(p, &x))
        return fail_header(p);
    if (!x.dtype || x.ndim == -2 || x.noffsets != 2)
        return tni_fail(TN_EFORMAT,
                        "%s: tensor \"%.80s\": dtype, shape or data_offsets is missing or "
                        "invalid",
                        path, r->name);
    r->type = type_of(x.dtype);
    if (!r->type)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: tensor \"%.80s\": dtype \"%.20s\" is not supported", path, r->name,
                        x.dtype);
    if (x.ndim < 0)
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" has more than 64 axes", path,
                        r->name);
    r->ndim = x.ndim;
    r->begin = x.offsets[0];
    r->end = x.offsets[1];
    if (r->begin < 0 || r->end < r->begin)
        return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": invalid offsets %lld to %lld", path,
                        r->name, (long long)r->begin, (long long)r->end);
    return safetensors_check_shape(p->f, r, &x);
}

static int by_offset(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end)
        return x->end < y->end ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Add the rows, sorted by offset; an error if they leave a hole. */
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
            return tni_fail(
                TN_EFORMAT,
                "%s: tensor \"%.80s\" ends at byte %lld of the data, which has %lld", f->path,
                r->name, (long long)at, (long long)(f->size - data));
        TRY(tni_file_add(f, &(tni_entry){.name = r->name,
                                         .type = r->type->name,
                                         .shape = r->shape,
                                         .ndim = (int8_t)r->ndim,
                                         .dtype = r->type->dtype,
                                         .offset = data + r->begin,
                                         .nbytes = r->end - r->begin,
                                         .swapped = TNI_HOST_BIG & (r->type->bits > 8)}));
    }
    if (at != f->size - data)
        return tni_fail(TN_EFORMAT, "%s: the tensors end at byte %lld, the file has %lld",
                        f->path, (long long)(data + at), (long long)f->size);
    return TN_OK;
}

static tn_status safetensors_grow(parse *p)
{
    row *more = tni_grown(p->f->path, p->rows, &p->capacity, 16, sizeof *more);
    if (!more)
        return TN_ENOMEM;
    p->rows = more;
    return TN_OK;
}

/* Read one "name": value. */
static tn_status read_pair(parse *p)
{
    tn_file *f = p->f;
    const char *name;
    if (!tni_json_string(&p->j, &f->arena, &name))
        return fail_header(p);
    if (!tni_json_sign(&p->j, ':')) {
        p->j.why = "expected \"name\":";
        return fail_header(p);
    }
    if (!strcmp(name, "__metadata__")) {
        if (f->metadata)
            return tni_fail(TN_EFORMAT, "%s: duplicate __metadata__", f->path);
        return tni_json_texts(&p->j, &f->arena, &f->metadata) ? TN_OK : fail_header(p);
    }
    if (p->n == p->capacity)
        TRY(safetensors_grow(p));
    row *r = &p->rows[p->n];
    *r = (row){.order = p->n++, .name = name};
    return read_row(p, r);
}

static tn_status read_header(parse *p)
{
    tni_json *j = &p->j;
    bool more = tni_json_sign(j, '{') && !tni_json_sign(j, '}');
    while (more) {
        TRY(read_pair(p));
        more = tni_json_sign(j, ',');
        if (!more && !tni_json_sign(j, '}')) {
            j->why = "expected ',' or '}'";
            return fail_header(p);
        }
    }
    (void)tni_json_sign(j, ' ');
    if (j->at < j->length) {
        j->why = "trailing text after the object";
        return fail_header(p);
    }
    if (p->n)
        qsort(p->rows, (size_t)p->n, sizeof *p->rows, by_offset);
    return add_rows(p->f, p->rows, p->n, 8 + j->length);
}

tn_status tni_safetensors_open(tn_file *f)
{
    uint8_t prefix[8];
    uint64_t length = 0;
    TRY(tni_file_bytes(f, prefix, 8, 0));
    for (int i = 0; i < 8; i++)
        length |= (uint64_t)prefix[i] << 8 * i;
    if (length > LONGEST || (int64_t)length > f->size - 8)
        return tni_fail(
            TN_EFORMAT,
            "%s: header has %llu bytes, the file has %lld; at most %d are supported", f->path,
            (unsigned long long)length, (long long)f->size, LONGEST);
    char *text = tni_alloc((size_t)length);
    if (!text)
        return tni_no_memory(f->path, (int64_t)length);
    tn_status status = tni_file_bytes(f, text, (int64_t)length, 8);
    parse p = {.f = f, .j = {.text = text, .length = (int64_t)length}};
    if (status == TN_OK)
        status = read_header(&p);
    tni_free(p.rows);
    tni_free(text);
    return status;
}
