/* reshard_plan.c - making a plan from rules and headers: every output element has exactly one
 * source.
 *
 * A tensor belongs to the first rule that matches it.  The tensors of a rule with equal
 * captures form a group, and each group makes its outputs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reshard.h"

int fail_rule(const reshard *p, const rule *r, const char *what, const char *name)
{
    return fail("%s:%d: %s%s%s%s", p->r.path, r->line, what, name ? " \"" : "",
                name ? name : "", name ? "\"" : "");
}

static int add_inputs(reshard *p, const source *s)
{
    int64_t n = tn_file_count(s->f);
    in_tensor *more = realloc(p->ins, (size_t)(p->nins + n + 1) * sizeof *more);
    if (!more)
        return fail("cannot allocate memory for %lld tensors", (long long)n);
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

/* Index of tensor `name` in rank `rank` or, without --in-ranks, in any input; -1: none. */
int find_input(const reshard *p, int rank, const char *name)
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
                        tn_file_path(p->ins[other].from->f, p->ins[other].i),
                        tn_file_path(p->ins[k].from->f, p->ins[k].i));
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
        return fail("out of memory");
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

/* The key of a group: all captures except the number. */
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
                return t->key ? DONE : fail("out of memory");
            }
    return fail("%s: no rule matches tensor \"%s\"", p->r.path, t->name);
}

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

/* Check that a group is complete: a tensor for each name, numbers from 0 without gaps. */
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
            return fail_rule(p, r, "two tensors match the same position:", t->name);
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
            code = s->axis > one.ndim ? fail_rule(p, r, "axis out of range for", t->name)
                                      : virtual_unsqueeze(&one, s->axis);
        if (code == DONE && g->n > 1 && (!s->has_axis || s->axis >= one.ndim))
            code = fail_rule(p, r, "axis out of range for", t->name);
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

/* Check that each element of each input of the group goes to exactly one output element or,
 * with a slice, to at most one. */
static int prove_inputs(reshard *p, const group *g, int64_t first_out, bool sliced)
{
    virtual all = {0};
    for (int64_t k = first_out; k < p->nouts; k++)
        for (int64_t i = 0; !p->outs[k].copy && i < p->outs[k].v.n; i++) {
            nest_piece *more = realloc(all.pieces, (size_t)(all.n + 1) * sizeof *more);
            if (!more)
                return fail("out of memory");
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
            if (code == DONE && !virtual_covers(&back))
                t->use = SLICED;
            if (t->use == SLICED && !sliced)
                code = fail("proof: not every element of \"%s\" is used exactly once", t->name);
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
            code = fail("proof: \"%s\" is not covered exactly once", p->outs[k].name);
    return code == DONE ? prove_inputs(p, g, first_out, sliced) : code;
}

static int plan_groups(reshard *p)
{
    group g = {malloc((size_t)(p->each + 1) * sizeof *g.ids), 0};
    int code = g.ids ? DONE : fail("out of memory");
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
    int code = sorted ? DONE : fail("out of memory");
    for (int64_t i = 0; code == DONE && i < p->nouts; i++)
        sorted[i] = &p->outs[i];
    if (code == DONE)
        qsort(sorted, (size_t)p->nouts, sizeof *sorted, by_out);
    for (int64_t i = 1; code == DONE && i < p->nouts; i++)
        if (!by_out(&sorted[i - 1], &sorted[i]))
            code = fail("%s:%d: two results are named \"%s\"; the other is on line %d",
                        p->r.path, sorted[i]->line, sorted[i]->name, sorted[i - 1]->line);
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
