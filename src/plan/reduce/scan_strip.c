/* scan_strip.c - scans of a strip of columns, and the totals of blocks of columns. */
#include <string.h>

#include "scan_run.h"

/* Whether columns continue from a carry, as sequences that arrive in parts do. */
static bool begun(const tni_scan *s, int64_t w, const tni_scan_state *carry)
{
    ASSERT(w > 0 && w <= TNI_SCAN_WIDEST && s->at % TNI_SCAN_GROUP == 0);
    ASSERT(s->at == 0 || carry);
    return s->at > 0;
}

/* Store the first elements of columns that are longer by one; returns where the others
 * begin. */
static char *put_initial(const tni_scan *s, char *d, int64_t w)
{
    for (int64_t c = 0; c < w && s->initial; c++)
        tni_scan_initial(s, d + c * s->width[0]);
    return s->initial ? d + s->step[0] : d;
}

/* ---- keys ---- */

/* The running keys of columns, of 1 to 8 bytes each. */
typedef union key_states {
    int8_t k8[TNI_SCAN_WIDEST];
    int16_t k16[TNI_SCAN_WIDEST];
    int32_t k32[TNI_SCAN_WIDEST];
    int64_t k64[TNI_SCAN_WIDEST];
} key_states;

static void set_key(key_states *state, int bytes, int64_t c, int64_t key)
{
    if (bytes == 1)
        state->k8[c] = (int8_t)key;
    else if (bytes == 2)
        state->k16[c] = (int16_t)key;
    else if (bytes == 4)
        state->k32[c] = (int32_t)key;
    else
        state->k64[c] = key;
}

static int64_t key_of(const key_states *state, int bytes, int64_t c)
{
    return bytes == 1   ? state->k8[c]
           : bytes == 2 ? state->k16[c]
           : bytes == 4 ? state->k32[c]
                        : state->k64[c];
}

void tni_scan_strip_keys(const tni_scan *s, char *d, const char *p, int64_t w,
                         tni_scan_state *carry)
{
    const tni_scan_extremes *k = tni_scan_extremes_of(s);
    const bool goes_on = begun(s, w, carry);
    key_states state;
    for (int64_t c = 0; c < w; c++)
        set_key(&state, k->key, c, goes_on ? carry[c].i : tni_scan_least(k));
    k->columns(d, s->step[0], p, s->step[1], s->n, w, &state, &s->rule);
    for (int64_t c = 0; carry && c < w; c++)
        carry[c].i = key_of(&state, k->key, c);
}

/* ---- sums of integers ---- */

void tni_scan_strip_int(const tni_scan *s, char *d, const char *p, int64_t w,
                        tni_scan_state *carry)
{
    int64_t x[TNI_SCAN_COLUMNS], state[TNI_SCAN_WIDEST];
    const bool goes_on = begun(s, w, carry);
    for (int64_t c = 0; c < w; c++)
        state[c] = goes_on ? carry[c].i : 0;
    d = put_initial(s, d, w);
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < w; c += TNI_SCAN_COLUMNS) {
            const int64_t m = w - c < TNI_SCAN_COLUMNS ? w - c : TNI_SCAN_COLUMNS;
            tni_scan_cast(s->isa, s->src, s->wide, (char *)x,
                          p + i * s->step[1] + c * s->width[1], m);
            tni_kernels_of(s->isa)->scan->rows_int((char *)x, 0, (char *)x, 0, 1, m, state + c);
            tni_scan_cast(s->isa, s->wide, s->dst, d + i * s->step[0] + c * s->width[0],
                          (char *)x, m);
        }
    for (int64_t c = 0; carry && c < w; c++)
        carry[c].i = state[c];
}

/* The same for integers of 64 bits, from memory to memory. */
void tni_scan_strip_words(const tni_scan *s, char *d, const char *p, int64_t w,
                          tni_scan_state *carry)
{
    int64_t state[TNI_SCAN_WIDEST];
    const bool goes_on = begun(s, w, carry);
    for (int64_t c = 0; c < w; c++)
        state[c] = goes_on ? carry[c].i : 0;
    d = put_initial(s, d, w);
    tni_kernels_of(s->isa)->scan->rows_int(d, s->step[0], p, s->step[1], s->n, w, state);
    for (int64_t c = 0; carry && c < w; c++)
        carry[c].i = state[c];
}

/* ---- sums and products of floats, eight rows at a time ---- */

typedef struct real_strip {
    double before[TNI_SCAN_WIDEST], chain[TNI_SCAN_WIDEST];
} real_strip;

