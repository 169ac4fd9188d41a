/* llama.h - a Llama that uses InfiniOp's C ABI only: embedding, norms, rotary positions,
 * attention with a cache, feed-forward, sampling.
 *
 * Weights are looked up by name, in the dtype of the model.  Descriptors are created when a
 * number of new tokens, or a length of the cache, occurs for the first time, and are reused
 * afterwards; a step whose descriptors exist allocates nothing. */
#ifndef LLAMA_H
#define LLAMA_H

#include <infiniop.h>
#include <infinirt.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LLAMA_LAYERS = 8, LLAMA_CONTEXT = 64 };

typedef struct llama_shape {
    size_t layers, hidden, heads, kv_heads, head, ffn, vocab, context;
    infiniDtype_t dtype;
    bool fused; /* Attention and FusedFFN in place of their parts */
} llama_shape;

/* The weight of this name, of count elements, which the caller owns. */
typedef const void *(*llama_weight)(void *user, const char *name, size_t count);

/* Operators of a step with n new tokens. */
typedef struct llama_step {
    infiniopEmbeddingDescriptor_t embed;
    infiniopRMSNormDescriptor_t norm;
    infiniopAddRMSNormDescriptor_t add_norm;
    infiniopAddDescriptor_t add;
    infiniopGemmDescriptor_t qkv, project, gate_up, down, logits;
    infiniopRoPEDescriptor_t rope_q, rope_k;
    infiniopRearrangeDescriptor_t put_kv, get_q, put_heads;
    infiniopSwiGLUDescriptor_t swiglu;
    infiniopFusedFFNDescriptor_t ffn;
    infiniopSelectLastTokenHiddenDescriptor_t last;
    /* by the length of the cache after it */
    infiniopGemmDescriptor_t scores[LLAMA_CONTEXT + 1], values[LLAMA_CONTEXT + 1];
    infiniopCausalSoftmaxDescriptor_t softmax[LLAMA_CONTEXT + 1];
    infiniopAttentionDescriptor_t attention[LLAMA_CONTEXT + 1];
} llama_step;

typedef struct llama {
    llama_shape s;
    size_t width; /* bytes of an element */
    infiniopHandle_t handle;
    const char *embed, *norm, *head, *sin, *cos;
    struct {
        const char *norm, *qkv, *project, *ffn_norm, *gate_up, *down;
        char *k, *v; /* (kv_heads, context, head) */
    } layer[LLAMA_LAYERS];
    char *hidden, *residual, *wide, *q, *heads, *scores, *act, *logits, *workspace;
    size_t space, most;                  /* bytes of the workspace, and the most needed */
    llama_step *step[LLAMA_CONTEXT + 1]; /* by the number of new tokens */
    infiniopRandomSampleDescriptor_t sample;
    size_t length; /* tokens in the cache */
} llama;

static inline void llama_need(infiniStatus_t status, const char *what)
{
    if (status == INFINI_STATUS_SUCCESS)
        return;
    fprintf(stderr, "%s: status %d\n", what, (int)status);
    exit(1);
}
#define LLAMA_NEED(call) llama_need(call, #call)

/* ---- tensors and operators ---- */

static inline infiniopTensorDescriptor_t
llama_tensor(infiniDtype_t dtype, size_t ndim, const size_t *shape, const ptrdiff_t *strides)
{
    infiniopTensorDescriptor_t t;
    LLAMA_NEED(infiniopCreateTensorDescriptor(&t, ndim, shape, strides, dtype));
    return t;
}

#define LLAMA_SHAPE(...)                                                                       \
    sizeof((size_t[]){__VA_ARGS__}) / sizeof(size_t), (size_t[])                               \
    {                                                                                          \
        __VA_ARGS__                                                                            \
    }
#define LLAMA_STRIDES(...) ((ptrdiff_t[]){__VA_ARGS__})

static inline void llama_drop(int n, const infiniopTensorDescriptor_t *t)
{
    for (int i = 0; i < n; i++)
        LLAMA_NEED(infiniopDestroyTensorDescriptor(t[i]));
}

/* Create an operator and destroy n tensors that are not needed any more; query its workspace;
 * run it. */
