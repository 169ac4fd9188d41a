/* writer_copy.c - copying elements unchanged from one file to another.
 *
 * The kernel copies them (copy_file_range), sharing blocks if the file system can; where it
 * refuses, they are copied through memory. */
#include <errno.h>

#include "sys.h"
#include "write.h"

enum { PIECE = 64 << 20 }; /* bytes between two progress calls */

bool tni_writer_copies(const tn_writer *w, const tni_entry *e)
{
    return w->format->bytes == tni_append && !w->pipe && e->packing != TNI_DEFLATED &&
           e->swapped == w->format->swaps;
}

/* Copy up to n bytes through memory. */
static tn_status pass_through(tn_writer *w, const tn_file *f, int64_t at, int64_t n)
{
    char *stage = tni_alloc(TNI_STAGE);
    if (!stage)
        return tni_no_memory(w->path, TNI_STAGE);
    tn_status status = TN_OK;
    for (int64_t done = 0; done < n && status == TN_OK; done += TNI_STAGE) {
        int64_t piece = n - done < TNI_STAGE ? n - done : TNI_STAGE;
        status = tni_file_bytes(f, stage, piece, at + done);
        if (status == TN_OK)
            status = tni_append(w, stage, piece);
    }
    tni_free(stage);
    return status;
}

/* Copy n bytes; *refused is set once the kernel refuses to copy between these files. */
static tn_status copy_bytes(tn_writer *w, const tn_file *f, int64_t at, int64_t n,
                            bool *refused)
{
    int64_t done = 0;
    char words[80];
    while (done < n && !*refused) {
        int64_t got = 0;
        int error = tni_sys_copy(f->fd, at + done, w->fd, w->at, n - done, &got);
        if (error == ENOSPC || error == EIO || error == EDQUOT || error == EFBIG)
            return tni_fail(TN_EIO, "%s: %s", w->path,
                            tni_sys_words(error, words, sizeof words));
        *refused = error != 0 || got == 0; /* 0 bytes: the source has shrunk */
        done += got;
        TRY(TNI_NEVER(tni_write_at(w, NULL, 0, w->at + got)));
    }
    return done < n ? pass_through(w, f, at + done, n - done) : TN_OK;
}

tn_status tni_writer_copy(tn_writer *w, const tn_file *f, int64_t at, tn_dtype dtype,
                          int64_t numel, tni_copied *copied, void *user)
{
    bool refused = false;
    int64_t bytes = numel * tni_width(dtype);
    TRY(tni_writer_expects(w, dtype, numel));
    w->broken = true;
    for (int64_t done = 0; done < bytes;) {
        int64_t piece = bytes - done < PIECE ? bytes - done : PIECE;
        TRY(copy_bytes(w, f, at + done, piece, &refused));
        done += piece;
        TRY(copied(user, done));
    }
    w->broken = false;
    return tni_writer_took(w, numel);
}
