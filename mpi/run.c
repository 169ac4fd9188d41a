/* run.c - running a plan: pieces of messages pass through rings of slots.
 *
 * Pieces are ordered by (round, distance between the ranks), an order that both ends of a
 * message share: the first unfinished piece has a slot on both sides, so there is always
 * progress.  Receives are posted first, the rank's own elements are copied while messages are
 * in flight, and pieces are unpacked in the order of arrival. */
#include "ranks.h"

/* The message that is i-th by rising distance: to higher ranks when sending, from lower ranks
 * when receiving. */
static int64_t by_distance(const tnm_lane *l, int64_t i)
{
    return l->send ? (l->above + i) % l->messages
                   : (l->above - 1 - i + 2 * l->messages) % l->messages;
}

/* The range of a message that belongs to the selected parts of dst. */
static tn_status message_range(const tn_mpi_plan *p, bool send, int64_t i, int64_t *begin,
                               int64_t *end)
{
    int peer;
    *begin = 0;
    TRY(tn_route_peer(p->route, send, i, &peer, end));
    if (p->part_low > 0)
        TRY(tn_route_before(p->route, send, i, p->part_low, begin));
    if (p->part_high < INT64_MAX)
        TRY(tn_route_before(p->route, send, i, p->part_high, end));
    return TN_OK;
}

bool tnm_lane_next(tn_mpi_plan *p, tnm_lane *l, int64_t *message, int64_t *first,
                   int64_t *count)
{
    int64_t skipped = 0;
    while (!l->over && l->messages) {
        int64_t i = by_distance(l, l->next), begin, end;
        const int64_t round = l->round;
        if (++l->next == l->messages) {
            l->next = 0;
            l->round++;
        }
        if (!tnm_shared_skips(p, l->send, i) &&
            message_range(p, l->send, i, &begin, &end) == TN_OK &&
            begin + round * p->piece_elements < end) {
            *message = i;
            *first = begin + round * p->piece_elements;
            *count = end - *first < p->piece_elements ? end - *first : p->piece_elements;
            return true;
        }
        l->over = ++skipped >= l->messages;
    }
    l->over = true;
    return false;
}

/* The memory of a piece in flight: the part itself if it is contiguous there, otherwise the
 * slot. */
static char *lane_memory(const tn_mpi_plan *p, const tnm_lane *l, int64_t slot, bool *direct)
{
    char *direct_at =
        tn_route_place(p->route, l->send, l->message[slot], l->send ? p->src : p->dst);
    *direct = direct_at != NULL;
    return direct_at ? direct_at + l->first[slot] * p->width
                     : l->buffers + slot * tnm_round_up(p->piece_elements * p->width);
}

static tn_status lane_put(tn_mpi_plan *p, tnm_lane *l, int64_t slot)
{
    int peer;
    int64_t n;
    bool direct;
    l->requests[slot] = MPI_REQUEST_NULL;
    if (!tnm_lane_next(p, l, &l->message[slot], &l->first[slot], &l->count[slot])) {
        l->message[slot] = -1;
        return TN_OK;
    }
    TRY(tn_route_peer(p->route, l->send, l->message[slot], &peer, &n));
    char *memory = lane_memory(p, l, slot, &direct);
    const int bytes = (int)(l->count[slot] * p->width);
    if (l->send && !direct)
        TRY(tn_route_pack(p->route, l->message[slot], l->first[slot], l->count[slot], memory,
                          p->src));
    if (l->send)
        MPITRY(p->call, MPI_Isend(memory, bytes, MPI_BYTE, peer, p->tag, p->c->comm,
                                  &l->requests[slot]));
    else
        MPITRY(p->call, MPI_Irecv(memory, bytes, MPI_BYTE, peer, p->tag, p->c->comm,
                                  &l->requests[slot]));
    l->busy++;
    return TN_OK;
}

static tn_status lane_take(tn_mpi_plan *p, tnm_lane *l, int64_t slot)
{
    bool direct;
    const char *memory = lane_memory(p, l, slot, &direct);
    l->busy--;
    if (!l->send && !direct)
        TRY(tn_route_unpack(p->route, l->message[slot], l->first[slot], l->count[slot], p->dst,
                            memory));
    return lane_put(p, l, slot);
}

