/* test_pattern.c - einops patterns: every rule of the grammar, the view, the copy, and back. */
#include "layout.h"

/* ---- shapes by the rules of the grammar ---- */

static const struct {
    const char *rule, *pattern, *sizes;
    int ndim;
    int64_t shape[6];
    tn_status status; /* of tn_pattern_shape */
    int out;
    int64_t want[8];
    int view; /* 1: a view on a dense tensor, 0: only a copy, 2: not asked */
} rules[] = {
    /* clang-format off */
    {"names are permuted", "a b c -> c a b", NULL, 3, {2, 3, 4}, TN_OK, 3, {4, 2, 3}, 1},
    {"no spaces at the arrow", "a b->b a", NULL, 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"many spaces", "  a   b  ->  b a ", "", 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"nothing is a scalar", "->", NULL, 0, {0}, TN_OK, 0, {0}, 1},
    {"a scalar becomes an axis", " -> 1", NULL, 0, {0}, TN_OK, 1, {1}, 1},
    {"long names, digits, underscores", "Ab_1 x2y -> x2y Ab_1", NULL, 2, {5, 6}, TN_OK, 2, {6, 5}, 1},
    {"a keyword is a name", "axis if -> if axis", NULL, 2, {5, 6}, TN_OK, 2, {6, 5}, 1},
    {"a group merges", "a b -> (a b)", NULL, 2, {2, 3}, TN_OK, 1, {6}, 1},
    {"a transposed group is a copy", "a b -> (b a)", NULL, 2, {2, 3}, TN_OK, 1, {6}, 0},
    {"a group splits", "(a b) -> a b", "a=2", 1, {6}, TN_OK, 2, {2, 3}, 1},
    {"the other size is inferred", "(a b) -> a b", "b=2", 1, {6}, TN_OK, 2, {3, 2}, 1},
    {"all sizes given", "(a b) -> b a", "a=2 b=3", 1, {6}, TN_OK, 2, {3, 2}, 1},
    {"three names, one inferred", "(a b c) -> a c b", "a=2  c=2", 1, {12}, TN_OK, 3, {2, 2, 3}, 1},
    {"groups need no spaces between", "(a b)(c d)->(a c)(b d)", "a=2 c=2", 2, {4, 6}, TN_OK, 2, {4, 6}, 0},
    {"spaces in a group", "( a b ) -> a b", "a=2", 1, {6}, TN_OK, 2, {2, 3}, 1},
    {"a group of one name", "(a) b -> a (b)", NULL, 2, {2, 3}, TN_OK, 2, {2, 3}, 1},
    {"depth to space", "b (h p) w c -> b c h (w p)", "p=2", 4, {1, 4, 3, 5}, TN_OK, 4, {1, 5, 2, 6}, 0},
    {"space to depth", "b (h x) (w y) c -> b h w (x y c)", "x=2 y=2", 4, {1, 4, 6, 3}, TN_OK, 4, {1, 2, 3, 12}, 0},
    {"1 on the left is checked and dropped", "a 1 b -> a b", NULL, 3, {2, 1, 3}, TN_OK, 2, {2, 3}, 1},
    {"() is 1", "a () b -> a b ()", NULL, 3, {2, 1, 3}, TN_OK, 3, {2, 3, 1}, 1},
    {"1 on the right is made", "a b -> 1 a 1 b 1", NULL, 2, {2, 3}, TN_OK, 5, {1, 2, 1, 3, 1}, 1},
    {"1 in a group is ignored", "(a 1) b -> (1 b a)", NULL, 2, {2, 3}, TN_OK, 1, {6}, 0},
    {"a group of 1 is 1", "(1) a -> a (1)", NULL, 2, {1, 3}, TN_OK, 2, {3, 1}, 1},
    {"01 is 1", "a 01 -> a", NULL, 2, {3, 1}, TN_OK, 1, {3}, 1},
    {"an ellipsis of two", "... a -> a ...", NULL, 3, {2, 3, 4}, TN_OK, 3, {4, 2, 3}, 1},
    {"an ellipsis before names", "a ... b -> ... b a", NULL, 4, {2, 3, 4, 5}, TN_OK, 4, {3, 4, 5, 2}, 1},
    {"nothing before names", "a ... b -> ... b a", NULL, 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"a group before names", "a ... b -> (...) b a", NULL, 4, {2, 3, 4, 5}, TN_OK, 3, {12, 5, 2}, 1},
    {"an ellipsis of none", "a ... b -> b ... a", NULL, 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"an ellipsis of one", "a ... b -> b ... a", NULL, 3, {2, 5, 3}, TN_OK, 3, {3, 5, 2}, 1},
    {"an ellipsis of all", "... -> ...", NULL, 3, {2, 5, 3}, TN_OK, 3, {2, 5, 3}, 1},
    {"an ellipsis in a right group", "a ... -> (a ...)", NULL, 3, {2, 5, 3}, TN_OK, 1, {30}, 1},
    {"a transposed ellipsis group", "a ... -> (... a)", NULL, 3, {2, 5, 3}, TN_OK, 1, {30}, 0},
    {"an empty ellipsis in a group", "a ... -> a (...)", NULL, 1, {2}, TN_OK, 2, {2, 1}, 1},
    {"an ellipsis beside groups", "(a b) ... c -> c ... b a", "a=2", 4, {4, 3, 5, 6}, TN_OK, 5, {6, 3, 5, 2, 2}, 1},
    {"a size for a plain axis is checked", "a b -> b a", "a=2", 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"repeat by a name", "a b -> a r b", "r=4", 2, {2, 3}, TN_OK, 3, {2, 4, 3}, 1},
    {"repeat by a number", "a b -> a 4 b", NULL, 2, {2, 3}, TN_OK, 3, {2, 4, 3}, 1},
    {"numbers may come again", "a -> 2 a 2", NULL, 1, {3}, TN_OK, 3, {2, 3, 2}, 1},
    {"repeat in a group", "a b -> (r a) b", "r=2", 2, {2, 3}, TN_OK, 2, {4, 3}, 0},
    {"repeat each", "a b -> a (b r)", "r=2", 2, {2, 3}, TN_OK, 2, {2, 6}, 0},
    {"repeat with an ellipsis", "... a -> ... (a 2)", NULL, 2, {2, 3}, TN_OK, 2, {2, 6}, 0},
    {"repeat 0 times", "a -> a r", "r=0", 1, {3}, TN_OK, 2, {3, 0}, 1},
    {"repeated ones merge", "-> (a b)", "a=2 b=3", 0, {0}, TN_OK, 1, {6}, 1},
    {"a reversed axis", "-a b -> b a", NULL, 2, {2, 3}, TN_OK, 2, {3, 2}, 1},
    {"a reversed name in a group", "(a -b) -> a b", "a=2", 1, {6}, TN_OK, 2, {2, 3}, 1},
    {"both reversed merge", "-a -b -> (a b)", NULL, 2, {2, 3}, TN_OK, 1, {6}, 1},
    {"one reversed is a copy", "-a b -> (a b)", NULL, 2, {2, 3}, TN_OK, 1, {6}, 0},
    {"an empty axis", "a b -> b a", NULL, 2, {0, 3}, TN_OK, 2, {3, 0}, 1},
    {"an empty axis merges any way", "a b c -> (c a) b", NULL, 3, {2, 0, 3}, TN_OK, 2, {6, 0}, 1},
    {"an empty axis splits", "(a b) -> b a", "a=4", 1, {0}, TN_OK, 2, {0, 4}, 1},
    {"an empty axis with all sizes", "(a b) -> b a", "a=0 b=7", 1, {0}, TN_OK, 2, {7, 0}, 1},
    {"0 beside an unknown", "(a b) -> b a", "a=0", 1, {0}, TN_ESHAPE, 0, {0}, 2},
    {"an unknown beside 0", "(a b) -> b a", "b=0", 1, {0}, TN_ESHAPE, 0, {0}, 2},
    {"1 beside an unknown", "(a b) -> b a", "a=1", 1, {6}, TN_OK, 2, {6, 1}, 1},
    {"fewer axes than names", "a b c -> a b c", NULL, 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"more axes than names", "a -> a", NULL, 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"fewer axes than names beside ...", "a b ... c -> a b ... c", NULL, 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"1 is not 3", "a 1 -> a", NULL, 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"() is not 3", "a () -> a", NULL, 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"a size that differs", "a b -> b a", "a=3", 2, {2, 3}, TN_ESHAPE, 0, {0}, 2},
    {"a size that does not divide", "(a b) -> a b", "a=4", 1, {6}, TN_ESHAPE, 0, {0}, 2},
    {"sizes that multiply to more", "(a b) -> a b", "a=2 b=4", 1, {6}, TN_ESHAPE, 0, {0}, 2},
    {"a size larger than the axis", "(a b) -> a b", "a=7", 1, {6}, TN_ESHAPE, 0, {0}, 2},
    {"sizes that do not fit", "(a b) -> a b", "a=4294967296 b=4294967296", 1, {6}, TN_EOVERFLOW, 0, {0}, 2},
    {"a result that does not fit", "a -> a r", "r=9223372036854775807", 1, {3}, TN_EOVERFLOW, 0, {0}, 2},
    {"not even beside 0", "a -> (r z a)", "r=9223372036854775807 z=0", 1, {3}, TN_EOVERFLOW, 0, {0}, 2},
    /* clang-format on */
};

