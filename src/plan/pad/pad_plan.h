/* pad_plan.h - the plan of a pad: axes in normal form, and the way through them.
 *
 * Along each axis, dst is a sequence of runs: the source forwards, backwards, one place of it
 * repeated, or the value.  A pad is copies of boxes of such runs. */
#ifndef TNI_PAD_PLAN_H
#define TNI_PAD_PLAN_H

#include <tenon/dims.h>

#include "kernels/kernels.h"

typedef enum tni_pad_way {
    TNI_PAD_NOTHING, /* dst is empty */
    TNI_PAD_FILL,    /* src is empty: dst is the value */
    TNI_PAD_ROWS,    /* dst and src are walked fastest along the same axis: blocks of rows */
    TNI_PAD_SLABS    /* they are not: the interior is copied, then each axis gets its borders */
} tni_pad_way;

typedef struct tni_pad_axis {
    int64_t total;        /* extent in dst */
    int64_t n, before;    /* extent in src, and where it begins in dst */
    int64_t d_step, step; /* bytes in dst and in src; step of an axis of 1 is 0 */
} tni_pad_axis;

enum { TNI_PAD_VALUES = 16 * TNI_EDGES };

typedef struct tni_pad {
    tni_pad_way way;
    tn_pad_mode mode;
    tn_dtype dtype;
    bool stream;          /* dst is larger than the cache */
    bool staged;          /* blocks are put together in a buffer and streamed from there */
    int64_t width, bytes; /* of an element, of all of dst */
    int64_t src_bytes;    /* of all of src */
    int64_t d_shift, shift;
    int64_t rows, columns;      /* of a block: places of the last two axes */
    int64_t items;              /* blocks */
    int outer;                  /* axes whose places are the items of slabs */
    char value[TNI_PAD_VALUES]; /* the value over and over */
    bool edged; /* rows are whole, dense and have narrow borders: `row` tells how they look */
    tni_row row;
    int ndim;                       /* at least 2 */
    tni_pad_axis axis[TN_MAX_NDIM]; /* outermost first; blocks are cut from the last two */
} tni_pad;

/* n places of dst from place `at` on that are one walk through src: from place `from`, `by`
 * places at a time (1, -1 or 0), or the value. */
typedef struct tni_run {
    bool value;
    int64_t n, from, by;
} tni_run;

/* The run that place `at` of an axis is in, from there to its end. */
tni_run tni_pad_run_at(const tni_pad_axis *a, tn_pad_mode mode, int64_t at);

/* Axes in normal form: those of dst by falling steps, which are made positive, neighbours
 * merged that are one walk on both sides; sets ndim, axis and shifts (pad_axes.c). */
void tni_pad_axes(tni_pad *p, const tn_tensor *dst, const tn_tensor *src,
                  const int64_t *before);

/* Run by rows (pad_blocks.c) or by slabs (pad_slabs.c); d and s are the first addresses. */
void tni_pad_blocks(const tni_pad *p, char *d, const char *s);
void tni_pad_slabs(const tni_pad *p, char *d, const char *s);

#endif
