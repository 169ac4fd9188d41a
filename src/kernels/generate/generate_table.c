/* generate_table.c - which making kernels were compiled, by level. */
#include "generate_table.h"

extern const tni_make_kernels tni_make_kernels_base, tni_make_kernels_avx2,
    tni_make_kernels_avx512;

static const tni_make_kernels *const levels[] = {
    &tni_make_kernels_base,
#ifdef TNI_HAVE_AVX2
    &tni_make_kernels_avx2,
#endif
#ifdef TNI_HAVE_AVX512
    &tni_make_kernels_avx512,
#endif
};

const tni_make_kernels *tni_make_kernels_of(int isa)
{
    int last = (int)(sizeof levels / sizeof levels[0]) - 1;
    return levels[isa < last ? isa : last];
}
