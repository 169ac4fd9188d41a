/* test_io_gguf_write.c - .gguf as it is written: places, key-values, what is refused. */
#include <limits.h>

#include "io_folder.h"

static const tn_dtype plain[] = {TN_F32, TN_F16, TN_BF16, TN_F64,
                                 TN_I8,  TN_I16, TN_I32,  TN_I64};
enum { KINDS = sizeof plain / sizeof plain[0], BYTES = 2 * 3 * 5 * 8 };

static uint8_t bytes[KINDS][BYTES], blob[256];
static size_t blob_size;

static void put(uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        blob[blob_size++] = (uint8_t)(x >> 8 * i);
}

static void put_text(const char *text)
{
    put(strlen(text), 8);
    memcpy(blob + blob_size, text, strlen(text));
    blob_size += strlen(text);
}

static void begin_values(uint64_t pairs)
{
    blob_size = 0;
    put(pairs, 8);
}

static tn_status write_all(const char *path, const tn_write_options *options)
{
    static const char *const names[] = {"f32", "f16", "bf16", "f64", "i8", "i16", "i32", "i64"};
    tn_tensor t[KINDS];
    const tn_tensor *ts[KINDS];
    tn_writer *w = NULL;
    for (int i = 0; i < KINDS; i++) {
        for (int k = 0; k < BYTES; k++)
            bytes[i][k] = (uint8_t)(k * 7 + i);
        int64_t shape[3] = {2, 3, i == 6 ? 0 : 5};
        assert_int_equal(tn_init(&t[i], bytes[i], plain[i], i == 4 ? 0 : 3, shape), TN_OK);
        ts[i] = &t[i];
    }
    tn_status status = tn_writer_open(&w, path, KINDS, names, ts, options);
    for (int i = 0; status == TN_OK && i < KINDS; i++)
        if (i != 6)
            status = tn_writer_put(w, &t[i]);
    return status == TN_OK ? tn_writer_commit(w) : status;
}

static void check_all(const char *path, int64_t align)
{
    tn_file *f = NULL;
    assert_int_equal(tn_file_open(&f, path), TN_OK);
    assert_string_equal(tn_file_format(f), "gguf");
    assert_int_equal(tn_file_count(f), KINDS);
    for (int i = 0; i < KINDS; i++) {
        tn_tensor desc, t;
        int64_t offset;
        assert_int_equal(tn_file_info(f, i, NULL, &desc, &offset), TN_OK);
        assert_int_equal(desc.dtype, plain[i]);
        assert_int_equal(desc.ndim, i == 4 ? 0 : 3);
        assert_int_equal(offset % align, 0);
        if (desc.ndim)
            assert_int_equal(desc.shape[2], i == 6 ? 0 : 5);
        assert_int_equal(tn_file_read(f, i, &t), TN_OK);
        assert_memory_equal(t.data, bytes[i], (size_t)tn_nbytes(&t));
        tn_free(&t);
    }
    tn_file_close(f);
}

static void refused(tn_status want, const char *sentence, tn_status got)
{
    assert_int_equal(got, want);
    if (!strstr(tn_error(), sentence))
        fail_msg("%s", tn_error());
}

static void what_is_written_is_read(void **state)
{
    char path[PATH_MAX];
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("w.gguf"));
    for (int64_t align = 0; align <= 4096; align = align ? align * 8 : 8) {
        assert_int_equal(write_all(path, &(tn_write_options){.align = align}), TN_OK);
        check_all(path, align ? align : 32);
    }
}

/* Values come out as they went in, and say the alignment. */
static void values_are_kept(void **state)
{
    char path[PATH_MAX];
    uint8_t back[256];
    size_t need = 0;
    tn_file *f = NULL;
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("v.gguf"));
    begin_values(3);
    put_text("general.alignment");
    put(4, 4);
    put(64, 4);
    put_text("words");
    put(9, 4);
    put(8, 4);
    put(2, 8);
    put_text("a");
    put_text("");
    put_text("x");
    put(6, 4);
    put(0x3f800000, 4);
    tn_write_options options = {.values = blob, .values_size = (int64_t)blob_size};
    assert_int_equal(write_all(path, &options), TN_OK);
    check_all(path, 64);
    assert_int_equal(tn_file_open(&f, path), TN_OK);
    assert_int_equal(tn_file_values(f, NULL, 0, &need), TN_OK);
    assert_int_equal(need, blob_size);
    memset(back, 0x55, sizeof back);
    assert_int_equal(tn_file_values(f, back, 20, &need), TN_OK);
    assert_memory_equal(back, blob, 20);
    assert_int_equal(back[20], 0x55);
    assert_int_equal(tn_file_values(f, back, sizeof back, &need), TN_OK);
    assert_memory_equal(back, blob, need);
    assert_int_equal(tn_file_values(f, NULL, 1, &need), TN_ENULL);
    assert_int_equal(tn_file_values(f, back, 1, NULL), TN_ENULL);
    assert_int_equal(tn_file_values(NULL, back, 1, &need), TN_ENULL);
    tn_file_close(f);
    options.align = 32;
    refused(TN_EARG, "v.gguf: alignment is 32, but general.alignment is 64",
            write_all(path, &options));
    for (size_t n = 0; n < blob_size; n++) { /* every cut is seen */
        options = (tn_write_options){.values = blob, .values_size = (int64_t)n};
        assert_int_equal(write_all(path, &options), TN_EFORMAT);
    }
    blob[blob_size++] = 0;
    options = (tn_write_options){.values = blob, .values_size = (int64_t)blob_size};
    assert_int_equal(write_all(path, &options), TN_EFORMAT);
    assert_int_equal(tn_file_open(&f, DATA("c_f32.npy")), TN_OK);
    assert_int_equal(tn_file_values(f, back, 1, &need), TN_EUNSUPPORTED);
    tn_file_close(f);
}

