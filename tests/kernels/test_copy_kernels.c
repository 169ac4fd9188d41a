/* test_copy_kernels.c - every copying kernel on buffers that end at, or begin after, a page
 * that cannot be touched: no byte too many is read or written, on every instruction set here.
 *
 * A kernel that steps outside ends the program; the handler says which one and how. */
#include "fence.h"
#include "kernels/kernels.h"
#include "runtime/runtime.h"

enum { LINE = 64 };

static fenced d_fence, s_fence, w_fence; /* dst, src, and what dst should become */

static int build(void **state)
{
    (void)state;
    d_fence = fence_off();
    s_fence = fence_off();
    w_fence = fence_off();
    rng r = {7};
    scatter_bytes(&r, s_fence.low, ROOM);
    scatter_bytes(&r, d_fence.low, ROOM);
    memcpy(w_fence.low, d_fence.low, ROOM);
    return 0;
}

/* The fenced bytes are equal around the block, and then both fresh again. */
static void compare(char *block, int64_t bytes)
{
    int64_t from = block - d_fence.low - 256, to = block - d_fence.low + bytes + 256;
    from = from < 0 ? 0 : from;
    to = to > ROOM ? ROOM : to;
    if (memcmp(d_fence.low + from, w_fence.low + from, (size_t)(to - from)))
        fail_msg("wrong bytes: %s", now);
    for (int64_t i = from; i < to; i++)
        d_fence.low[i] = w_fence.low[i] = (char)(w_fence.low[i] * 5 + 77);
}

/* ---- a tile of two axes anywhere between the pages ---- */

typedef struct tile {
    int64_t n[2], d_step[2], s_step[2], unit;
} tile;

/* Bytes from the lowest to the end of the highest unit, and where unit (0, 0) lies in them. */
static int64_t extent(const int64_t n[2], const int64_t step[2], int64_t unit, int64_t *first)
{
    int64_t bytes = unit;
    *first = 0;
    for (int i = 0; i < 2; i++) {
        bytes += (n[i] - 1) * (step[i] < 0 ? -step[i] : step[i]);
        *first += step[i] < 0 ? -(n[i] - 1) * step[i] : 0;
    }
    return bytes;
}

static void copy_tile_slowly(char *d, const char *s, const tile *t)
{
    for (int64_t i = 0; i < t->n[0]; i++)
        for (int64_t j = 0; j < t->n[1]; j++)
            memcpy(d + i * t->d_step[0] + j * t->d_step[1],
                   s + i * t->s_step[0] + j * t->s_step[1], (size_t)t->unit);
}

typedef void (*try_fn)(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t);

static void at_all_edges(const char *what, const tni_copy_kernels *k, int w, const tile *t,
                         try_fn try)
{
    if (t->n[0] < 1 || t->n[1] < 1)
        return;
    for (int edge = 0; edge < 4; edge++) {
        int64_t d_first, s_first, bytes = extent(t->n, t->d_step, t->unit, &d_first);
        char *block = at_edge(&d_fence, bytes, edge & 1), *d = block + d_first;
        int64_t s_bytes = extent(t->n, t->s_step, t->unit, &s_first);
        const char *s = at_edge(&s_fence, s_bytes, edge & 2) + s_first;
        snprintf(now, sizeof now,
                 "%s %s, width %d, %lld x %lld of %lld bytes, dst steps %lld %lld, "
                 "src steps %lld %lld, dst at the %s end, src at the %s",
                 k->isa, what, 1 << w, (long long)t->n[0], (long long)t->n[1],
                 (long long)t->unit, (long long)t->d_step[0], (long long)t->d_step[1],
                 (long long)t->s_step[0], (long long)t->s_step[1], edge & 1 ? "high" : "low",
                 edge & 2 ? "high" : "low");
        copy_tile_slowly(w_fence.low + (d - d_fence.low), s, t);
        try(k, w, d, s, t);
        k->fence();
        compare(block, bytes);
    }
}

