/* fuzz_kv.c - bytes as the JSON of --kv.
 *
 * Text that is read gives key-values that the writer of .gguf takes, and that are the same
 * again when they are printed as JSON and read; text that is refused is refused with a
 * sentence. */
#include "fuzz.h"
#include "kv.h"

/* The key-values of a text; what is said goes to *said, which is to be freed. */
static int read_text(kvs *ks, const char *text, char **said)
{
    size_t n;
    FILE *usual = stderr, *caught = open_memstream(said, &n);
    MUST(caught);
    stderr = caught;
    const int code = kvs_read_json(ks, "in", text);
    stderr = usual;
    fclose(caught);
    MUST(code == DONE ? n == 0 : code == FAILED && n > 0);
    return code;
}

static void look_at(const kvs *ks)
{
    float x = 1;
    tn_tensor t;
    tn_writer *w = NULL;
    void *values = NULL, *again = NULL;
    char *text = NULL, *said = NULL;
    size_t n = 0, m = 0;
    kvs copy = {0};
    MUST(kvs_bytes(ks, &values, &n) == DONE);
    MUST(tn_init(&t, &x, TN_F32, 0, NULL) == TN_OK);
    if (tn_writer_open(&w, "/tmp/x.gguf", 1, (const char *[]){"t"}, (const tn_tensor *[]){&t},
                       &(tn_write_options){.values = values, .values_size = (int64_t)n}) ==
        TN_OK)
        tn_writer_abort(w);
    else
        MUST(strstr(tn_error(), "alignment"));
    FILE *out = open_memstream(&text, &m);
    MUST(out);
    kvs_print_json(out, ks);
    fclose(out);
    if (read_text(&copy, text, &said) == DONE) { /* not when a number is infinite */
        MUST(kvs_bytes(&copy, &again, &m) == DONE);
        MUST(m == n && !memcmp(values, again, n));
    } else {
        MUST(strstr(text, "inf") || strstr(text, "nan") || strstr(text, "null"));
    }
    kvs_free(&copy);
    free(again);
    free(said);
    free(text);
    free(values);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kvs ks = {0};
    char *text = malloc(size + 1), *said = NULL;
    MUST(text);
    if (size)
        memcpy(text, data, size);
    text[size] = 0;
    if (read_text(&ks, text, &said) == DONE)
        look_at(&ks);
    kvs_free(&ks);
    free(said);
    free(text);
    return 0;
}
