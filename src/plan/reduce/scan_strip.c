/* scan_strip.c - running reductions of columns side by side. */
#include "plan/plan.h"

static void strip_keys(const tni_scan *s, char *d, const char *p, int64_t w,
                       tni_scan_state *carry)
{
    const int log2 = tni_log2_width(s->width[1]);
    union {
        int32_t narrow[TNI_SCAN_WIDEST];
        int64_t wide[TNI_SCAN_WIDEST];
    } state;
    for (int64_t c = 0; c < w; c++) {
        const int64_t least = log2 < 3 ? INT32_MIN : INT64_MIN;
        const int64_t key = s->at > 0 ? carry[c].i : least;
        if (log2 < 3)
            state.narrow[c] = (int32_t)key;
        else
            state.wide[c] = key;
    }
    tni_kernels_of(s->isa)->scan->extremes[log2].columns(d, s->step[0], p, s->step[1], s->n, w,
                                                         &state, &s->rule);
    for (int64_t c = 0; carry && c < w; c++)
        carry[c].i = log2 < 3 ? state.narrow[c] : state.wide[c];
}

/* Sums of integers. */
static void strip_int(const tni_scan *s, char *d, const char *p, int64_t w,
                      tni_scan_state *carry)
{
    int64_t x[TNI_SCAN_COLUMNS], state[TNI_SCAN_WIDEST];
    for (int64_t c = 0; c < w; c++)
        state[c] = s->at > 0 ? carry[c].i : 0;
    if (s->initial) {
        for (int64_t c = 0; c < w; c++)
            tni_scan_initial(s, d + c * s->width[0]);
        d += s->step[0];
    }
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < w; c += TNI_SCAN_COLUMNS) {
            const int64_t m = w - c < TNI_SCAN_COLUMNS ? w - c : TNI_SCAN_COLUMNS;
            tni_scan_cast(s->isa, s->src, s->wide, (char *)x,
                          p + i * s->step[1] + c * s->width[1], m);
            tni_kernels_of(s->isa)->scan->row_int(x, state + c, m);
            tni_scan_cast(s->isa, s->wide, s->dst, d + i * s->step[0] + c * s->width[0],
                          (char *)x, m);
        }
    for (int64_t c = 0; carry && c < w; c++)
        carry[c].i = state[c];
}

/* Sums and products of floats. */
static void strip_real(const tni_scan *s, char *d, const char *p, int64_t w,
                       tni_scan_state *carry)
{
    const tni_scan_kernels *k = tni_kernels_of(s->isa)->scan;
    double v[TNI_SCAN_GROUP * TNI_SCAN_COLUMNS], before[TNI_SCAN_WIDEST],
        chain[TNI_SCAN_WIDEST];
    const bool stream = s->stream && ((uintptr_t)d | (uintptr_t)s->step[0]) % 32 == 0;
    const bool sum = s->op == TN_SCAN_SUM;
    const double absent = tni_scan_absent(s);
    for (int64_t c = 0; c < w; c++) {
        before[c] = s->at > 0 ? carry[c].f : absent;
        chain[c] = s->at > 0 ? carry[c].chain : absent;
    }
    if (s->initial) {
        for (int64_t c = 0; c < w; c++)
            tni_scan_initial(s, d + c * s->width[0]);
        d += s->step[0];
    }
    for (int64_t i = 0; i < s->n; i += TNI_SCAN_GROUP) {
        const int64_t rows = s->n - i < TNI_SCAN_GROUP ? s->n - i : TNI_SCAN_GROUP;
        if (s->at + i > 0 && (s->at + i) % TNI_TREE_BLOCK == 0)
            for (int64_t c = 0; c < w; c++) {
                before[c] = sum ? before[c] + chain[c] : before[c] * chain[c];
                chain[c] = absent;
            }
        if (s->direct || s->half) {
            (s->half ? k->rows_sum16[s->src == TN_BF16]
                     : k->rows_sum32)(d + i * s->step[0], s->step[0], p + i * s->step[1],
                                      s->step[1], rows, w, before, chain, stream);
            continue;
        }
        for (int64_t c = 0; c < w; c += TNI_SCAN_COLUMNS) {
            const int64_t m = w - c < TNI_SCAN_COLUMNS ? w - c : TNI_SCAN_COLUMNS;
            const char *x = p + i * s->step[1] + c * s->width[1];
            char *to = d + i * s->step[0] + c * s->width[0];
            for (int64_t r = 0; r < rows; r++)
                tni_scan_cast(s->isa, s->src, TN_F64, (char *)(v + r * m), x + r * s->step[1],
                              m);
            (sum ? k->rows_sum : k->rows_prod)(v, rows, m, before + c, chain + c);
            tni_scan_settle(v, rows * m, sum);
            for (int64_t r = 0; r < rows; r++)
                tni_scan_cast(s->isa, TN_F64, s->dst, to + r * s->step[0], (char *)(v + r * m),
                              m);
        }
    }
    for (int64_t c = 0; carry && c < w; c++)
        carry[c] = (tni_scan_state){.f = before[c], .chain = chain[c]};
}

void tni_scan_strip(const tni_scan *s, char *d, const char *p, int64_t w, tni_scan_state *carry)
{
    (s->keyed                   ? strip_keys
     : s->type == TNI_SCAN_REAL ? strip_real
                                : strip_int)(s, d, p, w, carry);
}
