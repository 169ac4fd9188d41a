/* mpi.h - tensors distributed over the ranks of a communicator (libtenon-mpi).
 *
 * Calls marked "collective" are made by all ranks of their communicator in the same order, by
 * one thread at a time, with at least MPI_THREAD_FUNNELED.  A collective call fails on all
 * ranks or on none.  It returns the same status everywhere, that of the lowest rank that has a
 * reason, and tn_error() is that rank's message, beginning with "rank 3: ".  Arguments that
 * differ between ranks are TN_ERANKS.  After such a failure no element has been moved and the
 * communicator is usable.  Errors of the MPI library are TN_EMPI; after them the communicator
 * is not usable.
 *
 * The program initialises and finalises MPI.  A rank that dies, or that does not make a call
 * which the others make, cannot be detected: the others wait until the launcher ends the job.
 * A plan that is NULL, or MPI_COMM_NULL, identifies no communicator: such a call fails on its
 * rank only.  Intercommunicators are TN_EUNSUPPORTED.  Several threads may make calls on
 * different communicators under MPI_THREAD_MULTIPLE.  Packing uses the threads of the current
 * handle. */
#ifndef TENON_MPI_H
#define TENON_MPI_H

#include <mpi.h>
#include <tenon/dist.h>

TN_BEGIN

typedef struct tn_mpi_plan tn_mpi_plan;

typedef enum tn_mpi_way {
    TN_MPI_AUTO,   /* shared memory within a node, messages between nodes */
    TN_MPI_P2P,    /* messages only */
    TN_MPI_SHARED, /* TN_EUNSUPPORTED if two ranks that exchange are on different nodes */
    /* Two levels: shared memory within a node, one message for each pair of nodes.  TN_MPI_AUTO
     * selects it for more than 4,000 peers and messages below 4 KiB. */
    TN_MPI_NODES,
} tn_mpi_way;

enum { TN_MPI_TRUST = 1 }; /* tn_mpi_run does not first agree with the other ranks */

typedef struct tn_mpi_options { /* zero selects the default */
    tn_mpi_way way;
    uint32_t flags;
    int64_t max_bytes; /* limit of buffers on this rank; 0: 64 MiB, otherwise at least 64 KiB */
    void *reserved[6]; /* NULL */
} tn_mpi_options;

/* Plan dst = src with its axes permuted and its elements converted.  Collective.  The
 * distributions may name fewer ranks than the communicator has; they may be freed afterwards.
 *
 * TN_EARG, TN_EDTYPE, TN_ESHAPE   as in tn_route_create
 * TN_ERANKS                       arguments differ between ranks
 * TN_EMPI                         an MPI call failed; the message includes MPI's
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_mpi_plan_move(tn_mpi_plan **plan, MPI_Comm comm,
                                               const tn_dist *dst, tn_dtype dst_dtype,
                                               const tn_dist *src, tn_dtype src_dtype,
                                               const int *axes, const tn_mpi_options *options);

/* Plan the exchange of halos.  The parts are larger than the rank's part of d by before[i] and
 * after[i] elements on axis i, which are filled from the neighbours or, at the edge of the
 * tensor, as by tn_pad_into.  d is made of TN_CUT_BLOCK or TN_CUT_EVEN.  src and dst of a run
 * are the same tensors: the parts with their borders.  The parts of a rank without elements are
 * not changed.  Collective. */
TN_API TN_NODISCARD tn_status tn_mpi_plan_halo(tn_mpi_plan **plan, MPI_Comm comm,
                                               const tn_dist *d, tn_dtype dtype,
                                               const int64_t *before, const int64_t *after,
                                               tn_pad_mode mode, const void *value,
                                               const tn_mpi_options *options);

/* Like tn_mpi_plan_move, but the copies of src (placements with axis -1) differ and are
 * combined by op, in rising rank order.  op is one of TN_ADD, TN_MUL, TN_MIN, TN_MAX,
 * TN_BIT_AND, TN_BIT_OR, TN_BIT_XOR, TN_LOGICAL_AND, TN_LOGICAL_OR and TN_LOGICAL_XOR.  f16,
 * bf16 and f8 are combined in f32 and rounded once, so that the bits do not depend on the
 * number of nodes or on timing.  This is not a reduction of the whole tensor: its bits depend
 * on the number of copies.  Collective. */
