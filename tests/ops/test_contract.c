/* test_contract.c - the ways of contractions: which is taken, samples of its result, the same
 * bits for every number of threads; gemm's numbers; what is never read; plans, memory, fork. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract_ways.h"

enum { SAMPLES = 60 };

static tn_handle *handle_of(int threads)
{
    tn_handle *h;
    OK(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = threads}));
    return h;
}

/* An executor that runs parts backwards, on the calling thread. */
static void backwards(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    (void)user;
    for (int i = parts - 1; i >= 0; i--)
        body(arg, i);
}

/* An executor with threads of its own, each of which keeps its number of OpenMP threads. */
typedef struct part_of {
    void (*body)(void *arg, int part);
    void *arg;
    int part;
} part_of;

static int (*omp_count)(void);
static void (*omp_set_count)(int);

static void *run_part(void *arg)
{
    const part_of *p = arg;
    const int before = omp_count ? omp_count() : 0;
    p->body(p->arg, p->part);
    return omp_count && omp_count() != before ? arg : NULL;
}

static void own_threads(void *user, int parts, void (*body)(void *arg, int part), void *arg)
{
    enum { MOST = 16 };
    pthread_t ids[MOST];
    part_of p[MOST];
    (void)user;
    assert_true(parts <= MOST);
    for (int i = 0; i < parts; i++) {
        p[i] = (part_of){body, arg, i};
        assert_int_equal(pthread_create(&ids[i], NULL, run_part, &p[i]), 0);
    }
    for (int i = 0; i < parts; i++) {
        void *changed;
        pthread_join(ids[i], &changed);
        assert_null(changed);
    }
}

/* The OpenMP of the process, where the library has one. */
static void find_openmp(void)
{
    void *found = dlsym(RTLD_DEFAULT, "omp_get_max_threads");
    memcpy(&omp_count, &found, sizeof found);
    found = dlsym(RTLD_DEFAULT, "omp_set_num_threads");
    memcpy(&omp_set_count, &found, sizeof found);
}

/* ---- every way ---- */

static void sample(rng *r, const way_case *c, const tn_tensor *dst,
                   const tn_tensor *const *srcs)
{
    int64_t extent[ORACLE_LETTERS] = {0}, index[ORACLE_LETTERS] = {0}, at[8];
    for (const char *p = c->sizes; *p; p++)
        if (*p >= 'a')
            extent[(int)*p] = size_of(c, *p);
    for (int i = 0; i < SAMPLES && tn_numel(dst); i++) {
        for (int a = 0; a < dst->ndim; a++)
            index[(int)c->letters[0][a]] = at[a] =
                i ? pick(r, 0, dst->shape[a] - 1) : dst->shape[a] - 1;
        const oracle_sum s = oracle_element(2, c->letters, srcs, extent, index);
        if (!oracle_close(&s, c->dtype, c->dst, element(dst, at)))
            fail_msg("%s,%s->%s %s %s: got %Lg, expected %Lg", c->letters[1], c->letters[2],
                     c->letters[0], c->sizes, tn_dtype_name(c->dtype),
                     oracle_read(c->dst, element(dst, at)).re, s.sum.re);
    }
}

