/* pad_borders.c - pads a source that is transposed: the interior first, then the borders, axis
 * by axis.
 *
 * A border is copied from dst itself, where the elements are already in dst's order; each index
 * of dst is written once.  If outer axes have no border, each of their indices is a pad of its
 * own, whose dst is still in the cache when its borders are copied. */
#include "plan/plan.h"
#include "runtime/runtime.h"

/* Separate the outermost axes that have no border and are outermost in src, too: each index of
 * them is a pad of its own.  Stop once such a pad fits half of L2. */
bool tni_pad_borders_plan(tni_pad *p)
{
    const int64_t fit = tni_cache_sizes()->l2 / 2;
    int64_t bytes = p->bytes;
    for (int k = 0;
         k < p->nest.ndim - 2 && bytes > fit && p->nest.axis[k].n == p->nest.axis[k].held;
         k++) {
        const int64_t step = tni_abs_step(p->nest.axis[k].step[1]);
        for (int i = k + 1; i < p->nest.ndim; i++)
            if (tni_abs_step(p->nest.axis[i].step[1]) > step / p->nest.axis[i].held)
                return true;
        bytes /= p->nest.axis[k].held;
        p->items *= p->nest.axis[k].held;
        p->outer = k + 1;
    }
    return true;
}

/* The finished part of dst, as indices [from, from + n) of each axis. */
typedef struct region {
    int64_t from[TN_MAX_NDIM], n[TN_MAX_NDIM];
} region;

static char *corner(const tni_pad *p, char *d, const region *g)
{
    for (int i = 0; i < p->nest.ndim; i++)
        d += g->from[i] * p->nest.axis[i].step[0];
    return d;
}

static void pad_shape(tn_tensor *t, const tni_pad *p, const region *g)
{
    *t = (tn_tensor){.dtype = p->dtype, .ndim = p->nest.ndim};
    for (int i = 0; i < p->nest.ndim; i++) {
        t->shape[i] = g->n[i];
        t->stride[i] = p->nest.axis[i].step[0];
    }
}

static void copy(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s)
{
    tni_copy c;
    tni_copy_plan(&c, dst, src);
    tni_copy_run(&c, d, s);
}

/* Fill one segment of a border of axis k; along the other axes, region g is finished. */
static void fill_segment(const tni_pad *p, char *d, region *g, int k, int64_t at,
                         const tni_segment *run)
{
    const tni_axis *a = &p->nest.axis[k];
    tn_tensor dst, src;
    g->from[k] = at;
    g->n[k] = run->n;
    pad_shape(&dst, p, g);
    src = dst;
    if (run->value) {
        for (int i = 0; i < p->nest.ndim; i++)
            src.stride[i] = 0;
        copy(&dst, corner(p, d, g), &src, p->value);
        return;
    }
    char *to = corner(p, d, g);
    src.stride[k] = run->by * a->step[0];
    g->from[k] = a->before + run->from;
    copy(&dst, to, &src, corner(p, d, g));
}

static void fill_borders(const tni_pad *p, char *d, region *g, int k)
{
    const tni_axis *a = &p->nest.axis[k];
    for (int64_t at = 0; at < a->n;) {
        const tni_segment run = tni_pad_segment(a, p->mode, at);
        if (at != a->before)
            fill_segment(p, d, g, k, at, &run);
        at += run.n;
    }
    g->from[k] = 0;
    g->n[k] = a->n;
}

static void pad_one(const tni_pad *p, char *d, const char *s)
{
    const int outer = p->outer;
    region g;
    tn_tensor dst, src;
    for (int i = 0; i < p->nest.ndim; i++) {
        g.from[i] = i < outer ? 0 : p->nest.axis[i].before;
        g.n[i] = i < outer ? 1 : p->nest.axis[i].held;
    }
    pad_shape(&dst, p, &g);
    src = dst;
    for (int i = 0; i < p->nest.ndim; i++)
        src.stride[i] = p->nest.axis[i].step[1];
    copy(&dst, corner(p, d, &g), &src, s);
    for (int k = p->nest.ndim - 1; k >= outer; k--)
        fill_borders(p, d, &g, k);
}

typedef struct borders_job {
    const tni_pad *p;
    char *d;
    const char *s;
    int parts;
} borders_job;

static void borders_run_part(void *arg, int part)
{
    const borders_job *j = arg;
    int64_t first, last;
    tni_split_range(j->p->items, j->parts, part, &first, &last);
    tni_walk w;
    tni_walk_seek(&w, j->p->nest.axis, j->p->outer, 2, first);
    for (int64_t item = first; item < last; item++) {
        pad_one(j->p, j->d + w.offset[0], j->s + w.offset[1]);
        tni_walk_next(&w);
    }
}

void tni_pad_borders_run(const tni_pad *p, char *d, const char *s)
{
    borders_job j = {p, d, s, 1};
    if (p->items >= tni_threads()) /* if there are fewer pads than threads, each is divided */
        j.parts = tni_run_parts(tni_mul_saturated(p->bytes, 2), p->items);
    if (j.parts > 1)
        tni_parallel(j.parts, borders_run_part, &j);
    else
        borders_run_part(&j, 0);
}
