/* numbers.c - parsing numbers, axes and distributions. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"

int parse_numbers(const char *what, const char *text, int most, int64_t *out, int *n)
{
    *n = 0;
    for (const char *s = text; *s;) {
        char *end;
        errno = 0;
        long long x = strtoll(s, &end, 10);
        if (end == s || errno || (*end && *end != ','))
            return usage("%s: got \"%s\", expected integers separated by commas", what, text);
        if (*n == most)
            return usage("%s: got \"%s\", expected at most %d integers", what, text, most);
        out[(*n)++] = x;
        s = *end ? end + 1 : end;
    }
    return DONE;
}

int parse_axes(const char *what, const char *text, int ndim, int *axes, int *n)
{
    int64_t numbers[TN_MAX_NDIM];
    TRY(parse_numbers(what, text, TN_MAX_NDIM, numbers, n));
    for (int i = 0; i < *n; i++) {
        const int64_t axis = numbers[i] < 0 ? numbers[i] + ndim : numbers[i];
        axes[i] = axis < 0 || axis > TN_MAX_NDIM ? -1 : (int)axis; /* the library reports it */
    }
    return DONE;
}

/* Parse one placement: "cyclic:1:64:2x4"; *extent is 0 if it is not given. */
static int parse_placement(const char *text, tn_placement *p, int *extent)
{
    static const struct {
        const char *name;
        tn_cut cut;
    } cuts[] = {{"block", TN_CUT_BLOCK}, {"even", TN_CUT_EVEN}, {"cyclic", TN_CUT_CYCLIC}};
    char word[64];
    long long numbers[3] = {-1, 0, 0};
    int n = 0;
    const char *times = strrchr(text, 'x');
    *extent = 0;
    *p = (tn_placement){.axis = -1};
    snprintf(word, sizeof word, "%.*s", times ? (int)(times - text) : (int)strlen(text), text);
    if (times && (*extent = atoi(times + 1)) < 1)
        return usage("invalid distribution: \"%s\"", text);
    char *colon = strchr(word, ':');
    for (char *s = colon; s && n < 3; n++) {
        char *end;
        numbers[n] = strtoll(s + 1, &end, 10);
        if (end == s + 1 || (*end && *end != ':'))
            return usage("invalid distribution: \"%s\"", text);
        s = *end ? end : NULL;
    }
    if (colon)
        *colon = 0;
    if (!strcmp(word, "copy") && n == 0)
        return DONE;
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        if (!strcmp(word, cuts[i].name) && n > 0 && (cuts[i].cut == TN_CUT_CYCLIC) == (n > 1)) {
            *p = (tn_placement){.axis = (int)numbers[0],
                                .cut = cuts[i].cut,
                                .block = numbers[1],
                                .first = (int)numbers[2]};
            return DONE;
        }
    return usage("invalid distribution: \"%s\"", text);
}

int parse_dist(const char *text, int ndim, const int64_t *shape, int ranks, tn_dist **d)
{
    char copy[256];
    tn_placement cuts[16];
    int mesh[16] = {0}, n = 0, given = 1, open = -1;
    snprintf(copy, sizeof copy, "%s", text);
    char *at = strchr(copy, '@');
    if (at)
        *at++ = 0;
    for (char *save, *word = strtok_r(copy, ",", &save); word;
         word = strtok_r(NULL, ",", &save)) {
        if (n == 16)
            return usage("invalid distribution: \"%s\"", text);
        TRY(parse_placement(word, &cuts[n], &mesh[n]));
        n++;
    }
    for (int i = 0; at && i < n; i++) {
        char *end;
        mesh[i] = (int)strtol(at, &end, 10);
        if (end == at || mesh[i] < 1 || (*end && *end != 'x'))
            return usage("invalid mesh: \"%s\"", text);
        at = *end ? end + 1 : end;
    }
    for (int i = 0; i < n; i++) {
        given *= mesh[i] ? mesh[i] : 1;
        if (!mesh[i] && open >= 0)
            return usage("\"%s\": specify the mesh, such as @4x2", text);
        open = mesh[i] ? open : i;
    }
    if (open >= 0)
        mesh[open] = ranks / given > 0 ? ranks / given : 1;
    LIB(tn_dist_mesh(d, ndim, shape, n, mesh, cuts, NULL));
    return DONE;
}
