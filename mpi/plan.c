/* plan.c - plans: what all ranks agree on, and the memory that a run needs. */
#include <stdlib.h>

#include "ranks.h"

/* Limits of the buffers of a rank: the least is one slot of full rate (GOOD_SLOT), the usual
 * one has that for a thousand peers.  Other values of the latter were not measured. */
enum { LEAST_BYTES = 65536, USUAL_BYTES = 64 << 20 };

/* Slots are not made smaller to have more of them: below 64 KiB the cost of a message is that
 * of the call; below 16 KiB not every peer gets a slot (Open MPI 4.1 over shared memory on a
 * Zen 4, where 2 ranks reach their full rate from 64 KiB on). */
enum { GOOD_SLOT = 65536, LEAST_SLOT = 16384 };

enum { MOST_SLOT = 1 << 30 }; /* MPI counts are int, and Open MPI 4.1 has no larger ones */

tn_status tnm_options_check(const tn_mpi_options *o, const char *call)
{
    if (!o)
        return TN_OK;
    if ((unsigned)o->way > TN_MPI_NODES)
        return tnm_fail(TN_EARG, "%s: unknown way %d", call, (int)o->way);
    if (o->flags & ~(uint32_t)TN_MPI_TRUST)
        return tnm_fail(TN_EARG, "%s: flags are %u, expected 0 or TN_MPI_TRUST", call,
                        o->flags);
    if (o->max_bytes != 0 && o->max_bytes < LEAST_BYTES)
        return tnm_fail(TN_EARG, "%s: max_bytes is %lld, expected 0 or at least %d", call,
                        (long long)o->max_bytes, LEAST_BYTES);
    for (int i = 0; i < (int)(sizeof o->reserved / sizeof *o->reserved); i++)
        if (o->reserved[i])
            return tnm_fail(TN_EARG, "%s: reserved is not NULL", call);
    return TN_OK;
}

void tnm_options_note(tnm_notes *notes, const tn_mpi_options *o)
{
    tnm_note_number(notes, "way", o ? (int64_t)o->way : 0);
    tnm_note_number(notes, "flags", o ? (int64_t)o->flags : 0);
}

int64_t tnm_max_bytes(const tn_mpi_options *o)
{
    return o && o->max_bytes ? o->max_bytes : USUAL_BYTES;
}

/* Sums and maxima over all ranks. */
typedef struct sums {
    int64_t peers, largest, bytes, sends, parts; /* maximum of any rank */
    int64_t all_bytes, all_sends;
} sums;

/* Number of messages with peers on other nodes. */
static tn_status plan_far(const tn_mpi_plan *p, int64_t *far)
{
    *far = 0;
    for (int k = 0; k < 2; k++)
        for (int64_t i = 0; i < p->lane[k].messages; i++) {
            int peer;
            int64_t n;
            TRY(tn_route_peer(p->route, k, i, &peer, &n));
            TRY(tnm_on_node(p->c, 1, &peer));
            *far += peer < 0;
        }
    return TN_OK;
}

static tn_status plan_sums(tn_mpi_plan *p, sums *s)
{
    tn_route_sum r;
    int64_t mine[5] = {0}, most[5], total[2];
    TRY(tn_route_info(p->route, &r));
    for (int k = 0; k < 2; k++) {
        tnm_lane *l = &p->lane[k];
        *l = (tnm_lane){.send = k, .messages = k ? r.sends : r.receives};
        for (int64_t i = 0; i < l->messages; i++) {
            int peer;
            int64_t n;
            TRY(tn_route_peer(p->route, k, i, &peer, &n));
            mine[1] = n > mine[1] ? n : mine[1];
            l->above += peer < p->c->rank;
        }
        mine[0] = l->messages > mine[0] ? l->messages : mine[0];
    }
    mine[2] = r.send_bytes;
    mine[3] = r.sends;
    mine[4] = p->src_parts;
    MPITRY(p->call, MPI_Allreduce(mine, most, 5, MPI_INT64_T, MPI_MAX, p->c->comm));
    MPITRY(p->call, MPI_Allreduce(mine + 2, total, 2, MPI_INT64_T, MPI_SUM, p->c->comm));
    *s = (sums){most[0], most[1], most[2], most[3], most[4], total[0], total[1]};
    return TN_OK;
}

