/* contract.h - products summed over shared axes: matmul, gemm, einsum, on any layout.
 *
 * dst has the dtype T that the sources promote to.  If T is a float of 8 or 16 bits, dst may be
 * f32 (the unrounded sums); if T is an integer or bool, dst may be a wider integer that T
 * promotes to.
 *
 * f64, f32, c128 and c64 are computed in T; f8, f16 and bf16 in f32, with a single rounding
 * into dst at the end.  Integers are converted to dst's dtype first and wrap in it; bool is
 * "or" of "and".  |result - exact| is at most (k + 16) 2^-24 times the sum of the products'
 * magnitudes (2^-53 for f64 and c128; 3 times that for complex), plus one rounding into dst.
 * No product is skipped: 0 * inf is NaN.  On CPUs with AVX512_BF16 a subnormal bf16 counts as 0
 * in a product of two bf16 matrices.
 *
 * With the same library, BLAS, instruction set, shapes, strides and alignment of data to its
 * element, every run gives the same bits for every number of threads and every executor.  With
 * a BLAS that tn_blas reports as pthread or by its file name, they may depend on that library's
 * own threads.
 *
 * Failures of every call here; the first that applies is reported:
 *
 * TN_ENULL      a pointer is NULL
 * TN_EARG       n or an ndim is out of range, dst is TN_READONLY, or alpha or beta of a product
 *               of integers is not a whole number
 * TN_EFORMAT    the text is malformed (tn_error_column says where), or has not n terms
 * TN_EDEVICE
 * TN_EDTYPE     the sources do not promote, dst's dtype is not allowed, or tn_gemm of bool
 * TN_ESHAPE     axes or extents do not match
 * TN_EOVERFLOW  a size does not fit 64 bits
 * TN_ESTRIDE    two indices of dst share an element
 * TN_ENULL      data is NULL while there are elements
 * TN_EOVERLAP   dst shares a byte with a or b; or with c, unless c is exactly dst
 * TN_ENOMEM     no memory for the workspace of a call */
#ifndef TENON_CONTRACT_H
#define TENON_CONTRACT_H

#include <tenon/plan.h>

TN_BEGIN

enum { TN_EINSUM_SOURCES = 8 };

/* dst = a @ b by NumPy's rule: the sum runs over the last axis of a and the second-to-last axis
 * of b; a 1-d a is a row and a 1-d b a column, whose axis is missing from dst; axes before the
 * last two broadcast. */
TN_API TN_NODISCARD tn_status tn_matmul(const tn_tensor *dst, const tn_tensor *a,
                                        const tn_tensor *b);

/* The shape that dst of tn_matmul must have; shape holds up to TN_MAX_NDIM extents. */
TN_API TN_NODISCARD tn_status tn_matmul_shape(const tn_tensor *a, const tn_tensor *b, int *ndim,
                                              int64_t *shape);

/* dst = alpha * (a @ b) + beta * c, where a and b have two axes or more.
 *
 * c broadcasts to dst, and its dtype promotes to dst's; it may be exactly dst, and NULL means
 * dst.  c is not read if beta is 0; a and b are not read if alpha is 0. */
TN_API TN_NODISCARD tn_status tn_gemm(const tn_tensor *dst, double alpha, const tn_tensor *a,
                                      const tn_tensor *b, double beta, const tn_tensor *c);

/* dst = the product of n sources, summed over the names that are missing from the right side.
 *
 * spec is "ij, jk -> ik" (as in NumPy: each letter is an axis) or "b h q d, b h k d -> b h q k"
 * (names are words if two names of one term are separated by a blank).  A name that appears
 * twice in a term selects the diagonal; the extents of a name are equal, or 1, which
 * broadcasts.  "..." stands for any number of axes, aligned at the last one and broadcast.
 * Without "->" (letters only) the result has the letters that appear once, in alphabetical
 * order, capitals first.  spec has at most 4096 bytes.  n is in [1, TN_EINSUM_SOURCES]; more
 * than two sources are multiplied in the cheapest order. */
TN_API TN_NODISCARD tn_status tn_einsum(const tn_tensor *dst, const char *spec, int n,
                                        const tn_tensor *const *srcs);

/* The shape that dst of tn_einsum must have; shape holds up to TN_MAX_NDIM extents. */
TN_API TN_NODISCARD tn_status tn_einsum_shape(const char *spec, int n,
                                              const tn_tensor *const *srcs, int *ndim,
                                              int64_t *shape);

/* The same calls as plans; the tensors' data may be NULL.  The sources of a run are a, b and,
 * if beta is not 0, c (dst itself if c was NULL). */
TN_API TN_NODISCARD tn_status tn_plan_matmul(tn_plan **plan, const tn_tensor *dst,
                                             const tn_tensor *a, const tn_tensor *b);
TN_API TN_NODISCARD tn_status tn_plan_gemm(tn_plan **plan, const tn_tensor *dst, double alpha,
                                           const tn_tensor *a, const tn_tensor *b, double beta,
                                           const tn_tensor *c);
TN_API TN_NODISCARD tn_status tn_plan_einsum(tn_plan **plan, const tn_tensor *dst,
                                             const char *spec, int n,
                                             const tn_tensor *const *srcs);

/* Run a plan of tn_plan_gemm with another alpha and beta.  c is read if beta is not 0, in the
 * layout of the planned c, or in dst's if that was NULL or its beta was 0; NULL means dst.
 * With workspace NULL (and size 0) the workspace is taken from the allocator.
 *
 * TN_ENULL     plan or data is NULL
 * TN_EARG      plan is not a plan of a gemm; alpha or beta is not allowed; workspace is too
 *              small or not 64-byte aligned
 * TN_EOVERLAP  as in tn_gemm
 * TN_ENOMEM */
TN_API TN_NODISCARD tn_status tn_plan_gemm_run(const tn_plan *plan, void *dst, double alpha,
                                               const void *a, const void *b, double beta,
                                               const void *c, void *workspace, size_t size);

/* The BLAS that computes large products of floats: "openblas 0.3.21", followed by " pthread" or
 * " serial" if it is that flavour; the file name of an unknown BLAS; or "none".  It is loaded
 * when it is first needed; the environment variable TENON_BLAS names another file, or
 * "none". */
TN_API const char *tn_blas(void);

TN_END

#endif
