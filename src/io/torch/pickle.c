/* pickle.c - the pickle machine: a stack, marks and a memo over an arena of values.
 *
 * Every length is checked against the remaining bytes before it is used, and every index
 * against its array.  Opcodes that torch does not write are refused. */
#include "pickle_stack.h"

#include <string.h>

static tn_status push_int(tni_pickle *p, int bytes)
{
    uint64_t x = 0;
    TRY(tni_pk_take_number(p, bytes, &x));
    int64_t number = bytes == 4 ? (int64_t)(int32_t)(uint32_t)x : (int64_t)x; /* BININT */
    return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_INT, .number = number});
}

/* A signed little-endian number of n bytes; None if it does not fit 64 bits. */
static tn_status push_long(tni_pickle *p, int length_bytes)
{
    uint64_t n = 0, x = 0;
    const uint8_t *at = NULL;
    TRY(tni_pk_take_number(p, length_bytes, &n));
    TRY(tni_pk_take(p, (int64_t)n, &at));
    if (n > 8)
        return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_NOTHING});
    for (uint64_t i = 0; i < n; i++)
        x |= (uint64_t)at[i] << 8 * i;
    if (n > 0 && n < 8 && at[n - 1] & 0x80)
        x |= UINT64_MAX << 8 * n;
    return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_INT, .number = (int64_t)x});
}

static tn_status push_text(tni_pickle *p, int length_bytes)
{
    uint64_t n = 0;
    TRY(tni_pk_take_number(p, length_bytes, &n));
    if (n > (uint64_t)(p->n - p->at)) /* n is less than 2^32 */
        return tni_fail_pickle(p, "ends inside a value");
    const int64_t first = p->at;
    p->at += (int64_t)n;
    return tni_pk_push(p, (tni_pickle_value){TNI_PK_TEXT, .n = (uint32_t)n, .number = first});
}

/* ---- names of Python objects ---- */

static tn_status push_global(tni_pickle *p, const uint8_t *module, int64_t nm,
                             const uint8_t *name, int64_t nn)
{
    for (int i = 0; i < tni_pickle_global_count; i++) {
        const tni_pickle_global *g = &tni_pickle_globals[i];
        if ((int64_t)strlen(g->module) == nm && (int64_t)strlen(g->name) == nn &&
            !memcmp(g->module, module, (size_t)nm) && !memcmp(g->name, name, (size_t)nn))
            return tni_pk_push(p, (tni_pickle_value){TNI_PK_GLOBAL, .global = (uint8_t)i});
    }
    char text[200]; /* the name; '?' for unprintable characters */
    int n = 0;
    for (int64_t i = 0; i < nm + 1 + nn && n < (int)sizeof text - 1; i++) {
        uint8_t c = i < nm ? module[i] : i == nm ? '.' : name[i - nm - 1];
        text[n++] = c >= ' ' && c < 0x7f ? (char)c : '?';
    }
    text[n] = 0;
    return tni_fail(TN_EUNSUPPORTED, "%s: needs %s, which is not supported", p->path, text);
}

static tn_status take_line(tni_pickle *p, const uint8_t **line, int64_t *n)
{
    const uint8_t *end = memchr(p->bytes + p->at, '\n', (size_t)(p->n - p->at));
    if (!end)
        return tni_fail_pickle(p, "ends inside a name");
    *line = p->bytes + p->at;
    *n = end - *line;
    p->at += *n + 1;
    return TN_OK;
}

static tn_status global_by_lines(tni_pickle *p, int unused)
{
    (void)unused;
    const uint8_t *module = NULL, *name = NULL;
    int64_t nm = 0, nn = 0;
    TRY(take_line(p, &module, &nm));
    TRY(take_line(p, &name, &nn));
    return push_global(p, module, nm, name, nn);
}

static tn_status global_of_stack(tni_pickle *p, int unused)
{
    (void)unused;
    uint32_t name = 0, module = 0;
    TRY(tni_pk_pop(p, &name));
    TRY(tni_pk_pop(p, &module));
    const tni_pickle_value *m = &p->values[module], *n = &p->values[name];
    if (m->kind != TNI_PK_TEXT || n->kind != TNI_PK_TEXT)
        return tni_fail_pickle(p, "a name is not a string");
    return push_global(p, p->bytes + m->number, m->n, p->bytes + n->number, n->n);
}

