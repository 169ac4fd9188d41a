/* stream.h - results larger than memory: a job reads its sources box by box, computes, and
 * passes the result to a sink in row-major order.
 *
 *     tn_tensor view;                                  // the matrix of x.npy, transposed
 *     tn_file_places(f, 0, &view);
 *     tn_transpose(&view, &view, 0, 1);
 *     tn_stream_source in = {.file = f, .tensor = 0, .view = view};
 *     tn_stream job = {.n = 1, .sources = &in, .max_mem = 256 << 20};
 *     tn_init(&job.out, NULL, view.dtype, view.ndim, view.shape);
 *     tn_writer_open(&job.writer, "y.npy", 1, NULL, (const tn_tensor *[]){&job.out}, NULL);
 *     tn_stream_run(&job);
 *     tn_writer_commit(job.writer);
 *
 * A box is a window of the result: one index of each of some leading axes, a range of one axis,
 * and all of the axes after it.  Worker threads compute boxes ahead; only the calling thread
 * calls sink and progress, in order.  The bytes of a result do not depend on max_mem or
 * threads. */
#ifndef TENON_STREAM_H
#define TENON_STREAM_H

#include <tenon/contract.h>
#include <tenon/expr.h>
#include <tenon/index.h>
#include <tenon/io.h>
#include <tenon/ops.h>

TN_BEGIN

/* A source of a job: a tensor in an open file, a callback that supplies elements, or memory.
 *
 * file, tensor  an open file and the index of a tensor in it; view is then any view of the
 *               tensor that tn_file_places returned for it
 * read          without a file: fills dst with the elements of the source from index at on.  It
 *               is called by several threads at once; of view only dtype, shape and strides of
 *               0 (broadcast axes) are used
 * view          without file and read: a tensor in memory
 * at            TN_STREAM_COPY: the index of the result to which element (0, …) of view is
 *               copied */
typedef struct tn_stream_source {
    const tn_file *file;
    int64_t tensor;
    tn_status (*read)(void *user, const tn_tensor *dst, const int64_t *at);
    void *user;
    tn_tensor view;
    int64_t at[TN_MAX_NDIM];
} tn_stream_source;

/* How the result is computed from the sources; args points to the struct named here, or is
 * NULL. */
typedef enum tn_stream_recipe {
    TN_STREAM_COPY,  /* each source is copied to its `at`, converted to out's dtype (tn_cast);
                      * args: tn_stream_fill, required if sources do not cover all of out */
    TN_STREAM_APPLY, /* an op over sources broadcast to the shape; args: tn_stream_op */
    TN_STREAM_MAP,   /* a function of the same boxes of all sources; args: tn_stream_map */
    TN_STREAM_EVAL,  /* an expression of sources in the order of tn_expr_name, broadcast to the
                      * shape; args: tn_stream_eval */
    /* Of one source, which has axes of its own; the bytes are those of the call in memory: */
    TN_STREAM_REDUCE, /* tn_reduce; args: tn_stream_reduce */
    TN_STREAM_SCAN,   /* tn_scan, as long as the source; args: tn_stream_scan */
    TN_STREAM_SORT,   /* tn_sort, as long as the source; args: tn_stream_sort */
    TN_STREAM_TAKE,   /* tn_take; args: tn_stream_take */
    /* Of 1 to TN_EINSUM_SOURCES sources, which have axes of their own: */
    TN_STREAM_EINSUM, /* tn_einsum; args: tn_stream_einsum */
} tn_stream_recipe;

/* The value of elements that no source covers: one element of this dtype. */
typedef struct tn_stream_fill {
    tn_dtype dtype;
    const void *value;
} tn_stream_fill;

typedef struct tn_stream_op {
    tn_op op;
    const double *params; /* as in tn_apply */
} tn_stream_op;

/* fn computes a box of out, which is dense, from the same box of n sources in memory; at is the
 * box's first index.  It is called by several threads at once, each of which has a handle with
 * one thread. */
