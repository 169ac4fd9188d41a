/* 15_rows_and_index.c - an embedding lookup, a norm, an attention softmax, the top two. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    enum { VOCABULARY = 10, WIDTH = 8, TOKENS = 4 };
    tn_tensor table, tokens, x, scores, weights, best, where;
    int32_t ids[TOKENS] = {3, 7, 3, -1}; /* negative ones count from the end */
    TN_MUST(tn_alloc(&table, TN_F32, 2, (int64_t[]){VOCABULARY, WIDTH}));
    TN_MUST(tn_randn(&table, 1));
    TN_MUST(tn_init(&tokens, ids, TN_I32, 1, (int64_t[]){TOKENS}));

    TN_MUST(tn_alloc(&x, TN_F32, 2, (int64_t[]){TOKENS, WIDTH}));
    TN_MUST(tn_take(&x, &table, 0, &tokens));
    TN_EXPECT(*(float *)tn_at(&x, (int64_t[]){0, 5}) ==
              *(float *)tn_at(&table, (int64_t[]){3, 5}));
    TN_EXPECT(*(float *)tn_at(&x, (int64_t[]){3, 0}) ==
              *(float *)tn_at(&table, (int64_t[]){9, 0}));
    TN_MUST(tn_rms_norm(&x, &x, NULL, 1e-6)); /* in place */

    /* scores of every token with every token; each attends to earlier ones only */
    TN_MUST(tn_alloc(&scores, TN_F32, 2, (int64_t[]){TOKENS, TOKENS}));
    tn_tensor row, column;
    TN_MUST(tn_unsqueeze(&row, &x, 1));    /* (4, 1, 8) */
    TN_MUST(tn_unsqueeze(&column, &x, 0)); /* (1, 4, 8) */
    TN_MUST(tn_dot(&scores, &row, &column, 1, (int[]){2}));
    TN_MUST(tn_alloc(&weights, TN_F32, 2, (int64_t[]){TOKENS, TOKENS}));
    TN_MUST(tn_causal_softmax(&weights, &scores));
    tn_show("attention weights", &weights);
    TN_EXPECT(*(float *)tn_at(&weights, (int64_t[]){0, 1}) == 0);

    /* the two best of each row, and their indices */
    TN_MUST(tn_alloc(&best, TN_F32, 2, (int64_t[]){TOKENS, 2}));
    TN_MUST(tn_alloc(&where, TN_I64, 2, (int64_t[]){TOKENS, 2}));
    TN_MUST(tn_sort(&best, &where, &scores, 1, TN_DESCENDING));
    TN_EXPECT(*(float *)tn_at(&best, (int64_t[]){2, 0}) >=
              *(float *)tn_at(&best, (int64_t[]){2, 1}));

    tn_tensor *all[] = {&table, &x, &scores, &weights, &best, &where};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
