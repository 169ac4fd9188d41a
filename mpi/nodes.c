/* nodes.c - two levels: one message for each pair of nodes.
 *
 * The exchange with another node is carried by one rank of each node.  A rank packs what it
 * sends to another node directly into the carrier's buffer, in memory that the node shares; the
 * carrier of the other node receives it into its buffer, and the ranks of that node unpack from
 * there.  A message between nodes is ordered by sender, then by receiver, so that sums over the
 * ranks of the node give the position of each part without asking peers.  What stays on the
 * node is unpacked from where it was packed. */
#include <stdatomic.h>
#include <stdlib.h>

#include "ranks.h"

/* Two levels pay off above PAY_PEERS peers with messages below PAY_BYTES: a message costs 2 us,
 * as much as 4 KiB at 2 GB/s, by the model of docs/distributed.md; not measured on a
 * network. */
enum { PAY_PEERS = 4000, PAY_BYTES = 4096 };

enum { MOST_PAIR = 1 << 30 }; /* MPI counts are int */

bool tnm_nodes_pay(int64_t peers, int64_t bytes)
{
    return peers > PAY_PEERS && bytes < PAY_BYTES;
}

/* ---- layout of the buffers ---- */

/* Sums over the ranks of this node, by destination node and by source rank. */
typedef struct layout {
    const tn_mpi_plan *p;
    int64_t elements;   /* maximum elements of a message in one round */
    int mine, ranks;    /* this node; number of its ranks */
    int own;            /* index of this rank among them */
    int64_t *out[2];    /* by node: bytes from the ranks before this one, from all */
    int64_t *in[2];     /* by rank: bytes to the ranks before this one, to all */
    int64_t *pair_in;   /* by node: bytes received from it */
    int64_t *offset[2]; /* by node: offset of the pair in its carrier's segment: in, out */
    int64_t *segment;   /* bytes of the segment of each rank of the node */
} layout;

static int64_t slot_bytes(const layout *y, int64_t n)
{
    return (n < y->elements ? n : y->elements) * y->p->width;
}

static tn_status sum_ranks(const layout *y, int64_t *const sums[2], int n)
{
    const char *call = y->p->call;
    MPITRY(call, MPI_Allreduce(sums[0], sums[1], n, MPI_INT64_T, MPI_SUM, y->p->c->node));
    MPITRY(call, MPI_Exscan(MPI_IN_PLACE, sums[0], n, MPI_INT64_T, MPI_SUM, y->p->c->node));
    if (y->own == 0)
        memset(sums[0], 0, (size_t)n * sizeof **sums);
    return TN_OK;
}

/* Lay out the pairs for rounds of `elements` elements. */
static tn_status layout_make(layout *y, int64_t elements)
{
    const tn_mpi_plan *p = y->p;
    const tnm_comm *c = p->c;
    y->elements = elements;
    memset(y->out[0], 0, (size_t)c->nodes * sizeof **y->out);
    memset(y->in[0], 0, (size_t)c->size * sizeof **y->in);
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < p->lane[k].messages; i++) {
            int peer;
            int64_t n;
            TRY(tn_route_peer(p->route, k, i, &peer, &n));
            *(k ? &y->out[0][c->node_of[peer]] : &y->in[0][peer]) += slot_bytes(y, n);
        }
    TRY(sum_ranks(y, y->out, c->nodes));
    TRY(sum_ranks(y, y->in, c->size));
    memset(y->pair_in, 0, (size_t)c->nodes * sizeof *y->pair_in);
    for (int r = 0; r < c->size; r++)
        y->pair_in[c->node_of[r]] += y->in[1][r];
    memset(y->segment, 0, (size_t)y->ranks * sizeof *y->segment);
    for (int k = 1; k >= 0; k--)
        for (int node = 0; node < c->nodes; node++) {
            int64_t *end = &y->segment[node % y->ranks];
            if (k == 0 && node == y->mine) {
                y->offset[0][node] = y->offset[1][node];
                continue;
            }
            y->offset[k][node] = *end;
            *end += tnm_round_up(k ? y->out[1][node] : y->pair_in[node]);
        }
    return TN_OK;
}

static void layout_free(layout *y)
{
    free(y->out[0]);
}

static tn_status layout_begin(layout *y, const tn_mpi_plan *p)
{
    const tnm_comm *c = p->c;
    *y = (layout){.p = p, .mine = c->node_of[c->rank]};
    y->ranks = c->node_first[y->mine + 1] - c->node_first[y->mine];
    while (c->members[c->node_first[y->mine] + y->own] != c->rank)
        y->own++;
    const size_t nodes = (size_t)c->nodes, size = (size_t)c->size;
    int64_t *at = malloc((5 * nodes + 2 * size + (size_t)y->ranks) * sizeof *at);
    y->out[0] = at;
    TRY(tnm_agree(p->c, at ? TN_OK : tnm_fail(TN_ENOMEM, "%s: out of memory", p->call), NULL,
                  NULL));
    for (int k = 0; k < 2; k++) {
        y->out[k] = at + (size_t)k * nodes;
        y->offset[k] = at + (size_t)(2 + k) * nodes;
        y->in[k] = at + 5 * nodes + (size_t)k * size;
    }
    y->pair_in = at + 4 * nodes;
    y->segment = at + 5 * nodes + 2 * size;
    return TN_OK;
}