static void rules_of_the_grammar(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        tn_tensor src, out;
        float dummy[1024];
        OK(tn_init(&src, dummy, TN_F32, rules[i].ndim, rules[i].shape));
        int ndim = -7;
        int64_t shape[TN_MAX_NDIM] = {0};
        tn_status got = tn_pattern_shape(rules[i].pattern, rules[i].sizes, &src, &ndim, shape);
        if (got != rules[i].status)
            fail_msg("%s: %s, %s", rules[i].rule, tn_status_name(got), tn_error());
        if (got != TN_OK) {
            assert_int_equal(ndim, -7);
            continue;
        }
        if (ndim != rules[i].out || memcmp(shape, rules[i].want, sizeof *shape * (size_t)ndim))
            fail_msg("%s: wrong shape", rules[i].rule);
        got = tn_pattern_view(&out, &src, rules[i].pattern, rules[i].sizes);
        if (got != (rules[i].view ? TN_OK : TN_ESTRIDE))
            fail_msg("%s: view is %s", rules[i].rule, tn_status_name(got));
        if (got == TN_OK &&
            (out.ndim != ndim || memcmp(out.shape, shape, sizeof *shape * (size_t)ndim)))
            fail_msg("%s: the view has another shape", rules[i].rule);
    }
}

/* ---- texts that are no patterns, and the sentence about each ---- */

