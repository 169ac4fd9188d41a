/* zip.h - zip archives: the records they are made of, members as they are listed and written.
 *
 * A member that is listed without `why` has its bytes inside the file, shares them with no
 * other, and, deflated, is no longer than deflate can make of them: all that is read is bounded
 * by the size of the file. */
#ifndef TNI_ZIP_H
#define TNI_ZIP_H

#include "io/io.h"
#include "io/write.h"

/* Lengths of the records. */
enum {
    TNI_ZIP_LOCAL = 30,
    TNI_ZIP_CENTRAL = 46,
    TNI_ZIP_END = 22,
    TNI_ZIP_LONG_END = 56, /* with numbers of 64 bits */
    TNI_ZIP_LOCATOR = 20,  /* says where the long end record is */
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
    const char *why; /* it cannot be read: "encrypted", "packed by method 12", or … */
    bool damaged;    /* … a sentence about the damage */
} tni_zip_member;

/* The members in the order of the central directory, in the file's arena. */
tn_status tni_zip_list(tn_file *f, tni_zip_member **members, int64_t *count);

/* "what "name"" as a sentence in the file's arena; NULL: no memory. */
const char *tni_zip_sentence(tn_file *f, const char *what, const char *name);

/* ---- writing (zip_write.c) ---- */

typedef struct tni_zip_written {
    int64_t at, name_length; /* offset of the local header; bytes of name and suffix */
    int64_t length, packed;  /* bytes of the member unpacked; in the file */
    uint32_t crc;
    int method;
} tni_zip_written;

/* The local header of a member named name + suffix, whose bytes then begin at a multiple of
 * align; lengths and checksum are put in by tni_zip_leave when they become known. */
tn_status tni_zip_enter(tn_writer *w, tni_zip_written *m, const char *name, const char *suffix,
                        int64_t align);
tn_status tni_zip_leave(tn_writer *w, const tni_zip_written *m);

/* The record of a member in the central directory, and the end of it, which began at `list`. */
tn_status tni_zip_record(tn_writer *w, const tni_zip_written *m, const char *name,
                         const char *suffix);
tn_status tni_zip_finish(tn_writer *w, int64_t list, int64_t n);

#endif
