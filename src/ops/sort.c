/* sort.c - sort, topk, kth, searchsorted and unique. */
#include <math.h>
#include <stdint.h>

#include <tenon/copy.h>
#include <tenon/create.h>
#include <tenon/index.h>
#include <tenon/ops.h>

#include "plan/plan.h"
#include "reduce_check.h"
#include "view/view.h"

typedef struct sort_call {
    int dim;
    unsigned flags;
    const tn_tensor *values, *indices;
    int64_t k; /* kth: the position of the element */
    bool kth;
} sort_call;

static const char *const sort_names[2][2][2] = {{{"values", "src"}, {"indices", "src"}},
                                                {{"value", "src"}, {"index", "src"}}};

static tn_status sort_args(const tni_call *call)
{
    const sort_call *s = call->own;
    const tn_tensor *src = call->srcs[0];
    if (s->flags & ~TN_DESCENDING)
        return tni_fail(TN_EARG, "%s: flags are 0x%x, expected 0 or TN_DESCENDING", call->name,
                        s->flags);
    TRY(tni_check_axis(s->dim, src->ndim, call->name));
    const int64_t n = src->shape[s->dim]; /* a negative one is reported later */
    if (s->kth && (s->k < 0 || (n >= 0 && s->k >= n)))
        return tni_fail(TN_EARG, "%s: k is %lld, expected [0, %lld)", call->name,
                        (long long)s->k, (long long)(n > 0 ? n : 0));
    return TN_OK;
}

static tn_status sort_dtypes(const tni_call *call)
{
    const sort_call *s = call->own;
    const tn_dtype src = call->srcs[0]->dtype;
    if (tni_is_complex(src))
        return tni_fail(TN_EDTYPE, "%s: src: %s has no order", call->name, tn_dtype_name(src));
    if (call->dst == s->values && s->values->dtype != src)
        return tni_fail(TN_EDTYPE, "%s: %s: got %s, expected %s", call->name,
                        tni_dst_name(call), tn_dtype_name(s->values->dtype),
                        tn_dtype_name(src));
    if (call->dst == s->indices && s->indices->dtype != TN_I64 && s->indices->dtype != TN_I32)
        return tni_fail(TN_EDTYPE, "%s: %s: got %s, expected i64 or i32", call->name,
                        tni_dst_name(call), tn_dtype_name(s->indices->dtype));
    return TN_OK;
}

/* Check dst's shape: for sort, src's with at most its extent along dim; for kth, src's with
 * extent 1 along dim, or without dim. */
static tn_status sort_shapes(const tni_call *call)
{
    const sort_call *s = call->own;
    const tn_tensor *src = call->srcs[0], *dst = call->dst;
    const int64_t n = src->shape[s->dim];
    const bool all = dst->ndim == src->ndim;
    int64_t shape[TN_MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < src->ndim; i++)
        if (i != s->dim)
            shape[ndim++] = src->shape[i];
        else if (all || !s->kth)
            shape[ndim++] = s->kth ? 1 : all ? dst->shape[i] : n;
    TRY(tni_check_shape(dst, ndim, shape, call->name, tni_dst_name(call)));
    if (!s->kth && dst->shape[s->dim] > n)
        return tni_fail(TN_ESHAPE, "%s: %s: axis %d: got extent %lld, expected at most %lld",
                        call->name, tni_dst_name(call), s->dim, (long long)dst->shape[s->dim],
                        (long long)n);
    if (dst == s->indices && dst->dtype == TN_I32 && n > INT32_MAX)
        return tni_fail(TN_EDTYPE, "%s: %s: got i32, expected i64 for %lld elements",
                        call->name, tni_dst_name(call), (long long)n);
    return TN_OK;
}

