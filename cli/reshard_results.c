/* reshard_results.c - reshard: the results of one group.  Ranks are joined, the steps of the
 * rule are applied, and the result is cut into outputs and their ranks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reshard.h"

static const char sum_of_sizes[] = "is the sum of the sizes, which does not match";

/* Add sizes of a rule, saturating at INT64_MAX. */
static int64_t add_size(int64_t sum, int64_t size)
{
    return size > INT64_MAX - sum ? INT64_MAX : sum + size;
}

/* Fail because an axis cannot be cut; the message has both numbers. */
static int fail_extent(const reshard *p, const rule *r, int64_t n, const char *what,
                       int64_t extent, const char *name)
{
    char words[160];
    snprintf(words, sizeof words, "%lld %s an axis of extent %lld of", (long long)n, what,
             (long long)extent);
    return fail_rule(p, r, words, name);
}

/* The sizes of the blocks in which an axis is distributed over `parts` ranks. */
static int block_sizes(const reshard *p, const rule *r, const rule_placement *pl,
                       int64_t extent, int parts, const char *name, int64_t *sizes, int *n)
{
    int64_t sum = 0;
    *n = pl->nblocks > 1 ? pl->nblocks : pl->count ? (int)pl->count : 1;
    if (*n > MOST_SIZES || (pl->nblocks <= 1 && extent % *n))
        return fail_extent(p, r, *n, "blocks do not divide", extent, name);
    for (int i = 0; i < *n; i++) {
        sizes[i] = pl->nblocks > 1 ? pl->sizes[i] : extent / *n;
        if (sizes[i] % parts)
            return fail_extent(p, r, parts, "ranks do not divide", sizes[i], name);
        sum = add_size(sum, sizes[i]);
    }
    return sum == extent ? DONE : fail_extent(p, r, sum, sum_of_sizes, extent, name);
}

int append(virtual *v, virtual *more, int axis, bool first)
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

/* Join the ranks block by block: for each block, the part of every rank in order. */
static int join_cut_ranks(reshard *p, const rule *r, int id, virtual *v)
{
    const rule_placement *pl = &r->left.placement;
    const in_tensor *t = &p->ins[id];
    int64_t sizes[MOST_SIZES], at = 0;
    int n;
    if (pl->axis >= t->desc.ndim)
        return fail_rule(p, r, "axis out of range for tensor", t->name);
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

int join_ranks(reshard *p, const rule *r, int id, virtual *v)
{
    in_tensor *t = &p->ins[id];
    for (int k = 1; k < p->ranks; k++) {
        in_tensor *other = &p->ins[find_input(p, k, t->name)];
        if (!same_kind(&t->desc, &other->desc))
            return fail_rule(p, r, "ranks differ in shape or dtype of tensor", t->name);
        if (r->left.placement.kind == REPLICATED) {
            other->use = COPIED;
            other->like = id;
        }
    }
    if (p->ranks > 1 && r->left.placement.kind == UNSPECIFIED)
        return fail_rule(p, r, "missing placement (ranks= or ranks@k) for tensor", t->name);
    if (p->ranks > 1 && r->left.placement.kind == SHARDED)
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
            return fail_rule(p, r, "expected integers separated by commas, got", text);
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
            return fail_rule(p, r, "expected a permutation of the axes, got", text);
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
            return fail_rule(p, r, "invalid shape", text);
        else
            product *= shape[i];
    }
    if (open >= 0 && product)
        shape[open] = numel / product;
    if (product * (open >= 0 ? shape[open] : 1) != numel)
        return fail_rule(p, r, "number of elements differs from that of the tensor:", text);
    return virtual_reshape(v, n, shape);
}

int run_steps(reshard *p, const rule *r, const rule_side *s, virtual *v, bool *sliced)
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

static int add_output(reshard *p, const rule *r, const char *name, int rank, bool copy,
                      virtual *v)
{
    if (p->nouts == p->capacity) {
        int64_t capacity = p->capacity ? 2 * p->capacity : 64;
        out_tensor *more = realloc(p->outs, (size_t)capacity * sizeof *more);
        if (!more)
            return fail("out of memory");
        p->outs = more;
        p->capacity = capacity;
    }
    char *own = strdup(name);
    if (!own)
        return fail("out of memory");
    p->outs[p->nouts++] = (out_tensor){own, r->line, rank, copy, *v};
    *v = (virtual){0};
    return DONE;
}

/* Cut out the part of v that rank k holds: its share of each block. */
static int take_rank(const reshard *p, const rule *r, const virtual *v, int k, const char *name,
                     virtual *part)
{
    const rule_placement *pl = &r->right.placement;
    int64_t sizes[MOST_SIZES], at = 0;
    int n, ranks = (int)p->a->out_ranks;
    *part = (virtual){0};
    if (pl->axis >= v->ndim)
        return fail_rule(p, r, "axis out of range for result", name);
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

static int split_over_ranks(reshard *p, const rule *r, const char *name, virtual *v)
{
    int ranks = (int)p->a->out_ranks;
    if (ranks < 2)
        return add_output(p, r, name, 0, false, v);
    if (r->right.placement.kind == UNSPECIFIED)
        return fail_rule(p, r, "missing placement (ranks= or ranks@k) for result", name);
    for (int k = 0; k < ranks; k++) {
        virtual part;
        bool copies = r->right.placement.kind == REPLICATED;
        int code = copies ? virtual_copy(&part, v) : take_rank(p, r, v, k, name, &part);
        if (code == DONE)
            code = add_output(p, r, name, k, copies && k > 0, &part);
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
        for (int i = 0; i < c.n; i++) /* k replaces the number captured on the left */
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
        return fail_rule(p, r, "a name on the right has a wildcard that the left lacks, for",
                         first->name);
    int code = split_over_ranks(p, r, name, v);
    free(name);
    return code;
}

int cut_results(reshard *p, const rule *r, const in_tensor *first, virtual *v, bool *sliced)
{
    const rule_side *s = &r->right;
    bool numbered = s->n == 1 && strstr(s->names[0], "*}");
    if (s->n == 1 && !numbered)
        return add_result(p, r, first, 0, 0, v, sliced);
    if (!s->has_axis || s->axis >= v->ndim)
        return fail_rule(p, r, "missing axis to cut along, for", first->name);
    int64_t extent = v->shape[s->axis], n = numbered ? (s->new_axis ? extent : 0) : s->n,
            at = 0, sum = 0;
    if (numbered && !s->new_axis)
        return fail_rule(p, r, "numbered results need a new axis such as @+0, for",
                         first->name);
    if ((!s->nsizes && n && extent % n) || (s->new_axis && extent != n))
        return fail_extent(p, r, n, "results do not divide", extent, first->name);
    for (int k = 0; k < s->nsizes; k++)
        sum = add_size(sum, s->sizes[k]);
    if (s->nsizes && sum != extent)
        return fail_extent(p, r, sum, sum_of_sizes, extent, first->name);
    for (int64_t k = 0; k < n; k++) {
        virtual one;
        int64_t size = s->nsizes ? s->sizes[k] : extent / n;
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
