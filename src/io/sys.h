/* sys.h - all the system calls of io, behind one hook for tests.
 *
 * Every call returns 0 or an errno; transfers are complete unless the file ends. */
#ifndef TNI_SYS_H
#define TNI_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Called before each system call with its name ("open", "pread", "write", …): a returned errno
 * makes the call fail, and lowering *n shortens a transfer (n is NULL if nothing is
 * transferred).  NULL is the default. */
extern int (*tni_sys_hook)(const char *call, size_t *n);

/* Call the hook; 0 if there is none. */
int tni_sys_ask(const char *call, size_t *n);

int tni_sys_open(const char *path, int *fd, int64_t *size); /* a regular file, for reading */
int tni_sys_size(int fd, int64_t *size);                    /* or TNI_NOT_REGULAR */
int tni_sys_close(int fd);

/* Call `each` with every name in a folder, in no particular order, until it returns false. */
int tni_sys_list(const char *path, bool (*each)(void *user, const char *name), void *user);

int tni_sys_pread(int fd, void *buf, size_t n, int64_t at, size_t *got);
int tni_sys_pwrite(int fd, const void *buf, size_t n, int64_t at); /* at -1: append */

/* Write n bytes in long pieces to an fd prepared by tni_sys_set_direct: dd reaches the disk's
 * rate with 8 MiB and is no faster with 64 (a virtual disk). */
enum { TNI_LONG_WRITE = 8 << 20 };
int tni_sys_pwrite_direct(int fd, const void *buf, size_t n, int64_t at);

/* Copy up to n bytes between two files; *got is the number copied, also on failure. */
int tni_sys_copy(int from, int64_t at, int to, int64_t to_at, int64_t n, int64_t *got);

int tni_sys_map(int fd, int64_t n, bool readable, void **at);
void tni_sys_unmap(void *at, int64_t n);

/* Create an unnamed file in the folder of path; where the system lacks these, a named one.  Its
 * name, at most size bytes, is stored in name ("" for an unnamed file). */
int tni_sys_temp(const char *path, char *name, size_t size, int *fd);

/* Create an unnamed file in the folder of path, open for reading and writing. */
int tni_sys_scratch(const char *path, int *fd);

/* Ask the system to begin writing these bytes to the disk, without waiting for it. */
void tni_sys_flow(int fd, int64_t at, int64_t n);

/* ---- direct I/O (sys_direct.c) ---- */

/* Open fd's file again with O_DIRECT, for reads in multiples of *block bytes; an errno if the
 * file system does not support it or is in memory. */
int tni_sys_direct(int fd, int *direct, int64_t *block);

/* Switch O_DIRECT on or off for fd; while on, writes are multiples of TNI_DISK_BLOCK bytes. */
int tni_sys_set_direct(int fd, bool on);

/* True if the file system keeps files in memory, as tmpfs does, or cannot be queried. */
bool tni_sys_is_memory(int fd);

/* Advice to the system about its page cache. */
typedef enum tni_advice {
    TNI_NORMAL, /* default read-ahead */
    TNI_RANDOM, /* no read-ahead */
    TNI_WANTED, /* begin reading these bytes */
    TNI_FORGET  /* drop pages that are on disk */
} tni_advice;
/* Give advice on n bytes at offset at; n = 0 means to the end of the file. */
void tni_sys_advise(int fd, tni_advice advice, int64_t at, int64_t n);

/* Allocate disk space for n bytes at offset at; 0 also where the file system does not support
 * it. */
int tni_sys_reserve(int fd, int64_t at, int64_t n);

/* Sync fd, rename it to path and sync the folder; name is as set by tni_sys_temp.  With
 * exclusive an existing file at path is kept: EEXIST. */
int tni_sys_publish(int fd, char *name, size_t size, const char *path, bool sync,
                    bool exclusive);

/* Remove the temporary file if it has a name. */
void tni_sys_forget(const char *name);

/* The file that a write to path replaces: symbolic links are followed, and an existing file
 * that is not regular is refused. */
int tni_sys_target(const char *path, char *target, size_t size);

enum { TNI_NOT_REGULAR = -1 };

/* The text of an errno. */
const char *tni_sys_words(int error, char *buf, size_t size);

#endif
