/* 23_into_inplace.c - results in tensors that are there already, and tensors that change. */
#include "example.h"

int main(void)
{
    tn_tensor input, output, pad_input, pad_output, tensor, tensor2;

    /* into: dst has the target shape */
    OK(tn_full(&input, TN_F32, 2, (int64_t[]){2, 3}, &(float){1.0f}));
    OK(tn_alloc(&output, TN_F32, 3, (int64_t[]){2, 1, 3}));
    OK(tn_unsqueeze_into(&output, &input));
    CHECK(*(float *)tn_at(&output, (int64_t[]){1, 0, 2}) == 1.0f);

    OK(tn_alloc(&pad_input, TN_F32, 2, (int64_t[]){3, 4}));
    OK(tn_randn(&pad_input, 321));
    OK(tn_alloc(&pad_output, TN_F32, 2, (int64_t[]){5, 6}));
    OK(tn_pad_hw_into(&pad_output, &pad_input, 1));
    CHECK(*(float *)pad_output.data == 0);

    /* in place: the descriptor changes, no element moves */
    OK(tn_full(&tensor, TN_F32, 2, (int64_t[]){2, 3}, &(float){1.0f}));
    void *data = tensor.data;
    OK(tn_unsqueeze_inplace(&tensor, 1));
    CHECK(tensor.ndim == 3 && tensor.shape[1] == 1 && tensor.data == data);

    OK(tn_full(&tensor2, TN_F32, 2, (int64_t[]){1, 4}, &(float){2.0f}));
    OK(tn_squeeze_inplace(&tensor2, 0));
    CHECK(tensor2.ndim == 1 && tensor2.shape[0] == 4);

    /* padding in place replaces the storage */
    OK(tn_squeeze_inplace(&tensor, 1));
    OK(tn_pad_hw_inplace(&tensor, 1));
    CHECK(tensor.shape[0] == 4 && tensor.shape[1] == 5);
    show("ones in a frame of zeros", &tensor);

    tn_tensor *all[] = {&input, &output, &pad_input, &pad_output, &tensor, &tensor2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
