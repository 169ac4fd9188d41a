/* trial_copy.h - random calls that copy elements: views, pads, joins, patterns, fills. */
#ifndef TRIAL_COPY_H
#define TRIAL_COPY_H

#include "trial.h"

/* ---- views, and a copy of them ---- */

typedef struct look {
    int kind, dim, other, ndim;
    int axes[AXES + 1];
    int64_t start, step, size, shape[AXES + 1];
} look;

enum { PERMUTE, FLIP, SLICE, SELECT, UNSQUEEZE, BROADCAST, DIAGONAL, WINDOWS, RESHAPE, LOOKS };

static bool draw_look(rng *r, const tn_tensor *in, look *v)
{
    const int n = in->ndim;
    *v = (look){.kind = (int)(next(r) % LOOKS)};
    const bool grows = v->kind == UNSQUEEZE || v->kind == BROADCAST || v->kind == WINDOWS;
    if ((grows && n >= AXES) || (n == 0 && v->kind != UNSQUEEZE && v->kind != BROADCAST))
        return false;
    v->dim = (int)pick(r, 0, n - (v->kind != UNSQUEEZE && n > 0));
    v->other = n > 1 ? (v->dim + (int)pick(r, 1, n - 1)) % n : v->dim;
    const int64_t extent = v->kind == UNSQUEEZE || !n ? 1 : in->shape[v->dim];
    for (int i = 0; i < n; i++)
        v->axes[i] = i;
    shuffle(r, v->axes, n);
    v->start = extent > 0 ? pick(r, 0, extent - 1) : 0;
    v->step = pick(r, 1, 3) * (v->kind == SLICE && next(r) % 2 ? -1 : 1);
    v->size = pick(r, 0, extent < 4 ? extent : 4);
    v->ndim = n + 1;
    v->shape[0] = pick(r, 1, 3);
    for (int i = 0; i < n; i++)
        v->shape[i + 1] = in->shape[i] == 1 ? pick(r, 1, 3) : in->shape[i];
    if (v->kind == RESHAPE) {
        v->ndim = 1;
        v->shape[0] = tn_numel(in);
    }
    return extent > 0 && !(v->kind == DIAGONAL && v->dim == v->other) &&
           !(v->kind == BROADCAST && count_of(v->ndim, v->shape) > 4000);
}

static tn_status take_look(const look *v, tn_tensor *out, const tn_tensor *in)
{
    switch (v->kind) {
    case PERMUTE:
        return tn_permute(out, in, v->axes);
    case FLIP:
        return tn_flip(out, in, v->dim);
    case SLICE:
        return tn_slice(out, in, v->dim, v->start, v->step < 0 ? INT64_MIN : INT64_MAX,
                        v->step);
    case SELECT:
        return tn_select(out, in, v->dim, v->start);
    case UNSQUEEZE:
        return tn_unsqueeze(out, in, v->dim);
    case BROADCAST:
        return tn_broadcast_to(out, in, v->ndim, v->shape);
    case DIAGONAL:
        return tn_diagonal(out, in, v->dim, v->other);
    case WINDOWS:
        return tn_windows(out, in, v->dim, v->size, v->step);
    default:
        return tn_reshape(out, in, v->ndim, v->shape);
    }
}

/* The index in the tensor that a view was made from of the view's element `at`. */
static void look_back(const look *v, const tn_tensor *in, const int64_t *at, int64_t *from)
{
    const int n = in->ndim;
    int k = 0;
    switch (v->kind) {
    case PERMUTE:
        for (int i = 0; i < n; i++)
            from[v->axes[i]] = at[i];
        return;
    case SELECT:
        for (int i = 0; i < n; i++)
            from[i] = i == v->dim ? v->start : at[k++];
        return;
    case UNSQUEEZE:
        for (int i = 0; i < n; i++)
            from[i] = at[i + (i >= v->dim)];
        return;
    case BROADCAST:
        for (int i = 0; i < n; i++)
            from[i] = in->shape[i] == 1 ? 0 : at[i + 1];
        return;
    case DIAGONAL:
        for (int i = 0; i < n; i++)
            from[i] = i == v->dim || i == v->other ? at[n - 2] : at[k++];
        return;
    case RESHAPE:
        index_of(at[0], n, in->shape, from);
        return;
    default:
        for (int i = 0; i < n; i++)
            from[i] = at[i];
    }
    if (v->kind == FLIP)
        from[v->dim] = in->shape[v->dim] - 1 - at[v->dim];
    if (v->kind == SLICE)
        from[v->dim] = v->start + at[v->dim] * v->step;
    if (v->kind == WINDOWS)
        from[v->dim] = at[v->dim] * v->step + at[n];
}

/* Replace the origins of in's elements, in row-major order, by those of out's; frees the old
 * ones. */
