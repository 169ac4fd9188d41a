/* test_guard_kernels.c - the kernels of ops, casts, makers and padded rows between pages that
 * cannot be touched: every tail, both ends, every instruction set here.
 *
 * What a kernel writes there is what it writes in open memory, and nothing beside it
 * changes. */
#include "fence.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

enum { TAILS = 64, STEP = TEST_WATCHED ? 7 : 1, BESIDE = 256, SOURCES = 3 };

static fenced d_fence, s_fence[SOURCES];
static char open_d[ROOM], *open_s[SOURCES];

static int build(void **state)
{
    (void)state;
    rng r = {11};
    d_fence = fence_off();
    for (int k = 0; k < SOURCES; k++) {
        s_fence[k] = fence_off();
        open_s[k] = malloc(ROOM);
        assert_non_null(open_s[k]);
        scatter_bytes(&r, open_s[k], ROOM);
    }
    return 0;
}

/* Bytes of source k at an edge of its fence. */
static const char *source(int k, int64_t bytes, bool high)
{
    char *s = at_edge(&s_fence[k], bytes, high);
    memcpy(s, open_s[k], (size_t)bytes);
    return s;
}

/* Room for bytes of dst at an edge, with known bytes around it. */
static char *target(int64_t bytes, bool high)
{
    char *d = at_edge(&d_fence, bytes, high);
    memset(high ? d - BESIDE : d, 0x5a, (size_t)bytes + BESIDE);
    memset(open_d, 0x5a, (size_t)bytes);
    return d;
}

static void compare(const char *d, int64_t bytes, bool high)
{
    if (memcmp(d, open_d, (size_t)bytes))
        fail_msg("other bytes than in open memory: %s", now);
    const char *beside = high ? d - BESIDE : d + bytes;
    for (int i = 0; i < BESIDE; i++)
        if (beside[i] != 0x5a)
            fail_msg("bytes beside it changed: %s", now);
}

static int levels(void)
{
    watch_fences();
    return tni_isa_level() + 1;
}

/* ---- ops ---- */

static void try_op(int isa, tn_op op, tn_dtype t, tn_dtype gives, int64_t n)
{
    const int64_t width = (int64_t)tn_dtype_size(t), bytes = n * (int64_t)tn_dtype_size(gives);
    tni_op_strip s = {.fn = tni_op_kernel(isa, op, t), .block = tni_op_block(op, t)};
    s.nsrc = tn_op_arity(op);
    s.width[0] = (int8_t)tn_dtype_size(gives);
    for (int k = 1; k <= s.nsrc; k++)
        s.width[k] = (int8_t)(op == TN_WHERE && k == 1 ? 1 : width);
    memcpy(s.params, tni_ops[op].defaults, sizeof s.params);
    for (unsigned edge = 0; edge < 8; edge++) {
        const unsigned one = edge & 4 ? 1u << (n % s.nsrc) : 0; /* one source stands still */
        const char *from[SOURCES], *open[SOURCES];
        snprintf(now, sizeof now, "level %d, %s %s, %d elements, edges %u", isa, tn_op_name(op),
                 tn_dtype_name(t), (int)n, edge);
        for (int k = 0; k < s.nsrc; k++) {
            open[k] = open_s[k];
            from[k] = source(k, (one >> k & 1 ? s.block : n) * s.width[k + 1], edge & 1);
        }
        char *d = target(bytes, edge & 2);
        tni_op_run(&s, open_d, open, one, n);
        tni_op_run(&s, d, from, one, n);
        compare(d, bytes, edge & 2);
        tni_op_stream(&s, d, from, one, n, TNI_AHEAD);
        memcpy(open_d, d, (size_t)bytes); /* values are compared elsewhere: NaNs may differ */
        compare(d, bytes, edge & 2);
    }
}

static void ops(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int op = 0; op < TNI_OPS; op++)
            for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
                const tn_dtype in[3] = {(tn_dtype)t, (tn_dtype)t, (tn_dtype)t};
                tn_dtype gives;
                if (!tni_op_kernel(isa, (tn_op)op, (tn_dtype)t) ||
                    tn_op_result((tn_op)op, in, tn_op_arity((tn_op)op), &gives) != TN_OK)
                    continue;
                for (int64_t tail = op % STEP; tail < TAILS; tail += STEP)
                    try_op(isa, (tn_op)op, (tn_dtype)t, gives, tail + (op + tail) % 3 * TAILS);
            }
}

/* ---- casts, one conversion of a chain at a time ---- */

