/* pattern_reduce.c - einops.reduce: names that are only on the left are reduced.
 *
 * The pattern is completed: what is reduced is appended on the right, in the order of the left,
 * and numbers on the left get names.  Fitted to src, its last dimensions are those to reduce. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <tenon/reduce.h>

#include "pattern.h"
#include "plan/plan.h"
#include "reduce_check.h"
#include "view/view.h"

typedef struct completed {
    char text[2 * TNI_PATTERN_TEXT], sizes[2 * TNI_PATTERN_TEXT];
    int of[2 * TNI_PATTERN_TEXT]; /* the index of each letter in the pattern */
    char more[TNI_PATTERN_TEXT];  /* what is appended */
    int added;                    /* words in it */
    bool open;                    /* "..." is one of them */
} completed;

static bool part_of_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* Does side have this word? */
static bool has_word(const char *side, const char *word, size_t len)
{
    for (const char *p = side; *p;) {
        size_t n = 0;
        while (part_of_word(p[n]))
            n++;
        if (n == len && !memcmp(p, word, len))
            return true;
        p += n ? n : 1;
    }
    return false;
}

static void add_text(char *to, size_t size, const char *text, size_t len)
{
    const size_t used = strlen(to);
    if (used + len + 1 < size) {
        memcpy(to + used, text, len);
        to[used + len] = 0;
    }
}

/* Letters of the text, which stand for what begins at `of` in the pattern. */
static void add_letters(completed *c, const char *text, size_t len, int of, bool own)
{
    const size_t used = strlen(c->text);
    add_text(c->text, sizeof c->text, text, len);
    for (size_t i = used; c->text[i]; i++)
        c->of[i] = of + (own ? (int)(i - used) : 0);
}

/* A word of the left: a number becomes a name with a size; what the right lacks is appended. */
static void complete_word(completed *c, const char *right, const char *word, size_t len,
                          int number, int of)
{
    const char *given = word;
    char name[32];
    bool digits = true;
    for (size_t i = 0; i < len; i++)
        digits &= isdigit((unsigned char)word[i]) != 0;
    if (digits && !(len == 1 && word[0] == '1')) {
        char size[64];
        snprintf(name, sizeof name, "number%dq", number);
        snprintf(size, sizeof size, " %s=%.*s", name, (int)(len < 20 ? len : 20), word);
        add_text(c->sizes, sizeof c->sizes, size, strlen(size));
        word = name;
        len = strlen(name);
    } else if (digits) {
        add_letters(c, word, len, of, true);
        return;
    }
    add_letters(c, word, len, of, word == given);
    if (has_word(right, word, len))
        return;
    add_text(c->more, sizeof c->more, " ", 1);
    add_text(c->more, sizeof c->more, word, len);
    if (len == 3 && !memcmp(word, "...", 3))
        c->open = true;
    else
        c->added++;
}

static tn_status complete(completed *c, const char *pattern, const char *sizes)
{
    const char *arrow = strstr(pattern, "->");
    if (strlen(pattern) > TNI_PATTERN_TEXT / 4 ||
        (sizes && strlen(sizes) > TNI_PATTERN_TEXT / 2))
        return tni_fail(TN_EFORMAT, "pattern_reduce: the text is longer than %d",
                        TNI_PATTERN_TEXT / 4);
    if (!arrow)
        return tni_fail(TN_EFORMAT, "pattern_reduce: \"%s\" has no '->'",
                        tni_quoted(pattern).text);
    c->text[0] = c->more[0] = c->sizes[0] = 0;
    c->added = 0;
    c->open = false;
    if (sizes)
        add_text(c->sizes, sizeof c->sizes, sizes, strlen(sizes));
    int number = 0;
    for (const char *p = pattern; p < arrow;) {
        size_t n = 0;
        while (p + n < arrow && part_of_word(p[n]))
            n++;
        if (n)
            complete_word(c, arrow + 2, p, n, number++, (int)(p - pattern));
        else
            add_letters(c, p, 1, (int)(p - pattern), true);
        p += n ? n : 1;
    }
    add_letters(c, arrow, strlen(arrow), (int)(arrow - pattern), true);
    add_letters(c, c->more, strlen(c->more), (int)strlen(pattern), false);
    return TN_OK;
}

/* The failure of the completed pattern, said of the pattern itself: its text, columns in it, and
 * numbers in place of their names. */
static tn_status fail_own(tn_status status, const completed *c, const char *pattern,
                          const char *sizes)
{
    char old[1024], made[1024], name[32];
    size_t used = 0;
    snprintf(old, sizeof old, "%s", tn_error());
    const tni_quote quoted = tni_quoted(c->text), own = tni_quoted(pattern);
    const tni_quote other = tni_quoted(c->sizes), given = tni_quoted(sizes);
    for (const char *p = old; *p && used < sizeof made - 400;) {
        int n = 0, at = 0, end = 0;
        if (!strncmp(p, quoted.text, strlen(quoted.text))) {
            used += (size_t)snprintf(made + used, sizeof made - used, "%s", own.text);
            p += strlen(quoted.text);
        } else if (*other.text && !strncmp(p, other.text, strlen(other.text))) {
            used += (size_t)snprintf(made + used, sizeof made - used, "%s", given.text);
            p += strlen(other.text);
        } else if (sscanf(p, "number%dq%n", &n, &end) == 1 && end > 0) {
            snprintf(name, sizeof name, "number%dq", n);
            const char *there = strstr(c->text, name);
            const char *word = pattern + (there ? c->of[there - c->text] : 0);
            used += (size_t)snprintf(made + used, sizeof made - used, "%.*s",
                                     (int)strspn(word, "0123456789"), word);
            p += end;
        } else if (sscanf(p, " at %d %n", &at, &end) == 1 && end > 0 && at > 0 &&
                   at <= (int)strlen(c->text)) {
            used +=
                (size_t)snprintf(made + used, sizeof made - used, " at %d ", c->of[at - 1] + 1);
            p += end;
        } else {
            made[used++] = *p++;
        }
    }
    made[used] = 0;
    return tni_fail(status, "%s", made);
}

