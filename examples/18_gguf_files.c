/* 18_gguf_files.c - write and read a .gguf file: tensors, and the key-values that describe
 * them.
 *
 * Key-values are bytes in the encoding of the format: a count, then key, type and value of
 * each.  tn_file_values returns those of a file in the same encoding, so that they can be
 * written to a new file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { U32 = 4, TEXT = 8 };

static char values[256];
static size_t length;

static void put(uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        values[length++] = (char)(x >> 8 * i);
}

static void put_text(const char *text)
{
    put(strlen(text), 8);
    memcpy(values + length, text, strlen(text));
    length += strlen(text);
}

static int run(const char *path)
{
    float weight[2][3] = {{1, 2, 3}, {4, 5, 6}};
    tn_tensor w, t;
    TN_MUST(tn_init(&w, weight, TN_F32, 2, (int64_t[]){2, 3}));
    put(2, 8); /* two pairs */
    put_text("general.architecture");
    put(TEXT, 4);
    put_text("example");
    put_text("example.layers");
    put(U32, 4);
    put(1, 4);

    tn_writer *out;
    const tn_write_options options = {.values = values, .values_size = (int64_t)length};
    TN_MUST(tn_writer_open(&out, path, 1, (const char *[]){"layer.0.weight"},
                           (const tn_tensor *[]){&w}, &options));
    TN_MUST(tn_writer_put(out, &w)); /* in several pieces, if it is long */
    TN_MUST(tn_writer_commit(out));  /* now the file appears */

    tn_file *f;
    char again[sizeof values];
    size_t need;
    TN_MUST(tn_file_open(&f, path));
    TN_MUST(tn_file_values(f, again, sizeof again, &need));
    TN_EXPECT(need == length && !memcmp(again, values, length));
    TN_MUST(tn_file_read(f, 0, &t));
    printf("%s of %s: %s, %zu bytes of key-values\n", tn_file_name(f, 0), tn_file_format(f),
           tn_dtype_name(t.dtype), need);
    TN_EXPECT(tn_file_count(f) == 1 && !memcmp(t.data, weight, sizeof weight));
    tn_free(&t);
    tn_file_close(f);
    return 0;
}

int main(void)
{
    char folder[] = "/tmp/tenon-example-XXXXXX", path[64];
    TN_EXPECT(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.gguf", folder);
    int code = run(path);
    unlink(path);
    rmdir(folder);
    return code;
}
