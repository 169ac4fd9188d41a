/* stream.h - how are results computed that do not fit into memory?  Boxes, recipes, the
 * pipeline.
 *
 * A job that stream.c has checked is consistent: every source lies inside the shape and every
 * size fits 64 bits. */
#ifndef TNI_STREAM_H
#define TNI_STREAM_H

#include <tenon/stream.h>

#include "core/core.h"
#include "io/io.h"
#include "plan/plan.h"
#include "runtime/runtime.h"
#include "view/view.h"

/* ---- boxes (box.c) ---- */

enum {
    /* Bytes of a box if its reads are long anyway: 8 MiB take 8 ms on a 1 GB/s disk, long
     * compared with a system call and small compared with memory. */
    TNI_BOX_USUAL = 8 << 20,
    /* Minimum bytes of a box whose reads are short, little beside the stages of its reads: a 40
     * MB transpose by reads of 52 bytes, in boxes of 64 KiB, takes 12 s, in two passes of boxes
     * of 1 MiB 0.2 s (Zen 5, 2 vCPUs). */
    TNI_BOX_SHORT = 1 << 20,
    /* Length of a read that reaches half of the sequential rate with a deep queue (ext4 on a
     * virtual disk, docs/investigations/files.md). */
    TNI_ENOUGH_READ = 8 << 10,
    TNI_STREAM_THREADS = 16 /* more readers of one disk only make the boxes smaller */
};

typedef struct tni_box {
    int64_t at[TN_MAX_NDIM], n[TN_MAX_NDIM];
} tni_box;

/* The boxes of a shape, numbered in row-major order: a box has one index of each axis before
 * `cut`, up to `range` indices of axis `cut`, and all indices of the axes after it. */
typedef struct tni_boxes {
    int ndim, cut;
    int64_t shape[TN_MAX_NDIM], range;
    int64_t grid[TN_MAX_NDIM]; /* boxes along each axis */
    int64_t count;             /* total number of boxes */
} tni_boxes;

/* Cut the shape into boxes of at most `elements` elements, which is at least 1. */
void tni_boxes_cut(tni_boxes *b, int ndim, const int64_t *shape, int64_t elements);
void tni_boxes_get(const tni_boxes *b, int64_t number, tni_box *box);

/* Length in bytes of the contiguous runs in the file that make up a box of extents n of
 * view. */
int64_t tni_span(const tn_tensor *view, const int64_t *n);

/* The shortest such run of any source for boxes of `elements` elements; *whole is set if no run
 * would be longer in one box of everything. */
int64_t tni_shortest_read(const tn_stream *job, int64_t elements, bool *whole);

/* ---- recipes (recipe.c) ---- */

/* Memory for making one box, besides its result. */
typedef struct tni_scratch {
    char *at;
    int64_t bytes;
    tni_queue *queue; /* for reads of files; NULL: one read at a time */
} tni_scratch;

/* How boxes of the result are made.  A new recipe is a value of tn_stream_recipe, a struct of
 * arguments in <tenon/stream.h>, and a row. */
typedef struct tni_recipe {
    const char *name;
    /* Checks beyond those that apply to every job. */
    tn_status (*check)(const tn_stream *job);
    /* Bytes of scratch for each element of a box; each source adds 64. */
    int64_t (*scratch)(const tn_stream *job);
    /* Make the box in out, which is dense.  Runs on several threads at once. */
    tn_status (*make)(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                      tni_scratch scratch);
    /* Replaces scratch and make if a box of the result does not correspond to boxes of the
     * sources: run the job or, with facts, only describe it. */
    tn_status (*run)(const tn_stream *job, tn_stream_facts *facts);
    /* For recipes of one source, whose file may lie in another order than it is read: the
     * extents of what a box reads at once, and the order of the axes in which that would be a
     * long read.  NULL: reads are as long as boxes make them. */
    void (*one_read)(const tn_stream *job, int64_t *n, int *axes);
    bool own_axes; /* the axes of the source differ from those of the result */
    bool reads;    /* run sets the number of bytes read */
    /* The plan of the job in memory (tn_stream_in_memory); NULL: none. */
    tn_status (*plan)(const tn_stream *job, tn_plan **plan);
} tni_recipe;

