/* table.c - the lines of a benchmark as text and as JSON. */
#include "table.h"

#include <stdio.h>

#include <tenon/tenon.h>

enum { MOST = 256 };
static line lines[MOST];
static int count;

void table_begin(const char *title)
{
    printf("%-46s %10s  %6s %8s  %s\n", title, "GB/s", "goal", "reached", "peer");
}

static const char *verdict(const line *l)
{
    if (l->goal <= 0)
        return "";
    if (l->moved)
        return "  unstable";
    return (l->gbs > 0 ? l->reached >= l->goal : l->reached <= l->goal) ? "  ok" : "  MISSED";
}

void table_add(const line *l)
{
    char goal[16] = "-", peer[48] = "-";
    if (l->goal > 0)
        snprintf(goal, sizeof goal, l->gbs > 0 ? "%.2f" : "%.0f", l->goal);
    if (l->peer)
        snprintf(peer, sizeof peer, "%s %.1f", l->peer, l->peer_gbs);
    if (l->gbs > 0)
        printf("%-46s %10.1f  %6s %8.2f  %-18s%s\n", l->name, l->gbs, goal, l->reached, peer,
               verdict(l));
    else
        printf("%-46s %7.1f ns  %6s %8.1f  %-18s%s\n", l->name, l->ns, goal, l->reached, peer,
               verdict(l));
    fflush(stdout);
    if (count < MOST)
        lines[count++] = *l;
}

bool table_json(const char *path)
{
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    fprintf(out, "{\n  \"version\": \"%s\", \"isa\": \"%s\",\n  \"cases\": [\n", tn_version(),
            tn_isa());
    for (int i = 0; i < count; i++) {
        const line *l = &lines[i];
        fprintf(out,
                "    {\"case\": \"%s\", \"%s\": %.3f, \"goal\": %g, \"reached\": %.4f, "
                "\"peer\": \"%s\", \"peer_gbs\": %.3f, \"verdict\": %s}%s\n",
                l->name, l->gbs > 0 ? "gbs" : "ns", l->gbs > 0 ? l->gbs : l->ns, l->goal,
                l->reached, l->peer ? l->peer : "", l->peer_gbs, l->moved ? "false" : "true",
                i + 1 < count ? "," : "");
    }
    fprintf(out, "  ]\n}\n");
    return fclose(out) == 0;
}
