/* strips.h - the plan of elementwise work: blocks of the nest, the form in which each operand
 * reaches the kernels, and the instructions for one strip of a block.
 *
 * A block has a few axes, cut to sizes that fit the cache; a strip is a row of it, or all of
 * it.  In a block an operand is used in place, is one value for each strip, or is packed in the
 * block's order.  Temporaries are registers: buffers of one strip each, in the arena of the
 * part. */
#ifndef TNI_STRIPS_H
#define TNI_STRIPS_H

#include "kernels/kernels.h"
#include "plan/strip/program.h"

enum {
    TNI_BLOCK_AXES = 4,    /* not measured: two of a transpose, two around them */
    TNI_ARENA = 64 * 1024, /* bytes of all buffers of a part: a quarter of Haswell's L2 */
    /* Fewest bytes of operands for which sources are prefetched, as they come from memory:
     * prefetching from L3 slowed 1.3 MB from 63 to 42 GB/s (Zen 4); between that and this size
     * nothing was measured. */
    TNI_PREFETCH_LEAST = 4 << 20,
    TNI_OP_INSTRS = 24, /* most instructions of a program of one op, as asserted */
    TNI_MAX_INSTRS = TNI_MAX_VALUES + 2 * TNI_MAX_STEPS, /* and of any program */
    TNI_REFS = TNI_MAX_OPERANDS + TNI_MAX_RESULTS
};

typedef enum tni_form {
    TNI_DIRECT, /* elements are used in place */
    TNI_SPLAT,  /* one value for each strip */
    TNI_PACKED  /* a buffer holds the block, dense */
} tni_form;

typedef struct tni_operand {
    int8_t form;    /* tni_form */
    int8_t width;   /* bytes of an element */
    int8_t dtype;   /* tn_dtype */
    bool transpose; /* packed, and dense along another axis of the block */
    int32_t buffer; /* packed: offset of its buffer in the arena */
    int32_t pitch;  /* packed: bytes from row to row of the buffer */
} tni_operand;

typedef enum tni_do {
    TNI_DO_SPLAT,  /* repeat one element of an operand */
    TNI_DO_NUMBER, /* repeat a number of the program */
    TNI_DO_CAST,
    TNI_DO_APPLY,
    TNI_DO_CALL,
    TNI_DO_FILL, /* dst is one value */
    TNI_DO_COPY  /* dst is a copy of a register or a source */
} tni_do;

/* out and src are k for operand k (dst is 0), TNI_MAX_OPERANDS + r for result r of a program on
 * dense strips, and TNI_REFS + n for byte 64 n of the arena. */
typedef struct tni_instr {
    uint8_t kind;   /* tni_do */
    bool one;       /* computes one value and repeats it over a block of the kernels */
    int8_t width;   /* bytes of an element of out */
    int8_t from;    /* bytes of an element of src[0] */
    uint8_t ones;   /* bit k: src[k] is one value */
    uint8_t cached; /* CAST: operand whose converted strip is cached; 0: none */
    uint8_t skip;   /* instructions to skip if the cached strip is still valid */
    int16_t out, src[TNI_MAX_ARITY];
    union {
        tni_cast_fn cast;
        tni_op_strip op;
        char value[16];
    };
} tni_instr;

typedef struct tni_strips {
    tni_nest nest;
    bool flat;     /* a strip is the whole block; otherwise a row of its last axis */
    bool single;   /* nothing is packed and a part is one strip */
    bool stream;   /* dst is written with streaming stores */
    bool prefetch; /* the sources of the next strip are prefetched from memory */
    bool beyond;   /* operands are larger than the caches */
    bool down;     /* far, and blocks follow each other along axis[0], not the last axis */
    /* The op of a block is done by columns: TNI_BLOCK bytes of each of its rows. */
    bool columns;
    int slack; /* elements by which a strip may be longer, to begin at a line of dst */
    int nblock;
    int axis[TNI_BLOCK_AXES];    /* the block's axes, outermost first */
    int64_t block[TN_MAX_NDIM];  /* extent of a block along each axis of the nest */
    int64_t items, count, bytes; /* blocks; elements; bytes of all operands in dst's shape */
    tni_operand operand[TNI_MAX_OPERANDS];
    tni_instr *instr; /* instructions of one strip; the first `once` run once per part */
    int ninstr, once;
    bool op_alone;    /* a block has two axes, and one op is all that its rows need */
    int nsmall, nreg; /* blocks of repeated values, registers */
    int widest;       /* bytes of the widest element that a register holds */
    int32_t reg_size; /* bytes of a register */
    int steps;        /* ops and conversions of the program */
    int results;      /* of a program on dense strips */
    tn_dtype compute; /* of its last op; 0: none */
    const char *name;
    const char *text, *list; /* of an expression: as in tni_program; its steps */
    tn_strip_fn map;
    void *user;
} tni_strips;

/* ---- lower.c ---- */

/* Write the instructions of p for the forms of the operands.  Registers and small blocks are
 * counted, and out and src name them by number (TNI_SLOT_SMALL, TNI_SLOT_REG). */
enum { TNI_SLOT_SMALL = 1 << 10, TNI_SLOT_REG = 1 << 12 };
void tni_strips_lower(tni_strips *s, const tni_program *p);

/* ---- strip_arena.c ---- */

/* Place the buffers in the arena, and replace their numbers in instructions by offsets. */
void tni_strips_lay_out(tni_strips *s);

/* ---- dense strips (strip_plan.c, strip_run.c) ---- */

/* Plan a program of several results for single strips: sources are dense, or one value each
 * where broadcast has a bit.  Returns the elements of the longest strip. */
int64_t tni_strips_plan_dense(tni_strips *s, tni_instr *instr, const tni_program *p,
                              const tn_dtype *dtype, uint32_t broadcast);

/* Compute n elements of each result.  The first strip also computes what all strips share and
 * leaves it in the arena. */
void tni_strips_run_dense(const tni_strips *s, char *arena, bool first, char *const *out,
                          const char *const *srcs, int64_t n);

#endif
