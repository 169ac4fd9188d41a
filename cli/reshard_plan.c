/* reshard_plan.c - from rules and headers to a plan: every output element has one source.
 *
 * A tensor belongs to the first rule that matches it; the tensors of a rule that agree in their
 * captures are a group, and each group makes its outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reshard.h"

static int fail_rule(const reshard *p, const rule *r, const char *what, const char *name)
{
    return fail("%s:%d: %s%s%s%s", p->r.path, r->line, what, name ? " \"" : "",
                name ? name : "", name ? "\"" : "");
}

/* ---- inputs ---- */

static int add_inputs(reshard *p, const source *s)
{
    int64_t n = tn_file_count(s->f);
    in_tensor *more = realloc(p->ins, (size_t)(p->nins + n + 1) * sizeof *more);
    if (!more)
        return fail("no memory for %lld tensors", (long long)n);
    p->ins = more;
    for (int64_t i = 0; i < n; i++) {
        in_tensor t = {.from = s, .i = i, .rule = -1, .number = -1};
        if (tn_file_info(s->f, i, NULL, &t.desc, NULL) != TN_OK)
            return fail("%s", tn_error());
        t.name = tn_file_name(s->f, i);
        p->ins[p->nins++] = t;
    }
    return DONE;
}

/* Tensor `name` of one namespace, or of rank `rank`; -1: none. */
static int find_input(const reshard *p, int rank, const char *name)
{
    int64_t i;
    if (p->ranks > 1) {
        const source *s = &p->sources[rank];
        if (tn_file_find(s->f, name, &i) != TN_OK)
            return -1;
        return rank * p->each + (int)i;
    }
    for (int k = 0, base = 0; k < p->nsources; k++) {
        if (tn_file_find(p->sources[k].f, name, &i) == TN_OK)
            return base + (int)i;
        base += (int)tn_file_count(p->sources[k].f);
    }
    return -1;
}

static int check_names(const reshard *p)
{
    for (int k = 0; k < p->nins; k++) {
        int rank = p->ranks > 1 ? k / p->each : 0, other = find_input(p, rank, p->ins[k].name);
        if (other != k)
            return fail("tensor \"%s\" is in %s and in %s", p->ins[k].name,
                        p->ins[other].from->path, p->ins[k].from->path);
        if (p->ranks > 1 && find_input(p, 0, p->ins[k].name) < 0)
            return fail("%s: tensor \"%s\" is not in %s", p->ins[k].from->path, p->ins[k].name,
                        p->sources[0].path);
    }
    return DONE;
}

static int open_inputs(reshard *p)
{
    const args *a = p->a;
    p->sources = calloc((size_t)a->n, sizeof *p->sources);
    if (!p->sources)
        return fail("no memory");
    p->ranks = a->in_ranks ? a->n - 1 : 1;
    for (int i = 1; i < a->n; i++) {
        TRY(open_source(&p->sources[p->nsources], a->operands[i]));
        p->nsources++;
    }
    for (int i = 0; i < p->nsources; i++) {
        int64_t n = tn_file_count(p->sources[i].f);
        if (p->ranks > 1 && n != tn_file_count(p->sources[0].f))
            return fail("%s has %lld tensors, %s has %lld", p->sources[i].path, (long long)n,
                        p->sources[0].path, (long long)tn_file_count(p->sources[0].f));
        TRY(add_inputs(p, &p->sources[i]));
    }
    p->each = p->ranks > 1 ? p->nins / p->ranks : p->nins;
    return check_names(p);
}

/* ---- which rule ---- */

/* What a group has in common: all captures but the number. */
static char *group_key(const captures *c, int64_t *number)
{
    size_t n = 1;
    for (int i = 0; i < c->n; i++)
        n += (size_t)c->list[i].length + (size_t)c->list[i].name_length + 3;
    char *key = malloc(n), *to = key;
    *number = -1;
    for (int i = 0; key && i < c->n; i++) {
        const capture *x = &c->list[i];
        if (x->name_length && x->name[x->name_length] == '*') {
            *number = strtoll(x->text, NULL, 10);
            continue;
        }
        to += sprintf(to, "%.*s=%.*s\n", x->name_length, x->name, x->length, x->text);
    }
    if (key)
        *to = 0;
    return key;
}

