/* test_rearrange_random.c - copies between random layouts, each against the oracle.
 *
 * The seed is printed; TEST_SEED sets it, and TEST_CASES the number of cases.  A failure prints
 * the seed that repeats its case alone (with TEST_CASES=1). */
#include "draw.h"
#include "plan/plan.h"

enum { USUAL_CASES = TEST_WATCHED ? 8500 : 60000 };

static int64_t scalar_plans; /* of copies that have no other way */

/* Few axes that take up most of the budget: several tiles along each, and work for threads. */
static int pick_long(rng *r, int64_t *shape, int64_t budget)
{
    int ndim = (int)pick(r, 2, 4);
    for (int i = 0; i < ndim; i++) {
        int64_t most = i + 1 < ndim ? (int64_t)1 << pick(r, 1, 12) : budget;
        most = most < budget ? most : budget;
        shape[i] = pick(r, (most + 1) / 2, most);
        budget /= shape[i];
    }
    return ndim;
}

static bool has_dense_axis(const tn_tensor *t)
{
    const int64_t width = (int64_t)tn_dtype_size(t->dtype);
    for (int i = 0; i < t->ndim; i++)
        if (t->shape[i] > 1 && (t->stride[i] == width || t->stride[i] == -width))
            return true;
    return false;
}

/* Elements are handled one at a time only where neither side has two that are neighbours. */
static bool scalar_for_a_reason(const tn_facts *f, const tn_tensor *d, const tn_tensor *s)
{
    if (f->scalar && !has_dense_axis(d) && !has_dense_axis(s))
        scalar_plans++;
    return !f->scalar || tn_numel(d) <= 64 || !(has_dense_axis(d) || has_dense_axis(s));
}

/* The plan that tn_rearrange makes, which knows dst's address. */
static tn_facts facts_of_call(const tn_tensor *d, const tn_tensor *s)
{
    tni_copy c;
    tn_facts f = {.dtype = d->dtype};
    tni_copy_plan(&c, d, s);
    tni_copy_facts(&c, &f);
    return f;
}

/* One case, made of its seed alone. */
static bool agrees(uint64_t seed, char *said, size_t size)
{
    rng r = {seed};
    int64_t shape[TN_MAX_NDIM];
    tn_dtype dtype = dtype_of_width[next(&r) % WIDTHS];
    int64_t width = (int64_t)tn_dtype_size(dtype);
    uint64_t kind = next(&r) % 256;
    int64_t budget = kind < 3 ? 600000 / width : kind < 64 ? 4096 : 400;
    int ndim = (kind < 2 ? pick_long : pick_shape)(&r, shape, budget);
    tn_tensor d = pick_layout(&r, dtype, ndim, shape, false);
    tn_tensor s = pick_layout(&r, dtype, ndim, shape, true);
    ground src = ground_make(&r, &s, pick_shift(&r, width));
    ground dst = ground_make(&r, &d, pick_shift(&r, width)), want = ground_twin(&dst);
    int threads = (int)(next(&r) % THREAD_COUNTS);
    OK(tn_handle_use(handle_of[threads]));
    copy_oracle(&want.t, &src.t);
    tn_facts f;
    if (next(&r) % 2) {
        f = facts_of_call(&dst.t, &src.t);
        OK(tn_rearrange(&dst.t, &src.t));
    } else {
        tn_plan *plan;
        OK(tn_plan_rearrange(&plan, &d, &s));
        OK(tn_plan_facts(&f, plan));
        threads = (int)(next(&r) % THREAD_COUNTS);
        OK(tn_handle_use(handle_of[threads])); /* another one than the plan was made with */
        OK(tn_plan_run(plan, dst.t.data, (const void *const[]){src.t.data}));
        tn_plan_free(plan);
    }
    const bool reason = scalar_for_a_reason(&f, &d, &s);
    bool same = same_ground(&dst, &want) && reason;
    if (!same)
        snprintf(said, size,
                 "%s%s, %d threads, addresses %% 64 are %d and %d\n  dst %s\n  src %s",
                 reason ? "" : "one element at a time: ", tn_dtype_name(dtype),
                 thread_counts[threads], (int)((uintptr_t)dst.t.data % 64),
                 (int)((uintptr_t)src.t.data % 64), describe(&d), describe(&s));
    ground_free(&src);
    ground_free(&dst);
    ground_free(&want);
    return same;
}

static void random_copies(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", USUAL_CASES);
    printf("seed %llu, %llu cases, %s\n", (unsigned long long)seed, (unsigned long long)cases,
           tn_isa());
    fflush(stdout);
    char said[1500];
    for (uint64_t i = 0; i < cases; i++)
        if (!agrees(seed + i, said, sizeof said))
            fail_msg("TEST_SEED=%llu TEST_CASES=1: %s", (unsigned long long)(seed + i), said);
    if (cases == USUAL_CASES)
        assert_true(scalar_plans > 0); /* the fact is said where it is true */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_copies)};
    return cmocka_run_group_tests(tests, make_handles, drop_handles);
}
