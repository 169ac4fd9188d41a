/* 06_rearrange.c - dst[i, j, …] = src[i, j, …] between any two layouts of equal shape.
 *
 * Layouts are views: permute one side, and rearrange copies at the speed of memory. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { N = 2, H = 3, W = 5, C = 3 };

int main(void)
{
    /* a row-major matrix into a column-major one: equal shapes, different strides */
    float x[6] = {1, 2, 3, 4, 5, 6}, y[6] = {0};
    tn_tensor a, b;
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_init_strided(&b, y, TN_F32, 2, (int64_t[]){2, 3}, (int64_t[]){4, 8}));
    TN_MUST(tn_rearrange(&b, &a));
    const float transposed[6] = {1, 4, 2, 5, 3, 6};
    for (int i = 0; i < 6; i++)
        TN_EXPECT(y[i] == transposed[i]);
    puts("column-major: 1 4 2 5 3 6");

    /* images with channels last into channels first */
    unsigned char last[N][H][W][C], first[N][C][H][W];
    for (int i = 0; i < N * H * W * C; i++)
        (&last[0][0][0][0])[i] = (unsigned char)i;
    TN_MUST(tn_init(&a, last, TN_U8, 4, (int64_t[]){N, H, W, C}));
    TN_MUST(tn_init(&b, first, TN_U8, 4, (int64_t[]){N, C, H, W}));
    TN_MUST(tn_permute(&a, &a, (int[]){0, 3, 1, 2})); /* now also (N, C, H, W) */
    TN_MUST(tn_rearrange(&b, &a));
    TN_EXPECT(first[1][2][0][4] == last[1][0][4][2]);
    puts("channels first: every pixel is in its plane");

    /* fill a window of dst and leave the rest unchanged, from a broadcast src */
    short board[4][6] = {{0}}, stone = 7;
    tn_tensor whole, window, one;
    TN_MUST(tn_init(&whole, board, TN_I16, 2, (int64_t[]){4, 6}));
    TN_MUST(tn_view(&window, &whole, (int64_t[]){2, 3}, (int64_t[]){1, 2}, NULL, 0));
    TN_MUST(tn_init(&one, &stone, TN_I16, 0, NULL));
    TN_MUST(tn_broadcast_to(&one, &one, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_rearrange(&window, &one));
    TN_EXPECT(board[1][2] == 7 && board[2][4] == 7 && board[0][2] == 0 && board[2][5] == 0);

    /* an overlap that would lose data is an error: a matrix onto its own transpose */
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 2}));
    TN_MUST(tn_transpose(&b, &a, 0, 1));
    TN_EXPECT(tn_rearrange(&b, &a) == TN_EOVERLAP);
    printf("refused: %s\n", tn_error());
    return 0;
}
