/* stream_sink.h - a sink for the blocks of a stream, its progress, and a source in memory.
 * Include it after layout.h or io_oracle.h, which include what tests need. */
#ifndef STREAM_SINK_H
#define STREAM_SINK_H

#include <tenon/stream.h>

#include "stream_refused.h"

/* What has been gathered and reported; fail_at, stop_at: the call and the progress at which it
 * fails, or 0. */
typedef struct sink {
    char *bytes;
    int64_t size, calls, done, total, reported, fail_at, stop_at;
} sink;

static inline tn_status gather(void *user, const tn_tensor *block, const int64_t *at)
{
    sink *s = user;
    (void)at;
    assert_true(tn_is_contiguous(block));
    if (++s->calls == s->fail_at)
        return TN_EIO;
    memcpy(s->bytes + s->size, block->data, (size_t)tn_nbytes(block));
    s->size += tn_nbytes(block);
    return TN_OK;
}

static inline tn_status advance(void *user, int64_t done, int64_t total)
{
    sink *s = user;
    assert_true(done >= s->done && done <= total);
    s->done = done;
    s->total = total;
    return s->stop_at && done >= s->stop_at ? TN_EDEVICE : TN_OK;
}

/* Read a box; a broadcast axis is read once, at 0, so the box is that of a tensor without
 * strides of 0. */
static inline tn_status read_memory(void *user, const tn_tensor *dst, const int64_t *at)
{
    tn_tensor v;
    tn_status status = tn_view(&v, user, dst->shape, at, NULL, 0);
    return status == TN_OK ? tn_rearrange(dst, &v) : status;
}

#endif
