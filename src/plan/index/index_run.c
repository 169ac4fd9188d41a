/* index_run.c - take and put: rows where index repeats inside, elements where it does not. */
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

enum { CHOICE_PIECE = 512, CHOICE_AHEAD = 16 }; /* indices at once; rows prefetched, Zen 4 */

int64_t tni_index_at(const char *p, tn_dtype dtype)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    uint16_t u16;
    uint32_t u32;
    switch (dtype) {
    case TN_I8:
        memcpy(&i8, p, sizeof i8);
        return i8;
    case TN_U8:
        return *(const uint8_t *)p;
    case TN_I16:
        memcpy(&i16, p, sizeof i16);
        return i16;
    case TN_U16:
        memcpy(&u16, p, sizeof u16);
        return u16;
    case TN_I32:
        memcpy(&i32, p, sizeof i32);
        return i32;
    case TN_U32:
        memcpy(&u32, p, sizeof u32);
        return u32;
    default:
        memcpy(&i64, p, sizeof i64);
        return dtype == TN_U64 && i64 < 0 ? INT64_MAX : i64;
    }
}

void tni_index_load(int64_t *d, const char *s, tn_dtype dtype, int64_t n, int isa)
{
    const tni_cast cast = tni_cast_chain(isa, dtype, TN_I64);
    if (cast.steps == 0)
        memcpy(d, s, (size_t)n * sizeof *d);
    else
        cast.fn[0]((char *)d, s, n, 0, false);
    for (int64_t i = 0; i < n && dtype == TN_U64; i++)
        d[i] = d[i] < 0 ? INT64_MAX : d[i];
}

int64_t tni_index_outside(const tn_tensor *index, int64_t n)
{
    tni_nest nest;
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&nest, 1, &index, &rules);
    if (nest.empty)
        return -1;
    tni_walk w;
    const char *p = (const char *)index->data + nest.shift[0];
    tni_walk_seek(&w, nest.axis, nest.ndim, 1, 0);
    for (int64_t i = 0;; i++) {
        const int64_t v = tni_index_at(p + w.offset[0], index->dtype);
        if (v < -n || v >= n)
            return i;
        if (tni_walk_next(&w) == nest.ndim)
            return -1;
    }
}

/* ---- running ---- */

typedef struct choice_job {
    const tni_choice *c;
    int rows;  /* inner axes along which index stands still */
    int outer; /* loops of the walk */
    tn_dtype dtype, index_dtype;
    int isa, parts;
    int shared; /* put: the axis that parts divide */
    int64_t width, items;
    int64_t ahead; /* bytes of a row that are prefetched: the rest follows by itself */
    int64_t whole; /* bytes of a row of take that is dense on both sides, or 0 */
    bool joins;    /* they follow one another in dst, beyond the cache */
    char *at[3];
    tni_nest nest; /* dst, src, index; 11 KB, of which few are used: it is not cleared */
} choice_job;

static int64_t chosen(const choice_job *j, const char *p)
{
    const int64_t v = tni_index_at(p, j->index_dtype);
    return (v < 0 ? v + j->c->extent : v) * j->c->step;
}

/* n elements that meet those at d, one after the other. */
static void meet_sequence(const choice_job *j, char *d, int64_t d_step, const char *s,
                          int64_t s_step, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        tni_meet((int)j->c->op, j->dtype, d + i * d_step, s + i * s_step);
}

