/* contract_chain.c - a contraction as products of two operands, planned and run one after the
 * other.
 *
 * Summed labels that only one source has are summed first.  Intermediate results are dense, in
 * the compute type, with their labels in the order that suits the next product: those that it
 * shares with the other side and keeps, then others that it keeps, then those that it sums. */
#include "contract_chain.h"

#include <stdint.h>

#include "plan/plan.h"

typedef struct chain_maker {
    tni_chain *c;
    const tni_contraction *x;
    tni_labels of[1 + TN_EINSUM_SOURCES]; /* the labels left by the first sums */
    tni_term term[1 + TN_EINSUM_SOURCES]; /* the terms left by the first sums */
    int from[TN_EINSUM_SOURCES];
    tni_order order;
    bool fits;
} chain_maker;

static tni_labels chain_labels(const tni_term *t)
{
    tni_labels l = {{0}};
    for (int i = 0; i < t->count; i++)
        l.word[t->label[i] / 64] |= (uint64_t)1 << t->label[i] % 64;
    return l;
}

static int64_t chain_step(const tni_term *t, int label, bool *has)
{
    for (int i = 0; i < t->count; i++)
        if (t->label[i] == label) {
            *has = true;
            return t->step[i];
        }
    *has = false;
    return 0;
}

/* Whether a label of source k is summed and is in no other source. */
static bool chain_private(const tni_contraction *x, const tni_labels *of, int k, int label)
{
    for (int i = 0; i <= x->nsrc; i++)
        if (i != k + 1 && tni_labels_has(&of[i], label))
            return false;
    return true;
}

static int chain_privates(const tni_contraction *x, const tni_labels *of, int k)
{
    int n = 0;
    const tni_term *t = &x->term[k + 1];
    for (int i = 0; i < t->count; i++)
        n += chain_private(x, of, k, t->label[i]);
    return n;
}

int tni_chain_length(const tni_contraction *x)
{
    if (x->nsrc == 1)
        return 1;
    tni_labels of[1 + TN_EINSUM_SOURCES];
    for (int i = 0; i <= x->nsrc; i++)
        of[i] = chain_labels(&x->term[i]);
    int n = x->nsrc - 1;
    for (int k = 0; k < x->nsrc; k++)
        n += chain_privates(x, of, k) > 0;
    return n;
}

/* ---- one link ---- */

/* Describe dst = left * right, summed over the labels that dst lacks; right NULL is the number
 * 1. */
static void chain_product(tni_product *p, const tni_contraction *x, const tni_term *dst,
                          const tni_term *left, const tni_term *right)
{
    const tn_dtype types[TNI_SIDES] = {dst->dtype, left->dtype,
                                       right ? right->dtype : x->compute, x->compute};
    static const tni_term none = {0};
    const tni_term *sides[2] = {left, right ? right : &none};
    tni_product_begin(p, types, x->compute);
    p->alone = !right;
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < sides[s]->count; i++) {
            const int label = sides[s]->label[i];
            bool in_dst, in_left, in_right;
            int64_t step[TNI_SIDES] = {0};
            step[TNI_DST] = chain_step(dst, label, &in_dst);
            step[TNI_LEFT] = chain_step(sides[0], label, &in_left);
            step[TNI_RIGHT] = chain_step(sides[1], label, &in_right);
            if (s && in_left)
                continue;
            const int role = !in_dst               ? TNI_DEPTH
                             : in_left && in_right ? TNI_BATCH
                             : in_left             ? TNI_ROWS
                                                   : TNI_COLS;
            tni_product_add(p, role, x->extent[label], step);
        }
    tni_product_normal(p);
}

/* Make an intermediate result dense, its labels in this order; false if its size does not
 * fit. */
static bool chain_dense(tni_term *t, const tni_contraction *x, size_t *bytes)
{
    int64_t step = tni_width(x->compute);
    t->dtype = x->compute;
    for (int i = t->count - 1; i >= 0; i--) {
        t->step[i] = step;
        if (!tni_mul(step, x->extent[t->label[i]], &step))
            return false;
    }
    *bytes = ((size_t)step + 63) & ~(size_t)63;
    return true;
}

