/* mpi.h - tensors over the ranks of a communicator (libtenon-mpi).
 *
 * Every call marked "together" is made by all ranks of its communicator in the same order, by
 * one thread at a time, with at least MPI_THREAD_FUNNELED.  Such a call fails on all ranks or on
 * none, with the same status: that of the lowest rank that has a reason, and tn_error() is that
 * rank's sentence everywhere, beginning "rank 3: ".  Ranks that ask for different things are
 * TN_ERANKS.  After such a failure nothing has been moved and the communicator is good.  What the
 * MPI library refuses is TN_EMPI; the communicator is not usable after that.
 *
 * MPI is initialised and finalised by the program.  A rank that dies, or that never makes a call
 * which the others make, cannot be seen by the others: they wait, and the launcher ends the job.
 * A plan that is NULL and MPI_COMM_NULL name no communicator: such a call fails on its rank alone.
 * Intercommunicators are TN_EUNSUPPORTED.  Calls on different communicators may be made by
 * several threads under MPI_THREAD_MULTIPLE.  Packing uses the threads of the current handle. */
#ifndef TENON_MPI_H
#define TENON_MPI_H

#include <mpi.h>
#include <tenon/dist.h>

TN_BEGIN

typedef struct tn_mpi_plan tn_mpi_plan;

typedef enum tn_mpi_way {
    TN_MPI_AUTO,   /* memory on a node, messages between nodes */
    TN_MPI_P2P,    /* messages everywhere */
    TN_MPI_SHARED, /* TN_EUNSUPPORTED when two ranks that exchange are not on one node */
    TN_MPI_NODES,  /* two levels: memory on a node, one message for each pair of nodes.
                    * TN_MPI_AUTO takes it for more than 4,000 peers and messages below 4 KiB */
} tn_mpi_way;

enum { TN_MPI_TRUST = 1 }; /* tn_mpi_run does not compare notes with the other ranks first */

typedef struct tn_mpi_options { /* zero means default */
    tn_mpi_way way;
    uint32_t flags;
    int64_t max_bytes; /* of buffers on this rank; 0: 64 MiB.  At least 64 KiB */
    void *reserved[6]; /* NULL */
} tn_mpi_options;

/* Plan dst = src with its axes permuted and its elements converted.  Together.  The
 * distributions may name fewer ranks than the communicator has; they may be freed afterwards.
 *
 * TN_EARG, TN_EDTYPE, TN_ESHAPE   as in tn_route_create
 * TN_ERANKS                       ranks differ
 * TN_EMPI                         MPI refused; the sentence has its words
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_mpi_plan_move(tn_mpi_plan **plan, MPI_Comm comm,
                                               const tn_dist *dst, tn_dtype dst_dtype,
                                               const tn_dist *src, tn_dtype src_dtype,
                                               const int *axes, const tn_mpi_options *options);

/* Fill the borders of parts that are larger than the rank's part of d: before[i] and after[i]
 * elements of the neighbours on axis i; at the rim of the tensor as tn_pad_into.  d is made of
 * TN_CUT_BLOCK or TN_CUT_EVEN.  src and dst of the run are the same tensors: the parts with
 * their borders.  A rank without elements has parts that stay as they are.  Together. */
TN_API TN_NODISCARD tn_status tn_mpi_plan_halo(tn_mpi_plan **plan, MPI_Comm comm,
                                               const tn_dist *d, tn_dtype dtype,
                                               const int64_t *before, const int64_t *after,
                                               tn_pad_mode mode, const void *value,
                                               const tn_mpi_options *options);

/* As tn_mpi_plan_move, but the copies of src (placements with axis -1) are not equal: they are
 * combined by op, one of TN_ADD, TN_MUL, TN_MIN, TN_MAX, TN_BIT_AND, TN_BIT_OR, TN_BIT_XOR,
 * TN_LOGICAL_AND, TN_LOGICAL_OR, TN_LOGICAL_XOR, in rising rank order.  f16, bf16 and f8 are
 * combined in f32 and rounded once, so that the bits are the same for every number of nodes and
 * every timing.  This is not a reduction of the whole tensor: its bits depend on how many copies
 * there are.  Together. */
