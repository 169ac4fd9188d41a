/* cli.h - what the files of the command share.  The command uses the public headers only.
 *
 * Functions that can fail return an exit code, DONE, FAILED or USAGE, and have printed the
 * reason. */
#ifndef CLI_H
#define CLI_H

#include <tenon/tenon.h>

#if defined(__GNUC__)
#define PRINTF(a, b) __attribute__((format(printf, a, b)))
#else
#define PRINTF(a, b)
#endif

enum { DONE = 0, FAILED = 1, USAGE = 2 };

/* The index of a sharded model, by the name that its readers expect. */
#define INDEX_FILE "model.safetensors.index.json"

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

/* Return the first exit code that is not DONE. */
#define TRY(call)                                                                              \
    do {                                                                                       \
        int try_code = (call);                                                                 \
        if (try_code != DONE)                                                                  \
            return try_code;                                                                   \
    } while (0)

/* A library call; a failure prints its message, beginning with the command's name. */
#define LIB(call)                                                                              \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            return fail_call(#call);                                                           \
    } while (0)

/* ---- the command (main.c), without the C function main, which is in tenon.c ---- */

int tenon_main(int argc, char **argv);

/* ---- commands (commands.c) and their arguments (args.c) ---- */

struct command;

enum { MOST_SETTINGS = 256 };

typedef struct args {
    const struct command *command;
    int n;
    const char **operands; /* positional arguments */
    const char *out, *name, *tensors, *dtype, *axis, *before, *after, *mode, *value, *params,
        *atol, *rtol;
    const char *also, *proof, *kv, *rules, *result, *disk, *sample, *image, *colour;
    const char *set[MOST_SETTINGS]; /* values of --set, in order */
    int nset;
    int64_t max_mem, align, shard_size, out_ranks, bins;
    bool force, quiet, progress, json, quick, no_sync, compress, dry_run, strip, structure,
        in_ranks, verify, check, keep, descending, indices, hash;
    bool explain; /* describe the work, do nothing */
} args;

/* The options, numbered by their list, and the bit of one, used in the rows of commands. */
enum {
#define OPTION(ENUM, ...) OPTION_##ENUM,
#include "options.def"
#undef OPTION
    OPTIONS
};

#define OPT(ENUM) (UINT64_C(1) << OPTION_##ENUM)
_Static_assert(OPTIONS <= 64, "a bit for every option");

/* Options of every command that writes computed tensors. */
#define OPT_RESULT                                                                             \
    (OPT(OUT) | OPT(FORCE) | OPT(NAME) | OPT(TENSORS) | OPT(DTYPE) | OPT(ALIGN) |              \
     OPT(MAX_MEM) | OPT(NO_SYNC) | OPT(COMPRESS) | OPT(KV) | OPT(PROGRESS) | OPT(QUIET))

/* Options of commands that write tensors unchanged. */
#define OPT_EDIT                                                                               \
    (OPT(OUT) | OPT(FORCE) | OPT(ALIGN) | OPT(MAX_MEM) | OPT(NO_SYNC) | OPT(COMPRESS) |        \
     OPT(KV) | OPT(DRY_RUN) | OPT(PROGRESS) | OPT(QUIET))

typedef struct command {
    const char *name, *line; /* line: the arguments, for the usage line */
    const char *what;        /* a short description */
    uint64_t options;
    int (*run)(const args *a);
    const char *more; /* details for help */
    /* For run_view: number of positional arguments before the file; the function that makes the
     * view. */
    int operands;
    int (*make_view)(const args *a, const tn_tensor *in, tn_tensor *out);
    bool text_first;  /* the first argument may begin with '-' if it is not an option */
    bool whole_file;  /* without --tensors, acts on every tensor of a file */
    bool dequantises; /* reads quantised tensors as f32 */
    bool new_axis;    /* concatenates along a new axis */
    bool prints;      /* without -o, prints a small result */
} command;

extern const command commands[];
extern const int command_count;
const command *find_command(const char *name);
const char *nearest_command(const char *name); /* NULL: none is similar */
int run_command(int argc, char **argv);        /* argv[0] is the command's name */

/* The number of words of argv before the first positional one: options, their values and
 * "--". */
int options_before(int argc, char **argv);

int read_args(args *a, const command *c, int argc, char **argv);
void print_options(const command *c);

/* Check that there are exactly n positional arguments. */
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

/* ---- error messages, and numbers as text (text.c) ---- */

int fail(const char *fmt, ...) PRINTF(1, 2);
int fail_call(const char *call); /* call: source text of a library call, "tn_slice(…" */
void set_error_subject(const char *path); /* the file that failures concern, or NULL */
void set_error_command(const char *name); /* the running command */
int usage(const args *a, const char *fmt, ...) PRINTF(2, 3);

/* Format bytes as "4.6 MB" or a shape as "(2, 3)"; print UTF-8 as an escaped JSON string. */
const char *bytes_text(char buf[32], double bytes);
const char *shape_text(char buf[512], int ndim, const int64_t *shape);
void json_text(void *out, const char *text);

/* The first byte of a text that is not UTF-8; NULL: all of it is valid. */
const char *not_utf8(const char *text);

