/* rules.c - parsing rules: one per line, words separated by blanks, "#" begins a comment. */
#include "rules.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_WORDS = 256 };

/* A line split into words, without quotes. */
typedef struct line_words {
    const rules *r;
    int line, n, at;
    char *words[MOST_WORDS];
} line_words;

static int bad_rule(const line_words *w, const char *what, const char *word)
{
    fprintf(stderr, "tenon: ");
    print_safe(stderr, w->r->path);
    fprintf(stderr, ":%d: %s%s", w->line, what, word ? " \"" : "");
    print_safe(stderr, word ? word : "");
    fprintf(stderr, "%s\n", word ? "\"" : "");
    return USAGE;
}

static int split_words(line_words *w, char *line)
{
    w->n = w->at = 0;
    for (char *p = line; *p;) {
        p += strspn(p, " \t\r");
        if (!*p || *p == '#')
            break;
        if (w->n == MOST_WORDS)
            return bad_rule(w, "too many words", NULL);
        bool quoted = *p == '"';
        char *end = quoted ? strchr(p + 1, '"') : p + strcspn(p, " \t\r");
        if (!end)
            return bad_rule(w, "unterminated quote", NULL);
        w->words[w->n++] = p + quoted;
        p = *end ? end + 1 : end;
        *end = 0;
    }
    return DONE;
}

static const char *peek(const line_words *w)
{
    return w->at < w->n ? w->words[w->at] : NULL;
}

static bool next_is(line_words *w, const char *word)
{
    bool is = peek(w) && !strcmp(peek(w), word);
    w->at += is;
    return is;
}

/* Parse "4096,1024,1024". */
static int read_sizes(line_words *w, const char *text, int64_t *sizes, int *n)
{
    const char *at = text;
    for (*n = 0;; at++) {
        if (*n == MOST_SIZES || !whole_number(at, &at, &sizes[(*n)++]) || (*at && *at != ','))
            return bad_rule(w, "expected sizes such as 4096,1024, got", text);
        if (!*at)
            return DONE;
    }
}

static int read_axis_word(line_words *w, rule_side *s)
{
    const char *text = peek(w), *end;
    int64_t axis;
    if (!text || text[0] != '@')
        return DONE;
    s->has_axis = true;
    s->new_axis = text[1] == '+';
    if (!whole_number(text + 1 + s->new_axis, &end, &axis) || *end || axis >= TN_MAX_NDIM)
        return bad_rule(w, "expected an axis such as @0 or @+0, got", text);
    s->axis = (int)axis;
    w->at++;
    return DONE;
}

static int read_placement(line_words *w, rule_side *s)
{
    const char *text = peek(w), *end;
    int64_t axis;
    if (!text || strncmp(text, "ranks", 5) != 0)
        return DONE;
    w->at++;
    if (!strcmp(text, "ranks=")) {
        s->placement.kind = REPLICATED;
        return DONE;
    }
    if (text[5] != '@' || !whole_number(text + 6, &end, &axis) || axis >= TN_MAX_NDIM ||
        (*end && *end != '/'))
        return bad_rule(w, "expected a placement such as ranks= or ranks@0/2, got", text);
    s->placement.kind = SHARDED;
    s->placement.axis = (int)axis;
    if (!*end)
        return DONE;
    TRY(read_sizes(w, end + 1, s->placement.sizes, &s->placement.nblocks));
    if (s->placement.nblocks == 1) {
        s->placement.count = s->placement.sizes[0];
        if (s->placement.count < 1)
            return bad_rule(w, "expected a number of blocks, got", text);
    }
    return DONE;
}

/* Take the words of the form p=2 and join them in place to "p=2 q=3". */
static const char *take_pattern_sizes(line_words *w)
{
    char *first = NULL, *end = NULL;
    while (peek(w) && strchr(peek(w), '=') && peek(w)[0] != '=') {
        char *word = w->words[w->at++];
        if (!first) {
            first = word;
            end = word + strlen(word);
            continue;
        }
        size_t n = strlen(word);
        *end++ = ' ';
        memmove(end, word, n + 1);
        end += n;
    }
    return first ? first : "";
}