TN_API TN_NODISCARD tn_status tn_mpi_plan_reduce(tn_mpi_plan **plan, MPI_Comm comm, tn_op op,
                                                 const tn_dist *dst, tn_dtype dst_dtype,
                                                 const tn_dist *src, tn_dtype src_dtype,
                                                 const int *axes,
                                                 const tn_mpi_options *options);

/* Run a plan: this rank's parts, any strides, another address each time if you like.  Together.
 * src is not changed.  dst and src share no byte (TN_EOVERLAP). */
TN_API TN_NODISCARD tn_status tn_mpi_run(tn_mpi_plan *plan, const tn_tensor *dst_parts,
                                         const tn_tensor *src_parts);

/* The same in two steps: between them the parts and their descriptors must be left alone.
 * Several plans may be started before the first is waited for; a plan that is under way cannot
 * be started again (TN_EARG).  Both together. */
TN_API TN_NODISCARD tn_status tn_mpi_start(tn_mpi_plan *plan, const tn_tensor *dst_parts,
                                           const tn_tensor *src_parts);
TN_API TN_NODISCARD tn_status tn_mpi_wait(tn_mpi_plan *plan);

typedef struct tn_mpi_sum {
    tn_route_sum route;             /* of this rank */
    int64_t steps;                  /* rounds that max_bytes asks for */
    int64_t buffer_bytes;           /* taken by the plan, all of it */
    int64_t shared_bytes;           /* read from memory of other ranks */
    int64_t all_bytes, all_sends;   /* over all ranks */
    int64_t most_bytes, most_sends; /* of the busiest rank */
    int64_t reserved[8];
} tn_mpi_sum;
TN_API TN_NODISCARD tn_status tn_mpi_info(const tn_mpi_plan *plan, tn_mpi_sum *sum);
TN_API TN_NODISCARD tn_status tn_mpi_explain(const tn_mpi_plan *plan, char *buf, size_t size);

/* Release.  Together. */
TN_API void tn_mpi_plan_free(tn_mpi_plan *plan);

/* A dense tensor in memory that the other ranks of the node can read: runs from it need no
 * message and no copy.  Together, shapes may differ; release with tn_mpi_free, together. */
TN_API TN_NODISCARD tn_status tn_mpi_alloc(MPI_Comm comm, tn_tensor *t, tn_dtype dtype,
                                           int ndim, const int64_t *shape);
TN_API void tn_mpi_free(tn_tensor *t);

/* All of a tensor from or to one rank; whole is looked at on root only.  Together. */
TN_API TN_NODISCARD tn_status tn_mpi_gather(MPI_Comm comm, int root, const tn_tensor *whole,
                                            const tn_dist *d, const tn_tensor *parts);
TN_API TN_NODISCARD tn_status tn_mpi_scatter(MPI_Comm comm, int root, const tn_dist *d,
                                             const tn_tensor *parts, const tn_tensor *whole);

/* tn_dist_boxes where each rank names its own boxes only.  Together. */
TN_API TN_NODISCARD tn_status tn_mpi_dist_boxes(tn_dist **d, MPI_Comm comm, int ndim,
                                                const int64_t *shape, int64_t nboxes,
                                                const int64_t *starts, const int64_t *extents);

/* Files.  Together.  path is on a file system that all ranks see.  Reading: dst axis i is axis
 * axes[i] of the tensor called name (NULL: the only one).  Writing: temporary file, each range of
 * it written by one rank, synced, renamed by one rank when all have succeeded. */
TN_API TN_NODISCARD tn_status tn_mpi_load(MPI_Comm comm, const char *path, const char *name,
                                          const tn_dist *d, const tn_tensor *parts,
                                          const int *axes);
TN_API TN_NODISCARD tn_status tn_mpi_save(MPI_Comm comm, const char *path, int n,
                                          const char *const *names, const tn_dist *const *ds,
                                          const tn_tensor *const *parts, const char *metadata);

TN_END
#endif
