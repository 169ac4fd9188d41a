/* data.c - from file to file through the memory of all ranks.
 *
 * IN is read in blocks of its first axis, each contiguous in the file.  The elements are
 * permuted, converted and redistributed to blocks of the first axis of OUT, and written from
 * there. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"

int agree(int code)
{
    int mine = code == DONE ? all_ranks : this_rank, lowest;
    char words[512];
    MPI_Allreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (lowest == all_ranks)
        return DONE;
    snprintf(words, sizeof words, "%s", sentence());
    MPI_Bcast(words, sizeof words, MPI_BYTE, lowest, MPI_COMM_WORLD);
    return fail("%s", words);
}

tn_status of_input(const job *j, tn_status status)
{
    char text[1024];
    if (status == TN_OK)
        return TN_OK;
    const char *why = tn_error();
    const size_t call = strspn(why, "abcdefghijklmnopqrstuvwxyz_");
    if (call && why[call] == ':')
        snprintf(text, sizeof text, "%.400s: %s%.500s", j->in, j->a->word, why + call);
    else
        snprintf(text, sizeof text, "%.400s: %.500s", j->in, why);
    return tn_set_error(status, text);
}

/* Split "x.safetensors:name". */
static void split_name(job *j)
{
    snprintf(j->path, sizeof j->path, "%s", j->in);
    char *colon = strrchr(j->path, ':');
    if (colon && access(j->path, F_OK) != 0) {
        snprintf(j->tensor, sizeof j->tensor, "%s", colon + 1);
        *colon = 0;
    }
}

static tn_status open_input(job *j)
{
    tn_status status = tn_file_open(&j->file, j->path);
    if (status != TN_OK)
        return status;
    if (j->tensor[0])
        status = tn_file_find(j->file, j->tensor, &j->i);
    else if (tn_file_count(j->file) != 1) {
        char text[600];
        snprintf(text, sizeof text, "%.400s: %lld tensors; name one as %.80s:NAME", j->path,
                 (long long)tn_file_count(j->file), "FILE");
        return tn_set_error(TN_EARG, text);
    }
    return status == TN_OK ? tn_file_places(j->file, j->i, &j->view) : status;
}

/* The NAME=SIZE operands between the pattern and the file, joined by blanks. */
static const char *sizes_of(const args *a, char text[512])
{
    size_t used = 0;
    text[0] = 0;
    for (int i = 1; i < a->n - 1 && used < 500; i++)
        used += (size_t)snprintf(text + used, 512 - used, "%s ", a->operands[i]);
    return text[0] ? text : NULL;
}

/* Apply the command to the description of the input: a view, axes, a dtype. */
static tn_status apply_word(job *j)
{
    const char *word = j->a->word, *what = j->a->operands[0];
    char sizes[512];
    j->dtype = j->view.dtype;
    if (!strcmp(word, "slice"))
        TRY(of_input(j, tn_slice_text(&j->view, &j->view, what)));
    if (!strcmp(word, "rearrange")) { /* as in tenon, errors of the shape are reported first */
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        TRY(of_input(j, tn_pattern_shape(what, sizes_of(j->a, sizes), &j->view, &ndim, shape)));
        TRY(of_input(j, tn_pattern_view(&j->view, &j->view, what, sizes_of(j->a, sizes))));
    }
    if (!strcmp(word, "cast"))
        TRY(tn_dtype_parse(&j->dtype, what));
    for (int i = 0; i < j->view.ndim; i++)
        j->axes[i] = i;
    j->keep_axis = j->view.ndim ? 0 : -1;
    return TN_OK;
}

/* Check the axes of permute by making the view. */
static int permute_axes(job *j)
{
    tn_tensor view;
    char text[80];
    int n;
    TRY(parse_axes("AXES", j->a->operands[0], j->view.ndim, j->axes, &n));
    snprintf(text, sizeof text, "permute: got %d axes for a %d-d tensor", n, j->view.ndim);
    LIB(of_input(j, n == j->view.ndim ? tn_permute(&view, &j->view, j->axes)
                                      : tn_set_error(TN_EARG, text)));
    return DONE;
}

/* Cut one axis into blocks; axis -1: rank 0 has everything. */
static tn_status block_dist(tn_dist **d, int ndim, const int64_t *shape, int axis)
{
    const tn_placement cut = {axis, TN_CUT_BLOCK, 0, 0};
    return axis < 0 ? tn_dist_whole(d, ndim, shape, all_ranks, 0)
                    : tn_dist_mesh(d, ndim, shape, 1, &all_ranks, &cut, NULL);
}

