/* dist.h - how a tensor is distributed over ranks, and which rank sends which elements to
 * which.
 *
 * Nothing here communicates: it is arithmetic only, so a plan for any rank of any number of
 * ranks can be made and inspected in one process.  A tn_dist and a tn_route are immutable; many
 * threads may share one. */
#ifndef TENON_DIST_H
#define TENON_DIST_H

#include <tenon/tenon.h>

TN_BEGIN

/* ---- distributions ---- */

typedef struct tn_dist tn_dist;

typedef enum tn_cut {
    TN_CUT_BLOCK,  /* ceil(n / p) consecutive indices each; the last ranks may get fewer or none
                    * (torch, FFTW) */
    TN_CUT_EVEN,   /* n / p consecutive indices, the first n % p one more (PETSc, mpi4py-fft) */
    TN_CUT_CYCLIC, /* blocks of `block` indices, round-robin (ScaLAPACK) */
} tn_cut;

/* What one axis of the mesh does to the tensor. */
typedef struct tn_placement {
    int axis;      /* axis of the tensor that is cut; -1: every rank along it has a copy */
    tn_cut cut;    /* ignored for a copy, as are block and first */
    int64_t block; /* TN_CUT_CYCLIC: at least 1; otherwise 0 */
    int first;     /* TN_CUT_CYCLIC: coordinate that gets the first block; otherwise 0 */
} tn_placement;

/* Distribute over a mesh of ranks.  Placement i belongs to axis i of the mesh; if several cut
 * the same axis of the tensor, the earlier one is the outer one, and each later one cuts the
 * pieces of the one before.  ranks lists the mesh's ranks in row-major order (each of 0 ..
 * product - 1 once); NULL means 0, 1, 2, … Each rank has one part: a dense index space, its
 * indices in rising global order.
 *
 * TN_EARG      ndim or mesh_ndim is out of range, an extent of the mesh is < 1, a placement's
 *              axis, cut, block or first does not fit, ranks is not a permutation
 * TN_ESHAPE    an extent is negative
 * TN_EOVERFLOW more than INT_MAX ranks, more than 2^63 - 1 elements
 * TN_EUNSUPPORTED a nested TN_CUT_CYCLIC gives one rank more than 10^7 pieces (reported by the
 *                 calls that concern that rank) */
TN_API TN_NODISCARD tn_status tn_dist_mesh(tn_dist **d, int ndim, const int64_t *shape,
                                           int mesh_ndim, const int *mesh,
                                           const tn_placement *placements, const int *ranks);

/* Distribute as arbitrary boxes: box i belongs to rank owners[i]; its first index is the ndim
 * numbers at starts[i * ndim], its extents are those at extents[i * ndim].  The boxes of a rank
 * are its parts, in the order of the list.  Boxes of different ranks may overlap (copies),
 * those of one rank may not; together they cover the tensor.
 *
 * TN_EARG      an owner is outside [0, nranks), or a box reaches outside the tensor
 * TN_EOVERLAP  two boxes of one rank share an element
 * TN_ESHAPE    an element is in no box; the sentence of tn_error names one
 * TN_EUNSUPPORTED copies overlap in too many ways to decide within 10^7 steps */
TN_API TN_NODISCARD tn_status tn_dist_boxes(tn_dist **d, int ndim, const int64_t *shape,
                                            int nranks, int64_t nboxes, const int *owners,
                                            const int64_t *starts, const int64_t *extents);

/* The whole tensor on one rank of nranks. */
TN_API TN_NODISCARD tn_status tn_dist_whole(tn_dist **d, int ndim, const int64_t *shape,
                                            int nranks, int rank);

TN_API void tn_dist_free(tn_dist *d);

TN_API int tn_dist_ranks(const tn_dist *d);               /* 0 for NULL */
TN_API int64_t tn_dist_parts(const tn_dist *d, int rank); /* 0 for a rank that d lacks */

/* The tensor: its number of axes (0 for NULL) and its extents (NULL for NULL). */
TN_API int tn_dist_ndim(const tn_dist *d);
TN_API const int64_t *tn_dist_shape(const tn_dist *d);

