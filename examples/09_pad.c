/* 09_pad.c - padding in every mode and of any width, in one pass over dst. */
#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    const int32_t x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    const int64_t before[2] = {1, 2}, after[2] = {1, 4};
    static const struct {
        tn_pad_mode mode;
        const char *name;
        int32_t row[9]; /* the first row of x, padded */
    } modes[] = {
        {TN_PAD_CONSTANT, "constant", {9, 9, 1, 2, 3, 9, 9, 9, 9}},
        {TN_PAD_EDGE, "edge", {1, 1, 1, 2, 3, 3, 3, 3, 3}},
        {TN_PAD_REFLECT, "reflect", {3, 2, 1, 2, 3, 2, 1, 2, 3}},
        {TN_PAD_SYMMETRIC, "symmetric", {2, 1, 1, 2, 3, 3, 2, 1, 1}},
        {TN_PAD_WRAP, "wrap", {2, 3, 1, 2, 3, 1, 2, 3, 1}},
    };
    tn_tensor t, out;
    TN_MUST(tn_init_const(&t, x, TN_I32, 2, (int64_t[]){2, 3}, NULL));
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
        TN_MUST(tn_pad_copy(&out, &t, before, after, modes[m].mode, &(int32_t){9}));
        TN_EXPECT(out.shape[0] == 4 && out.shape[1] == 9);
        for (int64_t j = 0; j < 9; j++)
            TN_EXPECT(*(int32_t *)tn_at(&out, (int64_t[]){1, j}) == modes[m].row[j]);
        tn_show(modes[m].name, &out);
        tn_free(&out);
    }

    /* zeros around height and width */
    TN_MUST(tn_pad_hw_copy(&out, &t, 1));
    TN_EXPECT(out.shape[0] == 4 && out.shape[1] == 5);
    TN_EXPECT(*(int32_t *)tn_at(&out, (int64_t[]){0, 0}) == 0);
    TN_EXPECT(*(int32_t *)tn_at(&out, (int64_t[]){2, 3}) == 6);
    tn_free(&out);
    return 0;
}
