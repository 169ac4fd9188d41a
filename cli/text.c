/* text.c - sentences for people, and numbers as text in both directions. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli.h"

static const char *about;

void fail_about(const char *path)
{
    about = path;
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
    fprintf(stderr, "tenon: %s%s%s\n", named ? "" : about, named ? "" : ": ", sentence);
    return FAILED;
}

int usage(const args *a, const char *fmt, ...)
{
    va_list list;
    fflush(stdout);
    fprintf(stderr, "tenon %s: ", a->command->name);
    va_start(list, fmt);
    vfprintf(stderr, fmt, list);
    va_end(list);
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
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < ' ')
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
    fputc('"', f);
}

int read_list(const args *a, const char *what, const char *text, int room, int64_t *list,
              int *n)
{
    const char *at = text;
    *n = 0;
    for (;;) {
        char *end;
        errno = 0;
        long long x = strtoll(at, &end, 10);
        if (end == at || errno || (*end && *end != ','))
            return usage(a, "%s takes whole numbers with commas between, not \"%s\"", what,
                         text);
        if (*n == room)
            return usage(a, "%s has more than %d numbers", what, room);
        list[(*n)++] = x;
        if (!*end)
            return DONE;
        at = end + 1;
    }
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

int read_number(const char *text, tn_dtype dtype, void *element)
{
    tn_tensor from, to;
    char *end;
    errno = 0;
    int64_t whole = strtoll(text, &end, 0);
    bool is_whole = end != text && !*end && !errno;
    double real = strtod(text, &end);
    if (end == text || *end)
        return fail("\"%s\" is no number", text);
    LIB(tn_init(&from, is_whole ? (void *)&whole : (void *)&real, is_whole ? TN_I64 : TN_F64, 0,
                NULL));
    LIB(tn_init(&to, element, dtype, 0, NULL));
    LIB(tn_cast(&to, &from));
    return DONE;
}

int read_axis(const args *a, int64_t axis, int ndim, int *dim)
{
    int64_t at = axis < 0 ? axis + ndim : axis;
    if (at < 0 || at >= ndim)
        return fail("%s: axis %lld, there are %d", a->command->name, (long long)axis, ndim);
    *dim = (int)at;
    return DONE;
}
