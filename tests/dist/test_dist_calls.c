/* test_dist_calls.c - borders, single copies and pieces of routes; refusals; memory that is
 * out.
 */
#include "dist_oracle.h"

/* ---- borders ---- */

enum { RANKS = 12 };

typedef struct rim {
    int ndim, mesh_ndim, mesh[2];
    tn_placement cut[2];
    int64_t shape[3], before[3], after[3];
    tn_pad_mode mode;
} rim;

static rim draw_rim(rng *r)
{
    rim m = {.ndim = (int)pick(r, 1, 3), .mesh_ndim = 2, .mode = (tn_pad_mode)pick(r, 0, 4)};
    for (int i = 0; i < m.ndim; i++) {
        m.shape[i] = pick(r, 1, 8);
        m.before[i] = pick(r, 0, next(r) % 8 ? 2 : 11);
        m.after[i] = pick(r, 0, next(r) % 8 ? 2 : 11);
    }
    for (int i = 0; i < 2; i++) {
        m.mesh[i] = (int)pick(r, 1, i ? RANKS / m.mesh[0] : 4);
        m.cut[i] = (tn_placement){(int)pick(r, -1, m.ndim - 1), (tn_cut)pick(r, 0, 1), 0, 0};
    }
    return m;
}

static void borders(void **state)
{
    (void)state;
    rng r = {7};
    for (int round = 0; round < (TEST_WATCHED ? 150 : 1000); round++) {
        rim m = draw_rim(&r);
        const int32_t value = -9;
        int64_t padded[3], n[3], wide[3], start[3], zero[3] = {0};
        tn_dist *d = NULL;
        OK(tn_dist_mesh(&d, m.ndim, m.shape, 2, m.mesh, m.cut, NULL));
        for (int i = 0; i < m.ndim; i++)
            padded[i] = m.shape[i] + m.before[i] + m.after[i];
        block whole = block_make(&r, TN_I32, m.ndim, m.shape, false, false);
        block all = block_make(&r, TN_I32, m.ndim, padded, false, false);
        OK(tn_pad_into(&all.t, &whole.t, m.before, m.after, m.mode, &value));
        block parts[RANKS], want[RANKS];
        tn_tensor middle[RANKS];
        tn_route *routes[RANKS] = {0};
        const int ranks = tn_dist_ranks(d);
        for (int q = 0; q < ranks; q++) {
            bool empty = false;
            OK(tn_dist_part(d, q, 0, n));
            for (int i = 0; i < m.ndim; i++) {
                wide[i] = n[i] + m.before[i] + m.after[i];
                empty = empty || n[i] == 0;
            }
            parts[q] = block_make(&r, TN_I32, m.ndim, wide, true, false);
            OK(tn_view(&middle[q], &parts[q].t, n, m.before, NULL, 0));
            OK(tn_route_halo(&routes[q], q, d, TN_I32, m.before, m.after, m.mode, &value));
            tn_tensor from;
            if (!empty) {
                OK(tn_dist_where(d, q, 0, zero, start));
                OK(tn_view(&from, &whole.t, n, start, NULL, 0));
                OK(tn_rearrange(&middle[q], &from));
            }
            want[q] = block_twin(&parts[q]);
            if (!empty) {
                OK(tn_view(&from, &all.t, wide, start, NULL, 0));
                OK(tn_rearrange(&want[q].t, &from));
            }
        }
        int32_t message[8192];
        for (int q = 0; q < ranks; q++) {
            tn_route_sum sum;
            OK(tn_route_info(routes[q], &sum));
            for (int64_t i = 0; i < sum.sends; i++) {
                int peer, back = -1;
                int64_t count, other, k = -1;
                OK(tn_route_peer(routes[q], true, i, &peer, &count));
                assert_true(peer != q && count <= 8192);
                OK(tn_route_pack(routes[q], i, 0, count, message, &middle[q]));
                while (back != q)
                    OK(tn_route_peer(routes[peer], false, ++k, &back, &other));
                assert_int_equal(count, other);
                OK(tn_route_unpack(routes[peer], k, 0, count, &parts[peer].t, message));
            }
            OK(tn_route_keep(routes[q], &parts[q].t, &middle[q]));
        }
        for (int q = 0; q < ranks; q++) {
            assert_memory_equal(parts[q].bytes, want[q].bytes, parts[q].size);
            tn_route_free(routes[q]);
            block_free(&parts[q]);
            block_free(&want[q]);
        }
        block_free(&whole);
        block_free(&all);
        tn_dist_free(d);
    }
}

