/* reshard_proof.c - reshard: assigning outputs to files, and the proof of the plan as text. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reshard.h"

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

int make_layout(const reshard *p, layout *l)
{
    int64_t files = p->nouts + p->a->out_ranks + 1;
    *l = (layout){malloc((size_t)(p->nouts + 1) * sizeof *l->order),
                  calloc((size_t)files, sizeof *l->files), 0};
    if (!l->order || !l->files)
        return fail("out of memory");
    if (p->a->out_ranks)
        lay_out_ranks(p, l);
    else
        lay_out_shards(p, l);
    return DONE;
}

void free_layout(layout *l)
{
    free(l->order);
    free(l->files);
}

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

/* A resumed run overwrites the proof of an earlier one; pipes and devices are written
 * directly. */
int write_proof(const reshard *p, const layout *l)
{
    struct stat s;
    args again = *p->a;
    const bool file = stat(again.proof, &s) != 0 || S_ISREG(s.st_mode);
    again.force = true;
    return (file ? write_whole : write_text)(&again, again.proof, print_proof_lines,
                                             &(proof_job){p, l});
}

void say_proof(const reshard *p, const layout *l)
{
    int64_t bytes = 0;
    int dropped = 0;
    for (int64_t i = 0; i < p->nouts; i++)
        bytes += out_bytes(&p->outs[i]);
    for (int i = 0; i < p->nins; i++)
        dropped += p->ins[i].use == DROPPED;
    printf("proof: %d inputs, %lld output files, %lld bytes, every output element from one "
           "input element, %d dropped\n",
           p->nins, (long long)l->n, (long long)bytes, dropped);
    fflush(stdout);
}
