/* address.c - the same copy at several addresses, interleaved; the best round of each
 * counts. */
#include "address.h"

#include <math.h>
#include <stdio.h>

/* Offsets of dst and src in a cache line, in bytes, the aligned pair first; malloc and NumPy
 * return 16. */
static const struct {
    int dst, src;
} offsets[] = {{0, 0}, {16, 16}, {4, 4}, {60, 60}, {36, 0}, {0, 16}, {4, 36}};
enum { OFFSETS = sizeof offsets / sizeof *offsets };

static void copy_at(const copy_case *c, const arena *a, int k)
{
    tn_tensor dst, src;
    int64_t shape[6];
    MUST(tn_init(&src, a->src + offsets[k].src, c->dtype, c->ndim, c->shape));
    MUST(tn_permute(&src, &src, c->axes));
    for (int i = 0; i < c->ndim; i++)
        shape[i] = src.shape[i];
    MUST(tn_init(&dst, a->dst + offsets[k].dst, c->dtype, c->ndim, shape));
    MUST(tn_rearrange(&dst, &src));
}

static void by_turns(const copy_case *c, const arena *a, int rounds, double *best)
{
    for (int k = 0; k < OFFSETS; k++)
        best[k] = 1e9;
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < OFFSETS; k++) {
            const double begin = seconds();
            copy_at(c, a, k);
            const double t = seconds() - begin;
            best[k] = t < best[k] ? t : best[k];
        }
}

address_result address_measure(const copy_list *list, int every, const arena *a, int rounds)
{
    address_result all = {0, 0, ""};
    int cases = 0;
    printf("\n%-44s %8s %8s %8s  %s\n", "at any address", "GB/s at 0", "mean", "worst",
           "dst, src");
    for (int i = 0; i < list->count; i++) {
        copy_case c;
        double best[OFFSETS], mean = 0;
        int worst = 1;
        if (i % every != i / every % every)
            continue;
        list->get(i, &c);
        by_turns(&c, a, rounds, best);
        for (int k = 1; k < OFFSETS; k++) {
            mean += log(best[0] / best[k]) / (OFFSETS - 1);
            worst = best[k] > best[worst] ? k : worst;
        }
        const double ratio = best[0] / best[worst];
        printf("  %-42s %9.1f %8.2f %8.2f  %d, %d\n", c.name,
               2e-9 * (double)case_bytes(&c) / best[0], exp(mean), ratio, offsets[worst].dst,
               offsets[worst].src);
        fflush(stdout);
        if (!cases++ || ratio < all.worst) {
            all.worst = ratio;
            snprintf(all.what, sizeof all.what, "%s at + %d, %d", c.name, offsets[worst].dst,
                     offsets[worst].src);
        }
        all.mean += mean;
    }
    all.mean = cases ? exp(all.mean / cases) : 0;
    return all;
}
