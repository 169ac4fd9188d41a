/* view.h - where is element (i, j, k)?  Geometry of tensors, as integers only.
 *
 * No function of this module reads or writes an element. */
#ifndef TNI_VIEW_H
#define TNI_VIEW_H

#include <tenon/tensor.h>

#include "core/core.h"

/* ---- checks of a descriptor (check.c), in the order in which failures are reported ---- */

/* NULL, ndim, device, dtype, extents, size.  who names call and operand: "rearrange: dst". */
tn_status tni_check(const tn_tensor *t, const char *who);

/* tni_check, and that t may be written: not TN_READONLY (reported like a bad ndim). */
tn_status tni_check_dst(const tn_tensor *t, const char *who);

/* The same in two halves, without the device, for views and facts: between them the call checks
 * its own axes and numbers.  The first reports NULL and ndim (for out and in of a view), the
 * second dtype, extents, size. */
tn_status tni_check_given(const tn_tensor *t, const char *who);
static inline tn_status tni_check_pair(const tn_tensor *out, const tn_tensor *in,
                                       const char *call);
static inline tn_status tni_check_sound(const tn_tensor *t, const char *who);

/* The dtype alone, before a shape that does not fit. */
static inline tn_status tni_check_dtype(const tn_tensor *t, const char *who);

/* 0 <= dim < ndim. */
static inline tn_status tni_check_axis(int dim, int ndim, const char *call);

/* A call with several operands reports the first rule that any of them breaks, operands from left
 * to right within a rule.  Between the rules the call puts checks of its own: NULL arguments
 * after TNI_NULL, axes and counts after TNI_NDIM, dtypes that do not fit after TNI_DTYPE,
 * shapes that do not fit after TNI_SHAPE.
 *
 *     TRY(tni_check_all(TNI_NULL | TNI_NDIM, "concat", dst, n, srcs));
 *     if (dim < 0 || dim >= dst->ndim) ...
 *     TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, "concat", dst, n, srcs)); ...
 *
 * The sentence calls the operands "dst", and "src" or "src 0", "src 1", …; dst is one that the
 * call writes.  n < 0 is no operands.  With every rule and sound operands it is one quick
 * pass. */
enum {
    TNI_NULL = 1,   /* no pointer is NULL: dst, srcs, srcs[k] */
    TNI_NDIM = 2,   /* 0 <= ndim <= TN_MAX_NDIM; dst is not TN_READONLY */
    TNI_DEVICE = 4, /* device is TN_CPU */
    TNI_DTYPE = 8,  /* dtype is known */
    TNI_SHAPE = 16, /* no extent is negative */
    TNI_SIZE = 32,  /* size and byte range fit */
    TNI_EVERY = 63,
};
tn_status tni_check_all(unsigned rules, const char *call, const tn_tensor *dst, int n,
                        const tn_tensor *const *srcs);

/* The same of a call that has no dst. */
tn_status tni_check_srcs(unsigned rules, const char *call, int n, const tn_tensor *const *srcs);

/* t has this shape: "matmul: dst: got 3 axes, expected 2", "take: dst: axis 1: got extent 5,
 * expected 6".  operand is t's name. */
tn_status tni_check_shape(const tn_tensor *t, int ndim, const int64_t *shape, const char *call,
                          const char *operand);

/* ---- the checks of a whole call (call.c) ---- */

typedef struct tni_call tni_call;
typedef tn_status (*tni_call_hook)(const tni_call *call);

enum {
    TNI_NO_DST = 1,      /* the call allocates its result, or only reads */
    TNI_ALLOW_ALIAS = 2, /* a source may be exactly dst */
    TNI_NO_DATA = 4,     /* a plan, or facts: data may be NULL and may overlap */
};

/* What a call is given.  tni_check_call reports the first failure in this order: NULL operands,
 * nulls, ndim and TN_READONLY, args, device and dtype, dtypes, negative extents, shapes, sizes,
 * self-overlap of dst, data, overlap.  The hooks are the call's own checks; NULL means none.
 * When one runs, every operand has passed the rules before it. */
struct tni_call {
    const char *name; /* begins the message: "concat" */
    unsigned flags;
    const tn_tensor *dst;
    int n;
    const tn_tensor *const *srcs;
    const char *const *names; /* of dst and of each source; NULL: "dst", and "src" or "src k" */
    tni_call_hook nulls;      /* pointers beside the operands */
    tni_call_hook args;       /* axes, counts, modes */
    tni_call_hook dtypes;     /* how dtypes must agree */
    tni_call_hook shapes;     /* how shapes must agree */
    void *own;                /* the hooks' arguments and results */
};

tn_status tni_check_call(const tni_call *call);

