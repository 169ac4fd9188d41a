/* route_emit.c - the products of a group: the rank that each belongs to, and their order.
 *
 * Sender and receiver apply the same rule to copies: a rank that holds an element uses its own;
 * any other rank receives copy number rank mod R of the R copies. */
#include <stdlib.h>

#include "nest/nest.h"
#include "route.h"

/* The product being emitted. */
typedef struct offer {
    int64_t group, combination, position;
    int64_t elements, pieces;
    unsigned marked; /* the marks of its hits, a bit each */
} offer;

static tn_status route_add(tni_generator *m, tni_list *products, int rank, const offer *o)
{
    tni_product *p = tni_list_add(products);
    if (!p)
        return tni_list_full("route");
    *p = (tni_product){rank, (int32_t)o->group, o->combination};
    tn_route *r = m->r;
    const int64_t width = tni_width(r->wire) > tni_width(r->dst_dtype)
                              ? tni_width(r->wire)
                              : tni_width(r->dst_dtype);
    int64_t bytes;
    int64_t *sum = products == &m->side->products ? &m->side->elements : &m->r->keep_elements;
    if (!tni_add(*sum, o->elements, sum) || !tni_mul(*sum, width, &bytes) ||
        !tni_add(r->pieces, o->pieces, &r->pieces))
        return tni_fail(TN_EOVERFLOW, "route: rank %d moves more than 2^63 - 1 bytes", r->rank);
    return TN_OK;
}

