/* 01_views.c - a view shares the memory of its tensor: nothing is copied or allocated, and a
 * write through one view is visible in all of them. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    float x[3][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}, {8, 9, 10, 11}};
    tn_tensor a, t, row, odd, back, wide;
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){3, 4}));
    tn_show("a", &a);

    TN_MUST(tn_transpose(&t, &a, 0, 1));
    tn_show("a transposed", &t);
    TN_EXPECT(tn_at(&t, (int64_t[]){3, 1}) == &x[1][3]);

    TN_MUST(tn_select(&row, &a, 0, 1)); /* a[1]: the axis is dropped */
    TN_EXPECT(row.ndim == 1 && row.data == x[1]);

    TN_MUST(tn_slice(&odd, &a, 1, 1, 4, 2)); /* a[:, 1:4:2] */
    tn_show("every other column", &odd);
    TN_EXPECT(odd.shape[1] == 2 && odd.stride[1] == 2 * (int64_t)sizeof(float));

    TN_MUST(tn_flip(&back, &row, 0)); /* a[1][::-1] */
    TN_EXPECT(*(float *)tn_at(&back, (int64_t[]){0}) == 7);

    TN_MUST(
        tn_broadcast_to(&wide, &row, 2, (int64_t[]){1000, 4})); /* a thousand rows, 16 bytes */
    TN_EXPECT(tn_has_broadcast(&wide) && tn_at(&wide, (int64_t[]){999, 2}) == &x[1][2]);

    x[1][3] = 70;
    TN_EXPECT(*(float *)tn_at(&t, (int64_t[]){3, 1}) == 70);
    TN_EXPECT(*(float *)tn_at(&back, (int64_t[]){0}) == 70);
    puts("one write, seen through every view");
    return 0;
}
