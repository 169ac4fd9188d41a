/* einsum.c - tenon einsum: products of tensors in files, summed over shared axes.
 *
 * The result is cut into tiles by its shape alone, and each tile is computed from dense copies
 * of the parts of the sources that it needs: its bytes depend neither on --max-mem nor on how
 * the files lay their elements out.  A box of the stream is a row of tiles; more memory makes
 * boxes longer, so that sources are read less often. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

enum {
    TILE_BYTES = 2 << 20, /* of a tile's part of one source, where its axes can be cut */
    ROW_BYTES = 2 << 20,  /* of the part of the result that a row of tiles needs */
    TILE_MOST = 256       /* extent of a tile along the axis that boxes are cut along */
};

/* One source: its axes by the axis of the result that has the same name, or -1. */
typedef struct factor {
    source s;
    input in;
    bool opened;
    int of[TN_MAX_NDIM];
    tn_tensor window, tile; /* dense; tile is the part of window that one product takes */
    int64_t at[TN_MAX_NDIM], n[TN_MAX_NDIM]; /* what of the source window holds */
    bool held;
} factor;

typedef struct einsum_job {
    const char *spec;
    int n;
    factor f[TN_EINSUM_SOURCES];
    tn_tensor out; /* without data */
    int along;     /* the axis that boxes are cut along; those before have 1 index */
    int64_t tile[TN_MAX_NDIM]; /* extents of a tile */
    int64_t box;               /* tiles along that axis in a box */
} einsum_job;

/* ---- tiles, by shapes alone ---- */

static double part_bytes(const einsum_job *e, int k)
{
    const tn_tensor *t = &e->f[k].in.t;
    double bytes = (double)tn_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        bytes *= (double)(e->f[k].of[i] < 0 ? t->shape[i] : e->tile[e->f[k].of[i]]);
    return bytes;
}

/* Cut tiles until their part of source k is small: the longest axis that it has is halved. */
static void cut_tiles(einsum_job *e, int k)
{
    while (part_bytes(e, k) > TILE_BYTES) {
        int longest = -1;
        for (int i = 0; i < e->f[k].in.t.ndim; i++) {
            const int o = e->f[k].of[i];
            if (o >= 0 && e->tile[o] > 1 && (longest < 0 || e->tile[o] > e->tile[longest]))
                longest = o;
        }
        if (longest < 0)
            return;
        e->tile[longest] = (e->tile[longest] + 1) / 2;
    }
}

static void choose_tiles(einsum_job *e, const args *a)
{
    double rest = (double)tn_dtype_size(e->out.dtype), row;
    e->along = e->out.ndim - 1;
    while (e->along > 0 && rest * (double)e->out.shape[e->along] <= ROW_BYTES)
        rest *= (double)e->out.shape[e->along--];
    for (int i = 0; i < e->out.ndim; i++)
        e->tile[i] = i < e->along ? 1 : e->out.shape[i];
    if (e->along < 0)
        return;
    int64_t most = rest > 0 ? (int64_t)(ROW_BYTES / rest) : TILE_MOST;
    most = most < 1 ? 1 : most > TILE_MOST ? TILE_MOST : most;
    if (e->tile[e->along] > most)
        e->tile[e->along] = most;
    for (int k = 0; k < e->n; k++)
        cut_tiles(e, k);
    for (int i = 0; i < e->out.ndim; i++)
        e->tile[i] = e->tile[i] < 1 ? 1 : e->tile[i];
    row = rest * (double)e->tile[e->along];
    for (int k = 0; k < e->n; k++)
        row += 2 * part_bytes(e, k);
    e->box = (int64_t)((double)tn_stream_budget(a->max_mem) / 2 / (row > 1 ? row : 1));
    e->box = e->box < 1 ? 1 : e->box;
}

/* ---- computing ---- */

static tn_status renew(tn_tensor *t, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_free(t);
    return tn_alloc(t, dtype, ndim, shape);
}

/* Read the part of a source that [at, at + n) of the result needs, unless it is there. */
static tn_status read_window(factor *f, const int64_t *at, const int64_t *n)
{
    const tn_tensor *t = &f->in.t;
    int64_t first[TN_MAX_NDIM], count[TN_MAX_NDIM];
    bool same = f->held;
    for (int i = 0; i < t->ndim; i++) {
        first[i] = f->of[i] < 0 ? 0 : at[f->of[i]];
        count[i] = f->of[i] < 0 ? t->shape[i] : n[f->of[i]];
        same = same && f->at[i] == first[i] && f->n[i] == count[i];
    }
    if (same)
        return TN_OK;
    tn_tensor part;
    f->held = false;
    tn_status status = renew(&f->window, t->dtype, t->ndim, count);
    if (status == TN_OK)
        status = tn_view(&part, t, count, first, NULL, 0);
    if (status == TN_OK && f->in.in_memory)
        status = tn_rearrange(&f->window, &part);
    else if (status == TN_OK)
        status = tn_file_fetch(f->in.spilled ? f->in.unpacked : f->in.from->f,
                               f->in.spilled ? 0 : f->in.i, &f->window, &part);
    for (int i = 0; i < t->ndim; i++) {
        f->at[i] = first[i];
        f->n[i] = count[i];
    }
    f->held = status == TN_OK;
    return status;
}

