/* fold_integer.c - sums and products of integers modulo 2^64, exact means, counts of nonzeros.
 *
 * Nothing here depends on the order of the elements. */
#include <math.h>
#include <string.h>

#include "fold_rows.h"

/* ---- modulo 2^64 ---- */

static const tni_wrap_kernels *wrap_kernels(const tni_fold *f)
{
    return &tni_kernels_of(f->isa)->key->wrap[tni_dtypes[f->src].slot];
}

static void wrap_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                          tni_fold_scratch *scratch)
{
    (void)scratch;
    const tni_wrap_kernels *k = wrap_kernels(f);
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        if (f->nsrc > 1)
            out[i].u = k->dot(x, l->x[1] + i * l->step[1], l->n);
        else
            out[i].u = (f->product                   ? k->prod
                        : f->term == TNI_TERM_SQUARE ? k->sumsq
                                                     : k->sum)(x, l->n);
    }
}

static void wrap_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    for (int64_t c = 0; c < w; c++)
        a[c].u = f->product ? a[c].u * b[c].u : a[c].u + b[c].u;
}

/* Rows are added in groups of eight.  Joined rows have accumulators of their own, which are
 * merged at the end. */
static void wrap_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                         tni_fold_scratch *scratch)
{
    const tni_wrap_kernels *k = wrap_kernels(f);
    const bool square = f->term == TNI_TERM_SQUARE;
    if (c->packed) {
        (f->product ? k->packed_prod
         : square   ? k->packed_sumsq
                    : k->packed_sum)(&out->u, c->x, c->step, c->n, c->w);
        return;
    }
    void (*add)(void *, const char *const *, int64_t) = f->product ? k->rows_prod
                                                        : square   ? k->rows_sumsq
                                                                   : k->rows_sum;
    uint64_t *acc = scratch->u.columns.acc.u + c->acc;
    int32_t *small = scratch->u.columns.acc.i32 + 2 * c->acc;
    const int64_t join = tni_fold_joined(f, c), w = c->w;
    /* sums of 32 bits hold a block: key.h */
    const bool narrow = !f->product && f->width <= (square ? 1 : 2);
    for (int64_t i = 0; i < w * join && f->product; i++)
        acc[i] = 1;
    if (!f->product)
        memset(acc, 0, (size_t)(w * join) * (narrow ? sizeof *small : sizeof *acc));
    tni_fold_groups g = tni_fold_in_groups(c, join, scratch->u.columns.absent.bytes);
    while (tni_fold_next_group(&g))
        add(acc, g.row, g.w);
    for (int64_t half = join / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half * w; i++)
            if (narrow)
                small[i] += small[half * w + i];
            else
                acc[i] = f->product ? acc[i] * acc[half * w + i] : acc[i] + acc[half * w + i];
    for (int64_t i = 0; i < w && narrow; i++)
        out[i].i = small[i];
    if (!narrow)
        memcpy(out, acc, (size_t)w * sizeof *acc);
}

/* (high * 2^64 + low) / n, rounded once.  Each step appends as many bits to the quotient q as
 * fit, until q has 56 bits or more, three more than a double, or is exact.  The lowest bit of q
 * is set if there is a remainder, so that the conversion to double rounds correctly. */
static double wide_quotient(uint64_t high, uint64_t low, uint64_t n)
{
    if (high == 0 && (low | n) >> 53 == 0)
        return (double)low / (double)n; /* both operands are exact */
    uint64_t q = high / n, r = high % n;
    int exponent = 64;
    while ((r | low) &&
           q >> 55 == 0) { /* r < n < 2^63, so every step shifts by 1 bit or more */
        const int room = __builtin_clzll(q | 1) - 1, most = __builtin_clzll(r | 1);
        const int by = room < most ? room : most;
        r = r << by | low >> (64 - by);
        low <<= by;
        q = q << by | r / n;
        r %= n;
        exponent -= by;
    }
    return ldexp((double)(q | (r | low ? 1 : 0)), exponent);
}

static double wide_mean(uint64_t high, uint64_t low, uint64_t n)
{
    if (n == 0)
        return (double)NAN;
    if (high >> 63) {
        high = ~high + (low == 0);
        return -wide_quotient(high, 0 - low, n);
    }
    return wide_quotient(high, low, n);
}

