/* set.c - opening several files as one: a folder, or the index.json of a sharded model.
 *
 * A set lists the tensors of its files: files sorted by name, tensors in each file's order.  An
 * index is checked in both directions: every file exists, every tensor is in the file that the
 * index names, and no file holds a tensor that the index assigns to another file. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"
#include "io/safetensors/json.h"
#include "io/safetensors/safetensors.h"
#include "io/sys.h"

enum { LONGEST_INDEX = 100000000 }; /* bytes: the limit for headers of .safetensors */

/* An entry of the weight_map. */
typedef struct map_row {
    const char *tensor, *file;
} map_row;

typedef struct names {
    tni_arena arena;
    map_row *rows; /* for a folder only the files are set */
    int64_t n, capacity;
    const char *folder; /* ends with a slash, or is "" */
} names;

static tn_status fail_index(const tn_file *f, const tni_json *j)
{
    return tni_fail_json(f->path, "index", 0, j);
}

static tn_status add_row(const tn_file *f, names *s, map_row row)
{
    if (s->n == s->capacity) {
        map_row *more = tni_grown(f->path, s->rows, &s->capacity, 64, sizeof *more);
        if (!more)
            return TN_ENOMEM;
        s->rows = more;
    }
    s->rows[s->n++] = row;
    return TN_OK;
}

/* ---- the index ---- */

/* Files are in the folder of the index: a path to another folder is refused. */
static bool is_file_name(const char *name)
{
    return *name && !strchr(name, '/') && strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static tn_status read_weight_map(tn_file *f, tni_json *j, names *s)
{
    if (!tni_json_sign(j, '{')) {
        tni_json_wrong(j, "expected an object");
        return fail_index(f, j);
    }
    if (tni_json_sign(j, '}'))
        return TN_OK;
    do {
        map_row row;
        if (!tni_json_string(j, &s->arena, &row.tensor))
            return fail_index(f, j);
        if (!tni_json_sign(j, ':')) {
            tni_json_wrong(j, "expected \"name\":");
            return fail_index(f, j);
        }
        if (!tni_json_string(j, &s->arena, &row.file))
            return fail_index(f, j);
        if (!is_file_name(row.file))
            return tni_fail(TN_EFORMAT,
                            "%s: \"%.80s\" is not the name of a file in the same folder",
                            f->path, row.file);
        TRY(add_row(f, s, row));
    } while (tni_json_sign(j, ','));
    if (tni_json_sign(j, '}'))
        return TN_OK;
    tni_json_wrong(j, "expected ',' or '}'");
    return fail_index(f, j);
}

static tn_status read_index(tn_file *f, tni_json *j, names *s)
{
    (void)tni_json_sign(j, '{'); /* is_json has seen it */
    bool found = false, more = !tni_json_sign(j, '}');
    while (more) {
        const char *key;
        if (!tni_json_string(j, &s->arena, &key))
            return fail_index(f, j);
        if (!tni_json_sign(j, ':')) {
            tni_json_wrong(j, "expected \"name\":");
            return fail_index(f, j);
        }
        if (strcmp(key, "weight_map") != 0) {
            if (!tni_json_skip(j))
                return fail_index(f, j);
        } else if (found) {
            tni_json_wrong(j, "duplicate key");
            return fail_index(f, j);
        } else {
            found = true;
            TRY(read_weight_map(f, j, s));
        }
        more = tni_json_sign(j, ',');
        if (!more && !tni_json_sign(j, '}')) {
            tni_json_wrong(j, "expected ',' or '}'");
            return fail_index(f, j);
        }
    }
    (void)tni_json_sign(j, 0); /* skip blanks */
    if (found && j->at == j->length)
        return TN_OK;
    return tni_fail(TN_EFORMAT,
                    found ? "%s: trailing text after the index" : "%s: no \"weight_map\"",
                    f->path);
}

/* ---- the files ---- */

static int by_file(const void *a, const void *b)
{
    return strcmp(((const map_row *)a)->file, ((const map_row *)b)->file);
}

static int by_tensor(const void *a, const void *b)
{
    return strcmp(((const map_row *)a)->tensor, ((const map_row *)b)->tensor);
}

static tn_status open_part(tn_file *f, const char *folder, const char *file, bool leaf,
                           tn_file **part)
{
    char path[PATH_MAX];
    if (strlen(folder) + strlen(file) >= sizeof path)
        return tni_fail(TN_EIO, "%s: the path of \"%.80s\" is too long", f->path, file);
    strcpy(path, folder);
    strcat(path, file);
    return tni_file_open_part(part, path, leaf);
}

static tn_status add_part(tn_file *f, tn_file *part)
{
    f->parts[f->nparts++] = part;
    if (f->nparts == 1)
        f->metadata = part->metadata;
    for (int64_t i = 0; i < part->count; i++) {
        tni_entry e = part->entries[i];
        e.owner = e.owner ? e.owner : part;
        TRY(tni_file_add(f, &e));
    }
    return TN_OK;
}

/* Open every file once, in sorted order. */
static tn_status open_parts(tn_file *f, names *s)
{
    f->parts = tni_alloc((size_t)(s->n ? s->n : 1) * sizeof *f->parts);
    if (!f->parts)
        return tni_no_memory(f->path, s->n * (int64_t)sizeof *f->parts);
    if (s->n)
        qsort(s->rows, (size_t)s->n, sizeof *s->rows, by_file);
    for (int64_t i = 0; i < s->n; i++) {
        if (i && !by_file(&s->rows[i - 1], &s->rows[i]))
            continue;
        tn_file *part = NULL;
        TRY(open_part(f, s->folder, s->rows[i].file, true, &part));
        TRY(add_part(f, part));
    }
    return TN_OK;
}

static const char *name_of(const tn_file *part)
{
    const char *slash = strrchr(part->where, '/');
    return slash ? slash + 1 : part->where;
}

/* Every tensor of the index is in its file, and no file holds a tensor assigned to another. */
static tn_status check_index(const tn_file *f, names *s)
{
    if (s->n)
        qsort(s->rows, (size_t)s->n, sizeof *s->rows, by_tensor);
    for (int64_t i = 1; i < s->n; i++)
        if (!by_tensor(&s->rows[i - 1], &s->rows[i]))
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" is listed twice", f->path,
                            s->rows[i].tensor);
    int64_t found = 0;
    for (int64_t i = 0; i < f->count; i++) {
        map_row key = {f->entries[i].name, NULL};
        const map_row *row = bsearch(&key, s->rows, (size_t)s->n, sizeof key, by_tensor);
        if (row && strcmp(row->file, name_of(f->entries[i].owner)) != 0)
            return tni_fail(TN_EFORMAT,
                            "%s: tensor \"%.80s\" is in %.80s, the index says %.80s", f->path,
                            key.tensor, name_of(f->entries[i].owner), row->file);
        found += row != NULL;
    }
    for (int64_t i = 0, k; i < s->n && found < s->n; i++)
        if (tn_file_find(f, s->rows[i].tensor, &k) != TN_OK)
            return tni_fail(TN_EFORMAT, "%s: tensor \"%.80s\" is not in %.80s", f->path,
                            s->rows[i].tensor, s->rows[i].file);
    return TN_OK;
}

