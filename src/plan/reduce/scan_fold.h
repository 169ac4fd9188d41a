/* scan_fold.h - running reductions along an axis. */
#ifndef TNI_SCAN_FOLD_H
#define TNI_SCAN_FOLD_H

#include <tenon/reduce.h>

#include "kernels/kernels.h"
#include "nest/nest.h"

typedef enum tni_scan_type { /* what runs */
                             TNI_SCAN_REAL,
                             TNI_SCAN_SIGNED,
                             TNI_SCAN_UNSIGNED,
                             TNI_SCAN_COMPLEX
} tni_scan_type;

/* What runs from block to block of a sequence. */
typedef struct tni_scan_state {
    union {
        double f; /* what came before the block; of logsumexp the largest, and chain the sum */
        int64_t i;
    };
    double im, chain, chain_im; /* chain: of the groups of the block */
} tni_scan_state;

/* How elements run, a row of scan_classes.c, and how memory is walked, a row of scan_ways.c. */
typedef struct tni_scan_class tni_scan_class;
typedef struct tni_scan_way tni_scan_way;

typedef struct tni_scan {
    tn_scan_op op;
    tni_scan_type type;
    tn_dtype src, dst, wide; /* wide: the dtype that runs */
    int isa;
    const tni_scan_class *class;
    const tni_scan_way *way;
    const char *why;
    tni_scan_rule rule; /* of keys */
    bool initial;       /* dst is longer by one */
    bool stream;        /* its results go past the caches */
    bool carries;       /* sequences begin and end with a state each: arrive in parts */
    int64_t at;         /* elements of each sequence that came before, a multiple of a group */
    int64_t n, width[2], step[2], count; /* dst, src: of an element, along dim */
    tni_nest nest;                       /* over the sequences */
} tni_scan;

/* dst may be longer by one along dim; operands are checked. */
void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim, bool carries, int64_t at);

/* carry: a state for each sequence, in the row-major order of dst without dim, and two of them,
 * side by side, for sums of complex numbers. */
void tni_scan_run(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry);

tn_plan *tni_scan_new(const tni_scan *s, const char *call, const tn_tensor *dst,
                      const tn_tensor *src);

#endif
