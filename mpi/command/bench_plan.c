/* bench_plan.c - time and memory of planning the route of one rank of 65,536, on rank 0. */
#include <stdio.h>

#include "bench.h"

static const struct {
    const char *name;
    int ndim, mesh_ndim;
    int64_t shape[3];
    int axes[3], mesh[2], src[2], dst[2]; /* the axes that are cut into blocks */
    double goal_ms, goal_mib;
} plans[] = {
    {"slab", 2, 1, {524288, 524288}, {1, 0}, {65536}, {0}, {0}, 5, 8},
    {"pencil", 3, 2, {4096, 4096, 4096}, {0, 1, 2}, {256, 256}, {1, 2}, {0, 2}, 0.1, 8},
};

static tn_dist *blocks(int ndim, const int64_t *shape, int mesh_ndim, const int *mesh,
                       const int *axes)
{
    tn_placement cut[2];
    tn_dist *d = NULL;
    for (int i = 0; i < mesh_ndim; i++)
        cut[i] = (tn_placement){axes[i], TN_CUT_BLOCK, 0, 0};
    bench_check(tn_dist_mesh(&d, ndim, shape, mesh_ndim, mesh, cut, NULL));
    return d;
}

void bench_plan(const args *a)
{
    for (size_t i = 0; this_rank == 0 && i < sizeof plans / sizeof *plans; i++) {
        tn_dist *src = blocks(plans[i].ndim, plans[i].shape, plans[i].mesh_ndim, plans[i].mesh,
                              plans[i].src);
        tn_dist *dst = blocks(plans[i].ndim, plans[i].shape, plans[i].mesh_ndim, plans[i].mesh,
                              plans[i].dst);
        tn_route_sum sum;
        double best = 1e9;
        for (int k = 0; k < 20; k++) {
            tn_route *r = NULL;
            const double start = seconds();
            bench_check(tn_route_create(&r, 12345, dst, TN_F32, src, TN_F32, plans[i].axes));
            const double time = seconds() - start;
            best = time < best ? time : best;
            bench_check(tn_route_info(r, &sum));
            tn_route_free(r);
        }
        const double mib = (double)sum.plan_bytes / (1 << 20);
        printf(
            a->json
                ? "{\"plan\": \"%s\", \"ranks\": 65536, \"ms\": %.4f, \"goal_ms\": %.1f, "
                  "\"MiB\": %.3f, \"goal_MiB\": %.0f}\n"
                : "   planning a %s of 65,536 ranks %.3f ms, goal %.1f; %.2f MiB, goal %.0f\n",
            plans[i].name, 1e3 * best, plans[i].goal_ms, mib, plans[i].goal_mib);
        tn_dist_free(src);
        tn_dist_free(dst);
    }
}
