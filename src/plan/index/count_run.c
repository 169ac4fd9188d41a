/* count_run.c - searches a sorted sequence, and counts elements. */
#include <string.h>

#include "pieces.h"
#include "view/view.h"

/* ---- searching ---- */

/* The most keys that are sampled: at 8 bytes they are half of an L1 of 32 KiB, whose other half
 * is for values and results.  There are no more of them than values that a part searches. */
enum { SEARCH_SAMPLES = 2048 };

typedef struct search_job {
    const tn_tensor *dst, *sorted, *values;
    bool or_equal;
    int parts;
} search_job;

static void search_part(void *arg, int part)
{
    const search_job *j = arg;
    const tn_tensor *ts[2] = {j->dst, j->values};
    const tni_order_rule rule = tni_order_rule_of(j->values->dtype, false);
    _Alignas(64) int64_t samples[SEARCH_SAMPLES], found[TNI_PIECE];
    _Alignas(64) char raw[TNI_PIECE * 8];
    tni_search s = {.sorted = j->sorted->data,
                    .n = j->sorted->shape[0],
                    .step = j->sorted->stride[0],
                    .sample = samples,
                    .rule = &rule,
                    .or_equal = j->or_equal};
    tni_pieces p;
    int64_t first, last;
    tni_split_range(tni_numel(j->values), j->parts, part, &first, &last);
    if (!tni_pieces_begin(&p, 2, ts, first, last))
        return;
    const tni_order_elements *elements =
        &tni_kernels_of(p.isa)->order->elements[tni_log2_width(p.width[1])];
    const int64_t most = last - first < SEARCH_SAMPLES ? last - first : SEARCH_SAMPLES;
    s.interval = (s.n + most - 1) / most;
    s.samples = s.n ? (s.n + s.interval - 1) / s.interval : 0;
    ASSERT(s.samples <= SEARCH_SAMPLES && s.samples <= most);
    elements->samples(samples, &s);
    for (bool more = true; more;) {
        const int64_t n = tni_pieces_size(&p);
        elements->search(found, tni_pieces_dense(&p, 1, n, raw), n, &s);
        tni_pieces_store(&p, 0, n, (const char *)found);
        more = tni_pieces_next(&p, n);
    }
}

void tni_search_run(const tn_tensor *dst, const tn_tensor *sorted, const tn_tensor *values,
                    bool or_equal)
{
    search_job j = {.dst = dst, .sorted = sorted, .values = values, .or_equal = or_equal};
    const int64_t n = tni_numel(values); /* a search costs as much as a line of memory */
    j.parts = tni_run_parts(tni_mul_saturated(n, 64), n);
    tni_parallel(j.parts, search_part, &j);
}

/* ---- counting ---- */

int64_t tni_count_outside(const tn_tensor *src, int64_t n)
{
    tni_pieces p;
    _Alignas(64) char raw[TNI_PIECE * 8];
    int64_t at[TNI_PIECE];
    const int64_t all = tni_numel(src);
    if (!tni_pieces_begin(&p, 1, &src, 0, all))
        return -1;
    for (bool more = true; more;) {
        const int64_t size = tni_pieces_size(&p);
        uint64_t outside = 0;
        tni_index_load(at, tni_pieces_dense(&p, 0, size, raw), src->dtype, size, p.isa);
        for (int64_t i = 0; i < size; i++)
            outside |= (uint64_t)at[i] | (uint64_t)(n - 1 - at[i]);
        for (int64_t i = 0; i < size && outside >> 63; i++)
            if (at[i] < 0 || at[i] >= n)
                return all - p.left + i;
        more = tni_pieces_next(&p, size);
    }
    return -1;
}

static void clear(const tn_tensor *dst)
{
    for (int64_t i = 0; i < dst->shape[0]; i++)
        memset((char *)dst->data + i * dst->stride[0], 0, sizeof(int64_t));
}

static void count_some(const tn_tensor *dst, int64_t bin, int64_t by)
{
    char *p = (char *)dst->data + bin * dst->stride[0];
    int64_t n;
    memcpy(&n, p, sizeof n);
    n += by;
    memcpy(p, &n, sizeof n);
}

