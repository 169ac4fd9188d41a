/* test_view_oracle.c - every view of 100,000 random layouts: each element where it belongs.
 *
 * A view is a shape and, for each index of out, an index of in; the address of both is computed
 * by adding strides one by one. */
#include "view_oracle.h"

enum {
    UNSQUEEZE,
    SQUEEZE,
    SQUEEZE_ALL,
    PERMUTE,
    TRANSPOSE,
    SLICE,
    SELECT,
    VIEW,
    BROADCAST,
    FLIP,
    DIAGONAL,
    WINDOWS,
    VIEWS
};

static const char *const names[VIEWS] = {
    "unsqueeze", "squeeze", "squeeze_all",  "permute", "transpose", "slice",
    "select",    "view",    "broadcast_to", "flip",    "diagonal",  "windows",
};

/* A call with its arguments, and what it means. */
typedef struct step {
    int kind, a, b;
    int64_t start, stop, by;
    int axes[TN_MAX_NDIM], drops;
    int64_t shape[TN_MAX_NDIM], offset[TN_MAX_NDIM];
    /* meaning */
    int ndim;
    int64_t want[TN_MAX_NDIM];
    int from[TN_MAX_NDIM];       /* axis of in that axis i of out walks, or -1 */
    int64_t first[TN_MAX_NDIM];  /* per axis of in: index at out's (0, …) */
    int64_t stride[TN_MAX_NDIM]; /* per axis of out: steps of the axis of in */
} step;

static void put(step *s, int from, int64_t n, int64_t stride)
{
    s->from[s->ndim] = from;
    s->want[s->ndim] = n;
    s->stride[s->ndim++] = stride;
}

/* Python's slice by its text: bounds from the end, clamped; then walk. */
static void mean_slice(step *s, int64_t n)
{
    int64_t start = s->start, stop = s->stop, count = 0;
    const int64_t low = s->by < 0 ? -1 : 0, high = s->by < 0 ? n - 1 : n;
    start = start < 0 ? start + n : start;
    stop = stop < 0 ? stop + n : stop;
    start = start < low ? low : start > high ? high : start;
    stop = stop < low ? low : stop > high ? high : stop;
    for (int64_t i = start; s->by > 0 ? i < stop : i > stop; count++)
        if (!tni_add(i, s->by, &i))
            i = s->by > 0 ? INT64_MAX : INT64_MIN;
    put(s, s->a, count, s->by);
    s->first[s->a] = count > 0 ? start : 0;
}

static int64_t some_bound(dice *d, int64_t n)
{
    return once_in(d, 10) ? (once_in(d, 2) ? INT64_MAX : INT64_MIN)
                          : between(d, -2 * n - 2, 2 * n + 2);
}

static int64_t some_step(dice *d)
{
    const int64_t by =
        once_in(d, 12) ? (once_in(d, 2) ? INT64_MAX : INT64_MIN) : between(d, 1, 3);
    return by > 0 && once_in(d, 2) ? -by : by;
}

static bool plan_window(dice *d, const tn_tensor *in, step *s)
{
    s->drops = 0;
    for (int i = 0; i < in->ndim; i++) {
        s->offset[i] = between(d, 0, in->shape[i]);
        s->shape[i] = between(d, 0, in->shape[i] - s->offset[i]);
        if (s->shape[i] == 0 && in->shape[i] > 0 && !once_in(d, 20)) {
            s->offset[i] = between(d, 0, in->shape[i] - 1);
            s->shape[i] = 1;
        }
        s->first[i] = s->offset[i];
        if (s->shape[i] == 1 && once_in(d, 2))
            s->axes[s->drops++] = i;
        else
            put(s, i, s->shape[i], 1);
    }
    if (s->drops > 1) { /* any order will do */
        const int keep = s->axes[0];
        s->axes[0] = s->axes[s->drops - 1];
        s->axes[s->drops - 1] = keep;
    }
    return true;
}

