/* route_run.c - packing, unpacking, keeping and pulling elements, after checks of the parts. */
#include <stdio.h>
#include <string.h>

#include "route.h"

/* ---- checks ---- */

static const char *const end_name[] = {"dst", "src"};

/* Check this rank's part number `part` on side k against the extents of the route. */
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
        TRY(tni_check_injective(t, call, "a part of dst"));
    return tni_check_data(t, who);
}

static tn_status check_parts(const tn_route *r, int k, const tn_tensor *parts, const char *call)
{
    if (!parts && r->parts[k] > 0)
        return tni_fail(TN_ENULL, "%s: %s_parts is NULL, rank %d has %lld of them", call,
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
            TRY(tni_check_disjoint(&dst_parts[d], &dst_parts[k], false, "route_check",
                                   (const char *const[]){"a part of dst", "another"}));
        for (int64_t s = 0; s < r->parts[1] && !r->halo; s++)
            TRY(tni_check_disjoint(&dst_parts[d], &src_parts[s], false, "route_check",
                                   (const char *const[]){"a part of dst", "a part of src"}));
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
        return tni_fail(TN_EARG, "%s: got %lld elements from %lld on, message %lld has %lld",
                        call, (long long)count, (long long)first, (long long)i,
                        (long long)elements);
    return TN_OK;
}

/* Check the parts of this rank that elements [from, from + count) of a message touch, each once
 * per consecutive use. */
static tn_status message_parts(const tn_route *r, bool sent, int64_t i, int64_t from,
                               const tn_tensor *parts, const tn_tensor *message,
                               const char *call)
{
    const tni_side *s = &r->side[sent];
    const int64_t end = from + message->shape[0];
    int64_t first, last, before = -1, at = 0;
    tni_message(s, i, &first, &last);
    for (int64_t n = first; n < last && at < end; n++) {
        const tni_product *p = (const tni_product *)s->products.at + n;
        const tni_group *g = (const tni_group *)s->groups.at + p->group;
        const int64_t part = sent ? g->src_part : g->dst_part;
        ASSERT(part >= 0 && part < r->parts[sent]);
        at += tni_product_elements(s, r->ndim, p);
        if (part == before || at <= from)
            continue;
        TRY(check_part(r, sent, &parts[part], part, call));
        if (message->data)
            TRY(sent ? tni_check_disjoint(message, &parts[part], false, call,
                                          (const char *const[]){"message", "a part of src"})
                     : tni_check_disjoint(&parts[part], message, false, call,
                                          (const char *const[]){"a part of dst", "message"}));
        before = part;
    }
    return TN_OK;
}

static tn_status message_copy(tni_job *j, int64_t i, const tn_tensor *dst, const tn_tensor *src)
{
    int64_t first, last;
    tni_message(j->side, i, &first, &last);
    ASSERT(first <= last && last <= j->side->products.n);
    for (int64_t n = first; n < last; n++) {
        const tni_product *p = (const tni_product *)j->side->products.at + n;
        const tni_group *g = (const tni_group *)j->side->groups.at + p->group;
        j->part[0] = dst ? dst + g->dst_part : NULL;
        j->part[1] = src ? src + g->src_part : NULL;
        TRY(tni_product_copy(j, p));
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
    TRY(message_parts(r, true, i, first, src_parts, &t, "route_pack"));
    tni_job j = {.r = r,
                 .side = &r->side[1],
                 .dtype = {r->wire, r->src_dtype},
                 .message = message,
                 .first = first,
                 .count = count};
    return message_copy(&j, i, NULL, src_parts);
}

tn_status tn_route_unpack(const tn_route *r, int64_t i, int64_t first, int64_t count,
                          const tn_tensor *dst_parts, const void *message)
{
    TRY(message_check(r, false, i, first, count, dst_parts, message, "route_unpack"));
    const tn_tensor t = message_tensor(r, message, count);
    TRY(message_parts(r, false, i, first, dst_parts, &t, "route_unpack"));
    tni_job j = {.r = r,
                 .side = &r->side[0],
                 .dtype = {r->dst_dtype, r->wire},
                 .message = t.data,
                 .first = first,
                 .count = count};
    return message_copy(&j, i, dst_parts, NULL);
}

/* ---- memory to memory ---- */

/* The largest index that a product reads along one axis of its src part.  Runs are not in the
 * order of their indices where blocks of both sides repeat. */
static int64_t last_read(const tni_side *s, const tni_hit_runs *runs)
{
    int64_t most = -1;
    for (int64_t i = 0; i < runs->n; i++) {
        const tni_run *run = runs->at + i;
        const tni_again *a =
            run->again < 0 ? NULL : (const tni_again *)s->agains.at + run->again;
        const int64_t high = run->src + (a ? (a->count - 1) * a->src_step : 0) +
                             (a ? a->src_inner : 1) * (run->n - 1);
        most = high > most ? high : most;
    }
    return most;
}

/* Check that every position that message i reads is inside the peer's parts. */
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
            const int64_t high = last_read(s, &runs[k]);
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
    const tn_tensor none = message_tensor(r, NULL, count);
    TRY(message_parts(r, false, i, first, dst_parts, &none, "route_pull"));
    TRY(check_peer(r, i, peer_parts));
    tni_job j = {.r = r,
                 .side = &r->side[0],
                 .dtype = {r->dst_dtype, r->src_dtype},
                 .first = first,
                 .count = count};
    return message_copy(&j, i, dst_parts, peer_parts);
}

static tn_status local_copy(const tn_route *r, const tni_list *products, bool fill, int64_t low,
                            int64_t high, const tn_tensor *dst, const tn_tensor *src)
{
    const tni_side *s = &r->side[0];
    for (int64_t n = 0; n < products->n; n++) {
        const tni_product *p = (const tni_product *)products->at + n;
        const tni_group *g = (const tni_group *)s->groups.at + p->group;
        if (g->dst_part < low || g->dst_part >= high)
            continue;
        tni_job j = {.r = r,
                     .side = s,
                     .part = {dst + g->dst_part, src ? src + g->src_part : NULL},
                     .dtype = {r->dst_dtype, r->src_dtype},
                     .count = INT64_MAX,
                     .fill = fill};
        TRY(tni_product_copy(&j, p));
    }
    return TN_OK;
}

tn_status tn_route_keep(const tn_route *r, const tn_tensor *dst_parts,
                        const tn_tensor *src_parts)
{
    TRY(tn_route_check(r, dst_parts, src_parts));
    TRY(local_copy(r, &r->fill, true, 0, INT64_MAX, dst_parts, NULL));
    return local_copy(r, &r->keep, false, 0, INT64_MAX, dst_parts, src_parts);
}

tn_status tn_route_keep_parts(const tn_route *r, int64_t low, int64_t high,
                              const tn_tensor *dst_parts, const tn_tensor *src_parts)
{
    if (!r)
        return tni_fail(TN_ENULL, "route_keep_parts: r is NULL");
    if (low < 0 || low > high)
        return tni_fail(TN_EARG, "route_keep_parts: invalid range of parts [%lld, %lld)",
                        (long long)low, (long long)high);
    TRY(check_parts(r, 1, src_parts, "route_keep_parts"));
    for (int64_t part = low; part < high && part < r->parts[0]; part++) {
        if (!dst_parts)
            return tni_fail(TN_ENULL, "route_keep_parts: dst_parts is NULL");
        TRY(check_part(r, 0, &dst_parts[part], part, "route_keep_parts"));
    }
    TRY(local_copy(r, &r->fill, true, low, high, dst_parts, NULL));
    return local_copy(r, &r->keep, false, low, high, dst_parts, src_parts);
}
