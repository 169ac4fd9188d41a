/* zip_read.c - listing the members of a zip archive from the central directory at its end.
 *
 * A damaged directory is an error of the file; damage of one member is noted in that member. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zip.h"

enum {
    MOST_RATIO = 1032, /* maximum expansion by deflate */
    SCRATCH = 1 << 16,
    LONGEST_COMMENT = 65535,
    SECRET = 1 << 0 | 1 << 5 | 1 << 6 | 1 << 13 /* flags: encrypted, or a patch */
};

_Static_assert(TNI_ZIP_END + LONGEST_COMMENT <= SCRATCH + TNI_ZIP_LONGEST_NAME,
               "the scratch of an opening file holds every offset of the end record");

static tn_status fail_zip(const tn_file *f, const char *what)
{
    return tni_fail(TN_EFORMAT, "%s: %s", f->path, what);
}

const char *tni_zip_sentence(tn_file *f, const char *what, const char *name)
{
    char text[200];
    snprintf(text, sizeof text, "%s \"%.80s\"", what, name);
    return tni_arena_text(&f->arena, text, strlen(text));
}

static tn_status note_damage(tn_file *f, tni_zip_member *m, const char *what)
{
    m->damaged = true;
    m->why = tni_zip_sentence(f, what, m->name);
    return m->why ? TN_OK : tni_no_memory(f->path, 200);
}

