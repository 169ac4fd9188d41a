/* way_block.c - copies without loops: nothing, one dense block, one value over a dense
 * block. */
#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

/* The bytes of one item: 64 pages, so that the page that a thread begins with costs little, and
 * enough items for all threads from a few megabytes on.  Other sizes were not measured. */
enum { PIECE = 256 * 1024 };

static bool nothing_plan(tni_copy *c, const tni_copy_case *of)
{
    (void)of;
    c->bytes = c->items = 0;
    return true;
}

static void copy_nothing_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    (void)j, (void)first, (void)last;
}

static bool block_plan(tni_copy *c, const tni_copy_case *of)
{
    c->streams = of->beyond;
    c->items = tni_ceil_div(c->bytes, PIECE);
    return true;
}

/* The bytes of items [first, last): whole lines, except in the last piece. */
static int64_t block_bytes(const tni_copy *c, int64_t first, int64_t last, int64_t *from)
{
    int64_t piece = (c->bytes / c->items + 63) & ~(int64_t)63;
    int64_t to = last == c->items ? c->bytes : last * piece;
    *from = first * piece < c->bytes ? first * piece : c->bytes;
    return (to < c->bytes ? to : c->bytes) - *from;
}

static void block_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    int64_t from, bytes = block_bytes(j->c, first, last, &from);
    (j->c->streams ? j->k->stream : j->k->copy)(j->d + from, j->s + from, bytes);
}

static void fill_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    int64_t from, bytes = block_bytes(j->c, first, last, &from);
    j->k->fill(j->d + from, j->s, j->c->log2_width, bytes >> j->c->log2_width, j->c->streams);
}

const tni_copy_way tni_way_nothing = {
    .name = "nothing",
    .why = "there are no elements",
    .kind = TNI_COPY_NOTHING,
    .plan = nothing_plan,
    .run = copy_nothing_run,
};
const tni_copy_way tni_way_block = {
    .name = "block",
    .why = "dst and src are one dense block in the same order",
    .kind = TNI_COPY_BLOCK,
    .plan = block_plan,
    .run = block_run,
};
const tni_copy_way tni_way_fill = {
    .name = "fill",
    .why = "one value over a dense block",
    .kind = TNI_COPY_FILL,
    .plan = block_plan,
    .run = fill_run,
};
