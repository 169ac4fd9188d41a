/* route_run.c - moving the elements of a route: packing, unpacking, keeping, pulling.
 *
 * A product is a grid of pieces, one for each choice of a run on every axis; a piece is a dense
 * nest of loops in the message and a strided one in a part, so that one call of tn_rearrange or
 * tn_cast moves it.  The order of a message is that of its products, of their pieces, and
 * inside a piece the row-major order of dst. */
#include <stdio.h>
#include <string.h>

#include "route.h"

/* The loops of one piece, outermost first, without those of extent 1: at most 63, since their
 * product is the number of elements. */
typedef struct piece {
    int ndim;
    int64_t n[2 * TN_MAX_NDIM];
    int64_t step[2][2 * TN_MAX_NDIM]; /* bytes in dst and in src */
    int64_t at[2];                    /* bytes from the part's element (0, ...) */
    int64_t elements;
} piece;

static void piece_loop(piece *p, int64_t n, int64_t dst, int64_t src)
{
    if (n == 1)
        return;
    p->n[p->ndim] = n;
    p->step[0][p->ndim] = dst;
    p->step[1][p->ndim++] = src;
    p->elements *= n;
}

/* Which parts a job uses; NULL for the message. */
typedef struct job {
    const tn_route *r;
    const tni_side *side;
    const tn_tensor *part[2]; /* dst, src: the parts of this product, or NULL */
    tn_dtype dtype[2];        /* of both ends */
    char *message;            /* where element `first` is */
    int64_t first, count;     /* elements still to skip, and to move */
    bool fill;
} job;

static void piece_make(piece *p, const job *j, const tni_hit_runs *runs, const int64_t *choice)
{
    const tni_again *agains = j->side->agains.at;
    p->ndim = 0;
    p->elements = 1;
    p->at[0] = p->at[1] = 0;
    for (int i = 0; i < j->r->ndim; i++) {
        const tni_run *run = runs[i].at + choice[i];
        const int64_t d = j->part[0] ? j->part[0]->stride[i] : 0;
        const int64_t s = j->part[1] ? j->part[1]->stride[j->r->axes[i]] : 0;
        const tni_again once = {1, 0, 0, 1, 1};
        const tni_again *again = run->again < 0 ? &once : agains + run->again;
        piece_loop(p, again->count, again->dst_step * d, again->src_step * s);
        piece_loop(p, run->n, again->dst_inner * d, again->src_inner * s);
        /* An axis of extent 1 has position 0, and a stride that means nothing. */
        p->at[0] += run->dst ? run->dst * d : 0;
        p->at[1] += run->src ? run->src * s : 0;
    }
}

/* Loops from `level` on, of m at that level, as a tensor on side k. */
static void piece_tensor(const piece *p, const job *j, int k, int level, int64_t m,
                         int64_t offset, tn_tensor *t)
{
    t->dtype = j->dtype[k];
    t->device = TN_CPU;
    t->flags = 0;
    t->ndim = p->ndim - level;
    int64_t dense = tni_width(t->dtype);
    for (int i = t->ndim - 1; i >= 0; i--) {
        t->shape[i] = i ? p->n[level + i] : m;
        t->stride[i] = j->part[k] ? p->step[k][level + i] : dense;
        dense *= t->shape[i];
    }
    t->data = j->part[k] ? tni_offset(j->part[k]->data, p->at[k] + offset) : j->message;
}

static tn_status piece_move(const piece *p, job *j, int level, int64_t m, const int64_t *offset,
                            int64_t elements)
{
    tn_tensor d, s;
    piece_tensor(p, j, 0, level, m, offset[0], &d);
    if (j->fill)
        return tn_fill(&d, j->r->value);
    piece_tensor(p, j, 1, level, m, offset[1], &s);
    if (j->message)
        j->message += elements * tni_width(j->r->wire);
    return d.dtype == s.dtype ? tn_rearrange(&d, &s) : tn_cast(&d, &s);
}