static bool plan_permute(dice *d, const tn_tensor *in, step *s)
{
    for (int i = 0; i < in->ndim; i++)
        s->axes[i] = i;
    for (int i = in->ndim - 1; i > 0; i--) {
        const int j = (int)between(d, 0, i), keep = s->axes[i];
        s->axes[i] = s->axes[j];
        s->axes[j] = keep;
    }
    for (int i = 0; i < in->ndim; i++)
        put(s, s->axes[i], in->shape[s->axes[i]], 1);
    return true;
}

static bool plan_broadcast(dice *d, const tn_tensor *in, step *s)
{
    const int more = (int)between(d, 0, in->ndim > 60 ? TN_MAX_NDIM - in->ndim : 3);
    for (int i = 0; i < more; i++)
        put(s, -1, between(d, once_in(d, 10) ? 0 : 1, 3), 0);
    for (int i = 0; i < in->ndim; i++)
        if (in->shape[i] == 1 && in->ndim < 8 && once_in(d, 2))
            put(s, -1, between(d, 0, 3), 0);
        else
            put(s, i, in->shape[i], 1);
    memcpy(s->shape, s->want, sizeof s->shape);
    return true;
}

/* The axes of in, with one replaced by what the call makes of it. */
static bool plan_axis(dice *d, const tn_tensor *in, step *s)
{
    const int64_t n = in->ndim > 0 ? in->shape[s->a] : 0;
    if (in->ndim == 0 || (s->kind == SQUEEZE && n != 1) || (s->kind == SELECT && n == 0))
        return false;
    if (s->kind == WINDOWS && in->ndim == TN_MAX_NDIM)
        return false;
    if (s->kind == WINDOWS) {
        s->start = between(d, 0, n);
        s->by = once_in(d, 10) ? INT64_MAX : between(d, 1, 3);
    }
    for (int i = 0; i < in->ndim; i++) {
        if (i != s->a) {
            put(s, i, in->shape[i], 1);
        } else if (s->kind == SLICE) {
            s->start = some_bound(d, n);
            s->stop = some_bound(d, n);
            s->by = some_step(d);
            mean_slice(s, n);
        } else if (s->kind == SELECT) {
            s->first[i] = s->start = between(d, 0, n - 1);
        } else if (s->kind == FLIP) {
            put(s, i, n, -1);
            s->first[i] = n - 1;
        } else if (s->kind == WINDOWS) {
            int64_t count = 0;
            for (int64_t at = 0; at <= n - s->start; count++)
                if (!tni_add(at, s->by, &at))
                    at = INT64_MAX;
            put(s, i, count, s->by);
        }
    }
    if (s->kind == WINDOWS)
        put(s, s->a, s->start, 1);
    return true;
}

static bool plan_pair(const tn_tensor *in, step *s)
{
    if (in->ndim == 0 || (s->kind == DIAGONAL && s->a == s->b))
        return false;
    for (int i = 0; i < in->ndim; i++) {
        const int from = i == s->a ? s->b : i == s->b ? s->a : i;
        if (s->kind == TRANSPOSE)
            put(s, from, in->shape[from], 1);
        else if (from == i)
            put(s, i, in->shape[i], 1);
    }
    if (s->kind == DIAGONAL) { /* from a; index_of_in lets b follow */
        const int64_t na = in->shape[s->a], nb = in->shape[s->b];
        put(s, s->a, na < nb ? na : nb, 1);
    }
    return true;
}

/* Draw arguments that in takes; false when it takes none. */
static bool plan(dice *d, const tn_tensor *in, step *s)
{
    memset(s, 0, sizeof *s);
    s->kind = (int)between(d, 0, VIEWS - 1);
    s->a = in->ndim ? (int)between(d, 0, in->ndim - 1) : 0;
    s->b = in->ndim ? (int)between(d, 0, in->ndim - 1) : 0;
    switch (s->kind) {
    case UNSQUEEZE:
        s->a = (int)between(d, 0, in->ndim);
        for (int i = 0; i <= in->ndim && in->ndim < TN_MAX_NDIM; i++) {
            if (i == s->a)
                put(s, -1, 1, 0);
            if (i < in->ndim)
                put(s, i, in->shape[i], 1);
        }
        return in->ndim < TN_MAX_NDIM;
    case SQUEEZE_ALL:
        for (int i = 0; i < in->ndim; i++)
            if (in->shape[i] != 1)
                put(s, i, in->shape[i], 1);
        return true;
    case PERMUTE:
        return plan_permute(d, in, s);
    case TRANSPOSE:
    case DIAGONAL:
        return plan_pair(in, s);
    case VIEW:
        return plan_window(d, in, s);
    case BROADCAST:
        return plan_broadcast(d, in, s);
    default:
        return plan_axis(d, in, s);
    }
}