static void try_cast(int isa, int from, int to, int64_t n)
{
    const tni_cast c = tni_cast_chain(isa, (tn_dtype)from, (tn_dtype)to);
    int64_t width = (int64_t)tn_dtype_size((tn_dtype)from);
    for (int step = 0; step < c.steps; width = c.width[step++])
        for (int edge = 0; edge < 4; edge++) {
            snprintf(now, sizeof now, "level %d, %s to %s, step %d, %d elements, edges %d", isa,
                     tn_dtype_name((tn_dtype)from), tn_dtype_name((tn_dtype)to), step, (int)n,
                     edge);
            const char *s = source(0, n * width, edge & 1);
            char *d = target(n * c.width[step], edge & 2);
            const bool line = (uintptr_t)d % 64 == 0; /* which streams */
            c.fn[step](open_d, open_s[0], n, 0, false);
            c.fn[step](d, s, n, edge & 1 || line ? TNI_AHEAD : 0, line);
            compare(d, n * c.width[step], edge & 2);
        }
}

static void casts(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int from = TN_BOOL; from < TNI_DTYPES; from++)
            for (int to = TN_BOOL; to < TNI_DTYPES; to++)
                for (int64_t tail = to % STEP; tail < TAILS; tail += STEP)
                    try_cast(isa, from, to, tail + (from + tail) % 3 * TAILS);
}

/* ---- numbers made from their index ---- */

static void try_make(int isa, const tni_generate *m, int64_t n, int64_t gap)
{
    const int64_t width = (int64_t)tn_dtype_size(m->dtype), step = width + gap;
    const int64_t bytes = n ? (n - 1) * step + width : 0;
    for (int edge = 0; edge < 4; edge++) {
        snprintf(now, sizeof now, "level %d, maker %d, %s, %d elements %d apart, edges %d", isa,
                 (int)m->maker, tn_dtype_name(m->dtype), (int)n, (int)step, edge);
        char *d = target(bytes, edge & 1);
        const int64_t first = edge & 2 && n ? (n - 1) * step : 0; /* backwards */
        tni_kernels_of(isa)->generate->run(m, open_d + first, first ? -step : step, n, 5);
        tni_kernels_of(isa)->generate->run(m, d + first, first ? -step : step, n, 5);
        compare(d, bytes, edge & 1);
    }
}

static void makers(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int maker = TNI_ARANGE; maker <= TNI_RANDINT; maker++)
            for (int t = TN_BOOL; t < TNI_DTYPES; t++) {
                const bool floats = tni_is_float((tn_dtype)t);
                if ((maker == TNI_RANDN && !floats) ||
                    (maker == TNI_RANDINT && tni_is_complex((tn_dtype)t)))
                    continue;
                const tni_generate m = {.maker = (tni_generator)maker,
                                        .dtype = (tn_dtype)t,
                                        .start = 1,
                                        .step = 1,
                                        .more = 1,
                                        .count = 2,
                                        .seed = 3};
                for (int64_t tail = t % STEP; tail < TAILS; tail += STEP)
                    for (int64_t gap = 0; gap < 6; gap += 3)
                        try_make(isa, &m, tail + (t + tail) % 2 * TAILS, gap);
            }
}

/* ---- rows, columns, borders, the sink ---- */

static void try_rows(int isa, int64_t bytes, int64_t n, int64_t gap)
{
    const tni_pad_kernels *k = tni_kernels_of(isa)->pad;
    const int64_t step = bytes + gap, all = n ? (n - 1) * step + bytes : 0;
    for (int edge = 0; edge < 8; edge++) {
        const int64_t s_step = edge & 4 ? 0 : step, s_all = n ? (n - 1) * s_step + bytes : 0;
        snprintf(now, sizeof now, "level %d, %d rows of %d bytes, gaps of %d, edges %d", isa,
                 (int)n, (int)bytes, (int)gap, edge);
        const char *s = source(0, s_all, edge & 1);
        char *d = target(all, edge & 2);
        k->rows(open_d, step, open_s[0], s_step, n, bytes);
        k->rows(d, step, s, s_step, n, bytes);
        compare(d, all, edge & 2);
    }
}

static void rows(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int64_t bytes = 1; bytes < 5 * TAILS; bytes += STEP)
            for (int64_t n = 0; n < 9; n += 1 + n / 3)
                for (int64_t gap = 0; gap < 30; gap += 13)
                    try_rows(isa, bytes, n, gap);
}

