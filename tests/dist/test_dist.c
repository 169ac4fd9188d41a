/* test_dist.c - distributions and routes of all ranks in one process, against plain lists.
 *
 * Every element of src has its own number.  After all ranks have kept, packed and unpacked,
 * every element of dst must be the one that belongs there, taken from the rank that the rule
 * about copies names, and nothing else in memory may have changed. */
#include "dist_oracle.h"

static int draw_shape(rng *r, int64_t *shape)
{
    int ndim = (int)pick(r, 0, AXES);
    for (int i = 0; i < ndim; i++)
        shape[i] = next(r) % 40 == 0 ? 0 : pick(r, 1, ndim > 2 ? 7 : 40);
    return ndim;
}

/* ---- parts and places ---- */

static void places(void **state)
{
    (void)state;
    rng r = {11};
    for (int round = 0; round < (TEST_WATCHED ? 300 : 2000); round++) {
        int64_t shape[AXES] = {0}, n[AXES], local[AXES], index[AXES];
        int ndim = draw_shape(&r, shape);
        layout l = draw_layout(&r, ndim, shape, MOST_RANKS);
        assert_int_equal(tn_dist_ranks(l.d), l.nranks);
        for (int rank = 0; rank < l.nranks; rank++) {
            assert_int_equal(tn_dist_parts(l.d, rank), l.first[rank + 1] - l.first[rank]);
            for (int64_t p = 0; p < tn_dist_parts(l.d, rank); p++) {
                const owned *o = &l.parts[l.first[rank] + p];
                OK(tn_dist_part(l.d, rank, p, n));
                if (ndim && memcmp(n, o->n, (size_t)ndim * sizeof *n))
                    fail_msg("%s: rank %d part %d", l.words, rank, (int)p);
                bool empty = false;
                for (int a = 0; a < ndim; a++) {
                    empty = empty || n[a] == 0;
                    local[a] = n[a] ? pick(&r, 0, n[a] - 1) : 0;
                }
                if (empty)
                    continue;
                OK(tn_dist_where(l.d, rank, p, local, index));
                for (int a = 0; a < ndim; a++)
                    assert_int_equal(index[a], o->at[a][local[a]]);
                int lowest = rank, found;
                int64_t part, at[AXES];
                for (int64_t k = l.nparts - 1; k >= 0; k--)
                    if (owned_find(&l.parts[k], ndim, index, at) && l.parts[k].owner < lowest)
                        lowest = l.parts[k].owner;
                OK(tn_dist_find(l.d, index, &found, &part, at));
                assert_int_equal(found, lowest);
                OK(tn_dist_where(l.d, found, part, at, local));
                assert_memory_equal(local, index, (size_t)ndim * sizeof *local);
            }
        }
        layout_free(&l);
    }
}

/* ---- a whole move ---- */

/* Element (rank that has it, number of its index) as two halves of a u64. */
static uint64_t mark_of(int rank, const layout *l, const int64_t *index)
{
    uint64_t flat = 0;
    for (int a = 0; a < l->ndim; a++)
        flat = flat * (uint64_t)l->shape[a] + (uint64_t)index[a];
    return (uint64_t)(unsigned)rank << 32 | flat;
}

typedef struct world {
    layout dst, src;
    int axes[AXES], nranks;
    block *dst_parts, *src_parts;
    tn_tensor *dst_tensors, *src_tensors;
    tn_route **routes;
} world;

static bool index_of(const owned *o, int ndim, const int64_t *local, int64_t *index)
{
    for (int a = 0; a < ndim; a++)
        index[a] = o->at[a][local[a]];
    return true;
}

static void fill_src(world *w, rng *r)
{
    const int ndim = w->src.ndim;
    for (int64_t p = 0; p < w->src.nparts; p++) {
        const owned *o = &w->src.parts[p];
        int64_t local[AXES] = {0}, index[AXES] = {0};
        bool empty = false;
        w->src_parts[p] = block_make(r, TN_U64, ndim, o->n, true, false);
        w->src_tensors[p] = w->src_parts[p].t;
        for (int a = 0; a < ndim; a++)
            empty = empty || o->n[a] == 0;
        if (!empty)
            do {
                index_of(o, ndim, local, index);
                uint64_t mark = mark_of(o->owner, &w->src, index);
                memcpy(element(&w->src_tensors[p], local), &mark, sizeof mark);
            } while (index_next(local, ndim, o->n));
    }
}

static void check_dst(const world *w, const block *before)
{
    const int ndim = w->dst.ndim;
    for (int64_t p = 0; p < w->dst.nparts; p++) {
        const owned *o = &w->dst.parts[p];
        int64_t local[AXES] = {0}, index[AXES] = {0}, from[AXES] = {0};
        bool empty = false;
        for (int a = 0; a < ndim; a++)
            empty = empty || o->n[a] == 0;
        if (!empty)
            do {
                index_of(o, ndim, local, index);
                for (int a = 0; a < ndim; a++)
                    from[w->axes[a]] = index[a];
                uint64_t want = mark_of(taken_from(&w->src, from, o->owner), &w->src, from);
                memcpy(element(&before[p].t, local), &want, sizeof want);
            } while (index_next(local, ndim, o->n));
        if (memcmp(before[p].bytes, w->dst_parts[p].bytes, before[p].size))
            fail_msg("dst %s, src %s: part of rank %d differs", w->dst.words, w->src.words,
                     o->owner);
    }
}

static const tn_tensor *tensors_of(const tn_tensor *all, const layout *l, int rank)
{
    return rank < l->nranks ? all + l->first[rank] : NULL;
}