static int assign_rule(reshard *p, in_tensor *t)
{
    captures c;
    for (int r = 0; r < p->r.n; r++)
        for (int k = 0; k < p->r.list[r].left.n; k++)
            if (match_name(p->r.list[r].left.names[k], t->name, &c)) {
                p->r.list[r].matched = true;
                t->rule = r;
                t->part = k;
                t->key = group_key(&c, &t->number);
                return t->key ? DONE : fail("no memory");
            }
    return fail("%s: no rule matches tensor \"%s\"", p->r.path, t->name);
}

/* ---- one group ---- */

/* Cut points of an axis in blocks over n ranks: sizes of whole blocks. */
static int block_sizes(const reshard *p, const rule *r, const rule_place *pl, int64_t extent,
                       int parts, const char *name, int64_t *sizes, int *n)
{
    int64_t sum = 0;
    *n = pl->nblocks > 1 ? pl->nblocks : pl->count ? (int)pl->count : 1;
    if (*n > MOST_SIZES || (pl->nblocks <= 1 && extent % *n))
        return fail_rule(p, r, "blocks do not divide the axis of tensor", name);
    for (int i = 0; i < *n; i++) {
        sizes[i] = pl->nblocks > 1 ? pl->sizes[i] : extent / *n;
        if (sizes[i] % parts)
            return fail_rule(p, r, "ranks do not divide the axis of tensor", name);
        sum += sizes[i];
    }
    return sum == extent ? DONE
                         : fail_rule(p, r, "sizes do not sum to the axis of tensor", name);
}

static int append(virtual *v, virtual *more, int axis, bool first)
{
    if (!first)
        return virtual_join(v, more, axis);
    *v = *more;
    *more = (virtual){0};
    return DONE;
}

static bool same_kind(const tn_tensor *a, const tn_tensor *b)
{
    return a->dtype == b->dtype && a->ndim == b->ndim &&
           !memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof a->shape[0]);
}

/* Block b of every rank, one rank behind the other, for each b. */
static int join_cut_ranks(reshard *p, const rule *r, int id, virtual *v)
{
    const rule_place *pl = &r->left.place;
    const in_tensor *t = &p->ins[id];
    int64_t sizes[MOST_SIZES], at = 0;
    int n;
    if (pl->axis >= t->desc.ndim)
        return fail_rule(p, r, "no such axis of tensor", t->name);
    TRY(block_sizes(p, r, pl, t->desc.shape[pl->axis] * p->ranks, p->ranks, t->name, sizes,
                    &n));
    for (int b = 0; b < n; b++) {
        int64_t each = sizes[b] / p->ranks;
        for (int k = 0; k < p->ranks; k++) {
            virtual one;
            int other = find_input(p, k, t->name);
            TRY(virtual_input(&one, other, &p->ins[other].desc));
            int code = virtual_cut(&one, pl->axis, at, at + each);
            if (code == DONE)
                code = append(v, &one, pl->axis, b == 0 && k == 0);
            virtual_free(&one);
            TRY(code);
            p->ins[other].use = USED;
        }
        at += each;
    }
    return DONE;
}

static int join_ranks(reshard *p, const rule *r, int id, virtual *v)
{
    in_tensor *t = &p->ins[id];
    for (int k = 1; k < p->ranks; k++) {
        in_tensor *other = &p->ins[find_input(p, k, t->name)];
        if (!same_kind(&t->desc, &other->desc))
            return fail_rule(p, r, "ranks differ in shape or dtype of tensor", t->name);
        if (r->left.place.kind == COPY_ON_EVERY) {
            other->use = COPIED;
            other->like = id;
        }
    }
    if (p->ranks > 1 && r->left.place.kind == NO_PLACE)
        return fail_rule(p, r, "no place (ranks= or ranks@k) for tensor", t->name);
    if (p->ranks > 1 && r->left.place.kind == CUT_OVER)
        return join_cut_ranks(p, r, id, v);
    t->use = USED;
    return virtual_input(v, id, &t->desc);
}