/* ---- planning ---- */

/* Number of pairs that this rank carries: nodes are assigned to the ranks round-robin. */
static int64_t count_pairs(const layout *y, int k)
{
    int64_t n = 0;
    for (int node = y->own; node < y->p->c->nodes; node += y->ranks)
        n += node != y->mine && (k ? y->out[1][node] : y->pair_in[node]) > 0;
    return n;
}

static void fill_pairs(const layout *y, tnm_nodes *s, int k)
{
    const tnm_comm *c = y->p->c;
    s->pairs[k] = 0;
    for (int node = y->own; node < c->nodes; node += y->ranks) {
        const int64_t bytes = k ? y->out[1][node] : y->pair_in[node];
        const int first = c->node_first[node], ranks = c->node_first[node + 1] - first;
        if (node != y->mine && bytes > 0)
            s->pair[k][s->pairs[k]++] = (tnm_pair){.peer = c->members[first + y->mine % ranks],
                                                   .offset = y->offset[k][node],
                                                   .bytes = bytes};
    }
}

/* The address of the pair with a node, in its carrier's segment. */
static tn_status pair_at(const layout *y, const tnm_nodes *s, int k, int node, char **at)
{
    MPI_Aint size;
    int unit;
    void *base;
    MPITRY(y->p->call,
           MPI_Win_shared_query(s->window.win, node % y->ranks, &size, &unit, &base));
    *at = (char *)base + y->offset[k][node];
    return TN_OK;
}

/* Compute the addresses of this rank's messages in the segments of the carriers. */
static tn_status fill_messages(const layout *y, tn_mpi_plan *p)
{
    tnm_nodes *s = p->nodes;
    const tnm_comm *c = p->c;
    int64_t *before = y->out[1]; /* bytes from a node's ranks that come first in its message */
    int peer, seen = 0;
    int64_t n;
    for (int64_t i = 0; i < p->lane[1].messages; i++) {
        TRY(tn_route_peer(p->route, true, i, &peer, &n));
        const int node = c->node_of[peer];
        TRY(pair_at(y, s, 1, node, &s->at[1][i]));
        s->at[1][i] += y->out[0][node];
        y->out[0][node] += slot_bytes(y, n);
    }
    memset(before, 0, (size_t)c->nodes * sizeof *before);
    for (int64_t i = 0; i < p->lane[0].messages; i++) {
        TRY(tn_route_peer(p->route, false, i, &peer, &n));
        for (; seen < peer; seen++)
            before[c->node_of[seen]] += y->in[1][seen];
        const int node = c->node_of[peer];
        TRY(pair_at(y, s, 0, node, &s->at[0][i]));
        s->at[0][i] += before[node] + y->in[0][peer];
        p->shared_bytes += node == y->mine ? n * p->width : 0;
    }
    return TN_OK;
}

/* Bytes of the plan besides its segment. */
static int64_t table_bytes(const layout *y)
{
    const tn_mpi_plan *p = y->p;
    return tnm_round_up((int64_t)sizeof *p) + tnm_round_up((int64_t)sizeof(tnm_nodes)) +
           (p->lane[0].messages + p->lane[1].messages) * (int64_t)sizeof(char *) +
           (count_pairs(y, 0) + count_pairs(y, 1)) *
               (int64_t)(sizeof(tnm_pair) + sizeof(MPI_Request));
}

/* Find the elements of a round for which all ranks have memory; 0: not even one. */
static tn_status fit(layout *y, int64_t longest, int64_t max_bytes)
{
    for (int64_t elements = longest > 0 ? longest : 1; elements > 0;) {
        TRY(layout_make(y, elements));
        int64_t mine[2] = {table_bytes(y) + y->segment[y->own], 0}, most[2];
        for (int node = 0; node < y->p->c->nodes; node++)
            mine[1] = y->out[1][node] > mine[1] ? y->out[1][node] : mine[1];
        MPITRY(y->p->call, MPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, y->p->c->comm));
        if (most[0] <= max_bytes && most[1] <= MOST_PAIR)
            return TN_OK;
        const double share = (double)max_bytes / (double)most[0];
        const int64_t less = elements - elements / 8 - 1;
        elements = share * (double)elements < (double)less ? (int64_t)(share * (double)elements)
                                                           : less;
    }
    y->elements = 0;
    return TN_OK;
}

