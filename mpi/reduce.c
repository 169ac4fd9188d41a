/* reduce.c - combining copies that differ, while they are redistributed.
 *
 * Every rank receives what it needs from all copies, in rounds: the pieces of one round arrive
 * from all copies, are combined in rising rank order and unpacked; then the next round begins.
 * The order of arrival has no influence. */
#include <stdlib.h>

#include "ranks.h"

typedef struct tnm_combine {
    tn_op op;
    tn_dtype src, acc, out; /* in messages; for combining; as unpacked */
    tn_route *sends;        /* route of the copy that this rank has; NULL: none */
    tn_route *check;        /* route with the dtypes of the parts */
    int64_t copies, messages, send_messages;
    int *peers;       /* [message][copy] */
    int64_t elements; /* maximum elements of a piece */
    int64_t rounds, round;
    char *in, *out_buffers, *sum, *spare;
    MPI_Request *requests;
    int64_t pending;
} tnm_combine;

static const tn_op ops[] = {TN_ADD,        TN_MUL,        TN_MIN,     TN_MAX,
                            TN_BIT_AND,    TN_BIT_OR,     TN_BIT_XOR, TN_LOGICAL_AND,
                            TN_LOGICAL_OR, TN_LOGICAL_XOR};

/* The dtype in which copies are combined. */
static tn_status combine_dtype(tn_op op, tn_dtype src, tn_dtype *acc)
{
    bool known = false;
    for (int i = 0; i < (int)(sizeof ops / sizeof *ops); i++)
        known = known || ops[i] == op;
    if (!known)
        return tnm_fail(TN_EARG, "mpi_plan_reduce: op %s does not combine copies",
                        tn_op_name(op) ? tn_op_name(op) : "?");
    const bool small = src == TN_F16 || src == TN_BF16 || src == TN_F8E4M3 || src == TN_F8E5M2;
    const bool logical = op == TN_LOGICAL_AND || op == TN_LOGICAL_OR || op == TN_LOGICAL_XOR;
    *acc = logical ? TN_BOOL : small ? TN_F32 : src;
    tn_dtype result = TN_BOOL;
    TRY(tn_op_result(op, (const tn_dtype[]){*acc, *acc}, 2, &result));
    if (result != *acc)
        return tnm_fail(TN_EDTYPE, "mpi_plan_reduce: op %s of %s gives %s", tn_op_name(op),
                        tn_dtype_name(*acc), tn_dtype_name(result));
    return TN_OK;
}

/* ---- planning ---- */

typedef struct reducer {
    tnm_comm *c;
    const tn_dist *dst, *src;
    const int *axes;
    tn_dtype src_dtype;
    tn_route *unpack, *sends, *check;
    int *peers;
    int64_t messages;
} reducer;

/* Find the peers for every copy, and the route of the copy that this rank sends. */
static tn_status reduce_routes(reducer *r)
{
    const int64_t copies = tn_dist_copies(r->src);
    tn_route_sum sum;
    TRY(tn_route_info(r->unpack, &sum));
    r->messages = sum.receives;
    r->peers = malloc((size_t)(r->messages * copies + 1) * sizeof *r->peers);
    if (!r->peers)
        return tnm_fail(TN_ENOMEM, "mpi_plan_reduce: cannot allocate memory for %lld peers",
                        (long long)(r->messages * copies));
    for (int64_t k = 0; k < copies; k++) {
        tn_route *route = NULL;
        TRY(tn_route_copy(&route, r->c->rank, r->dst, r->src_dtype, r->src, r->src_dtype,
                          r->axes, k));
        tn_status status = tn_route_info(route, &sum);
        for (int64_t i = 0; i < r->messages && status == TN_OK; i++) {
            int64_t n;
            status = tn_route_peer(route, false, i, &r->peers[i * copies + k], &n);
        }
        if (status == TN_OK && sum.sends > 0) {
            r->sends = route;
            continue;
        }
        tn_route_free(route);
        TRY(status);
    }
    return TN_OK;
}

static tn_status largest_message(const tn_route *route, bool send, int64_t messages,
                                 int64_t *most)
{
    for (int64_t i = 0; i < messages; i++) {
        int peer;
        int64_t n;
        TRY(tn_route_peer(route, send, i, &peer, &n));
        *most = n > *most ? n : *most;
    }
    return TN_OK;
}

