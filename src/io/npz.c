/* npz.c - reading .npz: minizip lists the members, each of which is a .npy.
 *
 * A member's bytes lie inside the file; a deflated one is no longer than deflate can make of
 * its bytes, so what is allocated for it is bounded by the size of the file. */
#include <stdio.h>
#include <string.h>

#include <minizip/unzip.h>

#include "io.h"

enum {
    BUFFER = 4096,
    LONGEST_NAME = 4096,
    MOST_RATIO = 1032,
    HEAD_BYTES = 1 << 16,
    END_RECORD = 22
};

/* The file as minizip reads it: byte by byte, so through a buffer. */
typedef struct stream {
    const tn_file *f;
    int64_t at, first, n;
    bool failed;
    char why[256]; /* the sentence of the failed read: minizip may go on for a while */
    uint8_t buffer[BUFFER];
} stream;

static voidpf z_open(voidpf user, const void *name, int mode)
{
    (void)name;
    (void)mode;
    return user;
}

static uLong z_read(voidpf user, voidpf handle, void *out, uLong n)
{
    stream *s = handle;
    uLong done = 0;
    (void)user;
    while (done < n && s->at < s->f->size) {
        if (s->at < s->first || s->at >= s->first + s->n) {
            s->first = s->at;
            s->n = s->f->size - s->at < BUFFER ? s->f->size - s->at : BUFFER;
            if (tni_file_bytes(s->f, s->buffer, s->n, s->first) != TN_OK) {
                s->failed = true;
                snprintf(s->why, sizeof s->why, "%s", tn_error());
                s->n = 0;
                break;
            }
        }
        uLong have = (uLong)(s->first + s->n - s->at);
        uLong piece = n - done < have ? n - done : have;
        memcpy((char *)out + done, s->buffer + (s->at - s->first), piece);
        s->at += (int64_t)piece;
        done += piece;
    }
    return done;
}

static uLong z_write(voidpf user, voidpf handle, const void *in, uLong n)
{
    (void)user;
    (void)handle;
    (void)in;
    (void)n;
    return 0;
}

static ZPOS64_T z_tell(voidpf user, voidpf handle)
{
    (void)user;
    return (ZPOS64_T)((stream *)handle)->at;
}

static long z_seek(voidpf user, voidpf handle, ZPOS64_T offset, int origin)
{
    stream *s = handle;
    (void)user;
    int64_t from = origin == ZLIB_FILEFUNC_SEEK_SET   ? 0
                   : origin == ZLIB_FILEFUNC_SEEK_CUR ? s->at
                                                      : s->f->size;
    if (offset > (ZPOS64_T)(s->f->size - from))
        return -1;
    s->at = from + (int64_t)offset;
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
    return ((stream *)handle)->failed;
}

static tn_status broken(const tn_file *f, const char *what, const char *name)
{
    return tni_fail(TN_EFORMAT, "%s: %s%s%.80s%s", f->path, what, *name ? " \"" : "", name,
                    *name ? "\"" : "");
}

/* The .npy header of the member, whose packed bytes lie at e->member; shape and type go into e
 * and h.  A member that is no array of ours is left with dtype 0. */
static tn_status read_head(const tn_file *f, tni_entry *e, int64_t length, uint8_t *head,
                           tni_npy *h)
{
    int64_t got = 0, whole = 0;
    if (e->packing == TNI_DEFLATED) {
        TRY(tni_unpack_head(f, e->member, e->packed, head, HEAD_BYTES, &got));
    } else {
        got = length < HEAD_BYTES ? length : HEAD_BYTES;
        TRY(tni_file_bytes(f, head, got, e->member));
    }
    if (got > length)
        got = length;
    tn_status status = got < 6 || memcmp(head, "\x93NUMPY", 6) != 0
                           ? TN_EUNSUPPORTED
                           : tni_npy_length(f->path, head, got, &whole);
    if (status == TN_OK && whole > got)
        return broken(f, "the header ends outside of member", e->name);
    if (status == TN_OK)
        status = tni_npy_parse(h, f->path, head, whole);
    if (status == TN_EUNSUPPORTED) {
        e->type = h->descr[0] ? h->descr : "?";
        return TN_OK;
    }
    TRY(status);
    if (h->nbytes > length - whole) {
        char text[TNI_SHAPE_TEXT];
        return tni_fail(TN_EFORMAT, "%s: member \"%.80s\" says %s = %lld bytes, it has %lld",
                        f->path, e->name,
                        tni_shape_text(text, h->ndim, h->shape, tn_dtype_name(h->dtype)),
                        (long long)h->nbytes, (long long)(length - whole));
    }
    e->type = h->descr;
    e->dtype = h->dtype;
    e->no_shape = false;
    e->ndim = (int8_t)h->ndim;
    e->nbytes = h->nbytes;
    e->fortran = h->fortran && h->ndim > 1;
    e->swapped = h->swapped;
    e->offset = (e->packing == TNI_DEFLATED ? 0 : e->member) + whole;
    return TN_OK;
}

