/* info.c - listing the tensors of files as a table or as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct line {
    const char *name, *dtype, *order;
    const int64_t *shape; /* NULL: unknown */
    int ndim;
    int64_t nbytes, offset; /* -1: unknown, or compressed */
    bool known, shared;
} line;

static const line *sort_lines;

static int by_offset(const void *a, const void *b)
{
    int64_t x = sort_lines[*(const int64_t *)a].offset,
            y = sort_lines[*(const int64_t *)b].offset;
    return x < y ? -1 : x > y;
}

static bool reversed_is_dense(const tn_tensor *t)
{
    int axes[TN_MAX_NDIM];
    tn_tensor v;
    for (int i = 0; i < t->ndim; i++)
        axes[i] = t->ndim - 1 - i;
    return tn_permute(&v, t, axes) == TN_OK && tn_is_contiguous(&v);
}

static line describe(const source *s, int64_t i)
{
    tn_tensor t, m;
    line l = {.name = tn_file_name(s->f, i), .dtype = tn_file_type(s->f, i)};
    l.order = "unsupported";
    l.shape = tn_file_shape(s->f, i, &l.ndim);
    l.nbytes = l.offset = -1;
    l.known = tn_file_info(s->f, i, NULL, &t, &l.offset) == TN_OK;
    if (!l.known)
        return l;
    bool dense = tn_is_contiguous(&t), fortran = !dense && reversed_is_dense(&t);
    l.dtype = tn_dtype_name(t.dtype);
    l.nbytes = tn_nbytes(&t);
    if (l.offset < 0)
        l.order = fortran ? "F, deflated" : "C, deflated";
    else if (tn_file_map(s->f, i, &m) == TN_EUNSUPPORTED)
        l.order = fortran ? "F, swapped" : "C, swapped";
    else
        l.order = dense ? "C" : fortran ? "F" : "strided";
    return l;
}

/* Largest power of two up to 4096 that divides the offset. */
static int64_t alignment(int64_t offset)
{
    int64_t align = 1;
    while (align < 4096 && offset % (2 * align) == 0)
        align *= 2;
    return align;
}

/* Mark tied weights: tensors whose bytes overlap. */
static int mark_shared(line *lines, int64_t n)
{
    int64_t *order = malloc((size_t)(n ? n : 1) * sizeof *order), far = -1, last = -1;
    if (!order)
        return fail("cannot allocate memory for %lld lines", (long long)n);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    sort_lines = lines;
    qsort(order, (size_t)n, sizeof *order, by_offset);
    for (int64_t i = 0; i < n; i++) {
        line *l = &lines[order[i]];
        if (l->offset < 0 || l->nbytes <= 0)
            continue;
        if (l->offset < far)
            l->shared = lines[last].shared = true;
        if (l->offset + l->nbytes > far) {
            far = l->offset + l->nbytes;
            last = order[i];
        }
    }
    free(order);
    return DONE;
}

/* ---- the table: formatted by hand, for files of ten thousand tensors ---- */

typedef struct widths {
    int name, dtype, shape, bytes;
} widths;

static int characters(const char *text)
{
    int n = 0;
    for (; *text; text++)
        n += (*text & 0xc0) != 0x80; /* the first byte of each */
    return n;
}

static char *number(char *at, int64_t x)
{
    char digits[24];
    int n = 0;
    do
        digits[n++] = (char)('0' + x % 10);
    while ((x /= 10) > 0);
    while (n > 0)
        *at++ = digits[--n];
    return at;
}

/* Format a number, or "-" if it is negative. */
static char *number_text(char *at, int64_t x)
{
    if (x < 0)
        *at++ = '-';
    else
        at = number(at, x);
    *at = 0;
    return at;
}

static char *shape_line(char *at, const line *l)
{
    if (!l->shape)
        return strcpy(at, "?");
    char *p = at;
    *p++ = '(';
    for (int i = 0; i < l->ndim; i++) {
        if (i) {
            *p++ = ',';
            *p++ = ' ';
        }
        p = number(p, l->shape[i]);
    }
    strcpy(p, l->ndim == 1 ? ",)" : ")");
    return at;
}

enum { LONGEST_SHAPE = TN_MAX_NDIM * 22 + 8 };

static void widen(widths *w, const line *l)
{
    char text[LONGEST_SHAPE];
    int name = characters(l->name), dtype = (int)strlen(l->dtype);
    int shape = (int)strlen(shape_line(text, l)),
        bytes = (int)(number_text(text, l->nbytes) - text);
    w->name = name > w->name ? name : w->name;
    w->dtype = dtype > w->dtype ? dtype : w->dtype;
    w->shape = shape > w->shape ? shape : w->shape;
    w->bytes = bytes > w->bytes ? bytes : w->bytes;
}

static void cell(const char *text, int width)
{
    print_name(text);
    for (int n = characters(text); n < width + 2; n++)
        putchar(' ');
}

