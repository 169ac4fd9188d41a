/* index_run.c - take and put: by rows if index is broadcast along inner axes, else by
 * elements. */
#include <string.h>

#include "pieces.h"
#include "view/view.h"

enum {
    CHOICE_PIECE = 512, /* indices at a time, whose offsets in dst and src are 8 KiB of L1 */
    CHOICE_AHEAD = 16,  /* rows prefetched: as many reads as Zen 4 has under way at once */
    PUT_AHEAD = 8,      /* half of them: a row that is put has two addresses */
    /* The rows that join_rows prefetches: 6 KiB in rows of 64 bytes, and one more.  Lists of 16
     * to 256 rows were measured (docs/investigations/reductions.md, "the third round",
     * take). */
    JOIN_AHEAD = 97
};

typedef struct choice_job {
    const tni_choice *c;
    int rows;  /* inner axes along which index has step 0 */
    int outer; /* loops of the walk */
    tn_dtype dtype, index_dtype;
    int isa, parts;
    int shared; /* put: the axis that parts divide */
    int64_t width, items;
    int64_t ahead; /* bytes of a row that are prefetched: the hardware prefetches the rest */
    int64_t whole; /* take: bytes of a row that is dense on both sides, else 0 */
    bool joins;    /* take: rows are contiguous in dst, which is beyond the cache */
    bool cut;      /* parts divide the only sequence; for put, by chosen offsets */
    int64_t low, high; /* put: the chosen offsets that this part writes */
    char *at[3];
    tni_nest nest; /* dst, src, index; 11 KB, of which few are used: not cleared */
} choice_job;

static int64_t chosen(const choice_job *j, const char *p)
{
    const int64_t v = tni_index_at(p, j->index_dtype);
    return (v < 0 ? v + j->c->extent : v) * j->c->step;
}

/* Combine n elements with those at d by the op, one after the other. */
static void combine_sequence(const choice_job *j, char *d, int64_t d_step, const char *s,
                             int64_t s_step, int64_t n)
{
    int64_t to[CHOICE_PIECE], from[CHOICE_PIECE];
    if (d_step == j->width && s_step == j->width) {
        tni_combine((int)j->c->op, j->dtype, d, s, NULL, NULL, n);
        return;
    }
    for (int64_t i = 0; i < n; i += CHOICE_PIECE) {
        const int64_t m = n - i < CHOICE_PIECE ? n - i : CHOICE_PIECE;
        for (int64_t k = 0; k < m; k++) {
            to[k] = (i + k) * d_step;
            from[k] = (i + k) * s_step;
        }
        tni_combine((int)j->c->op, j->dtype, d, s, to, from, m);
    }
}

/* Take or put one row: all inner axes. */
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
                combine_sequence(j, to + i * ds[0], ds[1], from + i * ss[0], ss[1], n[1]);
        else if (dense)
            memcpy(to, from, (size_t)(n[1] * j->width));
        else
            tile(to, ds, from, ss, n);
    } while (tni_walk_next(&w) != loops);
}

/* The offsets that n indices, `is` bytes apart, choose. */
static void choose(const choice_job *j, int64_t *at, const char *index, int64_t is, int64_t n)
{
    const int64_t extent = j->c->extent, step = j->c->step;
    ASSERT(n >= 0 && n <= CHOICE_PIECE);
    if (is == tni_width(j->index_dtype)) {
        tni_index_load(at, index, j->index_dtype, n, j->isa);
        for (int64_t k = 0; k < n; k++)
            at[k] = (at[k] + (at[k] < 0 ? extent : 0)) * step;
    } else {
        for (int64_t k = 0; k < n; k++)
            at[k] = chosen(j, index + k * is);
    }
}

/* Put the elements whose chosen offset is in [low, high) of the part. */
static void put_piece(const choice_job *j, char *d, int64_t ds, const char *s, int64_t ss,
                      const int64_t *at, int64_t n)
{
    int64_t to[CHOICE_PIECE], from[CHOICE_PIECE], m = 0;
    ASSERT(n <= CHOICE_PIECE);
    for (int64_t k = 0; k < n; k++) {
        to[m] = k * ds + at[k];
        from[m] = k * ss;
        m += at[k] >= j->low && at[k] < j->high;
    }
    if (j->c->op == TN_PUT_SET)
        tni_scatter(d, s, to, from, m, tni_log2_width(j->width));
    else
        tni_combine((int)j->c->op, j->dtype, d, s, to, from, m);
}