typedef struct tn_stream_map {
    tn_status (*fn)(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                    const int64_t *at);
    void *user;
} tn_stream_map;

/* out may have another dtype, as in tn_expr_run.  With reductions, the sources broadcast to one
 * shape and out has the shape of the value; the bytes are those of tn_eval, and progress counts
 * the bytes of the arguments of all reductions. */
typedef struct tn_stream_eval {
    const tn_expr *expr;
} tn_stream_eval;

/* As in tn_reduce.  progress counts the bytes of the source. */
typedef struct tn_stream_reduce {
    tn_reduction op;
    const double *params;
    int naxes; /* or TN_ALL_AXES */
    const int *axes;
} tn_stream_reduce;

/* If boxes cut sequences, a state of 32 bytes is kept for each sequence, and a box spans at
 * least 8 indices along dim. */
typedef struct tn_stream_scan {
    tn_scan_op op;
    int dim;
} tn_stream_scan;

/* The result is the sorted values, or their indices (i64, or i32 if they fit).  Temporary files
 * are used if a box of whole sequences, or one sequence, exceeds max_mem, or if sequences would
 * be read in short pieces. */
typedef struct tn_stream_sort {
    int dim;
    unsigned flags; /* 0 or TN_DESCENDING */
    bool indices;
} tn_stream_sort;

/* index is in memory; all of it is checked before the first box. */
typedef struct tn_stream_take {
    int dim;
    const tn_tensor *index;
} tn_stream_take;

/* spec and out's dtype are as in tn_einsum.  The result and long sums are cut into tiles that
 * depend on shapes alone; each tile is a tn_einsum of dense copies, and the pieces of a sum are
 * added in order, in f32 if out is a float of 8 or 16 bits.  The bytes do not depend on max_mem
 * or strides; if sums are not cut, they are those of tn_einsum of such a tile.  More memory
 * makes boxes longer, so that sources are read less often; box is ignored.  progress counts the
 * bytes of the parts of sources that tiles need. */
typedef struct tn_stream_einsum {
    const char *spec;
} tn_stream_einsum;

/* A job; zero means default.
 *
 * recipe, args  see tn_stream_recipe
 * out           dtype and shape of the result; data and strides are ignored
 * ndim, shape   another shape of the result, with the same elements in the same order, in which
 *               boxes, sources and `at` are expressed; ndim 0 means out's own
 * n, sources    the operands of TN_STREAM_APPLY in order; any number for TN_STREAM_COPY
 * writer        gets the elements of its next tensor; the job does not commit it
 * put           without a writer: gets the boxes in order; block is dense, at is its first
 *               index
 * max_mem       bytes for elements; 0 means a quarter of the machine's memory.  The minimum of
 *               a job, 64 KiB for a box (1 MiB if its reads are short) and 4 MiB for reading,
 *               is used even if max_mem is less.  A queue of reads holds 12 MiB and a writer up
 *               to 8 MiB besides
 * box           elements of a box, except at the end of an axis; 0 lets the planner choose by
 *               max_mem.  If it is given, the boxes do not depend on max_mem either
 * threads       0 means that of the calling thread's handle; 1 computes in the calling thread.
 *               So does any number in a library without OpenMP, inside a parallel region, in a
 *               forked child of a threaded parent, and under a handle with an executor, which
 *               then runs the parts of each box
 * progress      is called with the bytes delivered so far and their total; in a job of several
 *               passes each pass counts alike.  A status other than TN_OK ends the job with
 *               that status */
typedef struct tn_stream {
    tn_stream_recipe recipe;
    const void *args;
    tn_tensor out;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    int n;
    const tn_stream_source *sources;
    tn_writer *writer;
    tn_status (*put)(void *user, const tn_tensor *block, const int64_t *at);
    tn_status (*progress)(void *user, int64_t done, int64_t total);
    void *user; /* passed to put and progress */
    int64_t max_mem, box;
    int threads;
    void *reserved[8]; /* NULL */
} tn_stream;

