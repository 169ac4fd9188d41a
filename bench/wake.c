/* wake.c - several threads compared with one, while workers are awake and asleep.
 *
 * Both are interleaved.  Each turn begins with calls of its own kind, so that the caches are as
 * that kind leaves them.  The medians count, because the cost of waking threads is not an
 * exception. */
#include "wake.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <tenon/tenon.h>

#include "measure.h"

enum {
    SMALLEST = 16 << 10,
    LARGEST = 16 << 20,
    PAUSE_US = 8000, /* by default, libgomp's workers spin for about 4000 */
    SERIES_US = 1000,
    MOST_TURNS = 33
};
static const double GOAL = 1.10;

typedef struct call {
    tn_tensor dst, a, b;
    void (*run)(const struct call *c);
} call;

static void run_rearrange(const call *c)
{
    MUST(tn_rearrange(&c->dst, &c->a));
}

static void run_add(const call *c)
{
    MUST(tn_add(&c->dst, &c->a, &c->b));
}

static void run_sum(const call *c)
{
    MUST(tn_reduce(TN_REDUCE_SUM, NULL, &c->dst, &c->a, TN_ALL_AXES, NULL));
}

static const struct {
    const char *name;
    void (*run)(const call *c);
    bool transposed, scalar;
} kinds[] = {
    {"copy", run_rearrange, false, false},
    {"transpose", run_rearrange, true, false},
    {"add", run_add, false, false},
    {"sum", run_sum, false, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static arena one, two;

/* Square f32 arrays of about this many bytes. */
static call make_call(int kind, int64_t bytes)
{
    int64_t n = 1;
    while ((n + 1) * (n + 1) * 4 <= bytes)
        n++;
    n += kinds[kind].transposed && n % 32 == 0; /* avoid strides that are powers of two */
    call c = {.run = kinds[kind].run};
    MUST(tn_init(&c.a, one.src, TN_F32, 2, (int64_t[]){n, n}));
    MUST(tn_init(&c.b, two.src, TN_F32, 2, (int64_t[]){n, n}));
    MUST(tn_init(&c.dst, one.dst, TN_F32, kinds[kind].scalar ? 0 : 2, (int64_t[]){n, n}));
    if (kinds[kind].transposed)
        MUST(tn_transpose(&c.a, &c.a, 0, 1));
    return c;
}

/* Mean time of consecutive calls. */
static double series(const call *c)
{
    const double begin = seconds();
    double now = begin;
    int n = 0;
    do {
        c->run(c);
        n++;
        now = seconds();
    } while (now - begin < SERIES_US * 1e-6);
    return (now - begin) / n;
}

/* A call after a pause: the calling thread stays busy, the others are idle. */
static double after_pause(const call *c)
{
    double begin = seconds();
    while (seconds() - begin < PAUSE_US * 1e-6)
        ;
    begin = seconds();
    c->run(c);
    return seconds() - begin;
}

static const struct {
    const char *name;
    double (*sample)(const call *c);
} states[] = {
    {"call after call", series},
    {"after a pause", after_pause},
};
enum { STATES = sizeof states / sizeof *states };

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interleave runs with one thread and with several; returns the medians. */
static void by_turns(const call *c, int state, tn_handle *const handle[2], int turns,
                     double median[2])
{
    double times[2][MOST_TURNS];
    for (int t = 0; t < turns; t++)
        for (int k = 0; k < 2; k++) {
            MUST(tn_handle_use(handle[k]));
            series(c);
            times[k][t] = states[state].sample(c);
        }
    for (int k = 0; k < 2; k++) {
        qsort(times[k], (size_t)turns, sizeof(double), ascending);
        median[k] = times[k][turns / 2];
    }
}

/* Measure a case.  Above the goal it is measured again for longer, because other processes may
 * interfere. */
static double measure_one(const call *c, int state, tn_handle *const handle[2], int turns,
                          double us[2])
{
    enum { AGAIN = 2 };
    double ratio = 0;
    for (int again = 0; again <= AGAIN; again++) {
        by_turns(c, state, handle, again ? MOST_TURNS : turns, us);
        ratio = us[1] / us[0];
        if (ratio <= GOAL)
            break;
    }
    us[0] *= 1e6;
    us[1] *= 1e6;
    return ratio;
}

void wake_measure(int threads, bool quick)
{
    tn_handle *handle[2];
    wake_worst worst = {0};
    double us[2];
    one = arena_make(LARGEST + 4096, true);
    two = arena_make(LARGEST + 4096, true);
    for (int k = 0; k < 2; k++)
        MUST(tn_handle_create(&handle[k], TN_CPU, 0, &(tn_config){.threads = k ? threads : 1}));
    for (int kind = 0; kind < KINDS; kind++)
        for (int64_t bytes = SMALLEST; bytes <= LARGEST; bytes *= quick ? 4 : 2)
            for (int state = 0; state < STATES; state++) {
                const call c = make_call(kind, bytes);
                char name[64];
                const double ratio = measure_one(&c, state, handle, quick ? 7 : 15, us);
                snprintf(name, sizeof name, "%s %d KB, %s", kinds[kind].name,
                         (int)(bytes >> 10), states[state].name);
                printf("  %-42s %8.1f %8.1f %7.2f\n", name, us[0], us[1], ratio);
                fflush(stdout);
                if (ratio > worst.ratio) {
                    worst.ratio = ratio;
                    snprintf(worst.what, sizeof worst.what, "%s", name);
                }
            }
    printf("worst %.3f %s\n", worst.ratio, worst.what);
}

wake_worst wake_beside(const char *self, const char *policy, int threads, bool quick)
{
    char command[1024], text[256];
    wake_worst worst = {0};
    snprintf(command, sizeof command, "%s%s '%s' --threads %d%s --wake",
             *policy ? "OMP_WAIT_POLICY=" : "env -u OMP_WAIT_POLICY", policy, self, threads,
             quick ? " --quick" : "");
    FILE *f = popen(command, "r");
    if (!f)
        give_up("wake", "cannot run this program again");
    while (fgets(text, sizeof text, f))
        if (sscanf(text, "worst %lf %63[^\n]", &worst.ratio, worst.what) != 2)
            fputs(text, stdout);
    pclose(f);
    return worst;
}
