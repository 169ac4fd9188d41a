/* scan_rounds.c - few long sequences by all threads: every block by itself, the chain of
 * the blocks, then every block again with what came before it. */
#include "plan/plan.h"

/* Blocks of a round: 8 MiB of f32, which the caches keep until they are read again (Zen 4). */
enum { SCAN_ROUND = 1024 };

typedef struct round_job {
    tni_scan s;
    char *dst;
    const char *src;
    int64_t first, blocks; /* of this round */
    int parts;
    tni_scan_state before[SCAN_ROUND];
} round_job;

/* Block i of the round to d, with what came before it. */
static void round_block(tni_scan *s, const round_job *j, int64_t i, char *d,
                        tni_scan_state *run)
{
    const int64_t at = (j->first + i) * TNI_TREE_BLOCK;
    s->n = j->s.n - at < TNI_TREE_BLOCK ? j->s.n - at : TNI_TREE_BLOCK;
    tni_scan_sequence(s, d, j->src + at * s->step[1], run);
}

static void totals_part(void *arg, int part)
{
    round_job *j = arg;
    tni_scan s = j->s;
    char aside[TNI_TREE_BLOCK * 16];
    int64_t i, last;
    tni_split_range(j->blocks, j->parts, part, &i, &last);
    s.step[0] = s.width[0];
    s.stream = false;
    s.at = 0;
    for (; i < last; i++) {
        const int64_t at = (j->first + i) * TNI_TREE_BLOCK;
        j->before[i] = (tni_scan_state){0};
        if (s.direct && j->s.n - at >= TNI_TREE_BLOCK)
            j->before[i].f =
                tni_kernels_of(s.isa)->scan->total32(j->src + at * s.step[1], TNI_TREE_BLOCK);
        else
            round_block(&s, j, i, aside, &j->before[i]);
    }
}

static void round_part(void *arg, int part)
{
    round_job *j = arg;
    tni_scan s = j->s;
    int64_t i, last;
    tni_split_range(j->blocks, j->parts, part, &i, &last);
    for (; i < last; i++) {
        s.at = (j->first + i) * TNI_TREE_BLOCK;
        round_block(&s, j, i, j->dst + s.at * s.step[0], &j->before[i]);
    }
    if (s.stream)
        tni_kernels_of(s.isa)->copy->fence();
}

/* What came before each block; run goes on. */
static void round_chain(round_job *j, tni_scan_state *run)
{
    const bool sum = j->s.op == TN_SCAN_SUM;
    for (int64_t i = 0; i < j->blocks; i++) {
        const tni_scan_state own = j->before[i];
        j->before[i] = *run;
        if (j->s.type == TNI_SCAN_REAL) {
            const double f = j->first + i == 0 ? own.f : sum ? run->f + own.f : run->f * own.f;
            *run = (tni_scan_state){.f = f, .chain = tni_scan_absent(&j->s)};
        } else {
            const uint64_t a = (uint64_t)run->i, b = (uint64_t)own.i;
            run->i = j->first + i == 0 ? own.i : (int64_t)(sum ? a + b : a * b);
        }
    }
}

void tni_scan_rounds(const tni_scan *s, char *d, const char *p)
{
    round_job j = {.s = *s, .dst = d, .src = p};
    tni_scan_state run = {0};
    const int64_t blocks = tni_ceil_div(s->n, TNI_TREE_BLOCK);
    if (s->initial) {
        tni_scan_initial(s, d);
        j.dst += s->step[0];
        j.s.initial = false;
    }
    for (; j.first < blocks; j.first += SCAN_ROUND) {
        j.blocks = blocks - j.first < SCAN_ROUND ? blocks - j.first : SCAN_ROUND;
        j.parts = tni_run_parts(j.blocks * TNI_TREE_BLOCK * 4 * s->width[1], j.blocks);
        tni_parallel(j.parts, totals_part, &j);
        round_chain(&j, &run);
        tni_parallel(j.parts, round_part, &j);
    }
}

bool tni_scan_divides(const tni_scan *s, int64_t items)
{
    const int threads = tni_run_parts(tni_mul_saturated(s->count, 4 * s->width[1]), INT64_MAX);
    return !s->columns && !s->carries && items < threads && s->op <= TN_SCAN_PROD &&
           s->type != TNI_SCAN_COMPLEX && s->n >= 4 * threads * TNI_TREE_BLOCK;
}
