/* bench_contract.c - tenon_bench_contract [--quick] [--threads N] [--only WORD] [--list]
 *                                         [--peers bench/peers_contract.py]
 *
 * Contractions compared with one sgemm of the same m, n, k by the BLAS with its own threads,
 * interleaved in one run: TCCG's 24 contractions (Springer and Bientinesi) on tensors of 16 MB,
 * attention, matrices, batches of small products, one-row products of every dtype.  Batches are
 * compared with an sgemm of 1024^3, small ones also with a loop of cblas calls.  The best times
 * count.  "reached" is the share of sgemm's GF/s, or the ns of a 4 x 4 call; "<" marks results
 * below the goal.  --peers first runs the cases in NumPy and PyTorch, where installed; its
 * columns are GF/s too. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "beside.h"
#include "measure.h"
#include "sgemm.h"

static sgemm_fn sgemm;

typedef struct options {
    bool quick, list;
    const char *only, *peers;
    int threads;
} options;

/* A contraction: its spec, the extents of its letters, and its limit. */
typedef struct race {
    char name[48], spec[64];
    int64_t size[128];
    tn_dtype dtype, dst;
    double m, n, k, times;
    double goal;  /* share of sgemm; 0: none */
    bool of_1024; /* the limit is an sgemm of 1024^3 */
    bool loop;    /* also compared with a loop of one cblas call per product */
    int step;     /* elements between neighbours along the last axes */
} race;

typedef struct runner {
    const race *r;
    tn_tensor t[3];
    tn_plan *plan;
    void *workspace;
    size_t size;
} runner;

static float *left, *right, *out; /* operands of sgemm */
enum { MOST = 48 << 20 };         /* elements of each */

/* ---- the cases ---- */

static const char *const tccg[] = {
    "ij-ik-kj",         "ij-ikl-ljk",       "ij-kil-lkj",       "ijk-ikl-lj",
    "ijk-ilk-jl",       "ijk-ilmk-mjl",     "ijkl-imjn-lnkm",   "ijkl-imjn-nlmk",
    "ijkl-minl-njmk",   "aqrs-pa-pqrs",     "abrs-qb-aqrs",     "abcs-rc-abrs",
    "abj-bka-kj",       "ajb-kba-jk",       "abjc-cbka-kj",     "ajbc-ckba-jk",
    "abjc-kbac-jk",     "abjcd-dkbac-jk",   "adbjc-cbdka-kj",   "ajbdc-ckbad-jk",
    "abcijk-ijma-mkbc", "abcijk-ijmb-mkac", "abcijk-ijmc-mkab", "abcijk-ikmb-mjac",
};

/* TCCG's rule: extents are equal, but multiples of 24 for unit strides and of 4 for others, and
 * 24 for j of the integrals.  TCCG writes the fastest letter first, so each word is
 * reversed. */
static race tccg_case(int i)
{
    race r = {.dtype = TN_F32, .dst = TN_F32, .goal = 0.5, .times = 1};
    char word[3][16];
    snprintf(r.name, sizeof r.name, "%s", tccg[i]);
    sscanf(tccg[i], "%15[^-]-%15[^-]-%15s", word[0], word[1], word[2]);
    size_t axes = 0;
    for (int k = 0; k < 3; k++)
        axes = strlen(word[k]) > axes ? strlen(word[k]) : axes;
    const double mean = pow(16.0 * 1048576 / 4, 1.0 / (double)axes);
    for (int k = 0; k < 3; k++)
        for (const char *c = word[k]; *c; c++) {
            const int64_t up = (int64_t)((mean + 3) / 4) * 4, down = (int64_t)(mean / 4) * 4;
            const int64_t near =
                fabs(mean - (double)up) < fabs(mean - (double)down) ? up : down;
            const bool unit = *c == word[0][0] || *c == word[1][0] || *c == word[2][0];
            r.size[(int)*c] = i >= 12 && i < 20 && *c == 'j' ? 24
                              : unit                         ? (int64_t)((mean + 23) / 24) * 24
                              : near < 4                     ? 4
                                                             : near;
        }
    char *s = r.spec;
    for (int k = 1; k <= 3; k++) {
        for (size_t j = strlen(word[k % 3]); j > 0; j--)
            *s++ = word[k % 3][j - 1];
        s += sprintf(s, "%s", k == 1 ? "," : k == 2 ? "->" : "");
    }
    return r;
}

static race named(const char *name, const char *spec, tn_dtype dtype, const char *sizes,
                  double goal)
{
    race r = {.dtype = dtype, .dst = dtype, .goal = goal, .times = 1, .step = 1};
    snprintf(r.name, sizeof r.name, "%s", name);
    snprintf(r.spec, sizeof r.spec, "%s", spec);
    for (const char *p = sizes; *p;) {
        const char letter = *p++;
        char *end;
        r.size[(int)letter] = strtoll(p, &end, 10);
        p = end;
    }
    return r;
}

