/* io.h - tensors in files: .npy, .npz, .safetensors, .gguf and (read-only) PyTorch's .pt.
 *
 * Files are untrusted: headers are parsed and checked against the size of the file before
 * anything is allocated, and Python objects are never read.  Failures name the file and the
 * offset: "x.npy: header says (7, 33) f32 = 924 bytes, the file has 72".  A malformed file is
 * TN_EFORMAT, a recognised but unsupported feature TN_EUNSUPPORTED, an error of the system
 * TN_EIO.  Many threads may use one open file. */
#ifndef TENON_IO_H
#define TENON_IO_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_file tn_file;

/* Open a file and read its header; the format is recognised by the content, not by the suffix.
 *
 * Dtypes that NumPy has no name for: "bfloat16", "float8_e4m3fn" and "float8_e5m2" are read as
 * such; '<V2' (which NumPy writes for bfloat16) is read as TN_BF16 and '<f1' as TN_F8E5M2.
 * Other void types, '|V2' and any V1, are raw and are read as TN_U16 and TN_U8; setting
 * desc.dtype to another dtype of the same width reinterprets them.
 *
 * Several files can be opened as one: path may be the index.json of a sharded model, or a
 * folder that contains one; a folder without index.json stands for all its .safetensors files.
 * The tensors are those of the files, in the order of the files' names.  The index must agree
 * with them: TN_EFORMAT names a tensor that is missing from its file or found in another one,
 * TN_EIO a missing file. */
TN_API TN_NODISCARD tn_status tn_file_open(tn_file **f, const char *path);

/* The same for an open descriptor of a regular file, which the caller still owns; name is used
 * in error messages. */
TN_API TN_NODISCARD tn_status tn_file_open_fd(tn_file **f, int fd, const char *name);

/* "npy", "npz", "safetensors", "gguf" or "pt"; "set" for several files; NULL for NULL. */
TN_API const char *tn_file_format(const tn_file *f);

/* The number of tensors in the file, which are in the order of their offsets; 0 for NULL. */
TN_API int64_t tn_file_count(const tn_file *f);

/* The number of values in a .pt that are not tensors and are skipped; 0 for other formats. */
TN_API int64_t tn_file_skipped(const tn_file *f);

/* Name, descriptor (data is NULL) and offset of tensor i; each pointer but f may be NULL.
 *
 * The name of the tensor in a .npy is "".  Fortran order is expressed by strides; the axes of a
 * .gguf are in NumPy's order, the fastest last.  offset is in bytes from the start of the file,
 * or -1 for a compressed member.
 *
 * TN_EARG         no such tensor
 * TN_EFORMAT      it is a damaged member of a .npz; its type is listed as "damaged"
 * TN_EUNSUPPORTED its element type has no tn_dtype (quantised, strings, …) */
TN_API TN_NODISCARD tn_status tn_file_info(const tn_file *f, int64_t i, const char **name,
                                           tn_tensor *desc, int64_t *offset);

/* Name and type of tensor i as the file spells them ("<f4", "BF16", "Q4_K"), even if
 * tn_file_info returns TN_EUNSUPPORTED.  NULL if there is no such tensor. */
TN_API const char *tn_file_name(const tn_file *f, int64_t i);
TN_API const char *tn_file_type(const tn_file *f, int64_t i);

/* Path of the file that holds tensor i, to which the offset of tn_file_info refers; for a file
 * opened by a descriptor, the name that was given.  NULL if there is no such tensor. */
TN_API const char *tn_file_path(const tn_file *f, int64_t i);

/* Extents of tensor i, likewise; NULL if there is no such tensor or the file does not state
 * them. */
TN_API const int64_t *tn_file_shape(const tn_file *f, int64_t i, int *ndim);

/* The __metadata__ of a .safetensors (for a set, of its first file) as a JSON object of
 * strings; NULL if it has none. */
TN_API const char *tn_file_metadata(const tn_file *f);

