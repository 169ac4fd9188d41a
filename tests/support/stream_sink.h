/* stream_sink.h - where the blocks of a stream go, what it reports, and a source in memory; behind
 * layout.h or io_oracle.h, which have what tests include. */
#ifndef STREAM_SINK_H
#define STREAM_SINK_H

#include <tenon/stream.h>

#include "stream_refused.h"

/* What has been gathered and reported; the call or the progress at which it fails, unless 0. */
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

/* What repeats is asked for once, at 0: the box is that of a tensor without strides of 0. */
static inline tn_status read_memory(void *user, const tn_tensor *dst, const int64_t *at)
{
    tn_tensor v;
    tn_status status = tn_view(&v, user, dst->shape, at, NULL, 0);
    return status == TN_OK ? tn_rearrange(dst, &v) : status;
}

#endif