/* ---- opening ---- */

static tn_status open_index(tn_file *f, names *s)
{
    if (f->size > LONGEST_INDEX)
        return tni_fail(TN_EFORMAT, "%s: index has %lld bytes, at most %d are supported",
                        f->path, (long long)f->size, LONGEST_INDEX);
    char *text = tni_arena_take(&s->arena, (size_t)f->size);
    const char *slash = strrchr(f->where, '/');
    s->folder = tni_arena_text(&s->arena, f->where, slash ? (size_t)(slash + 1 - f->where) : 0);
    if (!text || !s->folder)
        return tni_no_memory(f->path, f->size);
    TRY(tni_file_bytes(f, text, f->size, 0));
    tni_json j = {.text = text, .length = f->size};
    TRY(read_index(f, &j, s));
    TRY(open_parts(f, s));
    TRY(tni_file_index(f));
    return check_index(f, s);
}

static void end_names(names *s)
{
    tni_free(s->rows);
    tni_arena_free(&s->arena);
}

tn_status tni_set_open(tn_file *f)
{
    names s = {0};
    if (f->leaf)
        return tni_fail(TN_EFORMAT, "%s: an index cannot be part of a set", f->path);
    if (!f->where)
        return tni_fail(TN_EUNSUPPORTED, "%s: an index must be opened by its path", f->path);
    tn_status status = open_index(f, &s);
    end_names(&s);
    return status;
}

static bool ends_with(const char *name, const char *suffix)
{
    size_t n = strlen(name), k = strlen(suffix);
    return n >= k && !strcmp(name + n - k, suffix);
}

/* Names found in a folder: indexes and .safetensors files. */
typedef struct folder {
    tn_file *f;
    names *s;
    char index[NAME_MAX + 1];
    int indexes;
    tn_status status;
} folder;

static bool look_at(void *user, const char *name)
{
    folder *in = user;
    if (ends_with(name, ".index.json")) {
        in->indexes++;
        strcpy(in->index, name);
    } else if (ends_with(name, ".safetensors")) {
        char *copy = tni_arena_text(&in->s->arena, name, strlen(name));
        in->status = copy ? add_row(in->f, in->s, (map_row){"", copy})
                          : tni_no_memory(in->f->path, (int64_t)strlen(name));
    }
    return in->status == TN_OK;
}

/* Open the index of the folder or, without one, all its .safetensors files. */
static tn_status open_listed(tn_file *f, names *s)
{
    char *path = tni_arena_take(&s->arena, strlen(f->where) + 2);
    if (!path)
        return tni_no_memory(f->path, (int64_t)strlen(f->where));
    strcpy(path, f->where);
    if (!ends_with(path, "/"))
        strcat(path, "/");
    s->folder = path;
    folder in = {.f = f, .s = s};
    char words[80];
    int error = tni_sys_list(f->where, look_at, &in);
    TRY(in.status);
    if (error == ENOMEM)
        return tni_no_memory(f->path, 0);
    if (error)
        return tni_fail(TN_EIO, "%s: %s", f->path, tni_sys_words(error, words, sizeof words));
    if (in.indexes > 1)
        return tni_fail(TN_EFORMAT, "%s: has %d files *.index.json; name one of them", f->path,
                        in.indexes);
    if (in.indexes == 1) {
        tn_file *index = NULL;
        TRY(open_part(f, s->folder, in.index, false, &index));
        f->parts = tni_alloc(sizeof *f->parts);
        if (!f->parts) {
            tn_file_close(index);
            return tni_no_memory(f->path, (int64_t)sizeof *f->parts);
        }
        return add_part(f, index);
    }
    if (!s->n)
        return tni_fail(TN_EFORMAT, "%s: has neither a *.index.json nor a .safetensors file",
                        f->path);
    return open_parts(f, s);
}

tn_status tni_set_open_folder(tn_file *f)
{
    names s = {0};
    tn_status status = open_listed(f, &s);
    end_names(&s);
    return status == TN_OK ? tni_file_index(f) : status;
}
