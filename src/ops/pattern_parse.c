/* pattern_parse.c - parses the text of an einops pattern into names and dimensions.
 *
 * One pass over at most TNI_PATTERN_TEXT characters, no recursion, no allocation; every error
 * has a position. */
#include <stdio.h>
#include <string.h>

#include "pattern.h"

typedef struct reader {
    tni_pattern *p;
    tni_side *side;
    int pos;      /* next character */
    int group;    /* offset of the open group; -1: none */
    bool reverse; /* a '-' directly precedes */
    bool reduces; /* the left may have numbers, and names missing on the right */
} reader;

tni_quote tni_quoted(const char *text)
{
    tni_quote q;
    size_t n = 0;
    for (; n + 1 < sizeof q.text && text[n]; n++)
        q.text[n] = (unsigned char)text[n] < ' ' || text[n] == 127 ? '?' : text[n];
    q.text[n] = 0;
    return q;
}

/* Fail about len characters at an offset of the pattern or of its sizes; other, unless
 * negative, ends the message.  Only a pattern has a column. */
static tn_status fault(tn_status status, const tni_pattern *p, const char *text, int at,
                       int len, const char *what, int other)
{
    const int column = text == p->text ? at + 1 : 0;
    char number[16] = "";
    if (other >= 0)
        snprintf(number, sizeof number, " %d", other);
    if (!text[at])
        return tni_fail_at(status, column, "%s: \"%s\": the end at %d %s%s", p->call,
                           tni_quoted(text).text, at + 1, what, number);
    return tni_fail_at(status, column, "%s: \"%s\": '%.*s' at %d %s%s", p->call,
                       tni_quoted(text).text, len < 40 ? len : 40, tni_quoted(text + at).text,
                       at + 1, what, number);
}

/* Fail about the pattern that r reads. */
static tn_status wrong(const reader *r, int at, int len, const char *what, int other)
{
    return fault(TN_EFORMAT, r->p, r->p->text, at, len, what, other);
}

static bool letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool word(char c)
{
    return letter(c) || digit(c) || c == '_' || c == '.';
}

/* The number of bytes of a character in UTF-8, so that messages show it whole. */
static int letter_bytes(const char *text)
{
    int n = 1;
    while (n < 4 && (text[n] & 0xc0) == 0x80)
        n++;
    return n;
}

/* Convert digits to a number; false if it overflows. */
static bool pattern_number(const char *digits, int len, int64_t *out)
{
    int64_t n = 0;
    for (int i = 0; i < len; i++)
        if (!tni_mul(n, 10, &n) || !tni_add(n, digits[i] - '0', &n))
            return false;
    *out = n;
    return true;
}

static int find(const tni_side *side, const char *text, const char *name, int len)
{
    for (int i = 0; i < side->n; i++)
        if (side->name[i].len == len && !memcmp(text + side->name[i].at, name, (size_t)len))
            return i;
    return -1;
}

/* Add a dimension to the side, unless a group is open, which is one already. */
static tn_status add_dim(reader *r, int at, int len)
{
    if (r->group >= 0)
        return TN_OK;
    if (r->side->ndim == TN_MAX_NDIM)
        return wrong(r, at, len, "exceeds the maximum number of dimensions,", TN_MAX_NDIM);
    r->side->ndim++;
    return TN_OK;
}

static tn_status add_name(reader *r, int at, int len, int64_t size)
{
    if (r->side->n == TNI_PATTERN_AXES)
        return wrong(r, at, len, "exceeds the maximum number of axes,", TNI_PATTERN_AXES);
    TRY(add_dim(r, at, len));
    tni_name *name = &r->side->name[r->side->n++];
    *name = (tni_name){.at = at, .len = len, .dim = r->side->ndim - 1, .from = -1};
    name->reversed = r->reverse;
    name->size = size;
    r->reverse = false;
    return TN_OK;
}

static tn_status read_ellipsis(reader *r, int at)
{
    const tni_side *left = &r->p->left;
    if (r->side->ellipsis >= 0)
        return wrong(r, at, 3, "repeats the one at", r->side->name[r->side->ellipsis].at + 1);
    if (r->side == left && r->group >= 0)
        return wrong(r, at, 3, "is in a group on the left", -1);
    if (r->side != left && left->ellipsis < 0)
        return wrong(r, at, 3, "is missing on the left", -1);
    TRY(add_name(r, at, 3, -1));
    r->side->ellipsis = r->side->n - 1;
    r->side->grouped = r->group >= 0;
    return TN_OK;
}

/* A number: 1 is a dimension without axes; a larger one is a new axis on the right, and a
 * reduced axis on the left. */