static const struct {
    const char *pattern, *sizes, *sentence;
} malformed[] = {
    /* clang-format off */
    {"b (h w -> b h w", NULL, "'(' at 3 is not closed"},
    {"b h w) -> b h w", NULL, "')' at 6 has no matching '('"},
    {"b (h (w)) -> b h w", NULL, "'(' at 6 is inside the group at 3"},
    {"a -> (a", NULL, "'(' at 6 is not closed"},
    {"a -> a)", NULL, "')' at 7 has no matching '('"},
    {"a -> ((a))", NULL, "'(' at 7 is inside the group at 6"},
    {")a( -> a", NULL, "')' at 1 has no matching '('"},
    {"(a -> a)", NULL, "'(' at 1 is not closed"},
    {"", NULL, "the end at 1 is reached before a '->'"},
    {"   ", NULL, "the end at 4 is reached before a '->'"},
    {"a b", NULL, "the end at 4 is reached before a '->'"},
    {"a b - > b a", NULL, "'-' at 5 is not followed by a name"},
    {"a b > b a", NULL, "'>' at 5 is not allowed"},
    {"a b => b a", NULL, "'=' at 5 is not allowed"},
    {"a -> a -> a", NULL, "'->' at 8 is a second '->'"},
    {"a -> a ->", NULL, "'->' at 8 is a second '->'"},
    {"a ->-> a", NULL, "'->' at 5 is a second '->'"},
    {"a, b -> b a", NULL, "',' at 2 is not allowed"},
    {"a\tb -> b a", NULL, "'?' at 2 is not allowed"},
    {"a\nb -> b a", NULL, "'?' at 2 is not allowed"},
    {"a* -> a", NULL, "'*' at 2 is not allowed"},
    {"[a] -> a", NULL, "'[' at 1 is not allowed"},
    {"a+b -> a", NULL, "'+' at 2 is not allowed"},
    {"a a -> a", NULL, "'a' at 3 repeats the one at 1"},
    {"(a b) a -> a b", "a=2", "'a' at 7 repeats the one at 2"},
    {"a b -> a b a", NULL, "'a' at 12 repeats the one at 8"},
    {"a b -> (a b) b", NULL, "'b' at 14 repeats the one at 11"},
    {"_a -> _a", NULL, "'_a' at 1 begins or ends with '_'"},
    {"a_ -> a_", NULL, "'a_' at 1 begins or ends with '_'"},
    {"_ a -> a", NULL, "'_' at 1 begins or ends with '_'"},
    {"__ -> __", NULL, "'__' at 1 begins or ends with '_'"},
    {"2a -> 2a", NULL, "'2a' at 1 is not a name or a number"},
    {"a -> a 2b", NULL, "'2b' at 8 is not a name or a number"},
    {"a 2 -> a", NULL, "'2' at 3 is a number on the left"},
    {"(a 2) -> a", NULL, "'2' at 4 is a number on the left"},
    {"a 0 -> a", NULL, "'0' at 3 is not a valid extent"},
    {"a -> a 0", NULL, "'0' at 8 is not a valid extent"},
    {"a -> a 00", NULL, "'00' at 8 is not a valid extent"},
    {"a b -> a", NULL, "'b' at 3 is missing on the right"},
    {"(a b) -> a", "a=2", "'b' at 4 is missing on the right"},
    {"a ->", NULL, "'a' at 1 is missing on the right"},
    {"a -> a r", NULL, "'r' at 8 is new and has no size"},
    {"a -> (a r)", NULL, "'r' at 9 is new and has no size"},
    {"-> a", NULL, "'a' at 4 is new and has no size"},
    {"(a b) -> a b", NULL, "'b' at 4 has no size, and neither has the name at 2"},
    {"c (a b x) -> a b c x", "x=2", "'b' at 6 has no size, and neither has the name at 4"},
    {"... a ... -> a ...", NULL, "'...' at 7 repeats the one at 1"},
    {"... a -> a ... ...", NULL, "'...' at 16 repeats the one at 12"},
    {"(... a) -> a ...", NULL, "'...' at 2 is in a group on the left"},
    {"a -> a ...", NULL, "'...' at 8 is missing on the left"},
    {"a ... -> a", NULL, "'...' at 3 is missing on the right"},
    {". a -> a .", NULL, "'.' at 1 is not part of a standalone '...'"},
    {".. a -> a ..", NULL, "'.' at 1 is not part of a standalone '...'"},
    {".... a -> a ....", NULL, "'.' at 1 is not part of a standalone '...'"},
    {"a... -> a", NULL, "'.' at 2 is not part of a standalone '...'"},
    {"a -> a...", NULL, "'.' at 7 is not part of a standalone '...'"},
    {"a.b -> b a", NULL, "'.' at 2 is not part of a standalone '...'"},
    {"a - b -> b a", NULL, "'-' at 3 is not followed by a name"},
    {"a --b -> b a", NULL, "'-' at 3 is not followed by a name"},
    {"a-b -> b a", NULL, "'-' at 2 needs a space before it"},
    {"a -1 -> a", NULL, "'-' at 3 is not followed by a name"},
    {"a -... -> ... a", NULL, "'-' at 3 is not followed by a name"},
    {"a -(b c) -> a b c", "b=2", "'-' at 3 is not followed by a name"},
    {"a b -> -b a", NULL, "'-' at 8 is on the right; axes are reversed on the left"},
    {"-_a -> _a", NULL, "'_a' at 2 begins or ends with '_'"},
    {"\xc3\xa4 -> b", NULL, "'\xc3\xa4' at 1 is not allowed"},
    {"a b -> b a", "c=2", "\"c=2\": 'c' at 1 is not in the pattern"},
    {"a b -> b a", "a=2 a=2", "'a' at 5 already has a size"},
    {"a b -> b a", "a", "the end at 2 is not '='"},
    {"a b -> b a", "a 2", "' ' at 2 is not '='"},
    {"a b -> b a", "a=", "the end at 3 is not a digit"},
    {"a b -> b a", "a= 2", "' ' at 3 is not a digit"},
    {"a b -> b a", "a=-1", "'-' at 3 is not a digit"},
    {"a b -> b a", "a=2x", "'x' at 4 is not a digit"},
    {"a b -> b a", "a=2,b=3", "',' at 4 is not a digit"},
    {"a b -> b a", "=2", "'=' at 1 does not start a name"},
    {"a b -> b a", "2=2", "'2' at 1 does not start a name"},
    {"a ... -> ... a", "...=2", "'.' at 1 does not start a name"},
    /* clang-format on */
};

