/* einsum.h - the text of an einsum as labels, fitted to tensors; and what its calls share with
 * matmul and gemm. */
#ifndef TNI_EINSUM_H
#define TNI_EINSUM_H

#include <tenon/contract.h>

#include "plan/plan.h"

enum { TNI_EINSUM_TEXT = 4096, TNI_EINSUM_NAMES = 8 * TN_MAX_NDIM };

/* One term: its names by number, in order. */
typedef struct tni_einsum_term {
    int n;               /* names, without "..." */
    int ellipsis;        /* how many names stand before "..."; -1: there is none */
    int at[TN_MAX_NDIM]; /* where a name stands in the text, from 0 */
    int16_t name[TN_MAX_NDIM];
} tni_einsum_term;

typedef struct tni_einsum {
    const char *text;
    int nsrc, nname;
    struct {
        int at, len; /* where it first stands */
    } name[TNI_EINSUM_NAMES];
    tni_einsum_term term[1 + TN_EINSUM_SOURCES]; /* the right side first */
} tni_einsum;

/* Read a text for n sources.  TN_EFORMAT, with the column. */
tn_status tni_einsum_parse(tni_einsum *e, const char *call, const char *text, int n);

/* The label of axis i of a term on a tensor with ndim axes (einsum_fit.c). */
int tni_einsum_label(const tni_einsum *e, const tni_einsum_term *t, int ndim, int i);

/* Fit it to the sources: every label's extent, every source's steps, and the result's shape.
 *
 * TN_ESHAPE  axes or extents do not fit */
tn_status tni_einsum_fit(tni_contraction *x, const tni_einsum *e, const char *call,
                         const tn_tensor *const *srcs, int *ndim, int64_t *shape);

/* ---- dtypes (contract_types.c) ---- */

/* The compute type of sources and dst.  TN_EDTYPE */
tn_status tni_contract_types(tn_dtype *compute, const char *call, tn_dtype dst, int n,
                             const tn_tensor *const *srcs);

/* Run a chain in a workspace from the allocator.  TN_ENOMEM */
tn_status tni_contract_run(const char *call, const tni_chain *c, char *dst,
                           const char *const *srcs);

#endif
