/* index.c - take and put: the checks of their arguments; the values of the indices are checked
 * last. */
#include <stdio.h>
#include <string.h>

#include <tenon/index.h>

#include "index_check.h"
#include "plan/plan.h"
#include "view/view.h"

typedef struct index_call {
    int dim;
    tn_put_op op;
    bool put, along;
    const tn_tensor *index;
    tn_tensor view[3]; /* dst, src and index, in the shape of the loop */
    tni_choice choice;
} index_call;

/* The operand that is indexed. */
static const tn_tensor *chosen_from(const tni_call *call)
{
    const index_call *x = call->own;
    return x->put ? call->dst : call->srcs[0];
}

static tn_status index_args(const tni_call *call)
{
    const index_call *x = call->own;
    if (x->put && (unsigned)x->op > TN_PUT_MAX)
        return tni_fail(TN_EARG, "%s: op %d is unknown", call->name, (int)x->op);
    TRY(tni_check_axis(x->dim, chosen_from(call)->ndim, call->name));
    if (!x->along && chosen_from(call)->ndim - 1 + x->index->ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: index: got %d axes, the result would have more than %d",
                        call->name, x->index->ndim, TN_MAX_NDIM);
    return TN_OK;
}

static tn_status index_dtypes(const tni_call *call)
{
    const index_call *x = call->own;
    const tn_dtype dtype = call->dst->dtype, index = x->index->dtype;
    if (!tni_is_integer(index))
        return tni_fail(TN_EDTYPE, "%s: index: got %s, expected an integer", call->name,
                        tn_dtype_name(index));
    if (call->srcs[0]->dtype != dtype)
        return tni_fail(TN_EDTYPE, "%s: dst is %s and src is %s, expected equal dtypes",
                        call->name, tn_dtype_name(dtype), tn_dtype_name(call->srcs[0]->dtype));
    if (x->put && x->op != TN_PUT_SET &&
        (dtype == TN_BOOL || (tni_is_complex(dtype) && x->op > TN_PUT_MUL)))
        return tni_fail(TN_EDTYPE, "%s: dst: got %s, expected %s for this op", call->name,
                        tn_dtype_name(dtype),
                        x->op > TN_PUT_MUL ? "an integer or float" : "any dtype but bool");
    return TN_OK;
}

/* The shape of the loop: that of `from`, with the axes of index in place of dim. */
static int walked_shape(const index_call *x, const tn_tensor *from, int64_t *shape)
{
    int ndim = 0;
    for (int i = 0; i < from->ndim; i++) {
        const int own = i - from->ndim + x->index->ndim; /* of index, aligned at the end */
        if (i != x->dim)
            shape[ndim++] = from->shape[i];
        else if (x->along)
            shape[ndim++] = own < 0 ? 1 : x->index->shape[own];
        else
            for (int k = 0; k < x->index->ndim; k++)
                shape[ndim++] = x->index->shape[k];
    }
    return ndim;
}

/* t in the shape of the loop, with stride 0 along the axes of index. */
static void view_chosen(tn_tensor *out, const index_call *x, const tn_tensor *t, int ndim,
                        const int64_t *shape)
{
    int j = 0;
    tni_inherit(out, t, t->data, ndim);
    for (int i = 0; i < t->ndim; i++) {
        const int axes = i != x->dim ? 1 : x->along ? 1 : x->index->ndim;
        for (int k = 0; k < axes; k++, j++)
            tni_set_axis(out, j, shape[j], i == x->dim ? 0 : t->stride[i]);
    }
}

static void view_index(tn_tensor *out, const index_call *x, int ndim, const int64_t *shape)
{
    tni_inherit(out, x->index, x->index->data, ndim);
    for (int i = 0; i < ndim; i++) {
        const int own = i - x->dim;
        const bool mine = own >= 0 && own < x->index->ndim;
        tni_set_axis(out, i, shape[i], mine ? x->index->stride[own] : 0);
    }
}

