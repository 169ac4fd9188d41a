/* json.c - a JSON scanner for headers, one token at a time, without a tree.
 *
 * Input is untrusted: strings must be UTF-8 without NUL, numbers must fit, nesting is bounded.
 * A string never grows when it is decoded, nor when the result is quoted again. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 100 };

bool tni_json_wrong(tni_json *j, const char *why)
{
    j->why = why;
    return false;
}

static int peek(const tni_json *j)
{
    return j->at < j->length ? (uint8_t)j->text[j->at] : -1;
}

static bool digit(int c)
{
    return c >= '0' && c <= '9';
}

bool tni_json_sign(tni_json *j, char c)
{
    while (peek(j) == ' ' || peek(j) == '\t' || peek(j) == '\r' || peek(j) == '\n')
        j->at++;
    bool is = peek(j) == (uint8_t)c;
    j->at += is;
    return is;
}

/* ---- strings ---- */

static int put_letter(char *to, uint32_t c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, c >>= 6)
        to[i] = (char)(0x80 | (c & 0x3f));
    to[0] = (char)(first[n] | c);
    return n;
}

/* The four hex digits after "\u". */
static bool take_hex(tni_json *j, uint32_t *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, j->at++) {
        int c = peek(j), low = c | 32;
        if (!digit(c) && !(low >= 'a' && low <= 'f'))
            return tni_json_wrong(j, "\\u needs four digits");
        *out = *out << 4 | (uint32_t)(digit(c) ? c - '0' : low - 'a' + 10);
    }
    return true;
}

/* The character after a backslash. */
static bool take_escape(tni_json *j, uint32_t *c)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    int sign = peek(j);
    const char *at = sign > 0 ? strchr(from, sign) : NULL;
    uint32_t low;
    if (sign != 'u' && !at)
        return tni_json_wrong(j, "unknown escape");
    j->at++;
    *c = at ? (uint8_t)to[at - from] : 0;
    if (at)
        return true;
    if (!take_hex(j, c))
        return false;
    if (*c >= 0xd800 && *c < 0xdc00) {
        if (peek(j) != '\\' || j->at + 1 >= j->length || j->text[j->at + 1] != 'u')
            return tni_json_wrong(j, "unpaired surrogate");
        j->at += 2;
        if (!take_hex(j, &low))
            return false;
        if (low < 0xdc00 || low > 0xdfff)
            return tni_json_wrong(j, "unpaired surrogate");
        *c = 0x10000 + ((*c - 0xd800) << 10) + (low - 0xdc00);
    } else if (*c >= 0xdc00 && *c < 0xe000) {
        return tni_json_wrong(j, "unpaired surrogate");
    }
    return *c ? true : tni_json_wrong(j, "a string contains \\u0000");
}

/* Scan a string, decoding it to out unless that is NULL; *n is the decoded length. */
static bool take_text(tni_json *j, char *out, int64_t *n)
{
    const char *end = j->text + j->length;
    *n = 0;
    if (!tni_json_sign(j, '"'))
        return tni_json_wrong(j, "expected a string");
    while (peek(j) != '"') {
        char made[4];
        int c = peek(j), size;
        if (c < ' ')
            return tni_json_wrong(j, c < 0 ? "unterminated string"
                                           : "control character in a string");
        if (c == '\\') {
            uint32_t escaped = 0;
            j->at++;
            if (!take_escape(j, &escaped))
                return false;
            size = put_letter(made, escaped);
        } else {
            size = tni_utf8_letter(j->text + j->at, end);
            if (size == 0)
                return tni_json_wrong(j, "invalid UTF-8");
            memcpy(made, j->text + j->at, (size_t)size);
            j->at += size;
        }
        if (out)
            memcpy(out + *n, made, (size_t)size);
        *n += size;
    }
    j->at++;
    return true;
}

bool tni_json_string(tni_json *j, tni_arena *arena, const char **out)
{
    tni_json again = *j;
    int64_t n;
    if (!take_text(j, NULL, &n))
        return false;
    char *text = tni_arena_take(arena, (size_t)n + 1);
    if (!text)
        return tni_json_wrong(j, NULL);
    (void)take_text(&again, text, &n);
    text[n] = 0;
    *out = text;
    return true;
}

int64_t tni_json_quote(char *out, const char *text)
{
    static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt", hex[] = "0123456789ABCDEF";
    int64_t n = 0;
    char made[6] = "\\u00";
    if (out)
        out[0] = '"';
    for (n = 1; *text; text++) {
        const uint8_t c = (uint8_t)*text;
        const char *at = strchr(from, c);
        int size = at ? 2 : c < ' ' ? 6 : 1;
        made[1] = at ? to[at - from] : 'u';
        made[4] = hex[c >> 4];
        made[5] = hex[c & 15];
        if (out)
            memcpy(out + n, size == 1 ? text : made, (size_t)size);
        n += size;
    }
    if (out)
        out[n] = '"';
    return n + 1;
}

/* ---- numbers and other values ---- */