/* Add a link; its result, unless it is dst, gets a part of the workspace. */
static int chain_add(chain_maker *m, tni_term *dst, const tni_term *left, int left_from,
                     const tni_term *right, int right_from, bool last)
{
    tni_chain *c = m->c;
    tni_link *l = &c->link[c->n];
    size_t bytes = 0;
    if (!last && (!chain_dense(dst, m->x, &bytes) || bytes > PTRDIFF_MAX - c->results))
        m->fits = false;
    if (!m->fits)
        return 0;
    l->from[TNI_DST] = last ? TNI_FROM_DST : TNI_FROM_LINK + c->n;
    l->from[TNI_LEFT] = left_from;
    l->from[TNI_RIGHT] = right_from;
    l->from[TNI_ADDEND] = TNI_FROM_NOWHERE;
    l->at = c->results;
    c->results += bytes;
    chain_product(&l->plan.p, m->x, dst, left, right);
    tni_product_choose(&l->plan);
    return TNI_FROM_LINK + c->n++;
}

/* Sum the labels that only source k has. */
static void chain_sum_first(chain_maker *m, int k)
{
    const tni_term *t = &m->x->term[k + 1];
    tni_term *out = &m->term[k + 1];
    if (m->x->nsrc == 1 || !chain_privates(m->x, m->of, k))
        return;
    out->count = 0;
    for (int i = 0; i < t->count; i++)
        if (!chain_private(m->x, m->of, k, t->label[i]))
            out->label[out->count++] = t->label[i];
    m->from[k] = chain_add(m, out, t, k, NULL, TNI_FROM_ONE, false);
}

/* ---- products of sets ---- */

/* Put the labels of a set's result in the order that suits the next product. */
static void chain_result(const chain_maker *m, tni_term *t, const tni_labels *kept,
                         const tni_labels *other, const tni_labels *next)
{
    t->count = 0;
    for (int group = 0; group < 3; group++)
        for (int label = 0; label < m->x->nlabel; label++) {
            if (!tni_labels_has(kept, label))
                continue;
            const bool shared = tni_labels_has(other, label),
                       stays = tni_labels_has(next, label);
            if (group == (shared && stays ? 0 : stays ? 1 : 2))
                t->label[t->count++] = (int16_t)label;
        }
}

/* Add the links that multiply a set of sources; *t describes the result.  The recursion is no
 * deeper than the number of sources. */
static int chain_set(chain_maker *m, unsigned set, tni_term *t, const tni_labels *other,
                     const tni_labels *next)
{
    if (!(set & (set - 1))) {
        const int k = __builtin_ctz(set);
        *t = m->term[k + 1];
        return m->from[k];
    }
    const unsigned half = m->order.left[set], first = set & ~(set - 1);
    const unsigned left = half & first ? half : set & ~half, right = set & ~left;
    const tni_labels kept = tni_labels_of_set(m->x, m->of, set);
    const tni_labels kept_left = tni_labels_of_set(m->x, m->of, left);
    const tni_labels kept_right = tni_labels_of_set(m->x, m->of, right);
    tni_term a, b;
    const int from_left = chain_set(m, left, &a, &kept_right, &kept);
    const int from_right = chain_set(m, right, &b, &kept_left, &kept);
    if (!m->fits)
        return 0;
    const bool last = set == (1u << m->x->nsrc) - 1;
    if (last)
        *t = m->x->term[0];
    else
        chain_result(m, t, &kept, other, next);
    return chain_add(m, t, &a, from_left, &b, from_right, last);
}

/* Set the workspace: the bytes of all results and of the largest link's own; false if they do
 * not fit. */
static bool chain_finish(tni_chain *c)
{
    size_t most = 0;
    for (int i = 0; i < c->n; i++)
        if (c->link[i].plan.workspace > most)
            most = c->link[i].plan.workspace;
    c->workspace = c->results + most;
    return most <= PTRDIFF_MAX - c->results;
}

