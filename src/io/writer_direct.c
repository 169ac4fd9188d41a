/* writer_direct.c - a run of bytes appended past the page cache.
 *
 * Whole blocks go to the disk from one aligned buffer in long writes; what comes before the
 * first block boundary and after the last one goes through the page cache.  So a file may be
 * written in both ways, one after the other, and its bytes are the same. */
#include <string.h>

#include "sys.h"
#include "write.h"

/* Bytes of one write: dd reaches the disk's rate with as many. */
enum { LONG_WRITE = 8 << 20 };

struct tni_direct {
    char *memory, *aligned;
    int64_t held; /* bytes in the buffer, which follow those of w->at */
};

tn_status tni_writer_reserve(tn_writer *w, int64_t n)
{
    char words[80];
    if (w->pipe || w->sink || w->format->bytes != tni_append)
        return TN_OK;
    const int error = tni_sys_reserve(w->fd, w->at, n);
    return error ? tni_fail(TN_EIO, "%s: no space for %lld bytes: %s", w->path, (long long)n,
                            tni_sys_words(error, words, sizeof words))
                 : TN_OK;
}

bool tni_writer_begin_direct(tn_writer *w)
{
    if (w->pipe || w->sink || w->format->bytes != tni_append || w->direct)
        return false;
    tni_direct *d = tni_alloc(sizeof *d);
    char *memory = d ? tni_alloc(LONG_WRITE + TNI_BLOCK) : NULL;
    if (!memory || tni_sys_set_direct(w->fd, true) != 0) {
        tni_free(memory);
        tni_free(d);
        return false;
    }
    (void)tni_sys_set_direct(w->fd, false);
    *d = (tni_direct){.memory = memory,
                      .aligned = memory + (-(uintptr_t)memory & (TNI_BLOCK - 1))};
    w->direct = d;
    return true;
}

/* Write the first n bytes of the buffer; whole blocks at a boundary go past the page cache. */
static tn_status flush(tn_writer *w, int64_t n)
{
    tni_direct *d = w->direct;
    char words[80];
    int error = 0;
    if (n == 0)
        return TN_OK;
    if (w->at % TNI_BLOCK == 0 && n % TNI_BLOCK == 0 && tni_sys_set_direct(w->fd, true) == 0) {
        error = tni_sys_pwrite_direct(w->fd, d->aligned, (size_t)n, w->at);
        (void)tni_sys_set_direct(w->fd, false);
    } else {
        error = tni_sys_pwrite(w->fd, d->aligned, (size_t)n, w->at);
    }
    if (error)
        return tni_fail(TN_EIO, "%s: %s", w->path, tni_sys_words(error, words, sizeof words));
    memmove(d->aligned, d->aligned + n, (size_t)(d->held - n));
    d->held -= n;
    w->at += n;
    w->flow = w->at;
    return TN_OK;
}

tn_status tni_direct_append(tn_writer *w, const char *data, int64_t n)
{
    tni_direct *d = w->direct;
    while (n > 0) {
        /* before the first boundary the buffer holds less than a block */
        const int64_t odd = w->at % TNI_BLOCK, capacity = odd ? TNI_BLOCK - odd : LONG_WRITE;
        const int64_t piece = n < capacity - d->held ? n : capacity - d->held;
        memcpy(d->aligned + d->held, data, (size_t)piece);
        d->held += piece;
        data += piece;
        n -= piece;
        if (d->held == capacity)
            TRY(flush(w, capacity));
    }
    return TN_OK;
}

tn_status tni_writer_end_direct(tn_writer *w, bool keep)
{
    tni_direct *d = w->direct;
    tn_status status = TN_OK;
    if (!d)
        return TN_OK;
    if (keep && w->at % TNI_BLOCK == 0)
        status = flush(w, d->held / TNI_BLOCK * TNI_BLOCK);
    if (keep && status == TN_OK)
        status = flush(w, d->held);
    w->direct = NULL;
    w->broken |= status != TN_OK;
    tni_free(d->memory);
    tni_free(d);
    return status;
}
