/* zip_write.c - writing the records of a zip archive.
 *
 * All dates are the same, so that equal tensors make equal files.  Numbers that need more than
 * 32 bits are stored in extra fields. */
#include <string.h>

#include "zip.h"

enum {
    SHORT = 20, /* version needed to extract: without, and with 64-bit numbers */
    LONG = 45,
    UTF8 = 1 << 11,
    DATE = 1 << 5 | 1, /* the earliest date that zip can express */
    CRC_AT = 14,       /* offset of the checksum in a local header; the packed length follows */
    LONGEST_NAME = 4000,
    MOST_ALIGN = 64
};

/* Store x in n bytes; all ones if it does not fit: an extra field then has the 64-bit
 * number. */
static uint8_t *zip_put(uint8_t *to, uint64_t x, int n)
{
    uint64_t most = n < 8 ? ((uint64_t)1 << 8 * n) - 1 : UINT64_MAX;
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)((x < most ? x : most) >> 8 * i);
    return to + n;
}

/* True if lengths need 64 bits, or may need them: deflated data can be a little longer. */
static bool is_long(const tni_zip_written *m)
{
    return m->length >= UINT32_MAX - (m->method ? m->length / 1000 + 4096 : 0);
}

/* Write the fields from version to name length, which the local header and the directory's
 * record share. */
static uint8_t *put_facts(uint8_t *to, const tni_zip_written *m, bool wide, size_t name)
{
    bool lengths_long = is_long(m);
    to = zip_put(to, wide ? LONG : SHORT, 2);
    to = zip_put(to, UTF8, 2);
    to = zip_put(to, (uint64_t)m->method, 2);
    to = zip_put(to, (uint64_t)DATE << 16, 4);
    to = zip_put(to, m->crc, 4);
    to = zip_put(to, lengths_long ? UINT32_MAX : (uint64_t)m->packed, 4);
    to = zip_put(to, lengths_long ? UINT32_MAX : (uint64_t)m->length, 4);
    return zip_put(to, name, 2);
}

static tn_status append_name(tn_writer *w, const char *name, const char *suffix)
{
    TRY(tni_append(w, name, (int64_t)strlen(name)));
    return tni_append(w, suffix, (int64_t)strlen(suffix));
}

tn_status tni_zip_enter(tn_writer *w, tni_zip_written *m, const char *name, const char *suffix,
                        int64_t align)
{
    uint8_t local[TNI_ZIP_LOCAL], extra[TNI_ZIP_LONG_EXTRA + 4 + MOST_ALIGN] = {0},
                                                                 *end = extra;
    size_t n = strlen(name) + strlen(suffix);
    ASSERT(align >= 1 && align <= MOST_ALIGN);
    if (strlen(name) > LONGEST_NAME)
        return tni_fail(TN_EARG, "%s: name has %zu bytes, at most %d are allowed", w->path,
                        strlen(name), LONGEST_NAME);
    m->at = w->at;
    m->name_length = (int64_t)n;
    if (is_long(m)) {
        end = zip_put(zip_put(end, 1, 2), TNI_ZIP_LONG_EXTRA - 4, 2);
        end = zip_put(zip_put(end, (uint64_t)m->length, 8), (uint64_t)m->packed, 8);
    }
    int64_t unaligned = w->at + TNI_ZIP_LOCAL + (int64_t)n + (end - extra) + 4;
    int64_t pad = (align - unaligned % align) % align;
    end = zip_put(zip_put(end, 'T' | 'N' << 8, 2), (uint64_t)pad, 2) + pad;
    memcpy(local, "PK\3\4", 4);
    zip_put(put_facts(local + 4, m, is_long(m), n), (uint64_t)(end - extra), 2);
    TRY(tni_append(w, local, TNI_ZIP_LOCAL));
    TRY(append_name(w, name, suffix));
    return tni_append(w, extra, end - extra);
}

tn_status tni_zip_leave(tn_writer *w, const tni_zip_written *m)
{
    uint8_t crc[4], packed[8];
    zip_put(crc, m->crc, 4);
    zip_put(packed, (uint64_t)m->packed, 8);
    TRY(tni_write_at(w, crc, 4, m->at + CRC_AT));
    if (!m->method) /* its length was known */
        return TN_OK;
    if (is_long(m))
        return tni_write_at(w, packed, 8, m->at + TNI_ZIP_LOCAL + m->name_length + 4 + 8);
    return tni_write_at(w, packed, 4, m->at + CRC_AT + 4);
}

tn_status tni_zip_record(tn_writer *w, const tni_zip_written *m, const char *name,
                         const char *suffix)
{
    uint8_t raw[TNI_ZIP_CENTRAL] = "PK\1\2", extra[TNI_ZIP_LONG_EXTRA + 8], *end = extra + 4;
    bool far = m->at >= UINT32_MAX, wide = is_long(m) || far;
    if (is_long(m))
        end = zip_put(zip_put(end, (uint64_t)m->length, 8), (uint64_t)m->packed, 8);
    if (far)
        end = zip_put(end, (uint64_t)m->at, 8);
    zip_put(zip_put(extra, 1, 2), (uint64_t)(end - extra - 4), 2);
    zip_put(put_facts(raw + 6, m, wide, strlen(name) + strlen(suffix)),
            wide ? (uint64_t)(end - extra) : 0, 2);
    zip_put(raw + 42, (uint64_t)m->at, 4);
    TRY(tni_append(w, raw, TNI_ZIP_CENTRAL));
    TRY(append_name(w, name, suffix));
    return wide ? tni_append(w, extra, end - extra) : TN_OK;
}

tn_status tni_zip_finish(tn_writer *w, int64_t list, int64_t n)
{
    uint8_t wide[TNI_ZIP_LONG_END] = "PK\6\6", locator[TNI_ZIP_LOCATOR] = "PK\6\7";
    uint8_t end[TNI_ZIP_END] = "PK\5\6";
    uint64_t count = (uint64_t)n, bytes = (uint64_t)(w->at - list);
    zip_put(end + 8, count, 2);
    zip_put(end + 10, count, 2);
    zip_put(zip_put(end + 12, bytes, 4), (uint64_t)list, 4);
    if (count >= UINT16_MAX || w->at >= UINT32_MAX) {
        zip_put(wide + 4, TNI_ZIP_LONG_END - 12, 8);
        zip_put(zip_put(wide + 12, LONG, 2), LONG, 2);
        zip_put(zip_put(wide + 24, count, 8), count, 8);
        zip_put(zip_put(wide + 40, bytes, 8), (uint64_t)list, 8);
        zip_put(locator + 8, (uint64_t)w->at, 8);
        zip_put(locator + 16, 1, 4);
        TRY(tni_append(w, wide, TNI_ZIP_LONG_END));
        TRY(tni_append(w, locator, TNI_ZIP_LOCATOR));
    }
    return tni_append(w, end, TNI_ZIP_END);
}
