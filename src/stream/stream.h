/* stream.h - how are results made that do not fit into memory?  Boxes, recipes, the pipeline.
 *
 * A job that stream.c has checked is consistent: every source lies inside the shape and
 * every size fits 64 bits. */
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
    TNI_BOX_USUAL = 8 << 20, /* bytes of a box whose reads are long anyway: 8 MiB are 8 ms of a
                              * 1 GB/s disk, long beside a system call and short beside memory */
    /* bytes that a read should have: half of the sequential rate with a deep queue (ext4 on a
     * virtual disk, docs/investigations/files.md) */
    TNI_ENOUGH_READ = 8 << 10,
    TNI_STREAM_THREADS = 16 /* readers of one disk; more only shorten the boxes */
};

typedef struct tni_box {
    int64_t at[TN_MAX_NDIM], n[TN_MAX_NDIM];
} tni_box;

/* The boxes of a shape, numbered in row-major order: axes before `cut` have one index each, cut
 * itself a range, the rest are whole. */
typedef struct tni_boxes {
    int ndim, cut;
    int64_t shape[TN_MAX_NDIM], range;
    int64_t grid[TN_MAX_NDIM]; /* boxes along each axis */
    int64_t count;             /* all of them */
} tni_boxes;

/* Boxes of at most `elements` elements, at least 1. */
void tni_boxes_cut(tni_boxes *b, int ndim, const int64_t *shape, int64_t elements);
void tni_boxes_get(const tni_boxes *b, int64_t number, tni_box *box);

/* Bytes that lie beside each other in the file among those that a box of extents n takes from
 * view. */
int64_t tni_span(const tn_tensor *view, const int64_t *n);

/* The shortest such span among the sources for boxes of `elements` elements; *whole: none of them
 * would be longer in one box of everything. */
int64_t tni_shortest_read(const tn_stream *job, int64_t elements, bool *whole);

/* ---- recipes (recipe.c) ---- */

/* Memory of one box beside its result. */
typedef struct tni_scratch {
    char *at;
    int64_t bytes;
    tni_queue *queue; /* for reads of files; NULL: one read at a time */
} tni_scratch;

/* How boxes of the result are made.  A new recipe is a value of tn_stream_recipe, a struct of
 * arguments in <tenon/stream.h>, and a row. */
typedef struct tni_recipe {
    const char *name;
    /* Beyond what holds for every job. */
    tn_status (*check)(const tn_stream *job);
    /* Bytes of scratch for each element of a box; 64 for each source come on top. */
    int64_t (*scratch)(const tn_stream *job);
    /* Make the box in out, which is dense.  Runs on several threads at once. */
    tn_status (*make)(const tn_stream *job, const tni_box *box, const tn_tensor *out,
                      tni_scratch scratch);
    /* In place of scratch and make, where boxes of the result are no boxes of the source: run
     * the job, or with facts only say how. */
    tn_status (*run)(const tn_stream *job, tn_stream_facts *facts);
    bool own_axes; /* the source has other axes than the result */
    bool reads;    /* run says how many bytes are read */
    /* The plan of the job in memory (tn_stream_in_memory); NULL: there is none. */
    tn_status (*plan)(const tn_stream *job, tn_plan **plan);
} tni_recipe;

/* The row of a job's recipe, which an expression with reductions has for itself; NULL when there is
 * none. */
const tni_recipe *tni_recipe_of(const tn_stream *job);

/* Bytes of all buffers for one element of the result. */
int64_t tni_recipe_bytes(const tn_stream *job);

/* Read a box of a source, given by its own indices and dst's shape, into dst; file, callback
 * and memory alike.  q may be NULL. */
tn_status tni_source_read(const tn_stream_source *s, const tn_tensor *dst, const int64_t *at,
                          tni_queue *q);

/* Hand a block of the result to the job's sink. */
tn_status tni_stream_deliver(const tn_stream *job, const tn_tensor *block, const int64_t *at);

/* Run the job that a job comes down to, or say how: facts are then of the inner one. */
tn_status tni_stream_inner(const tn_stream *inner, tn_stream_facts *facts);

/* A stream to the sink of job, by one thread, whose boxes a callback makes. */
static inline tn_stream tni_stream_of_boxes(const tn_stream *job, tn_stream_source *boxes)
{
    return (tn_stream){.n = 1,
                       .sources = boxes,
                       .writer = job->writer,
                       .put = job->put,
                       .user = job->user,
                       .threads = 1};
}

/* The failure of a plan that stands for a call: its sentence is that of the call. */
tn_status tni_unplanned(tn_status status);

