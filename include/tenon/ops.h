/* ops.h - elementwise ops on one, two or three tensors with NumPy broadcasting, casts, and
 * user-defined ops. */
#ifndef TENON_OPS_H
#define TENON_OPS_H

#include <tenon/tensor.h>

TN_BEGIN

/* The values are part of the ABI: new ops are added at the end.  The name of TN_HARD_SWISH is
 * "hard_swish", and so on. */
typedef enum tn_op {
    /* clang-format off */
    TN_ADD, TN_SUB, TN_MUL, TN_DIV, TN_FLOOR_DIVIDE, TN_REMAINDER, TN_FMOD, TN_POW,
    TN_FLOAT_POWER, TN_NEG, TN_ABS, TN_SIGN, TN_SQUARE, TN_SQRT, TN_RSQRT, TN_RECIPROCAL,
    TN_MIN, TN_MAX, TN_FMIN, TN_FMAX, TN_HYPOT, TN_COPYSIGN, TN_NEXTAFTER, TN_LDEXP,
    TN_FLOOR, TN_CEIL, TN_TRUNC, TN_ROUND,
    TN_EXP, TN_EXP2, TN_EXPM1, TN_LOG, TN_LOG2, TN_LOG10, TN_LOG1P, TN_LOGADDEXP,
    TN_LOGADDEXP2, TN_SIN, TN_COS, TN_TAN, TN_ASIN, TN_ACOS, TN_ATAN, TN_ATAN2,
    TN_SINH, TN_COSH, TN_TANH, TN_ASINH, TN_ACOSH, TN_ATANH, TN_ERF, TN_ERFC, TN_ERFINV,
    TN_LGAMMA, TN_DIGAMMA,
    TN_RELU, TN_RELU6, TN_LEAKY_RELU, TN_PRELU, TN_GELU, TN_GELU_TANH, TN_QUICK_GELU,
    TN_SILU, TN_SWIGLU, TN_SIGMOID, TN_HARD_SIGMOID, TN_HARD_SWISH, TN_HARD_TANH,
    TN_SOFTPLUS, TN_SOFTSIGN, TN_ELU, TN_SELU, TN_MISH, TN_TANHSHRINK,
    TN_EQ, TN_NE, TN_LT, TN_LE, TN_GT, TN_GE, TN_ISNAN, TN_ISINF, TN_ISFINITE, TN_SIGNBIT,
    TN_LOGICAL_AND, TN_LOGICAL_OR, TN_LOGICAL_XOR, TN_LOGICAL_NOT,
    TN_BIT_AND, TN_BIT_OR, TN_BIT_XOR, TN_BIT_NOT, TN_SHL, TN_SHR,
    TN_WHERE, TN_CLIP, TN_LERP, TN_ADDCMUL, TN_FMA, TN_TRUNC_DIVIDE,
    /* clang-format on */
} tn_op;

/* ---- facts ---- */

/* Look an op up by its name: "hard_swish".
 *
 * TN_ENULL  op or name is NULL
 * TN_EARG   no op has this name */
TN_API TN_NODISCARD tn_status tn_op_parse(tn_op *op, const char *name);

/* The name; NULL for an unknown op. */
TN_API const char *tn_op_name(tn_op op);

/* Number of tensors it takes: 1, 2 or 3; 0 for an unknown op. */
TN_API int tn_op_arity(tn_op op);

/* Number of scalar parameters (0 for most ops). */
TN_API int tn_op_params(tn_op op);

/* The dtype that dst must have for nin sources with these dtypes.
 *
 * Sources are promoted by tn_promote, and the result has the promoted dtype, with these
 * exceptions.  div of integers and bool is computed in f32 (bool, 8 and 16 bits) or f64 (wider)
 * and gives that dtype; trunc_divide is C's quotient of integers.  Functions of floats (exp,
 * sqrt, …) do not take integers.  Comparisons, isnan … signbit and the logical ops give bool;
 * abs of complex is real; float_power is computed in f64 and gives f64.  Logical ops and the
 * condition of where treat any dtype as "not zero"; ldexp takes a float and an exponent that is
 * i32, i64 or the same float.
 *
 * TN_ENULL   in or out is NULL
 * TN_EARG    op is unknown, or nin is not its arity
 * TN_EDTYPE  a dtype is unknown or not supported by the op, or the dtypes do not promote */
TN_API TN_NODISCARD tn_status tn_op_result(tn_op op, const tn_dtype *in, int nin,
                                           tn_dtype *out);

/* ---- work ---- */

