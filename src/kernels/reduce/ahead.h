/* ahead.h - eight rows that are prefetched while eight others are read.
 *
 * One row after the other, in the order of addresses, into the L2: a demand for a line that is on
 * its way waits for it, and the L1 has no place for as many lines as must be on their way. */
#ifndef TNI_AHEAD_H
#define TNI_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/simd/nontemporal.h"

typedef struct ahead {
    const char *const *next; /* what is left of the eight rows; NULL: nothing is prefetched */
    const char *at, *end;
    int64_t bytes;
    int left;
} ahead;

INLINE ahead ahead_of(const char *const *next, int64_t bytes)
{
    if (!next)
        return (ahead){0};
    const bool one = next[1] - next[0] == bytes; /* rows lie one after the other */
    return (ahead){next, next[0], next[0] + (one ? 8 * bytes : bytes), bytes, one ? 0 : 7};
}

/* So many bytes of the eight rows have been read: a multiple of 64. */
INLINE void ahead_step(ahead *a, int bytes)
{
    if (!a->next)
        return;
    for (int i = 0; i < bytes; i += 64)
        __builtin_prefetch(a->at + i, 0, 2);
    a->at += bytes;
    if (a->at >= a->end && a->left > 0) {
        a->left--;
        a->at = *++a->next;
        a->end = a->at + a->bytes;
    }
}

#endif
