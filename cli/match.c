/* match.c - patterns of tensor names: {x} matches a component, {x...} any text, {x*} a number.
 *
 * The wildcards * and ** are unnamed forms of the first two.  A repeated {x} matches the same
 * text.  Patterns are checked before they are used. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* A wildcard in a pattern. */
typedef struct wild {
    enum { NO_WILD, COMPONENT, ANY_TEXT, NUMBER } kind;
    const char *name;
    int length; /* of the name; 0: unnamed */
    int skip;   /* length in the pattern */
} wild;

static wild wild_at(const char *at)
{
    if (*at == '*')
        return at[1] == '*' ? (wild){ANY_TEXT, at, 0, 2} : (wild){COMPONENT, at, 0, 1};
    if (*at != '{')
        return (wild){NO_WILD, at, 0, 0};
    wild w = {COMPONENT, at + 1, 0, 0};
    const char *p = at + 1;
    while (isalnum((unsigned char)*p) || *p == '_')
        p++;
    w.length = (int)(p - w.name);
    if (!strncmp(p, "...", 3)) {
        w.kind = ANY_TEXT;
        p += 3;
    } else if (*p == '*') {
        w.kind = NUMBER;
        p++;
    }
    if (*p != '}' || w.length == 0)
        return (wild){NO_WILD, at, -1, 0};
    w.skip = (int)(p + 1 - at);
    return w;
}

const char *check_pattern(const char *pattern)
{
    int wilds = 0;
    if (!*pattern)
        return "is empty";
    for (const char *p = pattern; *p;) {
        wild w = wild_at(p);
        if (w.length < 0)
            return "has a { that is not {name}, {name...} or {name*}";
        wilds += w.kind != NO_WILD;
        p += w.kind ? w.skip : 1;
    }
    return wilds > MOST_CAPTURES ? "has more than 16 wildcards" : NULL;
}

static const capture *find_capture(const captures *c, const char *name, int length)
{
    for (int i = 0; i < c->n; i++)
        if (c->list[i].name_length == length && length &&
            !strncmp(c->list[i].name, name, (size_t)length))
            return &c->list[i];
    return NULL;
}

static bool match_from(const char *p, const char *name, captures *c);

/* Match a wildcard: the longest text with which the rest of the pattern matches. */
static bool match_wild(const char *p, const char *name, captures *c, const wild *w)
{
    const capture *before = find_capture(c, w->name, w->length);
    if (before)
        return !strncmp(name, before->text, (size_t)before->length) &&
               match_from(p + w->skip, name + before->length, c);
    size_t most = w->kind == ANY_TEXT ? strlen(name)
                  : w->kind == NUMBER ? strspn(name, "0123456789")
                                      : strcspn(name, ".");
    int kept = c->n;
    for (size_t n = most + 1; n-- > (w->kind != ANY_TEXT);) {
        c->n = kept;
        c->list[c->n++] = (capture){w->name, w->length, name, (int)n};
        if (match_from(p + w->skip, name + n, c))
            return true;
    }
    c->n = kept;
    return false;
}

static bool match_from(const char *p, const char *name, captures *c)
{
    for (; *p; p++, name++) {
        wild w = wild_at(p);
        if (w.kind)
            return match_wild(p, name, c, &w);
        if (*p != *name)
            return false;
    }
    return !*name;
}

bool match_name(const char *pattern, const char *name, captures *c)
{
    c->n = 0;
    return match_from(pattern, name, c);
}

char *expand_name(const char *pattern, const captures *c)
{
    size_t length = strlen(pattern) + 1;
    for (int i = 0; i < c->n; i++)
        length += (size_t)c->list[i].length * (MOST_CAPTURES + 1);
    char *out = malloc(length), *to = out;
    int nameless = 0; /* unnamed wildcards correspond in order */
    for (const char *p = pattern; out && *p;) {
        wild w = wild_at(p);
        const capture *found = w.kind ? find_capture(c, w.name, w.length) : NULL;
        for (int i = 0, k = 0; w.kind && !w.length && !found && i < c->n; i++)
            if (!c->list[i].name_length && k++ == nameless)
                found = &c->list[i];
        nameless += w.kind && !w.length;
        if (w.kind && !found) {
            free(out);
            return NULL;
        }
        if (found) {
            memcpy(to, found->text, (size_t)found->length);
            to += found->length;
        } else {
            *to++ = *p;
        }
        p += w.kind ? w.skip : 1;
    }
    if (out)
        *to = 0;
    return out;
}

/* ---- similar names ---- */

/* Edit distance from a to b, computed in one row of the table; results of `most` or more are
 * reported as most. */
static int distance(const char *a, const char *b, int *row, int most)
{
    int n = (int)strlen(a), m = (int)strlen(b);
    for (int j = 0; j <= m; j++)
        row[j] = j;
    for (int i = 1; i <= n; i++) {
        int corner = row[0], least = row[0] = i;
        for (int j = 1; j <= m; j++) {
            int best = corner + (a[i - 1] != b[j - 1]);
            best = row[j] + 1 < best ? row[j] + 1 : best;
            best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            corner = row[j];
            row[j] = best;
            least = best < least ? best : least;
        }
        if (least >= most)
            return most;
    }
    return row[m] < most ? row[m] : most;
}

int nearest_names(const tn_file *f, const char *text, const char *names[3])
{
    int best[3] = {INT32_MAX, INT32_MAX, INT32_MAX}, n = 0;
    size_t longest = 0;
    for (int64_t i = 0; i < tn_file_count(f); i++)
        longest = strlen(tn_file_name(f, i)) > longest ? strlen(tn_file_name(f, i)) : longest;
    int *row = malloc((longest + 1) * sizeof *row);
    for (int64_t i = 0; row && i < tn_file_count(f); i++) {
        int d = distance(text, tn_file_name(f, i), row, best[2]);
        if (d >= best[2])
            continue;
        int at = d < best[0] ? 0 : d < best[1] ? 1 : 2;
        for (int k = 2; k > at; k--) {
            best[k] = best[k - 1];
            names[k] = names[k - 1];
        }
        best[at] = d;
        names[at] = tn_file_name(f, i);
        n += n < 3;
    }
    free(row);
    return n;
}