static tn_status call(const step *s, tn_tensor *out, const tn_tensor *in)
{
    switch (s->kind) {
    case UNSQUEEZE:
        return tn_unsqueeze(out, in, s->a);
    case SQUEEZE:
        return tn_squeeze(out, in, s->a);
    case SQUEEZE_ALL:
        return tn_squeeze_all(out, in);
    case PERMUTE:
        return tn_permute(out, in, s->axes);
    case TRANSPOSE:
        return tn_transpose(out, in, s->a, s->b);
    case SLICE:
        return tn_slice(out, in, s->a, s->start, s->stop, s->by);
    case SELECT:
        return tn_select(out, in, s->a, s->start);
    case VIEW:
        return tn_view(out, in, s->shape, s->offset, s->axes, s->drops);
    case BROADCAST:
        return tn_broadcast_to(out, in, s->ndim, s->shape);
    case FLIP:
        return tn_flip(out, in, s->a);
    case DIAGONAL:
        return tn_diagonal(out, in, s->a, s->b);
    default:
        return tn_windows(out, in, s->a, s->start, s->by);
    }
}

static void index_of_in(const step *s, const tn_tensor *in, const int64_t *index, int64_t *at)
{
    memcpy(at, s->first, sizeof(int64_t) * (size_t)in->ndim);
    for (int i = 0; i < s->ndim; i++)
        if (s->from[i] >= 0 && index[i] > 0)
            at[s->from[i]] += index[i] * s->stride[i];
    if (s->kind == DIAGONAL)
        at[s->b] = at[s->a];
}

/* Only ndim entries are written; the others are as memset left them. */
static bool untouched_behind(const tn_tensor *t, int byte)
{
    for (int i = t->ndim; i < TN_MAX_NDIM; i++) {
        int64_t was;
        memset(&was, byte, sizeof was);
        if (t->shape[i] != was || t->stride[i] != was)
            return false;
    }
    return true;
}

static void compare(const step *s, const tn_tensor *in, const tn_tensor *out)
{
    const char *name = names[s->kind];
    if (out->ndim != s->ndim || out->dtype != in->dtype || out->device != in->device ||
        out->flags != in->flags)
        fail_msg("%s of%s: not inherited, or %d axes", name, layout_text(in), out->ndim);
    if (memcmp(out->shape, s->want, sizeof(int64_t) * (size_t)s->ndim) != 0)
        fail_msg("%s: shape is%s", name, layout_text(out));
    assert_int_equal(tni_check_sound(out, name), TN_OK);
    const int64_t count = slow_count(out->ndim, out->shape);
    const int64_t hop = count > 64 ? count / 64 : 1;
    for (int64_t flat = 0; flat < count; flat += hop) {
        int64_t index[TN_MAX_NDIM], at[TN_MAX_NDIM];
        slow_index(flat, out->ndim, out->shape, index);
        index_of_in(s, in, index, at);
        if ((uintptr_t)slow_address(out, index) != (uintptr_t)slow_address(in, at))
            fail_msg("%s of%s: element %lld is elsewhere", name, layout_text(in),
                     (long long)flat);
        if ((uintptr_t)tn_at(out, index) != (uintptr_t)slow_address(out, index))
            fail_msg("at of%s: element %lld is elsewhere", layout_text(out), (long long)flat);
    }
    if (count == 0 && out->data != in->data)
        fail_msg("%s of%s: an empty view has moved", name, layout_text(in));
}

