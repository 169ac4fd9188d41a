/* test_contract_guard.c - contractions touch the bytes of their operands and no others: each
 * operand lies between two pages that cannot be touched, at the low and at the high end. */
#include "contract_oracle.h"
#include "draw.h"
#include "fence.h"

enum { CASES = TEST_WATCHED ? 150 : 1200 };

/* A dense tensor at an edge, its axes in memory in an order of its own. */
static tn_tensor edge_tensor(rng *r, const fenced *f, tn_dtype t, int ndim,
                             const int64_t *shape)
{
    int order[3] = {0, 1, 2};
    int64_t stride[3], step = (int64_t)tn_dtype_size(t);
    for (int i = ndim - 1; i > 0; i--) {
        const int j = (int)pick(r, 0, i), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
    for (int i = ndim - 1; i >= 0; i--) {
        stride[order[i]] = step;
        step *= shape[order[i]];
    }
    tn_tensor out;
    OK(tn_init_strided(&out, at_edge(f, step, next(r) % 2), t, ndim, shape, stride));
    return out;
}

static void check_corner(rng *r, const tn_tensor *d, const tn_tensor *const *srcs, int64_t b,
                         tn_dtype met, const char *what)
{
    static const char *const letters[] = {"bij", "bik", "bkj"};
    int64_t extent[ORACLE_LETTERS] = {['b'] = b}, index[ORACLE_LETTERS] = {0}, at[3];
    extent['i'] = d->shape[1];
    extent['j'] = d->shape[2];
    extent['k'] = srcs[0]->shape[2];
    for (int corner = 0; corner < 3; corner++) {
        for (int i = 0; i < 3; i++)
            at[i] = corner == 0   ? 0
                    : corner == 1 ? d->shape[i] - 1
                                  : pick(r, 0, d->shape[i] - 1);
        for (int i = 0; i < 3; i++)
            index[(int)letters[0][i]] = at[i];
        const oracle_sum s = oracle_element(2, letters, srcs, extent, index);
        if (!oracle_close(&s, met, d->dtype, element(d, at)))
            fail_msg("%s: got %Lg, expected %Lg", what,
                     oracle_read(d->dtype, element(d, at)).re, s.sum.re);
    }
}

static void between_pages(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32,  TN_F64,    TN_F16, TN_BF16,  TN_C64,
                                     TN_C128, TN_F8E4M3, TN_I8,  TN_I16,   TN_I32,
                                     TN_I64,  TN_BOOL,   TN_U8,  TN_F8E5M2};
    static const int64_t extents[] = {1,  2,  3,  4,  5,  6,  7,  8,  12,
                                      13, 16, 17, 31, 32, 33, 64, 130};
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", CASES);
    fenced f[3];
    for (int i = 0; i < 3; i++)
        f[i] = fence_off();
    watch_fences();
    print_message("TEST_SEED=%llu\n", (unsigned long long)seed);
    for (uint64_t c = 0; c < cases; c++) {
        rng r = {seed + c};
        const tn_dtype t = types[next(&r) % (sizeof types / sizeof *types)];
        int64_t n[3];
        for (int i = 0; i < 3; i++)
            n[i] = extents[next(&r) % (sizeof extents / sizeof *extents)];
        if (next(&r) % 6 == 0) /* a matrix that comes from memory: rows and vectors */
            n[next(&r) % 3] = pick(&r, 1, 1100);
        int64_t b = next(&r) % 3 ? 1 : pick(&r, 2, 9);
        while (b > 1 && b * 16 * (n[0] * n[1] + n[1] * n[2] + n[0] * n[2]) > ROOM)
            b--;
        const int64_t sd[] = {b, n[0], n[1]}, sa[] = {b, n[0], n[2]}, sb[] = {b, n[2], n[1]};
        if (sd[1] * sd[2] * 16 > ROOM || sa[1] * sa[2] * 16 > ROOM || sb[1] * sb[2] * 16 > ROOM)
            continue;
        tn_tensor d = edge_tensor(&r, &f[0], t, 3, sd), x = edge_tensor(&r, &f[1], t, 3, sa),
                  y = edge_tensor(&r, &f[2], t, 3, sb);
        const bool wrap = tni_dtypes[t].kind <= TNI_UNSIGNED;
        oracle_fill(&r, &x, wrap);
        oracle_fill(&r, &y, wrap);
        snprintf(now, sizeof now, "seed %llu: %s %lld x (%lld x %lld x %lld)",
                 (unsigned long long)(seed + c), tn_dtype_name(t), (long long)b,
                 (long long)n[0], (long long)n[1], (long long)n[2]);
        OK(tn_matmul(&d, &x, &y));
        const tn_tensor *const srcs[] = {&x, &y};
        check_corner(&r, &d, srcs, b, t, now);
        if (t != TN_BOOL) /* dst is read, too */
            OK(tn_gemm(&d, -1, &x, &y, 1, NULL));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(between_pages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