/* At offsets of dst and src into a line, among bytes that stay as they are. */
static void at_address(const char *what, const tni_copy_kernels *k, int w, const tile *t,
                       try_fn try, int d_at, int s_at)
{
    int64_t first;
    char *d = d_fence.low + 4 * LINE + d_at;
    const char *s = s_fence.low + s_at;
    snprintf(now, sizeof now, "%s %s, width %d, %lld x %lld, dst at %d, src at %d", k->isa,
             what, 1 << w, (long long)t->n[0], (long long)t->n[1], d_at, s_at);
    copy_tile_slowly(w_fence.low + (d - d_fence.low), s, t);
    try(k, w, d, s, t);
    k->fence();
    compare(d, extent(t->n, t->d_step, t->unit, &first));
}

static void try_tile(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    k->tile[w](d, t->d_step, s, t->s_step, t->n);
}

static void try_transpose(const tni_copy_kernels *k, int w, char *d, const char *s,
                          const tile *t)
{
    k->transpose[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], 0);
}

static void try_transpose_ahead(const tni_copy_kernels *k, int w, char *d, const char *s,
                                const tile *t)
{
    k->transpose[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], ROOM);
}

static void try_transpose_far(const tni_copy_kernels *k, int w, char *d, const char *s,
                              const tile *t)
{
    k->transpose_far[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], 0);
}

static void try_transpose_far_ahead(const tni_copy_kernels *k, int w, char *d, const char *s,
                                    const tile *t)
{
    k->transpose_far[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], ROOM);
}

/* One trip; every other tile has its lines prefetched. */
static tni_trips one_trip(const tile *t)
{
    return (tni_trips){{1, 1}, {0, 0}, {0, 0}, (int)(t->n[0] + t->n[1]) % 2};
}

static void try_transpose_many(const tni_copy_kernels *k, int w, char *d, const char *s,
                               const tile *t)
{
    const tni_trips once = one_trip(t);
    k->transpose_many[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], &once);
}

static void try_indexed(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    int64_t d_at[256], s_at[256];
    assert_true(t->n[0] <= 256 && t->n[1] <= 256);
    for (int64_t i = 0; i < t->n[0]; i++)
        s_at[i] = i * t->s_step[0];
    for (int64_t i = 0; i < t->n[1]; i++)
        d_at[i] = i * t->d_step[1];
    k->transpose_indexed[w](d, d_at, s, s_at, t->n[0], t->n[1], one_trip(t).prefetch);
}

static void try_transpose_lines(const tni_copy_kernels *k, int w, char *d, const char *s,
                                const tile *t)
{
    if ((uintptr_t)d % LINE == 0)
        k->transpose_lines[w](d, t->d_step[1], s, t->s_step[0], t->n[0], t->n[1], 1 << 20);
    else
        copy_tile_slowly(d, s, t); /* not for this kernel */
}

/* In two tiles, the second of which writes what the first leaves of its last lines. */
static void try_shifted(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    int64_t lane = w < 3 ? 1 << w : 8, each = LINE >> w, cut = t->n[0] / 2 / each * each;
    if (!k->transpose_shifted[w] || (int64_t)((uintptr_t)d & 7) % lane || t->d_step[1] % lane) {
        copy_tile_slowly(d, s, t); /* not for this kernel */
        return;
    }
    if (cut)
        k->transpose_shifted[w](d, t->d_step[1], s, t->s_step[0], cut, t->n[1], 1 << 20, 1, 0);
    k->transpose_shifted[w](d + (cut << w), t->d_step[1], s + cut * t->s_step[0], t->s_step[0],
                            t->n[0] - cut, t->n[1], 1 << 20, cut == 0, 1);
}

/* n rows of dst, which join where one ends at the next. */
static void begin_carry(tni_carry *c, char *d, int64_t n, int64_t step, int64_t run,
                        int64_t s_step)
{
    c->steps = s_step;
    for (int64_t b = 0; b < n; b++) {
        char *row = d + b * step;
        c->lag[b] = (uint8_t)((uintptr_t)row & 63);
        c->at[b] = row - c->lag[b];
        c->joins[b] = b + 1 < n && step == run;
    }
}

