/* test_io_quant.c - quantised tensors of .gguf are what the gguf package makes of them. */
#include "io_oracle.h"

static const char *const types[] = {"q8_0", "q4_0", "q4_k", "q5_k", "q6_k"};

static tn_file *f, *want;

static int open_files(void **state)
{
    OK(tn_file_open(&f, DATA("quant.gguf")));
    OK(tn_file_open(&want, DATA("quant.npz")));
    return make_folder(state);
}

static int close_files(void **state)
{
    tn_file_close(want);
    tn_file_close(f);
    return drop_folder(state);
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

/* ---- files by hand ---- */

static uint8_t made[100000];
static size_t length;
static bool big; /* bytes of numbers */

static void put(uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        made[length++] = (uint8_t)(x >> 8 * (big ? n - 1 - i : i));
}

/* One tensor "q" of type Q8_0 whose scales are 1, elements i % 100. */
static void make_gguf(int ndim, uint64_t n)
{
    length = 0;
    memcpy(made, "GGUF", 4);
    length = 4;
    put(3, 4);
    put(1, 8);
    put(0, 8);
    put(1, 8);
    made[length++] = 'q';
    put((uint64_t)ndim, 4);
    for (int i = 0; i < ndim; i++)
        put(n, 8);
    put(8, 4);
    put(0, 8);
    while (length % 32)
        put(0, 1);
    for (uint64_t i = 0; i < n; i++) {
        if (i % 32 == 0)
            put(0x3c00, 2);
        put(i % 100, 1);
    }
    spit(in_folder("x.gguf"), made, length);
}

/* More blocks than a stage holds, from inside a block on, and by a set. */
static void long_tensors(void **state)
{
    (void)state;
    enum { N = 80000 };
    float *got = malloc(N * sizeof *got);
    tn_file *h = NULL;
    make_gguf(1, N);
    static const char index[] = "{\"weight_map\": {\"q\": \"x.gguf\"}}";
    spit(in_folder("x.index.json"), index, sizeof index - 1);
    for (int set = 0; set < 2; set++)
        for (int64_t first = 0; first < 40; first += 13) {
            tn_tensor t;
            OK(tn_file_open(&h, in_folder(set ? "x.index.json" : "x.gguf")));
            OK(tn_init(&t, got, TN_F32, 1, (int64_t[]){N - first}));
            OK(tn_file_dequantize_range(h, 0, first, &t));
            for (int64_t i = 0; i < N - first; i++)
                assert_true(got[i] == (float)((first + i) % 100));
            tn_file_close(h);
        }
    free(got);
}

/* Rows that are no blocks, the other byte order, and arguments. */
static void what_cannot_be_dequantised(void **state)
{
    (void)state;
    float x[64];
    tn_tensor t, s;
    tn_file *h = NULL;
    OK(tn_init(&t, x, TN_F32, 1, (int64_t[]){33}));
    make_gguf(1, 33);
    OK(tn_file_open(&h, in_folder("x.gguf")));
    assert_int_equal(tn_file_dequantize(h, 0, &t), TN_EFORMAT);
    assert_non_null(
        strstr(tn_error(), "rows of 33 elements are not a multiple of the block size 32"));
    assert_int_equal(tn_file_dequantize(h, -1, &t), TN_EARG);
    OK(tn_init(&s, x, TN_F32, 2, (int64_t[]){1, 33}));
    assert_int_equal(tn_file_dequantize(h, 0, &s), TN_ESHAPE);
    OK(tn_init(&s, x, TN_F32, 1, (int64_t[]){32}));
    assert_int_equal(tn_file_dequantize(h, 0, &s), TN_ESHAPE);
    s.ndim = -1;
    assert_int_equal(tn_file_dequantize_range(h, 0, 0, &s), TN_EARG);
    OK(tn_init(&s, NULL, TN_F32, 1, (int64_t[]){33}));
    assert_int_equal(tn_file_dequantize(h, 0, &s), TN_ENULL);
    tn_file_close(h);
    make_gguf(0, 1);
    OK(tn_file_open(&h, in_folder("x.gguf")));
    OK(tn_init(&s, x, TN_F32, 0, NULL));
    assert_int_equal(tn_file_dequantize(h, 0, &s), TN_EFORMAT);
    tn_file_close(h);
    make_gguf(1, 64);
    OK(tn_file_open(&h, in_folder("x.gguf")));
    OK(tn_init(&s, x, TN_F32, 1, (int64_t[]){32}));
    assert_int_equal(tn_file_dequantize_range(h, 0, 65, &s), TN_EARG);
    s.shape[0] = 4;
    s.stride[0] = 16;
    assert_int_equal(tn_file_dequantize_range(h, 0, 0, &s), TN_ESTRIDE);
    tn_file_close(h);
    big = true;
    make_gguf(1, 64);
    big = false;
    OK(tn_init(&s, x, TN_F32, 1, (int64_t[]){64}));
    OK(tn_file_open(&h, in_folder("x.gguf")));
    assert_int_equal(tn_file_dequantize(h, 0, &s), TN_EUNSUPPORTED);
    tn_file_close(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_reference), cmocka_unit_test(refused),
        cmocka_unit_test(long_tensors), cmocka_unit_test(what_cannot_be_dequantised)};
    return cmocka_run_group_tests(tests, open_files, close_files);
}
