/* einsum.h - an einsum: its text parsed to labels, the labels fitted to tensors, and what its
 * calls share with matmul and gemm. */
#ifndef TNI_EINSUM_H
#define TNI_EINSUM_H

#include <tenon/contract.h>

#include "plan/plan.h"

enum { TNI_EINSUM_TEXT = 4096, TNI_EINSUM_NAMES = 8 * TN_MAX_NDIM };

/* One term: the numbers of its names, in order. */
typedef struct tni_einsum_term {
    int n;               /* number of names, not counting "..." */
    int ellipsis;        /* number of names before "..."; -1: there is no "..." */
    int at[TN_MAX_NDIM]; /* offset of each name in the text */
    int16_t name[TN_MAX_NDIM];
} tni_einsum_term;

typedef struct tni_einsum {
    const char *text;
    int nsrc, nname;
    struct {
        int at, len; /* first occurrence in the text */
    } name[TNI_EINSUM_NAMES];
    tni_einsum_term term[1 + TN_EINSUM_SOURCES]; /* the right side first */
} tni_einsum;

/* Parse a text for n sources.  TN_EFORMAT, with the column. */
tn_status tni_einsum_parse(tni_einsum *e, const char *call, const char *text, int n);

/* The label of axis i of a term on a tensor with ndim axes (einsum_fit.c). */
int tni_einsum_label(const tni_einsum *e, const tni_einsum_term *t, int ndim, int i);

/* Fit the terms to the sources: find the extent of every label, the steps of every source, and
 * the shape of the result.
 *
 * TN_ESHAPE  axes or extents do not fit */
tn_status tni_einsum_fit(tni_contraction *x, const tni_einsum *e, const char *call,
                         const tn_tensor *const *srcs, int *ndim, int64_t *shape);

/* ---- dtypes (contract_types.c) ---- */

/* Find the compute type for sources and dst.  TN_EDTYPE */
tn_status tni_contract_types(tn_dtype *compute, const char *call, tn_dtype dst, int n,
                             const tn_tensor *const *srcs);

/* Run a chain with a workspace from the allocator.  TN_ENOMEM */
tn_status tni_contract_run(const char *call, const tni_chain *c, char *dst,
                           const char *const *srcs);

#endif
