/* writer.c - writing a file piece by piece: a temporary file first, renamed at the end. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sys.h"
#include "write.h"

/* After this many bytes the system is asked to write them out, so that the final sync waits for
 * no more than these. */
enum { FLOW = 8 << 20 };

static const tni_format *const writers[] = {&tni_npy_format, &tni_npz_format,
                                            &tni_safetensors_format, &tni_gguf_format};

static tn_status fail_system(const char *path, int error)
{
    char words[80];
    return tni_fail(TN_EIO, "%s: %s", path, tni_sys_words(error, words, sizeof words));
}

/* Store in w->held, as far as it has space, what would be written. */
static tn_status hold(tn_writer *w, const void *data, int64_t n, int64_t at)
{
    const int64_t left = (int64_t)w->held_size - at;
    ASSERT(at == w->at); /* formats that seek back have no layout */
    if (left > 0)
        memcpy(w->held + at, data, (size_t)(n < left ? n : left));
    w->at = at + n;
    return TN_OK;
}

tn_status tni_write_at(tn_writer *w, const void *data, int64_t n, int64_t at)
{
    if (w->sink)
        return hold(w, data, n, at);
    int error = n ? tni_sys_pwrite(w->fd, data, (size_t)n, w->pipe ? -1 : at) : 0;
    if (error)
        return fail_system(w->path, error);
    if (at + n > w->at)
        w->at = at + n;
    if (!w->pipe && !w->options.no_sync && w->at - w->flow >= FLOW) {
        tni_sys_flow(w->fd, w->flow, w->at - w->flow);
        w->flow = w->at;
    }
    return TN_OK;
}

tn_status tni_append(tn_writer *w, const void *data, int64_t n)
{
    if (w->direct)
        return tni_direct_append(w, data, n);
    return tni_write_at(w, data, n, w->at);
}

const tni_format *tni_format_of(const char *path)
{
    size_t len = strlen(path);
    for (int i = 0; i < COUNT(writers); i++) {
        size_t k = strlen(writers[i]->suffix);
        if (len >= k && !strcmp(path + len - k, writers[i]->suffix))
            return writers[i];
    }
    return NULL;
}

static tn_status find_format(const char *path, int n, const tni_format **format)
{
    *format = tni_format_of(path);
    if (!*format)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: unknown suffix; expected .npy, .npz, .safetensors or .gguf",
                        tni_path_shown(path));
    if (n != 1 && !(*format)->many)
        return tni_fail(TN_EUNSUPPORTED, "%s: %s holds one tensor, got %d",
                        tni_path_shown(path), (*format)->suffix, n);
    return TN_OK;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* All names exist and are distinct. */
static tn_status check_names(tn_writer *w)
{
    const char **sorted = tni_alloc((size_t)(w->n ? w->n : 1) * sizeof *sorted);
    if (!sorted)
        return tni_no_memory(w->path, w->n * (int64_t)sizeof *sorted);
    for (int i = 0; i < w->n; i++)
        sorted[i] = w->slots[i].name;
    qsort(sorted, (size_t)w->n, sizeof *sorted, by_name);
    tn_status status = TN_OK;
    for (int i = 1; i < w->n && status == TN_OK; i++)
        if (!strcmp(sorted[i - 1], sorted[i]))
            status =
                tni_fail(TN_EARG, "%s: two tensors are named \"%.80s\"", w->path, sorted[i]);
    tni_free(sorted);
    return status;
}

static tn_status fill_slot(tn_writer *w, tni_slot *slot, const char *name, const tn_tensor *t)
{
    size_t bytes = (size_t)t->ndim * sizeof *t->shape;
    int64_t *shape = tni_arena_take(&w->arena, bytes);
    *slot = (tni_slot){.dtype = t->dtype, .ndim = t->ndim, .shape = shape};
    slot->name = tni_arena_text(&w->arena, name, strlen(name));
    if (!shape || !slot->name)
        return tni_no_memory(w->path, (int64_t)bytes);
    if (bytes)
        memcpy(shape, t->shape, bytes);
    slot->numel = tni_numel(t);
    slot->nbytes = slot->numel * tni_width(t->dtype);
    return TN_OK;
}

