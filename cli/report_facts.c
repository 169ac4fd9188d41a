/* report_facts.c - the facts of a report as JSON, and the page around them.
 *
 * A tensor is an array in the order of `columns`; missing values at its end are omitted.  Text
 * that could end an HTML script is escaped. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"
#include "report.h"

enum { PAGE_BYTES = 6 << 20, PAGE_OWN = 64 << 10, ROW_BYTES = 260 };

/* Print text as a JSON string that contains no '<'. */
static void print_quoted(FILE *out, const char *text)
{
    char *quoted = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&quoted, &n);
    if (!f)
        return;
    json_text(f, text);
    if (fclose(f) == 0)
        for (const char *p = quoted; *p; p++)
            *p == '<' ? fputs("\\u003c", out) : fputc(*p, out);
    free(quoted);
}

/* Print the shortest decimal number that reads back as x. */
static void print_number(FILE *out, double x)
{
    char text[40];
    if (!isfinite(x)) {
        fputs("null", out);
        return;
    }
    for (int digits = 4; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    fputs(text, out);
}

static void print_count(FILE *out, int64_t n)
{
    if (n < 0)
        fputs("null", out);
    else
        fprintf(out, "%lld", (long long)n);
}

static void print_extreme(FILE *out, const subject *s, bool high)
{
    const tn_stats *x = &s->stats;
    const int64_t bits = high ? x->high : x->low;
    if (!x->finite || !is_integer(s->dtype))
        print_number(out, high ? x->max : x->min);
    else if (s->dtype == TN_U64)
        fprintf(out, "%llu", (unsigned long long)bits);
    else
        fprintf(out, "%lld", (long long)bits);
}

static void print_stats(FILE *out, const subject *s)
{
    const tn_stats *x = &s->stats;
    if (!s->read) {
        fprintf(out, ",null,null,null,null,null,null,null,null,null,%u", s->trouble);
        return;
    }
    fputc(',', out);
    print_extreme(out, s, false);
    fputc(',', out);
    print_extreme(out, s, true);
    fputc(',', out);
    print_number(out, x->mean);
    fputc(',', out);
    print_number(out, x->std);
    fprintf(out, ",%lld,%lld,%lld,", (long long)x->zeros, (long long)x->nan, (long long)x->inf);
    print_count(out, s->subnormal);
    fputc(',', out);
    print_count(out, s->zero_rows);
    fprintf(out, ",%u", s->trouble);
}

static void print_pictures(FILE *out, const report *r, const subject *s, bool heat)
{
    heat = heat && s->heat;
    const int last = heat ? 5 : s->line[0] ? 4 : s->histogram[0] ? 3 : r->a->hash ? 1 : 0;
    if (last >= 1 && r->a->hash && s->read)
        fprintf(out, ",\"%016llx\"", (unsigned long long)s->hash);
    else if (last >= 1)
        fputs(",null", out);
    if (last >= 3)
        fprintf(out, ",%d,\"%s\"", s->log, s->histogram);
    if (last >= 4)
        fprintf(out, s->line[0] ? ",\"%s\"" : ",null", s->line);
    if (last < 5)
        return;
    fputs(",\"", out);
    print_png(out, s->heat_columns, s->heat_rows, s->heat);
    fputc('"', out);
}

static void print_subject(FILE *out, const report *r, const subject *s, bool heat)
{
    fprintf(out, "[%d,", s->file);
    print_quoted(out, s->name);
    fputc(',', out);
    print_quoted(out, s->type);
    fputs(",[", out);
    for (int i = 0; i < s->ndim; i++)
        fprintf(out, "%s%lld", i ? "," : "", (long long)s->shape[i]);
    fprintf(out, "],%lld,", (long long)s->params);
    print_count(out, s->bytes);
    print_stats(out, s);
    print_pictures(out, r, s, heat);
    fputc(']', out);
}

/* Print the key-values of a .gguf in short form, or metadata, on one line. */
static int print_metadata(FILE *out, const tn_file *f)
{
    kvs ks = {0};
    char *text = NULL;
    size_t n = 0, need = 0;
    const char *own = tn_file_metadata(f);
    const bool gguf =
        !strcmp(tn_file_format(f), "gguf") && tn_file_values(f, NULL, 0, &need) == TN_OK;
    int code = gguf ? kvs_of_file(&ks, f) : DONE;
    FILE *m = gguf && code == DONE ? open_memstream(&text, &n) : NULL;
    if (m)
        kvs_print_short(m, &ks);
    if (gguf && code == DONE && (!m || fclose(m) != 0))
        code = fail("out of memory");
    kvs_free(&ks);
    for (const char *p = text ? text : own ? own : "null"; code == DONE && *p; p++)
        *p == '<' ? fputs("\\u003c", out) : *p == '\n' ? 0 : fputc(*p, out);
    free(text);
    return code;
}

/* The order in which tensors get heat maps: those with problems first, then the largest. */
static int by_worth(const void *a, const void *b)
{
    const subject *x = *(subject *const *)a, *y = *(subject *const *)b;
    if (!x->trouble != !y->trouble)
        return x->trouble ? -1 : 1;
    return x->params != y->params ? (x->params > y->params ? -1 : 1) : x < y ? -1 : 1;
}

static bool *choose_heats(const report *r)
{
    enum { HEAT_BYTES = 1900 };
    bool *heat = calloc((size_t)(r->n + 1), sizeof *heat);
    const subject **list = malloc((size_t)(r->n + 1) * sizeof *list);
    int64_t left = PAGE_BYTES - PAGE_OWN - r->n * ROW_BYTES;
    for (int64_t i = 0; list && i < r->n; i++)
        list[i] = &r->list[i];
    if (list)
        qsort(list, (size_t)r->n, sizeof *list, by_worth);
    for (int64_t i = 0; list && heat && i < r->n && left >= HEAT_BYTES; i++)
        if (list[i]->heat) {
            heat[list[i] - r->list] = true;
            left -= HEAT_BYTES;
        }
    free(list);
    return heat;
}

int print_facts(void *file, const void *user)
{
    FILE *out = file;
    const report *r = user;
    bool *heat = choose_heats(r);
    fprintf(out, "{\"tenon\":\"report\",\"version\":1,\"fingerprint\":\"%016llx\",\"hash\":",
            (unsigned long long)r->fingerprint);
    fprintf(out, r->a->hash ? "\"%016llx\"" : "null", (unsigned long long)r->hash);
    fputs(",\"files\":[", out);
    int code = DONE;
    for (int i = 0; code == DONE && i < r->nfiles; i++) {
        fputs(i ? ",{\"path\":" : "{\"path\":", out);
        print_quoted(out, r->files[i].path);
        fprintf(out, ",\"format\":\"%s\",\"metadata\":", tn_file_format(r->files[i].f));
        code = print_metadata(out, r->files[i].f);
        fputc('}', out);
    }
    fputs("],\"trouble\":[", out);
    for (int i = 0; i < TROUBLES; i++)
        fprintf(out, "%s\"%s\"", i ? "," : "", trouble_words[i]);
    fputs("],\"columns\":[\"file\",\"name\",\"dtype\",\"shape\",\"params\",\"bytes\",\"min\","
          "\"max\",\"mean\",\"std\",\"zeros\",\"nan\",\"inf\",\"subnormal\",\"zero_rows\","
          "\"trouble\",\"hash\",\"log\",\"histogram\",\"line\",\"heat\"],\"tensors\":[",
          out);
    for (int64_t i = 0; i < r->n; i++) {
        fputs(i ? ",\n" : "\n", out);
        print_subject(out, r, &r->list[i], heat && heat[i]);
    }
    fputs("\n]}\n", out);
    free(heat);
    return code;
}

int print_page(void *file, const void *user)
{
    FILE *out = file;
    for (int i = 0; page_before[i]; i++)
        fputs(page_before[i], out);
    TRY(print_facts(out, user));
    for (int i = 0; page_after[i]; i++)
        fputs(page_after[i], out);
    return DONE;
}