static void one_way(rng *r, const way_case *c, tn_handle *const *handles, int nhandles)
{
    char spec[64], text[1024];
    snprintf(spec, sizeof spec, "%s,%s->%s", c->letters[1], c->letters[2], c->letters[0]);
    tn_tensor t[3];
    for (int k = 0; k < 3; k++)
        t[k] = tensor_of(r, c, k);
    const tn_tensor *const srcs[] = {&t[1], &t[2]};
    const size_t bytes = (size_t)tn_nbytes(&t[0]);
    char *first = malloc(bytes + 1);
    assert_non_null(first);
    for (int i = 0; i < nhandles; i++) {
        tn_plan *plan;
        tn_facts facts;
        OK(tn_handle_use(handles[i]));
        memset(t[0].data, 0xee, bytes);
        OK(tn_plan_einsum(&plan, &t[0], spec, 2, srcs));
        OK(tn_plan_facts(&facts, plan));
        OK(tn_plan_explain(plan, text, sizeof text));
        if (strcmp(facts.way, c->way))
            fail_msg("%s %s %s: %s, expected %s", spec, c->sizes, tn_dtype_name(c->dtype),
                     facts.way, c->way);
        assert_int_equal(facts.workspace, tn_plan_workspace(plan));
        if (facts.flops) {
            assert_non_null(strstr(text, "\n  flops    "));
            assert_non_null(strstr(text, "\n  workspace "));
        }
        OK(tn_plan_run(plan, t[0].data, (const void *const[]){t[1].data, t[2].data}));
        assert_true(!omp_count || omp_count() == 3);
        tn_plan_free(plan);
        if (i == 0) {
            sample(r, c, &t[0], srcs);
            memcpy(first, t[0].data, bytes);
        } else if (memcmp(first, t[0].data, bytes)) {
            fail_msg("%s %s %s: other bits on other threads", spec, c->sizes,
                     tn_dtype_name(c->dtype));
        }
    }
    for (int k = 0; k < 3; k++)
        free(t[k].data);
    free(first);
    OK(tn_handle_use(NULL));
}

static void every_way(void **state)
{
    (void)state;
    rng r = {17};
    tn_handle *odd, *own;
    OK(tn_handle_create(&odd, TN_CPU, 0,
                        &(tn_config){.threads = 5, .parallel_for = backwards}));
    OK(tn_handle_create(&own, TN_CPU, 0,
                        &(tn_config){.threads = 4, .parallel_for = own_threads}));
    tn_handle *handles[] = {handle_of(1), handle_of(2), handle_of(3), handle_of(7), odd, own};
    find_openmp();
    const int threads = omp_count ? omp_count() : 0;
    if (omp_set_count)
        omp_set_count(3);
    for (size_t i = 0; i < sizeof contract_ways / sizeof *contract_ways; i++)
        one_way(&r, &contract_ways[i], handles, 6);
    for (int i = 0; i < 6; i++)
        tn_handle_destroy(handles[i]);
    if (omp_set_count)
        omp_set_count(threads);
}

/* ---- gemm ---- */