/* The key-values of a .gguf (for a set, of its first file) as they are stored, for
 * tn_write_options: their number as a little-endian u64, then the key, type and value of each.
 * At most size bytes are written to buf; *need is the number of bytes of all of them.
 *
 * TN_EUNSUPPORTED  another format, or a big-endian file */
TN_API TN_NODISCARD tn_status tn_file_values(const tn_file *f, void *buf, size_t size,
                                             size_t *need);

/* Find the tensor with this name; TN_EARG if there is none. */
TN_API TN_NODISCARD tn_status tn_file_find(const tn_file *f, const char *name, int64_t *i);

/* Read tensor i into newly allocated memory, in native byte order; release it with tn_free.
 * The checksum of a .npz member is verified; tn_file_map and tn_file_fetch, which need not read
 * the whole member, do not verify it. */
TN_API TN_NODISCARD tn_status tn_file_read(const tn_file *f, int64_t i, tn_tensor *out);

/* Tensor i as a TN_READONLY view of the file, valid until tn_file_close.
 *
 * If the file is truncated while it is mapped, access to the view raises SIGBUS; tn_file_read
 * and tn_file_fetch report that as TN_EIO.
 *
 * TN_EUNSUPPORTED the bytes need conversion: they are compressed or in the other byte order */
TN_API TN_NODISCARD tn_status tn_file_map(const tn_file *f, int64_t i, tn_tensor *out);

/* Tensor i as a file view: a descriptor that can be sliced, permuted, flipped … and passed to
 * tn_file_fetch.  Its addresses do not refer to memory.  It is valid until tn_file_close.
 *
 * TN_EUNSUPPORTED compressed */
TN_API TN_NODISCARD tn_status tn_file_places(const tn_file *f, int64_t i, tn_tensor *out);

/* Read the elements of a file view into dst, in native byte order.  places is any view of the
 * tensor that tn_file_places returned for tensor i; dst may have any strides.  It uses
 * at most 4 MiB besides dst.
 *
 * TN_EIO       a read fails; dst may hold some elements already
 * TN_EARG      the view reaches outside the tensor
 * TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE as in tn_rearrange */
TN_API TN_NODISCARD tn_status tn_file_fetch(const tn_file *f, int64_t i, const tn_tensor *dst,
                                            const tn_tensor *places);

/* Dequantise a tensor of a .gguf: Q8_0, Q4_0, Q4_K, Q5_K or Q6_K, for which tn_file_info
 * returns TN_EUNSUPPORTED.  dst is f32, f16 or bf16 and has the shape of tn_file_shape;
 * elements are computed in f32 and rounded once.  The second call gives elements [first, first
 * + n) in row-major order, for tensors that do not fit in memory; its dst is contiguous and has
 * n elements.
 *
 * TN_EUNSUPPORTED  the tensor has another type
 * TN_EDTYPE        dst has another dtype
 * TN_ESHAPE, TN_ESTRIDE, TN_EARG  dst does not fit, or the range exceeds the tensor */
TN_API TN_NODISCARD tn_status tn_file_dequantize(const tn_file *f, int64_t i,
                                                 const tn_tensor *dst);
TN_API TN_NODISCARD tn_status tn_file_dequantize_range(const tn_file *f, int64_t i,
                                                       int64_t first, const tn_tensor *dst);

/* Decompress tensor i to a descriptor as a .npy, piece by piece, and verify its checksum.  A
 * tensor that does not fit in memory can then be opened from there.
 *
 * TN_EUNSUPPORTED the tensor is not compressed */
TN_API TN_NODISCARD tn_status tn_file_unpack(const tn_file *f, int64_t i, int fd);

/* Release the file and its views.  NULL is fine. */
TN_API void tn_file_close(tn_file *f);

/* Write t, which may have any strides, in row-major order; the suffix of path selects the
 * format.  In a .npz the tensor is named "arr_0", in a .safetensors "tensor".
 *
 * The file is replaced atomically: the bytes are written to a temporary file in the same
 * folder, which is synced and renamed.  After a failure the old file is unchanged.
 *
 * bf16 is written to .npy and .npz as '<V2', f8 as '<V1', with the dtype's name in a comment of
 * the header: np.load(path).view(ml_dtypes.bfloat16) reads it. */
