/* test_einsum.c - contractions of every class, dtype and layout against slow loops. */
#include "contract_oracle.h"
#include "draw.h"

enum { CASES = TEST_WATCHED ? 250 : 1500, WORK = 40000 };

/* Extents of letters from the sources; a source may have 1 where others have more. */
typedef struct draw_case {
    int n;
    char letters[1 + TN_EINSUM_SOURCES][16];
    int64_t extent[ORACLE_LETTERS];
    tn_dtype dtype[TN_EINSUM_SOURCES], met, dst;
} draw_case;

static tn_dtype accumulator(rng *r, tn_dtype met)
{
    static const tn_dtype wide[] = {TN_I16, TN_I32, TN_I64, TN_U32};
    if (met >= TN_F8E4M3 && met <= TN_BF16)
        return next(r) % 2 ? TN_F32 : met;
    tn_dtype to = wide[next(r) % 4], both;
    if (tni_dtypes[met].kind <= TNI_UNSIGNED && next(r) % 2 &&
        tn_promote(&both, met, to) == TN_OK && both == to)
        return to;
    return met;
}

static void draw_dtypes(rng *r, draw_case *c)
{
    for (;;) {
        const tn_dtype one = pick_dtype(r);
        c->met = c->dtype[0] = one;
        bool meets = true;
        for (int k = 1; k < c->n; k++) {
            c->dtype[k] = next(r) % 4 ? one : pick_dtype(r);
            tn_dtype with = c->met;
            meets = meets && tn_promote(&c->met, with, c->dtype[k]) == TN_OK;
        }
        if (meets)
            break;
    }
    c->dst = accumulator(r, c->met);
}

/* Letters of each source, some shared; dst gets about half of them. */
static void draw_letters(rng *r, draw_case *c)
{
    static const int64_t usual[] = {1, 2, 3, 4, 5, 7, 8, 16, 17, 33};
    const int letters = (int)pick(r, 1, 6);
    double work = 1;
    c->n = next(r) % 8 ? (int)pick(r, 1, 2) : (int)pick(r, 3, 5);
    for (int i = 0; i < letters; i++) {
        int64_t n = usual[next(r) % 10];
        while (n > 1 && work * (double)n > WORK)
            n /= 2;
        c->extent['a' + i] = n;
        work *= (double)n;
    }
    bool used[8] = {false};
    for (int k = 1; k <= c->n; k++) {
        int count = 0;
        for (int i = 0; i < letters; i++)
            if (next(r) % 2) {
                c->letters[k][count++] = (char)('a' + i);
                used[i] = true;
            }
        if (count && count < 8 && next(r) % 16 == 0) /* a diagonal */
            c->letters[k][count++] = c->letters[k][0];
        c->letters[k][count] = 0;
        for (int i = count - 1; i > 0; i--) {
            const int j = (int)pick(r, 0, i);
            const char was = c->letters[k][i];
            c->letters[k][i] = c->letters[k][j];
            c->letters[k][j] = was;
        }
    }
    int count = 0;
    for (int i = 0; i < letters; i++)
        if (used[i] && next(r) % 5 > 1)
            c->letters[0][count++] = (char)('a' + i);
    c->letters[0][count] = 0;
    for (int i = count - 1; i > 0; i--) {
        const int j = (int)pick(r, 0, i);
        const char was = c->letters[0][i];
        c->letters[0][i] = c->letters[0][j];
        c->letters[0][j] = was;
    }
}

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

static void spec_of(const draw_case *c, bool words, char *out)
{
    for (int k = 1; k <= c->n + 1; k++) {
        for (const char *p = c->letters[k % (c->n + 1)]; *p; p++)
            out += sprintf(out, words ? "%c%c " : "%c", *p, *p);
        out += sprintf(out, k < c->n ? ", " : k == c->n ? " -> " : "");
    }
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
    draw_letters(&r, &c);
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
