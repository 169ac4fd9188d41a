/* file.c - an open file: detecting its format, its table of tensors, finding one by name.
 *
 * The table does not change after tn_file_open; the two mappings are made once, when needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io.h"
#include "sys.h"

static bool is_npy(const uint8_t *head, size_t n)
{
    return n >= 6 && !memcmp(head, "\x93NUMPY", 6);
}

static bool is_zip(const uint8_t *head, size_t n)
{
    return n >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4));
}

static bool is_gguf(const uint8_t *head, size_t n)
{
    return n >= 4 && !memcmp(head, "GGUF", 4);
}

static bool is_safetensors(const uint8_t *head, size_t n)
{
    return n >= 9 && head[8] == '{';
}

/* True if the file has text where a .safetensors file has the length of its header. */
static bool is_json(const uint8_t *head, size_t n)
{
    bool text = n >= 2 && head[0] == '{';
    for (size_t i = 1; i < n && i < 8; i++)
        text = text && (head[i] >= ' ' || (head[i] >= '\t' && head[i] <= '\r'));
    return text;
}

/* Torch before 1.6 began a file with a separate pickle of its magic number; other pickles are
 * not torch files. */
static bool is_old_torch(const uint8_t *head, size_t n)
{
    static const uint8_t magic[] = {0x80, 2, 0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20};
    return n >= sizeof magic && !memcmp(head, magic, sizeof magic);
}

static tn_status fail_old_torch(tn_file *f)
{
    return tni_fail(TN_EUNSUPPORTED,
                    "%s: PyTorch's format before 1.6; load it and save it with a newer PyTorch",
                    f->path);
}

static bool is_pickle(const uint8_t *head, size_t n)
{
    return n >= 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5;
}

static tn_status fail_pickle(tn_file *f)
{
    return tni_fail(TN_EUNSUPPORTED, "%s: a bare pickle, not a PyTorch archive", f->path);
}

/* Torch before 0.2 wrote tar archives. */
static bool is_tar(const uint8_t *head, size_t n)
{
    return n >= 262 && !memcmp(head + 257, "ustar", 5);
}

static tn_status fail_tar(tn_file *f)
{
    return tni_fail(TN_EUNSUPPORTED, "%s: a tar archive, not a PyTorch archive", f->path);
}

/* Formats that can be read, by their first bytes (CONTRIBUTING.md, "Add a file format").  The
 * first row that matches opens the file, and the order matters: a set or a pickle may look like
 * a .safetensors, and old torch's files are pickles.  writer.c lists what can be written. */
static const struct {
    const char *name;
    bool (*is)(const uint8_t *head, size_t n);
    tn_status (*open)(tn_file *f);
} readers[] = {
    {"npy", is_npy, tni_npy_open},
    {"npz", is_zip, tni_npz_open},
    {"gguf", is_gguf, tni_gguf_open},
    {"set", is_json, tni_set_open},
    {"pt", is_old_torch, fail_old_torch},
    {"pt", is_pickle, fail_pickle},
    {"safetensors", is_safetensors, tni_safetensors_open},
    {"pt", is_tar, fail_tar},
};

/* Error messages are limited to 511 bytes; the end of a path tells more than its beginning. */
const char *tni_path_shown(const char *path)
{
    enum { SHOWN = 200 };
    const size_t n = strlen(path);
    return path + (n > SHOWN ? n - SHOWN : 0);
}

tn_status tni_no_memory(const char *path, int64_t bytes)
{
    return tni_fail(TN_ENOMEM, "%s: cannot allocate %lld bytes", path, (long long)bytes);
}

tn_status tni_file_bytes(const tn_file *f, void *buf, int64_t n, int64_t at)
{
    char words[80];
    size_t got = 0;
    ASSERT(n >= 0 && at >= 0 && n <= f->size - at); /* by the checked header */
    int error = tni_sys_pread(f->fd, buf, (size_t)n, at, &got);
    if (error)
        return tni_fail(TN_EIO, "%s: %s", f->path, tni_sys_words(error, words, sizeof words));
    if ((int64_t)got < n)
        return tni_fail(TN_EIO, "%s: truncated: ends at byte %lld, had %lld bytes when opened",
                        f->path, (long long)(at + (int64_t)got), (long long)f->size);
    return TN_OK;
}

