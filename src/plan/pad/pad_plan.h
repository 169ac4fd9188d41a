/* pad_plan.h - the plan of a pad: its nest and its way.
 *
 * Along each axis, dst is a sequence of segments: the source forwards, the source backwards,
 * one index of it repeated, or the value.  A pad is a set of copies of boxes, the products of
 * segments. */
#ifndef TNI_PAD_PLAN_H
#define TNI_PAD_PLAN_H

#include <tenon/pad.h>
#include <tenon/plan.h>

#include "kernels/kernels.h"
#include "nest/nest.h"

typedef struct tni_pad tni_pad;

/* A way to pad.  plan sets what run needs, and returns false to leave the pad to the next
 * row. */
typedef struct tni_pad_way {
    const char *name, *why;
    bool (*plan)(tni_pad *p);
    void (*run)(const tni_pad *p, char *d, const char *s); /* d, s: first addresses */
} tni_pad_way;

enum { TNI_PAD_VALUES = 16 * TNI_PAD_EDGES };

struct tni_pad {
    const tni_pad_way *way;
    tn_pad_mode mode;
    tn_dtype dtype;
    bool stream;                /* dst is larger than the cache */
    bool staged;                /* blocks are assembled in a buffer and streamed from it */
    bool edged;                 /* rows are whole and dense; row lists their narrow borders */
    int64_t width, bytes;       /* of an element, of all of dst */
    int64_t src_bytes;          /* of all of src */
    int64_t rows, columns;      /* of a block: indices of the last two axes */
    int64_t items;              /* blocks */
    int outer;                  /* outer axes, each index of which is a pad of its own */
    char value[TNI_PAD_VALUES]; /* the value, repeated */
    tni_pad_row row;
    /* dst and src.  There are at least two axes; blocks are cut from the last two. */
    tni_nest nest;
};

/* n indices of dst that walk src from index `from` on, `by` indices at a time (1, -1 or 0), or
 * that hold the value. */
typedef struct tni_segment {
    bool value;
    int64_t n, from, by;
} tni_segment;

/* The part of an axis's segment from index `at` to the segment's end (pad_segments.c). */
tni_segment tni_pad_segment(const tni_axis *a, tn_pad_mode mode, int64_t at);

/* The rows of pad_ways.c. */
bool tni_pad_rows_plan(tni_pad *p);                              /* pad_rows_plan.c */
void tni_pad_rows_run(const tni_pad *p, char *d, const char *s); /* pad_rows.c */
bool tni_pad_borders_plan(tni_pad *p);                           /* pad_borders.c */
void tni_pad_borders_run(const tni_pad *p, char *d, const char *s);

/* Add outer unit axes until there are two axes (pad_ways.c). */
void tni_pad_fill_up(tni_pad *p);

#endif
