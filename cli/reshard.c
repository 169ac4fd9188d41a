/* reshard.c - reshard: executing a plan, file by file, into a folder. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "reshard.h"

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
    int code = names && descs && ts ? DONE : fail("out of memory");
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

bool has_index(const reshard *p, const layout *l)
{
    return l->n > 1 && !p->a->out_ranks;
}

int print_shard_index(void *out, const void *user)
{
    const shard_index *j = user;
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

static int write_all(const reshard *p, const layout *l, const also_files *also, out_folder *out,
                     uint64_t hash, int64_t done)
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
            code = note_done(p->a, out, l->files[k].name, hash);
        free(path);
        path = NULL;
    }
    progress_end();
    if (code == DONE && has_index(p, l)) {
        code = folder_file(out, INDEX_FILE, &path);
        if (code == DONE)
            code = write_text(p->a, path, print_shard_index, &(shard_index){p, l});
        free(path);
    }
    if (code == DONE)
        code = copy_also(p->a, out, also);
    if (code == DONE && folder_file(out, ".plan", &path) == DONE) {
        unlink(path);
        free(path);
        code = folder_commit(p->a, out);
    }
    return code;
}

static int write_folder(const reshard *p, const layout *l)
{
    out_folder out = {0};
    also_files also;
    int64_t done;
    uint64_t hash = plan_hash(p);
    int code = find_also(p, l, &also);
    if (code == DONE)
        code = begin_folder(p, l, &out, hash, &done);
    if (code == DONE)
        code = write_all(p, l, &also, &out, hash, done);
    folder_end(&out, true);
    free_also(&also);
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
    if (code == DONE && a->verify)
        code = verify_folder(p, &l);
    else if (code == DONE && !a->dry_run && !a->explain)
        code = write_folder(p, &l);
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
    if (a->out_ranks && a->shard_size)
        return usage(a, "--out-ranks and --shard-size are mutually exclusive");
    int code = reshard_plan(&p);
    if (code == DONE)
        code = run_plan(&p);
    reshard_free(&p);
    return code;
}
