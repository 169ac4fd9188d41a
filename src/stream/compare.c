/* compare.c - the difference of two tensors, accumulated piece by piece.
 *
 * Strips of both are cast to f64.  Sums run over the elements in row-major order, so that they
 * do not depend on threads or on where a tensor is cut. */
#include <math.h>
#include <string.h>

#include <tenon/copy.h>

#include "stream.h"

enum { STRIP = 1024 }; /* elements: two strips of f64 and two of any dtype fit L1 */

typedef struct strips {
    double x[STRIP], y[STRIP];
    char a[STRIP * 16], b[STRIP * 16];
} strips;

static void add_element(double x, double y, double atol, double rtol, tn_difference *d)
{
    bool nan_x = isnan(x), nan_y = isnan(y);
    d->nan_a += nan_x && !nan_y;
    d->nan_b += nan_y && !nan_x;
    d->beyond += nan_x != nan_y;
    if (nan_x || nan_y)
        return;
    double gap = x == y ? 0 : fabs(x - y), size = fabs(y);
    d->sum_abs += gap;
    d->aa += x * x;
    d->bb += y * y;
    d->ab += x * y;
    d->beyond += gap > atol + rtol * size;
    if (size > 0 && gap / size > d->max_rel)
        d->max_rel = gap / size;
    if (gap > d->max_abs) {
        d->max_abs = gap;
        d->at = d->n;
    }
}

/* Add n elements of both tensors to the difference. */
static void add_strip(const strips *s, int64_t n, int64_t width, bool same_dtype, double atol,
                      double rtol, tn_difference *d)
{
    for (int64_t i = 0; i < n; i++, d->n++) {
        bool both_nan = isnan(s->x[i]) && isnan(s->y[i]);
        bool equal = same_dtype ? !memcmp(s->a + i * width, s->b + i * width, (size_t)width)
                                : s->x[i] == s->y[i] || both_nan;
        d->unequal += !equal;
        add_element(s->x[i], s->y[i], atol, rtol, d);
    }
}

/* View complex numbers as pairs of reals. */
static void split_complex(tn_tensor *t)
{
    if (!tni_is_complex(t->dtype))
        return;
    t->dtype = tni_real_of(t->dtype);
    t->shape[t->ndim] = 2;
    t->stride[t->ndim++] = tni_width(t->dtype);
}

/* Load a box of t, dense: as stored to raw and as f64 to out. */
static tn_status load_box(const tn_tensor *t, const tni_box *box, char *raw, double *out)
{
    tn_tensor v, dense, flat, wide;
    int64_t n = tni_shape_count(t->ndim, box->n);
    TRY(tn_view(&v, t, box->n, box->at, NULL, 0));
    TRY(tn_init(&dense, raw, t->dtype, t->ndim, box->n));
    TRY(tn_rearrange(&dense, &v));
    TRY(tn_init(&flat, raw, t->dtype, 1, &n));
    TRY(tn_init(&wide, out, TN_F64, 1, &n));
    return tn_cast(&wide, &flat);
}

static tn_status compare_boxes(const tn_tensor *a, const tn_tensor *b, double atol, double rtol,
                               tn_difference *d, strips *s)
{
    tni_boxes boxes;
    tni_box box;
    tni_boxes_cut(&boxes, a->ndim, a->shape, STRIP);
    for (int64_t i = 0; i < boxes.count; i++) {
        tni_boxes_get(&boxes, i, &box);
        int64_t n = tni_shape_count(a->ndim, box.n);
        ASSERT(n <= STRIP);
        TRY(load_box(a, &box, s->a, s->x));
        TRY(load_box(b, &box, s->b, s->y));
        add_strip(s, n, tni_width(a->dtype), a->dtype == b->dtype, atol, rtol, d);
    }
    return TN_OK;
}

/* View contiguous tensors as one axis. */
static tn_status flatten(tn_tensor *a, tn_tensor *b)
{
    int64_t n = tni_numel(a);
    if (!tn_is_contiguous(a) || !tn_is_contiguous(b))
        return TN_OK;
    TRY(tn_init(a, a->data, a->dtype, 1, &n));
    return tn_init(b, b->data, b->dtype, 1, &n);
}

tn_status tn_compare(const tn_tensor *a, const tn_tensor *b, double atol, double rtol,
                     tn_difference *d)
{
    if (!d)
        return tni_fail(TN_ENULL, "compare: d is NULL");
    TRY(tni_check(a, "compare: a"));
    TRY(tni_check(b, "compare: b"));
    TRY(tni_check_shape(b, a->ndim, a->shape, "compare", "b"));
    TRY(tni_check_data(a, "compare: a"));
    TRY(tni_check_data(b, "compare: b"));
    tn_tensor x = *a, y = *b;
    bool complex_a = tni_is_complex(a->dtype), complex_b = tni_is_complex(b->dtype);
    if (complex_a != complex_b || (complex_a && a->dtype != b->dtype) ||
        (complex_a && a->ndim == TN_MAX_NDIM))
        return tni_fail(TN_EARG, "compare: %s and %s cannot be compared",
                        tn_dtype_name(a->dtype), tn_dtype_name(b->dtype));
    split_complex(&x);
    split_complex(&y);
    strips *s = tni_alloc(sizeof *s);
    if (!s)
        return tni_fail(TN_ENOMEM, "compare: cannot allocate %zu bytes", sizeof *s);
    if (d->n == 0)
        d->at = -1;
    tn_status status = flatten(&x, &y);
    if (status == TN_OK)
        status = compare_boxes(&x, &y, atol, rtol, d, s);
    tni_free(s);
    return status;
}