/* Fit the pattern; *kept is how many dimensions stay. */
static tn_status fit_reduce(tni_fit *fit, int *kept, const char *pattern, const char *sizes,
                            const tn_tensor *src)
{
    completed c;
    tni_pattern p;
    TRY(complete(&c, pattern, sizes));
    tn_status status = tni_pattern_parse(&p, c.text, c.sizes);
    if (status == TN_OK)
        status = tni_pattern_fit(fit, &p, src);
    if (status != TN_OK)
        return fail_own(status, &c, pattern, sizes ? sizes : "");
    const int fixed = p.left.ndim - (p.left.ellipsis >= 0);
    *kept = fit->ndim - c.added - (c.open ? src->ndim - fixed : 0);
    return TN_OK;
}

tn_status tn_pattern_reduce_shape(const char *pattern, const char *sizes, const tn_tensor *src,
                                  int *ndim, int64_t *shape)
{
    tni_fit fit;
    int kept;
    if (!pattern || !ndim || !shape)
        return tni_fail(TN_ENULL, "pattern_reduce_shape: %s is NULL",
                        !pattern ? "pattern"
                        : !ndim  ? "ndim"
                                 : "shape");
    TRY(tni_check_given(src, "pattern_reduce_shape: src"));
    TRY(tni_check_sound(src, "pattern_reduce_shape: src"));
    TRY(fit_reduce(&fit, &kept, pattern, sizes, src));
    *ndim = kept;
    for (int i = 0; i < kept; i++)
        shape[i] = fit.shape[i];
    return TN_OK;
}

/* src with an axis for each piece; those that are reduced come last. */
static tn_status split_src(tn_tensor *s, int *naxes, int *axes, const tni_fit *fit, int kept,
                           const tn_tensor *src)
{
    if (fit->n > TN_MAX_NDIM)
        return tni_fail(TN_EARG, "pattern_reduce: more than %d pieces of axes", TN_MAX_NDIM);
    tn_tensor v;
    tni_inherit(&v, src, tni_offset(src->data, fit->empty ? 0 : fit->shift), fit->n);
    *naxes = 0;
    for (int i = 0; i < fit->n; i++) {
        const tni_piece *a = &fit->piece[i];
        tni_set_axis(&v, i, a->n, fit->empty ? 0 : a->step);
        if (a->dim >= kept)
            axes[(*naxes)++] = i;
    }
    *s = v;
    return TN_OK;
}

/* dst with the same axes: 1 for those that are reduced. */
static void split_dst(tn_tensor *d, const tni_fit *fit, int kept, const tn_tensor *dst)
{
    int64_t inner = 1;
    tni_inherit(d, dst, dst->data, fit->n);
    for (int i = fit->n - 1; i >= 0; i--) {
        const tni_piece *a = &fit->piece[i];
        const bool fold = a->dim >= kept;
        if (i + 1 == fit->n || a->dim != a[1].dim)
            inner = 1;
        tni_set_axis(d, i, fold ? 1 : a->n, fold ? 0 : dst->stride[a->dim] * inner);
        inner *= a->n ? a->n : 1;
    }
}

tn_status tn_pattern_reduce_axes(tn_tensor *view, int *naxes, int *axes, const tn_tensor *src,
                                 const char *pattern, const char *sizes)
{
    tni_fit fit;
    int kept;
    if (!pattern || !view || !naxes || !axes)
        return tni_fail(TN_ENULL, "pattern_reduce_axes: %s is NULL",
                        !pattern ? "pattern"
                        : !view  ? "view"
                        : !naxes ? "naxes"
                                 : "axes");
    TRY(tni_check_given(src, "pattern_reduce_axes: src"));
    TRY(tni_check_sound(src, "pattern_reduce_axes: src"));
    TRY(fit_reduce(&fit, &kept, pattern, sizes, src));
    return split_src(view, naxes, axes, &fit, kept, src);
}

tn_status tn_pattern_reduce(tn_reduction op, const double *params, const tn_tensor *dst,
                            const tn_tensor *src, const char *pattern, const char *sizes)
{
    const char *call = "pattern_reduce";
    tni_fit fit;
    int kept, naxes, axes[TN_MAX_NDIM];
    tn_tensor d, s;
    if (!pattern)
        return tni_fail(TN_ENULL, "pattern_reduce: pattern is NULL");
    TRY(tni_check_all(TNI_EVERY, call, dst, 1, &src));
    TRY(fit_reduce(&fit, &kept, pattern, sizes, src));
    if (dst->ndim != kept)
        return tni_fail(TN_ESHAPE, "pattern_reduce: dst: got %d axes, expected %d", dst->ndim,
                        kept);
    for (int i = 0; i < kept; i++)
        if (dst->shape[i] != fit.shape[i])
            return tni_fail(TN_ESHAPE,
                            "pattern_reduce: dst: axis %d: got extent %lld, expected %lld", i,
                            (long long)dst->shape[i], (long long)fit.shape[i]);
    TRY(tni_check_injective(dst, call));
    TRY(tni_check_disjoint(dst, src, false, call));
    TRY(split_src(&s, &naxes, axes, &fit, kept, src));
    split_dst(&d, &fit, kept, dst);
    return tn_reduce(op, params, &d, &s, naxes, axes);
}
