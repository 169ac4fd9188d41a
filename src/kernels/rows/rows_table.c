/* rows_table.c - which kernels of rows were compiled, by level. */
#include "rows_table.h"

extern const tni_rows_kernels tni_rows_kernels_base, tni_rows_kernels_avx2,
    tni_rows_kernels_avx512;

static const tni_rows_kernels *const levels[] = {
    &tni_rows_kernels_base,
#ifdef TNI_HAVE_AVX2
    &tni_rows_kernels_avx2,
#endif
#ifdef TNI_HAVE_AVX512
    &tni_rows_kernels_avx512,
#endif
};

const tni_rows_kernels *tni_rows_kernels_of(int isa)
{
    int last = (int)(sizeof levels / sizeof levels[0]) - 1;
    return levels[isa < last ? isa : last];
}
