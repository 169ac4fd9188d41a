/* ranks_random.c - moves, halos and reductions of random bytes between random distributions,
 * bit for bit as the calls on the whole tensor in one process give them.
 *
 * Every rank draws the whole tensor, so that it knows what its parts must become. */
#include "ranks_test.h"

static const tn_dtype dtypes[] = {TN_BOOL, TN_I8,  TN_I16, TN_I32,    TN_I64,    TN_U8,
                                  TN_U16,  TN_U32, TN_U64, TN_F8E5M2, TN_F8E4M3, TN_F16,
                                  TN_BF16, TN_F32, TN_F64, TN_C64,    TN_C128};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static tn_dtype draw_dtype(rng *r)
{
    return dtypes[next(r) % DTYPES];
}

/* ---- whole tensors and parts of them ---- */

static tn_tensor whole_make(rng *r, tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_tensor t;
    OK(tn_alloc(&t, dtype, ndim, shape));
    unsigned char *bytes = t.data;
    for (int64_t i = 0; i < tn_nbytes(&t); i++)
        bytes[i] = (unsigned char)(dtype == TN_BOOL ? next(r) % 2 : next(r));
    return t;
}

static char *element(const tn_tensor *t, const int64_t *index)
{
    char *at = t->data;
    for (int i = 0; i < t->ndim; i++)
        at += index[i] * t->stride[i];
    return at;
}

/* Elements of a part that lie in the whole tensor: copied from there, or compared with it. */
static bool part_visit(const tn_tensor *part, const tn_dist *d, int rank, int64_t number,
                       const tn_tensor *whole, bool compare)
{
    int64_t local[TN_MAX_NDIM] = {0}, index[TN_MAX_NDIM];
    const size_t width = tn_dtype_size(part->dtype);
    if (tn_numel(part) == 0)
        return true;
    do {
        OK(tn_dist_where(d, rank, number, local, index));
        if (!compare)
            memcpy(element(part, local), element(whole, index), width);
        else if (memcmp(element(part, local), element(whole, index), width) != 0)
            return false;
    } while (index_next(local, part->ndim, part->shape));
    return true;
}

typedef struct side {
    int64_t n;
    tn_tensor *parts;
    block *blocks;
} side;

static side side_make(rng *r, const tn_dist *d, int rank, tn_dtype dtype)
{
    rng own = {next(r) + 7919 * (uint64_t)test_rank};
    side s = {.n = tn_dist_parts(d, rank)};
    s.parts = calloc((size_t)s.n + 1, sizeof *s.parts);
    s.blocks = calloc((size_t)s.n + 1, sizeof *s.blocks);
    for (int64_t i = 0; i < s.n; i++) {
        int64_t n[TN_MAX_NDIM];
        OK(tn_dist_part(d, rank, i, n));
        s.blocks[i] = block_make(&own, &s.parts[i], dtype, tn_dist_ndim(d), n, true);
    }
    return s;
}

/* The gaps are as they were when the elements are set aside. */
static void side_check_gaps(const side *s)
{
    for (int64_t i = 0; i < s->n; i++) {
        const tn_tensor *t = &s->parts[i];
        int64_t local[TN_MAX_NDIM] = {0};
        if (tn_numel(t) > 0)
            do
                memset(element(t, local), 0xa5, tn_dtype_size(t->dtype));
            while (index_next(local, t->ndim, t->shape));
        for (size_t k = 0; k < s->blocks[i].size; k++)
            CHECK(s->blocks[i].bytes[k] == (char)0xa5);
    }
}

static void side_free(side *s)
{
    for (int64_t i = 0; i < s->n; i++)
        free(s->blocks[i].bytes);
    free(s->blocks);
    free(s->parts);
}

/* ---- distributions ---- */

/* Boxes that come from cutting the tensor again and again, some of them on a second rank
 * too. */