static tn_status fill_slots(tn_writer *w, int n, const char *const *names,
                            const tn_tensor *const *ts)
{
    w->n = n;
    w->slots = tni_arena_rows(&w->arena, n, sizeof *w->slots);
    if (!w->slots)
        return tni_no_memory(w->path, n * (int64_t)sizeof *w->slots);
    for (int i = 0; i < n; i++) {
        TRY(fill_slot(w, &w->slots[i], names ? names[i] : w->format->only, ts[i]));
    }
    return w->format->many ? check_names(w) : TN_OK;
}

tn_status tni_writer_enter(tn_writer *w)
{
    while (w->now < w->n) {
        const tni_slot *slot = &w->slots[w->now];
        if (w->format->enter)
            TRY(w->format->enter(w, slot));
        w->left = slot->numel;
        ASSERT(w->left >= 0 && slot->nbytes == w->left * tni_width(slot->dtype));
        if (w->left > 0)
            break;
        if (w->format->leave)
            TRY(w->format->leave(w, slot));
        w->now++;
    }
    return TN_OK;
}

static tn_status writer_begin(tn_writer *w, int n, const char *const *names,
                              const tn_tensor *const *ts)
{
    TRY(fill_slots(w, n, names, ts));
    if (!w->pipe && !w->sink && w->fd < 0) {
        int error = tni_sys_temp(w->target, w->temp, PATH_MAX, &w->fd);
        if (error)
            return fail_system(w->path, error);
    }
    if (w->format->begin)
        TRY(w->format->begin(w));
    return tni_writer_enter(w);
}

static tn_writer *new_writer(const tni_format *format, const char *path)
{
    tn_writer *w = tni_alloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (tn_writer){.format = format, .fd = -1};
    w->path = tni_arena_text(&w->arena, tni_path_shown(path), strlen(tni_path_shown(path)));
    w->temp = tni_arena_take(&w->arena, PATH_MAX);
    if (w->temp)
        w->temp[0] = 0;
    if (w->path && w->temp)
        return w;
    tn_writer_abort(w);
    return NULL;
}

static tn_status check_all(const char *call, int n, const char *const *names,
                           const tn_tensor *const *ts, const tn_write_options *options)
{
    char who[48];
    if (n < 0)
        return tni_fail(TN_EARG, "%s: n: negative, got %d", call, n);
    if (n > 0 && (!ts || (n > 1 && !names)))
        return tni_fail(TN_ENULL, "%s: %s is NULL", call, ts ? "names" : "ts");
    for (int i = 0; i < n; i++) {
        if (!ts[i] || (names && !names[i]))
            return tni_fail(TN_ENULL, "%s: %s %d is NULL", call, ts[i] ? "name" : "tensor", i);
        snprintf(who, sizeof who, "%s: tensor %d", call, i);
        TRY(tni_check(ts[i], who));
    }
    if (!options)
        return TN_OK;
    if (options->align < 0 || options->align > 1 << 20)
        return tni_fail(TN_EARG, "%s: options: align: got %lld, expected 0 to 2^20", call,
                        (long long)options->align);
    for (int i = 0; i < COUNT(options->reserved); i++)
        if (options->reserved[i])
            return tni_fail(TN_EARG, "%s: options: reserved[%d] is not NULL", call, i);
    return TN_OK;
}

tn_status tn_writer_open(tn_writer **out, const char *path, int n, const char *const *names,
                         const tn_tensor *const *ts, const tn_write_options *options)
{
    const tni_format *format = NULL;
    char target[PATH_MAX];
    if (!out || !path)
        return tni_fail(TN_ENULL, "writer_open: %s is NULL", out ? "path" : "w");
    TRY(check_all("writer_open", n, names, ts, options));
    TRY(find_format(path, n, &format));
    int error = tni_sys_target(path, target, sizeof target);
    if (error)
        return fail_system(tni_path_shown(path), error);
    tn_writer *w = new_writer(format, path);
    if (!w)
        return tni_no_memory(tni_path_shown(path), PATH_MAX);
    if (options)
        w->options = *options;
    w->target = tni_arena_text(&w->arena, target, strlen(target));
    tn_status status =
        w->target ? writer_begin(w, n, names, ts) : tni_no_memory(w->path, PATH_MAX);
    if (status != TN_OK)
        tn_writer_abort(w);
    else
        *out = w;
    return status;
}

