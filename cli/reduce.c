/* reduce.c - commands that work along axes: reduce, scan, sort, take.
 *
 * Each is a job of the library with one source.  Small results may be printed, also those of
 * eval and einsum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

/* ---- reduce ---- */

static bool has_pattern(const args *a)
{
    return a->n > 2 || (a->n > 1 && strstr(a->operands[1], "->"));
}

/* The dtype of --result, if given. */
static int asked_dtype(const args *a, tn_dtype *out)
{
    if (a->result && tn_dtype_parse(out, a->result) != TN_OK)
        return usage(a, "unknown dtype \"%s\"", a->result);
    return DONE;
}

static int result_dtype(const args *a, tn_reduction op, tn_dtype in, tn_dtype *out)
{
    LIB(tn_reduction_result(op, in, out));
    return asked_dtype(a, out);
}

static int reduce_params(const args *a, tn_reduction op, recipe *r)
{
    r->reduce.params = a->params ? r->params : NULL;
    return read_params(a, a->operands[0], tn_reduction_params(op), r->params);
}

/* Add the source, and check the job before its result is opened. */
static int add_source(const args *a, recipe *r, const tn_tensor *view, const input *in)
{
    tn_stream_facts facts;
    TRY(recipe_add(r, view, in, NULL));
    const tn_stream job = recipe_job(r, a, NULL);
    if (tn_stream_plan(&job, &facts) == TN_OK)
        return DONE;
    const char *why = tn_error(), *dst = a->result ? strstr(why, " dst: ") : NULL;
    return dst ? fail("%.*s --result: %s", (int)(dst - why), why, dst + 6) : fail("%s", why);
}

static int build_axes(const args *a, const input *in, recipe *r)
{
    tn_dtype dtype;
    int ndim, n = 0;
    int64_t shape[TN_MAX_NDIM];
    if (a->axis)
        TRY(read_axes(a, in->t.ndim, r->axes, &n));
    r->reduce.naxes = a->axis ? n : TN_ALL_AXES;
    LIB(tn_reduce_shape(&in->t, r->reduce.naxes, r->axes, a->keep, &ndim, shape));
    TRY(result_dtype(a, r->reduce.op, in->t.dtype, &dtype));
    LIB(tn_init(&r->job.out, NULL, dtype, ndim, shape));
    return add_source(a, r, &in->t, in);
}

static int build_pattern(const args *a, const input *in, recipe *r, const char *sizes)
{
    const char *pattern = a->operands[1];
    tn_dtype dtype;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    tn_tensor view;
    LIB(tn_pattern_reduce_shape(pattern, sizes, &in->t, &ndim, shape));
    LIB(tn_pattern_reduce_axes(&view, &r->reduce.naxes, r->axes, &in->t, pattern, sizes));
    TRY(result_dtype(a, r->reduce.op, in->t.dtype, &dtype));
    LIB(tn_init(&r->job.out, NULL, dtype, ndim, shape));
    if (view.ndim == r->reduce.naxes) { /* a job without axes uses those of out */
        LIB(tn_unsqueeze(&view, &view, 0));
        for (int i = 0; i < r->reduce.naxes; i++)
            r->axes[i]++;
    }
    r->job.ndim = view.ndim - r->reduce.naxes; /* the reduced axes are last */
    memcpy(r->job.shape, view.shape, (size_t)r->job.ndim * sizeof *view.shape);
    return add_source(a, r, &view, in);
}

static int build_reduce(const args *a, const input *in, recipe *r)
{
    LIB(tn_reduction_parse(&r->reduce.op, a->operands[0]));
    r->job.recipe = TN_STREAM_REDUCE;
    r->reduce.axes = r->axes;
    TRY(reduce_params(a, r->reduce.op, r));
    if (!has_pattern(a))
        return build_axes(a, in, r);
    char *sizes = sizes_of(a, 2);
    int code = sizes ? build_pattern(a, in, r, sizes) : fail("out of memory");
    free(sizes);
    return code;
}

int run_reduce(const args *a)
{
    tn_reduction op;
    if (a->n == 0)
        return usage(a, "missing argument: OP; tenon help reduce lists the reductions");
    if (tn_reduction_parse(&op, a->operands[0]) != TN_OK)
        return usage(a, "unknown reduction \"%s\"; tenon help reduce lists them",
                     a->operands[0]);
    if (a->n < 2)
        return usage(a, "missing argument: IN");
    if (has_pattern(a)) {
        TRY(check_pattern_words(a, 1));
        if (a->axis || a->keep)
            return usage(a, "%s cannot be combined with a pattern", a->axis ? "-a" : "--keep");
    }
    if (a->tensors && !a->out && !a->explain)
        return usage(a, "--tensors needs -o OUT");
    return run_unary(a, a->operands[a->n - 1], build_reduce);
}

/* ---- a result in memory ---- */

static tn_status gather(void *user, const tn_tensor *block, const int64_t *at)
{
    char **to = user;
    (void)at;
    memcpy(*to, block->data, (size_t)tn_nbytes(block));
    *to += tn_nbytes(block);
    return TN_OK;
}

