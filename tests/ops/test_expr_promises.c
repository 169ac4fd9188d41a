/* test_expr_promises.c - what expressions promise of memory: a text is parsed and typed in
 * little stack, evaluating allocates nothing, and no byte beside the operands is touched. */
#include "fence.h"
#include "layout.h"

#include <pthread.h>

#include "weak_memory.h"

static const char *const names[] = {"x", "y", "z"};

/* ---- stack ---- */

enum { STACK = 4 << 20, PAINT = 0x5a };

/* What a thread does with a text while its stack is watched. */
typedef enum call { NOTHING, RESULT, EVAL, PLAN, REDUCE } call;

typedef struct measured {
    const char *text;
    call call;
    tn_status status;
} measured;

static void *in_thread(void *arg)
{
    measured *m = arg;
    static int32_t data[70 * 80], d[70 * 80];
    static tn_tensor t, out, other;
    static int64_t shape[TN_MAX_NDIM];
    const tn_tensor *srcs[] = {&t, &t, &t};
    tn_expr *e = NULL;
    tn_plan *plan;
    tn_dtype dtype;
    int ndim;
    if (m->call == NOTHING)
        return NULL;
    m->status = tn_init(&t, data, TN_I32, 2, (const int64_t[]){70, 80});
    m->status = tn_init(&out, d, TN_I32, 0, NULL);
    m->status = tn_init(&other, d, TN_I32, 2, (const int64_t[]){70, 81});
    if (m->call == REDUCE || m->call == EVAL)
        m->status = tn_eval(m->call == EVAL ? &other : &out, m->text, 3, names, srcs);
    if (m->call == RESULT || m->call == PLAN)
        m->status = tn_expr_parse(&e, m->text);
    if (m->call == RESULT && m->status == TN_OK)
        m->status = tn_expr_result(e, tn_expr_count(e), srcs, &dtype, &ndim, shape);
    if (m->call == PLAN && m->status == TN_OK)
        m->status = tn_plan_expr(&plan, e, &other, tn_expr_count(e), srcs);
    tn_expr_free(e);
    return NULL;
}

/* Bytes of stack that a thread touched. */
static size_t stack_of(const char *text, call call, tn_status *status)
{
    char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(stack != MAP_FAILED);
    memset(stack, PAINT, STACK);
    measured m = {.text = text, .call = call};
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    assert_int_equal(pthread_attr_setstack(&attr, stack, STACK), 0);
    assert_int_equal(pthread_create(&thread, &attr, in_thread, &m), 0);
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    size_t free_bytes = 0;
    while (free_bytes < STACK && stack[free_bytes] == PAINT)
        free_bytes++;
    munmap(stack, STACK);
    *status = m.status;
    return STACK - free_bytes;
}

/* A text as long as they may be: head as often as it fits, x, and a tail for each. */
static const char *long_text(const char *head, int most, const char *tail)
{
    static char text[TN_EXPR_TEXT + 1];
    int heads = (TN_EXPR_TEXT - 1) / (int)(strlen(head) + strlen(tail));
    heads = heads < most ? heads : most;
    text[0] = 0;
    for (int i = 0; i < heads; i++)
        strcat(text, head);
    strcat(text, "x");
    for (int i = 0; i < heads; i++)
        strcat(text, tail);
    return text;
}

/* Parsing and typing take 64 KiB, however long and deep the text is: calls that are refused for
 * their shapes have done both and not planned anything. */
