/* route_piece.c - the regular pieces of a route, and copying them.
 *
 * A product is a grid of pieces, one for each choice of a run on every axis.  A piece is a
 * dense loop nest in the message and a strided one in a part, so that one call of tn_rearrange
 * or tn_cast copies it.  The order of a message is that of its products, then of their pieces;
 * within a piece it is the row-major order of dst. */
#include "nest/nest.h"
#include "route.h"

/* The loops of one piece, outermost first, without those of extent 1.  There are at most 63,
 * since their product is the number of elements. */
typedef struct piece {
    int ndim;
    int64_t n[2 * TN_MAX_NDIM];
    int64_t step[2][2 * TN_MAX_NDIM]; /* bytes in dst and in src */
    int64_t at[2];                    /* offset in bytes from the part's element (0, ...) */
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

static void piece_make(piece *p, const tni_job *j, const tni_hit_runs *runs,
                       const int64_t *choice)
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
        /* The stride of an axis of extent 1 is arbitrary; the position there is 0. */
        p->at[0] += run->dst ? run->dst * d : 0;
        p->at[1] += run->src ? run->src * s : 0;
    }
}

/* The loops from `level` on, with extent m at that level, as a tensor on side k. */
static void piece_tensor(const piece *p, const tni_job *j, int k, int level, int64_t m,
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

static tn_status piece_copy(const piece *p, tni_job *j, int level, int64_t m,
                            const int64_t *offset, int64_t elements)
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

/* Copy elements [first, first + count) of a piece as few boxes of whole inner loops. */
static tn_status piece_range(const piece *p, tni_job *j, int64_t first, int64_t count)
{
    if (first == 0 && count == p->elements)
        return piece_copy(p, j, 0, p->ndim ? p->n[0] : 1, (int64_t[]){0, 0}, count);
    while (count > 0) {
        int64_t inner = 1, index[TN_MAX_NDIM], offset[2] = {0, 0};
        int level = p->ndim - 1;
        while (level > 0 && first % (inner * p->n[level]) == 0 && count >= inner * p->n[level])
            inner *= p->n[level--];
        tni_unravel(p->ndim, p->n, first, index);
        for (int i = 0; i < p->ndim; i++) {
            offset[0] += index[i] * p->step[0][i];
            offset[1] += index[i] * p->step[1][i];
        }
        int64_t left = p->n[level] - first / inner % p->n[level];
        int64_t m = count / inner < left ? count / inner : left;
        TRY(piece_copy(p, j, level, m, offset, m * inner));
        first += m * inner;
        count -= m * inner;
    }
    return TN_OK;
}

tn_status tni_product_copy(tni_job *j, const tni_product *product)
{
    tni_hit_runs runs[TN_MAX_NDIM];
    tni_axis axes[TN_MAX_NDIM];
    tni_walk w;
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
    for (int i = 0; i < ndim; i++)
        axes[i].n = runs[i].n;
    tni_walk_seek(&w, axes, ndim, 0, 0);
    do {
        piece_make(&p, j, runs, w.at);
        int64_t n = p.elements - j->first < j->count ? p.elements - j->first : j->count;
        if (n > 0) {
            TRY(piece_range(&p, j, j->first, n));
            j->count -= n;
            j->first = 0;
        } else {
            j->first -= p.elements;
        }
    } while (j->count > 0 && tni_walk_next(&w) < ndim);
    return TN_OK;
}

/* ---- one piece as two views ---- */

/* Piece *k of a product as views.  If the product has fewer pieces, subtracts their number from
 * *k and returns false. */
static bool product_piece(tni_job *j, const tni_product *product, int64_t *k, tn_tensor *dst,
                          tn_tensor *src)
{
    tni_hit_runs runs[TN_MAX_NDIM];
    int64_t choice[TN_MAX_NDIM], rest = *k;
    piece p;
    tni_product_runs(j->side, j->r->ndim, product, runs);
    for (int i = j->r->ndim - 1; i >= 0; i--) {
        choice[i] = rest % runs[i].n;
        rest /= runs[i].n;
    }
    if (rest > 0) {
        for (int i = j->r->ndim - 1; i >= 0; i--)
            rest = i == j->r->ndim - 1 ? runs[i].n : rest * runs[i].n;
        *k -= j->r->ndim ? rest : 1;
        return false;
    }
    piece_make(&p, j, runs, choice);
    piece_tensor(&p, j, 0, 0, p.ndim ? p.n[0] : 1, 0, dst);
    piece_tensor(&p, j, 1, 0, p.ndim ? p.n[0] : 1, 0, src);
    return true;
}

tn_status tn_route_piece(const tn_route *r, int64_t i, int64_t k, const tn_tensor *dst_parts,
                         const tn_tensor *peer_parts, tn_tensor *dst, tn_tensor *src)
{
    if (!r || !dst_parts || !peer_parts || !dst || !src)
        return tni_fail(TN_ENULL, "route_piece: %s is NULL",
                        !r            ? "r"
                        : !dst_parts  ? "dst_parts"
                        : !peer_parts ? "peer_parts"
                        : !dst        ? "dst"
                                      : "src");
    const tni_side *s = &r->side[0];
    if (i < -1 || i >= s->messages || k < 0)
        return tni_fail(
            TN_EARG,
            "route_piece: got piece %lld of message %lld, expected a message in [0, %lld)",
            (long long)k, (long long)i, (long long)s->messages);
    const tni_list *list = i < 0 ? &r->keep : &s->products;
    int64_t first = 0, last = list->n;
    if (i >= 0)
        tni_message(s, i, &first, &last);
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)list->at + n;
        const tni_group *g = (const tni_group *)s->groups.at + p->group;
        tni_job j = {.r = r,
                     .side = s,
                     .part = {dst_parts + g->dst_part, peer_parts + g->src_part},
                     .dtype = {r->dst_dtype, r->src_dtype}};
        if (product_piece(&j, p, &k, dst, src))
            return TN_OK;
    }
    return tni_fail(TN_EARG, "route_piece: message %lld has no such piece", (long long)i);
}