static void malformed_patterns(void **state)
{
    (void)state;
    tn_tensor src;
    float dummy[1024];
    OK(tn_init(&src, dummy, TN_F32, 2, (int64_t[]){4, 6}));
    assert_true(sizeof malformed / sizeof *malformed >= 60);
    int columns = 0;
    for (size_t i = 0; i < sizeof malformed / sizeof *malformed; i++) {
        int ndim = -7;
        int64_t shape[TN_MAX_NDIM];
        tn_status got =
            tn_pattern_shape(malformed[i].pattern, malformed[i].sizes, &src, &ndim, shape);
        if (got != TN_EFORMAT)
            fail_msg("\"%s\": %s", malformed[i].pattern, tn_status_name(got));
        if (!strstr(tn_error(), malformed[i].sentence))
            fail_msg("\"%s\": %s", malformed[i].pattern, tn_error());
        assert_int_equal(ndim, -7);
        /* the column is that of the pattern, and 0 of a fault in the sizes */
        char head[128];
        snprintf(head, sizeof head, "pattern_shape: \"%.60s", malformed[i].pattern);
        for (char *c = head; *c; c++)
            *c = *c == '\t' || *c == '\n' ? '?' : *c;
        const char *at = strstr(malformed[i].sentence, " at ");
        const bool own = !strncmp(tn_error(), head, strlen(head));
        if (tn_error_column() != (own && at ? atoi(at + 4) : 0))
            fail_msg("column %d: %s", tn_error_column(), tn_error());
        columns += own && at;
    }
    assert_true(columns > 40);
    /* the whole sentence, once */
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    assert_int_equal(tn_pattern_shape("b (h w -> b h w", NULL, &src, &ndim, shape), TN_EFORMAT);
    assert_string_equal(tn_error(),
                        "pattern_shape: \"b (h w -> b h w\": '(' at 3 is not closed");
}