static int rank_order(const void *a, const void *b)
{
    const int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

/* The rank with number `copy` among the ranks that hold the copies of a position, in ascending
 * order. */
static tn_status ranked_copy(const tn_dist *d, int64_t zero, int64_t copy, int *rank)
{
    if (!d->ranks) {
        *rank = (int)(zero + tni_mesh_copy_step(d, copy));
        return TN_OK;
    }
    int *ranks = tni_alloc((size_t)d->copies * sizeof *ranks);
    if (!ranks)
        return tni_list_full("route");
    for (int64_t k = 0; k < d->copies; k++)
        ranks[k] = tni_mesh_rank(d, zero + tni_mesh_copy_step(d, k));
    qsort(ranks, (size_t)d->copies, sizeof *ranks, rank_order);
    *rank = ranks[copy];
    tni_free(ranks);
    return TN_OK;
}

/* Does rank hold a copy of the elements at this position of src? */
static bool has_copy(const tn_dist *src, int rank, int64_t zero)
{
    int64_t number, own;
    if (rank >= src->nranks)
        return false;
    tni_mesh_copy(src, tni_mesh_position(src, rank), &number, &own);
    return own == zero;
}

/* Add a product received from a position of a mesh. */
static tn_status receive_mesh(tni_generator *m, const offer *o)
{
    const int64_t zero = o->position;
    if (m->copy >= 0) /* tni_route_finish replaces the position by the rank */
        return route_add(m, &m->side->products, (int)zero, o);
    if (zero == m->own_zero)
        return route_add(m, &m->r->keep, m->r->rank, o);
    return route_add(m, &m->side->products, tni_mesh_rank(m->src, zero + m->take_step), o);
}

static bool boxes_have(const tni_boxes *b, const tni_cell *cell, int rank, int64_t *box)
{
    for (int64_t k = 0; k < cell->n; k++)
        if (b->owner[cell->holders[k]] == rank) {
            *box = cell->holders[k];
            return true;
        }
    return false;
}

/* Does rank q receive this product from this rank? */
static bool takes(const tni_generator *m, const tni_group *g, int q)
{
    const tn_dist *src = m->src;
    if (m->copy >= 0)
        return true; /* make_side has checked that this rank has that copy */
    if (q == m->r->rank)
        return false;
    if (src->copies == 1)
        return true;
    if (!src->boxes) {
        int64_t number, zero;
        tni_mesh_copy(src, tni_mesh_position(src, m->r->rank), &number, &zero);
        return q % src->copies == number && !has_copy(src, q, zero);
    }
    tni_cell cell;
    int64_t box;
    tni_cell_at(src->boxes, src->ndim, g->cell, &cell);
    return !boxes_have(src->boxes, &cell, q, &box) && cell.holders[q % cell.n] == g->holder;
}

/* Add a product sent to every copy of a position of dst. */
static tn_status send_mesh(tni_generator *m, const tni_group *g, const offer *o)
{
    for (int64_t k = 0; k < m->dst->copies; k++) {
        const int64_t step = k ? tni_mesh_copy_step(m->dst, k) : 0;
        const int q = tni_mesh_rank(m->dst, o->position + step);
        if (takes(m, g, q))
            TRY(route_add(m, &m->side->products, q, o));
    }
    return TN_OK;
}

static tn_status emit_one(tni_generator *m, const offer *o)
{
    const tni_group *g = (const tni_group *)m->side->groups.at + o->group;
    if (o->marked == 1u << TNI_MARK_MIDDLE)
        return TN_OK; /* these are the elements of src itself */
    if (o->marked & 1u << TNI_MARK_FILL)
        return route_add(m, &m->r->fill, m->r->rank, o);
    if (m->sending && m->dst->boxes) {
        const int q = m->dst->boxes->owner[g->box];
        return takes(m, g, q) ? route_add(m, &m->side->products, q, o) : TN_OK;
    }
    if (m->sending)
        return send_mesh(m, g, o);
    if (!m->src->boxes)
        return receive_mesh(m, o);
    const int rank = m->src->boxes->owner[g->holder];
    return route_add(m, rank == m->r->rank ? &m->r->keep : &m->side->products, rank, o);
}

/* Find which copy of a mesh this rank holds, and which it receives. */
static void emit_copies(tni_generator *m)
{
    const tn_dist *src = m->src;
    int64_t number;
    m->own_zero = -1;
    m->take_step = 0;
    if (src->boxes)
        return;
    if (m->r->rank < src->nranks)
        tni_mesh_copy(src, tni_mesh_position(src, m->r->rank), &number, &m->own_zero);
    m->take_step = tni_mesh_copy_step(src, m->r->rank % src->copies);
}

/* The combinations of a group: the first hit of each axis, and the products and sums over the
 * preceding axes. */
typedef struct combined {
    const int32_t *first;
    int64_t elements[TN_MAX_NDIM + 1], pieces[TN_MAX_NDIM + 1], position[TN_MAX_NDIM + 1];
} combined;

/* Update the axes from `axis` on, whose hits have changed. */
static void combined_read(combined *c, const tni_side *s, const tni_walk *w, int axis, offer *o)
{
    const tni_hit *hits = s->hits.at;
    for (int i = axis; i < w->ndim; i++) {
        const int64_t k = c->first[i] + w->at[i];
        const int64_t end = k + 1 < s->hits.n ? (int64_t)hits[k + 1].run0 : s->runs.n;
        const tni_hit_runs runs = {(const tni_run *)s->runs.at + hits[k].run0,
                                   end - hits[k].run0};
        c->elements[i + 1] = c->elements[i] * tni_runs_length(s, runs);
        c->pieces[i + 1] = c->pieces[i] * runs.n;
        c->position[i + 1] = c->position[i] + hits[k].position;
    }
    o->elements = c->elements[w->ndim];
    o->pieces = c->pieces[w->ndim];
    o->position = c->position[w->ndim];
}

static unsigned combined_marks(const combined *c, const tni_walk *w, const uint8_t *marks)
{
    unsigned marked = 0;
    for (int i = 0; i < w->ndim && marks; i++)
        marked |= 1u << marks[c->first[i] + w->at[i]];
    return marked;
}

tn_status tni_emit(tni_generator *m, int64_t group)
{
    const tni_side *s = m->side;
    const int ndim = m->r->ndim;
    const int32_t *first = (const int32_t *)s->hit0.at + group * (ndim + 1);
    offer o = {.group = group};
    combined c; /* 2 KB, mostly unused, and therefore not cleared */
    tni_axis axes[TN_MAX_NDIM];
    tni_walk w;
    int64_t total = 1;
    for (int i = 0; i < ndim; i++) {
        axes[i].n = first[i + 1] - first[i];
        if (!tni_scale(total, axes[i].n, &total))
            return tni_list_full("route");
    }
    if (total == 0)
        return TN_OK;
    if (!m->marks && m->src->copies == 1 && s->products.n == 0 &&
        !tni_list_reserve(&m->side->products, total))
        return tni_list_full("route");
    emit_copies(m);
    c.first = first;
    c.elements[0] = c.pieces[0] = 1;
    c.position[0] = 0;
    tni_walk_seek(&w, axes, ndim, 0, 0);
    for (int axis = 0; o.combination < total; o.combination++) {
        combined_read(&c, s, &w, axis, &o);
        o.marked = combined_marks(&c, &w, m->marks);
        TRY(emit_one(m, &o));
        axis = ndim - 1 - tni_walk_next(&w);
    }
    return TN_OK;
}

/* ---- order and sums ---- */

static int product_order(const void *a, const void *b)
{
    const tni_product *x = a, *y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->combination > y->combination) - (x->combination < y->combination);
}

