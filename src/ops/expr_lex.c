/* expr_lex.c - the tokens of expressions: names, words, numbers and constants. */
#include "expr_parse.h"

#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const reserved[] = {"and", "or", "not", "if", "else", "in", "is", "lambda"};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

int tni_expr_name_size(const char *s)
{
    int n = 0;
    while (is_letter(s[n]) || (n && tni_expr_is_digit(s[n])))
        n++;
    return n;
}

bool tni_expr_is_word(const char *s, int size, const char *word)
{
    return size > 0 && *s == *word && !strncmp(s, word, (size_t)size) && word[size] == 0;
}

bool tni_expr_is_reserved(const char *s, int size)
{
    bool found = false;
    for (int i = 0; i < COUNT(reserved); i++)
        found |= tni_expr_is_word(s, size, reserved[i]);
    return found;
}

bool tni_expr_is_name(const char *s)
{
    const int n = tni_expr_name_size(s);
    return n > 0 && s[n] == 0 && !tni_expr_is_reserved(s, n);
}

tn_status tni_expr_fail_token(const tni_expr_parser *p)
{
    const char c = p->text[p->pos];
    const int size = tni_expr_name_size(p->text + p->pos);
    if (!c)
        return tni_fail_at(TN_EFORMAT, p->column, "%s: unexpected end of the text at column %d",
                           p->call, p->column);
    return tni_fail_at(TN_EFORMAT, p->column, "%s: unexpected %.*s at column %d", p->call,
                       size ? size : 1, p->text + p->pos, p->column);
}

int tni_expr_blanks(const char *s)
{
    return (int)strspn(s, " \t\n\r");
}

void tni_expr_next_token(tni_expr_parser *p)
{
    p->pos += tni_expr_blanks(p->text + p->pos);
    p->column = p->pos + 1;
}

static tn_status fail_number(const tni_expr_parser *p)
{
    return tni_fail_at(TN_EFORMAT, p->column, "%s: invalid number at column %d", p->call,
                       p->column);
}

/* The double nearest to a decimal number, independent of the locale's decimal point. */
static double decimal(const char *s, size_t size)
{
    char text[TN_EXPR_TEXT + 32];
    const char *point = localeconv()->decimal_point;
    size_t n = 0;
    for (size_t i = 0; i < size; i++)
        if (s[i] == '.')
            for (const char *c = point; *c && n < sizeof text - 1; c++)
                text[n++] = *c;
        else
            text[n++] = s[i];
    text[n] = 0;
    return strtod(text, NULL);
}

bool tni_expr_read_digits(tni_expr_parser *p, int base, int64_t *value, int *digits)
{
    bool fits = true;
    *value = 0;
    *digits = 0;
    for (;; p->pos++, ++*digits) {
        const char c = p->text[p->pos];
        const int d = tni_expr_is_digit(c)   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : 99;
        if (d >= base)
            return fits;
        fits = fits && tni_mul(*value, base, value) && tni_add(*value, d, value);
    }
}

tn_status tni_expr_read_number(tni_expr_parser *p, tni_expr_item *item)
{
    *item = (tni_expr_item){.kind = TNI_EXPR_NUMBER, .column = p->column, .whole = true};
    const char *s = p->text + p->pos;
    int digits;
    const char mark = s[0] == '0' ? (char)(s[1] | 0x20) : 0;
    if (mark == 'x' || mark == 'b') {
        p->pos += 2;
        item->beyond = !tni_expr_read_digits(p, mark == 'x' ? 16 : 2, &item->i, &digits);
        if (!digits)
            return fail_number(p);
    } else {
        item->beyond = !tni_expr_read_digits(p, 10, &item->i, &digits);
        int more = 0;
        if (p->text[p->pos] == '.') {
            int64_t rest;
            p->pos++;
            tni_expr_read_digits(p, 10, &rest, &more);
            item->whole = false;
        }
        if (digits + more == 0)
            return fail_number(p);
        const char e = p->text[p->pos];
        if (e == 'e' || e == 'E') {
            int at = p->pos + 1, n = 0;
            at += p->text[at] == '+' || p->text[at] == '-';
            while (tni_expr_is_digit(p->text[at + n]))
                n++;
            if (n == 0)
                return fail_number(p);
            p->pos = at + n;
            item->whole = false;
        }
        item->f = decimal(s, (size_t)(p->text + p->pos - s));
        if (p->text[p->pos] == 'j' || p->text[p->pos] == 'J') {
            p->pos++;
            item->imaginary = true;
        }
    }
    if (item->whole && !item->imaginary)
        item->f = (double)item->i;
    if (is_letter(p->text[p->pos]) || tni_expr_is_digit(p->text[p->pos]) ||
        p->text[p->pos] == '.')
        return fail_number(p);
    return TN_OK;
}

bool tni_expr_read_constant(tni_expr_parser *p, const char *s, int size, tni_expr_item *item)
{
    static const struct {
        const char *word;
        double value;
        bool truth;
    } constants[] = {{"pi", 3.14159265358979323846, false},
                     {"inf", 1.0 / 0.0, false},
                     {"nan", (double)NAN, false},
                     {"true", 1, true},
                     {"false", 0, true},
                     {"True", 1, true},
                     {"False", 0, true}};
    for (int i = 0; i < COUNT(constants); i++)
        if (tni_expr_is_word(s, size, constants[i].word)) {
            *item = (tni_expr_item){
                .kind = TNI_EXPR_NUMBER, .column = p->column, .f = constants[i].value};
            item->truth = constants[i].truth;
            p->pos += size;
            return true;
        }
    return false;
}
