/* torch_archive.h - a torch zip archive with an arbitrary pickle: stored members, made in
 * memory. */
#ifndef TORCH_ARCHIVE_H
#define TORCH_ARCHIVE_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct torch_archive {
    uint8_t *bytes, *list; /* the members; the records of the central directory */
    size_t n, listed, room;
    int count;
} torch_archive;

static inline uint8_t *torch_put(uint8_t *to, uint64_t x, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(x >> 8 * i);
    return to + n;
}

/* Add a member of `whole` bytes, packed into n; method 0: stored, whole equals n. */
static inline void torch_packed(torch_archive *a, const char *name, const void *data, size_t n,
                                int method, size_t whole)
{
    const size_t length = strlen(name);
    uint8_t local[30] = "PK\3\4", central[46] = "PK\1\2";
    torch_put(local + 8, (uint64_t)method, 2);
    torch_put(central + 10, (uint64_t)method, 2);
    torch_put(central + 20, n, 4);
    torch_put(central + 24, whole, 4);
    torch_put(central + 28, length, 2);
    torch_put(central + 42, a->n, 4);
    torch_put(local + 26, length, 2); /* the local lengths stay 0, as torch leaves them */
    a->room = a->n + a->listed + 2 * (length + 100) + n;
    a->bytes = realloc(a->bytes, a->room + 1024);
    a->list = realloc(a->list, a->room + 1024);
    memcpy(a->bytes + a->n, local, 30);
    memcpy(a->bytes + a->n + 30, name, length);
    if (n)
        memcpy(a->bytes + a->n + 30 + length, data, n);
    a->n += 30 + length + n;
    memcpy(a->list + a->listed, central, 46);
    memcpy(a->list + a->listed + 46, name, length);
    a->listed += 46 + length;
    a->count++;
}

static inline void torch_member(torch_archive *a, const char *name, const void *data, size_t n)
{
    torch_packed(a, name, data, n, 0, n);
}

/* Append the directory; bytes[0, n) is then the archive. */
static inline void torch_finish(torch_archive *a)
{
    uint8_t end[22] = "PK\5\6";
    torch_put(end + 8, (uint64_t)a->count, 2);
    torch_put(end + 10, (uint64_t)a->count, 2);
    torch_put(end + 12, a->listed, 4);
    torch_put(end + 16, a->n, 4);
    memcpy(a->bytes + a->n, a->list, a->listed);
    memcpy(a->bytes + a->n + a->listed, end, 22);
    a->n += a->listed + 22;
}

static inline void torch_free(torch_archive *a)
{
    free(a->bytes);
    free(a->list);
    *a = (torch_archive){0};
}

#endif
