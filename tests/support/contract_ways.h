/* contract_ways.h - contractions for each way that computes products, and their operands. */
#ifndef CONTRACT_WAYS_H
#define CONTRACT_WAYS_H

#include "contract_oracle.h"

typedef struct way_case {
    const char *letters[3]; /* dst, a, b */
    const char
        /* The same letters in memory order, slowest first, or "". */
        *layout[3];
    const char *sizes;
    tn_dtype dtype, dst;
    const char *way;
} way_case;

static const way_case contract_ways[] = {
    {{"ij", "ik", "kj"}, {"", "", ""}, "i300j200k100", TN_F32, TN_F32, "direct"},
    {{"ij", "ik", "kj"}, {"ji", "ki", "jk"}, "i300j200k100", TN_F64, TN_F64, "direct"},
    {{"ij", "ik", "kj"}, {"", "ki", ""}, "i70j50k90", TN_C64, TN_C64, "direct"},
    {{"ij", "ik", "kj"}, {"", "", "jk"}, "i70j50k90", TN_C128, TN_C128, "direct"},
    {{"bhqk", "bqhd", "bkhd"},
     {"", "", ""},
     "b2h3q70k65d33",
     TN_F32,
     TN_F32,
     "loops over gemm"},
    {{"bqhd", "bhqk", "bkhd"},
     {"", "", ""},
     "b2h3q70k65d33",
     TN_F32,
     TN_F32,
     "loops over gemm"},
    {{"ij", "ikl", "ljk"}, {"", "", ""}, "i48j40k30l50", TN_F32, TN_F32, "TTGT"},
    {{"cjba", "akbc", "kj"}, {"", "", ""}, "a20b19c18j24k17", TN_F32, TN_F32, "TTGT"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i130j90k150", TN_BF16, TN_BF16, "panels"},
    {{"ij", "ik", "kj"}, {"ji", "ki", ""}, "i130j90k150", TN_F16, TN_F32, "panels"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i130j90k150", TN_F8E5M2, TN_F8E5M2, "panels"},
    {{"ij", "ik", "kj"}, {"", "", "jk"}, "i130j90k600", TN_I8, TN_I32, "panels"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i130j90k600", TN_U8, TN_U8, "panels"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i130j90k300", TN_I64, TN_I64, "direct"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i130j90k300", TN_BOOL, TN_BOOL, "panels"},
    {{"j", "k", "jk"}, {"", "", ""}, "j2100k1500", TN_F32, TN_F32, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j2100k1500", TN_F32, TN_F32, "gemv"},
    {{"j", "k", "jk"}, {"", "", ""}, "j2100k1500", TN_BF16, TN_BF16, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j2100k1500", TN_F16, TN_F16, "gemv"},
    {{"j", "k", "jk"}, {"", "", ""}, "j700k1500", TN_F8E4M3, TN_F32, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j700k1500", TN_I8, TN_I32, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j2113k1500", TN_F8E5M2, TN_F32, "gemv"},
    {{"ij", "ik", "kj"}, {"", "", "jk"}, "i6j2600k700", TN_F32, TN_F32, "gemv"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i3j2113k700", TN_F32, TN_F32, "gemv"},
    {{"ij", "ik", "kj"}, {"ji", "ki", ""}, "i1700j5k900", TN_F32, TN_F32, "gemv"},
    {{"ij", "ik", "kj"}, {"", "", "jk"}, "i5j300k700", TN_F16, TN_F16, "gemv"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i2j2113k700", TN_I8, TN_I32, "gemv"},
    {{"bij", "bik", "bkj"}, {"", "", ""}, "b3i2j211k700", TN_BOOL, TN_BOOL, "gemv"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i6j300k700", TN_F32, TN_F32, "direct"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i4j800k800", TN_C64, TN_C64, "direct"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i30j30k30", TN_F32, TN_F32, "direct"},
    {{"i", "ik", "k"}, {"", "", ""}, "i700k1100", TN_C64, TN_C64, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j701k1103", TN_C64, TN_C64, "gemv"},
    {{"j", "k", "jk"}, {"", "", "kj"}, "j701k103", TN_C128, TN_C128, "gemv"},
    {{"j", "k", "jk"}, {"", "", ""}, "j303k1021", TN_C128, TN_C128, "gemv"},
    {{"il", "jk", "ijkl"}, {"", "", ""}, "i9j10k11l12", TN_F32, TN_F32, "gemv"},
    {{"", "k", "k"}, {"", "", ""}, "k5000", TN_F64, TN_F64, "gemv"},
    {{"x", "xc", "xc"}, {"", "", ""}, "x3000c3", TN_F32, TN_F32, "lanes"},
    {{"xy", "xy", "xy"}, {"yx", "", ""}, "x300y70", TN_BF16, TN_BF16, "lanes"},
    {{"xij", "xik", "xkj"}, {"", "", ""}, "x500i4j4k4", TN_F32, TN_F32, "small"},
    {{"xij", "xik", "xkj"}, {"ijx", "kxi", "jkx"}, "x50i5j7k9", TN_F64, TN_F64, "small"},
    {{"xij", "xik", "xkj"}, {"", "", ""}, "x50i5j17k9", TN_F16, TN_F16, "small"},
    {{"xij", "xik", "xkj"}, {"", "", ""}, "x50i16j16k16", TN_I8, TN_I8, "small"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i0j5k7", TN_F32, TN_F32, "nothing"},
    {{"ij", "ik", "kj"}, {"", "", ""}, "i5j5k0", TN_F32, TN_F32, "scale"},
};

static inline int64_t size_of(const way_case *c, char letter)
{
    return strtoll(strchr(c->sizes, letter) + 1, NULL, 10);
}

/* A dense tensor whose axes have the memory order of the case; every byte is 0xee. */
static inline tn_tensor layout_of(const way_case *c, int k)
{
    int64_t shape[8], stride[8], step = (int64_t)tn_dtype_size(k ? c->dtype : c->dst);
    const char *letters = c->letters[k], *memory = c->layout[k][0] ? c->layout[k] : letters;
    const int ndim = (int)strlen(letters);
    for (int i = ndim - 1; i >= 0; i--) {
        const int axis = (int)(strchr(letters, memory[i]) - letters);
        shape[axis] = size_of(c, memory[i]);
        stride[axis] = step;
        step *= shape[axis];
    }
    tn_tensor t;
    char *data = malloc(step ? (size_t)step : 1);
    assert_non_null(data);
    memset(data, 0xee, step ? (size_t)step : 1);
    OK(tn_init_strided(&t, data, k ? c->dtype : c->dst, ndim, shape, stride));
    return t;
}

/* The same, filled with numbers if it is a source. */
static inline tn_tensor tensor_of(rng *r, const way_case *c, int k)
{
    tn_tensor t = layout_of(c, k);
    if (k && tni_is_float(c->dtype))
        OK(tn_randn(&t, next(r))); /* their sums round, which reveals the order of summation */
    else if (k)
        oracle_fill(r, &t, tni_dtypes[c->dst].kind <= TNI_UNSIGNED);
    return t;
}

#endif
