/* command.h - what the files of tenon-mpi share.
 *
 * Only rank 0 prints.  Functions that can fail return an exit code and have printed the
 * reason. */
#ifndef TENON_MPI_COMMAND_H
#define TENON_MPI_COMMAND_H

#include <tenon/mpi.h>

enum { DONE = 0, FAILED = 1, USAGE = 2 };
enum { MOST_OPERANDS = 24 };

typedef struct args {
    const char *word; /* the command: permute, cast ... */
    int n;
    const char *operands[MOST_OPERANDS];
    const char *out, *shape, *dtype, *src, *dst, *name, *axis, *params;
    int64_t max_mem, ranks, per_node;
    double alpha, beta; /* seconds, bytes per second; 0: no prediction */
    bool force, quick, json, quiet, progress, keep;
} args;

extern int this_rank, all_ranks; /* 0 and 1 without mpirun */

int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* Fail, and print the usage of the command. */
int usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
double seconds(void);
const char *bytes_text(char buf[32], double bytes);

#define TRY(call)                                                                              \
    do {                                                                                       \
        int try_code = (call);                                                                 \
        if (try_code != DONE)                                                                  \
            return try_code;                                                                   \
    } while (0)
#define LIB(call)                                                                              \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            return fail("%s", sentence());                                                     \
    } while (0)

/* tn_error() as tenon prints it, without "rank 3: ". */
const char *sentence(void);

/* Parse "1,0" as numbers for `what`, an option or a command (numbers.c), or as axes of a
 * tensor, with -1 the last; "block:0x4,copy@4x2" as a distribution over ranks. */
int parse_numbers(const char *what, const char *text, int most, int64_t *out, int *n);
int parse_axes(const char *what, const char *text, int ndim, int *axes, int *n);
int parse_dist(const char *text, int ndim, const int64_t *shape, int ranks, tn_dist **d);

/* ---- from file to file through the memory of all ranks (data.c, reduce.c) ---- */

typedef struct job {
    const args *a;
    const char *in;
    char path[4096], tensor[512];
    tn_file *file;
    int64_t i;
    tn_tensor view; /* the part of the file that is read, in the order of IN */
    int axes[TN_MAX_NDIM];
    tn_dtype dtype; /* dtype of OUT */
    tn_dist *src, *dst;
    tn_tensor from, to;
    int keep_axis; /* axis of OUT that is cut; -1: rank 0 has all of it */
} job;

/* Agree on one exit code; the lowest rank that failed prints the reason. */
int agree(int code);

/* Prefix the message of a failure that concerns the input with its name; as in tenon, the name
 * of the call is replaced by that of the command. */
tn_status of_input(const job *j, tn_status status);

/* Rank 0 creates OUT; it commits it or, if code is a failure, aborts it. */
int open_output(const job *j, const tn_tensor *out, tn_writer **w);
int close_output(tn_writer *w, int code);

/* Report progress: lines with --progress; on a terminal, beginning after one second. */
void progress(const args *a, double start, int64_t done, int64_t all);

int check_data(const args *a); /* checks operands before MPI is initialised */
int run_reduce(job *j);
int run_data(const args *a);    /* permute, rearrange, slice, cast, convert, reduce */
int run_explain(const args *a); /* explain.c */
int check_bench(const args *a);
int run_bench(const args *a); /* bench.c */

#endif
