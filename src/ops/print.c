/* print.c - tensors as text for people: nested brackets, aligned columns, long axes elided.
 *
 * Numbers are the shortest decimals that read back as the same element, rounded to at most 8
 * digits, whatever the locale.  Nothing is written beyond size, and the work ends when the text
 * is full. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "view/view.h"

enum {
    WHOLE = 1000, /* in a tensor of more elements every long axis is elided */
    LONG = 12,    /* a longer axis is elided in any tensor */
    EDGE = 3,     /* entries kept at both ends of an elided axis */
    FLOAT = 48,   /* bytes for the text of a float */
    NUMBER = 2 * FLOAT + 2,
};

typedef struct page {
    const tn_tensor *t;
    bool large;
    int left, right; /* widest text before, and from, the decimal point */
    int64_t unseen;  /* while measuring: elements left to measure; 0 when printing */
    bool writing;
    char *buf;         /* NULL: only count the bytes */
    size_t size, used; /* used < size; nothing is written while measuring */
} page;

/* ---- one element ---- */

/* Do a and b round to the same element of a float dtype? */
static bool same(tn_dtype dtype, double a, double b)
{
    char x[8], y[8];
    tni_store_real(x, dtype, a);
    tni_store_real(y, dtype, b);
    return tni_load_real(x, dtype) == tni_load_real(y, dtype);
}

/* The shortest digits that round to x in dtype, or x rounded to 8 digits: "1.", "-1.5e-07",
 * "nan". */