/* Put the dense rows whose chosen offset is in [low, high) of the part. */
static void put_rows(const choice_job *j)
{
    const tni_axis *a = &j->nest.axis[0];
    const int64_t n = j->nest.axis[1].n, bytes = n * j->width;
    int64_t at[CHOICE_PIECE], from[CHOICE_PIECE];
    for (int64_t i = 0; i < a->n; i += CHOICE_PIECE) {
        const int64_t size = a->n - i < CHOICE_PIECE ? a->n - i : CHOICE_PIECE;
        int64_t m = 0;
        choose(j, at, j->at[2] + i * a->step[2], a->step[2], size);
        for (int64_t k = 0; k < size; k++) {
            const int64_t to = at[k];
            at[m] = to;
            from[m] = (i + k) * a->step[1];
            m += to >= j->low && to < j->high;
        }
        for (int64_t k = 0; k < m; k++) {
            for (int64_t b = 0; b < j->ahead && k + PUT_AHEAD < m; b += 64) {
                __builtin_prefetch(j->at[0] + at[k + PUT_AHEAD] + b, 1);
                __builtin_prefetch(j->at[1] + from[k + PUT_AHEAD] + b);
            }
            if (j->c->op == TN_PUT_SET)
                memcpy(j->at[0] + at[k], j->at[1] + from[k], (size_t)bytes);
            else
                tni_combine((int)j->c->op, j->dtype, j->at[0] + at[k], j->at[1] + from[k], NULL,
                            NULL, n);
        }
    }
}

/* Take or put elements [first, last) of a sequence along which index has a step. */
static void choice_sequence(const choice_job *j, char *d, const char *s, const char *index,
                            int64_t first, int64_t last)
{
    const tni_axis *a = &j->nest.axis[j->outer];
    const int64_t ds = a->step[0], ss = a->step[1], is = a->step[2];
    int64_t at[CHOICE_PIECE];
    for (int64_t i = first; i < last; i += CHOICE_PIECE) {
        const int64_t n = last - i < CHOICE_PIECE ? last - i : CHOICE_PIECE;
        choose(j, at, index + i * is, is, n);
        if (j->c->put)
            put_piece(j, d + i * ds, ds, s + i * ss, ss, at, n);
        else
            tni_gather(d + i * ds, ds, s + i * ss, ss, at, n,
                       j->width == 32 ? 5 : tni_log2_width(j->width));
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
            choice_sequence(j, d, s, index, 0, j->nest.axis[j->outer].n);
        }
        tni_walk_next(&w);
    }
}

