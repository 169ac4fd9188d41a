/* slice_text.c - Python's subscript grammar: "[0, ::2, 2:8, ..., None]".
 *
 * The text is read twice by the same scanner: first to count the axes that it names, so that
 * the ellipsis knows its length, then to apply it item by item.  Nothing nests. */
#include <string.h>

#include "view.h"

typedef struct item {
    enum { END, INDEX, SLICE, ELLIPSIS, NEW_AXIS } kind;
    int64_t start, stop, step;
    bool has_start, has_stop, has_step;
} item;

typedef struct scan {
    const char *text, *at;
    bool bracket; /* an opening one was there */
    bool comma;   /* one stands before the next item */
} scan;

static tn_status bad(const scan *s, const char *what)
{
    return tni_fail(TN_EFORMAT, "slice: \"%.60s\", character %d: %s", s->text,
                    (int)(s->at - s->text) + 1, what);
}

static void blanks(scan *s)
{
    while (*s->at == ' ' || *s->at == '\t' || *s->at == '\n')
        s->at++;
}

static bool slice_take(scan *s, const char *word)
{
    size_t n = strlen(word);
    blanks(s);
    if (strncmp(s->at, word, n) != 0)
        return false;
    s->at += n;
    return true;
}

/* A whole number with a sign; beyond 64 bits it is the largest or the smallest. */
static bool slice_number(scan *s, int64_t *out)
{
    blanks(s);
    const char *p = s->at + (*s->at == '-' || *s->at == '+');
    bool minus = *s->at == '-';
    int64_t value = 0;
    if (*p < '0' || *p > '9')
        return false;
    for (; (*p >= '0' && *p <= '9') || (*p == '_' && p[1] >= '0' && p[1] <= '9'); p++)
        if (*p != '_' && (!tni_mul(value, 10, &value) ||
                          !tni_add(value, minus ? '0' - *p : *p - '0', &value)))
            value = minus ? INT64_MIN : INT64_MAX;
    s->at = p;
    *out = value;
    return true;
}

/* A bound that is left out, in the word or without. */
static bool bound(scan *s, int64_t *out)
{
    return !slice_take(s, "None") && slice_number(s, out);
}

static tn_status read_range(scan *s, item *it)
{
    it->kind = SLICE;
    it->has_stop = bound(s, &it->stop);
    if (slice_take(s, ":"))
        it->has_step = bound(s, &it->step);
    if (it->has_step && it->step == 0)
        return bad(s, "the step is 0");
    return TN_OK;
}

/* The next item, or END at the end of the text. */
static tn_status next(scan *s, item *it)
{
    *it = (item){.kind = END};
    bool closed = s->bracket ? slice_take(s, "]") : false;
    blanks(s);
    if (closed || !*s->at)
        return closed == s->bracket && !*s->at ? TN_OK : bad(s, "brackets do not match");
    if (!s->comma)
        return bad(s, "no comma between two items");
    if (slice_take(s, "...") || slice_take(s, "Ellipsis")) {
        it->kind = ELLIPSIS;
    } else if (slice_take(s, "np.newaxis") || slice_take(s, "newaxis")) {
        it->kind = NEW_AXIS;
    } else {
        bool none = slice_take(s, "None");
        it->has_start = !none && slice_number(s, &it->start);
        it->kind = none ? NEW_AXIS : INDEX;
        if (slice_take(s, ":"))
            TRY(read_range(s, it));
        else if (!none && !it->has_start)
            return bad(s, "expected a number, a slice, ... or None");
    }
    s->comma = slice_take(s, ",");
    return TN_OK;
}

static tn_status slice_begin(scan *s, const char *text)
{
    *s = (scan){.text = text, .at = text, .comma = true};
    s->bracket = slice_take(s, "[");
    blanks(s);
    return !*s->at || *s->at == ']' ? bad(s, "nothing is asked for") : TN_OK;
}

/* How many axes the ellipsis stands for; a text without one has it at its end. */
static tn_status measure(const char *text, int ndim, int *rest)
{
    scan s;
    item it;
    int named = 0, made = 0, dots = 0;
    TRY(slice_begin(&s, text));
    do {
        TRY(next(&s, &it));
        named += it.kind == INDEX || it.kind == SLICE;
        made += it.kind == NEW_AXIS;
        if (it.kind == ELLIPSIS && dots++)
            return bad(&s, "a second ...");
        if (named > ndim)
            return tni_fail(TN_ESHAPE, "slice: \"%.60s\" names more than %d axes", text, ndim);
        if (made > TN_MAX_NDIM)
            return tni_fail(TN_ESHAPE, "slice: \"%.60s\" makes more than 64 axes", text);
    } while (it.kind != END);
    *rest = ndim - named;
    return TN_OK;
}

static tn_status select_index(tn_tensor *t, int axis, int dim, int64_t index)
{
    int64_t n = t->shape[dim], at = index < 0 && index != INT64_MIN ? index + n : index;
    if (at < 0 || at >= n)
        return tni_fail(TN_EARG, "slice: index %lld of axis %d, which has extent %lld",
                        (long long)index, axis, (long long)n);
    return tn_select(t, t, dim, at);
}

static tn_status select_range(tn_tensor *t, int dim, const item *it)
{
    int64_t step = it->has_step ? it->step : 1;
    int64_t start = it->has_start ? it->start : step > 0 ? 0 : INT64_MAX;
    int64_t stop = it->has_stop ? it->stop : step > 0 ? INT64_MAX : INT64_MIN;
    return tn_slice(t, t, dim, start, stop, step);
}

tn_status tn_slice_text(tn_tensor *out, const tn_tensor *in, const char *text)
{
    TRY(tni_check_pair(out, in, "slice"));
    if (!text)
        return tni_fail(TN_ENULL, "slice: text is NULL");
    TRY(tni_check(in, "slice: in"));
    int rest = 0, axis = 0, dim = 0; /* axis of in, of the result */
    TRY(measure(text, in->ndim, &rest));
    scan s;
    item it;
    tn_tensor t = *in;
    TRY(TNI_NEVER(slice_begin(&s, text))); /* measure has read it all */
    for (;;) {
        TRY(TNI_NEVER(next(&s, &it)));
        if (it.kind == END)
            break;
        if (it.kind == INDEX) {
            TRY(select_index(&t, axis++, dim, it.start));
        } else if (it.kind == SLICE) {
            TRY(TNI_NEVER(select_range(&t, dim++, &it)));
            axis++;
        } else if (it.kind == NEW_AXIS) {
            TRY(tn_unsqueeze(&t, &t, dim++));
        } else {
            axis += rest;
            dim += rest;
        }
    }
    *out = t;
    return TN_OK;
}
