/* io_fail.h - making the k-th system call of a kind fail in tests of io. */
#ifndef IO_FAIL_H
#define IO_FAIL_H

#include <errno.h>
#include <string.h>

#include "io/sys.h"

static const char *kind;

static int seen, fail_at;

static inline int fail_one(const char *call, size_t *n)
{
    (void)n;
    return !strcmp(call, kind) && seen++ == fail_at ? EIO : 0;
}

static inline void arm(const char *call, int k)
{
    kind = call;
    fail_at = k;
    seen = 0;
    tni_sys_hook = fail_one;
}

#endif
