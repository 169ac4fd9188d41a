/* 25_joins.c - concatenate, stack, tile, repeat and roll tensors. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    tn_tensor a, b, wide, tall, pile, wall, slow, rolled;
    TN_MUST(tn_alloc(&a, TN_I32, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_randint(&a, 1, 0, 10));
    TN_MUST(tn_full(&b, TN_I32, 2, (int64_t[]){2, 3}, &(int32_t){7}));
    const tn_tensor *both[] = {&a, &b};

    TN_MUST(tn_alloc(&wide, TN_I32, 2, (int64_t[]){2, 6}));
    TN_MUST(tn_concat(&wide, 1, 2, both));
    tn_show("concat along the columns", &wide);
    TN_MUST(tn_alloc(&tall, TN_I32, 2, (int64_t[]){4, 3}));
    TN_MUST(tn_concat(&tall, 0, 2, both));
    TN_MUST(tn_alloc(&pile, TN_I32, 3, (int64_t[]){2, 2, 3}));
    TN_MUST(tn_stack(&pile, 0, 2, both));
    TN_EXPECT(*(int32_t *)tn_at(&pile, (int64_t[]){1, 0, 0}) == 7);

    TN_MUST(tn_alloc(&wall, TN_I32, 2, (int64_t[]){4, 6}));
    TN_MUST(tn_tile(&wall, &a, (int64_t[]){2, 2}));
    tn_show("tiled twice each way", &wall);
    TN_MUST(tn_alloc(&slow, TN_I32, 2, (int64_t[]){2, 6}));
    TN_MUST(tn_repeat(&slow, &a, 1, 2));
    TN_EXPECT(*(int32_t *)tn_at(&slow, (int64_t[]){0, 0}) ==
              *(int32_t *)tn_at(&slow, (int64_t[]){0, 1}));
    TN_MUST(tn_alloc(&rolled, TN_I32, 2, (int64_t[]){2, 3}));
    TN_MUST(tn_roll(&rolled, &a, 1, -1));
    TN_EXPECT(*(int32_t *)tn_at(&rolled, (int64_t[]){0, 0}) ==
              *(int32_t *)tn_at(&a, (int64_t[]){0, 1}));

    tn_tensor *all[] = {&a, &b, &wide, &tall, &pile, &wall, &slow, &rolled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
