/* strip_work.h - an elementwise plan at work: what its parts share, and one block of one part. */
#ifndef TENON_STRIP_WORK_H
#define TENON_STRIP_WORK_H

#include "plan/plan.h"

typedef struct tni_strip_job {
    const tni_strips *s;
    const tni_copy_kernels *k;
    char *at[TNI_MAX_OPERANDS]; /* element (0, …, 0) of the nest; sources are not written */
    int parts;
    int64_t back; /* elements by which strips of all blocks but the first begin earlier */
    bool stream, prefetch;
} tni_strip_job;

/* One block of one part. */
typedef struct tni_strip_work {
    const tni_strip_job *j;
    char *arena;
    char *at[TNI_MAX_OPERANDS];         /* its first element */
    int64_t ahead[TNI_MAX_OPERANDS];    /* bytes from there to the next block's */
    int64_t n[TNI_BLOCK_AXES], total;   /* its extents, its elements */
    int64_t row, rows;                  /* elements of a strip, strips */
    char *strip[TNI_REFS];              /* where each operand or result is in this strip */
    const char *next[TNI_MAX_OPERANDS]; /* and where in the next one */
    int64_t prefetched, lines;          /* lines of the next strip: prefetched, all */
    const char *cached_src[TNI_MAX_OPERANDS];
    int64_t cached_n[TNI_MAX_OPERANDS][TNI_BLOCK_AXES]; /* what the buffers hold */
} tni_strip_work;

/* Run instructions [first, last) on the strip of w. */
void tni_strip_exec(tni_strip_work *w, int first, int last);

/* Run the one op of a plan on all rows of the block of w. */
void tni_strip_exec_rows(tni_strip_work *w);

/* Where the next strip lies in the sources is known before this one is computed.  Its lines are
 * prefetched in equal shares by all steps of this one, so that memory works while the later ones
 * compute; into L2, because L1 holds the registers. */
void tni_strip_prefetch_begin(tni_strip_work *w);

#endif
