/* fuzz_program.c - bytes as a program of views and ops on a few small tensors in exact blocks.
 *
 * Every view is compared with the model, place by place; every op that moves elements is done
 * again on a copy of its block by the model; an op that fails changes no byte.  Wild
 * descriptors, of any numbers and without data, go through all calls that take them. */
#include "machine.h"
#include "program_reduce.h"

enum { STEPS = 40 };

/* The slot takes a view of the same store. */
static void put(machine *p, int to, store *in, const tn_tensor *t, const model *m)
{
    in->users++;
    leave_store(p->slots[to].in);
    p->slots[to] = (slot){in, *t, *m};
}

static void make(machine *p, int to)
{
    int64_t shape[AXES] = {0};
    int ndim = take_below(&p->b, 5);
    tn_dtype dtype = dtypes[take_below(&p->b, 7)];
    for (int i = 0; i < ndim; i++)
        shape[i] = take_below(&p->b, 6);
    static model m;
    model_dense(&m, ndim, shape, (int)tn_dtype_size(dtype));
    store *s = calloc(1, sizeof *s);
    MUST(s);
    s->size = (size_t)m.n * tn_dtype_size(dtype);
    s->data = malloc(s->size + !s->size);
    MUST(s->data);
    for (size_t i = 0; i < s->size; i++)
        s->data[i] = (uint8_t)(i * 7 + 1);
    tn_tensor t;
    MUST(tn_init(&t, s->data, dtype, ndim, shape) == TN_OK);
    put(p, to, s, &t, &m);
}

/* ---- views ---- */

static void check_view(const slot *s)
{
    int64_t index[TN_MAX_NDIM] = {0};
    MUST(s->t.ndim == s->m.ndim);
    for (int i = 0; i < s->t.ndim; i++)
        MUST(s->t.shape[i] == s->m.shape[i]);
    MUST(tn_numel(&s->t) == s->m.n);
    MUST(s->m.n == 0 || tn_at(&s->t, index) == s->in->data + s->m.at[0]);
    for (int64_t i = 0; i < s->m.n; i++) {
        MUST(at_index(&s->t, index) == s->in->data + s->m.at[i]);
        next_index(s->t.ndim, s->t.shape, index);
    }
}

/* A view that is not made; the status is the one that was wanted. */
static bool refused(bool as_wanted)
{
    MUST(as_wanted);
    return false;
}

static bool view_permute(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int axes[AXES];
    for (int i = 0; i < in->m.ndim; i++)
        axes[i] = i;
    for (int i = in->m.ndim - 1; i > 0; i--) {
        int k = take_below(&p->b, i + 1), x = axes[i];
        axes[i] = axes[k];
        axes[k] = x;
    }
    *got = tn_permute(t, &in->t, axes);
    m->ndim = in->m.ndim;
    for (int i = 0; i < m->ndim; i++)
        m->shape[i] = in->m.shape[axes[i]];
    return model_view(m, &in->m, where_permuted, &(question){.axes = axes});
}

/* Python's rules, counted out one by one. */
static bool view_slice(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int dim = take_below(&p->b, AXES);
    int64_t start = take_wild(&p->b), stop = take_wild(&p->b), step = take_wild(&p->b);
    *got = tn_slice(t, &in->t, dim, start, stop, step);
    if (dim >= in->m.ndim || step == 0)
        return refused(*got == TN_EARG);
    int64_t n = in->m.shape[dim], count = 0;
    start = start < 0 ? (start < -n ? -1 : start + n) : start > n ? n : start;
    stop = stop < 0 ? (stop < -n ? -1 : stop + n) : stop > n ? n : stop;
    if (step > 0 && start < 0)
        start = 0;
    if (step < 0 && start >= n)
        start = n - 1;
    for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step) {
        count++;
        if (step > n || step < -n)
            break;
    }
    m->ndim = in->m.ndim;
    memcpy(m->shape, in->m.shape, sizeof m->shape);
    m->shape[dim] = count;
    return model_view(m, &in->m, where_sliced,
                      &(question){.a = dim, .start = start, .step = count > 1 ? step : 0});
}

