/* contract.h - products summed over shared axes: matmul, gemm, einsum, on any layout.
 *
 * dst has the dtype T that the sources promote to; or f32 where T is a float of 8 or 16 bits (the
 * sums as they are); or a wider integer dtype that T promotes to, where T is an integer or bool.
 *
 * f64, f32, c128, c64 are computed in T; f8, f16, bf16 in f32, from the first product to the
 * one rounding into dst; integers wrap as dst's dtype does, the sources converted to it first;
 * bool is "or" of "and".  |got - exact| is at most (k + 16) 2^-24 times the sum of the products'
 * magnitudes (2^-53 for f64 and c128; 3 times that for complex), and one rounding into dst.
 * Every product is made: 0 * inf is NaN.  On CPUs with AVX512_BF16 a subnormal bf16 counts as 0
 * in a product of two bf16 matrices.
 *
 * The same library, BLAS, instruction set, shapes, strides and alignment of data to its element
 * give the same bits on every run, for every number of threads and every executor; with a BLAS
 * that tn_blas names as pthread or by its file, bits may depend on that library's own threads.
 *
 * Failures of every call here, the first that applies:
 *
 * TN_ENULL      a pointer is NULL
 * TN_EARG       n or an ndim is out of range, dst is TN_READONLY, alpha or beta of integers is not a whole number
 * TN_EFORMAT    the text (tn_error_column says where), or its number of terms
 * TN_EDEVICE
 * TN_EDTYPE     the sources have no common dtype, dst does not fit them, tn_gemm of bool
 * TN_ESHAPE     axes or extents do not fit
 * TN_EOVERFLOW  a size does not fit 64 bits
 * TN_ESTRIDE    two indices of dst share an element
 * TN_ENULL      data is NULL while there are elements
 * TN_EOVERLAP   dst shares a byte with a or b; or with c, unless c is exactly dst
 * TN_ENOMEM     no memory for what a call needs beside its operands */
#ifndef TENON_CONTRACT_H
#define TENON_CONTRACT_H

#include <tenon/plan.h>

TN_BEGIN

enum { TN_EINSUM_SOURCES = 8 };

/* dst = a @ b by NumPy's rule: the last axis of a is summed with the one before last of b; an
 * operand of one axis is a row (a) or a column (b) that dst does not have; axes before the last
 * two broadcast. */
TN_API TN_NODISCARD tn_status tn_matmul(const tn_tensor *dst, const tn_tensor *a,
                                        const tn_tensor *b);

/* The shape that dst of tn_matmul must have; shape holds up to TN_MAX_NDIM extents. */
TN_API TN_NODISCARD tn_status tn_matmul_shape(const tn_tensor *a, const tn_tensor *b, int *ndim,
                                              int64_t *shape);

/* dst = alpha * (a @ b) + beta * c, with a and b of two axes or more.
 *
 * c broadcasts to dst, and its dtype promotes to dst's; it may be exactly dst, which NULL means.
 * c is not read when beta is 0, a and b are not read when alpha is 0. */
TN_API TN_NODISCARD tn_status tn_gemm(const tn_tensor *dst, double alpha, const tn_tensor *a,
                                      const tn_tensor *b, double beta, const tn_tensor *c);

/* dst = the products of n sources, summed over the names that the right side lacks.
 *
 * "ij, jk -> ik" (NumPy: each letter is an axis) or "b h q d, b h k d -> b h q k" (names are
 * words where two names of one term have a blank between them).  A name twice in a term is a
 * diagonal; extents of a name are equal, or 1, which repeats.  "..." is any number of axes,
 * aligned at their ends and broadcast.  Without "->" (letters only) the result has the letters
 * that come once, in alphabetical order, capitals first.  spec has at most 4096 bytes.  n is in
 * [1, TN_EINSUM_SOURCES]; more than two sources are multiplied in the order that costs least. */
TN_API TN_NODISCARD tn_status tn_einsum(const tn_tensor *dst, const char *spec, int n,
                                        const tn_tensor *const *srcs);

/* The shape that dst of tn_einsum must have; shape holds up to TN_MAX_NDIM extents. */
TN_API TN_NODISCARD tn_status tn_einsum_shape(const char *spec, int n,
                                              const tn_tensor *const *srcs, int *ndim,
                                              int64_t *shape);

/* Plans of the same; data pointers of the tensors may be NULL.  The sources of a run are a, b
 * and, when beta is not 0, c (dst itself where c was NULL). */
TN_API TN_NODISCARD tn_status tn_plan_matmul(tn_plan **plan, const tn_tensor *dst,
                                             const tn_tensor *a, const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_plan_gemm(tn_plan **plan, const tn_tensor *dst, double alpha,
                                           const tn_tensor *a, const tn_tensor *b, double beta,
                                           const tn_tensor *c);
TN_API TN_NODISCARD tn_status tn_plan_einsum(tn_plan **plan, const tn_tensor *dst,
                                             const char *spec, int n,
                                             const tn_tensor *const *srcs);

/* Run a plan of tn_plan_gemm with other numbers.  c is read when beta is not 0: in the layout
 * of the c that was planned, dst's where that was NULL or beta was 0; NULL is dst.  workspace
 * NULL (then size is 0) is taken from the allocator.
 *
 * TN_ENULL     plan or data is NULL
 * TN_EARG      plan is not one of a gemm; alpha, beta; workspace small or not 64-byte aligned
 * TN_EOVERLAP  as in tn_gemm
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_plan_gemm_run(const tn_plan *plan, void *dst, double alpha,
                                               const void *a, const void *b, double beta,
                                               const void *c, void *workspace, size_t size);

/* The BLAS that large products of floats go to: "openblas 0.3.21", followed by " pthread" or
 * " serial" where it is that flavour; the file's name of a BLAS that is not known; "none".  It is
 * looked for when it is first wanted; TENON_BLAS in the environment names another file, or
 * "none". */
TN_API const char *tn_blas(void);

TN_END

#endif
