/* zip.h - zip archives: their records, and members as they are listed and written.
 *
 * A listed member without `why` has its bytes inside the file, shares them with no other member
 * and, if deflated, has a length that deflate can reach: what is read is bounded by the size of
 * the file. */
#ifndef TNI_ZIP_H
#define TNI_ZIP_H

#include "io/io.h"
#include "io/write.h"

/* Lengths of the records. */
enum {
    TNI_ZIP_LOCAL = 30,
    TNI_ZIP_CENTRAL = 46,
    TNI_ZIP_END = 22,
    TNI_ZIP_LONG_END = 56, /* with 64-bit numbers */
    TNI_ZIP_LOCATOR = 20,  /* holds the offset of the long end record */
    TNI_ZIP_LONG_EXTRA = 20,
    TNI_ZIP_LONGEST_NAME = 4096,
    TNI_ZIP_DEFLATE = 8 /* method; 0 is stored */
};

/* ---- reading (zip_read.c) ---- */

typedef struct tni_zip_member {
    const char *name; /* in the file's arena */
    uint64_t packed, length, local, data;
    uint32_t crc;
    int flags, method, name_length;
    const char *why; /* why it cannot be read: "encrypted", "packed by method 12" or, */
    bool damaged;    /* if damaged, a description of the damage */
} tni_zip_member;

/* List the members in the order of the central directory, in the file's arena. */
tn_status tni_zip_list(tn_file *f, tni_zip_member **members, int64_t *count);

/* A description `what "name"` in the file's arena; NULL: out of memory. */
const char *tni_zip_sentence(tn_file *f, const char *what, const char *name);

/* ---- writing (zip_write.c) ---- */

typedef struct tni_zip_written {
    int64_t at, name_length; /* offset of the local header; bytes of name and suffix */
    int64_t length, packed;  /* bytes of the member unpacked; in the file */
    uint32_t crc;
    int method;
} tni_zip_written;

/* Write the local header of a member named name + suffix, padded so that the member's bytes
 * begin at a multiple of align; tni_zip_leave patches in lengths and checksum once they are
 * known. */
tn_status tni_zip_enter(tn_writer *w, tni_zip_written *m, const char *name, const char *suffix,
                        int64_t align);
tn_status tni_zip_leave(tn_writer *w, const tni_zip_written *m);

/* tni_zip_record writes a member's record in the central directory; tni_zip_finish ends the
 * directory, which began at `list`. */
tn_status tni_zip_record(tn_writer *w, const tni_zip_written *m, const char *name,
                         const char *suffix);
tn_status tni_zip_finish(tn_writer *w, int64_t list, int64_t n);

#endif
