/* test_faults_malloc.c - the k-th malloc of the process fails, for every k, whoever calls it:
 * the library, zlib below it or the command.
 *
 * Under a sanitizer malloc is the sanitizer's, and the tests are skipped. */
#include "io_oracle.h"
#include "weak_malloc.h"

#include <fcntl.h>

/* ---- the library ---- */

static tn_tensor t;

static uint64_t seen; /* a number for all names and shapes of the last file */

static void see(const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        seen = (seen ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

static tn_status read_all(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    seen = 0;
    for (int64_t i = 0; status == TN_OK && i < tn_file_count(f); i++) {
        tn_tensor got;
        int ndim = 0;
        const int64_t *shape = tn_file_shape(f, i, &ndim);
        see(tn_file_name(f, i), strlen(tn_file_name(f, i)));
        see(tn_file_type(f, i), strlen(tn_file_type(f, i)));
        see(shape, (size_t)ndim * sizeof *shape);
        status = tn_file_read(f, i, &got);
        if (status == TN_OK)
            tn_free(&got);
        else if (status == TN_EUNSUPPORTED)
            status = TN_OK;
    }
    tn_file_close(f);
    return status;
}

/* What was written is what is read again. */
static tn_status saved(tn_status status, const char *path)
{
    if (status == TN_OK) {
        bool before = armed;
        armed = false;
        OK(read_all(in_folder(path)));
        armed = before;
    }
    return status;
}

static tn_status save(const char *path)
{
    return saved(tn_save(in_folder(path), &t), path);
}

static tn_status save_many(const char *path)
{
    static const char *const names[] = {"a",
                                        "a long name, of more bytes than most buffers have"};
    return saved(
        tn_save_many(in_folder(path), 2, names, (const tn_tensor *[]){&t, &t},
                     strstr(path, "safe") ? "{\"key\": \"a value of many bytes\"}" : NULL),
        path);
}

static tn_status save_packed(const char *path)
{
    tn_writer *w = NULL;
    tn_status status = tn_writer_open(&w, in_folder(path), 1, NULL, (const tn_tensor *[]){&t},
                                      &(tn_write_options){.compress = 1});
    if (status == TN_OK)
        status = tn_writer_put(w, &t);
    if (status == TN_OK)
        return saved(tn_writer_commit(w), path);
    tn_writer_abort(w);
    return status;
}

static tn_status read_back(const char *path)
{
    return read_all(in_folder(path));
}

static tn_status plan(const char *path)
{
    tn_plan *p = NULL;
    (void)path;
    tn_status status = tn_plan_rearrange(&p, &t, &t);
    tn_plan_free(p);
    return status;
}

static const struct {
    const char *what;
    tn_status (*run)(const char *path);
    const char *path;
} scenarios[] = {
    {"plan", plan, NULL},
    {"read .npy", read_all, DATA("c_f32.npy")},
    {"read stored .npz", read_all, DATA("stored.npz")},
    {"read deflated .npz", read_all, DATA("deflated.npz")},
    {"read zip64 .npz", read_all, DATA("zip64.npz")},
    {"read .safetensors", read_all, DATA("many.safetensors")},
    {"read .gguf", read_all, DATA("some.gguf")},
    {"read .pt", read_all, DATA("state.pt")},
    {"read a set", read_all, DATA("set")},
    {"save packed .npz", save_packed, "x.npz"},
    {"save .npy", save, "x.npy"},
    {"save .npz", save, "x.npz"},
    {"save .safetensors", save, "x.safetensors"},
    {"save many .npz", save_many, "x.npz"},
    {"save many .safetensors", save_many, "x.safetensors"},
    {"read what was saved", read_back, "x.safetensors"},
};

static void each_malloc_of_the_library(void **state)
{
    (void)state;
    int64_t points = 0;
    if (!weak_malloc)
        skip();
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        OK(scenarios[i].run(scenarios[i].path)); /* what is made at first use is made */
        uint64_t whole = seen;
        for (int64_t k = 0;; k++, points++) {
            arm(k);
            tn_status status = scenarios[i].run(scenarios[i].path);
            armed = false;
            if (held)
                fail_msg("%s, malloc %d: %d blocks kept", scenarios[i].what, (int)k, (int)held);
            if (calls <= k) {
                OK(status);
                break;
            }
            /* What can be done without the memory may be done. */
            if (status == TN_OK)
                assert_int_equal(seen, whole);
            else if (status != TN_ENOMEM)
                fail_msg("%s, malloc %d: %s: %s", scenarios[i].what, (int)k,
                         tn_status_name(status), tn_error());
        }
    }
    printf("%d mallocs of the library failed\n", (int)points);
}

/* ---- the command ---- */

int tenon_main(int argc, char **argv);

static const char *const commands[] = {
    "info a.npy d.npz s.safetensors g.gguf",
    "show a.npy",
    "permute 2,0,1 a.npy -f -o x.npy",
    "rearrange a_b_c_->_(c_a)_b_r r=2 a.npy -f -o x.npz",
    "pad --before 1 --mode wrap a.npy -f -o x.npy",
    "concat -a 0 a.npy a.npy -f -o x.npy",
    "op add a.npy 1 -f -o x.npy",
    "cast f16 s.safetensors --tensors *f* -f -o x.safetensors",
    "convert d.npz:w -f -o x.npz",
    "explain permute 2,0,1 a.npy",
};

static int run_words(const char *words)
{
    static char text[256];
    char *argv[20] = {"tenon"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        for (char *p = word; (p = strchr(p, '_'));)
            *p = ' ';
        argv[argc++] = word;
    }
    return tenon_main(argc, argv);
}

static void each_malloc_of_the_command(void **state)
{
    (void)state;
    static const char *const inputs[][2] = {{"a.npy", DATA("c_f32.npy")},
                                            {"d.npz", DATA("deflated.npz")},
                                            {"g.gguf", DATA("some.gguf")},
                                            {"s.safetensors", DATA("many.safetensors")}};
    static char said[1 << 14];
    int64_t points = 0;
    if (!weak_malloc)
        skip();
    assert_int_equal(chdir(folder), 0);
    for (int i = 0; i < 4; i++) {
        size_t n;
        uint8_t *data = slurp(inputs[i][1], &n);
        spit(inputs[i][0], data, n);
        free(data);
    }
    FILE *usual_out = stdout, *usual_err = stderr;
    FILE *null = fopen("/dev/null", "wb"), *err = fmemopen(said, sizeof said, "wb");
    setvbuf(err, NULL, _IONBF, 0);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int64_t k = -1;; k++) {
            memset(said, 0, sizeof said);
            rewind(err);
            stdout = null;
            stderr = err;
            arm(k);
            int code = run_words(commands[i]);
            armed = false;
            stdout = usual_out;
            stderr = usual_err;
            if (k >= 0 && calls <= k)
                break;
            points++;
            if ((code != 0 && (code != 1 || !strstr(said, "tenon: "))) || (k > 0 && held))
                fail_msg("tenon %s, malloc %d: code %d, %d blocks kept, says %s", commands[i],
                         (int)k, code, (int)held, said);
        }
    fclose(err);
    fclose(null);
    printf("%d mallocs of the command failed\n", (int)points);
}

static int setup(void **state)
{
    static float numbers[24] = {1, 2, 3};
    return make_folder(state) || tn_init(&t, numbers, TN_F32, 2, (int64_t[]){4, 6}) ||
           tn_transpose(&t, &t, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_malloc_of_the_library),
        cmocka_unit_test(each_malloc_of_the_command),
    };
    return cmocka_run_group_tests(tests, setup, drop_folder);
}