/* ---- one copy at a time, and pieces ---- */

/* Message i of every copy is as long as that of the first, copies are by rising rank, and what
 * all copies send is what they receive. */
static void single_copies(void **state)
{
    (void)state;
    rng r = {17};
    for (int round = 0; round < 300; round++) {
        int64_t shape[AXES] = {pick(&r, 0, 9), pick(&r, 1, 9), pick(&r, 1, 5)};
        layout src = draw_mesh(&r, 3, shape, 24), dst = draw_layout(&r, 3, shape, 24);
        const int64_t copies = tn_dist_copies(src.d);
        assert_int_equal(copies, src.copies);
        int64_t sent = 0, received = 0;
        for (int q = 0; q < 24; q++) {
            int last[64];
            for (int64_t k = 0; k < copies; k++) {
                tn_route *one = NULL;
                tn_route_sum sum;
                OK(tn_route_copy(&one, q, dst.d, TN_U8, src.d, TN_U8, NULL, k));
                OK(tn_route_info(one, &sum));
                assert_int_equal(sum.keep_bytes, 0);
                sent += sum.send_bytes;
                received += sum.receive_bytes;
                for (int64_t i = 0; i < sum.receives && i < 64; i++) {
                    int peer;
                    int64_t n;
                    OK(tn_route_peer(one, false, i, &peer, &n));
                    assert_true(k == 0 || peer > last[i]);
                    last[i] = peer;
                }
                tn_route_free(one);
            }
        }
        assert_int_equal(sent, received);
        tn_route *bad = NULL;
        assert_int_equal(tn_route_copy(&bad, 0, dst.d, TN_U8, src.d, TN_U8, NULL, copies),
                         TN_EARG);
        layout_free(&src);
        layout_free(&dst);
    }
}

/* The pieces of what a rank takes from one that has everything are its part. */
static void pieces(void **state)
{
    (void)state;
    rng r = {27};
    for (int round = 0; round < 500; round++) {
        int64_t shape[AXES] = {pick(&r, 0, 20), pick(&r, 1, 9)}, n[AXES];
        layout to = draw_mesh(&r, 2, shape, 9);
        tn_dist *from = NULL;
        OK(tn_dist_whole(&from, 2, shape, to.nranks + 1, to.nranks));
        block whole = block_make(&r, TN_U16, 2, shape, true, false);
        for (int q = 0; q < to.nranks; q++) {
            tn_route *route = NULL;
            tn_route_sum sum;
            tn_tensor d, s;
            OK(tn_dist_part(to.d, q, 0, n));
            block part = block_make(&r, TN_U16, 2, n, true, false), want = block_twin(&part);
            OK(tn_route_create(&route, q, to.d, TN_U16, from, TN_U16, NULL));
            OK(tn_route_info(route, &sum));
            for (int64_t k = 0; k < sum.boxes; k++) {
                OK(tn_route_piece(route, 0, k, &part.t, &whole.t, &d, &s));
                OK(tn_rearrange(&d, &s));
            }
            assert_int_equal(tn_route_piece(route, 0, sum.boxes, &part.t, &whole.t, &d, &s),
                             TN_EARG);
            if (sum.receives) {
                int64_t before;
                OK(tn_route_before(route, false, 0, 1, &before));
                assert_int_equal(before, tn_numel(&part.t));
                OK(tn_route_pull(route, 0, 0, before, &want.t, &whole.t));
            }
            assert_memory_equal(part.bytes, want.bytes, part.size);
            block_free(&part);
            block_free(&want);
            tn_route_free(route);
        }
        block_free(&whole);
        layout_free(&to);
        tn_dist_free(from);
    }
}

