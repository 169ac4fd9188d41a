/* ranks_move.c - moves over the ranks of a communicator, against numbers that each rank knows.
 */
#include "ranks_test.h"

static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,  TN_I16, TN_I32,    TN_I64,    TN_U8,
                                  TN_U16,  TN_U32, TN_U64, TN_F8E5M2, TN_F8E4M3, TN_F16,
                                  TN_BF16, TN_F32, TN_F64, TN_C64,    TN_C128};

typedef struct side {
    tn_dist *d;
    tn_dtype dtype;
    int64_t n;
    tn_tensor parts[PARTS];
    block blocks[PARTS], before[PARTS];
    bool shared;
} side;

/* With memory from tn_mpi_alloc every rank allocates as many as the others. */
static side side_make(rng *r, MPI_Comm comm, tn_dist *d, tn_dtype dtype, bool shared)
{
    side s = {.d = d, .dtype = dtype, .shared = shared};
    const int ndim = tn_dist_ndim(d);
    int rank, size, most = 0;
    rng own = {next(r) + (uint64_t)test_rank};
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    s.n = tn_dist_parts(d, rank);
    for (int i = 0; i < size; i++)
        most = tn_dist_parts(d, i) > most ? (int)tn_dist_parts(d, i) : most;
    for (int i = 0; i < (shared ? most : s.n); i++) {
        int64_t n[TN_MAX_NDIM] = {0};
        if (i < s.n)
            OK(tn_dist_part(d, rank, i, n));
        if (shared)
            OK(tn_mpi_alloc(comm, &s.parts[i], dtype, ndim, n));
        else
            s.blocks[i] = block_make(&own, &s.parts[i], dtype, ndim, n, true);
        if (shared)
            memset(s.parts[i].data, 0xa5, (size_t)tn_nbytes(&s.parts[i]));
    }
    return s;
}

static void side_free(side *s)
{
    for (int i = PARTS - 1; i >= 0; i--) {
        if (s->shared)
            tn_mpi_free(&s->parts[i]);
        else
            free(s->blocks[i].bytes);
        free(s->before[i].bytes);
    }
    tn_dist_free(s->d);
}

/* Every dst part has the numbers that belong there, and its gaps are as they were. */
static void side_check(side *s, tn_dtype way, const int *axes, const int64_t *src_shape)
{
    for (int64_t i = 0; i < s->n; i++) {
        if (s->shared) {
            tn_tensor want;
            OK(tn_alloc(&want, s->dtype, s->parts[i].ndim, s->parts[i].shape));
            part_fill(&want, s->d, i, way, axes, src_shape);
            CHECK(!memcmp(want.data, s->parts[i].data, (size_t)tn_nbytes(&want)));
            tn_free(&want);
            continue;
        }
        block b = s->blocks[i];
        char *copy = malloc(b.size);
        memset(copy, 0xa5, b.size);
        tn_tensor want = s->parts[i];
        want.data = copy + ((char *)s->parts[i].data - b.bytes);
        part_fill(&want, s->d, i, way, axes, src_shape);
        CHECK(!memcmp(copy, b.bytes, b.size));
        free(copy);
    }
}

