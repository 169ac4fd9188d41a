/* test_oracle.c - a random program over the calls that move or compute elements: each result
 * beside a slow oracle, by two numbers of threads, with the same bits by every way.
 *
 * The program runs itself twice for each instruction set, the second time with every output
 * counted as beyond the cache, and compares the digests.  TEST_CALLS says how many calls all
 * ways make together.  The seed is printed; TEST_SEED and TEST_CASES repeat a case: test_oracle
 * run, with TENON_ISA and TENON_STREAM. */
#include "contract_draw.h"
#include "dims_oracle.h"
#include "ops_want.h"

enum { USUAL_CALLS = TEST_WATCHED ? 50000 : 1000000, AXES = 8, MOST_THREADS = 8 };

static tn_handle *team[MOST_THREADS + 1];

typedef struct trial {
    rng r;
    int threads[2];
    uint64_t digest;
    char said[2000]; /* what went wrong */
} trial;

/* ---- the trial of one call ---- */

typedef tn_status (*call_fn)(const tn_tensor *dst, const void *about);

static bool miss(trial *t, const char *what, const tn_tensor *dst, const tn_tensor *src)
{
    if (!*t->said)
        snprintf(t->said, sizeof t->said, "%s %s, %d and %d threads: dst [%s] src %s [%s]",
                 what, tn_dtype_name(dst->dtype), t->threads[0], t->threads[1], describe(dst),
                 src ? tn_dtype_name(src->dtype) : "", src ? describe(src) : "");
    return false;
}

static void digest_bytes(trial *t, const char *p, size_t n)
{
    for (size_t step; n > 0; p += step, n -= step) {
        uint64_t word = 0;
        step = n < sizeof word ? n : sizeof word;
        memcpy(&word, p, step);
        t->digest = (t->digest ^ word) * 0x9e3779b97f4a7c15u;
        t->digest ^= t->digest >> 29;
    }
}

/* Every element, where one NaN is as good as another. */
static void digest_elements(trial *t, const tn_tensor *d)
{
    int64_t at[TN_MAX_NDIM] = {0};
    const size_t width = tn_dtype_size(d->dtype);
    const bool floats = is_float(d->dtype) || is_complex(d->dtype);
    if (tn_numel(d) == 0)
        return;
    do {
        const char *p = element(d, at);
        const number x = number_at(d->dtype, p);
        if (floats && (isnan(x.f) || isnan(x.im)))
            digest_bytes(t, "NaN", 3);
        else
            digest_bytes(t, p, width);
    } while (index_next(at, d->ndim, d->shape));
}

/* Make the call by two numbers of threads; the bytes are equal, and those of want if given. */
static bool settle(trial *t, const char *what, ground *dst, const ground *want, call_fn call,
                   const void *about, const tn_tensor *src)
{
    ground twin = ground_twin(dst);
    OK(tn_handle_use(team[t->threads[0]]));
    bool good = call(&dst->t, about) == TN_OK || miss(t, tn_error(), &dst->t, src);
    OK(tn_handle_use(team[t->threads[1]]));
    good = good && (call(&twin.t, about) == TN_OK || miss(t, tn_error(), &dst->t, src));
    if (good && !same_ground(dst, &twin))
        good = miss(t, "threads differ", &dst->t, src) && miss(t, what, &dst->t, src);
    if (good && want && !same_ground(dst, want))
        good = miss(t, what, &dst->t, src);
    ground_free(&twin);
    return good;
}

/* A tensor of random bytes: any order of axes, gaps, reversed, any place in memory. */
static ground draw_ground(rng *r, tn_dtype dtype, int ndim, const int64_t *shape, bool source)
{
    const tn_tensor t = pick_layout(r, dtype, ndim, shape, source);
    return ground_make(r, &t, pick_shift(r, (int64_t)tn_dtype_size(dtype)));
}

/* Up to 8 axes; now and then enough elements for several threads. */
static int draw_shape(rng *r, int64_t *shape, int64_t width)
{
    const uint64_t kind = next(r) % 512;
    int ndim;
    do
        ndim = pick_shape(r, shape, kind < 1 ? 400000 / width : kind < 80 ? 2000 : 150);
    while (ndim > AXES);
    return ndim;
}

static int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++)
        n *= shape[i];
    return n;
}

static int64_t row_major(int ndim, const int64_t *shape, const int64_t *at)
{
    int64_t flat = 0;
    for (int i = 0; i < ndim; i++)
        flat = flat * shape[i] + at[i];
    return flat;
}