/* Elements [first, first + count) of a piece, as few slabs of whole inner loops. */
static tn_status piece_range(const piece *p, job *j, int64_t first, int64_t count)
{
    if (first == 0 && count == p->elements)
        return piece_move(p, j, 0, p->ndim ? p->n[0] : 1, (int64_t[]){0, 0}, count);
    while (count > 0) {
        int64_t inner = 1, rest = first, offset[2] = {0, 0};
        int level = p->ndim - 1;
        while (level > 0 && first % (inner * p->n[level]) == 0 && count >= inner * p->n[level])
            inner *= p->n[level--];
        for (int64_t i = p->ndim - 1, n; i >= 0; i--) { /* the index of element first */
            n = rest % p->n[i];
            rest /= p->n[i];
            offset[0] += n * p->step[0][i];
            offset[1] += n * p->step[1][i];
        }
        int64_t left = p->n[level] - first / inner % p->n[level];
        int64_t m = count / inner < left ? count / inner : left;
        TRY(piece_move(p, j, level, m, offset, m * inner));
        first += m * inner;
        count -= m * inner;
    }
    return TN_OK;
}

static tn_status product_move(job *j, const tni_product *product)
{
    tni_hit_runs runs[TN_MAX_NDIM];
    int64_t choice[TN_MAX_NDIM] = {0};
    const int ndim = j->r->ndim;
    piece p;
    if (j->count == 0)
        return TN_OK;
    const int64_t elements = tni_product_elements(j->side, ndim, product);
    if (j->first >= elements) {
        j->first -= elements;
        return TN_OK;
    }
    tni_product_runs(j->side, ndim, product, runs);
    for (int i = 0; i >= 0;) {
        piece_make(&p, j, runs, choice);
        int64_t n = p.elements - j->first < j->count ? p.elements - j->first : j->count;
        if (n > 0) {
            TRY(piece_range(&p, j, j->first, n));
            j->count -= n;
            j->first = 0;
        } else {
            j->first -= p.elements;
        }
        if (j->count == 0)
            return TN_OK;
        for (i = ndim - 1; i >= 0 && ++choice[i] == runs[i].n; i--)
            choice[i] = 0;
    }
    return TN_OK;
}

/* ---- checks ---- */

static const char *const end_name[] = {"dst", "src"};

/* The part number `part` on side k of rank's own parts, against its extents (NULL: a peer's,
 * of which only what a product uses is known). */
static tn_status check_part(const tn_route *r, int k, const tn_tensor *t, int64_t part,
                            const char *call)
{
    char who[64];
    const int64_t *extents = r->extents[k] + part * r->ndim;
    snprintf(who, sizeof who, "%s: %s part %lld", call, end_name[k], (long long)part);
    TRY(k == 0 ? tni_check_dst(t, who) : tni_check(t, who));
    const tn_dtype want = k ? r->src_dtype : r->dst_dtype;
    if (t->dtype != want)
        return tni_fail(TN_EDTYPE, "%s is %s, expected %s", who, tn_dtype_name(t->dtype),
                        tn_dtype_name(want));
    if (t->ndim != r->ndim)
        return tni_fail(TN_ESHAPE, "%s has %d axes, expected %d", who, t->ndim, r->ndim);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] != extents[i])
            return tni_fail(TN_ESHAPE, "%s has extent %lld on axis %d, expected %lld", who,
                            (long long)t->shape[i], i, (long long)extents[i]);
    if (k == 0)
        TRY(tni_check_injective(t, call));
    return tni_check_data(t, who);
}

static tn_status check_parts(const tn_route *r, int k, const tn_tensor *parts, const char *call)
{
    if (!parts && r->parts[k] > 0)
        return tni_fail(TN_ENULL, "%s: %s_parts is NULL, and rank %d has %lld", call,
                        end_name[k], r->rank, (long long)r->parts[k]);
    for (int64_t part = 0; part < r->parts[k]; part++)
        TRY(check_part(r, k, &parts[part], part, call));
    return TN_OK;
}

