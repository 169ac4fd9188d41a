/* test_dist_scale.c - routes at sizes that no machine holds: many ranks, long axes, one
 * process.
 */
#include <time.h>

#include "dist_oracle.h"

static tn_dist *mesh_of(int ndim, const int64_t *shape, int mesh_ndim, const int *mesh,
                        const tn_placement *cuts)
{
    tn_dist *d = NULL;
    OK(tn_dist_mesh(&d, ndim, shape, mesh_ndim, mesh, cuts, NULL));
    return d;
}

static tn_route_sum sum_of(int rank, const tn_dist *dst, const tn_dist *src, const int *axes)
{
    tn_route *r = NULL;
    tn_route_sum sum;
    OK(tn_route_create(&r, rank, dst, TN_U8, src, TN_U8, axes));
    OK(tn_route_info(r, &sum));
    tn_route_free(r);
    return sum;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); /* what others do meanwhile is not counted */
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- many ranks ---- */

/* Memory that is there already, so that the time is that of planning; it begins anew when all
 * of it has been given back. */
static size_t taken, most_taken, used;
static _Alignas(64) char pool[32 << 20];

static void *counting_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    (void)align;
    size = (size + 63) & ~(size_t)63;
    if (size > sizeof pool - used)
        return NULL;
    used += size;
    taken += size;
    most_taken = taken > most_taken ? taken : most_taken;
    return pool + used - size;
}

static void counting_free(void *user, void *p, size_t size)
{
    (void)user;
    (void)p;
    taken -= (size + 63) & ~(size_t)63;
    used = taken ? used : 0;
}

/* One rank's slab transpose: at most 8 MiB, while it is made too.  The time is printed;
 * tenon-mpi bench compares it with its goal. */
static void slab_of_65536(void **state)
{
    (void)state;
    enum { RANKS = 65536, N = 524288 };
    const int64_t shape[] = {N, N};
    const int mesh[] = {RANKS}, axes[] = {1, 0};
    const tn_placement cut[] = {{0, TN_CUT_BLOCK, 0, 0}};
    tn_dist *d = mesh_of(2, shape, 1, mesh, cut);
    tn_handle *h = NULL;
    OK(tn_handle_create(&h, TN_CPU, 0,
                        &(tn_config){.alloc = counting_alloc, .free = counting_free}));
    OK(tn_handle_use(h));
    double best = 1;
    for (int i = 0; i < 10; i++) {
        tn_route *r = NULL;
        tn_route_sum sum;
        most_taken = taken;
        const size_t before = taken;
        double start = now();
        OK(tn_route_create(&r, 12345, d, TN_F32, d, TN_F32, axes));
        double time = now() - start;
        best = time < best ? time : best;
        OK(tn_route_info(r, &sum));
        assert_int_equal(sum.sends, RANKS - 1);
        assert_int_equal(sum.receives, RANKS - 1);
        assert_int_equal(sum.send_bytes, (int64_t)(RANKS - 1) * 8 * 8 * 4);
        assert_int_equal(sum.keep_bytes, 8 * 8 * 4);
        assert_true(sum.plan_bytes <= 8 << 20);
        assert_true((int64_t)(most_taken - before) <= 8 << 20);
        assert_true((int64_t)(taken - before) >= sum.plan_bytes);
        tn_route_free(r);
        assert_int_equal(taken, before);
    }
    OK(tn_handle_use(NULL));
    tn_handle_destroy(h);
    tn_dist_free(d);
    print_message("slab, 65,536 ranks: %.2f ms, %zu bytes\n", 1e3 * best, most_taken);
}

static void pencil_of_65536(void **state)
{
    (void)state;
    const int64_t shape[] = {4096, 4096, 4096};
    const int mesh[] = {256, 256};
    const tn_placement x[] = {{1, TN_CUT_BLOCK, 0, 0}, {2, TN_CUT_BLOCK, 0, 0}};
    const tn_placement y[] = {{0, TN_CUT_BLOCK, 0, 0}, {2, TN_CUT_BLOCK, 0, 0}};
    tn_dist *from = mesh_of(3, shape, 2, mesh, x), *to = mesh_of(3, shape, 2, mesh, y);
    double best = 1;
    for (int i = 0; i < 20; i++) {
        double start = now();
        tn_route_sum sum = sum_of(40000, to, from, NULL);
        double time = now() - start;
        best = time < best ? time : best;
        assert_int_equal(sum.sends, 255);
        assert_int_equal(sum.receives, 255);
        assert_int_equal(sum.boxes, 255 + 255 + 1);
    }
    print_message("pencil, 65,536 ranks: %.1f us\n", 1e6 * best);
    tn_dist_free(from);
    tn_dist_free(to);
}