/* What tn_stream_run would do. */
typedef struct tn_stream_facts {
    const char *recipe;       /* the name of the recipe, "copy" */
    const char *way;          /* "nothing": no elements; "in order": sources are read in file
                                * order; "boxes": a few at a time, each of which reads what
                                * it needs of the sources, with a queue many reads in flight;
                                * "direct": the same around the page cache, with many reads
                                * in flight; "two-pass": direct, through a temporary file of
                                * the source's size; "temporary file": a sort, one of whose
                                * boxes crosses more sequences than fit in memory, through a
                                * file of the result's size; "reordered": the source is first
                                * copied to a file in another order, because a sort, scan or
                                * take would read it in short pieces */
    int64_t boxes, box;       /* their number, and elements of the largest */
    int64_t threads, buffers; /* buffers: boxes that are in memory at once */
    int64_t memory;           /* bytes for elements and for the queue; not counted: the writer's
                               * own, and queues of streams that an expression with reductions
                               * runs inside, one for each thread */
    int64_t read, written;    /* bytes; broadcast axes of a source count once; an einsum counts
                               * repeated reads */
    int64_t shortest_read;    /* contiguous bytes in the file, within a box */
    int64_t queue;            /* most reads in flight, around the page cache; 0: one for each
                               * thread */
    double seconds;           /* time on a disk of 1.4 GB/s; 0 for "in order" and "boxes" */
} tn_stream_facts;

/* Compute the result and pass it to the sink.
 *
 * TN_ENULL     the job, its sources, its sink, or required args are missing
 * TN_EARG      a source reaches outside the shape, a box or size is negative, reserved is not
 *              NULL
 * TN_EDTYPE, TN_ESHAPE  sources and result do not fit
 * TN_EOVERFLOW the shape has 2^59 elements or more
 * TN_ENOMEM, and whatever sources, sink, progress and ops return; abort the writer after a
 * failure */
TN_API TN_NODISCARD tn_status tn_stream_run(const tn_stream *job);

/* Bytes for elements that a job with this max_mem may use: max_mem itself, or a quarter of the
 * machine's memory for 0. */
TN_API int64_t tn_stream_budget(int64_t max_mem);

/* The plan of a job as facts, and as text that is truncated to size bytes and always ends with
 * a 0.  Neither a sink nor data is needed. */
TN_API TN_NODISCARD tn_status tn_stream_plan(const tn_stream *job, tn_stream_facts *facts);
TN_API TN_NODISCARD tn_status tn_stream_explain(const tn_stream *job, char *buf, size_t size);

/* Why the way of facts was chosen, in a few words; "" for NULL. */
TN_API const char *tn_stream_why(const tn_stream_facts *facts);

/* Facts as one JSON object on one line, whose keys are the members of tn_stream_facts and
 * "why"; truncated to size bytes and always ended by a 0.
 *
 * TN_ENULL  facts is NULL, or buf is NULL and size is not 0 */
TN_API TN_NODISCARD tn_status tn_stream_facts_json(const tn_stream_facts *facts, char *buf,
                                                   size_t size);

/* The plan of the call that computes a job in memory, as if all of it were there; for
 * TN_STREAM_EINSUM that of a whole tile, for TN_STREAM_COPY that of the first source.  Release
 * it with tn_plan_free.
 *
 * TN_EUNSUPPORTED  the job is TN_STREAM_MAP, _SORT or _TAKE, or a copy without sources, which
 *                  have no such plan
 * and whatever tn_stream_run returns before it reads */
TN_API TN_NODISCARD tn_status tn_stream_in_memory(tn_plan **plan, const tn_stream *job);