/* Its last step: operands with elements have data, and dst shares no byte with a source. */
tn_status tni_call_data(const tni_call *call);

/* Some of the rules, of the operands of a call (check.c). */
tn_status tni_check_rules(unsigned rules, const tni_call *call);

/* The name of source k in sentences, or of dst for -1; who is a buffer of TNI_WHO bytes for it. */
enum { TNI_WHO = 64 };
const char *tni_operand_name(char *who, const tni_call *call, int k);

static inline const char *tni_dst_name(const tni_call *call)
{
    return call->names ? call->names[0] : "dst";
}

/* Check the sizes of the sources ahead of their rule, for hooks of shapes that compute with them. */
static inline tn_status tni_call_sizes(const tni_call *call);

/* Hooks that several calls share: every source has dst's dtype, or dst's shape. */
tn_status tni_call_same_dtypes(const tni_call *call);
tn_status tni_call_same_shapes(const tni_call *call);

/* TN_ENULL when t has elements and no data. */
tn_status tni_check_data(const tn_tensor *t, const char *who);

/* An axis of extent n repeats to `to`, or has it. */
static inline bool tni_broadcasts(int64_t n, int64_t to)
{
    return n == to || n == 1;
}

/* Bring n sources to dst's shape (broadcast.c): ts[0] is dst, ts[k + 1] is source k itself, or
 * repeated[k] when an axis of it repeats.
 *
 * TN_ESHAPE  two sources conflict ("add: axis 1: extents 5 and 6 do not broadcast"), or one does
 *            not broadcast to dst */
tn_status tni_broadcast_operands(const tn_tensor **ts, tn_tensor *repeated, const char *call,
                                 const tn_tensor *dst, int n, const tn_tensor *const *srcs);

/* The check of it alone. */
tn_status tni_broadcast_check(const char *call, const tn_tensor *dst, int n,
                              const tn_tensor *const *srcs);

/* The shape that the sources broadcast to; TN_ESHAPE as above.  shape has space for TN_MAX_NDIM. */
tn_status tni_broadcast_sources(const char *call, int n, const tn_tensor *const *srcs,
                                int *ndim, int64_t *shape);

/* ---- shared bytes (overlap.c); operands are checked ones ---- */

/* TN_ESTRIDE when t, called who, names a byte twice, or when that cannot be decided within the
 * limit. */
tn_status tni_check_injective(const tn_tensor *t, const char *call, const char *who);

/* Whether dst and src overlap, that is, share a byte; with allow_alias a src that is exactly dst
 * (data, dtype, shape, strides of axes longer than 1) is disjoint. */
typedef enum tni_overlap { TNI_DISJOINT, TNI_OVERLAPS, TNI_UNDECIDED } tni_overlap;
tni_overlap tni_find_overlap(const tn_tensor *dst, const tn_tensor *src, bool allow_alias);

/* TN_EOVERLAP for what is not TNI_DISJOINT, with the names of both. */
tn_status tni_fail_overlap(tni_overlap found, const char *call, const char *dst,
                           const char *src);

/* Both in one; names NULL: "dst" and "src". */
tn_status tni_check_disjoint(const tn_tensor *dst, const tn_tensor *src, bool allow_alias,
                             const char *call, const char *const names[2]);

/* Exactly the same elements at the same addresses: data, dtype, shape, strides where n > 1. */
bool tni_same(const tn_tensor *a, const tn_tensor *b);

/* ---- facts of a checked tensor; they cannot fail ---- */

int64_t tni_numel(const tn_tensor *t);
void tni_extent(const tn_tensor *t, int64_t *low, int64_t *high); /* empty: 0, 0 */

/* A dense tensor in memory of the calling thread's handle, which tn_free releases (make.c).  The
 * shape is checked as by tn_init; sentences name the call. */
tn_status tni_alloc_dense(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape,
                          const char *call);

/* ---- parts of views ---- */

/* Everything of in but its axes. */
static inline void tni_inherit(tn_tensor *out, const tn_tensor *in, void *data, int ndim)
{
    out->data = data;
    out->dtype = in->dtype;
    out->ndim = ndim;
    out->device = in->device;
    out->flags = in->flags;
}

/* One axis.  Axes are few: a compiler that sees a loop of this would call memmove, which takes
 * longer than the loop, so it is kept from looking. */
static inline void tni_set_axis(tn_tensor *out, int i, int64_t n, int64_t stride)
{
    out->shape[i] = n;
    out->stride[i] = stride;
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
}

/* in without axis dim, at data; all else stays. */
void tni_drop_axis(tn_tensor *out, const tn_tensor *in, int dim, void *data);

