/* 21_squeeze.c - drop an axis of extent 1; any other extent is an error. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor vec, scalar, mat, squeezed, tensor3d, mat2d;

    /* 1-D to scalar */
    TN_MUST(tn_full(&vec, TN_F32, 1, (int64_t[]){1}, &(float){5.0f}));
    TN_MUST(tn_squeeze_copy(&scalar, &vec, 0));
    TN_EXPECT(scalar.ndim == 0 && *(float *)scalar.data == 5.0f);

    /* 2-D to 1-D */
    TN_MUST(tn_full(&mat, TN_F32, 2, (int64_t[]){1, 4}, &(float){2.0f}));
    TN_MUST(tn_squeeze_copy(&squeezed, &mat, 0));
    TN_EXPECT(squeezed.ndim == 1 && squeezed.shape[0] == 4);

    /* 3-D to 2-D */
    TN_MUST(tn_full(&tensor3d, TN_F32, 3, (int64_t[]){2, 1, 3}, &(float){3.0f}));
    TN_MUST(tn_squeeze_copy(&mat2d, &tensor3d, 1));
    TN_EXPECT(mat2d.ndim == 2 && mat2d.shape[0] == 2 && mat2d.shape[1] == 3);

    TN_EXPECT(tn_squeeze_copy(&mat2d, &tensor3d, 0) == TN_ESHAPE);
    puts(tn_error());

    tn_tensor *all[] = {&vec, &scalar, &mat, &squeezed, &tensor3d, &mat2d};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
