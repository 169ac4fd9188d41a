/* rules_names.c - rules that only rename or drop tensors, for rename and diff. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

static bool only_names(const rule *r)
{
    const rule_side *sides[] = {&r->left, &r->right};
    for (int i = 0; i < 2; i++) {
        const rule_side *s = sides[i];
        if (!s->drop &&
            (s->n != 1 || s->has_axis || s->placement.kind != UNSPECIFIED || s->nsteps))
            return false;
    }
    return true;
}

int read_renames(const char *path, rules *r)
{
    TRY(read_rules(path, r));
    for (int i = 0; i < r->n; i++)
        if (!only_names(&r->list[i])) {
            fprintf(stderr, "tenon: ");
            print_safe(stderr, path);
            fprintf(stderr, ":%d: the rule does more than rename; use tenon reshard\n",
                    r->list[i].line);
            return USAGE;
        }
    return DONE;
}

int renamed(rules *rs, const char *old, char **name)
{
    captures c;
    *name = NULL;
    for (int i = 0; i < rs->n; i++) {
        rule *r = &rs->list[i];
        if (!match_name(r->left.names[0], old, &c))
            continue;
        r->matched = true;
        if (r->right.drop)
            return DONE;
        bool same = !strcmp(r->right.names[0], "=");
        *name = same ? strdup(old) : expand_name(r->right.names[0], &c);
        return *name ? DONE
                     : fail("%s:%d: the right side has a wildcard that the left one lacks",
                            rs->path, r->line);
    }
    *name = strdup(old);
    return *name ? DONE : fail("out of memory");
}
