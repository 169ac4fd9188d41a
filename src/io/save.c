/* save.c - saving whole tensors to a file through the writer. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "write.h"

/* The order of tensors in a .safetensors file: wider dtypes first, so that each is aligned.
 * Members of .npz are aligned individually and keep their order. */
typedef struct sort_row {
    int i;
    int64_t width;
} sort_row;

static int wider_first(const void *a, const void *b)
{
    const sort_row *x = a, *y = b;
    return x->width != y->width ? (x->width > y->width ? -1 : 1) : x->i - y->i;
}

static tn_status check(const tn_tensor *t, const char *who)
{
    TRY(tni_check(t, who));
    return tni_check_data(t, who);
}

static tn_status save(const char *path, int n, const char *const *names,
                      const tn_tensor *const *ts, const tn_write_options *options)
{
    tn_writer *w = NULL;
    TRY(tn_writer_open(&w, path, n, names, ts, options));
    for (int i = 0; i < n; i++) {
        tn_status status = tn_writer_put(w, ts[i]);
        if (status != TN_OK) {
            tn_writer_abort(w);
            return status;
        }
    }
    return tn_writer_commit(w);
}

tn_status tn_save(const char *path, const tn_tensor *t)
{
    if (!path || !t)
        return tni_fail(TN_ENULL, "save: %s is NULL", path ? "t" : "path");
    TRY(check(t, "save: t"));
    return save(path, 1, NULL, &t, NULL);
}

static tn_status save_sorted(const char *path, int n, const char *const *names,
                             const tn_tensor *const *ts, const tn_write_options *options,
                             sort_row *rows, void *memory)
{
    const tn_tensor **sorted = memory;
    const char **labels = (const char **)(sorted + n);
    const tni_format *format = tni_format_of(path);
    bool sorts = format && format->widest_first;
    for (int i = 0; i < n; i++)
        rows[i] = (sort_row){i, sorts ? (int64_t)tn_dtype_size(ts[i]->dtype) : 0};
    qsort(rows, (size_t)n, sizeof *rows, wider_first);
    for (int i = 0; i < n; i++) {
        sorted[i] = ts[rows[i].i];
        labels[i] = names[rows[i].i];
    }
    return save(path, n, labels, sorted, options);
}

tn_status tn_save_many(const char *path, int n, const char *const *names,
                       const tn_tensor *const *ts, const char *metadata)
{
    if (!path || (n > 0 && (!names || !ts)))
        return tni_fail(TN_ENULL, "save_many: %s is NULL",
                        !path    ? "path"
                        : !names ? "names"
                                 : "ts");
    if (n < 0)
        return tni_fail(TN_EARG, "save_many: n: negative, got %d", n);
    for (int i = 0; i < n; i++)
        if (!names[i] || !ts[i])
            return tni_fail(TN_ENULL, "save_many: %s %d is NULL", ts[i] ? "name" : "tensor", i);
    for (int i = 0; i < n; i++) {
        char who[48];
        snprintf(who, sizeof who, "save_many: tensor %d", i);
        TRY(check(ts[i], who));
    }
    tn_write_options options = {.metadata = metadata};
    tni_arena arena = {0};
    const int64_t count = n ? n : 1;
    sort_row *rows = tni_arena_rows(&arena, count, sizeof *rows);
    void *memory = tni_arena_rows(&arena, count, 2 * sizeof(void *));
    tn_status status = rows && memory ? save_sorted(path, n, names, ts, &options, rows, memory)
                                      : tni_no_memory(path, count * 64);
    tni_arena_free(&arena);
    return status;
}
