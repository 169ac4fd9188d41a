/* pattern_fit.c - fits a pattern to a tensor: extents are inferred, dimensions split and
 * reordered.
 *
 * Strided memory allows every split; the caller checks whether pieces can be merged again. */
#include "pattern.h"
#include "view/view.h"

/* The left names on src: extent and step of each; "..." is `more` dimensions from `first`
 * on. */
typedef struct left_axes {
    bool empty; /* src has no elements: steps are 0 */
    int first, more;
    int64_t n[TNI_PATTERN_AXES], step[TNI_PATTERN_AXES];
} left_axes;

/* The axis of src for a dimension of the left. */
static int axis_of(const tni_pattern *p, const left_axes *l, int dim)
{
    return p->left.ellipsis >= 0 && dim > l->first ? dim + l->more - 1 : dim;
}

static tn_status place_ellipsis(left_axes *l, const tni_pattern *p, const tn_tensor *src)
{
    const bool open = p->left.ellipsis >= 0;
    const int fixed = p->left.ndim - open;
    if (open ? src->ndim < fixed : src->ndim != fixed)
        return tni_fail(TN_ESHAPE, "%s: \"%s\": the left has %s%d dimensions, src has %d",
                        p->call, tni_quoted(p->text).text, open ? "at least " : "", fixed,
                        src->ndim);
    l->first = open ? p->left.name[p->left.ellipsis].dim : 0;
    l->more = open ? src->ndim - fixed : 0;
    return TN_OK;
}

static tn_status fail_split(const tni_pattern *p, const tn_tensor *src, int axis, int64_t known)
{
    return tni_fail(TN_ESHAPE, "%s: \"%s\": axis %d of src has extent %lld, not %s%lld",
                    p->call, tni_quoted(p->text).text, axis, (long long)src->shape[axis],
                    known < 0 ? "a multiple of " : "", (long long)(known < 0 ? -known : known));
}

/* The product of the known sizes of names [from, to); *unknown is the name without a size, or
 * -1.  Returns false if the product of the nonzero sizes overflows. */
static bool known_product(const tni_pattern *p, int from, int to, int64_t *product,
                          int *unknown)
{
    bool zero = false;
    *product = 1;
    *unknown = -1;
    for (int i = from; i < to; i++) {
        const int64_t size = p->left.name[i].size;
        if (size < 0)
            *unknown = i;
        else if (size == 0)
            zero = true;
        else if (!tni_mul(*product, size, product))
            return false;
    }
    if (zero)
        *product = 0;
    return true;
}

/* Find the extents of names [from, to), which share one dimension of extent
 * src->shape[axis]. */
static tn_status pattern_split(left_axes *l, const tni_pattern *p, const tn_tensor *src,
                               int axis, int from, int to)
{
    const int64_t extent = src->shape[axis];
    int64_t known;
    int unknown;
    if (!known_product(p, from, to, &known, &unknown))
        return tni_fail(TN_EOVERFLOW, "%s: \"%s\": the sizes in dimension %d exceed 2^63 - 1",
                        p->call, tni_quoted(p->text).text, p->left.name[from].dim);
    if (unknown < 0 && known != extent)
        return fail_split(p, src, axis, known);
    if (unknown >= 0 && known == 0)
        return tni_fail(TN_ESHAPE, "%s: \"%s\": '%.*s' has no unique size next to a size of 0",
                        p->call, tni_quoted(p->text).text, p->left.name[unknown].len,
                        p->text + p->left.name[unknown].at);
    if (unknown >= 0 && extent % known != 0)
        return fail_split(p, src, axis, -known);
    int64_t inner = 1;
    for (int i = to - 1; i >= from; i--) {
        l->n[i] = i == unknown ? extent / known : p->left.name[i].size;
        /* inner < extent if l->n[i] > 1, so the step stays within src's byte range */
        l->step[i] = l->n[i] > 1 && !l->empty ? src->stride[axis] * inner : 0;
        inner *= extent > 0 ? l->n[i] : 1;
    }
    return TN_OK;
}