static void right(const char *text, int width)
{
    for (int n = (int)strlen(text); n < width; n++)
        putchar(' ');
    fputs(text, stdout);
    fputs("  ", stdout);
}

static void print_line(const widths *w, const line *l)
{
    char text[LONGEST_SHAPE];
    if (w->name)
        cell(l->name, w->name);
    cell(l->dtype, w->dtype);
    cell(shape_line(text, l), w->shape);
    number_text(text, l->nbytes);
    right(text, w->bytes);
    number_text(text, l->offset < 0 ? -1 : alignment(l->offset));
    right(text, 5);
    printf("%s%s\n", l->order, l->shared ? ", shared" : "");
}

static int print_table(const source *s, const int64_t *which, int64_t n)
{
    line *lines = malloc((size_t)(n ? n : 1) * sizeof *lines);
    widths w = {4, 5, 5, 5};
    double total = 0;
    char size[32];
    if (!lines)
        return fail("cannot allocate memory for %lld lines", (long long)n);
    for (int64_t i = 0; i < n; i++) {
        lines[i] = describe(s, which[i]);
        widen(&w, &lines[i]);
        total += lines[i].nbytes > 0 ? (double)lines[i].nbytes : 0;
    }
    if (!strcmp(tn_file_format(s->f), "pt"))
        TRY(mark_shared(lines, n));
    print_name(s->path);
    printf(": %s, %lld tensor%s, %s\n", tn_file_format(s->f), (long long)n, n == 1 ? "" : "s",
           bytes_text(size, total));
    if (!strcmp(tn_file_format(s->f), "npy"))
        w.name = 0; /* the tensor of a .npy has no name */
    else
        cell("name", w.name);
    cell("dtype", w.dtype);
    cell("shape", w.shape);
    right("bytes", w.bytes);
    printf("align  order\n");
    for (int64_t i = 0; i < n; i++)
        print_line(&w, &lines[i]);
    if (tn_file_skipped(s->f))
        printf(tn_file_skipped(s->f) == 1 ? "(and 1 value that is not a tensor)\n"
                                          : "(and %lld values that are not tensors)\n",
               (long long)tn_file_skipped(s->f));
    if (!strcmp(tn_file_format(s->f), "gguf"))
        printf("(shapes are in NumPy's order, the fastest axis last; .gguf stores them in "
               "reverse)\n");
    free(lines);
    return DONE;
}

/* ---- JSON ---- */

static void print_object(const source *s, int64_t i)
{
    line l = describe(s, i);
    printf("{\"name\": ");
    json_text(stdout, l.name);
    printf(", \"dtype\": ");
    if (l.known)
        json_text(stdout, l.dtype);
    else
        printf("null");
    printf(", \"type\": ");
    json_text(stdout, tn_file_type(s->f, i));
    printf(", \"shape\": %s", l.shape ? "[" : "null");
    for (int k = 0; l.shape && k < l.ndim; k++)
        printf("%s%lld", k ? ", " : "", (long long)l.shape[k]);
    printf("%s", l.shape ? "]" : "");
    if (!strcmp(tn_file_format(s->f), "set")) {
        printf(", \"path\": ");
        json_text(stdout, tn_file_path(s->f, i));
    }
    if (l.known)
        printf(", \"bytes\": %lld, \"order\": \"%c\", \"offset\": %lld, \"as_is\": %s",
               (long long)l.nbytes, l.order[0], (long long)l.offset,
               l.order[1] ? "false" : "true");
    printf("}");
}

static void print_json(const source *s, const int64_t *which, int64_t n)
{
    printf("{\"file\": ");
    json_text(stdout, s->path);
    printf(", \"format\": \"%s\", \"metadata\": %s, \"tensors\": [", tn_file_format(s->f),
           tn_file_metadata(s->f) ? tn_file_metadata(s->f) : "null");
    for (int64_t i = 0; i < n; i++) {
        printf(i ? ",\n  " : "\n  ");
        print_object(s, which[i]);
    }
    printf("]}");
}

int run_info(const args *a)
{
    int code = DONE;
    if (a->n == 0)
        return usage(a, "missing argument: FILE");
    if (a->json)
        printf("[");
    for (int i = 0, shown = 0; i < a->n; i++) {
        source s;
        int got = open_source(&s, a->operands[i]);
        if (got == DONE) {
            int64_t *which = NULL, n = 0;
            got = chosen_tensors(a, &s, &which, &n);
            fputs(got != DONE || !shown++ ? "" : a->json ? ",\n" : "\n", stdout);
            if (got == DONE && a->json)
                print_json(&s, which, n);
            else if (got == DONE)
                got = print_table(&s, which, n);
            free(which);
            close_source(&s);
        }
        code = got > code ? got : code;
    }
    if (a->json)
        printf("]\n");
    return code;
}