static void limits(void **state)
{
    (void)state;
    tn_tensor src;
    float x = 0;
    int ndim;
    int64_t shape[TN_MAX_NDIM], ones[TN_MAX_NDIM];
    for (int i = 0; i < TN_MAX_NDIM; i++)
        ones[i] = 1;
    OK(tn_init(&src, &x, TN_F32, 0, NULL));

    char text[2000];
    memset(text, ' ', sizeof text);
    memcpy(text, "-> 1", 4);
    text[1024] = 0;
    OK(tn_pattern_shape(text, NULL, &src, &ndim, shape));
    text[1024] = ' ';
    text[1025] = 0;
    assert_int_equal(tn_pattern_shape(text, NULL, &src, &ndim, shape), TN_EFORMAT);
    assert_string_equal(tn_error(), "pattern_shape: pattern is longer than 1024 bytes");
    assert_int_equal(tn_pattern_shape("->", text, &src, &ndim, shape), TN_EFORMAT);
    assert_string_equal(tn_error(), "pattern_shape: sizes is longer than 1024 bytes");

    /* 64 dimensions of a side, not 65; 64 names, not 65 */
    strcpy(text, "->");
    for (int i = 0; i < 64; i++)
        strcat(text, " 1");
    OK(tn_pattern_shape(text, NULL, &src, &ndim, shape));
    assert_int_equal(ndim, 64);
    strcat(text, " 1");
    assert_int_equal(tn_pattern_shape(text, NULL, &src, &ndim, shape), TN_EFORMAT);
    strcpy(text, "-> (");
    for (int i = 0; i < 65; i++)
        strcat(text, " 2");
    strcat(text, ")");
    assert_int_equal(tn_pattern_shape(text, NULL, &src, &ndim, shape), TN_EFORMAT);
    assert_non_null(strstr(tn_error(), "maximum number of axes, 64"));

    /* an ellipsis over 64 axes */
    OK(tn_init(&src, &x, TN_F32, 64, ones));
    OK(tn_pattern_shape("... -> ...", NULL, &src, &ndim, shape));
    OK(tn_pattern_shape("... -> (...) 1 7", NULL, &src, &ndim, shape));
    assert_int_equal(ndim, 3);
    assert_int_equal(tn_pattern_shape("... -> ... 1", NULL, &src, &ndim, shape), TN_EARG);
    assert_int_equal(
        tn_pattern_shape("... -> ... 99999999999999999999", NULL, &src, &ndim, shape),
        TN_EOVERFLOW);
    OK(tn_pattern_shape("(a b c) ... -> ... (a b c)", "a=1 b=1", &src, &ndim, shape));
}

