/* arena.c - memory of files: an arena of many small allocations that are freed together (names,
 * shapes, tables), and arrays that grow.
 *
 * Allocations of an arena never move.  Each chunk begins with the address of the previous
 * chunk. */
#include <string.h>

#include "io.h"

enum { LINK = 16 };

size_t tni_chunk = 1 << 14;

void *tni_arena_take(tni_arena *a, size_t n)
{
    if (TNI_NEVER(n > SIZE_MAX / 2))
        return NULL;
    n = (n + 7) & ~(size_t)7;
    if (n > a->size - a->used) {
        size_t size = LINK + (n > tni_chunk ? n : tni_chunk);
        char *chunk = tni_alloc(size);
        if (!chunk)
            return NULL;
        memcpy(chunk, &a->last, sizeof a->last);
        *a = (tni_arena){chunk, LINK, size};
    }
    ASSERT(a->used >= LINK && n <= a->size - a->used);
    void *piece = (char *)a->last + a->used;
    a->used += n;
    return piece;
}

void *tni_arena_rows(tni_arena *a, int64_t n, size_t width)
{
    ASSERT(n >= 0 && width > 0);
    return (uint64_t)n > SIZE_MAX / width ? NULL : tni_arena_take(a, (size_t)n * width);
}

char *tni_arena_text(tni_arena *a, const char *text, size_t n)
{
    char *copy = tni_arena_take(a, n + 1);
    if (copy) {
        memcpy(copy, text, n);
        copy[n] = 0;
    }
    return copy;
}

void tni_arena_free(tni_arena *a)
{
    while (a->last) {
        void *before;
        memcpy(&before, a->last, sizeof before);
        tni_free(a->last);
        a->last = before;
    }
    *a = (tni_arena){0};
}

void *tni_grown(const char *path, void *old, int64_t *capacity, int64_t first, size_t each)
{
    const int64_t n = *capacity ? 2 * *capacity : first;
    void *more = tni_alloc((size_t)n * each);
    if (!more) {
        (void)tni_no_memory(path, n * (int64_t)each);
        return NULL;
    }
    if (*capacity)
        memcpy(more, old, (size_t)*capacity * each);
    tni_free(old);
    *capacity = n;
    return more;
}
