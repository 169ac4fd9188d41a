/* scan_words.h - running sums and maxima of integers, whose results do not depend on the order:
 * with AVX2 by vectors of 32 bytes, otherwise, and long sequences with AVX-512, by vectors of
 * 64 bytes. */
#ifndef TNI_SCAN_WORDS_H
#define TNI_SCAN_WORDS_H

/* Elements i to n - 1 of a running sum, after a sum of last; returns the last sum. */
INLINE int64_t rest_int(char *d, const char *x, int64_t i, int64_t n, uint64_t last)
{
    for (; i < n; i++) {
        uint64_t one;
        memcpy(&one, x + 8 * i, sizeof one);
        last += one;
        memcpy(d + 8 * i, &last, sizeof last);
    }
    return (int64_t)last;
}

#if defined(__AVX2__)

/* The low half of none, then the low half of v. */
INLINE __m256i lower_above(__m256i none, __m256i v)
{
    return _mm256_permute2x128_si256(none, v, 0x20);
}

INLINE __m256i larger64(__m256i a, __m256i b)
{
#if defined(__AVX512F__)
    return _mm256_max_epi64(a, b);
#else
    return _mm256_blendv_epi8(a, b, _mm256_cmpgt_epi64(b, a));
#endif
}

/* Sums of dense sequences of n that follow one another. Each is read and written in whole
 * vectors, so up to 24 bytes of the next sequence are read and overwritten before its own
 * turn. */
static void many_int(char *d, const char *x, int64_t n, int64_t rows)
{
    const __m256i none = _mm256_setzero_si256();
    for (; rows > 0; rows--, d += 8 * n, x += 8 * n) {
        __m256i all = none;
        for (int64_t i = 0; i < n; i += 4) {
            __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + 8 * i));
            v = _mm256_add_epi64(v, _mm256_slli_si256(v, 8));
            const __m256i low = _mm256_permute4x64_epi64(v, 0x55); /* the sum of two */
            v = _mm256_add_epi64(v, _mm256_blend_epi32(low, none, 0x0f));
            v = _mm256_add_epi64(v, all);
            _mm256_storeu_si256((__m256i *)(void *)(d + 8 * i), v);
            all = _mm256_permute4x64_epi64(v, 0xff);
        }
    }
}

/* Four dense rows of three columns at a time, which are three vectors in the order of memory;
 * gives the rows that it takes. */
INLINE int64_t three_int(char *d, const char *x, int64_t rows, int64_t *state)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i run[3];
    int64_t i = 0;
    run[0] = _mm256_setr_epi64x(state[0], state[1], state[2], state[0]);
    run[1] = _mm256_setr_epi64x(state[1], state[2], state[0], state[1]);
    run[2] = _mm256_setr_epi64x(state[2], state[0], state[1], state[2]);
    for (; i + 4 <= rows; i += 4, d += 96, x += 96) {
        __m256i v[3], last;
        for (int k = 0; k < 3; k++)
            v[k] = _mm256_loadu_si256((const __m256i *)(const void *)(x + 32 * k));
        last = _mm256_permute4x64_epi64(v[0], 0); /* a row is three elements from the next */
        v[0] = _mm256_add_epi64(v[0], _mm256_blend_epi32(none, last, 0xc0));
        for (int k = 1; k < 3; k++)
            v[k] = _mm256_add_epi64(
                v[k], _mm256_loadu_si256((const __m256i *)(const void *)(x + 32 * k - 24)));
        v[2] = _mm256_add_epi64(v[2], _mm256_permute2x128_si256(v[0], v[1], 0x21));
        v[1] = _mm256_add_epi64(v[1], lower_above(none, v[0]));
        for (int k = 0; k < 3; k++) {
            v[k] = _mm256_add_epi64(v[k], run[k]);
            _mm256_storeu_si256((__m256i *)(void *)(d + 32 * k), v[k]);
        }
        run[0] = _mm256_permute4x64_epi64(v[2], 0x79);
        run[1] = _mm256_permute4x64_epi64(v[2], 0x9e);
        run[2] = _mm256_permute4x64_epi64(v[2], 0xe7);
    }
    for (int c = 0; c < 3; c++)
        memcpy(state + c, (const char *)&run[0] + 8 * c, 8);
    return i;
}

