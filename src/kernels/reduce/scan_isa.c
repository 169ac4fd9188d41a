/* scan_isa.c - running sums and products for one instruction set. */
#include "scan.h"

#include <stdbool.h>
#include <string.h>

#include "kernels/table.h"

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

typedef double group __attribute__((vector_size(64)));

#define NAME(f) f##_sum
#define COMBINE +
#define ABSENT  (-0.0)
#include "scan.inc"

#define NAME(f) f##_prod
#define COMBINE *
#define ABSENT  1.0
#include "scan.inc"

const tni_scan_kernels TNI_TABLE(scan) = {line_sum, line_prod, rows_sum, rows_prod};
