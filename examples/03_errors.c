/* 03_errors.c - a failing call changes nothing and says why in one sentence. */
#include <string.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    float x[2][3] = {{1, 2, 3}, {4, 5, 6}};
    tn_tensor a, out;
    TN_MUST(tn_init(&a, x, TN_F32, 2, (int64_t[]){2, 3}));
    memset(&out, 0x5a, sizeof out);
    tn_tensor before = out;

    const struct {
        const char *what;
        tn_status got, want;
    } cases[] = {
        {"squeeze a long axis", tn_squeeze(&out, &a, 1), TN_ESHAPE},
        {"an axis that is not there", tn_transpose(&out, &a, 0, 2), TN_EARG},
        {"an axis named twice", tn_permute(&out, &a, (int[]){0, 0}), TN_EARG},
        {"6 elements as 4", tn_reshape(&out, &a, 1, (int64_t[]){4}), TN_ESHAPE},
        {"too large for any memory", tn_init(&out, NULL, TN_F32, 2, (int64_t[]){INT64_MAX, 2}),
         TN_EOVERFLOW},
        {"nothing where a tensor belongs", tn_flip(&out, NULL, 0), TN_ENULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        printf("%-32s %s\n", cases[i].what, tn_status_name(cases[i].got));
        TN_EXPECT(cases[i].got == cases[i].want);
        TN_EXPECT(memcmp(&out, &before, sizeof out) == 0);
    }
    TN_EXPECT(tn_squeeze(&out, &a, 1) == TN_ESHAPE);
    printf("the sentence of the last one: %s\n", tn_error());
    return 0;
}