/* The part of the window that [first, first + n) of axis `along` needs, dense. */
static tn_status cut_window(factor *f, int along, int64_t first, int64_t n,
                            const tn_tensor **out)
{
    tn_tensor part = f->window;
    bool cut = false;
    for (int i = 0; i < part.ndim; i++)
        if (f->of[i] == along && (first || n != part.shape[i])) {
            const tn_status status = tn_slice(&part, &part, i, first, first + n, 1);
            if (status != TN_OK)
                return status;
            cut = true;
        }
    *out = &f->window;
    if (!cut)
        return TN_OK;
    tn_status status = renew(&f->tile, part.dtype, part.ndim, part.shape);
    *out = &f->tile;
    return status == TN_OK ? tn_rearrange(&f->tile, &part) : status;
}

/* One column of tiles in a box: windows are read once, and cut along the box's axis. */
static tn_status make_column(einsum_job *e, const tn_tensor *dst, const int64_t *at,
                             const int64_t *n, const int64_t *inside)
{
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    tn_status status = TN_OK;
    for (int k = 0; k < e->n && status == TN_OK; k++)
        status = read_window(&e->f[k], at, n);
    const int64_t all = e->along < 0 ? 1 : n[e->along],
                  each = e->along < 0 ? 1 : e->tile[e->along];
    for (int64_t i = 0; i < all && status == TN_OK; i += each) {
        int64_t from[TN_MAX_NDIM], count[TN_MAX_NDIM];
        for (int o = 0; o < dst->ndim; o++) {
            from[o] = inside[o] + (o == e->along ? i : 0);
            count[o] = o == e->along && all - i < each ? all - i : o == e->along ? each : n[o];
        }
        tn_tensor part;
        status = tn_view(&part, dst, count, from, NULL, 0);
        for (int k = 0; k < e->n && status == TN_OK; k++)
            status =
                cut_window(&e->f[k], e->along, i, e->along < 0 ? 1 : count[e->along], &srcs[k]);
        if (status == TN_OK)
            status = tn_einsum(&part, e->spec, e->n, srcs);
    }
    return status;
}

/* A box of the result, as a source of the stream. */
static tn_status make_box(void *user, const tn_tensor *dst, const int64_t *at)
{
    einsum_job *e = user;
    int64_t inside[TN_MAX_NDIM] = {0}, from[TN_MAX_NDIM], n[TN_MAX_NDIM];
    for (;;) {
        for (int o = 0; o < dst->ndim; o++) {
            const int64_t left = dst->shape[o] - inside[o];
            from[o] = at[o] + inside[o];
            n[o] = o <= e->along || left < e->tile[o] ? left : e->tile[o];
        }
        const tn_status status = make_column(e, dst, from, n, inside);
        if (status != TN_OK)
            return status;
        int o = dst->ndim - 1;
        for (; o > e->along; o--) {
            inside[o] += e->tile[o];
            if (inside[o] < dst->shape[o])
                break;
            inside[o] = 0;
        }
        if (o <= e->along)
            return TN_OK;
    }
}

/* ---- the command ---- */

/* Which axes of the result have the names of the sources' axes: every extent is 1 but one, which
 * is 2, and so is that of the result's axis.  Axes of extent 1 repeat, and have none. */
static int match_axes(einsum_job *e)
{
    tn_tensor probe[TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    for (int k = 0; k < e->n; k++) {
        probe[k] = e->f[k].in.t;
        for (int i = 0; i < probe[k].ndim; i++)
            probe[k].shape[i] = 1;
        srcs[k] = &probe[k];
    }
    for (int k = 0; k < e->n; k++)
        for (int i = 0; i < probe[k].ndim; i++) {
            e->f[k].of[i] = -1;
            if (e->f[k].in.t.shape[i] == 1)
                continue;
            probe[k].shape[i] = 2;
            LIB(tn_einsum_shape(e->spec, e->n, srcs, &ndim, shape));
            probe[k].shape[i] = 1;
            for (int o = 0; o < ndim; o++)
                e->f[k].of[i] = shape[o] == 2 ? o : e->f[k].of[i];
        }
    return DONE;
}

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
    return match_axes(e);
}

static double count_boxes(const einsum_job *e)
{
    double boxes = 1;
    for (int i = 0; i < e->along; i++)
        boxes *= (double)e->out.shape[i];
    if (e->along < 0)
        return boxes;
    const int64_t each = e->box * e->tile[e->along], n = e->out.shape[e->along];
    return boxes * (n ? (double)((n - 1) / each + 1) : 0);
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
            shape[i] = e->f[k].of[i] < 0 ? t->shape[i] : e->tile[e->f[k].of[i]];
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
    printf("], \"boxes\": %.0f, \"blas\": \"%s\",\n \"plan\": %s}\n", count_boxes(e), tn_blas(),
           text);
    return DONE;
}

static int explain_einsum(const args *a, const einsum_job *e)
{
    char shape[512], bytes[32];
    double read = 0, boxes = count_boxes(e);
    if (a->json)
        return explain_json(a, e);
    printf("einsum %s\n", e->spec);
    for (int k = 0; k < e->n; k++) {
        const input *in = &e->f[k].in;
        read += (double)tn_nbytes(&in->t);
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
    printf("  read    %s or more: a source is read again for each box that needs it\n",
           bytes_text(bytes, read));
    printf("  write   %s\n", bytes_text(bytes, (double)tn_nbytes(&e->out)));
    printf("  blas    %s\n", tn_blas());
    return DONE;
}

static int make_result(const args *a, einsum_job *e)
{
    recipe r = {0};
    TRY(describe_result(e));
    choose_tiles(e, a);
    if (a->explain)
        return explain_einsum(a, e);
    int code = recipe_of_view(&r, &e->out, &e->f[0].in);
    if (code == DONE) {
        r.sources[0] = (tn_stream_source){.read = make_box, .user = e, .view = e->out};
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
    free(e);
    return code;
}
