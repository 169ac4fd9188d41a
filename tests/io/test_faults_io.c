/* test_faults_io.c - the k-th system call fails, for every k, in the library and in the
 * command: the old file or the whole new one is there, nothing besides, no descriptor is kept,
 * and the failure is TN_EIO with its reason, or exit code 1 with one line. */
#include "io_gates.h"
#include "io_oracle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "io/sys.h"

/* ---- what is looked at after a call ---- */

static int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 64; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static int files(void)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static bool holds(const char *path, const uint8_t *want, size_t n)
{
    size_t got_n;
    uint8_t *got = slurp(path, &got_n);
    bool same = got_n == n && !memcmp(got, want, n);
    free(got);
    return same;
}

static const int troubles[] = {EIO, ENOSPC, EINTR};

/* ---- the library ---- */

static tn_tensor t;

static tn_status read_all(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    for (int64_t i = 0; status == TN_OK && i < tn_file_count(f); i++) {
        tn_tensor got, m, places, dst;
        if (tn_file_info(f, i, NULL, &got, NULL) == TN_EUNSUPPORTED)
            continue;
        status = tn_file_read(f, i, &got);
        if (status != TN_OK)
            break;
        status = tn_file_map(f, i, &m);
        if (status == TN_EUNSUPPORTED)
            status = TN_OK;
        if (status == TN_OK)
            status = tn_file_places(f, i, &places);
        if (status == TN_OK) {
            OK(tn_alloc(&dst, got.dtype, got.ndim, got.shape));
            status = tn_file_fetch(f, i, &dst, &places);
            tn_free(&dst);
        } else if (status == TN_EUNSUPPORTED) {
            status = TN_OK;
        }
        tn_free(&got);
    }
    tn_file_close(f);
    return status;
}

static tn_status save(const char *path)
{
    return tn_save(path, &t);
}

static tn_status save_many(const char *path)
{
    return tn_save_many(path, 2, (const char *[]){"a", "b"}, (const tn_tensor *[]){&t, &t},
                        NULL);
}

static int data_fd = -1, null_fd = -1; /* a file to read, a place to write */

static tn_status read_descriptor(const char *path)
{
    tn_file *f = NULL;
    tn_tensor got;
    tn_status status = tn_file_open_fd(&f, data_fd, path);
    if (status == TN_OK)
        status = tn_file_read(f, 0, &got);
    if (status == TN_OK)
        tn_free(&got);
    tn_file_close(f);
    return status;
}

static tn_status write_descriptor(const char *path)
{
    tn_writer *w = NULL;
    tn_status status = tn_writer_open_fd(&w, null_fd, path, &t);
    if (status == TN_OK)
        status = tn_writer_put(w, &t);
    if (status == TN_OK)
        return tn_writer_commit(w);
    tn_writer_abort(w);
    return status;
}

static tn_status unpack(const char *path)
{
    tn_file *f = NULL;
    tn_status status = tn_file_open(&f, path);
    if (status == TN_OK)
        status = tn_file_unpack(f, 0, null_fd);
    tn_file_close(f);
    return status;
}

static const struct scenario {
    const char *what;
    tn_status (*run)(const char *path);
    const char *path;
    bool writes;
} scenarios[] = {
    {"read .npy", read_all, DATA("be_f64.npy"), false},
    {"read stored .npz", read_all, DATA("stored.npz"), false},
    {"read deflated .npz", read_all, DATA("deflated.npz"), false},
    {"read .safetensors", read_all, DATA("many.safetensors"), false},
    {"read .gguf", read_all, DATA("some.gguf"), false},
    {"read a descriptor", read_descriptor, "x", false},
    {"write a descriptor", write_descriptor, "x", false},
    {"unpack", unpack, DATA("deflated.npz"), false},
    {"save .npy", save, "x.npy", true},
    {"save .npz", save, "x.npz", true},
    {"save .safetensors", save, "x.safetensors", true},
    {"save many .npz", save_many, "x.npz", true},
    {"save many .safetensors", save_many, "x.safetensors", true},
};

static void put_old(const char *path)
{
    spit(path, "old", 3);
    chmod(path, 0640);
}

/* The file after a call that gave status; want is the new one. */
static void check_written(const struct scenario *s, bool done, const uint8_t *want, size_t n)
{
    bool new = holds(s->path, want, n), old = holds(s->path, (const uint8_t *)"old", 3);
    if (files() != 1 || !(done ? new : renamed ? new : old))
        fail_msg("%s: %s fails: %s, %d files, the file is %s", s->what, failed ? failed : "-",
                 done ? "done" : "refused", files(),
                 old   ? "old"
                 : new ? "new"
                       : "torn");
}