static tn_status read_number(reader *r, int at, int len)
{
    int64_t n;
    if (!pattern_number(r->p->text + at, len, &n))
        return fault(TN_EOVERFLOW, r->p, r->p->text, at, len, "exceeds 2^63 - 1", -1);
    if (n == 0)
        return wrong(r, at, len, "is not a valid extent", -1);
    if (n == 1)
        return add_dim(r, at, len);
    if (r->side == &r->p->left && !r->reduces)
        return wrong(r, at, len, "is a number on the left", -1);
    return add_name(r, at, len, n);
}

static tn_status read_name(reader *r, int at, int len)
{
    const char *name = r->p->text + at;
    if (name[0] == '_' || name[len - 1] == '_')
        return wrong(r, at, len, "begins or ends with '_'", -1);
    int twin = find(r->side, r->p->text, name, len);
    if (twin >= 0)
        return wrong(r, at, len, "repeats the one at", r->side->name[twin].at + 1);
    return add_name(r, at, len, -1);
}

static tn_status read_word(reader *r)
{
    const int at = r->pos;
    const char *text = r->p->text + at;
    int len = 0, digits = 0;
    for (; word(text[len]); len++)
        digits += digit(text[len]);
    r->pos += len;
    if (len == 3 && !memcmp(text, "...", 3))
        return read_ellipsis(r, at);
    const char *dot = memchr(text, '.', (size_t)len);
    if (dot)
        return wrong(r, at + (int)(dot - text), 1, "is not part of a standalone '...'", -1);
    if (digits == len)
        return read_number(r, at, len);
    if (digit(text[0]))
        return wrong(r, at, len, "is not a name or a number", -1);
    return read_name(r, at, len);
}

static tn_status open_group(reader *r)
{
    const int at = r->pos++;
    if (r->group >= 0)
        return wrong(r, at, 1, "is inside the group at", r->group + 1);
    TRY(add_dim(r, at, 1));
    r->group = at;
    return TN_OK;
}

static tn_status close_group(reader *r)
{
    if (r->group < 0)
        return wrong(r, r->pos, 1, "has no matching '('", -1);
    r->group = -1;
    r->pos++;
    return TN_OK;
}

static tn_status check_closed(const reader *r)
{
    return r->group >= 0 ? wrong(r, r->group, 1, "is not closed", -1) : TN_OK;
}

static tn_status read_arrow(reader *r)
{
    TRY(check_closed(r));
    if (r->side == &r->p->right)
        return wrong(r, r->pos, 2, "is a second '->'", -1);
    r->side = &r->p->right;
    r->pos += 2;
    return TN_OK;
}

static tn_status read_minus(reader *r)
{
    const char *text = r->p->text;
    const int at = r->pos++;
    if (r->side == &r->p->right)
        return wrong(r, at, 1, "is on the right; axes are reversed on the left", -1);
    if (at > 0 && word(text[at - 1]))
        return wrong(r, at, 1, "needs a space before it", -1);
    if (!letter(text[at + 1]) && text[at + 1] != '_')
        return wrong(r, at, 1, "is not followed by a name", -1);
    r->reverse = true;
    return TN_OK;
}

static tn_status read_text(reader *r)
{
    const char *text = r->p->text;
    while (text[r->pos]) {
        const char c = text[r->pos];
        if (c == ' ')
            r->pos++;
        else if (word(c))
            TRY(read_word(r));
        else if (c == '(')
            TRY(open_group(r));
        else if (c == ')')
            TRY(close_group(r));
        else if (c == '-' && text[r->pos + 1] == '>')
            TRY(read_arrow(r));
        else if (c == '-')
            TRY(read_minus(r));
        else
            return wrong(r, r->pos, letter_bytes(text + r->pos), "is not allowed", -1);
    }
    TRY(check_closed(r));
    if (r->side == &r->p->left)
        return wrong(r, r->pos, 0, "is reached before a '->'", -1);
    return TN_OK;
}

/* Add a name of the left that the right lacks, as an axis after the dimensions of the right. */
static tn_status reduce_name(const reader *r, int i)
{
    const tni_side *left = &r->p->left;
    tni_side *right = &r->p->right;
    tni_name name = left->name[i];
    if (!r->reduces)
        return wrong(r, name.at, name.len, "is missing on the right", -1);
    if (right->n == TNI_PATTERN_AXES)
        return wrong(r, name.at, name.len, "exceeds the maximum number of axes,",
                     TNI_PATTERN_AXES);
    if (i == left->ellipsis) {
        right->ellipsis = right->n;
        right->grouped = true;
    }
    name.dim = right->ndim;
    name.from = i;
    right->name[right->n++] = name;
    return TN_OK;
}