/* Two, three, … views in a row, each made in a tensor of its own and in place. */
static void every_element_is_where_it_belongs(void **state)
{
    (void)state;
    dice d = {1};
    int made[VIEWS] = {0};
    for (int k = 0; k < 100000; k++) {
        tn_tensor t;
        random_layout(&d, &t, 4);
        for (int depth = 0; depth < 4; depth++) {
            step s;
            if (!plan(&d, &t, &s))
                continue;
            tn_tensor out, same = t, none = t;
            memset(&out, 0x77, sizeof out);
            if (call(&s, &out, &t) != TN_OK)
                fail_msg("%s of%s: %s", names[s.kind], layout_text(&t), tn_error());
            compare(&s, &t, &out);
            if (!untouched_behind(&out, 0x77))
                fail_msg("%s of%s: writes behind its axes", names[s.kind], layout_text(&t));
            assert_int_equal(call(&s, &same, &same), TN_OK);
            assert_true(tni_same(&same, &out));
            none.data = NULL;
            assert_int_equal(call(&s, &none, &none), TN_OK);
            assert_null(none.data);
            made[s.kind]++;
            if (slow_count(out.ndim, out.shape) < 5000)
                t = out;
        }
    }
    for (int kind = 0; kind < VIEWS; kind++)
        if (made[kind] < 2000)
            fail_msg("%s was drawn only %d times", names[kind], made[kind]);
}

/* ---- facts against the list of all addresses ---- */

static void facts_of_random_layouts(void **state)
{
    (void)state;
    dice d = {2};
    for (int k = 0; k < 100000; k++) {
        tn_tensor t;
        random_layout(&d, &t, 4);
        const int64_t count = slow_count(t.ndim, t.shape);
        const int64_t width = (int64_t)tn_dtype_size(t.dtype);
        bool dense = true;
        int64_t low = 0, high = 0, got_low, got_high;
        for (int64_t flat = 0; flat < count; flat++) {
            int64_t index[TN_MAX_NDIM], offset;
            slow_index(flat, t.ndim, t.shape, index);
            const int64_t at = (int64_t)(slow_address(&t, index) - (uintptr_t)t.data);
            dense &= at == flat * width;
            low = at < low ? at : low;
            high = at + width > high ? at + width : high;
            assert_int_equal(tn_index_to_offset(flat, t.ndim, t.shape, t.stride, &offset),
                             TN_OK);
            assert_int_equal(offset, at);
        }
        assert_int_equal(tn_numel(&t), count);
        assert_int_equal(tn_nbytes(&t), count * width);
        if (tn_is_contiguous(&t) != dense)
            fail_msg("contiguous:%s", layout_text(&t));
        assert_int_equal(tn_extent(&t, &got_low, &got_high), TN_OK);
        if (got_low != low || got_high != high)
            fail_msg("extent:%s", layout_text(&t));
    }
}

/* Axes walk memory as one when the distance between neighbours is always the same. */
static void mergeable_axes_walk_as_one(void **state)
{
    (void)state;
    dice d = {3};
    int merged = 0;
    for (int k = 0; k < 100000; k++) {
        tn_tensor t;
        random_layout(&d, &t, 3);
        if (t.ndim == 0)
            continue;
        const int first = (int)between(&d, 0, t.ndim - 1);
        const int last = (int)between(&d, first, t.ndim - 1);
        tn_tensor part = t;
        part.ndim = last - first + 1;
        memcpy(part.shape, t.shape + first, sizeof(int64_t) * (size_t)part.ndim);
        memcpy(part.stride, t.stride + first, sizeof(int64_t) * (size_t)part.ndim);
        const int64_t count = slow_count(part.ndim, part.shape);
        bool one = true;
        uint64_t before = (uintptr_t)t.data, gap = 0;
        for (int64_t flat = 1; flat < count; flat++) {
            int64_t index[TN_MAX_NDIM];
            slow_index(flat, part.ndim, part.shape, index);
            const uint64_t at = slow_address(&part, index);
            one &= flat == 1 || at - before == gap;
            gap = at - before;
            before = at;
        }
        const bool empty = slow_count(t.ndim, t.shape) == 0;
        if (tn_is_mergeable(&t, first, last) != (one || empty))
            fail_msg("mergeable %d to %d:%s", first, last, layout_text(&t));
        merged += one && last > first && count > 2;
    }
    assert_true(merged > 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_element_is_where_it_belongs),
        cmocka_unit_test(facts_of_random_layouts),
        cmocka_unit_test(mergeable_axes_walk_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
