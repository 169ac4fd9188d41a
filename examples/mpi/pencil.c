/* pencil.c - the transpose between two passes of a 3-D FFT: x-pencils become y-pencils.
 *
 *     mpirun -n 4 pencil
 *
 * A pass along x needs whole lines of x on one rank, the next one whole lines of y.  One plan
 * redistributes and permutes, so that the lines of the next pass are contiguous in memory,
 * too. */
#include <stdio.h>

#include <tenon/easy.h>
#include <tenon/mpi.h>

enum { N = 24 };

int main(int argc, char **argv)
{
    int rank, size, mesh[2] = {0, 0};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Dims_create(size, 2, mesh);

    /* (z, y, x) with z and y cut, and (z, x, y) with z and x cut. */
    const int64_t shape[] = {N, N, N};
    const int axes[] = {0, 2, 1};
    const tn_placement cuts[] = {{0, TN_CUT_EVEN, 0, 0}, {1, TN_CUT_EVEN, 0, 0}};
    tn_dist *pencils;
    TN_MUST(tn_dist_mesh(&pencils, 3, shape, 2, mesh, cuts, NULL));

    int64_t n[3], local[3];
    tn_tensor x_lines, y_lines;
    TN_MUST(tn_dist_part(pencils, rank, 0, n));
    TN_MUST(
        tn_mpi_alloc(MPI_COMM_WORLD, &x_lines, TN_F64, 3, n)); /* peers on the node read it */
    TN_MUST(tn_alloc(&y_lines, TN_F64, 3, n));
    double *at = x_lines.data;
    for (local[0] = 0; local[0] < n[0]; local[0]++)
        for (local[1] = 0; local[1] < n[1]; local[1]++)
            for (local[2] = 0; local[2] < n[2]; local[2]++) {
                int64_t i[3];
                TN_MUST(tn_dist_where(pencils, rank, 0, local, i));
                *at++ = (double)((i[0] * N + i[1]) * N + i[2]);
            }

    tn_mpi_plan *plan;
    TN_MUST(
        tn_mpi_plan_move(&plan, MPI_COMM_WORLD, pencils, TN_F64, pencils, TN_F64, axes, NULL));
    TN_MUST(tn_mpi_run(plan, &y_lines, &x_lines)); /* any number of times, on any data */

    int wrong = 0, all;
    at = y_lines.data;
    for (local[0] = 0; local[0] < n[0]; local[0]++)
        for (local[1] = 0; local[1] < n[1]; local[1]++)
            for (local[2] = 0; local[2] < n[2]; local[2]++) {
                int64_t i[3];
                TN_MUST(tn_dist_where(pencils, rank, 0, local, i));
                wrong += *at++ != (double)((i[0] * N + i[2]) * N + i[1]);
            }
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        char text[1024];
        TN_MUST(tn_mpi_explain(plan, text, sizeof text));
        printf("%s%d elements are wrong\n", text, all);
    }
    tn_mpi_plan_free(plan);
    tn_free(&y_lines);
    tn_mpi_free(&x_lines);
    tn_dist_free(pencils);
    MPI_Finalize();
    return all != 0;
}
