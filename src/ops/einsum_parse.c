/* einsum_parse.c - parses the text of an einsum into terms of names.
 *
 * If two names of one term are separated by a blank, names are words; otherwise every letter is
 * a name and blanks are ignored.  One pass, no recursion, no allocation; every error has the
 * column of its byte. */
#include <stdio.h>

#include "einsum.h"
#include "pattern.h"

typedef struct einsum_reader {
    tni_einsum *e;
    const char *call;
    bool words;
    int pos, terms; /* terms read so far on the left side */
    int arrow;      /* offset of the "->"; -1: not read yet */
    int comma[TN_EINSUM_SOURCES];
} einsum_reader;

static tn_status einsum_wrong(const einsum_reader *r, int at, int len, const char *what)
{
    const char *text = r->e->text;
    if (!text[at])
        return tni_fail_at(TN_EFORMAT, at + 1, "%s: \"%s\": the text ends at column %d %s",
                           r->call, tni_quoted(text).text, at + 1, what);
    return tni_fail_at(TN_EFORMAT, at + 1, "%s: \"%s\": '%.*s' at column %d %s", r->call,
                       tni_quoted(text).text, len < 40 ? len : 40, tni_quoted(text + at).text,
                       at + 1, what);
}

static bool einsum_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool einsum_word(char c)
{
    return einsum_letter(c) || (c >= '0' && c <= '9') || c == '_';
}

static bool einsum_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

/* Are two names of one term separated by a blank? */
static bool einsum_has_words(const char *text)
{
    bool name = false, blank = false;
    for (; *text; text++) {
        if (*text == ',' || *text == '-')
            name = blank = false;
        else if (einsum_blank(*text))
            blank = name;
        else if (einsum_word(*text)) {
            if (name && blank)
                return true;
            name = true;
            blank = false;
        }
    }
    return false;
}

/* The number of a name, assigned at its first occurrence; -1: there are too many names. */
static int einsum_number(tni_einsum *e, int at, int len, bool add)
{
    for (int i = 0; i < e->nname; i++)
        if (e->name[i].len == len &&
            !memcmp(e->text + e->name[i].at, e->text + at, (size_t)len))
            return i;
    if (!add || e->nname == TNI_EINSUM_NAMES)
        return -1;
    e->name[e->nname].at = at;
    e->name[e->nname].len = len;
    return e->nname++;
}

static tn_status einsum_name(einsum_reader *r, tni_einsum_term *t, int at, int len)
{
    const bool right = r->arrow >= 0;
    const int name = einsum_number(r->e, at, len, !right);
    if (name < 0)
        return einsum_wrong(r, at, len,
                            right ? "is on the right but not on the left"
                                  : "exceeds the number of names an expression can have");
    for (int i = 0; right && i < t->n; i++)
        if (t->name[i] == name)
            return einsum_wrong(r, at, len, "appears twice on the right");
    if (t->n == TN_MAX_NDIM)
        return einsum_wrong(r, at, len, "exceeds the number of axes a tensor can have");
    t->at[t->n] = at;
    t->name[t->n++] = (int16_t)name;
    return TN_OK;
}

static tn_status einsum_ellipsis(einsum_reader *r, tni_einsum_term *t)
{
    const char *text = r->e->text + r->pos;
    if (text[1] != '.' || text[2] != '.')
        return einsum_wrong(r, r->pos, 1, "is not part of a '...'");
    if (t->ellipsis >= 0)
        return einsum_wrong(r, r->pos, 3, "is a second '...' in its term");
    t->ellipsis = t->n;
    r->pos += 3;
    return TN_OK;
}

/* Read a run of word characters: one name, or one name per letter. */
static tn_status einsum_run(einsum_reader *r, tni_einsum_term *t)
{
    const char *text = r->e->text;
    const int at = r->pos;
    int end = at;
    while (einsum_word(text[end]))
        end++;
    r->pos = end;
    if (r->words) {
        if (!einsum_letter(text[at]))
            return einsum_wrong(r, at, end - at, "does not begin with a letter");
        return einsum_name(r, t, at, end - at);
    }
    for (int i = at; i < end; i++) {
        if (!einsum_letter(text[i]))
            return einsum_wrong(r, i, 1, "is not a letter");
        TRY(einsum_name(r, t, i, 1));
    }
    return TN_OK;
}

