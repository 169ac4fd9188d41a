/* machine.h - the tensors of a program of bytes: views of a few small blocks of exact size,
 * each with its model. */
#ifndef MACHINE_H
#define MACHINE_H

#include "model.h"

enum { SLOTS = 4 };

static const tn_dtype dtypes[] = {TN_U8, TN_I16, TN_F32, TN_I64, TN_C128, TN_BOOL, TN_BF16};

typedef struct store {
    uint8_t *data; /* of exactly size bytes */
    size_t size;
    int users;
} store;

typedef struct slot {
    store *in;
    tn_tensor t;
    model m;
} slot;

typedef struct machine {
    bytes b;
    slot slots[SLOTS];
} machine;

static void leave_store(store *s)
{
    if (s && --s->users == 0) {
        free(s->data);
        free(s);
    }
}

static uint8_t *copy_of(const store *s)
{
    uint8_t *copy = malloc(s->size + 1);
    MUST(copy);
    memcpy(copy, s->data, s->size);
    return copy;
}

/* Bytes outside of dst's elements stay, and all of them when the op fails. */
static void check_outside(const slot *d, const uint8_t *before, tn_status got)
{
    uint8_t *mark = calloc(1, d->in->size + 1);
    MUST(mark);
    for (int64_t i = 0; got == TN_OK && i < d->m.n; i++)
        memset(mark + d->m.at[i], 1, tn_dtype_size(d->t.dtype));
    for (size_t i = 0; i < d->in->size; i++)
        MUST(mark[i] || before[i] == d->in->data[i]);
    free(mark);
}

#endif
