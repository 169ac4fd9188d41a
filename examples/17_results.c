/* 17_results.c - results that the library allocates: tn_apply_copy determines their dtype and
 * shape, tn_like copies both from another tensor. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    /* a picture of bytes, and one number for each of its three channels */
    uint8_t pixels[2][4][3];
    for (int i = 0; i < 24; i++)
        (&pixels[0][0][0])[i] = (uint8_t)(10 * i);
    float mean[3] = {0.5f, 0.4f, 0.3f};
    tn_tensor image, means, scaled, centred, kept;
    TN_MUST(tn_init(&image, pixels, TN_U8, 3, (int64_t[]){2, 4, 3}));
    TN_MUST(tn_init(&means, mean, TN_F32, 1, (int64_t[]){3}));

    /* u8 / f32 is f32; the number and the row of means broadcast */
    TN_MUST(tn_apply_copy(&scaled, TN_DIV, NULL, 2,
                          (const tn_tensor *[]){&image, TN_SCALAR_F32(255)}));
    TN_EXPECT(scaled.dtype == TN_F32 && scaled.ndim == 3 && scaled.shape[2] == 3);
    TN_MUST(tn_apply_copy(&centred, TN_SUB, NULL, 2, (const tn_tensor *[]){&scaled, &means}));

    /* dense, with the dtype and shape of another tensor, which may be a view */
    tn_tensor upright;
    TN_MUST(tn_transpose(&upright, &centred, 0, 2));
    TN_MUST(tn_like(&kept, &upright));
    TN_MUST(tn_rearrange(&kept, &upright));
    TN_EXPECT(tn_is_contiguous(&kept) && kept.shape[0] == 3);

    const float *first = kept.data; /* channel 0, column 0, both rows */
    TN_EXPECT(first[0] == 0.0f / 255 - 0.5f && first[1] == 120.0f / 255 - 0.5f);

    tn_free(&scaled);
    tn_free(&centred);
    tn_free(&kept);
    return 0;
}