static int read_numbers(const reshard *p, const rule *r, const char *text, int64_t *list,
                        int *n)
{
    *n = 0;
    for (const char *at = text; *n < TN_MAX_NDIM; at++) {
        char *end;
        list[(*n)++] = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ','))
            return fail_rule(p, r, "not integers separated by commas:", text);
        if (!*end)
            return DONE;
        at = end;
    }
    return fail_rule(p, r, "too many integers:", text);
}

static int step_permute(const reshard *p, const rule *r, virtual *v, const char *text)
{
    int64_t list[TN_MAX_NDIM];
    int axes[TN_MAX_NDIM], n;
    bool seen[TN_MAX_NDIM] = {false};
    TRY(read_numbers(p, r, text, list, &n));
    for (int i = 0; i < n; i++) {
        list[i] += list[i] < 0 ? v->ndim : 0;
        if (n != v->ndim || list[i] < 0 || list[i] >= n || seen[list[i]])
            return fail_rule(p, r, "not a permutation of the axes:", text);
        seen[list[i]] = true;
        axes[i] = (int)list[i];
    }
    return virtual_permute(v, axes);
}

static int step_reshape(const reshard *p, const rule *r, virtual *v, const char *text)
{
    int64_t shape[TN_MAX_NDIM], numel = 1, product = 1;
    int n, open = -1;
    TRY(read_numbers(p, r, text, shape, &n));
    for (int i = 0; i < v->ndim; i++)
        numel *= v->shape[i];
    for (int i = 0; i < n; i++) {
        if (shape[i] == -1 && open < 0)
            open = i;
        else if (shape[i] < 0 || (shape[i] && product > INT64_MAX / shape[i]))
            return fail_rule(p, r, "not a shape:", text);
        else
            product *= shape[i];
    }
    if (open >= 0 && product)
        shape[open] = numel / product;
    if (product * (open >= 0 ? shape[open] : 1) != numel)
        return fail_rule(p, r, "another number of elements than the tensor has:", text);
    return virtual_reshape(v, n, shape);
}

static int run_steps(reshard *p, const rule *r, const rule_side *s, virtual *v, bool *sliced)
{
    char place[4200];
    snprintf(place, sizeof place, "%s:%d", p->r.path, r->line);
    for (int i = 0; i < s->nsteps; i++) {
        const rule_step *step = &s->steps[i];
        int code = DONE;
        set_error_subject(place);
        switch (step->kind) {
        case STEP_PERMUTE:
            code = step_permute(p, r, v, step->text);
            break;
        case STEP_RESHAPE:
            code = step_reshape(p, r, v, step->text);
            break;
        case STEP_SLICE:
            *sliced = true;
            code = virtual_slice(v, step->text);
            break;
        case STEP_REARRANGE:
            code = virtual_rearrange(v, step->text, step->sizes);
            break;
        case STEP_CAST:
            if (tn_dtype_parse(&v->dtype, step->text) != TN_OK)
                code = fail("%s", tn_error());
            break;
        }
        set_error_subject(NULL);
        TRY(code);
    }
    return DONE;
}

/* ---- outputs ---- */

static int add_output(reshard *p, const char *name, int rank, bool copy, virtual *v)
{
    if (p->nouts == p->capacity) {
        int64_t capacity = p->capacity ? 2 * p->capacity : 64;
        out_tensor *more = realloc(p->outs, (size_t)capacity * sizeof *more);
        if (!more)
            return fail("no memory");
        p->outs = more;
        p->capacity = capacity;
    }
    char *own = strdup(name);
    if (!own)
        return fail("no memory");
    p->outs[p->nouts++] = (out_tensor){own, rank, copy, *v};
    *v = (virtual){0};
    return DONE;
}

