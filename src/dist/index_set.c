/* index_set.c - the indices of one axis that a part has, and how a placement cuts them.
 *
 * Equally spaced blocks remain a formula under every cut except a nested cyclic one, whose
 * spans are listed. */
#include <string.h>

#include "dist.h"

tni_set tni_set_range(int64_t at, int64_t n)
{
    return (tni_set){.n = n, .at = at, .block = n, .period = n};
}

void tni_set_free(tni_set *s)
{
    tni_free(s->spans);
    s->spans = NULL;
}

/* The span that contains local l. */
static const tni_span *set_span(const tni_set *s, int64_t l)
{
    int64_t low = 0, high = s->nspans - 1;
    while (low < high) {
        int64_t middle = (low + high + 1) / 2;
        if (s->spans[middle].local <= l)
            low = middle;
        else
            high = middle - 1;
    }
    return &s->spans[low];
}

int64_t tni_set_where(const tni_set *s, int64_t l, int64_t *run)
{
    if (s->spans) {
        const tni_span *span = set_span(s, l);
        *run = span->local + span->n - l;
        return span->at + l - span->local;
    }
    if (tni_set_is_range(s)) {
        *run = s->n - l;
        return s->at + l;
    }
    int64_t v = l + s->skip, inside = v % s->block, left = s->block - inside;
    *run = left < s->n - l ? left : s->n - l;
    return s->at + v / s->block * s->period + inside;
}

int64_t tni_set_below(const tni_set *s, int64_t index)
{
    int64_t l;
    if (s->n == 0)
        return 0;
    if (s->spans) {
        int64_t low = 0, high = s->nspans;
        while (low < high) {
            int64_t middle = (low + high) / 2;
            if (s->spans[middle].at < index)
                low = middle + 1;
            else
                high = middle;
        }
        if (low == 0)
            return 0;
        const tni_span *span = &s->spans[low - 1];
        l = index - span->at < span->n ? index - span->at : span->n;
        return span->local + l;
    }
    if (index <= s->at)
        return 0;
    if (tni_set_is_range(s)) {
        l = index - s->at;
    } else {
        int64_t past = index - s->at, inside = past % s->period;
        l = past / s->period * s->block + (inside < s->block ? inside : s->block) - s->skip;
    }
    return l < 0 ? 0 : l < s->n ? l : s->n;
}

int64_t tni_set_spans(const tni_set *s)
{
    if (s->n == 0)
        return 0;
    if (s->spans)
        return s->nspans;
    return tni_ceil_div(s->skip + s->n, s->block) - s->skip / s->block;
}

int64_t tni_set_low(const tni_set *s)
{
    int64_t run;
    return tni_set_where(s, 0, &run);
}

int64_t tni_set_high(const tni_set *s)
{
    int64_t run;
    return tni_set_where(s, s->n - 1, &run) + 1;
}

/* ---- cuts ---- */

/* The subset of local positions [low, low + n) of s. */
static tn_status set_part(tni_set *out, const tni_set *s, int64_t low, int64_t n)
{
    if (n == 0) {
        *out = tni_set_range(0, 0);
        return TN_OK;
    }
    int64_t run, at = tni_set_where(s, low, &run);
    if (run >= n) {
        *out = tni_set_range(at, n);
        return TN_OK;
    }
    *out = *s;
    out->n = n;
    out->skip += low;
    if (!s->spans)
        return TN_OK;
    tni_list spans = {.width = sizeof(tni_span)};
    for (int64_t l = 0; l < n; l += run) {
        at = tni_set_where(s, low + l, &run);
        run = run < n - l ? run : n - l;
        tni_span *span = tni_list_add(&spans);
        if (!span) {
            tni_list_free(&spans);
            return tni_list_full("dist");
        }
        *span = (tni_span){at, l, run};
    }
    out->skip = 0;
    out->spans = spans.at;
    out->nspans = spans.n;
    return TN_OK;
}

/* The subset of every p-th block of `block` local positions, beginning with block f, as a list
 * of spans. */
