/* test_io_pt.c - torch's files: what torch has written is read, what it would not write is
 * refused, and nothing is ever called. */
#include "io_oracle.h"

#include "io_fail.h"
#include "torch_made.h"

static void check_golden(const tn_file *f, const char *name, tn_dtype dtype)
{
    int64_t i;
    tn_tensor t;
    OK(tn_file_find(f, name, &i));
    OK(tn_file_read(f, i, &t));
    assert_int_equal(t.dtype, dtype);
    assert_golden(&t, name);
    tn_free(&t);
}

static void every_dtype(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        tn_dtype dtype;
    } rows[] = {{"f32", TN_F32},       {"f64", TN_F64},       {"f16", TN_F16},
                {"bf16", TN_BF16},     {"i64", TN_I64},       {"i32", TN_I32},
                {"i16", TN_I16},       {"i8", TN_I8},         {"u8", TN_U8},
                {"bool", TN_BOOL},     {"c64", TN_C64},       {"u16", TN_U16},
                {"f8e4m3", TN_F8E4M3}, {"f8e5m2", TN_F8E5M2}, {"tied", TN_F32}};
    tn_file *f = NULL;
    OK(tn_file_open(&f, DATA("state.pt")));
    assert_string_equal(tn_file_format(f), "pt");
    assert_int_equal(tn_file_count(f), 20);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        check_golden(f, rows[k].name, rows[k].dtype);
    tn_file_close(f);
}

/* A view that cannot be read, and the name of a file that has none. */
static void reads_that_fail(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    int64_t i;
    OK(tn_file_open(&f, DATA("state.pt")));
    OK(tn_file_find(f, "window", &i));
    arm("pread", 0);
    assert_int_equal(tn_file_read(f, i, &t), TN_EIO);
    tni_sys_hook = NULL;
    tn_file_close(f);
    FILE *open = fopen(DATA("state.pt"), "rb");
    OK(tn_file_open_fd(&f, fileno(open), "state"));
    assert_string_equal(tn_file_path(f, 0), "state");
    tn_file_close(f);
    fclose(open);
}

/* Strides, offsets and repetition: read, mapped and fetched alike. */
static void views_of_storages(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t, m, places, dst;
    int64_t i, tied, first, second;
    OK(tn_file_open(&f, DATA("state.pt")));
    for (int k = 0; k < 5; k++) {
        static const char *const names[] = {"turned", "window", "repeated", "scalar", "empty"};
        OK(tn_file_find(f, names[k], &i));
        OK(tn_file_read(f, i, &t));
        assert_true(tn_is_contiguous(&t));
        if (!host_is_big()) {
            OK(tn_file_map(f, i, &m));
            assert_same_elements(&m, &t);
        }
        OK(tn_file_places(f, i, &places));
        OK(tn_alloc(&dst, t.dtype, t.ndim, t.shape));
        OK(tn_file_fetch(f, i, &dst, &places));
        assert_same_elements(&dst, &t);
        tn_free(&dst);
        if (k == 1) { /* base[10:70:2] as (5, 6), without its first column */
            for (int64_t r = 0; r < 5; r++)
                for (int64_t c = 0; c < 5; c++)
                    assert_int_equal(*(int32_t *)tn_at(&t, (int64_t[]){r, c}),
                                     10 + 2 * (6 * r + c + 1));
        }
        if (k == 2)
            assert_true(*(float *)tn_at(&t, (int64_t[]){1, 3}) == 2.0f);
        tn_free(&t);
    }
    OK(tn_file_find(f, "f32", &i));
    OK(tn_file_find(f, "tied", &tied));
    OK(tn_file_info(f, i, NULL, NULL, &first));
    OK(tn_file_info(f, tied, NULL, NULL, &second));
    assert_int_equal(first, second);
    tn_file_close(f);
}

