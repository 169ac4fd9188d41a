/* reshard.c - reshard: writing a plan into a folder, its proof, going on after a stop, verifying.
 *
 * Work goes to OUTDIR.partial.  Its file .plan begins with a hash of everything that the plan
 * depends on and lists the files that are complete. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reshard.h"

/* ---- files of the result ---- */

/* Outputs [first, first + n) of `order` go into one file. */
typedef struct out_file {
    char name[64];
    int64_t first, n;
} out_file;

typedef struct layout {
    int64_t *order; /* outputs by file */
    out_file *files;
    int64_t n;
} layout;

int64_t out_bytes(const out_tensor *t)
{
    int64_t n = (int64_t)tn_dtype_size(t->v.dtype);
    for (int i = 0; i < t->v.ndim; i++)
        n *= t->v.shape[i];
    return n;
}

static void lay_out_ranks(const reshard *p, layout *l)
{
    int ranks = (int)p->a->out_ranks;
    int64_t at = 0;
    for (int k = 0; k < ranks; k++) {
        out_file *f = &l->files[l->n++];
        snprintf(f->name, sizeof f->name, "rank-%04d-of-%04d.safetensors", k, ranks);
        f->first = at;
        for (int64_t i = 0; i < p->nouts; i++)
            if (p->outs[i].rank == k)
                l->order[at++] = i;
        f->n = at - f->first;
    }
}

static void lay_out_shards(const reshard *p, layout *l)
{
    int64_t held = 0, most = p->a->shard_size ? p->a->shard_size : INT64_MAX;
    l->files[l->n++] = (out_file){.first = 0};
    for (int64_t i = 0; i < p->nouts; i++) {
        out_file *f = &l->files[l->n - 1];
        int64_t bytes = out_bytes(&p->outs[i]);
        l->order[i] = i;
        if (f->n && (bytes > most || held > most - bytes)) {
            l->files[l->n++] = (out_file){.first = i};
            held = 0;
        }
        l->files[l->n - 1].n++;
        held += bytes;
    }
    for (int64_t k = 0; k < l->n; k++)
        shard_name(l->files[k].name, k, l->n);
}

static int make_layout(const reshard *p, layout *l)
{
    int64_t files = p->nouts + p->a->out_ranks + 1;
    *l = (layout){malloc((size_t)(p->nouts + 1) * sizeof *l->order),
                  calloc((size_t)files, sizeof *l->files), 0};
    if (!l->order || !l->files)
        return fail("no memory");
    if (p->a->out_ranks > 1)
        lay_out_ranks(p, l);
    else
        lay_out_shards(p, l);
    return DONE;
}

static void free_layout(layout *l)
{
    free(l->order);
    free(l->files);
}

/* ---- the proof ---- */

typedef struct proof_job {
    const reshard *p;
    const layout *l;
} proof_job;

static void print_list(FILE *f, const char *name, int n, const int64_t *list)
{
    fprintf(f, ",\"%s\":[", name);
    for (int i = 0; i < n; i++)
        fprintf(f, "%s%" PRId64, i ? "," : "", list[i]);
    fputs("]", f);
}

static const char *dtype_text(char text[16], tn_dtype dtype)
{
    snprintf(text, 16, "%s", tn_dtype_name(dtype));
    for (char *c = text; *c; c++)
        *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
    return text;
}

static void print_inputs(FILE *f, const reshard *p)
{
    static const char *const uses[] = {"unused", "used", "sliced", "drop", "copy"};
    char dtype[16];
    fputs("{\"tenon\":\"reshard proof\",\"version\":1,\"inputs\":[", f);
    for (int i = 0; i < p->nins; i++) {
        const in_tensor *t = &p->ins[i];
        fprintf(f, "%s{\"id\":%d,\"file\":", i ? "," : "", i);
        json_text(f, tn_file_path(t->from->f, t->i));
        fputs(",\"tensor\":", f);
        json_text(f, t->name);
        fprintf(f, ",\"dtype\":\"%s\"", dtype_text(dtype, t->desc.dtype));
        print_list(f, "shape", t->desc.ndim, t->desc.shape);
        fprintf(f, ",\"use\":\"%s\"}", uses[t->use]);
    }
    fputs("]}\n", f);
}

