/* io.h - how are tensors stored in files?  The open file, its entries, and each format's parts.
 *
 * Every entry in the table has passed all checks: its bytes lie inside the file (or,
 * compressed, within the limits), and its size in bytes fits 64 bits. */
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

void *tni_arena_take(tni_arena *a, size_t n); /* 8-byte aligned; NULL: out of memory */
void *tni_arena_rows(tni_arena *a, int64_t n, size_t width); /* n rows of width bytes each */
char *tni_arena_text(tni_arena *a, const char *text, size_t n);
void tni_arena_free(tni_arena *a);

/* A full array of *capacity elements of `each` bytes, moved to one of twice as many, or of
 * `first` if it had none; old is freed.  NULL: there is no memory, as tni_no_memory says, and
 * old is as it was. */
void *tni_grown(const char *path, void *old, int64_t *capacity, int64_t first, size_t each);

/* Size of a chunk in bytes; a longer allocation gets a chunk of its own.  Tests lower it. */
extern size_t tni_chunk;

/* Bytes that are staged at a time between a file and memory: 3 ms at a disk's 1.4 GB/s, long
 * compared with a system call.  tni_stage_bytes is the stage for elements that are rearranged
 * on the way; tests lower it. */
enum { TNI_STAGE = 4 << 20 };
extern int64_t tni_stage_bytes;

/* ---- the open file (file.c) ---- */

typedef enum tni_packing { TNI_RAW, TNI_STORED, TNI_DEFLATED } tni_packing;

typedef struct tni_entry {
    const char *name, *type;
    const int64_t *shape;
    const int64_t *stride; /* in bytes; NULL: dense, row-major or Fortran order */
    int64_t offset; /* of the first byte in the file; if deflated: in the unpacked member */
    int64_t nbytes; /* from the first byte to the end of the last element */
    int64_t member, packed; /* in .npz: offset and packed length of the member in the file */
    uint32_t crc;           /* of the unpacked member */
    const char *damage;     /* why a member of .npz cannot be read; NULL: it can */
    tn_dtype dtype;         /* 0: recognised but not supported */
    int8_t ndim, packing;
    bool fortran, swapped, no_shape;
    const struct tn_file *owner; /* in a set: the file that holds the entry; NULL: this file */
} tni_entry;

struct tn_file {
    int fd;
    bool owns_fd, leaf; /* leaf: must not itself be a set */
    int64_t size;
    const char *path;  /* for error messages: at most its last 200 bytes */
    const char *where; /* the whole path; NULL: opened from a descriptor */
    const char *format, *metadata;
    int64_t count, capacity;
    tni_entry *entries;
    int64_t *by_name; /* indices into entries, sorted by name */
    tni_arena arena;
    _Atomic(void *) map;            /* the whole file, readable; mapped on first use */
    _Atomic(void *) places;         /* its addresses, not accessible; likewise */
    int64_t skipped;                /* values of a .pt that are not tensors */
    int64_t values_at, values_size; /* key-values of a .gguf; size 0: none */
    struct tn_file **parts;         /* the files of a set */
    int64_t nparts;
};

/* Append an entry; text and shape are copied.  The format's reader has checked it. */
tn_status tni_file_add(tn_file *f, const tni_entry *e);

/* Read n bytes at offset at, which was inside the file when it was opened. */
tn_status tni_file_bytes(const tn_file *f, void *buf, int64_t n, int64_t at);

/* Entry i; an error if it does not exist or has no dtype.  *f becomes the file that holds
 * it. */
tn_status tni_file_entry(const tn_file **f, int64_t i, const char *call, const tni_entry **e);

/* Open a file of a set or the index of a folder; a leaf may not itself be a set. */
tn_status tni_file_open_part(tn_file **f, const char *path, bool leaf);

/* Sort the names once all entries have been added; a duplicate name is an error. */
tn_status tni_file_index(tn_file *f);

/* e as a tensor whose bytes are at buf (NULL: no data), with the strides that the file has. */
tn_status tni_entry_at(const tni_entry *e, void *buf, tn_tensor *out);

/* The last 200 bytes of a path, which error messages show. */
const char *tni_path_shown(const char *path);

/* Fail with TN_ENOMEM, naming the file. */
tn_status tni_no_memory(const char *path, int64_t bytes);

/* "(7, 33) f32", abbreviated when long. */
#define TNI_SHAPE_TEXT 160
const char *tni_shape_text(char *buf, int ndim, const int64_t *shape, const char *dtype);

/* Reverse the bytes of each of n elements (of each of the two parts of a complex one). */
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

#define TNI_NPY_PREFIX  12      /* bytes that suffice to compute the length of the header */
#define TNI_NPY_LONGEST 1048576 /* the longest header, in bytes */

