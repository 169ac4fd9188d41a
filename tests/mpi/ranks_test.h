/* ranks_test.h - what the test programs under mpirun share.
 *
 * Every rank draws the same numbers, so that all know all parts without sending anything.  A
 * failed check prints its line and ends the job. */
#ifndef RANKS_TEST_H
#define RANKS_TEST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <tenon/mpi.h>

static int test_rank, test_size;

#define CHECK(x)                                                                               \
    do {                                                                                       \
        if (!(x)) {                                                                            \
            fprintf(stderr, "%s:%d: rank %d of %d: %s fails; %s\n", __FILE__, __LINE__,        \
                    test_rank, test_size, #x, tn_error());                                     \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                      \
            exit(1);                                                                           \
        }                                                                                      \
    } while (0)
#define OK(call) CHECK((call) == TN_OK)

typedef struct rng {
    uint64_t state;
} rng;

static inline uint64_t next(rng *r)
{
    uint64_t z = (r->state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static inline int64_t pick(rng *r, int64_t low, int64_t high)
{
    return low + (int64_t)(next(r) % (uint64_t)(high - low + 1));
}

enum { AXES = 4, PARTS = 12 };

static inline tn_dist *draw_dist(rng *r, int ndim, const int64_t *shape, int ranks)
{
    tn_dist *d = NULL;
    if (next(r) % 4 == 0) { /* boxes: rows of the first axis, or all on one */
        int owner = (int)pick(r, 0, ranks - 1);
        if (ndim == 0 || shape[0] < 2 || next(r) % 3 == 0) {
            OK(tn_dist_whole(&d, ndim, shape, ranks, owner));
            return d;
        }
        int owners[PARTS];
        int64_t starts[PARTS * AXES] = {0}, extents[PARTS * AXES], n = pick(r, 1, PARTS);
        for (int64_t i = 0, at = 0; i < n; i++) {
            owners[i] = (int)pick(r, 0, ranks - 1);
            memcpy(extents + i * ndim, shape, (size_t)ndim * sizeof *shape);
            starts[i * ndim] = at;
            extents[i * ndim] = i == n - 1 ? shape[0] - at : pick(r, 0, shape[0] - at);
            at += extents[i * ndim];
        }
        OK(tn_dist_boxes(&d, ndim, shape, ranks, n, owners, starts, extents));
        return d;
    }
    int mesh[3], used = 1, mesh_ndim = (int)pick(r, 0, 3), order[64];
    tn_placement cut[3];
    for (int i = 0; i < mesh_ndim; i++) {
        mesh[i] = (int)pick(r, 1, ranks / used);
        used *= mesh[i];
        cut[i] =
            (tn_placement){.axis = (int)pick(r, -1, ndim - 1), .cut = (tn_cut)pick(r, 0, 2)};
        if (cut[i].cut == TN_CUT_CYCLIC && cut[i].axis >= 0) {
            cut[i].block = pick(r, 1, 4);
            cut[i].first = (int)pick(r, 0, mesh[i] - 1);
        }
    }
    for (int i = 0; i < used; i++)
        order[i] = used - 1 - i;
    OK(tn_dist_mesh(&d, ndim, shape, mesh_ndim, mesh, cut, next(r) % 2 ? order : NULL));
    return d;
}

/* A tensor in a block of its own, of any layout when wild. */
typedef struct block {
    char *bytes;
    size_t size;
} block;

static inline block block_make(rng *r, tn_tensor *t, tn_dtype dtype, int ndim,
                               const int64_t *shape, bool wild)
{
    int64_t width = (int64_t)tn_dtype_size(dtype), stride[TN_MAX_NDIM], step = width, low, high;
    int order[TN_MAX_NDIM];
    block b;
    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    for (int i = ndim - 1; i > 0 && wild; i--) {
        int k = (int)pick(r, 0, i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    for (int i = 0; i < ndim; i++) {
        if (wild && next(r) % 4 == 0)
            step += width;
        stride[order[i]] = wild && next(r) % 4 == 0 ? -step : step;
        if (shape[order[i]] > 1)
            step *= shape[order[i]];
    }
    OK(tn_init_strided(t, NULL, dtype, ndim, shape, stride));
    OK(tn_extent(t, &low, &high));
    b.size = (size_t)(high - low) + 64;
    b.bytes = malloc(b.size);
    CHECK(b.bytes);
    memset(b.bytes, 0xa5, b.size);
    t->data = b.bytes + 32 - low;
    return b;
}

static inline bool index_next(int64_t *index, int ndim, const int64_t *shape)
{
    for (int i = ndim - 1; i >= 0; i--) {
        if (++index[i] < shape[i])
            return true;
        index[i] = 0;
    }
    return false;
}

/* The number of the element at a global index: 1 for the first, so that none is 0. */
static inline int64_t number_of(const int64_t *index, int ndim, const int64_t *shape)
{
    int64_t n = 0;
    for (int i = 0; i < ndim; i++)
        n = n * shape[i] + index[i];
    return n % 100 + 1;
}

/* Write the numbers of a part's elements, by way of a dtype; axes as in a move, NULL: the same.
 */
static inline void part_fill(const tn_tensor *t, const tn_dist *d, int64_t part, tn_dtype way,
                             const int *axes, const int64_t *shape)
{
    tn_tensor numbers, between;
    int64_t local[TN_MAX_NDIM] = {0}, index[TN_MAX_NDIM], from[TN_MAX_NDIM], *at;
    if (tn_numel(t) == 0)
        return;
    OK(tn_alloc(&numbers, TN_I64, t->ndim, t->shape));
    at = numbers.data;
    do {
        OK(tn_dist_where(d, test_rank, part, local, index));
        for (int i = 0; i < t->ndim; i++)
            from[axes ? axes[i] : i] = index[i];
        *at++ = number_of(from, t->ndim, shape);
    } while (index_next(local, t->ndim, t->shape));
    OK(tn_alloc(&between, way, t->ndim, t->shape));
    OK(tn_cast(&between, &numbers));
    OK(tn_cast(t, &between));
    tn_free(&between);
    tn_free(&numbers);
}

static inline int test_begin(int *argc, char ***argv, unsigned seconds)
{
    alarm(seconds); /* a hang is a failure */
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &test_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &test_size);
    return test_rank;
}

#endif