static void print_pieces(FILE *f, const virtual *v)
{
    int64_t dense[TN_MAX_NDIM], step = 1;
    for (int i = v->ndim - 1; i >= 0; i--) {
        dense[i] = step;
        step *= v->shape[i];
    }
    for (int64_t k = 0; k < v->n; k++) {
        const nest_piece *q = &v->pieces[k];
        int64_t n[MOST_LOOPS], out[MOST_LOOPS], in[MOST_LOOPS], at = 0;
        for (int i = 0; i < v->ndim; i++)
            at += q->at[i] * dense[i];
        for (int i = 0; i < q->nloops; i++) {
            n[i] = q->loops[i].n;
            out[i] = q->loops[i].step * dense[q->loops[i].axis];
            in[i] = q->loops[i].in_step;
        }
        fprintf(f, "%s{\"in\":%d", k ? "," : "", q->in);
        print_list(f, "n", q->nloops, n);
        fprintf(f, ",\"out_at\":%" PRId64, at);
        print_list(f, "out_step", q->nloops, out);
        fprintf(f, ",\"in_at\":%" PRId64, q->in_at);
        print_list(f, "in_step", q->nloops, in);
        fputs("}", f);
    }
}

static int print_proof_lines(void *out, const void *user)
{
    const proof_job *j = user;
    const reshard *p = j->p;
    FILE *f = out;
    char dtype[16];
    int64_t bytes = 0;
    int dropped = 0;
    print_inputs(f, p);
    for (int64_t k = 0; k < j->l->n; k++)
        for (int64_t i = 0; i < j->l->files[k].n; i++) {
            const out_tensor *t = &p->outs[j->l->order[j->l->files[k].first + i]];
            fprintf(f, "{\"file\":\"%s\",\"tensor\":", j->l->files[k].name);
            json_text(f, t->name);
            fprintf(f, ",\"dtype\":\"%s\"", dtype_text(dtype, t->v.dtype));
            print_list(f, "shape", t->v.ndim, t->v.shape);
            fprintf(f, ",\"copy\":%s,\"pieces\":[", t->copy ? "true" : "false");
            print_pieces(f, &t->v);
            fputs("]}\n", f);
            bytes += out_bytes(t);
        }
    for (int i = 0; i < p->nins; i++)
        dropped += p->ins[i].use == DROPPED;
    fprintf(f,
            "{\"sum\":{\"inputs\":%d,\"outputs\":%" PRId64 ",\"bytes_out\":%" PRId64
            ",\"dropped\":%d}}\n",
            p->nins, p->nouts, bytes, dropped);
    return DONE;
}

static void say_proof(const reshard *p, const layout *l)
{
    int64_t bytes = 0;
    int dropped = 0;
    for (int64_t i = 0; i < p->nouts; i++)
        bytes += out_bytes(&p->outs[i]);
    for (int i = 0; i < p->nins; i++)
        dropped += p->ins[i].use == DROPPED;
    printf("proof: %d inputs, %lld outputs files, %lld bytes, every output element from one "
           "input element, %d dropped\n",
           p->nins, (long long)l->n, (long long)bytes, dropped);
    fflush(stdout);
}

/* ---- the elements of one output ---- */

/* A recipe whose sources are the pieces; the inputs stay open as long as it runs. */
typedef struct made {
    virtual v; /* refined */
    recipe r;
    input *inputs;
    int ninputs;
} made;

static void made_free(made *m)
{
    recipe_free(&m->r);
    for (int i = 0; i < m->ninputs; i++)
        close_input(&m->inputs[i]);
    free(m->inputs);
    virtual_free(&m->v);
}