/* A dict, filled from a list of pairs if there is one. */
static tn_status push_dict(tni_pickle *p, uint32_t pairs)
{
    TRY(tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_DICT}));
    uint32_t dict = p->stack[p->nstack - 1];
    const uint32_t n = p->values[pairs].kind == TNI_PK_LIST ? p->values[pairs].n : 0;
    for (uint32_t i = 0, cell = p->values[pairs].head; i < n; i++, cell = p->cells[cell].next) {
        uint32_t pair = p->cells[cell].value;
        if (p->values[pair].kind != TNI_PK_LIST || p->values[pair].n != 2)
            return tni_fail_pickle(p, "dict items are not pairs");
        TRY(tni_pk_append(p, dict, tni_pickle_item(p, pair, 0)));
        TRY(tni_pk_append(p, dict, tni_pickle_item(p, pair, 1)));
    }
    return TN_OK;
}

/* The result of calling a listed function with its arguments. */
static tn_status push_result(tni_pickle *p, uint32_t function, uint32_t args)
{
    for (;;) {
        const tni_pickle_value *f = &p->values[function];
        if (f->kind != TNI_PK_GLOBAL || p->values[args].kind != TNI_PK_LIST)
            return tni_fail_pickle(p, "a call of something other than a function");
        switch (tni_pickle_globals[f->global].role) {
        case TNI_PK_REBUILD:
        case TNI_PK_REBUILD_V3:
        case TNI_PK_UNSUPPORTED:
            return tni_pk_push(p, (tni_pickle_value){TNI_PK_TENSOR, f->global, .head = args});
        case TNI_PK_FIRST:
            return tni_pk_push_index(p, tni_pickle_item(p, args, 0));
        case TNI_PK_FROM_TYPE: /* calls its first argument with its third */
            function = tni_pickle_item(p, args, 0);
            args = tni_pickle_item(p, args, 2);
            if (p->values[function].kind == TNI_PK_GLOBAL &&
                tni_pickle_globals[p->values[function].global].role == TNI_PK_FROM_TYPE)
                return tni_fail_pickle(p, "_rebuild_from_type inside another one");
            continue;
        case TNI_PK_MAKES_DICT:
            return push_dict(p, tni_pickle_item(p, args, 0));
        default:
            return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_NOTHING});
        }
    }
}

static tn_status reduce(tni_pickle *p, int unused)
{
    (void)unused;
    uint32_t args = 0, function = 0;
    TRY(tni_pk_pop(p, &args));
    TRY(tni_pk_pop(p, &function));
    return push_result(p, function, args);
}

static tn_status persistent_id(tni_pickle *p, int unused)
{
    (void)unused;
    uint32_t id = 0;
    TRY(tni_pk_pop(p, &id));
    if (p->values[id].kind != TNI_PK_LIST || p->values[id].n < 5)
        return tni_fail_pickle(p, "a storage is not a tuple of 5 items");
    return tni_pk_push(p, (tni_pickle_value){TNI_PK_STORAGE, .head = id});
}

/* ---- lists, tuples, dicts ---- */

/* Pop the values from `first` on; push a tuple of them. */
static tn_status push_tuple(tni_pickle *p, int64_t first)
{
    int64_t end = p->nstack;
    if (first < tni_pk_floor_of(p))
        return tni_fail_pickle(p, "the stack is empty");
    TRY(tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_LIST}));
    uint32_t tuple = p->stack[--p->nstack];
    for (int64_t i = first; i < end; i++)
        TRY(tni_pk_append(p, tuple, p->stack[i]));
    p->nstack = first;
    return tni_pk_push_index(p, tuple);
}

/* Move the values from `first` on to the list or dict below them. */
static tn_status add_items(tni_pickle *p, int64_t first, int kind)
{
    ASSERT(first <= p->nstack);
    if (first < 1 || first - 1 < tni_pk_floor_of(p))
        return tni_fail_pickle(p, "the stack is empty");
    uint32_t into = p->stack[first - 1];
    bool pairs = kind == TNI_PK_DICT;
    if (pairs && (p->nstack - first) % 2)
        return tni_fail_pickle(p, "a key without a value");
    if (p->values[into].kind != kind && p->values[into].kind != TNI_PK_NOTHING)
        return tni_fail_pickle(p, pairs ? "items are added to something other than a dict"
                                        : "items are added to something other than a list");
    for (int64_t i = first; p->values[into].kind == kind && i < p->nstack; i++)
        TRY(tni_pk_append(p, into, p->stack[i]));
    p->nstack = first;
    return TN_OK;
}

static tn_status add_marked(tni_pickle *p, int kind)
{
    int64_t first = 0;
    TRY(tni_pk_pop_mark(p, &first));
    return add_items(p, first, kind);
}

static tn_status build(tni_pickle *p, int unused)
{
    (void)unused;
    uint32_t state = 0;
    TRY(tni_pk_pop(p, &state));
    return p->nstack > tni_pk_floor_of(p) ? TN_OK : tni_fail_pickle(p, "the stack is empty");
}

static tn_status memo_put(tni_pickle *p, int bytes)
{
    uint64_t at = 0;
    TRY(tni_pk_take_number(p, bytes, &at));
    return tni_pk_memo_put(p, at);
}