/* data + offset bytes; NULL stays NULL. */
static inline void *tni_offset(void *data, int64_t offset)
{
    return data ? (void *)((uintptr_t)data + (uintptr_t)offset) : NULL;
}

/* ---- one element (offset.c) ---- */

/* The index of element `flat`, in row-major order, of a shape; and the bytes from element
 * (0, …, 0) of t to the element of that index. */
void tni_unravel(int ndim, const int64_t *shape, int64_t flat, int64_t *index);
int64_t tni_element_offset(const tn_tensor *t, const int64_t *index);

/* ---- arithmetic of extents and strides (shape.c); extents are not negative ---- */

/* width times the product of all extents that are not 0; false: does not fit. */
bool tni_shape_size(int ndim, const int64_t *shape, int64_t width, int64_t *size);

/* width plus the sum of (n - 1) * |stride|: the length of the byte range; false: does not
 * fit. */
bool tni_shape_reach(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *reach);

/* No extent is negative, and both of them fit. */
bool tni_shape_fits(int ndim, const int64_t *shape, const int64_t *stride, int64_t width);

/* Row-major strides, number of elements, byte range [low, high) around element (0, …, 0), of a
 * shape whose size and reach fit.  Nothing of an empty one is in range: 0, 0. */
void tni_shape_dense(int ndim, const int64_t *shape, int64_t width, int64_t *stride);
int64_t tni_shape_count(int ndim, const int64_t *shape);
bool tni_shape_merges(int ndim, const int64_t *shape, const int64_t *stride); /* as one axis */
void tni_shape_range(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *low, int64_t *high);

/* Bytes from element (0, …, 0) to the element at index, which lies in the shape. */
int64_t tni_shape_offset(int ndim, const int64_t *shape, const int64_t *stride,
                         const int64_t *index);

/* How many elements a slice takes of n, read as Python reads it; *start becomes the first. */
int64_t tni_shape_slice(int64_t n, int64_t *start, int64_t stop, int64_t step);

/* ---- the short paths of the checks above ---- */

tn_status tni_fail_pair(const tn_tensor *out, const tn_tensor *in, const char *call);
tn_status tni_fail_sound(const tn_tensor *t, const char *who);
tn_status tni_fail_axis(int dim, int ndim, const char *call);

static inline bool tni_has_shape(const tn_tensor *t, int ndim, const int64_t *shape)
{
    if (t->ndim != ndim)
        return false;
    for (int i = 0; i < ndim; i++)
        if (t->shape[i] != shape[i])
            return false;
    return true;
}

static inline bool tni_ndim_fine(const tn_tensor *t)
{
    return (unsigned)t->ndim <= TN_MAX_NDIM;
}

/* Up to four axes of at most 2^14 with strides below 2^44: their size is at most 2^60 and their
 * reach below 2^61, which needs no arithmetic to see. */
static inline bool tni_small(const tn_tensor *t)
{
    const uint64_t most = 1u << 14, far = (uint64_t)1 << 44;
    if (t->ndim > 4)
        return false;
    for (int i = 0; i < t->ndim; i++)
        if ((uint64_t)t->shape[i] > most || (uint64_t)t->stride[i] + far > 2 * far)
            return false;
    return true;
}

static inline bool tni_sound(const tn_tensor *t)
{
    return tni_dtype_known(t->dtype) &&
           (tni_small(t) || tni_shape_fits(t->ndim, t->shape, t->stride, tni_width(t->dtype)));
}

/* Whether t passes every rule as a source. */
static inline bool tni_operand_sound(const tn_tensor *t)
{
    return t && tni_ndim_fine(t) && t->device == TN_CPU && tni_sound(t);
}

static inline tn_status tni_check_pair(const tn_tensor *out, const tn_tensor *in,
                                       const char *call)
{
    return LIKELY(out && in && tni_ndim_fine(in)) ? TN_OK : tni_fail_pair(out, in, call);
}

static inline tn_status tni_check_dtype(const tn_tensor *t, const char *who)
{
    return LIKELY(tni_dtype_known(t->dtype)) ? TN_OK : tni_fail_sound(t, who);
}

static inline tn_status tni_check_sound(const tn_tensor *t, const char *who)
{
    return LIKELY(tni_sound(t)) ? TN_OK : tni_fail_sound(t, who);
}

static inline tn_status tni_call_sizes(const tni_call *call)
{
    for (int k = 0; k < call->n; k++)
        if (UNLIKELY(!tni_sound(call->srcs[k])))
            return tni_check_rules(TNI_SIZE, call);
    return TN_OK;
}

static inline tn_status tni_check_axis(int dim, int ndim, const char *call)
{
    return LIKELY(dim >= 0 && dim < ndim) ? TN_OK : tni_fail_axis(dim, ndim, call);
}

#endif