/* The number of ranks that have an element: for a mesh, the product of the mesh axes that copy;
 * for boxes, the maximum over all elements.  0 for NULL. */
TN_API int64_t tn_dist_copies(const tn_dist *d);

/* A hash value: equal distributions have equal hashes. */
TN_API uint64_t tn_dist_hash(const tn_dist *d);

/* The extents of a part. */
TN_API TN_NODISCARD tn_status tn_dist_part(const tn_dist *d, int rank, int64_t part,
                                           int64_t *extents);

/* The global index of a local one, and the lowest rank that has a global index. */
TN_API TN_NODISCARD tn_status tn_dist_where(const tn_dist *d, int rank, int64_t part,
                                            const int64_t *local, int64_t *index);
TN_API TN_NODISCARD tn_status tn_dist_find(const tn_dist *d, const int64_t *index, int *rank,
                                           int64_t *part, int64_t *local);

/* Describe d in one line: "(4096, 4096) over 2 x 2 ranks: axis 0 blocks, axis 1 cyclic 64".
 * The text is truncated to size bytes and always ends with a 0. */
TN_API TN_NODISCARD tn_status tn_dist_print(const tn_dist *d, char *buf, size_t size);

/* ---- routes: what one rank sends, keeps and receives ---- */

typedef struct tn_route tn_route;

typedef struct tn_route_sum {
    int64_t sends, receives;           /* messages, one for each peer */
    int64_t send_bytes, receive_bytes; /* on the wire */
    int64_t keep_bytes;                /* bytes of dst that need no message */
    int64_t boxes;                     /* regular pieces of all of them */
    int64_t plan_bytes;                /* memory of the route */
    int64_t reserved[8];
} tn_route_sum;

/* Plan the part of one rank in moving src to dst, where axis i of dst is axis axes[i] of src
 * (NULL: the same axes).  Elements are converted as by tn_cast if the dtypes differ; messages
 * have the narrower of the two.  If src has copies, a rank that needs an element uses its own
 * copy if it has one, and otherwise a copy that rank numbers alone determine.  Time and memory
 * grow with the number of pieces that concern this rank, not with the square of the number of
 * ranks.  A rank that neither distribution has is allowed: it has no part.
 *
 * TN_EARG         rank is negative, axes is not a permutation
 * TN_EDTYPE       a dtype is unknown
 * TN_ESHAPE       the shape of dst is not that of src permuted
 * TN_EOVERFLOW    the tensor, or what this rank moves, has more than 2^63 - 1 bytes
 * TN_EUNSUPPORTED an axis is cut into more than 10^7 pieces */
TN_API TN_NODISCARD tn_status tn_route_create(tn_route **r, int rank, const tn_dist *dst,
                                              tn_dtype dst_dtype, const tn_dist *src,
                                              tn_dtype src_dtype, const int *axes);

/* The same, but every element comes from one copy of src: of the ranks that have it, counted
 * from 0 in rising order, from rank number copy.  The elements of that copy that this rank
 * itself has are a message too, to itself.  Received messages are in the order of src's parts,
 * which is the same for every copy: message i of each copy has the same elements.  src is made
 * by tn_dist_mesh.
 *
 * TN_EARG         src has no such copy, and as for tn_route_create
 * TN_EUNSUPPORTED src is made of boxes */
TN_API TN_NODISCARD tn_status tn_route_copy(tn_route **r, int rank, const tn_dist *dst,
                                            tn_dtype dst_dtype, const tn_dist *src,
                                            tn_dtype src_dtype, const int *axes, int64_t copy);

/* Plan a halo exchange.  The dst part of a rank is its part of d with before[i] elements before
 * axis i and after[i] after it; its src part is the middle of that, and may be the same memory.
 * The route fills the border around the middle: from the neighbours inside the tensor, and as
 * tn_pad_into does outside it (mode and value are those of tn_pad_into).  The parts of a rank
 * without elements are left unchanged.  d is made by tn_dist_mesh of TN_CUT_BLOCK, TN_CUT_EVEN
 * and copies.
 *
 * TN_EARG         before or after is negative, or mode is unknown
 * TN_ESHAPE       an axis has extent 0 and mode is not TN_PAD_CONSTANT
 * TN_EUNSUPPORTED d is cut in another way */