static tn_dist *draw_boxes(rng *r, int ndim, const int64_t *shape, int ranks)
{
    enum { MOST = 24 };
    int owners[2 * MOST], n = 1;
    int64_t starts[2 * MOST * AXES] = {0}, extents[2 * MOST * AXES] = {0};
    tn_dist *d = NULL;
    memcpy(extents, shape, (size_t)ndim * sizeof *shape);
    for (int cuts = (int)pick(r, 0, MOST - 1); cuts > 0 && ndim; cuts--) {
        const int from = (int)pick(r, 0, n - 1), axis = (int)pick(r, 0, ndim - 1);
        int64_t *a = extents + from * ndim + axis, at = *a > 0 ? pick(r, 0, *a) : 0;
        memcpy(starts + n * ndim, starts + from * ndim, (size_t)ndim * sizeof *starts);
        memcpy(extents + n * ndim, extents + from * ndim, (size_t)ndim * sizeof *extents);
        starts[n * ndim + axis] += at;
        extents[n * ndim + axis] -= at;
        *a = at;
        n++;
    }
    for (int i = 0; i < n; i++)
        owners[i] = (int)pick(r, 0, ranks - 1);
    for (int i = 0, all = n; i < all && ranks > 1; i++)
        if (next(r) % 4 == 0) { /* a copy, on a rank that has no other part of it */
            owners[n] = (owners[i] + 1) % ranks;
            memcpy(starts + n * ndim, starts + i * ndim, (size_t)ndim * sizeof *starts);
            memcpy(extents + n * ndim, extents + i * ndim, (size_t)ndim * sizeof *extents);
            n++;
        }
    OK(tn_dist_boxes(&d, ndim, shape, ranks, n, owners, starts, extents));
    return d;
}