/* The last element of v, of `width` bytes, in all elements. */
INLINE __m256i last_of(__m256i v, int width)
{
    const __m256i at = width == 1 ? _mm256_set1_epi8(15) : _mm256_set1_epi16(0x0f0e);
    return _mm256_shuffle_epi8(_mm256_permute2x128_si256(v, v, 0x11), at);
}

static int64_t max_scan16(int16_t *x, int64_t n, int16_t run)
{
    const __m256i none = _mm256_set1_epi16(INT16_MIN);
    __m256i all = _mm256_set1_epi16(run);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        v = _mm256_max_epi16(v, _mm256_alignr_epi8(v, lower_above(none, v), 14));
        v = _mm256_max_epi16(v, _mm256_alignr_epi8(v, lower_above(none, v), 12));
        v = _mm256_max_epi16(v, _mm256_alignr_epi8(v, lower_above(none, v), 8));
        v = _mm256_max_epi16(v, lower_above(none, v));
        _mm256_storeu_si256((__m256i *)(void *)(x + i), _mm256_max_epi16(v, all));
        all = _mm256_max_epi16(all, last_of(v, 2));
    }
    for (run = (int16_t)_mm256_extract_epi16(all, 0); i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

static int64_t max_scan8(int8_t *x, int64_t n, int8_t run)
{
    const __m256i none = _mm256_set1_epi8(INT8_MIN);
    __m256i all = _mm256_set1_epi8(run);
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        v = _mm256_max_epi8(v, _mm256_alignr_epi8(v, lower_above(none, v), 15));
        v = _mm256_max_epi8(v, _mm256_alignr_epi8(v, lower_above(none, v), 14));
        v = _mm256_max_epi8(v, _mm256_alignr_epi8(v, lower_above(none, v), 12));
        v = _mm256_max_epi8(v, _mm256_alignr_epi8(v, lower_above(none, v), 8));
        v = _mm256_max_epi8(v, lower_above(none, v));
        _mm256_storeu_si256((__m256i *)(void *)(x + i), _mm256_max_epi8(v, all));
        all = _mm256_max_epi8(all, last_of(v, 1));
    }
    for (run = (int8_t)_mm256_extract_epi8(all, 0); i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

#endif

#if defined(__AVX2__) && !defined(__AVX512F__)

static int64_t line_int(char *d, const char *x, int64_t n, int64_t run)
{
    const __m256i none = _mm256_setzero_si256();
    __m256i all = _mm256_set1_epi64x(run);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + 8 * i));
        v = _mm256_add_epi64(v, _mm256_alignr_epi8(v, lower_above(none, v), 8));
        v = _mm256_add_epi64(v, lower_above(none, v));
        _mm256_storeu_si256((__m256i *)(void *)(d + 8 * i), _mm256_add_epi64(v, all));
        all = _mm256_add_epi64(all, _mm256_permute4x64_epi64(v, 0xff));
    }
    return rest_int(d, x, i, n, (uint64_t)_mm256_extract_epi64(all, 0));
}

