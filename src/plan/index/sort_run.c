/* sort_run.c - sequences put in order: keys and indices sorted by digits, or the first few kept.
 *
 * A key is an unsigned integer whose order is that of the elements.  Keys of up to 32 bits stand
 * above their index in one word, longer ones beside it; sorting by digits from the last one on
 * keeps equal ones in their order. */
#include <string.h>

#include "sort_run.h"
#include "view/view.h"

enum {
    DIGIT = 11, /* bits: three digits of a 32-bit key; 2048 counters stay in the L1 */
    DIGITS = 1 << DIGIT,
    FEW = 32,       /* shorter sequences are sorted by insertion, */
    FEW_WORDS = 128 /* of words: three passes over 2048 counters take about as long */
};

typedef struct item {
    uint64_t key, at;
} item;

uint64_t tni_order_key(tn_dtype dtype, const char *x, bool descending)
{
    const int64_t width = tni_width(dtype);
    const int kind = tni_dtypes[dtype].kind;
    const int bits = (int)(8 * width);
    const uint64_t top = (uint64_t)1 << (bits - 1), all = top | (top - 1);
    uint64_t b = 0;
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    switch (width) {
    case 1:
        memcpy(&u8, x, sizeof u8), b = u8;
        break;
    case 2:
        memcpy(&u16, x, sizeof u16), b = u16;
        break;
    case 4:
        memcpy(&u32, x, sizeof u32), b = u32;
        break;
    default:
        memcpy(&b, x, sizeof b);
    }
    if (kind == TNI_BOOL)
        b = b != 0;
    else if (kind == TNI_SIGNED)
        b ^= top;
    else if (kind == TNI_FLOAT) {
        const uint64_t size = b & (top - 1);
        if (size > (uint64_t)tni_floats[dtype].largest)
            b = all;
        else if (size == 0)
            b = top;
        else
            b = b & top ? all - b : b | top; /* negative ones count backwards below top */
    }
    return descending ? all - b : b;
}

/* ---- sorting ---- */

