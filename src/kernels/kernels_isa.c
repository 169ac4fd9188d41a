/* kernels_isa.c - the tables of all families, for one instruction set. */
#include "kernels.h"
#include "table.h"

#define FAMILY(NAME, TYPE) extern const TYPE TNI_TABLE(NAME);
#include "families.def"

const tni_kernels TNI_TABLE(kernels) = {
#define FAMILY(NAME, TYPE) .NAME = &TNI_TABLE(NAME),
#include "families.def"
};
