/* view.h - where is element (i, j, k)?  Geometry of tensors, as integers only.
 *
 * No function of this room reads or writes an element. */
#ifndef TNI_VIEW_H
#define TNI_VIEW_H

#include <tenon/tensor.h>

#include "core/core.h"

/* ---- checks of a descriptor (check.c), in the order in which failures are told ---- */

/* NULL, ndim, device, dtype, extents, size.  who names call and operand: "rearrange: dst". */
tn_status tni_check(const tn_tensor *t, const char *who);

/* tni_check, and that t may be written: not TN_READONLY (told like a bad ndim). */
tn_status tni_check_dst(const tn_tensor *t, const char *who);

/* The same in two halves, without the device, for views and facts: between them the call checks
 * its own axes and numbers.  The first tells NULL and ndim, the second dtype, extents, size. */
tn_status tni_check_given(const tn_tensor *t, const char *who);
tn_status tni_check_sound(const tn_tensor *t, const char *who);

/* tni_check_given for the two tensors of a view: out, then in; and 0 <= dim < ndim. */
tn_status tni_check_pair(const tn_tensor *out, const tn_tensor *in, const char *call);
tn_status tni_check_axis(int dim, int ndim, const char *call);

/* A call with several operands tells the first rule that any of them breaks, operands from left
 * to right within a rule.  Between the rules the call puts checks of its own: NULL arguments
 * after TNI_NULL, axes and counts after TNI_NDIM, dtypes that do not fit after TNI_DTYPE,
 * shapes that do not fit after TNI_SHAPE.
 *
 *     TRY(tni_check_all(TNI_NULL | TNI_NDIM, "concat", dst, n, srcs));
 *     if (dim < 0 || dim >= dst->ndim) ...
 *     TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, "concat", dst, n, srcs)); ...
 *
 * The sentence calls the operands "dst", and "src" or "src 0", "src 1", …; dst is one that the
 * call writes.  n < 0 is no operands.  With every rule and sound operands it is one quick pass.
 */
enum {
    TNI_NULL = 1,   /* no pointer is NULL: dst, srcs, srcs[k] */
    TNI_NDIM = 2,   /* 0 <= ndim <= TN_MAX_NDIM; dst is not TN_READONLY */
    TNI_DEVICE = 4, /* device is TN_CPU */
    TNI_DTYPE = 8,  /* dtype is known */
    TNI_SHAPE = 16, /* no extent is negative */
    TNI_SIZE = 32,  /* size and byte range fit */
    TNI_EVERY = 63,
};
tn_status tni_check_all(unsigned rules, const char *call, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs);

/* The same of a call that has no dst. */
tn_status tni_check_srcs(unsigned rules, const char *call, int n, const tn_tensor *const *srcs);

/* Same ndim and extents: "rearrange: axis 2 has extents 6 and 5". */
tn_status tni_same_shape(const tn_tensor *a, const tn_tensor *b, const char *call);

/* TN_ENULL when t has elements and no data. */
tn_status tni_check_data(const tn_tensor *t, const char *who);

/* ---- shared bytes (overlap.c); operands are checked ones ---- */

/* TN_ESTRIDE when t names a byte twice, or when that cannot be decided within the limit. */
tn_status tni_check_once(const tn_tensor *t, const char *who);

/* TN_EOVERLAP when dst and src share a byte (or that cannot be decided); with same_is_fine a
 * src that is exactly dst (data, dtype, shape, strides of axes longer than 1) passes. */
tn_status tni_check_apart(const tn_tensor *dst, const tn_tensor *src, bool same_is_fine,
                          const char *call);

/* Exactly the same elements at the same places: data, dtype, shape, strides where n > 1. */
bool tni_same(const tn_tensor *a, const tn_tensor *b);

/* ---- facts of a checked tensor; they cannot fail ---- */

int64_t tni_numel(const tn_tensor *t);
void tni_extent(const tn_tensor *t, int64_t *low, int64_t *high); /* empty: 0, 0 */

/* Everything of in but its axes. */
static inline void tni_inherit(tn_tensor *out, const tn_tensor *in, void *data, int ndim)
{
    out->data = data;
    out->dtype = in->dtype;
    out->ndim = ndim;
    out->device = in->device;
    out->flags = in->flags;
}

/* in without axis dim, at data; all else stays. */
void tni_drop_axis(tn_tensor *out, const tn_tensor *in, int dim, void *data);

/* data moved by offset bytes; NULL stays NULL. */
static inline void *tni_move(void *data, int64_t offset)
{
    return data ? (void *)((uintptr_t)data + (uintptr_t)offset) : NULL;
}

/* ---- arithmetic of extents and strides (shape.c); no extent is negative ---- */

/* width times the product of all extents that are not 0; false: does not fit. */
bool tni_shape_size(int ndim, const int64_t *shape, int64_t width, int64_t *size);

/* width plus the sum of (n - 1) * |stride|: the length of the byte range; false: does not fit.
 */
bool tni_shape_reach(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *reach);

/* Both of them fit. */
bool tni_shape_fits(int ndim, const int64_t *shape, const int64_t *stride, int64_t width);

/* Row-major strides, number of elements, byte range [low, high) around element (0, …, 0), of a
 * shape whose size and reach fit.  Nothing of an empty one is in range: 0, 0. */
void tni_shape_dense(int ndim, const int64_t *shape, int64_t width, int64_t *stride);
int64_t tni_shape_count(int ndim, const int64_t *shape);
bool tni_shape_merges(int ndim, const int64_t *shape, const int64_t *stride); /* as one axis */
void tni_shape_range(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *low, int64_t *high);

#endif
