/* io.h - how do tensors live in files?  The open file, its entries, and each format's parts.
 *
 * An entry in the table has passed every check: its bytes lie inside the file (or, compressed,
 * inside the limits), and its shape times its width fits 64 bits. */
#ifndef TNI_IO_H
#define TNI_IO_H

#include <tenon/io.h>

#include "core/core.h"
#include "view/view.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define TNI_HOST_BIG true
#else
#define TNI_HOST_BIG false
#endif

/* ---- memory that lives as long as its owner (arena.c) ---- */

typedef struct tni_arena {
    void *last; /* chunks, each linked to the one before */
    size_t used, size;
} tni_arena;

void *tni_arena_take(tni_arena *a, size_t n); /* 8-byte aligned; NULL: no memory */
void *tni_arena_rows(tni_arena *a, int64_t n, size_t width); /* n of width bytes each */
char *tni_arena_text(tni_arena *a, const char *text, size_t n);
void tni_arena_free(tni_arena *a);

/* Bytes of a chunk, or of one piece that is longer.  Tests make it small. */
extern size_t tni_chunk;

/* Bytes that pass through memory at a time on their way from or to a file: 3 ms of a disk of 1.4
 * GB/s, long beside a system call.  The second is for elements that are transposed on the way;
 * tests make it small. */
enum { TNI_STAGE = 4 << 20 };
extern int64_t tni_stage_bytes;

/* ---- the open file (file.c) ---- */

typedef enum tni_packing { TNI_RAW, TNI_STORED, TNI_DEFLATED } tni_packing;

typedef struct tni_entry {
    const char *name, *type;
    const int64_t *shape;
    const int64_t *stride; /* in bytes; NULL: dense, row-major or fortran */
    int64_t offset; /* of the first byte in the file; in a deflated member: past its header */
    int64_t nbytes; /* from the first byte to behind the last */
    int64_t member, packed; /* in .npz: offset and length of the member as it lies there */
    uint32_t crc;           /* of the unpacked member */
    const char *damage;     /* a member of .npz that cannot be read: why; NULL: it can */
    tn_dtype dtype;         /* 0: understood and not offered */
    int8_t ndim, packing;
    bool fortran, swapped, no_shape;
    const struct tn_file *owner; /* in a set: the file that holds it; NULL: the file itself */
} tni_entry;

struct tn_file {
    int fd;
    bool owns_fd, leaf; /* leaf: must not be a set */
    int64_t size;
    const char *path;  /* for sentences: at most its last 200 bytes */
    const char *where; /* the whole path; NULL: opened by a descriptor */
    const char *format, *metadata;
    int64_t count, capacity;
    tni_entry *entries;
    int64_t *by_name; /* positions in entries, by rising name */
    tni_arena arena;
    _Atomic(void *) map;            /* the whole file, readable; made when first asked for */
    _Atomic(void *) places;         /* as many addresses that are not memory; likewise */
    int64_t skipped;                /* values of a .pt that are no tensors */
    int64_t values_at, values_size; /* key-values of a .gguf; size 0: there are none */
    struct tn_file **parts;         /* the files of a set */
    int64_t nparts;
};

/* Append an entry; text and shape are copied.  The checks are the format's. */
tn_status tni_file_add(tn_file *f, const tni_entry *e);

/* n bytes at an offset that the file has, or had. */
tn_status tni_file_bytes(const tn_file *f, void *buf, int64_t n, int64_t at);

/* Entry i, if it is there and has a dtype; *f becomes the file that holds it. */
tn_status tni_file_entry(const tn_file **f, int64_t i, const char *call, const tni_entry **e);

/* Open a file of a set, or the index of a folder: a leaf is no set itself. */
tn_status tni_file_open_part(tn_file **f, const char *path, bool leaf);

/* Sort the names, when all entries are there; a name that is there twice is an error. */
tn_status tni_file_index(tn_file *f);

/* e as a tensor whose bytes are at buf (NULL: no data), with the strides of the file. */
tn_status tni_entry_at(const tni_entry *e, void *buf, tn_tensor *out);

/* The last 200 bytes of a path: what a sentence shows of it. */
const char *tni_path_shown(const char *path);

/* TN_ENOMEM with the file's name. */
tn_status tni_no_memory(const char *path, int64_t bytes);

/* "(7, 33) f32", elided when long. */
#define TNI_SHAPE_TEXT 160
const char *tni_shape_text(char *buf, int ndim, const int64_t *shape, const char *dtype);

/* Reverse the bytes of each part of n elements (complex ones have two parts). */
void tni_swap(void *data, int64_t n, tn_dtype dtype);

/* ---- formats: open reads the header and adds the entries ---- */

tn_status tni_npy_open(tn_file *f);
tn_status tni_npz_open(tn_file *f);
tn_status tni_safetensors_open(tn_file *f);
tn_status tni_gguf_open(tn_file *f);
tn_status tni_set_open(tn_file *f);        /* from an index.json */
tn_status tni_set_open_folder(tn_file *f); /* at f->where */

