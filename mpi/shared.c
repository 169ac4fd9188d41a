/* shared.c - tensors in memory shared by the ranks of a node, read without messages.
 *
 * A rank offers each peer of its node the addresses of its src parts.  If all of them are in
 * windows of tn_mpi_alloc, the peer reads them itself and sends an answer when it has finished;
 * otherwise messages follow.  A rank waits only for ranks with which it exchanges. */
#include <stdatomic.h>
#include <stdlib.h>

#include "ranks.h"

/* ---- allocation ---- */

/* Stored before the elements, so that tn_mpi_free finds the window. */
typedef struct label {
    tnm_comm *c;
    tnm_window *window;
    char pad[64 - 2 * sizeof(void *)];
} label;

tn_status tnm_window_make(tnm_comm *c, int64_t bytes, tnm_window *w, const char *call)
{
    MPI_Info info;
    MPITRY(call, MPI_Info_create(&info));
    MPITRY(call, MPI_Info_set(info, "alloc_shared_noncontig", "true"));
    w->size = bytes;
    MPITRY(call, MPI_Win_allocate_shared((MPI_Aint)bytes, 1, info, c->node, &w->base, &w->win));
    MPI_Info_free(&info);
    MPITRY(call, MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN));
    MPITRY(call, MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win));
    return TN_OK;
}

void tnm_window_free(tnm_window *w)
{
    MPI_Win_unlock_all(w->win);
    MPI_Win_free(&w->win);
}

tn_status tn_mpi_alloc(MPI_Comm comm, tn_tensor *t, tn_dtype dtype, int ndim,
                       const int64_t *shape)
{
    tnm_comm *c;
    tn_tensor made;
    TRY(tnm_comm_of(&c, comm, "mpi_alloc"));
    tn_status status = t ? tn_init(&made, NULL, dtype, ndim, shape)
                         : tnm_fail(TN_ENULL, "mpi_alloc: t is NULL");
    const int64_t bytes = status == TN_OK ? tn_nbytes(&made) : 0;
    tnm_window *w = calloc(1, sizeof *w);
    if (status == TN_OK && (!w || bytes > PTRDIFF_MAX - 4096))
        status = tnm_fail(TN_ENOMEM, "mpi_alloc: cannot allocate %lld bytes", (long long)bytes);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", "mpi_alloc");
    status = tnm_agree(c, status, &notes, NULL);
    if (status == TN_OK) /* 64 more for alignment */
        status = tnm_window_make(c, bytes + (int64_t)sizeof(label) + 64, w, "mpi_alloc");
    if (status != TN_OK) {
        free(w);
        return status;
    }
    char *at = (char *)w->base + sizeof(label);
    at += (64 - (uintptr_t)at % 64) % 64;
    memcpy(at - sizeof(label), &(label){.c = c, .window = w}, sizeof(label));
    w->id = c->next_id++;
    w->next = c->windows;
    c->windows = w;
    tnm_comm_hold(c);
    *t = made;
    t->data = at;
    return TN_OK;
}

void tn_mpi_free(tn_tensor *t)
{
    label l;
    if (!t || !t->data)
        return;
    memcpy(&l, (char *)t->data - sizeof l, sizeof l);
    for (tnm_window **w = &l.c->windows; *w; w = &(*w)->next)
        if (*w == l.window) {
            *w = l.window->next;
            break;
        }
    tnm_window_free(l.window);
    free(l.window);
    tnm_comm_drop(l.c);
    t->data = NULL;
}

/* ---- offers ---- */

static int64_t offer_row(const tn_mpi_plan *p)
{
    return 2 + 2 * p->ndim;
}

static int64_t offer_bytes(const tn_mpi_plan *p, int64_t parts)
{
    return (int64_t)sizeof(tnm_offer) + parts * offer_row(p) * (int64_t)sizeof(int64_t);
}

static int64_t count_messages(const tn_mpi_plan *p, int k)
{
    return p->lane[k].messages;
}

