/* eval_text.c - splitting the text of an expression with reductions.
 *
 * Each reduction has an argument that is itself a text without reductions, and the text around
 * the reductions is one of their results.  Fusing changes no bit, so the parts give the bits of
 * the whole.  Reductions that differ only in blanks are one. */
#include "stream_eval.h"

#include <stdio.h>
#include <string.h>

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool in_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_' || c == '.';
}

/* The end of a call whose parenthesis opens at text; *comma is the first comma not nested in an
 * inner call, *commas their number. */
static const char *call_end(const char *text, const char **comma, int *commas)
{
    int depth = 0;
    *commas = 0;
    *comma = NULL;
    do {
        depth += (*text == '(') - (*text == ')');
        if (*text == ',' && depth == 1 && !(*commas)++)
            *comma = text;
    } while (text++, depth > 0);
    return text;
}

/* The end of the argument of the reduction whose parenthesis opens at `open`: the comma before
 * axis= or the end of the call; NULL: it is an op with several arguments. */
static const char *argument_end(const char *open, const char **end)
{
    const char *comma;
    int commas;
    *end = call_end(open, &comma, &commas);
    if (!commas)
        return *end - 1;
    const char *word = comma + 1 + strspn(comma + 1, " \t\r\n");
    const char *after = word + strcspn(word, "= \t\r\n");
    after += strspn(after, " \t\r\n");
    const bool axis = !strncmp(word, "axis", 4) && !in_name(word[4]);
    return commas == 1 && axis && after[0] == '=' && after[1] != '=' ? comma : NULL;
}

/* The end of a word and, if a reduction's call begins with it, the ends of the call's parts. */
typedef struct word {
    const char *after, *open; /* open NULL: not a reduction */
    const char *stop, *end;   /* ends of the argument and of the call */
} word;

static word read_word(const char *text)
{
    static const char *const names[] = {"sum", "prod", "mean", "min", "max", "any", "all"};
    word w = {.after = text};
    while (in_name(*w.after))
        w.after++;
    const size_t size = (size_t)(w.after - text);
    const char *open = w.after + strspn(w.after, " \t\r\n");
    for (int i = 0; i < COUNT(names) && *open == '('; i++)
        if (size == strlen(names[i]) && !memcmp(text, names[i], size))
            w.stop = argument_end(open, &w.end);
    w.open = w.stop ? open : NULL;
    w.after += size == 0;
    return w;
}

bool tni_eval_reduces(const char *text)
{
    while (*text) {
        const word w = read_word(text);
        if (w.open)
            return true;
        text = w.after;
    }
    return false;
}

/* True if two calls differ at most in blanks; a blank that separates two words counts. */
static bool same_call(const char *a, const char *a_end, const char *b, const char *b_end)
{
    char last = 0;
    for (;;) {
        const char *a_word = a, *b_word = b;
        while (a < a_end && is_blank(*a))
            a++;
        while (b < b_end && is_blank(*b))
            b++;
        if (a == a_end || b == b_end)
            return a == a_end && b == b_end;
        if (*a != *b || (in_name(last) && in_name(*a) && (a == a_word) != (b == b_word)))
            return false;
        last = *a;
        a++, b++;
    }
}

static tn_status add_reduction(tni_eval_text *t, const char *call, const word *w, int *number)
{
    char name[8] = "", argument[TN_EXPR_TEXT + 1];
    const size_t size = (size_t)(w->stop - w->open - 1);
    for (int i = 0; i < t->n; i++)
        if (same_call(t->of[i].text, t->of[i].text + t->of[i].size, call, w->end)) {
            *number = i;
            return TN_OK;
        }
    if (t->n == TNI_EVAL_REDUCTIONS)
        return tni_fail(TN_EUNSUPPORTED, "stream: expr: more than %d reductions",
                        TNI_EVAL_REDUCTIONS);
    tni_eval_reduction *r = &t->of[t->n];
    *r = (tni_eval_reduction){.text = call, .size = (int)(w->end - call)};
    memcpy(name, call, strcspn(call, " \t\r\n("));
    TRY(tn_reduction_parse(&r->op, name));
    memcpy(argument, w->open + 1, size);
    argument[size] = 0;
    TRY(tn_expr_parse(&r->argument, argument));
    *number = t->n++;
    return TN_OK;
}

tn_status tni_eval_split(tni_eval_text *t, const char *text)
{
    char around[TN_EXPR_TEXT + 1], *to = around;
    *t = (tni_eval_text){.n = 0};
    while (*text) {
        const word w = read_word(text);
        if (w.open) { /* the call is longer than the name that replaces it */
            int number = 0;
            TRY(add_reduction(t, text, &w, &number));
            to += sprintf(to, "_%d", number);
            text = w.end;
            continue;
        }
        memcpy(to, text, (size_t)(w.after - text));
        to += w.after - text;
        text = w.after;
    }
    *to = 0;
    return tn_expr_parse(&t->around, around);
}

void tni_eval_text_free(tni_eval_text *t)
{
    for (int i = 0; i < t->n; i++)
        tn_expr_free(t->of[i].argument);
    tn_expr_free(t->around);
}
