/* kernels.h - how is one tile computed?  Tables of leaf functions, one table per instruction
 * set.
 *
 * A kernel cannot fail, allocates nothing, starts no thread and never sees a tensor.  It
 * touches exactly the bytes of its elements: no over-read, no over-write. */
#ifndef TNI_KERNELS_H
#define TNI_KERNELS_H

#include "core/core.h"

#include "kernels/cast/cast_table.h"
#include "kernels/contract/contract_table.h"
#include "kernels/copy/copy_table.h"
#include "kernels/generate/generate_table.h"
#include "kernels/index/index_table.h"
#include "kernels/index/mask_table.h"
#include "kernels/index/order_table.h"
#include "kernels/ops/op_table.h"
#include "kernels/pad/pad_table.h"
#include "kernels/reduce/reduce_table.h"

/* The tables of one level: one pointer per row of families.def. */
typedef struct tni_kernels {
#define FAMILY(NAME, TYPE) const TYPE *NAME;
#include "kernels/families.def"
} tni_kernels;

/* The tables of a level of tni_isa; a level that is not compiled falls back to the highest one
 * that is. */
const tni_kernels *tni_kernels_of(int isa);

#endif