int64_t tnm_shared_bytes(const tn_mpi_plan *p, int64_t parts)
{
    const int64_t in = count_messages(p, 0), out = count_messages(p, 1);
    if (parts > TNM_DIRECT_PARTS)
        parts = 0;
    return (int64_t)sizeof(tnm_shared) + (in + out) * (int64_t)sizeof(int) + in + 64 +
           (in + 2 * out + in) * (int64_t)sizeof(MPI_Request) +
           (in + 1) * offer_bytes(p, parts) + parts * (int64_t)sizeof(tn_tensor);
}

static char *cut(char **memory, int64_t bytes)
{
    char *at = *memory;
    *memory += bytes;
    return at;
}

tn_status tnm_shared_make(tn_mpi_plan *p, char *memory, int64_t parts)
{
    const int64_t in = count_messages(p, 0), out = count_messages(p, 1);
    if (parts > TNM_DIRECT_PARTS)
        parts = 0;
    tnm_shared *s = p->shared = (tnm_shared *)cut(&memory, sizeof *s);
    *s = (tnm_shared){.bytes = offer_bytes(p, parts)};
    s->view = (tn_tensor *)cut(&memory, parts * (int64_t)sizeof *s->view);
    s->out = (tnm_offer *)cut(&memory, s->bytes);
    s->in = cut(&memory, in * s->bytes);
    s->requests =
        (MPI_Request *)cut(&memory, (2 * in + 2 * out) * (int64_t)sizeof *s->requests);
    s->node_rank[0] = (int *)cut(&memory, in * (int64_t)sizeof(int));
    s->node_rank[1] = (int *)cut(&memory, out * (int64_t)sizeof(int));
    s->pulled = (bool *)memory;
    for (int k = 0; k < 2; k++) {
        const int64_t n = p->lane[k].messages;
        for (int64_t i = 0; i < n; i++) {
            int peer;
            int64_t elements;
            TRY(tn_route_peer(p->route, k, i, &peer, &elements));
            s->node_rank[k][i] = peer;
        }
        TRY(tnm_on_node(p->c, n, s->node_rank[k]));
        for (int64_t i = 0; i < n; i++) {
            int peer;
            int64_t elements;
            TRY(tn_route_peer(p->route, k, i, &peer, &elements));
            s->peers[k] += s->node_rank[k][i] >= 0;
            if (k == 0 && s->node_rank[k][i] >= 0)
                p->shared_bytes += elements * p->width;
        }
    }
    return TN_OK;
}

/* The window of this rank that contains a tensor entirely. */
static const tnm_window *window_of(const tnm_comm *c, const tn_tensor *t)
{
    int64_t low, high;
    if (tn_extent(t, &low, &high) != TN_OK)
        return NULL;
    for (const tnm_window *w = c->windows; w; w = w->next) {
        const uintptr_t base = (uintptr_t)w->base, at = (uintptr_t)t->data;
        if (at + (uintptr_t)low >= base && at + (uintptr_t)high <= base + (uintptr_t)w->size)
            return w;
    }
    return NULL;
}

static bool offer_write(const tn_mpi_plan *p, tnm_offer *o, int64_t parts)
{
    *o = (tnm_offer){0};
    if (offer_bytes(p, parts) > p->shared->bytes)
        return false;
    for (int64_t i = 0; i < parts; i++) {
        const tn_tensor *t = &p->src[i];
        const tnm_window *w = window_of(p->c, t);
        if (!w)
            return false;
        int64_t *row = o->rows + i * offer_row(p);
        row[0] = w->id;
        row[1] = (char *)t->data - (char *)w->base;
        memcpy(row + 2, t->shape, (size_t)t->ndim * sizeof *row);
        memcpy(row + 2 + t->ndim, t->stride, (size_t)t->ndim * sizeof *row);
    }
    *o = (tnm_offer){.direct = 1, .parts = parts};
    return true;
}

static void windows_sync(tnm_comm *c)
{
    for (tnm_window *w = c->windows; w; w = w->next)
        MPI_Win_sync(w->win);
    atomic_thread_fence(memory_order_seq_cst);
}

static int peer_of(const tn_mpi_plan *p, bool send, int64_t i)
{
    int peer = 0;
    int64_t n;
    return tn_route_peer(p->route, send, i, &peer, &n) == TN_OK ? peer : 0;
}

