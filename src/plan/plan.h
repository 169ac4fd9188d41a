/* plan.h - in what order, by which kernel, in how many parts?
 *
 * A tni_nest is all loops over all operands; a plan is a nest and what was chosen for it, a
 * value without pointers to data.  Nothing here can fail: operands are checked before. */
#ifndef TNI_PLAN_H
#define TNI_PLAN_H

#include <tenon/plan.h>
#include <tenon/tensor.h>

#include "core/core.h"
#include "kernels/kernels.h"

#include "plan/copy/copy_plan.h"
#include "plan/pad/pad_plan.h"

static inline int64_t tni_magnitude(int64_t step)
{
    return step < 0 ? -step : step;
}

/* How many pieces of at most `each` make n, which is at least 1. */
static inline int64_t tni_pieces(int64_t n, int64_t each)
{
    return (n - 1) / each + 1;
}

/* n, which is not negative, by times; or the most that there is. */
static inline int64_t tni_times(int64_t n, int64_t by)
{
    return n > INT64_MAX / by ? INT64_MAX : n * by;
}

/* ---- the nest (nest.c) ---- */

enum { TNI_MAX_OPERANDS = 9 }; /* dst and eight sources */

typedef struct tni_axis {
    int64_t n;
    int64_t step[TNI_MAX_OPERANDS]; /* bytes */
} tni_axis;

/* Loops over nop operands, outermost first.  Operand 0 is dst. */
typedef struct tni_nest {
    int ndim, nop;
    bool empty;                      /* an extent is 0: no work, nothing else holds */
    int64_t shift[TNI_MAX_OPERANDS]; /* bytes from element (0, …, 0) to the first address */
    tni_axis axis[TN_MAX_NDIM];
} tni_nest;

/* Build the normal form of operands that have equal shapes: unit axes dropped, dst steps made
 * positive, axes ordered by falling dst step (ties by the sources), neighbours that every
 * operand walks as one axis merged.  ndim 0 is a single element. */
void tni_nest_normal(tni_nest *nest, int nop, const tn_tensor *const *ts);

/* The same with every step as the operands have it. */
void tni_nest_signed(tni_nest *nest, int nop, const tn_tensor *const *ts);

#include "plan/strip/strips.h"

/* ---- text for explain (explain.c) ---- */

typedef struct tni_text {
    char *buf;
    size_t size, used; /* used counts what would have been written */
} tni_text;

#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void tni_text_add(tni_text *text, const char *fmt, ...);

/* ---- copies (copy_choose.c, copy_run.c) ---- */

/* Plan dst[i…] = src[i…]; shapes and dtypes are equal. */
void tni_copy_plan(tni_copy *c, const tn_tensor *dst, const tn_tensor *src);

/* dst and src are addresses of element (0, …, 0). */
void tni_copy_run(const tni_copy *c, char *dst, const char *src);

/* What was chosen, in words; dst and src as at planning. */
void tni_copy_explain(const tni_copy *c, const tn_tensor *dst, tni_text *text);

/* ---- pads (pad_choose.c, pad_axes.c, pad_blocks.c) ---- */

/* Plan a pad of checked tensors: dst is src with before[i] places in front of axis i. */
void tni_pad_plan(tni_pad *p, const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                  tn_pad_mode mode, const void *value);

/* dst and src are addresses of element (0, …, 0). */
void tni_pad_run(const tni_pad *p, char *dst, const char *src);

/* What was chosen, in words; dst as at planning. */
void tni_pad_explain(const tni_pad *p, const tn_tensor *dst, tni_text *text);

/* ---- numbers from their flat index (make_run.c) ---- */

/* Fill dst, which has m's dtype and names no element twice; indices are row-major. */
void tni_make_run(const tni_make *m, const tn_tensor *dst);

/* ---- elementwise work (strip_plan.c, strip_run.c) ---- */

/* Plan blocks for operands of equal shapes, ts[0] is dst; how names the dtypes on the way. */
void tni_strips_plan(tni_strips *s, const tni_strips_how *how, int nop,
                     const tn_tensor *const *ts);

/* A few row-major elements of an op that converts nothing are computed at once; false: plan. */
bool tni_strips_small(const tni_strips_how *how, int nop, const tn_tensor *const *ts);

/* at are addresses of element (0, …, 0), dst first. */
void tni_strips_run(const tni_strips *s, char *dst, const char *const *srcs);

/* What was chosen, in words; dst as at planning. */
void tni_strips_explain(const tni_strips *s, const tn_tensor *dst, tni_text *text);

/* ---- dealing work to threads (deal.c) ---- */

/* How many parts for work that touches this many bytes in this many items: 1 for small work. */
int tni_deal_parts(int64_t bytes, int64_t items);

/* The items [*first, *last) of one part; parts differ by one item at most. */
void tni_deal_range(int64_t items, int parts, int part, int64_t *first, int64_t *last);

/* ---- the public plan's box (box.c) ---- */

/* Each family begins its own struct with this one.  run gets addresses of element (0, …, 0),
 * checked for NULL and overlap.  ts are the operands at planning, dst first. */
struct tn_plan {
    void (*run)(const tn_plan *plan, char *dst, const char *const *srcs);
    void (*explain)(const tn_plan *plan, tni_text *text);
    const char *call; /* "rearrange", for sentences */
    bool allow_alias;
    int nsrc;
    int64_t low[TNI_MAX_OPERANDS], high[TNI_MAX_OPERANDS]; /* byte ranges around data */
    tn_tensor *ts;
};

/* Allocate a box of size bytes whose first member is a tn_plan, filled but for run and explain;
 * operands are copied.  NULL when memory is out. */
tn_plan *tni_box(size_t size, const char *call, bool allow_alias, int nsrc,
                 const tn_tensor *dst, const tn_tensor *const *srcs);

/* A box of a copy (copy_box.c) of checked tensors.  NULL when memory is out. */
tn_plan *tni_copy_box(const char *call, bool allow_alias, const tn_tensor *dst,
                      const tn_tensor *src);

/* A box of elementwise work (strip_box.c): ts as for tni_strips_plan, srcs as the user gave
 * them.  NULL when memory is out. */
tn_plan *tni_strips_box(const char *call, bool allow_alias, const tni_strips_how *how, int nsrc,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs);

#endif
