/* measure.c - the clock, the memory, the two copies, and interleaved rounds. */
#include "measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifdef _OPENMP
#include <omp.h>
#endif
#ifdef __x86_64__
#include <immintrin.h>
#endif

double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void give_up(const char *what, const char *why)
{
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* ---- memory ---- */

enum { HUGE_PAGE = 2 << 20 };

static char *block(int64_t bytes, bool huge)
{
    void *p;
    if (posix_memalign(&p, HUGE_PAGE, (size_t)bytes))
        give_up("bench", "out of memory");
    if (madvise(p, (size_t)bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE))
        fprintf(stderr, "bench: madvise about huge pages failed\n");
    return p;
}

arena arena_make(int64_t bytes, bool huge)
{
    bytes = (bytes + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    arena a = {block(bytes, huge), block(bytes, huge), bytes};
    uint64_t x = 88172645463325252u;
    for (int64_t i = 0; i < bytes; i += 8) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        memcpy(a.src + i, &x, 8);
    }
    memset(a.dst, 0, (size_t)bytes);
    return a;
}

void arena_free(arena *a)
{
    free(a->dst);
    free(a->src);
}

/* ---- the two copies ---- */

typedef void (*copy_fn)(char *d, const char *s, int64_t bytes);

static void plain(char *d, const char *s, int64_t bytes)
{
    memcpy(d, s, (size_t)bytes);
}

#ifdef __x86_64__
/* Bytes before the first line of d and after the last are copied by memcpy. */
#define STREAM(NAME, TARGET, VECTOR, LOAD, STORE)                                              \
    __attribute__((target(TARGET))) static void NAME(char *d, const char *s, int64_t bytes)    \
    {                                                                                          \
        int64_t i = (int64_t)(-(uintptr_t)d & 63);                                             \
        i = i < bytes ? i : bytes;                                                             \
        const int64_t whole = i + ((bytes - i) & ~(int64_t)63);                                \
        memcpy(d, s, (size_t)i);                                                               \
        for (; i < whole; i += (int64_t)sizeof(VECTOR))                                        \
            STORE((void *)(d + i), LOAD((const void *)(s + i)));                               \
        memcpy(d + whole, s + whole, (size_t)(bytes - whole));                                 \
        _mm_sfence();                                                                          \
    }
STREAM(stream_16, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128)
STREAM(stream_32, "avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256)
STREAM(stream_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512)

static copy_fn streaming(void)
{
    return __builtin_cpu_supports("avx512f") ? stream_64
           : __builtin_cpu_supports("avx2")  ? stream_32
                                             : stream_16;
}
#else
static copy_fn streaming(void)
{
    return plain;
}
#endif

static void in_parts(copy_fn copy, char *d, const char *s, int64_t bytes, int threads)
{
#ifdef _OPENMP
    if (threads > 1) {
#pragma omp parallel num_threads(threads)
        {
            int64_t parts = omp_get_num_threads(), part = omp_get_thread_num();
            int64_t each = (bytes / parts + 63) & ~(int64_t)63, from = part * each;
            int64_t to = part + 1 == parts || from + each > bytes ? bytes : from + each;
            if (from < to)
                copy(d + from, s + from, to - from);
        }
        return;
    }
#endif
    (void)threads;
    copy(d, s, bytes);
}

void plain_copy(char *dst, const char *src, int64_t bytes, int threads)
{
    in_parts(plain, dst, src, bytes, threads);
}

void stream_copy(char *dst, const char *src, int64_t bytes, int threads)
{
    in_parts(streaming(), dst, src, bytes, threads);
}

/* Process units: each reads some lines, prefetched, and streams some. */
#ifdef __x86_64__
#define TRAFFIC(NAME, TARGET, VECTOR, LOAD, STORE, XOR)                                        \
    __attribute__((target(TARGET))) static void NAME(char *d, int64_t written, const char *s,  \
                                                     int64_t read, int64_t units)              \
    {                                                                                          \
        const int64_t wide = (int64_t)sizeof(VECTOR);                                          \
        VECTOR x = LOAD((const void *)s);                                                      \
        for (int64_t i = 0; i < units; i++, s += read, d += written) {                         \
            for (int64_t k = 0; k < read; k += wide) {                                         \
                _mm_prefetch(s + k + AHEAD, _MM_HINT_T0);                                      \
                x = XOR(x, LOAD((const void *)(s + k)));                                       \
            }                                                                                  \
            for (int64_t k = 0; k < written; k += wide)                                        \
                STORE((void *)(d + k), x);                                                     \
        }                                                                                      \
        _mm_sfence();                                                                          \
    }
enum { AHEAD = 2048 };
TRAFFIC(traffic_16, "sse2", __m128i, _mm_loadu_si128, _mm_stream_si128, _mm_xor_si128)
TRAFFIC(traffic_32, "avx2", __m256i, _mm256_loadu_si256, _mm256_stream_si256, _mm256_xor_si256)
TRAFFIC(traffic_64, "avx512f", __m512i, _mm512_loadu_si512, _mm512_stream_si512,
        _mm512_xor_si512)

static void traffic(char *d, int64_t written, const char *s, int64_t read, int64_t units)
{
    (__builtin_cpu_supports("avx512f") ? traffic_64
     : __builtin_cpu_supports("avx2")  ? traffic_32
                                       : traffic_16)(d, written, s, read, units);
}
#else
static void traffic(char *d, int64_t written, const char *s, int64_t read, int64_t units)
{
    uint64_t x = 0, y;
    for (int64_t i = 0; i < units; i++, s += read, d += written) {
        for (int64_t k = 0; k < read; k += 8)
            x ^= (memcpy(&y, s + k, 8), y);
        for (int64_t k = 0; k < written; k += 8)
            memcpy(d + k, &x, 8);
    }
}
#endif

void stream_traffic(char *dst, int64_t written, const char *src, int64_t read, int threads)
{
    const int64_t less = written < read ? written : read, units = less / 64;
    const int64_t to = written / less * 64, from = read / less * 64;
#ifdef _OPENMP
#pragma omp parallel for num_threads(threads)
#endif
    for (int part = 0; part < threads; part++) {
        const int64_t first = units * part / threads, end = units * (part + 1) / threads;
        traffic(dst + first * to, to, src + first * from, from, end - first);
    }
}

/* ---- rounds ---- */

enum { WORK, PLAIN, STREAM_COPY, KINDS, MOST_ROUNDS = 64 };

static void once(const contest *c, int kind)
{
    if (kind == WORK)
        c->run(c->arg);
    else if (kind == PLAIN)
        plain_copy(c->dst, c->src, c->bytes, c->threads);
    else
        stream_copy(c->dst, c->src, c->bytes, c->threads);
}

enum { CACHED = 16 << 20 }; /* bytes that may fit a cache */

/* The time of one run.  If the data may fit a cache, an untimed run precedes it, so that the
 * caches are as the same kind leaves them and not as another does: a streaming copy leaves dst
 * in memory. */
static double sample(const contest *c, int kind, int64_t times)
{
    if (c->bytes <= CACHED)
        once(c, kind);
    double begin = seconds();
    for (int64_t i = 0; i < times; i++)
        once(c, kind);
    return (seconds() - begin) / (double)times;
}

/* The number of consecutive runs that the clock can measure well. */
static int64_t repeats(const contest *c, int kind)
{
    if (c->bytes > CACHED)
        return 1;
    double t = sample(c, kind, 1);
    t = sample(c, kind, 1 + (int64_t)(2e-5 / t));
    return 1 + (int64_t)(3e-4 / t);
}

static double best_of(const double *times, int from, int to)
{
    double best = times[from];
    for (int i = from + 1; i < to; i++)
        best = times[i] < best ? times[i] : best;
    return best;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Time of the better copy in rounds [from, to). */
static double limit_of(double times[KINDS][MOST_ROUNDS], int from, int to)
{
    return smaller(best_of(times[PLAIN], from, to), best_of(times[STREAM_COPY], from, to));
}

/* Interleave all kinds.  If the data may fit a cache, streaming copies are measured first: they
 * leave nothing in the cache, which affects many later calls. */
static int run_rounds(const contest *c, double times[KINDS][MOST_ROUNDS])
{
    const int turns = c->bytes <= CACHED ? STREAM_COPY : KINDS;
    const double begin = seconds();
    int64_t in_a_row[KINDS];
    int rounds = 0;
    for (int kind = KINDS - 1; kind >= turns; kind--) {
        const double alone = sample(c, kind, repeats(c, kind));
        for (int i = 0; i < MOST_ROUNDS; i++)
            times[kind][i] = alone;
    }
    for (int kind = 0; kind < turns; kind++)
        in_a_row[kind] = repeats(c, kind);
    while (rounds < c->least || (rounds < MOST_ROUNDS && seconds() - begin < c->duration)) {
        for (int kind = 0; kind < turns; kind++)
            times[kind][rounds] = sample(c, kind, in_a_row[kind]);
        rounds++;
    }
    return rounds;
}

figures measure(const contest *c)
{
    double times[KINDS][MOST_ROUNDS], gb = 2e-9 * (double)c->bytes;
    const int rounds = run_rounds(c, times);
    double early = limit_of(times, 0, rounds / 2), late = limit_of(times, rounds / 2, rounds);
    figures f = {.work = gb / best_of(times[WORK], 0, rounds),
                 .plain = gb / best_of(times[PLAIN], 0, rounds),
                 .stream = gb / best_of(times[STREAM_COPY], 0, rounds),
                 .limit = gb / smaller(early, late),
                 .moved = early > 1.15 * late || late > 1.15 * early};
    f.ratio = f.work / f.limit;
    return f;
}

double call_time(void (*run)(void *arg), void *arg)
{
    enum { CALLS = 20000, TRIES = 25 };
    double best = 1;
    for (int i = 0; i < TRIES; i++) {
        double begin = seconds();
        for (int k = 0; k < CALLS; k++)
            run(arg);
        best = smaller(best, (seconds() - begin) / CALLS);
    }
    return best * 1e9;
}
