/* 22_pad_hw.c - zeros around the last two axes of 2-D, 3-D and 4-D tensors. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor input2d, padded2d, input3d, padded3d, input4d, padded4d, input_int8, padded_int8;

    TN_MUST(tn_alloc(&input2d, TN_F32, 2, (int64_t[]){3, 4}));
    TN_MUST(tn_randn(&input2d, 42));
    TN_MUST(tn_pad_hw_copy(&padded2d, &input2d, 1));
    TN_EXPECT(padded2d.shape[0] == 5 && padded2d.shape[1] == 6);
    tn_show("(3, 4) padded by 1", &padded2d);

    /* channels first */
    TN_MUST(tn_alloc(&input3d, TN_F32, 3, (int64_t[]){2, 3, 4}));
    TN_MUST(tn_randn(&input3d, 123));
    TN_MUST(tn_pad_hw_copy(&padded3d, &input3d, 2));
    TN_EXPECT(padded3d.shape[0] == 2 && padded3d.shape[1] == 7 && padded3d.shape[2] == 8);

    /* batch, channels, height, width */
    TN_MUST(tn_alloc(&input4d, TN_F32, 4, (int64_t[]){2, 3, 4, 5}));
    TN_MUST(tn_randn(&input4d, 456));
    TN_MUST(tn_pad_hw_copy(&padded4d, &input4d, 1));
    TN_EXPECT(padded4d.shape[2] == 6 && padded4d.shape[3] == 7);

    /* small integers */
    TN_MUST(tn_alloc(&input_int8, TN_I8, 2, (int64_t[]){3, 4}));
    TN_MUST(tn_randint(&input_int8, 789, 0, 100));
    TN_MUST(tn_pad_hw_copy(&padded_int8, &input_int8, 1));
    tn_show("the same with int8", &padded_int8);

    tn_tensor *all[] = {&input2d, &padded2d, &input3d,    &padded3d,
                        &input4d, &padded4d, &input_int8, &padded_int8};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