/* In two calls, the second of which completes what the first leaves. */
static void try_carried(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    static tni_carry c;
    static int64_t at[256];
    int64_t each = LINE >> w, cut = t->n[0] / 2 / each * each;
    if (!k->transpose_carried[w] || t->n[0] < each || t->n[1] << w < 16) {
        copy_tile_slowly(d, s, t); /* not for this kernel */
        return;
    }
    for (int64_t i = 0; i < t->n[0]; i++)
        at[i] = i * t->s_step[0];
    begin_carry(&c, d, t->n[1], t->d_step[1], t->n[0] << w, t->s_step[0]);
    c.packs = t->n[0] <= TNI_CARRY_LIST && t->n[1] % 2; /* source rows side by side first */
    for (int64_t i = 0; i < TNI_CARRY_LIST; i++)
        c.side_at[i] = i * LINE;
    if (cut && t->n[0] - cut >= each)
        k->transpose_carried[w](&c, s, at, cut, t->n[1], 1, 0, s, at, cut);
    else
        cut = 0;
    k->transpose_carried[w](&c, s, at + cut, t->n[0] - cut, t->n[1], cut == 0, 1, NULL, at, 0);
}

/* In one call; of rows that could join some do not. */
static void try_short(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    static tni_carry c;
    static int64_t at[TNI_CARRY_LIST];
    const int64_t na = t->n[0], nb = t->n[1];
    if (!k->transpose_carried[w] || na < LINE >> w || na > TNI_CARRY_LIST || nb << w < 16) {
        copy_tile_slowly(d, s, t); /* not for this kernel */
        return;
    }
    for (int64_t i = 0; i < na; i++)
        at[i] = i * t->s_step[0];
    begin_carry(&c, d, nb, t->d_step[1], na << w, t->s_step[0]);
    for (int64_t b = 5; b < nb; b += 7)
        c.joins[b] = 0;
    c.packs = nb % 2;
    for (int64_t i = 0; i < TNI_CARRY_LIST; i++)
        c.side_at[i] = i * LINE;
    k->transpose_carried[w](&c, s, at, na, nb, 1, 1, nb % 3 ? s : NULL, at, na);
}

static void try_interleave(const tni_copy_kernels *k, int w, char *d, const char *s,
                           const tile *t)
{
    if (!k->interleave[w] || t->n[0] < 2 || t->n[0] > 4 || (uintptr_t)d % LINE ||
        !k->interleave[w](d, s, t->s_step[0], t->n[1], t->n[0]))
        copy_tile_slowly(d, s, t); /* not for this kernel */
}

static void try_units(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    k->units(d, t->d_step, s, t->s_step, t->n, t->unit, w ? ROOM : 0);
}

static void try_stream_units(const tni_copy_kernels *k, int w, char *d, const char *s,
                             const tile *t)
{
    k->stream_units(d, t->d_step, s, t->s_step, t->n, t->unit, w ? ROOM : 0);
}

static void try_rows(const tni_copy_kernels *k, int w, char *d, const char *s, const tile *t)
{
    (void)w;
    const tni_trips once = one_trip(t);
    k->rows(d, t->d_step, s, t->s_step, t->n, t->unit, &once);
}

/* As try_carried: axis 1 is the run, axis 0 the source piece. */
static void try_rows_carried(const tni_copy_kernels *k, int w, char *d, const char *s,
                             const tile *t)
{
    static tni_carry c;
    int64_t at[8] = {0}, cut = t->n[1] / 2;
    if (!k->rows_carried || t->unit < LINE) {
        copy_tile_slowly(d, s, t); /* not for this kernel */
        return;
    }
    for (int64_t i = 0; i < t->n[1]; i++)
        at[i] = i * t->s_step[1];
    begin_carry(&c, d, t->n[0], t->d_step[0], t->n[1] * t->unit, t->s_step[1]);
    k->rows_carried(&c, s, at, cut, t->n[0], t->unit, 1, 0, s, at, w ? cut : 0);
    k->rows_carried(&c, s, at + cut, t->n[1] - cut, t->n[0], t->unit, 0, 1, NULL, at, 0);
}