/* Print a name or a path; control characters become '?'.  out is a FILE; print_name uses
 * standard output. */
void print_safe(void *out, const char *text);
void print_name(const char *text);

/* Parse "0,3,1" as at most capacity integers; "512M" as bytes; a number as an element of dtype,
 * which must be able to represent it. */
int read_list(const args *a, const char *what, const char *text, int capacity, int64_t *list,
              int *n);
int read_size(const char *text, int64_t *size);

/* Read the digits at the start of text; false: none, or too many. */
bool whole_number(const char *text, const char **end, int64_t *x);
int read_number(const char *text, tn_dtype dtype, void *element);
bool is_number(const char *text);
bool is_whole(const char *text);
bool is_too_long(const char *text); /* an integer that exceeds 64 bits */

bool is_integer(tn_dtype dtype); /* signed or unsigned; not bool */
bool is_complex(tn_dtype dtype);

/* Parse the axes of -a, or "1,2" of --params, which must have `want` numbers for the op
 * `name`. */
int read_axes(const args *a, int ndim, int *dims, int *n);
int read_params(const args *a, const char *name, int want, double *params);

/* Check that operand `at` is a pattern, followed by sizes and the file; return the sizes, "p=2
 * q=3", which begin at operand `first` and which the caller frees. */
int check_pattern_words(const args *a, int at);
char *sizes_of(const args *a, int first);

/* Check an axis of a tensor with ndim axes; negative ones count from the end. */
int read_axis(const args *a, int64_t axis, int ndim, int *dim);

/* ---- inputs (source.c) ---- */

typedef struct source {
    tn_file *f;
    char *path;    /* without the tensor's name */
    int64_t which; /* index of the named tensor, or -1 */
    int fd;        /* copy of standard input or of a pipe, or -1 */
} source;

typedef struct input {
    const source *from;
    int64_t i;
    tn_tensor t;       /* a view of the file, or in memory */
    bool in_memory;    /* compressed and unpacked to memory, or a number */
    bool quantised;    /* of .gguf; read as f32 */
    bool spilled;      /* compressed and unpacked to a temporary file */
    tn_file *unpacked; /* that file; NULL if only explained */
    int fd;
} input;

/* "x.npy", "x.npz:name" or "-". */
int open_source(source *s, const char *word);
void close_source(source *s);

/* Open tensor i; --dtype reinterprets it.  A compressed tensor is unpacked to memory or, if it
 * exceeds the budget, to a temporary file. */
int open_input(const args *a, input *in, const source *s, int64_t i);
void close_input(input *in);

/* The tensors that a read-only command acts on: the named one, those that match --tensors, or
 * all.  The caller frees the list. */
int chosen_tensors(const args *a, const source *s, int64_t **which, int64_t *n);

/* Open the only tensor of a word, or the one it names. */
int open_single(const args *a, source *s, input *in, const char *word);

/* ---- jobs (recipe.c) ---- */

enum { MOST_PARAMS = 8, MOST_OPERANDS = 3 };

/* A job of the library under construction, with the inputs of its sources. */
typedef struct recipe {
    tn_stream job;
    tn_stream_source *sources;
    const input **inputs; /* the input of each source */
    int capacity;
    tn_stream_fill fill;
    char value[16]; /* the value of fill */
    tn_stream_eval eval;
    tn_expr *expr;  /* the expression of eval; owned */
    const char *op; /* the op, if expr is a single one, or NULL */
    tn_stream_reduce reduce;
    tn_stream_scan scan;
    tn_stream_sort sort;
    tn_stream_take take;
    tn_stream_einsum einsum;
    int axes[TN_MAX_NDIM]; /* the axes of reduce */
    double params[MOST_PARAMS];
    input numbers[MOST_OPERANDS]; /* operands that are not files */
    char number_bytes[MOST_OPERANDS][16];
} recipe;

int recipe_start(recipe *r, tn_dtype dtype, int ndim, const int64_t *shape);
int recipe_add(recipe *r, const tn_tensor *view, const input *from, const int64_t *at);
int recipe_of_view(recipe *r, const tn_tensor *view, const input *from);
void recipe_free(recipe *r);

/* Make the result an expression of n tensors, in the order of its names; from are their
 * inputs. */
int recipe_of_expr(recipe *r, tn_expr *expr, int n, const tn_tensor *const *ts,
                   const input *const *from);

/* Total bytes of the progress; -1: the job reports it. */
int64_t recipe_work(const recipe *r);

/* Run a job that has no -o, and print its result. */
int print_recipe(const args *a, const recipe *r, const input *like);

/* The job with the command's memory budget, sink and progress. */
tn_stream recipe_job(const recipe *r, const args *a, tn_writer *w);

/* ---- from inputs to an output (run.c) ---- */

typedef int build_fn(const args *a, const input *in, recipe *r);

/* Run a command on one tensor or, with --tensors, on those that match; the others are
 * copied. */
int run_unary(const args *a, const char *word, build_fn *build);

/* Run a recipe whose result is one tensor, by default named after the input `like`. */
int run_recipe(const args *a, const recipe *r, const input *like);

