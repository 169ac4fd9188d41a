/* ranks_calls.c - halos, sums over copies, gather and scatter, boxes, files: each against what
 * one rank alone makes of the whole tensor. */
#include <fcntl.h>
#include <sys/stat.h>

#include "ranks_test.h"

static tn_tensor dense(tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_tensor t;
    OK(tn_alloc(&t, dtype, ndim, shape));
    memset(t.data, 0xa5, (size_t)tn_nbytes(&t));
    return t;
}

/* The whole tensor with its numbers, the same on every rank. */
static tn_tensor whole_of(tn_dtype dtype, int ndim, const int64_t *shape)
{
    tn_tensor t = dense(dtype, ndim, shape), numbers = dense(TN_I64, ndim, shape);
    int64_t index[TN_MAX_NDIM] = {0}, *at = numbers.data;
    if (tn_numel(&t) > 0)
        do
            *at++ = number_of(index, ndim, shape);
        while (index_next(index, ndim, shape));
    OK(tn_cast(&t, &numbers));
    tn_free(&numbers);
    return t;
}

static tn_tensor parts_of(const tn_dist *d, tn_dtype dtype, int64_t part)
{
    int64_t n[TN_MAX_NDIM];
    OK(tn_dist_part(d, test_rank, part, n));
    return dense(dtype, tn_dist_ndim(d), n);
}

/* ---- halos ---- */

static void halos(void)
{
    rng r = {81};
    for (int round = 0; round < 150; round++) {
        int ndim = (int)pick(&r, 1, 3), mesh[3], left = test_size;
        int64_t shape[3], before[3], after[3], n[3], padded[3], start[3], zero[3] = {0};
        tn_placement cut[3];
        for (int i = 0; i < ndim; i++) {
            shape[i] = pick(&r, 1, 9);
            before[i] = pick(&r, 0, 3);
            after[i] = pick(&r, 0, 3);
            mesh[i] = (int)pick(&r, 1, left);
            left /= mesh[i];
            cut[i] = (tn_placement){next(&r) % 8 ? i : -1, (tn_cut)pick(&r, 0, 1), 0, 0};
            if (cut[i].axis < 0)
                cut[i].cut = TN_CUT_BLOCK;
            padded[i] = shape[i] + before[i] + after[i];
        }
        const tn_pad_mode mode = (tn_pad_mode)pick(&r, 0, TN_PAD_WRAP);
        const int32_t value = -7;
        tn_dist *d = NULL;
        OK(tn_dist_mesh(&d, ndim, shape, ndim, mesh, cut, NULL));
        tn_tensor whole = whole_of(TN_I32, ndim, shape), all = dense(TN_I32, ndim, padded);
        OK(tn_pad_into(&all, &whole, before, after, mode, &value));
        tn_mpi_plan *plan = NULL;
        tn_mpi_options options = {.max_bytes = 65536,
                                  .way =
                                      next(&r) % 3 ? (tn_mpi_way)pick(&r, 0, 1) : TN_MPI_NODES};
        OK(tn_mpi_plan_halo(&plan, MPI_COMM_WORLD, d, TN_I32, before, after, mode, &value,
                            &options));
        const bool has = tn_dist_parts(d, test_rank) > 0;
        tn_tensor part, middle, want;
        bool empty = true;
        if (has) {
            OK(tn_dist_part(d, test_rank, 0, n));
            int64_t wide[3];
            empty = false;
            for (int i = 0; i < ndim; i++) {
                wide[i] = n[i] + before[i] + after[i];
                empty = empty || n[i] == 0;
            }
            part = dense(TN_I32, ndim, wide);
            if (!empty) {
                OK(tn_dist_where(d, test_rank, 0, zero, start));
                OK(tn_view(&want, &all, wide, start, NULL, 0));
                OK(tn_view(&middle, &part, n, before, NULL, 0));
                tn_tensor from;
                OK(tn_view(&from, &whole, n, start, NULL, 0));
                OK(tn_rearrange(&middle, &from));
            }
        }
        OK(tn_mpi_run(plan, has ? &part : NULL, has ? &part : NULL));
        if (has && !empty) {
            tn_tensor flat;
            OK(tn_contiguous(&flat, &want));
            CHECK(!memcmp(flat.data, part.data, (size_t)tn_nbytes(&part)));
            tn_free(&flat);
        }
        if (has)
            tn_free(&part);
        tn_mpi_plan_free(plan);
        tn_free(&whole);
        tn_free(&all);
        tn_dist_free(d);
    }
}