/* ---- every kernel ---- */

/* The extents that are tried beside every tail: below, at and above the sizes of blocks. */
static const int64_t beside[] = {1,  2,  3,  4,  5,  6,  7,  8,  9, 10,
                                 11, 12, 13, 14, 15, 16, 17, 33, 64};
enum {
    BESIDE = sizeof beside / sizeof *beside,
    TAILS = 64,
    STEP = TEST_WATCHED ? 37 : 3 /* odd: every remainder of a vector is among the tails */
};

typedef void (*kernel_test)(const tni_copy_kernels *k, int w);

static void on_every_level(kernel_test test)
{
    watch_fences();
    for (int level = 0; level <= tni_isa_level(); level++)
        for (int w = 0; w < TNI_WIDTHS; w++)
            test(tni_kernels_of(level)->copy, w);
}

static void transposes_of(const tni_copy_kernels *k, int w)
{
    int64_t width = 1 << w;
    for (int64_t tail = 0; tail < TAILS; tail += STEP)
        for (int i = 0; i < BESIDE; i++)
            for (int swap = 0; swap < 2; swap++) {
                int64_t many = (i % 3) * TAILS + tail;
                int64_t na = swap ? beside[i] : many, nb = swap ? many : beside[i];
                tile t = {{na, nb}, {width, na * width}, {nb * width, width}, width};
                at_all_edges("transpose", k, w, &t, try_transpose);
                at_all_edges("transpose far", k, w, &t, try_transpose_far);
                at_all_edges("transpose_many", k, w, &t, try_transpose_many);
                at_all_edges("indexed", k, w, &t, try_indexed);
                at_all_edges("interleave", k, w, &t, try_interleave);
                t.d_step[1] += 5;
                t.s_step[0] += 3;
                at_all_edges("transpose with gaps", k, w, &t, try_transpose_ahead);
                at_all_edges("transpose far with gaps", k, w, &t, try_transpose_far_ahead);
                t.d_step[1] = -t.d_step[1];
                t.s_step[0] = -t.s_step[0];
                at_all_edges("transpose backwards", k, w, &t, try_transpose);
                at_all_edges("indexed backwards", k, w, &t, try_indexed);
            }
}

static void transposed_lines_of(const tni_copy_kernels *k, int w)
{
    int64_t width = 1 << w;
    for (int64_t tail = 0; tail < TAILS; tail += STEP)
        for (int i = 0; i < BESIDE; i++)
            for (int lines = 0; lines < 3; lines++) {
                int64_t na = lines * (LINE / width) + (i % 2 ? tail : 0);
                int64_t nb = i % 2 ? beside[i] : tail;
                int64_t step = (na * width + LINE - 1) / LINE * LINE;
                tile t = {{na, nb}, {width, step}, {nb * width, width}, width};
                at_all_edges("transpose_lines", k, w, &t, try_transpose_lines);
                t.s_step[0] += 1;
                t.d_step[1] += LINE;
                at_all_edges("transpose_lines with gaps", k, w, &t, try_transpose_lines);
                t.d_step[1] = na * width;
                at_all_edges("shifted", k, w, &t, try_shifted);
                at_all_edges("carried", k, w, &t, try_carried);
                at_all_edges("short", k, w, &t, try_short);
                t.d_step[1] = -t.d_step[1] - 3 * width;
                at_all_edges("shifted backwards", k, w, &t, try_shifted);
                at_all_edges("carried backwards", k, w, &t, try_carried);
            }
}

