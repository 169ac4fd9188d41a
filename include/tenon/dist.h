/* dist.h - how a tensor lies over many ranks, and who sends what to whom.
 *
 * Arithmetic only: nothing here communicates, so a plan for any rank of any number of ranks can
 * be made and looked at in one process.  A tn_dist and a tn_route are immutable; many threads
 * may use one. */
#ifndef TENON_DIST_H
#define TENON_DIST_H

#include <tenon/tenon.h>

TN_BEGIN

/* ---- distributions ---- */

typedef struct tn_dist tn_dist;

typedef enum tn_cut {
    TN_CUT_BLOCK,  /* ceil(n / p) in a row each; the last ones get less or nothing (torch, FFTW)
                    */
    TN_CUT_EVEN,   /* n / p in a row, the first n % p one more (PETSc, mpi4py-fft) */
    TN_CUT_CYCLIC, /* blocks of `block` in a row, round-robin (ScaLAPACK) */
} tn_cut;

/* What one axis of the mesh does. */
typedef struct tn_placement {
    int axis;      /* axis of the tensor that is cut; -1: each rank along it has a copy */
    tn_cut cut;    /* ignored for a copy, as are block and first */
    int64_t block; /* TN_CUT_CYCLIC: at least 1; otherwise 0 */
    int first;     /* TN_CUT_CYCLIC: coordinate that gets the first block; otherwise 0 */
} tn_placement;

/* Ranks as a mesh.  Placement i belongs to axis i of the mesh; when several cut the same axis
 * of the tensor, the earlier one is the outer one, and the later cuts what it left.  ranks
 * lists the mesh's ranks in row-major order (each of 0 .. product - 1 once), NULL is 0, 1, 2
 * ... Each rank has one part: a dense index space, its indices in rising global order.
 *
 * TN_EARG      ndim or mesh_ndim is out of range, an extent of the mesh is < 1, a placement's
 *              axis, cut, block or first does not fit, ranks is no permutation
 * TN_ESHAPE    a negative extent
 * TN_EOVERFLOW more than INT_MAX ranks, more than 2^63 - 1 elements
 * TN_EUNSUPPORTED a nested TN_CUT_CYCLIC that leaves more than 10^7 pieces to one rank (reported by
 *              the calls that look at that rank) */
TN_API TN_NODISCARD tn_status tn_dist_mesh(tn_dist **d, int ndim, const int64_t *shape,
                                           int mesh_ndim, const int *mesh,
                                           const tn_placement *placements, const int *ranks);

/* Any boxes: box i of rank owners[i] begins at starts[i * ndim] and has extents[i * ndim].  The
 * boxes of one rank are its parts, in the order of the list.  Boxes of different ranks may
 * overlap (copies), those of one rank may not; together they cover the tensor.
 *
 * TN_EARG      an owner outside [0, nranks), a box outside the tensor
 * TN_EOVERLAP  two boxes of one rank share an element
 * TN_ESHAPE    an element is in no box; the sentence names one
 * TN_EUNSUPPORTED copies overlap in too many ways to decide in 10^7 steps */
TN_API TN_NODISCARD tn_status tn_dist_boxes(tn_dist **d, int ndim, const int64_t *shape,
                                            int nranks, int64_t nboxes, const int *owners,
                                            const int64_t *starts, const int64_t *extents);

/* Everything on one rank of nranks. */
TN_API TN_NODISCARD tn_status tn_dist_whole(tn_dist **d, int ndim, const int64_t *shape,
                                            int nranks, int rank);

TN_API void tn_dist_free(tn_dist *d);

TN_API int tn_dist_ranks(const tn_dist *d);               /* 0 for NULL */
TN_API int64_t tn_dist_parts(const tn_dist *d, int rank); /* 0 beyond the ranks */

/* The tensor: its number of axes (0 for NULL) and its extents (NULL for NULL). */
TN_API int tn_dist_ndim(const tn_dist *d);
TN_API const int64_t *tn_dist_shape(const tn_dist *d);

/* How many ranks have each element: the product of the mesh's axes that copy; of boxes, the
 * most that any element has.  0 for NULL. */
TN_API int64_t tn_dist_copies(const tn_dist *d);

/* A hash: equal distributions have equal hashes. */
TN_API uint64_t tn_dist_hash(const tn_dist *d);

/* Extents of a part. */
TN_API TN_NODISCARD tn_status tn_dist_part(const tn_dist *d, int rank, int64_t part,
                                           int64_t *extents);

/* Global index of a local one, and the lowest rank that has a global index. */
TN_API TN_NODISCARD tn_status tn_dist_where(const tn_dist *d, int rank, int64_t part,
                                            const int64_t *local, int64_t *index);
TN_API TN_NODISCARD tn_status tn_dist_find(const tn_dist *d, const int64_t *index, int *rank,
                                           int64_t *part, int64_t *local);

/* One line: "(4096, 4096) over 2 x 2 ranks: axis 0 blocks, axis 1 cyclic 64".  The text is cut
 * to size and always ended by 0. */
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

/* dst axis i is src axis axes[i] (NULL: the same).  Elements are converted as in tn_cast when
 * the dtypes differ; the wire has the narrower of the two.  Where src has copies, a rank that
 * needs an element takes its own copy, or else one that is chosen by rank numbers alone.
 * Work and memory grow with the pieces that touch this rank, not with the number of ranks
 * squared.  rank may be beyond the ranks of either distribution: it then has no part.
 *
 * TN_EARG         rank is negative, axes is not a permutation
 * TN_EDTYPE       a dtype is unknown
 * TN_ESHAPE       the shape of dst is not that of src permuted
 * TN_EOVERFLOW    the tensor, or what this rank moves, has more than 2^63 - 1 bytes
 * TN_EUNSUPPORTED more than 10^7 pieces on one axis */
