/* tensor.h - the tensor, its facts and its views.  No call here reads or writes an element. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <tenon/dtype.h>

TN_BEGIN

#define TN_MAX_NDIM 64

typedef enum tn_device { TN_CPU = 0 } tn_device;

#define TN_READONLY 1u /* the data must not be written: a mapped file, a const array */

/* A tensor is a plain value that owns nothing.  Strides are in bytes; 0 repeats, < 0 reverses.
 */
typedef struct tn_tensor {
    void *data; /* element (0, …, 0) */
    tn_dtype dtype;
    int ndim;
    int32_t
        device; /* TN_CPU; another value is TN_EDEVICE in every call that touches elements */
    uint32_t flags; /* 0 or TN_READONLY (as dst: TN_EARG); views inherit both */
    int64_t shape[TN_MAX_NDIM];
    int64_t stride[TN_MAX_NDIM];
} tn_tensor;

TN_API TN_NODISCARD tn_status tn_init(tn_tensor *t, void *data, tn_dtype dtype, int ndim,
                                      const int64_t *shape);
TN_API TN_NODISCARD tn_status tn_init_strided(tn_tensor *t, void *data, tn_dtype dtype,
                                              int ndim, const int64_t *shape,
                                              const int64_t *stride);
TN_API TN_NODISCARD tn_status tn_init_const(tn_tensor *t, const void *data, tn_dtype dtype,
                                            int ndim, const int64_t *shape,
                                            const int64_t *stride);
TN_API TN_NODISCARD tn_status tn_alloc(tn_tensor *t, tn_dtype dtype, int ndim,
                                       const int64_t *shape);
TN_API void tn_free(tn_tensor *t);
TN_API int64_t tn_numel(const tn_tensor *t);
TN_API int64_t tn_nbytes(const tn_tensor *t);
TN_API bool tn_is_contiguous(const tn_tensor *t);
TN_API bool tn_has_broadcast(const tn_tensor *t);
TN_API bool tn_is_mergeable(const tn_tensor *t, int first, int last);
TN_API TN_NODISCARD tn_status tn_extent(const tn_tensor *t, int64_t *low, int64_t *high);
TN_API TN_NODISCARD tn_status tn_print(const tn_tensor *t, char *buf, size_t size);
TN_API void *tn_at(const tn_tensor *t, const int64_t *index);
TN_API TN_NODISCARD tn_status tn_broadcast_shape(int n, const tn_tensor *const *ts, int *ndim,
                                                 int64_t *shape);

TN_API TN_NODISCARD tn_status tn_index_to_offset(int64_t flat, int ndim, const int64_t *shape,
                                                 const int64_t *stride, int64_t *offset);
TN_API TN_NODISCARD tn_status tn_padded_shape(int ndim, const int64_t *shape,
                                              const int64_t *pads, int64_t *out);
TN_API TN_NODISCARD tn_status tn_padded_size(int ndim, const int64_t *shape,
                                             const int64_t *pads, int64_t *count);

TN_API TN_NODISCARD tn_status tn_unsqueeze(tn_tensor *out, const tn_tensor *in, int dim);
TN_API TN_NODISCARD tn_status tn_squeeze(tn_tensor *out, const tn_tensor *in, int dim);
TN_API TN_NODISCARD tn_status tn_squeeze_all(tn_tensor *out, const tn_tensor *in);
TN_API TN_NODISCARD tn_status tn_permute(tn_tensor *out, const tn_tensor *in, const int *axes);
TN_API TN_NODISCARD tn_status tn_transpose(tn_tensor *out, const tn_tensor *in, int a, int b);
TN_API TN_NODISCARD tn_status tn_slice(tn_tensor *out, const tn_tensor *in, int dim,
                                       int64_t start, int64_t stop, int64_t step);
TN_API TN_NODISCARD tn_status tn_select(tn_tensor *out, const tn_tensor *in, int dim,
                                        int64_t index);
TN_API TN_NODISCARD tn_status tn_view(tn_tensor *out, const tn_tensor *in, const int64_t *shape,
                                      const int64_t *offset, const int *drop_dims,
                                      int num_drop_dims);
TN_API TN_NODISCARD tn_status tn_broadcast_to(tn_tensor *out, const tn_tensor *in, int ndim,
                                              const int64_t *shape);
TN_API TN_NODISCARD tn_status tn_reshape(tn_tensor *out, const tn_tensor *in, int ndim,
                                         const int64_t *shape);
TN_API TN_NODISCARD tn_status tn_flip(tn_tensor *out, const tn_tensor *in, int dim);
TN_API TN_NODISCARD tn_status tn_diagonal(tn_tensor *out, const tn_tensor *in, int a, int b);
TN_API TN_NODISCARD tn_status tn_windows(tn_tensor *out, const tn_tensor *in, int dim,
                                         int64_t size, int64_t step);

TN_END

#endif
