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

/* The JSON text of value, of *n bytes and a 0, to be released with tni_free; NULL: no memory.
 * It is written in place: jansson's own buffer loses bytes when it cannot grow, and says
 * nothing. */
char *tni_st_text(const json_t *value, size_t *n);

/* Why jansson made nothing of a text, of which it was given the bytes from `from` on: no
 * memory, which it does not always tell, or what is wrong with it. */
tn_status tni_st_refused(const char *path, const char *text, int64_t from,
                         const json_error_t *error);

#endif
