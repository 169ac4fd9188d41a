/* meta.c - the metadata of a file, or the key-values of a .gguf: shown, set, removed.
 *
 * tn_file_metadata returns a JSON object of strings without blanks, so a string ends at the
 * first unescaped quote. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kv.h"

typedef struct pair {
    char *key, *value;
} pair;

typedef struct pairs {
    pair *list;
    int n, capacity;
} pairs;

static int add_pair(pairs *ps, char *key, char *value)
{
    if (ps->n == ps->capacity) {
        int capacity = ps->capacity ? 2 * ps->capacity : 8;
        pair *more = realloc(ps->list, (size_t)capacity * sizeof *more);
        if (more) {
            ps->list = more;
            ps->capacity = capacity;
        }
    }
    if (!key || !value || ps->n == ps->capacity) {
        free(key);
        free(value);
        return fail("out of memory");
    }
    ps->list[ps->n++] = (pair){key, value};
    return DONE;
}

static void free_pairs(pairs *ps)
{
    for (int i = 0; i < ps->n; i++) {
        free(ps->list[i].key);
        free(ps->list[i].value);
    }
    free(ps->list);
}

/* Decode the string that begins at *at. */
static char *take_string(const char **at)
{
    static const char from[] = "bfnrt", to[] = "\b\f\n\r\t";
    const char *p = *at + 1;
    char *out = malloc(strlen(p) + 1), *end = out;
    for (; out && *p != '"'; p++) {
        if (*p != '\\') {
            *end++ = *p;
            continue;
        }
        const char *known = strchr(from, *++p);
        if (*p == 'u') {
            *end++ = (char)strtol((char[]){p[3], p[4], 0}, NULL, 16);
            p += 4;
        } else {
            *end++ = known ? to[known - from] : *p;
        }
    }
    if (out)
        *end = 0;
    *at = p + 1;
    return out;
}

static int read_pairs(const char *text, pairs *ps)
{
    *ps = (pairs){0};
    for (const char *at = text; at && *at != '}' && at[1] == '"';) {
        at++;
        char *key = take_string(&at);
        if (!key)
            return fail("out of memory");
        at++;
        char *value = take_string(&at);
        TRY(add_pair(ps, key, value));
    }
    return DONE;
}

static void drop_pair(pairs *ps, int i)
{
    free(ps->list[i].key);
    free(ps->list[i].value);
    memmove(&ps->list[i], &ps->list[i + 1], (size_t)(--ps->n - i) * sizeof *ps->list);
}

static int find_pair(const pairs *ps, const char *key, size_t n)
{
    for (int i = 0; i < ps->n; i++)
        if (strlen(ps->list[i].key) == n && !strncmp(ps->list[i].key, key, n))
            return i;
    return -1;
}

static int not_a_pair(const args *a, const char *text)
{
    return usage(a, "--set takes KEY=VALUE, got \"%s\"", text);
}

static int change_pairs(const args *a, pairs *ps)
{
    for (int i = 0; a->strip && i + 1 < a->n; i++) {
        int at = find_pair(ps, a->operands[i], strlen(a->operands[i]));
        if (at < 0)
            return fail("no key \"%s\"", a->operands[i]);
        drop_pair(ps, at);
    }
    while (a->strip && a->n == 1 && ps->n)
        drop_pair(ps, ps->n - 1);
    for (int i = 0; i < a->nset; i++) {
        const char *equals = strchr(a->set[i], '=');
        if (!equals)
            return not_a_pair(a, a->set[i]);
        int at = find_pair(ps, a->set[i], (size_t)(equals - a->set[i]));
        if (at >= 0)
            drop_pair(ps, at);
        TRY(add_pair(ps, strndup(a->set[i], (size_t)(equals - a->set[i])), strdup(equals + 1)));
    }
    return DONE;
}

static char *pairs_text(const pairs *ps)
{
    char *text = NULL;
    size_t n = 0;
    FILE *f = open_memstream(&text, &n);
    if (!f)
        return NULL;
    fputc('{', f);
    for (int i = 0; i < ps->n; i++) {
        fputs(i ? ", " : "", f);
        json_text(f, ps->list[i].key);
        fputs(": ", f);
        json_text(f, ps->list[i].value);
    }
    fputc('}', f);
    return fclose(f) == 0 ? text : NULL;
}

