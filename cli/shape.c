/* shape.c - commands whose result is a view: rearrange, permute, slice, squeeze, unsqueeze,
 * flip.
 *
 * The view is one of the file; elements are moved once, when a box is read. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

int read_axes(const args *a, int ndim, int *dims, int *n)
{
    int64_t list[TN_MAX_NDIM];
    if (!a->axis)
        return usage(a, "missing -a AXES");
    TRY(read_list(a, "-a", a->axis, TN_MAX_NDIM, list, n));
    for (int i = 0; i < *n; i++)
        TRY(read_axis(a, list[i], ndim, &dims[i]));
    return DONE;
}

int view_permute(const args *a, const tn_tensor *in, tn_tensor *out)
{
    int64_t list[TN_MAX_NDIM];
    int axes[TN_MAX_NDIM] = {0}, n;
    TRY(read_list(a, "AXES", a->operands[0], TN_MAX_NDIM, list, &n));
    if (n != in->ndim)
        return fail("permute: got %d axes for a %d-d tensor", n, in->ndim);
    for (int i = 0; i < n; i++)
        TRY(read_axis(a, list[i], n, &axes[i]));
    LIB(tn_permute(out, in, axes));
    return DONE;
}

int view_slice(const args *a, const tn_tensor *in, tn_tensor *out)
{
    LIB(tn_slice_text(out, in, a->operands[0]));
    return DONE;
}

int view_squeeze(const args *a, const tn_tensor *in, tn_tensor *out)
{
    int dims[TN_MAX_NDIM], n;
    bool drop[TN_MAX_NDIM] = {false};
    if (!a->axis) {
        LIB(tn_squeeze_all(out, in));
        return DONE;
    }
    TRY(read_axes(a, in->ndim, dims, &n));
    for (int i = 0; i < n; i++)
        drop[dims[i]] = true;
    *out = *in;
    for (int i = in->ndim - 1; i >= 0; i--)
        if (drop[i])
            LIB(tn_squeeze(out, out, i));
    return DONE;
}

int view_unsqueeze(const args *a, const tn_tensor *in, tn_tensor *out)
{
    int dims[TN_MAX_NDIM], n;
    TRY(read_axes(a, in->ndim + 1, dims, &n));
    if (n != 1)
        return usage(a, "-a takes one axis, got %d", n);
    LIB(tn_unsqueeze(out, in, dims[0]));
    return DONE;
}

int view_flip(const args *a, const tn_tensor *in, tn_tensor *out)
{
    int dims[TN_MAX_NDIM], n;
    TRY(read_axes(a, in->ndim, dims, &n));
    *out = *in;
    for (int i = 0; i < n; i++)
        LIB(tn_flip(out, out, dims[i]));
    return DONE;
}

static int build_view(const args *a, const input *in, recipe *r)
{
    tn_tensor v;
    TRY(a->command->make_view(a, &in->t, &v));
    return recipe_of_view(r, &v, in);
}

int run_view(const args *a)
{
    int operands = a->command->operands;
    TRY(need_operands(a, operands + 1));
    return run_unary(a, a->operands[operands], build_view);
}

/* ---- patterns ---- */

/* The pattern with the parentheses of its right side removed: the same elements in the same
 * order, but expressible as a view. */
static char *unjoined(const char *pattern)
{
    char *copy = strdup(pattern);
    char *arrow = copy ? strstr(copy, "->") : NULL;
    for (char *p = arrow; p && *p; p++)
        if (*p == '(' || *p == ')')
            *p = ' ';
    return copy;
}

char *sizes_of(const args *a, int first)
{
    size_t length = 1;
    for (int i = first; i + 1 < a->n; i++)
        length += strlen(a->operands[i]) + 1;
    char *text = calloc(1, length);
    for (int i = first; text && i + 1 < a->n; i++) {
        strcat(text, i > first ? " " : "");
        strcat(text, a->operands[i]);
    }
    return text;
}

static int build_with(const char *pattern, const char *sizes, const char *open, const input *in,
                      recipe *r)
{
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_tensor v;
    LIB(tn_pattern_shape(pattern, sizes, &in->t, &ndim, shape));
    LIB(tn_pattern_view(&v, &in->t, open, sizes));
    if (v.ndim == 0) /* a job without axes uses those of the result */
        LIB(tn_unsqueeze(&v, &v, 0));
    TRY(recipe_of_view(r, &v, in));
    r->job.ndim = v.ndim;
    memcpy(r->job.shape, v.shape, (size_t)v.ndim * sizeof *v.shape);
    LIB(tn_init(&r->job.out, NULL, v.dtype, ndim, shape));
    return DONE;
}

static int build_rearrange(const args *a, const input *in, recipe *r)
{
    char *open = unjoined(a->operands[0]), *sizes = sizes_of(a, 1);
    int code =
        open && sizes ? build_with(a->operands[0], sizes, open, in, r) : fail("out of memory");
    free(sizes);
    free(open);
    return code;
}

/* True if the shell has taken "> name" of an unquoted pattern as a redirection: a lone or
 * trailing '-' is left, and no '>'. */
static bool arrow_was_eaten(const args *a, int at)
{
    if (strchr(a->operands[at], '>'))
        return false;
    for (int i = at; i < a->n; i++) {
        size_t n = strlen(a->operands[i]);
        if (n && a->operands[i][n - 1] == '-' && (i > at || n > 1 || a->n > at + 1))
            return true;
    }
    return false;
}

static bool is_size(const char *word)
{
    const char *equals = strchr(word, '=');
    if (!equals || equals == word || !equals[1])
        return false;
    for (const char *p = word; p < equals; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return false;
    return strspn(equals + 1, "0123456789") == strlen(equals + 1);
}

int check_pattern_words(const args *a, int at)
{
    if (arrow_was_eaten(a, at))
        return usage(
            a, "the shell took the > of -> as a redirection and created a file named after "
               "the next word; quote the pattern: \"b h w -> b w h\"");
    if (a->n < at + 2)
        return usage(a, "missing argument: IN");
    for (int i = at + 1; i + 1 < a->n; i++)
        if (!is_size(a->operands[i]))
            return usage(a, "\"%s\" is not a size such as p=2; quote the whole pattern",
                         a->operands[i]);
    return DONE;
}

int run_rearrange(const args *a)
{
    if (a->n == 0)
        return usage(a, "missing argument: PATTERN");
    TRY(check_pattern_words(a, 0));
    return run_unary(a, a->operands[a->n - 1], build_rearrange);
}
