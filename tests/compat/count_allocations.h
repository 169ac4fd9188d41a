/* count_allocations.h - every allocation of the process is counted, where no sanitizer does. */
#ifndef COUNT_ALLOCATIONS_H
#define COUNT_ALLOCATIONS_H

#include <stdatomic.h>
#include <stddef.h>

static atomic_long allocations;

#if !TEST_WATCHED
extern void *__libc_malloc(size_t);
extern void *__libc_memalign(size_t, size_t);
void *malloc(size_t size)
{
    allocations++;
    return __libc_malloc(size);
}
void *aligned_alloc(size_t align, size_t size)
{
    allocations++;
    return __libc_memalign(align, size);
}
#endif

#endif