/* Input `in`, opened once; NULL: it failed and has said why. */
static const input *made_input(const reshard *p, made *m, int in, int *ids)
{
    for (int i = 0; i < m->ninputs; i++)
        if (ids[i] == in)
            return &m->inputs[i];
    if (open_input(p->a, &m->inputs[m->ninputs], p->ins[in].from, p->ins[in].i) != DONE)
        return NULL;
    ids[m->ninputs] = in;
    return &m->inputs[m->ninputs++];
}

/* The elements of a piece as a view of the input, which is dense in its own order. */
static int add_piece_source(made *m, const nest_piece *q, const input *in)
{
    int64_t shape[TN_MAX_NDIM], stride[TN_MAX_NDIM];
    int64_t width = (int64_t)tn_dtype_size(in->t.dtype);
    tn_tensor view;
    if (!tn_is_contiguous(&in->t))
        return fail("%s: tensor \"%s\" is not stored in row-major order", in->from->path,
                    tn_file_name(in->from->f, in->i));
    for (int i = 0; i < m->v.ndim; i++) {
        shape[i] = 1;
        stride[i] = 0;
    }
    for (int i = 0; i < q->nloops; i++) {
        shape[q->loops[i].axis] = q->loops[i].n;
        stride[q->loops[i].axis] = q->loops[i].in_step * width;
    }
    LIB(tn_init_strided(&view, (char *)in->t.data + q->in_at * width, in->t.dtype, m->v.ndim,
                        shape, stride));
    view.flags = in->t.flags;
    return recipe_add(&m->r, &view, in, q->at);
}

static int make_output(const reshard *p, const out_tensor *t, made *m)
{
    int code = DONE;
    *m = (made){.inputs = NULL};
    TRY(virtual_copy(&m->v, &t->v));
    TRY(virtual_refine(&m->v));
    TRY(recipe_start(&m->r, t->v.dtype, t->v.ndim, t->v.shape));
    if (m->v.ndim == 0 && t->v.n) { /* one element */
        int64_t one = 1;
        TRY(virtual_reshape(&m->v, 1, &one));
    }
    m->r.job.ndim = m->v.ndim;
    memcpy(m->r.job.shape, m->v.shape, (size_t)m->v.ndim * sizeof m->v.shape[0]);
    m->inputs = calloc((size_t)m->v.n + 1, sizeof *m->inputs);
    int *ids = malloc((size_t)(m->v.n + 1) * sizeof *ids);
    if (!m->inputs || !ids)
        code = fail("no memory");
    for (int64_t k = 0; code == DONE && k < m->v.n; k++) {
        const input *in = made_input(p, m, m->v.pieces[k].in, ids);
        code = in ? add_piece_source(m, &m->v.pieces[k], in) : FAILED;
    }
    free(ids);
    return code;
}

/* ---- copies that must be equal ---- */

static tn_status compare_box(void *user, const tn_tensor *out, int n,
                             const tn_tensor *const *srcs, const int64_t *at)
{
    (void)out;
    (void)n;
    (void)at;
    return tn_compare(srcs[0], srcs[1], 0, 0, user);
}

static tn_status pass(void *user, const tn_tensor *block, const int64_t *at)
{
    (void)user;
    (void)block;
    (void)at;
    return TN_OK;
}

static int check_copy(const reshard *p, const in_tensor *t)
{
    const in_tensor *like = &p->ins[t->like];
    input x, y;
    recipe r;
    tn_difference d = {0};
    tn_stream_map map = {compare_box, &d};
    TRY(open_input(p->a, &x, like->from, like->i));
    int code = open_input(p->a, &y, t->from, t->i);
    if (code != DONE) {
        close_input(&x);
        return code;
    }
    code = recipe_start(&r, TN_U8, x.t.ndim, x.t.shape);
    if (code == DONE)
        code = recipe_add(&r, &x.t, &x, NULL);
    if (code == DONE)
        code = recipe_add(&r, &y.t, &y, NULL);
    tn_stream job = recipe_job(&r, p->a, NULL);
    job.recipe = TN_STREAM_MAP;
    job.args = &map;
    job.put = pass;
    job.progress = NULL;
    job.threads = 1;
    if (code == DONE && tn_stream_run(&job) != TN_OK)
        code = fail("%s", tn_error());
    if (code == DONE && d.unequal)
        code = fail("copies of tensor \"%s\" differ: %s and %s", t->name, like->from->path,
                    t->from->path);
    recipe_free(&r);
    close_input(&y);
    close_input(&x);
    return code;
}

