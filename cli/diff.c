/* diff.c - the differences of two files: tensors that only one has, other shapes or dtypes, and
 * by how much elements differ.
 *
 * Exit codes are those of diff(1): 0 equal, 1 different, 2 trouble. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"

enum { EQUAL = 0, DIFFERENT = 1, TROUBLE = 2, SIGNATURE = 1 << 12 };

/* ---- elements ---- */

typedef struct pair_job {
    const comparison *c;
    tn_difference *d;
} pair_job;

static tn_status compare_box(void *user, const tn_tensor *out, int n,
                             const tn_tensor *const *srcs, const int64_t *at)
{
    pair_job *p = user;
    (void)out;
    (void)n;
    (void)at;
    return tn_compare(srcs[0], srcs[1], p->c->atol, p->c->rtol, p->d);
}

static tn_status pass(void *user, const tn_tensor *block, const int64_t *at)
{
    (void)user;
    (void)block;
    (void)at;
    return TN_OK;
}

static tn_status step(void *user, int64_t done, int64_t total)
{
    (void)user;
    (void)total;
    progress_at(done);
    return TN_OK;
}

/* Compare two tensors in one pass, box by box, in order. */
static int compare_inputs(const comparison *c, const input *x, const input *y, tn_difference *d)
{
    recipe r;
    pair_job p = {c, d};
    tn_stream_map map = {compare_box, &p};
    TRY(recipe_start(&r, TN_U8, x->t.ndim, x->t.shape));
    int code = recipe_add(&r, &x->t, x, NULL);
    if (code == DONE)
        code = recipe_add(&r, &y->t, y, NULL);
    tn_stream job = recipe_job(&r, c->a, NULL);
    job.recipe = TN_STREAM_MAP;
    job.args = &map;
    job.put = pass;
    job.progress = step;
    job.threads = 1; /* sums need the order */
    if (code == DONE && tn_stream_run(&job) != TN_OK)
        code = fail("%s", tn_error());
    recipe_free(&r);
    progress_next();
    return code;
}

static int compare_pair(const comparison *c, int64_t a, int64_t b, tn_difference *d)
{
    input x, y;
    *d = (tn_difference){.at = -1};
    TRY(open_input(c->a, &x, &c->s[0], a));
    int code = open_input(c->a, &y, &c->s[1], b);
    if (code == DONE) {
        code = compare_inputs(c, &x, &y, d);
        close_input(&y);
    }
    close_input(&x);
    return code;
}

/* ---- pairs ---- */

bool diff_describe(const source *s, int64_t i, tn_tensor *t)
{
    return tn_file_info(s->f, i, NULL, t, NULL) == TN_OK;
}

static bool same_shape(const tn_tensor *x, const tn_tensor *y)
{
    return x->ndim == y->ndim &&
           !memcmp(x->shape, y->shape, (size_t)x->ndim * sizeof x->shape[0]);
}

static int judge_elements(comparison *c, diff_row *r, bool same_dtype)
{
    if (c->a->structure)
        return DONE;
    TRY(compare_pair(c, r->a, r->b, &r->d));
    bool close = c->tolerant && !r->d.beyond;
    if (close)
        r->what = r->d.unequal || !same_dtype ? WITHIN : SAME;
    else if (r->d.unequal)
        r->what = DIFFERS;
    return DONE;
}

static int judge(comparison *c, diff_row *r)
{
    tn_tensor x, y;
    if (!diff_describe(&c->s[0], r->a, &x) || !diff_describe(&c->s[1], r->b, &y)) {
        const char *ta = tn_file_type(c->s[0].f, r->a), *tb = tn_file_type(c->s[1].f, r->b);
        if (strcmp(ta, tb) != 0) {
            r->what = OTHER_DTYPE;
            return DONE;
        }
        return fail("%s", tn_error());
    }
    bool same_dtype = x.dtype == y.dtype;
    r->what = !same_shape(&x, &y) ? OTHER_SHAPE : same_dtype ? SAME : OTHER_DTYPE;
    return r->what == OTHER_SHAPE ? DONE : judge_elements(c, r, same_dtype);
}

/* Find the tensor of B that corresponds to tensor i of A, after renaming by the rules, if any.
 * *skip: a rule drops it and B lacks it. */
