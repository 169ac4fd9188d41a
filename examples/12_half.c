/* 12_half.c - narrow floats: casts round once, to nearest even; arithmetic is done in f32.
 *
 * A cast converts from any layout to any layout in one pass. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    float x[2][4] = {{1.0f, 1.00390625f, 1.01171875f, 65504.0f},
                     {-0.5f, 3.14159265f, 1e-8f, 1e6f}};
    uint16_t h[2][4], b[4][2];
    tn_tensor f32, f16, bf16, transposed;
    TN_MUST(tn_init(&f32, x, TN_F32, 2, (int64_t[]){2, 4}));
    TN_MUST(tn_init(&f16, h, TN_F16, 2, (int64_t[]){2, 4}));
    TN_MUST(tn_init(&bf16, b, TN_BF16, 2, (int64_t[]){4, 2}));

    TN_MUST(tn_cast(&f16, &f32));
    tn_show("as f16", &f16);
    TN_EXPECT(h[0][0] == 0x3c00 && h[0][3] == 0x7bff &&
              h[1][3] == 0x7c00); /* 1, the largest, inf */

    TN_MUST(tn_transpose(&transposed, &f32, 0, 1)); /* convert and transpose in one pass */
    TN_MUST(tn_cast(&bf16, &transposed));
    tn_show("as bf16, transposed", &bf16);
    TN_EXPECT(b[0][0] == 0x3f80);
    TN_EXPECT(b[1][0] == 0x3f80 && b[2][0] == 0x3f82); /* halfway: to even, down and up */

    /* float to integer is defined: truncated, saturated, NaN is 0 */
    float y[4] = {2.9f, -2.9f, 300.0f, -0.0f / 1.0f};
    y[3] = y[3] / y[3];
    int8_t i8[4];
    tn_tensor src, dst;
    TN_MUST(tn_init(&src, y, TN_F32, 1, (int64_t[]){4}));
    TN_MUST(tn_init(&dst, i8, TN_I8, 1, (int64_t[]){4}));
    TN_MUST(tn_cast(&dst, &src));
    TN_EXPECT(i8[0] == 2 && i8[1] == -2 && i8[2] == 127 && i8[3] == 0);
    puts("2.9, -2.9, 300 and NaN as i8 are 2, -2, 127 and 0, on every CPU");
    return 0;
}
