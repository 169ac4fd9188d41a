/* scan_classes.c - the table of classes of scans; the first that fits is taken. */
#include "scan_run.h"

static bool is_integer(const tni_scan *s)
{
    return s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED;
}

static bool is_extreme(const tni_scan *s)
{
    return s->op == TN_SCAN_MAX || s->op == TN_SCAN_MIN;
}

static bool has_keys(const tni_scan *s)
{
    return is_extreme(s) && s->src != TN_BOOL;
}

const tni_scan_sums *tni_scan_sums_of(const tni_scan *s)
{
    const tni_scan_sums *k = tni_kernels_of(s->isa)->scan->sums;
    return s->src == TN_F16    ? k + TNI_SCAN_F16
           : s->src == TN_BF16 ? k + TNI_SCAN_BF16
           : s->src == TN_F32  ? k + TNI_SCAN_F32
           : s->src == TN_F64  ? k + TNI_SCAN_F64
                               : NULL;
}

/* Whether kernels compute running sums of floats from memory to memory. */
static bool moves(const tni_scan *s)
{
    const tni_scan_sums *k = tni_scan_sums_of(s);
    return s->op == TN_SCAN_SUM && s->src == s->dst && k && k->line;
}

/* The same for sums of integers of 64 bits. */
static bool moves_words(const tni_scan *s)
{
    return s->op == TN_SCAN_SUM && is_integer(s) && s->width[0] == 8 && s->width[1] == 8;
}

static bool is_real(const tni_scan *s)
{
    return s->type == TNI_SCAN_REAL && s->op <= TN_SCAN_PROD;
}

static bool sums_integers(const tni_scan *s)
{
    return is_integer(s) && s->op == TN_SCAN_SUM;
}

static bool is_logsumexp(const tni_scan *s)
{
    return s->op == TN_SCAN_LOGSUMEXP;
}

static bool is_complex(const tni_scan *s)
{
    return s->type == TNI_SCAN_COMPLEX;
}

static bool multiplies_integers(const tni_scan *s)
{
    return is_integer(s) && s->op == TN_SCAN_PROD;
}

static bool is_bool(const tni_scan *s)
{
    return is_extreme(s) && s->src == TN_BOOL;
}

/* The first class that fits is taken.  `fewest` is two if kernels read columns from memory: two
 * columns in a vector of four or eight are faster than two strided sequences.  It is four for
 * integers in a buffer, which fill a vector of 32 bytes, and sixteen for floats in a buffer,
 * where a cast of each row has to pay.  Two columns of keys and three of sums are measured in
 * "Scans on Zen 3" of docs/investigations/reductions.md; the bounds of four and sixteen are
 * not. */
static const tni_scan_class classes[] = {
    {.name = "keys",
     .fits = has_keys,
     .block = tni_scan_block_keys,
     .strip = tni_scan_strip_keys,
     .totals = tni_scan_totals_keys,
     .fewest = 2,
     .widest = TNI_SCAN_WIDEST,
     .chains = true},
    {.name = "floats as they are",
     .fits = moves,
     .block = tni_scan_block_moved,
     .strip = tni_scan_strip_moved,
     .totals = tni_scan_totals_moved,
     .fewest = 2,
     .widest = TNI_SCAN_WIDEST,
     .chains = true,
     .streams = true},
    {.name = "words as they are",
     .fits = moves_words,
     .block = tni_scan_block_words,
     .strip = tni_scan_strip_words,
     .totals = tni_scan_totals_words,
     .fewest = 2,
     .widest = TNI_SCAN_WIDEST,
     .chains = true},
    {.name = "f64 in a buffer",
     .fits = is_real,
     .block = tni_scan_block_real,
     .strip = tni_scan_strip_real,
     .fewest = 16,
     .widest = TNI_SCAN_COLUMNS,
     .chains = true},
    {.name = "integers in a buffer",
     .fits = sums_integers,
     .block = tni_scan_block_int,
     .strip = tni_scan_strip_int,
     .fewest = 4,
     .widest = TNI_SCAN_WIDEST,
     .chains = true},
    {.name = "products of integers",
     .fits = multiplies_integers,
     .block = tni_scan_block_product,
     .chains = true},
    {.name = "logsumexp", .fits = is_logsumexp, .block = tni_scan_block_logsumexp},
    {.name = "complex products", .fits = is_complex, .block = tni_scan_block_complex},
    {.name = "bool", .fits = is_bool, .block = tni_scan_block_bool},
};

void tni_scan_classify(tni_scan *s)
{
    for (s->class = classes; !s->class->fits(s); s->class ++)
        ASSERT(s->class + 1 < classes + COUNT(classes));
}