static void one_move(rng *r, MPI_Comm comm, int round)
{
    int size, axes[AXES], ndim = (int)pick(r, 0, AXES);
    int64_t shape[AXES] = {0}, to[AXES] = {0};
    MPI_Comm_size(comm, &size);
    MPI_Comm_rank(comm, &test_rank);
    for (int i = 0; i < ndim; i++) {
        shape[i] = next(r) % 16 == 0 ? 0 : pick(r, 1, round % 16 == 0 ? 60 : 11);
        axes[i] = i;
    }
    for (int i = ndim - 1; i > 0; i--) {
        int k = (int)pick(r, 0, i), swap = axes[i];
        axes[i] = axes[k];
        axes[k] = swap;
    }
    for (int i = 0; i < ndim; i++)
        to[i] = shape[axes[i]];
    const tn_dtype a = dtypes[next(r) % 17];
    const tn_dtype b = next(r) % 2 ? a : dtypes[next(r) % 17];
    const bool shared = next(r) % 4 == 0;
    tn_mpi_options options = {.way = (tn_mpi_way)pick(r, 0, 3),
                              .flags = next(r) % 4 ? 0 : TN_MPI_TRUST,
                              .max_bytes = next(r) % 2 ? 65536 : 0};
    side src = side_make(r, comm, draw_dist(r, ndim, shape, size), a, shared);
    side dst = side_make(r, comm, draw_dist(r, ndim, to, size), b, next(r) % 8 == 0);
    tn_mpi_plan *plan = NULL;
    const tn_status status = tn_mpi_plan_move(&plan, comm, dst.d, b, src.d, a, axes, &options);
    if (options.way == TN_MPI_SHARED && getenv("TENON_MPI_PER_NODE") && status != TN_OK) {
        CHECK(status == TN_EUNSUPPORTED && strstr(tn_error(), "on other nodes"));
        options.way = TN_MPI_NODES;
        OK(tn_mpi_plan_move(&plan, comm, dst.d, b, src.d, a, axes, &options));
    }
    CHECK(plan);
    for (int again = 0; again < 2; again++) { /* the same plan twice */
        for (int64_t i = 0; i < src.n; i++)
            part_fill(&src.parts[i], src.d, i, a, NULL, shape);
        if (again) {
            OK(tn_mpi_start(plan, dst.parts, src.parts));
            OK(tn_mpi_wait(plan));
        } else {
            OK(tn_mpi_run(plan, dst.parts, src.parts));
        }
        side_check(&dst, a, axes, shape);
        side_check(&src, a, NULL, shape);
    }
    tn_mpi_sum sum;
    OK(tn_mpi_info(plan, &sum));
    CHECK(sum.buffer_bytes <= (options.max_bytes ? options.max_bytes : 64 << 20));
    tn_mpi_plan_free(plan);
    side_free(&src);
    side_free(&dst);
}

/* Messages of many rounds: (1200, 1100) f64 transposed through 64 KiB, and through 1 MiB, by
 * slots and by nodes. */
static void rounds(MPI_Comm comm)
{
    const int64_t shape[] = {1200, 1100}, to[] = {1100, 1200};
    const int axes[] = {1, 0};
    for (int k = 0; k < 6; k++) {
        const tn_placement cut = {0, k % 2 ? TN_CUT_EVEN : TN_CUT_BLOCK, 0, 0};
        const int mesh = test_size;
        tn_dist *a = NULL, *b = NULL;
        rng r = {77 + (uint64_t)k};
        OK(tn_dist_mesh(&a, 2, shape, 1, &mesh, &cut, NULL));
        OK(tn_dist_mesh(&b, 2, to, 1, &mesh, &cut, NULL));
        side src = side_make(&r, comm, a, TN_F64, false);
        side dst = side_make(&r, comm, b, TN_F64, false);
        tn_mpi_plan *plan = NULL;
        tn_mpi_sum sum;
        tn_mpi_options options = {.max_bytes = k % 4 < 2 ? 65536 : 1 << 20,
                                  .way = k < 4 ? TN_MPI_AUTO : TN_MPI_NODES};
        OK(tn_mpi_plan_move(&plan, comm, b, TN_F64, a, TN_F64, axes, &options));
        OK(tn_mpi_info(plan, &sum));
        CHECK(sum.buffer_bytes <= options.max_bytes);
        CHECK(test_size == 1 || sum.steps > 4);
        for (int64_t i = 0; i < src.n; i++)
            part_fill(&src.parts[i], a, i, TN_F64, NULL, shape);
        OK(tn_mpi_run(plan, dst.parts, src.parts));
        side_check(&dst, TN_F64, axes, shape);
        tn_mpi_plan_free(plan);
        side_free(&src);
        side_free(&dst);
    }
}

/* ---- memory ---- */

static size_t largest, taken;

static void *counted(void *user, size_t size, size_t align)
{
    void *p = NULL;
    (void)user;
    largest = size > largest ? size : largest;
    taken++;
    return posix_memalign(&p, align, size) ? NULL : p;
}

static void given_back(void *user, void *p, size_t size)
{
    (void)user;
    (void)size;
    free(p);
}

/* A plan takes its buffers as one block of the size that it tells (and a label of 64 bytes),
 * and a run takes nothing. */
