/* fuzz_index.c - bytes as an index.json beside one file of a set.
 *
 * An index that opens names tensors of that file alone, each of them once; one that is refused
 * is refused with a sentence, and all memory is given back. */
#include <fcntl.h>
#include <unistd.h>

#include "fuzz.h"

static char folder[] = "/tmp/fuzz-index-XXXXXX", path[64];

static void remove_folder(void)
{
    char shard[64];
    snprintf(shard, sizeof shard, "%s/m.safetensors", folder);
    unlink(shard);
    unlink(path);
    rmdir(folder);
}

/* Tensors a and b in m.safetensors. */
static void make_folder(void)
{
    float x[2] = {1, 2};
    tn_tensor t;
    char shard[64];
    MUST(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/m.index.json", folder);
    snprintf(shard, sizeof shard, "%s/m.safetensors", folder);
    MUST(tn_init(&t, x, TN_F32, 1, (int64_t[]){2}) == TN_OK);
    MUST(tn_save_many(shard, 2, (const char *[]){"a", "b"}, (const tn_tensor *[]){&t, &t},
                      NULL) == TN_OK);
    atexit(remove_folder);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tn_file *f = NULL;
    if (!path[0]) {
        make_folder();
        use_limit();
    }
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    close(fd);
    held = 0;
    tn_status status = tn_file_open(&f, path);
    if (status != TN_OK) {
        MUST(!f && held == 0 && tn_error()[0]);
        MUST(status == TN_EFORMAT || status == TN_EIO || status == TN_EUNSUPPORTED);
        return 0;
    }
    MUST(tn_file_count(f) <= 2);
    for (int64_t i = 0; i < tn_file_count(f); i++) {
        tn_tensor t;
        MUST(!strcmp(tn_file_name(f, i), "a") || !strcmp(tn_file_name(f, i), "b"));
        MUST(tn_file_read(f, i, &t) == TN_OK && tn_numel(&t) == 2);
        tn_free(&t);
    }
    tn_file_close(f);
    MUST(held == 0);
    return 0;
}
