/* test_core_text.c - letters of UTF-8, and what of a sentence is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <tenon/tenon.h>

#include "core/core.h"

/* ---- letters ---- */

/* The well-formed sequences of the Unicode standard (table 3-7): the range of each byte. */
static const struct {
    int bytes;
    uint8_t range[4][2];
} well_formed[] = {
    {1, {{0x00, 0x7f}}},
    {2, {{0xc2, 0xdf}, {0x80, 0xbf}}},
    {3, {{0xe0, 0xe0}, {0xa0, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xe1, 0xec}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {3, {{0xed, 0xed}, {0x80, 0x9f}, {0x80, 0xbf}}},
    {3, {{0xee, 0xef}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf0, 0xf0}, {0x90, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf1, 0xf3}, {0x80, 0xbf}, {0x80, 0xbf}, {0x80, 0xbf}}},
    {4, {{0xf4, 0xf4}, {0x80, 0x8f}, {0x80, 0xbf}, {0x80, 0xbf}}},
};

static int letter_of_table(const uint8_t *text, int length)
{
    for (int row = 0; row < COUNT(well_formed); row++) {
        const int bytes = well_formed[row].bytes;
        int k = 0;
        while (k < bytes && k < length && text[k] >= well_formed[row].range[k][0] &&
               text[k] <= well_formed[row].range[k][1])
            k++;
        if (k == bytes)
            return bytes;
    }
    return 0;
}

/* The text ends where its memory ends. */
static void check_letter(const uint8_t *text, int length)
{
    char *exact = malloc((size_t)length);
    assert_non_null(exact);
    memcpy(exact, text, (size_t)length);
    const int got = tni_utf8_letter(exact, exact + length);
    const int want = letter_of_table(text, length);
    if (got != want)
        fail_msg("%02x %02x %02x %02x in %d bytes: %d, not %d", text[0], text[1], text[2],
                 text[3], length, got, want);
    free(exact);
}

/* Every pair of first bytes; behind them the bytes at both ends of each range.  What begins no
 * letter of several bytes does not depend on the length. */
static void letters_are_those_of_the_table(void **state)
{
    (void)state;
    static const uint8_t ends[] = {0x00, 0x7f, 0x80, 0x9f, 0xbf, 0xc0, 0xff};
    for (int first = 0; first < 0x100; first++)
        for (int second = 0; second < 0x100; second++) {
            const uint8_t pair[4] = {(uint8_t)first, (uint8_t)second, 0x80, 0x80};
            for (int length = first < 0xc0 && second ? 4 : 1; length <= 4; length++)
                check_letter(pair, length);
            if (first < 0xe0 || (second & 0x0f) % 15)
                continue;
            for (int i = 0; i < COUNT(ends); i++)
                for (int j = 0; j < COUNT(ends); j++)
                    check_letter((uint8_t[]){pair[0], pair[1], ends[i], ends[j]}, 4);
        }
}

static void texts_are_utf8_or_not(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool fine;
    } rows[] = {
        {"", true},
        {"a", true},
        {"\xff", false},
        {"gr\xc3\xbcn", true},
        {"gr\xc3\xbc", true},
        {"gr\xc3", false},
        {"\xc3(", false},
        {"\xe2\x82\xac\xf0\x9f\x98\x80z", true},
        {"\xe2\x82\xac\xf0\x9f\x98\x80\x80", false},
    };
    for (int i = 0; i < COUNT(rows); i++)
        assert_int_equal(tni_is_utf8(rows[i].text), rows[i].fine);
}

/* ---- sentences ---- */

enum { LONGEST = 511 }; /* bytes of a sentence */

/* Parts of a text, and what a sentence makes of each. */
static const struct part {
    const char *in, *out;
} parts[] = {
    {"a", "a"},
    {"\xc3\xbc", "\xc3\xbc"},
    {"\xe2\x82\xac", "\xe2\x82\xac"},
    {"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
    {"\xff", "\\xff"},
    {"\x80", "\\x80"},
    {"\xc3.", "\\xc3."},
    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},
};

/* How much is kept: every letter, or byte that is none, until one does not fit. */
static size_t kept_of(const char *out)
{
    size_t n = 0;
    while (out[n]) {
        const int letter = letter_of_table((const uint8_t *)out + n, (int)strlen(out + n));
        const size_t more = out[n] == '\\' ? 4 : (size_t)letter;
        if (n + more > LONGEST)
            break;
        n += more;
    }
    return n;
}

static void check_sentence(const char *in, const char *out)
{
    char kept[LONGEST + 1] = "";
    memcpy(kept, out, kept_of(out));
    assert_int_equal(tni_fail(TN_EARG, "%s", in), TN_EARG);
    assert_string_equal(tn_error(), kept);
    assert_int_equal(tni_fail_at(TN_ESHAPE, 3, "%s", in), TN_ESHAPE);
    assert_string_equal(tn_error(), kept);
    assert_int_equal(tn_set_error(TN_EIO, in), TN_EIO);
    assert_string_equal(tn_error(), kept);
}

/* A part, letters up to the end of a sentence or near it, and two parts there. */
static void sentences_are_utf8_and_cut_between_letters(void **state)
{
    (void)state;
    enum { ALL = 8 * 8 * 8 * 20 };
    for (int i = 0; i < ALL; i++) {
        const struct part *at[] = {&parts[i % 8], &parts[i / 8 % 8], &parts[i / 64 % 8]};
        char in[LONGEST + 40] = "", out[LONGEST + 40] = "";
        for (int k = 0; k < COUNT(at); k++) {
            strcat(in, at[k]->in);
            strcat(out, at[k]->out);
            if (k == 0) {
                const size_t n = (size_t)(LONGEST - 18 + i / 512);
                memset(in + strlen(in), 'b', n - strlen(out));
                memset(out + strlen(out), 'b', n - strlen(out));
            }
        }
        check_sentence(in, out);
    }
}

static void short_and_long_sentences(void **state)
{
    (void)state;
    check_sentence("", "");
    for (int i = 0; i < COUNT(parts); i++)
        check_sentence(parts[i].in, parts[i].out);
    char text[2000];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = 0;
    check_sentence(text, text);
    assert_int_equal(strlen(tn_error()), LONGEST);
    check_sentence("short again", "short again");
    assert_int_equal(tn_set_error(TN_EIO, tn_error()), TN_EIO);
    assert_string_equal(tn_error(), "short again");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_are_those_of_the_table),
        cmocka_unit_test(texts_are_utf8_or_not),
        cmocka_unit_test(sentences_are_utf8_and_cut_between_letters),
        cmocka_unit_test(short_and_long_sentences),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
