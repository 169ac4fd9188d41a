/* test_io_save.c - what is written is read back, whatever its dtype and strides; pipes, links
 * and modes. */
#include "io_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "io/sys.h"

static const tn_dtype all[] = {
    TN_BOOL,   TN_I8,     TN_I16, TN_I32,  TN_I64, TN_U8,  TN_U16, TN_U32,  TN_U64,
    TN_F8E4M3, TN_F8E5M2, TN_F16, TN_BF16, TN_F32, TN_F64, TN_C64, TN_C128,
};

static void every_dtype_round_trips(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof all / sizeof all[0]; k++) {
        tn_tensor t;
        make_golden(&t, all[k], 3, (int64_t[]){2, 3, 5});
        for (int s = 0; s < 3; s++) {
            if (s == 2 && all[k] == TN_C128) {
                assert_int_equal(tn_save(in_folder(suffixes[s]), &t), TN_EUNSUPPORTED);
                continue;
            }
            OK(tn_save(in_folder(suffixes[s]), &t));
            assert_holds(in_folder(suffixes[s]), &t);
        }
        tn_free(&t);
    }
    clean();
}

static void every_stride_is_written(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[4], slice[3];
        int perm[4];
        int flip, wide;
    } views[] = {
        {2, {37, 41}, {0, 37, 1}, {1, 0}, -1, 0},
        {4, {2, 9, 11, 3}, {0, 2, 1}, {0, 3, 1, 2}, 2, 0},
        {3, {64, 7, 5}, {3, 60, 3}, {2, 1, 0}, 0, 0},
        {1, {1000}, {999, -1001, -7}, {0}, -1, 0},
        {3, {5, 1, 4}, {0, 5, 2}, {1, 2, 0}, 1, 6},
        {0, {0}, {0}, {0}, -1, 9},
    };
    for (size_t k = 0; k < sizeof views / sizeof views[0]; k++) {
        tn_tensor t, v;
        make_golden(&t, TN_I32, views[k].ndim, views[k].shape);
        v = t;
        if (v.ndim) {
            OK(tn_slice(&v, &v, 0, views[k].slice[0], views[k].slice[1], views[k].slice[2]));
            OK(tn_permute(&v, &v, views[k].perm));
        }
        if (views[k].flip >= 0)
            OK(tn_flip(&v, &v, views[k].flip));
        if (views[k].wide) {
            int64_t shape[TN_MAX_NDIM] = {views[k].wide};
            memcpy(shape + 1, v.shape, (size_t)v.ndim * sizeof *shape);
            OK(tn_broadcast_to(&v, &v, v.ndim + 1, shape));
        }
        for (int s = 0; s < 3; s++) {
            OK(tn_save(in_folder(suffixes[s]), &v));
            assert_holds(in_folder(suffixes[s]), &v);
        }
        tn_free(&t);
    }
    clean();
}

/* More than one stage: 40 MB transposed. */
static void long_tensors_pass_in_stages(void **state)
{
    (void)state;
    tn_tensor t, v;
    OK(tn_alloc(&t, TN_I64, 3, (int64_t[]){3, 1277, 1301}));
    for (int64_t i = 0; i < tn_numel(&t); i++)
        ((int64_t *)t.data)[i] = i;
    OK(tn_permute(&v, &t, (int[]){2, 0, 1}));
    OK(tn_save(in_folder("x.npy"), &v));
    assert_holds(in_folder("x.npy"), &v);
    OK(tn_permute(&v, &t, (int[]){0, 2, 1}));
    OK(tn_save(in_folder("x.npz"), &v));
    assert_holds(in_folder("x.npz"), &v);
    tn_free(&t);
    clean();
}