/* What rank k has of v: its part of each block. */
static int take_rank(const reshard *p, const rule *r, const virtual *v, int k, const char *name,
                     virtual *part)
{
    const rule_place *pl = &r->right.place;
    int64_t sizes[MOST_SIZES], at = 0;
    int n, ranks = (int)p->a->out_ranks;
    *part = (virtual){0};
    if (pl->axis >= v->ndim)
        return fail_rule(p, r, "no such axis of result", name);
    TRY(block_sizes(p, r, pl, v->shape[pl->axis], ranks, name, sizes, &n));
    for (int b = 0; b < n; b++) {
        virtual one;
        int64_t each = sizes[b] / ranks;
        TRY(virtual_copy(&one, v));
        int code = virtual_cut(&one, pl->axis, at + k * each, at + (k + 1) * each);
        if (code == DONE)
            code = append(part, &one, pl->axis, b == 0);
        virtual_free(&one);
        TRY(code);
        at += sizes[b];
    }
    return DONE;
}

static int deal(reshard *p, const rule *r, const char *name, virtual *v)
{
    int ranks = (int)p->a->out_ranks;
    if (ranks < 2)
        return add_output(p, name, 0, false, v);
    if (r->right.place.kind == NO_PLACE)
        return fail_rule(p, r, "no place (ranks= or ranks@k) for result", name);
    for (int k = 0; k < ranks; k++) {
        virtual part;
        bool copies = r->right.place.kind == COPY_ON_EVERY;
        int code = copies ? virtual_copy(&part, v) : take_rank(p, r, v, k, name, &part);
        if (code == DONE)
            code = add_output(p, name, k, copies && k > 0, &part);
        virtual_free(&part);
        TRY(code);
    }
    return DONE;
}

/* The name of result k, from the captures of the group's first tensor. */
static char *result_name(const rule *r, const in_tensor *first, int pattern, int64_t k)
{
    captures c;
    char digits[24];
    const char *text = r->right.names[pattern];
    if (!strcmp(text, "="))
        return strdup(first->name);
    if (!match_name(r->left.names[first->part], first->name, &c))
        return NULL;
    const char *star = strstr(text, "*}");
    if (star) {
        const char *open = star;
        while (open > text && *open != '{')
            open--;
        int n = snprintf(digits, sizeof digits, "%lld", (long long)k);
        for (int i = 0; i < c.n; i++) /* the number of the left side is not that of the right */
            if (c.list[i].name_length == star - open - 1 &&
                !strncmp(c.list[i].name, open + 1, (size_t)c.list[i].name_length))
                c.list[i] = c.list[--c.n];
        if (c.n < MOST_CAPTURES)
            c.list[c.n++] = (capture){open + 1, (int)(star - open - 1), digits, n};
    }
    return expand_name(text, &c);
}

static int add_result(reshard *p, const rule *r, const in_tensor *first, int pattern, int64_t k,
                      virtual *v, bool *sliced)
{
    TRY(run_steps(p, r, &r->right, v, sliced));
    char *name = result_name(r, first, pattern, k);
    if (!name)
        return fail_rule(p, r, "a name on the right has a wildcard that the left lacks for",
                         first->name);
    int code = deal(p, r, name, v);
    free(name);
    return code;
}

static int cut_results(reshard *p, const rule *r, const in_tensor *first, virtual *v,
                       bool *sliced)
{
    const rule_side *s = &r->right;
    bool numbered = s->n == 1 && strstr(s->names[0], "*}");
    if (s->n == 1 && !numbered)
        return add_result(p, r, first, 0, 0, v, sliced);
    if (!s->has_axis || s->axis >= v->ndim)
        return fail_rule(p, r, "no axis to cut for", first->name);
    int64_t extent = v->shape[s->axis], n = numbered ? (s->new_axis ? extent : 0) : s->n,
            at = 0;
    if (numbered && !s->new_axis)
        return fail_rule(p, r, "results by number need a new axis such as @+0 for",
                         first->name);
    if ((!s->nsizes && n && extent % n) || (s->new_axis && extent != n))
        return fail_rule(p, r, "results do not divide the axis of", first->name);
    for (int64_t k = 0; k < n; k++) {
        virtual one;
        int64_t size = s->nsizes ? s->sizes[k] : extent / n;
        if (at + size > extent || (k == n - 1 && at + size != extent))
            return fail_rule(p, r, "sizes do not sum to the axis of", first->name);
        TRY(virtual_copy(&one, v));
        int code = virtual_cut(&one, s->axis, at, at + size);
        if (code == DONE && s->new_axis)
            code = virtual_squeeze(&one, s->axis);
        if (code == DONE)
            code = add_result(p, r, first, numbered ? 0 : (int)k, k, &one, sliced);
        virtual_free(&one);
        TRY(code);
        at += size;
    }
    return DONE;
}

