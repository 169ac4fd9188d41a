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

/* The index of a sharded model, as its readers look for it. */
#define INDEX_FILE "model.safetensors.index.json"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Forward the first exit code that is not DONE. */
#define TRY(call)                                                                              \
    do {                                                                                       \
        int try_code = (call);                                                                 \
        if (try_code != DONE)                                                                  \
            return try_code;                                                                   \
    } while (0)

/* A library call; a failure is its sentence, which begins with the command's name. */
#define LIB(call)                                                                              \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            return fail_call(#call);                                                           \
    } while (0)

/* ---- commands (commands.c), and what they are called with (args.c) ---- */

struct command;

enum { MOST_SETTINGS = 256 };

typedef struct args {
    const struct command *command;
    int n;
    const char **operands; /* positional arguments */
    const char *out, *name, *tensors, *dtype, *axis, *before, *after, *mode, *value, *params,
        *atol, *rtol;
    const char *also, *proof, *kv, *rules, *result, *disk, *sample, *image, *colour;
    const char *set[MOST_SETTINGS]; /* --set, in order */
    int nset;
    int64_t max_mem, align, shard_size, out_ranks, bins;
    bool force, quiet, progress, json, quick, no_sync, compress, dry_run, strip, structure,
        in_ranks, verify, check, keep, descending, indices, hash;
    bool explain; /* say what would happen and do nothing */
} args;

/* An option is a bit, in the rows of commands and in the table of args.c. */
#define OPT(n)       (UINT64_C(1) << (n))
#define OPT_OUT      OPT(0)
#define OPT_FORCE    OPT(1)
#define OPT_NAME     OPT(2)
#define OPT_TENSORS  OPT(3)
#define OPT_DTYPE    OPT(4)
#define OPT_AXIS     OPT(5)
#define OPT_BEFORE   OPT(6)
#define OPT_AFTER    OPT(7)
#define OPT_MODE     OPT(8)
#define OPT_VALUE    OPT(9)
#define OPT_PARAMS   OPT(10)
#define OPT_ALIGN    OPT(11)
#define OPT_MAX_MEM  OPT(12)
#define OPT_NO_SYNC  OPT(13)
#define OPT_PROGRESS OPT(14)
#define OPT_QUIET    OPT(15)
#define OPT_JSON     OPT(16)
#define OPT_QUICK    OPT(17)
#define OPT_COMPRESS OPT(18)
#define OPT_DRY_RUN  OPT(19)
#define OPT_SHARD    OPT(20)
#define OPT_SET      OPT(21)
#define OPT_STRIP    OPT(22)
#define OPT_ATOL     OPT(23)
#define OPT_RTOL     OPT(24)
#define OPT_STRUCT   OPT(25)
#define OPT_IN_RANKS OPT(26)
#define OPT_OUT_RANK OPT(27)
#define OPT_ALSO     OPT(28)
#define OPT_PROOF    OPT(29)
#define OPT_VERIFY   OPT(30)
#define OPT_CHECK    OPT(40)
#define OPT_KV       OPT(48)
#define OPT_DISK     OPT(50)
#define OPT_RULES    OPT(49)
#define OPT_KEEP     OPT(41)
#define OPT_RESULTS  OPT(42)
#define OPT_DESCEND  OPT(43)
#define OPT_INDICES  OPT(44)
#define OPT_BINS     OPT(45)
#define OPT_HASH     OPT(54)
#define OPT_SAMPLE   OPT(51)
#define OPT_IMAGE    OPT(52)
#define OPT_COLOUR   OPT(53)

/* Options of every command that makes a file of tensors. */
#define OPT_RESULT                                                                             \
    (OPT_OUT | OPT_FORCE | OPT_NAME | OPT_TENSORS | OPT_DTYPE | OPT_ALIGN | OPT_MAX_MEM |      \
     OPT_NO_SYNC | OPT_COMPRESS | OPT_KV | OPT_PROGRESS | OPT_QUIET)

/* Options of commands that write tensors as they are. */
#define OPT_EDIT                                                                               \
    (OPT_OUT | OPT_FORCE | OPT_ALIGN | OPT_MAX_MEM | OPT_NO_SYNC | OPT_COMPRESS | OPT_KV |     \
     OPT_DRY_RUN | OPT_PROGRESS | OPT_QUIET)