static int find_in_b(const comparison *c, rules *rs, int64_t i, int64_t *b, bool *skip)
{
    char *name = NULL;
    const char *old = tn_file_name(c->s[0].f, i);
    TRY(renamed(rs, old, &name));
    bool found = tn_file_find(c->s[1].f, name ? name : old, b) == TN_OK;
    *skip = !name && !found;
    *b = name && found ? *b : -1;
    free(name);
    return DONE;
}

/* Add a row for each tensor of A with its counterpart in B, then for tensors that only B
 * has. */
static int pair_names(comparison *c, int64_t na, int64_t nb)
{
    rules rs = {0};
    bool *taken = calloc((size_t)(nb ? nb : 1), sizeof *taken);
    int code = taken ? DONE : fail("cannot allocate memory for %lld tensors", (long long)nb);
    if (code == DONE && c->a->rules)
        code = read_renames(c->a->rules, &rs);
    for (int64_t i = 0; code == DONE && i < na; i++) {
        diff_row r = {.a = i, .b = -1};
        bool skip = false;
        code = find_in_b(c, &rs, i, &r.b, &skip);
        if (code == DONE && r.b >= 0 && taken[r.b])
            code = fail("%s: two tensors are renamed to \"%s\"", c->a->rules,
                        tn_file_name(c->s[1].f, r.b));
        r.what = r.b < 0 ? ONLY_A : SAME;
        if (r.b >= 0)
            taken[r.b] = true;
        if (!skip)
            c->rows[c->n++] = r;
    }
    for (int64_t i = 0; code == DONE && i < nb; i++)
        if (!taken[i])
            c->rows[c->n++] = (diff_row){.a = -1, .b = i, .what = ONLY_B};
    free_rules(&rs);
    free(taken);
    return code;
}

static int add_rows(comparison *c)
{
    int64_t na = tn_file_count(c->s[0].f), nb = tn_file_count(c->s[1].f);
    c->rows = calloc((size_t)(na + nb + 1), sizeof *c->rows);
    if (!c->rows)
        return fail("cannot allocate memory for %lld tensors", (long long)(na + nb));
    int64_t one = c->s[0].which < 0 ? 0 : c->s[0].which;
    int64_t other = c->s[1].which < 0 ? 0 : c->s[1].which;
    if ((c->s[0].which >= 0 || na == 1) && (c->s[1].which >= 0 || nb == 1)) {
        c->rows[c->n++] =
            (diff_row){.a = one, .b = other, .what = SAME}; /* regardless of their names */
        return DONE;
    }
    if (c->s[0].which >= 0 || c->s[1].which >= 0)
        return fail("%s has several tensors; name one as FILE:NAME",
                    c->s[c->s[0].which >= 0].path);
    return pair_names(c, na, nb);
}

/* Read the first bytes of a tensor; false: it cannot be read or is empty. */
static bool signature(const comparison *c, int which, int64_t i, char *bytes, int64_t *n)
{
    input in;
    tn_tensor v, dst;
    if (open_input(c->a, &in, &c->s[which], i) != DONE)
        return false;
    v = in.t;
    int64_t width = (int64_t)tn_dtype_size(v.dtype);
    while (v.ndim > 1 && tn_nbytes(&v) > SIGNATURE && tn_select(&v, &v, 0, 0) == TN_OK)
        continue;
    bool ok = tn_numel(&v) > 0;
    if (ok && v.ndim && tn_nbytes(&v) > SIGNATURE)
        ok = tn_slice(&v, &v, 0, 0, SIGNATURE / width, 1) == TN_OK;
    ok = ok && tn_init(&dst, bytes, v.dtype, v.ndim, v.shape) == TN_OK;
    const tn_file *f = in.spilled ? in.unpacked : in.from->f;
    if (ok)
        ok = (in.in_memory ? tn_rearrange(&dst, &v)
                           : tn_file_fetch(f, in.spilled ? 0 : in.i, &dst, &v)) == TN_OK;
    *n = ok ? tn_nbytes(&dst) : 0;
    close_input(&in);
    return ok;
}

/* FNV-1a of dtype, shape and the first bytes; 0: the tensor cannot be read. */
static uint64_t hash_first(const comparison *c, int which, int64_t i)
{
    char bytes[SIGNATURE];
    tn_tensor t;
    int64_t n = 0;
    uint64_t hash = 14695981039346656037u;
    if (!diff_describe(&c->s[which], i, &t) || !signature(c, which, i, bytes, &n))
        return 0;
    hash = (hash ^ (uint64_t)t.dtype) * 1099511628211u;
    for (int k = 0; k < t.ndim; k++)
        hash = (hash ^ (uint64_t)t.shape[k]) * 1099511628211u;
    for (int64_t k = 0; k < n; k++)
        hash = (hash ^ (unsigned char)bytes[k]) * 1099511628211u;
    return hash ? hash : 1;
}