/* ---- copies combined ---- */

static void reductions(void)
{
    rng r = {91};
    static const tn_op ops[] = {TN_ADD, TN_MUL, TN_MIN, TN_MAX, TN_LOGICAL_OR};
    for (int round = 0; round < 80; round++) {
        const int64_t shape[] = {pick(&r, 0, 30), pick(&r, 1, 40)};
        const int64_t to[] = {shape[1], shape[0]};
        const int axes[] = {1, 0};
        int mesh[2] = {(int)pick(&r, 1, test_size), 0}, order[64];
        mesh[1] = test_size / mesh[0];
        const bool copies_first = next(&r) % 2;
        tn_placement cut[2] = {{copies_first ? -1 : 0, TN_CUT_BLOCK, 0, 0},
                               {copies_first ? 0 : -1, TN_CUT_BLOCK, 0, 0}};
        const int used = mesh[0] * mesh[1], copies = copies_first ? mesh[0] : mesh[1];
        for (int i = 0; i < used; i++)
            order[i] = used - 1 - i;
        const bool listed = next(&r) % 2;
        tn_dist *src = NULL, *dst = NULL;
        OK(tn_dist_mesh(&src, 2, shape, 2, mesh, cut, listed ? order : NULL));
        dst = draw_dist(&r, 2, to, test_size);
        const tn_op op = ops[next(&r) % 5];
        const tn_dtype dtype = next(&r) % 3 == 0 ? TN_F16 : next(&r) % 2 ? TN_F32 : TN_I32;
        const tn_dtype out = op == TN_LOGICAL_OR ? TN_BOOL : dtype;
        tn_mpi_plan *plan = NULL;
        tn_mpi_options options = {.max_bytes = 65536};
        OK(tn_mpi_plan_reduce(&plan, MPI_COMM_WORLD, op, dst, out, src, dtype, axes, &options));
        tn_mpi_sum sum;
        OK(tn_mpi_info(plan, &sum));
        CHECK(sum.buffer_bytes <= 65536);
        /* A rank's copy is the numbers plus its rank. */
        tn_tensor whole = whole_of(dtype, 2, shape), mine[PARTS], own, add, want, term, view;
        const bool has = test_rank < used;
        OK(tn_alloc(&add, dtype, 0, NULL));
        if (has) {
            own = parts_of(src, dtype, 0);
            part_fill(&own, src, 0, dtype, NULL, shape);
            const int64_t rank = test_rank;
            tn_tensor number;
            OK(tn_init_const(&number, &rank, TN_I64, 0, NULL, NULL));
            OK(tn_cast(&add, &number));
            OK(tn_add(&own, &own, &add));
        }
        for (int64_t i = 0; i < tn_dist_parts(dst, test_rank); i++)
            mine[i] = parts_of(dst, out, i);
        OK(tn_mpi_run(plan, mine, has ? &own : NULL));
        /* The same alone: copies in rising rank order, in f32 for f16. */
        const tn_dtype acc = dtype == TN_F16 ? TN_F32 : dtype;
        for (int64_t i = 0; i < tn_dist_parts(dst, test_rank); i++) {
            int64_t local[2] = {0}, index[2], from[2];
            if (tn_numel(&mine[i]) == 0)
                continue;
            do {
                OK(tn_dist_where(dst, test_rank, i, local, index));
                from[1] = index[0];
                from[0] = index[1];
                double total = 0;
                bool first = true;
                for (int q = 0; q < used; q++) {
                    int position = listed ? used - 1 - q : q;
                    int c = copies_first ? position % mesh[1] : position / mesh[1];
                    int64_t each = (shape[0] + (copies_first ? mesh[1] : mesh[0]) - 1) /
                                   (copies_first ? mesh[1] : mesh[0]);
                    if (from[0] / each != c)
                        continue;
                    double x = (double)number_of(from, 2, shape) + q;
                    total =
                        first          ? x
                        : op == TN_ADD ? (double)(float)(total + x)
                        : op == TN_MUL
                            ? (dtype == TN_I32 ? (double)(int32_t)((int64_t)total * (int64_t)x)
                                               : (double)(float)(total * x))
                        : op == TN_MIN ? (x < total ? x : total)
                        : op == TN_MAX ? (x > total ? x : total)
                                       : (double)(total != 0 || x != 0);
                    first = false;
                }
                if (op == TN_LOGICAL_OR)
                    total = total != 0;
                OK(tn_init_const(&term, &total, TN_F64, 0, NULL, NULL));
                OK(tn_alloc(&want, out, 0, NULL));
                tn_tensor between;
                OK(tn_alloc(&between, acc, 0, NULL));
                OK(tn_cast(&between, &term));
                OK(tn_cast(&want, &between));
                OK(tn_select(&view, &mine[i], 0, local[0]));
                OK(tn_select(&view, &view, 0, local[1]));
                CHECK(!memcmp(view.data, want.data, tn_dtype_size(out)));
                tn_free(&between);
                tn_free(&want);
            } while (index_next(local, 2, mine[i].shape));
        }
        for (int64_t i = 0; i < tn_dist_parts(dst, test_rank); i++)
            tn_free(&mine[i]);
        if (has)
            tn_free(&own);
        tn_free(&add);
        tn_free(&whole);
        tn_mpi_plan_free(plan);
        tn_dist_free(src);
        tn_dist_free(dst);
        (void)copies;
    }
}

