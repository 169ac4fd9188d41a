/* count_run.c - searching a sorted sequence, counting elements, groups of equal ones. */
#include <math.h>
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* ---- visiting every element of one or two operands, row-major ---- */

typedef struct visit {
    tni_nest nest;
    tni_walk walk;
    char *at[2];
} visit;

static bool visit_begin(visit *v, int n, const tn_tensor *const *ts)
{
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    tni_nest_build(&v->nest, n, ts, &rules);
    if (v->nest.empty)
        return false;
    for (int k = 0; k < n; k++)
        v->at[k] = (char *)ts[k]->data + v->nest.shift[k];
    tni_walk_seek(&v->walk, v->nest.axis, v->nest.ndim, n, 0);
    return true;
}

static char *visit_at(const visit *v, int k)
{
    return v->at[k] + v->walk.offset[k];
}

static bool visit_next(visit *v)
{
    return tni_walk_next(&v->walk) != v->nest.ndim;
}

void tni_search_run(const tn_tensor *dst, const tn_tensor *sorted, const tn_tensor *values,
                    bool or_equal)
{
    visit v;
    const tn_tensor *ts[2] = {dst, values};
    if (!visit_begin(&v, 2, ts))
        return;
    do {
        const uint64_t key = tni_order_key(values->dtype, visit_at(&v, 1), false);
        int64_t low = 0, high = sorted->shape[0];
        while (low < high) {
            const int64_t mid = low + (high - low) / 2;
            const char *x = (const char *)sorted->data + mid * sorted->stride[0];
            const uint64_t here = tni_order_key(sorted->dtype, x, false);
            if (here < key || (or_equal && here == key))
                low = mid + 1;
            else
                high = mid;
        }
        memcpy(visit_at(&v, 0), &low, sizeof low);
    } while (visit_next(&v));
}

/* ---- counting ---- */

int64_t tni_count_outside(const tn_tensor *src, int64_t n)
{
    visit v;
    int64_t i = 0;
    if (!visit_begin(&v, 1, &src))
        return -1;
    do {
        const int64_t x = tni_index_at(visit_at(&v, 0), src->dtype);
        if (x < 0 || x >= n)
            return i;
        i++;
    } while (visit_next(&v));
    return -1;
}

static void clear(const tn_tensor *dst)
{
    for (int64_t i = 0; i < dst->shape[0]; i++)
        memset((char *)dst->data + i * dst->stride[0], 0, sizeof(int64_t));
}

static void count_one(const tn_tensor *dst, int64_t bin)
{
    char *p = (char *)dst->data + bin * dst->stride[0];
    int64_t n;
    memcpy(&n, p, sizeof n);
    n++;
    memcpy(p, &n, sizeof n);
}

void tni_bincount_run(const tn_tensor *dst, const tn_tensor *src)
{
    visit v;
    clear(dst);
    if (!visit_begin(&v, 1, &src))
        return;
    do
        count_one(dst, tni_index_at(visit_at(&v, 0), src->dtype));
    while (visit_next(&v));
}

/* Elements that are converted at once: three buffers of 4 KiB stay in L1. */
enum { HIST_PIECE = 512 };

void tni_histogram_run(const tn_tensor *dst, const tn_tensor *src, double low, double high)
{
    visit v;
    const int isa = tni_isa_level();
    const int64_t bins = dst->shape[0], width = tni_width(src->dtype);
    const double by = (double)bins / (high - low);
    char raw[HIST_PIECE * 8], between[HIST_PIECE * 8];
    double x[HIST_PIECE];
    const tni_cast cast = tni_cast_chain(isa, src->dtype, TN_F64);
    clear(dst);
    if (!visit_begin(&v, 1, &src))
        return;
    for (bool more = true; more;) {
        int64_t n = 0;
        for (; n < HIST_PIECE && more; n++) {
            memcpy(raw + n * width, visit_at(&v, 0), (size_t)width);
            more = visit_next(&v);
        }
        const char *from = raw;
        for (int i = 0; i < cast.steps; i++) {
            char *to = i == cast.steps - 1 ? (char *)x : between;
            cast.fn[i](to, from, n, 0, false);
            from = to;
        }
        if (cast.steps == 0)
            memcpy(x, raw, (size_t)n * sizeof *x);
        for (int64_t i = 0; i < n; i++)
            if (x[i] >= low && x[i] <= high) {
                const double bin = trunc((x[i] - low) * by);
                count_one(dst, bin < (double)bins ? (int64_t)bin : bins - 1);
            }
    }
}

/* ---- groups ---- */

/* Does element i of a sorted sequence begin a group?  A complex NaN has a part that is NaN. */
static bool begins(const char *x, tn_dtype dtype, int64_t i, bool each)
{
    const bool pair = tni_is_complex(dtype);
    const tn_dtype part = !pair ? dtype : dtype == TN_C64 ? TN_F32 : TN_F64;
    const int64_t width = tni_width(part), parts = pair ? 2 : 1;
    const uint64_t most = width == 8 ? UINT64_MAX : ((uint64_t)1 << 8 * width) - 1;
    const bool real = tni_is_float(part);
    bool differs = i == 0, nan = false, was = false;
    for (int64_t k = 0; k < parts && i > 0; k++) {
        const uint64_t a = tni_order_key(part, x + ((i - 1) * parts + k) * width, false);
        const uint64_t b = tni_order_key(part, x + (i * parts + k) * width, false);
        differs |= a != b;
        was |= real && a == most;
        nan |= real && b == most;
    }
    return was && nan ? each : differs;
}

int64_t tni_group_count(const char *x, tn_dtype dtype, int64_t n, bool each)
{
    int64_t groups = 0;
    for (int64_t i = 0; i < n; i++)
        groups += begins(x, dtype, i, each);
    return groups;
}

void tni_group_fill(const char *x, tn_dtype dtype, int64_t n, bool each, const int64_t *at,
                    char *values, int64_t *first, int64_t *inverse, int64_t *counts)
{
    const int64_t width = tni_width(dtype);
    int64_t g = -1;
    for (int64_t i = 0; i < n; i++) {
        if (begins(x, dtype, i, each)) {
            g++;
            memcpy(values + g * width, x + i * width, (size_t)width);
            if (first)
                first[g] = at[i];
            if (counts)
                counts[g] = 0;
        }
        if (inverse)
            inverse[at[i]] = g;
        if (counts)
            counts[g]++;
    }
}