/* The largest local index of rank p of `from` that rank q of `to` needs, plus one; 0: none. */
static int64_t needed_extent(const tn_dist *to, int q, const tn_dist *from, int p, int64_t n)
{
    int64_t most = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t part, there, here;
        int rank, other;
        OK(tn_dist_find(to, &i, &rank, &part, &there));
        OK(tn_dist_find(from, &i, &other, &part, &here));
        if (rank == q && other == p && here >= most)
            most = here + 1;
    }
    return most;
}

/* A peer's part may be as short as what is read of it, and no shorter: cyclic blocks on both
 * sides make runs that are not in the order of their indices. */
static void short_peer_parts(void **state)
{
    (void)state;
    const int64_t n = 1500;
    const int ranks[2] = {3, 4};
    int64_t looked = 0;
    for (int64_t block = 1; block < 6; block++)
        for (int64_t other = 1; other < 6; other++) {
            tn_dist *to = NULL, *from = NULL;
            OK(tn_dist_mesh(&to, 1, &n, 1, &ranks[0],
                            &(tn_placement){0, TN_CUT_CYCLIC, block, 1}, NULL));
            OK(tn_dist_mesh(&from, 1, &n, 1, &ranks[1],
                            &(tn_placement){0, TN_CUT_CYCLIC, other, 2}, NULL));
            for (int q = 0; q < ranks[0]; q++) {
                static uint8_t data[1500], peer_data[1500];
                tn_route *route = NULL;
                tn_route_sum sum;
                int64_t extent;
                tn_tensor part, peer;
                OK(tn_route_create(&route, q, to, TN_U8, from, TN_U8, NULL));
                OK(tn_route_info(route, &sum));
                OK(tn_dist_part(to, q, 0, &extent));
                OK(tn_init(&part, data, TN_U8, 1, &extent));
                for (int64_t i = 0; i < sum.receives; i++, looked++) {
                    int p;
                    int64_t count;
                    OK(tn_route_peer(route, false, i, &p, &count));
                    int64_t least = needed_extent(to, q, from, p, n);
                    OK(tn_init(&peer, peer_data, TN_U8, 1, &least));
                    OK(tn_route_pull(route, i, 0, count, &part, &peer));
                    least--;
                    OK(tn_init(&peer, peer_data, TN_U8, 1, &least));
                    assert_int_equal(tn_route_pull(route, i, 0, count, &part, &peer),
                                     TN_ESHAPE);
                }
                tn_route_free(route);
            }
            tn_dist_free(to);
            tn_dist_free(from);
        }
    assert_true(looked > 100);
}

/* ---- dtypes ---- */

/* The wire has the narrower dtype, and converting twice or once is the same as tn_cast. */
static void casts(void **state)
{
    (void)state;
    const int64_t n = 100;
    const int two = 2;
    const tn_placement even = {0, TN_CUT_EVEN, 0, 0};
    tn_dist *src = NULL, *dst = NULL;
    OK(tn_dist_mesh(&src, 1, &n, 1, &two, &even, NULL));
    OK(tn_dist_whole(&dst, 1, &n, 2, 0));
    rng r = {3};
    for (size_t a = 0; a < sizeof all_dtypes / sizeof *all_dtypes; a++)
        for (size_t b = 0; b < sizeof all_dtypes / sizeof *all_dtypes; b++) {
            const tn_dtype from = all_dtypes[a], to = all_dtypes[b];
            tn_route *at[2];
            block whole = block_make(&r, from, 1, &n, false, false);
            block got = block_make(&r, to, 1, &n, false, false), want = block_twin(&got);
            tn_tensor half[2];
            char message[100 * 16];
            for (int q = 0; q < 2; q++) {
                OK(tn_route_create(&at[q], q, dst, to, src, from, NULL));
                OK(tn_slice(&half[q], &whole.t, 0, 50 * q, 50 * q + 50, 1));
            }
            assert_int_equal(tn_dtype_size(tn_route_wire(at[0])),
                             tn_dtype_size(from) < tn_dtype_size(to) ? tn_dtype_size(from)
                                                                     : tn_dtype_size(to));
            OK(tn_route_pack(at[1], 0, 0, 50, message, &half[1]));
            OK(tn_route_unpack(at[0], 0, 0, 50, &got.t, message));
            OK(tn_route_keep(at[0], &got.t, &half[0]));
            OK(from == to ? tn_rearrange(&want.t, &whole.t) : tn_cast(&want.t, &whole.t));
            assert_memory_equal(got.bytes, want.bytes, got.size);
            for (int q = 0; q < 2; q++)
                tn_route_free(at[q]);
            block_free(&whole);
            block_free(&got);
            block_free(&want);
        }
    tn_dist_free(src);
    tn_dist_free(dst);
}