static void names_by_keys(void **state)
{
    (void)state;
    static const char *const names[] = {"model.w",          "model.b", "opt.state.0.exp_avg",
                                        "opt.state.1.step", "list.0",  "list.1.0"};
    tn_file *f = NULL;
    OK(tn_file_open(&f, DATA("checkpoint.pt")));
    assert_int_equal(tn_file_count(f), 6);
    for (int k = 0; k < 6; k++)
        assert_string_equal(tn_file_name(f, k), names[k]);
    assert_true(tn_file_skipped(f) > 5);
    check_golden(f, "model.b", TN_F16);
    check_golden(f, "list.1.0", TN_I8);
    tn_file_close(f);
    OK(tn_file_open(&f, DATA("single.pt")));
    assert_string_equal(tn_file_name(f, 0), "");
    check_golden(f, "", TN_F32);
    tn_file_close(f);
    assert_int_equal(tn_file_skipped(NULL), 0);
}

static void every_protocol(void **state)
{
    (void)state;
    for (int p = 3; p <= 5; p++) {
        char path[200];
        tn_file *f = NULL;
        snprintf(path, sizeof path, DATA("protocol%d.pt"), p);
        OK(tn_file_open(&f, path));
        assert_int_equal(tn_file_count(f), 2);
        check_golden(f, "a", TN_F32);
        check_golden(f, "b.x", TN_BF16);
        tn_file_close(f);
    }
}

/* Tensors that are listed and not read do not block the others. */
static void odd_tensors(void **state)
{
    (void)state;
    tn_file *f = NULL;
    tn_tensor t;
    OK(tn_file_open(&f, DATA("odd.pt")));
    assert_int_equal(tn_file_count(f), 5);
    for (int k = 0; k < 4; k++)
        assert_int_equal(tn_file_read(f, k, &t), TN_EUNSUPPORTED);
    check_golden(f, "ok", TN_F32);
    tn_file_close(f);
}

/* Tensors under a tuple, None or a float as key are listed and refused, at every depth; values
 * there that are not tensors are skipped, and tensors beside them are read. */
static void odd_keys(void **state)
{
    (void)state;
    static const char text[] =
        "}(U\1a" FOUR_OF(PLAIN) "q\0K\1K\2\x86}(U\1bh\0U\1cK\1uN]h\0aG\0\0\0\0\0\0\0\0Nu.";
    static const char *const names[] = {"a", "(key 1).b", "(key 2).0"};
    tn_file *f;
    tn_tensor t;
    OK(open_pickle(text, sizeof text - 1, &f));
    assert_int_equal(tn_file_count(f), 3);
    assert_int_equal(tn_file_skipped(f), 2);
    for (int64_t k = 0; k < 3; k++) {
        assert_string_equal(tn_file_name(f, k), names[k]);
        assert_int_equal(tn_file_read(f, k, &t), k ? TN_EUNSUPPORTED : TN_OK);
        assert_true(!k || strstr(tn_error(), "a key that is neither text nor an integer"));
        if (!k)
            tn_free(&t);
    }
    tn_file_close(f);
}

static void other_formats(void **state)
{
    (void)state;
    static const struct {
        const char *path, *sentence;
    } rows[] = {{DATA("old.pt"), "PyTorch's format before 1.6; load it and save it"},
                {DATA("script.pt"), "a TorchScript archive"}};
    for (int k = 0; k < 2; k++) {
        tn_file *f = NULL;
        assert_int_equal(tn_file_open(&f, rows[k].path), TN_EUNSUPPORTED);
        assert_non_null(strstr(tn_error(), rows[k].sentence));
        assert_null(f);
    }
    tn_file *f = NULL;
    for (char protocol = 1; protocol < 7; protocol++) { /* 2 to 5 are known */
        const char bare[] = {'\x80', protocol, 'N', '.'};
        const bool known = protocol >= 2 && protocol <= 5;
        spit(in_folder("bare.pkl"), bare, sizeof bare);
        assert_int_equal(tn_file_open(&f, in_folder("bare.pkl")),
                         known ? TN_EUNSUPPORTED : TN_EFORMAT);
        assert_true(!known || strstr(tn_error(), "a bare pickle"));
    }
    static const char magic[] = "\x80\2\x8a\n\x6c\xfc\x9c\x46\xf9\x20";
    spit(in_folder("old.pt"), magic, sizeof magic - 1);
    assert_int_equal(tn_file_open(&f, in_folder("old.pt")), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "before 1.6"));
    char tar[512] = "version";
    memcpy(tar + 257, "ustar ", 6); /* as GNU tar writes it, where POSIX has a 0 */
    spit(in_folder("old.tar"), tar, sizeof tar);
    assert_int_equal(tn_file_open(&f, in_folder("old.tar")), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "a tar archive"));
    spit(in_folder("old.tar"), tar, 262);
    assert_int_equal(tn_file_open(&f, in_folder("old.tar")), TN_EUNSUPPORTED);
    spit(in_folder("old.tar"), tar, 261);
    assert_int_equal(tn_file_open(&f, in_folder("old.tar")), TN_EFORMAT);
}

