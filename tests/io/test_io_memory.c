/* test_io_memory.c - the k-th allocation fails, for every k: TN_ENOMEM, nothing kept, nothing
 * given out, no file. */
#include "io/io.h"
#include "io_oracle.h"

#include <sys/stat.h>

#include "torch_archive.h"
#include "weak_memory.h"

static tn_status read_all(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    if (status != TN_OK)
        assert_null(f);
    for (int64_t i = 0; status == TN_OK && i < tn_file_count(f); i++) {
        tn_tensor t, places, got;
        if (tn_file_info(f, i, NULL, &t, NULL) != TN_OK)
            continue;
        status = tn_file_read(f, i, &t);
        if (status != TN_OK)
            break;
        if (tn_file_places(f, i, &places) == TN_OK) {
            status = tn_alloc(&got, t.dtype, t.ndim, t.shape);
            if (status == TN_OK) {
                status = tn_file_fetch(f, i, &got, &places);
                tn_free(&got);
            }
        }
        tn_free(&t);
    }
    tn_file_close(f);
    return status;
}

/* An archive with members that are damaged, in the list and in their headers, and one that is
 * packed by a method that nobody has: their sentences take memory as well. */
static const char *damaged(void)
{
    size_t n;
    uint8_t *bytes = slurp(DATA("stored.npz"), &n);
    int records = 0;
    for (size_t i = 0; i + 46 < n; i++) {
        if (!memcmp(bytes + i, "\x93NUMPY", 6))
            bytes[i + 10] = 'x'; /* in place of a brace */
        if (memcmp(bytes + i, "PK\1\2", 4) != 0)
            continue;
        if (records == 0)
            bytes[i + 10] = 9;
        if (records == 1)
            bytes[i + 24]++; /* longer than it is packed */
        records++;
    }
    assert_true(records > 2);
    static char path[256];
    snprintf(path, sizeof path, "%s", in_folder("damaged.npz"));
    spit(path, bytes, n);
    free(bytes);
    return path;
}

static void reading(void **state)
{
    (void)state;
    const char *const paths[] = {DATA("c_f32.npy"),
                                 DATA("stored.npz"),
                                 DATA("deflated.npz"),
                                 DATA("many.safetensors"),
                                 DATA("some.gguf"),
                                 DATA("state.pt"),
                                 DATA("checkpoint.pt"),
                                 DATA("set"),
                                 DATA("set/model.safetensors.index.json"),
                                 damaged()};
    const size_t usual = tni_chunk;
    for (int k = 0; k < 11; k++)
        for (fail_at = 0;; fail_at++) {
            calls = 0;
            tni_chunk = k == 10 ? 16 : usual; /* every piece of text is an allocation */
            tn_status status = read_all(paths[k < 10 ? k : 9]);
            tni_chunk = usual;
            assert_int_equal(held, 0);
            if (calls <= fail_at) {
                OK(status);
                break;
            }
            assert_int_equal(status, TN_ENOMEM);
        }
}

static void writing(void **state)
{
    (void)state;
    static const char *const paths[] = {"x.npy", "x.npz", "x.safetensors", "x.gguf"};
    float x[6] = {0};
    tn_tensor t;
    OK(tn_init(&t, x, TN_F32, 2, (int64_t[]){2, 3}));
    OK(tn_transpose(&t, &t, 0, 1));
    const tn_tensor *ts[] = {&t, &t, &t, &t, &t, &t, &t, &t}; /* 8 addresses fill a line */
    const char *names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    for (int k = 0; k < 4; k++)
        for (fail_at = 0;; fail_at++) {
            calls = 0;
            tn_status status =
                k ? tn_save_many(in_folder(paths[k]), 8, names, ts, k == 2 ? "{}" : NULL)
                  : tn_save(in_folder(paths[k]), &t);
            assert_int_equal(held, 0);
            if (calls <= fail_at) {
                OK(status);
                break;
            }
            assert_int_equal(status, TN_ENOMEM);
            assert_int_equal(access(in_folder(paths[k]), F_OK), -1);
        }
}

static tn_handle *weak;

/* Arrays of the reader of pickles grow at any value: lists and dicts of every length below. */
static void pickles(void **state)
{
    (void)state;
    static const char dict[] = "ccollections\nOrderedDict\n]U\1aK\1\x86"
                               "aU\1bK\1\x86"
                               "a\x85R0";
    enum { LONGEST = 70 };
    for (int n = 0; n < LONGEST; n++) {
        char text[2 * LONGEST + sizeof dict + 8] = "(](";
        size_t length = 3;
        for (int i = 0; i < n; i++, length += 2)
            memcpy(text + length, "K\1", 2);
        text[length++] = 'e';
        memcpy(text + length, dict, sizeof dict - 2);
        length += sizeof dict - 2;
        memcpy(text + length, "t.", 2);
        torch_archive a = {0};
        torch_member(&a, "m/data.pkl", text, length + 2);
        torch_finish(&a);
        spit(in_folder("x.pt"), a.bytes, a.n);
        torch_free(&a);
        for (fail_at = 0;; fail_at++) {
            calls = 0;
            tn_status status = read_all(in_folder("x.pt"));
            assert_int_equal(held, 0);
            if (calls <= fail_at) {
                OK(status);
                break;
            }
            assert_int_equal(status, TN_ENOMEM);
        }
    }
}

/* So does the list of the files of a folder. */
static void folders(void **state)
{
    (void)state;
    enum { FILES = 130 };
    char path[300], name[32];
    float x = 0;
    tn_tensor t;
    fail_at = -1;
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    snprintf(path, sizeof path, "%s", in_folder("many"));
    assert_int_equal(mkdir(path, 0777), 0);
    for (int i = 0; i < FILES; i++) {
        char file[340];
        snprintf(file, sizeof file, "%s/%03d.safetensors", path, i);
        snprintf(name, sizeof name, "t%d", i);
        OK(tn_save_many(file, 1, (const char *[]){name}, (const tn_tensor *[]){&t}, NULL));
    }
    for (fail_at = 0;; fail_at += fail_at < 200 ? 1 : 97) {
        calls = 0;
        tn_file *f = NULL;
        tn_status status = tn_file_open(&f, path);
        if (status == TN_OK)
            assert_int_equal(tn_file_count(f), FILES);
        tn_file_close(f);
        assert_int_equal(held, 0);
        if (calls <= fail_at) {
            OK(status);
            break;
        }
        assert_int_equal(status, TN_ENOMEM);
    }
}

/* The size of a table that no memory holds does not wrap. */
static void more_rows_than_memory_has(void **state)
{
    (void)state;
    tni_arena a = {0};
    fail_at = -1;
    assert_non_null(tni_arena_rows(&a, 3, 8));
    assert_null(tni_arena_rows(&a, INT64_MAX, 16));
    assert_null(tni_arena_rows(&a, (int64_t)(SIZE_MAX / 16) + 1, 16));
    tni_arena_free(&a);
}

static int setup(void **state)
{
    tn_config config = {.alloc = weak_alloc, .free = weak_free};
    fail_at = -1;
    return make_folder(state) || tn_handle_create(&weak, TN_CPU, 0, &config) != TN_OK ||
           tn_handle_use(weak) != TN_OK;
}

static int teardown(void **state)
{
    tn_handle_destroy(weak);
    return drop_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading),
        cmocka_unit_test(writing),
        cmocka_unit_test(pickles),
        cmocka_unit_test(folders),
        cmocka_unit_test(more_rows_than_memory_has),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
