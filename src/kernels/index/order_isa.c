/* order_isa.c - sort keys of elements, and sorting words, for one instruction set. */
#include "order_table.h"

#include "kernels/table.h"
#include "order_vector.h"
#include "signs.h"

enum {
    /* Bits of a radix digit: 2048 counters of 8 bytes take half of an L1 of 32 KiB, and 32 bits
     * are three digits. */
    DIGIT = 11,
    /* Runs of fewer words than SHORT use digits of 8 bits, because clearing and summing 2048
     * counters would take longer than counting the words (measured on Zen 4, SSE2). */
    SHORT_DIGIT = 8,
    SHORT = 1024
};

/* Number of words sampled for the pivot of a long run; in two of three draws their median is
 * within a sixteenth of the middle of the run.  Shorter runs sample a quarter as many. */
enum { SAMPLE = 64 };

/* Number of searches run in lockstep, so that their loads are in flight together: whole
 * vectors, and more than the 24 misses that the L1 of Zen 3 and Zen 4 keeps in flight. */
enum { SEARCHES = 32 };

#define W     32
#define LANES LANES_32
#include "order_digits.inc"
#include "order_few.inc"
#include "order_quick.inc"
#undef LANES
#undef W

#define W     64
#define LANES LANES_64
#include "order_digits.inc"
#include "order_few.inc"
#include "order_quick.inc"
#undef LANES
#undef W

#define BITS 8
#define K    int32_t
#include "order_keys.inc"
#define BITS 16
#define K    int32_t
#include "order_keys.inc"
#define BITS 32
#define K    int32_t
#include "order_keys.inc"
#define BITS 64
#define K    int64_t
#include "order_keys.inc"

static void bins_of(int64_t *bin, const double *x, int64_t n, double low, double high,
                    double by, int64_t bins)
{
    for (int64_t i = 0; i < n; i++) {
        const double at = (x[i] - low) * by;
        const double held = at < (double)bins ? at : (double)(bins - 1);
        bin[i] = (int64_t)(((x[i] >= low) & (x[i] <= high)) ? held : -1.0);
    }
}

#define ELEMENTS(W, ...)                                                                       \
    {                                                                                          \
        .keys = keys##W, .back = back##W, .range = range##W, .samples = samples##W,            \
        .search = search##W, .begins = begins##W, .words64 = words64##W, __VA_ARGS__           \
    }
#define WORDS(W)                                                                               \
    {                                                                                          \
        .sort = sort##W, .split = split##W                                                     \
    }
const tni_order_kernels TNI_TABLE(order) = {
    .elements = {ELEMENTS(8, .words32 = words328), ELEMENTS(16, .words32 = words3216),
                 ELEMENTS(32, .words32 = NULL), ELEMENTS(64, .words32 = NULL)},
    .words = {WORDS(32), WORDS(64)},
    .bins = bins_of,
};
