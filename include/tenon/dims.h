/* dims.h - dimension operations that move elements: squeeze, pad, joins, patterns, creation. */
#ifndef TENON_DIMS_H
#define TENON_DIMS_H

#include <tenon/move.h>

TN_BEGIN

TN_API TN_NODISCARD tn_status tn_full(tn_tensor *out, tn_dtype dtype, int ndim,
                                      const int64_t *shape, const void *value);
TN_API TN_NODISCARD tn_status tn_arange(const tn_tensor *dst, double start, double step);
TN_API TN_NODISCARD tn_status tn_randn(const tn_tensor *dst, uint64_t seed);
TN_API TN_NODISCARD tn_status tn_randint(const tn_tensor *dst, uint64_t seed, int64_t low,
                                         int64_t high);

TN_API TN_NODISCARD tn_status tn_unsqueeze_copy(tn_tensor *out, const tn_tensor *in, int dim);
TN_API TN_NODISCARD tn_status tn_unsqueeze_inplace(tn_tensor *t, int dim);
TN_API TN_NODISCARD tn_status tn_unsqueeze_into(const tn_tensor *dst, const tn_tensor *src);
TN_API TN_NODISCARD tn_status tn_squeeze_copy(tn_tensor *out, const tn_tensor *in, int dim);
TN_API TN_NODISCARD tn_status tn_squeeze_inplace(tn_tensor *t, int dim);
TN_API TN_NODISCARD tn_status tn_squeeze_into(const tn_tensor *dst, const tn_tensor *src);

typedef enum tn_pad_mode {
    TN_PAD_CONSTANT,
    TN_PAD_EDGE,
    TN_PAD_REFLECT,
    TN_PAD_SYMMETRIC,
    TN_PAD_WRAP
} tn_pad_mode;

TN_API TN_NODISCARD tn_status tn_pad_into(const tn_tensor *dst, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);
TN_API TN_NODISCARD tn_status tn_pad_copy(tn_tensor *out, const tn_tensor *src,
                                          const int64_t *before, const int64_t *after,
                                          tn_pad_mode mode, const void *value);
TN_API TN_NODISCARD tn_status tn_pad_hw_copy(tn_tensor *out, const tn_tensor *src,
                                             int64_t padding);
TN_API TN_NODISCARD tn_status tn_pad_hw_into(const tn_tensor *dst, const tn_tensor *src,
                                             int64_t padding);
TN_API TN_NODISCARD tn_status tn_pad_hw_inplace(tn_tensor *t, int64_t padding);

TN_API TN_NODISCARD tn_status tn_concat(const tn_tensor *dst, int dim, int n,
                                        const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_stack(const tn_tensor *dst, int dim, int n,
                                       const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_tile(const tn_tensor *dst, const tn_tensor *src,
                                      const int64_t *reps);
TN_API TN_NODISCARD tn_status tn_repeat(const tn_tensor *dst, const tn_tensor *src, int dim,
                                        int64_t reps);
TN_API TN_NODISCARD tn_status tn_roll(const tn_tensor *dst, const tn_tensor *src, int dim,
                                      int64_t shift);

TN_API TN_NODISCARD tn_status tn_pattern_shape(const char *pattern, const char *sizes,
                                               const tn_tensor *src, int *ndim, int64_t *shape);
TN_API TN_NODISCARD tn_status tn_pattern_view(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);
TN_API TN_NODISCARD tn_status tn_pattern_into(const tn_tensor *dst, const tn_tensor *src,
                                              const char *pattern, const char *sizes);
TN_API TN_NODISCARD tn_status tn_pattern_copy(tn_tensor *out, const tn_tensor *src,
                                              const char *pattern, const char *sizes);

TN_END

#endif