/* Run the job of a recipe and write its result to w. */
int run_job(const recipe *r, const args *a, tn_writer *w);

/* What the command needs to know about an output format. */
typedef struct out_format {
    const char *suffix;
    bool many;         /* tensors have names: -o x.npz:name */
    bool widest_first; /* widest dtypes first, so that each tensor is aligned */
    bool metadata;     /* holds the metadata of tenon meta --set */
    bool values;       /* holds the key-values of --kv */
} out_format;

/* The destination of results. */
typedef struct target {
    char *path;               /* owned; NULL: standard output */
    const char *name;         /* of a single tensor, or NULL */
    const out_format *format; /* never NULL: the last one has no suffix and matches all */
    void *values;             /* key-values of a .gguf, in the form of tn_file_values; owned */
    size_t values_size;
} target;

/* Parse -o: "x.npy", "x.npz:name" or "-"; an existing file is an error without -f. */
int open_target(const args *a, target *t);
void close_target(target *t);

/* Set the key-values of a .gguf: those of --kv, or those of the file `like`. */
int target_values(const args *a, target *t, const tn_file *like);

int open_writer(const args *a, const target *t, tn_writer **w, int n, const char *const *names,
                const tn_tensor *const *ts, const char *metadata);

/* The name of a file without folder and suffix; the caller frees it. */
char *file_stem(const char *path);

/* ---- unchanged tensors (edit.c, split.c, meta.c) ---- */

typedef struct item {
    const source *from;
    int64_t i;
    char *name;     /* name in the result; owned */
    tn_tensor desc; /* ndim -1: its type has no dtype */
    bool marked;
} item;

typedef struct edit {
    source *sources;
    int nsources;
    item *items;
    int64_t n;
} edit;

int edit_open(edit *e, int n, const char *const *words); /* close even if it fails */
void edit_close(edit *e);
int64_t edit_bytes(const edit *e);
int edit_check(const edit *e); /* names are distinct, every tensor has a dtype */
int edit_write(const args *a, const target *t, const item *items, int64_t n,
               const char *metadata);
void edit_list(const edit *e, const char *path, int64_t first, int64_t n);

/* "model-00001-of-00004.safetensors", or "model.safetensors" if there is only one. */
void shard_name(char name[64], int64_t k, int64_t n);

/* ---- folders as results (folder.c) ---- */

typedef struct out_folder {
    char *path, *partial; /* OUTDIR, OUTDIR.partial */
    bool made;            /* we have created partial */
} out_folder;

int folder_begin(const args *a, out_folder *out); /* end even if it fails */
int folder_commit(const args *a, out_folder *out);
void folder_end(out_folder *out, bool keep); /* keep: do not remove an incomplete folder */
int folder_file(const out_folder *out, const char *name, char **path);
bool folder_exists(const char *path);
int remove_folder(const char *path);

/* Replace the file at path atomically by what print writes to out, a FILE (whole_text.c). */
int write_whole(const args *a, const char *path, int (*print)(void *out, const void *user),
                const void *user);

/* Write a text file; print writes to out, a FILE. */
int write_text(const args *a, const char *path, int (*print)(void *out, const void *user),
               const void *user);

/* ---- patterns of names (match.c) ---- */

enum { MOST_CAPTURES = 16 };

typedef struct capture {
    const char *name; /* name of the wildcard, in the pattern */
    int name_length;
    const char *text;
    int length;
} capture;

typedef struct captures {
    capture list[MOST_CAPTURES];
    int n;
} captures;

const char *check_pattern(const char *pattern); /* NULL, or an error message */
bool match_name(const char *pattern, const char *name, captures *c);

/* The pattern with its wildcards replaced by their captures; the caller frees it.  NULL: a
 * wildcard has no capture, or out of memory. */
char *expand_name(const char *pattern, const captures *c);

/* The names in f most similar to text, at most three; returns how many. */
int nearest_names(const tn_file *f, const char *text, const char *names[3]);

/* Check that path may be written: an existing file needs -f, a folder is always an error. */
int may_write(const args *a, const char *path);

int explain_recipe(const args *a, const recipe *r, const char *name, const char *path);

/* Print the plan of a recipe's expression, as text or with --json as JSON. */
int explain_expr(const args *a, const tn_expr *expr, const tn_tensor *out, int n,
                 const tn_tensor *const *ts);

/* For a command on several tensors: count each one, then print the totals. */
int explain_count(const args *a, const recipe *r, bool changed);
void explain_sum(const args *a);

/* Describe what tenon stats would do. */
int explain_stats(const args *a, const recipe *r, const char *name);

/* Print a tensor as JSON, without its name if name is NULL. */
void json_tensor(const char *path, const char *name, const tn_tensor *t);

/* ---- progress (progress.c) ---- */

void progress_start(const args *a, int64_t total); /* bytes; -1: the job reports the total */
void progress_at(int64_t done);                    /* bytes of the current tensor */

void progress_of(int64_t done, int64_t total); /* the same, with the total from the job */
void progress_next(void);                      /* the current tensor is complete */
void progress_end(void);

double seconds(void);

#endif