static void little_stack(void **state)
{
    (void)state;
    static const struct {
        const char *head, *tail;
        int most;
        tn_status status; /* TN_EUNSUPPORTED: too many steps, known when all is typed */
    } texts[] = {
        {"(((x - 1) * y + 2) // (z + 3)) + ", "", TN_EXPR_TEXT, TN_OK},
        {"-", "", TN_EXPR_DEPTH, TN_OK},
        {"where(x, y, 1<x<x|x^x&x<<1+x*", ")", TN_EXPR_DEPTH, TN_EUNSUPPORTED},
        {"0 or 1 and 2<3<4|5^6&7<<8*(", ")", TN_EXPR_DEPTH, TN_EUNSUPPORTED},
        {"x or ", "", TN_EXPR_TEXT, TN_EUNSUPPORTED},
    };
    static const struct {
        call call;
        tn_status status;
    } calls_of[] = {{RESULT, TN_OK}, {EVAL, TN_ESHAPE}, {PLAN, TN_ESHAPE}};
    tn_status status;
    if (TEST_WATCHED) /* a watched program has larger frames */
        return;
    const size_t none = stack_of("", NOTHING, &status);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t j = 0; j < sizeof calls_of / sizeof *calls_of; j++) {
            const char *text = long_text(texts[i].head, texts[i].most, texts[i].tail);
            const size_t used = stack_of(text, calls_of[j].call, &status) - none;
            assert_int_equal(status, texts[i].status ? texts[i].status : calls_of[j].status);
            if (used > 64 << 10)
                fail_msg("%.40s…, call %zu: %zu bytes", text, j, used);
        }
    const size_t reduces = stack_of("sqrt(f32(sum(x*y) + max(z))) + mean(y)", REDUCE, &status);
    assert_int_equal(status, TN_OK);
    if (reduces > 1 << 20)
        fail_msg("reductions: %zu bytes", reduces);
}

/* ---- allocation ---- */

static void nothing_is_allocated(void **state)
{
    (void)state;
    static float x[300 * 200], d[300 * 200];
    tn_tensor t, out, line;
    tn_handle *weak;
    tn_expr *e;
    tn_plan *plan;
    OK(tn_init(&t, x, TN_F32, 2, (const int64_t[]){300, 200}));
    OK(tn_init(&out, d, TN_F32, 2, (const int64_t[]){300, 200}));
    OK(tn_init(&line, d, TN_F32, 1, (const int64_t[]){200}));
    const tn_tensor *srcs[] = {&t, &t, &t};
    OK(tn_handle_create(&weak, TN_CPU, 0,
                        &(tn_config){.threads = 2, .alloc = weak_alloc, .free = weak_free}));
    OK(tn_handle_use(weak));
    OK(tn_expr_parse(&e, "sum(x * 2 + 1, axis=0)"));
    OK(tn_plan_expr(&plan, e, &line, 1, srcs));
    calls = 0;
    fail_at = 0;
    OK(tn_eval(&out, "(x + y) * z - f16(x)", 3, names, srcs));
    OK(tn_eval(&line, "sum(x * y, axis=0)", 3, names, srcs));
    OK(tn_expr_run(e, &line, 1, srcs));
    OK(tn_plan_run(plan, d, (const void *const[]){x}));
    assert_int_equal(calls, 0);
    fail_at = -1;
    tn_plan_free(plan);
    tn_expr_free(e);
    assert_int_equal(held, 0);
    OK(tn_handle_use(NULL));
    tn_handle_destroy(weak);
}

/* ---- work beyond the caches ---- */

/* Sources that come from memory are prefetched and steps run in pieces: the bits are those of
 * the same text on short parts of the tensors, wherever dst begins in a line. */
static void beyond_the_caches(void **state)
{
    (void)state;
    enum { N = 1100000 + 37, PART = 5000 };
    static const char *const texts[] = {"(x * y + z) * x - f16(y)", "where(isnan(x / y), z, x)",
                                        "c64(x) * 2j + z",          "u8(x) / 255 - y",
                                        "sum(x * y + z)",           "max(f64(x) - y, axis=0)"};
    float *data = malloc((size_t)3 * N * sizeof *data);
    char *out = malloc((size_t)2 * N * 8 + 64);
    assert_true(data && out);
    uint32_t seed = 9;
    for (int64_t i = 0; i < 3 * N; i++)
        data[i] = (float)(int)((seed = seed * 1664525u + 1013904223u) >> 20) / 16 - 100;
    for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
        const bool reduces = t >= 4;
        tn_tensor whole[3], part[3], got, want;
        const tn_tensor *srcs[3];
        tn_expr *e;
        tn_dtype dtype;
        int ndim;
        int64_t shape[TN_MAX_NDIM];
        for (int k = 0; k < 3; k++) {
            OK(tn_init(&whole[k], data + k * N, TN_F32, 1, (const int64_t[]){N}));
            srcs[k] = &whole[k];
        }
        OK(tn_expr_parse(&e, texts[t]));
        OK(tn_expr_result(e, tn_expr_count(e), srcs, &dtype, &ndim, shape));
        tn_expr_free(e);
        OK(tn_init(&got, out + (t % 2) * tn_dtype_size(dtype), dtype, ndim, shape));
        OK(tn_eval(&got, texts[t], 3, names, srcs));
        if (reduces) { /* the value, then the reduction */
            OK(tn_eval_copy(&part[0], t == 4 ? "x * y + z" : "f64(x) - y", 3, names, srcs));
            OK(tn_reduce_copy(&want, t == 4 ? TN_REDUCE_SUM : TN_REDUCE_MAX, NULL, &part[0],
                              TN_ALL_AXES, NULL, false));
            assert_memory_equal(got.data, want.data, tn_nbytes(&want));
            tn_free(&part[0]);
            tn_free(&want);
            continue;
        }
        for (int64_t at = 0; at < N; at += PART) {
            const int64_t n = N - at < PART ? N - at : PART;
            const size_t width = tn_dtype_size(dtype);
            for (int k = 0; k < 3; k++) {
                OK(tn_init(&part[k], data + k * N + at, TN_F32, 1, &n));
                srcs[k] = &part[k];
            }
            OK(tn_init(&want, out + (size_t)(N + 8) * width, dtype, 1, &n));
            OK(tn_eval(&want, texts[t], 3, names, srcs));
            if (memcmp(want.data, (char *)got.data + (size_t)at * width, (size_t)n * width))
                fail_msg("%s differs in the part at %d", texts[t], (int)at);
        }
    }
    free(data);
    free(out);
}

