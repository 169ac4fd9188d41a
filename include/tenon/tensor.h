/* tensor.h - the tensor, its properties and its views.
 *
 * Views and properties are arithmetic on shapes and strides: they never read or write an
 * element, never allocate, and accept tensors whose data is NULL.  Only tn_print reads
 * elements.
 *
 * Shared failures, checked in this order:
 *
 * TN_ENULL      a pointer is NULL; shape, stride, axes and pads may be NULL when they have
 *               no entries
 * TN_EARG       ndim is not in [0, TN_MAX_NDIM], or the tensor has no such axis
 * TN_EDTYPE     a dtype is unknown
 * TN_ESHAPE     an extent is negative
 * TN_EOVERFLOW  the product of all non-zero extents and the width of an element, or the byte
 *               range that the strides span, does not fit in int64
 *
 * A call that fails has changed nothing. */
#ifndef TENON_TENSOR_H
#define TENON_TENSOR_H

#include <tenon/dtype.h>

TN_BEGIN

#define TN_MAX_NDIM 64

typedef enum tn_device { TN_CPU = 0 } tn_device;

#define TN_READONLY 1u /* the data must not be written: a mapped file, a const array */

/* A tensor is a plain value that owns nothing.  Only the first ndim entries of shape and stride
 * are significant; the stride of an axis with extent 0 or 1 is not.
 *
 * sizeof(tn_tensor) is 1,048 bytes.  The library reads and writes only the first ndim entries,
 * so views stay cheap.  A table of thousands of tensors should store dtype, ndim and extents,
 * and call tn_init when a tensor is used. */
typedef struct tn_tensor {
    void *data; /* element (0, …, 0) */
    tn_dtype dtype;
    int ndim;
    int32_t device; /* TN_CPU; else TN_EDEVICE in every call that touches elements */
    uint32_t flags; /* 0 or TN_READONLY (as dst: TN_EARG); views inherit both */
    int64_t shape[TN_MAX_NDIM];  /* >= 0 */
    int64_t stride[TN_MAX_NDIM]; /* bytes; 0 repeats, < 0 reverses */
} tn_tensor;

/* ---- making ---- */

/* Describe dense row-major memory at data; data may be NULL. */
TN_API TN_NODISCARD tn_status tn_init(tn_tensor *t, void *data, tn_dtype dtype, int ndim,
                                      const int64_t *shape);

/* Describe memory of any layout; strides are in bytes, of any sign and alignment. */
TN_API TN_NODISCARD tn_status tn_init_strided(tn_tensor *t, void *data, tn_dtype dtype,
                                              int ndim, const int64_t *shape,
                                              const int64_t *stride);

/* Describe memory that must not be written: the tensor is TN_READONLY.  stride NULL means
 * row-major. */
TN_API TN_NODISCARD tn_status tn_init_const(tn_tensor *t, const void *data, tn_dtype dtype,
                                            int ndim, const int64_t *shape,
                                            const int64_t *stride);

/* Allocate a dense row-major tensor with the calling thread's handle: 64-byte aligned, contents
 * undefined; a tensor without elements gets a block too.  Release it with tn_free.
 *
 * TN_ENOMEM  the allocator returned NULL */
TN_API TN_NODISCARD tn_status tn_alloc(tn_tensor *t, tn_dtype dtype, int ndim,
                                       const int64_t *shape);

/* Release t->data, as tn_alloc or a *_copy call returned it (not the data of a view), on any
 * thread and under any handle, and set it to NULL.  NULL and NULL data are fine. */
TN_API void tn_free(tn_tensor *t);

/* One number as an operand: a const tn_tensor * without axes, TN_READONLY.  The number is
 * converted to the dtype as by a C assignment.  It lives as long as the enclosing block, as
 * every compound literal does:
 *
 *     tn_mul(&y, &x, TN_SCALAR_F32(0.5f))
 *
 * In C++ it is tn::scalar(0.5f), in tenon.hpp. */
#ifndef __cplusplus
#define TN_SCALAR_BOOL(x) TN_SCALAR_OF(bool, TN_BOOL, x)
#define TN_SCALAR_I8(x)   TN_SCALAR_OF(int8_t, TN_I8, x)
#define TN_SCALAR_I16(x)  TN_SCALAR_OF(int16_t, TN_I16, x)
#define TN_SCALAR_I32(x)  TN_SCALAR_OF(int32_t, TN_I32, x)
#define TN_SCALAR_I64(x)  TN_SCALAR_OF(int64_t, TN_I64, x)
#define TN_SCALAR_U8(x)   TN_SCALAR_OF(uint8_t, TN_U8, x)
#define TN_SCALAR_U16(x)  TN_SCALAR_OF(uint16_t, TN_U16, x)
#define TN_SCALAR_U32(x)  TN_SCALAR_OF(uint32_t, TN_U32, x)
#define TN_SCALAR_U64(x)  TN_SCALAR_OF(uint64_t, TN_U64, x)
#define TN_SCALAR_F32(x)  TN_SCALAR_OF(float, TN_F32, x)
#define TN_SCALAR_F64(x)  TN_SCALAR_OF(double, TN_F64, x)
#define TN_SCALAR_OF(type, name, x)                                                            \
    ((const tn_tensor *)&(tn_tensor){                                                          \
        .data = (type[1]){(x)}, .dtype = (name), .device = TN_CPU, .flags = TN_READONLY})