/* A block-cyclic message of many boxes is one nest, and ranks agree about all of it. */
static void cyclic_of_1024(void **state)
{
    (void)state;
    const int64_t shape[] = {376832, 376832}; /* 46 rounds of 256 over 32 */
    const int mesh[] = {32, 32};
    const tn_placement wide[] = {{0, TN_CUT_CYCLIC, 256, 0}, {1, TN_CUT_CYCLIC, 256, 0}};
    const tn_placement small[] = {{0, TN_CUT_CYCLIC, 64, 0}, {1, TN_CUT_CYCLIC, 64, 0}};
    tn_dist *from = mesh_of(2, shape, 2, mesh, wide), *to = mesh_of(2, shape, 2, mesh, small);
    int64_t sent = 0, received = 0, kept = 0, total = shape[0] * shape[1];
    for (int rank = 0; rank < 1024; rank++) {
        tn_route_sum sum = sum_of(rank, to, from, NULL);
        assert_true(sum.sends <= 16 && sum.receives <= 16);
        assert_true(sum.boxes <= sum.sends + sum.receives + 1);
        sent += sum.send_bytes;
        received += sum.receive_bytes;
        kept += sum.keep_bytes;
    }
    assert_int_equal(sent, received);
    assert_int_equal(kept + received, total);
    tn_dist_free(from);
    tn_dist_free(to);
}

/* 100,000 ranks: a sample of them, and each peer of the first agrees. */
static void ranks_of_100000(void **state)
{
    (void)state;
    enum { RANKS = 100000 };
    const int64_t shape[] = {1000003, 700001};
    const int mesh[] = {RANKS}, axes[] = {1, 0};
    const tn_placement even[] = {{1, TN_CUT_EVEN, 0, 0}},
                       cyclic[] = {{1, TN_CUT_CYCLIC, 3, 77}};
    const int64_t transposed[] = {shape[1], shape[0]};
    tn_dist *from = mesh_of(2, shape, 1, mesh, even),
            *to = mesh_of(2, transposed, 1, mesh, cyclic);
    tn_route *r = NULL;
    OK(tn_route_create(&r, 31, to, TN_U8, from, TN_U8, axes));
    rng g = {5};
    for (int k = 0; k < 20; k++) {
        tn_route_sum sum;
        OK(tn_route_info(r, &sum));
        int peer, back;
        int64_t i = pick(&g, 0, sum.receives - 1), n, m, low = 0;
        OK(tn_route_peer(r, false, i, &peer, &n));
        tn_route *other = NULL;
        OK(tn_route_create(&other, peer, to, TN_U8, from, TN_U8, axes));
        OK(tn_route_info(other, &sum));
        for (int64_t high = sum.sends - 1; low < high;) {
            int64_t middle = (low + high) / 2;
            OK(tn_route_peer(other, true, middle, &back, &m));
            if (back < 31)
                low = middle + 1;
            else
                high = middle;
        }
        OK(tn_route_peer(other, true, low, &back, &m));
        assert_int_equal(back, 31);
        assert_int_equal(m, n);
        tn_route_free(other);
    }
    tn_route_free(r);
    tn_dist_free(from);
    tn_dist_free(to);
}

/* ---- long axes ---- */

static tn_placement draw_cut(rng *r, int p, int64_t most)
{
    tn_placement c = {0, (tn_cut)pick(r, 0, 3), 0, 0};
    if (c.cut >= TN_CUT_CYCLIC) {
        c.cut = TN_CUT_CYCLIC;
        c.block = next(r) % 4 ? pick(r, 1, most) : (int64_t)1 << pick(r, 0, 12);
        c.first = (int)pick(r, 0, p - 1);
    }
    return c;
}

/* Extents to 2^62: nothing overflows, and what is sent is received. */
static void long_axes(void **state)
{
    (void)state;
    rng r = {21};
    for (int round = 0; round < 400; round++) {
        const int64_t n = ((int64_t)1 << pick(&r, 20, 62)) - pick(&r, 0, 1000);
        const int p = (int)pick(&r, 1, 9), q = (int)pick(&r, 1, 9);
        const tn_placement a = draw_cut(&r, p, 40), b = draw_cut(&r, q, 40);
        tn_dist *src = mesh_of(1, &n, 1, &p, &a), *dst = mesh_of(1, &n, 1, &q, &b);
        int64_t sent = 0, received = 0, kept = 0;
        for (int rank = 0; rank < 10; rank++) {
            tn_route_sum sum = sum_of(rank, dst, src, NULL);
            sent += sum.send_bytes;
            received += sum.receive_bytes;
            kept += sum.keep_bytes;
        }
        assert_int_equal(sent, received);
        assert_int_equal(received + kept, n);
        tn_dist_free(src);
        tn_dist_free(dst);
    }
}