TN_API TN_NODISCARD tn_status tn_route_halo(tn_route **r, int rank, const tn_dist *d,
                                            tn_dtype dtype, const int64_t *before,
                                            const int64_t *after, tn_pad_mode mode,
                                            const void *value);

TN_API TN_NODISCARD tn_status tn_route_info(const tn_route *r, tn_route_sum *sum);

/* The dtype of messages; 0 for NULL. */
TN_API tn_dtype tn_route_wire(const tn_route *r);

/* Peer and length of the i-th message that is sent (or received).  Peers are in rising order
 * and do not include this rank; no message is empty.  TN_EARG if there is no such message. */
TN_API TN_NODISCARD tn_status tn_route_peer(const tn_route *r, bool send, int64_t i, int *rank,
                                            int64_t *elements);

/* Check that these parts fit the route.  dst_parts or src_parts may be NULL if the rank has no
 * part of that side.
 *
 * TN_ENULL     parts are missing, or have elements and no data
 * TN_EARG      a dst part is TN_READONLY
 * TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE, TN_EOVERLAP as in tn_cast */
TN_API TN_NODISCARD tn_status tn_route_check(const tn_route *r, const tn_tensor *dst_parts,
                                             const tn_tensor *src_parts);

/* Pack (or unpack) elements [first, first + count) of the i-th message that is sent (or
 * received); TN_EARG if they exceed it.  Parts are those of this rank, with any strides; parts
 * without any of these elements are not checked.  tn_route_keep copies the elements that stay
 * on this rank. */
TN_API TN_NODISCARD tn_status tn_route_pack(const tn_route *r, int64_t i, int64_t first,
                                            int64_t count, void *message,
                                            const tn_tensor *src_parts);
TN_API TN_NODISCARD tn_status tn_route_unpack(const tn_route *r, int64_t i, int64_t first,
                                              int64_t count, const tn_tensor *dst_parts,
                                              const void *message);
TN_API TN_NODISCARD tn_status tn_route_keep(const tn_route *r, const tn_tensor *dst_parts,
                                            const tn_tensor *src_parts);

/* tn_route_keep for dst parts low to high - 1 only; other dst parts are ignored. */
TN_API TN_NODISCARD tn_status tn_route_keep_parts(const tn_route *r, int64_t low, int64_t high,
                                                  const tn_tensor *dst_parts,
                                                  const tn_tensor *src_parts);

/* Copy elements [first, first + count) of the i-th received message directly from the peer's
 * memory: peer_parts are the src parts of that rank. */
TN_API TN_NODISCARD tn_status tn_route_pull(const tn_route *r, int64_t i, int64_t first,
                                            int64_t count, const tn_tensor *dst_parts,
                                            const tn_tensor *peer_parts);

/* The address of the i-th message that is sent (or received) inside this rank's src (or dst)
 * parts, if its elements are contiguous there and in the dtype of messages: it then needs no
 * packing.  NULL otherwise. */
TN_API void *tn_route_place(const tn_route *r, bool send, int64_t i, const tn_tensor *parts);

/* The k-th regular piece of the i-th received message (-1: of the kept elements) as two views
 * of the same shape: of dst_parts, and of the peer's src parts, whose memory is not accessed.
 * TN_EARG if there is no such piece. */
TN_API TN_NODISCARD tn_status tn_route_piece(const tn_route *r, int64_t i, int64_t k,
                                             const tn_tensor *dst_parts,
                                             const tn_tensor *peer_parts, tn_tensor *dst,
                                             tn_tensor *src);

/* The number of elements of the i-th message that is sent (or received) which go to parts of
 * its dst rank before number part.  A message is in the order of these parts. */
TN_API TN_NODISCARD tn_status tn_route_before(const tn_route *r, bool send, int64_t i,
                                              int64_t part, int64_t *elements);

/* Describe what this rank does in words.  The text is truncated to size bytes and always ends
 * with a 0. */
TN_API TN_NODISCARD tn_status tn_route_explain(const tn_route *r, char *buf, size_t size);
TN_API void tn_route_free(tn_route *r);

TN_END

#endif
