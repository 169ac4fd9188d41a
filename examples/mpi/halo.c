/* halo.c - a stencil over many ranks: the borders are exchanged, then every rank computes on
 * its own.
 *
 *     mpirun -n 4 halo
 *
 * The heat equation on a ring of cells.  The borders of a part are filled from its neighbours
 * (and, by TN_PAD_WRAP, around the ends); the sum of all cells does not change. */
#include <math.h>
#include <stdio.h>

#include <tenon/easy.h>
#include <tenon/mpi.h>

enum { N = 1000, STEPS = 50 };

int main(int argc, char **argv)
{
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);

    const int64_t shape[] = {N}, one[] = {1};
    const tn_placement cut = {0, TN_CUT_EVEN, 0, 0};
    tn_dist *cells;
    TN_MUST(tn_dist_mesh(&cells, 1, shape, 1, &size, &cut, NULL));
    int64_t n, wide, first = 0, zero = 0;
    TN_MUST(tn_dist_part(cells, rank, 0, &n));
    if (n > 0)
        TN_MUST(tn_dist_where(cells, rank, 0, &zero, &first));
    wide = n + 2;
    tn_tensor part;
    TN_MUST(tn_alloc(&part, TN_F64, 1, &wide));
    double *x = part.data, sum[2] = {0, 0}, all[2];
    for (int64_t i = 1; i <= n; i++)
        sum[0] += x[i] = first + i - 1 < N / 4 ? 1 : 0;

    tn_mpi_plan *plan;
    TN_MUST(tn_mpi_plan_halo(&plan, MPI_COMM_WORLD, cells, TN_F64, one, one, TN_PAD_WRAP, NULL,
                             NULL));
    for (int step = 0; step < STEPS; step++) {
        TN_MUST(tn_mpi_run(plan, &part, &part));
        double before = x[0];
        for (int64_t i = 1; i <= n; i++) {
            const double now = x[i];
            x[i] = now + 0.25 * (before - 2 * now + x[i + 1]);
            before = now;
        }
    }
    for (int64_t i = 1; i <= n; i++)
        sum[1] += x[i];
    MPI_Allreduce(sum, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0)
        printf("%d ranks, %d steps: the sum was %.9f and is %.9f\n", size, STEPS, all[0],
               all[1]);
    tn_mpi_plan_free(plan);
    tn_free(&part);
    tn_dist_free(cells);
    MPI_Finalize();
    return fabs(all[0] - all[1]) > 1e-9;
}