static tn_status add_member(tn_file *f, unzFile zip, uint8_t *head, char *name)
{
    unz_file_info64 info;
    tni_npy h = {.descr = ""};
    int method;
    if (unzGetCurrentFileInfo64(zip, &info, name, LONGEST_NAME, NULL, 0, NULL, 0) != UNZ_OK)
        return broken(f, "the list of members is broken", "");
    if (info.size_filename >= LONGEST_NAME || strlen(name) != info.size_filename)
        return broken(f, "a member's name is too long or has a zero byte", "");
    size_t n = info.size_filename;
    if (n > 4 && !strcmp(name + n - 4, ".npy"))
        name[n - 4] = 0;
    tni_entry e = {.name = name,
                   .type = "?",
                   .shape = h.shape,
                   .no_shape = true,
                   .crc = (uint32_t)info.crc};
    bool readable = !(info.flag & 1) &&
                    (info.compression_method == 0 || info.compression_method == Z_DEFLATED);
    if (!readable)
        return tni_file_add(f, &e);
    if (unzOpenCurrentFile2(zip, &method, NULL, 1) != UNZ_OK)
        return broken(f, "no member is where the list says:", name);
    e.member = (int64_t)unzGetCurrentFileZStreamPos64(zip);
    unzCloseCurrentFile(zip);
    uint64_t left = e.member < 0 || e.member > f->size ? 0 : (uint64_t)(f->size - e.member);
    if (info.compressed_size > left)
        return broken(f, "the file ends inside member", name);
    e.packed = (int64_t)info.compressed_size;
    e.packing = info.compression_method ? TNI_DEFLATED : TNI_STORED;
    uint64_t most = e.packing == TNI_DEFLATED ? info.compressed_size * MOST_RATIO + 64
                                              : info.compressed_size;
    if (info.uncompressed_size > most ||
        (e.packing == TNI_STORED && info.uncompressed_size != info.compressed_size))
        return broken(f, "lengths that cannot be in member", name);
    TRY(read_head(f, &e, (int64_t)info.uncompressed_size, head, &h));
    return tni_file_add(f, &e);
}

static tn_status add_members(tn_file *f, unzFile zip, uint8_t *head, char *name)
{
    unz_global_info64 all;
    if (unzGetGlobalInfo64(zip, &all) != UNZ_OK)
        return broken(f, "the list of members is broken", "");
    int step = all.number_entry ? unzGoToFirstFile(zip) : UNZ_END_OF_LIST_OF_FILE;
    for (ZPOS64_T i = 0; i < all.number_entry; i++) {
        if (step != UNZ_OK)
            return broken(f, "the list of members is broken", "");
        TRY(add_member(f, zip, head, name));
        step = unzGoToNextFile(zip);
    }
    return TN_OK;
}

/* A zip without members is its end record alone, which minizip does not look for. */
static bool is_empty(const tn_file *f)
{
    uint8_t end[END_RECORD];
    return f->size == END_RECORD && tni_file_bytes(f, end, END_RECORD, 0) == TN_OK &&
           !memcmp(end, "PK\5\6\0\0\0\0\0\0\0\0", 12);
}

tn_status tni_npz_open(tn_file *f)
{
    if (is_empty(f))
        return TN_OK;
    uint8_t *head = tni_alloc(HEAD_BYTES + LONGEST_NAME);
    stream *s = tni_alloc(sizeof *s);
    tn_status status = head && s ? TN_OK : tni_no_memory(f->path, HEAD_BYTES);
    if (status == TN_OK) {
        *s = (stream){.f = f};
        zlib_filefunc64_def calls = {z_open, z_read,  z_write, z_tell,
                                     z_seek, z_close, z_error, s};
        unzFile zip = unzOpen2_64("", &calls);
        status = zip ? add_members(f, zip, head, (char *)head + HEAD_BYTES)
                     : broken(f, "has no list of members, or one that is broken", "");
        if (zip)
            unzClose(zip);
        if (s->failed)
            status = tni_fail(TN_EIO, "%s", s->why);
    }
    tni_free(s);
    tni_free(head);
    return status;
}
