/* copy_direct.c - tiles that go from src aligned_lines to dst. */
#include <string.h>

#include "copy_walk.h"

enum {
    PACK = 256,             /* bytes of a source row that are laid beside the next */
    PACK_PITCH = PACK + 64, /* so far apart that they share no cache set */
    PACK_ROWS = 64,
};

/* Transpose a x b units, into whole lines or not.  When source rows would push each other out of the
 * cache, they are first laid side by side. */
static void transpose_tile(const tni_copy_job *j, char *d, int64_t d_step, const char *s,
                           const int64_t n[2], int64_t ahead, bool lines)
{
    const tni_copy *c = j->c;
    void (*kernel)(char *, int64_t, const char *, int64_t, int64_t, int64_t, int64_t) =
        lines ? j->k->transpose_lines[c->width_log2] : j->k->transpose[c->width_log2];
    int64_t s_step = c->tile[TNI_DST_FAST].s;
    if (!c->pack) {
        kernel(d, d_step, s, s_step, n[TNI_DST_FAST], n[TNI_SRC_FAST], ahead);
        return;
    }
    _Alignas(64) char side[PACK_ROWS][PACK_PITCH];
    for (int64_t b = 0; b < n[TNI_SRC_FAST]; b += PACK / c->unit)
        for (int64_t a = 0; a < n[TNI_DST_FAST]; a += PACK_ROWS) {
            int64_t nb =
                n[TNI_SRC_FAST] - b < PACK / c->unit ? n[TNI_SRC_FAST] - b : PACK / c->unit;
            int64_t na = n[TNI_DST_FAST] - a < PACK_ROWS ? n[TNI_DST_FAST] - a : PACK_ROWS;
            j->k->units(side[0], (int64_t[2]){PACK_PITCH, 0}, s + a * s_step + b * c->unit,
                        (int64_t[2]){s_step, 0}, (int64_t[2]){na, 1}, nb * c->unit, ahead);
            kernel(d + a * c->unit + b * d_step, d_step, side[0], PACK_PITCH, na, nb, 0);
        }
}

void tni_copy_move(const tni_copy_job *j, char *d, const int64_t d_step[2], const char *s,
                   const int64_t n[2], int64_t ahead)
{
    const tni_copy *c = j->c;
    int64_t s_step[2] = {c->tile[TNI_DST_FAST].s, c->tile[TNI_SRC_FAST].s};
    if (c->mover == TNI_MOVE_TRANSPOSE)
        transpose_tile(j, d, d_step[TNI_SRC_FAST], s, n, ahead, false);
    else if (c->mover == TNI_MOVE_ROWS && c->stream && !c->staged)
        j->k->stream_units(d, d_step, s, s_step, n, c->unit, ahead);
    else if (c->mover == TNI_MOVE_ROWS)
        j->k->units(d, d_step, s, s_step, n, c->unit, ahead);
    else
        j->k->tile[c->width_log2](d, d_step, s, s_step, n);
}

/* How many of the two innermost loops' trips can be made at once from p on: loops that walk the
 * blocks of a tile, whose extents may change, and loops that are under way count as one. */
static void trips_at(const tni_copy *c, const tni_place *p, int64_t most, tni_trips *t)
{
    int64_t n[2] = {1, 1};
    *t = (tni_trips){{1, 1}, {0, 0}, {0, 0}};
    for (int i = 0; i < 2 && i < c->nloop && c->loop[i].tile < 0; i++) {
        n[i] = c->loop[i].n - p->at[i];
        n[i] = n[i] < most ? n[i] : most;
        t->n[i] = n[i];
        t->d[i] = c->loop[i].d;
        t->s[i] = c->loop[i].s;
        most /= n[i];
        if (p->at[i] || n[i] < c->loop[i].n)
            break;
    }
}

/* Go on by all the trips of t. */
static void skip(const tni_copy *c, tni_place *p, const tni_trips *t)
{
    for (int i = 0; i < 2; i++)
        if (t->n[i] > 1) {
            p->at[i] += t->n[i] - 1;
            p->d += (t->n[i] - 1) * t->d[i];
            p->s += (t->n[i] - 1) * t->s[i];
        }
    tni_step_on(c, p);
}

/* The places of the units of a tile: in src by their order in a run of dst, and the reverse. */
typedef struct lists {
    int64_t n[TNI_TILE_AXES]; /* the extents that they are made for */
    int64_t na, nb;
    int64_t s_at[TNI_INDEXED], d_at[TNI_INDEXED];
} lists;

