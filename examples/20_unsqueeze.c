/* 20_unsqueeze.c - a new axis of extent 1: a scalar becomes a vector, a vector a matrix. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor scalar, vec, vec1d, mat, mat2d, tensor3d;

    /* scalar to 1-D */
    TN_MUST(tn_full(&scalar, TN_F32, 0, NULL, &(float){3.14f}));
    TN_MUST(tn_unsqueeze_copy(&vec, &scalar, 0));
    TN_EXPECT(vec.ndim == 1 && vec.shape[0] == 1);

    /* 1-D to 2-D */
    TN_MUST(tn_full(&vec1d, TN_F32, 1, (int64_t[]){3}, &(float){2.0f}));
    TN_MUST(tn_unsqueeze_copy(&mat, &vec1d, 0));
    TN_EXPECT(mat.ndim == 2 && mat.shape[0] == 1 && mat.shape[1] == 3);

    /* 2-D to 3-D, the new axis is axis 1 */
    TN_MUST(tn_full(&mat2d, TN_F32, 2, (int64_t[]){2, 3}, &(float){1.0f}));
    TN_MUST(tn_unsqueeze_copy(&tensor3d, &mat2d, 1));
    TN_EXPECT(tensor3d.ndim == 3 && tensor3d.shape[0] == 2 && tensor3d.shape[1] == 1 &&
              tensor3d.shape[2] == 3);
    tn_show("(2, 1, 3)", &tensor3d);

    tn_tensor *all[] = {&scalar, &vec, &vec1d, &mat, &mat2d, &tensor3d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