tn_status tn_route_check(const tn_route *r, const tn_tensor *dst_parts,
                         const tn_tensor *src_parts)
{
    if (!r)
        return tni_fail(TN_ENULL, "route_check: r is NULL");
    TRY(check_parts(r, 0, dst_parts, "route_check"));
    TRY(check_parts(r, 1, src_parts, "route_check"));
    for (int64_t d = 0; d < r->parts[0]; d++) {
        for (int64_t k = 0; k < d; k++)
            TRY(tni_check_disjoint(&dst_parts[d], &dst_parts[k], false, "route_check"));
        for (int64_t s = 0; s < r->parts[1] && !r->halo; s++)
            TRY(tni_check_disjoint(&dst_parts[d], &src_parts[s], false, "route_check"));
    }
    return TN_OK;
}

/* ---- messages ---- */

static tn_status message_check(const tn_route *r, bool sent, int64_t i, int64_t first,
                               int64_t count, const void *a, const void *b, const char *call)
{
    if (!r || !b || !a)
        return tni_fail(TN_ENULL, "%s: %s is NULL", call,
                        !r   ? "r"
                        : !a ? sent ? "src_parts" : "dst_parts"
                             : "message");
    int64_t elements;
    int peer;
    TRY(tn_route_peer(r, sent, i, &peer, &elements));
    if (first < 0 || count < 0 || first > elements || count > elements - first)
        return tni_fail(TN_EARG, "%s: %lld elements from %lld, message %lld has %lld", call,
                        (long long)count, (long long)first, (long long)i, (long long)elements);
    return TN_OK;
}

/* The part of this rank that a product of side s uses, checked where it is another one than
 * before. */
static tn_status message_parts(const tn_route *r, const tni_side *s, int64_t i, int k,
                               const tn_tensor *parts, const tn_tensor *message,
                               const char *call)
{
    int64_t first, last, before = -1;
    tni_message(s, i, &first, &last);
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)s->products.at + n;
        const tni_group *g = (const tni_group *)s->groups.at + p->group;
        const int64_t part = k ? g->src_part : g->dst_part;
        if (part == before)
            continue;
        TRY(check_part(r, k, &parts[part], part, call));
        if (message)
            TRY(k ? tni_check_disjoint(message, &parts[part], false, call)
                  : tni_check_disjoint(&parts[part], message, false, call));
        before = part;
    }
    return TN_OK;
}

static tn_status message_move(job *j, int64_t i, const tn_tensor *dst, const tn_tensor *src)
{
    int64_t first, last;
    tni_message(j->side, i, &first, &last);
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)j->side->products.at + n;
        const tni_group *g = (const tni_group *)j->side->groups.at + p->group;
        j->part[0] = dst ? dst + g->dst_part : NULL;
        j->part[1] = src ? src + g->src_part : NULL;
        TRY(product_move(j, p));
    }
    return TN_OK;
}

static tn_tensor message_tensor(const tn_route *r, const void *message, int64_t count)
{
    tn_tensor t = {.data = (void *)(uintptr_t)message, .dtype = r->wire, .ndim = 1};
    t.shape[0] = count;
    t.stride[0] = tni_width(r->wire);
    return t;
}

tn_status tn_route_pack(const tn_route *r, int64_t i, int64_t first, int64_t count,
                        void *message, const tn_tensor *src_parts)
{
    TRY(message_check(r, true, i, first, count, src_parts, message, "route_pack"));
    const tn_tensor t = message_tensor(r, message, count);
    TRY(message_parts(r, &r->side[1], i, 1, src_parts, &t, "route_pack"));
    job j = {.r = r,
             .side = &r->side[1],
             .dtype = {r->wire, r->src_dtype},
             .message = message,
             .first = first,
             .count = count};
    return message_move(&j, i, NULL, src_parts);
}

