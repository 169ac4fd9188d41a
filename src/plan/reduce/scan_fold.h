/* scan_fold.h - running reductions along an axis. */
#ifndef TNI_SCAN_FOLD_H
#define TNI_SCAN_FOLD_H

#include <tenon/reduce.h>

#include "nest/nest.h"

typedef enum tni_scan_type { /* what runs */
                             TNI_SCAN_REAL,
                             TNI_SCAN_SIGNED,
                             TNI_SCAN_UNSIGNED,
                             TNI_SCAN_COMPLEX
} tni_scan_type;

typedef struct tni_scan {
    tn_scan_op op;
    tni_scan_type type;
    tn_dtype src, dst, wide; /* wide: the dtype that runs */
    int isa;
    bool initial, columns;
    int64_t n, width[2], step[2], count; /* dst, src: of an element, along dim */
    tni_nest nest;                       /* over the lines */
} tni_scan;

/* dst may be longer by one along dim; operands are checked. */
void tni_scan_plan(tni_scan *s, tn_scan_op op, const tn_tensor *dst, const tn_tensor *src,
                   int dim);
void tni_scan_run(const tni_scan *s, char *dst, const char *src);
tn_plan *tni_scan_new(const tni_scan *s, const char *call, const tn_tensor *dst,
                      const tn_tensor *src);

#endif
