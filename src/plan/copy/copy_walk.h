/* copy_walk.h - walking the items of a copy plan, and what moves one of them.
 */
#ifndef TNI_COPY_WALK_H
#define TNI_COPY_WALK_H

#include "kernels/kernels.h"
#include "plan/plan.h"

typedef struct tni_copy_job {
    const tni_copy *c;
    const tni_copy_kernels *k;
    char *d;
    const char *s;
    int parts;
} tni_copy_job;

/* The extents of the tile at the outer indices at; false when it lies beyond the last span. */
static inline bool tni_tile_extents(const tni_copy *c, const int64_t *at, int64_t *n)
{
    for (int k = 0; k < c->ntile; k++) {
        const tni_tile_axis *x = &c->tile[k];
        int64_t from = (x->loop < 0 ? 0 : at[x->loop] * x->block) +
                       (x->wide < 0 ? 0 : at[x->wide] * x->span);
        n[k] = x->block < x->n - from ? x->block : x->n - from;
        if (n[k] <= 0)
            return false;
    }
    return true;
}

typedef struct tni_place {
    int64_t d, s;
    int64_t at[TNI_LOOPS];
} tni_place;

static inline void tni_place_at(const tni_copy *c, int64_t item, tni_place *p)
{
    p->d = p->s = 0;
    for (int i = 0; i < c->nloop; i++) {
        p->at[i] = item % c->loop[i].n;
        item /= c->loop[i].n;
        p->d += p->at[i] * c->loop[i].d;
        p->s += p->at[i] * c->loop[i].s;
    }
}

/* Go to the next item; the number of loops that began anew. */
static inline int tni_step_on(const tni_copy *c, tni_place *p)
{
    int i = 0;
    for (; i < c->nloop; i++) {
        p->d += c->loop[i].d;
        p->s += c->loop[i].s;
        if (++p->at[i] < c->loop[i].n)
            break;
        p->d -= p->at[i] * c->loop[i].d;
        p->s -= p->at[i] * c->loop[i].s;
        p->at[i] = 0;
    }
    return i;
}

/* a x b units from s to d, whose steps are given. */
void tni_copy_move(const tni_copy_job *j, char *d, const int64_t d_step[2], const char *s,
                   const int64_t n[2], int64_t ahead);

/* Items that go aligned_lines to dst: tile by tile, with their places listed, or as whole lines,
 * shifted where rows do not begin with one. */
void tni_copy_direct(const tni_copy_job *j, int64_t first, int64_t last);
void tni_copy_indexed(const tni_copy_job *j, int64_t first, int64_t last);
void tni_copy_lines(const tni_copy_job *j, int64_t first, int64_t last, bool shifted);

#endif