tn_status tni_file_add(tn_file *f, const tni_entry *e)
{
    if (f->count == f->capacity) {
        tni_entry *more = tni_grown(f->path, f->entries, &f->capacity, 4, sizeof *more);
        if (!more)
            return TN_ENOMEM;
        f->entries = more;
    }
    ASSERT(f->count < f->capacity && e->ndim >= 0 && e->nbytes >= 0);
    size_t bytes = (size_t)e->ndim * sizeof *e->shape;
    int64_t *shape = tni_arena_take(&f->arena, bytes);
    int64_t *stride = e->stride ? tni_arena_take(&f->arena, bytes) : NULL;
    char *name = tni_arena_text(&f->arena, e->name, strlen(e->name));
    char *type = tni_arena_text(&f->arena, e->type, strlen(e->type));
    if (!shape || !name || !type || (e->stride && !stride))
        return tni_no_memory(f->path, (int64_t)bytes);
    if (bytes)
        memcpy(shape, e->shape, bytes);
    tni_entry *to = &f->entries[f->count++];
    *to = *e;
    to->shape = shape;
    to->stride = stride;
    if (bytes && stride)
        memcpy(stride, e->stride, bytes);
    to->name = name;
    to->type = type;
    return TN_OK;
}

static int by_name(const void *a, const void *b, void *user)
{
    const tni_entry *entries = user;
    int64_t i = *(const int64_t *)a, j = *(const int64_t *)b;
    return strcmp(entries[i].name, entries[j].name);
}

static tn_status fail_twice(const tn_file *f, const tni_entry *a, const tni_entry *b)
{
    if (!a->owner)
        return tni_fail(TN_EFORMAT, "%s: two tensors are named \"%.80s\"", f->path, a->name);
    return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" is in %.80s and in %.80s", f->path,
                    a->name, a->owner->path, b->owner->path);
}

tn_status tni_file_index(tn_file *f)
{
    if (!f->count || f->by_name)
        return TN_OK;
    f->by_name = tni_alloc((size_t)f->count * sizeof *f->by_name);
    if (!f->by_name)
        return tni_no_memory(f->path, f->count * (int64_t)sizeof *f->by_name);
    for (int64_t i = 0; i < f->count; i++)
        f->by_name[i] = i;
    qsort_r(f->by_name, (size_t)f->count, sizeof *f->by_name, by_name, f->entries);
    for (int64_t i = 1; i < f->count; i++)
        if (!by_name(&f->by_name[i - 1], &f->by_name[i], f->entries))
            return fail_twice(f, &f->entries[f->by_name[i - 1]], &f->entries[f->by_name[i]]);
    return TN_OK;
}

static tn_status load(tn_file *f)
{
    uint8_t head[264];
    int64_t n = f->size < (int64_t)sizeof head ? f->size : (int64_t)sizeof head;
    TRY(tni_file_bytes(f, head, n, 0));
    for (int i = 0; i < COUNT(readers); i++)
        if (readers[i].is(head, (size_t)n)) {
            f->format = readers[i].name;
            TRY(readers[i].open(f));
            return tni_file_index(f);
        }
    return tni_fail(TN_EFORMAT, "%s: not a .npy, .npz, .safetensors, .gguf or .pt file",
                    f->path);
}

/* Open a file or, if known->fd is -1, the folder at path; `known` has the fields set so far. */
static tn_status open_file(tn_file **out, const char *path, const tn_file *known)
{
    const size_t len = strlen(path);
    tn_file *f = tni_alloc(sizeof *f);
    if (!f) {
        if (known->owns_fd)
            tni_sys_close(known->fd);
        return tni_no_memory(tni_path_shown(path), (int64_t)sizeof *f);
    }
    *f = *known;
    char *whole = tni_arena_text(&f->arena, path, len);
    f->path = whole ? tni_path_shown(whole) : NULL;
    f->where = f->owns_fd || f->fd < 0 ? whole : NULL;
    f->format = "set";
    tn_status status = !whole      ? tni_no_memory(tni_path_shown(path), (int64_t)len)
                       : f->fd < 0 ? tni_set_open_folder(f)
                                   : load(f);
    if (status != TN_OK)
        tn_file_close(f);
    else
        *out = f;
    return status;
}

static tn_status fail_open(const char *path, int error)
{
    char words[80];
    return tni_fail(TN_EIO, "%s: %s", tni_path_shown(path),
                    tni_sys_words(error, words, sizeof words));
}

tn_status tn_file_open(tn_file **f, const char *path)
{
    int fd;
    int64_t size;
    if (!f || !path)
        return tni_fail(TN_ENULL, "file_open: %s is NULL", f ? "path" : "f");
    int error = tni_sys_open(path, &fd, &size);
    if (error == EISDIR)
        return open_file(f, path, &(tn_file){.fd = -1});
    if (error)
        return fail_open(path, error);
    return open_file(f, path, &(tn_file){.fd = fd, .owns_fd = true, .size = size});
}

tn_status tni_file_open_part(tn_file **f, const char *path, bool leaf)
{
    tn_file about = {.owns_fd = true, .leaf = leaf};
    int error = tni_sys_open(path, &about.fd, &about.size);
    return error ? fail_open(path, error) : open_file(f, path, &about);
}

