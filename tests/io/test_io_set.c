/* test_io_set.c - several files as one: folders and index.json, and indexes that lie. */
#include "io_oracle.h"

#include <sys/stat.h>

#include "io/io.h"
#include "io_fail.h"

static void spit_text(const char *name, const char *text)
{
    FILE *f = fopen(in_folder(name), "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
    assert_int_equal(fclose(f), 0);
}

/* Tensor x is 0, 1, … + first. */
static void save_shard(const char *file, int n, const char *const *names, int first)
{
    tn_tensor ts[4];
    const tn_tensor *at[4];
    for (int i = 0; i < n; i++) {
        OK(tn_alloc(&ts[i], TN_I32, 1, (int64_t[]){3}));
        for (int k = 0; k < 3; k++)
            ((int32_t *)ts[i].data)[k] = first + 10 * i + k;
        at[i] = &ts[i];
    }
    OK(tn_save_many(in_folder(file), n, names, at, "{\"shard\": \"yes\"}"));
    for (int i = 0; i < n; i++)
        tn_free(&ts[i]);
}

static void make_shards(void)
{
    save_shard("m-1.safetensors", 2, (const char *[]){"a", "b"}, 100);
    save_shard("m-2.safetensors", 2, (const char *[]){"c", "d"}, 200);
}

#define MAP(text) "{\"metadata\": {\"total_size\": 48}, \"weight_map\": {" text "}}"
static const char good[] = MAP("\"c\": \"m-2.safetensors\", \"a\": \"m-1.safetensors\", "
                               "\"b\": \"m-1.safetensors\", \"d\": \"m-2.safetensors\"");

static void check_set(const char *path)
{
    tn_file *f = NULL;
    tn_tensor t, view, part;
    int64_t i, offset;
    int32_t got[3];
    OK(tn_file_open(&f, path));
    assert_string_equal(tn_file_format(f), "set");
    assert_int_equal(tn_file_count(f), 4);
    assert_string_equal(tn_file_metadata(f), "{\"shard\":\"yes\"}");
    for (int k = 0; k < 4; k++)
        assert_string_equal(tn_file_name(f, k), ((const char *[]){"a", "b", "c", "d"})[k]);
    OK(tn_file_find(f, "d", &i));
    assert_int_equal(i, 3);
    assert_string_equal(tn_file_path(f, 3), in_folder("m-2.safetensors"));
    OK(tn_file_read(f, i, &t));
    assert_int_equal(((int32_t *)t.data)[2], 212);
    tn_free(&t);
    OK(tn_file_map(f, 0, &t));
    if (!host_is_big())
        assert_int_equal(((const int32_t *)t.data)[1], 101);
    OK(tn_file_places(f, 2, &view));
    OK(tn_flip(&view, &view, 0));
    OK(tn_init(&part, got, TN_I32, 1, (int64_t[]){3}));
    OK(tn_file_fetch(f, 2, &part, &view));
    assert_int_equal(got[0], 202);
    assert_int_equal(got[2], 200);
    OK(tn_file_info(f, 2, NULL, NULL, &offset));
    assert_true(offset > 8);
    tn_file_close(f);
}

static void sets_are_one(void **state)
{
    (void)state;
    make_shards();
    check_set(folder); /* without an index: all files of the folder */
    spit_text("m.safetensors.index.json", good);
    check_set(in_folder("m.safetensors.index.json"));
    check_set(folder);
    tn_file *f = NULL;
    spit_text("n.safetensors.index.json", good);
    assert_int_equal(tn_file_open(&f, folder), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "has 2 files *.index.json; name one of them"));
    remove(in_folder("n.safetensors.index.json"));
}