tn_status tnm_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src)
{
    p->dst = dst;
    p->src = src;
    if (p->nodes)
        return tnm_nodes_start(p);
    TRY(tnm_shared_start(p));
    for (int k = 0; k < 2; k++) {
        tnm_lane *l = &p->lane[k];
        l->round = l->next = l->busy = 0;
        l->over = l->messages == 0;
        for (int64_t slot = 0; slot < l->slots; slot++)
            TRY(lane_put(p, l, slot));
    }
    return TN_OK;
}

tn_status tnm_finish(tn_mpi_plan *p)
{
    if (p->nodes)
        return tnm_nodes_finish(p);
    TRY(tnm_shared_finish(p));
    const int64_t slots = p->lane[0].slots + p->lane[1].slots;
    while (p->lane[0].busy + p->lane[1].busy > 0) {
        int n = 0;
        MPITRY(p->call, MPI_Waitsome((int)slots, p->all, &n, p->indices, MPI_STATUSES_IGNORE));
        for (int i = 0; i < n; i++) {
            const int64_t at = p->indices[i];
            const bool send = at >= p->lane[0].slots;
            TRY(lane_take(p, &p->lane[send], send ? at - p->lane[0].slots : at));
        }
    }
    return TN_OK;
}

/* ---- public calls ---- */

/* The interior of a part with borders; a part that is too small is refused later, as dst. */
static void halo_middle(tn_mpi_plan *p, const tn_tensor *part)
{
    p->middle = *part;
    for (int i = 0; i < part->ndim && i < TN_MAX_NDIM; i++) {
        const int64_t n = part->shape[i] - p->before[i] - p->after[i];
        p->middle.shape[i] = n > 0 ? n : 0;
        if (part->data && n > 0 && p->before[i])
            p->middle.data = (char *)p->middle.data + p->before[i] * part->stride[i];
    }
}

static tn_status run_check(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor **src)
{
    if (p->active)
        return tnm_fail(TN_EARG, "%s: the plan is already running", p->call);
    if (p->halo && dst && *src) {
        if (*src != dst && ((*src)->data != dst->data || (*src)->ndim != dst->ndim))
            return tnm_fail(TN_EARG, "%s: src and dst of a halo must be the same tensors",
                            p->call);
        halo_middle(p, dst);
        *src = &p->middle;
    }
    return p->combine ? tnm_combine_check(p, dst, *src) : tn_route_check(p->route, dst, *src);
}

tn_status tn_mpi_start(tn_mpi_plan *p, const tn_tensor *dst_parts, const tn_tensor *src_parts)
{
    if (!p)
        return tnm_fail(TN_ENULL, "mpi_run: plan is NULL");
    tn_status status = run_check(p, dst_parts, &src_parts);
    if (!(p->flags & TN_MPI_TRUST)) {
        tnm_notes notes;
        notes.n = 0;
        tnm_note_text(&notes, "call", "mpi_run");
        tnm_note_number(&notes, "the plan's number", p->tag / 3);
        status = tnm_agree(p->c, status, &notes, NULL);
    }
    TRY(status);
    p->active = true;
    if (p->combine)
        return tnm_combine_start(p, dst_parts, src_parts);
    TRY(tnm_start(p, dst_parts, src_parts));
    return tn_route_keep(p->route, dst_parts, src_parts);
}

tn_status tn_mpi_wait(tn_mpi_plan *p)
{
    if (!p)
        return tnm_fail(TN_ENULL, "mpi_wait: plan is NULL");
    if (!p->active)
        return tnm_fail(TN_EARG, "mpi_wait: the plan is not running");
    p->active = false;
    return p->combine ? tnm_combine_finish(p) : tnm_finish(p);
}

tn_status tn_mpi_run(tn_mpi_plan *p, const tn_tensor *dst_parts, const tn_tensor *src_parts)
{
    TRY(tn_mpi_start(p, dst_parts, src_parts));
    return tn_mpi_wait(p);
}