TN_API TN_NODISCARD tn_status tn_mpi_plan_reduce(tn_mpi_plan **plan, MPI_Comm comm, tn_op op,
                                                 const tn_dist *dst, tn_dtype dst_dtype,
                                                 const tn_dist *src, tn_dtype src_dtype,
                                                 const int *axes,
                                                 const tn_mpi_options *options);

/* Run a plan on this rank's parts, with any strides; addresses may differ from run to run.
 * Collective.  src is not changed.  dst and src must not overlap (TN_EOVERLAP). */
TN_API TN_NODISCARD tn_status tn_mpi_run(tn_mpi_plan *plan, const tn_tensor *dst_parts,
                                         const tn_tensor *src_parts);

/* Run a plan in two steps; between them the parts and their descriptors must not be touched.
 * Several plans may be started before the first is waited for; a running plan cannot be started
 * again (TN_EARG).  Both are collective. */
TN_API TN_NODISCARD tn_status tn_mpi_start(tn_mpi_plan *plan, const tn_tensor *dst_parts,
                                           const tn_tensor *src_parts);
TN_API TN_NODISCARD tn_status tn_mpi_wait(tn_mpi_plan *plan);

typedef struct tn_mpi_sum {
    tn_route_sum route;             /* of this rank */
    int64_t steps;                  /* rounds, as max_bytes requires */
    int64_t buffer_bytes;           /* all memory of the plan */
    int64_t shared_bytes;           /* read directly from other ranks' memory */
    int64_t all_bytes, all_sends;   /* over all ranks */
    int64_t most_bytes, most_sends; /* maximum over the ranks */
    int64_t reserved[8];
} tn_mpi_sum;
TN_API TN_NODISCARD tn_status tn_mpi_info(const tn_mpi_plan *plan, tn_mpi_sum *sum);
TN_API TN_NODISCARD tn_status tn_mpi_explain(const tn_mpi_plan *plan, char *buf, size_t size);

/* Free a plan.  Collective. */
TN_API void tn_mpi_plan_free(tn_mpi_plan *plan);

/* Allocate a dense tensor in memory that the other ranks of the node can read: runs with it as
 * src need neither a message nor a copy.  Shapes may differ between ranks; free it with
 * tn_mpi_free.  Both are collective. */
TN_API TN_NODISCARD tn_status tn_mpi_alloc(MPI_Comm comm, tn_tensor *t, tn_dtype dtype,
                                           int ndim, const int64_t *shape);
TN_API void tn_mpi_free(tn_tensor *t);

/* Move a whole tensor from or to one rank; whole is used on root only.  Collective. */
TN_API TN_NODISCARD tn_status tn_mpi_gather(MPI_Comm comm, int root, const tn_tensor *whole,
                                            const tn_dist *d, const tn_tensor *parts);
TN_API TN_NODISCARD tn_status tn_mpi_scatter(MPI_Comm comm, int root, const tn_dist *d,
                                             const tn_tensor *parts, const tn_tensor *whole);

/* tn_dist_boxes, for which each rank names its own boxes only.  Collective. */
TN_API TN_NODISCARD tn_status tn_mpi_dist_boxes(tn_dist **d, MPI_Comm comm, int ndim,
                                                const int64_t *shape, int64_t nboxes,
                                                const int64_t *starts, const int64_t *extents);

/* Read or write a file.  Collective.  path is on a file system that all ranks share.  Loading:
 * axis i of dst is axis axes[i] of the tensor `name` (NULL: the only one).  Saving: the ranks
 * write a temporary file, each range by one rank, and sync it; one rank renames it once all
 * have succeeded. */
TN_API TN_NODISCARD tn_status tn_mpi_load(MPI_Comm comm, const char *path, const char *name,
                                          const tn_dist *d, const tn_tensor *parts,
                                          const int *axes);
TN_API TN_NODISCARD tn_status tn_mpi_save(MPI_Comm comm, const char *path, int n,
                                          const char *const *names, const tn_dist *const *ds,
                                          const tn_tensor *const *parts, const char *metadata);

TN_END
#endif
