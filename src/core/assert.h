/* assert.h - ASSERT states an invariant that the engine relies on.
 *
 * Builds with TENON_ASSERTS (the presets debug, dev, asan and fuzz) check it at run time and
 * trap at the first violation; in other builds it costs nothing and x is not evaluated.  A
 * caller's arguments are never asserted: they are checked, and a bad one is reported by a
 * status. */
#ifndef TNI_ASSERT_H
#define TNI_ASSERT_H

#ifdef TENON_ASSERTS
#include <stdio.h>

static inline void tni_assert(int holds, const char *what, const char *file, int line)
{
    if (!holds) {
        fprintf(stderr, "%s:%d: ASSERT(%s) does not hold\n", file, line, what);
        __builtin_trap();
    }
}

#define ASSERT(x) tni_assert(!!(x), #x, __FILE__, __LINE__)
#else
#define ASSERT(x) ((void)sizeof(!(x)))
#endif

#endif