#define LLAMA_MAKE(m, Op, desc, n, tensors, ...)                                               \
    do {                                                                                       \
        LLAMA_NEED(infiniopCreate##Op##Descriptor((m)->handle, &(desc), __VA_ARGS__));         \
        llama_drop(n, tensors);                                                                \
    } while (0)
#define LLAMA_SPACE(m, Op, desc)                                                               \
    do {                                                                                       \
        size_t llama_n = 0;                                                                    \
        LLAMA_NEED(infiniopGet##Op##WorkspaceSize(desc, &llama_n));                            \
        (m)->most = llama_n > (m)->most ? llama_n : (m)->most;                                 \
    } while (0)
#define LLAMA_RUN(m, Op, desc, ...)                                                            \
    LLAMA_NEED(infiniop##Op(desc, (m)->workspace, (m)->space, __VA_ARGS__, NULL))

/* c (batch, m, n) = a (batch, m, k) @ b, b with these strides. */
static inline infiniopGemmDescriptor_t llama_gemm(llama *m, size_t batch, size_t rows, size_t k,
                                                  size_t n, const ptrdiff_t *a_strides,
                                                  const ptrdiff_t *b_strides)
{
    const infiniDtype_t d = m->s.dtype;
    infiniopGemmDescriptor_t gemm;
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(d, LLAMA_SHAPE(batch, rows, n), NULL),
        llama_tensor(d, LLAMA_SHAPE(batch, rows, k), a_strides),
        llama_tensor(d, LLAMA_SHAPE(batch, k, n), b_strides),
    };
    LLAMA_MAKE(m, Gemm, gemm, 3, t, t[0], t[1], t[2]);
    LLAMA_SPACE(m, Gemm, gemm);
    return gemm;
}

/* The same for a weight that is stored as (n, k). */
static inline infiniopGemmDescriptor_t llama_linear(llama *m, size_t rows, size_t k, size_t n)
{
    return llama_gemm(m, 1, rows, k, n, NULL, LLAMA_STRIDES(0, 1, (ptrdiff_t)k));
}

/* (heads, n, head) in rows of qkv <-> (heads, rows of pitch, head): a copy. */
static inline infiniopRearrangeDescriptor_t
llama_heads(llama *m, size_t heads, size_t n, const ptrdiff_t *dst, const ptrdiff_t *src)
{
    infiniopRearrangeDescriptor_t copy;
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(m->s.dtype, LLAMA_SHAPE(heads, n, m->s.head), dst),
        llama_tensor(m->s.dtype, LLAMA_SHAPE(heads, n, m->s.head), src),
    };
    LLAMA_MAKE(m, Rearrange, copy, 2, t, t[0], t[1]);
    return copy;
}

static inline infiniopRoPEDescriptor_t llama_rope(llama *m, size_t n, size_t heads,
                                                  size_t pitch)
{
    const llama_shape *s = &m->s;
    const ptrdiff_t *strides = LLAMA_STRIDES((ptrdiff_t)pitch, (ptrdiff_t)s->head, 1);
    infiniopRoPEDescriptor_t rope;
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(s->dtype, LLAMA_SHAPE(n, heads, s->head), strides),
        llama_tensor(INFINI_DTYPE_I64, LLAMA_SHAPE(n), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->context, s->head / 2), NULL),
    };
    LLAMA_MAKE(m, RoPE, rope, 3, t, t[0], t[0], t[1], t[2], t[2], INFINIOP_ROPE_ALGO_GPT_NEOX);
    LLAMA_SPACE(m, RoPE, rope);
    return rope;
}

/* ---- a step of n new tokens ---- */

static inline size_t llama_pitch(const llama_shape *s)
{
    return (s->heads + 2 * s->kv_heads) * s->head;
}

static inline void llama_make_norms(llama *m, llama_step *p, size_t n)
{
    const llama_shape *s = &m->s;
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(s->dtype, LLAMA_SHAPE(n, s->hidden), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->hidden), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(2 * s->ffn, s->hidden), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->hidden, s->ffn), NULL),
        llama_tensor(INFINI_DTYPE_I64, LLAMA_SHAPE(n), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->vocab, s->hidden), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(1, n, s->hidden), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(1, 1, s->hidden), NULL),
        llama_tensor(INFINI_DTYPE_I32, LLAMA_SHAPE(2), NULL),
    };
    LLAMA_MAKE(m, RMSNorm, p->norm, 0, t, t[0], t[0], t[1], 1e-5f);
    LLAMA_MAKE(m, Add, p->add, 0, t, t[0], t[0], t[0]);
    LLAMA_MAKE(m, AddRMSNorm, p->add_norm, 0, t, t[0], t[0], t[0], t[0], t[1], 1e-5f);
    LLAMA_MAKE(m, FusedFFN, p->ffn, 0, t, t[0], t[0], t[0], t[1], t[2], t[3], 1e-5f);
    LLAMA_MAKE(m, Embedding, p->embed, 0, t, t[0], t[4], t[5]);
    LLAMA_MAKE(m, SelectLastTokenHidden, p->last, 9, t, t[7], t[6], t[8]);
    LLAMA_SPACE(m, RMSNorm, p->norm);
    LLAMA_SPACE(m, AddRMSNorm, p->add_norm);
    LLAMA_SPACE(m, FusedFFN, p->ffn);
}