static void indexes_that_lie(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        tn_status status;
        const char *sentence;
    } rows[] = {
        {MAP("\"a\": \"gone.safetensors\""), TN_EIO, "gone.safetensors: No such file"},
        {MAP("\"z\": \"m-1.safetensors\""), TN_EFORMAT,
         "tensor \"z\" is not in m-1.safetensors"},
        {MAP("\"a\": \"m-1.safetensors\", \"b\": \"m-2.safetensors\""), TN_EFORMAT,
         "tensor \"b\" is in m-1.safetensors, the index says m-2.safetensors"},
        {MAP("\"a\": \"m-1.safetensors\", \"a\": \"m-1.safetensors\""), TN_EFORMAT,
         "tensor \"a\" is listed twice"},
        {MAP("\"a\": \"../m-1.safetensors\""), TN_EFORMAT, "is not the name of a file"},
        {MAP("\"a\": \"/etc/passwd\""), TN_EFORMAT, "is not the name of a file"},
        {MAP("\"a\": \"..\""), TN_EFORMAT, "is not the name of a file"},
        {MAP("\"a\": \".\""), TN_EFORMAT, "is not the name of a file"},
        {MAP("\"a\": \"m-1.safetensors\", \"z\": \"m-1.safetensors\""), TN_EFORMAT,
         "tensor \"z\" is not in m-1.safetensors"},
        {"{}", TN_EFORMAT, "no \"weight_map\""},
        {"{\"metadata\": {]}", TN_EFORMAT, "m.index.json: index, byte"},
        {MAP("\"a\": \"\""), TN_EFORMAT, "is not the name of a file"},
        {MAP("\"a\": \"m.index.json\""), TN_EFORMAT, "an index cannot be part of a set"},
        {MAP("\"a\": 7"), TN_EFORMAT, "expected a string"},
        {MAP("\"a\" \"m-1.safetensors\""), TN_EFORMAT, "expected \"name\":"},
        {"{\"metadata\": {}}", TN_EFORMAT, "no \"weight_map\""},
        {"{\"weight_map\": {}, \"weight_map\": {}}", TN_EFORMAT, "duplicate key"},
        {"{\"weight_map\": []}", TN_EFORMAT, "expected an object"},
        {"{\"weight_map\": {}} x", TN_EFORMAT, "trailing text after the index"},
        {"{\"weight_map\": {}", TN_EFORMAT, "expected ',' or '}'"},
        {"{\"weight_map\" {}}", TN_EFORMAT, "expected \"name\":"},
        {"{\"weight_map\": {\"a\": \"m-1.safetensors\"", TN_EFORMAT, "expected ',' or '}'"},
    };
    make_shards();
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_file *f = NULL;
        spit_text("m.index.json", rows[k].text);
        tn_status got = tn_file_open(&f, in_folder("m.index.json"));
        if (got != rows[k].status || !strstr(tn_error(), rows[k].sentence))
            fail_msg("%s: %s: %s", rows[k].text, tn_status_name(got), tn_error());
        assert_null(f);
        /* every prefix is refused too, or names no tensor */
        for (size_t cut = 2; cut < strlen(rows[k].text); cut += 3) {
            char text[256];
            snprintf(text, sizeof text, "%.*s", (int)cut, rows[k].text);
            spit_text("m.index.json", text);
            assert_int_not_equal(tn_file_open(&f, in_folder("m.index.json")), TN_OK);
        }
    }
    tn_file *f = NULL;
    spit_text("m.index.json", "{\"weight_map\": {}}");
    OK(tn_file_open(&f, in_folder("m.index.json")));
    assert_int_equal(tn_file_count(f), 0);
    tn_file_close(f);
    /* an index has a folder, a descriptor has none */
    FILE *open = fopen(in_folder("m.index.json"), "r");
    assert_int_equal(tn_file_open_fd(&f, fileno(open), "x"), TN_EUNSUPPORTED);
    assert_string_equal(tn_error(), "x: an index must be opened by its path");
    fclose(open);
}

/* Paths: without a folder, with a slash at the end, too long; and an index that is too long. */
static void paths_of_sets(void **state)
{
    (void)state;
    tn_file *f = NULL;
    char before[4096], path[300], *text = malloc(6000);
    make_shards();
    spit_text("m.index.json", good);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(folder), 0);
    OK(tn_file_open(&f, "m.index.json"));
    assert_string_equal(tn_file_path(f, 0), "m-1.safetensors");
    assert_int_equal(tni_file_in_memory(f, 0), tni_file_in_memory(f, -1));
    assert_null(tn_file_path(f, -1));
    assert_null(tn_file_path(f, 4));
    size_t need = 1;
    assert_int_equal(tn_file_values(f, NULL, 0, &need), TN_EUNSUPPORTED);
    tn_file_close(f);
    assert_int_equal(chdir(before), 0);
    snprintf(path, sizeof path, "%s/", folder);
    OK(tn_file_open(&f, path));
    assert_string_equal(tn_file_path(f, 0), in_folder("m-1.safetensors"));
    tn_file_close(f);
    arm("opendir", 0);
    assert_int_equal(tn_file_open(&f, path), TN_EIO);
    tni_sys_hook = NULL;
    assert_non_null(strstr(tn_error(), "Input/output error"));
    arm("pread", 1); /* the first reads how the file begins */
    assert_int_equal(tn_file_open(&f, in_folder("m.index.json")), TN_EIO);
    tni_sys_hook = NULL;
    int n = snprintf(text, 6000, "{\"weight_map\": {\"a\": \"");
    memset(text + n, 'x', 5000);
    snprintf(text + n + 5000, 900, "\"}}");
    spit_text("m.index.json", text);
    f = NULL;
    assert_int_equal(tn_file_open(&f, in_folder("m.index.json")), TN_EIO);
    assert_non_null(strstr(tn_error(), "is too long"));
    spit_text("m.index.json", "{         ");
    assert_int_equal(truncate(in_folder("m.index.json"), 100000001), 0);
    assert_int_equal(tn_file_open(&f, in_folder("m.index.json")), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "index has 100000001 bytes, at most 100000000"));
    /* what is not text begins no index */
    spit_text("b.safetensors", "{\1\1\1\1\1\1\1");
    assert_int_equal(tn_file_open(&f, in_folder("b.safetensors")), TN_EFORMAT);
    spit_text("b.safetensors", "{\16      ");
    assert_int_equal(tn_file_open(&f, in_folder("b.safetensors")), TN_EFORMAT);
    assert_null(f);
    free(text);
}

static void folders_that_fail(void **state)
{
    (void)state;
    tn_file *f = NULL;
    assert_int_equal(tn_file_open(&f, folder), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "has neither a *.index.json nor a .safetensors file"));
    make_shards();
    save_shard("z.safetensors", 1, (const char *[]){"b"}, 0); /* a name twice */
    assert_int_equal(tn_file_open(&f, folder), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "tensor \"b\" is in "));
    assert_non_null(strstr(tn_error(), "m-1.safetensors and in "));
    spit_text("z.safetensors", "{}{}{}{}{");
    assert_int_not_equal(tn_file_open(&f, folder), TN_OK);
    assert_null(f);
    assert_null(tn_file_path(NULL, 0));
}

int main(void)
{
#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)
    const struct CMUnitTest tests[] = {
        IN_FOLDER(sets_are_one),
        IN_FOLDER(indexes_that_lie),
        IN_FOLDER(paths_of_sets),
        IN_FOLDER(folders_that_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