/* Axes of many blocks, which are shared by number theory: every element is moved once. */
static void many_blocks(void **state)
{
    (void)state;
    rng r = {31};
    for (int round = 0; round < (TEST_WATCHED ? 60 : 400); round++) {
        const int64_t n = pick(&r, 500, 30000);
        const int p = (int)pick(&r, 1, 6), q = (int)pick(&r, 1, 6);
        const tn_placement a = {0, TN_CUT_CYCLIC, pick(&r, 1, 9), (int)pick(&r, 0, p - 1)};
        const tn_placement b = {0, TN_CUT_CYCLIC, pick(&r, 1, 9), (int)pick(&r, 0, q - 1)};
        tn_dist *src = mesh_of(1, &n, 1, &p, &a), *dst = mesh_of(1, &n, 1, &q, &b);
        tn_tensor from[6], to[6];
        tn_route *routes[6] = {0};
        for (int rank = 0; rank < 6; rank++) {
            int64_t m = 0, local, index;
            if (rank < p) {
                OK(tn_dist_part(src, rank, 0, &m));
                OK(tn_alloc(&from[rank], TN_I32, 1, &m));
                for (local = 0; local < m; local++) {
                    OK(tn_dist_where(src, rank, 0, &local, &index));
                    ((int32_t *)from[rank].data)[local] = (int32_t)index;
                }
            }
            if (rank < q) {
                OK(tn_dist_part(dst, rank, 0, &m));
                OK(tn_alloc(&to[rank], TN_I32, 1, &m));
                OK(tn_fill(&to[rank], &(int32_t){-1}));
            }
            OK(tn_route_create(&routes[rank], rank, dst, TN_I32, src, TN_I32, NULL));
        }
        int32_t *message = malloc((size_t)n * sizeof *message);
        for (int rank = 0; rank < 6; rank++) {
            tn_route_sum sum;
            OK(tn_route_info(routes[rank], &sum));
            if (rank < p || rank < q)
                OK(tn_route_keep(routes[rank], rank < q ? &to[rank] : NULL,
                                 rank < p ? &from[rank] : NULL));
            for (int64_t i = 0; i < sum.sends; i++) {
                int peer, back = -1;
                int64_t count, other, k = -1;
                OK(tn_route_peer(routes[rank], true, i, &peer, &count));
                OK(tn_route_pack(routes[rank], i, 0, count, message, &from[rank]));
                while (back != rank)
                    OK(tn_route_peer(routes[peer], false, ++k, &back, &other));
                assert_int_equal(count, other);
                OK(tn_route_unpack(routes[peer], k, 0, count, &to[peer], message));
            }
        }
        for (int rank = 0; rank < 6; rank++) {
            for (int64_t local = 0; rank < q && local < to[rank].shape[0]; local++) {
                int64_t index;
                OK(tn_dist_where(dst, rank, 0, &local, &index));
                assert_int_equal(((int32_t *)to[rank].data)[local], index);
            }
            if (rank < p)
                tn_free(&from[rank]);
            if (rank < q)
                tn_free(&to[rank]);
            tn_route_free(routes[rank]);
        }
        free(message);
        tn_dist_free(src);
        tn_dist_free(dst);
    }
}

/* ---- many boxes ---- */

/* 40,000 boxes in a brick pattern, and the same twice as copies. */
static void bricks(void **state)
{
    (void)state;
    enum { SIDE = 200, BOXES = SIDE * SIDE };
    const int64_t shape[] = {4 * SIDE, 10 * SIDE};
    int *owners = malloc(2 * BOXES * sizeof *owners);
    int64_t *starts = malloc(4 * BOXES * sizeof *starts);
    int64_t *extents = malloc(4 * BOXES * sizeof *extents);
    for (int64_t i = 0; i < 2 * BOXES; i++) {
        int64_t row = i % BOXES / SIDE, column = i % SIDE, shift = row % 2 ? 5 : 0;
        owners[i] = (int)i;
        starts[2 * i] = 4 * row;
        extents[2 * i] = 4;
        starts[2 * i + 1] = column ? 10 * column - shift : 0;
        int64_t end = column == SIDE - 1 ? shape[1] : 10 * (column + 1) - shift;
        extents[2 * i + 1] = end - starts[2 * i + 1];
    }
    tn_dist *once = NULL, *twice = NULL;
    double start = now();
    OK(tn_dist_boxes(&once, 2, shape, BOXES, BOXES, owners, starts, extents));
    OK(tn_dist_boxes(&twice, 2, shape, 2 * BOXES, 2 * BOXES, owners, starts, extents));
    assert_int_equal(tn_dist_copies(once), 1);
    assert_int_equal(tn_dist_copies(twice), 2);
    tn_route_sum sum = sum_of(777, once, twice, NULL);
    assert_int_equal(sum.receives, 0);
    assert_int_equal(sum.keep_bytes, extents[2 * 777] * extents[2 * 777 + 1]);
    sum = sum_of(BOXES + 777, twice, once, NULL);
    assert_int_equal(sum.receives, 1);
    print_message("40,000 and 80,000 boxes: %.0f ms\n", 1e3 * (now() - start));

    tn_dist_free(once);
    tn_dist_free(twice);
    free(owners);
    free(starts);
    free(extents);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slab_of_65536),  cmocka_unit_test(pencil_of_65536),
        cmocka_unit_test(cyclic_of_1024), cmocka_unit_test(ranks_of_100000),
        cmocka_unit_test(long_axes),      cmocka_unit_test(many_blocks),
        cmocka_unit_test(bricks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
