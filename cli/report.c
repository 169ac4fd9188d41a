/* report.c - one page about the tensors of files: statistics, pictures and problems.
 *
 * Each tensor is read once: the library's reductions compute the statistics, and pictures are
 * made from the same boxes on the way. */
#include "report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_text(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ p[i]) * 1099511628211u;
    return hash;
}

/* FNV-1a of name, dtype and shape. */
static uint64_t hash_kind(const subject *s)
{
    uint64_t hash = hash_text(14695981039346656037u, s->name, strlen(s->name) + 1);
    hash = hash_text(hash, s->type, strlen(s->type) + 1);
    for (int i = 0; i < s->ndim; i++) {
        char text[24];
        int n = snprintf(text, sizeof text, "%lld,", (long long)s->shape[i]);
        hash = hash_text(hash, text, (size_t)n);
    }
    return hash;
}

/* ---- facts that need no reading ---- */

static void describe(const report *r, subject *s)
{
    const tn_file *f = r->files[s->file].f;
    tn_tensor t;
    s->name = tn_file_name(f, s->i);
    s->shape = tn_file_shape(f, s->i, &s->ndim);
    s->type = tn_file_type(f, s->i);
    s->subnormal = s->zero_rows = s->bytes = -1;
    s->params = s->shape ? 1 : 0;
    for (int i = 0; s->shape && i < s->ndim; i++)
        s->params *= s->shape[i];
    if (!s->shape)
        s->ndim = 0;
    if (tn_file_info(f, s->i, NULL, &t, NULL) != TN_OK)
        return;
    s->dtype = t.dtype;
    s->type = tn_dtype_name(t.dtype);
    s->bytes = tn_nbytes(&t);
}

static int add_file(report *r, const char *word)
{
    source *s = &r->files[r->nfiles];
    int64_t *which = NULL, n = 0;
    TRY(open_source(s, word));
    r->nfiles++;
    int code = chosen_tensors(r->a, s, &which, &n);
    subject *more =
        code == DONE ? realloc(r->list, (size_t)(r->n + n + 1) * sizeof *more) : NULL;
    if (code == DONE && !more)
        code = fail("cannot allocate memory for %lld tensors", (long long)n);
    if (more)
        r->list = more;
    for (int64_t k = 0; code == DONE && k < n; k++) {
        subject *to = &r->list[r->n++];
        *to = (subject){.file = r->nfiles - 1, .i = which[k]};
        describe(r, to);
    }
    free(which);
    return code;
}

/* ---- reading ---- */

static void take_pictures(subject *s, const pictures *p)
{
    s->hash = p->hash;
    s->zero_rows = p->cut_rows ? -1 : p->zero_rows;
    s->subnormal = pictures_subnormal(p, &s->stats);
    pictures_histogram(p, &s->stats, s->histogram, &s->log);
    pictures_line(p, s->line);
    s->heat = pictures_heat(p);
    s->heat_rows = p->rows;
    s->heat_columns = p->columns;
}

static int read_input(const report *r, subject *s, const input *in)
{
    recipe re = {0};
    pictures p = {0};
    int code = recipe_of_view(&re, &in->t, in);
    if (code == DONE)
        code = pictures_start(&p, &re.sources[0], r->sample, r->a->hash);
    if (code == DONE) {
        tn_stream job = recipe_job(&re, r->a, NULL);
        job.sources = &p.source;
        if (tn_stream_stats(&job, &s->stats, 0, NULL) != TN_OK)
            code = fail("%s", tn_error());
    }
    progress_next();
    s->read = code == DONE;
    if (code == DONE)
        take_pictures(s, &p);
    pictures_free(&p);
    recipe_free(&re);
    return code;
}

/* True if elements can be read or dequantised; other tensors are listed without statistics. */
static bool can_read(const report *r, const subject *s)
{
    tn_tensor none;
    float nothing;
    const int64_t zero = 0;
    return s->dtype || (tn_init(&none, &nothing, TN_F32, 1, &zero) == TN_OK && s->shape &&
                        tn_file_dequantize_range(r->files[s->file].f, s->i, 0, &none) == TN_OK);
}

static int read_all(report *r)
{
    int64_t total = 0;
    for (int64_t i = 0; i < r->n; i++)
        total += r->list[i].bytes > 0 ? r->list[i].bytes : 4 * r->list[i].params;
    progress_start(r->a, total);
    int code = DONE;
    for (int64_t i = 0; code == DONE && i < r->n; i++) {
        subject *s = &r->list[i];
        input in;
        if (!can_read(r, s))
            continue;
        code = open_input(r->a, &in, &r->files[s->file], s->i);
        if (code == DONE) {
            code = read_input(r, s, &in);
            close_input(&in);
        }
    }
    progress_end();
    return code;
}

static void sum_up(report *r)
{
    for (int64_t i = 0; i < r->n; i++) {
        const uint64_t kind = hash_kind(&r->list[i]);
        r->fingerprint += kind;
        r->hash += hash_text(kind, &r->list[i].hash, sizeof r->list[i].hash);
    }
}

/* ---- the command ---- */

/* "1%" or "0.01" */
static int read_sample(const args *a, double *share)
{
    char *end;
    *share = 1;
    if (!a->sample)
        return DONE;
    *share = strtod(a->sample, &end);
    if (*end == '%') {
        *share /= 100;
        end++;
    }
    return end != a->sample && !*end && *share > 0 && *share <= 1
               ? DONE
               : usage(a, "--sample takes a share such as 1%%, got \"%s\"", a->sample);
}

static int write_report(const report *r)
{
    const args *a = r->a;
    if (a->out)
        return write_whole(a, a->out, a->json ? print_facts : print_page, r);
    return print_facts(stdout, r);
}

int run_report(const args *a)
{
    report r = {.a = a};
    if (a->n == 0)
        return usage(a, "missing argument: FILE");
    if (!a->out && !a->json)
        return usage(a, "missing -o OUT");
    TRY(read_sample(a, &r.sample));
    if (a->out)
        TRY(may_write(a, a->out));
    r.files = calloc((size_t)a->n, sizeof *r.files);
    int code = r.files ? DONE : fail("out of memory");
    for (int i = 0; code == DONE && i < a->n; i++)
        code = add_file(&r, a->operands[i]);
    if (code == DONE && a->explain)
        printf("%lld tensors are read once\n", (long long)r.n);
    if (code == DONE && !a->explain)
        code = read_all(&r);
    if (code == DONE && !a->explain)
        code = find_trouble(&r);
    sum_up(&r);
    if (code == DONE && !a->explain)
        code = write_report(&r);
    for (int64_t i = 0; i < r.n; i++)
        free(r.list[i].heat);
    for (int i = 0; i < r.nfiles; i++)
        close_source(&r.files[i]);
    free(r.list);
    free(r.files);
    return code;
}
