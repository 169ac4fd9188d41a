/* trial_index.h - random takes, puts, masks, searches, groups and counts, compared with the
 * slow oracles. */
#ifndef TRIAL_INDEX_H
#define TRIAL_INDEX_H

#include "trial_reduce.h"

static void free_grounds(int n, ground *const *all)
{
    for (int i = 0; i < n; i++)
        ground_free(all[i]);
}

static void put_whole(char *d, tn_dtype t, int64_t x)
{
    const outcome o = {.u = (uint64_t)x};
    put_outcome(d, t, &o);
}

/* ---- by index ---- */

typedef struct choosing {
    bool put, along;
    int dim;
    tn_put_op op;
    const tn_tensor *src, *index;
} choosing;

static tn_status call_choose(const tn_tensor *dst, const void *about)
{
    const choosing *x = about;
    if (x->along)
        return x->put ? tn_put_along(x->op, dst, x->dim, x->index, x->src)
                      : tn_take_along(dst, x->src, x->dim, x->index);
    return x->put ? tn_put(x->op, dst, x->dim, x->index, x->src)
                  : tn_take(dst, x->src, x->dim, x->index);
}

/* Combine one element: old op new, by the ops themselves. */
static void meet_one(tn_put_op op, tn_dtype t, char *d, char *s)
{
    static const tn_op ops[] = {0, TN_ADD, TN_MUL, TN_MIN, TN_MAX};
    tn_tensor x, y;
    OK(tn_init(&x, d, t, 0, NULL));
    OK(tn_init(&y, s, t, 0, NULL));
    if (op == TN_PUT_SET)
        memcpy(d, s, tn_dtype_size(t));
    else
        OK(tn_binary(ops[op], &x, &x, &y));
}

/* Indices in [-n, n) in any integer dtype that holds them; no two share bytes. */
static ground draw_index(rng *r, int64_t n, int ndim, const int64_t *shape)
{
    int64_t at[TN_MAX_NDIM] = {0};
    tn_dtype t = (tn_dtype)pick(r, TN_I8, TN_U64);
    if (n > 127)
        t = is_unsigned(t) ? TN_U32 : TN_I64;
    ground index = draw_ground(r, t, ndim, shape, false);
    if (tn_numel(&index.t) > 0)
        do
            put_whole(element(&index.t, at), t, pick(r, is_unsigned(t) ? 0 : -n, n - 1));
        while (index_next(at, ndim, shape));
    return index;
}

/* For each index `at` of walked, copy to or from element `far`, whose index on dim is given by
 * x->index. */
static void want_choose(const tn_tensor *dst, const choosing *x, int ndim,
                        const int64_t *walked)
{
    const tn_tensor *far_one = x->put ? dst : x->src;
    const int axes = x->along ? 1 : x->index->ndim, after = x->dim + axes;
    int64_t at[TN_MAX_NDIM] = {0}, far[TN_MAX_NDIM];
    do {
        const int64_t *place = x->along ? at : at + x->dim,
                      i = scalar_at(element(x->index, place), x->index->dtype).i;
        memcpy(far, at, (size_t)x->dim * sizeof *far);
        far[x->dim] = i < 0 ? i + far_one->shape[x->dim] : i;
        memcpy(far + x->dim + 1, at + after, (size_t)(ndim - after) * sizeof *far);
        meet_one(x->op, dst->dtype, element(dst, x->put ? far : at),
                 element(x->src, x->put ? at : far));
    } while (index_next(at, ndim, walked));
}

