/* torch.c - reading .pt, .pth and .bin files of torch 1.6 and later: a zip archive whose
 * data.pkl describes the tensors and whose members data/0, data/1 … hold their bytes.
 *
 * A tensor's name is the path of keys from the root, joined by dots.  Its offset, shape and
 * strides are checked against the member before it is listed; tensors may share bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/safetensors/json.h"
#include "pickle.h"
#include "torch.h"

enum {
    DEEPEST = 1000,
    LONGEST_PICKLE = 1 << 28, /* bytes: names and shapes of millions of tensors */
    RATIO = 64                /* limit of steps per byte of the pickle */
};

int64_t tni_torch_most = 10000000;

typedef struct archive {
    tn_file *f;
    tni_pickle p;
    const tni_zip_member **by_name;
    int64_t members;
    const char *top; /* the folder that holds all members, with its slash */
    int top_length;
    bool swapped;
    char *name; /* name of the value being visited */
    int64_t name_capacity, names, steps;
} archive;

static tn_status fail_torch(const archive *a, const char *what, const char *name)
{
    return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\": %s", a->f->path, name, what);
}

/* ---- members ---- */

static int by_member_name(const void *a, const void *b)
{
    const tni_zip_member *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* The member of this name in the top folder; NULL: none. */
static const tni_zip_member *find_member(const archive *a, const char *name)
{
    char whole[TNI_ZIP_LONGEST_NAME];
    if ((size_t)a->top_length + strlen(name) >= sizeof whole)
        return NULL;
    snprintf(whole, sizeof whole, "%.*s%s", a->top_length, a->top, name);
    tni_zip_member key = {.name = whole};
    const tni_zip_member *at = &key, *const *found =
                                         bsearch(&at, a->by_name, (size_t)a->members, sizeof at,
                                                 by_member_name);
    return found ? *found : NULL;
}

static tn_status sort_members(archive *a, const tni_zip_member *members, int64_t n)
{
    a->members = n;
    a->by_name = tni_arena_rows(&a->f->arena, n, sizeof *a->by_name);
    if (!a->by_name)
        return tni_no_memory(a->f->path, n * (int64_t)sizeof *a->by_name);
    for (int64_t i = 0; i < n; i++)
        a->by_name[i] = &members[i];
    qsort(a->by_name, (size_t)n, sizeof *a->by_name, by_member_name);
    return TN_OK;
}

/* Read a whole member into the file's arena. */
static tn_status read_member(const archive *a, const tni_zip_member *m, uint8_t **bytes)
{
    int64_t got = 0;
    if (m->why)
        return tni_fail(TN_EFORMAT, "%s: %s", a->f->path, m->why);
    if (m->length > LONGEST_PICKLE)
        return tni_fail(TN_EUNSUPPORTED, "%s: pickle has %llu bytes, at most %d are supported",
                        a->f->path, (unsigned long long)m->length, LONGEST_PICKLE);
    *bytes = tni_arena_take(&a->f->arena, (size_t)m->length + 1);
    if (!*bytes)
        return tni_no_memory(a->f->path, (int64_t)m->length);
    if (!m->method)
        return tni_file_bytes(a->f, *bytes, (int64_t)m->length, (int64_t)m->data);
    TRY(tni_unpack_head(a->f, (int64_t)m->data, (int64_t)m->packed, *bytes, (int64_t)m->length,
                        &got));
    return got == (int64_t)m->length
               ? TN_OK
               : tni_fail(TN_EFORMAT,
                          "%s: member \"%.80s\" is shorter than its recorded length",
                          a->f->path, m->name);
}

/* ---- one tensor ---- */

typedef struct about {
    const char *unsupported; /* why it is listed but not readable; NULL: readable */
    tn_dtype dtype;
    int64_t offset, shape[TN_MAX_NDIM], stride[TN_MAX_NDIM]; /* in elements */
    int ndim;
    const tni_pickle_value *storage; /* its persistent id */
    uint32_t storage_tuple;
} about;

static const tni_pickle_value *value_of(const archive *a, uint32_t list, uint32_t i)
{
    return &a->p.values[tni_pickle_item(&a->p, list, i)];
}

static const tni_pickle_global *global_of(const tni_pickle_value *v)
{
    return v->kind == TNI_PK_GLOBAL ? &tni_pickle_globals[v->global] : NULL;
}

static bool is_text(const archive *a, const tni_pickle_value *v, const char *text)
{
    return v->kind == TNI_PK_TEXT && v->n == strlen(text) &&
           !memcmp(a->p.bytes + v->number, text, v->n);
}

/* A tuple of integers >= 0. */
static tn_status read_tuple(const archive *a, const tni_pickle_value *tuple, int64_t *list,
                            int *n, const char *name)
{
    if (tuple->kind != TNI_PK_LIST)
        return fail_torch(a, "shape or stride is not a tuple", name);
    if (tuple->n > TN_MAX_NDIM)
        return fail_torch(a, "has more than 64 axes", name);
    uint32_t cell = tuple->head;
    for (*n = 0; *n < (int)tuple->n; ++*n, cell = a->p.cells[cell].next) {
        const tni_pickle_value *v = &a->p.values[a->p.cells[cell].value];
        if (v->kind != TNI_PK_INT || v->number < 0)
            return fail_torch(a, "an extent or stride is not an integer >= 0", name);
        list[*n] = v->number;
    }
    return TN_OK;
}

/* Flags of lazy conjugation and negation are in a dict after the other arguments. */
static bool is_lazy(const tni_pickle_value *metadata)
{
    return metadata->kind == TNI_PK_DICT && metadata->n > 0;
}

static tn_status read_about(const archive *a, const tni_pickle_value *t, about *x,
                            const char *name)
{
    const tni_pickle_role role = tni_pickle_globals[t->global].role;
    const uint32_t args = t->head;
    *x = (about){.unsupported = "sparse, quantized or meta"};
    if (role == TNI_PK_UNSUPPORTED)
        return TN_OK;
    const tni_pickle_value *storage = value_of(a, args, 0), *offset = value_of(a, args, 1);
    int strides = 0;
    if (storage->kind != TNI_PK_STORAGE || offset->kind != TNI_PK_INT || offset->number < 0)
        return fail_torch(a, "missing storage or offset", name);
    TRY(read_tuple(a, value_of(a, args, 2), x->shape, &x->ndim, name));
    TRY(read_tuple(a, value_of(a, args, 3), x->stride, &strides, name));
    if (strides != x->ndim)
        return fail_torch(a, "shape and stride differ in length", name);
    x->offset = offset->number;
    x->storage_tuple = storage->head;
    const tni_pickle_global *type = global_of(value_of(a, storage->head, 1));
    if (!type || type->role != TNI_PK_STORAGE_TYPE ||
        !is_text(a, value_of(a, storage->head, 0), "storage"))
        return fail_torch(a, "its storage has no type", name);
    const tni_pickle_global *dtype =
        role == TNI_PK_REBUILD_V3 ? global_of(value_of(a, args, 6)) : type;
    if (!dtype || (role == TNI_PK_REBUILD_V3 && dtype->role != TNI_PK_DTYPE))
        return fail_torch(a, "missing dtype", name);
    x->dtype = dtype->dtype;
    x->unsupported = !dtype->dtype                                       ? dtype->name
                     : is_text(a, value_of(a, storage->head, 3), "meta") ? "meta"
                     : is_lazy(value_of(a, args, role == TNI_PK_REBUILD_V3 ? 7 : 6))
                         ? "conjugated or negated"
                         : NULL;
    return TN_OK;
}

/* Find the member of a storage by the storage's key. */
static tn_status find_storage(const archive *a, uint32_t tuple, const char *name,
                              const tni_zip_member **m)
{
    char path[80] = "data/";
    const tni_pickle_value *key = value_of(a, tuple, 2);
    bool digits = key->kind == TNI_PK_TEXT && key->n > 0 && key->n < 40;
    for (uint32_t i = 0; digits && i < key->n; i++)
        digits = a->p.bytes[key->number + i] >= '0' && a->p.bytes[key->number + i] <= '9';
    if (!digits)
        return fail_torch(a, "the key of its storage is not a number", name);
    memcpy(path + 5, a->p.bytes + key->number, key->n);
    path[5 + key->n] = 0;
    *m = find_member(a, path);
    return *m ? TN_OK : fail_torch(a, "its storage is not in the archive", name);
}

/* Compute the strides in bytes; check that the first to the last byte used are in the
 * member. */
static tn_status check_numbers(const archive *a, const about *x, const tni_zip_member *m,
                               const char *name, int64_t *stride, tni_entry *e)
{
    const int64_t width = tni_width(x->dtype), bytes = (int64_t)m->length;
    const tni_pickle_value *numel = value_of(a, x->storage_tuple, 4);
    const tni_pickle_global *type = global_of(value_of(a, x->storage_tuple, 1));
    int64_t each = type->dtype ? tni_width(type->dtype) : 1, first, reach;
    if (numel->kind != TNI_PK_INT || numel->number < 0 || numel->number > bytes / each)
        return fail_torch(a, "its storage is longer than its member", name);
    if (!tni_mul(x->offset, width, &first))
        return fail_torch(a, "offset exceeds 2^63 - 1 bytes", name);
    for (int i = 0; i < x->ndim; i++)
        if (!tni_mul(x->stride[i], width, &stride[i]))
            return fail_torch(a, "stride exceeds 2^63 - 1 bytes", name);
    if (!tni_shape_fits(x->ndim, x->shape, stride, width))
        return fail_torch(a, "size exceeds 2^63 - 1 bytes", name);
    if (TNI_NEVER(!tni_shape_reach(x->ndim, x->shape, stride, width, &reach)))
        return fail_torch(a, "size exceeds 2^63 - 1 bytes", name);
    e->nbytes = tni_shape_count(x->ndim, x->shape) ? reach : 0;
    if (first > bytes || e->nbytes > bytes - first)
        return fail_torch(a, "its elements extend past its storage", name);
    e->offset = (int64_t)m->data + first;
    return TN_OK;
}

/* List a tensor; with odd_key, a key on its path is neither text nor an integer. */
static tn_status add_tensor(archive *a, const tni_pickle_value *t, bool odd_key)
{
    about x;
    int64_t stride[TN_MAX_NDIM];
    const tni_zip_member *m = NULL;
    TRY(read_about(a, t, &x, a->name));
    if (odd_key)
        x.unsupported = "(under a key that is neither text nor an integer)";
    tni_entry e = {.name = a->name, .type = x.unsupported, .shape = x.shape};
    e.ndim = (int8_t)x.ndim;
    e.no_shape = tni_pickle_globals[t->global].role == TNI_PK_UNSUPPORTED;
    if (!x.unsupported) {
        TRY(find_storage(a, x.storage_tuple, a->name, &m));
        e.type = m->why ? m->why : m->method ? "deflated" : tni_dtypes[x.dtype].long_name;
    }
    if (m && !m->why && !m->method) {
        e.dtype = x.dtype;
        e.swapped = a->swapped && tni_width(x.dtype) > 1;
        e.stride = stride;
        TRY(check_numbers(a, &x, m, a->name, stride, &e));
    }
    if (++a->names > tni_torch_most)
        return tni_fail(TN_EUNSUPPORTED, "%s: more than %lld tensors", a->f->path,
                        (long long)tni_torch_most);
    return tni_file_add(a->f, &e);
}

/* ---- the walk from the root ---- */

typedef struct frame {
    uint32_t cell, left;
    bool dict, odd_key; /* a key on its path is neither text nor an integer */
    int64_t index;
    size_t name; /* length of the container's name */
} frame;

/* Set the name of an item: the container's name, a dot, and n bytes of part. */
static tn_status set_name(archive *a, size_t length, const char *part, size_t n)
{
    size_t need = length + n + 2;
    if (need > (size_t)a->name_capacity) {
        char *more = tni_alloc(2 * need);
        if (!more)
            return tni_no_memory(a->f->path, (int64_t)(2 * need));
        memcpy(more, a->name ? a->name : "", length);
        tni_free(a->name);
        a->name = more;
        a->name_capacity = (int64_t)(2 * need);
    }
    if (length)
        a->name[length++] = '.';
    memcpy(a->name + length, part, n);
    a->name[length + n] = 0;
    a->steps += (int64_t)n + 1;
    return TN_OK;
}

/* Advance to the next item and set its name; if its key is neither text nor an integer, the
 * name has its index instead. */
static tn_status next_item(archive *a, frame *at, uint32_t *value, bool *odd_key)
{
    char digits[32];
    const tni_pickle_cell *c = &a->p.cells[at->cell];
    const tni_pickle_value *key = &a->p.values[c->value];
    const bool odd = at->dict && key->kind != TNI_PK_TEXT && key->kind != TNI_PK_INT;
    *odd_key = odd || at->odd_key;
    const int64_t index = at->index++, number = at->dict ? key->number : index;
    if (at->dict)
        c = &a->p.cells[c->next];
    *value = c->value;
    at->cell = c->next;
    at->left--;
    if (at->dict && key->kind == TNI_PK_TEXT) {
        const char *text = (const char *)a->p.bytes + key->number;
        if (memchr(text, 0, key->n))
            return tni_fail(TN_EFORMAT, "%s: a key contains \\0", a->f->path);
        TRY(set_name(a, at->name, text, key->n));
        return tni_is_utf8(a->name)
                   ? TN_OK
                   : tni_fail(TN_EFORMAT, "%s: a key is not UTF-8", a->f->path);
    }
    int n = odd ? snprintf(digits, sizeof digits, "(key %lld)", (long long)index)
                : snprintf(digits, sizeof digits, "%lld", (long long)number);
    return set_name(a, at->name, digits, (size_t)n);
}

static tn_status list_tensors(archive *a, frame *frames)
{
    const int64_t most = RATIO * (a->p.n + 64);
    int depth = 0;
    uint32_t value = a->p.root;
    TRY(set_name(a, 0, "", 0));
    for (bool odd_key = false;;) {
        const tni_pickle_value *v = &a->p.values[value];
        if (++a->steps > most)
            return tni_fail(TN_EUNSUPPORTED,
                            "%s: the pickle refers to its values too many times", a->f->path);
        if (v->kind == TNI_PK_TENSOR) {
            TRY(add_tensor(a, v, odd_key));
        } else if (v->kind == TNI_PK_LIST || v->kind == TNI_PK_DICT) {
            if (depth == DEEPEST)
                return tni_fail(TN_EUNSUPPORTED, "%s: the pickle is nested more than %d deep",
                                a->f->path, DEEPEST);
            bool dict = v->kind == TNI_PK_DICT;
            frames[depth++] =
                (frame){v->head, dict ? v->n / 2 : v->n, dict, odd_key, 0, strlen(a->name)};
        } else {
            a->f->skipped++;
        }
        while (depth && !frames[depth - 1].left)
            depth--;
        if (!depth)
            return TN_OK;
        TRY(next_item(a, &frames[depth - 1], &value, &odd_key));
    }
}

/* ---- opening ---- */

static tn_status open_archive(archive *a, const tni_zip_member *pickle)
{
    uint8_t *bytes = NULL, *order = NULL;
    const tni_zip_member *m = find_member(a, "byteorder");
    if (find_member(a, "constants.pkl") || find_member(a, "code/.data") ||
        find_member(a, "code/__torch__.py"))
        return tni_fail(TN_EUNSUPPORTED, "%s: a TorchScript archive", a->f->path);
    if (m && m->length < 16) {
        TRY(read_member(a, m, &order));
        a->swapped = (m->length == 3 && !memcmp(order, "big", 3)) != TNI_HOST_BIG;
    } else {
        a->swapped = TNI_HOST_BIG;
    }
    TRY(read_member(a, pickle, &bytes));
    a->p = (tni_pickle){.path = a->f->path, .bytes = bytes, .n = (int64_t)pickle->length};
    TRY(tni_pickle_read(&a->p));
    frame *frames = tni_alloc(DEEPEST * sizeof *frames);
    if (!frames)
        return tni_no_memory(a->f->path, DEEPEST * (int64_t)sizeof *frames);
    tn_status status = list_tensors(a, frames);
    tni_free(frames);
    return status;
}

const tni_zip_member *tni_torch_pickle(const tni_zip_member *members, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const char *slash = strchr(members[i].name, '/');
        if (slash && !strcmp(slash, "/data.pkl"))
            return &members[i];
    }
    return NULL;
}

tn_status tni_torch_open(tn_file *f, const tni_zip_member *members, int64_t n,
                         const tni_zip_member *pickle)
{
    archive a = {.f = f, .top = pickle->name};
    a.top_length = (int)(strchr(pickle->name, '/') + 1 - pickle->name);
    f->format = "pt";
    TRY(sort_members(&a, members, n));
    tn_status status = open_archive(&a, pickle);
    tni_pickle_free(&a.p);
    tni_free(a.name);
    return status;
}
