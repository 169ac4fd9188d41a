/* memory.c - allocation from the calling thread's allocator.
 *
 * A label of 64 bytes in front of every block holds its allocator and size, so that a block can
 * be freed on any thread, under any handle, and after its handle is destroyed. */
#include <stdlib.h>
#include <string.h>

#include "core.h"

enum { ALIGN = 64 };

typedef struct label {
    tni_allocator from;
    size_t size;
} label;

_Static_assert(sizeof(label) <= ALIGN, "a label fits in front of an aligned block");

/* Align by hand and store malloc's pointer in front of the block: aligned_alloc of glibc before
 * 2.38 does not reuse blocks that were freed, and a loop over blocks of one size grows without
 * bound. */
static void *system_alloc(void *user, size_t size, size_t align)
{
    (void)user;
    char *raw = malloc(size + align + sizeof raw);
    if (!raw)
        return NULL;
    char *block = raw + sizeof raw;
    block += (align - (uintptr_t)block % align) % align;
    memcpy(block - sizeof raw, &raw, sizeof raw);
    return block;
}

static void system_free(void *user, void *ptr, size_t size)
{
    char *raw;
    (void)user;
    (void)size;
    memcpy(&raw, (char *)ptr - sizeof raw, sizeof raw);
    free(raw);
}

static const tni_allocator system_allocator = {system_alloc, system_free, NULL};

static _Thread_local tni_allocator current;

void tni_allocator_use(const tni_allocator *a)
{
    current = a ? *a : (tni_allocator){0};
}

void *tni_alloc(size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size_t total = (ALIGN + size + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    const tni_allocator *from = current.alloc ? &current : &system_allocator;
    char *base = from->alloc(from->user, total, ALIGN);
    if (!base)
        return NULL;
    memcpy(base, &(label){*from, total}, sizeof(label));
    return base + ALIGN;
}

void tni_free(void *block)
{
    if (!block)
        return;
    char *base = (char *)block - ALIGN;
    label l;
    memcpy(&l, base, sizeof l);
    l.from.free(l.from.user, base, l.size);
}
