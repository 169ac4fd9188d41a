/* overlap.c - do two indices of a tensor share a byte, do two tensors?
 *
 * Quick bounds answer nearly every call: axes that nest inside each other, byte ranges that are
 * disjoint.  The rest is a bounded integer problem, decided exactly within a work limit: is
 * there a sum of a[k] * x[k], 0 <= x[k] <= u[k], in [low, high]?  A case that stays undecided
 * is refused like a shared byte. */
#include "view.h"

typedef struct term {
    int64_t a, u; /* a > 0, u > 0 */
} term;

/* WORK: the number of terms that one problem may visit before it stays undecided. */
enum { TERMS = 2 * TN_MAX_NDIM, WORK = 1 << 16 };

/* ---- the integer problem ---- */

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Insert a term into the list, sorted by rising factor a; terms of equal factor are merged.
 * false if u does not fit. */
static bool overlap_put(term *terms, int *count, int64_t a, int64_t u)
{
    int i = *count;
    while (i > 0 && terms[i - 1].a > a)
        i--;
    if (i > 0 && terms[i - 1].a == a)
        return tni_add(terms[i - 1].u, u, &terms[i - 1].u);
    for (int j = (*count)++; j > i; j--)
        terms[j] = terms[j - 1];
    terms[i] = (term){a, u};
    return true;
}

/* The largest sum of the terms; false if it does not fit. */
static bool reach_of(const term *terms, int count, int64_t *reach)
{
    int64_t sum = 0, part;
    for (int i = 0; i < count; i++)
        if (!tni_mul(terms[i].a, terms[i].u, &part) || !tni_add(sum, part, &sum))
            return false;
    *reach = sum;
    return true;
}

static tni_overlap solve(const term *terms, int count, int64_t reach, int64_t low, int64_t high,
                         int *work);

/* If a common divisor of the upper terms exceeds what the lower terms can span, the sum of the
 * upper terms is known: it is the only multiple in reach, and the lower terms must add the
 * rest.  Sets *done if the terms can be split like this. */
static tni_overlap overlap_split(const term *terms, int count, int64_t reach, int64_t low,
                                 int64_t high, int *work, bool *done)
{
    int64_t common = 0, under = reach;
    *done = true;
    for (int i = count - 1; i > 0; i--) {
        common = gcd(common, terms[i].a);
        under -= terms[i].a * terms[i].u;
        if (common <= high - low)
            break;
        if (under >= common - (high - low))
            continue;
        const int64_t upper = high / common * common;
        if (upper < low - under)
            return TNI_DISJOINT;
        const tni_overlap below = solve(terms, i, under, low - upper, high - upper, work);
        if (below == TNI_DISJOINT)
            return TNI_DISJOINT;
        const tni_overlap above =
            solve(terms + i, count - i, reach - under, upper, upper, work);
        return above == TNI_OVERLAPS ? below : above;
    }
    *done = false;
    return TNI_DISJOINT;
}

/* Whether a sum is in [low, high]; reach is the largest sum. */
static tni_overlap solve(const term *terms, int count, int64_t reach, int64_t low, int64_t high,
                         int *work)
{
    if (TNI_NEVER(high < 0 || low > reach))
        return TNI_DISJOINT;
    if (low <= 0)
        return TNI_OVERLAPS;
    if (--*work < 0)
        return TNI_UNDECIDED;
    high = high > reach ? reach : high;
    int64_t common = 0;
    for (int i = 0; i < count && (common == 0 || common > high - low + 1); i++)
        common = gcd(common, terms[i].a);
    if (high / common * common < low)
        return TNI_DISJOINT;
    if (count == 1)
        return TNI_OVERLAPS;
    *work -= count;
    bool done;
    const tni_overlap parts = overlap_split(terms, count, reach, low, high, work, &done);
    if (done)
        return parts;
    const term top = terms[count - 1];
    const int64_t under = reach - top.a * top.u;
    for (int64_t x = high / top.a < top.u ? high / top.a : top.u; x >= 0; x--) {
        const int64_t part = x * top.a;
        if (low - part > under)
            break;
        const tni_overlap one = solve(terms, count - 1, under, low - part, high - part, work);
        if (one == TNI_OVERLAPS)
            return TNI_OVERLAPS;
        if (*work < 0)
            return TNI_UNDECIDED;
    }
    return TNI_DISJOINT;
}

/* ---- self-overlap ---- */

/* Whether axes are ordered as in row-major order and do not overlap: each stride is at least
 * the bytes that the later axes span. */
static bool in_rows(const tn_tensor *t, int64_t width)
{
    int64_t reach = width;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] < 2)
            continue;
        if (t->stride[i] < reach)
            return false;
        reach += (t->shape[i] - 1) * t->stride[i];
    }
    return true;
}

/* The axes longer than 1, sorted by rising |stride|. */
typedef struct sorted {
    int count;
    int64_t step[TN_MAX_NDIM], last[TN_MAX_NDIM]; /* |stride|, n - 1 */
} sorted;

static void sort_axes(sorted *axes, const tn_tensor *t)
{
    axes->count = 0;
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] < 2)
            continue;
        const int64_t step = t->stride[i] < 0 ? -t->stride[i] : t->stride[i];
        int k = axes->count++;
        for (; k > 0 && axes->step[k - 1] > step; k--) {
            axes->step[k] = axes->step[k - 1];
            axes->last[k] = axes->last[k - 1];
        }
        axes->step[k] = step;
        axes->last[k] = t->shape[i] - 1;
    }
}

/* As in_rows, for axes in any order and of any sign. */
static bool nests(const sorted *axes, int64_t width)
{
    int64_t reach = width;
    for (int k = 0; k < axes->count; k++) {
        if (axes->step[k] < reach)
            return false;
        reach += axes->last[k] * axes->step[k];
    }
    return true;
}

