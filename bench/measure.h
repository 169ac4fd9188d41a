/* measure.h - how fast is a piece of work, beside memcpy and a streaming copy of the same
 * bytes?
 *
 * The three are interleaved in one run, on the same memory and with the same threads; the
 * better copy is the limit R.  GB/s are bytes read and written. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double seconds(void);

/* End the program with the library's sentence when a call fails. */
#define MUST(call)                                                                             \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            give_up(#call, tn_error());                                                        \
    } while (0)
void give_up(const char *what, const char *why);

/* Two blocks that are in memory: src holds scattered numbers.  huge advises pages of 2 MB,
 * otherwise pages stay small. */
typedef struct arena {
    char *dst, *src;
    int64_t bytes; /* of each */
} arena;

arena arena_make(int64_t bytes, bool huge);
void arena_free(arena *a);

void plain_copy(char *dst, const char *src, int64_t bytes, int threads);
void stream_copy(char *dst, const char *src, int64_t bytes, int threads);

/* Reads and streams, side by side, and nothing else; one is a multiple of the other. */
void stream_traffic(char *dst, int64_t written, const char *src, int64_t read, int threads);

typedef struct contest {
    void (*run)(void *arg); /* reads bytes and writes bytes */
    void *arg;
    char *dst;
    const char *src;
    int64_t bytes;
    int threads;
    int least;       /* rounds at least, an even number */
    double duration; /* seconds to spend, if that is more */
} contest;

typedef struct figures {
    double work, plain, stream; /* the best of each, GB/s */
    double limit;               /* R */
    double ratio;               /* work / R */
    bool moved; /* R of the two halves of the rounds differs by more than 15 % */
} figures;

figures measure(const contest *c);

/* Nanoseconds of one call among many. */
double call_time(void (*run)(void *arg), void *arg);

#endif
