/* test_io_json.c - JSON of headers: what is taken, what is refused, and what is quoted. */
#include "io_oracle.h"

#include "io/safetensors/json.h"

static tni_arena arena;

static tni_json over(const char *text)
{
    return (tni_json){.text = text, .length = (int64_t)strlen(text)};
}

static void texts(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text; /* NULL: refused */
    } rows[] = {
        {"\"\"", ""},
        {" \t\r\n\"a b\"", "a b"},
        {"\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t"},
        {"\"\\u0041\\u00e9\\u20ac\\uD834\\uDD1E\"", "A\xc3\xa9\xe2\x82\xac\xf0\x9d\x84\x9e"},
        {"\"\x7f\xc3\xa9\"", "\x7f\xc3\xa9"},
        {"\"\\u0aF9\\u0Af0\"", "\xe0\xab\xb9\xe0\xab\xb0"},
        {"\"\\u007f\\u0080\\u07ff\\u0800\"", "\x7f\xc2\x80\xdf\xbf\xe0\xa0\x80"},
        {"\"\\ud7ff\\ue000\\uffff\"", "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf"},
        {"\"\\ud800\\udc00\\udbff\\udfff\"", "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf"},
        {"\"\xf4\x8f\xbf\xbf\xdf\xbf\xef\xbf\xbf\"", "\xf4\x8f\xbf\xbf\xdf\xbf\xef\xbf\xbf"},
        {"\"\\u001f !\"", "\x1f !"},
        {"\"\x1f\"", NULL},
        {"\"\\ud800\\udbff\"", NULL},
        {"\"\\ud800\\ue000\"", NULL},
        {"\"\\udc00\"", NULL},
        {"\"\\udfff\"", NULL},
        {"\"\\ud834x\"", NULL},
        {"\"\\ud834\\", NULL},
        {"\"\\ud834\\u", NULL},
        {"\"\\u004`\"", NULL},
        {"\"\\u004G\"", NULL},
        {"\"\\u004/\"", NULL},
        {"\"\\u004:\"", NULL},
        {"\"\\u0000\"", NULL},
        {"\"\\ud834\"", NULL},
        {"\"\\ud834\\n\"", NULL},
        {"\"\\ud834\\u0041\"", NULL},
        {"\"\\ud834\\ue000\"", NULL},
        {"\"\\ud834\\uzzzz\"", NULL},
        {"\"\\ud834\\", NULL},
        {"\"\\uffff\"", "\xef\xbf\xbf"},
        {"\"\\udd1e\"", NULL},
        {"\"\\u12g4\"", NULL},
        {"\"\\u12", NULL},
        {"\"\\x\"", NULL},
        {"\"\\", NULL},
        {"\"a", NULL},
        {"\"a\nb\"", NULL},
        {"\"\xff\"", NULL},
        {"\"\xc3\"", NULL},
        {"\"\xed\xa0\x80\"", NULL},
        {"a", NULL},
        {"", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tni_json j = over(rows[i].json);
        const char *got = NULL;
        bool good = tni_json_string(&j, &arena, &got);
        if (good != (rows[i].text != NULL) || (good && strcmp(got, rows[i].text) != 0))
            fail_msg("row %d: %s, %s", (int)i, good ? got : "refused", j.why ? j.why : "-");
        assert_true(good ? j.at == j.length : j.why != NULL);
    }
}

static void whole_numbers(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        bool good;
        int64_t x;
    } rows[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {" 17]", true, 17},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
        {"01", false, 0},
        {"1.0", false, 0},
        {"1e3", false, 0},
        {"1E3", false, 0},
        {"-", false, 0},
        {"+1", false, 0},
        {"", false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tni_json j = over(rows[i].json);
        int64_t x = 0;
        if (tni_json_integer(&j, &x) != rows[i].good || x != rows[i].x)
            fail_msg("\"%s\" gives %lld", rows[i].json, (long long)x);
    }
}

