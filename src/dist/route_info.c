/* route_info.c - queries on routes: sizes, peers, description. */
#include <stdio.h>
#include <string.h>

#include "route.h"

static void side_free(tni_side *s)
{
    tni_list *lists[] = {&s->runs, &s->agains,   &s->hits,    &s->groups,
                         &s->hit0, &s->products, &s->message0};
    for (int i = 0; i < COUNT(lists); i++)
        tni_list_free(lists[i]);
}

void tn_route_free(tn_route *r)
{
    if (!r)
        return;
    for (int k = 0; k < 2; k++) {
        side_free(&r->side[k]);
        tni_free(r->extents[k]);
    }
    tni_list_free(&r->keep);
    tni_list_free(&r->fill);
    tni_free(r);
}

tn_dtype tn_route_wire(const tn_route *r)
{
    return r ? r->wire : (tn_dtype)0;
}

static int64_t list_bytes(const tni_list *l)
{
    return l->size * l->width;
}

static int64_t route_bytes(const tn_route *r)
{
    int64_t n = (int64_t)sizeof *r + list_bytes(&r->keep) + list_bytes(&r->fill);
    for (int k = 0; k < 2; k++) {
        const tni_side *s = &r->side[k];
        n += (r->parts[k] * r->ndim + 1) * 8 + list_bytes(&s->runs) + list_bytes(&s->agains) +
             list_bytes(&s->hits) + list_bytes(&s->groups) + list_bytes(&s->hit0) +
             list_bytes(&s->products) + list_bytes(&s->message0);
    }
    return n;
}

tn_status tn_route_info(const tn_route *r, tn_route_sum *sum)
{
    if (!r || !sum)
        return tni_fail(TN_ENULL, "route_info: %s is NULL", r ? "sum" : "r");
    const int64_t width = tni_width(r->wire);
    *sum = (tn_route_sum){.sends = r->side[1].messages,
                          .receives = r->side[0].messages,
                          .send_bytes = r->side[1].elements * width,
                          .receive_bytes = r->side[0].elements * width,
                          .keep_bytes = r->keep_elements * tni_width(r->dst_dtype),
                          .boxes = r->pieces,
                          .plan_bytes = route_bytes(r)};
    return TN_OK;
}

tn_status tni_message_given(const tni_side *s, int64_t i, const char *call, int64_t *first,
                            int64_t *last)
{
    if (i < 0 || i >= s->messages)
        return tni_fail(TN_EARG, "%s: message %lld is out of range [0, %lld)", call,
                        (long long)i, (long long)s->messages);
    tni_message(s, i, first, last);
    return TN_OK;
}

tn_status tn_route_peer(const tn_route *r, bool send, int64_t i, int *rank, int64_t *elements)
{
    if (!r || !rank || !elements)
        return tni_fail(TN_ENULL, "route_peer: %s is NULL",
                        !r      ? "r"
                        : !rank ? "rank"
                                : "elements");
    const tni_side *s = &r->side[send];
    int64_t first, last, n = 0;
    TRY(tni_message_given(s, i, "route_peer", &first, &last));
    const tni_product *p = s->products.at;
    for (int64_t k = first; k < last; k++)
        n += tni_product_elements(s, r->ndim, &p[k]);
    *rank = p[first].rank;
    *elements = n;
    return TN_OK;
}

/* ---- description ---- */

static void bytes_text(char *buf, size_t size, int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes;
    int power = 0;
    while (n >= 1024 && power < COUNT(units) - 1) {
        n /= 1024;
        power++;
    }
    snprintf(buf, size, power ? "%.1f %s" : "%.0f %s", n, units[power]);
}

tn_status tn_route_explain(const tn_route *r, char *buf, size_t size)
{
    if (!r || !buf)
        return tni_fail(TN_ENULL, "route_explain: %s is NULL", r ? "buf" : "r");
    if (size == 0)
        return tni_fail(TN_EARG, "route_explain: size is 0");
    tn_route_sum sum;
    char sent[32], kept[32], received[32], memory[32], axes[4 * TN_MAX_NDIM] = "";
    TRY(tn_route_info(r, &sum));
    bytes_text(sent, sizeof sent, sum.send_bytes);
    bytes_text(kept, sizeof kept, sum.keep_bytes);
    bytes_text(received, sizeof received, sum.receive_bytes);
    bytes_text(memory, sizeof memory, sum.plan_bytes);
    for (int i = 0, used = 0; i < r->ndim; i++)
        used += snprintf(axes + used, sizeof axes - (size_t)used, i ? ",%d" : "%d", r->axes[i]);
    snprintf(buf, size,
             "%s %s -> %s by axes %s\n"
             "  src      %s\n"
             "  dst      %s\n"
             "  rank %-3d sends %lld message%s, %s; keeps %s; receives %lld, %s\n"
             "  wire     %s, %lld piece%s; route %s\n",
             r->halo ? "halo" : "move", tn_dtype_name(r->src_dtype),
             tn_dtype_name(r->dst_dtype), r->ndim ? axes : "none", r->words[1], r->words[0],
             r->rank, (long long)sum.sends, sum.sends == 1 ? "" : "s", sent, kept,
             (long long)sum.receives, received, tn_dtype_name(r->wire), (long long)sum.boxes,
             sum.boxes == 1 ? "" : "s", memory);
    return TN_OK;
}