/* Check both outputs, one after the other. */
static tn_status check_sort(const sort_call *s, const char *name, const tn_tensor *src)
{
    const tn_tensor *const dst[] = {s->values, s->indices};
    const char *const(*names)[2] = sort_names[s->kth];
    if (!s->values && !s->indices)
        return tni_fail(TN_ENULL, "%s: %s and %s are NULL", name, names[0][0], names[1][0]);
    for (int i = 0; i < 2; i++)
        if (dst[i])
            TRY(tni_check_call(&(tni_call){.name = name,
                                           .flags = i ? 0 : TNI_ALLOW_ALIAS,
                                           .dst = dst[i],
                                           .n = 1,
                                           .srcs = &src,
                                           .names = names[i],
                                           .args = sort_args,
                                           .dtypes = sort_dtypes,
                                           .shapes = sort_shapes,
                                           .own = (void *)(uintptr_t)s}));
    if (!s->values || !s->indices)
        return TN_OK;
    if (!s->kth && s->values->shape[s->dim] != s->indices->shape[s->dim])
        return tni_fail(TN_ESHAPE, "%s: values and indices have different extents %lld, %lld",
                        name, (long long)s->values->shape[s->dim],
                        (long long)s->indices->shape[s->dim]);
    return tni_check_disjoint(s->values, s->indices, false, name,
                              (const char *const[]){"values", "indices"});
}

/* The number of elements of each sequence that a sort returns. */
static int64_t sorted_count(const sort_call *s)
{
    return (s->values ? s->values : s->indices)->shape[s->dim];
}

tn_status tn_sort(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                  int dim, unsigned flags)
{
    const sort_call s = {.dim = dim, .flags = flags, .values = values, .indices = indices};
    TRY(check_sort(&s, "sort", src));
    const size_t size = tni_sort_bytes(src, dim);
    const int64_t count = sorted_count(&s);
    if (size == 0 || count == 0)
        return TN_OK;
    void *scratch = tni_alloc(size);
    if (!scratch)
        return tni_fail(TN_ENOMEM, "sort: cannot allocate %zu bytes of keys", size);
    tni_sort_run(values, indices, src, dim, 0, count, flags & TN_DESCENDING, scratch, size);
    tni_free(scratch);
    return TN_OK;
}

size_t tn_sort_workspace(const tn_tensor *values, const tn_tensor *indices,
                         const tn_tensor *src, int dim, unsigned flags)
{
    (void)values, (void)indices, (void)flags;
    if (tni_check(src, "sort_workspace: src") != TN_OK || dim < 0 || dim >= src->ndim)
        return 0;
    return tni_sort_bytes(src, dim);
}

tn_status tn_sort_in(const tn_tensor *values, const tn_tensor *indices, const tn_tensor *src,
                     int dim, unsigned flags, void *workspace, size_t size)
{
    const sort_call s = {.dim = dim, .flags = flags, .values = values, .indices = indices};
    TRY(check_sort(&s, "sort_in", src));
    const int64_t count = sorted_count(&s);
    if (tni_sort_least(src, dim) == 0 || count == 0)
        return TN_OK;
    if (!workspace)
        return tni_fail(TN_ENULL, "sort_in: workspace is NULL");
    if (size < tni_sort_least(src, dim))
        return tni_fail(TN_EARG, "sort_in: workspace: got %zu bytes, expected at least %zu",
                        size, tni_sort_least(src, dim));
    if ((uintptr_t)workspace % TNI_LINE)
        return tni_fail(TN_EARG,
                        "sort_in: workspace: got an address %d past a multiple of %d, expected "
                        "such a multiple",
                        (int)((uintptr_t)workspace % TNI_LINE), TNI_LINE);
    tni_sort_run(values, indices, src, dim, 0, count, flags & TN_DESCENDING, workspace, size);
    return TN_OK;
}

/* ---- the element at a position of the order ---- */

/* Insert axis dim into *dst, which is checked, if it lacks the axis. */
static tn_status with_axis(const tn_tensor **dst, tn_tensor *place, const tn_tensor *src,
                           int dim)
{
    if (!*dst || (*dst)->ndim == src->ndim)
        return TN_OK;
    TRY(TNI_NEVER(tn_unsqueeze(place, *dst, dim))); /* src has one more axis */
    *dst = place;
    return TN_OK;
}

