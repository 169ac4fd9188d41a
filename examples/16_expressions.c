/* 16_expressions.c - prepare images for a network: u8 NHWC to normalised f16 NCHW, padded to a
 * given size, in one pass; and a reduction around an expression. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    enum { N = 2, H = 60, W = 90, C = 3, SIZE = 96 };
    tn_tensor images, nchw, padded, inside;
    TN_MUST(tn_alloc(&images, TN_U8, 4, (int64_t[]){N, H, W, C}));
    TN_MUST(tn_randint(&images, 7, 0, 256));

    float mean[C] = {0.485f, 0.456f, 0.406f}, std[C] = {0.229f, 0.224f, 0.225f};
    tn_tensor m, s;
    TN_MUST(tn_init(&m, mean, TN_F32, 3, (int64_t[]){C, 1, 1}));
    TN_MUST(tn_init(&s, std, TN_F32, 3, (int64_t[]){C, 1, 1}));

    /* the borders are filled once; the expression writes the interior of the padded batch */
    TN_MUST(tn_alloc(&padded, TN_F16, 4, (int64_t[]){N, C, SIZE, SIZE}));
    TN_MUST(tn_fill(&padded, &(uint16_t){0}));
    TN_MUST(tn_view(&inside, &padded, (int64_t[]){N, C, H, W},
                    (int64_t[]){0, 0, (SIZE - H) / 2, (SIZE - W) / 2}, NULL, 0));

    const char *const names[] = {"x", "mean", "std"};
    TN_MUST(tn_permute(&nchw, &images, (int[]){0, 3, 1, 2})); /* a view */
    const tn_tensor *srcs[] = {&nchw, &m, &s};
    TN_MUST(tn_eval(&inside, "(x / 255 - mean) / std", 3, names, srcs));

    /* a plan for all batches of this layout: its runs parse and allocate nothing */
    tn_expr *e;
    tn_plan *plan;
    TN_MUST(tn_expr_parse(&e, "(x / 255 - mean) / std"));
    TN_MUST(tn_plan_expr(&plan, e, &inside, 3, srcs));
    tn_expr_free(e);
    TN_MUST(tn_plan_run(plan, inside.data, (const void *[]){nchw.data, mean, std}));
    char text[1024];
    TN_MUST(tn_plan_explain(plan, text, sizeof text));
    printf("%s", text);
    tn_plan_free(plan);

    /* the same ops one after another give the same bits */
    tn_tensor step, back, third, want;
    TN_MUST(tn_eval_copy(&step, "x / 255", 1, names, srcs));
    TN_MUST(tn_eval_copy(&back, "x - mean", 2, names, (const tn_tensor *[]){&step, &m}));
    TN_MUST(tn_eval_copy(&third, "x / std", 3, names, (const tn_tensor *[]){&back, &m, &s}));
    TN_MUST(tn_alloc(&want, TN_F16, 4, third.shape));
    TN_MUST(tn_cast(&want, &third));
    float differ;
    tn_tensor out;
    TN_MUST(tn_init(&out, &differ, TN_F32, 0, NULL));
    TN_MUST(tn_eval(&out, "sum(x != y)", 2, (const char *const[]){"x", "y"},
                    (const tn_tensor *[]){&inside, &want}));
    TN_EXPECT(differ == 0);

    /* the mean of each image and channel: a reduction around the whole expression */
    tn_tensor means;
    TN_MUST(tn_eval_copy(&means, "mean((x / 255 - mean) / std, axis=(2, 3))", 3, names, srcs));
    TN_EXPECT(means.ndim == 2 && means.shape[0] == N && means.shape[1] == C);
    tn_show("means of the channels", &means);

    tn_free(&means);
    tn_free(&want);
    tn_free(&third);
    tn_free(&back);
    tn_free(&step);
    tn_free(&padded);
    tn_free(&images);
    return 0;
}