static int fail_each(const struct scenario *s, int error)
{
    uint8_t *want = NULL;
    size_t n = 0;
    if (s->writes) {
        OK(s->run(s->path));
        want = slurp(s->path, &n);
    }
    int k = 0;
    for (bool reached = true; reached; k++) {
        if (s->writes)
            put_old(s->path);
        int before = open_fds();
        arm(k, error);
        tn_status status = s->run(s->path);
        armed = false;
        reached = calls > k;
        if (status != TN_OK && (status != TN_EIO || !reached || !*tn_error()))
            fail_msg("%s: %s: %s", s->what, tn_status_name(status), tn_error());
        if (status != TN_OK && !strstr(tn_error(), strerror(error)))
            fail_msg("%s: %s fails: the reason is not said: %s", s->what, failed, tn_error());
        if (status == TN_OK && failed && error != EINTR && strcmp(failed, "close") != 0)
            fail_msg("%s: %s fails, and nothing reports it", s->what, failed);
        assert_int_equal(open_fds(), before);
        if (s->writes)
            check_written(s, status == TN_OK, want, n);
    }
    if (s->writes)
        unlink(s->path);
    free(want);
    return k - 1;
}

static void each_system_call_of_the_library(void **state)
{
    (void)state;
    int points = 0;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        for (int way = 0; way < 6; way++) {
            no_nameless = way >= 3;
            if (scenarios[i].writes || !no_nameless)
                points += fail_each(&scenarios[i], troubles[way % 3]);
        }
    no_nameless = false;
    printf("%d system calls of the library failed\n", points);
    assert_true(points > 400);
}

/* Cut, every transfer goes on; so does one that is interrupted. */
static void interrupted_and_short(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        const struct scenario *s = &scenarios[i];
        uint8_t *want = NULL;
        size_t n = 0;
        OK(s->run(s->path));
        if (s->writes)
            want = slurp(s->path, &n);
        for (int k = 0, reached = 1; reached; k++) {
            short_transfers = true;
            arm(k, EINTR);
            tn_status status = s->run(s->path);
            armed = short_transfers = false;
            reached = calls > k;
            if (!failed || strstr("pread64 pwrite64 write", failed))
                OK(status);
            if (s->writes && status == TN_OK && !holds(s->path, want, n))
                fail_msg("%s: not the bytes of whole transfers", s->what);
            if (s->writes)
                unlink(s->path);
        }
        free(want);
    }
}

/* A pipe in the way is never replaced, also when the system does not say what it is. */
static void what_cannot_be_looked_at_stays(void **state)
{
    (void)state;
    struct stat s;
    for (int k = 0, reached = 1; reached; k++) {
        assert_int_equal(mkfifo("x.npy", 0600), 0);
        arm(k, EIO);
        tn_status status = tn_save("x.npy", &t);
        armed = false;
        reached = calls > k;
        assert_int_equal(status, TN_EIO);
        assert_true(lstat("x.npy", &s) == 0 && S_ISFIFO(s.st_mode));
        assert_int_equal(files(), 1);
        unlink("x.npy");
    }
}

/* A name for the new file that is taken is tried no more than some times. */
static void names_that_are_taken(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        no_nameless = named;
        always = named ? "create" : "linkat";
        arm(-1, EEXIST);
        assert_int_equal(tn_save("x.npy", &t), TN_EIO);
        armed = false;
        assert_non_null(strstr(tn_error(), strerror(EEXIST)));
        assert_true(calls > 50);
        assert_int_equal(files(), 0);
        always = NULL;
        for (int k = 0, reached = 1; reached; k++) { /* the next name is free */
            arm(k, EEXIST);
            tn_status status = tn_save("x.npy", &t);
            armed = false;
            reached = calls > k;
            if (!failed || !strcmp(failed, named ? "create" : "linkat"))
                OK(status);
            unlink("x.npy");
        }
    }
    no_nameless = false;
}

/* A folder that cannot be synced holds the new file all the same. */
static void folders_that_cannot_be_synced(void **state)
{
    (void)state;
    int bad = 0;
    for (int k = 0, reached = 1; reached; k++) {
        arm(k, EINVAL);
        tn_status status = tn_save("x.npy", &t);
        armed = false;
        reached = calls > k;
        if (failed && !strcmp(failed, "fsync") && renamed) {
            OK(status);
            bad++;
        }
        unlink("x.npy");
    }
    assert_int_equal(bad, 1);
}