/* ---- bad arguments ---- */

static void bad_arguments(void **state)
{
    (void)state;
    float x[24], y[24];
    tn_tensor a, d, out = {0};
    OK(tn_init(&a, x, TN_F32, 2, (int64_t[]){4, 6}));
    OK(tn_init(&d, y, TN_F32, 2, (int64_t[]){6, 4}));
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    const char *transpose = "a b -> b a";
    assert_int_equal(tn_pattern_shape(NULL, NULL, &a, &ndim, shape), TN_ENULL);
    assert_int_equal(tn_pattern_shape(transpose, NULL, NULL, &ndim, shape), TN_ENULL);
    assert_int_equal(tn_pattern_shape(transpose, NULL, &a, NULL, shape), TN_ENULL);
    assert_int_equal(tn_pattern_shape(transpose, NULL, &a, &ndim, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_view(NULL, &a, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_view(&out, NULL, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_view(&out, &a, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_into(NULL, &a, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_into(&d, NULL, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_into(&d, &a, NULL, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_copy(NULL, &a, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_copy(&out, NULL, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_copy(&out, &a, NULL, NULL), TN_ENULL);
    assert_null(out.data);

    assert_int_equal(tn_pattern_into(&a, &d, "a b -> a b", NULL), TN_ESHAPE);
    assert_int_equal(tn_pattern_into(&d, &a, "a b -> (a b)", NULL), TN_ESHAPE);
    tn_tensor bad = d;
    bad.shape[0] = 5;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_ESHAPE);
    bad = d;
    bad.shape[1] = 3;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_ESHAPE);
    assert_int_equal(tn_pattern_into(&d, &a, "a b -> b", NULL), TN_EFORMAT);
    assert_int_equal(tn_pattern_copy(&out, &a, "a b -> b", NULL), TN_EFORMAT);
    assert_int_equal(tn_pattern_view(&out, &a, "a b -> b", NULL), TN_EFORMAT);
    assert_int_equal(tn_pattern_into(&d, &a, "a b c -> b a c", NULL), TN_ESHAPE);
    bad = d;
    bad.dtype = TN_I32;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_EDTYPE);
    bad = d;
    bad.device = 3;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_EDEVICE);
    bad = d;
    bad.flags = TN_READONLY;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_EARG);
    bad = d;
    bad.stride[0] = 0;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_ESTRIDE);
    bad = d;
    bad.data = NULL;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_ENULL);
    bad = a;
    bad.data = NULL;
    assert_int_equal(tn_pattern_into(&d, &bad, transpose, NULL), TN_ENULL);
    assert_int_equal(tn_pattern_copy(&out, &bad, transpose, NULL), TN_ENULL);
    OK(tn_pattern_view(&out, &bad, "-a b -> b a", NULL));
    assert_null(out.data);
    bad = d;
    bad.data = x;
    assert_int_equal(tn_pattern_into(&bad, &a, transpose, NULL), TN_EOVERLAP);
    assert_int_equal(tn_pattern_into(&a, &a, "a b -> a b", NULL), TN_EOVERLAP);
    bad = a;
    bad.device = 3; /* a view touches no element */
    OK(tn_pattern_view(&out, &bad, transpose, NULL));
    assert_int_equal(out.device, 3);
}

/* ---- random patterns against the meaning of their names ---- */

enum { NAMES = 5 };

/* A pattern over names a..e: sizes, the order and grouping on both sides. */
typedef struct made {
    int n, nleft, nright, left[NAMES], right[NAMES + 2], left_dim[NAMES], right_dim[NAMES + 2];
    int left_ndim, right_ndim;
    bool reversed[NAMES];
    int64_t size[NAMES + 2];
    char text[256], sizes[128];
} made;

static void write_side(made *m, const int *names, const int *dims, int n, bool left)
{
    for (int i = 0; i < n; i++) {
        bool opens = i == 0 || dims[i] != dims[i - 1];
        bool closes = i == n - 1 || dims[i] != dims[i + 1];
        sprintf(m->text + strlen(m->text), "%s%s%c%s ", opens && !closes ? "(" : "",
                left && m->reversed[names[i]] ? "-" : "", 'a' + names[i],
                closes && !opens ? ")" : "");
    }
}

static void shuffle(rng *r, int *x, int n)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)pick(r, 0, i), swap = x[i];
        x[i] = x[k];
        x[k] = swap;
    }
}

