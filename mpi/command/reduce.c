/* reduce.c - reductions by all ranks, bit-identical to tenon's.
 *
 * The sequences are cut into pieces: aligned powers of two of blocks of the summation tree.
 * The ranks compute pieces in turn, each within --max-mem; rank 0 merges their states in the
 * order of pieces, so that neither memory nor ranks change a bit. */
#include <stdlib.h>
#include <string.h>

#include "command.h"

/* Memory if --max-mem is not given: pieces have 8 MiB unless longer reads need more. */
enum { USUAL_MEMORY = 1 << 30 };

typedef struct reduction {
    tn_stream_source source;
    tn_stream_reduce args;
    tn_stream job;
    int axes[TN_MAX_NDIM];
    double param;
} reduction;

static int read_param(const args *a, reduction *r)
{
    char *end;
    if (!a->params)
        return DONE;
    r->param = strtod(a->params, &end);
    if (end == a->params || *end)
        return usage("--params takes numbers separated by commas, got \"%s\"", a->params);
    if (tn_reduction_params(r->args.op) != 1)
        return usage("%s takes 0 parameters, --params has 1", tn_reduction_name(r->args.op));
    r->args.params = &r->param;
    return DONE;
}

static int build(const job *j, reduction *r)
{
    const args *a = j->a;
    int64_t shape[TN_MAX_NDIM];
    int ndim;
    tn_dtype dtype;
    TRY(read_param(a, r));
    r->args.naxes = TN_ALL_AXES;
    if (a->axis)
        TRY(parse_axes("-a", a->axis, j->view.ndim, r->axes, &r->args.naxes));
    r->args.axes = r->axes;
    LIB(of_input(j, tn_reduce_shape(&j->view, r->args.naxes, r->axes, a->keep, &ndim, shape)));
    LIB(of_input(j, tn_reduction_result(r->args.op, j->view.dtype, &dtype)));
    r->source = (tn_stream_source){.file = j->file, .tensor = j->i, .view = j->view};
    r->job = (tn_stream){.recipe = TN_STREAM_REDUCE,
                         .args = &r->args,
                         .n = 1,
                         .sources = &r->source,
                         .max_mem = a->max_mem ? a->max_mem : USUAL_MEMORY,
                         .threads = 1};
    LIB(tn_init(&r->job.out, NULL, dtype, ndim, shape));
    return DONE;
}

/* Pieces [first, first + ranks), one per rank: each rank computes one, then rank 0 merges
 * them. */
static int round_of(tn_partial *p, int64_t first, void *received)
{
    const int64_t mine = first + this_rank, n = tn_partial_count(p),
                  bytes = tn_partial_bytes(p);
    const void *states = NULL;
    tn_status status = TN_OK;
    if (mine < n)
        status = tn_partial_compute(p, mine, &states);
    TRY(agree(status == TN_OK ? DONE : FAILED));
    if (this_rank != 0 && mine < n)
        MPI_Send(states, (int)(bytes / 8), MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    for (int rank = 0; this_rank == 0 && rank < all_ranks && first + rank < n; rank++) {
        if (rank)
            MPI_Recv(received, (int)(bytes / 8), MPI_UINT64_T, rank, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        if (status == TN_OK)
            status = tn_partial_merge(p, rank ? received : states);
    }
    return agree(status == TN_OK ? DONE : FAILED);
}

int run_reduce(job *j)
{
    reduction r = {.param = 0};
    tn_partial *p = NULL;
    LIB(tn_reduction_parse(&r.args.op, j->a->operands[0]));
    TRY(build(j, &r));
    int code = agree(of_input(j, tn_partial_create(&p, &r.job)) == TN_OK ? DONE : FAILED);
    void *received = code == DONE ? malloc((size_t)tn_partial_bytes(p) + 1) : NULL;
    if (code == DONE)
        code = agree(received || tn_set_error(TN_ENOMEM, "cannot allocate memory for states") ==
                                     TN_OK
                         ? DONE
                         : FAILED);
    if (code == DONE) {
        const int64_t n = tn_partial_count(p);
        const double start = seconds();
        code = open_output(j, &r.job.out, &r.job.writer);
        for (int64_t i = 0; i < n && code == DONE; i += all_ranks) {
            code = round_of(p, i, received);
            progress(j->a, start, i + all_ranks < n ? i + all_ranks : n, n);
        }
        code = close_output(r.job.writer, code);
    }
    free(received);
    tn_partial_free(p);
    return code;
}
