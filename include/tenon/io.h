/* io.h - tensors in files: .npy, .npz, .safetensors, .gguf and (read only) torch's .pt.
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
 * dtypes that NumPy cannot name: "bfloat16", "float8_e4m3fn" and "float8_e5m2" are read as
 * such; so are '<V2' (what NumPy saves for bfloat16) as TN_BF16 and '<f1' as TN_F8E5M2.  Plain
 * void, '|V2' and any V1, is raw: TN_U16 and TN_U8; setting desc.dtype to another dtype of the
 * same width reinterprets it.
 *
 * Several files open as one: path may be the index.json of a sharded model or a folder, which
 * has one or else stands for all its .safetensors files.  The tensors are those of the files,
 * files in the order of their names.  The index must agree with them: TN_EFORMAT names a tensor
 * that is missing from its file or found in another one, TN_EIO a missing file. */
TN_API TN_NODISCARD tn_status tn_file_open(tn_file **f, const char *path);

/* The same on an open descriptor of a regular file, which stays the caller's; name is used
 * in error messages. */
TN_API TN_NODISCARD tn_status tn_file_open_fd(tn_file **f, int fd, const char *name);

/* "npy", "npz", "safetensors", "gguf" or "pt", of several files "set"; NULL for NULL. */
TN_API const char *tn_file_format(const tn_file *f);

/* Tensors in the file, in the order of their offsets; 0 for NULL. */
TN_API int64_t tn_file_count(const tn_file *f);

/* Values of a .pt that are not tensors and are skipped; 0 for other formats. */
TN_API int64_t tn_file_skipped(const tn_file *f);

/* Name, descriptor (data is NULL) and offset of tensor i; each pointer but f may be NULL.
 *
 * The name of the tensor in a .npy is "".  Fortran order shows as strides; the axes of .gguf
 * are in NumPy's order, the fastest last.  offset counts bytes from the start of the file; -1
 * is a compressed member.
 *
 * TN_EARG         no such tensor
 * TN_EFORMAT      it is a damaged member of a .npz, which is listed with the type "damaged"
 * TN_EUNSUPPORTED its element type has no tn_dtype (quantised, strings, …) */
TN_API TN_NODISCARD tn_status tn_file_info(const tn_file *f, int64_t i, const char **name,
                                           tn_tensor *desc, int64_t *offset);

/* Name and type of tensor i as the file spells them, also where tn_file_info says
 * TN_EUNSUPPORTED: "<f4", "BF16", "Q4_K".  NULL when there is no such tensor. */
TN_API const char *tn_file_name(const tn_file *f, int64_t i);
TN_API const char *tn_file_type(const tn_file *f, int64_t i);

/* Path of the file that holds tensor i, in which offsets of tn_file_info count; the name it was
 * given when opened by a descriptor.  NULL when there is no such tensor. */
TN_API const char *tn_file_path(const tn_file *f, int64_t i);

/* Extents of tensor i, likewise; NULL when there is no such tensor or the file does not say. */
TN_API const int64_t *tn_file_shape(const tn_file *f, int64_t i, int *ndim);

/* The __metadata__ of a .safetensors as a JSON object of strings, of a set that of its first
 * file; NULL when it has none. */
TN_API const char *tn_file_metadata(const tn_file *f);

/* The key-values of a .gguf as they lie in the file, for tn_write_options: their number as a
 * little-endian u64, then for each its key, type and value.  buf gets as many bytes as size says,
 * *need how many there are; of a set those of its first file.
 *
 * TN_EUNSUPPORTED  another format, or a big-endian file */
TN_API TN_NODISCARD tn_status tn_file_values(const tn_file *f, void *buf, size_t size,
                                             size_t *need);

/* The tensor of this name.  TN_EARG when there is none. */
TN_API TN_NODISCARD tn_status tn_file_find(const tn_file *f, const char *name, int64_t *i);

/* Read tensor i into memory of its own, native endian; release it with tn_free.  Of a member of
 * .npz the checksum is compared; tn_file_map and tn_file_fetch, which need not read all of it,
 * leave that out. */
TN_API TN_NODISCARD tn_status tn_file_read(const tn_file *f, int64_t i, tn_tensor *out);

/* Tensor i as a TN_READONLY view of the file, valid until tn_file_close.
 *
 * If the file is truncated while it is mapped, access to the view raises SIGBUS; tn_file_read
 * and tn_file_fetch report that as TN_EIO.
 *
 * TN_EUNSUPPORTED the bytes need conversion: other endian, compressed */
TN_API TN_NODISCARD tn_status tn_file_map(const tn_file *f, int64_t i, tn_tensor *out);

/* Tensor i as a view of the file: a descriptor to be sliced, permuted, flipped … and handed to
 * tn_file_fetch.  Its addresses are not memory.  Valid until tn_file_close.
 *
 * TN_EUNSUPPORTED compressed */
TN_API TN_NODISCARD tn_status tn_file_places(const tn_file *f, int64_t i, tn_tensor *out);

/* Read the elements that places names into dst, native endian: any view of what tn_file_places
 * gave for tensor i, dst of any strides.  Holds at most 4 MiB beside dst.
 *
 * TN_EIO       a read fails; dst may hold some elements already
 * TN_EARG      the view leaves the tensor
 * TN_EDTYPE, TN_ESHAPE, TN_ESTRIDE as in tn_rearrange */
