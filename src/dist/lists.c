/* lists.c - growing lists, in memory from the calling thread's allocator. */
#include <string.h>

#include "dist.h"

static bool list_resize(tni_list *l, int64_t size)
{
    int64_t bytes;
    if (!tni_scale(size, l->width, &bytes))
        return false;
    void *at = tni_alloc((size_t)bytes);
    if (!at)
        return false;
    if (l->n)
        memcpy(at, l->at, (size_t)(l->n * l->width));
    tni_free(l->at);
    l->at = at;
    l->size = size;
    return true;
}

bool tni_list_reserve(tni_list *l, int64_t more)
{
    return more <= l->size - l->n || list_resize(l, l->n + more);
}

void *tni_list_add(tni_list *l)
{
    if (l->n == l->size && !list_resize(l, l->size ? 2 * l->size : 8))
        return NULL;
    return (char *)l->at + l->n++ * l->width;
}

void tni_list_trim(tni_list *l)
{
    if (l->n == 0)
        tni_list_free(l);
    else if (l->size - l->n > l->n / 8 + 8)
        (void)list_resize(l, l->n);
}

void tni_list_free(tni_list *l)
{
    tni_free(l->at);
    l->at = NULL;
    l->n = l->size = 0;
}

tn_status tni_list_full(const char *call)
{
    return tni_fail(TN_ENOMEM, "%s: out of memory", call);
}
