/* test_infiniop_llama.c - a small random Llama through the C ABI, prefill and decode, in F32,
 * F16 and BF16, against the same model in double; descriptors are reused, runs allocate
 * nothing. */
#include "../../examples/llama.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <tenon/tenon.h>

#include "count_allocations.h"

enum { LAYERS = 2, HIDDEN = 64, HEADS = 4, KV = 2, HEAD = 16, FFN = 96, VOCAB = 97, ROWS = 32 };
enum { PROMPT = 7, STEPS = 5, WEIGHTS = 64 };

static const llama_shape shape = {LAYERS, HIDDEN,           HEADS, KV, HEAD, FFN, VOCAB,
                                  ROWS,   INFINI_DTYPE_F32, false};

/* ---- weights: by name, in the dtype of the model and in double ---- */

typedef struct weight {
    char name[32];
    void *data;
    double *wide;
} weight;

typedef struct weights {
    tn_dtype dtype;
    int n;
    weight w[WEIGHTS];
} weights;

/* A number in (-1, 1) that depends on name and place alone. */
static double drawn(const char *name, size_t i)
{
    uint64_t x = 1469598103934665603u + i * 0x9e3779b97f4a7c15u;
    for (; *name; name++)
        x = (x ^ (uint64_t)(unsigned char)*name) * 1099511628211u;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 29;
    return (double)(x >> 11) * 0x1p-52 - 1;
}

static double weight_at(const char *name, size_t i)
{
    const char *last = strrchr(name, '.') ? strrchr(name, '.') + 1 : name;
    const double at =
        (double)(i / (HEAD / 2)) * pow(1e4, -(double)(i % (HEAD / 2)) / (HEAD / 2));
    if (!strcmp(name, "sin") || !strcmp(name, "cos"))
        return name[0] == 's' ? sin(at) : cos(at);
    if (strstr(last, "norm"))
        return 1 + 0.25 * drawn(name, i);
    return drawn(name, i) * (!strcmp(name, "embed") ? 1 : !strcmp(last, "down") ? 0.18 : 0.22);
}

static const void *take_weight(void *user, const char *name, size_t count)
{
    weights *all = user;
    weight *w = &all->w[all->n++];
    const int64_t n = (int64_t)count;
    tn_tensor wide, own;
    assert_true(all->n <= WEIGHTS);
    snprintf(w->name, sizeof w->name, "%s", name);
    assert_int_equal(tn_alloc(&wide, TN_F64, 1, &n), TN_OK);
    assert_int_equal(tn_alloc(&own, all->dtype, 1, &n), TN_OK);
    w->wide = wide.data;
    w->data = own.data;
    for (size_t i = 0; i < count; i++)
        w->wide[i] = weight_at(name, i);
    assert_int_equal(tn_cast(&own, &wide), TN_OK);
    assert_int_equal(tn_cast(&wide, &own), TN_OK); /* both have the rounded numbers */
    return w->data;
}

static const double *wide_of(const weights *all, const char *name, size_t layer)
{
    char whole[64];
    if (layer < LAYERS)
        snprintf(whole, sizeof whole, "layers.%zu.%s", layer, name);
    else
        snprintf(whole, sizeof whole, "%s", name);
    for (int i = 0; i < all->n; i++)
        if (!strcmp(all->w[i].name, whole))
            return all->w[i].wide;
    fail_msg("no weight %s", whole);
    return NULL;
}

static void drop_weights(weights *all)
{
    for (int i = 0; i < all->n; i++) {
        tn_tensor a = {.data = all->w[i].data}, b = {.data = all->w[i].wide};
        tn_free(&a);
        tn_free(&b);
    }
}

/* ---- the same in double, one token after the other ---- */

typedef struct reference {
    const weights *w;
    double k[LAYERS][ROWS][KV * HEAD], v[LAYERS][ROWS][KV * HEAD];
    int length;
    double logits[VOCAB];
} reference;

static void times(double *y, const double *w, const double *x, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        y[i] = 0;
        for (int j = 0; j < columns; j++)
            y[i] += w[i * columns + j] * x[j];
    }
}

static void normed(double *y, const double *x, const double *w)
{
    double sum = 0;
    for (int i = 0; i < HIDDEN; i++)
        sum += x[i] * x[i];
    for (int i = 0; i < HIDDEN; i++)
        y[i] = x[i] * w[i] / sqrt(sum / HIDDEN + (double)1e-5f);
}

static void turned(const reference *r, double *x, int heads)
{
    const double *s = wide_of(r->w, "sin", LAYERS) + r->length * (HEAD / 2);
    const double *c = wide_of(r->w, "cos", LAYERS) + r->length * (HEAD / 2);
    for (int h = 0; h < heads; h++, x += HEAD)
        for (int i = 0; i < HEAD / 2; i++) {
            const double a = x[i], b = x[i + HEAD / 2];
            x[i] = a * c[i] - b * s[i];
            x[i + HEAD / 2] = a * s[i] + b * c[i];
        }
}

static void attended(const reference *r, size_t l, const double *q, double *out)
{
    for (int h = 0; h < HEADS; h++) {
        const int g = h / (HEADS / KV) * HEAD;
        double p[ROWS], top = -INFINITY, sum = 0;
        for (int t = 0; t <= r->length; t++) {
            p[t] = 0;
            for (int d = 0; d < HEAD; d++)
                p[t] += q[h * HEAD + d] * r->k[l][t][g + d] / sqrt(HEAD);
            top = p[t] > top ? p[t] : top;
        }
        for (int t = 0; t <= r->length; t++)
            sum += p[t] = exp(p[t] - top);
        for (int d = 0; d < HEAD; d++) {
            out[h * HEAD + d] = 0;
            for (int t = 0; t <= r->length; t++)
                out[h * HEAD + d] += p[t] / sum * r->v[l][t][g + d];
        }
    }
}

