/* strips.h - the plan of elementwise work: blocks of the nest, and how each operand gets into
 * the one shape that kernels take.
 *
 * A block is a few axes, cut to sizes that fit the cache.  Inside it an operand is used where
 * it is, or is one value for each strip, or goes through a buffer: moved into the block's
 * order, converted, or both. */
#ifndef TNI_STRIPS_H
#define TNI_STRIPS_H

#include <tenon/ops.h>

#include "kernels/kernels.h"

enum {
    TNI_BLOCK_AXES = 4,
    TNI_ARENA = 64 * 1024 /* bytes of all buffers of one part */
};

/* What is to be done. */
typedef struct tni_strips_how {
    const char *name; /* for explain: "add", "cast" */
    tn_op op;
    const double *params;
    tn_strip_fn map; /* a strip function of the user; or NULL */
    void *user;
    bool cast;                          /* a conversion alone */
    tn_dtype meet[TNI_MAX_OPERANDS];    /* what a source is converted to; dst: its dtype */
    tn_dtype compute[TNI_MAX_OPERANDS]; /* what the kernel takes, and gives as dst */
} tni_strips_how;

typedef enum tni_form {
    TNI_DIRECT, /* elements are used where they are */
    TNI_ONE,    /* one value for each strip */
    TNI_STAGED  /* a buffer holds them, dense, in the compute dtype */
} tni_form;

typedef struct tni_operand {
    int8_t form;   /* tni_form */
    int8_t width;  /* bytes of an element in the tensor */
    int8_t inside; /* bytes of an element in the compute dtype */
    bool move;     /* staged: not dense, the block is moved as a whole */
    bool turn;     /* moved, and dense along another axis of the block */
    int32_t buffer;
    tni_cast cast; /* from the tensor's to the compute dtype; for dst the way back */
} tni_operand;

typedef struct tni_strips {
    tni_nest nest;
    bool plain;  /* one axis, nothing staged: the whole work is one strip, or pieces of it */
    bool flat;   /* a strip is the whole block; otherwise a row of its last axis */
    bool stream; /* dst is written past the caches, */
    bool relay;  /* from a buffer, because the kernel itself does not stream */
    int nblock;
    int axis[TNI_BLOCK_AXES];    /* the block's axes, outermost first */
    int64_t block[TN_MAX_NDIM];  /* extent of a block along each axis of the nest */
    int64_t items, count, bytes; /* blocks; elements; bytes of all operands in dst's shape */
    int32_t scratch[2], size;    /* buffers between conversions; bytes of a buffer */
    tni_operand operand[TNI_MAX_OPERANDS];
    tni_op_strip op; /* fn NULL: a conversion, or a strip function of the user */
    tn_strip_fn map;
    void *user;
    const char *name;
    tn_dtype compute;
} tni_strips;

#endif
