/* view.h - where is element (i, j, k)?  Geometry of tensors, as integers only. */
#ifndef TNI_VIEW_H
#define TNI_VIEW_H

#include <tenon/tensor.h>

#include "core/core.h"

/* Check one descriptor in the order of the rules: NULL, ndim, device, dtype, extents, size.
 * who names call and operand: "rearrange: dst". */
tn_status tni_check(const tn_tensor *t, const char *who);

/* tni_check, and that t may be written: not TN_READONLY. */
tn_status tni_check_dst(const tn_tensor *t, const char *who);

/* Same ndim and extents: "rearrange: axis 2 has extents 6 and 5". */
tn_status tni_same_shape(const tn_tensor *a, const tn_tensor *b, const char *call);

/* TN_ENULL when t has elements and no data. */
tn_status tni_check_data(const tn_tensor *t, const char *who);

/* TN_ESTRIDE when t names a byte twice, or when that cannot be decided within the limit. */
tn_status tni_check_once(const tn_tensor *t, const char *who);

/* TN_EOVERLAP when dst and src share a byte (or that cannot be decided); with same_is_fine a
 * src that is exactly dst (data, dtype, shape, strides of axes longer than 1) passes. */
tn_status tni_check_apart(const tn_tensor *dst, const tn_tensor *src, bool same_is_fine,
                          const char *call);

/* Exactly the same elements at the same places: data, dtype, shape, strides where n > 1. */
bool tni_same(const tn_tensor *a, const tn_tensor *b);

/* Facts of a checked tensor; they cannot fail. */
int64_t tni_numel(const tn_tensor *t);
void tni_extent(const tn_tensor *t, int64_t *low, int64_t *high); /* empty: 0, 0 */

#endif
