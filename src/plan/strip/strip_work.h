/* strip_work.h - the state of a running elementwise plan: what its parts share, and the block
 * of one part. */
#ifndef TNI_STRIP_WORK_H
#define TNI_STRIP_WORK_H

#include "plan/plan.h"

typedef struct tni_strip_job {
    const tni_strips *s;
    const tni_copy_kernels *k;
    char *at[TNI_MAX_OPERANDS]; /* element (0, …, 0) of the nest; sources are not written */
    int parts;
    bool stream, prefetch;
    /* Elements by which strips may begin earlier, so that they begin and end at lines of dst;
     * 0: they do so anyway, or need not. */
    int early;
} tni_strip_job;

/* One block of one part. */
typedef struct tni_strip_work {
    const tni_strip_job *j;
    char *arena;
    char *at[TNI_MAX_OPERANDS];         /* the block's first element */
    int64_t ahead[TNI_MAX_OPERANDS];    /* bytes from there to the next block's */
    int64_t n[TNI_BLOCK_AXES], total;   /* the block's extents, its elements */
    int64_t row, rows;                  /* elements of a strip, number of strips */
    int64_t early;                      /* elements that are packed in front of the block */
    bool more;                          /* another block continues its rows */
    char *strip[TNI_REFS];              /* where each operand or result is in this strip */
    const char *next[TNI_MAX_OPERANDS]; /* where each source is in the next strip */
    int64_t prefetched, lines;          /* lines of the next strip: prefetched, all */
    const char *cached_src[TNI_MAX_OPERANDS];
    int64_t cached_n[TNI_MAX_OPERANDS][TNI_BLOCK_AXES]; /* extents of what buffers hold */
} tni_strip_work;

/* Run instructions [first, last) on the strip of w. */
void tni_strip_exec(tni_strip_work *w, int first, int last);

/* Run the one op of a plan on all rows of the block of w. */
void tni_strip_exec_rows(tni_strip_work *w);

/* The same by columns of blocks: a transposed piece goes from L1 straight into the op. */
void tni_strip_exec_columns(tni_strip_work *w);

/* How many elements earlier the strip of the row at d, of n elements, begins and ends. */
typedef struct tni_strip_shift {
    int64_t begin, end;
} tni_strip_shift;

static inline tni_strip_shift tni_strip_shift_of(const tni_strip_work *w, const char *d,
                                                 int64_t n)
{
    const int width = w->j->s->operand[0].width;
    const char *end = d + n * width;
    return (tni_strip_shift){w->early ? (int64_t)((uintptr_t)d & 63) / width : 0,
                             w->more ? (int64_t)((uintptr_t)end & 63) / width : 0};
}

/* Begin to prefetch the next strip, whose place in the sources is known before this one is
 * computed.  All steps of this strip prefetch equal shares of its lines, so that memory is busy
 * while they compute; into L2, because L1 holds the registers. */
void tni_strip_prefetch_begin(tni_strip_work *w);

#endif
