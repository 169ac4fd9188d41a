/* test_oracle.c - a random program over the calls that move or compute elements: each result
 * beside a slow oracle, by two numbers of threads, with the same bits by every way.
 *
 * The program runs itself twice for each instruction set, the second time with every output
 * counted as beyond the cache, and compares the digests.  TEST_CALLS says how many calls all
 * ways make together.  The seed is printed; TEST_SEED and TEST_CASES repeat a case: test_oracle
 * run, with TENON_ISA and TENON_STREAM.  The calls are drawn in trial_*.h. */
#include "trial_contract.h"
#include "trial_copy.h"
#include "trial_index.h"
#include "trial_ops.h"
#include "trial_rows.h"

enum { USUAL_CALLS = TEST_WATCHED ? 16000 : 1000000 };

/* ---- the program ---- */

static bool (*const tries[])(trial *) = {
    try_views,   try_views,    try_move,   try_move,   try_join, try_pattern,
    try_cast,    try_cast,     try_op,     try_op,     try_op,   try_map,
    try_fill,    try_contract, try_reduce, try_reduce, try_dot,  try_line,
    try_softmax, try_add_norm, try_rotate, try_choose, try_mask, try_count};

static int run_program(void)
{
    for (int i = 1; i <= MOST_THREADS; i++)
        OK(tn_handle_create(&team[i], TN_CPU, 0, &(tn_config){.threads = i}));
    const uint64_t seed = seed_asked(), cases = number_asked("TEST_CASES", 1);
    trial t = {.digest = 0xcbf29ce484222325u};
    bool good = true;
    for (uint64_t i = 0; good && i < cases; i++) {
        t.r.state = seed + i;
        t.threads[0] = (int)pick(&t.r, 1, MOST_THREADS);
        t.threads[1] = (int)pick(&t.r, 1, MOST_THREADS);
        good = tries[next(&t.r) % (sizeof tries / sizeof *tries)](&t);
        if (!good)
            printf("TENON_ISA=%s TENON_STREAM=%s TEST_SEED=%llu TEST_CASES=1: %s\n", tn_isa(),
                   getenv("TENON_STREAM") ? getenv("TENON_STREAM") : "",
                   (unsigned long long)(seed + i), t.said);
    }
    for (int i = 1; i <= MOST_THREADS; i++)
        tn_handle_destroy(team[i]);
    printf("digest %016llx\n", (unsigned long long)t.digest);
    return good ? 0 : 1;
}

static const char *self;

/* A level, with few outputs or every one counted as beyond the cache. */
typedef struct way {
    const char *level, *stream;
} way;

/* The digest of the first cases by one way; a failure there fails the test. */
static uint64_t digest_by(way w, uint64_t seed, uint64_t cases)
{
    const char *emulator = getenv("TEST_EMULATOR");
    char command[4096], line[4096];
    snprintf(command, sizeof command,
             "TENON_ISA=%s TENON_STREAM=%s TEST_SEED=%llu TEST_CASES=%llu %s '%s' run", w.level,
             w.stream, (unsigned long long)seed, (unsigned long long)cases,
             emulator ? emulator : "", self);
    FILE *f = popen(command, "r");
    assert_non_null(f);
    unsigned long long digest = 0;
    bool said = false;
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "digest %llx", &digest) == 1)
            said = true;
        else
            fputs(line, stdout);
    if (pclose(f) != 0 || !said)
        fail_msg("%s fails", command);
    return digest;
}

/* The first case whose bits differ, by halving. */
static void tell_first(way a, way b, uint64_t seed, uint64_t cases)
{
    uint64_t same = 0;
    while (cases - same > 1) {
        const uint64_t half = same + (cases - same) / 2;
        if (digest_by(a, seed, half) == digest_by(b, seed, half))
            same = half;
        else
            cases = half;
    }
    fail_msg("%s with TENON_STREAM=%s and %s with TENON_STREAM=%s give other bits: "
             "TEST_SEED=%llu TEST_CASES=1",
             a.level, a.stream, b.level, b.stream, (unsigned long long)(seed + same));
}

static void same_bits_by_every_way(void **state)
{
    (void)state;
    static const way ways[] = {
#define LEVEL(ENUM, NAME) {#NAME, ""}, {#NAME, "0"},
#include "core/isa.def"
    };
    const int all = sizeof ways / sizeof *ways;
    const bool one_level = !strcmp(tn_isa(), "neon");
    int n = 0; /* ways up to the level of this machine */
    do
        n += 2;
    while (n < all && !one_level && strcmp(ways[n - 1].level, tn_isa()) != 0);
    const uint64_t seed = seed_asked(), calls = number_asked("TEST_CALLS", USUAL_CALLS);
    const uint64_t cases = number_asked("TEST_CASES", (calls + (uint64_t)n - 1) / (uint64_t)n);
    const uint64_t first = digest_by(ways[0], seed, cases);
    for (int i = 1; i < n; i++)
        if (digest_by(ways[i], seed, cases) != first)
            tell_first(ways[0], ways[i], seed, cases);
    printf("seed %llu, %llu calls by each of %d ways, digest %016llx\n",
           (unsigned long long)seed, (unsigned long long)cases, n, (unsigned long long)first);
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1 && !strcmp(argv[1], "run"))
        return run_program();
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_bits_by_every_way)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
