/* scan_column_rounds.c - the way "column rounds": few long columns, whose blocks of rows are
 * divided over threads.
 *
 * A round is a number of blocks.  Threads compute the total of each block of a round; one
 * thread chains the totals; threads then read the blocks again and compute them, each from the
 * total of all blocks before it.  The totals of the next round are computed between the blocks
 * of this one, so that memory is read while it is written. */
#include "scan_run.h"

enum {
    /* of a round: the two rounds in work are 8 MiB, which the L3 keeps until they are read
     * again; other sizes were not measured for columns */
    ROUND_BYTES = 4 << 20,
    /* columns of all blocks of a round: 32 KiB of the stack */
    ROUND_STATES = 4096
};

/* Blocks [first, first + blocks).  state has the totals of each block, then, after round_chain,
 * the totals of all blocks before it. */
typedef struct column_round {
    int64_t first, blocks;
    tni_scan_word state[ROUND_STATES];
} column_round;

typedef struct round_job {
    const tni_scan *s;
    char *dst;
    const char *src;
    int64_t w;
    int parts;
    column_round *now, *next; /* now: dst is computed; next: totals are computed */
} round_job;

/* Compute the totals of block number i of the next round. */
static void block_totals(const round_job *j, int64_t i)
{
    const int64_t at = (j->next->first + i) * TNI_TREE_BLOCK;
    tni_scan_word *own = j->next->state + i * j->w;
    if (j->s->n - at >=
        TNI_TREE_BLOCK) /* an incomplete block is the last: no total is needed */
        j->s->class->totals(j->s, own, j->src + at * j->s->step[1], j->w);
}

/* Compute dst for block number i of this round; s becomes the scan of this block. */
static void block_rows(const round_job *j, tni_scan *s, int64_t i)
{
    const tni_scan_word *before = j->now->state + i * j->w;
    tni_scan_state carry[TNI_SCAN_COLUMNS];
    s->at = (j->now->first + i) * TNI_TREE_BLOCK;
    s->n = j->s->n - s->at < TNI_TREE_BLOCK ? j->s->n - s->at : TNI_TREE_BLOCK;
    for (int64_t c = 0; c < j->w; c++) {
        carry[c].chain = tni_scan_absent(s);
        carry[c].i = before[c].i; /* copies f as well: both are unions */
    }
    s->class->strip(s, j->dst + s->at * s->step[0], j->src + s->at * s->step[1], j->w, carry);
}

static void round_part(void *arg, int part)
{
    const round_job *j = arg;
    tni_scan s = *j->s;
    int64_t i, last, k, end;
    s.initial = false;
    tni_split_range(j->now->blocks, j->parts, part, &i, &last);
    tni_split_range(j->next->blocks, j->parts, part, &k, &end);
    while (i < last || k < end) {
        if (k < end)
            block_totals(j, k++);
        if (i < last)
            block_rows(j, &s, i++);
    }
    if (s.stream)
        tni_kernels_of(s.isa)->copy->fence();
}

/* Replace the totals of each block by those of all blocks before it; run has those of all
 * blocks so far. */
static void round_chain(const tni_scan *s, column_round *round, int64_t w, tni_scan_word *run)
{
    for (int64_t i = 0; i < round->blocks; i++)
        for (int64_t c = 0; c < w; c++) {
            tni_scan_word *state = &round->state[i * w + c];
            const tni_scan_word own = *state;
            *state = run[c];
            run[c] = round->first + i == 0 ? own : tni_scan_both(s, run[c], own);
        }
}

static void all_rounds(const tni_scan *s, char *d, const char *p)
{
    const int64_t w = s->nest.axis[s->nest.ndim - 1].n;
    const int64_t blocks = tni_ceil_div(s->n, TNI_TREE_BLOCK);
    const int64_t bytes = TNI_TREE_BLOCK * w * s->width[1];
    int64_t each = ROUND_BYTES / bytes;
    const int threads = tni_run_parts(tni_scan_work(s), blocks);
    column_round rounds[2];
    tni_scan_word run[TNI_SCAN_COLUMNS];
    round_job j = {.s = s, .dst = d, .src = p, .w = w};
    ASSERT(w <= TNI_SCAN_COLUMNS && w <= ROUND_STATES);
    each = each < threads ? threads : each;
    each = each < ROUND_STATES / w ? each : ROUND_STATES / w;
    if (s->initial) {
        for (int64_t c = 0; c < w; c++)
            tni_scan_initial(s, d + c * s->width[0]);
        j.dst += s->step[0];
    }
    for (int64_t c = 0; c < w; c++)
        run[c].i = 0; /* the bits of 0.0, too */
    j.now = &rounds[0];
    j.next = &rounds[1];
    j.now->blocks = 0;
    for (int64_t first = 0; first < blocks || j.now->blocks > 0; first += each) {
        const int64_t left = first < blocks ? blocks - first : 0;
        j.next->first = first;
        j.next->blocks = left < each ? left : each;
        ASSERT(j.next->blocks * w <= ROUND_STATES);
        const int64_t work = j.now->blocks + j.next->blocks;
        j.parts = tni_run_parts(tni_mul_saturated(work, 4 * bytes), work);
        tni_parallel(j.parts, round_part, &j);
        round_chain(s, j.next, w, run);
        column_round *done = j.now;
        j.now = j.next;
        j.next = done;
    }
}

void tni_scan_run_column_rounds(const tni_scan *s, char *dst, const char *src,
                                tni_scan_state *carry)
{
    tni_walk walk;
    if (tni_run_parts(tni_scan_work(s), INT64_MAX) == 1) { /* one thread reads src only once */
        tni_scan_run_columns(s, dst, src, carry);
        return;
    }
    tni_walk_seek(&walk, s->nest.axis, s->nest.ndim - 1, 2, 0);
    do
        all_rounds(s, dst + walk.offset[0], src + walk.offset[1]);
    while (tni_walk_next(&walk) != s->nest.ndim - 1);
}