static tn_status split_all(left_axes *l, const tni_pattern *p, const tn_tensor *src)
{
    int i = 0;
    for (int dim = 0; dim < p->left.ndim; dim++) {
        const int from = i;
        while (i < p->left.n && p->left.name[i].dim == dim)
            i++;
        if (p->left.ellipsis >= 0 && dim == l->first)
            continue;
        TRY(pattern_split(l, p, src, axis_of(p, l, dim), from, i));
    }
    return TN_OK;
}

/* Multiply dimension dim of the result by n.  *bytes is the product of all nonzero factors. */
static bool add_piece(tni_fit *fit, int dim, int64_t n, int64_t step, int64_t *bytes)
{
    if (n != 1)
        fit->piece[fit->n++] = (tni_piece){n, step, dim};
    if (n == 0)
        fit->empty = true;
    else if (!tni_mul(*bytes, n, bytes))
        return false;
    fit->shape[dim] *= n;
    return true;
}

/* Add "..." on the right: dimensions of its own, or pieces of the group that contains it. */
static bool add_ellipsis(tni_fit *fit, const tni_pattern *p, const left_axes *l, int dim,
                         const tn_tensor *src, int64_t *bytes)
{
    for (int i = 0; i < l->more; i++)
        if (!add_piece(fit, p->right.grouped ? dim : dim + i, src->shape[l->first + i],
                       src->stride[l->first + i], bytes))
            return false;
    return true;
}

static bool add_pieces(tni_fit *fit, const tni_pattern *p, const left_axes *l,
                       const tn_tensor *src)
{
    const tni_side *right = &p->right;
    const int extra = right->ellipsis >= 0 && !right->grouped ? l->more - 1 : 0;
    const int open = right->ellipsis >= 0 ? right->name[right->ellipsis].dim : 0;
    int64_t bytes = tni_width(src->dtype);
    for (int i = 0; i < right->n; i++) {
        const tni_name *name = &right->name[i];
        const int dim = name->dim + (name->dim > open ? extra : 0);
        bool fits;
        if (i == right->ellipsis)
            fits = add_ellipsis(fit, p, l, name->dim, src, &bytes);
        else if (name->from < 0)
            fits = add_piece(fit, dim, name->size, 0, &bytes);
        else
            fits = add_piece(fit, dim, l->n[name->from], l->step[name->from], &bytes);
        if (!fits)
            return false;
    }
    return true;
}

/* Negate the steps of reversed names; the first element becomes their last one. */
static void reverse(tni_fit *fit, const tni_pattern *p, left_axes *l)
{
    for (int i = 0; i < p->left.n; i++)
        if (p->left.name[i].reversed && l->n[i] > 1 && !l->empty) {
            fit->shift += (l->n[i] - 1) * l->step[i];
            l->step[i] = -l->step[i];
        }
}

static tn_status fit_parsed(tni_fit *fit, const tni_pattern *p, const tn_tensor *src)
{
    left_axes l = {.empty = tni_numel(src) == 0};
    TRY(place_ellipsis(&l, p, src));
    const bool expands = p->right.ellipsis >= 0 && !p->right.grouped;
    fit->ndim = p->right.ndim + (expands ? l.more - 1 : 0);
    if (fit->ndim > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "%s: \"%s\": the result has %d axes, more than %d", p->call,
                        tni_quoted(p->text).text, fit->ndim, TN_MAX_NDIM);
    TRY(split_all(&l, p, src));

    fit->n = 0;
    fit->shift = 0;
    fit->empty = false;
    for (int i = 0; i <= fit->ndim; i++)
        fit->shape[i] = 1;
    reverse(fit, p, &l);
    if (!add_pieces(fit, p, &l, src))
        return tni_fail(TN_EOVERFLOW, "%s: \"%s\": the result exceeds 2^63 - 1 bytes", p->call,
                        tni_quoted(p->text).text);
    return TN_OK;
}

tn_status tni_pattern_fit(tni_fit *fit, const char *call, const tn_tensor *src,
                          const char *text, const char *sizes, bool reduces)
{
    tni_pattern p;
    TRY(tni_pattern_parse(&p, call, text, sizes, reduces));
    return fit_parsed(fit, &p, src);
}