static void begin_strip(const tni_scan *s, real_strip *r, int64_t w,
                        const tni_scan_state *carry)
{
    const double absent = tni_scan_absent(s);
    const bool goes_on = begun(s, w, carry);
    for (int64_t c = 0; c < w; c++) {
        r->before[c] = goes_on ? carry[c].f : absent;
        r->chain[c] = goes_on ? carry[c].chain : absent;
    }
}

/* At the beginning of a block, add the chain to what came before and restart it. */
static void next_group(const tni_scan *s, real_strip *r, int64_t w, int64_t at)
{
    const bool sum = s->op == TN_SCAN_SUM;
    const double absent = tni_scan_absent(s);
    if (at == 0 || at % TNI_TREE_BLOCK != 0)
        return;
    for (int64_t c = 0; c < w; c++) {
        r->before[c] = sum ? r->before[c] + r->chain[c] : r->before[c] * r->chain[c];
        r->chain[c] = absent;
    }
}

static void end_strip(const real_strip *r, int64_t w, tni_scan_state *carry)
{
    for (int64_t c = 0; carry && c < w; c++)
        carry[c] = (tni_scan_state){.f = r->before[c], .chain = r->chain[c]};
}

/* Dense rows that are not whole lines are collected in a buffer and streamed from there.
 * OUT_BYTES are streamed at a time (not measured finely), a group of rows has at most OUT_MOST
 * bytes, and a row at least OUT_LEAST: shorter ones lose by it (Zen 3, "Scans on Zen 3" in
 * docs/investigations/reductions.md: down 15 columns of f32 13 GB/s without and 11 with it,
 * down 127 columns 12 and 15). */
enum { OUT_BYTES = 4096, OUT_MOST = 16384, OUT_LEAST = 192 };

/* The buffer: bytes [at, end) of buf are to be written at `to`; both have the same address
 * modulo 64. */
typedef struct rows_out {
    char *to;
    int64_t at, end;
    _Alignas(64) char buf[OUT_BYTES + OUT_MOST + 64];
} rows_out;

/* Stream all whole lines of the buffer if it holds OUT_BYTES, and move the rest to its
 * start. */
static void send_lines(const tni_scan *s, rows_out *o)
{
    const int64_t whole = o->end / 64 * 64;
    if (o->end < OUT_BYTES)
        return;
    tni_kernels_of(s->isa)->copy->stream(o->to, o->buf + o->at, whole - o->at);
    memcpy(o->buf, o->buf + whole, (size_t)(o->end - whole));
    o->to += whole - o->at;
    o->at = 0;
    o->end -= whole;
}

/* Whether the rows of a strip are streamed through the buffer: they are dense and not whole
 * lines. */
static bool sends(const tni_scan *s, const char *d, int64_t w)
{
    const int64_t row = w * s->width[0];
    return s->stream && s->step[0] == row && row >= OUT_LEAST &&
           TNI_SCAN_GROUP * row <= OUT_MOST && ((uintptr_t)d | (uintptr_t)row) % 64 != 0;
}

/* The rows of such a strip that are computed at a time: whole groups. */
static int64_t sent_rows(const tni_scan *s)
{
    const int64_t groups = OUT_BYTES / s->step[0] / TNI_SCAN_GROUP;
    return (groups > 1 ? groups : 1) * TNI_SCAN_GROUP;
}

/* Sums of floats by kernels from memory to memory. */
void tni_scan_strip_moved(const tni_scan *s, char *d, const char *p, int64_t w,
                          tni_scan_state *carry)
{
    const tni_scan_sums *k = tni_scan_sums_of(s);
    real_strip r;
    begin_strip(s, &r, w, carry);
    d = put_initial(s, d, w);
    const bool out = sends(s, d, w);
    const bool three = w == 3 && s->step[0] == 3 * s->width[0]; /* groups are whole vectors */
    const bool stream =
        !out && s->stream && (uintptr_t)d % 32 == 0 && (three || s->step[0] % 32 == 0);
    rows_out o;
    o.to = d;
    o.at = o.end = (int64_t)((uintptr_t)d % 64);
    const int64_t most = out ? sent_rows(s) : TNI_TREE_BLOCK;
    for (int64_t i = 0, rows; i < s->n; i += rows) {
        rows = TNI_TREE_BLOCK - (s->at + i) % TNI_TREE_BLOCK; /* left in this block */
        rows = rows < most ? rows : most;
        rows = rows < s->n - i ? rows : s->n - i;
        next_group(s, &r, w, s->at + i);
        k->rows(out ? o.buf + o.end : d + i * s->step[0], s->step[0], p + i * s->step[1],
                s->step[1], rows, w, r.before, r.chain, stream);
        if (!out)
            continue;
        o.end += rows * s->step[0];
        ASSERT(o.end <= (int64_t)sizeof o.buf);
        send_lines(s, &o);
    }
    if (out)
        memcpy(o.to, o.buf + o.at, (size_t)(o.end - o.at));
    end_strip(&r, w, carry);
}

