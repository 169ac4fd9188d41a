/* kv_text.c - key-values as text: JSON in and out, "key=text", and lines for people. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"

enum { SHOWN = 6 }; /* list elements printed in lines for people */

/* ---- values as bytes ---- */

static void put(FILE *f, uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(x >> 8 * i & 255), f);
}

/* Write text as a value of the type; returns an error message or NULL. */
static const char *put_number(FILE *f, uint32_t type, const char *text)
{
    const int width = kv_width(type);
    const char *name = kv_types[type];
    char *end;
    errno = 0;
    if (type == KV_BOOL) {
        bool yes = !strcmp(text, "true");
        put(f, yes, 1);
        return yes || !strcmp(text, "false") ? NULL : "is not true or false";
    }
    if (name[0] == 'f') {
        double x = strtod(text, &end);
        float single = (float)x;
        uint64_t bits = 0;
        memcpy(&bits, width == 4 ? (void *)&single : (void *)&x, (size_t)width);
        put(f, bits, width);
        bool lost = width == 4 && isfinite(x) && !isfinite(single);
        return end == text || *end ? "is not a number" : lost ? "is out of range" : NULL;
    }
    bool negative = text[0] == '-', fits;
    int64_t i = strtoll(text, &end, 10);
    if (name[0] == 'u') {
        errno = 0;
        uint64_t u = strtoull(text, &end, 10);
        fits = !errno && !negative && (width == 8 || u >> 8 * width == 0);
        put(f, u, width);
    } else {
        int64_t most = width == 8 ? INT64_MAX : (INT64_C(1) << (8 * width - 1)) - 1;
        fits = !errno && i <= most && i >= -most - 1;
        put(f, (uint64_t)i, width);
    }
    return end == text || *end ? "is not an integer" : fits ? NULL : "is out of range";
}

static const char *put_scalar(FILE *f, uint32_t type, const char *text)
{
    if (type != KV_TEXT)
        return put_number(f, type, text);
    put(f, strlen(text), 8);
    fputs(text, f);
    return NULL;
}

static int find_type(const char *name, size_t n)
{
    for (int i = 0; i < 13; i++)
        if (i != KV_LIST && strlen(kv_types[i]) == n && !strncmp(name, kv_types[i], n))
            return i;
    return -1;
}

int kvs_set(kvs *ks, const char *pair)
{
    const char *equals = strchr(pair, '='), *text = equals + 1, *colon = strchr(text, ':');
    char *key = strndup(pair, (size_t)(equals - pair)), *bytes = NULL;
    size_t size = 0;
    int64_t at = key ? kvs_find(ks, key) : -1;
    int type = at >= 0 ? (int)kv_load(ks->list[at].value, 4) : KV_TEXT;
    int said = colon ? find_type(text, (size_t)(colon - text)) : -1;
    if (said >= 0 && (at < 0 || said == type)) {
        type = said;
        text = colon + 1;
    }
    FILE *f = key && type != KV_LIST ? open_memstream(&bytes, &size) : NULL;
    if (!f) {
        int code = type == KV_LIST ? fail("%s is a list; use --kv FILE to set lists", key)
                                   : fail("out of memory");
        free(key);
        return code;
    }
    put(f, (uint64_t)type, 4);
    const char *why = put_scalar(f, (uint32_t)type, text);
    bool bad = fclose(f) != 0;
    if (why || bad) {
        int code =
            bad ? fail("out of memory")
                : fail("%s: \"%s\" %s; it is of type %s", key, text, why, kv_types[type]);
        free(key);
        free(bytes);
        return code;
    }
    return kvs_put(ks, key, (uint8_t *)bytes, size);
}

/* ---- JSON input ---- */

typedef struct scan {
    const char *path, *text, *at;
    const char *why;
} scan;

static bool wrong(scan *s, const char *why)
{
    s->why = s->why ? s->why : why;
    return false;
}

static bool take(scan *s, char c)
{
    while (*s->at && strchr(" \t\r\n", *s->at))
        s->at++;
    bool is = *s->at == c;
    s->at += is;
    return is;
}

static void put_letter(FILE *f, uint32_t c)
{
    int n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t first[] = {0, 0, 0xc0, 0xe0, 0xf0};
    fputc((int)(n == 1 ? c : first[n] | c >> 6 * (n - 1)), f);
    for (int i = n - 2; i >= 0; i--)
        fputc((int)(0x80 | (c >> 6 * i & 0x3f)), f);
}

static uint32_t take_hex(scan *s)
{
    char digits[5] = "";
    for (int i = 0; i < 4 && isxdigit((unsigned char)*s->at); i++)
        digits[i] = *s->at++;
    return strlen(digits) == 4 ? (uint32_t)strtoul(digits, NULL, 16) : UINT32_MAX;
}