TN_API TN_NODISCARD tn_status tn_save(const char *path, const tn_tensor *t);

/* Write n tensors to a .npz, .safetensors or .gguf.  metadata is a JSON object of strings or
 * NULL, for .safetensors only.
 *
 * In a .safetensors, tensors of wider dtypes come first, so that every tensor is aligned.
 *
 * TN_EARG         a name is duplicated or is not UTF-8
 * TN_EFORMAT      metadata is not a JSON object of strings
 * TN_EUNSUPPORTED another suffix, or a dtype that the format lacks */
TN_API TN_NODISCARD tn_status tn_save_many(const char *path, int n, const char *const *names,
                                           const tn_tensor *const *ts, const char *metadata);

/* ---- writing piece by piece ---- */

typedef struct tn_writer tn_writer;

/* Options of a writer; zero means default. */
typedef struct tn_write_options {
    const char *metadata; /* JSON object of strings, for .safetensors */
    int64_t align;        /* at most 2^20.  .safetensors: data starts at a multiple of it; 8 by
                           * default.  .gguf: each tensor does; 32 by default, or what values
                           * say */
    int64_t no_sync;      /* not 0: do not wait for the disk: survives a crash of the process,
                           * not of the machine */
    int64_t compress;     /* .npz: not 0: deflate the members */
    int64_t exclusive;    /* not 0: a file at path when this one is complete is kept, and
                           * tn_writer_commit fails with TN_EIO */
    const void *values;   /* .gguf: key-values as tn_file_values gives them, or NULL: none */
    int64_t values_size;  /* bytes of values */
    void *reserved[1];    /* NULL */
} tn_write_options;

/* Begin a file that will hold n tensors of the given dtypes and shapes (data and strides are
 * ignored), in that order; path is not created or replaced before tn_writer_commit.  names may
 * be NULL if n is 1.
 *
 * A .gguf can hold f16, bf16, f32, f64, i8, i16, i32 and i64, at most 4 axes, and names of at
 * most 63 bytes.
 *
 * TN_EARG     align is out of range, reserved is not NULL
 * TN_EFORMAT  metadata or values cannot be read */
TN_API TN_NODISCARD tn_status tn_writer_open(tn_writer **w, const char *path, int n,
                                             const char *const *names,
                                             const tn_tensor *const *ts,
                                             const tn_write_options *options);

/* Begin a .npy on a descriptor that cannot seek, such as a pipe; name is used in error
 * messages. */
TN_API TN_NODISCARD tn_status tn_writer_open_fd(tn_writer **w, int fd, const char *name,
                                                const tn_tensor *t);

/* The layout of the file that a writer of these tensors would make, for programs that write it
 * from several processes.  header gets its first bytes, at most size of them; *bytes is the
 * number of bytes before the first element, offsets[i] the offset of tensor i.  Elements are
 * little-endian, in row-major order, and nothing follows the last one.  No file is written.
 *
 * TN_EUNSUPPORTED the format is not .npy or .safetensors */
TN_API TN_NODISCARD tn_status tn_writer_layout(const char *path, int n,
                                               const char *const *names,
                                               const tn_tensor *const *ts,
                                               const tn_write_options *options, void *header,
                                               size_t size, int64_t *bytes, int64_t *offsets);

/* Append the elements of piece, in its row-major order, to the first tensor that is not
 * complete.  piece has that tensor's dtype and any shape, and no more elements than the tensor
 * still lacks.  After a failure only tn_writer_abort may be called.
 *
 * TN_EDTYPE  piece has another dtype
 * TN_EARG    piece has more elements than the tensor lacks */
TN_API TN_NODISCARD tn_status tn_writer_put(tn_writer *w, const tn_tensor *piece);

/* Finish the file and release w, even on failure.  TN_EARG if elements are missing. */
TN_API TN_NODISCARD tn_status tn_writer_commit(tn_writer *w);

/* Discard the file and release w.  NULL is fine. */
TN_API void tn_writer_abort(tn_writer *w);

TN_END

#endif
