/* op_table.c - choosing the kernel of an op and dtype, and running it on strips of any
 * length. */
#include <string.h>

#include "kernels/kernels.h"

/* ---- tables by level ---- */

/* A dtype whose kernel selects elements of the same width: a selection does not look at
 * values. */
static tn_dtype by_width(tn_dtype t)
{
    static const tn_dtype words[] = {TN_U8, TN_U16, TN_U32, TN_U64, TN_C128};
    int i = 0;
    while (1 << i < tni_width(t))
        i++;
    return words[i];
}

tni_op_fn tni_op_kernel(int isa, tn_op op, tn_dtype t)
{
    const tni_kernels *k = tni_kernels_of(isa);
    if (tni_ops[op].rule == TNI_RULE_SELECT)
        t = by_width(t);
    if (t == TN_BOOL && tni_ops[op].rule == TNI_RULE_COMPARE)
        t = TN_U8;
    const int slot = tni_dtypes[t].slot;
    if (tni_is_complex(t))
        return (*k->complex_ops)[op][slot];
    if (!tni_is_float(t))
        return (*k->int_ops)[op][slot];
    const tni_op_fn fn = (*k->float_ops)[op][slot];
    return fn ? fn : (*k->math_ops)[op][slot];
}

/* ---- strips of any length ---- */

enum { WIDEST = 16 };

/* Build words of the repeated element; narrow elements fill a word by a multiplication.
 * Storing whole words from registers avoids loads that would stall on narrower stores. */
void tni_op_splat(char *d, const char *value, int width)
{
    static const uint64_t ones[] = {[1] = 0x0101010101010101u,
                                    [2] = 0x0001000100010001u,
                                    [4] = 0x0000000100000001u,
                                    [8] = 1};
    uint64_t word[2] = {0, 0};
    switch (width) {
    case 1:
        word[0] = (unsigned char)*value;
        break;
    case 2: {
        uint16_t x;
        memcpy(&x, value, sizeof x);
        word[0] = x;
        break;
    }
    case 4: {
        uint32_t x;
        memcpy(&x, value, sizeof x);
        word[0] = x;
        break;
    }
    default:
        memcpy(word, value, (size_t)width);
    }
    if (width < 16)
        word[0] = word[1] = word[0] * ones[width];
    for (int i = 0; i < TNI_SPLAT_BYTES; i += (int)sizeof word)
        memcpy(d + i, word, sizeof word);
}

/* Compute count elements of a block, beginning at index first of it, through padded copies. */
static void op_run_part(const tni_op_strip *op, char *d, const char *const *s, unsigned one,
                        int first, int64_t count)
{
    _Alignas(64) char pad[TNI_MAX_ARITY + 1][TNI_MATH_BLOCK * WIDEST];
    const char *from[TNI_MAX_ARITY];
    const int64_t step[TNI_MAX_ARITY + 1] = {0};
    ASSERT(first >= 0 && count > 0 && first + count <= op->block);
    ASSERT(op->block * op->width[0] <= (int)sizeof pad[0]);
    for (int k = 0; k < op->nsrc; k++) {
        const int width = op->width[k + 1];
        from[k] = one >> k & 1 ? s[k] : pad[k + 1];
        if (one >> k & 1)
            continue;
        memset(pad[k + 1], 0, (size_t)(op->block * width));
        memcpy(pad[k + 1] + first * width, s[k], (size_t)(count * width));
    }
    op->fn(pad[0], from, step, 1, op->params, 0);
    memcpy(d, pad[0] + first * op->width[0], (size_t)(count * op->width[0]));
}

static void op_run(const tni_op_strip *op, char *d, const char *const *s, unsigned one,
                   int64_t n, int64_t ahead)
{
    const char *from[TNI_MAX_ARITY];
    int64_t step[TNI_MAX_ARITY + 1];
    const int64_t blocks = n >> __builtin_ctz((unsigned)op->block), rest = n & (op->block - 1);
    /* The block is a power of two, so small calls need no division. */
    ASSERT(op->block > 0 && (op->block & (op->block - 1)) == 0);
    step[0] = op->block * op->width[0];
    for (int k = 0; k < op->nsrc; k++)
        step[k + 1] = one >> k & 1 ? 0 : op->block * op->width[k + 1];
    if (blocks)
        op->fn(d, s, step, blocks, op->params, ahead);
    if (!rest)
        return;
    for (int k = 0; k < op->nsrc; k++)
        from[k] = s[k] + blocks * step[k + 1];
    op_run_part(op, d + blocks * step[0], from, one, 0, rest);
}

void tni_op_run(const tni_op_strip *op, char *d, const char *const *s, unsigned one, int64_t n)
{
    op_run(op, d, s, one, n, 0);
}

/* The elements before the first whole line are computed first, at the indices that they would
 * have in a full block that ends at the line. */
void tni_op_stream(const tni_op_strip *op, char *d, const char *const *s, unsigned one,
                   int64_t n, int64_t ahead)
{
    const int64_t before = -(int64_t)(uintptr_t)d & 63, width = op->width[0];
    const char *from[TNI_MAX_ARITY];
    if (!tni_op_streams(op) || before % width || before / width >= n) {
        op_run(op, d, s, one, n, 0);
        return;
    }
    const int64_t first = before / width;
    if (first)
        op_run_part(op, d, s, one, op->block - (int)first, first);
    for (int k = 0; k < op->nsrc; k++)
        from[k] = s[k] + (one >> k & 1 ? 0 : first * op->width[k + 1]);
    op_run(op, d + before, from, one, n - first, ahead);
}
