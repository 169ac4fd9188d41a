/* join.c - concat and stack: the tensors of several files joined along an axis. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "cli.h"

enum { MANY = 200 }; /* maximum files kept open; others are reopened for each box */

typedef struct joined {
    source s;
    input in;
    bool open;
    char *path; /* path, index and new axis (or -1) of a file that has been closed */
    int64_t i;
    int new_axis;
} joined;

/* Read a box from a file that is reopened for it. */
static tn_status read_again(void *user, const tn_tensor *dst, const int64_t *at)
{
    const joined *j = user;
    tn_file *f = NULL;
    tn_tensor v;
    tn_status status = tn_file_open(&f, j->path);
    if (status == TN_OK)
        status = tn_file_places(f, j->i, &v);
    if (status == TN_OK && j->new_axis >= 0)
        status = tn_unsqueeze(&v, &v, j->new_axis);
    if (status == TN_OK)
        status = tn_view(&v, &v, dst->shape, at, NULL, 0);
    if (status == TN_OK)
        status = tn_file_fetch(f, j->i, dst, &v);
    tn_file_close(f);
    return status;
}

/* Close a file until a box needs it. */
static int close_again(joined *j, int new_axis)
{
    if (j->in.in_memory || j->in.spilled || j->s.fd >= 0)
        return DONE;
    j->path = strdup(j->s.path);
    j->i = j->in.i;
    j->new_axis = new_axis;
    if (!j->path)
        return fail("out of memory");
    tn_file_close(j->s.f);
    j->s.f = NULL;
    return DONE;
}

/* Check that all extents but that of dim agree; add the extent of dim to shape. */
static int add_shape(const args *a, const joined *js, const tn_tensor *t, int dim, int k,
                     const tn_tensor *first, int64_t *shape)
{
    char mine[512], theirs[512];
    const tn_tensor *this = &js[k].in.t, *that = &js[0].in.t;
    bool fits = t->ndim == first->ndim && t->dtype == first->dtype;
    for (int i = 0; fits && i < t->ndim; i++)
        fits = i == dim || t->shape[i] == first->shape[i];
    if (!fits)
        return fail("%s: %s %s does not match the first input, %s %s", a->operands[k],
                    tn_dtype_name(this->dtype), shape_text(mine, this->ndim, this->shape),
                    tn_dtype_name(that->dtype), shape_text(theirs, that->ndim, that->shape));
    if (k > 0 && shape[dim] > INT64_MAX - t->shape[dim])
        return fail("%s: the result exceeds 2^63 - 1 elements", a->operands[k]);
    shape[dim] = k == 0 ? t->shape[dim] : shape[dim] + t->shape[dim];
    return DONE;
}

static int build(const args *a, joined *js, recipe *r)
{
    bool stack = a->command->new_axis;
    int64_t axis, shape[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0};
    int n, dim = 0;
    tn_tensor first = {0}, v;
    TRY(read_list(a, "-a", a->axis, 1, &axis, &n));
    for (int k = 0; k < a->n; k++) {
        TRY(open_single(a, &js[k].s, &js[k].in, a->operands[k]));
        js[k].open = true;
        v = js[k].in.t;
        set_error_subject(js[k].s.path);
        int code = k == 0 ? read_axis(a, axis, v.ndim + stack, &dim) : DONE;
        set_error_subject(NULL);
        TRY(code);
        if (stack && dim <= v.ndim)
            LIB(tn_unsqueeze(&v, &v, dim));
        if (k == 0) {
            first = v;
            memcpy(shape, v.shape, (size_t)v.ndim * sizeof *shape);
        }
        TRY(add_shape(a, js, &v, dim, k, &first, shape));
        if (k > 0 && a->n > MANY)
            TRY(close_again(&js[k], stack ? dim : -1));
    }
    TRY(recipe_start(r, first.dtype, first.ndim, shape));
    for (int k = 0; k < a->n; k++) {
        v = js[k].in.t;
        if (stack)
            LIB(tn_unsqueeze(&v, &v, dim));
        TRY(recipe_add(r, &v, &js[k].in, at));
        if (js[k].path) {
            r->sources[k].file = NULL;
            r->sources[k].read = read_again;
            r->sources[k].user = &js[k];
        }
        at[dim] += v.shape[dim];
    }
    return DONE;
}

/* Raise the limit of open files to the maximum. */
static void open_more(void)
{
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) == 0) {
        most.rlim_cur = most.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &most);
    }
}

int run_join(const args *a)
{
    if (a->n == 0 || !a->axis)
        return usage(a, a->n ? "missing -a AXIS" : "missing argument: IN");
    if (a->tensors)
        return usage(a, "--tensors works on one file");
    joined *js = calloc((size_t)a->n, sizeof *js);
    recipe r = {0};
    open_more();
    int code = js ? build(a, js, &r) : fail("out of memory");
    if (code == DONE)
        code = run_recipe(a, &r, &js[0].in);
    recipe_free(&r);
    for (int k = 0; js && k < a->n; k++)
        if (js[k].open) {
            close_input(&js[k].in);
            close_source(&js[k].s);
            free(js[k].path);
        }
    free(js);
    return code;
}
