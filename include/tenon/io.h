/* io.h - tensors in files: .npy, .npz, .safetensors, .gguf, told apart by content. */
#ifndef TENON_IO_H
#define TENON_IO_H

#include <tenon/tensor.h>

TN_BEGIN

typedef struct tn_file tn_file;

TN_API TN_NODISCARD tn_status tn_file_open(tn_file **f, const char *path);
TN_API int64_t tn_file_count(const tn_file *f);
TN_API TN_NODISCARD tn_status tn_file_info(const tn_file *f, int64_t i, const char **name,
                                           tn_tensor *desc, int64_t *offset);
TN_API TN_NODISCARD tn_status tn_file_find(const tn_file *f, const char *name, int64_t *i);
TN_API TN_NODISCARD tn_status tn_file_read(const tn_file *f, int64_t i, tn_tensor *out);
TN_API TN_NODISCARD tn_status tn_file_map(const tn_file *f, int64_t i, tn_tensor *out);
TN_API void tn_file_close(tn_file *f);
TN_API TN_NODISCARD tn_status tn_save(const char *path, const tn_tensor *t);
TN_API TN_NODISCARD tn_status tn_save_many(const char *path, int n, const char *const *names,
                                           const tn_tensor *const *ts, const char *metadata);

TN_END

#endif
