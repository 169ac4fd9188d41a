/* fold_key.c - the largest key of a sequence, and its first index.
 *
 * min, max, argmin and argmax of real dtypes, and norms of infinite order, compare keys: signed
 * integers of the element's width, mapped so that the result has the largest key
 * (tni_key_rule). */
#include <math.h>
#include <string.h>

#include "fold_rows.h"

static const tni_key_kernels *key_kernels(const tni_fold *f)
{
    return &tni_kernels_of(f->isa)->key->key[tni_log2_width(f->width) % TNI_KEY_WIDTHS];
}

static int64_t least_key(const tni_fold *f)
{
    return f->width == 8 ? INT64_MIN : -((int64_t)1 << (8 * f->width - 1));
}

/* Key or row number c of an accumulator of the kernels: a signed integer of `width` bytes. */
static int64_t read_key(const char *acc, int64_t c, int64_t width)
{
    int8_t i8;
    int16_t i16;
    int32_t i32;
    int64_t i64;
    switch (width) {
    case 1:
        memcpy(&i8, acc + c, sizeof i8);
        return i8;
    case 2:
        memcpy(&i16, acc + 2 * c, sizeof i16);
        return i16;
    case 4:
        memcpy(&i32, acc + 4 * c, sizeof i32);
        return i32;
    default:
        memcpy(&i64, acc + 8 * c, sizeof i64);
        return i64;
    }
}

/* ---- the largest key ---- */

static void key_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                         tni_fold_scratch *scratch)
{
    (void)scratch;
    for (int64_t i = 0; i < l->count; i++)
        out[i].i =
            l->n ? key_kernels(f)->max(l->x[0] + i * l->step[0], l->n, &f->rule) : least_key(f);
}

static void key_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++)
        if (b[c].i > a[c].i)
            a[c].i = b[c].i;
}

/* The number of dense rows that are joined to one, so that joined rows are whole vectors:
 * compilers take single columns after the last half of a vector. */
static int64_t rows_joined(const tni_fold *f, const tni_fold_columns *c)
{
    enum { VECTOR = 64 }; /* bytes */
    int64_t join = tni_fold_joined(f, c);
    while (f->joined && join * c->w * f->width % VECTOR && 2 * join * TNI_TILE_ROWS <= c->n)
        join *= 2;
    return join;
}

static void columns_by(const tni_fold *f, const tni_key_rule *rule, tni_word *out,
                       const tni_fold_columns *c, tni_fold_scratch *scratch)
{
    const tni_key_kernels *k = key_kernels(f);
    if (c->packed) {
        k->packed_max(&out->i, c->x, c->step, c->n, c->w, rule);
        return;
    }
    char *acc = scratch->u.columns.acc.bytes + 8 * c->acc;
    const int64_t join = rows_joined(f, c), w = c->w;
    tni_fold_groups g =
        tni_fold_in_groups(c, join, NULL); /* repeating a row changes no maximum */
    while (tni_fold_next_group(&g))
        k->rows_max(acc, g.row, g.w, g.at == 0, rule);
    if (g.groups > 0)
        k->merge(acc, w, join);
    for (int64_t i = 0; i < w; i++)
        out[i].i = read_key(acc, i, f->width);
}

static void key_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                        tni_fold_scratch *scratch)
{
    columns_by(f, &f->rule, out, c, scratch);
}

static void finish_by(const tni_fold *f, const tni_key_rule *rule, char *dst, int64_t step,
                      const tni_word *s, int64_t n)
{
    const bool real = rule->kind == TNI_KEY_FLOAT;
    char quiet[8] = {0};
    if (real)
        tni_store_real(quiet, f->src, (double)NAN);
    char elems[TNI_FOLD_STORED * 8];
    key_kernels(f)->elements(elems, &s->i, n, rule, read_key(quiet, 0, f->width));
    tni_fold_store(f, f->src, dst, step, elems, n);
}

/* Norms of infinite order of an empty sequence; in f64 because src's dtype may lack
 * infinity. */
static void finish_nothing(const tni_fold *f, char *dst, int64_t step, int64_t n)
{
    double y[TNI_FOLD_STORED];
    for (int64_t c = 0; c < n; c++)
        y[c] = f->param > 0 ? 0 : (double)INFINITY;
    tni_fold_store_reals(f, dst, step, y, n);
}

static void key_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w,
                       int64_t n)
{
    (void)w;
    if (f->count == 0)
        finish_nothing(f, dst, step, n);
    else
        finish_by(f, &f->rule, dst, step, s, n);
}

static const tni_key_short *short_kernels(const tni_fold *f)
{
    return tni_kernels_of(f->isa)->key_short;
}

static bool key_short_fits(const tni_fold *f)
{
    return short_kernels(f)->max[tni_log2_width(f->width)];
}

