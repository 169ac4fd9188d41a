/* ranks.h - what the files of libtenon-mpi share.
 *
 * Ranks fail together: a call checks its own arguments and keeps the status, then all ranks
 * compare notes (tnm_agree), and only then is anything moved. */
#ifndef TENON_RANKS_H
#define TENON_RANKS_H

#include <stdio.h>
#include <string.h>

#include <tenon/mpi.h>

/* ---- communicators (comm.c) ---- */

/* Memory of tn_mpi_alloc: a window shared by the ranks of the node. */
typedef struct tnm_window {
    MPI_Win win;
    void *base;   /* this rank's segment */
    int64_t size; /* of the segment */
    int64_t id;   /* the same on all ranks; never reused */
    struct tnm_window *next;
} tnm_window;

/* One for each communicator of the user, cached as its attribute and referenced by plans. */
typedef struct tnm_comm {
    MPI_Comm comm; /* a duplicate, set to return errors */
    MPI_Comm node; /* the ranks of comm that share memory with this one */
    int rank, size;
    int holders; /* references: the attribute and the plans */
    int tag;     /* of the next plan */
    tnm_window *windows;
    int64_t next_id;

    /* Set by tnm_comm_nodes; NULL before. */
    int nodes;       /* number of nodes */
    int *node_of;    /* node of each rank; nodes are numbered by their lowest ranks */
    int *members;    /* ranks sorted by node: those of node k begin at node_first[k] */
    int *node_first; /* nodes + 1 entries */
} tnm_comm;

/* The cached object of a communicator; tnm_comm_hold keeps a reference to it. */
tn_status tnm_comm_of(tnm_comm **c, MPI_Comm user, const char *call);
void tnm_comm_hold(tnm_comm *c);
void tnm_comm_drop(tnm_comm *c);

/* Find out which rank is on which node, once per communicator.  Collective. */
tn_status tnm_comm_nodes(tnm_comm *c, const char *call);

/* Translate ranks of c to ranks of c->node; -1: not on this node. */
tn_status tnm_on_node(tnm_comm *c, int64_t n, int *ranks);

/* Fail with TN_EMPI and MPI's message. */
tn_status tnm_refused(int error, const char *call, const char *what);

#define MPITRY(call, expression)                                                               \
    do {                                                                                       \
        int mpitry_error = (expression);                                                       \
        if (mpitry_error != MPI_SUCCESS)                                                       \
            return tnm_refused(mpitry_error, call, #expression);                               \
    } while (0)

#define TRY(call)                                                                              \
    do {                                                                                       \
        tn_status try_status = (call);                                                         \
        if (try_status != TN_OK)                                                               \
            return try_status;                                                                 \
    } while (0)

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3), cold))
#endif
tn_status
tnm_fail(tn_status status, const char *fmt, ...);

/* ---- comparing notes (agree.c) ---- */

enum { TNM_NOTES = 12, TNM_TEXT = 320 };

/* A value that must be the same on all ranks: its hash, and a text for the message if it
 * differs. */
typedef struct tnm_note {
    const char *what;
    uint64_t hash;
    char text[TNM_TEXT];
} tnm_note;

typedef struct tnm_notes {
    int n;
    tnm_note at[TNM_NOTES];
} tnm_notes;

uint64_t tnm_mix(uint64_t hash, uint64_t x);
void tnm_note_number(tnm_notes *notes, const char *what, int64_t x);
void tnm_note_text(tnm_notes *notes, const char *what, const char *text);
void tnm_note_dist(tnm_notes *notes, const char *what, const tn_dist *d);
void tnm_note_axes(tnm_notes *notes, const int *axes, int ndim); /* NULL: the identity */
void tnm_note_shape(tnm_notes *notes, const int64_t *shape, int ndim);
void tnm_note_dtype(tnm_notes *notes, const char *what, tn_dtype dtype);

/* Return on every rank the status and message of the lowest rank that has failed, or TN_ERANKS
 * if notes differ (NULL: no notes).  *least becomes the minimum over the ranks; it may be
 * NULL. */
tn_status tnm_agree(tnm_comm *c, tn_status status, const tnm_notes *notes, int64_t *least);

/* ---- plans (plan.c, run.c, shared.c) ---- */

/* One direction of messages: a ring of slots, through which pieces of messages pass in
 * rounds. */
typedef struct tnm_lane {
    bool send;
    int64_t messages, above; /* above: the first message whose peer has a higher rank */
    int64_t slots;
    MPI_Request *requests;            /* one per slot */
    int64_t *message, *first, *count; /* the piece in each slot; message -1: none */
    char *buffers;
    int64_t round, next; /* the next piece: this round of message `next` */
    int64_t busy;        /* slots in use */
    bool over;           /* there is no next piece */
} tnm_lane;

struct tn_mpi_plan {
    tnm_comm *c;
    tn_route *route;
    const char *call;
    tn_mpi_way way;
    uint32_t flags;
    int tag; /* the plan uses this tag and the two after it */
    tn_dtype src_dtype;
    int ndim;
    int64_t src_parts;      /* of this rank */
    int64_t width;          /* bytes of an element on the wire */
    int64_t piece_elements; /* elements of a slot */
    int64_t steps;
    int64_t buffer_bytes, shared_bytes;
    int64_t all_bytes, all_sends, most_bytes, most_sends;
    tnm_lane lane[2]; /* receives, sends */
    int *indices;     /* for MPI_Waitsome */
    MPI_Request *all; /* requests of both lanes, contiguous */