/* Begin a term.  Terms on the left beyond the limit are read into spare and only counted. */
static tni_einsum_term *einsum_begin(einsum_reader *r, tni_einsum_term *spare)
{
    tni_einsum_term *t = r->arrow >= 0                  ? &r->e->term[0]
                         : r->terms < TN_EINSUM_SOURCES ? &r->e->term[r->terms + 1]
                                                        : spare;
    t->n = 0;
    t->ellipsis = -1;
    return t;
}

static tn_status einsum_sign(einsum_reader *r, tni_einsum_term **t, tni_einsum_term *spare)
{
    const char c = r->e->text[r->pos];
    if (c == ',' && r->arrow < 0) {
        if (r->terms < TN_EINSUM_SOURCES)
            r->comma[r->terms] = r->pos;
        r->terms++;
        r->pos++;
    } else if (c == '-' && r->e->text[r->pos + 1] == '>' && r->arrow < 0) {
        r->arrow = r->pos;
        r->terms++;
        r->pos += 2;
    } else {
        return einsum_wrong(r, r->pos, c == '-' ? 2 : 1,
                            r->arrow < 0 ? "is not allowed"
                            : c == '-'   ? "is a second '->'"
                                         : "is not allowed on the right");
    }
    *t = einsum_begin(r, spare);
    return TN_OK;
}

static tn_status einsum_read(einsum_reader *r)
{
    tni_einsum_term spare, *t = einsum_begin(r, &spare);
    const char *text = r->e->text;
    while (text[r->pos]) {
        if (einsum_blank(text[r->pos]))
            r->pos++;
        else if (einsum_word(text[r->pos]))
            TRY(einsum_run(r, t));
        else if (text[r->pos] == '.')
            TRY(einsum_ellipsis(r, t));
        else
            TRY(einsum_sign(r, &t, &spare));
    }
    if (r->arrow >= 0)
        return TN_OK;
    r->terms++;
    return r->words ? einsum_wrong(r, r->pos, 0, "before a '->'") : TN_OK;
}

/* Without a right side the result is "...", then the letters that occur once, in ASCII
 * order. */
static void einsum_imply(einsum_reader *r)
{
    tni_einsum_term *right = &r->e->term[0];
    int times[128] = {0}, name[128] = {0};
    right->n = 0;
    right->ellipsis = -1;
    for (int k = 1; k <= r->e->nsrc; k++) {
        const tni_einsum_term *t = &r->e->term[k];
        if (t->ellipsis >= 0)
            right->ellipsis = 0;
        for (int i = 0; i < t->n; i++) {
            const int c = r->e->text[t->at[i]] & 127;
            times[c]++;
            name[c] = t->name[i];
        }
    }
    for (int c = 0; c < COUNT(times); c++)
        if (times[c] == 1) {
            right->at[right->n] = 0;
            right->name[right->n++] = (int16_t)name[c];
        }
}

static tn_status einsum_check(const einsum_reader *r)
{
    const tni_einsum *e = r->e;
    char what[64];
    snprintf(what, sizeof what, "makes %d terms for %d source%s", r->terms, e->nsrc,
             e->nsrc == 1 ? "" : "s");
    if (r->terms > e->nsrc)
        return einsum_wrong(r, r->comma[e->nsrc - 1], 1, what);
    if (r->terms < e->nsrc)
        return einsum_wrong(r, r->arrow >= 0 ? r->arrow : r->pos, 2, what);
    bool left = false;
    for (int k = 1; k <= e->nsrc; k++)
        left |= e->term[k].ellipsis >= 0;
    const char *first = strstr(e->text, "...");
    if (r->arrow < 0)
        return TN_OK;
    if (left && e->term[0].ellipsis < 0)
        return einsum_wrong(r, (int)(first - e->text), 3, "is not on the right");
    if (!left && e->term[0].ellipsis >= 0)
        return einsum_wrong(r, (int)(first - e->text), 3,
                            "is on the right but not on the left");
    return TN_OK;
}

tn_status tni_einsum_parse(tni_einsum *e, const char *call, const char *text, int n)
{
    if (!memchr(text, 0, TNI_EINSUM_TEXT + 1))
        return tni_fail_at(TN_EFORMAT, TNI_EINSUM_TEXT + 1,
                           "%s: the text is longer than %d bytes", call, TNI_EINSUM_TEXT);
    e->text = text;
    e->nsrc = n;
    e->nname = 0;
    einsum_reader r = {.e = e, .call = call, .words = einsum_has_words(text), .arrow = -1};
    TRY(einsum_read(&r));
    TRY(einsum_check(&r));
    if (r.arrow < 0)
        einsum_imply(&r);
    return TN_OK;
}