/* .npy headers, in files and in members (npy.c) */
typedef struct tni_npy {
    tn_dtype dtype;
    bool fortran, swapped;
    int ndim;
    int64_t shape[TN_MAX_NDIM];
    char descr[24];
    int64_t size, nbytes; /* bytes of the header with its magic; bytes of the elements */
} tni_npy;

#define TNI_NPY_PREFIX  12      /* enough bytes to know the length of the header */
#define TNI_NPY_LONGEST 1048576 /* bytes of a header */

/* Length of the whole header from its first bytes; n of them are there. */
tn_status tni_npy_length(const char *who, const uint8_t *prefix, int64_t n, int64_t *length);

/* TN_EUNSUPPORTED has filled in descr. */
tn_status tni_npy_parse(tni_npy *h, const char *who, const uint8_t *bytes, int64_t length);

/* ---- from file to file (writer_copy.c) ---- */

/* Whether the bytes of e are those that the writer would write. */
bool tni_writer_copies(const tn_writer *w, const tni_entry *e);

/* Append numel elements that lie at `at` in f, beside each other; copied is passed the bytes that
 * have been, and may end it. */
typedef tn_status tni_copied(void *user, int64_t done);
tn_status tni_writer_copy(tn_writer *w, const tn_file *f, int64_t at, tn_dtype dtype,
                          int64_t numel, tni_copied *copied, void *user);

/* ---- long results (writer_direct.c) ---- */

/* What offsets and addresses past the page cache are multiples of. */
enum { TNI_DISK_BLOCK = 4096 };

/* Take space on the disk for the next n bytes; TN_EIO when there is none. */
tn_status tni_writer_reserve(tn_writer *w, int64_t n);

/* Append past the page cache from now on; false: the writer goes on as before.  To be ended:
 * with keep what is held is written. */
bool tni_writer_begin_direct(tn_writer *w);
tn_status tni_writer_end_direct(tn_writer *w, bool keep);

/* Offset in the file of what is appended next.  Memory at the same offset modulo TNI_DISK_BLOCK is
 * written without a copy. */
int64_t tni_writer_position(const tn_writer *w);

/* Whether entry i lies on a file system that is memory: no way past the page cache is faster. */
bool tni_file_in_memory(const tn_file *f, int64_t i);

/* Let the system begin to read n bytes from at on. */
void tni_file_ahead(const tn_file *f, int64_t at, int64_t n);

/* Let the system drop from its memory what has been read of entry i, and what is written and on
 * the disk, so that a long job leaves other programs theirs. */
void tni_file_forget(const tn_file *f, int64_t i);
void tni_writer_forget(const tn_writer *w);

/* A writer to a file without a name, beside the one that `beside` writes or where temporary files
 * go; it is never committed.  reopen reads what it has written. */
tn_status tni_writer_open_scratch(tn_writer **w, const tn_writer *beside, int n,
                                  const char *const *names, const tn_tensor *const *ts);
tn_status tni_writer_reopen(const tn_writer *w, tn_file **f);

/* ---- many reads in flight (queue.c) ---- */

/* A disk reaches its rate with short reads only when many of them wait for it.  A queue belongs
 * to one thread: reads are added to a batch, and the batch is waited for. */
typedef struct tni_queue tni_queue;

/* Reads that are waited for together; all zero to begin with. */
typedef struct tni_reads {
    int64_t left;
    tn_status status; /* of the first read that failed; its sentence is tn_error() */
} tni_reads;

/* Bytes of memory that a queue holds, and reads in flight at most. */
enum {
    TNI_QUEUE_BYTES = 12 << 20,
    TNI_QUEUE_DEPTH = 128 /* fewer are slower, twice as many no faster (a virtual disk) */
};

/* An empty queue; TN_ENOMEM. */
tn_status tni_queue_open(tni_queue **q);

/* Read n bytes at `at` of f into `to`, some time before the batch has been waited for.  A queue
 * reads one file at a time: before another file every batch has been waited for. */
tn_status tni_queue_read(tni_queue *q, const tn_file *f, char *to, int64_t n, int64_t at,
                         tni_reads *batch);

/* Wait for every read of the batch. */
tn_status tni_queue_wait(tni_queue *q, tni_reads *batch);

/* Waits for what is in flight. */
void tni_queue_close(tni_queue *q);

/* How reads are carried out: "io_uring" or "threads"; tests choose one by its name, NULL is the
 * first that works. */
const char *tni_queue_way(const tni_queue *q);
extern const char *tni_queue_prefer;

/* Whether a file is read past the page cache: false where the file system refuses. */
bool tni_queue_is_direct(const tni_queue *q);

/* ---- archives ---- */

/* Unpack a stored or deflated member, in order; crc and length are checked at the end. */
tn_status tni_unpack(const tn_file *f, const tni_entry *e, void *out);
tn_status tni_unpack_head(const tn_file *f, int64_t at, int64_t packed, uint8_t *out, int64_t n,
                          int64_t *got);

#endif
