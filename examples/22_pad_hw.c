/* 22_pad_hw.c - zeros around the last two axes of 2-D, 3-D and 4-D tensors. */
#include "example.h"

int main(void)
{
    tn_tensor input2d, padded2d, input3d, padded3d, input4d, padded4d, input_int8, padded_int8;

    OK(tn_alloc(&input2d, TN_F32, 2, (int64_t[]){3, 4}));
    OK(tn_randn(&input2d, 42));
    OK(tn_pad_hw_copy(&padded2d, &input2d, 1));
    CHECK(padded2d.shape[0] == 5 && padded2d.shape[1] == 6);
    show("(3, 4) padded by 1", &padded2d);

    /* channels first */
    OK(tn_alloc(&input3d, TN_F32, 3, (int64_t[]){2, 3, 4}));
    OK(tn_randn(&input3d, 123));
    OK(tn_pad_hw_copy(&padded3d, &input3d, 2));
    CHECK(padded3d.shape[0] == 2 && padded3d.shape[1] == 7 && padded3d.shape[2] == 8);

    /* batch, channels, height, width */
    OK(tn_alloc(&input4d, TN_F32, 4, (int64_t[]){2, 3, 4, 5}));
    OK(tn_randn(&input4d, 456));
    OK(tn_pad_hw_copy(&padded4d, &input4d, 1));
    CHECK(padded4d.shape[2] == 6 && padded4d.shape[3] == 7);

    /* small integers */
    OK(tn_alloc(&input_int8, TN_I8, 2, (int64_t[]){3, 4}));
    OK(tn_randint(&input_int8, 789, 0, 100));
    OK(tn_pad_hw_copy(&padded_int8, &input_int8, 1));
    show("the same with int8", &padded_int8);

    tn_tensor *all[] = {&input2d, &padded2d, &input3d,    &padded3d,
                        &input4d, &padded4d, &input_int8, &padded_int8};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