tn_status tn_kth(const tn_tensor *value, const tn_tensor *index, const tn_tensor *src, int dim,
                 int64_t k, unsigned flags)
{
    const sort_call s = {dim, flags, value, index, k, true};
    tn_tensor v, x;
    TRY(check_sort(&s, "kth", src));
    TRY(with_axis(&value, &v, src, dim));
    TRY(with_axis(&index, &x, src, dim));
    const size_t size = tni_sort_bytes(src, dim);
    if (size == 0)
        return TN_OK;
    void *scratch = tni_alloc(size);
    if (!scratch)
        return tni_fail(TN_ENOMEM, "kth: cannot allocate %zu bytes of keys", size);
    tni_sort_run(value, index, src, dim, k, 1, flags & TN_DESCENDING, scratch, size);
    tni_free(scratch);
    return TN_OK;
}

/* ---- searching ---- */

static tn_status search_dtypes(const tni_call *call)
{
    const tn_dtype a = call->srcs[0]->dtype, b = call->srcs[1]->dtype;
    if (call->dst->dtype != TN_I64)
        return tni_fail(TN_EDTYPE, "searchsorted: dst: got %s, expected i64",
                        tn_dtype_name(call->dst->dtype));
    if (a != b || tni_is_complex(a))
        return tni_fail(
            TN_EDTYPE,
            "searchsorted: sorted is %s and values are %s, expected equal real dtypes",
            tn_dtype_name(a), tn_dtype_name(b));
    return TN_OK;
}

static tn_status search_shapes(const tni_call *call)
{
    if (call->srcs[0]->ndim != 1)
        return tni_fail(TN_ESHAPE, "searchsorted: sorted: got %d axes, expected 1",
                        call->srcs[0]->ndim);
    return tni_check_shape(call->dst, call->srcs[1]->ndim, call->srcs[1]->shape, call->name,
                           "dst");
}

tn_status tn_searchsorted(const tn_tensor *dst, const tn_tensor *sorted,
                          const tn_tensor *values, bool right)
{
    TRY(tni_check_call(&(tni_call){.name = "searchsorted",
                                   .dst = dst,
                                   .n = 2,
                                   .srcs = (const tn_tensor *const[]){sorted, values},
                                   .dtypes = search_dtypes,
                                   .shapes = search_shapes}));
    tni_search_run(dst, sorted, values, right);
    return TN_OK;
}

/* ---- distinct elements ---- */

typedef struct unique_work {
    tn_tensor flat, sorted, at;            /* src flat and dense; sorted; original positions */
    tn_tensor nan, part, key, order, next; /* buffers for sorting complex numbers */
    void *scratch;
    tn_tensor values, first, inverse, counts;
} unique_work;

static void unique_drop(unique_work *u, bool failed)
{
    tn_free(&u->flat);
    tn_free(&u->sorted);
    tn_free(&u->at);
    tn_free(&u->nan);
    tn_free(&u->part);
    tn_free(&u->key);
    tn_free(&u->order);
    tn_free(&u->next);
    tni_free(u->scratch);
    if (failed) {
        tn_free(&u->values);
        tn_free(&u->first);
        tn_free(&u->inverse);
        tn_free(&u->counts);
    }
}

static tn_status unique_alloc(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    return tni_alloc_dense(t, dtype, ndim, shape, "unique_copy");
}

static tn_status unique_sort_flat(unique_work *u, const tn_tensor *values,
                                  const tn_tensor *indices, const tn_tensor *flat)
{
    const size_t size = tni_sort_bytes(flat, 0);
    if (size == 0)
        return TN_OK;
    tni_free(u->scratch);
    u->scratch = tni_alloc(size);
    if (!u->scratch)
        return tni_fail(TN_ENOMEM, "unique_copy: cannot allocate %zu bytes of keys", size);
    tni_sort_run(values, indices, flat, 0, 0, flat->shape[0], false, u->scratch, size);
    return TN_OK;
}

/* Sort complex numbers by real part, then imaginary part; those with a NaN come last, in the
 * order of src.  Two stable passes, the imaginary parts first. */