/* Look for a tensor that only B has and that equals one that only A has. */
static int find_renamed(comparison *c, diff_row *r)
{
    for (int64_t k = 0; k < c->n; k++) {
        diff_row *b = &c->rows[k];
        tn_tensor x, y;
        tn_difference d;
        if (b->what != ONLY_B || !r->first || b->first != r->first ||
            !diff_describe(&c->s[0], r->a, &x) || !diff_describe(&c->s[1], b->b, &y) ||
            x.dtype != y.dtype || !same_shape(&x, &y))
            continue;
        TRY(compare_pair(c, r->a, b->b, &d));
        if (d.unequal)
            continue;
        r->what = RENAMED;
        r->b = b->b;
        *b = (diff_row){.a = -1, .b = -1};
        return DONE;
    }
    return DONE;
}

static int find_all_renamed(comparison *c)
{
    if (c->a->structure)
        return DONE;
    for (int64_t k = 0; k < c->n; k++) {
        diff_row *r = &c->rows[k];
        if (r->what == ONLY_A || r->what == ONLY_B)
            r->first = hash_first(c, r->what == ONLY_B, r->what == ONLY_B ? r->b : r->a);
    }
    for (int64_t k = 0; k < c->n; k++)
        if (c->rows[k].what == ONLY_A)
            TRY(find_renamed(c, &c->rows[k]));
    int64_t n = 0;
    for (int64_t k = 0; k < c->n; k++)
        if (c->rows[k].a >= 0 || c->rows[k].b >= 0)
            c->rows[n++] = c->rows[k];
    c->n = n;
    return DONE;
}

static int larger_first(const void *a, const void *b)
{
    const diff_row *x = a, *y = b;
    if (x->what != y->what)
        return x->what < y->what ? -1 : 1;
    if (x->d.max_abs != y->d.max_abs)
        return x->d.max_abs > y->d.max_abs ? -1 : 1;
    int64_t p = x->a >= 0 ? x->a : x->b, q = y->a >= 0 ? y->a : y->b;
    return p < q ? -1 : p > q;
}

/* ---- the command ---- */

static int read_tolerance(const args *a, const char *name, const char *text, double *x)
{
    char *end;
    *x = 0;
    if (!text)
        return DONE;
    *x = strtod(text, &end);
    return end != text && !*end && *x >= 0
               ? DONE
               : usage(a, "%s takes a number >= 0, got \"%s\"", name, text);
}

static int compare_files(comparison *c)
{
    int64_t bytes = 0;
    TRY(add_rows(c));
    for (int64_t i = 0; i < c->n; i++) {
        tn_tensor t;
        if (c->rows[i].what == SAME && diff_describe(&c->s[0], c->rows[i].a, &t))
            bytes += tn_numel(&t); /* the job's result is u8: a byte per element */
    }
    progress_start(c->a, c->a->structure ? 0 : bytes);
    for (int64_t i = 0; i < c->n; i++)
        if (c->rows[i].what == SAME)
            TRY(judge(c, &c->rows[i]));
    TRY(find_all_renamed(c));
    progress_end();
    for (int64_t i = 0; i < c->n; i++)
        c->counts[c->rows[i].what]++;
    qsort(c->rows, (size_t)c->n, sizeof *c->rows, larger_first);
    return DONE;
}

int run_diff(const args *a)
{
    comparison c = {.a = a, .tolerant = a->atol || a->rtol};
    TRY(need_operands(a, 2));
    TRY(read_tolerance(a, "--atol", a->atol, &c.atol));
    TRY(read_tolerance(a, "--rtol", a->rtol, &c.rtol));
    if (open_source(&c.s[0], a->operands[0]) != DONE)
        return TROUBLE;
    int code = open_source(&c.s[1], a->operands[1]);
    if (code == DONE)
        code = compare_files(&c);
    if (code == DONE && a->json)
        diff_print_json(&c);
    else if (code == DONE)
        diff_print_text(&c);
    int64_t differences = c.n - c.counts[SAME] - c.counts[WITHIN];
    free(c.rows);
    close_source(&c.s[1]);
    close_source(&c.s[0]);
    return code != DONE ? TROUBLE : differences ? DIFFERENT : EQUAL;
}