/* ---- pickles that torch does not write ---- */

#define FOURS "K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1K\1"
#define TENS  "0000000000"

static void tensors_by_hand(void **state)
{
    (void)state;
#define ROW(text, status, sentence)                                                            \
    {                                                                                          \
        text, sizeof text - 1, status, sentence                                                \
    }
    static const struct {
        const char *text;
        size_t n;
        tn_status status;
        const char *sentence;
    } rows[] = {
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "K\4K\4\x86", "K\4K\1\x86") ".", TN_OK,
            ""),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "K\4K\0\x86", "K\4K\1\x86") ".", TN_OK,
            ""),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\1", "K\4K\4\x86", "K\4K\1\x86") ".",
            TN_EFORMAT, "its elements extend past its storage"),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x11"), "K\0", "K\4\x85", "K\1\x85") ".", TN_EFORMAT,
            "its storage is longer than its member"),
        ROW("\x80\2" TENSOR(STORAGE("7", "\x10"), "K\0", "K\4\x85", "K\1\x85") ".", TN_EFORMAT,
            "its storage is not in the archive"),
        ROW("\x80\2" TENSOR(STORAGE("/", "\x10"), "K\0", "K\4\x85", "K\1\x85") ".", TN_EFORMAT,
            "the key of its storage is not a number"),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "K\4\x85", "K\1K\1\x86") ".",
            TN_EFORMAT, "shape and stride differ in length"),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "J\xff\xff\xff\xff\x85",
                            "K\1\x85") ".",
            TN_EFORMAT, "not an integer >= 0"),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "\x8a\10\0\0\0\0\0\0\0\x40\x85",
                            "\x8a\10\0\0\0\0\0\0\0\x40\x85") ".",
            TN_EFORMAT, "exceeds 2^63 - 1 bytes"),
        ROW("\x80\2" TENSOR("N", "K\0", "K\4\x85", "K\1\x85") ".", TN_EFORMAT,
            "missing storage or offset"),
        ROW("\x80\2" TENSOR(STORAGE("0", "\x10"), "K\0", "N", "K\1\x85") ".", TN_EFORMAT,
            "shape or stride is not a tuple"),
        ROW("\x80\2}U\1aK\1s.", TN_OK, ""),
        ROW("\x80\2}U\2\xff\xffK\1s.", TN_EFORMAT, "a key is not UTF-8"),
        ROW("\x80\2}U\2a\0K\1s.", TN_EFORMAT, "a key contains"),
        ROW("}NN(s.", TN_EFORMAT, "the stack is empty"),
        ROW("}N]q\0h\0as.", TN_EUNSUPPORTED, "nested more than 1000 deep"), /* below None */
        ROW("}N" FOUR_OF(STORAGE("0", "\x10")) "s.", TN_OK, ""),
        ROW("}N" TENSOR("N", "K\0", "K\4\x85", "K\1\x85") "s.", TN_EFORMAT,
            "missing storage or offset"),
        /* what a pickle can do elsewhere */
        ROW("cposix\nsystem\n(U\4echotR.", TN_EUNSUPPORTED, "needs posix.system, which is not"),
        ROW("cposix\nsystem\n.", TN_EUNSUPPORTED, "needs posix.system"),
        ROW("\x80\4\x8c\10builtins\x8c\4eval\x93.", TN_EUNSUPPORTED, "needs builtins.eval"),
        ROW("c__main__\nNet\n)\x81.", TN_EUNSUPPORTED, "needs __main__.Net"),
        ROW("ctorch.distributed.tensor\nDTensor\n.", TN_EUNSUPPORTED,
            "needs torch.distributed"),
        ROW("c\x1b[31m\n\n.", TN_EUNSUPPORTED, "needs ?[31m."),
        ROW("(iposix\nsystem\n.", TN_EUNSUPPORTED, "opcode 0x69 at byte 1 is not supported"),
        ROW("P0\n.", TN_EUNSUPPORTED, "opcode 0x50 at byte 0 is not supported"),
        ROW("K\4r\0\0\0\0j\0\0\0\0.", TN_OK, ""), /* a memo index of four bytes */
        ROW("ctorch._utils\n_rebuild_tensor\n(" PLAIN "K\0K\4\x85K\1\x85tR.", TN_OK, ""),
        ROW("N0.", TN_EUNSUPPORTED, "opcode 0x30 at byte 1 is not supported"),
        ROW("NR.", TN_EFORMAT, "the stack is empty"),
        ROW("NNR.", TN_EFORMAT, "a call of something other than a function"),
        ROW("", TN_EFORMAT, "ends without STOP"),
        ROW("N", TN_EFORMAT, "ends without STOP"),
        ROW(".", TN_EFORMAT, "the stack is empty"),
        ROW("X\xff\xff\xff\x7f.", TN_EFORMAT, "ends inside a value"),
        ROW("\x8d\xff\xff\xff\xff\xff\xff\xff\xff.", TN_EFORMAT, "ends inside a value"),
        ROW("h\0.", TN_EFORMAT, "memo index is not defined"),
        ROW("Nr\xff\xff\xff\xff.", TN_EFORMAT, "memo index is too large"),
        ROW("t.", TN_EFORMAT, "missing mark"),
        ROW("N(R.", TN_EFORMAT, "the stack is empty"),
        ROW("]NNu.", TN_EFORMAT, "missing mark"),
        ROW("}(Nu.", TN_EFORMAT, "a key without a value"),
        ROW("K\1(NNu.", TN_EFORMAT, "items are added to something other than a dict"),
        ROW("cbuiltins", TN_EFORMAT, "ends inside a name"),
        ROW("NQ.", TN_EFORMAT, "a storage is not a tuple of 5 items"),
        ROW("KxKy\x93.", TN_EFORMAT, "a name is not a string"),
        ROW("]q\0h\0a.", TN_EUNSUPPORTED, "nested more than 1000 deep"), /* holds itself */
        /* numbers of every length */
        ROW(TENSOR(PLAIN, "\x8a\0", "\x8a\1\4\x85", "\x8a\2\1\0\x85") ".", TN_OK, ""),
        ROW(TENSOR(PLAIN, "K\0", "\x8b\1\0\0\0\4\x85", "K\1\x85") ".", TN_OK, ""),
        ROW(TENSOR(PLAIN, "K\0", "\x8a\1\xff\x85", "K\1\x85") ".", TN_EFORMAT,
            "not an integer >= 0"),
        ROW(TENSOR(PLAIN, "K\0", "U\1a\x85", "K\1\x85") ".", TN_EFORMAT, "not an integer >= 0"),
        ROW(TENSOR(PLAIN, "K\0", "(" FOURS FOURS FOURS FOURS "K\1t", "(t") ".", TN_EFORMAT,
            "has more than 64 axes"),
        ROW(TENSOR(PLAIN, BIG("\x40"), "K\4\x85", "K\1\x85") ".", TN_EFORMAT,
            "offset exceeds 2^63 - 1 bytes"),
        ROW(TENSOR(PLAIN, "K\0", BIG("\x10") BIG("\x10") "\x86", "K\0K\0\x86") ".", TN_EFORMAT,
            "size exceeds 2^63 - 1 bytes"),
        ROW(TENSOR(PLAIN, "K\0", "K\3\x85", BIG("\x10") "\x85") ".", TN_EFORMAT,
            "size exceeds 2^63 - 1 bytes"),
        /* storages */
        ROW(FOUR_OF(STORAGE_OF("Float", "K\0", "U\3cpu", "K\4")) ".", TN_EFORMAT,
            "the key of its storage is not a number"),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\0", "U\3cpu", "K\4")) ".", TN_EFORMAT,
            "the key of its storage is not a number"),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\0020x", "U\3cpu", "K\4")) ".", TN_EFORMAT,
            "the key of its storage is not a number"),
        ROW(FOUR_OF(STORAGE_OF("Float", "C\0010", "U\3cpu", "K\4")) ".", TN_OK, ""),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\x28" TENS TENS TENS TENS, "U\3cpu", "K\4")) ".",
            TN_EFORMAT, "the key of its storage is not a number"),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\0010", "U\3cpu", "N")) ".", TN_EFORMAT,
            "its storage is longer than its member"),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\0010", "U\3cpu", "J\xff\xff\xff\xff")) ".",
            TN_EFORMAT, "its storage is longer than its member"),
        ROW(FOUR_OF(STORAGE_OF("QInt8", "U\0010", "U\3cpu", "K\4")) ".", TN_OK, ""),
        ROW(FOUR_OF(STORAGE_OF("Float", "U\0010", "U\4meta", "K\4")) ".", TN_OK, ""),
        ROW(REBUILD "(" PLAIN "K\0K\4\x85K\1\x85\x89}}tR.", TN_OK, ""), /* nothing is lazy */
        ROW(REBUILD "(" PLAIN "K\0K\4\x85K\1\x85\x89}}U\4conj\x88stR.", TN_OK, ""),
        ROW(V3("ctorch\nfloat32\n"), TN_OK, ""),
        ROW(V3("ctorch\nfloat8_e8m0fnu\n"), TN_OK, ""),
        ROW(V3("ctorch\nSize\n"), TN_EFORMAT, "missing dtype"),
        ROW(V3("N"), TN_EFORMAT, "missing dtype"),
        /* calls */
        ROW("\x93.", TN_EFORMAT, "the stack is empty"),
        ROW("U\1a\x93.", TN_EFORMAT, "the stack is empty"),
        ROW("U\1aK\1\x93.", TN_EFORMAT, "a name is not a string"),
        ROW("Q.", TN_EFORMAT, "the stack is empty"),
        ROW("b.", TN_EFORMAT, "the stack is empty"),
        ROW("G\0\0\0\0\0\0\0\0.", TN_OK, ""),
        ROW(DICT "NR.", TN_EFORMAT, "a call of something other than a function"),
        ROW(DICT ")R.", TN_OK, ""),
        ROW(DICT "]U\1aK\1\x86"
                 "a\x85R.",
            TN_OK, ""),
        ROW(DICT "]K\1a\x85R.", TN_EFORMAT, "dict items are not pairs"),
        ROW(DICT "]K\1K\1K\1\x87"
                 "a\x85R.",
            TN_EFORMAT, "dict items are not pairs"),
        ROW(FROM_TYPE "(" REBUILD "ctorch\nTensor\n(" PLAIN "K\0K\4\x85K\1\x85\x89}tNtR.",
            TN_OK, ""),
        ROW(FROM_TYPE "(" FROM_TYPE "NN)tR.", TN_EFORMAT,
            "_rebuild_from_type inside another one"),
        ROW(FROM_TYPE "(K\1N)NtR.", TN_EFORMAT, "a call of something other than a function"),
        ROW(FROM_TYPE ")R.", TN_EFORMAT, "a call of something other than a function"),
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tn_file *f;
        tn_status got = open_pickle(rows[k].text, rows[k].n, &f);
        if (got != rows[k].status || (got != TN_OK && !strstr(tn_error(), rows[k].sentence)))
            fail_msg("row %zu: %s: %s", k, tn_status_name(got), got ? tn_error() : "");
        assert_true((f != NULL) == (got == TN_OK));
        tn_file_close(f);
        for (size_t cut = 0; cut < rows[k].n; cut++) { /* every prefix is refused */
            assert_int_not_equal(open_pickle(rows[k].text, cut, &f), TN_OK);
            assert_null(f);
        }
    }
}

