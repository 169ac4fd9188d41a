/* grow.c - pad and roll: results assembled from views of one tensor.
 *
 * Along an axis, padding is a sequence of runs: the tensor itself, parts of it forwards or
 * backwards, a repeated element, or nothing if a value fills the border.  The pieces of the
 * result are the products of the runs of all axes. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum { MOST_PIECES = 1 << 16 };

/* n elements at index `to` of the result, from index `from` of the tensor with step 1, -1 or
 * 0. */
typedef struct run {
    int64_t to, from, n;
    int step;
} run;

typedef struct runs {
    run *list;
    int64_t n, capacity;
} runs;

static int add_run(runs *rs, run next)
{
    if (next.n <= 0)
        return DONE;
    if (rs->n == MOST_PIECES)
        return fail("pad: more than %d repetitions along one axis", MOST_PIECES);
    if (rs->n == rs->capacity) {
        int64_t capacity = rs->capacity ? 2 * rs->capacity : 4;
        run *more = realloc(rs->list, (size_t)capacity * sizeof *more);
        if (!more)
            return fail("out of memory");
        rs->list = more;
        rs->capacity = capacity;
    }
    rs->list[rs->n++] = next;
    return DONE;
}

static int64_t modulo(int64_t i, int64_t n)
{
    return (i % n + n) % n;
}

/* The longest run that begins at index i (relative to the tensor) and ends at or before
 * stop. */
static run run_at(tn_pad_mode mode, int64_t i, int64_t stop, int64_t n)
{
    run r = {.from = i, .n = stop - i, .step = 1};
    int64_t period = mode == TN_PAD_REFLECT ? 2 * (n - 1) : 2 * n;
    if (i >= 0 && i < n) {
        r.n = n - i;
    } else if (mode == TN_PAD_EDGE || (mode == TN_PAD_REFLECT && n == 1)) {
        r.from = i < 0 || n == 1 ? 0 : n - 1;
        r.n = i < 0 ? -i : stop - i;
        r.step = 0;
    } else if (mode == TN_PAD_WRAP) {
        r.from = modulo(i, n);
        r.n = n - r.from;
    } else {
        int64_t at = modulo(i, period);
        bool back = at >= n;
        r.from = !back ? at : mode == TN_PAD_REFLECT ? period - at : period - 1 - at;
        r.n = back ? period - at : n - at;
        r.step = back ? -1 : 1;
    }
    if (r.n > stop - i)
        r.n = stop - i;
    return r;
}

static int axis_runs(runs *rs, tn_pad_mode mode, int64_t before, int64_t after, int64_t n)
{
    if (mode == TN_PAD_CONSTANT)
        return add_run(rs, (run){.to = before, .from = 0, .n = n, .step = 1});
    for (int64_t i = -before; i < n + after;) {
        run r = run_at(mode, i, n + after, n);
        r.to = i + before;
        TRY(add_run(rs, r));
        i += r.n;
    }
    return DONE;
}

/* Narrow view v to run r along axis dim. */
static int take_run(tn_tensor *v, int dim, const run *r)
{
    int64_t last = r->from + r->step * (r->n - 1);
    LIB(tn_slice(v, v, dim, r->step < 0 ? last : r->from, (r->step < 0 ? r->from : last) + 1,
                 1));
    if (r->step < 0)
        LIB(tn_flip(v, v, dim));
    if (r->step == 0) {
        int64_t shape[TN_MAX_NDIM];
        memcpy(shape, v->shape, sizeof shape);
        shape[dim] = r->n;
        LIB(tn_broadcast_to(v, v, v->ndim, shape));
    }
    return DONE;
}

/* Add a piece for every combination of one run per axis. */
static int add_products(const input *in, const runs *rs, recipe *r)
{
    int64_t count[TN_MAX_NDIM], unit[TN_MAX_NDIM] = {0}, at[TN_MAX_NDIM];
    const int ndim = in->t.ndim;
    double pieces = 1;
    for (int i = 0; i < ndim; i++) {
        count[i] = rs[i].n;
        pieces *= (double)count[i];
    }
    if (pieces > MOST_PIECES)
        return fail("pad: the border consists of %.0f pieces, at most %d are supported", pieces,
                    MOST_PIECES);
    for (int64_t piece = 0; piece < (int64_t)pieces; piece++) {
        tn_tensor v = in->t;
        for (int i = 0; i < ndim; i++) {
            int64_t number; /* index of the run along axis i */
            unit[i] = 1;
            LIB(tn_index_to_offset(piece, ndim, count, unit, &number));
            unit[i] = 0;
            at[i] = rs[i].list[number].to;
            TRY(take_run(&v, i, &rs[i].list[number]));
        }
        TRY(recipe_add(r, &v, in, at));
    }
    return DONE;
}