/* One row: all inner axes. */
static void choice_row(const choice_job *j, char *d, const char *s)
{
    const tni_axis *axis = &j->nest.axis[j->outer];
    const int two = j->rows < 2 ? j->rows : 2, loops = j->rows - two;
    const tni_axis *in = axis + loops;
    const int64_t n[2] = {two > 1 ? in[0].n : 1, two ? in[two - 1].n : 1};
    const int64_t ds[2] = {two > 1 ? in[0].step[0] : 0, two ? in[two - 1].step[0] : 0};
    const int64_t ss[2] = {two > 1 ? in[0].step[1] : 0, two ? in[two - 1].step[1] : 0};
    const bool dense = two == 1 && ds[1] == j->width && ss[1] == j->width;
    const tni_tile_fn tile = tni_kernels_of(j->isa)->copy->tile[tni_log2_width(j->width)];
    tni_walk w;
    tni_walk_seek(&w, axis, loops, 2, 0);
    do {
        char *to = d + w.offset[0];
        const char *from = s + w.offset[1];
        if (j->c->op != TN_PUT_SET)
            for (int64_t i = 0; i < n[0]; i++)
                meet_sequence(j, to + i * ds[0], ds[1], from + i * ss[0], ss[1], n[1]);
        else if (dense)
            memcpy(to, from, (size_t)(n[1] * j->width));
        else
            tile(to, ds, from, ss, n);
    } while (tni_walk_next(&w) != loops);
}

/* A sequence along which index moves. */
static void choice_sequence(const choice_job *j, char *d, const char *s, const char *index)
{
    const tni_axis *a = &j->nest.axis[j->outer];
    const int64_t ds = a->step[0], ss = a->step[1], is = a->step[2];
    const int log2 = tni_log2_width(j->width);
    int64_t at[CHOICE_PIECE];
    for (int64_t i = 0; i < a->n; i += CHOICE_PIECE) {
        const int64_t n = a->n - i < CHOICE_PIECE ? a->n - i : CHOICE_PIECE;
        char *to = d + i * ds;
        const char *from = s + i * ss;
        for (int64_t k = 0; k < n; k++)
            at[k] = chosen(j, index + (i + k) * is);
        if (!j->c->put)
            tni_gather(to, ds, from, ss, at, n, log2);
        else if (j->c->op == TN_PUT_SET)
            tni_scatter(to, ds, from, ss, at, n, log2);
        else
            for (int64_t k = 0; k < n; k++)
                tni_meet((int)j->c->op, j->dtype, to + k * ds + at[k], from + k * ss);
    }
}

static void choice_items(const choice_job *j, int64_t first, int64_t last)
{
    tni_walk w, ahead;
    tni_walk_seek(&w, j->nest.axis, j->outer, 3, first);
    tni_walk_seek(&ahead, j->nest.axis, j->outer, 3, first);
    for (int k = 0; k < CHOICE_AHEAD && first + k + 1 < last; k++)
        tni_walk_next(&ahead);
    for (int64_t i = first; i < last; i++) {
        char *d = j->at[0] + w.offset[0];
        const char *s = j->at[1] + w.offset[1], *index = j->at[2] + w.offset[2];
        if (j->rows) {
            const int64_t off = chosen(j, index);
            if (!j->c->put && i + CHOICE_AHEAD < last) {
                const char *next =
                    j->at[1] + ahead.offset[1] + chosen(j, j->at[2] + ahead.offset[2]);
                for (int64_t b = 0; b < j->ahead; b += 64)
                    __builtin_prefetch(next + b);
                tni_walk_next(&ahead);
            }
            if (j->whole)
                memcpy(d, s + off, (size_t)j->whole);
            else
                choice_row(j, j->c->put ? d + off : d, j->c->put ? s : s + off);
        } else {
            choice_sequence(j, d, s, index);
        }
        tni_walk_next(&w);
    }
}

/* Rows of take that lie one after the other in dst: whole lines, streamed. */
static void join_items(const choice_job *j, int64_t first, int64_t last)
{
    const tni_copy_kernels *copy = tni_kernels_of(j->isa)->copy;
    const tni_axis *a = &j->nest.axis[0];
    int64_t at[CHOICE_PIECE + CHOICE_AHEAD], have = 0;
    for (int64_t i = first; i < last;) {
        const int64_t left = last - i, n = left < CHOICE_PIECE ? left : CHOICE_PIECE;
        const int64_t most = left < n + CHOICE_AHEAD ? left : n + CHOICE_AHEAD;
        for (; have < most; have++)
            at[have] = chosen(j, j->at[2] + (i + have) * a->step[2]);
        copy->join_rows(j->at[0] + i * j->whole, j->at[1], at, n, j->whole, most - n);
        memmove(at, at + n, (size_t)(most - n) * sizeof *at);
        have = most - n;
        i += n;
    }
    copy->fence();
}