static bool try_choose(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], walked[TN_MAX_NDIM];
    const tn_dtype dtype = pick_dtype(r);
    int ndim;
    do
        ndim = draw_shape(r, shape, 16);
    while (ndim == 0 || count_of(ndim, shape) == 0);
    choosing x = {.put = next(r) % 2, .along = next(r) % 2, .dim = (int)pick(r, 0, ndim - 1)};
    if (dtype != TN_BOOL && x.put)
        x.op = (tn_put_op)(next(r) % (has_parts(dtype) ? 3 : 5));
    const int axes = x.along ? 1 : (int)pick(r, 0, 2), many = ndim - 1 + axes;
    memcpy(walked, shape, (size_t)x.dim * sizeof *walked);
    for (int i = 0; i < axes; i++)
        walked[x.dim + i] = pick(r, 0, axes == 2 ? 5 : 2 * shape[x.dim]);
    memcpy(walked + x.dim + axes, shape + x.dim + 1,
           (size_t)(ndim - 1 - x.dim) * sizeof *walked);
    ground index = draw_index(r, shape[x.dim], x.along ? ndim : axes,
                              x.along ? walked : walked + x.dim),
           src = x.put ? draw_ground(r, dtype, many, walked, true)
                       : draw_ground(r, dtype, ndim, shape, true),
           dst = x.put ? draw_ground(r, dtype, ndim, shape, false)
                       : draw_ground(r, dtype, many, walked, false);
    fill_scalars(r, &src.t);
    fill_scalars(r, &dst.t);
    ground want = ground_twin(&dst);
    x.src = &src.t;
    x.index = &index.t;
    OK(tn_handle_use(team[1]));
    if (count_of(many, walked) > 0)
        want_choose(&want.t, &x, many, walked);
    static const char *const names[2][2] = {{"take", "take_along"}, {"put", "put_along"}};
    const bool good = settle(t, names[x.put][x.along], &dst, &want, call_choose, &x, &src.t);
    digest_elements(t, &dst.t);
    free_grounds(4, (ground *const[]){&index, &src, &dst, &want});
    return good;
}

/* ---- by mask ---- */

typedef enum masked { SELECTED, MASKED_PUT, NONZERO, MASKED } masked;

typedef struct masking {
    masked kind;
    bool copy;
    const tn_tensor *src, *mask;
} masking;

static tn_status call_mask(const tn_tensor *dst, const void *about)
{
    const masking *x = about;
    tn_tensor made;
    switch (x->kind) {
    case SELECTED:
        if (x->copy)
            return copy_made(tn_masked_select_copy(&made, x->src, x->mask), &made, dst);
        return tn_masked_select(dst, x->src, x->mask);
    case MASKED_PUT:
        return tn_masked_put(dst, x->mask, x->src);
    default:
        if (x->copy)
            return copy_made(tn_nonzero_copy(&made, x->mask), &made, dst);
        return tn_nonzero(dst, x->mask);
    }
}

/* Set about one of `one_of` elements. */
static void fill_mask(rng *r, const tn_tensor *mask, uint64_t one_of)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(mask) > 0)
        do {
            char *d = element(mask, at);
            memset(d, 0, tn_dtype_size(mask->dtype));
            d[0] = next(r) % one_of == 0;
        } while (index_next(at, mask->ndim, mask->shape));
}

static bool is_set(const tn_tensor *mask, const int64_t *at)
{
    const scalar x = scalar_at(element(mask, at), mask->dtype);
    return is_int(mask->dtype) ? x.i != 0 : x.re != 0 || x.im != 0;
}

/* Write the expected dst or, if dst is NULL, only count; returns the count. */
static int64_t want_mask(const tn_tensor *dst, const masking *x, const tn_tensor *mask)
{
    int64_t at[TN_MAX_NDIM] = {0}, k = 0;
    if (tn_numel(mask) > 0)
        do {
            if (!is_set(mask, at))
                continue;
            if (dst && x->kind == NONZERO)
                for (int64_t i = 0; i < mask->ndim; i++)
                    memcpy(element(dst, (int64_t[]){k, i}), &at[i], sizeof at[i]);
            else if (dst && x->kind == SELECTED)
                memcpy(element(dst, &k), element(x->src, at), tn_dtype_size(dst->dtype));
            else if (dst)
                memcpy(element(dst, at), element(x->src, &k), tn_dtype_size(dst->dtype));
            k++;
        } while (index_next(at, mask->ndim, mask->shape));
    return k;
}

