/* edit.c - select, drop, rename, merge, split: the same tensors in other files or under other
 * names.
 *
 * Before anything is written it is decided which tensors go into which file under which names.
 * Order and bytes of the tensors do not change. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules.h"

/* ---- the tensors of all inputs ---- */

static int grow_items(edit *e, int64_t more)
{
    item *items = realloc(e->items, (size_t)(e->n + more) * sizeof *items);
    if (!items)
        return fail("cannot allocate memory for %lld tensors", (long long)(e->n + more));
    e->items = items;
    return DONE;
}

static int add_source(edit *e, const char *word)
{
    source *s = &e->sources[e->nsources];
    TRY(open_source(s, word));
    e->nsources++;
    int64_t first = s->which < 0 ? 0 : s->which, n = s->which < 0 ? tn_file_count(s->f) : 1;
    TRY(grow_items(e, n ? n : 1));
    for (int64_t i = first; i < first + n; i++) {
        item it = {.from = s, .i = i};
        if (tn_file_info(s->f, i, NULL, &it.desc, NULL) != TN_OK)
            it.desc.ndim = -1; /* not an error unless it is selected */
        const char *own = tn_file_name(s->f, i);
        it.name = *own ? strdup(own) : file_stem(s->path);
        if (!it.name)
            return fail("out of memory");
        e->items[e->n++] = it;
    }
    return DONE;
}

int edit_open(edit *e, int n, const char *const *words)
{
    *e = (edit){.sources = calloc((size_t)n, sizeof *e->sources)};
    if (!e->sources)
        return fail("out of memory");
    for (int i = 0; i < n; i++)
        TRY(add_source(e, words[i]));
    return DONE;
}

void edit_close(edit *e)
{
    for (int64_t i = 0; i < e->n; i++)
        free(e->items[i].name);
    for (int i = 0; i < e->nsources; i++)
        close_source(&e->sources[i]);
    free(e->items);
    free(e->sources);
    *e = (edit){0};
}

/* Remove items that are not marked. */
static void keep_marked(edit *e)
{
    int64_t n = 0;
    for (int64_t i = 0; i < e->n; i++) {
        if (e->items[i].marked)
            e->items[n++] = e->items[i];
        else
            free(e->items[i].name);
    }
    e->n = n;
}

static int no_match(const edit *e, const char *text)
{
    const char *near[3];
    int n = nearest_names(e->sources[0].f, text, near);
    return fail("%s: no tensor matches \"%s\"%s%s%s%s%s%s%s", e->sources[0].path, text,
                n ? "; nearest: " : "", n > 0 ? near[0] : "", n > 1 ? ", " : "",
                n > 1 ? near[1] : "", n > 2 ? ", " : "", n > 2 ? near[2] : "", "");
}

