/* ranks.h - what the files of libtenon-mpi share.
 *
 * All ranks fail alike: a call checks its own arguments first and keeps the status, then all
 * ranks compare notes (tnm_agree), and only then anything moves. */
#ifndef TENON_RANKS_H
#define TENON_RANKS_H

#include <stdio.h>
#include <string.h>

#include <tenon/mpi.h>

/* ---- communicators (comm.c) ---- */

/* Memory of tn_mpi_alloc: a window over the ranks of the node. */
typedef struct tnm_window {
    MPI_Win win;
    void *base;   /* own segment */
    int64_t size; /* of it */
    int64_t id;   /* the same on all ranks; numbers are not used twice */
    struct tnm_window *next;
} tnm_window;

/* One for each communicator of the user, cached as its attribute; plans hold it too. */
typedef struct tnm_comm {
    MPI_Comm comm; /* a duplicate that returns errors */
    MPI_Comm node; /* those ranks of it that share memory */
    int rank, size;
    int holders; /* the attribute and the plans */
    int tag;     /* for the next plan */
    tnm_window *windows;
    int64_t next_id;

    /* By tnm_comm_nodes; NULL before. */
    int nodes;       /* how many */
    int *node_of;    /* of each rank; nodes count by their lowest ranks */
    int *members;    /* ranks by node, rising: those of node k from node_first[k] on */
    int *node_first; /* nodes + 1 of them */
} tnm_comm;

/* The cached one; not kept unless tnm_comm_hold is called. */
tn_status tnm_comm_of(tnm_comm **c, MPI_Comm user, const char *call);
void tnm_comm_hold(tnm_comm *c);
void tnm_comm_drop(tnm_comm *c);

/* Learn who is on which node, once for each communicator.  Together. */
tn_status tnm_comm_nodes(tnm_comm *c, const char *call);

/* Replace ranks of c by those of the same processes in c->node, or by -1. */
tn_status tnm_on_node(tnm_comm *c, int64_t n, int *ranks);

/* TN_EMPI with MPI's words. */
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

/* What must be the same everywhere: a hash, and words for who differs. */
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
void tnm_note_axes(tnm_notes *notes, const int *axes, int ndim); /* NULL: as they are */
void tnm_note_shape(tnm_notes *notes, const int64_t *shape, int ndim);
void tnm_note_dtype(tnm_notes *notes, const char *what, tn_dtype dtype);

/* Give every rank the status and sentence of the lowest rank that has failed, or TN_ERANKS when
 * notes differ (NULL: there are none).  *least becomes the least of all; NULL: not asked. */
tn_status tnm_agree(tnm_comm *c, tn_status status, const tnm_notes *notes, int64_t *least);

/* ---- plans (plan.c, run.c, shared.c) ---- */

/* One direction of messages: a ring of slots, through which pieces of messages pass in rounds. */
typedef struct tnm_lane {
    bool send;
    int64_t messages, above; /* the first whose peer is above this rank */
    int64_t slots;
    MPI_Request *requests;            /* of each slot */
    int64_t *message, *first, *count; /* the piece that is in it; message -1: none */
    char *buffers;
    int64_t round, next; /* the piece that follows: round of message number next */
    int64_t busy;        /* slots under way */
    bool over;           /* no piece follows */
} tnm_lane;

struct tn_mpi_plan {
    tnm_comm *c;
    tn_route *route;
    const char *call;
    tn_mpi_way way;
    uint32_t flags;
    int tag; /* and two more */
    tn_dtype src_dtype;
    int ndim;
    int64_t src_parts;      /* of this rank */
    int64_t width;          /* bytes of an element on the wire */
    int64_t piece_elements; /* of a slot */
    int64_t steps;
    int64_t buffer_bytes, shared_bytes;
    int64_t all_bytes, all_sends, most_bytes, most_sends;
    tnm_lane lane[2]; /* receives, sends */
    int *indices;     /* for MPI_Waitsome */
    MPI_Request *all; /* both lanes' requests in a row */

