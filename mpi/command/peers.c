/* peers.c - the same redistributions by FFTW-MPI and ScaLAPACK, if Debian's packages are
 * installed. */
#include <stddef.h>
#include <stdlib.h>

#include "bench.h"

#ifdef BENCH_FFTW

/* The declarations of <fftw3-mpi.h>. */
typedef struct fftwf_plan_s *fftwf_plan;
extern void fftwf_mpi_init(void);
extern fftwf_plan fftwf_mpi_plan_transpose(ptrdiff_t n0, ptrdiff_t n1, float *in, float *out,
                                           MPI_Comm comm, unsigned flags);
extern void fftwf_execute(const fftwf_plan plan);

static fftwf_plan transpose;

bool bench_fftw_fits(bench *b)
{
    if (b->c->ndim != 2 || b->c->axes[0] != 1)
        return false;
    fftwf_mpi_init();
    transpose = fftwf_mpi_plan_transpose(b->c->shape[0], b->c->shape[1], b->src.data,
                                         b->dst.data, MPI_COMM_WORLD, 0); /* FFTW_MEASURE */
    return transpose != NULL;
}

void bench_fftw(bench *b)
{
    (void)b;
    fftwf_execute(transpose);
}

#endif
#ifdef BENCH_SCALAPACK

extern void Cblacs_get(int context, int what, int *value);
extern void Cblacs_gridinit(int *context, const char *order, int rows, int columns);
extern void descinit_(int *desc, const int *m, const int *n, const int *mb, const int *nb,
                      const int *rsrc, const int *csrc, const int *context, const int *lld,
                      int *info);
extern void pstran_(const int *m, const int *n, const float *alpha, const float *a,
                    const int *ia, const int *ja, const int *desca, const float *beta, float *c,
                    const int *ic, const int *jc, const int *descc);
extern void Cpsgemr2d(int m, int n, float *a, int ia, int ja, int *desca, float *b, int ib,
                      int jb, int *descb, int context);

static int grid = -1, desc_a[9], desc_b[9];
static bool redistributes; /* from rows to columns, without a transpose */

/* ScaLAPACK's matrices are column-major: rows here are columns there. */
bool bench_scalapack_fits(bench *b)
{
    const int zero = 0, n = (int)b->c->shape[0], each = n / all_ranks;
    int info, other = -1;
    if (b->c->ndim != 2)
        return false;
    redistributes = b->c->axes[0] == 0;
    if (grid < 0) {
        Cblacs_get(-1, 0, &grid);
        Cblacs_gridinit(&grid, "R", 1, all_ranks);
    }
    descinit_(desc_a, &n, &n, &n, &each, &zero, &zero, &grid, &n, &info);
    if (!redistributes) {
        descinit_(desc_b, &n, &n, &n, &each, &zero, &zero, &grid, &n, &info);
        return info == 0;
    }
    Cblacs_get(-1, 0, &other);
    Cblacs_gridinit(&other, "R", all_ranks, 1);
    descinit_(desc_b, &n, &n, &each, &n, &zero, &zero, &other, &each, &info);
    return info == 0;
}

void bench_scalapack(bench *b)
{
    const int n = (int)b->c->shape[0], one = 1;
    const float alpha = 1, beta = 0;
    if (redistributes)
        Cpsgemr2d(n, n, b->src.data, 1, 1, desc_a, b->dst.data, 1, 1, desc_b, grid);
    else
        pstran_(&n, &n, &alpha, b->src.data, &one, &one, desc_a, &beta, b->dst.data, &one, &one,
                desc_b);
}

#endif
