/* unpack.c - reading members of .npz, stored or deflated.
 *
 * Output never exceeds the size of its buffer; the checksum is compared at the end of the
 * member. */
#include <string.h>

#include <zlib.h>

#include "io/io.h"
#include "io/sys.h"

enum { PIECE = 1 << 16, MOST = 1 << 24 /* MOST: bytes that zlib produces per call */ };

/* A member being read sequentially. */
typedef struct source {
    const tn_file *f;
    int64_t at, left; /* packed bytes: offset of the next one, number left */
    bool deflated, ended;
    z_stream z;
    uint32_t crc;
    uint8_t in[PIECE], out[PIECE]; /* out: on its way to a file descriptor */
} source;

static tn_status fail_unpack(const source *s, const char *what)
{
    return tni_fail(TN_EFORMAT, "%s: byte %lld: %s", s->f->path, (long long)s->at, what);
}

static tn_status start(source *s, const tn_file *f, int64_t at, int64_t packed, bool deflated)
{
    s->f = f;
    s->at = at;
    s->left = packed;
    s->deflated = deflated;
    s->ended = false;
    s->crc = 0;
    memset(&s->z, 0, sizeof s->z);
    if (deflated && inflateInit2(&s->z, -MAX_WBITS) != Z_OK)
        return tni_no_memory(f->path, 1 << MAX_WBITS);
    return TN_OK;
}

static tn_status refill(source *s)
{
    int64_t n = s->left < PIECE ? s->left : PIECE;
    if (n == 0)
        return fail_unpack(s, "deflated data ends early");
    TRY(tni_file_bytes(s->f, s->in, n, s->at));
    s->at += n;
    s->left -= n;
    s->z.next_in = s->in;
    s->z.avail_in = (uInt)n;
    return TN_OK;
}

/* Inflate up to n bytes; fewer only at the end of the member. */
static tn_status inflate_some(source *s, uint8_t *out, int64_t n, int64_t *got)
{
    int64_t done = 0;
    while (done < n && !s->ended) {
        if (s->z.avail_in == 0)
            TRY(refill(s));
        uInt capacity = n - done < MOST ? (uInt)(n - done) : MOST;
        s->z.next_out = out + done;
        s->z.avail_out = capacity;
        int r = inflate(&s->z, Z_NO_FLUSH);
        done += capacity - s->z.avail_out;
        s->ended = r == Z_STREAM_END;
        if (r == Z_MEM_ERROR)
            return tni_no_memory(s->f->path, 1 << MAX_WBITS);
        if (r != Z_OK && r != Z_STREAM_END)
            return fail_unpack(s, "deflated data is damaged");
    }
    *got = done;
    return TN_OK;
}

static tn_status unpack_take(source *s, uint8_t *out, int64_t n, int64_t *got)
{
    if (s->deflated) {
        TRY(inflate_some(s, out, n, got));
    } else {
        *got = n < s->left ? n : s->left;
        TRY(tni_file_bytes(s->f, out, *got, s->at));
        s->at += *got;
        s->left -= *got;
    }
    ASSERT(*got >= 0 && *got <= n && s->left >= 0);
    s->crc = (uint32_t)crc32_z(s->crc, out, (size_t)*got);
    return TN_OK;
}

/* Skip n bytes or, with to_end, the rest of the member. */
static tn_status pass(source *s, int64_t n, bool to_end)
{
    uint8_t waste[1024];
    while (n > 0 || to_end) {
        int64_t want = n > 0 && n < (int64_t)sizeof waste ? n : (int64_t)sizeof waste, got;
        TRY(unpack_take(s, waste, want, &got));
        n -= got;
        if (got < want)
            break;
    }
    return n > 0 ? fail_unpack(s, "member ends inside its header") : TN_OK;
}

/* After the elements: read the rest and compare the checksum of the whole member. */
static tn_status end(source *s, const tni_entry *e)
{
    TRY(pass(s, 0, true));
    if (s->crc != e->crc)
        return tni_fail(TN_EFORMAT,
                        "%s: member \"%.80s\": checksum mismatch: stored %08x, computed %08x",
                        s->f->path, e->name, e->crc, s->crc);
    return TN_OK;
}

static tn_status unpack(source *s, const tni_entry *e, uint8_t *out)
{
    int64_t got, head = e->offset - (e->packing == TNI_DEFLATED ? 0 : e->member);
    ASSERT(head >= 0 && e->nbytes >= 0);
    TRY(pass(s, head, false));
    TRY(unpack_take(s, out, e->nbytes, &got));
    if (got < e->nbytes)
        return fail_unpack(s, "member ends inside its elements");
    return end(s, e);
}

/* Write the unpacked header and elements to fd. */
static tn_status unpack_to(source *s, const tni_entry *e, int fd)
{
    for (int64_t left = e->offset + e->nbytes, got; left > 0; left -= got) {
        int64_t n = left < PIECE ? left : PIECE;
        TRY(unpack_take(s, s->out, n, &got));
        if (got < n)
            return fail_unpack(s, "member ends inside its elements");
        int error = tni_sys_pwrite(fd, s->out, (size_t)got, -1);
        char words[80];
        if (error)
            return tni_fail(TN_EIO, "%s: cannot be unpacked: %s", s->f->path,
                            tni_sys_words(error, words, sizeof words));
    }
    return end(s, e);
}

static tn_status with_source(const tn_file *f, int64_t at, int64_t packed, bool deflated,
                             source **out)
{
    source *s = tni_alloc(sizeof *s);
    if (!s)
        return tni_no_memory(f->path, (int64_t)sizeof *s);
    tn_status status = start(s, f, at, packed, deflated);
    if (status != TN_OK)
        tni_free(s);
    else
        *out = s;
    return status;
}

static void stop(source *s)
{
    if (s->deflated)
        inflateEnd(&s->z);
    tni_free(s);
}

tn_status tni_unpack(const tn_file *f, const tni_entry *e, void *out)
{
    source *s = NULL;
    TRY(with_source(f, e->member, e->packed, e->packing == TNI_DEFLATED, &s));
    tn_status status = unpack(s, e, out);
    stop(s);
    return status;
}

tn_status tni_unpack_head(const tn_file *f, int64_t at, int64_t packed, uint8_t *out, int64_t n,
                          int64_t *got)
{
    source *s = NULL;
    TRY(with_source(f, at, packed, true, &s));
    tn_status status = unpack_take(s, out, n, got);
    stop(s);
    return status;
}

tn_status tn_file_unpack(const tn_file *f, int64_t i, int fd)
{
    const tni_entry *e = NULL;
    source *s = NULL;
    TRY(tni_file_entry(&f, i, "file_unpack", &e));
    if (e->packing != TNI_DEFLATED)
        return tni_fail(TN_EUNSUPPORTED, "%s: tensor \"%.80s\" is not compressed", f->path,
                        e->name);
    TRY(with_source(f, e->member, e->packed, true, &s));
    tn_status status = unpack_to(s, e, fd);
    stop(s);
    return status;
}
