/* bench.c - standard cases, each compared with the machine's limits for as many bytes.
 *
 * The limits are memcpy by one thread and a dense copy by all threads.  Rounds of the three are
 * interleaved, and the best of each is kept.  Bytes are those that must be read and written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef struct setting {
    const char *name;
    tn_dtype dtype;
    int ndim;
    int64_t shape[6];
    int axes[6]; /* permutation */
    tn_status (*run)(const struct setting *s, const tn_tensor *dst, const tn_tensor *a,
                     const tn_tensor *b);
    int operands;
    tn_dtype to; /* dtype of the result, if different */
} setting;

static tn_status rearrange(const setting *s, const tn_tensor *dst, const tn_tensor *a,
                           const tn_tensor *b)
{
    tn_tensor v;
    (void)b;
    if (tn_permute(&v, a, s->axes) != TN_OK)
        return TN_EARG;
    return tn_rearrange(dst, &v);
}

static tn_status pad(const setting *s, const tn_tensor *dst, const tn_tensor *a,
                     const tn_tensor *b)
{
    static const int64_t one[] = {0, 0, 1, 1};
    (void)s;
    (void)b;
    return tn_pad_into(dst, a, one, one, TN_PAD_REFLECT, NULL);
}

static tn_status add(const setting *s, const tn_tensor *dst, const tn_tensor *a,
                     const tn_tensor *b)
{
    tn_tensor v;
    if (tn_permute(&v, b, s->axes) != TN_OK)
        return TN_EARG;
    return tn_add(dst, a, &v);
}

static tn_status cast(const setting *s, const tn_tensor *dst, const tn_tensor *a,
                      const tn_tensor *b)
{
    (void)s;
    (void)b;
    return tn_cast(dst, a);
}

/* clang-format off */
static const setting table[] = {
    {"matrix transposed, f32",   TN_F32, 2, {4096, 4096},      {1, 0},       rearrange, 1, 0},
    {"matrix transposed, odd",   TN_F32, 2, {4099, 4099},      {1, 0},       rearrange, 1, 0},
    {"matrix transposed, u8",    TN_U8,  2, {8192, 8192},      {1, 0},       rearrange, 1, 0},
    {"images to planes, u8",     TN_U8,  4, {64, 224, 224, 3}, {0, 3, 1, 2}, rearrange, 1, 0},
    {"planes to images, u8",     TN_U8,  4, {64, 3, 224, 224}, {0, 2, 3, 1}, rearrange, 1, 0},
    {"attention heads, f16",     TN_F16, 4, {8, 512, 32, 128}, {0, 2, 1, 3}, rearrange, 1, 0},
    {"four axes reversed, f32",  TN_F32, 4, {64, 64, 64, 64},  {3, 2, 1, 0}, rearrange, 1, 0},
    {"pad by 1, reflect, f32",   TN_F32, 4, {32, 3, 224, 224}, {0, 1, 2, 3}, pad,  1, 0},
    {"a + b, f32",               TN_F32, 2, {4096, 4096},      {0, 1},       add,  2, 0},
    {"a + b transposed, f32",    TN_F32, 2, {4096, 4096},      {1, 0},       add,  2, 0},
    {"f32 to bf16",              TN_F32, 2, {4096, 4096},      {0, 1},       cast, 1, TN_BF16},
};
/* clang-format on */

typedef struct figure {
    double bytes, seconds, memcpy_seconds, dense_seconds;
} figure;

static double limit_of(const figure *f)
{
    return f->memcpy_seconds < f->dense_seconds ? f->memcpy_seconds : f->dense_seconds;
}

static void keep(double *best, double s)
{
    *best = s < *best ? s : *best;
}

static double gbps(double bytes, double s)
{
    return s > 0 ? bytes / s / 1e9 : 0;
}

