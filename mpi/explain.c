/* explain.c - describing plans, as numbers and as text. */
#include "ranks.h"

static void bytes_text(char *buf, size_t size, int64_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double n = (double)bytes;
    int unit = 0;
    while (n >= 1024 && unit < 6) {
        n /= 1024;
        unit++;
    }
    snprintf(buf, size, unit ? "%.1f %s" : "%.0f %s", n, units[unit]);
}

static size_t shape_text(char *buf, size_t size, const tn_dist *d)
{
    size_t used = (size_t)snprintf(buf, size, "(");
    for (int i = 0; i < tn_dist_ndim(d) && used + 24 < size; i++)
        used += (size_t)snprintf(buf + used, size - used, i ? ", %lld" : "%lld",
                                 (long long)tn_dist_shape(d)[i]);
    return used + (size_t)snprintf(buf + used, size - used, ")");
}

/* The description of a distribution without "over N ranks: ". */
static const char *dist_words(char *buf, size_t size, const tn_dist *d)
{
    if (tn_dist_print(d, buf, size) != TN_OK)
        return "";
    const char *at = strstr(buf, ": ");
    return at ? at + 2 : buf;
}

void tnm_move_words(tnm_about *about, const tnm_comm *c, const tn_dist *dst, tn_dtype dst_dtype,
                    const tn_dist *src, tn_dtype src_dtype, const int *axes)
{
    char from[120], to[120], by[64] = "", a[160], b[160];
    shape_text(from, sizeof from, src);
    shape_text(to, sizeof to, dst);
    size_t used = 0;
    for (int i = 0; i < tn_dist_ndim(dst) && used + 8 < sizeof by; i++)
        used +=
            (size_t)snprintf(by + used, sizeof by - used, i ? ",%d" : "%d", axes ? axes[i] : i);
    const bool cast = dst_dtype != src_dtype;
    snprintf(about->words, sizeof about->words,
             "move %s %s -> %s%s%s by axes %s over %d ranks\n  src      %.140s;  dst  %.140s\n",
             tn_dtype_name(src_dtype), from, cast ? tn_dtype_name(dst_dtype) : "",
             cast ? " " : "", to, by, c->size, dist_words(a, sizeof a, src),
             dist_words(b, sizeof b, dst));
}

void tnm_halo_words(tnm_about *about, const tnm_comm *c, const tn_dist *d, tn_dtype dtype)
{
    char shape[120], a[160];
    shape_text(shape, sizeof shape, d);
    snprintf(about->words, sizeof about->words, "halo %s %s over %d ranks\n  parts    %s\n",
             tn_dtype_name(dtype), shape, c->size, dist_words(a, sizeof a, d));
}

tn_status tn_mpi_info(const tn_mpi_plan *p, tn_mpi_sum *sum)
{
    if (!p || !sum)
        return tnm_fail(TN_ENULL, "mpi_info: %s is NULL", p ? "sum" : "plan");
    *sum = (tn_mpi_sum){.steps = p->steps,
                        .buffer_bytes = p->buffer_bytes,
                        .shared_bytes = p->shared || p->nodes ? p->shared_bytes : 0,
                        .all_bytes = p->all_bytes,
                        .all_sends = p->all_sends,
                        .most_bytes = p->most_bytes,
                        .most_sends = p->most_sends};
    return tn_route_info(p->route, &sum->route);
}

static void way_text(const tn_mpi_plan *p, int64_t receives, char *buf, size_t size)
{
    const int64_t near = p->shared ? p->shared->peers[0] : 0;
    if (p->nodes)
        snprintf(buf, size,
                 "memory of the node, and between %d nodes %lld messages of this rank",
                 p->c->nodes, (long long)p->nodes->pairs[1]);
    else
        snprintf(buf, size,
                 "memory of the node for %lld peers where tn_mpi_alloc gave it, messages for "
                 "%lld",
                 (long long)near, (long long)(receives - near));
}

tn_status tn_mpi_explain(const tn_mpi_plan *p, char *buf, size_t size)
{
    tn_mpi_sum s;
    char sent[32], kept[32], got[32], all[32], most[32], buffers[32], way[160];
    if (!p || !buf)
        return tnm_fail(TN_ENULL, "mpi_explain: %s is NULL", p ? "buf" : "plan");
    if (size == 0)
        return tnm_fail(TN_EARG, "mpi_explain: size is 0");
    TRY(tn_mpi_info(p, &s));
    bytes_text(sent, sizeof sent, s.route.send_bytes);
    bytes_text(kept, sizeof kept, s.route.keep_bytes);
    bytes_text(got, sizeof got, s.route.receive_bytes);
    bytes_text(all, sizeof all, s.all_bytes);
    bytes_text(most, sizeof most, s.most_bytes);
    bytes_text(buffers, sizeof buffers, s.buffer_bytes);
    way_text(p, s.route.receives, way, sizeof way);
    snprintf(buf, size,
             "%s"
             "  rank %-3d sends %lld message%s, %s; keeps %s; receives %lld, %s\n"
             "  all      %lld messages, %s on the wire; busiest rank %s in %lld\n"
             "  way      %s\n"
             "  buffers  %s, %lld step%s\n"
             "  pack     %lld regular pieces, %s\n",
             p->words, p->c->rank, (long long)s.route.sends, s.route.sends == 1 ? "" : "s",
             sent, kept, (long long)s.route.receives, got, (long long)s.all_sends, all, most,
             (long long)s.most_sends, way, buffers, (long long)s.steps, s.steps == 1 ? "" : "s",
             (long long)s.route.boxes, tn_isa());
    return TN_OK;
}
