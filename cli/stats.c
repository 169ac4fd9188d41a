/* stats.c - statistics of the elements of tensors: extremes, mean, deviation, counts, a
 * histogram. */
#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

typedef struct facts {
    tn_stats stats;
    int64_t *counts;
    const char *name;
    tn_tensor t;
} facts;

static bool has_range(const facts *f)
{
    return f->stats.finite > 0 && !isnan(f->stats.min);
}

/* Format a number with few digits, or for JSON with enough to read it back; "-" or null for
 * NaN. */
static const char *number(char buf[40], double x, bool json)
{
    if (isnan(x))
        return json ? "null" : "-";
    snprintf(buf, 40, json ? "%.17g" : "%.4g", x);
    return buf;
}

/* Format min or max; integers with all digits. */
static const char *extreme(char buf[40], const facts *f, bool high, bool json)
{
    const tn_stats *s = &f->stats;
    const int64_t bits = high ? s->high : s->low;
    if (!has_range(f) || !is_integer(f->t.dtype))
        return number(buf, high ? s->max : s->min, json);
    if (f->t.dtype == TN_U64)
        snprintf(buf, 40, "%llu", (unsigned long long)bits);
    else
        snprintf(buf, 40, "%lld", (long long)bits);
    return buf;
}

/* ---- a line of text, and a histogram ---- */

static bool draws_blocks(void)
{
    return isatty(STDOUT_FILENO) && setlocale(LC_CTYPE, "") &&
           !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void print_bins(const facts *f, int64_t bins)
{
    static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const plain[] = {" ", ".", ":", "-", "=", "+", "*", "#", "@"};
    const char *const *level = draws_blocks() ? blocks : plain;
    char text[40];
    int64_t most = 0, all = 0;
    for (int64_t i = 0; i < bins; i++) {
        most = f->counts[i] > most ? f->counts[i] : most;
        all += f->counts[i];
    }
    if (!all)
        return;
    printf("  %s ", extreme(text, f, false, false));
    for (int64_t i = 0; i < bins; i++) {
        const int64_t n = f->counts[i];
        fputs(level[(int)ceil(8 * (double)n / (double)most)], stdout);
    }
    printf(" %s   %lld in %lld bins, %.0f %% in the fullest\n", extreme(text, f, true, false),
           (long long)all, (long long)bins, 100 * (double)most / (double)all);
}

static void print_line(const args *a, const source *s, const facts *f)
{
    char shape[512], text[4][40];
    const tn_stats *x = &f->stats;
    print_name(s->path);
    print_name(*f->name ? ":" : "");
    print_name(f->name);
    printf("  %s  %s  min %s max %s mean %s std %s  zeros %lld  nan %lld  inf %lld\n",
           tn_dtype_name(f->t.dtype), shape_text(shape, f->t.ndim, f->t.shape),
           extreme(text[0], f, false, false), extreme(text[1], f, true, false),
           number(text[2], x->mean, false), number(text[3], x->std, false), (long long)x->zeros,
           (long long)x->nan, (long long)x->inf);
    if (a->bins > 0)
        print_bins(f, a->bins);
}

static void print_object(const args *a, const facts *f)
{
    char text[4][40];
    const tn_stats *x = &f->stats;
    printf("{\"name\": ");
    json_text(stdout, f->name);
    printf(", \"dtype\": \"%s\", \"shape\": [", tn_dtype_name(f->t.dtype));
    for (int i = 0; i < f->t.ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)f->t.shape[i]);
    printf("], \"n\": %lld, \"min\": %s, \"max\": %s, \"mean\": %s, \"std\": %s, "
           "\"zeros\": %lld, \"nan\": %lld, \"inf\": %lld",
           (long long)x->n, extreme(text[0], f, false, true), extreme(text[1], f, true, true),
           number(text[2], x->mean, true), number(text[3], x->std, true), (long long)x->zeros,
           (long long)x->nan, (long long)x->inf);
    const bool complex = f->t.dtype == TN_C64 || f->t.dtype == TN_C128;
    const int64_t bins = complex ? 0 : a->bins;
    for (int64_t i = 0; i < bins; i++)
        printf("%s%lld", i ? ", " : ", \"bins\": [", (long long)f->counts[i]);
    printf(bins > 0 ? "]}" : "}");
}

/* ---- tensors of files ---- */

static int measure(const args *a, const input *in, facts *f)
{
    recipe r = {0};
    int code = recipe_of_view(&r, &in->t, in);
    if (code == DONE) {
        tn_stream job = recipe_job(&r, a, NULL);
        if (tn_stream_stats(&job, &f->stats, a->bins, f->counts) != TN_OK)
            code = fail("%s", tn_error());
    }
    recipe_free(&r);
    return code;
}

static int stats_of(const args *a, const source *s, int64_t i, int64_t *counts, bool first)
{
    input in;
    TRY(open_input(a, &in, s, i));
    const char *name = tn_file_name(s->f, i);
    facts f = {.counts = counts, .name = name ? name : "", .t = in.t};
    if (a->explain) {
        recipe r = {0};
        int explained = recipe_of_view(&r, &in.t, &in);
        if (explained == DONE)
            explained = explain_stats(a, &r, f.name);
        recipe_free(&r);
        close_input(&in);
        return explained;
    }
    progress_start(a, tn_nbytes(&in.t));
    int code = measure(a, &in, &f);
    progress_end();
    if (code == DONE && a->json) {
        printf(first ? "\n  " : ",\n  ");
        print_object(a, &f);
    } else if (code == DONE) {
        print_line(a, s, &f);
    }
    close_input(&in);
    return code;
}

static int stats_of_file(const args *a, const char *word, int64_t *counts, bool first)
{
    source s;
    int64_t *which = NULL, n = 0;
    bool none = true;
    TRY(open_source(&s, word));
    int code = chosen_tensors(a, &s, &which, &n);
    if (code == DONE && a->json && !a->explain) {
        printf(first ? "{\"file\": " : ",\n{\"file\": ");
        json_text(stdout, s.path);
        printf(", \"tensors\": [");
    }
    const bool opened = code == DONE;
    for (int64_t i = 0; opened && i < n; i++) {
        const int got = stats_of(a, &s, which[i], counts, none);
        none = none && got != DONE;
        code = got > code ? got : code;
    }
    if (opened && a->json && !a->explain)
        printf("]}");
    free(which);
    close_source(&s);
    return opened ? code : -code;
}

int run_stats(const args *a)
{
    int code = DONE;
    bool first = true;
    if (a->n == 0)
        return usage(a, "missing argument: FILE");
    int64_t *counts = calloc(TN_STATS_MOST_BINS, sizeof *counts);
    if (!counts)
        return fail("out of memory");
    if (a->json && !a->explain)
        printf("[");
    for (int i = 0; i < a->n; i++) {
        const int got = stats_of_file(a, a->operands[i], counts, first);
        first = first && got < 0;
        code = abs(got) > code ? abs(got) : code;
    }
    if (a->json && !a->explain)
        printf("]\n");
    free(counts);
    return code;
}
