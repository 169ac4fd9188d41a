/* text.c - messages for people, and numbers as text in both directions. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

static const char *about, *running = "";

void set_error_subject(const char *path)
{
    about = path;
}

void set_error_command(const char *name)
{
    running = name;
}

/* Bytes of the UTF-8 character at text, 1 to 4; 0 if it is invalid. */
static int letter(const char *text)
{
    const unsigned char *p = (const unsigned char *)text;
    int n = *p < 0x80 ? 1 : *p < 0xc2 || *p > 0xf4 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : 4;
    for (int i = 1; i < n; i++)
        if ((p[i] & 0xc0) != 0x80)
            return 0;
    bool wrong = (*p == 0xe0 && p[1] < 0xa0) || (*p == 0xed && p[1] >= 0xa0) ||
                 (*p == 0xf0 && p[1] < 0x90) || (*p == 0xf4 && p[1] >= 0x90);
    return wrong ? 0 : n;
}

const char *not_utf8(const char *text)
{
    for (int n; *text && (n = letter(text)) > 0;)
        text += n;
    return *text ? text : NULL;
}

/* True if the character of n bytes is invalid or a control character. */
static bool steers(const char *text, int n)
{
    unsigned char c = (unsigned char)*text, next = (unsigned char)text[n > 1];
    return n == 0 || c < ' ' || c == 0x7f || (c == 0xc2 && next < 0xa0);
}

void print_safe(void *file, const char *text)
{
    FILE *out = file;
    while (*text) {
        const char *end = text;
        int n = 0;
        while (*end && !steers(end, n = letter(end)))
            end += n;
        fwrite(text, 1, (size_t)(end - text), out);
        if (*end)
            fputc('?', out);
        text = *end ? end + (n ? n : 1) : end;
    }
}

void print_name(const char *text)
{
    print_safe(stdout, text);
}

int fail(const char *fmt, ...)
{
    char sentence[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, list);
    va_end(list);
    progress_end();
    fflush(stdout);
    bool named = !about || !strncmp(sentence, about, strlen(about));
    fputs("tenon: ", stderr);
    print_safe(stderr, named ? "" : about);
    fputs(named ? "" : ": ", stderr);
    print_safe(stderr, sentence);
    fputc('\n', stderr);
    return FAILED;
}

/* Print the library's message, with the name of the call replaced by that of the command. */
int fail_call(const char *call)
{
    const char *why = tn_error();
    const size_t n = strcspn(call, "(");
    if (n > 3 && !strncmp(call, "tn_", 3) && !strncmp(why, call + 3, n - 3) &&
        why[n - 3] == ':')
        return fail("%s%s", running, why + n - 3);
    return fail("%s", why);
}

