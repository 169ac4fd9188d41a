/* 11_broadcast.c - elementwise ops with NumPy's broadcasting, on any strides and dtypes.
 *
 * dst has the shape that the inputs broadcast to and the dtype that tn_op_result returns. */
#include <math.h>

#include <tenon/easy.h>
#include <tenon/tenon.h>

int main(void)
{
    /* a column and a row give a table */
    float column[3] = {10, 20, 30}, row[4] = {1, 2, 3, 4}, table[3][4];
    tn_tensor c, r, t;
    TN_MUST(tn_init(&c, column, TN_F32, 2, (int64_t[]){3, 1}));
    TN_MUST(tn_init(&r, row, TN_F32, 1, (int64_t[]){4}));
    TN_MUST(tn_init(&t, table, TN_F32, 2, (int64_t[]){3, 4}));
    TN_MUST(tn_add(&t, &c, &r));
    TN_EXPECT(table[0][0] == 11 && table[2][3] == 34);
    tn_show("column + row", &t);

    /* a matrix and its own transpose: tiles are transposed in registers, without a copy */
    double m[64][64], s[64][64];
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            m[i][j] = i * 100 + j;
    tn_tensor a, at, d;
    TN_MUST(tn_init(&a, m, TN_F64, 2, (int64_t[]){64, 64}));
    TN_MUST(tn_init(&d, s, TN_F64, 2, (int64_t[]){64, 64}));
    TN_MUST(tn_transpose(&at, &a, 0, 1));
    TN_MUST(tn_add(&d, &a, &at));
    for (int i = 0; i < 64; i++)
        for (int j = 0; j < 64; j++)
            TN_EXPECT(s[i][j] == m[i][j] + m[j][i]);
    puts("m + m.T is symmetric");

    /* dtypes are promoted; tn_op_result returns the dtype of the result */
    int32_t counts[4] = {1, 2, 3, 4};
    tn_tensor n;
    TN_MUST(tn_init(&n, counts, TN_I32, 1, (int64_t[]){4}));
    tn_dtype result;
    TN_MUST(tn_op_result(TN_MUL, (tn_dtype[]){TN_I32, TN_F32}, 2, &result));
    TN_EXPECT(result == TN_F32);
    TN_MUST(tn_mul(&r, &n, &r)); /* dst may be exactly an input */
    TN_EXPECT(row[3] == 16);

    /* one name, any op */
    tn_op op;
    TN_MUST(tn_op_parse(&op, "gelu"));
    TN_MUST(tn_unary(op, &r, &r));
    TN_EXPECT(fabsf(row[0] - 0.841345f) < 1e-6f);
    printf("%s of 1 is %.6f\n", tn_op_name(op), (double)row[0]);

    /* shapes that do not match are an error with a sentence */
    TN_EXPECT(tn_add(&n, &r, &r) == TN_EDTYPE);
    printf("refused: %s\n", tn_error());
    return 0;
}
