/* ranks_threads.c - several threads, each with a communicator of its own, call at the same
 * time: from the first call of the process on. */
#include <pthread.h>

#include "ranks_test.h"

enum { THREADS = 4, ROUNDS = 20 };

static pthread_barrier_t begin;

typedef struct job {
    MPI_Comm comm;
    int number;
} job;

/* Moves, sums over copies and a gather, each of which must give this thread's numbers. */
static void one_round(const job *j, int round)
{
    const int64_t shape[] = {test_size * 3, 5}, to[] = {5, test_size * 3};
    const tn_placement cut = {0, TN_CUT_EVEN, 0, 0}, copy = {-1, TN_CUT_BLOCK, 0, 0};
    tn_dist *rows = NULL, *turned = NULL, *copies = NULL;
    tn_mpi_plan *move = NULL, *sum = NULL;
    OK(tn_dist_mesh(&rows, 2, shape, 1, &test_size, &cut, NULL));
    OK(tn_dist_mesh(&turned, 2, to, 1, &test_size, &cut, NULL));
    OK(tn_dist_mesh(&copies, 2, shape, 1, &test_size, &copy, NULL));
    OK(tn_mpi_plan_move(&move, j->comm, turned, TN_I32, rows, TN_I32, (int[]){1, 0}, NULL));
    OK(tn_mpi_plan_reduce(&sum, j->comm, TN_ADD, rows, TN_I32, copies, TN_I32, NULL, NULL));
    tn_tensor src, dst, whole, all;
    int64_t n[2], start[2], local[2] = {0};
    const int32_t term = 1000 * j->number + round;
    OK(tn_alloc(&whole, TN_I32, 2, shape));
    OK(tn_alloc(&all, TN_I32, 2, shape));
    for (int64_t i = 0; i < tn_numel(&whole); i++)
        ((int32_t *)whole.data)[i] = term + (int32_t)i;
    OK(tn_dist_part(rows, test_rank, 0, n));
    OK(tn_alloc(&src, TN_I32, 2, n));
    OK(tn_mpi_run(sum, &src, &whole));
    for (int64_t i = 0; i < tn_numel(&src); i++)
        CHECK(((int32_t *)src.data)[i] ==
              test_size * (term + (int32_t)(test_rank * tn_numel(&src) + i)));
    OK(tn_dist_part(turned, test_rank, 0, n));
    OK(tn_alloc(&dst, TN_I32, 2, n));
    OK(tn_mpi_run(move, &dst, &src));
    if (tn_numel(&dst) > 0) {
        int32_t *at = dst.data;
        do {
            OK(tn_dist_where(turned, test_rank, 0, local, start));
            CHECK(*at++ == test_size * (term + (int32_t)(start[1] * 5 + start[0])));
        } while (index_next(local, 2, n));
    }
    OK(tn_mpi_gather(j->comm, 0, test_rank == 0 ? &all : NULL, rows, &src));
    for (int64_t i = 0; i < tn_numel(&all) && test_rank == 0; i++)
        CHECK(((int32_t *)all.data)[i] == test_size * (term + (int32_t)i));
    /* The sentence is this thread's. */
    CHECK(tn_mpi_gather(j->comm, test_size + j->number, &all, rows, &src) == TN_EARG);
    char words[32];
    snprintf(words, sizeof words, "%d", test_size + j->number);
    CHECK(strstr(tn_error(), words));
    tn_mpi_plan_free(move);
    tn_mpi_plan_free(sum);
    tn_free(&src);
    tn_free(&dst);
    tn_free(&whole);
    tn_free(&all);
    tn_dist_free(rows);
    tn_dist_free(turned);
    tn_dist_free(copies);
}

static void *work(void *of)
{
    const job *j = of;
    pthread_barrier_wait(&begin);
    for (int round = 0; round < ROUNDS; round++)
        one_round(j, round);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided = 0;
    alarm(150); /* a hang is a failure */
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    if (provided == MPI_THREAD_MULTIPLE) {
        pthread_t threads[THREADS];
        job jobs[THREADS];
        CHECK(pthread_barrier_init(&begin, NULL, THREADS) == 0);
        for (int i = 0; i < THREADS; i++) {
            jobs[i].number = i;
            MPI_Comm_dup(MPI_COMM_WORLD, &jobs[i].comm);
        }
        for (int i = 0; i < THREADS; i++)
            CHECK(pthread_create(&threads[i], NULL, work, &jobs[i]) == 0);
        for (int i = 0; i < THREADS; i++) {
            CHECK(pthread_join(threads[i], NULL) == 0);
            MPI_Comm_free(&jobs[i].comm);
        }
    }
    if (test_rank == 0)
        printf("%s over %d ranks: fine\n",
               provided == MPI_THREAD_MULTIPLE ? "threads" : "no MPI_THREAD_MULTIPLE",
               test_size);
    MPI_Finalize();
    return 0;
}
