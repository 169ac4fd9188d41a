/* program.h - elementwise work as a value: sources, numbers and the steps between them.
 *
 * ops builds a program, plan lowers it to instructions and runs them block by block.  Values
 * are numbered: first the sources, then the numbers, then the results of the steps.  A step
 * uses only values before its own.
 *
 *     add f16 + f32   cast 0 to f32; apply add; store         cast   cast 0 to the dtype of dst
 *     (x / 255 - m)   cast 0 to f32; apply div; apply sub     map    no step, a function */
#ifndef TNI_PROGRAM_H
#define TNI_PROGRAM_H

#include <tenon/ops.h>

#include "core/core.h"

enum {
    TNI_MAX_SOURCES = 16,
    TNI_MAX_RESULTS = 16, /* results of a program on dense strips */
    TNI_MAX_NUMBERS = 512,
    TNI_MAX_STEPS = 264, /* of an expression, and the conversions to dst */
    TNI_MAX_VALUES = TNI_MAX_SOURCES + TNI_MAX_NUMBERS + TNI_MAX_STEPS
};

typedef struct tni_number {
    tn_dtype dtype;
    char bytes[16];
} tni_number;

typedef enum tni_step_kind {
    TNI_STEP_CAST, /* src[0], converted to dtype */
    TNI_STEP_APPLY /* op, on sources of the dtype in which it computes */
} tni_step_kind;

typedef struct tni_strip_step {
    uint8_t kind; /* tni_step_kind */
    uint8_t op;   /* tn_op */
    uint8_t nsrc;
    uint8_t dtype;   /* of the result */
    uint8_t compute; /* APPLY: of the sources; selects the kernel */
    int16_t src[TNI_MAX_ARITY];
    double params[TNI_MAX_PARAMS];
} tni_strip_step;

typedef struct tni_program {
    const char *name; /* for facts: "add", "cast", "eval" */
    int nsrc, nnum, nstep;
    int value;  /* the result; of dst's dtype */
    int nvalue; /* on dense strips there are several results instead: */
    int16_t values[TNI_MAX_RESULTS];
    const tni_number *num;
    const tni_strip_step *step;
    const char *text; /* an expression and the names of its sources, each terminated by 0 */
    size_t text_size;
    tn_strip_fn map; /* replaces steps: the user's function of all sources, unconverted */
    void *user;
} tni_program;

/* A single conversion, and the program that consists of it. */
static inline tni_strip_step tni_cast_step(tn_dtype to)
{
    return (tni_strip_step){.kind = TNI_STEP_CAST, .nsrc = 1, .dtype = (uint8_t)to};
}

static inline tni_program tni_cast_program(const tni_strip_step *step)
{
    return (tni_program){.name = "cast", .nsrc = 1, .nstep = 1, .value = 1, .step = step};
}

/* The number of the value that step i computes. */
static inline int tni_step_value(const tni_program *p, int i)
{
    return p->nsrc + p->nnum + i;
}

#endif
