/* einsum.c - tenon einsum: products of tensors in files, summed over shared axes. */
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"

/* An operand. */
typedef struct factor {
    source s;
    input in;
    bool opened;
} factor;

typedef struct einsum_job {
    const char *spec;
    int n;
    factor f[TN_EINSUM_SOURCES];
    recipe r;
} einsum_job;

static int build_einsum(einsum_job *e)
{
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    tn_dtype dtype = e->f[0].in.t.dtype;
    for (int k = 0; k < e->n; k++) {
        srcs[k] = &e->f[k].in.t;
        LIB(tn_promote(&dtype, dtype, srcs[k]->dtype));
    }
    LIB(tn_einsum_shape(e->spec, e->n, srcs, &ndim, shape));
    LIB(tn_init(&e->r.job.out, NULL, dtype, ndim, shape));
    e->r.job.recipe = TN_STREAM_EINSUM;
    e->r.einsum.spec = e->spec;
    for (int k = 0; k < e->n; k++)
        TRY(recipe_add(&e->r, srcs[k], &e->f[k].in, NULL));
    return DONE;
}

/* ---- explain ---- */

static void explain_json(const args *a, const einsum_job *e, const tn_stream_facts *facts,
                         const tn_facts *tile, const char *plan)
{
    printf("{\"command\": \"einsum\", \"text\": ");
    json_text(stdout, e->spec);
    printf(", \"in\": [");
    for (int k = 0; k < e->n; k++) {
        fputs(k ? ", " : "", stdout);
        json_tensor(e->f[k].in.from->path, NULL, &e->f[k].in.t);
    }
    printf("], \"out\": ");
    json_tensor(a->out, NULL, &e->r.job.out);
    printf(", \"tile\": [");
    for (int i = 0; i < tile->ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)tile->shape[i]);
    printf("], \"boxes\": %lld, \"blas\": \"%s\",\n \"plan\": %s}\n", (long long)facts->boxes,
           tn_blas(), plan);
}

static void explain_text(const args *a, const einsum_job *e, const tn_stream_facts *facts,
                         const tn_facts *tile)
{
    char shape[512], bytes[32];
    const tn_tensor *out = &e->r.job.out;
    printf("einsum %s\n", e->spec);
    for (int k = 0; k < e->n; k++) {
        const input *in = &e->f[k].in;
        printf("  in      ");
        print_name(in->from->path);
        printf(": %s %s, %s\n", tn_dtype_name(in->t.dtype),
               shape_text(shape, in->t.ndim, in->t.shape),
               bytes_text(bytes, (double)tn_nbytes(&in->t)));
    }
    printf("  out     ");
    print_name(a->out ? a->out : "(no -o)");
    printf(": %s %s, %s\n", tn_dtype_name(out->dtype), shape_text(shape, out->ndim, out->shape),
           bytes_text(bytes, (double)tn_nbytes(out)));
    printf("  tile    %s, in %lld box%s\n", shape_text(shape, tile->ndim, tile->shape),
           (long long)facts->boxes, facts->boxes == 1 ? "" : "es");
    printf("  read    %s at most: a source is read again for each box that needs it\n",
           bytes_text(bytes, (double)facts->read));
    printf("  write   %s\n", bytes_text(bytes, (double)tn_nbytes(out)));
    printf("  blas    %s\n", tn_blas());
}

static int explain_einsum(const args *a, const einsum_job *e)
{
    char text[8192] = "";
    const tn_stream job = recipe_job(&e->r, a, NULL);
    tn_stream_facts facts;
    tn_facts tile;
    tn_plan *plan;
    LIB(tn_stream_plan(&job, &facts));
    LIB(tn_stream_in_memory(&plan, &job));
    tn_status status = tn_plan_facts(&tile, plan);
    if (status == TN_OK && a->json)
        status = tn_plan_json(plan, text, sizeof text);
    tn_plan_free(plan);
    LIB(status);
    if (a->json)
        explain_json(a, e, &facts, &tile, text);
    else
        explain_text(a, e, &facts, &tile);
    return DONE;
}

/* ---- the command ---- */

int run_einsum(const args *a)
{
    if (a->n < 2)
        return usage(a, "missing argument: %s", a->n ? "IN" : "TEXT");
    if (a->n > TN_EINSUM_SOURCES + 1)
        return usage(a, "takes at most %d files, got %d", TN_EINSUM_SOURCES, a->n - 1);
    if (a->json && !a->explain)
        return usage(a, "--json belongs to tenon explain einsum");
    einsum_job *e = calloc(1, sizeof *e);
    if (!e)
        return fail("out of memory");
    int code = DONE;
    e->spec = a->operands[0];
    for (; e->n < a->n - 1 && code == DONE; e->n += code == DONE) {
        factor *f = &e->f[e->n];
        code = open_single(a, &f->s, &f->in, a->operands[e->n + 1]);
        f->opened = code == DONE;
    }
    if (code == DONE)
        code = build_einsum(e);
    if (code == DONE)
        code = a->explain ? explain_einsum(a, e) : run_recipe(a, &e->r, &e->f[0].in);
    recipe_free(&e->r);
    for (int k = 0; k < e->n; k++) {
        factor *f = &e->f[k];
        if (f->opened) {
            close_input(&f->in);
            close_source(&f->s);
        }
    }
    free(e);
    return code;
}