/* alpha * (a @ b) + beta * c by the definition, in long double. */
static void gemm_case(rng *r, tn_dtype t, int64_t m, int64_t n, int64_t k, double alpha,
                      double beta, int kind)
{
    const int64_t sd[] = {m, n}, sa[] = {m, k}, sb[] = {k, n}, row[] = {n}, col[] = {m, 1};
    const bool wrap = tni_dtypes[t].kind <= TNI_UNSIGNED;
    block d = block_make(r, t, 2, sd, kind % 2, false),
          a = block_make(r, t, 2, sa, kind % 2, true),
          b = block_make(r, t, 2, sb, kind % 2, true),
          c = kind < 2   ? block_make(r, t, 1, row, kind % 2, true)
              : kind < 4 ? block_make(r, t, 2, col, kind % 2, true)
                         : block_make(r, t, 2, sd, true, true);
    oracle_fill(r, &a.t, wrap);
    oracle_fill(r, &b.t, wrap);
    oracle_fill(r, &c.t, wrap);
    oracle_fill(r, &d.t, wrap);
    block was = block_twin(&d);
    const bool itself = kind >= 6;
    const tn_tensor *addend = itself ? NULL : &c.t, *from = itself ? &was.t : &c.t;
    if (beta == 0 && !wrap)
        memset(d.bytes, 0xff, d.size); /* NaN, which is not read */
    block again = block_twin(&d);
    OK(tn_gemm(&d.t, alpha, &a.t, &b.t, beta, addend));
    if (beta == 0) { /* a plan of another alpha, run with this one */
        tn_plan *plan;
        OK(tn_plan_gemm(&plan, &again.t, 3, &a.t, &b.t, 0, NULL));
        OK(tn_plan_gemm_run(plan, again.t.data, alpha, a.t.data, b.t.data, 0, NULL, NULL, 0));
        SAME_BLOCKS(&again, &d, "gemm %s: a plan run with alpha %g differs\n", tn_dtype_name(t),
                    alpha);
        tn_plan_free(plan);
    }
    block_free(&again);
    const char *const letters[] = {"ij", "ik", "kj"};
    const tn_tensor *const srcs[] = {&a.t, &b.t};
    int64_t extent[ORACLE_LETTERS] = {['i'] = m, ['j'] = n, ['k'] = k},
            index[ORACLE_LETTERS] = {0}, at[2] = {0, 0};
    do {
        index['i'] = at[0];
        index['j'] = at[1];
        oracle_sum s = oracle_element(2, letters, srcs, extent, index);
        const int64_t cat[2] = {from->shape[0] == 1 ? 0 : at[0], at[1]};
        const char *add = from->ndim == 1
                              ? element(from, &at[1])
                              : (const char *)from->data + cat[0] * from->stride[0] +
                                    (from->shape[1] == 1 ? 0 : at[1] * from->stride[1]);
        const oracle_number x = oracle_read(t, add);
        s.sum.re = alpha * s.sum.re + (beta != 0 ? beta * x.re : 0);
        s.sum.im = alpha * s.sum.im + (beta != 0 ? beta * x.im : 0);
        s.sum.bits = (uint64_t)(int64_t)alpha * s.sum.bits + (uint64_t)(int64_t)beta * x.bits;
        s.magnitude = fabsl(alpha) * s.magnitude + fabsl(beta) * (fabsl(x.re) + fabsl(x.im));
        if (!oracle_close(&s, t, t, element(&d.t, at)))
            fail_msg("gemm %s %lld x %lld x %lld, %g, %g, kind %d: got %Lg, expected %Lg",
                     tn_dtype_name(t), (long long)m, (long long)n, (long long)k, alpha, beta,
                     kind, oracle_read(t, element(&d.t, at)).re, s.sum.re);
    } while (index_next(at, 2, sd));
    block_free(&a);
    block_free(&b);
    block_free(&c);
    block_free(&d);
    block_free(&was);
}

static void gemm_numbers(void **state)
{
    (void)state;
    static const tn_dtype types[] = {TN_F32, TN_F64, TN_BF16, TN_F16, TN_C64, TN_I8, TN_I32};
    static const int64_t sizes[][3] = {{5, 7, 3}, {1, 130, 30}, {40, 1, 30}, {37, 41, 29}};
    static const double numbers[][2] = {{1, 0}, {-2, 0}, {-2, 1}, {1, 3}, {0, 2}, {0, 0}};
    rng r = {3};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < 4; s++)
            for (size_t n = 0; n < 6; n++)
                for (int kind = 0; kind < 8; kind++)
                    if (!TEST_WATCHED || (kind + (int)(s + n)) % 3 == 0)
                        gemm_case(&r, types[t], sizes[s][0], sizes[s][1], sizes[s][2],
                                  numbers[n][0], numbers[n][1], kind);
}

/* ---- what is read, and what comes of it ---- */

