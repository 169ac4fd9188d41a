/* first_run.c - finds the first k elements of an order without sorting the others.
 *
 * A bound is found that at least k elements reach; only those elements become words. */
#include <string.h>

#include "sort_run.h"

/* Sort words by the key above their index, which has 32 bits. */
static void sort_first(const sort_job *j, uint64_t *a, uint64_t *spare, int64_t n)
{
    int64_t *words = (int64_t *)(void *)a;
    for (int64_t i = 0; i < n; i++)
        words[i] = (int64_t)(a[i] ^ (uint64_t)INT64_MIN);
    tni_kernels_of(j->isa)->order->words[1].sort(
        &(tni_order_run){.x = words, .other = spare, .n = n, .high = n, .from = 32});
}

/* The order as a rule for kernels of keys: the first element has the largest key. */
static tni_key_rule first_rule(tn_dtype dtype, bool descending)
{
    const int64_t width = tni_width(dtype), kind = tni_dtypes[dtype].kind;
    const int64_t most = width == 8 ? INT64_MAX : ((int64_t)1 << (8 * width - 1)) - 1;
    return (tni_key_rule){
        .kind = kind == TNI_BOOL    ? TNI_KEY_BOOL
                : kind == TNI_FLOAT ? TNI_KEY_FLOAT
                                    : TNI_KEY_INTEGER,
        .mask = -1,
        .zero = -1,
        .flip = (descending ? 0 : -1) ^ (kind == TNI_UNSIGNED ? -most - 1 : 0),
        .inf = kind == TNI_FLOAT ? tni_floats[dtype].largest : 0,
        .nan = descending ? most : -most - 1,
    };
}

/* PIECE is the number of elements that one maximum stands for
 * (docs/investigations/reductions.md, "topk").  NEAR is the smallest piece, and the elements
 * around a candidate that are tested together: at most one element of TNI_SORT_RARE is wanted,
 * so that there are at least four times as many pieces. */
enum { PIECE = 256, NEAR = TNI_SORT_RARE / 4 };

/* The word of element i: its key above i. */
static uint64_t first_word(const sort_job *j, const char *raw, int64_t i)
{
    return tni_order_key(j->dtype, raw + i * j->width, j->descending) << 32 | (uint64_t)i;
}

/* Sift x down from position `at` of a heap, whose greatest word is heap[0]. */
static void sink(uint64_t *heap, int64_t k, int64_t at, uint64_t x)
{
    for (int64_t under; (under = 2 * at + 1) < k; at = under) {
        under += under + 1 < k && heap[under + 1] > heap[under];
        if (heap[under] <= x)
            break;
        heap[at] = heap[under];
    }
    heap[at] = x;
}

/* The k-th of n words in rising order, by a heap of k words. */
static uint64_t kth_word(const uint64_t *a, int64_t n, int64_t k, uint64_t *heap)
{
    memcpy(heap, a, (size_t)k * sizeof *heap);
    for (int64_t i = k / 2; i-- > 0;)
        sink(heap, k, i, heap[i]);
    for (int64_t i = k; i < n; i++)
        if (a[i] < heap[0])
            sink(heap, k, 0, a[i]);
    return heap[0];
}

/* A sample of 4096 elements (docs/investigations/reductions.md, "topk"): rows spread over the
 * sequence, of which each column counts only with its first element in the order.  A rank in
 * the second half of these says little. */
enum { SAMPLE_ROWS = 32, SAMPLE_COLUMNS = 128, SAMPLE_MOST = SAMPLE_COLUMNS / 2 };

/* Estimate by a sample a bound that about 3 k elements reach; false if it is NaN or the sample
 * is too small. */