static bool view_flip(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int dim = take_below(&p->b, AXES);
    *got = tn_flip(t, &in->t, dim);
    if (dim >= in->m.ndim)
        return refused(*got == TN_EARG);
    m->ndim = in->m.ndim;
    memcpy(m->shape, in->m.shape, sizeof m->shape);
    return model_view(m, &in->m, where_sliced,
                      &(question){.a = dim, .start = m->shape[dim] - 1, .step = -1});
}

static bool view_unsqueeze(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int dim = take_below(&p->b, AXES + 2);
    *got = tn_unsqueeze(t, &in->t, dim);
    if (dim > in->m.ndim)
        return refused(*got == TN_EARG);
    m->ndim = in->m.ndim + 1;
    for (int i = 0; i < m->ndim; i++)
        m->shape[i] = i < dim ? in->m.shape[i] : i == dim ? 1 : in->m.shape[i - 1];
    return model_view(m, &in->m, where_inserted, &(question){.a = dim});
}

static bool view_select(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int dim = take_below(&p->b, AXES);
    int64_t index = take_wild(&p->b);
    *got = tn_select(t, &in->t, dim, index);
    if (dim >= in->m.ndim || index < 0 || index >= in->m.shape[dim])
        return refused(*got == TN_EARG);
    m->ndim = in->m.ndim - 1;
    for (int i = 0; i < m->ndim; i++)
        m->shape[i] = in->m.shape[i + (i >= dim)];
    return model_view(m, &in->m, where_selected, &(question){.a = dim, .start = index});
}

static bool view_broadcast(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int more = take_below(&p->b, 3), own[AXES];
    bool fits = true;
    m->ndim = in->m.ndim + more;
    if (m->ndim > AXES)
        return *got = TN_EARG, false;
    for (int i = 0; i < m->ndim; i++) {
        int64_t n = i < more ? 0 : in->m.shape[i - more];
        m->shape[i] = i < more || n == 1 ? take_below(&p->b, 4) : n;
        if (take(&p->b) == 255)
            m->shape[i]++;
        fits = fits && (i < more || n == 1 || n == m->shape[i]);
        if (i >= more)
            own[i - more] = n != 1;
    }
    *got = tn_broadcast_to(t, &in->t, m->ndim, m->shape);
    if (!fits)
        return refused(*got == TN_ESHAPE);
    return model_view(m, &in->m, where_broadcast, &(question){.a = more, .axes = own});
}

static bool view_diagonal(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int a = take_below(&p->b, AXES), b = take_below(&p->b, AXES), n = 0;
    *got = tn_diagonal(t, &in->t, a, b);
    if (a >= in->m.ndim || b >= in->m.ndim || a == b)
        return refused(*got == TN_EARG);
    m->ndim = in->m.ndim - 1;
    for (int i = 0; i < in->m.ndim; i++)
        if (i != a && i != b)
            m->shape[n++] = in->m.shape[i];
    m->shape[n] = in->m.shape[a] < in->m.shape[b] ? in->m.shape[a] : in->m.shape[b];
    return model_view(m, &in->m, where_diagonal, &(question){.a = a, .b = b});
}

static bool view_windows(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int dim = take_below(&p->b, AXES);
    int64_t size = take_wild(&p->b), step = take_wild(&p->b);
    *got = tn_windows(t, &in->t, dim, size, step);
    if (*got != TN_OK || dim >= in->m.ndim || in->m.ndim >= AXES)
        return false;
    m->ndim = in->m.ndim + 1;
    memcpy(m->shape, in->m.shape, sizeof m->shape);
    m->shape[dim] = (in->m.shape[dim] - size) / step + 1;
    m->shape[m->ndim - 1] = size;
    return model_view(m, &in->m, where_windows,
                      &(question){.a = dim, .step = m->shape[dim] > 1 ? step : 0});
}