/* dst[i…] = op(a[i…], …), each source broadcast to dst's shape by NumPy's rule.
 *
 * Operands may have any strides; dst may be exactly one of the sources.  f8, f16 and bf16 are
 * computed in f32 and rounded once (pow of f16 and bf16 in f64; nextafter steps through their
 * own values).  Integers wrap; their floor_divide, trunc_divide, remainder and fmod by 0 are 0;
 * floor_divide and remainder have Python's signs; min and max propagate NaN, fmin and fmax
 * ignore it.  A computed NaN is the positive quiet one without payload (where copies the
 * element that it selects).  The bits do not depend on the number of threads or, for
 * arithmetic, on the instruction set.
 *
 * Functions of f32 and f64 are accurate to 1 ulp (erfc 1.5), composed ones to 4 and 8 ulp, and
 * to 1 ulp of 1.0 near their zeros.  Far below 0, digamma is a difference of large numbers and
 * is accurate to a few ulps of those.  Functions of complex numbers are those of C, with Annex
 * G's special values; c64 is computed in c128 and each part is rounded once; round, isnan,
 * isinf and isfinite apply to both parts; sign is x / |x|.
 *
 * TN_ENULL     a pointer is NULL, or an operand with elements has no data
 * TN_EARG      op is unknown or has another arity; dst is TN_READONLY
 * TN_EDTYPE    the op does not support the dtypes; dst's dtype is not that of tn_op_result
 * TN_ESHAPE    a source does not broadcast to dst's shape
 * TN_ESTRIDE   two indices of dst share a byte
 * TN_EOVERLAP  dst shares bytes with a source that is not exactly dst */
TN_API TN_NODISCARD tn_status tn_unary(tn_op op, const tn_tensor *dst, const tn_tensor *a);
TN_API TN_NODISCARD tn_status tn_binary(tn_op op, const tn_tensor *dst, const tn_tensor *a,
                                        const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_ternary(tn_op op, const tn_tensor *dst, const tn_tensor *a,
                                         const tn_tensor *b, const tn_tensor *c);

/* The same for any op, with scalar parameters; params NULL means the defaults: leaky_relu
 * {slope 0.01}, elu {alpha 1}, hard_tanh {-1, 1}, softplus {beta 1, threshold 20},
 * hard_sigmoid {1/6, 0.5}, addcmul {value 1}.  clip (x, low, high), lerp (a, b, weight), prelu
 * (x, weight) and where (condition, a, b) take tensors; a 0-d tensor is a scalar. */
TN_API TN_NODISCARD tn_status tn_apply(tn_op op, const double *params, const tn_tensor *dst,
                                       int nsrc, const tn_tensor *const *srcs);

/* tn_binary of TN_ADD, TN_SUB, TN_MUL and TN_DIV. */
TN_API TN_NODISCARD tn_status tn_add(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_sub(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_mul(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_div(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);

/* tn_apply into a new dense tensor with tn_op_result's dtype and the shape that the sources
 * broadcast to.  Release it with tn_free.  out may be one of the sources.
 *
 *     tn_apply_copy(&y, TN_MUL, NULL, 2, (const tn_tensor *[]){&x, TN_SCALAR_F32(0.5f)})
 *
 * The failures are those of tn_apply, and
 *
 * TN_ENULL      out is NULL
 * TN_ESHAPE     the sources do not broadcast to one shape
 * TN_EOVERFLOW  the size of the result does not fit in int64
 * TN_ENOMEM     the allocator returned NULL */
TN_API TN_NODISCARD tn_status tn_apply_copy(tn_tensor *out, tn_op op, const double *params,
                                            int nsrc, const tn_tensor *const *srcs);

/* Convert every element of src to dst's dtype, in one pass.
 *
 * Shapes are equal; either side may have any strides.  Between equal dtypes it copies, as
 * tn_rearrange does.  Float to integer truncates; NaN becomes 0 and values out of range
 * saturate.  Integer to integer keeps the low bits.  A conversion to bool is "not zero"; bool
 * converts to 0 or 1.  A conversion to a float rounds once, to nearest even; overflow gives
 * infinity (f8e4m3: NaN).  Complex to real drops the imaginary part.
 *
 * TN_ESHAPE    shapes differ
 * TN_ESTRIDE   two indices of dst share a byte
 * TN_EOVERLAP  dst and src share a byte */
TN_API TN_NODISCARD tn_status tn_cast(const tn_tensor *dst, const tn_tensor *src);

/* A user-defined op.  fn is called on 1-d strips of n >= 1 elements, by several threads at once
 * and in any order; steps are in bytes, of any sign, 0 for a broadcast source; no alignment is
 * guaranteed.  Pointers may refer to packed copies of a tile.  fn writes all n elements of dst
 * and reads none of them. */
typedef void (*tn_strip_fn)(void *user, int64_t n, void *dst, int64_t dst_step,
                            const void *const *src, const int64_t *src_step);

/* Call fn on strips that together cover each element of dst once.
 *
 * Up to 8 sources are broadcast to dst's shape; dtypes are neither converted nor checked.
 *
 * TN_EARG  nsrc is not in [0, 8]; the other failures are those of tn_apply */
TN_API TN_NODISCARD tn_status tn_map(tn_strip_fn fn, void *user, const tn_tensor *dst, int nsrc,
                                     const tn_tensor *const *srcs);

TN_END

#endif
