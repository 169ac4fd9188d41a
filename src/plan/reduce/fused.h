/* fused.h - plans of fused reductions: a program computes the values of each sequence, which
 * are reduced block by block as in fold.h, and a second program computes dst from the results.
 *
 * All reductions of a plan are over the same axes.  The values of a block stay in a buffer in
 * the cache.  The tree is that of fold.h, so fusing changes no bit. */
#ifndef TNI_FUSED_H
#define TNI_FUSED_H

#include "plan/reduce/fold.h"
#include "plan/strip/strips.h"

/* Sizes of the buffers of a part, which are on its stack; not measured finely. */
enum {
    /* bytes of the values of a block, 128 KiB: eight values of f64 for each element */
    TNI_FUSED_BYTES = 64 * TNI_TREE_BLOCK,
    /* bytes of the sources that are gathered at once: an L1 of 32 KiB, and a block of c128 */
    TNI_FUSED_GATHER = 16 * TNI_TREE_BLOCK,
    /* results that are computed at once: 16 bytes for each of TNI_MAX_RESULTS terms fill the
     * buffer of values */
    TNI_FUSED_BATCH = 512
};

/* One of the reductions. */
typedef struct tni_fused_term {
    tn_reduction op;
    int value;             /* number of the value that it reduces */
    tn_dtype dtype, gives; /* of the value, of the result */
} tni_fused_term;

typedef struct tni_fused {
    tni_nest nest; /* map axes, then fold axes; in columns the last map axis is innermost */
    bool columns;  /* sequences are reduced side by side */
    int nfold;     /* fold axes */
    int nterm, nvalue;
    tni_fused_term term[TNI_MAX_RESULTS];
    tni_fold fold[TNI_MAX_RESULTS];
    int64_t value[TNI_MAX_RESULTS]; /* offset of each value in the buffer, for one element */
    int8_t width[TNI_MAX_RESULTS];  /* bytes of each value */
    int64_t dense[TNI_MAX_SOURCES]; /* elements of a source that are dense in nest order */
    int8_t src_width[TNI_MAX_SOURCES];
    uint32_t broadcast;        /* bit k: source k is one element for all indices */
    int64_t count, outputs;    /* elements of a sequence, number of results */
    int64_t strip;             /* columns of a strip, or sequences of a batch */
    int64_t capacity;          /* elements of each value in the buffer */
    int64_t piece, last;       /* elements that a call of inside computes, and one of around */
    int64_t bytes;             /* of all sources in the common shape */
    tn_dtype dtype;            /* of dst */
    tni_strips inside, around; /* the programs that compute values, and dst */
    tni_instr *instr;          /* the instructions of inside, then those of around */
} tni_fused;

/* Plan a fused reduction.  ts are dst and the sources in the common shape; dst has stride 0 on
 * the axes that folded marks.  The program `values` computes the values that the terms reduce,
 * `around` computes dst from the results of the terms.  instr has space for the instructions of
 * both. */
void tni_fused_plan(tni_fused *u, tni_instr *instr, const tni_program *values,
                    const tni_program *around, int nterm, const tni_fused_term *term,
                    const tn_tensor *const *ts, uint64_t folded);

/* Run the plan; dst and srcs are the addresses of element (0, …, 0). */
void tni_fused_run(const tni_fused *u, char *dst, const char *const *srcs);

void tni_fused_facts(const tni_fused *u, tn_facts *f);

/* Broadcast a value of this shape over dst.  dst already holds the value at index 0 of the axes
 * along which the value has extent 1 or no axis; the other indices of these axes are filled. */
void tni_fused_broadcast(const tn_tensor *dst, char *data, int ndim, const int64_t *shape);

/* A public plan of a fused reduction (fused_handle.c); NULL if memory is out. */
tn_plan *tni_fused_new(const tni_fused *u, const char *text, const tn_tensor *dst, int nsrc,
                       const tn_tensor *const *srcs, int ndim, const int64_t *shape);

#endif