static tn_status make_block(const layout *y, const tn_mpi_plan *start, tn_mpi_plan **out)
{
    const int64_t bytes = table_bytes(y);
    tn_tensor block;
    const tn_status given = tn_alloc(&block, TN_U8, 1, &bytes);
    const tn_status status = tnm_agree(start->c, given, NULL, NULL);
    if (status != TN_OK && given == TN_OK)
        tn_free(&block);
    TRY(status);
    tn_mpi_plan *p = block.data;
    *p = *start;
    p->block = block;
    tnm_nodes *s = p->nodes =
        (tnm_nodes *)((char *)block.data + tnm_round_up((int64_t)sizeof *p));
    *s = (tnm_nodes){.elements = y->elements};
    char *at = (char *)s + tnm_round_up((int64_t)sizeof *s);
    for (int k = 0; k < 2; k++) {
        s->at[k] = (char **)at;
        at += p->lane[k].messages * (int64_t)sizeof(char *);
    }
    for (int k = 0; k < 2; k++) {
        s->pair[k] = (tnm_pair *)at;
        at += count_pairs(y, k) * (int64_t)sizeof(tnm_pair);
    }
    s->requests = (MPI_Request *)at;
    p->buffer_bytes = bytes + y->segment[y->own];
    *out = p;
    return TN_OK;
}

/* Make what the ranks of this node have written visible to all of them. */
static tn_status fence(tn_mpi_plan *p)
{
    atomic_thread_fence(memory_order_seq_cst);
    MPITRY(p->call, MPI_Win_sync(p->nodes->window.win));
    MPITRY(p->call, MPI_Barrier(p->c->node));
    MPITRY(p->call, MPI_Win_sync(p->nodes->window.win));
    atomic_thread_fence(memory_order_seq_cst);
    return TN_OK;
}

/* Make the window and compute the addresses in it. */
static tn_status make_window(layout *y, tn_mpi_plan *p)
{
    tnm_nodes *s = p->nodes;
    TRY(tnm_window_make(p->c, y->segment[y->own], &s->window, p->call));
    if (s->window.size > 0) /* the last round may leave bytes of a pair unwritten */
        memset(s->window.base, 0, (size_t)s->window.size);
    for (int k = 0; k < 2; k++)
        fill_pairs(y, s, k);
    TRY(fill_messages(y, p));
    return fence(p); /* no rank packs into a segment before it is cleared */
}

tn_status tnm_nodes_make(const tn_mpi_plan *start, int64_t longest, int64_t max_bytes,
                         tn_mpi_plan **out)
{
    layout y;
    *out = NULL;
    TRY(tnm_comm_nodes(start->c, start->call));
    tn_status status = layout_begin(&y, start);
    if (status == TN_OK)
        status = fit(&y, longest, max_bytes);
    if (status == TN_OK && y.elements > 0)
        status = make_block(&y, start, out);
    if (status == TN_OK && *out)
        status = make_window(&y, *out);
    if (status == TN_OK && *out)
        (*out)->steps = longest > 0 ? (longest - 1) / y.elements + 1 : 1;
    layout_free(&y);
    return status;
}

void tnm_nodes_free(tn_mpi_plan *p)
{
    if (p->nodes)
        tnm_window_free(&p->nodes->window);
}

/* ---- running ---- */

/* Pack or unpack this round of the messages with peers on this node (near) or on others
 * (far). */
static tn_status round_copy(tn_mpi_plan *p, bool send, bool near, bool far)
{
    tnm_nodes *s = p->nodes;
    const int *node_of = p->c->node_of;
    for (int64_t i = 0; i < p->lane[send].messages; i++) {
        int peer;
        int64_t n;
        TRY(tn_route_peer(p->route, send, i, &peer, &n));
        const int64_t first = s->round * s->elements, left = n - first;
        const bool here = node_of[peer] == node_of[p->c->rank];
        if (left <= 0 || !(here ? near : far))
            continue;
        const int64_t count = left < s->elements ? left : s->elements;
        TRY(send ? tn_route_pack(p->route, i, first, count, s->at[1][i], p->src)
                 : tn_route_unpack(p->route, i, first, count, p->dst, s->at[0][i]));
    }
    return TN_OK;
}

static tn_status round_start(tn_mpi_plan *p)
{
    tnm_nodes *s = p->nodes;
    char *base = s->window.base;
    TRY(round_copy(p, true, true, true));
    TRY(fence(p));
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < s->pairs[k]; i++) {
            const tnm_pair *pair = &s->pair[k][i];
            MPI_Request *request = &s->requests[k ? s->pairs[0] + i : i];
            if (k)
                MPITRY(p->call, MPI_Isend(base + pair->offset, (int)pair->bytes, MPI_BYTE,
                                          pair->peer, p->tag, p->c->comm, request));
            else
                MPITRY(p->call, MPI_Irecv(base + pair->offset, (int)pair->bytes, MPI_BYTE,
                                          pair->peer, p->tag, p->c->comm, request));
        }
    return TN_OK;
}

tn_status tnm_nodes_start(tn_mpi_plan *p)
{
    p->nodes->round = 0;
    return round_start(p);
}

tn_status tnm_nodes_finish(tn_mpi_plan *p)
{
    tnm_nodes *s = p->nodes;
    for (;;) {
        TRY(round_copy(p, false, true, false));
        MPITRY(p->call,
               MPI_Waitall((int)(s->pairs[0] + s->pairs[1]), s->requests, MPI_STATUSES_IGNORE));
        TRY(fence(p));
        TRY(round_copy(p, false, false, true));
        if (++s->round == p->steps)
            return TN_OK;
        TRY(round_start(p));
    }
}