static bool try_mask(trial *t)
{
    static const char *const names[MASKED] = {"masked_select", "masked_put", "nonzero"};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], own[TN_MAX_NDIM];
    const tn_dtype dtype = pick_dtype(r), kind = next(r) % 2 ? TN_BOOL : pick_dtype(r);
    const int ndim = draw_shape(r, shape, 16);
    masking x = {.kind = (masked)(next(r) % MASKED), .copy = next(r) % 2};
    const bool broadcast = x.kind != NONZERO && next(r) % 4 == 0;
    for (int i = 0; i < ndim; i++)
        own[i] = broadcast && next(r) % 3 == 0 && shape[i] > 0 ? 1 : shape[i];
    ground mask = draw_ground(r, kind, ndim, own, false);
    const uint64_t densities[] = {2, 1, 9, 70};
    fill_mask(r, &mask.t, densities[next(r) % 4]);
    tn_tensor whole;
    OK(tn_broadcast_to(&whole, &mask.t, ndim, shape));
    const int64_t count = want_mask(NULL, &x, &whole);
    const bool all = x.kind == MASKED_PUT;
    ground src = all ? draw_ground(r, dtype, 1, &count, true)
                     : draw_ground(r, dtype, ndim, shape, true),
           dst = all ? draw_ground(r, dtype, ndim, shape, false)
                 : x.kind == NONZERO
                     ? draw_ground(r, TN_I64, 2, (int64_t[]){count, ndim}, false)
                     : draw_ground(r, dtype, 1, &count, false),
           want = ground_twin(&dst);
    x.src = &src.t;
    x.mask = &mask.t;
    want_mask(&want.t, &x, &whole);
    const bool good = settle(t, names[x.kind], &dst, &want, call_mask, &x, &mask.t);
    digest_bytes(t, dst.bytes, dst.size);
    free_grounds(4, (ground *const[]){&mask, &src, &dst, &want});
    return good;
}

/* ---- by order and count ---- */

typedef enum counted { KTH, SEARCH, UNIQUE, BINCOUNT, HISTOGRAM, COUNTED } counted;

typedef struct counting {
    counted kind;
    int dim, output; /* output: index of the one that is checked */
    int64_t k;
    unsigned flags;
    bool right;
    const tn_tensor *src, *sorted, *other;
} counting;

/* Compute one of four outputs; besides it only values are requested. */
static tn_status unique_one(const tn_tensor *dst, const counting *x)
{
    tn_tensor values, made;
    tn_tensor *out[4] = {&values, NULL, NULL, NULL};
    if (x->output)
        out[x->output] = &made;
    const tn_status status = (x->right ? tn_unique_each_copy : tn_unique_copy)(
        out[0], out[1], out[2], out[3], x->src);
    if (status == TN_OK && x->output)
        tn_free(&values);
    return copy_made(status, x->output ? &made : &values, dst);
}

static tn_status call_count(const tn_tensor *dst, const void *about)
{
    const counting *x = about;
    switch (x->kind) {
    case KTH:
        return x->output ? tn_kth(x->other, dst, x->src, x->dim, x->k, x->flags)
                         : tn_kth(dst, x->other, x->src, x->dim, x->k, x->flags);
    case SEARCH:
        return tn_searchsorted(dst, x->sorted, x->src, x->right);
    case UNIQUE:
        return unique_one(dst, x);
    case BINCOUNT:
        return tn_bincount(dst, x->src);
    default:
        return tn_histogram(dst, x->src, -3, 20);
    }
}

/* Fill with few distinct numbers, as the dtype represents them. */
static void fill_few(rng *r, const tn_tensor *t)
{
    static const double odd[] = {NAN, -0.0, 0.0, -INFINITY};
    const tn_dtype part = t->dtype == TN_C64 ? TN_F32 : t->dtype == TN_C128 ? TN_F64 : t->dtype;
    const int64_t most = pick(r, 1, 90);
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(t) == 0)
        return;
    do
        for (int k = 0; k < (has_parts(t->dtype) ? 2 : 1); k++) {
            char *d = element(t, at) + (size_t)k * tn_dtype_size(part);
            const int64_t x = pick(r, is_unsigned(part) ? 0 : -most, most);
            if (is_int(part))
                put_whole(d, part, x);
            else
                put_real(d, part, next(r) % 16 ? (double)x / 4 : odd[next(r) % 4]);
        }
    while (index_next(at, t->ndim, t->shape));
}

/* All elements in row-major order. */
static scalar *scalars_of(const tn_tensor *t)
{
    scalar *x = malloc((size_t)(tn_numel(t) + 1) * sizeof *x);
    int64_t at[TN_MAX_NDIM] = {0}, n = 0;
    assert_non_null(x);
    if (tn_numel(t) > 0)
        do
            x[n++] = scalar_at(element(t, at), t->dtype);
        while (index_next(at, t->ndim, t->shape));
    return x;
}

static void add_at(const tn_tensor *dst, int64_t i)
{
    int64_t n;
    memcpy(&n, element(dst, &i), sizeof n);
    n++;
    memcpy(element(dst, &i), &n, sizeof n);
}