/* ---- one rank and all ---- */

static void gathers(void)
{
    rng r = {101};
    for (int round = 0; round < 60; round++) {
        int ndim = (int)pick(&r, 0, 3), root = (int)pick(&r, 0, test_size - 1);
        int64_t shape[3];
        for (int i = 0; i < ndim; i++)
            shape[i] = pick(&r, 0, 12);
        tn_dist *d = draw_dist(&r, ndim, shape, test_size);
        tn_tensor whole = whole_of(TN_F32, ndim, shape), back = dense(TN_F64, ndim, shape);
        tn_tensor parts[PARTS], want = dense(TN_F64, ndim, shape);
        const int64_t n = tn_dist_parts(d, test_rank);
        for (int64_t i = 0; i < n; i++)
            parts[i] = parts_of(d, TN_F32, i);
        OK(tn_mpi_scatter(MPI_COMM_WORLD, root, d, parts, test_rank == root ? &whole : NULL));
        for (int64_t i = 0; i < n; i++) {
            tn_tensor expected = parts_of(d, TN_F32, i);
            part_fill(&expected, d, i, TN_F32, NULL, shape);
            CHECK(!memcmp(expected.data, parts[i].data, (size_t)tn_nbytes(&expected)));
            tn_free(&expected);
        }
        bool known = false; /* somebody has elements, whose dtype all learn */
        for (int q = 0; q < test_size; q++)
            known = known || tn_dist_parts(d, q) > 0;
        CHECK(known);
        OK(tn_mpi_gather(MPI_COMM_WORLD, root, test_rank == root ? &back : NULL, d, parts));
        OK(tn_cast(&want, &whole));
        if (test_rank == root)
            CHECK(!memcmp(want.data, back.data, (size_t)tn_nbytes(&want)));
        for (int64_t i = 0; i < n; i++)
            tn_free(&parts[i]);
        tn_free(&whole);
        tn_free(&back);
        tn_free(&want);
        tn_dist_free(d);
    }
}