static void empty_and_scalar(void **state)
{
    (void)state;
    static const struct {
        int ndim;
        int64_t shape[2];
    } rows[] = {{0, {0}}, {1, {0}}, {2, {0, 4}}, {2, {4, 0}}, {1, {1}}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        for (int s = 0; s < 3; s++) {
            tn_tensor t;
            make_golden(&t, TN_F32, rows[k].ndim, rows[k].shape);
            OK(tn_save(in_folder(suffixes[s]), &t));
            assert_holds(in_folder(suffixes[s]), &t);
            tn_free(&t);
        }
    clean();
}

static void many_tensors(void **state)
{
    (void)state;
    enum { N = 17 };
    tn_tensor t[N];
    const tn_tensor *ts[N];
    const char *names[N];
    for (int i = 0; i < N; i++) {
        make_golden(&t[i], all[i], 2, (int64_t[]){i, 3});
        ts[i] = &t[i];
        names[i] = tn_dtype_name(all[i]);
    }
    names[3] = "söme \"name\"\n";
    for (int s = 1; s < 3; s++) {
        int n = s == 2 ? N - 1 : N; /* .safetensors has no c128, the last */
        OK(tn_save_many(in_folder(suffixes[s]), n, names, ts,
                        s == 2 ? "{\"a\": \"b\", \"ü\": \"\"}" : NULL));
        tn_file *f = NULL;
        OK(tn_file_open(&f, in_folder(suffixes[s])));
        assert_int_equal(tn_file_count(f), n);
        for (int i = 0; i < n; i++) {
            int64_t at, offset;
            tn_tensor got;
            OK(tn_file_find(f, names[i], &at));
            const tn_status status = tn_file_map(f, at, &got);
            if (host_is_big() && tn_dtype_size(all[i]) > 1) {
                assert_int_equal(status, TN_EUNSUPPORTED);
                OK(tn_file_read(f, at, &got));
            } else {
                assert_int_equal(status, TN_OK);
            }
            assert_same_elements(&got, ts[i]);
            if (status != TN_OK)
                tn_free(&got);
            OK(tn_file_info(f, at, NULL, NULL, &offset));
            int64_t align = s == 1 ? 64 : (int64_t)tn_dtype_size(all[i]);
            assert_int_equal(offset % align, 0);
        }
        if (s == 2)
            assert_string_equal(tn_file_metadata(f), "{\"a\":\"b\",\"ü\":\"\"}");
        tn_file_close(f);
    }
    for (int i = 0; i < N; i++)
        tn_free(&t[i]);
    OK(tn_save_many(in_folder("x.npz"), 0, NULL, NULL, NULL));
    tn_writer *w = NULL;
    OK(tn_writer_open(&w, in_folder("x.safetensors"), 0, NULL, NULL, NULL));
    OK(tn_writer_commit(w));
    tn_file *f = NULL;
    OK(tn_file_open(&f, in_folder("x.npz")));
    assert_int_equal(tn_file_count(f), 0);
    tn_file_close(f);
    OK(tn_file_open(&f, in_folder("x.safetensors")));
    assert_int_equal(tn_file_count(f), 0);
    tn_file_close(f);
    clean();
}

/* Bytes of a file; 0 when there is none. */
static size_t bytes_of(const char *path, char *bytes, size_t room)
{
    FILE *f = fopen(path, "rb");
    const size_t n = f ? fread(bytes, 1, room, f) : 0;
    if (f)
        fclose(f);
    return n;
}

/* What NumPy wrote on another machine is what is written here, byte for byte. */
static void golden_files_are_written(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        tn_dtype dtype;
    } golden[] = {{DATA("c_bool.npy"), TN_BOOL}, {DATA("c_i16.npy"), TN_I16},
                  {DATA("c_u32.npy"), TN_U32},   {DATA("c_i64.npy"), TN_I64},
                  {DATA("c_f16.npy"), TN_F16},   {DATA("c_f32.npy"), TN_F32},
                  {DATA("c_f64.npy"), TN_F64},   {DATA("c_c128.npy"), TN_C128}};
    for (size_t k = 0; k < sizeof golden / sizeof *golden; k++) {
        char want[4096], got[4096];
        tn_tensor t;
        make_golden(&t, golden[k].dtype, 3, (int64_t[]){2, 3, 5});
        OK(tn_save(in_folder("x.npy"), &t));
        const size_t n = bytes_of(golden[k].path, want, sizeof want);
        assert_true(n > 128);
        assert_int_equal(bytes_of(in_folder("x.npy"), got, sizeof got), n);
        assert_memory_equal(got, want, n);
        tn_free(&t);
    }
    /* a safetensors file, whose bytes are summed */
    char bytes[4096];
    uint32_t sum = 1;
    tn_tensor a, b;
    make_golden(&a, TN_F32, 2, (int64_t[]){3, 5});
    make_golden(&b, TN_I16, 1, (int64_t[]){7});
    OK(tn_save_many(in_folder("x.safetensors"), 2, (const char *const[]){"a", "b"},
                    (const tn_tensor *const[]){&a, &b}, NULL));
    const size_t n = bytes_of(in_folder("x.safetensors"), bytes, sizeof bytes);
    for (size_t i = 0; i < n; i++)
        sum = sum * 31 + (uint8_t)bytes[i];
    assert_int_equal(sum, 0x1592336e);
    tn_free(&a);
    tn_free(&b);
    clean();
}

