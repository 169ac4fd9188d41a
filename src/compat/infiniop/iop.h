/* iop.h - tensors and operators as InfiniOp describes them, inside the library.
 *
 * Functions here return tn_status and leave a message in tn_error; tni_iop_status converts that
 * to InfiniOp's status at the public functions. */
#ifndef TNI_IOP_H
#define TNI_IOP_H

#include <infiniop.h>
#include <tenon/tenon.h>

#include "core/core.h"
#include "view/view.h"

/* The dtype as InfiniOp names it, and the layout as a tensor with NULL data.  A dtype that
 * tenon lacks is the unsigned integer of its width in t. */
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
    tn_op op;        /* rows of iop.def only */
    /* Rows of iop_programs.def only: number of tensors; bit masks of those it writes and those
     * that may be NULL; whether an output may alias an input exactly; the function that makes
     * it. */
    int n;
    unsigned written, optional;
    bool alias;
    tn_status (*plan)(tni_iop_program *p);
} tni_iop_row;

extern const tni_iop_row tni_iop_rows[TNI_IOPS];

/* One of the plans of an operator: dst and source `src`, each offset by bytes. */
typedef struct tni_iop_part {
    tn_plan *plan;
    size_t src;
    int64_t dst_at, src_at;
} tni_iop_part;

/* The object behind a public descriptor; structs with more members begin with it.  It does not
 * change after it has been made. */
typedef struct tni_iop tni_iop;
struct tni_iop {
    struct InfiniopDescriptor base;
    tni_iop_name name;
    tn_plan *plan; /* owned; may be NULL if run is set */
    tn_status (*run)(const tni_iop *iop, void *dst, const void *const *srcs); /* NULL: plan */
    size_t nparts;
    tni_iop_part *parts; /* owned plans, in the operator's own allocation */
    bool program;        /* head of a tni_iop_program */
    size_t workspace;    /* bytes needed by a run */
};

typedef infiniopTensorDescriptor_t tni_iop_tensor;

/* The operator to make, the handle it is made for, and where to store it. */
typedef struct tni_iop_request {
    tni_iop_name name;
    infiniopHandle_t handle;
    struct InfiniopDescriptor **out;
} tni_iop_request;

/* tenon's dtype for a valid InfiniOp dtype. */
tn_dtype tni_iop_dtype(infiniDtype_t dtype);

/* True if tenon computes with a valid dtype, not only copies its bytes. */
bool tni_iop_has_arithmetic(infiniDtype_t dtype);

/* Check that nothing is NULL, and that the handle's device exists; ts are n tensors. */
tn_status tni_iop_check(const tni_iop_request *q, int n, const tni_iop_tensor *ts);

/* Check that t has a dtype of the operator's row, or that b has a's dtype. */
tn_status tni_iop_takes(tni_iop_name name, tni_iop_tensor t);
tn_status tni_iop_same_dtype(tni_iop_name name, tni_iop_tensor a, tni_iop_tensor b);

/* Check that n tensors have equal shapes. */
tn_status tni_iop_same_shapes(tni_iop_name name, int n, const tni_iop_tensor *ts);

/* All three checks, for tensors of one dtype and one shape. */
tn_status tni_iop_check_alike(const tni_iop_request *q, int n, const tni_iop_tensor *ts);

/* Allocate an operator of size bytes: zero, except for the tni_iop at its start, which takes
 * ownership of plan.  If memory is short, plan is freed. */
tn_status tni_iop_make(tni_iop **made, const tni_iop_request *q, size_t size, tn_plan *plan);
void tni_iop_free(tni_iop *iop);

/* ---- operators of several plans (iop_parts.c) ---- */

typedef struct tni_iop_parted {
    tni_iop head;
    size_t nsrc;
    tn_tensor *ts; /* output and sources, not split */
} tni_iop_parted;

/* Make an operator with capacity for nparts parts and none yet; xs are its nsrc sources. */
tn_status tni_iop_make_parted(tni_iop_parted **made, const tni_iop_request *q, tni_iop_tensor y,
                              size_t nsrc, const tni_iop_tensor *xs, size_t nparts);

/* t at a fixed address, from which the offsets of views are measured. */
tn_tensor tni_iop_anchored(const tn_tensor *t);

/* Add a part: dst, a view of the anchored output, becomes src, a view of the anchored source k,
 * padded with zeros. */
tn_status tni_iop_add_part(tni_iop_parted *p, const tn_tensor *dst, size_t k,
                           const tn_tensor *src, const int64_t *before, const int64_t *after);

/* Return p to the caller or, if status is a failure, free it. */
tn_status tni_iop_give(const tni_iop_request *q, tni_iop_parted *p, tn_status status);

/* ---- numbers (iop_copy.c) ---- */

/* Store value as one element of dtype, at most 16 bytes: as the real part if complex; F8 is
 * e4m3. */
void tni_iop_value(void *out, infiniDtype_t dtype, double value);

/* ---- public functions ---- */

/* The operator of a public descriptor. */
static inline const tni_iop *tni_iop_of(const struct InfiniopDescriptor *desc)
{
    return (const tni_iop *)(const void *)desc;
}

/* InfiniOp's status for a tenon status; prints the message to stderr if INFINIOP_VERBOSE is
 * 1. */
infiniStatus_t tni_iop_status(tn_status status);

/* Fail because desc is NULL or another operator's. */
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