#endif

/* ---- properties; on an invalid tensor they return 0, false or NULL and set tn_error() ---- */

/* The number of elements; 1 if ndim is 0. */
TN_API int64_t tn_numel(const tn_tensor *t);

/* tn_numel times the size of an element, in bytes. */
TN_API int64_t tn_nbytes(const tn_tensor *t);

/* True if the elements are dense and in row-major order, or there are none. */
TN_API bool tn_is_contiguous(const tn_tensor *t);

/* True if an axis longer than 1 has stride 0. */
TN_API bool tn_has_broadcast(const tn_tensor *t);

/* True if axes first..last (inclusive) can be merged into one axis; always true of an empty
 * tensor.  False unless 0 <= first <= last < ndim. */
TN_API bool tn_is_mergeable(const tn_tensor *t, int first, int last);

/* The byte range [*low, *high), relative to data, that the elements span; 0, 0 if there are
 * none. */
TN_API TN_NODISCARD tn_status tn_extent(const tn_tensor *t, int64_t *low, int64_t *high);

/* The address of the element at index (ndim numbers); NULL if the index is out of range or
 * data is NULL. */
TN_API void *tn_at(const tn_tensor *t, const int64_t *index);

/* Write the elements as text: nested brackets, one row per line, aligned columns, floats with
 * the fewest digits that identify them (at most 8), "..." in place of the middle of a long
 * axis.  The text is truncated to size bytes and always ends with a 0; tn_print_size returns
 * the bytes that the whole text needs.
 *
 * TN_ENULL    t or buf is NULL, or t has elements and no data
 * TN_EARG     size is 0
 * TN_EDEVICE  t is not on the CPU */
TN_API TN_NODISCARD tn_status tn_print(const tn_tensor *t, char *buf, size_t size);

/* The bytes that the whole text of tn_print needs, including its 0; 0 if t cannot be
 * printed. */
TN_API size_t tn_print_size(const tn_tensor *t);

/* The shape that n tensors broadcast to by NumPy's rule; shape holds up to TN_MAX_NDIM entries.
 * If n is 0, it has no axes.
 *
 * TN_EARG    n is negative
 * TN_ESHAPE  two extents of an axis differ and neither is 1 */
TN_API TN_NODISCARD tn_status tn_broadcast_shape(int n, const tn_tensor *const *ts, int *ndim,
                                                 int64_t *shape);

/* ---- geometry without a tensor ---- */

/* The byte offset of element number flat in row-major order.
 *
 * TN_EARG       flat is not in [0, number of elements)
 * TN_EOVERFLOW  the number of elements or the offset exceeds 2^63 - 1 */
TN_API TN_NODISCARD tn_status tn_index_to_offset(int64_t flat, int ndim, const int64_t *shape,
                                                 const int64_t *stride, int64_t *offset);

/* The shape with pads[i - 2] on both sides of each axis i >= 2.  Axes 0 and 1 (batch and
 * channel) are never padded; an NHWC shape (1, 32, 32, 3) with pads {1, 1} therefore grows to
 * (1, 32, 34, 5), not to (1, 34, 34, 3).  out has ndim entries and may be shape.
 *
 * TN_EARG       a pad is negative
 * TN_EOVERFLOW  a padded extent exceeds 2^63 - 1 */
TN_API TN_NODISCARD tn_status tn_padded_shape(int ndim, const int64_t *shape,
                                              const int64_t *pads, int64_t *out);

/* The number of elements of tn_padded_shape's result. */
TN_API TN_NODISCARD tn_status tn_padded_size(int ndim, const int64_t *shape,
                                             const int64_t *pads, int64_t *count);

/* ---- views: out describes elements of in; out may be in ----
 *
 * out inherits dtype, device and flags; NULL data stays NULL, and a view without elements keeps
 * in's data.  A view costs nanoseconds, so chains of views are cheap. */

/* Insert an axis of extent 1 before axis dim, or at the end for dim == ndim.
 *
 * TN_EARG  dim is not in [0, ndim], or in has TN_MAX_NDIM axes */
TN_API TN_NODISCARD tn_status tn_unsqueeze(tn_tensor *out, const tn_tensor *in, int dim);

/* Drop axis dim, whose extent is 1.
 *
 * TN_ESHAPE  the extent is not 1 */
