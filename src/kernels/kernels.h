/* kernels.h - how is one tile computed?  Tables of leaf functions, one table per instruction
 * set.
 *
 * A kernel cannot fail, allocates nothing, starts no thread and never sees a tensor.  It
 * touches exactly the bytes of its elements: no over-read, no over-write. */
#ifndef TNI_KERNELS_H
#define TNI_KERNELS_H

#include "core/core.h"

#include "cast_table.h"
#include "copy_table.h"
#include "make_table.h"
#include "op_table.h"
#include "rows_table.h"

#endif
