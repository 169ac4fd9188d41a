/* weak_malloc.h - a malloc that fails on request, for the test program and all libraries that
 * it loads.
 *
 * Under a sanitizer malloc is the sanitizer's: weak_malloc is false, and tests are skipped. */
#ifndef WEAK_MALLOC_H
#define WEAK_MALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { weak_malloc = !TEST_WATCHED };

static _Thread_local bool armed;
static int64_t calls, fail_at, held; /* held: blocks allocated while armed and not yet freed */

#if !TEST_WATCHED
void *__libc_malloc(size_t n);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t n);
void *__libc_memalign(size_t align, size_t n);
void __libc_free(void *p);

/* Exported, so that the loaded libraries use them. */
#define SHARED __attribute__((visibility("default")))

static bool fails(void)
{
    if (!armed || calls++ != fail_at)
        return false;
    errno = ENOMEM;
    return true;
}

SHARED void *malloc(size_t n)
{
    void *p = fails() ? NULL : __libc_malloc(n);
    held += armed && p;
    return p;
}

SHARED void *calloc(size_t n, size_t size)
{
    void *p = fails() ? NULL : __libc_calloc(n, size);
    held += armed && p;
    return p;
}

SHARED void *realloc(void *old, size_t n)
{
    void *p = fails() ? NULL : __libc_realloc(old, n);
    held += armed && p && !old;
    return p;
}

SHARED void *aligned_alloc(size_t align, size_t n)
{
    void *p = fails() ? NULL : __libc_memalign(align, n);
    held += armed && p;
    return p;
}

SHARED int posix_memalign(void **out, size_t align, size_t n)
{
    void *p = aligned_alloc(align, n);
    if (p)
        *out = p;
    return p ? 0 : ENOMEM;
}

SHARED void free(void *p)
{
    held -= armed && p;
    __libc_free(p);
}
#endif

/* Let the k-th allocation (from 0) of this thread fail; clearing armed ends this. */
static inline void arm(int64_t k)
{
    calls = held = 0;
    fail_at = k;
    armed = true;
}

#endif