bool tni_json_integer(tni_json *j, int64_t *out)
{
    bool minus = tni_json_sign(j, '-');
    int64_t x = 0;
    if (!digit(peek(j)) ||
        (peek(j) == '0' && j->at + 1 < j->length && digit(j->text[j->at + 1])))
        return tni_json_wrong(j, "expected an integer");
    for (; digit(peek(j)); j->at++)
        if (!tni_mul(x, 10, &x) || !tni_add(x, minus ? '0' - peek(j) : peek(j) - '0', &x))
            return tni_json_wrong(j, "integer exceeds 64 bits");
    if (peek(j) == '.' || (peek(j) | 32) == 'e')
        return tni_json_wrong(j, "expected an integer");
    *out = x;
    return true;
}

static bool skip_digits(tni_json *j)
{
    int64_t from = j->at;
    while (digit(peek(j)))
        j->at++;
    return j->at > from ? true : tni_json_wrong(j, "expected a digit");
}

static bool skip_number(tni_json *j)
{
    if (peek(j) == '-')
        j->at++;
    if (peek(j) == '0')
        j->at++;
    else if (!skip_digits(j))
        return false;
    if (peek(j) == '.') {
        j->at++;
        if (!skip_digits(j))
            return false;
    }
    if (peek(j) >= 0 && (peek(j) | 32) == 'e') {
        j->at++;
        if (peek(j) == '+' || peek(j) == '-')
            j->at++;
        return skip_digits(j);
    }
    return true;
}

static bool skip_word(tni_json *j)
{
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < COUNT(words); i++) {
        int64_t n = (int64_t)strlen(words[i]);
        if (n <= j->length - j->at && !memcmp(j->text + j->at, words[i], (size_t)n)) {
            j->at += n;
            return true;
        }
    }
    return tni_json_wrong(j, "expected a value");
}

static bool skip(tni_json *j, int depth)
{
    int64_t n;
    if (depth > DEEPEST)
        return tni_json_wrong(j, "nested too deeply");
    bool object = tni_json_sign(j, '{');
    if (object || tni_json_sign(j, '[')) {
        const char end = object ? '}' : ']';
        if (tni_json_sign(j, end))
            return true;
        do {
            if (object && (!take_text(j, NULL, &n) || !tni_json_sign(j, ':')))
                return j->why ? false : tni_json_wrong(j, "expected \"name\":");
            if (!skip(j, depth + 1))
                return false;
        } while (tni_json_sign(j, ','));
        if (tni_json_sign(j, end))
            return true;
        return tni_json_wrong(j, object ? "expected ',' or '}'" : "expected ',' or ']'");
    }
    if (peek(j) == '"')
        return take_text(j, NULL, &n);
    return peek(j) == '-' || digit(peek(j)) ? skip_number(j) : skip_word(j);
}

bool tni_json_skip(tni_json *j)
{
    return skip(j, 0);
}

/* ---- an object of strings ---- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool names_differ(tni_json *j, const char **names, int64_t n)
{
    qsort(names, (size_t)n, sizeof *names, by_text);
    for (int64_t i = 1; i < n; i++)
        if (!strcmp(names[i - 1], names[i]))
            return tni_json_wrong(j, "duplicate key");
    return true;
}

/* Skip members whose values are strings, up to the closing brace, and count them. */
static bool count_members(tni_json *j, int64_t *count)
{
    int64_t n;
    bool more = !tni_json_sign(j, '}');
    for (*count = 0; more; ++*count) {
        if (!take_text(j, NULL, &n))
            return false;
        if (!tni_json_sign(j, ':'))
            return tni_json_wrong(j, "expected \"name\":");
        if (!take_text(j, NULL, &n))
            return false;
        more = tni_json_sign(j, ',');
        if (!more && !tni_json_sign(j, '}'))
            return tni_json_wrong(j, "expected ',' or '}'");
    }
    return true;
}

/* Scan the members again, which are known to be valid, and write them quoted to out; false: out
 * of memory. */
static bool copy_members(tni_json *j, int64_t count, tni_arena *arena, const char **names,
                         char *out)
{
    const char *value;
    *out++ = '{';
    for (int64_t i = 0; i < count; i++) {
        bool named = tni_json_string(j, arena, &names[i]);
        (void)tni_json_sign(j, ':');
        if (!named || !tni_json_string(j, arena, &value))
            return false;
        if (i > 0)
            *out++ = ',';
        out += tni_json_quote(out, names[i]);
        *out++ = ':';
        out += tni_json_quote(out, value);
        (void)tni_json_sign(j, ',');
    }
    memcpy(out, "}", 2);
    return true;
}

bool tni_json_texts(tni_json *j, tni_arena *arena, const char **out)
{
    tni_arena scratch = {0};
    int64_t count = 0;
    if (!tni_json_sign(j, '{'))
        return tni_json_wrong(j, "expected an object");
    tni_json again = *j;
    if (!count_members(j, &count))
        return false;
    char *text = tni_arena_take(arena, (size_t)(j->at - again.at) + 2);
    const char **names = tni_arena_rows(&scratch, count + 1, sizeof *names);
    bool good = text && names && copy_members(&again, count, &scratch, names, text)
                    ? names_differ(j, names, count)
                    : tni_json_wrong(j, NULL);
    tni_arena_free(&scratch);
    if (good)
        *out = text;
    return good;
}
