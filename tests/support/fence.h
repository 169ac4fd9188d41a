/* fence.h - memory between two inaccessible pages, for kernels that may access only their
 * elements.
 *
 * An access outside ends the program; the signal handler prints the current case. */
#ifndef FENCE_H
#define FENCE_H

#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "copy_oracle.h"

enum { ROOM = 512 * 1024 };

typedef struct fenced {
    char *low, *high; /* limits of the space between the pages */
} fenced;

static inline fenced fence_off(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p =
        mmap(NULL, ROOM + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    assert_int_equal(mprotect(p, page, PROT_NONE), 0);
    assert_int_equal(mprotect(p + page + ROOM, page, PROT_NONE), 0);
    return (fenced){p + page, p + page + ROOM};
}

/* A block of bytes at the low or the high end of the space. */
static inline char *at_edge(const fenced *f, int64_t bytes, bool high)
{
    assert_true(bytes <= ROOM);
    return high ? f->high - bytes : f->low;
}

static char now[300]; /* description of the current case */

static inline void outside(int signal)
{
    (void)signal;
    static const char reported[] = "outside its bytes: ";
    if (write(2, reported, sizeof reported - 1) < 0 || write(2, now, strlen(now)) < 0 ||
        write(2, "\n", 1) < 0)
        _exit(3);
    _exit(2);
}

/* Install the handler from within a test, because cmocka installs its own around each test. */
static inline void watch_fences(void)
{
    struct sigaction act = {.sa_handler = outside};
    sigaction(SIGSEGV, &act, NULL);
    sigaction(SIGBUS, &act, NULL);
}

#endif
