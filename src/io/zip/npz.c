/* npz.c - reading .npz: the list of members at the end of the zip, each of which is a .npy.
 *
 * A member's bytes lie inside the file and are no other's; a deflated one is no longer than
 * deflate can make of its bytes, so all that is read is bounded by the size of the file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zlib.h>

#include "io/io.h"

enum {
    LONGEST_NAME = 4096,
    MOST_RATIO = 1032,
    HEAD_BYTES = 1 << 16,
    LONGEST_COMMENT = 65535,
    SECRET = 1 << 0 | 1 << 5 | 1 << 6 | 1 << 13, /* flags: encrypted, or a patch */
    END_RECORD = 22,                             /* lengths of what a zip is made of */
    LONG_END_RECORD = 56,
    LOCATOR = 20,
    CENTRAL = 46,
    LOCAL = 30
};

_Static_assert(END_RECORD + LONGEST_COMMENT <= HEAD_BYTES + LONGEST_NAME,
               "the scratch of an opening file holds every place of the end record");

static tn_status fail_zip(const tn_file *f, const char *what, const char *name)
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
        return fail_zip(f, "header extends past member", e->name);
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
    int flags, method, name, extra, comment; /* the last three: lengths */
} record;

static uint64_t number(const uint8_t *at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)at[i] << 8 * i;
    return x;
}

/* Numbers of more than 32 bits stand in an extra field, in this order, where the short ones are
 * all ones. */
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
        return fail_zip(f, "central directory is damaged", "");
    TRY(tni_file_bytes(f, raw, CENTRAL, (int64_t)at));
    *r = (record){.packed = number(raw + 20, 4),
                  .length = number(raw + 24, 4),
                  .local = number(raw + 42, 4),
                  .crc = (uint32_t)number(raw + 16, 4),
                  .flags = (int)number(raw + 8, 2),
                  .method = (int)number(raw + 10, 2),
                  .name = (int)number(raw + 28, 2),
                  .extra = (int)number(raw + 30, 2),
                  .comment = (int)number(raw + 32, 2)};
    uint64_t rest = (uint64_t)r->name + (uint64_t)r->extra;
    if (memcmp(raw, "PK\1\2", 4) != 0 || !has(f, at + CENTRAL, rest))
        return fail_zip(f, "central directory is damaged", "");
    if (r->name >= LONGEST_NAME)
        return fail_zip(f, "a member's name is too long", "");
    TRY(tni_file_bytes(f, name, r->name, (int64_t)at + CENTRAL));
    TRY(tni_file_bytes(f, scratch, r->extra, (int64_t)at + CENTRAL + r->name));
    name[r->name] = 0;
    if ((int)strlen(name) != r->name || !long_numbers(r, scratch))
        return fail_zip(f, "central directory is damaged", "");
    return TN_OK;
}

/* The local header says again what the record says, and how far the bytes are behind it. */
static tn_status find_data(const tn_file *f, record *r, const char *name, uint8_t *scratch)
{
    uint8_t raw[LOCAL];
    uint64_t first = r->local + LOCAL + (uint64_t)r->name;
    if (!has(f, r->local, LOCAL + (uint64_t)r->name))
        return fail_zip(f, "file ends before member", name);
    TRY(tni_file_bytes(f, raw, LOCAL, (int64_t)r->local));
    TRY(tni_file_bytes(f, scratch, r->name, (int64_t)r->local + LOCAL));
    if (memcmp(raw, "PK\3\4", 4) != 0 || (int)number(raw + 8, 2) != r->method ||
        (int)number(raw + 26, 2) != r->name || memcmp(scratch, name, (size_t)r->name) != 0)
        return fail_zip(f, "no local header where the central directory says:", name);
    r->data = first + number(raw + 28, 2);
    return has(f, r->data, r->packed) ? TN_OK : fail_zip(f, "file ends inside member", name);
}

/* The member whose record is at *at, which moves to the next one. */
static tn_status add_member(tn_file *f, uint64_t *at, uint8_t *head, char *name)
{
    record r = {0};
    tni_npy h = {.descr = ""};
    char how[24] = "encrypted";
    TRY(read_record(f, *at, &r, name, head));
    *at += CENTRAL + (uint64_t)r.name + (uint64_t)r.extra + (uint64_t)r.comment;
    tni_entry e = {.name = name, .type = how, .shape = h.shape, .no_shape = true, .crc = r.crc};
    bool readable = !(r.flags & SECRET) && (r.method == 0 || r.method == Z_DEFLATED);
    if (readable)
        TRY(find_data(f, &r, name, head));
    else if (!(r.flags & SECRET))
        snprintf(how, sizeof how, "packed by method %d", r.method);
    if (r.name > 4 && !strcmp(name + r.name - 4, ".npy"))
        name[r.name - 4] = 0;
    if (!readable)
        return tni_file_add(f, &e);
    e.member = (int64_t)r.data;
    e.packed = (int64_t)r.packed;
    e.packing = r.method ? TNI_DEFLATED : TNI_STORED;
    if (e.packing == TNI_DEFLATED ? r.length / MOST_RATIO > r.packed + 1 : r.length != r.packed)
        return fail_zip(f, "impossible lengths of member", name);
    TRY(read_head(f, &e, (int64_t)r.length, head, &h));
    return tni_file_add(f, &e);
}