void tni_product_runs(const tni_side *s, int ndim, const tni_product *p, tni_hit_runs *runs)
{
    const int32_t *first = (const int32_t *)s->hit0.at + (int64_t)p->group * (ndim + 1);
    const tni_hit *hits = s->hits.at;
    int64_t combination = p->combination;
    for (int i = ndim - 1; i >= 0; i--) {
        const int32_t n = first[i + 1] - first[i];
        const tni_hit *hit = hits + first[i];
        if (n > 1) { /* most axes have one hit, and a division costs more than the rest */
            hit += combination % n;
            combination /= n;
        }
        runs[i].at = (const tni_run *)s->runs.at + hit[0].run0;
        runs[i].n = (int64_t)hit[1].run0 - hit[0].run0;
    }
}

int64_t tni_runs_length(const tni_side *s, tni_hit_runs runs)
{
    const tni_again *agains = s->agains.at;
    int64_t n = 0;
    for (int64_t k = 0; k < runs.n; k++)
        n += runs.at[k].n * (runs.at[k].again < 0 ? 1 : agains[runs.at[k].again].count);
    return n;
}

int64_t tni_product_elements(const tni_side *s, int ndim, const tni_product *p)
{
    tni_hit_runs runs[TN_MAX_NDIM];
    int64_t n = 1;
    tni_product_runs(s, ndim, p, runs);
    for (int i = 0; i < ndim; i++)
        n *= tni_runs_length(s, runs[i]);
    return n;
}

void tni_message(const tni_side *s, int64_t i, int64_t *first, int64_t *last)
{
    const int64_t *message0 = s->message0.at;
    *first = message0 ? message0[i] : i;
    *last = !message0 ? i + 1 : i + 1 < s->messages ? message0[i + 1] : s->products.n;
}

static void side_trim(tni_side *s)
{
    tni_list *lists[] = {&s->runs, &s->agains,   &s->hits,    &s->groups,
                         &s->hit0, &s->products, &s->message0};
    for (int i = 0; i < COUNT(lists); i++)
        tni_list_trim(lists[i]);
}

static tn_status side_finish(tni_side *s)
{
    tni_hit *end = tni_list_add(&s->hits);
    if (!end)
        return tni_list_full("route");
    *end = (tni_hit){0, (uint32_t)s->runs.n};
    tni_product *p = s->products.at;
    const int64_t n = s->products.n;
    bool sorted = true;
    s->messages = 0;
    for (int64_t i = 1; i < n && sorted; i++)
        sorted = product_order(&p[i - 1], &p[i]) < 0;
    if (!sorted)
        qsort(p, (size_t)n, sizeof *p, product_order);
    for (int64_t i = 0; i < n; i++)
        s->messages += i == 0 || p[i].rank != p[i - 1].rank;
    if (s->messages < n) {
        if (!tni_list_reserve(&s->message0, s->messages))
            return tni_list_full("route");
        for (int64_t i = 0; i < n; i++)
            if (i == 0 || p[i].rank != p[i - 1].rank)
                *(int64_t *)tni_list_add(&s->message0) = i;
    }
    side_trim(s);
    return TN_OK;
}

tn_status tni_route_finish(tn_route *r, const tn_dist *src, int64_t copy)
{
    TRY(side_finish(&r->side[0]));
    TRY(side_finish(&r->side[1]));
    for (int64_t i = 0; i < r->side[0].products.n && copy >= 0; i++) {
        tni_product *p = (tni_product *)r->side[0].products.at + i;
        int rank = 0;
        TRY(ranked_copy(src, p->rank, copy, &rank));
        p->rank = rank;
    }
    tni_list_trim(&r->keep);
    tni_list_trim(&r->fill);
    return TN_OK;
}
