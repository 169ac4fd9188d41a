/* scan_line.c - the way "line": one sequence after the other, block by block.
 *
 * Blocks that are not dense are copied to a buffer and from there to dst. */
#include <math.h>
#include <string.h>

#include "scan_run.h"

/* ---- reading and writing ---- */

void tni_scan_cast(int isa, tn_dtype from, tn_dtype to, char *d, const char *s, int64_t n)
{
    const tni_cast c = tni_cast_chain(isa, from, to);
    char between[2][TNI_TREE_BLOCK * 16];
    ASSERT(n >= 0 && n <= TNI_TREE_BLOCK);
    for (int i = 0; i < c.steps; i++) {
        char *out = i == c.steps - 1 ? d : between[i % 2];
        c.fn[i](out, s, n, 0, false);
        s = out;
    }
    if (c.steps == 0 && d != s)
        memcpy(d, s, (size_t)(n * tni_width(to)));
}

/* Copy n elements, s_step bytes apart, to addresses d_step bytes apart. */
static void scan_copy(const tni_scan *s, int64_t width, char *d, int64_t d_step,
                      const char *from, int64_t s_step, int64_t n)
{
    const int64_t ds[2] = {0, d_step}, ss[2] = {0, s_step}, trips[2] = {1, n};
    tni_kernels_of(s->isa)->copy->tile[tni_log2_width(width)](d, ds, from, ss, trips);
}

void tni_scan_initial(const tni_scan *s, char *d)
{
    const bool prod = s->op == TN_SCAN_PROD;
    double f[2] = {prod ? 1 : s->op == TN_SCAN_LOGSUMEXP ? -(double)INFINITY : 0, 0};
    int64_t i = prod;
    const bool integer = s->type == TNI_SCAN_SIGNED || s->type == TNI_SCAN_UNSIGNED;
    tni_scan_cast(s->isa, s->wide, s->dst, d, integer ? (char *)&i : (char *)f, 1);
}

void tni_scan_sequence(const tni_scan *s, char *d, const char *p, tni_scan_state *carry)
{
    const bool reads = s->step[1] == s->width[1], writes = s->step[0] == s->width[0];
    char buf[TNI_TREE_BLOCK * 16];
    tni_scan_state own = {0}, *run = carry ? carry : &own;
    if (s->initial) {
        tni_scan_initial(s, d);
        d += s->step[0];
    }
    for (int64_t at = 0, m; at < s->n; at += m) {
        m = TNI_TREE_BLOCK - (s->at + at) % TNI_TREE_BLOCK;
        m = s->n - at < m ? s->n - at : m;
        const char *x = p + at * s->step[1];
        char *to = d + at * s->step[0];
        if (!reads) {
            scan_copy(s, s->width[1], buf, s->width[1], x, s->step[1], m);
            x = buf;
        }
        s->class->block(s, writes ? to : buf, x, m, s->at + at, run);
        if (!writes)
            scan_copy(s, s->width[0], to, s->step[0], buf, s->width[0], m);
    }
}

/* ---- threads ---- */

typedef struct line_job {
    const tni_scan *s;
    char *dst, *carry;
    const char *src;
    int64_t items;
    int parts;
} line_job;

static void line_part(void *arg, int part)
{
    const line_job *j = arg;
    const tni_scan *s = j->s;
    int64_t first, last;
    tni_walk walk;
    tni_split_range(j->items, j->parts, part, &first, &last);
    tni_walk_seek(&walk, s->nest.axis, s->nest.ndim, 2 + s->carries, first);
    for (int64_t i = first; i < last; i++) {
        char *kept = j->carry ? j->carry + walk.offset[2] : NULL;
        tni_scan_sequence(s, j->dst + walk.offset[0], j->src + walk.offset[1],
                          (tni_scan_state *)(void *)kept);
        tni_walk_next(&walk);
    }
    if (s->stream)
        tni_kernels_of(s->isa)->copy->fence();
}

void tni_scan_run_lines(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    line_job j = {.s = s, .dst = dst, .src = src, .carry = (char *)carry};
    j.items = tni_scan_sequences(s);
    j.parts = tni_run_parts(tni_scan_work(s), j.items);
    tni_parallel(j.parts, line_part, &j);
}