static int group(rng *r, int *dims, int n)
{
    int dim = -1;
    for (int i = 0; i < n; i++) {
        if (dim < 0 || next(r) % 2)
            dim++;
        dims[i] = dim;
    }
    return dim + 1;
}

static made make_pattern(rng *r, bool repeats)
{
    made m = {.n = (int)pick(r, 0, NAMES)};
    m.nleft = m.n;
    m.nright = m.n + (repeats ? (int)pick(r, 0, 2) : 0);
    for (int i = 0; i < m.nright; i++) {
        m.size[i] = next(r) % 16 ? pick(r, 1, 4) : 0;
        m.right[i] = i;
        if (i < m.n) {
            m.left[i] = i;
            m.reversed[i] = next(r) % 4 == 0;
        }
    }
    shuffle(r, m.left, m.nleft);
    shuffle(r, m.right, m.nright);
    m.left_ndim = group(r, m.left_dim, m.nleft);
    m.right_ndim = group(r, m.right_dim, m.nright);
    write_side(&m, m.left, m.left_dim, m.nleft, true);
    strcat(m.text, "-> ");
    write_side(&m, m.right, m.right_dim, m.nright, false);
    for (int i = 0; i < m.nright; i++)
        sprintf(m.sizes + strlen(m.sizes), "%c=%d ", 'a' + i, (int)m.size[i]);
    return m;
}

/* Index of each name -> index of a side. */
static void side_index(const made *m, const int *names, const int *dims, int n, bool left,
                       const int64_t *value, int64_t *index)
{
    for (int i = 0; i < n; i++) {
        if (i == 0 || dims[i] != dims[i - 1])
            index[dims[i]] = 0;
        int64_t v = value[names[i]];
        if (left && m->reversed[names[i]])
            v = m->size[names[i]] - 1 - v;
        index[dims[i]] = index[dims[i]] * m->size[names[i]] + v;
    }
}

