/* philox.h - Philox 4x32-10, a counter-based random number generator: ten rounds of a bijection
 * on a 128-bit counter under a 64-bit key.
 *
 * It works on strips of counters, word by word, so that the compiler vectorises it. */
#ifndef TNI_PHILOX_H
#define TNI_PHILOX_H

#include <stdint.h>

enum { TNI_STRIP = 128 }; /* counters in a strip: their words, 2 KiB, stay in L1 */

/* Replace n <= TNI_STRIP counters c[0..3][i] by their random words. */
static inline void tni_philox(uint32_t c[4][TNI_STRIP], int n, uint64_t key)
{
    uint32_t k0 = (uint32_t)key, k1 = (uint32_t)(key >> 32);
    for (int round = 0; round < 10; round++) {
        for (int i = 0; i < n; i++) {
            const uint64_t a = (uint64_t)0xd2511f53u * c[0][i];
            const uint64_t b = (uint64_t)0xcd9e8d57u * c[2][i];
            c[0][i] = (uint32_t)(b >> 32) ^ c[1][i] ^ k0;
            c[1][i] = (uint32_t)b;
            c[2][i] = (uint32_t)(a >> 32) ^ c[3][i] ^ k1;
            c[3][i] = (uint32_t)a;
        }
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
}

#endif
