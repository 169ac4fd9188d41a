/* test_io_quant.c - quantised tensors of .gguf are what the gguf package makes of them. */
#include "io_oracle.h"

static const char *const types[] = {"q8_0", "q4_0", "q4_k", "q5_k", "q6_k"};

static tn_file *f, *want;

static int open_files(void **state)
{
    (void)state;
    OK(tn_file_open(&f, DATA("quant.gguf")));
    OK(tn_file_open(&want, DATA("quant.npz")));
    return 0;
}

static int close_files(void **state)
{
    (void)state;
    tn_file_close(want);
    tn_file_close(f);
    return 0;
}

static void find(const char *name, int64_t *i, tn_tensor *expected)
{
    int64_t k;
    OK(tn_file_find(f, name, i));
    OK(tn_file_find(want, name, &k));
    OK(tn_file_read(want, k, expected));
}

/* Whole, in parts that begin inside a block, into strided memory, and rounded once. */
static void as_the_reference(void **state)
{
    (void)state;
    for (int t = 0; t < 5; t++) {
        tn_tensor expected, got, transposed, part, narrow, rounded;
        int64_t i;
        find(types[t], &i, &expected);
        assert_int_equal(tn_file_info(f, i, NULL, NULL, NULL), TN_EUNSUPPORTED);
        OK(tn_alloc(&got, TN_F32, 2, expected.shape));
        OK(tn_file_dequantize(f, i, &got));
        assert_same_elements(&got, &expected);
        int64_t all = tn_numel(&got), columns = got.shape[1];
        for (int64_t first = 0; first < all; first += 37) {
            int64_t n = all - first < 101 ? all - first : 101;
            OK(tn_init(&part, got.data, TN_F32, 1, &n));
            OK(tn_fill(&part, NULL));
            OK(tn_file_dequantize_range(f, i, first, &part));
            assert_memory_equal(part.data, (float *)expected.data + first, (size_t)n * 4);
        }
        tn_free(&got);
        OK(tn_alloc(&got, TN_F32, 2, (int64_t[]){columns, 3}));
        OK(tn_transpose(&transposed, &got, 0, 1));
        OK(tn_file_dequantize(f, i, &transposed));
        assert_same_elements(&transposed, &expected);
        tn_free(&got);
        for (int k = 0; k < 2; k++) {
            OK(tn_alloc(&narrow, k ? TN_BF16 : TN_F16, 2, expected.shape));
            OK(tn_alloc(&rounded, narrow.dtype, 2, expected.shape));
            OK(tn_file_dequantize(f, i, &narrow));
            OK(tn_cast(&rounded, &expected));
            assert_same_elements(&narrow, &rounded);
            tn_free(&rounded);
            tn_free(&narrow);
        }
        tn_free(&expected);
    }
}

static void refused(void **state)
{
    (void)state;
    tn_tensor t, other;
    int64_t i;
    find("q8_0", &i, &t);
    assert_int_equal(tn_file_dequantize(NULL, i, &t), TN_ENULL);
    assert_int_equal(tn_file_dequantize(f, 99, &t), TN_EARG);
    assert_int_equal(tn_file_dequantize_range(f, i, tn_numel(&t), &t), TN_EARG);
    assert_int_equal(tn_file_dequantize_range(f, i, -1, &t), TN_EARG);
    OK(tn_alloc(&other, TN_F64, 2, t.shape));
    assert_int_equal(tn_file_dequantize(f, i, &other), TN_EDTYPE);
    tn_free(&other);
    OK(tn_alloc(&other, TN_F32, 1, (int64_t[]){32}));
    assert_int_equal(tn_file_dequantize(f, i, &other), TN_ESHAPE);
    OK(tn_file_find(f, "q5_0", &i));
    assert_int_equal(tn_file_dequantize_range(f, i, 0, &other), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "type Q5_0 cannot be dequantised"));
    OK(tn_file_find(f, "plain", &i));
    assert_int_equal(tn_file_dequantize_range(f, i, 0, &other), TN_EUNSUPPORTED);
    tn_free(&other);
    tn_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(as_the_reference),
                                       cmocka_unit_test(refused)};
    return cmocka_run_group_tests(tests, open_files, close_files);
}
