/* intersect.c - the intersection of two index sets of one axis, as runs.
 *
 * The choice of the method, and with it the runs, depends on the two sets alone. */
#include "dist.h"

/* Up to WALK intervals are walked one by one.  Equally spaced blocks on both sides repeat after
 * the least common multiple of the periods; more of them are intersected by number theory. */
enum { WALK = 64 };

static tni_run *last_run(const tni_list *runs, int64_t first)
{
    return runs->n > first ? (tni_run *)runs->at + runs->n - 1 : NULL;
}

bool tni_run_add(tni_list *runs, tni_list *agains, const tni_run *run, const tni_again *again)
{
    tni_run *r = tni_list_add(runs);
    if (!r)
        return false;
    *r = *run;
    r->again = -1;
    if (!again || (again->count == 1 && again->dst_inner == 1 && again->src_inner == 1))
        return true;
    tni_again *a = tni_list_add(agains);
    if (!a)
        return false;
    *a = *again;
    r->again = agains->n - 1;
    return true;
}

/* Append one interval; intervals of equal length and spacing are combined into one repeated
 * run.  Runs before `first` are left alone. */
static bool runs_append(tni_list *runs, tni_list *agains, int64_t first, int64_t dst,
                        int64_t src, int64_t n)
{
    tni_run *last = last_run(runs, first);
    ASSERT(n > 0 && dst >= 0 && src >= 0);
    if (!last || last->n != n)
        return tni_run_add(runs, agains, &(tni_run){dst, src, n, -1}, NULL);
    if (last->again < 0) {
        tni_again *a = tni_list_add(agains);
        if (!a)
            return false;
        *a = (tni_again){2, dst - last->dst, src - last->src, 1, 1};
        last->again = agains->n - 1;
        return true;
    }
    tni_again *a = (tni_again *)agains->at + last->again;
    if (dst != last->dst + a->count * a->dst_step || src != last->src + a->count * a->src_step)
        return tni_run_add(runs, agains, &(tni_run){dst, src, n, -1}, NULL);
    a->count++;
    return true;
}

