/* cpu.c - detects once which instruction sets this CPU has.
 *
 * A level is used only if the library was compiled with it, the CPU has every feature that its
 * objects are compiled for (cmake/isa.cmake), and the system saves its registers. */
#include <pthread.h>
#include <stdatomic.h>

#include "local.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const char *const names[TNI_ISA_COUNT] = {
#define LEVEL(ENUM, NAME) [TNI_ISA_##ENUM] = #NAME,
#include "core/isa.def"
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool known; /* saves all calls but the first a call of pthread_once */
static struct {
    int isa;
    bool bf16;
    tni_caches caches;
} machine;

#if TNI_LEVELS > 1
#define BIT(n) (1u << (n))

/* The features that each level needs, by the cpuid register that reports them, and the register
 * state that the system must save, as bits of XCR0. */
static const struct {
    unsigned ecx1, ebx7, ecx7, ecx_extended, xcr0;
} needs[TNI_ISA_COUNT] = {
    [TNI_ISA_AVX2] =
        {
            .ecx1 = BIT(12) | BIT(27) | BIT(28) | BIT(29), /* FMA, OSXSAVE, AVX, F16C */
            .ebx7 = BIT(3) | BIT(5) | BIT(8),              /* BMI1, AVX2, BMI2 */
            .ecx_extended = BIT(5),                        /* LZCNT */
            .xcr0 = 0x06,                                  /* xmm, ymm */
        },
#if TNI_LEVELS > 2
    [TNI_ISA_AVX512] =
        {
            .ebx7 = BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), /* F, DQ, CD, BW, VL */
            .ecx7 = BIT(1),                                          /* VBMI */
            .xcr0 = 0xe6,                                            /* xmm, ymm, mask, zmm */
        },
#endif
};

static unsigned saved_state(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}

static int best(void)
{
    unsigned a, b, c, d;
    unsigned ecx1 = 0, ebx7 = 0, ecx7 = 0, ecx_extended = 0;
    if (__get_cpuid(1, &a, &b, &c, &d))
        ecx1 = c;
    if (__get_cpuid_count(7, 0, &a, &b, &c, &d)) {
        ebx7 = b;
        ecx7 = c;
    }
    if (__get_cpuid(0x80000001, &a, &b, &c, &d))
        ecx_extended = c;
    unsigned xcr0 = ecx1 & BIT(27) ? saved_state() : 0;

    int level = TNI_ISA_BASE;
    while (level + 1 < TNI_ISA_COUNT && !(needs[level + 1].ecx1 & ~ecx1) &&
           !(needs[level + 1].ebx7 & ~ebx7) && !(needs[level + 1].ecx7 & ~ecx7) &&
           !(needs[level + 1].ecx_extended & ~ecx_extended) && !(needs[level + 1].xcr0 & ~xcr0))
        level++;
    return level;
}

/* Dot products of bf16 (AVX512_BF16) are a separate feature on top of AVX-512. */
static bool has_bf16(int isa)
{
#if TNI_LEVELS > 2
    unsigned a, b, c, d;
    return isa >= TNI_ISA_AVX512 && __get_cpuid_count(7, 1, &a, &b, &c, &d) && a & BIT(5);
#else
    (void)isa;
    return false;
#endif
}
#else
static int best(void)
{
    return TNI_ISA_BASE;
}

static bool has_bf16(int isa)
{
    (void)isa;
    return false;
}
#endif

static void look(void)
{
    int have = best();
    int asked = tni_env_word("TENON_ISA", names, COUNT(names));
    machine.isa = asked >= 0 && asked < have ? asked : have;
    machine.bf16 = has_bf16(machine.isa);
    machine.caches = tni_caches_detect();
    atomic_store_explicit(&known, true, memory_order_release);
}

static void look_once(void)
{
    if (UNLIKELY(!atomic_load_explicit(&known, memory_order_acquire)))
        pthread_once(&once, look);
}

int tni_isa_level(void)
{
    look_once();
    return machine.isa;
}

bool tni_cpu_bf16(void)
{
    look_once();
    return machine.bf16;
}

const tni_caches *tni_cache_sizes(void)
{
    look_once();
    return &machine.caches;
}

const char *tn_isa(void)
{
#if defined(__aarch64__)
    return "neon";
#else
    return names[tni_isa_level()];
#endif
}