static void write_float(char *text, tn_dtype dtype, double x)
{
    if (isnan(x) || isinf(x)) {
        snprintf(text, FLOAT, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    snprintf(text, FLOAT, "%.7e", x);
    const double rounded = strtod(text, NULL);
    double read = NAN;
    int digits = -1; /* after the first digit */
    while (digits < 7 && read != rounded && !same(dtype, read, x)) {
        snprintf(text, FLOAT, "%.*e", ++digits, x);
        read = strtod(text, NULL);
    }
    const char *e = strchr(text, 'e');
    const long exponent = e ? strtol(e + 1, NULL, 10) : 0;
    if (exponent >= -4 && exponent < 16) {
        const int decimals = digits > exponent ? digits - (int)exponent : 0;
        snprintf(text, FLOAT, "%#.*f", decimals, x);
    }
    /* Replace the locale's decimal point, which may have several bytes, by ".". */
    size_t kept = 0;
    for (const char *c = text; *c; c++)
        if (strchr("0123456789+-e", *c))
            text[kept++] = *c;
        else if (kept == 0 || text[kept - 1] != '.')
            text[kept++] = '.';
    text[kept] = 0;
}

/* Read an integer of any width as 64 bits, sign-extended if is_signed. */
static uint64_t read_integer(int width, bool is_signed, const char *at)
{
    uint8_t u8;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    switch (width) {
    case 1:
        memcpy(&u8, at, sizeof u8);
        return is_signed ? (uint64_t)(int8_t)u8 : u8;
    case 2:
        memcpy(&u16, at, sizeof u16);
        return is_signed ? (uint64_t)(int16_t)u16 : u16;
    case 4:
        memcpy(&u32, at, sizeof u32);
        return is_signed ? (uint64_t)(int32_t)u32 : u32;
    default:
        memcpy(&u64, at, sizeof u64);
        return u64;
    }
}

/* Format a complex number as "1.+2.j". */
static void write_complex(char *text, tn_dtype part, const char *at)
{
    char real[FLOAT], imaginary[FLOAT];
    write_float(real, part, tni_load_real(at, part));
    write_float(imaginary, part, tni_load_real(at + tni_width(part), part));
    snprintf(text, NUMBER, "%s%s%sj", real, imaginary[0] == '-' ? "" : "+", imaginary);
}

static void write_element(char *text, tn_dtype dtype, const char *at)
{
    const int width = (int)tni_width(dtype);
    switch (tni_dtypes[dtype].kind) {
    case TNI_BOOL:
        snprintf(text, NUMBER, "%s", *at ? "true" : "false");
        break;
    case TNI_SIGNED:
        snprintf(text, NUMBER, "%lld", (long long)read_integer(width, true, at));
        break;
    case TNI_UNSIGNED:
        snprintf(text, NUMBER, "%llu", (unsigned long long)read_integer(width, false, at));
        break;
    case TNI_FLOAT:
        write_float(text, dtype, tni_load_real(at, dtype));
        break;
    default:
        write_complex(text, tni_real_of(dtype), at);
    }
}

/* ---- layout ---- */

static bool full(const page *p)
{
    return p->writing ? p->used == p->size - 1 : p->unseen == 0;
}

static void print_put(page *p, const char *text)
{
    for (; p->writing && *text && !full(p); text++, p->used++)
        if (p->buf)
            p->buf[p->used] = *text;
}

static void put_times(page *p, const char *text, int times)
{
    for (int i = 0; i < times && p->writing && !full(p); i++)
        print_put(p, text);
}

/* Floats are aligned at their decimal points, everything else at the right end. */
static void show_element(page *p, const char *at)
{
    char text[NUMBER];
    write_element(text, p->t->dtype, at);
    const bool point = tni_is_float(p->t->dtype);
    const int length = (int)strlen(text);
    const int left = point ? (int)strcspn(text, ".e") : length;
    if (p->writing) {
        put_times(p, " ", p->left - left);
        print_put(p, text);
        put_times(p, " ", p->right - (length - left));
        return;
    }
    p->left = left > p->left ? left : p->left;
    p->right = length - left > p->right ? length - left : p->right;
    p->unseen--;
}

/* Write the separator between two entries of an axis: numbers, rows, or blocks of rows. */
static void put_gap(page *p, int axis)
{
    const int inner = p->t->ndim - 1 - axis;
    print_put(p, inner == 0 ? ", " : ",");
    if (inner > 0) {
        put_times(p, "\n", inner);
        put_times(p, " ", axis + 1);
    }
}

static void show_axis(page *p, int axis, uintptr_t at)
{
    if (axis == p->t->ndim) {
        show_element(p, (const char *)at);
        return;
    }
    const int64_t n = p->t->shape[axis], stride = p->t->stride[axis];
    const bool elide = n > LONG || (p->large && n > 2 * EDGE);
    print_put(p, "[");
    for (int64_t i = 0; i < n && !full(p); i++) {
        if (i > 0)
            put_gap(p, axis);
        if (elide && i == EDGE) {
            print_put(p, "...");
            i = n - EDGE - 1;
        } else {
            show_axis(p, axis + 1, at + (uintptr_t)i * (uintptr_t)stride);
        }
    }
    print_put(p, "]");
}

/* Write at most size bytes, not counting the 0, to buf, or only count them; returns the
 * number. */
static size_t show(const tn_tensor *t, char *buf, size_t size)
{
    /* an element takes at least two bytes, so those after size / 2 are never shown */
    const int64_t count = tni_numel(t);
    page p = {.t = t, .large = count > WHOLE, .unseen = count};
    if ((uint64_t)count > size / 2 + 1)
        p.unseen = (int64_t)(size / 2 + 1);
    if (count > 0)
        show_axis(&p, 0, (uintptr_t)t->data);
    p.writing = true;
    p.buf = buf;
    p.size = size;
    show_axis(&p, 0, (uintptr_t)t->data);
    return p.used;
}

static tn_status check_print(const char *who, const tn_tensor *t)
{
    TRY(tni_check(t, who));
    return tni_check_data(t, who);
}

tn_status tn_print(const tn_tensor *t, char *buf, size_t size)
{
    if (t && !buf)
        return tni_fail(TN_ENULL, "print: buf is NULL");
    TRY(tni_check_given(t, "print: t"));
    if (size == 0)
        return tni_fail(TN_EARG, "print: size is 0, expected at least 1");
    TRY(check_print("print: t", t));
    buf[show(t, buf, size)] = 0;
    return TN_OK;
}

size_t tn_print_size(const tn_tensor *t)
{
    return check_print("print_size: t", t) == TN_OK ? show(t, NULL, SIZE_MAX) + 1 : 0;
}
