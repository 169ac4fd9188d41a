/* pickle.h - reading the pickle of a torch file into a tree of tagged values.
 *
 * No code in a pickle is executed: the globals that it names are looked up in a list of those
 * that describe tensors, and a file that names any other is refused.  Memory is bounded by the
 * size of the pickle: at most two values or cells for each opcode and for each pair of a
 * dict. */
#ifndef TNI_PICKLE_H
#define TNI_PICKLE_H

#include "io/io.h"

typedef enum tni_pickle_kind {
    TNI_PK_NOTHING, /* None, or a value that is not needed */
    TNI_PK_INT,     /* int or bool */
    TNI_PK_TEXT,    /* bytes inside the pickle */
    TNI_PK_LIST,    /* list, tuple or set */
    TNI_PK_DICT,
    TNI_PK_GLOBAL,
    TNI_PK_STORAGE, /* head is the tuple of its persistent id */
    TNI_PK_TENSOR   /* the function `global` rebuilds it from the tuple at head */
} tni_pickle_kind;

typedef struct tni_pickle_value {
    uint8_t kind, global; /* tni_pickle_kind; row of tni_pickle_globals */
    uint32_t n;           /* LIST, DICT: number of items; TEXT: number of bytes */
    uint32_t head, tail;  /* LIST, DICT: cells; 0: none.  TENSOR, STORAGE: head is the tuple */
    int64_t number;       /* INT: the value; TEXT: offset of its bytes in the pickle */
} tni_pickle_value;

/* A cell of a linked list; keys and values of a dict alternate. */
typedef struct tni_pickle_cell {
    uint32_t value, next;
} tni_pickle_cell;

/* The role of a global, which is a function or a class of Python. */
typedef enum tni_pickle_role {
    TNI_PK_REBUILD,    /* (storage, offset, size, stride, …) */
    TNI_PK_REBUILD_V3, /* (storage, offset, size, stride, grad, hooks, dtype, …) */
    TNI_PK_FIRST,      /* returns its first argument: parameters, torch.Size */
    TNI_PK_FROM_TYPE,  /* (function, type, arguments, state) */
    TNI_PK_MAKES_DICT,
    TNI_PK_OPAQUE,       /* a value that is not needed */
    TNI_PK_UNSUPPORTED,  /* a tensor that is listed but cannot be read */
    TNI_PK_STORAGE_TYPE, /* a storage with elements of dtype; 0: of bytes */
    TNI_PK_DTYPE         /* a dtype; 0: one that tenon lacks */
} tni_pickle_role;

typedef struct tni_pickle_global {
    const char *module, *name;
    tni_pickle_role role;
    tn_dtype dtype;
} tni_pickle_global;

extern const tni_pickle_global tni_pickle_globals[];
extern const int tni_pickle_global_count;

typedef struct tni_pickle {
    const char *path; /* for error messages */
    const uint8_t *bytes;
    int64_t n, at;
    tni_pickle_value *values; /* values[0] is None */
    tni_pickle_cell *cells;   /* cells[0] is unused: index 0 means no cell */
    uint32_t *stack, *marks, *memo;
    int64_t nvalues, ncells, nstack, nmarks;
    int64_t capacity[5]; /* allocated elements of values, cells, stack, marks and memo */
    uint64_t memoized;   /* number of values that MEMOIZE has stored */
    uint32_t root;
} tni_pickle;

/* Read the pickle; it must be freed even after a failure. */
tn_status tni_pickle_read(tni_pickle *p);
void tni_pickle_free(tni_pickle *p);

/* Item i of a list; 0 (None) if it does not exist. */
uint32_t tni_pickle_item(const tni_pickle *p, uint32_t list, uint32_t i);

#endif
