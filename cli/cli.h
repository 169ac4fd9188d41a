/* cli.h - what the files of the command share.  The command stands on the public headers only.
 *
 * Functions that can fail give an exit code: DONE, FAILED or USAGE, and have said why. */
#ifndef CLI_H
#define CLI_H

#include <tenon/tenon.h>

#if defined(__GNUC__)
#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define PRINTF(a, b)
#endif

enum { DONE = 0, FAILED = 1, USAGE = 2 };

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Forward the first exit code that is not DONE. */
#define TRY(call)                                                                              \
    do {                                                                                       \
        int try_code = (call);                                                                 \
        if (try_code != DONE)                                                                  \
            return try_code;                                                                   \
    } while (0)

/* A library call; a failure is its sentence. */
#define LIB(call)                                                                              \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            return fail("%s", tn_error());                                                     \
    } while (0)

/* ---- commands (main.c) and what they are called with (args.c) ---- */

struct command;

typedef struct args {
    const struct command *command;
    int n;
    const char **words; /* what is no option, in order */
    const char *out, *name, *tensors, *dtype, *axis, *before, *after, *mode, *value, *params;
    const char *svg;
    int64_t max_mem, align;
    bool force, quiet, progress, json, quick, no_sync;
    bool explain; /* say what would happen and do nothing */
} args;

typedef struct command {
    const char *name, *line; /* line: what follows the name */
    const char *what;        /* in a few words */
    const char *options;     /* letters of the option table */
    int (*run)(const args *a);
    const char *more; /* for help: how it is used */
    bool plain_first; /* the first argument is no option, whatever it begins with */
} command;

extern const command commands[];
extern const int command_count;
const command *find_command(const char *name);
int run_command(int argc, char **argv); /* argv[0] is the command's name */

int read_args(args *a, const command *c, int argc, char **argv);
void print_options(const command *c);

int run_info(const args *a);
int run_show(const args *a);
int run_view(const args *a);
int run_rearrange(const args *a);
int run_pad(const args *a);
int run_roll(const args *a);
int run_join(const args *a);
int run_cast(const args *a);
int run_op(const args *a);
int run_convert(const args *a);
int run_bench(const args *a);
int run_demo(const args *a);

/* ---- saying what went wrong, and numbers as text (text.c) ---- */

int fail(const char *fmt, ...) PRINTF(1, 2);
void fail_about(const char *path); /* the file that failures are about, or NULL */
int usage(const args *a, const char *fmt, ...) PRINTF(2, 3);

/* "4.6 MB" of bytes, "(2, 3)" of a shape, an escaped JSON text of UTF-8 on out. */
const char *bytes_text(char buf[32], double bytes);
const char *shape_text(char buf[512], int ndim, const int64_t *shape);
void json_text(void *out, const char *text);

/* Names and paths on standard output: what would steer a terminal is a '?'. */
void print_name(const char *text);

/* "0,3,1" as at most room whole numbers; "512M" as bytes; a number as an element of dtype,
 * which must hold it. */
int read_list(const args *a, const char *what, const char *text, int room, int64_t *list,
              int *n);
int read_size(const char *text, int64_t *size);
int read_number(const char *text, tn_dtype dtype, void *element);
bool is_number(const char *text);
bool is_whole(const char *text);

/* An axis that may count from the end, for a tensor of ndim axes. */
int read_axis(const args *a, int64_t axis, int ndim, int *dim);

/* ---- what comes in (source.c) ---- */

typedef struct source {
    tn_file *f;
    char *path;    /* without the name of a tensor */
    int64_t which; /* the tensor that was named, or -1 */
    int fd;        /* of standard input, or -1 */
} source;

typedef struct input {
    const source *from;
    int64_t i;
    tn_tensor t;       /* places in the file, or memory */
    bool in_memory;    /* compressed, and unpacked there; or a number */
    bool spilled;      /* compressed, and unpacked to a temporary file */
    tn_file *unpacked; /* that file, unless it is only looked at */
    int fd;
} input;

/* "x.npy", "x.npz:name" or "-". */
int open_source(source *s, const char *word);
void close_source(source *s);

/* Tensor i; --dtype reinterprets it.  Compressed ones are unpacked: into memory, or into a
 * temporary file when they are longer than it may be. */
int open_input(const args *a, input *in, const source *s, int64_t i);
void close_input(input *in);

/* The only tensor of a word. */
int open_single(const args *a, source *s, input *in, const char *word);

/* ---- how a result is made (recipe.c) ---- */

enum { MOST_OPERANDS = 3, MOST_PARAMS = 8 };

/* A job of the library while it is put together, with the inputs of its sources. */
typedef struct recipe {
    tn_stream job;
    tn_stream_source *sources;
    const input **inputs; /* of the sources, one by one */
    int room;
    tn_stream_fill fill;
    char value[16]; /* of fill */
    tn_stream_op op;
    double params[MOST_PARAMS];
    input numbers[MOST_OPERANDS]; /* operands that are no files */
    char number_bytes[MOST_OPERANDS][16];
} recipe;

int recipe_start(recipe *r, tn_dtype dtype, int ndim, const int64_t *shape);
int recipe_add(recipe *r, const tn_tensor *view, const input *from, const int64_t *at);
int recipe_of_view(recipe *r, const tn_tensor *view, const input *from);
void recipe_free(recipe *r);

/* The job as it runs: with the memory, sink and progress of the command. */
tn_stream recipe_job(const recipe *r, const args *a, tn_writer *w);

/* ---- from inputs to an output (run.c) ---- */

typedef int build_fn(const args *a, const input *in, recipe *r);

/* One tensor, or with --tensors those that match while the others stay as they are. */
int run_unary(const args *a, const char *word, build_fn *build);

/* A result that is not a change of one tensor; like names the input for the result's name. */
int run_recipe(const args *a, const recipe *r, const input *like);

/* What is there stays unless -f, and folders always. */
int may_write(const args *a, const char *path);

int explain_recipe(const args *a, const recipe *r, const char *name, const char *path);

/* Tensors of a command on many: each is counted, then their sum is said. */
void explain_count(const recipe *r, bool changed);
void explain_sum(void);

/* ---- progress (progress.c) ---- */

void progress_start(const args *a, int64_t total);
void progress_at(int64_t done); /* bytes of the present tensor */
void progress_next(void);       /* it is complete */
void progress_end(void);

double seconds(void);

#endif