typedef struct command {
    const char *name, *line; /* line: what follows the name */
    const char *what;        /* in a few words */
    uint64_t options;
    int (*run)(const args *a);
    const char *more; /* for help: how it is used */
    /* For run_view: positional arguments before the file, and the view that they make. */
    int operands;
    int (*make_view)(const args *a, const tn_tensor *in, tn_tensor *out);
    bool
        text_first; /* the first argument may begin with a minus, if it is no option as it is */
    bool whole_file;  /* takes every tensor of a file without --tensors */
    bool dequantises; /* reads quantised tensors as f32 */
    bool new_axis;    /* joins: along an axis that the inputs lack */
    bool prints;      /* without -o a small result is printed */
} command;

extern const command commands[];
extern const int command_count;
const command *find_command(const char *name);
const char *nearest_command(const char *name); /* NULL: none is near */
int run_command(int argc, char **argv);        /* argv[0] is the command's name */

/* How many words of argv are options, their values and "--" before the first other word. */
int options_before(int argc, char **argv);

int read_args(args *a, const command *c, int argc, char **argv);
void print_options(const command *c);

/* Exactly n positional arguments. */
int need_operands(const args *a, int n);

int view_permute(const args *a, const tn_tensor *in, tn_tensor *out);
int view_slice(const args *a, const tn_tensor *in, tn_tensor *out);
int view_squeeze(const args *a, const tn_tensor *in, tn_tensor *out);
int view_unsqueeze(const args *a, const tn_tensor *in, tn_tensor *out);
int view_flip(const args *a, const tn_tensor *in, tn_tensor *out);

int run_info(const args *a);
int run_show(const args *a);
int run_view(const args *a);
int run_rearrange(const args *a);
int run_pad(const args *a);
int run_roll(const args *a);
int run_join(const args *a);
int run_cast(const args *a);
int run_op(const args *a);
int run_einsum(const args *a);
int run_eval(const args *a);
int run_reduce(const args *a);
int run_scan(const args *a);
int run_sort(const args *a);
int run_take(const args *a);
int run_stats(const args *a);
int run_convert(const args *a);
int run_select(const args *a);
int run_drop(const args *a);
int run_rename(const args *a);
int run_merge(const args *a);
int run_split(const args *a);
int run_meta(const args *a);
int run_diff(const args *a);
int run_reshard(const args *a);
int run_report(const args *a);
int run_bench(const args *a);
int bench_disk(const args *a);
int run_tune(const args *a);
int run_demo(const args *a);

/* ---- saying what went wrong, and numbers as text (text.c) ---- */

int fail(const char *fmt, ...) PRINTF(1, 2);
int fail_call(const char *call); /* call begins with the name of a library call: "tn_slice(" */
void set_error_subject(const char *path); /* the file that failures are about, or NULL */
void set_error_command(const char *name); /* the command that runs */
int usage(const args *a, const char *fmt, ...) PRINTF(2, 3);

/* "4.6 MB" of bytes, "(2, 3)" of a shape, an escaped JSON text of UTF-8 on out. */
const char *bytes_text(char buf[32], double bytes);
const char *shape_text(char buf[512], int ndim, const int64_t *shape);
void json_text(void *out, const char *text);

/* The first byte of a text that is not UTF-8; NULL: all of it is. */
const char *not_utf8(const char *text);

/* Names and paths: what would steer a terminal is a '?'.  out is a FILE; print_name is on
 * standard output. */
void print_safe(void *out, const char *text);
void print_name(const char *text);

/* "0,3,1" as at most capacity whole numbers; "512M" as bytes; a number as an element of dtype,
 * which must hold it. */
int read_list(const args *a, const char *what, const char *text, int capacity, int64_t *list,
              int *n);
int read_size(const char *text, int64_t *size);
int read_number(const char *text, tn_dtype dtype, void *element);
bool is_number(const char *text);
bool is_whole(const char *text);
bool is_too_long(const char *text); /* digits alone, and more than 64 bits hold */

bool is_integer(tn_dtype dtype); /* signed or unsigned; bool is none */
bool is_complex(tn_dtype dtype);

