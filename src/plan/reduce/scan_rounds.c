/* scan_rounds.c - few long sequences by all threads: every block by itself, the chain of
 * the blocks, then every block again with what came before it.
 *
 * Totals of the next round are made between the blocks of this one, so that memory is read while
 * it is written. */
#include "plan/plan.h"

/* Blocks of a round: two rounds are 8 MiB of f32, which the caches keep until they are read
 * again (Zen 4). */
enum { SCAN_ROUND = 512 };

/* Blocks [first, first + blocks), and the total of each, then what came before it. */
typedef struct scan_round {
    int64_t first, blocks;
    tni_scan_state before[SCAN_ROUND];
} scan_round;

typedef struct round_job {
    tni_scan s;
    char *dst;
    const char *src;
    int parts;
    scan_round *now, *next; /* now is written, next is read */
} round_job;

/* Block number `block` to d, with what came before it. */
static void round_block(tni_scan *s, const round_job *j, int64_t block, char *d,
                        tni_scan_state *run)
{
    const int64_t at = block * TNI_TREE_BLOCK;
    s->n = j->s.n - at < TNI_TREE_BLOCK ? j->s.n - at : TNI_TREE_BLOCK;
    tni_scan_sequence(s, d, j->src + at * s->step[1], run);
}

static void round_total(const round_job *j, int64_t i)
{
    const int64_t block = j->next->first + i, at = block * TNI_TREE_BLOCK;
    tni_scan_state *own = &j->next->before[i];
    *own = (tni_scan_state){0};
    if (j->s.direct && j->s.n - at >= TNI_TREE_BLOCK) {
        const char *x = j->src + at * j->s.step[1];
        own->f = tni_kernels_of(j->s.isa)->scan->total32(x, TNI_TREE_BLOCK);
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

/* What came before each block; run goes on. */
static void round_chain(const tni_scan *s, scan_round *round, tni_scan_state *run)
{
    const bool sum = s->op == TN_SCAN_SUM;
    for (int64_t i = 0; i < round->blocks; i++) {
        const tni_scan_state own = round->before[i];
        round->before[i] = *run;
        if (s->type == TNI_SCAN_REAL) {
            const double f = round->first + i == 0 ? own.f
                             : sum                 ? run->f + own.f
                                                   : run->f * own.f;
            *run = (tni_scan_state){.f = f, .chain = tni_scan_absent(s)};
        } else {
            const uint64_t a = (uint64_t)run->i, b = (uint64_t)own.i;
            run->i = round->first + i == 0 ? own.i : (int64_t)(sum ? a + b : a * b);
        }
    }
}

void tni_scan_rounds(const tni_scan *s, char *d, const char *p)
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
        const int64_t work = j.now->blocks + j.next->blocks;
        j.parts = tni_run_parts(work * TNI_TREE_BLOCK * 4 * s->width[1], work);
        tni_parallel(j.parts, round_part, &j);
        round_chain(&j.s, j.next, &run);
        scan_round *done = j.now;
        j.now = j.next;
        j.next = done;
    }
}

bool tni_scan_divides(const tni_scan *s, int64_t items)
{
    const int threads = tni_run_parts(tni_mul_saturated(s->count, 4 * s->width[1]), INT64_MAX);
    return !s->columns && !s->carries && items < threads && s->op <= TN_SCAN_PROD &&
           s->type != TNI_SCAN_COMPLEX && s->n >= 4 * threads * TNI_TREE_BLOCK;
}
