/* fuzz_cli.c - bytes as the words of a command line, one on each line, run in a folder with a
 * few small files.
 *
 * The command ends with 0, 1 or 2, says why unless it is 0, gives back every descriptor, and
 * leaves no temporary file.  What it writes is cut at a megabyte by the system; no word has a
 * slash, so that nothing leaves the folder. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "fuzz.h"

enum { MOST_WORDS = 14, MOST_TEXT = 500, MOST_WRITTEN = 1 << 20 };

/* What is in the folder, under short names. */
static struct {
    const char *name, *from;
    uint8_t *data;
    size_t size;
    ino_t inode;
} files[] = {
    {.name = "a.npy", .from = "c_f32.npy"},
    {.name = "b.npy", .from = "be_f64.npy"},
    {.name = "u.npy", .from = "f_u8.npy"},
    {.name = "e.npy", .from = "empty.npy"},
    {.name = "o.npy", .from = "x_object.npy"},
    {.name = "0.npy", .from = "scalar.npy"},
    {.name = "d.npz", .from = "deflated.npz"},
    {.name = "z.npz", .from = "stored.npz"},
    {.name = "g.gguf", .from = "some.gguf"},
    {.name = "s.safetensors", .from = "many.safetensors"},
};

enum { FILES = sizeof files / sizeof *files };

static char in_memory[] = "/dev/shm/tenon-fuzz-XXXXXX", on_disk[] = "/tmp/tenon-fuzz-XXXXXX";
static const char *folder;
static int out_fd = -1, err_fd = -1;
static FILE *out, *err;

static void load(int i)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", FUZZ_DATA, files[i].from);
    FILE *f = fopen(path, "rb");
    MUST(f && fseek(f, 0, SEEK_END) == 0);
    files[i].size = (size_t)ftell(f);
    files[i].data = malloc(files[i].size);
    rewind(f);
    MUST(files[i].data && fread(files[i].data, 1, files[i].size, f) == files[i].size);
    fclose(f);
}

static void store(int i)
{
    struct stat s;
    FILE *f = fopen(files[i].name, "wb");
    MUST(f && fwrite(files[i].data, 1, files[i].size, f) == files[i].size);
    MUST(fstat(fileno(f), &s) == 0 && fclose(f) == 0);
    files[i].inode = s.st_ino;
}

static void sweep_away(void)
{
    if (chdir(folder) != 0)
        return;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        unlink(e->d_name);
    closedir(d);
    rmdir(folder);
}

/* Files that the command made go, those that it replaced come back. */
static void tidy(void)
{
    struct stat s;
    DIR *d = opendir(".");
    MUST(d);
    for (struct dirent *e; (e = readdir(d));) {
        bool mine = e->d_name[0] == '.' && (!e->d_name[1] || !strcmp(e->d_name, ".."));
        for (int i = 0; i < FILES; i++)
            mine = mine || !strcmp(e->d_name, files[i].name);
        MUST(mine || strncmp(e->d_name, ".tenon-", 7) != 0);
        if (!mine)
            MUST(unlink(e->d_name) == 0);
    }
    closedir(d);
    for (int i = 0; i < FILES; i++)
        if (stat(files[i].name, &s) != 0 || s.st_ino != files[i].inode)
            store(i);
}

static void begin(void)
{
    for (int i = 0; i < FILES; i++)
        load(i);
    folder = mkdtemp(in_memory) ? in_memory : mkdtemp(on_disk);
    MUST(folder && chdir(folder) == 0);
    atexit(sweep_away);
    for (int i = 0; i < FILES; i++)
        store(i);
    MUST(freopen("/dev/null", "rb", stdin));
    out_fd = memfd_create("out", MFD_CLOEXEC);
    err_fd = memfd_create("err", MFD_CLOEXEC);
    out = fdopen(out_fd, "wb");
    err = fdopen(err_fd, "wb");
    MUST(out && err);
    struct rlimit least = {MOST_WRITTEN, MOST_WRITTEN};
    MUST(setrlimit(RLIMIT_FSIZE, &least) == 0);
}

static int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 32; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* Words of text, at '\n'; the last are memory for a small machine, where the command takes
 * it. */
static int split(char *text, char **words)
{
    int n = 1;
    words[0] = "tenon";
    for (char *line = text; line && n < MOST_WORDS; n++) {
        words[n] = line;
        line = strchr(line, '\n');
        if (line)
            *line++ = 0;
    }
    const char *name = !strcmp(words[1], "explain") && n > 2 ? words[2] : words[1];
    const command *c = find_command(name);
    if (c && c->options & OPT(MAX_MEM)) {
        words[n++] = "--max-mem";
        words[n++] = "1M";
    }
    words[n] = NULL;
    return n;
}

static int run(int argc, char **argv)
{
    FILE *usual_out = stdout, *usual_err = stderr;
    int own = dup(STDOUT_FILENO);
    MUST(own >= 0 && dup2(out_fd, STDOUT_FILENO) == STDOUT_FILENO);
    stdout = out;
    stderr = err;
    int code = tenon_main(argc, argv);
    fflush(out);
    clearerr(out);
    stdout = usual_out;
    stderr = usual_err;
    MUST(fflush(err) == 0 && (code == DONE || lseek(err_fd, 0, SEEK_CUR) > 0));
    MUST(dup2(own, STDOUT_FILENO) == STDOUT_FILENO);
    close(own);
    MUST(ftruncate(out_fd, 0) == 0 && lseek(out_fd, 0, SEEK_SET) == 0);
    MUST(ftruncate(err_fd, 0) == 0 && lseek(err_fd, 0, SEEK_SET) == 0);
    return code;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MOST_TEXT + 1], *words[MOST_WORDS + 3];
    size_t n = size < MOST_TEXT ? size : MOST_TEXT;
    if (out_fd < 0)
        begin();
    if (n)
        memcpy(text, data, n);
    text[n] = 0;
    for (char *p = text; (p = strchr(p, '/'));)
        *p = '_';
    /* These two work in folders of their own, and for long. */
    if (strstr(text, "demo") || strstr(text, "bench") || strstr(text, "tune"))
        return 0;
    int before = open_fds(), code = run(split(text, words), words);
    MUST(code == DONE || code == FAILED || code == USAGE);
    MUST(open_fds() == before);
    tidy();
    return 0;
}
