/* copy_table.c - which copying kernels were compiled, by level. */
#include "copy_table.h"

extern const tni_copy_kernels tni_copy_kernels_base, tni_copy_kernels_avx2,
    tni_copy_kernels_avx512;

static const tni_copy_kernels *const levels[] = {
    &tni_copy_kernels_base,
#ifdef TNI_HAVE_AVX2
    &tni_copy_kernels_avx2,
#endif
#ifdef TNI_HAVE_AVX512
    &tni_copy_kernels_avx512,
#endif
};

const tni_copy_kernels *tni_copy_kernels_of(int isa)
{
    int last = (int)(sizeof levels / sizeof levels[0]) - 1;
    return levels[isa < last ? isa : last];
}