static void arguments_are_checked(void **state)
{
    (void)state;
    float x[2] = {1, 2};
    tn_tensor t, none, wrong;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){2}));
    OK(tn_init(&none, NULL, TN_F32, 1, (int64_t[]){2}));
    wrong = t;
    wrong.dtype = (tn_dtype)99;
    const tn_tensor *two[] = {&t, &t};
    const char *same[] = {"a", "a"}, *meta[] = {"a", "__metadata__"}, *bad[] = {"a", "\xff"};
    const char *holes[] = {"a", NULL};
    assert_int_equal(tn_save(NULL, &t), TN_ENULL);
    assert_int_equal(tn_save(in_folder("x.npy"), NULL), TN_ENULL);
    assert_int_equal(tn_save(in_folder("x.npy"), &none), TN_ENULL);
    assert_int_equal(tn_save(in_folder("x.npy"), &wrong), TN_EDTYPE);
    assert_int_equal(tn_save(in_folder("x.txt"), &t), TN_EUNSUPPORTED);
    assert_int_equal(tn_save(in_folder("x.pt"), &t), TN_EUNSUPPORTED);
    assert_int_equal(tn_save(in_folder("no/x.npy"), &t), TN_EIO);
    assert_int_equal(tn_save_many(in_folder("x.npz"), 2, same, two, NULL), TN_EARG);
    assert_int_equal(tn_save_many(in_folder("x.npz"), -1, same, two, NULL), TN_EARG);
    assert_int_equal(tn_save_many(in_folder("x.npz"), 2, holes, two, NULL), TN_ENULL);
    assert_int_equal(tn_save_many(in_folder("x.npy"), 2, same, two, NULL), TN_EUNSUPPORTED);
    assert_int_equal(tn_save_many(in_folder("x.safetensors"), 2, same, two, NULL), TN_EARG);
    assert_int_equal(tn_save_many(in_folder("x.safetensors"), 2, meta, two, NULL), TN_EARG);
    assert_int_equal(tn_save_many(in_folder("x.safetensors"), 2, bad, two, NULL), TN_EARG);
    static const char *const broken[] = {"{", "[]", "{} x", "{\"a\": 1}",
                                         "{\"a\":\"b\",\"a\":\"c\"}"};
    for (int i = 0; i < 5; i++)
        assert_int_equal(tn_save_many(in_folder("x.safetensors"), 1, same, two, broken[i]),
                         TN_EFORMAT);
    assert_int_equal(files_in_folder(), 0);
    mkdir(in_folder("d.npy"), 0700);
    assert_int_equal(tn_save(in_folder("d.npy"), &t), TN_EIO);
    rmdir(in_folder("d.npy"));
}

/* Names in .safetensors are UTF-8 in its shortest form. */
static void names_are_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tn_status status;
    } rows[] = {
        {"plain", TN_OK},
        {"\xc2\x80", TN_OK},
        {"\xdf\xbf", TN_OK},
        {"\xe0\xa0\x80", TN_OK},
        {"\xed\x9f\xbf", TN_OK},
        {"\xee\x80\x80", TN_OK},
        {"\xef\xbf\xbf", TN_OK},
        {"\xf0\x90\x80\x80", TN_OK},
        {"\xf4\x8f\xbf\xbf", TN_OK},
        {"\x80", TN_EARG},
        {"\xc1\xbf", TN_EARG},
        {"\xc2", TN_EARG},
        {"\xc2z", TN_EARG},
        {"\xe0\x9f\xbf", TN_EARG},
        {"\xed\xa0\x80", TN_EARG},
        {"\xe1\x80", TN_EARG},
        {"\xf0\x8f\xbf\xbf", TN_EARG},
        {"\xf4\x90\x80\x80", TN_EARG},
        {"\xf5\x80\x80\x80", TN_EARG},
        {"\xf9\x80\x80\x80", TN_EARG},
        {"\xff", TN_EARG},
    };
    float x = 1;
    tn_tensor t;
    OK(tn_init(&t, &x, TN_F32, 0, NULL));
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_status got = tn_save_many(in_folder("x.safetensors"), 1, &rows[k].name,
                                     (const tn_tensor *[]){&t}, NULL);
        if (got != rows[k].status)
            fail_msg("row %d: %s: %s", (int)k, tn_status_name(got), tn_error());
    }
    clean();
}