/* Compute m, n, k and the number of products from the operands in which each letter occurs. */
static void classify(race *r)
{
    char a[32], b[32], c[32];
    sscanf(r->spec, "%31[^,],%31[^-]->%31s", a, b, c);
    r->m = r->n = r->k = r->times = 1;
    for (int l = 'a'; l <= 'z'; l++) {
        const double n = (double)r->size[l];
        if (strchr(a, l) && strchr(b, l) && strchr(c, l))
            r->times *= n;
        else if (strchr(a, l) && strchr(b, l))
            r->k *= n;
        else if (strchr(a, l))
            r->m *= n;
        else if (strchr(b, l))
            r->n *= n;
    }
}

/* A row of 2048 times a matrix with dense columns, as in a linear layer. */
static race one_row(tn_dtype dtype)
{
    const char *known = tn_dtype_name(dtype);
    char name[48];
    if (dtype > TN_C128)
        return (race){.name = ""};
    snprintf(name, sizeof name, "linear 1 x 2048 x 2048 %s", known);
    return named(name, "ik,jk->ij", dtype, "i1j2048k2048",
                 dtype == TN_F32                       ? 2.5
                 : dtype == TN_F16 || dtype == TN_BF16 ? 3
                                                       : 0);
}

static race cases(int i)
{
    enum { LISTED = sizeof tccg / sizeof *tccg };
    if (i < LISTED)
        return tccg_case(i);
    switch (i - LISTED) {
    case 0:
        return named("matmul 1024^3", "ik,kj->ij", TN_F32, "i1024j1024k1024", 0.92);
    case 1:
        return named("both transposed 1024^3", "ki,jk->ij", TN_F32, "i1024j1024k1024", 0.88);
    case 2:
        return named("matmul 256^3", "ik,kj->ij", TN_F32, "i256j256k256", 0.85);
    case 3:
        return named("matmul 1024^3 bf16", "ik,kj->ij", TN_BF16, "i1024j1024k1024", 0.85);
    case 4:
        return named("matmul 1024^3 f16", "ik,kj->ij", TN_F16, "i1024j1024k1024", 0.85);
    case 5:
        return named("matmul 512^3 i32", "ik,kj->ij", TN_I32, "i512j512k512", 0);
    case 6:
        return named("matmul 512^3 i8", "ik,kj->ij", TN_I8, "i512j512k512", 0);
    case 7:
        return named("matmul 512^3 f64", "ik,kj->ij", TN_F64, "i512j512k512", 0);
    case 8:
        return named("matmul 512^3 c64", "ik,kj->ij", TN_C64, "i512j512k512", 0);
    case 9:
        return named("bhqd,bhkd->bhqk f32", "bhqd,bhkd->bhqk", TN_F32, "b4h16q512k512d64", 0.8);
    case 10:
        return named("bqhd,bkhd->bhqk f32", "bqhd,bkhd->bhqk", TN_F32, "b4h16q512k512d64", 0.8);
    case 11:
        return named("bhqk,bkhd->bqhd f32", "bhqk,bkhd->bqhd", TN_F32, "b4h16q512k512d64", 0.8);
    case 12:
        return named("bqhd,bkhd->bhqk bf16", "bqhd,bkhd->bhqk", TN_BF16, "b4h16q512k512d64",
                     0.7);
    case 13:
        return named("bqhd,bkhd->bhqk f16", "bqhd,bkhd->bhqk", TN_F16, "b4h16q512k512d64", 0.7);
    case 14:
        return named("100000 x 4^3", "xik,xkj->xij", TN_F32, "x100000i4j4k4", 0);
    case 15:
        return named("20000 x 8^3", "xik,xkj->xij", TN_F32, "x20000i8j8k8", 0);
    case 16:
        return named("8192 x 16^3", "xik,xkj->xij", TN_F32, "x8192i16j16k16", 0);
    case 17:
        return named("2048 x 32^3", "xik,xkj->xij", TN_F32, "x2048i32j32k32", 0);
    case 18:
        return named("256 x 64^3", "xik,xkj->xij", TN_F32, "x256i64j64k64", 0);
    case 19:
        return named("1 x 2048 x 2048, rows", "ik,kj->ij", TN_F32, "i1j2048k2048", 2.5);
    case 20:
        return named("1 x 2048 x 2048, rows bf16", "ik,kj->ij", TN_BF16, "i1j2048k2048", 3);
    case 21:
        return named("6 x 2048 x 2560", "ik,jk->ij", TN_F32, "i6j2560k2048", 0);
    case 22:
        return named("6 x 2048 x 2560 bf16", "ik,jk->ij", TN_BF16, "i6j2560k2048", 0);
    case 23:
        return named("jk,ijkl->il 64^4", "jk,ijkl->il", TN_F32, "i64j64k64l64", 0);
    case 24:
        return named("Nc,Nc->N 1M x 2", "xc,xc->x", TN_F32, "x1000000c2", 0);
    case 25:
        return named("(3,64,64)@(4096,3,64,1)", "cij,xcjy->xciy", TN_F32, "c3i64j64x4096y1", 0);
    default:
        return one_row((tn_dtype)(i - LISTED - 26 + TN_BOOL));
    }
}

