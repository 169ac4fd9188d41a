/* fuzz_dist.c - bytes as two distributions of a tensor and as the axes between them.
 *
 * What is refused leaves the pointer as it was.  Routes of all ranks of what is accepted agree:
 * what one sends another receives, in as many elements, and every part is filled. */
#include <tenon/dist.h>

#include "fuzz.h"

enum { MOST_AXES = 3, MOST_RANKS = 8, MOST_BOXES = 12 };

static int64_t take_extent(bytes *b)
{
    static const int64_t some[] = {0, 1, 7, 64, 1000, INT32_MAX, -1, INT64_MAX};
    const int x = take_below(b, 64);
    return x < 8 ? some[x] : x % 17;
}

static tn_status take_mesh(bytes *b, int ndim, const int64_t *shape, tn_dist **d)
{
    int mesh[3], order[MOST_RANKS], ranks = 1, mesh_ndim = take_below(b, 4);
    tn_placement cuts[3];
    for (int i = 0; i < mesh_ndim; i++) {
        mesh[i] = take_below(b, 5); /* 0 is refused */
        if (ranks * mesh[i] > MOST_RANKS)
            mesh[i] = 1;
        ranks *= mesh[i];
        cuts[i] =
            (tn_placement){take_below(b, MOST_AXES + 2) - 1, (tn_cut)take_below(b, 4), 0, 0};
        if (cuts[i].cut == TN_CUT_CYCLIC) {
            cuts[i].block = take_extent(b);
            cuts[i].first = take_below(b, 4);
        }
    }
    for (int i = 0; i < MOST_RANKS; i++)
        order[i] = take_below(b, 16) ? i ^ 1 : i;
    return tn_dist_mesh(d, ndim, shape, mesh_ndim, mesh, cuts, take_below(b, 2) ? order : NULL);
}

static tn_status take_boxes(bytes *b, int ndim, const int64_t *shape, tn_dist **d)
{
    int owners[MOST_BOXES], n = take_below(b, MOST_BOXES + 1),
                            ranks = take_below(b, MOST_RANKS);
    int64_t starts[MOST_BOXES * MOST_AXES], extents[MOST_BOXES * MOST_AXES];
    for (int i = 0; i < n; i++)
        owners[i] = take_below(b, MOST_RANKS);
    for (int i = 0; i < n * ndim; i++) {
        const int64_t whole = shape[i % ndim];
        starts[i] = take_below(b, 2) ? 0 : take_below(b, 20);
        extents[i] = take_below(b, 2) ? whole - starts[i] : take_below(b, 20);
    }
    return tn_dist_boxes(d, ndim, shape, ranks, n, owners, starts, extents);
}

static tn_dist *take_dist(bytes *b, int ndim, const int64_t *shape)
{
    tn_dist *d = NULL;
    tn_status status = take_below(b, 2) ? take_mesh(b, ndim, shape, &d)
                       : take_below(b, 4)
                           ? take_boxes(b, ndim, shape, &d)
                           : tn_dist_whole(&d, ndim, shape, take_below(b, 9), take_below(b, 9));
    MUST((status == TN_OK) == (d != NULL));
    return d;
}

static int64_t part_elements(const tn_dist *d, int rank)
{
    int64_t sum = 0, n[MOST_AXES];
    for (int64_t part = 0; part < tn_dist_parts(d, rank); part++) {
        int64_t elements = 1;
        if (tn_dist_part(d, rank, part, n) != TN_OK)
            return -1;
        for (int i = 0; i < tn_dist_ndim(d); i++)
            elements *= n[i];
        sum += elements;
    }
    return sum;
}

static void check_routes(const tn_dist *dst, const tn_dist *src, const int *axes)
{
    tn_route *routes[MOST_RANKS + 1] = {0};
    bool all = true;
    for (int q = 0; q <= MOST_RANKS; q++)
        all = tn_route_create(&routes[q], q, dst, TN_U8, src, TN_U8, axes) == TN_OK && all;
    int64_t sends = 0, receives = 0;
    for (int q = 0; q <= MOST_RANKS && all; q++) {
        tn_route_sum sum, other;
        char text[600];
        MUST(tn_route_info(routes[q], &sum) == TN_OK);
        MUST(tn_route_explain(routes[q], text, sizeof text) == TN_OK);
        MUST(sum.keep_bytes + sum.receive_bytes == part_elements(dst, q));
        sends += sum.sends;
        receives += sum.receives;
        for (int64_t i = 0; i < sum.sends; i++) {
            int peer = -1, back = -1;
            int64_t n = 0, m = 0, k = 0;
            MUST(tn_route_peer(routes[q], true, i, &peer, &n) == TN_OK && n > 0 && peer != q);
            MUST(tn_route_info(routes[peer], &other) == TN_OK);
            for (; k < other.receives && back != q; k++)
                MUST(tn_route_peer(routes[peer], false, k, &back, &m) == TN_OK);
            MUST(back == q && m == n);
        }
    }
    MUST(sends == receives);
    for (int q = 0; q <= MOST_RANKS; q++)
        tn_route_free(routes[q]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes b = {data, size};
    int64_t shape[MOST_AXES], to[MOST_AXES];
    int axes[MOST_AXES] = {0, 1, 2}, ndim = take_below(&b, MOST_AXES + 1);
    for (int i = 0; i < ndim; i++)
        shape[i] = take_extent(&b);
    for (int i = ndim - 1; i > 0; i--) {
        int k = take_below(&b, i + 1), swap = axes[i];
        axes[i] = axes[k];
        axes[k] = swap;
    }
    for (int i = 0; i < ndim; i++)
        to[i] = shape[axes[i]];
    tn_dist *src = take_dist(&b, ndim, shape), *dst = take_dist(&b, ndim, to);
    char text[200];
    if (src)
        MUST(tn_dist_print(src, text, sizeof text) == TN_OK);
    if (src && dst)
        check_routes(dst, src, axes);
    tn_dist_free(src);
    tn_dist_free(dst);
    return 0;
}
