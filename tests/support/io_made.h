/* io_made.h - files for tests of io whose bytes are assembled by hand, field by field. */
#ifndef IO_MADE_H
#define IO_MADE_H

#include "io_oracle.h"

#include <sys/mman.h>

/* The bytes are written to a file in memory. */
static int fd = -1;

static uint8_t made[2 << 20];

static size_t length;

static inline void add(const void *bytes, size_t n)
{
    assert_true(length + n <= sizeof made);
    memcpy(made + length, bytes, n);
    length += n;
}

static inline void add_number(uint64_t x, int bytes)
{
    for (int i = 0; i < bytes; i++)
        made[length++] = (uint8_t)(x >> 8 * i);
}

static inline void add_times(int byte, size_t n)
{
    assert_true(length + n <= sizeof made);
    memset(made + length, byte, n);
    length += n;
}

/* Open the assembled file without its last `less` bytes; it is closed again if f is NULL. */
static inline tn_status open_made(size_t less, tn_file **f)
{
    tn_file *mine = NULL;
    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(pwrite(fd, made, length - less, 0), length - less);
    const tn_status status = tn_file_open_fd(f ? f : &mine, fd, "x");
    tn_file_close(mine);
    return status;
}

#define REFUSED(status, sentence, call)                                                        \
    do {                                                                                       \
        assert_int_equal(call, status);                                                        \
        assert_string_equal(tn_error(), sentence);                                             \
    } while (0)

/* Assemble a .npy of the given version and header. */
static inline void npy(int major, const char *text, size_t n)
{
    length = 0;
    add("\x93NUMPY", 6);
    add_number((uint64_t)major, 2);
    add_number(n, major > 1 ? 4 : 2);
    add(text, n);
}

#define NPY(DESCR, SHAPE) "{'descr': " DESCR ", 'fortran_order': False, 'shape': " SHAPE "}"

/* Create the file in memory, and a folder. */
static inline int make_files(void **state)
{
    fd = memfd_create("made", MFD_CLOEXEC);
    return fd < 0 || make_folder(state) != 0;
}

static inline int drop_files(void **state)
{
    return close(fd) != 0 || drop_folder(state) != 0;
}

#endif
