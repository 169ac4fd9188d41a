/* iop_border_model.c - the public functions of decoder operators and of sampling and
 * selection. */
#include "iop_border.h"

/* clang-format off */
CREATE(Gemm, (T c, T a, T b), .t = {c, a, b})
RUN_NUM(Gemm, (void *c, const void *a, const void *b, float alpha, float beta),
        ((double)alpha, (double)beta), c, a, b)

CREATE(RMSNorm, (T y, T x, T w, float epsilon), .t = {y, x, w}, .num = {(double)epsilon})
RUN(RMSNorm, (void *y, const void *x, const void *w), y, x, w)

CREATE(AddRMSNorm, (T y, T residual_out, T a, T b, T weight, float epsilon),
       .t = {y, residual_out, a, b, weight}, .num = {(double)epsilon})
RUN(AddRMSNorm,
    (void *y, void *residual_out, const void *a, const void *b, const void *weight),
    y, residual_out, a, b, weight)

CREATE(RoPE, (T y, T x, T pos_ids, T sin_table, T cos_table, infiniopRoPEAlgo_t algo),
       .t = {y, x, pos_ids, sin_table, cos_table}, .num = {(double)algo})
RUN(RoPE,
    (void *y, const void *x, const void *pos_ids, const void *sin_table, const void *cos_table),
    y, x, pos_ids, sin_table, cos_table)

CREATE(CausalSoftmax, (T y, T x), .t = {y, x})
RUN(CausalSoftmax, (void *y, const void *x), y, x)

CREATE(Embedding, (T output, T input, T weight), .t = {output, input, weight})
RUN_BARE(Embedding, (void *output, const void *input, const void *weight),
         output, input, weight)

CREATE(SelectLastTokenHidden, (T output, T hidden, T offsets), .t = {output, hidden, offsets})
RUN_BARE(SelectLastTokenHidden, (void *output, const void *hidden, const void *offsets),
         output, hidden, offsets)

CREATE(Attention, (T out, T q, T k, T v, T k_cache, T v_cache, size_t pos),
       .t = {out, q, k, v, k_cache, v_cache}, .num = {(double)pos})
RUN(Attention,
    (void *out, const void *q, const void *k, const void *v, void *k_cache, void *v_cache),
    out, q, k, v, k_cache, v_cache)

CREATE(FusedFFN, (T out, T in, T residual, T norm, T gate_up, T down, float epsilon),
       .t = {out, in, residual, norm, gate_up, down}, .num = {(double)epsilon})
RUN(FusedFFN,
    (void *out, const void *in, const void *residual, const void *norm, const void *gate_up,
     const void *down),
    out, in, residual, norm, gate_up, down)

CREATE(RandomSample, (T result, T probs), .t = {result, probs})
RUN_NUM(RandomSample,
        (void *result, const void *probs, float random_val, float topp, int topk,
         float temperature),
        ((double)random_val, (double)topp, (double)topk, (double)temperature), result, probs)

CREATE(TopK, (T values, T indices, T input, size_t k, size_t dim, bool largest, bool sorted),
       .t = {values, indices, input},
       .num = {(double)k, (double)dim, (double)largest, (double)sorted})
RUN_NUM(TopK,
        (void *values, void *indices, const void *input, size_t k, size_t dim, bool largest,
         bool sorted),
        ((double)k, (double)dim, (double)largest, (double)sorted), values, indices, input)

CREATE(Kthvalue, (T values, T indices, T input, int k, int dim, int keepdim),
       .t = {values, indices, input}, .num = {(double)k, (double)dim, (double)keepdim})
RUN(Kthvalue, (void *values, void *indices, const void *input), values, indices, input)

CREATE(Topksoftmax, (T x), .t = {NULL, NULL, x})
RUN_NUM(Topksoftmax, (void *values, void *indices, const void *x, size_t topk, int norm),
        ((double)topk, (double)norm), values, indices, x)

CREATE(Topkrouter, (T x, T correction_bias), .t = {NULL, NULL, x, correction_bias})
RUN_NUM(Topkrouter,
        (void *values, void *indices, const void *x, const void *correction_bias,
         float routed_scaling_factor, size_t topk),
        ((double)topk, (double)routed_scaling_factor), values, indices, x, correction_bias)

CREATE(Histc, (T y, T x, int64_t bins, double min_val, double max_val),
       .t = {y, x}, .num = {(double)bins, min_val, max_val})
RUN(Histc, (void *y, const void *x), y, x)
/* clang-format on */