static tn_status make_parts(job *j)
{
    int64_t to[TN_MAX_NDIM], n[TN_MAX_NDIM];
    const int ndim = j->view.ndim;
    for (int i = 0; i < ndim; i++)
        to[i] = j->view.shape[j->axes[i]];
    tn_status status = block_dist(&j->src, ndim, j->view.shape, ndim ? 0 : -1);
    if (status == TN_OK)
        status = block_dist(&j->dst, ndim, to, j->keep_axis);
    if (status != TN_OK)
        return status;
    int64_t need = 0;
    const bool from = tn_dist_parts(j->src, this_rank) > 0;
    const bool goal = tn_dist_parts(j->dst, this_rank) > 0;
    if (from && (status = tn_dist_part(j->src, this_rank, 0, n)) == TN_OK &&
        (status = tn_init(&j->from, NULL, j->view.dtype, ndim, n)) == TN_OK)
        need += tn_nbytes(&j->from);
    if (goal && status == TN_OK && (status = tn_dist_part(j->dst, this_rank, 0, n)) == TN_OK &&
        (status = tn_init(&j->to, NULL, j->dtype, ndim, n)) == TN_OK)
        need += tn_nbytes(&j->to);
    if (status != TN_OK)
        return status;
    if (j->a->max_mem && need > j->a->max_mem) {
        char text[200], a[32], b[32];
        snprintf(text, sizeof text,
                 "%s of elements on this rank, but --max-mem is %s; use more ranks",
                 bytes_text(a, (double)need), bytes_text(b, (double)j->a->max_mem));
        return tn_set_error(TN_ENOMEM, text);
    }
    if (goal)
        status = tn_alloc(&j->to, j->dtype, ndim, j->to.shape);
    if (from && status == TN_OK)
        status = tn_alloc(&j->from, j->view.dtype, ndim, j->from.shape);
    return status;
}

/* The file is represented by an additional rank, after the others, from which each rank
 * receives its part. */
static tn_status read_part(job *j)
{
    tn_dist *file = NULL;
    tn_route *route = NULL;
    tn_route_sum sum;
    tn_status status =
        tn_dist_whole(&file, j->view.ndim, j->view.shape, all_ranks + 1, all_ranks);
    if (status == TN_OK)
        status = tn_route_create(&route, this_rank, j->src, j->view.dtype, file, j->view.dtype,
                                 NULL);
    if (status == TN_OK)
        status = tn_route_info(route, &sum);
    for (int64_t k = 0; status == TN_OK && sum.receives > 0 && k < sum.boxes; k++) {
        tn_tensor to, from;
        status = tn_route_piece(route, 0, k, &j->from, &j->view, &to, &from);
        if (status == TN_OK)
            status = tn_file_fetch(j->file, j->i, &to, &from);
    }
    tn_route_free(route);
    tn_dist_free(file);
    return status;
}

static bool names_tensors(const char *path)
{
    const size_t n = strlen(path);
    return n > 12 && !strcmp(path + n - 12, ".safetensors");
}

static const char *name_in_out(const job *j)
{
    return j->a->name ? j->a->name : j->tensor[0] ? j->tensor : "tensor";
}

int open_output(const job *j, const tn_tensor *out, tn_writer **w)
{
    const char *names[] = {name_in_out(j)};
    const tn_write_options options = {.exclusive = !j->a->force};
    *w = NULL;
    return agree(this_rank || tn_writer_open(w, j->a->out, 1,
                                             names_tensors(j->a->out) ? names : NULL, &out,
                                             &options) == TN_OK
                     ? DONE
                     : FAILED);
}

int close_output(tn_writer *w, int code)
{
    if (code == DONE)
        return agree(this_rank || tn_writer_commit(w) == TN_OK ? DONE : FAILED);
    tn_writer_abort(w);
    return code;
}

static int move(job *j)
{
    const int64_t most = 64 << 20, least = 64 << 10, asked = j->a->max_mem;
    const tn_mpi_options options = {.max_bytes = asked == 0 || asked > most ? most
                                                 : asked < least            ? least
                                                                            : asked};
    tn_mpi_plan *plan = NULL;
    LIB(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, j->dst, j->dtype, j->src, j->view.dtype,
                         j->axes, &options));
    tn_status status = tn_mpi_run(plan, &j->to, &j->from);
    tn_mpi_plan_free(plan);
    LIB(status);
    tn_free(&j->from);
    return DONE;
}

static int move_and_save(job *j)
{
    TRY(move(j));
    const tn_dist *ds[] = {j->dst};
    const tn_tensor *parts[] = {&j->to};
    const char *names[] = {name_in_out(j)};
    LIB(tn_mpi_save(MPI_COMM_WORLD, j->a->out, 1, names_tensors(j->a->out) ? names : NULL, ds,
                    parts, NULL));
    return DONE;
}

static void free_parts(job *j)
{
    tn_free(&j->from);
    tn_free(&j->to);
    tn_dist_free(j->src);
    tn_dist_free(j->dst);
    j->src = j->dst = NULL;
}

static int run_whole(job *j)
{
    int code = agree(make_parts(j) == TN_OK ? DONE : FAILED);
    if (code == DONE)
        code = agree(read_part(j) == TN_OK ? DONE : FAILED);
    if (code == DONE)
        code = move_and_save(j);
    free_parts(j);
    return code;
}

/* ---- results that exceed memory: slab by slab ---- */