/* The order of the elements stays; whether a view can do it is the library's knowledge. */
static bool view_reshape(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int64_t wanted[AXES] = {0};
    int ndim = take_below(&p->b, AXES), free_axis = take_below(&p->b, 8);
    for (int i = 0; i < ndim; i++)
        wanted[i] = take_below(&p->b, 13);
    if (free_axis < ndim)
        wanted[free_axis] = -1;
    *got = tn_reshape(t, &in->t, ndim, wanted);
    if (*got != TN_OK)
        return false;
    m->ndim = ndim;
    memcpy(m->shape, t->shape, (size_t)ndim * sizeof *wanted);
    for (int i = 0; i < ndim; i++)
        MUST(wanted[i] == -1 || wanted[i] == t->shape[i]);
    m->n = in->m.n;
    MUST(model_count(ndim, m->shape) == m->n);
    memcpy(m->at, in->m.at, (size_t)m->n * sizeof *m->at);
    return true;
}

static bool view_window(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got)
{
    int64_t shape[AXES] = {0}, offset[AXES] = {0};
    bool fits = true;
    int dim = take_below(&p->b, AXES);
    for (int i = 0; i < in->m.ndim; i++) {
        int64_t n = in->m.shape[i];
        offset[i] = i == dim ? take_wild(&p->b) : 0;
        shape[i] = i == dim ? take_wild(&p->b) : n;
        fits = fits && offset[i] >= 0 && offset[i] <= n && shape[i] >= 0 &&
               shape[i] <= n - offset[i];
        m->shape[i] = shape[i];
    }
    *got = tn_view(t, &in->t, shape, offset, NULL, 0);
    if (!fits)
        return refused(*got == TN_EARG || *got == TN_ESHAPE);
    m->ndim = in->m.ndim;
    if (dim >= m->ndim)
        dim = 0;
    return model_view(m, &in->m, where_sliced,
                      &(question){.a = dim, .start = m->ndim ? offset[dim] : 0, .step = 1});
}

typedef bool view_fn(machine *p, const slot *in, tn_tensor *t, model *m, tn_status *got);
static view_fn *const views[] = {view_permute, view_slice,     view_flip,     view_unsqueeze,
                                 view_select,  view_broadcast, view_diagonal, view_windows,
                                 view_reshape, view_window};

static void make_view(machine *p, int to, const slot *in)
{
    static model m;
    tn_tensor t, before;
    tn_status got = TN_OK;
    if (!in->in)
        return;
    memset(&t, 0x5a, sizeof t);
    before = t;
    bool modelled = views[take_below(&p->b, 10)](p, in, &t, &m, &got);
    if (got != TN_OK) {
        MUST(!modelled && !memcmp(&t, &before, sizeof t));
        return;
    }
    MUST(tn_numel(&t) == 0 || t.ndim > AXES || tn_numel(&t) > MOST || modelled);
    if (!modelled)
        return;
    put(p, to, in->in, &t, &m);
    check_view(&p->slots[to]);
}

/* ---- ops ---- */

static bool same_shape(const model *a, const model *b)
{
    return a->ndim == b->ndim &&
           !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape);
}

static bool same_places(const model *a, const model *b)
{
    return same_shape(a, b) && !memcmp(a->at, b->at, (size_t)a->n * sizeof *a->at);
}

/* What rearrange must say; an identical source may be reported as a copy onto itself. */
static tn_status expect_copy(const slot *d, const slot *s)
{
    int width = (int)tn_dtype_size(d->t.dtype);
    uint8_t *mark = malloc(d->in->size + 1);
    MUST(mark);
    tn_status want = TN_OK;
    if (d->t.dtype != s->t.dtype)
        want = TN_EDTYPE;
    else if (!same_shape(&d->m, &s->m))
        want = TN_ESHAPE;
    else if (model_shares(&d->m, NULL, width, mark, d->in->size))
        want = TN_ESTRIDE;
    else if (d->in == s->in && !same_places(&d->m, &s->m) &&
             model_shares(&d->m, &s->m, width, mark, d->in->size))
        want = TN_EOVERLAP;
    free(mark);
    return want;
}

