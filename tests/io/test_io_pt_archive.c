/* test_io_pt_archive.c - archives around a pickle of torch: packed members, byte orders, names
 * and lengths that torch does not write. */
#include "torch_made.h"

#include <zlib.h>

#include "io/torch/torch.h"

static const char one_tensor[] = FOUR_OF(PLAIN) ".";

/* An archive with a pickle of one tensor, packed or not, and one member besides. */
static tn_status open_with(const char *top, int method, size_t whole, const char *name,
                           const char *text, tn_file **f)
{
    torch_archive a = {0};
    char path[5000];
    uint8_t packed[400];
    float storage[16] = {0};
    z_stream z = {.next_in = (Bytef *)(uintptr_t)one_tensor,
                  .avail_in = sizeof one_tensor - 1,
                  .next_out = packed,
                  .avail_out = sizeof packed};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -MAX_WBITS, 8, 0), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    snprintf(path, sizeof path, "%s/data.pkl", top);
    if (method)
        torch_packed(&a, path, packed, z.total_out, method, whole);
    else
        torch_member(&a, path, one_tensor, sizeof one_tensor - 1);
    snprintf(path, sizeof path, "%s/data/0", top);
    torch_member(&a, path, storage, sizeof storage);
    snprintf(path, sizeof path, "%s/%s", top, name);
    torch_member(&a, path, text, strlen(text));
    torch_finish(&a);
    tn_status status = open_bytes(a.bytes, a.n, f);
    torch_free(&a);
    return status;
}

static void archives_by_hand(void **state)
{
    (void)state;
    static const size_t n = sizeof one_tensor - 1;
    char top[4100];
    memset(top, 't', sizeof top);
    top[4080] = 0; /* some names below it are too long to be looked for */
    const struct {
        const char *top;
        int method;
        size_t whole;
        const char *name, *text;
        tn_status status;
        const char *sentence;
    } rows[] = {
        {"m", 0, n, "x", "", TN_OK, ""},
        {top, 0, n, "x", "", TN_OK, ""},
        {"m", 8, n, "x", "", TN_OK, ""},
        {"m", 8, n + 1, "x", "", TN_EFORMAT,
         "member \"m/data.pkl\" is shorter than its recorded length"},
        {"m", 9, n, "x", "", TN_EFORMAT, "compressed by method 9"},
        {"m", 0, n, "byteorder", "little", TN_OK, ""},
        {"m", 0, n, "byteorder", "big", TN_OK, ""},
        {"m", 0, n, "byteorder", "pdp", TN_OK, ""},
        {"m", 0, n, "byteorder", "a text that is too long", TN_OK, ""},
        {"m", 0, n, "constants.pkl", "", TN_EUNSUPPORTED, "a TorchScript archive"},
        {"m", 0, n, "code/.data", "", TN_EUNSUPPORTED, "a TorchScript archive"},
        {"m", 0, n, "code/__torch__.py", "", TN_EUNSUPPORTED, "a TorchScript archive"},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_file *f;
        tn_status got = open_with(rows[k].top, rows[k].method, rows[k].whole, rows[k].name,
                                  rows[k].text, &f);
        if (got != rows[k].status || (got != TN_OK && !strstr(tn_error(), rows[k].sentence)))
            fail_msg("row %zu: %s: %s", k, tn_status_name(got), got ? tn_error() : "");
        tn_file_close(f);
    }
}

/* A byte order that is not the host's is undone; bytes have none. */
static void the_other_byte_order(void **state)
{
    (void)state;
    static const uint8_t storage[8] = {0, 0, 0, 1, 0, 0, 0, 2};
    static const char pickles[2][200] = {
        TENSOR(STORAGE_OF("Int", "U\0010", "U\3cpu", "K\2"), "K\0", "K\2\x85", "K\1\x85") ".",
        TENSOR(STORAGE_OF("Char", "U\0010", "U\3cpu", "K\2"), "K\0", "K\2\x85", "K\1\x85") "."};
    for (int k = 0; k < 2; k++) {
        torch_archive a = {0};
        tn_file *f;
        tn_tensor t;
        torch_member(&a, "m/data.pkl", pickles[k], sizeof pickles[k]);
        torch_member(&a, "m/data/0", storage, sizeof storage);
        torch_member(&a, "m/byteorder", "big", 3);
        torch_finish(&a);
        OK(open_bytes(a.bytes, a.n, &f));
        OK(tn_file_read(f, 0, &t));
        if (k == 0) {
            assert_int_equal(((int32_t *)t.data)[0], 1);
            assert_int_equal(((int32_t *)t.data)[1], 2);
        } else {
            assert_memory_equal(t.data, storage, 2);
        }
        tn_free(&t);
        tn_file_close(f);
        torch_free(&a);
    }
}

/* A storage that has been packed is listed and not read; so is a tensor too many refused. */
static void packed_storages_and_many_names(void **state)
{
    (void)state;
    torch_archive a = {0};
    tn_file *f;
    tn_tensor t;
    torch_member(&a, "m/data.pkl", one_tensor, sizeof one_tensor - 1);
    torch_packed(&a, "m/data/0", "\3\0", 2, 8, 0);
    torch_finish(&a);
    OK(open_bytes(a.bytes, a.n, &f));
    assert_string_equal(tn_file_type(f, 0), "deflated");
    assert_int_equal(tn_file_read(f, 0, &t), TN_EUNSUPPORTED);
    tn_file_close(f);
    torch_free(&a);
    /* a packed pickle that is no deflated data */
    torch_packed(&a, "m/data.pkl", "\xff\xff\xff", 3, 8, 3);
    torch_finish(&a);
    assert_int_equal(open_bytes(a.bytes, a.n, &f), TN_EFORMAT);
    torch_free(&a);
    tni_torch_most = 1;
    OK(open_pickle(one_tensor, sizeof one_tensor - 1, &f));
    tn_file_close(f);
    tni_torch_most = 0;
    assert_int_equal(open_pickle(one_tensor, sizeof one_tensor - 1, &f), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "x.pt: more than 0 tensors"));
    tni_torch_most = 10000000;
}

/* The pickle's length is bounded before memory is taken; the file is a hole. */
static void a_pickle_that_is_too_long(void **state)
{
    (void)state;
    const uint64_t length = (1 << 28) + 1;
    torch_archive a = {0};
    tn_file *f;
    torch_member(&a, "m/data.pkl", "", 0);
    const size_t head = a.n;
    torch_finish(&a);
    uint8_t *central = a.bytes + head, *end = a.bytes + a.n - 22;
    torch_put(central + 20, length, 4);
    torch_put(central + 24, length, 4);
    torch_put(end + 16, head + length, 4);
    (void)open_bytes(a.bytes, head, &f);
    assert_int_equal(pwrite(fd, central, a.n - head, (off_t)(head + length)), a.n - head);
    assert_int_equal(tn_file_open_fd(&f, fd, "x.pt"), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "pickle has 268435457 bytes"));
    torch_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(archives_by_hand),
        cmocka_unit_test(the_other_byte_order),
        cmocka_unit_test(packed_storages_and_many_names),
        cmocka_unit_test(a_pickle_that_is_too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