static void own_boxes(void)
{
    const int64_t shape[] = {test_size * 3, 5}, start[] = {test_rank * 3, 0}, n[] = {3, 5};
    tn_dist *d = NULL;
    OK(tn_mpi_dist_boxes(&d, MPI_COMM_WORLD, 2, shape, 1, start, n));
    CHECK(tn_dist_ranks(d) == test_size && tn_dist_parts(d, test_size - 1) == 1);
    tn_dist_free(d);
    d = NULL;
    CHECK(tn_mpi_dist_boxes(&d, MPI_COMM_WORLD, 2, shape, test_rank != test_size - 1, start,
                            n) == TN_ESHAPE);
    CHECK(!d);
}

/* What a plan says of itself: each rank of a transpose sends to every other one. */
static void explains(void)
{
    const int64_t shape[] = {64 * test_size, 64 * test_size};
    const long long peers = test_size - 1;
    const tn_placement cut = {0, TN_CUT_BLOCK, 0, 0};
    char said[1000], want[100], few[20];
    tn_dist *d = NULL;
    tn_mpi_plan *plan = NULL;
    tn_mpi_sum sum;
    OK(tn_dist_mesh(&d, 2, shape, 1, &test_size, &cut, NULL));
    OK(tn_mpi_plan_move(&plan, MPI_COMM_WORLD, d, TN_F32, d, TN_F32, (int[]){1, 0}, NULL));
    OK(tn_mpi_explain(plan, said, sizeof said));
    snprintf(want, sizeof want, "move f32 (%lld, %lld)", (long long)shape[0],
             (long long)shape[1]);
    CHECK(!strncmp(said, want, strlen(want)));
    snprintf(want, sizeof want, "rank %-3d sends %lld message%s, ", test_rank, peers,
             peers == 1 ? "" : "s");
    CHECK(strstr(said, want));
    snprintf(want, sizeof want, "all      %lld messages, ", peers * test_size);
    CHECK(strstr(said, want) && strstr(said, "keeps 16.0 KiB;") && strstr(said, ", 1 step\n"));
    OK(tn_mpi_info(plan, &sum));
    CHECK(sum.route.sends == peers && sum.route.receives == peers);
    CHECK(sum.route.keep_bytes == 16384 && sum.route.send_bytes == peers * 16384);
    CHECK(sum.all_bytes == peers * test_size * 16384 && sum.most_sends == peers);
    OK(tn_mpi_explain(plan, few, sizeof few)); /* cut, and ended */
    CHECK(strlen(few) == sizeof few - 1 && !strncmp(few, said, sizeof few - 1));
    CHECK(tn_mpi_explain(NULL, said, sizeof said) == TN_ENULL);
    CHECK(tn_mpi_explain(plan, NULL, 9) == TN_ENULL);
    CHECK(tn_mpi_explain(plan, said, 0) == TN_EARG && tn_mpi_info(plan, NULL) == TN_ENULL);
    tn_mpi_plan_free(plan);
    tn_dist_free(d);
}

/* ---- files ---- */

static bool same_file(const char *a, const char *b)
{
    FILE *f = fopen(a, "rb"), *g = fopen(b, "rb");
    int x, y;
    CHECK(f && g);
    do {
        x = fgetc(f);
        y = fgetc(g);
    } while (x == y && x != EOF);
    fclose(f);
    fclose(g);
    return x == y;
}