static tn_status too_many(void)
{
    return tni_fail(TN_EUNSUPPORTED, "route: dst and src share more than %d pieces of one axis",
                    TNI_MOST_PIECES);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Walk the intervals of a, and within each those of b. */
static tn_status walk(tni_list *runs, tni_list *agains, const tni_set *a, const tni_set *b,
                      bool a_is_dst)
{
    const int64_t first = runs->n;
    int64_t run, other;
    for (int64_t l = 0; l < a->n; l += run) {
        int64_t at = tni_set_where(a, l, &run);
        for (int64_t k = tni_set_below(b, at); k < b->n;) {
            int64_t where = tni_set_where(b, k, &other);
            if (where >= at + run)
                break;
            int64_t n = least(other, at + run - where);
            int64_t in_a = a->base + l + where - at, in_b = b->base + k;
            if (runs->n - first >= TNI_MOST_PIECES)
                return too_many();
            if (!runs_append(runs, agains, first, a_is_dst ? in_a : in_b,
                             a_is_dst ? in_b : in_a, n))
                return tni_list_full("route");
            k += n;
        }
    }
    return TN_OK;
}

/* Intersect one interval with equally spaced blocks: a first block that may be clipped, whole
 * blocks, and a last one. */
static tn_status clip(tni_list *runs, tni_list *agains, const tni_set *range,
                      const tni_set *blocks, bool range_is_dst)
{
    const int64_t first = runs->n;
    int64_t l = tni_set_below(blocks, range->at), run;
    const int64_t end = tni_set_below(blocks, range->at + range->n);
    while (l < end) {
        int64_t at = tni_set_where(blocks, l, &run), whole = (end - l) / blocks->block;
        int64_t a = range->base + at - range->at, b = blocks->base + l;
        tni_run r = {range_is_dst ? a : b, range_is_dst ? b : a, run, -1};
        if (run == blocks->block && whole > 1) {
            const int64_t one = blocks->period, two = blocks->block;
            tni_again again = {whole, range_is_dst ? one : two, range_is_dst ? two : one, 1, 1};
            if (!tni_run_add(runs, agains, &r, &again))
                return tni_list_full("route");
            l += whole * run;
            continue;
        }
        r.n = run = least(run, end - l);
        if (!runs_append(runs, agains, first, r.dst, r.src, r.n))
            return tni_list_full("route");
        l += run;
    }
    return TN_OK;
}

/* ---- equally spaced blocks on both sides ---- */

/* a * b mod m without a wider integer type; a, b < m < 2^62. */
static int64_t times_mod(int64_t a, int64_t b, int64_t m)
{
    if (m <= INT32_MAX)
        return a * b % m;
    int64_t sum = 0;
    for (; b; b >>= 1) {
        if (b & 1)
            sum = sum >= m - a ? sum - (m - a) : sum + a;
        a = a >= m - a ? a - (m - a) : a + a;
    }
    return sum;
}

/* The gcd of a and b; *x is the inverse of a / gcd modulo b / gcd. */
static int64_t common(int64_t a, int64_t b, int64_t *x)
{
    int64_t r0 = a, r1 = b, x0 = 1, x1 = 0;
    while (r1) {
        int64_t q = r0 / r1, r = r0 % r1, y = x0 - q * x1;
        r0 = r1;
        r1 = r;
        x0 = x1;
        x1 = y;
    }
    const int64_t m = b / r0;
    *x = (x0 % m + m) % m;
    return r0;
}

typedef struct crossing {
    const tni_set *dst, *src;
    int64_t gcd, inverse;       /* inverse of dst->period / gcd modulo src->period / gcd */
    int64_t dst_skip, src_skip; /* blocks of dst and of src per common period */
    int64_t far;                /* the common period; INT64_MAX: beyond any index */
    int64_t low, high;          /* bounds of both sets */
} crossing;

/* Add the intervals where a block of src begins `delta` after a block of dst. */
static bool intersect_runs(tni_list *runs, tni_list *agains, const crossing *m, int64_t delta)
{
    const tni_set *d = m->dst, *s = m->src;
    const int64_t modulus = m->dst_skip;
    int64_t distance = (s->at - d->at - delta) / m->gcd % modulus;
    int64_t i = times_mod((distance + modulus) % modulus, m->inverse, modulus);
    const int64_t from = delta > 0 ? delta : 0;
    const int64_t n = least(d->block, delta + s->block) - from;

    /* Skip to the first block of dst whose interval ends above low. */
    int64_t need = m->low - d->at - from - n + 1;
    if (need > 0) {
        int64_t blocks = tni_ceil_div(need, d->period);
        if (blocks > i) {
            int64_t rounds = tni_ceil_div(blocks - i, modulus);
            if (m->far == INT64_MAX)
                return true;
            i += rounds * modulus;
        }
    }
    if (i > (m->high - d->at) / d->period)
        return true;
    int64_t at = d->at + i * d->period + from;
    while (at < m->high) {
        int64_t low = at > m->low ? at : m->low, high = least(at + n, m->high);
        int64_t j = (low - s->at) / s->period;
        int64_t dst = d->base + i * d->block + (low - d->at - i * d->period) - d->skip;
        int64_t src = s->base + j * s->block + (low - s->at - j * s->period) - s->skip;
        tni_again again = {1, 0, 0, 1, 1};
        if (high - low == n && m->far != INT64_MAX) {
            again = (tni_again){(m->high - n - at) / m->far + 1, m->dst_skip * d->block,
                                m->src_skip * s->block, 1, 1};
        }
        if (!tni_run_add(runs, agains, &(tni_run){dst, src, high - low, -1}, &again))
            return false;
        if (m->far == INT64_MAX || again.count > (INT64_MAX - at) / m->far)
            return true;
        at += again.count * m->far;
        i += again.count * m->dst_skip;
    }
    return true;
}

static tn_status number_theory(tni_list *runs, tni_list *agains, crossing *m, bool *done)
{
    const tni_set *d = m->dst, *s = m->src;
    m->gcd = common(d->period, s->period, &m->inverse);
    m->dst_skip = s->period / m->gcd;
    m->src_skip = d->period / m->gcd;
    if (!tni_scale(d->period, m->dst_skip, &m->far))
        m->far = INT64_MAX;
    const int64_t difference = s->at - d->at;
    int64_t delta = (difference % m->gcd + m->gcd) % m->gcd; /* the smallest non-negative one */
    const int64_t below = delta - m->gcd;
    *done = delta >= d->block && below <= -s->block;
    if (*done)
        return TN_OK; /* no offset makes blocks intersect */
    const int64_t spans = least(tni_set_spans(d), tni_set_spans(s));
    if (spans <= WALK || (d->block + s->block) / m->gcd >= spans)
        return TN_OK;
    *done = true;
    m->low = tni_set_low(d) > tni_set_low(s) ? tni_set_low(d) : tni_set_low(s);
    m->high = least(tni_set_high(d), tni_set_high(s));
    if ((d->block + s->block) / m->gcd > TNI_MOST_PIECES)
        return too_many();
    for (delta -= (delta + s->block - 1) / m->gcd * m->gcd; delta < d->block; delta += m->gcd)
        if (delta > -s->block && !intersect_runs(runs, agains, m, delta))
            return tni_list_full("route");
    return TN_OK;
}

tn_status tni_intersect(tni_list *runs, tni_list *agains, const tni_set *dst,
                        const tni_set *src)
{
    if (dst->n == 0 || src->n == 0)
        return TN_OK;
    const bool dst_range = tni_set_is_range(dst);
    const bool src_range = tni_set_is_range(src);
    if (dst_range && src_range) {
        int64_t low = dst->at > src->at ? dst->at : src->at;
        int64_t high = least(dst->at + dst->n, src->at + src->n);
        tni_run run = {dst->base + low - dst->at, src->base + low - src->at, high - low, -1};
        if (low < high && !tni_run_add(runs, agains, &run, NULL))
            return tni_list_full("route");
        return TN_OK;
    }
    if (dst_range && !src->spans)
        return clip(runs, agains, dst, src, true);
    if (src_range && !dst->spans)
        return clip(runs, agains, src, dst, false);
    if (!dst->spans && !src->spans) {
        crossing m = {.dst = dst, .src = src};
        bool done;
        tn_status status = number_theory(runs, agains, &m, &done);
        if (status != TN_OK || done)
            return status;
    }
    const bool dst_first = tni_set_spans(dst) <= tni_set_spans(src);
    return walk(runs, agains, dst_first ? dst : src, dst_first ? src : dst, dst_first);
}