static void infinities(void **state)
{
    (void)state;
    enum { N = 48 };
    static float a[N * N], b[N * N], d[N * N];
    tn_tensor ta, tb, td;
    const int64_t shape[] = {N, N};
    OK(tn_init(&ta, a, TN_F32, 2, shape));
    OK(tn_init(&tb, b, TN_F32, 2, shape));
    OK(tn_init(&td, d, TN_F32, 2, shape));
    b[0] = INFINITY; /* 0 * inf */
    OK(tn_matmul(&td, &ta, &tb));
    assert_true(isnan(d[0]) && d[1] == 0);
    OK(tn_gemm(&td, 0, &ta, &tb, 0, NULL)); /* alpha 0 reads neither */
    for (int i = 0; i < N * N; i++)
        assert_true(d[i] == 0);
    d[5] = NAN;
    b[0] = 0;
    OK(tn_gemm(&td, 1, &ta, &tb, 0, NULL)); /* beta 0 does not read dst */
    assert_true(d[5] == 0);
    const int64_t none[] = {N, 0}, also[] = {0, N};
    OK(tn_init(&ta, a, TN_F32, 2, none));
    OK(tn_init(&tb, b, TN_F32, 2, also));
    for (int i = 0; i < N * N; i++)
        d[i] = (float)i;
    OK(tn_gemm(&td, 1, &ta, &tb, 2, NULL)); /* k = 0: beta * c */
    for (int i = 0; i < N * N; i++)
        assert_true(d[i] == 2 * (float)i);
    OK(tn_matmul(&td, &ta, &tb));
    assert_true(d[7] == 0);
}

/* ---- the order of a chain ---- */

static void chains(void **state)
{
    (void)state;
    tn_tensor t[4], d;
    tn_plan *plan;
    tn_facts f;
    const int64_t shapes[][2] = {{60, 50}, {50, 40}, {40, 2}};
    const tn_tensor *srcs[] = {&t[0], &t[1], &t[2]};
    for (int k = 0; k < 3; k++) {
        OK(tn_alloc(&t[k], TN_F64, 2, shapes[k]));
        OK(tn_randn(&t[k], (uint64_t)k));
    }
    OK(tn_alloc(&d, TN_F64, 2, (int64_t[]){60, 2}));
    OK(tn_plan_einsum(&plan, &d, "ij,jk,kl->il", 3, srcs));
    OK(tn_plan_facts(&f, plan));
    assert_int_equal(f.flops, 2 * (50 * 40 * 2 + 60 * 50 * 2)); /* the right product first */
    OK(tn_plan_run(plan, d.data, (const void *const[]){t[0].data, t[1].data, t[2].data}));
    tn_plan_free(plan);
    const double *a = t[0].data, *b = t[1].data, *c = t[2].data, *got = d.data;
    for (int i = 0; i < 60; i += 7) {
        long double want = 0;
        for (int j = 0; j < 50; j++)
            for (int k = 0; k < 40; k++)
                want += (long double)a[i * 50 + j] * b[j * 40 + k] * c[k * 2 + 1];
        assert_true(fabsl(got[i * 2 + 1] - want) < 1e-10L);
    }
    for (int k = 0; k < 3; k++)
        tn_free(&t[k]);
    tn_free(&d);
}

/* ---- plans of many threads, memory, children ---- */

enum { CROWD = 6 };
static tn_tensor shared_a, shared_b, shared_d;
static tn_plan *shared_plan;

/* One plan, and a workspace of the thread's own. */
static void *crowd_work(void *arg)
{
    const size_t size = tn_plan_workspace(shared_plan);
    const void *const srcs[] = {shared_a.data, shared_b.data};
    float *want = arg, *mine = malloc((size_t)tn_nbytes(&shared_d));
    void *workspace = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
    bool right = mine && workspace;
    for (int i = 0; right && i < 4; i++) {
        memset(mine, 0xee, (size_t)tn_nbytes(&shared_d));
        right = (i % 2 ? tn_plan_run_in(shared_plan, mine, srcs, workspace, size)
                       : tn_plan_run(shared_plan, mine, srcs)) == TN_OK &&
                !memcmp(mine, want, (size_t)tn_nbytes(&shared_d));
    }
    free(workspace);
    free(mine);
    return right ? arg : NULL;
}

