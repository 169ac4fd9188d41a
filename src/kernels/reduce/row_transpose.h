/* row_transpose.h - square tiles transposed in registers (AVX2). */
#ifndef TNI_ROW_TRANSPOSE_H
#define TNI_ROW_TRANSPOSE_H

#include "row_vector.h"

/* Eight rows of eight f32. */
INLINE void transpose_vf(vf *r)
{
    vf t[8], u[8];
    UNROLLED for (int k = 0; k < 8; k += 2)
    {
        t[k] = _mm256_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm256_unpackhi_ps(r[k], r[k + 1]);
    }
    UNROLLED for (int k = 0; k < 8; k += 4)
    {
        u[k] = _mm256_shuffle_ps(t[k], t[k + 2], 0x44);
        u[k + 1] = _mm256_shuffle_ps(t[k], t[k + 2], 0xee);
        u[k + 2] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0x44);
        u[k + 3] = _mm256_shuffle_ps(t[k + 1], t[k + 3], 0xee);
    }
    UNROLLED for (int k = 0; k < 4; k++)
    {
        r[k] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x20);
        r[k + 4] = _mm256_permute2f128_ps(u[k], u[k + 4], 0x31);
    }
}

/* Four rows of four f64. */
INLINE void transpose_vd(vd *r)
{
    vd t[4];
    UNROLLED for (int k = 0; k < 4; k += 2)
    {
        t[k] = _mm256_unpacklo_pd(r[k], r[k + 1]);
        t[k + 1] = _mm256_unpackhi_pd(r[k], r[k + 1]);
    }
    UNROLLED for (int k = 0; k < 2; k++)
    {
        r[k] = _mm256_permute2f128_pd(t[k], t[k + 2], 0x20);
        r[k + 2] = _mm256_permute2f128_pd(t[k], t[k + 2], 0x31);
    }
}

#endif
