/* chart.c - the 57 as bars against the limit, one panel for each dtype, one colour for each
 * rank.
 *
 * The full height of a panel is a little more than R; a case without a verdict is an
 * outline. */
#include "report.h"

#include <stdio.h>
#include <string.h>

enum {
    BAR = 15,
    PITCH = 19,
    GAP = 14, /* between ranks */
    LEFT = 62,
    TOP = 88,
    HEIGHT = 190, /* of R in a panel */
    OVER = 24,    /* above R */
    BETWEEN = 58, /* panels */
    LABELS = 186, /* below the last panel */
};

static const char *const colours[] = {"#4c78a8", "#2a9d8f", "#e9a03b", "#d1603d", "#7a5195"};

static int bar_x(const group *g, int i)
{
    return LEFT + 10 + i * PITCH + (g->rows[i].what.ndim - 2) * GAP;
}

static void text(FILE *out, double x, double y, const char *style, const char *words)
{
    fprintf(out, "<text x=\"%g\" y=\"%g\" %s>%s</text>\n", x, y, style, words);
}

static void level(FILE *out, double y, int right, const char *line, const char *words)
{
    fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%g\" y2=\"%g\" %s/>\n", LEFT, right, y, y,
            line);
    text(out, LEFT - 8, y + 4, "class=\"axis\" text-anchor=\"end\"", words);
}

static void bars(FILE *out, const group *g, int base)
{
    for (int i = 0; i < g->count; i++) {
        const row *r = &g->rows[i];
        double h = r->f.ratio * HEIGHT;
        h = h > HEIGHT + OVER ? HEIGHT + OVER : h;
        const char *colour = colours[r->what.ndim - 2];
        fprintf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" rx=\"2\" ",
                bar_x(g, i), base - h, BAR, h);
        if (r->f.moved)
            fprintf(out, "fill=\"none\" stroke=\"%s\" stroke-dasharray=\"2 2\">", colour);
        else
            fprintf(out, "fill=\"%s\">", colour);
        fprintf(out, "<title>%s %s: %.1f GB/s, %.2f of R%s</title></rect>\n", r->what.name,
                tn_dtype_name(r->what.dtype), r->f.work, r->f.ratio,
                r->f.moved ? ", no verdict" : "");
    }
}

static void panel(FILE *out, const group *g, int base, int right)
{
    static const char *const marks[] = {"0", "0.2", "0.4", "0.6", "0.8"};
    char words[160],
        mean_line[] = "stroke=\"#333\" stroke-width=\"1\" stroke-dasharray=\"6 4\"";
    double mean, worst;
    int n = group_summary(g, &mean, &worst);
    for (int i = 0; i < 5; i++)
        level(out, base - i * HEIGHT / 5.0, right, "stroke=\"#e4e4e4\"", marks[i]);
    bars(out, g, base);
    level(out, base - HEIGHT, right, "stroke=\"#222\" stroke-width=\"1.6\"", "R = 1");
    if (n) {
        double y = base - mean * HEIGHT;
        fprintf(out, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" %s/>\n", LEFT, right, y,
                y, mean_line);
        snprintf(words, sizeof words, "mean %.2f", mean);
        text(out, right + 6, y + 4, "class=\"axis\"", words);
    }
    snprintf(words, sizeof words, "%s: mean %.2f of R, worst %.2f", g->key, mean, worst);
    text(out, LEFT, base - HEIGHT - OVER - 8, "class=\"panel\"", words);
}

static void labels(FILE *out, const group *g, int base)
{
    for (int i = 0; i < g->count; i++) {
        double x = bar_x(g, i) + BAR / 2.0 + 3.5, y = base + 8;
        fprintf(out,
                "<text x=\"%g\" y=\"%g\" class=\"case\" text-anchor=\"end\" "
                "transform=\"rotate(-90 %g %g)\">%s</text>\n",
                x, y, x, y, g->rows[i].what.name);
    }
}

static void legend(FILE *out, const group *g, int y)
{
    for (int i = 0, rank = 0; i < g->count; i++) {
        if (g->rows[i].what.ndim == rank)
            continue;
        char words[16];
        rank = g->rows[i].what.ndim;
        snprintf(words, sizeof words, "rank %d", rank);
        fprintf(out,
                "<rect x=\"%d\" y=\"%d\" width=\"10\" height=\"10\" rx=\"2\" fill=\"%s\"/>\n",
                LEFT + (rank - 2) * 74, y - 9, colours[rank - 2]);
        text(out, LEFT + (rank - 2) * 74 + 15, y, "class=\"axis\"", words);
    }
}

/* The groups that show the whole list. */
static int panels(const report *r, const group **found)
{
    int n = 0;
    for (int i = 0; i < r->groups && n < 2; i++)
        if ((!strcmp(r->group[i].key, "f32") || !strcmp(r->group[i].key, "f64")) &&
            r->group[i].count == list_57_f32.count)
            found[n++] = &r->group[i];
    return n;
}

bool write_chart(const report *r, const char *path)
{
    const group *found[2];
    int n = panels(r, found);
    FILE *out = n ? fopen(path, "w") : NULL;
    if (!out)
        return false;
    int right = bar_x(found[0], found[0]->count - 1) + BAR + 10, wide = right + 76;
    int first = TOP + OVER + HEIGHT, each = HEIGHT + OVER + BETWEEN;
    int last = first + (n - 1) * each;
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\">\n<style>text{font-family:system-ui,-apple-system,'Segoe UI',"
            "sans-serif;fill:#222}.head{font-size:19px;font-weight:600}.panel{font-size:14px;"
            "font-weight:600}.axis{font-size:12px;fill:#555}.case{font-size:9.5px;fill:#555}"
            "</style>\n<rect width=\"100%%\" height=\"100%%\" rx=\"6\" fill=\"#fff\"/>\n",
            wide, last + LABELS, wide, last + LABELS);
    char words[200];
    snprintf(
        words, sizeof words,
        "57 permutations against R, the better of memcpy and a streaming copy (%d thread%s, "
        "%s)",
        r->threads, r->threads == 1 ? "" : "s", tn_isa());
    text(out, LEFT, 30, "class=\"head\"", words);
    legend(out, found[0], 54);
    for (int i = 0; i < n; i++)
        panel(out, found[i], first + i * each, right);
    labels(out, found[0], last);
    fprintf(out, "</svg>\n");
    return fclose(out) == 0;
}