/* ---- reductions (runs.c, stream_reduce.c), scans, orders, indices, products ---- */

/* The sequences of a source over the folded axes, in pieces. */
typedef struct tni_runs {
    const tn_stream_source *source;
    uint64_t folded;
    int nfold, nmap, fold[TN_MAX_NDIM], map[TN_MAX_NDIM]; /* axes, in the order of sequences */
    bool near;                    /* results lie nearer to each other than their elements */
    int64_t count, outputs, each; /* elements of a sequence; results; bytes that one needs */
    int64_t run, runs;            /* elements of a run, how many */
    tni_boxes windows;
    int64_t window, piece; /* results of a window, bytes of a piece: the most */
    int64_t span;          /* bytes beside each other in the file */
} tni_runs;

/* Plan pieces of about `bytes` bytes; ordered: sequences are row-major. */
void tni_runs_plan(tni_runs *r, const tn_stream_source *source, uint64_t folded, bool ordered,
                   int64_t each, int64_t bytes);

/* Read a run of the sequences of a window; piece is (elements, results) at `to`. */
tn_status tni_runs_read(const tni_runs *r, const tni_box *window, int64_t run, char *to,
                        tn_tensor *piece);

extern const tni_recipe tni_stream_reduce_row, tni_stream_scan_row, tni_stream_sort_row,
    tni_stream_take_row, tni_stream_einsum_row;

/* TN_STREAM_EVAL: whether its expression has reductions, and the row of such jobs
 * (stream_eval.c). */
bool tni_stream_eval_reduces(const tn_stream *job);
extern const tni_recipe tni_stream_eval_row;

/* Bytes that are read of all sources: repeated axes count once, memory not at all. */
int64_t tni_stream_read(const tn_stream *job);

/* The plan of TN_STREAM_EVAL in memory, with reductions or without (recipe.c). */
tn_status tni_eval_plan(const tn_stream *job, tn_plan **plan);

/* ---- jobs (stream.c) ---- */

/* Bytes that a buffer of the job may have. */
int64_t tni_stream_share(const tn_stream *job);

/* The axes that boxes count in. */
int tni_stream_ndim(const tn_stream *job);
const int64_t *tni_stream_shape(const tn_stream *job);

/* How a job is cut. */
typedef struct tni_schedule {
    int threads, buffers;
    int64_t elements; /* most elements of a box */
    bool queued;      /* files are read with many reads in flight, past the page cache */
    bool direct;      /* the result is written past the page cache */
    bool scattered;   /* reads are short, and no larger box would lengthen them enough */
    bool tidy;        /* files are longer than the budget: the page cache is to forget them */
    int64_t shortest; /* bytes of the shortest read of a box */
} tni_schedule;

tni_schedule tni_stream_schedule(const tn_stream *job);

/* tn_file_fetch, by a queue when q is not NULL (fetch.c).  It holds TNI_STAGE bytes beside its
 * destination, twice as many with a queue. */
tn_status tni_fetch(const tn_file *f, int64_t i, const tn_tensor *dst, const tn_tensor *places,
                    tni_queue *q);

/* Place in the file of the first element of a view of entry e, inside which it lies. */
tn_status tni_fetch_locate(const tn_file *f, const tni_entry *e, const tn_tensor *view,
                           int64_t *at);

/* Let the system begin to read all that a source takes, before short reads ask for it; false where
 * that would be too much: reads far from each other, or a file that the page cache cannot hold. */
bool tni_fetch_ahead(const tn_stream_source *s);

/* ---- the pipeline (pipeline.c) ---- */

tn_status tni_stream_pipeline(const tn_stream *job, const tni_schedule *plan);

/* ---- two passes (two_pass.c) ---- */

/* How a view is brought near to its result in a file of its own: by pieces of `piece` indices
 * along `axis`, the slowest one in the file, each of which is rearranged in memory. */
typedef struct tni_two_pass {
    int axis;
    int64_t piece;
    bool cached; /* the file is small beside the memory that nobody uses: it stays in the page
                  * cache, and has gone before the system would write it to the disk */
    tni_schedule first, second;
} tni_two_pass;

/* Bytes of memory that nobody uses; tests set it, -1 asks the system. */
extern int64_t tni_free_memory;

/* Whether a file of `bytes` bytes stays in the page cache while a job uses it. */
bool tni_stays_cached(int64_t bytes);

/* Whether two passes read longer than one does: false also where one is long enough. */
bool tni_two_pass_plan(const tn_stream *job, const tni_schedule *one, tni_two_pass *plan);
tn_status tni_two_pass_run(const tn_stream *job, const tni_two_pass *plan);

#endif