tn_status tnm_shared_start(tn_mpi_plan *p)
{
    tnm_shared *s = p->shared;
    if (!s)
        return TN_OK;
    s->used = p->c->windows != NULL && p->part_high == INT64_MAX;
    s->direct = false;
    memset(s->pulled, 0, (size_t)p->lane[0].messages);
    if (!s->used)
        return TN_OK;
    s->direct = offer_write(p, s->out, p->src_parts);
    windows_sync(p->c);
    int64_t at = 0;
    for (int64_t i = 0; i < p->lane[0].messages; i++)
        if (s->node_rank[0][i] >= 0) {
            MPITRY(p->call,
                   MPI_Irecv(s->in + at * s->bytes, (int)s->bytes, MPI_BYTE,
                             peer_of(p, false, i), p->tag + 1, p->c->comm, &s->requests[at]));
            at++;
        }
    for (int64_t i = 0; i < p->lane[1].messages; i++)
        if (s->node_rank[1][i] >= 0)
            MPITRY(p->call, MPI_Isend(s->out, (int)s->bytes, MPI_BYTE, peer_of(p, true, i),
                                      p->tag + 1, p->c->comm, &s->requests[at++]));
    for (int64_t i = 0; i < p->lane[1].messages && s->direct; i++)
        if (s->node_rank[1][i] >= 0)
            MPITRY(p->call, MPI_Irecv(NULL, 0, MPI_BYTE, peer_of(p, true, i), p->tag + 2,
                                      p->c->comm, &s->requests[at++]));
    /* Receives can be posted only when it is known which messages follow. */
    MPITRY(p->call, MPI_Waitall((int)s->peers[0], s->requests, MPI_STATUSES_IGNORE));
    at = 0;
    for (int64_t i = 0; i < p->lane[0].messages; i++)
        if (s->node_rank[0][i] >= 0)
            s->pulled[i] = ((const tnm_offer *)(s->in + at++ * s->bytes))->direct;
    windows_sync(p->c);
    return TN_OK;
}

static tn_status pull(tn_mpi_plan *p, int64_t i, const tnm_offer *o)
{
    tnm_shared *s = p->shared;
    int peer;
    int64_t elements;
    const tn_dtype dtype = p->src_dtype;
    for (int64_t k = 0; k < o->parts; k++) {
        const int64_t *row = o->rows + k * offer_row(p);
        const tnm_window *w = p->c->windows;
        while (w && w->id != row[0])
            w = w->next;
        if (!w)
            return tnm_fail(TN_ERANKS,
                            "%s: a peer refers to memory that is not shared on this node",
                            p->call);
        MPI_Aint size;
        int unit;
        char *base;
        MPITRY(p->call, MPI_Win_shared_query(w->win, s->node_rank[0][i], &size, &unit, &base));
        TRY(tn_init_strided(&s->view[k], base + row[1], dtype, p->ndim, row + 2,
                            row + 2 + p->ndim));
    }
    TRY(tn_route_peer(p->route, false, i, &peer, &elements));
    TRY(tn_route_pull(p->route, i, 0, elements, p->dst, s->view));
    atomic_thread_fence(memory_order_seq_cst);
    MPITRY(p->call, MPI_Send(NULL, 0, MPI_BYTE, peer, p->tag + 2, p->c->comm));
    return TN_OK;
}

tn_status tnm_shared_finish(tn_mpi_plan *p)
{
    tnm_shared *s = p->shared;
    if (!s || !s->used)
        return TN_OK;
    int64_t at = 0;
    for (int64_t i = 0; i < p->lane[0].messages; i++) {
        if (s->node_rank[0][i] < 0)
            continue;
        const tnm_offer *o = (const tnm_offer *)(s->in + at++ * s->bytes);
        if (s->pulled[i])
            TRY(pull(p, i, o));
    }
    const int64_t rest = s->peers[1] * (s->direct ? 2 : 1);
    MPITRY(p->call, MPI_Waitall((int)rest, s->requests + s->peers[0], MPI_STATUSES_IGNORE));
    return TN_OK;
}

bool tnm_shared_skips(const tn_mpi_plan *p, bool send, int64_t i)
{
    const tnm_shared *s = p->shared;
    if (!s || !s->used)
        return false;
    return send ? s->direct && s->node_rank[1][i] >= 0 : s->pulled[i];
}
