/* op_list.c - prints the README's table of ops from the library's answers: the dtypes each op
 * takes, what it returns, and its numbers of tensors and parameters.
 *
 * Ops with the same answers share a row; every op is in exactly one. */
#include <stdio.h>
#include <string.h>

#include <tenon/tenon.h>

static const struct {
    const char *name;
    tn_dtype asked; /* represents the class */
} classes[] = {
    {"bool", TN_BOOL}, {"integers", TN_I32}, {"floats", TN_F32}, {"complex", TN_C64}};
enum { CLASSES = 4, MOST = 256, TEXT = 96 };

typedef struct answer {
    char takes[TEXT], gives[TEXT];
} answer;

static answer ask(tn_op op)
{
    answer a = {"", ""};
    for (int i = 0; i < CLASSES; i++) {
        const tn_dtype in = classes[i].asked;
        tn_dtype out = in;
        if (tn_op_result(op, (tn_dtype[]){in, in, in}, tn_op_arity(op), &out) != TN_OK)
            continue;
        snprintf(a.takes + strlen(a.takes), sizeof a.takes - strlen(a.takes), "%s%s",
                 a.takes[0] ? ", " : "", classes[i].name);
        const char *gives = out == in        ? "the same"
                            : out == TN_BOOL ? "bool"
                            : in == TN_BOOL  ? "the same; f32 or f64 of bool and integers"
                            : out == TN_F64  ? "f64"
                            : in == TN_C64   ? "the same; real of complex"
                                             : tn_dtype_name(out);
        if (!strcmp(gives, "bool") || strlen(gives) > strlen(a.gives))
            snprintf(a.gives, sizeof a.gives, "%s", gives);
    }
    return a;
}

static bool alike(const answer *a, const answer *b)
{
    return !strcmp(a->takes, b->takes) && !strcmp(a->gives, b->gives);
}

int main(void)
{
    answer answers[MOST];
    int n = 0;
    while (n < MOST && tn_op_name((tn_op)n)) {
        answers[n] = ask((tn_op)n);
        n++;
    }
    puts("| takes | gives | of one tensor | of two | of three |\n|---|---|---|---|---|");
    for (int i = 0; i < n; i++) {
        int first = 0;
        while (!alike(&answers[first], &answers[i]))
            first++;
        if (first < i)
            continue;
        printf("| %s | %s |", answers[i].takes, answers[i].gives);
        for (int arity = 1; arity <= 3; arity++) {
            for (int op = i; op < n; op++)
                if (tn_op_arity((tn_op)op) == arity && alike(&answers[op], &answers[i]))
                    printf(" %s", tn_op_name((tn_op)op));
            printf(" |");
        }
        putchar('\n');
    }
    printf("\n%d ops. With numbers beside the tensors (`tn_apply`):", n);
    for (int op = 0; op < n; op++)
        if (tn_op_params((tn_op)op))
            printf(" %s %d", tn_op_name((tn_op)op), tn_op_params((tn_op)op));
    puts(".");
    return 0;
}
