/* npz_write.c - .npz as it is written: stored members, made by minizip.
 *
 * An extra field in front of each member brings its elements to a multiple of 64 in the file,
 * so that they can be mapped aligned; the date is that of no day, so equal tensors make equal
 * files. */
#include <string.h>

#include <minizip/zip.h>

#include "write.h"

enum { LOCAL_HEADER = 30, ZIP64_EXTRA = 20, LONGEST_NAME = 4000, UTF8 = 1 << 11, ALIGN = 64 };

/* A failed write is kept in status and not told to minizip, which would forget to free a member
 * that it could not begin; nothing is written after it. */
typedef struct own {
    zipFile zip;
    int64_t at; /* where minizip writes next */
    tn_status status;
} own;

static voidpf z_open(voidpf user, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return user;
}

static uLong z_read(voidpf user, voidpf handle, void *out, uLong n)
{
    (void)user;
    (void)handle;
    (void)out;
    (void)n;
    return 0;
}

static uLong z_write(voidpf user, voidpf handle, const void *in, uLong n)
{
    tn_writer *w = handle;
    own *o = w->own;
    (void)user;
    if (o->status == TN_OK)
        o->status = tni_write_at(w, in, (int64_t)n, o->at);
    o->at += (int64_t)n;
    return n;
}

static ZPOS64_T z_tell(voidpf user, voidpf handle)
{
    (void)user;
    return (ZPOS64_T)((own *)((tn_writer *)handle)->own)->at;
}

static long z_seek(voidpf user, voidpf handle, ZPOS64_T offset, int origin)
{
    tn_writer *w = handle;
    own *o = w->own;
    (void)user;
    o->at = (int64_t)offset + (origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                               : origin == ZLIB_FILEFUNC_SEEK_CUR ? o->at
                                                                  : w->at);
    return 0;
}

static int z_close(voidpf user, voidpf handle)
{
    (void)user;
    (void)handle;
    return 0;
}

static int z_error(voidpf user, voidpf handle)
{
    (void)user;
    (void)handle;
    return 0;
}

/* What minizip's answer means: the failed write, or a refusal of its own. */
static tn_status answer(const tn_writer *w, int zip_status)
{
    const own *o = w->own;
    if (o->status != TN_OK)
        return o->status;
    return zip_status == ZIP_OK ? TN_OK
                                : tni_fail(TN_EIO, "%s: zip refused (%d)", w->path, zip_status);
}

static tn_status begin(tn_writer *w)
{
    own *o = tni_alloc(sizeof *o);
    if (!o)
        return tni_no_memory(w->path, (int64_t)sizeof *o);
    *o = (own){NULL, 0, TN_OK};
    w->own = o;
    zlib_filefunc64_def calls = {z_open, z_read, z_write, z_tell, z_seek, z_close, z_error, w};
    o->zip = zipOpen2_64("", APPEND_STATUS_CREATE, NULL, &calls);
    return o->zip ? TN_OK : tni_no_memory(w->path, 1 << 16);
}

static tn_status enter(tn_writer *w, const tni_slot *slot)
{
    own *o = w->own;
    char name[LONGEST_NAME + 8], header[TNI_NPY_WRITTEN], extra[2 * ALIGN] = {0};
    size_t n = strlen(slot->name);
    if (n > LONGEST_NAME)
        return tni_fail(TN_EARG, "%s: a name of %zu bytes; at most %d", w->path, n,
                        LONGEST_NAME);
    memcpy(name, slot->name, n);
    memcpy(name + n, ".npy", 5);
    int64_t length = tni_npy_header(header, slot->dtype, slot->ndim, slot->shape);
    bool large = slot->nbytes > INT64_C(0xfff00000);
    int64_t plain = o->at + LOCAL_HEADER + (int64_t)n + 4 + (large ? ZIP64_EXTRA : 0) + 4;
    unsigned pad = (unsigned)((ALIGN - plain % ALIGN) % ALIGN);
    extra[0] = 'T';
    extra[1] = 'N';
    extra[2] = (char)pad;
    zip_fileinfo info = {.tmz_date = {.tm_mday = 1, .tm_year = 1980}};
    int got = zipOpenNewFileInZip4_64(o->zip, name, &info, extra, pad + 4, NULL, 0, NULL, 0, 0,
                                      0, -MAX_WBITS, DEF_MEM_LEVEL, Z_DEFAULT_STRATEGY, NULL, 0,
                                      0, UTF8, large);
    TRY(answer(w, got));
    return answer(w, zipWriteInFileInZip(o->zip, header, (unsigned)length));
}

static tn_status bytes(tn_writer *w, const void *data, int64_t n)
{
    own *o = w->own;
    for (int64_t i = 0; i < n; i += 1 << 30)
        TRY(answer(w, zipWriteInFileInZip(o->zip, (const char *)data + i,
                                          n - i < (1 << 30) ? (unsigned)(n - i) : 1u << 30)));
    return TN_OK;
}

static tn_status leave(tn_writer *w, const tni_slot *slot)
{
    own *o = w->own;
    (void)slot;
    return answer(w, zipCloseFileInZip(o->zip));
}

static tn_status finish(tn_writer *w)
{
    own *o = w->own;
    int got = zipClose(o->zip, NULL);
    o->zip = NULL;
    return answer(w, got);
}

/* Closing is the only way to free what minizip holds; a status that is set keeps it from
 * writing. */
static void drop(tn_writer *w)
{
    own *o = w->own;
    if (o && o->zip) {
        if (o->status == TN_OK)
            o->status = TN_EIO;
        zipClose(o->zip, NULL);
    }
    tni_free(o);
}

const tni_style tni_npz_style = {".npz", true,  TNI_HOST_BIG, begin, enter,
                                 bytes,  leave, finish,       drop};