static void files(const char *folder, bool large)
{
    rng r = {111};
    char path[300], alone[300];
    for (int round = 0; round < (large ? 1 : 24); round++) {
        const bool many = round % 2;
        const int n = many ? 3 : 1;
        const char *names[] = {"a", "layers.0.weight", "z"};
        const char *metadata = many ? "{\"made\": \"by ranks\"}" : NULL;
        static const tn_dtype dtypes[] = {TN_I8, TN_F64, TN_BF16, TN_F32, TN_C128};
        tn_dist *ds[3];
        tn_tensor parts[3][PARTS], wholes[3];
        const tn_tensor *lists[3], *list[3];
        snprintf(path, sizeof path, "%s/p.%s", folder, many ? "safetensors" : "npy");
        snprintf(alone, sizeof alone, "%s/alone.%s", folder, many ? "safetensors" : "npy");
        for (int k = 0; k < n; k++) {
            int ndim = large ? 2 : (int)pick(&r, 0, 3);
            int64_t shape[3] = {large ? 1100 : pick(&r, 0, 20), large ? 2048 : pick(&r, 1, 20),
                                pick(&r, 1, 20)};
            const tn_dtype dtype = large ? TN_F64 : dtypes[pick(&r, 0, many ? 3 : 4)];
            ds[k] = draw_dist(&r, ndim, shape, test_size);
            wholes[k] = whole_of(dtype, ndim, shape);
            list[k] = &wholes[k];
            lists[k] = parts[k];
            for (int64_t i = 0; i < tn_dist_parts(ds[k], test_rank); i++) {
                parts[k][i] = parts_of(ds[k], dtype, i);
                part_fill(&parts[k][i], ds[k], i, dtype, NULL, shape);
            }
        }
        OK(tn_mpi_save(MPI_COMM_WORLD, path, n, many ? names : NULL, (const tn_dist *const *)ds,
                       lists, metadata));
        if (test_rank == 0) {
            OK(many ? tn_save_many(alone, n, names, list, metadata)
                    : tn_save(alone, &wholes[0]));
            CHECK(same_file(path, alone));
        }
        MPI_Barrier(MPI_COMM_WORLD);
        for (int k = 0; k < n; k++) {
            int axes[3] = {1, 0, 2};
            int64_t to[3];
            const int ndim = wholes[k].ndim;
            for (int i = 0; i < ndim; i++)
                to[i] = wholes[k].shape[ndim > 1 ? axes[i] : i];
            tn_dist *d = draw_dist(&r, ndim, to, test_size);
            tn_tensor got[PARTS];
            for (int64_t i = 0; i < tn_dist_parts(d, test_rank); i++)
                got[i] = parts_of(d, wholes[k].dtype, i);
            OK(tn_mpi_load(MPI_COMM_WORLD, path, many ? names[k] : NULL, d, got,
                           ndim > 1 ? axes : NULL));
            for (int64_t i = 0; i < tn_dist_parts(d, test_rank); i++) {
                tn_tensor want = parts_of(d, wholes[k].dtype, i);
                part_fill(&want, d, i, wholes[k].dtype, ndim > 1 ? axes : NULL,
                          wholes[k].shape);
                CHECK(!memcmp(want.data, got[i].data, (size_t)tn_nbytes(&want)));
                tn_free(&want);
                tn_free(&got[i]);
            }
            tn_dist_free(d);
        }
        for (int k = 0; k < n; k++) {
            for (int64_t i = 0; i < tn_dist_parts(ds[k], test_rank); i++)
                tn_free(&parts[k][i]);
            tn_free(&wholes[k]);
            tn_dist_free(ds[k]);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (test_rank == 0) {
            unlink(path);
            unlink(alone);
        }
    }
}

int main(int argc, char **argv)
{
    char folder[] = "/tmp/tenon-ranks-XXXXXX";
    test_begin(&argc, &argv, 150);
    if (test_rank == 0)
        CHECK(mkdtemp(folder));
    MPI_Bcast(folder, sizeof folder, MPI_BYTE, 0, MPI_COMM_WORLD);
    halos();
    reductions();
    gathers();
    own_boxes();
    explains();
    files(folder, false);
    files(folder, true);
    if (test_rank == 0) {
        CHECK(rmdir(folder) == 0); /* nothing is left behind */
        printf("calls over %d ranks: fine\n", test_size);
    }
    MPI_Finalize();
    return 0;
}
