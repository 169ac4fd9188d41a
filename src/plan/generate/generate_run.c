/* generate_run.c - filling a tensor with numbers made from their flat index.
 *
 * Axes keep their order, for the row-major index is the number's name; neighbours that walk
 * memory as one are merged. */
#include "plan/plan.h"
#include "runtime/runtime.h"

enum { COST = 32 }; /* a made number costs as much as this many copied bytes */

typedef struct job {
    const tni_make *m;
    const tni_make_kernels *k;
    char *d;
    int64_t count;
    int ndim, parts;
    int64_t n[TN_MAX_NDIM], step[TN_MAX_NDIM];
} job;

static void gather_axes(job *j, const tn_tensor *t)
{
    j->ndim = 0;
    j->count = 1;
    for (int i = 0; i < t->ndim; i++) {
        const int64_t n = t->shape[i], step = t->stride[i];
        int last = j->ndim - 1;
        j->count *= n;
        if (n == 1)
            continue;
        if (last >= 0 && j->step[last] == n * step) {
            j->n[last] *= n;
            j->step[last] = step;
        } else {
            j->n[j->ndim] = n;
            j->step[j->ndim++] = step;
        }
    }
    if (j->ndim == 0) {
        j->n[0] = 1;
        j->step[0] = 0;
        j->ndim = 1;
    }
}

/* The address of element index, and how many follow on the last axis. */
static char *find(const job *j, int64_t index, int64_t *follow)
{
    const int last = j->ndim - 1;
    int64_t at = index % j->n[last];
    char *d = j->d + at * j->step[last];
    *follow = j->n[last] - at;
    index /= j->n[last];
    for (int i = last - 1; i >= 0; i--) {
        d += index % j->n[i] * j->step[i];
        index /= j->n[i];
    }
    return d;
}

static void run_part(void *arg, int part)
{
    const job *j = arg;
    int64_t first, last, follow;
    tni_split_range(j->count, j->parts, part, &first, &last);
    for (int64_t i = first; i < last; i += follow) {
        char *d = find(j, i, &follow);
        if (follow > last - i)
            follow = last - i;
        j->k->run(j->m, d, j->step[j->ndim - 1], follow, (uint64_t)i);
    }
}

void tni_make_run(const tni_make *m, const tn_tensor *dst)
{
    for (int i = 0; i < dst->ndim; i++)
        if (dst->shape[i] == 0)
            return;
    job j = {.m = m, .k = tni_kernels_of((int)tni_isa_level())->generate, .d = dst->data};
    gather_axes(&j, dst);
    j.parts = tni_plan_parts(tni_times(j.count, COST), j.count);
    tni_parallel(j.parts, run_part, &j);
}
