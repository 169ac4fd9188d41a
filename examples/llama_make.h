/* llama_make.h - creates and destroys a Llama of llama.h. */
#ifndef LLAMA_MAKE_H
#define LLAMA_MAKE_H

#include "llama.h"

static inline const char *llama_ask(llama_weight weight, void *user, size_t layer,
                                    const char *name, size_t count)
{
    char whole[64];
    snprintf(whole, sizeof whole, "layers.%zu.%s", layer, name);
    return weight(user, whole, count);
}

static inline void llama_begin(llama *m, const llama_shape *shape, llama_weight weight,
                               void *user)
{
    memset(m, 0, sizeof *m);
    m->s = *shape;
    m->width = shape->dtype == INFINI_DTYPE_F32 ? 4 : 2;
    LLAMA_NEED(infiniopCreateHandle(&m->handle));
    const llama_shape *s = &m->s;
    const size_t n = s->context, w = m->width, pitch = llama_pitch(s);
    const size_t cache = s->kv_heads * s->context * s->head;
    m->embed = weight(user, "embed", s->vocab * s->hidden);
    m->norm = weight(user, "norm", s->hidden);
    m->head = weight(user, "head", s->vocab * s->hidden);
    m->sin = weight(user, "sin", s->context * s->head / 2);
    m->cos = weight(user, "cos", s->context * s->head / 2);
    for (size_t l = 0; l < s->layers; l++) {
        m->layer[l].norm = llama_ask(weight, user, l, "norm", s->hidden);
        m->layer[l].qkv = llama_ask(weight, user, l, "qkv", pitch * s->hidden);
        m->layer[l].project =
            llama_ask(weight, user, l, "project", s->hidden * s->heads * s->head);
        m->layer[l].ffn_norm = llama_ask(weight, user, l, "ffn_norm", s->hidden);
        m->layer[l].gate_up = llama_ask(weight, user, l, "gate_up", 2 * s->ffn * s->hidden);
        m->layer[l].down = llama_ask(weight, user, l, "down", s->hidden * s->ffn);
        m->layer[l].k = llama_memory(cache * w);
        m->layer[l].v = llama_memory(cache * w);
    }
    m->hidden = llama_memory(n * s->hidden * w);
    m->residual = llama_memory(n * s->hidden * w);
    m->wide = llama_memory(n * (pitch > 2 * s->ffn ? pitch : 2 * s->ffn) * w);
    m->q = llama_memory(n * s->heads * s->head * w);
    m->heads = llama_memory(n * s->heads * s->head * w);
    m->scores = llama_memory(s->heads * n * n * w);
    m->act = llama_memory(n * (s->ffn > s->hidden ? s->ffn : s->hidden) * w);
    m->logits = llama_memory(s->vocab * w);
    infiniopTensorDescriptor_t t[] = {llama_tensor(INFINI_DTYPE_I64, 0, NULL, NULL),
                                      llama_tensor(s->dtype, LLAMA_SHAPE(s->vocab), NULL)};
    LLAMA_MAKE(m, RandomSample, m->sample, 2, t, t[0], t[1]);
    LLAMA_SPACE(m, RandomSample, m->sample);
}

static inline void llama_end_step(llama_step *p)
{
    LLAMA_NEED(infiniopDestroyEmbeddingDescriptor(p->embed));
    LLAMA_NEED(infiniopDestroyRMSNormDescriptor(p->norm));
    LLAMA_NEED(infiniopDestroyAddRMSNormDescriptor(p->add_norm));
    LLAMA_NEED(infiniopDestroyAddDescriptor(p->add));
    infiniopGemmDescriptor_t gemms[] = {p->qkv, p->project, p->gate_up, p->down, p->logits};
    for (size_t i = 0; i < 5; i++)
        LLAMA_NEED(infiniopDestroyGemmDescriptor(gemms[i]));
    LLAMA_NEED(infiniopDestroyRoPEDescriptor(p->rope_q));
    LLAMA_NEED(infiniopDestroyRoPEDescriptor(p->rope_k));
    LLAMA_NEED(infiniopDestroyRearrangeDescriptor(p->put_kv));
    LLAMA_NEED(infiniopDestroyRearrangeDescriptor(p->get_q));
    LLAMA_NEED(infiniopDestroyRearrangeDescriptor(p->put_heads));
    LLAMA_NEED(infiniopDestroySwiGLUDescriptor(p->swiglu));
    LLAMA_NEED(infiniopDestroyFusedFFNDescriptor(p->ffn));
    LLAMA_NEED(infiniopDestroySelectLastTokenHiddenDescriptor(p->last));
    for (size_t i = 0; i <= LLAMA_CONTEXT; i++)
        if (p->scores[i]) {
            LLAMA_NEED(infiniopDestroyGemmDescriptor(p->scores[i]));
            LLAMA_NEED(infiniopDestroyGemmDescriptor(p->values[i]));
            LLAMA_NEED(infiniopDestroyCausalSoftmaxDescriptor(p->softmax[i]));
            LLAMA_NEED(infiniopDestroyAttentionDescriptor(p->attention[i]));
        }
    free(p);
}

static inline void llama_end(llama *m)
{
    char *memory[] = {m->hidden, m->residual, m->wide,   m->q,        m->heads,
                      m->scores, m->act,      m->logits, m->workspace};
    for (size_t i = 0; i < sizeof memory / sizeof *memory; i++)
        LLAMA_NEED(infinirtFree(memory[i]));
    for (size_t l = 0; l < m->s.layers; l++) {
        LLAMA_NEED(infinirtFree(m->layer[l].k));
        LLAMA_NEED(infinirtFree(m->layer[l].v));
    }
    for (size_t n = 0; n <= LLAMA_CONTEXT; n++)
        if (m->step[n])
            llama_end_step(m->step[n]);
    LLAMA_NEED(infiniopDestroyRandomSampleDescriptor(m->sample));
    LLAMA_NEED(infiniopDestroyHandle(m->handle));
}

#endif