static void side_shape(const made *m, const int *names, const int *dims, int n, int64_t *shape)
{
    for (int i = 0; i < n; i++)
        shape[dims[i]] =
            (i == 0 || dims[i] != dims[i - 1] ? 1 : shape[dims[i]]) * m->size[names[i]];
}

static void random_patterns(void **state)
{
    (void)state;
    rng r = {5};
    int views = 0, copies = 0;
    for (int round = 0; round < 20000; round++) {
        made m = make_pattern(&r, true);
        int64_t left[NAMES], right[NAMES + 2];
        side_shape(&m, m.left, m.left_dim, m.nleft, left);
        side_shape(&m, m.right, m.right_dim, m.nright, right);
        tn_dtype dtype = pick_dtype(&r);
        block src = block_make(&r, dtype, m.left_ndim, left, true, true);
        block dst = block_make(&r, dtype, m.right_ndim, right, true, false);
        block want = block_twin(&dst);
        int64_t value[NAMES + 2] = {0}, at[NAMES + 2], from[NAMES];
        if (tn_numel(&dst.t))
            do {
                side_index(&m, m.left, m.left_dim, m.nleft, true, value, from);
                side_index(&m, m.right, m.right_dim, m.nright, false, value, at);
                memcpy(element(&want.t, at), element(&src.t, from), tn_dtype_size(dtype));
            } while (index_next(value, m.nright, m.size));
        OK(tn_pattern_into(&dst.t, &src.t, m.text, m.sizes));
        SAME_BLOCKS(&dst, &want, "%s with %s\n", m.text, m.sizes);

        tn_tensor view, made;
        tn_status status = tn_pattern_view(&view, &src.t, m.text, m.sizes);
        if (status == TN_OK) {
            OK(tn_rearrange(&dst.t, &view));
            SAME_BLOCKS(&dst, &want, "view %s with %s\n", m.text, m.sizes);
            views++;
        } else {
            assert_int_equal(status, TN_ESTRIDE);
            copies++;
        }
        OK(tn_pattern_copy(&made, &src.t, m.text, m.sizes));
        assert_true(tn_is_contiguous(&made));
        OK(tn_rearrange(&dst.t, &made));
        SAME_BLOCKS(&dst, &want, "copy %s with %s\n", m.text, m.sizes);
        tn_free(&made);
        block_free(&src);
        block_free(&dst);
        block_free(&want);
    }
    assert_true(views > 1000 && copies > 1000);
}

/* The pattern read backwards undoes it (no repeats, no reversal: the left has them). */
static void there_and_back(void **state)
{
    (void)state;
    rng r = {6};
    for (int round = 0; round < 5000; round++) {
        made m = make_pattern(&r, false);
        memset(m.reversed, 0, sizeof m.reversed);
        m.text[0] = 0;
        write_side(&m, m.left, m.left_dim, m.nleft, true);
        strcat(m.text, "-> ");
        write_side(&m, m.right, m.right_dim, m.nright, false);
        made back = m;
        back.text[0] = 0;
        write_side(&back, m.right, m.right_dim, m.nright, true);
        strcat(back.text, "-> ");
        write_side(&back, m.left, m.left_dim, m.nleft, false);
        int64_t left[NAMES];
        side_shape(&m, m.left, m.left_dim, m.nleft, left);
        block src = block_make(&r, pick_dtype(&r), m.left_ndim, left, false, true);
        tn_tensor there, again;
        OK(tn_pattern_copy(&there, &src.t, m.text, m.sizes));
        OK(tn_pattern_copy(&again, &there, back.text, m.sizes));
        assert_int_equal(again.ndim, src.t.ndim);
        assert_memory_equal(again.data, src.bytes, src.size);
        tn_free(&there);
        tn_free(&again);
        block_free(&src);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rules_of_the_grammar),
        cmocka_unit_test(malformed_patterns),
        cmocka_unit_test(limits),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(random_patterns),
        cmocka_unit_test(there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
