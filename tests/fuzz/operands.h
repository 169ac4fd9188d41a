/* operands.h - bytes as named tensors of any dtype and a few layouts, for the targets of
 * expressions. */
#ifndef OPERANDS_H
#define OPERANDS_H

#include "fuzz.h"

enum { MOST_TENSORS = 4, MOST_RANK = 3 };

static const char *const tensor_names[] = {"a", "b", "c", "d"};

typedef struct operands {
    int n;
    tn_tensor t[MOST_TENSORS];
    const tn_tensor *srcs[MOST_TENSORS];
    uint8_t *block[MOST_TENSORS];
} operands;

/* same: all have the same shape. */
static inline void operands_take(operands *o, bytes *b, bool same)
{
    int64_t shape[MOST_RANK] = {1, 1, 1};
    int ndim = 0;
    o->n = 1 + take_below(b, MOST_TENSORS);
    for (int k = 0; k < o->n; k++) {
        const tn_dtype dtype = (tn_dtype)(TN_BOOL + take_below(b, TN_C128 - TN_BOOL + 1));
        const int view = take(b);
        if (k == 0 || !same) {
            ndim = take_below(b, MOST_RANK + 1);
            for (int i = 0; i < ndim; i++)
                shape[i] = take_below(b, 9);
        }
        int64_t numel = 1, memory[MOST_RANK];
        int order[MOST_RANK];
        for (int i = 0; i < ndim; i++) { /* perhaps column-major */
            order[i] = view & 1 ? ndim - 1 - i : i;
            memory[order[i]] = shape[i];
            numel *= shape[i];
        }
        const size_t size = (size_t)numel * tn_dtype_size(dtype);
        o->block[k] = malloc(size + 1);
        MUST(o->block[k]);
        for (size_t i = 0; i < size; i++)
            o->block[k][i] = (uint8_t)(view * 29 + (int)i * 37 + take(b));
        MUST(tn_init(&o->t[k], o->block[k], dtype, ndim, memory) == TN_OK);
        if (ndim)
            MUST(tn_permute(&o->t[k], &o->t[k], order) == TN_OK);
        if (ndim && view & 2)
            MUST(tn_flip(&o->t[k], &o->t[k], view / 4 % ndim) == TN_OK);
        o->srcs[k] = &o->t[k];
    }
}

static inline void operands_free(operands *o)
{
    for (int k = 0; k < o->n; k++)
        free(o->block[k]);
}

#endif