/* Carry message i of rank p over, in pieces of any length, or pull it. */
static void carry(const world *w, rng *r, int p, int64_t i, int64_t *seen)
{
    int q, back;
    int64_t n, m, k = 0;
    OK(tn_route_peer(w->routes[p], true, i, &q, &n));
    assert_true(q != p && n > 0);
    for (;; k++) {
        OK(tn_route_peer(w->routes[q], false, k, &back, &m));
        if (back == p)
            break;
    }
    assert_int_equal(n, m);
    assert_int_equal(seen[q], k); /* senders come in rising order */
    seen[q]++;
    const tn_tensor *dst = tensors_of(w->dst_tensors, &w->dst, q);
    const tn_tensor *src = tensors_of(w->src_tensors, &w->src, p);
    const bool pulled = next(r) % 3 == 0;
    for (int64_t at = 0; at < n;) {
        int64_t count = next(r) % 2 ? n - at : pick(r, 1, n - at);
        if (pulled) {
            OK(tn_route_pull(w->routes[q], k, at, count, dst, src));
        } else {
            uint64_t *message = malloc((size_t)count * sizeof *message);
            OK(tn_route_pack(w->routes[p], i, at, count, message, src));
            OK(tn_route_unpack(w->routes[q], k, at, count, dst, message));
            free(message);
        }
        at += count;
    }
}

static void check_sums(const world *w)
{
    int64_t sends = 0, receives = 0, sent = 0, received = 0;
    for (int rank = 0; rank < w->nranks; rank++) {
        tn_route_sum s;
        int64_t elements = 0;
        OK(tn_route_info(w->routes[rank], &s));
        sends += s.sends;
        receives += s.receives;
        sent += s.send_bytes;
        received += s.receive_bytes;
        for (int64_t p = 0; p < tn_dist_parts(w->dst.d, rank); p++)
            elements += tn_numel(&w->dst_tensors[w->dst.first[rank] + p]);
        assert_int_equal(s.keep_bytes + s.receive_bytes, elements * 8);
    }
    assert_int_equal(sends, receives);
    assert_int_equal(sent, received);
}

static void one_move(rng *r, int most)
{
    world w = {0};
    int64_t shape[AXES] = {0}, permuted[AXES] = {0};
    int ndim = draw_shape(r, shape);
    for (int i = 0; i < ndim; i++)
        w.axes[i] = i;
    for (int i = ndim - 1; i > 0; i--) {
        int k = (int)pick(r, 0, i), swap = w.axes[i];
        w.axes[i] = w.axes[k];
        w.axes[k] = swap;
    }
    for (int i = 0; i < ndim; i++)
        permuted[i] = shape[w.axes[i]];
    w.src = draw_layout(r, ndim, shape, most);
    w.dst = draw_layout(r, ndim, permuted, most);
    w.nranks = (w.src.nranks > w.dst.nranks ? w.src.nranks : w.dst.nranks) + 1;
    w.dst_parts = calloc((size_t)w.dst.nparts, sizeof *w.dst_parts);
    w.src_parts = calloc((size_t)w.src.nparts, sizeof *w.src_parts);
    w.dst_tensors = calloc((size_t)w.dst.nparts, sizeof *w.dst_tensors);
    w.src_tensors = calloc((size_t)w.src.nparts, sizeof *w.src_tensors);
    w.routes = calloc((size_t)w.nranks, sizeof(tn_route *));
    block *twins = calloc((size_t)w.dst.nparts, sizeof *twins);
    int64_t *seen = calloc((size_t)w.nranks, sizeof *seen);
    fill_src(&w, r);
    for (int64_t p = 0; p < w.dst.nparts; p++) {
        w.dst_parts[p] = block_make(r, TN_U64, ndim, w.dst.parts[p].n, true, false);
        w.dst_tensors[p] = w.dst_parts[p].t;
        twins[p] = block_twin(&w.dst_parts[p]);
    }
    for (int rank = 0; rank < w.nranks; rank++)
        OK(tn_route_create(&w.routes[rank], rank, w.dst.d, TN_U64, w.src.d, TN_U64, w.axes));
    check_sums(&w);
    for (int rank = 0; rank < w.nranks; rank++) {
        tn_route_sum s;
        OK(tn_route_info(w.routes[rank], &s));
        for (int64_t i = 0; i < s.sends; i++)
            carry(&w, r, rank, i, seen);
        OK(tn_route_keep(w.routes[rank], tensors_of(w.dst_tensors, &w.dst, rank),
                         tensors_of(w.src_tensors, &w.src, rank)));
    }
    check_dst(&w, twins);
    for (int rank = 0; rank < w.nranks; rank++)
        tn_route_free(w.routes[rank]);
    for (int64_t p = 0; p < w.dst.nparts; p++) {
        block_free(&w.dst_parts[p]);
        block_free(&twins[p]);
    }
    for (int64_t p = 0; p < w.src.nparts; p++)
        block_free(&w.src_parts[p]);
    layout_free(&w.dst);
    layout_free(&w.src);
    free(w.dst_parts);
    free(w.src_parts);
    free(w.dst_tensors);
    free(w.src_tensors);
    free(w.routes);
    free(twins);
    free(seen);
}

static void moves(void **state)
{
    (void)state;
    for (int round = 0; round < (TEST_WATCHED ? 200 : 4000); round++) {
        rng r = {1000 + (uint64_t)round};
        one_move(&r, round % 8 ? 12 : MOST_RANKS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places),
        cmocka_unit_test(moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
