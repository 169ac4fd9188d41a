/* scan_narrow.c - the way "transpose": many short dense sequences are transposed, computed as
 * columns side by side, and transposed back. */
#include "scan_run.h"

/* Elements of the sequences that are transposed at once: 8 bytes each fill an L1 of 32 KiB
 * (measured on Zen 4). */
enum { NARROW_ELEMENTS = 1 << 12 };

typedef struct narrow_job {
    const tni_scan *s;
    char *dst;
    const char *src;
    int64_t items;
    int parts;
} narrow_job;

static void narrow_part(void *arg, int part)
{
    const narrow_job *j = arg;
    const tni_copy_kernels *copy = tni_kernels_of(j->s->isa)->copy;
    const tni_nest *nest = &j->s->nest;
    const tni_axis *in = &nest->axis[nest->ndim - 1];
    const int64_t n = j->s->n, made = n + j->s->initial;
    const int64_t most = NARROW_ELEMENTS / made / 16 * 16;
    _Alignas(64) char from[NARROW_ELEMENTS * 8], to[NARROW_ELEMENTS * 8];
    ASSERT(most >= 16 && most <= TNI_SCAN_WIDEST && most * made <= NARROW_ELEMENTS);
    tni_scan s = *j->s;
    tni_walk walk;
    int64_t first, last;
    s.step[0] = most * s.width[0];
    s.step[1] = most * s.width[1];
    s.stream = false;
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, nest->axis, nest->ndim - 1, 2, first / in->n);
    for (int64_t i = first, rows; i < last; i += rows) {
        const int64_t c = i % in->n;
        rows = in->n - c < last - i ? in->n - c : last - i;
        rows = rows < most ? rows : most;
        copy->transpose[tni_log2_width(s.width[1])](from, s.step[1],
                                                    j->src + walk.offset[1] + c * in->step[1],
                                                    in->step[1], rows, n, rows * in->step[1]);
        s.class->strip(&s, to, from, rows, NULL);
        copy->transpose[tni_log2_width(s.width[0])](j->dst + walk.offset[0] + c * in->step[0],
                                                    in->step[0], to, s.step[0], made, rows, 0);
        if (c + rows == in->n)
            tni_walk_next(&walk);
    }
}

void tni_scan_run_narrow(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    narrow_job j = {.s = s, .dst = dst, .src = src, .items = tni_scan_sequences(s)};
    ASSERT(!carry);
    (void)carry;
    j.parts = tni_run_parts(tni_scan_work(s), j.items);
    tni_parallel(j.parts, narrow_part, &j);
}