TN_API TN_NODISCARD tn_status tn_file_fetch(const tn_file *f, int64_t i, const tn_tensor *dst,
                                            const tn_tensor *places);

/* The elements of a quantised tensor of .gguf: Q8_0, Q4_0, Q4_K, Q5_K or Q6_K, for which
 * tn_file_info says TN_EUNSUPPORTED.  dst is f32, f16 or bf16 and has the shape of tn_file_shape;
 * elements are computed in f32 and rounded once.  The second gives elements [first, first + n) in
 * row-major order, for tensors that do not fit into memory; dst has n elements and is contiguous.
 *
 * TN_EUNSUPPORTED another type
 * TN_EDTYPE       another dtype of dst
 * TN_ESHAPE, TN_ESTRIDE, TN_EARG  dst does not fit, the range leaves the tensor */
TN_API TN_NODISCARD tn_status tn_file_dequantize(const tn_file *f, int64_t i,
                                                 const tn_tensor *dst);
TN_API TN_NODISCARD tn_status tn_file_dequantize_range(const tn_file *f, int64_t i,
                                                       int64_t first, const tn_tensor *dst);

/* Write tensor i, which is compressed, to a descriptor as a .npy, piece by piece; the checksum
 * is compared.  What does not fit into memory can be opened from there.
 *
 * TN_EUNSUPPORTED it is not compressed */
TN_API TN_NODISCARD tn_status tn_file_unpack(const tn_file *f, int64_t i, int fd);

/* Release the file and its views.  NULL is fine. */
TN_API void tn_file_close(tn_file *f);

/* Write t, of any strides, in row-major order; the suffix chooses the format.  In .npz the tensor
 * is named "arr_0", in .safetensors "tensor".
 *
 * The bytes go to a temporary file in the same folder, which is synced and renamed: path is the
 * old file or the whole new one at any moment, and the old one after a failure.
 *
 * bf16 is written to .npy and .npz as '<V2', f8 as '<V1', with the dtype's name in a comment of
 * the header: np.load(path).view(ml_dtypes.bfloat16) reads it. */
TN_API TN_NODISCARD tn_status tn_save(const char *path, const tn_tensor *t);

/* Write n tensors into a .npz, a .safetensors or a .gguf; metadata, of .safetensors alone, is a
 * JSON object of strings or NULL.
 *
 * In .safetensors wider dtypes come first, so that every tensor is aligned.
 *
 * TN_EARG         a name is duplicated or is not UTF-8
 * TN_EFORMAT      metadata is not a JSON object of strings
 * TN_EUNSUPPORTED another suffix, or a dtype that the format lacks */
TN_API TN_NODISCARD tn_status tn_save_many(const char *path, int n, const char *const *names,
                                           const tn_tensor *const *ts, const char *metadata);

/* ---- writing piece by piece ---- */

typedef struct tn_writer tn_writer;

/* What a writer needs to know beyond the tensors; zero means default. */
typedef struct tn_write_options {
    const char *metadata; /* JSON object of strings, for .safetensors */
    int64_t align;        /* at most 2^20.  .safetensors: data starts at a multiple of it; 8 by
                           * default.  .gguf: each tensor does; 32 by default, or what values
                           * say */
    int64_t no_sync;      /* not 0: do not wait for the disk: survives a crash of the process,
                           * not of the machine */
    int64_t compress;     /* .npz: not 0: deflate the members */
    int64_t exclusive;    /* not 0: what is at path when the file is complete stays, and
                           * tn_writer_commit fails with TN_EIO */
    const void *values;   /* .gguf: key-values as tn_file_values gives them, or NULL: none */
    int64_t values_size;  /* their bytes */
    void *reserved[1];    /* NULL */
} tn_write_options;

/* Begin a file that will hold n tensors of the given dtypes and shapes (data and strides are
 * ignored), in that order; nothing is at path before tn_writer_commit.  names may be NULL
 * when n is 1.
 *
 * .gguf takes f16, bf16, f32, f64, i8, i16, i32 and i64, at most 4 axes, names of at most 63
 * bytes.
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

/* Where everything lies in the file that a writer of these tensors makes, for those who write it
 * by several processes: header gets its first bytes (as many as size), *bytes says how many come
 * before the first element, offsets[i] where tensor i begins; its elements are little endian in
 * row-major order, and nothing follows the last one.  Nothing is written.
 *
 * TN_EUNSUPPORTED another format than .npy and .safetensors */
TN_API TN_NODISCARD tn_status tn_writer_layout(const char *path, int n,
                                               const char *const *names,
                                               const tn_tensor *const *ts,
                                               const tn_write_options *options, void *header,
                                               size_t size, int64_t *bytes, int64_t *offsets);

/* Append elements, in row-major order of piece: the next ones of the tensor that is not
 * complete, whose dtype piece has.  The shape of piece is free; it ends no later than the
 * tensor.  After a failure only tn_writer_abort is left.
 *
 * TN_EDTYPE  not the dtype of the tensor
 * TN_EARG    more elements than are left */
TN_API TN_NODISCARD tn_status tn_writer_put(tn_writer *w, const tn_tensor *piece);

/* Finish the file and release w, also on failure.  TN_EARG when elements are missing. */
TN_API TN_NODISCARD tn_status tn_writer_commit(tn_writer *w);

/* Leave no file and release w.  NULL is fine. */
TN_API void tn_writer_abort(tn_writer *w);

TN_END

#endif
