/* safetensors.h - what reading and writing .safetensors share: type names and metadata. */
#ifndef TNI_SAFETENSORS_H
#define TNI_SAFETENSORS_H

#include <jansson.h>

#include "io.h"

typedef struct tni_st_type {
    const char *name;
    int bits;
    tn_dtype dtype; /* 0: understood and not offered */
} tni_st_type;

extern const tni_st_type tni_st_types[]; /* ends with a NULL name */

/* An object of texts as JSON text in the arena; path is for sentences. */
tn_status tni_st_metadata(tni_arena *arena, const char *path, const json_t *object,
                          const char **text);

#endif
