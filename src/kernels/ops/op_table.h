/* op_table.h - the kernels that compute ops on strips.
 *
 * There is one form of strip: whole blocks of dense elements in the compute dtype, where a
 * source may be a splat (one value, repeated over one block).  Packing brings every layout and
 * every other dtype into this form. */
#ifndef TNI_OP_TABLE_H
#define TNI_OP_TABLE_H

#include "core/core.h"

enum {
    TNI_BLOCK = 64,        /* bytes of a source block */
    TNI_MATH_BLOCK = 16,   /* elements of a block of the math functions */
    TNI_SPLAT_BYTES = 128, /* bytes of a splat, which fills the longest block */
    TNI_AHEAD = 2048,      /* prefetch distance of sources in bytes, measured in decision 22 */
    TNI_NOT_AHEAD = 1      /* instead of a distance: no prefetch */
};

/* Compute `blocks` whole blocks.  step[0] is the distance in bytes between blocks of d, step[k
 * + 1] that of source k: the size of a block, 0 for a splat, or the row step of a column of
 * blocks.  d may be exactly a source.  If ahead is not 0, d is streamed (it is a multiple of 64
 * and none of the sources), and sources are prefetched `ahead` bytes before they are used
 * unless ahead is TNI_NOT_AHEAD.  ahead is ignored if a block of d is not whole lines. */
typedef void (*tni_op_fn)(char *d, const char *const *s, const int64_t *step, int64_t blocks,
                          const double *params, int64_t ahead);

/* The kernel of an op whose sources have this dtype, at a level of tni_isa (a level that is not
 * compiled gives the one below); NULL if there is none.  Narrow floats without a kernel of
 * their own compute in f32. */
tni_op_fn tni_op_kernel(int isa, tn_op op, tn_dtype dtype);

/* The number of elements in a block of this kernel. */
static inline int tni_op_block(tn_op op, tn_dtype dtype)
{
    const bool math = tni_ops[op].math && tni_is_float(dtype);
    return math ? TNI_MATH_BLOCK : TNI_BLOCK / (int)tni_width(dtype);
}

/* Compute any number n of elements: whole blocks, then the tail, padded, by the same kernel.
 * width[0] is the element width of dst, width[k + 1] that of source k; bit k of `one` marks
 * source k as a splat made by tni_op_splat. */
typedef struct tni_op_strip {
    tni_op_fn fn;
    int block, nsrc;
    int8_t width[TNI_MAX_ARITY + 1];
    double params[TNI_MAX_PARAMS];
} tni_op_strip;
void tni_op_run(const tni_op_strip *op, char *d, const char *const *s, unsigned one, int64_t n);

/* Repeat an element over TNI_SPLAT_BYTES, which covers the block of any kernel. */
void tni_op_splat(char *d, const char *value, int width);

/* As tni_op_run, with streaming stores of whole lines; d is none of the sources, which are
 * prefetched `ahead` bytes before they are used. */
void tni_op_stream(const tni_op_strip *op, char *d, const char *const *s, unsigned one,
                   int64_t n, int64_t ahead);

/* Does tni_op_stream use streaming stores for this op? */
static inline bool tni_op_streams(const tni_op_strip *op)
{
    return op->block * op->width[0] % 64 == 0;
}

/* ---- the tables of one instruction set (op_*_isa.c) ---- */

typedef tni_op_fn tni_int_ops[TNI_OPS][TNI_INT_SLOTS];         /* bool, i8 … u64 */
typedef tni_op_fn tni_float_ops[TNI_OPS][TNI_FLOAT_SLOTS];     /* f8e4m3 … f64 */
typedef tni_op_fn tni_complex_ops[TNI_OPS][TNI_COMPLEX_SLOTS]; /* c64, c128 */

#endif
