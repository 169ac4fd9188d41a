/* writer_direct.c - appending with direct I/O, past the page cache.
 *
 * Whole blocks are written in long writes: straight from the caller's memory if its address and
 * the offset in the file are congruent modulo the block size, otherwise from one aligned
 * buffer.  Bytes before the first block boundary and after the last are written through the
 * page cache.  Both ways may alternate in one file and produce the same bytes. */
#include <string.h>

#include "sys.h"
#include "write.h"

struct tni_direct {
    char *memory, *aligned;
    int64_t held; /* bytes in the buffer; they follow offset w->at */
};

tn_status tni_writer_reserve(tn_writer *w, int64_t n)
{
    char words[80];
    if (w->pipe || w->format->bytes != tni_append)
        return TN_OK;
    const int error = tni_sys_reserve(w->fd, w->at, n);
    return error ? tni_fail(TN_EIO, "%s: no space for %lld bytes: %s", w->path, (long long)n,
                            tni_sys_words(error, words, sizeof words))
                 : TN_OK;
}

void tni_file_forget(const tn_file *f, int64_t i)
{
    const tn_file *owner = f->entries[i].owner;
    tni_sys_advise((owner ? owner : f)->fd, TNI_FORGET, 0, 0);
}

bool tni_file_in_memory(const tn_file *f, int64_t i)
{
    const tn_file *owner = i >= 0 && i < f->count ? f->entries[i].owner : NULL;
    return tni_sys_is_memory((owner ? owner : f)->fd);
}

void tni_file_ahead(const tn_file *f, int64_t at, int64_t n)
{
    enum { PIECE = 128 << 10 }; /* most that Linux accepts in one call by default */
    for (int64_t done = 0; done < n; done += PIECE)
        tni_sys_advise(f->fd, TNI_WANTED, at + done, n - done < PIECE ? n - done : PIECE);
}

void tni_writer_forget(const tn_writer *w)
{
    if (!w->pipe)
        tni_sys_advise(w->fd, TNI_FORGET, 0, 0);
}

int64_t tni_writer_position(const tn_writer *w)
{
    return w->at + (w->direct ? w->direct->held : 0);
}

bool tni_writer_begin_direct(tn_writer *w)
{
    if (w->pipe || w->format->bytes != tni_append || w->direct)
        return false;
    tni_direct *d = tni_alloc(sizeof *d);
    char *memory = d ? tni_alloc(TNI_LONG_WRITE + TNI_DISK_BLOCK) : NULL;
    if (!memory || tni_sys_set_direct(w->fd, true) != 0) {
        tni_free(memory);
        tni_free(d);
        return false;
    }
    (void)tni_sys_set_direct(w->fd, false);
    *d = (tni_direct){.memory = memory,
                      .aligned = memory + (-(uintptr_t)memory & (TNI_DISK_BLOCK - 1))};
    w->direct = d;
    return true;
}

/* Append n bytes, with direct I/O if they are whole blocks at a block boundary (from aligned
 * memory). */
static tn_status write_out(tn_writer *w, const char *from, int64_t n)
{
    char words[80];
    int error = 0;
    if (w->at % TNI_DISK_BLOCK == 0 && n % TNI_DISK_BLOCK == 0 &&
        tni_sys_set_direct(w->fd, true) == 0) {
        error = tni_sys_pwrite_direct(w->fd, from, (size_t)n, w->at);
        (void)tni_sys_set_direct(w->fd, false);
    } else {
        error = tni_sys_pwrite(w->fd, from, (size_t)n, w->at);
    }
    if (error)
        return tni_fail(TN_EIO, "%s: %s", w->path, tni_sys_words(error, words, sizeof words));
    w->at += n;
    w->flow = w->at;
    return TN_OK;
}

/* Write the first n bytes of the buffer, and move the rest to its start. */
static tn_status flush(tn_writer *w, int64_t n)
{
    tni_direct *d = w->direct;
    TRY(write_out(w, d->aligned, n));
    memmove(d->aligned, d->aligned + n, (size_t)(d->held - n));
    d->held -= n;
    return TN_OK;
}

/* Bytes to gather in the buffer before it is written: up to the first block boundary; up to the
 * boundary from which on data is aligned; or all that it can hold. */
static int64_t gathered(const tn_writer *w, const char *data)
{
    const int64_t odd = w->at % TNI_DISK_BLOCK, held = w->direct->held;
    const int64_t lacks = -held & (TNI_DISK_BLOCK - 1);
    if (odd)
        return TNI_DISK_BLOCK - odd;
    return held && !((uintptr_t)(data + lacks) % TNI_DISK_BLOCK) ? held + lacks
                                                                 : TNI_LONG_WRITE;
}

tn_status tni_direct_append(tn_writer *w, const char *data, int64_t n)
{
    tni_direct *d = w->direct;
    while (n > 0) {
        if (w->at % TNI_DISK_BLOCK == 0 && d->held == 0 &&
            (uintptr_t)data % TNI_DISK_BLOCK == 0 && n >= TNI_DISK_BLOCK) { /* without a copy */
            const int64_t whole = n / TNI_DISK_BLOCK * TNI_DISK_BLOCK;
            TRY(write_out(w, data, whole));
            data += whole;
            n -= whole;
            continue;
        }
        const int64_t most = gathered(w, data);
        const int64_t piece = n < most - d->held ? n : most - d->held;
        memcpy(d->aligned + d->held, data, (size_t)piece);
        d->held += piece;
        data += piece;
        n -= piece;
        if (d->held == most)
            TRY(flush(w, most));
    }
    return TN_OK;
}

tn_status tni_writer_end_direct(tn_writer *w, bool keep)
{
    tni_direct *d = w->direct;
    tn_status status = TN_OK;
    if (!d)
        return TN_OK;
    const int64_t whole =
        w->at % TNI_DISK_BLOCK ? 0 : d->held / TNI_DISK_BLOCK * TNI_DISK_BLOCK;
    if (keep && whole)
        status = flush(w, whole);
    if (keep && status == TN_OK && d->held)
        status = flush(w, d->held);
    w->direct = NULL;
    w->broken |= status != TN_OK;
    tni_free(d->memory);
    tni_free(d);
    return status;
}
