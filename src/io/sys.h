/* sys.h - the system calls of io, all of them, with one hook in front for tests.
 *
 * Every call gives 0 or an errno; transfers are complete or end with the file. */
#ifndef TNI_SYS_H
#define TNI_SYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Asked before each system call, by name ("open", "pread", "write", …): an errno fails it, and
 * a transfer may be cut short by lowering *n (NULL where nothing is transferred).  NULL, the
 * default, asks nobody. */
extern int (*tni_sys_hook)(const char *call, size_t *n);

/* What the hook says of a call; 0 without one. */
int tni_sys_ask(const char *call, size_t *n);

int tni_sys_open(const char *path, int *fd, int64_t *size); /* a regular file, to read */
int tni_sys_size(int fd, int64_t *size);                    /* TNI_NOT_REGULAR for others */
int tni_sys_close(int fd);

/* Each name in a folder, in no order, until `each` is false. */
int tni_sys_list(const char *path, bool (*each)(void *user, const char *name), void *user);

int tni_sys_pread(int fd, void *buf, size_t n, int64_t at, size_t *got);
int tni_sys_pwrite(int fd, const void *buf, size_t n, int64_t at); /* at -1: append */

/* n bytes to an fd that tni_sys_set_direct has set, in long writes: dd reaches the disk's rate
 * with 8 MiB, and no higher one with 64 (a virtual disk). */
enum { TNI_LONG_WRITE = 8 << 20 };
int tni_sys_pwrite_direct(int fd, const void *buf, size_t n, int64_t at);

/* Copy up to n bytes from one file to another; *got of them have been, also on failure. */
int tni_sys_copy(int from, int64_t at, int to, int64_t to_at, int64_t n, int64_t *got);

int tni_sys_map(int fd, int64_t n, bool readable, void **at);
void tni_sys_unmap(void *at, int64_t n);

/* A file without a name beside the one at path; where the system has none, a named one, whose
 * name of at most size bytes is left in name ("" otherwise). */
int tni_sys_temp(const char *path, char *name, size_t size, int *fd);

/* A file without a name in the folder of path, to be written and read. */
int tni_sys_scratch(const char *path, int *fd);

/* Let the system begin to write bytes to the disk, without waiting for it. */
void tni_sys_flow(int fd, int64_t at, int64_t n);

/* ---- past the page cache (sys_direct.c) ---- */

/* fd once more, to read past the page cache in multiples of *block bytes; an errno where the file
 * system has no such way or is memory itself. */
int tni_sys_direct(int fd, int *direct, int64_t *block);

/* Let writes to fd go past the page cache, in multiples of TNI_DISK_BLOCK bytes, or through it. */
int tni_sys_set_direct(int fd, bool on);

/* Whether the file system keeps files in memory alone, as tmpfs does; also where it does not say. */
bool tni_sys_is_memory(int fd);

/* What the system should do with its copy of a file in memory. */
typedef enum tni_advice {
    TNI_NORMAL, /* read ahead */
    TNI_RANDOM, /* read what is asked for */
    TNI_WANTED, /* begin to read these bytes */
    TNI_FORGET  /* drop what is on the disk already */
} tni_advice;
/* Of n bytes from at on; n of 0 are all. */
void tni_sys_advise(int fd, tni_advice advice, int64_t at, int64_t n);

/* Take space for n bytes from at on; 0 also where the file system cannot. */
int tni_sys_reserve(int fd, int64_t at, int64_t n);

/* Sync fd, put it at path and sync the folder; name is as tni_sys_temp left it.  With exclusive
 * a file at path stays: EEXIST. */
int tni_sys_publish(int fd, char *name, size_t size, const char *path, bool sync,
                    bool exclusive);

/* Remove the named temporary file, if there is one. */
void tni_sys_forget(const char *name);

/* Where a write to path really goes: symbolic links followed, and an existing file that is not
 * regular refused. */
int tni_sys_target(const char *path, char *target, size_t size);

enum { TNI_NOT_REGULAR = -1 };

/* The errno as words. */
const char *tni_sys_words(int error, char *buf, size_t size);

#endif