int print_recipe(const args *a, const recipe *r, const input *like)
{
    enum { MOST = 1000, TEXT = 1 << 17 };
    const tn_tensor *out = &r->job.out;
    tn_tensor t = {0};
    char shape[512];
    if (tn_numel(out) > MOST)
        return usage(a, "missing -o OUT: the result has %lld elements, up to %d are printed",
                     (long long)tn_numel(out), MOST);
    LIB(tn_alloc(&t, out->dtype, out->ndim, out->shape));
    char *text = malloc(TEXT), *at = t.data;
    tn_stream job = recipe_job(r, a, NULL);
    job.put = gather;
    job.user = &at;
    progress_start(a, recipe_work(r));
    int code = !text                          ? fail("out of memory")
               : tn_stream_run(&job) != TN_OK ? fail("%s", tn_error())
                                              : DONE;
    progress_end();
    if (code == DONE && tn_print(&t, text, TEXT) != TN_OK)
        code = fail("%s", tn_error());
    if (code == DONE) {
        const bool member = !a->command->text_first && like->from->which >= 0;
        print_name(a->command->text_first ? a->operands[0] : like->from->path);
        print_name(member ? ":" : "");
        print_name(member ? tn_file_name(like->from->f, like->i) : "");
        printf(": %s %s\n%s\n", tn_dtype_name(t.dtype), shape_text(shape, t.ndim, t.shape),
               text);
    }
    free(text);
    tn_free(&t);
    return code;
}

/* ---- scan, sort, take: one axis ---- */

static int one_axis(const args *a, int ndim, int *dim)
{
    int dims[TN_MAX_NDIM], n;
    TRY(read_axes(a, ndim, dims, &n));
    if (n != 1)
        return usage(a, "-a takes one axis, got %d", n);
    *dim = dims[0];
    return DONE;
}

static int build_scan(const args *a, const input *in, recipe *r)
{
    static const tn_reduction like[] = {TN_REDUCE_SUM, TN_REDUCE_PROD, TN_REDUCE_MAX,
                                        TN_REDUCE_MIN, TN_REDUCE_LOGSUMEXP};
    tn_dtype dtype;
    LIB(tn_scan_parse(&r->scan.op, a->operands[0]));
    TRY(one_axis(a, in->t.ndim, &r->scan.dim));
    if (tn_reduction_result(like[r->scan.op], in->t.dtype, &dtype) != TN_OK)
        dtype = in->t.dtype; /* the job will refuse it */
    TRY(asked_dtype(a, &dtype));
    LIB(tn_init(&r->job.out, NULL, dtype, in->t.ndim, in->t.shape));
    r->job.recipe = TN_STREAM_SCAN;
    return add_source(a, r, &in->t, in);
}

int run_scan(const args *a)
{
    tn_scan_op op;
    if (a->n > 0 && tn_scan_parse(&op, a->operands[0]) != TN_OK)
        return usage(a, "unknown scan \"%s\": cumsum, cumprod, cummax, cummin or logcumsumexp",
                     a->operands[0]);
    TRY(need_operands(a, 2));
    return run_unary(a, a->operands[1], build_scan);
}

static int build_sort(const args *a, const input *in, recipe *r)
{
    TRY(one_axis(a, in->t.ndim, &r->sort.dim));
    r->sort.flags = a->descending ? TN_DESCENDING : 0;
    r->sort.indices = a->indices;
    LIB(tn_init(&r->job.out, NULL, a->indices ? TN_I64 : in->t.dtype, in->t.ndim, in->t.shape));
    r->job.recipe = TN_STREAM_SORT;
    return add_source(a, r, &in->t, in);
}

int run_sort(const args *a)
{
    TRY(need_operands(a, 1));
    return run_unary(a, a->operands[0], build_sort);
}

static tn_tensor take_index; /* of the running command */

static int build_take(const args *a, const input *in, recipe *r)
{
    int64_t shape[2 * TN_MAX_NDIM];
    int ndim = 0;
    TRY(one_axis(a, in->t.ndim, &r->take.dim));
    for (int i = 0; i < in->t.ndim; i++)
        for (int k = 0; k < (i == r->take.dim ? take_index.ndim : 1); k++)
            shape[ndim++] = i == r->take.dim ? take_index.shape[k] : in->t.shape[i];
    r->take.index = &take_index;
    LIB(tn_init(&r->job.out, NULL, in->t.dtype, ndim, shape));
    r->job.recipe = TN_STREAM_TAKE;
    return add_source(a, r, &in->t, in);
}

static int load_index(const args *a, const char *word)
{
    source s;
    input in;
    args plain = *a;
    plain.dtype = NULL;
    TRY(open_single(&plain, &s, &in, word));
    int code = tn_file_read(s.f, in.i, &take_index) == TN_OK ? DONE : fail("%s", tn_error());
    close_input(&in);
    close_source(&s);
    return code;
}

int run_take(const args *a)
{
    TRY(need_operands(a, 2));
    TRY(load_index(a, a->operands[0]));
    args rest = *a; /* less the memory of the index */
    const int64_t left = tn_stream_budget(a->max_mem) - tn_nbytes(&take_index);
    rest.max_mem = left > 1 ? left : 1;
    int code = run_unary(&rest, a->operands[1], build_take);
    tn_free(&take_index);
    return code;
}
