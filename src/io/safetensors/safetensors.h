/* safetensors.h - what the reader and the writer of .safetensors share: type names and
 * errors. */
#ifndef TNI_SAFETENSORS_H
#define TNI_SAFETENSORS_H

#include "io/io.h"
#include "json.h"

typedef struct tni_st_type {
    const char *name;
    int bits;
    tn_dtype dtype; /* 0: recognised but not supported */
} tni_st_type;

extern const tni_st_type tni_st_types[]; /* terminated by a NULL name */

/* Report why the scanner failed: TN_EFORMAT with the offset, counted from `from`, or
 * TN_ENOMEM.  `what` names the text that was read. */
tn_status tni_fail_json(const char *path, const char *what, int64_t from, const tni_json *j);

#endif
