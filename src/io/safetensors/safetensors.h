/* safetensors.h - what reading and writing .safetensors share: type names and refusals. */
#ifndef TNI_SAFETENSORS_H
#define TNI_SAFETENSORS_H

#include "io/io.h"
#include "json.h"

typedef struct tni_st_type {
    const char *name;
    int bits;
    tn_dtype dtype; /* 0: understood and not offered */
} tni_st_type;

extern const tni_st_type tni_st_types[]; /* ends with a NULL name */

/* Why a text is refused: TN_EFORMAT with the offset, which is counted from `from`, or TN_ENOMEM.
 * what names the text. */
tn_status tni_fail_json(const char *path, const char *what, int64_t from, const tni_json *j);

#endif