/* Choose pieces so small that one of every message fits, in both directions, and two for
 * combining; most[0] messages of most[1] elements. */
static void reduce_pieces(tnm_combine *b, const int64_t *most, int64_t max_bytes)
{
    const int64_t width = (int64_t)tn_dtype_size(b->src);
    const int64_t wide = 2 * (int64_t)tn_dtype_size(b->acc);
    const int64_t fixed = tnm_round_up(sizeof(tn_mpi_plan)) + tnm_round_up(sizeof *b) +
                          tnm_round_up(most[0] * (int64_t)sizeof(MPI_Request)) + 6 * 64;
    const int64_t each = (max_bytes - fixed - (most[0] + 2) * 64) / (most[0] * width + wide);
    b->elements = each < 1 ? 1 : each < most[1] ? each : most[1] ? most[1] : 1;
    if (b->elements > (1 << 30) / 16)
        b->elements = (1 << 30) / 16;
    b->rounds = most[1] ? (most[1] - 1) / b->elements + 1 : 0;
}

/* Lay out the plan, its requests and its buffers in the block of `start`, which every rank has
 * allocated. */
static void reduce_lay_out(tn_mpi_plan **plan, const tn_mpi_plan *start, const reducer *r,
                           tnm_combine *b)
{
    const int64_t piece = tnm_round_up(b->elements * (int64_t)tn_dtype_size(b->src));
    const int64_t in = r->messages * b->copies, slots = in + b->send_messages;
    char *at = start->block.data;
    tn_mpi_plan *p = *plan = (tn_mpi_plan *)at;
    *p = *start;
    at += tnm_round_up(sizeof *p);
    p->combine = (tnm_combine *)at;
    at += tnm_round_up(sizeof *b);
    b->requests = (MPI_Request *)at;
    at += tnm_round_up(slots * (int64_t)sizeof(MPI_Request));
    b->in = at;
    b->out_buffers = at + in * piece;
    b->sum = b->out_buffers + b->send_messages * piece;
    b->spare = b->sum + tnm_round_up(b->elements * (int64_t)tn_dtype_size(b->acc));
    b->sends = r->sends;
    b->check = r->check;
    b->peers = r->peers;
    *p->combine = *b;
}

static tn_status reduce_plan(reducer *r, tnm_combine *b, const tnm_about *about,
                             const tn_mpi_options *options, int64_t max_bytes,
                             tn_mpi_plan **plan)
{
    tn_route_sum sum = {0}, got = {0};
    int64_t mine[4] = {0}, most[4], total[2];
    if (r->sends)
        TRY(tn_route_info(r->sends, &sum));
    TRY(tn_route_info(r->unpack, &got));
    b->messages = r->messages;
    b->send_messages = sum.sends;
    TRY(largest_message(r->unpack, false, r->messages, &mine[1]));
    mine[0] = r->messages * b->copies + sum.sends;
    mine[2] = sum.send_bytes;
    mine[3] = sum.sends;
    MPITRY("mpi_plan_reduce", MPI_Allreduce(mine, most, 4, MPI_INT64_T, MPI_MAX, r->c->comm));
    MPITRY("mpi_plan_reduce",
           MPI_Allreduce(mine + 2, total, 2, MPI_INT64_T, MPI_SUM, r->c->comm));
    reduce_pieces(b, most, max_bytes);
    const int64_t piece = tnm_round_up(b->elements * (int64_t)tn_dtype_size(b->src));
    const int64_t slots = r->messages * b->copies + sum.sends;
    tn_mpi_plan start = {.c = r->c,
                         .route = r->unpack,
                         .call = "mpi_plan_reduce",
                         .way = TN_MPI_P2P,
                         .flags = options ? options->flags : 0,
                         .steps = b->rounds ? b->rounds : 1,
                         .src_parts = about->src_parts,
                         .all_bytes = total[0],
                         .all_sends = total[1],
                         .most_bytes = most[2],
                         .most_sends = most[3],
                         .part_high = INT64_MAX};
    snprintf(start.words, sizeof start.words, "%s", about->words);
    const int64_t sums = tnm_round_up(b->elements * (int64_t)tn_dtype_size(b->acc));
    start.buffer_bytes = tnm_round_up(sizeof start) + tnm_round_up(sizeof *b) +
                         tnm_round_up(slots * (int64_t)sizeof(MPI_Request)) + slots * piece +
                         2 * sums;
    const tn_status given =
        start.buffer_bytes > max_bytes
            ? tnm_fail(TN_EARG, "mpi_plan_reduce: max_bytes is %lld, %lld messages need %lld",
                       (long long)max_bytes, (long long)slots, (long long)start.buffer_bytes)
            : tn_alloc(&start.block, TN_U8, 1, &start.buffer_bytes);
    const tn_status status = tnm_agree(r->c, given, NULL, NULL);
    if (status != TN_OK && given == TN_OK)
        tn_free(&start.block);
    TRY(status);
    reduce_lay_out(plan, &start, r, b);
    (*plan)->tag = r->c->tag;
    r->c->tag = r->c->tag + 3 > 32760 ? 0 : r->c->tag + 3;
    tnm_comm_hold(r->c);
    return TN_OK;
}