static int show_pairs(const args *a, const edit *e, const pairs *ps)
{
    const char *text = tn_file_metadata(e->sources[0].f);
    if (a->json) {
        printf("%s\n", text ? text : "{}");
        return DONE;
    }
    for (int i = 0; i < ps->n; i++) {
        print_name(ps->list[i].key);
        printf(": ");
        print_name(ps->list[i].value);
        printf("\n");
    }
    return DONE;
}

static int write_meta(const args *a, const edit *e, const pairs *ps)
{
    target t;
    TRY(edit_check(e));
    char *text = pairs_text(ps);
    if (!text)
        return fail("out of memory");
    int code = DONE;
    if (a->explain || a->dry_run) {
        printf("%s\n", text);
    } else if ((code = open_target(a, &t)) == DONE) {
        if (ps->n && !t.format->metadata)
            code = fail("%s: only .safetensors holds metadata", a->out);
        progress_start(a, edit_bytes(e));
        if (code == DONE)
            code = edit_write(a, &t, e->items, e->n, ps->n ? text : NULL);
        progress_end();
        close_target(&t);
    }
    free(text);
    return code;
}

/* ---- key-values of .gguf ---- */

static int change_values(const args *a, kvs *ks)
{
    for (int i = 0; a->strip && i + 1 < a->n; i++) {
        int64_t at = kvs_find(ks, a->operands[i]);
        if (at < 0)
            return fail("no key \"%s\"", a->operands[i]);
        kvs_drop(ks, at);
    }
    if (a->strip && a->n == 1)
        kvs_free(ks);
    for (int i = 0; i < a->nset; i++) {
        if (!strchr(a->set[i], '='))
            return not_a_pair(a, a->set[i]);
        TRY(kvs_set(ks, a->set[i]));
    }
    return DONE;
}

static int write_values(const args *a, const edit *e, const kvs *ks)
{
    target t;
    TRY(edit_check(e));
    if (a->explain || a->dry_run) {
        kvs_print_json(stdout, ks);
        return DONE;
    }
    TRY(open_target(a, &t));
    int code = t.format->values ? kvs_bytes(ks, &t.values, &t.values_size)
                                : fail("%s: only .gguf holds key-values", a->out);
    progress_start(a, edit_bytes(e));
    if (code == DONE)
        code = edit_write(a, &t, e->items, e->n, NULL);
    progress_end();
    close_target(&t);
    return code;
}

static int meta_of_gguf(const args *a, const edit *e, bool changes)
{
    kvs ks = {0};
    const char *path = e->sources[0].path;
    int code = a->kv ? kvs_of_path(&ks, a->kv) : kvs_of_file(&ks, e->sources[0].f);
    set_error_subject(path);
    if (code == DONE && changes)
        code = change_values(a, &ks);
    set_error_subject(NULL);
    if (code == DONE && (changes || a->kv))
        code = write_values(a, e, &ks);
    else if (code == DONE && a->json)
        kvs_print_json(stdout, &ks);
    else if (code == DONE)
        kvs_print(&ks);
    kvs_free(&ks);
    return code;
}

static int meta_of_pairs(const args *a, const edit *e, bool changes)
{
    pairs ps = {0};
    if (a->kv)
        return usage(a, "--kv needs a .gguf, but %s is %s", e->sources[0].path,
                     tn_file_format(e->sources[0].f));
    int code = read_pairs(tn_file_metadata(e->sources[0].f), &ps);
    set_error_subject(e->sources[0].path);
    if (code == DONE && changes)
        code = change_pairs(a, &ps);
    set_error_subject(NULL);
    if (code == DONE)
        code = changes ? write_meta(a, e, &ps) : show_pairs(a, e, &ps);
    free_pairs(&ps);
    return code;
}

int run_meta(const args *a)
{
    edit e;
    bool changes = a->strip || a->nset;
    if (a->n == 0)
        return usage(a, "missing argument: IN");
    if (a->n > 1 && !a->strip)
        return usage(a, "too many arguments");
    if (!changes && !a->kv && a->out)
        return usage(a, "-o needs --set, --strip or --kv");
    int code = edit_open(&e, 1, &a->operands[a->n - 1]);
    if (code == DONE)
        code = !strcmp(tn_file_format(e.sources[0].f), "gguf") ? meta_of_gguf(a, &e, changes)
                                                               : meta_of_pairs(a, &e, changes);
    edit_close(&e);
    return code;
}