bool tni_chain_plan(tni_chain *c, const tni_contraction *x)
{
    chain_maker m = {.c = c, .x = x, .fits = true};
    c->n = 0;
    c->results = 0;
    for (int i = 0; i <= x->nsrc; i++) {
        m.term[i] = x->term[i];
        m.of[i] = chain_labels(&x->term[i]);
    }
    if (x->nsrc == 1) {
        chain_add(&m, &m.term[0], &m.term[1], 0, NULL, TNI_FROM_ONE, true);
        return chain_finish(c);
    }
    for (int k = 0; k < x->nsrc && m.fits; k++) {
        m.from[k] = k;
        chain_sum_first(&m, k);
    }
    for (int k = 0; k < x->nsrc; k++)
        m.of[k + 1] = chain_labels(&m.term[k + 1]);
    if (m.fits) {
        const tni_labels none = {{0}};
        tni_term whole;
        tni_order_search(&m.order, x, m.of);
        chain_set(&m, (1u << x->nsrc) - 1, &whole, &none, &none);
    }
    return chain_finish(c) && m.fits;
}

void tni_chain_plan_one(tni_chain *c)
{
    c->n = 1;
    c->results = 0;
    tni_product_choose(&c->link[0].plan);
    (void)chain_finish(c); /* the bytes of a single link */
}

/* ---- running ---- */

/* The address of the number 1 in a compute type. */
static char *chain_one(tn_dtype compute)
{
    static const float f32[2] = {1, 0};
    static const double f64[2] = {1, 0};
    static const uint64_t wide = 1;
    static const uint32_t one = 1;
    static const uint16_t narrow = 1;
    static const uint8_t truth = 1;
    static const void *const ones[TNI_SUMS] = {f32,     f64,  f32,   f64,
                                               &narrow, &one, &wide, &truth};
    char *at;
    memcpy(&at, &ones[tni_sum_of(compute)], sizeof at);
    return at;
}

static char *chain_address(const tni_chain *c, int from, tn_dtype compute, char *dst,
                           const char *const *srcs, char *workspace)
{
    char *at = NULL;
    if (from == TNI_FROM_DST)
        return dst;
    if (from == TNI_FROM_ONE)
        return chain_one(compute);
    if (from >= TNI_FROM_LINK && from < TNI_FROM_DST)
        return workspace ? workspace + c->link[from - TNI_FROM_LINK].at : NULL; /* empty */
    if (from < TNI_FROM_LINK)
        memcpy(&at, &srcs[from], sizeof at);
    return at;
}

static void chain_run_link(const tni_chain *c, const tni_link *l, const tni_product_plan *plan,
                           char *dst, const char *const *srcs, char *workspace)
{
    char *at[TNI_SIDES];
    for (int k = 0; k < TNI_SIDES; k++)
        at[k] = chain_address(c, l->from[k], plan->p.compute, dst, srcs, workspace);
    tni_product_run(plan, at, workspace ? workspace + c->results : NULL);
}

void tni_chain_run(const tni_chain *c, char *dst, const char *const *srcs, char *workspace)
{
    for (int i = 0; i < c->n; i++)
        chain_run_link(c, &c->link[i], &c->link[i].plan, dst, srcs, workspace);
}

void tni_chain_run_gemm(const tni_chain *c, char *dst, const char *const *srcs, double alpha,
                        double beta, char *workspace)
{
    const tni_product_plan *planned = &c->link[0].plan;
    if (alpha == planned->p.alpha && beta == 0 && planned->p.beta == 0) {
        chain_run_link(c, &c->link[0], planned, dst, srcs, workspace);
        return;
    }
    tni_link link = c->link[0]; /* copies several KB: more than a small product costs */
    link.from[TNI_ADDEND] = 2;
    link.plan.p.alpha = alpha;
    link.plan.p.beta = beta;
    chain_run_link(c, &link, &link.plan, dst, srcs, workspace);
}
