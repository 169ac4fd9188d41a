/* slice_text.c - parses Python's subscript syntax: "[0, ::2, 2:8, ..., None]".
 *
 * The same scanner reads the text twice: first to count the axes that it names and adds, so
 * that the length of the ellipsis is known and the result has room, then to apply it item by
 * item.  Nothing nests. */
#include <string.h>

#include "view.h"

typedef struct item {
    enum { END, INDEX, SLICE, ELLIPSIS, NEW_AXIS } kind;
    int column; /* of its first character */
    int64_t start, stop, step;
    bool has_start, has_stop, has_step;
} item;

typedef struct scan {
    const char *text, *at;
    bool bracket; /* the text begins with one */
    bool comma;   /* one precedes the next item */
} scan;

static int column_of(const scan *s)
{
    return (int)(s->at - s->text) + 1;
}

static tn_status bad_at(const scan *s, int column, const char *what)
{
    return tni_fail_at(TN_EFORMAT, column, "slice_text: \"%.60s\", character %d: %s", s->text,
                       column, what);
}

static tn_status bad(const scan *s, const char *what)
{
    return bad_at(s, column_of(s), what);
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

/* An integer with an optional sign; beyond 64 bits it saturates. */
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

/* Read a bound, which may be omitted or "None"; false if it is. */
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

/* Read the next item, or END at the end of the text. */
static tn_status next(scan *s, item *it)
{
    *it = (item){.kind = END};
    bool closed = s->bracket ? slice_take(s, "]") : false;
    blanks(s);
    it->column = column_of(s);
    if (closed || !*s->at)
        return closed == s->bracket && !*s->at ? TN_OK : bad(s, "mismatched brackets");
    if (!s->comma)
        return bad(s, "missing comma between two items");
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
    return !*s->at || *s->at == ']' ? bad(s, "empty subscript") : TN_OK;
}

/* Count the axes that the ellipsis stands for; a text without one ends in an implicit one. */
static tn_status measure(const char *text, int ndim, int *rest)
{
    scan s;
    item it;
    int named = 0, dropped = 0, dots = 0;
    int64_t made = 0;
    TRY(slice_begin(&s, text));
    do {
        TRY(next(&s, &it));
        named += it.kind == INDEX || it.kind == SLICE;
        dropped += it.kind == INDEX;
        made += it.kind == NEW_AXIS;
        if (it.kind == ELLIPSIS && dots++)
            return bad_at(&s, it.column, "more than one ...");
        if (named > ndim)
            return tni_fail_at(TN_ESHAPE, it.column,
                               "slice_text: \"%.60s\" names more than %d axes", text, ndim);
    } while (it.kind != END);
    if (ndim - dropped + made > TN_MAX_NDIM)
        return tni_fail(TN_ESHAPE, "slice_text: the result has %lld axes, expected at most %d",
                        (long long)(ndim - dropped + made), TN_MAX_NDIM);
    *rest = ndim - named;
    return TN_OK;
}

static void add_axis(tn_tensor *t, int64_t n, int64_t stride)
{
    tni_set_axis(t, t->ndim++, n, stride);
}

/* The bytes from index 0 of an axis to another index. */
static int64_t shift_along(const tn_tensor *in, int axis, int64_t index)
{
    return in->shape[axis] > 1 ? index * in->stride[axis] : 0;
}

static tn_status take_index(const tn_tensor *in, int axis, const item *it, int64_t *shift)
{
    const int64_t n = in->shape[axis], at = it->start < 0 ? it->start + n : it->start;
    if (at < 0 || at >= n)
        return tni_fail_at(TN_EARG, it->column,
                           "slice_text: index %lld of axis %d is out of range [%lld, %lld)",
                           (long long)it->start, axis, (long long)-n, (long long)n);
    *shift += shift_along(in, axis, at);
    return TN_OK;
}

static void take_range(tn_tensor *t, const tn_tensor *in, int axis, const item *it,
                       int64_t *shift)
{
    const int64_t step = it->has_step ? it->step : 1, stride = in->stride[axis];
    const int64_t stop = it->has_stop ? it->stop : step > 0 ? INT64_MAX : INT64_MIN;
    int64_t start = it->has_start ? it->start : step > 0 ? 0 : INT64_MAX;
    const int64_t count = tni_shape_slice(in->shape[axis], &start, stop, step);
    if (count > 0)
        *shift += shift_along(in, axis, start);
    add_axis(t, count, count > 1 ? stride * step : stride);
}

tn_status tn_slice_text(tn_tensor *out, const tn_tensor *in, const char *text)
{
    if (out && in && !text)
        return tni_fail(TN_ENULL, "slice_text: text is NULL");
    TRY(tni_check_pair(out, in, "slice_text"));
    TRY(tni_check_sound(in, "slice_text: in"));
    int rest = 0, axis = 0;
    TRY(measure(text, in->ndim, &rest));
    scan s;
    item it;
    int64_t shift = 0; /* bytes to the first element */
    tn_tensor t;
    tni_inherit(&t, in, in->data, 0);
    TRY(TNI_NEVER(slice_begin(&s, text))); /* measure has parsed all of it */
    do {
        TRY(TNI_NEVER(next(&s, &it)));
        if (it.kind == INDEX)
            TRY(take_index(in, axis++, &it, &shift));
        else if (it.kind == SLICE)
            take_range(&t, in, axis++, &it, &shift);
        else if (it.kind == NEW_AXIS)
            add_axis(&t, 1, 0);
        else /* "...", or the end of a text without one */
            for (; rest > 0; rest--, axis++)
                add_axis(&t, in->shape[axis], in->stride[axis]);
    } while (it.kind != END);
    void *data = tni_numel(&t) > 0 ? tni_offset(in->data, shift) : in->data;
    for (int i = 0; i < t.ndim; i++)
        tni_set_axis(out, i, t.shape[i], t.stride[i]);
    tni_inherit(out, &t, data, t.ndim);
    return TN_OK;
}
