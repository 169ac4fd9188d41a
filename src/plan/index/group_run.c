/* group_run.c - finds the groups of equal elements of a sorted sequence.
 *
 * A bit for each element marks the first one of a group; values and their indices are packed by
 * these bits.  Threads have parts of the sequence. */
#include <string.h>

#include "pieces.h"

typedef struct group_job {
    const tni_groups *g;
    int isa;
    int64_t *found; /* groups that begin in each part */
    const int64_t *at;
    char *values;
    int64_t *first, *inverse, *counts;
} group_job;

/* Whether complex number i of a sorted sequence begins a group.  It is NaN if one of its parts
 * is. */
static bool pair_begins(const char *x, tn_dtype part, int64_t i, bool each)
{
    const int64_t width = tni_width(part);
    const uint64_t most = width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
    bool differs = i == 0, nan = false, was = false;
    for (int64_t k = 0; k < 2 && i > 0; k++) {
        const uint64_t a = tni_order_key(part, x + (2 * (i - 1) + k) * width, false);
        const uint64_t b = tni_order_key(part, x + (2 * i + k) * width, false);
        differs |= a != b;
        was |= a == most;
        nan |= b == most;
    }
    return was && nan ? each : differs;
}

/* Set the bits of the elements [i, i + n) that begin groups. */
static void group_bits(const group_job *j, int64_t i, int64_t n, uint64_t *bits)
{
    const tni_groups *g = j->g;
    const int64_t width = tni_width(g->dtype);
    ASSERT(n >= 1 && n <= TNI_PIECE && i + n <= g->n);
    if (tni_is_complex(g->dtype)) {
        memset(bits, 0, TNI_PIECE_WORDS * sizeof *bits);
        for (int64_t k = 0; k < n; k++)
            if (pair_begins(g->x, tni_real_of(g->dtype), i + k, g->each))
                bits[k / 64] |= (uint64_t)1 << k % 64;
        return;
    }
    const tni_order_rule rule = tni_order_rule_of(g->dtype, false);
    const tni_order_elements *elements =
        &tni_kernels_of(j->isa)->order->elements[tni_log2_width(width)];
    if (i > 0) {
        elements->begins(bits, g->x + i * width, n, &rule, g->each);
        return;
    }
    char begun[(TNI_PIECE + 1) * 8]; /* with a copy of the first element before it */
    memcpy(begun, g->x, (size_t)width);
    memcpy(begun + width, g->x, (size_t)(n * width));
    elements->begins(bits, begun + width, n, &rule, g->each);
    bits[0] |= 1;
}

static void count_groups(void *arg, int part)
{
    const group_job *j = arg;
    uint64_t bits[TNI_PIECE_WORDS];
    int64_t first, last, count = 0;
    tni_split_range(j->g->n, j->g->begin.parts, part, &first, &last);
    for (int64_t i = first, n; i < last; i += n) {
        n = last - i < TNI_PIECE ? last - i : TNI_PIECE;
        group_bits(j, i, n, bits);
        count += tni_kernels_of(j->isa)->mask->count(bits, n);
    }
    j->found[part] = count;
}

int64_t tni_group_count(tni_groups *g)
{
    tni_mask_counts *c = &g->begin;
    const group_job j = {.g = g, .isa = tni_isa_level(), .found = c->before + 1};
    c->parts = tni_run_parts(tni_mul_saturated(g->n, 2 * tni_width(g->dtype)),
                             g->n < TNI_MASK_PARTS ? g->n : TNI_MASK_PARTS);
    ASSERT(c->parts >= 1 && c->parts <= TNI_MASK_PARTS);
    c->before[0] = 0;
    tni_parallel(c->parts, count_groups, (void *)&j);
    for (int i = 0; i < c->parts; i++)
        c->before[i + 1] += c->before[i];
    return c->before[c->parts];
}

/* Set inverse for n elements that come from `at`; group is that of the element before them. */
static void fill_inverse(int64_t *inverse, const int64_t *at, const uint64_t *bits, int64_t n,
                         int64_t group)
{
    for (int64_t k = 0; k < n; k++) {
        group += (int64_t)(bits[k / 64] >> k % 64 & 1);
        inverse[at[k]] = group;
    }
}

static void fill_groups(void *arg, int part)
{
    const group_job *j = arg;
    const tni_groups *g = j->g;
    const tni_mask_kernels *kernels = tni_kernels_of(j->isa)->mask;
    const int64_t width = tni_width(g->dtype), end = g->begin.before[part + 1];
    uint64_t bits[TNI_PIECE_WORDS];
    int64_t first, last, to = g->begin.before[part];
    tni_split_range(g->n, g->begin.parts, part, &first, &last);
    for (int64_t i = first, n; i < last; i += n) {
        n = last - i < TNI_PIECE ? last - i : TNI_PIECE;
        group_bits(j, i, n, bits);
        kernels->pack[tni_log2_width(width)](j->values + to * width, g->x + i * width, bits, n,
                                             end - to);
        if (j->first)
            kernels->pack[3]((char *)(j->first + to), (const char *)(j->at + i), bits, n,
                             end - to);
        if (j->counts) /* where groups begin, for now */
            kernels->indices((char *)(j->counts + to), bits, n, i, end - to);
        if (j->inverse)
            fill_inverse(j->inverse, j->at + i, bits, n, to - 1);
        to += kernels->count(bits, n);
    }
    ASSERT(to == end);
}

void tni_group_fill(const tni_groups *g, const int64_t *at, char *values, int64_t *first,
                    int64_t *inverse, int64_t *counts)
{
    const int64_t groups = g->begin.before[g->begin.parts];
    const group_job j = {.g = g,
                         .isa = tni_isa_level(),
                         .at = at,
                         .values = values,
                         .first = first,
                         .inverse = inverse,
                         .counts = counts};
    tni_parallel(g->begin.parts, fill_groups, (void *)&j);
    for (int64_t k = 0; k < groups && counts; k++)
        counts[k] = (k + 1 < groups ? counts[k + 1] : g->n) - counts[k];
}
