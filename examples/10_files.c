/* 10_files.c - tensors in files: save, inspect the header, map, read.
 *
 * Files are replaced atomically; a reader checks everything before it allocates. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

static int run(const char *path)
{
    float weight[2][3] = {{1, 2, 3}, {4, 5, 6}};
    int64_t steps = 7;
    tn_tensor w, wt, s, t;
    TN_MUST(tn_init(&w, weight, TN_F32, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_init(&s, &steps, TN_I64, 0, NULL));
    TN_MUST(tn_transpose(&wt, &w, 0, 1)); /* tensors of any strides can be saved */
    TN_MUST(tn_save_many(path, 2, (const char *[]){"steps", "weight"},
                         (const tn_tensor *[]){&s, &wt}, "{\"made by\": \"an example\"}"));

    tn_file *f;
    TN_MUST(tn_file_open(&f, path)); /* reads and checks the header only */
    for (int64_t i = 0; i < tn_file_count(f); i++) {
        const char *name;
        TN_MUST(tn_file_info(f, i, &name, &t, NULL));
        printf("%-8s %-4s %lld bytes\n", name, tn_dtype_name(t.dtype),
               (long long)tn_nbytes(&t));
    }

    int64_t i;
    TN_MUST(tn_file_find(f, "weight", &i));
    TN_MUST(tn_file_map(f, i, &t)); /* a read-only view of the file, valid until it is closed */
    TN_EXPECT(t.shape[0] == 3 && t.shape[1] == 2 && (t.flags & TN_READONLY));
    float element;
    memcpy(&element, tn_at(&t, (int64_t[]){2, 1}), sizeof element);
    TN_EXPECT(element == 6);

    TN_MUST(tn_file_read(f, i, &t)); /* in newly allocated memory */
    tn_file_close(f);
    TN_EXPECT(*(float *)tn_at(&t, (int64_t[]){0, 1}) == 4);
    tn_show("weight, as saved", &t);
    tn_free(&t);

    TN_EXPECT(truncate(path, 150) == 0); /* a damaged file is an error with a sentence */
    TN_EXPECT(tn_file_open(&f, path) == TN_EFORMAT);
    printf("refused: %s\n",
           strrchr(tn_error(), '/') ? strrchr(tn_error(), '/') + 1 : tn_error());
    return 0;
}

int main(void)
{
    char folder[] = "/tmp/tenon-example-XXXXXX", path[64];
    TN_EXPECT(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.safetensors", folder);
    int failed = run(path);
    unlink(path);
    rmdir(folder);
    return failed;
}