static tn_status index_shapes(const tni_call *call)
{
    index_call *x = call->own;
    const tn_tensor *from = chosen_from(call), *other = x->put ? call->srcs[0] : call->dst;
    const int chosen = x->put ? 0 : 1, rest = x->put ? 1 : 0;
    int64_t shape[TN_MAX_NDIM];
    const int ndim = walked_shape(x, from, shape);
    if (x->along && x->index->ndim > ndim)
        return tni_fail(TN_ESHAPE, "%s: index: got %d axes, expected %d", call->name,
                        x->index->ndim, ndim);
    if (x->put) {
        TRY(tni_call_sizes(call));
        if (tn_broadcast_to(&x->view[rest], other, ndim, shape) != TN_OK)
            return tni_fail(TN_ESHAPE,
                            "%s: src does not broadcast to the %d axes of dst with "
                            "those of index",
                            call->name, ndim);
    } else {
        TRY(tni_check_shape(other, ndim, shape, call->name, "dst"));
        x->view[rest] = *other;
    }
    view_chosen(&x->view[chosen], x, from, ndim, shape);
    if (!x->along) {
        view_index(&x->view[2], x, ndim, shape);
    } else {
        TRY(tni_call_sizes(call));
        if (tn_broadcast_to(&x->view[2], x->index, ndim, shape) != TN_OK)
            return tni_fail(TN_ESHAPE,
                            "%s: index does not broadcast along the axes other than %d",
                            call->name, x->dim);
    }
    x->choice = (tni_choice){.put = x->put,
                             .op = x->op,
                             .extent = from->shape[x->dim],
                             .step = from->stride[x->dim]};
    return TN_OK;
}

tn_status tni_fail_element(const char *call, const char *what, const tn_tensor *t, int64_t at,
                           int64_t low, int64_t high)
{
    int64_t indices[TN_MAX_NDIM];
    char text[256] = "", number[24];
    size_t used = 0;
    tni_unravel(t->ndim, t->shape, at, indices);
    for (int i = 0; i < t->ndim && used < sizeof text - 32; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%lld", i ? ", " : "",
                                 (long long)indices[i]);
    const char *p = (const char *)t->data + tni_element_offset(t, indices);
    uint64_t wide;
    snprintf(number, sizeof number, "%lld", (long long)tni_index_at(p, t->dtype));
    if (t->dtype == TN_U64) {
        memcpy(&wide, p, sizeof wide);
        snprintf(number, sizeof number, "%llu", (unsigned long long)wide);
    }
    return tni_fail(TN_EARG, "%s: %s %s at (%s) is not in [%lld, %lld)", call, what, number,
                    text, (long long)low, (long long)high);
}

/* Fail with the first index that is out of range. */
static tn_status check_indices(const char *call, const tn_tensor *index, int64_t n)
{
    const int64_t at = tni_index_outside(index, n);
    return at < 0 ? TN_OK : tni_fail_element(call, "index", index, at, -n, n);
}

static tn_status choose(index_call *x, const char *name, const tn_tensor *dst,
                        const tn_tensor *src, const tn_tensor *index)
{
    static const char *const names[] = {"dst", "src", "index"};
    const tn_tensor *const srcs[] = {src, index};
    x->index = index;
    TRY(tni_check_call(&(tni_call){.name = name,
                                   .dst = dst,
                                   .n = 2,
                                   .srcs = srcs,
                                   .names = names,
                                   .args = index_args,
                                   .dtypes = index_dtypes,
                                   .shapes = index_shapes,
                                   .own = x}));
    TRY(check_indices(name, index, x->choice.extent));
    tni_choice_run(&x->choice,
                   (const tn_tensor *const[]){&x->view[0], &x->view[1], &x->view[2]});
    return TN_OK;
}

tn_status tn_take(const tn_tensor *dst, const tn_tensor *src, int dim, const tn_tensor *index)
{
    index_call x; /* its views are 3 KB, mostly unused, and therefore not cleared */
    x.dim = dim;
    x.op = TN_PUT_SET;
    x.put = x.along = false;
    return choose(&x, "take", dst, src, index);
}

tn_status tn_take_along(const tn_tensor *dst, const tn_tensor *src, int dim,
                        const tn_tensor *index)
{
    return choose(&(index_call){.dim = dim, .along = true}, "take_along", dst, src, index);
}

tn_status tn_put(tn_put_op op, const tn_tensor *dst, int dim, const tn_tensor *index,
                 const tn_tensor *src)
{
    return choose(&(index_call){.dim = dim, .op = op, .put = true}, "put", dst, src, index);
}

tn_status tn_put_along(tn_put_op op, const tn_tensor *dst, int dim, const tn_tensor *index,
                       const tn_tensor *src)
{
    return choose(&(index_call){.dim = dim, .op = op, .put = true, .along = true}, "put_along",
                  dst, src, index);
}