/* Rows that begin and end in one call, of a line and more, at every address of dst and src. */
static void short_rows_of(const tni_copy_kernels *k, int w)
{
    const int64_t width = 1 << w, each = LINE / width, few = 16 / width;
    const int64_t run[] = {each, each + 1, 2 * each, 3 * each - 1};
    const int64_t rows[] = {few, 2 * few + 1, 4 * few + few / 2};
    for (int i = 0; i < COUNT(run); i++)
        for (int j = 0; j < COUNT(rows); j++) {
            const int64_t na = run[i], nb = rows[j];
            tile t = {{na, nb}, {width, na * width}, {nb * width, width}, width};
            at_all_edges("short", k, w, &t, try_short);
            for (int at = 0; at < LINE * LINE; at += STEP)
                at_address("short", k, w, &t, try_short, at % LINE, at / LINE);
            t.d_step[1] += 5;
            t.s_step[0] += 3;
            at_all_edges("short with gaps", k, w, &t, try_short);
            t.s_step[0] = -t.s_step[0];
            t.d_step[1] = -t.d_step[1];
            at_all_edges("short backwards", k, w, &t, try_short);
        }
}

/* Rows that go on from call to call, at every address: source rows that agree about where lines
 * begin, or about 16 bytes, packed or not. */
static void carried_rows_of(const tni_copy_kernels *k, int w)
{
    const int64_t width = 1 << w, na = 2 * LINE / width + 3;
    for (int i = 0; i < 4; i++) {
        const int64_t nb = 8 * (16 / width) + (i & 1); /* odd: packed */
        const int64_t step = 3 * LINE + (i & 2 ? 16 : 0);
        const tile t = {{na, nb}, {width, na * width}, {step, width}, width};
        at_all_edges("carried", k, w, &t, try_carried);
        for (int at = 0; at < LINE * LINE; at += STEP)
            at_address("carried", k, w, &t, try_carried, at % LINE, at / LINE);
    }
}

static void tiles_of(const tni_copy_kernels *k, int w)
{
    int64_t width = 1 << w;
    for (int64_t tail = 0; tail < TAILS; tail += STEP)
        for (int i = 0; i < BESIDE; i += 3) {
            int64_t n0 = beside[i], n1 = n0 % 2 * TAILS + tail; /* 1, 7 and 13 long rows */
            int64_t row = n1 * width, column = n0 * width;
            const struct {
                const char *what;
                tile t;
            } tiles[] = {
                {"tile, rows", {{n0, n1}, {row, width}, {row + 1, width}, width}},
                {"tile, rows of axis 0", {{n0, n1}, {width, column}, {width, column}, width}},
                {"tile, one row", {{n0, n1}, {row, width}, {0, width}, width}},
                {"tile, repeated", {{n0, n1}, {row, width}, {width, 0}, width}},
                {"tile, one value", {{n0, n1}, {row, width}, {0, 0}, width}},
                {"tile, reversed", {{n0, n1}, {row, width}, {row, -width}, width}},
                {"tile, transposed", {{n0, n1}, {row, width}, {width, column}, width}},
                {"tile, transposed back", {{n0, n1}, {row, width}, {-width, column}, width}},
                {"tile, dst backwards", {{n0, n1}, {-row, width}, {width, -column}, width}},
                {"tile, gaps",
                 {{n0, n1}, {2 * row, 2 * width}, {3 * width, column * 3}, width}},
                {"tile, odd gaps",
                 {{n0, n1}, {n1 * (width + 1), width + 1}, {width, column + 3}, width}},
            };
            for (size_t c = 0; c < sizeof tiles / sizeof *tiles; c++)
                at_all_edges(tiles[c].what, k, w, &tiles[c].t, try_tile);
        }
}