/* The axes of -a; "1,2" of --params, want of them for the op of this name. */
int read_axes(const args *a, int ndim, int *dims, int *n);
int read_params(const args *a, const char *name, int want, double *params);

/* A pattern at operand number at, sizes after it, then the file; the sizes, "p=2 q=3", from
 * operand number first on, to be freed. */
int check_pattern_words(const args *a, int at);
char *sizes_of(const args *a, int first);

/* An axis that may count from the end, for a tensor of ndim axes. */
int read_axis(const args *a, int64_t axis, int ndim, int *dim);

/* ---- what comes in (source.c) ---- */

typedef struct source {
    tn_file *f;
    char *path;    /* without the name of a tensor */
    int64_t which; /* the tensor that was named, or -1 */
    int fd;        /* copy of standard input, or -1 */
} source;

typedef struct input {
    const source *from;
    int64_t i;
    tn_tensor t;       /* places in the file, or memory */
    bool in_memory;    /* compressed, and unpacked there; or a number */
    bool quantised;    /* in .gguf: read as f32 */
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

/* The tensors of a source that a command which only reads looks at: the one that is named, those
 * that --tensors matches, or all.  To be freed. */
int chosen_tensors(const args *a, const source *s, int64_t **which, int64_t *n);

/* The only tensor of a word. */
int open_single(const args *a, source *s, input *in, const char *word);

/* ---- how a result is made (recipe.c) ---- */

enum { MOST_PARAMS = 8, MOST_OPERANDS = 3 };

/* A job of the library while it is put together, with the inputs of its sources. */
typedef struct recipe {
    tn_stream job;
    tn_stream_source *sources;
    const input **inputs; /* the input of each source */
    int capacity;
    tn_stream_fill fill;
    char value[16]; /* what fill repeats */
    tn_stream_eval eval;
    tn_expr *expr;  /* what eval computes; owned */
    const char *op; /* the only step of expr, or NULL */
    tn_stream_reduce reduce;
    tn_stream_scan scan;
    tn_stream_sort sort;
    tn_stream_take take;
    tn_stream_einsum einsum;
    int axes[TN_MAX_NDIM]; /* axes of reduce */
    double params[MOST_PARAMS];
    input numbers[MOST_OPERANDS]; /* operands that are no files */
    char number_bytes[MOST_OPERANDS][16];
} recipe;

int recipe_start(recipe *r, tn_dtype dtype, int ndim, const int64_t *shape);
int recipe_add(recipe *r, const tn_tensor *view, const input *from, const int64_t *at);
int recipe_of_view(recipe *r, const tn_tensor *view, const input *from);
void recipe_free(recipe *r);

/* The result is this expression of n tensors, in the order of its names; from are their
 * inputs. */
int recipe_of_expr(recipe *r, tn_expr *expr, int n, const tn_tensor *const *ts,
                   const input *const *from);

/* Bytes that progress counts; -1: the job says how many. */
int64_t recipe_work(const recipe *r);

/* Run a job without -o and print its result. */
int print_recipe(const args *a, const recipe *r, const input *like);

/* The job as it runs: with the memory, sink and progress of the command. */
tn_stream recipe_job(const recipe *r, const args *a, tn_writer *w);

/* ---- from inputs to an output (run.c) ---- */

typedef int build_fn(const args *a, const input *in, recipe *r);

/* One tensor, or with --tensors those that match while the others stay as they are. */
int run_unary(const args *a, const char *word, build_fn *build);

/* A result that is not a change of one tensor; like names the input for the result's name. */
int run_recipe(const args *a, const recipe *r, const input *like);

/* Run the job of a recipe and hand its result to w. */
int run_job(const recipe *r, const args *a, tn_writer *w);

/* What the command has to know of a format that it writes. */
typedef struct out_format {
    const char *suffix;
    bool many;         /* tensors have names: -o x.npz:name */
    bool widest_first; /* so that each is aligned */
    bool metadata;     /* it has the metadata of tenon meta --set */
    bool values;       /* key-values of --kv */
} out_format;

/* Where results go. */
typedef struct target {
    char *path;               /* owned; NULL: standard output */
    const char *name;         /* of the only tensor, or NULL */
    const out_format *format; /* never NULL: one of no name where the suffix is unknown */
    void *values;             /* key-values of a .gguf, as tn_file_values has them; owned */
    size_t values_size;
} target;

/* "x.npy", "x.npz:name", "-" of -o; what exists stays unless -f. */
int open_target(const args *a, target *t);
void close_target(target *t);

/* The key-values of a .gguf: of --kv, or those of the file that the result is like. */
int target_values(const args *a, target *t, const tn_file *like);

int open_writer(const args *a, const target *t, tn_writer **w, int n, const char *const *names,
                const tn_tensor *const *ts, const char *metadata);

/* The name of a file without folder and suffix; to be freed. */
char *file_stem(const char *path);

/* ---- tensors that stay as they are (edit.c, split.c, meta.c) ---- */

typedef struct item {
    const source *from;
    int64_t i;
    char *name;     /* in the result; owned */
    tn_tensor desc; /* ndim -1: of a type without dtype */
    bool marked;
} item;

typedef struct edit {
    source *sources;
    int nsources;
    item *items;
    int64_t n;
} edit;

int edit_open(edit *e, int n, const char *const *words); /* to be closed also on failure */
void edit_close(edit *e);
int64_t edit_bytes(const edit *e);
int edit_check(const edit *e); /* names differ, every tensor has a dtype */
int edit_write(const args *a, const target *t, const item *items, int64_t n,
               const char *metadata);
void edit_list(const edit *e, const char *path, int64_t first, int64_t n);

/* "model-00001-of-00004.safetensors", or "model.safetensors" when there is one. */
void shard_name(char name[64], int64_t k, int64_t n);

/* ---- folders as results (folder.c) ---- */

typedef struct out_folder {
    char *path, *partial; /* OUTDIR, OUTDIR.partial */
    bool made;            /* partial is there, and ours */
} out_folder;

int folder_begin(const args *a, out_folder *out); /* to be ended also on failure */
int folder_commit(const args *a, out_folder *out);
void folder_end(out_folder *out, bool keep); /* keep: leave what is not complete */
int folder_file(const out_folder *out, const char *name, char **path);
bool folder_exists(const char *path);
int remove_folder(const char *path);

/* A file at path, whole or the old one, printed on out, a FILE (whole_text.c). */
int write_whole(const args *a, const char *path, int (*print)(void *out, const void *user),
                const void *user);

/* A file of text, printed on out, a FILE. */
int write_text(const args *a, const char *path, int (*print)(void *out, const void *user),
               const void *user);

/* ---- patterns of names (match.c) ---- */

enum { MOST_CAPTURES = 16 };

typedef struct capture {
    const char *name; /* of the wildcard, in the pattern */
    int name_length;
    const char *text;
    int length;
} capture;

typedef struct captures {
    capture list[MOST_CAPTURES];
    int n;
} captures;

const char *check_pattern(const char *pattern); /* NULL, or what is wrong with it */
bool match_name(const char *pattern, const char *name, captures *c);

/* The pattern with what its wildcards have taken, to be freed; NULL: a wildcard has not been
 * matched, or no memory. */
char *expand_name(const char *pattern, const captures *c);

/* The names of f that are most like text; how many, at most three. */
int nearest_names(const tn_file *f, const char *text, const char *names[3]);

/* What is there stays unless -f, and folders always. */
int may_write(const args *a, const char *path);

int explain_recipe(const args *a, const recipe *r, const char *name, const char *path);

/* The plan of the expression of a recipe, as text or with --json as JSON. */
int explain_expr(const args *a, const tn_expr *expr, const tn_tensor *out, int n,
                 const tn_tensor *const *ts);

/* Tensors of a command on many: each is counted, then their sum is said. */
void explain_count(const recipe *r, bool changed);
void explain_sum(const args *a);

/* What tenon stats would do. */
int explain_stats(const args *a, const recipe *r, const char *name);

/* A tensor as JSON; name NULL: without one. */
void json_tensor(const char *path, const char *name, const tn_tensor *t);

/* ---- progress (progress.c) ---- */

void progress_start(const args *a, int64_t total); /* bytes; -1: the job says how many */
void progress_at(int64_t done);                    /* bytes of the present tensor */

void progress_of(int64_t done, int64_t total); /* the same, by a job that says how many */
void progress_next(void);                      /* it is complete */
void progress_end(void);

double seconds(void);

#endif
