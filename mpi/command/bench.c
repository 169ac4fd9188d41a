/* bench.c - redistribution by all ranks, compared with memcpy, a local permute, and what MPI
 * offers.
 *
 * The methods of a case are interleaved, so that all see the same machine.  The best round
 * counts, and a round takes as long as its slowest rank. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"

static const bench_case cases[] = {
    {"T", "rows to rows, transposed", 2, {4096, 4096}, {1, 0}, 0, 0, {0.85, 0.45, 0.28}},
    {"R", "rows to columns", 2, {4096, 4096}, {0, 1}, 0, 1, {0.7, 0.7, 0.35}},
    {"A",
     "axes 0,2,1,3; axis 0 to 1",
     4,
     {64, 128, 64, 128},
     {0, 2, 1, 3},
     0,
     1,
     {0.85, 0.5, 0.3}},
    {"B",
     "axes 2,3,0,1; axis 0 to 1",
     4,
     {64, 128, 64, 128},
     {2, 3, 0, 1},
     0,
     1,
     {0.85, 0.42, 0.28}},
};

tn_status bench_check(tn_status code)
{
    if (code != TN_OK) {
        fprintf(stderr, "tenon-mpi: rank %d: %s\n", this_rank, tn_error());
        MPI_Abort(MPI_COMM_WORLD, FAILED);
    }
    return code;
}

static tn_dist *cut_axis(int ndim, const int64_t *shape, int axis)
{
    const tn_placement cut = {axis, TN_CUT_BLOCK, 0, 0};
    tn_dist *d = NULL;
    bench_check(tn_dist_mesh(&d, ndim, shape, 1, &all_ranks, &cut, NULL));
    return d;
}

static tn_tensor part_of(const tn_dist *d, bool shared)
{
    int64_t n[TN_MAX_NDIM];
    tn_tensor t;
    bench_check(tn_dist_part(d, this_rank, 0, n));
    bench_check(shared ? tn_mpi_alloc(MPI_COMM_WORLD, &t, TN_F32, tn_dist_ndim(d), n)
                       : tn_alloc(&t, TN_F32, tn_dist_ndim(d), n));
    float *x = t.data;
    for (int64_t i = 0; i < tn_numel(&t); i++)
        x[i] = (float)(i % 1024 + this_rank);
    return t;
}

/* ---- methods ---- */

static void by_memcpy(bench *b)
{
    memcpy(b->dst.data, b->src.data, (size_t)tn_nbytes(&b->src));
}

/* This rank's part, permuted in its own memory. */
static void by_local(bench *b)
{
    bench_check(tn_rearrange(&b->local_dst, &b->local_src));
}

static void by_shared(bench *b)
{
    bench_check(tn_mpi_run(b->shared_plan, &b->dst, &b->shared));
}

static void by_p2p(bench *b)
{
    bench_check(tn_mpi_run(b->p2p_plan, &b->dst, &b->src));
}

static void by_alltoallw(bench *b)
{
    MPI_Alltoallw(b->src.data, b->counts, b->zeros, b->out_types, b->between.data, b->counts,
                  b->zeros, b->in_types, MPI_COMM_WORLD);
    if (b->permutes)
        bench_check(tn_rearrange(&b->dst, &b->permuted));
}

static const bench_method methods[] = {
    {"memcpy", by_memcpy, NULL},
    {"local permute", by_local, NULL},
    {"shared memory", by_shared, NULL},
    {"messages", by_p2p, NULL},
    {"Alltoallw", by_alltoallw, NULL},
#ifdef BENCH_FFTW
    {"FFTW-MPI", bench_fftw, bench_fftw_fits},
#endif
#ifdef BENCH_SCALAPACK
    {"ScaLAPACK", bench_scalapack, bench_scalapack_fits},
#endif
};
enum { METHODS = sizeof methods / sizeof *methods };

/* ---- preparing a case ---- */

/* Subarray types for MPI_Alltoallw, in the order of src's axes: dst is cut along the axis of
 * src that becomes its dst_axis. */