int usage(const args *a, const char *fmt, ...)
{
    char sentence[1024];
    va_list list;
    va_start(list, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, list);
    va_end(list);
    fflush(stdout);
    fprintf(stderr, "tenon %s: ", a->command->name);
    print_safe(stderr, sentence);
    fprintf(stderr, "\nusage: tenon %s%s%s\n", a->command->name, *a->command->line ? " " : "",
            a->command->line);
    return USAGE;
}

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *bytes_text(char buf[32], double bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    int i = 0;
    while (bytes >= 999.5 && i < 4) {
        bytes /= 1000;
        i++;
    }
    snprintf(buf, 32, i && bytes < 99.95 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
    return buf;
}

const char *shape_text(char buf[512], int ndim, const int64_t *shape)
{
    int n = snprintf(buf, 512, "(");
    for (int i = 0; i < ndim && n < 480; i++)
        n += snprintf(buf + n, (size_t)(512 - n), "%s%lld", i ? ", " : "", (long long)shape[i]);
    snprintf(buf + n, (size_t)(512 - n), ndim == 1 ? ",)" : ")");
    return buf;
}

void json_text(void *out, const char *text)
{
    FILE *f = out;
    fputc('"', f);
    for (int n; *text; text += n ? n : 1) {
        n = letter(text);
        if (*text == '"' || *text == '\\')
            fprintf(f, "\\%c", *text);
        else if (n == 1 && *text < ' ')
            fprintf(f, "\\u%04x", *text);
        else if (n)
            fwrite(text, 1, (size_t)n, f);
        else
            fputs("\\ufffd", f);
    }
    fputc('"', f);
}

int read_list(const args *a, const char *what, const char *text, int capacity, int64_t *list,
              int *n)
{
    const char *at = text;
    *n = 0;
    for (;;) {
        char *end;
        errno = 0;
        long long x = strtoll(at, &end, 10);
        if (end == at || errno || (*end && *end != ','))
            return usage(a, "%s: got \"%s\", expected integers separated by commas", what,
                         text);
        if (*n == capacity && capacity == 1)
            return usage(a, "%s: got \"%s\", expected one integer", what, text);
        if (*n == capacity)
            return usage(a, "%s: got \"%s\", expected at most %d integers", what, text,
                         capacity);
        list[(*n)++] = x;
        if (!*end)
            return DONE;
        at = end + 1;
    }
}

bool whole_number(const char *text, const char **end, int64_t *x)
{
    char *stop;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    *x = strtoll(text, &stop, 10);
    *end = stop;
    return errno == 0;
}

int read_size(const char *text, int64_t *size)
{
    static const char units[] = "kmgt";
    char *end;
    double x = strtod(text, &end), unit = 1;
    if (end == text || !(x >= 0))
        return USAGE;
    char letter = (char)(*end | 32);
    for (int i = 0; i < 4; i++)
        if (letter == units[i]) {
            for (int j = 0; j <= i; j++)
                unit *= 1024;
            end++;
            break;
        }
    if (!strcmp(end, "iB"))
        end += 2;
    else if (*end == 'B')
        end++;
    if (*end || x * unit > 9e18)
        return USAGE;
    *size = (int64_t)(x * unit);
    return DONE;
}

bool is_number(const char *text)
{
    char *end;
    if (!*text || !strchr("+-.0123456789in", *text))
        return false;
    strtod(text, &end);
    return end != text && !*end;
}

/* A number as written by the user: integers as i64, or u64 if that is needed. */
typedef struct written {
    tn_dtype dtype;
    int64_t whole;
    uint64_t beyond;
    double real;
} written;

static bool read_written(const char *text, written *x)
{
    char *end;
    int base = strpbrk(text, "xX") ? 16 : 10;
    x->real = strtod(text, &end);
    if (end == text || *end)
        return false;
    errno = 0;
    x->dtype = TN_I64;
    x->whole = strtoll(text, &end, base);
    if (errno && x->whole > 0) {
        errno = 0;
        x->dtype = TN_U64;
        x->beyond = strtoull(text, &end, base);
    }
    if (end == text || *end || errno)
        x->dtype = TN_F64;
    return true;
}

bool is_whole(const char *text)
{
    written x;
    return read_written(text, &x) && x.dtype != TN_F64;
}

bool is_too_long(const char *text)
{
    written x;
    const char *digits = text + (*text == '-' || *text == '+');
    bool hex = !strncmp(digits, "0x", 2) || !strncmp(digits, "0X", 2);
    bool whole =
        *digits && (hex ? strspn(digits + 2, "0123456789abcdefABCDEF") == strlen(digits + 2)
                        : strspn(digits, "0123456789") == strlen(digits));
    return whole && read_written(text, &x) && x.dtype == TN_F64;
}

/* The kind of a dtype is the first letter of its name. */
bool is_integer(tn_dtype dtype)
{
    char letter = *tn_dtype_name(dtype);
    return letter == 'i' || letter == 'u';
}

bool is_complex(tn_dtype dtype)
{
    return *tn_dtype_name(dtype) == 'c';
}

/* Check that an element still equals the number x it was converted from: floats may round,
 * integers must not wrap. */
static int holds(const written *x, const tn_tensor *element, bool *held)
{
    tn_tensor to;
    written back = {0};
    bool rounds = element->dtype != TN_BOOL && !is_integer(element->dtype);
    LIB(tn_init(&to, &back.real, TN_F64, 0, NULL));
    LIB(tn_cast(&to, element));
    LIB(tn_init(&to, &back.whole, TN_I64, 0, NULL));
    LIB(tn_cast(&to, element));
    if (rounds)
        *held = isfinite(back.real) || !isfinite(x->real);
    else if (x->dtype == TN_I64)
        *held = back.whole == x->whole && (x->whole >= 0 || element->dtype != TN_U64);
    else
        *held = x->dtype == TN_U64 ? element->dtype == TN_U64 : back.real == x->real;
    return DONE;
}

int read_number(const char *text, tn_dtype dtype, void *element)
{
    tn_tensor from, to;
    written x;
    bool held = false;
    if (!read_written(text, &x))
        return fail("\"%s\" is not a number", text);
    void *at = x.dtype == TN_I64   ? (void *)&x.whole
               : x.dtype == TN_U64 ? (void *)&x.beyond
                                   : (void *)&x.real;
    LIB(tn_init(&from, at, x.dtype, 0, NULL));
    LIB(tn_init(&to, element, dtype, 0, NULL));
    LIB(tn_cast(&to, &from));
    TRY(holds(&x, &to, &held));
    return held ? DONE : fail("%s does not fit in %s", text, tn_dtype_name(dtype));
}

int read_axis(const args *a, int64_t axis, int ndim, int *dim)
{
    int64_t at = axis < 0 ? axis + ndim : axis;
    if (at < 0 || at >= ndim)
        return fail("%s: axis %lld is out of range for a %d-d tensor", a->command->name,
                    (long long)axis, ndim);
    *dim = (int)at;
    return DONE;
}
