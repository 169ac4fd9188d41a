/* bench.h - a case of the benchmark and the tensors that its methods use. */
#ifndef TENON_MPI_BENCH_H
#define TENON_MPI_BENCH_H

#include "command.h"

typedef struct bench_case {
    const char *name, *words;
    int ndim;
    int64_t shape[4];
    int axes[4];
    int src_axis, dst_axis; /* the axes that are cut into blocks */
    double goals[3];        /* shared memory vs. local and vs. memcpy, messages vs. memcpy */
} bench_case;

typedef struct bench {
    const bench_case *c;
    tn_dist *src_dist, *dst_dist;
    tn_tensor src, dst, shared;
    tn_tensor local_src, local_dst;
    tn_tensor between, permuted; /* after the exchange, with src's axes in order */
    bool permutes;
    tn_mpi_plan *p2p_plan, *shared_plan;
    int *counts, *zeros;
    MPI_Datatype *out_types, *in_types;
} bench;

typedef struct bench_method {
    const char *name;
    void (*run)(bench *b);
    bool (*fits)(bench *b); /* NULL: every case */
} bench_method;

tn_status bench_check(tn_status code);

void bench_save(const args *a); /* bench_save.c */
void bench_plan(const args *a); /* bench_plan.c */

/* Peers, if installed (peers.c). */
void bench_fftw(bench *b);
bool bench_fftw_fits(bench *b);
void bench_scalapack(bench *b);
bool bench_scalapack_fits(bench *b);

#endif
