/* pad_segments.c - divides an axis of a padded dst into segments that walk the source. */
#include "plan/plan.h"

/* i modulo n, never negative. */
static int64_t modulo(int64_t i, int64_t n)
{
    const int64_t r = i % n;
    return r < 0 ? r + n : r;
}

tni_segment tni_pad_segment(const tni_axis *a, tn_pad_mode mode, int64_t at)
{
    const int64_t n = a->held, i = at - a->before;
    const int64_t border = i < 0 ? -i : a->n - at; /* elements to the border's end */
    if (i >= 0 && i < n)
        return (tni_segment){.n = n - i, .from = i, .by = 1};
    if (mode == TN_PAD_CONSTANT)
        return (tni_segment){.value = true, .n = border};
    if (mode == TN_PAD_EDGE || n == 1)
        return (tni_segment){.n = border, .from = i < 0 ? 0 : n - 1, .by = 0};
    const int64_t back = mode == TN_PAD_REFLECT ? 2 * n - 2 : 2 * n - 1;
    const int64_t period = mode == TN_PAD_WRAP ? n : mode == TN_PAD_REFLECT ? back : 2 * n;
    const int64_t r = modulo(i, period);
    tni_segment run = {.n = n - r, .from = r, .by = 1};
    if (r >= n)
        run = (tni_segment){.n = period - r, .from = back - r, .by = -1};
    if (run.n > border)
        run.n = border;
    return run;
}
