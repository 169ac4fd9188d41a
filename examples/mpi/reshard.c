/* reshard.c - redistribute the weights of a tensor-parallel layer from half of the ranks to all
 * of them.
 *
 *     mpirun -n 8 reshard        (4 to 8 ranks; with n ranks: n / 2 to n)
 *
 * A column-parallel weight is cut along its rows, a row-parallel one along its columns.  Ranks
 * without weights also make the calls, with no part. */
#include <stdio.h>

#include <tenon/easy.h>
#include <tenon/mpi.h>

static int check(const tn_dist *d, int rank, const tn_tensor *t)
{
    const int64_t columns = tn_dist_shape(d)[1];
    const float *at = t->data;
    int64_t local[2], i[2];
    int wrong = 0;
    for (local[0] = 0; local[0] < t->shape[0]; local[0]++)
        for (local[1] = 0; local[1] < t->shape[1]; local[1]++) {
            TN_MUST(tn_dist_where(d, rank, 0, local, i));
            wrong += *at++ != (float)(i[0] * columns + i[1]);
        }
    return wrong;
}

static void fill(const tn_dist *d, int rank, tn_tensor *t)
{
    const int64_t columns = tn_dist_shape(d)[1];
    float *at = t->data;
    int64_t local[2], i[2];
    for (local[0] = 0; local[0] < t->shape[0]; local[0]++)
        for (local[1] = 0; local[1] < t->shape[1]; local[1]++) {
            TN_MUST(tn_dist_where(d, rank, 0, local, i));
            *at++ = (float)(i[0] * columns + i[1]);
        }
}

int main(int argc, char **argv)
{
    int rank, size, wrong = 0, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    const int half = size > 1 ? size / 2 : 1;
    const int64_t shape[] = {96, 80};
    for (int axis = 0; axis < 2; axis++) {
        const tn_placement cut = {axis, TN_CUT_BLOCK, 0, 0};
        tn_dist *old, *new;
        TN_MUST(tn_dist_mesh(&old, 2, shape, 1, &half, &cut, NULL));
        TN_MUST(tn_dist_mesh(&new, 2, shape, 1, &size, &cut, NULL));

        int64_t n[2];
        tn_tensor from = {0}, to;
        if (rank < half) {
            TN_MUST(tn_dist_part(old, rank, 0, n));
            TN_MUST(tn_alloc(&from, TN_F32, 2, n));
            fill(old, rank, &from);
        }
        TN_MUST(tn_dist_part(new, rank, 0, n));
        TN_MUST(tn_alloc(&to, TN_F32, 2, n));

        tn_mpi_plan *plan;
        TN_MUST(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, new, TN_F32, old, TN_F32, NULL, NULL));
        TN_MUST(tn_mpi_run(plan, &to, rank < half ? &from : NULL));
        wrong += check(new, rank, &to);

        tn_mpi_plan_free(plan);
        tn_free(&from);
        tn_free(&to);
        tn_dist_free(old);
        tn_dist_free(new);
    }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d to %d ranks, %d elements are wrong\n", half, size, all);
    MPI_Finalize();
    return all != 0;
}
