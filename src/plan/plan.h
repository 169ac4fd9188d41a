/* plan.h - in which way, by which kernels, in how many parts?
 *
 * A plan is a nest and the choices made for it, a value without pointers to data.  Planning and
 * running cannot fail, because the operands have been checked.  Only a public plan can: making
 * it may run out of memory, and running it checks the addresses it is given. */
#ifndef TNI_PLAN_H
#define TNI_PLAN_H

#include <tenon/plan.h>
#include <tenon/tensor.h>

#include "core/core.h"
#include "kernels/kernels.h"
#include "nest/nest.h"
#include "runtime/runtime.h"

#include "plan/batch/batch.h"
#include "plan/contract/contract_chain.h"
#include "plan/copy/copy_plan.h"
#include "plan/index/index_plan.h"
#include "plan/pad/pad_plan.h"
#include "plan/reduce/fold.h"
#include "plan/reduce/row_fold.h"
#include "plan/reduce/scan_fold.h"

#include "plan/reduce/fused.h"
#include "plan/strip/strips.h"

/* ---- facts of a plan (plan_facts.c) ---- */

/* Format one of the text members of facts: FACT(f->why, "%d axes", n). */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void tni_facts_set(char *text, size_t size, const char *fmt, ...);
#define FACT(field, ...) tni_facts_set(field, sizeof(field), __VA_ARGS__)

/* Add a fact that only plans of this kind have. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
void tni_facts_add(tn_facts *f, const char *name, const char *fmt, ...);

/* ---- copies (copy/copy_ways.c) ---- */

/* Plan dst[i…] = src[i…]; shapes and dtypes are equal.  tni_copy_plan chooses for dst's own
 * address, tni_copy_plan_at for addresses that are `address` modulo 64 (negative: for dst's
 * own).  Either plan runs at any address. */
void tni_copy_plan(tni_copy *c, const tn_tensor *dst, const tn_tensor *src);
void tni_copy_plan_at(tni_copy *c, const tn_tensor *dst, const tn_tensor *src, int64_t address);

/* The same with tuning parameters other than those of tni_tuned. */
typedef struct tni_tuning {
    int64_t number[TNI_TUNED];
} tni_tuning;
tni_tuning tni_tuning_now(void);
void tni_copy_plan_with(tni_copy *c, const tn_tensor *dst, const tn_tensor *src,
                        int64_t address, const tni_tuning *tuning);

/* dst and src are addresses of element (0, …, 0). */
void tni_copy_run(const tni_copy *c, char *dst, const char *src);

/* Copy a few elements of two axes without a plan; false: the copy needs one, nothing is
 * done. */
bool tni_copy_small(const tn_tensor *dst, const tn_tensor *src);

void tni_copy_facts(const tni_copy *c, tn_facts *f);

/* ---- pads (pad/pad_ways.c) ---- */

/* Plan a pad of checked tensors: dst is src with before[i] indices in front of axis i. */
void tni_pad_plan(tni_pad *p, const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                  tn_pad_mode mode, const void *value);

/* dst and src are addresses of element (0, …, 0). */
void tni_pad_run(const tni_pad *p, char *dst, const char *src);

void tni_pad_facts(const tni_pad *p, tn_facts *f);

/* ---- numbers from their flat index (generate/generate_run.c) ---- */

/* Fill dst, which has m's dtype and no two indices of which share an element; flat indices are
 * row-major. */
void tni_generate_run(const tni_generate *m, const tn_tensor *dst);

/* ---- elementwise work (strip_plan.c, strip_run.c) ---- */

/* Plan an elementwise program over operands of equal shapes, ts[0] being dst.  instr has room
 * for the instructions of the program (TNI_OP_INSTRS, TNI_MAX_INSTRS) and outlives the plan. */
void tni_strips_plan(tni_strips *s, tni_instr *instr, const tni_program *p,
                     const tn_tensor *const *ts);

/* Compute a few elements of an op without a plan, by its kernel for dtype compute, if nothing
 * is converted and every source is row-major or a single element; false: it needs a plan,
 * nothing is done.  params may be NULL, as in tn_apply. */
bool tni_strips_small(tn_op op, const double *params, tn_dtype compute,
                      const tn_tensor *const *ts);

/* Compute n dense elements of op by its kernel for dtype compute; width has the widths of the
 * operands, dst first.  Bit k of one: source k is a single element. */
void tni_op_elements(tn_op op, const double *params, tn_dtype compute, const int8_t *width,
                     char *d, const char *const *srcs, unsigned one, int64_t n);

/* dst and srcs are the addresses of element (0, …, 0). */
void tni_strips_run(const tni_strips *s, char *dst, const char *const *srcs);