/* Take rows that are contiguous in dst: whole lines, streamed. */
static void join_items(const choice_job *j, int64_t first, int64_t last)
{
    const tni_copy_kernels *copy = tni_kernels_of(j->isa)->copy;
    const tni_axis *a = &j->nest.axis[0];
    int64_t at[CHOICE_PIECE + JOIN_AHEAD], have = 0;
    for (int64_t i = first; i < last;) {
        const int64_t left = last - i, n = left < CHOICE_PIECE ? left : CHOICE_PIECE;
        const int64_t most = left < n + JOIN_AHEAD ? left : n + JOIN_AHEAD;
        ASSERT(have <= most && most <= CHOICE_PIECE + JOIN_AHEAD);
        for (int64_t m; have < most; have += m) {
            m = most - have < CHOICE_PIECE ? most - have : CHOICE_PIECE;
            choose(j, at + have, j->at[2] + (i + have) * a->step[2], a->step[2], m);
        }
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
    if (j->cut) {
        tni_split_range(j->nest.axis[0].n, j->parts, part, &first, &last);
        choice_sequence(j, j->at[0], j->at[1], j->at[2], first, last);
        return;
    }
    tni_split_range(j->items, j->parts, part, &first, &last);
    if (first < last)
        (j->joins ? join_items : choice_items)(j, first, last);
}

/* Put for one part.  Elements are put in their order: each part walks all indices, but writes
 * only its share of an axis along which dst has a step. */
static void put_part(void *arg, int part)
{
    choice_job j = *(const choice_job *)arg;
    int64_t first, last;
    if (j.cut) {
        const int64_t step = tni_abs_step(j.c->step);
        tni_split_range(j.c->extent, j.parts, part, &first, &last);
        j.low = (j.c->step < 0 ? 1 - last : first) * step;
        j.high = (j.c->step < 0 ? 1 - first : last) * step;
        if (j.rows)
            put_rows(&j);
        else
            choice_sequence(&j, j.at[0], j.at[1], j.at[2], 0, j.nest.axis[0].n);
        return;
    }
    ASSERT(j.shared >= 0 && j.shared < j.nest.ndim);
    tni_axis *a = &j.nest.axis[j.shared];
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

/* The longest axis along which dst has a step; -1 if there is none. */
static int put_shared(const tni_nest *nest)
{
    int best = -1;
    for (int i = 0; i < nest->ndim; i++)
        if (nest->axis[i].step[0] != 0 && (best < 0 || nest->axis[i].n > nest->axis[best].n))
            best = i;
    return best;
}

/* Whether a row may contain this axis: index is broadcast along it, and put does not write
 * several elements to one of dst, where the last one wins but a tile keeps no order. */
static bool choice_repeats(const tni_axis *a, bool put)
{
    return a->step[2] == 0 && !(put && a->step[0] == 0);
}

/* Take or put the single element of operands without axes. */
static void choice_single(const choice_job *j)
{
    const bool put = j->c->put;
    const int64_t off = chosen(j, j->at[2]);
    char *d = j->at[0] + (put ? off : 0);
    const char *s = j->at[1] + (put ? 0 : off);
    if (j->c->op == TN_PUT_SET)
        memcpy(d, s, (size_t)j->width);
    else
        tni_combine((int)j->c->op, j->dtype, d, s, NULL, NULL, 1);
}

/* Choose what is moved at a time: rows, or elements.  A row of up to 32 bytes is treated as an
 * element. */
static void choice_shape(choice_job *j)
{
    const tni_nest *nest = &j->nest;
    const tni_axis *row = &nest->axis[nest->ndim - 1];
    const bool put = j->c->put;
    const bool dense = row->step[0] == j->width && row->step[1] == j->width;
    j->rows = 0;
    while (j->rows < nest->ndim && choice_repeats(&nest->axis[nest->ndim - 1 - j->rows], put))
        j->rows++;
    j->outer = nest->ndim - (j->rows ? j->rows : 1);
    j->items = 1;
    for (int i = 0; i < j->outer; i++)
        j->items *= nest->axis[i].n;
    j->ahead = dense && row->n < 512 / j->width ? row->n * j->width : 512;
    j->whole = !put && j->rows == 1 && dense ? row->n * j->width : 0;
    j->joins = j->whole >= 64 && j->outer == 1 && nest->axis[0].step[0] == j->whole &&
               nest->axis[0].step[1] == 0 && j->items * j->whole >= tni_cache_sizes()->stream &&
               tni_kernels_of(j->isa)->copy->join_rows;
    const bool rows_cut = put && dense && j->rows == 1 && j->outer == 1 &&
                          nest->axis[0].step[0] == 0 && j->c->step != 0;
    if (j->outer > 0 && j->whole > 1 && j->whole <= 32 && (j->whole & (j->whole - 1)) == 0) {
        j->width = j->whole;
        j->whole = j->rows = 0;
        j->outer--;
        j->items /= nest->axis[j->outer].n;
    }
    j->shared = put ? put_shared(nest) : -1;
    j->cut = rows_cut ||
             (j->rows == 0 && j->outer == 0 && j->shared < 0 && (!put || j->c->step != 0));
}

void tni_choice_run(const tni_choice *c, const tn_tensor *const *ts)
{
    choice_job j;
    j.c = c;
    j.dtype = ts[0]->dtype;
    j.index_dtype = ts[2]->dtype;
    j.isa = tni_isa_level();
    j.width = tni_width(ts[0]->dtype);
    j.low = INT64_MIN;
    j.high = INT64_MAX;
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&j.nest, 3, ts, &rules);
    if (j.nest.empty)
        return;
    for (int k = 0; k < 3; k++)
        j.at[k] = (char *)ts[k]->data + j.nest.shift[k];
    if (j.nest.ndim == 0) {
        choice_single(&j);
        return;
    }
    const int64_t bytes =
        tni_mul_saturated(tni_numel(ts[0]->ndim ? ts[1] : ts[0]), 2 * j.width);
    choice_shape(&j);
    const int64_t divided = j.cut          ? (c->put ? c->extent : j.nest.axis[0].n)
                            : !c->put      ? j.items
                            : j.shared < 0 ? 1
                                           : j.nest.axis[j.shared].n;
    j.parts = tni_run_parts(bytes, divided);
    tni_parallel(j.parts, c->put && (j.cut || j.shared >= 0) ? put_part : choice_part, &j);
}
