/* test_walk.c - walks visit every item once, in order, from any item on; parts divide them. */
#include "copy_oracle.h"
#include "nest/nest.h"

/* Offsets of item `item` by division, the slow way. */
static void slow(const tni_axis *axis, int ndim, int nop, int64_t item, int64_t *offset,
                 int64_t *at)
{
    for (int k = 0; k < nop; k++)
        offset[k] = 0;
    for (int i = ndim - 1; i >= 0; i--) {
        at[i] = item % axis[i].n;
        item /= axis[i].n;
        for (int k = 0; k < nop; k++)
            offset[k] += at[i] * axis[i].step[k];
    }
}

static int64_t draw_loops(rng *r, tni_axis *axis, int ndim, int nop)
{
    int64_t items = 1;
    for (int i = 0; i < ndim; i++) {
        axis[i].n = pick(r, 1, items > 300 ? 2 : 6);
        items *= axis[i].n;
        for (int k = 0; k < nop; k++)
            axis[i].step[k] = pick(r, -1000, 1000);
    }
    return items;
}

static void expect_at(const tni_walk *w, const tni_axis *axis, int ndim, int nop, int64_t item)
{
    int64_t offset[TNI_MAX_OPERANDS], at[TNI_WALK_AXES];
    slow(axis, ndim, nop, item, offset, at);
    for (int k = 0; k < nop; k++)
        assert_int_equal(w->offset[k], offset[k]);
    for (int i = 0; i < ndim; i++)
        assert_int_equal(w->at[i], at[i]);
}

static void every_item_in_order(void **state)
{
    (void)state;
    rng r = {3};
    tni_axis axis[TNI_WALK_AXES];
    for (int round = 0; round < 300; round++) {
        int ndim = (int)pick(&r, 0, 8), nop = (int)pick(&r, 1, TNI_MAX_OPERANDS);
        int64_t items = draw_loops(&r, axis, ndim, nop), first = pick(&r, 0, items - 1);
        tni_walk w;
        tni_walk_seek(&w, axis, ndim, nop, first);
        for (int64_t item = first; item < items; item++) {
            expect_at(&w, axis, ndim, nop, item);
            int anew = tni_walk_next(&w), want = 0;
            for (int64_t rest = item; want < ndim; want++, rest /= axis[ndim - want].n)
                if (rest % axis[ndim - 1 - want].n != axis[ndim - 1 - want].n - 1)
                    break;
            assert_int_equal(anew, want);
        }
        expect_at(&w, axis, ndim, nop, 0);
    }
}

static void skips_inside_the_last_loop(void **state)
{
    (void)state;
    const tni_axis axis[] = {{.n = 3, .step = {100, 7}}, {.n = 10, .step = {4, -8}}};
    tni_walk w;
    tni_walk_seek(&w, axis, 2, 2, 12);
    tni_walk_skip(&w, 5);
    expect_at(&w, axis, 2, 2, 17);
    tni_walk_skip(&w, 0);
    expect_at(&w, axis, 2, 2, 17);
    tni_walk_seek(&w, axis, 0, 2, 0);
    tni_walk_skip(&w, 0);
    assert_int_equal(tni_walk_next(&w), 0);
}

static void as_many_loops_as_there_are(void **state)
{
    (void)state;
    tni_axis axis[TNI_WALK_AXES];
    for (int i = 0; i < TNI_WALK_AXES; i++)
        axis[i] = (tni_axis){.n = i % 8 ? 1 : 2, .step = {i, -i}};
    tni_walk w;
    tni_walk_seek(&w, axis, TNI_WALK_AXES, 2, 0);
    int64_t items = 1;
    while (tni_walk_next(&w) < TNI_WALK_AXES) {
        expect_at(&w, axis, TNI_WALK_AXES, 2, items);
        items++;
    }
    assert_int_equal(items, 1 << (TNI_WALK_AXES + 7) / 8);
}

static void parts_cover_the_items(void **state)
{
    (void)state;
    for (int64_t items = 0; items < 40; items++)
        for (int parts = 1; parts < 12; parts++) {
            int64_t next = 0, first, last, least = INT64_MAX, most = 0;
            for (int part = 0; part < parts; part++) {
                tni_split_range(items, parts, part, &first, &last);
                assert_int_equal(first, next);
                next = last;
                least = last - first < least ? last - first : least;
                most = last - first > most ? last - first : most;
            }
            assert_int_equal(next, items);
            assert_true(most - least <= 1);
        }
}

static void parts_of_work(void **state)
{
    (void)state;
    assert_int_equal(tni_split_parts(8, 1000, 1000), 1);
    assert_int_equal(tni_split_parts(8, INT64_MAX, 1), 1);
    assert_int_equal(tni_split_parts(8, INT64_MAX, 3), 3);
    assert_int_equal(tni_split_parts(8, INT64_MAX, INT64_MAX), 8);
    assert_int_equal(tni_split_parts(1, INT64_MAX, INT64_MAX), 1);
    assert_int_equal(tni_split_parts(0, INT64_MAX, INT64_MAX), 1);
    assert_false(tni_split_worth(1000));
    assert_true(tni_split_worth(INT64_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_item_in_order),
        cmocka_unit_test(skips_inside_the_last_loop),
        cmocka_unit_test(as_many_loops_as_there_are),
        cmocka_unit_test(parts_cover_the_items),
        cmocka_unit_test(parts_of_work),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