static void key_short(const tni_fold *f, void *d, const char *x, int64_t count)
{
    int64_t quiet = 0;
    if (f->rule.kind == TNI_KEY_FLOAT)
        tni_store_real((char *)&quiet, f->src, (double)NAN);
    short_kernels(f)->max[tni_log2_width(f->width)](d, x, f->count, count, &f->rule, quiet);
}

const tni_fold_class tni_fold_key = {
    .name = "keys",
    .chains = true,
    .packs = true,
    .joins_wide = 8,
    .short_rows =
        &(const tni_fold_short){.fits = key_short_fits, .reduce = key_short, .elements = true},
    .words = 1,
    .acc = 1,
    .sequence = key_sequence,
    .columns = key_columns,
    .merge = key_merge,
    .finish = key_finish,
};

/* ---- minmax: words are both keys, results are f->high bytes apart ---- */

static tni_key_rule other_end(const tni_fold *f)
{
    tni_key_rule rule = f->rule;
    rule.flip ^= -1;
    return rule;
}

static void ends_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                          tni_fold_scratch *scratch)
{
    (void)scratch;
    for (int64_t i = 0; i < l->count; i++) {
        out[i].i = out[l->count + i].i = least_key(f);
        if (l->n)
            key_kernels(f)->ends(&out[i].i, &out[l->count + i].i, l->x[0] + i * l->step[0],
                                 l->n, &f->rule);
    }
}

static void ends_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    key_merge(f, a, b, 2 * w);
}

/* Each piece of rows is read twice, so a piece is half of the L2 of a Zen 4, which has 1 MiB;
 * other sizes were not measured. */
static void ends_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                         tni_fold_scratch *scratch)
{
    const tni_key_rule most = other_end(f);
    if (c->packed) {
        key_kernels(f)->packed_ends(&out->i, &out[c->w].i, c->x, c->step, c->n, c->w, &f->rule);
        return;
    }
    enum {
        PIECE = 512 * 1024,       /* bytes */
        PART = 4 * TNI_FOLD_WIDTH /* words, behind the keys of joined rows */
    };
    ASSERT(c->acc + PART + 2 * TNI_FOLD_WIDTH <= TNI_LANES * TNI_FOLD_WIDTH - TNI_TREE_BLOCK);
    tni_word *part = scratch->u.columns.acc.w + c->acc + PART;
    int64_t rows = PIECE / (c->w * f->width) / TNI_TILE * TNI_TILE;
    rows = rows ? rows : TNI_TILE;
    for (int64_t i = 0; i < c->n; i += rows) {
        tni_fold_columns some = *c;
        some.n = c->n - i < rows ? c->n - i : rows;
        some.row = c->row ? c->row + i : NULL;
        some.x = c->row ? NULL : c->x + i * c->step;
        columns_by(f, &f->rule, i ? part : out, &some, scratch);
        columns_by(f, &most, (i ? part : out) + c->w, &some, scratch);
        if (i)
            ends_merge(f, out, part, c->w);
    }
}

static void ends_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                        int64_t w, int64_t n)
{
    const tni_key_rule most = other_end(f);
    finish_by(f, &f->rule, dst, step, s, n);
    finish_by(f, &most, dst + f->high, step, s + w, n);
}

const tni_fold_class tni_fold_ends = {
    .name = "keys of both ends",
    .chains = true,
    .packs = true,
    .words = 2,
    .acc = 1,
    .widest = TNI_FOLD_WIDTH, /* ends_columns has space for the states of so many columns */
    .sequence = ends_sequence,
    .columns = ends_columns,
    .merge = ends_merge,
    .finish = ends_finish,
};

/* ---- the largest key and its first index: words key and index ---- */

static void arg_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                         tni_fold_scratch *scratch)
{
    (void)scratch;
    const tni_key_kernels *k = key_kernels(f);
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        int64_t first = 0;
        if (l->n <= TNI_TREE_BLOCK) {
            out[i].i = k->arg(&first, x, l->n, &f->rule);
        } else { /* the index is searched only if the key exceeds that of the elements before */
            out[i].i = k->max(x, l->n, &f->rule);
            if (!l->before || out[i].i > l->before->i)
                first = k->find(x, l->n, &f->rule, out[i].i);
        }
        out[l->count + i].i = l->at + first;
    }
}

static void arg_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++)
        if (b[c].i > a[c].i) {
            a[c] = b[c];
            a[w + c] = b[w + c];
        }
}

/* Update the states in out with the best keys of a group of rows and the numbers of these rows
 * in the group, `made` of each.  Joined row r of the group begins with row first + r * join.  A
 * key replaces that in out if it is larger, or equal with a lower index. */
