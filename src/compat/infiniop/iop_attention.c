/* iop_attention.c - Attention and FusedFFN, the two halves of a decoder layer, as programs of
 * products and row functions. */
#include "iop_program.h"

#include <math.h>

/* ---- Attention: out, q, k, v, k_cache, v_cache ---- */

enum { OUT, Q, K, V, K_CACHE, V_CACHE };

typedef struct heads {
    int64_t nq, nkv, seq, hd, pos, total;
} heads;

static tn_status check_attention(tni_iop_program *p, heads *h)
{
    for (int k = 0; k < p->n; k++)
        TRY(tni_iop_rank(p, k, 3));
    TRY(tni_iop_alike(p, 0, 63));
    TRY(tni_iop_contiguous(p, OUT));
    for (int k = 1; k < p->n; k++)
        TRY(tni_iop_dense_last(p, k));
    const int64_t *q = p->t[Q].shape, *k = p->t[K].shape, *out = p->t[OUT].shape;
    const double pos = p->args->num[0];
    if (!(pos < 0x1p62))
        return tni_iop_fail(p, TN_EARG, "pos is too large");
    *h = (heads){q[0], k[0], q[1], q[2], (int64_t)pos, (int64_t)pos + q[1]};
    bool fits = out[0] == h->seq && out[1] == h->nq && out[2] == h->hd;
    for (int i = K; i <= V; i++)
        fits &= p->t[i].shape[0] == h->nkv && p->t[i].shape[1] == h->seq &&
                p->t[i].shape[2] == h->hd;
    for (int i = K_CACHE; i <= V_CACHE; i++)
        fits &= p->t[i].shape[0] == h->nkv && p->t[i].shape[1] >= h->total &&
                p->t[i].shape[2] == h->hd;
    if (!fits || h->nkv == 0 || h->nq % h->nkv)
        return tni_iop_fail(p, TN_EARG, "heads, tokens and caches do not match");
    return TN_OK;
}

/* Append keys or values to their cache; out is the part of the cache that is attended to, with
 * an extra axis for the query heads that share one of its heads. */
static tn_status extend(tni_iop_program *p, const heads *h, int k, tn_tensor *out)
{
    const tn_tensor *cache = &p->t[k + K_CACHE - K];
    tn_tensor rows;
    TRY(tn_slice(&rows, cache, 1, h->pos, h->total, 1));
    TRY(tni_iop_copy(p, &rows, &p->t[k]));
    TRY(tn_slice(out, cache, 1, 0, h->total, 1));
    return tn_unsqueeze(out, out, 1);
}

/* Attention of queries [at, end) to the keys that they see: scores in f32, softmax, and the
 * product with the values, rounded once into out.  space: memory for the scores and the
 * product. */
static tn_status attend(tni_iop_program *p, const heads *h, int64_t at, int64_t end,
                        const tn_tensor *keys, const tn_tensor *values, const tn_tensor *space)
{
    const int64_t g = h->nq / h->nkv, n = end - at, seen = h->pos + end;
    tn_tensor q, k, v, scores, rows, sums, out;
    TRY(tn_slice(&q, &p->t[Q], 1, at, end, 1));
    TRY(tn_reshape(&q, &q, 4, (const int64_t[]){h->nkv, g, n, h->hd}));
    TRY(tn_slice(&k, keys, 3, 0, seen, 1));
    TRY(tn_slice(&v, values, 2, 0, seen, 1));
    TRY(tn_slice(&rows, &space[0], 0, 0, h->nq * n * seen, 1));
    TRY(tn_reshape(&rows, &rows, 3, (const int64_t[]){h->nq, n, seen}));
    TRY(tn_reshape(&scores, &rows, 4, (const int64_t[]){h->nkv, g, n, seen}));
    TRY(tni_iop_gemm(p, &scores, 1 / sqrt((double)h->hd), &q, &k, 0, NULL));
    TRY(tni_iop_row_function(p, TN_ROW_CAUSAL_SOFTMAX, 0, 0, &rows, &rows, NULL, NULL));
    TRY(tn_slice(&out, &p->t[OUT], 0, at, end, 1));
    TRY(tn_permute(&out, &out, (const int[]){1, 0, 2}));
    TRY(tn_reshape(&out, &out, 4, (const int64_t[]){h->nkv, g, n, h->hd}));
    if (out.dtype == TN_F32)
        return tni_iop_gemm(p, &out, 1, &scores, &v, 0, NULL);
    TRY(tn_slice(&sums, &space[1], 0, 0, h->nq * n * h->hd, 1));
    TRY(tn_reshape(&sums, &sums, 4, out.shape));
    TRY(tni_iop_gemm(p, &sums, 1, &scores, &v, 0, NULL));
    return tni_iop_copy(p, &out, &sums);
}

/* Queries are processed in blocks, so that no product includes keys which a whole block cannot
 * see: at most 16 blocks, each large enough for an efficient product. */
enum { ATTENTION_BLOCKS = 16, ATTENTION_QUERIES = 128 };

tn_status tni_iop_plan_attention(tni_iop_program *p)
{
    heads h = {0};
    TRY(check_attention(p, &h));
    tn_tensor keys, values, space[2];
    TRY(extend(p, &h, K, &keys));
    TRY(extend(p, &h, V, &values));
    TRY(tn_transpose(&keys, &keys, 2, 3));
    int64_t n = tni_ceil_div(h.seq, ATTENTION_BLOCKS);
    n = n < ATTENTION_QUERIES ? ATTENTION_QUERIES : n;
    n = n < h.seq ? n : h.seq;
    const int64_t wide[2] = {h.total, h.hd};
    for (int k = 0; k < (p->t[OUT].dtype == TN_F32 ? 1 : 2); k++) {
        TRY(tni_iop_temp(p, &space[k], TN_F32, 3, (const int64_t[]){h.nq, n, wide[k]}));
        TRY(tn_reshape(&space[k], &space[k], 1, (const int64_t[]){tni_numel(&space[k])}));
    }
    for (int64_t at = 0; at < h.seq; at += n)
        TRY(attend(p, &h, at, h.seq - at < n ? h.seq : at + n, &keys, &values, space));
    return TN_OK;
}