static tn_status reduce_check(reducer *r, tn_mpi_plan **plan, const tn_mpi_options *options)
{
    const char *call = "mpi_plan_reduce";
    if (!plan || !r->dst || !r->src)
        return tnm_fail(TN_ENULL, "%s: %s is NULL", call,
                        !plan     ? "plan"
                        : !r->dst ? "dst"
                                  : "src");
    TRY(tnm_options_check(options, call));
    if (tn_dist_ranks(r->dst) > r->c->size || tn_dist_ranks(r->src) > r->c->size)
        return tnm_fail(TN_EARG, "%s: dst has %d ranks and src %d, the communicator has %d",
                        call, tn_dist_ranks(r->dst), tn_dist_ranks(r->src), r->c->size);
    return TN_OK;
}

tn_status tn_mpi_plan_reduce(tn_mpi_plan **plan, MPI_Comm comm, tn_op op, const tn_dist *dst,
                             tn_dtype dst_dtype, const tn_dist *src, tn_dtype src_dtype,
                             const int *axes, const tn_mpi_options *options)
{
    tnm_comm *c;
    TRY(tnm_comm_of(&c, comm, "mpi_plan_reduce"));
    reducer r = {.c = c, .dst = dst, .src = src, .axes = axes, .src_dtype = src_dtype};
    tnm_combine b = {.op = op, .src = src_dtype, .copies = tn_dist_copies(src)};
    tn_status status = reduce_check(&r, plan, options);
    if (status == TN_OK)
        status = combine_dtype(op, src_dtype, &b.acc);
    if (status == TN_OK)
        status = tn_route_copy(&r.unpack, c->rank, dst, dst_dtype, src, b.acc, axes, 0);
    if (status == TN_OK)
        status = tn_route_copy(&r.check, c->rank, dst, dst_dtype, src, src_dtype, axes, 0);
    if (status == TN_OK)
        status = reduce_routes(&r);
    int64_t max_bytes = tnm_max_bytes(options);
    tnm_notes notes = {0};
    tnm_note_text(&notes, "call", "mpi_plan_reduce");
    tnm_note_text(&notes, "op", tn_op_name(op));
    tnm_note_dist(&notes, "dst", dst);
    tnm_note_dist(&notes, "src", src);
    tnm_note_dtype(&notes, "dst's dtype", dst_dtype);
    tnm_note_dtype(&notes, "src's dtype", src_dtype);
    tnm_note_axes(&notes, status == TN_OK ? axes : NULL, tn_dist_ndim(dst));
    tnm_options_note(&notes, options);
    status = tnm_agree(c, status, &notes, &max_bytes);
    if (status == TN_OK) {
        tnm_about about = {"mpi_plan_reduce", src_dtype, tn_dist_parts(src, c->rank),
                           tn_dist_ndim(src), ""};
        tnm_move_words(&about, c, dst, dst_dtype, src, src_dtype, axes);
        b.out = tn_route_wire(r.unpack);
        status = reduce_plan(&r, &b, &about, options, max_bytes, plan);
    }
    if (status != TN_OK) {
        tn_route_free(r.unpack);
        tn_route_free(r.sends);
        tn_route_free(r.check);
        free(r.peers);
    }
    return status;
}

void tnm_combine_free(tn_mpi_plan *p)
{
    if (!p->combine)
        return;
    tn_route_free(p->combine->sends);
    tn_route_free(p->combine->check);
    free(p->combine->peers);
}