static void arg_keep(const tni_fold *f, tni_word *out, const char *best, const char *which,
                     int64_t made, int64_t w, int64_t first, int64_t join)
{
    for (int64_t i = 0; i < made; i++) {
        const int64_t key = read_key(best, i, f->width), c = i % w;
        const int64_t at = first + read_key(which, i, f->width) * join + i / w;
        if (key > out[c].i || (key == out[c].i && at < out[w + c].i)) {
            out[c].i = key;
            out[w + c].i = at;
        }
    }
}

/* Whether a block of columns of bytes has a larger key than those before it.  Bytes have few
 * values, so that most blocks have none. */
static bool arg_exceeds(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                        tni_fold_scratch *scratch)
{
    if (f->width > 1 || !c->before)
        return true;
    columns_by(f, &f->rule, out, c, scratch);
    bool more = false;
    for (int64_t j = 0; j < c->w; j++)
        more |= out[j].i > c->before[j].i;
    return more;
}

/* The first whole line of the cache from p on. */
static char *lines_from(char *p)
{
    return p + (TNI_LINE - (uintptr_t)p % TNI_LINE) % TNI_LINE;
}

static void arg_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                        tni_fold_scratch *scratch)
{
    const tni_key_kernels *k = key_kernels(f);
    if (c->packed) { /* whole sequences, whose keys are not needed */
        k->packed_arg(&out[c->w].i, c->x, c->step, c->n, c->w, &f->rule);
        return;
    }
    if (!arg_exceeds(f, out, c, scratch)) {
        memcpy(out, c->before, (size_t)(2 * c->w) * sizeof *out);
        return;
    }
    enum { MOST = 120 }; /* rows, in groups of eight, whose numbers fit a signed byte */
    const int64_t join = f->joined ? TNI_LANES : 1, w = c->w, rows = c->n / join;
    char *best = lines_from(scratch->u.columns.acc.bytes + 8 * c->acc),
         *which = lines_from(best + w * join * f->width);
    ASSERT(which + w * join * f->width <=
           (char *)(scratch->u.columns.acc.w + TNI_LANES * TNI_FOLD_WIDTH -
                    (c->row ? TNI_TREE_BLOCK : 0)));
    const char *row[TNI_TILE_ROWS];
    for (int64_t j = 0; j < w; j++) {
        out[j].i = least_key(f);
        out[w + j].i = INT64_MAX;
    }
    const int64_t most = f->width == 1 ? MOST : TNI_TREE_BLOCK;
    for (int64_t i = 0; i < rows; i += most) {
        const int64_t last = rows < i + most ? rows : i + most;
        for (int j = 0; j < TNI_TILE_ROWS; j++)
            row[j] = tni_fold_row(c, i * join, NULL);
        k->rows_max(best, row, w * join, true, &f->rule);
        memset(which, 0, (size_t)(w * join * f->width));
        for (int64_t g = i; g < last; g += TNI_TILE_ROWS) {
            for (int j = 0; j < TNI_TILE_ROWS; j++) /* a repeated row does not exceed itself */
                row[j] = tni_fold_row(c, (g + j < last ? g + j : last - 1) * join, NULL);
            k->rows_arg(best, which, row, w * join, g - i, &f->rule);
        }
        arg_keep(f, out, best, which, w * join, w, c->at + i * join, join);
    }
    for (int64_t i = rows * join; i < c->n; i++) {
        for (int j = 0; j < TNI_TILE_ROWS; j++)
            row[j] = tni_fold_row(c, i, NULL);
        k->rows_max(best, row, w, true, &f->rule);
        memset(which, 0, (size_t)(w * f->width));
        arg_keep(f, out, best, which, w, w, c->at + i, 1);
    }
}

static void arg_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s, int64_t w,
                       int64_t n)
{
    tni_fold_store(f, TN_I64, dst, step, (const char *)(s + w), n);
}

/* Fewest bytes of a short row: half a vector of AVX2, because a shorter one costs as much as a
 * whole vector; not measured finely. */
enum { ARG_LEAST = 16 };

static bool arg_short_fits(const tni_fold *f)
{
    return f->count * f->width >= ARG_LEAST && short_kernels(f)->arg[tni_log2_width(f->width)];
}

static void arg_short(const tni_fold *f, void *d, const char *x, int64_t count)
{
    short_kernels(f)->arg[tni_log2_width(f->width)](d, x, f->count, count, &f->rule);
}

const tni_fold_class tni_fold_arg = {
    .name = "keys and indices",
    .chains = true,
    .index = true,
    .packs = true,
    .joins_wide = 2,
    .short_rows =
        &(const tni_fold_short){.fits = arg_short_fits, .reduce = arg_short, .word = 1},
    .words = 2,
    .acc = 2,
    .ordered = true,
    .sequence = arg_sequence,
    .columns = arg_columns,
    .merge = arg_merge,
    .finish = arg_finish,
};
