/* weak_memory.h - an allocator whose call number fail_at (from 0) fails, and the number of
 * blocks held. */
#ifndef WEAK_MEMORY_H
#define WEAK_MEMORY_H

#include <stdint.h>
#include <stdlib.h>

static int64_t held, calls, fail_at = -1;

static void *weak_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    if (calls++ == fail_at)
        return NULL;
    held++;
    return aligned_alloc(align, size);
}

static void weak_free(void *user, void *ptr, size_t size)
{
    (void)user;
    (void)size;
    held--;
    free(ptr);
}

#endif
