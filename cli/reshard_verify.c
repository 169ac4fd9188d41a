/* reshard_verify.c - reshard: outputs as recipes, checking inputs that must be copies of each
 * other, and verifying a written folder against the plan. */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reshard.h"

void made_free(made *m)
{
    recipe_free(&m->r);
    for (int i = 0; i < m->ninputs; i++)
        close_input(&m->inputs[i]);
    free(m->inputs);
    virtual_free(&m->v);
}

/* Open input `in`, once; NULL: it failed and the reason has been printed. */
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

/* The byte offset of a number of elements in row-major order, computed axis by axis; a loop of
 * n trips with this step widens the range [low, high] of indices. */
static int64_t step_bytes(const tn_tensor *t, int64_t elements, int64_t n, int64_t *low,
                          int64_t *high)
{
    int64_t bytes = 0, left = elements < 0 ? -elements : elements;
    for (int k = t->ndim - 1; k >= 0; left /= t->shape[k--]) {
        const int64_t part = elements < 0 ? -(left % t->shape[k]) : left % t->shape[k];
        bytes += part * t->stride[k];
        *(part < 0 ? &low[k] : &high[k]) += part * (n - 1);
    }
    return bytes;
}

/* First byte and steps of a piece of an input with arbitrary strides; false: a loop crosses
 * from one axis of the input to another, which no stride can express. */
static bool place_piece(const nest_piece *q, const tn_tensor *t, int64_t *at, int64_t *steps)
{
    int64_t low[TN_MAX_NDIM] = {0}, high[TN_MAX_NDIM] = {0};
    *at = step_bytes(t, q->in_at, 2, low, high); /* 2 trips: high becomes the index itself */
    memcpy(low, high, sizeof low);
    for (int i = 0; i < q->nloops; i++)
        steps[i] = step_bytes(t, q->loops[i].in_step, q->loops[i].n, low, high);
    for (int k = 0; k < t->ndim; k++)
        if (low[k] < 0 || high[k] >= t->shape[k])
            return false;
    return true;
}

/* Add the elements of a piece as a view of the input. */
static int add_piece_source(made *m, const nest_piece *q, const input *in)
{
    int64_t shape[TN_MAX_NDIM], stride[TN_MAX_NDIM], steps[MOST_LOOPS];
    int64_t width = (int64_t)tn_dtype_size(in->t.dtype), at = q->in_at * width;
    tn_tensor view;
    for (int i = 0; i < q->nloops; i++)
        steps[i] = q->loops[i].in_step * width;
    if (!tn_is_contiguous(&in->t) && !place_piece(q, &in->t, &at, steps))
        return fail("%s: tensor \"%s\" is not stored in row-major order, and a rule joins its "
                    "axes; convert it first",
                    in->from->path, tn_file_name(in->from->f, in->i));
    for (int i = 0; i < m->v.ndim; i++) {
        shape[i] = 1;
        stride[i] = 0;
    }
    for (int i = 0; i < q->nloops; i++) {
        shape[q->loops[i].axis] = q->loops[i].n;
        stride[q->loops[i].axis] = steps[i];
    }
    LIB(tn_init_strided(&view, (char *)in->t.data + at, in->t.dtype, m->v.ndim, shape, stride));
    view.flags = in->t.flags;
    return recipe_add(&m->r, &view, in, q->at);
}

int make_output(const reshard *p, const out_tensor *t, made *m)
{
    int code = DONE;
    *m = (made){.inputs = NULL};
    TRY(virtual_copy(&m->v, &t->v));
    TRY(virtual_refine(&m->v));
    TRY(recipe_start(&m->r, t->v.dtype, t->v.ndim, t->v.shape));
    if (m->v.ndim == 0 && t->v.n) { /* a single element */
        int64_t one = 1;
        TRY(virtual_reshape(&m->v, 1, &one));
    }
    m->r.job.ndim = m->v.ndim;
    memcpy(m->r.job.shape, m->v.shape, (size_t)m->v.ndim * sizeof m->v.shape[0]);
    m->inputs = calloc((size_t)m->v.n + 1, sizeof *m->inputs);
    int *ids = malloc((size_t)(m->v.n + 1) * sizeof *ids);
    if (!m->inputs || !ids)
        code = fail("out of memory");
    for (int64_t k = 0; code == DONE && k < m->v.n; k++) {
        const input *in = made_input(p, m, m->v.pieces[k].in, ids);
        code = in ? add_piece_source(m, &m->v.pieces[k], in) : FAILED;
    }
    free(ids);
    return code;
}

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

