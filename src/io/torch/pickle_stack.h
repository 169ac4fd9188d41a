/* pickle_stack.h - the state of the pickle machine: stack, marks, memo, and the input. */
#ifndef TNI_PICKLE_STACK_H
#define TNI_PICKLE_STACK_H

#include "pickle.h"

/* Fail with TN_EFORMAT and the offset. */
tn_status tni_fail_pickle(const tni_pickle *p, const char *what);

tn_status tni_pk_start(tni_pickle *p);

/* Read the next n bytes, or a little-endian number of at most 8 bytes. */
tn_status tni_pk_take(tni_pickle *p, int64_t n, const uint8_t **bytes);
tn_status tni_pk_take_number(tni_pickle *p, int bytes, uint64_t *x);

/* Push a new value, push the index of an existing value, pop an index. */
tn_status tni_pk_push(tni_pickle *p, tni_pickle_value v);
tn_status tni_pk_push_index(tni_pickle *p, uint32_t value);
tn_status tni_pk_pop(tni_pickle *p, uint32_t *value);

/* First stack index that belongs to the last mark; calls may not pop below it. */
int64_t tni_pk_floor_of(const tni_pickle *p);
tn_status tni_pk_push_mark(tni_pickle *p);
tn_status tni_pk_pop_mark(tni_pickle *p, int64_t *first);

/* Append a value to a list or dict. */
tn_status tni_pk_append(tni_pickle *p, uint32_t list, uint32_t value);

tn_status tni_pk_memo_put(tni_pickle *p, uint64_t at); /* stores the top of the stack */
tn_status tni_pk_memo_get(tni_pickle *p, uint64_t at);

#endif
