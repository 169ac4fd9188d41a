/* npz_write.c - writing .npz: a zip archive of .npy members, stored or deflated.
 *
 * Stored members are padded so that their elements begin at a multiple of 64 in the file and
 * are aligned when mapped.  Lengths of stored members are known when they begin; checksums, and
 * lengths of deflated members, are patched in when they end. */
#include <string.h>

#include <zlib.h>

#include "zip.h"

enum {
    ALIGN = 64,     /* a cache line, as .npy headers align their elements */
    PIECE = 1 << 16 /* deflated bytes written at a time */
};

typedef struct npz {
    tni_zip_written *members;
    z_stream z;
    bool deflating; /* z is initialised */
    uint8_t out[PIECE];
} npz;

static tni_zip_written *present(const tn_writer *w)
{
    return ((npz *)w->own)->members + w->now;
}

static tn_status npz_begin(tn_writer *w)
{
    int64_t size = (int64_t)sizeof(npz) + w->n * (int64_t)sizeof(tni_zip_written);
    npz *own = tni_arena_take(&w->arena, sizeof *own);
    tni_zip_written *members = tni_arena_rows(&w->arena, w->n, sizeof *members);
    if (!own || !members)
        return tni_no_memory(w->path, size);
    memset(own, 0, sizeof *own);
    own->members = members;
    w->own = own;
    return TN_OK;
}

/* Deflate n bytes and append the output to the file; flush ends the member. */
static tn_status deflate_bytes(tn_writer *w, const void *data, int64_t n, bool flush)
{
    npz *own = w->own;
    const int64_t most = 4 << 20; /* deflate counts in 32 bits */
    const char *at = data;
    do {
        int64_t piece = n < most ? n : most;
        own->z.next_in = (Bytef *)(uintptr_t)at;
        own->z.avail_in = (uInt)piece;
        int r;
        do {
            own->z.next_out = own->out;
            own->z.avail_out = PIECE;
            r = deflate(&own->z, flush ? Z_FINISH : Z_NO_FLUSH);
            int64_t made = PIECE - (int64_t)own->z.avail_out;
            TRY(tni_append(w, own->out, made));
            present(w)->packed += made;
        } while (own->z.avail_out == 0);
        ASSERT(r == Z_OK || r == Z_STREAM_END || r == Z_BUF_ERROR);
        at = n ? at + piece : at; /* data may be NULL if n is 0 */
        n -= piece;
    } while (n > 0);
    return TN_OK;
}

static tn_status append_bytes(tn_writer *w, const void *data, int64_t n)
{
    tni_zip_written *m = present(w);
    m->crc = (uint32_t)crc32_z(m->crc, data, (size_t)n);
    return m->method ? deflate_bytes(w, data, n, false) : tni_append(w, data, n);
}

static tn_status start_deflate(tn_writer *w)
{
    npz *own = w->own;
    memset(&own->z, 0, sizeof own->z);
    if (deflateInit2(&own->z, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return tni_no_memory(w->path, 1 << 18);
    own->deflating = true;
    return TN_OK;
}

static tn_status npz_enter(tn_writer *w, const tni_slot *slot)
{
    char header[TNI_NPY_WRITTEN];
    int64_t head = tni_npy_header(header, slot->dtype, slot->ndim, slot->shape);
    if (slot->nbytes > INT64_MAX - head)
        return tni_fail(TN_EOVERFLOW,
                        "%s: tensor \"%.80s\" and its header exceed 2^63 - 1 bytes", w->path,
                        slot->name);
    tni_zip_written *m = present(w);
    bool deflates = w->options.compress && slot->nbytes > 0;
    *m = (tni_zip_written){.length = head + slot->nbytes, .packed = head + slot->nbytes};
    m->method = deflates ? TNI_ZIP_DEFLATE : 0;
    TRY(tni_zip_enter(w, m, slot->name, ".npy", ALIGN));
    if (deflates) {
        m->packed = 0;
        TRY(start_deflate(w));
    }
    return append_bytes(w, header, head);
}

static tn_status leave(tn_writer *w, const tni_slot *slot)
{
    npz *own = w->own;
    (void)slot;
    if (own->deflating) {
        TRY(deflate_bytes(w, NULL, 0, true));
        deflateEnd(&own->z);
        own->deflating = false;
    }
    return tni_zip_leave(w, present(w));
}

static tn_status npz_finish(tn_writer *w)
{
    const npz *own = w->own;
    int64_t list = w->at;
    for (int i = 0; i < w->n; i++)
        TRY(tni_zip_record(w, &own->members[i], w->slots[i].name, ".npy"));
    return tni_zip_finish(w, list, w->n);
}

static void release(tn_writer *w)
{
    npz *own = w->own;
    if (own && own->deflating)
        deflateEnd(&own->z);
}

const tni_format tni_npz_format = {.suffix = ".npz",
                                   .only = "arr_0",
                                   .many = true,
                                   .swaps = TNI_HOST_BIG,
                                   .begin = npz_begin,
                                   .enter = npz_enter,
                                   .bytes = append_bytes,
                                   .leave = leave,
                                   .finish = npz_finish,
                                   .release = release};
