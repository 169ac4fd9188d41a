/* generate_run.c - fills a tensor with numbers that are computed from their flat index.
 *
 * Axes keep their order, because the row-major index determines the number; neighbours that
 * walk memory as one axis are merged. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* A generated number costs as much as this many copied bytes: Philox and a logarithm take about
 * 2 ns on AMD Zen 4, where a core copies 16 GB/s. */
enum { COST = 32 };

typedef struct generate_job {
    const tni_generate *m;
    const tni_generate_kernels *k;
    char *d;
    int64_t count;
    int parts;
    tni_nest nest;
} generate_job;

static void generate_run_part(void *arg, int part)
{
    const generate_job *j = arg;
    const tni_axis *row = &j->nest.axis[j->nest.ndim ? j->nest.ndim - 1 : 0];
    int64_t first, last;
    tni_split_range(j->count, j->parts, part, &first, &last);
    tni_walk w;
    tni_walk_seek(&w, j->nest.axis, j->nest.ndim, 1, first);
    while (first < last) {
        int64_t n = j->nest.ndim ? row->n - w.at[j->nest.ndim - 1] : 1;
        n = n < last - first ? n : last - first;
        j->k->run(j->m, j->d + w.offset[0], j->nest.ndim ? row->step[0] : 0, n,
                  (uint64_t)first);
        tni_walk_skip(&w, n - 1);
        tni_walk_next(&w);
        first += n;
    }
}

void tni_generate_run(const tni_generate *m, const tn_tensor *dst)
{
    generate_job j = {.m = m, .k = tni_kernels_of((int)tni_isa_level())->generate};
    tni_nest_build(&j.nest, 1, &dst, &(tni_nest_rules){.keep_order = true, .keep_signs = true});
    if (j.nest.empty)
        return;
    j.d = dst->data;
    j.count = tni_nest_count(&j.nest, TNI_MAP);
    j.parts = tni_run_parts(tni_mul_saturated(j.count, COST), j.count);
    tni_parallel(j.parts, generate_run_part, &j);
}
