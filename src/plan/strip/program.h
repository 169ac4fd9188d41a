/* program.h - elementwise work as a value: sources, numbers and the steps between them.
 *
 * ops builds a program, plan lowers it to instructions and runs them block by block.  Values are
 * counted through: first the sources, then the numbers, then the result of each step, which uses
 * values before it alone.
 *
 *   add f16 + f32   cast 0 to f32; apply add; store         cast   cast 0 to the dtype of dst
 *   (x / 255 - m)   cast 0 to f32; apply div; apply sub     map    no step, a function */
#ifndef TNI_PROGRAM_H
#define TNI_PROGRAM_H

#include <tenon/ops.h>

#include "core/core.h"

enum {
    TNI_MAX_SOURCES = 16,
    TNI_MAX_RESULTS = 16, /* results of a program on dense strips */
    TNI_MAX_NUMBERS = 512,
    TNI_MAX_STEPS = 264, /* those of an expression and the conversions to dst */
    TNI_MAX_VALUES = TNI_MAX_SOURCES + TNI_MAX_NUMBERS + TNI_MAX_STEPS
};

typedef struct tni_number {
    tn_dtype dtype;
    char bytes[16];
} tni_number;

typedef enum tni_step_kind {
    TNI_STEP_CAST, /* src[0], converted to dtype */
    TNI_STEP_APPLY /* op of sources in the dtype where it computes */
} tni_step_kind;

typedef struct tni_strip_step {
    uint8_t kind; /* tni_step_kind */
    uint8_t op;   /* tn_op */
    uint8_t nsrc;
    uint8_t dtype;   /* of the result */
    uint8_t compute; /* APPLY: of the sources that choose the kernel */
    int16_t src[TNI_MAX_ARITY];
    double params[TNI_MAX_PARAMS];
} tni_strip_step;

typedef struct tni_program {
    const char *name; /* for facts: "add", "cast", "eval" */
    int nsrc, nnum, nstep;
    int value;  /* the result; of dst's dtype */
    int nvalue; /* programs on dense strips have several results instead, */
    int16_t values[TNI_MAX_RESULTS];
    const tni_number *num;
    const tni_strip_step *step;
    const char *text; /* an expression and the names of its sources, each with its 0 */
    size_t text_size;
    tn_strip_fn map; /* instead of steps: the user's function, of all sources as they are */
    void *user;
} tni_program;

/* A conversion alone, and its program. */
static inline tni_strip_step tni_cast_step(tn_dtype to)
{
    return (tni_strip_step){.kind = TNI_STEP_CAST, .nsrc = 1, .dtype = (uint8_t)to};
}

static inline tni_program tni_cast_program(const tni_strip_step *step)
{
    return (tni_program){.name = "cast", .nsrc = 1, .nstep = 1, .value = 1, .step = step};
}

/* The value of step i. */
static inline int tni_step_value(const tni_program *p, int i)
{
    return p->nsrc + p->nnum + i;
}

#endif