static int check_copies(const reshard *p)
{
    for (int i = 0; i < p->nins; i++)
        if (p->ins[i].use == COPIED)
            TRY(check_copy(p, &p->ins[i]));
    return DONE;
}

/* ---- verifying ---- */

typedef struct check_job {
    const tn_file *f;
    int64_t i;
    tn_tensor have; /* in the axes of the boxes */
    char *bytes;
    int64_t capacity, first_bad; /* -1: all equal */
    const virtual *v;
} check_job;

static tn_status check_box(void *user, const tn_tensor *block, const int64_t *at)
{
    check_job *j = user;
    tn_tensor view, got;
    if (tn_nbytes(block) > j->capacity) {
        free(j->bytes);
        j->capacity = tn_nbytes(block);
        j->bytes = malloc((size_t)j->capacity);
        if (!j->bytes)
            return TN_ENOMEM;
    }
    tn_status status = tn_view(&view, &j->have, block->shape, at, NULL, 0);
    if (status == TN_OK)
        status = tn_init(&got, j->bytes, block->dtype, block->ndim, block->shape);
    if (status == TN_OK)
        status = tn_file_fetch(j->f, j->i, &got, &view);
    if (status != TN_OK || j->first_bad >= 0 ||
        !memcmp(j->bytes, block->data, (size_t)tn_nbytes(block)))
        return status;
    int64_t k = 0, width = (int64_t)tn_dtype_size(block->dtype), first = 0;
    while (!memcmp(j->bytes + k * width, (char *)block->data + k * width, (size_t)width))
        k++;
    for (int i = 0; i < block->ndim; i++)
        first = first * j->have.shape[i] + at[i];
    j->first_bad = first + k;
    return status;
}

static int verify_tensor(const reshard *p, const out_tensor *t, const tn_file *f,
                         const char *path)
{
    check_job j = {.f = f, .first_bad = -1};
    made m;
    tn_tensor desc;
    if (tn_file_find(f, t->name, &j.i) != TN_OK ||
        tn_file_info(f, j.i, NULL, &desc, NULL) != TN_OK)
        return fail("%s: tensor \"%s\" is missing", path, t->name);
    if (desc.dtype != t->v.dtype || desc.ndim != t->v.ndim ||
        memcmp(desc.shape, t->v.shape, (size_t)desc.ndim * sizeof desc.shape[0]) != 0)
        return fail("%s: tensor \"%s\" has another shape or dtype", path, t->name);
    int code = make_output(p, t, &m);
    tn_stream job = recipe_job(&m.r, p->a, NULL);
    job.put = check_box;
    job.user = &j;
    job.progress = NULL;
    if (code == DONE && (tn_file_places(f, j.i, &desc) != TN_OK ||
                         tn_reshape(&j.have, &desc, m.v.ndim, m.v.shape) != TN_OK ||
                         tn_stream_run(&job) != TN_OK))
        code = fail("%s", tn_error());
    if (code == DONE && j.first_bad >= 0)
        code = fail("%s: tensor \"%s\" differs at element %lld", path, t->name,
                    (long long)j.first_bad);
    free(j.bytes);
    made_free(&m);
    return code;
}

static int verify_file(const reshard *p, const layout *l, int64_t k)
{
    char *path = NULL;
    tn_file *f = NULL;
    const out_file *of = &l->files[k];
    if (asprintf(&path, "%s/%s", p->a->out, of->name) < 0)
        return fail("no memory");
    int code = tn_file_open(&f, path) == TN_OK ? DONE : fail("%s", tn_error());
    if (code == DONE && tn_file_count(f) != of->n)
        code = fail("%s has %lld tensors, expected %lld", path, (long long)tn_file_count(f),
                    (long long)of->n);
    for (int64_t i = 0; code == DONE && i < of->n; i++)
        code = verify_tensor(p, &p->outs[l->order[of->first + i]], f, path);
    tn_file_close(f);
    free(path);
    return code;
}