/* The name fits, that of a named temporary file beside it does not. */
static void long_names_without_nameless_files(void **state)
{
    (void)state;
    char path[PATH_MAX];
    for (size_t i = 0; i < PATH_MAX - 8; i++)
        path[i] = i % 2 ? '/' : '.';
    strcpy(path + PATH_MAX - 8, "/xx.npy");
    no_nameless = true;
    arm(-1, 0);
    assert_int_equal(tn_save(path, &t), TN_EIO);
    armed = no_nameless = false;
    assert_non_null(strstr(tn_error(), strerror(ENAMETOOLONG)));
    assert_int_equal(files(), 0);
}

/* A link that leads to what cannot be looked at. */
static void links_to_what_cannot_be_looked_at(void **state)
{
    (void)state;
    spit("real.npy", "old", 3);
    assert_int_equal(symlink("real.npy", "x.npy"), 0);
    always = "stat64";
    arm(-1, EIO);
    assert_int_equal(tn_save("x.npy", &t), TN_EIO);
    armed = false;
    always = NULL;
    assert_true(holds("real.npy", (const uint8_t *)"old", 3));
    unlink("x.npy");
    unlink("real.npy");
}

static int hooked(const char *call, size_t *n)
{
    (void)n;
    return strcmp(call, "close") ? 0 : ENOSPC;
}

/* The first reason is reported; a read of more than the system takes at a time goes on. */
static void ends_of_files(void **state)
{
    (void)state;
    size_t got = 0;
    char place; /* nothing is put there */
    int fd = __real_open64(DATA("c_u8.npy"), O_RDONLY, 0);
    assert_int_equal(tni_sys_pread(fd, &place, (size_t)3 << 29, 0, &got), 0);
    assert_int_equal(got, (size_t)3 << 29);
    tni_sys_hook = hooked;
    arm(0, EIO);
    assert_int_equal(tni_sys_close(fd), ENOSPC);
    armed = false;
    tni_sys_hook = NULL;
}

/* ---- the command ---- */

int tenon_main(int argc, char **argv);

static const struct {
    const char *words; /* split at blanks; _ is one in a word */
    const char *makes; /* or NULL */
    bool piped;        /* standard input is a pipe; then it stays one */
} commands[] = {
    {"info a.npy z.npz d.npz s.safetensors g.gguf", NULL, false},
    {"show a.npy b.npy", NULL, false},
    {"show d.npz:w", NULL, false},
    {"permute 2,0,1 a.npy -f -o x.npy", "x.npy", false},
    {"permute 2,0,1 a.npy -f -o x.npz:n", "x.npz", false},
    {"slice [:,_0] b.npy -f -o x.safetensors", "x.safetensors", false},
    {"rearrange a_b_c_->_(c_a)_b a.npy -f -o x.npy", "x.npy", false},
    {"cast f16 s.safetensors --tensors *f* -f -o x.safetensors", "x.safetensors", false},
    {"convert d.npz:w -f -o x.npz", "x.npz", false},
    {"convert z.npz -f -o x.safetensors", "x.safetensors", false},
    {"convert g.gguf:t.f32 -f -o x.npy", "x.npy", false},
    {"concat -a 0 a.npy a.npy -f -o x.npy", "x.npy", false},
    {"op add a.npy 1 -f -o x.npy", "x.npy", false},
    {"pad --before 1 --mode wrap a.npy -f -o x.npy", "x.npy", false},
    {"permute 2,0,1 - -f -o x.npy", "x.npy", false},
    {"permute 2,0,1 a.npy -o -", NULL, false},
    {"permute 2,0,1 - -f -o x.npy", "x.npy", true},
};

static int run_words(const char *words)
{
    char text[256], *argv[20] = {"tenon"};
    int argc = 1;
    snprintf(text, sizeof text, "%s", words);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        for (char *p = word; (p = strchr(p, '_'));)
            *p = ' ';
        argv[argc++] = word;
    }
    return tenon_main(argc, argv);
}

static FILE *out, *err;
static char *said;
static size_t said_n;

/* A pipe that holds a file, as standard input. */
static void pipe_in(const char *path)
{
    int ends[2];
    size_t n;
    uint8_t *data = slurp(path, &n);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], data, n), n);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    free(data);
}

