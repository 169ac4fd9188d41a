/* iop.h - how InfiniOp describes a tensor and an operator, inside the library.
 *
 * Functions here speak tn_status and leave a sentence for tn_error; tni_iop_status turns that
 * into InfiniOp's status at the border. */
#ifndef TNI_IOP_H
#define TNI_IOP_H

#include <infiniop.h>
#include <tenon/tenon.h>

#include "core/core.h"
#include "view/view.h"

/* The dtype by InfiniOp's name, and the layout in tenon's words with NULL data.  A dtype that
 * tenon does not have is the unsigned integer of its width there. */
struct InfiniopTensorDescriptor {
    infiniDtype_t dtype;
    tn_tensor t;
};

/* ---- operators ---- */

typedef enum tni_iop_name {
#define OP(name, made, run, dtypes, op) TNI_IOP_##name,
#define MOVE(name, run, dtypes)         TNI_IOP_##name,
#define BARE(name, dtypes)              TNI_IOP_##name,
#include "iop.def"
#undef OP
#undef MOVE
#undef BARE
#define PROGRAM(name, n, written, optional, alias, dtypes, plan)      TNI_IOP_##name,
#define BARE_PROGRAM(name, n, written, optional, alias, dtypes, plan) TNI_IOP_##name,
#include "iop_programs.def"
#undef PROGRAM
#undef BARE_PROGRAM
    TNI_IOPS
} tni_iop_name;

typedef struct tni_iop_program tni_iop_program;

/* A row of iop.def or of iop_programs.def. */
typedef struct tni_iop_row {
    const char *name;
    uint32_t dtypes; /* bit i: infiniDtype_t i */
    tn_op op;        /* rows of iop.def: the op */
    /* rows of iop_programs.def: number of tensors, as bits those that it writes and those that may
     * be NULL; whether what it writes may be exactly what it reads; how it is made */
    int n;
    unsigned written, optional;
    bool alias;
    tn_status (*plan)(tni_iop_program *p);
} tni_iop_row;

extern const tni_iop_row tni_iop_rows[TNI_IOPS];

/* One of several plans that make an operator: dst and source src, each moved by bytes. */
typedef struct tni_iop_part {
    tn_plan *plan;
    size_t src;
    int64_t dst_at, src_at;
} tni_iop_part;

/* What a public descriptor points to; kinds with more to remember begin with it.  Nothing of it
 * changes after it is made. */
typedef struct tni_iop tni_iop;
struct tni_iop {
    struct InfiniopDescriptor base;
    tni_iop_name name;
    tn_plan *plan; /* owned; may be NULL when run is not */
    tn_status (*run)(const tni_iop *iop, void *dst, const void *const *srcs); /* NULL: plan */
    size_t nparts;
    tni_iop_part *parts; /* owned plans in memory that the operator has anyway */
    bool program;        /* it is the head of a tni_iop_program */
    size_t workspace;    /* bytes that a run needs */
};

typedef infiniopTensorDescriptor_t tni_iop_tensor;

/* Which operator is asked for, of which device, and where it is to be given. */
typedef struct tni_iop_request {
    tni_iop_name name;
    infiniopHandle_t handle;
    struct InfiniopDescriptor **out;
} tni_iop_request;

/* tenon's dtype for a known one. */
tn_dtype tni_iop_dtype(infiniDtype_t dtype);

/* A known dtype is more than bytes to copy: tenon computes with it. */
bool tni_iop_has_arithmetic(infiniDtype_t dtype);

/* Nothing is NULL, and the handle is of a device that is there; ts are n tensors. */
tn_status tni_iop_check(const tni_iop_request *q, int n, const tni_iop_tensor *ts);

/* t's dtype is one that the row has; a's is b's. */
tn_status tni_iop_takes(tni_iop_name name, tni_iop_tensor t);
tn_status tni_iop_same_dtype(tni_iop_name name, tni_iop_tensor a, tni_iop_tensor b);

/* Shapes of n tensors are equal. */
tn_status tni_iop_same_shapes(tni_iop_name name, int n, const tni_iop_tensor *ts);

/* All three of them, for tensors of one dtype and one shape. */
tn_status tni_iop_check_alike(const tni_iop_request *q, int n, const tni_iop_tensor *ts);

/* Make an operator of size bytes: 0, but for the tni_iop at its head, which owns plan from now
 * on; where memory is out plan is freed. */
tn_status tni_iop_make(tni_iop **made, const tni_iop_request *q, size_t size, tn_plan *plan);
void tni_iop_free(tni_iop *iop);

/* ---- operators of several plans (iop_parts.c) ---- */

typedef struct tni_iop_parted {
    tni_iop head;
    size_t nsrc;
    tn_tensor *ts; /* output and sources, whole */
} tni_iop_parted;

/* An operator that holds up to nparts parts, of which it has none yet; xs are its nsrc sources. */
tn_status tni_iop_make_parted(tni_iop_parted **made, const tni_iop_request *q, tni_iop_tensor y,
                              size_t nsrc, const tni_iop_tensor *xs, size_t nparts);

/* t at an address from which parts are measured. */
tn_tensor tni_iop_anchored(const tn_tensor *t);

/* One more part: dst, a view of the anchored output, is src with zeros around it, a view of the
 * anchored source k. */
tn_status tni_iop_add_part(tni_iop_parted *p, const tn_tensor *dst, size_t k,
                           const tn_tensor *src, const int64_t *before, const int64_t *after);

/* Give p out, or free it when status says that it is not whole. */
tn_status tni_iop_give(const tni_iop_request *q, tni_iop_parted *p, tn_status status);

/* ---- numbers (iop_copy.c) ---- */

/* value as one element of dtype, 16 bytes at most: a complex one is real, F8 is e4m3. */
void tni_iop_value(void *out, infiniDtype_t dtype, double value);

/* ---- the border ---- */

/* The operator behind a public descriptor. */
static inline const tni_iop *tni_iop_of(const struct InfiniopDescriptor *desc)
{
    return (const tni_iop *)(const void *)desc;
}

/* InfiniOp's word for status; the sentence goes to stderr where INFINIOP_VERBOSE is 1. */
infiniStatus_t tni_iop_status(tn_status status);

/* desc is NULL, or another operator. */
tn_status tni_iop_fail_run(tni_iop_name name, const struct InfiniopDescriptor *desc);

static inline infiniStatus_t tni_iop_run(tni_iop_name name,
                                         const struct InfiniopDescriptor *desc, void *dst,
                                         const void *const *srcs)
{
    const tni_iop *iop = tni_iop_of(desc);
    if (UNLIKELY(!iop || iop->name != name))
        return tni_iop_status(tni_iop_fail_run(name, desc));
    const tn_status status =
        iop->run ? iop->run(iop, dst, srcs) : tn_plan_run(iop->plan, dst, srcs);
    return LIKELY(status == TN_OK) ? INFINI_STATUS_SUCCESS : tni_iop_status(status);
}

#endif