static int64_t *look_through(const look *v, const tn_tensor *in, const tn_tensor *out,
                             int64_t *origin)
{
    const int64_t n = tn_numel(out);
    int64_t *mine = malloc((size_t)(n + 1) * sizeof *mine), at[AXES + 1] = {0},
            from[AXES + 1] = {0};
    assert_non_null(mine);
    for (int64_t i = 0; i < n; i++) {
        index_of(i, out->ndim, out->shape, at);
        look_back(v, in, at, from);
        mine[i] = origin[row_major(in->ndim, in->shape, from)];
    }
    free(origin);
    return mine;
}

static tn_status call_copy(const tn_tensor *dst, const void *about)
{
    return tn_rearrange(dst, about);
}

/* Run a plan once, unless making it failed. */
static tn_status run_once(tn_status made, tn_plan *plan, const tn_tensor *dst, int n,
                          const tn_tensor *const *srcs)
{
    const void *data[3] = {NULL};
    if (made != TN_OK)
        return made;
    for (int k = 0; k < n; k++)
        data[k] = srcs[k]->data;
    const tn_status status = tn_plan_run(plan, dst->data, data);
    tn_plan_free(plan);
    return status;
}

static tn_status call_copy_plan(const tn_tensor *dst, const void *about)
{
    const tn_tensor *src = about;
    tn_tensor d = *dst, s = *src;
    tn_plan *plan = NULL;
    d.data = s.data = NULL;
    const tn_status made = tn_plan_rearrange(&plan, &d, &s);
    return run_once(made, plan, dst, 1, &src);
}

static bool try_views(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], at[AXES + 1];
    const tn_dtype dtype = pick_dtype(r);
    const size_t width = tn_dtype_size(dtype);
    const int ndim = draw_shape(r, shape, (int64_t)width);
    ground src = draw_ground(r, dtype, ndim, shape, true);
    const int64_t n = tn_numel(&src.t);
    int64_t *origin = malloc((size_t)(n + 1) * sizeof *origin);
    assert_non_null(origin);
    for (int64_t i = 0; i < n; i++)
        origin[i] = i;
    tn_tensor view = src.t;
    for (int64_t i = pick(r, 0, 5); i > 0; i--) {
        look v;
        tn_tensor out;
        if (!draw_look(r, &view, &v))
            continue;
        const tn_status status = take_look(&v, &out, &view);
        if (status == TN_ESTRIDE && v.kind == RESHAPE)
            continue;
        OK(status);
        origin = look_through(&v, &view, &out, origin);
        view = out;
    }
    ground dst = draw_ground(r, dtype, view.ndim, view.shape, false), want = ground_twin(&dst);
    for (int64_t i = 0; i < tn_numel(&view); i++) {
        index_of(i, view.ndim, view.shape, at);
        char *d = element(&want.t, at);
        index_of(origin[i], ndim, shape, at);
        memcpy(d, element(&src.t, at), width);
    }
    const bool good =
        settle(t, "views", &dst, &want, next(r) % 2 ? call_copy : call_copy_plan, &view, &view);
    digest_bytes(t, dst.bytes, dst.size);
    free(origin);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- one source, elements moved by a rule: pad, tile, repeat, roll ---- */

enum { PAD, TILE, REPEAT, ROLL, MOVES };

typedef struct moving {
    int kind, dim;
    const tn_tensor *src;
    int64_t before[AXES], after[AXES], reps[AXES], number;
    tn_pad_mode mode;
    const void *value;
    bool plan;
} moving;

static tn_status call_move(const tn_tensor *dst, const void *about)
{
    const moving *m = about;
    tn_plan *plan = NULL;
    switch (m->kind) {
    case TILE:
        return tn_tile(dst, m->src, m->reps);
    case REPEAT:
        return tn_repeat(dst, m->src, m->dim, m->number);
    case ROLL:
        return tn_roll(dst, m->src, m->dim, m->number);
    default:
        if (!m->plan)
            return tn_pad_into(dst, m->src, m->before, m->after, m->mode, m->value);
    }
    const tn_status made =
        tn_plan_pad(&plan, dst, m->src, m->before, m->after, m->mode, m->value);
    return run_once(made, plan, dst, 1, &m->src);
}

static void draw_widths(rng *r, moving *m, int ndim, const int64_t *shape)
{
    m->mode = (tn_pad_mode)(next(r) % 5);
    for (int i = 0; i < ndim; i++)
        if (next(r) % 2 && (shape[i] || m->mode == TN_PAD_CONSTANT)) {
            const int64_t most = ndim > 3 ? 2 : next(r) % 16 ? 3 : 40;
            m->before[i] = pick(r, 0, most);
            m->after[i] = pick(r, 0, most);
        }
    if (ndim > 1 && ndim < 4 && next(r) % 8 == 0) { /* a wide border along the last axis */
        m->mode = next(r) % 4 ? TN_PAD_CONSTANT : m->mode;
        m->before[ndim - 1] = shape[ndim - 1] ? pick(r, 0, 100) : 0;
    }
}

