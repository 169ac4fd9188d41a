/* 30_attention.c - attention scores from (batch, sequence, head, feature) tensors, in place.
 *
 * The head axis of q and k is between sequence and feature, as a projection produces it.
 * einsum uses them in place: no copy of q or k is made, as the workspace of 0 bytes shows.  The
 * same line works on bf16, which is summed in f32 and rounded once. */
#include <math.h>
#include <stdlib.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { B = 2, S = 96, H = 4, D = 64 };
static float q[B][S][H][D], k[B][S][H][D], scores[B][H][S][S];

int main(void)
{
    tn_tensor tq, tk, ts;
    TN_MUST(tn_init(&tq, q, TN_F32, 4, (int64_t[]){B, S, H, D}));
    TN_MUST(tn_init(&tk, k, TN_F32, 4, (int64_t[]){B, S, H, D}));
    TN_MUST(tn_init(&ts, scores, TN_F32, 4, (int64_t[]){B, H, S, S}));
    TN_MUST(tn_randn(&tq, 1));
    TN_MUST(tn_randn(&tk, 2));

    tn_plan *plan;
    const tn_tensor *const srcs[] = {&tq, &tk};
    TN_MUST(tn_plan_einsum(&plan, &ts, "b q h d, b k h d -> b h q k", 2, srcs));
    char text[1024];
    TN_MUST(tn_plan_explain(plan, text, sizeof text));
    printf("%s", text);
    TN_EXPECT(tn_plan_workspace(plan) == 0);
    TN_MUST(tn_plan_run(plan, scores, (const void *[]){q, k}));
    tn_plan_free(plan);

    double want = 0;
    for (int d = 0; d < D; d++)
        want += (double)q[1][5][3][d] * (double)k[1][70][3][d];
    TN_EXPECT(fabs((double)scores[1][3][5][70] - want) < 1e-4);
    puts("scores of 8 heads, and no copy of q or k");
    return 0;
}