static tn_status memo_get(tni_pickle *p, int bytes)
{
    uint64_t at = 0;
    TRY(tni_pk_take_number(p, bytes, &at));
    return tni_pk_memo_get(p, at);
}

/* MEMOIZE: store at the next free index. */
static tn_status memoize(tni_pickle *p, int unused)
{
    (void)unused;
    return tni_pk_memo_put(p, p->memoized++);
}

static tn_status tuple_of_marked(tni_pickle *p, int unused)
{
    (void)unused;
    int64_t first = 0;
    TRY(tni_pk_pop_mark(p, &first));
    return push_tuple(p, first);
}

static tn_status skip_bytes(tni_pickle *p, int n)
{
    const uint8_t *at = NULL;
    return tni_pk_take(p, n, &at);
}

static tn_status push_float(tni_pickle *p, int n)
{
    TRY(skip_bytes(p, n));
    return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_NOTHING});
}

static tn_status push_kind(tni_pickle *p, int kind)
{
    return tni_pk_push(p, (tni_pickle_value){.kind = (uint8_t)kind});
}

static tn_status push_bool(tni_pickle *p, int is)
{
    return tni_pk_push(p, (tni_pickle_value){.kind = TNI_PK_INT, .number = is});
}

static tn_status push_none(tni_pickle *p, int unused)
{
    (void)unused;
    return tni_pk_push_index(p, 0);
}

static tn_status push_mark(tni_pickle *p, int unused)
{
    (void)unused;
    return tni_pk_push_mark(p);
}

static tn_status tuple_of(tni_pickle *p, int n)
{
    return push_tuple(p, p->nstack - n);
}

static tn_status add_last(tni_pickle *p, int kind)
{
    return add_items(p, p->nstack - (kind == TNI_PK_DICT ? 2 : 1), kind);
}

/* ---- opcodes ---- */

/* clang-format off */
static const struct {
    tn_status (*run)(tni_pickle *p, int arg);
    int arg;
} opcodes[256] = {
    [0x80] = {skip_bytes, 1} /* PROTO */, [0x95] = {skip_bytes, 8} /* FRAME */,
    ['}'] = {push_kind, TNI_PK_DICT}, [']'] = {push_kind, TNI_PK_LIST},
    [')'] = {push_kind, TNI_PK_LIST}, [0x8f] = {push_kind, TNI_PK_LIST} /* EMPTY_SET */,
    ['('] = {push_mark, 0}, ['t'] = {tuple_of_marked, 0},
    [0x85] = {tuple_of, 1}, [0x86] = {tuple_of, 2}, [0x87] = {tuple_of, 3},
    ['s'] = {add_last, TNI_PK_DICT}, ['u'] = {add_marked, TNI_PK_DICT},
    ['a'] = {add_last, TNI_PK_LIST}, ['e'] = {add_marked, TNI_PK_LIST},
    [0x90] = {add_marked, TNI_PK_LIST} /* ADDITEMS */,
    ['N'] = {push_none, 0}, [0x88] = {push_bool, 1}, [0x89] = {push_bool, 0},
    ['J'] = {push_int, 4}, ['K'] = {push_int, 1}, ['M'] = {push_int, 2},
    [0x8a] = {push_long, 1}, [0x8b] = {push_long, 4}, ['G'] = {push_float, 8},
    ['X'] = {push_text, 4}, ['T'] = {push_text, 4}, ['B'] = {push_text, 4},
    [0x8c] = {push_text, 1}, ['U'] = {push_text, 1}, ['C'] = {push_text, 1},
    [0x8d] = {push_text, 8} /* BINUNICODE8 */,
    ['q'] = {memo_put, 1}, ['r'] = {memo_put, 4}, ['h'] = {memo_get, 1}, ['j'] = {memo_get, 4},
    [0x94] = {memoize, 0}, ['c'] = {global_by_lines, 0}, [0x93] = {global_of_stack, 0},
    ['R'] = {reduce, 0}, [0x81] = {reduce, 0} /* NEWOBJ */, ['b'] = {build, 0},
    ['Q'] = {persistent_id, 0},
};
/* clang-format on */

tn_status tni_pickle_read(tni_pickle *p)
{
    TRY(tni_pk_start(p));
    while (p->at < p->n) {
        uint8_t op = p->bytes[p->at++];
        if (op == '.')
            return tni_pk_pop(p, &p->root);
        if (!opcodes[op].run)
            return tni_fail(TN_EUNSUPPORTED, "%s: opcode 0x%02x at byte %lld is not supported",
                            p->path, op, (long long)p->at - 1);
        TRY(opcodes[op].run(p, opcodes[op].arg));
    }
    return tni_fail_pickle(p, "ends without STOP");
}