static void want_counts(const tn_tensor *dst, const counting *x, const scalar *e, int64_t n)
{
    const int64_t bins = dst->shape[0];
    for (int64_t i = 0; i < bins; i++)
        put_whole(element(dst, &i), TN_I64, 0);
    for (int64_t i = 0; i < n; i++)
        if (x->kind == BINCOUNT) {
            add_at(dst, e[i].i);
        } else if (e[i].re >= -3 && e[i].re <= 20) {
            const int64_t bin = (int64_t)((e[i].re + 3) * ((double)bins / 23));
            add_at(dst, bin < bins ? bin : bins - 1);
        }
}

/* For each element of src, count the elements that are less or, with right, not greater. */
static void want_search(const tn_tensor *dst, const counting *x, const scalar *e)
{
    const tn_dtype t = x->src->dtype;
    scalar *s = scalars_of(x->sorted);
    int64_t at[TN_MAX_NDIM] = {0};
    for (int64_t i = 0; i < tn_numel(dst); i++) {
        int64_t n = 0;
        for (int64_t k = 0; k < x->sorted->shape[0]; k++)
            n += x->right ? !before(&e[i], &s[k], t) : before(&s[k], &e[i], t);
        put_whole(element(dst, at), TN_I64, n);
        index_next(at, dst->ndim, dst->shape);
    }
    free(s);
}

/* True if x is NaN, or has a part that is. */
static bool has_nan(const scalar *x, tn_dtype t)
{
    return !is_int(t) && (isnan(x->re) || (has_parts(t) && isnan(x->im)));
}

static bool less(const scalar *a, const scalar *b, tn_dtype t)
{
    if (!has_parts(t))
        return before(a, b, t);
    if (has_nan(a, t) || has_nan(b, t))
        return !has_nan(a, t) && has_nan(b, t);
    return a->re < b->re || (a->re == b->re && a->im < b->im);
}

/* For each element find the first one equal to it and the number of smaller groups.  The
 * requested output is stored in dst unless that is NULL; returns the number of groups. */
static int64_t want_unique(const tn_tensor *dst, const counting *x, const scalar *e)
{
    const tn_dtype t = x->src->dtype;
    const int64_t n = tn_numel(x->src);
    int64_t *first = malloc((size_t)(n + 1) * sizeof *first), groups = 0, at[TN_MAX_NDIM] = {0};
    assert_non_null(first);
    for (int64_t i = 0; i < n; i++) {
        first[i] = i;
        for (int64_t k = 0; k < i && first[i] == i && !(x->right && has_nan(&e[i], t)); k++)
            if (!less(&e[i], &e[k], t) && !less(&e[k], &e[i], t))
                first[i] = k;
        groups += first[i] == i;
    }
    for (int64_t i = 0; dst && i < n; i++) {
        int64_t place = 0, equal = 0, from[TN_MAX_NDIM];
        for (int64_t k = 0; k < n; k++) {
            equal += first[k] == first[i];
            place += first[k] == k &&
                     (less(&e[k], &e[i], t) || (!less(&e[i], &e[k], t) && k < first[i]));
        }
        if (x->output == 2)
            put_whole(element(dst, at), TN_I64, place);
        else if (first[i] == i && x->output)
            put_whole(element(dst, &place), TN_I64, x->output == 1 ? i : equal);
        else if (first[i] == i) {
            index_of(i, x->src->ndim, x->src->shape, from);
            memcpy(element(dst, &place), element(x->src, from), tn_dtype_size(t));
        }
        index_next(at, x->src->ndim, x->src->shape);
    }
    free(first);
    return groups;
}

/* Store element k in sorted order of each line, or its index. */
static void want_kth(const tn_tensor *dst, const counting *x)
{
    const int64_t n = x->src->shape[x->dim];
    int64_t at[TN_MAX_NDIM] = {0}, i[TN_MAX_NDIM],
            *order = malloc((size_t)(n + 1) * sizeof *order);
    scalar *line = malloc((size_t)(n + 1) * sizeof *line);
    assert_true(order && line);
    if (tn_numel(dst) > 0)
        do {
            memcpy(i, at, sizeof i);
            for (i[x->dim] = 0; i[x->dim] < n; i[x->dim]++)
                line[i[x->dim]] = scalar_at(element(x->src, i), x->src->dtype);
            naive_order(order, line, n, x->src->dtype, x->flags);
            i[x->dim] = order[x->k];
            memcpy(element(dst, at), x->output ? (char *)&order[x->k] : element(x->src, i),
                   tn_dtype_size(dst->dtype));
        } while (index_next(at, dst->ndim, dst->shape));
    free(order);
    free(line);
}