    bool halo; /* src is the middle of dst */
    int64_t before[TN_MAX_NDIM], after[TN_MAX_NDIM];
    tn_tensor middle;

    bool active;
    const tn_tensor *dst, *src;
    int64_t part_low, part_high; /* only what goes to these dst parts; whole: 0, INT64_MAX */

    struct tnm_shared *shared;   /* NULL: no peer shares memory */
    struct tnm_nodes *nodes;     /* NULL: not by two levels */
    struct tnm_combine *combine; /* NULL: a move */
    tn_tensor block;             /* all of this memory, and the buffers */
    char words[1024];
};

/* The piece after the one at hand in a lane: its message and range; false: none. */
bool tnm_lane_next(tn_mpi_plan *p, tnm_lane *l, int64_t *message, int64_t *first,
                   int64_t *count);

/* The ordinary run without checks. */
tn_status tnm_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src);
tn_status tnm_finish(tn_mpi_plan *p);

/* What a plan is about, beside its route. */
typedef struct tnm_about {
    const char *call;
    tn_dtype src_dtype;
    int64_t src_parts; /* of this rank */
    int ndim;
    char words[1024]; /* the first lines of explain */
} tnm_about;

void tnm_move_words(tnm_about *about, const tnm_comm *c, const tn_dist *dst, tn_dtype dst_dtype,
                    const tn_dist *src, tn_dtype src_dtype, const int *axes);
void tnm_halo_words(tnm_about *about, const tnm_comm *c, const tn_dist *d, tn_dtype dtype);

/* Make a plan around a route that is agreed upon; takes the route.  Together. */
tn_status tnm_plan_make(tn_mpi_plan **plan, tnm_comm *c, tn_route *route,
                        const tnm_about *about, const tn_mpi_options *options,
                        int64_t max_bytes);
tn_status tnm_options_check(const tn_mpi_options *options, const char *call);
void tnm_options_note(tnm_notes *notes, const tn_mpi_options *options);
int64_t tnm_max_bytes(const tn_mpi_options *options);

/* ---- memory of the node (shared.c) ---- */

/* A window of `bytes` bytes over the ranks of the node, open for loads and stores.  Together. */
tn_status tnm_window_make(tnm_comm *c, int64_t bytes, tnm_window *w, const char *call);
void tnm_window_free(tnm_window *w);

enum { TNM_DIRECT_PARTS = 8 }; /* a rank with more parts sends messages */

/* Sent to each peer of the node before its elements: does it read them itself?  A row for each
 * part of src follows: the window that it is in, its offset there, extents, strides. */
typedef struct tnm_offer {
    int64_t direct, parts;
    int64_t rows[];
} tnm_offer;

typedef struct tnm_shared {
    int64_t bytes;         /* of an offer */
    int *node_rank[2];     /* of the peer of each message, -1: another node */
    bool *pulled;          /* this received message is read from memory */
    int64_t peers[2];      /* on the node */
    tnm_offer *out;        /* the same for all */
    char *in;              /* offers of the peers that send */
    MPI_Request *requests; /* offers in, offers out, answers */
    bool direct;           /* this rank's src is read by its peers */
    bool used;             /* in the run at hand */
    tn_tensor *view;       /* parts of a peer */
} tnm_shared;

/* Bytes that it takes beside the plan; 0: no peer is on the node. */
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

/* A message between two nodes that this rank carries for its node. */
typedef struct tnm_pair {
    int peer;
    int64_t offset, bytes; /* in this rank's segment of the window */
} tnm_pair;

typedef struct tnm_nodes {
    tnm_window window; /* a segment for each rank of the node */
    int64_t elements;  /* of a message in one round, at most */
    char **at[2];      /* where messages of this rank are received, sent */
    int64_t pairs[2];
    tnm_pair *pair[2];
    MPI_Request *requests;
    int64_t round;
} tnm_nodes;

/* Whether messages between nodes pay: most peers of a rank, elements of the longest message. */
bool tnm_nodes_pay(int64_t peers, int64_t bytes);

/* Make a plan of two levels; *out stays NULL when max_bytes do not hold a round.  Together. */
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
