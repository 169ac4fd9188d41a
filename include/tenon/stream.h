/* stream.h - results larger than memory: a job reads its sources box by box, computes, and
 * hands the result to a sink in row-major order.
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
 * A box is a window of the result: one index of some leading axes, a range of one axis, all of
 * the rest.  Boxes are computed ahead by worker threads; sink and progress are called by the
 * calling thread alone, in order.  The bytes of a result do not depend on max_mem or threads. */
#ifndef TENON_STREAM_H
#define TENON_STREAM_H

#include <tenon/contract.h>
#include <tenon/expr.h>
#include <tenon/index.h>
#include <tenon/io.h>
#include <tenon/ops.h>

TN_BEGIN

/* Elements that a job reads: a tensor in an open file, what a callback gives, or memory.
 *
 * file, tensor  an open file and the index of a tensor in it; view is then any view of what
 *               tn_file_places gave for it
 * read          without a file: fill dst with the elements of the source from index at on.
 *               Called by several threads at once; only dtype, shape and strides of 0 (which
 *               repeat one index) of view count
 * view          without a file or read, a tensor in memory
 * at            TN_STREAM_COPY: the index of the result at which element (0, …) of view goes */
typedef struct tn_stream_source {
    const tn_file *file;
    int64_t tensor;
    tn_status (*read)(void *user, const tn_tensor *dst, const int64_t *at);
    void *user;
    tn_tensor view;
    int64_t at[TN_MAX_NDIM];
} tn_stream_source;

/* How the result follows from the sources; args points at the struct named here, or is NULL. */
typedef enum tn_stream_recipe {
    TN_STREAM_COPY,  /* each source goes to its `at`, converted to out's dtype (tn_cast); args:
                      * tn_stream_fill, needed where sources leave elements of out uncovered */
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

/* What elements have that no source covers: one element at value, of this dtype. */
typedef struct tn_stream_fill {
    tn_dtype dtype;
    const void *value;
} tn_stream_fill;

typedef struct tn_stream_op {
    tn_op op;
    const double *params; /* as in tn_apply */
} tn_stream_op;

/* fn computes out, dense, from the same box of n sources in memory; at is the box's first
 * index.  Called by several threads at once, each of which has a handle of one thread. */
typedef struct tn_stream_map {
    tn_status (*fn)(void *user, const tn_tensor *out, int n, const tn_tensor *const *srcs,
                    const int64_t *at);
    void *user;
} tn_stream_map;

/* out may have another dtype, as in tn_expr_run.  With reductions the sources have one shape, to
 * which they are broadcast, and out has the shape of the value; the bytes are those of tn_eval, and
 * progress is passed the bytes of the arguments of all reductions. */
typedef struct tn_stream_eval {
    const tn_expr *expr;
} tn_stream_eval;

/* As in tn_reduce.  progress is passed the bytes of the source. */
typedef struct tn_stream_reduce {
    tn_reduction op;
    const double *params;
    int naxes; /* or TN_ALL_AXES */
    const int *axes;
} tn_stream_reduce;

/* Boxes that cut sequences keep a state of 32 bytes for each, and have 8 indices of dim or more. */
typedef struct tn_stream_scan {
    tn_scan_op op;
    int dim;
} tn_stream_scan;

/* values, or indices (i64, or i32 where they fit).  Temporary files are used where a box of
 * whole sequences, or one sequence, exceeds max_mem. */
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

/* spec as in tn_einsum, and so is out's dtype.  The result, and sums that are long, are cut into
 * tiles by shapes alone; each tile is a tn_einsum of dense copies, and pieces of a sum are added up
 * in order: in f32 where out is a float of 8 or 16 bits.  The bytes do not depend on max_mem or on
 * strides; where sums are not cut they are those of tn_einsum of such a tile.  More memory makes
 * boxes longer, so that sources are read less often; box does not count.  progress is passed the
 * bytes of the parts of sources that tiles need. */
typedef struct tn_stream_einsum {
    const char *spec;
} tn_stream_einsum;

/* A job; zero means default.
 *
 * recipe, args  see tn_stream_recipe
 * out           dtype and shape of the result; data and strides are ignored
 * ndim, shape   axes in which boxes, sources and `at` count, when they are others than out's:
 *               the same elements in the same order.  ndim 0 is out's own
 * n, sources    operands of TN_STREAM_APPLY in order; TN_STREAM_COPY takes any number
 * writer        takes the elements of its next tensor; not committed
 * put           without a writer: gets the boxes in order; block is dense, at its first index
 * max_mem       bytes for elements; 0 is a quarter of the machine's memory.  The least that a job
 *               needs, 64 KiB for a box and 4 MiB for reading, is taken even if max_mem is less
 * box           elements of each box but the last ones of an axis; 0 lets the planner choose
 *               by max_mem.  With it the boxes, too, do not depend on max_mem
 * threads       0 is that of the calling thread's handle, 1 computes in the calling thread
 * progress      is passed the bytes delivered so far and all of them; in a job of two passes each
 *               pass counts as half; a status that is not TN_OK ends the job with it */
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
    void *user; /* given to put and progress */
    int64_t max_mem, box;
    int threads;
    void *reserved[8]; /* NULL */
} tn_stream;

