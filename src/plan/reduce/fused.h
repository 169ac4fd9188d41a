/* fused.h - reductions of computed values: one program computes the elements of each sequence,
 * which are reduced block by block as in fold.h, and another computes dst from the results.
 *
 * All reductions of a plan are over the same axes.  The values of a block stay in the cache
 * and are not stored.  The tree is that of fold.h, so fusing changes no bit. */
#ifndef TNI_FUSED_H
#define TNI_FUSED_H

#include "plan/reduce/fold.h"
#include "plan/strip/strips.h"

/* Buffers of a part, on its stack; not measured finely. */
enum {
    /* bytes of a block of all values, 128 KiB: up to eight f64 for each element */
    TNI_FUSED_BYTES = 64 * TNI_TREE_BLOCK,
    /* bytes of sources that are made dense at once: an L1, and a block of complex numbers */
    TNI_FUSED_GATHER = 16 * TNI_TREE_BLOCK,
    /* results that are finished at once: 16 bytes of each of TNI_MAX_RESULTS terms fill the buffer
     * of values */
    TNI_FUSED_BATCH = 512
};

/* One of the reductions: of value number `value`. */
typedef struct tni_fused_term {
    tn_reduction op;
    int value;
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
    uint32_t broadcast;     /* bit k: source k is one element for all indices */
    int64_t count, outputs; /* elements of a sequence, results */
    int64_t strip;          /* columns of a strip, or sequences of a batch */
    int64_t capacity;       /* elements of each value in the buffer */
    int64_t piece, last;    /* elements of a strip of values, of results */
    int64_t bytes;          /* of all sources in the common shape */
    tn_dtype dtype;         /* of dst */
    tni_strips inside, around;
    tni_instr *instr; /* of inside, then those of around */
} tni_fused;

/* Plan: ts are dst and the sources in the common shape, dst with stride 0 on the axes that
 * folded marks; values gives the terms' values, around dst's from the terms' results.
 * instr has space for both programs' instructions. */
void tni_fused_plan(tni_fused *u, tni_instr *instr, const tni_program *values,
                    const tni_program *around, int nterm, const tni_fused_term *term,
                    const tn_tensor *const *ts, uint64_t folded);

/* Addresses of element (0, …, 0). */
void tni_fused_run(const tni_fused *u, char *dst, const char *const *srcs);

void tni_fused_facts(const tni_fused *u, tn_facts *f);

/* Broadcast a value of this shape over dst.  dst already holds it at index 0 of the axes where
 * the value has one element or no axis; the other indices of these axes are filled with it. */
void tni_fused_broadcast(const tn_tensor *dst, char *data, int ndim, const int64_t *shape);

/* A public plan (fused_handle.c) of what tni_fused_plan made; NULL when out of memory. */
tn_plan *tni_fused_new(const tni_fused *u, const char *text, const tn_tensor *dst, int nsrc,
                       const tn_tensor *const *srcs, int ndim, const int64_t *shape);

#endif
