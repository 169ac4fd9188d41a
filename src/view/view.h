/* view.h - where is element (i, j, k)?  Geometry of tensors, as integers only.
 *
 * No function of this module reads or writes an element. */
#ifndef TNI_VIEW_H
#define TNI_VIEW_H

#include <tenon/tensor.h>

#include "core/core.h"

/* ---- checks of a descriptor (check.c), in the order in which failures are reported ---- */

/* Check that t is not NULL, then ndim, device, dtype, extents, size.  who names call and
 * operand: "rearrange: dst". */
tn_status tni_check(const tn_tensor *t, const char *who);

/* As tni_check, and t must be writable: TN_READONLY is reported like a bad ndim. */
tn_status tni_check_dst(const tn_tensor *t, const char *who);

/* tni_check in two halves, without the device, for views and facts: between them the call
 * checks its own axes and numbers.  tni_check_given (tni_check_pair for out and in of a view)
 * checks NULL and ndim; tni_check_sound checks dtype, extents and size. */
tn_status tni_check_given(const tn_tensor *t, const char *who);
static inline tn_status tni_check_pair(const tn_tensor *out, const tn_tensor *in,
                                       const char *call);
static inline tn_status tni_check_sound(const tn_tensor *t, const char *who);

/* Check the dtype alone, for calls that report it before a shape that does not fit. */
static inline tn_status tni_check_dtype(const tn_tensor *t, const char *who);

/* Check that 0 <= dim < ndim. */
static inline tn_status tni_check_axis(int dim, int ndim, const char *call);

/* A call with several operands reports the first rule that any of them breaks; within a rule,
 * operands are checked from left to right.  Between the rules the call inserts its own checks:
 * NULL arguments after TNI_NULL, axes and counts after TNI_NDIM, mismatched dtypes after
 * TNI_DTYPE, mismatched shapes after TNI_SHAPE.
 *
 *       TRY(tni_check_all(TNI_NULL | TNI_NDIM, "concat", dst, n, srcs));
 *       if (dim < 0 || dim >= dst->ndim) ...
 *       TRY(tni_check_all(TNI_DEVICE | TNI_DTYPE, "concat", dst, n, srcs)); ...
 *
 * The error sentence names the operands "dst", and "src" or "src 0", "src 1", …; dst is written
 * by the call.  n < 0 counts as no operands.  With every rule and sound operands this is one
 * quick pass. */
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

/* As tni_check_all, for a call without dst. */
tn_status tni_check_srcs(unsigned rules, const char *call, int n, const tn_tensor *const *srcs);

/* Check that t, which operand names, has this shape: "matmul: dst: got 3 axes, expected 2",
 * "take: dst: axis 1: got extent 5, expected 6". */
tn_status tni_check_shape(const tn_tensor *t, int ndim, const int64_t *shape, const char *call,
                          const char *operand);

/* ---- the checks of a whole call (call.c) ---- */

typedef struct tni_call tni_call;
typedef tn_status (*tni_call_hook)(const tni_call *call);

enum {
    TNI_NO_DST = 1,      /* the call allocates its result, or only reads */
    TNI_ALLOW_ALIAS = 2, /* a source may be exactly dst */
    TNI_NO_DATA = 4,     /* for plans and facts: data may be NULL and may overlap */
};

/* The arguments of a call.  tni_check_call reports the first failure in this order: NULL
 * operands, nulls, ndim and TN_READONLY, args, device and dtype, dtypes, negative extents,
 * shapes, sizes, self-overlap of dst, data, overlap.  The hooks are the call's own checks; NULL
 * means none.  When a hook runs, every operand has passed the rules before it. */
struct tni_call {
    const char *name; /* begins the message: "concat" */
    unsigned flags;
    const tn_tensor *dst;
    int n;
    const tn_tensor *const *srcs;
    const char *const *names; /* of dst and of each source; NULL: "dst", and "src" or "src k" */
    tni_call_hook nulls;      /* other pointers */
    tni_call_hook args;       /* axes, counts, modes */
    tni_call_hook dtypes;     /* how dtypes must agree */
    tni_call_hook shapes;     /* how shapes must agree */
    void *own;                /* the hooks' arguments and results */
};

tn_status tni_check_call(const tni_call *call);

/* The last step of tni_check_call: operands with elements have data, and dst shares no byte
 * with a source. */
tn_status tni_call_data(const tni_call *call);

/* Check some of the rules for the operands of a call (check.c). */
tn_status tni_check_rules(unsigned rules, const tni_call *call);

/* The name in error sentences of source k, or of dst for k = -1; who is a buffer of TNI_WHO
 * bytes. */
enum { TNI_WHO = 64 };
const char *tni_operand_name(char *who, const tni_call *call, int k);

static inline const char *tni_dst_name(const tni_call *call)
{
    return call->names ? call->names[0] : "dst";
}

/* Check the sizes of the sources ahead of their turn, for shape hooks that compute with
 * them. */
static inline tn_status tni_call_sizes(const tni_call *call);

/* Hooks that several calls share: every source has dst's dtype, or dst's shape. */
tn_status tni_call_same_dtypes(const tni_call *call);
tn_status tni_call_same_shapes(const tni_call *call);

/* TN_ENULL if t has elements but no data. */
tn_status tni_check_data(const tn_tensor *t, const char *who);

/* Whether an axis of extent n broadcasts to extent `to`. */
static inline bool tni_broadcasts(int64_t n, int64_t to)
{
    return n == to || n == 1;
}

/* Broadcast n sources to dst's shape (broadcast.c): ts[0] is dst; ts[k + 1] is source k itself,
 * or repeated[k] if one of its axes repeats.
 *
 *   TN_ESHAPE  two sources conflict ("add: axis 1: extents 5 and 6 do not broadcast"), or one
 *              does not broadcast to dst */