/* What tn_stream_run would do. */
typedef struct tn_stream_facts {
    const char *recipe;       /* the name of the recipe, "copy" */
    const char *way;          /* "nothing": no elements; "in order": sources are read as they
                                * lie; "boxes": through the page cache; "direct": past it, with
                                * many reads in flight; "two-pass": direct, by a temporary file
                                * of the size of the source; "temporary file": a sort whose
                                * sequences do not fit into memory, by one of the result's size */
    int64_t boxes, box;       /* how many, and elements of the largest */
    int64_t threads, buffers; /* buffers: boxes that are in memory at once */
    int64_t memory;           /* bytes for elements */
    int64_t read, written;    /* bytes; repeated axes of a source count once; an einsum counts
                               * what it reads again */
    int64_t shortest_read;    /* bytes that lie beside each other in the file, within a box */
    int64_t queue;            /* reads in flight at most; 0: one for each thread */
    double seconds; /* what a disk of 1.4 GB/s would take; 0: "in order" and "boxes" */
} tn_stream_facts;

/* Compute the result and hand it to the sink.
 *
 * TN_ENULL     no job, no sources, no sink, no args where they are needed
 * TN_EARG      a source leaves the shape, a box or size is negative, reserved is not NULL
 * TN_EDTYPE, TN_ESHAPE  sources and result do not fit
 * TN_EOVERFLOW a shape of 2^59 elements or more
 * TN_ENOMEM, and what sources, sink, progress and ops return; the writer is then to be aborted
 */
TN_API TN_NODISCARD tn_status tn_stream_run(const tn_stream *job);

/* Bytes for elements that a job of this max_mem may take: max_mem itself, or for 0 a quarter of
 * the machine's memory. */
TN_API int64_t tn_stream_budget(int64_t max_mem);

/* The plan of a job as facts and as text, cut to size and ended by 0.  Needs neither a sink nor
 * data. */
TN_API TN_NODISCARD tn_status tn_stream_plan(const tn_stream *job, tn_stream_facts *facts);
TN_API TN_NODISCARD tn_status tn_stream_explain(const tn_stream *job, char *buf, size_t size);

/* What made the way of facts fit, in a few words; "" for NULL. */
TN_API const char *tn_stream_why(const tn_stream_facts *facts);

/* Facts as one JSON object on one line, whose keys are the members of tn_stream_facts, and why; cut
 * to size and ended by 0.
 *
 * TN_ENULL  facts is NULL, or buf while size is not 0 */
TN_API TN_NODISCARD tn_status tn_stream_facts_json(const tn_stream_facts *facts, char *buf,
                                                   size_t size);

/* The plan of the call that a job makes in memory, as if all of it were there: of a whole tile of
 * TN_STREAM_EINSUM, of the first source of TN_STREAM_COPY.  Release it with tn_plan_free.
 *
 * TN_EUNSUPPORTED  TN_STREAM_MAP, _SORT and _TAKE, and copies without sources, which have none
 * and what tn_stream_run returns before it reads */
TN_API TN_NODISCARD tn_status tn_stream_in_memory(tn_plan **plan, const tn_stream *job);

