/* 24_combined.c - several dimension operations in sequence: round trips, an image to a
 * batch. */
#include <string.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor original, step1, step2, step3;
    TN_MUST(tn_alloc(&original, TN_F32, 2, (int64_t[]){3, 4}));
    TN_MUST(tn_randn(&original, 42));
    TN_MUST(tn_unsqueeze_copy(&step1, &original, 0)); /* (1, 3, 4) */
    TN_MUST(tn_squeeze_copy(&step2, &step1, 0));      /* (3, 4), the original again */
    TN_MUST(tn_pad_hw_copy(&step3, &original, 1));    /* (5, 6) */
    TN_EXPECT(!memcmp(step2.data, original.data, (size_t)tn_nbytes(&original)));

    tn_tensor img_2d, img_3d, img_4d, padded_img;
    TN_MUST(tn_alloc(&img_2d, TN_F32, 2, (int64_t[]){224, 224}));
    TN_MUST(tn_randn(&img_2d, 100));
    TN_MUST(tn_unsqueeze(&img_3d, &img_2d, 0)); /* (1, 224, 224): a view, no element moves */
    TN_MUST(tn_unsqueeze(&img_4d, &img_3d, 0)); /* (1, 1, 224, 224) */
    TN_MUST(tn_pad_hw_copy(&padded_img, &img_4d, 2));
    TN_EXPECT(padded_img.ndim == 4 && padded_img.shape[2] == 228 && padded_img.shape[3] == 228);
    printf("(224, 224) became (%d, %d, %d, %d)\n", (int)padded_img.shape[0],
           (int)padded_img.shape[1], (int)padded_img.shape[2], (int)padded_img.shape[3]);

    tn_tensor *all[] = {&original, &step1, &step2, &step3, &img_2d, &padded_img};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
