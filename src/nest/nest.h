/* nest.h - which loops visit every element, and in what order?
 *
 * A tni_nest describes the loops over all operands in normal form; it is a value without
 * pointers to data.  walk.h visits its items, split.c divides them over threads.  Nothing here
 * can fail: the operands have been checked. */
#ifndef TNI_NEST_H
#define TNI_NEST_H

#include <tenon/tensor.h>

#include "core/core.h"

/* ---- sizes ---- */

static inline int64_t tni_abs_step(int64_t step)
{
    return step < 0 ? -step : step;
}

/* ---- the nest (nest.c) ---- */

enum { TNI_MAX_OPERANDS = 17 }; /* dst and sixteen sources */

typedef enum tni_role {
    TNI_MAP,  /* each index has its own element of dst */
    TNI_FOLD, /* all indices share one element of dst, whose step is 0 */
    TNI_PAD   /* as MAP, but operand 1 has only indices [before, before + held) */
} tni_role;

typedef struct tni_axis {
    int64_t n;
    int64_t before, held;           /* the source's indices; [0, n) unless the role is PAD */
    int32_t role;                   /* tni_role */
    int64_t step[TNI_MAX_OPERANDS]; /* bytes */
} tni_axis;

/* Loops over nop operands, outermost first.  Operand 0 is dst. */
typedef struct tni_nest {
    int ndim, nop;
    bool empty;                      /* dst has no elements: no other member counts */
    bool no_fold;                    /* an extent of a FOLD axis is 0 */
    int64_t shift[TNI_MAX_OPERANDS]; /* bytes from element (0, …, 0) to the walk's first one */
    tni_axis axis[TN_MAX_NDIM];
} tni_nest;

/* How a nest is built; all zero is the normal form. */
typedef struct tni_nest_rules {
    uint64_t fold;     /* mask of the axes to fold; dst's layout there is ignored */
    int lead;          /* the operand that orders the axes and whose steps become positive */
    bool keep_signs;   /* steps may be negative, as the operands have them */
    bool keep_order;   /* axes stay in the tensors' order: items are row-major indices */
    bool free_fold;    /* FOLD axes are ordered and made positive like the others */
    bool value_border; /* if padded: the border is one value, and may merge with inner axes */
    const int64_t *before; /* src is padded to dst's shape: where it begins on each axis */
} tni_nest_rules;

/* Build the normal form of operands that have equal shapes: unit axes dropped, dst steps made
 * positive, axes ordered by falling dst step (ties by the sources), neighbours that every
 * operand walks as one axis merged.  ndim 0 is a single element. */
void tni_nest_normal(tni_nest *nest, int nop, const tn_tensor *const *ts);

/* As tni_nest_normal, by other rules.  FOLD axes follow the MAP axes, in the tensors' order and
 * with their signs unless free_fold, because the order of a fold may be part of its result; MAP
 * and FOLD axes never merge. */
void tni_nest_build(tni_nest *nest, int nop, const tn_tensor *const *ts,
                    const tni_nest_rules *rules);

/* The product of the extents of all axes of this role; 1 if there are none. */
int64_t tni_nest_count(const tni_nest *nest, tni_role role);

/* ---- dividing work over threads (split.c) ---- */

/* The number of parts, at most `threads`, for work that touches this many bytes in this many
 * items; 1 for small work.  Items come from MAP axes: a fold is divided by its own fixed
 * tree. */
int tni_split_parts(int threads, int64_t bytes, int64_t items);

/* Whether work of this many bytes may be worth more than one part. */
bool tni_split_worth(int64_t bytes);

/* The items [*first, *last) of one part; parts differ by one item at most. */
void tni_split_range(int64_t items, int parts, int part, int64_t *first, int64_t *last);

#include "walk.h"

#endif
