/* op_table.h - the kernels that compute ops on strips.
 *
 * There is one strip shape: whole blocks of dense elements in the compute dtype, where a source
 * may be a splat (one value, repeated over one block).  Staging makes every layout and every
 * other dtype into this shape. */
#ifndef TNI_OP_TABLE_H
#define TNI_OP_TABLE_H

#include "core/core.h"

enum {
    TNI_BLOCK = 64,        /* bytes of a block of sources, */
    TNI_MATH_BLOCK = 16,   /* elements of a block of the functions */
    TNI_SPLAT_BYTES = 128, /* of the longest block: one element repeated fills it */
    TNI_AHEAD = 2048, /* bytes that sources are prefetched; decision 22 says what it gave */
    TNI_NOT_AHEAD = 1 /* instead: none is */
};

/* Compute blocks whole blocks.  step[0] is the bytes from block to block of d, step[k + 1] those
 * of source k: the bytes of a block, 0 for one value, or those from row to row of a column of
 * blocks.  d may be exactly a source.  ahead is 0, or d is streamed (a multiple of 64, none of the
 * sources) and sources are prefetched `ahead` bytes before they are used, unless it is
 * TNI_NOT_AHEAD; where a block of d is no whole line, ahead means nothing. */
typedef void (*tni_op_fn)(char *d, const char *const *s, const int64_t *step, int64_t blocks,
                          const double *params, int64_t ahead);

/* The kernel of an op whose sources have this dtype, at a level of tni_isa (a level that was
 * not compiled gives the one below); NULL when there is none.  Narrow floats without a kernel of
 * their own compute in f32. */
tni_op_fn tni_op_kernel(int isa, tn_op op, tn_dtype dtype);

/* Elements of its block. */
static inline int tni_op_block(tn_op op, tn_dtype dtype)
{
    const bool math = tni_ops[op].math && tni_is_float(dtype);
    return math ? TNI_MATH_BLOCK : TNI_BLOCK / (int)tni_width(dtype);
}

/* Compute n elements of any number: whole blocks, then the tail through the same kernel,
 * padded. width[0] is dst's, width[k + 1] that of source k; bit k of one marks a source that is
 * one value, repeated by tni_op_splat. */
typedef struct tni_op_strip {
    tni_op_fn fn;
    int block, nsrc;
    int8_t width[TNI_MAX_ARITY + 1];
    double params[TNI_MAX_PARAMS];
} tni_op_strip;
void tni_op_run(const tni_op_strip *op, char *d, const char *const *s, unsigned one, int64_t n);

/* Repeat an element over TNI_SPLAT_BYTES, which hold any kernel's block. */
void tni_op_splat(char *d, const char *value, int width);

/* The same with streaming stores of whole lines; d is none of the sources, whose lines are
 * fetched ahead bytes before they are used. */
void tni_op_stream(const tni_op_strip *op, char *d, const char *const *s, unsigned one,
                   int64_t n, int64_t ahead);

/* Whether it does stream. */
static inline bool tni_op_streams(const tni_op_strip *op)
{
    return op->block * op->width[0] % 64 == 0;
}

/* ---- the tables of one instruction set (op_*_isa.c) ---- */

typedef tni_op_fn tni_int_ops[TNI_OPS][TNI_INT_SLOTS];         /* bool, i8 … u64 */
typedef tni_op_fn tni_float_ops[TNI_OPS][TNI_FLOAT_SLOTS];     /* f8e4m3 … f64 */
typedef tni_op_fn tni_complex_ops[TNI_OPS][TNI_COMPLEX_SLOTS]; /* c64, c128 */

#endif
