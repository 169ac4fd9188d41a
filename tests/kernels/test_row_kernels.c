/* test_row_kernels.c - rms_norm of floats of 16 bits as they are: the same bits as of their
 * values in f32, for every tail and every instruction set here. */
#include <math.h>

#include "draw.h"
#include "kernels/kernels.h"
#include "layout.h"
#include "runtime/runtime.h"

static float value_of(uint16_t bits, bool brain)
{
    return brain ? tni_f32_of_bf16(bits) : tni_f32_of_f16(bits);
}

/* All exponents, so that the order of a sum shows; odd: infinities and NaN, too. */
static uint16_t draw_half(rng *r, bool brain, bool odd)
{
    for (;;) {
        const uint16_t bits = (uint16_t)next(r);
        if (odd || isfinite(value_of(bits, brain)))
            return bits;
    }
}

static void test_rms16(void **state)
{
    (void)state;
    rng r = {seed_asked()};
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int64_t c = 0; c < (TEST_WATCHED ? 300 : 3000); c++) {
            const tni_kernels *k = tni_kernels_of(isa);
            const int brain = (int)(next(&r) % 2);
            const int64_t n = c < 200 ? c + 1 : pick(&r, 1, TNI_TREE_BLOCK);
            const bool odd = next(&r) % 8 == 0, weighted = next(&r) % 2;
            const tni_row_typed *half = &k->row->of[brain ? TNI_TREE_BF16 : TNI_TREE_F16];
            if (!half->rms)
                continue;
            uint16_t *x = malloc((size_t)n * 2), *d = malloc((size_t)n * 2);
            float *wide = malloc((size_t)n * 4), *w = malloc((size_t)n * 4),
                  *y = malloc((size_t)n * 4);
            for (int64_t i = 0; i < n; i++) {
                x[i] = draw_half(&r, brain, odd);
                wide[i] = value_of(x[i], brain);
                w[i] = (float)pick(&r, -100, 100) / 7;
            }
            double want;
            k->tree->squares32(&want, (const char *)wide, n, 0, 1);
            const double got = k->row->squares16[brain]((const char *)x, n) + 0.0;
            if (!isnan(want) || !isnan(got))
                assert_memory_equal(&got, &(double){want + 0.0}, sizeof got);
            const double by = (double)pick(&r, 1, 1000) / 333;
            const char *weight = weighted ? (const char *)w : NULL;
            k->row->of[TNI_TREE_F32].rms((char *)y, (const char *)wide, weight, n, by, false);
            half->rms((char *)d, (const char *)x, weight, n, by, false);
            for (int64_t i = 0; i < n; i++)
                assert_int_equal(d[i], brain ? tni_bf16_of_f32(y[i]) : tni_f16_of_f32(y[i]));
            free(x), free(d), free(wide), free(w), free(y);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rms16)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