static void make_types(bench *b, const bench_case *c)
{
    const int cut = c->axes[c->dst_axis], ndim = c->ndim;
    int64_t start = 0;
    int whole[4], size[4], at[4], in[4];
    for (int i = 0; i < ndim; i++) {
        whole[i] = (int)b->src.shape[i];
        in[i] = (int)b->between.shape[i];
    }
    b->counts = malloc((size_t)all_ranks * sizeof(int));
    b->zeros = calloc((size_t)all_ranks, sizeof(int));
    b->out_types = malloc((size_t)all_ranks * sizeof(MPI_Datatype));
    b->in_types = malloc((size_t)all_ranks * sizeof(MPI_Datatype));
    const int64_t each = (c->shape[cut] + all_ranks - 1) / all_ranks;
    const int64_t rows = (c->shape[c->src_axis] + all_ranks - 1) / all_ranks;
    for (int r = 0; r < all_ranks; r++, start += each) {
        b->counts[r] = 1;
        for (int i = 0; i < ndim; i++) {
            size[i] = whole[i];
            at[i] = 0;
        }
        size[cut] = (int)each;
        at[cut] = (int)start;
        MPI_Type_create_subarray(ndim, whole, size, at, MPI_ORDER_C, MPI_FLOAT,
                                 &b->out_types[r]);
        for (int i = 0; i < ndim; i++) {
            size[i] = in[i];
            at[i] = 0;
        }
        size[c->src_axis] = (int)rows;
        at[c->src_axis] = (int)(rows * r);
        if (cut == c->src_axis) { /* no data is exchanged: each rank sends only to itself */
            b->counts[r] = r == this_rank;
            size[c->src_axis] = in[c->src_axis];
            at[c->src_axis] = 0;
        }
        MPI_Type_create_subarray(ndim, in, size, at, MPI_ORDER_C, MPI_FLOAT, &b->in_types[r]);
        MPI_Type_commit(&b->out_types[r]);
        MPI_Type_commit(&b->in_types[r]);
    }
}

static void prepare(bench *b, const bench_case *c)
{
    int64_t to[4];
    for (int i = 0; i < c->ndim; i++)
        to[i] = c->shape[c->axes[i]];
    *b = (bench){.c = c};
    b->src_dist = cut_axis(c->ndim, c->shape, c->src_axis);
    b->dst_dist = cut_axis(c->ndim, to, c->dst_axis);
    b->src = part_of(b->src_dist, false);
    b->dst = part_of(b->dst_dist, false);
    b->shared = part_of(b->src_dist, true);
    tn_mpi_options options = {.way = TN_MPI_P2P, .max_bytes = 1 << 30};
    bench_check(tn_mpi_plan_move(&b->p2p_plan, MPI_COMM_WORLD, b->dst_dist, TN_F32, b->src_dist,
                                 TN_F32, c->axes, &options));
    options.way = TN_MPI_AUTO;
    bench_check(tn_mpi_plan_move(&b->shared_plan, MPI_COMM_WORLD, b->dst_dist, TN_F32,
                                 b->src_dist, TN_F32, c->axes, &options));
    bench_check(tn_permute(&b->local_src, &b->src, c->axes));
    bench_check(tn_alloc(&b->local_dst, TN_F32, c->ndim, b->local_src.shape));
    tn_dist *same = cut_axis(c->ndim, c->shape, c->axes[c->dst_axis]);
    b->between = part_of(same, false);
    tn_dist_free(same);
    bench_check(tn_permute(&b->permuted, &b->between, c->axes));
    for (int i = 0; i < c->ndim; i++)
        b->permutes = b->permutes || c->axes[i] != i;
    make_types(b, c);
}

static void release(bench *b)
{
    for (int r = 0; r < all_ranks; r++) {
        MPI_Type_free(&b->out_types[r]);
        MPI_Type_free(&b->in_types[r]);
    }
    free(b->counts);
    free(b->zeros);
    free(b->out_types);
    free(b->in_types);
    tn_mpi_plan_free(b->p2p_plan);
    tn_mpi_plan_free(b->shared_plan);
    tn_mpi_free(&b->shared);
    tn_free(&b->src);
    tn_free(&b->dst);
    tn_free(&b->local_dst);
    tn_free(&b->between);
    tn_dist_free(b->src_dist);
    tn_dist_free(b->dst_dist);
}

/* ---- measuring ---- */

/* Evict from the caches what the previous method has read: memcpy and the local permute read
 * the same memory, and the second would find half of it cached. */