/* Elements of a slot, the same on all ranks: whole messages if the budget has one for each peer
 * in both directions, otherwise for four slots per peer, or fewer. */
static int64_t slot_elements(const sums *s, int64_t width, int64_t budget)
{
    const int64_t peers = s->peers ? s->peers : 1, each = budget / (2 * peers);
    const int64_t whole = s->largest * width;
    int64_t slot = each / 4 >= GOOD_SLOT ? each / 4
                   : each >= GOOD_SLOT   ? GOOD_SLOT
                   : each >= LEAST_SLOT  ? each
                                         : LEAST_SLOT;
    if (whole <= each)
        slot = whole;
    slot = slot < MOST_SLOT ? slot : MOST_SLOT;
    return slot / width > 0 ? slot / width : 1;
}

/* Bytes of a slot's bookkeeping: request, index and the piece it holds. */
static int64_t slot_cost(void)
{
    return (int64_t)(sizeof(MPI_Request) + sizeof(int) + 3 * sizeof(int64_t));
}

static void lane_slots(tnm_lane *l, int64_t pieces, int64_t slot_bytes, int64_t budget)
{
    const int64_t most = budget / (slot_bytes + slot_cost());
    l->slots = pieces < most ? pieces : most > 0 ? most : 1;
    if (l->messages == 0)
        l->slots = 0;
}

/* Place the requests and indices of both lanes at `at`, their buffers at the end of the
 * block. */
static void lay_out_lanes(tn_mpi_plan *p, char *at, int64_t slots, int64_t slot)
{
    p->all = (MPI_Request *)at;
    at += slots * (int64_t)sizeof(MPI_Request);
    for (int k = 0; k < 2; k++) {
        tnm_lane *l = &p->lane[k];
        l->requests = p->all + (k ? p->lane[0].slots : 0);
        l->message = (int64_t *)at;
        l->first = l->message + l->slots;
        l->count = l->first + l->slots;
        at = (char *)(l->count + l->slots);
    }
    p->indices = (int *)at;
    at = (char *)p->block.data + p->buffer_bytes - slots * slot;
    for (int k = 0; k < 2; k++) {
        p->lane[k].buffers = at;
        at += p->lane[k].slots * slot;
    }
}

static tn_status plan_memory(tn_mpi_plan *start, const sums *s, int64_t max_bytes,
                             tn_mpi_plan **out)
{
    tn_mpi_plan *p = start;
    const int64_t width = p->width;
    int64_t shared = p->way != TN_MPI_P2P && (s->peers > 0) ? tnm_shared_bytes(p, s->parts) : 0;
    int64_t fixed = tnm_round_up((int64_t)sizeof *p) + tnm_round_up(shared) + 4 * 64;
    if (fixed > max_bytes / 4) {
        fixed -= tnm_round_up(shared);
        shared = 0;
    }
    const int64_t budget = max_bytes - fixed;
    p->piece_elements = slot_elements(s, width, max_bytes / 8 * 5);
    p->steps = s->largest ? (s->largest - 1) / p->piece_elements + 1 : 1;
    const int64_t slot = tnm_round_up(p->piece_elements * width);
    for (int k = 0; k < 2; k++)
        lane_slots(&p->lane[k], p->lane[k].messages * p->steps, slot, budget / 2);
    const int64_t slots = p->lane[0].slots + p->lane[1].slots;
    const int64_t books = tnm_round_up(slots * slot_cost());
    p->buffer_bytes =
        tnm_round_up((int64_t)sizeof *p) + tnm_round_up(shared) + books + slots * slot;
    tn_tensor block;
    const tn_status given = tn_alloc(&block, TN_U8, 1, &p->buffer_bytes);
    const tn_status status = tnm_agree(p->c, given, NULL, NULL);
    if (status != TN_OK && given == TN_OK)
        tn_free(&block);
    TRY(status);
    char *at = block.data;
    *out = (tn_mpi_plan *)at;
    **out = *start;
    p = *out;
    p->block = block;
    at += tnm_round_up((int64_t)sizeof *p);
    if (shared)
        TRY(tnm_shared_make(p, at, s->parts));
    lay_out_lanes(p, at + tnm_round_up(shared), slots, slot);
    return TN_OK;
}

