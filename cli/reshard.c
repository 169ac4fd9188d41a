/* reshard.c - reshard: writing a plan into a folder, and going on after a stop.
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

/* A file of the library's writer that was killed before it had its name. */
static bool is_temporary(const char *name)
{
    return fnmatch(".tenon-*.tmp", name, 0) == 0;
}

static int remove_temporaries(const out_folder *out)
{
    DIR *d = opendir(out->partial);
    int code = d ? DONE : fail("%s: %s", out->partial, strerror(errno));
    for (struct dirent *e; code == DONE && (e = readdir(d));)
        if (is_temporary(e->d_name) && unlinkat(dirfd(d), e->d_name, 0) != 0)
            code = fail("%s/%s: %s", out->partial, e->d_name, strerror(errno));
    if (d)
        closedir(d);
    return code;
}

/* Whether a folder has only files that this plan writes. */
static bool only_own_files(const reshard *p, const layout *l, const out_folder *out)
{
    DIR *d = opendir(out->partial);
    bool own = d != NULL;
    for (struct dirent *e; own && (e = readdir(d));) {
        own = !strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") ||
              !strcmp(e->d_name, ".plan") || !strcmp(e->d_name, INDEX_FILE) ||
              is_temporary(e->d_name) ||
              (p->a->also && fnmatch(p->a->also, e->d_name, FNM_PERIOD) == 0);
        for (int64_t k = 0; k < l->n && !own; k++)
            own = !strcmp(e->d_name, l->files[k].name);
    }
    if (d)
        closedir(d);
    return own;
}

/* How many files are complete, by the list of a folder that an earlier run has left.  A run that
 * is killed as the folder is made, or as it gets its name, leaves no list: all is done again. */
static int files_done(const reshard *p, const layout *l, const out_folder *out, uint64_t hash,
                      int64_t *done)
{
    char *path = NULL, line[256];
    unsigned long long was = 0;
    *done = 0;
    TRY(folder_file(out, ".plan", &path));
    FILE *f = fopen(path, "r");
    free(path);
    const bool listed = f && fgets(line, sizeof line, f) && sscanf(line, "%16llx\n", &was) == 1;
    if (!listed && only_own_files(p, l, out)) {
        if (f)
            fclose(f);
        return note_done(p->a, out, NULL, hash, true);
    }
    while (listed && was == hash && *done < l->n && fgets(line, sizeof line, f)) {
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
    return listed && was == hash
               ? DONE
               : fail("%s: is left from another plan; -f removes it", out->partial);
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
    TRY(files_done(p, l, out, hash, done));
    return remove_temporaries(out);
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
        code = folder_file(out, INDEX_FILE, &path);
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
    if (code == DONE)
        code = check_copies(p);
    if (code == DONE)
        say_proof(p, &l);
    if (code == DONE && a->proof)
        code = write_proof(p, &l);
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
