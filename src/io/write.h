/* write.h - a file being written: what all formats share and what each one provides.
 *
 * Bytes are appended in file order; only .npz seeks back, to its local headers. */
#ifndef TNI_WRITE_H
#define TNI_WRITE_H

#include "io.h"

typedef struct tni_slot {
    const char *name;
    tn_dtype dtype;
    int ndim;
    const int64_t *shape;
    int64_t numel, nbytes;
} tni_slot;

/* A format that is written.  Of the callbacks only `bytes` is never NULL. */
typedef struct tni_format {
    const char *suffix;
    const char *only;                 /* the tensor's name, if the format stores none */
    bool many;                        /* any number of tensors, not just one */
    bool swaps;                       /* the format is little-endian, and this host is not */
    bool joined;                      /* elements follow one header, tensor after tensor */
    bool widest_first;                /* wide dtypes first: aligned without padding */
    tn_status (*begin)(tn_writer *w); /* the header of the file, if there is one */
    tn_status (*enter)(tn_writer *w, const tni_slot *slot); /* before a tensor's elements */
    tn_status (*bytes)(tn_writer *w, const void *data, int64_t n);
    tn_status (*leave)(tn_writer *w, const tni_slot *slot); /* after them */
    tn_status (*finish)(tn_writer *w);
    void (*release)(tn_writer *w); /* frees what is not in the arena */
} tni_format;

/* The format for the suffix of path; NULL: none. */
const tni_format *tni_format_of(const char *path);

extern const tni_format tni_npy_format, tni_npz_format, tni_safetensors_format, tni_gguf_format;

typedef struct tni_direct tni_direct;

struct tn_writer {
    const tni_format *format;
    const char *path, *target; /* for error messages; the final path */
    char *temp;                /* name of the temporary file, "" if it has none */
    int fd;
    bool pipe, broken;
    int64_t at;   /* bytes written so far */
    int64_t flow; /* how many of them the system has been asked to write out */
    int n, now;   /* number of tensors; index of the incomplete one */
    tni_slot *slots;
    int64_t left; /* elements that tensor `now` still lacks */
    tn_write_options options;
    char *stage;
    void *own; /* the format's own state, in the arena */
    tni_arena arena;
    tni_direct *direct; /* direct I/O (writer_direct.c); NULL: page cache */
    bool sink;          /* write no file: keep the first `held_size` bytes in held */
    char *held;
    size_t held_size;
};

/* Write n bytes at the end, or at an earlier offset. */
tn_status tni_append(tn_writer *w, const void *data, int64_t n);
tn_status tni_write_at(tn_writer *w, const void *data, int64_t n, int64_t at);

/* tni_append while w->direct is set. */
tn_status tni_direct_append(tn_writer *w, const char *data, int64_t n);

/* Begin the next tensor; tensors without elements are completed at once. */
tn_status tni_writer_enter(tn_writer *w);

/* tni_writer_expects checks that numel elements of dtype may come next; tni_writer_took records
 * that they have been appended. */
tn_status tni_writer_expects(const tn_writer *w, tn_dtype dtype, int64_t numel);
tn_status tni_writer_took(tn_writer *w, int64_t numel);

/* Write the .npy header for dtype and shape to buf; return its length, a multiple of 64. */
#define TNI_NPY_WRITTEN 1792
int64_t tni_npy_header(char *buf, tn_dtype dtype, int ndim, const int64_t *shape);

#endif