tn_status tnm_plan_make(tn_mpi_plan **plan, tnm_comm *c, tn_route *route,
                        const tnm_about *about, const tn_mpi_options *options,
                        int64_t max_bytes)
{
    tn_mpi_plan start = {.c = c,
                         .route = route,
                         .call = about->call,
                         .way = options ? options->way : TN_MPI_AUTO,
                         .flags = options ? options->flags : 0,
                         .width = (int64_t)tn_dtype_size(tn_route_wire(route)),
                         .src_dtype = about->src_dtype,
                         .src_parts = about->src_parts,
                         .ndim = about->ndim,
                         .part_high = INT64_MAX};
    sums s = {0};
    TRY(plan_sums(&start, &s));
    start.all_bytes = s.all_bytes;
    start.all_sends = s.all_sends;
    start.most_bytes = s.bytes;
    start.most_sends = s.sends;
    snprintf(start.words, sizeof start.words, "%s", about->words);
    if (start.way == TN_MPI_SHARED) {
        int64_t far;
        TRY(plan_far(&start, &far));
        TRY(tnm_agree(
            c,
            far ? tnm_fail(TN_EUNSUPPORTED,
                           "%s: the way is TN_MPI_SHARED, but %lld peers are on other nodes",
                           about->call, (long long)far)
                : TN_OK,
            NULL, NULL));
    }
    tn_mpi_plan *p = NULL;
    if (start.way == TN_MPI_NODES ||
        (start.way == TN_MPI_AUTO && tnm_nodes_pay(s.peers, s.largest * start.width)))
        TRY(tnm_nodes_make(&start, s.largest, max_bytes, &p));
    if (!p)
        TRY(plan_memory(&start, &s, max_bytes, &p));
    for (int64_t i = 0; i < p->lane[0].slots + p->lane[1].slots; i++)
        p->all[i] = MPI_REQUEST_NULL;
    /* Three tags: elements, offers of memory, answers.  MPI guarantees tags up to 32767. */
    p->tag = c->tag;
    c->tag = c->tag + 3 > 32760 ? 0 : c->tag + 3;
    tnm_comm_hold(c);
    *plan = p;
    return TN_OK;
}

/* ---- moves and halos ---- */

static tn_status check_pointers(tn_mpi_plan **plan, const tn_dist *dst, const tn_dist *src,
                                const char *call)
{
    if (!plan || !dst || !src)
        return tnm_fail(TN_ENULL, "%s: %s is NULL", call,
                        !plan  ? "plan"
                        : !dst ? "dst"
                               : "src");
    return TN_OK;
}

static tn_status check_ranks(const tnm_comm *c, const tn_dist *d, const char *what,
                             const char *call)
{
    if (tn_dist_ranks(d) > c->size)
        return tnm_fail(TN_EARG, "%s: %s has %d ranks, the communicator has %d", call, what,
                        tn_dist_ranks(d), c->size);
    return TN_OK;
}

