/* reduce_table.h - kernels of reductions: the tree, its terms, keys and wrapping integers. */
#ifndef TNI_REDUCE_TABLE_H
#define TNI_REDUCE_TABLE_H

#include "key.h"
#include "key_short.h"
#include "row.h"
#include "scan.h"
#include "term.h"
#include "tree.h"

#endif
