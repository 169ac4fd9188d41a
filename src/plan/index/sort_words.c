/* sort_words.c - sorts one sequence: by keys alone if they determine all bits of an element,
 * else by words of a key above the element's index, so that equal elements keep their order. */
#include <string.h>

#include "sort_run.h"
#include "view/view.h"

enum { SORT_PIECE = 512 }; /* indices at a time: 4 KiB, and 4 KiB of keys or elements */

static const tni_order_elements *elements_of(const sort_job *j)
{
    return &tni_kernels_of(j->isa)->order->elements[tni_log2_width(j->width)];
}

void tni_sort_copy(const sort_job *j, char *d, int64_t d_step, const char *s, int64_t s_step,
                   int64_t n)
{
    const int64_t ds[2] = {0, n > 1 ? d_step : j->width},
                  ss[2] = {0, n > 1 ? s_step : j->width};
    const int64_t trips[2] = {1, n};
    tni_kernels_of(j->isa)->copy->tile[tni_log2_width(j->width)](d, ds, s, ss, trips);
}

/* Write n keys as elements of values at d. */
static void write_keys(const sort_job *j, char *d, const void *key, int64_t n)
{
    const int64_t step = j->value_step, w = j->width;
    char made[SORT_PIECE * 8];
    if (step == w || n == 1) {
        elements_of(j)->back(d, key, n, &j->rule);
        return;
    }
    for (int64_t i = 0; i < n; i += SORT_PIECE) {
        const int64_t m = n - i < SORT_PIECE ? n - i : SORT_PIECE;
        elements_of(j)->back(made, (const char *)key + i * (w < 8 ? 4 : 8), m, &j->rule);
        tni_sort_copy(j, d + i * step, step, made, w, m);
    }
}

/* ---- values alone ---- */

typedef struct sorted {
    char *value;
    const char *key;
} sorted;

static void values_piece(const sort_job *j, void *arg, int64_t first, int64_t n)
{
    const sorted *s = arg;
    write_keys(j, s->value + first * j->value_step, s->key + first * (j->width < 8 ? 4 : 8), n);
}

bool tni_sort_values(const sort_job *j, const char *raw, char *value, char *scratch)
{
    const int key = j->width < 8 ? 4 : 8;
    if (!tni_sort_keys(j, scratch, raw))
        return false;
    tni_sort_words(j,
                   &(tni_order_run){scratch, scratch + j->n * key, j->n, j->first,
                                    j->first + j->k, 0, false},
                   key);
    tni_sort_each(j, j->k, values_piece, &(sorted){value, scratch + j->first * key});
    return true;
}

/* ---- with indices ---- */

/* Sorted words, shorter or longer ones: the key of an element, less what all keys have in
 * common, above the element's index. */
typedef struct chosen {
    const char *raw;
    char *value, *index; /* NULL: not wanted */
    const int32_t *shorter;
    const int64_t *longer;
    int64_t least;
    bool tells; /* keys determine all bits */
} chosen;

/* Sort runs of words that agree in all but the last `left` bits of their keys, by those
 * bits. */
static void sort_tied(const sort_job *j, const char *raw, int64_t *words, int64_t *other,
                      int64_t n, int left)
{
    const int most = 63 - j->shift, take = left < most ? left : most;
    ASSERT(left > 0 && take > 0);
    const uint64_t index = ((uint64_t)1 << j->shift) - 1, mask = ((uint64_t)1 << take) - 1;
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && words[end] >> j->shift == words[i] >> j->shift;)
            end++;
        if (end == i + 1)
            continue;
        for (int64_t k = i; k < end; k++) {
            const uint64_t at = (uint64_t)words[k] & index;
            const uint64_t key =
                tni_order_key(j->dtype, raw + (int64_t)at * j->width, j->descending);
            words[k] = (int64_t)((key >> (left - take) & mask) << j->shift | at);
        }
        tni_sort_words(
            j, &(tni_order_run){words + i, other, end - i, 0, end - i, j->shift, false}, 8);
        if (left > take)
            sort_tied(j, raw, words + i, other, end - i, left - take);
    }
}

/* The number of words, of n, that have the key of word w. */
static int64_t count_key(const sort_job *j, const int64_t *words, int64_t n, int64_t w)
{
    int64_t count = 0;
    for (int64_t i = 0; i < n; i++)
        count += words[i] >> j->shift == w >> j->shift;
    return count;
}

/* Sort words of 64 bits.  Keys that are too long for them lose the part that they have in
 * common, or are sorted without their last bits first. */