static tn_status unique_sort_pairs(unique_work *u, int64_t n)
{
    const int64_t width = tni_width(u->flat.dtype);
    const tn_dtype dtype = width == 8 ? TN_F32 : TN_F64;
    TRY(unique_alloc(&u->nan, TN_BOOL, 1, &n));
    TRY(unique_alloc(&u->part, dtype, 1, &n));
    TRY(unique_alloc(&u->key, dtype, 1, &n));
    TRY(unique_alloc(&u->order, TN_I64, 1, &n));
    TRY(unique_alloc(&u->next, TN_I64, 1, &n));
    TRY(tn_unary(TN_ISNAN, &u->nan, &u->flat));
    TRY(tn_arange(&u->at, 0, 1));
    for (int k = 1; k >= 0; k--) {
        tn_tensor part;
        TRY(tn_init_strided(&part, (char *)u->flat.data + k * width / 2, dtype, 1, &n, &width));
        TRY(tn_ternary(TN_WHERE, &u->part, &u->nan, TN_SCALAR_F32(NAN), &part));
        TRY(tn_take(&u->key, &u->part, 0, &u->at));
        TRY(unique_sort_flat(u, NULL, &u->order, &u->key));
        TRY(tn_take(&u->next, &u->at, 0, &u->order));
        const tn_tensor at = u->at;
        u->at = u->next;
        u->next = at;
    }
    return tn_take(&u->sorted, &u->flat, 0, &u->at);
}

/* where: fill u->at with the original positions. */
static tn_status unique_sort(unique_work *u, const tn_tensor *src, bool where)
{
    const int64_t n = tni_numel(src);
    tn_tensor shaped;
    TRY(unique_alloc(&u->flat, src->dtype, 1, &n));
    TRY(tn_init(&shaped, u->flat.data, src->dtype, src->ndim, src->shape));
    TRY(tn_rearrange(&shaped, src));
    TRY(unique_alloc(&u->sorted, src->dtype, 1, &n));
    if (where || tni_is_complex(src->dtype))
        TRY(unique_alloc(&u->at, TN_I64, 1, &n));
    return tni_is_complex(src->dtype)
               ? unique_sort_pairs(u, n)
               : unique_sort_flat(u, &u->sorted, where ? &u->at : NULL, &u->flat);
}

static tn_status unique_fill(unique_work *u, const tn_tensor *src, bool first, bool inverse,
                             bool counts, bool each)
{
    TRY(unique_sort(u, src, first || inverse));
    tni_groups g = {
        .x = u->sorted.data, .dtype = src->dtype, .n = tni_numel(src), .each = each};
    const int64_t groups = tni_group_count(&g);
    TRY(unique_alloc(&u->values, src->dtype, 1, &groups));
    if (first)
        TRY(unique_alloc(&u->first, TN_I64, 1, &groups));
    if (counts)
        TRY(unique_alloc(&u->counts, TN_I64, 1, &groups));
    if (inverse)
        TRY(unique_alloc(&u->inverse, TN_I64, src->ndim, src->shape));
    tni_group_fill(&g, u->at.data, u->values.data, u->first.data, u->inverse.data,
                   u->counts.data);
    return TN_OK;
}

static tn_status unique(tn_tensor *values, tn_tensor *first, tn_tensor *inverse,
                        tn_tensor *counts, const tn_tensor *src, bool each)
{
    unique_work u = {0};
    if (!values)
        return tni_fail(TN_ENULL, "unique_copy: values is NULL");
    TRY(tni_check(src, "unique_copy: src"));
    TRY(tni_check_data(src, "unique_copy: src"));
    const tn_status status =
        unique_fill(&u, src, first != NULL, inverse != NULL, counts != NULL, each);
    unique_drop(&u, status != TN_OK);
    if (status != TN_OK)
        return status;
    *values = u.values;
    if (first)
        *first = u.first;
    if (inverse)
        *inverse = u.inverse;
    if (counts)
        *counts = u.counts;
    return TN_OK;
}

tn_status tn_unique_copy(tn_tensor *values, tn_tensor *first, tn_tensor *inverse,
                         tn_tensor *counts, const tn_tensor *src)
{
    return unique(values, first, inverse, counts, src, false);
}

tn_status tn_unique_each_copy(tn_tensor *values, tn_tensor *first, tn_tensor *inverse,
                              tn_tensor *counts, const tn_tensor *src)
{
    return unique(values, first, inverse, counts, src, true);
}