static bool take_escape(scan *s, FILE *f)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = *s->at ? strchr(from, *s->at) : NULL;
    if (known) {
        s->at++;
        fputc(to[known - from], f);
        return true;
    }
    if (*s->at != 'u')
        return wrong(s, "unknown escape");
    s->at++;
    uint32_t c = take_hex(s), low;
    if (c >= 0xd800 && c < 0xdc00 && !strncmp(s->at, "\\u", 2)) {
        s->at += 2;
        low = take_hex(s);
        c = low >= 0xdc00 && low < 0xe000 ? 0x10000 + ((c - 0xd800) << 10) + low - 0xdc00 : 0;
    }
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return wrong(s, "invalid \\u escape");
    put_letter(f, c);
    return true;
}

/* Read a string, which the caller frees; NULL: there is none, or it is invalid. */
static char *take_text(scan *s)
{
    char *out = NULL;
    size_t n;
    if (!take(s, '"'))
        return NULL;
    FILE *f = open_memstream(&out, &n);
    bool ok = f != NULL;
    while (ok && *s->at && *s->at != '"')
        ok = *s->at == '\\' ? (s->at++, take_escape(s, f)) : fputc(*s->at++, f) != EOF;
    if (f && fclose(f) != 0)
        ok = false;
    ok = ok && take(s, '"');
    if (!ok) {
        wrong(s, "unterminated string");
        free(out);
    }
    return ok ? out : NULL;
}

/* Read a number, true or false as text, or a string; the caller frees it. */
static char *take_word(scan *s)
{
    char *text = take_text(s);
    if (text || s->why)
        return text;
    size_t n = strcspn(s->at, ",]} \t\r\n");
    text = n ? strndup(s->at, n) : NULL;
    s->at += n;
    if (!text)
        wrong(s, "missing value");
    return text;
}

static bool take_scalar(scan *s, FILE *f, uint32_t type)
{
    take(s, ' ');
    bool quoted = *s->at == '"', number = kv_types[type][0] == 'f';
    if (quoted != (type == KV_TEXT) && !(quoted && number)) /* "nan", "inf" */
        return wrong(s, quoted ? "expected a number, got a string"
                               : "expected a string, got a number");
    char *word = take_word(s);
    const char *why = word ? put_scalar(f, type, word) : "missing value";
    free(word);
    return why ? wrong(s, why) : true;
}

static bool take_list(scan *s, FILE *f, uint32_t type)
{
    char *items = NULL;
    size_t size;
    uint64_t n = 0;
    FILE *list = open_memstream(&items, &size);
    bool ok = list != NULL;
    if (ok && !take(s, ']'))
        do {
            ok = take_scalar(s, list, type);
            n++;
        } while (ok && take(s, ','));
    if (ok && n && !take(s, ']'))
        ok = wrong(s, "unterminated list");
    if (list && fclose(list) != 0)
        ok = false;
    put(f, KV_LIST, 4);
    put(f, type, 4);
    put(f, n, 8);
    if (ok)
        fwrite(items, 1, size, f);
    free(items);
    return ok;
}

/* Read {"u32": 5} or {"u32": [1, 2]} after the opening brace. */
static bool take_typed(scan *s, FILE *f)
{
    char *name = take_text(s);
    int type = name ? find_type(name, strlen(name)) : -1;
    free(name);
    if (type < 0)
        return wrong(s, "unknown .gguf type");
    if (!take(s, ':'))
        return wrong(s, "expected ':'");
    bool ok;
    if (take(s, '[')) {
        ok = take_list(s, f, (uint32_t)type);
    } else {
        put(f, (uint64_t)type, 4);
        ok = take_scalar(s, f, (uint32_t)type);
    }
    return ok && (take(s, '}') || wrong(s, "expected '}'"));
}

static bool take_value(scan *s, FILE *f)
{
    if (take(s, '{'))
        return take_typed(s, f);
    if (*s->at == '-' || isdigit((unsigned char)*s->at))
        return wrong(s, "a number needs its type: {\"u32\": 5}");
    uint32_t type = *s->at == '"' ? KV_TEXT : KV_BOOL;
    put(f, type, 4);
    return take_scalar(s, f, type);
}

static bool take_pair(scan *s, kvs *ks)
{
    char *key = take_text(s), *bytes = NULL;
    size_t size = 0;
    if (!key)
        return wrong(s, "expected a key");
    FILE *f = open_memstream(&bytes, &size);
    bool ok = f && (take(s, ':') || wrong(s, "expected ':'"));
    if (ok && kvs_find(ks, key) >= 0)
        ok = wrong(s, "duplicate key");
    ok = ok && take_value(s, f);
    if (f && fclose(f) != 0)
        ok = false;
    if (ok)
        return kvs_put(ks, key, (uint8_t *)bytes, size) == DONE;
    free(key);
    free(bytes);
    return wrong(s, "out of memory");
}

