/* 25_joins.c - tensors side by side, on top of each other, again and again, and turned
 * around. */
#include "example.h"

int main(void)
{
    tn_tensor a, b, wide, tall, pile, wall, slow, rolled;
    OK(tn_alloc(&a, TN_I32, 2, (int64_t[]){2, 3}));
    OK(tn_randint(&a, 1, 0, 10));
    OK(tn_full(&b, TN_I32, 2, (int64_t[]){2, 3}, &(int32_t){7}));
    const tn_tensor *both[] = {&a, &b};

    OK(tn_alloc(&wide, TN_I32, 2, (int64_t[]){2, 6}));
    OK(tn_concat(&wide, 1, 2, both));
    show("concat along the columns", &wide);
    OK(tn_alloc(&tall, TN_I32, 2, (int64_t[]){4, 3}));
    OK(tn_concat(&tall, 0, 2, both));
    OK(tn_alloc(&pile, TN_I32, 3, (int64_t[]){2, 2, 3}));
    OK(tn_stack(&pile, 0, 2, both));
    CHECK(*(int32_t *)tn_at(&pile, (int64_t[]){1, 0, 0}) == 7);

    OK(tn_alloc(&wall, TN_I32, 2, (int64_t[]){4, 6}));
    OK(tn_tile(&wall, &a, (int64_t[]){2, 2}));
    show("tiled twice each way", &wall);
    OK(tn_alloc(&slow, TN_I32, 2, (int64_t[]){2, 6}));
    OK(tn_repeat(&slow, &a, 1, 2));
    CHECK(*(int32_t *)tn_at(&slow, (int64_t[]){0, 0}) ==
          *(int32_t *)tn_at(&slow, (int64_t[]){0, 1}));
    OK(tn_alloc(&rolled, TN_I32, 2, (int64_t[]){2, 3}));
    OK(tn_roll(&rolled, &a, 1, -1));
    CHECK(*(int32_t *)tn_at(&rolled, (int64_t[]){0, 0}) ==
          *(int32_t *)tn_at(&a, (int64_t[]){0, 1}));

    tn_tensor *all[] = {&a, &b, &wide, &tall, &pile, &wall, &slow, &rolled};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        tn_free(all[i]);
    return 0;
}