/* Match the sides by name; a number on the right is always new. */
static tn_status match(const reader *r)
{
    const tni_side *left = &r->p->left;
    tni_side *right = &r->p->right;
    uint64_t used = 0;
    for (int i = 0; i < right->n; i++) {
        tni_name *name = &right->name[i];
        if (digit(r->p->text[name->at]))
            continue;
        name->from = find(left, r->p->text, r->p->text + name->at, name->len);
        if (name->from >= 0)
            used |= (uint64_t)1 << name->from;
    }
    for (int i = 0; i < left->n; i++)
        if (!(used >> i & 1))
            TRY(reduce_name(r, i));
    return TN_OK;
}

/* ---- sizes: name=number, separated by spaces ---- */

static tn_status give_size(tni_pattern *p, const char *sizes, int at, int len, int64_t size)
{
    tni_side *sides[] = {&p->right, &p->left};
    bool used = false;
    for (int k = 0; k < 2; k++) {
        const int i = find(sides[k], p->text, sizes + at, len);
        if (i < 0)
            continue;
        if (!used && sides[k]->name[i].size >= 0)
            return fault(TN_EFORMAT, p, sizes, at, len, "already has a size", -1);
        sides[k]->name[i].size = size;
        used = true;
    }
    return used ? TN_OK : fault(TN_EFORMAT, p, sizes, at, len, "is not in the pattern", -1);
}

/* Read one name=number at *pos and advance *pos past it. */
static tn_status read_size(tni_pattern *p, const char *sizes, int *pos)
{
    const int at = *pos;
    int end = at;
    while (letter(sizes[end]) || digit(sizes[end]) || sizes[end] == '_')
        end++;
    if (end == at || digit(sizes[at]))
        return fault(TN_EFORMAT, p, sizes, at, 1, "does not start a name", -1);
    if (sizes[end] != '=')
        return fault(TN_EFORMAT, p, sizes, end, 1, "is not '='", -1);
    const int value = end + 1;
    int stop = value;
    while (digit(sizes[stop]))
        stop++;
    if (stop == value || (sizes[stop] && sizes[stop] != ' '))
        return fault(TN_EFORMAT, p, sizes, stop, 1, "is not a digit", -1);
    int64_t n;
    if (!pattern_number(sizes + value, stop - value, &n))
        return fault(TN_EOVERFLOW, p, sizes, value, stop - value, "exceeds 2^63 - 1", -1);
    *pos = stop;
    return give_size(p, sizes, at, end - at, n);
}

static tn_status read_sizes(tni_pattern *p, const char *sizes)
{
    int pos = 0;
    while (sizes[pos])
        if (sizes[pos] == ' ')
            pos++;
        else
            TRY(read_size(p, sizes, &pos));
    return TN_OK;
}

static tn_status check_known(const tni_pattern *p)
{
    const tni_name *unknown = NULL;
    for (int i = 0; i < p->left.n; i++) {
        const tni_name *name = &p->left.name[i];
        if (name->size >= 0)
            continue;
        if (unknown && unknown->dim == name->dim)
            return fault(TN_EFORMAT, p, p->text, name->at, name->len,
                         "has no size, and neither has the name at", unknown->at + 1);
        unknown = name;
    }
    for (int i = 0; i < p->right.n; i++) {
        const tni_name *name = &p->right.name[i];
        if (name->from < 0 && name->size < 0)
            return fault(TN_EFORMAT, p, p->text, name->at, name->len, "is new and has no size",
                         -1);
    }
    return TN_OK;
}

/* The names are set when they are read. */
static void begin_side(tni_side *side)
{
    side->ndim = side->n = 0;
    side->ellipsis = -1;
    side->grouped = false;
}

static tn_status check_length(const char *call, const char *who, const char *text)
{
    if (memchr(text, 0, TNI_PATTERN_TEXT + 1))
        return TN_OK;
    return tni_fail(TN_EFORMAT, "%s: %s is longer than %d bytes", call, who, TNI_PATTERN_TEXT);
}

tn_status tni_pattern_parse(tni_pattern *p, const char *call, const char *text,
                            const char *sizes, bool reduces)
{
    const char *given = sizes ? sizes : "";
    TRY(check_length(call, "pattern", text));
    TRY(check_length(call, "sizes", given));
    p->call = call;
    p->text = text;
    begin_side(&p->left);
    begin_side(&p->right);
    reader r = {.p = p, .side = &p->left, .group = -1, .reduces = reduces};
    TRY(read_text(&r));
    TRY(match(&r));
    TRY(read_sizes(p, given));
    return check_known(p);
}