static int64_t max_scan64(int64_t *x, int64_t n, int64_t run)
{
    const __m256i none = _mm256_set1_epi64x(INT64_MIN);
    __m256i all = _mm256_set1_epi64x(run);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        v = larger64(v, _mm256_alignr_epi8(v, lower_above(none, v), 8));
        v = larger64(v, lower_above(none, v));
        _mm256_storeu_si256((__m256i *)(void *)(x + i), larger64(v, all));
        all = larger64(all, _mm256_permute4x64_epi64(v, 0xff));
    }
    for (run = _mm256_extract_epi64(all, 0); i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

static int64_t max_scan32(int32_t *x, int64_t n, int32_t run)
{
    const __m256i none = _mm256_set1_epi32(INT32_MIN), seventh = _mm256_set1_epi32(7);
    __m256i all = _mm256_set1_epi32(run);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(x + i));
        v = _mm256_max_epi32(v, _mm256_alignr_epi8(v, lower_above(none, v), 12));
        v = _mm256_max_epi32(v, _mm256_alignr_epi8(v, lower_above(none, v), 8));
        v = _mm256_max_epi32(v, lower_above(none, v));
        _mm256_storeu_si256((__m256i *)(void *)(x + i), _mm256_max_epi32(v, all));
        all = _mm256_max_epi32(all, _mm256_permutevar8x32_epi32(v, seventh));
    }
    for (run = _mm256_extract_epi32(all, 0); i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

#else

INLINE void rise64(words64 *a, const words64 *b)
{
#if defined(__AVX512F__)
    *a = (words64)_mm512_max_epi64((__m512i)*a, (__m512i)*b);
#else
    const words64 more = *a > *b;
    *a = (*a & more) | (*b & ~more);
#endif
}
INLINE void rise32(words32 *a, const words32 *b)
{
#if defined(__AVX512F__)
    *a = (words32)_mm512_max_epi32((__m512i)*a, (__m512i)*b);
#else
    const words32 more = *a > *b;
    *a = (*a & more) | (*b & ~more);
#endif
}

#define SHIFT64_1(v, none) __builtin_shufflevector(v, none, 8, 0, 1, 2, 3, 4, 5, 6)
#define SHIFT64_2(v, none) __builtin_shufflevector(v, none, 8, 8, 0, 1, 2, 3, 4, 5)
#define SHIFT64_4(v, none) __builtin_shufflevector(v, none, 8, 8, 8, 8, 0, 1, 2, 3)
#define SHIFT32(v, none, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)                       \
    __builtin_shufflevector(v, none, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)

static int64_t line_int(char *d, const char *x, int64_t n, int64_t run)
{
    words64 all = (words64){0} + run;
    const words64 none = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        words64 v;
        memcpy(&v, x + 8 * i, sizeof v);
        v = (words64)((group_words)v + (group_words)SHIFT64_1(v, none));
        v = (words64)((group_words)v + (group_words)SHIFT64_2(v, none));
        v = (words64)((group_words)v + (group_words)SHIFT64_4(v, none));
        const words64 made = (words64)((group_words)v + (group_words)all);
        all = (words64)((group_words)all +
                        (group_words)__builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7));
        memcpy(d + 8 * i, &made, sizeof made);
    }
    return rest_int(d, x, i, n, (uint64_t)all[0]);
}

static int64_t max_scan64(int64_t *x, int64_t n, int64_t run)
{
    words64 all = (words64){0} + run;
    const words64 none = (words64){0} + INT64_MIN;
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        words64 v, w;
        memcpy(&v, x + i, sizeof v);
        w = SHIFT64_1(v, none), rise64(&v, &w);
        w = SHIFT64_2(v, none), rise64(&v, &w);
        w = SHIFT64_4(v, none), rise64(&v, &w);
        w = __builtin_shufflevector(v, v, 7, 7, 7, 7, 7, 7, 7, 7);
        rise64(&v, &all);
        rise64(&all, &w);
        memcpy(x + i, &v, sizeof v);
    }
    for (run = all[0]; i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

static int64_t max_scan32(int32_t *x, int64_t n, int32_t run)
{
    words32 all = (words32){0} + run;
    const words32 none = (words32){0} + INT32_MIN;
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        words32 v, w;
        memcpy(&v, x + i, sizeof v);
        w = SHIFT32(v, none, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
        rise32(&v, &w);
        w = SHIFT32(v, none, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13);
        rise32(&v, &w);
        w = SHIFT32(v, none, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11);
        rise32(&v, &w);
        w = SHIFT32(v, none, 16, 16, 16, 16, 16, 16, 16, 16, 0, 1, 2, 3, 4, 5, 6, 7);
        rise32(&v, &w);
        w = SHIFT32(v, v, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15, 15);
        rise32(&v, &all);
        rise32(&all, &w);
        memcpy(x + i, &v, sizeof v);
    }
    for (run = all[0]; i < n; i++)
        x[i] = run = x[i] > run ? x[i] : run;
    return run;
}

#endif

#endif