/* ---- groups ---- */

typedef struct group {
    int *ids; /* in the order in which they are joined */
    int n;
} group;

static const reshard *sort_plan;

static int by_part(const void *a, const void *b)
{
    const in_tensor *x = &sort_plan->ins[*(const int *)a],
                    *y = &sort_plan->ins[*(const int *)b];
    if (x->part != y->part)
        return x->part - y->part;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Partners are all there: each name once, numbers from 0 on. */
static int check_group(reshard *p, const rule *r, const group *g)
{
    int part = -1;
    int64_t next = 0;
    for (int i = 0; i < g->n; i++) {
        const in_tensor *t = &p->ins[g->ids[i]];
        if (t->part != part) {
            if (t->part != part + 1)
                break;
            part = t->part;
            next = 0;
        } else if (t->number < 0) {
            return fail_rule(p, r, "two tensors take one place:", t->name);
        }
        if (t->number >= 0 && t->number != next++)
            return fail_rule(p, r, "a number is missing before", t->name);
    }
    return part == r->left.n - 1
               ? DONE
               : fail_rule(p, r, "a partner is missing for", p->ins[g->ids[0]].name);
}

static int join_group(reshard *p, const rule *r, const group *g, virtual *v)
{
    const rule_side *s = &r->left;
    for (int i = 0; i < g->n; i++) {
        virtual one = {0};
        const in_tensor *t = &p->ins[g->ids[i]];
        int code = join_ranks(p, r, g->ids[i], &one);
        if (code == DONE && s->new_axis)
            code = s->axis > one.ndim ? fail_rule(p, r, "no such axis of", t->name)
                                      : virtual_unsqueeze(&one, s->axis);
        if (code == DONE && g->n > 1 && (!s->has_axis || s->axis >= one.ndim))
            code = fail_rule(p, r, "no such axis of", t->name);
        for (int k = 0; code == DONE && i > 0 && (k < one.ndim || one.ndim != v->ndim); k++)
            if (one.ndim != v->ndim || one.dtype != v->dtype ||
                (k != s->axis && one.shape[k] != v->shape[k]))
                code = fail_rule(p, r,
                                 "shape or dtype does not match that of the first:", t->name);
        if (code == DONE)
            code = append(v, &one, s->axis, i == 0);
        virtual_free(&one);
        TRY(code);
    }
    return DONE;
}

/* Each element of each input of the group goes to one output element; with a slice to one at
 * most. */
static int prove_inputs(reshard *p, const group *g, int64_t first_out, bool sliced)
{
    virtual all = {0};
    for (int64_t k = first_out; k < p->nouts; k++)
        for (int64_t i = 0; !p->outs[k].copy && i < p->outs[k].v.n; i++) {
            nest_piece *more = realloc(all.pieces, (size_t)(all.n + 1) * sizeof *more);
            if (!more)
                return fail("no memory");
            all.pieces = more;
            all.pieces[all.n++] = p->outs[k].v.pieces[i];
        }
    int code = DONE;
    for (int i = 0; code == DONE && i < g->n; i++)
        for (int rank = 0; code == DONE && rank < p->ranks; rank++) {
            int id = find_input(p, rank, p->ins[g->ids[i]].name);
            in_tensor *t = &p->ins[id];
            virtual back = {0};
            if (t->use != USED)
                continue;
            code = virtual_inverse(&back, &all, id, t->desc.ndim, t->desc.shape);
            t->use = sliced ? SLICED : USED;
            if (code == DONE && !sliced && !virtual_covers(&back))
                code = fail("proof: not every element of \"%s\" is used once", t->name);
            virtual_free(&back);
        }
    free(all.pieces);
    return code;
}

static int plan_group(reshard *p, const rule *r, group *g)
{
    virtual v = {0};
    bool sliced = false;
    int64_t first_out = p->nouts;
    sort_plan = p;
    qsort(g->ids, (size_t)g->n, sizeof *g->ids, by_part);
    TRY(check_group(p, r, g));
    if (r->right.drop) {
        for (int i = 0; i < g->n; i++)
            for (int k = 0; k < p->ranks; k++)
                p->ins[find_input(p, k, p->ins[g->ids[i]].name)].use = DROPPED;
        return DONE;
    }
    int code = join_group(p, r, g, &v);
    if (code == DONE)
        code = run_steps(p, r, &r->left, &v, &sliced);
    if (code == DONE)
        code = cut_results(p, r, &p->ins[g->ids[0]], &v, &sliced);
    virtual_free(&v);
    for (int64_t k = first_out; code == DONE && k < p->nouts; k++)
        if (!virtual_covers(&p->outs[k].v))
            code = fail("proof: \"%s\" is not covered once", p->outs[k].name);
    return code == DONE ? prove_inputs(p, g, first_out, sliced) : code;
}

static int plan_groups(reshard *p)
{
    group g = {malloc((size_t)(p->each + 1) * sizeof *g.ids), 0};
    int code = g.ids ? DONE : fail("no memory");
    for (int i = 0; code == DONE && i < p->each; i++)
        code = assign_rule(p, &p->ins[i]);
    for (int i = 0; code == DONE && i < p->r.n; i++)
        if (!p->r.list[i].matched && !p->r.list[i].optional)
            code = fail_rule(p, &p->r.list[i],
                             "the rule matches nothing:", p->r.list[i].left.names[0]);
    for (int i = 0; code == DONE && i < p->each; i++) {
        if (p->ins[i].grouped)
            continue;
        g.n = 0;
        bool alone = p->r.list[p->ins[i].rule].left.n == 1 && p->ins[i].number < 0;
        for (int k = i; k < (alone ? i + 1 : p->each); k++)
            if (!p->ins[k].grouped && p->ins[k].rule == p->ins[i].rule &&
                !strcmp(p->ins[k].key, p->ins[i].key)) {
                p->ins[k].grouped = true;
                g.ids[g.n++] = k;
            }
        code = plan_group(p, &p->r.list[p->ins[i].rule], &g);
    }
    free(g.ids);
    return code;
}

static int by_out(const void *a, const void *b)
{
    const out_tensor *const *x = a, *const *y = b;
    return (*x)->rank != (*y)->rank ? (*x)->rank - (*y)->rank : strcmp((*x)->name, (*y)->name);
}

static int check_outputs(const reshard *p)
{
    const out_tensor **sorted = malloc((size_t)(p->nouts + 1) * sizeof *sorted);
    int code = sorted ? DONE : fail("no memory");
    for (int64_t i = 0; code == DONE && i < p->nouts; i++)
        sorted[i] = &p->outs[i];
    if (code == DONE)
        qsort(sorted, (size_t)p->nouts, sizeof *sorted, by_out);
    for (int64_t i = 1; code == DONE && i < p->nouts; i++)
        if (!by_out(&sorted[i - 1], &sorted[i]))
            code = fail("%s: two results are named \"%s\"", p->r.path, sorted[i]->name);
    free(sorted);
    return code;
}

int reshard_plan(reshard *p)
{
    TRY(read_rules(p->a->operands[0], &p->r));
    TRY(open_inputs(p));
    TRY(plan_groups(p));
    return check_outputs(p);
}

void reshard_free(reshard *p)
{
    for (int64_t i = 0; i < p->nouts; i++) {
        free(p->outs[i].name);
        virtual_free(&p->outs[i].v);
    }
    for (int i = 0; i < p->nins; i++)
        free(p->ins[i].key);
    for (int i = 0; i < p->nsources; i++)
        close_source(&p->sources[i]);
    free(p->outs);
    free(p->ins);
    free(p->sources);
    free_rules(&p->r);
}
