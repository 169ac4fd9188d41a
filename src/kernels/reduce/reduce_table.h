/* reduce_table.h - the tables of kernels of reductions: the tree and its terms, keys and
 * integers, rows, scans. */
#ifndef TNI_REDUCE_TABLE_H
#define TNI_REDUCE_TABLE_H

#include "key.h"
#include "key_short.h"
#include "row.h"
#include "scan.h"
#include "term.h"
#include "tree.h"

#endif