static void index_of(int64_t flat, int ndim, const int64_t *shape, int64_t *at)
{
    for (int i = ndim - 1; i >= 0; i--) {
        at[i] = flat % shape[i];
        flat /= shape[i];
    }
}

/* ---- views, then a copy of what they show ---- */

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

/* Where element `at` of the view is in what it was made from. */
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

/* Replace the origins of in's elements, in row-major order, by those of out's. */
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

/* Run a plan that was made with this status, once. */
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

/* ---- one source moved by a rule of indices: pad, tile, repeat, roll ---- */

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
    if (ndim > 1 && ndim < 4 && next(r) % 8 == 0) { /* wide ones inside, planes of the value */
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

/* ---- several sources side by side ---- */

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

/* One side: dimensions made of names, in order. */
typedef struct side {
    int dims, of[NAMES + 1]; /* of[i]: names of dimension i */
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

/* ---- numbers ---- */

/* Memcheck computes long double in 64 bits: under it numbers are computed, not compared. */
static bool can_compare(void)
{
    volatile long double small = 0x1p-60L;
    return 1 + small != 1;
}

static const op_rule anything = {NULL, NULL, false, 0, 0, 0, 0, 0};

static void draw_numbers(rng *r, const ground *g, const op_rule *rule)
{
    int64_t at[TN_MAX_NDIM] = {0};
    if (tn_numel(&g->t) == 0)
        return;
    do {
        char *p = element(&g->t, at);
        if (rule == &anything && next(r) % 2)
            scatter_bytes(r, p, tn_dtype_size(g->t.dtype));
        else
            put(g->t.dtype, p, r, rule);
    } while (index_next(at, g->t.ndim, g->t.shape));
}

static tn_status call_cast(const tn_tensor *dst, const void *about)
{
    return tn_cast(dst, about);
}

static tn_status call_cast_plan(const tn_tensor *dst, const void *about)
{
    const tn_tensor *src = about;
    tn_plan *plan = NULL;
    const tn_status made = tn_plan_cast(&plan, dst, src);
    return run_once(made, plan, dst, 1, &src);
}

static bool try_cast(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], at[TN_MAX_NDIM] = {0};
    const tn_dtype from = pick_dtype(r), to = pick_dtype(r);
    const bool unknown = !oracle_knows(from) || !oracle_knows(to);
    const int ndim = draw_shape(r, shape, 16);
    ground src = draw_ground(r, from, ndim, shape, true);
    ground dst = draw_ground(r, to, ndim, shape, false), old = ground_twin(&dst);
    draw_numbers(r, &src, &anything);
    bool good =
        settle(t, "cast", &dst, NULL, next(r) % 2 ? call_cast : call_cast_plan, &src.t, &src.t);
    digest_elements(t, &dst.t);
    while (good && tn_numel(&dst.t) && can_compare()) {
        const char *d = element(&dst.t, at), *s = element(&src.t, at);
        const number x = number_at(from, s);
        if (from == to && from != TN_BOOL)
            good = !memcmp(d, s, tn_dtype_size(to)) || miss(t, "cast", &dst.t, &src.t);
        else if (!(unknown || same_number(number_at(to, d), cast_number(to, x))) ||
                 (to == TN_BOOL && *(const uint8_t *)d > 1))
            good = miss(t, "cast", &dst.t, &src.t);
        memcpy(element(&old.t, at), d, tn_dtype_size(to));
        if (!index_next(at, ndim, shape))
            break;
    }
    if (good && can_compare() && !same_ground(&dst, &old))
        good = miss(t, "cast between elements", &dst.t, &src.t);
    ground_free(&src);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

/* ---- ops ---- */

typedef struct working {
    tn_op op;
    int arity, in_place; /* the source that is dst itself, or -1 */
    tn_dtype in[3], out, meet;
    const double *params;
    const tn_tensor *srcs[3];
    bool plan;
} working;

static tn_status call_op(const tn_tensor *dst, const void *about)
{
    const working *w = about;
    const tn_tensor *srcs[3] = {w->srcs[0], w->srcs[1], w->srcs[2]};
    if (w->in_place >= 0)
        srcs[w->in_place] = dst;
    if (!w->plan)
        return tn_apply(w->op, w->params, dst, w->arity, srcs);
    tn_plan *plan = NULL;
    const tn_status made = tn_plan_op(&plan, w->op, w->params, dst, w->arity, srcs);
    return run_once(made, plan, dst, w->arity, srcs);
}

/* The dtype in which the sources meet; false when the oracle does not follow. */
static bool meeting(working *w)
{
    const int first = w->op == TN_WHERE;
    w->meet = w->in[first];
    if (truth_op(w->op) || w->op == TN_LDEXP)
        return true;
    for (int k = first + 1; k < w->arity; k++) {
        const bool same = w->in[k] == w->meet;
        if (tn_promote(&w->meet, w->meet, w->in[k]) != TN_OK)
            return false;
        if (!same && is_complex(w->meet) && (w->op == TN_MUL || w->op == TN_DIV))
            return false;
    }
    w->meet = computed_in(w->op, w->meet);
    return true;
}

/* An op and dtypes that it takes: all the same, or mixed where it is defined everywhere. */
static void draw_op(rng *r, working *w)
{
    do {
        do
            w->op = (tn_op)(next(r) % (uint64_t)op_count());
        while (w->op == TN_NEXTAFTER);
        w->arity = tn_op_arity(w->op);
        const bool mixed = rules[w->op].low == rules[w->op].high && next(r) % 2;
        const tn_dtype one = pick_dtype(r);
        for (int k = 0; k < w->arity; k++)
            w->in[k] = mixed ? pick_dtype(r) : one;
        if (w->op == TN_WHERE)
            w->in[0] = next(r) % 2 ? TN_BOOL : pick_dtype(r);
        if (w->op == TN_LDEXP)
            w->in[1] = next(r) % 2 ? one : TN_I32;
    } while (tn_op_result(w->op, w->in, w->arity, &w->out) != TN_OK || !meeting(w));
}

/* A source's shape: dst's, with axes of extent 1, or without its first axes. */
static int draw_narrow(rng *r, int ndim, const int64_t *shape, int64_t *own)
{
    int from = 0;
    memcpy(own, shape, sizeof *own * (size_t)ndim);
    if (next(r) % 3)
        return ndim;
    if (next(r) % 2)
        from = (int)pick(r, 0, ndim);
    for (int i = from; i < ndim; i++)
        own[i - from] = next(r) % 3 == 0 ? 1 : shape[i];
    return ndim - from;
}

static number operand(const working *w, int k, const tn_tensor *wide, const int64_t *at)
{
    const number x = number_at(w->in[k], element(wide, at));
    if (truth_op(w->op) || w->op == TN_LDEXP)
        return x;
    if (w->op == TN_WHERE && k == 0)
        return cast_number(TN_BOOL, x);
    return cast_number(w->op == TN_FLOAT_POWER ? TN_F64 : w->meet, x);
}

static bool right_numbers(trial *t, const working *w, const ground *dst, const ground *old,
                          const tn_tensor *wide, const double *params)
{
    int64_t at[TN_MAX_NDIM] = {0};
    bool unknown = !oracle_knows(w->out) || !oracle_knows(w->meet);
    for (int k = 0; k < w->arity; k++)
        unknown |= !oracle_knows(w->in[k]);
    while (tn_numel(&dst->t)) {
        number v[3] = {{0}};
        for (int k = 0; !unknown && k < w->arity; k++)
            v[k] = operand(w, k, &wide[k], at);
        const number got = number_at(w->out, element(&dst->t, at));
        const number want =
            unknown ? got : want_of(w->op, params, w->meet, w->out, v, w->arity);
        if (!unknown && !fits(w->op, w->meet, w->out, got, want)) {
            char what[300];
            snprintf(what, sizeof what,
                     "%s of %s %s %s: %.20Lg %.20Lg %.20Lg (%lld %lld %lld) gave %.20Lg %.20Lg "
                     "(%lld), want %.20Lg %.20Lg (%lld)",
                     tn_op_name(w->op), tn_dtype_name(w->in[0]),
                     w->arity > 1 ? tn_dtype_name(w->in[1]) : "",
                     w->arity > 2 ? tn_dtype_name(w->in[2]) : "", v[0].f, v[1].f, v[2].f,
                     (long long)v[0].i, (long long)v[1].i, (long long)v[2].i, got.f, got.im,
                     (long long)got.i, want.f, want.im, (long long)want.i);
            return miss(t, what, &dst->t, &wide[0]);
        }
        memcpy(element(&old->t, at), element(&dst->t, at), tn_dtype_size(w->out));
        if (!index_next(at, dst->t.ndim, dst->t.shape))
            break;
    }
    return same_ground(dst, old) || miss(t, "op between elements", &dst->t, &wide[0]);
}

static bool try_op(trial *t)
{
    rng *r = &t->r;
    working w = {.in_place = -1, .plan = next(r) % 2};
    draw_op(r, &w);
    int64_t shape[TN_MAX_NDIM], own[AXES];
    const int ndim = draw_shape(r, shape, 16);
    const double params[2] = {0.75, 1.5};
    w.params = tn_op_params(w.op) ? params : NULL;
    ground dst = draw_ground(r, w.out, ndim, shape, false), srcs[3];
    tn_tensor wide[3];
    for (int k = 0; k < w.arity; k++) {
        if (w.in_place < 0 && w.in[k] == w.out && next(r) % 8 == 0) {
            w.in_place = k;
            draw_numbers(r, &dst, &rules[w.op]);
            srcs[k] = ground_twin(&dst); /* keeps what was there */
        } else {
            const int n = draw_narrow(r, ndim, shape, own);
            srcs[k] = draw_ground(r, w.in[k], n, own, true);
            draw_numbers(r, &srcs[k], &rules[w.op]);
        }
        OK(tn_broadcast_to(&wide[k], &srcs[k].t, ndim, shape));
        w.srcs[k] = &srcs[k].t;
    }
    ground old = ground_twin(&dst);
    const float tol = w.out == TN_F64 ? rules[w.op].ulp64 : rules[w.op].ulp32;
    bool good = settle(t, tn_op_name(w.op), &dst, NULL, call_op, &w, &srcs[0].t);
    if (good && (tol < 1 || w.out == TN_BOOL || !(is_float(w.out) || is_complex(w.out))))
        digest_elements(t, &dst.t);
    if (can_compare())
        good = good && right_numbers(t, &w, &dst, &old, wide, params);
    for (int k = 0; k < w.arity; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

/* ---- an op of the caller's own ---- */

enum { MOST_SOURCES = 8 };

typedef struct mapping {
    int n;
    size_t width, widths[MOST_SOURCES];
    const tn_tensor *srcs[MOST_SOURCES];
} mapping;

/* Each byte of an element from a byte of every source. */
static void mix(void *user, int64_t n, void *dst, int64_t dst_step, const void *const *src,
                const int64_t *src_step)
{
    const mapping *m = user;
    for (int64_t i = 0; i < n; i++) {
        uint8_t *d = (uint8_t *)dst + i * dst_step;
        for (size_t b = 0; b < m->width; b++) {
            unsigned sum = (unsigned)b;
            for (int k = 0; k < m->n; k++) {
                const uint8_t *s = (const uint8_t *)src[k] + i * src_step[k];
                sum = sum * 31 + s[b % m->widths[k]];
            }
            d[b] = (uint8_t)sum;
        }
    }
}

static tn_status call_map(const tn_tensor *dst, const void *about)
{
    mapping m = *(const mapping *)about;
    return tn_map(mix, &m, dst, m.n, m.srcs);
}

static bool try_map(trial *t)
{
    rng *r = &t->r;
    int64_t shape[TN_MAX_NDIM], own[AXES], at[TN_MAX_NDIM] = {0};
    const int64_t still[MOST_SOURCES] = {0};
    const tn_dtype dtype = pick_dtype(r);
    const int ndim = draw_shape(r, shape, 16);
    mapping m = {.n = (int)pick(r, 0, next(r) % 4 ? 3 : MOST_SOURCES),
                 .width = tn_dtype_size(dtype)};
    ground srcs[MOST_SOURCES];
    tn_tensor wide[MOST_SOURCES];
    for (int k = 0; k < m.n; k++) {
        const tn_dtype from = pick_dtype(r);
        const int n = draw_narrow(r, ndim, shape, own);
        srcs[k] = draw_ground(r, from, n, own, true);
        OK(tn_broadcast_to(&wide[k], &srcs[k].t, ndim, shape));
        m.srcs[k] = &srcs[k].t;
        m.widths[k] = tn_dtype_size(from);
    }
    ground dst = draw_ground(r, dtype, ndim, shape, false), want = ground_twin(&dst);
    while (tn_numel(&dst.t)) {
        const void *from[MOST_SOURCES] = {NULL};
        for (int k = 0; k < m.n; k++)
            from[k] = element(&wide[k], at);
        mix(&m, 1, element(&want.t, at), 0, from, still);
        if (!index_next(at, ndim, shape))
            break;
    }
    const bool good = settle(t, "map", &dst, &want, call_map, &m, m.n ? &srcs[0].t : NULL);
    digest_bytes(t, dst.bytes, dst.size);
    for (int k = 0; k < m.n; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&want);
    return good;
}

/* ---- one value ---- */

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

/* ---- contractions ---- */

typedef struct contracting {
    draw_case c;
    char spec[256];
    bool matmul, plan;
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
} contracting;

static tn_status call_contract(const tn_tensor *dst, const void *about)
{
    const contracting *x = about;
    const void *data[TN_EINSUM_SOURCES];
    tn_plan *plan = NULL;
    if (!x->plan)
        return x->matmul ? tn_matmul(dst, x->srcs[0], x->srcs[1])
                         : tn_einsum(dst, x->spec, x->c.n, x->srcs);
    const tn_status made = x->matmul ? tn_plan_matmul(&plan, dst, x->srcs[0], x->srcs[1])
                                     : tn_plan_einsum(&plan, dst, x->spec, x->c.n, x->srcs);
    if (made != TN_OK)
        return made;
    for (int k = 0; k < x->c.n; k++)
        data[k] = x->srcs[k]->data;
    const tn_status status = tn_plan_run(plan, dst->data, data);
    tn_plan_free(plan);
    return status;
}

/* A source's batch axis may be 1 where the other's is not: matmul's rule broadcasts it. */
static ground draw_factor(rng *r, const contracting *x, int k)
{
    int64_t shape[16];
    const char *letters = x->c.letters[k];
    const int ndim = (int)strlen(letters);
    for (int i = 0; i < ndim; i++) {
        const bool both = x->matmul && k == 1 && strchr("xy", letters[i]) &&
                          strchr(x->c.letters[2], letters[i]);
        const bool repeats = both && next(r) % 4 == 0;
        shape[i] = repeats ? 1 : x->c.extent[(int)letters[i]];
    }
    ground g = draw_ground(r, k ? x->c.dtype[k - 1] : x->c.dst, ndim, shape, k > 0);
    if (k)
        oracle_fill(r, &g.t, tni_dtypes[x->c.met].kind <= TNI_UNSIGNED);
    return g;
}

/* Every element within the bound, every integer exact, and nothing written between them. */
static bool right_sums(trial *t, const contracting *x, const ground *dst, const ground *old)
{
    int64_t at[TN_MAX_NDIM] = {0}, index[ORACLE_LETTERS] = {0};
    const char *letters[1 + TN_EINSUM_SOURCES];
    for (int k = 0; k <= x->c.n; k++)
        letters[k] = x->c.letters[k];
    while (tn_numel(&dst->t)) {
        for (int i = 0; i < dst->t.ndim; i++)
            index[(int)letters[0][i]] = at[i];
        const char *d = element(&dst->t, at);
        const oracle_sum s = oracle_element(x->c.n, letters, x->srcs, x->c.extent, index);
        if (!oracle_close(&s, x->c.met, x->c.dst, d))
            return miss(t, x->spec, &dst->t, x->srcs[0]);
        memcpy(element(&old->t, at), d, tn_dtype_size(x->c.dst));
        if (!index_next(at, dst->t.ndim, dst->t.shape))
            break;
    }
    return same_ground(dst, old) || miss(t, "contraction between elements", &dst->t, NULL);
}

static bool try_contract(trial *t)
{
    rng *r = &t->r;
    contracting x = {.matmul = next(r) % 2, .plan = next(r) % 2};
    ground srcs[TN_EINSUM_SOURCES];
    (x.matmul ? draw_matmul : draw_letters)(r, &x.c, next(r) % 128 ? 800 : 40000);
    draw_dtypes(r, &x.c);
    spec_of(&x.c, false, x.spec);
    for (int k = 0; k < x.c.n; k++) {
        srcs[k] = draw_factor(r, &x, k + 1);
        x.srcs[k] = &srcs[k].t;
    }
    ground dst = draw_factor(r, &x, 0), old = ground_twin(&dst);
    bool good = settle(t, x.spec, &dst, NULL, call_contract, &x, x.srcs[0]);
    if (tni_dtypes[x.c.dst].kind <= TNI_UNSIGNED) /* floats: bits depend on the level */
        digest_bytes(t, dst.bytes, dst.size);
    if (can_compare())
        good = good && right_sums(t, &x, &dst, &old);
    for (int k = 0; k < x.c.n; k++)
        ground_free(&srcs[k]);
    ground_free(&dst);
    ground_free(&old);
    return good;
}

/* ---- the program ---- */

static bool (*const tries[])(trial *) = {
    try_views, try_views, try_move, try_move, try_join, try_pattern, try_cast,
    try_cast,  try_op,    try_op,   try_op,   try_map,  try_fill,    try_contract};

static int run_program(void)
{
    for (int i = 1; i <= MOST_THREADS; i++)
        OK(tn_handle_create(&team[i], TN_CPU, 0, &(tn_config){.threads = i}));
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", 1);
    trial t = {.digest = 0xcbf29ce484222325u};
    bool good = true;
    for (uint64_t i = 0; good && i < cases; i++) {
        t.r.state = seed + i;
        t.threads[0] = (int)pick(&t.r, 1, MOST_THREADS);
        t.threads[1] = (int)pick(&t.r, 1, MOST_THREADS);
        good = tries[next(&t.r) % (sizeof tries / sizeof *tries)](&t);
        if (!good)
            printf("TENON_ISA=%s TENON_STREAM=%s TEST_SEED=%llu TEST_CASES=1: %s\n", tn_isa(),
                   getenv("TENON_STREAM") ? getenv("TENON_STREAM") : "",
                   (unsigned long long)(seed + i), t.said);
    }
    for (int i = 1; i <= MOST_THREADS; i++)
        tn_handle_destroy(team[i]);
    printf("digest %016llx\n", (unsigned long long)t.digest);
    return good ? 0 : 1;
}

static const char *self;

/* A level, with few outputs or every one counted as beyond the cache. */
typedef struct way {
    const char *level, *stream;
} way;

/* The digest of the first cases by one way; a failure there fails the test. */
static uint64_t digest_by(way w, uint64_t seed, uint64_t cases)
{
    const char *emulator = getenv("TEST_EMULATOR");
    char command[4096], line[4096];
    snprintf(command, sizeof command,
             "TENON_ISA=%s TENON_STREAM=%s TEST_SEED=%llu TEST_CASES=%llu %s '%s' run", w.level,
             w.stream, (unsigned long long)seed, (unsigned long long)cases,
             emulator ? emulator : "", self);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned long long digest = 0;
    bool said = false;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "digest %llx", &digest) == 1)
            said = true;
        else
            fputs(line, stdout);
    if (pclose(f) != 0 || !said)
        fail_msg("%s fails", command);
    return digest;
}

/* The first case whose bits differ, by halving. */
static void tell_first(way a, way b, uint64_t seed, uint64_t cases)
{
    uint64_t same = 0;
    while (cases - same > 1) {
        const uint64_t half = same + (cases - same) / 2;
        if (digest_by(a, seed, half) == digest_by(b, seed, half))
            same = half;
        else
            cases = half;
    }
    fail_msg("%s with TENON_STREAM=%s and %s with TENON_STREAM=%s give other bits: "
             "TEST_SEED=%llu TEST_CASES=1",
             a.level, a.stream, b.level, b.stream, (unsigned long long)(seed + same));
}

static void same_bits_by_every_way(void **state)
{
    (void)state;
    static const way ways[] = {{"base", ""},  {"base", "0"},  {"avx2", ""},
                               {"avx2", "0"}, {"avx512", ""}, {"avx512", "0"}};
    const bool one_level = !strcmp(tn_isa(), "neon");
    int n = 0; /* ways up to the level of this machine */
    do
        n += 2;
    while (n < 6 && !one_level && strcmp(ways[n - 1].level, tn_isa()) != 0);
    const uint64_t seed = seed_asked(), calls = number_asked("TEST_CALLS", USUAL_CALLS);
    const uint64_t cases = number_asked("TEST_CASES", (calls + (uint64_t)n - 1) / (uint64_t)n);
    const uint64_t first = digest_by(ways[0], seed, cases);
    for (int i = 1; i < n; i++)
        if (digest_by(ways[i], seed, cases) != first)
            tell_first(ways[0], ways[i], seed, cases);
    printf("seed %llu, %llu calls by each of %d ways, digest %016llx\n",
           (unsigned long long)seed, (unsigned long long)cases, n, (unsigned long long)first);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "run"))
        return run_program();
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_by_every_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
