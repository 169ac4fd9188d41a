/* contract_chain.h - a contraction of several tensors as a chain of products.
 *
 * Labels are the axes of the whole contraction, by number.  A term has no label twice (a
 * diagonal is one step), and none of extent 1. */
#ifndef TNI_CONTRACT_CHAIN_H
#define TNI_CONTRACT_CHAIN_H

#include "contract_plan.h"

enum { TNI_LABELS = 9 * TN_MAX_NDIM, TNI_LINKS = 2 * TN_EINSUM_SOURCES - 1 };

typedef struct tni_term {
    int count;
    tn_dtype dtype;
    int16_t label[TN_MAX_NDIM];
    int64_t step[TN_MAX_NDIM];
} tni_term;

typedef struct tni_contraction {
    int nsrc, nlabel;
    tn_dtype compute;
    int64_t extent[TNI_LABELS];
    tni_term term[1 + TN_EINSUM_SOURCES]; /* dst first */
} tni_contraction;

/* Where a side of a product comes from. */
enum { TNI_FROM_SOURCE, TNI_FROM_LINK = 16, TNI_FROM_DST = 64, TNI_FROM_ONE, TNI_FROM_NOWHERE };

typedef struct tni_link {
    int from[TNI_SIDES]; /* a source, TNI_FROM_LINK + the number of a link, … */
    size_t at;           /* offset of its result in the workspace, unless that is dst */
    tni_product_plan plan;
} tni_link;

typedef struct tni_chain {
    int n;
    tni_link *link;
    size_t results;   /* bytes of all intermediate results; the links' own workspace follows */
    size_t workspace; /* of the whole chain */
} tni_chain;

/* The number of links of a contraction: one less than sources, and one for each source with
 * summed labels that no other source has. */
int tni_chain_length(const tni_contraction *x);

/* Plan a contraction into c->link, which has space for all links; false if the size of an
 * intermediate result does not fit 64 bits. */
bool tni_chain_plan(tni_chain *c, const tni_contraction *x);

/* Plan a chain of the single product in c->link[0]. */
void tni_chain_plan_one(tni_chain *c);

void tni_chain_run(const tni_chain *c, char *dst, const char *const *srcs, char *workspace);

/* Run the single product of a gemm with other factors; srcs are a, b and c, which is read
 * unless beta is 0. */
void tni_chain_run_gemm(const tni_chain *c, char *dst, const char *const *srcs, double alpha,
                        double beta, char *workspace);

/* The order of the products: for each set of two or more sources (a bit each), one half of the
 * split that costs the fewest flops, then the fewest elements of results. */
typedef struct tni_order {
    uint8_t left[1 << TN_EINSUM_SOURCES];
} tni_order;
typedef struct tni_labels {
    uint64_t word[TNI_LABELS / 64];
} tni_labels;
void tni_order_search(tni_order *o, const tni_contraction *x, const tni_labels *of);

/* The labels that the product of a set of sources keeps. */
tni_labels tni_labels_of_set(const tni_contraction *x, const tni_labels *of, unsigned set);

static inline bool tni_labels_has(const tni_labels *l, int label)
{
    return l->word[label / 64] >> label % 64 & 1;
}

/* ---- as a public plan (contract_handle.c) ---- */

/* Allocate the plan of a chain of `length` links whose call is "einsum", "matmul" or "gemm";
 * *chain is its chain, to be planned next.  NULL if there is no memory. */
tn_plan *tni_contract_new(tni_chain **chain, const char *call, int length, const char *text,
                          int nsrc, const tn_tensor *dst, const tn_tensor *const *srcs);

/* Complete the plan when its chain has been planned. */
void tni_contract_ready(tn_plan *plan);

/* Fill way, why, gemm lines, flops, workspace and threads (contract_facts.c). */
void tni_contract_describe(const tni_chain *c, tn_facts *f);

/* The chain of a plan that is a gemm, else NULL. */
const tni_chain *tni_contract_gemm(const tn_plan *plan);

#endif