/* The row of a job's recipe; NULL if there is none.  An expression with reductions has a row of
 * its own. */
const tni_recipe *tni_recipe_of(const tn_stream *job);

/* Checks of recipes: the job has one source; its shape is that of out alone. */
tn_status tni_recipe_one_source(const tn_stream *job);
tn_status tni_recipe_no_axes(const tn_stream *job);

/* Bytes of result and scratch for one element of the result. */
int64_t tni_recipe_bytes(const tn_stream *job);

/* Read the box of a source that begins at index `at` and has dst's shape into dst; the source
 * may be a file, a callback or memory.  q may be NULL. */
tn_status tni_source_read(const tn_stream_source *s, const tn_tensor *dst, const int64_t *at,
                          tni_queue *q);

/* Pass a block of the result to the job's sink. */
tn_status tni_stream_deliver(const tn_stream *job, const tn_tensor *block, const int64_t *at);

/* Run the job that carries out another one or, with facts, describe it; the facts are those of
 * the inner job. */
tn_status tni_stream_inner(const tn_stream *inner, tn_stream_facts *facts);

/* A single-threaded stream to the sink of job; its source is a callback that makes the
 * boxes. */
static inline tn_stream tni_stream_of_boxes(const tn_stream *job, tn_stream_source *boxes)
{
    return (tn_stream){.n = 1,
                       .sources = boxes,
                       .writer = job->writer,
                       .put = job->put,
                       .user = job->user,
                       .threads = 1};
}

/* Rewrite the error message of a plan function that was called in place of the operation
 * itself. */
tn_status tni_unplanned(tn_status status);

/* ---- reductions (runs.c, stream_reduce.c), scans, sorts, indices, products ---- */

/* The sequences of a source along the folded axes, cut into pieces. */
typedef struct tni_runs {
    const tn_stream_source *source;
    uint64_t folded;
    int nfold, nmap, fold[TN_MAX_NDIM], map[TN_MAX_NDIM]; /* axes, outermost first */
    bool near;                    /* neighbours in the file belong to different results */
    int64_t count, outputs, each; /* elements of a sequence; results; bytes per result */
    int64_t run, runs;            /* elements of a run; number of runs */
    tni_boxes windows;
    int64_t window, piece; /* maximum results of a window and bytes of a piece */
    int64_t span;          /* bytes of the shortest contiguous read of a piece */
} tni_runs;

/* Cut the sequences into pieces of about `bytes` bytes; ordered: sequences are in row-major
 * order. */
void tni_runs_plan(tni_runs *r, const tn_stream_source *source, uint64_t folded, bool ordered,
                   int64_t each, int64_t bytes);

/* Read one run of the sequences of a window to `to`; piece becomes its view (elements,
 * results). */
tn_status tni_runs_read(const tni_runs *r, const tni_box *window, int64_t run, char *to,
                        tn_tensor *piece);

extern const tni_recipe tni_stream_reduce_row, tni_stream_scan_row, tni_stream_sort_row,
    tni_stream_take_row, tni_stream_einsum_row;

/* True if the expression of a TN_STREAM_EVAL job has reductions; the row of such jobs
 * (stream_eval.c). */
bool tni_stream_eval_reduces(const tn_stream *job);
extern const tni_recipe tni_stream_eval_row;

/* Bytes read from all sources: broadcast axes count once, sources in memory not at all. */
int64_t tni_stream_bytes_read(const tn_stream *job);

/* The plan in memory of a TN_STREAM_EVAL job, with or without reductions (recipe.c). */
tn_status tni_eval_plan(const tn_stream *job, tn_plan **plan);

/* ---- jobs (stream.c) ---- */

/* Maximum bytes of one buffer of the job. */
int64_t tni_stream_share(const tn_stream *job);