int check_copies(const reshard *p)
{
    for (int i = 0; i < p->nins; i++)
        if (p->ins[i].use == COPIED)
            TRY(check_copy(p, &p->ins[i]));
    return DONE;
}

typedef struct check_job {
    const tn_file *f;
    int64_t i;
    tn_tensor have; /* viewed with the axes of the boxes */
    char *bytes;
    int64_t capacity, first_bad; /* first_bad -1: all equal */
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
        return fail("%s: tensor \"%s\" has a different shape or dtype", path, t->name);
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

/* A tensor of the file that the plan does not put there; NULL: none. */
static const char *tensor_too_many(const reshard *p, const layout *l, const out_file *of,
                                   const tn_file *f)
{
    for (int64_t k = 0; k < tn_file_count(f); k++) {
        bool known = false;
        for (int64_t i = 0; i < of->n && !known; i++)
            known = !strcmp(tn_file_name(f, k), p->outs[l->order[of->first + i]].name);
        if (!known)
            return tn_file_name(f, k);
    }
    return NULL;
}

static int verify_file(const reshard *p, const layout *l, int64_t k)
{
    char *path = NULL;
    const char *more;
    tn_file *f = NULL;
    const out_file *of = &l->files[k];
    if (asprintf(&path, "%s/%s", p->a->out, of->name) < 0)
        return fail("out of memory");
    int code = tn_file_open(&f, path) == TN_OK ? DONE : fail("%s", tn_error());
    if (code == DONE && tn_file_count(f) > of->n && (more = tensor_too_many(p, l, of, f)))
        code = fail("%s: tensor \"%s\" is unexpected: got %lld tensors, expected %lld", path,
                    more, (long long)tn_file_count(f), (long long)of->n);
    for (int64_t i = 0; code == DONE && i < of->n; i++)
        code = verify_tensor(p, &p->outs[l->order[of->first + i]], f, path);
    tn_file_close(f);
    free(path);
    return code;
}

/* Check that the index of the shards equals the one that would be written. */
static int verify_index(const reshard *p, const layout *l)
{
    char *path = NULL, *want = NULL;
    size_t n = 0;
    FILE *text = open_memstream(&want, &n);
    int code = text && asprintf(&path, "%s/" INDEX_FILE, p->a->out) >= 0
                   ? DONE
                   : fail("out of memory");
    if (code == DONE)
        code = print_shard_index(text, &(shard_index){p, l});
    if (text && fclose(text) != 0 && code == DONE)
        code = fail("out of memory");
    FILE *f = code == DONE ? fopen(path, "rb") : NULL;
    if (code == DONE && !f)
        code = fail("%s: %s", path, strerror(errno));
    for (size_t i = 0; code == DONE && i <= n; i++)
        if (getc(f) != (i < n ? (unsigned char)want[i] : EOF))
            code = fail("%s: differs at byte %zu", path, i);
    if (f)
        fclose(f);
    free(want);
    free(path);
    return code;
}

/* Check that there are no other .safetensors files, with which the folder could not be read as
 * one set. */
static int verify_names(const reshard *p, const layout *l)
{
    DIR *d = opendir(p->a->out);
    int code = d ? DONE : fail("%s: %s", p->a->out, strerror(errno));
    for (struct dirent *e; code == DONE && (e = readdir(d));) {
        bool known = fnmatch("*.safetensors", e->d_name, 0) != 0 ||
                     (p->a->also && fnmatch(p->a->also, e->d_name, FNM_PERIOD) == 0);
        for (int64_t k = 0; k < l->n && !known; k++)
            known = !strcmp(e->d_name, l->files[k].name);
        if (!known)
            code = fail("%s/%s: unexpected file", p->a->out, e->d_name);
    }
    if (d)
        closedir(d);
    return code;
}

int verify_folder(const reshard *p, const layout *l)
{
    for (int64_t k = 0; k < l->n; k++)
        TRY(verify_file(p, l, k));
    if (has_index(p, l))
        TRY(verify_index(p, l));
    TRY(verify_names(p, l));
    printf("verified: %lld files, every byte\n", (long long)l->n);
    return DONE;
}
