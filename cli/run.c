/* run.c - from inputs to an output file: which tensors, under which names, in which order.
 *
 * The output path is not touched before everything has been written. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "kv.h"

/* ---- the output ---- */

static const out_format out_formats[] = {
    {".npz", .many = true},
    {".safetensors", .many = true, .widest_first = true, .metadata = true},
    {".gguf", .many = true, .values = true},
    {.suffix = ""}, /* .npy, and suffixes that the library refuses */
};

/* The format for the first len bytes of a path. */
static const out_format *format_of(const char *path, size_t len)
{
    const out_format *f = out_formats;
    for (size_t n = strlen(f->suffix); len < n || strncmp(path + len - n, f->suffix, n) != 0;
         n = strlen(f->suffix))
        f++;
    return f;
}

int may_write(const args *a, const char *path)
{
    struct stat s;
    if (stat(path, &s) != 0)
        return DONE;
    if (S_ISDIR(s.st_mode))
        return fail("%s: Is a directory", path);
    if (!S_ISREG(s.st_mode)) /* a rename would replace the device itself */
        return fail("%s: not a regular file", path);
    return a->force ? DONE : fail("%s already exists; use -f to overwrite", path);
}

int open_target(const args *a, target *t)
{
    *t = (target){.name = a->name, .format = format_of("", 0)};
    if (!a->out)
        return usage(a, "missing -o OUT");
    if (!strcmp(a->out, "-"))
        return isatty(STDOUT_FILENO) ? fail("standard output is a terminal") : DONE;
    size_t len = strlen(a->out);
    for (const char *p = strchr(a->out, ':'); p; p = strchr(p + 1, ':')) {
        size_t n = (size_t)(p - a->out);
        if (format_of(a->out, n)->many) {
            t->name = p + 1;
            len = n;
            break;
        }
    }
    t->path = strndup(a->out, len);
    if (!t->path)
        return fail("out of memory");
    t->format = format_of(t->path, len);
    int code = a->compress && strcmp(t->format->suffix, ".npz") != 0
                   ? usage(a, "--compress needs a .npz result, got -o %s", a->out)
                   : may_write(a, t->path);
    if (code != DONE)
        close_target(t);
    return code;
}

void close_target(target *t)
{
    free(t->path);
    free(t->values);
    *t = (target){0};
}

int target_values(const args *a, target *t, const tn_file *like)
{
    kvs ks = {0};
    if (a->kv && !t->format->values)
        return usage(a, "--kv needs a .gguf result, got -o %s", a->out);
    if (!t->format->values || (!a->kv && (!like || strcmp(tn_file_format(like), "gguf") != 0)))
        return DONE;
    int code = a->kv ? kvs_of_path(&ks, a->kv) : kvs_of_file(&ks, like);
    if (code == DONE)
        code = kvs_bytes(&ks, &t->values, &t->values_size);
    kvs_free(&ks);
    return code;
}

char *file_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *stem = strdup(slash ? slash + 1 : path);
    if (stem && !strcmp(stem, "-")) {
        free(stem);
        return strdup("tensor");
    }
    char *dot = stem ? strrchr(stem, '.') : NULL;
    if (dot && dot != stem)
        *dot = 0;
    return stem;
}

/* The name of a result without a name of its own: its input's, or the input file's without
 * suffix. */
static char *result_name(const target *t, const input *like)
{
    if (t->name)
        return strdup(t->name);
    const char *own = tn_file_name(like->from->f, like->i);
    return own && *own ? strdup(own) : file_stem(like->from->path);
}

int open_writer(const args *a, const target *t, tn_writer **w, int n, const char *const *names,
                const tn_tensor *const *ts, const char *metadata)
{
    if (!t->path) {
        if (n != 1)
            return fail("standard output takes one tensor, got %d", n);
        LIB(tn_writer_open_fd(w, STDOUT_FILENO, "standard output", ts[0]));
        return DONE;
    }
    tn_write_options options = {.metadata = metadata,
                                .align = a->align,
                                .no_sync = a->no_sync,
                                .compress = a->compress,
                                .exclusive = !a->force,
                                .values = t->values,
                                .values_size = (int64_t)t->values_size};
    LIB(tn_writer_open(w, t->path, n, names, ts, &options));
    return DONE;
}

/* ---- one result ---- */

int run_job(const recipe *r, const args *a, tn_writer *w)
{
    tn_stream job = recipe_job(r, a, w);
    LIB(tn_stream_run(&job));
    progress_next();
    return DONE;
}

int run_recipe(const args *a, const recipe *r, const input *like)
{
    target t;
    if (a->explain)
        return explain_recipe(a, r, "", a->out);
    if (!a->out && a->command->prints)
        return print_recipe(a, r, like);
    TRY(open_target(a, &t));
    char *name = result_name(&t, like);
    const char *const names[] = {name};
    const tn_tensor *ts[] = {&r->job.out};
    tn_writer *w = NULL;
    int code =
        name ? target_values(a, &t, like->from ? like->from->f : NULL) : fail("out of memory");
    if (code == DONE)
        code = open_writer(a, &t, &w, 1, names, ts, NULL);
    if (code == DONE) {
        progress_start(a, recipe_work(r));
        code = run_job(r, a, w);
        if (code != DONE)
            tn_writer_abort(w);
        else if (tn_writer_commit(w) != TN_OK)
            code = fail("%s", tn_error());
        progress_end();
    }
    free(name);
    close_target(&t);
    return code;
}

/* ---- many results ---- */

typedef struct job {
    const args *a;
    const source *s;
    build_fn *build;
    int n;
    int64_t *order;   /* tensors of the source in output order */
    tn_tensor *descs; /* descriptions of the results, by tensor */
    const char **names;
    const tn_tensor **ts;
    int64_t total;
} job;

