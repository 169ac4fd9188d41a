/* sleef_beside.c - selecting the loops of the vector math library that this machine can run. */
#include "sleef_beside.h"

#include <stddef.h>
#include <string.h>

sleef_loop sleef_of(const char *name)
{
#ifdef BENCH_SLEEF
    const sleef_row *rows = __builtin_cpu_supports("avx512f") ? sleef_avx512
                            : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                ? sleef_avx2
                                : NULL;
    for (int i = 0; rows && i < SLEEF_ROWS; i++)
        if (!strcmp(rows[i].name, name))
            return rows[i].loop;
#else
    (void)name;
#endif
    return NULL;
}