/* Two indices differ by d; the top is the axis of the largest stride where d is not 0.  The two
 * elements share a byte if |sum of d * stride| is less than a width.  For each axis as the top,
 * with d >= 1 there, this is one integer problem over the axes below it, where d may have any
 * sign. */
static tni_overlap names_twice(const sorted *axes, int64_t width)
{
    for (int k = 0; k < axes->count; k++)
        if (axes->step[k] < (k > 0 ? axes->step[k - 1] + 1 : width))
            return TNI_OVERLAPS;
    int work = WORK;
    int64_t under = 0;
    term below[TN_MAX_NDIM];
    tni_overlap all = TNI_DISJOINT;
    for (int top = 0; top < axes->count; top++) {
        const int64_t step = axes->step[top], last = axes->last[top];
        if (step < width + under) {
            below[top] = (term){step, last - 1};
            const int used = last > 1 ? top + 1 : top;
            const int64_t target = under - step;
            int64_t reach;
            if (!reach_of(below, used, &reach))
                return TNI_UNDECIDED;
            const tni_overlap one =
                solve(below, used, reach, target - (width - 1), target + (width - 1), &work);
            if (one == TNI_OVERLAPS)
                return TNI_OVERLAPS;
            if (one == TNI_UNDECIDED)
                all = TNI_UNDECIDED;
        }
        below[top] = (term){step, 2 * last}; /* fits: another axis has at least 2 indices */
        under += step * last;
    }
    return all;
}

tn_status tni_check_injective(const tn_tensor *t, const char *call, const char *who)
{
    const int64_t width = tni_width(t->dtype);
    if (LIKELY(in_rows(t, width)))
        return TN_OK;
    sorted axes;
    sort_axes(&axes, t);
    const int64_t count = tni_numel(t);
    if (LIKELY(nests(&axes, width)) || count == 0)
        return TN_OK;
    int64_t low, high;
    tni_extent(t, &low, &high);
    const bool crowded = count * width > high - low;
    switch (crowded ? TNI_OVERLAPS : names_twice(&axes, width)) {
    case TNI_DISJOINT:
        return TN_OK;
    case TNI_OVERLAPS:
        return tni_fail(TN_ESTRIDE, "%s: two indices of %s share an element (self-overlap)",
                        call, who);
    default:
        return tni_fail(TN_ESTRIDE,
                        "%s: self-overlap of %s is undecided within the work limit; refused",
                        call, who);
    }
}

/* ---- overlap of two tensors ---- */

static bool put_axes(term *terms, int *count, const tn_tensor *t)
{
    for (int i = 0; i < t->ndim; i++) {
        if (t->shape[i] < 2 || t->stride[i] == 0)
            continue;
        const int64_t step = t->stride[i] < 0 ? -t->stride[i] : t->stride[i];
        if (!overlap_put(terms, count, step, t->shape[i] - 1))
            return false;
    }
    return true;
}

/* Count the axes of a from its lowest byte and those of b from its highest: the tensors share a
 * byte if a sum of steps, plus the offset of a byte within each element, equals the distance
 * between the two. */
static tni_overlap shares(const tn_tensor *a, const tn_tensor *b, int64_t distance)
{
    term terms[TERMS];
    int count = 0, work = WORK;
    int64_t reach;
    const tn_tensor *const both[] = {a, b};
    for (int k = 0; k < COUNT(both); k++)
        if (!put_axes(terms, &count, both[k]))
            return TNI_UNDECIDED;
    if (!reach_of(terms, count, &reach))
        return TNI_UNDECIDED;
    const int64_t bytes = tni_width(a->dtype) + tni_width(b->dtype) - 2;
    return solve(terms, count, reach, distance - bytes, distance, &work);
}

tni_overlap tni_find_overlap(const tn_tensor *dst, const tn_tensor *src, bool allow_alias)
{
    int64_t low, high, src_low, src_high;
    tni_shape_range(dst->ndim, dst->shape, dst->stride, tni_width(dst->dtype), &low, &high);
    tni_shape_range(src->ndim, src->shape, src->stride, tni_width(src->dtype), &src_low,
                    &src_high);
    const int64_t length = high - low, src_length = src_high - src_low;
    const uint64_t from = (uint64_t)(uintptr_t)dst->data + (uint64_t)low;
    const uint64_t src_from = (uint64_t)(uintptr_t)src->data + (uint64_t)src_low;
    if (LIKELY(src_from - from >= (uint64_t)length && from - src_from >= (uint64_t)src_length))
        return TNI_DISJOINT;
    if (length == 0 || src_length == 0 || (allow_alias && tni_same(dst, src)))
        return TNI_DISJOINT;
    int64_t distance;
    if (!tni_add((int64_t)(src_from - from), src_length - 1, &distance))
        return TNI_UNDECIDED;
    return shares(dst, src, distance);
}

tn_status tni_fail_overlap(tni_overlap found, const char *call, const char *dst,
                           const char *src)
{
    if (found == TNI_OVERLAPS)
        return tni_fail(TN_EOVERLAP, "%s: %s and %s share bytes", call, dst, src);
    return tni_fail(TN_EOVERLAP,
                    "%s: overlap of %s and %s is undecided within the work limit; refused",
                    call, dst, src);
}

tn_status tni_check_disjoint(const tn_tensor *dst, const tn_tensor *src, bool allow_alias,
                             const char *call, const char *const names[2])
{
    const tni_overlap found = tni_find_overlap(dst, src, allow_alias);
    if (LIKELY(found == TNI_DISJOINT))
        return TN_OK;
    return tni_fail_overlap(found, call, names ? names[0] : "dst", names ? names[1] : "src");
}
