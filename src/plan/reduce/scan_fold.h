/* scan_fold.h - plans of scans (running reductions) along an axis.
 *
 * A sequence is the elements along that axis.  Sums and products of floats run by the order of
 * <tenon/reduce.h>: groups of 8, a chain of the groups of a block, the blocks before. */
#ifndef TNI_SCAN_FOLD_H
#define TNI_SCAN_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"
#include "nest/nest.h"

typedef enum tni_scan_type { /* the kind of the running value */
                             TNI_SCAN_REAL,
                             TNI_SCAN_SIGNED,
                             TNI_SCAN_UNSIGNED,
                             TNI_SCAN_COMPLEX
} tni_scan_type;

/* The state of a sequence between two calls that compute its elements.  Sums and products of
 * floats and complex numbers have in f and im the result of all blocks before the current one,
 * and in chain and chain_im that of the groups of the current block; logsumexp has the maximum
 * in f and the sum of exponentials in chain.  Integers and keys have the running value in i. */
typedef struct tni_scan_state {
    union {
        double f;
        int64_t i;
    };
    double im, chain, chain_im;
} tni_scan_state;

/* The arithmetic, a row of scan_classes.c, and the walk over memory, a row of scan_ways.c. */
typedef struct tni_scan_class tni_scan_class;
typedef struct tni_scan_way tni_scan_way;

typedef struct tni_scan {
    tn_scan_op op;
    tni_scan_type type;
    tn_dtype src, dst, wide; /* wide: the dtype of the running value */
    int isa;
    const tni_scan_class *class;
    const tni_scan_way *way;
    const char *why;
    tni_scan_rule rule; /* of keys */
    bool initial;       /* dst is longer by one and begins with the result of no elements */
    bool stream;        /* dst is written past the caches */
    bool carries;       /* sequences arrive in parts and carry a state from part to part */
    int64_t at;         /* elements of each sequence in earlier parts, a multiple of a group */
    /* elements of a sequence (in this part); of dst and src the bytes of an element and the
     * step along dim; elements of src */
    int64_t n, width[2], step[2], count;
    tni_nest nest; /* over the sequences */
} tni_scan;

/* Plan a scan of checked operands; dst may be longer than src by one along dim. */
void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim, bool carries, int64_t at);

/* Run the plan.  carry has a state for each sequence, in the row-major order of dst without
 * dim; for sums of complex numbers two neighbouring states, of the real and of the imaginary
 * part. */
void tni_scan_run(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);

tn_plan *tni_scan_new(const tni_scan *s, const char *call, const tn_tensor *dst,
                      const tn_tensor *src);

#endif