static int make(const setting *s, bool quick, tn_tensor *a, tn_tensor *b, tn_tensor *d)
{
    int64_t shape[6], out[6];
    for (int i = 0; i < s->ndim; i++)
        shape[i] = quick && s->shape[i] > 63 ? s->shape[i] / 2 : s->shape[i];
    for (int i = 0; i < s->ndim; i++)
        out[i] = s->run == rearrange ? shape[s->axes[i]]
                                     : shape[i] + (s->run == pad && i > 1 ? 2 : 0);
    LIB(tn_alloc(a, s->dtype, s->ndim, shape));
    LIB(tn_alloc(b, s->dtype, s->ndim, shape));
    LIB(tn_alloc(d, s->to ? s->to : s->dtype, s->ndim, out));
    LIB(tn_fill(a, NULL));
    LIB(tn_fill(b, NULL));
    LIB(tn_fill(d, NULL));
    return DONE;
}

/* Run one round of case, memcpy and dense copy. */
static int round_of(const setting *s, const tn_tensor *ts, const tn_tensor *copy, figure *f)
{
    double start = seconds();
    memcpy(copy[0].data, copy[1].data, (size_t)tn_nbytes(&copy[0]));
    double first = seconds();
    LIB(tn_rearrange(&copy[0], &copy[1]));
    double second = seconds();
    LIB(s->run(s, &ts[2], &ts[0], &ts[1]));
    keep(&f->seconds, seconds() - second);
    keep(&f->dense_seconds, second - first);
    keep(&f->memcpy_seconds, first - start);
    return DONE;
}

static int measure(const setting *s, bool quick, figure *f)
{
    enum { ROUNDS = 9, QUICK = 3 };
    tn_tensor ts[3] = {0}, copy[2] = {0};
    int code = make(s, quick, &ts[0], &ts[1], &ts[2]);
    *f = (figure){.seconds = 1e9, .memcpy_seconds = 1e9, .dense_seconds = 1e9};
    f->bytes = (double)tn_nbytes(&ts[0]) * s->operands + (double)tn_nbytes(&ts[2]);
    int64_t half = (int64_t)(f->bytes / 2);
    for (int i = 0; i < 2 && code == DONE; i++)
        if (tn_full(&copy[i], TN_U8, 1, &half, NULL) != TN_OK)
            code = fail("%s", tn_error());
    for (int i = 0; code == DONE && i < (quick ? QUICK : ROUNDS); i++)
        code = round_of(s, ts, copy, f);
    for (int i = 0; i < 3; i++)
        tn_free(&ts[i]);
    for (int i = 0; i < 2; i++)
        tn_free(&copy[i]);
    return code;
}

static void print_row(const args *a, int i, const figure *f)
{
    double speed = gbps(f->bytes, f->seconds), one = gbps(f->bytes, f->memcpy_seconds);
    double all = gbps(f->bytes, f->dense_seconds), ratio = speed / gbps(f->bytes, limit_of(f));
    if (a->json)
        printf("%s\n  {\"case\": \"%s\", \"GBps\": %.2f, \"memcpy_GBps\": %.2f, "
               "\"dense_GBps\": %.2f, \"ratio\": %.3f}",
               i ? "," : "", table[i].name, speed, one, all, ratio);
    else
        printf("%-26s %8.1f %8.1f %8.1f %7.2f\n", table[i].name, speed, one, all, ratio);
    fflush(stdout);
}

static int measure_all(const args *a, figure *figures)
{
    if (a->json)
        printf("{\"version\": \"%s\", \"isa\": \"%s\", \"cases\": [", tn_version(), tn_isa());
    else
        printf("tenon %s, %s; GB/s read and written, best of interleaved rounds\n"
               "%-26s %8s %8s %8s %7s\n",
               tn_version(), tn_isa(), "case", "tenon", "memcpy", "dense", "ratio");
    for (int i = 0; i < COUNT(table); i++) {
        TRY(measure(&table[i], a->quick, &figures[i]));
        print_row(a, i, &figures[i]);
    }
    if (a->json)
        printf("\n]}\n");
    return DONE;
}

int run_bench(const args *a)
{
    figure figures[COUNT(table)];
    TRY(need_operands(a, 0));
    return a->disk ? bench_disk(a) : measure_all(a, figures);
}
