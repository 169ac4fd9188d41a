/* torch_made.h - torch files whose pickle is written by hand, opened from memory. */
#ifndef TORCH_MADE_H
#define TORCH_MADE_H

#include "io_oracle.h"

#include <sys/mman.h>

#include "torch_archive.h"

static int fd = -1;

static inline tn_status open_bytes(const void *bytes, size_t n, tn_file **f)
{
    if (fd < 0)
        fd = memfd_create("x.pt", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, bytes, n, 0), n);
    *f = NULL;
    return tn_file_open_fd(f, fd, "x.pt");
}

static inline tn_status open_pickle(const void *pickle, size_t n, tn_file **f)
{
    torch_archive a = {0};
    float storage[16] = {0};
    torch_member(&a, "m/data.pkl", pickle, n);
    torch_member(&a, "m/data/0", storage, sizeof storage);
    torch_finish(&a);
    tn_status status = open_bytes(a.bytes, a.n, f);
    torch_free(&a);
    return status;
}

#define STORAGE_OF(type, key, location, numel)                                                 \
    "(U\7storagectorch\n" type "Storage\n" key location numel "tQ"
#define STORAGE(key, numel) STORAGE_OF("Float", "U\1" key, "U\3cpu", "K" numel)
#define PLAIN               STORAGE("0", "\x10")
#define V3(dtype)                                                                              \
    "ctorch._utils\n_rebuild_tensor_v3\n(" PLAIN "K\0K\4\x85K\1\x85\x89}" dtype "tR."
#define BIG(top)                               "\x8a\10\0\0\0\0\0\0\0" top
#define FROM_TYPE                              "ctorch._tensor\n_rebuild_from_type_v2\n"
#define DICT                                   "ccollections\nOrderedDict\n"
#define REBUILD                                "ctorch._utils\n_rebuild_tensor_v2\n"
#define TENSOR(storage, offset, shape, stride) REBUILD "(" storage offset shape stride "\x89}tR"
#define FOUR_OF(storage)                       TENSOR(storage, "K\0", "K\4\x85", "K\1\x85")

#endif
