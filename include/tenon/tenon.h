/* tenon.h - tensors on the CPU: views, copies, elementwise ops, reductions, contractions,
 * expressions and files, on any strides.
 *
 * A ten-line tour:
 *
 *     float x[2][3] = {{1, 2, 3}, {4, 5, 6}}, y[3][2];
 *     tn_tensor a, b, t;
 *     if (tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}) ||
 *         tn_init(&b, y, TN_F32, 2, (int64_t[]){3, 2}) ||
 *         tn_transpose(&t, &a, 0, 1) ||
 *         tn_rearrange(&b, &t))
 *         fprintf(stderr, "%s\n", tn_error());
 *
 * A tensor is a plain value that owns nothing; strides are in bytes.  Outputs come first.  A
 * call that fails has changed nothing, and tn_error() says in one sentence why.  The library
 * never prints, never exits, and starts no thread for small work. */
#ifndef TENON_H
#define TENON_H

#define TN_VERSION_MAJOR 0
#define TN_VERSION_MINOR 2
#define TN_VERSION_PATCH 0

#include <tenon/contract.h>
#include <tenon/copy.h>
#include <tenon/create.h>
#include <tenon/dlpack.h>
#include <tenon/dtype.h>
#include <tenon/expr.h>
#include <tenon/index.h>
#include <tenon/io.h>
#include <tenon/join.h>
#include <tenon/ops.h>
#include <tenon/pad.h>
#include <tenon/pattern.h>
#include <tenon/plan.h>
#include <tenon/reduce.h>
#include <tenon/rows.h>
#include <tenon/runtime.h>
#include <tenon/status.h>
#include <tenon/stream.h>
#include <tenon/tensor.h>

TN_BEGIN

/* The version of the library that is loaded, "0.2.0"; it may be newer than this header. */
TN_API const char *tn_version(void);

TN_END

#endif
