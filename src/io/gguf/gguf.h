/* gguf.h - what the reader and the writer of .gguf share. */
#ifndef TNI_GGUF_H
#define TNI_GGUF_H

#include "io/io.h"

/* A tensor type, indexed by its number: name, elements and bytes of a block, dtype (0:
 * recognised but not supported). */
typedef struct tni_gguf_type {
    const char *name;
    int block, bytes;
    tn_dtype dtype;
} tni_gguf_type;

extern const tni_gguf_type tni_gguf_types[];
extern const int tni_gguf_type_count;

/* Bytes of a value of this type; 0: string, list or unknown type. */
int tni_gguf_value_bytes(uint32_t type);

enum { TNI_GGUF_U32 = 4, TNI_GGUF_TEXT = 8, TNI_GGUF_LIST = 9, TNI_GGUF_MAX_ALIGN = 1 << 20 };

#endif