static bool sample_bound(const sort_job *j, const char *raw, int64_t k, float *bound)
{
    const tni_key_rule rule = first_rule(TN_F32, j->descending);
    const int64_t rank = 3 * k * SAMPLE_ROWS * SAMPLE_COLUMNS / j->n + 4;
    int32_t best[SAMPLE_COLUMNS], spare[SAMPLE_COLUMNS];
    if (rank > SAMPLE_MOST || j->n < 2 * SAMPLE_ROWS * SAMPLE_COLUMNS)
        return false;
    ASSERT(rank >= 1 && rank <= SAMPLE_COLUMNS);
    for (int64_t i = 0; i < SAMPLE_ROWS; i += TNI_TILE_ROWS) {
        const char *row[TNI_TILE_ROWS];
        for (int r = 0; r < TNI_TILE_ROWS; r++)
            row[r] = raw + j->n / SAMPLE_ROWS * (i + r) * j->width;
        tni_kernels_of(j->isa)->key->key[2].rows_max((char *)best, row, SAMPLE_COLUMNS, i == 0,
                                                     &rule);
    }
    tni_kernels_of(j->isa)->order->words[0].sort(&(tni_order_run){
        .x = best, .other = spare, .n = SAMPLE_COLUMNS, .high = SAMPLE_COLUMNS});
    const int32_t key = best[SAMPLE_COLUMNS - rank]; /* the greatest key is the last */
    const int32_t flipped = key ^ (int32_t)rule.flip;
    *bound = tni_f32_from_bits((uint32_t)(flipped < 0 ? flipped ^ INT32_MAX : flipped));
    return key != (int32_t)rule.nan;
}

/* Make the words of the first k elements of a sequence of f32, in order, by a sampled bound;
 * false if there is none, or if fewer than k elements reach it. */
static bool sampled_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                          uint64_t *spare)
{
    const tni_order_kernels *order = tni_kernels_of(j->isa)->order;
    uint32_t *at = (uint32_t *)(void *)spare;
    char *value = (char *)(at + j->n);
    int64_t *words = (int64_t *)(void *)a;
    float bound;
    if (j->dtype != TN_F32 || !sample_bound(j, raw, k, &bound))
        return false;
    const int64_t found =
        tni_kernels_of(j->isa)->key->reach32(at, raw, j->n, bound, !j->descending);
    if (found < k)
        return false;
    for (int64_t i = 0; i < found; i++)
        memcpy(value + 4 * i, raw + 4 * (int64_t)at[i], 4);
    order->elements[2].words64(words, value, found, 0, &(tni_order_word){.shift = 32},
                               &j->rule);
    for (int64_t i = 0; i < found; i++) /* the index of the element in place of its number */
        words[i] += (int64_t)at[i] - i;
    order->words[1].sort(
        &(tni_order_run){.x = words, .other = spare, .n = found, .high = k, .from = 32});
    return true;
}

/* Make the words of the first k elements of a sequence, and of some others, in order; k is much
 * smaller than n.
 *
 * The bound is the k-th of the first elements of all pieces.  k elements reach it, one in each
 * of k pieces, so that elements beyond it are skipped.  a and spare have a word for each
 * element. */
static void piece_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                        uint64_t *spare)
{
    const tni_key_rule rule = first_rule(j->dtype, j->descending);
    const tni_key_kernels *kernels =
        &tni_kernels_of(j->isa)->key->key[tni_log2_width(j->width)];
    /* most - key is the number that tni_order_key gives */
    const int64_t most = rule.kind != TNI_KEY_BOOL ? ((int64_t)1 << (8 * j->width - 1)) - 1
                         : j->descending           ? UINT8_MAX
                                                   : -1;
    int64_t piece = PIECE, pieces = 0, have = 0;
    while (piece > NEAR && j->n / piece < 2 * k)
        piece /= 2;
    for (int64_t at = 0; at < j->n; at += piece) {
        const int64_t m = j->n - at < piece ? j->n - at : piece;
        spare[pieces++] = (uint64_t)(most - kernels->max(raw + at * j->width, m, &rule));
    }
    ASSERT(pieces <= j->n && k <= pieces);
    const uint64_t worst = kth_word(spare, pieces, k, a);
    for (int64_t i = 0; i < pieces; i++) {
        const int64_t begin = i * piece, end = j->n - begin < piece ? j->n : begin + piece;
        if (spare[i] > worst)
            continue;
        for (int64_t at = begin; at < end; at += NEAR) {
            const int64_t m = end - at < NEAR ? end - at : NEAR;
            if ((uint64_t)(most - kernels->max(raw + at * j->width, m, &rule)) > worst)
                continue;
            for (int64_t e = at; e < at + m; e++) {
                const uint64_t word = first_word(j, raw, e);
                if (word >> 32 <= worst)
                    a[have++] = word;
            }
        }
    }
    ASSERT(have >= k && have <= j->n);
    sort_first(j, a, spare, have);
}

void tni_first_words(const sort_job *j, const char *raw, int64_t k, uint64_t *a,
                     uint64_t *spare)
{
    if (!sampled_words(j, raw, k, a, spare))
        piece_words(j, raw, k, a, spare);
}