tn_status tni_broadcast_operands(const tn_tensor **ts, tn_tensor *repeated, const char *call,
                                 const tn_tensor *dst, int n, const tn_tensor *const *srcs);

/* Only the checks of tni_broadcast_operands. */
tn_status tni_broadcast_check(const char *call, const tn_tensor *dst, int n,
                              const tn_tensor *const *srcs);

/* The shape that the sources broadcast to; TN_ESHAPE if two of them conflict.  shape has room
 * for TN_MAX_NDIM extents. */
tn_status tni_broadcast_sources(const char *call, int n, const tn_tensor *const *srcs,
                                int *ndim, int64_t *shape);

/* ---- shared bytes (overlap.c); operands have been checked ---- */

/* TN_ESTRIDE if two indices of t, named who, share a byte, or if that cannot be decided within
 * the work limit. */
tn_status tni_check_injective(const tn_tensor *t, const char *call, const char *who);

/* Whether dst and src overlap, that is, share a byte.  With allow_alias, a src that is exactly
 * dst (data, dtype, shape, strides of axes longer than 1) counts as disjoint. */
typedef enum tni_overlap { TNI_DISJOINT, TNI_OVERLAPS, TNI_UNDECIDED } tni_overlap;
tni_overlap tni_find_overlap(const tn_tensor *dst, const tn_tensor *src, bool allow_alias);

/* TN_EOVERLAP, with the names of both, unless found is TNI_DISJOINT. */
tn_status tni_fail_overlap(tni_overlap found, const char *call, const char *dst,
                           const char *src);

/* tni_find_overlap and tni_fail_overlap; names NULL: "dst" and "src". */
tn_status tni_check_disjoint(const tn_tensor *dst, const tn_tensor *src, bool allow_alias,
                             const char *call, const char *const names[2]);

/* Whether a and b are the same elements at the same addresses: data, dtype, shape, and strides
 * where n > 1. */
bool tni_same(const tn_tensor *a, const tn_tensor *b);

/* ---- facts of a checked tensor; they cannot fail ---- */

int64_t tni_numel(const tn_tensor *t);
void tni_extent(const tn_tensor *t, int64_t *low, int64_t *high); /* empty: 0, 0 */

/* Allocate a dense tensor from the calling thread's handle, for tn_free to release (make.c).
 * The shape is checked as by tn_init; error sentences name the call. */
tn_status tni_alloc_dense(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape,
                          const char *call);

/* ---- parts of views ---- */

/* Copy everything but the axes of in. */
static inline void tni_inherit(tn_tensor *out, const tn_tensor *in, void *data, int ndim)
{
    out->data = data;
    out->dtype = in->dtype;
    out->ndim = ndim;
    out->device = in->device;
    out->flags = in->flags;
}

/* Set one axis.  Tensors have few axes: a compiler that recognises the caller's loop as a
 * memmove would call it, which takes longer than the loop.  The barrier prevents that. */
static inline void tni_set_axis(tn_tensor *out, int i, int64_t n, int64_t stride)
{
    out->shape[i] = n;
    out->stride[i] = stride;
#if defined(__GNUC__)
    __asm__ volatile("" ::: "memory");
#endif
}

/* in without axis dim, at data; everything else stays. */
void tni_drop_axis(tn_tensor *out, const tn_tensor *in, int dim, void *data);

/* data + offset bytes; NULL stays NULL. */
static inline void *tni_offset(void *data, int64_t offset)
{
    return data ? (void *)((uintptr_t)data + (uintptr_t)offset) : NULL;
}

/* ---- one element (offset.c) ---- */

/* The index of element `flat` of a shape, in row-major order; and the bytes from element (0, …,
 * 0) of t to the element at index. */
void tni_unravel(int ndim, const int64_t *shape, int64_t flat, int64_t *index);
int64_t tni_element_offset(const tn_tensor *t, const int64_t *index);

/* ---- arithmetic of extents and strides (shape.c); extents are not negative ---- */

/* width times the product of all extents other than 0; false if it does not fit. */
bool tni_shape_size(int ndim, const int64_t *shape, int64_t width, int64_t *size);

/* width plus the sum of (n - 1) * |stride|, the length of the byte range; false if it does not
 * fit. */
bool tni_shape_reach(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *reach);

/* Whether no extent is negative and both size and reach fit. */
bool tni_shape_fits(int ndim, const int64_t *shape, const int64_t *stride, int64_t width);

/* Row-major strides, number of elements, whether memory is walked as one axis, and the byte
 * range [low, high) around element (0, …, 0), of a shape whose size and reach fit.  The range
 * of an empty shape is 0, 0. */
void tni_shape_dense(int ndim, const int64_t *shape, int64_t width, int64_t *stride);
int64_t tni_shape_count(int ndim, const int64_t *shape);
bool tni_shape_merges(int ndim, const int64_t *shape, const int64_t *stride);
void tni_shape_range(int ndim, const int64_t *shape, const int64_t *stride, int64_t width,
                     int64_t *low, int64_t *high);

/* Bytes from element (0, …, 0) to the element at index, which is inside the shape. */
int64_t tni_shape_offset(int ndim, const int64_t *shape, const int64_t *stride,
                         const int64_t *index);

/* The number of elements that a slice selects from n by Python's rules; *start becomes the
 * first. */
int64_t tni_shape_slice(int64_t n, int64_t *start, int64_t stop, int64_t step);

/* ---- fast paths of the checks above ---- */

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

/* Whether t has at most four axes, extents up to 2^14 and strides below 2^44.  Then its size is
 * at most 2^60 and its reach below 2^61, so that both fit without being computed. */
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