/* A reduction cut into pieces that several processes compute.  The pieces of a job are the same
 * in every process whose job has the same max_mem and threads, neither of them 0.  The states
 * of pieces are merged in order, and the result has the bits of tn_stream_run for any number of
 * pieces.
 *
 *     tn_partial_create(&p, &job);                      // job: a TN_STREAM_REDUCE, outlives p
 *     for (i = 0; i < tn_partial_count(p); i++) {
 *         tn_partial_compute(p, i, &states);            // here, or in another process that
 *         tn_partial_merge(p, states);                  // sends tn_partial_bytes(p) here
 *     }
 *     tn_partial_free(p);
 *
 * States are valid only for the same version of the library and the same byte order.  Only
 * merge needs the job's sink.  A tn_partial is used by one thread at a time; states are valid
 * until the next compute, and must be aligned like uint64_t.
 *
 * TN_ENULL, TN_ENOMEM, and what tn_stream_run returns
 * TN_EARG  the recipe is another one; there is no such piece; all pieces are merged already */
typedef struct tn_partial tn_partial;
TN_API TN_NODISCARD tn_status tn_partial_create(tn_partial **p, const tn_stream *job);
TN_API int64_t tn_partial_count(const tn_partial *p); /* pieces; 0 for NULL */
TN_API int64_t tn_partial_bytes(const tn_partial *p); /* states of a piece; 0 for NULL */
TN_API TN_NODISCARD tn_status tn_partial_compute(tn_partial *p, int64_t i, const void **states);
TN_API TN_NODISCARD tn_status tn_partial_merge(tn_partial *p, const void *states);
TN_API void tn_partial_free(tn_partial *p);

/* Statistics of all elements of a tensor. */
typedef struct tn_stats {
    int64_t n, finite, zeros, nan, inf; /* nan and inf of complex numbers: in either part */
    double min, max, mean, std; /* of finite elements; NaN if there are none, or if complex;
                                 * std is that of the population */
    int64_t low, high;          /* min and max of integers: as i64, or the bits of u64 */
} tn_stats;

enum { TN_STATS_MOST_BINS = 4096 };

/* Compute the statistics of the job's only source in one pass; of the job only sources,
 * max_mem, threads and progress are used.  With bins, a second pass counts the finite elements
 * between min and max as tn_histogram does; the counts of complex numbers, which have no order,
 * are 0.  The bits are the same for any max_mem, threads and layout.
 *
 * TN_ENULL, TN_EARG as in tn_stream_run, and for bins outside [0, TN_STATS_MOST_BINS] */
TN_API TN_NODISCARD tn_status tn_stream_stats(const tn_stream *job, tn_stats *stats,
                                              int64_t bins, int64_t *counts);

/* The plan of tn_stream_stats, without data: the recipe is "stats", nothing is written, and a
 * source that takes two passes is read twice. */
TN_API TN_NODISCARD tn_status tn_stream_stats_plan(const tn_stream *job, int64_t bins,
                                                   tn_stream_facts *facts);

/* How two tensors differ; all zero to begin with. */
typedef struct tn_difference {
    int64_t n;               /* elements compared so far */
    int64_t unequal;         /* elements with different bits; across dtypes, different values */
    int64_t beyond;          /* |a - b| > atol + rtol * |b|, or NaN on one side */
    int64_t nan_a, nan_b;    /* NaN in a only, in b only */
    double max_abs, max_rel; /* largest |a - b|, and |a - b| / |b| where b is not 0 */
    int64_t at;        /* row-major index at which |a - b| is largest; -1: never above 0 */
    double sum_abs;    /* sum of |a - b|; the mean is sum_abs / n */
    double aa, bb, ab; /* sums of a * a, b * b, a * b; the cosine is ab / sqrt(aa * bb) */
} tn_difference;

/* Compare a and b, which have the same shape, in f64, and accumulate the differences in d:
 * tensors that do not fit in memory are compared piece by piece, in order.  NaN equals NaN, and
 * an infinity equals itself; the real and imaginary parts of complex numbers are compared
 * separately.
 *
 * TN_ENULL, TN_ESHAPE, TN_ENOMEM, and TN_EARG if the dtypes differ and one of them is
 * complex */
TN_API TN_NODISCARD tn_status tn_compare(const tn_tensor *a, const tn_tensor *b, double atol,
                                         double rtol, tn_difference *d);

TN_END

#endif