/* The axes that are cut into boxes. */
int tni_stream_ndim(const tn_stream *job);
const int64_t *tni_stream_shape(const tn_stream *job);

/* How a job is cut and run. */
typedef struct tni_schedule {
    int threads, buffers;
    int workers;      /* threads started to make boxes; 0: the calling thread makes them */
    int64_t elements; /* maximum elements of a box */
    bool queued;      /* files are read by queues: direct I/O, many reads in flight */
    bool direct;      /* the result is written with direct I/O */
    bool read_ahead;  /* reads are short: the system is asked to read files ahead */
    bool tidy;        /* files exceed the budget: drop their pages from the page cache */
    int64_t shortest; /* bytes of the shortest read of a box */
} tni_schedule;

tni_schedule tni_stream_schedule(const tn_stream *job);

/* Threads that the job may use: 1 where the calling thread may not start any. */
int tni_stream_threads(const tn_stream *job);

/* Decide which threads make the boxes of a schedule: its last step. */
void tni_schedule_workers(const tn_stream *job, tni_schedule *p);

/* tn_file_fetch, with reads queued in q unless it is NULL (fetch.c).  It holds TNI_STAGE bytes
 * besides its destination, twice as many with a queue, which itself holds TNI_QUEUE_BYTES. */
tn_status tni_fetch(const tn_file *f, int64_t i, const tn_tensor *dst, const tn_tensor *places,
                    tni_queue *q);

/* Offset in the file of the first element of a view, which must lie inside entry e. */
tn_status tni_fetch_locate(const tn_file *f, const tni_entry *e, const tn_tensor *view,
                           int64_t *at);

/* Whether the system can read ahead all that a source needs, before short reads request it;
 * false if that would read too much: elements are sparse, or the page cache cannot hold the
 * file. */
bool tni_fetch_can_ahead(const tn_stream_source *s);

/* Ask the system to do so. */
void tni_fetch_ahead(const tn_stream_source *s);

/* ---- the pipeline (pipeline.c) ---- */

tn_status tni_stream_pipeline(const tn_stream *job, const tni_schedule *plan);

/* ---- sources in another order (reorder.c) ---- */

/* A tensor in an unnamed temporary file: written sequentially, then read.  Zero-initialised. */
typedef struct tni_temp {
    tn_writer *writer;
    tn_file *file;
    tn_tensor view;
} tni_temp;

/* tni_writer_open_scratch chooses the folder of the file. */
tn_status tni_temp_open(tni_temp *t, const tn_writer *beside, tn_dtype dtype, int ndim,
                        const int64_t *shape);
tn_status tni_temp_reopen(tni_temp *t);
void tni_temp_close(tni_temp *t);

/* True if the source is first copied to a temporary file, with its axes in this order: its
 * reads are short, those of the copy much longer, and so many that copying takes less time. */
bool tni_reorder_plan(const tn_stream *job, int *axes);
tn_status tni_reorder_run(const tn_stream *job, const int *axes);
tn_status tni_reorder_facts(const tn_stream *job, const int *axes, tn_stream_facts *facts);

/* ---- two passes (two_pass.c) ---- */

/* A first pass that reorders a view in a temporary file: it reads pieces of `piece` indices
 * along `axis`, the axis with the longest stride in the file, and rearranges each in memory. */
typedef struct tni_two_pass {
    int axis;
    int64_t piece;
    /* The temporary file is small compared with free memory: it stays in the page cache and is
     * deleted before the system would write it back. */
    bool cached;
    tni_schedule first, second;
} tni_two_pass;

/* Bytes of free memory; set by tests, -1: ask the system. */
extern int64_t tni_free_memory;

/* True if a file of `bytes` bytes stays in the page cache while a job uses it. */
bool tni_stays_cached(int64_t bytes);

/* True if the reads of one pass are too short and those of two passes are much longer. */
bool tni_two_pass_plan(const tn_stream *job, const tni_schedule *one, tni_two_pass *plan);
tn_status tni_two_pass_run(const tn_stream *job, const tni_two_pass *plan);

#endif