static void what_is_refused(void **state)
{
    char path[PATH_MAX], name[65];
    float x[1] = {0};
    tn_tensor t;
    tn_writer *w = NULL;
    int64_t bytes_before, at;
    const int64_t ones[5] = {1, 1, 1, 1, 1};
    const char *names[] = {name};
    const tn_tensor *ts[] = {&t};
    (void)state;
    snprintf(path, sizeof path, "%s", in_folder("r.gguf"));
    memset(name, 'n', sizeof name - 1);
    name[63] = 0;
    assert_int_equal(tn_init(&t, x, TN_F32, 4, ones), TN_OK);
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, NULL), TN_OK);
    tn_writer_abort(w);
    name[63] = 'n';
    name[64] = 0;
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, NULL), TN_EUNSUPPORTED);
    names[0] = "\xff";
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, NULL), TN_EUNSUPPORTED);
    names[0] = "n";
    assert_int_equal(tn_init(&t, x, TN_F32, 5, ones), TN_OK);
    refused(TN_EUNSUPPORTED, "r.gguf: tensor \"n\" has 5 axes, .gguf supports at most 4",
            tn_writer_open(&w, path, 1, names, ts, NULL));
    assert_int_equal(tn_init(&t, x, TN_U32, 1, ones), TN_OK);
    refused(TN_EUNSUPPORTED, "r.gguf: tensor \"n\": .gguf does not support dtype u32",
            tn_writer_open(&w, path, 1, names, ts, NULL));
    assert_int_equal(tn_init(&t, x, TN_F32, 1, ones), TN_OK);
    refused(TN_EARG, "r.gguf: alignment is 48, expected a power of two",
            tn_writer_open(&w, path, 1, names, ts, &(tn_write_options){.align = 48}));
    assert_int_equal(tn_writer_layout(path, 1, names, ts, NULL, NULL, 0, &bytes_before, &at),
                     TN_EUNSUPPORTED);
    /* key-values: a type that is unknown, a key as long as the alignment's, an alignment that
     * is no u32 or too large */
    static const struct {
        const char *key;
        uint64_t type, value;
        tn_status status;
    } values[] = {{"x", 99, 0, TN_EFORMAT},
                  {"general.alignmenT", 4, 48, TN_OK},
                  {"general.alignment", 5, 64, TN_EFORMAT},
                  {"general.alignment", 4, 2 << 20, TN_EARG}};
    for (int i = 0; i < 4; i++) {
        begin_values(1);
        put_text(values[i].key);
        put(values[i].type, 4);
        put(values[i].value, 4);
        tn_write_options options = {.values = blob, .values_size = (int64_t)blob_size};
        assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &options), values[i].status);
        if (values[i].status == TN_OK)
            tn_writer_abort(w);
    }
    names[0] = ""; /* no name at all */
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, NULL), TN_OK);
    tn_writer_abort(w);
    /* sizes whose sum, or whose padding, does not fit */
    static const int64_t sizes[] = {INT64_MAX - 100, INT64_MAX - (1 << 21)};
    for (int i = 0; i < 2; i++) {
        assert_int_equal(tn_init(&t, NULL, TN_I8, 1, &sizes[i]), TN_OK);
        refused(TN_EOVERFLOW, "r.gguf: size exceeds 2^63 - 1 bytes",
                tn_writer_open(&w, path, 2, (const char *[]){"a", "b"},
                               (const tn_tensor *[]){&t, &t}, NULL));
    }
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(tn_init(&t, x, TN_F32, 1, ones), TN_OK);
    refused(TN_EUNSUPPORTED, "r.none: unknown suffix",
            tn_save_many(in_folder("r.none"), 2, (const char *[]){"a", "b"},
                         (const tn_tensor *[]){&t, &t}, NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(values_are_kept),
        cmocka_unit_test(what_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