tn_status tn_file_open_fd(tn_file **f, int fd, const char *name)
{
    int64_t size;
    if (!f || !name)
        return tni_fail(TN_ENULL, "file_open_fd: %s is NULL", f ? "name" : "f");
    int error = tni_sys_size(fd, &size);
    return error ? fail_open(name, error)
                 : open_file(f, name, &(tn_file){.fd = fd, .size = size});
}

void tn_file_close(tn_file *f)
{
    if (!f)
        return;
    if (f->map)
        tni_sys_unmap(f->map, f->size);
    if (f->places)
        tni_sys_unmap(f->places, f->size);
    if (f->owns_fd)
        tni_sys_close(f->fd);
    for (int64_t i = 0; i < f->nparts; i++)
        tn_file_close(f->parts[i]);
    tni_free(f->parts);
    tni_free(f->by_name);
    tni_free(f->entries);
    tni_arena_free(&f->arena);
    tni_free(f);
}

const char *tn_file_format(const tn_file *f)
{
    return f ? f->format : NULL;
}

int64_t tn_file_skipped(const tn_file *f)
{
    return f ? f->skipped : 0;
}

int64_t tn_file_count(const tn_file *f)
{
    return f ? f->count : 0;
}

const char *tn_file_metadata(const tn_file *f)
{
    return f ? f->metadata : NULL;
}

const char *tn_file_name(const tn_file *f, int64_t i)
{
    return f && i >= 0 && i < f->count ? f->entries[i].name : NULL;
}

const char *tn_file_type(const tn_file *f, int64_t i)
{
    return f && i >= 0 && i < f->count ? f->entries[i].type : NULL;
}

const int64_t *tn_file_shape(const tn_file *f, int64_t i, int *ndim)
{
    if (!f || !ndim || i < 0 || i >= f->count || f->entries[i].no_shape)
        return NULL;
    *ndim = f->entries[i].ndim;
    return f->entries[i].shape;
}

const char *tn_file_path(const tn_file *f, int64_t i)
{
    if (!f || i < 0 || i >= f->count)
        return NULL;
    const tn_file *owner = f->entries[i].owner ? f->entries[i].owner : f;
    return owner->where ? owner->where : owner->path;
}

tn_status tni_file_entry(const tn_file **file, int64_t i, const char *call, const tni_entry **e)
{
    const tn_file *f = *file;
    if (!f)
        return tni_fail(TN_ENULL, "%s: f is NULL", call);
    if (i < 0 || i >= f->count)
        return tni_fail(TN_EARG, "%s: tensor index %lld is out of range [0, %lld)", f->path,
                        (long long)i, (long long)f->count);
    *e = &f->entries[i];
    if ((*e)->owner)
        *file = f = (*e)->owner;
    if ((*e)->damage)
        return tni_fail(TN_EFORMAT, "%s: %s", f->path, (*e)->damage);
    if (!(*e)->dtype)
        return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\": unsupported element type %s",
                        f->path, (*e)->name, (*e)->type);
    return TN_OK;
}

tn_status tn_file_info(const tn_file *f, int64_t i, const char **name, tn_tensor *desc,
                       int64_t *offset)
{
    const tni_entry *e = NULL;
    tn_tensor t;
    TRY(tni_file_entry(&f, i, "file_info", &e));
    TRY(TNI_NEVER(tni_entry_at(e, NULL, &t)));
    if (name)
        *name = e->name;
    if (desc)
        *desc = t;
    if (offset)
        *offset = e->packing == TNI_DEFLATED ? -1 : e->offset;
    return TN_OK;
}

tn_status tn_file_values(const tn_file *f, void *buf, size_t size, size_t *need)
{
    if (!f || !need || (size && !buf))
        return tni_fail(TN_ENULL, "file_values: %s is NULL", !f ? "f" : !need ? "need" : "buf");
    const tn_file *from = f->nparts ? f->parts[0] : f;
    *need = (size_t)from->values_size;
    if (!from->values_size)
        return tni_fail(TN_EUNSUPPORTED, "%s: no key-values, expected a little-endian .gguf",
                        f->path);
    const int64_t n = size < *need ? (int64_t)size : from->values_size;
    return n ? tni_file_bytes(from, buf, n, from->values_at) : TN_OK;
}

tn_status tn_file_find(const tn_file *f, const char *name, int64_t *i)
{
    if (!f || !name || !i)
        return tni_fail(TN_ENULL, "file_find: %s is NULL", !f ? "f" : !name ? "name" : "i");
    for (int64_t low = 0, high = f->count; low < high;) {
        int64_t mid = low + (high - low) / 2;
        int order = strcmp(name, f->entries[f->by_name[mid]].name);
        if (order == 0) {
            *i = f->by_name[mid];
            return TN_OK;
        }
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return tni_fail(TN_EARG, "%s: no tensor is named \"%.80s\"", f->path, name);
}