static bool chosen(const job *j, int64_t i)
{
    return !j->a->tensors || !fnmatch(j->a->tensors, tn_file_name(j->s->f, i), 0);
}

/* Make the recipe of tensor i: the change, or a copy of the tensor. */
static int build(const job *j, int64_t i, input *in, recipe *r)
{
    args untyped = *j->a;
    if (!chosen(j, i))
        untyped.dtype = NULL;
    *r = (recipe){0};
    TRY(open_input(&untyped, in, j->s, i));
    char *subject = NULL;
    if (asprintf(&subject, "%s:%s", j->s->path, tn_file_name(j->s->f, i)) < 0)
        return fail("out of memory");
    set_error_subject(subject);
    int code = chosen(j, i) ? j->build(j->a, in, r) : recipe_of_view(r, &in->t, in);
    set_error_subject(NULL);
    free(subject);
    return code;
}

/* Describe all results first: the header is written before the data. */
static int describe(job *j)
{
    int matches = 0;
    for (int k = 0; k < j->n; k++) {
        args look = *j->a;
        look.explain = true; /* do not unpack compressed tensors */
        job dry = *j;
        dry.a = &look;
        input in;
        recipe r;
        int code = build(&dry, k, &in, &r);
        if (code == DONE) {
            j->descs[k] = r.job.out;
            j->total += recipe_work(&r);
        }
        recipe_free(&r);
        close_input(&in);
        TRY(code);
        matches += chosen(j, k);
        j->order[k] = k;
    }
    if (!matches)
        return fail("%s: no tensor matches \"%s\"", j->s->path, j->a->tensors);
    return DONE;
}

static const tn_tensor *sort_descs;

static int wider_first(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    size_t p = tn_dtype_size(sort_descs[x].dtype), q = tn_dtype_size(sort_descs[y].dtype);
    return p != q ? (p > q ? -1 : 1) : x < y ? -1 : 1;
}

static int run_all(job *j, tn_writer *w)
{
    for (int k = 0; k < j->n; k++) {
        input in;
        recipe r;
        int code = build(j, j->order[k], &in, &r);
        if (code == DONE)
            code = run_job(&r, j->a, w);
        recipe_free(&r);
        close_input(&in);
        TRY(code);
    }
    return DONE;
}

static int explain_all(const job *j)
{
    for (int k = 0; k < j->n; k++) {
        input in;
        recipe r;
        int code = build(j, k, &in, &r);
        if (code == DONE)
            code = explain_count(j->a, &r, chosen(j, k));
        if (code == DONE && chosen(j, k))
            code = explain_recipe(j->a, &r, tn_file_name(j->s->f, k), j->a->out);
        recipe_free(&r);
        close_input(&in);
        TRY(code);
    }
    explain_sum(j->a);
    return DONE;
}

static int write_all(job *j)
{
    target t;
    tn_writer *w = NULL;
    TRY(open_target(j->a, &t));
    sort_descs = j->descs;
    if (t.format->widest_first)
        qsort(j->order, (size_t)j->n, sizeof *j->order, wider_first);
    for (int k = 0; k < j->n; k++) {
        j->ts[k] = &j->descs[j->order[k]];
        j->names[k] = tn_file_name(j->s->f, j->order[k]);
    }
    int code = target_values(j->a, &t, j->s->f);
    if (code == DONE)
        code = open_writer(j->a, &t, &w, j->n, j->names, j->ts, tn_file_metadata(j->s->f));
    if (code == DONE) {
        progress_start(j->a, j->total);
        code = run_all(j, w);
        if (code != DONE)
            tn_writer_abort(w);
        else if (tn_writer_commit(w) != TN_OK)
            code = fail("%s", tn_error());
        progress_end();
    }
    close_target(&t);
    return code;
}

static int run_many(const args *a, const source *s, build_fn *build_one)
{
    job j = {.a = a, .s = s, .build = build_one, .n = (int)tn_file_count(s->f)};
    size_t n = (size_t)(j.n ? j.n : 1);
    j.order = malloc(n * sizeof *j.order);
    j.descs = malloc(n * sizeof *j.descs);
    j.names = malloc(n * sizeof *j.names);
    j.ts = malloc(n * sizeof *j.ts);
    int code = j.order && j.descs && j.names && j.ts ? describe(&j) : fail("out of memory");
    if (code == DONE)
        code = a->explain ? explain_all(&j) : write_all(&j);
    free(j.ts);
    free(j.names);
    free(j.descs);
    free(j.order);
    return code;
}

static int run_one(const args *a, const source *s, build_fn *build_one)
{
    input in;
    recipe r = {0};
    int code = open_input(a, &in, s, s->which < 0 ? 0 : s->which);
    set_error_subject(s->path);
    if (code == DONE)
        code = build_one(a, &in, &r);
    set_error_subject(NULL);
    if (code == DONE)
        code = run_recipe(a, &r, &in);
    recipe_free(&r);
    close_input(&in);
    return code;
}

int run_unary(const args *a, const char *word, build_fn *build_one)
{
    source s;
    TRY(open_source(&s, word));
    bool many =
        a->tensors || (a->command->whole_file && s.which < 0 && tn_file_count(s.f) != 1);
    int code;
    if (many)
        code = run_many(a, &s, build_one);
    else if (s.which < 0 && tn_file_count(s.f) != 1)
        code = fail("%s has %lld tensors; name one as %s:NAME, or choose some with --tensors",
                    s.path, (long long)tn_file_count(s.f), s.path);
    else
        code = run_one(a, &s, build_one);
    close_source(&s);
    return code;
}