/* The last end record: before it only a list, behind it only a comment.  scratch holds all
 * places where it may be. */
static tn_status find_end(const tn_file *f, uint8_t *scratch, int64_t *at, uint8_t *end)
{
    const int64_t tails[] = {END_RECORD, END_RECORD + LONGEST_COMMENT};
    for (int k = 0; k < COUNT(tails); k++) {
        int64_t n = f->size < tails[k] ? f->size : tails[k];
        TRY(tni_file_bytes(f, scratch, n, f->size - n));
        for (int64_t i = n - END_RECORD; i >= 0; i--)
            if (!memcmp(scratch + i, "PK\5\6", 4) &&
                (int64_t)number(scratch + i + 20, 2) <= n - END_RECORD - i) {
                *at = f->size - n + i;
                memcpy(end, scratch + i, END_RECORD);
                return TN_OK;
            }
    }
    return fail_zip(f, "central directory is missing or damaged", "");
}

/* Where the list begins, how many records it has, and where it must end. */
typedef struct listing {
    uint64_t at, count, end;
} listing;

/* A long end record stands before the end record of a list that it alone can describe. */
static tn_status find_list(const tn_file *f, uint8_t *scratch, listing *list)
{
    uint8_t end[END_RECORD], more[LONG_END_RECORD];
    int64_t at = 0;
    TRY(find_end(f, scratch, &at, end));
    *list = (listing){number(end + 16, 4), number(end + 10, 2), (uint64_t)at};
    uint64_t bytes = number(end + 12, 4);
    if (at >= LOCATOR) {
        TRY(tni_file_bytes(f, more, LOCATOR, at - LOCATOR));
        uint64_t place = number(more + 8, 8);
        if (!memcmp(more, "PK\6\7", 4)) {
            if (!has(f, place, LONG_END_RECORD))
                return fail_zip(f, "central directory is damaged", "");
            TRY(tni_file_bytes(f, more, LONG_END_RECORD, (int64_t)place));
            if (memcmp(more, "PK\6\6", 4) != 0)
                return fail_zip(f, "central directory is damaged", "");
            *list = (listing){number(more + 48, 8), number(more + 32, 8), place};
            bytes = number(more + 40, 8);
        }
    }
    if (list->at > list->end || bytes > list->end - list->at || list->count > bytes / CENTRAL)
        return fail_zip(f, "central directory is damaged", "");
    list->end = list->at + bytes;
    return TN_OK;
}

static int by_place(const void *a, const void *b, void *user)
{
    const tni_entry *entries = user, *x = &entries[*(const int64_t *)a];
    const tni_entry *y = &entries[*(const int64_t *)b];
    return x->member != y->member ? (x->member < y->member ? -1 : 1) : 0;
}

/* No byte is in two members, or in one and in the list, which begins at end. */
static tn_status keep_apart(const tn_file *f, int64_t *order, int64_t end)
{
    int64_t used = 0;
    for (int64_t i = 0; i < f->count; i++)
        order[i] = i;
    qsort_r(order, (size_t)f->count, sizeof *order, by_place, f->entries);
    for (int64_t i = 0; i < f->count; i++) {
        const tni_entry *e = &f->entries[order[i]];
        if (e->packed > 0 && (e->member < used || e->packed > end - e->member))
            return fail_zip(f, "overlapping bytes: member", e->name);
        used = e->packed > 0 ? e->member + e->packed : used;
    }
    return TN_OK;
}

static tn_status add_members(tn_file *f, uint8_t *head, char *name)
{
    listing list;
    TRY(find_list(f, head, &list));
    int64_t first = (int64_t)list.at, bytes = (int64_t)(list.count * sizeof first);
    for (uint64_t i = 0; i < list.count; i++)
        TRY(add_member(f, &list.at, head, name));
    if (list.at != list.end)
        return fail_zip(f, "central directory has another length than it states", "");
    int64_t *order = list.count ? tni_alloc((size_t)bytes) : NULL;
    if (list.count && !order)
        return tni_no_memory(f->path, bytes);
    tn_status status = list.count ? keep_apart(f, order, first) : TN_OK;
    tni_free(order);
    return status;
}

tn_status tni_npz_open(tn_file *f)
{
    uint8_t *head = tni_alloc(HEAD_BYTES + LONGEST_NAME);
    if (!head)
        return tni_no_memory(f->path, HEAD_BYTES + LONGEST_NAME);
    tn_status status = add_members(f, head, (char *)head + HEAD_BYTES);
    tni_free(head);
    return status;
}
