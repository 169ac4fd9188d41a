/* facts.c - properties of a tensor: counts, contiguity, byte range, the address of an element.
 *
 * For an invalid tensor a public function returns 0, false or NULL and sets the error
 * sentence. */
#include "view.h"

static bool checked(const tn_tensor *t, const char *who)
{
    return tni_check_given(t, who) == TN_OK && tni_check_sound(t, who) == TN_OK;
}

int64_t tni_numel(const tn_tensor *t)
{
    return tni_shape_count(t->ndim, t->shape);
}

void tni_extent(const tn_tensor *t, int64_t *low, int64_t *high)
{
    tni_shape_range(t->ndim, t->shape, t->stride, tni_width(t->dtype), low, high);
}

bool tni_same(const tn_tensor *a, const tn_tensor *b)
{
    if (a->data != b->data || a->dtype != b->dtype || a->ndim != b->ndim)
        return false;
    for (int i = 0; i < a->ndim; i++)
        if (a->shape[i] != b->shape[i] || (a->shape[i] > 1 && a->stride[i] != b->stride[i]))
            return false;
    return true;
}

int64_t tn_numel(const tn_tensor *t)
{
    return checked(t, "numel: t") ? tni_numel(t) : 0;
}

int64_t tn_nbytes(const tn_tensor *t)
{
    return checked(t, "nbytes: t") ? tni_numel(t) * tni_width(t->dtype) : 0;
}

bool tn_is_contiguous(const tn_tensor *t)
{
    if (!checked(t, "is_contiguous: t"))
        return false;
    if (tni_numel(t) == 0)
        return true;
    int64_t step = tni_width(t->dtype);
    for (int i = t->ndim - 1; i >= 0; i--) {
        if (t->shape[i] == 1)
            continue;
        if (t->stride[i] != step)
            return false;
        step *= t->shape[i];
    }
    return true;
}

bool tn_has_broadcast(const tn_tensor *t)
{
    if (!checked(t, "has_broadcast: t"))
        return false;
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] > 1 && t->stride[i] == 0)
            return true;
    return false;
}

bool tn_is_mergeable(const tn_tensor *t, int first, int last)
{
    if (tni_check_given(t, "is_mergeable: t") != TN_OK)
        return false;
    if (first < 0 || last >= t->ndim || first > last) {
        (void)tni_fail(TN_EARG, "is_mergeable: axes %d to %d are out of range [0, %d)", first,
                       last, t->ndim);
        return false;
    }
    if (tni_check_sound(t, "is_mergeable: t") != TN_OK)
        return false;
    return tni_numel(t) == 0 ||
           tni_shape_merges(last - first + 1, t->shape + first, t->stride + first);
}

tn_status tn_extent(const tn_tensor *t, int64_t *low, int64_t *high)
{
    if (t && (!low || !high))
        return tni_fail(TN_ENULL, "extent: %s is NULL", low ? "high" : "low");
    TRY(tni_check_given(t, "extent: t"));
    TRY(tni_check_sound(t, "extent: t"));
    tni_extent(t, low, high);
    return TN_OK;
}

void *tn_at(const tn_tensor *t, const int64_t *index)
{
    if (!checked(t, "at: t"))
        return NULL;
    if (!index && t->ndim > 0) {
        (void)tni_fail(TN_ENULL, "at: index is NULL, expected %d entries", t->ndim);
        return NULL;
    }
    int64_t offset = 0;
    for (int i = 0; i < t->ndim; i++) {
        if (index[i] < 0 || index[i] >= t->shape[i]) {
            (void)tni_fail(TN_EARG, "at: index %lld of axis %d is out of range [0, %lld)",
                           (long long)index[i], i, (long long)t->shape[i]);
            return NULL;
        }
        if (index[i] > 0)
            offset += index[i] * t->stride[i];
    }
    return tni_offset(t->data, offset);
}
