/* row_transpose.h - rows and lines in registers: square tiles transposed, and with AVX-512 rows
 * of few elements deinterleaved. */
#ifndef TNI_ROW_TRANSPOSE_H
#define TNI_ROW_TRANSPOSE_H

#include "row_vector.h"

#if defined(__AVX512F__)

/* Sixteen rows of sixteen f32. */
INLINE void transpose_vf(vf *r)
{
    vf t[16], u[16];
    UNROLLED for (int k = 0; k < 16; k += 2)
    {
        t[k] = _mm512_unpacklo_ps(r[k], r[k + 1]);
        t[k + 1] = _mm512_unpackhi_ps(r[k], r[k + 1]);
    }
    UNROLLED for (int k = 0; k < 16; k += 4)
    {
        u[k] = _mm512_shuffle_ps(t[k], t[k + 2], 0x44);
        u[k + 1] = _mm512_shuffle_ps(t[k], t[k + 2], 0xee);
        u[k + 2] = _mm512_shuffle_ps(t[k + 1], t[k + 3], 0x44);
        u[k + 3] = _mm512_shuffle_ps(t[k + 1], t[k + 3], 0xee);
    }
    UNROLLED for (int c = 0; c < 4; c++)
    {
        const vf a = _mm512_shuffle_f32x4(u[c], u[4 + c], 0x88);
        const vf b = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0x88);
        const vf d = _mm512_shuffle_f32x4(u[c], u[4 + c], 0xdd);
        const vf e = _mm512_shuffle_f32x4(u[8 + c], u[12 + c], 0xdd);
        r[c] = _mm512_shuffle_f32x4(a, b, 0x88);
        r[4 + c] = _mm512_shuffle_f32x4(d, e, 0x88);
        r[8 + c] = _mm512_shuffle_f32x4(a, b, 0xdd);
        r[12 + c] = _mm512_shuffle_f32x4(d, e, 0xdd);
    }
}

/* Rows of n elements, one after the other, are interleaved lines: element i is in lane i / n of
 * line i % n.  n is a constant.  These are the lanes i whose element number is n * i + j and
 * comes from vector k, and those whose element number is lanes * k + i and comes from line
 * j. */
INLINE uint32_t from_vector(int lanes, int n, int j, int k)
{
    uint32_t mask = 0;
    UNROLLED for (int i = 0; i < lanes; i++) mask |= (uint32_t)((n * i + j) / lanes == k) << i;
    return mask;
}
INLINE uint32_t from_line(int lanes, int n, int k, int j)
{
    uint32_t mask = 0;
    UNROLLED for (int i = 0; i < lanes; i++) mask |= (uint32_t)((lanes * k + i) % n == j) << i;
    return mask;
}

/* Line j of the n vectors v. */
INLINE vf deinterleave_vf(const vf *v, int n, int j)
{
    vf_bits at;
    UNROLLED for (int i = 0; i < VF; i++) at[i] = n * i + j;
    if (n == 1)
        return v[0];
    vf made = _mm512_permutex2var_ps(v[0], (__m512i)at, v[1]);
    UNROLLED for (int k = 2; k < n; k++) made = _mm512_mask_permutexvar_ps(
        made, (__mmask16)from_vector(VF, n, j, k), (__m512i)at, v[k]);
    return made;
}
INLINE vd deinterleave_vd(const vd *v, int n, int j)
{
    vd_bits at;
    UNROLLED for (int i = 0; i < VD; i++) at[i] = n * i + j;
    if (n == 1)
        return v[0];
    vd made = _mm512_permutex2var_pd(v[0], (__m512i)at, v[1]);
    UNROLLED for (int k = 2; k < n; k++) made =
        _mm512_mask_permutexvar_pd(made, (__mmask8)from_vector(VD, n, j, k), (__m512i)at, v[k]);
    return made;
}

/* Vector k of the n lines v. */
INLINE vf interleave_vf(const vf *v, int n, int k)
{
    vf_bits at;
    UNROLLED for (int i = 0; i < VF; i++) at[i] =
        (VF * k + i) / n + ((VF * k + i) % n == 1 ? VF : 0);
    if (n == 1)
        return v[0];
    vf made = _mm512_permutex2var_ps(v[0], (__m512i)at, v[1]);
    UNROLLED for (int j = 2; j < n; j++) made =
        _mm512_mask_permutexvar_ps(made, (__mmask16)from_line(VF, n, k, j), (__m512i)at, v[j]);
    return made;
}
INLINE vd interleave_vd(const vd *v, int n, int k)
{
    vd_bits at;
    UNROLLED for (int i = 0; i < VD; i++) at[i] =
        (VD * k + i) / n + ((VD * k + i) % n == 1 ? VD : 0);
    if (n == 1)
        return v[0];
    vd made = _mm512_permutex2var_pd(v[0], (__m512i)at, v[1]);
    UNROLLED for (int j = 2; j < n; j++) made =
        _mm512_mask_permutexvar_pd(made, (__mmask8)from_line(VD, n, k, j), (__m512i)at, v[j]);
    return made;
}

#else

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

#endif