tn_status tn_mpi_plan_move(tn_mpi_plan **plan, MPI_Comm comm, const tn_dist *dst,
                           tn_dtype dst_dtype, const tn_dist *src, tn_dtype src_dtype,
                           const int *axes, const tn_mpi_options *options)
{
    const char *call = "mpi_plan_move";
    tnm_comm *c;
    tn_route *route = NULL;
    TRY(tnm_comm_of(&c, comm, call));
    tn_status status = check_pointers(plan, dst, src, call);
    if (status == TN_OK)
        status = tnm_options_check(options, call);
    if (status == TN_OK)
        status = check_ranks(c, dst, "dst", call);
    if (status == TN_OK)
        status = check_ranks(c, src, "src", call);
    if (status == TN_OK)
        status = tn_route_create(&route, c->rank, dst, dst_dtype, src, src_dtype, axes);
    int64_t max_bytes = tnm_max_bytes(options);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", call);
    tnm_note_dist(&notes, "dst", dst);
    tnm_note_dist(&notes, "src", src);
    tnm_note_dtype(&notes, "dst's dtype", dst_dtype);
    tnm_note_dtype(&notes, "src's dtype", src_dtype);
    tnm_note_axes(&notes, status == TN_OK ? axes : NULL, tn_dist_ndim(dst));
    tnm_options_note(&notes, options);
    status = tnm_agree(c, status, &notes, &max_bytes);
    if (status == TN_OK) {
        tnm_about about = {call, src_dtype, tn_dist_parts(src, c->rank), tn_dist_ndim(src), ""};
        tnm_move_words(&about, c, dst, dst_dtype, src, src_dtype, axes);
        status = tnm_plan_make(plan, c, route, &about, options, max_bytes);
    }
    if (status != TN_OK)
        tn_route_free(route);
    return status;
}

static void note_halo(tnm_notes *notes, int ndim, const int64_t *before, const int64_t *after,
                      tn_pad_mode mode, const void *value, tn_dtype dtype)
{
    char text[TNM_TEXT] = "";
    size_t used = 0;
    for (int i = 0; i < ndim && used + 48 < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld+%lld", i ? "," : "",
                                 (long long)before[i], (long long)after[i]);
    tnm_note_text(notes, "the borders' widths", text);
    tnm_note_number(notes, "mode", mode);
    uint64_t hash = 0;
    for (size_t i = 0; value && mode == TN_PAD_CONSTANT && i < tn_dtype_size(dtype); i++)
        hash = tnm_mix(hash, ((const unsigned char *)value)[i]);
    tnm_note_number(notes, "the hash of value", (int64_t)hash);
}

tn_status tn_mpi_plan_halo(tn_mpi_plan **plan, MPI_Comm comm, const tn_dist *d, tn_dtype dtype,
                           const int64_t *before, const int64_t *after, tn_pad_mode mode,
                           const void *value, const tn_mpi_options *options)
{
    const char *call = "mpi_plan_halo";
    tnm_comm *c;
    tn_route *route = NULL;
    TRY(tnm_comm_of(&c, comm, call));
    tn_status status = check_pointers(plan, d, d, call);
    if (status == TN_OK)
        status = tnm_options_check(options, call);
    if (status == TN_OK)
        status = check_ranks(c, d, "d", call);
    if (status == TN_OK)
        status = tn_route_halo(&route, c->rank, d, dtype, before, after, mode, value);
    int64_t max_bytes = tnm_max_bytes(options);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", call);
    tnm_note_dist(&notes, "d", d);
    tnm_note_dtype(&notes, "the dtype", dtype);
    if (status == TN_OK)
        note_halo(&notes, tn_dist_ndim(d), before, after, mode, value, dtype);
    tnm_options_note(&notes, options);
    status = tnm_agree(c, status, &notes, &max_bytes);
    if (status == TN_OK) {
        tnm_about about = {call, dtype, tn_dist_parts(d, c->rank), tn_dist_ndim(d), ""};
        tnm_halo_words(&about, c, d, dtype);
        status = tnm_plan_make(plan, c, route, &about, options, max_bytes);
    }
    if (status != TN_OK) {
        tn_route_free(route);
        return status;
    }
    (*plan)->halo = true;
    for (int i = 0; i < tn_dist_ndim(d); i++) {
        (*plan)->before[i] = before[i];
        (*plan)->after[i] = after[i];
    }
    return TN_OK;
}

void tn_mpi_plan_free(tn_mpi_plan *p)
{
    if (!p)
        return;
    tn_tensor block = p->block;
    tnm_comm *c = p->c;
    tnm_combine_free(p);
    tnm_nodes_free(p);
    tn_route_free(p->route);
    tn_free(&block);
    tnm_comm_drop(c);
}
