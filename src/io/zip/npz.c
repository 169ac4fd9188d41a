/* npz.c - reading .npz: a zip archive whose members are .npy files.
 *
 * A member that is damaged or not an array is listed but cannot be read; the others can. */
#include <stdio.h>
#include <string.h>

#include "io/torch/torch.h"
#include "zip.h"

/* The header of a member must end within these bytes, which are inflated to list it.  NumPy's
 * headers of plain dtypes take 128 bytes; a header of version 1.0 has up to 64 KiB.  Not
 * measured. */
enum { HEAD_BYTES = 1 << 16 };

/* Mark the member as damaged, with the message of the last failure. */
static tn_status note_damage(tn_file *f, tni_entry *e)
{
    const char *why = tn_error();
    ASSERT(!strncmp(why, f->path, strlen(f->path)));
    why += strlen(f->path) + 2; /* skip the file's name and a colon */
    char text[400];
    int n = snprintf(text, sizeof text, "member \"%.80s\": %.300s", e->name, why);
    e->damage = tni_arena_text(&f->arena, text, (size_t)n);
    e->type = "damaged";
    e->dtype = 0;
    return e->damage ? TN_OK : tni_no_memory(f->path, (int64_t)sizeof text);
}

/* Read the first bytes of the member, at most HEAD_BYTES. */
static tn_status read_start(const tn_file *f, const tni_entry *e, int64_t length, uint8_t *head,
                            int64_t *got)
{
    if (e->packing == TNI_DEFLATED) {
        TRY(tni_unpack_head(f, e->member, e->packed, head, HEAD_BYTES, got));
        *got = *got < length ? *got : length;
        return TN_OK;
    }
    *got = length < HEAD_BYTES ? length : HEAD_BYTES;
    return tni_file_bytes(f, head, *got, e->member);
}

/* Read the member's .npy header; shape and type are stored in e and h.  A member that is not a
 * supported array keeps dtype 0. */
static tn_status read_head(const tn_file *f, tni_entry *e, int64_t length, uint8_t *head,
                           tni_npy *h)
{
    int64_t got = 0, whole = 0;
    TRY(read_start(f, e, length, head, &got));
    tn_status status = got < 6 || memcmp(head, "\x93NUMPY", 6) != 0
                           ? TN_EUNSUPPORTED
                           : tni_npy_length(f->path, head, got, &whole);
    if (status == TN_OK && whole > got)
        return tni_fail(TN_EFORMAT, "%s: header needs %lld bytes, the member has %lld", f->path,
                        (long long)whole, (long long)got);
    if (status == TN_OK)
        status = tni_npy_parse(h, f->path, head, whole);
    if (status == TN_EUNSUPPORTED) {
        e->type = h->descr[0] ? h->descr : "?";
        return TN_OK;
    }
    TRY(status);
    if (h->nbytes > length - whole) {
        char text[TNI_SHAPE_TEXT];
        return tni_fail(TN_EFORMAT, "%s: header says %s = %lld bytes, the member has %lld",
                        f->path,
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

static tn_status add_member(tn_file *f, const tni_zip_member *m, uint8_t *head)
{
    char name[TNI_ZIP_LONGEST_NAME];
    tni_npy h = {.descr = ""};
    memcpy(name, m->name, (size_t)m->name_length + 1);
    if (m->name_length > 4 && !strcmp(name + m->name_length - 4, ".npy"))
        name[m->name_length - 4] = 0;
    tni_entry e = {.name = name, .type = m->why, .shape = h.shape, .no_shape = true};
    if (m->why) {
        e.type = m->damaged ? "damaged" : m->why;
        e.damage = m->damaged ? m->why : NULL;
        return tni_file_add(f, &e);
    }
    e.crc = m->crc;
    e.member = (int64_t)m->data;
    e.packed = (int64_t)m->packed;
    e.packing = m->method ? TNI_DEFLATED : TNI_STORED;
    tn_status status = read_head(f, &e, (int64_t)m->length, head, &h);
    if (status == TN_EFORMAT)
        status = note_damage(f, &e);
    TRY(status);
    return tni_file_add(f, &e);
}

tn_status tni_npz_open(tn_file *f)
{
    tni_zip_member *members = NULL;
    int64_t n = 0;
    TRY(tni_zip_list(f, &members, &n));
    const tni_zip_member *pickle = tni_torch_pickle(members, n);
    if (pickle)
        return tni_torch_open(f, members, n, pickle);
    uint8_t *head = tni_alloc(HEAD_BYTES);
    if (!head)
        return tni_no_memory(f->path, HEAD_BYTES);
    tn_status status = TN_OK;
    for (int64_t i = 0; i < n && status == TN_OK; i++)
        status = add_member(f, &members[i], head);
    tni_free(head);
    return status;
}