/* Length of the whole header from its first bytes, of which n are available. */
tn_status tni_npy_length(const char *who, const uint8_t *prefix, int64_t n, int64_t *length);

/* After TN_EUNSUPPORTED descr is set. */
tn_status tni_npy_parse(tni_npy *h, const char *who, const uint8_t *bytes, int64_t length);

/* ---- from file to file (writer_copy.c) ---- */

/* True if the writer would write the bytes of e unchanged. */
bool tni_writer_copies(const tn_writer *w, const tni_entry *e);

/* Append numel dense elements that begin at offset `at` of f.  copied is called with the number
 * of bytes copied so far; it may stop the copy by failing. */
typedef tn_status tni_copied(void *user, int64_t done);
tn_status tni_writer_copy(tn_writer *w, const tn_file *f, int64_t at, tn_dtype dtype,
                          int64_t numel, tni_copied *copied, void *user);

/* ---- long results (writer_direct.c) ---- */

/* Direct I/O, which bypasses the page cache, needs offsets and addresses that are multiples of
 * this. */
enum { TNI_DISK_BLOCK = 4096 };

/* Allocate disk space for the next n bytes; TN_EIO if there is not enough. */
tn_status tni_writer_reserve(tn_writer *w, int64_t n);

/* Append with direct I/O from now on; false: the writer goes on through the page cache.  Must
 * be ended; with keep the buffered bytes are written. */
bool tni_writer_begin_direct(tn_writer *w);
tn_status tni_writer_end_direct(tn_writer *w, bool keep);

/* Offset in the file of the next byte appended.  Memory whose address is congruent to it modulo
 * TNI_DISK_BLOCK is written without a copy. */
int64_t tni_writer_position(const tn_writer *w);

/* True if entry i is stored on a file system in memory, where direct I/O cannot be faster. */
bool tni_file_in_memory(const tn_file *f, int64_t i);

/* Ask the system to begin reading n bytes at offset at. */
void tni_file_ahead(const tn_file *f, int64_t at, int64_t n);

/* Ask the system to drop from the page cache what has been read of entry i, or what has been
 * written and is on disk, so that a long job leaves the cache to other programs. */
void tni_file_forget(const tn_file *f, int64_t i);
void tni_writer_forget(const tn_writer *w);

/* A writer to an unnamed file, in the folder that `beside` writes to or, if that is NULL or a
 * pipe, in that of temporary files; it is never committed.  reopen opens what it has written
 * for reading. */
tn_status tni_writer_open_scratch(tn_writer **w, const tn_writer *beside, int n,
                                  const char *const *names, const tn_tensor *const *ts);
tn_status tni_writer_reopen(const tn_writer *w, tn_file **f);

/* ---- many reads in flight (queue.c) ---- */

/* A disk reaches its full rate with short reads only if many of them are queued.  A queue
 * belongs to one thread: reads are added to a batch, and the thread waits for the batch. */
typedef struct tni_queue tni_queue;

/* Reads that are waited for together; zero-initialised. */
typedef struct tni_reads {
    int64_t left;
    tn_status status; /* of the first read that failed; tn_error() has its message */
} tni_reads;

/* Bytes of memory that a queue holds, and the maximum number of reads in flight. */
enum {
    TNI_QUEUE_BYTES = 12 << 20,
    TNI_QUEUE_DEPTH = 128 /* fewer are slower, twice as many no faster (a virtual disk) */
};

/* Create an empty queue.  Only with `threads` may it start threads of its own, where there is
 * no other way.  TN_ENOMEM: no memory, or no way. */
tn_status tni_queue_open(tni_queue **q, bool threads);

/* Read n bytes at offset `at` of f into `to`, which is valid once the batch has been waited
 * for.  A queue reads one file at a time: wait for every batch before reading another file. */
tn_status tni_queue_read(tni_queue *q, const tn_file *f, char *to, int64_t n, int64_t at,
                         tni_reads *batch);

/* Wait for all reads of the batch. */
tn_status tni_queue_wait(tni_queue *q, tni_reads *batch);

/* Wait for the reads in flight, then free the queue. */
void tni_queue_close(tni_queue *q);

/* How reads are carried out: "io_uring" or "threads".  Tests select one by setting
 * tni_queue_prefer; NULL selects the first that works. */
const char *tni_queue_way(const tni_queue *q);
extern const char *tni_queue_prefer;

/* True if the file is read with direct I/O; false where the file system refuses it. */
bool tni_queue_is_direct(const tni_queue *q);

/* ---- archives ---- */

/* Unpack a stored or deflated member sequentially; CRC and length are checked at the end. */
tn_status tni_unpack(const tn_file *f, const tni_entry *e, void *out);
tn_status tni_unpack_head(const tn_file *f, int64_t at, int64_t packed, uint8_t *out, int64_t n,
                          int64_t *got);

#endif