static uint64_t zip_number(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

/* Replace each 32-bit number that is all ones by its 64-bit value from the extra field, which
 * has them in this order. */
static bool long_numbers(tni_zip_member *m, const uint8_t *extra, int left)
{
    uint64_t *const wanted[] = {&m->length, &m->packed, &m->local};
    bool any = m->length == UINT32_MAX || m->packed == UINT32_MAX || m->local == UINT32_MAX;
    for (int size; any && left >= 4; left -= 4 + size, extra += 4 + size) {
        size = (int)zip_number(extra + 2, 2);
        if (size > left - 4)
            return false;
        const uint8_t *at = extra + 4, *end = at + size;
        for (int i = 0; zip_number(extra, 2) == 1 && i < COUNT(wanted); i++)
            if (*wanted[i] == UINT32_MAX) {
                if (end - at < 8)
                    return false;
                *wanted[i] = zip_number(at, 8);
                at += 8;
            }
        if (zip_number(extra, 2) == 1)
            return true;
    }
    return !any;
}

static bool has(const tn_file *f, uint64_t at, uint64_t n)
{
    return at <= (uint64_t)f->size && n <= (uint64_t)f->size - at;
}

/* Read the record at *at of the directory and advance *at to the next one. */
static tn_status read_record(tn_file *f, uint64_t *at, tni_zip_member *m, uint8_t *scratch)
{
    static const char damaged[] = "central directory is damaged";
    uint8_t raw[TNI_ZIP_CENTRAL];
    if (!has(f, *at, TNI_ZIP_CENTRAL))
        return fail_zip(f, damaged);
    TRY(tni_file_bytes(f, raw, TNI_ZIP_CENTRAL, (int64_t)*at));
    *m = (tni_zip_member){.packed = zip_number(raw + 20, 4),
                          .length = zip_number(raw + 24, 4),
                          .local = zip_number(raw + 42, 4),
                          .crc = (uint32_t)zip_number(raw + 16, 4),
                          .flags = (int)zip_number(raw + 8, 2),
                          .method = (int)zip_number(raw + 10, 2),
                          .name_length = (int)zip_number(raw + 28, 2)};
    int extra = (int)zip_number(raw + 30, 2), comment = (int)zip_number(raw + 32, 2);
    uint64_t rest = (uint64_t)m->name_length + (uint64_t)extra;
    if (memcmp(raw, "PK\1\2", 4) != 0 || !has(f, *at + TNI_ZIP_CENTRAL, rest))
        return fail_zip(f, damaged);
    if (m->name_length >= TNI_ZIP_LONGEST_NAME)
        return fail_zip(f, "a member's name is too long");
    char *name = tni_arena_take(&f->arena, (size_t)m->name_length + 1);
    if (!name)
        return tni_no_memory(f->path, m->name_length);
    TRY(tni_file_bytes(f, name, m->name_length, (int64_t)*at + TNI_ZIP_CENTRAL));
    TRY(tni_file_bytes(f, scratch, extra, (int64_t)*at + TNI_ZIP_CENTRAL + m->name_length));
    name[m->name_length] = 0;
    m->name = name;
    if ((int)strlen(name) != m->name_length || !long_numbers(m, scratch, extra))
        return fail_zip(f, damaged);
    *at += TNI_ZIP_CENTRAL + rest + (uint64_t)comment;
    return TN_OK;
}

/* Find the member's bytes from its local header, which repeats the record and gives their
 * offset. */
static tn_status find_data(tn_file *f, tni_zip_member *m, uint8_t *scratch)
{
    uint8_t raw[TNI_ZIP_LOCAL];
    uint64_t name = (uint64_t)m->name_length;
    if (!has(f, m->local, TNI_ZIP_LOCAL + name))
        return note_damage(f, m, "file ends before member");
    TRY(tni_file_bytes(f, raw, TNI_ZIP_LOCAL, (int64_t)m->local));
    TRY(tni_file_bytes(f, scratch, m->name_length, (int64_t)m->local + TNI_ZIP_LOCAL));
    if (memcmp(raw, "PK\3\4", 4) != 0 || (int)zip_number(raw + 8, 2) != m->method ||
        zip_number(raw + 26, 2) != name || memcmp(scratch, m->name, (size_t)name) != 0)
        return note_damage(f, m,
                           "no local header at the offset in the central directory: member");
    m->data = m->local + TNI_ZIP_LOCAL + name + zip_number(raw + 28, 2);
    if (!has(f, m->data, m->packed))
        return note_damage(f, m, "file ends inside member");
    if (m->method ? m->length / MOST_RATIO > m->packed + 1 : m->length != m->packed)
        return note_damage(f, m, "inconsistent lengths of member");
    return TN_OK;
}

static tn_status read_member(tn_file *f, uint64_t *at, tni_zip_member *m, uint8_t *scratch)
{
    char how[32];
    TRY(read_record(f, at, m, scratch));
    if (m->flags & SECRET) {
        m->why = "encrypted";
    } else if (m->method != 0 && m->method != TNI_ZIP_DEFLATE) {
        int n = snprintf(how, sizeof how, "compressed by method %d", m->method);
        m->why = tni_arena_text(&f->arena, how, (size_t)n);
        if (!m->why)
            return tni_no_memory(f->path, (int64_t)sizeof how);
    } else {
        return find_data(f, m, scratch);
    }
    return TN_OK;
}

/* Find the last end record: nothing but a comment may follow it.  scratch holds every offset
 * where it may begin. */
static tn_status find_end(const tn_file *f, uint8_t *scratch, int64_t *at, uint8_t *end)
{
    const int64_t tails[] = {TNI_ZIP_END, TNI_ZIP_END + LONGEST_COMMENT};
    for (int k = 0; k < COUNT(tails); k++) {
        int64_t n = f->size < tails[k] ? f->size : tails[k];
        TRY(tni_file_bytes(f, scratch, n, f->size - n));
        for (int64_t i = n - TNI_ZIP_END; i >= 0; i--)
            if (!memcmp(scratch + i, "PK\5\6", 4) &&
                (int64_t)zip_number(scratch + i + 20, 2) <= n - TNI_ZIP_END - i) {
                *at = f->size - n + i;
                memcpy(end, scratch + i, TNI_ZIP_END);
                return TN_OK;
            }
    }
    return fail_zip(f, "central directory is missing or damaged");
}

/* Offset of the directory, number of its records, and its end. */
typedef struct directory {
    uint64_t at, count, end;
} directory;

/* Find the directory; if a long end record precedes the end record, it has the numbers. */
static tn_status find_directory(const tn_file *f, uint8_t *scratch, directory *d)
{
    static const char damaged[] = "central directory is damaged";
    uint8_t end[TNI_ZIP_END], more[TNI_ZIP_LONG_END];
    int64_t at = 0;
    TRY(find_end(f, scratch, &at, end));
    *d = (directory){zip_number(end + 16, 4), zip_number(end + 10, 2), (uint64_t)at};
    uint64_t bytes = zip_number(end + 12, 4);
    if (at >= TNI_ZIP_LOCATOR) {
        TRY(tni_file_bytes(f, more, TNI_ZIP_LOCATOR, at - TNI_ZIP_LOCATOR));
        uint64_t offset = zip_number(more + 8, 8);
        if (!memcmp(more, "PK\6\7", 4)) {
            if (!has(f, offset, TNI_ZIP_LONG_END))
                return fail_zip(f, damaged);
            TRY(tni_file_bytes(f, more, TNI_ZIP_LONG_END, (int64_t)offset));
            if (memcmp(more, "PK\6\6", 4) != 0)
                return fail_zip(f, damaged);
            *d = (directory){zip_number(more + 48, 8), zip_number(more + 32, 8), offset};
            bytes = zip_number(more + 40, 8);
        }
    }
    if (d->at > d->end || bytes > d->end - d->at || d->count > bytes / TNI_ZIP_CENTRAL)
        return fail_zip(f, damaged);
    d->end = d->at + bytes;
    return TN_OK;
}

static int by_data(const void *a, const void *b, void *user)
{
    const tni_zip_member *ms = user, *x = &ms[*(const int64_t *)a];
    const tni_zip_member *y = &ms[*(const int64_t *)b];
    return x->data != y->data ? (x->data < y->data ? -1 : 1) : 0;
}

/* No byte belongs to two members, or to a member and the directory, which begins at end. */
static tn_status check_disjoint(const tn_file *f, tni_zip_member *ms, int64_t *order, int64_t n,
                                uint64_t end)
{
    uint64_t used = 0;
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    qsort_r(order, (size_t)n, sizeof *order, by_data, ms);
    for (int64_t i = 0; i < n; i++) {
        const tni_zip_member *m = &ms[order[i]];
        if (m->why || m->packed == 0)
            continue;
        if (m->data < used || m->data > end || m->packed > end - m->data)
            return tni_fail(TN_EFORMAT, "%s: overlapping bytes: member \"%.80s\"", f->path,
                            m->name);
        used = m->data + m->packed;
    }
    return TN_OK;
}

static tn_status list(tn_file *f, uint8_t *scratch, tni_zip_member **members, int64_t *count)
{
    directory d;
    TRY(find_directory(f, scratch, &d));
    int64_t n = (int64_t)d.count, first = (int64_t)d.at;
    tni_zip_member *ms = tni_arena_rows(&f->arena, n ? n : 1, sizeof *ms);
    if (!ms)
        return tni_no_memory(f->path, n * (int64_t)sizeof *ms);
    for (int64_t i = 0; i < n; i++)
        TRY(read_member(f, &d.at, &ms[i], scratch));
    if (d.at != d.end)
        return fail_zip(f, "central directory does not have the length it states");
    int64_t *order = tni_alloc((size_t)(n ? n : 1) * sizeof *order);
    if (!order)
        return tni_no_memory(f->path, n * (int64_t)sizeof *order);
    tn_status status = check_disjoint(f, ms, order, n, (uint64_t)first);
    tni_free(order);
    *members = ms;
    *count = n;
    return status;
}

tn_status tni_zip_list(tn_file *f, tni_zip_member **members, int64_t *count)
{
    uint8_t *scratch = tni_alloc(SCRATCH + TNI_ZIP_LONGEST_NAME);
    if (!scratch)
        return tni_no_memory(f->path, SCRATCH + TNI_ZIP_LONGEST_NAME);
    tn_status status = list(f, scratch, members, count);
    tni_free(scratch);
    return status;
}
