/* pad_slabs.c - a pad whose source is turned: the interior first, then axis by axis the
 * borders.
 *
 * A border is copied from dst itself, where the elements lie in dst's order already; each place
 * of dst is written once.  Where outer axes have no border, each of their places is a pad of
 * its own, whose dst is still in the cache when its borders are read. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* The part of dst that is finished, as places [from, from + n) of each axis. */
typedef struct region {
    int64_t from[TN_MAX_NDIM], n[TN_MAX_NDIM];
} region;

static char *corner(const tni_pad *p, char *d, const region *g)
{
    for (int i = 0; i < p->ndim; i++)
        d += g->from[i] * p->axis[i].d_step;
    return d;
}

static void shape(tn_tensor *t, const tni_pad *p, const region *g)
{
    *t = (tn_tensor){.dtype = p->dtype, .ndim = p->ndim};
    for (int i = 0; i < p->ndim; i++) {
        t->shape[i] = g->n[i];
        t->stride[i] = p->axis[i].d_step;
    }
}

static void copy(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s)
{
    tni_copy c;
    tni_copy_plan(&c, dst, src);
    tni_copy_run(&c, d, s);
}

/* One run of a border: region g is finished but for axis k, where it is to hold the run. */
static void fill_run(const tni_pad *p, char *d, region *g, int k, int64_t at,
                     const tni_run *run)
{
    const tni_pad_axis *a = &p->axis[k];
    tn_tensor dst, src;
    g->from[k] = at;
    g->n[k] = run->n;
    shape(&dst, p, g);
    src = dst;
    if (run->value) {
        for (int i = 0; i < p->ndim; i++)
            src.stride[i] = 0;
        copy(&dst, corner(p, d, g), &src, p->value);
        return;
    }
    char *to = corner(p, d, g);
    src.stride[k] = run->by * a->d_step;
    g->from[k] = a->before + run->from;
    copy(&dst, to, &src, corner(p, d, g));
}

static void fill_borders(const tni_pad *p, char *d, region *g, int k)
{
    const tni_pad_axis *a = &p->axis[k];
    for (int64_t at = 0; at < a->total;) {
        const tni_run run = tni_pad_run_at(a, p->mode, at);
        if (at != a->before)
            fill_run(p, d, g, k, at, &run);
        at += run.n;
    }
    g->from[k] = 0;
    g->n[k] = a->total;
}

static void run_slab(const tni_pad *p, char *d, const char *s)
{
    const int outer = p->outer;
    region g;
    tn_tensor dst, src;
    for (int i = 0; i < p->ndim; i++) {
        g.from[i] = i < outer ? 0 : p->axis[i].before;
        g.n[i] = i < outer ? 1 : p->axis[i].n;
    }
    shape(&dst, p, &g);
    src = dst;
    for (int i = 0; i < p->ndim; i++)
        src.stride[i] = p->axis[i].step;
    copy(&dst, corner(p, d, &g), &src, s);
    for (int k = p->ndim - 1; k >= outer; k--)
        fill_borders(p, d, &g, k);
}

typedef struct job {
    const tni_pad *p;
    char *d;
    const char *s;
    int parts;
} job;

static void run_part(void *arg, int part)
{
    const job *j = arg;
    int64_t first, last;
    tni_split_range(j->p->items, j->parts, part, &first, &last);
    for (int64_t item = first; item < last; item++) {
        int64_t rest = item, d = 0, s = 0;
        for (int i = j->p->outer - 1; i >= 0; i--) {
            const tni_pad_axis *a = &j->p->axis[i];
            d += rest % a->n * a->d_step;
            s += rest % a->n * a->step;
            rest /= a->n;
        }
        run_slab(j->p, j->d + d, j->s + s);
    }
}

void tni_pad_slabs(const tni_pad *p, char *d, const char *s)
{
    job j = {p, d, s, 1};
    if (p->items >= tni_threads()) /* of fewer slabs each one is shared out */
        j.parts = tni_plan_parts(tni_times(p->bytes, 2), p->items);
    if (j.parts > 1)
        tni_parallel(j.parts, run_part, &j);
    else
        run_part(&j, 0);
}