/* A reduction in pieces that several processes compute.  The pieces of a job are the same in each
 * process whose job has the same max_mem and threads, neither of them 0; states of pieces meet
 * in their order, and the result has the bits of tn_stream_run whatever the number of pieces.
 *
 *     tn_partial_create(&p, &job);                        // of TN_STREAM_REDUCE; job stays
 *     for (i = 0; i < tn_partial_count(p); i++) {
 *         tn_partial_compute(p, i, &states);              // here, or in another process that
 *         tn_partial_merge(p, states);                    // sends tn_partial_bytes(p) to this one
 *     }
 *     tn_partial_free(p);
 *
 * States are of this version of the library and of this machine's byte order.  Only merge needs
 * the job's sink.  A tn_partial is used by one thread at a time; states are good until the next
 * compute, and need the alignment of uint64_t.
 *
 * TN_ENULL, TN_ENOMEM, and what tn_stream_run returns
 * TN_EARG  another recipe; no such piece; all pieces are merged */
typedef struct tn_partial tn_partial;
TN_API TN_NODISCARD tn_status tn_partial_create(tn_partial **p, const tn_stream *job);
TN_API int64_t tn_partial_count(const tn_partial *p); /* pieces; 0 for NULL */
TN_API int64_t tn_partial_bytes(const tn_partial *p); /* states of a piece; 0 for NULL */
TN_API TN_NODISCARD tn_status tn_partial_compute(tn_partial *p, int64_t i, const void **states);
TN_API TN_NODISCARD tn_status tn_partial_merge(tn_partial *p, const void *states);
TN_API void tn_partial_free(tn_partial *p);

/* Facts of all elements of a tensor. */
typedef struct tn_stats {
    int64_t n, finite, zeros, nan, inf; /* nan and inf of complex numbers: of either part */
    double min, max, mean, std; /* of finite elements; NaN when there are none, or complex */
    int64_t low, high;          /* min and max of integers: as i64, or the bits of u64 */
} tn_stats;

enum { TN_STATS_MOST_BINS = 4096 };

/* The facts of the job's only source, in one pass; of the job sources, max_mem, threads and
 * progress count.  With bins a second pass counts the finite elements between min and max as
 * tn_histogram does; not of bool and complex, whose counts are 0.  The same bits for any
 * max_mem, threads and layout.
 *
 * TN_ENULL, TN_EARG as in tn_stream_run, and for bins outside [0, TN_STATS_MOST_BINS] */
TN_API TN_NODISCARD tn_status tn_stream_stats(const tn_stream *job, tn_stats *stats,
                                              int64_t bins, int64_t *counts);

/* What tn_stream_stats would do, without data: the recipe is "stats", nothing is written, and a
 * source of two passes is read twice. */
TN_API TN_NODISCARD tn_status tn_stream_stats_plan(const tn_stream *job, int64_t bins,
                                                   tn_stream_facts *facts);

/* How two tensors differ; all zero to begin with. */
typedef struct tn_difference {
    int64_t n;               /* elements that have been compared */
    int64_t unequal;         /* elements with other bits, or in other dtypes another value */
    int64_t beyond;          /* |a - b| > atol + rtol * |b|, or NaN on one side */
    int64_t nan_a, nan_b;    /* NaN in a alone, in b alone */
    double max_abs, max_rel; /* largest |a - b|, and |a - b| / |b| where b is not 0 */
    int64_t at;        /* row-major index at which |a - b| is largest; -1: never above 0 */
    double sum_abs;    /* sum of |a - b|; the mean is sum_abs / n */
    double aa, bb, ab; /* sums of a * a, b * b, a * b; the cosine is ab / sqrt(aa * bb) */
} tn_difference;

/* Compare a and b, which agree in shape, in f64, and add what is found to d: tensors that do not
 * fit into memory are compared piece by piece, in order.  NaN equals NaN, an infinity itself;
 * complex numbers are compared part by part.
 *
 * TN_ENULL, TN_ESHAPE, TN_ENOMEM, and TN_EARG when one of two different dtypes is complex */
TN_API TN_NODISCARD tn_status tn_compare(const tn_tensor *a, const tn_tensor *b, double atol,
                                         double rtol, tn_difference *d);

TN_END

#endif