static inline llama_step *llama_make_step(llama *m, size_t n)
{
    const llama_shape *s = &m->s;
    const ptrdiff_t d = (ptrdiff_t)s->head, pitch = (ptrdiff_t)llama_pitch(s);
    llama_step *p = calloc(1, sizeof *p);
    if (!p)
        exit(1);
    llama_make_norms(m, p, n);
    p->qkv = llama_linear(m, n, s->hidden, llama_pitch(s));
    p->project = llama_linear(m, n, s->heads * s->head, s->hidden);
    p->gate_up = llama_linear(m, n, s->hidden, 2 * s->ffn);
    p->down = llama_linear(m, n, s->ffn, s->hidden);
    p->logits = llama_linear(m, 1, s->hidden, s->vocab);
    p->rope_q = llama_rope(m, n, s->heads, llama_pitch(s));
    p->rope_k = llama_rope(m, n, s->kv_heads, llama_pitch(s));
    p->put_kv = llama_heads(m, s->kv_heads, n, LLAMA_STRIDES((ptrdiff_t)s->context * d, d, 1),
                            LLAMA_STRIDES(d, pitch, 1));
    p->get_q = llama_heads(m, s->heads, n, NULL, LLAMA_STRIDES(d, pitch, 1));
    p->put_heads =
        llama_heads(m, s->heads, n, LLAMA_STRIDES(d, (ptrdiff_t)s->heads * d, 1), NULL);
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(s->dtype, LLAMA_SHAPE(n, s->ffn), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(n, s->ffn), LLAMA_STRIDES(2 * (ptrdiff_t)s->ffn, 1)),
    };
    LLAMA_MAKE(m, SwiGLU, p->swiglu, 2, t, t[0], t[1], t[1]);
    return p;
}

/* The operators that also depend on total, the length of the cache after the step. */
static inline void llama_make_total(llama *m, llama_step *p, size_t n, size_t total)
{
    const llama_shape *s = &m->s;
    const ptrdiff_t d = (ptrdiff_t)s->head, pitch = (ptrdiff_t)llama_pitch(s);
    const size_t g = s->heads / s->kv_heads;
    const ptrdiff_t far = (ptrdiff_t)s->context * d;
    p->scores[total] =
        llama_gemm(m, s->kv_heads, g * n, s->head, total, NULL, LLAMA_STRIDES(far, 1, d));
    p->values[total] =
        llama_gemm(m, s->kv_heads, g * n, total, s->head, NULL, LLAMA_STRIDES(far, d, 1));
    infiniopTensorDescriptor_t t[] = {
        llama_tensor(s->dtype, LLAMA_SHAPE(s->heads, n, total), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(n, s->heads, s->head), NULL),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->heads, n, s->head), LLAMA_STRIDES(d, pitch, 1)),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->kv_heads, n, s->head),
                     LLAMA_STRIDES(d, pitch, 1)),
        llama_tensor(s->dtype, LLAMA_SHAPE(s->kv_heads, s->context, s->head), NULL),
    };
    LLAMA_MAKE(m, CausalSoftmax, p->softmax[total], 0, t, t[0], t[0]);
    LLAMA_MAKE(m, Attention, p->attention[total], 5, t, t[1], t[2], t[3], t[3], t[4], t[4],
               total - n);
    LLAMA_SPACE(m, CausalSoftmax, p->softmax[total]);
    LLAMA_SPACE(m, Attention, p->attention[total]);
}

static inline void *llama_memory(size_t bytes)
{
    void *p;
    LLAMA_NEED(infinirtMalloc(&p, bytes));
    LLAMA_NEED(
        infinirtMemset(p, 0xff, bytes)); /* NaN in every dtype reveals unwritten memory */
    return p;
}

/* The operators of n new tokens, and a workspace for all existing operators. */
static inline llama_step *llama_prepare(llama *m, size_t n)
{
    const size_t total = m->length + n;
    if (!m->step[n])
        m->step[n] = llama_make_step(m, n);
    if (!m->step[n]->scores[total])
        llama_make_total(m, m->step[n], n, total);
    if (m->most > m->space) {
        LLAMA_NEED(infinirtFree(m->workspace));
        m->workspace = llama_memory(m->most);
        m->space = m->most;
    }
    return m->step[n];
}

/* ---- running ---- */

