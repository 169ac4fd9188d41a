/* sys.c - the system calls of io: interrupted calls are repeated, short transfers continued.
 *
 * A temporary file has no name where the system allows that, so a process that dies leaves
 * nothing behind; the file is given one only for the moment before the rename. */
#define _FILE_OFFSET_BITS 64

#include "sys.h"

#include "core/core.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* For longer writes the kernel looks for long runs of free pages, which takes longer. */
enum { READ_PIECE = 1 << 30, WRITE_PIECE = 512 << 10, TRIES = 100 };

int (*tni_sys_hook)(const char *call, size_t *n);

int tni_sys_ask(const char *call, size_t *n)
{
    return tni_sys_hook ? tni_sys_hook(call, n) : 0;
}

const char *tni_sys_words(int error, char *buf, size_t size)
{
    if (error == TNI_NOT_REGULAR)
        return "not a regular file";
    return strerror_r(error, buf, size);
}

int tni_sys_size(int fd, int64_t *size)
{
    struct stat s;
    int error = tni_sys_ask("fstat", NULL);
    if (error)
        return error;
    if (fstat(fd, &s) != 0)
        return errno;
    if (S_ISDIR(s.st_mode))
        return EISDIR;
    if (!S_ISREG(s.st_mode))
        return TNI_NOT_REGULAR;
    *size = s.st_size;
    return 0;
}

int tni_sys_open(const char *path, int *fd, int64_t *size)
{
    int error = tni_sys_ask("open", NULL);
    if (error)
        return error;
    int got;
    do
        got = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    error = tni_sys_size(got, size);
    if (error) {
        close(got);
        return error;
    }
    *fd = got;
    return 0;
}

int tni_sys_list(const char *path, bool (*each)(void *user, const char *name), void *user)
{
    int error = tni_sys_ask("opendir", NULL);
    DIR *d = error ? NULL : opendir(path);
    if (!d)
        return error ? error : errno;
    const struct dirent *entry;
    errno = 0;
    while ((entry = readdir(d)) && each(user, entry->d_name))
        errno = 0;
    error = entry ? 0 : errno;
    closedir(d);
    return error;
}

int tni_sys_close(int fd)
{
    int error = tni_sys_ask("close", NULL);
    return close(fd) != 0 && !error ? errno : error;
}