/* w only says whether lines ahead are asked for. */
static void units_of(const tni_copy_kernels *k, int w)
{
    if (w > 1)
        return;
    for (int64_t unit = 1; unit <= 5 * LINE; unit += STEP)
        for (int i = 0; i < 4; i++) {
            int64_t n0 = i % 2 ? 3 : 1, n1 = i / 2 ? 5 : 2;
            tile t = {{n0, n1}, {n1 * unit, unit}, {unit, n0 * unit}, unit};
            at_all_edges("units", k, w, &t, try_units);
            at_all_edges("streamed units", k, w, &t, try_stream_units);
            at_all_edges("rows", k, w, &t, try_rows);
            at_all_edges("rows carried", k, w, &t, try_rows_carried);
            t.d_step[0] += 7;
            at_all_edges("rows carried with gaps", k, w, &t, try_rows_carried);
            t.s_step[0] = -(t.s_step[0] + 100);
            t.s_step[1] += n0 * 100;
            at_all_edges("units with gaps", k, w, &t, try_units);
            at_all_edges("streamed units with gaps", k, w, &t, try_stream_units);
            at_all_edges("rows with gaps", k, w, &t, try_rows);
            int64_t more = unit + 63 * LINE; /* around 4 KB, where rows are left to memcpy */
            t = (tile){{n0, n1}, {n1 * more, more}, {more, n0 * more}, more};
            at_all_edges("long rows", k, w, &t, try_rows);
        }
}

static void rows_of(const tni_copy_kernels *k, int w)
{
    if (w > 1)
        return;
    static const int64_t more[] = {0, 64, 128, 192, 256, 320, 1024, 4096};
    for (int64_t tail = 0; tail < TAILS; tail += STEP)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++)
            for (int edge = 0; edge < 8; edge++) {
                int64_t bytes = more[m] + tail, off = edge & 4 ? 37 : 0;
                char *d = at_edge(&d_fence, bytes, edge & 1);
                d += edge & 1 ? -off : off;
                const char *s = at_edge(&s_fence, bytes, edge & 2);
                snprintf(now, sizeof now, "%s %s of %lld bytes, edges %d", k->isa,
                         w ? "stream" : "copy", (long long)bytes, edge);
                memcpy(w_fence.low + (d - d_fence.low), s, (size_t)bytes);
                (w ? k->stream : k->copy)(d, s, bytes);
                k->fence();
                compare(d, bytes);
            }
}

static void fills_of(const tni_copy_kernels *k, int w)
{
    int64_t width = 1 << w;
    static const int64_t more[] = {0, 64, 128, 640};
    for (int64_t tail = 0; tail < TAILS; tail += STEP)
        for (size_t m = 0; m < sizeof more / sizeof *more; m++)
            for (int edge = 0; edge < 16; edge++) {
                int64_t n = more[m] + tail, bytes = n * width;
                char *d = at_edge(&d_fence, bytes, edge & 1);
                if (edge & 4)
                    d += edge & 1 ? -11 : 11;
                const char *s = at_edge(&s_fence, width, edge & 2);
                snprintf(now, sizeof now, "%s fill of %lld elements, width %d, edges %d",
                         k->isa, (long long)n, (int)width, edge);
                for (int64_t i = 0; i < n; i++)
                    memcpy(w_fence.low + (d - d_fence.low) + i * width, s, (size_t)width);
                k->fill(d, s, w, n, edge & 8);
                k->fence();
                compare(d, bytes);
            }
}

static void transposes(void **state)
{
    (void)state;
    on_every_level(transposes_of);
}

static void transposed_lines(void **state)
{
    (void)state;
    on_every_level(transposed_lines_of);
}

static void short_rows(void **state)
{
    (void)state;
    on_every_level(short_rows_of);
}

static void carried_rows(void **state)
{
    (void)state;
    on_every_level(carried_rows_of);
}

static void tiles(void **state)
{
    (void)state;
    on_every_level(tiles_of);
}

static void units(void **state)
{
    (void)state;
    on_every_level(units_of);
}

static void rows(void **state)
{
    (void)state;
    on_every_level(rows_of);
}

static void fills(void **state)
{
    (void)state;
    on_every_level(fills_of);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposes), cmocka_unit_test(transposed_lines),
        cmocka_unit_test(short_rows), cmocka_unit_test(carried_rows),
        cmocka_unit_test(tiles),      cmocka_unit_test(units),
        cmocka_unit_test(rows),       cmocka_unit_test(fills),
    };
    return cmocka_run_group_tests(tests, build, NULL);
}
