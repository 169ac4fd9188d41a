/* kernels.c - the kernel tables by level. */
#include "kernels.h"

#define LEVEL(ENUM, NAME) extern const tni_kernels tni_kernels_##NAME;
#include "core/isa.def"

static const tni_kernels *const levels[] = {
#define LEVEL(ENUM, NAME) [TNI_ISA_##ENUM] = &tni_kernels_##NAME,
#include "core/isa.def"
};

const tni_kernels *tni_kernels_of(int isa)
{
    const int last = COUNT(levels) - 1;
    return levels[isa < last ? isa : last];
}