/* ---- running ---- */

static void prepare(runner *x, const race *r)
{
    char word[3][32];
    sscanf(r->spec, "%31[^,],%31[^-]->%31s", word[1], word[2], word[0]);
    x->r = r;
    for (int k = 0; k < 3; k++) {
        int64_t shape[8];
        int ndim = 0;
        for (const char *c = word[k]; *c; c++)
            shape[ndim++] = r->size[(int)*c];
        MUST(tn_alloc(&x->t[k], k ? r->dtype : r->dst, ndim, shape));
        const bool whole = r->dtype < TN_F8E4M3;
        if (k && whole)
            MUST(tn_randint(&x->t[k], (uint64_t)k, 0, r->dtype == TN_BOOL ? 2 : 8));
        else if (k && r->dtype >= TN_C64) {
            const tn_dtype part = r->dtype == TN_C64 ? TN_F32 : TN_F64;
            tn_tensor flat;
            MUST(tn_init(&flat, x->t[k].data, part, 1, (int64_t[]){2 * tn_numel(&x->t[k])}));
            MUST(tn_randn(&flat, (uint64_t)k));
        } else if (k)
            MUST(tn_randn(&x->t[k], (uint64_t)k));
    }
    const tn_tensor *const srcs[] = {&x->t[1], &x->t[2]};
    MUST(tn_plan_einsum(&x->plan, &x->t[0], r->spec, 2, srcs));
    x->size = tn_plan_workspace(x->plan);
    x->workspace = aligned_alloc(64, (x->size + 63) / 64 * 64 + 64);
}

static void finish(runner *x)
{
    for (int k = 0; k < 3; k++)
        tn_free(&x->t[k]);
    tn_plan_free(x->plan);
    free(x->workspace);
}

static double timed_work(runner *x)
{
    const void *const srcs[] = {x->t[1].data, x->t[2].data};
    const double start = seconds();
    MUST(tn_plan_run_in(x->plan, x->t[0].data, srcs, x->workspace, x->size));
    return seconds() - start;
}

static double timed_sgemm(double m, double n, double k)
{
    const double start = seconds();
    sgemm(101, 111, 111, (int)m, (int)n, (int)k, 1, left, (int)k, right, (int)n, 0, out,
          (int)n);
    return seconds() - start;
}

static double timed_loop(const race *r)
{
    const int m = (int)r->m, n = (int)r->n, k = (int)r->k;
    const double start = seconds();
    for (int64_t i = 0; i < (int64_t)r->times; i++)
        sgemm(101, 111, 111, m, n, k, 1, left + i * m * k, k, right + i * k * n, n, 0,
              out + i * m * n, n);
    return seconds() - start;
}

static void best(double *least, double t)
{
    if (*least == 0 || t < *least)
        *least = t;
}

static void show(const options *o, race *r, double *sum, int *count)
{
    runner x;
    char text[2048];
    double work = 0, limit = 0, loop = 0;
    classify(r);
    if (o->only && !strstr(r->name, o->only))
        return;
    prepare(&x, r);
    const bool batch = r->times > 1, small = batch && r->m * r->n * r->k < 1e6;
    const double m = batch ? 1024 : r->m, n = batch ? 1024 : r->n, k = batch ? 1024 : r->k;
    const double start = seconds(), most = o->quick ? 0.15 : 0.8;
    for (int i = 0; i < 4 || seconds() - start < most; i++) {
        best(&work, timed_work(&x));
        if (!sgemm)
            continue;
        best(&limit, timed_sgemm(m, n, k));
        if (small)
            best(&loop, timed_loop(r));
    }
    const double flops = 2 * r->m * r->n * r->k * r->times;
    const double rate = flops / work / 1e9, top = limit > 0 ? 2 * m * n * k / limit / 1e9 : 0;
    MUST(tn_plan_explain(x.plan, text, sizeof text));
    char *way = strchr(text, ')'), *end = strchr(text, '\n');
    if (end)
        *end = 0;
    char goal[16] = "-", beside[16] = "-";
    if (r->goal > 0)
        snprintf(goal, sizeof goal, "%.2f", r->goal);
    if (small)
        snprintf(beside, sizeof beside, "%.1f", flops / loop / 1e9);
    const double share = top > 0 ? rate / top : 0;
    printf("%-30s %7.0f x%6.0f x%6.0f x%7.0f %8.1f %7.1f %6.1f %5s %7.2f%s", r->name, r->m,
           r->n, r->k, r->times, work * 1e6, rate, top, goal, share,
           share < r->goal ? "<" : " ");
    const peer *p = peer_of(r->name);
    printf(" %8s %8s %6s  %s\n", p->numpy, p->torch, beside, way ? way + 3 : "");
    fflush(stdout);
    if (r->step == 0) {
        *sum += rate / top < 1 ? rate / top : 1;
        ++*count;
    }
    finish(&x);
}