static void step(reference *r, int64_t token)
{
    double x[HIDDEN], h[HIDDEN], o[HIDDEN], wide[2 * FFN], act[FFN];
    memcpy(x, wide_of(r->w, "embed", LAYERS) + token * HIDDEN, sizeof x);
    for (size_t l = 0; l < LAYERS; l++) {
        normed(h, x, wide_of(r->w, "norm", l));
        times(wide, wide_of(r->w, "qkv", l), h, (HEADS + 2 * KV) * HEAD, HIDDEN);
        turned(r, wide, HEADS + KV);
        memcpy(r->k[l][r->length], wide + HEADS * HEAD, sizeof r->k[l][0]);
        memcpy(r->v[l][r->length], wide + (HEADS + KV) * HEAD, sizeof r->v[l][0]);
        attended(r, l, wide, h);
        times(o, wide_of(r->w, "project", l), h, HIDDEN, HEADS * HEAD);
        for (int i = 0; i < HIDDEN; i++)
            x[i] += o[i];
        normed(h, x, wide_of(r->w, "ffn_norm", l));
        times(wide, wide_of(r->w, "gate_up", l), h, 2 * FFN, HIDDEN);
        for (int i = 0; i < FFN; i++)
            act[i] = wide[i] / (1 + exp(-wide[i])) * wide[FFN + i];
        times(o, wide_of(r->w, "down", l), act, HIDDEN, FFN);
        for (int i = 0; i < HIDDEN; i++)
            x[i] += o[i];
    }
    normed(h, x, wide_of(r->w, "norm", LAYERS));
    times(r->logits, wide_of(r->w, "head", LAYERS), h, VOCAB, HIDDEN);
    r->length++;
}

static int64_t largest(const double *x)
{
    int64_t best = 0;
    for (int64_t i = 1; i < VOCAB; i++)
        best = x[i] > x[best] ? i : best;
    return best;
}

/* ---- both ---- */

/* The largest difference of logits, as a share of the largest of them. */
static double differ(const weights *all, const void *logits, const double *want)
{
    double got[VOCAB], error = 0, most = 0;
    const int64_t n = VOCAB;
    tn_tensor from, to;
    assert_int_equal(tn_init_const(&from, logits, all->dtype, 1, &n, NULL), TN_OK);
    assert_int_equal(tn_init(&to, got, TN_F64, 1, &n), TN_OK);
    assert_int_equal(tn_cast(&to, &from), TN_OK);
    for (int i = 0; i < VOCAB; i++) {
        assert_true(isfinite(got[i]));
        error = fmax(error, fabs(got[i] - want[i]));
        most = fmax(most, fabs(want[i]));
    }
    return error / most;
}

static const int64_t prompt[PROMPT] = {5, 96, 0, 41, 17, 17, 63};

static double generate(llama *m, const weights *all)
{
    static reference r;
    r = (reference){.w = all};
    double worst = 0;
    int64_t token = 0;
    for (int i = 0; i < PROMPT; i++)
        step(&r, prompt[i]);
    m->length = 0;
    for (int i = 0; i <= STEPS; i++) {
        const void *logits = i ? llama_run(m, &token, 1) : llama_run(m, prompt, PROMPT);
        worst = fmax(worst, differ(all, logits, r.logits));
        assert_int_equal(llama_choose(m, 0.5f, 1, 1, 1), largest(r.logits));
        token = llama_choose(m, 0.5f, 0.9f, 20, 0.8f);
        assert_true(token >= 0 && token < VOCAB);
        token = largest(r.logits);
        step(&r, token);
    }
    return worst;
}

static void model(infiniDtype_t dtype, tn_dtype same, bool fused, double allowed)
{
    weights all = {.dtype = same};
    llama_shape s = shape;
    llama m;
    s.dtype = dtype;
    s.fused = fused;
    llama_begin(&m, &s, take_weight, &all);
    const double worst = generate(&m, &all);
    print_message("logits differ by %.2g of the largest, at most %.2g\n", worst, allowed);
    assert_true(worst <= allowed);
    const long before = allocations;
    assert_true(generate(&m, &all) == worst);
    assert_int_equal(allocations - before, 0);
    llama_end(&m);
    drop_weights(&all);
}

static void test_f32(void **state)
{
    (void)state;
    model(INFINI_DTYPE_F32, TN_F32, false, 2e-6);
}

static void test_f32_fused(void **state)
{
    (void)state;
    model(INFINI_DTYPE_F32, TN_F32, true, 2e-6);
}

static void test_f16(void **state)
{
    (void)state;
    model(INFINI_DTYPE_F16, TN_F16, false, 4e-3);
}

static void test_f16_fused(void **state)
{
    (void)state;
    model(INFINI_DTYPE_F16, TN_F16, true, 4e-3);
}

static void test_bf16(void **state)
{
    (void)state;
    model(INFINI_DTYPE_BF16, TN_BF16, false, 1.1e-2);
}

static void test_bf16_fused(void **state)
{
    (void)state;
    model(INFINI_DTYPE_BF16, TN_BF16, true, 1.1e-2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_f32),  cmocka_unit_test(test_f32_fused),
        cmocka_unit_test(test_f16),  cmocka_unit_test(test_f16_fused),
        cmocka_unit_test(test_bf16), cmocka_unit_test(test_bf16_fused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
