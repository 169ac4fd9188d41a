/* 02_drop_axes.c - C[i], C[i, j], C[:, j] and so on: slice and drop axes in one step.
 *
 * The offset of the dropped axes is added to data, so it works on any tensor: sliced, permuted,
 * flipped, broadcast.  Contiguity is never required. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { B = 4, H = 3, R = 5, C = 2 };
static int32_t c[B][H][R][C];

int main(void)
{
    for (int i = 0; i < B * H * R * C; i++)
        (&c[0][0][0][0])[i] = i;
    tn_tensor t, plane, block, column, flat, transposed;
    TN_MUST(tn_init(&t, c, TN_I32, 4, (int64_t[]){B, H, R, C}));

    /* C[2] */
    TN_MUST(
        tn_view(&block, &t, (int64_t[]){1, H, R, C}, (int64_t[]){2, 0, 0, 0}, (int[]){0}, 1));
    TN_EXPECT(block.ndim == 3 && block.data == c[2]);

    /* C[2, 1]; its rows are adjacent, so it is also one long row */
    TN_MUST(tn_view(&plane, &t, (int64_t[]){1, 1, R, C}, (int64_t[]){2, 1, 0, 0}, (int[]){0, 1},
                    2));
    TN_EXPECT(plane.ndim == 2 && plane.shape[0] == R && plane.data == c[2][1]);
    TN_MUST(tn_reshape(&flat, &plane, 1, (int64_t[]){-1}));
    TN_EXPECT(flat.shape[0] == (int64_t)R * C);
    tn_show("C[2, 1]", &plane);

    /* C[:, 1, 3, :]: two axes from the middle, the remaining axes keep their strides */
    TN_MUST(tn_view(&column, &t, (int64_t[]){B, 1, 1, C}, (int64_t[]){0, 1, 3, 0},
                    (int[]){2, 1}, 2));
    TN_EXPECT(column.shape[0] == B && column.shape[1] == C);
    TN_EXPECT(column.stride[0] == t.stride[0] && column.data == c[0][1][3]);
    tn_show("C[:, 1, 3, :]", &column);

    /* the same on a permuted tensor, then a view of that view */
    TN_MUST(tn_permute(&transposed, &t, (int[]){3, 2, 1, 0}));
    TN_MUST(tn_view(&column, &transposed, (int64_t[]){1, R, H, 1}, (int64_t[]){1, 0, 0, 2},
                    (int[]){0, 3}, 2));
    TN_EXPECT(*(int32_t *)tn_at(&column, (int64_t[]){4, 1}) == c[2][1][4][1]);
    TN_MUST(tn_view(&column, &column, (int64_t[]){1, 2}, (int64_t[]){4, 1}, (int[]){0}, 1));
    TN_EXPECT(column.ndim == 1 && tn_at(&column, (int64_t[]){1}) == &c[2][2][4][1]);
    puts("every element is where the long way says it is");
    return 0;
}