tn_status tn_route_unpack(const tn_route *r, int64_t i, int64_t first, int64_t count,
                          const tn_tensor *dst_parts, const void *message)
{
    TRY(message_check(r, false, i, first, count, dst_parts, message, "route_unpack"));
    const tn_tensor t = message_tensor(r, message, count);
    TRY(message_parts(r, &r->side[0], i, 0, dst_parts, &t, "route_unpack"));
    job j = {.r = r,
             .side = &r->side[0],
             .dtype = {r->dst_dtype, r->wire},
             .message = t.data,
             .first = first,
             .count = count};
    return message_move(&j, i, dst_parts, NULL);
}

/* ---- memory to memory ---- */

/* Is every position that message i reads inside the peer's parts? */
static tn_status check_peer(const tn_route *r, int64_t i, const tn_tensor *parts)
{
    const tni_side *s = &r->side[0];
    int64_t first, last;
    tni_message(s, i, &first, &last);
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)s->products.at + n;
        const tn_tensor *t = parts + ((const tni_group *)s->groups.at + p->group)->src_part;
        tni_hit_runs runs[TN_MAX_NDIM];
        TRY(tni_check(t, "route_pull: peer part"));
        if (t->dtype != r->src_dtype)
            return tni_fail(TN_EDTYPE, "route_pull: a peer part is %s, expected %s",
                            tn_dtype_name(t->dtype), tn_dtype_name(r->src_dtype));
        if (t->ndim != r->ndim)
            return tni_fail(TN_ESHAPE, "route_pull: a peer part has %d axes, expected %d",
                            t->ndim, r->ndim);
        TRY(tni_check_data(t, "route_pull: peer part"));
        tni_product_runs(s, r->ndim, p, runs);
        for (int k = 0; k < r->ndim; k++) {
            const tni_run *run = runs[k].at + runs[k].n - 1;
            const tni_again *a =
                run->again < 0 ? NULL : (const tni_again *)s->agains.at + run->again;
            int64_t high = run->src + (a ? (a->count - 1) * a->src_step : 0) +
                           (a ? a->src_inner : 1) * (run->n - 1);
            if (high >= t->shape[r->axes[k]])
                return tni_fail(TN_ESHAPE,
                                "route_pull: a peer part has extent %lld on axis %d, expected "
                                "more than %lld",
                                (long long)t->shape[r->axes[k]], r->axes[k], (long long)high);
        }
    }
    return TN_OK;
}

tn_status tn_route_pull(const tn_route *r, int64_t i, int64_t first, int64_t count,
                        const tn_tensor *dst_parts, const tn_tensor *peer_parts)
{
    TRY(message_check(r, false, i, first, count, dst_parts, peer_parts, "route_pull"));
    TRY(message_parts(r, &r->side[0], i, 0, dst_parts, NULL, "route_pull"));
    TRY(check_peer(r, i, peer_parts));
    job j = {.r = r,
             .side = &r->side[0],
             .dtype = {r->dst_dtype, r->src_dtype},
             .first = first,
             .count = count};
    return message_move(&j, i, dst_parts, peer_parts);
}

static tn_status local_move(const tn_route *r, const tni_list *products, bool fill,
                            const tn_tensor *dst, const tn_tensor *src)
{
    const tni_side *s = &r->side[0];
    for (int64_t n = 0; n < products->n; n++) {
        const tni_product *p = (const tni_product *)products->at + n;
        const tni_group *g = (const tni_group *)s->groups.at + p->group;
        job j = {.r = r,
                 .side = s,
                 .part = {dst + g->dst_part, src ? src + g->src_part : NULL},
                 .dtype = {r->dst_dtype, r->src_dtype},
                 .count = INT64_MAX,
                 .fill = fill};
        TRY(product_move(&j, p));
    }
    return TN_OK;
}

tn_status tn_route_keep(const tn_route *r, const tn_tensor *dst_parts,
                        const tn_tensor *src_parts)
{
    TRY(tn_route_check(r, dst_parts, src_parts));
    TRY(local_move(r, &r->fill, true, dst_parts, NULL));
    return local_move(r, &r->keep, false, dst_parts, src_parts);
}