static void pieces_are_counted(void **state)
{
    (void)state;
    tn_tensor t, v;
    tn_writer *w = NULL;
    make_golden(&t, TN_I16, 2, (int64_t[]){6, 4});
    const tn_tensor *ts = &t;
    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, &ts, NULL));
    OK(tn_slice(&v, &t, 0, 0, 4, 1));
    OK(tn_writer_put(w, &v));
    assert_int_equal(tn_writer_put(w, &t), TN_EARG);
    assert_int_equal(files_in_folder(), 0);
    OK(tn_slice(&v, &t, 0, 4, 6, 1));
    v.dtype = TN_U16;
    assert_int_equal(tn_writer_put(w, &v), TN_EDTYPE);
    v.dtype = TN_I16;
    OK(tn_writer_put(w, &v));
    assert_int_equal(tn_writer_put(w, &v), TN_EARG);
    OK(tn_writer_commit(w));
    assert_holds(in_folder("x.npy"), &t);
    clean();

    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, &ts, NULL));
    OK(tn_writer_put(w, &v));
    assert_int_equal(tn_writer_commit(w), TN_EARG);
    assert_int_equal(files_in_folder(), 0);
    OK(tn_writer_open(&w, in_folder("x.npz"), 1, NULL, &ts, NULL));
    OK(tn_writer_put(w, &v));
    tn_writer_abort(w);
    tn_writer_abort(NULL);
    assert_int_equal(files_in_folder(), 0);

    OK(tn_writer_open(&w, in_folder("x.npy"), 1, NULL, &ts, NULL)); /* all but one, and that */
    OK(tn_reshape(&v, &t, 1, (int64_t[]){24}));
    OK(tn_slice(&v, &v, 0, 0, 23, 1));
    OK(tn_writer_put(w, &v));
    OK(tn_reshape(&v, &t, 1, (int64_t[]){24}));
    OK(tn_slice(&v, &v, 0, 23, 24, 1));
    OK(tn_writer_put(w, &v));
    OK(tn_writer_commit(w));
    assert_holds(in_folder("x.npy"), &t);
    clean();

    tn_write_options options = {.align = 64};
    OK(tn_writer_open(&w, in_folder("x.safetensors"), 1, NULL, &ts, &options));
    OK(tn_writer_put(w, &t));
    OK(tn_writer_commit(w));
    tn_file *f = NULL;
    int64_t offset;
    OK(tn_file_open(&f, in_folder("x.safetensors")));
    OK(tn_file_info(f, 0, NULL, NULL, &offset));
    assert_int_equal(offset % 64, 0);
    assert_string_equal(tn_file_name(f, 0), "tensor");
    tn_file_close(f);
    tn_free(&t);
    clean();
}