static void memory(MPI_Comm comm)
{
    const int64_t shape[] = {600, 500}, to[] = {500, 600};
    const int axes[] = {1, 0}, mesh = test_size;
    const tn_placement cut = {0, TN_CUT_BLOCK, 0, 0};
    tn_dist *a = NULL, *b = NULL;
    rng r = {9};
    tn_handle *h = NULL;
    OK(tn_dist_mesh(&a, 2, shape, 1, &mesh, &cut, NULL));
    OK(tn_dist_mesh(&b, 2, to, 1, &mesh, &cut, NULL));
    side src = side_make(&r, comm, a, TN_F32, false),
         dst = side_make(&r, comm, b, TN_F32, false);
    for (int64_t i = 0; i < src.n; i++)
        part_fill(&src.parts[i], a, i, TN_F32, NULL, shape);
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.alloc = counted, .free = given_back}));
    OK(tn_handle_use(h));
    for (int64_t budget = 65536; budget <= 1 << 24; budget *= 4) {
        tn_mpi_plan *plan = NULL;
        tn_mpi_sum sum;
        const tn_mpi_options options = {.max_bytes = budget};
        largest = 0;
        OK(tn_mpi_plan_move(&plan, comm, b, TN_F32, a, TN_F32, axes, &options));
        OK(tn_mpi_info(plan, &sum));
        CHECK(sum.buffer_bytes <= budget);
        CHECK((int64_t)largest == (sum.buffer_bytes + 127) / 64 * 64);
        taken = 0;
        OK(tn_mpi_run(plan, dst.parts, src.parts));
        CHECK(taken == 0);
        tn_mpi_plan_free(plan);
    }
    OK(tn_handle_use(NULL));
    tn_handle_destroy(h);
    side_check(&dst, TN_F32, axes, shape);
    side_free(&src);
    side_free(&dst);
}

/* Two plans under way, waited for in the other order. */
static void two_plans(MPI_Comm comm)
{
    rng r = {5};
    const int64_t shape[] = {60, 50};
    side src[2], dst[2];
    tn_mpi_plan *plan[2] = {0};
    for (int k = 0; k < 2; k++) {
        src[k] = side_make(&r, comm, draw_dist(&r, 2, shape, test_size), TN_F32, false);
        dst[k] = side_make(&r, comm, draw_dist(&r, 2, shape, test_size), TN_F32, false);
        OK(tn_mpi_plan_move(&plan[k], comm, dst[k].d, TN_F32, src[k].d, TN_F32, NULL, NULL));
        for (int64_t i = 0; i < src[k].n; i++)
            part_fill(&src[k].parts[i], src[k].d, i, TN_F32, NULL, shape);
    }
    OK(tn_mpi_start(plan[0], dst[0].parts, src[0].parts));
    OK(tn_mpi_start(plan[1], dst[1].parts, src[1].parts));
    CHECK(tn_mpi_start(plan[1], dst[1].parts, src[1].parts) == TN_EARG);
    OK(tn_mpi_wait(plan[1]));
    OK(tn_mpi_wait(plan[0]));
    CHECK(tn_mpi_wait(plan[0]) == TN_EARG);
    for (int k = 0; k < 2; k++) {
        side_check(&dst[k], TN_F32, NULL, shape);
        tn_mpi_plan_free(plan[k]);
        side_free(&src[k]);
        side_free(&dst[k]);
    }
}

/* MPICH has about 2,000 contexts: plans must not take one each. */
static void many_plans(MPI_Comm comm, int n)
{
    const int64_t shape[] = {8};
    const int mesh = test_size;
    const tn_placement cut = {0, TN_CUT_BLOCK, 0, 0};
    tn_dist *a = NULL, *b = NULL;
    OK(tn_dist_mesh(&a, 1, shape, 1, &mesh, &cut, NULL));
    OK(tn_dist_whole(&b, 1, shape, test_size, 0));
    for (int i = 0; i < n; i++) {
        tn_mpi_plan *plan = NULL;
        OK(tn_mpi_plan_move(&plan, comm, b, TN_U8, a, TN_U8, NULL, NULL));
        tn_mpi_plan_free(plan);
    }
    tn_dist_free(a);
    tn_dist_free(b);
}

int main(int argc, char **argv)
{
    const int world = test_begin(&argc, &argv, 170);
    const int rounds_asked = argc > 1 ? atoi(argv[1]) : 60;
    rng r = {2026};
    for (int i = 0; i < rounds_asked; i++)
        one_move(&r, MPI_COMM_WORLD, i);
    rounds(MPI_COMM_WORLD);
    two_plans(MPI_COMM_WORLD);
    memory(MPI_COMM_WORLD);
    many_plans(MPI_COMM_WORLD, rounds_asked >= 200 ? 5000 : 300);

    /* A part of the ranks, in reversed order, and freed while the program goes on. */
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &half);
    for (int i = 0; i < rounds_asked / 4; i++) {
        rng q = {900 + (uint64_t)i};
        one_move(&q, half, i);
    }
    MPI_Comm_free(&half);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world == 0)
        printf("moves over %d ranks: fine\n", test_size);
    MPI_Finalize();
    return 0;
}
