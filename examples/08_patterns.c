/* 08_patterns.c - axes by name: a pattern says what goes where, and the size of what it
 * makes. */
#include <string.h>

#include "example.h"

enum { B = 2, H = 4, W = 6, C = 3 };
static float x[B][H][W][C];

int main(void)
{
    for (int i = 0; i < B * H * W * C; i++)
        (&x[0][0][0][0])[i] = (float)i;
    tn_tensor t, out, view;
    OK(tn_init(&t, x, TN_F32, 4, (int64_t[]){B, H, W, C}));

    /* channels first */
    OK(tn_pattern_copy(&out, &t, "b h w c -> b c h w", NULL));
    CHECK(out.shape[1] == C && *(float *)tn_at(&out, (int64_t[]){1, 2, 3, 4}) == x[1][3][4][2]);
    tn_free(&out);

    /* patches of 2 x 3, one row each */
    OK(tn_pattern_copy(&out, &t, "b (h p) (w q) c -> (b h w) (p q c)", "p=2 q=3"));
    CHECK(out.ndim == 2 && out.shape[0] == 8 && out.shape[1] == 18);
    CHECK(*(float *)tn_at(&out, (int64_t[]){1, 0}) == x[0][0][3][0]);
    tn_free(&out);

    /* what is only another look costs no copy */
    OK(tn_pattern_view(&view, &t, "b h w c -> c (b h) w", ""));
    CHECK(view.shape[1] == B * H && tn_at(&view, (int64_t[]){2, 5, 1}) == &x[1][1][1][2]);

    /* and a mistake is shown at its place */
    CHECK(tn_pattern_view(&view, &t, "b (h w -> b h w", NULL) == TN_EFORMAT);
    puts(tn_error());
    return 0;
}