/* Memory and time are bounded by the pickle: nesting, sharing, and lists of lists. */
static void bombs(void **state)
{
    (void)state;
    enum { DEEP = 1000000 };
    tn_file *f;
    char *text = malloc(2 * DEEP + 2);
    memset(text, ']', DEEP);
    memset(text + DEEP, 'a', DEEP - 1);
    text[2 * DEEP - 1] = '.';
    assert_int_equal(open_pickle(text, 2 * DEEP, &f), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "nested more than 1000 deep"));
    /* 2^40 paths: each list holds the one before twice */
    size_t n = 0;
    text[n++] = ']';
    text[n++] = 'q';
    text[n++] = 0;
    for (char i = 1; i < 41; i++) {
        const char more[] = {']', 'q', i, 'h', (char)(i - 1), 'a', 'h', (char)(i - 1), 'a'};
        memcpy(text + n, more, sizeof more);
        n += sizeof more;
    }
    text[n++] = '.';
    assert_int_equal(open_pickle(text, n, &f), TN_EUNSUPPORTED);
    assert_non_null(strstr(tn_error(), "the pickle refers to its values too many times"));
    /* dicts made again and again of one long list of pairs */
    const char pair[] = "U\1aNq\0\x86q\1";
    n = 0;
    text[n++] = '(';
    memcpy(text + n, pair, sizeof pair - 1);
    n += sizeof pair - 1;
    for (int i = 0; i < 10000; i++, n += 2)
        memcpy(text + n, "h\1", 2);
    memcpy(text + n, "tq\2\x85q\3", 6);
    n += 6;
    for (int i = 0; i < 1000; i++) {
        const char call[] = "ccollections\nOrderedDict\nh\3R";
        memcpy(text + n, call, sizeof call - 1);
        n += sizeof call - 1;
    }
    text[n++] = '.';
    assert_int_equal(open_pickle(text, n, &f), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "more items than values"));
    free(text);
}