/* Rows and the gaps between them, which take a value of just their length, or any bytes. */
static void try_gapped(int isa, int64_t bytes, int64_t n, int64_t gap)
{
    const tni_pad_kernels *k = tni_kernels_of(isa)->pad;
    const int64_t step = bytes + gap, all = (n - 1) * step + bytes;
    for (int edge = 0; edge < 16; edge++) {
        const int64_t s_step = bytes + (edge & 4 ? 5 : 0);
        const bool given = edge & 8;
        snprintf(now, sizeof now, "level %d, %d gapped rows of %d bytes, gaps of %d, edges %d",
                 isa, (int)n, (int)bytes, (int)gap, edge);
        const char *s = source(0, (n - 1) * s_step + bytes, edge & 1);
        const char *value = source(1, gap, edge & 1);
        char *d = target(all, edge & 2);
        k->gapped(open_d, step, open_s[0], s_step, n, bytes, given ? open_s[1] : NULL);
        k->gapped(d, step, s, s_step, n, bytes, given ? value : NULL);
        for (int64_t i = 0; !given && i < n - 1; i++)
            memcpy(open_d + i * step + bytes, d + i * step + bytes, (size_t)gap);
        compare(d, all, edge & 2);
    }
}

static void gapped_rows(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int64_t bytes = 1; bytes < 5 * TAILS; bytes += STEP)
            for (int64_t n = 1; n < 9; n += 3)
                for (int64_t gap = 0; gap < 50; gap += 1 + (bytes + gap) % 13)
                    try_gapped(isa, bytes, n, gap);
}

static void columns(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int w = 0; w < 5; w++)
            for (int64_t n = 0; n < TAILS; n += STEP)
                for (int edge = 0; edge < 8; edge++) {
                    const int64_t width = 1 << w, step = width + (edge & 4 ? 3 : 0);
                    const int64_t all = n ? (n - 1) * step + width : 0;
                    snprintf(now, sizeof now, "level %d, column of %d, width %d, edges %d", isa,
                             (int)n, (int)width, edge);
                    const char *s = source(0, all, edge & 1);
                    char *d = target(all, edge & 2);
                    tni_kernels_of(isa)->pad->column(open_d, step, open_s[0], step, n, w);
                    tni_kernels_of(isa)->pad->column(d, step, s, step, n, w);
                    compare(d, all, edge & 2);
                }
}

/* A row of n elements with borders that mirror its ends. */
static tni_pad_row bordered(int w, int64_t n, int64_t left, int64_t right)
{
    const int64_t width = 1 << w;
    tni_pad_row row = {.width_log2 = w, .left = left * width, .body = n * width};
    row.bytes = (left + n + right) * width;
    for (int64_t i = 0; i < left + n + right; i++)
        if (i < left || i >= left + n) {
            row.edge[row.edges].to = i * width;
            row.edge[row.edges++].from = (i % 2 ? n - 1 : 0) * width;
        }
    return row;
}

/* Append rows and put what is left behind them; d has any alignment. */
static void append_all(const tni_pad_kernels *k, const tni_pad_row *row, char *d, const char *s,
                       int64_t n, const char *value)
{
    static tni_pad_buffer sink;
    sink.first = sink.end = (int64_t)((uintptr_t)d % 64);
    sink.d = d - sink.first;
    k->append(&sink, row, s, row->body, n, value);
    k->flush(&sink);
    memcpy(sink.d + sink.first, sink.bytes + sink.first, (size_t)(sink.end - sink.first));
}

static void borders(void **state)
{
    (void)state;
    for (int isa = 0; isa < levels(); isa++)
        for (int w = 0; w < 5; w++)
            for (int64_t n = 1; n <= TAILS; n += STEP)
                for (int edge = 0; edge < 16; edge++) {
                    const tni_pad_kernels *k = tni_kernels_of(isa)->pad;
                    const tni_pad_row row = bordered(w, n, 1 + n % 5, edge & 4 ? 0 : 1 + n % 7);
                    const int64_t count = 1 + n % 6, all = count * row.bytes;
                    snprintf(now, sizeof now, "level %d, %d bordered rows of %d, %d, edges %d",
                             isa, (int)count, (int)n, 1 << w, edge);
                    const char *s = source(0, count * row.body, edge & 1);
                    const char *value = source(1, TNI_PAD_EDGES * 16, true);
                    char *d = target(all, edge & 2);
                    if (edge & 8) {
                        k->edges(open_d, row.bytes, &row, open_s[0], row.body, count);
                        k->edges(d, row.bytes, &row, s, row.body, count);
                    } else {
                        const bool given = n % 2;
                        append_all(k, &row, open_d, open_s[0], count, given ? value : NULL);
                        append_all(k, &row, d, s, count, given ? value : NULL);
                    }
                    tni_kernels_of(isa)->copy->fence();
                    compare(d, all, edge & 2);
                }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops),     cmocka_unit_test(casts),       cmocka_unit_test(makers),
        cmocka_unit_test(rows),    cmocka_unit_test(gapped_rows), cmocka_unit_test(columns),
        cmocka_unit_test(borders),
    };
    return cmocka_run_group_tests(tests, build, NULL);
}
