/* write.h - a file being written: what the formats share and what each adds.
 *
 * Bytes are appended in the order of the file; only .npz goes back, to its local headers. */
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

typedef struct tni_format {
    const char *suffix;
    const char *only;                 /* name of the one tensor of a file that names none */
    bool many;                        /* may hold another number of tensors than one */
    bool swaps;                       /* little endian on every host */
    bool joined;                      /* elements follow one header, tensor after tensor */
    bool widest_first;                /* with nothing between: in this order each is aligned */
    tn_status (*begin)(tn_writer *w); /* the header, if there is one for all */
    tn_status (*enter)(tn_writer *w, const tni_slot *slot); /* before a tensor's elements */
    tn_status (*bytes)(tn_writer *w, const void *data, int64_t n);
    tn_status (*leave)(tn_writer *w, const tni_slot *slot); /* behind them */
    tn_status (*finish)(tn_writer *w);
    void (*release)(tn_writer *w); /* what is not in the arena */
} tni_format;

/* The format of a path, by its suffix; NULL: none. */
const tni_format *tni_format_of(const char *path);

extern const tni_format tni_npy_format, tni_npz_format, tni_safetensors_format, tni_gguf_format;

typedef struct tni_direct tni_direct;

struct tn_writer {
    const tni_format *format;
    const char *path, *target; /* for sentences; where the file goes */
    char *temp;                /* name of the temporary file, "" while it has none */
    int fd;
    bool pipe, broken;
    int64_t at;   /* bytes written in order */
    int64_t flow; /* bytes of them that are on their way to the disk */
    int n, now;   /* tensors; the one that is not complete */
    tni_slot *slots;
    int64_t left; /* elements that tensor `now` still lacks */
    tn_write_options options;
    char *stage;
    void *own; /* what the format keeps, in the arena */
    tni_arena arena;
    tni_direct *direct; /* bytes go past the page cache (writer_direct.c); NULL: through it */
    bool sink;          /* nothing is written: the first `held_size` bytes go to held */
    char *held;
    size_t held_size;
};

/* Write n bytes at the end, or at an offset before it. */
tn_status tni_append(tn_writer *w, const void *data, int64_t n);
tn_status tni_write_at(tn_writer *w, const void *data, int64_t n, int64_t at);

/* What tni_append does while w->direct is set. */
tn_status tni_direct_append(tn_writer *w, const char *data, int64_t n);

/* Enter the next tensor; those without elements are passed at once. */
tn_status tni_writer_enter(tn_writer *w);

/* Whether numel elements of dtype are what the writer takes next; TN_OK, and that they have been
 * appended. */
tn_status tni_writer_expects(const tn_writer *w, tn_dtype dtype, int64_t numel);
tn_status tni_writer_took(tn_writer *w, int64_t numel);

/* The header of .npy for dtype and shape, at buf; gives its length, a multiple of 64. */
#define TNI_NPY_WRITTEN 1792
int64_t tni_npy_header(char *buf, tn_dtype dtype, int ndim, const int64_t *shape);

#endif
