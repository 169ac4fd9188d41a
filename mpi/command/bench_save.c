/* bench_save.c - saving a file by all ranks, compared with copying it by one process. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

/* Copy a file and sync it, as `cp` and `sync` do. */
static double copy_file(const char *from, const char *to)
{
    enum { PIECE = 1 << 20 };
    char *piece = malloc(PIECE);
    const int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ssize_t n = piece && in >= 0 && out >= 0 ? 1 : -1;
    const double start = seconds();
    while (n > 0 && (n = read(in, piece, PIECE)) > 0)
        n = write(out, piece, (size_t)n) == n ? n : -1;
    const double time = n == 0 && fsync(out) == 0 ? seconds() - start : 0;
    close(in);
    close(out);
    free(piece);
    return time;
}

/* Save a file by all ranks, then copy it; both times include the sync. */
void bench_save(const args *a)
{
    const int64_t shape[] = {a->quick ? 4096 : 65536, 4096};
    const char *folder = getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp";
    char path[512], other[520];
    double best[2] = {1e9, 1e9};
    const tn_placement cut = {0, TN_CUT_BLOCK, 0, 0};
    tn_dist *d = NULL;
    tn_tensor part;
    int64_t n[2];
    bench_check(tn_dist_mesh(&d, 2, shape, 1, &all_ranks, &cut, NULL));
    bench_check(tn_dist_part(d, this_rank, 0, n));
    bench_check(tn_alloc(&part, TN_F32, 2, n));
    bench_check(tn_fill(&part, &(float){1}));
    const tn_dist *ds[] = {d};
    const tn_tensor *parts[] = {&part};
    int id = (int)getpid();
    MPI_Bcast(&id, 1, MPI_INT, 0, MPI_COMM_WORLD);
    snprintf(path, sizeof path, "%.400s/tenon-mpi-bench-%d.npy", folder, id);
    snprintf(other, sizeof other, "%s.copy", path);
    for (int k = 0; k < (a->quick ? 1 : 3); k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        double time = seconds();
        bench_check(tn_mpi_save(MPI_COMM_WORLD, path, 1, NULL, ds, parts, NULL));
        time = seconds() - time;
        best[0] = time < best[0] ? time : best[0];
        time = this_rank == 0 ? copy_file(path, other) : 0;
        best[1] = time > 0 && time < best[1] ? time : best[1];
    }
    if (this_rank == 0) {
        printf(a->json ? "{\"save_s\": %.4f, \"copy_s\": %.4f, \"goal\": 0.70, "
                         "\"reached\": %.3f}\n"
                       : "   save %.3f s, a copy and sync of it %.3f s: goal 0.70, "
                         "reached %.2f\n",
               best[0], best[1], best[1] / best[0]);
        unlink(path);
        unlink(other);
    }
    tn_free(&part);
    tn_dist_free(d);
}