/* Whether f64 holds every sum of f->count elements, so that a division rounds a mean once. */
static bool exact_sums(const tni_fold *f)
{
    return f->count <= (int64_t)1 << (53 - 8 * f->width);
}

static void wrap_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                        int64_t w, int64_t n)
{
    (void)w;
    const bool sign = tni_dtypes[f->src].kind != TNI_UNSIGNED;
    const tni_cast widen = tni_cast_chain(f->isa, sign ? TN_I64 : TN_U64, TN_F64);
    double y[TNI_FOLD_STORED];
    const char *made = (const char *)s;
    if (f->mean && !exact_sums(f)) {
        for (int64_t c = 0; c < n; c++)
            y[c] = wide_mean(sign && s[c].i < 0 ? UINT64_MAX : 0, s[c].u, (uint64_t)f->count);
        made = (const char *)y;
    } else if (f->mean) {
        widen.fn[0]((char *)y, made, n, 0, false);
        tni_kernels_of(f->isa)->tree->results(y, y, n, -0.0, (double)f->count, NULL, false);
        made = (const char *)y;
    }
    tni_fold_store(f, f->mean ? TN_F64 : TN_I64, dst, step, made, n);
}

static bool wrap_short_fits(const tni_fold *f)
{
    return !f->product && f->term == TNI_TERM_SAME &&
           tni_kernels_of(f->isa)->key_short->sum[tni_dtypes[f->src].slot];
}

static void wrap_short(const tni_fold *f, void *d, const char *x, int64_t count)
{
    tni_kernels_of(f->isa)->key_short->sum[tni_dtypes[f->src].slot](d, x, f->count, count);
}

const tni_fold_class tni_fold_wrap = {
    .name = "integers modulo 2^64",
    .chains = true,
    .reads_src = true,
    .packs = true,
    .joins_wide = 8,
    .short_rows = &(const tni_fold_short){.fits = wrap_short_fits, .reduce = wrap_short},
    .words = 1,
    .acc = 1,
    .sequence = wrap_sequence,
    .columns = wrap_columns,
    .merge = wrap_merge,
    .finish = wrap_finish,
};

/* ---- means of integers whose sums may exceed 64 bits: 128 bits in two words ---- */

static void wide_add(tni_word *low, tni_word *high, uint64_t x, int64_t upper)
{
    low->u += x;
    high->u += (uint64_t)upper + (low->u < x);
}

static void wide_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                          tni_fold_scratch *scratch)
{
    (void)scratch;
    const bool sign = tni_dtypes[f->src].kind == TNI_SIGNED, bits64 = f->width == 8;
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        tni_word *low = &out[i], *high = &out[l->count + i];
        low->u = high->u = 0;
        if (!bits64) { /* the sum of a block fits 64 bits */
            const int64_t s = (int64_t)wrap_kernels(f)->sum(x, l->n);
            wide_add(low, high, (uint64_t)s, s < 0 ? -1 : 0);
            continue;
        }
        for (int64_t j = 0; j < l->n; j++) {
            uint64_t v;
            memcpy(&v, x + 8 * j, sizeof v);
            wide_add(low, high, v, sign && v >> 63 ? -1 : 0);
        }
    }
}

static void wide_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++)
        wide_add(&a[c], &a[w + c], b[c].u, b[w + c].i);
}

static void wide_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                        int64_t w, int64_t n)
{
    double y[TNI_FOLD_STORED];
    for (int64_t c = 0; c < n; c++)
        y[c] = wide_mean(s[w + c].u, s[c].u, (uint64_t)f->count);
    tni_fold_store_reals(f, dst, step, y, n);
}

const tni_fold_class tni_fold_wide = {
    .name = "integers of 128 bits",
    .chains = true,
    .words = 2,
    .sequence = wide_sequence,
    .merge = wide_merge,
    .finish = wide_finish,
};

/* ---- counts of nonzeros ---- */

static int64_t count_wide(const char *x, int64_t n, uint64_t mask)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++) {
        uint64_t part[2];
        memcpy(part, x + 16 * i, sizeof part);
        count += ((part[0] | part[1]) & mask) != 0;
    }
    return count;
}