tn_status tn_writer_open_fd(tn_writer **out, int fd, const char *name, const tn_tensor *t)
{
    if (!out || !name)
        return tni_fail(TN_ENULL, "writer_open_fd: %s is NULL", out ? "name" : "w");
    TRY(check_all("writer_open_fd", 1, NULL, &t, NULL));
    tn_writer *w = new_writer(&tni_npy_format, name);
    if (!w)
        return tni_no_memory(tni_path_shown(name), PATH_MAX);
    w->fd = fd;
    w->pipe = true;
    tn_status status = writer_begin(w, 1, NULL, &t);
    if (status != TN_OK)
        tn_writer_abort(w);
    else
        *out = w;
    return status;
}

tn_status tni_writer_open_scratch(tn_writer **out, const tn_writer *beside, int n,
                                  const char *const *names, const tn_tensor *const *ts)
{
    const bool file = beside && !beside->pipe;
    const char *path = file ? beside->target : P_tmpdir "/x";
    tn_writer *w = new_writer(&tni_safetensors_format, path);
    if (!w)
        return tni_no_memory(tni_path_shown(path), PATH_MAX);
    const int error = tni_sys_scratch(path, &w->fd);
    w->options.no_sync = true;
    w->target = tni_arena_text(&w->arena, path, strlen(path)); /* of files beside this one */
    tn_status status = error       ? fail_system(w->path, error)
                       : w->target ? writer_begin(w, n, names, ts)
                                   : tni_no_memory(w->path, PATH_MAX);
    if (status != TN_OK)
        tn_writer_abort(w);
    else
        *out = w;
    return status;
}

tn_status tni_writer_reopen(const tn_writer *w, tn_file **f)
{
    return tn_file_open_fd(f, w->fd, w->path);
}

tn_status tn_writer_layout(const char *path, int n, const char *const *names,
                           const tn_tensor *const *ts, const tn_write_options *options,
                           void *header, size_t size, int64_t *bytes, int64_t *offsets)
{
    const tni_format *format = NULL;
    if (!path || !bytes || (size && !header) || (n > 0 && !offsets))
        return tni_fail(TN_ENULL, "writer_layout: %s is NULL",
                        !path    ? "path"
                        : !bytes ? "bytes"
                        : header ? "offsets"
                                 : "header");
    TRY(check_all("writer_layout", n, names, ts, options));
    TRY(find_format(path, n, &format));
    if (!format->joined)
        return tni_fail(TN_EUNSUPPORTED,
                        "%s: the tensors of a %s file are not stored one after the other",
                        tni_path_shown(path), format->suffix);
    tn_writer *w = new_writer(format, path);
    if (!w)
        return tni_no_memory(tni_path_shown(path), PATH_MAX);
    if (options)
        w->options = *options;
    w->sink = true;
    w->held = header;
    w->held_size = size;
    tn_status status = writer_begin(w, n, names, ts);
    if (status == TN_OK) {
        *bytes = w->at;
        for (int64_t i = 0, at = w->at; i < n; at += w->slots[i++].nbytes)
            offsets[i] = at;
    }
    tn_writer_abort(w);
    return status;
}

static tn_status writer_finish(tn_writer *w)
{
    if (w->broken)
        return tni_fail(TN_EARG, "%s: an earlier write failed", w->path);
    if (w->now < w->n)
        return tni_fail(TN_EARG, "%s: tensor \"%.80s\": %lld elements are missing", w->path,
                        w->slots[w->now].name, (long long)w->left);
    ASSERT(w->now == w->n && w->left == 0);
    if (w->format->finish)
        TRY(w->format->finish(w));
    if (w->pipe)
        return TN_OK;
    int error = tni_sys_publish(w->fd, w->temp, PATH_MAX, w->target, !w->options.no_sync,
                                w->options.exclusive != 0);
    return error ? fail_system(w->path, error) : TN_OK;
}

tn_status tn_writer_commit(tn_writer *w)
{
    if (!w)
        return tni_fail(TN_ENULL, "writer_commit: w is NULL");
    tn_status status = writer_finish(w);
    tn_writer_abort(w);
    return status;
}

void tn_writer_abort(tn_writer *w)
{
    if (!w)
        return;
    (void)tni_writer_end_direct(w, false);
    if (w->format->release)
        w->format->release(w);
    if (w->fd >= 0 && !w->pipe)
        tni_sys_close(w->fd);
    if (w->temp)
        tni_sys_forget(w->temp);
    tni_arena_free(&w->arena);
    tni_free(w);
}
