/* test_pad_kernels.c - rows, columns, borders and the sink at every length, on every level. */
#include "layout.h"

#include "kernels/kernels.h"
#include "runtime/runtime.h"

/* Exact blocks: a step outside is seen by a watched build. */
static char *random_bytes(rng *r, int64_t n)
{
    char *p = malloc((size_t)(n ? n : 1));
    assert_non_null(p);
    for (int64_t i = 0; i < n; i++)
        p[i] = (char)next(r);
    return p;
}

/* Rows, and the gaps between them but none after the last: the value's, or anything. */
static void gapped_rows_of_every_length(void **state)
{
    (void)state;
    rng r = {3};
    char value[64];
    for (int i = 0; i < 64; i++)
        value[i] = (char)next(&r);
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int64_t bytes = 1; bytes < 300; bytes++)
            for (int round = 0; round < 12; round++) {
                int64_t n = pick(&r, 1, 9), gap = pick(&r, 0, round % 2 ? 4 : 40);
                int64_t off = pick(&r, 0, 63), d_step = bytes + gap;
                int64_t s_step = bytes + (round % 3 ? 0 : pick(&r, 0, 9));
                int64_t size = (n - 1) * d_step + bytes, source = (n - 1) * s_step + bytes;
                char *d = random_bytes(&r, off + size), *s = random_bytes(&r, source);
                char *want = malloc((size_t)(off + size));
                memcpy(want, d, (size_t)(off + size));
                tni_kernels_of(isa)->pad->gapped(d + off, d_step, s, s_step, n, bytes,
                                                 round % 4 ? value : NULL);
                for (int64_t i = 0; i < n; i++) {
                    char *at = want + off + i * d_step;
                    memcpy(at, s + i * s_step, (size_t)bytes);
                    if (i < n - 1)
                        memcpy(at + bytes, round % 4 ? value : d + (at + bytes - want),
                               (size_t)gap);
                }
                if (memcmp(d, want, (size_t)(off + size)))
                    fail_msg("%d rows of %d bytes, gaps of %d, on level %d", (int)n, (int)bytes,
                             (int)gap, isa);
                free(d);
                free(s);
                free(want);
            }
}

static void rows_of_every_length(void **state)
{
    (void)state;
    rng r = {1};
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int64_t bytes = 0; bytes < 300; bytes++)
            for (int round = 0; round < 6; round++) {
                int64_t n = pick(&r, 0, 5), gap = pick(&r, 0, 70), s_gap = pick(&r, 0, 9);
                int64_t d_step = bytes + gap, s_step = round == 5 ? 0 : bytes + s_gap;
                int64_t size = n ? (n - 1) * d_step + bytes : 0;
                int64_t source = n ? (n - 1) * s_step + bytes : 0;
                char *d = random_bytes(&r, size), *s = random_bytes(&r, source);
                char *want = malloc((size_t)(size ? size : 1));
                memcpy(want, d, (size_t)size);
                for (int64_t i = 0; i < n; i++)
                    memcpy(want + i * d_step, s + i * s_step, (size_t)bytes);
                tni_kernels_of(isa)->pad->rows(d, d_step, s, s_step, n, bytes);
                if (memcmp(d, want, (size_t)size))
                    fail_msg("%d rows of %d bytes on level %d", (int)n, (int)bytes, isa);
                free(d);
                free(s);
                free(want);
            }
}

static void columns_of_every_width(void **state)
{
    (void)state;
    rng r = {2};
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int width_log2 = 0; width_log2 < 5; width_log2++)
            for (int64_t n = 0; n < 20; n++) {
                int64_t width = 1 << width_log2, d_step = width + pick(&r, 0, 9);
                int64_t s_step = next(&r) % 4 ? width + pick(&r, 0, 9) : 0;
                char *d = random_bytes(&r, 20 * d_step),
                     *s = random_bytes(&r, 20 * s_step + 16);
                char *want = malloc((size_t)(20 * d_step));
                memcpy(want, d, (size_t)(20 * d_step));
                for (int64_t i = 0; i < n; i++)
                    memcpy(want + i * d_step, s + i * s_step, (size_t)width);
                tni_kernels_of(isa)->pad->column(d, d_step, s, s_step, n, width_log2);
                assert_memory_equal(d, want, (size_t)(20 * d_step));
                free(d);
                free(s);
                free(want);
            }
}

