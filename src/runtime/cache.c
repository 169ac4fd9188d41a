/* cache.c - the sizes of the caches, and the output size from which streaming stores pay.
 *
 * Every size is positive, and no level is smaller than the one below it. */
#include <string.h>
#include <unistd.h>

#include "local.h"

typedef enum maker { OTHER, INTEL, AMD } maker;

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

/* The sizes of the data and unified caches that the CPU lists, each of one instance.  What the
 * system reports for the third level may be the sum over a package, which no thread ever
 * sees. */
static void ask_cpu(int64_t size[4], maker *by)
{
    unsigned a, b, c, d;
    if (!__get_cpuid(0, &a, &b, &c, &d))
        return;
    *by = !memcmp(&b, "Genu", 4) ? INTEL : !memcmp(&b, "Auth", 4) ? AMD : OTHER;
    unsigned leaf = *by == INTEL ? 4 : 0x8000001d;
    for (unsigned i = 0; i < 16 && __get_cpuid_count(leaf, i, &a, &b, &c, &d); i++) {
        unsigned type = a & 31, level = a >> 5 & 7;
        if (type == 0)
            break;
        if (type != 2 && level >= 1 && level <= 3)
            size[level] = (int64_t)((b >> 22) + 1) * ((b >> 12 & 1023) + 1) * ((b & 4095) + 1) *
                          ((int64_t)c + 1);
    }
}
#else
static void ask_cpu(int64_t size[4], maker *by)
{
    (void)size;
    (void)by;
}
#endif

static void ask_system(int64_t size[4])
{
#ifdef _SC_LEVEL1_DCACHE_SIZE
    static const int names[4] = {0, _SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE,
                                 _SC_LEVEL3_CACHE_SIZE};
    for (int i = 1; i < 4; i++)
        if (size[i] <= 0)
            size[i] = sysconf(names[i]);
#endif
}

/* Streaming stores avoid reading the lines that they fill, but leave the output out of the
 * cache for its next reader.  On Intel servers (a large private L2 before a slow shared L3)
 * they pay as soon as the output exceeds L2; where L3 is near and fast (AMD's core complexes,
 * desktops), only once the output and its input do not fit L3 together. */
static int64_t where_streaming_pays(const tni_caches *c, maker by)
{
    return by == INTEL && c->l2 >= 1 << 20 ? c->l2 : c->l3 / 2 > c->l2 ? c->l3 / 2 : c->l2;
}

tni_caches tni_caches_detect(void)
{
    int64_t size[4] = {0};
    maker by = OTHER;
    ask_cpu(size, &by);
    ask_system(size);

    tni_caches c;
    c.l1 = size[1] > 0 ? size[1] : 32 << 10;
    c.l2 = size[2] > 0 ? size[2] : 512 << 10;
    c.l2 = c.l2 > c.l1 ? c.l2 : c.l1;
    c.l3 = size[3] > c.l2 ? size[3] : c.l2;
    c.stream = tni_env_number("TENON_STREAM", where_streaming_pays(&c, by));
    /* On an Intel Xeon a store that crosses two lines outside L1 waits for both, and
     * prefetching them doubles the speed of transposes; on AMD Zen 4 the prefetch costs 3 to 30
     * percent (docs/investigations/copies-in-cache.md). */
    c.prefetch_dst = by != AMD;
    return c;
}
