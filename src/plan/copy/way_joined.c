/* way_joined.c - rows that lie one after the other in dst, streamed in dst's order: every line is
 * whole, also where one row ends and the next begins. */
#include "copy_run_axes.h"
#include "copy_shape.h"
#include "copy_walk.h"
#include "runtime/runtime.h"

enum {
    UNIT_LEAST = 128, /* bytes of a row: shorter ones are read better in the source's order, and
                       * so are those from TNI_ROWS_DIRECT on.  AMD Zen 4: 1.1 to 2.3 times the
                       * speed of staged or streamed rows in between, 0.5 to 0.9 outside */
    RUN_LEAST = 8192, /* bytes of a run whose two ends are partial lines */
    SEGMENT = 65536,  /* bytes of an item */
    LIST = 256,       /* rows that are listed at a time, */
    MORE = 128        /* and rows after them, which are prefetched */
};

static bool joined_plan(tni_copy *c, const tni_copy_case *of)
{
    if (!tni_kernels_of(tni_isa_level())->copy->join_rows || c->unit < UNIT_LEAST ||
        c->unit >= of->tuning.number[TNI_ROWS_DIRECT] || of->dense < RUN_LEAST)
        return false;
    c->ntile = 0;
    c->carried = (tni_carried){0};
    uint64_t used = tni_run_take(c, of, -1, INT64_MAX);
    c->streams = true;
    tni_copy_order(c, of, used, tni_key_by_source);
    tni_run_segments(c, SEGMENT / c->unit > 64 ? SEGMENT / c->unit : 64);
    return true;
}

static void joined_run(const tni_copy_job *j, int64_t first, int64_t last)
{
    const tni_copy *c = j->c;
    int64_t at[LIST + MORE];
    tni_walk w, run;
    tni_copy_seek(c, &w, first);
    for (int64_t item = first; item < last; item++) {
        int64_t from, to, listed = 0;
        tni_run_segment(c, &w, &from, &to);
        char *d = j->d + w.offset[0];
        tni_walk_seek(&run, c->carried.run_axis, c->carried.run_axes, 2, from);
        for (int64_t n; from < to; from += n, d += n * c->unit) {
            const int64_t left = to - from, all = left < LIST + MORE ? left : LIST + MORE;
            tni_run_list(&run, at + listed, all - listed);
            n = left <= LIST + MORE / 2 ? left : LIST;
            j->k->join_rows(d, j->s + w.offset[1], at, n, c->unit, all - n);
            listed = all - n;
            for (int64_t i = 0; i < listed; i++)
                at[i] = at[n + i];
        }
        tni_walk_next(&w);
    }
}

const tni_copy_way tni_way_joined = {
    .name = "rows joined",
    .why = "rows are dense on both sides and lie one after the other in dst",
    .stores = "whole lines, also of two rows, streamed",
    .kind = TNI_COPY_ROWS,
    .beyond = true,
    .plan = joined_plan,
    .run = joined_run,
};