static int read_mode(const args *a, tn_pad_mode *mode)
{
    static const char *const names[] = {"constant", "edge", "reflect", "symmetric", "wrap"};
    for (int i = 0; i < COUNT(names); i++)
        if (!a->mode || !strcmp(a->mode, names[i])) {
            *mode = (tn_pad_mode)i;
            return DONE;
        }
    return usage(a, "unknown mode \"%s\"; use constant, edge, reflect, symmetric or wrap",
                 a->mode);
}

/* Parse one width for each axis, or one for all. */
static int read_widths(const args *a, const char *what, const char *text, int ndim,
                       int64_t *widths)
{
    int n;
    memset(widths, 0, TN_MAX_NDIM * sizeof *widths);
    if (!text)
        return DONE;
    TRY(read_list(a, what, text, TN_MAX_NDIM, widths, &n));
    if (n != 1 && n != ndim)
        return fail("pad: %s has %d widths for a %d-d tensor", what, n, ndim);
    for (int i = n; i < ndim; i++)
        widths[i] = widths[0];
    return DONE;
}

static int build_pad(const args *a, const input *in, recipe *r)
{
    int64_t before[TN_MAX_NDIM], after[TN_MAX_NDIM], shape[TN_MAX_NDIM];
    runs rs[TN_MAX_NDIM] = {{0}};
    tn_pad_mode mode = TN_PAD_CONSTANT;
    const tn_tensor *t = &in->t;
    TRY(read_mode(a, &mode));
    TRY(read_widths(a, "--before", a->before, t->ndim, before));
    TRY(read_widths(a, "--after", a->after, t->ndim, after));
    for (int i = 0; i < t->ndim; i++) {
        int64_t n = t->shape[i];
        if (before[i] < 0 || after[i] < 0)
            return fail("pad: axis %d: width is negative", i);
        if (n == 0 && mode != TN_PAD_CONSTANT && (before[i] || after[i]))
            return fail("pad: axis %d is empty; only mode constant can pad it", i);
        if (before[i] > INT64_MAX / 4 || after[i] > INT64_MAX / 4 - n)
            return fail("pad: axis %d: extent exceeds 2^62", i);
        shape[i] = before[i] + n + after[i];
    }
    TRY(recipe_start(r, t->dtype, t->ndim, shape));
    if (mode == TN_PAD_CONSTANT)
        r->fill = (tn_stream_fill){t->dtype, r->value};
    if (a->value)
        TRY(read_number(a->value, t->dtype, r->value));
    int code = DONE;
    for (int i = 0; i < t->ndim && code == DONE; i++)
        code = axis_runs(&rs[i], mode, before[i], after[i], t->shape[i]);
    if (code == DONE && tn_numel(t) > 0)
        code = add_products(in, rs, r);
    for (int i = 0; i < t->ndim; i++)
        free(rs[i].list);
    return code;
}

int run_pad(const args *a)
{
    TRY(need_operands(a, 1));
    return run_unary(a, a->operands[0], build_pad);
}

static int build_roll(const args *a, const input *in, recipe *r)
{
    int64_t shift, axis, at[TN_MAX_NDIM] = {0};
    int n, dim;
    tn_tensor v;
    TRY(read_list(a, "SHIFT", a->operands[0], 1, &shift, &n));
    TRY(read_list(a, "-a", a->axis, 1, &axis, &n));
    TRY(read_axis(a, axis, in->t.ndim, &dim));
    TRY(recipe_start(r, in->t.dtype, in->t.ndim, in->t.shape));
    int64_t extent = in->t.shape[dim];
    if (extent == 0)
        return DONE;
    shift = modulo(shift, extent);
    LIB(tn_slice(&v, &in->t, dim, extent - shift, extent, 1));
    if (shift)
        TRY(recipe_add(r, &v, in, at));
    LIB(tn_slice(&v, &in->t, dim, 0, extent - shift, 1));
    at[dim] = shift;
    return recipe_add(r, &v, in, at);
}

int run_roll(const args *a)
{
    TRY(need_operands(a, 2));
    if (!a->axis)
        return usage(a, "missing -a AXIS");
    return run_unary(a, a->operands[1], build_roll);
}
