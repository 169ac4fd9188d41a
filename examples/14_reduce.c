/* 14_reduce.c - a mean over any axes, a running sum, sums that do not depend on the layout. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor x, mean, transposed, a, b;
    TN_MUST(tn_alloc(&x, TN_F32, 3, (int64_t[]){4, 50, 60}));
    TN_MUST(tn_randn(&x, 7));

    /* over axes 0 and 2, which are kept with extent 1 */
    TN_MUST(tn_reduce_copy(&mean, TN_REDUCE_MEAN, NULL, &x, 2, (int[]){0, 2}, true));
    TN_EXPECT(mean.ndim == 3 && mean.shape[1] == 50 && mean.shape[2] == 1);
    tn_free(&mean);

    /* the same numbers in a different order in memory give the same bits */
    TN_MUST(tn_alloc(&transposed, TN_F32, 3, (int64_t[]){60, 50, 4}));
    TN_MUST(tn_permute(&a, &transposed, (int[]){2, 1, 0}));
    TN_MUST(tn_rearrange(&a, &x));
    float one, two;
    TN_MUST(tn_init(&b, &one, TN_F32, 0, NULL));
    TN_MUST(tn_reduce(TN_REDUCE_SUM, NULL, &b, &x, TN_ALL_AXES, NULL));
    b.data = &two;
    TN_MUST(tn_reduce(TN_REDUCE_SUM, NULL, &b, &a, TN_ALL_AXES, NULL));
    TN_EXPECT(one == two);

    /* 2^25 ones of f16 are 2^25, and their mean is 1 */
    const int64_t many = (int64_t)1 << 25;
    uint16_t half = 0x3c00;
    tn_tensor ones, sum;
    TN_MUST(tn_init_strided(&ones, &half, TN_F16, 1, &many, &(int64_t){0}));
    TN_MUST(tn_init(&sum, &one, TN_F32, 0, NULL));
    TN_MUST(tn_reduce(TN_REDUCE_SUM, NULL, &sum, &ones, TN_ALL_AXES, NULL));
    TN_EXPECT(one == 33554432.0f);

    /* a running sum with its initial 0 */
    int64_t steps[4] = {3, 1, 4, 1}, run[5];
    TN_MUST(tn_init(&a, steps, TN_I64, 1, (int64_t[]){4}));
    TN_MUST(tn_init(&b, run, TN_I64, 1, (int64_t[]){5}));
    TN_MUST(tn_scan(TN_SCAN_SUM, &b, &a, 0));
    tn_show("cumsum of 3 1 4 1", &b);
    TN_EXPECT(run[0] == 0 && run[4] == 9);

    tn_free(&x);
    tn_free(&transposed);
    return 0;
}