/* Run with call k failing, what it says caught. */
static int run_failing(size_t i, int k, int error)
{
    FILE *usual_out = stdout, *usual_err = stderr;
    int own = dup(STDOUT_FILENO);
    dup2(fileno(out), STDOUT_FILENO);
    if (commands[i].piped)
        pipe_in("a.npy");
    else
        lseek(STDIN_FILENO, 0, SEEK_SET);
    free(said);
    err = open_memstream(&said, &said_n);
    stdout = out;
    stderr = err;
    arm(k, error);
    int code = run_words(commands[i].words);
    armed = false;
    fflush(out);
    fclose(err);
    stdout = usual_out;
    stderr = usual_err;
    dup2(own, STDOUT_FILENO);
    close(own);
    return code;
}

static int fail_each_of(size_t i, int error, int base)
{
    uint8_t *want = NULL;
    size_t n = 0;
    const char *makes = commands[i].makes;
    int code = run_failing(i, -1, 0), k = 0;
    if (code != 0)
        fail_msg("tenon %s: %s", commands[i].words, said);
    if (makes)
        want = slurp(makes, &n);
    for (bool reached = true; reached; k++) {
        if (makes)
            put_old(makes);
        int before = open_fds();
        code = run_failing(i, k, error);
        reached = calls > k;
        char *line = strchr(said, '\n');
        /* info goes on with the next file and says why for each that it cannot open. */
        bool clean = code == 0   ? said_n == 0
                     : code == 1 ? !strncmp(said, "tenon: ", 7) && line && !line[1]
                                 : false;
        bool kept = open_fds() != before;
        bool sound = !makes || (holds(makes, want, n)
                                    ? code == 0 || renamed
                                    : code == 1 && holds(makes, (const uint8_t *)"old", 3));
        if (!clean || kept || !sound || files() != base + !!makes || (code && !reached))
            fail_msg("tenon %s: %s fails: code %d, %s, %d files, descriptor %s, says %s",
                     commands[i].words, failed ? failed : "nothing", code,
                     sound ? "sound" : "TORN", files() - base, kept ? "kept" : "closed", said);
    }
    if (makes)
        unlink(makes);
    free(want);
    return k - 1;
}

static void each_system_call_of_the_command(void **state)
{
    (void)state;
    static const char *const inputs[][2] = {
        {"a.npy", DATA("c_f32.npy")},  {"b.npy", DATA("be_f64.npy")},
        {"z.npz", DATA("stored.npz")}, {"d.npz", DATA("deflated.npz")},
        {"g.gguf", DATA("some.gguf")}, {"s.safetensors", DATA("many.safetensors")},
        {"out", DATA("scalar.npy")},
    };
    enum { INPUTS = sizeof inputs / sizeof inputs[0] };
    int points = 0;
    for (int i = 0; i < INPUTS; i++) {
        size_t n;
        uint8_t *data = slurp(inputs[i][1], &n);
        spit(inputs[i][0], data, n);
        free(data);
    }
    assert_non_null(freopen("a.npy", "rb", stdin));
    out = fopen("out", "wb");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int way = 0; way < 4; way++) {
            no_nameless = way >= 2;
            if (commands[i].makes || !no_nameless)
                points += fail_each_of(i, troubles[way % 2], INPUTS);
        }
    no_nameless = false;
    fclose(out);
    free(said);
    printf("%d system calls of the command failed\n", points);
    assert_true(points > 400);
    for (int i = 0; i < INPUTS; i++)
        unlink(inputs[i][0]);
}

static int setup(void **state)
{
    static float numbers[24] = {1, 2, 3};
    strcpy(folder, "/dev/shm/tenon-test-XXXXXX"); /* quick, where it is there */
    data_fd = open(DATA("be_f64.npy"), O_RDONLY);
    null_fd = open("/dev/null", O_WRONLY);
    return (!mkdtemp(folder) && make_folder(state)) || chdir(folder) ||
           tn_init(&t, numbers, TN_F32, 2, (int64_t[]){4, 6}) || tn_transpose(&t, &t, 0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_system_call_of_the_library),
        cmocka_unit_test(interrupted_and_short),
        cmocka_unit_test(what_cannot_be_looked_at_stays),
        cmocka_unit_test(names_that_are_taken),
        cmocka_unit_test(folders_that_cannot_be_synced),
        cmocka_unit_test(long_names_without_nameless_files),
        cmocka_unit_test(links_to_what_cannot_be_looked_at),
        cmocka_unit_test(ends_of_files),
        cmocka_unit_test(each_system_call_of_the_command),
    };
    return cmocka_run_group_tests(tests, setup, drop_folder);
}