static void make_shared(void)
{
    OK(tn_alloc(&shared_a, TN_F32, 3, (int64_t[]){90, 40, 30}));
    OK(tn_alloc(&shared_b, TN_F32, 3, (int64_t[]){30, 80, 40}));
    OK(tn_alloc(&shared_d, TN_F32, 2, (int64_t[]){90, 80}));
    OK(tn_randn(&shared_a, 1));
    OK(tn_randn(&shared_b, 2));
    const tn_tensor *const srcs[] = {&shared_a, &shared_b};
    OK(tn_einsum(&shared_d, "ikl,ljk->ij", 2, srcs));
    OK(tn_plan_einsum(&shared_plan, &shared_d, "ikl,ljk->ij", 2, srcs));
    assert_true(tn_plan_workspace(shared_plan) > 0);
}

static void free_shared(void)
{
    tn_plan_free(shared_plan);
    tn_free(&shared_a);
    tn_free(&shared_b);
    tn_free(&shared_d);
}

static void crowds(void **state)
{
    (void)state;
    pthread_t ids[CROWD];
    make_shared();
    for (int i = 0; i < CROWD; i++)
        assert_int_equal(pthread_create(&ids[i], NULL, crowd_work, shared_d.data), 0);
    for (int i = 0; i < CROWD; i++) {
        void *right;
        pthread_join(ids[i], &right);
        assert_non_null(right);
    }
    free_shared();
}

static void children(void **state)
{
    (void)state;
    make_shared();
    for (int round = 0; round < 2; round++) {
        const pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
            alarm(60);
            _exit(crowd_work(shared_d.data) ? 0 : 1);
        }
        int status = 0;
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        assert_non_null(crowd_work(shared_d.data)); /* the parent goes on */
    }
    free_shared();
}

static tn_tensor weak_t[3], weak_d;

static tn_status weak_einsum(void)
{
    char was[64];
    memcpy(was, weak_d.data, sizeof was);
    const tn_status status =
        tn_einsum(&weak_d, "ikl,jkl,jm->im", 3,
                  (const tn_tensor *const[]){&weak_t[0], &weak_t[1], &weak_t[2]});
    if (status != TN_OK)
        assert_memory_equal(was, weak_d.data, sizeof was);
    return status;
}

static tn_status weak_plan(void)
{
    tn_plan *plan = NULL;
    tn_status status = tn_plan_matmul(&plan, &weak_d, &weak_d, &weak_d);
    if (status == TN_OK)
        tn_plan_free(plan);
    return status;
}

static void memory(void **state)
{
    (void)state;
    OK(tn_alloc(&weak_t[0], TN_BF16, 3, (int64_t[]){30, 20, 10}));
    OK(tn_alloc(&weak_t[1], TN_BF16, 3, (int64_t[]){40, 20, 10}));
    OK(tn_alloc(&weak_t[2], TN_BF16, 2, (int64_t[]){40, 30}));
    OK(tn_alloc(&weak_d, TN_BF16, 2, (int64_t[]){30, 30}));
    for (int k = 0; k < 3; k++)
        OK(tn_randn(&weak_t[k], 5));
    OK(tn_fill(&weak_d, NULL));
    assert_int_equal(fail_each_allocation(weak_einsum), 2); /* the links, the workspace */
    assert_int_equal(fail_each_allocation(weak_plan), 1);
    for (int k = 0; k < 3; k++)
        tn_free(&weak_t[k]);
    tn_free(&weak_d);
}

/* ---- what a gemm cannot take at once ---- */

/* Rows that overlap are no matrix for a BLAS: windows of a vector, times a matrix. */
static void overlapping_rows(void **state)
{
    (void)state;
    enum { M = 70, N = 60, K = 90 };
    static float line[M + K - 1], right[K * N], dst[M * N];
    tn_tensor a, b, d, flat;
    for (int i = 0; i < M + K - 1; i++)
        line[i] = (float)(i * 7 % 23 - 11);
    for (int i = 0; i < K * N; i++)
        right[i] = (float)(i * 5 % 17 - 8);
    OK(tn_init(&flat, line, TN_F32, 1, (int64_t[]){M + K - 1}));
    OK(tn_windows(&a, &flat, 0, K, 1));
    OK(tn_init(&b, right, TN_F32, 2, (int64_t[]){K, N}));
    OK(tn_init(&d, dst, TN_F32, 2, (int64_t[]){M, N}));
    tn_plan *plan;
    tn_facts facts;
    OK(tn_plan_matmul(&plan, &d, &a, &b));
    OK(tn_plan_facts(&facts, plan));
    assert_string_equal(facts.way, "TTGT"); /* packed */
    tn_plan_free(plan);
    OK(tn_matmul(&d, &a, &b));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0; /* whole numbers: exact in any order */
            for (int k = 0; k < K; k++)
                sum += line[i + k] * right[k * N + j];
            assert_true(dst[i * N + j] == sum);
        }
}