static void op_rearrange(machine *p, const slot *d, const slot *s)
{
    (void)p;
    uint8_t *want = copy_of(d->in);
    size_t width = tn_dtype_size(d->t.dtype);
    tn_status expected = expect_copy(d, s), got = tn_rearrange(&d->t, &s->t);
    MUST(got == expected);
    for (int64_t i = 0; got == TN_OK && i < d->m.n; i++)
        if (d->in != s->in)
            memcpy(want + d->m.at[i], s->in->data + s->m.at[i], width);
        else if (d->m.at[i] != s->m.at[i])
            memcpy(want + d->m.at[i], want + s->m.at[i], width);
    MUST(!memcmp(want, d->in->data, d->in->size));
    free(want);
}

static void op_fill(machine *p, const slot *d, const slot *s)
{
    (void)s;
    uint8_t *want = copy_of(d->in), value[16];
    size_t width = tn_dtype_size(d->t.dtype);
    memset(value, take(&p->b), sizeof value);
    tn_status got = tn_fill(&d->t, value);
    MUST(got == TN_OK || got == TN_ESTRIDE);
    for (int64_t i = 0; got == TN_OK && i < d->m.n; i++)
        memcpy(want + d->m.at[i], value, width);
    MUST(!memcmp(want, d->in->data, d->in->size));
    free(want);
}

static void op_compute(machine *p, const slot *d, const slot *s)
{
    uint8_t *before = copy_of(d->in);
    tn_op op = (tn_op)take(&p->b);
    const tn_tensor *srcs[] = {&s->t, &p->slots[take_below(&p->b, SLOTS)].t, &s->t};
    int nsrc = tn_op_arity(op);
    tn_status got = take(&p->b) & 1 ? tn_cast(&d->t, &s->t)
                                    : tn_apply(op, NULL, &d->t, nsrc ? nsrc : 1, srcs);
    check_outside(d, before, got);
    free(before);
}

/* Element i of u8 sums wraps; the other operand is broadcast by the library. */
static void op_add(machine *p, const slot *d, const slot *s)
{
    uint8_t *want = copy_of(d->in);
    (void)p;
    tn_status got = tn_add(&d->t, &s->t, &s->t);
    if (got == TN_OK && d->t.dtype == TN_U8 && same_shape(&d->m, &s->m))
        for (int64_t i = 0; i < d->m.n; i++) {
            const uint8_t *from = d->in == s->in ? want : s->in->data;
            want[d->m.at[i]] = (uint8_t)(2 * from[s->m.at[i]]);
        }
    else
        memcpy(want, d->in->data, d->in->size);
    MUST(!memcmp(want, d->in->data, d->in->size));
    free(want);
}

static int64_t padded_from(tn_pad_mode mode, int64_t i, int64_t n)
{
    int64_t period = mode == TN_PAD_REFLECT ? 2 * (n - 1) : mode == TN_PAD_WRAP ? n : 2 * n;
    if (i >= 0 && i < n)
        return i;
    if (mode == TN_PAD_CONSTANT)
        return -1;
    if (mode == TN_PAD_EDGE)
        return i < 0 ? 0 : n - 1;
    if (period == 0)
        return 0;
    int64_t r = (i % period + period) % period;
    return r < n ? r : mode == TN_PAD_REFLECT ? period - r : period - 1 - r;
}

static void op_pad(machine *p, const slot *d, const slot *s)
{
    int64_t before[AXES] = {0}, after[AXES] = {0}, index[AXES] = {0}, from[AXES];
    tn_pad_mode mode = (tn_pad_mode)take_below(&p->b, 5);
    tn_tensor out;
    (void)d;
    for (int i = 0; i < s->m.ndim; i++) {
        before[i] = take_below(&p->b, 9);
        after[i] = take_below(&p->b, 9);
    }
    tn_status got = tn_pad_copy(&out, &s->t, before, after, mode, NULL);
    if (got != TN_OK) {
        MUST(got == TN_ENOMEM || got == TN_ESHAPE);
        return;
    }
    size_t width = tn_dtype_size(s->t.dtype);
    static const char zero[16];
    if (tn_numel(&out) > 0 && tn_numel(&out) < 20000)
        do {
            bool border = false;
            for (int i = 0; i < s->m.ndim; i++) {
                from[i] = padded_from(mode, index[i] - before[i], s->m.shape[i]);
                border = border || from[i] < 0;
            }
            MUST(!memcmp(at_index(&out, index),
                         border ? zero : (char *)s->in->data + model_at(&s->m, from), width));
        } while (next_index(out.ndim, out.shape, index));
    tn_free(&out);
}