static inline void llama_attend(llama *m, const llama_step *p, size_t layer, size_t n)
{
    const llama_shape *s = &m->s;
    const size_t total = m->length + n, w = m->width;
    char *q = m->wide, *k = q + s->heads * s->head * w, *v = k + s->kv_heads * s->head * w;
    char *kc = m->layer[layer].k, *vc = m->layer[layer].v;
    if (s->fused) {
        LLAMA_RUN(m, Attention, p->attention[total], m->heads, q, k, v, kc, vc);
        return;
    }
    const size_t at = m->length * s->head * w;
    LLAMA_NEED(infiniopRearrange(p->put_kv, kc + at, k, NULL));
    LLAMA_NEED(infiniopRearrange(p->put_kv, vc + at, v, NULL));
    LLAMA_NEED(infiniopRearrange(p->get_q, m->q, q, NULL));
    LLAMA_RUN(m, Gemm, p->scores[total], m->scores, m->q, kc, 1 / sqrtf((float)s->head), 0);
    LLAMA_RUN(m, CausalSoftmax, p->softmax[total], m->scores, m->scores);
    LLAMA_RUN(m, Gemm, p->values[total], m->q, m->scores, vc, 1, 0);
    LLAMA_NEED(infiniopRearrange(p->put_heads, m->heads, m->q, NULL));
}

static inline void llama_feed(llama *m, const llama_step *p, size_t layer)
{
    const size_t w = m->width;
    if (m->s.fused) {
        LLAMA_RUN(m, Add, p->add, m->residual, m->residual, m->hidden);
        LLAMA_RUN(m, FusedFFN, p->ffn, m->residual, m->residual, m->residual,
                  m->layer[layer].ffn_norm, m->layer[layer].gate_up, m->layer[layer].down);
        return;
    }
    LLAMA_RUN(m, AddRMSNorm, p->add_norm, m->hidden, m->residual, m->hidden, m->residual,
              m->layer[layer].ffn_norm);
    LLAMA_RUN(m, Gemm, p->gate_up, m->wide, m->hidden, m->layer[layer].gate_up, 1, 0);
    LLAMA_RUN(m, SwiGLU, p->swiglu, m->act, m->wide + m->s.ffn * w, m->wide);
    LLAMA_RUN(m, Gemm, p->down, m->hidden, m->act, m->layer[layer].down, 1, 0);
}

/* hidden = the norm of the residual stream. */
static inline void llama_norm(llama *m, const llama_step *p, const char *weight, bool first)
{
    if (first || m->s.fused)
        LLAMA_RUN(m, RMSNorm, p->norm, m->hidden, m->residual, weight);
    else
        LLAMA_RUN(m, AddRMSNorm, p->add_norm, m->hidden, m->residual, m->hidden, m->residual,
                  weight);
}

/* Append n tokens to the cache; logits (vocab) are those after the last of them. */
static inline const void *llama_run(llama *m, const int64_t *tokens, size_t n)
{
    llama_step *p = llama_prepare(m, n);
    const size_t w = m->width;
    int64_t pos[LLAMA_CONTEXT];
    const int32_t offsets[] = {0, (int32_t)n};
    for (size_t i = 0; i < n; i++)
        pos[i] = (int64_t)(m->length + i);
    LLAMA_NEED(infiniopEmbedding(p->embed, m->residual, tokens, m->embed, NULL));
    for (size_t l = 0; l < m->s.layers; l++) {
        llama_norm(m, p, m->layer[l].norm, l == 0);
        LLAMA_RUN(m, Gemm, p->qkv, m->wide, m->hidden, m->layer[l].qkv, 1, 0);
        char *k = m->wide + m->s.heads * m->s.head * w;
        LLAMA_RUN(m, RoPE, p->rope_q, m->wide, m->wide, pos, m->sin, m->cos);
        LLAMA_RUN(m, RoPE, p->rope_k, k, k, pos, m->sin, m->cos);
        llama_attend(m, p, l, n);
        LLAMA_RUN(m, Gemm, p->project, m->hidden, m->heads, m->layer[l].project, 1, 0);
        llama_feed(m, p, l);
    }
    llama_norm(m, p, m->norm, false);
    LLAMA_NEED(infiniopSelectLastTokenHidden(p->last, m->act, m->hidden, offsets, NULL));
    LLAMA_RUN(m, Gemm, p->logits, m->logits, m->act, m->head, 1, 0);
    m->length += n;
    return m->logits;
}

/* Choose a token from the logits of the last step: topk 1 gives the most likely one. */
static inline int64_t llama_choose(llama *m, float random, float topp, int topk,
                                   float temperature)
{
    int64_t token;
    LLAMA_RUN(m, RandomSample, m->sample, &token, m->logits, random, topp, topk, temperature);
    return token;
}

#include "llama_make.h"

#endif
