/* ahead.h - prefetches eight rows while eight others are read, or the rest of a sequence.
 *
 * Eight rows are prefetched in the order of their addresses, one after the other, into L2: L1
 * has too few fill buffers for all the lines in flight, and a load of a line in flight would
 * wait for it. */
#ifndef TNI_AHEAD_H
#define TNI_AHEAD_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/simd/nontemporal.h"

typedef struct ahead {
    const char *const *next; /* rows that remain; NULL: no prefetching */
    const char *at, *end;
    int64_t bytes;
    int left;
} ahead;

INLINE ahead ahead_of(const char *const *next, int64_t bytes)
{
    if (!next)
        return (ahead){0};
    const bool one = next[1] - next[0] == bytes; /* the rows are adjacent */
    return (ahead){next, next[0], next[0] + (one ? 8 * bytes : bytes), bytes, one ? 0 : 7};
}

/* Prefetch what is read after AHEAD more bytes of a sequence.  The hardware does not follow
 * loads of one line for each row: sums of rows of 16 f32 are read at 61 GB/s instead of 16 (Zen
 * 5, "Reductions, scans and rows on Zen 5" in docs/investigations/reductions.md). */
INLINE void fetch_ahead(const char *x, int64_t bytes)
{
    enum { AHEAD = 2048 };
    for (int64_t k = 0; k < bytes; k += TNI_LINE)
        __builtin_prefetch(x + AHEAD + k);
}

/* Advance by `bytes`, a multiple of 64, over the eight rows. */
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
