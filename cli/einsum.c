/* einsum.c - tenon einsum: products of tensors in files, summed over shared axes. */
#include <stdio.h>
#include <stdlib.h>

#include "einsum.h"

static int describe_result(einsum_job *e)
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
    LIB(tn_init(&e->out, NULL, dtype, ndim, shape));
    return einsum_match(e);
}

/* The plan of a tile that is whole. */
static int plan_tile(const einsum_job *e, tn_plan **plan)
{
    tn_tensor dst, parts[TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    LIB(tn_init(&dst, NULL, e->out.dtype, e->out.ndim, e->tile));
    for (int k = 0; k < e->n; k++) {
        const tn_tensor *t = &e->f[k].in.t;
        int64_t shape[TN_MAX_NDIM];
        for (int i = 0; i < t->ndim; i++)
            shape[i] = e->f[k].of[i] < 0 ? 1 : e->tile[e->f[k].of[i]];
        LIB(tn_init(&parts[k], NULL, t->dtype, t->ndim, shape));
        srcs[k] = &parts[k];
    }
    LIB(tn_plan_einsum(plan, &dst, e->spec, e->n, srcs));
    return DONE;
}

static void print_tensor_json(const char *path, const tn_tensor *t)
{
    printf("{\"path\": ");
    json_text(stdout, path ? path : "");
    printf(", \"dtype\": \"%s\", \"shape\": [", tn_dtype_name(t->dtype));
    for (int i = 0; i < t->ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)t->shape[i]);
    printf("], \"bytes\": %lld}", (long long)tn_nbytes(t));
}

static int explain_json(const args *a, const einsum_job *e)
{
    char text[8192] = "";
    tn_plan *plan;
    TRY(plan_tile(e, &plan));
    const tn_status status = tn_plan_json(plan, text, sizeof text);
    tn_plan_free(plan);
    LIB(status);
    printf("{\"command\": \"einsum\", \"text\": ");
    json_text(stdout, e->spec);
    printf(", \"in\": [");
    for (int k = 0; k < e->n; k++) {
        fputs(k ? ", " : "", stdout);
        print_tensor_json(e->f[k].in.from->path, &e->f[k].in.t);
    }
    printf("], \"out\": ");
    print_tensor_json(a->out, &e->out);
    printf(", \"tile\": [");
    for (int i = 0; i < e->out.ndim; i++)
        printf("%s%lld", i ? ", " : "", (long long)e->tile[i]);
    printf("], \"boxes\": %.0f, \"blas\": \"%s\",\n \"plan\": %s}\n", einsum_boxes(e),
           tn_blas(), text);
    return DONE;
}

static int explain_einsum(const args *a, const einsum_job *e)
{
    char shape[512], bytes[32];
    const double boxes = einsum_boxes(e);
    if (a->json)
        return explain_json(a, e);
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
    printf(": %s %s, %s\n", tn_dtype_name(e->out.dtype),
           shape_text(shape, e->out.ndim, e->out.shape),
           bytes_text(bytes, (double)tn_nbytes(&e->out)));
    printf("  tile    %s, in %.0f box%s\n", shape_text(shape, e->out.ndim, e->tile), boxes,
           boxes == 1 ? "" : "es");
    printf("  read    %s at most: a source is read again for each box that needs it\n",
           bytes_text(bytes, (double)einsum_work(e)));
    printf("  write   %s\n", bytes_text(bytes, (double)tn_nbytes(&e->out)));
    printf("  blas    %s\n", tn_blas());
    return DONE;
}

static int make_result(const args *a, einsum_job *e)
{
    recipe r = {0};
    TRY(describe_result(e));
    einsum_cut(e, a->max_mem);
    if (a->explain)
        return explain_einsum(a, e);
    int code = recipe_of_view(&r, &e->out, &e->f[0].in);
    if (code == DONE) {
        r.sources[0] = (tn_stream_source){.read = einsum_box, .user = e, .view = e->out};
        r.work = einsum_work(e);
        r.job.threads = 1;
        r.job.box = 1;
        for (int i = e->along < 0 ? 0 : e->along; i < e->out.ndim; i++) {
            /* at most one index of the axes before: a tile is the same in every box */
            const int64_t n = e->out.shape[i];
            r.job.box *= i > e->along || e->box > n / e->tile[i] ? n : e->box * e->tile[i];
        }
        code = run_recipe(a, &r, &e->f[0].in);
    }
    recipe_free(&r);
    return code;
}

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
        return fail("no memory");
    int code = DONE;
    e->spec = a->operands[0];
    for (; e->n < a->n - 1 && code == DONE; e->n += code == DONE) {
        factor *f = &e->f[e->n];
        code = open_single(a, &f->s, &f->in, a->operands[e->n + 1]);
        f->opened = code == DONE;
    }
    if (code == DONE)
        code = make_result(a, e);
    for (int k = 0; k < e->n; k++) {
        factor *f = &e->f[k];
        tn_free(&f->window);
        tn_free(&f->tile);
        if (f->opened) {
            close_input(&f->in);
            close_source(&f->s);
        }
    }
    tn_free(&e->sums);
    tn_free(&e->addend);
    free(e);
    return code;
}
