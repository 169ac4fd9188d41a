/* test_einsum.c - contractions of every class, dtype and layout against slow loops. */
#include "contract_draw.h"
#include "draw.h"

enum { CASES = TEST_WATCHED ? 250 : 1500, WORK = 40000 };

static block draw_operand(rng *r, draw_case *c, int k)
{
    int64_t shape[16];
    const int ndim = (int)strlen(c->letters[k]);
    for (int i = 0; i < ndim; i++) /* an extent of 1 repeats */
        shape[i] = k && next(r) % 16 == 0 ? 1 : c->extent[(int)c->letters[k][i]];
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

/* Extents of names that no source has whole are 1. */
static void settle_extents(draw_case *c, const block *b)
{
    for (int letter = 'A'; letter <= 'z'; letter++) {
        int64_t n = 0;
        for (int k = 1; k <= c->n; k++)
            for (int i = 0; c->letters[k][i]; i++)
                if (c->letters[k][i] == letter && b[k].t.shape[i] > n)
                    n = b[k].t.shape[i];
        c->extent[letter] = n ? n : c->extent[letter];
    }
}

/* The text of a case: a word of one name alone is NumPy's, so words need a term of two. */
static draw_text draw_way(rng *r, draw_case *c)
{
    draw_text how = (draw_text)(next(r) % 6);
    bool two = false;
    for (int k = 0; k <= c->n; k++)
        two |= strlen(c->letters[k]) > 1;
    if (how == DRAW_IMPLIED)
        draw_implied(c);
    else if (how == DRAW_DOTS)
        draw_dots(r, c);
    else if (how != DRAW_WORDS || !two)
        how = DRAW_LETTERS;
    return how;
}

/* The call and a plan of it, which gives the same bits; frees the blocks. */
static void check_case(const draw_case *c, block *b, const char *spec, uint64_t seed)
{
    const tn_tensor *srcs[TN_EINSUM_SOURCES];
    const void *data[TN_EINSUM_SOURCES];
    tn_plan *plan;
    for (int k = 0; k < c->n; k++) {
        srcs[k] = &b[k + 1].t;
        data[k] = srcs[k]->data;
    }
    block before = block_twin(&b[0]);
    if (tn_einsum(&b[0].t, spec, c->n, srcs) != TN_OK)
        fail_msg("seed %llu: \"%s\": %s", (unsigned long long)seed, spec, tn_error());
    compare(c, &b[0], &before, srcs, spec, seed);
    block again = block_twin(&before);
    OK(tn_plan_einsum(&plan, &again.t, spec, c->n, srcs));
    OK(tn_plan_run(plan, again.t.data, data));
    SAME_BLOCKS(&again, &b[0], "seed %llu: \"%s\": a plan differs\n", (unsigned long long)seed,
                spec);
    tn_plan_free(plan);
    for (int k = 0; k <= c->n; k++)
        block_free(&b[k]);
    block_free(&before);
    block_free(&again);
}

static void run_case(uint64_t seed)
{
    rng r = {seed};
    draw_case c = {0};
    char spec[512];
    block b[1 + TN_EINSUM_SOURCES];
    draw_letters(&r, &c, WORK);
    draw_dtypes(&r, &c);
    spec_of(&c, draw_way(&r, &c), spec);
    for (int k = 1; k <= c.n; k++)
        b[k] = draw_operand(&r, &c, k);
    settle_extents(&c, b);
    b[0] = draw_operand(&r, &c, 0);
    check_case(&c, b, spec, seed);
}

static void random_contractions(void **state)
{
    (void)state;
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", CASES);
    print_message("TEST_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t i = 0; i < cases; i++)
        run_case(seed + i);
}

/* Once went wrong: a broadcast axis of rows, cut into unequal blocks. */
static void known_contractions(void **state)
{
    (void)state;
    static const struct {
        tn_dtype dtype;
        int64_t stride[4];
    } laid[] = {{TN_C64, {-4608, 2304, 144, -8}},
                {TN_BF16, {2, 512, 32}},
                {TN_BF16, {64, 4, 2}},
                {TN_C64, {0, 16, 8}}};
    draw_case c = {.n = 3, .letters = {"abce", "cdc", "acb", "aed"}, .met = TN_C64};
    block b[4];
    rng r = {1};
    c.dst = TN_C64;
    c.extent['a'] = c.extent['e'] = 17;
    c.extent['b'] = c.extent['d'] = 2;
    c.extent['c'] = 16;
    for (int k = 0; k < 4; k++) {
        int64_t shape[4], low = 0, high = (int64_t)tn_dtype_size(laid[k].dtype);
        const int ndim = (int)strlen(c.letters[k]);
        for (int i = 0; i < ndim; i++) {
            shape[i] = c.extent[(int)c.letters[k][i]];
            const int64_t far = (shape[i] - 1) * laid[k].stride[i];
            *(far < 0 ? &low : &high) += far;
        }
        b[k].size = (size_t)(high - low);
        b[k].bytes = calloc(1, b[k].size);
        assert_non_null(b[k].bytes);
        OK(tn_init_strided(&b[k].t, b[k].bytes - low, laid[k].dtype, ndim, shape,
                           laid[k].stride));
        if (k)
            oracle_fill(&r, &b[k].t, false);
    }
    check_case(&c, b, "cdc,acb,aed->abce", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_contractions),
                                       cmocka_unit_test(random_contractions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