/* Compute a group of rows of m <= TNI_SCAN_COLUMNS columns in a buffer of f64. */
static void buffered_rows(const tni_scan *s, char *d, const char *x, int64_t rows, int64_t m,
                          const double *before, double *chain)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    const bool sum = s->op == TN_SCAN_SUM;
    double v[TNI_SCAN_GROUP * TNI_SCAN_COLUMNS];
    ASSERT(rows <= TNI_SCAN_GROUP && m <= TNI_SCAN_COLUMNS);
    for (int64_t r = 0; r < rows; r++)
        tni_scan_cast(s->isa, s->src, TN_F64, (char *)(v + r * m), x + r * s->step[1], m);
    (sum ? k->rows_sum : k->rows_prod)(v, rows, m, before, chain);
    tni_scan_settle(v, rows * m, sum);
    for (int64_t r = 0; r < rows; r++)
        tni_scan_cast(s->isa, TN_F64, s->dst, d + r * s->step[0], (char *)(v + r * m), m);
}

void tni_scan_strip_real(const tni_scan *s, char *d, const char *p, int64_t w,
                         tni_scan_state *carry)
{
    real_strip r;
    begin_strip(s, &r, w, carry);
    d = put_initial(s, d, w);
    for (int64_t i = 0; i < s->n; i += TNI_SCAN_GROUP) {
        const int64_t rows = s->n - i < TNI_SCAN_GROUP ? s->n - i : TNI_SCAN_GROUP;
        next_group(s, &r, w, s->at + i);
        for (int64_t c = 0; c < w; c += TNI_SCAN_COLUMNS)
            buffered_rows(s, d + i * s->step[0] + c * s->width[0],
                          p + i * s->step[1] + c * s->width[1], rows,
                          w - c < TNI_SCAN_COLUMNS ? w - c : TNI_SCAN_COLUMNS, r.before + c,
                          r.chain + c);
    }
    end_strip(&r, w, carry);
}

/* ---- totals of whole blocks ---- */

void tni_scan_totals_moved(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w)
{
    double chain[TNI_SCAN_COLUMNS];
    ASSERT(w <= TNI_SCAN_COLUMNS);
    for (int64_t c = 0; c < w; c++)
        chain[c] = 0;
    tni_scan_sums_of(s)->totals(x, s->step[1], TNI_TREE_BLOCK, w, chain);
    for (int64_t c = 0; c < w; c++)
        out[c].f = chain[c];
}

void tni_scan_totals_words(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w)
{
    int64_t sum[TNI_SCAN_COLUMNS] = {0};
    ASSERT(w <= TNI_SCAN_COLUMNS);
    tni_kernels_of(s->isa)->scan->totals_int(x, s->step[1], TNI_TREE_BLOCK, w, sum);
    for (int64_t c = 0; c < w; c++)
        out[c].i = sum[c];
}

void tni_scan_totals_keys(const tni_scan *s, tni_scan_word *out, const char *x, int64_t w)
{
    const tni_scan_extremes *k = tni_scan_extremes_of(s);
    key_states state;
    ASSERT(w <= TNI_SCAN_COLUMNS);
    for (int64_t c = 0; c < w; c++)
        set_key(&state, k->key, c, tni_scan_least(k));
    k->totals(x, s->step[1], TNI_TREE_BLOCK, w, &state, &s->rule);
    for (int64_t c = 0; c < w; c++)
        out[c].i = key_of(&state, k->key, c);
}

tni_scan_word tni_scan_both(const tni_scan *s, tni_scan_word a, tni_scan_word b)
{
    const uint64_t u = (uint64_t)a.i, v = (uint64_t)b.i;
    if (s->op == TN_SCAN_MAX || s->op == TN_SCAN_MIN)
        return a.i > b.i ? a : b;
    if (s->type == TNI_SCAN_REAL)
        return (tni_scan_word){.f = s->op == TN_SCAN_SUM ? a.f + b.f : a.f * b.f};
    return (tni_scan_word){.i = (int64_t)(s->op == TN_SCAN_SUM ? u + v : u * v)};
}
