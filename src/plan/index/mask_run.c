/* mask_run.c - elements chosen by a mask, in row-major order. */
#include <string.h>

#include "plan/plan.h"
#include "view/view.h"

/* A walk of a mask and perhaps an operand of its shape, element by element. */
typedef struct mask_walk {
    tni_nest nest;
    tni_walk walk;
    const char *mask;
    char *other;
    tn_dtype dtype;
    bool empty;
} mask_walk;

static bool is_set(const char *p, tn_dtype dtype)
{
    static const char zero[16] = {0};
    const size_t width = (size_t)tni_width(dtype);
    const int kind = tni_dtypes[dtype].kind;
    if (kind != TNI_FLOAT && kind != TNI_COMPLEX)
        return memcmp(p, zero, width) != 0;
    char x[16];
    memcpy(x, p, width);
    const size_t part = kind == TNI_COMPLEX ? width / 2 : width;
    const uint16_t one = 1;
    const bool little = *(const char *)&one == 1;
    for (size_t i = 0; i < width; i += part) /* the sign of a zero does not count */
        x[i + (little ? part - 1 : 0)] &= 0x7f;
    return memcmp(x, zero, width) != 0;
}

static void mask_begin(mask_walk *m, const tn_tensor *mask, const tn_tensor *other)
{
    const tni_nest_rules rules = {.keep_order = true, .keep_signs = true};
    const tn_tensor *ts[2] = {mask, other};
    tni_nest_build(&m->nest, other ? 2 : 1, ts, &rules);
    m->empty = m->nest.empty;
    m->dtype = mask->dtype;
    if (m->empty)
        return;
    m->mask = (const char *)mask->data + m->nest.shift[0];
    m->other = other ? (char *)other->data + m->nest.shift[1] : NULL;
    tni_walk_seek(&m->walk, m->nest.axis, m->nest.ndim, m->nest.nop, 0);
}

static bool mask_here(const mask_walk *m)
{
    return is_set(m->mask + m->walk.offset[0], m->dtype);
}

static bool mask_next(mask_walk *m)
{
    return tni_walk_next(&m->walk) != m->nest.ndim;
}

int64_t tni_mask_count(const tn_tensor *mask)
{
    int64_t count = 0;
    tn_tensor dst, full = *mask;
    tni_fold f;
    if (tni_numel(mask) == 0 || tn_init(&dst, &count, TN_I64, 0, NULL) != TN_OK)
        return 0;
    for (int i = 0; i < full.ndim; i++)
        full.stride[i] = 0;
    full.dtype = TN_I64;
    const uint64_t all = mask->ndim == 64 ? UINT64_MAX : ((uint64_t)1 << mask->ndim) - 1;
    tni_fold_plan(&f, TN_REDUCE_COUNT_NONZERO, NULL, &full, mask, all);
    tni_fold_run(&f, (char *)&count, (const char *const[]){mask->data});
    return count;
}

void tni_mask_select(const tn_tensor *dst, const tn_tensor *src, const tn_tensor *mask)
{
    mask_walk m;
    mask_begin(&m, mask, src);
    const size_t width = (size_t)tni_width(src->dtype);
    char *d = dst->data;
    if (m.empty)
        return;
    do
        if (mask_here(&m)) {
            memcpy(d, m.other + m.walk.offset[1], width);
            d += dst->stride[0];
        }
    while (mask_next(&m));
}

void tni_mask_put(const tn_tensor *dst, const tn_tensor *mask, const tn_tensor *src)
{
    mask_walk m;
    mask_begin(&m, mask, dst);
    const size_t width = (size_t)tni_width(dst->dtype);
    const int64_t step = src->ndim ? src->stride[0] : 0;
    const char *s = src->data;
    if (m.empty)
        return;
    do
        if (mask_here(&m)) {
            memcpy(m.other + m.walk.offset[1], s, width);
            s += step;
        }
    while (mask_next(&m));
}

void tni_mask_indices(const tn_tensor *dst, const tn_tensor *src)
{
    tni_axis axes[TN_MAX_NDIM];
    tni_walk w;
    char *d = dst->data;
    if (tni_numel(src) == 0)
        return;
    for (int i = 0; i < src->ndim; i++)
        axes[i] = (tni_axis){.n = src->shape[i], .step = {src->stride[i]}};
    tni_walk_seek(&w, axes, src->ndim, 1, 0);
    do
        if (is_set((const char *)src->data + w.offset[0], src->dtype)) {
            for (int i = 0; i < src->ndim; i++)
                memcpy(d + i * dst->stride[1], &w.at[i], sizeof w.at[i]);
            d += dst->stride[0];
        }
    while (tni_walk_next(&w) < src->ndim);
}