static void cool(void)
{
    enum { BYTES = 64 << 20 };
    static char *memory;
    if (!memory && !(memory = malloc(BYTES)))
        return;
    for (int i = 0; i < BYTES; i += 64)
        memory[i]++;
}

static double once(bench *b, void (*run)(bench *))
{
    cool();
    MPI_Barrier(MPI_COMM_WORLD);
    double time = seconds(), most;
    run(b);
    time = seconds() - time;
    MPI_Allreduce(&time, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

static void measure(const bench_case *c, int rounds, double *best)
{
    bench b;
    prepare(&b, c);
    for (int m = 0; m < METHODS; m++)
        best[m] = methods[m].fits && !methods[m].fits(&b) ? 0 : 1e9;
    for (int round = 0; round < rounds; round++)
        for (int m = 0; m < METHODS; m++) {
            if (best[m] == 0)
                continue;
            double time = once(&b, methods[m].run);
            best[m] = time < best[m] ? time : best[m];
        }
    release(&b);
}

/* The time of a method; 0: not measured. */
static double time_of(const double *best, const char *name)
{
    for (int m = 0; m < METHODS; m++)
        if (!strcmp(methods[m].name, name))
            return best[m];
    return 0;
}

/* Speed ratios to other methods: goal and result. */
static void print_ratios(const args *a, const bench_case *c, const double *best)
{
    const struct {
        const char *name, *peer;
        double goal;
    } rows[] = {{"shared memory", "local permute", c->goals[0]},
                {"shared memory", "memcpy", c->goals[1]},
                {"messages", "memcpy", c->goals[2]},
                {"messages", "Alltoallw", 1},
                {"shared memory", "Alltoallw", 1},
                {"messages", "FFTW-MPI", 2},
                {"messages", "ScaLAPACK", 4}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const double reached = time_of(best, rows[i].peer) / time_of(best, rows[i].name);
        if (reached == 0)
            continue;
        if (a->json)
            printf("{\"case\": \"%s\", \"method\": \"%s\", \"peer\": \"%s\", "
                   "\"goal\": %.2f, \"reached\": %.3f}\n",
                   c->name, rows[i].name, rows[i].peer, rows[i].goal, reached);
        else
            printf("   %-13s / %-13s goal %4.2f  reached %5.2f  %s\n", rows[i].name,
                   rows[i].peer, rows[i].goal, reached,
                   reached >= rows[i].goal ? "ok" : "MISSED");
    }
}

static void print_case(const args *a, const bench_case *c, const double *best)
{
    if (this_rank != 0)
        return;
    for (int m = 0; m < METHODS; m++) {
        if (best[m] == 0)
            continue;
        if (a->json)
            printf("{\"case\": \"%s\", \"ranks\": %d, \"method\": \"%s\", \"ms\": %.3f, "
                   "\"of_memcpy\": %.3f}\n",
                   c->name, all_ranks, methods[m].name, 1e3 * best[m], best[0] / best[m]);
        else
            printf("%-2s %-27s %-14s %9.2f ms %6.2f of memcpy\n", m ? "" : c->name,
                   m ? "" : c->words, methods[m].name, 1e3 * best[m], best[0] / best[m]);
    }
    print_ratios(a, c, best);
    fflush(stdout);
}

/* ---- the cost of a call ---- */

static void small_calls(const args *a)
{
    const int64_t shape[] = {8}, big[] = {4096, 4096};
    const int axes[] = {1, 0};
    tn_dist *d = cut_axis(1, shape, 0), *t = cut_axis(2, big, 0);
    tn_tensor src = part_of(d, false), dst = part_of(d, false);
    tn_mpi_plan *plan = NULL;
    double best[3] = {1e9, 1e9, 1e9};
    for (int trust = 0; trust < 2; trust++) {
        tn_mpi_options options = {.flags = trust ? TN_MPI_TRUST : 0};
        bench_check(
            tn_mpi_plan_move(&plan, MPI_COMM_WORLD, d, TN_F32, d, TN_F32, NULL, &options));
        for (int k = 0; k < 200; k++) {
            double time = seconds();
            for (int i = 0; i < 20; i++)
                bench_check(tn_mpi_run(plan, &dst, &src));
            time = (seconds() - time) / 20;
            best[trust] = time < best[trust] ? time : best[trust];
        }
        tn_mpi_plan_free(plan);
    }
    for (int k = 0; k < 20; k++) {
        double time = seconds();
        bench_check(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, t, TN_F32, t, TN_F32, axes, NULL));
        time = seconds() - time;
        tn_mpi_plan_free(plan);
        best[2] = time < best[2] ? time : best[2];
    }
    if (this_rank == 0)
        printf(a->json
                   ? "{\"run_us\": %.2f, \"trusted_us\": %.2f, \"plan_T_us\": %.2f}\n"
                   : "   a run of 8 elements %.1f us, trusted %.1f us; planning T %.0f us\n",
               1e6 * best[0], 1e6 * best[1], 1e6 * best[2]);
    tn_free(&src);
    tn_free(&dst);
    tn_dist_free(d);
    tn_dist_free(t);
}

/* A halo exchange of one row, compared with a pass over the elements. */
static void halo(const args *a)
{
    const int64_t shape[] = {8192, 8192}, one[] = {1, 0};
    tn_dist *d = cut_axis(2, shape, 0);
    int64_t n[2];
    tn_tensor part;
    tn_mpi_plan *plan = NULL;
    double best[2] = {1e9, 1e9};
    bench_check(tn_dist_part(d, this_rank, 0, n));
    n[0] += 2;
    bench_check(tn_alloc(&part, TN_F32, 2, n));
    bench_check(tn_fill(&part, NULL));
    const tn_mpi_options options = {.flags = TN_MPI_TRUST};
    bench_check(tn_mpi_plan_halo(&plan, MPI_COMM_WORLD, d, TN_F32, one, one, TN_PAD_EDGE, NULL,
                                 &options));
    for (int k = 0; k < 20; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double time = seconds();
        bench_check(tn_mpi_run(plan, &part, &part));
        time = seconds() - time;
        best[0] = time < best[0] ? time : best[0];
        time = seconds();
        bench_check(tn_unary(TN_NEG, &part, &part));
        time = seconds() - time;
        best[1] = time < best[1] ? time : best[1];
    }
    if (this_rank == 0)
        printf(a->json ? "{\"halo_us\": %.2f, \"pass_us\": %.2f, \"share\": %.4f}\n"
                       : "   a halo of 1 row on (8192, 8192) %.1f us, a pass %.0f us: %.4f\n",
               1e6 * best[0], 1e6 * best[1], best[0] / best[1]);
    tn_mpi_plan_free(plan);
    tn_free(&part);
    tn_dist_free(d);
}

/* True if a part of the benchmark is selected; without names all parts are. */
static bool asked(const args *a, const char *name)
{
    bool found = a->n == 0;
    for (int i = 0; i < a->n; i++)
        found = found || !strcmp(a->operands[i], name);
    return found;
}

static const struct {
    const char *name;
    void (*run)(const args *a);
} others[] = {
    {"calls", small_calls}, {"halo", halo}, {"plan", bench_plan}, {"save", bench_save}};
enum { CASES = sizeof cases / sizeof *cases, OTHERS = sizeof others / sizeof *others };

int check_bench(const args *a)
{
    for (int i = 0; i < a->n; i++) {
        bool known = false;
        for (int k = 0; k < CASES + OTHERS; k++)
            known = known ||
                    !strcmp(a->operands[i], k < CASES ? cases[k].name : others[k - CASES].name);
        if (!known)
            return usage("unknown case \"%s\"; expected T, R, A, B, calls, halo, plan or save",
                         a->operands[i]);
    }
    return DONE;
}

int run_bench(const args *a)
{
    double best[METHODS];
    if (64 % all_ranks != 0)
        return fail("bench needs a number of ranks that divides 64, got %d", all_ranks);
    if (!a->json && this_rank == 0)
        printf("%d ranks, %s; best of several rounds, methods interleaved\n", all_ranks,
               tn_isa());
    for (int i = 0; i < CASES; i++)
        if (asked(a, cases[i].name)) {
            measure(&cases[i], a->quick ? 3 : cases[i].ndim == 2 ? 25 : 12, best);
            print_case(a, &cases[i], best);
        }
    for (int i = 0; i < OTHERS; i++)
        if (asked(a, others[i].name))
            others[i].run(a);
    return DONE;
}
