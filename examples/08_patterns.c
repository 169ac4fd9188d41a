/* 08_patterns.c - axes by name: a pattern reorders, splits, merges and repeats them. */
#include <string.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { B = 2, H = 4, W = 6, C = 3 };
static float x[B][H][W][C];

int main(void)
{
    for (int i = 0; i < B * H * W * C; i++)
        (&x[0][0][0][0])[i] = (float)i;
    tn_tensor t, out, view;
    TN_MUST(tn_init(&t, x, TN_F32, 4, (int64_t[]){B, H, W, C}));

    /* channels first */
    TN_MUST(tn_pattern_copy(&out, &t, "b h w c -> b c h w", NULL));
    TN_EXPECT(out.shape[1] == C &&
              *(float *)tn_at(&out, (int64_t[]){1, 2, 3, 4}) == x[1][3][4][2]);
    tn_free(&out);

    /* patches of 2 x 3, one row each */
    TN_MUST(tn_pattern_copy(&out, &t, "b (h p) (w q) c -> (b h w) (p q c)", "p=2 q=3"));
    TN_EXPECT(out.ndim == 2 && out.shape[0] == 8 && out.shape[1] == 18);
    TN_EXPECT(*(float *)tn_at(&out, (int64_t[]){1, 0}) == x[0][0][3][0]);
    tn_free(&out);

    /* a pattern that strides can express needs no copy */
    TN_MUST(tn_pattern_view(&view, &t, "b h w c -> c (b h) w", ""));
    TN_EXPECT(view.shape[1] == B * H && tn_at(&view, (int64_t[]){2, 5, 1}) == &x[1][1][1][2]);

    /* and the error message points to the mistake */
    TN_EXPECT(tn_pattern_view(&view, &t, "b (h w -> b h w", NULL) == TN_EFORMAT);
    puts(tn_error());
    return 0;
}