static void sort_long_words(const sort_job *j, chosen *c, int64_t *words)
{
    const char *raw = c->raw;
    const int bits = (int)(8 * j->width);
    ASSERT(j->shift < 63 && (j->n - 1) >> j->shift == 0);
    int64_t low = j->first, high = j->first + j->k, *other = words + j->n;
    tni_order_word form = {.shift = j->shift};
    if (bits + j->shift > 64) {
        int64_t range[2];
        tni_sort_range(j, range, raw);
        if (((uint64_t)range[1] - (uint64_t)range[0]) >> (63 - j->shift) == 0)
            form.least = range[0];
        else
            form.cut = bits + j->shift - 64;
    }
    c->longer = words;
    c->least = form.least;
    c->tells = tni_sort_words64(j, words, raw, &form) && form.cut == 0;
    tni_order_run run = {words, other, j->n, low, high, j->shift, false};
    tni_sort_words(j, &run, 8);
    if (form.cut == 0)
        return;
    if (high - low < j->n) { /* equals of the first or the last may not be among them */
        const int64_t *wanted = words + low, m = high - low, a = wanted[0], b = wanted[m - 1];
        tni_sort_words64(j, other, raw, &form);
        if (count_key(j, other, j->n, a) != count_key(j, wanted, m, a) ||
            count_key(j, other, j->n, b) != count_key(j, wanted, m, b)) {
            memcpy(words, other, (size_t)j->n * sizeof *words);
            low = run.low = 0;
            high = run.high = j->n;
            tni_sort_words(j, &run, 8);
        }
    }
    sort_tied(j, raw, words + low, other, high - low, form.cut);
}

/* Sort words of 32 bits. */
static void sort_short_words(const sort_job *j, chosen *c, int32_t *words)
{
    const tni_order_word form = {.shift = j->shift};
    ASSERT(8 * j->width + j->shift <= 32);
    c->shorter = words;
    c->tells = elements_of(j)->words32(words, c->raw, j->n, 0, &form, &j->rule);
    tni_sort_words(
        j,
        &(tni_order_run){words, words + j->n, j->n, j->first, j->first + j->k, j->shift, false},
        4);
}

static void write_indices(const sort_job *j, char *d, const int64_t *at, int64_t n)
{
    const int64_t step = j->index_step;
    if (j->index_dtype == TN_I64 && step == 8)
        memcpy(d, at, (size_t)n * 8);
    else if (j->index_dtype == TN_I64)
        for (int64_t k = 0; k < n; k++)
            memcpy(d + k * step, &at[k], 8);
    else
        for (int64_t k = 0; k < n; k++)
            memcpy(d + k * step, &(int32_t){(int32_t)at[k]}, 4);
}

/* Write n elements, made from the keys of words from number `from` on. */
static void write_values(const sort_job *j, char *d, const chosen *c, int64_t from, int64_t n)
{
    union {
        int32_t shorter[SORT_PIECE];
        int64_t longer[SORT_PIECE];
    } key;
    ASSERT(n <= SORT_PIECE);
    if (c->shorter)
        for (int64_t k = 0; k < n; k++)
            key.shorter[k] = c->shorter[from + k] >> j->shift;
    else if (j->width < 8)
        for (int64_t k = 0; k < n; k++)
            key.shorter[k] = (int32_t)(c->longer[from + k] >> j->shift);
    else
        for (int64_t k = 0; k < n; k++)
            key.longer[k] = (c->longer[from + k] >> j->shift) + c->least;
    write_keys(j, d, &key, n);
}

/* Write the elements and indices that words name: `count` of the wanted ones, from `first`
 * on. */
static void chosen_piece(const sort_job *j, void *arg, int64_t first, int64_t count)
{
    const chosen *c = arg;
    const int64_t mask = ((int64_t)1 << j->shift) - 1;
    int64_t at[SORT_PIECE];
    for (int64_t i = first; i < first + count; i += SORT_PIECE) {
        const int64_t left = first + count - i, n = left < SORT_PIECE ? left : SORT_PIECE;
        const int64_t from = j->first + i;
        for (int64_t k = 0; k < n; k++)
            at[k] = (c->shorter ? c->shorter[from + k] : c->longer[from + k]) & mask;
        if (c->index)
            write_indices(j, c->index + i * j->index_step, at, n);
        if (!c->value)
            continue;
        const int64_t step = j->value_step;
        if (c->tells) {
            write_values(j, c->value + i * step, c, from, n);
            continue;
        }
        for (int64_t k = 0; k < n; k++)
            at[k] *= j->width;
        tni_gather(c->value + i * step, step, c->raw, 0, at, n, tni_log2_width(j->width));
    }
}

void tni_sort_chosen(const sort_job *j, bool few, const char *raw, char *value, char *index,
                     char *scratch)
{
    chosen c = {.raw = raw, .value = value, .index = index};
    int64_t *words = (int64_t *)(void *)scratch;
    if (few) {
        uint64_t *a = (uint64_t *)(void *)scratch;
        tni_first_words(j, raw, j->first + j->k, a, a + j->n);
        c.longer = words;
    } else if (j->width <= 2 && 8 * j->width + j->shift <= 32) {
        sort_short_words(j, &c, (int32_t *)(void *)scratch);
    } else {
        sort_long_words(j, &c, words);
    }
    tni_sort_each(j, j->k, chosen_piece, &c);
}