static void op_contiguous(machine *p, const slot *d, const slot *s)
{
    tn_tensor out;
    (void)p;
    (void)d;
    MUST(tn_contiguous(&out, &s->t) == TN_OK);
    MUST(tn_is_contiguous(&out) && same_elements(&out, &s->t));
    tn_free(&out);
}

static void op_roll(machine *p, const slot *d, const slot *s)
{
    tn_tensor out, back;
    int dim = take_below(&p->b, AXES);
    int64_t shift = take_wild(&p->b);
    (void)d;
    MUST(tn_alloc(&out, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    MUST(tn_alloc(&back, s->t.dtype, s->t.ndim, s->t.shape) == TN_OK);
    tn_status got = tn_roll(&out, &s->t, dim, shift);
    MUST(got == (dim < s->t.ndim ? TN_OK : TN_EARG));
    if (got == TN_OK && shift != INT64_MIN) {
        MUST(tn_roll(&back, &out, dim, -shift) == TN_OK);
        MUST(same_elements(&back, &s->t));
    }
    tn_free(&back);
    tn_free(&out);
}

/* Two tensors beside each other are found again as windows. */
static void op_concat(machine *p, const slot *d, const slot *s)
{
    tn_tensor out, part;
    int dim = take_below(&p->b, AXES);
    if (dim >= s->t.ndim || d->t.ndim != s->t.ndim || d->t.dtype != s->t.dtype)
        return;
    int64_t shape[AXES + 1] = {0};
    memcpy(shape, s->t.shape, sizeof shape);
    shape[dim] += d->t.shape[dim];
    const tn_tensor *srcs[] = {&s->t, &d->t};
    MUST(tn_alloc(&out, s->t.dtype, s->t.ndim, shape) == TN_OK);
    if (tn_concat(&out, dim, 2, srcs) == TN_OK) {
        MUST(tn_slice(&part, &out, dim, 0, s->t.shape[dim], 1) == TN_OK);
        MUST(same_elements(&part, &s->t));
        MUST(tn_slice(&part, &out, dim, s->t.shape[dim], INT64_MAX, 1) == TN_OK);
        MUST(same_elements(&part, &d->t));
    }
    tn_free(&out);
}

typedef void op_fn(machine *p, const slot *d, const slot *s);
static op_fn *const ops[] = {op_rearrange, op_fill,       op_compute, op_add,
                             op_pad,       op_contiguous, op_roll,    op_concat,
                             op_reduce,    op_lines,      op_order};

static void run_op(machine *p, const slot *d, const slot *s)
{
    if (!d->in || !s->in)
        return;
    const int which = take(&p->b);
    (which >= 250 ? op_chosen : ops[which % (int)(sizeof ops / sizeof *ops)])(p, d, s);
}

/* ---- descriptors of any numbers, without data ---- */

static void wild_views(machine *p, const tn_tensor *t)
{
    tn_tensor out;
    int dim = (int)take_wild(&p->b);
    int64_t a = take_wild(&p->b), b = take_wild(&p->b), c = take_wild(&p->b), low, high;
    int64_t list[TN_MAX_NDIM];
    for (int i = 0; i < TN_MAX_NDIM; i++)
        list[i] = i < 4 ? take_wild(&p->b) : 1;
    tn_status got[] = {
        tn_slice(&out, t, dim, a, b, c),
        tn_select(&out, t, dim, a),
        tn_windows(&out, t, dim, a, b),
        tn_flip(&out, t, dim),
        tn_unsqueeze(&out, t, dim),
        tn_squeeze(&out, t, dim),
        tn_diagonal(&out, t, dim, (int)a),
        tn_transpose(&out, t, dim, (int)b),
        tn_broadcast_to(&out, t, (int)c, list),
        tn_reshape(&out, t, (int)c, list),
        tn_view(&out, t, list, list + 1, NULL, 0),
        tn_squeeze_all(&out, t),
        tn_slice_text(&out, t, "..., ::-1"),
        tn_extent(t, &low, &high),
        tn_pattern_view(&out, t, "... a -> a ... 3", NULL),
        tn_index_to_offset(a, 4, list, t->stride, &low),
        tn_padded_shape(4, t->shape, list, list + 4),
        tn_padded_size(4, t->shape, list, &low),
    };
    for (size_t i = 0; i < sizeof got / sizeof *got; i++)
        MUST(got[i] >= TN_OK && got[i] <= TN_EUNSUPPORTED);
    MUST(!tn_at(t, list) || tn_numel(t) > 0);
}

static void wild_plans(const tn_tensor *t, const tn_tensor *u)
{
    const tn_tensor *srcs[] = {u, u};
    int64_t widths[TN_MAX_NDIM] = {3, 0, 1};
    const int axis = 0;
    char text[256];
    for (int k = 0; k < 6; k++) {
        tn_plan *plan = NULL;
        tn_status got = k == 0   ? tn_plan_rearrange(&plan, t, u)
                        : k == 1 ? tn_plan_cast(&plan, t, u)
                        : k == 2 ? tn_plan_op(&plan, TN_ADD, NULL, t, 2, srcs)
                        : k == 3 ? tn_plan_pad(&plan, t, u, widths, widths, TN_PAD_EDGE, NULL)
                        : k == 4 ? tn_plan_reduce(&plan, TN_REDUCE_SUM, NULL, t, u, 1, &axis)
                                 : tn_plan_scan(&plan, TN_SCAN_SUM, t, u, axis);
        MUST((got == TN_OK) == (plan != NULL));
        if (plan)
            MUST(tn_plan_explain(plan, text, sizeof text) == TN_OK);
        tn_plan_free(plan);
    }
}

static void run_wild(machine *p)
{
    tn_tensor t[2];
    memset(t, 0, sizeof t);
    for (int k = 0; k < 2; k++) {
        int64_t shape[AXES] = {0}, stride[AXES] = {0};
        int ndim = take_below(&p->b, AXES + 1);
        tn_dtype dtype = k && take(&p->b) & 1 ? t[0].dtype : dtypes[take_below(&p->b, 7)];
        bool again = k && take(&p->b) & 1;
        for (int i = 0; i < ndim; i++) {
            shape[i] = again && i < t[0].ndim ? t[0].shape[i] : take_wild(&p->b);
            stride[i] = take_wild(&p->b);
        }
        if (tn_init_strided(&t[k], NULL, dtype, ndim, shape, stride) != TN_OK) {
            /* Refused, and handed on all the same: every call checks for itself. */
            t[k] = (tn_tensor){.dtype = dtype, .ndim = ndim};
            memcpy(t[k].shape, shape, (size_t)ndim * sizeof *shape);
            memcpy(t[k].stride, stride, (size_t)ndim * sizeof *stride);
        }
        wild_views(p, &t[k]);
    }
    wild_plans(&t[0], &t[1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static machine p;
    memset(&p, 0, sizeof p);
    p.b = (bytes){data, size};
    use_limit();
    limit = 8 << 20;
    for (int i = 0; i < STEPS && p.b.left; i++) {
        int what = take(&p.b), to = what / 16 % SLOTS, from = what / 64;
        switch (what % 16) {
        case 0:
        case 1:
            make(&p, to);
            break;
        case 2:
            run_wild(&p);
            break;
        case 3:
        case 4:
        case 5:
        case 6:
        case 7:
        case 8:
            make_view(&p, to, &p.slots[from]);
            break;
        default:
            run_op(&p, &p.slots[to], &p.slots[from]);
        }
    }
    for (int i = 0; i < SLOTS; i++)
        leave_store(p.slots[i].in);
    MUST(held == 0);
    return 0;
}
