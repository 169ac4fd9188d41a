/* scan_columns.c - the way "columns": sequences side by side in memory, a strip of columns at a
 * time. */
#include "scan_run.h"

typedef struct column_job {
    const tni_scan *s;
    char *dst, *carry;
    const char *src;
    int64_t items, strips, strip; /* strips of all rows, strips of a row, columns of a strip */
    int parts;
} column_job;

static void column_part(void *arg, int part)
{
    const column_job *j = arg;
    const tni_scan *s = j->s;
    const int outer = s->nest.ndim - 1;
    const int64_t columns = s->nest.axis[outer].n;
    int64_t first, last;
    tni_walk walk;
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, s->nest.axis, outer, 2 + s->carries, first / j->strips);
    for (int64_t i = first; i < last; i++) {
        const int64_t strip = i % j->strips, at = strip * j->strip;
        const int64_t w = columns - at < j->strip ? columns - at : j->strip;
        char *kept = j->carry ? j->carry + walk.offset[2] : NULL;
        tni_scan_state *states = (tni_scan_state *)(void *)kept;
        s->class->strip(s, j->dst + walk.offset[0] + at * s->width[0],
                        j->src + walk.offset[1] + at * s->width[1], w,
                        states ? states + at : NULL);
        if (strip == j->strips - 1)
            tni_walk_next(&walk);
    }
    if (s->stream)
        tni_kernels_of(s->isa)->copy->fence();
}

/* The columns of a strip: as many as the class allows, but fewer if threads would have no
 * strip. */
static int64_t strip_columns(const tni_scan *s)
{
    const int64_t n = s->nest.axis[s->nest.ndim - 1].n;
    const int64_t most = s->class->widest;
    const int64_t each = n / tni_run_parts(tni_scan_work(s), n) / 16 * 16;
    return most <= TNI_SCAN_COLUMNS || each < TNI_SCAN_COLUMNS ? TNI_SCAN_COLUMNS
           : each < most                                       ? each
                                                               : most;
}

void tni_scan_run_columns(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    const int64_t columns = s->nest.axis[s->nest.ndim - 1].n;
    column_job j = {.s = s, .dst = dst, .src = src, .carry = (char *)carry};
    j.strip = strip_columns(s);
    ASSERT(j.strip <= s->class->widest);
    j.strips = tni_ceil_div(columns, j.strip);
    j.items = tni_scan_sequences(s) / columns * j.strips;
    j.parts = tni_run_parts(tni_scan_work(s), j.items);
    tni_parallel(j.parts, column_part, &j);
}
