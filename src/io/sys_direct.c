/* sys_direct.c - the system calls of io for direct I/O, read-ahead and disk space. */
#define _FILE_OFFSET_BITS 64

#include "io.h"
#include "sys.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

bool tni_sys_is_memory(int fd)
{
    struct statfs fs;
    return fstatfs(fd, &fs) != 0 || fs.f_type == TMPFS_MAGIC;
}

/* The block size that direct I/O needs offsets, lengths and addresses to be multiples of; 0:
 * direct I/O is not possible. */
static int64_t direct_block(int fd)
{
    if (tni_sys_is_memory(fd)) /* the page cache is the file itself */
        return 0;
#ifdef STATX_DIOALIGN
    struct statx x;
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &x) == 0 && x.stx_mask & STATX_DIOALIGN) {
        const int64_t block = x.stx_dio_offset_align;
        return x.stx_dio_mem_align > TNI_DISK_BLOCK || block > TNI_DISK_BLOCK ? 0 : block;
    }
#endif
    return TNI_DISK_BLOCK;
}

int tni_sys_direct(int fd, int *direct, int64_t *block)
{
    char self[64];
    if (tni_sys_ask("direct", NULL))
        return EINVAL;
    *block = direct_block(fd);
    if (*block == 0)
        return EINVAL;
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    *direct = open(self, O_RDONLY | O_DIRECT | O_CLOEXEC);
    return *direct < 0 ? errno : 0;
}

int tni_sys_set_direct(int fd, bool on)
{
    const int flags = fcntl(fd, F_GETFL);
    if (on && (tni_sys_ask("direct", NULL) || direct_block(fd) == 0))
        return EINVAL;
    if (flags < 0 || fcntl(fd, F_SETFL, on ? flags | O_DIRECT : flags & ~O_DIRECT) != 0)
        return errno;
    return 0;
}

void tni_sys_advise(int fd, tni_advice advice, int64_t at, int64_t n)
{
    static const int kinds[] = {[TNI_NORMAL] = POSIX_FADV_NORMAL,
                                [TNI_RANDOM] = POSIX_FADV_RANDOM,
                                [TNI_WANTED] = POSIX_FADV_WILLNEED,
                                [TNI_FORGET] = POSIX_FADV_DONTNEED};
    if (tni_sys_ask("fadvise", NULL) == 0)
        (void)posix_fadvise(fd, at, n, kinds[advice]);
}

int tni_sys_reserve(int fd, int64_t at, int64_t n)
{
    int error = tni_sys_ask("fallocate", NULL);
    if (!error && fallocate(fd, 0, at, n) != 0)
        error = errno;
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? error : 0;
}
