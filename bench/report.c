/* report.c - tables and the JSON file.
 *
 * A case during which R changed is unstable: its figures are shown, but it has no verdict and
 * is in no mean. */
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void cpu_name(char *name, size_t size)
{
    char text[256];
    FILE *f = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown CPU");
    while (f && fgets(text, sizeof text, f))
        if (!strncmp(text, "model name", 10) && strchr(text, ':')) {
            snprintf(name, size, "%s", strchr(text, ':') + 2);
            name[strcspn(name, "\n")] = 0;
            break;
        }
    if (f)
        fclose(f);
}

summary group_summary(const group *g)
{
    enum { FAST = 60 }; /* GB/s */
    summary s = {0};
    for (int i = 0; i < g->count; i++) {
        const figures *f = &g->rows[i].f;
        if (f->moved)
            continue;
        s.mean += log(f->ratio);
        s.limit += f->limit;
        s.goal += f->limit > FAST ? g->goal_fast : g->goal_mean; /* R differs between cases */
        s.worst = s.n == 0 || f->ratio < s.worst ? f->ratio : s.worst;
        s.n++;
    }
    s.mean = s.n ? exp(s.mean / s.n) : 0;
    s.limit = s.n ? s.limit / s.n : 0;
    s.goal = s.n ? s.goal / s.n : g->goal_mean;
    return s;
}

void print_heading(const group *g)
{
    printf("\n%-44s %8s %8s %8s %7s\n", g->title, "GB/s", "memcpy", "stream", "reached");
}

void print_row(const row *r)
{
    const figures *f = &r->f;
    char bar[21] = "....................";
    int full = (int)(20 * f->ratio + 0.5);
    memset(bar, '#', (size_t)(full > 20 ? 20 : full));
    printf("  %-42s %8.1f %8.1f %8.1f %7.2f  %s%s\n", r->what.name, f->work, f->plain,
           f->stream, f->ratio, bar, f->moved ? "  unstable" : "");
    fflush(stdout);
}

static void print_goal(int cases, double got, double goal)
{
    char is[8] = "-", should[8] = "-";
    if (cases)
        snprintf(is, sizeof is, "%.2f", got);
    if (goal > 0)
        snprintf(should, sizeof should, "%.2f", goal);
    printf("  %5s  %7s  %-6s", should, is,
           goal <= 0 || !cases ? ""
           : got >= goal       ? "ok"
                               : "MISSED");
}

void print_summary(const report *r)
{
    printf(
        "\nThe peer is R, the better of memcpy and a streaming copy of the same bytes with the "
        "same threads:\n%-38s %5s %6s  %5s  %7s  %-6s  %5s  %7s\n",
        r->cpu, "cases", "R", "goal", "reached", "", "goal", "worst");
    int without = 0;
    for (int i = 0; i < r->groups; i++) {
        const group *g = &r->group[i];
        const summary s = group_summary(g);
        without += g->count - s.n;
        printf("%-38s %5d %6.1f", g->title, s.n, s.limit);
        print_goal(s.n, s.mean, s.goal);
        print_goal(s.n, s.worst, g->goal_worst);
        printf("\n");
    }
    for (int i = 0; i < r->facts; i++) {
        const fact *f = &r->fact[i];
        printf("%-72s %5.*f %s", f->name, f->value < 10 ? 2 : 0, f->value, f->unit);
        if (f->goal > 0)
            printf(", goal %g%s", f->goal,
                   (f->at_least ? f->value >= f->goal : f->value <= f->goal) ? "  ok"
                                                                             : "  MISSED");
        printf("\n");
    }
    if (without)
        printf("%d cases are unstable: R varied by more than 15 %% while they ran.\n", without);
}

/* ---- JSON ---- */

static void json_row(FILE *out, const row *r)
{
    const figures *f = &r->f;
    fprintf(out, "      {\"case\": \"%s\", \"dtype\": \"%s\", \"shape\": [", r->what.name,
            tn_dtype_name(r->what.dtype));
    for (int i = 0; i < r->what.ndim; i++)
        fprintf(out, "%s%lld", i ? ", " : "", (long long)r->what.shape[i]);
    fprintf(out, "], \"axes\": [");
    for (int i = 0; i < r->what.ndim; i++)
        fprintf(out, "%s%d", i ? ", " : "", r->what.axes[i]);
    fprintf(out,
            "],\n       \"gbs\": %.2f, \"memcpy\": %.2f, \"stream\": %.2f, \"ratio\": %.4f, "
            "\"verdict\": %s}",
            f->work, f->plain, f->stream, f->ratio, f->moved ? "false" : "true");
}

static void json_group(FILE *out, const group *g)
{
    const summary s = group_summary(g);
    fprintf(out,
            "    {\"key\": \"%s\", \"title\": \"%s\", \"verdicts\": %d, \"mean\": %.4f, "
            "\"worst\": %.4f, \"limit\": %.1f, \"goal_mean\": %.2f, \"goal_worst\": %.2f, "
            "\"cases\": [\n",
            g->key, g->title, s.n, s.mean, s.worst, s.limit, s.goal, g->goal_worst);
    for (int i = 0; i < g->count; i++) {
        json_row(out, &g->rows[i]);
        fprintf(out, i + 1 < g->count ? ",\n" : "\n");
    }
    fprintf(out, "    ]}");
}

bool write_json(const report *r, const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    fprintf(out,
            "{\n  \"version\": \"%s\", \"isa\": \"%s\", \"cpu\": \"%s\", \"threads\": %d,\n  "
            "\"groups\": [\n",
            tn_version(), tn_isa(), r->cpu, r->threads);
    for (int i = 0; i < r->groups; i++) {
        json_group(out, &r->group[i]);
        fprintf(out, i + 1 < r->groups ? ",\n" : "\n");
    }
    fprintf(out, "  ],\n  \"facts\": [\n");
    for (int i = 0; i < r->facts; i++)
        fprintf(out,
                "    {\"name\": \"%s\", \"value\": %.2f, \"unit\": \"%s\", \"goal\": %g}%s\n",
                r->fact[i].name, r->fact[i].value, r->fact[i].unit, r->fact[i].goal,
                i + 1 < r->facts ? "," : "");
    fprintf(out, "  ]\n}\n");
    return fclose(out) == 0;
}
