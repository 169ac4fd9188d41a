/* command.h - what the files of tenon-mpi share.
 *
 * Rank 0 alone prints.  Functions that can fail give an exit code and have said why. */
#ifndef TENON_MPI_COMMAND_H
#define TENON_MPI_COMMAND_H

#include <tenon/mpi.h>

enum { DONE = 0, FAILED = 1, USAGE = 2 };

typedef struct args {
    const char *word; /* permute, cast ... */
    int n;
    const char *operands[8];
    const char *out, *shape, *dtype, *src, *dst, *name, *axis;
    int64_t max_mem, ranks, per_node;
    double alpha, beta; /* seconds, bytes per second; 0: no prediction */
    bool force, quick, json, quiet;
} args;

extern int this_rank, all_ranks; /* 0 and 1 without mpirun */

int fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
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
            return fail("%s", tn_error());                                                     \
    } while (0)

/* "1,0" as numbers (numbers.c); "block:0x4,copy@4x2" as a distribution over ranks. */
int parse_numbers(const char *text, int most, int64_t *out, int *n);
int parse_axes(const char *text, int ndim, int *axes);
int parse_dist(const char *text, int ndim, const int64_t *shape, int ranks, tn_dist **d);

int run_data(const args *a);    /* data.c: permute, rearrange, slice, cast, convert, reduce */
int run_explain(const args *a); /* explain.c */
int run_bench(const args *a);   /* bench.c */

#endif