static int64_t list_axis(int64_t *at, int64_t had, int64_t n, int64_t step)
{
    for (int64_t i = had; i < had * n; i++)
        at[i] = at[i - had] + step;
    return had * n;
}

static void make_lists(const tni_copy *c, const int64_t *n, lists *l)
{
    l->s_at[0] = l->d_at[0] = 0;
    l->na = list_axis(l->s_at, 1, n[TNI_DST_FAST], c->tile[TNI_DST_FAST].s);
    for (int k = 3; k < c->ntile; k++)
        l->na = list_axis(l->s_at, l->na, n[k], c->tile[k].s);
    l->nb = list_axis(l->d_at, 1, n[TNI_SRC_FAST], c->tile[TNI_SRC_FAST].d);
    l->nb = list_axis(l->d_at, l->nb, n[TNI_SRC_NEXT], c->tile[TNI_SRC_NEXT].d);
    memcpy(l->n, n, sizeof l->n);
}

void tni_copy_indexed(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    lists l = {{0}, 0, 0, {0}, {0}};
    tni_place p;
    tni_place_at(c, first, &p);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES] = {0};
        tni_tile_extents(c, p.at, n);
        if (memcmp(n, l.n, sizeof n) != 0)
            make_lists(c, n, &l);
        j->k->transpose_indexed[c->width_log2](j->d + p.d, l.d_at, j->s + p.s, l.s_at, l.na,
                                               l.nb);
        tni_step_on(c, &p);
    }
}

/* Tiles that go aligned_lines to dst. */
void tni_copy_direct(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *x = c->tile;
    int64_t d_step[2] = {x[TNI_DST_FAST].d, x[TNI_SRC_FAST].d};
    int64_t s_step[2] = {x[TNI_DST_FAST].s, x[TNI_SRC_FAST].s};
    if (c->nloop == 0) { /* a small copy: nothing to walk, nothing to ask for */
        tni_copy_move(j, j->d, d_step, j->s, (int64_t[2]){x[TNI_DST_FAST].n, x[TNI_SRC_FAST].n},
                      0);
        return;
    }
    bool transposes = c->mover == TNI_MOVE_TRANSPOSE && !c->pack;
    bool rows = c->mover == TNI_MOVE_ROWS && !c->stream;
    tni_place p;
    tni_place_at(c, first, &p);
    for (int64_t item = first; item < last;) {
        int64_t n[TNI_TILE_AXES];
        tni_trips t;
        tni_tile_extents(c, p.at, n);
        trips_at(c, &p, last - item, &t);
        char *d = j->d + p.d;
        const char *s = j->s + p.s;
        if (transposes)
            j->k->transpose_many[c->width_log2](d, d_step[TNI_SRC_FAST], s, x[TNI_DST_FAST].s,
                                                n[TNI_DST_FAST], n[TNI_SRC_FAST], &t);
        else if (rows)
            j->k->rows(d, d_step, s, s_step, n, c->unit, &t);
        else
            for (int64_t k = 0; k < t.n[1]; k++)
                for (int64_t i = 0; i < t.n[0]; i++)
                    tni_copy_move(j, d + i * t.d[0] + k * t.d[1], d_step,
                                  s + i * t.s[0] + k * t.s[1], n, 0);
        item += t.n[0] * t.n[1];
        skip(c, &p, &t);
    }
}

void tni_copy_lines(const tni_copy_job *j, int64_t first, int64_t last, bool shifted)
{
    const tni_copy *c = j->c;
    const tni_tile_axis *a = &c->tile[TNI_DST_FAST], *b = &c->tile[TNI_SRC_FAST];
    tni_place p;
    tni_place_at(c, first, &p);
    for (int64_t item = first; item < last; item++) {
        int64_t n[TNI_TILE_AXES], s = p.s, from = a->loop < 0 ? 0 : p.at[a->loop] * a->block;
        char *d = j->d + p.d;
        bool some = tni_tile_extents(c, p.at, n);
        tni_step_on(c, &p);
        if (some && shifted)
            j->k->transpose_shifted[c->width_log2](d, b->d, j->s + s, a->s, n[TNI_DST_FAST],
                                                   n[TNI_SRC_FAST], p.s - s, from == 0,
                                                   from + n[TNI_DST_FAST] == a->n);
        else if (some)
            transpose_tile(j, d, b->d, j->s + s, n, p.s - s, true);
    }
}