/* Two tensors of one name: a dict may have a key twice. */
static void names_twice(void **state)
{
    (void)state;
    static const char text[] =
        "}(U\1a" TENSOR(STORAGE("0", "\x10"), "K\0", "K\4\x85", "K\1\x85") "q\0U\1ah\0u.";
    tn_file *f;
    assert_int_equal(open_pickle(text, sizeof text - 1, &f), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "two tensors are named \"a\""));
}

/* Every bit of a file flipped, and every length: it opens and is consistent, or is refused. */
static void every_flipped_bit(void **state)
{
    (void)state;
    size_t n;
    uint8_t *bytes = slurp(DATA("checkpoint.pt"), &n);
    for (size_t at = 0; at < n; at += TEST_WATCHED ? 7 : 1)
        for (int bit = 0; bit < 8; bit += TEST_WATCHED ? 3 : 1) {
            tn_file *f = NULL;
            bytes[at] ^= (uint8_t)(1 << bit);
            tn_status status = open_bytes(bytes, n, &f);
            bytes[at] ^= (uint8_t)(1 << bit);
            if (status != TN_OK)
                assert_true(status == TN_EFORMAT || status == TN_EUNSUPPORTED);
            for (int64_t i = 0; i < tn_file_count(f); i++) {
                tn_tensor t;
                if (tn_file_read(f, i, &t) == TN_OK)
                    tn_free(&t);
            }
            tn_file_close(f);
        }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_dtype),       cmocka_unit_test(views_of_storages),
        cmocka_unit_test(names_by_keys),     cmocka_unit_test(every_protocol),
        cmocka_unit_test(odd_tensors),       cmocka_unit_test(other_formats),
        cmocka_unit_test(tensors_by_hand),   cmocka_unit_test(bombs),
        cmocka_unit_test(reads_that_fail),   cmocka_unit_test(names_twice),
        cmocka_unit_test(every_flipped_bit), cmocka_unit_test(odd_keys),
    };
    return cmocka_run_group_tests(tests, make_folder, drop_folder);
}