static bool try_move(trial *t)
{
    rng *r = &t->r;
    static const char *const names[MOVES] = {"pad", "tile", "repeat", "roll"};
    static const char zero[16];
    int64_t shape[TN_MAX_NDIM], whole[AXES];
    const tn_dtype dtype = pick_dtype(r);
    const int ndim = draw_shape(r, shape, (int64_t)tn_dtype_size(dtype));
    char value[16];
    scatter_bytes(r, value, sizeof value);
    moving m = {.kind = next(r) % 2 ? PAD : (int)pick(r, TILE, ROLL), .plan = next(r) % 2};
    if (ndim == 0 && m.kind != TILE)
        m.kind = PAD;
    m.dim = ndim ? (int)pick(r, 0, ndim - 1) : 0;
    m.value = next(r) % 4 ? value : NULL;
    draw_widths(r, &m, ndim, shape);
    m.number = m.kind == REPEAT   ? pick(r, 0, 4)
               : next(r) % 8 == 0 ? (int64_t)next(r)
                                  : pick(r, -30, 30);
    const bool large = count_of(ndim, shape) > 2000;
    for (int i = 0; i < ndim; i++) {
        m.reps[i] = large || ndim > 4 ? pick(r, 1, i == m.dim ? 2 : 1) : pick(r, 0, 3);
        whole[i] = shape[i];
        if (m.kind == PAD)
            whole[i] += m.before[i] + m.after[i];
        if (m.kind == TILE || (m.kind == REPEAT && i == m.dim))
            whole[i] *= m.kind == TILE ? m.reps[i] : m.number;
    }
    ground src = draw_ground(r, dtype, ndim, shape, true);
    ground dst = draw_ground(r, dtype, ndim, whole, false), want = ground_twin(&dst);
    m.src = &src.t;
    const moved about = {ndim, m.dim, shape, m.number};
    if (m.kind == PAD)
        oracle(&want.t, &src.t, from_pad, &(padded){ndim, shape, m.before, m.mode},
               m.value ? value : zero);
    else
        oracle(&want.t, &src.t,
               m.kind == TILE     ? from_tile
               : m.kind == REPEAT ? from_repeat
                                  : from_roll,
               &about, NULL);
    const bool good = settle(t, names[m.kind], &dst, &want, call_move, &m, &src.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- several sources joined ---- */

typedef struct joining {
    int dim, n;
    bool stacked;
    const tn_tensor *list[5];
} joining;

static tn_status call_join(const tn_tensor *dst, const void *about)
{
    const joining *j = about;
    return (j->stacked ? tn_stack : tn_concat)(dst, j->dim, j->n, j->list);
}

static bool try_join(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], whole[AXES + 1], total = 0;
    const tn_dtype dtype = pick_dtype(r);
    const int ndim = draw_shape(r, shape, (int64_t)tn_dtype_size(dtype));
    joining j = {.n = (int)pick(r, 1, 5), .stacked = ndim == 0 || next(r) % 2};
    j.dim = (int)pick(r, 0, ndim - !j.stacked);
    ground srcs[5];
    for (int k = 0; k < j.n; k++) {
        if (!j.stacked)
            shape[j.dim] = pick(r, 0, 2 * shape[j.dim] < 6 ? 6 : shape[j.dim]);
        srcs[k] = draw_ground(r, dtype, ndim, shape, true);
        j.list[k] = &srcs[k].t;
        total += j.stacked ? 1 : shape[j.dim];
    }
    for (int i = 0, k = 0; i < ndim + j.stacked; i++)
        whole[i] = i == j.dim ? (k += !j.stacked, total) : shape[k++];
    ground dst = draw_ground(r, dtype, ndim + j.stacked, whole, false);
    ground want = ground_twin(&dst);
    join_oracle(&want.t, &(joined){j.dim, j.n, j.stacked, srcs});
    const bool good =
        settle(t, j.stacked ? "stack" : "concat", &dst, &want, call_join, &j, &srcs[0].t);
    digest_bytes(t, dst.bytes, dst.size);
    for (int k = 0; k < j.n; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- patterns ---- */

enum { NAMES = 6 };

/* One side of a pattern: dimensions made of names, in order. */
typedef struct side {
    int dims, of[NAMES + 1]; /* of[i]: number of names in dimension i */
    int name[NAMES], names;
} side;

typedef struct drawn_pattern {
    int64_t n[NAMES];
    bool reversed[NAMES];
    side left, right;
    char text[200], sizes[100];
    const tn_tensor *src;
} drawn_pattern;

static void group(rng *r, side *s)
{
    for (int used = 0; used < s->names; used += s->of[s->dims++])
        s->of[s->dims] = next(r) % 3 ? 1 : (int)pick(r, 1, s->names - used);
}

static void spell(const drawn_pattern *p, const side *s, bool left, char *text)
{
    int k = 0;
    for (int i = 0; i < s->dims; i++) {
        const bool grouped = s->of[i] > 1;
        strcat(text, grouped ? "(" : "");
        for (int j = 0; j < s->of[i]; j++, k++)
            sprintf(text + strlen(text), "%s%c ", left && p->reversed[s->name[k]] ? "-" : "",
                    'a' + s->name[k]);
        strcat(text, grouped ? ") " : "");
    }
}

static void shape_of_side(const drawn_pattern *p, const side *s, int64_t *shape)
{
    for (int i = 0, k = 0; i < s->dims; i++) {
        shape[i] = 1;
        for (int j = 0; j < s->of[i]; j++)
            shape[i] *= p->n[s->name[k++]];
    }
}

static bool from_pattern(const void *about, const int64_t *index, int64_t *from)
{
    const drawn_pattern *p = about;
    int64_t value[NAMES] = {0};
    for (int i = 0, k = 0; i < p->right.dims; k += p->right.of[i++]) {
        int64_t rest = index[i];
        for (int j = p->right.of[i] - 1; j >= 0; j--) {
            const int name = p->right.name[k + j];
            value[name] = rest % p->n[name];
            rest /= p->n[name];
        }
    }
    for (int i = 0, k = 0; i < p->left.dims; i++) {
        from[i] = 0;
        for (int j = 0; j < p->left.of[i]; j++, k++) {
            const int name = p->left.name[k];
            const int64_t v = p->reversed[name] ? p->n[name] - 1 - value[name] : value[name];
            from[i] = from[i] * p->n[name] + v;
        }
    }
    return true;
}

static tn_status call_pattern(const tn_tensor *dst, const void *about)
{
    const drawn_pattern *p = about;
    return tn_pattern_into(dst, p->src, p->text, p->sizes);
}

static bool try_pattern(trial *t)
{
    rng *r = &t->r;
    int64_t shape[NAMES], whole[NAMES];
    const tn_dtype dtype = pick_dtype(r);
    drawn_pattern p = {.text = ""};
    const int all = (int)pick(r, 0, NAMES);
    p.left.names = all - (all > 1 && next(r) % 4 == 0); /* the last name may be new */
    p.right.names = all;
    for (int i = 0; i < all; i++) {
        p.n[i] = pick(r, 1, next(r) % 64 == 0 ? 40 : 4);
        p.reversed[i] = i < p.left.names && next(r) % 6 == 0;
        p.left.name[i] = p.right.name[i] = i;
        sprintf(p.sizes + strlen(p.sizes), "%c=%d ", 'a' + i, (int)p.n[i]);
    }
    shuffle(r, p.left.name, p.left.names);
    shuffle(r, p.right.name, all);
    group(r, &p.left);
    group(r, &p.right);
    spell(&p, &p.left, true, p.text);
    strcat(p.text, "-> ");
    spell(&p, &p.right, false, p.text);
    shape_of_side(&p, &p.left, shape);
    shape_of_side(&p, &p.right, whole);
    ground src = draw_ground(r, dtype, p.left.dims, shape, true);
    ground dst = draw_ground(r, dtype, p.right.dims, whole, false), want = ground_twin(&dst);
    p.src = &src.t;
    oracle(&want.t, &src.t, from_pattern, &p, NULL);
    const bool good = settle(t, p.text, &dst, &want, call_pattern, &p, &src.t);
    digest_bytes(t, dst.bytes, dst.size);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- fills ---- */

static tn_status call_fill(const tn_tensor *dst, const void *about)
{
    return tn_fill(dst, about);
}

static bool from_nowhere(const void *about, const int64_t *index, int64_t *from)
{
    (void)about, (void)index, (void)from;
    return false;
}

static bool try_fill(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM];
    const tn_dtype dtype = pick_dtype(r);
    const int ndim = draw_shape(r, shape, (int64_t)tn_dtype_size(dtype));
    char value[16];
    scatter_bytes(r, value, sizeof value);
    ground dst = draw_ground(r, dtype, ndim, shape, false), want = ground_twin(&dst);
    oracle(&want.t, &want.t, from_nowhere, NULL, value);
    const bool good = settle(t, "fill", &dst, &want, call_fill, value, NULL);
    digest_bytes(t, dst.bytes, dst.size);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

#endif