/* What stands behind the end is not looked at. */
static void texts_end_where_they_end(void **state)
{
    (void)state;
    int64_t x = -1;
    const char *text = NULL;
    tni_json j = {.text = "01", .length = 1};
    assert_true(tni_json_integer(&j, &x));
    assert_int_equal(x, 0);
    j = (tni_json){.text = "-17", .length = 2};
    assert_true(tni_json_integer(&j, &x));
    assert_int_equal(x, -1);
    static const struct {
        const char *json;
        int64_t length;
        const char *why;
    } rows[] = {
        {"\"a\"", 2, "unterminated string"},
        {"\"a\"", 1, "unterminated string"},
        {"\"\xc3\xa9\"", 2, "invalid UTF-8"},
        {"\"\xf4\x8f\xbf\xbf\"", 4, "invalid UTF-8"},
        {"\"\\u00e9\"", 6, "\\u needs four digits"},
        {"\"\\n\"", 2, "unknown escape"},
        {"\"\\ud834\\udd1e\"", 8, "unpaired surrogate"},
        {"\"\\ud834\\udd1e\"", 9, "\\u needs four digits"},
        {" \"a\"", 1, "expected a string"},
        {"\"\0\"", 3, "control character in a string"},
        {"\"\x1f\"", 3, "control character in a string"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        j = (tni_json){.text = rows[i].json, .length = rows[i].length};
        assert_false(tni_json_string(&j, &arena, &text));
        assert_string_equal(j.why, rows[i].why);
    }
    static const char *const words[] = {"null", "true", "false", "1.5", "2e3", "[1]", "{}"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        j = (tni_json){.text = words[i], .length = (int64_t)strlen(words[i]) - 1};
        assert_false(tni_json_skip(&j));
    }
    j = (tni_json){.text = "10", .length = 1};
    assert_true(tni_json_skip(&j));
    assert_int_equal(j.at, 1);
}

static void any_value_is_passed(void **state)
{
    (void)state;
    static const char *const good[] = {
        "null",
        "true",
        "false",
        "0",
        "-0.5e+10",
        "1E-3",
        "\"a\"",
        "[]",
        "{}",
        "[1, [2, {}]]",
        "{\"a\": [null, {\"b\": \"c\"}], \"d\": -1}",
    };
    static const char *const bad[] = {
        "nul",     "True",     "-",     "1.",         "1e",   ".5", "[1",  "[1,]",  "[1 2]",
        "{\"a\"}", "{\"a\":}", "{a:1}", "{\"a\":1,}", "[\"]", "",   "NaN", "{1:2}",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        tni_json j = over(good[i]);
        if (!tni_json_skip(&j) || j.at != j.length)
            fail_msg("%s: %s", good[i], j.why ? j.why : "not passed");
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        tni_json j = over(bad[i]);
        if (tni_json_skip(&j) || !j.why)
            fail_msg("%s is passed", bad[i]);
    }
    char deep[300];
    for (int n = 100; n <= 103; n++) {
        memset(deep, '[', (size_t)n);
        memset(deep + n, ']', (size_t)n);
        deep[2 * n] = 0;
        tni_json j = over(deep);
        assert_int_equal(tni_json_skip(&j), n <= 101);
    }
}

static void objects_of_texts(void **state)
{
    (void)state;
    static const struct {
        const char *json, *text; /* NULL: refused */
    } rows[] = {
        {"{}", "{}"},
        {" { \"a\" : \"b\" , \"\\u00fc\" : \"\\u0001\\n\\/\" } ",
         "{\"a\":\"b\",\"\xc3\xbc\":\"\\u0001\\n/\"}"},
        {"{\"a\":\"b\",\"a\":\"c\"}", NULL},
        {"{\"a\":\"b\",\"\\u0061\":\"c\"}", NULL},
        {"{\"a\":1}", NULL},
        {"{\"a\" \"b\"}", NULL},
        {"{\"a\":\"b\" \"c\":\"d\"}", NULL},
        {"{\"a\":\"b\",}", NULL},
        {"{1:\"b\"}", NULL},
        {"{", NULL},
        {"[]", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tni_json j = over(rows[i].json);
        const char *got = NULL;
        bool good = tni_json_texts(&j, &arena, &got);
        if (good != (rows[i].text != NULL) || (good && strcmp(got, rows[i].text) != 0))
            fail_msg("%s gives %s, %s", rows[i].json, good ? got : "nothing",
                     j.why ? j.why : "-");
    }
}

/* Every letter of one byte comes back from its quotes, and quotes never grow twice. */
static void quotes(void **state)
{
    (void)state;
    char text[130], quoted[1000];
    for (int i = 0; i < 127; i++)
        text[i] = (char)(i + 1);
    strcpy(text + 127, "\xc3\xa9");
    int64_t n = tni_json_quote(NULL, text);
    assert_int_equal(tni_json_quote(quoted, text), n);
    quoted[n] = 0;
    tni_json j = over(quoted);
    const char *got = NULL;
    assert_true(tni_json_string(&j, &arena, &got));
    assert_string_equal(got, text);
    assert_int_equal(tni_json_quote(quoted, "\"\x1f\t"), 2 + 2 + 6 + 2);
    assert_memory_equal(quoted, "\"\\\"\\u001F\\t\"", 12);
    assert_int_equal(tni_json_quote(quoted, "a \x7f"), 5);
    assert_memory_equal(quoted, "\"a \x7f\"", 5);
}

static int teardown(void **state)
{
    (void)state;
    tni_arena_free(&arena);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts),
        cmocka_unit_test(whole_numbers),
        cmocka_unit_test(texts_end_where_they_end),
        cmocka_unit_test(any_value_is_passed),
        cmocka_unit_test(objects_of_texts),
        cmocka_unit_test(quotes),
    };
    return cmocka_run_group_tests(tests, NULL, teardown);
}
