/* expr_pairs.c - reads lines "text TAB text"; both give the same status, and the same bits. */
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

int main(void)
{
    static char line[1 << 16];
    static const char *const names[] = {"a", "b", "c"};
    int64_t data[3][4] = {{1, 2, -3, 40}, {5, -1, 2, 0}, {0, 3, 1, 6}};
    const int64_t n = 4;
    tn_tensor t[3];
    const tn_tensor *srcs[3];
    long pairs = 0, equal = 0;
    for (int k = 0; k < 3; k++) {
        if (tn_init(&t[k], data[k], TN_I64, 1, &n) != TN_OK)
            return 2;
        srcs[k] = &t[k];
    }
    while (fgets(line, sizeof line, stdin)) {
        char *second = strchr(line, '\t');
        line[strcspn(line, "\n")] = 0;
        if (!second)
            return 2;
        *second++ = 0;
        tn_tensor x = {0}, y = {0};
        if (strlen(second) > TN_EXPR_TEXT)
            continue;
        const tn_status first = tn_eval_copy(&x, line, 3, names, srcs);
        const tn_status then = tn_eval_copy(&y, second, 3, names, srcs);
        pairs++;
        equal += first == TN_OK;
        if (first != then ||
            (first == TN_OK &&
             (x.dtype != y.dtype || memcmp(x.data, y.data, (size_t)tn_nbytes(&x))))) {
            printf("%s\n%s\n%d %d: %s\n", line, second, (int)first, (int)then, tn_error());
            return 1;
        }
        if (first == TN_OK) {
            tn_free(&x);
            tn_free(&y);
        }
    }
    printf("%ld pairs, %ld of them with a value\n", pairs, equal);
    return equal * 4 < pairs; /* the others are refused: operands of bool */
}