static int read_step(line_words *w, rule_side *s)
{
    static const char *const kinds[] = {"permute", "cast", "rearrange", "slice", "reshape"};
    const char *name = peek(w);
    if (s->nsteps == MOST_STEPS)
        return bad_rule(w, "too many steps", NULL);
    for (int i = 0; name && i < COUNT(kinds); i++)
        if (!strcmp(name, kinds[i])) {
            rule_step step = {.kind = (step_kind)i, .sizes = ""};
            tn_dtype dtype;
            w->at++;
            if (!(step.text = peek(w)))
                return bad_rule(w, "missing argument of", name);
            w->at++;
            if (step.kind == STEP_REARRANGE)
                step.sizes = take_pattern_sizes(w);
            if (step.kind == STEP_CAST && tn_dtype_parse(&dtype, step.text) != TN_OK)
                return bad_rule(w, "unknown dtype", step.text);
            s->steps[s->nsteps++] = step;
            return DONE;
        }
    return bad_rule(
        w, name ? "expected permute, cast, rearrange, slice or reshape before" : "missing step",
        name);
}

static int read_names(line_words *w, rule_side *s, bool right)
{
    do {
        const char *name = peek(w);
        if (!name || s->n == MOST_NAMES)
            return bad_rule(w, name ? "too many names" : "missing name", NULL);
        const char *why = right && !strcmp(name, "=") ? NULL : check_pattern(name);
        if (why || !strcmp(name, "->") || !strcmp(name, "+") || !strcmp(name, ":"))
            return bad_rule(w, why ? why : "missing name before", name);
        s->names[s->n++] = name;
        w->at++;
    } while (next_is(w, "+"));
    return DONE;
}

static int read_side(line_words *w, rule_side *s, bool right)
{
    const char *text;
    TRY(read_names(w, s, right));
    TRY(read_axis_word(w, s));
    text = peek(w);
    if (right && s->has_axis && text && text[0] >= '0' && text[0] <= '9') {
        w->at++;
        TRY(read_sizes(w, text, s->sizes, &s->nsizes));
        if (s->nsizes != s->n)
            return bad_rule(w, "expected as many sizes as names, got", text);
    }
    TRY(read_placement(w, s));
    while (next_is(w, ":"))
        TRY(read_step(w, s));
    if (s->n > 1 && !s->has_axis)
        return bad_rule(w, "several names need an axis such as @0", NULL);
    return DONE;
}

static int read_rule(line_words *w, rule *r)
{
    *r = (rule){.line = w->line};
    if (w->words[0][0] == '?') {
        r->optional = true;
        w->words[0]++;
        w->at = w->words[0][0] == 0;
    }
    TRY(read_side(w, &r->left, false));
    if (!next_is(w, "->"))
        return bad_rule(w, "expected -> before", peek(w) ? peek(w) : "the end");
    if (next_is(w, "drop"))
        r->right.drop = true;
    else
        TRY(read_side(w, &r->right, true));
    if (peek(w))
        return bad_rule(w, "unexpected", peek(w));
    if (r->right.n && !strcmp(r->right.names[0], "=") && r->left.n > 1)
        return bad_rule(w, "= stands for one name, got several", NULL);
    return DONE;
}

static int read_whole(const char *path, char **text)
{
    FILE *f = fopen(path, "r");
    size_t n = 0;
    *text = NULL;
    if (!f)
        return fail("%s: %s", path, strerror(errno));
    ssize_t got = getdelim(text, &n, 0, f); /* up to a NUL or the end */
    bool bad = ferror(f);
    fclose(f);
    if (bad || (got < 0 && !*text && !(*text = calloc(1, 1))))
        return fail("%s: %s", path, strerror(errno));
    if (got < 0)
        **text = 0;
    return DONE;
}

int read_rules(const char *path, rules *r)
{
    *r = (rules){.path = path};
    TRY(read_whole(path, &r->text));
    int lines = 1;
    for (const char *p = r->text; *p; p++)
        lines += *p == '\n';
    r->list = malloc((size_t)lines * sizeof *r->list);
    if (!r->list)
        return fail("cannot allocate memory for %d rules", lines);
    line_words w = {.r = r};
    for (char *at = r->text; at;) {
        char *end = strchr(at, '\n');
        if (end)
            *end = 0;
        w.line++;
        TRY(split_words(&w, at));
        if (w.n)
            TRY(read_rule(&w, &r->list[r->n++]));
        at = end ? end + 1 : NULL;
    }
    return DONE;
}

void free_rules(rules *r)
{
    free(r->list);
    free(r->text);
    *r = (rules){0};
}