TN_API TN_NODISCARD tn_status tn_route_create(tn_route **r, int rank, const tn_dist *dst,
                                              tn_dtype dst_dtype, const tn_dist *src,
                                              tn_dtype src_dtype, const int *axes);

/* The same from one copy of src alone: where the ranks that have an element are counted in
 * rising order, from number copy.  What this rank has of that copy is a message as well, to
 * itself.  Received messages are in the order of src's parts, which is the same for every copy:
 * message i of each copy has the same elements.  src is made by tn_dist_mesh. */
TN_API TN_NODISCARD tn_status tn_route_copy(tn_route **r, int rank, const tn_dist *dst,
                                            tn_dtype dst_dtype, const tn_dist *src,
                                            tn_dtype src_dtype, const int *axes, int64_t copy);

/* Borders.  The dst part of a rank is its part of d with before[i] elements in front of axis i
 * and after[i] behind; its src part is the middle of that, and may be the same memory.  The
 * route fills what is around the middle: from the neighbours, and outside the tensor as
 * tn_pad_into (value as there).  A rank without elements has parts that stay as they are.  d is
 * made by tn_dist_mesh of TN_CUT_BLOCK, TN_CUT_EVEN and copies.
 *
 * TN_EARG         before or after is negative, mode
 * TN_ESHAPE       an axis of extent 0 with another mode than TN_PAD_CONSTANT
 * TN_EUNSUPPORTED d is cut otherwise */
TN_API TN_NODISCARD tn_status tn_route_halo(tn_route **r, int rank, const tn_dist *d,
                                            tn_dtype dtype, const int64_t *before,
                                            const int64_t *after, tn_pad_mode mode,
                                            const void *value);

TN_API TN_NODISCARD tn_status tn_route_info(const tn_route *r, tn_route_sum *sum);

/* The dtype of messages; 0 for NULL. */
TN_API tn_dtype tn_route_wire(const tn_route *r);

/* Peer and length of the i-th message that is sent (or received); peers rise, none is this
 * rank, none is empty.  TN_EARG when there is no such message. */
TN_API TN_NODISCARD tn_status tn_route_peer(const tn_route *r, bool send, int64_t i, int *rank,
                                            int64_t *elements);

/* Do these parts fit the route?  Parts may be NULL when the rank has none of that side.
 *
 * TN_ENULL     no parts, elements without data
 * TN_EARG      a dst part is TN_READONLY
 * TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE, TN_EOVERLAP as in tn_cast */
TN_API TN_NODISCARD tn_status tn_route_check(const tn_route *r, const tn_tensor *dst_parts,
                                             const tn_tensor *src_parts);

/* Elements [first, first + count) of the i-th message (beyond its end: TN_EARG); parts are
 * those of this rank, of any strides.  Parts that these elements do not touch are not looked
 * at. */
TN_API TN_NODISCARD tn_status tn_route_pack(const tn_route *r, int64_t i, int64_t first,
                                            int64_t count, void *message,
                                            const tn_tensor *src_parts);
TN_API TN_NODISCARD tn_status tn_route_unpack(const tn_route *r, int64_t i, int64_t first,
                                              int64_t count, const tn_tensor *dst_parts,
                                              const void *message);
TN_API TN_NODISCARD tn_status tn_route_keep(const tn_route *r, const tn_tensor *dst_parts,
                                            const tn_tensor *src_parts);

/* What is kept of dst parts low to high - 1 alone; other dst parts are ignored. */
TN_API TN_NODISCARD tn_status tn_route_keep_parts(const tn_route *r, int64_t low, int64_t high,
                                                  const tn_tensor *dst_parts,
                                                  const tn_tensor *src_parts);

/* Elements [first, first + count) of the i-th received message, taken from the memory of the
 * peer: peer_parts are the src parts of that rank. */
TN_API TN_NODISCARD tn_status tn_route_pull(const tn_route *r, int64_t i, int64_t first,
                                            int64_t count, const tn_tensor *dst_parts,
                                            const tn_tensor *peer_parts);

/* Where the i-th message that is sent (or received) lies in this rank's src (or dst) parts when
 * its elements are there in a row, in the dtype of the wire: it then needs no packing.  NULL
 * otherwise. */
TN_API void *tn_route_place(const tn_route *r, bool send, int64_t i, const tn_tensor *parts);

/* The k-th regular piece of the i-th received message (-1: of what is kept) as two views of the
 * same shape: of dst_parts, and of the peer's src parts, whose addresses are only computed with.
 * TN_EARG when there is no such piece. */
TN_API TN_NODISCARD tn_status tn_route_piece(const tn_route *r, int64_t i, int64_t k,
                                             const tn_tensor *dst_parts,
                                             const tn_tensor *peer_parts, tn_tensor *dst,
                                             tn_tensor *src);

/* How many elements of the i-th message that is sent (or received) go to parts of its dst rank
 * before number part: a message is in the order of these parts. */
TN_API TN_NODISCARD tn_status tn_route_before(const tn_route *r, bool send, int64_t i,
                                              int64_t part, int64_t *elements);

/* What this rank does, in words.  The text is cut to size and always ended by 0. */
TN_API TN_NODISCARD tn_status tn_route_explain(const tn_route *r, char *buf, size_t size);
TN_API void tn_route_free(tn_route *r);

TN_END

#endif
