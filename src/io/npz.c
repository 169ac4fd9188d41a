/* npz.c - reading .npz: minizip finds and walks the list of members, each of which is a .npy.
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
    END_RECORD = 22, /* lengths of what a zip is made of */
    CENTRAL = 46,
    LOCAL = 30
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

/* A record of the list, and where the member's bytes lie. */
typedef struct record {
    uint64_t packed, length, local, data;
    uint32_t crc;
    int flags, method, name, extra; /* name and extra: lengths */
} record;

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

/* Numbers of more than 32 bits stand in an extra field, in this order, where the short ones are
 * all ones.  (minizip reads them only where long has 32 bits.) */
static bool long_numbers(record *r, const uint8_t *extra)
{
    uint64_t *const wanted[] = {&r->length, &r->packed, &r->local};
    int left = r->extra;
    bool any = r->length == UINT32_MAX || r->packed == UINT32_MAX || r->local == UINT32_MAX;
    for (int size; any && left >= 4; left -= 4 + size, extra += 4 + size) {
        size = (int)number(extra + 2, 2);
        if (size > left - 4)
            return false;
        const uint8_t *at = extra + 4, *end = at + size;
        for (int i = 0; number(extra, 2) == 1 && i < COUNT(wanted); i++)
            if (*wanted[i] == UINT32_MAX) {
                if (end - at < 8)
                    return false;
                *wanted[i] = number(at, 8);
                at += 8;
            }
        if (number(extra, 2) == 1)
            return true;
    }
    return !any;
}

static bool has(const tn_file *f, uint64_t at, uint64_t n)
{
    return at <= (uint64_t)f->size && n <= (uint64_t)f->size - at;
}

/* The record at a place of the list; name gets its text, scratch holds 64 KiB. */
static tn_status read_record(const tn_file *f, uint64_t at, record *r, char *name,
                             uint8_t *scratch)
{
    uint8_t raw[CENTRAL];
    if (!has(f, at, CENTRAL))
        return broken(f, "the list of members is broken", "");
    TRY(tni_file_bytes(f, raw, CENTRAL, (int64_t)at));
    *r = (record){.packed = number(raw + 20, 4),
                  .length = number(raw + 24, 4),
                  .local = number(raw + 42, 4),
                  .crc = (uint32_t)number(raw + 16, 4),
                  .flags = (int)number(raw + 8, 2),
                  .method = (int)number(raw + 10, 2),
                  .name = (int)number(raw + 28, 2),
                  .extra = (int)number(raw + 30, 2)};
    uint64_t rest = (uint64_t)r->name + (uint64_t)r->extra;
    if (memcmp(raw, "PK\1\2", 4) != 0 || !has(f, at + CENTRAL, rest))
        return broken(f, "the list of members is broken", "");
    if (r->name >= LONGEST_NAME)
        return broken(f, "a member's name is too long", "");
    TRY(tni_file_bytes(f, name, r->name, (int64_t)at + CENTRAL));
    TRY(tni_file_bytes(f, scratch, r->extra, (int64_t)at + CENTRAL + r->name));
    name[r->name] = 0;
    if ((int)strlen(name) != r->name || !long_numbers(r, scratch))
        return broken(f, "the list of members is broken", "");
    return TN_OK;
}

/* The local header says again what the record says, and how far the bytes are behind it. */
static tn_status find_data(const tn_file *f, record *r, const char *name, uint8_t *scratch)
{
    uint8_t raw[LOCAL];
    uint64_t first = r->local + LOCAL + (uint64_t)r->name;
    if (!has(f, r->local, LOCAL + (uint64_t)r->name))
        return broken(f, "the file ends before member", name);
    TRY(tni_file_bytes(f, raw, LOCAL, (int64_t)r->local));
    TRY(tni_file_bytes(f, scratch, r->name, (int64_t)r->local + LOCAL));
    if (memcmp(raw, "PK\3\4", 4) != 0 || (int)number(raw + 8, 2) != r->method ||
        (int)number(raw + 26, 2) != r->name || memcmp(scratch, name, (size_t)r->name) != 0)
        return broken(f, "no member is where the list says:", name);
    r->data = first + number(raw + 28, 2);
    return has(f, r->data, r->packed) ? TN_OK : broken(f, "the file ends inside member", name);
}

static tn_status add_member(tn_file *f, uint64_t at, uint8_t *head, char *name)
{
    record r = {0};
    tni_npy h = {.descr = ""};
    TRY(read_record(f, at, &r, name, head));
    tni_entry e = {.name = name, .type = "?", .shape = h.shape, .no_shape = true, .crc = r.crc};
    bool readable = !(r.flags & 1) && (r.method == 0 || r.method == Z_DEFLATED);
    if (readable)
        TRY(find_data(f, &r, name, head));
    if (r.name > 4 && !strcmp(name + r.name - 4, ".npy"))
        name[r.name - 4] = 0;
    if (!readable)
        return tni_file_add(f, &e);
    e.member = (int64_t)r.data;
    e.packed = (int64_t)r.packed;
    e.packing = r.method ? TNI_DEFLATED : TNI_STORED;
    if (e.packing == TNI_DEFLATED ? r.length / MOST_RATIO > r.packed + 1 : r.length != r.packed)
        return broken(f, "lengths that cannot be in member", name);
    TRY(read_head(f, &e, (int64_t)r.length, head, &h));
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
        unz64_file_pos at;
        if (unzGetFilePos64(zip, &at) != UNZ_OK)
            return broken(f, "the list of members is broken", "");
        TRY(add_member(f, at.pos_in_zip_directory, head, name));
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