TN_API TN_NODISCARD tn_status tn_squeeze(tn_tensor *out, const tn_tensor *in, int dim);

/* Drop every axis of extent 1. */
TN_API TN_NODISCARD tn_status tn_squeeze_all(tn_tensor *out, const tn_tensor *in);

/* Reorder: axis i of out is axis axes[i] of in, as in NumPy.
 *
 * TN_EARG  an entry of axes is not an axis of in, or appears twice */
TN_API TN_NODISCARD tn_status tn_permute(tn_tensor *out, const tn_tensor *in, const int *axes);

/* Swap axes a and b, which may be the same. */
TN_API TN_NODISCARD tn_status tn_transpose(tn_tensor *out, const tn_tensor *in, int a, int b);

/* in[start:stop:step] on axis dim with Python's rules: negative bounds count from the end, then
 * all are clamped.  With a negative step, a stop of INT64_MIN includes element 0.
 *
 * TN_EARG  step is 0 */
TN_API TN_NODISCARD tn_status tn_slice(tn_tensor *out, const tn_tensor *in, int dim,
                                       int64_t start, int64_t stop, int64_t step);

/* in[text] with Python's grammar: "[0, ::2, 2:8, ..., None]", with or without the brackets.  An
 * integer drops its axis, None inserts an axis of extent 1, and axes that are not mentioned are
 * kept.  Numbers are decimal, with an optional sign and with underscores as in Python; None may
 * stand for a bound.  Unlike in Python, leading zeros are accepted and Ellipsis, newaxis and
 * np.newaxis are recognised; there are no expressions, lists, masks or other bases.
 *
 * TN_EFORMAT  syntax error
 * TN_EARG     an index out of range
 * TN_ESHAPE   more axes than in has, or more than TN_MAX_NDIM in the result */
TN_API TN_NODISCARD tn_status tn_slice_text(tn_tensor *out, const tn_tensor *in,
                                            const char *text);

/* The elements at one index of axis dim; the axis is dropped.
 *
 * TN_EARG  index is not in [0, shape[dim]) */
TN_API TN_NODISCARD tn_status tn_select(tn_tensor *out, const tn_tensor *in, int dim,
                                        int64_t index);

/* Slice and drop axes in one step: the window of shape at offset (both have ndim entries),
 * without the axes in drop_dims, in any order.  Element (0, …) of out is the element of in at
 * offset; the remaining axes keep their strides.  An empty window may begin at the end of its
 * axis.  num_drop_dims 0 drops none.
 *
 * TN_EARG    an offset is negative, the window exceeds its axis, an entry of drop_dims is not
 *            an axis of in or appears twice, num_drop_dims is not in [0, ndim]
 * TN_ESHAPE  the extent of a dropped axis is not 1 */
TN_API TN_NODISCARD tn_status tn_view(tn_tensor *out, const tn_tensor *in, const int64_t *shape,
                                      const int64_t *offset, const int *drop_dims,
                                      int num_drop_dims);

/* Repeat in along new first axes and along axes of extent 1, by stride 0.
 *
 * TN_ESHAPE  in has more axes than ndim, or an extent differs and is not 1 */
TN_API TN_NODISCARD tn_status tn_broadcast_to(tn_tensor *out, const tn_tensor *in, int ndim,
                                              const int64_t *shape);

/* The same elements in the same row-major order with another shape, if strides can express it;
 * otherwise make a copy first (tn_contiguous).  One extent may be -1 and is inferred.  An empty
 * tensor can be given any empty shape.
 *
 * TN_ESHAPE   shape has another number of elements; -1 twice; -1 together with an extent of 0
 * TN_ESTRIDE  strides cannot express the result */
TN_API TN_NODISCARD tn_status tn_reshape(tn_tensor *out, const tn_tensor *in, int ndim,
                                         const int64_t *shape);

/* Reverse axis dim. */
TN_API TN_NODISCARD tn_status tn_flip(tn_tensor *out, const tn_tensor *in, int dim);

/* The elements whose indices on axes a and b are equal.  Both axes are dropped; the diagonal,
 * as long as the shorter one, becomes the last axis.
 *
 * TN_EARG  a == b */
TN_API TN_NODISCARD tn_status tn_diagonal(tn_tensor *out, const tn_tensor *in, int a, int b);

/* Sliding windows of size elements along axis dim, one every step elements: axis dim of out
 * indexes the windows, the new last axis the elements inside a window.  Windows overlap if step
 * < size.
 *
 * TN_EARG    size is negative, step is less than 1, or in has TN_MAX_NDIM axes
 * TN_ESHAPE  size exceeds the extent */
TN_API TN_NODISCARD tn_status tn_windows(tn_tensor *out, const tn_tensor *in, int dim,
                                         int64_t size, int64_t step);

TN_END

#endif