/* A row with borders at random, and what it should be. */
static tni_pad_row make_row(rng *r)
{
    tni_pad_row row = {.width_log2 = (int)pick(r, 0, 4)};
    int64_t width = (int64_t)1 << row.width_log2, n = pick(r, 1, next(r) % 2 ? 8 : 90);
    int64_t left = pick(r, 0, 16), right = pick(r, 0, next(r) % 2 ? 2 : 16);
    row.left = left * width;
    row.body = n * width;
    row.bytes = (left + n + right) * width;
    for (int64_t i = 0; i < left + n + right; i++)
        if (i < left || i >= left + n) {
            row.edge[row.edges].to = i * width;
            row.edge[row.edges++].from = pick(r, 0, n - 1) * width;
        }
    return row;
}

static void put_row(char *d, const tni_pad_row *row, const char *s, const char *value)
{
    size_t width = (size_t)1 << row->width_log2;
    memcpy(d + row->left, s, (size_t)row->body);
    for (int e = 0; e < row->edges; e++)
        memcpy(d + row->edge[e].to, value ? value : s + row->edge[e].from, width);
}

static void borders(void **state)
{
    (void)state;
    rng r = {3};
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int round = 0; round < 2000; round++) {
            tni_pad_row row = make_row(&r);
            int64_t n = pick(&r, 0, 6), d_step = row.bytes + pick(&r, 0, 3);
            char *d = random_bytes(&r, 6 * d_step), *s = random_bytes(&r, 6 * row.body);
            char *want = malloc((size_t)(6 * d_step));
            memcpy(want, d, (size_t)(6 * d_step));
            for (int64_t i = 0; i < n; i++) {
                put_row(want + i * d_step, &row, s + i * row.body, NULL);
                memcpy(want + i * d_step + row.left, d + i * d_step + row.left,
                       (size_t)row.body);
            }
            tni_kernels_of(isa)->pad->edges(d, d_step, &row, s, row.body, n);
            assert_memory_equal(d, want, (size_t)(6 * d_step));
            free(d);
            free(s);
            free(want);
        }
}

static void sinks(void **state)
{
    (void)state;
    rng r = {4};
    for (int isa = 0; isa <= tni_isa_level(); isa++)
        for (int round = 0; round < 1000; round++) {
            const tni_pad_kernels *k = tni_kernels_of(isa)->pad;
            tni_pad_row row = make_row(&r);
            enum { ROWS = 60 };
            int64_t total = ROWS * row.bytes, shift = pick(&r, 0, 70);
            char *block = aligned_alloc(64, (size_t)((total + shift + 127) & ~(int64_t)63));
            char *d = block + shift, *s = random_bytes(&r, ROWS * row.body);
            char *want = malloc((size_t)total), value[16 * TNI_PAD_EDGES];
            for (int64_t i = 0; i < 16 * TNI_PAD_EDGES; i++)
                value[i] =
                    i < 1 << row.width_log2 ? (char)next(&r) : value[i - (1 << row.width_log2)];
            const char *given = next(&r) % 2 ? value : NULL;
            for (int64_t i = 0; i < ROWS; i++)
                put_row(want + i * row.bytes, &row, s + i * row.body, given);
            tni_pad_buffer sink;
            sink.first = sink.end = (int64_t)((uintptr_t)d % 64);
            sink.d = d - sink.first;
            for (int64_t i = 0; i < ROWS;) {
                int64_t n = pick(&r, 1, 30);
                n = n < ROWS - i ? n : ROWS - i;
                k->append(&sink, &row, s + i * row.body, row.body, n, given);
                i += n;
            }
            assert_true(sink.end < 64 && sink.first <= sink.end);
            memcpy(sink.d + sink.first, sink.bytes + sink.first,
                   (size_t)(sink.end - sink.first));
            tni_kernels_of(isa)->copy->fence();
            assert_memory_equal(d, want, (size_t)total);
            free(block);
            free(s);
            free(want);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_every_length),
        cmocka_unit_test(gapped_rows_of_every_length),
        cmocka_unit_test(columns_of_every_width),
        cmocka_unit_test(borders),
        cmocka_unit_test(sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