static void choice_part(void *arg, int part)
{
    const choice_job *j = arg;
    int64_t first, last;
    tni_split_range(j->items, j->parts, part, &first, &last);
    if (first < last)
        (j->joins ? join_items : choice_items)(j, first, last);
}

/* What is put stays in its order: a part walks all indices, for its share of an axis along which
 * dst moves. */
static void put_part(void *arg, int part)
{
    choice_job j = *(const choice_job *)arg;
    tni_axis *a = &j.nest.axis[j.shared];
    int64_t first, last;
    tni_split_range(a->n, j.parts, part, &first, &last);
    if (first == last)
        return;
    for (int k = 0; k < 3; k++)
        j.at[k] += first * a->step[k];
    if (j.shared < j.outer)
        j.items = j.items / a->n * (last - first);
    a->n = last - first;
    choice_items(&j, 0, j.items);
}

/* The longest axis along which dst moves; -1: none. */
static int put_shared(const tni_nest *nest)
{
    int best = -1;
    for (int i = 0; i < nest->ndim; i++)
        if (nest->axis[i].step[0] != 0 && (best < 0 || nest->axis[i].n > nest->axis[best].n))
            best = i;
    return best;
}

/* Whether a row may contain this axis: index repeats along it, and what is put does not meet in
 * one element of dst, where the last one wins and a tile keeps no order. */
static bool choice_repeats(const tni_axis *a, bool put)
{
    return a->step[2] == 0 && !(put && a->step[0] == 0);
}

void tni_choice_run(const tni_choice *c, const tn_tensor *const *ts)
{
    choice_job j;
    j.c = c;
    j.rows = 0;
    j.dtype = ts[0]->dtype;
    j.index_dtype = ts[2]->dtype;
    j.isa = tni_isa_level();
    j.width = tni_width(ts[0]->dtype);
    j.items = 1;
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&j.nest, 3, ts, &rules);
    if (j.nest.empty)
        return;
    for (int k = 0; k < 3; k++)
        j.at[k] = (char *)ts[k]->data + j.nest.shift[k];
    while (j.rows < j.nest.ndim &&
           choice_repeats(&j.nest.axis[j.nest.ndim - 1 - j.rows], c->put))
        j.rows++;
    if (j.nest.ndim == 0)
        j.rows = 0;
    j.outer = j.nest.ndim - (j.rows ? j.rows : 1);
    if (j.nest.ndim == 0) { /* one element */
        const int64_t off = chosen(&j, j.at[2]);
        char *d = j.at[0] + (c->put ? off : 0);
        const char *s = j.at[1] + (c->put ? 0 : off);
        if (c->op == TN_PUT_SET)
            memcpy(d, s, (size_t)j.width);
        else
            tni_meet((int)c->op, j.dtype, d, s);
        return;
    }
    for (int i = 0; i < j.outer; i++)
        j.items *= j.nest.axis[i].n;
    const tni_axis *row = &j.nest.axis[j.nest.ndim - 1];
    const bool dense = row->step[0] == j.width && row->step[1] == j.width;
    j.ahead = dense && row->n < 512 / j.width ? row->n * j.width : 512;
    j.whole = !c->put && j.rows == 1 && dense ? row->n * j.width : 0;
    const int64_t bytes =
        tni_mul_saturated(tni_numel(ts[0]->ndim ? ts[1] : ts[0]), 2 * j.width);
    j.joins = j.whole >= 64 && j.outer == 1 && j.nest.axis[0].step[0] == j.whole &&
              j.nest.axis[0].step[1] == 0 && j.items * j.whole >= tni_cache_sizes()->stream &&
              tni_kernels_of(j.isa)->copy->join_rows;
    j.shared = c->put ? put_shared(&j.nest) : -1;
    j.parts = tni_run_parts(bytes, !c->put        ? j.items
                                   : j.shared < 0 ? 1
                                                  : j.nest.axis[j.shared].n);
    tni_parallel(j.parts, j.shared < 0 ? choice_part : put_part, &j);
}