static bool count_takes(counted kind, tn_dtype t)
{
    return kind == UNIQUE ? true : kind == BINCOUNT ? is_int(t) && t != TN_BOOL : !has_parts(t);
}

/* Write the expected dst. */
static void want_count(const tn_tensor *dst, const counting *x, const scalar *e)
{
    if (x->kind == KTH)
        want_kth(dst, x);
    else if (x->kind == SEARCH)
        want_search(dst, x, e);
    else if (x->kind == UNIQUE)
        want_unique(dst, x, e);
    else
        want_counts(dst, x, e, tn_numel(x->src));
}

/* Draw what depends on the kind: sorted operands, the shape of dst; returns true if dst has one
 * axis. */
static bool draw_count(rng *r, counting *x, const tn_tensor *sorted, scalar *e, int64_t *made)
{
    const tn_tensor *src = x->src;
    int64_t at[TN_MAX_NDIM] = {0};
    memcpy(made, src->shape, (size_t)src->ndim * sizeof *made);
    switch (x->kind) {
    case KTH:
        x->output %= 2;
        x->k = pick(r, 0, made[x->dim] - 1);
        made[x->dim] = 1;
        return false;
    case SEARCH:
        OK(tn_sort(sorted, NULL, sorted, 0, 0));
        return false;
    case UNIQUE:
        if (x->output != 2)
            made[0] = want_unique(NULL, x, e);
        return x->output != 2;
    case BINCOUNT:
        for (int64_t i = 0; i < tn_numel(src); i++) {
            e[i].i = e[i].i < 0 ? -e[i].i : e[i].i;
            put_whole(element(src, at), src->dtype, e[i].i);
            index_next(at, src->ndim, src->shape);
        }
        made[0] = pick(r, 91, 99);
        return true;
    default:
        made[0] = pick(r, 1, 200);
        return true;
    }
}

static bool try_count(trial *t)
{
    static const char *const names[COUNTED] = {"kth", "searchsorted", "unique", "bincount",
                                               "histogram"};
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], made[TN_MAX_NDIM];
    counting x = {.kind = (counted)(next(r) % COUNTED),
                  .flags = next(r) % 2 ? TN_DESCENDING : 0,
                  .right = next(r) % 2,
                  .output = (int)(next(r) % 4)};
    tn_dtype dtype = pick_dtype(r);
    while (!count_takes(x.kind, dtype))
        dtype = pick_dtype(r);
    int ndim;
    do /* the oracles take O(n^2) steps */
        ndim = draw_shape(r, shape, 400);
    while (ndim == 0 || count_of(ndim, shape) > 1000);
    x.dim = (int)pick(r, 0, ndim - 1);
    if (x.kind == KTH && shape[x.dim] == 0)
        shape[x.dim] = 1;
    ground src = draw_ground(r, dtype, ndim, shape, false),
           sorted = draw_ground(r, dtype, 1, (int64_t[]){pick(r, 0, 300)}, false);
    fill_few(r, &src.t);
    fill_few(r, &sorted.t);
    x.src = &src.t;
    x.sorted = &sorted.t;
    OK(tn_handle_use(team[1]));
    scalar *e = scalars_of(&src.t);
    const bool line = draw_count(r, &x, &sorted.t, e, made),
               same = (x.kind == UNIQUE || x.kind == KTH) && x.output == 0;
    ground dst = draw_ground(r, same ? dtype : TN_I64, line ? 1 : ndim, made, false),
           want = ground_twin(&dst),
           other = draw_ground(r, x.output ? dtype : TN_I64, line ? 1 : ndim, made, false);
    x.other = next(r) % 2 ? &other.t : NULL;
    want_count(&want.t, &x, e);
    const bool good = settle(t, names[x.kind], &dst, &want, call_count, &x, &src.t);
    digest_bytes(t, dst.bytes, dst.size);
    free(e);
    free_grounds(5, (ground *const[]){&src, &sorted, &dst, &want, &other});
    return good;
}

#endif