/* ---- running ---- */

static int64_t piece_count(const tnm_combine *b, int64_t n)
{
    const int64_t left = n - b->round * b->elements;
    return left < 0 ? 0 : left < b->elements ? left : b->elements;
}

static int64_t piece_bytes(const tnm_combine *b)
{
    return tnm_round_up(b->elements * (int64_t)tn_dtype_size(b->src));
}

static tn_status round_start(tn_mpi_plan *p)
{
    tnm_combine *b = p->combine;
    const int64_t width = (int64_t)tn_dtype_size(b->src);
    int peer;
    int64_t n;
    b->pending = 0;
    for (int64_t i = 0; i < b->messages; i++) {
        TRY(tn_route_peer(p->route, false, i, &peer, &n));
        const int64_t count = piece_count(b, n);
        for (int64_t k = 0; k < b->copies && count; k++)
            MPITRY(p->call,
                   MPI_Irecv(b->in + (i * b->copies + k) * piece_bytes(b), (int)(count * width),
                             MPI_BYTE, b->peers[i * b->copies + k], p->tag, p->c->comm,
                             &b->requests[b->pending++]));
    }
    for (int64_t i = 0; i < b->send_messages; i++) {
        char *at = b->out_buffers + i * piece_bytes(b);
        TRY(tn_route_peer(b->sends, true, i, &peer, &n));
        const int64_t count = piece_count(b, n);
        if (count == 0)
            continue;
        TRY(tn_route_pack(b->sends, i, b->round * b->elements, count, at, p->src));
        MPITRY(p->call, MPI_Isend(at, (int)(count * width), MPI_BYTE, peer, p->tag, p->c->comm,
                                  &b->requests[b->pending++]));
    }
    return TN_OK;
}

static tn_status line(tn_tensor *t, void *data, tn_dtype dtype, int64_t n)
{
    return tn_init(t, data, dtype, 1, &n);
}

/* Combine the copies of one piece in rank order, and unpack it. */
static tn_status combine_piece(tn_mpi_plan *p, int64_t i, int64_t count)
{
    tnm_combine *b = p->combine;
    tn_tensor sum, copy, spare;
    TRY(line(&sum, b->sum, b->acc, count));
    TRY(line(&spare, b->spare, b->acc, count));
    for (int64_t k = 0; k < b->copies; k++) {
        TRY(line(&copy, b->in + (i * b->copies + k) * piece_bytes(b), b->src, count));
        if (k == 0) {
            TRY(tn_cast(&sum, &copy));
            continue;
        }
        if (b->src != b->acc) {
            TRY(tn_cast(&spare, &copy));
            copy = spare;
        }
        TRY(tn_binary(b->op, &sum, &sum, &copy));
    }
    if (b->out != b->acc) {
        TRY(line(&spare, b->spare, b->out, count));
        TRY(tn_cast(&spare, &sum));
        sum = spare;
    }
    return tn_route_unpack(p->route, i, b->round * b->elements, count, p->dst, sum.data);
}

static tn_status round_finish(tn_mpi_plan *p)
{
    tnm_combine *b = p->combine;
    MPITRY(p->call, MPI_Waitall((int)b->pending, b->requests, MPI_STATUSES_IGNORE));
    for (int64_t i = 0; i < b->messages; i++) {
        int peer;
        int64_t n;
        TRY(tn_route_peer(p->route, false, i, &peer, &n));
        const int64_t count = piece_count(b, n);
        if (count)
            TRY(combine_piece(p, i, count));
    }
    return TN_OK;
}

tn_status tnm_combine_check(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src)
{
    return tn_route_check(p->combine->check, dst, src);
}

tn_status tnm_combine_start(tn_mpi_plan *p, const tn_tensor *dst, const tn_tensor *src)
{
    p->dst = dst;
    p->src = src;
    p->combine->round = 0;
    return p->combine->rounds ? round_start(p) : TN_OK;
}

tn_status tnm_combine_finish(tn_mpi_plan *p)
{
    tnm_combine *b = p->combine;
    while (b->round < b->rounds) {
        TRY(round_finish(p));
        b->round++;
        if (b->round < b->rounds)
            TRY(round_start(p));
    }
    return TN_OK;
}