/* ---- writing ---- */

/* FNV-1a over everything that the plan depends on. */
static uint64_t hash_more(uint64_t hash, const void *bytes, size_t n)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static uint64_t plan_hash(const reshard *p)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    char text[128];
    struct stat s = {0};
    const args *a = p->a;
    hash = hash_more(hash, tn_version(), strlen(tn_version()));
    snprintf(text, sizeof text, "%d %lld %lld %lld", a->in_ranks, (long long)a->out_ranks,
             (long long)a->shard_size, (long long)a->align);
    hash = hash_more(hash, text, strlen(text));
    for (int i = 0; i < a->n; i++) {
        (void)stat(a->operands[i], &s);
        snprintf(text, sizeof text, "|%lld %lld %ld|", (long long)s.st_size,
                 (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
        hash = hash_more(hash, a->operands[i], strlen(a->operands[i]));
        hash = hash_more(hash, text, strlen(text));
    }
    for (int i = 0; i < p->nins; i++) {
        const char *path = tn_file_path(p->ins[i].from->f, p->ins[i].i);
        hash = hash_more(hash, path, strlen(path));
        hash = hash_more(hash, p->ins[i].name, strlen(p->ins[i].name));
    }
    return hash;
}

static int write_output(const reshard *p, const out_tensor *t, tn_writer *w)
{
    made m;
    int code = make_output(p, t, &m);
    if (code == DONE)
        code = run_job(&m.r, p->a, w);
    made_free(&m);
    return code;
}

static int write_file(const reshard *p, const layout *l, int64_t k, const char *path)
{
    const out_file *of = &l->files[k];
    size_t n = (size_t)(of->n ? of->n : 1);
    const char **names = malloc(n * sizeof *names);
    tn_tensor *descs = malloc(n * sizeof *descs);
    const tn_tensor **ts = malloc(n * sizeof *ts);
    tn_writer *w = NULL;
    int code = names && descs && ts ? DONE : fail("no memory");
    for (int64_t i = 0; code == DONE && i < of->n; i++) {
        const out_tensor *t = &p->outs[l->order[of->first + i]];
        names[i] = t->name;
        ts[i] = &descs[i];
        if (tn_init(&descs[i], NULL, t->v.dtype, t->v.ndim, t->v.shape) != TN_OK)
            code = fail("%s", tn_error());
    }
    tn_write_options options = {.align = p->a->align,
                                .no_sync = p->a->no_sync,
                                .metadata = tn_file_metadata(p->sources[0].f)};
    if (code == DONE && tn_writer_open(&w, path, (int)of->n, names, ts, &options) != TN_OK)
        code = fail("%s", tn_error());
    for (int64_t i = 0; code == DONE && i < of->n; i++)
        code = write_output(p, &p->outs[l->order[of->first + i]], w);
    if (w && code != DONE)
        tn_writer_abort(w);
    else if (w && tn_writer_commit(w) != TN_OK)
        code = fail("%s", tn_error());
    free(ts);
    free(descs);
    free(names);
    return code;
}

typedef struct index_job {
    const reshard *p;
    const layout *l;
} index_job;

static int print_index(void *out, const void *user)
{
    const index_job *j = user;
    int64_t bytes = 0;
    for (int64_t i = 0; i < j->p->nouts; i++)
        bytes += out_bytes(&j->p->outs[i]);
    fprintf(out, "{\"metadata\": {\"total_size\": %lld}, \"weight_map\": {", (long long)bytes);
    for (int64_t k = 0, n = 0; k < j->l->n; k++)
        for (int64_t i = 0; i < j->l->files[k].n; i++) {
            fprintf(out, n++ ? ",\n" : "\n");
            json_text(out, j->p->outs[j->l->order[j->l->files[k].first + i]].name);
            fprintf(out, ": \"%s\"", j->l->files[k].name);
        }
    fprintf(out, "\n}}\n");
    return DONE;
}

/* Files of the inputs' folders that --also names. */
static int copy_file(const args *a, const char *from, const char *to)
{
    FILE *in = fopen(from, "rb"), *out = in ? fopen(to, "wb") : NULL;
    char part[1 << 14];
    size_t n;
    bool bad = !in || !out;
    while (!bad && (n = fread(part, 1, sizeof part, in)) > 0)
        bad = fwrite(part, 1, n, out) != n;
    bad = bad || ferror(in) || fflush(out) != 0 || (!a->no_sync && fsync(fileno(out)) != 0);
    int error = errno;
    if (in)
        fclose(in);
    if (out && fclose(out) != 0)
        bad = true;
    return bad ? fail("%s: %s", in ? to : from, strerror(error)) : DONE;
}

static int copy_also(const reshard *p, const out_folder *out, const source *s)
{
    struct stat st;
    char *folder = strdup(s->path);
    if (!folder)
        return fail("no memory");
    char *slash = strrchr(folder, '/');
    if (stat(folder, &st) == 0 && !S_ISDIR(st.st_mode))
        strcpy(slash ? slash : folder, slash ? "" : ".");
    DIR *d = opendir(folder);
    int code = d ? DONE : fail("%s: %s", folder, strerror(errno));
    for (struct dirent *e; code == DONE && (e = readdir(d));) {
        char *from = NULL, *to = NULL;
        if (fnmatch(p->a->also, e->d_name, FNM_PERIOD) != 0 || strstr(e->d_name, ".index.json"))
            continue;
        if (asprintf(&from, "%s/%s", folder, e->d_name) < 0 ||
            asprintf(&to, "%s/%s", out->partial, e->d_name) < 0)
            code = fail("no memory");
        if (code == DONE && stat(from, &st) == 0 && S_ISREG(st.st_mode))
            code = copy_file(p->a, from, to);
        free(from);
        free(to);
    }
    if (d)
        closedir(d);
    free(folder);
    return code;
}

/* How many files are complete, by the list of a folder that an earlier run has left. */
static int files_done(const reshard *p, const layout *l, const out_folder *out, uint64_t hash,
                      int64_t *done)
{
    char *path = NULL, line[256];
    unsigned long long was = 0;
    *done = 0;
    TRY(folder_file(out, ".plan", &path));
    FILE *f = fopen(path, "r");
    free(path);
    bool same = f && fscanf(f, "%llx\n", &was) == 1 && was == hash;
    while (same && *done < l->n && fgets(line, sizeof line, f)) {
        struct stat s;
        long long size;
        char name[64], *at = NULL;
        if (sscanf(line, "%63s %lld", name, &size) != 2 ||
            strcmp(name, l->files[*done].name) != 0 || folder_file(out, name, &at) != DONE)
            break;
        bool good = stat(at, &s) == 0 && s.st_size == size;
        free(at);
        if (!good)
            break;
        ++*done;
    }
    if (f)
        fclose(f);
    (void)p;
    return same ? DONE : fail("%s: is left from another plan; -f removes it", out->partial);
}

static int note_done(const args *a, const out_folder *out, const char *name, uint64_t hash,
                     bool first)
{
    char *path = NULL, *file = NULL;
    struct stat s = {0};
    TRY(folder_file(out, ".plan", &path));
    FILE *f = fopen(path, first ? "w" : "a");
    int code = f ? DONE : fail("%s: %s", path, strerror(errno));
    if (f && first)
        fprintf(f, "%016llx\n", (unsigned long long)hash);
    if (f && name && folder_file(out, name, &file) == DONE && stat(file, &s) == 0)
        fprintf(f, "%s %lld\n", name, (long long)s.st_size);
    if (f && (fflush(f) != 0 || (!a->no_sync && fsync(fileno(f)) != 0) || fclose(f) != 0))
        code = fail("%s: %s", path, strerror(errno));
    free(file);
    free(path);
    return code;
}

/* Begin a folder, or go on with the one that is there. */
static int begin_folder(const reshard *p, const layout *l, out_folder *out, uint64_t hash,
                        int64_t *done)
{
    const args *a = p->a;
    *out = (out_folder){0};
    *done = 0;
    char *partial = NULL;
    size_t n = a->out ? strlen(a->out) : 0;
    while (n > 1 && a->out[n - 1] == '/')
        n--;
    if (a->out && asprintf(&partial, "%.*s.partial", (int)n, a->out) < 0)
        return fail("no memory");
    bool left = partial && folder_exists(partial) && !a->force && !folder_exists(a->out);
    if (!left) {
        free(partial);
        TRY(folder_begin(a, out));
        return note_done(a, out, NULL, hash, true);
    }
    out->partial = partial;
    out->path = strndup(a->out, n);
    if (!out->path)
        return fail("no memory");
    out->made = true;
    return files_done(p, l, out, hash, done);
}

static int write_all(const reshard *p, const layout *l, out_folder *out, uint64_t hash,
                     int64_t done)
{
    int64_t bytes = 0;
    char *path = NULL;
    for (int64_t k = done; k < l->n; k++)
        for (int64_t i = 0; i < l->files[k].n; i++)
            bytes += out_bytes(&p->outs[l->order[l->files[k].first + i]]);
    progress_start(p->a, bytes);
    int code = DONE;
    for (int64_t k = done; code == DONE && k < l->n; k++) {
        code = folder_file(out, l->files[k].name, &path);
        if (code == DONE)
            code = write_file(p, l, k, path);
        if (code == DONE)
            code = note_done(p->a, out, l->files[k].name, hash, false);
        free(path);
        path = NULL;
    }
    progress_end();
    index_job j = {p, l};
    if (code == DONE && l->n > 1 && p->a->out_ranks < 2) {
        code = folder_file(out, "model.safetensors.index.json", &path);
        if (code == DONE)
            code = write_text(p->a, path, print_index, &j);
        free(path);
    }
    for (int i = 0; code == DONE && p->a->also && i < p->nsources; i++)
        code = copy_also(p, out, &p->sources[i]);
    if (code == DONE && folder_file(out, ".plan", &path) == DONE) {
        unlink(path);
        free(path);
        code = folder_commit(p->a, out);
    }
    return code;
}

static int write_folder(const reshard *p, const layout *l)
{
    out_folder out;
    int64_t done;
    uint64_t hash = plan_hash(p);
    int code = begin_folder(p, l, &out, hash, &done);
    if (code == DONE)
        code = write_all(p, l, &out, hash, done);
    folder_end(&out, true);
    return code;
}

static int run_plan(const reshard *p)
{
    layout l;
    const args *a = p->a;
    int code = make_layout(p, &l);
    proof_job j = {p, &l};
    if (code == DONE)
        code = check_copies(p);
    if (code == DONE)
        say_proof(p, &l);
    if (code == DONE && a->proof)
        code = write_text(a, a->proof, print_proof_lines, &j);
    if (code == DONE && a->verify) {
        for (int64_t k = 0; code == DONE && k < l.n; k++)
            code = verify_file(p, &l, k);
        if (code == DONE)
            printf("verified: %lld files, every byte\n", (long long)l.n);
    } else if (code == DONE && !a->dry_run && !a->explain) {
        code = write_folder(p, &l);
    }
    free_layout(&l);
    return code;
}

int run_reshard(const args *a)
{
    reshard p = {.a = a};
    if (a->n < 2)
        return usage(a, a->n ? "missing argument: IN" : "missing argument: RULES");
    if (!a->out && !a->dry_run && !a->explain)
        return usage(a, "missing -o OUTDIR");
    if (a->out_ranks > 9999 || (a->out_ranks > 1 && a->shard_size))
        return usage(a, a->shard_size ? "--out-ranks and --shard-size exclude each other"
                                      : "--out-ranks is at most 9999");
    int code = reshard_plan(&p);
    if (code == DONE)
        code = run_plan(&p);
    reshard_free(&p);
    return code;
}
