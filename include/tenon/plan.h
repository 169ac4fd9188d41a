/* plan.h - plans: check operands and choose a strategy once, run many times on other data.
 *
 * A plan is immutable: many threads may run one plan at the same time. */
#ifndef TENON_PLAN_H
#define TENON_PLAN_H

#include <tenon/ops.h>
#include <tenon/pad.h>

TN_BEGIN

typedef struct tn_plan tn_plan;

/* Make a plan.  The tensors' data may be NULL and is not kept.  The failures are those of the
 * plain call, and TN_ENOMEM.  Release the plan with tn_plan_free. */
TN_API TN_NODISCARD tn_status tn_plan_rearrange(tn_plan **plan, const tn_tensor *dst,
                                                const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_plan_op(tn_plan **plan, tn_op op, const double *params,
                                         const tn_tensor *dst, int nsrc,
                                         const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_plan_cast(tn_plan **plan, const tn_tensor *dst,
                                           const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_plan_pad(tn_plan **plan, const tn_tensor *dst,
                                          const tn_tensor *src, const int64_t *before,
                                          const int64_t *after, tn_pad_mode mode,
                                          const void *value);

/* Run a plan.  The pointers are the addresses of element (0, …, 0), of any alignment, in the
 * order of the planning call.  Threads and executor are those of the calling thread's handle.
 * If tn_plan_workspace is 0, nothing is allocated; otherwise that number of bytes is allocated
 * and freed.
 *
 * TN_ENULL     a pointer is NULL and there are elements
 * TN_EOVERLAP  dst shares bytes with a source, as in the plain call
 * TN_ENOMEM    the workspace cannot be allocated */
TN_API TN_NODISCARD tn_status tn_plan_run(const tn_plan *plan, void *dst,
                                          const void *const *srcs);

/* Bytes of workspace that a run needs; 0 for NULL and for every plan that is not a
 * contraction. */
TN_API size_t tn_plan_workspace(const tn_plan *plan);

/* Run any plan in the caller's workspace, which is 64-byte aligned and has tn_plan_workspace
 * bytes; nothing is allocated.  Concurrent runs need a workspace each.  The failures are those
 * of tn_plan_run, and before them
 *
 * TN_ENULL     workspace is NULL and the plan needs one
 * TN_EARG      workspace is too small or not aligned */
TN_API TN_NODISCARD tn_status tn_plan_run_in(const tn_plan *plan, void *dst,
                                             const void *const *srcs, void *workspace,
                                             size_t size);

/* ---- the choices of a plan ----
 *
 * Facts are for programs and tests, the text is for people; both state the same.  Numbers that
 * do not apply to a plan are 0, texts are "". */

enum { TN_FACTS_TILE = 8, TN_FACTS_MORE = 24 };

typedef struct tn_fact {
    char name[16], text[112];
} tn_fact;

typedef struct tn_facts {
    char call[32];   /* "rearrange", "add", … */
    char way[32];    /* the strategy: "transpose", "rows", … */
    char why[112];   /* what made it fit */
    char stores[80]; /* how dst is written */
    char isa[16];    /* level of the kernels */
    tn_dtype dtype;  /* dtype, ndim and shape are those of dst */
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    int64_t read, written; /* bytes that one run reads and writes */
    int64_t unit, units;   /* bytes that are copied as one, and the number of such units */
    int tile_ndim;
    int64_t tile[TN_FACTS_TILE], tiles; /* extents of a tile in units or elements; tile count */
    int64_t run;                        /* bytes of dst written from a buffer at a time */
    int64_t buffer;                     /* bytes of buffers, on the stack of each thread */
    int64_t flops, workspace;           /* contractions: operations, and tn_plan_workspace */
    int steps;                          /* expressions: ops and conversions for each block */
    int threads;                        /* used by a run with the calling thread's handle */
    bool streams;                       /* dst is written with non-temporal stores */
    bool scalar;                        /* elements are handled one at a time */
    int nmore;
    tn_fact more[TN_FACTS_MORE]; /* facts that only plans of this kind have */
} tn_facts;

TN_API TN_NODISCARD tn_status tn_plan_facts(tn_facts *facts, const tn_plan *plan);

/* The facts as several lines of text, truncated to size bytes and always ended by a 0.  The
 * second call returns the bytes that the whole text needs, including its 0; 0 for NULL. */
TN_API TN_NODISCARD tn_status tn_plan_explain(const tn_plan *plan, char *buf, size_t size);
TN_API size_t tn_plan_explain_size(const tn_plan *plan);

/* The same as one JSON object on one line, whose keys are the members of tn_facts. */
TN_API TN_NODISCARD tn_status tn_plan_json(const tn_plan *plan, char *buf, size_t size);
TN_API size_t tn_plan_json_size(const tn_plan *plan);

/* Make a second plan by timing candidates for about `milliseconds` ms on this data; every
 * candidate writes the same result to dst.  If there is nothing to choose, the result is plan
 * itself with one more reference.  Release both.
 *
 * TN_ENULL     out, plan or an address is NULL
 * TN_EARG      milliseconds is negative or NaN
 * TN_EOVERLAP  as in tn_plan_run
 * TN_ENOMEM    the plan cannot be allocated */
TN_API TN_NODISCARD tn_status tn_plan_tuned(tn_plan **out, const tn_plan *plan, void *dst,
                                            const void *const *srcs, double milliseconds);

TN_API void tn_plan_free(tn_plan *plan);

TN_END

#endif
