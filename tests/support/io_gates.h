/* io_gates.h - wrappers of the system calls of the library and the command, installed by the
 * linker (--wrap): once armed, the k-th call fails.  A program includes this file once. */
#ifndef IO_GATES_H
#define IO_GATES_H

#include "io_oracle.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static bool armed, no_tmpfile, short_transfers, renamed;
static const char *always; /* this call always fails */
static int calls, fail_at, trouble;
static const char *failed;

static bool fails(const char *call)
{
    if (!armed || (calls++ != fail_at && !(always && !strcmp(always, call))))
        return false;
    failed = call;
    errno = trouble;
    return true;
}

static size_t cut(size_t n)
{
    return armed && short_transfers && n > 1 ? n / 2 : n;
}

#define GATE(type, name, bad, parameters, arguments)                                           \
    type __real_##name parameters;                                                             \
    type __wrap_##name parameters;                                                             \
    type __wrap_##name parameters                                                              \
    {                                                                                          \
        return fails(#name) ? bad : __real_##name arguments;                                   \
    }

/* clang-format off */
GATE(ssize_t, pwrite64, -1, (int fd, const void *buf, size_t n, off64_t at), (fd, buf, cut(n), at))
GATE(ssize_t, write, -1, (int fd, const void *buf, size_t n), (fd, buf, cut(n)))
GATE(ssize_t, read, -1, (int fd, void *buf, size_t n), (fd, buf, cut(n)))
GATE(int, fchmod, -1, (int fd, mode_t mode), (fd, mode))
GATE(int, linkat, -1, (int a, const char *from, int b, const char *to, int flags), (a, from, b, to, flags))
GATE(int, fstat64, -1, (int fd, struct stat64 *s), (fd, s))
GATE(int, stat64, -1, (const char *path, struct stat64 *s), (path, s))
GATE(int, lstat64, -1, (const char *path, struct stat64 *s), (path, s))
GATE(int, dup, -1, (int fd), (fd))
GATE(FILE *, tmpfile64, NULL, (void), ())
GATE(int, link, -1, (const char *from, const char *to), (from, to))
GATE(int, renameat2, -1, (int a, const char *from, int b, const char *to, unsigned flags), (a, from, b, to, flags))
GATE(ssize_t, copy_file_range, -1, (int in, off64_t *from, int out, off64_t *to, size_t n, unsigned flags), (in, from, out, to, cut(n), flags))
GATE(void *, mmap64, MAP_FAILED, (void *at, size_t n, int p, int f, int fd, off64_t o), (at, n, p, f, fd, o))
/* clang-format on */

/* A read too large for any memory succeeds without reading. */
ssize_t __real_pread64(int fd, void *buf, size_t n, off64_t at);
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off64_t at);
ssize_t __wrap_pread64(int fd, void *buf, size_t n, off64_t at)
{
    if (fails("pread64"))
        return -1;
    return n >= 1 << 29 ? (ssize_t)n : __real_pread64(fd, buf, cut(n), at);
}

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (fails(flags & O_EXCL ? "create" : "open"))
        return -1;
    if (armed && no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    return __real_open64(path, flags, mode);
}

/* Skip the sync: no test depends on it, and disks are slow. */
int __wrap_fsync(int fd);
int __wrap_fsync(int fd)
{
    (void)fd;
    return fails("fsync") ? -1 : 0;
}

int __real_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to);
int __wrap_rename(const char *from, const char *to)
{
    if (fails("rename"))
        return -1;
    renamed = renamed || armed;
    return __real_rename(from, to);
}

/* unlink fails only if a test sets no_unlink. */
static bool no_unlink;
int __real_unlink(const char *path);
int __wrap_unlink(const char *path);
int __wrap_unlink(const char *path)
{
    if (!armed || !no_unlink)
        return __real_unlink(path);
    errno = trouble;
    return -1;
}

/* close releases the descriptor even if it reports an error, as in the kernel. */
int __real_close(int fd);
int __wrap_close(int fd);
int __wrap_close(int fd)
{
    bool bad = fails("close");
    int got = __real_close(fd);
    errno = bad ? trouble : errno;
    return bad ? -1 : got;
}

static void arm(int k, int error)
{
    calls = 0;
    fail_at = k;
    trouble = error;
    failed = NULL;
    renamed = false;
    armed = true;
}

/* ---- checks after a call ---- */

static inline int open_fds(void)
{
    int n = 0;
    for (int fd = 0; fd < 64; fd++)
        n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

static inline int files(void)
{
    int n = 0;
    DIR *d = opendir(".");
    for (struct dirent *e; (e = readdir(d));)
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

static inline bool holds(const char *path, const uint8_t *want, size_t n)
{
    size_t got_n;
    uint8_t *got = slurp(path, &got_n);
    bool same = got_n == n && !memcmp(got, want, n);
    free(got);
    return same;
}

static const int troubles[] = {EIO, ENOSPC, EINTR};

static inline void put_old(const char *path)
{
    spit(path, "old", 3);
    chmod(path, 0640);
}

#endif