/* A mesh; copies: -1 allows placements that copy, whole: only cuts that a halo has. */
static tn_dist *draw_mesh(rng *r, int ndim, const int64_t *shape, int ranks, bool halo)
{
    int mesh[3], used = 1, mesh_ndim = (int)pick(r, 0, 3), order[64];
    tn_placement cut[3];
    tn_dist *d = NULL;
    for (int i = 0; i < mesh_ndim; i++) {
        mesh[i] = (int)pick(r, 1, ranks / used);
        used *= mesh[i];
        cut[i] = (tn_placement){.axis = (int)pick(r, -1, ndim - 1),
                                .cut = (tn_cut)pick(r, 0, halo ? 1 : 2)};
        for (int k = 0; k < i && halo; k++) /* an axis is cut once */
            if (cut[k].axis == cut[i].axis)
                cut[i].axis = -1;
        if (cut[i].cut == TN_CUT_CYCLIC && cut[i].axis >= 0) {
            cut[i].block = pick(r, 1, 5);
            cut[i].first = (int)pick(r, 0, mesh[i] - 1);
        }
    }
    for (int i = 0; i < used; i++)
        order[i] = i;
    for (int i = used - 1; i > 0; i--) {
        const int k = (int)pick(r, 0, i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    OK(tn_dist_mesh(&d, ndim, shape, mesh_ndim, mesh, cut, next(r) % 2 ? order : NULL));
    return d;
}

static tn_dist *draw_any(rng *r, int ndim, const int64_t *shape, int ranks)
{
    return next(r) % 3 == 0 ? draw_boxes(r, ndim, shape, ranks)
                            : draw_mesh(r, ndim, shape, ranks, false);
}

static int draw_shape(rng *r, int64_t *shape, int64_t most, bool zeros)
{
    const int ndim = (int)pick(r, 0, AXES);
    for (int i = 0; i < ndim; i++)
        shape[i] = zeros && next(r) % 24 == 0 ? 0 : pick(r, 1, most);
    return ndim;
}

static void draw_axes(rng *r, int ndim, int *axes)
{
    for (int i = 0; i < ndim; i++)
        axes[i] = i;
    for (int i = ndim - 1; i > 0; i--) {
        const int k = (int)pick(r, 0, i), swap = axes[i];
        axes[i] = axes[k];
        axes[k] = swap;
    }
}

/* max_bytes differs between ranks: the smallest counts. */
static tn_mpi_options draw_options(rng *r)
{
    static const tn_mpi_way ways[] = {TN_MPI_AUTO, TN_MPI_P2P, TN_MPI_NODES};
    return (tn_mpi_options){.way = ways[next(r) % 3],
                            .flags = next(r) % 4 ? 0 : TN_MPI_TRUST,
                            .max_bytes = next(r) % 2 ? 65536 + 5000 * test_rank : 0};
}

/* ---- the cases ---- */

static void one_move(rng *r)
{
    int64_t shape[AXES] = {0}, to[AXES] = {0};
    int axes[AXES];
    const int ndim = draw_shape(r, shape, next(r) % 12 == 0 ? 12 : 6, true);
    draw_axes(r, ndim, axes);
    for (int i = 0; i < ndim; i++)
        to[i] = shape[axes[i]];
    const tn_dtype a = draw_dtype(r), b = next(r) % 2 ? a : draw_dtype(r);
    tn_tensor whole = whole_make(r, a, ndim, shape), turned, want;
    OK(tn_permute(&turned, &whole, axes));
    OK(tn_alloc(&want, b, ndim, to));
    OK(tn_cast(&want, &turned));
    tn_dist *from = draw_any(r, ndim, shape, test_size),
            *into = draw_any(r, ndim, to, test_size);
    side src = side_make(r, from, test_rank, a), dst = side_make(r, into, test_rank, b);
    const tn_mpi_options options = draw_options(r);
    tn_mpi_plan *plan = NULL;
    tn_mpi_sum sum;
    for (int64_t i = 0; i < src.n; i++)
        part_visit(&src.parts[i], from, test_rank, i, &whole, false);
    OK(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, into, b, from, a, axes, &options));
    OK(tn_mpi_info(plan, &sum));
    CHECK(sum.buffer_bytes <= (options.max_bytes ? options.max_bytes : 64 << 20));
    OK(tn_mpi_run(plan, dst.parts, src.parts));
    for (int64_t i = 0; i < dst.n; i++)
        CHECK(part_visit(&dst.parts[i], into, test_rank, i, &want, true));
    for (int64_t i = 0; i < src.n; i++)
        CHECK(part_visit(&src.parts[i], from, test_rank, i, &whole, true));
    side_check_gaps(&dst);
    side_check_gaps(&src);
    tn_mpi_plan_free(plan);
    side_free(&src);
    side_free(&dst);
    tn_dist_free(from);
    tn_dist_free(into);
    tn_free(&whole);
    tn_free(&want);
}

static void one_halo(rng *r)
{
    int64_t shape[AXES] = {0}, before[AXES], after[AXES], padded[AXES], n[AXES], start[AXES];
    const int ndim = draw_shape(r, shape, 9, false);
    const tn_dtype dtype = draw_dtype(r);
    const tn_pad_mode mode = (tn_pad_mode)pick(r, 0, TN_PAD_WRAP);
    for (int i = 0; i < ndim; i++) {
        before[i] = pick(r, 0, 3);
        after[i] = next(r) % 8 == 0 ? pick(r, 0, 12) : pick(r, 0, 3);
        padded[i] = shape[i] + before[i] + after[i];
    }
    tn_tensor whole = whole_make(r, dtype, ndim, shape), want,
              value = whole_make(r, dtype, 0, NULL);
    OK(tn_alloc(&want, dtype, ndim, padded));
    OK(tn_pad_into(&want, &whole, before, after, mode, value.data));
    tn_dist *d = draw_mesh(r, ndim, shape, test_size, true);
    const tn_mpi_options options = draw_options(r);
    tn_mpi_plan *plan = NULL;
    OK(tn_mpi_plan_halo(&plan, MPI_COMM_WORLD, d, dtype, before, after, mode, value.data,
                        &options));
    rng own = {next(r) + 104729 * (uint64_t)test_rank};
    tn_tensor part, middle;
    block b = {0};
    const bool here = tn_dist_parts(d, test_rank) > 0;
    bool some = here;
    if (here) {
        int64_t local[AXES] = {0};
        OK(tn_dist_part(d, test_rank, 0, n));
        for (int i = 0; i < ndim; i++)
            some = some && n[i] > 0;
        if (some)
            OK(tn_dist_where(d, test_rank, 0, local, start));
        for (int i = 0; i < ndim; i++)
            n[i] += before[i] + after[i];
        b = block_make(&own, &part, dtype, ndim, n, true);
        middle = part;
        for (int i = 0; i < ndim; i++) {
            middle.shape[i] -= before[i] + after[i];
            middle.data = (char *)middle.data + before[i] * part.stride[i];
        }
        if (some)
            part_visit(&middle, d, test_rank, 0, &whole, false);
    }
    OK(tn_mpi_run(plan, here ? &part : NULL, here ? &part : NULL));
    if (some) {
        int64_t local[AXES] = {0}, index[AXES];
        do {
            for (int i = 0; i < ndim; i++)
                index[i] = start[i] + local[i];
            CHECK(!memcmp(element(&part, local), element(&want, index), tn_dtype_size(dtype)));
        } while (index_next(local, ndim, n));
    }
    if (here) {
        side s = {1, &part, &b};
        if (some)
            side_check_gaps(&s);
        for (size_t k = 0; k < b.size && !some; k++)
            CHECK(b.bytes[k] == (char)0xa5);
    }
    free(b.bytes);
    tn_mpi_plan_free(plan);
    tn_dist_free(d);
    tn_free(&whole);
    tn_free(&want);
    tn_free(&value);
}

/* What the copies of every element give, taken one after the other in the order of ranks. */
static void combine_all(tn_op op, const tn_dist *d, const tn_tensor *wholes, tn_tensor *sum)
{
    int64_t index[AXES] = {0};
    char *seen = calloc((size_t)tn_numel(sum) + 1, 1);
    for (int rank = 0; rank < tn_dist_ranks(d); rank++) {
        int64_t local[AXES] = {0}, n[AXES];
        tn_tensor value;
        OK(tn_dist_part(d, rank, 0, n));
        bool any = true;
        for (int i = 0; i < sum->ndim; i++)
            any = any && n[i] > 0;
        if (!any)
            continue;
        OK(tn_alloc(&value, sum->dtype, sum->ndim, sum->shape));
        OK(tn_cast(&value, &wholes[rank]));
        do {
            OK(tn_dist_where(d, rank, 0, local, index));
            int64_t at = 0;
            for (int i = 0; i < sum->ndim; i++)
                at = at * sum->shape[i] + index[i];
            tn_tensor x, y;
            OK(tn_init(&x, element(sum, index), sum->dtype, 0, NULL));
            OK(tn_init(&y, element(&value, index), sum->dtype, 0, NULL));
            if (seen[at])
                OK(tn_binary(op, &x, &x, &y));
            else
                OK(tn_rearrange(&x, &y));
            seen[at] = 1;
        } while (index_next(local, sum->ndim, n));
        tn_free(&value);
    }
    free(seen);
}

static void one_reduction(rng *r)
{
    static const tn_op ops[] = {TN_ADD,         TN_MUL,        TN_MIN,
                                TN_MAX,         TN_BIT_AND,    TN_BIT_XOR,
                                TN_LOGICAL_AND, TN_LOGICAL_OR, TN_LOGICAL_XOR};
    int64_t shape[AXES] = {0}, to[AXES] = {0};
    int axes[AXES];
    const int ndim = draw_shape(r, shape, 5, true);
    const tn_op op = ops[next(r) % 9];
    const tn_dtype a = draw_dtype(r);
    const bool logical = op >= TN_LOGICAL_AND && op <= TN_LOGICAL_XOR;
    const bool small = a == TN_F16 || a == TN_BF16 || a == TN_F8E4M3 || a == TN_F8E5M2;
    const tn_dtype acc = logical ? TN_BOOL : small ? TN_F32 : a;
    const tn_dtype b = logical ? TN_BOOL : a;
    draw_axes(r, ndim, axes);
    for (int i = 0; i < ndim; i++)
        to[i] = shape[axes[i]];
    tn_dist *from = draw_mesh(r, ndim, shape, test_size, false);
    tn_dist *into = draw_any(r, ndim, to, test_size);
    tn_tensor wholes[64], sum, turned, want;
    for (int k = 0; k < test_size; k++) {
        rng own = {next(r)};
        wholes[k] = whole_make(&own, a, ndim, shape);
    }
    side src = side_make(r, from, test_rank, a), dst = side_make(r, into, test_rank, b);
    for (int64_t i = 0; i < src.n; i++)
        part_visit(&src.parts[i], from, test_rank, i, &wholes[test_rank], false);
    const tn_mpi_options options = draw_options(r);
    tn_mpi_plan *plan = NULL;
    const tn_status status =
        tn_mpi_plan_reduce(&plan, MPI_COMM_WORLD, op, into, b, from, a, axes, &options);
    if (status == TN_OK) {
        OK(tn_alloc(&sum, acc, ndim, shape));
        combine_all(op, from, wholes, &sum);
        OK(tn_permute(&turned, &sum, axes));
        OK(tn_alloc(&want, b, ndim, to));
        OK(tn_cast(&want, &turned));
        OK(tn_mpi_run(plan, dst.parts, src.parts));
        for (int64_t i = 0; i < dst.n; i++)
            CHECK(part_visit(&dst.parts[i], into, test_rank, i, &want, true));
        side_check_gaps(&dst);
        tn_mpi_plan_free(plan);
        tn_free(&sum);
        tn_free(&want);
    } else { /* bits of floats, an order of complex numbers */
        CHECK(status == TN_EDTYPE);
    }
    for (int k = 0; k < test_size; k++)
        tn_free(&wholes[k]);
    side_free(&src);
    side_free(&dst);
    tn_dist_free(from);
    tn_dist_free(into);
}

/* ranks_random [CASES [SEED]] */
int main(int argc, char **argv)
{
    test_begin(&argc, &argv, argc > 1 ? 500 : 150);
    const int cases = argc > 1 ? atoi(argv[1]) : 60;
    const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (int i = 0; i < cases; i++) {
        rng r = {seed * 1000003 + (uint64_t)i};
        (i % 4 == 1 ? one_halo : i % 4 == 3 ? one_reduction : one_move)(&r);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (test_rank == 0)
        printf("%d random cases over %d ranks: fine\n", cases, test_size);
    MPI_Finalize();
    return 0;
}
