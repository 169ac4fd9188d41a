/* scan_rounds.c - the way "rounds": few long sequences, whose blocks are divided over threads.
 *
 * A round is a number of blocks.  Threads compute the total of each block of a round; one
 * thread chains the totals; threads then read the blocks again and compute them, each from the
 * total of all blocks before it.  The totals of the next round are computed between the blocks
 * of this one, so that memory is read while it is written. */
#include "scan_run.h"

/* Blocks of a round: the two rounds in work are 8 MiB of f32, which the caches keep until they
 * are read again.  Rounds of 64, 128, 256 and 512 blocks reach 19.8, 22.5, 26.3 and 27.0 GB/s
 * (Zen 4, "Running sums" in docs/investigations/reductions.md). */
enum { SCAN_ROUND = 512 };

/* Blocks [first, first + blocks).  before has the total of each block, then, after round_chain,
 * the state of the sequence before it. */
typedef struct scan_round {
    int64_t first, blocks;
    tni_scan_state before[SCAN_ROUND];
} scan_round;

typedef struct round_job {
    tni_scan s;
    char *dst;
    const char *src;
    int parts;
    scan_round *now, *next; /* now: dst is computed; next: totals are computed */
} round_job;

/* Compute block number `block` into d; run is the state before and after it. */
static void round_block(tni_scan *s, const round_job *j, int64_t block, char *d,
                        tni_scan_state *run)
{
    const int64_t at = block * TNI_TREE_BLOCK;
    s->n = j->s.n - at < TNI_TREE_BLOCK ? j->s.n - at : TNI_TREE_BLOCK;
    tni_scan_sequence(s, d, j->src + at * s->step[1], run);
}

/* Compute the total of block number i of the next round: by a kernel for totals, or by a scan
 * of the block into a buffer. */
static void round_total(const round_job *j, int64_t i)
{
    const int64_t block = j->next->first + i, at = block * TNI_TREE_BLOCK;
    const char *x = j->src + at * j->s.step[1];
    tni_scan_state *own = &j->next->before[i];
    *own = (tni_scan_state){0};
    const tni_scan_sums *k = tni_scan_sums_of(&j->s);
    const bool dense = j->s.step[1] == j->s.width[1];
    const bool whole = dense && j->s.n - at >= TNI_TREE_BLOCK;
    if (whole && j->s.op == TN_SCAN_SUM && k && k->total) {
        own->f = k->total(x, TNI_TREE_BLOCK);
        return;
    }
    if (whole && j->s.class->totals == tni_scan_totals_keys) {
        tni_scan_word key;
        tni_scan_totals_keys(&j->s, &key, x, 1);
        own->i = key.i;
        return;
    }
    tni_scan s = j->s;
    char aside[TNI_TREE_BLOCK * 16];
    s.step[0] = s.width[0];
    s.stream = false;
    s.at = 0;
    round_block(&s, j, block, aside, own);
}

static void round_part(void *arg, int part)
{
    const round_job *j = arg;
    tni_scan s = j->s;
    int64_t i, last, k, end;
    tni_split_range(j->now->blocks, j->parts, part, &i, &last);
    tni_split_range(j->next->blocks, j->parts, part, &k, &end);
    while (i < last || k < end) {
        if (k < end)
            round_total(j, k++);
        if (i < last) {
            const int64_t block = j->now->first + i;
            s.at = block * TNI_TREE_BLOCK;
            round_block(&s, j, block, j->dst + s.at * s.step[0], &j->now->before[i++]);
        }
    }
    if (s.stream)
        tni_kernels_of(s.isa)->copy->fence();
}

/* Replace the total of each block by the state of the sequence before it; run is the state
 * after all blocks so far. */
static void round_chain(const tni_scan *s, scan_round *round, tni_scan_state *run)
{
    for (int64_t i = 0; i < round->blocks; i++) {
        const tni_scan_word own = {.i = round->before[i].i}, before = {.i = run->i};
        round->before[i] = *run;
        const tni_scan_word next = round->first + i == 0 ? own : tni_scan_both(s, before, own);
        *run = (tni_scan_state){.i = next.i, .chain = tni_scan_absent(s)};
    }
}

static void one_sequence(const tni_scan *s, char *d, const char *p)
{
    scan_round rounds[2];
    round_job j = {.s = *s, .dst = d, .src = p, .now = &rounds[0], .next = &rounds[1]};
    tni_scan_state run = {0};
    const int64_t blocks = tni_ceil_div(s->n, TNI_TREE_BLOCK);
    if (s->initial) {
        tni_scan_initial(s, d);
        j.dst += s->step[0];
        j.s.initial = false;
    }
    j.now->blocks = 0;
    for (int64_t first = 0; first < blocks || j.now->blocks > 0; first += SCAN_ROUND) {
        const int64_t left = first < blocks ? blocks - first : 0;
        j.next->first = first;
        j.next->blocks = left < SCAN_ROUND ? left : SCAN_ROUND;
        ASSERT(j.now->blocks == 0 || j.now->first + j.now->blocks == first || left == 0);
        const int64_t work = j.now->blocks + j.next->blocks;
        j.parts = tni_run_parts(work * TNI_TREE_BLOCK * 4 * s->width[1], work);
        tni_parallel(j.parts, round_part, &j);
        round_chain(&j.s, j.next, &run);
        scan_round *done = j.now;
        j.now = j.next;
        j.next = done;
    }
}

void tni_scan_run_rounds(const tni_scan *s, char *dst, const char *src, tni_scan_state *carry)
{
    tni_walk walk;
    if (tni_run_parts(tni_scan_work(s), INT64_MAX) == 1) { /* one thread reads src only once */
        tni_scan_run_lines(s, dst, src, carry);
        return;
    }
    tni_walk_seek(&walk, s->nest.axis, s->nest.ndim, 2, 0);
    do
        one_sequence(s, dst + walk.offset[0], src + walk.offset[1]);
    while (tni_walk_next(&walk) != s->nest.ndim);
}
