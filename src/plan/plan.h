/* plan.h - by which way, by which kernel, in how many parts?
 *
 * A plan is a nest and what was chosen for it, a value without pointers to data.  Nothing here can fail: operands are checked before. */
#ifndef TNI_PLAN_H
#define TNI_PLAN_H

#include <tenon/plan.h>
#include <tenon/tensor.h>

#include "core/core.h"
#include "kernels/kernels.h"
#include "nest/nest.h"
#include "runtime/runtime.h"

#include "plan/copy/copy_plan.h"
#include "plan/pad/pad_plan.h"

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

/* ---- dividing work over threads ---- */

/* Parts for work of the calling thread that touches this many bytes in this many items. */
static inline int tni_plan_parts(int64_t bytes, int64_t items)
{
    return tni_split_worth(bytes) ? tni_split_parts(tni_threads(), bytes, items) : 1;
}

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
