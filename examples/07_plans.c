/* 07_plans.c - plan once, run on other data: no checks of shapes, no choices, no allocation.
 *
 * A plan is immutable; many threads may run one at once.  It describes its choices in words. */
#include <stdlib.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

enum { ROWS = 300, COLUMNS = 500, BATCH = 4 };
static float x[BATCH][ROWS][COLUMNS], y[BATCH][COLUMNS][ROWS];

int main(void)
{
    for (int i = 0; i < BATCH * ROWS * COLUMNS; i++)
        (&x[0][0][0])[i] = (float)i;

    /* no data is needed to plan */
    tn_tensor src, dst;
    TN_MUST(tn_init(&src, NULL, TN_F32, 2, (int64_t[]){ROWS, COLUMNS}));
    TN_MUST(tn_transpose(&src, &src, 0, 1));
    TN_MUST(tn_init(&dst, NULL, TN_F32, 2, (int64_t[]){COLUMNS, ROWS}));
    tn_plan *plan;
    TN_MUST(tn_plan_rearrange(&plan, &dst, &src));

    char text[1024];
    TN_MUST(tn_plan_explain(plan, text, sizeof text));
    printf("%s\n", text);

    for (int i = 0; i < BATCH; i++)
        TN_MUST(tn_plan_run(plan, y[i], (const void *[]){x[i]}));
    for (int i = 0; i < BATCH; i++)
        for (int r = 0; r < ROWS; r++)
            for (int c = 0; c < COLUMNS; c++)
                TN_EXPECT(y[i][c][r] == x[i][r][c]);
    tn_plan_free(plan);
    puts("one plan, four matrices");
    return 0;
}
