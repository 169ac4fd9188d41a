/* strips.h - the plan of elementwise work: blocks of the nest, how each operand gets into the
 * one shape that kernels take, and the instructions for one strip of a block.
 *
 * A block is a few axes, cut to sizes that fit the cache; a strip is a row of it, or all of it.
 * Inside it an operand is used where it is, is one value for each strip, or is packed into the
 * block's order.  Temporaries are registers: one strip each, in the arena of the part. */
#ifndef TNI_STRIPS_H
#define TNI_STRIPS_H

#include "kernels/kernels.h"
#include "plan/strip/program.h"

enum {
    TNI_BLOCK_AXES = 4,    /* not measured: two of a transpose, two around them */
    TNI_ARENA = 64 * 1024, /* bytes of all buffers of a part: a quarter of Haswell's L2 */
    TNI_PREFETCH_LEAST = 4 << 20, /* bytes of operands that come from memory: prefetching from
                                  L3 made 1.3 MB slower, 42 GB/s instead of 63 */
    TNI_OP_INSTRS = 24,           /* instructions of any program of one op, as asserted, */
    TNI_MAX_INSTRS = TNI_MAX_VALUES + 2 * TNI_MAX_STEPS, /* and of any program */
    TNI_REFS = TNI_MAX_OPERANDS + TNI_MAX_RESULTS
};

typedef enum tni_form {
    TNI_DIRECT, /* elements are used where they are */
    TNI_SPLAT,  /* one value for each strip */
    TNI_PACKED  /* a buffer holds the block, dense */
} tni_form;

typedef struct tni_operand {
    int8_t form;    /* tni_form */
    int8_t width;   /* bytes of an element */
    int8_t dtype;   /* tn_dtype */
    bool transpose; /* packed, and dense along another axis of the block */
    int32_t buffer; /* packed: its offset in the arena, */
    int32_t pitch;  /* and the bytes from one of its rows to the next */
} tni_operand;

typedef enum tni_do {
    TNI_DO_SPLAT,  /* repeat the element at an operand */
    TNI_DO_NUMBER, /* repeat a number of the program */
    TNI_DO_CAST,
    TNI_DO_APPLY,
    TNI_DO_CALL,
    TNI_DO_FILL, /* dst is one value */
    TNI_DO_COPY  /* dst is what a register or a source holds */
} tni_do;

/* out and src are operands (dst is 0), TNI_MAX_OPERANDS + r for result r of a program on dense
 * strips, or TNI_REFS + n for 64 n bytes into the arena. */
typedef struct tni_instr {
    uint8_t kind;   /* tni_do */
    bool one;       /* gives one value, repeated over a block of the kernels */
    int8_t width;   /* bytes of an element of out, */
    int8_t from;    /* and of src[0] */
    uint8_t ones;   /* bit k: src[k] is one value */
    uint8_t cached; /* CAST: operand whose converted strip is kept while it does not change; */
    uint8_t skip;   /* then this many instructions are skipped */
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
    bool stream;   /* dst is written past the caches */
    bool prefetch; /* sources come from memory: those of the next strip are prefetched */
    bool far;      /* operands are in no cache, */
    bool down;     /* and blocks follow each other along axis[0], not along the last axis */
    bool
        columns; /* the op of a block is done by columns: TNI_BLOCK bytes of each of its rows */
    int slack;   /* elements that a strip may be longer, so that it begins with a line of dst */
    int nblock;
    int axis[TNI_BLOCK_AXES];    /* the block's axes, outermost first */
    int64_t block[TN_MAX_NDIM];  /* extent of a block along each axis of the nest */
    int64_t items, count, bytes; /* blocks; elements; bytes of all operands in dst's shape */
    tni_operand operand[TNI_MAX_OPERANDS];
    tni_instr *instr; /* instructions of one strip; the first `once` run once for a part */
    int ninstr, once;
    bool op_alone;    /* one op is all that a row of two axes needs */
    int nsmall, nreg; /* blocks of repeated values, registers */
    int widest;       /* bytes of the widest element that a register holds */
    int32_t reg_size; /* bytes of a register */
    int steps;        /* ops and conversions of the program */
    int results;      /* of a program on dense strips */
    tn_dtype compute; /* of its last op; 0: none */
    const char *name;
    const char *text, *list; /* plans of expressions: see tni_program; the steps */
    tn_strip_fn map;
    void *user;
} tni_strips;

/* ---- lower.c ---- */

/* Write the instructions of p for the forms of the operands: registers and small blocks are
 * counted, out and src name them by number (TNI_SLOT_SMALL, TNI_SLOT_REG). */
enum { TNI_SLOT_SMALL = 1 << 10, TNI_SLOT_REG = 1 << 12 };
void tni_strips_lower(tni_strips *s, const tni_program *p);

/* ---- strip_arena.c ---- */

/* Place the buffers, and let instructions name them by their offsets. */
void tni_strips_lay_out(tni_strips *s);

/* ---- dense strips (strip_plan.c, strip_run.c) ---- */

/* Plan a program of several results for single strips: sources are dense, or one value for all
 * where broadcast marks them.  Gives the elements of the longest strip. */
int64_t tni_strips_plan_dense(tni_strips *s, tni_instr *instr, const tni_program *p,
                              const tn_dtype *dtype, uint32_t broadcast);

/* n elements of each result.  What strips share is in the arena after the first of them. */
void tni_strips_run_dense(const tni_strips *s, char *arena, bool first, char *const *out,
                          const char *const *srcs, int64_t n);

#endif
