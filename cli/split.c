/* split.c - splitting a model into files of bounded size, with the index that other programs
 * read. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* The first item of each shard; first[n] is the number of items. */
static int cut_shards(const edit *e, int64_t most, int64_t **first, int64_t *n)
{
    *first = malloc((size_t)(e->n + 2) * sizeof **first);
    if (!*first)
        return fail("out of memory");
    int64_t held = 0;
    *n = 0;
    (*first)[0] = 0;
    for (int64_t i = 0; i < e->n; i++) {
        int64_t bytes = tn_nbytes(&e->items[i].desc);
        if (i > (*first)[*n] && (bytes > most || held > most - bytes)) {
            (*first)[++*n] = i;
            held = 0;
        }
        held = held > INT64_MAX - bytes ? INT64_MAX : held + bytes;
    }
    (*first)[++*n] = e->n;
    return DONE;
}

void shard_name(char name[64], int64_t k, int64_t n)
{
    if (n == 1)
        snprintf(name, 64, "model.safetensors");
    else
        snprintf(name, 64, "model-%05lld-of-%05lld.safetensors", (long long)k + 1,
                 (long long)n);
}

typedef struct index_job {
    const edit *e;
    const int64_t *first;
    int64_t n;
} index_job;

static int print_index(void *out, const void *user)
{
    const index_job *j = user;
    char name[64];
    fprintf(out, "{\"metadata\": {\"total_size\": %lld}, \"weight_map\": {",
            (long long)edit_bytes(j->e));
    for (int64_t k = 0; k < j->n; k++) {
        shard_name(name, k, j->n);
        for (int64_t i = j->first[k]; i < j->first[k + 1]; i++) {
            fprintf(out, i ? ",\n" : "\n");
            json_text(out, j->e->items[i].name);
            fprintf(out, ": \"%s\"", name);
        }
    }
    fprintf(out, "\n}}\n");
    return DONE;
}

static int write_shard(const args *a, const out_folder *out, const edit *e, const index_job *j,
                       int64_t k)
{
    char name[64];
    target t = {0};
    shard_name(name, k, j->n);
    TRY(folder_file(out, name, &t.path));
    int code = edit_write(a, &t, &e->items[j->first[k]], j->first[k + 1] - j->first[k],
                          tn_file_metadata(e->sources[0].f));
    free(t.path);
    return code;
}

static int write_shards(const args *a, const edit *e, const index_job *j)
{
    out_folder out;
    int code = folder_begin(a, &out);
    progress_start(a, edit_bytes(e));
    for (int64_t k = 0; code == DONE && k < j->n; k++)
        code = write_shard(a, &out, e, j, k);
    progress_end();
    char *path = NULL;
    if (code == DONE && j->n > 1)
        code = folder_file(&out, INDEX_FILE, &path);
    if (code == DONE && j->n > 1)
        code = write_text(a, path, print_index, j);
    free(path);
    if (code == DONE)
        code = folder_commit(a, &out);
    folder_end(&out, false);
    return code;
}

int run_split(const args *a)
{
    edit e;
    int64_t *first = NULL, n = 0;
    char name[64];
    TRY(need_operands(a, 1));
    if (a->shard_size <= 0)
        return usage(a, "missing --shard-size SIZE");
    int code = edit_open(&e, 1, a->operands);
    if (code == DONE)
        code = edit_check(&e);
    if (code == DONE)
        code = cut_shards(&e, a->shard_size, &first, &n);
    index_job j = {&e, first, n};
    for (int64_t k = 0; code == DONE && (a->explain || a->dry_run) && k < n; k++) {
        shard_name(name, k, n);
        edit_list(&e, name, first[k], first[k + 1] - first[k]);
    }
    if (code == DONE && !a->explain && !a->dry_run)
        code = write_shards(a, &e, &j);
    free(first);
    edit_close(&e);
    return code;
}
