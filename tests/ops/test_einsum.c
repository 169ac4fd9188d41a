/* test_einsum.c - contractions of every class, dtype and layout against slow loops. */
#include "contract_draw.h"
#include "draw.h"

enum { CASES = TEST_WATCHED ? 250 : 1500, WORK = 40000 };

static block draw_operand(rng *r, draw_case *c, int k)
{
    int64_t shape[16];
    const int ndim = (int)strlen(c->letters[k]);
    for (int i = 0; i < ndim; i++)
        shape[i] = c->extent[(int)c->letters[k][i]];
    block b = block_make(r, k ? c->dtype[k - 1] : c->dst, ndim, shape, next(r) % 3 > 0, k > 0);
    if (k)
        oracle_fill(r, &b.t, tni_dtypes[c->met].kind <= TNI_UNSIGNED);
    return b;
}

/* Every element of got, and every byte of its block that belongs to none. */
static void compare(const draw_case *c, const block *got, const block *before,
                    const tn_tensor *const *srcs, const char *spec, uint64_t seed)
{
    int64_t at[TN_MAX_NDIM] = {0}, index[ORACLE_LETTERS] = {0};
    const char *letters[1 + TN_EINSUM_SOURCES];
    for (int k = 0; k <= c->n; k++)
        letters[k] = c->letters[k];
    block gaps = block_twin(got);
    do {
        for (int i = 0; i < got->t.ndim; i++)
            index[(int)letters[0][i]] = at[i];
        const oracle_sum s = oracle_element(c->n, letters, srcs, c->extent, index);
        if (!oracle_close(&s, c->met, c->dst, element(&got->t, at)))
            fail_msg("seed %llu: \"%s\" %s into %s: got %Lg, expected %Lg",
                     (unsigned long long)seed, spec, tn_dtype_name(c->met),
                     tn_dtype_name(c->dst), oracle_read(c->dst, element(&got->t, at)).re,
                     s.sum.re);
        memcpy(element(&gaps.t, at), element(&before->t, at), tn_dtype_size(c->dst));
    } while (index_next(at, got->t.ndim, got->t.shape));
    SAME_BLOCKS(&gaps, before, "seed %llu: \"%s\" wrote beside dst\n", (unsigned long long)seed,
                spec);
    block_free(&gaps);
}

static void run_case(uint64_t seed)
{
    rng r = {seed};
    draw_case c = {0};
    char spec[256];
    block b[1 + TN_EINSUM_SOURCES];
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    draw_letters(&r, &c, WORK);
    draw_dtypes(&r, &c);
    spec_of(&c, false, spec);
    for (int k = 0; k <= c.n; k++)
        b[k] = draw_operand(&r, &c, k);
    for (int k = 0; k < c.n; k++)
        srcs[k] = &b[k + 1].t;
    block before = block_twin(&b[0]);
    if (tn_einsum(&b[0].t, spec, c.n, srcs) != TN_OK)
        fail_msg("seed %llu: \"%s\": %s", (unsigned long long)seed, spec, tn_error());
    compare(&c, &b[0], &before, srcs, spec, seed);

    /* a plan gives the same bits, and so do words */
    block again = block_twin(&before);
    const void *data[TN_EINSUM_SOURCES];
    tn_plan *plan;
    for (int k = 0; k < c.n; k++)
        data[k] = srcs[k]->data;
    OK(tn_plan_einsum(&plan, &again.t, spec, c.n, srcs));
    OK(tn_plan_run(plan, again.t.data, data));
    SAME_BLOCKS(&again, &b[0], "seed %llu: \"%s\": a plan differs\n", (unsigned long long)seed,
                spec);
    tn_plan_free(plan);
    for (int k = 0; k <= c.n; k++)
        block_free(&b[k]);
    block_free(&before);
    block_free(&again);
}

static void random_contractions(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", CASES);
    print_message("TEST_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < cases; i++)
        run_case(seed + i);
}

/* Cases that once went wrong. */
static void known_contractions(void **state)
{
    (void)state;
    static const uint64_t seeds[] = {
        UINT64_C(18107579941381997592), /* a broadcast axis of rows, cut into unequal blocks */
    };
    for (size_t i = 0; i < sizeof seeds / sizeof seeds[0]; i++)
        run_case(seeds[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_contractions),
                                       cmocka_unit_test(random_contractions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