/* A tn_matmul so small that the call consists of checks and planning. */
static race tiny(void)
{
    return named("tn_matmul 4 x 4, ns", "ik,kj->ij", TN_F32, "i4j4k4", 150);
}

static void show_tiny(const options *o)
{
    enum { CALLS = 20000 };
    const race r = tiny();
    const peer *p = peer_of(r.name);
    double work = 0;
    runner x;
    if (o->only && !strstr(r.name, o->only))
        return;
    prepare(&x, &r);
    for (int i = 0; i < (o->quick ? 40 : 200); i++) {
        const double start = seconds();
        for (int k = 0; k < CALLS; k++)
            MUST(tn_matmul(&x.t[0], &x.t[1], &x.t[2]));
        best(&work, (seconds() - start) / CALLS);
    }
    const double flops = 2 * 4 * 4 * 4, numpy = atof(p->numpy), torch = atof(p->torch);
    printf("%-30s goal %.0f, reached %.1f%s; peer NumPy %.0f, PyTorch %.0f (0: not run)\n",
           r.name, r.goal, work * 1e9, work * 1e9 > r.goal ? "<" : "",
           numpy > 0 ? flops / numpy : 0, torch > 0 ? flops / torch : 0);
    finish(&x);
}

/* Print a line for peers_contract.py: name, spec, sizes, dtype. */
static void list(const options *o, const race *r)
{
    if (o->only && !strstr(r->name, o->only))
        return;
    printf("%s\t%s\t", r->name, r->spec);
    for (int l = 'a'; l <= 'z'; l++)
        if (r->size[l])
            printf("%c%lld ", l, (long long)r->size[l]);
    printf("\t%s\n", tn_dtype_name(r->dtype));
}

int main(int argc, char **argv)
{
    options o = {0};
    double sum = 0;
    int count = 0;
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--quick"))
            o.quick = true;
        else if (!strcmp(argv[i], "--list"))
            o.list = true;
        else if (!strcmp(argv[i], "--only") && i + 1 < argc)
            o.only = argv[++i];
        else if (!strcmp(argv[i], "--peers") && i + 1 < argc)
            o.peers = argv[++i];
        else if (!strcmp(argv[i], "--threads") && i + 1 < argc)
            o.threads = atoi(argv[++i]);
    tn_handle *h;
    MUST(tn_handle_create(&h, TN_CPU, 0, &(tn_config){.threads = o.threads}));
    MUST(tn_handle_use(h));
    if (!o.list)
        sgemm = find_sgemm();
    left = aligned_alloc(64, MOST * sizeof *left);
    right = aligned_alloc(64, MOST * sizeof *right);
    out = aligned_alloc(64, MOST * sizeof *out);
    if (!left || !right || !out)
        give_up("memory", "cannot allocate memory for sgemm's matrices");
    for (size_t i = 0; i < MOST; i++)
        left[i] = right[i] = (float)(i % 251) / 251 - 0.5f;
    memset(out, 0, MOST * sizeof *out);
    if (o.peers && !o.list)
        peers_read(argv[0], o.only, o.peers, o.quick ? "--quick" : "");
    if (!o.list)
        printf("tenon %s, blas %s, kernels %s\n", tn_version(), tn_blas(), tn_isa());
    if (!o.list)
        printf("%-30s %7s x%6s x%6s x%7s %8s %7s %6s %5s %7s  %8s %8s %6s  way\n", "case", "m",
               "n", "k", "times", "us", "GF/s", "sgemm", "goal", "reached", "peer: NumPy",
               "PyTorch", "loop");
    for (int i = 0;; i++) {
        race r = cases(i);
        if (!r.name[0])
            break;
        if (o.list)
            list(&o, &r);
        else
            show(&o, &r, &sum, &count);
    }
    const race last = tiny();
    if (o.list)
        list(&o, &last);
    else
        show_tiny(&o);
    if (count)
        printf("mean share of TCCG's %d: %.2f\n", count, sum / count);
    free(left);
    free(right);
    free(out);
    tn_handle_destroy(h);
    return 0;
}
