/* pad_axes.c - a pad in normal form: axes by falling steps of dst, neighbours merged; and the
 * runs of which an axis of dst is made.
 *
 * Reversing an axis exchanges its two borders and changes nothing else: every mode is
 * symmetric.
 */
#include "plan/plan.h"

static bool outside(const tni_pad_axis *a, const tni_pad_axis *b)
{
    if (a->d_step != b->d_step)
        return a->d_step > b->d_step;
    return tni_magnitude(a->step) > tni_magnitude(b->step);
}

static void insert(tni_pad *p, const tni_pad_axis *a)
{
    int i = p->ndim++;
    for (; i > 0 && outside(a, &p->axis[i - 1]); i--)
        p->axis[i] = p->axis[i - 1];
    p->axis[i] = *a;
}

/* Whether inner, which has no borders, can be walked as a part of outer; a border of the value
 * is one also when it is counted in smaller places. */
static bool walk_as_one(const tni_pad *p, const tni_pad_axis *outer, const tni_pad_axis *inner)
{
    int64_t d_end, end;
    if (inner->total != inner->n || !tni_mul(inner->n, inner->d_step, &d_end) ||
        outer->d_step != d_end)
        return false;
    const bool goes_on = tni_mul(inner->n, inner->step, &end) && outer->step == end;
    if (outer->total != outer->n)
        return p->mode == TN_PAD_CONSTANT && (outer->n == 1 || goes_on);
    return goes_on;
}

static void merge(tni_pad *p)
{
    int kept = 0;
    for (int i = 1; i < p->ndim; i++) {
        tni_pad_axis *outer = &p->axis[kept], *inner = &p->axis[i];
        if (walk_as_one(p, outer, inner)) {
            outer->total *= inner->n;
            outer->before *= inner->n;
            outer->n *= inner->n;
            outer->d_step = inner->d_step;
            outer->step = inner->step;
        } else {
            p->axis[++kept] = *inner;
        }
    }
    if (p->ndim > 0)
        p->ndim = kept + 1;
}

void tni_pad_axes(tni_pad *p, const tn_tensor *dst, const tn_tensor *src, const int64_t *before)
{
    p->d_shift = p->shift = 0;
    p->ndim = 0;
    for (int i = 0; i < dst->ndim; i++) {
        tni_pad_axis a = {dst->shape[i], src->shape[i], before[i], dst->stride[i],
                          src->stride[i]};
        if (a.total == 1)
            continue;
        if (a.n == 1)
            a.step = 0;
        if (a.d_step < 0) {
            p->d_shift += (a.total - 1) * a.d_step;
            p->shift += (a.n - 1) * a.step;
            a.before = a.total - a.n - a.before;
            a.d_step = -a.d_step;
            a.step = -a.step;
        }
        insert(p, &a);
    }
    merge(p);
}

/* i modulo n, never negative. */
static int64_t modulo(int64_t i, int64_t n)
{
    const int64_t r = i % n;
    return r < 0 ? r + n : r;
}

tni_run tni_pad_run_at(const tni_pad_axis *a, tn_pad_mode mode, int64_t at)
{
    const int64_t n = a->n, i = at - a->before;
    const int64_t border = i < 0 ? -i : a->total - at; /* places to its end */
    if (i >= 0 && i < n)
        return (tni_run){.n = n - i, .from = i, .by = 1};
    if (mode == TN_PAD_CONSTANT)
        return (tni_run){.value = true, .n = border};
    if (mode == TN_PAD_EDGE || n == 1)
        return (tni_run){.n = border, .from = i < 0 ? 0 : n - 1, .by = 0};
    const int64_t back = mode == TN_PAD_REFLECT ? 2 * n - 2 : 2 * n - 1;
    const int64_t period = mode == TN_PAD_WRAP ? n : mode == TN_PAD_REFLECT ? back : 2 * n;
    const int64_t r = modulo(i, period);
    tni_run run = {.n = n - r, .from = r, .by = 1};
    if (r >= n)
        run = (tni_run){.n = period - r, .from = back - r, .by = -1};
    if (run.n > border)
        run.n = border;
    return run;
}
