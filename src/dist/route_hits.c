/* route_hits.c - the coordinates of a mesh that intersect an index set.
 *
 * Candidates are found by division, cut by cut of one axis. */
#include "route.h"

tn_status tni_hit_close(tni_generator *m, int64_t run0, int64_t position)
{
    if (m->side->runs.n == run0)
        return TN_OK;
    tni_hit *hit = m->side->runs.n <= INT32_MAX ? tni_list_add(&m->side->hits) : NULL;
    if (!hit)
        return tni_list_full("route");
    *hit = (tni_hit){(int32_t)position, (uint32_t)run0};
    return TN_OK;
}

static tn_status share(tni_generator *m, const tni_set *own, const tni_set *other,
                       int64_t position)
{
    const int64_t run0 = m->side->runs.n;
    TRY(tni_intersect(&m->side->runs, &m->side->agains, m->sending ? other : own,
                      m->sending ? own : other));
    return tni_hit_close(m, run0, position);
}

tn_status tni_hits_one(tni_generator *m, const tni_set *own, const tni_set *other)
{
    return share(m, own, other, 0);
}

static bool last_cut(const tn_dist *d, int axis, int i)
{
    while (++i < d->mesh_ndim)
        if (d->placements[i].axis == axis)
            return false;
    return true;
}

/* Add coordinates [first, first + count) of an axis that is cut into intervals, where own is
 * one interval too: each hit has one run.  The lists have space for the rows. */
static void intervals(tni_generator *m, int i, const tni_set *own, const tni_set *outer,
                      int first, int count, int64_t position)
{
    const tn_dist *d = m->other;
    const bool block = d->placements[i].cut == TN_CUT_BLOCK;
    const int64_t each = outer->n / d->mesh[i] + (block && outer->n % d->mesh[i]);
    const int64_t rest = block ? 0 : outer->n % d->mesh[i];
    tni_hit *hit = (tni_hit *)m->side->hits.at + m->side->hits.n;
    tni_run *run = (tni_run *)m->side->runs.at + m->side->runs.n;
    int64_t begin = outer->at + each * first + (first < rest ? first : rest);
    for (int k = first; k < first + count; k++) {
        const int64_t n = each + (k < rest), left = outer->at + outer->n - begin;
        const int64_t end = begin + (n < left ? n : left);
        const int64_t low = begin > own->at ? begin : own->at;
        const int64_t high = end < own->at + own->n ? end : own->at + own->n;
        const int64_t mine = own->base + low - own->at, others = low - begin;
        *run =
            (tni_run){m->sending ? others : mine, m->sending ? mine : others, high - low, -1};
        *hit++ = (tni_hit){(int32_t)(position + k * d->step[i]), (uint32_t)m->side->runs.n++};
        m->side->hits.n++;
        run++;
        begin = end;
    }
}

/* Visit the cuts of `axis` from mesh axis i on; outer is the set that the preceding cuts
 * leave. */
static tn_status level(tni_generator *m, int axis, int i, const tni_set *own,
                       const tni_set *outer, int64_t position)
{
    const tn_dist *d = m->other;
    while (i < d->mesh_ndim && d->placements[i].axis != axis)
        i++;
    if (i == d->mesh_ndim)
        return share(m, own, outer, position);
    const int p = d->mesh[i];
    int first, count;
    tni_cut_owners(outer->n, &d->placements[i], p, tni_set_below(outer, tni_set_low(own)),
                   tni_set_below(outer, tni_set_high(own)), &first, &count);
    /* Reserve at once if the count is large, plus one row for each other axis. */
    const bool contiguous = d->placements[i].cut != TN_CUT_CYCLIC && last_cut(d, axis, i) &&
                            tni_set_is_range(own) && tni_set_is_range(outer);
    if ((contiguous || count >= m->side->hits.n) &&
        !(tni_list_reserve(&m->side->hits, count + TN_MAX_NDIM + 1) &&
          tni_list_reserve(&m->side->runs, count + TN_MAX_NDIM + 1)))
        return tni_list_full("route");
    if (contiguous && m->side->runs.n <= INT32_MAX - count) {
        intervals(m, i, own, outer, first, count, position);
        return TN_OK;
    }
    for (int k = 0; k < count; k++) {
        const int c = (int)(((int64_t)first + k) % p);
        tni_set inner;
        TRY(tni_set_cut(&inner, outer, &d->placements[i], p, c));
        tn_status status =
            inner.n ? level(m, axis, i + 1, own, &inner, position + c * d->step[i]) : TN_OK;
        tni_set_free(&inner);
        TRY(status);
    }
    return TN_OK;
}

tn_status tni_hits_mesh(tni_generator *m, int dst_axis, const tni_set *own)
{
    const int axis = m->sending ? dst_axis : m->r->axes[dst_axis];
    if (own->n == 0)
        return TN_OK;
    const tni_set whole = tni_set_range(0, m->other->shape[axis]);
    return level(m, axis, 0, own, &whole, 0);
}
