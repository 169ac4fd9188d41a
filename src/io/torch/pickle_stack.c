/* pickle_stack.c - the state of the pickle machine: values, cells, stack, marks, memo, and the
 * bytes still to read.
 *
 * Arrays grow by doubling; the size of the pickle bounds every one of them. */
#include "pickle_stack.h"

#include <string.h>

enum { VALUES, CELLS, STACK, MARKS, MEMO };

tn_status tni_fail_pickle(const tni_pickle *p, const char *what)
{
    return tni_fail(TN_EFORMAT, "%s: pickle, byte %lld: %s", p->path, (long long)p->at, what);
}

/* Ensure that array `which` has space for n + 1 rows of width bytes. */
static tn_status pickle_grow(tni_pickle *p, int which, void *array, int64_t n, size_t width)
{
    void **at = array;
    if (n < p->capacity[which])
        return TN_OK;
    int64_t capacity = n < 64 ? 64 : 2 * n;
    ASSERT(capacity <= UINT32_MAX); /* torch.c bounds the pickle */
    void *more = tni_alloc((size_t)capacity * width);
    if (!more)
        return tni_no_memory(p->path, capacity * (int64_t)width);
    if (p->capacity[which])
        memcpy(more, *at, (size_t)p->capacity[which] * width);
    memset((char *)more + (size_t)p->capacity[which] * width, 0,
           (size_t)(capacity - p->capacity[which]) * width);
    tni_free(*at);
    *at = more;
    p->capacity[which] = capacity;
    return TN_OK;
}

tn_status tni_pk_push_index(tni_pickle *p, uint32_t value)
{
    TRY(pickle_grow(p, STACK, &p->stack, p->nstack, sizeof *p->stack));
    p->stack[p->nstack++] = value;
    return TN_OK;
}

tn_status tni_pk_push(tni_pickle *p, tni_pickle_value v)
{
    TRY(pickle_grow(p, VALUES, &p->values, p->nvalues, sizeof *p->values));
    p->values[p->nvalues] = v;
    return tni_pk_push_index(p, (uint32_t)p->nvalues++);
}

/* Index of the first value above the last mark. */
int64_t tni_pk_floor_of(const tni_pickle *p)
{
    return p->nmarks ? p->marks[p->nmarks - 1] : 0;
}

tn_status tni_pk_pop(tni_pickle *p, uint32_t *value)
{
    if (p->nstack <= tni_pk_floor_of(p))
        return tni_fail_pickle(p, "the stack is empty");
    *value = p->stack[--p->nstack];
    return TN_OK;
}

tn_status tni_pk_append(tni_pickle *p, uint32_t list, uint32_t value)
{
    if (p->ncells > 2 * p->n + 64) /* every item was pushed by at least one byte */
        return tni_fail_pickle(p, "more items than values");
    TRY(pickle_grow(p, CELLS, &p->cells, p->ncells, sizeof *p->cells));
    uint32_t cell = (uint32_t)p->ncells++;
    p->cells[cell] = (tni_pickle_cell){value, 0};
    tni_pickle_value *v = &p->values[list];
    if (v->head)
        p->cells[v->tail].next = cell;
    else
        v->head = cell;
    v->tail = cell;
    v->n++;
    return TN_OK;
}

uint32_t tni_pickle_item(const tni_pickle *p, uint32_t list, uint32_t i)
{
    const tni_pickle_value *v = &p->values[list];
    ASSERT(v->kind == TNI_PK_LIST);
    if (i >= v->n)
        return 0;
    uint32_t cell = v->head;
    while (i--)
        cell = p->cells[cell].next;
    return p->cells[cell].value;
}

/* ---- bytes ---- */

tn_status tni_pk_take(tni_pickle *p, int64_t n, const uint8_t **bytes)
{
    if (n > p->n - p->at)
        return tni_fail_pickle(p, "ends inside a value");
    *bytes = p->bytes + p->at;
    p->at += n;
    return TN_OK;
}

tn_status tni_pk_take_number(tni_pickle *p, int bytes, uint64_t *x)
{
    const uint8_t *at = NULL;
    TRY(tni_pk_take(p, bytes, &at));
    *x = 0;
    for (int i = 0; i < bytes; i++)
        *x |= (uint64_t)at[i] << 8 * i;
    return TN_OK;
}

/* ---- marks and memo ---- */

tn_status tni_pk_push_mark(tni_pickle *p)
{
    TRY(pickle_grow(p, MARKS, &p->marks, p->nmarks, sizeof *p->marks));
    p->marks[p->nmarks++] = (uint32_t)p->nstack;
    return TN_OK;
}

tn_status tni_pk_pop_mark(tni_pickle *p, int64_t *first)
{
    if (!p->nmarks)
        return tni_fail_pickle(p, "missing mark");
    *first = p->marks[--p->nmarks];
    return TN_OK;
}

tn_status tni_pk_memo_put(tni_pickle *p, uint64_t at)
{
    if (p->nstack <= tni_pk_floor_of(p))
        return tni_fail_pickle(p, "the stack is empty");
    if (at > (uint64_t)p->at) /* more than opcodes so far */
        return tni_fail_pickle(p, "memo index is too large");
    while ((int64_t)at >= p->capacity[MEMO])
        TRY(pickle_grow(p, MEMO, &p->memo, p->capacity[MEMO], sizeof *p->memo));
    p->memo[at] = p->stack[p->nstack - 1] + 1;
    return TN_OK;
}

tn_status tni_pk_memo_get(tni_pickle *p, uint64_t at)
{
    if ((int64_t)at >= p->capacity[MEMO] || !p->memo[at])
        return tni_fail_pickle(p, "memo index is not defined");
    return tni_pk_push_index(p, p->memo[at] - 1);
}

tn_status tni_pk_start(tni_pickle *p)
{
    p->at = p->nstack = p->nmarks = 0;
    TRY(pickle_grow(p, VALUES, &p->values, 0, sizeof *p->values));
    TRY(pickle_grow(p, CELLS, &p->cells, 0, sizeof *p->cells));
    p->nvalues = p->ncells = 1;
    return TN_OK;
}

void tni_pickle_free(tni_pickle *p)
{
    tni_free(p->values);
    tni_free(p->cells);
    tni_free(p->stack);
    tni_free(p->marks);
    tni_free(p->memo);
}
