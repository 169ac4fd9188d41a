/* npz_write.c - .npz as it is written: stored members, then the list of them.
 *
 * An extra field in front of each member brings its elements to a multiple of 64 in the file,
 * so that they can be mapped aligned; the date is that of no day, so equal tensors make equal
 * files.  Lengths are known when a member begins; its checksum is put in when it ends. */
#include <string.h>

#include <zlib.h>

#include "io/write.h"

enum {
    LOCAL = 30, /* lengths of what a zip is made of */
    CENTRAL = 46,
    LONG_EXTRA = 20, /* two numbers of 64 bits */
    LONG_END_RECORD = 56,
    LOCATOR = 20,
    END_RECORD = 22,
    PLAIN = 20, /* versions of the format: without, and with 64-bit numbers */
    LONG = 45,
    UTF8 = 1 << 11,
    DATE = 1 << 5 | 1, /* the first day that a zip can name */
    CRC_AT = 14,       /* of the checksum in a local header */
    LONGEST_NAME = 4000,
    ALIGN = 64
};

typedef struct member {
    int64_t at, length; /* of the local header; of the .npy */
    uint32_t crc;
} member;

/* x as n bytes; a number that does not fit is all ones, and stands in long form elsewhere. */
static uint8_t *put(uint8_t *to, uint64_t x, int n)
{
    uint64_t most = n < 8 ? ((uint64_t)1 << 8 * n) - 1 : UINT64_MAX;
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)((x < most ? x : most) >> 8 * i);
    return to + n;
}

static bool is_long(int64_t x)
{
    return x >= UINT32_MAX;
}

static member *present(const tn_writer *w)
{
    return (member *)w->own + w->now;
}

static tn_status begin(tn_writer *w)
{
    size_t size = (size_t)w->n * sizeof(member);
    w->own = tni_arena_take(&w->arena, size);
    return w->own ? TN_OK : tni_no_memory(w->path, (int64_t)size);
}

/* What the local header and the record in the list share: version to name's length. */
static uint8_t *put_facts(uint8_t *to, const member *m, bool wide, size_t name)
{
    to = put(to, wide ? LONG : PLAIN, 2);
    to = put(to, UTF8, 2);
    to = put(to, 0, 2); /* stored */
    to = put(to, (uint64_t)DATE << 16, 4);
    to = put(to, m->crc, 4);
    to = put(to, (uint64_t)m->length, 4);
    to = put(to, (uint64_t)m->length, 4);
    return put(to, name, 2);
}

static tn_status append_name(tn_writer *w, const char *name)
{
    TRY(tni_append(w, name, (int64_t)strlen(name)));
    return tni_append(w, ".npy", 4);
}

static tn_status append_bytes(tn_writer *w, const void *data, int64_t n)
{
    member *m = present(w);
    m->crc = (uint32_t)crc32_z(m->crc, data, (size_t)n);
    return tni_append(w, data, n);
}

static tn_status enter(tn_writer *w, const tni_slot *slot)
{
    char header[TNI_NPY_WRITTEN];
    uint8_t local[LOCAL], extra[LONG_EXTRA + 4 + ALIGN] = {0}, *end = extra;
    size_t n = strlen(slot->name);
    if (n > LONGEST_NAME)
        return tni_fail(TN_EARG, "%s: name has %zu bytes, at most %d are allowed", w->path, n,
                        LONGEST_NAME);
    int64_t head = tni_npy_header(header, slot->dtype, slot->ndim, slot->shape);
    if (slot->nbytes > INT64_MAX - head)
        return tni_fail(TN_EOVERFLOW, "%s: tensor \"%.80s\" and its header do not fit", w->path,
                        slot->name);
    member *m = present(w);
    *m = (member){.at = w->at, .length = head + slot->nbytes};
    if (is_long(m->length)) {
        end = put(put(end, 1, 2), LONG_EXTRA - 4, 2);
        end = put(put(end, (uint64_t)m->length, 8), (uint64_t)m->length, 8);
    }
    int64_t plain = w->at + LOCAL + (int64_t)n + 4 + (end - extra) + 4;
    int64_t pad = (ALIGN - plain % ALIGN) % ALIGN;
    end = put(put(end, 'T' | 'N' << 8, 2), (uint64_t)pad, 2) + pad;
    memcpy(local, "PK\3\4", 4);
    put(put_facts(local + 4, m, is_long(m->length), n + 4), (uint64_t)(end - extra), 2);
    TRY(tni_append(w, local, LOCAL));
    TRY(append_name(w, slot->name));
    TRY(tni_append(w, extra, end - extra));
    return append_bytes(w, header, head);
}

static tn_status leave(tn_writer *w, const tni_slot *slot)
{
    const member *m = present(w);
    uint8_t crc[4];
    (void)slot;
    put(crc, m->crc, 4);
    return tni_write_at(w, crc, 4, m->at + CRC_AT);
}

/* The record of a member in the list. */
static tn_status append_record(tn_writer *w, const member *m, const char *name)
{
    uint8_t raw[CENTRAL] = "PK\1\2", extra[LONG_EXTRA + 8], *end = extra + 4;
    bool far = is_long(m->at), wide = is_long(m->length) || far;
    if (is_long(m->length))
        end = put(put(end, (uint64_t)m->length, 8), (uint64_t)m->length, 8);
    if (far)
        end = put(end, (uint64_t)m->at, 8);
    put(put(extra, 1, 2), (uint64_t)(end - extra - 4), 2);
    put(put_facts(raw + 6, m, wide, strlen(name) + 4), wide ? (uint64_t)(end - extra) : 0, 2);
    put(raw + 42, (uint64_t)m->at, 4);
    TRY(tni_append(w, raw, CENTRAL));
    TRY(append_name(w, name));
    return wide ? tni_append(w, extra, end - extra) : TN_OK;
}

/* Records that say where the list is; the long ones where the numbers need it. */
static tn_status append_end(tn_writer *w, int64_t list)
{
    uint8_t wide[LONG_END_RECORD] = "PK\6\6", locator[LOCATOR] = "PK\6\7";
    uint8_t end[END_RECORD] = "PK\5\6";
    uint64_t n = (uint64_t)w->n, bytes = (uint64_t)(w->at - list);
    put(end + 8, n, 2);
    put(end + 10, n, 2);
    put(put(end + 12, bytes, 4), (uint64_t)list, 4);
    if (n >= UINT16_MAX || is_long(w->at)) {
        put(wide + 4, LONG_END_RECORD - 12, 8);
        put(put(wide + 12, LONG, 2), LONG, 2);
        put(put(wide + 24, n, 8), n, 8);
        put(put(wide + 40, bytes, 8), (uint64_t)list, 8);
        put(locator + 8, (uint64_t)w->at, 8);
        put(locator + 16, 1, 4);
        TRY(tni_append(w, wide, LONG_END_RECORD));
        TRY(tni_append(w, locator, LOCATOR));
    }
    return tni_append(w, end, END_RECORD);
}

static tn_status finish(tn_writer *w)
{
    const member *members = w->own;
    int64_t list = w->at;
    for (int i = 0; i < w->n; i++)
        TRY(append_record(w, &members[i], w->slots[i].name));
    return append_end(w, list);
}

const tni_format tni_npz_format = {.suffix = ".npz",
                                   .many = true,
                                   .swaps = TNI_HOST_BIG,
                                   .begin = begin,
                                   .enter = enter,
                                   .bytes = append_bytes,
                                   .leave = leave,
                                   .finish = finish};
