/* test_faults_command.c - the k-th system call of the command fails, for every k: the old file
 * or the whole new one is there, nothing besides, no descriptor is kept, and the exit code is 1
 * with one line. */
#include "io_gates.h"

#include <limits.h>
#include <tenon/contract.h>

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
    {"convert a.npy -f -o x.gguf", "x.gguf", false},
    {"drop t.q8 g.gguf -f -o x.gguf", "x.gguf", false},
    {"select w b z.npz --kv g.gguf -f -o x.gguf", "x.gguf", false},
    {"merge a.npy z.npz -f -o x.safetensors", "x.safetensors", false},
    {"rename w=v z.npz -f -o x.npz", "x.npz", false},
    {"report a.npy d.npz g.gguf -f -o x.html", "x.html", false},
    {"show --image x.png i.npy -f", "x.png", false},
    {"rename --rules r.txt z.npz -f -o x.npz", "x.npz", false},
    {"stats a.npy z.npz g.gguf", NULL, false},
    {"reduce sum a.npy", NULL, false},
    {"reduce var -a 0,2 --keep a.npy -f -o x.npy", "x.npy", false},
    {"reduce max a_b_c_->_a_c a.npy -f -o x.safetensors", "x.safetensors", false},
    {"scan cumsum -a 1 a.npy -f -o x.npy", "x.npy", false},
    {"sort -a 2 --descending a.npy -f -o x.npy", "x.npy", false},
    {"sort -a 0 --indices d.npz:w -f -o x.npz", "x.npz", false},
    {"sort -a 0 --max-mem 10k l.npy -f -o x.npy", "x.npy", false}, /* by a temporary file */
    {"take -a 1 k.npy a.npy -f -o x.npy", "x.npy", false},
    {"eval x_*_2_+_1 x=a.npy -f -o x.npy", "x.npy", false},
    {"diff a.npy a.npy", NULL, false},
    {"diff --rules r.txt z.npz z.npz", NULL, false},
    {"concat -a 0 a.npy a.npy -f -o x.npy", "x.npy", false},
    {"op add a.npy 1 -f -o x.npy", "x.npy", false},
    {"pad --before 1 --mode wrap a.npy -f -o x.npy", "x.npy", false},
    {"einsum ijk,ljk->il a.npy a.npy -f -o x.npy", "x.npy", false},
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
    if (code != 0 && strstr(said, "no libpng")) {
        print_message("not run: libpng\n");
        return 0;
    }
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
        const int bad = !strncmp(commands[i].words, "diff", 4) ? 2 : 1; /* 1 is "they differ" */
        /* info goes on with the next file and says why for each that it cannot open. */
        bool clean = code == 0     ? said_n == 0
                     : code == bad ? !strncmp(said, "tenon: ", 7) && line && !line[1]
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
    tn_tensor image;
    make_golden(&image, TN_F32, 2, (int64_t[]){4, 5});
    OK(tn_save("i.npy", &image));
    tn_free(&image);
    int64_t places[] = {1, -1, 0};
    OK(tn_init(&image, places, TN_I64, 1, (int64_t[]){3}));
    OK(tn_save("k.npy", &image));
    OK(tn_alloc(&image, TN_F32, 1, (int64_t[]){3000}));
    OK(tn_randn(&image, 1));
    OK(tn_save("l.npy", &image));
    tn_free(&image);
    spit("r.txt", "** -> =\n", 8);
    assert_non_null(freopen("a.npy", "rb", stdin));
    out = fopen("out", "wb");
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++)
        for (int way = 0; way < 4; way++) {
            no_tmpfile = way >= 2;
            if (commands[i].makes || !no_tmpfile)
                points += fail_each_of(i, troubles[way % 2], INPUTS + 4);
        }
    no_tmpfile = false;
    fclose(out);
    free(said);
    printf("%d system calls of the command failed\n", points);
    assert_true(points > 400);
    for (int i = 0; i < INPUTS; i++)
        unlink(inputs[i][0]);
    unlink("i.npy");
    unlink("k.npy");
    unlink("l.npy");
    unlink("r.txt");
}

static int setup(void **state)
{
    (void)tn_blas(); /* what it loads, perhaps libstdc++, flushes the stdout of now at exit */
    strcpy(folder, "/dev/shm/tenon-test-XXXXXX"); /* quick, where it is there */
    return (!mkdtemp(folder) && make_folder(state)) || chdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_system_call_of_the_command),
    };
    return cmocka_run_group_tests(tests, setup, drop_folder);
}