void progress(const args *a, double start, int64_t done, int64_t all)
{
    if (this_rank != 0 || a->quiet)
        return;
    if (a->progress)
        fprintf(stderr, "%3d%%\n", (int)(100 * done / all));
    else if (isatty(STDERR_FILENO) && seconds() - start > 1)
        fprintf(stderr, done < all ? "\r%3d%%\033[K" : "\r\033[K", (int)(100 * done / all));
}

/* Bytes of the largest block of n rows distributed over the ranks. */
static double block_bytes(double numel, int64_t n, tn_dtype dtype)
{
    return numel / (double)n * (double)((n + all_ranks - 1) / all_ranks) *
           (double)tn_dtype_size(dtype);
}

/* The number of rows of OUT that fit on rank 0 together with their sources; 0: slabs are not
 * needed, or do not help. */
static int64_t slab_rows(const job *j)
{
    const double numel = (double)tn_numel(&j->view), most = (double)j->a->max_mem;
    if (!j->a->max_mem || numel == 0 || j->view.ndim == 0)
        return 0;
    const int64_t rows = j->view.shape[j->axes[0]];
    const double row =
        numel / (double)rows * (double)(tn_dtype_size(j->view.dtype) + tn_dtype_size(j->dtype));
    return block_bytes(numel, j->view.shape[0], j->view.dtype) +
                       block_bytes(numel, rows, j->dtype) <=
                   most
               ? 0
               : (int64_t)(most / row);
}

/* Move a slab of rows, beginning at `first`, to rank 0, which writes it. */
static int put_slab(const job *whole, tn_writer *w, int64_t first, int64_t rows)
{
    job j = *whole;
    const int64_t last = whole->view.shape[j.axes[0]], end = first + rows;
    j.keep_axis = -1;
    tn_status status =
        tn_slice(&j.view, &whole->view, j.axes[0], first, end < last ? end : last, 1);
    if (status == TN_OK)
        status = make_parts(&j);
    int code = agree(status == TN_OK ? DONE : FAILED);
    if (code == DONE)
        code = agree(read_part(&j) == TN_OK ? DONE : FAILED);
    if (code == DONE)
        code = move(&j);
    if (code == DONE)
        code = agree(this_rank || tn_writer_put(w, &j.to) == TN_OK ? DONE : FAILED);
    free_parts(&j);
    return code;
}

static int run_slabs(const job *j, int64_t rows)
{
    int64_t shape[TN_MAX_NDIM];
    tn_tensor out;
    tn_writer *w;
    for (int i = 0; i < j->view.ndim; i++)
        shape[i] = j->view.shape[j->axes[i]];
    LIB(tn_init(&out, NULL, j->dtype, j->view.ndim, shape));
    int code = open_output(j, &out, &w);
    const double start = seconds();
    for (int64_t at = 0; at < shape[0] && code == DONE; at += rows) {
        code = put_slab(j, w, at, rows);
        progress(j->a, start, at + rows < shape[0] ? at + rows : shape[0], shape[0]);
    }
    return close_output(w, code);
}

int check_data(const args *a)
{
    const bool converts = !strcmp(a->word, "convert"), sized = !strcmp(a->word, "rearrange");
    const int need = converts ? 1 : 2;
    static const char *const what[][2] = {{"permute", "AXES"},
                                          {"rearrange", "PATTERN"},
                                          {"slice", "TEXT"},
                                          {"cast", "DTYPE"},
                                          {"reduce", "OP"}};
    tn_dtype dtype;
    tn_reduction op;
    for (size_t i = 0; i < sizeof what / sizeof *what && a->n == 0; i++)
        if (!strcmp(a->word, what[i][0]))
            return usage("missing argument: %s", what[i][1]);
    if (!strcmp(a->word, "cast") && tn_dtype_parse(&dtype, a->operands[0]) != TN_OK)
        return usage("unknown dtype \"%s\"", a->operands[0]);
    if (!strcmp(a->word, "reduce") && tn_reduction_parse(&op, a->operands[0]) != TN_OK)
        return usage("unknown reduction \"%s\"; tenon help reduce lists them", a->operands[0]);
    if (a->n < need)
        return usage("missing argument: IN");
    if (a->n > need && !sized)
        return usage("too many arguments");
    if (!a->out)
        return usage("missing -o OUT");
    return a->force || access(a->out, F_OK) != 0
               ? DONE
               : fail("%s already exists; use -f to overwrite", a->out);
}

int run_data(const args *a)
{
    job j = {.a = a, .in = a->operands[a->n - 1]};
    split_name(&j);
    tn_status status = open_input(&j);
    if (status == TN_OK)
        status = apply_word(&j);
    int code = agree(status == TN_OK ? DONE : FAILED);
    if (code == DONE && !strcmp(a->word, "permute"))
        code = permute_axes(&j);
    const bool reduces = !strcmp(a->word, "reduce");
    const int64_t rows = code == DONE && !reduces ? slab_rows(&j) : 0;
    if (code == DONE && reduces)
        code = run_reduce(&j);
    else if (code == DONE && rows > 0)
        code = run_slabs(&j, rows);
    else if (code == DONE)
        code = run_whole(&j);
    tn_file_close(j.file);
    return code;
}