static void writers_check_too(void **state)
{
    (void)state;
    float x[4] = {0};
    tn_tensor t, none;
    tn_writer *w = NULL;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){4}));
    OK(tn_init(&none, NULL, TN_F32, 1, (int64_t[]){4}));
    const tn_tensor *ts[] = {&t, &t}, *holes[] = {&t, NULL};
    const char *names[] = {"a", "b"}, *long_name[] = {NULL, "b"};
    char huge[5000];
    memset(huge, 'n', sizeof huge);
    huge[sizeof huge - 1] = 0;
    long_name[0] = huge;
    const char *path = "x.npz";
    assert_int_equal(tn_writer_open(NULL, path, 1, names, ts, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, NULL, 1, names, ts, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, -1, names, ts, NULL), TN_EARG);
    assert_int_equal(tn_writer_open(&w, path, 2, NULL, ts, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, 1, names, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, 2, names, holes, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, 1, names, holes + 1, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, 1, (const char *[]){NULL}, ts, NULL), TN_ENULL);
    assert_int_equal(tn_writer_open_fd(&w, 1, "-", NULL), TN_ENULL);
    assert_int_equal(tn_writer_open(&w, path, 1, names, ts, &(tn_write_options){.align = -1}),
                     TN_EARG);
    assert_int_equal(tn_writer_open(&w, in_folder(path), 2, long_name, ts, NULL), TN_EARG);
    assert_int_equal(tn_writer_open_fd(NULL, 1, "-", &t), TN_ENULL);
    assert_int_equal(tn_writer_open_fd(&w, 1, NULL, &t), TN_ENULL);
    assert_int_equal(tn_writer_open_fd(&w, -1, "nothing", &t), TN_EIO);
    assert_int_equal(tn_writer_put(NULL, &t), TN_ENULL);
    assert_int_equal(tn_writer_commit(NULL), TN_ENULL);
    assert_int_equal(tn_save_many(NULL, 1, names, ts, NULL), TN_ENULL);
    assert_int_equal(tn_save_many(path, 1, NULL, ts, NULL), TN_ENULL);
    assert_int_equal(tn_save_many(path, 1, names, NULL, NULL), TN_ENULL);
    assert_null(w);

    OK(tn_writer_open(&w, in_folder(path), 1, names, ts, &(tn_write_options){.no_sync = 1}));
    assert_int_equal(tn_writer_put(w, NULL), TN_ENULL);
    assert_int_equal(tn_writer_put(w, &none), TN_ENULL);
    OK(tn_writer_put(w, &t));
    OK(tn_writer_commit(w));
    assert_holds(in_folder(path), &t);
    clean();
}

static void a_pipe_takes_npy(void **state)
{
    (void)state;
    tn_tensor t, v;
    tn_writer *w = NULL;
    make_golden(&t, TN_F64, 2, (int64_t[]){5, 7});
    OK(tn_transpose(&v, &t, 0, 1));
    int fd = open(in_folder("x.npy"), O_RDWR | O_CREAT, 0600);
    OK(tn_writer_open_fd(&w, fd, "-", &v));
    OK(tn_writer_put(w, &v));
    OK(tn_writer_commit(w));
    tn_file *f = NULL;
    tn_tensor got;
    OK(tn_file_open_fd(&f, fd, "-"));
    OK(tn_file_read(f, 0, &got));
    assert_same_elements(&got, &v);
    tn_file_close(f);
    close(fd);
    tn_free(&got);
    tn_free(&t);
    clean();
}

static void links_and_modes_stay(void **state)
{
    (void)state;
    tn_tensor t;
    struct stat s;
    make_golden(&t, TN_F32, 1, (int64_t[]){3});
    OK(tn_save(in_folder("x.npy"), &t));
    chmod(in_folder("x.npy"), 0640);
    assert_int_equal(symlink("x.npy", in_folder("l.npy")), 0);
    OK(tn_save(in_folder("l.npy"), &t));
    lstat(in_folder("l.npy"), &s);
    assert_true(S_ISLNK(s.st_mode));
    lstat(in_folder("x.npy"), &s);
    assert_int_equal(s.st_mode & 0777, 0640);
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(symlink("pipe", in_folder("n.npy")), 0);
    assert_int_equal(tn_save(in_folder("n.npy"), &t), TN_EIO);
    tn_free(&t);
    clean();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype_round_trips),
        cmocka_unit_test(every_stride_is_written),
        cmocka_unit_test(long_tensors_pass_in_stages),
        cmocka_unit_test(empty_and_scalar),
        cmocka_unit_test(many_tensors),
        cmocka_unit_test(golden_files_are_written),
        cmocka_unit_test(arguments_are_checked),
        cmocka_unit_test(names_are_utf8),
        cmocka_unit_test(pieces_are_counted),
        cmocka_unit_test(writers_check_too),
        cmocka_unit_test(a_pipe_takes_npy),
        cmocka_unit_test(links_and_modes_stay),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