/* ---- no byte outside ---- */

static void within_the_operands(void **state)
{
    (void)state;
    watch_fences();
    const fenced f[4] = {fence_off(), fence_off(), fence_off(), fence_off()};
    static const char *const texts[] = {"x * 2 + y",          "where(x < y, z, 1)",
                                        "f16(x) + u8(y) / 3", "sum(x * y + z)",
                                        "max(x - y, axis=0)", "mean(f64(z), axis=1) * 2",
                                        "any(x < y, axis=0)", "sum(c64(x) * 2j)"};
    static const tn_dtype dtypes[] = {TN_F32, TN_U8, TN_F16, TN_F64, TN_BOOL, TN_C64};
    static const int64_t shapes[][2] = {{1, 1},   {3, 5},   {17, 33},
                                        {130, 7}, {7, 130}, {40, 200}};
    rng r = {3};
    for (int round = 0; round < (TEST_WATCHED ? 300 : 3000); round++) {
        const char *text = texts[round % 8];
        const int64_t *shape = shapes[pick(&r, 0, 5)];
        const bool high = pick(&r, 0, 1);
        tn_tensor t[3], out;
        const tn_tensor *srcs[3];
        tn_expr *e;
        tn_dtype dtype;
        int ndim;
        int64_t value[TN_MAX_NDIM];
        for (int k = 0; k < 3; k++) {
            const tn_dtype d = dtypes[pick(&r, 0, text[0] == 'm' ? 3 : 4)];
            const int64_t bytes = shape[0] * shape[1] * (int64_t)tn_dtype_size(d);
            const bool turned = pick(&r, 0, 1);
            char *at = at_edge(&f[k], bytes, high);
            OK(tn_init(&t[k], at, d, 2, (const int64_t[]){shape[turned], shape[!turned]}));
            if (turned)
                OK(tn_transpose(&t[k], &t[k], 0, 1));
            srcs[k] = &t[k];
        }
        snprintf(now, sizeof now, "round %d: %s", round, text);
        OK(tn_expr_parse(&e, text));
        const tn_tensor *used[3];
        for (int k = 0; k < tn_expr_count(e); k++)
            used[k] = srcs[tn_expr_name(e, k)[0] - 'x'];
        if (tn_expr_result(e, tn_expr_count(e), used, &dtype, &ndim, value) == TN_OK) {
            int64_t bytes = (int64_t)tn_dtype_size(dtype);
            for (int k = 0; k < ndim; k++)
                bytes *= value[k];
            OK(tn_init(&out, at_edge(&f[3], bytes, high), dtype, ndim, value));
            OK(tn_expr_run(e, &out, tn_expr_count(e), used));
        }
        tn_expr_free(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(little_stack),
        cmocka_unit_test(nothing_is_allocated),
        cmocka_unit_test(beyond_the_caches),
        cmocka_unit_test(within_the_operands),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
