/* test_rearrange_random.c - copies between random layouts, each against the oracle.
 *
 * The seed is printed; TEST_SEED sets it, and TEST_CASES the number of cases.  A failure prints
 * the seed that repeats its case alone (with TEST_CASES=1). */
#include <time.h>
#include <unistd.h>

#include "copy_oracle.h"

enum { USUAL_CASES = TEST_WATCHED ? 8500 : 170000 };

/* Extents of a case: small inner axes often, now and then an empty one. */
static int pick_shape(rng *r, int64_t *shape, int64_t budget)
{
    int ndim = (int)(next(r) % 16 ? pick(r, 0, 8) : pick(r, 9, TN_MAX_NDIM));
    int64_t count = 1;
    for (int i = ndim - 1; i >= 0; i--) {
        int64_t most = budget / count, n;
        switch (next(r) % 8) {
        case 0:
            n = 1;
            break;
        case 1:
            n = pick(r, 1, 3);
            break;
        case 2:
            n = pick(r, 1, 80);
            break;
        case 3:
            n = ndim <= 3 ? pick(r, 1, most) : (int64_t)1 << pick(r, 0, 6);
            break;
        default:
            n = pick(r, 2, 17);
        }
        if (ndim > 8 && next(r) % 4)
            n = 1;
        shape[i] = n < most ? n : most;
        count *= shape[i];
    }
    if (ndim && next(r) % 64 == 0)
        shape[pick(r, 0, ndim - 1)] = 0;
    return ndim;
}

static void shuffle(rng *r, int *order, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)pick(r, 0, i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
}

/* Lay the axes out in memory in any order, with gaps, reversed, or (src) repeated; the strides
 * of axes that are not walked are garbage. */
static tn_tensor pick_layout(rng *r, tn_dtype dtype, int ndim, const int64_t *shape, bool src)
{
    int64_t width = (int64_t)tn_dtype_size(dtype), step = width, stride[TN_MAX_NDIM];
    int order[TN_MAX_NDIM];
    bool gaps = next(r) % 3 == 0, reversed = next(r) % 4 == 0,
         repeats = src && next(r) % 8 == 0;
    for (int i = 0; i < ndim; i++)
        order[i] = ndim - 1 - i;
    if (src ? next(r) % 8 : next(r) % 3 == 0)
        shuffle(r, order, ndim);
    else if (ndim > 1 && next(r) % 2)
        shuffle(r, order, (int)pick(r, 2, ndim)); /* the inner axes only */
    for (int i = 0; i < ndim; i++) {
        int a = order[i];
        if (shape[a] <= 1) {
            stride[a] = (int64_t)next(r);
            continue;
        }
        if (gaps && next(r) % 3 == 0)
            step += pick(r, 1, 3) * (next(r) % 4 ? width : 1);
        stride[a] = reversed && next(r) % 2 ? -step : step;
        if (repeats && next(r) % 2)
            stride[a] = 0;
        else
            step *= shape[a];
    }
    tn_tensor t;
    OK(tn_init_strided(&t, NULL, dtype, ndim, shape, stride));
    return t;
}

static int64_t pick_shift(rng *r, int64_t width)
{
    switch (next(r) % 4) {
    case 0:
        return pick(r, 0, 63);
    case 1:
        return pick(r, 0, 64 / width - 1) * width;
    default:
        return 0;
    }
}

/* One case, made of its seed alone. */
static bool agrees(uint64_t seed, char *said, size_t size)
{
    rng r = {seed};
    int64_t shape[TN_MAX_NDIM];
    tn_dtype dtype = dtype_of_width[next(&r) % WIDTHS];
    int64_t width = (int64_t)tn_dtype_size(dtype);
    uint64_t kind = next(&r) % 256;
    int64_t budget = kind < 2 ? 600000 / width : kind < 64 ? 4096 : 400;
    int ndim = pick_shape(&r, shape, budget);
    tn_tensor d = pick_layout(&r, dtype, ndim, shape, false);
    tn_tensor s = pick_layout(&r, dtype, ndim, shape, true);
    ground src = ground_make(&r, &s, pick_shift(&r, width));
    ground dst = ground_make(&r, &d, pick_shift(&r, width)), want = ground_twin(&dst);
    int threads = (int)(next(&r) % THREAD_COUNTS);
    OK(tn_handle_use(handle_of[threads]));
    copy_oracle(&want.t, &src.t);
    if (next(&r) % 2) {
        OK(tn_rearrange(&dst.t, &src.t));
    } else {
        tn_plan *plan;
        OK(tn_plan_rearrange(&plan, &d, &s));
        OK(tn_plan_run(plan, dst.t.data, (const void *const[]){src.t.data}));
        tn_plan_free(plan);
    }
    bool same = same_ground(&dst, &want);
    if (!same)
        snprintf(
            said, size, "%s, %d threads, addresses %% 64 are %d and %d\n  dst %s\n  src %s",
            tn_dtype_name(dtype), thread_counts[threads], (int)((uintptr_t)dst.t.data % 64),
            (int)((uintptr_t)src.t.data % 64), describe(&d), describe(&s));
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return same;
}

static uint64_t number(const char *name, uint64_t usual)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : usual;
}

static void random_copies(void **state)
{
    (void)state;
    uint64_t seed =
        number("TEST_SEED", ((uint64_t)time(NULL) << 20 ^ (uint64_t)getpid()) << 20);
    uint64_t cases = number("TEST_CASES", USUAL_CASES);
    printf("seed %llu, %llu cases, %s\n", (unsigned long long)seed, (unsigned long long)cases,
           tn_isa());
    fflush(stdout);
    char said[1500];
    for (uint64_t i = 0; i < cases; i++)
        if (!agrees(seed + i, said, sizeof said))
            fail_msg("TEST_SEED=%llu TEST_CASES=1: %s", (unsigned long long)(seed + i), said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_copies)};
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