void tni_bincount_run(const tn_tensor *dst, const tn_tensor *src)
{
    tni_pieces p;
    _Alignas(64) char raw[TNI_PIECE * 8];
    int64_t at[TNI_PIECE];
    clear(dst);
    if (!tni_pieces_begin(&p, 1, &src, 0, tni_numel(src)))
        return;
    for (bool more = true; more;) {
        const int64_t n = tni_pieces_size(&p);
        tni_index_load(at, tni_pieces_dense(&p, 0, n, raw), src->dtype, n, p.isa);
        for (int64_t i = 0; i < n; i++)
            count_some(dst, at[i], 1);
        more = tni_pieces_next(&p, n);
    }
}

/* ---- bins of equal width ---- */

enum {
    BINS_OWN = 1024,       /* most bins of a part with four 32-bit counters each: half of L1 */
    BINS_PIECES = 1 << 20, /* pieces of 2048 elements, which fill at most half of a counter */
    BINS_PARTS = 16        /* most parts: their counters are 128 KiB of the stack */
};

typedef struct bins_job {
    const tn_tensor *dst, *src;
    double low, high;
    int parts;
    int64_t (*own)[BINS_OWN]; /* counters of each part; NULL: too many bins, dst counts */
} bins_job;

/* Neighbouring elements are counted in different counters: to add to the same one twice is to
 * wait for the store in between. */
static void bins_add(uint32_t own[4][BINS_OWN], const int64_t *bin, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (bin[i] >= 0)
            own[i & 3][bin[i]]++;
}

static void bins_flush(const bins_job *j, int part, uint32_t own[4][BINS_OWN])
{
    for (int64_t b = 0; b < j->dst->shape[0]; b++)
        for (int k = 0; k < 4; k++) {
            j->own[part][b] += own[k][b];
            own[k][b] = 0;
        }
}

/* Load a piece as f64. */
static void bins_load(double *x, const tni_pieces *p, tn_dtype dtype, int64_t n)
{
    _Alignas(64) char raw[TNI_PIECE * 8], between[TNI_PIECE * 8];
    const tni_cast cast = tni_cast_chain(p->isa, dtype, TN_F64);
    const char *from = tni_pieces_dense(p, 0, n, raw);
    for (int i = 0; i < cast.steps; i++) {
        char *to = i == cast.steps - 1 ? (char *)x : between;
        cast.fn[i](to, from, n, 0, false);
        from = to;
    }
    if (cast.steps == 0)
        memcpy(x, from, (size_t)n * sizeof *x);
}

static void bins_part(void *arg, int part)
{
    const bins_job *j = arg;
    const int64_t bins = j->dst->shape[0];
    const double by = (double)bins / (j->high - j->low);
    tni_pieces p;
    uint32_t own[4][BINS_OWN] = {{0}};
    double x[TNI_PIECE];
    int64_t bin[TNI_PIECE];
    int64_t first, last;
    tni_split_range(tni_numel(j->src), j->parts, part, &first, &last);
    if (!tni_pieces_begin(&p, 1, &j->src, first, last))
        return;
    bool more = true;
    for (int64_t pieces = 1; more; pieces++) {
        const int64_t n = tni_pieces_size(&p);
        bins_load(x, &p, j->src->dtype, n);
        tni_kernels_of(p.isa)->order->bins(bin, x, n, j->low, j->high, by, bins);
        more = tni_pieces_next(&p, n);
        if (j->own)
            bins_add(own, bin, n);
        else
            for (int64_t i = 0; i < n; i++)
                if (bin[i] >= 0)
                    count_some(j->dst, bin[i], 1);
        if (j->own && (!more || pieces % BINS_PIECES == 0))
            bins_flush(j, part, own);
    }
}

void tni_histogram_run(const tn_tensor *dst, const tn_tensor *src, double low, double high)
{
    int64_t own[BINS_PARTS][BINS_OWN];
    const int64_t bins = dst->shape[0], n = tni_numel(src);
    bins_job j = {.dst = dst, .src = src, .low = low, .high = high, .parts = 1};
    clear(dst);
    if (bins <= BINS_OWN) {
        j.own = own;
        j.parts = tni_run_parts(tni_mul_saturated(n, 16), n < BINS_PARTS ? n : BINS_PARTS);
        ASSERT(j.parts >= 1 && j.parts <= BINS_PARTS);
        memset(own, 0, (size_t)j.parts * sizeof *own);
    }
    tni_parallel(j.parts, bins_part, &j);
    for (int part = 0; part < j.parts && j.own; part++)
        for (int64_t b = 0; b < bins; b++)
            count_some(dst, b, own[part][b]);
}
