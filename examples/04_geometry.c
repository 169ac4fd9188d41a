/* 04_geometry.c - offsets of elements and sizes of padded tensors, from shapes and strides
 * alone. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    /* the sixth element of a dense (2, 3, 4) tensor of 4-byte elements is (0, 1, 1) */
    int64_t offset = 0;
    TN_MUST(tn_index_to_offset(5, 3, (int64_t[]){2, 3, 4}, (int64_t[]){48, 16, 4}, &offset));
    TN_EXPECT(offset == 20);
    printf("element 5 lies %lld bytes from the first\n", (long long)offset);

    /* batch and channel never grow; height by 2*1, width by 2*2 */
    int64_t shape[4], count = 0;
    TN_MUST(tn_padded_shape(4, (int64_t[]){1, 3, 32, 32}, (int64_t[]){1, 2}, shape));
    TN_MUST(tn_padded_size(4, (int64_t[]){1, 3, 32, 32}, (int64_t[]){1, 2}, &count));
    TN_EXPECT(shape[0] == 1 && shape[1] == 3 && shape[2] == 34 && shape[3] == 36);
    TN_EXPECT(count == 1 * 3 * 34 * 36);
    printf("(1, 3, 32, 32) padded by (1, 2) has %lld elements\n", (long long)count);

    /* the byte range around data that a reversed view spans */
    float x[10];
    tn_tensor t;
    int64_t low = 0, high = 0;
    TN_MUST(tn_init(&t, x, TN_F32, 1, (int64_t[]){10}));
    TN_MUST(tn_flip(&t, &t, 0));
    TN_MUST(tn_extent(&t, &low, &high));
    TN_EXPECT(low == -36 && high == 4 && t.data == &x[9]);
    printf("reversed, it touches bytes [%lld, %lld) around its data\n", (long long)low,
           (long long)high);

    TN_EXPECT(tn_padded_size(3, (int64_t[]){INT64_MAX, 2, 1}, (int64_t[]){0}, &count) ==
              TN_EOVERFLOW);
    return 0;
}
