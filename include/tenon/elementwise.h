/* elementwise.h - one number from one, two or three: ops with NumPy broadcasting to dst's
 * shape. */
#ifndef TENON_ELEMENTWISE_H
#define TENON_ELEMENTWISE_H

#include <tenon/tensor.h>

TN_BEGIN

/* The numbers are part of the ABI: new ops go at the end.  The name of TN_HARD_SWISH is
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
    TN_WHERE, TN_CLIP, TN_LERP, TN_ADDCMUL, TN_FMA,
    /* clang-format on */
} tn_op;

TN_API TN_NODISCARD tn_status tn_op_parse(tn_op *op, const char *name);
TN_API const char *tn_op_name(tn_op op);
TN_API int tn_op_arity(tn_op op);
TN_API int tn_op_params(tn_op op);
TN_API TN_NODISCARD tn_status tn_op_result(tn_op op, const tn_dtype *in, int nin,
                                           tn_dtype *out);

TN_API TN_NODISCARD tn_status tn_unary(tn_op op, const tn_tensor *dst, const tn_tensor *a);
TN_API TN_NODISCARD tn_status tn_binary(tn_op op, const tn_tensor *dst, const tn_tensor *a,
                                        const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_ternary(tn_op op, const tn_tensor *dst, const tn_tensor *a,
                                         const tn_tensor *b, const tn_tensor *c);
TN_API TN_NODISCARD tn_status tn_apply(tn_op op, const double *params, const tn_tensor *dst,
                                       int nsrc, const tn_tensor *const *srcs);
TN_API TN_NODISCARD tn_status tn_add(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_sub(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_mul(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_div(const tn_tensor *dst, const tn_tensor *a,
                                     const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_cast(const tn_tensor *dst, const tn_tensor *src);

typedef void (*tn_strip_fn)(void *user, int64_t n, void *dst, int64_t dst_step,
                            const void *const *src, const int64_t *src_step);
TN_API TN_NODISCARD tn_status tn_map(tn_strip_fn fn, void *user, const tn_tensor *dst, int nsrc,
                                     const tn_tensor *const *srcs);

TN_END

#endif
