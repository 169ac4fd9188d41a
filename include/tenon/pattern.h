/* pattern.h - axes by name: rearranging, splitting, merging and repeating by an einops pattern.
 *
 * The rules at the head of copy.h hold. */
#ifndef TENON_PATTERN_H
#define TENON_PATTERN_H

#include <tenon/copy.h>

TN_BEGIN

/* einops patterns: "b (h p) w c -> b c h (w p)" with sizes "p=2".
 *
 * The left side names src's dimensions, the right side those of the result.  Names are
 * separated by spaces; a name consists of letters, digits and '_', begins with a letter and
 * does not end with '_'.  A group in ( ) is one dimension made of several axes, the last one
 * fastest; within a group on the left, one axis may lack a size, which is then inferred.  1 or
 * () is a dimension of extent 1.  "..." stands for any number of dimensions, at most once per
 * side, and on the right also inside a group.  An axis that appears only on the right repeats:
 * a number, or a name whose size is given.  "-h" on the left reverses an axis.  sizes is
 * "name=number" pairs separated by spaces, or NULL or ""; a size that could be inferred is
 * checked.  Either text has at most 1024 characters.
 *
 * TN_EFORMAT    syntax error; the message gives the column, counted from 1
 * TN_EARG       the result has more than TN_MAX_NDIM axes
 * TN_ESHAPE     the pattern does not fit src
 * TN_EOVERFLOW  a number, or the size of the result, exceeds 2^63 - 1 */

/* The shape of the result; shape holds up to TN_MAX_NDIM entries.  Reads no element. */
TN_API TN_NODISCARD tn_status tn_pattern_shape(const char *pattern, const char *sizes,
                                               const tn_tensor *src, int *ndim, int64_t *shape);

/* The result as a view; repeated axes have stride 0.  out may be src.
 *
 * TN_ESTRIDE  strides cannot express the merged axes; a copy can */
TN_API TN_NODISCARD tn_status tn_pattern_view(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

/* The result as a copy in dst, in one pass.
 *
 * TN_EDTYPE  dtypes differ
 * TN_ESHAPE  dst's shape is not that of the result */
TN_API TN_NODISCARD tn_status tn_pattern_into(const tn_tensor *dst, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

/* The result as a new tensor. */
TN_API TN_NODISCARD tn_status tn_pattern_copy(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

TN_END

#endif