static int by_name(const void *a, const void *b)
{
    const item *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Check that names are distinct and every tensor has a dtype. */
int edit_check(const edit *e)
{
    const item **sorted = malloc((size_t)(e->n ? e->n : 1) * sizeof *sorted);
    int code = sorted ? DONE : fail("out of memory");
    for (int64_t i = 0; code == DONE && i < e->n; i++) {
        const item *it = sorted[i] = &e->items[i];
        if (it->desc.ndim < 0 &&
            tn_file_info(it->from->f, it->i, NULL, &(tn_tensor){0}, NULL) != TN_OK)
            code = fail("%s", tn_error());
    }
    if (code == DONE)
        qsort(sorted, (size_t)e->n, sizeof *sorted, by_name);
    for (int64_t i = 1; code == DONE && i < e->n; i++)
        if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
            code = fail("two tensors are named \"%s\": one in %s, one in %s", sorted[i]->name,
                        tn_file_path(sorted[i - 1]->from->f, sorted[i - 1]->i),
                        tn_file_path(sorted[i]->from->f, sorted[i]->i));
    free(sorted);
    return code;
}

/* ---- writing ---- */

static int write_item(const args *a, const item *it, tn_writer *w)
{
    input in;
    recipe r = {0};
    int code = open_input(a, &in, it->from, it->i);
    if (code == DONE)
        code = recipe_of_view(&r, &in.t, &in);
    if (code == DONE)
        code = run_job(&r, a, w);
    recipe_free(&r);
    close_input(&in);
    return code;
}

int edit_write(const args *a, const target *t, const item *items, int64_t n,
               const char *metadata)
{
    const char **names = malloc((size_t)(n ? n : 1) * sizeof *names);
    const tn_tensor **ts = malloc((size_t)(n ? n : 1) * sizeof *ts);
    tn_writer *w = NULL;
    int code = names && ts ? DONE : fail("out of memory");
    for (int64_t i = 0; code == DONE && i < n; i++) {
        names[i] = items[i].name;
        ts[i] = &items[i].desc;
    }
    if (code == DONE)
        code = open_writer(a, t, &w, (int)n, names, ts, metadata);
    for (int64_t i = 0; code == DONE && i < n; i++)
        code = write_item(a, &items[i], w);
    if (w && code != DONE)
        tn_writer_abort(w);
    else if (w && tn_writer_commit(w) != TN_OK)
        code = fail("%s", tn_error());
    free(ts);
    free(names);
    return code;
}

void edit_list(const edit *e, const char *path, int64_t first, int64_t n)
{
    char shape[512];
    for (int64_t i = first; i < first + n; i++) {
        const item *it = &e->items[i];
        print_name(path);
        printf("  ");
        print_name(it->name);
        printf("  %s %s", tn_dtype_name(it->desc.dtype),
               shape_text(shape, it->desc.ndim, it->desc.shape));
        if (strcmp(it->name, tn_file_name(it->from->f, it->i)) != 0) {
            printf("  was ");
            print_name(tn_file_name(it->from->f, it->i));
        }
        printf("\n");
    }
}

int64_t edit_bytes(const edit *e)
{
    int64_t bytes = 0;
    for (int64_t i = 0; i < e->n; i++)
        bytes += tn_nbytes(&e->items[i].desc);
    return bytes;
}

/* Write all remaining items to the file of -o. */
static int write_out(const args *a, edit *e)
{
    target t;
    TRY(edit_check(e));
    if (a->explain || a->dry_run) {
        edit_list(e, a->out ? a->out : "(no -o)", 0, e->n);
        return DONE;
    }
    TRY(open_target(a, &t));
    int code = target_values(a, &t, e->sources[0].f);
    progress_start(a, edit_bytes(e));
    if (code == DONE)
        code = edit_write(a, &t, e->items, e->n, tn_file_metadata(e->sources[0].f));
    progress_end();
    close_target(&t);
    return code;
}

/* ---- select, drop, rename, merge ---- */

static int mark_globs(const args *a, edit *e, int n)
{
    for (int k = 0; k < n; k++) {
        bool any = false;
        for (int64_t i = 0; i < e->n; i++)
            if (!fnmatch(a->operands[k], e->items[i].name, 0))
                any = e->items[i].marked = true;
        if (!any)
            return no_match(e, a->operands[k]);
    }
    return DONE;
}

static int select_some(const args *a, bool drop)
{
    edit e;
    if (a->n < 2)
        return usage(a, a->n ? "missing argument: IN" : "missing argument: GLOB");
    int code = edit_open(&e, 1, &a->operands[a->n - 1]);
    if (code == DONE)
        code = mark_globs(a, &e, a->n - 1);
    for (int64_t i = 0; drop && i < e.n; i++)
        e.items[i].marked = !e.items[i].marked;
    if (code == DONE) {
        keep_marked(&e);
        code = write_out(a, &e);
    }
    edit_close(&e);
    return code;
}

int run_select(const args *a)
{
    return select_some(a, false);
}

int run_drop(const args *a)
{
    return select_some(a, true);
}

/* Apply "old=new" to every tensor that old matches and no earlier pair has renamed. */
static int rename_by(edit *e, const char *pair)
{
    const char *equals = strchr(pair, '=');
    bool any = false;
    char *old = strndup(pair, (size_t)(equals - pair));
    int code = old ? DONE : fail("out of memory");
    const char *why = old ? check_pattern(old) : NULL;
    if (code == DONE && !why)
        why = check_pattern(equals + 1);
    if (why)
        code = fail("\"%s\": a pattern %s", pair, why);
    for (int64_t i = 0; code == DONE && i < e->n; i++) {
        item *it = &e->items[i];
        captures c;
        if (it->marked || !match_name(old, it->name, &c))
            continue;
        char *name = expand_name(equals + 1, &c);
        if (!name) {
            code = fail("\"%s\": the new name has a wildcard that the old one lacks", pair);
            break;
        }
        free(it->name);
        it->name = name;
        it->marked = any = true;
    }
    if (code == DONE && !any)
        code = no_match(e, old);
    free(old);
    return code;
}

/* Rename by rules the tensors that no pair has renamed; a rule may drop a tensor. */
static int rename_by_rules(edit *e, const char *path)
{
    rules rs = {0};
    int code = read_renames(path, &rs);
    for (int64_t i = 0; code == DONE && i < e->n; i++) {
        item *it = &e->items[i];
        char *name = NULL;
        bool keep = it->marked;
        it->marked = true;
        if (keep || (code = renamed(&rs, it->name, &name)) != DONE)
            continue;
        it->marked = name != NULL;
        free(it->name);
        it->name = name;
    }
    for (int i = 0; code == DONE && i < rs.n; i++)
        if (!rs.list[i].matched && !rs.list[i].optional)
            code = fail("%s:%d: no tensor matches \"%s\"", path, rs.list[i].line,
                        rs.list[i].left.names[0]);
    if (code == DONE)
        keep_marked(e);
    free_rules(&rs);
    return code;
}

int run_rename(const args *a)
{
    edit e;
    if (a->n < (a->rules ? 1 : 2))
        return usage(a,
                     a->n || a->rules ? "missing argument: IN" : "missing argument: OLD=NEW");
    for (int i = 0; i + 1 < a->n; i++)
        if (!strchr(a->operands[i], '='))
            return usage(a, "\"%s\" is not OLD=NEW", a->operands[i]);
    int code = edit_open(&e, 1, &a->operands[a->n - 1]);
    for (int i = 0; code == DONE && i + 1 < a->n; i++)
        code = rename_by(&e, a->operands[i]);
    if (code == DONE && a->rules)
        code = rename_by_rules(&e, a->rules);
    if (code == DONE)
        code = write_out(a, &e);
    edit_close(&e);
    return code;
}

int run_merge(const args *a)
{
    edit e;
    if (a->n == 0)
        return usage(a, "missing argument: IN");
    int code = edit_open(&e, a->n, a->operands);
    if (code == DONE)
        code = write_out(a, &e);
    edit_close(&e);
    return code;
}