static void count_sequence(const tni_fold *f, tni_word *out, const tni_fold_sequences *l,
                           tni_fold_scratch *scratch)
{
    (void)scratch;
    const tni_key_table *t = tni_kernels_of(f->isa)->key;
    for (int64_t i = 0; i < l->count; i++) {
        const char *x = l->x[0] + i * l->step[0];
        out[i].i = f->width == 16
                       ? count_wide(x, l->n, (uint64_t)f->rule.mask)
                       : t->key[tni_log2_width(f->width)].count(x, l->n, f->rule.mask);
    }
}

/* Add the kernels' counters, signed integers of the element's width, to count. */
static void read_counters(int64_t *count, const char *acc, int64_t w, int64_t width)
{
    for (int64_t c = 0; c < w; c++) {
        int8_t i8;
        int16_t i16;
        int32_t i32;
        int64_t i64;
        switch (width) {
        case 1:
            memcpy(&i8, acc + c, sizeof i8), count[c] += i8;
            break;
        case 2:
            memcpy(&i16, acc + 2 * c, sizeof i16), count[c] += i16;
            break;
        case 4:
            memcpy(&i32, acc + 4 * c, sizeof i32), count[c] += i32;
            break;
        default:
            memcpy(&i64, acc + 8 * c, sizeof i64), count[c] += i64;
        }
    }
}

static void count_columns(const tni_fold *f, tni_word *out, const tni_fold_columns *c,
                          tni_fold_scratch *scratch)
{
    const tni_key_kernels *k = &tni_kernels_of(f->isa)->key->key[tni_log2_width(f->width)];
    if (c->packed) {
        k->packed_count(&out->i, c->x, c->step, c->n, c->w, f->rule.mask);
        return;
    }
    int64_t *count = scratch->u.columns.acc.i + c->acc;
    const int64_t join = tni_fold_joined(f, c), w = c->w;
    char *acc = (char *)(count + w * join);
    memset(count, 0, (size_t)(w * join) * sizeof *count);
    enum { MOST = 127 / TNI_TILE_ROWS }; /* groups of rows that a counter of 8 bits can hold */
    tni_fold_groups g = tni_fold_in_groups(c, join, scratch->u.columns.absent.bytes);
    while (tni_fold_next_group(&g)) {
        const bool single = g.at >= g.groups;
        k->rows_count(acc, g.row, g.w, single || g.at % MOST == 0, f->rule.mask);
        if (single || g.at % MOST == MOST - 1 || g.at == g.groups - 1)
            read_counters(count, acc, g.w, f->width);
    }
    for (int64_t half = join / 2; half > 0; half /= 2)
        for (int64_t i = 0; i < half * w; i++)
            count[i] += count[half * w + i];
    memcpy(out, count, (size_t)w * sizeof *count);
}

static void count_merge(const tni_fold *f, tni_word *a, const tni_word *b, int64_t w)
{
    (void)f;
    for (int64_t c = 0; c < w; c++)
        a[c].i += b[c].i;
}

static void count_finish(const tni_fold *f, char *dst, int64_t step, const tni_word *s,
                         int64_t w, int64_t n)
{
    (void)w;
    int64_t y[TNI_FOLD_STORED];
    for (int64_t c = 0; c < n; c++)
        /* any: the cast to bool makes every count but 0 true */
        y[c] = f->op == TN_REDUCE_ALL ? s[c].i == f->count : s[c].i;
    tni_fold_store(f, TN_I64, dst, step, (const char *)y, n);
}

static bool count_short_fits(const tni_fold *f)
{
    return tni_kernels_of(f->isa)->key_short->nonzero[tni_log2_width(f->width)];
}

static void count_short(const tni_fold *f, void *d, const char *x, int64_t count)
{
    tni_kernels_of(f->isa)->key_short->nonzero[tni_log2_width(f->width)](d, x, f->count, count,
                                                                         f->rule.mask);
}

const tni_fold_class tni_fold_count = {
    .name = "what is not zero",
    .chains = true,
    .reads_src = true,
    .packs = true,
    .joins_wide = 8,
    .short_rows = &(const tni_fold_short){.fits = count_short_fits, .reduce = count_short},
    .words = 1,
    .acc = 2,
    .sequence = count_sequence,
    .columns = count_columns,
    .merge = count_merge,
    .finish = count_finish,
};

const tni_fold_class tni_fold_count_pairs = {
    .name = "what is not zero",
    .chains = true,
    .words = 1,
    .sequence = count_sequence,
    .merge = count_merge,
    .finish = count_finish,
};