/* Convert one element to another dtype by the kernels, without the stack that a plan takes. */
void tni_cast_element(void *d, tn_dtype to, const void *s, tn_dtype from);

/* Plan and run a conversion to another dtype, or of bool to 0 and 1; shapes are equal. */
void tni_strips_cast(const tn_tensor *dst, char *d, const tn_tensor *src, const char *s);

void tni_strips_facts(const tni_strips *s, tn_facts *f);

/* ---- dividing work over threads ---- */

/* The number of parts for work of the calling thread that touches this many bytes in this many
 * items. */
static inline int tni_plan_parts(int64_t bytes, int64_t items)
{
    return tni_split_worth(bytes) ? tni_split_parts(tni_threads(), bytes, items) : 1;
}

/* The same for work that begins now: 1 if dividing it would cost more than it saves. */
static inline int tni_run_parts(int64_t bytes, int64_t items)
{
    const int parts = tni_plan_parts(bytes, items);
    return parts > 1 && !tni_threads_pay(bytes) ? 1 : parts;
}

/* ---- the public plan (plan_class.c) ---- */

/* A kind of plan.  Its own struct begins with a tn_plan and has `size` bytes.  run is called
 * with the addresses of element (0, …, 0), checked for NULL and overlap; facts is called with
 * call, dtype, shape and isa set and the rest 0. */
typedef struct tni_plan_class {
    const char *name;
    size_t size;
    void (*run)(const tn_plan *plan, char *dst, const char *const *srcs);
    void (*facts)(const tn_plan *plan, tn_facts *facts);
    /* replaces run in plans that work in tn_plan.workspace bytes */
    void (*run_in)(const tn_plan *plan, char *dst, const char *const *srcs, char *workspace);
} tni_plan_class;

struct tn_plan {
    const tni_plan_class *class;
    const char *call; /* "rearrange", for errors and facts */
    bool allow_alias; /* a source may be exactly dst */
    int alias_from;   /* the first source that may, counted from 1 */
    int nsrc;
    uint32_t same; /* bit k: source k, counted from 1, has dst's dtype, shape and strides */
    size_t workspace;
    int holders; /* references beyond the first, added by tn_plan_tuned */
    int64_t low[TNI_MAX_OPERANDS], high[TNI_MAX_OPERANDS]; /* byte ranges around data */
    tn_tensor *ts;                                         /* operands as planned, dst first */
};

/* Allocate a plan of a class; the members that the class adds are not set.  Operands are copied
 * without their data.  NULL if there is no memory. */
tn_plan *tni_plan_new(const tni_plan_class *class, const char *call, bool allow_alias, int nsrc,
                      const tn_tensor *dst, const tn_tensor *const *srcs);

/* The same with `more` bytes after the class's own. */
tn_plan *tni_plan_new_more(const tni_plan_class *class, size_t more, const char *call,
                           bool allow_alias, int nsrc, const tn_tensor *dst,
                           const tn_tensor *const *srcs);

/* The checks before a run: of the addresses (of the first nsrc sources only, if the others are
 * not read), and of the caller's workspace. */
tn_status tni_plan_check_some(const tn_plan *plan, int nsrc, void *dst, const void *const *srcs,
                              const char *call);
tn_status tni_plan_check(const tn_plan *plan, void *dst, const void *const *srcs,
                         const char *call);
tn_status tni_plan_check_workspace(const tn_plan *plan, const void *workspace, size_t size,
                                   const char *call);

/* A plan of a copy (copy_handle.c) of checked tensors.  NULL if there is no memory. */
tn_plan *tni_copy_new(const char *call, bool allow_alias, const tn_tensor *dst,
                      const tn_tensor *src);

/* Whether a plan is a copy; if so, its way can be chosen again by measuring copies of the
 * data. */
bool tni_copy_is(const tn_plan *plan);
void tni_copy_tune_plan(tn_plan *plan, char *dst, const char *const *srcs, double milliseconds);

/* A plan of elementwise work (strip_handle.c): ts as for tni_strips_plan, srcs as the user
 * passed them.  NULL if there is no memory. */
tn_plan *tni_strips_new(const char *call, bool allow_alias, const tni_program *p,
                        const tn_tensor *const *ts, const tn_tensor *const *srcs);

/* A plan of a pad (pad_handle.c) of checked tensors.  NULL if there is no memory. */
tn_plan *tni_pad_new(const tn_tensor *dst, const tn_tensor *src, const int64_t *before,
                     tn_pad_mode mode, const void *value);

/* The public plan of a reduction that has been planned (fold_handle.c).  NULL if there is no
 * memory. */
tn_plan *tni_fold_new(const tni_fold *f, const char *call, const tn_tensor *dst,
                      const tn_tensor *src);
void tni_fold_facts(const tni_fold *f, tn_facts *facts);

#endif