static tn_status set_deal(tni_set *out, const tni_set *s, int64_t block, int64_t p, int64_t f)
{
    tni_list spans = {.width = sizeof(tni_span)};
    int64_t run, local = 0;
    for (int64_t begin = f * block; begin < s->n; begin += p * block) {
        int64_t end = block < s->n - begin ? begin + block : s->n;
        for (int64_t l = begin; l < end; l += run) {
            int64_t at = tni_set_where(s, l, &run);
            run = run < end - l ? run : end - l;
            tni_span *last = spans.n ? (tni_span *)spans.at + spans.n - 1 : NULL;
            if (last && last->at + last->n == at) {
                last->n += run;
            } else {
                tni_span *span = spans.n < TNI_MOST_PIECES ? tni_list_add(&spans) : NULL;
                if (!span) {
                    const bool many = spans.n == TNI_MOST_PIECES;
                    tni_list_free(&spans);
                    return many ? tni_fail(TN_EUNSUPPORTED,
                                           "dist: nested cyclic cuts leave more than %d "
                                           "pieces of an axis to one rank",
                                           TNI_MOST_PIECES)
                                : tni_list_full("dist");
                }
                *span = (tni_span){at, local, run};
            }
            local += run;
        }
        if (p * block > s->n - begin)
            break;
    }
    *out = (tni_set){.n = local, .spans = spans.at, .nspans = spans.n};
    return TN_OK;
}

static tn_status set_cyclic(tni_set *out, const tni_set *s, int64_t block, int p, int64_t f)
{
    int64_t begin, round;
    if (!tni_scale(f, block, &begin) || begin >= s->n) {
        *out = tni_set_range(0, 0);
        return TN_OK;
    }
    if (!tni_scale(p, block, &round) || round >= s->n - begin)
        return set_part(out, s, begin, block < s->n - begin ? block : s->n - begin);
    int64_t rounds = (s->n - begin) / round, rest = (s->n - begin) % round;
    int64_t n = rounds * block + (rest < block ? rest : block);
    if (tni_set_is_range(s)) {
        *out = (tni_set){.n = n, .at = s->at + begin, .block = block, .period = round};
        return TN_OK;
    }
    if (!s->spans && s->skip == 0 && block == s->block) {
        *out = (tni_set){
            .n = n, .at = s->at + f * s->period, .block = block, .period = p * s->period};
        return TN_OK;
    }
    if (!s->spans && s->skip == 0 && round == s->block) {
        *out = (tni_set){.n = n, .at = s->at + begin, .block = block, .period = s->period};
        return TN_OK;
    }
    return set_deal(out, s, block, p, f);
}

/* The first position of coordinate c when n are cut evenly over p. */
static int64_t even_start(int64_t n, int p, int64_t c)
{
    int64_t rest = n % p;
    return n / p * c + (c < rest ? c : rest);
}

tn_status tni_set_cut(tni_set *out, const tni_set *s, const tn_placement *cut, int p, int c)
{
    int64_t begin, each;
    switch (cut->cut) {
    case TN_CUT_BLOCK:
        each = s->n / p + (s->n % p != 0);
        if (each == 0 || c > (s->n - 1) / each)
            return set_part(out, s, 0, 0);
        begin = each * c;
        return set_part(out, s, begin, each < s->n - begin ? each : s->n - begin);
    case TN_CUT_EVEN:
        begin = even_start(s->n, p, c);
        return set_part(out, s, begin, even_start(s->n, p, (int64_t)c + 1) - begin);
    default:
        return set_cyclic(out, s, cut->block, p, ((int64_t)c - cut->first + p) % p);
    }
}

static int64_t even_owner(int64_t n, int p, int64_t l)
{
    int64_t each = n / p, rest = n % p, longer = rest * (each + 1);
    return l < longer ? l / (each + 1) : rest + (l - longer) / each;
}

void tni_cut_owners(int64_t n, const tn_placement *cut, int p, int64_t low, int64_t high,
                    int *first, int *count)
{
    int64_t begin, end, each;
    *first = *count = 0;
    if (low >= high)
        return;
    switch (cut->cut) {
    case TN_CUT_BLOCK:
        each = n / p + (n % p != 0);
        begin = low / each;
        end = (high - 1) / each;
        break;
    case TN_CUT_EVEN:
        begin = even_owner(n, p, low);
        end = even_owner(n, p, high - 1);
        break;
    default:
        begin = low / cut->block;
        end = (high - 1) / cut->block;
        *first = (int)((begin + cut->first) % p);
        *count = end - begin >= p ? p : (int)(end - begin + 1);
        return;
    }
    *first = (int)begin;
    *count = (int)(end - begin + 1);
}