/* Panels of 16 MiB and more are multiplied in pieces of the depth axis. */
static void depth_in_pieces(void **state)
{
    (void)state;
    enum { M = 40, N = 41, K = 110000 };
    int8_t *left = malloc(M * K), *right = malloc(N * K);
    static int32_t dst[M * N];
    tn_tensor a, b, d;
    assert_true(left && right);
    for (int i = 0; i < M * K; i++)
        left[i] = (int8_t)(i % 251 - 125);
    for (int i = 0; i < N * K; i++)
        right[i] = (int8_t)(i % 241 - 120);
    OK(tn_init(&a, left, TN_I8, 2, (int64_t[]){M, K}));
    OK(tn_init(&b, right, TN_I8, 2, (int64_t[]){N, K}));
    OK(tn_init(&d, dst, TN_I32, 2, (int64_t[]){M, N}));
    OK(tn_einsum(&d, "ik,jk->ij", 2, (const tn_tensor *const[]){&a, &b}));
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j += 8) {
            int32_t sum = 0;
            for (int k = 0; k < K; k++)
                sum += left[i * K + k] * right[j * K + k];
            assert_int_equal(dst[i * N + j], sum);
        }
    free(left);
    free(right);
}

/* The name says the flavour, and explain what holds for its bits. */
static void blas_is_named(void **state)
{
    (void)state;
    static const struct {
        const char *file, *name;
        bool steady;
    } flavours[] = {
        {"openblas-openmp", "", true},
        {"openblas-pthread", " pthread", false},
        {"openblas-serial", " serial", true},
        {"plain_cblas", "libplain_cblas.so", false},
    };
    const char *name = tn_blas(), *asked = getenv("TENON_BLAS");
    char text[2048];
    tn_plan *plan;
    assert_non_null(name);
    print_message("blas: %s\n", name);
    if (asked && (!strcmp(asked, "none") || !strcmp(asked, "/nowhere.so") ||
                  !strcmp(asked, "libm.so.6")))
        assert_string_equal(name, "none");
    make_shared();
    OK(tn_plan_einsum(&plan, &shared_d, "ikl,ljk->ij", 2,
                      (const tn_tensor *const[]){&shared_a, &shared_b}));
    OK(tn_plan_explain(plan, text, sizeof text));
    const char *line = strstr(text, "\n  blas ");
    assert_non_null(line);
    assert_non_null(strstr(line, name));
    for (size_t i = 0; asked && i < sizeof flavours / sizeof *flavours; i++)
        if (strstr(asked, flavours[i].file)) {
            int used = 0;
            sscanf(name, "openblas %*d.%*d.%*d%n", &used);
            assert_true(used || !strstr(asked, "openblas"));
            assert_string_equal(name + used, flavours[i].name);
            assert_true(!strstr(line, "bits may depend on its own threads") ==
                        flavours[i].steady);
        }
    tn_plan_free(plan);
    free_shared();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_way),        cmocka_unit_test(gemm_numbers),
        cmocka_unit_test(infinities),       cmocka_unit_test(chains),
        cmocka_unit_test(crowds),           cmocka_unit_test(children),
        cmocka_unit_test(overlapping_rows), cmocka_unit_test(depth_in_pieces),
        cmocka_unit_test(memory),           cmocka_unit_test(blas_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