/* ---- refusals ---- */

#define SAYS(status, words, call)                                                              \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        if (!strstr(tn_error(), words))                                                        \
            fail_msg("\"%s\" does not say \"%s\"", tn_error(), words);                         \
    } while (0)

static void refused_dists(void **state)
{
    (void)state;
    tn_dist *d = NULL;
    const int64_t s[] = {6, 6}, negative[] = {6, -1}, vast[] = {INT64_MAX, 3};
    const int m[] = {2, 2}, none[] = {2, 0}, many[] = {1 << 20, 1 << 20}, twice[] = {0, 0};
    const int ranks[] = {3, 2, 1, 0}, far[] = {0, 1, 2, 4};
    const tn_placement p[] = {{0, TN_CUT_BLOCK, 0, 0}, {-1, (tn_cut)9, 9, 9}};
    tn_placement q;
    SAYS(TN_ENULL, "d is NULL", tn_dist_mesh(NULL, 2, s, 2, m, p, NULL));
    SAYS(TN_ENULL, "shape", tn_dist_mesh(&d, 2, NULL, 2, m, p, NULL));
    SAYS(TN_ENULL, "mesh", tn_dist_mesh(&d, 2, s, 2, NULL, p, NULL));
    SAYS(TN_ENULL, "placements", tn_dist_mesh(&d, 2, s, 2, m, NULL, NULL));
    SAYS(TN_EARG, "ndim is 65", tn_dist_mesh(&d, 65, s, 2, m, p, NULL));
    SAYS(TN_EARG, "mesh_ndim is -1", tn_dist_mesh(&d, 2, s, -1, m, p, NULL));
    SAYS(TN_EARG, "extent 0", tn_dist_mesh(&d, 2, s, 2, none, p, NULL));
    SAYS(TN_EOVERFLOW, "ranks", tn_dist_mesh(&d, 2, s, 2, many, p, NULL));
    SAYS(TN_ESHAPE, "-1", tn_dist_mesh(&d, 2, negative, 2, m, p, NULL));
    SAYS(TN_EOVERFLOW, "elements", tn_dist_mesh(&d, 2, vast, 2, m, p, NULL));
    SAYS(TN_EARG, "ranks[1]", tn_dist_mesh(&d, 2, s, 2, m, p, (const int[]){0, 0, 1, 2}));
    SAYS(TN_EARG, "ranks[3] is 4", tn_dist_mesh(&d, 2, s, 2, m, p, far));
    static const struct {
        tn_placement p;
        const char *words;
    } bad[] = {{{2, TN_CUT_BLOCK, 0, 0}, "axis 2"},   {{-2, TN_CUT_BLOCK, 0, 0}, "axis -2"},
               {{0, (tn_cut)3, 0, 0}, "cut 3"},       {{0, TN_CUT_BLOCK, 1, 0}, "block 1"},
               {{0, TN_CUT_CYCLIC, 0, 0}, "block 0"}, {{0, TN_CUT_EVEN, 0, 1}, "first 1"},
               {{0, TN_CUT_CYCLIC, 1, 2}, "first 2"}, {{0, TN_CUT_CYCLIC, 1, -1}, "first -1"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        q = bad[i].p;
        SAYS(TN_EARG, bad[i].words, tn_dist_mesh(&d, 2, s, 1, m, &q, NULL));
    }
    /* a rank that sends 2^60 bytes to each of many */
    tn_dist *one = NULL, *copies = NULL;
    tn_route *route = NULL;
    const int64_t huge = (int64_t)1 << 60;
    const tn_placement whole = {-1, TN_CUT_BLOCK, 0, 0};
    OK(tn_dist_mesh(&one, 1, &huge, 1, (const int[]){1}, &whole, NULL));
    OK(tn_dist_mesh(&copies, 1, &huge, 1, (const int[]){8}, &whole, NULL));
    OK(tn_route_create(&route, 0, copies, TN_U8, one, TN_U8, NULL));
    tn_route_free(route);
    tn_dist_free(copies);
    OK(tn_dist_mesh(&copies, 1, &huge, 1, (const int[]){9}, &whole, NULL));
    SAYS(TN_EOVERFLOW, "rank 0 moves more than 2^63 - 1 bytes",
         tn_route_create(&route, 0, copies, TN_U8, one, TN_U8, NULL));
    tn_dist_free(copies);
    tn_dist_free(one);
    const int owners[] = {0, 1}, out[] = {0, 2};
    const int64_t starts[] = {0, 0, 3, 0}, extents[] = {3, 6, 3, 6}, hole[] = {3, 6, 2, 6};
    const int64_t over[] = {3, 6, 4, 6}, same[] = {0, 0, 2, 0};
    SAYS(TN_EARG, "rank 2", tn_dist_boxes(&d, 2, s, 2, 2, out, starts, extents));
    SAYS(TN_EARG, "of extent 6", tn_dist_boxes(&d, 2, s, 2, 2, owners, starts, over));
    SAYS(TN_ESHAPE, "(5, 0)", tn_dist_boxes(&d, 2, s, 2, 2, owners, starts, hole));
    SAYS(TN_EOVERLAP, "(2, 0)", tn_dist_boxes(&d, 2, s, 2, 2, twice, same, over));
    SAYS(TN_EARG, "number of boxes -1",
         tn_dist_boxes(&d, 2, s, 2, -1, owners, starts, extents));
    SAYS(TN_EARG, "0 ranks", tn_dist_boxes(&d, 2, s, 0, 2, owners, starts, extents));
    SAYS(TN_EARG, "rank 2 is", tn_dist_whole(&d, 2, s, 2, 2));
    assert_null(d);
    OK(tn_dist_mesh(&d, 2, s, 2, m, p, ranks));
    int64_t n[2], part;
    int rank;
    SAYS(TN_EARG, "rank 4 is", tn_dist_part(d, 4, 0, n));
    SAYS(TN_EARG, "part is 1", tn_dist_part(d, 0, 1, n));
    SAYS(TN_EARG, "local[0] is 3", tn_dist_where(d, 0, 0, (const int64_t[]){3, 0}, n));
    SAYS(TN_EARG, "index[1] is 6", tn_dist_find(d, (const int64_t[]){0, 6}, &rank, &part, n));
    char text[80];
    OK(tn_dist_print(d, text, sizeof text));
    assert_string_equal(text, "(6, 6) over 2 x 2 ranks: axis 0 blocks, copies, ranks listed");
    tn_dist_free(d);
    tn_dist_free(NULL);
}

static void refused_routes(void **state)
{
    (void)state;
    const int64_t s[] = {6, 4}, t[] = {4, 6};
    const int m = 2, axes[] = {1, 0}, twice[] = {1, 1};
    const tn_placement p = {0, TN_CUT_BLOCK, 0, 0};
    tn_dist *a = NULL, *b = NULL;
    tn_route *r = NULL;
    OK(tn_dist_mesh(&a, 2, s, 1, &m, &p, NULL));
    OK(tn_dist_mesh(&b, 2, t, 1, &m, &p, NULL));
    SAYS(TN_ENULL, "r is NULL", tn_route_create(NULL, 0, b, TN_F32, a, TN_F32, axes));
    SAYS(TN_ENULL, "src", tn_route_create(&r, 0, b, TN_F32, NULL, TN_F32, axes));
    SAYS(TN_EARG, "rank is -1", tn_route_create(&r, -1, b, TN_F32, a, TN_F32, axes));
    SAYS(TN_EARG, "axes[1]", tn_route_create(&r, 0, b, TN_F32, a, TN_F32, twice));
    SAYS(TN_ESHAPE, "extent 4", tn_route_create(&r, 0, b, TN_F32, a, TN_F32, NULL));
    SAYS(TN_EDTYPE, "dtype 77", tn_route_create(&r, 0, b, (tn_dtype)77, a, TN_F32, axes));
    assert_null(r);
    OK(tn_route_create(&r, 0, b, TN_F32, a, TN_F32, axes));
    float x[12] = {0}, y[12], message[12];
    int peer;
    int64_t n;
    tn_tensor src, dst;
    OK(tn_init(&src, x, TN_F32, 2, (const int64_t[]){3, 4}));
    OK(tn_init(&dst, y, TN_F32, 2, (const int64_t[]){2, 6}));
    SAYS(TN_EARG, "out of range [0, 1)", tn_route_peer(r, true, 1, &peer, &n));
    SAYS(TN_EARG, "message 0 has 6", tn_route_pack(r, 0, 3, 4, message, &src));
    SAYS(TN_ENULL, "message", tn_route_pack(r, 0, 0, 6, NULL, &src));
    SAYS(TN_ESHAPE, "part 0", tn_route_pack(r, 0, 0, 6, message, &dst));
    SAYS(TN_EOVERLAP, "", tn_route_pack(r, 0, 0, 6, x + 4, &src));
    SAYS(TN_EOVERLAP, "", tn_route_unpack(r, 0, 0, 6, &dst, y));
    dst.flags = TN_READONLY;
    SAYS(TN_EARG, "part 0", tn_route_unpack(r, 0, 0, 6, &dst, message));
    SAYS(TN_ENULL, "dst_parts", tn_route_keep(r, NULL, &src));
    dst.flags = 0;
    dst.data = x;
    SAYS(TN_EOVERLAP, "", tn_route_keep(r, &dst, &src));
    tn_route_free(r);
    tn_dist_free(a);
    tn_dist_free(b);
}

/* ---- memory that is out ---- */

static int64_t left;

static void *scarce(void *user, size_t size, size_t align)
{
    void *p = NULL;
    (void)user;
    return left-- > 0 && !posix_memalign(&p, align, size) ? p : NULL;
}

static void give(void *user, void *p, size_t size)
{
    (void)user;
    (void)size;
    free(p);
}

/* Failing the N-th allocation, for every N: a status, no leak, and all works afterwards. */
static void no_memory(void **state)
{
    (void)state;
    tn_handle *h = NULL;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.alloc = scarce, .free = give}));
    OK(tn_handle_use(h));
    for (int round = 0; round < 40; round++) {
        bool done = false;
        for (int64_t n = 0; !done; n++) {
            const int64_t shape[] = {24, 6};
            const int owners[] = {0, 1, 2, 2}, mesh[] = {3, 2};
            const int64_t starts[] = {0, 0, 12, 0, 0, 0, 7, 0},
                          extents[] = {12, 6, 12, 6, 7, 6, 17, 6};
            const tn_placement cut[] = {{0, TN_CUT_CYCLIC, 3, 1}, {0, TN_CUT_CYCLIC, 2, 0}};
            const int order[] = {5, 4, 3, 2, 1, 0};
            tn_dist *a = NULL, *b = NULL;
            tn_route *r[3] = {0};
            left = n;
            tn_status status = tn_dist_boxes(&a, 2, shape, 3, 4, owners, starts, extents);
            if (status == TN_OK)
                status = tn_dist_mesh(&b, 2, shape, 2, mesh, cut, order);
            if (status == TN_OK)
                status = tn_route_create(&r[0], round % 6, a, TN_F32, b, TN_F64, NULL);
            if (status == TN_OK)
                status = tn_route_create(&r[1], round % 6, b, TN_F32, a, TN_F64, NULL);
            if (status == TN_OK)
                status = tn_route_copy(&r[2], round % 6, a, TN_F32, b, TN_F32, NULL, 0);
            assert_true(status == TN_OK || status == TN_ENOMEM);
            done = status == TN_OK;
            for (int i = 0; i < 3; i++)
                tn_route_free(r[i]);
            tn_dist_free(a);
            tn_dist_free(b);
        }
    }
    OK(tn_handle_use(NULL));
    tn_handle_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders),        cmocka_unit_test(single_copies),
        cmocka_unit_test(pieces),         cmocka_unit_test(short_peer_parts),
        cmocka_unit_test(casts),          cmocka_unit_test(refused_dists),
        cmocka_unit_test(refused_routes), cmocka_unit_test(no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
