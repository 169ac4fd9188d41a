/* 23_into_inplace.c - results written to existing tensors, and tensors changed in place. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor input, output, pad_input, pad_output, tensor, tensor2;

    /* into: dst has the target shape */
    TN_MUST(tn_full(&input, TN_F32, 2, (int64_t[]){2, 3}, &(float){1.0f}));
    TN_MUST(tn_alloc(&output, TN_F32, 3, (int64_t[]){2, 1, 3}));
    TN_MUST(tn_unsqueeze_into(&output, &input));
    TN_EXPECT(*(float *)tn_at(&output, (int64_t[]){1, 0, 2}) == 1.0f);

    TN_MUST(tn_alloc(&pad_input, TN_F32, 2, (int64_t[]){3, 4}));
    TN_MUST(tn_randn(&pad_input, 321));
    TN_MUST(tn_alloc(&pad_output, TN_F32, 2, (int64_t[]){5, 6}));
    TN_MUST(tn_pad_hw_into(&pad_output, &pad_input, 1));
    TN_EXPECT(*(float *)pad_output.data == 0);

    /* in place: the descriptor changes, no element moves */
    TN_MUST(tn_full(&tensor, TN_F32, 2, (int64_t[]){2, 3}, &(float){1.0f}));
    void *data = tensor.data;
    TN_MUST(tn_unsqueeze_inplace(&tensor, 1));
    TN_EXPECT(tensor.ndim == 3 && tensor.shape[1] == 1 && tensor.data == data);

    TN_MUST(tn_full(&tensor2, TN_F32, 2, (int64_t[]){1, 4}, &(float){2.0f}));
    TN_MUST(tn_squeeze_inplace(&tensor2, 0));
    TN_EXPECT(tensor2.ndim == 1 && tensor2.shape[0] == 4);

    /* padding in place replaces the storage */
    TN_MUST(tn_squeeze_inplace(&tensor, 1));
    TN_MUST(tn_pad_hw_inplace(&tensor, 1));
    TN_EXPECT(tensor.shape[0] == 4 && tensor.shape[1] == 5);
    tn_show("ones in a frame of zeros", &tensor);

    tn_tensor *all[] = {&input, &output, &pad_input, &pad_output, &tensor, &tensor2};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