tn_status tn_route_before(const tn_route *r, bool send, int64_t i, int64_t part,
                          int64_t *elements)
{
    if (!r || !elements)
        return tni_fail(TN_ENULL, "route_before: %s is NULL", r ? "elements" : "r");
    const tni_side *s = &r->side[send];
    int64_t first, last, sum = 0;
    TRY(tni_message_given(s, i, "route_before", &first, &last));
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)s->products.at + n;
        if (((const tni_group *)s->groups.at + p->group)->dst_part < part)
            sum += tni_product_elements(s, r->ndim, p);
    }
    *elements = sum;
    return TN_OK;
}

/* ---- messages that are contiguous in a part ---- */

void *tn_route_place(const tn_route *r, bool send, int64_t i, const tn_tensor *parts)
{
    int64_t first, last, dense;
    if (!r || !parts || i < 0 || i >= r->side[send].messages ||
        r->wire != (send ? r->src_dtype : r->dst_dtype))
        return NULL;
    const tni_side *s = &r->side[send];
    tni_message(s, i, &first, &last);
    if (last - first != 1)
        return NULL;
    const tni_product *product = (const tni_product *)s->products.at + first;
    const tni_group *g = (const tni_group *)s->groups.at + product->group;
    tni_job j = {.r = r, .side = s};
    j.part[send] = parts + (send ? g->src_part : g->dst_part);
    tni_hit_runs runs[TN_MAX_NDIM];
    const int64_t choice[TN_MAX_NDIM] = {0};
    piece p;
    tni_product_runs(s, r->ndim, product, runs);
    for (int k = 0; k < r->ndim; k++)
        if (runs[k].n != 1)
            return NULL;
    piece_make(&p, &j, runs, choice);
    dense = tni_width(r->wire);
    for (int k = p.ndim - 1; k >= 0; dense *= p.n[k--])
        if (p.step[send][k] != dense)
            return NULL;
    return tni_offset(j.part[send]->data, p.at[send]);
}
