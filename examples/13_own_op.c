/* 13_own_op.c - a user-defined op: a function on strips; the library adds broadcasting,
 * strides, transposition and threads. */
#include <string.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

typedef struct blend {
    float weight;
} blend;

/* dst = a + weight * (b - a), elements by memcpy because no alignment is guaranteed */
static void run_blend(void *user, int64_t n, void *dst, int64_t dst_step,
                      const void *const *src, const int64_t *src_step)
{
    const blend *w = user;
    for (int64_t i = 0; i < n; i++) {
        float a, b;
        memcpy(&a, (const char *)src[0] + i * src_step[0], sizeof a);
        memcpy(&b, (const char *)src[1] + i * src_step[1], sizeof b);
        a += w->weight * (b - a);
        memcpy((char *)dst + i * dst_step, &a, sizeof a);
    }
}

enum { ROWS = 300, COLUMNS = 200 };
static float x[ROWS][COLUMNS], y[COLUMNS][ROWS], z[ROWS][COLUMNS];

int main(void)
{
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++) {
            x[i][j] = (float)(i + j);
            y[j][i] = (float)(i * j);
        }
    tn_tensor a, b, d;
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){ROWS, COLUMNS}));
    TN_MUST(tn_init(&b, y, TN_F32, 2, (int64_t[]){COLUMNS, ROWS}));
    TN_MUST(tn_transpose(&b, &b, 0, 1));
    TN_MUST(tn_init(&d, z, TN_F32, 2, (int64_t[]){ROWS, COLUMNS}));
    blend half = {0.5f};
    TN_MUST(tn_map(run_blend, &half, &d, 2, (const tn_tensor *[]){&a, &b}));
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            TN_EXPECT(z[i][j] == x[i][j] + 0.5f * (y[j][i] - x[i][j]));
    puts("a blend of a matrix and a transposed one");
    return 0;
}