    bool halo; /* src is the interior of dst */
    int64_t before[TN_MAX_NDIM], after[TN_MAX_NDIM];
    tn_tensor middle;

    bool active;
    const tn_tensor *dst, *src;
    int64_t part_low, part_high; /* restricts a run to these parts of dst; all: 0, INT64_MAX */

    struct tnm_shared *shared;   /* NULL: no peer on this node */
    struct tnm_nodes *nodes;     /* NULL: not two levels */
    struct tnm_combine *combine; /* NULL: no combining */
    tn_tensor block;             /* memory of the plan and its buffers */
    char words[1024];
};

/* Advance a lane to its next piece, a range of a message; false: none is left. */
bool tnm_lane_next(tn_mpi_plan *p, tnm_lane *l, int64_t *message, int64_t *first,
                   int64_t *count);

/* Start and finish an ordinary run, without checks. */
tn_status tnm_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tnm_finish(tn_mpi_plan *p);

/* The description of a plan, in addition to its route. */
typedef struct tnm_about {
    const char *call;
    tn_dtype src_dtype;
    int64_t src_parts; /* of this rank */
    int ndim;
    char words[1024]; /* the first lines of tn_mpi_explain */
} tnm_about;

void tnm_move_words(tnm_about *about, const tnm_comm *c, const tn_dist *dst, tn_dtype dst_dtype,
                    const tn_dist *src, tn_dtype src_dtype, const int *axes);
void tnm_halo_words(tnm_about *about, const tnm_comm *c, const tn_dist *d, tn_dtype dtype);

/* Make a plan for a route on which the ranks have agreed; takes ownership of the route.
 * Collective. */
tn_status tnm_plan_make(tn_mpi_plan **plan, tnm_comm *c, tn_route *route,
                        const tnm_about *about, const tn_mpi_options *options,
                        int64_t max_bytes);
tn_status tnm_options_check(const tn_mpi_options *options, const char *call);
void tnm_options_note(tnm_notes *notes, const tn_mpi_options *options);
int64_t tnm_max_bytes(const tn_mpi_options *options);

/* ---- shared memory of the node (shared.c) ---- */

/* Make a window of `bytes` bytes on each rank of the node, open for loads and stores.
 * Collective. */
tn_status tnm_window_make(tnm_comm *c, int64_t bytes, tnm_window *w, const char *call);
void tnm_window_free(tnm_window *w);

enum { TNM_DIRECT_PARTS = 8 }; /* ranks with more parts send messages */

/* Sent to each peer of the node before the elements: whether the peer reads them directly.  If
 * so, a row for each part of src follows: window, offset in it, extents, strides. */
typedef struct tnm_offer {
    int64_t direct, parts;
    int64_t rows[];
} tnm_offer;

typedef struct tnm_shared {
    int64_t bytes;         /* size of an offer */
    int *node_rank[2];     /* rank in c->node of each message's peer, -1: another node */
    bool *pulled;          /* this received message is read from shared memory */
    int64_t peers[2];      /* peers on this node */
    tnm_offer *out;        /* this rank's offer, the same for all peers */
    char *in;              /* offers received */
    MPI_Request *requests; /* offers received, offers sent, answers */
    bool direct;           /* peers read this rank's src directly */
    bool used;             /* in the current run */
    tn_tensor *view;       /* views of a peer's parts */
} tnm_shared;

/* Bytes of a tnm_shared for the plan. */
int64_t tnm_shared_bytes(const tn_mpi_plan *p, int64_t parts);
tn_status tnm_shared_make(tn_mpi_plan *p, char *memory, int64_t parts);
tn_status tnm_shared_start(tn_mpi_plan *p);
tn_status tnm_shared_finish(tn_mpi_plan *p);
bool tnm_shared_skips(const tn_mpi_plan *p, bool send, int64_t message);

static inline int64_t tnm_round_up(int64_t n) /* to whole cache lines */
{
    return (n + 63) / 64 * 64;
}

/* ---- two levels (nodes.c) ---- */

/* A message between two nodes that this rank carries. */
typedef struct tnm_pair {
    int peer;
    int64_t offset, bytes; /* in this rank's segment of the window */
} tnm_pair;

typedef struct tnm_nodes {
    tnm_window window; /* a segment on each rank of the node */
    int64_t elements;  /* maximum elements of a message in one round */
    char **at[2];      /* addresses of this rank's messages: received, sent */
    int64_t pairs[2];
    tnm_pair *pair[2];
    MPI_Request *requests;
    int64_t round;
} tnm_nodes;

/* True if two levels pay off: most peers of a rank, bytes of the longest message. */
bool tnm_nodes_pay(int64_t peers, int64_t bytes);

/* Make a plan of two levels; *out stays NULL if max_bytes cannot hold a round.  Collective. */
tn_status tnm_nodes_make(const tn_mpi_plan *start, int64_t longest, int64_t max_bytes,
                         tn_mpi_plan **out);
tn_status tnm_nodes_start(tn_mpi_plan *p);
tn_status tnm_nodes_finish(tn_mpi_plan *p);
void tnm_nodes_free(tn_mpi_plan *p);

/* ---- combining copies (reduce.c) ---- */

tn_status tnm_combine_check(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tnm_combine_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tnm_combine_finish(tn_mpi_plan *p);
void tnm_combine_free(tn_mpi_plan *p);

#endif