/* ---- FusedFFN: out, in, residual, norm, gate_up, down ---- */

typedef struct ffn {
    int64_t ntok, d, di;
    tn_tensor gate_up, down; /* as (d, 2 di) and (di, d) */
} ffn;

enum { IN = 1, RESIDUAL, NORM, GATE_UP, DOWN };

static tn_status check_matrix(const tni_iop_program *p, int k)
{
    const tn_tensor *t = &p->t[k];
    const int64_t width = tni_width(t->dtype);
    for (int i = 0; i < 2; i++)
        if (t->shape[i] <= 1 || t->stride[i] == width)
            return TN_OK;
    return tni_iop_fail(p, TN_ESTRIDE, "no axis of a matrix is dense");
}

static tn_status check_ffn_dtypes(tni_iop_program *p)
{
    TRY(tni_iop_alike(p, 0, 1 << IN));
    const tn_dtype data = p->t[0].dtype;
    if (p->t[NORM].dtype != TN_F32)
        TRY(tni_iop_is(p, NORM, data));
    if (p->t[GATE_UP].dtype != TN_F32)
        TRY(tni_iop_is(p, GATE_UP, data));
    TRY(tni_iop_is(p, DOWN, p->t[GATE_UP].dtype));
    return TN_OK;
}

static tn_status check_ffn(tni_iop_program *p, ffn *f)
{
    TRY(check_ffn_dtypes(p));
    TRY(tni_iop_rank(p, 0, 2));
    TRY(tni_iop_like(p, IN, 0));
    f->ntok = p->t[0].shape[0];
    f->d = p->t[0].shape[1];
    TRY(tni_iop_shape(p, NORM, 1, &f->d));
    TRY(tni_iop_rank(p, GATE_UP, 2));
    f->gate_up = p->t[GATE_UP];
    if (f->gate_up.shape[1] == f->d)
        TRY(tn_transpose(&f->gate_up, &f->gate_up, 0, 1));
    if (f->gate_up.shape[0] != f->d || f->gate_up.shape[1] % 2)
        return tni_iop_fail(p, TN_ESHAPE, "gate_up: expected shape (2 di, d) or (d, 2 di)");
    f->di = f->gate_up.shape[1] / 2;
    TRY(tni_iop_rank(p, DOWN, 2));
    f->down = p->t[DOWN];
    if (f->down.shape[0] == f->d && f->down.shape[1] == f->di)
        TRY(tn_transpose(&f->down, &f->down, 0, 1));
    if (f->down.shape[0] != f->di || f->down.shape[1] != f->d)
        return tni_iop_fail(p, TN_ESHAPE, "down: expected shape (d, di) or (di, d)");
    if (p->given[RESIDUAL]) {
        TRY(tni_iop_like(p, RESIDUAL, 0));
        TRY(tni_iop_is(p, RESIDUAL, p->t[0].dtype));
    }
    for (int k = 0; k <= NORM; k++)
        if (p->given[k])
            TRY(tni_iop_dense_last(p, k));
    TRY(check_matrix(p, GATE_UP));
    TRY(check_matrix(p, DOWN));
    const double eps = p->args->num[0];
    if (!(eps >= 0) || isinf(eps))
        return tni_iop_fail(p, TN_EARG, "epsilon is negative or not finite");
    return TN_OK;
}

/* out = h @ down (+ residual), through a wider temporary if the matrices are wider than out. */
static tn_status plan_down(tni_iop_program *p, const ffn *f, const tn_tensor *h)
{
    const tn_tensor *out = &p->t[0];
    const tn_tensor *residual = p->given[RESIDUAL] ? &p->t[RESIDUAL] : NULL;
    if (f->down.dtype == out->dtype)
        return tni_iop_gemm(p, out, 1, h, &f->down, residual ? 1 : 0, residual);
    tn_tensor wide;
    TRY(tni_iop_temp(p, &wide, f->down.dtype, 2, out->shape));
    TRY(tni_iop_gemm(p, &wide, 1, h, &f->down, 0, NULL));
    return residual ? IOP_EXPR(p, out, "a + @(b)", NULL, &wide, residual)
                    : tni_iop_copy(p, out, &wide);
}

tn_status tni_iop_plan_ffn(tni_iop_program *p)
{
    ffn f = {0};
    TRY(check_ffn(p, &f));
    const tn_dtype data = p->t[0].dtype;
    tn_tensor x, g, gate, up, h;
    TRY(tni_iop_temp(p, &x, data, 2, p->t[IN].shape));
    TRY(tni_iop_temp(p, &g, f.gate_up.dtype, 2, (const int64_t[]){f.ntok, 2 * f.di}));
    TRY(tni_iop_temp(p, &h, data, 2, (const int64_t[]){f.ntok, f.di}));
    TRY(tni_iop_row_function(p, TN_ROW_RMS_NORM, 0, p->args->num[0], &x, &p->t[IN], &p->t[NORM],
                             NULL));
    TRY(tni_iop_gemm(p, &g, 1, &x, &f.gate_up, 0, NULL));
    TRY(tn_slice(&gate, &g, 1, 0, f.di, 1));
    TRY(tn_slice(&up, &g, 1, f.di, 2 * f.di, 1));
    TRY(IOP_EXPR(p, &h, "swiglu(@(a), @(b))", NULL, &up, &gate));
    return plan_down(p, &f, &h);
}
