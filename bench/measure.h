/* measure.h - how fast is a piece of work, compared with memcpy and a streaming copy of the
 * same bytes?
 *
 * The three are interleaved in one run, on the same memory and with the same threads; the
 * better copy is the limit R.  GB/s are bytes read and written. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

double seconds(void);

/* End the program with the library's message if a call fails. */
#define MUST(call)                                                                             \
    do {                                                                                       \
        if ((call) != TN_OK)                                                                   \
            give_up(#call, tn_error());                                                        \
    } while (0)
void give_up(const char *what, const char *why);

/* Two touched blocks of memory; src holds scattered numbers.  huge advises pages of 2 MB,
 * otherwise pages are small. */
typedef struct arena {
    char *dst, *src;
    int64_t bytes; /* of each */
} arena;

arena arena_make(int64_t bytes, bool huge);
void arena_free(arena *a);

void plain_copy(char *dst, const char *src, int64_t bytes, int threads);
void stream_copy(char *dst, const char *src, int64_t bytes, int threads);

/* Interleave reads and streaming stores, without any other work; one amount is a multiple of
 * the other. */
void stream_traffic(char *dst, int64_t written, const char *src, int64_t read, int threads);

typedef struct contest {
    void (*run)(void *arg); /* reads `bytes` and writes `bytes` */
    void *arg;
    char *dst;
    const char *src;
    int64_t bytes;
    int threads;
    int least;       /* minimum rounds, an even number */
    double duration; /* minimum duration in seconds */
} contest;

typedef struct figures {
    double work, plain, stream; /* the best of each, GB/s */
    double limit;               /* R */
    double ratio;               /* work / R */
    bool moved; /* R differs by more than 15 % between the halves of the rounds */
} figures;

figures measure(const contest *c);

/* Nanoseconds per call, averaged over many. */
double call_time(void (*run)(void *arg), void *arg);

#endif