static void insert(item *a, int64_t n)
{
    for (int64_t i = 1; i < n; i++) {
        const item x = a[i];
        int64_t j = i;
        for (; j > 0 && a[j - 1].key > x.key; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

/* By the key alone; the result is in a or in spare. */
static item *sort_items(item *a, item *spare, int64_t n, int bits)
{
    if (n <= FEW) {
        insert(a, n);
        return a;
    }
    for (int shift = 0; shift < bits; shift += DIGIT) {
        int64_t count[DIGITS] = {0}, at = 0;
        for (int64_t i = 0; i < n; i++)
            count[a[i].key >> shift & (DIGITS - 1)]++;
        if (count[a[0].key >> shift & (DIGITS - 1)] == n)
            continue;
        for (int d = 0; d < DIGITS; d++) {
            const int64_t here = count[d];
            count[d] = at;
            at += here;
        }
        for (int64_t i = 0; i < n; i++)
            spare[count[a[i].key >> shift & (DIGITS - 1)]++] = a[i];
        item *swap = a;
        a = spare;
        spare = swap;
    }
    return a;
}

/* Words with the key above and the index below: as the words' own order, for all are different,
 * but only the key's digits are looked at. */
uint64_t *tni_sort_words(uint64_t *a, uint64_t *spare, int64_t n, int bits)
{
    if (n <= FEW_WORDS) {
        for (int64_t i = 1; i < n; i++) {
            const uint64_t x = a[i];
            int64_t j = i;
            for (; j > 0 && a[j - 1] > x; j--)
                a[j] = a[j - 1];
            a[j] = x;
        }
        return a;
    }
    for (int shift = 32; shift < 32 + bits; shift += DIGIT) {
        uint32_t count[DIGITS] = {0}, at = 0;
        for (int64_t i = 0; i < n; i++)
            count[a[i] >> shift & (DIGITS - 1)]++;
        if (count[a[0] >> shift & (DIGITS - 1)] == (uint32_t)n)
            continue;
        for (int d = 0; d < DIGITS; d++) {
            const uint32_t here = count[d];
            count[d] = at;
            at += here;
        }
        for (int64_t i = 0; i < n; i++)
            spare[count[a[i] >> shift & (DIGITS - 1)]++] = a[i];
        uint64_t *swap = a;
        a = spare;
        spare = swap;
    }
    return a;
}

/* ---- a sequence ---- */

/* The elements of a sequence, dense; then keys twice. */
static size_t sort_scratch(const tn_tensor *src, int dim)
{
    const size_t n = (size_t)src->shape[dim], width = (size_t)tni_width(src->dtype);
    const size_t raw = (n * width + 63) / 64 * 64;
    return raw + 2 * n * (width <= 4 && n < UINT32_MAX ? sizeof(uint64_t) : sizeof(item)) + 64;
}

static void put_index(char *d, tn_dtype dtype, uint64_t at)
{
    tni_store_integer(d, dtype, at);
}

static void sort_sequence(const sort_job *j, const char *s, char *value, char *index,
                          char *scratch)
{
    const int64_t n = j->n, w = j->width, step = j->src->stride[j->dim];
    const char *raw = scratch;
    char *keys = scratch + (n * w + 63) / 64 * 64;
    uint64_t *words = (uint64_t *)(void *)keys;
    item *items = (item *)(void *)keys;
    const int64_t wanted = j->first + j->k;
    const bool few = j->words && n >= 1024 && wanted <= n / TNI_SORT_RARE;
    if (few && step == w) { /* values is not src: it is shorter */
        raw = s;
    } else {
        const int64_t d_step[2] = {0, w}, s_step[2] = {0, n > 1 ? step : w}, trips[2] = {1, n};
        tni_kernels_of(j->isa)->copy->tile[tni_log2_width(w)](scratch, d_step, s, s_step,
                                                              trips);
    }
    if (few) {
        words = tni_first_words(j, raw, wanted, words, words + n);
    } else if (j->words) {
        for (int64_t i = 0; i < n; i++)
            words[i] = tni_sort_word(j, raw, i);
        words = tni_sort_words(words, words + n, n, j->bits);
    } else {
        for (int64_t i = 0; i < n; i++)
            items[i] =
                (item){tni_order_key(j->src->dtype, raw + i * w, j->descending), (uint64_t)i};
        items = sort_items(items, items + n, n, j->bits);
    }
    for (int64_t i = 0; i < j->k; i++) {
        const uint64_t at =
            j->words ? words[j->first + i] & UINT32_MAX : items[j->first + i].at;
        if (value)
            memcpy(value + i * j->values->stride[j->dim], raw + (int64_t)at * w, (size_t)w);
        if (index)
            put_index(index + i * j->indices->stride[j->dim], j->indices->dtype, at);
    }
}

static void sort_part(void *arg, int part)
{
    const sort_job *j = arg;
    int64_t first, last;
    tni_walk w;
    tni_split_range(j->sequences, j->parts, part, &first, &last);
    tni_walk_seek(&w, j->nest.axis, j->nest.ndim, j->nest.nop, first);
    for (int64_t i = first; i < last; i++) {
        char *value = j->value_op ? j->at[j->value_op] + w.offset[j->value_op] : NULL;
        char *index = j->index_op ? j->at[j->index_op] + w.offset[j->index_op] : NULL;
        sort_sequence(j, j->at[0] + w.offset[0], value, index,
                      j->scratch + (size_t)part * j->bytes);
        tni_walk_next(&w);
    }
}

static int sort_parts(const tn_tensor *src, int dim)
{
    const int64_t count = tni_numel(src), n = src->shape[dim];
    return n && count ? tni_plan_parts(tni_mul_saturated(count, 16), count / n) : 1;
}

size_t tni_sort_least(const tn_tensor *src, int dim)
{
    return tni_numel(src) ? sort_scratch(src, dim) : 0;
}

size_t tni_sort_bytes(const tn_tensor *src, int dim)
{
    return tni_numel(src) ? sort_scratch(src, dim) * (size_t)sort_parts(src, dim) : 0;
}

void tni_sort_run(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                  int dim, int64_t first, int64_t k, bool descending, void *scratch,
                  size_t size)
{
    tn_tensor sequences[3];
    const tn_tensor *ts[3] = {src, values ? values : indices, indices}, *list[3];
    const int nop = 1 + (values != NULL) + (indices != NULL);
    if (tni_numel(src) == 0 || k == 0)
        return;
    sort_job j = {.values = values,
                  .indices = indices,
                  .src = src,
                  .dim = dim,
                  .isa = tni_isa_level(),
                  .n = src->shape[dim],
                  .first = first,
                  .k = k,
                  .width = tni_width(src->dtype),
                  .bytes = sort_scratch(src, dim),
                  .descending = descending,
                  .value_op = values ? 1 : 0,
                  .index_op = indices ? nop - 1 : 0,
                  .scratch = scratch};
    j.bits = (int)(8 * j.width);
    j.words = j.width <= 4 && j.n < UINT32_MAX;
    for (int i = 0; i < nop; i++) {
        tni_drop_axis(&sequences[i], ts[i], dim, NULL);
        list[i] = &sequences[i];
    }
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&j.nest, nop, list, &rules);
    for (int i = 0; i < nop; i++)
        j.at[i] = (char *)ts[i]->data + j.nest.shift[i];
    j.sequences = tni_numel(src) / j.n;
    j.parts = sort_parts(src, dim);
    if ((size_t)j.parts > size / j.bytes)
        j.parts = (int)(size / j.bytes);
    tni_parallel(j.parts, sort_part, &j);
}