int tni_sys_pread(int fd, void *buf, size_t n, int64_t at, size_t *got)
{
    size_t done = 0;
    while (done < n) {
        size_t piece = n - done < READ_PIECE ? n - done : READ_PIECE;
        int error = tni_sys_ask("pread", &piece);
        if (error)
            return error;
        ssize_t r = pread(fd, (char *)buf + done, piece, (off_t)(at + (int64_t)done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return errno;
        if (r == 0)
            break;
        done += (size_t)r;
    }
    *got = done;
    return 0;
}

static int write_pieces(int fd, const char *from, size_t n, int64_t at, size_t longest)
{
    for (size_t done = 0; done < n;) {
        size_t piece = n - done < longest ? n - done : longest;
        int error = tni_sys_ask("write", &piece);
        if (error)
            return error;
        ssize_t r = at < 0 ? write(fd, from + done, piece)
                           : pwrite(fd, from + done, piece, (off_t)(at + (int64_t)done));
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return errno;
        if (TNI_NEVER(r == 0))
            return EIO;
        done += (size_t)r;
    }
    return 0;
}

int tni_sys_pwrite(int fd, const void *buf, size_t n, int64_t at)
{
    return write_pieces(fd, buf, n, at, WRITE_PIECE);
}

int tni_sys_pwrite_direct(int fd, const void *buf, size_t n, int64_t at)
{
    return write_pieces(fd, buf, n, at, TNI_LONG_WRITE);
}

int tni_sys_copy(int from, int64_t at, int to, int64_t to_at, int64_t n, int64_t *got)
{
    *got = 0;
    while (*got < n) {
        size_t piece = (size_t)(n - *got);
        int error = tni_sys_ask("copy", &piece);
        if (error)
            return error;
        off_t in = (off_t)(at + *got), out = (off_t)(to_at + *got);
        ssize_t r = copy_file_range(from, &in, to, &out, piece, 0);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return errno;
        if (r == 0)
            break;
        *got += r;
    }
    return 0;
}

int tni_sys_map(int fd, int64_t n, bool readable, void **at)
{
    int error = tni_sys_ask("mmap", NULL);
    if (TNI_NEVER((uint64_t)n > SIZE_MAX)) /* 32-bit hosts */
        error = ENOMEM;
    if (error)
        return error;
    void *got = mmap(NULL, (size_t)n, readable ? PROT_READ : PROT_NONE, MAP_PRIVATE, fd, 0);
    if (got == MAP_FAILED)
        return errno;
    *at = got;
    return 0;
}

void tni_sys_unmap(void *at, int64_t n)
{
    munmap(at, (size_t)n);
}

/* ---- writing: temporary file, rename ---- */

/* The folder part of path, "." if there is none; *len is set to its length. */
static const char *folder(const char *path, int *len)
{
    const char *slash = strrchr(path, '/');
    *len = slash ? (int)(slash - path) + 1 : 1;
    return slash ? path : ".";
}

static int temp_name(const char *path, char *name, size_t size)
{
    static atomic_uint serial;
    int len;
    const char *dir = folder(path, &len);
    int n = snprintf(name, size, "%.*s%s.tenon-%ld-%u.tmp", len, dir, *dir == '.' ? "/" : "",
                     (long)getpid(), atomic_fetch_add(&serial, 1));
    return (size_t)n >= size ? ENAMETOOLONG : 0;
}

static int open_unlinked(const char *path, int mode, int *fd)
{
    char dir[PATH_MAX];
    int len;
    const char *from = folder(path, &len);
    if (TNI_NEVER((size_t)len >= sizeof dir)) /* tni_sys_target has checked the length */
        return ENAMETOOLONG;
    memcpy(dir, from, (size_t)len);
    dir[len] = 0;
    *fd = open(dir, O_TMPFILE | mode | O_CLOEXEC, 0666);
    return *fd < 0 ? errno : 0;
}

/* Open an unnamed file (O_TMPFILE) or, where the system has none, one with a new name, in
 * access mode `mode`. */
static int open_temp(const char *path, int mode, char *name, size_t size, int *fd)
{
    name[0] = 0;
    int error = tni_sys_ask("tmpfile", NULL);
    if (!error)
        error = open_unlinked(path, mode, fd);
    if (error != EOPNOTSUPP && error != EISDIR && error != EINVAL)
        return error;
    for (int i = 0; i < TRIES; i++) {
        error = temp_name(path, name, size);
        if (error)
            break;
        *fd = open(name, O_CREAT | O_EXCL | mode | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return 0;
        error = errno;
        if (error != EEXIST)
            break;
    }
    name[0] = 0;
    return error;
}

int tni_sys_temp(const char *path, char *name, size_t size, int *fd)
{
    int error = tni_sys_ask("create", NULL);
    return error ? error : open_temp(path, O_WRONLY, name, size, fd);
}

int tni_sys_scratch(const char *path, int *fd)
{
    char name[PATH_MAX];
    int error = tni_sys_ask("scratch", NULL);
    if (!error)
        error = open_temp(path, O_RDWR, name, sizeof name, fd);
    if (!error)
        tni_sys_forget(name);
    return error;
}

/* Give the file a name, by a link. */
static int name_it(int fd, const char *path, char *name, size_t size)
{
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    int error = tni_sys_ask("link", NULL);
    for (int i = 0; !error && i < TRIES; i++) {
        error = temp_name(path, name, size);
        if (error)
            break;
        if (linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0)
            return 0;
        if (errno != EEXIST)
            error = errno;
    }
    name[0] = 0;
    return error ? error : EEXIST;
}

static int sync_folder(const char *path)
{
    char dir[PATH_MAX];
    int len;
    const char *from = folder(path, &len);
    memcpy(dir, from, (size_t)len);
    dir[len] = 0;
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    /* Some file systems cannot sync a folder and return EINVAL; the rename is valid all the
     * same. */
    int error = fsync(fd) != 0 && errno != EINVAL ? errno : 0;
    close(fd);
    return error;
}

void tni_sys_flow(int fd, int64_t at, int64_t n)
{
    (void)sync_file_range(fd, at, n, SYNC_FILE_RANGE_WRITE);
}

/* Rename the file to path; with exclusive, fail if path exists. */
static int rename_to(const char *name, const char *path, bool exclusive)
{
    if (!exclusive)
        return rename(name, path) != 0 ? errno : 0;
    if (renameat2(AT_FDCWD, name, AT_FDCWD, path, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return errno;
    /* The file system lacks RENAME_NOREPLACE; a link does not replace a file either. */
    if (link(name, path) != 0)
        return errno;
    return unlink(name) != 0 ? errno : 0;
}

int tni_sys_publish(int fd, char *name, size_t size, const char *path, bool sync,
                    bool exclusive)
{
    struct stat old;
    if (stat(path, &old) != 0 ? errno != ENOENT : fchmod(fd, old.st_mode & 0777) != 0)
        return errno;
    int error = sync ? tni_sys_ask("fsync", NULL) : 0;
    if (error)
        return error;
    if (sync && fsync(fd) != 0)
        return errno;
    if (!name[0]) {
        error = name_it(fd, path, name, size);
        if (error)
            return error;
    }
    error = tni_sys_ask("rename", NULL);
    if (!error)
        error = rename_to(name, path, exclusive);
    if (error)
        return error;
    name[0] = 0;
    error = sync ? tni_sys_ask("fsync", NULL) : 0;
    return error || !sync ? error : sync_folder(path);
}

void tni_sys_forget(const char *name)
{
    if (name[0])
        unlink(name);
}

static int keep(const char *path, char *target, size_t size)
{
    if (strlen(path) + 1 > size)
        return ENAMETOOLONG;
    memcpy(target, path, strlen(path) + 1);
    return 0;
}

int tni_sys_target(const char *path, char *target, size_t size)
{
    struct stat s;
    char real[PATH_MAX];
    const char *to = path;
    int error = tni_sys_ask("stat", NULL);
    if (error)
        return error;
    /* If lstat fails for another reason than ENOENT, path may exist and not be a regular
     * file. */
    if (lstat(path, &s) != 0)
        return errno == ENOENT ? keep(path, target, size) : errno;
    if (S_ISLNK(s.st_mode)) {
        if (!realpath(path, real) || stat(real, &s) != 0)
            return errno;
        to = real;
    }
    if (S_ISDIR(s.st_mode))
        return EISDIR;
    if (!S_ISREG(s.st_mode))
        return TNI_NOT_REGULAR;
    return keep(to, target, size);
}