int kvs_read_json(kvs *ks, const char *path, const char *text)
{
    scan s = {path, text, text, NULL};
    if (not_utf8(text))
        return fail("%s: byte %lld: not UTF-8", path, (long long)(not_utf8(text) - text) + 1);
    bool ok = take(&s, '{') || wrong(&s, "expected an object");
    if (ok && !take(&s, '}')) {
        do
            ok = take_pair(&s, ks);
        while (ok && take(&s, ','));
        ok = ok && (take(&s, '}') || wrong(&s, "expected '}'"));
    }
    if (ok)
        ok = !take(&s, ' ') && (!*s.at || wrong(&s, "trailing text after the object"));
    return ok ? DONE
              : fail("%s: byte %lld: %s", path, (long long)(s.at - text) + 1,
                     s.why ? s.why : "out of memory");
}

/* ---- output ---- */

static void print_number(FILE *out, uint32_t type, const uint8_t *at)
{
    const int width = kv_width(type);
    uint64_t bits = kv_load(at, width);
    if (type == KV_BOOL) {
        fputs(bits ? "true" : "false", out);
    } else if (kv_types[type][0] == 'f') {
        float single;
        double x;
        memcpy(&single, at, sizeof single);
        memcpy(&x, width == 8 ? at : (const uint8_t *)"\0\0\0\0\0\0\0", sizeof x);
        x = width == 8 ? x : (double)single;
        if (isfinite(x))
            fprintf(out, width == 8 ? "%.17g" : "%.9g", x);
        else
            fputs(isnan(x) ? "\"nan\"" : x > 0 ? "\"inf\"" : "\"-inf\"", out);
    } else if (kv_types[type][0] == 'u') {
        fprintf(out, "%llu", (unsigned long long)bits);
    } else {
        int shift = 64 - 8 * width;
        fprintf(out, "%lld", (long long)((int64_t)(bits << shift) >> shift));
    }
}

/* Print one value; returns its size in bytes. */
static size_t print_scalar(FILE *out, uint32_t type, const uint8_t *at)
{
    if (type != KV_TEXT) {
        print_number(out, type, at);
        return (size_t)kv_width(type);
    }
    size_t n = (size_t)kv_load(at, 8);
    char *text = strndup((const char *)at + 8, n); /* up to a NUL */
    json_text(out, text ? text : "");
    free(text);
    return 8 + n;
}

static void print_list(FILE *out, const uint8_t *at, uint64_t most)
{
    uint32_t type = (uint32_t)kv_load(at, 4);
    uint64_t n = kv_load(at + 4, 8);
    at += 12;
    fputc('[', out);
    for (uint64_t i = 0; i < n && i < most; i++) {
        fputs(i ? ", " : "", out);
        at += print_scalar(out, type, at);
    }
    fputs(n > most ? ", ...]" : "]", out);
}

void kvs_print_json(void *file, const kvs *ks)
{
    FILE *out = file;
    fputc('{', out);
    for (int64_t i = 0; i < ks->n; i++) {
        const uint8_t *at = ks->list[i].value;
        uint32_t type = (uint32_t)kv_load(at, 4);
        bool plain = type == KV_TEXT || type == KV_BOOL;
        fputs(i ? ",\n " : "\n ", out);
        json_text(out, ks->list[i].key);
        fputs(": ", out);
        if (!plain)
            fprintf(out, "{\"%s\": ", kv_types[type == KV_LIST ? kv_load(at + 4, 4) : type]);
        if (type == KV_LIST)
            print_list(out, at + 4, UINT64_MAX);
        else
            print_scalar(out, type, at + 4);
        fputs(plain ? "" : "}", out);
    }
    fputs("\n}\n", out);
}

void kvs_print_short(void *file, const kvs *ks)
{
    FILE *out = file;
    fputc('{', out);
    for (int64_t i = 0; i < ks->n; i++) {
        const uint8_t *at = ks->list[i].value;
        fputs(i ? ", " : "", out);
        json_text(out, ks->list[i].key);
        fputs(": ", out);
        if (kv_load(at, 4) != KV_LIST)
            print_scalar(out, (uint32_t)kv_load(at, 4), at + 4);
        else
            fprintf(out, "\"%llu of %s\"", (unsigned long long)kv_load(at + 8, 8),
                    kv_types[kv_load(at + 4, 4)]);
    }
    fputc('}', out);
}

void kvs_print(const kvs *ks)
{
    for (int64_t i = 0; i < ks->n; i++) {
        const uint8_t *at = ks->list[i].value;
        uint32_t type = (uint32_t)kv_load(at, 4);
        print_name(ks->list[i].key);
        printf(": %s", kv_types[type == KV_LIST ? kv_load(at + 4, 4) : type]);
        if (type == KV_LIST)
            printf("[%llu] ", (unsigned long long)kv_load(at + 8, 8));
        else
            printf(" ");
        if (type == KV_LIST)
            print_list(stdout, at + 4, SHOWN);
        else
            print_scalar(stdout, type, at + 4);
        printf("\n");
    }
}
